/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sessions: a load generator and an ebql started, paced and ended together. */
#include "session.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ATTACH_LIMIT_MS = 120000, LOAD_LIMIT_MS = 300000, EXIT_LIMIT_MS = 60000 };

bool session_is_long(void)
{
	return getenv("EBQL_TEST_LONG") != NULL;
}

void session_require(void)
{
	if (geteuid() != 0) {
		print_message("SKIP: needs root to trace\n");
		skip();
	}
	if (access(proc_ebql(), X_OK)) {
		print_message("SKIP: no binary %s\n", proc_ebql());
		skip();
	}
}

int session_setup(void **state)
{
	struct session *session = calloc(1, sizeof(*session));

	BUG_ON(!session);
	fold_init(&session->rows);
	fold_init(&session->truth);
	*state = session;
	return 0;
}

int session_teardown(void **state)
{
	struct session *session = *state;

	proc_end_all();
	fold_free(&session->rows);
	fold_free(&session->truth);
	free(session);
	return 0;
}

static void feed_rows(void *context, const char *bytes, size_t n)
{
	fold_feed(context, bytes, n);
}

void session_load(struct session *session, ...)
{
	const char *argv[SESSION_MAX_ARGS] = { proc_loadgen() };
	va_list args;
	u32 n = 1;

	va_start(args, session);
	while (n < SESSION_MAX_ARGS - 1 && (argv[n] = va_arg(args, const char *)))
		n++;
	va_end(args);
	proc_start(&session->load, argv, 0);
	if (!proc_wait_text(&session->load, "\n", ATTACH_LIMIT_MS) ||
	    sscanf(session->load.out_text.at, "pid %d", &session->load_pid) != 1)
		fail_msg("no load generator: %s",
			 session->load.err_text.n ? session->load.err_text.at : "silent");
}

static void start_ebql(struct session *session, const char *const *first, u32 flags, va_list args)
{
	const char *argv[SESSION_MAX_ARGS] = { proc_ebql() };
	char texts[SESSION_MAX_ARGS][1024];
	u32 n = 1;

	while (*first)
		argv[n++] = *first++;
	for (const char *arg; n < SESSION_MAX_ARGS - 1 && (arg = va_arg(args, const char *)); n++) {
		const char *pid;
		size_t used = 0;

		for (; (pid = strstr(arg, "%d")); arg = pid + 2)
			used += (size_t)snprintf(texts[n] + used, sizeof(texts[n]) - used, "%.*s%d",
						 (int)(pid - arg), arg, session->load_pid);
		snprintf(texts[n] + used, sizeof(texts[n]) - used, "%s", arg);
		argv[n] = texts[n];
	}
	session->ebql.sink = feed_rows;
	session->ebql.sink_context = &session->rows;
	proc_start(&session->ebql, argv, flags);
}

void session_ebql(struct session *session, ...)
{
	static const char *const first[] = { "-o", "json", "--verbose", NULL };
	va_list args;

	va_start(args, session);
	start_ebql(session, first, 0, args);
	va_end(args);
	if (!proc_wait_text(&session->ebql, "attached", ATTACH_LIMIT_MS))
		fail_msg("ebql did not attach: %s",
			 session->ebql.err_text.n ? session->ebql.err_text.at : "silent");
}

void session_ebql_plain(struct session *session, u32 flags, ...)
{
	static const char *const first[] = { "-o", "json", NULL };
	va_list args;

	va_start(args, flags);
	start_ebql(session, first, flags, args);
	va_end(args);
}

void session_load_go(struct session *session)
{
	proc_write(&session->load, "go\n");
}

void session_load_wait(struct session *session)
{
	if (!proc_wait_text(&session->load, "total ", LOAD_LIMIT_MS))
		fail_msg("the load generator failed: %s",
			 session->load.err_text.n ? session->load.err_text.at : "silent");
	fold_truth(&session->truth, session->load.out_text.at);
}

void session_load_run(struct session *session)
{
	session_load_go(session);
	session_load_wait(session);
}

void session_end(struct session *session, int signal, int status)
{
	int have;

	if (signal)
		proc_signal(&session->ebql, signal);
	have = proc_wait_exit(&session->ebql, EXIT_LIMIT_MS);
	if (have != status)
		fail_msg("ebql exits with %d instead of %d: %s", have, status,
			 session->ebql.err_text.n ? session->ebql.err_text.at : "silent");
}

void session_expect_exact(struct session *session)
{
	if (!fold_equals(&session->rows, &session->truth))
		fail_msg("%s (%lu windows, lost %lu)", session->rows.error, session->rows.n_windows,
			 session->rows.lost);
	assert_int_equal(session->rows.lost, 0);
	assert_int_equal(session->rows.matched, session->truth.calls);
}
