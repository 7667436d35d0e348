/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Three queries of one stream by one program of its hook, while threads call all the time: two of
 * the same windows count the same in every window, since one flip ends it for both; the third
 * has other windows, and goes away while the others run.  And what the verifier walks of programs
 * with many conditions.
 */
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "said.h"
#include "engine/engine.h"
#include "sys/sys.h"

#define N_THREADS 2
#define N_WINDOWS 2000
#define CALLS	  "FROM tracepoint:syscalls:sys_enter_getppid WHERE pid = %d "

static const char *const texts[] = {
	"SELECT count(*) " CALLS "WINDOW TUMBLING 1ms",
	"SELECT count(*), cpu, tid " CALLS "GROUP BY cpu, tid WINDOW TUMBLING 1ms",
	"SELECT count(*) " CALLS "WINDOW TUMBLING 7ms",
};
#define N_QUERIES ARRAY_SIZE(texts)

struct counted {
	struct query query;
	char text[256];
	u64 n_windows, total, matched;
	struct {
		u64 start_ns, end_ns, n;
	} windows[8 * N_WINDOWS];
};

/* One needs a field of the event's, and the other one came before it. */
static const char *const switches[] = {
	"SELECT count(*) FROM tracepoint:sched:sched_switch WINDOW TUMBLING 5ms",
	"SELECT count(*), next_pid = %d FROM tracepoint:sched:sched_switch GROUP BY next_pid = %d "
	"WINDOW TUMBLING 5ms",
};

static struct counted counted[N_QUERIES];
static u32 is_over, n_wanted = N_WINDOWS;
static u64 n_calls;

static void *caller(void *unused)
{
	u64 n = 0;

	for (; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); n++)
		syscall(SYS_getppid);
	__atomic_fetch_add(&n_calls, n, __ATOMIC_RELAXED);
	return NULL;
}

static int take(void *context, const struct batch *batch)
{
	struct counted *c = context;
	u64 n = 0;

	assert_false(account_has_loss(&batch->account));
	assert_true(c->n_windows < ARRAY_SIZE(c->windows));
	for (u32 i = 0; i < batch->n_rows; i++)
		n += (u64)batch->values[(u64)i * batch->schema->n_columns].integer;
	assert_int_equal(n, batch->account.matched);
	c->windows[c->n_windows].start_ns = batch->window_start_ns;
	c->windows[c->n_windows].end_ns = batch->window_end_ns;
	c->windows[c->n_windows++].n = n;
	c->total += n;
	return 0;
}

static void start(struct engine *engine, const char *const *said, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct counted *c = &counted[i];
		struct flow_input how = { .sink = { .batch = take, .context = c } };
		int err;

		*c = (struct counted){ 0 };
		snprintf(c->text, sizeof(c->text), said[i], getpid(), getpid());
		if (!query_init(&c->query, "text", c->text, strlen(c->text)) ||
		    !query_parse(&c->query) || !query_compile(&c->query)) {
			query_said(&c->query);
			fail();
		}
		err = query_start(&c->query, engine, &how);
		query_said(&c->query);
		assert_int_equal(err, 0);
		assert_ptr_equal(c->query.segment, counted[0].query.segment);
	}
	assert_non_null(counted[0].query.segment);
}

static void stop(struct counted *c)
{
	struct flow_result result;

	assert_int_equal(flow_stop(c->query.flow), 0);
	flow_result(c->query.flow, &result);
	c->matched = result.account.matched;
	assert_int_equal(c->matched, c->total);
	assert_int_equal(query_close(&c->query), 0);
}

/*
 * All windows that both were given whole: not the first, which began when each was added, nor those
 * behind it where each step takes longer than a window, until both are due at once.
 */
static void compare(const struct counted *a, const struct counted *b, u64 n_at_least)
{
	u64 i = 1, k = 1, n_equal = 0, n_calls_seen = 0;

	while (i + 1 < a->n_windows && k + 1 < b->n_windows) {
		if (a->windows[i].end_ns != b->windows[k].end_ns) {
			if (a->windows[i].end_ns < b->windows[k].end_ns)
				i++;
			else
				k++;
			continue;
		}
		if (a->windows[i].start_ns == b->windows[k].start_ns) {
			assert_int_equal(a->windows[i].n, b->windows[k].n);
			n_calls_seen += a->windows[i].n;
			n_equal++;
		}
		i++;
		k++;
	}
	print_message("%llu windows of %llu calls are equal\n", (unsigned long long)n_equal,
		      (unsigned long long)n_calls_seen);
	assert_true(n_wanted < N_WINDOWS || n_equal + 3 > MIN(a->n_windows, b->n_windows));
	assert_true(n_equal >= n_at_least && n_calls_seen > n_equal);
}

static void test_share(void **state)
{
	pthread_t threads[N_THREADS];
	struct engine *engine;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	assert_int_equal(engine_open(&engine), 0);
	start(engine, texts, N_QUERIES);
	for (u32 i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, caller, NULL), 0);
	while (counted[0].n_windows < n_wanted) {
		struct pollfd ready = { engine_fd(engine), POLLIN, 0 };

		if (poll(&ready, 1, 1000) > 0)
			assert_int_equal(engine_step(engine), 0);
		if (counted[0].n_windows >= n_wanted / 2 && counted[2].query.flow)
			stop(&counted[2]);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (u32 i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	stop(&counted[1]);
	stop(&counted[0]);
	compare(&counted[0], &counted[1], n_wanted / 2);
	/* Nobody called before all were attached. */
	assert_int_equal(counted[0].total, n_calls);
	assert_int_equal(counted[1].total, n_calls);
	assert_in_range(counted[2].total, n_calls / 10, n_calls);
	for (u32 i = N_QUERIES; i-- > 0;)
		query_free(&counted[i].query);
	engine_close(engine);
}

/* One of them is interrupted by others, and both are of one program. */
static void test_switches(void **state)
{
	struct engine *engine;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	assert_int_equal(engine_open(&engine), 0);
	start(engine, switches, ARRAY_SIZE(switches));
	while (counted[0].n_windows < n_wanted / 20) {
		struct pollfd ready = { engine_fd(engine), POLLIN, 0 };

		if (poll(&ready, 1, 1000) > 0)
			assert_int_equal(engine_step(engine), 0);
	}
	for (u32 i = 0; i < ARRAY_SIZE(switches); i++)
		stop(&counted[i]);
	compare(&counted[0], &counted[1], n_wanted / 40);
	for (u32 i = 0; i < ARRAY_SIZE(switches); i++)
		query_free(&counted[i].query);
	engine_close(engine);
}

/* --- One after the other --- */

static const char *const late_texts[] = {
	"SELECT count(*) " CALLS,
	"SELECT time " CALLS,
	"SELECT count(*) " CALLS,
	"SELECT count(*) OVER (ORDER BY time) " CALLS,
	"SET pushdown = off; SELECT count(*) OVER (ORDER BY time) " CALLS,
	"SELECT count(*) FROM raw_tracepoint:sched_process_exit WHERE pid = %d",
};

struct late {
	struct query query;
	char text[512];
	u64 n_rows, sum;	/* sum: of the last row */
	struct account account; /* of the last batch */
};

static struct late late[ARRAY_SIZE(late_texts)];

static int take_late(void *context, const struct batch *batch)
{
	struct late *l = context;

	l->n_rows += batch->n_rows;
	if (batch->n_rows)
		l->sum = (u64)batch->values[(u64)(batch->n_rows - 1) * batch->schema->n_columns]
				 .integer;
	l->account = batch->account;
	return 0;
}

static void start_late(struct late *l, struct engine *engine)
{
	struct flow_input how = { .sink = { .batch = take_late, .context = l } };

	assert_int_equal(query_start(&l->query, engine, &how), 0);
}

static void stop_late(struct late *l)
{
	assert_int_equal(flow_stop(l->query.flow), 0);
	assert_int_equal(query_close(&l->query), 0);
}

static void call(u32 n)
{
	while (n--)
		syscall(SYS_getppid);
}

/* A query counts from its own start on, though its programs were there before. */
static void test_late_start(void **state)
{
	struct engine *engine;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	assert_int_equal(engine_open(&engine), 0);
	for (u32 i = 0; i < ARRAY_SIZE(late); i++) {
		struct late *l = &late[i];

		snprintf(l->text, sizeof(l->text), late_texts[i], getpid());
		assert_true(query_init(&l->query, "text", l->text, strlen(l->text)));
		assert_true(query_parse(&l->query) && query_compile(&l->query));
	}
	start_late(&late[0], engine);
	start_late(&late[5], engine);
	call(1000);
	for (u32 i = 1; i < ARRAY_SIZE(late); i++)
		if (i != 2 && i != 5)
			start_late(&late[i], engine);
	call(500);
	for (u32 i = 0; i < ARRAY_SIZE(late); i++)
		if (i != 2)
			stop_late(&late[i]);
	/* Where nobody is left of those that ran. */
	for (u32 i = 3; i < ARRAY_SIZE(late); i++)
		query_free(&late[i].query);
	start_late(&late[2], engine);
	call(300);
	stop_late(&late[2]);
	assert_int_equal(late[0].sum, 1500);
	assert_int_equal(late[1].n_rows, 500);
	assert_int_equal(late[1].account.matched, 500);
	assert_int_equal(late[2].sum, 300);
	for (u32 i = 3; i < 5; i++) {
		assert_int_equal(late[i].n_rows, 500);
		assert_int_equal(late[i].sum, 500);
	}
	for (u32 i = 3; i-- > 0;)
		query_free(&late[i].query);
	engine_close(engine);
}

/* What holds up another that runs ends; its last window, too. */
static void test_slow(void **state)
{
	static const char *const texts[] = {
		"SELECT count(*) " CALLS,
		"SELECT count(*) FROM (SELECT tid AS t " CALLS ") AS a, (SELECT tid AS t " CALLS
		") "
		"AS b, (SELECT tid AS t " CALLS ") AS c WHERE a.t + b.t + c.t > 5",
	};
	struct late slow[2] = { 0 };
	struct engine *engine;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	assert_int_equal(engine_open(&engine), 0);
	for (u32 i = 0; i < 2; i++) {
		struct late *l = &slow[i];

		snprintf(l->text, sizeof(l->text), texts[i], getpid(), getpid(), getpid());
		assert_true(query_init(&l->query, "text", l->text, strlen(l->text)));
		assert_true(query_parse(&l->query) && query_compile(&l->query));
		start_late(l, engine);
	}
	call(10000);
	assert_int_equal(flow_stop(slow[1].query.flow), -ETIME);
	assert_int_equal(slow[1].n_rows, 0);
	assert_string_equal(slow[1].query.diags.list.at[0].tag, "too-slow");
	query_free(&slow[1].query);
	call(500);
	stop_late(&slow[0]);
	assert_int_equal(slow[0].sum, 10500);
	query_free(&slow[0].query);
	engine_close(engine);
}

/* --- Many hooks --- */

/* The first one takes the last part of a segment, so the second one gets programs of its own. */
#define N_FEW (BLOCK_PARTS - 1)
static struct late few[N_FEW], wide[2];

static void start_said(struct late *l, struct engine *engine, const char *format, u32 number)
{
	*l = (struct late){ 0 };
	snprintf(l->text, sizeof(l->text), format, getpid(), number);
	assert_true(query_init(&l->query, "text", l->text, strlen(l->text)));
	assert_true(query_parse(&l->query) && query_compile(&l->query));
	start_late(l, engine);
	assert_non_null(l->query.segment);
}

static void start_wide(struct late *l, struct engine *engine, u32 number)
{
	start_said(
		l, engine,
		"SET access_path = tracepoint; SELECT count(*) FILTER (WHERE pid = %d AND tid > %u) AS n "
		"FROM tracepoint:syscalls:sys_enter_sched_*",
		number);
}

static u64 grace_ns(void)
{
	u64 least_ns = UINT64_MAX;

	for (u32 i = 0; i < 3; i++) {
		u64 start_ns = base_monotonic_ns();

		assert_int_equal(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0), 0);
		least_ns = MIN(least_ns, base_monotonic_ns() - start_ns);
	}
	return least_ns;
}

/* A query that goes does not wait for a grace period of each of its hooks, whoever else is there.
 */
static void test_leave(void **state)
{
	u64 least_ns = grace_ns(), took_ns;
	struct engine *engine;
	u32 n_hooks;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	assert_int_equal(engine_open(&engine), 0);
	for (u32 i = 0; i < N_FEW; i++)
		start_said(&few[i], engine, "SELECT count(*) " CALLS "AND tid > %u", i);
	for (u32 i = 0; i < 2; i++)
		start_wide(&wide[i], engine, i);
	assert_ptr_not_equal(wide[0].query.segment, wide[1].query.segment);
	for (u32 i = 0; i < 3; i++) {
		struct late *l = &wide[i % 2];

		n_hooks = l->query.programs->set->n_hooks;
		assert_int_equal(flow_stop(l->query.flow), 0);
		took_ns = base_monotonic_ns();
		assert_int_equal(query_close(&l->query), 0);
		took_ns = base_monotonic_ns() - took_ns;
		query_free(&l->query);
		/* For the second one programs are made anew without it: those of the third. */
		if (i != 1) {
			print_message("%u hooks left in %llu us; a grace period: %llu us\n",
				      n_hooks, (unsigned long long)took_ns / 1000,
				      (unsigned long long)least_ns / 1000);
			assert_true(n_hooks >= 6);
		}
		/* It comes again while its places are being emptied, and counts. */
		if (!i) {
			start_wide(l, engine, i);
			for (u32 k = 0; k < 100; k++)
				syscall(SYS_sched_get_priority_max, 0);
		}
	}
	/* The one that was there all the time, and the one that came again. */
	assert_int_equal(wide[0].sum, 100);
	assert_int_equal(wide[1].sum, 100);
	for (u32 i = 0; i < N_FEW; i++) {
		stop_late(&few[i]);
		query_free(&few[i].query);
	}
	engine_close(engine);
}

/* --- Several calls, and conditions in common --- */

/* Of each there are 100 calls more than of the one before it. */
static const struct {
	const char *name;
	long number;
} several[] = { { "getppid", SYS_getppid }, { "getuid", SYS_getuid },
		{ "getgid", SYS_getgid },   { "geteuid", SYS_geteuid },
		{ "getegid", SYS_getegid }, { "munlockall", SYS_munlockall } };

/* A query for each of them, and these of the last one, whose ways begin like its. */
static const struct {
	const char *text;
	u64 percent; /* of the calls */
} alike[] = {
	{ "SELECT count(*) FROM tracepoint:syscalls:sys_enter_munlockall WHERE pid = %d", 100 },
	{ "SELECT count(*) FROM tracepoint:syscalls:sys_enter_munlockall "
	  "WHERE pid = %d AND tid %% 2 = 7",
	  0 },
	{ "SELECT count(*), tid FROM tracepoint:syscalls:sys_enter_munlockall "
	  "WHERE pid = %d AND tid > 0 GROUP BY tid",
	  100 },
	{ "SELECT count(*), histogram(time - time %% 10) "
	  "FROM tracepoint:syscalls:sys_enter_munlockall WHERE pid = %d AND tid > 0",
	  100 },
	{ "SELECT a.n + b.n - c.n FROM "
	  "(SELECT count(*) AS n FROM syscall:munlockall WHERE pid = %1$d) AS a CROSS JOIN "
	  "(SELECT count(latency) AS n FROM syscall:munlockall WHERE pid = %1$d AND latency > 0) AS b "
	  "CROSS JOIN (SELECT count(*) AS n FROM tracepoint:syscalls:sys_exit_munlockall "
	  "WHERE pid = %1$d AND ret >= 0) AS c",
	  100 },
};

enum { N_SEVERAL = ARRAY_SIZE(several), N_CROWD = N_SEVERAL + ARRAY_SIZE(alike) };

static struct late crowd[N_CROWD];

static u64 n_calls_of(u32 i)
{
	return 100 * (MIN(i, N_SEVERAL - 1) + 1);
}

static void test_several_calls(void **state)
{
	struct engine *engine;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	assert_int_equal(engine_open(&engine), 0);
	for (u32 i = 0; i < N_CROWD; i++) {
		struct late *l = &crowd[i];

		if (i < N_SEVERAL)
			snprintf(
				l->text, sizeof(l->text),
				"SELECT count(*) FROM tracepoint:syscalls:sys_enter_%s WHERE pid = %d",
				several[i].name, getpid());
		else
			snprintf(l->text, sizeof(l->text), alike[i - N_SEVERAL].text, getpid());
		assert_true(query_init(&l->query, "text", l->text, strlen(l->text)));
		assert_true(query_parse(&l->query) && query_compile(&l->query));
	}
	for (u32 i = N_CROWD; i-- > 0;)
		start_late(&crowd[i], engine);
	for (u32 i = 0; i < N_SEVERAL; i++)
		for (u64 n = n_calls_of(i); n; n--)
			syscall(several[i].number);
	for (u32 i = 0; i < N_CROWD; i++) {
		u64 n = n_calls_of(i) * (i < N_SEVERAL ? 100 : alike[i - N_SEVERAL].percent) / 100;
		struct flow_result result;

		assert_int_equal(flow_stop(crowd[i].query.flow), 0);
		flow_result(crowd[i].query.flow, &result);
		assert_int_equal(query_close(&crowd[i].query), 0);
		assert_int_equal(crowd[i].sum, n);
		assert_false(account_has_loss(&result.account));
		/* Those of the call, before WHERE: other programs call it as well. */
		if (i < N_CROWD - 1)
			assert_true(result.account.events >= n_calls_of(i));
	}
	for (u32 i = N_CROWD; i-- > 0;)
		query_free(&crowd[i].query);
	engine_close(engine);
}

/* --- What is tested of a field is no way of its own through all that follows --- */

static void put_items(struct buf *sql, const char *const *columns, const char *item, u32 n_rounds)
{
	for (u32 i = 0; i < n_rounds; i++)
		for (u32 k = 0; columns[k]; k++)
			buf_printf(sql, item, columns[k], i, columns[k], i);
}

/* Four times as many tests may take the verifier eight times as long, not as many ways as 2^n. */
static void test_verified(void **state)
{
	static const char *const mmap[] = { "addr", "len", "prot", "flags", "fd", "off", NULL };
	static const char *const block[] = { "dev", "error", "sector", "nr_sector", NULL };
	static const struct {
		const char *const *columns, *item, *from;
	} queries[] = {
		{ mmap, ", sum(CASE WHEN %s = %u THEN 1 WHEN %s > %u THEN 5 ELSE 2 END)",
		  "tracepoint:syscalls:sys_enter_mmap" },
		{ block, ", sum(CASE WHEN %s = %u THEN 1 WHEN %s > %u THEN 5 ELSE 2 END)",
		  "tracepoint:block:block_rq_complete" },
		{ block, ", count(*) FILTER (WHERE %s = %u OR %s > %u + 7)",
		  "tracepoint:block:block_rq_complete" },
	};

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		u32 n_verified[2] = { 0 };

		for (u32 k = 0; k < 2; k++) {
			struct bpf_prog_info info;
			struct query query;
			struct buf sql;
			int fd;

			buf_init(&sql);
			buf_puts(&sql, "SET access_path = raw; SELECT count(*)");
			put_items(&sql, queries[i].columns, queries[i].item, k ? 4 : 1);
			buf_printf(&sql, " FROM %s", queries[i].from);
			query_init(&query, "text", sql.at, sql.n);
			if (!query_parse(&query) || !query_compile(&query) || query_load(&query)) {
				query_said(&query);
				fail();
			}
			fd = query.programs->hooks.programs[0].fd;
			assert_int_equal(sys_info(fd, &info, sizeof(info)), 0);
			n_verified[k] = info.verified_insns;
			query_free(&query);
			buf_free(&sql);
		}
		print_message("%s: %u instructions walked, %u\n", queries[i].from, n_verified[0],
			      n_verified[1]);
		assert_true(n_verified[1] <= 8 * n_verified[0]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),	 cmocka_unit_test(test_several_calls),
		cmocka_unit_test(test_switches), cmocka_unit_test(test_late_start),
		cmocka_unit_test(test_leave),	 cmocka_unit_test(test_slow),
		cmocka_unit_test(test_verified)
	};

	if (argc > 1 && strcmp(argv[1], "--quick") == 0)
		n_wanted = 400;
	if (argc > 1 && argv[argc - 1][0] != '-')
		cmocka_set_test_filter(argv[argc - 1]);
	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
