/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arithmetic as the kernel part does it: exact, and NULL with a fault counted where
 * the result leaves its type; on reals as SQLite's operators.  Which type that is
 * does not show in the values alone: an optional last argument, the rule, tells it.
 */
#include "func/internal.h"

#include <string.h>

enum op { ADD, SUB, MUL, DIV, MOD, SHL, SHR, AND, OR };

struct rule {
	s128 lo, hi;		   /* what the result may be */
	bool has_signed_arguments; /* an argument of 2^63 and more is a fault */
	bool is_given;
};

static bool read_rule(sqlite3_context *context, int argc, sqlite3_value **argv, int at,
		      struct rule *ret_rule)
{
	const char *text;

	*ret_rule = (struct rule){ S64_LO, U64_HI, false, false };
	if (argc <= at)
		return true;
	ret_rule->is_given = true;
	text = (const char *)sqlite3_value_text(argv[at]);
	if (text && (strcmp(text, "s") == 0 || strcmp(text, "S") == 0)) {
		ret_rule->hi = S64_HI;
		ret_rule->has_signed_arguments = *text == 'S';
	} else if (text && strcmp(text, "u") == 0) {
		ret_rule->lo = 0;
	} else {
		sqlite3_result_error(context, "the rule is 's', 'S' or 'u'", -1);
		return false;
	}
	return true;
}

static void fault(sqlite3_context *context)
{
	func_context_of(context)->n_faults++;
	sqlite3_result_null(context);
}

static void give(sqlite3_context *context, const struct rule *rule, s128 result)
{
	if (result < rule->lo || result > rule->hi)
		fault(context);
	else
		special_result_integer(context, result);
}

static bool is_refused(const struct rule *rule, const struct number *number)
{
	return rule->has_signed_arguments && number->integer > S64_HI;
}

/* false: no result. */
static bool compute(enum op op, s128 a, s128 b, s128 *ret_result)
{
	switch (op) {
	case ADD:
		return !__builtin_add_overflow(a, b, ret_result);
	case SUB:
		return !__builtin_sub_overflow(a, b, ret_result);
	case MUL:
		return !__builtin_mul_overflow(a, b, ret_result);
	default:
		if (!b)
			return false;
		*ret_result = op == DIV ? a / b : a % b;
		return true;
	}
}

/* SQLite's % and its operators on bits take integers: they cut reals. */
static s64 cut(sqlite3_value *value)
{
	return special_of(value) == SPECIAL_INTEGER ? INT64_MAX : sqlite3_value_int64(value);
}

static void compute_real(sqlite3_context *context, enum op op, sqlite3_value **argv, double a,
			 double b)
{
	double result;
	s64 divisor;

	switch (op) {
	case ADD:
		result = a + b;
		break;
	case SUB:
		result = a - b;
		break;
	case MUL:
		result = a * b;
		break;
	case DIV:
		if (b == 0) {
			sqlite3_result_null(context);
			return;
		}
		result = a / b;
		break;
	default:
		divisor = cut(argv[1]);
		if (!divisor) {
			sqlite3_result_null(context);
			return;
		}
		/* A real again; INT64_MIN % -1 would trap. */
		result = divisor == -1 ? 0 : (double)(cut(argv[0]) % divisor);
	}
	/* SQLite has no NaN: it becomes NULL. */
	sqlite3_result_double(context, result);
}

static void call_arithmetic(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	enum op op = func_detail(context);
	struct number a, b;
	struct rule rule;
	s128 result;

	if (!number_of(context, argv[0], &a) || !number_of(context, argv[1], &b) ||
	    !read_rule(context, argc, argv, 2, &rule))
		return;
	if (a.kind == NUMBER_NULL || b.kind == NUMBER_NULL)
		sqlite3_result_null(context);
	else if (a.kind == NUMBER_REAL || b.kind == NUMBER_REAL)
		compute_real(context, op, argv, a.real, b.real);
	else if (is_refused(&rule, &a) || is_refused(&rule, &b) ||
		 !compute(op, a.integer, b.integer, &result))
		fault(context);
	else
		give(context, &rule, result);
}

/* --- Bits --- */

static bool bits_of(sqlite3_context *context, sqlite3_value *value, struct number *ret_number)
{
	if (!number_of(context, value, ret_number))
		return false;
	if (ret_number->kind == NUMBER_REAL) {
		ret_number->kind = NUMBER_INTEGER;
		ret_number->integer = cut(value);
	}
	return true;
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
static void give_bits(sqlite3_context *context, const struct rule *rule, bool is_unsigned, u64 bits)
{
	if (rule->is_given)
		is_unsigned = rule->lo == 0;
	special_result_integer(context, is_unsigned ? (s128)bits : (s128)(s64)bits);
}

static void call_bits(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	enum op op = func_detail(context);
	struct number a, b;
	struct rule rule;
	bool is_unsigned;

	if (!bits_of(context, argv[0], &a) || !bits_of(context, argv[1], &b) ||
	    !read_rule(context, argc, argv, 2, &rule))
		return;
	if (a.kind == NUMBER_NULL || b.kind == NUMBER_NULL) {
		sqlite3_result_null(context);
		return;
	}
	if (is_refused(&rule, &a) || (op == OR && is_refused(&rule, &b))) {
		fault(context);
		return;
	}
	is_unsigned = a.integer > S64_HI;
	switch (op) {
	case SHL:
	case SHR:
		give_bits(context, &rule, is_unsigned, shift(a.integer, b.integer, op == SHL));
		break;
	case AND:
		/* Never negative unless both are, so the values tell all. */
		special_result_integer(context, a.integer & b.integer);
		break;
	default:
		/* A negative value and one of 2^63 and more have no type in common. */
		if (MIN(a.integer, b.integer) < 0 && MAX(a.integer, b.integer) > S64_HI)
			fault(context);
		else
			give(context, &rule, a.integer | b.integer);
	}
}

/* --- One argument --- */

static void call_neg(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct rule rule;
	struct number x;

	if (!number_of(context, argv[0], &x) || !read_rule(context, argc, argv, 1, &rule))
		return;
	if (!rule.is_given)
		rule = (struct rule){ S64_LO, S64_HI, true, false };
	if (x.kind == NUMBER_NULL)
		sqlite3_result_null(context);
	else if (x.kind == NUMBER_REAL)
		sqlite3_result_double(context, 0 - x.real);
	else if (is_refused(&rule, &x))
		fault(context);
	else
		give(context, &rule, -x.integer);
}

static void call_abs(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	static const struct rule rule = { 0, U64_HI, false, false };
	int type = sqlite3_value_type(argv[0]);
	bool is_big = special_of(argv[0]) == SPECIAL_INTEGER;
	struct number x;

	if (!number_of(context, argv[0], &x))
		return;
	/* SQLite takes the absolute value of a text or a blob as of a real. */
	if (type == SQLITE_TEXT || (type == SQLITE_BLOB && !is_big))
		x = (struct number){ NUMBER_REAL, 0, sqlite3_value_double(argv[0]) };
	if (x.kind == NUMBER_NULL)
		sqlite3_result_null(context);
	else if (x.kind == NUMBER_REAL)
		sqlite3_result_double(context, x.real < 0 ? -x.real : x.real);
	else if (x.integer == S64_LO)
		fault(context);
	else
		give(context, &rule, x.integer < 0 ? -x.integer : x.integer);
}

static void call_not(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct number x;

	if (!bits_of(context, argv[0], &x))
		return;
	if (x.kind == NUMBER_NULL)
		sqlite3_result_null(context);
	else if (x.integer > S64_HI)
		fault(context);
	else
		special_result_integer(context, ~x.integer);
}

static void call_fit(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct rule rule;
	struct number x;

	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER &&
	    special_of(argv[0]) != SPECIAL_INTEGER) {
		sqlite3_result_value(context, argv[0]);
		return;
	}
	if (number_of(context, argv[0], &x) && read_rule(context, argc, argv, 1, &rule))
		give(context, &rule, x.integer);
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

static void call_i64(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	if (special_of(argv[0]) == SPECIAL_INTEGER)
		sqlite3_result_error(context, "too large", -1);
	else
		sqlite3_result_value(context, argv[0]);
}

#define OF_TWO(name, detail, call)                                                                 \
	{ name, 2, detail, call },                                                                 \
	{                                                                                          \
		name, 3, detail, call                                                              \
	}

const struct function arith_functions[] = {
	OF_TWO("eb_add", ADD, call_arithmetic),
	OF_TWO("eb_sub", SUB, call_arithmetic),
	OF_TWO("eb_mul", MUL, call_arithmetic),
	OF_TWO("eb_div", DIV, call_arithmetic),
	OF_TWO("eb_mod", MOD, call_arithmetic),
	OF_TWO("eb_shl", SHL, call_bits),
	OF_TWO("eb_shr", SHR, call_bits),
	OF_TWO("eb_and", AND, call_bits),
	OF_TWO("eb_or", OR, call_bits),
	{ "eb_neg", 1, 0, call_neg },
	{ "eb_neg", 2, 0, call_neg },
	{ "eb_abs", 1, 0, call_abs },
	{ "eb_not", 1, 0, call_not },
	{ "eb_fit", 2, 0, call_fit },
	{ "eb_range", 1, 0, call_range },
	{ "eb_i64", 1, 0, call_i64 },
	{ NULL },
};
