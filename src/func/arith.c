/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arithmetic as the kernel part does it: exact, and NULL with a fault counted where
 * the result leaves its type; on reals as SQLite's operators.  Which type that is
 * does not show in the values alone: an optional last argument, the rule, tells it.
 */
#include "func/internal.h"

#include <string.h>

enum op { ADD, SUB, MUL, DIV, MOD, SHL, SHR, AND, OR, NEG, ABS, NOT };

struct rule {
	s128 lo, hi;		   /* what the result may be */
	bool has_signed_arguments; /* an argument of 2^63 and more is a fault */
	bool is_real;		   /* a quotient is, and what has no room in 64 bits */
	bool is_given;
};

/* NULL: none is given. */
static bool rule_named(sqlite3_context *context, const char *text, struct rule *ret_rule)
{
	*ret_rule = (struct rule){ .lo = S64_LO, .hi = U64_HI };
	if (!text)
		return true;
	ret_rule->is_given = true;
	if (strcmp(text, "s") == 0 || strcmp(text, "S") == 0) {
		ret_rule->hi = S64_HI;
		ret_rule->has_signed_arguments = *text == 'S';
	} else if (strcmp(text, "u") == 0) {
		ret_rule->lo = 0;
	} else if (strcmp(text, "r") == 0) {
		ret_rule->hi = S64_HI;
		ret_rule->is_real = true;
	} else {
		sqlite3_result_error(context, "the rule is 's', 'S', 'u' or 'r'", -1);
		return false;
	}
	return true;
}

static bool read_rule(sqlite3_context *context, int argc, sqlite3_value **argv, int at,
		      struct rule *ret_rule)
{
	const char *text = argc > at ? (const char *)sqlite3_value_text(argv[at]) : NULL;

	return rule_named(context, argc > at && !text ? "" : text, ret_rule);
}

static bool is_refused(const struct rule *rule, const struct number *number)
{
	return rule->has_signed_arguments && number->integer > S64_HI;
}

/* An argument, or (value NULL) what an operator before made. */
struct operand {
	struct number number;
	sqlite3_value *value;
};

static bool operand_of(sqlite3_context *context, sqlite3_value *value, struct operand *ret_operand)
{
	ret_operand->value = value;
	return number_of(context, value, &ret_operand->number);
}

static void set_null(struct operand *to)
{
	*to = (struct operand){ .number.kind = NUMBER_NULL };
}

static void set_real(struct operand *to, double real)
{
	*to = (struct operand){ { NUMBER_REAL, 0, real }, NULL };
}

static void set_fault(sqlite3_context *context, struct operand *to)
{
	func_of(context)->context->n_faults++;
	set_null(to);
}

static void set_integer(sqlite3_context *context, const struct rule *rule, s128 result,
			struct operand *to)
{
	bool has_room = result >= rule->lo && result <= rule->hi;

	if (!has_room && rule->is_real)
		set_real(to, (double)result);
	else if (!has_room)
		set_fault(context, to);
	else
		*to = (struct operand){ { NUMBER_INTEGER, result, (double)result }, NULL };
}

/* false: no result. */
static bool compute(enum op op, s128 a, s128 b, s128 *ret_result)
{
	if (op == ADD)
		return !__builtin_add_overflow(a, b, ret_result);
	if (op == SUB)
		return !__builtin_sub_overflow(a, b, ret_result);
	if (op == MUL)
		return !__builtin_mul_overflow(a, b, ret_result);
	if (b)
		*ret_result = op == DIV ? a / b : a % b;
	return b;
}

/* SQLite's % and its operators on bits take integers: they cut reals. */
static s64 cut(const struct operand *x)
{
	if (x->number.kind == NUMBER_INTEGER && x->number.integer > S64_HI)
		return INT64_MAX;
	if (x->value)
		return sqlite3_value_int64(x->value);
	if (x->number.kind == NUMBER_INTEGER)
		return (s64)x->number.integer;
	return x->number.real >= 0x1p63	   ? INT64_MAX
	       : x->number.real <= -0x1p63 ? INT64_MIN
					   : (s64)x->number.real;
}

static void compute_real(enum op op, struct operand *a, const struct operand *b)
{
	double x = a->number.real, y = b->number.real;
	s64 divisor = op == MOD ? cut(b) : 0;

	if (op == MOD ? !divisor : op == DIV && y == 0)
		set_null(a);
	else if (op == MOD) /* a real again; INT64_MIN % -1 would trap */
		set_real(a, divisor == -1 ? 0 : (double)(cut(a) % divisor));
	else
		set_real(a, op == ADD ? x + y : op == SUB ? x - y : op == MUL ? x * y : x / y);
}

static void arithmetic(sqlite3_context *context, enum op op, const struct rule *rule,
		       struct operand *a, const struct operand *b)
{
	s128 result;

	if (a->number.kind == NUMBER_REAL || b->number.kind == NUMBER_REAL ||
	    (rule->is_real && op == DIV))
		compute_real(op, a, b);
	else if (is_refused(rule, &a->number) || is_refused(rule, &b->number) ||
		 !compute(op, a->number.integer, b->number.integer, &result))
		set_fault(context, a);
	else
		set_integer(context, rule, result, a);
}

/* --- Bits --- */

static struct number bits_of(const struct operand *x)
{
	struct number number = x->number;

	if (number.kind == NUMBER_REAL)
		number = (struct number){ NUMBER_INTEGER, cut(x), 0 };
	return number;
}

/* A negative amount shifts the other way; 64 and more shift everything out. */
static u64 shift(s128 a, s128 amount, bool left)
{
	if (amount < 0) {
		left = !left;
		amount = -amount;
	}
	if (left)
		return amount > 63 ? 0 : (u64)a << amount;
	/* Of 128 bits: the sign of a comes in from above, 0 where a is not negative. */
	return (u64)(a >> MIN(amount, (s128)64));
}

/*
 * The 64 bits of the result, as the rule reads them.  Without one they are unsigned where an
 * argument of 2^63 and more went in.
 */
static s128 read_bits(const struct rule *rule, bool is_unsigned, u64 bits)
{
	if (rule->is_given)
		is_unsigned = rule->lo == 0;
	return is_unsigned ? (s128)bits : (s128)(s64)bits;
}

static void bits(sqlite3_context *context, enum op op, const struct rule *rule, struct operand *to,
		 const struct operand *with)
{
	static const struct rule any = { S64_LO, U64_HI, false, false };
	const struct number a = bits_of(to), b = bits_of(with);
	bool is_unsigned = a.integer > S64_HI;
	/* A negative value and one of 2^63 and more have no type in common. */
	bool is_mixed = MIN(a.integer, b.integer) < 0 && MAX(a.integer, b.integer) > S64_HI;

	if (is_refused(rule, &a) || (op == OR && (is_mixed || is_refused(rule, &b))))
		set_fault(context, to);
	else if (op == AND) /* never negative unless both are, so the values tell all */
		set_integer(context, &any, a.integer & b.integer, to);
	else if (op == OR)
		set_integer(context, rule, a.integer | b.integer, to);
	else
		set_integer(context, &any,
			    read_bits(rule, is_unsigned, shift(a.integer, b.integer, op == SHL)),
			    to);
}

/* --- Two arguments, and more --- */

static void apply(sqlite3_context *context, enum op op, const struct rule *rule, struct operand *a,
		  const struct operand *b)
{
	if (a->number.kind == NUMBER_NULL || b->number.kind == NUMBER_NULL)
		set_null(a);
	else if (op <= MOD)
		arithmetic(context, op, rule, a, b);
	else
		bits(context, op, rule, a, b);
}

static void give_operand(sqlite3_context *context, const struct operand *x)
{
	switch (x->number.kind) {
	case NUMBER_NULL:
		sqlite3_result_null(context);
		break;
	case NUMBER_INTEGER:
		special_result_integer(context, x->number.integer);
		break;
	case NUMBER_REAL:
		/* SQLite has no NaN: it becomes NULL. */
		sqlite3_result_double(context, x->number.real);
		break;
	}
}

static void call_two(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct operand a, b;
	struct rule rule;

	if (!operand_of(context, argv[0], &a) || !operand_of(context, argv[1], &b) ||
	    !read_rule(context, argc, argv, 2, &rule))
		return;
	apply(context, func_of(context)->function->detail, &rule, &a, &b);
	give_operand(context, &a);
}

static bool op_of(const char *text, enum op *ret_op)
{
	static const char letters[] = "+-*/%<>&|"; /* in the order of enum op */
	const char *at = *text ? strchr(letters, *text) : NULL;

	if (at)
		*ret_op = (enum op)(at - letters);
	return at != NULL;
}

/* eb_chain(a, '+s', b, '-', c, ...) */
static void call_chain(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct operand a, b;
	struct rule rule;
	const char *text;
	enum op op;

	if (argc % 2 == 0 || !operand_of(context, argv[0], &a)) {
		if (argc % 2 == 0)
			sqlite3_result_error(context, "a chain ends with a value", -1);
		return;
	}
	for (int i = 1; i < argc; i += 2) {
		text = (const char *)sqlite3_value_text(argv[i]);
		if (!text || !op_of(text, &op)) {
			sqlite3_result_error(context, "no operator", -1);
			return;
		}
		if (!operand_of(context, argv[i + 1], &b) ||
		    !rule_named(context, text[1] ? text + 1 : NULL, &rule))
			return;
		apply(context, op, &rule, &a, &b);
	}
	give_operand(context, &a);
}

/* --- One argument --- */

/* SQLite takes the absolute value of a text or a blob as of a real. */
static void set_absolute(sqlite3_context *context, struct operand *x)
{
	static const struct rule unsigned_rule = { .hi = U64_HI };
	int type = sqlite3_value_type(x->value);

	if (type == SQLITE_TEXT || (type == SQLITE_BLOB && special_of(x->value) != VALUE_INT))
		set_real(x, sqlite3_value_double(x->value));
	if (x->number.kind == NUMBER_REAL)
		set_real(x, x->number.real < 0 ? -x->number.real : x->number.real);
	else if (x->number.integer == S64_LO)
		set_fault(context, x);
	else
		set_integer(context, &unsigned_rule,
			    x->number.integer < 0 ? -x->number.integer : x->number.integer, x);
}

static void call_one(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	enum op op = func_of(context)->function->detail;
	struct operand x;
	struct rule rule;

	if (!operand_of(context, argv[0], &x) || !read_rule(context, argc, argv, 1, &rule))
		return;
	if (!rule.is_given)
		rule.hi = S64_HI;
	if (op == NOT && x.number.kind == NUMBER_REAL)
		x.number = bits_of(&x);
	if (x.number.kind == NUMBER_NULL)
		set_null(&x);
	else if (op == ABS)
		set_absolute(context, &x);
	else if (x.number.kind == NUMBER_REAL)
		set_real(&x, 0 - x.number.real);
	else if (op == NOT ? x.number.integer > S64_HI : is_refused(&rule, &x.number))
		set_fault(context, &x);
	else
		set_integer(context, &rule, op == NOT ? ~x.number.integer : -x.number.integer, &x);
	give_operand(context, &x);
}

static void call_fit(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct operand x;
	struct rule rule;

	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER && special_of(argv[0]) != VALUE_INT) {
		sqlite3_result_value(context, argv[0]);
	} else if (operand_of(context, argv[0], &x) && read_rule(context, argc, argv, 1, &rule)) {
		set_integer(context, &rule, x.number.integer, &x);
		give_operand(context, &x);
	}
}

/*
 * An unsigned key of a RANGE frame, moved down by 2^63: SQLite adds the frame's bounds to it, which
 * it can do with no integer of 2^63 and more.  Order and distances stay.
 */
static void call_range(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct number x;

	if (!number_of(context, argv[0], &x))
		return;
	if (x.kind == NUMBER_INTEGER)
		sqlite3_result_int64(context, (s64)(x.integer + S64_LO));
	else
		sqlite3_result_value(context, argv[0]);
}

#define WITH_RULE(name, n_args, detail, call)                                                      \
	{ name, n_args, detail, call },                                                            \
	{                                                                                          \
		name, n_args + 1, detail, call                                                     \
	}

const struct function arith_functions[] = {
	WITH_RULE("eb_add", 2, ADD, call_two), WITH_RULE("eb_sub", 2, SUB, call_two),
	WITH_RULE("eb_mul", 2, MUL, call_two), WITH_RULE("eb_div", 2, DIV, call_two),
	WITH_RULE("eb_mod", 2, MOD, call_two), WITH_RULE("eb_shl", 2, SHL, call_two),
	WITH_RULE("eb_shr", 2, SHR, call_two), WITH_RULE("eb_and", 2, AND, call_two),
	WITH_RULE("eb_or", 2, OR, call_two),   WITH_RULE("eb_neg", 1, NEG, call_one),
	{ "eb_abs", 1, ABS, call_one },	       { "eb_not", 1, NOT, call_one },
	{ "eb_fit", 2, 0, call_fit },	       { "eb_range", 1, 0, call_range },
	{ "eb_chain", -1, 0, call_chain },     { NULL },
};
