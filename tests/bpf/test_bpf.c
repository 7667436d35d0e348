/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Unit tests of the back end: each refusal of the checker, what the lowering and
 * the allocator make of small programs, limits, and the moves before a call.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "env.h"

struct fixture {
	struct arena arena;
	struct ir *ir;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	arena_init(&f->arena);
	f->ir = ir_new(&f->arena);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(&f->arena);
	free(f);
	return 0;
}

/* The program as text, without instruction numbers and codes, "; " between instructions. */
static char *compiled(struct fixture *f, bool has_signed_division)
{
	struct bpf_features features = { .has_signed_division = has_signed_division };
	struct bpf_code code;
	const char *reason;
	struct buf out, text;
	char *line, *saved, *copy;

	if (bpf_compile(f->ir, &f->arena, &features, &code, &reason))
		fail_msg("%s", reason);
	buf_init(&out);
	buf_init(&text);
	bpf_disassemble(&code, NULL, &out);
	for (line = strtok_r(out.at, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		buf_printf(&text, "%s%s", text.n ? "; " : "", strchr(line, ')') + 2);
	copy = arena_strdup(&f->arena, text.at);
	buf_free(&out);
	buf_free(&text);
	return copy;
}

#define assert_code(f, want) assert_string_equal(compiled(f, true), want)

/* Refusals -------------------------------------------------------------- */

static void assert_refused_as(struct fixture *f, const char *part, int err)
{
	struct bpf_features features = { 0 };
	struct bpf_code code;
	const char *reason, *error = ir_check(f->ir);

	assert_non_null(error);
	if (!strstr(error, part))
		fail_msg("\"%s\" does not say \"%s\"", error, part);
	assert_int_equal(bpf_compile(f->ir, &f->arena, &features, &code, &reason), err);
	assert_string_equal(reason, error);
}

static void assert_refused(struct fixture *f, const char *part)
{
	assert_refused_as(f, part, -EINVAL);
}

static void refuse_undefined(void **state)
{
	struct fixture *f = *state;
	vreg v = ir_reg(f->ir);

	ir_mov(f->ir, ir_reg(f->ir), v);
	ir_exit(f->ir, 0);
	assert_refused(f, "v1 is used before it is defined");
}

static void refuse_undefined_on_one_way(void **state)
{
	struct fixture *f = *state;
	vreg v = ir_reg(f->ir);
	label l = ir_label(f->ir);

	ir_branchi(f->ir, IR_EQ, ir_context(f->ir), 0, l);
	ir_imm(f->ir, v, 1);
	ir_place(f->ir, l);
	ir_neg(f->ir, v, v);
	ir_exit(f->ir, 0);
	assert_refused(f, "is used before it is defined");
}

static void refuse_undefined_argument(void **state)
{
	struct fixture *f = *state;
	vreg v = ir_reg(f->ir);

	ir_call(f->ir, 0, BPF_FUNC_ktime_get_ns, 1, &v);
	ir_exit(f->ir, 0);
	assert_refused(f, "is used before it is defined");
}

static void refuse_defined_later_in_loop(void **state)
{
	struct fixture *f = *state;
	vreg i = ir_reg(f->ir), v = ir_reg(f->ir);
	label top = ir_label(f->ir);

	ir_imm(f->ir, i, 0);
	ir_place(f->ir, top);
	ir_alui(f->ir, IR_ADD, i, v, 1);
	ir_imm(f->ir, v, 1);
	ir_branchi(f->ir, IR_LT, i, 4, top);
	ir_exit(f->ir, 0);
	assert_refused(f, "v2 is used before it is defined");
}

static void refuse_unplaced_label(void **state)
{
	struct fixture *f = *state;

	ir_jump(f->ir, ir_label(f->ir));
	assert_refused(f, "L1 is never placed");
}

static void refuse_label_placed_twice(void **state)
{
	struct fixture *f = *state;
	label l = ir_label(f->ir);

	ir_place(f->ir, l);
	ir_place(f->ir, l);
	ir_exit(f->ir, 0);
	assert_refused(f, "placed twice");
}

static void refuse_loop_entered_from_below(void **state)
{
	struct fixture *f = *state;
	label top = ir_label(f->ir), below = ir_label(f->ir);

	ir_jump(f->ir, below);
	ir_place(f->ir, top);
	ir_exit(f->ir, 0);
	ir_place(f->ir, below);
	ir_jump(f->ir, top);
	assert_refused(f, "no way from above");
}

static void refuse_no_exit(void **state)
{
	struct fixture *f = *state;

	ir_imm(f->ir, ir_reg(f->ir), 1);
	assert_refused(f, "does not end with an exit");
}

static void refuse_unknown_names(void **state)
{
	struct fixture *f = *state;

	ir_imm(f->ir, 77, 1);
	assert_refused(f, "v77 does not exist");
	f->ir = ir_new(&f->arena);
	ir_imm(f->ir, 0, 1);
	assert_refused(f, "v0 does not exist");
	f->ir = ir_new(&f->arena);
	ir_jump(f->ir, 9);
	assert_refused(f, "L9 does not exist");
	f->ir = ir_new(&f->arena);
	ir_stack_load(f->ir, ir_reg(f->ir), 3, 0, IR_U8);
	assert_refused(f, "stack object 3 does not exist");
}

static void refuse_bad_codes(void **state)
{
	struct fixture *f = *state;
	vreg v = ir_context(f->ir);

	ir_load(f->ir, v, v, 0, (enum ir_size)9);
	assert_refused(f, "size 9");
	f->ir = ir_new(&f->arena);
	v = ir_context(f->ir);
	ir_alu(f->ir, IR_ALU_N, v, v, v);
	assert_refused(f, "operation");
	f->ir = ir_new(&f->arena);
	v = ir_context(f->ir);
	ir_branch(f->ir, IR_CONDITION_N, v, v, ir_label(f->ir));
	assert_refused(f, "condition");
	f->ir = ir_new(&f->arena);
	v = ir_context(f->ir);
	ir_atomic(f->ir, (enum ir_atomic)8, 0, v, 0, v);
	assert_refused(f, "atomic operation 8");
	f->ir = ir_new(&f->arena);
	v = ir_context(f->ir);
	ir_atomic(f->ir, IR_ATOMIC_ADD, v, v, 0, v);
	assert_refused(f, "has no result");
}

static void refuse_six_arguments(void **state)
{
	struct fixture *f = *state;
	vreg v = ir_context(f->ir), args[6] = { v, v, v, v, v, v };

	ir_call(f->ir, 0, BPF_FUNC_ktime_get_ns, 6, args);
	assert_refused(f, "6 arguments");
}

static void refuse_stack_accesses(void **state)
{
	struct fixture *f = *state;
	stack_object o = ir_stack(f->ir, 12);

	ir_stack_storei(f->ir, o, 8, IR_U64, 0);
	assert_refused(f, "outside of stack object");
	f->ir = ir_new(&f->arena);
	o = ir_stack(f->ir, 12);
	ir_stack_storei(f->ir, o, 2, IR_U32, 0);
	assert_refused(f, "not aligned");
	f->ir = ir_new(&f->arena);
	o = ir_stack(f->ir, 12);
	ir_stack_address(f->ir, ir_reg(f->ir), o, UINT32_MAX);
	assert_refused(f, "outside of stack object");
	f->ir = ir_new(&f->arena);
	ir_stack(f->ir, 0);
	assert_refused(f, "a stack object of 0 bytes");
	f->ir = ir_new(&f->arena);
	ir_stack(f->ir, 520);
	assert_refused_as(f, "a stack object of 520 bytes", -E2BIG);
	f->ir = ir_new(&f->arena);
	ir_imm(f->ir, 99, 0);
	ir_stack(f->ir, 520);
	assert_refused(f, "v99 does not exist");
	f->ir = ir_new(&f->arena);
	ir_map_value(f->ir, ir_reg(f->ir), 0, UINT32_MAX);
	assert_refused(f, "too large");
}

static void first_error_stays(void **state)
{
	struct fixture *f = *state;

	ir_jump(f->ir, 5);
	ir_imm(f->ir, 9, 0);
	assert_refused(f, "instruction 0: label L5 does not exist");
}

static void accept_dead_code(void **state)
{
	struct fixture *f = *state;

	ir_exit(f->ir, 3);
	ir_neg(f->ir, ir_reg(f->ir), ir_reg(f->ir));
	assert_code(f, "r0 = 3; exit");
}

/* Lowering and allocation -------------------------------------------------- */

/* Keeps v from being dropped as unused. */
static void keep(struct ir *ir, vreg v)
{
	vreg p = ir_reg(ir);

	ir_map_value(ir, p, 0, 0);
	ir_store(ir, p, 0, IR_U64, v);
	ir_exit(ir, 0);
}

#define KEPT(reg, other)                                                                           \
	"r" #other " = map[0][0]+0; *(u64 *)(r" #other " +0) = r" #reg "; r0 = 0; exit"

static void context_argument(void **state)
{
	struct fixture *f = *state;
	vreg v = ir_reg(f->ir);

	ir_load(f->ir, v, ir_context(f->ir), 8, IR_U64);
	keep(f->ir, v);
	assert_code(f, "r1 = *(u64 *)(r1 +8); " KEPT(1, 0));
}

static void arguments_in_place(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg args[2] = { ir_reg(ir), ir_reg(ir) }, row = ir_reg(ir), one = ir_reg(ir);
	stack_object key = ir_stack(ir, 4);
	label end = ir_label(ir);

	ir_stack_storei(ir, key, 0, IR_U32, 7);
	ir_map(ir, args[0], 1);
	ir_stack_address(ir, args[1], key, 0);
	ir_call(ir, row, BPF_FUNC_map_lookup_elem, 2, args);
	ir_branchi(ir, IR_EQ, row, 0, end);
	ir_imm(ir, one, 1);
	ir_atomic(ir, IR_ATOMIC_ADD, 0, row, 0, one);
	ir_place(ir, end);
	ir_exit(ir, 0);
	assert_code(f, "*(u32 *)(r10 -8) = 7; r1 = map[1]; r2 = r10; r2 += -8; "
		       "call bpf_map_lookup_elem#1; if r0 == 0x0 goto pc+2; r5 = 1; "
		       "lock *(u64 *)(r0 +0) += r5; r0 = 0; exit");
}

static void value_across_call(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg a = ir_reg(ir), t = ir_reg(ir);

	ir_load(ir, a, ir_context(ir), 0, IR_U64);
	ir_call(ir, t, BPF_FUNC_ktime_get_ns, 0, NULL);
	ir_alu(ir, IR_SUB, t, t, a);
	keep(ir, t);
	assert_code(f, "r6 = *(u64 *)(r1 +0); call bpf_ktime_get_ns#5; r0 -= r6; " KEPT(0, 5));
}

static void constants_go_into_instructions(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg a = ir_reg(ir), c = ir_reg(ir), d = ir_reg(ir), copy = ir_reg(ir);

	ir_imm(ir, c, 8);
	ir_load(ir, a, ir_context(ir), 0, IR_U64);
	ir_mov(ir, copy, a);
	ir_alu(ir, IR_MUL, d, copy, c);
	ir_alui(ir, IR_MOD, d, d, 1024);
	ir_alui(ir, IR_DIV, d, d, 4);
	ir_alui(ir, IR_ADD, d, d, 0);
	keep(ir, d);
	assert_code(f, "r1 = *(u64 *)(r1 +0); r1 <<= 3; r1 &= 1023; r1 >>= 2; " KEPT(1, 0));
}

static void unused_results_go(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg a = ir_reg(ir), b = ir_reg(ir), p = ir_reg(ir), one = ir_reg(ir);
	label next = ir_label(ir);

	ir_load(ir, a, ir_context(ir), 0, IR_U64);
	ir_alui(ir, IR_ADD, b, a, 5);
	ir_branchi(ir, IR_EQ, b, 7, next);
	ir_place(ir, next);
	ir_map_value(ir, p, 2, 16);
	ir_imm(ir, one, 1);
	ir_atomic(ir, IR_ATOMIC_FETCH_ADD, ir_reg(ir), p, 8, one);
	ir_exit(ir, -1);
	assert_code(f, "r0 = map[2][0]+16; r5 = 1; lock *(u64 *)(r0 +8) += r5; r0 = -1; exit");
}

static void branch_over_jump(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg a = ir_reg(ir);
	label then = ir_label(ir), other = ir_label(ir), far = ir_label(ir);

	ir_load(ir, a, ir_context(ir), 0, IR_U64);
	ir_branchi(ir, IR_SLT, a, -5, then);
	ir_jump(ir, other);
	ir_place(ir, then);
	ir_exit(ir, 1);
	ir_place(ir, other);
	ir_jump(ir, far);
	ir_place(ir, far);
	ir_exit(ir, 2);
	assert_code(f, "r1 = *(u64 *)(r1 +0); if r1 s>= 0xfffffffb goto pc+2; r0 = 1; exit; "
		       "r0 = 2; exit");
}

static void wide_constants(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg a = ir_reg(ir), b = ir_reg(ir), c = ir_reg(ir), p = ir_reg(ir);

	ir_map_value(ir, p, 0, 0);
	ir_imm(ir, a, 0x123456789abcdef0);
	ir_store(ir, p, 0, IR_U64, a);
	ir_imm(ir, b, 0x80000000);
	ir_store(ir, p, 8, IR_U64, b);
	ir_imm(ir, c, -2);
	ir_store(ir, p, 16, IR_U64, c);
	ir_store(ir, p, 24, IR_U32, b);
	ir_exit(ir, 0);
	assert_code(f, "r0 = map[0][0]+0; r5 = 0x123456789abcdef0; *(u64 *)(r0 +0) = r5; "
		       "w5 = -2147483648; *(u64 *)(r0 +8) = r5; *(u64 *)(r0 +16) = -2; "
		       "*(u32 *)(r0 +24) = -2147483648; r0 = 0; exit");
}

static void sign_extension(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg a = ir_reg(ir), b = ir_reg(ir);

	ir_load(ir, a, ir_context(ir), 0, IR_S16);
	ir_extend(ir, b, a, IR_S8);
	keep(ir, b);
	assert_code(f, "r1 = *(s16 *)(r1 +0); r1 = (s8)r1; " KEPT(1, 0));
	assert_string_equal(
		compiled(f, false),
		"r1 = *(u16 *)(r1 +0); r1 <<= 48; r1 s>>= 48; r1 <<= 56; r1 s>>= 56; " KEPT(1, 0));
}

static void signed_division(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg a = ir_reg(ir), d = ir_reg(ir);

	ir_load(ir, a, ir_context(ir), 0, IR_U64);
	ir_alui(ir, IR_SDIV, d, a, -10);
	keep(ir, d);
	assert_code(f, "r1 = *(u64 *)(r1 +0); r1 s/= -10; " KEPT(1, 0));
	/* |a| / 10, then the opposite of a's sign. */
	assert_string_equal(
		compiled(f, false),
		"r1 = *(u64 *)(r1 +0); r0 = r1; r0 s>>= 63; r1 ^= r0; r1 -= r0; r1 /= 10; "
		"r0 ^= -1; r1 ^= r0; r1 -= r0; " KEPT(1, 0));
}

static void far_offset(void **state)
{
	struct fixture *f = *state;
	vreg p = ir_reg(f->ir), v = ir_reg(f->ir);

	ir_map_value(f->ir, p, 0, 0);
	ir_load(f->ir, v, p, 40000, IR_U64);
	ir_store(f->ir, p, -40000, IR_U8, v);
	ir_exit(f->ir, 0);
	assert_code(f, "r0 = map[0][0]+0; r5 = r0; r5 += 40000; r5 = *(u64 *)(r5 +0); "
		       "r0 += -40000; *(u8 *)(r0 +0) = r5; r0 = 0; exit");
}

static void jump_limit(void **state)
{
	struct fixture *f = *state;
	struct bpf_features features = { 0 };

	/* n stores of one instruction are jumped over. */
	for (u32 n = INT16_MAX; n <= INT16_MAX + 1; n++) {
		struct ir *ir = f->ir = ir_new(&f->arena);
		vreg base = ir_reg(ir);
		label end = ir_label(ir);
		struct bpf_code code;
		const char *reason;
		int err;

		ir_map_value(ir, base, 0, 0);
		ir_branchi(ir, IR_EQ, ir_context(ir), 0, end);
		for (u32 i = 0; i < n; i++)
			ir_storei(ir, base, 0, IR_U64, 1);
		ir_place(ir, end);
		ir_exit(ir, 0);
		err = bpf_compile(ir, &f->arena, &features, &code, &reason);
		assert_int_equal(err, n > INT16_MAX ? -E2BIG : 0);
		if (err)
			assert_non_null(strstr(reason, "a jump over 32768 instructions"));
	}
}

/* Every way in which 5 arguments can lie in r0..r9: 100,000 calls. */
static void moves_before_call(void **state)
{
	static u8 data[ENV_BYTES];
	struct env env = { .data = data };

	for (u32 ways = 0; ways < 100000; ways++) {
		struct alloc_range ranges[13] = { 0 };
		struct alloc alloc = { .ranges = ranges };
		struct lir lir = { .n_vregs = 13, .n_labels = 1 };
		struct ir_insn insns[14] = { 0 };
		vreg args[5];
		u64 want[5], got;
		struct arena arena;
		struct bpf_code code;
		const char *reason;
		s32 value;

		arena_init(&arena);
		for (u32 reg = 0; reg < 10; reg++) {
			insns[reg] = (struct ir_insn){ .op = IR_OP_IMM,
						       .d = reg + 1,
						       .imm = 1 << 3 * reg };
			ranges[reg + 1].reg = (s8)reg;
		}
		for (u32 i = 0, rest = ways; i < 5; i++, rest /= 10) {
			args[i] = rest % 10 + 1;
			want[i] = 1ull << 3 * (rest % 10);
		}
		insns[10] = (struct ir_insn){
			.op = IR_OP_CALL, .index = ENV_MIX_HELPER, .n_args = 5, .d = 11
		};
		insns[11] = (struct ir_insn){ .op = IR_OP_MAP_VALUE, .d = 12 };
		insns[12] = (struct ir_insn){ .op = IR_OP_STORE, .a = 12, .b = 11, .size = IR_U64 };
		insns[13] = (struct ir_insn){ .op = IR_OP_EXIT };
		ranges[12].reg = 1;
		lir.insns.at = insns;
		lir.insns.n = ARRAY_SIZE(insns);
		lir.args = args;
		assert_int_equal(lir_encode(&lir, &alloc, &arena, &code, &reason), 0);
		assert_int_equal(interpret_bpf(&code, &env, &value), 0);
		memcpy(&got, data, sizeof(got));
		assert_true(got == env_call(&env, ENV_MIX_HELPER, want));
		arena_free(&arena);
	}
}

static void printed_ir(void **state)
{
	struct fixture *f = *state;
	struct ir *ir = f->ir;
	vreg v = ir_reg(ir), p = ir_reg(ir);
	label l = ir_label(ir);
	struct buf out;

	ir_load(ir, v, ir_context(ir), 16, IR_S32);
	ir_note(ir, "key %s", "fd");
	ir_branchi(ir, IR_SGE, v, 100, l);
	ir_map_value(ir, p, 3, 64);
	ir_atomic(ir, IR_ATOMIC_XCHG, v, p, 8, v);
	ir_place(ir, l);
	ir_call(ir, v, BPF_FUNC_ktime_get_ns, 0, NULL);
	ir_exit(ir, 0);
	buf_init(&out);
	ir_print(ir, &out);
	assert_string_equal(out.at, "      v3 = context\n"
				    "   0  v1 = s32 [v3 +16]\n"
				    "      ; key fd\n"
				    "   1  if v1 s>= 100 goto L1\n"
				    "   2  v2 = value of map 3 +64\n"
				    "   3  v1 = atomic_xchg u64 [v2 +8], v1\n"
				    "L1:\n"
				    "   5  v1 = call ktime_get_ns()\n"
				    "   6  exit 0\n");
	buf_free(&out);
}

static void fragments_of_the_query(void **state)
{
	struct fixture *f = *state;
	struct bpf_features features = { 0 };
	struct bpf_code code;
	const char *reason;
	struct buf out;

	ir_at(f->ir, (struct span){ 7, 12 });
	ir_call(f->ir, 0, BPF_FUNC_ktime_get_ns, 0, NULL);
	ir_at(f->ir, (struct span){ 19, 20 });
	ir_exit(f->ir, 0);
	assert_int_equal(bpf_compile(f->ir, &f->arena, &features, &code, &reason), 0);
	buf_init(&out);
	bpf_disassemble(&code, "SELECT max(x)\nFROM y", &out);
	assert_string_equal(out.at, "   0: (85) call bpf_ktime_get_ns#5           ; query:8 max(x\n"
				    "   1: (b7) r0 = 0                            ; query:6 y\n"
				    "   2: (95) exit\n");
	buf_free(&out);
}

static void compare_exchange(void **state)
{
	struct fixture *f = *state;
	vreg p = ir_reg(f->ir), v = ir_reg(f->ir), old = ir_reg(f->ir);

	ir_map_value(f->ir, p, 2, 16);
	ir_imm(f->ir, v, 1);
	ir_compare_exchange(f->ir, old, p, 8, IR_U64, 0, v);
	ir_store(f->ir, p, 0, IR_U64, old);
	ir_exit(f->ir, 0);
	assert_code(f, "r2 = 1; r1 = map[2][0]+16; r0 = 0; "
		       "r0 = atomic64_cmpxchg((u64 *)(r1 +8), r0, r2); r1 = map[2][0]+16; "
		       "*(u64 *)(r1 +0) = r0; r0 = 0; exit");
}

/* A function of the kernel is called by its number in BTF, which no helper's name belongs to. */
static void kernel_call(void **state)
{
	struct fixture *f = *state;
	vreg args[2] = { ir_context(f->ir), ir_reg(f->ir) }, p = ir_reg(f->ir), v = ir_reg(f->ir);
	struct bpf_features features = { 0 };
	struct bpf_code code;
	const char *reason;

	ir_imm(f->ir, args[1], 7);
	ir_kernel_call(f->ir, p, 5, ARRAY_SIZE(args), args);
	ir_load(f->ir, v, p, 0, IR_U64);
	ir_store(f->ir, p, 8, IR_U64, v);
	ir_exit(f->ir, 0);
	assert_code(f, "r2 = 7; call kernel#5; r5 = *(u64 *)(r0 +0); *(u64 *)(r0 +8) = r5; r0 = 0; "
		       "exit");
	assert_int_equal(bpf_compile(f->ir, &f->arena, &features, &code, &reason), 0);
	assert_int_equal(code.insns[1].src_reg, BPF_PSEUDO_KFUNC_CALL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refuse_undefined),
		TEST(refuse_undefined_on_one_way),
		TEST(refuse_undefined_argument),
		TEST(refuse_defined_later_in_loop),
		TEST(refuse_unplaced_label),
		TEST(refuse_label_placed_twice),
		TEST(refuse_loop_entered_from_below),
		TEST(refuse_no_exit),
		TEST(refuse_unknown_names),
		TEST(refuse_bad_codes),
		TEST(refuse_six_arguments),
		TEST(refuse_stack_accesses),
		TEST(first_error_stays),
		TEST(accept_dead_code),
		TEST(context_argument),
		TEST(arguments_in_place),
		TEST(value_across_call),
		TEST(constants_go_into_instructions),
		TEST(unused_results_go),
		TEST(branch_over_jump),
		TEST(wide_constants),
		TEST(sign_extension),
		TEST(signed_division),
		TEST(far_offset),
		TEST(jump_limit),
		TEST(moves_before_call),
		TEST(printed_ir),
		TEST(fragments_of_the_query),
		TEST(compare_exchange),
		TEST(kernel_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
