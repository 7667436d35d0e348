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
	int pid;	    /* the workload's */
	bool is_of_process; /* ebql gets -p with that */
	bool is_measured;   /* and --stats: what the whole run lost, among its messages */
	bool is_started;
};

/* Skips the running test when not root or when there is no ebql. */
void watch_require(void);
void watch_open(struct watch *watch, void (*row)(void *context, const struct line *line),
		void *context);
/* Ends every process and frees all; fit for a teardown, also when nothing was opened. */
void watch_close(struct watch *watch);

/*
 * A test whose state is a struct of this type, zeroed, which begins with a struct watch: behind the
 * test that is closed, and the state freed.
 */
#define WATCH_TEST(test, type)                                                                     \
	{                                                                                          \
#test, test, watch_setup, watch_teardown, (void *)sizeof(type)                     \
	}
int watch_setup(void **state);
int watch_teardown(void **state);
/* Was the test (or the one whose workload this is) started with --quick?  A pattern of tests may
 * follow.
 */
bool watch_is_quick(int argc, char **argv);
/* The file of this program. */
enum { WATCH_PATH_BYTES = 512 };
void watch_own_path(char path[WATCH_PATH_BYTES]);

/* Starts path with these arguments (NULL ends them) and waits for its "pid PID". */
void watch_start(struct watch *watch, const char *path, const char *const *args);
/* Starts this program with --work and a mode. */
void watch_work(struct watch *watch, const char *mode);
/* All of the above: the test is run or skipped, and the workload is there. */
void watch_begin(struct watch *watch, void (*row)(void *context, const struct line *line),
		 void *context);
/* Sends one line and waits for this answer. */
void watch_tell(struct watch *watch, const char *line, const char *answer);

/* Starts ebql with this query and waits until it is attached. */
void watch_ebql(struct watch *watch, const char *format, ...) PRINTF(2, 3);
/* SIGINT, its end, and one of the two statuses: 0 or 3 (losses), or either (-1). */
void watch_end(struct watch *watch, int status);
/* The workload does what the line says, says "done", and ebql ends. */
void watch_do(struct watch *watch, const char *line, int status);

/* In a workload: the next line of the input, without its end; false when there is none. */
bool work_line(char *ret_line, size_t size);
void work_answer(const char *format, ...) PRINTF(1, 2);

#endif
