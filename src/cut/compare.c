/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Comparisons, ||, BETWEEN, IN, LIKE and IS NULL.  SQLite's own, but where a real may meet
 * an integer of 2^63 and more, which to SQLite is a blob and so above every real.
 */
#include <string.h>

#include "cut/internal.h"

static struct printed good(struct type type)
{
	return (struct printed){ .type = type, .is_good = true };
}

/* May it be an integer of 2^63 and more, which SQLite knows not to be below a real? */
static bool may_be_big(struct type type)
{
	return type.kind == TYPE_NULL || (type_is_word(type) && type.bits == 64);
}

/* a || b, and comparisons; where a real meets an integer that SQLite cannot hold, exactly. */
struct printed cut_pair(struct cutter *c, struct level *level, const struct ast *ast,
			struct buf *out)
{
	bool is_text = ast->op == OP_CONCAT, is_compared;
	struct buf left, right;
	struct printed a, b;

	buf_init(&left);
	buf_init(&right);
	a = cut_expr(c, level, ast->args[0], &left);
	b = a.is_good ? cut_expr(c, level, ast->args[1], &right) : a;
	if (a.is_good && b.is_good) {
		is_compared = !is_text && ((a.type.kind == TYPE_REAL && may_be_big(b.type)) ||
					   (b.type.kind == TYPE_REAL && may_be_big(a.type)));
		if (is_text)
			buf_printf(out, "(eb_i64(%s) || eb_i64(%s))", left.at, right.at);
		else if (is_compared)
			buf_printf(out, "(eb_compare(%s, %s) %s 0)", left.at, right.at,
				   ast_op_names[ast->op]);
		else
			buf_printf(out, "(%s %s %s)", left.at, ast_op_names[ast->op], right.at);
	}
	buf_free(&left);
	buf_free(&right);
	if (!a.is_good || !b.is_good)
		return cut_bad();
	return good(is_text ? type_text(0) : (struct type){ .kind = TYPE_BOOL, .bits = 8 });
}

/* BETWEEN is two comparisons where reals and integers that SQLite cannot hold may meet. */
static struct printed print_between(struct cutter *c, struct level *level, const struct ast *ast,
				    struct buf *out)
{
	struct printed p[3];
	const char *text[3];
	bool has_real = false, has_big = false;

	for (u32 i = 0; i < 3; i++) {
		struct buf one;

		buf_init(&one);
		p[i] = cut_expr(c, level, ast->args[i], &one);
		text[i] = arena_strdup(c->arena, one.at ? one.at : "");
		buf_free(&one);
		if (!p[i].is_good)
			return p[i];
		has_real |= p[i].type.kind == TYPE_REAL;
		has_big |= may_be_big(p[i].type);
	}
	if (has_real && has_big)
		buf_printf(out, "(%s(eb_compare(%s, %s) >= 0 AND eb_compare(%s, %s) <= 0))",
			   ast->negated ? "NOT " : "", text[0], text[1], text[0], text[2]);
	else
		buf_printf(out, "(%s%s BETWEEN %s AND %s)", text[0], ast->negated ? " NOT" : "",
			   text[1], text[2]);
	return good((struct type){ .kind = TYPE_BOOL, .bits = 8 });
}

/* BETWEEN, IN, LIKE, IS NULL: SQLite's. */
struct printed cut_predicate(struct cutter *c, struct level *level, const struct ast *ast,
			     struct buf *out)
{
	const char *not = ast->negated ? " NOT" : "";
	bool is_good;

	if (ast->kind == AST_BETWEEN)
		return print_between(c, level, ast, out);

	buf_putc(out, '(');
	is_good = cut_expr(c, level, ast->args[0], out).is_good;
	switch (ast->kind) {
	case AST_LIKE:
		buf_printf(out, "%s %s ", not, ast->text);
		is_good = is_good && cut_expr(c, level, ast->args[1], out).is_good;
		buf_puts(out, ast->n_args > 2 ? " ESCAPE " : "");
		is_good = is_good &&
			  (ast->n_args < 3 || cut_expr(c, level, ast->args[2], out).is_good);
		break;
	case AST_IS_NULL:
		buf_printf(out, " IS%s NULL", not );
		break;
	default:
		buf_printf(out, "%s IN (", not );
		is_good = is_good && cut_exprs(c, level, ast->args + 1, ast->n_args - 1, out);
		buf_putc(out, ')');
	}
	buf_putc(out, ')');
	return is_good ? good((struct type){ .kind = TYPE_BOOL, .bits = 8 }) : cut_bad();
}
