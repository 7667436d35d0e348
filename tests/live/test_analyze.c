/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * EXPLAIN ANALYZE and --stats over a known number of calls: what each operator says of them is
 * true, by equality, whether the kernel does it or user space; and the kernel measures run times
 * while a query is measured, and no longer.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "proc.h"
#include "reader.h"
#include "session.h"

#define EXIT_MS 120000

/* Calls of the load generator: on descriptors from 100 on, as many on each. */
enum { N_CALLS = 4000, N_FDS = 8 };
#define LOADGEN "--no-wait", "--no-pin", "--calls", "4000", "--threads", "2", "--fds", "8"

struct op {
	char text[READER_TEXT_BYTES];
	bool is_kernel;
	u64 in, out, unpaired, single, never_started, began_before;
};

struct room {
	char what[READER_TEXT_BYTES];
	u64 used, size;
};

struct figures {
	struct op operators[32];
	struct room rooms[8];
	u32 n, n_rooms;
	u64 runs, wanted, rows, events, matched, kernel_ns;
};

static void take_leaf(struct figures *f, const struct leaf *leaf)
{
	struct op *o = &f->operators[f->n ? f->n - 1 : 0];
	const struct {
		const char *path;
		u64 *to;
	} numbers[] = {
		{ "operators[].rows_in", &o->in },
		{ "operators[].rows_out", &o->out },
		{ "operators[].without_partner", &o->single },
		{ "operators[].lost.unpaired", &o->unpaired },
		{ "operators[].unpaired.never_started", &o->never_started },
		{ "operators[].unpaired.began_before", &o->began_before },
		{ "programs[].runs", &f->runs },
		{ "programs[].wanted", &f->wanted },
		{ "rows", &f->rows },
		{ "events", &f->events },
		{ "matched", &f->matched },
		{ "kernel_ns", &f->kernel_ns },
	};

	for (u32 i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strcmp(leaf->path, numbers[i].path) == 0)
			*numbers[i].to += (u64)leaf->integer;
	if (strcmp(leaf->path, "operators[].where") == 0)
		o->is_kernel = strcmp(leaf->text, "kernel") == 0;
	if (strcmp(leaf->path, "operators[].operator") == 0)
		snprintf(o->text, sizeof(o->text), "%s", leaf->text);
	if (strcmp(leaf->path, "rooms[].what") == 0) {
		assert_true(f->n_rooms < ARRAY_SIZE(f->rooms));
		snprintf(f->rooms[f->n_rooms++].what, READER_TEXT_BYTES, "%s", leaf->text);
	}
	if (strcmp(leaf->path, "rooms[].used") == 0)
		f->rooms[f->n_rooms - 1].used = (u64)leaf->integer;
	if (strcmp(leaf->path, "rooms[].size") == 0)
		f->rooms[f->n_rooms - 1].size = (u64)leaf->integer;
}

static void take_line(void *context, const struct line *line)
{
	struct figures *f = context;

	for (u32 i = 0; i < line->n; i++) {
		if (strcmp(line->leaves[i].path, "operators[].part") == 0)
			assert_true(++f->n <= ARRAY_SIZE(f->operators));
		take_leaf(f, &line->leaves[i]);
	}
}

/* The first such operator that stands there. */
static const struct op *find(const struct figures *f, bool is_kernel, const char *text)
{
	for (u32 i = 0; i < f->n; i++)
		if (f->operators[i].is_kernel == is_kernel && strstr(f->operators[i].text, text))
			return &f->operators[i];
	fail_msg("no operator \"%s\"", text);
	return NULL;
}

static const struct room *find_room(const struct figures *f, const char *what)
{
	for (u32 i = 0; i < f->n_rooms; i++)
		if (strcmp(f->rooms[i].what, what) == 0)
			return &f->rooms[i];
	fail_msg("no room \"%s\"", what);
	return NULL;
}

/* Measures the query while the load generator makes so many calls. */
static void measure_calls(const char *sql, const char *statement, const char *n_calls, int status,
			  struct figures *ret_figures)
{
	char text[1024];
	const char *argv[] = { proc_ebql(),    "-o",	    "json",	text,	   "--",
			       proc_loadgen(), "--no-wait", "--no-pin", "--calls", n_calls,
			       "--threads",    "2",	    "--fds",	"8",	   NULL };
	struct proc proc = { 0 };
	struct reader reader;
	const char *json;

	session_require();
	*ret_figures = (struct figures){ 0 };
	snprintf(text, sizeof(text), "%s%s", statement, sql);
	proc_start(&proc, argv, 0);
	proc_close_in(&proc);
	if (proc_wait_exit(&proc, EXIT_MS) != status)
		fail_msg("status %d: %s", proc.status, proc.err_text.at);
	/* COMMAND writes there, too. */
	json = strstr(proc.out_text.n ? proc.out_text.at : "", "{\"elapsed_ns\"");
	assert_non_null(json);
	reader_init(&reader, take_line, ret_figures);
	reader_feed(&reader, json, strlen(json));
	assert_string_equal(reader.error, "");
	reader_free(&reader);
	proc_forget(&proc);
}

static void measure(const char *sql, const char *statement, int status, struct figures *ret_figures)
{
	measure_calls(sql, statement, "4000", status, ret_figures);
}

#define CALLS "fd >= 100 AND pid = target_pid()"

static void test_filter_and_having(void **state)
{
	const char *sql = "SELECT fd, count(*) AS n FROM tracepoint:syscalls:sys_enter_pread64 "
			  "WHERE " CALLS " GROUP BY fd HAVING fd >= 104";
	const struct op *scan, *filter, *groups, *user;
	struct figures f;

	measure(sql, "SET access_path = raw; EXPLAIN ANALYZE ", 0, &f);
	scan = find(&f, true, "scan");
	filter = find(&f, true, "where");
	groups = find(&f, true, "aggregate");
	user = find(&f, false, "SQLite");
	assert_int_equal(scan->out, f.events);
	assert_int_equal(filter->in, scan->out);
	assert_true(scan->out >= N_CALLS);
	assert_int_equal(filter->out, N_CALLS);
	assert_int_equal(f.matched, N_CALLS);
	assert_int_equal(groups->in, N_CALLS);
	assert_int_equal(groups->out, N_FDS);
	assert_int_equal(user->in, N_FDS);
	assert_int_equal(user->out, N_FDS - 4);
	assert_int_equal(f.rows, N_FDS - 4);
	/* Of all calls that came by. */
	assert_int_equal(f.wanted, scan->out);
	assert_true(f.runs > f.wanted);
	assert_true(f.kernel_ns > 0);
}

/* Calls of other processes end or begin outside of the run: those of this one do neither. */
static void expect_join(const struct figures *f, bool is_kernel, const char *join,
			const char *where)
{
	const struct op *look_up = find(f, is_kernel, join), *filter;

	filter = find(f, is_kernel, where);
	assert_int_equal(filter->out, N_CALLS);
	if (!is_kernel)
		return;
	assert_int_equal(look_up->in,
			 look_up->out + look_up->never_started + look_up->began_before);
	assert_int_equal(look_up->unpaired, look_up->never_started + look_up->began_before);
	assert_true(look_up->out >= N_CALLS);
}

#define SPANS                                                                                      \
	"SELECT count(*), max(latency) FROM syscall:pread64 WHERE ret = 0 AND fd >= 100 "          \
	"AND pid = target_pid()"

static void test_join(void **state)
{
	const struct op *store;
	struct figures f;

	measure(SPANS, "EXPLAIN ANALYZE ", 0, &f);
	store = find(&f, true, "store");
	assert_true(store->out >= N_CALLS && store->in == store->out);
	assert_int_equal(f.matched, N_CALLS);
	assert_int_equal(find(&f, true, "aggregate")->in, N_CALLS);
	assert_int_equal(find(&f, true, "aggregate")->out, 1);
	expect_join(&f, true, "look up", "where (s0.ret = 0)");
}

static void test_left_join(void **state)
{
	struct figures f;
	const struct op *look_up, *store;

	/* No call has a partner with another descriptor: starts crowd each other out. */
	measure("SELECT count(*), count(b.time) FROM tracepoint:syscalls:sys_enter_pread64 AS a "
		"LEFT PAIR JOIN (SELECT tid, fd, time FROM tracepoint:syscalls:sys_enter_pread64 "
		"WHERE pid = target_pid()) AS b "
		"ON a.tid = b.tid AND a.fd = b.fd + 1000000 WHERE a.fd >= 100 "
		"AND a.pid = target_pid()",
		"EXPLAIN ANALYZE ", 3, &f);
	look_up = find(&f, true, "look up");
	assert_int_equal(look_up->in, look_up->out);
	assert_int_equal(look_up->single, look_up->out);
	assert_true(look_up->single >= N_CALLS);
	store = find(&f, true, "store");
	/* Each start found no room, or took that of another, or waits at the end. */
	assert_true(store->out <= store->in);
	assert_int_equal(store->unpaired, store->in);
	assert_int_equal(f.matched, N_CALLS);
}

/* The same in user space: the kernel's scans stream all that comes. */
static void test_unpushed(void **state)
{
	const struct op *stream, *join, *project;
	struct figures f;

	measure(SPANS, "SET pushdown = off; EXPLAIN ANALYZE ", 0, &f);
	stream = find(&f, true, "stream");
	join = find(&f, false, "Pair join");
	project = find(&f, false, "Project");
	assert_int_equal(stream->in, stream->out);
	assert_true(stream->out >= 2 * N_CALLS);
	assert_true(join->out >= N_CALLS);
	expect_join(&f, false, "Pair join", "Filter");
	assert_int_equal(project->in, N_CALLS);
	assert_int_equal(project->out, N_CALLS);
	assert_true(find_room(&f, "ring buffer")->used > 0);
	assert_true(find_room(&f, "ring buffer")->used <= find_room(&f, "ring buffer")->size);
}

#define GROUPS(keys, with)                                                                         \
	"SELECT " keys ", count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE " CALLS        \
	" GROUP BY " keys " WITH (max_groups = 4" with ")"

/* What groups take up, and of how much, in each layout of the state. */
static void test_rooms(void **state)
{
	const u64 n_cpus = (u64)libbpf_num_possible_cpus();
	const struct room *window;
	struct figures f;

	/* As many as the key may have values, whatever max_groups is; and of each CPU. */
	measure(GROUPS("fd & 15", ""), "SET access_path = raw; EXPLAIN ANALYZE ", 0, &f);
	window = find_room(&f, "groups of a window");
	assert_int_equal(window->used, N_FDS);
	assert_int_equal(window->size, 16);
	assert_int_equal(f.n_rooms, 1);
	measure(GROUPS("fd & 15, cpu", ""), "SET access_path = raw; EXPLAIN ANALYZE ", 0, &f);
	window = find_room(&f, "groups of a window");
	assert_int_equal(window->used, f.rows);
	assert_int_equal(window->size, 16 * n_cpus);
	/* Four find room on each CPU. */
	measure(GROUPS("fd", ""), "SET access_path = raw; EXPLAIN ANALYZE ", 3, &f);
	window = find_room(&f, "groups of a window");
	assert_int_equal(window->used, f.rows - 1);
	assert_int_equal(window->size, 4 * n_cpus);
	assert_int_equal(find_room(&f, "groups of one CPU")->used, 4);
	assert_int_equal(find_room(&f, "groups of one CPU")->size, 4);
	/* So it is in the map, but that the CPUs share it. */
	measure(GROUPS("fd % 2, cpu", ", state = kernel_map"),
		"SET access_path = raw; EXPLAIN ANALYZE ", 0, &f);
	window = find_room(&f, "groups of a window");
	assert_int_equal(window->used, f.rows);
	assert_int_equal(window->size, 4 * n_cpus);
	assert_int_equal(find_room(&f, "groups by CPU in the map")->used, f.rows);
	assert_int_equal(find_room(&f, "groups by CPU in the map")->size, 4 * n_cpus);
}

/* A run that ends amid a load: what is said of all is what is said of each. */
static void test_limit(void **state)
{
	const struct op *scan, *filter;
	struct figures f;

	for (u32 i = 0; i < 3; i++) {
		measure_calls("SELECT fd FROM tracepoint:syscalls:sys_enter_pread64 WHERE " CALLS
			      " LIMIT 10",
			      "SET access_path = raw; EXPLAIN ANALYZE ", "100000000", 0, &f);
		scan = find(&f, true, "scan");
		filter = find(&f, true, "where");
		assert_int_equal(f.rows, 10);
		assert_true(filter->out >= 10);
		assert_int_equal(f.events, scan->out);
		assert_int_equal(f.matched, filter->out);
	}
}

/* Rows that stream, with their figures on standard error. */
static void test_stats(void **state)
{
	const char *argv[] = { proc_ebql(),
			       "--stats",
			       "-o",
			       "csv",
			       "SELECT fd FROM tracepoint:syscalls:sys_enter_pread64 WHERE " CALLS,
			       "--",
			       proc_loadgen(),
			       LOADGEN,
			       NULL };
	struct proc proc = { 0 };
	char line[64];
	u32 n = 0;

	session_require();
	proc_start(&proc, argv, 0);
	proc_close_in(&proc);
	assert_int_equal(proc_wait_exit(&proc, EXIT_MS), 0);
	for (const char *at = proc.out_text.at; (at = strstr(at, "\n10")); at++)
		n++;
	assert_true(n >= N_CALLS);
	snprintf(line, sizeof(line), "%14s%14s%14s  stream\n", "4,000", "4,000", "");
	assert_non_null(strstr(proc.err_text.at, line));
	assert_non_null(strstr(proc.err_text.at, "% of a core"));
	assert_null(strstr(proc.out_text.at, "% of a core"));
	proc_forget(&proc);
}

/* --- The kernel's measuring --- */

static bool is_measuring(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_info info = { 0 };
	u32 n_bytes = sizeof(info);
	u64 context = 0;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &context, .ctx_size_in = sizeof(context));
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", insns, ARRAY_SIZE(insns),
			       NULL);

	assert_true(fd >= 0);
	assert_int_equal(bpf_prog_test_run_opts(fd, &opts), 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &n_bytes), 0);
	close(fd);
	return info.run_cnt > 0;
}

static void run_and_end(const char *statement, bool is_measured, int signal)
{
	char text[256];
	const char *argv[] = { proc_ebql(), "--verbose", text, NULL };
	struct proc proc = { 0 };

	snprintf(text, sizeof(text), "%sSELECT count(*) FROM rt:sched_switch", statement);
	proc_start(&proc, argv, 0);
	assert_true(proc_wait_text(&proc, "attached", EXIT_MS));
	assert_int_equal(is_measuring(), is_measured);
	proc_signal(&proc, signal);
	proc_wait_exit(&proc, EXIT_MS);
	for (u32 i = 0; is_measuring() && i < 500; i++)
		usleep(10000);
	assert_false(is_measuring());
	proc_forget(&proc);
}

static void test_measuring_ends(void **state)
{
	session_require();
	if (is_measuring()) {
		print_message("SKIP: somebody else measures all programs\n");
		skip();
	}
	run_and_end("", false, SIGINT);
	run_and_end("EXPLAIN ANALYZE ", true, SIGINT);
	run_and_end("EXPLAIN ANALYZE ", true, SIGKILL);
}

/* The last test: from here on no process that is started has the capability. */
static void test_not_measured(void **state)
{
	const char *argv[] = { proc_ebql(), "-n", "1",
			       "EXPLAIN ANALYZE SELECT count(*) FROM rt:sched_switch "
			       "WINDOW TUMBLING 50ms",
			       NULL };
	struct proc proc = { 0 };

	session_require();
	assert_int_equal(prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN), 0);
	proc_start(&proc, argv, 0);
	if (proc_wait_exit(&proc, EXIT_MS) != 0)
		fail_msg("status %d: %s", proc.status, proc.err_text.at);
	assert_non_null(strstr(proc.err_text.at, "warning[no-run-time]"));
	assert_non_null(strstr(proc.out_text.at, "scan s0"));
	assert_null(strstr(proc.out_text.at, "measuring"));
	proc_forget(&proc);
}

static int end_all(void **state)
{
	proc_end_all();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_filter_and_having, end_all),
		cmocka_unit_test_teardown(test_join, end_all),
		cmocka_unit_test_teardown(test_left_join, end_all),
		cmocka_unit_test_teardown(test_unpushed, end_all),
		cmocka_unit_test_teardown(test_rooms, end_all),
		cmocka_unit_test_teardown(test_limit, end_all),
		cmocka_unit_test_teardown(test_stats, end_all),
		cmocka_unit_test_teardown(test_measuring_ends, end_all),
		cmocka_unit_test_teardown(test_not_measured, end_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
