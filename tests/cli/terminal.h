/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql on a pseudo terminal: keys in, the screen's bytes out.  Each wait is for a text that must
 * come, never for a time.
 */
#ifndef TESTS_CLI_TERMINAL_H
#define TESTS_CLI_TERMINAL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "root.h"

#define WAIT_MS	 20000
#define SWITCHES "tracepoint:sched:sched_switch"

struct terminal {
	char state[64]; /* $XDG_STATE_HOME */
	int fd, pid;
	struct buf seen;
	size_t at; /* what comes before it has been waited for */
};

/* Words: the program and what it is given. */
void start_words(struct terminal *t, u16 columns, char *const words[]);
void start(struct terminal *t, const char *option);
int setup_idle(void **state); /* nothing is started */
int setup(void **state);      /* the shell is */
int teardown(void **state);
bool read_more(struct terminal *t);
void expect(struct terminal *t, const char *text);
void type(struct terminal *t, const char *keys);
void key(struct terminal *t, char c);
void line(struct terminal *t, const char *text);
void expect_line(struct terminal *t, const char *keys, const char *text);
int ended(struct terminal *t);
bool has_seen(struct terminal *t, size_t from, const char *text);

#endif
