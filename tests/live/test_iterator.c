/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lists of the kernel against what this test has made: a process of 301 threads and 500 open files,
 * sockets in a network of their own, maps.  Each row is there once, with the very values, whether
 * its conditions are tested in the kernel or not, also where the kernel's buffer is too small.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum { THREADS = 300, FILES = 500, FIRST_FD = 100, SOCKETS = 20, MAPS = 7, RUNS = 1000 };

/* Where its CPUs have their memory BTF of arm64 does not say. */
#ifdef __aarch64__
#define HAS_RUNS false
#else
#define HAS_RUNS true
#endif

static void need(bool is_so, const char *what)
{
	if (!is_so) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

/* --- The workload: threads of names of their own, and files --- */

static pthread_barrier_t barrier;

/* Thread i calls i + 1 times, when it is told to, and stays. */
static void *be_thread(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "it-%03u", (u32)(uintptr_t)number);
	prctl(PR_SET_NAME, name);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (u32 i = 0; i <= (uintptr_t)number; i++)
		syscall(SYS_getppid);
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

static void open_files(void)
{
	char folder[] = "/tmp/ebql-iterator-XXXXXX", path[128];
	struct rlimit room = { FIRST_FD + FILES + 50, FIRST_FD + FILES + 50 };

	need(mkdtemp(folder) && !setrlimit(RLIMIT_NOFILE, &room), folder);
	for (u32 i = 0; i < FILES; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/file-%03u", folder, i);
		fd = open(path, O_RDWR | O_CREAT, 0600);
		need(fd >= 0 && dup2(fd, (int)(FIRST_FD + i)) >= 0, path);
		need(lseek(fd, i, SEEK_SET) == i && !unlink(path), path);
		close(fd);
	}
	rmdir(folder);
}

static int work(void)
{
	pthread_attr_t small;
	char line[32];

	open_files();
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (uintptr_t i = 0; i < THREADS; i++) {
		pthread_t thread;

		need(!pthread_create(&thread, &small, be_thread, (void *)i), "thread");
	}
	pthread_barrier_wait(&barrier);
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		work_answer("done\n");
	}
	return 0;
}

/* A PID namespace, whose first process becomes the query. */
static int work_in_namespace(const char *query)
{
	int status = 1, pid;

	need(!unshare(CLONE_NEWPID | CLONE_NEWNS), "unshare");
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		need(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
			     !mount("proc", "/proc", "proc", 0, NULL),
		     "proc");
		prctl(PR_SET_NAME, "it-first");
		pid = fork();
		if (!pid && !prctl(PR_SET_NAME, "it-second"))
			raise(SIGSTOP);
		need(waitpid(pid, NULL, WUNTRACED) == pid, "second");
		execl(proc_ebql(), proc_ebql(), "-o", "json", query, NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* --- What ebql says --- */

enum { ROWS_MAX = 2048, TEXT_BYTES = 32, LIMIT_MS = 60000 };

static struct seen {
	struct watch watch;
	struct row {
		u64 key, number[6];
		char text[TEXT_BYTES];
	} rows[ROWS_MAX];
	u32 n;
	u64 n_faults, n_readings; /* those that had some */
} seen;

/* Columns k, a, b, c, d, e, f are numbers, and s a text. */
static void take_row(void *context, const struct line *line)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	struct row *row = &seen.rows[seen.n];

	assert_true(seen.n < ROWS_MAX);
	seen.n++;
	row->key = line_number(line, "k");
	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		row->number[i] = line_number(line, names[i]);
	snprintf(row->text, sizeof(row->text), "%s",
		 line_leaf(line, "s") ? line_text(line, "s") : "");
}

static void take_batch(void *context, const struct line *line)
{
	seen.n_faults += line_number(line, "_batch.lost.fault");
	seen.n_readings += line_number(line, "_batch.lost.fault") > 0;
}

static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* To its end; the rows by their keys. */
static void run(const char *const *argv)
{
	struct proc ebql = { .sink = reader_feed, .sink_context = &seen.watch.reader };
	int status;

	seen.n = seen.n_faults = seen.n_readings = 0;
	seen.watch.reader.batch = take_batch;
	proc_start(&ebql, argv, 0);
	status = proc_wait_exit(&ebql, LIMIT_MS);
	if (status != 0 && status != 3)
		fail_msg("ebql exits with %d: %s", status,
			 ebql.err_text.n ? ebql.err_text.at : "silent");
	assert_string_equal(seen.watch.reader.error, "");
	proc_forget(&ebql);
	qsort(seen.rows, seen.n, sizeof(*seen.rows), by_key);
}

static PRINTF(2, 3) void run_query(const char *settings, const char *format, ...)
{
	const char *argv[] = { proc_ebql(), "-o", "json", NULL, NULL };
	char query[2048], text[2200];
	va_list args;

	va_start(args, format);
	vsnprintf(query, sizeof(query), format, args);
	va_end(args);
	snprintf(text, sizeof(text), "%s%s", settings, query);
	argv[3] = text;
	run(argv);
}

/* Conditions in the kernel; all rules off; the rule alone off; nothing in the kernel. */
static const char *ways[] = { "", "SET rules_off = 'all'; ", "SET rules_off = 'tables'; ",
			      "SET pushdown = off; " };

/* --quick (slow guests): the first and the last. */
static u32 n_ways = ARRAY_SIZE(ways);

static int setup(void **state)
{
	seen.n = seen.n_faults = seen.n_readings = 0;
	watch_require();
	watch_open(&seen.watch, take_row, NULL);
	return 0;
}

static int setup_work(void **state)
{
	seen.n = seen.n_faults = seen.n_readings = 0;
	watch_begin(&seen.watch, take_row, NULL);
	return 0;
}

static int teardown(void **state)
{
	watch_close(&seen.watch);
	return 0;
}

static const struct row *row_of(u64 key)
{
	const struct row wanted = { .key = key };

	return bsearch(&wanted, seen.rows, seen.n, sizeof(wanted), by_key);
}

/* --- Threads --- */

/* /proc tells which threads there are, and the threads what they are called. */
static void expect_threads(void)
{
	char path[64], name[16];
	bool has[THREADS] = { false };
	struct dirent *entry;
	u32 n = 0, number;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", seen.watch.pid);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		u64 tid = strtoul(entry->d_name, NULL, 10);
		const struct row *row = row_of(tid);

		if (!tid)
			continue;
		n++;
		if (!row)
			fail_msg("thread %s is missing", entry->d_name);
		assert_int_equal(row->number[0], seen.watch.pid);
		assert_int_equal(row->number[1], getpid());
		assert_int_equal(row->number[2], THREADS + 1);
		assert_int_equal(row->number[3], 0);
		if (tid == (u64)seen.watch.pid || sscanf(row->text, "it-%u", &number) != 1)
			continue;
		snprintf(name, sizeof(name), "it-%03u", number);
		assert_string_equal(row->text, name);
		assert_true(number < THREADS && !has[number]);
		has[number] = true;
	}
	closedir(folder);
	assert_int_equal(n, THREADS + 1);
	assert_int_equal(seen.n, n);
	for (u32 i = 0; i < THREADS; i++)
		assert_true(has[i]);
}

static void test_threads(void **state)
{
	for (u32 i = 0; i < n_ways; i++) {
		run_query(ways[i],
			  "SELECT tid AS k, pid AS a, ppid AS b, threads AS c, uid AS d, comm AS s "
			  "FROM iter:task WHERE pid = %d",
			  seen.watch.pid);
		expect_threads();
	}
}

/* Rows of more than the kernel's 32 KiB in all; a fault of each, which none counts twice. */
static void test_overflow(void **state)
{
	for (u32 i = 0; i < n_ways; i++) {
		run_query(
			ways[i],
			"SELECT tid AS k, pid AS a, ppid AS b, threads AS c, uid AS d, comm AS s, "
			"gid, cpu, start_time, runtime, utime, stime, vm_pages, is_kernel, cgroup, "
			"state, task.prio, task.static_prio, task.exit_code, task.exit_signal, "
			"task.nvcsw, task.nivcsw, task.min_flt, task.maj_flt FROM iter:task "
			"WHERE pid = %d AND (100 / (threads - %d) IS NULL OR tid = 0)",
			seen.watch.pid, THREADS + 1);
		expect_threads();
		assert_int_equal(seen.n_faults, THREADS + 1);
	}
}

/* What threads did is joined to what they are called, in each window; they live behind the last. */
static void test_windows(void **state)
{
	u64 n[THREADS] = { 0 };
	u32 number;

	watch_ebql(&seen.watch,
		   "SELECT t.comm AS s, count(*) AS a FROM tracepoint:syscalls:sys_enter_getppid r "
		   "JOIN iter:task t ON r.current.tid = t.tid WHERE t.pid = %d GROUP BY t.comm "
		   "WINDOW TUMBLING 50ms",
		   seen.watch.pid);
	watch_tell(&seen.watch, "call", "done\n");
	watch_end(&seen.watch, 0);
	for (u32 i = 0; i < seen.n; i++) {
		assert_int_equal(sscanf(seen.rows[i].text, "it-%u", &number), 1);
		assert_true(number < THREADS);
		n[number] += seen.rows[i].number[0];
	}
	for (u32 i = 0; i < THREADS; i++)
		assert_int_equal(n[i], i + 1);
}

/* Windows that events end, and that end together, have one reading, and its faults once. */
static void test_shared_reading(void **state)
{
	watch_ebql(&seen.watch,
		   "SELECT count(*) AS a FROM tracepoint:syscalls:sys_enter_getppid r JOIN "
		   "(SELECT tid FROM iter:task WHERE pid = %d AND 100 / (threads - %d) IS NULL) t "
		   "ON r.current.tid = t.tid WHERE r.current.pid = %d WINDOW COUNT 100",
		   seen.watch.pid, THREADS + 1, seen.watch.pid);
	seen.watch.reader.batch = take_batch;
	watch_tell(&seen.watch, "call", "done\n");
	watch_end(&seen.watch, 3);
	assert_true(seen.n_readings > 0 && seen.n_readings < seen.n);
	assert_int_equal(seen.n_faults, seen.n_readings * (THREADS + 1));
}

static void test_clock(void **state)
{
	run_query("", "SELECT count(*) AS a, 1 AS k FROM iter:task WHERE pid = %d LIMIT 1",
		  seen.watch.pid);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.rows[0].number[0], THREADS + 1);

	for (u32 i = 0; i < 2; i++) {
		char query[256];
		const char *argv[] = { proc_ebql(),	     "-o",   "json", "-n", "3", query,
				       i ? NULL : "--every", "50ms", NULL };

		snprintf(query, sizeof(query),
			 "SELECT count(*) AS a, 1 AS k FROM iter:task WHERE pid = %d%s",
			 seen.watch.pid, i ? " WINDOW TUMBLING 50ms" : "");
		run(argv);
		assert_true(seen.n >= 3);
		for (u32 k = 0; k < seen.n; k++)
			assert_int_equal(seen.rows[k].number[0], THREADS + 1);
	}
}

/* Where the list cannot be opened once more the run ends. */
static void test_refused(void **state)
{
	struct rlimit none = { 8, 8 }; /* poll() must take as many as it has */

	watch_ebql(&seen.watch, "SELECT count(*) AS a FROM iter:task WINDOW TUMBLING 100ms");
	while (!seen.n)
		proc_pump(10);
	prlimit(seen.watch.ebql.pid, RLIMIT_NOFILE, &none, NULL);
	assert_int_equal(proc_wait_exit(&seen.watch.ebql, LIMIT_MS), 1);
	assert_non_null(strstr(seen.watch.ebql.err_text.at,
			       "error[iterator-read]: cannot read iter:task: Too many open files"));
}

/* Users without rights are told what it takes. */
static void test_nobody(void **state)
{
	const char *argv[] = { proc_ebql(), "SELECT count(*) FROM iter:task", NULL };
	struct proc ebql = { 0 };

	proc_start(&ebql, argv, PROC_NOBODY);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 1);
	assert_non_null(strstr(ebql.err_text.at, "error[no-privilege]"));
	proc_forget(&ebql);
}

/* Of a PID namespace those of it alone, as it numbers them. */
static void test_namespace(void **state)
{
	const char *argv[] = { "/proc/self/exe", "--namespace",
			       "SELECT pid AS k, tid AS a, ppid AS b, comm AS s FROM iter:task",
			       NULL };

	run(argv);
	assert_int_equal(seen.n, 2);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(seen.rows[i].key, i + 1);
		assert_int_equal(seen.rows[i].number[0], i + 1);
		assert_int_equal(seen.rows[i].number[1], i);
	}
	assert_string_equal(seen.rows[0].text, "ebql");
	assert_string_equal(seen.rows[1].text, "it-second");
}

/* --- Files --- */

static void test_files(void **state)
{
	char path[64], name[16];
	struct stat file;

	for (u32 i = 0; i < n_ways; i++) {
		run_query(ways[i],
			  "SELECT fd AS k, pid AS a, inode AS b, pos AS c, dev AS d, mode AS e, "
			  "flags AS f, name AS s FROM iter:task_file WHERE pid = %d AND fd >= %u",
			  seen.watch.pid, FIRST_FD);
		assert_int_equal(seen.n, FILES);
		assert_int_equal(seen.n_faults, 0);
		for (u32 k = 0; k < FILES; k++) {
			const struct row *row = &seen.rows[k];

			snprintf(path, sizeof(path), "/proc/%d/fd/%u", seen.watch.pid,
				 FIRST_FD + k);
			snprintf(name, sizeof(name), "file-%03u", k);
			assert_int_equal(stat(path, &file), 0);
			assert_int_equal(row->key, FIRST_FD + k);
			assert_int_equal(row->number[0], seen.watch.pid);
			assert_int_equal(row->number[1], file.st_ino);
			assert_int_equal(row->number[2], k);
			assert_int_equal(row->number[4], file.st_mode);
			assert_int_equal(row->number[5] & O_ACCMODE, O_RDWR);
			assert_string_equal(row->text, name);
		}
	}
}

/* --- Sockets --- */

static void enter_own_network(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	need(unshare(CLONE_NEWNET) == 0, "unshare");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	need(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0, "loopback");
	close(fd);
}

static struct sockaddr_in address_of(u16 port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int bound(int type, u16 port)
{
	struct sockaddr_in address = address_of(port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	need(fd >= 0 && !bind(fd, (void *)&address, sizeof(address)), "bind");
	return fd;
}

/* From port to port. */
static int connected(int type, u16 from, u16 to)
{
	struct sockaddr_in address = address_of(to);
	int fd = bound(type, from);

	need(!connect(fd, (void *)&address, sizeof(address)), "connect");
	return fd;
}

static u64 inode_of(int fd)
{
	struct stat file;

	assert_int_equal(fstat(fd, &file), 0);
	return file.st_ino;
}

#define TCP_ROWS                                                                                    \
	"SELECT lport * 65536 + rport AS k, state AS a, laddr AS b, rx_queue AS c, tx_queue AS d, " \
	"inode AS e, uid AS f FROM iter:tcp WHERE family = 2"

static void expect_tcp(u16 from, u16 to, u64 state, u64 rx_queue, int fd)
{
	const struct row *row = row_of((u64)from << 16 | to);

	if (!row)
		fail_msg("no socket from %u to %u", from, to);
	assert_int_equal(row->number[0], state);
	assert_int_equal(row->number[1], htonl(INADDR_LOOPBACK));
	assert_int_equal(row->number[2], rx_queue);
	assert_int_equal(row->number[3], 0);
	assert_int_equal(row->number[4], fd < 0 ? 0 : inode_of(fd));
	assert_int_equal(row->number[5], 0);
}

static void test_tcp(void **state)
{
	int listener, ends[SOCKETS], others[SOCKETS], waiting, closed;
	char bytes[SOCKETS * 100] = { 0 };

	listener = bound(SOCK_STREAM, 7000);
	assert_int_equal(listen(listener, 64), 0);
	for (u16 i = 0; i < SOCKETS; i++) {
		ends[i] = connected(SOCK_STREAM, 7100 + i, 7000);
		others[i] = accept(listener, NULL, NULL);
		/* So much waits at the other end. */
		assert_int_equal(write(ends[i], bytes, 100 * i), 100 * i);
	}
	waiting = connected(SOCK_STREAM, 7200, 7000);
	closed = connected(SOCK_STREAM, 7201, 7000);
	/* Both were accepted by nobody; the one that closes first waits for stragglers. */
	for (u32 i = 0; i < n_ways; i++) {
		run_query(ways[i], "%s", TCP_ROWS);
		assert_int_equal(seen.n, 1 + 2 * SOCKETS + 4);
		expect_tcp(7000, 0, 10, 2, listener);
		expect_tcp(7200, 7000, 1, 0, waiting);
		for (u16 k = 0; k < SOCKETS; k++) {
			expect_tcp(7100 + k, 7000, 1, 0, ends[k]);
			expect_tcp(7000, 7100 + k, 1, 100 * k, others[k]);
		}
	}
	close(closed);
	close(accept(listener, NULL, NULL));
	close(accept(listener, NULL, NULL));
	for (int tries = 0; tries < 100 && (!row_of(7201u << 16 | 7000) ||
					    row_of(7201u << 16 | 7000)->number[0] != 6);
	     tries++)
		run_query("", "%s", TCP_ROWS);
	expect_tcp(7201, 7000, 6, 0, -1);
	/* Whose a socket is, files tell. */
	run_query("",
		  "SELECT lport AS k, f.pid AS a, f.fd AS b FROM iter:tcp t JOIN iter:task_file f "
		  "ON t.inode = f.inode AND f.pid = %d WHERE t.lport BETWEEN 7100 AND 7119",
		  getpid());
	assert_int_equal(seen.n, SOCKETS);
	for (u32 i = 0; i < SOCKETS; i++) {
		assert_int_equal(seen.rows[i].key, 7100 + i);
		assert_int_equal(seen.rows[i].number[1], ends[i]);
		close(ends[i]);
		close(others[i]);
	}
	close(listener);
	close(waiting);
}

static void test_udp(void **state)
{
	int ends[SOCKETS], to;

	to = bound(SOCK_DGRAM, 8000);
	for (u16 i = 0; i < SOCKETS; i++)
		ends[i] = connected(SOCK_DGRAM, 8100 + i, 8000);
	assert_int_equal(write(ends[0], "x", 1), 1);
	for (u32 i = 0; i < n_ways; i++) {
		run_query(ways[i],
			  "SELECT lport AS k, rport AS a, laddr AS b, raddr AS c, rx_queue AS d, "
			  "inode AS e, uid AS f FROM iter:udp WHERE family = 2");
		assert_int_equal(seen.n, SOCKETS + 1);
		assert_int_equal(seen.rows[0].key, 8000);
		assert_true(seen.rows[0].number[3] > 0);
		assert_int_equal(seen.rows[0].number[4], inode_of(to));
		for (u16 k = 0; k < SOCKETS; k++) {
			const struct row *row = &seen.rows[k + 1];

			assert_int_equal(row->key, 8100 + k);
			assert_int_equal(row->number[0], 8000);
			assert_int_equal(row->number[1], htonl(INADDR_LOOPBACK));
			assert_int_equal(row->number[2], htonl(INADDR_LOOPBACK));
			assert_int_equal(row->number[3], 0);
			assert_int_equal(row->number[4], inode_of(ends[k]));
		}
	}
	for (u16 i = 0; i < SOCKETS; i++)
		close(ends[i]);
	close(to);
}

/* --- What BPF has --- */

static void test_maps(void **state)
{
	struct bpf_map_info infos[MAPS] = { 0 };
	int fds[MAPS];
	char name[16];

	for (u32 i = 0; i < MAPS; i++) {
		u32 n = sizeof(infos[i]);

		snprintf(name, sizeof(name), "it_map_%u", i);
		fds[i] =
			bpf_map_create(BPF_MAP_TYPE_HASH, name, 4 + 4 * i, 8 + 8 * i, 10 + i, NULL);
		need(fds[i] >= 0 && !bpf_obj_get_info_by_fd(fds[i], &infos[i], &n), name);
	}
	for (u32 i = 0; i < n_ways; i++) {
		run_query(ways[i], "SELECT id AS k, type AS a, key_bytes AS b, value_bytes AS c, "
				   "max_entries AS d, name AS s FROM iter:bpf_map "
				   "WHERE name LIKE 'it\\_map\\__' ESCAPE '\\'");
		assert_int_equal(seen.n, MAPS);
		for (u32 k = 0; k < MAPS; k++) {
			const struct row *row = row_of(infos[k].id);

			assert_non_null(row);
			assert_int_equal(row->number[0], BPF_MAP_TYPE_HASH);
			assert_int_equal(row->number[1], 4 + 4 * k);
			assert_int_equal(row->number[2], 8 + 8 * k);
			assert_int_equal(row->number[3], 10 + k);
			assert_string_equal(row->text, infos[k].name);
		}
	}
	for (u32 i = 0; i < MAPS; i++)
		close(fds[i]);
}

/* What the kernel tells of a program by its number is what the list has. */
static void test_programs(void **state)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_info info = { 0 };
	char packet[64] = { 0 };
	u32 n = sizeof(info);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "it_program", "GPL", insns, 2, NULL);
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = RUNS);

	need(fd >= 0 && stats >= 0 && !bpf_prog_test_run_opts(fd, &run) &&
		     !bpf_obj_get_info_by_fd(fd, &info, &n),
	     "program");
	assert_int_equal(info.run_cnt, RUNS);
	for (u32 i = 0; i < n_ways; i++) {
		run_query(ways[i],
			  "SELECT id AS k, type AS a, uid AS b, insns AS c, %s AS d, %s AS e, "
			  "name AS s FROM iter:bpf_prog WHERE name = 'it_program'",
			  HAS_RUNS ? "run_cnt" : "0", HAS_RUNS ? "run_time_ns" : "0");
		assert_int_equal(seen.n, 1);
		assert_int_equal(seen.rows[0].key, info.id);
		assert_int_equal(seen.rows[0].number[0], BPF_PROG_TYPE_SOCKET_FILTER);
		assert_int_equal(seen.rows[0].number[1], 0);
		assert_int_equal(seen.rows[0].number[2], info.xlated_prog_len / 8);
		assert_int_equal(seen.rows[0].number[3], HAS_RUNS ? info.run_cnt : 0);
		assert_int_equal(seen.rows[0].number[4], HAS_RUNS ? info.run_time_ns : 0);
	}
	close(stats);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_threads, setup_work, teardown),
		cmocka_unit_test_setup_teardown(test_overflow, setup_work, teardown),
		cmocka_unit_test_setup_teardown(test_windows, setup_work, teardown),
		cmocka_unit_test_setup_teardown(test_shared_reading, setup_work, teardown),
		cmocka_unit_test_setup_teardown(test_clock, setup_work, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_namespace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup_work, teardown),
		cmocka_unit_test_setup_teardown(test_tcp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_udp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_maps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_programs, setup, teardown),
	};

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	if (argc == 3 && !strcmp(argv[1], "--namespace"))
		return work_in_namespace(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "--quick")) {
		ways[1] = ways[ARRAY_SIZE(ways) - 1];
		n_ways = 2;
	}
	if (geteuid() == 0)
		enter_own_network();
	return cmocka_run_group_tests_name("iterator", tests, NULL, NULL);
}
