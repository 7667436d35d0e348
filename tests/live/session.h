/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One session of a live test: a load generator and an ebql that watches it, and the
 * two accounts of what happened.
 */
#ifndef EBQL_TESTS_SESSION_H
#define EBQL_TESTS_SESSION_H

#include "fold.h"
#include "proc.h"

enum { SESSION_MAX_ARGS = 24 };

struct session {
	struct proc load, ebql;
	int load_pid;
	struct fold rows;  /* what ebql printed */
	struct fold truth; /* what the load generator did */
};

/* A cmocka setup: skips what cannot run here (not root, no ebql).  Teardown: ends all. */
int session_setup(void **state);
int session_teardown(void **state);

/* Starts the load generator; arguments end with NULL.  It waits for session_load_run(). */
void session_load(struct session *session, ...) __attribute__((sentinel));
/*
 * Starts ebql -o json --verbose with these arguments (ending with NULL) and waits until
 * it is attached.  "%d" in an argument becomes the load generator's pid.
 */
void session_ebql(struct session *session, ...) __attribute__((sentinel));
/* As session_ebql(), but only "-o json" of it; does not wait. */
void session_ebql_plain(struct session *session, u32 flags, ...) __attribute__((sentinel));
/* Lets the load generator run; waits for its end and reads its truth; both. */
void session_load_go(struct session *session);
void session_load_wait(struct session *session);
void session_load_run(struct session *session);
/* Signals ebql, waits for its end, requires this exit status. */
void session_end(struct session *session, int signal, int status);
/* Requires equality of both accounts and that nothing was lost. */
void session_expect_exact(struct session *session);

bool session_is_long(void);
/* Skips the running test when not root or when there is no ebql. */
void session_require(void);

#endif
