/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * UNION, UNION ALL, EXCEPT, INTERSECT: selects -> PLAN_SET; UNION ALL of rows of streams is
 * opened, as one PLAN_UNION (bind_union.c).
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

static bool sort_set(struct scope *scope, const item_vec *columns, struct sort_key *ret_keys)
{
	const struct ast_select *s = scope->select;

	for (u32 i = 0; i < s->order_by.n; i++) {
		const struct ast *ast = s->order_by.at[i].expr;
		struct expr *e = NULL;

		if (ast->kind == AST_INTEGER && ast->integer >= 1 && ast->integer <= columns->n)
			e = columns->at[ast->integer - 1].expr;
		for (u32 k = 0; ast->kind == AST_NAME && ast->n_parts == 1 && k < columns->n; k++)
			if (!e && strcasecmp(columns->at[k].name, ast->parts[0]) == 0)
				e = columns->at[k].expr;
		if (!e)
			return diag_refuse(scope->diags, "unknown-column", ast->span,
					   "ORDER BY behind UNION, EXCEPT or INTERSECT takes a "
					   "column of the first select" HINT
					   "name it there: SELECT ... AS x");
		ret_keys[i] = (struct sort_key){ e, s->order_by.at[i].is_descending,
						 s->order_by.at[i].nulls };
	}
	return true;
}

/* The columns of all arms, each in the type that they have in common. */
static struct plan *set_new(struct scope *scope, const struct arm *arms, u32 n,
			    const struct span *spans)
{
	struct plan *p = bind_plan_new(scope, PLAN_SET, NULL);
	struct derived *outputs = arena_array(scope->arena, struct derived, n);
	struct expr **all = arena_array(scope->arena, struct expr *, n);

	p->inputs = arena_array(scope->arena, struct plan *, n);
	p->n_inputs = n;
	p->set.ops = arena_array(scope->arena, enum ast_compound_op, n);
	p->set.relation = scope->shared->n_relations++;
	for (u32 i = 0; i < n; i++) {
		item_vec columns = { 0 };

		p->inputs[i] = arms[i].chain;
		if (i)
			p->set.ops[i] = scope->select->compound.at[i - 1].op;
		bind_output(scope, arms[i].chain, p->set.relation, spans[i], &columns);
		outputs[i] = (struct derived){ NULL, columns.at, columns.n };
	}
	if (!bind_same_width(scope, outputs, n, spans))
		return NULL;
	p->set.columns = outputs[0].columns;
	p->set.n_columns = outputs[0].n_columns;
	for (u32 k = 0; k < p->set.n_columns; k++) {
		for (u32 i = 0; i < n; i++)
			all[i] = outputs[i].columns[k].expr;
		if (!bind_union_type(scope, all, n, spans, false, all[0]))
			return NULL;
	}
	return p;
}

static bool is_union_of_rows(const struct ast_select *s, const struct arm *arms)
{
	for (u32 i = 0; i <= s->compound.n; i++) {
		if (!arms[i].is_open || (i && s->compound.at[i - 1].op != AST_UNION_ALL))
			return false;
		for (u32 k = 0; k < arms[i].rows.n_columns; k++)
			if (arms[i].rows.columns[k].expr->is_user_only)
				return false;
	}
	return true;
}

/* Behind the last arm stands what is of the whole: the arms have no ORDER BY of their own. */
bool bind_arms(struct scope *scope, struct arm *ret_arm)
{
	const struct ast_select *s = scope->select;
	u32 n = 1 + s->compound.n;
	struct derived *branches = arena_array(scope->arena, struct derived, n);
	struct arm *arms = arena_array(scope->arena, struct arm, n);
	struct span *spans = arena_array(scope->arena, struct span, n);
	item_vec columns = { 0 };
	struct sort_key *keys;
	struct plan *chain;

	for (u32 i = 0; i < n; i++) {
		struct scope arm = bind_scope(scope, i ? s->compound.at[i - 1].select : s);
		struct ast_select *own = arena_new(scope->arena, struct ast_select);

		arm.outer = scope->outer;
		*own = *arm.select;
		own->order_by.n = own->compound.n = 0;
		own->limit = own->offset = NULL;
		arm.select = own;
		spans[i] = own->span;
		if (!bind_arm(&arm, &arms[i]))
			return false;
		branches[i] = arms[i].rows;
	}
	if (is_union_of_rows(s, arms)) {
		if (!bind_union(scope, branches, n, spans, &ret_arm->rows))
			return false;
		ret_arm->is_open = !s->order_by.n && !s->limit && !s->offset;
		chain = bind_plan_new(scope, PLAN_PROJECT, ret_arm->rows.tree);
		chain->project.items = columns.at = ret_arm->rows.columns;
		chain->project.n_items = columns.n = ret_arm->rows.n_columns;
	} else {
		chain = set_new(scope, arms, n, spans);
		if (!chain)
			return false;
		bind_output(scope, chain, chain->set.relation, s->span, &columns);
	}
	keys = arena_array(scope->arena, struct sort_key, s->order_by.n);
	if (!sort_set(scope, &columns, keys))
		return false;
	ret_arm->chain = bind_add_order(scope, chain, keys, s->order_by.n);
	return ret_arm->chain;
}
