/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ir_check(): what the builder could not see in one call.  One pass in order
 * keeps the set of vregs defined on every way to here; at a label the sets of
 * all jumps to it are intersected.  The live ranges of alloc.c rely on it.
 */
#include <string.h>

#include "bpf/ir.h"

struct check {
	struct ir *ir;
	u32 n_words;
	u64 *now;	/* vregs defined here */
	u64 **at_label; /* the set with which forward jumps reach a label; NULL: none so far */
	bool *is_loop;	/* a later jump goes back to this label */
	u64 *unused;	/* sets to use again, linked through their first word */
	bool is_reachable;
	const char *error;
};

PRINTF(2, 3) static void fail(struct check *check, const char *format, ...)
{
	va_list args;

	if (check->error)
		return;
	va_start(args, format);
	check->error = arena_vprintf(check->ir->arena, format, args);
	va_end(args);
}

static u64 *set_new(struct check *check, const u64 *from)
{
	u64 *set = check->unused;

	if (set)
		check->unused = (u64 *)(uintptr_t)set[0];
	else
		set = arena_array(check->ir->arena, u64, check->n_words);
	memcpy(set, from, check->n_words * sizeof(*set));
	return set;
}

static void set_free(struct check *check, u64 *set)
{
	set[0] = (uintptr_t)check->unused;
	check->unused = set;
}

static void set_intersect(struct check *check, u64 *set, const u64 *with)
{
	for (u32 i = 0; i < check->n_words; i++)
		set[i] &= with[i];
}

static void check_use(struct check *check, u32 at, vreg v)
{
	if (!(check->now[v / 64] >> v % 64 & 1))
		fail(check, "instruction %u: v%u is used before it is defined", at, v);
}

static void check_jump_to(struct check *check, u32 at, label l)
{
	u64 *set = check->at_label[l];

	if (check->ir->labels.at[l] > at) {
		if (set)
			set_intersect(check, set, check->now);
		else
			check->at_label[l] = set_new(check, check->now);
		return;
	}
	if (!set) {
		fail(check, "instruction %u: jump back to L%u, which no way from above reaches", at,
		     l);
		return;
	}
	for (u32 i = 0; i < check->n_words; i++)
		if (set[i] & ~check->now[i])
			fail(check, "instruction %u: jump back to L%u with v%u undefined", at, l,
			     64 * i + (u32)__builtin_ctzll(set[i] & ~check->now[i]));
}

static void check_label(struct check *check, label l)
{
	u64 *set = check->at_label[l];

	if (set && check->is_reachable) {
		set_intersect(check, check->now, set);
	} else if (set) {
		memcpy(check->now, set, check->n_words * sizeof(*set));
		check->is_reachable = true;
	}
	if (!check->is_reachable)
		return;
	if (set)
		set_free(check, set);
	if (check->is_loop[l])
		check->at_label[l] = set_new(check, check->now);
}

static void check_insn(struct check *check, u32 at)
{
	const struct ir_insn *insn = &check->ir->insns.at[at];
	u8 flags = ir_op_flags[insn->op];

	if (insn->op == IR_OP_LABEL) {
		check_label(check, insn->index);
		return;
	}
	if (!check->is_reachable)
		return;
	if (flags & OP_USE_A)
		check_use(check, at, insn->a);
	if (insn->b)
		check_use(check, at, insn->b);
	for (u32 i = 0; i < insn->n_args; i++)
		check_use(check, at, check->ir->args.at[insn->first_arg + i]);
	if ((flags & OP_DEF) && insn->d)
		check->now[insn->d / 64] |= 1ull << insn->d % 64;
	if (flags & OP_JUMP)
		check_jump_to(check, at, insn->index);
	if (flags & OP_END)
		check->is_reachable = false;
}

static bool find_loops(struct check *check)
{
	struct ir *ir = check->ir;

	for (u32 i = 0; i < ir->insns.n; i++) {
		const struct ir_insn *insn = &ir->insns.at[i];

		if (!(ir_op_flags[insn->op] & OP_JUMP))
			continue;
		if (ir->labels.at[insn->index] == IR_UNPLACED) {
			fail(check, "instruction %u: label L%u is never placed", i, insn->index);
			return false;
		}
		if (ir->labels.at[insn->index] <= i)
			check->is_loop[insn->index] = true;
	}
	return true;
}

const char *ir_check(struct ir *ir)
{
	struct check check = { .ir = ir, .n_words = (ir->n_vregs + 63) / 64, .is_reachable = true };

	if (ir->error)
		return ir->error;
	check.now = arena_array(ir->arena, u64, check.n_words);
	check.at_label = arena_array(ir->arena, u64 *, ir->labels.n);
	check.is_loop = arena_array(ir->arena, bool, ir->labels.n);
	if (ir->context)
		check.now[ir->context / 64] |= 1ull << ir->context % 64;
	if (!find_loops(&check))
		return check.error;
	for (u32 i = 0; i < ir->insns.n && !check.error; i++)
		check_insn(&check, i);
	if (check.is_reachable)
		fail(&check, "the program does not end with an exit");
	return check.error;
}
