/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is read where an event is, against a workload that knows what stood there: texts of the
 * program's memory as keys, in conditions, in rows and in spans, elements of arrays, and what
 * cannot be read.  --quick (slow guests): fewer calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

#define PATH_OF "/tmp/ebql_value_"

enum { NAMES = 3, PROGRAMS = 5, NICE = 3 };

/* In the bits of a word: 2, and a number of 30 with its sign. */
#define DEPTH (-123456)
#define WORD  ((u32)DEPTH << 2 | 2)

#ifdef __aarch64__
#define TAG (0xb5ull << 56)
#else
#define TAG 0ull
#endif

static u32 n_calls = 2000;

/* --- The workload: each line of its input a kind of calls --- */

static __attribute__((noreturn)) void fail_work(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

/*
 * A name on the stack, whose page is there for sure.  On arm64 a program may have eight bits of its
 * own in an address: such ones as no address of the kernel's lacks.
 */
static int open_name(u32 k, int flags)
{
	char name[sizeof(PATH_OF) + 2];

	snprintf(name, sizeof(name), PATH_OF "%u", k);
	return (int)syscall(SYS_openat, AT_FDCWD, (u64)name | TAG, flags, 0600);
}

/* Name k so many times as often as name 1, each time with another flag to it. */
static void open_names(void)
{
	for (u32 i = 0; i < n_calls; i++)
		for (u32 k = 1; k <= NAMES; k++)
			for (u32 j = 0; j < k; j++) {
				int fd = open_name(k, O_RDONLY | (k == 2 ? O_NOFOLLOW : 0));

				if (fd < 0 || close(fd))
					fail_work("openat");
			}
}

/* What is at address 8 nobody can read. */
static void open_nothing(void)
{
	for (u32 i = 0; i < n_calls; i++)
		if (syscall(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY) != -1 || errno != EFAULT)
			fail_work("openat of nothing");
}

/* Two pieces each, of which the first is a text and the last has five bytes. */
static void write_vectors(void)
{
	char name[] = PATH_OF "1";
	struct iovec pieces[2] = { { name, sizeof(name) }, { name, 5 } };
	struct sched_param param = { 0 };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* A bit of the thread's task_struct, and numbers that stand near each other there. */
	if (fd < 0 || setpriority(PRIO_PROCESS, 0, NICE) ||
	    sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &param))
		fail_work("sched_setscheduler");
	for (u32 i = 0; i < n_calls; i++)
		if (writev(fd, pieces, 2) != sizeof(name) + 5)
			fail_work("writev");
	close(fd);
}

/* --- Calls of execve with known arguments, of which none finds its file --- */

#define LONG_OF(n) "0123456789012345678901234567890123456789012345678901234567890" + 61 - (n)

enum { ROOM = 80, TEXTS_LEAST = 32, PIECE = 31, MANY = 100 };

static const char *const lists[][8] = {
	{ "one", "two words", "", "end" },
	{ NULL },
	{ "" },
	{ "", "" },
	{ LONG_OF(PIECE), LONG_OF(PIECE - 1), "" }, /* of whole pieces */
	{ LONG_OF(2 * PIECE - 1), "a" },
	{ LONG_OF(60), LONG_OF(19) }, /* as long as there is room */
	{ LONG_OF(60), LONG_OF(20) },
	{ LONG_OF(60), LONG_OF(18), "" },
	{ LONG_OF(60), LONG_OF(19), "" },
	{ "a", (char *)8 }, /* whose address nobody can read */
};
enum { LISTS = ARRAY_SIZE(lists), OF_MANY = LISTS, OF_NOWHERE, ALL_LISTS };

static void list_of(u32 k, const char *ret_list[MANY + 1])
{
	memset(ret_list, 0, (MANY + 1) * sizeof(*ret_list));
	if (k < LISTS)
		memcpy(ret_list, lists[k], sizeof(lists[k]));
	for (u32 i = 0; k == OF_MANY && i < MANY; i++)
		ret_list[i] = "a";
}

/* What strs() says of it; false: NULL. */
static bool text_of(u32 k, char ret_text[MANY * 64])
{
	u32 steps = TEXTS_LEAST + ROOM / PIECE, n = 0;
	const char *list[MANY + 1];

	list_of(k, list);
	*ret_text = '\0';
	for (u32 i = 0; list[i]; i++) {
		u32 pieces;

		if (list[i] == (char *)8)
			return false;
		pieces = (u32)strlen(list[i]) / PIECE + 1;
		n += (u32)sprintf(ret_text + n, "%s%s", i ? " " : "", list[i]);
		if (pieces >= steps && list[i + 1]) {
			strcpy(ret_text + MIN(n + 1, ROOM - 3u), "...");
			ret_text[n] = n + 1 < ROOM - 3u ? ' ' : ret_text[n];
			return true;
		}
		steps -= pieces;
	}
	if (n > ROOM)
		strcpy(ret_text + ROOM - 3, "...");
	return k != OF_NOWHERE;
}

static void execute_lists(void)
{
	const char *list[MANY + 1];

	for (u32 i = 0; i < n_calls; i++) {
		u32 k = i % ALL_LISTS;

		list_of(k, list);
		if (syscall(SYS_execve, "/ebql_is_not_here", k == OF_NOWHERE ? (void *)8 : list,
			    NULL) != -1)
			fail_work("execve");
	}
}

/* This very program, which then ends at once. */
static void execute_programs(void)
{
	const char *const list[] = { "values", "--end", "of two", "", "0123456789", NULL };

	for (u32 i = 0; i < PROGRAMS; i++) {
		pid_t child = vfork();

		if (child == 0) {
			execv("/proc/self/exe", (char *const *)list);
			_exit(1);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			fail_work("vfork");
	}
}

/* A file's name as structs, of which each word is the same. */
static void open_words(void)
{
	u32 words[64];

	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = i + 1 < ARRAY_SIZE(words) ? WORD : 0;
	for (u32 i = 0; i < n_calls; i++)
		if (syscall(SYS_openat, AT_FDCWD, words, O_RDONLY) != -1 || errno != ENOENT)
			fail_work("openat of words");
}

static int work(void)
{
	char line[32];

	if (TAG && prctl(PR_SET_TAGGED_ADDR_CTRL, PR_TAGGED_ADDR_ENABLE, 0, 0, 0))
		fail_work("tagged addresses");
	for (u32 k = 1; k <= NAMES; k++)
		close(open_name(k, O_RDWR | O_CREAT));
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "open"))
			open_names();
		else if (!strcmp(line, "vectors"))
			write_vectors();
		else if (!strcmp(line, "words"))
			open_words();
		else if (!strcmp(line, "lists"))
			execute_lists();
		else if (!strcmp(line, "programs"))
			execute_programs();
		else
			open_nothing();
		work_answer("done\n");
	}
	for (u32 k = 1; k <= NAMES; k++)
		unlink(k == 1 ? PATH_OF "1" : k == 2 ? PATH_OF "2" : PATH_OF "3");
	return 0;
}

/* --- What ebql saw of it --- */

struct seen {
	struct watch watch;
	u64 n[NAMES + 1], sum[NAMES + 1], other, n_null;
	u32 n_rows; /* of those below */
};

static void take_row(void *context, const struct line *line)
{
	const struct leaf *name = line_leaf(line, "name");
	const char *text = name && name->kind == LEAF_TEXT ? name->text : "";
	const struct leaf *n = line_leaf(line, "n");
	struct seen *s = context;
	u32 k = (u32)strlen(text) == strlen(PATH_OF "1") ? (u32)(text[strlen(PATH_OF)] - '0') : 0;

	if (name && name->kind == LEAF_NULL) {
		s->n_null += n ? line_number(line, "n") : 1;
	} else if (strncmp(text, PATH_OF, strlen(PATH_OF)) != 0 || k < 1 || k > NAMES) {
		s->other++;
	} else {
		s->n[k] += n ? line_number(line, "n") : 1;
		s->sum[k] += line_number(line, "total");
	}
}

/* Rows in the order of the calls. */
static void take_list(void *context, const struct line *line)
{
	const struct leaf *name = line_leaf(line, "name");
	struct seen *s = context;
	char text[MANY * 64];
	bool is_known = text_of(s->n_rows++ % ALL_LISTS, text);

	s->n_null += name->kind == LEAF_NULL;
	s->other += is_known ? name->kind != LEAF_TEXT || strcmp(name->text, text) != 0
			     : name->kind != LEAF_NULL;
}

static void take_program(void *context, const struct line *line)
{
	const struct leaf *name = line_leaf(line, "name");
	struct seen *s = context;

	s->n_rows++;
	s->other += name->kind != LEAF_TEXT ||
		    strcmp(name->text, "values --end of two  0123456789") != 0;
}

static void watch_rows(struct seen *s, void (*take)(void *context, const struct line *line),
		       const char *work, const char *query)
{
	char text[1024];

	watch_close(&s->watch);
	memset(s->n, 0, sizeof(*s) - offsetof(struct seen, n));
	watch_begin(&s->watch, take, s);
	snprintf(text, sizeof(text), query, s->watch.pid);
	watch_ebql(&s->watch, "%s", text);
	watch_do(&s->watch, work, -1);
}

static void watch_calls(struct seen *s, const char *work, const char *query)
{
	watch_rows(s, take_row, work, query);
}

static void expect_names(const struct seen *s)
{
	for (u32 k = 1; k <= NAMES; k++)
		assert_int_equal(s->n[k], n_calls * k);
	assert_int_equal(s->other, 0);
	assert_int_equal(s->n_null, 0);
	assert_int_equal(s->watch.reader.totals.lost, 0);
}

#define ENTER  "tracepoint:syscalls:sys_enter_openat"
#define OF_OUR "WHERE pid = %d AND str(filename) LIKE '" PATH_OF "_'"

static void test_text_is_key(void **state)
{
	watch_calls(*state, "open",
		    "SET access_path = raw; SELECT str(filename) AS name, count(*) AS n FROM " ENTER
		    " WHERE pid = %d GROUP BY name");
	expect_names(*state);
	watch_calls(*state, "open",
		    "SET access_path = tracepoint; SELECT str(filename, 17) AS name, count(*) AS n "
		    "FROM " ENTER " " OF_OUR " GROUP BY name");
	expect_names(*state);
	watch_calls(*state, "open",
		    "SET pushdown = off; SELECT str(filename) AS name, count(*) AS n FROM " ENTER
		    " " OF_OUR " GROUP BY name");
	expect_names(*state);
}

/* In the order of the calls; one is not asked for. */
static void test_text_in_rows(void **state)
{
	struct seen *s = *state;

	watch_calls(s, "open",
		    "SELECT str(filename) AS name, flags FROM " ENTER
		    " WHERE pid = %d AND str(filename) <> '" PATH_OF "2' "
		    "AND str(filename, 9) = '/tmp/ebql'");
	assert_int_equal(s->n[1], n_calls);
	assert_int_equal(s->n[2], 0);
	assert_int_equal(s->n[3], n_calls * 3);
	assert_int_equal(s->other, 0);
}

/* Read where the span begins; ret is known where it ends. */
static void test_text_of_span(void **state)
{
	struct seen *s = *state;

	watch_calls(s, "open",
		    "SELECT str(filename) AS name, count(*) AS n, sum(ret > 2) AS total "
		    "FROM syscall:openat " OF_OUR " GROUP BY name");
	expect_names(s);
	for (u32 k = 1; k <= NAMES; k++)
		assert_int_equal(s->sum[k], n_calls * k);
}

/* args of sys_enter: directory, name, flags; one index is computed, one beyond the array. */
static void test_elements(void **state)
{
	char query[512];
	struct seen *s = *state;

	snprintf(query, sizeof(query),
		 "SELECT str(args[1]) AS name, count(*) AS n, sum(args[id - %d] = %d) AS total "
		 "FROM tracepoint:raw_syscalls:sys_enter WHERE id = %d AND pid = %%d "
		 "AND args[id] IS NULL GROUP BY name",
		 SYS_openat - 2, O_NOFOLLOW, SYS_openat);
	watch_calls(s, "open", query);
	expect_names(s);
	assert_int_equal(s->sum[1] + s->sum[3], 0);
	assert_int_equal(s->sum[2], n_calls * 2);
}

/* Structs of the program by their type, elements of a pointer, bits, and the kernel's by addresses.
 */
static void test_structs(void **state)
{
	static const char *const settings[] = { "", "SET rules_off = typed; ",
						"SET rules_off = 'typed,members'; ",
						"SET access_path = tracepoint; ",
						"SET pushdown = off; " };
	struct seen *s = *state;
	char query[1024];

	for (u32 i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(query, sizeof(query),
			 "%sSELECT str(user(vec, 'struct iovec').iov_base) AS name, count(*) AS n, "
			 "sum(user(vec, 'struct iovec')[vlen - 1].iov_len) AS total "
			 "FROM tracepoint:syscalls:sys_enter_writev WHERE pid = %%d "
			 "AND task.sched_reset_on_fork = 1 AND task.comm[0] <> 0 "
			 "AND CAST(task + 0 AS 'struct task_struct *').tgid = task.tgid "
			 "AND container_of(task.comm, 'struct task_struct', comm) = task "
			 "AND task.prio = %d AND task.static_prio = %d AND task.normal_prio = %d "
			 "AND task.rt_priority = 0 AND task.exit_state = 0 "
			 "AND task.mm.owner.tgid = pid "
			 "GROUP BY name",
			 settings[i], 120 + NICE, 120 + NICE, 120 + NICE);
		watch_calls(s, "vectors", query);
		assert_int_equal(s->n[1], n_calls);
		assert_int_equal(s->sum[1], 5 * n_calls);
		assert_int_equal(s->other + s->n_null + s->watch.reader.totals.lost, 0);
	}
}

/*
 * Numbers, and bit fields, of which one has a sign, and a member of a union at the place of one of
 * them and of its type: each is a value of its own.
 */
static void test_bit_fields(void **state)
{
	struct utsname kernel;
	int major = 0, minor = 0;
	struct seen *s = *state;
	char query[1024];

	uname(&kernel);
	sscanf(kernel.release, "%d.%d", &major, &minor);
	snprintf(query, sizeof(query),
		 "SELECT '" PATH_OF "1' AS name, count(*) AS n, "
		 "sum(user(filename, 'union perf_mem_data_src').mem_lvl) AS total "
		 "FROM " ENTER " WHERE pid = %%d "
		 "AND user(filename, 'union perf_mem_data_src').val = %llu "
		 "AND user(filename, 'union perf_mem_data_src').val = user(filename, 'u64') "
		 "AND user(filename, 'u32')[1] + 1 = 1 + user(filename, 'u32') "
		 "AND user(filename, 'union perf_mem_data_src').mem_op = %u "
		 "AND user(filename, 'union perf_mem_data_src').mem_lvl = %u%s",
		 (unsigned long long)WORD << 32 | WORD, WORD & 31, WORD >> 5 & 0x3fff,
		 /* Of a struct without a name in a union without one; since 6.4. */
		 major > 6 || (major == 6 && minor >= 4)
			 ? " AND user(filename, 'struct bpf_reg_state').iter.state = 2"
			   " AND user(filename, 'struct bpf_reg_state').iter.depth = -123456"
			 : "");
	watch_calls(s, "words", query);
	assert_int_equal(s->n[1], n_calls);
	assert_int_equal(s->sum[1], (u64)n_calls * (WORD >> 5 & 0x3fff));
	assert_int_equal(s->other + s->n_null + s->watch.reader.totals.lost, 0);
}

#define NOTHING                                                                                    \
	"str(filename) AS name, count(*) AS n FROM " ENTER " WHERE pid = %d "                      \
	"AND CAST(filename AS 'struct task_struct *').prio IS NULL "                               \
	"AND CAST(filename - 20 AS 'struct task_struct *').prio IS NULL "                          \
	"AND CAST(filename + (1 << 62) AS 'struct task_struct *').prio IS NULL "                   \
	"AND CAST(filename AS 'struct task_struct *').mm.owner.prio IS NULL "                      \
	"GROUP BY name"

/* NULL, and a fault each. */
static void test_unreadable(void **state)
{
	struct seen *s = *state;

	for (u32 i = 0; i < 2; i++) {
		watch_calls(s, "nothing",
			    i ? "SET pushdown = off; SELECT str(filename) AS name, count(*) AS n "
				"FROM " ENTER " WHERE pid = %d GROUP BY name"
			      : "SELECT str(filename) AS name, count(*) AS n FROM " ENTER
				" WHERE pid = %d GROUP BY name");
		assert_int_equal(s->n_null, n_calls);
		assert_int_equal(s->other, 0);
		assert_int_equal(s->watch.reader.totals.lost, n_calls);
	}
}

/* Nor members at 8, of an error's number, beyond what addresses are, and of pointers read there. */
static void test_unreadable_members(void **state)
{
	struct seen *s = *state;

	for (u32 i = 0; i < 2; i++) {
		watch_calls(s, "nothing",
			    i ? "SET rules_off = typed; SELECT " NOTHING : "SELECT " NOTHING);
		assert_int_equal(s->n_null, n_calls);
		assert_int_equal(s->other, 0);
		assert_int_equal(s->watch.reader.totals.lost, 5 * n_calls);
	}
}

/* Of so many texts, of such lengths; one that is cut says so; what cannot be read is NULL. */
static void test_texts(void **state)
{
	static const char *const queries[] = {
		"SET access_path = raw; SELECT strs(argv, 80) AS name FROM "
		"tracepoint:syscalls:sys_enter_execve WHERE pid = %d",
		"SET access_path = tracepoint; SELECT strs(argv, 80) AS name FROM "
		"tracepoint:syscalls:sys_enter_execve WHERE pid = %d",
		"SET pushdown = off; SELECT strs(argv, 80) AS name FROM "
		"tracepoint:syscalls:sys_enter_execve WHERE pid = %d",
		"SELECT strs(argv, 80) AS name, ret FROM syscall:execve WHERE pid = %d",
	};
	struct seen *s = *state;

	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		watch_rows(s, take_list, "lists", queries[i]);
		assert_int_equal(s->n_rows, n_calls);
		assert_int_equal(s->other, 0);
		assert_true(s->n_null > n_calls / ALL_LISTS);
		assert_int_equal(s->watch.reader.totals.lost, s->n_null);
	}
}

/* Where they stand one behind the other: those of the program that was just executed. */
static void test_texts_of_program(void **state)
{
	struct seen *s = *state;

	watch_rows(s, take_program, "programs",
		   "SELECT strs(task.mm.arg_start, task.mm.arg_end) AS name FROM "
		   "tracepoint:sched:sched_process_exec WHERE current.ppid = %d");
	assert_int_equal(s->n_rows, PROGRAMS);
	assert_int_equal(s->other, 0);
	assert_int_equal(s->watch.reader.totals.lost, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_text_is_key, struct seen),
		WATCH_TEST(test_text_in_rows, struct seen),
		WATCH_TEST(test_text_of_span, struct seen),
		WATCH_TEST(test_elements, struct seen),
		WATCH_TEST(test_structs, struct seen),
		WATCH_TEST(test_bit_fields, struct seen),
		WATCH_TEST(test_unreadable, struct seen),
		WATCH_TEST(test_unreadable_members, struct seen),
		WATCH_TEST(test_texts, struct seen),
		WATCH_TEST(test_texts_of_program, struct seen),
	};

	if (watch_is_quick(argc, argv)) {
		n_calls = 100;
	}
	if (argc > 1 && !strcmp(argv[1], "--end"))
		return 0;
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
