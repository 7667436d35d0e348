/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program that embeds the engine: its own poll loop, its own signals and its own SQLite, and
 * two queries of one stream at once.  It makes the calls that they count, so the truth is known.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/query.h"
#include "engine/engine.h"

#define ROUNDS 100
#define CALLS  1000 /* a round */
#define STREAM "tracepoint:syscalls:sys_enter_getppid"
#define HEAP   (64 << 20)

struct running {
	struct query query;
	struct flow *flow;
	sqlite3_stmt *insert; /* into the program's own database */
};

static volatile sig_atomic_t n_alarms;

static void on_alarm(int number)
{
	n_alarms++;
}

static int take(void *context, const struct batch *batch)
{
	struct running *r = context;

	assert_false(account_has_loss(&batch->account));
	for (u32 i = 0; i < batch->n_rows; i++) {
		sqlite3_bind_int64(r->insert, 1,
				   (s64)batch->values[(u64)i * batch->schema->n_columns].integer);
		assert_int_equal(sqlite3_step(r->insert), SQLITE_DONE);
		sqlite3_reset(r->insert);
	}
	return 0;
}

static void add(struct engine *engine, struct running *r, const char *sql)
{
	struct query *q = &r->query;
	struct flow_input input = { .sink = { .batch = take, .context = r } };

	query_init(q, "embedded", sql, strlen(sql));
	if (!query_parse(q) || !query_compile(q) || query_start(q, engine, &input)) {
		query_report(q);
		fail();
	}
	r->flow = q->flow;
}

static void finish(struct running *r)
{
	struct flow_result result;

	assert_int_equal(flow_stop(r->flow), 0);
	flow_result(r->flow, &result);
	assert_int_equal(result.account.matched, ROUNDS * CALLS);
	sqlite3_finalize(r->insert);
	query_free(&r->query);
}

static s64 sum_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	s64 sum;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	sum = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return sum;
}

static void test_embed(void **state)
{
	const struct itimerval every_ms = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	static struct running counted, grouped;
	struct sigaction alarm = { .sa_handler = on_alarm }, now;
	struct engine *engine;
	char sql[2][256];
	sqlite3 *db;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	/* The program's own: a database for several threads, a limit of memory, a timer's signal.
	 */
	sqlite3_hard_heap_limit64(HEAP);
	assert_int_equal(sqlite3_open_v2(":memory:", &db,
					 SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL),
			 SQLITE_OK);
	sqlite3_exec(db, "CREATE TABLE counted(n); CREATE TABLE grouped(n)", NULL, NULL, NULL);
	sqlite3_prepare_v2(db, "INSERT INTO counted VALUES (?)", -1, &counted.insert, NULL);
	sqlite3_prepare_v2(db, "INSERT INTO grouped VALUES (?)", -1, &grouped.insert, NULL);
	sigaction(SIGALRM, &alarm, NULL);
	setitimer(ITIMER_REAL, &every_ms, NULL);

	snprintf(sql[0], sizeof(sql[0]),
		 "SELECT count(*) FROM " STREAM " WHERE pid = %d WINDOW TUMBLING 5ms", getpid());
	snprintf(sql[1], sizeof(sql[1]),
		 "SELECT count(*) AS n, cpu FROM " STREAM " WHERE pid = %d GROUP BY cpu, tid "
		 "HAVING n > 0 ORDER BY n DESC WINDOW TUMBLING 10ms",
		 getpid());
	assert_int_equal(engine_open(&engine), 0);
	add(engine, &counted, sql[0]);
	add(engine, &grouped, sql[1]);
	for (u32 round = 0; round < ROUNDS; round++) {
		struct pollfd ready = { engine_fd(engine), POLLIN, 0 };

		for (u32 i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		if (poll(&ready, 1, 1) > 0)
			assert_int_equal(engine_step(engine), 0);
	}
	finish(&counted);
	finish(&grouped);
	engine_close(engine);
	setitimer(ITIMER_REAL, &never, NULL);

	assert_int_equal(sum_of(db, "SELECT sum(n) FROM counted"), ROUNDS * CALLS);
	assert_int_equal(sum_of(db, "SELECT sum(n) FROM grouped"), ROUNDS * CALLS);
	assert_true(sum_of(db, "SELECT count(*) FROM counted") > 3);
	/* What was the program's is as it was. */
	assert_true(n_alarms > 10);
	sigaction(SIGALRM, NULL, &now);
	assert_true(now.sa_handler == on_alarm);
	sigaction(SIGTERM, NULL, &now);
	assert_true(now.sa_handler == SIG_DFL);
	assert_int_equal(sqlite3_hard_heap_limit64(-1), HEAP);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_embed) };

	return cmocka_run_group_tests_name("embed", tests, NULL, NULL);
}
