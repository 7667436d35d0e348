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
		if (!e) {
			diag_hint(scope->diags,
				  diag_error(scope->diags, "unknown-column", ast->span,
					     "ORDER BY behind UNION, EXCEPT or INTERSECT takes a "
					     "column of the first select"),
				  "name it there: SELECT ... AS x");
			return false;
		}
		ret_keys[i] = (struct sort_key){ e, s->order_by.at[i].is_descending,
						 s->order_by.at[i].nulls };
	}
	return true;
}

/* The columns of all arms, each in the type that they have in common. */
static bool set_columns(struct scope *scope, const struct arm *arms, u32 n,
			const struct span *spans, struct plan *set)
{
	item_vec *columns = arena_array(scope->arena, item_vec, n);

	for (u32 i = 0; i < n; i++) {
		bind_output(scope, arms[i].chain, set->set.relation, spans[i], &columns[i]);
		if (columns[i].n == columns[0].n)
			continue;
		diag_hint(scope->diags,
			  diag_error(scope->diags, "union-columns", spans[i],
				     "this select has %u columns, the first one of the UNION %u",
				     columns[i].n, columns[0].n),
			  "columns of a UNION belong together by their place; NULL fills one");
		return false;
	}
	set->set.n_columns = columns[0].n;
	set->set.columns = columns[0].at;
	for (u32 k = 0; k < columns[0].n; k++) {
		struct expr **all = arena_array(scope->arena, struct expr *, n);

		for (u32 i = 0; i < n; i++)
			all[i] = columns[i].at[k].expr;
		if (!bind_union_type(scope, all, n, spans, false, columns[0].at[k].expr))
			return false;
	}
	return true;
}

static struct plan *set_new(struct scope *scope, const struct arm *arms, u32 n,
			    const struct span *spans)
{
	const struct ast_select *s = scope->select;
	struct plan *p = bind_plan_new(scope, PLAN_SET, NULL);
	struct sort_key *keys = arena_array(scope->arena, struct sort_key, s->order_by.n);
	item_vec columns = { 0 };

	p->inputs = arena_array(scope->arena, struct plan *, n);
	p->n_inputs = n;
	p->set.ops = arena_array(scope->arena, enum ast_compound_op, n);
	p->set.relation = scope->shared->n_relations++;
	for (u32 i = 0; i < n; i++) {
		p->inputs[i] = arms[i].chain;
		if (i)
			p->set.ops[i] = s->compound.at[i - 1].op;
	}
	if (!set_columns(scope, arms, n, spans, p))
		return NULL;
	bind_output(scope, p, p->set.relation, s->span, &columns);
	if (!sort_set(scope, &columns, keys))
		return NULL;
	return bind_add_limit(scope, bind_add_sort(scope, p, keys, s->order_by.n));
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
	struct derived *branches = arena_array(scope->arena, struct derived, n), all;
	struct arm *arms = arena_array(scope->arena, struct arm, n);
	struct span *spans = arena_array(scope->arena, struct span, n);

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
	if (!is_union_of_rows(s, arms)) {
		ret_arm->chain = set_new(scope, arms, n, spans);
		return ret_arm->chain != NULL;
	}
	if (!bind_union(scope, branches, n, spans, &all))
		return false;
	ret_arm->rows = all;
	ret_arm->is_open = !s->order_by.n && !s->limit && !s->offset;
	ret_arm->chain = bind_plan_new(scope, PLAN_PROJECT, all.tree);
	ret_arm->chain->project.items = all.columns;
	ret_arm->chain->project.n_items = all.n_columns;
	if (ret_arm->is_open)
		return true;
	/* Its columns are those of the projection below. */
	item_vec columns = { all.columns, all.n_columns, all.n_columns };
	struct sort_key *keys = arena_array(scope->arena, struct sort_key, s->order_by.n);

	if (!sort_set(scope, &columns, keys))
		return false;
	ret_arm->chain =
		bind_add_limit(scope, bind_add_sort(scope, ret_arm->chain, keys, s->order_by.n));
	return ret_arm->chain != NULL;
}
