/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What whoever sits at a terminal is told while he waits, on standard error.  In a pipe, and with
 * -q, nothing is: then each of these does nothing.
 */
#ifndef EBQL_CLI_LIVE_H
#define EBQL_CLI_LIVE_H

#include "query/query.h"

/*
 * A run begins.  Is anybody told?  out_fd: where results go; if it is a pipe, who reads it may have
 * the terminal.
 */
bool live_open(int out_fd);
/* One line of its own, with nothing behind where the run ends by itself. */
void live_say_attached(const struct programs *programs, bool has_end);
/* One line, in the place of the one before. */
void live_say_progress(const char *doing, const char *target, u32 n_done, u32 n_all);
void live_say_totals(struct flow *flow, u64 elapsed_ns);
/* Takes that away, for what comes. */
void live_clear(void);

#endif
