/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The subcommand watch.
 */
#ifndef EBQL_WATCH_WATCH_H
#define EBQL_WATCH_WATCH_H

#include "host/host.h"

/*
 * The queries of files and directories, until it is told to end.  The process' exit status: 0 done,
 * 1 failed, 3 losses may bias what a query gave.
 */
int cmd_watch(struct options *options);

#endif
