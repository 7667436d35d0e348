/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A PAIR JOIN B, A ASOF JOIN B -> PLAN_JOIN: the conjuncts of ON become the keys,
 * or the order of time, which ASOF demands and PAIR has by its nature.  Relational
 * joins, which only SQLite has -> PLAN_RELATE.
 */

#include "plan/bind.h"

#define JOIN_KEYS_MAX 6u

struct join_binding {
	struct scope *scope;
	struct plan *join;
	VEC(struct join_key) keys;
	bool has_order;
};

static bool bad_join(struct join_binding *b, struct span span, const char *message,
		     const char *hint)
{
	return diag_refuse(b->scope->diags, "bad-join", span, "%s" HINT "%s", message, hint);
}

/* Exchanges the two, if need be, so that the first reads the left side and the second the right. */
static bool sort_sides(struct join_binding *b, struct expr **left, struct expr **right)
{
	struct expr *first = *left, *second = *right;

	if (expr_is_of(first, b->join->input) && expr_is_of(second, b->join->right))
		return true;
	if (!expr_is_of(second, b->join->input) || !expr_is_of(first, b->join->right))
		return false;
	*left = second;
	*right = first;
	return true;
}

static bool add_key(struct join_binding *b, struct span span, struct expr *left, struct expr *right)
{
	bool is_text = left->type.kind == TYPE_TEXT;
	bool is_empty = bind_is_empty(b->scope, left) || bind_is_empty(b->scope, right);

	if (left->is_user_only || right->is_user_only)
		return bad_join(b, span,
				"this key needs the user part, and pairs are made in the "
				"kernel",
				"use columns and whole numbers as keys");
	if (!is_empty && (is_text != (right->type.kind == TYPE_TEXT) ||
			  (!is_text && (!type_is_word(left->type) || !type_is_word(right->type)))))
		return bad_join(b, span, "the two sides of this key are of different kinds",
				"both must be numbers, or both texts");
	if (!is_text &&
	    ((left->lo < 0 && right->hi > INT64_MAX) || (right->lo < 0 && left->hi > INT64_MAX)))
		return bad_join(b, span,
				"one side of this key can be negative, the other 2^63 and more",
				"no 64 bits hold both: join by another column");
	if (b->keys.n == JOIN_KEYS_MAX)
		return bad_join(b, span, "a join has at most 6 keys", "leave one away");
	vec_push(b->scope->arena, &b->keys, (struct join_key){ left, right });
	return true;
}

/* Does it read columns at all? */
static bool reads(const struct join_binding *b, const struct expr *e)
{
	return expr_is_of(e, b->join);
}

static bool reads_only(const struct join_binding *b, const struct expr *left,
		       const struct expr *right, const struct plan *side)
{
	return (!reads(b, left) || expr_is_of(left, side)) &&
	       (!reads(b, right) || expr_is_of(right, side));
}

/*
 * An equality that is no key says which rows of a side may have a partner.  Those of the
 * right side that may not are dropped before they are stored, those of the left, unless a
 * LEFT join keeps them, before they look for one.
 */
static bool add_filter(struct join_binding *b, struct span span, struct expr *left,
		       struct expr *right)
{
	struct plan **side = NULL;
	struct expr *condition;

	if (!reads(b, left) && !reads(b, right))
		return bad_join(b, span, "this condition reads neither side, so it is no key",
				"a column of a nested select that is a constant pairs nothing: "
				"leave it away");
	if (reads_only(b, left, right, b->join->right))
		side = &b->join->right;
	else if (reads_only(b, left, right, b->join->input))
		side = &b->join->input;
	if (!side)
		return bad_join(b, span, "one side of this key reads both streams",
				"write a.key = b.key; other conditions belong into WHERE");
	if (b->join->join.is_left && side == &b->join->input)
		return bad_join(b, span,
				"this condition reads the left side only, so it is no key, and a "
				"LEFT join keeps all of that side",
				"write a.key = b.key; to drop rows of the left side, use WHERE");
	condition = bind_op(b->scope, OP_EQ, span, left, right);
	if (!condition)
		return false;
	if (condition->is_user_only)
		return bad_join(b, span,
				"this condition needs the user part, and pairs are made in the "
				"kernel",
				"use columns and whole numbers");
	*side = plan_filter(b->scope->arena, *side, &condition, 1);
	return true;
}

/* a.time >= b.time: which is the later? */
static bool add_order(struct join_binding *b, const struct ast *ast, struct expr *left,
		      struct expr *right)
{
	enum ast_op op = ast->op;

	if (op == OP_LE || op == OP_LT) {
		struct expr *swap = left;

		left = right;
		right = swap;
	}
	if (!bind_is_time_of(b->scope->arena, left, b->join->input) ||
	    !bind_is_time_of(b->scope->arena, right, b->join->right))
		return bad_join(
			b, ast->span,
			"the order in ON is that of the two sides' times, the left one later",
			"write a.time >= b.time; other conditions belong into WHERE");
	if (b->join->join.kind == JOIN_ASOF && (op == OP_GT || op == OP_LT))
		return bad_join(
			b, ast->span,
			"ASOF JOIN takes the latest row at that time or before: of the same "
			"instant, too",
			"write a.time >= b.time");
	b->has_order = true;
	return true;
}

static bool add_conjunct(struct join_binding *b, const struct ast *ast)
{
	bool is_order = ast->kind == AST_BINARY && ast->op >= OP_LT && ast->op <= OP_GE;
	struct expr *left, *right;

	if (ast->kind == AST_BINARY && ast->op == OP_AND)
		return add_conjunct(b, ast->args[0]) && add_conjunct(b, ast->args[1]);
	if (!is_order && (ast->kind != AST_BINARY || ast->op != OP_EQ))
		return bad_join(b, ast->span, "ON takes equalities joined by AND",
				"write a.key = b.key; other conditions belong into WHERE");
	left = bind_expr(b->scope, ast->args[0]);
	right = left ? bind_expr(b->scope, ast->args[1]) : NULL;
	if (!left || !right)
		return false;
	if (is_order)
		return add_order(b, ast, left, right);
	if (!sort_sides(b, &left, &right))
		return add_filter(b, ast->span, left, right);
	return add_key(b, ast->span, left, right);
}

static bool bind_keys_of(struct join_binding *b, const struct ast_source *source)
{
	if (!source->on || !add_conjunct(b, source->on))
		return false;
	if (!b->keys.n)
		return bad_join(b, source->on->span, "ON names no key", "write a.key = b.key");
	if (source->join == AST_JOIN_ASOF && !b->has_order)
		return bad_join(b, source->on->span,
				"ASOF JOIN needs the order of the two times in ON",
				"add AND a.time >= b.time");
	b->join->join.keys = b->keys.at;
	b->join->join.n_keys = b->keys.n;
	return true;
}

/* first: the first member of FROM that is of this join */
static struct plan *bind_pair(struct scope *scope, const struct ast_source *source, u32 first,
			      struct plan *left, struct plan *right)
{
	struct join_binding b = { .scope = scope };

	if (!plan_is_rows(left) || !plan_is_rows(right))
		return diag_refuse(scope->diags, "not-supported",
				   plan_is_rows(left) ? right->span : left->span,
				   "PAIR and ASOF JOIN take rows of streams, and these are rows of "
				   "a window" HINT "JOIN takes them, of the same window");
	if (!bind_time_of(scope, left, left->span) || !bind_time_of(scope, right, right->span))
		return NULL;
	b.join = bind_join_new(scope, source->join == AST_JOIN_PAIR ? JOIN_PAIR : JOIN_ASOF, left,
			       right, source->span);
	b.join->join.is_left = source->is_left;
	b.join->join.within_ns = source->within_ns;
	b.join->join.is_nesting = true;
	for (u32 i = first; bind_one_clock(b.join) && i < scope->members.n; i++) {
		struct from_member *m = &scope->members.at[i];

		m->is_real = true;
		bind_real_items(&m->columns);
	}
	return bind_keys_of(&b, source) ? b.join : NULL;
}

static struct plan *bind_relate(struct scope *scope, const struct ast_source *source,
				struct plan *left, struct plan *right)
{
	static const enum relate_kind kinds[] = { [AST_JOIN_INNER] = RELATE_INNER,
						  [AST_JOIN_LEFT] = RELATE_LEFT,
						  [AST_JOIN_CROSS] = RELATE_CROSS };
	struct plan *p = plan_new(scope->arena, PLAN_RELATE, source->span, left);

	p->right = right;
	p->relate.kind = kinds[source->join];
	p->relate.on = source->on ? bind_condition(scope, source->on, "ON") : NULL;
	return p->relate.on || !source->on ? p : NULL;
}

struct plan *bind_join(struct scope *scope, const struct ast_source *source)
{
	bool is_relational = source->join != AST_JOIN_PAIR && source->join != AST_JOIN_ASOF;
	bool is_left = source->is_left || source->join == AST_JOIN_LEFT;
	u32 outer = scope->first_member, first = scope->members.n, middle;
	const char *clause = scope->no_aggregates_in;
	struct plan *left, *right, *p;

	if (source->alias)
		return bind_refuse(scope, source->span, "a name for a whole join is");
	left = bind_from(scope, source->left);
	middle = scope->members.n;
	right = left ? bind_from(scope, source->right) : NULL;
	if (!right)
		return NULL;
	for (u32 i = first; is_relational && i < scope->members.n; i++)
		if (!scope->members.at[i].leaf)
			scope->members.at[i].leaf = i < middle ? left : right;
	scope->first_member = first;
	scope->no_aggregates_in = "ON";
	p = is_relational ? bind_relate(scope, source, left, right)
			  : bind_pair(scope, source, first, left, right);
	scope->no_aggregates_in = clause;
	scope->first_member = outer;
	for (u32 i = middle; is_left && i < scope->members.n; i++)
		scope->members.at[i].is_nullable = true;
	return p;
}
