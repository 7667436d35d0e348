/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The same load seen by ebql and by bpftrace: this test, as a workload, sends itself signals by
 * several calls, from several depths, each a known number of times.  By each stack of the program
 * and of the kernel both must have counted as many.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum { WAYS = 4, DEEPEST = 6, FOLDED_MAX = 2 * WAYS * DEEPEST, FOLDED_BYTES = 2048 };

static const char bpftrace_path[] = "/usr/bin/bpftrace";

/* --- The workload --- */

void signal_by_way(u32 way);
u32 signal_from(u32 way, u32 depth);

__attribute__((noinline)) void signal_by_way(u32 way)
{
	siginfo_t info = { .si_code = SI_QUEUE };
	int pid = getpid();
	long err = way == 0   ? syscall(SYS_kill, pid, SIGURG)
		   : way == 1 ? syscall(SYS_tkill, pid, SIGURG)
		   : way == 2 ? syscall(SYS_tgkill, pid, pid, SIGURG)
			      : syscall(SYS_rt_sigqueueinfo, pid, SIGURG, &info);

	if (err)
		_exit(1);
}

__attribute__((noinline)) u32 signal_from(u32 way, u32 depth)
{
	u32 n = 0;

	if (depth)
		n = signal_from(way, depth - 1);
	else
		signal_by_way(way);
	__asm__ volatile("" : "+r"(n) : : "memory");
	return n + 1;
}

/* By way w from depth d: 1 + w + WAYS * d times. */
static u32 times(u32 way, u32 depth)
{
	return 1 + way + WAYS * depth;
}

static int work(void)
{
	char line[32];

	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		for (u32 way = 0; way < WAYS; way++)
			for (u32 depth = 0; depth < DEEPEST; depth++)
				for (u32 i = 0; i < times(way, depth); i++)
					signal_from(way, depth);
		work_answer("done\n");
	}
	return 0;
}

/* --- Who counted what: texts as of `-o folded`, the innermost call first --- */

struct folded {
	char text[FOLDED_BYTES];
	u64 n;
};

struct both_seen {
	struct watch watch;
	struct proc bpftrace;
	struct folded ours[FOLDED_MAX], theirs[FOLDED_MAX];
};

/* The tracepoint's own functions: one calls raw programs, one the others. */
static bool is_of_tracepoint(const char *name)
{
	return !strncmp(name, "__traceiter_", 12) || !strncmp(name, "__bpf_trace_", 12) ||
	       !strncmp(name, "perf_trace_", 11);
}

/* What called main() is the C library's, whose names depend on what is installed. */
static void fold_call(char text[FOLDED_BYTES], const char *name, size_t n, bool is_program)
{
	size_t end = strlen(text);

	if (is_program ? strstr(text, "main;") != NULL : is_of_tracepoint(name))
		return;
	snprintf(text + end, FOLDED_BYTES - end, "%.*s;", (int)n, name);
}

static void fold_add(struct folded *folded, const char *text, u64 n)
{
	u32 i = 0;

	while (i < FOLDED_MAX && folded[i].n && strcmp(folded[i].text, text))
		i++;
	assert_true(i < FOLDED_MAX);
	snprintf(folded[i].text, FOLDED_BYTES, "%s", text);
	folded[i].n += n;
}

static void take_ours(void *context, const struct line *line)
{
	struct both_seen *s = context;
	char program[FOLDED_BYTES] = "", kernel[FOLDED_BYTES] = "", both[FOLDED_BYTES];

	for (u32 i = 0; i < line->n; i++) {
		const struct leaf *leaf = &line->leaves[i];

		if (!strcmp(leaf->path, "u[]"))
			fold_call(program, leaf->text, strlen(leaf->text), true);
		else if (!strcmp(leaf->path, "k[]"))
			fold_call(kernel, leaf->text, strlen(leaf->text), false);
	}
	snprintf(both, sizeof(both), "%.900s %.900s", program, kernel);
	fold_add(s->ours, both, line_number(line, "n"));
}

/* "@[", a line "    name+offset" for each call, ", " between both, "]: count" */
static void take_theirs(struct both_seen *s)
{
	char texts[2][FOLDED_BYTES] = { "", "" }, both[FOLDED_BYTES];
	char *at = s->bpftrace.out_text.at, *line;
	u32 part = 0;

	while ((line = strsep(&at, "\n"))) {
		line += strspn(line, " ");
		if (!strncmp(line, "@[", 2)) {
			part = 0;
			texts[0][0] = texts[1][0] = '\0';
		} else if (!strncmp(line, "]: ", 3)) {
			snprintf(both, sizeof(both), "%.900s %.900s", texts[0], texts[1]);
			fold_add(s->theirs, both, strtoull(line + 3, NULL, 10));
		} else if (*line == ',') {
			part = 1;
		} else if (*line) {
			fold_call(texts[part], line, strcspn(line, "+"), part == 0);
		}
	}
}

static int compare_folded(const void *a, const void *b)
{
	return strcmp(((const struct folded *)b)->text, ((const struct folded *)a)->text);
}

static void compare(struct both_seen *s)
{
	u64 n = 0;

	qsort(s->ours, FOLDED_MAX, sizeof(s->ours[0]), compare_folded);
	qsort(s->theirs, FOLDED_MAX, sizeof(s->theirs[0]), compare_folded);
	for (u32 i = 0; i < FOLDED_MAX; i++) {
		assert_string_equal(s->ours[i].text, s->theirs[i].text);
		assert_int_equal(s->ours[i].n, s->theirs[i].n);
		assert_int_equal(s->ours[i].n != 0, i < WAYS * DEEPEST);
		n += s->ours[i].n;
	}
	assert_int_equal(n, (WAYS * DEEPEST) * (WAYS * DEEPEST + 1) / 2);
}

/* It says so for a signal that this test sends itself. */
static void start_bpftrace(struct both_seen *s)
{
	char program[512];
	const char *const argv[] = { bpftrace_path, "-B", "none", "-e", program, NULL };
	bool is_there = false;

	snprintf(program, sizeof(program),
		 "tracepoint:signal:signal_generate { if (pid == %d) { printf(\"here\\n\"); } "
		 "if (pid == %d) { @[ustack, kstack] = count(); } }",
		 getpid(), s->watch.pid);
	proc_start(&s->bpftrace, argv, 0);
	for (u32 i = 0; i < 1000 && !is_there && s->bpftrace.status < 0; i++) {
		signal_by_way(0);
		is_there = proc_wait_text(&s->bpftrace, "here", 20);
	}
	if (!is_there)
		fail_msg("bpftrace: %s", s->bpftrace.err_text.at ?: "it does not begin");
}

static void test_bpftrace(void **state)
{
	struct both_seen *s = *state;

	watch_require();
	if (access(bpftrace_path, X_OK)) {
		print_message("SKIP: there is no %s\n", bpftrace_path);
		skip();
	}
	watch_open(&s->watch, take_ours, s);
	watch_work(&s->watch, "signals");
	start_bpftrace(s);
	watch_ebql(&s->watch,
		   "SELECT ustack AS u, kstack AS k, count(*) AS n FROM t:signal:signal_generate "
		   "WHERE pid = %d GROUP BY 1, 2",
		   s->watch.pid);
	watch_tell(&s->watch, "all", "done\n");
	proc_signal(&s->bpftrace, SIGINT);
	assert_int_equal(proc_wait_exit(&s->bpftrace, 20000), 0);
	watch_end(&s->watch, 0);
	take_theirs(s);
	compare(s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { WATCH_TEST(test_bpftrace, struct both_seen) };

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("stack_bpftrace", tests, NULL, NULL);
}
