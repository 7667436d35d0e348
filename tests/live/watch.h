/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A workload that this very test program is when started with --work, an ebql that
 * watches it, and what ebql says, line by line.  A workload prints "pid PID", then does
 * what each line of its input says and answers with a line.
 */
#ifndef EBQL_TESTS_WATCH_H
#define EBQL_TESTS_WATCH_H

#include "proc.h"
#include "reader.h"

struct watch {
	struct proc work, ebql;
	struct reader reader;
	int pid; /* the workload's */
	bool is_started;
};

/* Skips the running test when not root or when there is no ebql. */
void watch_require(void);
void watch_open(struct watch *watch, void (*row)(void *context, const struct line *line),
		void *context);
/* Ends every process and frees all; fit for a teardown, also when nothing was opened. */
void watch_close(struct watch *watch);

/* Starts path with these arguments (NULL ends them) and waits for its "pid PID". */
void watch_start(struct watch *watch, const char *path, const char *const *args);
/* Starts this program with --work and a mode. */
void watch_work(struct watch *watch, const char *mode);
/* Sends one line and waits for this answer. */
void watch_tell(struct watch *watch, const char *line, const char *answer);

/* Starts ebql with this query and waits until it is attached. */
void watch_ebql(struct watch *watch, const char *format, ...) PRINTF(2, 3);
/* SIGINT, its end, and one of the two statuses: 0 or 3 (losses), or either (-1). */
void watch_end(struct watch *watch, int status);

/* In a workload: the next line of the input, without its end; false when there is none. */
bool work_line(char *ret_line, size_t size);
void work_answer(const char *format, ...) PRINTF(1, 2);

#endif
