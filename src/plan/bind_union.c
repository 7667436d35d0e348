/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * UNION ALL: branches -> one tree and one set of columns.  A column is an
 * EXPR_UNION with an argument for every source whose event makes a row appear;
 * unions within unions come to one level.
 */
#include <string.h>

#include "plan/bind.h"

/* The select whose column first differs from those before it. */
static u32 first_other(struct expr *const *exprs, u32 n, struct expr *column)
{
	struct expr trial = *column;

	for (u32 i = 1; i < n; i++) {
		trial.may_overflow = false;
		if (!expr_common(exprs, i + 1, &trial) || trial.may_overflow)
			return i;
	}
	return 0;
}

/* One branch can be negative, another 2^63 and more: no 64 bits hold both. */
static bool mixed_signs(struct scope *scope, const struct expr *column, const struct expr *e,
			struct span span)
{
	return diag_refuse(
		scope->diags, "type-mismatch", span,
		"column \"%s\" of UNION can be negative in one select, and 2^63 and "
		"more %s" HINT
		"no 64 bits hold both (CAST keeps the range): x & 0x7fffffffffffffff keeps the "
		"unsigned one below 2^63",
		column->name, e->hi > INT64_MAX ? "here" : "in another");
}

bool bind_union_type(struct scope *scope, struct expr *const *exprs, u32 n,
		     const struct span *spans, bool is_word, struct expr *column)
{
	bool is_good = expr_common(exprs, n, column);
	u32 other;

	/* SQLite has values of each row's own type. */
	column->may_overflow &= is_word;
	if (is_good && !column->may_overflow)
		return true;
	other = first_other(exprs, n, column);
	if (column->may_overflow)
		return mixed_signs(scope, column, exprs[other], spans[other]);
	return diag_refuse(
		scope->diags, "type-mismatch", spans[other],
		"column \"%s\" of UNION is of another type here" HINT
		"all selects of a UNION give texts, or numbers, in one place; CAST changes the "
		"kind",
		column->name);
}

/* Column `number` of all branches as one. */
static struct expr *union_column(struct scope *scope, const struct derived *branches, u32 n,
				 const struct span *spans, u32 number)
{
	struct expr *column = expr_new(scope->arena, EXPR_UNION, spans[0]);
	struct expr **exprs = arena_array(scope->arena, struct expr *, n);
	VEC(struct expr *) args = { 0 };
	trigger_vec all = { 0 };
	u32 nodes = 1;

	column->name = branches[0].columns[number].name;
	for (u32 i = 0; i < n; i++) {
		struct expr *e = branches[i].columns[number].expr;
		trigger_vec triggers = { 0 };

		exprs[i] = e;
		column->nullable |= e->nullable || e->type.kind == TYPE_NULL;
		plan_triggers(branches[i].tree, scope->arena, &triggers);
		for (u32 k = 0; k < triggers.n; k++) {
			vec_push(scope->arena, &args, expr_branch(scope->arena, e, triggers.at[k]));
			vec_push(scope->arena, &all, triggers.at[k]);
		}
		nodes += MAX(e->n_nodes, 1u) * triggers.n;
	}
	if (!bind_union_type(scope, exprs, n, spans, true, column))
		return NULL;
	column->args = args.at;
	column->n_args = args.n;
	column->branches = all.at;
	column->n_nodes = nodes;
	return column;
}

static struct plan *union_tree(struct scope *scope, const struct derived *branches, u32 n)
{
	struct plan *tree = bind_plan_new(scope, PLAN_UNION, NULL);
	VEC(struct plan *) inputs = { 0 };

	for (u32 i = 0; i < n; i++) {
		struct plan *branch = branches[i].tree;

		if (branch->kind != PLAN_UNION) {
			vec_push(scope->arena, &inputs, branch);
			continue;
		}
		for (u32 k = 0; k < branch->n_inputs; k++)
			vec_push(scope->arena, &inputs, branch->inputs[k]);
	}
	tree->inputs = inputs.at;
	tree->n_inputs = inputs.n;
	return tree;
}

bool bind_same_width(struct scope *scope, const struct derived *branches, u32 n,
		     const struct span *spans)
{
	for (u32 i = 1; i < n; i++)
		if (branches[i].n_columns != branches[0].n_columns)
			return diag_refuse(
				scope->diags, "union-columns", spans[i],
				"this select has %u columns, the first one of the UNION %u" HINT
				"columns of a UNION belong together by their place; NULL fills one",
				branches[i].n_columns, branches[0].n_columns);
	return true;
}

bool bind_union(struct scope *scope, const struct derived *branches, u32 n,
		const struct span *spans, struct derived *ret_union)
{
	u32 n_columns = branches[0].n_columns;

	if (!bind_same_width(scope, branches, n, spans))
		return false;
	*ret_union = (struct derived){
		.tree = union_tree(scope, branches, n),
		.columns = arena_array(scope->arena, struct item, n_columns),
		.n_columns = n_columns,
	};
	for (u32 i = 0; bind_one_clock(ret_union->tree) && i < n; i++)
		bind_real_items(branches[i].columns, n_columns);
	for (u32 i = 0; i < n_columns; i++) {
		struct expr *e = union_column(scope, branches, n, spans, i);

		if (!e)
			return false;
		ret_union->columns[i] = (struct item){ .name = e->name, .expr = e };
	}
	return true;
}
