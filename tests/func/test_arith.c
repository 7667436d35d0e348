/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Scalars over every pair of boundary values and every rule, against arithmetic in
 * 128 bits and against single bits; on reals and texts against SQLite's operators.
 */
#include <sys/syscall.h>

#include "sql.h"

#define S64_LO ((s128)INT64_MIN)
#define S64_HI ((s128)INT64_MAX)
#define U64_HI ((s128)UINT64_MAX)

static const s128 ends[] = {
	S64_LO,	     S64_LO + 1,  -((s128)1 << 62),
	-4294967297, -4294967296, -3037000500,
	-65,	     -64,	  -63,
	-2,	     -1,	  0,
	1,	     2,		  63,
	64,	     65,	  1000,
	3037000499,  3037000500,  4294967295,
	4294967296,  4294967297,  (s128)1 << 62,
	S64_HI - 1,  S64_HI,	  S64_HI + 1,
	S64_HI + 2,  U64_HI - 1,  U64_HI,
};

static const char *const rules[] = { "", "s", "S", "u" };

struct answer {
	bool is_null;
	s128 value;
};

static struct answer fit(s128 value, char rule)
{
	s128 lo = rule == 'u' ? 0 : S64_LO, hi = rule == 's' || rule == 'S' ? S64_HI : U64_HI;

	return value < lo || value > hi ? (struct answer){ true, 0 }
					: (struct answer){ false, value };
}

static struct answer computed(const char *name, s128 a, s128 b, char rule)
{
	s128 product;

	if (rule == 'S' && (a > S64_HI || b > S64_HI))
		return (struct answer){ true, 0 };
	if (strcmp(name, "add") == 0)
		return fit(a + b, rule);
	if (strcmp(name, "sub") == 0)
		return fit(a - b, rule);
	if (strcmp(name, "mul") == 0)
		return __builtin_mul_overflow(a, b, &product) ? (struct answer){ true, 0 }
							      : fit(product, rule);
	if (!b)
		return (struct answer){ true, 0 };
	return fit(strcmp(name, "div") == 0 ? a / b : a % b, rule);
}

/* Bit by bit, in 64 bits. */
static bool bit(s128 value, s32 i)
{
	return value >> i & 1;
}

static s128 as_rule(u64 bits, char rule, bool is_unsigned)
{
	if (rule ? rule == 'u' : is_unsigned)
		return (s128)bits;
	return bits >> 63 ? (s128)bits - ((s128)1 << 64) : (s128)bits;
}

static struct answer shifted(s128 a, s128 amount, bool left, char rule)
{
	u64 bits = 0;

	if (rule == 'S' && a > S64_HI)
		return (struct answer){ true, 0 };
	for (s32 i = 0; i < 64; i++) {
		s128 from = left ? i - amount : i + amount;
		bool one = from < 0 ? false : from > 63 ? !left && a < 0 : bit(a, (s32)from);

		/* To the left nothing comes in but zeros, whichever way it was written. */
		if (from > 63 && ((left && amount >= 0) || (!left && amount < 0)))
			one = false;
		if (from > 63 && left && amount < 0)
			one = a < 0;
		bits |= (u64)one << i;
	}
	return (struct answer){ false, as_rule(bits, rule, a > S64_HI) };
}

static struct answer combined(s128 a, s128 b, bool is_and, char rule)
{
	u64 bits = 0;

	if (rule == 'S' && (a > S64_HI || (!is_and && b > S64_HI)))
		return (struct answer){ true, 0 };
	for (s32 i = 0; i < 64; i++)
		bits |= (u64)(is_and ? bit(a, i) && bit(b, i) : bit(a, i) || bit(b, i)) << i;
	if (is_and)
		return (struct answer){ false, as_rule(bits, 0, a >= 0 || b >= 0) };
	if ((a < 0 && b > S64_HI) || (b < 0 && a > S64_HI))
		return (struct answer){ true, 0 };
	return fit(as_rule(bits, 0, a >= 0 && b >= 0), rule);
}

static struct answer wanted(const char *name, s128 a, s128 b, char rule)
{
	if (strcmp(name, "shl") == 0 || strcmp(name, "shr") == 0)
		return shifted(a, b, name[2] == 'l', rule);
	if (strcmp(name, "and") == 0 || strcmp(name, "or") == 0)
		return combined(a, b, name[0] == 'a', rule);
	return computed(name, a, b, rule);
}

static void check(const char *name, s128 a, s128 b, const char *rule)
{
	struct answer w = wanted(name, a, b, *rule);
	u64 n_faults = func.n_faults;
	struct value got;
	char where[128];

	given[0] = integer_value(a);
	given[1] = integer_value(b);
	got = ask("SELECT eb_%s(given(0), given(1)%s%s%s)", name, *rule ? ", '" : "", rule,
		  *rule ? "'" : "");
	snprintf(where, sizeof(where), "eb_%s(%s, %s, '%s')", name, show(given[0]), show(given[1]),
		 rule);
	if (w.is_null)
		expect_null(got, where);
	else
		expect_integer(got, w.value, where);
	if (func.n_faults - n_faults != w.is_null)
		fail_msg("%s: %llu faults", where, (unsigned long long)(func.n_faults - n_faults));
}

static void test_pairs(void **state)
{
	static const char *const names[] = { "add", "sub", "mul", "div", "mod",
					     "shl", "shr", "and", "or" };

	for (u32 f = 0; f < ARRAY_SIZE(names); f++)
		for (u32 i = 0; i < ARRAY_SIZE(ends); i++)
			for (u32 j = 0; j < ARRAY_SIZE(ends); j++)
				for (u32 r = 0; r < ARRAY_SIZE(rules); r++)
					check(names[f], ends[i], ends[j], rules[r]);
}

static const char *const operators[][2] = {
	{ "add", "+" },	 { "sub", "-" },  { "mul", "*" }, { "div", "/" }, { "mod", "%" },
	{ "shl", "<<" }, { "shr", ">>" }, { "and", "&" }, { "or", "|" },
};
static const char *const values[] = {
	"0",
	"7",
	"-7",
	"2.5",
	"-2.5",
	"1e300",
	"-1e300",
	"9.3e18",
	"0.0",
	"-1.0",
	"'12'",
	"' 12'",
	"'12abc'",
	"'abc'",
	"''",
	"'1.5x'",
	"'1e3'",
	"'1e'",
	"'-.5'",
	"'.'",
	"'5.'",
	"'9e999'",
	"x'3132'",
	"x''",
	"NULL",
	"'99999999999999999999'",
	"'99999999999999999999x'",
	"'+8'",
	"'0x10'",
	"'- 5'",
	"'1.e2z'",
	"'1e+'",
	"'9223372036854775808'",
	"1e-320",
};

/* Where everything fits 64 bits, the operators of SQLite are the same. */
static void test_like_sqlite(void **state)
{
	struct value pair[8];

	for (u32 o = 0; o < ARRAY_SIZE(operators); o++)
		for (u32 i = 0; i < ARRAY_SIZE(values); i++)
			for (u32 j = 0; j < ARRAY_SIZE(values); j++) {
				const char *error =
					ask_row(pair, type_text(0),
						"SELECT quote(%s %s %s), quote(eb_%s(%s, %s))",
						values[i], operators[o][1], values[j],
						operators[o][0], values[i], values[j]);

				assert_null(error);
				if (strcmp(pair[0].text, pair[1].text) != 0)
					fail_msg("%s %s %s: %s instead of %s", values[i],
						 operators[o][1], values[j], pair[1].text,
						 pair[0].text);
			}
	for (u32 i = 0; i < ARRAY_SIZE(values); i++) {
		assert_null(ask_row(pair, type_text(0),
				    "SELECT quote(- %s), quote(eb_neg(%s)), quote(~ %s), "
				    "quote(eb_not(%s)), quote(abs(%s)), quote(eb_abs(%s))",
				    values[i], values[i], values[i], values[i], values[i],
				    values[i]));
		for (u32 k = 0; k < 6; k += 2)
			if (strcmp(pair[k].text, pair[k + 1].text) != 0)
				fail_msg("%s: %s instead of %s", values[i], pair[k + 1].text,
					 pair[k].text);
	}
}

static void expect_fault(const char *sql)
{
	u64 n_faults = func.n_faults;

	expect_null(ask("SELECT %s", sql), sql);
	assert_int_equal(func.n_faults, n_faults + 1);
}

static void test_one_argument(void **state)
{
	given[0] = integer_value(S64_HI + 1);
	given[1] = integer_value(U64_HI);
	for (u32 i = 0; i < ARRAY_SIZE(ends); i++) {
		given[2] = integer_value(ends[i]);
		if (ends[i] > S64_LO && ends[i] <= S64_HI) {
			expect_integer(ask("SELECT eb_neg(given(2))"), -ends[i], "neg");
			expect_integer(ask("SELECT eb_neg(given(2), 's')"), -ends[i], "neg 's'");
		}
		if (ends[i] > S64_LO)
			expect_integer(ask("SELECT eb_abs(given(2))"),
				       ends[i] < 0 ? -ends[i] : ends[i], "abs");
		if (ends[i] <= S64_HI) {
			expect_integer(ask("SELECT eb_not(given(2))"), -ends[i] - 1, "not");
			expect_integer(ask("SELECT eb_fit(given(2), 's')"), ends[i], "fit 's'");
			expect_integer(ask("SELECT eb_i64(given(2), '')"), ends[i], "i64");
		}
		if (ends[i] < 0)
			continue;
		expect_integer(ask("SELECT eb_fit(given(2), 'u')"), ends[i], "fit 'u'");
		expect_integer(ask("SELECT eb_range(given(2))"), ends[i] + S64_LO, "range");
	}
	given[2] = integer_value(S64_LO);
	expect_integer(ask("SELECT eb_neg(given(2), 'u')"), S64_HI + 1, "neg 'u'");
	expect_fault("eb_neg(given(2))");
	expect_fault("eb_neg(given(2), 's')");
	expect_integer(ask("SELECT eb_neg(given(0))"), S64_LO, "neg of 2^63");
	expect_fault("eb_neg(given(1))");
	expect_fault("eb_neg(given(1), 's')");
	expect_fault("eb_neg(given(0), 'S')");
	expect_integer(ask("SELECT eb_neg(given(0), 's')"), S64_LO, "neg 's' of 2^63");
	expect_fault("eb_abs(given(2))");
	expect_fault("eb_not(given(1))");
	expect_fault("eb_fit(given(1), 's')");
	expect_fault("eb_fit(-1, 'u')");
	assert_string_equal(ask("SELECT eb_fit('text', 'u')").text, "text");
	assert_true(ask("SELECT eb_fit(2.5, 'u')").real == 2.5);
	expect_null(ask("SELECT eb_range(NULL)"), "range of NULL");
	expect_error("too large", "SELECT eb_i64(given(0), '')");
	expect_error("the rule is", "SELECT eb_add(1, 2, 'x')");
	expect_error("no number", "SELECT eb_add(eb_histogram_empty('log2'), 1)");
}

static void test_big_with_real(void **state)
{
	struct type real = { .kind = TYPE_REAL };

	given[0] = integer_value(U64_HI);
	assert_true(ask_typed(real, "SELECT eb_add(given(0), 0.5)").real == 0x1p64 + 0.5);
	assert_true(ask_typed(real, "SELECT eb_div(given(0), 2.0)").real == 0x1p63);
	expect_integer(ask("SELECT eb_add('-9223372036854775808', 0)"), S64_LO, "text");
	expect_null(ask("SELECT eb_add(NULL, given(0))"), "NULL + x");
	assert_int_equal(func.n_faults, 0);
	expect_null(ask("SELECT eb_div(1.0, 0.0)"), "1.0 / 0.0");
	assert_int_equal(func.n_faults, 0);
	/* Whole numbers among REALs. */
	assert_true(ask_typed(real, "SELECT eb_div(7, 2, 'r')").real == 3.5);
	assert_true(ask_typed(real, "SELECT eb_chain(7, '+r', 1, '/r', 16)").real == 0.5);
	assert_true(ask_typed(real, "SELECT eb_mul(9223372036854775807, 4, 'r')").real == 0x1p65);
	assert_true(ask_typed(real, "SELECT eb_add(given(0), 1, 'r')").real == 0x1p64);
	expect_integer(ask("SELECT eb_sub(9223372036854775807, 9223372036854775806, 'r')"), 1, "-");
	expect_null(ask("SELECT eb_div(1, 0, 'r')"), "1 / 0 of REALs");
	assert_int_equal(func.n_faults, 0);
}

static void test_names(void **state)
{
	assert_string_equal(ask("SELECT device_name(8 << 20 | 16)").text, "8:16");
	assert_string_equal(ask("SELECT tcp_state(1)").text, "ESTABLISHED");
	assert_string_equal(ask("SELECT softirq_name(3)").text, "NET_RX");
	assert_string_equal(ask("SELECT task_state(0)").text, "running");
	assert_string_equal(ask("SELECT syscall_name(425)").text, "io_uring_setup");
	given[0] = integer_value(SYS_read);
	assert_string_equal(ask("SELECT syscall_name(given(0))").text, "read");
	assert_string_equal(ask("SELECT syscall_name(-5)").text, "-5");
	expect_null(ask("SELECT tcp_state(NULL)"), "tcp_state(NULL)");
	given[0] = integer_value(U64_HI);
	assert_string_equal(ask("SELECT syscall_name(given(0))").text, "18446744073709551615");
}

static void test_constants(void **state)
{
	const struct type real = { .kind = TYPE_REAL };
	struct buf text;

	for (u32 i = 0; i < ARRAY_SIZE(ends); i++) {
		buf_init(&text);
		buf_put_s128(&text, ends[i]);
		expect_integer(ask("SELECT eb_number('%s')", text.at), ends[i], text.at);
		assert_string_equal(ask("SELECT eb_text(eb_number('%s')) || ''", text.at).text,
				    text.at);
		buf_free(&text);
	}
	assert_true(ask_typed(real, "SELECT eb_number('1e-300')").real == 1e-300);
	assert_true(ask_typed(real, "SELECT eb_number('-0.1')").real == -0.1);
	assert_true(ask_typed(real, "SELECT eb_number('8.7e-320')").real == 8.7e-320);
	assert_string_equal(ask("SELECT eb_text('x')").text, "x");
	/* A fault of each row, though all rows are the same. */
	run("CREATE TEMP TABLE three AS VALUES (1), (2), (3)");
	expect_null(ask("SELECT max(eb_div(eb_each(1), 0)) FROM three"), "1 / 0 three times");
	assert_int_equal(func.n_faults, 3);
}

static void test_chain(void **state)
{
	static const char *const names[] = { "eb_add", "eb_sub", "eb_mul", "eb_div", "eb_mod",
					     "eb_shl", "eb_shr", "eb_and", "eb_or" };
	static const char letters[] = "+-*/%<>&|";
	u64 nested_faults, chained_faults;

	for (u32 i = 0; i < 20000; i++) {
		u32 a = (u32)(i * 7919u) % ARRAY_SIZE(ends), b = i / 29 % ARRAY_SIZE(ends);
		u32 d = i / 841 % ARRAY_SIZE(ends), op = i % ARRAY_SIZE(names), next = i / 9 % 9;
		const char *rule = rules[i % 4], *comma = *rule ? ", '" : "",
			   *end = *rule ? "'" : "";
		struct value nested, chained;

		given[0] = integer_value(ends[a]);
		given[1] = integer_value(ends[b]);
		given[2] = integer_value(ends[d]);
		func.n_faults = 0;
		nested = ask("SELECT %s(%s(given(0), given(1)%s%s%s), given(2))", names[next],
			     names[op], comma, rule, end);
		nested_faults = func.n_faults;
		func.n_faults = 0;
		chained = ask("SELECT eb_chain(given(0), '%c%s', given(1), '%c', given(2))",
			      letters[op], rule, letters[next]);
		chained_faults = func.n_faults;
		assert_int_equal(nested.kind, chained.kind);
		assert_true(nested.kind == VALUE_NULL || nested.integer == chained.integer);
		assert_int_equal(nested_faults, chained_faults);
	}
	assert_true(ask_typed((struct type){ .kind = TYPE_REAL },
			      "SELECT eb_chain(7.9, '%%', 4, '+', 0.5)")
			    .real == 3.5);
	assert_true(ask_typed((struct type){ .kind = TYPE_REAL },
			      "SELECT eb_chain(1, '/', 2.0, '%%', 3)")
			    .real == 0);
	expect_error("no operator", "SELECT eb_chain(1, 'x', 2)");
	expect_error("the rule is", "SELECT eb_chain(1, '+q', 2)");
	expect_error("ends with a value", "SELECT eb_chain(1, '+')");
}

/* One amount is added to all instants; what has no such instant is NULL. */
static void test_real_time(void **state)
{
	u64 mono_ns = base_monotonic_ns();
	s128 at, real_ns = base_realtime_ns();

	at = ask("SELECT eb_real_time(%llu)", (unsigned long long)mono_ns).integer;
	/* The connection is some moments older. */
	assert_true(at - real_ns < 1000000000 && real_ns - at < 1000000000);
	expect_integer(ask("SELECT eb_real_time(%llu)", (unsigned long long)mono_ns + 7), at + 7,
		       "later");
	expect_integer(ask("SELECT eb_real_time(0) - eb_real_time(-5)"), 5, "difference");
	expect_null(ask("SELECT eb_real_time(NULL)"), "NULL");
	expect_null(ask("SELECT eb_real_time(9223372036854775807)"), "too late");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pairs, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_real_time, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_like_sqlite, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_one_argument, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_big_with_real, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_names, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_constants, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_chain, open_sql, close_sql),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
