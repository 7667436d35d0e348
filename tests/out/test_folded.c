/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks in every format, and those that are of stacks: what rows come to, over windows, snapshots
 * and streamed rows; and that a flame graph is XML.
 */
#include <pthread.h>

#include "golden.h"

/* Names that would break a line, a fold or a terminal; without names; without calls. */
static void test_stacks(void **unused)
{
	struct column columns[] = {
		COLUMN("s", { .kind = TYPE_STACK, .bits = 64 }),
		COLUMN("n", { .kind = TYPE_INT, .bits = 64 }),
	};
	static const char *const names[] = { "leaf", "a;b <int>", "\x1b[31mred\"", NULL, "main" };
	static const char *const others[] = { "nf_hook [nf]", "main" };
	struct stack *stacks[4];
	struct value values[][2] = {
		{ NUL, INT(7) }, { NUL, INT(1) }, { NUL, INT(2) }, { NUL, INT(3) }, { NUL, INT(40) }
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));

	for (u32 i = 0; i < ARRAY_SIZE(stacks); i++) {
		stacks[i] = calloc(1, sizeof(*stacks[i]) + 5 * sizeof(u64));
		for (u32 k = 0; k < 5; k++)
			stacks[i]->addresses[k] = 0x401000 + 16 * k + i;
		values[i][0] = (struct value){ .kind = VALUE_STACK, .stack = stacks[i] };
	}
	stacks[0]->n = ARRAY_SIZE(names);
	stacks[0]->names = names;
	stacks[1]->n = ARRAY_SIZE(others);
	stacks[1]->names = others;
	stacks[2]->n = 3;
	batch.other_row = 4;
	check_all("stacks", (struct out_options){ 0 }, &batch, 1);
	for (u32 i = 0; i < ARRAY_SIZE(stacks); i++)
		free(stacks[i]);
}

static struct stack *stack_of(const char *const *names, u16 n)
{
	struct stack *stack = calloc(1, sizeof(*stack) + n * sizeof(u64));

	stack->n = n;
	stack->names = names;
	return stack;
}

/* Two batches of the same rows. */
static char *twice(const char *format, struct out_options options, bool is_windowed)
{
	static const char *const long_way[] = { "leaf", "middle", "main" };
	static const char *const short_way[] = { "middle", "main" };
	struct column columns[] = {
		COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
		COLUMN("n", { .kind = TYPE_INT, .bits = 64 }),
		COLUMN("s", { .kind = TYPE_STACK, .bits = 64 }),
		COLUMN("avg", { .kind = TYPE_REAL }),
	};
	struct stack *stacks[] = { stack_of(long_way, 3), stack_of(short_way, 2) };
	struct value values[][3] = { { TEXT("a b"), INT(5), NUL },
				     { TEXT("c"), INT(3), NUL },
				     { TEXT("a b"), INT(2), NUL },
				     { TEXT("c"), INT(-3), NUL },
				     { TEXT("c"), NUL, NUL } };
	struct schema schema = { .n_columns = 3, .columns = columns };
	struct value rows[ARRAY_SIZE(values)][3];
	struct batch batches[2];
	char *text;
	size_t n;

	for (u32 i = 0; i < ARRAY_SIZE(values); i++) {
		memcpy(rows[i], values[i], sizeof(rows[i]));
		rows[i][2] = (struct value){ .kind = VALUE_STACK, .stack = stacks[i == 2] };
	}
	batches[0] = batch_of(&schema, &rows[0][0], ARRAY_SIZE(values));
	batches[0].is_windowed = is_windowed;
	batches[0].account.lost[LOSS_MISSED] = 4;
	batches[0].sampled = (struct batch_sampled){ 1, 1 };
	batches[1] = batches[0];
	batches[1].sampled = (struct batch_sampled){ 4, 4 };
	text = format_batches(format, options, batches, 2, &n);
	for (u32 i = 0; i < ARRAY_SIZE(stacks); i++)
		free(stacks[i]);
	return text;
}

static void expect_folded(struct out_options options, bool is_windowed, const char *wanted)
{
	char *text = twice("folded", options, is_windowed);

	assert_string_equal(text, wanted);
	free(text);
}

/* Windows add up, totals hold what came before them, and equal stacks are one line. */
static void test_sums(void **unused)
{
	expect_folded((struct out_options){ 0 }, true,
		      "a_b;main;middle 4\na_b;main;middle;leaf 10\nc;main;middle;leaf 6\n"
		      "# lost missed=8\n"
		      "# sampled: the events of one in 4 threads, before that of one in 1\n");
	expect_folded((struct out_options){ 0 }, false,
		      "a_b;main;middle 2\na_b;main;middle;leaf 5\nc;main;middle;leaf 3\n"
		      "# lost missed=4\n"
		      "# sampled: the events of one in 4 threads\n");
}

/* Recorded stacks are texts with ; between the calls; without a number each row is one. */
static void test_texts(void **unused)
{
	struct column columns[] = { COLUMN("s", { .kind = TYPE_TEXT }) };
	struct value values[][1] = {
		{ TEXT("main;a") }, { TEXT("main") }, { TEXT("main;a") }, { TEXT("") }
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));
	struct out_options options = { .is_streaming = true };
	size_t n;
	char *text;

	batch.is_windowed = false;
	batch.is_last = true;
	text = format_batches("folded", options, &batch, 1, &n);
	assert_string_equal(text, "[no_calls] 1\nmain 1\nmain;a 2\n");
	free(text);
}

/* The element whose tag begins at `at`: its end, and behind it; every entity is known. */
static const char *check_tag(const char *at, const char **open, u32 *n_open)
{
	const char *end = strchr(at, '>');
	size_t n = strcspn(at + 1, " >/");

	assert_non_null(end);
	if (at[1] == '/') {
		assert_true(*n_open > 0);
		n = strlen(open[--*n_open]);
		n = strcspn(open[*n_open], " >/");
		assert_memory_equal(at + 2, open[*n_open], n);
		assert_int_equal(at[2 + n], '>');
	} else if (end[-1] != '/' && at[1] != '?') {
		assert_true(n > 0);
		assert_true(*n_open < 16);
		open[(*n_open)++] = at + 1;
	}
	return end + 1;
}

/* Tags pair, attributes are quoted whole, no bare & or control byte. */
static void check_xml(const char *text)
{
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;" };
	const char *open[16];
	u32 n_open = 0, n_quotes = 0;

	while (*text) {
		bool is_known = *text != '&';

		for (u32 i = 0; i < ARRAY_SIZE(entities); i++)
			is_known |= !strncmp(text, entities[i], strlen(entities[i]));
		assert_true(is_known);
		assert_true((u8)*text >= ' ' || *text == '\n');
		if (!strncmp(text, "<![CDATA[", 9)) {
			text = strstr(text, "]]>");
			assert_non_null(text);
			text += 3;
			continue;
		}
		n_quotes += *text == '"';
		if (*text == '<')
			text = check_tag(text, open, &n_open);
		else
			text++;
	}
	assert_int_equal(n_open, 0);
	assert_int_equal(n_quotes % 2, 0);
}

static void test_flamegraph(void **unused)
{
	char *text = twice("flamegraph", (struct out_options){ 0 }, true), *again;

	check_xml(text);
	assert_non_null(strstr(text, "<title>leaf (10, 50.00%)</title>"));
	assert_non_null(strstr(text, "<title>all (20, 100.00%)</title>"));
	assert_non_null(strstr(text, "lost: missed 8"));
	assert_non_null(strstr(text, "sampled: the events of one in 4 threads, before that"));
	again = twice("flamegraph", (struct out_options){ 0 }, true);
	assert_string_equal(text, again);
	free(again);
	free(text);
}

/* A text with as many calls as it has room for, by a thread with little room itself. */
enum { DEEP_CALLS = 20000, DEEP_STACK = 64 << 10 };

static void *format_deep(void *context)
{
	char **texts = context;
	struct column columns[] = { COLUMN("s", { .kind = TYPE_TEXT }) };
	struct value values[][1] = { { TEXT("") } };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], 1);
	char *deep = calloc(DEEP_CALLS, 2);
	size_t n;

	memset(deep, ';', 2 * DEEP_CALLS - 1);
	for (u32 i = 0; i < DEEP_CALLS; i++)
		deep[2 * i] = 'f';
	values[0][0].text = deep;
	values[0][0].n = 2 * DEEP_CALLS - 1;
	batch.is_last = true;
	texts[0] = format_batches("folded", (struct out_options){ 0 }, &batch, 1, &n);
	texts[1] = format_batches("flamegraph", (struct out_options){ 0 }, &batch, 1, &n);
	texts[2] = deep;
	return NULL;
}

static void test_deep(void **unused)
{
	char *texts[3];
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	assert_int_equal(pthread_attr_setstacksize(&attributes, DEEP_STACK), 0);
	assert_int_equal(pthread_create(&thread, &attributes, format_deep, texts), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	assert_int_equal(strlen(texts[0]), 2 * DEEP_CALLS - 1 + strlen(" 1\n"));
	assert_memory_equal(texts[0], texts[2], 2 * DEEP_CALLS - 1);
	check_xml(texts[1]);
	assert_non_null(strstr(texts[1], "data-d=\"20000\""));
	for (u32 i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
}

/* A run without a row, and one whose rows come to nothing. */
static void test_nothing(void **unused)
{
	struct column columns[] = { COLUMN("s", { .kind = TYPE_TEXT }),
				    COLUMN("n", { .kind = TYPE_INT, .bits = 64 }) };
	struct value values[][2] = { { TEXT("main"), INT(0) } };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], 1);

	for (u32 n_rows = 0; n_rows < 2; n_rows++) {
		size_t n;
		char *text;

		batch.n_rows = n_rows;
		text = format_batches("folded", (struct out_options){ 0 }, &batch, 1, &n);
		assert_string_equal(text, "");
		free(text);
		text = format_batches("flamegraph", (struct out_options){ 0 }, &batch, 1, &n);
		check_xml(text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks), cmocka_unit_test(test_sums),
		cmocka_unit_test(test_texts),  cmocka_unit_test(test_flamegraph),
		cmocka_unit_test(test_deep),   cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("folded", tests, NULL, NULL);
}
