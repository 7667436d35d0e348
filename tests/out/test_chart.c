/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Quantiles, ladders, histograms and the kinds of unpaired events in every format,
 * and what their texts promise: an interval's text holds the interval.
 */
#include "golden.h"

#include "out/format.h"

static const struct type quantile_ns = { .kind = TYPE_QUANTILE, .of = TYPE_DURATION };
static const struct type quantile_int = { .kind = TYPE_QUANTILE,
					  .of = TYPE_INT,
					  .is_signed = true };
static const struct type ladder_ns = { .kind = TYPE_LADDER, .of = TYPE_DURATION };
static const struct type histogram_ns = { .kind = TYPE_HISTOGRAM, .of = TYPE_DURATION };
static const struct type histogram_int = { .kind = TYPE_HISTOGRAM, .of = TYPE_INT };
static const struct type type_comm = { .kind = TYPE_TEXT, .bytes = 16 };

#define QUANTILES(list, count)                                                                     \
	{                                                                                          \
		.kind = VALUE_QUANTILES, .n = (count), .quantiles = (list)                         \
	}
#define HISTOGRAM(x)                                                                               \
	{                                                                                          \
		.kind = VALUE_HISTOGRAM, .histogram = (x)                                          \
	}

/* As check_all(), of the table alone. */
static void check_table(const char *name, struct out_options options, const struct batch *batch)
{
	size_t n;
	char *text = format_batches("table", options, batch, 1, &n);

	check_golden(name, text, n);
	free(text);
}

/* --- Quantiles --- */

static struct quantile between(u32 q_ppb, s128 lo, s128 estimate, s128 hi)
{
	return (struct quantile){ .q_ppb = q_ppb,
				  .has_lo = true,
				  .has_hi = true,
				  .is_hi_open = true,
				  .lo = lo,
				  .estimate = estimate,
				  .hi = hi };
}

static void check_quantile(struct type type, struct quantile quantile, const char *wanted)
{
	struct buf buf;

	buf_init(&buf);
	out_put_quantile(&buf, type, &quantile);
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
	/* A narrow interval keeps its digits. */
	check_quantile(quantile_ns, between(0, 1000000, 1000001, 1000003),
		       "1.000001ms [1ms, 1.000003ms)");
	check_quantile(quantile_ns, between(0, 1008000, 1012000, 1016000),
		       "1.012ms [1.008ms, 1.016ms)");
	q = between(0, 90000, 90000, 90000);
	q.is_hi_open = false;
	check_quantile(quantile_ns, q, "90us [90us, 90us]");
	q.lo = q.hi = q.estimate = 90041;
	check_quantile(quantile_ns, q, "90.041us [90.041us, 90.041us]");
	q.lo = q.hi = q.estimate = 700000000001ll;
	check_quantile(quantile_ns, q, "700.000000001s [700.000000001s, 700.000000001s]");
	/* Without bounds. */
	q = between(0, 64000, 64000, 0);
	q.has_hi = false;
	check_quantile(quantile_ns, q, "64us [64us, inf)");
	q.has_lo = false;
	check_quantile(quantile_ns, q, "64us [0ns, inf)");
	check_quantile(quantile_int, q, "64,000 (-inf, inf)");
	q.has_hi = true, q.hi = 70000;
	check_quantile(quantile_int, q, "64,000 (-inf, 70,000)");
	/* Integers are exact, whatever their size. */
	check_quantile(quantile_int, between(0, INT64_MIN, -1, UINT64_MAX),
		       "-1 [-9,223,372,036,854,775,808, 18,446,744,073,709,551,615)");
	q = between(0, 3, 0, 4);
	q.is_interpolated = true, q.interpolated = 3.25;
	check_quantile(quantile_int, q, "~3.25 [3, 4)");
}

static void check_rung(u32 q_ppb, const char *wanted)
{
	struct buf buf;

	buf_init(&buf);
	out_put_rung(&buf, q_ppb);
	assert_string_equal(buf.at, wanted);
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

static u64 random_next(u64 *random)
{
	*random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
	return *random;
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
	check_all("quantiles", (struct out_options){ 0 }, &batch, 1);
	check_table("quantiles-60.table", terminal, &batch);
}

/* --- Histograms --- */

#define MAX_CELLS 256

struct filled {
	struct histogram histogram;
	struct histogram_cell cells[MAX_CELLS];
};

/* `times` more of a value; values come in ascending order. */
static void fill(struct filled *filled, s128 value, u64 times)
{
	struct histogram *histogram = &filled->histogram;
	u32 cell = scheme_cell(histogram->scheme, value);
	struct histogram_cell *last = &filled->cells[histogram->n_cells];

	histogram->cells = filled->cells;
	if (histogram->n_cells == 0 || last[-1].cell != cell) {
		assert_true(histogram->n_cells < MAX_CELLS);
		*last++ = (struct histogram_cell){ .cell = cell };
		histogram->n_cells++;
	}
	last[-1].count += times;
	histogram->min = histogram->count ? histogram->min : value;
	histogram->max = value;
	histogram->sum += value * times;
	histogram->count += times;
}

static const struct scheme log2_scheme = { .kind = SCHEME_LOG2 };

static void fill_latencies(struct filled *filled)
{
	fill(filled, 60000, 1);
	fill(filled, 70000, 250);
	fill(filled, 150000, 125);
	fill(filled, 300000, 120);
	fill(filled, 2500000, 4);
}

/* Groups with their keys: filled, empty, NULL, with values without a place, (other). */
static void test_histogram(void **unused)
{
	struct column columns[] = {
		COLUMN("pid", type_u64), COLUMN("comm", type_comm),    COLUMN("h", histogram_ns),
		COLUMN("q", ladder_ns),	 COLUMN("count(*)", type_u64),
	};
	struct quantile ladder[] = { between(500000000, 65536, 92682, 131072),
				     between(990000000, 131072, 185000, 262144) };
	static struct filled full, empty, unplaced, other;
	struct value values[][5] = {
		{ INT(12), TEXT("dd"), HISTOGRAM(&full.histogram), QUANTILES(ladder, 2), INT(500) },
		{ INT(13), TEXT("ev\x1b[il"), HISTOGRAM(&empty.histogram), NUL, INT(0) },
		{ INT(14), TEXT(""), NUL, NUL, INT(0) },
		{ INT(15), TEXT("x"), HISTOGRAM(&unplaced.histogram), NUL, INT(3) },
		{ NUL, NUL, HISTOGRAM(&other.histogram), NUL, INT(2) },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));
	static const u32 widths[] = { 20, 60, 80, 200 };

	full.histogram.scheme = empty.histogram.scheme = &log2_scheme;
	unplaced.histogram.scheme = other.histogram.scheme = &log2_scheme;
	fill_latencies(&full);
	unplaced.histogram.n_unplaced = 3;
	unplaced.histogram.sum = -3000;
	unplaced.histogram.min = -2000;
	unplaced.histogram.max = -100;
	fill(&other, 0, 1);
	fill(&other, 1, 1);
	batch.other_row = 4;
	check_all("histogram", (struct out_options){ 0 }, &batch, 1);
	check_table("histogram-ascii.table", (struct out_options){ .is_ascii = true }, &batch);
	for (u32 i = 0; i < ARRAY_SIZE(widths); i++) {
		struct out_options options = { .is_terminal = true, .width = widths[i] };
		char name[64];

		snprintf(name, sizeof(name), "histogram-%u.table", widths[i]);
		check_table(name, options, &batch);
		snprintf(name, sizeof(name), "histogram-ascii-%u.table", widths[i]);
		options.is_ascii = true;
		check_table(name, options, &batch);
	}
}

/* A locale of another charset gets the same bars as --ascii. */
static void test_locale(void **unused)
{
	struct column columns[] = { COLUMN("h", histogram_ns) };
	static struct filled full;
	struct value values[] = { HISTOGRAM(&full.histogram) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);
	static const struct {
		const char *all, *ctype, *lang;
		bool is_utf8;
	} cases[] = {
		{ "C.UTF-8", "C", "C", true },		 { "C", "C.UTF-8", "C.UTF-8", false },
		{ "", "de_DE.utf8", "C", true },	 { NULL, NULL, "en_US.UTF-8", true },
		{ NULL, "POSIX", "en_US.UTF-8", false }, { NULL, NULL, NULL, false },
	};
	struct out_options ascii = { .is_ascii = true };
	char *wanted[2];
	size_t n;

	full.histogram.scheme = &log2_scheme;
	fill_latencies(&full);
	wanted[0] = format_batches("table", ascii, &batch, 1, &n);
	wanted[1] = format_batches("table", (struct out_options){ 0 }, &batch, 1, &n);
	assert_non_null(strchr(wanted[0], '#'));
	assert_null(strchr(wanted[1], '#'));
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
		const char *values_of[] = { cases[i].all, cases[i].ctype, cases[i].lang };
		char *text;

		for (u32 j = 0; j < 3; j++) {
			unsetenv(names[j]);
			if (values_of[j])
				setenv(names[j], values_of[j], 1);
		}
		text = format_batches("table", (struct out_options){ 0 }, &batch, 1, &n);
		assert_string_equal(text, wanted[cases[i].is_utf8]);
		free(text);
	}
	setenv("LC_ALL", "C.UTF-8", 1);
	free(wanted[0]);
	free(wanted[1]);
}

/* Several in a row, titled: negative cells, open ends, one cell, huge counts, a long gap. */
static void test_schemes(void **unused)
{
	static const s64 listed[] = { 1, 2, 5, 9, 17, 33, 65 };
	static const struct scheme schemes[] = {
		{ .kind = SCHEME_LINEAR, .low = -30000, .high = 30000, .step = 10000 },
		{ .kind = SCHEME_BOUNDS, .bounds = listed, .n_bounds = ARRAY_SIZE(listed) },
		{ .kind = SCHEME_LOGLINEAR, .digits = 7 },
		{ .kind = SCHEME_EXPONENTIAL, .digits = 3 },
		{ .kind = SCHEME_LOG2 },
		{ .kind = SCHEME_LOG2 },
	};
	struct column columns[] = {
		COLUMN("linear", histogram_ns),	   COLUMN("bounds", histogram_int),
		COLUMN("loglinear", histogram_ns), COLUMN("exponential", histogram_ns),
		COLUMN("one cell", histogram_int), COLUMN("huge", histogram_int),
	};
	static struct filled filled[ARRAY_SIZE(schemes)];
	struct value values[ARRAY_SIZE(schemes)];
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);

	for (u32 i = 0; i < ARRAY_SIZE(schemes); i++) {
		filled[i].histogram.scheme = &schemes[i];
		values[i] = (struct value)HISTOGRAM(&filled[i].histogram);
	}
	fill(&filled[0], INT64_MIN, 3);
	fill(&filled[0], -20000, 5);
	fill(&filled[0], 0, 7);
	fill(&filled[0], 30000, 1);
	fill(&filled[1], -7, 2);
	fill(&filled[1], 1, 1);
	fill(&filled[1], 64, 20);
	fill(&filled[1], 1000000, 40);
	fill(&filled[2], 1000000, 10);
	fill(&filled[2], 1012000, 20);
	fill(&filled[2], 2000000, 5); /* a gap of more than three lines */
	fill(&filled[3], 0, 1);
	fill(&filled[3], 100, 3);
	fill(&filled[3], 120, 2); /* two empty cells between */
	fill(&filled[4], 5000, 1);
	fill(&filled[5], 0, 1);
	fill(&filled[5], 4, UINT64_MAX / 2);
	fill(&filled[5], UINT64_MAX, UINT64_MAX / 4);
	check_all("schemes", (struct out_options){ 0 }, &batch, 1);
}

static void test_bins(void **unused)
{
	static const struct scheme scheme = { .kind = SCHEME_LOGLINEAR, .digits = 3 };
	static const struct {
		const char *name;
		u32 bins;
	} cases[] = { { "bins-1.table", 1 },
		      { "bins-4.table", 4 },
		      { "bins-1000.table", 1000 },
		      { "bins-sqrt.table", OUT_BINS_SQRT },
		      { "bins-sturges.table", OUT_BINS_STURGES } };
	struct column columns[] = { COLUMN("n", type_u64), COLUMN("h", histogram_ns) };
	static struct filled filled;
	struct value values[] = { INT(100), HISTOGRAM(&filled.histogram) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);

	filled.histogram.scheme = &scheme;
	for (u32 i = 0; i < 20; i++)
		fill(&filled, 1000 + 50 * i, 1);
	fill(&filled, 4000, 80);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		check_table(cases[i].name, (struct out_options){ .bins = cases[i].bins }, &batch);
}

static void test_bin_rules(void **unused)
{
	assert_int_equal(out_n_bins(OUT_BINS_ALL, 100, 77), 77);
	assert_int_equal(out_n_bins(10, 100, 77), 10);
	assert_int_equal(out_n_bins(100, 100, 77), 77);
	assert_int_equal(out_n_bins(OUT_BINS_SQRT, 1, 1000), 1);
	assert_int_equal(out_n_bins(OUT_BINS_SQRT, 256, 1000), 16);
	assert_int_equal(out_n_bins(OUT_BINS_SQRT, 257, 1000), 17);
	assert_int_equal(out_n_bins(OUT_BINS_SQRT, UINT64_MAX, 1000), 1000);
	assert_int_equal(out_n_bins(OUT_BINS_STURGES, 1, 1000), 1);
	assert_int_equal(out_n_bins(OUT_BINS_STURGES, 2, 1000), 2);
	assert_int_equal(out_n_bins(OUT_BINS_STURGES, 3, 1000), 3);
	assert_int_equal(out_n_bins(OUT_BINS_STURGES, 1024, 1000), 11);
	assert_int_equal(out_n_bins(OUT_BINS_STURGES, 1025, 1000), 12);
	assert_int_equal(out_n_bins(OUT_BINS_STURGES, UINT64_MAX, 1000), 65);
}

/* At most N bars whatever the cells, and no count gets lost in the merging. */
static void test_bins_conserve(void **unused)
{
	static const struct scheme scheme = { .kind = SCHEME_LOGLINEAR, .digits = 5 };
	struct column columns[] = { COLUMN("h", histogram_int) };
	u64 random = 5463325252ull;

	for (u32 round = 0; round < 200; round++) {
		struct filled filled = { .histogram = { .scheme = &scheme } };
		struct value values[] = { HISTOGRAM(&filled.histogram) };
		struct schema schema = SCHEMA(columns);
		struct batch batch = batch_of(&schema, values, 1);
		u32 bins = 1 + (u32)(random_next(&random) % 40), n_bars = 0;
		struct out_options options = { .bins = bins, .is_ascii = true };
		u64 value = 0, sum = 0;
		size_t n;
		char *text;

		for (u32 i = 0; i < 40; i++) {
			value += random_next(&random) >> (30 + random_next(&random) % 34);
			fill(&filled, value, random_next(&random) % 900 + 1);
		}
		text = format_batches("table", options, &batch, 1, &n);
		for (char *at = strchr(text, '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
			char *behind = strchr(at, ')');

			if (at[1] != '[')
				continue;
			n_bars++;
			for (behind++; *behind == ' ' || *behind == ','; behind++)
				;
			for (u64 count = 0;; behind++) {
				if (*behind >= '0' && *behind <= '9')
					count = count * 10 + (u64)(*behind - '0');
				else if (*behind != ',') {
					sum += count;
					break;
				}
			}
		}
		assert_true(n_bars >= 1 && n_bars <= bins);
		assert_int_equal(sum, filled.histogram.count);
		free(text);
	}
}

/* As many lines as a scheme has cells leave the buffer as small as it is. */
static void test_large_chart(void **unused)
{
	static const struct scheme scheme = { .kind = SCHEME_LINEAR, .high = 60000, .step = 1 };
	enum { N_CELLS = 60000 };
	struct histogram_cell *cells = calloc(N_CELLS, sizeof(*cells));
	struct column columns[] = { COLUMN("h", histogram_int) };
	struct histogram histogram = { .scheme = &scheme, .cells = cells, .n_cells = N_CELLS };
	struct value values[] = { HISTOGRAM(&histogram) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);
	struct out_options options = { .fd = temporary_file() };
	u32 n_lines = 0;
	struct out out;
	size_t n;
	char *text;

	for (u32 i = 0; i < N_CELLS; i++)
		cells[i] = (struct histogram_cell){ scheme_cell(&scheme, i), i + 1 };
	histogram.count = (u64)N_CELLS * (N_CELLS + 1) / 2;
	out_open(&out, out_format_find("table"), &options, &schema);
	assert_int_equal(out_batch(&out, &batch), 0);
	assert_true(out.buf.capacity <= 256 << 10);
	assert_int_equal(out_close(&out), 0);
	text = read_all(options.fd, &n);
	for (size_t i = 0; i < n; i++)
		n_lines += text[i] == '\n';
	assert_int_equal(n_lines, 1 + 1 + N_CELLS + 1);
	free(text);
	free(cells);
}

/* --- Losses --- */

static void test_unpaired(void **unused)
{
	struct column columns[] = { COLUMN("n", type_u64) };
	struct schema schema = SCHEMA(columns);
	struct value values[] = { INT(1) };
	struct batch batches[] = { batch_of(&schema, values, 1), batch_of(&schema, values, 1) };

	batches[0].lost[LOSS_UNPAIRED] = 12;
	batches[0].lost[LOSS_NEGATIVE] = 1;
	batches[0].unpaired[UNPAIRED_NEVER_STARTED] = 5;
	batches[0].unpaired[UNPAIRED_OVERWRITTEN] = 7;
	batches[1].lost[LOSS_UNPAIRED] = 100000;
	for (u32 i = 0; i < UNPAIRED_N; i++)
		batches[1].unpaired[i] = 1000 * (i + 1);
	check_all("unpaired", (struct out_options){ 0 }, batches, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile_text), cmocka_unit_test(test_rungs),
		cmocka_unit_test(test_outward),	      cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_histogram),     cmocka_unit_test(test_locale),
		cmocka_unit_test(test_schemes),	      cmocka_unit_test(test_bins),
		cmocka_unit_test(test_bin_rules),     cmocka_unit_test(test_bins_conserve),
		cmocka_unit_test(test_large_chart),   cmocka_unit_test(test_unpaired),
	};

	setenv("TZ", "UTC0", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
