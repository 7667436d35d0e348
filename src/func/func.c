/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Registers the functions of the language on an SQLite connection: the tables of
 * the other files, one entry a function.
 */
#include "func/internal.h"

#include <stdlib.h>

#include "cat/cat.h"

/* The end of every aggregate. */
static void last(sqlite3_context *context)
{
	const struct function *f = func_of(context)->function;
	void *state = func_state(context, 0);

	func_of(context)->context->negative_row = 0;
	f->value(context);
	if (state && f->clear)
		f->clear(state);
	free(state);
}

static int register_one(sqlite3 *db, const struct function *f, struct func_context *context,
			s64 real_offset_ns)
{
	/* The losses of a batch stay the same while a statement runs over it. */
	int flags = SQLITE_UTF8 | (f->is_each ? 0 : SQLITE_DETERMINISTIC);
	struct registered *registered = sqlite3_malloc(sizeof(*registered));

	if (!registered)
		return SQLITE_NOMEM;
	*registered = (struct registered){ f, NULL, context, real_offset_ns };
	/* SQLite frees it, also when it refuses the function. */
	if (f->inverse)
		return sqlite3_create_window_function(db, f->name, f->n_args, flags, registered,
						      f->step, last, f->value, f->inverse,
						      sqlite3_free);
	return sqlite3_create_function_v2(db, f->name, f->n_args, flags, registered, f->call,
					  f->step, f->step ? last : NULL, sqlite3_free);
}

static int register_naming(sqlite3 *db, const struct naming *naming, struct func_context *context)
{
	struct registered *registered = sqlite3_malloc(sizeof(*registered));

	if (!registered)
		return SQLITE_NOMEM;
	*registered = (struct registered){ .naming = naming, .context = context };
	return sqlite3_create_function_v2(db, naming->sql ?: naming->name, -1,
					  SQLITE_UTF8 | SQLITE_DETERMINISTIC, registered,
					  func_name_numbers, NULL, NULL, sqlite3_free);
}

int func_register(struct sqlite3 *db, struct func_context *context)
{
	static const struct function *const tables[] = {
		name_functions, arith_functions, number_functions,    compare_functions,
		sum_functions,	order_functions, statistic_functions, distinct_functions,
	};
	s64 real_offset_ns = (s64)(base_realtime_ns() - base_monotonic_ns());
	int err = sqlite3_create_module(db, "eb_cells", &cells_module, NULL);

	special_init();
	for (u32 i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct function *f = tables[i]; f->name && !err; f++)
			err = register_one(db, f, context, real_offset_ns);
	for (u32 i = 0; i < n_namings && !err; i++) {
		err = register_naming(db, namings[i], context);
		if (!err && namings[i]->of_signed)
			err = register_naming(db, namings[i]->of_signed, context);
	}
	return err;
}
