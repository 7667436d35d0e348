/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The back end: a small IR over virtual registers -> BPF instructions.
 *
 * A builder appends instructions to a struct ir; bpf_compile() checks them,
 * allocates r0..r9 and the stack by linear scan, and encodes.  Virtual registers
 * hold 64 bits, may be assigned many times and need no SSA.  Jumps go forward,
 * except to a label that was placed before (a bounded loop; kernel 5.3 and later).
 * Errors are sticky: the first one is kept, later calls do nothing.
 */
#ifndef EBQL_BPF_BPF_H
#define EBQL_BPF_BPF_H

#include <linux/bpf.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

typedef u32 vreg;  /* 0 is "none" */
typedef u32 label; /* 0 is "none" */
typedef u32 stack_object;

enum ir_alu {
	IR_ADD,
	IR_SUB,
	IR_MUL,
	IR_DIV,	 /* unsigned; x / 0 = 0 as BPF has it: test before */
	IR_MOD,	 /* unsigned; x % 0 = x */
	IR_SDIV, /* signed, toward zero; lowered to unsigned ones where the kernel (< 6.6) has none
		  */
	IR_SMOD, /* sign of the dividend */
	IR_AND,
	IR_OR,
	IR_XOR,
	IR_SHL, /* amounts 0..63; others: the low 6 bits */
	IR_SHR,
	IR_SAR,
	IR_ALU_N
};

enum ir_condition {
	IR_EQ,
	IR_NE,
	IR_LT, /* unsigned */
	IR_LE,
	IR_GT,
	IR_GE,
	IR_SLT, /* signed */
	IR_SLE,
	IR_SGT,
	IR_SGE,
	IR_TEST, /* a & b != 0 */
	IR_CONDITION_N
};
/* What holds where it does not; IR_TEST has none. */
enum ir_condition ir_inverse(enum ir_condition condition);

/* Access sizes; the signed ones extend the sign on load. */
enum ir_size { IR_U8, IR_U16, IR_U32, IR_U64, IR_S8, IR_S16, IR_S32 };

enum ir_atomic {
	IR_ATOMIC_ADD,	     /* no result */
	IR_ATOMIC_FETCH_ADD, /* result: the old value */
	IR_ATOMIC_XCHG,
	IR_ATOMIC_N
};

struct ir;

struct ir *ir_new(struct arena *arena);
/* Everything emitted from now on belongs to this place of the query text. */
void ir_at(struct ir *ir, struct span span);
/*
 * Instructions emitted from now on are (not) on a way that is hardly ever taken: what is
 * used there costs nothing, so registers are kept for the rest.
 */
void ir_cold(struct ir *ir, bool is_cold);
/* A comment shown by ir_print() before the next instruction ("key fd"). */
void ir_note(struct ir *ir, const char *format, ...) PRINTF(2, 3);

vreg ir_reg(struct ir *ir);
/* The context pointer: the program's argument. */
vreg ir_context(struct ir *ir);

void ir_imm(struct ir *ir, vreg d, s64 value);
void ir_mov(struct ir *ir, vreg d, vreg s);
void ir_alu(struct ir *ir, enum ir_alu op, vreg d, vreg a, vreg b);
/* Any 64-bit immediate; one that does not fit 32 bits goes through a register. */
void ir_alui(struct ir *ir, enum ir_alu op, vreg d, vreg a, s64 b);
void ir_neg(struct ir *ir, vreg d, vreg a);
/* The 8 bytes of a in the other order: memory order as a number (little-endian hosts). */
void ir_bswap(struct ir *ir, vreg d, vreg a);
/* Keeps the low 8, 16 or 32 bits, extended by zeros or by the sign. */
void ir_extend(struct ir *ir, vreg d, vreg a, enum ir_size size);

void ir_load(struct ir *ir, vreg d, vreg base, s32 offset, enum ir_size size);
void ir_store(struct ir *ir, vreg base, s32 offset, enum ir_size size, vreg s);
void ir_storei(struct ir *ir, vreg base, s32 offset, enum ir_size size, s32 value);
/* 8 bytes.  d may be 0 for IR_ATOMIC_ADD. */
void ir_atomic(struct ir *ir, enum ir_atomic op, vreg d, vreg base, s32 offset, vreg s);

/*
 * d = the 4 or 8 bytes at base + offset before; they become s where they were `expected`, all
 * at once (BPF_CMPXCHG, kernel 5.12).  Costs what a call costs: r0..r5.
 */
void ir_compare_exchange(struct ir *ir, vreg d, vreg base, s32 offset, enum ir_size size,
			 s32 expected, vreg s);

/* Map `map` (an index into the table given at load time): for helpers, and its value's address
 * (single-element array maps, direct value access, kernel 5.2). */
void ir_map(struct ir *ir, vreg d, u32 map);
void ir_map_value(struct ir *ir, vreg d, u32 map, u32 offset_bytes);

/* An object of the program's stack frame, 8-byte aligned; at most 512 bytes with the spills. */
stack_object ir_stack(struct ir *ir, u32 size_bytes);
void ir_stack_address(struct ir *ir, vreg d, stack_object object, u32 offset_bytes);
void ir_stack_load(struct ir *ir, vreg d, stack_object object, u32 offset_bytes, enum ir_size size);
void ir_stack_store(struct ir *ir, stack_object object, u32 offset_bytes, enum ir_size size,
		    vreg s);
void ir_stack_storei(struct ir *ir, stack_object object, u32 offset_bytes, enum ir_size size,
		     s32 value);

label ir_label(struct ir *ir);
void ir_place(struct ir *ir, label l);
void ir_jump(struct ir *ir, label l);
void ir_branch(struct ir *ir, enum ir_condition condition, vreg a, vreg b, label l);
void ir_branchi(struct ir *ir, enum ir_condition condition, vreg a, s64 b, label l);

/* d may be 0 when the result is not wanted.  Arguments: at most 5. */
void ir_call(struct ir *ir, vreg d, enum bpf_func_id helper, u32 n_args, const vreg *args);
/* The same of a function that the kernel lets programs call (kfunc), by its id in vmlinux' BTF. */
void ir_kernel_call(struct ir *ir, vreg d, u32 btf_id, u32 n_args, const vreg *args);
/* return value; ends the program here. */
void ir_exit(struct ir *ir, s32 value);

/* NULL, or what is wrong: use before definition, a label never placed, a bad size, ... */
const char *ir_check(struct ir *ir);
void ir_print(const struct ir *ir, struct buf *out);

enum bpf_reloc_kind { BPF_RELOC_MAP, BPF_RELOC_MAP_VALUE };

struct bpf_reloc {
	u32 insn; /* the first of the two slots of an LD_IMM64 */
	u32 map;
	enum bpf_reloc_kind kind;
};

struct bpf_code {
	struct bpf_insn *insns; /* map references: src_reg and the value's offset set, fd 0 */
	u32 n_insns;
	struct span *spans; /* one per instruction: {0, 0} where none was set */
	struct bpf_reloc *relocs;
	u32 n_relocs;
	u32 stack_bytes;
	u32 n_spills;
};

struct bpf_features {
	bool has_signed_division; /* BPF_SDIV, SMOD, MOVSX and sign-extending loads: kernel 6.6 */
};

/*
 * 0, or -EINVAL (what was built is wrong: ir_check() says why), -E2BIG (right, but too large: its
 * stack over 512 bytes, or a jump too long).  *ret_reason says it.
 */
int bpf_compile(struct ir *ir, struct arena *arena, const struct bpf_features *features,
		struct bpf_code *ret_code, const char **ret_reason);

/* One instruction a line: number, bytes on demand, mnemonic as bpftool writes it. */
void bpf_disassemble(const struct bpf_code *code, const char *query_text, struct buf *out);

/*
 * BTF blob and line records for BPF_PROG_LOAD, so that the verifier's log and
 * `bpftool prog dump` show the query text beside the instructions.
 */
struct bpf_debug_info {
	void *btf; /* for BPF_BTF_LOAD */
	u32 btf_bytes;
	struct bpf_func_info *funcs;
	u32 n_funcs;
	struct bpf_line_info *lines;
	u32 n_lines;
};
/* program_name: an identifier. */
void bpf_debug_info_build(const struct bpf_code *code, const char *program_name,
			  const char *query_text, struct arena *arena,
			  struct bpf_debug_info *ret_info);

#endif
