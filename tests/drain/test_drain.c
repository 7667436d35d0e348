/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Drain and merge on memory made by hand: each cell and key kind at its extremes,
 * the "(other)" rule by constructed cases, and random events against a plain model.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fake.h"
#include "sys/sys.h"

static void expect_int(struct value value, s128 wanted)
{
	assert_int_equal(value.kind, VALUE_INT);
	assert_true(value.integer == wanted);
}

static void expect_text(struct value value, const char *wanted, u32 n)
{
	assert_int_equal(value.kind, VALUE_TEXT);
	assert_int_equal(value.n, n);
	assert_memory_equal(value.text, wanted, n);
}

static void expect_null(struct value value)
{
	assert_int_equal(value.kind, VALUE_NULL);
}

/* The group whose first key column is that integer; fails when it is not shown. */
static u32 group(const struct fake *f, s128 key)
{
	u32 at;

	for (at = merge_seek(&f->merge, 1); at != MERGE_END && at != MERGE_OTHER;
	     at = merge_seek(&f->merge, at + 1))
		if (fake_value(f, at, 0).integer == key)
			return at;
	fail_msg("no group %lld", (long long)key);
	return 0;
}

static bool has_group(const struct fake *f, s128 key)
{
	u32 at;

	for (at = merge_seek(&f->merge, 1); at != MERGE_END && at != MERGE_OTHER;
	     at = merge_seek(&f->merge, at + 1))
		if (fake_value(f, at, 0).integer == key)
			return true;
	return false;
}

/* What a member of enum cell_kind needs: one that was forgotten is all zeros. */
static void test_cell_kinds(void **state)
{
	for (u32 i = CELL_NONE + 1; i < CELL_KIND_N; i++) {
		const struct cell_ops *ops = &cell_ops[i];

		assert_non_null(ops->name);
		assert_int_equal(!ops->fold, ops->words != NULL);
		assert_int_equal(!ops->merge_row, ops->fold || i == CELL_HISTOGRAM);
		assert_true(ops->merge_row || !ops->merge_entry);
		assert_true(!ops->fold || ops->integer);
		/* Cleared memory changes nothing, on either side. */
		for (u64 word = 1; ops->fold && word; word <<= 1) {
			assert_int_equal(ops->fold(0, word), word);
			assert_int_equal(ops->fold(word, 0), word);
		}
	}
	for (u32 i = 0; i < AGGREGATE_N; i++)
		if (aggregate_infos[i].reads == READS_NUMBER && aggregate_infos[i].cell)
			assert_non_null(cell_ops[aggregate_infos[i].cell].integer);
}

static void count_event(struct fake *f, u32 copy, u32 cpu, u32 level)
{
	fake_counters(f, copy, cpu, level)[COUNTER_EVENTS]++;
}

/* --- Cells --- */

/* Ungrouped: count, sum wide, sum narrow, min, max, avg of the given signed kind. */
static void make_ungrouped(struct fake *f, bool is_signed, bool is_wide)
{
	s32 count, sum, min, max;

	fake_init(f, STATE_DIRECT, 2, 2, 1);
	count = fake_cell(f, CELL_COUNT, false, false);
	sum = fake_cell(f, CELL_SUM, is_wide, is_signed);
	min = fake_cell(f, CELL_MIN, false, is_signed);
	max = fake_cell(f, CELL_MAX, false, is_signed);
	fake_aggregate(f, AGGREGATE_COUNT, count, -1);
	fake_aggregate(f, AGGREGATE_SUM, count, sum);
	fake_aggregate(f, AGGREGATE_MIN, count, min);
	fake_aggregate(f, AGGREGATE_MAX, count, max);
	fake_aggregate(f, AGGREGATE_AVG, count, sum);
	fake_ready(f);
}

static void ungrouped_event(struct fake *f, u32 cpu, u32 level, s128 value)
{
	u8 *cells = fake_row(f, 0, cpu, level, NULL);
	s32 i;

	count_event(f, 0, cpu, level);
	for (i = 0; i < 4; i++)
		fake_update(f, cells, i, value);
}

static void expect_ungrouped(struct fake *f, s128 count, s128 sum, s128 min, s128 max, double avg)
{
	fake_drain(f, 0);
	assert_true(fake_is_clean(f));
	assert_int_equal(f->merge.n_live, 1);
	assert_int_equal(merge_seek(&f->merge, 1), 1);
	assert_int_equal(merge_seek(&f->merge, 2), MERGE_END);
	expect_int(fake_value(f, 1, 0), count);
	expect_int(fake_value(f, 1, 1), sum);
	expect_int(fake_value(f, 1, 2), min);
	expect_int(fake_value(f, 1, 3), max);
	assert_int_equal(fake_value(f, 1, 4).kind, VALUE_REAL);
	assert_true(fake_value(f, 1, 4).real == avg);
	expect_int(fake_value(f, 1, 5), 1000);
	expect_int(fake_value(f, 1, 6), 2000);
	fake_free(f);
}

static void test_cells_signed(void **state)
{
	struct fake f;

	make_ungrouped(&f, true, true);
	ungrouped_event(&f, 0, 0, INT64_MIN);
	ungrouped_event(&f, 0, 1, INT64_MIN);
	ungrouped_event(&f, 1, 0, INT64_MIN);
	ungrouped_event(&f, 1, 1, -1);
	expect_ungrouped(&f, 4, 3 * (s128)INT64_MIN - 1, INT64_MIN, -1, -0x1.8p+64 / 4);
	make_ungrouped(&f, true, true);
	ungrouped_event(&f, 0, 0, INT64_MAX);
	ungrouped_event(&f, 1, 0, INT64_MAX);
	expect_ungrouped(&f, 2, 2 * (s128)INT64_MAX, INT64_MAX, INT64_MAX, 0x1p+63);
	make_ungrouped(&f, true, false);
	ungrouped_event(&f, 0, 0, -5);
	ungrouped_event(&f, 1, 0, -2);
	ungrouped_event(&f, 1, 0, 4);
	expect_ungrouped(&f, 3, -3, -5, 4, -1);
}

static void test_cells_unsigned(void **state)
{
	struct fake f;

	make_ungrouped(&f, false, true);
	ungrouped_event(&f, 0, 0, UINT64_MAX);
	ungrouped_event(&f, 0, 0, UINT64_MAX);
	ungrouped_event(&f, 1, 1, 1ull << 63);
	expect_ungrouped(&f, 3, 2 * (s128)UINT64_MAX + (1ull << 63), 1ull << 63, UINT64_MAX,
			 0x1.4p+65 / 3);
	make_ungrouped(&f, false, true);
	ungrouped_event(&f, 1, 0, 0);
	expect_ungrouped(&f, 1, 0, 0, 0, 0);
	/* A narrow unsigned sum may use all 64 bits of a slice: merged, it needs more. */
	make_ungrouped(&f, false, false);
	ungrouped_event(&f, 0, 0, UINT64_MAX - 1);
	ungrouped_event(&f, 1, 0, UINT64_MAX - 3);
	expect_ungrouped(&f, 2, 2 * (s128)UINT64_MAX - 4, UINT64_MAX - 3, UINT64_MAX - 1, 0x1p+64);
}

static void test_idle(void **state)
{
	struct fake f;
	u32 i;

	make_ungrouped(&f, true, true);
	fake_drain(&f, 1);
	assert_int_equal(f.merge.n_live, 1);
	expect_int(fake_value(&f, 1, 0), 0);
	for (i = 1; i < 5; i++)
		expect_null(fake_value(&f, 1, i));
	fake_free(&f);
	fake_init(&f, STATE_TABLE, 2, 1, 4);
	fake_key(&f, type_int(32, true));
	fake_aggregate(&f, AGGREGATE_COUNT, fake_cell(&f, CELL_COUNT, false, false), -1);
	fake_ready(&f);
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 0);
	assert_int_equal(merge_seek(&f.merge, 1), MERGE_END);
	fake_free(&f);
}

/* --- Keys --- */

static void test_keys(void **state)
{
	static const char *const probes[] = { "a", "sys_enter_read" };
	struct phys_key *nullable;
	struct fake f;
	u64 words[9] = { 0 };

	fake_init(&f, STATE_TABLE, 2, 1, 8);
	fake_null_word(&f);
	fake_key(&f, type_int(32, true));
	fake_key(&f, type_int(64, false));
	fake_key(&f, type_text(16));
	nullable = fake_key(&f, type_int(64, true));
	nullable->null_bit = 0;
	fake_key(&f, type_int(64, false))->is_probe = true;
	fake_slice_key(&f);
	fake_key(&f, (struct type){ .kind = TYPE_BLOB, .bytes = 6 });
	f.phys.probes = (const char **)probes;
	f.phys.n_probes = 2;
	fake_aggregate(&f, AGGREGATE_COUNT, fake_cell(&f, CELL_COUNT, false, false), -1);
	fake_ready(&f);
	words[1] = (u64)-7ll;
	words[2] = UINT64_MAX;
	memcpy(&words[3], "0123456789abcdef", 16);
	words[5] = (u64)INT64_MIN;
	words[6] = 1;
	memcpy(&words[7], "\0x\0yz\0", 6);
	fake_update(&f, fake_row(&f, 0, 1, 0, words), 0, 0);
	count_event(&f, 0, 1, 0);
	words[0] = 1; /* the fourth key is NULL */
	words[5] = 0;
	memcpy(&words[3], "abc\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	fake_update(&f, fake_row(&f, 0, 1, 0, words), 0, 0);
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 2);
	expect_int(fake_value(&f, 1, 0), -7);
	expect_int(fake_value(&f, 1, 1), UINT64_MAX);
	expect_text(fake_value(&f, 1, 2), "0123456789abcdef", 16);
	expect_int(fake_value(&f, 1, 3), INT64_MIN);
	expect_text(fake_value(&f, 1, 4), "sys_enter_read", 14);
	expect_int(fake_value(&f, 1, 5), 1);
	expect_text(fake_value(&f, 1, 6), "\0x\0yz\0", 6);
	expect_text(fake_value(&f, 2, 2), "abc", 3);
	expect_null(fake_value(&f, 2, 3));
	assert_true(fake_is_clean(&f));
	fake_free(&f);
}

static void test_direct(void **state)
{
	struct fake f;
	u64 word;
	s32 count, sum;

	fake_init(&f, STATE_DIRECT, 2, 1, 100);
	fake_key(&f, type_int(32, true));
	fake_slice_key(&f);
	count = fake_cell(&f, CELL_COUNT, false, false);
	sum = fake_cell(&f, CELL_SUM, false, true);
	fake_aggregate(&f, AGGREGATE_COUNT, count, -1);
	fake_aggregate(&f, AGGREGATE_SUM, count, sum);
	f.phys.exists_cell = count;
	f.phys.state.n_rows = 100;
	f.phys.state.domain_lo = -50;
	fake_ready(&f);
	for (s64 key = -50; key < 50; key += 33) {
		for (u32 cpu = 0; cpu < 2; cpu++) {
			u8 *cells;

			word = key;
			cells = fake_row(&f, 1, cpu, 0, &word);
			fake_update(&f, cells, count, 0);
			fake_update(&f, cells, sum, key * 10 + cpu);
			count_event(&f, 1, cpu, 0);
		}
	}
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 0);
	fake_drain(&f, 1);
	assert_true(fake_is_clean(&f));
	assert_int_equal(f.merge.n_live, 8);
	for (u32 i = 0; i < 8; i++) {
		s64 key = -50 + 33 * (s64)(i % 4), cpu = i / 4;

		expect_int(fake_value(&f, i + 1, 0), key);
		expect_int(fake_value(&f, i + 1, 1), cpu);
		expect_int(fake_value(&f, i + 1, 2), 1);
		expect_int(fake_value(&f, i + 1, 3), key * 10 + cpu);
	}
	assert_int_equal(f.counters[COUNTER_EVENTS], 8);
	fake_free(&f);
}

/* --- Overflow: key, [cpu], count(*), sum --- */

static void make_table(struct fake *f, u32 n_cpus, u32 n_levels, u64 max_groups, bool by_cpu)
{
	s32 count;

	fake_init(f, STATE_TABLE, n_cpus, n_levels, max_groups);
	fake_key(f, type_int(64, false));
	if (by_cpu)
		fake_slice_key(f);
	count = fake_cell(f, CELL_COUNT, false, false);
	fake_cell(f, CELL_SUM, true, true);
	fake_aggregate(f, AGGREGATE_COUNT, count, -1);
	fake_aggregate(f, AGGREGATE_SUM, count, 1);
	fake_ready(f);
}

static void table_event(struct fake *f, u32 cpu, u32 level, u64 key, s128 value)
{
	u8 *cells = fake_row(f, 0, cpu, level, &key);

	count_event(f, 0, cpu, level);
	fake_update(f, cells, 0, 0);
	fake_update(f, cells, 1, value);
}

static void test_other(void **state)
{
	struct fake f;

	/* CPU 0 overflows, CPU 1 does not: what CPU 0 has is exact, what only CPU 1 has is not. */
	make_table(&f, 2, 1, 2, false);
	table_event(&f, 0, 0, 1, 10);
	table_event(&f, 0, 0, 2, 20);
	table_event(&f, 0, 0, 3, 30); /* lost to (other) */
	table_event(&f, 1, 0, 3, 31); /* so 3 is not exact, though it has a row here */
	table_event(&f, 1, 0, 1, 11);
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 3);
	expect_int(fake_value(&f, group(&f, 1), 1), 2);
	expect_int(fake_value(&f, group(&f, 1), 2), 21);
	expect_int(fake_value(&f, group(&f, 2), 2), 20);
	assert_false(has_group(&f, 3));
	expect_null(fake_value(&f, MERGE_OTHER, 0));
	expect_int(fake_value(&f, MERGE_OTHER, 1), 2);
	expect_int(fake_value(&f, MERGE_OTHER, 2), 61);
	/* one event in the slice's other row, one folded by us */
	assert_int_equal(f.counters[COUNTER_TABLE_FULL], 1);
	assert_int_equal(f.merge.n_folded, 1);
	assert_int_equal(merge_seek(&f.merge, f.merge.n_entries), MERGE_OTHER);
	assert_true(fake_is_clean(&f));
	/* The next window knows nothing of it. */
	merge_reset(&f.merge);
	table_event(&f, 1, 0, 3, 31);
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 1);
	expect_int(fake_value(&f, group(&f, 3), 2), 31);
	fake_free(&f);
}

static void test_other_both(void **state)
{
	struct fake f;

	make_table(&f, 2, 1, 2, false);
	for (u32 cpu = 0; cpu < 2; cpu++) {
		table_event(&f, cpu, 0, 1, 100);
		table_event(&f, cpu, 0, 2 + cpu, 200);
		table_event(&f, cpu, 0, 3 - cpu, 300); /* lost on this CPU */
	}
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 2);
	expect_int(fake_value(&f, group(&f, 1), 2), 200);
	expect_int(fake_value(&f, MERGE_OTHER, 1), 4);
	expect_int(fake_value(&f, MERGE_OTHER, 2), 1000);
	assert_int_equal(f.counters[COUNTER_TABLE_FULL] + f.merge.n_folded, 4);
	fake_free(&f);
}

static void test_other_cpu_key(void **state)
{
	struct fake f;

	make_table(&f, 2, 2, 2, true);
	table_event(&f, 0, 0, 1, 1);
	table_event(&f, 0, 0, 2, 2);
	table_event(&f, 0, 0, 3, 4);  /* CPU 0, level 0 overflows */
	table_event(&f, 0, 1, 2, 8);  /* has its row there too: exact */
	table_event(&f, 0, 1, 3, 16); /* has not: folded */
	table_event(&f, 1, 0, 3, 32); /* the other CPU's group: exact */
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 4);
	expect_int(fake_value(&f, group(&f, 1), 3), 1);
	expect_int(fake_value(&f, group(&f, 2), 3), 10);
	expect_int(fake_value(&f, group(&f, 3), 1), 1);
	expect_int(fake_value(&f, group(&f, 3), 3), 32);
	expect_int(fake_value(&f, MERGE_OTHER, 3), 20);
	expect_null(fake_value(&f, MERGE_OTHER, 1));
	fake_free(&f);
}

/* Without a window: groups persist over drains, and once inexact stay folded. */
static void test_accumulate(void **state)
{
	struct fake f;

	make_table(&f, 2, 1, 2, false);
	table_event(&f, 0, 0, 1, 1);
	table_event(&f, 0, 0, 2, 2);
	fake_drain(&f, 0);
	table_event(&f, 1, 0, 1, 4);
	table_event(&f, 1, 0, 3, 8);
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 3);
	expect_int(fake_value(&f, group(&f, 1), 2), 5);
	expect_int(fake_value(&f, group(&f, 3), 2), 8);
	table_event(&f, 0, 0, 1, 16);
	table_event(&f, 0, 0, 4, 32);
	table_event(&f, 0, 0, 2, 64); /* overflow: 2 may be, and is, incomplete; so may be 3 */
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 3);
	expect_int(fake_value(&f, group(&f, 1), 2), 21);
	expect_int(fake_value(&f, group(&f, 4), 2), 32);
	expect_int(fake_value(&f, MERGE_OTHER, 2), 74);
	/* Later: folded groups and new groups stay in (other). */
	table_event(&f, 0, 0, 2, 128);
	table_event(&f, 1, 0, 5, 256);
	fake_drain(&f, 0);
	table_event(&f, 0, 0, 1, 512);
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 3);
	expect_int(fake_value(&f, group(&f, 1), 2), 533);
	expect_int(fake_value(&f, group(&f, 4), 2), 32);
	expect_int(fake_value(&f, MERGE_OTHER, 2), 458);
	expect_int(fake_value(&f, MERGE_OTHER, 1), 5);
	assert_int_equal(f.counters[COUNTER_TABLE_FULL] + f.merge.n_folded, 5);
	fake_free(&f);
}

/* --- Random events against a model --- */

static u64 random_state = 88172645463325252ull;

static u64 random_below(u64 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

struct model {
	u64 n[4][64];
	s128 sum[4][64];
	u64 all_n;
	s128 all_sum;
};

static void model_event(struct model *m, u32 cpu, u64 key, s128 value)
{
	m->n[cpu][key]++;
	m->sum[cpu][key] += value;
	m->all_n++;
	m->all_sum += value;
}

/* Every group shown is exact; all rows together are everything; folded events are told. */
static void check_model(struct fake *f, const struct model *m, bool by_cpu)
{
	u32 at, n_live = 0, first = by_cpu ? 2 : 1;
	u64 n_shown = 0;
	s128 shown = 0, n;

	for (at = merge_seek(&f->merge, 1); at != MERGE_END && at != MERGE_OTHER;
	     at = merge_seek(&f->merge, at + 1)) {
		u64 key = fake_value(f, at, 0).integer, wanted = 0;
		s128 sum = 0;

		for (u32 cpu = 0; cpu < 4; cpu++) {
			if (by_cpu && fake_value(f, at, 1).integer != cpu)
				continue;
			wanted += m->n[cpu][key];
			sum += m->sum[cpu][key];
		}
		n = fake_value(f, at, first).integer;
		expect_int(fake_value(f, at, first), wanted);
		expect_int(fake_value(f, at, first + 1), sum);
		n_shown += n;
		shown += sum;
		n_live++;
	}
	assert_int_equal(f->counters[COUNTER_TABLE_FULL] + f->merge.n_folded, m->all_n - n_shown);
	if (f->merge.has_other) {
		expect_int(fake_value(f, MERGE_OTHER, first), m->all_n - n_shown);
		expect_int(fake_value(f, MERGE_OTHER, first + 1), m->all_sum - shown);
		n_live++;
	}
	assert_int_equal(f->merge.n_live, n_live);
	assert_true(m->all_n == n_shown || f->merge.has_other);
	assert_int_equal(f->counters[COUNTER_EVENTS], m->all_n);
}

static void test_random(void **state)
{
	struct model model;
	struct fake f;

	for (u32 round = 0; round < 400; round++) {
		bool by_cpu = round & 1, accumulates = round & 2;
		u32 n_levels = round & 4 ? 2 : 1, n_keys = 1 + random_below(64);

		make_table(&f, 4, n_levels, 1 + random_below(n_keys + 8), by_cpu);
		memset(&model, 0, sizeof(model));
		for (u32 window = 0; window < 8; window++) {
			u64 n = random_below(300);

			if (!accumulates) {
				merge_reset(&f.merge);
				memset(&model, 0, sizeof(model));
				memset(f.counters, 0, sizeof(f.counters));
			}
			for (u64 i = 0; i < n; i++) {
				u32 cpu = random_below(1 + random_below(4));
				u64 key = random_below(1 + random_below(n_keys));
				s128 value = (s128)(s64)(random_below(UINT64_MAX)) - (1 << 20);

				table_event(&f, cpu, random_below(n_levels), key, value);
				model_event(&model, cpu, key, value);
			}
			fake_drain(&f, 0);
			assert_true(fake_is_clean(&f));
			check_model(&f, &model, by_cpu);
		}
		fake_free(&f);
	}
}

/* --- The kernel's hash map --- */

static void test_kernel_map(void **state)
{
	enum { N = 3000 };
	u64 key[2], value[3], counters[COUNTER_N] = { 0 };
	struct fake f;
	int fd = sys_map_create(BPF_MAP_TYPE_HASH, NULL, sizeof(key), sizeof(value), 4 * N, 0);
	s32 count;

	if (fd < 0) {
		printf("SKIP: no BPF map: %s\n", strerror(-fd));
		skip();
	}
	fake_init(&f, STATE_KERNEL_MAP, 2, 2, N);
	fake_key(&f, type_int(64, false));
	count = fake_cell(&f, CELL_COUNT, false, false);
	fake_cell(&f, CELL_SUM, true, true);
	fake_aggregate(&f, AGGREGATE_COUNT, count, -1);
	fake_aggregate(&f, AGGREGATE_SUM, count, 1);
	fake_ready(&f);
	for (u64 i = 0; i < N; i++) {
		for (u64 slice = 0; slice < 4; slice++) {
			s128 sum = -(s128)(i * 4 + slice);

			key[0] = i;
			key[1] = slice;
			value[0] = 1;
			memcpy(&value[1], &sum, sizeof(sum));
			assert_int_equal(sys_map_element(BPF_MAP_UPDATE_ELEM, fd, key, value), 0);
		}
	}
	for (u32 slice = 0; slice < 4; slice++)
		fake_counters(&f, 0, slice / 2, slice % 2)[COUNTER_EVENTS] = N;
	/* One slice met a full map: all groups are there in it, so none is folded. */
	fake_counters(&f, 0, 1, 1)[COUNTER_TABLE_FULL] = 1;
	fake_update(&f, fake_row(&f, 0, 1, 1, (u64[]){ 0 }), 0, 0);
	assert_int_equal(drain_copy(&f.drain, f.state, 0, fd, &f.merge, counters), 0);
	assert_int_equal(f.merge.n_live, N + 1);
	for (u64 i = 0; i < N; i += 7) {
		expect_int(fake_value(&f, group(&f, i), 1), 4);
		expect_int(fake_value(&f, group(&f, i), 2), -(s128)(i * 16 + 6));
	}
	assert_int_equal(sys_map_element(BPF_MAP_GET_NEXT_KEY, fd, NULL, key), -ENOENT);
	assert_true(fake_is_clean(&f));
	close(fd);
	fake_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_signed), cmocka_unit_test(test_cells_unsigned),
		cmocka_unit_test(test_idle),	     cmocka_unit_test(test_keys),
		cmocka_unit_test(test_direct),	     cmocka_unit_test(test_other),
		cmocka_unit_test(test_other_both),   cmocka_unit_test(test_other_cpu_key),
		cmocka_unit_test(test_accumulate),   cmocka_unit_test(test_random),
		cmocka_unit_test(test_kernel_map),   cmocka_unit_test(test_cell_kinds),
	};

	return cmocka_run_group_tests_name("run-drain", tests, NULL, NULL);
}
