/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The same query text gives the same answer on every kernel, whatever it is read by.  A workload
 * does the same each time; mechanisms.txt has for each query the one answer of all kernels (those
 * of the guests and this machine's), and what EXPLAIN says of each: its hooks, and why.
 * What takes the guests longest is reading the kernel's names and types: so few processes do it.
 * EBQL_UPDATE=1 writes the lines of the kernel it runs on.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/vec.h"
#include "watch.h"

enum { CALLS = 300, SIZES = 3 };

/* PID and PROGRAM are the workload's. */
static const struct {
	const char *name, *text, *path;
	bool is_of_functions; /* of the kernel: this machine has no probes of them */
} queries[] = {
	{ "call",
	  "SELECT count AS size, count(*) AS n, sum(pos) AS total FROM "
	  "tracepoint:syscalls:sys_enter_pread64 WHERE pid = PID GROUP BY size ORDER BY size" },
	{ "call by tracepoint",
	  "SELECT count AS size, count(*) AS n, sum(pos) AS total FROM "
	  "tracepoint:syscalls:sys_enter_pread64 WHERE pid = PID GROUP BY size ORDER BY size",
	  "tracepoint" },
	{ "span of a call", "SELECT count AS size, ret, count(*) AS n FROM syscall:pread64 WHERE "
			    "pid = PID GROUP BY size, ret ORDER BY size, ret" },
	{ "calls", "SELECT probe, count(*) AS n FROM tracepoint:syscalls:sys_enter_p* WHERE "
		   "pid = PID GROUP BY probe ORDER BY probe" },
	{ "tracepoint", "SELECT newcomm, count(*) AS n FROM tracepoint:task:task_rename WHERE "
			"current.pid = PID GROUP BY newcomm ORDER BY newcomm" },
	{ "program", "SELECT arg0 % 3 AS k, count(*) AS n, sum(arg0) AS total FROM "
		     "uprobe:PROGRAM:traced_call GROUP BY k ORDER BY k" },
	{ "span of a program", "SELECT ret, count(*) AS n, sum(arg0) AS total FROM "
			       "userfunction:PROGRAM:traced_call GROUP BY ret ORDER BY ret" },
	{ "list", "SELECT count(*) AS n FROM iter:task WHERE pid = PID" },
	{ "function",
	  "SELECT count AS size, count(*) AS n FROM kprobe:write_null WHERE pid = PID GROUP BY size "
	  "ORDER BY size",
	  .is_of_functions = true },
	{ "span of a function",
	  "SELECT count AS size, ret, count(*) AS n FROM function:vfs_read WHERE pid = PID AND "
	  "file.f_path.dentry.d_name.name = 'ebql_mechanism' GROUP BY size, ret ORDER BY size, ret",
	  .is_of_functions = true },
	{ "functions",
	  "SELECT probe, count AS size, count(*) AS n FROM kprobe:\"write_[nf]u*\" WHERE pid = PID "
	  "GROUP BY probe, size ORDER BY probe, size",
	  .is_of_functions = true },
};

/* --- The workload --- */

u64 traced_call(u64 n);

__attribute__((noinline, noclone)) u64 traced_call(u64 n)
{
	__asm__ volatile("" : "+r"(n));
	return n / 100;
}

static void work_once(int fd, int null_fd, int full_fd)
{
	char bytes[SIZES] = "";

	for (u32 i = 0; i < CALLS; i++)
		if (pread(fd, bytes, 1 + i % SIZES, i % 2) < 0 || traced_call(i) != i / 100 ||
		    write(null_fd, bytes, 1 + i % SIZES) < 0 ||
		    (i % 10 == 0 && write(full_fd, bytes, 1) >= 0) ||
		    (i % 30 == 0 && prctl(PR_SET_NAME, i % 60 ? "ebql_odd" : "ebql_even")))
			_exit(1);
}

static int work(void)
{
	int fd = open("/tmp/ebql_mechanism", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	char line[32];

	if (fd < 0 || null_fd < 0 || full_fd < 0 || write(fd, "ab", 2) != 2)
		return 1;
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		work_once(fd, null_fd, full_fd);
		work_answer("done\n");
	}
	unlink("/tmp/ebql_mechanism");
	return 0;
}

/* --- The table --- */

struct table_line {
	const char *name, *of, *text; /* of: "answer", or a kernel */
};

static VEC(struct table_line) old, new;
static struct arena arena;
static char kernel[16];

static void read_table(void)
{
	FILE *file = fopen(MECHANISMS, "re");
	char text[1024], name[32] = "";

	assert_non_null(file);
	while (fgets(text, sizeof(text), file)) {
		char *rest = strchr(text, '\t');

		text[strcspn(text, "\n")] = '\0';
		if (*text == '#' || !*text)
			continue;
		if (!rest) {
			snprintf(name, sizeof(name), "%.31s", text);
			continue;
		}
		*rest = '\0';
		vec_push(&arena, &old,
			 (struct table_line){ arena_strdup(&arena, name),
					      arena_strdup(&arena, text),
					      arena_strdup(&arena, rest + 1) });
	}
	fclose(file);
}

static void add(const char *name, const char *of, const char *text)
{
	vec_push(&arena, &new, (struct table_line){ name, of, arena_strdup(&arena, text) });
}

static void write_lines(FILE *file, const char *name, const char *of)
{
	bool is_new = false;

	for (u32 i = 0; i < new.n; i++)
		if (!strcmp(new.at[i].name, name) && !strcmp(new.at[i].of, of)) {
			fprintf(file, "%s\t%s\n", of, new.at[i].text);
			is_new = true;
		}
	for (u32 i = 0; i < old.n && !is_new; i++)
		if (!strcmp(old.at[i].name, name) && !strcmp(old.at[i].of, of))
			fprintf(file, "%s\t%s\n", of, old.at[i].text);
}

static void write_table(void)
{
	static const char *const parts[] = { "answer", "6.1", "6.12", "6.18" };
	FILE *file = fopen(MECHANISMS, "we");

	assert_non_null(file);
	fputs("# Of each query: its answer, which is that of every kernel, and what reads it in "
	      "each.\n# Written by tests/live/test_mechanism.c.\n",
	      file);
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		fprintf(file, "\n%s\n", queries[i].name);
		for (u32 k = 0; k < ARRAY_SIZE(parts); k++)
			write_lines(file, queries[i].name, parts[k]);
	}
	assert_int_equal(fclose(file), 0);
}

/* All lines of one name and kind, below each other. */
static const char *joined(const struct table_line *lines, u32 n, const char *name, const char *of)
{
	const char *text = "";

	for (u32 i = 0; i < n; i++)
		if (!strcmp(lines[i].name, name) && !strcmp(lines[i].of, of))
			text = arena_printf(&arena, "%s%s\n", text, lines[i].text);
	return text;
}

/* --- */

static const char *replaced(const char *text, const char *word, const char *by)
{
	const char *at = strstr(text, word);

	return at ? arena_printf(&arena, "%.*s%s%s", (int)(at - text), text, by, at + strlen(word))
		  : text;
}

static const char *query_path(const char *folder, u32 i)
{
	return arena_printf(&arena, "%s/q%u.sql", folder, i);
}

static char program[WATCH_PATH_BYTES];
static const char *texts[ARRAY_SIZE(queries)]; /* NULL: this kernel cannot run it */

/* All by one process, which reads the kernel's names and types once: "hook X", and the reason. */
static void explain_all(void)
{
	const char *argv[] = { proc_ebql(), NULL };
	const char *hook = NULL;
	struct proc ebql = { 0 };
	char *save = NULL;
	u32 i = 0;

	proc_start(&ebql, argv, 0);
	for (u32 k = 0; k < ARRAY_SIZE(queries); k++) {
		proc_write(&ebql, arena_printf(&arena, "SET access_path = %s;\n",
					       queries[k].path ?: "auto"));
		proc_write(&ebql, arena_printf(&arena, "EXPLAIN %s;\nSHOW VIEWS LIKE 'off_cpu';\n",
					       texts[k]));
	}
	proc_close_in(&ebql);
	if (proc_wait_exit(&ebql, 60000))
		fail_msg("%s", ebql.err_text.at);
	for (char *line = strtok_r(ebql.out_text.at, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		assert_true(i < ARRAY_SIZE(queries));
		if (hook)
			add(queries[i].name, kernel,
			    replaced(arena_printf(&arena, "%s: %s", hook, line + strspn(line, " ")),
				     program, "PROGRAM"));
		hook = strncmp(line, "  hook ", 7) ? NULL : line + 7;
		i += strncmp(line, "off_cpu ", 8) == 0; /* between two of them */
	}
	assert_int_equal(i, ARRAY_SIZE(queries));
	proc_forget(&ebql);
}

/* One ebql runs all while the work is done once; the rows of a query are ahead of its _batch. */
static void answer_all(struct watch *watch)
{
	const char *argv[] = { proc_ebql(), "watch", "-o", "json", "--socket", NULL, NULL, NULL };
	const char *rows[16], *name;
	char *save = NULL, folder[] = "/tmp/ebql_mechanism_XXXXXX", *line;
	u32 n = 0, n_runs = 0;

	assert_non_null(mkdtemp(folder));
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		FILE *file = texts[i] ? fopen(query_path(folder, i), "we") : NULL;

		if (!file)
			continue;
		fprintf(file, "SET access_path = %s;\n%s;\n", queries[i].path ?: "auto", texts[i]);
		assert_int_equal(fclose(file), 0);
		n_runs++;
	}
	argv[5] = arena_printf(&arena, "%s/socket", folder);
	argv[6] = folder;
	proc_start(&watch->ebql, argv, 0);
	if (!proc_wait_text(&watch->ebql,
			    arena_printf(&arena, "%u of %u queries run", n_runs, n_runs), 60000))
		fail_msg("%s", watch->ebql.err_text.at);
	watch_tell(watch, "go", "done\n");
	proc_signal(&watch->ebql, SIGINT);
	if (proc_wait_exit(&watch->ebql, 60000))
		fail_msg("%s%s", watch->ebql.err_text.at, watch->ebql.out_text.at);
	for (line = strtok_r(watch->ebql.out_text.at, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "{\"_batch\"", 9)) {
			assert_true(n < ARRAY_SIZE(rows));
			rows[n++] = line;
			continue;
		}
		name = strstr(line, "\"query\":\"q");
		assert_non_null(name);
		for (u32 k = 0; k < n; k++)
			add(queries[atoi(name + 10)].name, "answer", rows[k]);
		n = 0;
	}
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++)
		unlink(query_path(folder, i));
	rmdir(folder);
	proc_forget(&watch->ebql);
}

static void compare(const char *name, const char *of)
{
	assert_string_equal(joined(new.at, new.n, name, of), joined(old.at, old.n, name, of));
}

static void test_same_answer(void **state)
{
	bool has_functions = !access("/sys/bus/event_source/devices/kprobe", F_OK);
	struct watch *watch = *state;
	char pid[16];

	watch_own_path(program);
	watch_begin(watch, NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", watch->pid);
	read_table();
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++)
		texts[i] = replaced(replaced(queries[i].text, "PID", pid), "PROGRAM", program);
	explain_all();
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++)
		if (queries[i].is_of_functions && !has_functions)
			texts[i] = NULL;
	answer_all(watch);
	if (getenv("EBQL_UPDATE")) {
		write_table();
		return;
	}
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		const char *name = queries[i].name;

		assert_string_not_equal(joined(old.at, old.n, name, "answer"), "");
		if (has_functions || !queries[i].is_of_functions)
			compare(name, "answer");
		/* Of another kernel than the table's only the answers are known. */
		if (*joined(old.at, old.n, name, kernel))
			compare(name, kernel);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { WATCH_TEST(test_same_answer, struct watch) };
	u32 major = 0, minor = 0;
	struct utsname name;

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	/* What is written of hooks is of x86-64. */
	if (!strcmp(name.machine, "x86_64"))
		snprintf(kernel, sizeof(kernel), "%u.%u", major, minor);
	arena_init(&arena);
	return cmocka_run_group_tests_name("mechanism", tests, NULL, NULL);
}
