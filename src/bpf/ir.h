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

/* Newer than the linux/bpf.h of Debian 12 (6.1). */
#ifndef BPF_MEMSX
#define BPF_MEMSX 0x80 /* mode of LDX: sign-extending load, kernel 6.6 */
#endif

#define BPF_STACK_BYTES 512 /* MAX_BPF_STACK of include/linux/filter.h */
#define BPF_FRAME	10  /* r10, the read-only frame pointer */
#define BPF_N_REGS	10  /* r0..r9 can be allocated */
#define BPF_MAX_ARGS	5   /* r1..r5 */

enum ir_op {
	IR_OP_NOP,
	IR_OP_CONTEXT, /* d = the program's argument; only lower.c emits it */
	IR_OP_IMM,     /* d = imm */
	IR_OP_MOV,
	IR_OP_ALU, /* d = a sub b; here and below: b or, where it is 0, imm */
	IR_OP_NEG,
	IR_OP_BSWAP, /* d = the 8 bytes of a in the other order */
	IR_OP_EXTEND,
	IR_OP_LOAD,   /* d = size [a + offset] */
	IR_OP_STORE,  /* size [a + offset] = b */
	IR_OP_ATOMIC, /* d = sub size [a + offset], b */
	IR_OP_MAP,    /* d = map `index` */
	IR_OP_MAP_VALUE,
	IR_OP_STACK_ADDRESS, /* d = address of stack object `index` + offset */
	IR_OP_STACK_LOAD,
	IR_OP_STACK_STORE,
	IR_OP_LABEL, /* label `index` is here */
	IR_OP_JUMP,
	IR_OP_BRANCH,		/* if a sub b goto index */
	IR_OP_CALL,		/* d = helper `index` (args) */
	IR_OP_KERNEL_CALL,	/* the same of a function of the kernel, by its BTF id */
	IR_OP_COMPARE_EXCHANGE, /* d = old of [args[0] + offset], set to args[1] where it was imm */
	IR_OP_EXIT,		/* return imm */
	IR_OP_N
};

struct ir_insn {
	u8 op;	/* enum ir_op */
	u8 sub; /* enum ir_alu, ir_condition or ir_atomic */
	u8 size;
	u8 n_args;
	vreg d, a, b; /* b is 0 in those that do not read it */
	s32 offset;
	u32 index;     /* label, map, stack object, helper */
	u32 first_arg; /* in ir->args */
	s64 imm;
	struct span span;
	bool is_cold;
};

enum ir_op_flags {
	OP_DEF = 1,    /* writes d */
	OP_USE_A = 2,  /* reads a */
	OP_PURE = 8,   /* may be dropped when d is not used */
	OP_JUMP = 16,  /* may go to label `index` */
	OP_END = 32,   /* never goes on to the next instruction */
	OP_STACK = 64, /* names a stack object */
	OP_CALL = 128, /* reads args, clobbers r0..r5 */
};

/* Per opcode: what it reads and writes. */
extern const u8 ir_op_flags[IR_OP_N];
/* What each operation, condition, size and atomic operation is in text and in instructions. */
struct ir_alu_info {
	const char *name;
	u8 code, off; /* off 1: the signed form of BPF_DIV and BPF_MOD */
	bool commutes;
};
struct ir_condition_info {
	const char *name;
	u8 code;
	u8 inverse; /* what holds where it does not; IR_TEST has none */
	u8 swapped; /* a ? b is b swapped a */
};
struct ir_size_info {
	const char *name;
	u8 bytes, code;
	bool is_signed; /* extends the sign on load */
};
struct ir_atomic_info {
	const char *name;
	s32 code;
};
extern const struct ir_alu_info ir_alus[IR_ALU_N];
extern const struct ir_condition_info ir_conditions[IR_CONDITION_N];
extern const struct ir_size_info ir_sizes[IR_S32 + 1];
extern const struct ir_atomic_info ir_atomics[IR_ATOMIC_N];
/* Without "bpf_"; NULL: none of that number is known. */
const char *ir_helper_name(u32 helper);

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

/* Where a use from start to end is over: what enters a loop lasts to the loop's end. */
u32 alloc_end_of(const struct alloc *alloc, u32 start, u32 end);
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
