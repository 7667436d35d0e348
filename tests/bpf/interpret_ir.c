/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The meaning of the IR, one instruction after the other: what bpf.h says, and
 * nothing of how the back end does it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"

#define MAX_STEPS 2000000

struct machine {
	const struct ir *ir;
	struct env *env;
	u64 *regs;
	u8 **objects;
	bool has_failed;
};

static u64 alu(u8 op, u64 a, u64 b)
{
	s64 x = (s64)a, y = (s64)b;

	switch (op) {
	case IR_ADD:
		return a + b;
	case IR_SUB:
		return a - b;
	case IR_MUL:
		return a * b;
	case IR_DIV:
		return b == 0 ? 0 : a / b;
	case IR_MOD:
		return b == 0 ? a : a % b;
	case IR_SDIV:
		if (y == 0)
			return 0;
		return y == -1 ? 0 - a : (u64)(x / y);
	case IR_SMOD:
		if (y == 0)
			return a;
		return y == -1 ? 0 : (u64)(x % y);
	case IR_AND:
		return a & b;
	case IR_OR:
		return a | b;
	case IR_XOR:
		return a ^ b;
	case IR_SHL:
		return a << (b & 63);
	case IR_SHR:
		return a >> (b & 63);
	case IR_SAR:
		return (u64)(x >> (b & 63));
	}
	BUG("operation %u", op);
}

static bool holds(u8 condition, u64 a, u64 b)
{
	s64 x = (s64)a, y = (s64)b;

	switch (condition) {
	case IR_EQ:
		return a == b;
	case IR_NE:
		return a != b;
	case IR_LT:
		return a < b;
	case IR_LE:
		return a <= b;
	case IR_GT:
		return a > b;
	case IR_GE:
		return a >= b;
	case IR_SLT:
		return x < y;
	case IR_SLE:
		return x <= y;
	case IR_SGT:
		return x > y;
	case IR_SGE:
		return x >= y;
	case IR_TEST:
		return (a & b) != 0;
	}
	BUG("condition %u", condition);
}

static u64 extend(u64 value, u8 size)
{
	switch (size) {
	case IR_U8:
		return (u8)value;
	case IR_U16:
		return (u16)value;
	case IR_U32:
		return (u32)value;
	case IR_S8:
		return (u64)(s64)(s8)value;
	case IR_S16:
		return (u64)(s64)(s16)value;
	case IR_S32:
		return (u64)(s64)(s32)value;
	}
	return value;
}

static bool is_inside(u64 address, u32 bytes, const void *start, size_t n)
{
	u64 first = (uintptr_t)start;

	return address >= first && address + bytes <= first + n;
}

/* Where [base + offset] is, or NULL after setting has_failed. */
static void *memory(struct machine *m, u64 base, s32 offset, u32 bytes)
{
	u64 address = base + (u64)(s64)offset;
	bool is_ok = is_inside(address, bytes, m->env->data, ENV_BYTES) ||
		     is_inside(address, bytes, m->env->rows, ENV_ROWS * ENV_ROW_BYTES) ||
		     is_inside(address, bytes, m->env->ctx, sizeof(m->env->ctx));

	for (u32 i = 0; i < m->ir->objects.n && !is_ok; i++)
		is_ok = is_inside(address, bytes, m->objects[i], m->ir->objects.at[i]);
	m->has_failed |= !is_ok;
	return is_ok ? (void *)(uintptr_t)address : NULL;
}

static u64 load(struct machine *m, u64 base, s32 offset, u8 size)
{
	u32 bytes = size == IR_U64 ? 8 : size % 4 == 0 ? 1 : size % 4 == 1 ? 2 : 4;
	void *at = memory(m, base, offset, bytes);
	u64 value = 0;

	if (at)
		memcpy(&value, at, bytes);
	return extend(value, size);
}

static void store(struct machine *m, u64 base, s32 offset, u8 size, u64 value)
{
	u32 bytes = size == IR_U64 ? 8 : size % 4 == 0 ? 1 : size % 4 == 1 ? 2 : 4;
	void *at = memory(m, base, offset, bytes);

	if (at)
		memcpy(at, &value, bytes);
}

static void atomic(struct machine *m, const struct ir_insn *insn)
{
	u64 operand = m->regs[insn->b];
	u64 old = load(m, m->regs[insn->a], insn->offset, insn->size);

	store(m, m->regs[insn->a], insn->offset, insn->size,
	      insn->sub == IR_ATOMIC_XCHG ? operand : old + operand);
	if (insn->d)
		m->regs[insn->d] = old;
}

static void compare_exchange(struct machine *m, const struct ir_insn *insn)
{
	u64 base = m->regs[m->ir->args.at[insn->first_arg]];
	u64 value = m->regs[m->ir->args.at[insn->first_arg + 1]];
	u64 old = load(m, base, insn->offset, insn->size);

	if (old == (u64)insn->imm)
		store(m, base, insn->offset, insn->size, value);
	if (insn->d)
		m->regs[insn->d] = old;
}

static void call(struct machine *m, const struct ir_insn *insn)
{
	u64 args[5] = { 0 };
	u64 value;

	for (u32 i = 0; i < insn->n_args; i++)
		args[i] = m->regs[m->ir->args.at[insn->first_arg + i]];
	value = env_call(m->env, insn->index, args);
	if (insn->d)
		m->regs[insn->d] = value;
}

/* One instruction that is no jump. */
static void step(struct machine *m, const struct ir_insn *insn)
{
	u64 *d = &m->regs[insn->d];
	u64 a = m->regs[insn->a], b = insn->b ? m->regs[insn->b] : (u64)insn->imm;
	u64 object = insn->index < m->ir->objects.n ? (uintptr_t)m->objects[insn->index] : 0;

	switch (insn->op) {
	case IR_OP_IMM:
		*d = (u64)insn->imm;
		break;
	case IR_OP_MOV:
		*d = a;
		break;
	case IR_OP_ALU:
		*d = alu(insn->sub, a, b);
		break;
	case IR_OP_NEG:
		*d = 0 - a;
		break;
	case IR_OP_BSWAP:
		*d = __builtin_bswap64(a);
		break;
	case IR_OP_EXTEND:
		*d = extend(a, insn->size);
		break;
	case IR_OP_LOAD:
		*d = load(m, a, insn->offset, insn->size);
		break;
	case IR_OP_STORE:
		store(m, a, insn->offset, insn->size, b);
		break;
	case IR_OP_ATOMIC:
		atomic(m, insn);
		break;
	case IR_OP_COMPARE_EXCHANGE:
		compare_exchange(m, insn);
		break;
	case IR_OP_MAP:
		*d = env_map_token(insn->index);
		break;
	case IR_OP_MAP_VALUE:
		*d = (uintptr_t)env_map_value(m->env, insn->index) + (u32)insn->offset;
		break;
	case IR_OP_STACK_ADDRESS:
		*d = object + (u32)insn->offset;
		break;
	case IR_OP_STACK_LOAD:
		*d = load(m, object, insn->offset, insn->size);
		break;
	case IR_OP_STACK_STORE:
		store(m, object, insn->offset, insn->size, b);
		break;
	case IR_OP_CALL:
		call(m, insn);
		break;
	case IR_OP_KERNEL_CALL:
		BUG("there is no kernel here");
	}
}

static int run(struct machine *m, s32 *ret_value)
{
	u32 at = 0;

	for (u32 steps = 0; steps < MAX_STEPS && at < m->ir->insns.n; steps++) {
		const struct ir_insn *insn = &m->ir->insns.at[at++];
		u64 b = insn->b ? m->regs[insn->b] : (u64)insn->imm;

		if (insn->op == IR_OP_EXIT) {
			*ret_value = (s32)insn->imm;
			return 0;
		}
		if (insn->op == IR_OP_JUMP)
			at = m->ir->labels.at[insn->index];
		else if (insn->op != IR_OP_BRANCH)
			step(m, insn);
		else if (holds(insn->sub, m->regs[insn->a], b))
			at = m->ir->labels.at[insn->index];
		if (m->has_failed)
			return -EFAULT;
	}
	return -ELOOP;
}

int interpret_ir(const struct ir *ir, struct env *env, s32 *ret_value)
{
	struct machine m = { .ir = ir, .env = env };
	int err;

	m.regs = calloc(ir->n_vregs, sizeof(*m.regs));
	m.objects = calloc(ir->objects.n + 1, sizeof(*m.objects));
	BUG_ON(!m.regs || !m.objects);
	for (u32 i = 0; i < ir->objects.n; i++) {
		m.objects[i] = calloc(1, ir->objects.at[i]);
		BUG_ON(!m.objects[i]);
	}
	if (ir->context)
		m.regs[ir->context] = (uintptr_t)env->ctx;
	err = run(&m, ret_value);
	for (u32 i = 0; i < ir->objects.n; i++)
		free(m.objects[i]);
	free(m.objects);
	free(m.regs);
	return err;
}
