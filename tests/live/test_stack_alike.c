/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks that differ and have one hash: this test, as a workload, calls the kernel with frames that
 * it made up, of which it knows what programs make.  x86-64 alone: frames are the machine's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum { FIRST = 30, SECOND = 70 };

/* --- The workload --- */

/* What a frame begins with. */
struct frame {
	const struct frame *next;
	u64 returns_to;
};

/* Calls the kernel with these frames around it; returns where that was. */
static __attribute__((noinline)) u64 call_within(const struct frame *frames)
{
	u64 number = SYS_getppid, at;

	__asm__ volatile("lea 1f(%%rip), %1\n\t"
			 "mov %%rbp, %%r12\n\t"
			 "mov %2, %%rbp\n\t"
			 "syscall\n"
			 "1:\tmov %%r12, %%rbp"
			 : "+a"(number), "=&r"(at)
			 : "r"(frames)
			 : "rcx", "r11", "r12", "memory");
	return at;
}

/* As programs do it (src/gen/stack.c). */
static u64 mixed(u64 hash)
{
	return hash ^ hash >> 29;
}

static u64 hashed(u64 hash, u64 word)
{
	return (mixed(hash) ^ word) * 0x9e3779b97f4a7c15ull;
}

/*
 * Two stacks of one hash, in all of its bits: what differs in the one but last address the last one
 * takes back.
 */
static void call_alike(void)
{
	struct frame ends[] = { { NULL, 0x1111000 }, { NULL, 0 } };
	struct frame starts[] = { { &ends[0], 0x2222000 }, { &ends[1], 0x3333000 } };
	u64 before = hashed(hashed(0, (u64)getpid() | 3ull << 32), call_within(NULL));

	ends[1].returns_to = mixed(hashed(before, starts[0].returns_to)) ^ ends[0].returns_to ^
			     mixed(hashed(before, starts[1].returns_to));
	for (u32 i = 0; i < FIRST + SECOND; i++)
		call_within(&starts[i >= FIRST]);
}

static int work(void)
{
	char line[32];

	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		call_alike();
		work_answer("done\n");
	}
	return 0;
}

/* --- What ebql saw of it --- */

struct seen {
	struct watch watch;
	u64 n, other;
	u32 n_rows;
};

static void take_row(void *context, const struct line *line)
{
	struct seen *s = context;
	u64 n = line_number(line, "n");

	if (line_leaf(line, "_other"))
		s->other += n;
	else
		s->n += n;
	s->n_rows++;
}

/* The second one has no room, which is told: it is never the first. */
static void test_alike(void **state)
{
	struct seen *s = *state;

	watch_begin(&s->watch, take_row, s);
	watch_ebql(&s->watch,
		   "SELECT ustack(8) AS s, count(*) AS n FROM "
		   "tracepoint:syscalls:sys_enter_getppid WHERE pid = %d GROUP BY s",
		   s->watch.pid);
	watch_do(&s->watch, "alike", 3);
	assert_int_equal(s->n, FIRST + 1); /* and the call that told where it is */
	assert_int_equal(s->other, SECOND);
	assert_int_equal(s->n_rows, 3);
	assert_int_equal(s->watch.reader.totals.lost, SECOND);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { WATCH_TEST(test_alike, struct seen) };

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("stack_alike", tests, NULL, NULL);
}
