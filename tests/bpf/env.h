/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared by the back end's tests: the world a test program runs in (two maps, a
 * context, helpers), a generator of random IR programs in that world, and two
 * interpreters, of the IR and of BPF instructions, that must agree with each
 * other and with the kernel.
 */
#ifndef EBQL_TESTS_BPF_ENV_H
#define EBQL_TESTS_BPF_ENV_H

#include "bpf/ir.h"

#define ENV_BYTES      4096 /* map 0: one value; the first half is input, then output */
#define ENV_OUT	       2048
#define ENV_ROWS       4 /* map 1: rows of 16 bytes, for look-up and update */
#define ENV_ROW_BYTES  16
#define ENV_CTX_WORDS  12
#define ENV_MIX_HELPER 5000 /* takes 5 numbers; only the interpreters have it */

enum env_map { ENV_MAP_DATA, ENV_MAP_ROWS };

struct env {
	u8 *data; /* [ENV_BYTES] */
	u8 *rows; /* [ENV_ROWS * ENV_ROW_BYTES] */
	u64 ctx[ENV_CTX_WORDS];
	u64 pid_tgid;
	u32 cpu;
};

/* Random choices: from a seed, or from the bytes of a fuzzer and then zeros. */
struct source {
	u64 state;
	const u8 *bytes; /* NULL: from the seed */
	size_t n, at;
};

u64 source_u64(struct source *source);
u32 source_below(struct source *source, u32 limit);

struct random_options {
	u32 n_statements;
	bool has_fake_calls; /* ENV_MIX_*: not for the kernel */
};

/* Fills ir with a program that ends, that ir_check() and the verifier accept. */
void random_ir(struct ir *ir, struct source *source, const struct random_options *options);

/* 0; -ELOOP: too many steps; -EFAULT: an access outside of the program's memory. */
int interpret_ir(const struct ir *ir, struct env *env, s32 *ret_value);
int interpret_bpf(const struct bpf_code *code, struct env *env, s32 *ret_value);

/* What a helper returns; pointers among args are real addresses, maps are env_map_token(). */
u64 env_call(struct env *env, u32 helper, const u64 args[5]);
u64 env_map_token(u32 map);
u8 *env_map_value(struct env *env, u32 map);

#endif
