/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operators over bound arguments: which types go together, and what is said where they do
 * not; CASE, and conditions.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

static const char *type_word(const struct expr *e)
{
	static const char *const words[TYPE_TOP + 1] = {
		[TYPE_TEXT] = "a text",		[TYPE_BLOB] = "a text",
		[TYPE_DURATION] = "a duration", [TYPE_TIMESTAMP] = "a time",
		[TYPE_BOOL] = "true or false",	[TYPE_POINTER] = "an address"
	};

	return words[e->type.kind] ? words[e->type.kind] : "a number";
}

/* comm = 'a' || comm = 'b' is read as (comm = ('a' || comm)) = 'b'. */
static bool has_concat(const struct expr *e)
{
	if (e->kind != EXPR_OP)
		return false;
	return e->op == OP_CONCAT ||
	       (e->n_args == 2 && expr_is_text(e->args[1]) && has_concat(e->args[1]));
}

static bool is_arithmetic(const char *what)
{
	for (u32 op = 0; op <= OP_SHIFT_RIGHT; op++)
		if (op != OP_CONCAT && strcmp(ast_op_names[op], what) == 0)
			return true;
	return false;
}

/* '2 seconds': as it stands without quotes, 2seconds; NULL: it is no duration. */
static const char *bare_duration(struct scope *scope, const struct expr *text)
{
	struct buf bare;
	s64 ns;

	if (text->kind != EXPR_TEXT || !sql_cast_duration(text->text, text->text_bytes, &ns))
		return NULL;
	buf_init_in(&bare, scope->arena);
	buf_puts(&bare, "");
	for (u32 i = 0; i < text->text_bytes; i++)
		if (!isspace((u8)text->text[i]) && text->text[i] != '+')
			buf_putc(&bare, text->text[i]);
	return bare.n && isalpha((u8)bare.at[bare.n - 1]) ? bare.at : NULL;
}

static void hint_arithmetic(struct scope *scope, struct diag *d, const struct expr *text)
{
	struct buf written;
	bool is_real = false, is_number = text->text_bytes;

	if (text->kind != EXPR_TEXT) {
		diag_hint(scope->diags, d, "CAST(x AS INTEGER) makes a number of a text");
		return;
	}
	for (u32 i = 0; i < text->text_bytes; i++) {
		is_number &= text->text[i] && strchr("0123456789+-.eE ", text->text[i]);
		is_real |= text->text[i] && strchr(".eE", text->text[i]);
	}
	buf_init_in(&written, scope->arena);
	buf_put_quoted(&written, '\'', text->text, text->text_bytes);
	diag_hint(scope->diags, d, "CAST(%s AS %s) makes a number of a text", written.at,
		  is_number && is_real ? "REAL" : "INTEGER");
}

void *bind_mismatch(struct scope *scope, const char *what, struct span span, const struct expr *a,
		    const struct expr *b)
{
	const struct expr *text = expr_is_text(a) ? a : b;
	const struct expr *other = text == a ? b : a;
	const char *name = text->kind == EXPR_TEXT
				   ? arena_strndup(scope->arena, text->text, text->text_bytes)
				   : "";
	const char *duration = is_arithmetic(what) ? bare_duration(scope, text) : NULL;
	s64 number;
	const struct naming *naming = naming_with(name, &number);
	struct diag *d = diag_error(scope->diags, "type-mismatch", span, "%s is between %s and %s",
				    what, type_word(a), type_word(b));

	if (text->kind == EXPR_TEXT && other->kind == EXPR_SYSTEM &&
	    (other->index == SYS_PID || other->index == SYS_TID))
		diag_hint(scope->diags, d, "%s is a number; the name is in comm", other->name);
	else if (duration)
		diag_hint(scope->diags, d, "a duration stands without quotes: %s", duration);
	else if (text->kind == EXPR_TEXT && other->type.kind == TYPE_TIMESTAMP)
		diag_hint(scope->diags, d,
			  "times are ns since 1970, live since boot; date(x / 1s, 'unixepoch') "
			  "makes a text of one");
	else if (*bind_note(scope, text))
		diag_hint(scope->diags, d, "%s is %s", text->name, bind_note(scope, text));
	else if (has_concat(text) || has_concat(other))
		diag_hint(scope->diags, d, "|| puts texts together; OR stands between conditions");
	else if (is_arithmetic(what))
		hint_arithmetic(scope, d, text);
	else if (other->type.kind == TYPE_POINTER)
		diag_hint(scope->diags, d, "str(%s) is the text at an address",
			  other->kind == EXPR_FIELD ? other->name : "x");
	else if (other->kind == EXPR_INTEGER)
		diag_hint(scope->diags, d, "write the number as a text: '%lld'",
			  (long long)other->integer);
	else if (naming && naming_is_bit(naming, number))
		diag_hint(scope->diags, d, "write %s & 0x%llx <> 0",
			  other->kind == EXPR_FIELD ? other->name : "x",
			  (unsigned long long)number);
	else if (naming)
		diag_hint(scope->diags, d, "write %s(%s) = '%s'", naming->name,
			  other->kind == EXPR_FIELD ? other->name : "x", name);
	else if (text->kind == EXPR_TEXT)
		diag_hint(scope->diags, d, "leave the quotes away to compare numbers");
	else
		diag_hint(scope->diags, d, "both sides must be texts or both numbers");
	return NULL;
}

bool bind_fits(struct scope *scope, const char *what, struct span span, const struct expr *a,
	       const struct expr *b)
{
	if (expr_is_text(a) == expr_is_text(b) || a->type.kind == TYPE_NULL ||
	    b->type.kind == TYPE_NULL)
		return true;
	return bind_mismatch(scope, what, span, a, b);
}

static bool op_fits(struct scope *scope, enum ast_op op, struct span span, const struct expr *a,
		    const struct expr *b)
{
	bool wants_numbers = op <= OP_SHIFT_RIGHT || op >= OP_AND;

	if (b && op != OP_CONCAT && !bind_fits(scope, ast_op_names[op], span, a, b))
		return false;
	if (!wants_numbers || !(expr_is_text(a) || (b && expr_is_text(b))))
		return true;
	return diag_refuse(scope->diags, "type-mismatch", span,
			   "%s works on numbers, not on texts" HINT "%s", ast_op_names[op],
			   is_arithmetic(ast_op_names[op])
				   ? "CAST(x AS INTEGER) makes a number of a text"
				   : "compare texts with =, <>, <, >, IN or LIKE");
}

/*
 * x < 1.5 is x < 2, and so on: an integer against a REAL constant, exactly, without REAL; or
 * NULL.
 */
static struct expr *compare_with_real(struct scope *scope, enum ast_op op, struct span span,
				      struct expr *x, double real)
{
	double bound = op == OP_LT || op == OP_GE ? ceil(real) : floor(real);

	if (x->is_user_only || !type_is_word(x->type) || !(fabs(bound) < 9.2e18))
		return NULL;
	if ((op == OP_EQ || op == OP_NE) && bound != real)
		return bind_op(scope, op == OP_EQ ? OP_NE : OP_EQ, span, x, x);
	return bind_op(scope, op, span, x, expr_number(scope->arena, span, (s64)bound));
}

/* A difference of the times of a join's two ends is no less than 0: the join sees to it. */
static void type_difference(struct scope *scope, struct expr *e)
{
	const struct expr *a = e->args[0], *b = e->op == OP_SUB ? e->args[1] : NULL;

	if (!b || a->type.kind != TYPE_TIMESTAMP || b->type.kind != TYPE_TIMESTAMP)
		return;
	for (u32 i = 0; i < scope->shared->joins.n; i++) {
		const struct plan *join = scope->shared->joins.at[i];

		if (!bind_is_time_of(scope->arena, a, join->input) ||
		    !bind_is_time_of(scope->arena, b, join->right))
			continue;
		e->type = (struct type){ .kind = TYPE_DURATION, .bits = 64 };
		e->lo = 0;
		e->hi = a->hi;
		e->may_overflow = false;
		e->nullable = a->nullable || b->nullable;
		return;
	}
}

/* What is legal and most often not meant: `latency > 10` is of nanoseconds. */
static void warn_number(struct scope *scope, const struct expr *x, const struct expr *number)
{
	if (x->type.kind == TYPE_DURATION && x->kind != EXPR_INTEGER &&
	    number->kind == EXPR_INTEGER && number->type.kind == TYPE_INT && number->integer)
		diag_warning(scope->diags, "no-unit", number->span,
			     "this number is compared with a DURATION, and so one of "
			     "nanoseconds" HINT "write the unit behind it: 10us, 10ms, 10s, or "
			     "10ns");
}

/* The kernel's names of threads end with a NUL. */
static void warn_text(struct scope *scope, const struct expr *x, const struct expr *text)
{
	bool is_comm = x->kind == EXPR_SYSTEM && x->index == SYS_COMM;
	u32 n = x->type.bytes - is_comm;

	if (x->type.kind != TYPE_TEXT || !x->type.bytes || x->kind == EXPR_TEXT ||
	    text->kind != EXPR_TEXT || text->text_bytes <= n)
		return;
	diag_warning(scope->diags, "never-equal", text->span,
		     "this text has %u bytes, what it is compared with at most %u: they are never "
		     "equal" HINT "the first %u: '%.*s'",
		     text->text_bytes, n, n, (int)n, text->text);
}

/* ret, arg0, ...: what a register held, of a type that nobody told. */
static bool is_register(const struct expr *x)
{
	return strcasecmp(x->name, "ret") == 0 ||
	       (strncasecmp(x->name, "arg", 3) == 0 && isdigit((unsigned char)x->name[3]));
}

/*
 * What a program's register holds has no type: -1 of an int is 4294967295 there; and an error that
 * a function of the kernel returns for a pointer is a large address.  x >= 0 is true of all, which
 * is no mistake but of a register, where it asks whether the call went well.
 */
static void warn_sign(struct scope *scope, enum ast_op op, const struct expr *x,
		      const struct expr *number)
{
	bool is_column = x->kind == EXPR_FIELD || x->kind == EXPR_MEMBER ||
			 x->kind == EXPR_SYSTEM || x->kind == EXPR_KEY ||
			 x->kind == EXPR_AGGREGATE || x->kind == EXPR_COLUMN;
	bool is_pointer = x->type.kind == TYPE_POINTER;
	bool is_asked = op == OP_LT || (op == OP_GE && !scope->is_between &&
					x->kind == EXPR_FIELD && is_register(x));
	struct buf type;

	if (!is_column || (x->type.kind != TYPE_INT && !is_pointer) || x->type.is_signed ||
	    number->kind != EXPR_INTEGER || number->integer > 0 ||
	    (number->integer == 0 && !is_asked))
		return;
	buf_init_in(&type, scope->arena);
	type_print(x->type, &type);
	diag_warning(scope->diags, "no-sign", number->span,
		     "what this number is compared with is a %s, and so never below 0" HINT "%s",
		     type.at,
		     is_pointer
			     ? "CAST(x AS 's64') is below 0 for an address that stands for an error"
			     : "CAST(x AS 's32') takes the lower 32 bits for an int, 's64' all for "
			       "a long");
}

/* A condition by itself; target_pid() is the number that one compares with. */
static void warn_tree(struct scope *scope, const struct expr *tree, const struct expr *x)
{
	if (tree->kind != EXPR_SYSTEM || tree->index != SYS_TREE || x->type.kind != TYPE_INT ||
	    x->kind == EXPR_INTEGER)
		return;
	diag_warning(scope->diags, "tree-compared", x->span,
		     "this is compared with target_tree(), which is true or false" HINT
		     "WHERE target_tree() takes the events of the whole tree");
}

/* What is there to find by the name of an address in a process that has ended? */
void bind_warn_process(struct scope *scope, const struct expr *x)
{
	struct settings *settings = scope->settings;

	if (scope->is_shipped || settings->is_usym_told || settings->target_pid > 0 ||
	    !function_is_naming(x) || x->function->naming != &naming_usym)
		return;
	settings->is_usym_told = true;
	diag_warning(scope->diags, "ended-process", x->span,
		     "a process is looked at when the name is tested: one that has ended by then "
		     "has digits only, and is not found" HINT
		     "-- COMMAND and -p PID name a process, which is looked at while it runs");
}

void bind_warn_unlike(struct scope *scope, enum ast_op op, const struct expr *a,
		      const struct expr *b)
{
	if (scope->is_shipped)
		return;
	bind_warn_process(scope, a);
	bind_warn_process(scope, b);
	warn_number(scope, a, b);
	warn_number(scope, b, a);
	warn_tree(scope, a, b);
	warn_tree(scope, b, a);
	warn_sign(scope, op, a, b);
	warn_sign(scope, expr_op_mirrored(op), b, a);
	if (op == OP_EQ || op == OP_NE) {
		warn_text(scope, a, b);
		warn_text(scope, b, a);
	}
}

struct expr *bind_op(struct scope *scope, enum ast_op op, struct span span, struct expr *a,
		     struct expr *b)
{
	bool is_comparison = op >= OP_EQ && op <= OP_GE;
	struct expr *sides[] = { a, b }, *e = NULL;

	if (!a || (!b && op < OP_NOT) || !op_fits(scope, op, span, a, b))
		return NULL;
	if (op == OP_SUB || is_comparison) {
		bind_meet_clocks(scope->arena, sides, 2);
		a = sides[0];
		b = sides[1];
	}
	if (is_comparison)
		bind_warn_unlike(scope, op, a, b);
	if (is_comparison && b->kind == EXPR_REAL)
		e = compare_with_real(scope, op, span, a, b->real);
	else if (is_comparison && a->kind == EXPR_REAL)
		e = compare_with_real(scope, expr_op_mirrored(op), span, b, a->real);
	if (e)
		return e;
	/* A constant -9223372036854775808 is a negation of 2^63, which fits only unsigned. */
	if (op == OP_NEG && a->kind == EXPR_INTEGER && a->integer <= (s128)1 << 63)
		return expr_integer(
			scope->arena, span,
			(struct type){ .kind = a->type.kind, .bits = 64, .is_signed = true },
			-a->integer);
	if (op == OP_NEG && a->kind == EXPR_REAL) {
		e = expr_copy(scope->arena, a);
		e->span = span;
		e->real = 0 - a->real; /* SQLite has no -0.0 */
		return e;
	}
	/* Not of the type alone: a column without one has values. */
	if ((op == OP_IS || op == OP_IS_NOT) && (expr_is_null(a) || expr_is_null(b))) {
		e = expr_make(scope->arena, EXPR_IS_NULL, span, 1, expr_is_null(a) ? b : a);
		return op == OP_IS ? e : bind_op(scope, OP_NOT, span, e, NULL);
	}
	e = expr_op(scope->arena, op, span, a, b);
	type_difference(scope, e);
	return e;
}

bool bind_check_condition(struct scope *scope, const struct expr *e, const char *clause)
{
	if (!expr_is_text(e))
		return true;
	return diag_refuse(scope->diags, "type-mismatch", e->span,
			   "%s needs a condition, this is a text" HINT "compare it: comm = 'nginx'",
			   clause);
}

struct expr *bind_case_done(struct scope *scope, struct expr *e, bool is_iif)
{
	const struct expr *typed = NULL;

	for (u32 i = 0; i + 1 < e->n_args; i += 2)
		if (!bind_check_condition(scope, e->args[i], is_iif ? "iif()" : "WHEN"))
			return NULL;
	for (u32 i = 1; i <= e->n_args; i += 2) {
		const struct expr *r = e->args[MIN(i, e->n_args - 1)];

		if (r->type.kind == TYPE_NULL)
			continue;
		if (typed && !bind_fits(scope, is_iif ? "iif()" : "CASE", r->span, typed, r))
			return NULL;
		typed = r;
	}
	bind_meet_clocks(scope->arena, e->args, e->n_args);
	expr_infer(e);
	return e;
}

struct expr *bind_case_of(struct scope *scope, struct span span, struct expr *when,
			  struct expr *then, struct expr *otherwise)
{
	if (!when || !then || !otherwise)
		return NULL;
	return bind_case_done(
		scope, expr_make(scope->arena, EXPR_CASE, span, 3, when, then, otherwise), true);
}
