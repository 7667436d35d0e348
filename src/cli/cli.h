/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The subcommands of the program.  Results go to stdout, complaints to stderr.  Each returns
 * the process' exit status: 0 done, 1 failed, 2 wrong usage or query, 3 a run whose losses may
 * bias it.
 */
#ifndef EBQL_CLI_CLI_H
#define EBQL_CLI_CLI_H

#include "cli/options.h"

/* The text of the options, what else it needs in them too.  keep: see query.h; may be NULL. */
int run_text(const struct options *options, struct keep *keep);
/* How many queries the text has; the exit status, not 0 after it was told what is wrong with it. */
int run_count(const struct options *options, u32 *ret_n);
/* snapshot: what queries rely on, as a text; check: such a text against another, or this kernel. */
int cmd_snapshot(struct options *options);
int cmd_check(struct options *options);
/* tools: the queries that ship with ebql. */
int cmd_tools(struct options *options);
/* survey: how often streams fire, and what reading them costs. */
int cmd_survey(struct options *options);
/* calibrate: what each mechanism costs on this machine. */
int cmd_calibrate(struct options *options);
/* overhead: a command with and without a query. */
int cmd_overhead(struct options *options);
/* doctor: what this kernel and these privileges allow, and how to mend the rest. */
int cmd_doctor(struct options *options);

#endif
