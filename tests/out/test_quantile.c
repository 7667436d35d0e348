/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Quantiles and ladders in every format, and what their texts promise: an interval's
 * text holds the interval, and an estimate's text lies within it.
 */
#include "golden.h"

#include "out/format.h"

static const struct type quantile_int = { .kind = TYPE_QUANTILE,
					  .of = TYPE_INT,
					  .is_signed = true };
static const struct type quantile_pointer = { .kind = TYPE_QUANTILE, .of = TYPE_POINTER };
static const struct type quantile_time = { .kind = TYPE_QUANTILE, .of = TYPE_TIMESTAMP };
#define U64_EDGE ((s128)1 << 64)

static void check_quantile(struct type type, struct quantile quantile, const char *wanted)
{
	struct buf buf;

	buf_init(&buf);
	out_quantiles.put_line(&buf, type, &(struct value)QUANTILES(&quantile, 1), 0);
	assert_string_equal(buf.at, wanted);
	buf_free(&buf);
}

static void test_quantile_text(void **unused)
{
	struct quantile q = between(0, 64000, 92700, 128000);

	check_quantile(quantile_ns, q, "92.7us [64us, 128us)");
	q.is_lo_open = true, q.is_hi_open = false;
	check_quantile(quantile_ns, q, "92.7us (64us, 128us]");
	q.is_interpolated = true, q.interpolated = 92740.4;
	check_quantile(quantile_ns, q, "~92.7us (64us, 128us]");
	/* Powers of two have no short decimals: outwards. */
	check_quantile(quantile_ns, between(0, 65536, 92682, 131072), "92.7us [65.5us, 132us)");
	check_quantile(quantile_ns, between(0, -131072, -92682, -65536),
		       "-92.7us [-132us, -65.5us)");
	check_quantile(quantile_ns, between(0, -1, 0, 1), "0ns [-1ns, 1ns)");
	check_quantile(quantile_ns, between(0, 999600, 999700, 999999), "999.7us [999.6us, 1ms)");
	check_quantile(quantile_ns, between(0, 500000000, 700000000000ll, 1000000000000ll),
		       "11.7m [500ms, 16.7m)");
}

/* As few digits as the interval justifies; all of them where only one value is possible. */
static void test_quantile_digits(void **unused)
{
	struct quantile q;

	/* A narrow interval keeps its digits. */
	check_quantile(quantile_ns, between(0, 1000000, 1000001, 1000003), "1ms [1ms, 1.000003ms)");
	check_quantile(quantile_ns, between(0, 1000001, 1000002, 1000003),
		       "1.000002ms [1.000001ms, 1.000003ms)");
	check_quantile(quantile_ns, between(0, 1008000, 1012000, 1016000),
		       "1.01ms [1.008ms, 1.016ms)");
	/* Beside seconds there are no minutes. */
	check_quantile(quantile_ns, between(0, 719000000000ll, 720000000000ll, 721000000000ll),
		       "720s [719s, 721s)");
	q = between(0, 90000, 90000, 90000);
	q.is_hi_open = false;
	check_quantile(quantile_ns, q, "90us");
	q.lo = q.hi = q.estimate = 90041;
	check_quantile(quantile_ns, q, "90.041us");
	q.lo = q.hi = q.estimate = 700000000001ll;
	check_quantile(quantile_ns, q, "700.000000001s");
	check_quantile(quantile_ns, between(0, 7882, 7882, 7883), "7.882us");
	q = between(0, 7881, 7882, 7883);
	q.is_lo_open = true;
	check_quantile(quantile_ns, q, "7.882us");
	q = between(0, 64, 0, 65);
	q.is_interpolated = true, q.interpolated = 64.5;
	check_quantile(quantile_int, q, "~64.5 [64, 65)");
	q.hi = 64, q.is_hi_open = false, q.interpolated = 64;
	check_quantile(quantile_int, q, "64");
}

static void test_quantile_unbounded(void **unused)
{
	struct quantile q;

	/* Without bounds.  The estimate is the lower one, so both say the same. */
	q = between(0, 64000, 64000, 0);
	q.has_hi = false;
	check_quantile(quantile_ns, q, "64us [64us, inf)");
	q.lo = q.estimate = 491999999;
	check_quantile(quantile_ns, q, "491ms [491ms, inf)");
	q.is_lo_open = true, q.lo = 4095, q.estimate = 4096;
	check_quantile(quantile_ns, q, "4.09us [4.09us, inf)");
	check_quantile(quantile_int, q, "4096 [4096, inf)");
	q.is_lo_open = false, q.lo = q.estimate = 64000;
	q.has_lo = false;
	check_quantile(quantile_ns, q, "64us [0ns, inf)");
	check_quantile(quantile_int, q, "64000 (-inf, inf)");
	q.has_hi = true, q.hi = 70000;
	check_quantile(quantile_int, q, "64000 (-inf, 70000)");
}

static void test_quantile_integers(void **unused)
{
	struct quantile q;

	/* Integers are exact, whatever their size. */
	check_quantile(quantile_int, between(0, INT64_MIN, -1, UINT64_MAX),
		       "-1 [-9223372036854775808, 18446744073709551615)");
	q = between(0, 3, 0, 4);
	q.is_interpolated = true, q.interpolated = 3.25;
	check_quantile(quantile_int, q, "~3.25 [3, 4)");
	/* Addresses in hex, up to the edge beyond the last one; instants plain. */
	check_quantile(quantile_pointer, between(0, (s128)1 << 63, U64_EDGE - 1, U64_EDGE),
		       "0xffffffffffffffff [0x8000000000000000, 0x10000000000000000)");
	check_quantile(quantile_pointer, between(0, -16, 0, 255), "0x0 [-0x10, 0xff)");
	check_quantile(quantile_time, between(0, 4096, 5000, 8192), "5000 [4096, 8192)");
}

static void check_rung(u32 q_ppb, const char *wanted)
{
	struct quantile q = between(q_ppb, 7, 7, 8);
	char line[64];
	struct buf buf;

	buf_init(&buf);
	out_quantiles.put_line(&buf, ladder_ns, &(struct value)QUANTILES(&q, 1), 0);
	snprintf(line, sizeof(line), "%s  7ns", wanted);
	assert_string_equal(buf.at, line);
	buf_free(&buf);
}

static void test_rungs(void **unused)
{
	check_rung(0, "p0");
	check_rung(500000000, "p50");
	check_rung(990000000, "p99");
	check_rung(999000000, "p99.9");
	check_rung(999999999, "p99.9999999");
	check_rung(1, "p0.0000001");
	check_rung(1000000000, "p100");
}

/* "65.5us" -> 65500, exactly; in picoseconds, since digits may go below a nanosecond. */
static s128 read_duration(const char **text)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = { { "ns", 1 },
		      { "us", 1000 },
		      { "ms", 1000000 },
		      { "s", 1000000000 },
		      { "m", 60000000000ull },
		      { "h", 3600000000000ull },
		      { "d", 86400000000000ull } };
	const char *at = *text;
	bool is_negative = *at == '-', is_fraction = false;
	s128 number = 0, scale = 1;

	at += is_negative;
	for (; (*at >= '0' && *at <= '9') || *at == '.'; at++) {
		if (*at == '.') {
			is_fraction = true;
			continue;
		}
		number = number * 10 + *at - '0';
		scale *= is_fraction ? 10 : 1;
	}
	for (u32 i = 0; i < ARRAY_SIZE(units); i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(at, units[i].name, n) == 0 && !(at[n] >= 'a' && at[n] <= 'z')) {
			*text = at + n;
			number = number * units[i].ns * 1000;
			assert_true(number % scale == 0);
			return is_negative ? -number / scale : number / scale;
		}
	}
	fail_msg("no unit in %s", *text);
	return 0;
}

/* The text of random intervals of all sizes: holds the interval and is at most 1.6 as wide. */
static void test_outward(void **unused)
{
	u64 random = 88172645463325252ull;
	struct buf buf;

	buf_init(&buf);
	for (u32 i = 0; i < 200000; i++) {
		s64 lo = (s64)(random_next(&random) >> (1 + random_next(&random) % 63));
		u64 width = 1 + (random_next(&random) >> (random_next(&random) % 63 + 1));
		struct scheme_edges edges = { .has_lo = true, .has_hi = true };
		const char *at;
		s128 shown_lo, shown_hi, slack;

		edges.lo = random_next(&random) % 2 ? -(s128)lo : lo;
		edges.hi = edges.lo + width;
		buf_reset(&buf);
		out_put_interval(&buf, TYPE_DURATION, &edges,
				 out_interval_digits(edges.lo, edges.hi), true);
		at = buf.at + 1;
		shown_lo = read_duration(&at);
		assert_memory_equal(at, ", ", 2);
		at += 2;
		shown_hi = read_duration(&at);
		assert_string_equal(at, "]");
		assert_true(shown_lo <= edges.lo * 1000);
		assert_true(shown_hi >= edges.hi * 1000);
		slack = shown_hi - shown_lo - (edges.hi - edges.lo) * 1000;
		if (slack * 10 > (edges.hi - edges.lo) * 1000 * 6)
			fail_msg("%s is wide for %lld + %llu", buf.at, (long long)edges.lo,
				 (unsigned long long)width);
	}
	buf_free(&buf);
}

/* An estimate anywhere in an interval is shown within it, as the interval itself is shown. */
static void test_estimate(void **unused)
{
	u64 random = 362436069ull;
	struct buf buf;

	buf_init(&buf);
	for (u32 i = 0; i < 200000; i++) {
		s128 lo = (s128)(random_next(&random) >> (1 + random_next(&random) % 63));
		u64 width = 1 + (random_next(&random) >> (random_next(&random) % 62 + 2));
		struct quantile q;
		s128 estimate, shown_lo, shown_hi;
		const char *at;

		if (random_next(&random) % 2)
			lo = -lo - width;
		q = between(0, lo, lo + random_next(&random) % width, lo + width);
		buf_reset(&buf);
		out_quantiles.put_line(&buf, quantile_ns, &(struct value)QUANTILES(&q, 1), 0);
		at = buf.at;
		estimate = read_duration(&at);
		if (*at == '\0') {
			assert_int_equal(width, 1);
			assert_true(estimate == lo * 1000);
			continue;
		}
		assert_memory_equal(at, " [", 2);
		at += 2;
		shown_lo = read_duration(&at);
		at += 2;
		shown_hi = read_duration(&at);
		if (estimate < shown_lo || estimate > shown_hi)
			fail_msg("%s", buf.at);
	}
	buf_free(&buf);
}

/* NULL, an interpolated one, and names that clash with the bounds' names. */
static void test_quantiles(void **unused)
{
	struct column columns[] = {
		COLUMN("comm", type_comm),	COLUMN("p99", quantile_ns),
		COLUMN("p99_lo", type_s64),	COLUMN("p99", quantile_int),
		COLUMN("quantiles", ladder_ns), COLUMN("n", type_u64),
	};
	struct quantile single[] = {
		between(990000000, 65536, 92682, 131072),
		between(990000000, -5, -2, 1),
		between(990000000, 64, 64, 64),
		between(990000000, 0, 0, 0),
	};
	struct quantile ladder[] = {
		between(500000000, 1000, 1414, 2000),
		between(990000000, 65536, 92682, 131072),
		between(999900000, 131072, 131072, 0),
	};
	struct value values[][6] = {
		{ TEXT("dd"), QUANTILES(&single[0], 1), INT(7), QUANTILES(&single[1], 1),
		  QUANTILES(ladder, 3), INT(500) },
		{ TEXT("cat"), NUL, INT(8), QUANTILES(&single[2], 1), NUL, INT(0) },
		{ NUL, QUANTILES(&single[3], 1), NUL, NUL, QUANTILES(ladder + 1, 1), INT(9) },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));
	struct out_options terminal = { .is_terminal = true, .width = 60 };

	ladder[2].has_hi = false;
	single[2].is_hi_open = false;
	single[2].is_interpolated = true;
	single[2].interpolated = 64.125;
	single[3].has_lo = single[3].has_hi = false;
	single[3].estimate = 12000;
	batch.other_row = 2;
	check_texts("quantiles", (struct out_options){ 0 }, &batch, 1);
	check_table("quantiles-60.table", terminal, &batch);
}

/* As plans give them: an interpolated one is a real number. */
static void test_quantile_types(void **unused)
{
	struct column columns[] = {
		COLUMN("p99", quantile_ns),
		COLUMN("median", { .kind = TYPE_REAL, .of = TYPE_DURATION }),
		COLUMN("ret", quantile_int),
		COLUMN("size", { .kind = TYPE_QUANTILE, .of = TYPE_INT }),
		COLUMN("rungs", ladder_ns),
	};
	struct quantile single[] = {
		between(990000000, 65536, 92682, 131072),
		between(500000000, 64, 64, 65),
		between(990000000, -5, -2, 1),
		between(990000000, (s128)1 << 63, UINT64_MAX, UINT64_MAX),
		between(990000000, 0, 12000, 0),
	};
	struct quantile ladder[] = {
		between(500000000, 1000, 1414, 2000),
		between(999900000, 131072, 131072, 0),
	};
	struct value values[][5] = {
		{ QUANTILES(&single[0], 1), QUANTILES(&single[1], 1), QUANTILES(&single[2], 1),
		  QUANTILES(&single[3], 1), QUANTILES(ladder, 2) },
		{ NUL, NUL, NUL, NUL, NUL },
		{ QUANTILES(&single[4], 1), REAL(1.5), INT(4), QUANTILES(&single[0], 1),
		  QUANTILES(ladder, 1) },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));

	single[1].is_interpolated = true;
	single[1].interpolated = 64.125;
	single[4].has_lo = single[4].has_hi = false;
	ladder[1].has_hi = false;
	check_format("quantile-types", "json", (struct out_options){ 0 }, &batch, 1);
	check_format("quantile-types", "arrow", (struct out_options){ 0 }, &batch, 1);
}

/* Columns that find no room are left out, with a mark; no line is wider than the terminal. */
static void test_wide(void **unused)
{
	struct column columns[] = { COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
				    COLUMN("reads", type_u64), COLUMN("writes", type_u64),
				    COLUMN("bytes_read", type_u64),
				    COLUMN("bytes_written", type_u64) };
	struct value values[] = { TEXT("a rather long one"),
				  INT(7),
				  INT(123456789012),
				  INT(5),
				  INT(9),
				  TEXT("cat"),
				  INT(1234567),
				  INT(5),
				  INT(1),
				  INT(123456789) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 2);

	batch.is_last = true;
	setenv("NO_COLOR", "1", 1);
	for (u32 width = 10; width < 80; width++) {
		for (u32 is_streaming = 0; is_streaming < 2; is_streaming++) {
			struct out_options options = { .is_terminal = true,
						       .width = width,
						       .is_streaming = is_streaming };
			size_t n, n_marks = 0;
			char *text = format_batches("table", options, &batch, 1, &n);
			char *line = is_streaming ? text : strchr(text, '\n') + 1;

			for (u32 i = 0; i < 3; i++, line = strchr(line, '\n') + 1) {
				struct buf shown;
				char *end = strchr(line, '\n');
				char *mark = strstr(line, "  …");

				buf_init(&shown);
				assert_true(out_put_visible(&shown, line, (size_t)(end - line),
							    0) <= width);
				buf_free(&shown);
				n_marks += mark && mark < end;
			}
			/* Each line says so, and the note. */
			assert_int_equal(strstr(text, " more: -o expanded") != NULL, n_marks > 0);
			assert_true(n_marks == 0 || n_marks == 3 || is_streaming);
			free(text);
		}
	}
	check_format("wide-40", "table", (struct out_options){ .is_terminal = true, .width = 40 },
		     &batch, 1);
	check_format("wide-60", "table", (struct out_options){ .is_terminal = true, .width = 60 },
		     &batch, 1);
	unsetenv("NO_COLOR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_quantile_text),
		cmocka_unit_test(test_quantile_digits),
		cmocka_unit_test(test_quantile_unbounded),
		cmocka_unit_test(test_quantile_integers),
		cmocka_unit_test(test_rungs),
		cmocka_unit_test(test_outward),
		cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_quantile_types),
	};

	setenv("TZ", "UTC0", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}
