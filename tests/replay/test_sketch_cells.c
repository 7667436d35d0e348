/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cells of sketches as the kernel writes them: after many random events the bytes of the
 * row are those that hll_add(), top_update() and moments_add() make of the same values.
 *
 * EBQL_TEST_LONG: 1,000,000 events in place of 50,000.  EBQL_SEED.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../top_model.h"
#include "feed.h"
#include "type/hll.h"
#include "type/moments.h"

static void feed_open(struct feed *f, const char *sql)
{
	feed_init(f);
	feed_plan(f, sql, load_possible_cpus(), NULL, NULL);
	feed_load(f);
}

/* The cell of that aggregate in the only row. */
static const void *cell_at(struct feed *f, u32 aggregate, enum cell_kind kind)
{
	const struct phys_aggregate *a = &f->phys->aggregates[aggregate];
	const struct cell *c =
		&f->phys->cells[kind == CELL_SQUARES ? a->squares_cell : a->value_cell];

	assert_int_equal(c->kind, kind);
	return feed_slice(f) + f->phys->state.rows_bytes_offset + c->bytes_offset;
}

static u32 n_events(void)
{
	return getenv("EBQL_TEST_LONG") ? 1000000 : 50000;
}

/* Few values, neighbours, powers of two, and any. */
static u64 random_word(struct rng *rng)
{
	u64 word = rng_next(rng);

	switch (word % 5) {
	case 0:
		return word >> 8 & 15;
	case 1:
		return 1000000 + (word >> 8 & 0xfff);
	case 2:
		return 1ull << (word >> 8 & 63);
	case 3:
		return -(word >> 8 & 0xff);
	default:
		return word;
	}
}

static void test_registers(void **state)
{
	static u8 expected[3][1 << HLL_BITS_MAX];
	static const u32 bits[3] = { HLL_BITS_MIN, HLL_BITS_DEFAULT, HLL_BITS_MAX };
	struct feed f;

	memset(expected, 0, sizeof(expected));
	feed_open(&f, "SELECT approx_count_distinct(f_u64, 4), approx_count_distinct(f_u64), "
		      "approx_count_distinct(f_u64, 16) FROM " REPLAY_STREAM);
	for (u32 i = 0; i < n_events(); i++) {
		u64 word = random_word(&f.rng);

		feed_set(&f, C_U64, &word);
		feed_run(&f);
		for (u32 j = 0; j < 3; j++)
			hll_add(expected[j], bits[j], hll_hash(&word, 1));
	}
	for (u32 j = 0; j < 3; j++)
		assert_memory_equal(cell_at(&f, j, CELL_HLL), expected[j], 1u << bits[j]);
	feed_close(&f);
}

static void test_text(void **state)
{
	static u8 expected[1 << HLL_BITS_DEFAULT];
	const struct top_shape shape = top_shape(5, 3);
	u64 *slice = calloc(1, top_slice_bytes(&shape));
	struct feed f;

	memset(expected, 0, sizeof(expected));
	feed_open(&f, "SELECT approx_count_distinct(path), top_k(path, 5) FROM " REPLAY_STREAM);
	for (u32 i = 0; i < n_events(); i++) {
		char path[24] = "";
		u64 words[3];

		/* Texts of every length, one full to the end. */
		snprintf(path, sizeof(path), "/%0*u", (int)rng_below(&f.rng, 23),
			 rng_below(&f.rng, rng_percent(&f.rng, 50) ? 30 : 3000));
		memcpy(words, path, sizeof(words));
		feed_set(&f, C_PATH, path);
		feed_run(&f);
		hll_add(expected, HLL_BITS_DEFAULT, hll_hash_bytes(path, strlen(path)));
		assert_true(top_update(&shape, slice, words, 1));
	}
	assert_memory_equal(cell_at(&f, 0, CELL_HLL), expected, sizeof(expected));
	assert_memory_equal(cell_at(&f, 1, CELL_TOP), slice, top_slice_bytes(&shape));
	free(slice);
	feed_close(&f);
}

/* Weights of any size: what would overflow the total is left out, and a fault. */
static void test_top(void **state)
{
	const struct top_shape shape = top_shape(100, 1);
	u64 *counts = calloc(1, top_slice_bytes(&shape)), n_faults = 0, n_negative = 0;
	u64 *sums = calloc(1, top_slice_bytes(&shape));
	u64 *signed_sums = calloc(1, top_slice_bytes(&shape));
	struct feed f;

	feed_open(&f, "SELECT top_k(f_u64, 100), top_k(f_u64, 100, ptr), top_k(f_u64, 100, f_s32) "
		      "FROM " REPLAY_STREAM);
	for (u32 i = 0; i < n_events(); i++) {
		u64 word = random_word(&f.rng), weight = rng_next(&f.rng) >> rng_below(&f.rng, 64);
		s32 number = (s32)rng_next(&f.rng);

		weight = rng_percent(&f.rng, 1) ? weight : weight >> 32;
		feed_set(&f, C_U64, &word);
		feed_set(&f, C_PTR, &weight);
		feed_set(&f, C_S32, &number);
		feed_run(&f);
		assert_true(top_update(&shape, counts, &word, 1));
		n_faults += !top_update(&shape, sums, &word, weight);
		n_negative += number < 0;
		assert_true(top_update(&shape, signed_sums, &word, (u64)MAX(number, 0)));
	}
	assert_memory_equal(cell_at(&f, 0, CELL_TOP), counts, top_slice_bytes(&shape));
	assert_memory_equal(cell_at(&f, 1, CELL_TOP), sums, top_slice_bytes(&shape));
	assert_memory_equal(cell_at(&f, 2, CELL_TOP), signed_sums, top_slice_bytes(&shape));
	assert_true(n_faults > 0 && n_negative > 0);
	assert_int_equal(((u64 *)feed_slice(&f))[COUNTER_FAULT], n_faults);
	assert_int_equal(((u64 *)feed_slice(&f))[COUNTER_NEGATIVE], n_negative);
	free(counts);
	free(sums);
	free(signed_sums);
	feed_close(&f);
}

static void test_squares(void **state)
{
	struct moments wide_signed = { 0 }, wide = { 0 }, middle = { 0 }, narrow = { 0 };
	struct feed f;

	feed_open(&f, "SELECT stddev(f_s64), stddev(f_u64), stddev(f_s32), stddev(f_s8) "
		      "FROM " REPLAY_STREAM);
	for (u32 i = 0; i < n_events(); i++) {
		u64 word = random_word(&f.rng);
		s32 number = (s32)random_word(&f.rng);
		s8 small = (s8)number;

		feed_set(&f, C_S64, &word);
		feed_set(&f, C_U64, &word);
		feed_set(&f, C_S32, &number);
		feed_set(&f, C_S8, &small);
		feed_run(&f);
		moments_add(&wide_signed, (s64)word, 1);
		moments_add(&wide, word, 1);
		moments_add(&middle, number, 1);
		moments_add(&narrow, small, 1);
	}
	assert_memory_equal(cell_at(&f, 0, CELL_SQUARES), wide_signed.squares, 24);
	assert_memory_equal(cell_at(&f, 1, CELL_SQUARES), wide.squares, 24);
	assert_memory_equal(cell_at(&f, 2, CELL_SQUARES), middle.squares, 16);
	assert_memory_equal(cell_at(&f, 3, CELL_SQUARES), narrow.squares, 8);
	assert_int_equal(middle.squares[2], 0);
	assert_int_equal(narrow.squares[1], 0);
	feed_close(&f);
}

/* 64 CPUs and texts of 64 bytes: fewer groups, but some; and never more memory than a map. */
static void test_bounded(void **state)
{
	struct feed f;

	feed_init(&f);
	feed_plan(&f, "SELECT f_u32, top_k(dl, 1000) FROM " REPLAY_STREAM " GROUP BY f_u32",
		  load_possible_cpus(), NULL, NULL);
	assert_true(f.phys->state.max_groups >= 16);
	assert_true(f.phys->state.max_groups < f.settings.max_groups);
	assert_true(f.phys->state.total_bytes <= 512ull << 20);
	feed_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers), cmocka_unit_test(test_text),
		cmocka_unit_test(test_top),	  cmocka_unit_test(test_squares),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests_name("sketch_cells", tests, feed_set_up, NULL);
}
