/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The builder: calls of the code generator -> a list of IR instructions.  What
 * can be seen in one call (a vreg that was never made, too many arguments, a
 * size that does not exist) becomes the sticky error; check.c sees the rest.
 */
#include "bpf/ir.h"

#define DEF_A (OP_DEF | OP_USE_A)

const u8 ir_op_flags[IR_OP_N] = {
	[IR_OP_CONTEXT] = OP_DEF | OP_PURE,
	[IR_OP_IMM] = OP_DEF | OP_PURE,
	[IR_OP_MOV] = DEF_A | OP_PURE,
	[IR_OP_ALU] = DEF_A | OP_PURE,
	[IR_OP_NEG] = DEF_A | OP_PURE,
	[IR_OP_BSWAP] = DEF_A | OP_PURE,
	[IR_OP_EXTEND] = DEF_A | OP_PURE,
	[IR_OP_LOAD] = DEF_A | OP_PURE,
	[IR_OP_STORE] = OP_USE_A,
	[IR_OP_ATOMIC] = DEF_A,
	[IR_OP_MAP] = OP_DEF | OP_PURE,
	[IR_OP_MAP_VALUE] = OP_DEF | OP_PURE,
	[IR_OP_STACK_ADDRESS] = OP_DEF | OP_PURE | OP_STACK,
	[IR_OP_STACK_LOAD] = OP_DEF | OP_PURE | OP_STACK,
	[IR_OP_STACK_STORE] = OP_STACK,
	[IR_OP_JUMP] = OP_JUMP | OP_END,
	[IR_OP_BRANCH] = OP_USE_A | OP_JUMP,
	[IR_OP_CALL] = OP_DEF | OP_CALL,
	[IR_OP_KERNEL_CALL] = OP_DEF | OP_CALL,
	[IR_OP_COMPARE_EXCHANGE] = OP_DEF | OP_CALL,
	[IR_OP_EXIT] = OP_END,
};

const struct ir_alu_info ir_alus[IR_ALU_N] = {
	[IR_ADD] = { "+", BPF_ADD, .commutes = true },
	[IR_SUB] = { "-", BPF_SUB },
	[IR_MUL] = { "*", BPF_MUL, .commutes = true },
	[IR_DIV] = { "/", BPF_DIV },
	[IR_MOD] = { "%", BPF_MOD },
	[IR_SDIV] = { "s/", BPF_DIV, .off = 1 },
	[IR_SMOD] = { "s%", BPF_MOD, .off = 1 },
	[IR_AND] = { "&", BPF_AND, .commutes = true },
	[IR_OR] = { "|", BPF_OR, .commutes = true },
	[IR_XOR] = { "^", BPF_XOR, .commutes = true },
	[IR_SHL] = { "<<", BPF_LSH },
	[IR_SHR] = { ">>", BPF_RSH },
	[IR_SAR] = { "s>>", BPF_ARSH },
};

const struct ir_condition_info ir_conditions[IR_CONDITION_N] = {
	[IR_EQ] = { "==", BPF_JEQ, IR_NE, IR_EQ },
	[IR_NE] = { "!=", BPF_JNE, IR_EQ, IR_NE },
	[IR_LT] = { "<", BPF_JLT, IR_GE, IR_GT },
	[IR_LE] = { "<=", BPF_JLE, IR_GT, IR_GE },
	[IR_GT] = { ">", BPF_JGT, IR_LE, IR_LT },
	[IR_GE] = { ">=", BPF_JGE, IR_LT, IR_LE },
	[IR_SLT] = { "s<", BPF_JSLT, IR_SGE, IR_SGT },
	[IR_SLE] = { "s<=", BPF_JSLE, IR_SGT, IR_SGE },
	[IR_SGT] = { "s>", BPF_JSGT, IR_SLE, IR_SLT },
	[IR_SGE] = { "s>=", BPF_JSGE, IR_SLT, IR_SLE },
	[IR_TEST] = { "&", BPF_JSET, IR_TEST, IR_TEST },
};

const struct ir_size_info ir_sizes[IR_S32 + 1] = {
	[IR_U8] = { "u8", 1, BPF_B },	      [IR_U16] = { "u16", 2, BPF_H },
	[IR_U32] = { "u32", 4, BPF_W },	      [IR_U64] = { "u64", 8, BPF_DW },
	[IR_S8] = { "s8", 1, BPF_B, true },   [IR_S16] = { "s16", 2, BPF_H, true },
	[IR_S32] = { "s32", 4, BPF_W, true },
};

const struct ir_atomic_info ir_atomics[IR_ATOMIC_N] = {
	[IR_ATOMIC_ADD] = { "atomic_add", BPF_ADD },
	[IR_ATOMIC_FETCH_ADD] = { "atomic_fetch_add", BPF_ADD | BPF_FETCH },
	[IR_ATOMIC_XCHG] = { "atomic_xchg", BPF_XCHG },
};

#define HELPER_NAME(name, ...) [BPF_FUNC_##name] = #name
static const char *const helper_names[] = { __BPF_FUNC_MAPPER(HELPER_NAME) };

const char *ir_helper_name(u32 helper)
{
	return helper < ARRAY_SIZE(helper_names) ? helper_names[helper] : NULL;
}

enum ir_condition ir_inverse(enum ir_condition condition)
{
	return (enum ir_condition)ir_conditions[condition].inverse;
}

struct ir *ir_new(struct arena *arena)
{
	struct ir *ir = arena_new(arena, struct ir);

	ir->arena = arena;
	ir->n_vregs = 1;
	vec_push(arena, &ir->labels, IR_UNPLACED);
	return ir;
}

PRINTF(2, 3) static void fail(struct ir *ir, const char *format, ...)
{
	va_list args;
	const char *what;

	if (ir->error)
		return;
	va_start(args, format);
	what = arena_vprintf(ir->arena, format, args);
	va_end(args);
	ir->error = arena_printf(ir->arena, "instruction %u: %s", ir->insns.n, what);
}

void ir_cold(struct ir *ir, bool is_cold)
{
	ir->is_cold = is_cold;
}

void ir_at(struct ir *ir, struct span span)
{
	ir->span = span;
}

void ir_note(struct ir *ir, const char *format, ...)
{
	struct ir_note note = { .insn = ir->insns.n };
	va_list args;

	if (ir->error)
		return;
	va_start(args, format);
	note.text = arena_vprintf(ir->arena, format, args);
	va_end(args);
	vec_push(ir->arena, &ir->notes, note);
}

vreg ir_reg(struct ir *ir)
{
	return ir->n_vregs++;
}

vreg ir_context(struct ir *ir)
{
	if (!ir->context)
		ir->context = ir_reg(ir);
	return ir->context;
}

static void check_vreg(struct ir *ir, vreg v)
{
	if (v == 0 || v >= ir->n_vregs)
		fail(ir, "v%u does not exist", v);
}

static void check_jump(struct ir *ir, label l)
{
	if (l == 0 || l >= ir->labels.n)
		fail(ir, "label L%u does not exist", l);
}

static void check_object(struct ir *ir, const struct ir_insn *insn)
{
	u32 bytes = insn->op == IR_OP_STACK_ADDRESS ? 0 : ir_sizes[insn->size].bytes;

	if (insn->index >= ir->objects.n) {
		fail(ir, "stack object %u does not exist", insn->index);
		return;
	}
	if (insn->offset < 0 || (u32)insn->offset + bytes > ir->objects.at[insn->index])
		fail(ir, "offset %d of %u bytes is outside of stack object %u (%u bytes)",
		     insn->offset, bytes, insn->index, ir->objects.at[insn->index]);
	/* check_ptr_alignment() in kernel/bpf/verifier.c wants stack accesses aligned. */
	else if (bytes && insn->offset % (s32)bytes)
		fail(ir, "offset %d of stack object %u is not aligned to %u bytes", insn->offset,
		     insn->index, bytes);
}

static void append(struct ir *ir, struct ir_insn insn)
{
	u8 flags = ir_op_flags[insn.op];

	if (insn.size > IR_S32) {
		fail(ir, "size %u does not exist", insn.size);
		return;
	}
	/* Results of calls and of atomic additions may be unwanted. */
	if ((flags & OP_DEF) && !(insn.d == 0 && !(flags & OP_PURE)))
		check_vreg(ir, insn.d);
	if (flags & OP_USE_A)
		check_vreg(ir, insn.a);
	if (flags & OP_STACK)
		check_object(ir, &insn);
	if (flags & OP_JUMP)
		check_jump(ir, insn.index);
	if (ir->error)
		return;
	insn.span = ir->span;
	insn.is_cold = ir->is_cold;
	vec_push(ir->arena, &ir->insns, insn);
}

void ir_imm(struct ir *ir, vreg d, s64 value)
{
	append(ir, (struct ir_insn){ .op = IR_OP_IMM, .d = d, .imm = value });
}

void ir_mov(struct ir *ir, vreg d, vreg s)
{
	append(ir, (struct ir_insn){ .op = IR_OP_MOV, .d = d, .a = s });
}

static bool check_sub(struct ir *ir, const char *what, u32 sub, u32 n)
{
	if (sub >= n)
		fail(ir, "%s %u does not exist", what, sub);
	return sub < n;
}

void ir_alu(struct ir *ir, enum ir_alu op, vreg d, vreg a, vreg b)
{
	check_vreg(ir, b);
	if (check_sub(ir, "operation", op, IR_ALU_N))
		append(ir, (struct ir_insn){ .op = IR_OP_ALU, .sub = op, .d = d, .a = a, .b = b });
}

void ir_alui(struct ir *ir, enum ir_alu op, vreg d, vreg a, s64 b)
{
	if (check_sub(ir, "operation", op, IR_ALU_N))
		append(ir,
		       (struct ir_insn){ .op = IR_OP_ALU, .sub = op, .d = d, .a = a, .imm = b });
}

void ir_neg(struct ir *ir, vreg d, vreg a)
{
	append(ir, (struct ir_insn){ .op = IR_OP_NEG, .d = d, .a = a });
}

void ir_bswap(struct ir *ir, vreg d, vreg a)
{
	append(ir, (struct ir_insn){ .op = IR_OP_BSWAP, .d = d, .a = a });
}

void ir_extend(struct ir *ir, vreg d, vreg a, enum ir_size size)
{
	append(ir, (struct ir_insn){ .op = IR_OP_EXTEND, .d = d, .a = a, .size = size });
}

void ir_load(struct ir *ir, vreg d, vreg base, s32 offset, enum ir_size size)
{
	append(ir, (struct ir_insn){
			   .op = IR_OP_LOAD, .d = d, .a = base, .offset = offset, .size = size });
}

void ir_store(struct ir *ir, vreg base, s32 offset, enum ir_size size, vreg s)
{
	check_vreg(ir, s);
	append(ir, (struct ir_insn){
			   .op = IR_OP_STORE, .a = base, .b = s, .offset = offset, .size = size });
}

void ir_storei(struct ir *ir, vreg base, s32 offset, enum ir_size size, s32 value)
{
	append(ir, (struct ir_insn){ .op = IR_OP_STORE,
				     .a = base,
				     .offset = offset,
				     .size = size,
				     .imm = value });
}

void ir_atomic(struct ir *ir, enum ir_atomic op, vreg d, vreg base, s32 offset, vreg s)
{
	check_vreg(ir, s);
	if (!check_sub(ir, "atomic operation", op, IR_ATOMIC_N))
		return;
	if (op == IR_ATOMIC_ADD && d)
		fail(ir, "an atomic addition has no result, fetch_add has");
	append(ir, (struct ir_insn){ .op = IR_OP_ATOMIC,
				     .sub = op,
				     .d = d,
				     .a = base,
				     .b = s,
				     .offset = offset,
				     .size = IR_U64 });
}

void ir_map(struct ir *ir, vreg d, u32 map)
{
	append(ir, (struct ir_insn){ .op = IR_OP_MAP, .d = d, .index = map });
}

void ir_map_value(struct ir *ir, vreg d, u32 map, u32 offset_bytes)
{
	if (offset_bytes > INT32_MAX)
		fail(ir, "offset %u of a map value is too large", offset_bytes);
	append(ir,
	       (struct ir_insn){
		       .op = IR_OP_MAP_VALUE, .d = d, .index = map, .offset = (s32)offset_bytes });
}

stack_object ir_stack(struct ir *ir, u32 size_bytes)
{
	ir->is_too_large |= !ir->error && size_bytes > BPF_STACK_BYTES;
	if (size_bytes == 0 || size_bytes > BPF_STACK_BYTES)
		fail(ir, "a stack object of %u bytes", size_bytes);
	vec_push(ir->arena, &ir->objects, size_bytes);
	return ir->objects.n - 1;
}

static void append_stack(struct ir *ir, enum ir_op op, stack_object object, u32 offset_bytes,
			 enum ir_size size, struct ir_insn insn)
{
	insn.op = op;
	insn.index = object;
	insn.offset = (s32)MIN(offset_bytes, (u32)BPF_STACK_BYTES + 1);
	insn.size = size;
	append(ir, insn);
}

void ir_stack_address(struct ir *ir, vreg d, stack_object object, u32 offset_bytes)
{
	append_stack(ir, IR_OP_STACK_ADDRESS, object, offset_bytes, 0, (struct ir_insn){ .d = d });
}

void ir_stack_load(struct ir *ir, vreg d, stack_object object, u32 offset_bytes, enum ir_size size)
{
	append_stack(ir, IR_OP_STACK_LOAD, object, offset_bytes, size, (struct ir_insn){ .d = d });
}

void ir_stack_store(struct ir *ir, stack_object object, u32 offset_bytes, enum ir_size size, vreg s)
{
	check_vreg(ir, s);
	append_stack(ir, IR_OP_STACK_STORE, object, offset_bytes, size, (struct ir_insn){ .b = s });
}

void ir_stack_storei(struct ir *ir, stack_object object, u32 offset_bytes, enum ir_size size,
		     s32 value)
{
	append_stack(ir, IR_OP_STACK_STORE, object, offset_bytes, size,
		     (struct ir_insn){ .imm = value });
}

label ir_label(struct ir *ir)
{
	vec_push(ir->arena, &ir->labels, IR_UNPLACED);
	return ir->labels.n - 1;
}

void ir_place(struct ir *ir, label l)
{
	check_jump(ir, l);
	if (ir->error)
		return;
	if (ir->labels.at[l] != IR_UNPLACED) {
		fail(ir, "label L%u is placed twice", l);
		return;
	}
	ir->labels.at[l] = ir->insns.n;
	append(ir, (struct ir_insn){ .op = IR_OP_LABEL, .index = l });
}

void ir_jump(struct ir *ir, label l)
{
	append(ir, (struct ir_insn){ .op = IR_OP_JUMP, .index = l });
}

void ir_branch(struct ir *ir, enum ir_condition condition, vreg a, vreg b, label l)
{
	check_vreg(ir, b);
	if (check_sub(ir, "condition", condition, IR_CONDITION_N))
		append(ir,
		       (struct ir_insn){
			       .op = IR_OP_BRANCH, .sub = condition, .a = a, .b = b, .index = l });
}

void ir_branchi(struct ir *ir, enum ir_condition condition, vreg a, s64 b, label l)
{
	if (check_sub(ir, "condition", condition, IR_CONDITION_N))
		append(ir, (struct ir_insn){ .op = IR_OP_BRANCH,
					     .sub = condition,
					     .a = a,
					     .imm = b,
					     .index = l });
}

static void append_call(struct ir *ir, struct ir_insn insn, u32 n_args, const vreg *args)
{
	if (n_args > BPF_MAX_ARGS) {
		fail(ir, "a call with %u arguments, 5 are possible", n_args);
		return;
	}
	insn.first_arg = ir->args.n;
	insn.n_args = n_args;
	for (u32 i = 0; i < n_args; i++) {
		check_vreg(ir, args[i]);
		vec_push(ir->arena, &ir->args, args[i]);
	}
	append(ir, insn);
}

void ir_call(struct ir *ir, vreg d, enum bpf_func_id helper, u32 n_args, const vreg *args)
{
	append_call(ir, (struct ir_insn){ .op = IR_OP_CALL, .d = d, .index = helper }, n_args,
		    args);
}

void ir_kernel_call(struct ir *ir, vreg d, u32 btf_id, u32 n_args, const vreg *args)
{
	append_call(ir, (struct ir_insn){ .op = IR_OP_KERNEL_CALL, .d = d, .index = btf_id },
		    n_args, args);
}

void ir_compare_exchange(struct ir *ir, vreg d, vreg base, s32 offset, enum ir_size size,
			 s32 expected, vreg s)
{
	append_call(ir,
		    (struct ir_insn){ .op = IR_OP_COMPARE_EXCHANGE,
				      .d = d,
				      .offset = offset,
				      .size = size,
				      .imm = expected },
		    2, (const vreg[]){ base, s });
}

void ir_exit(struct ir *ir, s32 value)
{
	append(ir, (struct ir_insn){ .op = IR_OP_EXIT, .imm = value });
}
