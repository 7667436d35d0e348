/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * BPF instructions, one after the other, in user space: the part of the set that
 * the encoder writes.  Registers that the kernel leaves undefined hold rubbish
 * here, and so does the stack, so that a wrong allocation shows.
 */
#include <errno.h>
#include <string.h>

#include "env.h"

#define MAX_STEPS 8000000
#define RUBBISH	  0xdead00beef00f00dull

struct machine {
	const struct bpf_code *code;
	struct env *env;
	u64 regs[11];
	u8 stack[BPF_STACK_BYTES] __attribute__((aligned(8)));
	int err;
};

static u64 alu64(struct machine *m, const struct bpf_insn *insn, u64 a, u64 b)
{
	s64 x = (s64)a, y = (s64)b;

	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		if (insn->off == 1)
			return y == 0 ? 0 : y == -1 ? 0 - a : (u64)(x / y);
		return b ? a / b : 0;
	case BPF_MOD:
		if (insn->off == 1)
			return y == 0 ? a : y == -1 ? 0 : (u64)(x % y);
		return b ? a % b : a;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	case BPF_ARSH:
		return (u64)(x >> (b & 63));
	case BPF_END:
		if (BPF_CLASS(insn->code) != BPF_ALU || insn->imm != 64)
			m->err = -EINVAL;
		return __builtin_bswap64(a);
	case BPF_NEG:
		return 0 - a;
	case BPF_MOV:
		switch (insn->off) {
		case 0:
			return b;
		case 8:
			return (u64)(s64)(s8)b;
		case 16:
			return (u64)(s64)(s16)b;
		case 32:
			return (u64)(s64)(s32)b;
		}
	}
	m->err = -EINVAL;
	return 0;
}

static bool jumps(struct machine *m, const struct bpf_insn *insn, u64 a, u64 b)
{
	s64 x = (s64)a, y = (s64)b;

	switch (BPF_OP(insn->code)) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JSLT:
		return x < y;
	case BPF_JSLE:
		return x <= y;
	case BPF_JSGT:
		return x > y;
	case BPF_JSGE:
		return x >= y;
	case BPF_JSET:
		return (a & b) != 0;
	}
	m->err = -EINVAL;
	return false;
}

static bool is_inside(u64 address, u32 bytes, const void *start, size_t n)
{
	u64 first = (uintptr_t)start;

	return address >= first && address + bytes <= first + n;
}

static void *memory(struct machine *m, u64 base, s16 offset, u32 bytes)
{
	u64 address = base + (u64)(s64)offset;

	if (is_inside(address, bytes, m->env->data, ENV_BYTES) ||
	    is_inside(address, bytes, m->env->rows, ENV_ROWS * ENV_ROW_BYTES) ||
	    is_inside(address, bytes, m->env->ctx, sizeof(m->env->ctx)) ||
	    is_inside(address, bytes, m->stack, sizeof(m->stack)))
		return (void *)(uintptr_t)address;
	m->err = -EFAULT;
	return NULL;
}

static u32 bytes_of(u8 code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	}
	return 8;
}

static void load(struct machine *m, const struct bpf_insn *insn)
{
	u32 bytes = bytes_of(insn->code);
	void *at = memory(m, m->regs[insn->src_reg], insn->off, bytes);
	u64 value = 0;

	if (!at)
		return;
	memcpy(&value, at, bytes);
	if (BPF_MODE(insn->code) == BPF_MEMSX)
		value = (u64)((s64)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
	m->regs[insn->dst_reg] = value;
}

static void store(struct machine *m, const struct bpf_insn *insn, u64 value)
{
	u32 bytes = bytes_of(insn->code);
	void *at = memory(m, m->regs[insn->dst_reg], insn->off, bytes);

	if (at)
		memcpy(at, &value, bytes);
}

static void atomic(struct machine *m, const struct bpf_insn *insn)
{
	u32 bytes = bytes_of(insn->code);
	void *at = memory(m, m->regs[insn->dst_reg], insn->off, bytes);
	u64 operand = m->regs[insn->src_reg], old = 0;

	if (!at || bytes < 4) {
		m->err = -EINVAL;
		return;
	}
	memcpy(&old, at, bytes);
	if (insn->imm == BPF_CMPXCHG) {
		if (old == m->regs[0])
			memcpy(at, &operand, bytes);
		m->regs[0] = old;
		return;
	}
	if (insn->imm != BPF_XCHG)
		operand += old;
	memcpy(at, &operand, bytes);
	if (insn->imm & BPF_FETCH)
		m->regs[insn->src_reg] = old;
}

static void call(struct machine *m, const struct bpf_insn *insn)
{
	m->regs[0] = env_call(m->env, (u32)insn->imm, &m->regs[1]);
	for (u32 i = 1; i <= 5; i++)
		m->regs[i] = RUBBISH + i;
}

static void wide(struct machine *m, u32 at)
{
	const struct bpf_insn *insn = &m->code->insns[at];
	u64 imm = (u32)insn[0].imm | (u64)(u32)insn[1].imm << 32;

	for (u32 i = 0; i < m->code->n_relocs; i++) {
		const struct bpf_reloc *reloc = &m->code->relocs[i];

		if (reloc->insn != at)
			continue;
		if (reloc->kind == BPF_RELOC_MAP)
			imm = env_map_token(reloc->map);
		else
			imm = (uintptr_t)env_map_value(m->env, reloc->map) + (u32)insn[1].imm;
	}
	m->regs[insn->dst_reg] = imm;
}

/* One instruction that is no jump. */
static void step(struct machine *m, const struct bpf_insn *insn)
{
	u64 operand = BPF_SRC(insn->code) == BPF_X ? m->regs[insn->src_reg] : (u64)(s64)insn->imm;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
		if (BPF_OP(insn->code) == BPF_END) {
			m->regs[insn->dst_reg] = alu64(m, insn, m->regs[insn->dst_reg], 0);
			break;
		}
		if (BPF_OP(insn->code) != BPF_MOV || insn->off)
			m->err = -EINVAL;
		m->regs[insn->dst_reg] = (u32)operand;
		break;
	case BPF_ALU64:
		m->regs[insn->dst_reg] = alu64(m, insn, m->regs[insn->dst_reg], operand);
		break;
	case BPF_LDX:
		load(m, insn);
		break;
	case BPF_ST:
		store(m, insn, (u64)(s64)insn->imm);
		break;
	case BPF_STX:
		if (BPF_MODE(insn->code) == BPF_ATOMIC)
			atomic(m, insn);
		else
			store(m, insn, m->regs[insn->src_reg]);
		break;
	default:
		m->err = -EINVAL;
	}
	if (m->regs[BPF_FRAME] != (uintptr_t)(m->stack + BPF_STACK_BYTES))
		m->err = -EINVAL;
}

int interpret_bpf(const struct bpf_code *code, struct env *env, s32 *ret_value)
{
	struct machine m = { .code = code, .env = env };
	u32 at = 0;

	for (u32 i = 0; i < 10; i++)
		m.regs[i] = RUBBISH + i;
	memset(m.stack, 0xa5, sizeof(m.stack));
	m.regs[1] = (uintptr_t)env->ctx;
	m.regs[BPF_FRAME] = (uintptr_t)(m.stack + BPF_STACK_BYTES);
	for (u32 steps = 0; steps < MAX_STEPS && at < code->n_insns && !m.err; steps++) {
		const struct bpf_insn *insn = &code->insns[at++];
		u64 b = BPF_SRC(insn->code) == BPF_X ? m.regs[insn->src_reg] : (u64)(s64)insn->imm;

		if (insn->code == (BPF_JMP | BPF_EXIT)) {
			*ret_value = (s32)m.regs[0];
			return 0;
		}
		if (insn->code == (BPF_LD | BPF_IMM | BPF_DW))
			wide(&m, at++ - 1);
		else if (insn->code == (BPF_JMP | BPF_CALL))
			call(&m, insn);
		else if (BPF_CLASS(insn->code) != BPF_JMP)
			step(&m, insn);
		else if (jumps(&m, insn, m.regs[insn->dst_reg], b))
			at += (u32)insn->off;
	}
	return m.err ? m.err : -ELOOP;
}
