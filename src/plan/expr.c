/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bound expressions: builders, equality, and the inference of type, range and
 * nullability from the arguments.  Ranges are exact intervals in 128 bits; they
 * tell where 64-bit arithmetic can overflow, and so where a check is needed.
 */
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

#define S64_LO ((s128)INT64_MIN)
#define S64_HI ((s128)INT64_MAX)
#define U64_HI ((s128)UINT64_MAX)

/* What every expression of a kind is. */
static const struct {
	bool is_read;	   /* a column, or NULL itself: NULL where the columns are */
	bool is_condition; /* true or false */
	bool is_user_only;
} kinds[] = {
	[EXPR_NULL] = { .is_read = true },
	[EXPR_FIELD] = { .is_read = true },
	[EXPR_SYSTEM] = { .is_read = true },
	[EXPR_RUNNING] = { .is_read = true },
	[EXPR_COLUMN] = { .is_read = true, .is_user_only = true },
	[EXPR_IN] = { .is_condition = true },
	[EXPR_LIKE] = { .is_condition = true },
	[EXPR_IS_NULL] = { .is_condition = true },
	[EXPR_MATCH] = { .is_condition = true, .is_user_only = true },
	[EXPR_REAL] = { .is_user_only = true },
	[EXPR_CALL] = { .is_user_only = true },
	[EXPR_CAST] = { .is_user_only = true },
	[EXPR_OVER] = { .is_user_only = true },
	[EXPR_SUBQUERY] = { .is_user_only = true },
	[EXPR_EXISTS] = { .is_user_only = true },
	[EXPR_IN_SELECT] = { .is_user_only = true },
	[EXPR_STATISTIC] = { .is_user_only = true },
};

struct expr *expr_new(struct arena *arena, enum expr_kind kind, struct span span)
{
	struct expr *e = arena_new(arena, struct expr);

	e->kind = kind;
	e->span = span;
	return e;
}

void expr_set_type(struct expr *e, struct type type)
{
	e->type = type;
	if (!type_is_word(type))
		return;
	e->lo = type_min(type);
	e->hi = type_max(type);
}

struct expr *expr_integer(struct arena *arena, struct span span, struct type type, s128 value)
{
	struct expr *e = expr_new(arena, EXPR_INTEGER, span);

	e->type = type;
	e->integer = value;
	e->lo = e->hi = value;
	return e;
}

struct expr *expr_number(struct arena *arena, struct span span, s64 value)
{
	return expr_integer(arena, span, type_int(64, true), value);
}

struct expr *expr_ref(struct arena *arena, enum expr_kind kind, struct span span,
		      const struct expr *of, u32 source, u32 index)
{
	struct expr *e = expr_new(arena, kind, span);

	e->source = source;
	e->index = index;
	e->type = of->type;
	e->lo = of->lo;
	e->hi = of->hi;
	e->is_user_only = kinds[kind].is_user_only;
	if (kind == EXPR_KEY || kind == EXPR_COLUMN)
		e->bound = of->bound;
	e->nullable = true; /* a key: in the "(other)" row */
	return e;
}

struct expr *expr_make(struct arena *arena, enum expr_kind kind, struct span span, u32 n, ...)
{
	struct expr *e = expr_new(arena, kind, span);
	va_list args;

	e->n_args = n;
	e->args = arena_array(arena, struct expr *, n);
	va_start(args, n);
	for (u32 i = 0; i < n; i++)
		e->args[i] = va_arg(args, struct expr *);
	va_end(args);
	expr_infer(e);
	return e;
}

struct expr *expr_op(struct arena *arena, enum ast_op op, struct span span, struct expr *a,
		     struct expr *b)
{
	struct expr *e = expr_new(arena, EXPR_OP, span);

	e->op = op;
	e->n_args = b ? 2 : 1;
	e->args = arena_array(arena, struct expr *, 2);
	e->args[0] = a;
	e->args[1] = b;
	expr_infer(e);
	return e;
}

struct expr *expr_call(struct arena *arena, const struct sql_function *f, struct span span,
		       struct expr **args, u32 n)
{
	struct expr *e = expr_new(arena, EXPR_CALL, span);

	e->name = f->name;
	e->function = f;
	e->args = args;
	e->n_args = n;
	expr_infer(e);
	return e;
}

void expr_conjuncts(struct arena *arena, struct expr *e, expr_vec *ret_conjuncts)
{
	if (e->kind == EXPR_OP && e->op == OP_AND) {
		expr_conjuncts(arena, e->args[0], ret_conjuncts);
		expr_conjuncts(arena, e->args[1], ret_conjuncts);
	} else {
		vec_push(arena, ret_conjuncts, e);
	}
}

struct expr *expr_copy(struct arena *arena, const struct expr *e)
{
	struct expr *copy = arena_new(arena, struct expr);

	*copy = *e;
	if (!e->n_args)
		return copy;
	copy->args = arena_array(arena, struct expr *, e->n_args);
	memcpy(copy->args, e->args, e->n_args * sizeof(*e->args));
	return copy;
}

struct expr *expr_map(struct arena *arena, struct expr *e,
		      struct expr *(*change)(void *context, struct expr *e), void *context)
{
	struct expr *copy = NULL;

	for (u32 i = 0; i < e->n_args; i++) {
		struct expr *arg = expr_map(arena, e->args[i], change, context);

		if (arg == e->args[i])
			continue;
		copy = copy ? copy : expr_copy(arena, e);
		copy->args[i] = arg;
	}
	return change(context, copy ? copy : e);
}

bool expr_is_constant(const struct expr *expr)
{
	return expr->kind <= EXPR_TEXT;
}

bool expr_is_strict(const struct expr *e)
{
	u32 n_strict = 0;

	for (u32 i = 0; i < e->n_args; i++)
		n_strict += expr_is_strict(e->args[i]);
	if (e->kind == EXPR_MEMBER || e->kind == EXPR_LIKE || e->kind == EXPR_IN)
		return expr_is_strict(e->args[0]);
	if (e->kind == EXPR_OP)
		return n_strict && e->op != OP_AND && e->op != OP_OR && e->op != OP_IS &&
		       e->op != OP_IS_NOT;
	return e->kind == EXPR_UNION ? n_strict == e->n_args : kinds[e->kind].is_read;
}

static bool is_same_source(const struct expr *a, u32 source_a, const struct expr *b, u32 source_b)
{
	bool is_event =
		(a->kind == EXPR_FIELD || a->kind == EXPR_SYSTEM) && a->source != RAW_SOURCE;

	return is_event ? a->source - source_a == b->source - source_b : a->source == b->source;
}

bool expr_equal_as(const struct expr *a, u32 source_a, const struct expr *b, u32 source_b)
{
	if (a == b)
		return true;
	if (!a || !b || a->kind != b->kind || a->op != b->op || a->n_args != b->n_args ||
	    a->index != b->index || a->integer != b->integer || a->is_glob != b->is_glob ||
	    a->type.kind != b->type.kind || a->text_bytes != b->text_bytes ||
	    a->pid_ns != b->pid_ns || a->has_signed_arguments != b->has_signed_arguments)
		return false;
	if (!is_same_source(a, source_a, b, source_b))
		return false;
	if (a->kind == EXPR_REAL && memcmp(&a->real, &b->real, sizeof(a->real)) != 0)
		return false;
	if (a->text_bytes && memcmp(a->text, b->text, a->text_bytes) != 0)
		return false;
	/* Sub-queries of one text are one value, though each was bound by itself. */
	if (a->plan != b->plan && (!a->subquery || a->subquery != b->subquery))
		return false;
	if (a->statistic != b->statistic)
		return false;
	if ((a->kind == EXPR_FIELD || a->kind == EXPR_CALL) && strcasecmp(a->name, b->name) != 0)
		return false;
	if (a->kind == EXPR_MEMBER && (a->member.offset_bits != b->member.offset_bits ||
				       a->member.bitfield_bits != b->member.bitfield_bits ||
				       a->member.btf_type_id != b->member.btf_type_id ||
				       a->read != b->read || a->is_of_user != b->is_of_user ||
				       a->member.pointee_btf_id != b->member.pointee_btf_id))
		return false;
	for (u32 i = 0; i < a->n_args; i++)
		if (!expr_equal_as(a->args[i], source_a, b->args[i], source_b) ||
		    (a->kind == EXPR_UNION && a->branches[i] != b->branches[i]))
			return false;
	return true;
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
	return expr_equal_as(a, 0, b, 0);
}

void expr_each(struct expr *expr, void (*visit)(void *context, struct expr *expr), void *context)
{
	visit(context, expr);
	for (u32 i = 0; i < expr->n_args; i++)
		expr_each(expr->args[i], visit, context);
}

static s128 multiply_saturated(s128 a, s128 b)
{
	s128 r;

	if (!__builtin_mul_overflow(a, b, &r))
		return r;
	return (a < 0) == (b < 0) ? (s128)1 << 100 : -((s128)1 << 100);
}

static void range_set(struct expr *e, s128 lo, s128 hi)
{
	e->lo = lo;
	e->hi = hi;
}

static void range_of_product(struct expr *e, const struct expr *a, const struct expr *b)
{
	s128 p[4] = { multiply_saturated(a->lo, b->lo), multiply_saturated(a->lo, b->hi),
		      multiply_saturated(a->hi, b->lo), multiply_saturated(a->hi, b->hi) };

	range_set(e, MIN(MIN(p[0], p[1]), MIN(p[2], p[3])), MAX(MAX(p[0], p[1]), MAX(p[2], p[3])));
}

/* One value each: the range is that of the result. */
static bool are_single(const struct expr *a, const struct expr *b)
{
	return a->lo == a->hi && b->lo == b->hi;
}

static void range_of_quotient(struct expr *e, const struct expr *a, const struct expr *b)
{
	s128 most = MAX(a->hi < 0 ? -a->hi : a->hi, a->lo < 0 ? -a->lo : a->lo);

	if (are_single(a, b) && b->lo)
		range_set(e, a->lo / b->lo, a->lo / b->lo);
	else if (a->lo >= 0 && b->lo >= 0)
		range_set(e, a->lo / MAX(b->hi, (s128)1), a->hi / MAX(b->lo, (s128)1));
	else if (b->lo > 0)
		range_set(e, MIN(a->lo, (s128)0), MAX(a->hi, (s128)0));
	else
		range_set(e, -most, most);
}

static void range_of_remainder(struct expr *e, const struct expr *a, const struct expr *b)
{
	s128 most = MAX(b->hi < 0 ? -b->hi : b->hi, b->lo < 0 ? -b->lo : b->lo) - 1;

	most = MAX(most, (s128)0);
	if (are_single(a, b) && b->lo)
		range_set(e, a->lo % b->lo, a->lo % b->lo);
	else
		range_set(e, a->lo >= 0 ? 0 : MAX(-most, a->lo), a->hi <= 0 ? 0 : MIN(most, a->hi));
}

/* Smallest 2^k - 1 that is at least x >= 0. */
static s128 all_ones(s128 x)
{
	s128 r = 0;

	while (r < x)
		r = 2 * r + 1;
	return r;
}

static void range_of_bits(struct expr *e, const struct expr *a, const struct expr *b)
{
	bool a_positive = a->lo >= 0, b_positive = b->lo >= 0, is_and = e->op == OP_BIT_AND;
	s128 bits = is_and ? a->lo & b->lo : a->lo | b->lo;

	/* A value of 2^63 and more has no signed form to take the bits of. */
	e->may_overflow = !(is_and ? a_positive || b_positive : a_positive && b_positive) &&
			  (a->hi > S64_HI || b->hi > S64_HI);
	if (are_single(a, b) && !e->may_overflow) {
		range_set(e, bits, bits);
	} else if (is_and && (a_positive || b_positive)) {
		range_set(e, 0,
			  a_positive && b_positive ? MIN(a->hi, b->hi)
						   : (a_positive ? a->hi : b->hi));
	} else if (e->op == OP_BIT_OR && a_positive && b_positive) {
		range_set(e, MAX(a->lo, b->lo), all_ones(MAX(a->hi, b->hi)));
	} else {
		range_set(e, S64_LO, S64_HI);
	}
}

static s128 shifted(s128 x, bool left, s128 amount)
{
	u64 bits = (u64)x << (amount & 63);

	if (amount > 63)
		return !left && x < 0 ? -1 : 0;
	if (!left)
		return x >> amount;
	/* The bits of a u64 stay unsigned; those of other values that leave 64 bits are signed. */
	return x > S64_HI || (x >= 0 && x << amount <= U64_HI) ? (s128)bits : (s64)bits;
}

static void range_of_shift(struct expr *e, const struct expr *a, const struct expr *b)
{
	bool left = e->op == OP_SHIFT_LEFT, fits;
	s128 amount = b->lo;

	if (b->lo == b->hi && amount < 0) {
		left = !left;
		amount = -amount;
	}
	fits = !left || (amount >= 0 && amount < 64 && a->lo >= 0 && (a->hi << amount) <= U64_HI);
	if (b->lo == b->hi && (fits || a->lo == a->hi))
		range_set(e, shifted(a->lo, left, amount), shifted(a->hi, left, amount));
	else if (!left && b->lo >= 0)
		range_set(e, MIN(a->lo, (s128)0), MAX(a->hi, (s128)0));
	else if (a->hi > S64_HI && a->lo >= 0)
		range_set(e, 0, U64_HI);
	else
		range_set(e, S64_LO, S64_HI);
	/* What may be negative has signed bits, which 2^63 and more has not. */
	e->may_overflow = a->hi > S64_HI && a->lo < 0;
}

/* Which unit the result of a + b, a * b, ... has: durations and timestamps keep theirs. */
static u8 result_kind(enum ast_op op, u8 a, u8 b)
{
	bool is_sum = op == OP_ADD || op == OP_SUB;

	if (op == OP_SUB && b == TYPE_TIMESTAMP)
		return a == TYPE_TIMESTAMP ? TYPE_DURATION : TYPE_INT;
	/* Two instants make none. */
	if (is_sum && (a == TYPE_TIMESTAMP || b == TYPE_TIMESTAMP))
		return a == b ? TYPE_INT : TYPE_TIMESTAMP;
	if (is_sum)
		return a == TYPE_DURATION || b == TYPE_DURATION ? TYPE_DURATION : TYPE_INT;
	if (op == OP_MUL) /* the square of a time is none */
		return (a == TYPE_DURATION) != (b == TYPE_DURATION) ? TYPE_DURATION : TYPE_INT;
	if (op == OP_DIV)
		return a == TYPE_DURATION && b != TYPE_DURATION ? TYPE_DURATION : TYPE_INT;
	return a == TYPE_DURATION && (op == OP_MOD || op == OP_NEG || op == OP_PLUS) ? TYPE_DURATION
										     : TYPE_INT;
}

/* What a number counts: a mean of durations is a REAL, and nanoseconds all the same. */
static u8 unit_of(const struct expr *e)
{
	return e->type.kind == TYPE_REAL ? e->type.of : e->type.kind;
}

static struct type real_of(u8 unit)
{
	return (struct type){ .kind = TYPE_REAL, .of = unit == TYPE_DURATION ? unit : TYPE_NULL };
}

static void infer_arithmetic(struct expr *e)
{
	const struct expr *a = e->args[0], *b = e->n_args > 1 ? e->args[1] : NULL;
	bool both_positive = a->lo >= 0 && (!b || b->lo >= 0);

	e->may_overflow = false;
	switch (e->op) {
	case OP_ADD:
		range_set(e, a->lo + b->lo, a->hi + b->hi);
		break;
	case OP_SUB:
		range_set(e, a->lo - b->hi, a->hi - b->lo);
		break;
	case OP_MUL:
		range_of_product(e, a, b);
		break;
	case OP_DIV:
	case OP_MOD:
		e->op == OP_DIV ? range_of_quotient(e, a, b) : range_of_remainder(e, a, b);
		e->nullable |= b->lo <= 0 && b->hi >= 0;
		/* Signed division of or by a value of 2^63 and more. */
		e->may_overflow = !both_positive && (a->hi > S64_HI || b->hi > S64_HI);
		break;
	case OP_BIT_AND:
	case OP_BIT_OR:
		range_of_bits(e, a, b);
		break;
	case OP_SHIFT_LEFT:
	case OP_SHIFT_RIGHT:
		range_of_shift(e, a, b);
		break;
	case OP_NEG:
		range_set(e, -a->hi, -a->lo);
		break;
	case OP_BIT_NOT:
		range_set(e, -a->hi - 1, -a->lo - 1);
		break;
	case OP_PLUS:
		range_set(e, a->lo, a->hi);
		break;
	case OP_CONCAT:
	case OP_EQ:
	case OP_NE:
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
	case OP_IS:
	case OP_IS_NOT:
	case OP_AND:
	case OP_OR:
	case OP_NOT:
	case OP_N:
		BUG("operator %d is no arithmetic", e->op);
	}
	bool fits_signed = e->lo >= S64_LO && e->hi <= S64_HI;
	bool fits_unsigned = e->lo >= 0 && e->hi <= U64_HI;

	e->may_overflow |= !fits_signed && !fits_unsigned;
	e->nullable |= e->may_overflow;
	e->has_signed_arguments = e->may_overflow && (e->op == OP_BIT_AND || e->op == OP_BIT_OR ||
						      e->op == OP_BIT_NOT || (b && !both_positive));
	e->type = (struct type){ .kind = result_kind(e->op, a->type.kind, b ? b->type.kind : 0),
				 .bits = 64 };
	if (e->type.kind == TYPE_TIMESTAMP)
		e->type.clock = a->type.kind == TYPE_TIMESTAMP ? a->type.clock : b->type.clock;
	e->type.is_signed =
		fits_signed || (!fits_unsigned && !(both_positive && e->op != OP_SUB &&
						    e->op != OP_NEG && e->op != OP_BIT_NOT));
	e->lo = MAX(e->lo, e->type.is_signed ? S64_LO : 0);
	e->hi = MIN(e->hi, e->type.is_signed ? S64_HI : U64_HI);
}

/* A number written as such, and what is computed of such: it has no unit of its own. */
static bool is_plain_number(const struct expr *e)
{
	/* iif(x, 7, NULL), as in min() and max() */
	if (e->kind == EXPR_CASE && e->n_args == 3)
		return is_plain_number(e->args[1]) && e->args[2]->kind == EXPR_NULL;
	if (e->kind != EXPR_OP)
		return e->kind == EXPR_REAL ||
		       (e->kind == EXPR_INTEGER && e->type.kind == TYPE_INT);
	for (u32 i = 0; i < e->n_args; i++)
		if (!is_plain_number(e->args[i]))
			return false;
	return e->type.kind == TYPE_INT || e->type.kind == TYPE_REAL;
}

/*
 * Values of one column, of several arms: what is not NULL says the kind.  Different
 * kinds of words come to a plain number, so that a count is never shown as a time or as
 * true; but a number written as such takes the unit of the durations beside it.
 */
struct common {
	struct type type;
	s128 lo, hi;
	bool has_any;
	bool is_mixed; /* not all of one type */
	bool is_plain; /* all so far are numbers written as such */
};

static void common_kind(struct common *c, const struct expr *r)
{
	const struct expr so_far = { .type = c->type };
	u8 a = unit_of(&so_far), b = unit_of(r), unit = a == b ? a : TYPE_INT;

	if (a == TYPE_DURATION && is_plain_number(r))
		unit = a;
	else if (b == TYPE_DURATION && c->is_plain)
		unit = b;
	else if (a == TYPE_TIMESTAMP && c->type.clock != r->type.clock)
		unit = TYPE_INT; /* instants of two clocks are no column of times */
	if (c->type.kind == TYPE_REAL || r->type.kind == TYPE_REAL)
		c->type = real_of(unit);
	else
		c->type.kind = unit;
}

static void common_add(struct common *c, const struct expr *r)
{
	if (r->type.kind == TYPE_NULL)
		return;
	if (!c->has_any) {
		c->type = r->type;
		c->lo = r->lo;
		c->hi = r->hi;
	} else if (type_equal(c->type, r->type) && type_is_word(c->type)) {
		c->lo = MIN(c->lo, r->lo);
		c->hi = MAX(c->hi, r->hi);
	} else if (c->type.kind == TYPE_TEXT || c->type.kind == TYPE_BLOB) {
		/* 0: of any length */
		c->type.bytes =
			c->type.bytes && r->type.bytes ? MAX(c->type.bytes, r->type.bytes) : 0;
	} else {
		common_kind(c, r);
		c->is_mixed = true;
		c->lo = MIN(c->lo, r->lo);
		c->hi = MAX(c->hi, r->hi);
	}
	c->type.is_wide = c->type.kind == TYPE_INT && (c->type.is_wide || r->type.is_wide);
	c->is_plain = is_plain_number(r) && (c->is_plain || !c->has_any);
	c->has_any = true;
}

static void common_end(struct common *c, struct expr *e)
{
	e->type = c->has_any ? c->type : (struct type){ .kind = TYPE_NULL };
	e->lo = c->lo;
	e->hi = c->hi;
	if (!type_is_word(e->type))
		return;
	e->type.bits = 64;
	e->type.is_signed = e->lo < 0;
	if (e->lo < 0 && e->hi > S64_HI) {
		e->may_overflow = true;
		e->nullable = true;
		e->hi = S64_HI;
	}
}

/* What may stand in one column: numbers, texts, or values of one kind of special ones. */
static u8 family_of(struct type type)
{
	if (type.kind == TYPE_BLOB)
		return TYPE_TEXT;
	return type_is_word(type) || type.kind == TYPE_REAL ? TYPE_INT : type.kind;
}

bool expr_common(struct expr *const *exprs, u32 n, struct expr *ret_column)
{
	struct common c = { 0 };

	for (u32 i = 0; i < n; i++) {
		struct type type = exprs[i]->type;

		if (c.has_any && type.kind != TYPE_NULL && family_of(type) != family_of(c.type))
			return false;
		common_add(&c, exprs[i]);
		ret_column->is_quantile &=
			exprs[i]->is_quantile &&
			(type.kind == TYPE_REAL) == (exprs[0]->type.kind == TYPE_REAL);
	}
	common_end(&c, ret_column);
	/* Columns of one type keep it. */
	if (c.has_any && !c.is_mixed) {
		ret_column->type = c.type;
		ret_column->may_overflow = false;
	}
	return true;
}

static void infer_case(struct expr *e)
{
	struct common c = { 0 };

	e->nullable = false;
	for (u32 i = 1; i <= e->n_args; i += 2) {
		const struct expr *r = e->args[MIN(i, e->n_args - 1)];

		e->nullable |= r->nullable || r->type.kind == TYPE_NULL;
		common_add(&c, r);
	}
	common_end(&c, e);
	/* The kernel part has no text results of CASE. */
	e->is_user_only |= e->type.kind == TYPE_TEXT;
}

static void infer_call(struct expr *e)
{
	const struct sql_function *f = e->function;
	struct common c = { 0 };

	if (!f)
		return;
	e->nullable = true;
	if (f->result != FUNCTION_OF_ARGS) {
		e->type = (struct type){ .kind = f->result, .bits = 64, .is_signed = true };
		e->lo = S64_LO;
		e->hi = S64_HI;
		return;
	}
	for (u32 i = 0; i < e->n_args; i++)
		if (function_takes(f, i) == '=' || function_takes(f, i) == 'n')
			common_add(&c, e->args[i]);
	common_end(&c, e);
	e->may_overflow = false;
	if (type_is_word(e->type)) {
		e->lo = S64_LO;
		e->hi = U64_HI;
		e->type.is_signed = c.lo < 0;
	}
}

void expr_infer(struct expr *e)
{
	u64 nodes = 1;

	e->is_user_only = kinds[e->kind].is_user_only;
	for (u32 i = 0; i < e->n_args; i++) {
		nodes += MAX(e->args[i]->n_nodes, 1u);
		e->is_user_only |= e->args[i]->is_user_only;
		if (e->kind == EXPR_OP || e->kind == EXPR_IN || e->kind == EXPR_LIKE ||
		    e->kind == EXPR_MATCH)
			e->nullable |= e->args[i]->nullable || e->args[i]->kind == EXPR_NULL;
	}
	e->n_nodes = (u32)MIN(nodes, (u64)UINT32_MAX);
	if (e->kind == EXPR_CASE) {
		infer_case(e);
	} else if (e->kind == EXPR_CALL) {
		infer_call(e);
	} else if (e->kind == EXPR_CAST) {
		e->nullable = true;
	} else if (kinds[e->kind].is_condition ||
		   (e->kind == EXPR_OP &&
		    ((e->op >= OP_EQ && e->op <= OP_OR) || e->op == OP_NOT))) {
		e->type = type_bool();
		range_set(e, 0, 1);
		if (e->kind == EXPR_IS_NULL || e->op == OP_IS || e->op == OP_IS_NOT)
			e->nullable = false;
	} else if (e->kind == EXPR_OP && e->op == OP_CONCAT) {
		e->is_user_only = true;
		e->type = type_text(0);
	} else if (e->kind == EXPR_OP) {
		bool real = false, null = false;

		for (u32 i = 0; i < e->n_args; i++) {
			real |= e->args[i]->type.kind == TYPE_REAL;
			null |= e->args[i]->kind == EXPR_NULL || e->args[i]->type.kind == TYPE_NULL;
		}
		if (null) {
			e->type = (struct type){ .kind = TYPE_NULL };
			e->nullable = true;
		} else if (real && ((e->op >= OP_BIT_AND && e->op <= OP_SHIFT_RIGHT) ||
				    e->op == OP_BIT_NOT)) {
			e->type = type_int(64, true); /* bits are a whole number's: SQLite cuts */
			range_set(e, S64_LO, S64_HI);
			e->is_user_only = true;
		} else if (real) {
			e->type = real_of(result_kind(e->op, unit_of(e->args[0]),
						      e->n_args > 1 ? unit_of(e->args[1]) : 0));
			e->is_user_only = true;
			e->nullable |= e->op == OP_DIV || e->op == OP_MOD;
		} else {
			infer_arithmetic(e);
		}
	}
}

char expr_rule(const struct expr *e)
{
	if (e->type.kind == TYPE_REAL)
		return 'r';
	if (!e->type.is_signed)
		return 'u';
	return e->has_signed_arguments ? 'S' : 's';
}

enum ast_op expr_op_mirrored(enum ast_op op)
{
	static const enum ast_op mirrored[OP_N] = {
		[OP_LT] = OP_GT, [OP_LE] = OP_GE, [OP_GT] = OP_LT, [OP_GE] = OP_LE
	};

	return mirrored[op] ? mirrored[op] : op;
}
