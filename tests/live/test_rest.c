/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * over_budget = 'sample': ahead of fewer threads none are taken for a second (what the worst second
 * takes bench/budget measures); and no start from before is paired with an end from behind.
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
#define PER_MS	 50 /* calls of who floods, at first */
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

/*
 * What others' threads kept it from it makes up for, so that it is as many on a busy machine; and a
 * quarter more each second, since on a fast one the first may not be too many.
 */
static void flood(void)
{
	u64 begin_ns = base_monotonic_ns();

	while (!__atomic_load_n(&is_ending, __ATOMIC_ACQUIRE)) {
		u64 ms = (base_monotonic_ns() - begin_ns) / 1000000;
		u64 due = ms * PER_MS + ms * ms * PER_MS / 8000;

		for (u32 i = 0; i < 10 * PER_MS && n_flooded < due; i++, n_flooded++)
			call();
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

/* When it was sent. */
static u64 send(u32 n_expected)
{
	struct message m = { .type = 1 };
	u64 sent_ns;

	/* It waits in the call, whose start is over. */
	usleep(20000);
	sent_ns = base_monotonic_ns();
	assert_int_equal(msgsnd(queue, &m, sizeof(m.text), 0), 0);
	while (__atomic_load_n(&n_received, __ATOMIC_ACQUIRE) < n_expected)
		usleep(100);
	usleep(20000);
	return sent_ns;
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
	u64 n_all, second_ns;

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
	second_ns = send(2);
	send(3);
	/* The third call lies in between; the first one was waiting long before. */
	second_ns = base_monotonic_ns() - second_ns;
	pthread_join(receiving, NULL);
	proc_signal(&ebql, SIGINT);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 3);
	msgctl(queue, IPC_RMID, NULL);
	n_all = n_flooded + 3;
	assert_int_equal(seen.n_own, 1);
	assert_true(seen.most_ns <= second_ns);
	assert_true(seen.n_unpaired > 0);
	assert_int_equal(seen.n_rows + seen.n_left + seen.n_unpaired, n_all);
	assert_false(seen.is_over);
	reader_free(&reader);
	proc_forget(&ebql);
}

/* --- Changes of N --- */

/* So many batches said another N than the one before them. */
static u32 n_changes;

static void note_change(void *context, const struct line *line)
{
	u64 before = seen.one_in;

	take_batch(context, line);
	n_changes += before && seen.one_in != before;
}

/*
 * One thread floods, and is taken whatever N is, so that N changes again: each call is seen, or
 * told as left alone; and a window that began with all threads says so, whatever came between.
 */
static void test_changes(void **state)
{
#define CHANGES(window)                                                                            \
	"SELECT tid, count(*) AS n FROM tracepoint:syscalls:sys_enter_msgrcv " COSTLY              \
	"GROUP BY tid WINDOW " window                                                              \
	" WITH (access_path = tracepoint, max_cpu = '1.5%', over_budget = 'sample')"
	static const char *const queries[] = { CHANGES("TUMBLING 100ms"),
					       CHANGES("HOPPING 1h BY 100ms") };

	session_require();
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		struct reader reader;
		struct proc ebql;
		pthread_t thread;

		n_changes = 0;
		start(&ebql, &reader, queries[i]);
		reader.batch = note_change;
		thread = begin(flood);
		for (u32 k = 0; k < 1500 && n_changes < 2 && ebql.status < 0; k++)
			proc_pump(20);
		end_flood(thread);
		assert_in_range(n_changes, 2, UINT32_MAX);
		usleep(150000);
		proc_signal(&ebql, SIGINT);
		assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 3);
		assert_false(seen.is_over);
		if (i == 0)
			assert_int_equal(seen.n_rows + seen.n_left, n_flooded);
		else
			assert_true(seen.one_in > 1 && seen.before == 1);
		reader_free(&reader);
		proc_forget(&ebql);
	}
}

/* --- The timer --- */

/* A change came between two looks; the one behind it may be as late as the machine has it. */
struct change {
	u64 old_ns, new_ns;
};

/* The next one behind a change. */
static void wait_threshold(struct proc *ebql, const struct budget *budget, u64 below, u64 above,
			   u64 limit_ms, struct change *c)
{
	u64 begin_ns = base_monotonic_ns(), look_ns = c->new_ns, now;

	do {
		c->old_ns = look_ns;
		look_ns = base_monotonic_ns();
		now = __atomic_load_n(&budget->threshold, __ATOMIC_RELAXED);
		c->new_ns = base_monotonic_ns();
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
	struct change rests = { 0 }, resumes, grows;
	u64 chosen;
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
	wait_threshold(&ebql, budget, 1, 0, 20000, &rests);
	usleep(20000);
	end_flood(thread);
	resumes = rests;
	wait_threshold(&ebql, budget, BUDGET_ALL, 1, 5000, &resumes);
	chosen = budget->threshold;
	/* Not less, whatever was seen late, and more only by what ebql itself is late. */
	assert_true(resumes.new_ns - rests.old_ns >= NS_PER_S);
	assert_true(resumes.old_ns - rests.new_ns <= NS_PER_S * 3 / 2);
	grows = resumes;
	wait_threshold(&ebql, budget, BUDGET_ALL + 1, 2 * chosen, 8000, &grows);
	assert_int_equal(budget->threshold, 2 * chosen);
	assert_true(grows.new_ns - resumes.old_ns >= 5 * NS_PER_S);
	assert_true(grows.old_ns - resumes.new_ns <= 6 * NS_PER_S);
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
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_timer),
	};

	/* The table's costs, and not those of this machine. */
	setenv("XDG_STATE_HOME", "/nonexistent", 1);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("rest", tests, NULL, NULL);
}
