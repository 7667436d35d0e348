/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Calls by numbers of x86-64's 32-bit table, from programs of 64 bits and of 32. */
#ifndef EBQL_TESTS_PROGRAM32_H
#define EBQL_TESTS_PROGRAM32_H

#include <sys/syscall.h>

#include "base/base.h"

/* Its number is getsid()'s in the other table. */
#define PROGRAM32_CALL SYS_sched_get_priority_min

/* Does the kernel serve int $0x80? It does not with ia32_emulation=off. */
bool program32_runs(void);
/* So often by int $0x80; -1: another call was made. */
int program32_call(u32 n_calls);
/* This process becomes a 32-bit program that calls so often and exits with 0; returns where it
 * cannot. */
void program32_exec(u32 n_calls);

#endif
