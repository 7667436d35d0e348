/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What ebql may do, and what it lets its user do: with the capabilities of its hint all streams
 * can be read by a user who has none, and no file that this user cannot read; a run keeps no
 * capability; and nothing of it is seen in the table of mounts.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "left.h"
#include "session.h"
#include "sys/sys.h"

#define TRACEFS "/sys/kernel/tracing"

enum { ARGS_MAX = 16, LIMIT_MS = 60000, N_CALLS = 1000 };

/* A file system of our own in a mount namespace of our own: binaries may have capabilities. */
static char folder[64];

static const char *in_folder(const char *name)
{
	static char paths[8][128];
	static u32 n;
	char *path = paths[n++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void put_file(const char *path, const void *bytes, size_t n, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_true(write(fd, bytes, n) == (ssize_t)n);
	assert_false(fchmod(fd, mode));
	close(fd);
}

static void copy_program(const char *from, const char *to)
{
	struct buf bytes;

	buf_init(&bytes);
	assert_int_equal(buf_read_file(&bytes, from, SIZE_MAX), 0);
	put_file(to, bytes.at, bytes.n, 0755);
	buf_free(&bytes);
}

/* setcap cap_bpf,cap_perfmon,cap_dac_read_search=p */
static void set_capabilities(const char *path)
{
	const struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2,
		.data[0].permitted = 1u << CAP_DAC_READ_SEARCH,
		.data[1].permitted = 1u << (39 - 32) | 1u << (38 - 32),
	};

	assert_false(setxattr(path, "security.capability", &data, sizeof(data), 0));
}

static void unmount_all(const char *path)
{
	while (umount2(path, MNT_DETACH) == 0)
		;
}

static void mount_tracefs(void)
{
	unmount_all(TRACEFS);
	assert_false(mount("tracefs", TRACEFS, "tracefs", 0, NULL));
}

static int setup(void **state)
{
	static struct proc proc;

	*state = &proc;
	if (geteuid() != 0 || folder[0])
		return 0;
	strcpy(folder, "/tmp/ebql-privileges-XXXXXX");
	if (!mkdtemp(folder) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", folder, "tmpfs", 0, "mode=755"))
		return -1;
	copy_program(proc_ebql(), in_folder("ebql"));
	copy_program(proc_loadgen(), in_folder("loadgen"));
	copy_program("/proc/self/exe", in_folder("say"));
	set_capabilities(in_folder("ebql"));
	mount_tracefs();
	return 0;
}

static int teardown(void **state)
{
	proc_end_all();
	return 0;
}

static void remove_folder(void)
{
	umount2(folder, MNT_DETACH);
	rmdir(folder);
}

/* --- Runs --- */

/* Starts ebql, as nobody (PROC_NOBODY) or as we are; NULL ends the arguments. */
static void start(struct proc *proc, u32 flags, ...)
{
	const char *argv[ARGS_MAX] = { in_folder("ebql") };
	va_list args;
	u32 n = 1;

	va_start(args, flags);
	while (n < ARGS_MAX - 1 && (argv[n] = va_arg(args, const char *)))
		n++;
	va_end(args);
	proc_start(proc, argv, flags);
}

static const char *said(const struct buf *text)
{
	return text->n ? text->at : "";
}

static int end(struct proc *proc)
{
	int status = proc_wait_exit(proc, LIMIT_MS);

	assert_true(status >= 0);
	return status;
}

/* Both texts together, and nothing left of the process. */
static bool says(const struct proc *proc, const char *text)
{
	return strstr(said(&proc->out_text), text) || strstr(said(&proc->err_text), text);
}

/* --- Streams --- */

#define CALLS	   "WHERE pid = target_pid() AND fd >= 100"
#define PREADS	   "FROM tracepoint:syscalls:sys_enter_pread64 " CALLS
#define COUNTED	   "SELECT count(*) AS n "
#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)

static void test_streams(void **state)
{
	static const struct {
		const char *sql;
		const char *row; /* NULL: whatever there was */
	} cases[] = {
		{ "SET access_path = tracepoint; " COUNTED PREADS, "{\"n\":1000}" },
		{ "SET access_path = raw; " COUNTED PREADS, "{\"n\":1000}" },
		{ "SET state = kernel_map; SELECT cpu < 99 AS c, count(*) AS n " PREADS
		  " GROUP BY cpu < 99",
		  "\"n\":1000}" },
		{ "SET pushdown = off; " COUNTED PREADS, "{\"n\":1000}" },
		{ "SELECT time, fd " PREADS, "\"rows\":1000," },
		{ COUNTED "FROM syscall:pread64 " CALLS, "{\"n\":1000}" },
		{ COUNTED "FROM (SELECT pid, id FROM raw_tracepoint:sys_enter) "
			  "WHERE pid = target_pid() AND id = " TEXT(SYS_pread64),
		  "{\"n\":1" },
		{ COUNTED "FROM tracepoint:sched:sched_s*", "{\"n\":" },
		{ COUNTED "FROM run_queue", "{\"n\":" },
		{ COUNTED "FROM off_cpu", "{\"n\":" },
		{ COUNTED "FROM block_io", "{\"n\":" },
	};
	struct proc *proc = *state;

	session_require();
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		start(proc, PROC_NOBODY, "-o", "json", cases[i].sql, "--", in_folder("loadgen"),
		      "--calls", "1000", "--threads", "1", "--no-wait", NULL);
		if (end(proc) == 1 || !says(proc, cases[i].row))
			fail_msg("%s: %s%s", cases[i].sql, said(&proc->out_text),
				 said(&proc->err_text));
		proc_forget(proc);
	}
	start(proc, PROC_NOBODY, "doctor", NULL);
	assert_int_equal(end(proc), 0);
	proc_forget(proc);
	start(proc, PROC_NOBODY, "describe", "t:sched:sched_switch", NULL);
	assert_int_equal(end(proc), 0);
	proc_forget(proc);
	/* All of it is the capabilities' doing. */
	copy_program(proc_ebql(), in_folder("plain"));
	proc_start(proc, (const char *const[]){ in_folder("plain"), cases[0].sql, NULL },
		   PROC_NOBODY);
	assert_int_equal(end(proc), 1);
	assert_true(says(proc, "no-privilege"));
	proc_forget(proc);
}

/* Debian's kernels leave perf events to CAP_SYS_ADMIN, unless they are told not to. */
static void test_paranoid(void **state)
{
	static const char *const queries[] = {
		"SET access_path = tracepoint; SELECT count(*) FROM tracepoint:sched:sched_switch",
		"SET access_path = kprobe; SELECT count(*) FROM kprobe:vfs_read",
	};
	struct proc *proc = *state;
	char before[16] = "";
	struct utsname name;
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDWR | O_CLOEXEC);

	session_require();
	if (uname(&name) || !strstr(name.version, "Debian")) {
		print_message("SKIP: not a kernel of Debian's, which alone know the setting 3\n");
		skip();
	}
	assert_true(read(fd, before, sizeof(before) - 1) > 0 && pwrite(fd, "3", 1, 0) == 1);
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		start(proc, PROC_NOBODY, "-d", "1ms", queries[i], NULL);
		if (end(proc) != 1 || !says(proc, "hint: kernel.perf_event_paranoid = 3 leaves"))
			fail_msg("%s: %s", queries[i], said(&proc->err_text));
		proc_forget(proc);
	}
	assert_int_equal(pwrite(fd, before, strlen(before), 0), strlen(before));
	close(fd);
}

/*
 * Where a module is loaded: the kernel tells its BTF to CAP_SYS_ADMIN alone, so a kprobe counts the
 * requests of the command.
 */
static void test_module(void **state)
{
	static const char query[] = "SELECT nr_sectors, cmd.nq.dev.blocksize AS b, count(*) AS n "
				    "FROM fentry:null_process_cmd GROUP BY 1, 2";
	struct proc *proc = *state;

	start(proc, PROC_NOBODY, "-o", "json", query, "--", "dd", "if=/dev/zero", "of=/dev/nullb0",
	      "bs=4096", "count=23", "oflag=direct", NULL);
	if (end(proc) || !says(proc, "{\"nr_sectors\":8,\"b\":512,\"n\":23}") ||
	    !says(proc, "\"events\":23,") ||
	    !says(proc, "by a kprobe: a trampoline in a module takes CAP_SYS_ADMIN"))
		fail_msg("%s%s", said(&proc->out_text), said(&proc->err_text));
	proc_forget(proc);
}

/* --- Files of others --- */

static void make_database(const char *path)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "CREATE TABLE t (word TEXT); INSERT INTO t VALUES ('hush')",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	assert_false(chmod(path, 0600));
}

static void make_secrets(void)
{
	static const char text[] = "word\nhush\n", sql[] = "SELECT hush";
	const char *shadow = access("/etc/shadow", F_OK) ? in_folder("secret.csv") : "/etc/shadow";

	put_file(in_folder("secret.csv"), text, strlen(text), 0600);
	put_file(in_folder("secret.sql"), sql, strlen(sql), 0600);
	make_database(in_folder("secret.db"));
	assert_false(mkdir(in_folder("closed"), 0700));
	put_file(in_folder("closed/open.csv"), text, strlen(text), 0644);
	assert_false(symlink(shadow, in_folder("shadow.csv")));
	assert_false(symlink(in_folder("secret.csv"), in_folder("link.csv")));
	/* A snapshot of a catalog. */
	assert_false(mkdir(in_folder("closed/catalog"), 0755));
	put_file(in_folder("closed/catalog/available_events"), "hush:hush\n", 10, 0644);
}

static void test_secrets(void **state)
{
	static const struct {
		const char *args[3];
		bool is_readable; /* to us */
	} cases[] = {
		{ { "SELECT * FROM 'secret.csv'" }, true },
		{ { "SELECT * FROM 'link.csv'" }, true },
		{ { "SELECT * FROM 'closed/open.csv'" }, true },
		{ { "ATTACH 'secret.db' AS d; SELECT * FROM d.t" }, true },
		{ { "explain", "-f", "secret.sql" }, true },
		{ { "list", "--catalog", "closed/catalog" }, true },
		{ { "SELECT * FROM 'shadow.csv'" }, false },
		{ { "ATTACH '/etc/shadow' AS d; SELECT * FROM d.t" }, false },
		{ { "-f", "/etc/shadow" }, false },
	};
	struct proc *proc = *state;

	session_require();
	make_secrets();
	assert_false(chdir(folder));
	for (u32 i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		const bool is_nobody = i % 2;
		const char *const *args = cases[i / 2].args;

		if (!is_nobody && !cases[i / 2].is_readable)
			continue;
		start(proc, is_nobody ? PROC_NOBODY : 0, args[0], args[1], args[2], NULL);
		end(proc);
		if (is_nobody ? proc->status == 0 || says(proc, "hush") || says(proc, "root:")
			      : !says(proc, "hush"))
			fail_msg("%s, as %s: %s%s", args[0], is_nobody ? "nobody" : "root",
				 said(&proc->out_text), said(&proc->err_text));
		proc_forget(proc);
	}
	/* Nor is anything written with more. */
	start(proc, PROC_NOBODY, "record", "-o", "secret.csv",
	      "SELECT fd FROM t:syscalls:sys_enter_pread64", "-d", "1ms", NULL);
	if (end(proc) != 2 || !says(proc, "secret.csv: Permission denied"))
		fail_msg("%d: %s", proc->status, said(&proc->err_text));
	proc_forget(proc);
	assert_false(chdir("/"));
}

/* --- What a run keeps --- */

static void test_nothing_kept(void **state)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapAmb" };
	static const char *const queries[] = {
		"SELECT cpu, count(*) FROM tracepoint:sched:sched_switch GROUP BY cpu "
		"WINDOW TUMBLING 50ms",
		"SET state = kernel_map; SELECT prev_comm, count(*) FROM tracepoint:sched:sched_switch "
		"GROUP BY prev_comm WINDOW TUMBLING 50ms",
		"SELECT time, comm FROM tracepoint:sched:sched_switch",
		"SELECT p99(latency) FROM run_queue WINDOW TUMBLING 50ms",
		"SET pushdown = off; SELECT max(latency) FROM run_queue WINDOW TUMBLING 50ms",
	};
	struct proc *proc = *state;

	session_require();
	for (u32 i = 0; i < 2 * ARRAY_SIZE(queries); i++) {
		start(proc, i % 2 ? PROC_NOBODY : 0, "-v", "-o", "json", queries[i / 2], NULL);
		assert_true(proc_wait_text(proc, "attached", LIMIT_MS));
		for (u32 k = 0; k < ARRAY_SIZE(sets); k++)
			assert_int_equal(proc_capabilities(proc->pid, sets[k]), 0);
		assert_true(proc_wait_text(proc, "\n{\"", LIMIT_MS));
		usleep(200000);
		proc_signal(proc, SIGINT);
		end(proc);
		if (proc->status != 0 && proc->status != 3)
			fail_msg("%s: %s", queries[i / 2], said(&proc->err_text));
		proc_forget(proc);
	}
}

/* What loads the queries that ebql watch adds is kept, out of effect; files are the user's. */
static void test_watch(void **state)
{
	static const char query[] = "SELECT count(*) FROM raw_tracepoint:sched_switch "
				    "WINDOW TUMBLING 20ms";
	static const char elsewhere[] = "SELECT count(*) FROM raw_tracepoint:sched_switch "
					"WITH (out = 'json:/etc/ebql-test')";
	struct proc *proc = *state, asked;

	session_require();
	assert_false(mkdir(in_folder("queries"), 0777));
	assert_false(mkdir(in_folder("run"), 0777) || chmod(in_folder("run"), 0777));
	put_file(in_folder("queries/closed.sql"), query, sizeof(query) - 1, 0600);
	start(proc, PROC_NOBODY, "watch", "--socket", in_folder("run/socket"), "-o", "json",
	      in_folder("queries"), NULL);
	assert_true(proc_wait_text(proc, "0 of 1 queries run\n", LIMIT_MS));
	assert_true(says(proc, "closed.sql: Permission denied"));
	put_file(in_folder("queries/open.sql"), query, sizeof(query) - 1, 0644);
	assert_true(proc_wait_text(proc, "open.sql: its query runs\n", LIMIT_MS));
	assert_int_equal(proc_capabilities(proc->pid, "CapEff"), 0);
	assert_int_equal(proc_capabilities(proc->pid, "CapPrm"),
			 SYS_CAP(CAP_BPF) | SYS_CAP(CAP_PERFMON) | SYS_CAP(CAP_DAC_READ_SEARCH));
	assert_true(proc_wait_text(proc, "\"query\":\"open\"", LIMIT_MS));
	/* A service has a user of its own: who names its socket is answered. */
	start(&asked, 0, "watch", "--status", "--socket", in_folder("run/socket"), NULL);
	assert_int_equal(end(&asked), 0);
	assert_true(says(&asked, "open"));
	proc_forget(&asked);
	put_file(in_folder("queries/elsewhere.sql"), elsewhere, sizeof(elsewhere) - 1, 0644);
	assert_true(proc_wait_text(proc, "/etc/ebql-test: Permission denied", LIMIT_MS));
	proc_signal(proc, SIGTERM);
	assert_int_equal(end(proc), 1);
	assert_false(access("/etc/ebql-test", F_OK) == 0);
}

/* What the kernel missed is asked for while it runs. */
static void test_misses_are_told(void **state)
{
	const struct bpf_insn empty[] = { { .code = 0xb7 }, { .code = 0x95 } };
	struct bpf_prog_info info = { 0 };
	u32 n_bytes = sizeof(info);
	int fd, pid, status;

	session_require();
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", empty, 2, NULL);
	assert_true(fd >= 0);
	pid = fork();
	if (pid == 0) {
		const struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
		const struct __user_cap_data_struct none[2] = { 0 };

		_exit(syscall(SYS_capset, &header, none) ||
		      bpf_obj_get_info_by_fd(fd, &info, &n_bytes) || !info.id);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fd);
	assert_int_equal(status, 0);
}

/* --- The command --- */

/* This program as a command: its descriptors and capabilities. */
static int say(void)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapAmb" };

	for (int fd = 0; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("fd %d\n", fd);
	for (u32 i = 0; i < ARRAY_SIZE(sets); i++)
		printf("%s %llx\n", sets[i],
		       (unsigned long long)proc_capabilities(getpid(), sets[i]));
	printf("uid %d %d\n", getuid(), geteuid());
	return 0;
}

/* What every program gets that we start: three pipes, and what we were given ourselves. */
static void put_descriptors(struct buf *text)
{
	for (int fd = 0; fd < 4096; fd++)
		if (fd < 3 || (fcntl(fd, F_GETFD) >= 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC)))
			buf_printf(text, "fd %d\n", fd);
}

static void test_command(void **state)
{
	struct proc *proc = *state;
	struct buf texts[2];

	session_require();
	for (u32 i = 0; i < 2; i++) {
		u64 own = i ? 0 : proc_capabilities(getpid(), "CapEff");

		buf_init(&texts[i]);
		put_descriptors(&texts[i]);
		buf_printf(&texts[i], "CapInh 0\nCapPrm %llx\nCapEff %llx\nCapAmb 0\nuid %d %d\n",
			   (unsigned long long)own, (unsigned long long)own, i ? 65534 : 0,
			   i ? 65534 : 0);
		start(proc, i ? PROC_NOBODY : 0, "-o", "json", COUNTED PREADS, "--",
		      in_folder("say"), "--say", NULL);
		assert_int_equal(end(proc), 0);
		if (!says(proc, texts[i].at))
			fail_msg("%s, not %s", said(&proc->out_text), texts[i].at);
		buf_free(&texts[i]);
		proc_forget(proc);
	}
}

/* A command that is another user by then is ended all the same. */
static void test_command_ends(void **state)
{
	struct proc *proc = *state;

	session_require();
	start(proc, 0, "-o", "json", "-n", "1", COUNTED PREADS " WINDOW TUMBLING 50ms", "--",
	      in_folder("say"), "--sleep-as-nobody", NULL);
	assert_int_equal(end(proc), 0);
	proc_forget(proc);
}

/* --- Mounts --- */

static void read_mounts(struct buf *mounts)
{
	buf_init(mounts);
	assert_int_equal(buf_read_file(mounts, "/proc/self/mountinfo", SIZE_MAX), 0);
}

static void expect_mounts(const struct buf *before)
{
	struct buf now;

	read_mounts(&now);
	assert_string_equal(now.at, before->at);
	buf_free(&now);
}

/* This program as what starts another, which is refused fsopen(2), as by a container. */
static int without_fsopen(char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsopen, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 99;
	execv(argv[0], argv);
	return 98;
}

static void test_mounts(void **state)
{
	struct proc *proc = *state;
	struct buf before;

	session_require();
	unmount_all("/sys/kernel/debug/tracing");
	unmount_all("/sys/kernel/debug");
	unmount_all(TRACEFS);
	read_mounts(&before);
	start(proc, 0, "-v", "-o", "json",
	      COUNTED "FROM tracepoint:sched:sched_switch WHERE prev_pid > 0 "
		      "WINDOW TUMBLING 50ms",
	      NULL);
	assert_true(proc_wait_text(proc, "attached", LIMIT_MS));
	expect_mounts(&before);
	assert_true(proc_wait_text(proc, "\"n\":", LIMIT_MS));
	proc_signal(proc, SIGINT);
	assert_int_equal(end(proc), 0);
	proc_forget(proc);
	start(proc, 0, "doctor", NULL);
	assert_int_equal(end(proc), 0);
	proc_forget(proc);
	/* Where that is refused it is told how to go on. */
	proc_start(proc,
		   (const char *const[]){ in_folder("say"), "--without-fsopen", in_folder("ebql"),
					  COUNTED PREADS, NULL },
		   0);
	assert_int_equal(end(proc), 1);
	assert_true(says(proc, "error[no-tracefs]"));
	assert_true(says(proc, "-v /sys/kernel/tracing:/sys/kernel/tracing:ro"));
	proc_forget(proc);
	start(proc, PROC_NOBODY, COUNTED PREADS, NULL);
	assert_int_equal(end(proc), 1);
	assert_true(says(proc, "mount -t tracefs"));
	proc_forget(proc);
	expect_mounts(&before);
	buf_free(&before);
	mount_tracefs();
}

/* --- The end of a run with many hooks --- */

static void test_many_hooks(void **state)
{
	static const struct {
		const char *sql, *option, *value;
	} cases[] = {
		{ COUNTED "FROM tracepoint:syscalls:sys_enter_se* WINDOW TUMBLING 50ms", NULL },
		{ "SELECT time, probe FROM tracepoint:syscalls:sys_enter_se*", NULL },
		{ COUNTED "FROM tracepoint:syscalls:sys_enter_se* WINDOW TUMBLING 50ms", "-n",
		  "1" },
	};
	struct proc *proc = *state;
	struct left left;
	char sql[256];
	u64 out_ns;

	session_require();
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(sql, sizeof(sql), "SET access_path = tracepoint; %s", cases[i].sql);
		start(proc, 0, "-v", "-o", "json", sql, cases[i].option, cases[i].value, NULL);
		assert_true(proc_wait_text(proc, "attached", LIMIT_MS));
		left_take(&left, proc->pid);
		assert_true(left.n_programs >= 10);
		if (!cases[i].option)
			proc_signal(proc, SIGINT);
		/* All is said, and who reads it has its end, while programs still hang there. */
		while (proc->out >= 0)
			proc_pump(1000);
		out_ns = base_monotonic_ns();
		assert_int_equal(proc_wait_exit(proc, 0), -1);
		assert_non_null(strstr(said(&proc->out_text), "\"last\":true"));
		/* Two at once are one. */
		usleep(60000);
		proc_signal(proc, SIGINT);
		assert_int_equal(end(proc), 128 + SIGINT);
		assert_true(left_wait_gone(&left, 0) > 0);
		print_message("gone %llu ms behind its output\n",
			      (unsigned long long)(base_monotonic_ns() - out_ns) / 1000000);
		assert_int_equal(left_wait_gone(&left, LIMIT_MS), 0);
		proc_forget(proc);
	}
}

/* --- Recordings --- */

static void record(struct proc *proc, const char *path, bool is_refused, const char *why)
{
	start(proc, 0, "record", "-o", path, "SELECT time FROM 'rows.csv'", NULL);
	end(proc);
	if (is_refused ? proc->status != 2 || !says(proc, why) : proc->status != 0)
		fail_msg("%s: %d, %s", path, proc->status, said(&proc->err_text));
	proc_forget(proc);
}

static void test_links(void **state)
{
	struct proc *proc = *state;
	struct stat st;

	session_require();
	assert_false(mkdir(in_folder("shared"), 0777) || chmod(in_folder("shared"), 0777));
	assert_false(chdir(in_folder("shared")));
	put_file("rows.csv", "time\n1\n", 7, 0644);
	/* What another user may have placed there. */
	put_file("../mine.csv", "kept", 4, 0644);
	assert_false(symlink("../mine.csv", "to-mine.csv") || lchown("to-mine.csv", 65534, 65534));
	assert_false(symlink("../new.csv", "to-new.csv") || lchown("to-new.csv", 65534, 65534));
	assert_false(link("../mine.csv", "also-mine.csv"));
	put_file("theirs.csv", "kept", 4, 0666);
	assert_false(chown("theirs.csv", 65534, 65534));
	/* As /tmp is. */
	assert_false(chmod(".", 01777));
	record(proc, "theirs.csv", true, "");
	assert_false(stat("theirs.csv", &st) || st.st_size != 4);
	assert_false(chmod(".", 0777));
	record(proc, "to-mine.csv", true, "link");
	record(proc, "to-new.csv", true, "link");
	record(proc, "also-mine.csv", true, "another name");
	assert_false(stat("../mine.csv", &st) || st.st_size != 4);
	assert_int_equal(access("../new.csv", F_OK), -1);
	/* What is ours is written over, here too; and what is theirs in a place of theirs. */
	put_file("ours.csv", "a long line of what was there before", 36, 0644);
	record(proc, "ours.csv", false, NULL);
	assert_false(stat("ours.csv", &st) || st.st_size > 10);
	assert_false(mkdir("../theirs", 0755) || chown("../theirs", 65534, 65534));
	put_file("../theirs/rows.csv", "kept", 4, 0644);
	assert_false(chown("../theirs/rows.csv", 65534, 65534));
	record(proc, "../theirs/rows.csv", false, NULL);
	assert_false(chdir("/"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_streams, setup, teardown),
		cmocka_unit_test_setup_teardown(test_paranoid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_secrets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_watch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_misses_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mounts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_hooks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links, setup, teardown),
	};
	const struct CMUnitTest of_module[] = {
		cmocka_unit_test_setup_teardown(test_module, setup, teardown),
	};
	int failed;

	if (argc > 1 && !strcmp(argv[1], "--say"))
		return say();
	if (argc > 1 && !strcmp(argv[1], "--sleep-as-nobody"))
		return setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534) || pause();
	if (argc > 2 && !strcmp(argv[1], "--without-fsopen"))
		return without_fsopen(argv + 2);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	failed = argc > 1 && !strcmp(argv[1], "test_module")
			 ? cmocka_run_group_tests(of_module, NULL, NULL)
			 : cmocka_run_group_tests(tests, NULL, NULL);
	if (folder[0])
		remove_folder();
	return failed;
}
