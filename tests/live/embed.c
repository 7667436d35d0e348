/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program with an engine in it, beside a poll loop, a signal and a database of its own: it makes
 * 100,000 calls while two queries count them.  test_embed.c checks what it prints.
 */
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "said.h"

#define CALLS "FROM tracepoint:syscalls:sys_enter_getppid WHERE pid = %d "

static const char *const texts[] = {
	"SELECT count(*) AS n " CALLS "WINDOW TUMBLING 5ms",
	"SELECT count(*) AS n, cpu " CALLS "GROUP BY cpu, tid HAVING n > 0 WINDOW TUMBLING 10ms",
};
static sqlite3 *db;
static volatile sig_atomic_t n_alarms;

static void on_alarm(int number)
{
	n_alarms++;
}

/* The first column of every row goes into the database. */
static int take(void *query, const struct batch *batch)
{
	for (u32 i = 0; i < batch->n_rows; i++) {
		s64 n = (s64)batch->values[i * batch->schema->n_columns].integer;
		char *sql = sqlite3_mprintf("INSERT INTO t VALUES (%Q, %lld)", query, n);

		sqlite3_exec(db, sql, NULL, NULL, NULL);
		sqlite3_free(sql);
	}
	return account_has_loss(&batch->account) ? -1 : 0;
}

static int print(void *unused, int n, char **values, char **names)
{
	return printf("%s %s %s\n", values[0], values[1], values[2]) < 0;
}

int main(void)
{
	const struct itimerval every_ms = { { 0, 1000 }, { 0, 1000 } };
	static struct query queries[2];
	struct engine *engine;
	int err = sqlite3_open(":memory:", &db) || engine_open(&engine);

	sqlite3_exec(db, "CREATE TABLE t(query, n)", NULL, NULL, NULL);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every_ms, NULL);
	for (u32 i = 0; i < 2 && !err; i++) {
		char *sql = sqlite3_mprintf(texts[i], getpid());
		struct flow_input how = { .sink = { .batch = take, .context = i ? "b" : "a" } };

		if (!query_init(&queries[i], "text", sql, strlen(sql)) ||
		    !query_parse(&queries[i]) || !query_compile(&queries[i]) ||
		    query_start(&queries[i], engine, &how))
			err = query_said(&queries[i]) ? -1 : 1;
	}
	for (u32 round = 0; round < 100 && !err; round++) {
		struct pollfd ready = { engine_fd(engine), POLLIN, 0 };

		for (u32 i = 0; i < 1000; i++)
			syscall(SYS_getppid);
		if (poll(&ready, 1, 1) > 0)
			err = engine_step(engine);
	}
	for (u32 i = 0; i < 2 && !err; i++) {
		err = flow_stop(queries[i].flow);
		query_free(&queries[i]);
	}
	engine_close(engine);
	sqlite3_exec(db, "SELECT query, sum(n), count(*) FROM t GROUP BY query", print, NULL, NULL);
	printf("%d %d\n", n_alarms, signal(SIGALRM, SIG_IGN) == on_alarm);
	return err;
}
