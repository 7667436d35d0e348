/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms in both forms, drained and merged on memory made by hand, against a plain
 * model: tables that overflow, pools that overflow, rows in a map of the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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

static void count_event(struct fake *f, u32 copy, u32 cpu, u32 level)
{
	fake_counters(f, copy, cpu, level)[COUNTER_EVENTS]++;
}

static u64 random_state = 88172645463325252ull;

static u64 random_below(u64 n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

/* --- Histograms: key, a dense one, a chunked one, against a model --- */

static const struct scheme dense_scheme = {
	.kind = SCHEME_LINEAR, .low = -40, .high = 40, .step = 7
};
static const struct scheme fine_scheme = { .kind = SCHEME_LOGLINEAR, .digits = 5 };

#define HISTOGRAM_KEYS	32u
#define FINE_CELLS_MAX	2048u
#define DENSE_CELLS_MAX 16u

struct histogram_model {
	u64 dense[HISTOGRAM_KEYS + 1][DENSE_CELLS_MAX]; /* the last key: all */
	u64 fine[HISTOGRAM_KEYS + 1][FINE_CELLS_MAX];
	u64 n[HISTOGRAM_KEYS + 1];
	s128 sum[HISTOGRAM_KEYS + 1], min[HISTOGRAM_KEYS + 1], max[HISTOGRAM_KEYS + 1];
};

static void make_histograms(struct fake *f, enum state_kind kind, u64 max_groups, u32 pool_bytes)
{
	s32 dense, fine;

	fake_init(f, kind, 2, 2, max_groups);
	fake_key(f, type_int(64, false));
	fake_cell(f, CELL_COUNT, false, false);
	dense = fake_histogram(f, &dense_scheme, 0, 0, true);
	fine = fake_histogram(f, &fine_scheme, 8, pool_bytes, false);
	fake_statistic(f, AGGREGATE_HISTOGRAM, dense, NULL, 0, 0);
	fake_statistic(f, AGGREGATE_HISTOGRAM, fine, NULL, 0, 0);
	if (kind == STATE_DIRECT) {
		f->phys.state.n_rows = HISTOGRAM_KEYS;
		f->phys.exists_cell = 0;
	}
	fake_ready(f);
}

static void model_histogram(struct histogram_model *m, u64 key, s128 value)
{
	m->n[key]++;
	m->sum[key] += value;
	m->min[key] = m->n[key] == 1 ? value : MIN(m->min[key], value);
	m->max[key] = m->n[key] == 1 ? value : MAX(m->max[key], value);
	m->dense[key][scheme_cell(&dense_scheme, value % 120 - 60)]++;
	m->fine[key][scheme_cell(&fine_scheme, value)]++;
}

static void histogram_event(struct fake *f, struct histogram_model *m, u32 copy, u32 slice, u64 key,
			    s128 value)
{
	u8 *cells = fake_row(f, copy, slice / 2, slice % 2, &key);

	count_event(f, copy, slice / 2, slice % 2);
	fake_update(f, cells, 0, 0);
	fake_histogram_update(f, cells, copy, slice / 2, slice % 2, 1, value % 120 - 60);
	fake_histogram_update(f, cells, copy, slice / 2, slice % 2, 5, value);
	model_histogram(m, key, value);
	model_histogram(m, HISTOGRAM_KEYS, value);
}

/* Its cells are those of the model but for those without room, which are a part of them. */
static void expect_cells(const struct histogram *h, const u64 *wanted, u64 n)
{
	u64 count = 0, at = 0;

	for (u32 i = 0; i < h->n_cells; i++) {
		assert_true(h->cells[i].count > 0);
		assert_true(h->cells[i].count <= wanted[h->cells[i].cell]);
		assert_true(i == 0 || h->cells[i].cell > at);
		at = h->cells[i].cell;
		if (!h->n_unplaced)
			assert_int_equal(h->cells[i].count, wanted[at]);
		count += h->cells[i].count;
	}
	assert_int_equal(count, h->count);
	assert_int_equal(count + h->n_unplaced, n);
}

static void expect_histograms(const struct fake *f, u32 at, const struct histogram_model *m,
			      u64 key)
{
	struct value dense = fake_value(f, at, 1), fine = fake_value(f, at, 2);

	assert_int_equal(dense.kind, VALUE_HISTOGRAM);
	assert_int_equal(fine.kind, VALUE_HISTOGRAM);
	assert_ptr_equal(dense.histogram->scheme, &dense_scheme);
	assert_int_equal(dense.histogram->n_unplaced, 0);
	expect_cells(dense.histogram, m->dense[key], m->n[key]);
	expect_cells(fine.histogram, m->fine[key], m->n[key]);
	assert_true(fine.histogram->sum == m->sum[key]);
	assert_true(fine.histogram->min == m->min[key]);
	assert_true(fine.histogram->max == m->max[key]);
}

static s128 histogram_random(void)
{
	return random_below(UINT64_MAX) >> (random_below(4) ? 40 + random_below(12) : 0);
}

static struct histogram_model histogram_model;

static void run_histograms(enum state_kind kind, u32 n_keys, u64 max_groups, u32 pool_bytes,
			   u64 *n_unplaced)
{
	struct histogram_model *m = &histogram_model;
	struct fake f;
	u64 n_shown = 0;
	u32 at;

	make_histograms(&f, kind, max_groups, pool_bytes);
	memset(m, 0, sizeof(*m));
	for (u32 drains = 0; drains < 3; drains++) {
		for (u32 i = 0; i < 200; i++)
			histogram_event(&f, m, drains & 1, random_below(4), random_below(n_keys),
					histogram_random());
		fake_drain(&f, drains & 1);
		assert_true(fake_is_clean(&f));
	}
	for (at = merge_seek(&f.merge, 1); at != MERGE_END && at != MERGE_OTHER;
	     at = merge_seek(&f.merge, at + 1)) {
		u64 key = fake_value(&f, at, 0).integer;

		expect_histograms(&f, at, m, key);
		*n_unplaced += fake_value(&f, at, 2).histogram->n_unplaced;
		n_shown += m->n[key];
		/* What is left is (other)'s. */
		m->n[HISTOGRAM_KEYS] -= m->n[key];
		m->sum[HISTOGRAM_KEYS] -= m->sum[key];
		for (u32 i = 0; i < DENSE_CELLS_MAX; i++)
			m->dense[HISTOGRAM_KEYS][i] -= m->dense[key][i];
		for (u32 i = 0; i < FINE_CELLS_MAX; i++)
			m->fine[HISTOGRAM_KEYS][i] -= m->fine[key][i];
	}
	assert_int_equal(f.merge.has_other, n_shown < 600);
	if (f.merge.has_other) {
		const struct histogram *h = fake_value(&f, MERGE_OTHER, 2).histogram;

		m->min[HISTOGRAM_KEYS] = h->min;
		m->max[HISTOGRAM_KEYS] = h->max;
		expect_histograms(&f, MERGE_OTHER, m, HISTOGRAM_KEYS);
		*n_unplaced += h->n_unplaced;
	}
	assert_int_equal(f.counters[COUNTER_UNPLACED], *n_unplaced);
	assert_int_equal(f.counters[COUNTER_POOL], 0);
	merge_reset(&f.merge);
	fake_drain(&f, 0);
	assert_int_equal(f.merge.n_live, 0);
	fake_free(&f);
}

static void test_histograms(void **state)
{
	u64 n_unplaced = 0, n_lost = 0;

	assert_true(scheme_n_cells(&fine_scheme) <= FINE_CELLS_MAX);
	assert_true(scheme_n_cells(&dense_scheme) <= DENSE_CELLS_MAX);
	for (u32 round = 0; round < 40; round++) {
		u32 n_keys = 1 + random_below(HISTOGRAM_KEYS);

		run_histograms(STATE_TABLE, n_keys, HISTOGRAM_KEYS, 1 << 20, &n_unplaced);
		run_histograms(STATE_DIRECT, n_keys, HISTOGRAM_KEYS, 1 << 20, &n_unplaced);
		/* groups overflow into (other), and are folded */
		run_histograms(STATE_TABLE, HISTOGRAM_KEYS, 1 + random_below(30), 1 << 20,
			       &n_unplaced);
		assert_int_equal(n_unplaced, 0);
		/* pools overflow */
		n_lost = 0;
		run_histograms(STATE_TABLE, n_keys, HISTOGRAM_KEYS, 256, &n_lost);
		assert_true(n_lost > 0);
		n_lost = 0;
		run_histograms(STATE_TABLE, HISTOGRAM_KEYS, 1 + random_below(30), 320, &n_lost);
	}
}

/* A histogram of nothing is empty, not NULL; quantiles of nothing are NULL. */
static void test_statistics(void **state)
{
	static const u32 q[] = { 500000000, 990000000 };
	struct fake f;
	s32 cell;
	u8 *cells;

	fake_init(&f, STATE_DIRECT, 2, 1, 1);
	cell = fake_histogram(&f, &fine_scheme, 0, 0, false);
	fake_statistic(&f, AGGREGATE_HISTOGRAM, cell, NULL, 0, 0);
	fake_statistic(&f, AGGREGATE_QUANTILE, cell, q, 1, QUANTILE_WHOLE);
	fake_statistic(&f, AGGREGATE_QUANTILE, cell, q, 2, QUANTILE_WHOLE);
	fake_statistic(&f, AGGREGATE_QUANTILE, cell, q, 1, QUANTILE_LO);
	fake_statistic(&f, AGGREGATE_QUANTILE, cell, q, 1, QUANTILE_HI);
	fake_ready(&f);
	fake_drain(&f, 0);
	assert_int_equal(fake_value(&f, 1, 0).kind, VALUE_HISTOGRAM);
	assert_int_equal(fake_value(&f, 1, 0).histogram->n_cells, 0);
	assert_int_equal(fake_value(&f, 1, 0).histogram->count, 0);
	for (u32 i = 1; i < 5; i++)
		expect_null(fake_value(&f, 1, i));
	for (u32 i = 1; i <= 1000; i++) {
		cells = fake_row(&f, 0, i % 2, 0, NULL);
		count_event(&f, 0, i % 2, 0);
		fake_histogram_update(&f, cells, 0, i % 2, 0, cell, i);
	}
	fake_drain(&f, 0);
	assert_int_equal(fake_value(&f, 1, 0).histogram->count, 1000);
	assert_int_equal(fake_value(&f, 1, 1).kind, VALUE_QUANTILES);
	assert_int_equal(fake_value(&f, 1, 1).n, 1);
	/* rank 500; loglinear(5): [496, 504) */
	assert_true(fake_value(&f, 1, 1).quantiles[0].lo == 496);
	assert_true(fake_value(&f, 1, 1).quantiles[0].hi == 504);
	assert_int_equal(fake_value(&f, 1, 2).n, 2);
	assert_true(fake_value(&f, 1, 2).quantiles[1].lo == 976);
	assert_true(fake_value(&f, 1, 2).quantiles[1].hi == 992);
	expect_int(fake_value(&f, 1, 3), 496);
	expect_int(fake_value(&f, 1, 4), 504);
	fake_free(&f);
}

/* --- N windows and one hold the same --- */

#define TOTAL_CELLS 70000u
#define TOTAL_KEYS  3u

static const s64 some_bounds[] = { -1000, -1, 0, 1, 7, 1ll << 40 };
static const struct scheme all_schemes[] = {
	{ .kind = SCHEME_LOG2 },
	{ .kind = SCHEME_EXPONENTIAL, .digits = 0 },
	{ .kind = SCHEME_EXPONENTIAL, .digits = 1 },
	{ .kind = SCHEME_EXPONENTIAL, .digits = 2 },
	{ .kind = SCHEME_EXPONENTIAL, .digits = 3 },
	{ .kind = SCHEME_EXPONENTIAL, .digits = 4 },
	{ .kind = SCHEME_EXPONENTIAL, .digits = 5 },
	{ .kind = SCHEME_EXPONENTIAL, .digits = 6 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 1 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 2 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 3 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 4 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 5 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 6 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 7 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 8 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 9 },
	{ .kind = SCHEME_LOGLINEAR, .digits = 10 },
	{ .kind = SCHEME_LINEAR, .low = -40, .high = 40, .step = 7 },
	{ .kind = SCHEME_LINEAR, .low = 0, .high = 65000, .step = 1 },
	{ .kind = SCHEME_BOUNDS, .bounds = some_bounds, .n_bounds = ARRAY_SIZE(some_bounds) },
};

/* Of one group, over all windows. */
struct total {
	u64 cells[TOTAL_CELLS];
	u64 count, n_windows;
	s128 sum, min, max;
};

static struct total total_one[TOTAL_KEYS], total_many[TOTAL_KEYS];

static void windows_init(struct fake *f, const struct scheme *scheme, u32 chunk_cells)
{
	s32 cell;

	fake_init(f, STATE_TABLE, 2, 1, TOTAL_KEYS);
	fake_key(f, type_int(64, false));
	cell = fake_histogram(f, scheme, chunk_cells, 1 << 20, scheme_takes_negative(scheme));
	fake_statistic(f, AGGREGATE_HISTOGRAM, cell, NULL, 0, 0);
	fake_ready(f);
}

static void windows_event(struct fake *f, u32 copy, u32 cpu, u64 key, s128 value)
{
	count_event(f, copy, cpu, 0);
	fake_histogram_update(f, fake_row(f, copy, cpu, 0, &key), copy, cpu, 0, 0, value);
}

/* Ends the window: adds what it holds. */
static void windows_end(struct fake *f, u32 copy, struct total *totals)
{
	merge_reset(&f->merge);
	scratch_reset(&f->scratch);
	fake_drain(f, copy);
	for (u32 at = merge_seek(&f->merge, 1); at != MERGE_END;
	     at = merge_seek(&f->merge, at + 1)) {
		struct total *t;
		const struct histogram *h;

		assert_int_not_equal(at, MERGE_OTHER);
		t = &totals[fake_value(f, at, 0).integer];
		h = fake_value(f, at, 1).histogram;
		assert_int_equal(h->n_unplaced, 0);
		assert_true(h->count > 0);
		for (u32 i = 0; i < h->n_cells; i++)
			t->cells[h->cells[i].cell] += h->cells[i].count;
		t->count += h->count;
		t->sum += h->sum;
		t->min = t->n_windows ? MIN(t->min, h->min) : h->min;
		t->max = t->n_windows ? MAX(t->max, h->max) : h->max;
		t->n_windows++;
	}
}

static s128 windows_random(const struct scheme *scheme)
{
	u64 word = random_below(1ull << 52) >> random_below(52);

	return scheme_takes_negative(scheme) && random_below(2) ? -(s128)word : (s128)word;
}

static void run_windows(const struct scheme *scheme, u32 chunk_cells)
{
	const u32 n_events = 600;
	struct fake one, many;
	u32 copy = 0, n_ends = 0;

	assert_true(scheme_n_cells(scheme) <= TOTAL_CELLS);
	memset(total_one, 0, sizeof(total_one));
	memset(total_many, 0, sizeof(total_many));
	windows_init(&one, scheme, chunk_cells);
	windows_init(&many, scheme, chunk_cells);
	for (u32 i = 0; i < n_events; i++) {
		u32 cpu = random_below(2);
		u64 key = random_below(TOTAL_KEYS);
		s128 value = windows_random(scheme);

		windows_event(&one, 0, cpu, key, value);
		windows_event(&many, copy, cpu, key, value);
		if (!random_below(60)) {
			windows_end(&many, copy, total_many);
			copy ^= 1;
			n_ends++;
		}
	}
	windows_end(&many, copy, total_many);
	windows_end(&one, 0, total_one);
	assert_true(n_ends > 0);
	for (u32 key = 0; key < TOTAL_KEYS; key++) {
		struct total *a = &total_one[key], *b = &total_many[key];

		assert_int_equal(a->n_windows, 1);
		assert_true(b->n_windows > 1);
		assert_memory_equal(a->cells, b->cells, sizeof(a->cells));
		assert_int_equal(a->count, b->count);
		assert_true(a->sum == b->sum && a->min == b->min && a->max == b->max);
	}
	assert_int_equal(total_one[0].count + total_one[1].count + total_one[2].count, n_events);
	fake_free(&one);
	fake_free(&many);
}

static void test_windows_add_up(void **state)
{
	static const u32 forms[] = { 0, 8, 64 };

	for (u32 i = 0; i < ARRAY_SIZE(all_schemes); i++)
		for (u32 k = 0; k < ARRAY_SIZE(forms); k++)
			run_windows(&all_schemes[i], forms[k]);
}

/* --- The kernel's hash map --- */

/* Rows in the map, their chunks in the slices that their keys name. */
static void test_kernel_map_histogram(void **state)
{
	enum { N = 40 };
	struct histogram_model *m = &histogram_model;
	u8 value[1024];
	u64 key[2];
	struct fake f;
	u32 cells_bytes;
	int fd;

	fake_init(&f, STATE_KERNEL_MAP, 2, 2, N);
	fake_key(&f, type_int(64, false));
	fake_cell(&f, CELL_COUNT, false, false);
	fake_histogram(&f, &dense_scheme, 0, 0, true);
	fake_histogram(&f, &fine_scheme, 64, 1 << 20, false);
	fake_statistic(&f, AGGREGATE_HISTOGRAM, 1, NULL, 0, 0);
	fake_statistic(&f, AGGREGATE_HISTOGRAM, 5, NULL, 0, 0);
	fake_ready(&f);
	cells_bytes = f.phys.state.row_bytes;
	assert_true(cells_bytes <= sizeof(value));
	fd = sys_map_create(BPF_MAP_TYPE_HASH, NULL, sizeof(key), cells_bytes, 4 * N, 0);
	if (fd < 0) {
		printf("SKIP: no BPF map: %s\n", strerror(-fd));
		skip();
	}
	memset(m, 0, sizeof(*m));
	for (u32 i = 0; i < HISTOGRAM_KEYS * 4; i++) {
		u32 slice = i % 4;

		key[0] = i / 4;
		key[1] = slice;
		memset(value, 0, sizeof(value));
		for (u32 n = 0; n < 20; n++) {
			s128 v = histogram_random();

			count_event(&f, 1, slice / 2, slice % 2);
			fake_update(&f, value, 0, 0);
			fake_histogram_update(&f, value, 1, slice / 2, slice % 2, 1, v % 120 - 60);
			fake_histogram_update(&f, value, 1, slice / 2, slice % 2, 5, v);
			model_histogram(m, key[0], v);
		}
		assert_int_equal(sys_map_element(BPF_MAP_UPDATE_ELEM, fd, key, value), 0);
	}
	assert_int_equal(drain_copy(&f.drain, f.state, 1, fd, &f.merge, f.counters), 0);
	assert_true(fake_is_clean(&f));
	assert_int_equal(f.merge.n_live, HISTOGRAM_KEYS);
	for (u32 i = 0; i < HISTOGRAM_KEYS; i++)
		expect_histograms(&f, group(&f, i), m, i);
	close(fd);
	fake_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histograms),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_windows_add_up),
		cmocka_unit_test(test_kernel_map_histogram),
	};

	return cmocka_run_group_tests_name("run-histogram", tests, NULL, NULL);
}
