/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types: their names, what they can hold; losses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "type/type.h"

#define U64 ((s128)UINT64_MAX)

static const struct {
	struct type type;
	const char *name;
	bool is_word;
	s128 min, max; /* of words */
} types[] = {
	{ { .kind = TYPE_NULL }, "NULL", false, 0, 0 },
	{ { .kind = TYPE_BOOL, .is_signed = true }, "BOOLEAN", true, 0, 1 },
	{ { .kind = TYPE_INT, .bits = 8, .is_signed = true }, "s8", true, -128, 127 },
	{ { .kind = TYPE_INT, .bits = 8 }, "u8", true, 0, 255 },
	{ { .kind = TYPE_INT, .bits = 16, .is_signed = true }, "s16", true, -32768, 32767 },
	{ { .kind = TYPE_INT, .bits = 16 }, "u16", true, 0, 65535 },
	{ { .kind = TYPE_INT, .bits = 32, .is_signed = true }, "s32", true, INT32_MIN, INT32_MAX },
	{ { .kind = TYPE_INT, .bits = 32 }, "u32", true, 0, UINT32_MAX },
	{ { .kind = TYPE_INT, .bits = 64, .is_signed = true },
	  "INTEGER",
	  true,
	  INT64_MIN,
	  INT64_MAX },
	{ { .kind = TYPE_INT, .bits = 64 }, "u64", true, 0, U64 },
	{ { .kind = TYPE_DURATION, .is_signed = true }, "DURATION", true, INT64_MIN, INT64_MAX },
	{ { .kind = TYPE_DURATION }, "DURATION", true, 0, U64 },
	{ { .kind = TYPE_TIMESTAMP }, "TIMESTAMP", true, 0, U64 },
	{ { .kind = TYPE_POINTER }, "POINTER", true, 0, U64 },
	{ { .kind = TYPE_TEXT, .bytes = 16 }, "TEXT(16)", false, 0, 0 },
	{ { .kind = TYPE_TEXT }, "TEXT", false, 0, 0 },
	{ { .kind = TYPE_BLOB, .bytes = 6 }, "BLOB(6)", false, 0, 0 },
	{ { .kind = TYPE_REAL }, "REAL", false, 0, 0 },
	{ { .kind = TYPE_HISTOGRAM, .of = TYPE_DURATION }, "HISTOGRAM(DURATION)", false, 0, 0 },
	{ { .kind = TYPE_HISTOGRAM, .of = TYPE_INT }, "HISTOGRAM(INTEGER)", false, 0, 0 },
	{ { .kind = TYPE_HISTOGRAM }, "HISTOGRAM", false, 0, 0 },
	{ { .kind = TYPE_QUANTILE, .of = TYPE_DURATION }, "QUANTILE(DURATION)", false, 0, 0 },
	{ { .kind = TYPE_LADDER, .of = TYPE_INT }, "LADDER(INTEGER)", false, 0, 0 },
};

static void test_types(void **state)
{
	struct buf buf;
	u32 i;

	(void)state;
	buf_init(&buf);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		buf_reset(&buf);
		type_print(types[i].type, &buf);
		assert_string_equal(buf.at, types[i].name);
		assert_int_equal(type_is_word(types[i].type), types[i].is_word);
		if (!types[i].is_word)
			continue;
		assert_true(type_min(types[i].type) == types[i].min);
		assert_true(type_max(types[i].type) == types[i].max);
	}
	buf_free(&buf);
}

static void test_makers(void **state)
{
	struct type type = type_int(16, true);

	(void)state;
	assert_int_equal(type.kind, TYPE_INT);
	assert_int_equal(type.bits, 16);
	assert_true(type.is_signed);
	type = type_text(16);
	assert_int_equal(type.kind, TYPE_TEXT);
	assert_int_equal(type.bytes, 16);
}

static void test_losses(void **state)
{
	static const char *const names[] = { "missed",	 "table_full", "ring_full", "evicted",
					     "unpaired", "negative",   "fault",	    "over_budget" };
	struct batch batch = { 0 };
	u32 i;

	(void)state;
	assert_int_equal(LOSS_N, ARRAY_SIZE(names));
	assert_false(account_has_loss(&batch.account));
	for (i = 0; i < LOSS_N; i++) {
		assert_string_equal(loss_names[i], names[i]);
		batch.account.lost[i] = 1;
		assert_true(account_has_loss(&batch.account));
		batch.account.lost[i] = 0;
	}
	batch.account.events = 5;
	assert_false(account_has_loss(&batch.account));
	/* Each loss of a power of its own: which of them are values that histograms lack? */
	for (i = 0; i < LOSS_N; i++)
		batch.account.lost[i] = 1ull << i;
	for (i = 0; i < UNPAIRED_N; i++)
		batch.account.unpaired[i] = 0x100ull << i;
	assert_int_equal(account_lost_values(&batch.account),
			 1ull << LOSS_MISSED | 1ull << LOSS_RING_FULL | 1ull << LOSS_NEGATIVE |
				 1ull << LOSS_OVER_BUDGET | 0x100ull << UNPAIRED_NEVER_STARTED |
				 0x100ull << UNPAIRED_EXPIRED | 0x100ull << UNPAIRED_FULL);
}

/* What a member of the enums needs at the least: one that was forgotten is all zeros. */
static void test_aggregates(void **state)
{
	struct aggregate_name name;
	const char *at;

	for (u32 i = 0; i < AGGREGATE_N; i++) {
		const struct aggregate_info *info = &aggregate_infos[i];

		assert_non_null(info->name);
		assert_non_null(info->meaning);
		assert_non_null(info->sql);
		assert_true(info->result || i == AGGREGATE_QUANTILE);
		assert_true(aggregate_find(info->name, &name));
		assert_int_equal(name.kind, i);
	}
	for (u32 i = 0; (at = aggregate_name_at(i)); i++) {
		assert_true(aggregate_find(at, &name));
		assert_string_equal(name.name, at);
		for (u32 k = 0; k < i; k++)
			assert_string_not_equal(aggregate_name_at(k), at);
	}
	assert_true(aggregate_find("STDDEV_POP", &name));
	assert_int_equal(name.kind, AGGREGATE_STDDEV);
	assert_true(name.is_population);
	assert_false(aggregate_find("p42", &name));
}

static void expect_result(enum aggregate_kind kind, struct type_range x, u8 type_kind, s128 lo,
			  s128 hi)
{
	aggregate_infos[kind].result(&x);
	assert_int_equal(x.type.kind, type_kind);
	assert_true(x.lo == lo);
	assert_true(x.hi == hi);
}

static void test_results(void **state)
{
	struct type_range small = { type_int(32, true), -5, 9 };
	struct type_range pointer = { { .kind = TYPE_POINTER }, 0, U64 };
	struct type_range time = { { .kind = TYPE_DURATION }, 0, 1000 };

	expect_result(AGGREGATE_COUNT, small, TYPE_INT, 0, U64);
	expect_result(AGGREGATE_SUM, small, TYPE_INT, INT64_MIN, INT64_MAX);
	expect_result(AGGREGATE_SUM, pointer, TYPE_INT, 0, U64);
	expect_result(AGGREGATE_SUM, time, TYPE_DURATION, 0, U64);
	expect_result(AGGREGATE_MIN, small, TYPE_INT, -5, 9);
	expect_result(AGGREGATE_BIT_OR, small, TYPE_INT, -16, 15);
	expect_result(AGGREGATE_BIT_AND, small, TYPE_INT, -16, 15);
	expect_result(AGGREGATE_BIT_XOR, small, TYPE_INT, -16, 15);
	expect_result(AGGREGATE_BIT_OR, time, TYPE_INT, 0, 1023);
	expect_result(AGGREGATE_BIT_OR, pointer, TYPE_INT, 0, U64);
	expect_result(AGGREGATE_LAST, time, TYPE_DURATION, 0, 1000);
	expect_result(AGGREGATE_AVG, small, TYPE_REAL, 0, 0);
	expect_result(AGGREGATE_HISTOGRAM, time, TYPE_HISTOGRAM, 0, 0);
	expect_result(AGGREGATE_TOP_K, time, TYPE_TOP, 0, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),	cmocka_unit_test(test_makers),
		cmocka_unit_test(test_losses),	cmocka_unit_test(test_aggregates),
		cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
