/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries come to one engine and go again, at random, while threads call all the time.  Every
 * thread numbers its calls, and a query sees all numbers from its start to its end: none is
 * missing, between two windows neither, and none comes twice.  What was called before it was
 * started is not in it, and what was called from when it had been started until it was told to
 * stop is.  EBQL_TEST_LONG: 1,000 queries in 10 minutes; --quick (slow guests): few.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "left.h"
#include "said.h"
#include "engine/engine.h"
#include "sys/sys.h"

#define N_THREADS 2
#define N_LIVE	  20 /* more than a segment has */
#define EVERY	  64 /* of the calls is a row */

#define COUNTED                                                                                    \
	"SELECT tid, count(*) AS n, min(count) AS lo, max(count) AS hi, sum(count) AS s %s "       \
	"FROM %s WHERE pid = %d AND pos = 77 GROUP BY tid "
#define ENTER "tracepoint:syscalls:sys_enter_pread64"

static const struct kind {
	const char *set, *from, *window, *more;
	bool is_rows, may_miss;
} kinds[] = {
	{ "", ENTER, "WINDOW TUMBLING 10ms" },
	{ "", ENTER, "WINDOW TUMBLING 1s" },
	{ "", ENTER, "WINDOW HOPPING 100ms BY 100ms" },
	{ "SET state = 'kernel_map';", ENTER, "WINDOW TUMBLING 100ms" },
	{ "", "syscall:pread64", "WINDOW TUMBLING 20ms" },
	{ "", ENTER, "", .is_rows = true },
	{ "", ENTER, "HAVING n > 0 ORDER BY n WINDOW TUMBLING 70ms" }, /* by SQLite */
	/* A perf tracepoint's program is skipped where another one runs. */
	{ "SET access_path = tracepoint;", ENTER, "WINDOW TUMBLING 30ms", .may_miss = true },
};

struct caller {
	pthread_t thread;
	u64 tid, n_begun, n_done;
};

/* Of one query and one thread. */
struct seen {
	u64 first, last, n;
	u64 done_before, begun_behind; /* the start */
};

struct asked {
	struct query query;
	char text[2048];
	const struct kind *kind;
	bool is_there;
	struct seen seen[N_THREADS];
	u64 n_missed, n_cut;
};

static struct caller callers[N_THREADS];
static struct asked asked[N_LIVE];
static bool is_over, is_quick;
static u32 n_added;
/* A query that looks whether the other path is cheaper has more descriptors meanwhile. */
static const char *path = "";
static u64 n_windows, n_seen;

static void *call(void *context)
{
	struct caller *c = context;

	__atomic_store_n(&c->tid, (u64)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (u64 n = 1; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); n++) {
		__atomic_store_n(&c->n_begun, n, __ATOMIC_RELEASE);
		syscall(SYS_pread64, -1, NULL, n, 77);
		__atomic_store_n(&c->n_done, n, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void start_callers(void)
{
	is_over = false;
	for (u32 i = 0; i < N_THREADS; i++) {
		callers[i] = (struct caller){ 0 };
		assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
		while (!__atomic_load_n(&callers[i].n_done, __ATOMIC_ACQUIRE))
			usleep(1000);
	}
}

static void stop_callers(void)
{
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (u32 i = 0; i < N_THREADS; i++)
		pthread_join(callers[i].thread, NULL);
}

static struct seen *seen_of(struct asked *a, s128 tid)
{
	for (u32 i = 0; i < N_THREADS; i++)
		if ((s128)callers[i].tid == tid)
			return &a->seen[i];
	fail_msg("%s: thread %lld", a->text, (long long)tid);
	return NULL;
}

/* The numbers first .. last, `step` apart and n of them, are the next ones. */
static void take_numbers(struct asked *a, struct seen *seen, u64 first, u64 last, u64 n, u64 step)
{
	u64 n_missing = (last - first) / step + 1 - n;

	assert_true(last >= first && n <= (last - first) / step + 1);
	if (!seen->n)
		seen->first = first;
	else
		assert_true(first > seen->last);
	if (seen->n)
		n_missing += (first - seen->last) / step - 1;
	if (n_missing && !a->kind->may_miss)
		fail_msg("%s: %llu missing of %llu .. %llu behind %llu", a->text,
			 (unsigned long long)n_missing, (unsigned long long)first,
			 (unsigned long long)last, (unsigned long long)seen->last);
	if (n_missing > a->n_missed)
		fail_msg("%s: %llu missing, %llu missed", a->text, (unsigned long long)n_missing,
			 (unsigned long long)a->n_missed);
	a->n_missed -= n_missing;
	seen->last = last;
	seen->n += n;
	n_seen += n;
}

static int take(void *context, const struct batch *batch)
{
	struct asked *a = context;
	struct account account = batch->account;
	u64 n = 0;

	a->n_missed += a->kind->may_miss ? account.lost[LOSS_MISSED] : 0;
	account.lost[LOSS_MISSED] = a->kind->may_miss ? 0 : account.lost[LOSS_MISSED];
	/* A call of each thread may have begun before the start, and one end behind the end. */
	a->n_cut += account.lost[LOSS_UNPAIRED];
	account.lost[LOSS_UNPAIRED] = 0;
	assert_true(a->n_cut <= (batch->is_last ? 2 : 1) * N_THREADS);
	for (u32 i = 0; i < LOSS_N; i++)
		if (account.lost[i])
			fail_msg("%s: %s: %llu", a->text, loss_names[i],
				 (unsigned long long)account.lost[i]);
	for (u32 i = 0; i < batch->n_rows; i++) {
		const struct value *v = &batch->values[(u64)i * batch->schema->n_columns];
		struct seen *seen = seen_of(a, v[0].integer);

		if (a->kind->is_rows) {
			take_numbers(a, seen, (u64)v[1].integer, (u64)v[1].integer, 1, EVERY);
			continue;
		}
		n += (u64)v[1].integer;
		take_numbers(a, seen, (u64)v[2].integer, (u64)v[3].integer, (u64)v[1].integer, 1);
		if (!a->kind->may_miss)
			assert_true(2 * v[4].integer ==
				    (v[2].integer + v[3].integer) * v[1].integer);
	}
	if (!a->kind->is_rows)
		assert_int_equal(n, batch->account.matched);
	n_windows++;
	return 0;
}

/* What query_start() has less of. */
struct limits {
	u32 n_files; /* 0: enough */
	bool has_no_rights;
	u64 ring_bytes; /* 0: as settings have it */
};

static const struct limits no_limits;

static void limit(const struct limits *limits)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct rights[2];
	struct rlimit files = { limits->n_files ?: 1024, 4096 };

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_int_equal(syscall(SYS_capget, &header, rights), 0);
	for (u32 i = 0; i < 2; i++)
		rights[i].effective = limits->has_no_rights ? 0 : rights[i].permitted;
	assert_int_equal(syscall(SYS_capset, &header, rights), 0);
}

/* 0 or what query_start() says. */
static int try_add(struct asked *a, struct engine *engine, const struct kind *kind,
		   const struct limits *limits)
{
	struct flow_input how = { .sink = { .batch = take, .context = a } };
	int err;

	memset(a, 0, sizeof(*a));
	a->kind = kind;
	if (kind->is_rows)
		snprintf(
			a->text, sizeof(a->text),
			"%s %s SELECT tid, count FROM %s WHERE pid = %d AND pos = 77 AND count %% %d = 0",
			path, kind->set, kind->from, getpid(), EVERY);
	else
		snprintf(a->text, sizeof(a->text), "%s %s " COUNTED "%s", path, kind->set,
			 kind->more ?: "", kind->from, getpid(), kind->window);
	if (!query_init(&a->query, "text", a->text, strlen(a->text)) || !query_parse(&a->query) ||
	    !query_compile(&a->query)) {
		query_said(&a->query);
		fail();
	}
	for (u32 i = 0; i < N_THREADS; i++)
		a->seen[i].done_before = __atomic_load_n(&callers[i].n_done, __ATOMIC_ACQUIRE);
	if (limits->ring_bytes)
		a->query.settings.ring_bytes = limits->ring_bytes;
	limit(limits);
	err = query_start(&a->query, engine, &how);
	limit(&no_limits);
	for (u32 i = 0; i < N_THREADS; i++)
		a->seen[i].begun_behind = __atomic_load_n(&callers[i].n_begun, __ATOMIC_ACQUIRE);
	a->is_there = !err;
	n_added += !err;
	return err;
}

static void add(struct asked *a, struct engine *engine, const struct kind *kind)
{
	if (try_add(a, engine, kind, &no_limits)) {
		query_said(&a->query);
		fail_msg("%s", a->text);
	}
}

static void take_out(struct asked *a, const struct limits *limits)
{
	u64 step = a->kind->is_rows ? EVERY : 1, done[N_THREADS], begun;

	for (u32 i = 0; i < N_THREADS; i++)
		done[i] = __atomic_load_n(&callers[i].n_done, __ATOMIC_ACQUIRE);
	if (flow_stop(a->query.flow)) {
		query_said(&a->query);
		fail_msg("%s", a->text);
	}
	for (u32 i = 0; i < N_THREADS; i++) {
		const struct seen *seen = &a->seen[i];

		begun = __atomic_load_n(&callers[i].n_begun, __ATOMIC_ACQUIRE);
		if (!seen->n) {
			/* Of the calls that it saw from begin to end, none is one of its. */
			assert_true(a->kind->may_miss || done[i] < seen->begun_behind + 1 + step);
			continue;
		}
		assert_true(seen->first > seen->done_before && seen->last <= begun);
		if (a->kind->may_miss)
			continue;
		assert_true(seen->first <= seen->begun_behind + step);
		assert_true(seen->last + step > done[i]);
		assert_int_equal(seen->n, (seen->last - seen->first) / step + 1);
	}
	limit(limits);
	assert_int_equal(query_close(&a->query), 0);
	limit(&no_limits);
	query_free(&a->query);
	a->is_there = false;
}

static void run_for(struct engine *engine, u64 ns)
{
	u64 end_ns = base_monotonic_ns() + ns, now_ns;

	while ((now_ns = base_monotonic_ns()) < end_ns) {
		struct pollfd ready = { engine_fd(engine), POLLIN, 0 };

		if (poll(&ready, 1, (int)((end_ns - now_ns) / 1000000 + 1)) > 0)
			assert_int_equal(engine_step(engine), 0);
	}
}

/* --- What a process has --- */

/* Descriptors whose closing takes long are closed soon. */
static void expect_descriptors(u32 n)
{
	for (u32 i = 0; i < 1000 && left_descriptors() > n; i++)
		usleep(10000);
	assert_int_equal(left_descriptors(), n);
}

/* In KiB: `VmSize:`, `RssAnon:`, which the page cache is not in. */
static u64 memory_of(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	u64 n = 0;

	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			n = strtoull(line + strlen(name), NULL, 10);
	fclose(f);
	return n;
}

/* --- Tests --- */

static void needs_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("SKIP: not root\n");
	skip();
}

/* One comes or goes, n times.  Of what they had in the kernel at last nothing is left. */
static void come_and_go(struct engine *engine, u32 n, u64 pause_ns)
{
	struct left left;

	for (u32 i = 0; i < n; i++) {
		struct asked *a = &asked[random() % N_LIVE];

		if (a->is_there)
			take_out(a, &no_limits);
		else
			add(a, engine, &kinds[random() % ARRAY_SIZE(kinds)]);
		run_for(engine, (u64)random() % (2 * pause_ns));
	}
	left_take(&left, getpid());
	for (u32 i = 0; i < N_LIVE; i++)
		if (asked[i].is_there)
			take_out(&asked[i], &no_limits);
	assert_int_equal(left_wait_gone(&left, 20000), 0);
}

static void test_come_and_go(void **state)
{
	bool is_long = getenv("EBQL_TEST_LONG") != NULL;
	u32 n = is_long ? 920 : is_quick ? 6 : 100, n_fds = 0;
	u64 pause_ns = is_long ? 295000000 : is_quick ? 300000000 : 20000000;
	struct engine *engine;
	u64 size[3], resident[3];

	needs_root();
	srandom(7);
	assert_int_equal(engine_open(&engine), 0);
	start_callers();
	for (u32 round = 0; round < 3; round++) {
		come_and_go(engine, round ? n : n / 5 + 1, pause_ns);
		if (!round) {
			usleep(1000000);
			n_fds = left_descriptors();
		}
		expect_descriptors(n_fds);
		size[round] = memory_of("VmSize:");
		resident[round] = memory_of("RssAnon:");
	}
	stop_callers();
	engine_close(engine);
	print_message("%u queries, %llu windows or lots of rows of %llu calls, %u descriptors, "
		      "%llu then %llu KiB\n",
		      n_added, (unsigned long long)n_windows, (unsigned long long)n_seen, n_fds,
		      (unsigned long long)resident[1], (unsigned long long)resident[2]);
	assert_true(size[2] <= size[1] + 4096);
	assert_true(resident[2] <= resident[1] + 2048);
	assert_true(n_seen > (is_quick ? 100u : 100000u));
	assert_true(n_added >= (is_long ? 1000u : is_quick ? 3u : 100u));
}

static bool is_told(const struct query *query, const char *tag)
{
	const struct diags *diags = &query->diags;

	for (u32 i = 0; i < diags->list.n; i++)
		if (!strcmp(diags->list.at[i].tag, tag))
			return true;
	return false;
}

static void refuse(struct engine *engine, const struct kind *kind, const struct limits *limits,
		   const char *tag)
{
	struct asked *a = &asked[N_LIVE - 1];
	struct buf said;

	assert_int_not_equal(try_add(a, engine, kind, limits), 0);
	buf_init(&said);
	diags_print(&a->query.diags, &said);
	if (!strstr(said.at, tag))
		fail_msg("not %s: %s", tag, said.at);
	buf_free(&said);
	query_free(&a->query);
}

/*
 * A query that is refused, at whatever step, leaves nothing, and those that run do not notice.  As
 * one descriptor more is there each time, the next step is refused, until all can be had.
 */
static void test_refused(void **state)
{
	struct asked *last = &asked[N_LIVE - 1];
	const struct kind *more[] = { &kinds[0], &kinds[4], &kinds[7] };
	struct limits limits = { 0 };
	struct engine *engine;
	u32 n_before = left_descriptors(), n_fds, n_refused = 0;

	needs_root();
	path = "SET access_path = raw;";
	assert_int_equal(engine_open(&engine), 0);
	start_callers();
	for (u32 i = 0; i < 3; i++)
		add(&asked[i], engine, &kinds[i]);
	run_for(engine, 50000000);
	n_fds = left_descriptors();
	refuse(engine, &kinds[4], &(struct limits){ .has_no_rights = true }, "no-privilege");
	refuse(engine, &kinds[5], &(struct limits){ .ring_bytes = 1ull << 40 }, "map-create");
	expect_descriptors(n_fds);
	for (u32 k = 0; k < ARRAY_SIZE(more); k++) {
		/* Two of the folder's are itself and that above it; one is the open folder. */
		for (limits.n_files = n_fds - 3;; limits.n_files++) {
			if (!try_add(last, engine, more[k], &limits))
				break;
			assert_true(diags_failed(&last->query.diags));
			query_free(&last->query);
			expect_descriptors(n_fds);
			run_for(engine, 10000000);
			n_refused++;
		}
		run_for(engine, 50000000);
		take_out(last, &no_limits);
		expect_descriptors(n_fds);
	}
	assert_true(n_refused > 3 * ARRAY_SIZE(more));
	/* It goes, and its programs cannot be exchanged: they are when another one comes. */
	add(last, engine, &kinds[3]);
	run_for(engine, 50000000);
	take_out(last, &(struct limits){ .n_files = 3 });
	assert_true(left_descriptors() == n_fds);
	add(last, engine, &kinds[0]);
	run_for(engine, 50000000);
	take_out(last, &no_limits);
	expect_descriptors(n_fds);
	for (u32 i = 0; i < 3; i++)
		take_out(&asked[i], &no_limits);
	/* The engine goes before its query does. */
	add(last, engine, &kinds[7]);
	engine_close(engine);
	assert_int_equal(flow_stop(last->query.flow), -ECANCELED);
	assert_int_equal(query_close(&last->query), 0);
	query_free(&last->query);
	assert_int_equal(left_descriptors(), n_before);
	stop_callers();
	path = "";
}

/*
 * Too large for one program together, or too many for the places of a hook: several see the same
 * events then, of which the last are attached by themselves.
 */
static void test_too_large(void **state)
{
	u32 n = is_quick ? 3 : 11, n_segments = 0, n_alone = 0;
	struct kind large[11];
	struct engine *engine;

	needs_root();
	assert_int_equal(engine_open(&engine), 0);
	start_callers();
	for (u32 i = 0; i < n; i++) {
		struct buf more;

		/* Of values of its own: what is equal would be counted once. */
		buf_init(&more);
		for (u32 k = 2; k < 32; k++)
			buf_printf(&more, ", quantile(count * %u, 0.5)", 32 * i + k);
		large[i] = (struct kind){ "", ENTER, "WINDOW TUMBLING 20ms", .more = more.at };
		add(&asked[i], engine, i + 1 < n ? &large[i] : &kinds[0]);
		buf_free(&more);
		n_segments += i && asked[i].query.segment != asked[i - 1].query.segment;
		assert_true(!asked[i].query.segment == is_told(&asked[i].query, "own-programs"));
		n_alone += !asked[i].query.segment;
		run_for(engine, 50000000);
	}
	assert_true(n_segments >= 1 && n_alone == (is_quick ? 0 : n - CHAIN_PLACES));
	for (u32 i = n; i-- > 0;)
		take_out(&asked[i], &no_limits);
	stop_callers();
	engine_close(engine);
}

/*
 * A program that is under way for longer than a switch waits, as this thread has taken its slot. No
 * window ends meanwhile, and what came since is in the one that does then, also where that is the
 * query's last.
 */
static void test_stuck(void **state)
{
	const struct kind *both[][2] = { { &kinds[0], &kinds[4] }, { &kinds[0], &kinds[5] } };
	struct engine *engine;
	u64 word, *slot, n_before;
	u32 n;

	needs_root();
	start_callers();
	for (u32 round = 0; round < 2; round++) {
		assert_int_equal(engine_open(&engine), 0);
		for (u32 i = 0; i < 2; i++)
			add(&asked[i], engine, both[round][i]);
		run_for(engine, 50000000);
		slot = (*flow_loads(asked[0].query.flow, &n))->hooks->slots[0].slots;
		do
			word = __atomic_exchange_n(slot, SLOT_BUSY, __ATOMIC_SEQ_CST);
		while (word == SLOT_BUSY);
		n_before = n_windows;
		run_for(engine, 500000000);
		assert_true(round || n_windows == n_before);
		__atomic_store_n(slot, word, __ATOMIC_SEQ_CST);
		if (round)
			run_for(engine, 50000000);
		for (u32 i = 0; i < 2; i++)
			take_out(&asked[i], &no_limits);
		engine_close(engine);
	}
	stop_callers();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_come_and_go),
					    cmocka_unit_test(test_refused),
					    cmocka_unit_test(test_too_large),
					    cmocka_unit_test(test_stuck) };

	is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	load_raise_limits(NULL);
	return cmocka_run_group_tests_name("crowd", tests, NULL, NULL);
}
