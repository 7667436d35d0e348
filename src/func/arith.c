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

/* NULL: none is given. */
static bool rule_named(sqlite3_context *context, const char *text, struct rule *ret_rule)
{
	*ret_rule = (struct rule){ S64_LO, U64_HI, false, false };
	if (!text)
		return true;
	ret_rule->is_given = true;
	if (strcmp(text, "s") == 0 || strcmp(text, "S") == 0) {
		ret_rule->hi = S64_HI;
		ret_rule->has_signed_arguments = *text == 'S';
	} else if (strcmp(text, "u") == 0) {
		ret_rule->lo = 0;
	} else {
		sqlite3_result_error(context, "the rule is 's', 'S' or 'u'", -1);
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
	func_context_of(context)->n_faults++;
	set_null(to);
}

static void set_integer(sqlite3_context *context, const struct rule *rule, s128 result,
			struct operand *to)
{
	if (result < rule->lo || result > rule->hi)
		set_fault(context, to);
	else
		*to = (struct operand){ { NUMBER_INTEGER, result, (double)result }, NULL };
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
	case DIV:
	case MOD:
		if (!b)
			return false;
		*ret_result = op == DIV ? a / b : a % b;
		return true;
	case SHL:
	case SHR:
	case AND:
	case OR:
		break;
	}
	BUG("op %d", op);
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
	s64 divisor;

	switch (op) {
	case ADD:
		set_real(a, x + y);
		return;
	case SUB:
		set_real(a, x - y);
		return;
	case MUL:
		set_real(a, x * y);
		return;
	case DIV:
		if (y == 0)
			set_null(a);
		else
			set_real(a, x / y);
		return;
	case MOD:
		divisor = cut(b);
		/* A real again; INT64_MIN % -1 would trap. */
		if (!divisor)
			set_null(a);
		else
			set_real(a, divisor == -1 ? 0 : (double)(cut(a) % divisor));
		return;
	case SHL:
	case SHR:
	case AND:
	case OR:
		break;
	}
	BUG("op %d", op);
}

static void arithmetic(sqlite3_context *context, enum op op, const struct rule *rule,
		       struct operand *a, const struct operand *b)
{
	s128 result;

	if (a->number.kind == NUMBER_REAL || b->number.kind == NUMBER_REAL)
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

	if (is_refused(rule, &a) || (op == OR && is_refused(rule, &b))) {
		set_fault(context, to);
		return;
	}
	switch (op) {
	case SHL:
	case SHR:
		set_integer(context, &any,
			    read_bits(rule, is_unsigned, shift(a.integer, b.integer, op == SHL)),
			    to);
		break;
	case AND:
		/* Never negative unless both are, so the values tell all. */
		set_integer(context, &any, a.integer & b.integer, to);
		break;
	case OR:
		/* A negative value and one of 2^63 and more have no type in common. */
		if (MIN(a.integer, b.integer) < 0 && MAX(a.integer, b.integer) > S64_HI)
			set_fault(context, to);
		else
			set_integer(context, rule, a.integer | b.integer, to);
		break;
	case ADD:
	case SUB:
	case MUL:
	case DIV:
	case MOD:
		BUG("op %d", op);
	}
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
	apply(context, func_detail(context), &rule, &a, &b);
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

static void call_neg(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct rule rule;
	struct number x;

	if (!number_of(context, argv[0], &x) || !read_rule(context, argc, argv, 1, &rule))
		return;
	if (!rule.is_given)
		rule.hi = S64_HI;
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
	bool is_big = special_of(argv[0]) == VALUE_INT;
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
	struct operand operand;
	struct number x;

	if (!operand_of(context, argv[0], &operand))
		return;
	x = bits_of(&operand);
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

	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER && special_of(argv[0]) != VALUE_INT) {
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
	if (special_of(argv[0]) == VALUE_INT)
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
	OF_TWO("eb_add", ADD, call_two),   OF_TWO("eb_sub", SUB, call_two),
	OF_TWO("eb_mul", MUL, call_two),   OF_TWO("eb_div", DIV, call_two),
	OF_TWO("eb_mod", MOD, call_two),   OF_TWO("eb_shl", SHL, call_two),
	OF_TWO("eb_shr", SHR, call_two),   OF_TWO("eb_and", AND, call_two),
	OF_TWO("eb_or", OR, call_two),	   { "eb_neg", 1, 0, call_neg },
	{ "eb_neg", 2, 0, call_neg },	   { "eb_abs", 1, 0, call_abs },
	{ "eb_not", 1, 0, call_not },	   { "eb_fit", 2, 0, call_fit },
	{ "eb_range", 1, 0, call_range },  { "eb_i64", 1, 0, call_i64 },
	{ "eb_chain", -1, 0, call_chain }, { NULL },
};
