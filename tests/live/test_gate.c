/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * max_cpu: what is computed of several events, where some of them are left in between.  The test
 * closes the gate itself, as programs do at the limit, and ebql opens it when it looks.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "map_memory.h"
#include "phys/maps.h"
#include "place.h"
#include "reader.h"

#define ENTER "tracepoint:syscalls:sys_enter_msgrcv"
#define EXIT  "tracepoint:syscalls:sys_exit_msgrcv"
/* So that it never is too much. */
#define LIMIT "max_cpu = '10000%'"

struct message {
	long type;
	char text[8];
};

static int queue = -1, receiver; /* the thread's id */
static u32 n_begun, n_received, n_wanted;

/* It calls as often as is asked for, and waits in each call for a message. */
static void *receive(void *unused)
{
	struct message m;

	__atomic_store_n(&receiver, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (true) {
		u32 wanted = __atomic_load_n(&n_wanted, __ATOMIC_ACQUIRE);

		if (wanted == UINT32_MAX)
			return NULL;
		if (n_begun == wanted) {
			usleep(100);
			continue;
		}
		__atomic_add_fetch(&n_begun, 1, __ATOMIC_RELEASE);
		assert_true(msgrcv(queue, &m, sizeof(m.text), 0, 0) >= 0);
		__atomic_add_fetch(&n_received, 1, __ATOMIC_RELEASE);
	}
}

/* Does it sleep in a call, and not in what it does between two of them? */
static bool is_in_call(void)
{
	char path[64];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall",
		 __atomic_load_n(&receiver, __ATOMIC_ACQUIRE));
	file = fopen(path, "r");
	assert_non_null(file);
	if (fscanf(file, "%ld", &number) != 1)
		number = -1; /* it is running */
	fclose(file);
	return number == SYS_msgrcv;
}

/* Returns when the thread waits in its call number n. */
static void begin_call(u32 n)
{
	__atomic_store_n(&n_wanted, n, __ATOMIC_RELEASE);
	while (__atomic_load_n(&n_begun, __ATOMIC_ACQUIRE) < n)
		usleep(100);
	while (!is_in_call())
		usleep(100);
}

static void end_call(u32 n)
{
	struct message m = { .type = 1 };

	assert_int_equal(msgsnd(queue, &m, sizeof(m.text), 0), 0);
	while (__atomic_load_n(&n_received, __ATOMIC_ACQUIRE) < n)
		usleep(100);
}

/* --- ebql, and its gate --- */

static struct {
	u64 n, partners, total, never_started, never_ended;
	u64 n_left;	  /* of the window that tells most: all is left while ebql stands still */
	u64 n_left_there; /* as the batch of the latest row says */
	bool has_row;
} seen;
static struct budget *budget;

static void take_row(void *context, const struct line *line)
{
	seen.n += line_number(line, "n");
	seen.partners += line_number(line, "partners");
	seen.total = MAX(seen.total, line_number(line, "total"));
	seen.has_row = line_number(line, "n");
}

static void take_batch(void *context, const struct line *line)
{
	u64 n_left = line_number(line, "_batch.lost.over_budget");

	seen.n_left = MAX(seen.n_left, n_left);
	seen.never_started += line_number(line, "_batch.unpaired.never_started") +
			      line_number(line, "_batch.unpaired.began_before");
	seen.never_ended += line_number(line, "_batch.unpaired.never_ended");
	if (seen.has_row)
		seen.n_left_there = n_left;
	seen.has_row = false;
}

static void start(struct proc *ebql, struct reader *reader, const char *query)
{
	u32 since = newest_map();

	memset(&seen, 0, sizeof(seen));
	memset(ebql, 0, sizeof(*ebql));
	reader_init(reader, take_row, NULL);
	reader->batch = take_batch;
	ebql->sink = reader_feed;
	ebql->sink_context = reader;
	proc_start(ebql,
		   (const char *const[]){ proc_ebql(), "-o", "json", "--verbose", query, NULL }, 0);
	assert_true(proc_wait_text(ebql, "attached", LIMIT_MS));
	budget = map_memory(since, "ebql_budget", PROT_READ | PROT_WRITE, 0);
}

static void end(struct proc *ebql, struct reader *reader, int status)
{
	usleep(120000); /* windows in which nothing happens */
	proc_signal(ebql, SIGINT);
	assert_int_equal(proc_wait_exit(ebql, LIMIT_MS), status);
	assert_string_equal(reader->error, "");
	reader_free(reader);
	proc_forget(ebql);
}

static bool is_stopped(int pid)
{
	char path[64], text[256] = "";
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	at = strrchr(text, ')');
	return at && at[2] == 'T';
}

static void close_gate(struct proc *ebql)
{
	kill(ebql->pid, SIGSTOP);
	while (!is_stopped(ebql->pid))
		usleep(100);
	__atomic_store_n(&budget->closed_ns, budget->limit_ns, __ATOMIC_RELEASE);
}

/* ebql does: when its window ends, at the latest. */
static void open_gate(struct proc *ebql)
{
	kill(ebql->pid, SIGCONT);
	while (__atomic_load_n(&budget->closed_ns, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&budget->limit_ns, __ATOMIC_ACQUIRE))
		proc_pump(1);
}

/* --- Pairs --- */

static pthread_t begin_receiving(void)
{
	pthread_t thread;

	session_require();
	n_begun = n_received = n_wanted = 0;
	queue = msgget(IPC_PRIVATE, 0600);
	assert_true(queue >= 0);
	assert_int_equal(pthread_create(&thread, NULL, receive, NULL), 0);
	return thread;
}

static void end_receiving(pthread_t thread)
{
	__atomic_store_n(&n_wanted, UINT32_MAX, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	msgctl(queue, IPC_RMID, NULL);
}

/* The first call's end is left, and the next one's start: nobody may take these for a pair. */
static void test_pairs(void **state)
{
	static const struct {
		const char *query;
		u64 n, partners, n_left, never_started;
	} cases[] = {
		{ "SELECT count(*) AS n FROM syscall:msgrcv WINDOW TUMBLING 50ms WITH (" LIMIT ")",
		  1, 0, 1, 1 },
		{ "SELECT count(*) AS n FROM syscall:msgrcv WINDOW TUMBLING 50ms "
		  "WITH (pushdown = off, " LIMIT ")",
		  1, 0, 2, 1 },
		/* Of a LEFT join the start is told as left, too: no end without one tells of it. */
		{ "SELECT count(*) AS n, count(e.time) AS partners FROM " EXIT " AS x "
		  "PAIR LEFT JOIN " ENTER " AS e ON x.tid = e.tid WINDOW TUMBLING 50ms WITH (" LIMIT
		  ")",
		  2, 1, 2, 0 },
		{ "SELECT count(*) AS n, count(e.time) AS partners FROM " EXIT " AS x "
		  "PAIR LEFT JOIN " ENTER " AS e ON x.tid = e.tid WINDOW TUMBLING 50ms "
		  "WITH (pushdown = off, " LIMIT ")",
		  2, 1, 2, 0 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		pthread_t thread = begin_receiving();
		struct reader reader;
		struct proc ebql;

		start(&ebql, &reader, cases[i].query);
		begin_call(1);
		close_gate(&ebql);
		end_call(1);
		begin_call(2);
		open_gate(&ebql);
		end_call(2);
		begin_call(3);
		end_call(3);
		end(&ebql, &reader, 3);
		end_receiving(thread);
		assert_int_equal(seen.n, cases[i].n);
		assert_int_equal(seen.partners, cases[i].partners);
		assert_int_equal(seen.n_left, cases[i].n_left);
		assert_int_equal(seen.never_started, cases[i].never_started);
		assert_int_equal(seen.never_ended, 1);
	}
}

/* The start alone is left: that is no row without a loss. */
static void test_left_start(void **state)
{
	static const char *const queries[] = {
		"SELECT count(*) AS n, count(e.time) AS partners FROM " EXIT " AS x "
		"PAIR LEFT JOIN " ENTER " AS e ON x.tid = e.tid WINDOW TUMBLING 50ms WITH (" LIMIT
		")",
		"SELECT count(*) AS n, count(e.time) AS partners FROM " EXIT " AS x "
		"ASOF LEFT JOIN " ENTER " AS e ON x.tid = e.tid AND x.time >= e.time "
		"WINDOW TUMBLING 50ms WITH (" LIMIT ")",
		"SELECT count(*) AS n, count(e.time) AS partners FROM " EXIT " AS x "
		"PAIR LEFT JOIN " ENTER " AS e ON x.tid = e.tid WINDOW TUMBLING 50ms "
		"WITH (pushdown = off, " LIMIT ")",
		"SELECT count(*) AS n, count(e.time) AS partners FROM " EXIT " AS x "
		"ASOF LEFT JOIN " ENTER " AS e ON x.tid = e.tid AND x.time >= e.time "
		"WINDOW TUMBLING 50ms WITH (pushdown = off, " LIMIT ")",
	};

	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		pthread_t thread = begin_receiving();
		struct reader reader;
		struct proc ebql;

		start(&ebql, &reader, queries[i]);
		begin_call(1);
		end_call(1);
		close_gate(&ebql);
		begin_call(2);
		open_gate(&ebql);
		end_call(2);
		end(&ebql, &reader, 3);
		end_receiving(thread);
		assert_int_equal(seen.n, 2);
		assert_int_equal(seen.partners, 1);
		assert_int_equal(seen.n_left, 1);
		/* The start is of a window before the row's. */
		assert_int_equal(seen.n_left_there, 1);
	}
}

/* --- Values that go on from event to event --- */

static void call(u32 n)
{
	struct message m;

	for (u32 i = 0; i < n; i++)
		msgrcv(-1, &m, sizeof(m.text), 0, 0);
}

/* What is left is missing in all sums behind it, in whatever window: each of these says so. */
static void test_running(void **state)
{
	static const char *const queries[] = {
		"SELECT count(*) AS n, max(total) AS total FROM (SELECT sum(1) OVER "
		"(PARTITION BY tid ROWS UNBOUNDED PRECEDING) AS total FROM " ENTER ") AS q "
		"WINDOW TUMBLING 50ms WITH (" LIMIT ")",
		"SELECT count(*) AS n, max(total) AS total FROM (SELECT sum(1) OVER "
		"(PARTITION BY tid ROWS UNBOUNDED PRECEDING) AS total FROM " ENTER ") AS q "
		"WINDOW TUMBLING 50ms WITH (pushdown = off, " LIMIT ")",
		"SELECT count(*) AS n, max(total) AS total FROM (SELECT sum(1) OVER "
		"(PARTITION BY tid ROWS UNBOUNDED PRECEDING) AS total FROM " ENTER ") AS q "
		"WINDOW HOPPING 100ms BY 50ms WITH (" LIMIT ")",
		"SELECT count(*) AS n, max(total) AS total FROM (SELECT sum(1) OVER "
		"(PARTITION BY tid ROWS UNBOUNDED PRECEDING) AS total FROM " ENTER ") AS q "
		"WINDOW COUNT 1 WITH (" LIMIT ")",
	};

	session_require();
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		struct reader reader;
		struct proc ebql;

		start(&ebql, &reader, queries[i]);
		call(3);
		usleep(120000);
		close_gate(&ebql);
		call(2);
		open_gate(&ebql);
		for (u32 k = 0; k < 40; k++)
			proc_pump(10);
		call(1);
		end(&ebql, &reader, 3);
		assert_int_equal(seen.total, 4);
		assert_int_equal(seen.n_left_there, 2);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_left_start),
		cmocka_unit_test(test_running),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
