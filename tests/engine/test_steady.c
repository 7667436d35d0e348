/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Steady state: drain, merge and column picking over 1,000 windows ask nobody for
 * memory (the allocator and mmap are wrapped and counted), and what they cost is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "fake.h"
#include "drain/panes.h"
#include "engine/internal.h"

static u64 n_requests;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t n);
void *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__real_mremap(void *at, size_t old, size_t n, int flags);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t n);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mremap(void *at, size_t old, size_t n, int flags);

void *__wrap_malloc(size_t n)
{
	n_requests++;
	return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	n_requests++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t n)
{
	n_requests++;
	return __real_realloc(at, n);
}

void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	n_requests++;
	return __real_mmap(at, n, protection, flags, fd, offset);
}

void *__wrap_mremap(void *at, size_t old, size_t n, int flags)
{
	n_requests++;
	return __real_mremap(at, old, n, flags);
}

static void make(struct fake *f, u64 max_groups)
{
	s32 count;

	fake_init(f, STATE_TABLE, 2, 1, max_groups);
	fake_key(f, type_int(64, false));
	count = fake_cell(f, CELL_COUNT, false, false);
	fake_cell(f, CELL_SUM, true, true);
	fake_cell(f, CELL_MAX, false, true);
	fake_aggregate(f, AGGREGATE_COUNT, count, -1);
	fake_aggregate(f, AGGREGATE_SUM, count, 1);
	fake_aggregate(f, AGGREGATE_MAX, count, 2);
	fake_ready(f);
}

static void fill(struct fake *f, u32 copy, u64 n_groups)
{
	for (u32 cpu = 0; cpu < 2; cpu++) {
		for (u64 i = 0; i < n_groups; i++) {
			u8 *cells = fake_row(f, copy, cpu, 0, &i);

			fake_counters(f, copy, cpu, 0)[COUNTER_EVENTS]++;
			for (s32 cell = 0; cell < 3; cell++)
				fake_update(f, cells, cell, i);
		}
	}
}

/* The groups of a window as a batch. */
struct picked {
	struct cut cut;
	struct flow flow;
	struct relation relation;
	struct rows rows;
	u32 positions[512];
};

static void picked_value(void *context, u64 row, u32 column, struct scratch *scratch,
			 struct value *ret_value)
{
	struct picked *picked = context;

	picked->rows.scratch = scratch;
	rows_value(&picked->rows, picked->positions[row], column, ret_value);
}

static void picked_open(struct picked *picked, struct fake *f)
{
	*picked = (struct picked){ .cut = { .output = f->output, .picks = f->picks },
				   .relation = { .is_read = true },
				   .rows = { .phys = &f->phys, .merge = &f->merge } };
	picked->flow = (struct flow){ .cut = &picked->cut, .relations = &picked->relation };
}

static void pick(struct picked *picked, struct batch *ret_batch)
{
	const struct relation_reader reader = { picked_value, picked, -1 };
	u32 at = merge_seek(picked->rows.merge, 1), n = 0;

	for (; at != MERGE_END; at = merge_next(picked->rows.merge, at))
		picked->positions[n++] = at;
	relation_set_reader(&picked->relation, &reader, n);
	*ret_batch = (struct batch){ .schema = &picked->cut.output };
	flow_pick(&picked->flow, ret_batch);
}

static void picked_close(struct picked *picked)
{
	flow_close_sql(&picked->flow);
	relation_close(&picked->relation);
}

static void check_window(struct fake *f, struct picked *user, u64 n_groups)
{
	struct batch batch = { .schema = &user->cut.output };
	u64 seen = 0;

	pick(user, &batch);
	assert_int_equal(batch.n_rows, n_groups);
	for (u32 i = 0; i < batch.n_rows; i++) {
		const struct value *row = &batch.values[(size_t)i * 6];

		assert_true(row[1].integer == 2 && row[2].integer == 2 * row[0].integer &&
			    row[3].integer == row[0].integer);
		seen += row[0].integer;
	}
	assert_int_equal(seen, n_groups * (n_groups - 1) / 2);
}

static void test_steady(void **state)
{
	static const u64 sizes[] = { 500, 3, 1, 120, 0, 499 };
	struct picked user;
	struct fake f;
	u64 before = 0;

	make(&f, 512);
	picked_open(&user, &f);
	for (u32 window = 0; window < 1006; window++) {
		u64 n = sizes[window % ARRAY_SIZE(sizes)];

		if (window == ARRAY_SIZE(sizes))
			before = n_requests;
		merge_reset(&f.merge);
		fill(&f, window & 1, n);
		fake_drain(&f, window & 1);
		check_window(&f, &user, n);
	}
	assert_true(before > 0); /* the wrapping works */
	assert_int_equal(n_requests, before);
	picked_close(&user);
	fake_free(&f);
}

/* Histograms in both forms, and quantiles. */
static void make_statistics(struct fake *f)
{
	static const struct scheme schemes[] = { { .kind = SCHEME_LOG2 },
						 { .kind = SCHEME_LOGLINEAR, .digits = 5 } };
	static const u32 q[] = { 500000000, 990000000, 999000000 };
	s32 dense, fine;

	fake_init(f, STATE_TABLE, 2, 1, 512);
	fake_key(f, type_int(64, false));
	dense = fake_histogram(f, &schemes[0], 0, 0, false);
	fine = fake_histogram(f, &schemes[1], 8, 1 << 20, false);
	fake_statistic(f, AGGREGATE_HISTOGRAM, dense, NULL, 0, 0);
	fake_statistic(f, AGGREGATE_QUANTILE, fine, q, 1, QUANTILE_WHOLE);
	fake_statistic(f, AGGREGATE_QUANTILE, fine, q, 3, QUANTILE_WHOLE);
	fake_ready(f);
}

static void test_steady_statistics(void **state)
{
	static const u64 sizes[] = { 300, 3, 1, 120, 0, 299 };
	struct batch batch;
	struct picked user;
	struct fake f;
	u64 before = 0;

	make_statistics(&f);
	picked_open(&user, &f);
	for (u32 window = 0; window < 606; window++) {
		u64 n = sizes[window % ARRAY_SIZE(sizes)];

		if (window == ARRAY_SIZE(sizes))
			before = n_requests;
		merge_reset(&f.merge);
		for (u64 i = 0; i < 4 * n; i++) {
			u64 key = i / 4;
			u8 *cells = fake_row(&f, window & 1, i & 1, 0, &key);

			fake_counters(&f, window & 1, i & 1, 0)[COUNTER_EVENTS]++;
			fake_histogram_update(&f, cells, window & 1, i & 1, 0, 0, 1ull << i % 4);
			fake_histogram_update(&f, cells, window & 1, i & 1, 0, 4, 1000 * key);
		}
		fake_drain(&f, window & 1);
		batch = (struct batch){ .schema = &user.cut.output };
		pick(&user, &batch);
		assert_int_equal(batch.n_rows, n);
		for (u32 i = 0; i < batch.n_rows; i++) {
			const struct value *row = &batch.values[(size_t)i * 6];

			assert_true(row[1].histogram->n_cells == 4 && row[1].histogram->count == 4);
			assert_true(row[2].quantiles->lo == 1000 * row[0].integer);
			assert_true(row[3].n == 3 && row[3].quantiles[2].q_ppb == 999000000);
		}
	}
	assert_true(before > 0);
	assert_int_equal(n_requests, before);
	picked_close(&user);
	fake_free(&f);
}

/* Hopping windows of groups that come and go. */
static void test_steady_panes(void **state)
{
	static const u64 sizes[] = { 500, 3, 1, 120, 0, 499, 77 };
	const u32 n_panes = 12, n_warm = 4 * 12 * ARRAY_SIZE(sizes);
	struct account account = { 0 }, none = { 0 }, fresh;
	u64 counters[COUNTER_N] = { 0 };
	struct panes panes;
	struct picked user;
	struct fake f;
	u64 before = 0, start_ns;

	make(&f, 512);
	picked_open(&user, &f);
	assert_int_equal(panes_open(&panes, &f.phys, n_panes, &f.arena), 0);
	for (u32 pane = 0; pane < n_warm + 500; pane++) {
		struct batch batch = { .schema = &user.cut.output };

		if (pane == n_warm)
			before = n_requests;
		fill(&f, 0, sizes[pane % ARRAY_SIZE(sizes)]);
		merge_reset(&panes.pane);
		drain_copy(&f.drain, f.state, 0, -1, &panes.pane, counters);
		assert_int_equal(panes_push(&panes, n_panes + pane, pane, &account, &none), 0);
		panes_expire(&panes, pane, false);
		merge_reset(&f.merge);
		assert_int_equal(panes_merge(&panes, &f.merge, &fresh, &start_ns), 0);
		pick(&user, &batch);
		if (pane >= n_panes)
			assert_int_equal(batch.n_rows, 500);
	}
	assert_true(before > 0);
	assert_int_equal(n_requests, before);
	picked_close(&user);
	panes_close(&panes);
	fake_free(&f);
}

static double drain_us(struct fake *f, u64 n_groups, u32 n_windows)
{
	u64 best_ns = UINT64_MAX, start_ns;

	for (u32 i = 0; i < n_windows; i++) {
		fill(f, 0, n_groups);
		start_ns = base_monotonic_ns();
		merge_reset(&f->merge);
		fake_drain(f, 0);
		best_ns = MIN(best_ns, base_monotonic_ns() - start_ns);
		assert_int_equal(f->merge.n_live, n_groups);
	}
	return (double)best_ns / 1000;
}

static void test_cost(void **state)
{
	static const u64 sizes[] = { 1, 64, 1024, 65536 };
	struct fake f;

	make(&f, 65536);
	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++)
		printf("drain and merge of %llu groups x 2 CPUs: %.2f us\n",
		       (unsigned long long)sizes[i], drain_us(&f, sizes[i], 10));
	assert_true(fake_is_clean(&f));
	fake_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_steady_statistics),
		cmocka_unit_test(test_steady_panes),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests_name("run-steady", tests, NULL, NULL);
}
