/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random IR programs on the real verifier and JIT, against the interpreter of
 * the IR: the same result, the same map contents, never a refusal.  The same in
 * user space, with calls of 5 arguments, by the fuzz target on random bytes.  With
 * EBQL_SEED and EBQL_PROGRAMS in the environment: that seed, that many.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fuzz_bpf.h"
#include "kernel.h"

#define DEFAULT_PROGRAMS 10000

enum outcome { SAME, DIFFERENT, REFUSED, TOO_BIG, INVALID };

struct counts {
	u32 n_insns, n_spills, n_too_big, n_spilled;
};

struct inputs {
	u8 data[ENV_BYTES];
	u8 rows[ENV_ROWS * ENV_ROW_BYTES];
	u64 ctx[ENV_CTX_WORDS];
};

static u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void make_inputs(struct inputs *inputs, u64 seed)
{
	struct source source = { .state = ~seed };
	u64 *data = (u64 *)(void *)inputs->data;

	memset(inputs, 0, sizeof(*inputs));
	for (u32 i = 0; i < ENV_OUT / 8; i++)
		data[i] = source_u64(&source) >> source_u64(&source) % 64;
	for (u32 i = 0; i < sizeof(inputs->rows); i++)
		inputs->rows[i] = (u8)source_u64(&source);
	for (u32 i = 0; i < ENV_CTX_WORDS; i++)
		inputs->ctx[i] = source_u64(&source);
}

static void give_inputs(struct env *env, const struct inputs *inputs)
{
	memcpy(env->data, inputs->data, sizeof(inputs->data));
	memcpy(env->rows, inputs->rows, sizeof(inputs->rows));
	memcpy(env->ctx, inputs->ctx, sizeof(inputs->ctx));
}

static enum outcome run_both(struct kernel *kernel, struct arena *arena, struct ir *ir,
			     bool has_signed_division, const struct inputs *inputs,
			     struct bpf_code *ret_code)
{
	struct bpf_features features = { .has_signed_division = has_signed_division };
	static struct inputs want;
	struct env env = kernel->env;
	s32 want_value = 0, value = 0;
	const char *reason;
	int err, fd;

	if (ir_check(ir))
		return INVALID;
	err = bpf_compile(ir, arena, &features, ret_code, &reason);
	if (err == -E2BIG)
		return TOO_BIG;
	assert_int_equal(err, 0);
	env.data = want.data;
	env.rows = want.rows;
	give_inputs(&env, inputs);
	if (interpret_ir(ir, &env, &want_value))
		return INVALID;
	fd = kernel_load(kernel, arena, ret_code, NULL, 0);
	if (fd < 0)
		return REFUSED;
	give_inputs(&kernel->env, inputs);
	err = kernel_run(kernel, fd, &value);
	close(fd);
	assert_int_equal(err, 0);
	if (value == want_value && !memcmp(kernel->env.data, want.data, sizeof(want.data)) &&
	    !memcmp(kernel->env.rows, want.rows, sizeof(want.rows)))
		return SAME;
	return DIFFERENT;
}

/* Leaves out one instruction after the other as long as the results still differ. */
static void shrink(struct kernel *kernel, struct arena *arena, struct ir *ir,
		   bool has_signed_division, const struct inputs *inputs)
{
	bool is_smaller = true;
	struct bpf_code code;

	while (is_smaller) {
		is_smaller = false;
		for (u32 i = ir->insns.n; i-- > 0;) {
			struct ir_insn saved = ir->insns.at[i];

			if (saved.op == IR_OP_NOP || saved.op == IR_OP_LABEL)
				continue;
			ir->insns.at[i].op = IR_OP_NOP;
			ir->insns.at[i].n_args = 0;
			if (run_both(kernel, arena, ir, has_signed_division, inputs, &code) ==
			    DIFFERENT)
				is_smaller = true;
			else
				ir->insns.at[i] = saved;
		}
	}
}

static void report(struct kernel *kernel, struct arena *arena, struct ir *ir,
		   bool has_signed_division, const struct inputs *inputs, enum outcome outcome,
		   u64 seed)
{
	struct bpf_code code;
	struct buf out;
	int fd;

	buf_init(&out);
	if (outcome == DIFFERENT)
		shrink(kernel, arena, ir, has_signed_division, inputs);
	run_both(kernel, arena, ir, has_signed_division, inputs, &code);
	ir_print(ir, &out);
	bpf_disassemble(&code, NULL, &out);
	if (outcome == REFUSED) {
		size_t n;

		fd = kernel_load(kernel, arena, &code, NULL, 1);
		if (fd >= 0)
			close(fd);
		n = strlen(kernel->log);
		buf_puts(&out, kernel->log + (n > 3000 ? n - 3000 : 0));
	}
	/* Not by print_message(), which cuts at 1 KiB. */
	fputs(out.at, stdout);
	print_message("\nseed %llu, has_signed_division %d: %s\n", (unsigned long long)seed,
		      has_signed_division,
		      outcome == REFUSED ? "refused by the verifier" : "wrong result");
	buf_free(&out);
}

static void one_program(struct kernel *kernel, u64 seed, struct counts *counts)
{
	struct source source = { .state = seed };
	struct random_options options = { .n_statements = 5 };
	static struct inputs inputs;
	struct arena arena;
	struct bpf_code code;
	struct ir *ir;

	arena_init(&arena);
	ir = ir_new(&arena);
	options.n_statements += source_below(&source, source_below(&source, 8) ? 40 : 150);
	random_ir(ir, &source, &options);
	make_inputs(&inputs, seed);
	if (ir_check(ir))
		fail_msg("seed %llu: %s", (unsigned long long)seed, ir_check(ir));
	for (u32 signed_division = 0; signed_division <= kernel->has_signed_division;
	     signed_division++) {
		enum outcome outcome =
			run_both(kernel, &arena, ir, signed_division, &inputs, &code);

		if (outcome == TOO_BIG) {
			counts->n_too_big++;
			continue;
		}
		if (outcome != SAME) {
			report(kernel, &arena, ir, signed_division, &inputs, outcome, seed);
			fail_msg("EBQL_SEED=%llu EBQL_PROGRAMS=1", (unsigned long long)seed);
		}
		counts->n_insns += code.n_insns;
		counts->n_spills += code.n_spills;
		counts->n_spilled += code.n_spills > 0;
	}
	arena_free(&arena);
}

static void test_random_programs(void **state)
{
	u64 seed = env_number("EBQL_SEED", base_monotonic_ns());
	u32 n = (u32)env_number("EBQL_PROGRAMS", DEFAULT_PROGRAMS);
	struct counts counts = { 0 };
	u64 start_ns = base_monotonic_ns();
	struct kernel kernel;
	const char *reason = kernel_open(&kernel);

	if (reason) {
		print_message("SKIP: %s\n", reason);
		skip();
	}
	print_message("EBQL_SEED=%llu, %u programs\n", (unsigned long long)seed, n);
	for (u32 i = 0; i < n; i++)
		one_program(&kernel, seed + i, &counts);
	print_message("%u instructions, %u spilled ranges in %u codes, %u too big, %.1f s\n",
		      counts.n_insns, counts.n_spills, counts.n_spilled, counts.n_too_big,
		      (double)(base_monotonic_ns() - start_ns) / 1e9);
	/* A run that tests no spills, or almost nothing, proves little. */
	if (n >= 100) {
		assert_true(counts.n_spilled > n / 10);
		assert_true(counts.n_too_big < n / 10);
	}
	kernel_close(&kernel);
}

/* Ends the process by BUG() when the two interpreters differ. */
static void test_random_bytes(void **state)
{
	u64 seed = env_number("EBQL_SEED", base_monotonic_ns());
	u32 n = (u32)env_number("EBQL_PROGRAMS", DEFAULT_PROGRAMS);
	static u8 bytes[2048];

	print_message("EBQL_SEED=%llu, %u programs\n", (unsigned long long)seed, n);
	for (u32 i = 0; i < n; i++) {
		struct source source = { .state = seed + i };
		size_t n_bytes = source_below(&source, source_below(&source, 8) ? 400 : 2048);

		for (size_t k = 0; k < n_bytes; k++)
			bytes[k] = (u8)source_u64(&source);
		assert_int_equal(LLVMFuzzerTestOneInput(bytes, n_bytes), 0);
	}
}

/* Is the instruction one that reads or writes the stack? */
static bool is_stack_access(const struct bpf_insn *insn)
{
	u8 class = BPF_CLASS(insn->code);

	return (class == BPF_LDX && insn->src_reg == BPF_REG_10) ||
	       ((class == BPF_ST || class == BPF_STX) && insn->dst_reg == BPF_REG_10);
}

/* Six values live across a way that needs ten more; the stack accesses outside that way. */
static u32 accesses_outside(bool is_cold)
{
	struct bpf_features features = { 0 };
	struct bpf_code code;
	const char *reason;
	struct arena arena;
	vreg kept[6], used[10];
	u32 n = 0;

	arena_init(&arena);
	struct ir *ir = ir_new(&arena);
	label skip = ir_label(ir);

	for (u32 i = 0; i < ARRAY_SIZE(kept); i++)
		ir_load(ir, kept[i] = ir_reg(ir), ir_context(ir), 8 * (s32)i, IR_U64);
	ir_branchi(ir, IR_EQ, kept[0], 0, skip);
	ir_cold(ir, is_cold);
	ir_at(ir, (struct span){ 1, 2 });
	for (u32 i = 0; i < ARRAY_SIZE(used); i++)
		ir_load(ir, used[i] = ir_reg(ir), ir_context(ir), 8 * (s32)(i + 6), IR_U64);
	for (u32 i = 0; i < ARRAY_SIZE(used); i++)
		ir_alu(ir, IR_MUL, used[9 - i], used[9 - i], used[i]);
	for (u32 i = 0; i < ARRAY_SIZE(used); i++)
		ir_store(ir, ir_context(ir), 8 * (s32)i, IR_U64, used[i]);
	ir_at(ir, (struct span){ 0, 0 });
	ir_cold(ir, false);
	ir_place(ir, skip);
	for (u32 i = 0; i < ARRAY_SIZE(kept); i++)
		ir_store(ir, ir_context(ir), 8 * (s32)i, IR_U64, kept[i]);
	ir_exit(ir, 0);
	assert_int_equal(bpf_compile(ir, &arena, &features, &code, &reason), 0);
	for (u32 i = 0; i < code.n_insns; i++)
		n += !code.spans[i].end && is_stack_access(&code.insns[i]);
	arena_free(&arena);
	return n;
}

static void cold_values_spill_first(void **state)
{
	assert_int_equal(accesses_outside(true), 0);
	assert_true(accesses_outside(false) > 0);
}

/* ~300 instructions; the time is printed, the bound is loose: machines differ. */
static void compile_time(void **state)
{
	struct bpf_features features = { .has_signed_division = true };
	u64 best_ns = UINT64_MAX;
	struct bpf_code code = { 0 };

	for (u32 round = 0; round < 300; round++) {
		struct source source = { .state = 1 };
		struct random_options options = { .n_statements = 150 };
		const char *reason;
		struct arena arena;
		struct ir *ir;
		u64 start_ns;

		arena_init(&arena);
		ir = ir_new(&arena);
		random_ir(ir, &source, &options);
		start_ns = base_monotonic_ns();
		assert_int_equal(bpf_compile(ir, &arena, &features, &code, &reason), 0);
		best_ns = MIN(best_ns, base_monotonic_ns() - start_ns);
		arena_free(&arena);
	}
	print_message("%u insns, %u spills: %.1f us\n", code.n_insns, code.n_spills, best_ns / 1e3);
	assert_true(best_ns < 5 * 1000 * 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_programs),
					    cmocka_unit_test(test_random_bytes),
					    cmocka_unit_test(cold_values_spill_first),
					    cmocka_unit_test(compile_time) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
