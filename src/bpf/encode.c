/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lowered instructions and their registers -> struct bpf_insn.  Three operands
 * become two, vregs without a register go through a scratch register that is
 * free at this place, arguments move to r1..r5 all at once, jumps get distances.
 */
#include <errno.h>

#include "bpf/ir.h"

/* To the order that this machine does not have: a swap on every kernel. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SWAP_BYTES BPF_TO_BE
#else
#define SWAP_BYTES BPF_TO_LE
#endif

struct fixup {
	u32 insn;
	label target;
};

struct encode {
	const struct lir *lir;
	const struct alloc *alloc;
	struct arena *arena;
	VEC(struct bpf_insn) insns;
	VEC(struct span) spans; /* one per instruction */
	VEC(struct bpf_reloc) relocs;
	VEC(struct fixup) fixups;
	u32 *label_at;
	s32 *object_at; /* from r10 */
	s32 slots_at;	/* slot 0; the others are below */
	struct span span;
	u32 at;		 /* the instruction being written */
	u16 taken;	 /* scratch registers of this instruction */
	bool has_failed; /* no scratch register */
};

static void put(struct encode *e, u8 code, u8 dst, u8 src, s16 off, s32 imm)
{
	vec_push(e->arena, &e->insns,
		 (struct bpf_insn){
			 .code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm });
	vec_push(e->arena, &e->spans, e->span);
}

static void put_mov(struct encode *e, u8 dst, u8 src)
{
	if (dst != src)
		put(e, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void put_wide(struct encode *e, u8 dst, u8 src, s32 low, s32 high)
{
	put(e, BPF_LD | BPF_IMM | BPF_DW, dst, src, 0, low);
	put(e, 0, 0, 0, 0, high);
}

static void put_imm(struct encode *e, u8 dst, s64 imm)
{
	if (fits_s32(imm))
		put(e, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, (s32)imm);
	else if ((u64)imm <= UINT32_MAX) /* a 32-bit move clears the upper half */
		put(e, BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, (s32)imm);
	else
		put_wide(e, dst, 0, (s32)imm, (s32)(imm >> 32));
}

static void put_jump(struct encode *e, u8 code, u8 dst, u8 src, s32 imm, label target)
{
	vec_push(e->arena, &e->fixups, (struct fixup){ e->insns.n, target });
	put(e, code, dst, src, 0, imm);
}

static s16 slot_offset(const struct encode *e, vreg v)
{
	return (s16)(e->slots_at - 8 * e->alloc->ranges[v].slot);
}

/* Operands ---------------------------------------------------------------- */

static s8 reg_of(const struct encode *e, vreg v)
{
	return e->alloc->ranges[v].reg;
}

/* Values that need no memory are made where they are wanted. */
static void make(struct encode *e, u8 dst, const struct ir_insn *insn)
{
	switch (insn->op) {
	case IR_OP_IMM:
		put_imm(e, dst, insn->imm);
		break;
	case IR_OP_MAP:
	case IR_OP_MAP_VALUE:
		vec_push(e->arena, &e->relocs,
			 (struct bpf_reloc){ e->insns.n, insn->index,
					     insn->op == IR_OP_MAP ? BPF_RELOC_MAP
								   : BPF_RELOC_MAP_VALUE });
		put_wide(e, dst, insn->op == IR_OP_MAP ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE,
			 0, insn->offset);
		break;
	case IR_OP_STACK_ADDRESS:
		put_mov(e, dst, BPF_FRAME);
		put(e, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0,
		    e->object_at[insn->index] + insn->offset);
		break;
	default:
		BUG("opcode %u cannot be made anew", insn->op);
	}
}

/* v into a register, wherever it is. */
static void fetch(struct encode *e, u8 dst, vreg v)
{
	const struct alloc_range *range = &e->alloc->ranges[v];

	if (range->reg >= 0)
		put_mov(e, dst, (u8)range->reg);
	else if (range->remade)
		make(e, dst, &e->lir->insns.at[range->def]);
	else
		put(e, BPF_LDX | BPF_MEM | BPF_DW, dst, BPF_FRAME, slot_offset(e, v), 0);
}

/* A register that holds nothing here; r0..r5 first, the JIT has to save the others. */
static u8 scratch(struct encode *e)
{
	u16 used = (u16)(e->taken | e->alloc->busy[e->at]);

	for (u8 reg = 0; reg < BPF_N_REGS; reg++) {
		if (used >> reg & 1)
			continue;
		e->taken |= (u16)(1u << reg);
		return reg;
	}
	e->has_failed = true;
	return 0;
}

static u8 read_reg(struct encode *e, vreg v)
{
	u8 reg;

	if (reg_of(e, v) >= 0)
		return (u8)reg_of(e, v);
	reg = scratch(e);
	fetch(e, reg, v);
	return reg;
}

/* Where d is computed; write_done() puts it into its slot if it has one. */
static u8 write_reg(struct encode *e, vreg d)
{
	return reg_of(e, d) >= 0 ? (u8)reg_of(e, d) : scratch(e);
}

static void write_done(struct encode *e, vreg d, u8 reg)
{
	if (reg_of(e, d) < 0)
		put(e, BPF_STX | BPF_MEM | BPF_DW, BPF_FRAME, reg, slot_offset(e, d), 0);
}

/* What is in this register is d's value. */
static void put_result(struct encode *e, vreg d, u8 reg)
{
	if (reg_of(e, d) >= 0)
		put_mov(e, (u8)reg_of(e, d), reg);
	else
		write_done(e, d, reg);
}

/* Instructions -------------------------------------------------------------- */

static void encode_made(struct encode *e, const struct ir_insn *insn)
{
	const struct alloc_range *range = &e->alloc->ranges[insn->d];
	u8 reg;

	if (range->reg < 0 && range->remade)
		return;
	if (range->reg < 0 && insn->op == IR_OP_IMM && fits_s32(insn->imm)) {
		put(e, BPF_ST | BPF_MEM | BPF_DW, BPF_FRAME, 0, slot_offset(e, insn->d),
		    (s32)insn->imm);
		return;
	}
	reg = write_reg(e, insn->d);
	make(e, reg, insn);
	write_done(e, insn->d, reg);
}

static void encode_mov(struct encode *e, const struct ir_insn *insn)
{
	if (reg_of(e, insn->d) >= 0)
		fetch(e, (u8)reg_of(e, insn->d), insn->a);
	else
		write_done(e, insn->d, read_reg(e, insn->a));
}

/* One operand, and a constant perhaps. */
static void encode_alui(struct encode *e, const struct ir_insn *insn)
{
	u8 d = write_reg(e, insn->d);

	fetch(e, d, insn->a);
	if (insn->op == IR_OP_NEG)
		put(e, BPF_ALU64 | BPF_NEG, d, 0, 0, 0);
	else if (insn->op == IR_OP_BSWAP)
		put(e, BPF_ALU | BPF_END | SWAP_BYTES, d, 0, 0, 64);
	else
		put(e, BPF_ALU64 | BPF_K | ir_alus[insn->sub].code, d, 0, ir_alus[insn->sub].off,
		    (s32)insn->imm);
	write_done(e, insn->d, d);
}

static void encode_alu(struct encode *e, const struct ir_insn *insn)
{
	u8 code = BPF_ALU64 | BPF_X | ir_alus[insn->sub].code;
	u8 off = ir_alus[insn->sub].off;
	u8 d;

	if (!insn->b) {
		encode_alui(e, insn);
		return;
	}
	d = write_reg(e, insn->d);
	if (ir_alus[insn->sub].commutes && reg_of(e, insn->b) == d && reg_of(e, insn->a) != d) {
		put(e, code, d, read_reg(e, insn->a), off, 0);
	} else if (insn->a == insn->b) {
		fetch(e, d, insn->a);
		put(e, code, d, d, off, 0);
	} else {
		u8 b = read_reg(e, insn->b);

		fetch(e, d, insn->a);
		put(e, code, d, b, off, 0);
	}
	write_done(e, insn->d, d);
}

static void encode_extend(struct encode *e, const struct ir_insn *insn)
{
	u8 d = write_reg(e, insn->d);
	u8 bits = 8 * ir_sizes[insn->size].bytes;

	if (ir_sizes[insn->size].is_signed || insn->size == IR_U32) {
		bool is_signed = ir_sizes[insn->size].is_signed; /* MOVSX */
		u8 a = reg_of(e, insn->a) >= 0 ? (u8)reg_of(e, insn->a) : d;

		fetch(e, a, insn->a);
		put(e, (is_signed ? BPF_ALU64 : BPF_ALU) | BPF_MOV | BPF_X, d, a,
		    is_signed ? bits : 0, 0);
	} else {
		fetch(e, d, insn->a);
		put(e, BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, (1 << bits) - 1);
	}
	write_done(e, insn->d, d);
}

static void encode_load(struct encode *e, const struct ir_insn *insn)
{
	u8 mode = ir_sizes[insn->size].is_signed ? BPF_MEMSX : BPF_MEM;
	u8 d = write_reg(e, insn->d);
	u8 base = BPF_FRAME;
	s32 offset = insn->offset;

	if (insn->op == IR_OP_STACK_LOAD) {
		offset += e->object_at[insn->index];
	} else if (reg_of(e, insn->a) >= 0) {
		base = (u8)reg_of(e, insn->a);
	} else {
		base = d; /* is written only after the base was read */
		fetch(e, base, insn->a);
	}
	put(e, BPF_LDX | mode | ir_sizes[insn->size].code, d, base, (s16)offset, 0);
	write_done(e, insn->d, d);
}

static void encode_store(struct encode *e, const struct ir_insn *insn)
{
	bool is_stack = insn->op == IR_OP_STACK_STORE;
	u8 base = is_stack ? BPF_FRAME : read_reg(e, insn->a);
	s32 offset = insn->offset + (is_stack ? e->object_at[insn->index] : 0);
	u8 size = ir_sizes[insn->size].code;

	if (!insn->b)
		put(e, BPF_ST | BPF_MEM | size, base, 0, (s16)offset, (s32)insn->imm);
	else
		put(e, BPF_STX | BPF_MEM | size, base, read_reg(e, insn->b), (s16)offset, 0);
}

static void encode_atomic(struct encode *e, const struct ir_insn *insn)
{
	u8 code = BPF_STX | BPF_ATOMIC | ir_sizes[insn->size].code;
	u8 base = read_reg(e, insn->a);
	u8 operand;

	if (!insn->d) {
		operand = read_reg(e, insn->b);
	} else {
		operand = write_reg(e, insn->d); /* in: the operand; out: the old value */
		fetch(e, operand, insn->b);
	}
	put(e, code, base, operand, (s16)insn->offset, ir_atomics[insn->sub].code);
	if (insn->d)
		write_done(e, insn->d, operand);
}

/* All at once: a move waits while its target is still to be read; r0 breaks cycles. */
static void move_args(struct encode *e, const vreg *args, u32 n)
{
	s8 from[BPF_MAX_ARGS]; /* register from which r1 + i comes; -1: done, or not from one */
	bool is_moved;

	for (u32 i = 0; i < n; i++) {
		from[i] = reg_of(e, args[i]);
		if (from[i] == (s8)(i + 1))
			from[i] = -1;
	}
	do {
		u32 waiting = n;

		is_moved = false;
		for (u32 i = 0; i < n; i++) {
			bool is_read = false;

			for (u32 k = 0; k < n; k++)
				is_read |= k != i && from[k] == (s8)(i + 1);
			if (from[i] < 0)
				continue;
			if (is_read) {
				waiting = i;
				continue;
			}
			put_mov(e, (u8)(i + 1), (u8)from[i]);
			from[i] = -1;
			is_moved = true;
		}
		if (!is_moved && waiting < n) {
			/* Only cycles are left; r0 is no target, so what was in it has moved. */
			put_mov(e, 0, (u8)(waiting + 1));
			for (u32 k = 0; k < n; k++)
				if (from[k] == (s8)(waiting + 1))
					from[k] = 0;
			is_moved = true;
		}
	} while (is_moved);
	for (u32 i = 0; i < n; i++)
		if (reg_of(e, args[i]) < 0)
			fetch(e, (u8)(i + 1), args[i]);
}

static void encode_call(struct encode *e, const struct ir_insn *insn)
{
	move_args(e, &e->lir->args[insn->first_arg], insn->n_args);
	if (insn->op == IR_OP_COMPARE_EXCHANGE) {
		/* The instruction has its expectation and its result in r0. */
		put_imm(e, 0, insn->imm);
		put(e, BPF_STX | BPF_ATOMIC | ir_sizes[insn->size].code, 1, 2, (s16)insn->offset,
		    BPF_CMPXCHG);
	} else {
		put(e, BPF_JMP | BPF_CALL, 0,
		    insn->op == IR_OP_KERNEL_CALL ? BPF_PSEUDO_KFUNC_CALL : 0, 0, (s32)insn->index);
	}
	if (insn->d)
		put_result(e, insn->d, 0);
}

static bool is_bound(u32 condition)
{
	return condition == IR_LT || condition == IR_LE || condition == IR_GT || condition == IR_GE;
}

static void encode_branch(struct encode *e, const struct ir_insn *insn)
{
	u8 code = BPF_JMP | ir_conditions[insn->sub].code;
	u8 a = read_reg(e, insn->a);

	if (insn->b)
		put_jump(e, code | BPF_X, a, read_reg(e, insn->b), 0, insn->index);
	else
		put_jump(e, code | BPF_K, a, 0, (s32)insn->imm, insn->index);
	/*
	 * The verifier of 6.1 (no longer that of 6.12) does not tie a copy to the slot it was
	 * loaded from: what falls through here is in bounds only if the slot is written again.
	 */
	if (!insn->b && is_bound(insn->sub) && reg_of(e, insn->a) < 0 &&
	    !e->alloc->ranges[insn->a].remade)
		write_done(e, insn->a, a);
}

static void encode_context(struct encode *e, const struct ir_insn *insn)
{
	put_result(e, insn->d, 1);
}

static void encode_label(struct encode *e, const struct ir_insn *insn)
{
	e->label_at[insn->index] = e->insns.n;
}

static void encode_jump(struct encode *e, const struct ir_insn *insn)
{
	put_jump(e, BPF_JMP | BPF_JA, 0, 0, 0, insn->index);
}

static void encode_exit(struct encode *e, const struct ir_insn *insn)
{
	put_imm(e, 0, insn->imm);
	put(e, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void (*const encoders[IR_OP_N])(struct encode *e, const struct ir_insn *insn) = {
	[IR_OP_CONTEXT] = encode_context,
	[IR_OP_IMM] = encode_made,
	[IR_OP_MAP] = encode_made,
	[IR_OP_MAP_VALUE] = encode_made,
	[IR_OP_STACK_ADDRESS] = encode_made,
	[IR_OP_MOV] = encode_mov,
	[IR_OP_ALU] = encode_alu,
	[IR_OP_NEG] = encode_alui,
	[IR_OP_BSWAP] = encode_alui,
	[IR_OP_EXTEND] = encode_extend,
	[IR_OP_LOAD] = encode_load,
	[IR_OP_STACK_LOAD] = encode_load,
	[IR_OP_STORE] = encode_store,
	[IR_OP_STACK_STORE] = encode_store,
	[IR_OP_ATOMIC] = encode_atomic,
	[IR_OP_LABEL] = encode_label,
	[IR_OP_JUMP] = encode_jump,
	[IR_OP_BRANCH] = encode_branch,
	[IR_OP_CALL] = encode_call,
	[IR_OP_KERNEL_CALL] = encode_call,
	[IR_OP_COMPARE_EXCHANGE] = encode_call,
	[IR_OP_EXIT] = encode_exit,
};

static u32 lay_out_stack(struct encode *e)
{
	u32 bytes;

	e->object_at = arena_array(e->arena, s32, e->lir->n_objects);
	bytes = lir_lay_out_objects(e->lir, e->alloc, e->arena, e->object_at);
	e->slots_at = -(s32)MIN(bytes, INT16_MAX) - 8;
	return bytes + 8 * e->alloc->n_slots;
}

static int resolve_jumps(struct encode *e, const char **ret_reason)
{
	for (u32 i = 0; i < e->fixups.n; i++) {
		struct bpf_insn *insn = &e->insns.at[e->fixups.at[i].insn];
		s64 distance =
			(s64)e->label_at[e->fixups.at[i].target] - (s64)e->fixups.at[i].insn - 1;

		if (!fits_s16(distance)) {
			*ret_reason = arena_printf(e->arena,
						   "a jump over %lld instructions, %d are possible",
						   (long long)distance, INT16_MAX);
			return -E2BIG;
		}
		insn->off = (s16)distance;
	}
	return 0;
}

int lir_encode(const struct lir *lir, const struct alloc *alloc, struct arena *arena,
	       struct bpf_code *ret_code, const char **ret_reason)
{
	struct encode e = { .lir = lir, .alloc = alloc, .arena = arena };
	u32 stack_bytes = lay_out_stack(&e);
	u32 capacity = lir->insns.n + lir->insns.n / 4 + 16;
	int err;

	if (stack_bytes > BPF_STACK_BYTES) {
		*ret_reason = arena_printf(arena, "%u bytes of stack (%u spilled), %u are possible",
					   stack_bytes, 8 * alloc->n_slots, BPF_STACK_BYTES);
		return -E2BIG;
	}
	e.insns.capacity = e.spans.capacity = capacity;
	e.insns.at = arena_array(arena, struct bpf_insn, capacity);
	e.spans.at = arena_array(arena, struct span, capacity);
	e.label_at = arena_array(arena, u32, lir->n_labels);
	for (u32 i = 0; i < lir->insns.n; i++) {
		e.at = i;
		e.taken = 0;
		e.span = lir->insns.at[i].span;
		encoders[lir->insns.at[i].op](&e, &lir->insns.at[i]);
		if (e.has_failed)
			return -EAGAIN;
	}
	err = resolve_jumps(&e, ret_reason);
	if (err)
		return err;
	*ret_code = (struct bpf_code){ .insns = e.insns.at,
				       .n_insns = e.insns.n,
				       .spans = e.spans.at,
				       .relocs = e.relocs.at,
				       .n_relocs = e.relocs.n,
				       .stack_bytes = stack_bytes,
				       .n_spills = alloc->n_spills };
	return 0;
}
