/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * over_budget = 'sample': ahead of fewer threads none are taken for a second, so that no second has
 * more than max_cpu allows; and no start from before is paired with an end from behind.
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

#define NS_PER_S 1000000000ull
#define PER_MS	 50 /* calls of who floods */
#define LOOKS	 4096
/* What each event costs more than its hook, and user space nothing. */
#define NO(x) "NOT comm LIKE '%" x "%' "
#define COSTLY                                                                                                                                       \
	"WHERE " NO("a0") "AND " NO("a1") "AND " NO("a2") "AND " NO("a3") "AND " NO("a4") "AND " NO("a5") "AND " NO("a6") "AND " NO("a7") "AND " NO( \
		"a8") "AND " NO("a9") "AND " NO("b0") "AND " NO("b1") "AND " NO("b2") "AND " NO("b3") "AND " NO("b4") "AND " NO("b5")

/* A call that nobody else makes, which fails at once, or waits for a message. */
static int queue = -1;

struct message {
	long type;
	char text[8];
};

static void call(void)
{
	struct message m;

	msgrcv(-1, &m, sizeof(m.text), 0, 0);
}

/* --- What is told --- */

static struct {
	u64 one_in, before, n_left, n_rows, n_unpaired, n_own, most_ns;
	bool is_over;
} seen;
static u32 own_tid;

static void take_row(void *context, const struct line *line)
{
	seen.n_rows += line_number(line, "n");
	if (line_number(line, "tid") != own_tid)
		return;
	seen.n_own += line_number(line, "n");
	seen.most_ns = MAX(seen.most_ns, line_number(line, "most"));
}

static void take_batch(void *context, const struct line *line)
{
	seen.one_in = MAX(line_number(line, "_batch.sampled"), 1ull);
	seen.before = MAX(line_number(line, "_batch.sampled_before"), 1ull);
	seen.n_left += line_number(line, "_batch.lost.over_budget");
	seen.n_unpaired += line_number(line, "_batch.unpaired.never_started") +
			   line_number(line, "_batch.unpaired.began_before");
	seen.is_over |= line_leaf(line, "_batch.over_budget") != NULL;
}

static void start(struct proc *ebql, struct reader *reader, const char *query)
{
	memset(&seen, 0, sizeof(seen));
	memset(ebql, 0, sizeof(*ebql));
	reader_init(reader, take_row, NULL);
	reader->batch = take_batch;
	ebql->sink = reader_feed;
	ebql->sink_context = reader;
	proc_start(ebql,
		   (const char *const[]){ proc_ebql(), "-o", "json", "--verbose", query, NULL }, 0);
	assert_true(proc_wait_text(ebql, "attached", LIMIT_MS));
}

/* --- Threads --- */

static bool is_ending, has_decided;
static u64 n_flooded;
static u32 n_received;

static void flood(void)
{
	while (!__atomic_load_n(&is_ending, __ATOMIC_ACQUIRE)) {
		for (u32 i = 0; i < PER_MS; i++)
			call();
		n_flooded += PER_MS;
		usleep(1000);
	}
}

static void receive(void)
{
	struct message m;

	for (u32 i = 0; i < 3; i++) {
		assert_true(msgrcv(queue, &m, sizeof(m.text), 0, 0) >= 0);
		__atomic_add_fetch(&n_received, 1, __ATOMIC_RELEASE);
	}
}

/* If it is taken as one in any N, as one of a thousand is. */
static void *work(void *function)
{
	u32 tid = (u32)syscall(SYS_gettid);
	bool is_it = tid * BUDGET_HASH < BUDGET_ALL / 1024;

	own_tid = is_it ? tid : 0;
	__atomic_store_n(&has_decided, true, __ATOMIC_RELEASE);
	if (is_it)
		((void (*)(void))function)();
	return NULL;
}

static pthread_t begin(void (*function)(void))
{
	pthread_t thread;

	n_flooded = n_received = 0;
	is_ending = false;
	while (true) {
		has_decided = false;
		assert_int_equal(pthread_create(&thread, NULL, work, function), 0);
		while (!__atomic_load_n(&has_decided, __ATOMIC_ACQUIRE))
			usleep(100);
		if (own_tid)
			return thread;
		pthread_join(thread, NULL);
	}
}

static void *flood_too(void *unused)
{
	flood();
	return NULL;
}

static void end_flood(pthread_t thread)
{
	__atomic_store_n(&is_ending, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* --- Pairs --- */

static void send(u32 n_expected)
{
	struct message m = { .type = 1 };

	/* It waits in the call, whose start is over. */
	usleep(20000);
	assert_int_equal(msgsnd(queue, &m, sizeof(m.text), 0), 0);
	while (__atomic_load_n(&n_received, __ATOMIC_ACQUIRE) < n_expected)
		usleep(100);
	usleep(20000);
}

static void wait_told(struct proc *ebql, bool is_settled)
{
	seen.one_in = seen.before = 1;
	for (u32 i = 0; i < 600 && ebql->status < 0; i++) {
		if (seen.one_in > 1 && (seen.one_in == seen.before) == is_settled)
			return;
		proc_pump(20);
	}
	fail_msg("%s", ebql->err_text.n ? ebql->err_text.at : "not told");
}

/*
 * A thread waits in a call when none are taken any more; it ends unseen, and so begins the next
 * one, which ends when the thread is taken again: that is no pair with the first one's start.
 */
static void test_pairs(void **state)
{
	pthread_t flooding, receiving;
	struct reader reader;
	struct proc ebql;
	u64 n_all;

	session_require();
	queue = msgget(IPC_PRIVATE, 0600);
	assert_true(queue >= 0);
	start(&ebql, &reader,
	      "SELECT tid, count(*) AS n, max(latency) AS most FROM syscall:msgrcv " COSTLY
	      "GROUP BY tid WINDOW TUMBLING 100ms "
	      "WITH (access_path = tracepoint, max_cpu = '3%', over_budget = 'sample')");
	receiving = begin(receive);
	usleep(50000);
	assert_int_equal(pthread_create(&flooding, NULL, flood_too, NULL), 0);
	wait_told(&ebql, false);
	send(1);
	end_flood(flooding);
	wait_told(&ebql, true);
	send(2);
	send(3);
	pthread_join(receiving, NULL);
	proc_signal(&ebql, SIGINT);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 3);
	msgctl(queue, IPC_RMID, NULL);
	n_all = n_flooded + 3;
	assert_int_equal(seen.n_own, 1);
	assert_true(seen.most_ns < 300000000);
	assert_true(seen.n_unpaired > 0);
	assert_int_equal(seen.n_rows + seen.n_left + seen.n_unpaired, n_all);
	assert_false(seen.is_over);
	reader_free(&reader);
	proc_forget(&ebql);
}

/* --- The worst second --- */

static struct look {
	u64 at_ns, spent_ns;
} looks[LOOKS];

/* What a flood takes up to its end, of any second the most. */
static u64 worst_ns(const struct budget *budget, u64 for_ns)
{
	u64 begin_ns = base_monotonic_ns(), worst = 0;
	u32 first = 0;

	for (u32 i = 0; i < LOOKS && base_monotonic_ns() < begin_ns + for_ns; i++) {
		looks[i] = (struct look){ base_monotonic_ns(),
					  __atomic_load_n(&budget->spent_ns, __ATOMIC_RELAXED) };
		while (looks[i].at_ns - looks[first].at_ns > NS_PER_S)
			first++;
		worst = MAX(worst, looks[i].spent_ns - looks[first].spent_ns);
		proc_pump(2);
	}
	return worst;
}

/* One thread floods, and is taken whatever N is: no second has more than a fifth above what it may,
 * however often N changes. */
static void test_worst(void **state)
{
	struct budget *budget;
	struct reader reader;
	struct proc ebql;
	pthread_t thread;
	u64 worst;
	u32 since;

	session_require();
	since = newest_map();
	start(&ebql, &reader,
	      "SELECT tid, count(*) AS n FROM tracepoint:syscalls:sys_enter_msgrcv " COSTLY
	      "GROUP BY tid WINDOW TUMBLING 100ms "
	      "WITH (access_path = tracepoint, max_cpu = '1.5%', over_budget = 'sample')");
	budget = map_memory(since, "ebql_budget", PROT_READ, 0);
	thread = begin(flood);
	worst = worst_ns(budget, 4 * NS_PER_S);
	end_flood(thread);
	usleep(50000);
	proc_signal(&ebql, SIGINT);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 3);
	assert_true(seen.one_in > 1);
	assert_in_range(worst, NS_PER_S / 100, NS_PER_S * 18 / 1000);
	assert_int_equal(seen.n_rows + seen.n_left, n_flooded);
	assert_false(seen.is_over);
	reader_free(&reader);
	proc_forget(&ebql);
}

/* --- The timer --- */

static void wait_threshold(struct proc *ebql, const struct budget *budget, u64 below, u64 above,
			   u64 limit_ms)
{
	u64 begin_ns = base_monotonic_ns(), now;

	do {
		now = __atomic_load_n(&budget->threshold, __ATOMIC_RELAXED);
		if (now >= above && now < below)
			return;
		proc_pump(5);
	} while (base_monotonic_ns() < begin_ns + limit_ms * 1000000 && ebql->status < 0);
	fail_msg("threshold %#llx: %s", (unsigned long long)now,
		 ebql->err_text.n ? ebql->err_text.at : "");
}

/* Nothing happens any more, and no window ends: the second is over by the timer alone, and so are
 * the five after which more threads are taken. */
static void test_timer(void **state)
{
	struct budget *budget;
	struct reader reader;
	struct proc ebql;
	pthread_t thread;
	u64 begin_ns, chosen;
	u32 since;

	session_require();
	since = newest_map();
	start(&ebql, &reader,
	      "SELECT tid, count(*) AS n FROM tracepoint:syscalls:sys_enter_msgrcv " COSTLY
	      "GROUP BY tid "
	      "WITH (access_path = tracepoint, max_cpu = '2%', over_budget = 'sample')");
	budget = map_memory(since, "ebql_budget", PROT_READ, 0);
	assert_int_equal(budget->threshold, BUDGET_ALL);
	thread = begin(flood);
	wait_threshold(&ebql, budget, 1, 0, 5000);
	begin_ns = base_monotonic_ns();
	usleep(20000);
	end_flood(thread);
	wait_threshold(&ebql, budget, BUDGET_ALL, 1, 5000);
	chosen = budget->threshold;
	assert_in_range(base_monotonic_ns() - begin_ns, NS_PER_S * 9 / 10, NS_PER_S * 3 / 2);
	begin_ns = base_monotonic_ns();
	wait_threshold(&ebql, budget, BUDGET_ALL + 1, 2 * chosen, 8000);
	assert_int_equal(budget->threshold, 2 * chosen);
	assert_in_range(base_monotonic_ns() - begin_ns, NS_PER_S * 49 / 10, NS_PER_S * 6);
	proc_signal(&ebql, SIGINT);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 3);
	assert_int_equal(seen.n_rows + seen.n_left, n_flooded);
	reader_free(&reader);
	proc_forget(&ebql);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_timer),
	};

	/* The table's costs, and not those of this machine. */
	setenv("XDG_STATE_HOME", "/nonexistent", 1);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("rest", tests, NULL, NULL);
}
