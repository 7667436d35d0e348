/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arithmetic of the lowering, and what all of it writes with: constants are computed, powers of two
 * become shifts and masks, immediates that do not fit 32 bits go through a register, and signed
 * division and sign extension are written out for kernels before 6.6.
 */
#include "bpf/lower.h"

static vreg new_reg(struct lower *lower, bool once)
{
	vec_push(lower->arena, &lower->values, (struct value){ .once = once, .bits = 64 });
	return lower->values.n - 1;
}

vreg lower_reg(struct lower *lower)
{
	return new_reg(lower, true);
}

void lower_emit(struct lower *lower, struct ir_insn insn)
{
	insn.span = lower->span;
	insn.is_cold = lower->is_cold;
	vec_push(lower->arena, &lower->lir->insns, insn);
}

bool lower_const(const struct lower *lower, vreg v, s64 *ret_imm)
{
	if (lower->values.at[v].kind != VALUE_CONST)
		return false;
	*ret_imm = lower->values.at[v].imm;
	return true;
}

vreg lower_follow(const struct lower *lower, vreg v)
{
	vreg alias = lower->values.at[v].alias;

	return alias ? alias : v;
}

static void set_const(struct lower *lower, vreg d, s64 imm)
{
	struct value *value = &lower->values.at[d];

	if (!value->once)
		return;
	value->kind = VALUE_CONST;
	value->imm = imm;
	value->bits = imm ? 64 - (u8)__builtin_clzll((u64)imm) : 0;
}

static void set_bits(struct lower *lower, vreg d, u8 bits)
{
	if (lower->values.at[d].once)
		lower->values.at[d].bits = MIN(bits, lower->values.at[d].bits);
}

void lower_imm(struct lower *lower, vreg d, s64 imm)
{
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_IMM, .d = d, .imm = imm });
	set_const(lower, d, imm);
}

void lower_mov(struct lower *lower, vreg d, vreg a)
{
	const struct value *from;
	struct value *to = &lower->values.at[d];

	a = lower_follow(lower, a);
	from = &lower->values.at[a];
	if (d == a)
		return;
	/* Both are written once: wherever d may be read, a still holds the same. */
	if (to->once && from->once) {
		*to = *from;
		to->alias = a;
		return;
	}
	if (from->kind == VALUE_CONST) {
		lower_imm(lower, d, from->imm);
		return;
	}
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_MOV, .d = d, .a = a });
	set_bits(lower, d, from->bits);
}

void lower_neg(struct lower *lower, vreg d, vreg a)
{
	s64 imm;

	a = lower_follow(lower, a);
	if (lower_const(lower, a, &imm))
		lower_imm(lower, d, (s64)(0 - (u64)imm));
	else
		lower_emit(lower, (struct ir_insn){ .op = IR_OP_NEG, .d = d, .a = a });
}

void lower_extend(struct lower *lower, vreg d, vreg a, u8 size)
{
	u32 bits = 8 * ir_sizes[size].bytes;
	s64 imm;

	a = lower_follow(lower, a);
	if (lower_const(lower, a, &imm)) {
		u64 high = (u64)imm << (64 - bits);

		lower_imm(lower, d,
			  ir_sizes[size].is_signed ? (s64)high >> (64 - bits)
						   : (s64)(high >> (64 - bits)));
		return;
	}
	if (lower->values.at[a].bits <= bits - ir_sizes[size].is_signed || size == IR_U64) {
		lower_mov(lower, d, a);
		return;
	}
	if (ir_sizes[size].is_signed && !lower->features->has_signed_division) {
		vreg t = lower_reg(lower);

		lower_alui(lower, IR_SHL, t, a, 64 - bits);
		lower_alui(lower, IR_SAR, d, t, 64 - bits);
		return;
	}
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_EXTEND, .d = d, .a = a, .size = size });
	if (!ir_sizes[size].is_signed)
		set_bits(lower, d, bits);
}

/* Only with b != 0 for divisions; overflow wraps as on the CPU. */
static s64 compute(u8 op, s64 a, s64 b)
{
	u64 x = (u64)a, y = (u64)b;

	switch (op) {
	case IR_ADD:
		return (s64)(x + y);
	case IR_SUB:
		return (s64)(x - y);
	case IR_MUL:
		return (s64)(x * y);
	case IR_DIV:
		return (s64)(x / y);
	case IR_MOD:
		return (s64)(x % y);
	case IR_SDIV:
		return b == -1 ? (s64)(0 - x) : a / b;
	case IR_SMOD:
		return b == -1 ? 0 : a % b;
	case IR_AND:
		return a & b;
	case IR_OR:
		return a | b;
	case IR_XOR:
		return a ^ b;
	case IR_SHL:
		return (s64)(x << (y & 63));
	case IR_SHR:
		return (s64)(x >> (y & 63));
	case IR_SAR:
		return a >> (y & 63);
	}
	BUG("operation %u", op);
}

/* Signed division ------------------------------------------------------- */

static vreg alui_new(struct lower *lower, u8 op, vreg a, s64 b)
{
	vreg d = lower_reg(lower);

	lower_alui(lower, op, d, a, b);
	return d;
}

static vreg alu_new(struct lower *lower, u8 op, vreg a, vreg b)
{
	vreg d = lower_reg(lower);

	lower_alu(lower, op, d, a, b);
	return d;
}

/* (a ^ sign) - sign: negates where sign is -1, keeps where it is 0. */
static void apply_sign(struct lower *lower, vreg d, vreg a, vreg sign)
{
	lower_alu(lower, IR_SUB, d, alu_new(lower, IR_XOR, a, sign), sign);
}

static vreg absolute(struct lower *lower, vreg a, vreg sign)
{
	vreg d = lower_reg(lower);

	apply_sign(lower, d, a, sign);
	return d;
}

/* Toward zero: add 2^shift - 1 to negative ones before the arithmetic shift. */
static void sdiv_power(struct lower *lower, u8 op, vreg d, vreg a, u32 shift)
{
	vreg sign = alui_new(lower, IR_SAR, a, 63);
	vreg bias = alui_new(lower, IR_SHR, sign, 64 - shift);
	vreg sum = alu_new(lower, IR_ADD, a, bias);

	if (op == IR_SDIV)
		lower_alui(lower, IR_SAR, d, sum, shift);
	else
		lower_alu(lower, IR_SUB, d, a, alui_new(lower, IR_AND, sum, (s64)(~0ull << shift)));
}

/* |a| op |b| unsigned, then the sign: of both for a quotient, of a for a remainder. */
static void sdiv_unsigned(struct lower *lower, u8 op, vreg d, vreg a, vreg b)
{
	vreg sign_a = alui_new(lower, IR_SAR, a, 63);
	vreg sign_b = alui_new(lower, IR_SAR, b, 63);
	vreg x = absolute(lower, a, sign_a);
	vreg y = absolute(lower, b, sign_b);
	vreg q = alu_new(lower, op == IR_SDIV ? IR_DIV : IR_MOD, x, y);

	apply_sign(lower, d, q, op == IR_SDIV ? alu_new(lower, IR_XOR, sign_a, sign_b) : sign_a);
}

/*
 * The kernel's own: x s/ 0 = 0, x s% 0 = x.  Before kernel 6.12
 * INT64_MIN s/ -1 raised a divide error in the JIT's code, so -1 goes around it.
 */
static void sdiv_native(struct lower *lower, u8 op, vreg d, vreg a, vreg b)
{
	label divide = lower->lir->n_labels++, end = lower->lir->n_labels++;
	vreg t = d == b ? new_reg(lower, false) : d; /* written on two ways */

	lower_emit(lower,
		   (struct ir_insn){
			   .op = IR_OP_BRANCH, .sub = IR_NE, .a = b, .imm = -1, .index = divide });
	if (op == IR_SDIV)
		lower_emit(lower, (struct ir_insn){ .op = IR_OP_NEG, .d = t, .a = a });
	else
		lower_emit(lower, (struct ir_insn){ .op = IR_OP_IMM, .d = t });
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_JUMP, .index = end });
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_LABEL, .index = divide });
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_ALU, .sub = op, .d = t, .a = a, .b = b });
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_LABEL, .index = end });
	lower_mov(lower, d, t);
}

static void lower_sdivi(struct lower *lower, u8 op, vreg d, vreg a, s64 b)
{
	u64 size = b < 0 ? 0 - (u64)b : (u64)b;
	bool is_power = (size & (size - 1)) == 0;
	u32 shift = (u32)__builtin_ctzll(size);

	if (b == 1 || b == -1) {
		if (op == IR_SMOD)
			lower_imm(lower, d, 0);
		else if (b == 1)
			lower_mov(lower, d, a);
		else
			lower_neg(lower, d, a);
	} else if (is_power && shift < 63 && (op == IR_SDIV || shift < 32)) {
		if (op == IR_SMOD || b > 0) {
			sdiv_power(lower, op, d, a, shift);
		} else {
			vreg q = lower_reg(lower);

			sdiv_power(lower, op, q, a, shift);
			lower_neg(lower, d, q);
		}
	} else if (lower->features->has_signed_division && fits_s32(b)) {
		lower_emit(lower, (struct ir_insn){
					  .op = IR_OP_ALU, .sub = op, .d = d, .a = a, .imm = b });
	} else {
		vreg t = lower_reg(lower); /* what is computed of it is folded */

		lower_imm(lower, t, b);
		sdiv_unsigned(lower, op, d, a, t);
	}
}

/* Register and register, register and constant --------------------------- */

void lower_alu(struct lower *lower, u8 op, vreg d, vreg a, vreg b)
{
	vreg t = d;
	s64 imm;

	a = lower_follow(lower, a);
	b = lower_follow(lower, b);
	if (lower_const(lower, b, &imm)) {
		lower_alui(lower, op, d, a, imm);
		return;
	}
	if (ir_alus[op].commutes && lower_const(lower, a, &imm)) {
		lower_alui(lower, op, d, b, imm);
		return;
	}
	if (op == IR_SDIV || op == IR_SMOD) {
		if (lower->features->has_signed_division)
			sdiv_native(lower, op, d, a, b);
		else
			sdiv_unsigned(lower, op, d, a, b);
		return;
	}
	/* d = a - d: in place it would lose d.  (-d + a would not do for pointers.) */
	if (d == b && a != d && !ir_alus[op].commutes)
		t = lower_reg(lower);
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_ALU, .sub = op, .d = t, .a = a, .b = b });
	if (t != d)
		lower_mov(lower, d, t);
	if (op == IR_AND)
		set_bits(lower, d, MIN(lower->values.at[a].bits, lower->values.at[b].bits));
	if (op == IR_OR || op == IR_XOR)
		set_bits(lower, d, MAX(lower->values.at[a].bits, lower->values.at[b].bits));
}

static void emit_alui(struct lower *lower, u8 op, vreg d, vreg a, s64 b)
{
	struct ir_insn insn = { .op = IR_OP_ALU, .sub = op, .d = d, .a = a, .imm = b };
	u8 bits = lower->values.at[a].bits;

	if (!fits_s32(b)) {
		insn.b = lower_reg(lower);
		lower_imm(lower, insn.b, b);
	}
	/* As in lower_alu(): d != insn.b, which is new. */
	lower_emit(lower, insn);
	if (op == IR_AND)
		set_bits(lower, d, MIN(bits, b ? 64 - (u8)__builtin_clzll((u64)b) : 0));
	if (op == IR_SHR)
		set_bits(lower, d, bits > b ? bits - (u8)b : 0);
	if (op == IR_DIV)
		set_bits(lower, d, bits);
	if (op == IR_MOD)
		set_bits(lower, d, MIN(bits, 64 - (u8)__builtin_clzll((u64)b)));
}

static void lower_muldiv(struct lower *lower, u8 op, vreg d, vreg a, s64 b)
{
	u64 value = (u64)b;
	bool is_power = (value & (value - 1)) == 0;
	u32 shift = (u32)__builtin_ctzll(value);

	if (is_power && op == IR_MUL)
		lower_alui(lower, IR_SHL, d, a, shift);
	else if (is_power && op == IR_DIV)
		lower_alui(lower, IR_SHR, d, a, shift);
	else if (is_power)
		lower_alui(lower, IR_AND, d, a, (s64)(value - 1));
	else if (op == IR_MUL && b == -1)
		lower_neg(lower, d, a);
	else
		emit_alui(lower, op, d, a, b);
}

static void lower_zero(struct lower *lower, u8 op, vreg d, vreg a)
{
	if (op == IR_MUL || op == IR_DIV || op == IR_SDIV || op == IR_AND)
		lower_imm(lower, d, 0);
	else
		lower_mov(lower, d, a); /* + - | ^ shifts, and x % 0 = x */
}

/* The address of a part of a stack object stays one that is known. */
static bool is_stack_add(struct lower *lower, u8 op, vreg d, vreg a, s64 b)
{
	const struct value *from = &lower->values.at[a];
	struct value *to = &lower->values.at[d];
	s64 offset = from->offset + b;

	if (op != IR_ADD || from->kind != VALUE_STACK || offset < 0 ||
	    offset > lower->ir->objects.at[from->object])
		return false;
	lower_emit(lower, (struct ir_insn){ .op = IR_OP_STACK_ADDRESS,
					    .d = d,
					    .index = from->object,
					    .offset = (s32)offset });
	if (to->once) {
		to->kind = VALUE_STACK;
		to->object = from->object;
		to->offset = (s32)offset;
	}
	return true;
}

void lower_alui(struct lower *lower, u8 op, vreg d, vreg a, s64 b)
{
	s64 imm;

	a = lower_follow(lower, a);
	if (op == IR_SHL || op == IR_SHR || op == IR_SAR)
		b &= 63;
	if (op == IR_SUB && b != INT64_MIN) {
		op = IR_ADD;
		b = -b;
	}
	if (b == 0) {
		lower_zero(lower, op, d, a);
	} else if (lower_const(lower, a, &imm)) {
		lower_imm(lower, d, compute(op, imm, b));
	} else if (op == IR_SDIV || op == IR_SMOD) {
		lower_sdivi(lower, op, d, a, b);
	} else if (op == IR_MUL || op == IR_DIV || op == IR_MOD) {
		lower_muldiv(lower, op, d, a, b);
	} else if (op == IR_AND && b == -1) {
		lower_mov(lower, d, a);
	} else if (op == IR_AND && b == UINT32_MAX) {
		lower_extend(lower, d, a, IR_U32);
	} else if (!is_stack_add(lower, op, d, a, b)) {
		emit_alui(lower, op, d, a, b);
	}
}
