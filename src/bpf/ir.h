/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The inside of the IR, for the passes of this folder and their tests.
 *
 *   ir.c     builder calls        -> struct ir
 *   check.c  struct ir            -> NULL or what is wrong
 *   lower.c  struct ir            -> struct lir: reachable, folded, only what the kernel has
 *   alloc.c  struct lir           -> a register, a stack slot or a recipe per vreg
 *   frame.c  struct lir           -> a place in the frame for each stack object
 *   encode.c struct lir + alloc   -> struct bpf_code
 */
#ifndef EBQL_BPF_IR_H
#define EBQL_BPF_IR_H

#include "bpf/bpf.h"
#include "bpf/uapi.h"

enum ir_op {
	IR_OP_NOP,
	IR_OP_CONTEXT, /* d = the program's argument; only lower.c emits it */
	IR_OP_IMM,     /* d = imm */
	IR_OP_MOV,
	IR_OP_ALU,  /* d = a sub b */
	IR_OP_ALUI, /* d = a sub imm */
	IR_OP_NEG,
	IR_OP_BSWAP, /* d = the 8 bytes of a in the other order */
	IR_OP_EXTEND,
	IR_OP_LOAD,   /* d = size [a + offset] */
	IR_OP_STORE,  /* size [a + offset] = b */
	IR_OP_STOREI, /* size [a + offset] = imm */
	IR_OP_ATOMIC, /* d = sub size [a + offset], b */
	IR_OP_MAP,    /* d = map `index` */
	IR_OP_MAP_VALUE,
	IR_OP_STACK_ADDRESS, /* d = address of stack object `index` + offset */
	IR_OP_STACK_LOAD,
	IR_OP_STACK_STORE,
	IR_OP_STACK_STOREI,
	IR_OP_LABEL, /* label `index` is here */
	IR_OP_JUMP,
	IR_OP_BRANCH,  /* if a sub b goto index */
	IR_OP_BRANCHI, /* if a sub imm goto index */
	IR_OP_CALL,    /* d = helper `index` (args) */
	IR_OP_CALL_KERNEL,
	IR_OP_COMPARE_EXCHANGE, /* d = old of [args[0] + offset], set to args[1] where it was imm */
	IR_OP_EXIT,		/* return imm */
	IR_OP_N
};

struct ir_insn {
	u8 op;	/* enum ir_op */
	u8 sub; /* enum ir_alu, ir_condition or ir_atomic */
	u8 size;
	u8 n_args;
	vreg d, a, b;
	s32 offset;
	u32 index;     /* label, map, stack object, helper, BTF id */
	u32 first_arg; /* in ir->args */
	s64 imm;
	struct span span;
	bool is_cold;
};

enum ir_op_flags {
	OP_DEF = 1,    /* writes d */
	OP_USE_A = 2,  /* reads a */
	OP_USE_B = 4,  /* reads b */
	OP_PURE = 8,   /* may be dropped when d is not used */
	OP_JUMP = 16,  /* may go to label `index` */
	OP_END = 32,   /* never goes on to the next instruction */
	OP_STACK = 64, /* names a stack object */
	OP_CALL = 128, /* reads args, clobbers r0..r5 */
};

/* Per opcode: what it reads and writes. */
extern const u8 ir_op_flags[IR_OP_N];
/* Access size in bytes, and whether it extends the sign. */
extern const u8 ir_size_bytes[IR_S32 + 1];
extern const bool ir_alu_commutes[IR_ALU_N];

static inline bool ir_size_signed(u8 size)
{
	return size >= IR_S8;
}

static inline bool fits_s32(s64 value)
{
	return value == (s32)value;
}

static inline bool fits_s16(s64 value)
{
	return value == (s16)value;
}

struct ir_note {
	u32 insn; /* shown before this instruction */
	const char *text;
};

#define IR_UNPLACED UINT32_MAX

struct ir {
	struct arena *arena;
	VEC(struct ir_insn) insns;
	VEC(vreg) args;
	VEC(u32) labels;  /* where each is placed; [0] is "none" */
	VEC(u32) objects; /* sizes in bytes */
	VEC(struct ir_note) notes;
	u32 n_vregs; /* one more than the highest number in use */
	vreg context;
	struct span span;
	bool is_cold;
	const char *error;
	bool is_too_large; /* the error is that a stack object is larger than any stack */
};

/* Lowered: same instructions, only reachable ones, nothing the kernel lacks. */
struct lir {
	struct arena *arena;
	VEC(struct ir_insn) insns;
	vreg *args;
	u32 n_vregs, n_labels;
	u32 n_objects;
	const u32 *object_bytes;
};

void ir_lower(struct ir *ir, struct arena *arena, const struct bpf_features *features,
	      struct lir *ret_lir);
/* Drops what has no effect; lower.c calls it last. */
void lir_simplify(struct lir *lir);

#define ALLOC_NONE UINT32_MAX

/* Where a vreg lives for its whole range: a register, a stack slot, or nowhere (made anew). */
struct alloc_range {
	u32 start, end; /* 2 * insn for a read, + 1 for a write; start ALLOC_NONE: never defined */
	u32 cost;	/* what keeping it out of a register costs, loops weighted */
	u32 def;	/* the only instruction that defines it when `once` */
	s8 reg;		/* -1: not in a register */
	s8 hint;	/* wanted by the call that ends it; -1: none */
	u8 slot;	/* spill slot when reg < 0 and not remade */
	bool once, remade, crosses;
};

/* Instructions from a label to the last jump back to it. */
struct loop {
	u32 start, end;
};

struct alloc {
	struct alloc_range *ranges; /* [n_vregs] */
	VEC(struct loop) loops;
	u16 *busy; /* per instruction: registers in use; NULL when nothing spilled */
	u32 n_slots, n_spills;
};

/* Registers of `reserved` (a mask) are left for scratch. */
void lir_allocate(const struct lir *lir, struct arena *arena, u16 reserved,
		  struct alloc *ret_alloc);

/* frame.c: where each stack object begins, below the frame pointer; the bytes of all. */
u32 lir_lay_out_objects(const struct lir *lir, const struct alloc *alloc, struct arena *arena,
			s32 *ret_at);

/* -EAGAIN: no scratch register was free, allocate again with two reserved. */
int lir_encode(const struct lir *lir, const struct alloc *alloc, struct arena *arena,
	       struct bpf_code *ret_code, const char **ret_reason);

#endif
