/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A PAIR JOIN B, A ASOF JOIN B -> PLAN_JOIN: the conjuncts of ON become the keys,
 * or the order of time, which ASOF demands and PAIR has by its nature.  Relational
 * joins, which only SQLite has -> PLAN_RELATE.
 */
#include <sqlite3.h>
#include <strings.h>

#include "plan/bind.h"

#define JOIN_KEYS_MAX 6u

struct join_binding {
	struct scope *scope;
	struct plan *join;
	VEC(struct join_key) keys;
	bool has_order;
};

/* Members of FROM: [first, middle) are left of the join, [middle, end) right. */
struct sides {
	u32 first, middle, end;
};

/* The columns of one name on both sides; false after a diagnostic. */
static bool bind_sides(struct scope *scope, const struct sides *s, const struct ast_column *column,
		       struct expr **ret_left, struct expr **ret_right)
{
	*ret_left = bind_among(scope, s->first, s->middle, column);
	*ret_right = *ret_left ? bind_among(scope, s->middle, s->end, column) : NULL;
	return *ret_right;
}

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

static bool add_equality(struct join_binding *b, struct span span, struct expr *left,
			 struct expr *right)
{
	return sort_sides(b, &left, &right) ? add_key(b, span, left, right)
					    : add_filter(b, span, left, right);
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
	return add_equality(b, ast->span, left, right);
}

/* USING: the last one of ASOF is the order, the others are keys. */
static bool add_columns(struct join_binding *b, const struct ast_source *source,
			const struct sides *sides)
{
	bool is_asof = source->join == AST_JOIN_ASOF;
	struct expr *left, *right;

	for (u32 i = 0; i < source->columns.n; i++) {
		const struct ast_column *c = &source->columns.at[i];

		if (!bind_sides(b->scope, sides, c, &left, &right))
			return false;
		if (is_asof && i + 1 == source->columns.n) {
			b->has_order = bind_is_time_of(b->scope->arena, left, b->join->input) &&
				       bind_is_time_of(b->scope->arena, right, b->join->right);
			if (!b->has_order)
				return bad_join(b, c->span,
						"the last column of ASOF JOIN's USING is the time "
						"of both sides",
						"write USING (key, time)");
		} else if (!add_equality(b, c->span, left, right)) {
			return false;
		}
	}
	return true;
}

static bool bind_keys_of(struct join_binding *b, const struct ast_source *source,
			 const struct sides *sides)
{
	struct span span = source->on ? source->on->span : source->span;

	if (source->on ? !add_conjunct(b, source->on) : !add_columns(b, source, sides))
		return false;
	if (!b->keys.n)
		return bad_join(b, span, source->on ? "ON names no key" : "USING names no key",
				source->on ? "write a.key = b.key" : "write USING (key, time)");
	if (source->join == AST_JOIN_ASOF && !b->has_order)
		return bad_join(b, span, "ASOF JOIN needs the order of the two times in ON",
				"add AND a.time >= b.time");
	b->join->join.keys = b->keys.at;
	b->join->join.n_keys = b->keys.n;
	return true;
}

static struct plan *bind_pair(struct scope *scope, const struct ast_source *source,
			      const struct sides *sides, struct plan *left, struct plan *right)
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
	for (u32 i = sides->first; bind_one_clock(b.join) && i < sides->end; i++) {
		struct from_member *m = &scope->members.at[i];

		m->is_real = true;
		bind_real_items(&m->columns);
	}
	return bind_keys_of(&b, source, sides) ? b.join : NULL;
}

/* SQLite's, of which the first have no FULL JOIN. */
#define SQLITE_WITH_FULL_JOIN 3039000

/* All columns of USING are equal; NULL after a diagnostic. */
static struct expr *bind_equal(struct scope *scope, const struct ast_source *source,
			       const struct sides *sides)
{
	struct expr *on = NULL;

	for (u32 i = 0; i < source->columns.n; i++) {
		const struct ast_column *c = &source->columns.at[i];
		struct expr *left, *right, *equal;

		if (!bind_sides(scope, sides, c, &left, &right))
			return NULL;
		equal = bind_op(scope, OP_EQ, c->span, left, right);
		on = on && equal ? bind_op(scope, OP_AND, c->span, on, equal) : equal;
		if (!on)
			return NULL;
	}
	return on;
}

/* A RIGHT JOIN B is B LEFT JOIN A, but for the order of the columns. */
static struct plan *bind_relate(struct scope *scope, const struct ast_source *source,
				const struct sides *sides, struct plan *left, struct plan *right)
{
	static const enum relate_kind kinds[] = { [AST_JOIN_INNER] = RELATE_INNER,
						  [AST_JOIN_LEFT] = RELATE_LEFT,
						  [AST_JOIN_RIGHT] = RELATE_LEFT,
						  [AST_JOIN_FULL] = RELATE_FULL,
						  [AST_JOIN_CROSS] = RELATE_CROSS };
	bool is_right = source->join == AST_JOIN_RIGHT;
	struct plan *p = plan_new(scope->arena, PLAN_RELATE, source->span, is_right ? right : left);

	p->right = is_right ? left : right;
	p->relate.kind = kinds[source->join];
	if (source->join == AST_JOIN_FULL && sqlite3_libversion_number() < SQLITE_WITH_FULL_JOIN)
		return diag_refuse(scope->diags, "not-supported", source->span,
				   "FULL JOIN needs SQLite 3.39, and this is %s" HINT
				   "a LEFT JOIN, UNION ALL what the other side has without it",
				   sqlite3_libversion());
	if (source->on)
		p->relate.on = bind_condition(scope, source->on, "ON");
	else if (source->columns.n)
		p->relate.on = bind_equal(scope, source, sides);
	return p->relate.on || (!source->on && !source->columns.n) ? p : NULL;
}

/* The columns that both sides have, of those that * shows. */
static bool find_natural(struct scope *scope, struct ast_source *source, const struct sides *s)
{
	item_vec left = { 0 }, right = { 0 };
	u32 outer = scope->first_member, n = scope->members.n;
	bool is_good;

	scope->first_member = s->first;
	scope->members.n = s->middle;
	is_good = bind_star(scope, NULL, source->span, &left);
	scope->first_member = s->middle;
	scope->members.n = n;
	is_good = is_good && bind_star(scope, NULL, source->span, &right);
	scope->first_member = outer;
	for (u32 i = 0; is_good && i < left.n; i++) {
		struct ast_column column = { left.at[i].name, source->span };

		for (u32 k = 0; k < right.n; k++) {
			if (strcasecmp(column.name, right.at[k].name) != 0)
				continue;
			vec_push(scope->arena, &source->columns, column);
			if (strcasecmp(column.name, "time") != 0 ||
			    left.at[i].expr->type.kind != TYPE_TIMESTAMP)
				break;
			return diag_refuse(scope->diags, "bad-join", source->span,
					   "NATURAL JOIN would ask for events of the same time, "
					   "which both sides have" HINT
					   "name the columns: JOIN ... USING (a, b)");
		}
	}
	if (is_good && !source->columns.n)
		return diag_refuse(scope->diags, "bad-join", source->span,
				   "the sides of this NATURAL JOIN have no column in common" HINT
				   "say what belongs together: JOIN ... ON a.x = b.y");
	return is_good;
}

/* Of a side that may be missing columns may be NULL; and those of USING are one from now on. */
static void join_members(struct scope *scope, const struct ast_source *source,
			 const struct sides *s)
{
	bool is_right = source->join == AST_JOIN_RIGHT, is_full = source->join == AST_JOIN_FULL;
	bool is_left = source->is_left || source->join == AST_JOIN_LEFT;

	for (u32 i = s->first; i < s->end; i++)
		scope->members.at[i].is_nullable |= is_full || (i < s->middle ? is_right : is_left);
	for (u32 i = 0; i < source->columns.n; i++)
		vec_push(scope->arena, &scope->merged,
			 (struct merged_column){ source->columns.at[i].name, s->first, s->middle,
						 s->end, is_right || is_full });
}

struct plan *bind_join(struct scope *scope, const struct ast_source *ast)
{
	struct ast_source source = *ast;
	bool is_relational = source.join != AST_JOIN_PAIR && source.join != AST_JOIN_ASOF;
	struct sides s = { .first = scope->members.n };
	u32 outer = scope->first_member;
	const char *clause = scope->no_aggregates_in;
	struct plan *left, *right, *p = NULL;

	if (source.alias)
		return bind_refuse(scope, source.span, "a name for a whole join is");
	left = bind_from(scope, source.left);
	s.middle = scope->members.n;
	right = left ? bind_from(scope, source.right) : NULL;
	s.end = scope->members.n;
	if (!right || (source.is_natural && !find_natural(scope, &source, &s)))
		return NULL;
	for (u32 i = s.first; is_relational && i < s.end; i++)
		if (!scope->members.at[i].leaf)
			scope->members.at[i].leaf = i < s.middle ? left : right;
	scope->first_member = s.first;
	scope->no_aggregates_in = "ON";
	p = is_relational ? bind_relate(scope, &source, &s, left, right)
			  : bind_pair(scope, &source, &s, left, right);
	scope->no_aggregates_in = clause;
	scope->first_member = outer;
	join_members(scope, &source, &s);
	return p;
}
