/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bound expressions -> SQL for SQLite, the only printer of them.  Arithmetic goes through
 * the functions of func/ with the rule of its type, so it is what the kernel part computes;
 * comparisons are SQLite's own, but where a real may meet an integer of 2^63 and more.
 * Long chains are printed flat: SQLite's parser has a stack of 100 entries.
 */
#include <stdio.h>
#include <string.h>

#include "lite/lite.h"

/* --- Constants --- */

/* SQL's texts end at a NUL. */
static void write_text(const char *text, u32 n, struct buf *out)
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

void lite_write_name(const char *name, struct buf *out)
{
	buf_putc(out, '"');
	for (; *name; name++) {
		if (*name == '"')
			buf_putc(out, '"');
		buf_putc(out, *name);
	}
	buf_putc(out, '"');
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

/* May both be whole numbers, as of coalesce(n, 0.5), where the result is a REAL? */
static bool is_of_whole(const struct expr *e)
{
	bool is_whole = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL || e->op == OP_DIV;

	for (u32 i = 0; i < e->n_args; i++)
		is_whole &= e->args[i]->kind != EXPR_REAL &&
			    (e->args[i]->kind != EXPR_CAST || e->args[i]->type.kind != TYPE_REAL);
	return is_whole;
}

static bool needs_rule(const struct expr *e)
{
	if (e->type.kind == TYPE_REAL)
		return is_of_whole(e);
	if (!type_is_word(e->type) || e->op == OP_BIT_NOT)
		return false;
	return e->may_overflow || e->op == OP_SHIFT_LEFT || e->op == OP_SHIFT_RIGHT;
}

/* Of constants alone SQLite computes once for all rows; a fault is one of each row. */
static void write_first(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_each = e->args[0]->kind == EXPR_INTEGER &&
		       (e->n_args == 1 || expr_is_constant(e->args[1]));

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

/* What stands for 2^63 and more in SQLite is no number to it: said so around it. */
static void write_big(const struct lite_writer *w, const char *before, const struct expr *e,
		      const char *behind, struct buf *out)
{
	buf_puts(out, is_big(e) ? before : "");
	lite_write(w, e, out);
	buf_puts(out, is_big(e) ? behind : "");
}

static bool is_known(const struct expr *e)
{
	for (u32 i = 0; i < e->n_args; i++)
		if (!is_known(e->args[i]))
			return false;
	return e->n_args ? !e->plan : expr_is_constant(e);
}

/* Beside a constant SQLite leaves out what it would not need to know, and with it the faults. */
static void write_truth(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_each = is_known(e);

	buf_puts(out, is_each ? "eb_each(" : "");
	write_big(w, "(", e, " <> 0)", out);
	buf_puts(out, is_each ? ")" : "");
}

/* --- AND, OR, || --- */

static bool is_logic(const struct expr *e)
{
	return e->kind == EXPR_OP && (e->op == OP_AND || e->op == OP_OR);
}

/* SQLite's trees are at most 1,000 high: a longer chain is one of such pieces. */
#define PIECE_TERMS 200u

/* The terms of a AND b AND c, whichever way they are nested; the same for OR and ||. */
static void find_terms(struct arena *arena, struct expr *e, enum ast_op op, expr_vec *ret_terms)
{
	if (e->kind != EXPR_OP || e->op != op) {
		vec_push(arena, ret_terms, e);
		return;
	}
	find_terms(arena, e->args[0], op, ret_terms);
	find_terms(arena, e->args[1], op, ret_terms);
}

static void write_term(const struct lite_writer *w, const struct expr *e, enum ast_op op,
		       bool is_value, struct buf *out)
{
	if (op == OP_CONCAT)
		write_big(w, "eb_text(", e, ")", out);
	else if (is_value || is_known(e))
		write_truth(w, e, out);
	else
		lite_write_condition(w, e, out);
}

static bool one_can_fail(struct expr *const *terms, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (expr_can_fail(terms[i]))
			return true;
	return false;
}

static bool one_is_nullable(struct expr *const *terms, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (terms[i]->nullable)
			return true;
	return false;
}

/*
 * As a value SQLite computes both sides of AND and OR, as a condition the right one only
 * where the left does not decide.  What can fail is computed there alone, and once.
 */
static void write_terms(const struct lite_writer *w, struct expr *const *terms, u32 n,
			enum ast_op op, bool is_value, struct buf *out)
{
	const char *name = ast_op_names[op];
	u32 half = n - n / 2;
	bool is_guarded = is_value && one_can_fail(terms + half, n - half);

	if (n == 1) {
		write_term(w, terms[0], op, is_value, out);
		return;
	}
	if (n <= PIECE_TERMS && !(is_value && one_can_fail(terms + 1, n - 1))) {
		buf_putc(out, '(');
		for (u32 i = 0; i < n; i++) {
			if (i)
				buf_printf(out, " %s ", name);
			write_term(w, terms[i], op, is_value, out);
		}
		buf_putc(out, ')');
		return;
	}
	buf_puts(out, is_guarded ? "(CASE NOT " : "(");
	write_terms(w, terms, half, op, is_value, out);
	if (!is_guarded)
		buf_printf(out, " %s ", name);
	else
		buf_puts(out, op == OP_AND ? " WHEN 1 THEN 0 WHEN 0 THEN NOT NOT "
					   : " WHEN 0 THEN 1 WHEN 1 THEN NOT NOT ");
	write_terms(w, terms + half, n - half, op, is_value, out);
	if (is_guarded && one_is_nullable(terms, half) && out->n < LITE_BYTES_MAX) {
		buf_printf(out, " ELSE NULL %s ", name);
		write_terms(w, terms + half, n - half, op, is_value, out);
	}
	buf_puts(out, is_guarded ? " END)" : ")");
}

static void write_chain(const struct lite_writer *w, const struct expr *e, bool is_value,
			struct buf *out)
{
	expr_vec terms = { 0 };

	find_terms(w->arena, e->args[0], e->op, &terms);
	find_terms(w->arena, e->args[1], e->op, &terms);
	write_terms(w, terms.at, terms.n, e->op, is_value, out);
}

void lite_write_condition(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	if (is_logic(e)) {
		write_chain(w, e, false, out);
	} else if (e->kind == EXPR_OP && e->op == OP_NOT && !is_known(e)) {
		buf_puts(out, "(NOT ");
		lite_write_condition(w, e->args[0], out);
		buf_putc(out, ')');
	} else if (e->kind == EXPR_INTEGER && e->integer) {
		buf_putc(out, '1'); /* alone it leaves nothing out */
	} else {
		write_truth(w, e, out);
	}
}

void lite_guard_failures(expr_vec *conjuncts, struct arena *arena)
{
	bool can_fail = false;
	struct expr *all;

	for (u32 i = 0; i < conjuncts->n; i++)
		can_fail |= expr_can_fail(conjuncts->at[i]);
	if (!can_fail || conjuncts->n < 2)
		return;
	all = conjuncts->at[0];
	for (u32 i = 1; i < conjuncts->n; i++)
		all = expr_op(arena, OP_AND, all->span, all, conjuncts->at[i]);
	conjuncts->at[0] =
		expr_make(arena, EXPR_CASE, all->span, 3, all, expr_number(arena, all->span, 1),
			  expr_number(arena, all->span, 0));
	conjuncts->n = 1;
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
	} else if (is_logic(e) || e->op == OP_CONCAT) {
		write_chain(w, e, is_logic(e) && expr_can_fail(e), out);
	} else {
		write_comparison(w, e, out);
	}
}

/* --- The others --- */

/* A u64 of 2^63 and more where other arms are negative: no 64 bits hold both. */
static bool is_checked_case(const struct expr *e)
{
	return e->may_overflow && type_is_word(e->type);
}

/* A CASE in ELSE is more arms of this one. */
static void write_case(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	const struct expr *last = e->args[e->n_args - 1];
	bool is_checked = is_checked_case(e);
	const char *before = is_checked ? "eb_fit(CASE" : "CASE";

	if (e->n_args == 1) {
		lite_write(w, last, out);
		return;
	}
	for (const struct expr *at = e;; at = last) {
		last = at->args[at->n_args - 1];
		for (u32 i = 0; i + 1 < at->n_args; i += 2) {
			buf_printf(out, "%s WHEN ", before);
			before = "";
			lite_write_condition(w, at->args[i], out);
			buf_puts(out, " THEN ");
			lite_write(w, at->args[i + 1], out);
		}
		if (last->kind != EXPR_CASE || is_checked_case(last))
			break;
	}
	buf_puts(out, " ELSE ");
	lite_write(w, last, out);
	buf_puts(out, " END");
	if (is_checked)
		buf_printf(out, ", '%c')", expr_rule(e));
}

static void write_cast(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_text = e->type.kind == TYPE_TEXT, is_real = e->type.kind == TYPE_REAL;
	bool is_duration = e->type.kind == TYPE_DURATION && e->args[0]->type.kind != TYPE_REAL;

	/* The digits of 2^63 and more are a number to REAL too, and those of a sum below -2^63. */
	buf_puts(out, is_duration ? "CAST(eb_duration(" : "CAST(");
	if ((is_text || is_real) && w->is_sum && w->is_sum(w, e->args[0])) {
		buf_puts(out, "eb_text(");
		w->put(w, e->args[0], LITE_SHOWN, out);
		buf_printf(out, ") AS %s)", is_text ? "TEXT" : "REAL");
		return;
	}
	write_big(w, is_text || is_real ? "eb_text(" : "", e->args[0],
		  is_text || is_real ? ")" : "", out);
	buf_printf(out, "%s AS %s)", is_duration ? ")" : "",
		   is_text   ? "TEXT"
		   : is_real ? "REAL"
			     : "INTEGER");
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
	char after[40] = ")";

	if (f && !f->takes_big && is_big(e->args[i]))
		as = converted[(u8)f->takes[MIN(i, strlen(f->takes) - 1)]];
	/* It can fail, and then tells where. */
	if (as == converted['a'])
		snprintf(after, sizeof(after), ", '@%u-%u')", e->args[i]->span.start,
			 e->args[i]->span.end);
	write_big(w, as ? as : "", e->args[i], as ? after : "", out);
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
		write_text(e->text, e->text_bytes, out);
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
		write_text(e->text, e->text_bytes, out);
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
	case EXPR_OTHER:
		break;
	}
	BUG("expression kind %d is no column here", e->kind);
}
