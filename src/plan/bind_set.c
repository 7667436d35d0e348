/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * UNION, UNION ALL, EXCEPT, INTERSECT: selects -> PLAN_SET.  UNION ALL of rows of streams is
 * opened, as one PLAN_UNION: a column of it is an EXPR_UNION with an argument for every source
 * whose event makes a row appear; unions within unions come to one level.
 */
#include <strings.h>

#include "plan/bind.h"

/* SQLite's limit. */
#define SELECTS_MAX 500u

struct arms {
	struct scope *scope;
	struct arm *at;
	u32 n;
};

/* --- Columns --- */

/* Have all as many columns as the first? */
static bool is_same_width(const struct arms *arms)
{
	u32 n = arms->at[0].columns.n;

	for (u32 i = 1; i < arms->n; i++)
		if (arms->at[i].columns.n != n)
			return diag_refuse(
				arms->scope->diags, "union-columns", arms->at[i].span,
				"this select has %u columns, the first one of the UNION %u" HINT
				"columns of a UNION belong together by their place; NULL fills one",
				arms->at[i].columns.n, n);
	return true;
}

/* The select whose column first differs from those before it. */
static u32 first_other(struct expr *const *exprs, u32 n, const struct expr *column)
{
	struct expr trial = *column;

	for (u32 i = 1; i < n; i++) {
		trial.may_overflow = false;
		if (!expr_common(exprs, i + 1, &trial) || trial.may_overflow)
			return i;
	}
	return 0;
}

/*
 * Column `number` of all arms: the type that they have in common; is_word: 64 bits must hold all of
 * its values.
 */
static bool set_type(const struct arms *arms, u32 number, bool is_word, struct expr *column)
{
	struct expr **exprs = arena_array(arms->scope->arena, struct expr *, arms->n);
	bool is_good;
	u32 other;

	for (u32 i = 0; i < arms->n; i++)
		exprs[i] = arms->at[i].columns.at[number].expr;
	is_good = expr_common(exprs, arms->n, column);
	/* SQLite has values of each row's own type. */
	column->may_overflow &= is_word;
	if (is_good && !column->may_overflow)
		return true;
	other = first_other(exprs, arms->n, column);
	if (column->may_overflow)
		return diag_refuse(
			arms->scope->diags, "type-mismatch", arms->at[other].span,
			"column \"%s\" of UNION can be negative in one select, and 2^63 and "
			"more %s" HINT
			"no 64 bits hold both (CAST keeps the range): x & 0x7fffffffffffffff keeps "
			"the unsigned one below 2^63",
			column->name, exprs[other]->hi > INT64_MAX ? "here" : "in another");
	return diag_refuse(
		arms->scope->diags, "type-mismatch", arms->at[other].span,
		"column \"%s\" of UNION is of another type here" HINT
		"all selects of a UNION give texts, or numbers, in one place; CAST changes the "
		"kind",
		column->name);
}

/* --- UNION ALL of rows of streams --- */

static bool is_union_of_rows(const struct ast_select *s, const struct arm *arms)
{
	for (u32 i = 0; i <= s->compound.n; i++) {
		if (!arms[i].is_open || (i && s->compound.at[i - 1].op != AST_UNION_ALL))
			return false;
		for (u32 k = 0; k < arms[i].columns.n; k++)
			if (arms[i].columns.at[k].expr->is_user_only)
				return false;
	}
	return true;
}

static struct expr *union_column(const struct arms *arms, u32 number)
{
	const struct arm *first = &arms->at[0];
	struct arena *arena = arms->scope->arena;
	struct expr *column = expr_new(arena, EXPR_UNION, first->span);
	trigger_vec all = { 0 };
	expr_vec args = { 0 };
	u32 nodes = 1;

	column->name = first->columns.at[number].name;
	for (u32 i = 0; i < arms->n; i++) {
		struct expr *e = arms->at[i].columns.at[number].expr;
		u32 from = all.n;

		column->nullable |= e->nullable || e->type.kind == TYPE_NULL;
		plan_triggers(arms->at[i].tree, arena, &all);
		for (u32 k = from; k < all.n; k++)
			vec_push(arena, &args, expr_branch(arena, e, all.at[k]));
		nodes += MAX(e->n_nodes, 1u) * (all.n - from);
	}
	if (!set_type(arms, number, true, column))
		return NULL;
	column->args = args.at;
	column->n_args = args.n;
	column->branches = all.at;
	column->n_nodes = nodes;
	return column;
}

static struct plan *union_tree(const struct arms *arms)
{
	struct scope *scope = arms->scope;
	struct plan *tree = plan_new(scope->arena, PLAN_UNION, scope->select->span, NULL);
	VEC(struct plan *) inputs = { 0 };

	for (u32 i = 0; i < arms->n; i++) {
		struct plan *branch = arms->at[i].tree;

		if (branch->kind != PLAN_UNION)
			vec_push(scope->arena, &inputs, branch);
		for (u32 k = 0; k < branch->n_inputs; k++)
			vec_push(scope->arena, &inputs, branch->inputs[k]);
	}
	tree->inputs = inputs.at;
	tree->n_inputs = inputs.n;
	return tree;
}

static struct plan *union_new(const struct arms *arms, struct arm *ret_arm)
{
	struct arena *arena = arms->scope->arena;
	struct plan *tree = union_tree(arms), *chain;
	u32 n = arms->at[0].columns.n;

	if (!is_same_width(arms))
		return NULL;
	for (u32 i = 0; bind_one_clock(tree) && i < arms->n; i++)
		bind_real_items(&arms->at[i].columns);
	for (u32 i = 0; i < n; i++) {
		struct expr *e = union_column(arms, i);

		if (!e)
			return NULL;
		vec_push(arena, &ret_arm->columns, (struct item){ e->name, e });
	}
	ret_arm->tree = tree;
	chain = plan_new(arena, PLAN_PROJECT, tree->span, tree);
	chain->project = (struct plan_project){ ret_arm->columns.at, n };
	return chain;
}

/* --- What only SQLite does --- */

static struct plan *set_new(const struct arms *arms)
{
	struct scope *scope = arms->scope;
	struct plan *p = plan_new(scope->arena, PLAN_SET, scope->select->span, NULL);
	const item_vec *first = &arms->at[0].columns;

	if (arms->n > SELECTS_MAX)
		return diag_refuse(scope->diags, "too-deep", arms->at[SELECTS_MAX].span,
				   "a UNION has at most %u selects, and VALUES as many rows" HINT
				   "a file takes more: FROM 'FILE.csv'",
				   SELECTS_MAX);
	p->inputs = arena_array(scope->arena, struct plan *, arms->n);
	p->n_inputs = arms->n;
	p->set.ops = arena_array(scope->arena, enum ast_compound_op, arms->n);
	p->set.relation = scope->shared->n_relations++;
	for (u32 i = 0; i < arms->n; i++) {
		struct arm *arm = &arms->at[i];

		p->inputs[i] = arm->chain;
		if (i)
			p->set.ops[i] = scope->select->compound.at[i - 1].op;
		arm->columns = (item_vec){ 0 };
		bind_output(scope, arm->chain, p->set.relation, arm->span, &arm->columns);
	}
	if (!is_same_width(arms))
		return NULL;
	p->set.columns = first->at;
	p->set.n_columns = first->n;
	for (u32 k = 0; k < p->set.n_columns; k++) {
		struct expr *column = p->set.columns[k].expr;

		/* A bound is one for all rows. */
		for (u32 i = 1; i < arms->n; i++)
			if (arms->at[i].columns.at[k].expr->bound != column->bound)
				column->bound = BOUND_NONE;
		if (!set_type(arms, k, false, column))
			return NULL;
	}
	return p;
}

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

/* Behind the last arm stands what is of the whole: the arms have no ORDER BY of their own. */
bool bind_arms(struct scope *scope, struct arm *ret_arm)
{
	const struct ast_select *s = scope->select;
	struct arms arms = { .scope = scope, .n = 1 + s->compound.n };
	item_vec columns = { 0 };
	struct sort_key *keys;
	struct plan *chain;
	bool is_rows;

	arms.at = arena_array(scope->arena, struct arm, arms.n);
	for (u32 i = 0; i < arms.n; i++) {
		struct scope arm = bind_scope(scope, i ? s->compound.at[i - 1].select : s);
		struct ast_select *own = arena_new(scope->arena, struct ast_select);

		arm.outer = scope->outer;
		*own = *arm.select;
		own->order_by.n = own->compound.n = 0;
		own->limit = own->offset = NULL;
		arm.select = own;
		arms.at[i].span = own->span;
		if (!bind_arm(&arm, &arms.at[i]))
			return false;
	}
	is_rows = is_union_of_rows(s, arms.at);
	chain = is_rows ? union_new(&arms, ret_arm) : set_new(&arms);
	if (!chain)
		return false;
	ret_arm->is_open = is_rows && !s->order_by.n && !s->limit && !s->offset;
	if (is_rows)
		columns = ret_arm->columns;
	else
		bind_output(scope, chain, chain->set.relation, s->span, &columns);
	keys = arena_array(scope->arena, struct sort_key, s->order_by.n);
	if (!sort_set(scope, &columns, keys))
		return false;
	ret_arm->chain = bind_add_order(scope, chain, keys, s->order_by.n);
	return ret_arm->chain;
}
