/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libebql: what statements show that run nothing; values bound anew; faults that are counted once.
 */
#include <ebql.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rows.h"

/* Of a column of texts, whose dictionary has each once. */
static const char *text_of(const struct ArrowArray *batch, int column, int64_t row, int *ret_n)
{
	const struct ArrowArray *child = batch->children[column], *texts = child->dictionary;
	int32_t i = ((const int32_t *)child->buffers[1])[child->offset + row];
	const int32_t *offsets = texts->buffers[1];

	*ret_n = offsets[i + 1] - offsets[i];
	return (const char *)texts->buffers[2] + offsets[i];
}

/* The texts of all rows, with a blank behind each and a line for each row, into `seen`. */
static int shows(const char *format, char *seen, size_t size)
{
	struct ebql_query *query = prepared(format);
	struct ebql_batch info = { .size = sizeof(info) };
	struct ArrowSchema schema;
	struct ArrowArray batch;
	const char *text;
	int n, n_columns;
	FILE *out;

	out = fmemopen(seen, size, "w");
	assert_int_equal(ebql_schema(query, &schema), EBQL_OK);
	for (int64_t i = 0; i < schema.n_children - 1; i++)
		fprintf(out, "%s ", schema.children[i]->name);
	n_columns = (int)schema.n_children - 1;
	schema.release(&schema);
	ran(query, NULL);
	assert_int_equal(ebql_next(query, -1, &batch), EBQL_BATCH);
	for (int64_t row = 0; row < batch.length; row++) {
		fputc('\n', out);
		for (int i = 0; i < n_columns; i++) {
			text = text_of(&batch, i, row, &n);
			fprintf(out, "%.*s ", n, text);
		}
	}
	fclose(out);
	assert_int_equal(ebql_batch(query, &info), EBQL_OK);
	assert_int_equal(info.rows, batch.length);
	assert_true(info.is_last);
	batch.release(&batch);
	assert_int_equal(ebql_next(query, -1, &batch), EBQL_END);
	assert_int_equal(ebql_stop(query), EBQL_OK);
	ebql_query_close(query);
	return n_columns;
}

static void test_shown(void **state)
{
	char seen[4000], *at;

	assert_int_equal(shows("DESCRIBE '%s'", seen, sizeof(seen)), 4);
	assert_string_equal(strtok(seen, "\n"), "name type meaning kind ");
	at = strtok(NULL, "");
	if (!strstr(at, "\nwho TEXT(2) "))
		fail_msg("%s", at);
	shows("CREATE VIEW v AS SELECT x FROM '%s'; SHOW VIEWS LIKE 'v'", seen, sizeof(seen));
	assert_string_equal(seen, "view comment \nv  ");
	/* It was for that text alone, as before a SELECT. */
	shows("SHOW VIEWS LIKE 'v'", seen, sizeof(seen));
	assert_string_equal(seen, "view comment ");
	shows("CREATE VIEW a_view AS SELECT x FROM '%s'; SHOW STREAMS LIKE 'a_vie%%'", seen,
	      sizeof(seen));
	assert_string_equal(seen, "stream \na_view ");
	shows("EXPLAIN LOGICAL SELECT x FROM '%s' WHERE x > 1", seen, sizeof(seen));
	assert_string_equal(strtok(seen, "\n"), "line ");
	assert_non_null(strstr(strtok(NULL, ""), "x > 1"));
	shows("EXPLAIN SELECT x FROM '%s' WHERE x > 1", seen, sizeof(seen));
	assert_non_null(strstr(seen, "rows"));
}

/* A fault of an argument is one, however often the argument is looked at. */
static void test_faults(void **state)
{
	static const char *const values[] = {
		"max(x / (x - 1), 2)",	  "max(2, x / (x - 1))", "max(x / (x - 1), 2, 3)",
		"min(2, 3, x / (x - 1))", "abs(x / (x - 1))",	 "nullif(x / (x - 1), 2)",
		"nullif(2, x / (x - 1))",
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct ebql_stats stats = { .size = sizeof(stats) };
		struct ebql_query *query;
		struct ArrowArray batch;
		char text[300];

		snprintf(text, sizeof(text), "SELECT count(%s) FROM '%s'", values[i], path);
		assert_int_equal(ebql_prepare(session, text, -1, &query), EBQL_OK);
		ran(query, NULL);
		assert_int_equal(ebql_next(query, -1, &batch), EBQL_BATCH);
		batch.release(&batch);
		assert_int_equal(ebql_next(query, -1, &batch), EBQL_END);
		assert_int_equal(ebql_stats(query, &stats), EBQL_OK);
		if (stats.lost[EBQL_LOSS_FAULT] != 1)
			fail_msg("%s: %llu", values[i],
				 (unsigned long long)stats.lost[EBQL_LOSS_FAULT]);
		ebql_query_close(query);
	}
}

static int count_batch(void *context, struct ebql_query *query, struct ArrowArray *batch)
{
	*(int64_t *)context += batch->length;
	return 0;
}

/* The same by a call-back, and once more. */
static void test_shown_again(void **state)
{
	int64_t n = 0;
	const struct ebql_options options = { .size = sizeof(options),
					      .batch = count_batch,
					      .context = &n };
	struct ebql_query *query = prepared("DESCRIBE '%s'");

	ran(query, &options);
	assert_int_equal(n, 3);
	assert_int_equal(ebql_reset(query), EBQL_OK);
	ran(query, &options);
	assert_int_equal(n, 6);
	ebql_query_close(query);
}

static long resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* A value takes its room from the one before: 1 GiB in all. */
static void test_rebound(void **state)
{
	static char text[(1 << 20) - 1];
	struct ebql_query *query = prepared("SELECT x FROM '%s' WHERE who = :who");
	long before = resident_bytes();

	memset(text, 'a', sizeof(text));
	for (int i = 0; i < 1024; i++)
		assert_int_equal(ebql_bind_text(query, "who", text, sizeof(text)), EBQL_OK);
	/* A sanitizer keeps some. */
	assert_true(resident_bytes() - before < 400 << 20);
	ebql_query_close(query);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_shown_again),
		cmocka_unit_test(test_rebound),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests_name("shown", tests, begin, end);
}
