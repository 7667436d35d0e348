/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Word expressions -> registers.  What was computed before on every way to this
 * point is reused (memos), which shares loads and helper calls.
 */
#include "gen/internal.h"

/* A condition as 0 or 1, or NULL. */
static vreg truth_value(struct gen *g, const struct expr *e, label null)
{
	label yes = ir_label(g->ir), no = ir_label(g->ir), end = ir_label(g->ir);
	vreg v = ir_reg(g->ir);
	u32 fork = gen_fork(g);

	gen_condition(g, e, yes, no, no, yes);
	ir_place(g->ir, yes);
	ir_imm(g->ir, v, 1);
	ir_jump(g->ir, end);
	ir_place(g->ir, no);
	gen_join(g, fork);
	if (e->nullable) {
		/* Not true: false, or NULL?  Once more, with NULL leading elsewhere. */
		bool was_recount = g->is_recount;
		label is_false = ir_label(g->ir), unknown = ir_label(g->ir);

		g->is_recount = true;
		gen_condition(g, e, unknown, is_false, unknown, unknown);
		g->is_recount = was_recount;
		ir_place(g->ir, unknown);
		ir_jump(g->ir, null);
		ir_place(g->ir, is_false);
		gen_join(g, fork);
	}
	ir_imm(g->ir, v, 0);
	ir_place(g->ir, end);
	return v;
}

/* u64 results of 2^63 and more where the CASE as a whole is signed: refused, counted. */
static void case_result(struct gen *g, const struct expr *e, const struct expr *result, vreg v,
			label null)
{
	vreg r;

	if (result->kind == EXPR_NULL) {
		ir_jump(g->ir, null);
		return;
	}
	r = gen_value(g, result, null);
	if (e->may_overflow && result->hi > INT64_MAX)
		gen_requirei(g, IR_SGE, r, 0, null);
	ir_mov(g->ir, v, r);
}

/*
 * What a condition computes is there for its arm and for those behind it.  Not so behind the CASE:
 * what the verifier learned of it in each arm would be as many ways through all that follows.
 */
static vreg case_value(struct gen *g, const struct expr *e, label null)
{
	vreg v = ir_reg(g->ir);
	label end = ir_label(g->ir);
	u32 before = gen_fork(g), fork = before;

	for (u32 i = 0; i + 1 < e->n_args; i += 2) {
		label then = ir_label(g->ir), otherwise = ir_label(g->ir);

		gen_condition(g, e->args[i], then, otherwise, otherwise, then);
		if (!gen_is_straight(g, e->args[i]))
			gen_join(g, fork);
		fork = gen_fork(g);
		ir_place(g->ir, then);
		case_result(g, e, e->args[i + 1], v, null);
		ir_jump(g->ir, end);
		ir_place(g->ir, otherwise);
		gen_join(g, fork);
	}
	case_result(g, e, e->args[e->n_args - 1], v, null);
	gen_join(g, before);
	ir_place(g->ir, end);
	return v;
}

static bool is_condition(const struct expr *e)
{
	return e->kind == EXPR_IN || e->kind == EXPR_LIKE || e->kind == EXPR_IS_NULL ||
	       (e->kind == EXPR_OP && ((e->op >= OP_EQ && e->op <= OP_OR) || e->op == OP_NOT));
}

static vreg no_value(struct gen *g, label null)
{
	vreg v = gen_imm(g, 0);

	ir_jump(g->ir, null);
	return v;
}

static vreg compute(struct gen *g, const struct expr *e, label null)
{
	if (is_condition(e))
		return truth_value(g, e, null);
	switch (e->kind) {
	case EXPR_NULL:
		return no_value(g, null);
	case EXPR_INTEGER:
		return gen_imm(g, (s64)(u64)e->integer);
	case EXPR_FIELD:
		return gen_field(g, e, null);
	case EXPR_SYSTEM:
		return gen_system(g, e, null);
	case EXPR_MEMBER:
		return gen_member(g, e, null);
	case EXPR_UNION:
		return gen_value(g, gen_branch_of(g, e), null);
	case EXPR_CASE:
		return case_value(g, e, null);
	case EXPR_OP:
		return expr_is_null(e) ? no_value(g, null) : gen_arithmetic(g, e, null);
	case EXPR_REAL:
	case EXPR_TEXT:
	case EXPR_IN:
	case EXPR_LIKE:
	case EXPR_IS_NULL:
	case EXPR_CALL:
	case EXPR_CAST:
	case EXPR_MATCH:
	case EXPR_KEY:
	case EXPR_AGGREGATE:
	case EXPR_OVER:
	case EXPR_COLUMN:
	case EXPR_SUBQUERY:
	case EXPR_EXISTS:
	case EXPR_IN_SELECT:
	case EXPR_STATISTIC:
	case EXPR_WINDOW_START:
	case EXPR_WINDOW_END:
	case EXPR_OTHER:
	case EXPR_RUNNING:
		break; /* conditions came before; texts go by gen_text(), the rest to user space */
	}
	BUG("expression kind %d has no kernel form", e->kind);
}

vreg gen_value(struct gen *g, const struct expr *e, label null)
{
	const struct stored *stored = gen_stored(g, e);
	vreg v;

	for (u32 i = 0; i < g->memos.n; i++) {
		const struct memo *m = &g->memos.at[i];

		if ((m->reg || !gen_is_text(e)) && expr_equal(m->expr, e))
			return m->reg ? m->reg
				      : gen_stack_load(g, m->object, 0, gen_size_of(e->type));
	}
	if (stored)
		gen_stored_test(g, stored, null);
	v = stored ? stored->reg : compute(g, e, null);
	if (!expr_is_constant(e))
		vec_push(g->arena, &g->memos, (struct memo){ .expr = e, .reg = v });
	return v;
}
