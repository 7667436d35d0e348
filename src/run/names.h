/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of the kernel -> their names, as SQL functions of the user part:
 * syscall_name(nr), task_state(prev_state), softirq_name(vec), tcp_state(state), and
 * device_name(dev), "8:16".  NULL gives NULL, an unknown number its decimal text.
 */
#ifndef EBQL_RUN_NAMES_H
#define EBQL_RUN_NAMES_H

struct sqlite3;

/* SQLITE_OK or SQLite's error. */
int names_register(struct sqlite3 *db);

#endif
