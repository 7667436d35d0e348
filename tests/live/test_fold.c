/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The judge of the live tests is judged: fold accepts what is right, names what is
 * wrong, and the load generator's account adds up to what it was asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "session.h"

static const char right[] =
	"{\"fd\":5,\"cpu\":0,\"n\":2,\"s\":30,\"lo\":10,\"hi\":20}\n"
	"{\"fd\":6,\"cpu\":1,\"n\":1,\"s\":7,\"lo\":7,\"hi\":7}\n"
	"{\"_batch\":{\"window_start\":100,\"window_end\":200,\"events\":9,\"matched\":3,"
	"\"rows\":2,\"lost\":{}}}\n"
	"{\"fd\":5, \"cpu\":0, \"n\":1, \"s\":5, \"lo\":5, \"hi\":5, \"comm\":\"a\\\"}b\"}\n"
	"{\"_batch\":{\"window_start\":200,\"window_end\":300,\"events\":1,\"matched\":1,"
	"\"rows\":1,\"lost\":{},\"last\":true}}\n";
static const char truth[] = "5 0 3 35 5 20\n6 1 1 7 7 7\ntotal 4 42 1000\n";

/* Feeds pieces of every size; returns whether fold calls it equal, and its complaint. */
static bool judge(const char *rows, const char *truth_text, char *ret_error, size_t size)
{
	struct fold fold, other;
	bool is_equal = false;

	for (size_t step = 1; step <= strlen(rows); step += step < 8 ? 1 : 97) {
		fold_init(&fold);
		fold_init(&other);
		for (size_t at = 0; at < strlen(rows); at += step)
			fold_feed(&fold, rows + at, MIN(step, strlen(rows) - at));
		fold_truth(&other, truth_text);
		is_equal = fold_equals(&fold, &other);
		snprintf(ret_error, size, "%s", fold.error);
		if (is_equal) {
			assert_int_equal(fold.n_windows, 2);
			assert_int_equal(fold.matched, 4);
			assert_int_equal(fold.events, 10);
			assert_true(fold.was_last);
		}
		fold_free(&fold);
		fold_free(&other);
	}
	return is_equal;
}

static void test_right(void **state)
{
	char error[256];

	assert_true(judge(right, truth, error, sizeof(error)));
	assert_string_equal(error, "");
}

static void test_wrong(void **state)
{
	static const struct {
		const char *from, *to, *complaint;
	} cases[] = {
		{ "\"s\":30", "\"s\":31", "fd 5 cpu 0" },
		{ "\"lo\":10", "\"lo\":4", "fd 5 cpu 0" },
		{ "\"hi\":20", "\"hi\":19", "fd 5 cpu 0" },
		{ "\"n\":1,\"s\":7", "\"n\":2,\"s\":7", "fd 6 cpu 1" },
		{ "\"cpu\":1", "\"cpu\":0", "fd 6 cpu 1" },
		{ "\"fd\":6", "\"fd\":8", "fd 6 cpu 1" },
		{ "\"window_start\":200", "\"window_start\":201", "starts at 201" },
		{ "\"rows\":2", "\"rows\":3", "batch says 3" },
		{ "\"events\":9", "\"events\":2", "more matched" },
		{ "\"window_end\":300", "\"window_end\":199", "ends before" },
		{ "{\"fd\":6", "{fd:6", "no JSON object" },
		{ "true}}\n", "true}}\n{\"fd\":5", "no end" },
		{ "true}}\n", "true}}\n{\"fd\":5,\"cpu\":0}\n", "without a batch" },
	};
	char rows[1024], error[256];

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *at = strstr(right, cases[i].from);

		assert_non_null(at);
		snprintf(rows, sizeof(rows), "%.*s%s%s", (int)(at - right), right, cases[i].to,
			 at + strlen(cases[i].from));
		assert_false(judge(rows, truth, error, sizeof(error)));
		if (!strstr(error, cases[i].complaint))
			fail_msg("case %u: \"%s\" does not say \"%s\"", i, error,
				 cases[i].complaint);
	}
	assert_false(judge(right, "5 0 3 35 5 20\n", error, sizeof(error)));
	assert_non_null(strstr(error, "2 keys instead of 1"));
}

/* Windows of 100: a word too much, one that is missing, and a wrong number are noticed. */
static void test_lateness(void **state)
{
	static const struct {
		u64 end_ns;
		const char *says;
		bool is_right;
	} cases[] = {
		{ 101, "", true },
		{ 102, ",\"late_ns\":2", true },
		{ 102, "", false },
		{ 101, ",\"late_ns\":1", false },
		{ 300, ",\"merged\":3", true },
		{ 350, ",\"late_ns\":50,\"merged\":3", true },
		{ 350, ",\"late_ns\":50,\"merged\":2", false },
		{ 350, ",\"late_ns\":50", false },
		{ 99, "", true }, /* the run's end */
		{ 99, ",\"late_ns\":99", false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[256];
		struct fold fold;

		fold_init(&fold);
		fold.size_ns = 100;
		snprintf(text, sizeof(text),
			 "{\"_batch\":{\"window_start\":7,\"window_end\":%lu,\"events\":0,"
			 "\"matched\":0,\"rows\":0,\"lost\":{}%s}}\n",
			 cases[i].end_ns, cases[i].says);
		fold_feed(&fold, text, strlen(text));
		assert_int_equal(!*fold.error, cases[i].is_right);
		fold_free(&fold);
	}
}

static void test_losses(void **state)
{
	static const char text[] =
		"{\"n\":3,\"_other\":true}\n{\"_batch\":{\"window_start\":1,\"window_end\":2,"
		"\"events\":3,\"matched\":3,\"rows\":1,\"lost\":{\"table_full\":2,\"ring_full\":5}}}\n";
	struct fold fold;

	fold_init(&fold);
	fold_feed(&fold, text, strlen(text));
	assert_string_equal(fold.error, "");
	assert_int_equal(fold.lost, 7);
	assert_int_equal(fold.lost_table_full, 2);
	assert_int_equal(fold.lost_ring_full, 5);
	assert_int_equal(fold.other_calls, 3);
	assert_int_equal(fold.n_cells, 0);
	fold_free(&fold);
}

static void check_load(struct session *session, u64 calls, u32 n_keys)
{
	u64 sum = 0;

	session_load_run(session);
	assert_int_equal(session->truth.calls, calls);
	assert_int_equal(session->truth.n_cells, n_keys);
	for (u32 i = 0; i < session->truth.capacity; i++) {
		const struct fold_cell *cell = &session->truth.cells[i];

		if (cell->calls == 0)
			continue;
		assert_true(cell->min >= 1 && cell->max <= 4096);
		assert_true(cell->sum >= cell->min * cell->calls);
		assert_true(cell->sum <= cell->max * cell->calls);
		sum += cell->calls;
	}
	assert_int_equal(sum, calls);
	proc_close_in(&session->load);
	assert_int_equal(proc_wait_exit(&session->load, 60000), 0);
}

static void test_load(void **state)
{
	struct session *session = *state;

	session_load(session, "--calls", "100001", "--fds", "8", "--no-pin", NULL);
	check_load(session, 100001, 8);
}

static void test_load_many_fds(void **state)
{
	struct session *session = *state;

	session_load(session, "--calls", "2000000", "--fds", "65536", "--no-pin", NULL);
	check_load(session, 2000000, 65536);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_lateness),
		cmocka_unit_test(test_losses),
		cmocka_unit_test_setup_teardown(test_load, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_load_many_fds, session_setup,
						session_teardown),
	};

	return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
