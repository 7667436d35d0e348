/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file of rows, and a session, for tests of libebql that ask no kernel.
 */
#ifndef EBQL_TESTS_ROWS_H
#define EBQL_TESTS_ROWS_H

/* Windows of 1 s: rows 1 2 | 3 | 4; their sum is 10. */
#define ROWS "time,x,who\n1000000000,1,a\n1500000000,2,b\n2000000000,3,a\n3000000000,4,\xc3\xa4\n"

static char path[] = "/tmp/ebql-api-XXXXXX.csv";
static struct ebql_session *session;

static int begin(void **state)
{
	int fd = mkstemps(path, 4);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, ROWS, sizeof(ROWS) - 1), sizeof(ROWS) - 1);
	close(fd);
	return ebql_session_open(&session);
}

static int end(void **state)
{
	ebql_session_close(session);
	return unlink(path);
}

static struct ebql_query *prepared(const char *format)
{
	struct ebql_query *query;
	char text[1000];

	snprintf(text, sizeof(text), format, path);
	if (ebql_prepare(session, text, -1, &query))
		fail_msg("%s", ebql_message(query));
	return query;
}

static void ran(struct ebql_query *query, const struct ebql_options *options)
{
	if (ebql_run(query, options))
		fail_msg("%s", ebql_message(query));
}

#endif
