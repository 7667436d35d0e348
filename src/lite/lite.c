/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bound expressions -> SQL for SQLite, the only printer of them.  Arithmetic goes through
 * the functions of func/ with the rule of its type, so it is what the kernel part computes;
 * comparisons are SQLite's own, but where a real may meet an integer of 2^63 and more.
 * Long chains are printed flat: SQLite's parser has a stack of 100 entries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lite/lite.h"

/* --- Constants --- */

/* SQL's texts end at a NUL. */
void lite_write_text(const char *text, u32 n, struct buf *out)
{
	if (memchr(text, 0, n)) {
		buf_puts(out, "CAST(x'");
		for (u32 i = 0; i < n; i++)
			buf_printf(out, "%02x", (u8)text[i]);
		buf_puts(out, "' AS TEXT)");
		return;
	}
	buf_putc(out, '\'');
	for (u32 i = 0; i < n; i++) {
		if (text[i] == '\'')
			buf_putc(out, '\'');
		buf_putc(out, text[i]);
	}
	buf_putc(out, '\'');
}

/* SQLite would read 2^63 and more as a real. */
static void write_integer(s128 integer, struct buf *out)
{
	bool is_literal = integer > INT64_MIN && integer <= INT64_MAX;

	buf_puts(out, is_literal ? "" : "eb_number('");
	buf_put_s128(out, integer);
	buf_puts(out, is_literal ? "" : "')");
}

/* SQLite itself does not round all of them right. */
static void write_real(double real, struct buf *out)
{
	bool is_literal = real == (double)(s64)real && real > -0x1p53 && real < 0x1p53;

	buf_puts(out, is_literal ? "" : "eb_number('");
	buf_put_real(out, real);
	buf_puts(out, is_literal ? "" : "')");
}

struct value lite_constant(const struct expr *e)
{
	if (e->kind == EXPR_INTEGER)
		return (struct value){ .kind = VALUE_INT, .integer = e->integer };
	if (e->kind == EXPR_REAL)
		return (struct value){ .kind = VALUE_REAL, .real = e->real };
	if (e->kind == EXPR_TEXT)
		return (struct value){ .kind = VALUE_TEXT, .n = e->text_bytes, .text = e->text };
	BUG_ON(e->kind != EXPR_NULL);
	return (struct value){ .kind = VALUE_NULL };
}

/* --- Operators --- */

static const char *const arithmetic[OP_N] = {
	[OP_ADD] = "eb_add",   [OP_SUB] = "eb_sub",	   [OP_MUL] = "eb_mul",
	[OP_DIV] = "eb_div",   [OP_MOD] = "eb_mod",	   [OP_BIT_AND] = "eb_and",
	[OP_BIT_OR] = "eb_or", [OP_SHIFT_LEFT] = "eb_shl", [OP_SHIFT_RIGHT] = "eb_shr",
	[OP_NEG] = "eb_neg",   [OP_BIT_NOT] = "eb_not",
};

/* May it be an integer of 2^63 and more?  The sum of signed values may, too. */
static bool is_big(const struct expr *e)
{
	return e->kind != EXPR_INTEGER ? (type_is_word(e->type) && e->hi >= INT64_MAX)
				       : e->integer > INT64_MAX;
}

static bool needs_rule(const struct expr *e)
{
	if (!type_is_word(e->type) || e->op == OP_BIT_NOT)
		return false;
	return e->may_overflow || e->op == OP_SHIFT_LEFT || e->op == OP_SHIFT_RIGHT;
}

/* Of constants alone SQLite computes once for all rows; a fault is one of each row. */
static bool is_of_constants(const struct expr *e)
{
	return e->args[0]->kind == EXPR_INTEGER && (e->n_args == 1 || expr_is_constant(e->args[1]));
}

static void write_first(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_each = is_of_constants(e);

	buf_puts(out, is_each ? "eb_each(" : "");
	lite_write(w, e->args[0], out);
	buf_puts(out, is_each ? ")" : "");
}

static bool is_link(const struct expr *e)
{
	return e->kind == EXPR_OP && e->n_args == 2 && arithmetic[e->op];
}

/* How many operators are each the left argument of the next. */
static u32 n_links(const struct expr *e)
{
	u32 n = 0;

	for (; is_link(e); e = e->args[0])
		n++;
	return n;
}

/* "a, '+s', b, '-', c": so many of the last operators. */
static void write_links(const struct lite_writer *w, const struct expr *e, u32 n, struct buf *out)
{
	static const char letters[OP_N] = {
		[OP_ADD] = '+',		[OP_SUB] = '-',	    [OP_MUL] = '*',
		[OP_DIV] = '/',		[OP_MOD] = '%',	    [OP_SHIFT_LEFT] = '<',
		[OP_SHIFT_RIGHT] = '>', [OP_BIT_AND] = '&', [OP_BIT_OR] = '|',
	};

	if (n > 1 && is_link(e->args[0]))
		write_links(w, e->args[0], n - 1, out);
	else
		write_first(w, e, out);
	buf_printf(out, ", '%c", letters[e->op]);
	if (needs_rule(e))
		buf_putc(out, expr_rule(e));
	buf_puts(out, "', ");
	lite_write(w, e->args[1], out);
}

/* An argument is three entries of the parser's stack; a function has 127 arguments. */
#define NESTED_LINKS 5u
#define CHAIN_LINKS  60u

static void write_arithmetic(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	if (n_links(e) > NESTED_LINKS) {
		buf_puts(out, "eb_chain(");
		write_links(w, e, CHAIN_LINKS, out);
		buf_putc(out, ')');
		return;
	}
	buf_printf(out, "%s(", arithmetic[e->op]);
	write_first(w, e, out);
	if (e->n_args == 2) {
		buf_puts(out, ", ");
		lite_write(w, e->args[1], out);
	}
	if (needs_rule(e))
		buf_printf(out, ", '%c'", expr_rule(e));
	buf_putc(out, ')');
}

static bool is_logic(const struct expr *e)
{
	return e->kind == EXPR_OP && (e->op == OP_AND || e->op == OP_OR);
}

/* What stands for 2^63 and more in SQLite is no number to it: said so around it. */
static void write_big(const struct lite_writer *w, const char *before, const struct expr *e,
		      const char *behind, struct buf *out)
{
	buf_puts(out, is_big(e) ? before : "");
	lite_write(w, e, out);
	buf_puts(out, is_big(e) ? behind : "");
}

static void write_truth(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	write_big(w, "(", e, " <> 0)", out);
}

static void write_chain(const struct lite_writer *w, const struct expr *e, struct buf *out);

void lite_write_condition(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	if (is_logic(e)) {
		write_chain(w, e, out);
	} else if (e->kind == EXPR_OP && e->op == OP_NOT) {
		buf_puts(out, "(NOT ");
		lite_write_condition(w, e->args[0], out);
		buf_putc(out, ')');
	} else {
		write_truth(w, e, out);
	}
}

/* SQLite's trees are at most 1,000 high: longer chains are chains of such pieces. */
#define PIECE_TERMS 200u

static u32 n_terms(const struct expr *e, enum ast_op op)
{
	if (e->kind != EXPR_OP || e->op != op)
		return 1;
	return n_terms(e->args[0], op) + n_terms(e->args[1], op);
}

/* a AND b AND c, whichever way they are nested; the same for OR and ||. */
static void write_terms(const struct lite_writer *w, const struct expr *e, enum ast_op op, u32 *n,
			bool is_in_pieces, struct buf *out)
{
	bool is_next = is_in_pieces && *n && *n % PIECE_TERMS == 0;

	if (e->kind == EXPR_OP && e->op == op) {
		write_terms(w, e->args[0], op, n, is_in_pieces, out);
		write_terms(w, e->args[1], op, n, is_in_pieces, out);
		return;
	}
	if (*n)
		buf_printf(out, "%s %s %s", is_next ? ")" : "", ast_op_names[op],
			   is_next ? "(" : "");
	if (op == OP_CONCAT)
		write_big(w, "eb_text(", e, ")", out);
	else
		lite_write_condition(w, e, out);
	(*n)++;
}

static void write_chain(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_in_pieces = n_terms(e, e->op) > PIECE_TERMS;
	u32 n = 0;

	buf_puts(out, is_in_pieces ? "((" : "(");
	write_terms(w, e, e->op, &n, is_in_pieces, out);
	buf_puts(out, is_in_pieces ? "))" : ")");
}

/* Each nests the SQL, and SQLite's parser has a stack of 100 entries. */
#define GUARDS_MAX 16u

/* How many right sides of the chain can fail? */
static u32 n_guarded(const struct expr *e)
{
	return is_logic(e) ? n_guarded(e->args[0]) + expr_can_fail(e->args[1]) : 0;
}

/*
 * As a value SQLite computes both sides of AND and OR, as a condition the right one only
 * where the left does not decide.  What can fail is computed there alone, and once.
 */
static void write_guarded(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	const struct expr *a = e->args[0], *b = e->args[1];

	if (!expr_can_fail(b)) {
		buf_putc(out, '(');
		write_truth(w, a, out);
		buf_printf(out, " %s ", ast_op_names[e->op]);
		write_truth(w, b, out);
		buf_putc(out, ')');
		return;
	}
	buf_puts(out, "(CASE NOT ");
	write_truth(w, a, out);
	buf_puts(out, e->op == OP_AND ? " WHEN 1 THEN 0 WHEN 0 THEN NOT NOT "
				      : " WHEN 0 THEN 1 WHEN 1 THEN NOT NOT ");
	write_truth(w, b, out);
	if (a->nullable) {
		buf_printf(out, " ELSE NULL %s ", ast_op_names[e->op]);
		write_truth(w, b, out);
	}
	buf_puts(out, " END)");
}

/* CASE WHEN e THEN next END where one can fail, else e AND next. */
static struct expr *guarded_by(struct expr *e, struct expr *next, struct arena *arena)
{
	if (!expr_can_fail(e) && !expr_can_fail(next))
		return expr_op(arena, OP_AND, e->span, e, next);
	return expr_make(arena, EXPR_CASE, e->span, 3, e, next,
			 expr_new(arena, EXPR_NULL, e->span));
}

void lite_guard_failures(expr_vec *conjuncts, struct arena *arena)
{
	u32 n = 0, last = 0;

	for (u32 i = 0; i < conjuncts->n; i++)
		if (expr_can_fail(conjuncts->at[i])) {
			last = MIN(i + 1, conjuncts->n - 1);
			n++;
		}
	if (!n || n > GUARDS_MAX)
		return;
	for (u32 i = 1; i <= last; i++)
		conjuncts->at[i] = guarded_by(conjuncts->at[i - 1], conjuncts->at[i], arena);
	conjuncts->at += last;
	conjuncts->n -= last;
}

/* Where the kinds are known to differ in SQLite, though the values are comparable. */
static bool is_mixed(const struct expr *a, const struct expr *b)
{
	return (a->type.kind == TYPE_REAL && is_big(b)) || (b->type.kind == TYPE_REAL && is_big(a));
}

static void write_comparison(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_compared = e->op >= OP_EQ && e->op <= OP_GE && is_mixed(e->args[0], e->args[1]);

	buf_puts(out, is_compared ? "(eb_compare(" : "(");
	lite_write(w, e->args[0], out);
	if (is_compared)
		buf_puts(out, ", ");
	else
		buf_printf(out, " %s ", ast_op_names[e->op]);
	lite_write(w, e->args[1], out);
	if (is_compared)
		buf_printf(out, ") %s 0", ast_op_names[e->op]);
	buf_putc(out, ')');
}

static void write_operator(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	if (expr_is_null(e)) {
		buf_puts(out, "NULL");
	} else if (e->op == OP_PLUS) {
		lite_write(w, e->args[0], out);
	} else if (arithmetic[e->op]) {
		write_arithmetic(w, e, out);
	} else if (e->op == OP_NOT) {
		buf_puts(out, "(NOT ");
		write_truth(w, e->args[0], out);
		buf_putc(out, ')');
	} else if (is_logic(e) && n_guarded(e) && n_guarded(e) <= GUARDS_MAX) {
		write_guarded(w, e, out);
	} else if (is_logic(e) || e->op == OP_CONCAT) {
		write_chain(w, e, out);
	} else {
		write_comparison(w, e, out);
	}
}

/* --- The others --- */

/* A u64 of 2^63 and more where other arms are negative: no 64 bits hold both. */
static void write_case(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_checked = e->may_overflow && type_is_word(e->type);

	if (e->n_args == 1) {
		lite_write(w, e->args[0], out);
		return;
	}
	buf_puts(out, is_checked ? "eb_fit(CASE" : "CASE");
	for (u32 i = 0; i + 1 < e->n_args; i += 2) {
		buf_puts(out, " WHEN ");
		lite_write_condition(w, e->args[i], out);
		buf_puts(out, " THEN ");
		lite_write(w, e->args[i + 1], out);
	}
	buf_puts(out, " ELSE ");
	lite_write(w, e->args[e->n_args - 1], out);
	buf_puts(out, " END");
	if (is_checked)
		buf_printf(out, ", '%c')", expr_rule(e));
}

static void write_cast(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_text = e->type.kind == TYPE_TEXT, is_real = e->type.kind == TYPE_REAL;

	/* The digits of 2^63 and more are a number to REAL too. */
	buf_puts(out, "CAST(");
	write_big(w, is_text || is_real ? "eb_text(" : "", e->args[0],
		  is_text || is_real ? ")" : "", out);
	buf_printf(out, " AS %s)", is_text ? "TEXT" : is_real ? "REAL" : "INTEGER");
}

/* What SQLite's own functions can take in place of an integer of 2^63 and more. */
static void write_argument(const struct lite_writer *w, const struct expr *e, u32 i,
			   struct buf *out)
{
	static const char *const converted[] = {
		['n'] = "eb_real(", ['i'] = "eb_clamp(", ['d'] = "eb_real(",
		['t'] = "eb_text(", ['a'] = "eb_i64(",	 ['z'] = NULL
	};
	const struct sql_function *f = e->function;
	const char *as = NULL;

	if (f && !f->takes_big && is_big(e->args[i]))
		as = converted[(u8)f->takes[MIN(i, strlen(f->takes) - 1)]];
	write_big(w, as ? as : "", e->args[i], as ? ")" : "", out);
}

static void write_call(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	const struct sql_function *f = e->function;
	const char *place = f && f->of_big && is_big(e->args[0]) ? strstr(f->of_big, "%s") : NULL;

	if (place) {
		buf_put(out, f->of_big, (size_t)(place - f->of_big));
		lite_write(w, e->args[0], out);
		buf_puts(out, place + 2);
		return;
	}
	buf_printf(out, "%s(", f && f->sql ? f->sql : e->name);
	for (u32 i = 0; i < e->n_args; i++) {
		buf_puts(out, i ? ", " : "");
		write_argument(w, e, i, out);
	}
	buf_putc(out, ')');
}

static void write_match(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	buf_putc(out, '(');
	lite_write(w, e->args[0], out);
	buf_puts(out, e->is_glob ? " GLOB " : " LIKE ");
	if (e->kind == EXPR_LIKE)
		lite_write_text(e->text, e->text_bytes, out);
	else
		lite_write(w, e->args[1], out);
	if (e->n_args > 2) {
		buf_puts(out, " ESCAPE ");
		lite_write(w, e->args[2], out);
	}
	buf_putc(out, ')');
}

void lite_write(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	if (w->leaf(w, e, out))
		return;
	switch (e->kind) {
	case EXPR_NULL:
		buf_puts(out, "NULL");
		return;
	case EXPR_INTEGER:
		write_integer(e->integer, out);
		return;
	case EXPR_REAL:
		write_real(e->real, out);
		return;
	case EXPR_TEXT:
		lite_write_text(e->text, e->text_bytes, out);
		return;
	case EXPR_OP:
		write_operator(w, e, out);
		return;
	case EXPR_IN:
		buf_putc(out, '(');
		lite_write(w, e->args[0], out);
		buf_puts(out, " IN (");
		for (u32 i = 1; i < e->n_args; i++) {
			buf_puts(out, i > 1 ? ", " : "");
			lite_write(w, e->args[i], out);
		}
		buf_puts(out, "))");
		return;
	case EXPR_LIKE:
	case EXPR_MATCH:
		write_match(w, e, out);
		return;
	case EXPR_CAST:
		write_cast(w, e, out);
		return;
	case EXPR_IS_NULL:
		buf_putc(out, '(');
		lite_write(w, e->args[0], out);
		buf_puts(out, " IS NULL)");
		return;
	case EXPR_CASE:
		write_case(w, e, out);
		return;
	case EXPR_CALL:
		write_call(w, e, out);
		return;
	case EXPR_FIELD:
	case EXPR_SYSTEM:
	case EXPR_MEMBER:
	case EXPR_UNION:
	case EXPR_RUNNING:
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
		break;
	}
	BUG("expression kind %d is no column here", e->kind);
}
