/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries go from one access path to the other and back, while threads number their calls.  What a
 * query sees of each thread are all numbers from its start to its end: none is missing, none comes
 * twice, and each window has those that follow the one before.  --quick (slow guests): fewer turns.
 */
#include <errno.h>
#include <linux/version.h>
#include <poll.h>
#include <pthread.h>
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
#include "query/internal.h"

#define N_THREADS 2
#define EVERY	  256 /* of the calls is a row */
#define ENTER	  "tracepoint:syscalls:sys_enter_pread64"
/* Those that count the same would be counted as one, and stay on their path. */
#define COUNTED(more)                                                                              \
	"SELECT tid, count(*) AS n, min(count) AS lo, max(count) AS hi, sum(count) AS s FROM %s "  \
	"WHERE pid = %d AND pos = 77 " more "GROUP BY tid %s"

static const struct kind {
	const char *text, *from, *window;
	u32 step;      /* between the numbers that it has */
	bool overlaps; /* windows */
	bool is_alone; /* it has programs of its own */
} kinds[] = {
	{ COUNTED(""), ENTER, "WINDOW TUMBLING 20ms", 1 },
	{ COUNTED(""), "syscall:pread64", "WINDOW TUMBLING 20ms", 1 },
	{ COUNTED("AND tid > 0 "), "syscall:pread64", "WINDOW HOPPING 60ms BY 20ms", 1, true },
	{ COUNTED("AND tid > 0 "), ENTER, "HAVING n > 0 ORDER BY n WINDOW TUMBLING 50ms", 1 },
	{ COUNTED("AND tid > 1 "), ENTER, "", 1 },
	{ "SELECT tid, count AS n FROM %s WHERE pid = %d AND pos = 77 AND count %% 256 = 0%s",
	  "syscall:pread64", "", EVERY },
	{ "SELECT tid, count, sum(1) OVER (PARTITION BY tid ORDER BY time ROWS UNBOUNDED "
	  "PRECEDING) AS n FROM %s WHERE pid = %d AND pos = 77 AND count %% 256 = 0%s",
	  ENTER, "", EVERY, .is_alone = true },
};

struct asked {
	struct query query;
	char text[32768];
	const struct kind *kind;
	struct seen {
		u64 first, last, n;
	} seen[N_THREADS];
	u64 n_cut;
	bool may_miss;
	u64 n_missed, n_told; /* numbers that are missing then, and what is told of it */
};

static struct caller {
	pthread_t thread;
	u64 tid, n_done;
} callers[N_THREADS];

static struct asked asked[ARRAY_SIZE(kinds)];
static bool is_over, is_quick;
static long counted = SYS_pread64;
static u32 n_others; /* calls to each that is counted */

/* Here system calls have two paths, whatever the kernel permits. */
void __real_kernel_features_probe(struct kernel_features *ret_features);
void __wrap_kernel_features_probe(struct kernel_features *ret_features);

static const char *why_no_trampoline(u32 btf, u32 function_btf_id, bool is_return)
{
	return "the test wants the others";
}

void __wrap_kernel_features_probe(struct kernel_features *ret_features)
{
	__real_kernel_features_probe(ret_features);
	ret_features->why_no_trampoline = why_no_trampoline;
}

static void *call(void *context)
{
	struct caller *c = context;

	__atomic_store_n(&c->tid, (u64)syscall(SYS_gettid), __ATOMIC_RELEASE);
	/* They take what the turns leave, and else most of the time of a slow guest. */
	if (is_quick)
		setpriority(PRIO_PROCESS, 0, 19);
	for (u64 n = 1; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); n++) {
		for (u32 i = 0; i < __atomic_load_n(&n_others, __ATOMIC_RELAXED); i++)
			syscall(SYS_getpgid, -1);
		syscall(__atomic_load_n(&counted, __ATOMIC_RELAXED), -1, NULL, n, 77);
		__atomic_store_n(&c->n_done, n, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void take_numbers(struct asked *a, u64 tid, u64 first, u64 last, u64 n)
{
	struct seen *seen = NULL;

	for (u32 i = 0; i < N_THREADS && !seen; i++)
		seen = callers[i].tid == tid ? &a->seen[i] : NULL;
	assert_non_null(seen);
	if ((last - first) / a->kind->step + 1 != n)
		fail_msg("%s: %llu of %llu .. %llu", a->text, (unsigned long long)n,
			 (unsigned long long)first, (unsigned long long)last);
	if (seen->n && !a->kind->overlaps && first != seen->last + a->kind->step)
		fail_msg("%s: %llu behind %llu", a->text, (unsigned long long)first,
			 (unsigned long long)seen->last);
	if (!seen->n)
		seen->first = first;
	seen->last = last;
	seen->n += n;
}

static int take(void *context, const struct batch *batch)
{
	struct asked *a = context;

	/* A call of each thread is under way at the start, and one at the end. */
	a->n_cut += batch->account.lost[LOSS_UNPAIRED];
	a->n_told += batch->account.lost[LOSS_MISSED];
	for (u32 i = 0; i < LOSS_N; i++)
		if (i != LOSS_UNPAIRED && batch->account.lost[i] &&
		    !(i == LOSS_MISSED && a->may_miss))
			fail_msg("%s: %s: %llu", a->text, loss_names[i],
				 (unsigned long long)batch->account.lost[i]);
	for (u32 i = 0; i < batch->n_rows; i++) {
		const struct value *v = &batch->values[(u64)i * batch->schema->n_columns];
		u64 first = (u64)v[1].integer, last = first, n = 1;

		if (a->kind->step == 1) {
			n = first;
			first = (u64)v[2].integer;
			last = (u64)v[3].integer;
			a->n_missed += last - first + 1 - n;
			if (a->may_miss)
				n = last - first + 1;
			else if (2 * v[4].integer != (v[2].integer + v[3].integer) * (s128)n)
				fail_msg("%s: %llu of %llu .. %llu, not all once, step %u", a->text,
					 (unsigned long long)n, (unsigned long long)first,
					 (unsigned long long)last, a->query.turn.n_turns);
		}
		take_numbers(a, (u64)v[0].integer, first, last, n);
	}
	return 0;
}

static void start(struct asked *a, struct engine *engine, bool is_free)
{
	struct flow_input how = { .sink = { .batch = take, .context = a } };

	if (query_init(&a->query, "text", a->text, strlen(a->text)) && query_parse(&a->query) &&
	    query_compile(&a->query) && query_start(&a->query, engine, &how) == 0) {
		/* Else it goes when it is told to. */
		a->query.turn.look_ns = is_free ? a->query.turn.look_ns : 0;
		return;
	}
	query_said(&a->query);
	fail_msg("%s", a->text);
}

static void add(struct asked *a, const struct kind *kind, struct engine *engine, bool is_free)
{
	memset(a, 0, sizeof(*a));
	a->kind = kind;
	snprintf(a->text, sizeof(a->text), kind->text, kind->from, getpid(), kind->window);
	start(a, engine, is_free);
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

/* Each thread makes a call that begins behind this. */
static void wait_calls(void)
{
	for (u32 i = 0; i < N_THREADS; i++) {
		u64 n_done = __atomic_load_n(&callers[i].n_done, __ATOMIC_ACQUIRE);

		while (__atomic_load_n(&callers[i].n_done, __ATOMIC_ACQUIRE) < n_done + 2)
			usleep(1000);
	}
}

static void end(struct asked *a)
{
	u64 done[N_THREADS];

	wait_calls();
	for (u32 i = 0; i < N_THREADS; i++)
		done[i] = __atomic_load_n(&callers[i].n_done, __ATOMIC_ACQUIRE);
	if (flow_stop(a->query.flow)) {
		query_said(&a->query);
		fail();
	}
	for (u32 i = 0; i < N_THREADS; i++) {
		assert_true(a->seen[i].last + a->kind->step > done[i]);
		if (!a->kind->overlaps)
			assert_int_equal((a->seen[i].last - a->seen[i].first) / a->kind->step + 1,
					 a->seen[i].n);
	}
	assert_true(a->n_cut <= 2 * N_THREADS * (a->kind->overlaps ? 3 : 1));
	assert_int_equal(query_close(&a->query), 0);
	query_free(&a->query);
}

static void begin(struct engine **ret_engine)
{
	if (geteuid()) {
		print_message("SKIP: not root\n");
		skip();
	}
	assert_int_equal(engine_open(ret_engine), 0);
	is_over = false;
	n_others = 0;
	for (u32 i = 0; i < N_THREADS; i++) {
		callers[i] = (struct caller){ 0 };
		assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
		while (!__atomic_load_n(&callers[i].n_done, __ATOMIC_ACQUIRE))
			usleep(1000);
	}
}

static void finish(struct engine *engine)
{
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (u32 i = 0; i < N_THREADS; i++)
		pthread_join(callers[i].thread, NULL);
	engine_close(engine);
}

/* Until it has turned so often. */
static void wait_for(struct engine *engine, const struct query *q, u32 n_turns)
{
	for (u32 i = 0; i < 1200 && q->turn.n_turns < n_turns; i++)
		run_for(engine, 50000000);
	assert_int_equal(q->turn.n_turns, n_turns);
}

static void test_back_and_forth(void **state)
{
	u32 n_rounds = getenv("EBQL_TEST_LONG") ? 30 : is_quick ? 1 : 2, n_turns = 0;
	struct engine *engine;

	begin(&engine);
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		add(&asked[i], &kinds[i], engine, false);
	for (u32 i = 0; i < n_rounds * ARRAY_SIZE(kinds); i++) {
		struct query *q = &asked[i % ARRAY_SIZE(kinds)].query;
		int err;

		run_for(engine, 50000000);
		err = query_turn(q);
		if (err == -ENOTSUP && kinds[i % ARRAY_SIZE(kinds)].is_alone)
			continue;
		assert_int_equal(err, 0);
		wait_for(engine, q, q->turn.n_turns + 1);
		n_turns++;
	}
	run_for(engine, 100000000);
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		end(&asked[i]);
	finish(engine);
	print_message("%u turns, %llu calls of the first thread\n", n_turns,
		      (unsigned long long)callers[0].n_done);
}

/* A query comes, and one goes, while another is on its way; that one goes on the way, too. */
static void test_beside_others(void **state)
{
	struct engine *engine;

	begin(&engine);
	for (u32 i = 0; i < 4; i++)
		add(&asked[i], &kinds[i], engine, false);
	for (u32 i = 0; i < (is_quick ? 2 : 4); i++) {
		struct asked *other = &asked[1 + i % 3];
		u32 n_turns = asked[0].query.turn.n_turns;

		assert_int_equal(query_turn(&asked[0].query), 0);
		run_for(engine, 10000000 * (i % 8));
		end(other);
		run_for(engine, 10000000 * (i % 5));
		add(other, &kinds[1 + i % 3], engine, false);
		wait_for(engine, &asked[0].query, n_turns + 1);
		assert_int_equal(query_turn(&other->query), 0);
		assert_int_equal(query_turn(&asked[0].query), -EBUSY);
		run_for(engine, 20000000 * (i % 12));
		end(other);
		add(other, &kinds[1 + i % 3], engine, false);
	}
	for (u32 i = 0; i < 4; i++)
		end(&asked[i]);
	finish(engine);
}

static void limit(u32 n_files)
{
	struct rlimit files = { n_files, 4096 };

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

/* At each step there are no more descriptors, once: it goes back, or waits there and goes on. */
static void test_refused(void **state)
{
	u32 n_failed = 0, n_done = 0, n_fds;
	struct engine *engine;

	begin(&engine);
	for (u32 i = 0; i < 2; i++)
		add(&asked[i], &kinds[i], engine, false);
	run_for(engine, 100000000);
	n_fds = left_descriptors();
	for (u32 i = 0; n_done < 2; i++) {
		struct query_turn *turn = &asked[i % 2].query.turn;
		u32 n_before = turn->n_turns + turn->n_failed, n_turns = turn->n_turns;

		assert_true(i < 60);
		limit(n_fds - 2 + i / 2);
		query_turn(&asked[i % 2].query);
		run_for(engine, 150000000);
		limit(1024);
		for (u32 k = 0; k < 600 && turn->n_turns + turn->n_failed == n_before; k++)
			run_for(engine, 20000000);
		assert_int_equal(turn->n_turns + turn->n_failed, n_before + 1);
		n_done += turn->n_turns > n_turns;
		n_failed += turn->n_turns == n_turns;
	}
	assert_true(n_failed > 4);
	/* From the second step on it goes on, as soon as it can. */
	for (u32 i = 0; i < (is_quick ? 2 : 4); i++) {
		struct query *q = &asked[i % 2].query;

		n_done = q->turn.n_turns;
		assert_int_equal(query_turn(q), 0);
		for (u32 k = 0; k < 6000 && segment_turns(q)->step < 2 + i / 2; k++)
			run_for(engine, 5000000);
		limit(3);
		run_for(engine, 250000000);
		limit(1024);
		wait_for(engine, q, n_done + 1);
	}
	for (u32 i = 0; i < 2; i++)
		end(&asked[i]);
	finish(engine);
}

/*
 * Who is on the two lists of the kernel first, is there first: calls that nobody makes.  Which of
 * the two programs has an entry first, and which a return, goes by that.
 */
static const char *const keepers[][4] = {
	{ "raw enter", "raw exit", "tracepoint enter", "tracepoint exit" },
	{ "tracepoint enter", "tracepoint exit", "raw enter", "raw exit" },
	{ "raw enter", "tracepoint enter", "tracepoint exit", "raw exit" },
	{ "tracepoint enter", "raw enter", "raw exit", "tracepoint exit" },
};

static void add_keepers(struct engine *engine, u32 order)
{
	for (u32 i = 0; i < 4; i++) {
		struct asked *a = &asked[ARRAY_SIZE(kinds) - 4 + i];
		char path[16], direction[16];

		memset(a, 0, sizeof(*a));
		a->may_miss = true;
		assert_int_equal(sscanf(keepers[order][i], "%15s %15s", path, direction), 2);
		snprintf(a->text, sizeof(a->text),
			 "SET access_path = %s; SELECT tid FROM "
			 "tracepoint:syscalls:sys_%s_acct WHERE tid = 0",
			 path, direction);
		start(a, engine, false);
	}
}

static void end_keepers(void)
{
	for (u32 i = ARRAY_SIZE(kinds) - 4; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(flow_stop(asked[i].query.flow), 0);
		assert_int_equal(query_close(&asked[i].query), 0);
		query_free(&asked[i].query);
	}
}

static bool is_raw_first(u32 order, bool is_exit)
{
	u32 at[2] = { 0 };

	for (u32 i = 0; i < 4; i++)
		if ((strstr(keepers[order][i], "exit") != NULL) == is_exit)
			at[keepers[order][i][0] == 'r'] = i;
	return at[true] < at[false];
}

/* In each order, of entries and of returns, to either path: the new program is first, or second. */
static void test_orders(void **state)
{
	for (u32 order = is_quick; order < ARRAY_SIZE(keepers) - is_quick; order++) {
		struct engine *engine;

		begin(&engine);
		add_keepers(engine, order);
		for (u32 i = 0; i < 2; i++)
			add(&asked[i], &kinds[i], engine, false);
		for (u32 i = 0; i < (is_quick ? 2 : 4); i++) {
			struct query *q = &asked[is_quick ? 1 : i % 2].query;

			assert_int_equal(query_turn(q), 0);
			wait_for(engine, q, q->turn.n_turns + 1);
			for (u32 exit = 0; exit < (q == &asked[1].query ? 2 : 1); exit++)
				assert_int_equal(segment_turns(q)->is_raw_first[exit],
						 is_raw_first(order, exit));
		}
		for (u32 i = 0; i < 2; i++)
			end(&asked[i]);
		end_keepers();
		finish(engine);
	}
}

/* As programs do it, so that none finds one free; and back. */
static void exchange_slots(const struct load_hooks *hooks, u64 *words, bool are_taken)
{
	for (u32 cpu = 0; cpu < hooks->set->n_cpus; cpu++)
		for (u32 i = 0; i < SLOTS_MAX; i++) {
			u64 *slot = &hooks->slots[cpu].slots[i], *word = words++;

			if (!are_taken)
				__atomic_store_n(slot, *word, __ATOMIC_SEQ_CST);
			while (are_taken &&
			       (*word = __atomic_exchange_n(slot, SLOT_BUSY, __ATOMIC_SEQ_CST)) ==
				       SLOT_BUSY)
				;
		}
}

/*
 * Where no slot is free a call is missed, and told once: by the program whose it is.  (Whoever
 * makes it, so it is one that nobody else makes.)
 */
static void test_missed(void **state)
{
	static const struct kind missing = {
		"SELECT tid, count(*) AS n, min(vlen) AS lo, max(vlen) AS hi, 0 AS s FROM %s "
		"WHERE pid = %d AND pos_l = 77 GROUP BY tid%s",
		"tracepoint:syscalls:sys_enter_preadv2", "", 1
	};

	__atomic_store_n(&counted, SYS_preadv2, __ATOMIC_RELAXED);
	for (u32 order = 0; order < 2; order++) {
		struct asked *a = &asked[0];
		struct query *q = &a->query;
		struct engine *engine;
		const struct load_hooks *hooks;
		u32 seen = 0;
		u64 *words;

		begin(&engine);
		add_keepers(engine, order);
		add(a, &missing, engine, false);
		a->may_miss = true;
		hooks = segment_hooks(q);
		words = calloc((size_t)hooks->set->n_cpus * SLOTS_MAX, sizeof(*words));
		assert_non_null(words);
		wait_calls();
		for (u32 turn = 0; turn < 2; turn++) {
			assert_int_equal(query_turn(q), 0);
			for (u32 i = 0; i < 6000 && q->turn.n_turns <= turn; i++) {
				run_for(engine, 5000000);
				if (segment_turns(q)->state == TURN_GOES)
					seen |= 1u << segment_turns(q)->step;
				exchange_slots(hooks, words, true);
				usleep(1000);
				exchange_slots(hooks, words, false);
			}
			assert_int_equal(q->turn.n_turns, turn + 1);
		}
		assert_int_equal(seen, 15);
		end(a);
		assert_true(a->n_missed > 0);
		assert_int_equal(a->n_told, a->n_missed);
		end_keepers();
		finish(engine);
		free(words);
	}
	__atomic_store_n(&counted, SYS_pread64, __ATOMIC_RELAXED);
}

/* Of so many instructions that one program has no room for those of two. */
static void add_large(struct asked *a, const char *path, u32 other, struct engine *engine)
{
	size_t n;

	memset(a, 0, sizeof(*a));
	a->kind = &kinds[0];
	n = (size_t)snprintf(a->text, sizeof(a->text),
			     "SET max_groups = 16; SET access_path = %s; SELECT tid, count(*) AS "
			     "n, min(count) AS lo, max(count) AS hi, sum(count) AS s",
			     path);
	for (u32 i = 0; i < 160; i++)
		n += (size_t)snprintf(a->text + n, sizeof(a->text) - n, ", stddev(pos - %u)", i);
	snprintf(a->text + n, sizeof(a->text) - n,
		 " FROM %s WHERE pid = %d AND pos = 77 AND tid > %u GROUP BY tid WINDOW TUMBLING "
		 "100ms",
		 ENTER, getpid(), other);
	start(a, engine, false);
}

/* What the kernel would have to take at the second step is too large: it is given up. */
static void test_too_large(void **state)
{
	struct query *q = &asked[0].query;
	struct engine *engine;

	begin(&engine);
	add_large(&asked[0], "auto", 0, engine);
	assert_int_equal(query_turn(q), 0);
	wait_for(engine, q, 1);
	add_large(&asked[1], "raw", 1, engine);
	assert_ptr_equal(asked[1].query.segment, q->segment);
	assert_int_equal(query_turn(q), 0);
	for (u32 i = 0; i < 1200 && !q->turn.n_failed; i++)
		run_for(engine, 50000000);
	assert_int_equal(q->turn.n_failed, 1);
	assert_int_equal(q->turn.n_turns, 1);
	assert_string_equal(query_path(q), "tracepoint");
	/* Now there is room. */
	end(&asked[1]);
	assert_int_equal(query_turn(q), 0);
	wait_for(engine, q, 2);
	end(&asked[0]);
	finish(engine);
}

/*
 * Two that count the same stay where they are; when one has gone the other is looked at.  What is
 * not looked at waits the longer for the next time.
 */
static void test_alone_again(void **state)
{
	struct query_turn *turn = &asked[0].query.turn;
	struct engine *engine;
	u64 every_ns;

	begin(&engine);
	for (u32 i = 0; i < 2; i++)
		add(&asked[i], &kinds[0], engine, true);
	assert_true(segment_is_shared(&asked[0].query));
	turn->every_ns = every_ns = 200000000;
	run_for(engine, 1300000000);
	assert_true(turn->every_ns > every_ns && !turn->was_looked_at);
	end(&asked[1]);
	every_ns = turn->every_ns;
	limit(3);
	run_for(engine, 1000000000);
	limit(1024);
	assert_true(turn->every_ns > every_ns && !turn->was_looked_at);
	for (u32 i = 0; i < 1200 && !turn->was_looked_at; i++)
		run_for(engine, 50000000);
	assert_true(turn->was_looked_at);
	end(&asked[0]);
	finish(engine);
}

/* Neither has the other pay for it, where both wish to leave. */
static void test_both_leave(void **state)
{
	struct engine *engine;

	begin(&engine);
	n_others = 30;
	for (u32 i = 0; i < 2; i++) {
		add(&asked[i], &kinds[3 * i], engine, true);
		asked[i].query.turn.every_ns = 200000000;
	}
	if (asked[0].query.features.version < KERNEL_VERSION(6, 7, 0))
		run_for(engine, 3000000000);
	for (u32 i = 0; i < 2; i++)
		wait_for(engine, &asked[i].query,
			 asked[i].query.features.version >= KERNEL_VERSION(6, 7, 0));
	for (u32 i = 0; i < 2; i++)
		end(&asked[i]);
	finish(engine);
}

static void test_by_itself(void **state)
{
	struct engine *engine;
	struct query *q = &asked[0].query;

	begin(&engine);
	n_others = 30;
	add(&asked[0], &kinds[0], engine, true);
	assert_int_equal(q->plan->hooks[0].path, ACCESS_RAW_SYSCALL);
	if (q->features.version < KERNEL_VERSION(6, 7, 0)) {
		run_for(engine, 4000000000);
		assert_int_equal(q->turn.n_turns, 0);
		end(&asked[0]);
		finish(engine);
		return;
	}
	wait_for(engine, q, 1);
	assert_int_equal(q->plan->hooks[0].path, ACCESS_TRACEPOINT);
	assert_int_equal(q->diags.list.n, 1);
	assert_string_equal(q->diags.list.at[0].tag, "path-changed");
	assert_true(q->turn.share > 0.01 && q->turn.share < 0.1);
	n_others = 0;
	wait_for(engine, q, 2);
	assert_int_equal(q->plan->hooks[0].path, ACCESS_RAW_SYSCALL);
	/* That was it. */
	n_others = 30;
	run_for(engine, 2500000000);
	assert_int_equal(q->turn.n_turns, 2);
	end(&asked[0]);
	finish(engine);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_back_and_forth), cmocka_unit_test(test_beside_others),
		cmocka_unit_test(test_refused),	       cmocka_unit_test(test_orders),
		cmocka_unit_test(test_missed),	       cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_alone_again),    cmocka_unit_test(test_both_leave),
		cmocka_unit_test(test_by_itself),
	};

	is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	/* Goes by the verifier's limit alone, which all kernels have: half a minute in a guest. */
	if (is_quick)
		cmocka_set_skip_filter("test_too_large");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
