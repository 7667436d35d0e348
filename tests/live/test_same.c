/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries that differ in their windows alone, or in what they make of the same counts, read one
 * state.  They come and go in any order, the one whose parts it first was among them, and each
 * counts exactly the calls from its start to its end.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
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

#define EVENTS	"FROM tracepoint:syscalls:sys_enter_getegid WHERE pid = %d "
#define SPANS	"FROM syscall:getegid WHERE pid = %d "
#define BY_TID	"FROM syscall:getegid WHERE pid = %d GROUP BY tid, ret "
#define N_CALLS 1000

/* With each state those that read it: the first column of their rows adds up to the calls. */
static const struct kind {
	const char *text;
	u32 state;
	bool is_overlapping; /* a call is in several windows */
} kinds[] = {
	{ "SELECT count(*), max(time - time %% 3) " EVENTS "WINDOW TUMBLING 10s", 0 },
	{ "SELECT count(*), max(time - time %% 3) " EVENTS "WINDOW TUMBLING 1ms", 0 },
	{ "SELECT count(*), max(time - time %% 3) " EVENTS "WINDOW HOPPING 5ms BY 1ms", 0, true },
	{ "SELECT count(*) AS n, max(time - time %% 3) " EVENTS "HAVING n > 0 ORDER BY n "
	  "WINDOW TUMBLING 7ms",
	  0 },
	{ "SELECT count(*), max(time - time %% 3) " EVENTS, 0 },
	{ "SELECT count(*), max(time - time %% 5) " EVENTS "WINDOW TUMBLING 1ms", 1 },
	{ "SELECT count(*), histogram(latency) " SPANS "WINDOW TUMBLING 20ms", 2 },
	{ "SELECT count(*), histogram(latency) " SPANS "WINDOW TUMBLING 1ms", 2 },
	{ "SELECT count(*), histogram(latency) " SPANS, 2 },
	{ "SELECT count(*), tid, max(latency) " BY_TID "WINDOW TUMBLING 3ms", 3 },
	{ "SELECT count(*), tid, max(latency) " BY_TID "WINDOW HOPPING 10ms BY 2ms", 3, true },
	{ "SELECT count(*), tid, max(latency) " BY_TID, 3 },
	{ "SELECT a.n, b.n FROM (SELECT count(*) AS n, max(latency) AS m " SPANS
	  ") AS a CROSS JOIN "
	  "(SELECT count(ret) AS n " SPANS ") AS b WINDOW TUMBLING 4ms",
	  4 },
	{ "SELECT a.n, b.n FROM (SELECT count(*) AS n, max(latency) AS m " SPANS
	  ") AS a CROSS JOIN "
	  "(SELECT count(ret) AS n " SPANS ") AS b WINDOW TUMBLING 6s",
	  4 },
};
#define N_KINDS	 ARRAY_SIZE(kinds)
#define N_STATES 5

static struct asked {
	struct query query;
	char text[512];
	bool is_there;
	u64 n_before, sum;
} asked[N_KINDS];

static u64 n_calls, most_step_ns;

static int take(void *context, const struct batch *batch)
{
	struct asked *a = context;

	if (account_has_loss(&batch->account))
		fail_msg("%s: a loss", a->text);
	/* Without a window the last batch has all; the earlier ones are none. */
	for (u32 i = 0; i < batch->n_rows; i++)
		a->sum += (u64)batch->values[(u64)i * batch->schema->n_columns].integer;
	return 0;
}

static void add(u32 i, struct engine *engine)
{
	struct asked *a = &asked[i];
	struct flow_input how = { .sink = { .batch = take, .context = a } };

	*a = (struct asked){ .is_there = true };
	snprintf(a->text, sizeof(a->text), kinds[i].text, getpid(), getpid());
	if (!query_init(&a->query, "text", a->text, strlen(a->text)) || !query_parse(&a->query) ||
	    !query_compile(&a->query) || query_start(&a->query, engine, &how)) {
		query_said(&a->query);
		fail_msg("%s", a->text);
	}
	a->n_before = n_calls;
}

static void take_out(u32 i)
{
	struct asked *a = &asked[i];
	u64 n = n_calls - a->n_before;
	struct flow_result result;

	if (flow_stop(a->query.flow)) {
		query_said(&a->query);
		fail_msg("%s", a->text);
	}
	flow_result(a->query.flow, &result);
	assert_int_equal(result.account.matched, kinds[i].state == 4 ? 2 * n : n);
	assert_true(result.account.events >= result.account.matched);
	if (!kinds[i].is_overlapping)
		assert_int_equal(a->sum, n);
	else
		assert_true(a->sum >= n);
	assert_int_equal(query_close(&a->query), 0);
	query_free(&a->query);
	a->is_there = false;
}

static struct load_state *state_of(u32 i)
{
	u32 n;

	return flow_loads(asked[i].query.flow, &n)[0];
}

/* Those that are there read one state where they may, and none of theirs is another's. */
static void check_states(void)
{
	for (u32 i = 0; i < N_KINDS; i++)
		for (u32 k = 0; k < N_KINDS; k++)
			if (asked[i].is_there && asked[k].is_there)
				assert_int_equal(state_of(i) == state_of(k),
						 kinds[i].state == kinds[k].state);
}

static void run_for(struct engine *engine, u64 ns)
{
	u64 end_ns = base_monotonic_ns() + ns, now_ns;

	while ((now_ns = base_monotonic_ns()) < end_ns) {
		struct pollfd ready = { engine_fd(engine), POLLIN, 0 };

		for (u32 i = 0; i < N_CALLS; i++, n_calls++)
			syscall(SYS_getegid);
		if (poll(&ready, 1, 1) > 0) {
			now_ns = base_monotonic_ns();
			assert_int_equal(engine_step(engine), 0);
			most_step_ns = MAX(most_step_ns, base_monotonic_ns() - now_ns);
		}
	}
}

static struct engine *open_engine(void)
{
	struct engine *engine;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	assert_int_equal(engine_open(&engine), 0);
	return engine;
}

/* All of them, the oldest going first: what they read is handed on, from one to the next. */
static void test_hand_on(void **state)
{
	struct engine *engine = open_engine();

	for (u32 i = 0; i < N_KINDS; i++) {
		add(i, engine);
		run_for(engine, 5000000);
	}
	check_states();
	for (u32 i = 0; i < N_KINDS; i++) {
		take_out(i);
		run_for(engine, 5000000);
	}
	engine_close(engine);
}

static void test_random(void **state)
{
	struct engine *engine = open_engine();

	srandom(7);
	for (u32 n = 0; n < 150; n++) {
		u32 i = (u32)random() % N_KINDS;

		if (asked[i].is_there)
			take_out(i);
		else
			add(i, engine);
		check_states();
		run_for(engine, (u64)random() % 8000000);
	}
	for (u32 i = 0; i < N_KINDS; i++)
		if (asked[i].is_there)
			take_out(i);
	engine_close(engine);
}

/* What others read stays on its access path; what went to another one is nobody else's. */
static void test_paths(void **state)
{
	struct engine *engine = open_engine();

	add(0, engine);
	add(1, engine);
	check_states();
	assert_int_equal(query_turn(&asked[0].query), -ENOTSUP);
	assert_int_equal(query_turn(&asked[1].query), -ENOTSUP);
	take_out(0);
	assert_int_equal(query_turn(&asked[1].query), 0);
	add(0, engine);
	assert_ptr_not_equal(state_of(0), state_of(1));
	for (u32 i = 0; i < 1000 && !asked[1].query.turn.n_turns; i++)
		run_for(engine, 10000000);
	assert_int_equal(asked[1].query.turn.n_turns, 1);
	add(4, engine);
	assert_ptr_equal(state_of(4), state_of(0));
	run_for(engine, 20000000);
	take_out(0);
	take_out(1);
	take_out(4);
	engine_close(engine);
}

/*
 * A condition that always holds leaves no code, but its query counts what matched: apart from one
 * that has no condition, for which all events do.
 */
static void test_matched(void **state)
{
	static const char *const texts[] = {
		"SELECT count(*) FROM tracepoint:syscalls:sys_enter_getegid "
		"WHERE tid IS NOT NULL WINDOW TUMBLING 3ms",
		"SELECT count(*) FROM tracepoint:syscalls:sys_enter_getegid WINDOW TUMBLING 2ms",
		"SELECT count(*) FROM tracepoint:syscalls:sys_enter_getegid WINDOW TUMBLING 5ms",
	};
	struct engine *engine = open_engine();

	for (u32 round = 0; round < 2; round++) {
		for (u32 n = 0; n < ARRAY_SIZE(texts); n++) {
			struct asked *a = &asked[n];
			struct flow_input how = { .sink = { .batch = take, .context = a } };
			const char *text = texts[round ? ARRAY_SIZE(texts) - 1 - n : n];

			*a = (struct asked){ .n_before = n_calls };
			snprintf(a->text, sizeof(a->text), "%s", text);
			assert_true(query_init(&a->query, "text", a->text, strlen(a->text)) &&
				    query_parse(&a->query) && query_compile(&a->query) &&
				    !query_start(&a->query, engine, &how));
			run_for(engine, 10000000);
		}
		for (u32 n = 0; n < ARRAY_SIZE(texts); n++) {
			struct asked *a = &asked[n];
			struct flow_result result;

			assert_int_equal(flow_stop(a->query.flow), 0);
			flow_result(a->query.flow, &result);
			/* Others may call it, too. */
			assert_true(a->sum >= n_calls - a->n_before - N_CALLS && a->sum > 0);
			assert_int_equal(result.account.matched, a->sum);
			assert_int_equal(result.account.events, a->sum);
			assert_int_equal(query_close(&a->query), 0);
			query_free(&a->query);
			run_for(engine, 10000000);
		}
	}
	engine_close(engine);
}

/* However many there are, they take the place of one. */
static void test_many(void **state)
{
	struct engine *engine = open_engine();
	static struct asked many[100];
	struct flow_input how = { .sink = { .batch = take } };
	u32 n_loads;

	add(6, engine);
	for (u32 i = 0; i < ARRAY_SIZE(many); i++) {
		struct asked *a = &many[i];

		how.sink.context = a;
		snprintf(a->text, sizeof(a->text),
			 "SELECT count(*), histogram(latency) " SPANS "WINDOW TUMBLING %ums",
			 getpid(), 1 + i);
		assert_true(query_init(&a->query, "text", a->text, strlen(a->text)) &&
			    query_parse(&a->query) && query_compile(&a->query) &&
			    !query_start(&a->query, engine, &how));
		assert_ptr_equal(flow_loads(a->query.flow, &n_loads)[0], state_of(6));
		a->n_before = n_calls;
		run_for(engine, 1000000);
	}
	run_for(engine, 300000000);
	for (u32 i = 0; i < ARRAY_SIZE(many); i++) {
		struct asked *a = &many[i];

		assert_int_equal(flow_stop(a->query.flow), 0);
		assert_int_equal(a->sum, n_calls - a->n_before);
		assert_int_equal(query_close(&a->query), 0);
		query_free(&a->query);
	}
	take_out(6);
	engine_close(engine);
}

static void *end_program(void *slot)
{
	usleep(100000);
	__atomic_store_n((u64 *)slot, slot_word(SLOTS_MAX - 1, 0), __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * A program that does not end: windows of its state go on until it has, each with all of its calls;
 * no step of the engine waits long for it, so that others go on.  A query that would have to start
 * meanwhile is refused, and one that ends waits.
 */
static void test_stuck(void **state)
{
	struct engine *engine = open_engine();
	struct asked *refused = &asked[5];
	struct flow_input how = { .sink = { .batch = take, .context = refused } };
	struct flow_result result;
	u64 *slot, free, start_ns, n;
	pthread_t thread;

	add(0, engine);
	add(1, engine);
	run_for(engine, 20000000);
	slot = &state_of(0)->hooks->slots[0].slots[SLOTS_MAX - 1];
	free = __atomic_exchange_n(slot, SLOT_BUSY, __ATOMIC_SEQ_CST);
	assert_true(free != SLOT_BUSY);
	most_step_ns = 0;
	run_for(engine, 300000000);
	assert_true(most_step_ns > 1000000 && most_step_ns < 1000000000);
	*refused = (struct asked){ 0 };
	snprintf(refused->text, sizeof(refused->text), kinds[5].text, getpid(), getpid());
	assert_true(query_init(&refused->query, "text", refused->text, strlen(refused->text)) &&
		    query_parse(&refused->query) && query_compile(&refused->query));
	start_ns = base_monotonic_ns();
	assert_int_equal(query_start(&refused->query, engine, &how), -EBUSY);
	assert_in_range(base_monotonic_ns() - start_ns, 1000000000, 5000000000);
	assert_string_equal(refused->query.diags.list.at[0].tag, "run-end");
	query_free(&refused->query);
	run_for(engine, 20000000);
	/* The other one's switch waits; this one is told to end with its window. */
	n = n_calls - asked[1].n_before;
	flow_stop_at_window(asked[1].query.flow, false);
	__atomic_store_n(slot, free, __ATOMIC_SEQ_CST);
	for (u32 i = 0; i < 100 && !flow_is_over(asked[1].query.flow); i++)
		run_for(engine, 10000000);
	assert_true(flow_is_over(asked[1].query.flow));
	flow_result(asked[1].query.flow, &result);
	assert_true(asked[1].sum >= n && asked[1].sum == result.account.matched);
	assert_int_equal(query_close(&asked[1].query), 0);
	query_free(&asked[1].query);
	asked[1].is_there = false;
	add(4, engine);
	run_for(engine, 20000000);
	take_out(0);
	take_out(4);
	add(6, engine);
	run_for(engine, 20000000);
	slot = &state_of(6)->hooks->slots[0].slots[SLOTS_MAX - 1];
	assert_true(__atomic_exchange_n(slot, SLOT_BUSY, __ATOMIC_SEQ_CST) == free);
	assert_int_equal(pthread_create(&thread, NULL, end_program, slot), 0);
	take_out(6);
	pthread_join(thread, NULL);
	engine_close(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hand_on), cmocka_unit_test(test_random),
		cmocka_unit_test(test_paths),	cmocka_unit_test(test_matched),
		cmocka_unit_test(test_many),	cmocka_unit_test(test_stuck)
	};

	return cmocka_run_group_tests_name("same", tests, NULL, NULL);
}
