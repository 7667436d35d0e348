/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms as the kernel fills them: after every event the cell that scheme_cell()
 * names must hold one more, and in the end no other cell may hold anything.  One
 * program has a histogram of every scheme; its rows are read as they lie in memory.
 *
 * EBQL_TEST_LONG: 1,000,000 random values for each in place of 100,000.  EBQL_SEED.
 * EBQL_EDGES: every n-th cell's edges alone, and so many random values less, for slow machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "feed.h"
#include "sys/sys.h"

#define SCHEMES_MAX 40

static const s64 bounds_few[] = { 1, 2, 5, 9, 17, 33, 65 };
static const s64 bounds_one[] = { 100 };
static const s64 bounds_two[] = { -1, 1 };
static const s64 bounds_signed[] = { INT64_MIN + 1, -(1ll << 62), -1000, -1, 0, 1, 7,
				     1ll << 40,	    INT64_MAX };
static s64 bounds_many[SCHEME_BOUNDS_MAX];

#define BOUNDS(list)                                                                               \
	{                                                                                          \
		.kind = SCHEME_BOUNDS, .bounds = (list), .n_bounds = ARRAY_SIZE(list)              \
	}
#define LINEAR(l, h, s)                                                                            \
	{                                                                                          \
		.kind = SCHEME_LINEAR, .low = (l), .high = (h), .step = (s)                        \
	}

static const struct scheme schemes[] = {
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
	LINEAR(0, 100, 10),
	LINEAR(-50, 53, 7),
	LINEAR(-10, -5, 1),
	LINEAR(1000, 66000, 1),
	LINEAR(INT64_MIN, INT64_MAX, 1ll << 56),
	LINEAR(INT64_MIN + 3, INT64_MAX, 123456789012345678),
	LINEAR(0, INT64_MAX, 1000000000000000003),
	LINEAR(-1000000, 3000000000, 99991),
	BOUNDS(bounds_few),
	BOUNDS(bounds_one),
	BOUNDS(bounds_two),
	BOUNDS(bounds_signed),
	{ .kind = SCHEME_BOUNDS, .bounds = bounds_many, .n_bounds = SCHEME_BOUNDS_MAX },
};

/* One histogram beside what it must hold. */
struct expected {
	const struct scheme *scheme;
	const struct phys_aggregate *aggregate;
	const struct cell *cell;
	u64 *counts;
	u64 n;
	s128 sum, min, max;
};

struct filling {
	struct feed feed;
	struct expected expected[SCHEMES_MAX];
	u32 n_expected;
	u32 column;
	s128 lo, hi; /* of the argument */
	u64 n_negative;
	u8 *map_row; /* KERNEL_MAP: the row as it was looked up */
};

/* Histograms stand behind the first aggregate, which is sum(argument). */
static void add_histograms(void *context, struct plan *plan)
{
	struct filling *f = context;
	struct plan *agg = (struct plan *)plan_find(plan, PLAN_AGGREGATE);
	struct aggregate *aggregates =
		arena_array(&f->feed.arena, struct aggregate, f->n_expected + 1);

	aggregates[0] = agg->aggregate.list[0];
	for (u32 i = 0; i < f->n_expected; i++) {
		struct aggregate *a = &aggregates[i + 1];

		*a = aggregates[0];
		a->kind = AGGREGATE_HISTOGRAM;
		a->type = (struct type){ .kind = TYPE_HISTOGRAM, .of = TYPE_INT };
		a->scheme = f->expected[i].scheme;
	}
	agg->aggregate.list = aggregates;
	agg->aggregate.n = f->n_expected + 1;
	f->lo = aggregates[0].arg->lo;
	f->hi = aggregates[0].arg->hi;
}

static void plan_histograms(struct filling *f, const char *sql, u32 n_cpus)
{
	feed_plan(&f->feed, sql, n_cpus, add_histograms, f);
}

static void begin(struct filling *f, const struct scheme *list, u32 n)
{
	*f = (struct filling){ .n_expected = n };
	feed_init(&f->feed);
	for (u32 i = 0; i < n; i++)
		f->expected[i].scheme = &list[i];
}

static void load_histograms(struct filling *f, const char *sql, u32 column,
			    enum setting_state state, u64 max_groups)
{
	f->feed.settings.state = state;
	f->feed.settings.max_groups = max_groups;
	f->feed.settings.is_max_groups_set = true;
	f->column = column;
	plan_histograms(f, sql, load_possible_cpus());
	for (u32 i = 0; i < f->n_expected; i++) {
		struct expected *e = &f->expected[i];

		e->aggregate = &f->feed.phys->aggregates[i + 1];
		e->cell = &f->feed.phys->cells[e->aggregate->histogram_cell];
		e->counts = arena_array(&f->feed.arena, u64, e->cell->n_cells);
	}
	f->map_row = arena_alloc(&f->feed.arena, f->feed.phys->state.row_bytes);
	feed_load(&f->feed);
}

static void set_column(struct filling *f, u32 column, s128 value)
{
	u64 word = (u64)value;

	feed_set(&f->feed, column, &word);
}

static u64 counter_of(struct filling *f, enum counter counter)
{
	return ((u64 *)feed_slice(&f->feed))[counter];
}

/* The row of the only group (key 7). */
static u8 *row_of(struct filling *f)
{
	const struct state_layout *s = &f->feed.phys->state;
	u64 key[2] = { 7, 0 };

	switch (s->kind) {
	case STATE_KERNEL_MAP:
		assert_int_equal(sys_map_element(BPF_MAP_LOOKUP_ELEM,
						 f->feed.load->map_fds[LOAD_MAP_HASH0], key,
						 f->map_row),
				 0);
		return f->map_row;
	case STATE_TABLE:
		return feed_slice(&f->feed) + s->rows_bytes_offset + s->row_bytes;
	default:
		return feed_slice(&f->feed) + s->rows_bytes_offset +
		       (s->n_rows > 1 ? 7 * s->row_bytes : 0);
	}
}

static u64 cell_read(struct filling *f, const struct cell *c, const u8 *row, u32 number)
{
	const u8 *at = row + c->bytes_offset;
	u32 chunk;

	if (!c->chunk_cells)
		return ((const u64 *)at)[number];
	chunk = ((const u32 *)at)[number / c->chunk_cells];
	if (!chunk)
		return 0;
	assert_true(chunk % 64 == 0 && chunk >= f->feed.phys->state.pool_bytes_offset &&
		    chunk + 8 * c->chunk_cells <=
			    f->feed.phys->state.pool_bytes_offset + f->feed.phys->state.pool_bytes);
	return ((const u64 *)(feed_slice(&f->feed) + chunk))[number % c->chunk_cells];
}

static void expect(struct filling *f, struct expected *e, const u8 *row, s128 value)
{
	u32 number = scheme_cell(e->scheme, value);
	u64 got = cell_read(f, e->cell, row, number);

	if (got != ++e->counts[number]) {
		struct buf text;

		buf_init(&text);
		scheme_print(e->scheme, &text);
		buf_puts(&text, " value ");
		buf_put_s128(&text, value);
		fail_msg("%s: cell %u holds %llu, not %llu", text.at, number,
			 (unsigned long long)got, (unsigned long long)e->counts[number]);
	}
	e->min = e->n ? MIN(e->min, value) : value;
	e->max = e->n ? MAX(e->max, value) : value;
	e->sum += value;
	e->n++;
}

static void fill(struct filling *f, s128 value)
{
	u8 *row;

	if (value < f->lo || value > f->hi)
		return;
	set_column(f, f->column, value);
	feed_run(&f->feed);
	row = row_of(f);
	for (u32 i = 0; i < f->n_expected; i++)
		if (value >= 0 || scheme_takes_negative(f->expected[i].scheme))
			expect(f, &f->expected[i], row, value);
	f->n_negative += value < 0;
}

static s128 sum_read(const struct cell *c, const u8 *row)
{
	const u64 *at = (const u64 *)(row + c->bytes_offset);

	if (c->is_wide)
		return (s128)((u128)at[1] << 64 | at[0]);
	return c->is_signed ? (s128)(s64)at[0] : (s128)at[0];
}

static s128 extreme_read(const struct cell *c, const u8 *row)
{
	u64 word = *(const u64 *)(row + c->bytes_offset);

	if (c->kind == CELL_MIN)
		word = ~word;
	return c->is_signed ? (s128)(s64)(word ^ CELL_BIAS) : (s128)word;
}

static void check_beside(struct filling *f, const struct expected *e, const u8 *row)
{
	const struct cell *cells = f->feed.phys->cells;

	assert_true(sum_read(&cells[e->aggregate->sum_cell], row) == e->sum);
	assert_true(extreme_read(&cells[e->aggregate->min_cell], row) == e->min);
	assert_true(extreme_read(&cells[e->aggregate->max_cell], row) == e->max);
}

/* All cells, and sum, min and max beside them. */
static void check_cells(struct filling *f, bool has_log)
{
	u8 *row = row_of(f);

	for (u32 i = 0; i < f->n_expected; i++) {
		struct expected *e = &f->expected[i];

		for (u32 j = 0; j < e->cell->n_cells; j++)
			assert_int_equal(cell_read(f, e->cell, row, j), e->counts[j]);
		assert_true(e->n > 0);
		check_beside(f, e, row);
	}
	assert_int_equal(counter_of(f, COUNTER_UNPLACED), 0);
	/* Once an event, however many histograms skip it. */
	assert_int_equal(counter_of(f, COUNTER_NEGATIVE), has_log ? f->n_negative : 0);
	assert_true(counter_of(f, COUNTER_POOL) <= f->feed.phys->state.pool_bytes);
}

static void fill_edges(struct filling *f)
{
	u32 step = env_number("EBQL_EDGES", 1);

	for (u32 i = 0; i < f->n_expected; i++) {
		struct scheme_edges edges;

		for (u32 j = 0; j < f->expected[i].cell->n_cells; j += step) {
			scheme_edges(f->expected[i].scheme, j, &edges);
			for (s32 d = -1; d <= 1; d++) {
				if (edges.has_lo)
					fill(f, edges.lo + d);
				if (edges.has_hi)
					fill(f, edges.hi + d);
			}
		}
	}
}

/* Half of them uniform, half with a uniform number of bits. */
static void fill_random(struct filling *f, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		u64 word = rng_next(&f->feed.rng);
		u32 bits = column_infos[f->column].size_bytes * 8;
		bool is_signed = column_infos[f->column].is_signed;

		if (i % 2)
			word >>= rng_below(&f->feed.rng, 64);
		if (is_signed && rng_percent(&f->feed.rng, 50))
			word = -word;
		word <<= 64 - bits;
		fill(f, is_signed ? (s128)((s64)word >> (64 - bits)) : (s128)(word >> (64 - bits)));
	}
}

static u32 n_random(void)
{
	return (getenv("EBQL_TEST_LONG") ? 1000000 : 100000) / (u32)env_number("EBQL_EDGES", 1);
}

static void prepare(void)
{
	for (u32 i = 0; i < SCHEME_BOUNDS_MAX; i++)
		bounds_many[i] = (s64)i * i * i * 977 - 100000;
}

/* --- Every scheme, every edge --- */

static void check_all(u32 column, const char *group_by, enum setting_state state,
		      enum state_kind kind, bool has_edges, u32 n)
{
	struct filling f;
	struct buf sql;

	prepare();
	buf_init(&sql);
	buf_printf(&sql, "SELECT sum(%s) AS s FROM " REPLAY_STREAM " %s", column_infos[column].name,
		   group_by);
	begin(&f, schemes, ARRAY_SIZE(schemes));
	load_histograms(&f, sql.at, column, state, 4);
	assert_int_equal(f.feed.phys->state.kind, kind);
	set_column(&f, C_U8, 7);
	if (column != C_U32)
		set_column(&f, C_U32, 7);
	if (has_edges)
		fill_edges(&f);
	fill_random(&f, n);
	check_cells(&f, true);
	feed_close(&f.feed);
	buf_free(&sql);
}

static void test_unsigned_dense(void **state)
{
	check_all(C_U64, "", STATE_AUTO, STATE_DIRECT, true, n_random());
}

static void test_signed_dense(void **state)
{
	check_all(C_S64, "", STATE_AUTO, STATE_DIRECT, true, n_random());
}

static void test_unsigned_table(void **state)
{
	check_all(C_U64, "GROUP BY f_u32", STATE_ONLY_TABLE, STATE_TABLE, true, n_random());
}

static void test_signed_table(void **state)
{
	check_all(C_S64, "GROUP BY f_u32", STATE_ONLY_TABLE, STATE_TABLE, true, n_random());
}

static void test_direct_rows(void **state)
{
	check_all(C_U64, "GROUP BY f_u8", STATE_AUTO, STATE_DIRECT, false, 20000);
}

static void test_kernel_map(void **state)
{
	check_all(C_S64, "GROUP BY f_u32", STATE_ONLY_KERNEL_MAP, STATE_KERNEL_MAP, false, 20000);
}

/* Ranges that make parts of the arithmetic unnecessary. */
static void test_narrow(void **state)
{
	static const u32 columns[] = { C_U8, C_S8, C_U16, C_S16, C_U32, C_S32 };

	for (u32 i = 0; i < ARRAY_SIZE(columns); i++) {
		check_all(columns[i], "", STATE_AUTO, STATE_DIRECT, columns[i] <= C_S16, 20000);
		check_all(columns[i], columns[i] == C_U32 ? "GROUP BY f_u8" : "GROUP BY f_u32",
			  STATE_ONLY_TABLE, STATE_TABLE, false, 5000);
	}
}

/* --- No room --- */

/*
 * Many groups of many cells: what finds no chunk is counted in its row and in the
 * slice, is in sum, min and max all the same, and every cell that has a chunk is exact.
 */
static void test_pool_full(void **state)
{
	static const struct scheme scheme = { .kind = SCHEME_LOGLINEAR, .digits = 7 };
	const u32 n_groups = 64, n_events = 200;
	struct filling f;
	u64 n_unplaced = 0;

	prepare();
	begin(&f, &scheme, 1);
	load_histograms(&f, "SELECT sum(f_u64) AS s FROM " REPLAY_STREAM " GROUP BY f_u32", C_U64,
			STATE_ONLY_TABLE, n_groups);
	const struct state_layout *s = &f.feed.phys->state;
	struct expected *e = &f.expected[0];

	assert_int_equal(e->cell->chunk_cells, 64);
	for (u32 group = 0; group < n_groups; group++) {
		u8 *row = feed_slice(&f.feed) + s->rows_bytes_offset + (group + 1) * s->row_bytes;
		u64 n_placed = 0, unplaced;

		set_column(&f, C_U32, 1000 + group);
		memset(e->counts, 0, 8 * e->cell->n_cells);
		e->n = 0;
		e->sum = 0;
		for (u32 i = 0; i < n_events; i++) {
			u64 value = rng_next(&f.feed.rng) >> rng_below(&f.feed.rng, 64);

			set_column(&f, C_U64, value);
			feed_run(&f.feed);
			e->counts[scheme_cell(&scheme, value)]++;
			e->min = e->n ? MIN(e->min, (s128)value) : (s128)value;
			e->max = e->n++ ? MAX(e->max, (s128)value) : (s128)value;
			e->sum += value;
		}
		assert_int_equal(((u64 *)row)[1], 1000 + group);
		for (u32 i = 0; i < e->cell->n_cells; i++) {
			u64 n = cell_read(&f, e->cell, row, i);

			assert_true(n == 0 || n == e->counts[i]);
			n_placed += n;
		}
		unplaced = *(u64 *)(row + e->cell->bytes_offset + e->cell->unplaced_bytes);
		assert_int_equal(n_placed + unplaced, n_events);
		n_unplaced += unplaced;
		check_beside(&f, e, row);
	}
	assert_true(n_unplaced > 0);
	assert_int_equal(counter_of(&f, COUNTER_UNPLACED), n_unplaced);
	assert_int_equal(counter_of(&f, COUNTER_TABLE_FULL), 0);
	assert_true(counter_of(&f, COUNTER_POOL) > s->pool_bytes - 512);
	assert_true(counter_of(&f, COUNTER_POOL) <= s->pool_bytes);
	feed_close(&f.feed);
}

/* --- Sharing and layout --- */

/* One histogram and one sum, min and max, however many aggregates read them. */
static void test_shared(void **state)
{
	static const struct scheme twice[] = { { .kind = SCHEME_LOG2 },
					       { .kind = SCHEME_LOG2 },
					       { .kind = SCHEME_EXPONENTIAL, .digits = 3 } };
	static const struct {
		const char *sql;
		u32 n_cells;
	} cases[] = {
		/* sum with its count, 2 histograms, min, max; signed: a sum of its own besides. */
		{ "SELECT sum(f_u64) AS s FROM " REPLAY_STREAM, 6 },
		{ "SELECT sum(f_s64) AS s FROM " REPLAY_STREAM, 7 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct filling f;

		begin(&f, twice, ARRAY_SIZE(twice));
		plan_histograms(&f, cases[i].sql, 2);
		assert_int_equal(f.feed.phys->n_cells, cases[i].n_cells);
		assert_int_equal(f.feed.phys->aggregates[1].histogram_cell,
				 f.feed.phys->aggregates[2].histogram_cell);
		assert_int_not_equal(f.feed.phys->aggregates[1].histogram_cell,
				     f.feed.phys->aggregates[3].histogram_cell);
		assert_int_equal(f.feed.phys->aggregates[1].max_cell,
				 f.feed.phys->aggregates[3].max_cell);
		assert_int_equal(f.feed.phys->aggregates[0].value_cell ==
					 f.feed.phys->aggregates[1].sum_cell,
				 i == 0);
		feed_close(&f.feed);
	}
}

/* Memory is bounded: fewer groups where nobody asked for a number, else an error. */
static void test_bounded(void **state)
{
	static const struct scheme scheme = { .kind = SCHEME_LOGLINEAR, .digits = 10 };
	struct kernel_features real = feed_features;
	struct filling f;
	struct buf out;

	feed_features.has_large_array_value = true;
	buf_init(&out);
	begin(&f, &scheme, 1);
	plan_histograms(&f, "SELECT sum(f_u64) AS s FROM " REPLAY_STREAM " GROUP BY f_u32", 64);
	assert_int_equal(f.feed.phys->state.kind, STATE_TABLE);
	assert_true(f.feed.phys->state.max_groups >= 8);
	assert_true(f.feed.phys->state.max_groups < f.feed.settings.max_groups);
	assert_int_equal(f.feed.phys->state.n_rows, f.feed.phys->state.max_groups + 1);
	assert_true(f.feed.phys->state.total_bytes <= 256ull << 20);
	phys_print(f.feed.phys, &out);
	assert_non_null(strstr(out.at, "max_groups lowered to"));
	assert_non_null(strstr(out.at, "histogram loglinear(10)"));
	feed_close(&f.feed);
	buf_free(&out);
	feed_features = real;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unsigned_dense), cmocka_unit_test(test_signed_dense),
		cmocka_unit_test(test_unsigned_table), cmocka_unit_test(test_signed_table),
		cmocka_unit_test(test_direct_rows),    cmocka_unit_test(test_kernel_map),
		cmocka_unit_test(test_narrow),	       cmocka_unit_test(test_pool_full),
		cmocka_unit_test(test_shared),	       cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests_name("histogram", tests, feed_set_up, NULL);
}
