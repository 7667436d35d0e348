/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fuzz target: bytes -> an IR program -> check, compile with and without the
 * instructions of kernel 6.6, disassemble; both codes must do in the interpreter
 * of BPF what the IR does in its own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fuzz_bpf.h"

struct world {
	u8 data[ENV_BYTES];
	u8 rows[ENV_ROWS * ENV_ROW_BYTES];
	struct env env;
	s32 value;
};

static void world_init(struct world *world, u64 seed)
{
	struct source source = { .state = seed };
	u64 *data = (u64 *)(void *)world->data;

	for (u32 i = 0; i < ENV_BYTES / 8; i++)
		data[i] = i < ENV_OUT / 8 ? source_u64(&source) >> source_u64(&source) % 64 : 0;
	for (u32 i = 0; i < sizeof(world->rows); i++)
		world->rows[i] = (u8)source_u64(&source);
	world->env = (struct env){
		.data = world->data, .rows = world->rows, .pid_tgid = 0x123400005678, .cpu = 1
	};
	for (u32 i = 0; i < ENV_CTX_WORDS; i++)
		world->env.ctx[i] = source_u64(&source);
}

static void fail(const struct ir *ir, const struct bpf_code *code, const char *what)
{
	struct buf out;

	buf_init(&out);
	ir_print(ir, &out);
	if (code)
		bpf_disassemble(code, NULL, &out);
	fprintf(stderr, "%s\n%s\n", out.at, what);
	buf_free(&out);
	BUG("%s", what);
}

static void compare(struct ir *ir, struct arena *arena, bool has_signed_division, u64 seed,
		    const struct world *want)
{
	struct bpf_features features = { .has_signed_division = has_signed_division };
	static struct world got;
	struct bpf_debug_info info;
	struct bpf_code code;
	const char *reason;
	struct buf out;
	int err = bpf_compile(ir, arena, &features, &code, &reason);

	if (err == -E2BIG)
		return;
	if (err)
		fail(ir, NULL, reason);
	buf_init(&out);
	bpf_disassemble(&code, "SELECT count(*) FROM syscalls:sys_enter_read", &out);
	bpf_debug_info_build(&code, "fuzz", "SELECT count(*)\nFROM syscalls:sys_enter_read", arena,
			     &info);
	buf_free(&out);
	world_init(&got, seed);
	err = interpret_bpf(&code, &got.env, &got.value);
	if (err)
		fail(ir, &code, "the instructions do not run");
	if (got.value != want->value || memcmp(got.data, want->data, sizeof(got.data)) ||
	    memcmp(got.rows, want->rows, sizeof(got.rows)))
		fail(ir, &code, "the instructions do something else than the IR");
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t n)
{
	struct source source = { .bytes = bytes, .n = n };
	struct random_options options = { .has_fake_calls = true };
	static struct world want;
	struct arena arena;
	struct ir *ir;
	u64 seed;

	arena_init(&arena);
	ir = ir_new(&arena);
	seed = source_below(&source, 256);
	options.n_statements = (u32)MIN(n / 2, (size_t)400);
	random_ir(ir, &source, &options);
	world_init(&want, seed);
	if (ir_check(ir))
		fail(ir, NULL, ir_check(ir));
	if (interpret_ir(ir, &want.env, &want.value))
		fail(ir, NULL, "the IR does not run");
	compare(ir, &arena, true, seed, &want);
	compare(ir, &arena, false, seed, &want);
	arena_free(&arena);
	return 0;
}
