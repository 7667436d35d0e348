/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What `ebql record` wrote answers as the stream did: windows of live events are those of
 * the recorded rows, computed again here from the rows alone; and a list of queries gives
 * the same rows live, with pushdown on and off, and FROM the recording.
 *
 * Two runs of ebql read the clock each for itself, so only what the calls themselves carry
 * is compared between them.  The calls keep away from the boundaries of windows.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum {
	CALLS = 2000, /* of "go" */
	N_BURSTS = 8, /* of "bursts", one each PERIOD; the fewer, the sooner all are in time */
	BURST_CALLS = 200,
	FIRST_FD = 100, /* four of them, the last one is closed */
	ATTACH_LIMIT_MS = 120000,
	EXIT_LIMIT_MS = 60000,
	ROWS_MAX = 20000,
	TRIES = 20,
};

#define PERIOD_NS 100000000ull
#define FIRST_NS  25000000ull /* a period's first burst behind its begin */
#define MARGIN_NS 2000000ull  /* what lies nearer to a boundary may be on either side */

/* --- The workload --- */

static u64 realtime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void sleep_ns(u64 ns)
{
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				      .tv_nsec = (long)(ns % 1000000000) },
		  NULL);
}

/* The same calls after each seed; the name changes now and then. */
static void call(u32 n, u64 *state)
{
	static char bytes[4096];

	for (u32 i = 0; i < n; i++) {
		*state = *state * 6364136223846793005ull + 1442695040888963407ull;
		if (i % 500 == 0)
			prctl(PR_SET_NAME, *state >> 63 ? "alpha" : "beta");
		syscall(SYS_pread64, FIRST_FD + (*state >> 40) % 4, bytes,
			1 + (*state >> 20) % sizeof(bytes), (*state >> 50) % 16);
	}
}

static int work(void)
{
	int zero = open("/dev/zero", O_RDONLY);
	char line[32];

	for (int i = 0; i < 3; i++)
		dup2(zero, FIRST_FD + i);
	close(FIRST_FD + 3);
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		u64 state = 42, at_ns = (realtime_ns() / PERIOD_NS + 1) * PERIOD_NS;

		if (strcmp(line, "go") == 0)
			call(CALLS, &state);
		/* Four quarters, from 25 to 70 ms behind the boundary. */
		for (u32 i = 0; strcmp(line, "bursts") == 0 && i < 4 * N_BURSTS; i++) {
			u64 then_ns = at_ns + i / 4 * PERIOD_NS + FIRST_NS + i % 4 * 15000000;
			u64 now_ns = realtime_ns();

			if (now_ns < then_ns)
				sleep_ns(then_ns - now_ns);
			call(BURST_CALLS / 4, &state);
		}
		work_answer("done\n");
	}
	return 0;
}

/* --- Several ebql at a time --- */

struct fixture {
	struct watch watch; /* the workload */
	char dir[64];
	/* Every process is ended by the teardown, so they live as long. */
	struct proc recorder, live[4], again, arrows, converter;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strcpy(f->dir, "/tmp/ebql-record-XXXXXX");
	watch_open(&f->watch, NULL, NULL);
	*state = f;
	return mkdtemp(f->dir) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = { "rows.jsonl", "rows.arrows" };
	struct fixture *f = *state;
	char path[96];

	watch_close(&f->watch);
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		unlink(path);
	}
	rmdir(f->dir);
	free(f);
	return 0;
}

/* $S: the stream or file; $P: the workload's pid. */
static void fill_in(const char *template, const char *source, int pid, struct buf *out)
{
	buf_init(out);
	for (const char *at = template; *at; at++) {
		if (at[0] == '$' && at[1] == 'S')
			buf_puts(out, source);
		else if (at[0] == '$' && at[1] == 'P')
			buf_printf(out, "%d", pid);
		else
			buf_putc(out, *at);
		at += at[0] == '$' && (at[1] == 'S' || at[1] == 'P');
	}
}

static void attach(struct proc *proc, const char *const *argv)
{
	proc_start(proc, argv, 0);
	if (!proc_wait_text(proc, "attached:", ATTACH_LIMIT_MS))
		fail_msg("ebql does not attach: %s",
			 proc->err_text.n ? proc->err_text.at : "silent");
}

static void start(struct fixture *f, struct proc *proc, const char *set, const char *template)
{
	struct buf query, all;

	fill_in(template, "syscall:pread64", f->watch.pid, &query);
	buf_init(&all);
	buf_printf(&all, "%s%s", set, query.at);
	attach(proc, (const char *[]){ proc_ebql(), "-o", "json", "--verbose", all.at, NULL });
	buf_free(&query);
	buf_free(&all);
}

static void end(struct proc *proc, bool is_signalled)
{
	int status;

	if (is_signalled)
		proc_signal(proc, SIGINT);
	status = proc_wait_exit(proc, EXIT_LIMIT_MS);
	if (status != 0)
		fail_msg("ebql exits with %d: %s", status,
			 proc->err_text.n ? proc->err_text.at : "silent");
}

static void record(struct fixture *f, struct proc *proc)
{
	char path[96];
	struct buf query;

	snprintf(path, sizeof(path), "%s/rows.jsonl", f->dir);
	fill_in("SELECT time, pid, comm, tid, fd, count, pos, ret, latency FROM $S WHERE pid = $P",
		"syscall:pread64", f->watch.pid, &query);
	attach(proc,
	       (const char *[]){ proc_ebql(), "record", "-o", path, "--verbose", query.at, NULL });
	buf_free(&query);
}

/* FROM the recording, to its end. */
static void replay(struct fixture *f, struct proc *proc, const char *file, const char *template)
{
	char source[112];
	struct buf query;

	snprintf(source, sizeof(source), "'%s/%s'", f->dir, file);
	fill_in(template, source, f->watch.pid, &query);
	proc_start(proc, (const char *[]){ proc_ebql(), "-o", "json", query.at, NULL },
		   PROC_NOBODY);
	end(proc, false);
	buf_free(&query);
}

static void to_arrows(struct fixture *f)
{
	struct proc *proc = &f->converter;
	struct buf query;
	char path[96];

	buf_init(&query);
	buf_printf(&query, "SELECT * FROM '%s/rows.jsonl'", f->dir);
	snprintf(path, sizeof(path), "%s/rows.arrows", f->dir);
	proc_start(proc, (const char *[]){ proc_ebql(), "record", "-o", path, query.at, NULL }, 0);
	end(proc, false);
	proc_forget(proc);
	buf_free(&query);
}

/* The recording is read by a user that has no rights. */
static void open_dir(struct fixture *f)
{
	char command[160];

	snprintf(command, sizeof(command), "chmod a+rx %s && chmod a+r %s/*", f->dir, f->dir);
	assert_int_equal(system(command), 0);
}

/* Rows without what batches say of themselves. */
static char *rows_only(const char *text)
{
	char *rows = calloc(1, strlen(text) + 1), *to = rows;

	assert_non_null(rows);
	while (*text) {
		size_t n = strcspn(text, "\n") + 1;

		n = text[n - 1] ? n : n - 1;
		if (strncmp(text, "{\"_batch\":", 10) != 0)
			to = mempcpy(to, text, n);
		text += n;
	}
	return rows;
}

/* Live windows end where the switch was made, those of a file at the boundaries themselves. */
static void cut_bounds(char *rows)
{
	char *to = rows;

	for (char *at = rows; *at;) {
		char *fd = strstr(at, "\"fd\":");
		size_t n;

		assert_non_null(fd);
		n = strcspn(fd, "\n") + 1;
		memmove(to, fd, n);
		to += n;
		at = fd + n;
	}
	*to = '\0';
}

/* --- Windows --- */

struct row {
	u64 time_ns, latency_ns;
	u32 fd, count;
};

struct rows {
	struct row at[ROWS_MAX];
	u32 n;
	/* of one window and fd, while it is checked */
	u64 values[ROWS_MAX];
	u32 n_values;
	u32 n_compared, n_near;
	bool has_latency;
	u64 n_cells;
};

static struct rows rows;

static u64 member(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

static void read_rows(struct fixture *f)
{
	char path[96], line[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/rows.jsonl", f->dir);
	file = fopen(path, "re");
	assert_non_null(file);
	memset(&rows, 0, sizeof(rows));
	assert_non_null(fgets(line, sizeof(line), file)); /* the columns */
	while (fgets(line, sizeof(line), file)) {
		assert_true(rows.n < ROWS_MAX);
		rows.at[rows.n++] =
			(struct row){ member(line, "\"time\": "), member(line, "\"latency\": "),
				      (u32)member(line, "\"fd\": "),
				      (u32)member(line, "\"count\": ") };
	}
	fclose(file);
	assert_int_equal(rows.n, N_BURSTS * BURST_CALLS);
}

/* 2^(i/8), rounded down: for i below 320 the 64 bits of a long double tell it exactly. */
static u64 threshold(u32 i)
{
	static const long double roots[] = {
		1,
		1.09050773266525765920L,
		1.18920711500272106671L,
		1.29683955465100966593L,
		1.41421356237309504880L,
		1.54221082540794082361L,
		1.68179283050742908606L,
		1.83400808640934246348L,
	};

	return (u64)(roots[i % 8] * (long double)(1ull << i / 8));
}

static int compare_numbers(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* exponential(3): the cell of the value at rank ceil(q n), narrowed by the extremes. */
static void check_quantile(const struct line *line, const char *name, u32 q_percent)
{
	u32 rank = (q_percent * rows.n_values + 99) / 100;
	u64 value = rows.values[MAX(rank, 1u) - 1], lo = 0, hi = 0, estimate;
	char path[32];

	for (u32 i = 0; hi < value; i++) {
		assert_true(i < 320);
		lo = hi;
		hi = threshold(i);
	}
	lo = MAX(lo, rows.values[0]);
	hi = MIN(hi, rows.values[rows.n_values - 1]);
	estimate = line_number(line, name);
	snprintf(path, sizeof(path), "%s_lo", name);
	assert_int_equal(line_number(line, path), lo);
	assert_in_range(value, line_number(line, path), hi);
	snprintf(path, sizeof(path), "%s_hi", name);
	assert_int_equal(line_number(line, path), hi);
	assert_in_range(estimate, lo, hi);
}

/* log2: [2^k, 2^(k+1)). */
static void check_cell(void *context, s64 lo, s64 hi, u64 count)
{
	u64 n = 0;

	assert_true(lo >= 1 && hi == 2 * lo && (lo & (lo - 1)) == 0);
	for (u32 i = 0; i < rows.n_values; i++)
		n += rows.values[i] >= (u64)lo && rows.values[i] < (u64)hi;
	assert_int_equal(count, n);
	rows.n_cells++;
}

static void collect(u64 start_ns, u64 end_ns, u32 fd, bool is_latency)
{
	rows.n_values = 0;
	for (u32 i = 0; i < rows.n; i++) {
		const struct row *r = &rows.at[i];

		if (r->fd == fd && r->time_ns >= start_ns && r->time_ns < end_ns)
			rows.values[rows.n_values++] = is_latency ? r->latency_ns : r->count;
	}
	qsort(rows.values, rows.n_values, sizeof(rows.values[0]), compare_numbers);
}

static bool is_near(u64 boundary_ns)
{
	for (u32 i = 0; i < rows.n; i++)
		if (rows.at[i].time_ns + MARGIN_NS > boundary_ns &&
		    rows.at[i].time_ns < boundary_ns + MARGIN_NS)
			return true;
	return false;
}

/* A row of a window, computed from the recorded rows. */
static void check_window(void *context, const struct line *line)
{
	u64 start_ns = line_number(line, "window_start"), end_ns = line_number(line, "window_end");
	u32 fd = (u32)line_number(line, "fd");

	if (!context && (is_near(start_ns) || is_near(end_ns))) {
		rows.n_near++;
		return;
	}
	collect(start_ns, end_ns, fd, false);
	assert_int_equal(line_number(line, "n"), rows.n_values);
	assert_true(rows.n_values > 0);
	check_quantile(line, "p50", 50);
	check_quantile(line, "p99", 99);
	assert_int_equal(line_cells(line, "h", check_cell, NULL), rows.n_values);
	if (line_leaf(line, "l50")) {
		collect(start_ns, end_ns, fd, true);
		check_quantile(line, "l50", 50);
		check_quantile(line, "l99", 99);
	}
	rows.n_compared++;
}

#define COLUMNS                                                                                    \
	"SELECT window_start, window_end, fd, count(*) AS n, quantile(count, 0.5) AS p50, "        \
	"quantile(count, 0.99) AS p99, histogram(count) AS h"
#define LATENCIES ", quantile(latency, 0.5) AS l50, quantile(latency, 0.99) AS l99 "
#define GROUPS	  " FROM $S WHERE pid = $P GROUP BY fd "
#define HOPPING	  "WINDOW HOPPING 1s BY 100ms"
#define TUMBLING  "WINDOW TUMBLING 100ms"
/* Room for all that a busy machine reads between two looks at the ring buffer. */
#define OFF "SET pushdown = off; SET ring_bytes = 67108864; "

static void check_windows(const char *text, bool takes_all, u32 least)
{
	struct reader reader;

	rows.n_compared = rows.n_near = 0;
	reader_init(&reader, check_window, takes_all ? &reader : NULL);
	reader_feed(&reader, text, strlen(text));
	assert_string_equal(reader.error, "");
	reader_free(&reader);
	if (rows.n_compared < least)
		fail_msg(
			"%u groups of windows were compared, %u were not, being near to a boundary",
			rows.n_compared, rows.n_near);
}

/* A machine that stops for too long makes a burst late, or the end of a window. */
static bool are_in_time(const char *windows)
{
	static const char key[] = "\"window_end\":";
	u64 first = rows.at[0].time_ns / PERIOD_NS, last = 0;

	for (u32 i = 0; i < rows.n; i++) {
		u64 offset_ns = rows.at[i].time_ns % PERIOD_NS;

		if (rows.at[i].time_ns / PERIOD_NS != first + i / BURST_CALLS ||
		    offset_ns < FIRST_NS - MARGIN_NS || offset_ns > PERIOD_NS - MARGIN_NS)
			return false;
	}
	for (const char *at = windows; (at = strstr(at, key)); at++) {
		u64 end_ns = strtoull(at + strlen(key), NULL, 10);

		/* Of two boundaries that it came behind one is none. */
		if (end_ns % PERIOD_NS > FIRST_NS - MARGIN_NS ||
		    (last && end_ns / PERIOD_NS > last + 1))
			return false;
		last = end_ns / PERIOD_NS;
	}
	return true;
}

static const char *const of_windows[] = { COLUMNS GROUPS HOPPING, COLUMNS GROUPS TUMBLING };

/* The bursts, recorded and live: each query with pushdown, then without.  Was all in time? */
static bool run_bursts(struct fixture *f)
{
	bool is_in_time = true;

	record(f, &f->recorder);
	for (u32 i = 0; i < 4; i++)
		start(f, &f->live[i], i < 2 ? "" : OFF, of_windows[i % 2]);
	/* Windows with an event are whole ones. */
	sleep_ns(11 * PERIOD_NS);
	watch_tell(&f->watch, "bursts", "done");
	sleep_ns(12 * PERIOD_NS);
	for (u32 i = 0; i < 4; i++)
		end(&f->live[i], true);
	end(&f->recorder, true);
	open_dir(f);
	read_rows(f);
	for (u32 i = 0; i < 4; i++) {
		char *windows = rows_only(f->live[i].out_text.at);

		is_in_time &= are_in_time(windows);
		free(windows);
	}
	return is_in_time;
}

static void test_windows(void **state)
{
	struct fixture *f = *state;
	struct proc *live, *again;
	/* Each burst is in ten hopping windows, with its four descriptors. */
	const u32 expected[] = { 4 * (N_BURSTS + 9), 4 * N_BURSTS };
	/* A file ends with its last row, and so does the last window of it. */
	const u32 expected_of_file = 4 * N_BURSTS;

	watch_require();
	live = f->live;
	again = &f->again;
	watch_work(&f->watch, "calls");
	for (u32 i = 1; !run_bursts(f); i++) {
		if (i == TRIES)
			fail_msg("bursts or windows come late, %d times", TRIES);
		for (u32 k = 0; k < 4; k++)
			proc_forget(&live[k]);
		proc_forget(&f->recorder);
	}
	for (u32 i = 0; i < 2; i++) {
		char *on_file, *off;

		/* Live windows begin and end when the kernel really switched. */
		check_windows(live[i].out_text.at, false, expected[i] / 2);
		check_windows(live[2 + i].out_text.at, false, expected[i] / 2);
		/* By the times of the rows, at the boundaries themselves: all windows. */
		replay(f, again, "rows.jsonl", of_windows[i]);
		check_windows(again->out_text.at, true, expected_of_file);
		assert_int_equal(rows.n_compared, expected_of_file);
		on_file = rows_only(again->out_text.at);
		off = rows_only(live[2 + i].out_text.at);
		cut_bounds(on_file);
		cut_bounds(off);
		assert_true(strlen(off) >= strlen(on_file));
		off[strlen(on_file)] = '\0';
		assert_string_equal(off, on_file);
		free(on_file);
		free(off);
		proc_forget(again);
	}
	replay(f, again, "rows.jsonl", COLUMNS LATENCIES GROUPS HOPPING);
	check_windows(again->out_text.at, true, expected_of_file);
	proc_forget(again);
}

/* --- Queries without windows --- */

static const char *const queries[] = {
	"SELECT count(*) AS n, sum(count) AS s, min(count), max(count), avg(ret) FROM $S "
	"WHERE pid = $P",
	"SELECT fd, comm, count(*), sum(ret) FROM $S WHERE pid = $P GROUP BY fd, comm "
	"ORDER BY fd, comm",
	"SELECT comm, tid, fd, count, ret FROM $S WHERE pid = $P AND fd = 101 AND count > 3500",
	"SELECT fd, histogram(count), histogram(count, linear(0, 4096, 512)) FROM $S "
	"WHERE pid = $P GROUP BY fd ORDER BY fd",
	"SELECT fd, quantiles(count, 0.1, 0.5, 0.99), p99(count, log2) FROM $S WHERE pid = $P "
	"GROUP BY fd HAVING quantile_lo(count, 0.5) > 10 ORDER BY fd",
	"SELECT fd, UNNEST(histogram(count, exponential(1))) AS h FROM $S WHERE pid = $P "
	"GROUP BY fd ORDER BY fd DESC LIMIT 20 OFFSET 3",
	"SELECT count(DISTINCT pos), approx_count_distinct(count) FROM $S WHERE pid = $P",
	"SELECT comm, top_k(fd, 4) FROM $S WHERE pid = $P GROUP BY comm ORDER BY comm",
	"SELECT UNNEST(top_k(fd, 4)) FROM $S WHERE pid = $P",
	"SELECT fd, first(count), last(count), stddev(count) FROM $S WHERE pid = $P GROUP BY fd "
	"ORDER BY fd",
	"SELECT DISTINCT fd, ret < 0 AS failed FROM $S WHERE pid = $P ORDER BY fd",
	"SELECT fd, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT fd, count(*) AS n "
	"FROM $S WHERE pid = $P GROUP BY fd) ORDER BY fd",
	"WITH big AS (SELECT fd, count(*) AS n FROM $S WHERE pid = $P AND count > 2048 GROUP BY fd) "
	"SELECT max(n) - min(n) AS d FROM big",
	"SELECT count / 1KiB AS kib, count(*) AS n FROM $S WHERE pid = $P GROUP BY kib "
	"HAVING n > 10 ORDER BY kib",
	"SELECT a.fd, b.fd, count(*) FROM $S AS a JOIN $S AS b ON a.pos = b.pos AND a.fd < b.fd "
	"WHERE a.pid = $P AND b.pid = $P GROUP BY a.fd, b.fd ORDER BY 1, 2",
	"SELECT upper(comm) || ':' || fd AS who, sum(count) FILTER (WHERE ret > 0) FROM $S "
	"WHERE pid = $P GROUP BY who ORDER BY who",
	"SELECT fd, sum(ret) FROM $S WHERE pid = $P AND comm LIKE 'al%' GROUP BY fd ORDER BY fd",
	"SELECT CASE WHEN ret < 0 THEN 'bad' WHEN ret < 1000 THEN 'small' ELSE 'big' END AS kind, "
	"count(*) FROM $S WHERE pid = $P GROUP BY kind ORDER BY kind",
	"SELECT fd, count(*) FROM $S WHERE pid = $P AND count > (SELECT avg(count) FROM $S "
	"WHERE pid = $P) GROUP BY fd ORDER BY fd",
	"SELECT fd, pos FROM $S WHERE pid = $P AND fd = 100 UNION SELECT fd, pos FROM $S "
	"WHERE pid = $P AND fd = 103 ORDER BY fd, pos",
	"SELECT pos FROM $S WHERE pid = $P EXCEPT SELECT pos FROM $S WHERE pid = $P AND count > 4090 "
	"ORDER BY pos",
	"SELECT max(depth), min(depth) FROM (SELECT sum(ret) OVER (PARTITION BY fd) AS depth "
	"FROM $S WHERE pid = $P)",
	"SELECT fd, count FROM (SELECT fd, count, row_number() OVER (PARTITION BY fd "
	"ORDER BY count DESC, pos) AS place FROM $S WHERE pid = $P) WHERE place <= 2 "
	"ORDER BY fd, count",
};

static void compare(const char *query, const char *what, const char *have, const char *want)
{
	char *a = rows_only(have), *b = rows_only(want);

	if (!*b || strcmp(a, b) != 0)
		fail_msg("%s\n%s:\n%sinstead of:\n%s", query, what, a, b);
	free(a);
	free(b);
}

static void test_queries(void **state)
{
	static const char *const sets[] = { "", OFF };
	struct fixture *f = *state;
	struct proc *live = &f->live[0], *again = &f->again, *arrows = &f->arrows;

	watch_require();
	watch_work(&f->watch, "calls");
	record(f, &f->recorder);
	watch_tell(&f->watch, "go", "done");
	end(&f->recorder, true);
	to_arrows(f);
	open_dir(f);
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		replay(f, again, "rows.jsonl", queries[i]);
		replay(f, arrows, "rows.arrows", queries[i]);
		compare(queries[i], "rows.arrows", arrows->out_text.at, again->out_text.at);
		for (u32 k = 0; k < ARRAY_SIZE(sets); k++) {
			start(f, live, sets[k], queries[i]);
			watch_tell(&f->watch, "go", "done");
			end(live, true);
			compare(queries[i], k ? "pushdown off" : "pushdown on", live->out_text.at,
				again->out_text.at);
			proc_forget(live);
		}
		proc_forget(again);
		proc_forget(arrows);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_windows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_queries, setup, teardown),
	};

	if (argc > 1 && strcmp(argv[1], "--work") == 0)
		return work();
	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
