/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Quantiles against sorted values: the true order statistic lies within the bounds, with
 * values dropped at random and from either end, and with values that found no room.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "type/type.h"
#include "base/scratch.h"

#define PPB 1000000000u

static u64 random_state = 0x9e3779b97f4a7c15ull;

static u64 random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}

static u64 random_below(u64 n)
{
	return (random_word() >> 11) % n;
}

/* --- A histogram of values --- */

#define CELLS_MAX 70000u

struct heap {
	struct histogram histogram;
	struct histogram_cell cells[CELLS_MAX];
	u64 counts[CELLS_MAX];
};

static struct heap heap;

/* Of the values; those marked are counted, but in no cell. */
static void make(const struct scheme *scheme, const s128 *values, const bool *unplaced, u32 n)
{
	struct histogram *h = &heap.histogram;
	u32 n_cells = scheme_n_cells(scheme);

	assert_true(n_cells <= CELLS_MAX);
	memset(heap.counts, 0, n_cells * sizeof(u64));
	*h = (struct histogram){ .scheme = scheme, .cells = heap.cells };
	for (u32 i = 0; i < n; i++) {
		h->min = i ? MIN(h->min, values[i]) : values[i];
		h->max = i ? MAX(h->max, values[i]) : values[i];
		h->sum += values[i];
		if (unplaced && unplaced[i]) {
			h->n_unplaced++;
			continue;
		}
		heap.counts[scheme_cell(scheme, values[i])]++;
		h->count++;
	}
	for (u32 i = 0; i < n_cells; i++)
		if (heap.counts[i])
			heap.cells[h->n_cells++] = (struct histogram_cell){ i, heap.counts[i] };
}

static struct quantile quantile(u32 q_ppb, u64 n_lost, enum quantile_edge edge)
{
	struct quantile_request request = { .q_ppb = q_ppb, .n_lost = n_lost, .edge = edge };
	struct quantile q;

	assert_true(quantile_of(&heap.histogram, &request, &q));
	assert_int_equal(q.q_ppb, q_ppb);
	assert_false(q.is_interpolated);
	return q;
}

static bool is_within(const struct quantile *q, s128 value)
{
	if (q->has_lo && (q->is_lo_open ? value <= q->lo : value < q->lo))
		return false;
	return !q->has_hi || (q->is_hi_open ? value < q->hi : value <= q->hi);
}

static void expect_bounds(const struct quantile *q, bool is_lo_open, s128 lo, s128 hi,
			  bool is_hi_open)
{
	assert_true(q->has_lo && q->has_hi);
	assert_int_equal(q->is_lo_open, is_lo_open);
	assert_int_equal(q->is_hi_open, is_hi_open);
	assert_true(q->lo == lo);
	assert_true(q->hi == hi);
}

static void expect_estimate(u32 q_ppb, enum quantile_edge edge, s128 wanted)
{
	struct quantile q = quantile(q_ppb, 0, edge);

	if (q.estimate != wanted)
		fail_msg("estimate %lld, not %lld", (long long)q.estimate, (long long)wanted);
}

/* --- By hand --- */

static const struct scheme log2_scheme = { .kind = SCHEME_LOG2 };
static const struct scheme exponential3 = { .kind = SCHEME_EXPONENTIAL, .digits = 3 };
static const struct scheme linear10 = { .kind = SCHEME_LINEAR, .low = 0, .high = 100, .step = 10 };
static const struct scheme linear1 = { .kind = SCHEME_LINEAR, .low = -500, .high = 500, .step = 1 };

static void test_bounds(void **state)
{
	static const s128 values[] = { 3, 70, 80, 90, 100, 110, 120, 200, 1000, 5000 };
	struct quantile q;

	make(&log2_scheme, values, NULL, ARRAY_SIZE(values));
	q = quantile(500000000, 0, EDGE_MID); /* rank 5: 100 in [64, 128) */
	expect_bounds(&q, false, 64, 128, true);
	assert_true(q.estimate == 91); /* sqrt(64 * 128) = 90.51 */
	q = quantile(0, 0, EDGE_MID);  /* rank 1, and the minimum is known */
	expect_bounds(&q, false, 3, 4, true);
	q = quantile(PPB, 0, EDGE_MID);
	expect_bounds(&q, false, 4096, 5000, false);
	/* 0.7 of 10 is rank 7 exactly, a billionth more is rank 8. */
	q = quantile(700000000, 0, EDGE_MID);
	expect_bounds(&q, false, 64, 128, true);
	q = quantile(700000001, 0, EDGE_MID);
	expect_bounds(&q, false, 128, 256, true);
	/* The same with an exponential scheme: (90.5, 98.7] and (98.7, 107.6] in integers. */
	make(&exponential3, values, NULL, ARRAY_SIZE(values));
	q = quantile(500000000, 0, EDGE_MID);
	assert_true(q.is_lo_open && !q.is_hi_open && q.lo < 100 && q.hi >= 100);
	assert_true(is_within(&q, q.estimate));
}

static void test_lost(void **state)
{
	static const s128 values[] = { 3, 70, 80, 90, 100, 110, 120, 200, 1000, 5000 };
	struct quantile q;

	make(&log2_scheme, values, NULL, ARRAY_SIZE(values));
	/* 2 lost: rank 6 of 12 lies between rank 4 and rank 6 of the counted. */
	q = quantile(500000000, 2, EDGE_MID);
	expect_bounds(&q, false, 64, 128, true);
	/* rank 9 of 12 is 7 at least, 9 at most */
	q = quantile(750000000, 2, EDGE_MID);
	expect_bounds(&q, false, 64, 1024, true);
	assert_true(q.estimate == 256);
	/* rank 11 of 12: more than the 10 counted */
	q = quantile(900000000, 2, EDGE_MID);
	assert_true(q.has_lo && !q.has_hi && q.lo == 512 && q.estimate == 512);
	q = quantile(900000000, 2, EDGE_UPPER);
	assert_true(q.estimate == 512);
	/* rank 2 of 12: both lost ones may be below all */
	q = quantile(100000000, 2, EDGE_MID);
	assert_true(!q.has_lo && q.has_hi && q.hi == 128 && q.is_hi_open);
	assert_true(is_within(&q, q.estimate));
	/* rank 3 of 12: one counted value is at most that, so the minimum bounds it */
	q = quantile(200000000, 2, EDGE_MID);
	expect_bounds(&q, false, 3, 128, true);
	/* Nothing is known. */
	q = quantile(500000000, 1000, EDGE_MID);
	assert_true(!q.has_lo && !q.has_hi && q.estimate == 91);
}

static void test_unplaced(void **state)
{
	static const s128 values[] = { 3, 70, 80, 90, 100, 110, 120, 200, 1000, 5000 };
	bool unplaced[10] = { false, true, true };
	struct quantile q;

	make(&log2_scheme, values, unplaced, ARRAY_SIZE(values));
	assert_int_equal(heap.histogram.n_unplaced, 2);
	q = quantile(0, 0, EDGE_MID); /* rank 1: the minimum bounds it, no cell does */
	expect_bounds(&q, false, 3, 4, true);
	q = quantile(900000000, 0, EDGE_MID); /* rank 9 of 10, 8 are in cells: 7 .. maximum */
	expect_bounds(&q, false, 512, 5000, false);
	q = quantile(900000000, 2, EDGE_MID); /* rank 11 of 12: 7 of those in cells, or more */
	assert_true(q.has_lo && !q.has_hi && q.lo == 512);
	for (u32 i = 0; i < 10; i++)
		unplaced[i] = true;
	make(&log2_scheme, values, unplaced, ARRAY_SIZE(values));
	for (u32 edge = EDGE_MID; edge <= EDGE_LINEAR; edge++) {
		q = quantile(500000000, 0, edge);
		expect_bounds(&q, false, 3, 5000, false);
		assert_true(is_within(&q, q.estimate));
	}
}

static void test_estimates(void **state)
{
	static const s128 spread[] = { 12, 21, 22, 24, 26, 45, 45, 45, 45, 97 };
	static const s128 negative[] = { -400, -20, -3, 7, 400 };
	static const s128 large[] = { 1, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX };

	make(&linear10, spread, NULL, ARRAY_SIZE(spread));
	expect_estimate(500000000, EDGE_LOWER, 20);
	expect_estimate(500000000, EDGE_UPPER, 29);
	expect_estimate(500000000, EDGE_MID, 25);
	expect_estimate(0, EDGE_LOWER, 12);
	expect_estimate(0, EDGE_LINEAR, 12);
	expect_estimate(PPB, EDGE_UPPER, 97);
	expect_estimate(PPB, EDGE_LINEAR, 97);
	/* place 2.7 among 0 .. 9: the 2nd and 3rd of four in 20 .. 29: 23.375 and 25.625 */
	expect_estimate(300000000, EDGE_LINEAR, 25);
	make(&linear1, negative, NULL, ARRAY_SIZE(negative));
	expect_estimate(400000000, EDGE_MID, -20);
	expect_estimate(0, EDGE_MID, -400);
	make(&log2_scheme, large, NULL, ARRAY_SIZE(large));
	expect_estimate(500000000, EDGE_UPPER, UINT64_MAX);
	expect_estimate(500000000, EDGE_LOWER, (s128)1 << 63);
	/* sqrt(2^63 (2^64 - 1)) */
	expect_estimate(500000000, EDGE_MID, 13043817825332782212ull);
}

static void test_empty(void **state)
{
	struct quantile_request request = { .q_ppb = 500000000, .n_lost = 7 };
	struct quantile q;

	make(&log2_scheme, NULL, NULL, 0);
	assert_false(quantile_of(&heap.histogram, &request, &q));
}

/* --- Random --- */

static int compare(const void *a, const void *b)
{
	s128 left = *(const s128 *)a, right = *(const s128 *)b;

	return (left > right) - (left < right);
}

static s128 random_value(const struct scheme *scheme, u32 shape)
{
	u64 word = random_word();

	if (shape == 0)
		word >>= random_below(64);
	else if (shape == 1)
		word = 1 + word % 300;
	else
		word = 50000 + word % 1000000;
	if (shape && scheme_takes_negative(scheme))
		return (s128)(s64)word - 200;
	return word;
}

#define VALUES_MAX 400

static const s64 some_bounds[] = { -100, -1, 0, 1, 2, 5, 9, 17, 33, 65, 1000, 70000 };

static struct scheme random_scheme(void)
{
	struct scheme s = { .kind = random_below(SCHEME_N) };

	if (s.kind == SCHEME_EXPONENTIAL)
		s.digits = random_below(7);
	if (s.kind == SCHEME_LOGLINEAR)
		s.digits = 1 + random_below(10);
	if (s.kind == SCHEME_LINEAR) {
		s.low = (s64)random_below(300) - 200;
		s.step = 1 + random_below(1000);
		s.high = s.low + s.step * (1 + random_below(60)) - random_below(s.step);
	}
	if (s.kind == SCHEME_BOUNDS) {
		s.bounds = some_bounds;
		s.n_bounds = 1 + random_below(ARRAY_SIZE(some_bounds));
	}
	return s;
}

static u32 random_q(void)
{
	static const u32 usual[] = { 0, 500000000, 900000000, 990000000, 999000000, PPB, 1 };

	return random_below(2) ? usual[random_below(ARRAY_SIZE(usual))] : random_below(PPB + 1);
}

/* values is sorted; keeps n - k of them, and says which of these are in no cell. */
static u32 drop(const s128 *values, u32 n, u32 k, s128 *kept, bool *unplaced)
{
	u32 how = random_below(3), n_kept = 0, n_unplaced = random_below(3) ? 0 : random_below(20);
	bool is_dropped[VALUES_MAX] = { false };
	u32 left = k;

	while (left) {
		u32 at = how == 0 ? random_below(n) : how == 1 ? n - left : left - 1;

		left -= !is_dropped[at];
		is_dropped[at] = true;
	}
	for (u32 i = 0; i < n; i++) {
		if (is_dropped[i])
			continue;
		unplaced[n_kept] = random_below(n) < n_unplaced;
		kept[n_kept++] = values[i];
	}
	return n_kept;
}

/* The exact value of rank ceil(q n), at least 1. */
static s128 order_statistic(const s128 *values, u32 n, u32 q_ppb)
{
	u64 rank = ((u64)q_ppb * n + PPB - 1) / PPB;

	return values[rank ? rank - 1 : 0];
}

/* As percentile_cont() is defined: between the two values around place q (n - 1). */
static long double continuous(const s128 *values, u32 n, u32 q_ppb)
{
	u64 place = (u64)q_ppb * (n - 1), at = place / PPB, part = place % PPB;
	long double low = (long double)values[at];

	if (!part)
		return low;
	return low + ((long double)values[at + 1] - low) * part / PPB;
}

struct tally {
	u32 n_naive_wrong, n_without_lo, n_without_hi, n_bounded;
};

static void check_point(const s128 *values, u32 n, u32 k, u32 n_assumed, u32 q_ppb,
			struct tally *tally)
{
	s128 truth = order_statistic(values, n, q_ppb);
	struct quantile q = quantile(q_ppb, n_assumed, random_below(4)), naive;

	if (!is_within(&q, truth))
		fail_msg("q %u of %u values, %u lost: %lld not in %lld .. %lld", q_ppb, n, k,
			 (long long)truth, (long long)q.lo, (long long)q.hi);
	assert_true(is_within(&q, q.estimate));
	assert_true(!q.has_lo || !q.has_hi || q.lo <= q.hi);
	tally->n_without_lo += !q.has_lo;
	tally->n_without_hi += !q.has_hi;
	tally->n_bounded += q.has_lo && q.has_hi;
	naive = quantile(q_ppb, 0, EDGE_MID);
	assert_true(naive.has_lo && naive.has_hi);
	tally->n_naive_wrong += !is_within(&naive, truth);
}

static void check_continuous(const s128 *values, u32 n, u32 n_assumed, u32 q_ppb)
{
	struct quantile_request request = { .q_ppb = q_ppb,
					    .n_lost = n_assumed,
					    .is_interpolated = true };
	long double truth = continuous(values, n, q_ppb), slack = fabsl(truth) * 1e-15L;
	struct quantile q;

	assert_true(quantile_of(&heap.histogram, &request, &q));
	assert_true(q.is_interpolated);
	if (q.has_lo)
		assert_true(truth >= (long double)q.lo - slack && q.interpolated >= (double)q.lo);
	if (q.has_hi)
		assert_true(truth <= (long double)q.hi + slack && q.interpolated <= (double)q.hi);
}

static void test_random(void **state)
{
	static s128 values[VALUES_MAX], kept[VALUES_MAX];
	static bool unplaced[VALUES_MAX];
	struct tally tally = { 0 };

	printf("seed %llx\n", (unsigned long long)random_state);
	for (u32 round = 0; round < 6000; round++) {
		struct scheme scheme = random_scheme();
		u32 n = 1 + random_below(VALUES_MAX), shape = random_below(3), n_kept;
		u32 k = random_below(2) ? random_below(n) : random_below(MIN(n, 8));
		u32 n_assumed;

		for (u32 i = 0; i < n; i++)
			values[i] = random_value(&scheme, shape);
		qsort(values, n, sizeof(*values), compare);
		n_kept = drop(values, n, k, kept, unplaced);
		make(&scheme, kept, unplaced, n_kept);
		/* A loss that is told for all groups may be larger than this one's. */
		n_assumed = k + (random_below(2) ? random_below(10) : 0);
		for (u32 i = 0; i < 8; i++) {
			u32 q_ppb = random_q();

			check_point(values, n, k, n_assumed, q_ppb, &tally);
			check_continuous(values, n, n_assumed, q_ppb);
		}
	}
	printf("bounds without the loss would be wrong %u times; no lower bound %u, no upper %u, "
	       "both %u\n",
	       tally.n_naive_wrong, tally.n_without_lo, tally.n_without_hi, tally.n_bounded);
	assert_true(tally.n_naive_wrong > 100);
	assert_true(tally.n_without_lo > 100 && tally.n_without_hi > 100 && tally.n_bounded > 1000);
}

/* Cells of one integer each: percentile_cont() is exact. */
static void test_continuous_exact(void **state)
{
	s128 values[50];

	for (u32 round = 0; round < 500; round++) {
		u32 n = 1 + random_below(ARRAY_SIZE(values)), q_ppb = random_q();
		struct quantile_request request = { .q_ppb = q_ppb, .is_interpolated = true };
		struct quantile q;

		for (u32 i = 0; i < n; i++)
			values[i] = (s128)random_below(1000) - 500;
		qsort(values, n, sizeof(*values), compare);
		make(&linear1, values, NULL, n);
		assert_true(quantile_of(&heap.histogram, &request, &q));
		assert_true(fabsl(q.interpolated - continuous(values, n, q_ppb)) < 1e-9L);
	}
}

/* --- Scratch --- */

static void test_scratch(void **state)
{
	struct scratch scratch = { 0 };
	struct scratch_mark mark;
	u8 *pieces[64];

	for (u32 round = 0; round < 3; round++) {
		for (u32 i = 0; i < ARRAY_SIZE(pieces); i++) {
			pieces[i] = scratch_alloc(&scratch, 5000 * (size_t)(i + 1));
			memset(pieces[i], (int)i, 5000 * (size_t)(i + 1));
			scratch_trim(&scratch, pieces[i], 4000 * (size_t)(i + 1));
		}
		for (u32 i = 0; i < ARRAY_SIZE(pieces); i++) {
			assert_int_equal((uintptr_t)pieces[i] % 16, 0);
			for (u32 at = 0; at < 4000 * (i + 1); at += 333)
				assert_int_equal(pieces[i][at], i);
		}
		mark = scratch_mark(&scratch);
		pieces[0] = scratch_alloc(&scratch, 1 << 20);
		scratch_release(&scratch, mark);
		assert_ptr_equal(scratch_alloc(&scratch, 1 << 20), pieces[0]);
		scratch_reset(&scratch);
	}
	scratch_free(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),	 cmocka_unit_test(test_lost),
		cmocka_unit_test(test_unplaced), cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_empty),	 cmocka_unit_test(test_random),
		cmocka_unit_test(test_scratch),	 cmocka_unit_test(test_continuous_exact),
	};

	return cmocka_run_group_tests_name("run-quantile", tests, NULL, NULL);
}
