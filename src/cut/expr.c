/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Expressions -> SQLite's SQL.  The largest parts that read nothing but the columns of
 * one part of kind ROWS become columns of that part, which computes them as the kernel
 * does; what is left SQLite computes, its arithmetic through the functions of func/.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "cut/internal.h"

struct printed cut_bad(void)
{
	return (struct printed){ .is_good = false };
}

static struct printed good(struct type type)
{
	return (struct printed){ .type = type, .is_good = true };
}

/* --- Whole expressions as columns of a part --- */

struct columns_of {
	struct rows_part *rows;
	bool is_other; /* something else is in it, too */
	u32 n;
};

static void note_columns(struct cutter *c, struct level *level, const struct ast *ast,
			 struct columns_of *of)
{
	if (!ast || of->is_other)
		return;
	if (ast->kind == AST_NAME) {
		struct rows_part *rows = NULL;

		for (u32 i = 0; i < level->relations.n; i++) {
			const struct relation *r = &level->relations.at[i];
			struct type type;

			if (r->rows ? cut_rows_column(c, r->rows, ast, NULL, &type) < 0
				    : cut_known_column(r, ast) < 0)
				continue;
			if (rows || !r->rows)
				of->is_other = true;
			rows = r->rows;
		}
		if (!rows || (of->rows && of->rows != rows))
			of->is_other = true;
		of->rows = rows;
		of->n++;
		return;
	}
	if (ast->select)
		of->is_other = true;
	for (u32 i = 0; i < ast->n_args; i++)
		note_columns(c, level, ast->args[i], of);
	note_columns(c, level, ast->otherwise, of);
}

static bool is_leaf(const struct ast *ast)
{
	return ast->kind == AST_NAME || ast->kind == AST_INDEX ||
	       (ast->kind == AST_CAST && strncasecmp(ast->text, "struct ", 7) == 0);
}

/* The columns that trying it out made, and that nothing needs, go again. */
static void forget_columns(struct rows_part *rows, u32 n)
{
	rows->items.n = n;
	rows->types.n = n;
	rows->naming.n = n;
}

static bool print_whole(struct cutter *c, struct level *level, const struct ast *ast,
			struct buf *out, struct printed *ret_printed)
{
	struct columns_of of = { 0 };
	u32 before[64] = { 0 }, n = MIN(level->relations.n, 64u);
	const struct relation *r = NULL;
	struct type type;
	s32 column = -1;

	if (ast->kind == AST_NAME || cut_is_of_rows(ast) || (level->is_guarded && !is_leaf(ast)))
		return false;
	for (u32 i = 0; i < n; i++)
		before[i] = level->relations.at[i].rows ? level->relations.at[i].rows->items.n : 0;
	note_columns(c, level, ast, &of);
	for (u32 i = 0; i < n; i++)
		if (level->relations.at[i].rows)
			forget_columns(level->relations.at[i].rows, before[i]);
	if (of.is_other || !of.n)
		return false;
	for (u32 i = 0; i < level->relations.n; i++)
		if (level->relations.at[i].rows == of.rows)
			r = &level->relations.at[i];
	/* Without a partner only the columns are NULL: x IS NULL, CASE, ... are not. */
	if (r->is_nullable && !is_leaf(ast))
		return false;
	column = cut_rows_column(c, of.rows, ast, NULL, &type);
	if (column < 0)
		return false;
	cut_print_column(r, column, out);
	*ret_printed = good(type);
	return true;
}

/* --- Types --- */

static bool is_number(struct type type)
{
	return type_is_word(type) || type.kind == TYPE_NULL || type.kind == TYPE_REAL ||
	       type.kind == TYPE_QUANTILE;
}

static struct type scalar(struct type type)
{
	if (type.kind == TYPE_QUANTILE)
		return (struct type){ .kind = type.of, .bits = 64, .is_signed = true };
	return type;
}

/* Of a + b and its like, as plan/ types them. */
static struct type arithmetic_type(enum ast_op op, struct type a, struct type b)
{
	bool is_sum = op == OP_ADD || op == OP_SUB;

	a = scalar(a);
	b = scalar(b);
	if (a.kind == TYPE_REAL || b.kind == TYPE_REAL)
		return (struct type){ .kind = TYPE_REAL };
	if (a.kind == TYPE_NULL || b.kind == TYPE_NULL)
		return (struct type){ .kind = TYPE_NULL };
	if (op == OP_SUB && a.kind == TYPE_TIMESTAMP && b.kind == TYPE_TIMESTAMP)
		return (struct type){ .kind = TYPE_DURATION, .bits = 64, .is_signed = true };
	if (is_sum && (a.kind == TYPE_TIMESTAMP || b.kind == TYPE_TIMESTAMP))
		return a.kind == TYPE_TIMESTAMP ? a : b;
	if (is_sum && (a.kind == TYPE_DURATION || b.kind == TYPE_DURATION))
		return (struct type){ .kind = TYPE_DURATION, .bits = 64, .is_signed = true };
	if ((op == OP_MUL || op == OP_MOD) &&
	    (a.kind == TYPE_DURATION) != (b.kind == TYPE_DURATION))
		return (struct type){ .kind = TYPE_DURATION, .bits = 64, .is_signed = true };
	if (op == OP_DIV && a.kind == TYPE_DURATION && b.kind != TYPE_DURATION)
		return a;
	return type_int(64, true);
}

/* --- Operators --- */

static const char *const functions[OP_N] = {
	[OP_ADD] = "eb_add",   [OP_SUB] = "eb_sub",	   [OP_MUL] = "eb_mul",
	[OP_DIV] = "eb_div",   [OP_MOD] = "eb_mod",	   [OP_BIT_AND] = "eb_and",
	[OP_BIT_OR] = "eb_or", [OP_SHIFT_LEFT] = "eb_shl", [OP_SHIFT_RIGHT] = "eb_shr",
	[OP_NEG] = "eb_neg",   [OP_BIT_NOT] = "eb_not",
};

/*
 * The rule of func/func.h by which the part of these columns would compute it; 0: it is not of
 * one part's columns, or cannot overflow.
 */
static char rule_of(struct cutter *c, struct level *level, const struct ast *ast)
{
	u32 before[64] = { 0 }, n = MIN(level->relations.n, 64u);
	struct columns_of of = { 0 };
	const struct expr *e;

	for (u32 i = 0; i < n; i++)
		before[i] = level->relations.at[i].rows ? level->relations.at[i].rows->items.n : 0;
	note_columns(c, level, ast, &of);
	for (u32 i = 0; i < n; i++)
		if (level->relations.at[i].rows)
			forget_columns(level->relations.at[i].rows, before[i]);
	if (of.is_other || !of.n || cut_is_of_rows(ast))
		return 0;
	e = cut_rows_expr(c, of.rows, ast);
	return e && !e->is_user_only && e->may_overflow && type_is_word(e->type) ? expr_rule(e) : 0;
}

static struct printed print_function(struct cutter *c, struct level *level, const struct ast *ast,
				     struct buf *out)
{
	struct printed a, b;
	char rule;

	buf_printf(out, "%s(", functions[ast->op]);
	a = b = cut_expr(c, level, ast->args[0], out);
	if (a.is_good && ast->n_args > 1) {
		buf_puts(out, ", ");
		b = cut_expr(c, level, ast->args[1], out);
	}
	if (!a.is_good || !b.is_good)
		return cut_bad();
	rule = ast->op == OP_BIT_NOT ? 0 : rule_of(c, level, ast); /* eb_not() has one way only */
	if (rule)
		buf_printf(out, ", '%c'", rule);
	buf_putc(out, ')');
	if ((a.type.kind == TYPE_TEXT || b.type.kind == TYPE_TEXT) ||
	    (!is_number(a.type) || !is_number(b.type))) {
		diag_hint(c->diags,
			  diag_error(c->diags, "type-mismatch", ast->span, "%s takes numbers",
				     ast_op_names[ast->op]),
			  "CAST(x AS INTEGER) makes a number of a text");
		return cut_bad();
	}
	return good(arithmetic_type(ast->op, a.type, b.type));
}

static struct printed print_operator(struct cutter *c, struct level *level, const struct ast *ast,
				     struct buf *out)
{
	struct printed (*print)(struct cutter * c, struct level * level, const struct ast *ast,
				struct buf *out);
	bool was_guarded = level->is_guarded;
	struct printed a, b = good((struct type){ 0 });

	if (ast->kind == AST_UNARY && ast->op == OP_NEG && ast->args[0]->kind == AST_INTEGER &&
	    ast->args[0]->integer <= (u64)INT64_MAX + 1) {
		buf_printf(out, "-%llu", (unsigned long long)ast->args[0]->integer);
		return good(type_int(64, true));
	}
	if (functions[ast->op])
		return print_function(c, level, ast, out);
	if (ast->op >= OP_CONCAT && ast->op <= OP_GE)
		return cut_pair(c, level, ast, out);
	buf_putc(out, '(');
	if (ast->kind == AST_UNARY)
		buf_printf(out, "%s ", ast_op_names[ast->op]);
	print = ast->op == OP_AND || ast->op == OP_OR || ast->op == OP_NOT ? cut_condition
									   : cut_expr;
	a = print(c, level, ast->args[0], out);
	if (a.is_good && ast->kind == AST_BINARY) {
		buf_printf(out, " %s ", ast_op_names[ast->op]);
		level->is_guarded |= ast->op == OP_AND || ast->op == OP_OR;
		b = print(c, level, ast->args[1], out);
		level->is_guarded = was_guarded;
	}
	buf_putc(out, ')');
	if (!a.is_good || !b.is_good)
		return cut_bad();
	if (ast->op == OP_PLUS)
		return a;
	return good((struct type){ .kind = TYPE_BOOL, .bits = 8 });
}

/* Of the arms of a CASE: that of the first that says more than NULL. */
static struct type common_type(struct type a, struct type b)
{
	if (a.kind == TYPE_NULL)
		return scalar(b);
	if (b.kind == TYPE_NULL || a.kind == b.kind)
		return scalar(a);
	if (a.kind == TYPE_REAL || b.kind == TYPE_REAL)
		return (struct type){ .kind = TYPE_REAL };
	if (type_is_word(a) && type_is_word(b))
		return a.kind == TYPE_INT || a.kind == TYPE_BOOL ? b : a;
	return (struct type){ .kind = TYPE_NULL };
}

/* A number in one arm and a text in another have no type in common. */
static bool check_arm(struct cutter *c, const struct ast *arm, struct type before, struct type type)
{
	bool is_known = before.kind != TYPE_NULL && type.kind != TYPE_NULL;

	if (!is_known || (before.kind == TYPE_TEXT) == (type.kind == TYPE_TEXT))
		return true;
	diag_hint(c->diags,
		  diag_error(c->diags, "type-mismatch", arm->span,
			     "this arm of CASE is a %s, one before it a %s",
			     type.kind == TYPE_TEXT ? "text" : "number",
			     type.kind == TYPE_TEXT ? "number" : "text"),
		  "CAST(x AS TEXT) makes a text of a number");
	return false;
}

static struct printed print_case(struct cutter *c, struct level *level, const struct ast *ast,
				 struct buf *out)
{
	bool was_guarded = level->is_guarded, is_good = true;
	struct type type = { .kind = TYPE_NULL };
	char rule = rule_of(c, level, ast);

	buf_puts(out, rule ? "eb_fit(CASE " : "CASE ");
	if (ast->args[0])
		is_good = cut_expr(c, level, ast->args[0], out).is_good;
	level->is_guarded = true;
	for (u32 i = 1; i < ast->n_args && is_good; i++) {
		struct printed p;

		buf_puts(out, i % 2 ? " WHEN " : " THEN ");
		p = i % 2 && !ast->args[0] ? cut_condition(c, level, ast->args[i], out)
					   : cut_expr(c, level, ast->args[i], out);
		is_good = p.is_good && (i % 2 || check_arm(c, ast->args[i], type, p.type));
		if (i % 2 == 0)
			type = common_type(type, p.type);
	}
	if (is_good && ast->otherwise) {
		struct printed p;

		buf_puts(out, " ELSE ");
		p = cut_expr(c, level, ast->otherwise, out);
		is_good = p.is_good && check_arm(c, ast->otherwise, type, p.type);
		type = common_type(type, p.type);
	}
	level->is_guarded = was_guarded;
	buf_puts(out, " END");
	if (rule)
		buf_printf(out, ", '%c')", rule);
	return is_good ? good(type) : cut_bad();
}

static struct printed print_cast(struct cutter *c, struct level *level, const struct ast *ast,
				 struct buf *out)
{
	static const struct {
		const char *name;
		struct type type;
	} types[] = {
		{ "INTEGER", { .kind = TYPE_INT, .bits = 64, .is_signed = true } },
		{ "INT", { .kind = TYPE_INT, .bits = 64, .is_signed = true } },
		{ "BIGINT", { .kind = TYPE_INT, .bits = 64, .is_signed = true } },
		{ "REAL", { .kind = TYPE_REAL } },
		{ "DOUBLE", { .kind = TYPE_REAL } },
		{ "TEXT", { .kind = TYPE_TEXT } },
	};

	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcasecmp(types[i].name, ast->text) != 0)
			continue;
		buf_puts(out, "CAST(eb_i64(");
		if (!cut_expr(c, level, ast->args[0], out).is_good)
			return cut_bad();
		buf_printf(out, ") AS %s)", types[i].name);
		return good(types[i].type);
	}
	diag_hint(c->diags,
		  diag_error(c->diags, "not-supported", ast->span,
			     "a CAST to %s is not available here", ast->text),
		  "INTEGER, REAL and TEXT are");
	return cut_bad();
}

static void print_text(const char *text, struct buf *out)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_putc(out, '\'');
		buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

/* 2^63 and more: SQLite would read a real. */
static void print_big(u64 integer, struct buf *out)
{
	u64 rest = integer - INT64_MAX;

	if (rest > INT64_MAX)
		buf_printf(out, "eb_add(eb_add(%lld, %lld), %llu)", (long long)INT64_MAX,
			   (long long)INT64_MAX, (unsigned long long)(rest - INT64_MAX));
	else
		buf_printf(out, "eb_add(%lld, %llu)", (long long)INT64_MAX,
			   (unsigned long long)rest);
}

static struct printed print_literal(const struct ast *ast, struct buf *out)
{
	switch (ast->kind) {
	case AST_NULL:
		buf_puts(out, "NULL");
		return good((struct type){ .kind = TYPE_NULL });
	case AST_BOOL:
		buf_puts(out, ast->integer ? "1" : "0");
		return good((struct type){ .kind = TYPE_BOOL, .bits = 8 });
	case AST_REAL:
		sql_print_expr(ast, out);
		return good((struct type){ .kind = TYPE_REAL });
	case AST_TEXT:
		print_text(ast->text, out);
		return good(type_text((u32)strlen(ast->text)));
	default:
		if (ast->integer > INT64_MAX)
			print_big(ast->integer, out);
		else
			buf_put_u64(out, ast->integer);
		if (ast->kind == AST_DURATION)
			return good((struct type){ .kind = TYPE_DURATION, .bits = 64 });
		return good(type_int(64, true));
	}
}

static struct printed print_subquery(struct cutter *c, struct level *level, const struct ast *ast,
				     struct buf *out)
{
	struct schema columns = { 0 };
	bool is_good = true;

	if (ast->kind == AST_EXISTS)
		buf_puts(out, ast->negated ? "NOT EXISTS " : "EXISTS ");
	if (ast->kind == AST_IN_SELECT) {
		buf_putc(out, '(');
		is_good = cut_expr(c, level, ast->args[0], out).is_good;
		buf_puts(out, ast->negated ? " NOT IN " : " IN ");
	}
	buf_putc(out, '(');
	is_good = is_good && cut_select(c, level, ast->select, false, out, &columns);
	buf_putc(out, ')');
	if (ast->kind == AST_IN_SELECT)
		buf_putc(out, ')');
	if (!is_good)
		return cut_bad();
	if (ast->kind != AST_EXISTS && columns.n_columns != 1) {
		diag_hint(c->diags,
			  diag_error(c->diags, "wrong-arguments", ast->span,
				     "a select that stands for a value has one column, this has %u",
				     columns.n_columns),
			  "SELECT only what is compared");
		return cut_bad();
	}
	if (ast->kind == AST_SUBQUERY)
		return good(scalar(columns.columns[0].type));
	return good((struct type){ .kind = TYPE_BOOL, .bits = 8 });
}

static struct printed refuse_here(struct cutter *c, const struct ast *ast, const char *what)
{
	diag_error(c->diags, "not-supported", ast->span, "%s is not available here", what);
	return cut_bad();
}

/* A key or an aggregate that the kernel part computes for this select. */
static const struct replaced *find_replaced(const struct level *level, const struct ast *ast)
{
	for (u32 i = 0; i < level->replaced.n; i++)
		if (sql_expr_equal(level->replaced.at[i].ast, ast))
			return &level->replaced.at[i];
	return NULL;
}

static struct printed print_replaced(const struct level *level, const struct replaced *replaced,
				     bool is_item, struct buf *out)
{
	const struct relation *r = &level->relations.at[0];
	struct type type = r->columns.columns[replaced->column].type;
	/* A quantile is compared by its estimate. */
	const char *function = type.kind == TYPE_QUANTILE && !is_item ? "eb_estimate" : NULL;

	if (replaced->regroup) {
		function = replaced->regroup->regroup;
		if (strcmp(function, "count") == 0)
			type = type_int(64, false);
	}
	bool is_counted = replaced->regroup && replaced->regroup->is_never_null;

	if (function)
		buf_printf(out, "%s%s(", is_counted ? "coalesce(" : "", function);
	cut_print_column(r, (s32)replaced->column, out);
	buf_puts(out, function ? ")" : "");
	buf_puts(out, is_counted ? ", 0)" : "");
	return good(is_item ? type : scalar(type));
}

bool cut_outer_key(const struct level *level, const struct ast *name, struct buf *out,
		   struct printed *ret_printed)
{
	const struct replaced *replaced = find_replaced(level, name);
	const struct ast_source *from = level->select->from;
	struct ast bare = *name;

	/* s.cpu where the key is written cpu. */
	if (!replaced && name->n_parts == 2 && from && from->alias &&
	    strcasecmp(from->alias, name->parts[0]) == 0) {
		bare.parts++;
		bare.part_spans++;
		bare.n_parts = 1;
		replaced = find_replaced(level, &bare);
	}
	if (replaced)
		*ret_printed = print_replaced(level, replaced, false, out);
	return replaced != NULL;
}

static struct printed print_expr(struct cutter *c, struct level *level, const struct ast *ast,
				 bool is_item, struct buf *out)
{
	const struct replaced *replaced = find_replaced(level, ast);
	struct printed whole;

	if (replaced)
		return print_replaced(level, replaced, is_item, out);
	if (print_whole(c, level, ast, out, &whole))
		return whole;
	switch (ast->kind) {
	case AST_NAME:
		whole = cut_name(c, level, ast, out);
		return whole;
	case AST_STAR:
		return refuse_here(c, ast, "*");
	case AST_UNARY:
		if (ast->op == OP_NEG && ast->args[0]->kind == AST_INTEGER &&
		    ast->args[0]->integer == 1ull << 63) {
			buf_puts(out, "(-9223372036854775807 - 1)");
			return good(type_int(64, true));
		}
		return print_operator(c, level, ast, out);
	case AST_BINARY:
		return print_operator(c, level, ast, out);
	case AST_BETWEEN:
	case AST_IN:
	case AST_LIKE:
	case AST_IS_NULL:
		return cut_predicate(c, level, ast, out);
	case AST_CASE:
		return print_case(c, level, ast, out);
	case AST_CAST:
		return print_cast(c, level, ast, out);
	case AST_CALL:
		return cut_call(c, level, ast, is_item, out);
	case AST_INDEX:
		return refuse_here(c, ast, "an index");
	case AST_SUBQUERY:
	case AST_EXISTS:
	case AST_IN_SELECT:
		return print_subquery(c, level, ast, out);
	default:
		return print_literal(ast, out);
	}
}

static struct printed at_depth(struct cutter *c, struct level *level, const struct ast *ast,
			       bool is_item, struct buf *out)
{
	struct printed p;

	if (c->depth == 400) {
		diag_error(c->diags, "too-deep", ast->span, "this expression nests too deep");
		return cut_bad();
	}
	c->depth++;
	p = print_expr(c, level, ast, is_item, out);
	c->depth--;
	return p;
}

struct printed cut_expr(struct cutter *c, struct level *level, const struct ast *ast,
			struct buf *out)
{
	size_t start = out->n;
	struct printed p = at_depth(c, level, ast, false, out);

	if (p.is_good && (p.type.kind == TYPE_HISTOGRAM || p.type.kind == TYPE_LADDER ||
			  p.type.kind == TYPE_TOP)) {
		diag_hint(c->diags,
			  diag_error(c->diags, "histogram-here", ast->span,
				     "a histogram, a list of quantiles or of values is no value to "
				     "compute with"),
			  "quantile(h, 0.99) and histogram_merge(h) read one, UNNEST() shows its "
			  "cells");
		return cut_bad();
	}
	/* A quantile of a nested select: by its estimate, too. */
	if (p.is_good && p.type.kind == TYPE_QUANTILE) {
		const char *text = arena_strdup(c->arena, out->at + start);

		out->n = start;
		buf_printf(out, "eb_estimate(%s)", text);
		p.type = scalar(p.type);
	}
	return p;
}

struct printed cut_condition(struct cutter *c, struct level *level, const struct ast *ast,
			     struct buf *out)
{
	size_t start = out->n;
	struct printed p = cut_expr(c, level, ast, out);

	/* What stands for 2^63 and more is not true to SQLite by itself. */
	if (p.is_good && type_is_word(p.type) && p.type.bits == 64) {
		const char *text = arena_strdup(c->arena, out->at + start);

		out->n = start;
		buf_printf(out, "(%s <> 0)", text);
		p.type = (struct type){ .kind = TYPE_BOOL, .bits = 8 };
	}
	return p;
}

struct printed cut_item(struct cutter *c, struct level *level, const struct ast *ast,
			struct buf *out)
{
	return at_depth(c, level, ast, true, out);
}

bool cut_exprs(struct cutter *c, struct level *level, struct ast *const *list, u32 n,
	       struct buf *out)
{
	for (u32 i = 0; i < n; i++) {
		buf_puts(out, i ? ", " : "");
		if (!cut_expr(c, level, list[i], out).is_good)
			return false;
	}
	return true;
}
