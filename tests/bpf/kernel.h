/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The test world in the kernel: maps as mmapable arrays, programs as raw
 * tracepoints that only BPF_PROG_TEST_RUN starts.
 */
#ifndef EBQL_TESTS_BPF_KERNEL_H
#define EBQL_TESTS_BPF_KERNEL_H

#include "env.h"

struct kernel {
	int maps[2];
	struct env env; /* data and rows are the maps' memory */
	char *log;
	bool has_signed_division; /* 6.6: division, moves and loads with sign extension */
};

#define KERNEL_LOG_BYTES (16u << 20)

/* NULL, or why this process may not load programs (the test is to be skipped). */
const char *kernel_open(struct kernel *kernel);
void kernel_close(struct kernel *kernel);
/* A program's fd or -errno; kernel->log says why when log_level is not 0. */
int kernel_load(struct kernel *kernel, struct arena *arena, const struct bpf_code *code,
		const struct bpf_debug_info *info, u32 log_level);
int kernel_run(struct kernel *kernel, int fd, s32 *ret_value);

#endif
