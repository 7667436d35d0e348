/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes the snapshots that catalog_open_snapshot() reads.
 */
#ifndef EBQL_TESTS_CAT_SNAPSHOT_H
#define EBQL_TESTS_CAT_SNAPSHOT_H

#include "cat/internal.h"

/*
 * Freezes the streams that match the patterns ("tracepoint:sched:*"), every answer of
 * BTF given so far, and what these name: "struct:task_struct.tgid", "struct:pt_regs"
 * (all its members), "typedef:btf_trace_sys_enter", "func:bpf_rdonly_cast".
 * Returns 0, or -ENOENT when a pattern names nothing (all others are written).
 */
int snapshot_write(struct catalog *catalog, const char *const *patterns, u32 n_patterns,
		   struct buf *out);

#endif
