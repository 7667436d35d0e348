/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * first, last, stddev, approx_count_distinct and top_k through the kernel: over random
 * events in groups, on several CPUs and in several panes, what they give is what the same
 * values give in C; a top list's bounds hold for every value.
 *
 * EBQL_SEED, EBQL_TEST_LONG: ten times as many rounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"
#include "type/hll.h"
#include "type/moments.h"
#include "type/top.h"

#define N_GROUPS   4
#define EVENTS_MAX 300

/* An argument: its text, and what column it is; NULL where the column is 0 (is_nullable). */
struct argument {
	const char *sql;
	enum replay_column column;
	bool is_nullable;
};

static const struct argument arguments[] = {
	{ "f_u8", C_U8 },
	{ "f_s8", C_S8 },
	{ "f_s16", C_S16 },
	{ "f_u32", C_U32 },
	{ "f_s32", C_S32 },
	{ "f_u64", C_U64 },
	{ "f_s64", C_S64 },
	{ "time", C_TIME },
	{ "nullif(f_s64, 0)", C_S64, true },
	{ "nullif(f_u16, 0)", C_U16, true },
	{ "name", C_NAME },
	{ "path", C_PATH },
	{ "dl", C_DL },
	{ "comm", C_COMM },
	{ "probe", C_PROBE },
};

static const struct argument weights[] = {
	{ "1", C_N }, /* none is written */
	{ "f_u16", C_U16 },
	{ "f_s32", C_S32 },
	{ "nullif(f_u32, 0)", C_U32, true },
};

static struct replayer *engine;
static struct arena arena;

/* One query and the events that it sees. */
struct round {
	struct dataset data;
	const struct argument *x, *y, *weight; /* y: of stddev */
	u32 bits, k;
	bool is_grouped;
	u32 n_batches; /* rows of the last one */
	u32 n_rows;
};

static struct round round_now;

static bool has_value(const struct argument *a, const struct event *e)
{
	return !a->is_nullable || e->integers[a->column] != 0;
}

static bool is_text(const struct argument *a)
{
	return column_infos[a->column].is_text;
}

static bool is_same(const struct argument *a, const struct event *e, const struct value *value)
{
	if (!is_text(a))
		return value->kind == VALUE_INT && value->integer == e->integers[a->column];
	return value->kind == VALUE_TEXT && value->n == e->text_bytes[a->column] &&
	       memcmp(value->text, e->texts[a->column], value->n) == 0;
}

static struct value value_of(const struct argument *a, const struct event *e)
{
	if (is_text(a))
		return (struct value){ .kind = VALUE_TEXT,
				       .n = e->text_bytes[a->column],
				       .text = e->texts[a->column] };
	return (struct value){ .kind = VALUE_INT, .integer = e->integers[a->column] };
}

static bool is_in_group(const struct round *r, const struct event *e, s128 group)
{
	return !r->is_grouped || (e->integers[C_U8] & (N_GROUPS - 1)) == group;
}

/* The event whose value it must be, or NULL; times differ. */
static const struct event *extreme_of(const struct round *r, s128 group, bool is_last)
{
	const struct event *found = NULL;

	for (u32 i = 0; i < r->data.n_events; i++) {
		const struct event *e = &r->data.events[i];

		if (!is_in_group(r, e, group) || !has_value(r->x, e))
			continue;
		if (!found || (e->integers[C_TIME] > found->integers[C_TIME]) == is_last)
			found = e;
	}
	return found;
}

static void check_extreme(const struct round *r, s128 group, bool is_last,
			  const struct value *value)
{
	const struct event *e = extreme_of(r, group, is_last);

	assert_true(e ? is_same(r->x, e, value) : value->kind == VALUE_NULL);
}

static void check_stddev(const struct round *r, s128 group, bool is_population,
			 const struct value *value)
{
	struct moments m = { 0 };

	for (u32 i = 0; i < r->data.n_events; i++) {
		const struct event *e = &r->data.events[i];

		if (is_in_group(r, e, group) && has_value(r->y, e))
			moments_add(&m, e->integers[r->y->column], 1);
	}
	if (m.n < (is_population ? 1 : 2)) {
		assert_int_equal(value->kind, VALUE_NULL);
		return;
	}
	assert_int_equal(value->kind, VALUE_REAL);
	assert_true(value->real == moments_stddev(&m, is_population));
}

static void check_distinct(const struct round *r, s128 group, const struct value *value)
{
	static u8 registers[1 << HLL_BITS_MAX];
	u64 word, hash;

	memset(registers, 0, sizeof(registers));
	for (u32 i = 0; i < r->data.n_events; i++) {
		const struct event *e = &r->data.events[i];

		if (!is_in_group(r, e, group) || !has_value(r->x, e))
			continue;
		word = r->x->column == C_PROBE ? 0 : (u64)e->integers[r->x->column];
		hash = is_text(r->x) && r->x->column != C_PROBE
			       ? hll_hash_bytes(e->texts[r->x->column], e->text_bytes[r->x->column])
			       : hll_hash(&word, 1);
		hll_add(registers, r->bits, hash);
	}
	assert_int_equal(value->kind, VALUE_INT);
	assert_true(value->integer == (s128)hll_estimate(registers, r->bits));
}

/* What an event weighs; 0: it is left out. */
static s128 weight_of(const struct round *r, const struct argument *weight, const struct event *e,
		      s128 group)
{
	if (!is_in_group(r, e, group) || !has_value(r->x, e) ||
	    (weight->column != C_N && !has_value(weight, e)))
		return 0;
	return weight->column == C_N ? 1 : MAX(e->integers[weight->column], (s128)0);
}

static void check_top(const struct round *r, const struct argument *weight, s128 group,
		      const struct value *value)
{
	const struct top *top = value->top;
	bool is_counted[EVENTS_MAX] = { false };
	s128 total = 0, truth;
	u32 n_distinct = 0, n_found = 0, at;

	assert_int_equal(value->kind, VALUE_TOP);
	for (u32 i = 0; i < r->data.n_events; i++) {
		const struct event *e = &r->data.events[i];
		const struct value v = value_of(r->x, e);

		if (is_counted[i] || !weight_of(r, weight, e, group))
			continue;
		truth = 0;
		for (u32 j = i; j < r->data.n_events; j++)
			if (is_same(r->x, &r->data.events[j], &v)) {
				truth += weight_of(r, weight, &r->data.events[j], group);
				is_counted[j] = true;
			}
		total += truth;
		n_distinct++;
		for (at = 0; at < top->n_rows; at++)
			if (is_same(r->x, e, &top->rows[at].value))
				break;
		if (at == top->n_rows) {
			assert_true(truth <= top->max_unlisted);
			continue;
		}
		n_found++;
		assert_true(truth <= top->rows[at].weight);
		assert_true(truth >= top->rows[at].weight - top->rows[at].error);
	}
	assert_true(top->total == total);
	assert_int_equal(n_found, top->n_rows);
	assert_true(top->n_rows <= r->k);
	/* Then no set can have been full. */
	if (n_distinct <= TOP_WAYS) {
		assert_int_equal(top->n_rows, MIN(n_distinct, r->k));
		for (u32 i = 0; i < top->n_rows; i++)
			assert_true(top->rows[i].error == 0);
	}
}

static void take(void *context, const struct batch *batch)
{
	struct round *r = context;

	r->n_batches++;
	r->n_rows = batch->n_rows;
	if (!batch->is_last && batch->is_windowed)
		return;
	assert_int_equal(batch->other_row, -1);
	for (u32 i = 0; i < batch->n_rows; i++) {
		const struct value *row = batch->values + (size_t)i * batch->schema->n_columns;
		s128 group = row[0].integer;

		check_extreme(r, group, false, &row[1]);
		check_extreme(r, group, true, &row[2]);
		check_stddev(r, group, false, &row[3]);
		check_stddev(r, group, true, &row[4]);
		check_distinct(r, group, &row[5]);
		check_top(r, &weights[0], group, &row[6]);
		check_top(r, r->weight, group, &row[7]);
	}
}

/* first and last have one answer where times differ. */
static void spread_times(struct dataset *data, struct rng *rng)
{
	for (u32 i = 0; i < data->n_events; i++) {
		struct event *e = &data->events[i];

		e->integers[C_TIME] = (s128)(rng_next(rng) >> 20 << 9 | i);
		event_encode(e, data->arena, rng);
	}
}

static void run_round(struct round *r, struct rng *rng, const struct engine_options *options)
{
	struct engine_options mine = *options;
	struct result result;
	const char *error = NULL;
	struct buf sql;

	buf_init(&sql);
	buf_printf(&sql,
		   "SELECT %s AS g, first(%s), last(%s), stddev(%s), stddev_pop(%s), "
		   "approx_count_distinct(%s, %u), top_k(%s, %u), top_k(%s, %u%s%s) FROM %s",
		   r->is_grouped ? "f_u8 & 3" : "count(*)", r->x->sql, r->x->sql, r->y->sql,
		   r->y->sql, r->x->sql, r->bits, r->x->sql, r->k, r->x->sql, r->k,
		   r->weight->column == C_N ? "" : ", ",
		   r->weight->column == C_N ? "" : r->weight->sql, REPLAY_STREAM);
	buf_puts(&sql, r->is_grouped ? " GROUP BY g" : "");
	mine.batch = take;
	mine.context = r;
	if (!replayer_run(engine, sql.at, &mine, r->data.events, r->data.n_events, &arena, &result,
			  &error))
		fail_msg("%s: %s", sql.at, error);
	assert_true(r->n_batches > 0);
	assert_true(r->is_grouped || r->n_rows == 1);
	buf_free(&sql);
}

static void open_engine(void)
{
	static struct arena engine_arena;

	arena_init(&engine_arena);
	engine = replayer_open(&engine_arena);
}

static void test_groups(void **state)
{
	static const char *const states[] = { "auto", "table", "kernel_map" };
	u64 seed = env_number("EBQL_SEED", 1);
	u32 n_rounds = getenv("EBQL_TEST_LONG") ? 3000 : 300;
	struct rng rng = { seed };

	open_engine();
	for (u32 i = 0; i < n_rounds; i++) {
		struct engine_options options = { .rules_off = "",
						  .state = states[i % ARRAY_SIZE(states)],
						  .max_groups = N_GROUPS };
		struct round *r = &round_now;

		arena_init(&arena);
		*r = (struct round){ .x = &arguments[rng_below(&rng, ARRAY_SIZE(arguments))],
				     .y = &arguments[rng_below(&rng, 10)],
				     .weight = &weights[rng_below(&rng, ARRAY_SIZE(weights))],
				     .bits = HLL_BITS_MIN + rng_below(&rng, 7),
				     .k = rng_percent(&rng, 80) ? 1 + rng_below(&rng, 12) : 200,
				     .is_grouped = rng_percent(&rng, 60) };
		options.n_panes = rng_percent(&rng, 30) ? 2 + rng_below(&rng, 4) : 0;
		dataset_random(&r->data, &arena, rng_below(&rng, N_DATASETS), seed * 7919 + i);
		spread_times(&r->data, &rng);
		run_round(r, &rng, &options);
		arena_free(&arena);
	}
}

/* An event is `negative` once, and its weight at fault once, in however many places. */
static void test_losses(void **state)
{
	static const char *const sql =
		"SELECT top_k(f_u8, 3, f_s32 / f_s8), top_k(f_u16, 4, f_s32 / f_s8) FILTER (WHERE "
		"f_u8 > 100), top_k(f_u8, 5, f_s16), top_k(comm, 6, f_s16), histogram(f_s16), "
		"sum(f_s32 / f_s8) FROM " REPLAY_STREAM;
	const struct engine_options options = { "", "auto", .max_groups = N_GROUPS };
	const char *error = NULL;
	struct rng rng = { 17 };
	struct dataset data;
	struct result got;
	u64 n_negative = 0, n_faults = 0;

	open_engine();
	arena_init(&arena);
	dataset_random(&data, &arena, 0, 17);
	for (u32 i = 0; i < data.n_events; i++) {
		struct event *e = &data.events[i];
		s64 x = rng_range(&rng, -100, 100), y = rng_range(&rng, -3, 3);

		e->integers[C_S32] = x;
		e->integers[C_S8] = y;
		e->integers[C_S16] = rng_range(&rng, -10, 30);
		event_encode(e, &arena, &rng);
		n_faults += y == 0;
		n_negative += e->integers[C_S16] < 0 || (y != 0 && x / y < 0);
	}
	assert_true(n_negative > 0 && n_faults > 0);
	if (!replayer_run(engine, sql, &options, data.events, data.n_events, &arena, &got, &error))
		fail_msg("%s", error);
	assert_int_equal(got.lost[LOSS_NEGATIVE], n_negative);
	assert_int_equal(got.lost[LOSS_FAULT], n_faults);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests_name("sketch", tests, NULL, NULL);
}
