/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What functions of the kernel are called with, and what probes of them miss, by many queries of
 * one ebql watch over a workload of known calls: narrow and signed arguments, more than six, a
 * place behind the entry, two patterns of the same functions, a probe that is hit in another's
 * program, and more calls under way than a kretprobe has room for.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "watch.h"

enum { CALLS = 40, THREADS = 24, KEYS = 4 };

/* PID is the workload's, OFFSET that of a later instruction of write_null(). */
static const struct {
	const char *name, *path, *text;
	struct {
		s64 k;
		u64 n;
	} keys[KEYS]; /* n 0: there is no more */
} queries[] = {
	{ "bool",
	  "kprobe",
	  "SELECT exec AS k, count(*) AS n FROM kprobe:__set_task_comm WHERE pid = PID GROUP BY k",
	  { { 0, CALLS } } },
#define SPLICE                                                                                     \
	"SELECT for_splice AS k, count(*) AS n FROM kprobe:get_pipe_info WHERE pid = PID GROUP BY k"
	{ "splice_by_trampoline", "fentry", SPLICE, { { 1, 4 * CALLS } } },
	{ "splice", "kprobe", SPLICE, { { 1, 4 * CALLS } } },
#define U8                                                                                         \
	"SELECT pf AS k, count(*) AS n FROM kprobe:nf_setsockopt WHERE pid = PID AND val = 4000 "  \
	"GROUP BY k"
	{ "u8_by_trampoline", "fentry", U8, { { PF_INET, CALLS }, { PF_INET6, 2 * CALLS } } },
	{ "u8", "kprobe", U8, { { PF_INET, CALLS }, { PF_INET6, 2 * CALLS } } },
/* Messages come with two flags of their own. */
#define S16                                                                                        \
	"SELECT flag AS k, count(*) AS n FROM kprobe:ipcperms WHERE pid = PID AND flag <> 146 "    \
	"AND flag <> 292 GROUP BY k"
	{ "s16_by_trampoline", "fentry", S16, { { -32384, CALLS }, { 16768, CALLS } } },
	{ "s16", "kprobe", S16, { { -32384, CALLS }, { 16768, CALLS } } },
	/* It stands on the stack. */
	{ "seventh",
	  "auto",
	  "SELECT val3 AS k, count(*) AS n FROM kprobe:do_futex WHERE pid = PID AND op = 138 "
	  "GROUP BY k",
	  { { 1, CALLS }, { 0x80000002, CALLS } } },
	{ "place",
	  "kprobe",
	  "SELECT 1 AS k, count(*) AS n FROM kprobe:write_null+OFFSET WHERE pid = PID",
	  { { 1, CALLS } } },
	{ "entry",
	  "kprobe",
	  "SELECT count AS k, count(*) AS n FROM kprobe:write_null WHERE pid = PID GROUP BY k",
	  { { 7, CALLS } } },
	{ "entry_and_place",
	  "auto",
	  "SELECT k, count(*) AS n FROM (SELECT count AS k FROM kprobe:write_null WHERE pid = PID "
	  "UNION ALL SELECT 1 AS k FROM kprobe:write_null+OFFSET WHERE pid = PID) GROUP BY k",
	  { { 1, CALLS }, { 7, CALLS } } },
	/* Of the same functions. */
	{ "pattern",
	  "kprobe",
	  "SELECT count AS k, count(*) AS n FROM kprobe:\"write_[nf]ul*\" WHERE pid = PID GROUP BY k",
	  { { 7, CALLS }, { 9, 2 * CALLS } } },
	{ "pattern_other",
	  "kprobe",
	  "SELECT count AS k, count(*) AS n FROM kprobe:\"write_[fn]ul*\" WHERE pid = PID GROUP BY k",
	  { { 7, CALLS }, { 9, 2 * CALLS } } },
	/* Its program calls what the next one has a probe on. */
	{ "caller",
	  "kprobe",
	  "SELECT 1 AS k, count(*) AS n, sum(user(buf, 'struct iovec').iov_len) AS s FROM "
	  "kprobe:vfs_read WHERE pid = PID AND count = 11",
	  { { 1, CALLS } } },
	{ "called",
	  "kprobe",
	  "SELECT 1 AS k, 1 + count(*) AS n FROM kprobe:copy_from_user_nofault",
	  { { 1, 1 } } },
	{ "many",
	  "kprobe",
	  "SELECT 1 AS k, count(*) AS n FROM kretprobe:" CALL_PREFIX "msgrcv WHERE pid = PID",
	  {} },
};

/* --- The workload --- */

static __attribute__((noreturn)) void fail_work(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

static int messages; /* the queue's ID */

static void *receive(void *context)
{
	struct {
		long type;
		char byte;
	} message;

	__atomic_store_n((int *)context, gettid(), __ATOMIC_RELEASE);
	return msgrcv(messages, &message, 1, 0, 0) == 1 ? NULL : context;
}

/* In the call, and asleep there? */
static bool is_waiting(int tid)
{
	char path[64];
	int nr = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = tid ? fopen(path, "re") : NULL;
	if (!file || fscanf(file, "%d", &nr) != 1)
		nr = -1;
	if (file)
		fclose(file);
	return nr == SYS_msgrcv;
}

/* All of them are in the call at once. */
static void receive_all(void)
{
	static const struct {
		long type;
		char byte;
	} message = { 1, 'x' };
	pthread_t threads[THREADS];
	int tids[THREADS] = { 0 };
	void *failed;

	for (u32 i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, receive, &tids[i]))
			fail_work("pthread_create");
	for (u32 i = 0; i < THREADS; i++)
		while (!is_waiting(__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE)))
			usleep(1000);
	for (u32 i = 0; i < THREADS; i++)
		if (msgsnd(messages, &message, 1, 0))
			fail_work("msgsnd");
	for (u32 i = 0; i < THREADS; i++)
		if (pthread_join(threads[i], &failed) || failed)
			fail_work("msgrcv");
}

static void call_all(int file_fd, int null_fd, int full_fd, const int sockets[2], int ends[2])
{
	char bytes[16] = "";
	u32 word = 0;

	for (u32 i = 0; i < CALLS; i++) {
		if (prctl(PR_SET_NAME, "ebql_probes") ||
		    splice(file_fd, &(loff_t){ 0 }, ends[1], NULL, 1, 0) != 1 ||
		    read(ends[0], bytes, 1) != 1)
			fail_work("splice");
		for (u32 k = 0; k < 3; k++)
			if (!setsockopt(sockets[k > 0], k ? SOL_IPV6 : SOL_IP, 4000, bytes, 4))
				fail_work("setsockopt");
		/* What is above 16 bits is nobody's. */
		if (msgget(4711, 0x7f018180) != messages || msgget(4711, 0x10004180) != messages)
			fail_work("msgget");
		syscall(SYS_futex, &word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 1);
		syscall(SYS_futex, &word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 0x80000002);
		if (write(null_fd, bytes, 7) != 7 || write(full_fd, bytes, 9) >= 0 ||
		    write(full_fd, bytes, 9) >= 0 || pread(file_fd, bytes, 11, 0) != 11)
			fail_work("write");
	}
}

static int work(void)
{
	int file_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ends[2];
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int sockets[2] = { socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
			   socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0) };
	char line[32];

	messages = msgget(4711, IPC_CREAT | 0600);
	if (file_fd < 0 || null_fd < 0 || full_fd < 0 || sockets[0] < 0 || sockets[1] < 0 ||
	    messages < 0 || pipe2(ends, O_CLOEXEC))
		fail_work("begin");
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		call_all(file_fd, null_fd, full_fd, sockets, ends);
		receive_all();
		work_answer("done\n");
	}
	msgctl(messages, IPC_RMID, NULL);
	return 0;
}

/* --- */

struct seen {
	struct watch watch;
	struct {
		s64 k;
		u64 n;
	} rows[KEYS + 1];
	u32 n_rows;
	u64 n_many, missed[ARRAY_SIZE(queries)];
	u32 n_batches;
	char folder[32];
};

static void take_row(void *context, const struct line *line)
{
	struct seen *s = context;

	assert_true(s->n_rows <= KEYS);
	if (line_leaf(line, "k"))
		s->rows[s->n_rows].k = (s64)line_leaf(line, "k")->integer;
	s->rows[s->n_rows++].n = line_number(line, "n");
}

/* Rows of a query are ahead of its batch. */
static void take_batch(void *context, const struct line *line)
{
	const char *name = line_text(line, "_batch.query");
	struct seen *s = context;
	u32 q = 0, n = 0;

	while (q < ARRAY_SIZE(queries) && strcmp(queries[q].name, name) != 0)
		q++;
	assert_true(q < ARRAY_SIZE(queries));
	s->missed[q] = line_number(line, "_batch.lost.missed");
	s->n_batches++;
	if (!queries[q].keys[0].n) {
		s->n_many = s->rows[0].n;
	} else {
		for (; n < KEYS && queries[q].keys[n].n; n++) {
			u32 i = 0;

			while (i < s->n_rows && s->rows[i].k != queries[q].keys[n].k)
				i++;
			if (i == s->n_rows || s->rows[i].n != queries[q].keys[n].n)
				fail_msg("%s: %lld: %llu, not %llu", name,
					 (long long)queries[q].keys[n].k,
					 (unsigned long long)(i < s->n_rows ? s->rows[i].n : 0),
					 (unsigned long long)queries[q].keys[n].n);
		}
		if (s->n_rows != n)
			fail_msg("%s: %u rows", name, s->n_rows);
	}
	s->n_rows = 0;
}

static bool has_probes(void)
{
	return !access("/sys/bus/event_source/devices/kprobe", F_OK);
}

/* Where an instruction behind the entry begins: behind endbr64, if there is one, and the call that
 * tracing uses. */
static u32 find_offset(void)
{
	static const u32 offsets[] = { 9, 5 };
	u32 type = 0;
	FILE *file = fopen("/sys/bus/event_source/devices/kprobe/type", "re");

	assert_true(file && fscanf(file, "%u", &type) == 1);
	fclose(file);
	for (u32 i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct perf_event_attr attr = { .type = type,
						.size = sizeof(attr),
						.kprobe_func = (u64)(unsigned long)"write_null",
						.probe_offset = offsets[i] };
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

		if (fd >= 0) {
			close(fd);
			return offsets[i];
		}
	}
	fail_msg("no instruction of write_null() is known: %s", strerror(errno));
	return 0;
}

static void put(FILE *file, const char *text, int pid, u32 offset)
{
	for (; *text; text++) {
		if (!strncmp(text, "PID", 3)) {
			fprintf(file, "%d", pid);
			text += 2;
		} else if (!strncmp(text, "OFFSET", 6)) {
			fprintf(file, "%u", offset);
			text += 5;
		} else {
			putc(*text, file);
		}
	}
}

static void query_path(const struct seen *s, u32 q, char path[64])
{
	snprintf(path, 64, "%s/%s.sql", s->folder, queries[q].name);
}

static void write_queries(struct seen *s)
{
	u32 offset = has_probes() ? find_offset() : 9;
	char path[64];

	strcpy(s->folder, "/tmp/ebql_probes_XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	for (u32 q = 0; q < ARRAY_SIZE(queries); q++) {
		FILE *file;

		query_path(s, q, path);
		file = fopen(path, "we");
		assert_non_null(file);
		fprintf(file, "SET access_path = %s;\n", queries[q].path);
		put(file, queries[q].text, s->watch.pid, offset);
		assert_int_equal(fclose(file), 0);
	}
}

/* The kernel's links that are trampolines of that function. */
static u32 count_trampolines(const char *function)
{
	int id = libbpf_find_vmlinux_btf_id(function, BPF_TRACE_FENTRY);
	u32 n = 0, link = 0;

	assert_true(id > 0);
	while (!bpf_link_get_next_id(link, &link)) {
		struct bpf_link_info info = { 0 };
		int fd = bpf_link_get_fd_by_id(link);
		u32 size = sizeof(info);

		if (fd < 0)
			continue;
		assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
		n += info.type == BPF_LINK_TYPE_TRACING &&
		     info.tracing.attach_type == BPF_TRACE_FENTRY &&
		     info.tracing.target_btf_id == (u32)id;
		close(fd);
	}
	return n;
}

static u32 version(void)
{
	u32 major = 0, minor = 0;
	struct utsname name;

	assert_int_equal(uname(&name), 0);
	assert_int_equal(sscanf(name.release, "%u.%u", &major, &minor), 2);
	return major * 100 + minor;
}

static u64 missed(const struct seen *s, const char *name)
{
	for (u32 q = 0; q < ARRAY_SIZE(queries); q++)
		if (!strcmp(queries[q].name, name))
			return s->missed[q];
	fail();
	return 0;
}

static void start(struct seen *s, size_t n_run)
{
	const char *argv[] = { proc_ebql(), "watch", "--allow-payload",
			       "-o",	    "json",  "--socket",
			       NULL,	    NULL,    NULL };
	char path[64], told[32];

	watch_begin(&s->watch, take_row, s);
	s->watch.reader.batch = take_batch;
	s->watch.ebql.sink = reader_feed;
	s->watch.ebql.sink_context = &s->watch.reader;
	write_queries(s);
	snprintf(path, sizeof(path), "%s/socket", s->folder);
	snprintf(told, sizeof(told), "%zu of %zu queries run", n_run, ARRAY_SIZE(queries));
	argv[6] = path;
	argv[7] = s->folder;
	proc_start(&s->watch.ebql, argv, 0);
	if (!proc_wait_text(&s->watch.ebql, told, 60000))
		fail_msg("%s", s->watch.ebql.err_text.at);
}

static void forget_queries(const struct seen *s)
{
	char path[64];

	for (u32 q = 0; q < ARRAY_SIZE(queries); q++) {
		query_path(s, q, path);
		unlink(path);
	}
	rmdir(s->folder);
}

static void test_probes(void **state)
{
	bool tells_missed = version() >= 607;
	struct seen *s = *state;

	start(s, ARRAY_SIZE(queries));
	/* What one asks for by trampolines is one, and what another wants by a kprobe is none. */
	assert_int_equal(count_trampolines("nf_setsockopt"), 1);
	assert_int_equal(count_trampolines("do_futex"), version() >= 606);
	assert_int_equal(count_trampolines("write_null"), 1);
	assert_int_equal(count_trampolines("vfs_read"), 0);
	watch_tell(&s->watch, "go", "done\n");
	proc_signal(&s->watch.ebql, SIGINT);
	if (proc_wait_exit(&s->watch.ebql, 60000) < 0)
		fail_msg("%s", s->watch.ebql.err_text.at);
	assert_string_equal(s->watch.reader.error, "");
	assert_int_equal(s->n_batches, ARRAY_SIZE(queries));
	assert_int_equal(s->watch.reader.totals.lost, missed(s, "called") + missed(s, "many"));
	assert_int_equal(missed(s, "called"), tells_missed ? CALLS : 0);
	/* A kretprobe has room for ten calls, or two for each CPU. */
	assert_true(s->n_many >= 10 && s->n_many < THREADS);
	assert_int_equal(missed(s, "many"), tells_missed ? THREADS - s->n_many : 0);
	forget_queries(s);
}

/* A kernel without any says so of each. */
static void test_refused(void **state)
{
	struct seen *s = *state;
	const char *at;
	u32 n = 0;

	start(s, 0);
	proc_signal(&s->watch.ebql, SIGINT);
	assert_true(proc_wait_exit(&s->watch.ebql, 60000) >= 0);
	for (at = s->watch.ebql.err_text.at; (at = strstr(at, "error[")); at++)
		n++;
	assert_int_equal(n, ARRAY_SIZE(queries));
	assert_non_null(strstr(s->watch.ebql.err_text.at, "this kernel has no kprobes"));
	forget_queries(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { WATCH_TEST(test_probes, struct seen) };
	const struct CMUnitTest refusals[] = { WATCH_TEST(test_refused, struct seen) };

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	if (!has_probes())
		return cmocka_run_group_tests_name("probes", refusals, NULL, NULL);
	return cmocka_run_group_tests_name("probes", tests, NULL, NULL);
}
