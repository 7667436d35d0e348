/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Quantiles end to end.  Recorded starts and ends go through a query that streams every
 * latency and through one that has quantiles of them in windows, which end after random
 * numbers of events.  In every window each true order statistic must lie within its
 * bounds; where nothing was lost, both bounds lie in one cell with it.  Then events of the
 * longest latencies are kept from the second query: its bounds must still hold, and those
 * that know of no loss must fail somewhere, or the widening would be for nothing.  And
 * HAVING quantile_hi() > x keeps every group that is truly above x, quantile_lo() none else.
 *
 * EBQL_SEED.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"
#include "type/type.h"
#include "type/scheme.h"

enum {
	N_PAIRS = 1500,
	N_EVENTS = 2 * N_PAIRS,
	WINDOWS_MAX = 24,
	WAITING_MAX = 6, /* they all have room, wherever their keys lie */
	N_GROUPS = 3,
	DROPPED_A_WINDOW = 3,
};

static const u32 qs[] = { 0,	     1000000,	10000000,  250000000, 500000000,
			  900000000, 990000000, 999000000, 1000000000 };
#define Q_LIST	"0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1"
#define Q_BOUND 6 /* 0.99: quantile_lo() and quantile_hi() */
#define Q_CONT	5 /* 0.9: percentile_cont() */

static const char *const schemes[] = {
	"log2",		"exponential(0)",	 "exponential(3)",
	"loglinear(5)", "linear(0ns, 1ms, 7us)", "bounds(1us, 100us, 10ms, 1s)",
};

/* What the aggregating query does not see. */
enum dropped {
	DROPPED_NOTHING,
	DROPPED_STARTS, /* it counts the ends as never started */
	DROPPED_PAIRS,	/* it knows nothing of them; the test does */
};

struct recording {
	struct event *events;
	u32 n_events, n_windows;
	u32 windows[N_EVENTS]; /* of each event */
	u32 ends_in[N_PAIRS], groups[N_PAIRS];
	u64 latency_ns[N_PAIRS]; /* as the streaming query has it */
	bool is_dropped[N_PAIRS];
	u32 n_dropped[WINDOWS_MAX];
};

struct check {
	const struct recording *recording;
	enum dropped dropped;
	bool is_grouped;
	u32 window; /* the next one */
	u32 n_bounds, n_finite, n_naive_wrong;
	bool is_wrong;
};

/* --- The recording --- */

static void put_event(struct recording *r, struct arena *arena, struct rng *rng, u32 pair,
		      enum event_stream stream, u64 time_ns)
{
	struct event *e = &r->events[r->n_events];

	event_init(e);
	e->stream = stream;
	e->integers[C_U64] = pair;
	e->integers[C_U8] = r->groups[pair];
	e->integers[C_CPU] = rng_below(rng, replay_cpus);
	e->integers[C_TIME] = time_ns;
	event_encode(e, arena, rng);
	r->windows[r->n_events++] = r->n_windows;
}

/* Starts and ends, a few of them open at a time; times apart by anything from 1 ns to 0.5 s. */
static void record(struct recording *r, struct arena *arena, struct rng *rng)
{
	u32 waiting[WAITING_MAX], n_waiting = 0, n_started = 0;
	u64 time_ns = 1000000;

	r->events = arena_array(arena, struct event, N_EVENTS);
	while (n_started < N_PAIRS || n_waiting) {
		bool is_start = n_started < N_PAIRS &&
				(!n_waiting || (n_waiting < WAITING_MAX && rng_percent(rng, 50)));

		time_ns += 1 + (rng_next(rng) >> (35 + rng_below(rng, 29)));
		if (is_start) {
			r->groups[n_started] = rng_below(rng, N_GROUPS);
			put_event(r, arena, rng, n_started, STREAM_OTHER, time_ns);
			waiting[n_waiting++] = n_started++;
		} else {
			u32 at = rng_below(rng, n_waiting), pair = waiting[at];

			waiting[at] = waiting[--n_waiting];
			r->ends_in[pair] = r->n_windows;
			put_event(r, arena, rng, pair, STREAM_EVENT, time_ns);
		}
		if (r->n_windows + 1 < WINDOWS_MAX && !rng_below(rng, N_EVENTS / WINDOWS_MAX))
			r->n_windows++;
	}
	r->n_windows++;
}

/* The few longest of each window. */
static void choose_dropped(struct recording *r)
{
	for (u32 window = 0; window < r->n_windows; window++) {
		for (u32 n = 0; n < DROPPED_A_WINDOW; n++) {
			s32 longest = -1;

			for (u32 i = 0; i < N_PAIRS; i++)
				if (r->ends_in[i] == window && !r->is_dropped[i] &&
				    (longest < 0 || r->latency_ns[i] > r->latency_ns[longest]))
					longest = (s32)i;
			if (longest < 0)
				break;
			r->is_dropped[longest] = true;
			r->n_dropped[window]++;
		}
	}
}

/* --- The truth --- */

static int compare_u64(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The latencies of that window and group (N_GROUPS: all), ascending; those dropped too. */
static u32 true_values(const struct check *c, u32 group, u64 *ret_values)
{
	const struct recording *r = c->recording;
	u32 n = 0;

	for (u32 i = 0; i < N_PAIRS; i++)
		if (r->ends_in[i] == c->window && (group == N_GROUPS || r->groups[i] == group))
			ret_values[n++] = r->latency_ns[i];
	qsort(ret_values, n, sizeof(*ret_values), compare_u64);
	return n;
}

static u32 n_counted(const struct check *c, u32 group)
{
	const struct recording *r = c->recording;
	u32 n = 0;

	for (u32 i = 0; i < N_PAIRS; i++)
		n += r->ends_in[i] == c->window && (group == N_GROUPS || r->groups[i] == group) &&
		     (c->dropped == DROPPED_NOTHING || !r->is_dropped[i]);
	return n;
}

static u64 order_statistic(const u64 *values, u32 n, u32 q_ppb)
{
	u64 rank = ((u64)q_ppb * n + 999999999) / 1000000000;

	return values[MAX(rank, 1ul) - 1];
}

static bool is_within(const struct quantile *q, s128 value)
{
	return (!q->has_lo || value >= q->lo + q->is_lo_open) &&
	       (!q->has_hi || value <= q->hi - q->is_hi_open);
}

/* --- A row --- */

static void fail_at(struct check *c, const char *what, u32 q_ppb, u64 value)
{
	if (!c->is_wrong)
		print_message("  window %u, dropped %u: %s, q %u ppb, value %lu\n", c->window,
			      c->dropped, what, q_ppb, value);
	c->is_wrong = true;
}

/* Without losses the cell of the value is all the uncertainty there is. */
static void check_one_cell(struct check *c, const struct scheme *scheme, const struct quantile *q,
			   u64 value)
{
	u32 cell = scheme_cell(scheme, value);

	if (!q->has_lo || !q->has_hi || scheme_cell(scheme, q->lo + q->is_lo_open) != cell ||
	    scheme_cell(scheme, q->hi - q->is_hi_open) != cell)
		fail_at(c, "bounds wider than the cell", q->q_ppb, value);
}

static void check_quantile(struct check *c, const struct histogram *h, const struct quantile *q,
			   const u64 *values, u32 n)
{
	const struct quantile_request naive = { .q_ppb = q->q_ppb };
	u64 value = order_statistic(values, n, q->q_ppb);
	struct quantile blind;

	c->n_bounds++;
	c->n_finite += q->has_lo && q->has_hi;
	if (!is_within(q, value))
		fail_at(c, "outside of its bounds", q->q_ppb, value);
	if (!is_within(q, q->estimate))
		fail_at(c, "estimate outside of the bounds", q->q_ppb, value);
	if (c->dropped == DROPPED_NOTHING)
		check_one_cell(c, h->scheme, q, value);
	assert_true(quantile_of(h, &naive, &blind));
	c->n_naive_wrong += !is_within(&blind, value);
}

/* quantile_lo() or quantile_hi(): the bound of the ladder, infinite where it has none. */
static void check_bound(struct check *c, const struct value *v, const struct quantile *q,
			bool is_lo)
{
	bool has = is_lo ? q->has_lo : q->has_hi;
	bool is_right = has ? v->kind == VALUE_INT && v->integer == (is_lo ? q->lo : q->hi)
			    : v->kind == VALUE_REAL &&
					v->real == (is_lo ? -__builtin_inf() : __builtin_inf());

	if (!is_right)
		fail_at(c, is_lo ? "quantile_lo()" : "quantile_hi()", q->q_ppb, 0);
}

/* Between the values around 1 + q (n - 1). */
static void check_interpolated(struct check *c, const struct quantile *q, const u64 *values, u32 n)
{
	u64 place = (u64)qs[Q_CONT] * (n - 1);
	u64 low = values[place / 1000000000], high = values[(place + 999999999) / 1000000000];
	long double value = low + (long double)(high - low) * (place % 1000000000) / 1000000000;

	assert_true(q->is_interpolated);
	if ((q->has_lo && value < (long double)q->lo) || (q->has_hi && value > (long double)q->hi))
		fail_at(c, "percentile_cont() outside of its bounds", q->q_ppb, (u64)value);
}

/* The widths that a test of known losses asks for by itself. */
static void check_told(struct check *c, const struct histogram *h, const u64 *values, u32 n)
{
	for (u32 i = 0; i < ARRAY_SIZE(qs); i++) {
		const struct quantile_request request = {
			.q_ppb = qs[i], .n_lost = c->recording->n_dropped[c->window]
		};
		struct quantile q;

		assert_true(quantile_of(h, &request, &q));
		check_quantile(c, h, &q, values, n);
	}
}

/* Columns: key, histogram, ladder, lower bound, upper bound, interpolated. */
static void check_row(struct check *c, const struct value *row)
{
	u32 group = c->is_grouped ? (u32)row[0].integer : N_GROUPS, n;
	const struct histogram *h = row[1].histogram;
	u64 values[N_PAIRS];

	assert_int_equal(row[1].kind, VALUE_HISTOGRAM);
	assert_int_equal(h->n_unplaced, 0);
	assert_int_equal(h->count, n_counted(c, group));
	if (!h->count) {
		for (u32 i = 2; i < 6; i++)
			assert_int_equal(row[i].kind, VALUE_NULL);
		return;
	}
	n = true_values(c, group, values);
	assert_int_equal(row[2].kind, VALUE_QUANTILES);
	assert_int_equal(row[2].n, ARRAY_SIZE(qs));
	if (c->dropped == DROPPED_PAIRS) {
		check_told(c, h, values, n);
		return;
	}
	for (u32 i = 0; i < ARRAY_SIZE(qs); i++) {
		assert_int_equal(row[2].quantiles[i].q_ppb, qs[i]);
		check_quantile(c, h, &row[2].quantiles[i], values, n);
	}
	check_bound(c, &row[3], &row[2].quantiles[Q_BOUND], true);
	check_bound(c, &row[4], &row[2].quantiles[Q_BOUND], false);
	check_interpolated(c, row[5].quantiles, values, n);
}

static void take_window(void *context, const struct batch *batch)
{
	struct check *c = context;
	const struct recording *r = c->recording;
	u32 n_groups = 0;

	assert_true(c->window < r->n_windows);
	assert_int_equal(batch->other_row, -1);
	assert_int_equal(batch->account.unpaired[UNPAIRED_NEVER_STARTED],
			 c->dropped == DROPPED_STARTS ? r->n_dropped[c->window] : 0);
	assert_int_equal(batch->account.unpaired[UNPAIRED_FULL], 0);
	assert_int_equal(batch->account.matched, n_counted(c, N_GROUPS));
	for (u32 i = 0; i < batch->n_rows; i++)
		check_row(c, batch->values + (size_t)i * batch->schema->n_columns);
	for (u32 i = 0; i < N_GROUPS; i++)
		n_groups += n_counted(c, i) > 0;
	assert_int_equal(batch->n_rows, c->is_grouped ? n_groups : 1);
	c->window++;
}

/* --- The two queries --- */

#define FROM_PAIRS                                                                                 \
	" FROM tracepoint:test:event AS a PAIR JOIN tracepoint:test:other AS b "                   \
	"ON a.f_u64 = b.f_u64"

static const struct engine_options usual = { "", "auto", .max_in_flight = 1024 };

static void run_streaming(struct replayer *engine, struct recording *r, struct arena *arena)
{
	const char *error = NULL;
	struct result result;

	if (!replayer_run(engine, "SELECT a.f_u64, a.time - b.time" FROM_PAIRS, &usual, r->events,
			  r->n_events, arena, &result, &error))
		fail_msg("%s", error);
	assert_int_equal(result.n_rows, N_PAIRS);
	for (u32 i = 0; i < N_PAIRS; i++) {
		const struct value *row = &result.values[2 * i];

		assert_true(row[0].integer >= 0 && row[0].integer < N_PAIRS);
		assert_int_equal(r->latency_ns[row[0].integer], 0);
		assert_true(row[1].integer > 0);
		r->latency_ns[row[0].integer] = (u64)row[1].integer;
	}
}

static bool is_kept(const struct recording *r, const struct event *e, enum dropped dropped)
{
	if (dropped == DROPPED_NOTHING || !r->is_dropped[e->integers[C_U64]])
		return true;
	return dropped == DROPPED_STARTS && e->stream == STREAM_EVENT;
}

static void put_query(struct buf *sql, const char *scheme, bool is_grouped)
{
	buf_printf(sql,
		   "SELECT %s AS k, histogram(a.time - b.time, %s) AS h, "
		   "quantiles(a.time - b.time, " Q_LIST ", %s) AS q, "
		   "quantile_lo(a.time - b.time, 0.99, %s) AS lo, "
		   "quantile_hi(a.time - b.time, 0.99, %s) AS hi, "
		   "percentile_cont(0.9) WITHIN GROUP (ORDER BY a.time - b.time) AS p" FROM_PAIRS
		   "%s WINDOW TUMBLING 1s",
		   is_grouped ? "a.f_u8" : "count(*)", scheme, scheme, scheme, scheme,
		   is_grouped ? " GROUP BY k" : "");
}

/* Runs a windowed query; take() gets its batches and c, and counts them there. */
static void run_windows(struct replayer *engine, struct recording *r, const char *sql,
			void (*take)(void *context, const struct batch *batch), struct check *c)
{
	struct engine_options options = usual;
	u32 ends[WINDOWS_MAX], n_ends = 0, n = 0;
	const char *error = NULL;
	struct event *events;
	struct result result;
	struct arena arena;

	arena_init(&arena);
	events = arena_array(&arena, struct event, N_EVENTS);
	for (u32 i = 0; i < r->n_events; i++) {
		for (; n_ends < r->windows[i]; n_ends++)
			ends[n_ends] = n;
		if (is_kept(r, &r->events[i], c->dropped))
			events[n++] = r->events[i];
	}
	/* Windows behind the last event that was kept. */
	for (; n_ends + 1 < r->n_windows; n_ends++)
		ends[n_ends] = n;
	options.state = c->is_grouped ? "table" : "auto";
	options.window_ends = ends;
	options.n_window_ends = n_ends;
	options.batch = take;
	options.context = c;
	if (!replayer_run(engine, sql, &options, events, n, &arena, &result, &error))
		fail_msg("%s\n%s", sql, error);
	assert_int_equal(c->window, r->n_windows);
	arena_free(&arena);
}

static struct replayer *engine;
static struct recording recording;
static struct arena all;

/* Recorded once for all tests. */
static void open_all(void)
{
	struct rng rng = { env_number("EBQL_SEED", 1) };

	if (engine)
		return;
	arena_init(&all);
	engine = replayer_open(&all);
	record(&recording, &all, &rng);
	run_streaming(engine, &recording, &all);
	choose_dropped(&recording);
}

static int close_all(void **state)
{
	arena_free(&all);
	return 0;
}

static void test_quantiles(void **state)
{
	bool is_wrong = false;

	open_all();
	for (u32 i = 0; i < ARRAY_SIZE(schemes) * 6; i++) {
		struct check c = { .recording = &recording,
				   .dropped = i % 3,
				   .is_grouped = i / 3 % 2 };
		struct buf sql;

		buf_init(&sql);
		put_query(&sql, schemes[i / 6], c.is_grouped);
		run_windows(engine, &recording, sql.at, take_window, &c);
		buf_free(&sql);
		print_message("%-30s %s, dropped %u: %u windows, %u bounds, %u finite; without "
			      "losses known %u would be wrong\n",
			      schemes[i / 6], c.is_grouped ? "grouped" : "all", c.dropped, c.window,
			      c.n_bounds, c.n_finite, c.n_naive_wrong);
		assert_true(c.n_finite > 0);
		assert_true(c.dropped == DROPPED_NOTHING ? !c.n_naive_wrong : c.n_naive_wrong > 0);
		is_wrong |= c.is_wrong;
	}
	assert_false(is_wrong);
}

/* --- HAVING and ORDER BY over bounds --- */

struct having {
	struct check check; /* first: take_having() gets it */
	u64 limit_ns;
	bool is_lo;
	u32 n_rows, n_above, n_infinite;
};

/* Columns: key, bound, half of it. */
static void take_having(void *context, const struct batch *batch)
{
	struct having *h = context;
	u64 values[N_PAIRS];
	double before = __builtin_inf();
	bool is_shown[N_GROUPS] = { 0 };

	for (u32 i = 0; i < batch->n_rows; i++) {
		const struct value *row = &batch->values[3 * i];
		bool is_finite = row[1].kind == VALUE_INT;
		double bound = is_finite ? (double)row[1].integer : row[1].real;

		assert_true(bound > (double)h->limit_ns && bound <= before);
		before = bound;
		h->n_infinite += !is_finite;
		assert_int_equal(row[2].kind, row[1].kind);
		if (is_finite)
			assert_true(row[2].integer == row[1].integer / 2);
		else
			assert_true(row[2].real == bound);
		is_shown[row[0].integer] = true;
	}
	for (u32 group = 0; group < N_GROUPS; group++) {
		u32 n = true_values(&h->check, group, values);
		bool is_above = n && order_statistic(values, n, qs[Q_BOUND]) > h->limit_ns;

		/* A group whose every value was lost is nowhere. */
		if (!n_counted(&h->check, group))
			continue;
		h->n_above += is_above;
		assert_true(h->is_lo ? !is_shown[group] || is_above : !is_above || is_shown[group]);
	}
	h->n_rows += batch->n_rows;
	h->check.window++;
}

static void test_having(void **state)
{
	static const u64 limits_ns[] = { 1, 1000000, 100000000, 600000000 };

	open_all();
	for (u32 i = 0; i < 4 * ARRAY_SIZE(limits_ns); i++) {
		struct having h = { .check = { .recording = &recording,
					       .dropped = i & 1 ? DROPPED_STARTS : DROPPED_NOTHING,
					       .is_grouped = true },
				    .limit_ns = limits_ns[i / 4],
				    .is_lo = i & 2 };
		struct buf sql;

		buf_init(&sql);
		buf_printf(
			&sql,
			"SELECT a.f_u8 AS k, quantile_%s(a.time - b.time, 0.99) AS bound, "
			"quantile_%s(a.time - b.time, 0.99) / 2 AS half" FROM_PAIRS
			" GROUP BY k WINDOW TUMBLING 1s HAVING bound > %luns ORDER BY bound DESC",
			h.is_lo ? "lo" : "hi", h.is_lo ? "lo" : "hi", h.limit_ns);
		run_windows(engine, &recording, sql.at, take_having, &h.check);
		print_message("%s > %lu ns, dropped %u: %u rows, %u truly above, %u infinite\n",
			      h.is_lo ? "lo" : "hi", h.limit_ns, h.check.dropped, h.n_rows,
			      h.n_above, h.n_infinite);
		assert_true(h.check.dropped && !h.is_lo ? h.n_infinite > 0 : !h.n_infinite);
		buf_free(&sql);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_quantiles),
					    cmocka_unit_test(test_having) };

	return cmocka_run_group_tests_name("quantiles", tests, NULL, close_all);
}
