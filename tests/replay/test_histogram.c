/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms as the kernel fills them: after every event the cell that scheme_cell()
 * names must hold one more, and in the end no other cell may hold anything.  One
 * program has a histogram of every scheme; its rows are read as they lie in memory.
 *
 * EBQL_TEST_LONG: 1,000,000 random values for each in place of 100,000.  EBQL_SEED.
 */
#include <bpf/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cat/cat.h"
#include "gen/gen.h"
#include "load/load.h"
#include "opt/opt.h"
#include "phys/phys.h"
#include "plan/plan.h"
#include "replay.h"
#include "sql/sql.h"

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

static struct kernel_features features;
static bool is_allowed;

/* One histogram beside what it must hold. */
struct expected {
	const struct scheme *scheme;
	const struct phys_aggregate *aggregate;
	const struct cell *cell;
	u64 *counts;
	u64 n;
	s128 sum, min, max;
};

struct feed {
	struct arena arena;
	struct diags diags;
	struct settings settings;
	struct catalog *catalog;
	struct phys_set *set;
	struct phys *phys;
	struct load_hooks hooks;
	struct load_state *load;
	struct event event;
	struct rng rng;
	struct expected expected[SCHEMES_MAX];
	u32 n_expected;
	u32 column;
	s128 lo, hi; /* of the argument */
	u64 n_negative;
	u8 *map_row; /* KERNEL_MAP: the row as it was looked up */
};

static u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static _Noreturn void give_up(struct feed *f, const char *step)
{
	struct buf out;

	buf_init(&out);
	diags_print(&f->diags, &out);
	fprintf(stderr, "%s: %s\n", step, out.at ? out.at : "");
	fail();
	abort();
}

/* The plan of the text; its aggregates, the first of which is sum(argument), become histograms. */
static void feed_plan(struct feed *f, const char *sql, u32 n_cpus)
{
	struct phys_input input = { .settings = &f->settings,
				    .features = &features,
				    .n_cpus = n_cpus,
				    .is_replay = true,
				    .share = -1 };
	struct ast_script *script;
	struct plan *plan, *agg;
	struct aggregate *aggregates;
	u32 n = 0;

	diags_init(&f->diags, &f->arena, "query", sql, strlen(sql));
	f->catalog = catalog_open_snapshot(&f->arena, CATALOG_PATH, &f->diags);
	script = sql_parse(&f->arena, &f->diags);
	plan = diags_failed(&f->diags) ? NULL
				       : plan_bind(script->statements.at[0].select, f->catalog,
						   &f->settings, NULL, &f->arena, &f->diags);
	if (!plan)
		give_up(f, "bind");
	input.catalog = f->catalog;
	agg = (struct plan *)plan_find(plan, PLAN_AGGREGATE);
	aggregates = arena_array(&f->arena, struct aggregate, f->n_expected + 1);
	aggregates[n++] = agg->aggregate.list[0];
	for (u32 i = 0; i < f->n_expected; i++) {
		aggregates[n] = aggregates[0];
		aggregates[n].kind = AGGREGATE_HISTOGRAM;
		aggregates[n].type = (struct type){ .kind = TYPE_HISTOGRAM, .of = TYPE_INT };
		aggregates[n++].scheme = f->expected[i].scheme;
	}
	agg->aggregate.list = aggregates;
	agg->aggregate.n = n;
	input.plan = opt_run(plan, &f->settings, &f->arena);
	f->lo = aggregates[0].arg->lo;
	f->hi = aggregates[0].arg->hi;
	f->set = phys_plan(&input, 1, &f->arena, &f->diags);
	f->phys = f->set ? f->set->parts[0] : NULL;
	if (!f->phys)
		give_up(f, "phys");
}

static void feed_load(struct feed *f)
{
	const struct bpf_features bpf = { features.has_signed_division };
	struct load_program *program = arena_new(&f->arena, struct load_program);
	const char *reason = NULL;
	struct buf constants;
	struct ir *ir;

	buf_init(&constants);
	assert_int_equal(f->set->n_hooks, 1);
	ir = gen_program(f->set, &f->set->hooks[0], &f->arena, &constants);
	if (bpf_compile(ir, &f->arena, &bpf, &program->code, &reason))
		give_up(f, reason ? reason : ir_check(ir));
	if (load_open(&f->hooks, f->set, program, constants.at, constants.n, &f->arena, &f->diags))
		give_up(f, "load");
	f->load = f->hooks.states;
	buf_free(&constants);
	event_init(&f->event);
	event_encode(&f->event, &f->arena, &f->rng);
}

static void feed_open(struct feed *f, const char *sql, u32 column, enum setting_state state,
		      u64 max_groups)
{
	settings_init(&f->settings);
	f->settings.state = state;
	f->settings.max_groups = max_groups;
	f->settings.is_max_groups_set = true;
	f->column = column;
	feed_plan(f, sql, load_possible_cpus());
	for (u32 i = 0; i < f->n_expected; i++) {
		struct expected *e = &f->expected[i];

		e->aggregate = &f->phys->aggregates[i + 1];
		e->cell = &f->phys->cells[e->aggregate->histogram_cell];
		e->counts = arena_array(&f->arena, u64, e->cell->n_cells);
	}
	f->map_row = arena_alloc(&f->arena, f->phys->state.row_bytes);
	feed_load(f);
}

static void feed_init(struct feed *f, const struct scheme *list, u32 n)
{
	*f = (struct feed){ .rng = { env_number("EBQL_SEED", 1) } };
	arena_init(&f->arena);
	f->n_expected = n;
	for (u32 i = 0; i < n; i++)
		f->expected[i].scheme = &list[i];
}

static void feed_close(struct feed *f)
{
	load_close(&f->hooks);
	catalog_close(f->catalog);
	arena_free(&f->arena);
}

static void set_column(struct feed *f, u32 column, s128 value)
{
	const struct column_info *info = &column_infos[column];
	u64 word = (u64)value;

	memcpy(f->event.context + (info->is_header ? 0 : sizeof(struct replay_header)) +
		       info->offset_bytes,
	       &word, info->size_bytes);
}

static void run_event(struct feed *f)
{
	assert_int_equal(load_test_run(&f->hooks, 0, f->event.context, f->event.context_bytes), 0);
}

static u8 *slice_of(struct feed *f)
{
	return f->load->state + state_slice_offset(&f->phys->state, f->load->epoch, 0, 0);
}

static u64 counter_of(struct feed *f, enum counter counter)
{
	return ((u64 *)slice_of(f))[counter];
}

/* The row of the only group (key 7). */
static u8 *row_of(struct feed *f)
{
	const struct state_layout *s = &f->phys->state;
	u64 key[2] = { 7, 0 };

	switch (s->kind) {
	case STATE_KERNEL_MAP:
		assert_int_equal(
			bpf_map_lookup_elem(f->load->map_fds[LOAD_MAP_HASH0], key, f->map_row), 0);
		return f->map_row;
	case STATE_TABLE:
		return slice_of(f) + s->rows_bytes_offset + s->row_bytes;
	default:
		return slice_of(f) + s->rows_bytes_offset + (s->n_rows > 1 ? 7 * s->row_bytes : 0);
	}
}

static u64 cell_read(struct feed *f, const struct cell *c, const u8 *row, u32 number)
{
	const u8 *at = row + c->bytes_offset;
	u32 chunk;

	if (!c->chunk_cells)
		return ((const u64 *)at)[number];
	chunk = ((const u32 *)at)[number / c->chunk_cells];
	if (!chunk)
		return 0;
	assert_true(chunk % 64 == 0 && chunk >= f->phys->state.pool_bytes_offset &&
		    chunk + 8 * c->chunk_cells <=
			    f->phys->state.pool_bytes_offset + f->phys->state.pool_bytes);
	return ((const u64 *)(slice_of(f) + chunk))[number % c->chunk_cells];
}

static void expect(struct feed *f, struct expected *e, const u8 *row, s128 value)
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

static void feed_value(struct feed *f, s128 value)
{
	u8 *row;

	if (value < f->lo || value > f->hi)
		return;
	set_column(f, f->column, value);
	run_event(f);
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

static void check_beside(struct feed *f, const struct expected *e, const u8 *row)
{
	const struct cell *cells = f->phys->cells;

	assert_true(sum_read(&cells[e->aggregate->sum_cell], row) == e->sum);
	assert_true(extreme_read(&cells[e->aggregate->min_cell], row) == e->min);
	assert_true(extreme_read(&cells[e->aggregate->max_cell], row) == e->max);
}

/* All cells, and sum, min and max beside them. */
static void feed_check(struct feed *f, bool has_log)
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
	assert_true(counter_of(f, COUNTER_POOL) <= f->phys->state.pool_bytes);
}

static void feed_edges(struct feed *f)
{
	for (u32 i = 0; i < f->n_expected; i++) {
		struct scheme_edges edges;

		for (u32 j = 0; j < f->expected[i].cell->n_cells; j++) {
			scheme_edges(f->expected[i].scheme, j, &edges);
			for (s32 d = -1; d <= 1; d++) {
				if (edges.has_lo)
					feed_value(f, edges.lo + d);
				if (edges.has_hi)
					feed_value(f, edges.hi + d);
			}
		}
	}
}

/* Half of them uniform, half with a uniform number of bits. */
static void feed_random(struct feed *f, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		u64 word = rng_next(&f->rng);
		u32 bits = column_infos[f->column].size_bytes * 8;
		bool is_signed = column_infos[f->column].is_signed;

		if (i % 2)
			word >>= rng_below(&f->rng, 64);
		if (is_signed && rng_percent(&f->rng, 50))
			word = -word;
		word <<= 64 - bits;
		feed_value(f, is_signed ? (s128)((s64)word >> (64 - bits))
					: (s128)(word >> (64 - bits)));
	}
}

static u32 n_random(void)
{
	return getenv("EBQL_TEST_LONG") ? 1000000 : 100000;
}

static void prepare(void)
{
	if (!is_allowed) {
		printf("SKIP: this kernel does not let us load programs\n");
		skip();
	}
	for (u32 i = 0; i < SCHEME_BOUNDS_MAX; i++)
		bounds_many[i] = (s64)i * i * i * 977 - 100000;
}

/* --- Every scheme, every edge --- */

static void check_all(u32 column, const char *group_by, enum setting_state state,
		      enum state_kind kind, bool has_edges, u32 n)
{
	struct feed f;
	struct buf sql;

	prepare();
	buf_init(&sql);
	buf_printf(&sql, "SELECT sum(%s) AS s FROM " REPLAY_STREAM " %s", column_infos[column].name,
		   group_by);
	feed_init(&f, schemes, ARRAY_SIZE(schemes));
	feed_open(&f, sql.at, column, state, 4);
	assert_int_equal(f.phys->state.kind, kind);
	set_column(&f, C_U8, 7);
	if (column != C_U32)
		set_column(&f, C_U32, 7);
	if (has_edges)
		feed_edges(&f);
	feed_random(&f, n);
	feed_check(&f, true);
	feed_close(&f);
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
	struct feed f;
	u64 n_unplaced = 0;

	prepare();
	feed_init(&f, &scheme, 1);
	feed_open(&f, "SELECT sum(f_u64) AS s FROM " REPLAY_STREAM " GROUP BY f_u32", C_U64,
		  STATE_ONLY_TABLE, n_groups);
	const struct state_layout *s = &f.phys->state;
	struct expected *e = &f.expected[0];

	assert_int_equal(e->cell->chunk_cells, 64);
	for (u32 group = 0; group < n_groups; group++) {
		u8 *row = slice_of(&f) + s->rows_bytes_offset + (group + 1) * s->row_bytes;
		u64 n_placed = 0, unplaced;

		set_column(&f, C_U32, 1000 + group);
		memset(e->counts, 0, 8 * e->cell->n_cells);
		e->n = 0;
		e->sum = 0;
		for (u32 i = 0; i < n_events; i++) {
			u64 value = rng_next(&f.rng) >> rng_below(&f.rng, 64);

			set_column(&f, C_U64, value);
			run_event(&f);
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
	feed_close(&f);
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
		struct feed f;

		feed_init(&f, twice, ARRAY_SIZE(twice));
		settings_init(&f.settings);
		feed_plan(&f, cases[i].sql, 2);
		assert_int_equal(f.phys->n_cells, cases[i].n_cells);
		assert_int_equal(f.phys->aggregates[1].histogram_cell,
				 f.phys->aggregates[2].histogram_cell);
		assert_int_not_equal(f.phys->aggregates[1].histogram_cell,
				     f.phys->aggregates[3].histogram_cell);
		assert_int_equal(f.phys->aggregates[1].max_cell, f.phys->aggregates[3].max_cell);
		assert_int_equal(f.phys->aggregates[0].value_cell == f.phys->aggregates[1].sum_cell,
				 i == 0);
		catalog_close(f.catalog);
		arena_free(&f.arena);
	}
}

/* Memory is bounded: fewer groups where nobody asked for a number, else an error. */
static void test_bounded(void **state)
{
	static const struct scheme scheme = { .kind = SCHEME_LOGLINEAR, .digits = 10 };
	struct kernel_features real = features;
	struct feed f;
	struct buf out;

	features.has_large_array_value = true;
	buf_init(&out);
	feed_init(&f, &scheme, 1);
	settings_init(&f.settings);
	feed_plan(&f, "SELECT sum(f_u64) AS s FROM " REPLAY_STREAM " GROUP BY f_u32", 64);
	assert_int_equal(f.phys->state.kind, STATE_TABLE);
	assert_true(f.phys->state.max_groups >= 8);
	assert_true(f.phys->state.max_groups < f.settings.max_groups);
	assert_int_equal(f.phys->state.n_rows, f.phys->state.max_groups + 1);
	assert_true(f.phys->state.total_bytes <= 256ull << 20);
	phys_print(f.phys, &out);
	assert_non_null(strstr(out.at, "max_groups lowered to"));
	assert_non_null(strstr(out.at, "histogram loglinear(10)"));
	catalog_close(f.catalog);
	arena_free(&f.arena);
	buf_free(&out);
	features = real;
}

static int set_up(void **state)
{
	struct feed f;

	kernel_features_probe(&features);
	feed_init(&f, schemes, 0);
	settings_init(&f.settings);
	feed_plan(&f, "SELECT sum(f_u64) AS s FROM " REPLAY_STREAM, load_possible_cpus());
	struct load_program program = { 0 };
	const struct bpf_features bpf = { features.has_signed_division };
	const char *reason = NULL;
	struct buf constants;

	buf_init(&constants);
	BUG_ON(bpf_compile(gen_program(f.set, f.set->hooks, &f.arena, &constants), &f.arena, &bpf,
			   &program.code, &reason));
	is_allowed = !load_open(&f.hooks, f.set, &program, constants.at, constants.n, &f.arena,
				&f.diags);
	if (is_allowed) {
		load_close(&f.hooks);
	} else {
		/* The only refusal that lets the tests be skipped. */
		struct buf out;

		buf_init(&out);
		diags_print(&f.diags, &out);
		is_allowed = !strstr(out.at, "[no-privilege]");
		buf_free(&out);
	}
	buf_free(&constants);
	catalog_close(f.catalog);
	arena_free(&f.arena);
	printf("seed %llu\n", (unsigned long long)env_number("EBQL_SEED", 1));
	return 0;
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

	return cmocka_run_group_tests_name("histogram", tests, set_up, NULL);
}
