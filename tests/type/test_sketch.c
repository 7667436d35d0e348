/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * HyperLogLog keeps its standard error, from few values to many; the bounds of a top list
 * hold for every value, whatever the stream and however slices are merged.
 *
 * EBQL_SEED.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../top_model.h"
#include "type/hll.h"
#include "type/top.h"

static u64 state;

/* splitmix64 */
static u64 next(void)
{
	u64 z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static u64 seed(void)
{
	const char *text = getenv("EBQL_SEED");

	return text && *text ? strtoull(text, NULL, 0) : 1;
}

/* --- HyperLogLog --- */

/* The estimate for n values from `start` on, `step` apart: neighbours, as kernels hand them out. */
static double error_of(u64 start, u64 step, u32 n, u32 bits)
{
	static u8 registers[1 << HLL_BITS_MAX];
	u64 value;

	memset(registers, 0, sizeof(registers));
	for (u32 i = 0; i < n; i++) {
		value = start + i * step;
		hll_add(registers, bits, hll_hash(&value, 1));
	}
	return (double)hll_estimate(registers, bits) / n - 1;
}

/*
 * 100 seeds each: no error is above 3 standard errors (or one value: of few, two that meet in
 * one register count for one), but for what chance allows (0.27 % of a normal distribution; 3 of
 * 100 at most in all but 1 of 5000 runs).  Their root mean square is about one standard error,
 * their mean is near 0.
 */
static void test_hll_error(void **unused)
{
	static const u32 sizes[] = { 10, 10000, 1000000 };
	static const u32 bits[] = { 10, 12 };

	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++)
		for (u32 j = 0; j < ARRAY_SIZE(bits); j++) {
			double standard = hll_standard_error(bits[j]), sum = 0, squares = 0;
			u32 n_beyond = 0;

			state = seed() * 1000 + i;
			for (u32 k = 0; k < 100; k++) {
				/* Pointers, counters and sizes are apart by a power of two. */
				double e = error_of(next(), 1ull << (k % 13), sizes[i], bits[j]);

				n_beyond += fabs(e) > fmax(3 * standard, 1.0 / sizes[i]);
				sum += e;
				squares += e * e;
			}
			if (n_beyond > 3 || fabs(sum / 100) > 0.5 * standard ||
			    sqrt(squares / 100) > 1.4 * standard)
				fail_msg("%u values, 2^%u registers: %u beyond, mean %g, rms %g",
					 sizes[i], bits[j], n_beyond, sum / 100,
					 sqrt(squares / 100));
		}
}

static void test_hll_ends(void **unused)
{
	static u8 registers[1 << HLL_BITS_MAX];
	const u64 zero = 0;

	for (u32 bits = HLL_BITS_MIN; bits <= HLL_BITS_MAX; bits++) {
		memset(registers, 0, sizeof(registers));
		assert_int_equal(hll_estimate(registers, bits), 0);
		for (u32 i = 0; i < 3; i++)
			hll_add(registers, bits, hll_hash(&zero, 1));
		assert_int_equal(hll_estimate(registers, bits), 1);
		assert_int_equal(hll_rank(0, bits), 65 - bits);
		assert_int_equal(hll_rank(1ull << bits, bits), 1);
		memset(registers, 65 - (int)bits, sizeof(registers));
		assert_true(hll_estimate(registers, bits) > 1ull << 62);
	}
}

/* The width of a text's column, and whether bytes or words are given, make no difference. */
static void test_hll_text(void **unused)
{
	const char text[40] = "systemd-journal-remote";
	u64 words[5];

	for (u32 n = 0; n <= strlen(text); n++) {
		memset(words, 0, sizeof(words));
		memcpy(words, text, n);
		for (u32 i = (n + 7) / 8; i <= 5; i++)
			assert_true(hll_hash(words, i) == hll_hash_bytes(text, n));
		assert_true(n == 0 || hll_hash_bytes(text, n) != hll_hash_bytes(text, n - 1));
	}
}

static void test_hll_merge(void **unused)
{
	static u8 a[1 << 10], b[1 << 10], both[1 << 10];

	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	memset(both, 0, sizeof(both));
	for (u64 i = 0; i < 5000; i++) {
		u64 hash = hll_hash(&i, 1);

		hll_add(i % 3 ? a : b, 10, hash);
		hll_add(both, 10, hash);
	}
	hll_merge(a, b, 10);
	assert_memory_equal(a, both, sizeof(a));
}

/* --- Top lists --- */

#define N_VALUES 4096
#define N_SLICES 5

struct stream {
	struct top_shape shape;
	u64 *slices[N_SLICES];
	u128 weights[N_VALUES];
	u128 total;
	u32 n_values;
};

static void value_words(const struct stream *s, u32 number, u64 *ret_words)
{
	for (u32 i = 0; i < s->shape.n_words; i++)
		ret_words[i] = (i + 1) * (u64)number;
}

static void stream_open(struct stream *s, u32 k, u32 n_words, u32 n_values)
{
	*s = (struct stream){ .shape = top_shape(k, n_words), .n_values = n_values };
	for (u32 i = 0; i < N_SLICES; i++)
		s->slices[i] = calloc(1, top_slice_bytes(&s->shape));
}

/* skew 0: all values as often; else the smaller ones more often, the more the larger it is. */
static void stream_feed(struct stream *s, u32 n_events, u32 skew)
{
	u64 words[TOP_WORDS_MAX];

	for (u32 i = 0; i < n_events; i++) {
		u64 number = next() % s->n_values, weight = next() % 100 < 50 ? 1 : next() % 1000;

		for (u32 j = 0; j < skew; j++)
			number = next() % (number + 1);
		value_words(s, (u32)number, words);
		assert_true(top_update(&s->shape, s->slices[next() % N_SLICES], words, weight));
		s->weights[number] += weight;
		s->total += weight;
	}
}

static void check_list(const struct stream *s, const u64 *merged, u32 k)
{
	struct top_entry *entries = calloc(s->shape.n_sets * TOP_WAYS, sizeof(*entries));
	bool *is_listed = calloc(s->n_values, 1);
	s128 total, max_unlisted;
	u64 words[TOP_WORDS_MAX];
	u32 n = top_list(&s->shape, merged, k, entries, &total, &max_unlisted);

	assert_true(n <= k && total == (s128)s->total);
	for (u32 i = 0; i < n; i++) {
		u32 number = (u32)entries[i].value[0];

		value_words(s, number, words);
		assert_true(number < s->n_values && !is_listed[number]);
		assert_memory_equal(words, entries[i].value, 8 * s->shape.n_words);
		is_listed[number] = true;
		assert_true((s128)s->weights[number] <= entries[i].weight);
		assert_true((s128)s->weights[number] >= entries[i].weight - entries[i].error);
		assert_true(i == 0 || entries[i].weight <= entries[i - 1].weight);
	}
	for (u32 i = 0; i < s->n_values; i++)
		if (!is_listed[i])
			assert_true((s128)s->weights[i] <= max_unlisted);
	free(entries);
	free(is_listed);
}

/* Slices one after the other; then in pairs first, and the merged ones into each other. */
static void check_merges(const struct stream *s, u32 k)
{
	u32 n = top_merged_words(&s->shape);
	u64 *all = calloc(n, 8), *part = calloc(n, 8), *other = calloc(n, 8);

	for (u32 i = 0; i < N_SLICES; i++)
		top_merge_slice(&s->shape, all, s->slices[i]);
	check_list(s, all, k);
	for (u32 i = 0; i < N_SLICES; i++)
		top_merge_slice(&s->shape, i % 2 ? part : other, s->slices[i]);
	top_merge(&s->shape, other, part);
	check_list(s, other, k);
	free(all);
	free(part);
	free(other);
}

static void test_top_bounds(void **unused)
{
	static const u32 n_values[] = { 1, 7, 100, 1000, N_VALUES };
	static const u32 ks[] = { 1, 10, 50, 1000 };

	state = seed();
	for (u32 round = 0; round < 400; round++) {
		struct stream s;
		u32 k = ks[next() % ARRAY_SIZE(ks)];

		stream_open(&s, k, 1 + (u32)(next() % TOP_WORDS_MAX),
			    n_values[next() % ARRAY_SIZE(n_values)]);
		stream_feed(&s, (u32)(next() % 5000), (u32)(next() % 5));
		check_merges(&s, k);
		for (u32 i = 0; i < N_SLICES; i++)
			free(s.slices[i]);
	}
}

/* A few heavy values among many light ones are found, and come first. */
static void test_top_finds(void **unused)
{
	state = seed();
	for (u32 round = 0; round < 50; round++) {
		struct top_entry *entries;
		struct stream s;
		u64 words[1], *merged;
		s128 total, max_unlisted;

		stream_open(&s, 10, 1, N_VALUES);
		stream_feed(&s, 20000, 0);
		for (u32 i = 0; i < 10; i++) {
			words[0] = 100 + i;
			assert_true(top_update(&s.shape, s.slices[i % N_SLICES], words,
					       1000000 * (i + 1)));
			s.weights[100 + i] += 1000000 * (i + 1);
			s.total += 1000000 * (i + 1);
		}
		merged = calloc(top_merged_words(&s.shape), 8);
		entries = calloc(s.shape.n_sets * TOP_WAYS, sizeof(*entries));
		for (u32 i = 0; i < N_SLICES; i++)
			top_merge_slice(&s.shape, merged, s.slices[i]);
		assert_int_equal(top_list(&s.shape, merged, 10, entries, &total, &max_unlisted),
				 10);
		for (u32 i = 0; i < 10; i++)
			assert_int_equal(entries[i].value[0], 109 - i);
		assert_true(max_unlisted < 1000000);
		check_list(&s, merged, 10);
		for (u32 i = 0; i < N_SLICES; i++)
			free(s.slices[i]);
		free(merged);
		free(entries);
	}
}

/* What would overflow is left out, and merging goes beyond 64 bits. */
static void test_top_large(void **unused)
{
	const u64 value = 0;
	struct stream s;
	u64 *merged;

	stream_open(&s, 1, 1, 1);
	merged = calloc(top_merged_words(&s.shape), 8);
	for (u32 i = 0; i < N_SLICES; i++) {
		assert_true(top_update(&s.shape, s.slices[i], &value, UINT64_MAX - 1));
		assert_false(top_update(&s.shape, s.slices[i], &value, 2));
		assert_true(top_update(&s.shape, s.slices[i], &value, 1));
		assert_true(top_update(&s.shape, s.slices[i], &value, 0));
		top_merge_slice(&s.shape, merged, s.slices[i]);
		free(s.slices[i]);
	}
	s.weights[0] = s.total = (u128)UINT64_MAX * N_SLICES;
	check_list(&s, merged, 1);
	free(merged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hll_error),  cmocka_unit_test(test_hll_ends),
		cmocka_unit_test(test_hll_text),   cmocka_unit_test(test_hll_merge),
		cmocka_unit_test(test_top_bounds), cmocka_unit_test(test_top_finds),
		cmocka_unit_test(test_top_large),
	};

	return cmocka_run_group_tests_name("sketch", tests, NULL, NULL);
}
