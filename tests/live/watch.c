/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Starting, pacing and ending a workload and the ebql that watches it. */
#include "watch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ATTACH_LIMIT_MS = 120000, ANSWER_LIMIT_MS = 300000, EXIT_LIMIT_MS = 60000 };

void watch_require(void)
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

void watch_open(struct watch *watch, void (*row)(void *context, const struct line *line),
		void *context)
{
	memset(watch, 0, sizeof(*watch));
	reader_init(&watch->reader, row, context);
	watch->is_started = true;
}

void watch_close(struct watch *watch)
{
	proc_end_all();
	if (watch->is_started)
		reader_free(&watch->reader);
	watch->is_started = false;
}

int watch_setup(void **state)
{
	*state = calloc(1, (size_t)*state);
	return *state ? 0 : -1;
}

int watch_teardown(void **state)
{
	watch_close(*state);
	free(*state);
	return 0;
}

bool watch_is_quick(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--quick"))
		setenv("EBQL_TEST_QUICK", "1", 1);
	if (argc > 2 && !strcmp(argv[1], "--quick"))
		cmocka_set_test_filter(argv[2]);
	return getenv("EBQL_TEST_QUICK");
}

void watch_own_path(char path[WATCH_PATH_BYTES])
{
	ssize_t n = readlink("/proc/self/exe", path, WATCH_PATH_BYTES - 1);

	assert_true(n > 0);
	path[n] = '\0';
}

static const char *said(const struct proc *proc)
{
	return proc->err_text.n ? proc->err_text.at : "silent";
}

void watch_start(struct watch *watch, const char *path, const char *const *args)
{
	const char *argv[16] = { path };

	for (u32 n = 1; *args && n < ARRAY_SIZE(argv) - 1; n++)
		argv[n] = *args++;
	proc_start(&watch->work, argv, 0);
	if (!proc_wait_text(&watch->work, "\n", ATTACH_LIMIT_MS) ||
	    sscanf(watch->work.out_text.at, "pid %d", &watch->pid) != 1)
		fail_msg("no workload: %s", said(&watch->work));
	buf_reset(&watch->work.out_text);
}

void watch_work(struct watch *watch, const char *mode)
{
	const char *args[] = { "--work", mode, NULL };

	watch_start(watch, "/proc/self/exe", args);
}

void watch_begin(struct watch *watch, void (*row)(void *context, const struct line *line),
		 void *context)
{
	watch_require();
	watch_open(watch, row, context);
	watch_work(watch, "here");
}

void watch_tell(struct watch *watch, const char *line, const char *answer)
{
	int limit_ms = getenv("EBQL_TEST_LONG") ? 10 * ANSWER_LIMIT_MS : ANSWER_LIMIT_MS;

	buf_reset(&watch->work.out_text);
	proc_write(&watch->work, line);
	proc_write(&watch->work, "\n");
	if (!proc_wait_text(&watch->work, answer, limit_ms))
		fail_msg("the workload does not answer \"%s\" to \"%s\": %s", answer, line,
			 said(&watch->work));
	/* The answer may come in pieces: its line ends later than its beginning. */
	if (!proc_wait_text(&watch->work, "\n", ANSWER_LIMIT_MS))
		fail_msg("the workload's answer to \"%s\" has no end", line);
}

void watch_ebql(struct watch *watch, const char *format, ...)
{
	char query[4096], pid[16];
	const char *argv[] = {
		proc_ebql(), "-o", "json", "--verbose", query, NULL, NULL, NULL, NULL
	};
	va_list args;

	snprintf(pid, sizeof(pid), "%d", watch->pid);
	if (watch->is_of_process) {
		argv[5] = "-p";
		argv[6] = pid;
	}
	if (watch->is_measured)
		argv[watch->is_of_process ? 7 : 5] = "--stats";

	va_start(args, format);
	vsnprintf(query, sizeof(query), format, args);
	va_end(args);
	watch->ebql.sink = reader_feed;
	watch->ebql.sink_context = &watch->reader;
	proc_start(&watch->ebql, argv, 0);
	if (!proc_wait_text(&watch->ebql, "attached:", ATTACH_LIMIT_MS))
		fail_msg("ebql did not attach: %s", said(&watch->ebql));
}

void watch_end(struct watch *watch, int status)
{
	int have;

	proc_signal(&watch->ebql, SIGINT);
	have = proc_wait_exit(&watch->ebql, EXIT_LIMIT_MS);
	if (have != status && (status >= 0 || (have != 0 && have != 3)))
		fail_msg("ebql exits with %d instead of %d: %s", have, status, said(&watch->ebql));
	assert_string_equal(watch->reader.error, "");
	assert_int_equal(watch->reader.rest.n, 0);
}

void watch_do(struct watch *watch, const char *line, int status)
{
	watch_tell(watch, line, "done\n");
	watch_end(watch, status);
}

bool work_line(char *ret_line, size_t size)
{
	size_t n = 0;
	char c;

	while (read(0, &c, 1) == 1) {
		if (c == '\n') {
			ret_line[n] = 0;
			return true;
		}
		if (n + 1 < size)
			ret_line[n++] = c;
	}
	return false;
}

void work_answer(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	fflush(stdout);
}
