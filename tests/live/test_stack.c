/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks: this test, as a workload of threads, makes calls by ways that it knows, each a known
 * number of times, and ebql counts them by stack, by equality.  --quick (slow guests): fewer calls.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"
#include "watch.h"

enum { THREADS = 8, DEEPEST = 12, WAY_BITS = 16, SLOW_WAYS = 8192, LOTS = 128, BURST_ROUNDS = 5 };

static u32 n_rounds = 50, n_slow_ways = SLOW_WAYS, n_room = 1024;

/* --- The workload --- */

u64 stack_leaf(u64 depth);
u64 stack_recursion(u64 depth);
u64 stack_odd(u64 depth);
u64 stack_even(u64 depth);

/* The call to the kernel is its own; a leaf has a frame where it asks for its address. */
__attribute__((noinline)) u64 stack_leaf(u64 depth)
{
#ifdef __x86_64__
	u64 number = SYS_getppid;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "r"(__builtin_frame_address(0))
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register u64 call __asm__("x8") = SYS_getppid;
	register u64 number __asm__("x0");

	__asm__ volatile("svc 0"
			 : "=r"(number)
			 : "r"(call), "r"(__builtin_frame_address(0))
			 : "memory");
#endif
	return number + depth;
}

__attribute__((noinline)) u64 stack_recursion(u64 depth)
{
	u64 below = depth ? stack_recursion(depth - 1) : stack_leaf(depth);

	__asm__ volatile("" : "+r"(below) : : "memory");
	return 1 + below;
}

__attribute__((noinline)) u64 stack_odd(u64 depth)
{
	u64 below = stack_recursion(depth);

	__asm__ volatile("" : "+r"(below) : : "memory");
	return 1 + below;
}

__attribute__((noinline)) u64 stack_even(u64 depth)
{
	u64 below = stack_recursion(depth);

	__asm__ volatile("" : "+r"(below) : : "memory");
	return 2 + below;
}

/* By depth d in a round: d + 1 times. */
static void *call(void *unused)
{
	u64 sum = 0;

	for (u32 i = 0; i < n_rounds; i++)
		for (u32 depth = 0; depth < DEEPEST; depth++)
			for (u32 k = 0; k <= depth; k++)
				sum += depth % 2 ? stack_odd(depth) : stack_even(depth);
	return (void *)(uintptr_t)sum;
}

u64 stack_zero(u64 way, u32 left);
u64 stack_one(u64 way, u32 left);
u64 stack_hot(u64 n);
u64 stack_burner(u64 n);

/* The way of a call is the bits of its number: 2^WAY_BITS ways, each once. */
static u64 go_on(u64 way, u32 left)
{
	return !left	 ? stack_leaf(way)
	       : way & 1 ? stack_one(way >> 1, left - 1)
			 : stack_zero(way >> 1, left - 1);
}

__attribute__((noinline)) u64 stack_zero(u64 way, u32 left)
{
	u64 below = go_on(way, left);

	__asm__ volatile("" : "+r"(below) : : "memory");
	return below;
}

__attribute__((noinline)) u64 stack_one(u64 way, u32 left)
{
	u64 below = go_on(way, left);

	__asm__ volatile("" : "+r"(below) : : "memory");
	return 1 + below;
}

/* Half of them on another CPU, where no stack is refused before all have been. */
static void call_all_ways(void)
{
	cpu_set_t cpus;

	for (u64 way = 0; way < 1u << WAY_BITS; way++) {
		if (way % (1 << (WAY_BITS - 1)) == 0) {
			CPU_ZERO(&cpus);
			CPU_SET(way > 0, &cpus);
			sched_setaffinity(0, sizeof(cpus), &cpus);
		}
		go_on(way, WAY_BITS);
	}
}

/* The next lot of some of them, and one call more. */
static void call_lot(void)
{
	static u64 way;

	do
		go_on(way, WAY_BITS);
	while (++way % (n_slow_ways / LOTS));
	stack_even(0);
}

/* More of them than are read at a time. */
static void call_at_once(void)
{
	for (u32 i = 0; i < BURST_ROUNDS; i++)
		for (u64 way = 0; way < n_slow_ways; way++)
			go_on(way, WAY_BITS);
}

__attribute__((noinline)) u64 stack_hot(u64 n)
{
	u64 sum = 0;

	for (u64 i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(sum) : "r"(__builtin_frame_address(0)));
	return sum;
}

__attribute__((noinline)) u64 stack_burner(u64 n)
{
	u64 sum = stack_hot(n);

	__asm__ volatile("" : "+r"(sum) : : "memory");
	return 1 + sum;
}

/* 0.5 s of the CPU's time. */
static void burn(void)
{
	struct timespec at = { 0 };

	while (!at.tv_sec && at.tv_nsec < 500000000) {
		stack_burner(1000000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	}
}

/* Code that no file has, and the map that tells of it: a frame, getppid(2), and back. */
#ifdef __x86_64__
static const u8 code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb8, SYS_getppid, 0,
			   0,	 0,    0x0f, 0x05, 0x5d, 0xc3 };
#else
static const u32 code[] = { 0xa9bf7bfd, 0x910003fd, 0xd2800008 | SYS_getppid << 5,
			    0xd4000001, 0xa8c17bfd, 0xd65f03c0 };
#endif
u64 stack_machine(u64 (*made)(void));

__attribute__((noinline)) u64 stack_machine(u64 (*made)(void))
{
	u64 sum = made();

	__asm__ volatile("" : "+r"(sum) : : "memory");
	return 1 + sum;
}

static void call_made(void)
{
	u8 *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	char map_path[64];
	FILE *map;

	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	map = fopen(map_path, "w");
	if (!map || at == MAP_FAILED)
		_exit(1);
	memcpy(at + 64, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + 4096);
	fprintf(map, "%lx 40 before\n%lx 40 made_code\n", (long)at, (long)at + 64);
	fclose(map);
	for (u32 i = 0; i < 10; i++)
		stack_machine((u64(*)(void))(at + 64));
}

static void call_by_processes(void)
{
	for (u32 i = 0; i < THREADS; i++) {
		int pid = fork();

		for (u32 k = 0; pid == 0 && k < 5; k++)
			stack_odd(3);
		if (pid <= 0)
			_exit(pid < 0);
	}
	while (wait(NULL) > 0)
		;
}

static int work(void)
{
	pthread_t threads[THREADS];
	char line[32];

	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (strcmp(line, "call")) {
			if (!strcmp(line, "burn"))
				burn();
			else if (!strcmp(line, "fork"))
				call_by_processes();
			else if (!strcmp(line, "made"))
				call_made();
			else if (!strcmp(line, "lot"))
				call_lot();
			else if (!strcmp(line, "burst"))
				call_at_once();
			else
				call_all_ways();
			work_answer("done\n");
			continue;
		}
		for (u32 i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, call, NULL))
				return 1;
		for (u32 i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		work_answer("done\n");
	}
	return 0;
}

/* --- What ebql saw of it --- */

struct seen {
	struct watch watch;
	u64 n[DEEPEST + 2], other; /* by how often the recursion stands in it */
	u32 n_rows;
	bool is_probe; /* of the leaf: see test_probe() */
};

/* leaf, so many times recursion, odd or even by its depth, which is one less; and so on. */
static void take_row(void *context, const struct line *line)
{
	struct seen *s = context;
	bool is_right = true;
	u32 at = 0, n = 0;

	for (u32 i = 0; i < line->n; i++) {
		const char *name = line->leaves[i].text;

		if (strcmp(line->leaves[i].path, "s[]"))
			continue;
		if (at == 0)
			is_right &= !strcmp(name, "stack_leaf");
		else if (at == n + 1 && !strcmp(name, "stack_recursion"))
			n++;
		else if (at == n + 1 && !s->is_probe)
			is_right &= !strcmp(name, n % 2 ? "stack_even" : "stack_odd");
		at++;
	}
	s->n_rows++;
	if (!is_right || at < n + 3 || n > DEEPEST)
		s->other += line_number(line, "n");
	else
		s->n[n] += line_number(line, "n");
}

/* first: how often the recursion stands in the stack of depth 0. */
static void expect(const struct seen *s, u32 first)
{
	assert_int_equal(s->other, 0);
	for (u32 depth = 0; depth < DEEPEST; depth++)
		assert_int_equal(s->n[first + depth], (u64)THREADS * n_rounds * (depth + 1));
}

/* Of this process, by hook: each stack once a window. */
static struct seen *watch_calls(void **state, const char *settings, const char *from,
				const char *rest)
{
	struct seen *s = *state;

	watch_begin(&s->watch, take_row, s);
	watch_ebql(&s->watch, "%s SELECT ustack AS s, count(*) AS n FROM %s WHERE pid = %d %s",
		   settings, from, s->watch.pid, rest);
	watch_do(&s->watch, "call", 0);
	return s;
}

#define CALLS "t:syscalls:sys_enter_getppid"

static void test_whole(void **state)
{
	struct seen *s = watch_calls(state, "", CALLS, "GROUP BY ustack");

	expect(s, 1);
	assert_int_equal(s->n_rows, DEEPEST);
}

static void test_windows(void **state)
{
	expect(watch_calls(state, "", CALLS, "GROUP BY s WINDOW TUMBLING 10ms"), 1);
}

static void test_tracepoint(void **state)
{
	expect(watch_calls(state, "SET access_path = tracepoint;", CALLS,
			   "GROUP BY s WINDOW TUMBLING 10ms"),
	       1);
}

static void test_kernel_map(void **state)
{
	expect(watch_calls(state, "SET state = kernel_map;", CALLS,
			   "GROUP BY s, cpu WINDOW TUMBLING 10ms"),
	       1);
}

/* Every event by itself, and SQLite groups them. */
static void test_unpushed(void **state)
{
	expect(watch_calls(state, "SET pushdown = off; SET ring_bytes = 16777216;", CALLS,
			   "GROUP BY s WINDOW TUMBLING 100ms"),
	       1);
}

/* The stack of the start of a span, which its end finds. */
static void test_start(void **state)
{
	expect(watch_calls(
		       state, "",
		       "(SELECT b.ustack, b.pid FROM t:syscalls:sys_exit_getppid AS a PAIR JOIN "
		       "t:syscalls:sys_enter_getppid AS b ON a.tid = b.tid)",
		       "GROUP BY s WINDOW TUMBLING 10ms"),
	       1);
}

/* On arm64 a probe stands before the function's frame, and who called it is missing. */
static void test_probe(void **state)
{
	struct seen *s = *state;
	char path[WATCH_PATH_BYTES], from[600];

	watch_own_path(path);
	snprintf(from, sizeof(from), "uprobe:%s:stack_leaf", path);
#ifdef __aarch64__
	s->is_probe = true;
#endif
	watch_calls(state, "", from, "GROUP BY s WINDOW TUMBLING 10ms");
	expect(s, !s->is_probe);
}

/* More stacks than there is room for: those that have it are whole, and the rest is told. */
static void take_way(void *context, const struct line *line)
{
	struct seen *s = context;

	if (line_leaf(line, "_other"))
		s->other += line_number(line, "n");
	else
		s->n[line_number(line, "n") == 1]++;
	s->n_rows++;
}

static void test_room(void **state)
{
	struct seen *s = *state;

	watch_begin(&s->watch, take_way, s);
	watch_ebql(&s->watch,
		   "SET max_groups = 131072; SELECT ustack AS s, count(*) AS n FROM " CALLS
		   " WHERE pid = %d GROUP BY s",
		   s->watch.pid);
	watch_do(&s->watch, "ways", 3);
	assert_int_equal(s->n[0], 0);
	assert_int_equal(s->n[1], s->n_rows - 1);
	assert_int_equal(s->n[1] + s->other, 1u << WAY_BITS);
	assert_int_equal(s->watch.reader.totals.lost, s->other);
	/* Slots, of which nearly all are taken. */
	assert_in_range(s->n[1], 30000, 32768);
}

/*
 * In a run there are more stacks than room, in a window there are not: all are told.  Those that
 * come in all windows are one row of each.
 */
struct slow_seen {
	struct watch watch;
	u64 ways[SLOW_WAYS], steady, other, window;
};

static void take_slow(void *context, const struct line *line)
{
	struct slow_seen *s = context;
	u64 way = 0, window = line_number(line, "w"), n = line_number(line, "n");
	u32 at = 0, left = WAY_BITS;
	bool is_steady = false;

	for (u32 i = 0; i < line->n; i++) {
		const char *name = line->leaves[i].text;

		if (strcmp(line->leaves[i].path, "s[]"))
			continue;
		is_steady |= at == 1 && !strcmp(name, "stack_recursion");
		/* The innermost call is of the last bit. */
		if (at && left && !strcmp(name, "stack_one"))
			way |= 1ull << --left;
		else if (at && left && !strcmp(name, "stack_zero"))
			left--;
		at++;
	}
	if (is_steady && window > s->window) {
		s->window = window;
		s->steady += n;
	} else if (!is_steady && left == 0 && way < SLOW_WAYS) {
		s->ways[way] += n;
	} else {
		s->other += n;
	}
}

/* n: in so many windows; 0: who knows. */
static void watch_slowly(void **state, const char *options, const char *window, u64 n)
{
	struct slow_seen *s = *state;

	watch_require();
	watch_open(&s->watch, take_slow, s);
	watch_work(&s->watch, "slow");
	watch_ebql(
		&s->watch,
		"SET stacks = %u; %s SELECT window_end AS w, ustack AS s, count(*) AS n FROM " CALLS
		" WHERE pid = %d GROUP BY s WINDOW %s",
		n_room, options, s->watch.pid, window);
	for (u32 lot = 0; lot < LOTS; lot++) {
		u64 n_batches;

		/* A window ends between two lots, however late; each lies anywhere in its own. */
		usleep(lot % 10 * 1000);
		watch_tell(&s->watch, "lot", "done\n");
		n_batches = s->watch.reader.totals.n_batches;
		while (s->watch.reader.totals.n_batches == n_batches && s->watch.ebql.out >= 0)
			proc_pump(10);
	}
	watch_end(&s->watch, 0);
	assert_int_equal(s->other, 0);
	/* How many panes a window has is a matter of time. */
	if (n)
		assert_int_equal(s->steady, n * LOTS);
	for (u32 way = 0; way < n_slow_ways; way++) {
		assert_true(s->ways[way]);
		if (n)
			assert_int_equal(s->ways[way], n);
	}
}

static void test_given_back(void **state)
{
	watch_slowly(state, "", "TUMBLING 10ms", 1);
}

/* Panes of both tables are one window. */
static void test_given_back_of_panes(void **state)
{
	watch_slowly(state, "", "HOPPING 40ms BY 10ms", 0);
}

static void test_given_back_of_map(void **state)
{
	watch_slowly(state, "SET state = kernel_map;", "TUMBLING 10ms", 1);
}

static void take_any(void *context, const struct line *line)
{
	struct seen *s = context;

	s->n[0] += line_number(line, "n");
	s->n_rows += line_leaf(line, "s[]") != NULL;
}

/* Rows wait in a queue by their stacks' numbers, so no room is given back: nothing is told wrong.
 */
static void test_rows_keep(void **state)
{
	struct seen *s = *state;

	watch_require();
	watch_open(&s->watch, take_any, s);
	watch_work(&s->watch, "burst");
	watch_ebql(&s->watch,
		   "SET stacks = 64; SELECT ustack AS s, count(*) AS n FROM " CALLS
		   " WHERE pid = %d GROUP BY s WINDOW COUNT 100",
		   s->watch.pid);
	watch_tell(&s->watch, "burst", "done\n");
	watch_end(&s->watch, 3);
	assert_int_equal(s->n[0], BURST_ROUNDS * n_slow_ways);
	assert_true(s->n_rows >= 16);
}

static void take_made(void *context, const struct line *line)
{
	struct seen *s = context;
	const struct leaf *leaf = line_leaf(line, "s[]");

	if (leaf && !strcmp(leaf->text, "made_code") && !strcmp(leaf[1].text, "stack_machine"))
		s->n[0] += line_number(line, "n");
	s->n_rows++;
}

static void test_made(void **state)
{
	struct seen *s = *state;
	char path[64];

	watch_begin(&s->watch, take_made, s);
	watch_ebql(&s->watch,
		   "SELECT ustack(2) AS s, count(*) AS n FROM " CALLS " WHERE pid = %d GROUP BY s",
		   s->watch.pid);
	watch_do(&s->watch, "made", 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", s->watch.pid);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(s->n_rows, 1);
	assert_int_equal(s->n[0], 10);
}

/* Their stacks are of the same addresses, and each is its process' own. */
static void take_process(void *context, const struct line *line)
{
	struct seen *s = context;

	s->n[line_number(line, "n") == 5]++;
	s->n_rows++;
}

static void test_processes(void **state)
{
	struct seen *s = *state;

	watch_begin(&s->watch, take_process, s);
	watch_ebql(&s->watch,
		   "SELECT ustack AS s, count(*) AS n FROM " CALLS " WHERE ppid = %d GROUP BY s",
		   s->watch.pid);
	watch_do(&s->watch, "fork", 0);
	assert_int_equal(s->n_rows, THREADS);
	assert_int_equal(s->n[1], THREADS);
}

/* The stack that most samples have. */
static void take_sample(void *context, const struct line *line)
{
	struct seen *s = context;
	u64 n = line_number(line, "n");
	u32 at = 0;

	if (n <= s->n[0])
		return;
	s->n[0] = n;
	s->n_rows = 0;
	for (u32 i = 0; i < line->n && at < 2; i++)
		if (!strcmp(line->leaves[i].path, "s[]"))
			s->n_rows +=
				!strcmp(line->leaves[i].text, at++ ? "stack_burner" : "stack_hot");
}

static void test_profile(void **state)
{
	struct seen *s = *state;

	watch_begin(&s->watch, take_sample, s);
	watch_ebql(
		&s->watch,
		"SELECT ustack(2) AS s, count(*) AS n FROM profile:199 WHERE pid = %d GROUP BY s",
		s->watch.pid);
	watch_do(&s->watch, "burn", -1);
	assert_int_equal(s->n_rows, 2);
}

struct kernel_seen {
	struct watch watch;
	u64 n, n_known;
	bool has_call;
};

static void take_kernel(void *context, const struct line *line)
{
	struct kernel_seen *s = context;
	bool is_known = false;

	for (u32 i = 0; i < line->n; i++)
		if (!strcmp(line->leaves[i].path, "s[]"))
			is_known |= strstr(line->leaves[i].text, "do_syscall_64") ||
				    strstr(line->leaves[i].text, "entry_SYSCALL_64") ||
				    strstr(line->leaves[i].text, "el0_svc");
	s->n += line_number(line, "n");
	s->n_known += is_known ? line_number(line, "n") : 0;
}

/* What the kernel's stack of a call has for sure. */
static void test_kernel(void **state)
{
	struct kernel_seen *s = *state;

	watch_begin(&s->watch, take_kernel, s);
	watch_ebql(&s->watch, "SELECT kstack AS s, count(*) AS n FROM %s WHERE pid = %d GROUP BY s",
		   CALLS, s->watch.pid);
	watch_do(&s->watch, "call", 0);
	assert_int_equal(s->n, (u64)THREADS * n_rounds * DEEPEST * (DEEPEST + 1) / 2);
	assert_int_equal(s->n_known, s->n);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_whole, struct seen),
		WATCH_TEST(test_windows, struct seen),
		WATCH_TEST(test_tracepoint, struct seen),
		WATCH_TEST(test_kernel_map, struct seen),
		WATCH_TEST(test_unpushed, struct seen),
		WATCH_TEST(test_start, struct seen),
		WATCH_TEST(test_probe, struct seen),
		WATCH_TEST(test_kernel, struct kernel_seen),
		WATCH_TEST(test_made, struct seen),
		WATCH_TEST(test_processes, struct seen),
		WATCH_TEST(test_profile, struct seen),
		WATCH_TEST(test_given_back, struct slow_seen),
		WATCH_TEST(test_given_back_of_map, struct slow_seen),
		WATCH_TEST(test_given_back_of_panes, struct slow_seen),
		WATCH_TEST(test_rows_keep, struct seen),
		WATCH_TEST(test_room, struct seen),
	};
	u32 n_tests = ARRAY_SIZE(tests);

	if (watch_is_quick(argc, argv)) {
		n_rounds = 4;
		n_slow_ways = 2048;
		n_room = 256;
		n_tests--; /* the last one takes long there */
	}
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	if (argc > 1 && argv[argc - 1][0] != '-')
		cmocka_set_test_filter(argv[argc - 1]);
	return _cmocka_run_group_tests("stack", tests, n_tests, NULL, NULL);
}
