/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks at the entry of a program's function, which has no frame yet: this test, as a workload,
 * calls functions that begin in several ways, by ways that it knows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"
#include "watch.h"

enum { ENTRY_DEPTH = 4 };

/* --- The workload --- */

/* Functions that call themselves, always from one place: each by what it begins with. */
u64 entry_push(u64 depth);
u64 entry_endbr(u64 depth);
u64 entry_mov(u64 depth);
u64 stack_enter(u64 (*entry)(u64 depth));
u64 stack_enter_all(void);

#define ENTRY(name, first)                                                                         \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name         \
		":\n" first "push %rbp\nmov %rsp, %rbp\ntest %rdi, %rdi\nje 1f\ndec %rdi\n"        \
		"call " #name "\n1: pop %rbp\nret\n.size " #name ", . - " #name "\n.popsection")
ENTRY(entry_push, "");
ENTRY(entry_endbr, "endbr64\n");
ENTRY(entry_mov, "mov %rdi, %rax\n");

__attribute__((noinline)) u64 stack_enter(u64 (*entry)(u64 depth))
{
	u64 sum = entry(ENTRY_DEPTH - 1);

	__asm__ volatile("" : "+r"(sum) : : "memory");
	return 1 + sum;
}

__attribute__((noinline)) u64 stack_enter_all(void)
{
	u64 sum = stack_enter(entry_push);

	__asm__ volatile("" : "+r"(sum) : : "memory");
	sum += stack_enter(entry_endbr);
	__asm__ volatile("" : "+r"(sum) : : "memory");
	sum += stack_enter(entry_mov);
	__asm__ volatile("" : "+r"(sum) : : "memory");
	return 1 + sum;
}

static int work(void)
{
	char line[32];

	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		stack_enter_all();
		work_answer("done\n");
	}
	return 0;
}

/* --- What ebql saw of it --- */

struct seen {
	struct watch watch;
	u64 n[ENTRY_DEPTH + 1], other; /* by how often the function stands in it */
	u32 n_rows, depth;
};

/* ENTRY_DEPTH times the function, or fewer, and who called it: all addresses, and none twice. */
static void take_entry(void *context, const struct line *line)
{
	struct seen *s = context;
	const char *names[64] = { "" };
	u32 n = 0, own = 1;

	for (u32 i = 0; i < line->n; i++)
		if (!strcmp(line->leaves[i].path, "s[]") && n < ARRAY_SIZE(names))
			names[n++] = line->leaves[i].text;
	while (own < n && !strcmp(names[own], names[0]))
		own++;
	s->n_rows++;
	if (strncmp(names[0], "entry_", 6) || own > ENTRY_DEPTH ||
	    (own < n && strcmp(names[own], "stack_enter")) ||
	    (own + 1 < n && strcmp(names[own + 1], "stack_enter_all")))
		s->other++;
	else
		s->n[own] += line_number(line, "n");
	s->depth = MAX(s->depth, n);
}

static struct seen *watch_entry(void **state, const char *name, u32 depth)
{
	struct seen *s = *state;
	char path[WATCH_PATH_BYTES];

	watch_own_path(path);
	watch_begin(&s->watch, take_entry, s);
	watch_ebql(&s->watch,
		   "SELECT ustack(%u) AS s, count(*) AS n FROM uprobe:%s:%s WHERE pid = %d "
		   "GROUP BY s",
		   depth, path, name, s->watch.pid);
	watch_do(&s->watch, "enter", 0);
	assert_int_equal(s->other, 0);
	return s;
}

/*
 * Who called a function that has no frame yet; of some the kernel itself tells since 6.12
 * (is_uprobe_at_func_entry()).
 */
static void test_entry(void **state, const char *name)
{
	struct seen *s = watch_entry(state, name, 20);

	assert_int_equal(s->n_rows, ENTRY_DEPTH);
	for (u32 i = 1; i <= ENTRY_DEPTH; i++)
		assert_int_equal(s->n[i], 1);
}

static void test_push(void **state)
{
	test_entry(state, "entry_push");
}

static void test_endbr(void **state)
{
	test_entry(state, "entry_endbr");
}

static void test_mov(void **state)
{
	test_entry(state, "entry_mov");
}

/* As many as are asked for: the function and its caller, which is itself but for one. */
static void test_two(void **state)
{
	struct seen *s = watch_entry(state, "entry_mov", 2);

	assert_int_equal(s->n_rows, 2);
	assert_int_equal(s->n[1], 1);
	assert_int_equal(s->n[2], ENTRY_DEPTH - 1);
	assert_int_equal(s->depth, 2);
}

static void test_one(void **state)
{
	struct seen *s = watch_entry(state, "entry_mov", 1);

	assert_int_equal(s->n_rows, 1);
	assert_int_equal(s->n[1], ENTRY_DEPTH);
	assert_int_equal(s->depth, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_push, struct seen), WATCH_TEST(test_endbr, struct seen),
		WATCH_TEST(test_mov, struct seen),  WATCH_TEST(test_two, struct seen),
		WATCH_TEST(test_one, struct seen),
	};

	watch_is_quick(argc, argv);
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("stack_entry", tests, NULL, NULL);
}
