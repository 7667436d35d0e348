/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libebql as programs use it, over rows of files: no kernel is asked.
 */
#include <ebql.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rows.h"

#define SUMS "SELECT count(*) AS n, min(x) AS low FROM '%s' WINDOW TUMBLING :every"

static int64_t integer(const struct ArrowArray *batch, int column, int64_t row)
{
	const struct ArrowArray *child = batch->children[column];

	return ((const int64_t *)child->buffers[1])[child->offset + row];
}

/* "2 1 3000000000 ...": of each window its count, its lowest value and its end in s. */
static void windows(struct ebql_query *query, const char *expected)
{
	struct ebql_batch info = { .size = sizeof(info) };
	char seen[200] = "";
	struct ArrowArray batch;
	int status;

	while ((status = ebql_next(query, -1, &batch)) == EBQL_BATCH) {
		size_t n = strlen(seen);

		assert_int_equal(ebql_batch(query, &info), EBQL_OK);
		assert_int_equal(info.rows, batch.length);
		assert_int_equal(info.matched, integer(&batch, 0, 0));
		snprintf(seen + n, sizeof(seen) - n, "%lld %lld %g; ",
			 (long long)integer(&batch, 0, 0), (long long)integer(&batch, 1, 0),
			 (double)info.window_end_ns / 1e9);
		batch.release(&batch);
		assert_null(batch.release);
	}
	assert_int_equal(status, EBQL_END);
	assert_true(info.is_last);
	assert_string_equal(seen, expected);
}

/* Is the last window of the four rows shorter than asked? */
static int query_ends_partial(const char *window)
{
	struct ebql_batch info = { .size = sizeof(info) };
	struct ArrowArray batch;
	struct ebql_query *query;
	char text[200];

	snprintf(text, sizeof(text), "SELECT count(*) FROM '%%s' %s", window);
	query = prepared(text);
	ran(query, NULL);
	while (ebql_next(query, -1, &batch) == EBQL_BATCH) {
		assert_false(info.is_partial);
		assert_int_equal(ebql_batch(query, &info), EBQL_OK);
		batch.release(&batch);
	}
	ebql_query_close(query);
	return info.is_partial;
}

static void test_windows(void **state)
{
	struct ebql_query *query = prepared(SUMS);
	struct ebql_stats stats = { .size = sizeof(stats) };

	assert_int_equal(ebql_bind_duration(query, "every", 1000000000), EBQL_OK);
	ran(query, NULL);
	windows(query, "2 1 2; 1 3 3; 1 4 4; ");
	assert_int_equal(ebql_stats(query, &stats), EBQL_OK);
	assert_int_equal(stats.batches, 3);
	assert_int_equal(stats.rows, 3);
	assert_int_equal(stats.events, 4);
	assert_true(stats.is_over && stats.compile_ns && !stats.is_partial);
	assert_int_equal(stats.programs, 0);
	/* Once more, with another value. */
	assert_int_equal(ebql_reset(query), EBQL_OK);
	assert_int_equal(ebql_bind_duration(query, "every", 2000000000), EBQL_OK);
	ran(query, NULL);
	windows(query, "2 1 2; 2 3 4; ");
	assert_false(query_ends_partial("WINDOW COUNT 2"));
	assert_true(query_ends_partial("WINDOW COUNT 3"));
	ebql_query_close(query);
}

static void test_schema(void **state)
{
	struct ebql_query *query = prepared("SELECT who, x + :more AS y FROM '%s'");
	struct ArrowSchema schema;
	struct ArrowArray batch;

	assert_int_equal(ebql_schema(query, &schema), EBQL_REFUSED);
	assert_non_null(strstr(ebql_message(query), "error[unbound-parameter]"));
	assert_int_equal(ebql_reset(query), EBQL_OK);
	ebql_bind_int(query, "more", -1);
	assert_int_equal(ebql_schema(query, &schema), EBQL_OK);
	assert_string_equal(schema.format, "+s");
	assert_string_equal(schema.children[0]->name, "who");
	assert_string_equal(schema.children[1]->name, "y");
	assert_int_equal(ebql_bind_int(query, "more", 1), EBQL_MISUSE);
	ran(query, NULL);
	/* What was handed out belongs to nobody else. */
	assert_int_equal(ebql_next(query, -1, &batch), EBQL_BATCH);
	ebql_query_close(query);
	assert_int_equal(integer(&batch, 1, 0), 0);
	assert_int_equal(batch.n_children, schema.n_children);
	batch.release(&batch);
	schema.release(&schema);
	assert_null(schema.release);
	/* A text without columns. */
	query = prepared("SET max_groups = 5");
	assert_int_equal(ebql_schema(query, &schema), EBQL_OK);
	assert_int_equal(schema.n_children, 1);
	assert_string_equal(schema.children[0]->name, "_other");
	schema.release(&schema);
	ebql_query_close(query);
}

struct seen {
	int n, answer, kept;
	struct ArrowArray array;
};

static int see(void *context, struct ebql_query *query, struct ArrowArray *batch)
{
	struct ebql_batch info = { .size = sizeof(info) };
	struct seen *seen = context;
	struct ArrowArray other;

	assert_int_equal(ebql_batch(query, &info), EBQL_OK);
	assert_int_equal(info.rows, batch->length);
	assert_int_equal(ebql_session_step(session), EBQL_MISUSE);
	assert_int_equal(ebql_next(query, 0, &other), EBQL_MISUSE);
	assert_int_equal(ebql_stop(query), EBQL_MISUSE);
	if (++seen->n == seen->kept) {
		seen->array = *batch;
		batch->release = NULL;
	}
	return seen->n == 2 ? seen->answer : 0;
}

static int stepped(int answer, struct seen *seen)
{
	struct ebql_query *query = prepared(SUMS);
	struct ebql_options options = { .size = sizeof(options), .batch = see, .context = seen };
	struct ebql_stats stats = { .size = sizeof(stats) };
	int status;

	seen->answer = answer;
	ebql_bind_duration(query, "every", 1000000000);
	ran(query, &options);
	do {
		assert_int_equal(ebql_session_step(session), EBQL_OK);
		assert_int_equal(ebql_stats(query, &stats), EBQL_OK);
	} while (!stats.is_over);
	assert_int_equal(stats.batches, answer < 0 ? 1 : seen->n);
	status = ebql_stop(query);
	ebql_query_close(query);
	return status;
}

static void test_call_back(void **state)
{
	struct seen seen = { .kept = 1 };

	assert_int_equal(stepped(0, &seen), EBQL_OK);
	assert_int_equal(seen.n, 3);
	assert_int_equal(integer(&seen.array, 0, 0), 2);
	seen.array.release(&seen.array);
	seen = (struct seen){ 0 };
	assert_int_equal(stepped(1, &seen), EBQL_OK);
	assert_int_equal(seen.n, 2);
	seen = (struct seen){ 0 };
	assert_int_equal(stepped(-1, &seen), EBQL_CANCELLED);
	assert_int_equal(seen.n, 2);
}

static void test_stream(void **state)
{
	struct ebql_query *query = prepared(SUMS);
	struct ebql_batch info = { .size = sizeof(info) };
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;

	ebql_bind_duration(query, "every", 1000000000);
	assert_int_equal(ebql_stream(query, &stream), EBQL_OK);
	assert_int_equal(stream.get_next(&stream, &batch), EINVAL);
	assert_string_equal(stream.get_last_error(&stream), ebql_status_text(EBQL_MISUSE));
	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	schema.release(&schema);
	ran(query, NULL);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(stream.get_next(&stream, &batch), 0);
		assert_int_equal(integer(&batch, 0, 0), i ? 1 : 2);
		batch.release(&batch);
		assert_int_equal(ebql_batch(query, &info), EBQL_OK);
		assert_int_equal(info.window_start_ns, (i + 1) * 1000000000ull);
	}
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_null(batch.release);
	assert_int_equal(ebql_reset(query), EBQL_OK);
	assert_int_equal(stream.get_next(&stream, &batch), EINVAL);
	assert_string_equal(stream.get_last_error(&stream), ebql_status_text(EBQL_MISUSE));
	stream.release(&stream);
	assert_null(stream.release);
	ebql_query_close(query);
}

/* --- What goes wrong --- */

static void says(const char *text, int status, const char *tag, uint32_t line, uint32_t column)
{
	struct ebql_diagnostic said = { .size = sizeof(said) };
	struct ebql_query *query;
	int got = ebql_prepare(session, text, -1, &query);

	if (!got)
		got = ebql_run(query, NULL);
	assert_int_equal(got, status);
	assert_int_equal(ebql_diagnostic(query, 0, &said), EBQL_OK);
	assert_string_equal(said.tag, tag);
	assert_int_equal(said.line, line);
	assert_int_equal(said.column, column);
	assert_int_equal(said.severity, EBQL_ERROR);
	assert_true(said.message[0]);
	assert_non_null(strstr(ebql_message(query), said.message));
	assert_int_equal(ebql_run(query, NULL), status);
	assert_int_equal(ebql_diagnostic(query, 9, &said), EBQL_END);
	ebql_query_close(query);
}

static void test_diagnostics(void **state)
{
	says("SELECT x FRM s", EBQL_REFUSED, "unknown-keyword", 1, 10);
	says("SELECT '\xc3\xa4',\n :a FROM s", EBQL_REFUSED, "unbound-parameter", 2, 2);
	says("SELECT x FROM '/nowhere.csv'", EBQL_REFUSED, "unknown-file", 1, 15);
	says("EXPLAIN ANALYZE SELECT 1 AS n FROM run_queue", EBQL_REFUSED, "not-supported", 1, 1);
	says("EXPLAIN SELECT x FROM '/nowhere.csv'", EBQL_REFUSED, "unknown-file", 1, 23);
	says("DESCRIBE '/nowhere.csv'", EBQL_REFUSED, "unknown-file", 1, 10);
	says("", EBQL_REFUSED, "syntax-error", 1, 1);
}

/* What a caller of another version knows of a structure is what is read and written. */
#define FIRST_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

/* Structures may grow; what was released first is the least that can be meant. */
static void test_sizes(void **state)
{
	struct {
		struct ebql_diagnostic known;
		char more[16];
	} large = { .known.size = sizeof(large) };
	struct ebql_diagnostic small = { .size = FIRST_SIZE(struct ebql_diagnostic, end) - 1,
					 .tag = "as it was" };
	struct ebql_options options = { .size = FIRST_SIZE(struct ebql_options, context) - 1 };
	struct ebql_batch info = { .size = FIRST_SIZE(struct ebql_batch, is_last) - 1 };
	struct ebql_stats stats = { .size = FIRST_SIZE(struct ebql_stats, counted_with) - 1 };
	struct ArrowArray batch;
	struct ebql_query *query;

	assert_int_equal(ebql_prepare(session, "SELECT", -1, &query), EBQL_REFUSED);
	memset(large.more, 1, sizeof(large.more));
	assert_int_equal(ebql_diagnostic(query, 0, &large.known), EBQL_OK);
	assert_int_equal(ebql_diagnostic(query, 0, &small), EBQL_MISUSE);
	assert_string_equal(small.tag, "as it was");
	small.size++;
	assert_int_equal(ebql_diagnostic(query, 0, &small), EBQL_OK);
	assert_string_equal(small.tag, large.known.tag);
	assert_int_equal(large.known.size, sizeof(large));
	for (size_t i = 0; i < sizeof(large.more); i++)
		assert_int_equal(large.more[i], 0);
	ebql_query_close(query);
	query = prepared("SELECT x FROM '%s'");
	assert_int_equal(ebql_run(query, &options), EBQL_MISUSE);
	options.size++;
	assert_int_equal(ebql_run(query, &options), EBQL_OK);
	assert_int_equal(ebql_next(query, -1, &batch), EBQL_BATCH);
	batch.release(&batch);
	assert_int_equal(ebql_batch(query, &info), EBQL_MISUSE);
	info.size++;
	assert_int_equal(ebql_batch(query, &info), EBQL_OK);
	assert_int_equal(ebql_stats(query, &stats), EBQL_MISUSE);
	stats.size++;
	assert_int_equal(ebql_stats(query, &stats), EBQL_OK);
	assert_int_equal(stats.batches, 1);
	ebql_query_close(query);
}

static void refused(int (*bind)(struct ebql_query *query), const char *tag)
{
	struct ebql_query *query = prepared("SELECT x FROM '%s' WHERE x = :x");
	int status = bind(query);

	if (!status)
		status = ebql_run(query, NULL);
	assert_int_equal(status, EBQL_REFUSED);
	if (!strstr(ebql_message(query), tag))
		fail_msg("%s", ebql_message(query));
	ebql_query_close(query);
}

static int not_a_number(struct ebql_query *query)
{
	return ebql_bind_real(query, "x", NAN);
}

static int with_a_nul(struct ebql_query *query)
{
	return ebql_bind_text(query, "x", "a\0b", 3);
}

static int two_values(struct ebql_query *query)
{
	return ebql_bind_int(query, "y", 1) || ebql_bind_int(query, "x", 1);
}

static void test_bad_values(void **state)
{
	refused(not_a_number, "error[bad-parameter]");
	refused(with_a_nul, "error[bad-parameter]");
	refused(two_values, "error[unknown-parameter]");
}

static void test_misuse(void **state)
{
	struct ebql_query *query = prepared("SELECT x FROM '%s'");
	struct ebql_batch info = { .size = sizeof(info) };
	struct ebql_options none = { .size = 0 };
	struct ArrowArray batch;

	assert_int_equal(ebql_next(query, 0, &batch), EBQL_MISUSE);
	assert_int_equal(ebql_stop(query), EBQL_MISUSE);
	assert_int_equal(ebql_batch(query, &info), EBQL_MISUSE);
	assert_int_equal(ebql_run(query, &none), EBQL_MISUSE);
	assert_int_equal(ebql_bind_int(query, "", 1), EBQL_MISUSE);
	assert_int_equal(ebql_bind_int(query, NULL, 1), EBQL_MISUSE);
	assert_int_equal(ebql_run(NULL, NULL), EBQL_MISUSE);
	assert_int_equal(ebql_session_fd(NULL), -1);
	assert_string_equal(ebql_message(NULL), "");
	ran(query, NULL);
	assert_int_equal(ebql_run(query, NULL), EBQL_MISUSE);
	ebql_query_close(query);
	ebql_query_close(NULL);
	ebql_session_close(NULL);
	assert_int_equal(ebql_prepare(NULL, "SELECT 1", -1, &query), EBQL_MISUSE);
	assert_null(query);
}

/* How a run ends that cannot go on: with what was given before, and then the tag. */
static void fails(struct ebql_query *query, int n_batches, const char *tag)
{
	struct ebql_stats stats = { .size = sizeof(stats) };
	struct ArrowArray batch;
	int n = 0, status;

	ran(query, NULL);
	do {
		assert_int_equal(ebql_session_step(session), EBQL_OK);
		assert_int_equal(ebql_stats(query, &stats), EBQL_OK);
	} while (!stats.is_over);
	while ((status = ebql_next(query, -1, &batch)) == EBQL_BATCH) {
		batch.release(&batch);
		n++;
	}
	assert_int_equal(status, EBQL_FAILED);
	assert_int_equal(n, n_batches);
	if (!strstr(ebql_message(query), tag))
		fail_msg("%s", ebql_message(query));
	assert_int_equal(ebql_stop(query), EBQL_FAILED);
	ebql_query_close(query);
}

static void test_failures(void **state)
{
	char rows[] = "/tmp/ebql-api-XXXXXX.csv", text[200];
	struct ebql_query *query;
	int fd = mkstemps(rows, 4);

	/* 70,000 windows, most of which have no event. */
	assert_int_equal(dprintf(fd, "time,x\n0,1\n70000000000,1\n"), 25);
	close(fd);
	snprintf(text, sizeof(text), "SELECT count(*) FROM '%s' WINDOW TUMBLING 1ms", rows);
	assert_int_equal(ebql_prepare(session, text, -1, &query), EBQL_OK);
	fails(query, 65536, "error[not-taken]");
	unlink(rows);
	/* Arrow's durations are signed. */
	query = prepared("SELECT x, :span AS s FROM '%s'");
	ebql_bind_duration(query, "span", 1ull << 63);
	fails(query, 0, "error[run-failed]");
}

/* The batch that has the loss is given all the same. */
static void test_losses(void **state)
{
	struct ebql_query *query = prepared("SET on_loss = fail; SELECT count(*), sum(6 / (x - 3)) "
					    "FROM '%s' WINDOW TUMBLING 1s");
	struct ebql_batch info = { .size = sizeof(info) };
	struct ArrowArray batch;

	ran(query, NULL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ebql_next(query, -1, &batch), EBQL_BATCH);
		batch.release(&batch);
		assert_int_equal(ebql_batch(query, &info), EBQL_OK);
		assert_int_equal(info.lost[EBQL_LOSS_FAULT], i);
	}
	assert_int_equal(ebql_next(query, -1, &batch), EBQL_LOSSES);
	assert_int_equal(ebql_stop(query), EBQL_LOSSES);
	ebql_query_close(query);
}

/* A program without rights is told so, and goes on. */
static void test_privilege(void **state)
{
	struct ebql_session *own;
	struct ebql_query *query;
	int status, pid = fork();

	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(2);
		status = ebql_session_open(&own) ||
			 ebql_prepare(own, "SELECT count(*) FROM raw_tracepoint:sys_enter", -1,
				      &query) ||
			 ebql_run(query, NULL) != EBQL_FAILED;
		if (!status && !strstr(ebql_message(query), "error[no-privilege]"))
			status = write(2, ebql_message(query), strlen(ebql_message(query))) > 0;
		ebql_session_close(own);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* It came before somebody waits: who waits then is woken all the same, once. */
static void test_interrupt(void **state)
{
	struct ebql_query *query = prepared("SELECT x FROM '%s'");
	struct ArrowArrayStream stream;
	struct ArrowArray batch;

	ran(query, NULL);
	ebql_interrupt(session);
	assert_int_equal(ebql_next(query, -1, &batch), EBQL_NOTHING);
	ebql_interrupt(session);
	assert_int_equal(ebql_stream(query, &stream), EBQL_OK);
	assert_int_equal(stream.get_next(&stream, &batch), EINTR);
	assert_null(batch.release);
	assert_int_equal(stream.get_next(&stream, &batch), 0);
	assert_int_equal(batch.length, 4);
	batch.release(&batch);
	stream.release(&stream);
	ebql_query_close(query);
}

/* --- Values, and what holds for a session --- */

static int64_t first(struct ebql_query *query)
{
	struct ArrowArray batch;
	int64_t n;

	ran(query, NULL);
	assert_int_equal(ebql_next(query, -1, &batch), EBQL_BATCH);
	n = integer(&batch, 0, 0);
	batch.release(&batch);
	ebql_query_close(query);
	return n;
}

static void test_values(void **state)
{
	struct ebql_query *query = prepared(
		"SELECT count(*) FROM '%s' WHERE x >= :int AND x < :uint AND x * 1.0 < :real "
		"AND who = :text AND :yes AND x - 1 IS NOT :nothing AND :span > 1s");

	ebql_bind_int(query, "int", -5);
	ebql_bind_uint(query, "uint", UINT64_MAX);
	ebql_bind_real(query, "real", 3.5);
	ebql_bind_text(query, "text", "no", -1);
	ebql_bind_text(query, "text", "a'", 1);
	ebql_bind_bool(query, "yes", 7);
	ebql_bind_null(query, "nothing");
	ebql_bind_duration(query, "span", 2000000000);
	assert_int_equal(first(query), 2);
}

/* A program with a locale whose numbers have a comma: LC_NUMERIC as localedef writes it. */
static void test_locale(void **state)
{
	static const unsigned char numeric[] = {
		0x14, 0x11, 3,	0x20, 6,   0, 0,  0, 32,  0, 0,	 0, 34,	 0,   0,   0,	36,  0,
		0,    0,    40, 0,    0,   0, 44, 0, 0,	  0, 48, 0, 0,	 0,   ',', 0,	'.', 0,
		3,    3,    0,	0,    ',', 0, 0,  0, '.', 0, 0,	 0, 'U', 'T', 'F', '-', '8', 0,
	};
	char dir[] = "/tmp/ebql-locale-XXXXXX", text[60];
	struct ebql_query *query;
	int fd;

	assert_non_null(mkdtemp(dir));
	setenv("LOCPATH", dir, 1);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("comma", 0700), 0);
	fd = open("comma/LC_NUMERIC", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, numeric, sizeof(numeric)), sizeof(numeric));
	close(fd);
	assert_non_null(setlocale(LC_NUMERIC, "comma"));
	snprintf(text, sizeof(text), "%.1f", 0.5);
	assert_string_equal(text, "0,5");

	fd = open("rows.csv", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(dprintf(fd, "x\n2.0\n1.5\n2.0\n"), 14);
	close(fd);
	assert_int_equal(ebql_prepare(session,
				      "SELECT count(*) FROM 'rows.csv' WHERE x * 1.5 = 3.0 AND "
				      "x > :low AND x - 0.25 > 1.5",
				      -1, &query),
			 EBQL_OK);
	ebql_bind_real(query, "low", 1.75);
	assert_int_equal(first(query), 2);
	setlocale(LC_NUMERIC, "C");
	unsetenv("LOCPATH");
	unlink("rows.csv");
	unlink("comma/LC_NUMERIC");
	rmdir("comma");
	assert_int_equal(chdir("/"), 0);
	rmdir(dir);
}

static void test_session(void **state)
{
	struct ebql_query *query = prepared("CREATE VIEW big AS SELECT x FROM '%s' WHERE x > :n");

	ebql_bind_int(query, "n", 1);
	ran(query, NULL);
	assert_int_equal(ebql_stop(query), EBQL_OK);
	ebql_query_close(query);
	query = prepared("SELECT count(*) FROM big");
	/* The view is gone for those that come behind. */
	assert_int_equal(first(prepared("DROP VIEW big; SELECT count(*) FROM '%s'")), 4);
	ran(prepared("DROP VIEW big"), NULL);
	assert_int_equal(first(query), 3);
	says("SELECT count(*) FROM big", EBQL_REFUSED, "unknown-stream-kind", 1, 22);
}

static void test_names(void **state)
{
	char seen[300] = "";

	for (unsigned int i = 0; i < EBQL_LOSS_N; i++) {
		assert_non_null(ebql_loss_name(i));
		strcat(strcat(seen, ebql_loss_name(i)), " ");
	}
	assert_string_equal(seen, "missed table_full ring_full evicted unpaired negative fault "
				  "never_started never_ended overwritten expired full began_before "
				  "over_budget ");
	assert_null(ebql_loss_name(EBQL_LOSS_N));
	for (int status = EBQL_LOSSES; status <= EBQL_END; status++)
		assert_null(strstr(ebql_status_text(status), "no status"));
	assert_non_null(strstr(ebql_status_text(77), "no status"));
	assert_string_equal(ebql_version(), EBQL_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),	    cmocka_unit_test(test_schema),
		cmocka_unit_test(test_call_back),   cmocka_unit_test(test_stream),
		cmocka_unit_test(test_diagnostics), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_bad_values),  cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_values),	    cmocka_unit_test(test_locale),
		cmocka_unit_test(test_session),	    cmocka_unit_test(test_names),
		cmocka_unit_test(test_failures),    cmocka_unit_test(test_losses),
		cmocka_unit_test(test_interrupt),   cmocka_unit_test(test_privilege),
	};

	return cmocka_run_group_tests_name("api", tests, begin, end);
}
