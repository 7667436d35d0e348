/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers -> their names: what cat/ has of such functions.  NULL gives NULL, a number without a
 * name its digits.  And instants: eb_real_time(t).
 */
#include "func/internal.h"

#include "cat/cat.h"
#include "sym/sym.h"

#define NUMBERS_MAX 3

static s128 number_at(sqlite3_value *value)
{
	return special_of(value) == VALUE_INT ? special_integer(value) : sqlite3_value_int64(value);
}

void func_name_numbers(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct naming *naming = func_of(context)->naming;
	bool is_named = argc > 0 && argc <= NUMBERS_MAX;
	char room[NAMING_BYTES];
	s64 x[NUMBERS_MAX];
	const char *name;

	for (int i = 0; is_named && i < argc; i++) {
		s128 number = number_at(argv[i]);

		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return;
		x[i] = (s64)(u64)number;
		is_named &= number <= INT64_MAX || naming->most > 1 || naming->is_address;
	}
	if (is_named && naming == &naming_usym)
		name = sym_user_name((u32)x[1], (u64)x[0], room, NAMING_BYTES) ? room : NULL;
	else
		name = is_named ? naming->name_of(naming, x, (u32)argc, room) : NULL;
	if (name)
		sqlite3_result_text(context, name, -1, SQLITE_TRANSIENT);
	else if (naming->is_address)
		sqlite3_result_text(context, sqlite3_mprintf("0x%llx", x[0]), -1, sqlite3_free);
	else if (!naming->is_null_else)
		func_result_digits(context, number_at(argv[0]));
}

/* An instant of CLOCK_MONOTONIC on CLOCK_REALTIME: by one amount, so differences stay. */
static void real_time(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	s64 ns = sqlite3_value_int64(argv[0]), real_ns;

	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER)
		sqlite3_result_value(context, argv[0]);
	else if (!__builtin_add_overflow(ns, func_of(context)->real_offset_ns, &real_ns))
		sqlite3_result_int64(context, real_ns);
}

const struct function name_functions[] = {
	{ "eb_real_time", 1, 0, real_time },
	{ NULL },
};
