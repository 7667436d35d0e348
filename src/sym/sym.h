/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Addresses -> names: of the kernel by its list of symbols, of a process by what it has mapped:
 * symbol tables of ELF files, and the map that a program with a compiler of its own writes for
 * perf.  A process is looked at when a stack of its is met first, and again where it runs another
 * program by now or has code elsewhere; what it was is remembered when it has ended.
 */
#ifndef EBQL_SYM_SYM_H
#define EBQL_SYM_SYM_H

#include "type/type.h"

struct namer;

/* With the rights to see the kernel's addresses, if there are, and before they are given up. */
struct namer *namer_open(void);
void namer_close(struct namer *namer);
/*
 * Gives it its names, which are one piece of memory, for free().  What has none: "[FILE+0x1f]"
 * where the file is known, else it stays an address.
 */
void namer_name(struct namer *namer, struct stack *stack);

/* Of one address; on any thread.  false: it has no name, or the process ended before a look at it.
 */
bool sym_user_name(u32 pid, u64 address, char *room, u32 n_bytes);
/* Now and then while it runs: what it runs now, and has mapped, is known when it has ended. */
void sym_user_look(u32 pid);

#endif
