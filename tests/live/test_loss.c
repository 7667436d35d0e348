/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Losses, window by window.  This program makes calls of known values and notes between which
 * instants each happened; ebql loses some of them: it is stopped, nobody reads what it writes, its
 * ring buffer or its tables are small.  Then no true quantile of a window may lie outside the
 * bounds that ebql gives, and what it counted and what it lost are what happened, window by window.
 * --long: as many windows of each case as EBQL_TEST_WINDOWS says, or 4,000, but no more than 100 s
 * have room for.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/region.h"
#include "watch.h"

#define NS_PER_MS 1000000ull

enum { MARK_FD = 777, SLEEPERS_MAX = 40, RANKS = 4, EVENTS_MAX = 40000000 };

static const double ranks[RANKS] = { 0.1, 0.5, 0.99, 1 };
#define QUANTILES "0.1, 0.5, 0.99, 1"

static bool is_long;
static u32 slowness = 1; /* of the machine: a guest is emulated */

/* --- What happens --- */

/* One call: it ended between these instants (CLOCK_REALTIME), and its value is one of these. */
struct happened {
	u64 after_ns, before_ns;
	u64 least, most;
};

struct sleeper {
	pthread_t thread;
	u64 sleep_ns, start_ns; /* CLOCK_REALTIME, of the call that is under way; 0: none is */
};

struct load {
	struct happened *events;
	u64 n_events;
	bool is_over;
	pthread_t caller;
	struct sleeper sleepers[SLEEPERS_MAX];
	u32 n_sleepers;
};

static struct load load;

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static void note(u64 after_ns, u64 least, u64 most)
{
	u64 n = __atomic_fetch_add(&load.n_events, 1, __ATOMIC_RELAXED);

	if (n < EVENTS_MAX)
		load.events[n] = (struct happened){ after_ns, now_ns(), least, most };
}

static bool is_over(void)
{
	return __atomic_load_n(&load.is_over, __ATOMIC_RELAXED);
}

/*
 * Calls of some thousand a second: what is read every 10 ms finds room, and what is not does not.
 * The values go up and down again, so those of any stretch are unlike those of another.
 */
static void *call_often(void *unused)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	char byte;

	(void)unused;
	for (u64 i = 0; !is_over(); i++) {
		u64 value = 1ull << (i / 400 % 14), start_ns = now_ns();

		syscall(SYS_pread64, MARK_FD, &byte, value, 0);
		note(start_ns, value, value);
		if (i % 4 == 0)
			syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return NULL;
}

static void *sleep_often(void *context)
{
	struct sleeper *s = context;
	const struct timespec pause = { .tv_nsec = (long)s->sleep_ns };

	while (!is_over()) {
		u64 start_ns = now_ns(), woken_ns;

		__atomic_store_n(&s->start_ns, start_ns, __ATOMIC_RELAXED);
		syscall(SYS_nanosleep, &pause, NULL);
		woken_ns = now_ns();
		/* It ended between its time and now. */
		note(start_ns + s->sleep_ns, s->sleep_ns, woken_ns - start_ns);
	}
	return NULL;
}

static void load_start(bool calls, u32 n_sleepers, u64 sleep_ns)
{
	load.n_events = 0;
	load.is_over = false;
	load.n_sleepers = n_sleepers;
	if (!load.events)
		load.events = malloc(EVENTS_MAX * sizeof(*load.events));
	assert_non_null(load.events);
	if (calls)
		assert_int_equal(pthread_create(&load.caller, NULL, call_often, NULL), 0);
	for (u32 i = 0; i < n_sleepers; i++) {
		/* One in eight sleeps short: there are many of these in a window. */
		load.sleepers[i].sleep_ns = i % 8 ? sleep_ns : sleep_ns / 50;
		assert_int_equal(pthread_create(&load.sleepers[i].thread, NULL, sleep_often,
						&load.sleepers[i]),
				 0);
	}
}

static void load_end(bool calls)
{
	__atomic_store_n(&load.is_over, true, __ATOMIC_RELAXED);
	if (calls)
		pthread_join(load.caller, NULL);
	for (u32 i = 0; i < load.n_sleepers; i++)
		pthread_join(load.sleepers[i].thread, NULL);
	assert_true(load.n_events < EVENTS_MAX);
}

/* --- What ebql says --- */

struct window {
	u64 start_ns, end_ns;
	u64 n, ring_full, lost, events, matched;
	u64 lost_values; /* by how many the bounds are widened */
	struct {
		bool is_null, has_lo, has_hi;
		double lo, hi;
	} bounds[RANKS];
};

struct loss_case {
	const char *name, *query;
	bool calls;
	u32 n_sleepers;
	u64 sleep_ns;
	u32 window_ms; /* about */
	u32 stop_ms, pause_ms;
	bool is_counted; /* counted and lost are what happened, window by window */
	bool is_of_rows; /* rows end the windows */
	bool may_be_clean;
	struct watch watch;
	struct window *windows;
	u64 n_windows, capacity;
	u64 n_lossy, n_wrong, n_quantiles;
	struct window row; /* that is being read */
};

static void take_bound(const struct line *line, u32 rank, const char *name, bool *ret_has,
		       double *ret_value)
{
	u32 n = 0;

	*ret_has = false;
	for (u32 i = 0; i < line->n; i++) {
		const struct leaf *leaf = &line->leaves[i];

		if (strcmp(leaf->path, name) || n++ != rank)
			continue;
		*ret_has = leaf->kind == LEAF_INTEGER;
		*ret_value = (double)leaf->integer;
	}
}

static void take_row(void *context, const struct line *line)
{
	struct loss_case *c = context;
	struct window *w = &c->row;

	w->n = line_number(line, "n");
	for (u32 i = 0; i < RANKS; i++) {
		w->bounds[i].is_null = !line_leaf(line, "q[].q");
		take_bound(line, i, "q[].lo", &w->bounds[i].has_lo, &w->bounds[i].lo);
		take_bound(line, i, "q[].hi", &w->bounds[i].has_hi, &w->bounds[i].hi);
	}
}

static void take_batch(struct loss_case *c, const struct line *line)
{
	struct window *w = &c->row;

	w->start_ns = line_number(line, "_batch.window_start");
	w->end_ns = line_number(line, "_batch.window_end");
	w->events = line_number(line, "_batch.events");
	w->matched = line_number(line, "_batch.matched");
	w->ring_full = line_number(line, "_batch.lost.ring_full");
	w->lost_values = w->ring_full + line_number(line, "_batch.lost.missed") +
			 line_number(line, "_batch.unpaired.never_started") +
			 line_number(line, "_batch.unpaired.full");
	if (c->n_windows == c->capacity) {
		c->capacity = MAX(2 * c->capacity, 1024ull);
		c->windows = realloc(c->windows, c->capacity * sizeof(*w));
		assert_non_null(c->windows);
	}
	c->windows[c->n_windows++] = *w;
	*w = (struct window){ 0 };
}

/* Rows and batches as they come. */
static void take_line(void *context, const struct line *line)
{
	struct loss_case *c = context;

	if (line->is_batch)
		take_batch(c, line);
	else
		take_row(c, line);
}

/* --- Truth --- */

static int compare_least(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

struct truth {
	struct region least, most; /* values of what may have been in the window, sorted */
	u64 n, n_certain;
};

/*
 * A window ends with a switch, just before its end was read off the clock: what happened in
 * slack_ns before may lie on either side.
 */
static void find_truth(struct truth *t, const struct window *w, u64 slack_ns, u64 *first)
{
	t->n = t->n_certain = 0;
	for (u64 i = *first; i < load.n_events; i++) {
		const struct happened *e = &load.events[i];

		if (e->before_ns + slack_ns < w->start_ns) {
			/* Of threads that wait for each other: noted in the order of their ends. */
			if (i == *first && e->before_ns + 1000 * NS_PER_MS < w->start_ns)
				++*first;
			continue;
		}
		if (e->after_ns > w->end_ns + 1000 * NS_PER_MS)
			break;
		if (e->after_ns > w->end_ns)
			continue;
		assert_true(region_need(&t->least, (t->n + 1) * sizeof(u64)) &&
			    region_need(&t->most, (t->n + 1) * sizeof(u64)));
		((u64 *)t->least.at)[t->n] = e->least;
		((u64 *)t->most.at)[t->n++] = e->most;
		t->n_certain += e->after_ns > w->start_ns && e->before_ns + slack_ns < w->end_ns;
	}
	qsort(t->least.at, t->n, sizeof(u64), compare_least);
	qsort(t->most.at, t->n, sizeof(u64), compare_least);
}

static void print_window(const struct loss_case *c, const struct window *w, const struct truth *t,
			 u32 rank)
{
	print_message("%s: window %lu of %lu, %.1f ms: n %lu, events %lu, matched %lu, lost values "
		      "%lu, "
		      "ring_full %lu; happened %lu to %lu; p%g [%s%.0f, %s%.0f]\n",
		      c->name, (u64)(w - c->windows), c->n_windows,
		      (double)(w->end_ns - w->start_ns) / NS_PER_MS, w->n, w->events, w->matched,
		      w->lost_values, w->ring_full, t->n_certain, t->n, 100 * ranks[rank],
		      w->bounds[rank].has_lo ? "" : "none ", w->bounds[rank].lo,
		      w->bounds[rank].has_hi ? "" : "none ", w->bounds[rank].hi);
}

/* Of the certain ones, and any of the others, the one of that rank: within the bounds? */
static bool is_within(const struct window *w, const struct truth *t, u32 rank)
{
	u64 at = (u64)(ranks[rank] * (double)t->n_certain);
	u64 last;

	at += at < ranks[rank] * (double)t->n_certain;
	at -= MIN(at, 1ull);
	last = at + t->n - t->n_certain;
	if (!t->n_certain || w->bounds[rank].is_null)
		return true;
	last = MIN(last, t->n - 1);
	if (w->bounds[rank].has_lo && w->bounds[rank].lo > (double)((u64 *)t->most.at)[last])
		return false;
	return !w->bounds[rank].has_hi || w->bounds[rank].hi >= (double)((u64 *)t->least.at)[at];
}

static void check_window(struct loss_case *c, const struct window *w, const struct truth *t)
{
	u64 n_told = w->n + w->ring_full;
	bool is_wrong = w->matched > w->events;
	u32 bad_rank = 0;

	c->n_lossy += w->lost_values > 0;
	for (u32 i = 0; i < RANKS; i++) {
		bool is_bad = !is_within(w, t, i);

		c->n_quantiles++;
		bad_rank = is_bad ? i : bad_rank;
		is_wrong |= is_bad;
	}
	if (c->is_counted)
		is_wrong |= n_told < t->n_certain || n_told > t->n;
	else
		is_wrong |= w->n + w->lost_values < t->n_certain;
	if (is_wrong && c->n_wrong < 10)
		print_window(c, w, t, bad_rank);
	c->n_wrong += is_wrong;
}

/* --- A case --- */

static u64 n_windows_wanted(void)
{
	const char *wanted = getenv("EBQL_TEST_WINDOWS");

	return !is_long ? 0 : wanted ? strtoull(wanted, NULL, 10) : 4000;
}

/* Reads what ebql says for so long. */
static void read_for(u32 ms)
{
	u64 end_ns = now_ns() + ms * NS_PER_MS;

	while (now_ns() < end_ns)
		proc_pump(5);
}

static void disturb(struct loss_case *c)
{
	if (c->stop_ms) {
		proc_signal(&c->watch.ebql, SIGSTOP);
		read_for(c->stop_ms * slowness);
		proc_signal(&c->watch.ebql, SIGCONT);
	}
	if (c->pause_ms)
		usleep(c->pause_ms * 1000 * slowness);
	read_for(300 * slowness);
}

/* Of three disturbances none may lose anything, where others keep the load from its CPU. */
static bool is_needed(const struct loss_case *c, u32 n_disturbed)
{
	bool has_lost = c->may_be_clean;

	for (u64 i = 0; i < c->n_windows; i++)
		has_lost |= c->windows[i].lost_values > 0;
	return n_disturbed < 3 || (!has_lost && n_disturbed < 30);
}

static void run(void **state)
{
	struct loss_case *c = *state;
	struct truth truth = { 0 };
	u64 first = 0, end_ns = now_ns() + 100000 * NS_PER_MS;

	watch_require();
	watch_open(&c->watch, take_line, c);
	c->watch.reader.batch = take_line;
	watch_ebql(&c->watch, c->query, getpid());
	while (c->pause_ms && fcntl(c->watch.ebql.out, F_SETPIPE_SZ, 4096) < 0 && errno == EBUSY)
		proc_pump(1);
	load_start(c->calls, c->n_sleepers, c->sleep_ns);
	read_for(100);
	for (u32 i = 0; is_needed(c, i) || (c->n_windows < n_windows_wanted() && now_ns() < end_ns);
	     i++)
		disturb(c);
	load_end(c->calls);
	read_for(2 * c->window_ms);
	watch_end(&c->watch, -1);
	for (u64 i = 0; i < c->n_windows; i++) {
		find_truth(&truth, &c->windows[i], c->is_of_rows ? 0 : 2 * NS_PER_MS * slowness,
			   &first);
		check_window(c, &c->windows[i], &truth);
	}
	print_message("%s: %lu windows, %lu with losses, of %lu events; %lu quantiles, %lu "
		      "windows wrong\n",
		      c->name, c->n_windows, c->n_lossy, load.n_events, c->n_quantiles, c->n_wrong);
	region_free(&truth.least);
	region_free(&truth.most);
	assert_int_equal(c->n_wrong, 0);
	assert_true(c->n_lossy || c->may_be_clean);
}

/* --- Values that go on from event to event --- */

enum { BURST_CALLS = 20000, LATER_CALLS = 100 };

struct lasting_case {
	const char *name, *window;
	struct watch watch;
	u64 sum;	 /* of the row that was read last */
	u64 told, value; /* rows lost as the latest batch with a row says, and its value */
	bool has_row;
};

static void take_lasting(void *context, const struct line *line)
{
	struct lasting_case *c = context;

	if (!line->is_batch) {
		c->has_row = line_number(line, "m") > 0;
		c->sum = line_number(line, "m");
		return;
	}
	if (c->has_row) {
		c->value = c->sum;
		c->told = line_number(line, "_batch.lost.ring_full");
	}
	c->has_row = false;
}

/*
 * Calls that nobody else makes.  Rows are lost, and none any more when the last windows come: all
 * the same each says what was, as its running sum is too small by just that.
 */
static void run_lasting(void **state)
{
	struct lasting_case *c = *state;

	watch_require();
	watch_open(&c->watch, take_lasting, c);
	c->watch.reader.batch = take_lasting;
	watch_ebql(&c->watch,
		   "SET pushdown = off; SET ring_bytes = 4096; SELECT max(d) AS m FROM (SELECT "
		   "sum(1) OVER (PARTITION BY tid) AS d FROM "
		   "tracepoint:syscalls:sys_enter_sched_get_priority_max WHERE pid = %d) WINDOW %s",
		   getpid(), c->window);
	for (u32 i = 0; i < BURST_CALLS; i++)
		syscall(SYS_sched_get_priority_max, MARK_FD);
	read_for(300 * slowness);
	for (u32 i = 0; i < LATER_CALLS; i++) {
		syscall(SYS_sched_get_priority_max, MARK_FD);
		read_for(2 * slowness);
	}
	read_for(200 * slowness);
	watch_end(&c->watch, 3);
	print_message("%s: sum %lu, told %lu of %lu\n", c->name, c->value, c->told,
		      c->watch.reader.totals.ring_full);
	assert_true(c->told > 0);
	assert_int_equal(c->value + c->told, BURST_CALLS + LATER_CALLS);
	watch_close(&c->watch);
}

static struct lasting_case lasting_cases[] = {
	{ "lasting_tumbling", "TUMBLING 50ms" },
	{ "lasting_hopping", "HOPPING 100ms BY 50ms" },
	{ "lasting_count", "COUNT 10" },
	{ "lasting_session", "SESSION 30ms" },
};

static int teardown(void **state)
{
	struct loss_case *c = *state;

	watch_close(&c->watch);
	free(c->windows);
	return 0;
}

/* SQLite sums halves: the rows come through the ring buffer. */
#define OF_ROWS "sum(count * 0.5) AS half"
#define CALLS                                                                                      \
	"SELECT count(*) AS n, quantiles(count, " QUANTILES ") AS q, " OF_ROWS                     \
	" FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d AND fd = 777 "
#define JOINED                                                                                     \
	"SELECT count(*) AS n, quantiles(e.count, " QUANTILES                                      \
	") AS q, sum(e.count * 0.5) AS half "                                                      \
	"FROM tracepoint:syscalls:sys_exit_pread64 AS x PAIR JOIN "                                \
	"tracepoint:syscalls:sys_enter_pread64 AS e ON x.tid = e.tid WHERE e.pid = %d AND "        \
	"e.fd = 777 "
#define SLEEPS                                                                                     \
	"SELECT count(*) AS n, quantiles(latency, " QUANTILES ") AS q FROM syscall:nanosleep "     \
	"WHERE pid = %d "
#define SMALL_RING "SET ring_bytes = 65536; "

static struct loss_case cases[] = {
	{ "stopped", SMALL_RING CALLS "WINDOW TUMBLING 20ms", true, .window_ms = 20, .stop_ms = 200,
	  .is_counted = true },
	{ "paused", SMALL_RING CALLS "WINDOW TUMBLING 10ms", true, .window_ms = 10, .pause_ms = 400,
	  .is_counted = true },
	{ "paused_20ms", SMALL_RING CALLS "WINDOW TUMBLING 20ms", true, .window_ms = 20,
	  .pause_ms = 2000, .is_counted = true },
	{ "stopped_join", SMALL_RING JOINED "WINDOW TUMBLING 20ms", true, .window_ms = 20,
	  .stop_ms = 200, .is_counted = true },
	{ "stopped_hopping", SMALL_RING CALLS "WINDOW HOPPING 50ms BY 20ms", true, .window_ms = 50,
	  .stop_ms = 200, .is_counted = true },
	/* Of other processes, too, rows are lost: WHERE is done in user space. */
	{ "stopped_scans", "SET pushdown = off; " SMALL_RING CALLS "WINDOW TUMBLING 20ms", true,
	  .window_ms = 20, .stop_ms = 200 },
	{ "stopped_count", SMALL_RING CALLS "WINDOW COUNT 700", true, .window_ms = 20,
	  .stop_ms = 200, .is_of_rows = true },
	{ "stopped_session", SMALL_RING CALLS "WINDOW SESSION (GAP 30ms)", true, .window_ms = 20,
	  .stop_ms = 200, .is_of_rows = true },
	{ "one_in_flight", "SET max_in_flight = 1; " SLEEPS "WINDOW TUMBLING 20ms", false, 40,
	  150 * NS_PER_MS, .window_ms = 20 },
	{ "eight_in_flight", "SET max_in_flight = 8; " SLEEPS "WINDOW TUMBLING 20ms", false, 40,
	  150 * NS_PER_MS, .window_ms = 20 },
	{ "eight_hopping", "SET max_in_flight = 8; " SLEEPS "WINDOW HOPPING 50ms BY 20ms", false,
	  40, 150 * NS_PER_MS, .window_ms = 20 },
	{ "eight_by_tracepoint",
	  "SET access_path = tracepoint; SET max_in_flight = 8; " SLEEPS "WINDOW TUMBLING 20ms",
	  false, 40, 150 * NS_PER_MS, .window_ms = 20 },
	{ "sixteen_in_user_space",
	  "SET pushdown = off; SET max_in_flight = 16; " SLEEPS "WINDOW TUMBLING 20ms", false, 40,
	  150 * NS_PER_MS, .window_ms = 20 },
	{ "stopped_sleeps_in_user_space",
	  "SET pushdown = off; SET ring_bytes = 4096; " SLEEPS "WINDOW TUMBLING 20ms", false, 40,
	  150 * NS_PER_MS, .window_ms = 20, .stop_ms = 400 },
};

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[ARRAY_SIZE(cases) + ARRAY_SIZE(lasting_cases)];
	int null = open("/dev/null", O_RDONLY);

	for (int i = 1; i < argc; i++) {
		is_long |= !strcmp(argv[i], "--long");
		slowness = !strcmp(argv[i], "--quick") ? 10 : slowness;
	}
	if (null < 0 || dup2(null, MARK_FD) < 0)
		return 1;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, run, NULL, teardown, &cases[i] };
	for (u32 i = 0; i < ARRAY_SIZE(lasting_cases); i++)
		tests[ARRAY_SIZE(cases) + i] =
			(struct CMUnitTest){ lasting_cases[i].name, run_lasting, NULL, NULL,
					     &lasting_cases[i] };
	if (argc > 1 && argv[argc - 1][0] != '-')
		cmocka_set_test_filter(argv[argc - 1]);
	return _cmocka_run_group_tests("loss", tests, ARRAY_SIZE(tests), NULL, NULL);
}
