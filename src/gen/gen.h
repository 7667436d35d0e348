/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Physical plan -> IR: one program for each hook.  One operator is one file:
 * reading columns, expressions, texts, patterns, state, cells, streamed rows.
 */
#ifndef EBQL_GEN_GEN_H
#define EBQL_GEN_GEN_H

#include "base/buf.h"
#include "bpf/bpf.h"
#include "phys/phys.h"

/*
 * The program of one hook, for all of its uses.  Tables that it reads (patterns, system call
 * numbers) are appended to constants, the value of LOAD_MAP_CONST, which all programs of the
 * set share.
 */
struct ir *gen_program(const struct phys_set *set, const struct hook *hook, struct arena *arena,
		       struct buf *constants);
/*
 * What is attached to a hook of sets that change: it goes on to their programs, in LOAD_MAP_CHAIN.
 */
struct ir *gen_dispatcher(struct arena *arena);

#endif
