/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * file_name() and file_path() of descriptors, against what /proc/self/fd says of them: names as
 * long as they can be, deep directories, mounts, another root, deleted files, sockets, descriptors
 * that are none, those of a table with many, and of another thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

#define FOLDER	 "/tmp/ebql_files"
#define SAID	 FOLDER "/said"
#define TEXT_MAX 4096

enum { CASES = 64, BYTES = 128, STEPS = 32 };

/* --- The workload: a call of pread64 for each file, whose count is the file's number --- */

static struct said_file {
	int fd;
	char path[TEXT_MAX]; /* as /proc/self/fd has it; "": it is none */
} files[CASES];
static int n_files;

static __attribute__((noreturn)) void fail_work(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

static int must(int result, const char *what)
{
	if (result < 0)
		fail_work(what);
	return result;
}

static void add(int fd)
{
	struct said_file *file = &files[n_files++];
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, file->path, sizeof(file->path) - 1);
	file->path[n < 0 ? 0 : n] = '\0';
	file->fd = fd;
}

static int make(const char *name)
{
	return must(open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600), name);
}

/* So many directories of so long names, and a file there. */
static void add_deep(u32 n, u32 bytes)
{
	char name[256] = { 0 };
	int at = must(open(FOLDER, O_PATH), FOLDER);

	memset(name, 'a' + (int)n % 26, bytes);
	for (u32 i = 0; i < n; i++) {
		int next;

		if (mkdirat(at, name, 0700) && errno != EEXIST)
			fail_work("mkdirat");
		next = must(openat(at, name, O_PATH), "openat");
		close(at);
		at = next;
	}
	add(must(openat(at, "end", O_RDWR | O_CREAT, 0600), "end"));
	close(at);
}

/* A path of so many bytes. */
static void add_long(u32 bytes)
{
	char name[TEXT_MAX];

	memset(name, 'x', sizeof(name));
	memcpy(name, FOLDER "/", sizeof(FOLDER));
	name[bytes] = '\0';
	add(make(name));
}

static void add_mounts(void)
{
	must(unshare(CLONE_NEWNS), "unshare");
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
	must(mkdir(FOLDER "/from", 0700), "mkdir");
	must(mkdir(FOLDER "/to", 0700), "mkdir");
	must(mkdir(FOLDER "/gone", 0700), "mkdir");
	close(make(FOLDER "/from/bound"));
	must(mount(FOLDER "/from", FOLDER "/to", NULL, MS_BIND, NULL), "bind");
	add(must(open(FOLDER "/to/bound", O_RDONLY), "bound"));
	add(must(open(FOLDER "/to", O_RDONLY), "to"));
	/* Three, each upon the last, and one within. */
	for (int i = 0; i < 3; i++)
		must(mount("none", FOLDER "/to", "tmpfs", 0, NULL), "tmpfs");
	add(make(FOLDER "/to/upon"));
	must(mkdir(FOLDER "/to/in", 0700), "mkdir");
	must(mount("none", FOLDER "/to/in", "tmpfs", 0, NULL), "tmpfs");
	add(make(FOLDER "/to/in/within"));
	must(mount("none", FOLDER "/gone", "tmpfs", 0, NULL), "tmpfs");
	add(make(FOLDER "/gone/detached"));
	must(umount2(FOLDER "/gone", MNT_DETACH), "umount");
	n_files--;
	add(files[n_files].fd);
}

static void add_others(void)
{
	int pair[2], fd;

	add(must(socket(AF_INET, SOCK_STREAM, 0), "socket"));
	add(must(socket(AF_UNIX, SOCK_DGRAM, 0), "socket"));
	must(pipe(pair), "pipe");
	add(pair[0]);
	add(must(eventfd(0, 0), "eventfd"));
	add(must((int)syscall(SYS_memfd_create, "ebql memory", 0), "memfd"));
	add(must((int)syscall(SYS_pidfd_open, getpid(), 0), "pidfd"));
	add(must(open("/dev/null", O_RDONLY), "null"));
	add(must(open("/", O_RDONLY), "/"));
	add(must(open("/proc/self/status", O_RDONLY), "status"));
	add(must(open("/sys/kernel/mm", O_RDONLY), "sys"));
	/* Among many, and those that are none. */
	fd = make(FOLDER "/many");
	add(must(dup2(fd, 70), "dup2"));
	add(must(dup2(fd, 1500), "dup2"));
	add(71);
	add(-1);
	add(1000000);
	add(must(dup2(fd, 72), "dup2"));
	must(close(72), "close");
	files[n_files - 1].path[0] = '\0';
}

/* What was there before, and what is opened within, from another root. */
static void *read_all(void *first)
{
	static char byte[CASES];

	for (int i = *(int *)first; i < n_files; i++)
		(void)!pread(files[i].fd, byte, (size_t)i + 1, 0);
	return NULL;
}

static void read_in_root(void)
{
	int root = must(open("/", O_PATH), "/"), first = n_files;

	must(mkdir(FOLDER "/root", 0700), "mkdir");
	must(mkdir(FOLDER "/root/in", 0700), "mkdir");
	must(chroot(FOLDER "/root"), "chroot");
	n_files = first + 3;
	files[first].fd = make("/in/own");
	strcpy(files[first].path, "/in/own");
	files[first + 1].fd = must(open("/", O_RDONLY), "/");
	strcpy(files[first + 1].path, "/");
	/* Out of it. */
	files[first + 2] = files[0];
	read_all(&first);
	must(fchdir(root), "fchdir");
	must(chroot("."), "chroot");
	close(root);
}

static void prepare(void)
{
	struct rlimit limit = { 4096, 4096 };
	char name[256 + sizeof(FOLDER)] = FOLDER "/";
	int fd;

	must(system("rm -rf " FOLDER), "rm");
	must(mkdir(FOLDER, 0700), FOLDER);
	must(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	add(make(FOLDER "/plain"));
	add(make(FOLDER "/with blank, \xc3\xa4"));
	memset(name + sizeof(FOLDER), 'n', 255);
	name[sizeof(FOLDER) + 254] = 'e';
	add(make(name));
	add_deep(20, 1);
	add_deep(20, 9);
	add_deep(24, 1);
	add_deep(40, 1);
	add_deep(3, 255);
	for (u32 i = BYTES - 2; i < BYTES + 3; i++)
		add_long(i);
	fd = make(FOLDER "/unlinked");
	must(unlink(FOLDER "/unlinked"), "unlink");
	add(fd);
	fd = make(FOLDER "/before");
	must(rename(FOLDER "/before", FOLDER "/behind"), "rename");
	add(fd);
	add_others();
	add_mounts();
}

static void say_files(void)
{
	FILE *said = fopen(SAID, "we");

	for (int i = 0; said && i < n_files; i++)
		fprintf(said, "%s\n", files[i].path);
	if (!said || fclose(said))
		fail_work(SAID);
}

static int work(void)
{
	char line[32];
	int n, first = 0;

	prepare();
	n = n_files;
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		pthread_t thread;

		/* Of a process any thread's table is that of all. */
		if (pthread_create(&thread, NULL, read_all, &first) || pthread_join(thread, NULL))
			fail_work("thread");
		read_in_root();
		say_files();
		must(system("rm -rf " FOLDER "/root"), "rm");
		n_files = n;
		work_answer("done\n");
	}
	return 0;
}

/* --- What ebql saw of it --- */

struct seen {
	struct watch watch;
	char text[CASES][TEXT_MAX]; /* "": NULL, which no file is called that is looked at */
	u32 n[CASES], n_rows;
	char said[CASES][TEXT_MAX];
	u32 n_said;
};

static void take_row(void *context, const struct line *line)
{
	const struct leaf *text = line_leaf(line, "x");
	struct seen *s = context;
	u64 i = line_number(line, "i") - 1;

	assert_true(i < CASES);
	s->n_rows++;
	s->n[i]++;
	if (text->kind == LEAF_TEXT)
		snprintf(s->text[i], sizeof(s->text[i]), "%s", text->text);
}

static void load_said(struct seen *s)
{
	FILE *said = fopen(SAID, "re");

	assert_non_null(said);
	s->n_said = 0;
	for (char *text = s->said[0]; fgets(text, TEXT_MAX, said); text = s->said[++s->n_said])
		text[strcspn(text, "\n")] = '\0';
	fclose(said);
}

static void watch_files(struct seen *s, const char *query)
{
	char text[1024];

	watch_close(&s->watch);
	memset(s->text, 0, sizeof(*s) - offsetof(struct seen, text));
	watch_begin(&s->watch, take_row, s);
	snprintf(text, sizeof(text), query, s->watch.pid);
	watch_ebql(&s->watch, "%s", text);
	watch_do(&s->watch, "read", -1);
	load_said(s);
	assert_int_equal(s->watch.reader.totals.lost, 0);
}

static bool is_pseudo(const char *path)
{
	return *path && *path != '/';
}

static void expect_names(const struct seen *s)
{
	for (u32 i = 0; i < s->n_said; i++) {
		const char *path = s->said[i], *slash = strrchr(path, '/');
		char name[TEXT_MAX], *deleted;

		assert_int_equal(s->n[i], 1);
		if (is_pseudo(path))
			continue;
		strcpy(name, !slash ? "" : strcmp(path, "/") == 0 ? path : slash + 1);
		deleted = strstr(name, " (deleted)");
		if (deleted)
			*deleted = '\0';
		/* What is mounted has its own name, of its own root. */
		if (strcmp(path, FOLDER "/to") == 0)
			strcpy(name, "from");
		if (strcmp(path, "/") == 0 && i > s->n_said - 3)
			strcpy(name, "root");
		assert_string_equal(s->text[i], name);
	}
	assert_int_equal(s->n_rows, s->n_said);
}

/* What file_path() makes of it. */
static void expect_path(const char *text, const char *path, u32 bytes)
{
	u32 n = (u32)strlen(path), n_parts = 0;
	char cut[TEXT_MAX];

	/* Names of namespaces are none of a file system's. */
	if (strncmp(path, "mnt:", 4) == 0)
		path = "";
	for (u32 i = 0; i < n; i++)
		n_parts += path[i] == '/';
	if (n_parts > STEPS) {
		u32 n_behind = (u32)strlen(text) - 3;

		assert_memory_equal(text, ".../", 4);
		assert_string_equal(text + 3, path + n - n_behind);
		assert_true(n_behind < n);
		return;
	}
	if (n > bytes)
		snprintf(cut, sizeof(cut), "...%s", path + n - (bytes - 3));
	assert_string_equal(text, n > bytes ? cut : path);
}

static void expect_paths(const struct seen *s, u32 bytes)
{
	u32 n_cut = 0;

	for (u32 i = 0; i < s->n_said; i++) {
		assert_int_equal(s->n[i], 1);
		expect_path(s->text[i], s->said[i], bytes);
		n_cut += strncmp(s->text[i], "...", 3) == 0;
	}
	assert_int_equal(s->n_rows, s->n_said);
	assert_true(n_cut >= (bytes > BYTES ? 3 : 5));
}

#define CALLS "tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d"

static const char *const settings[] = { "", "SET access_path = tracepoint; ",
					"SET rules_off = 'typed'; ", "SET rules_off = 'all'; ",
					"SET pushdown = off; " };

static void test_names(void **state)
{
	char query[1024];

	for (u32 i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(query, sizeof(query), "%sSELECT count AS i, file_name(fd) AS x FROM %s",
			 settings[i], CALLS);
		watch_files(*state, query);
		expect_names(*state);
	}
}

static void test_paths(void **state)
{
	char query[1024];

	for (u32 i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(query, sizeof(query), "%sSELECT count AS i, file_path(fd) AS x FROM %s",
			 settings[i], CALLS);
		watch_files(*state, query);
		expect_paths(*state, BYTES);
	}
}

/* Of other lengths; of the file itself, and of what stands in it. */
static void test_forms(void **state)
{
	static const char file[] = "task.files.fdt.fd[fd]";
	struct seen *s = *state;
	char query[1024];

	watch_files(s, "SELECT count AS i, file_path(fd, 160) AS x FROM " CALLS);
	expect_paths(s, 160);
	watch_files(s, "SELECT count AS i, file_path(fd, 33) AS x FROM " CALLS);
	expect_paths(s, 33);
	for (u32 i = 0; i < 2; i++) {
		snprintf(query, sizeof(query),
			 "SELECT count AS i, file_path(%s%s) AS x FROM %s "
			 "AND fd < 64 AND file_name(fd, 8) IS NOT NULL",
			 file, i ? ".f_path" : "", CALLS);
		watch_files(s, query);
		for (u32 k = 0; k < s->n_said; k++)
			if (s->n[k])
				expect_path(s->text[k], s->said[k], BYTES);
		assert_true(s->n_rows > 20);
	}
}

/* Of a dentry, from the root of its file system on. */
static void test_dentries(void **state)
{
	struct seen *s = *state;
	u32 n_paths = 0;

	watch_files(
		s,
		"SELECT count AS i, file_name(task.files.fdt.fd[fd].f_path.dentry) AS x FROM " CALLS
		" AND file_name(fd, 8) IS NOT NULL");
	for (u32 i = 0; i < s->n_said; i++) {
		if (!*s->said[i]) {
			s->n_rows++;
			s->n[i] = 1;
		}
	}
	expect_names(s);
	watch_files(
		s,
		"SELECT count AS i, file_path(task.files.fdt.fd[fd].f_path.dentry) AS x FROM " CALLS
		" AND file_name(fd, 8) IS NOT NULL");
	for (u32 i = 0; i < s->n_said; i++) {
		const char *said = s->said[i];
		u32 n = (u32)strlen(s->text[i]);

		if (strncmp(said, FOLDER "/", sizeof(FOLDER)) != 0 || *s->text[i] != '/' ||
		    strstr(said, "/to/bound") || strcmp(said, FOLDER "/to") == 0)
			continue;
		n_paths++;
		assert_true(n > 4 && strlen(said) >= n);
		assert_string_equal(s->text[i], said + strlen(said) - n);
	}
	assert_true(n_paths > 8);
}

/* The file is the one that it is where the call begins. */
static void test_spans(void **state)
{
	watch_files(*state, "SELECT count AS i, file_name(fd) AS x FROM syscall:pread64 "
			    "WHERE pid = %d");
	expect_names(*state);
	watch_files(*state, "SELECT count AS i, file_path(fd) AS x FROM syscall:pread64 "
			    "WHERE pid = %d");
	expect_paths(*state, BYTES);
}

static void test_keys(void **state)
{
	watch_files(*state, "SELECT min(count) AS i, file_path(fd) AS x, count AS c FROM " CALLS
			    " GROUP BY x, c");
	expect_paths(*state, BYTES);
	watch_files(*state, "SELECT count AS i, file_name(fd) AS x FROM " CALLS " GROUP BY i, x");
	expect_names(*state);
}

static void expect_one(struct seen *s, const char *query, const char *path)
{
	watch_files(s, query);
	assert_true(s->n_rows > 0);
	for (u32 i = 0; i < s->n_said; i++)
		assert_int_equal(s->n[i], strcmp(s->said[i], path) == 0);
}

static void test_conditions(void **state)
{
	expect_one(*state,
		   "SELECT count AS i, 'x' AS x FROM " CALLS " AND file_name(fd) = 'behind'",
		   FOLDER "/behind");
	expect_one(*state,
		   "SELECT count AS i, 'x' AS x FROM " CALLS " AND file_name(fd) LIKE 'with _l%%'",
		   FOLDER "/with blank, \xc3\xa4");
	expect_one(*state,
		   "SELECT count AS i, 'x' AS x FROM " CALLS " AND file_path(fd) = '" FOLDER
		   "/to/in/within'",
		   FOLDER "/to/in/within");
	expect_one(*state, "SELECT count AS i, 'x' AS x FROM " CALLS " AND file_path(fd) IS NULL",
		   "");
}

/* What was mounted went with the workload. */
static int remove_files(void **state)
{
	(void)state;
	return system("rm -rf " FOLDER);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_names, struct seen),	  WATCH_TEST(test_paths, struct seen),
		WATCH_TEST(test_forms, struct seen),	  WATCH_TEST(test_dentries, struct seen),
		WATCH_TEST(test_spans, struct seen),	  WATCH_TEST(test_keys, struct seen),
		WATCH_TEST(test_conditions, struct seen),
	};

	watch_is_quick(argc, argv);
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("files", tests, NULL, remove_files);
}
