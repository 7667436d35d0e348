/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms, their block headers, and the kinds of unpaired events in every format.
 */
#include "golden.h"

#include "out/format.h"

static const struct type histogram_ns = { .kind = TYPE_HISTOGRAM, .of = TYPE_DURATION };
static const struct type histogram_int = { .kind = TYPE_HISTOGRAM, .of = TYPE_INT };

#define HISTOGRAM(x)                                                                               \
	{                                                                                          \
		.kind = VALUE_HISTOGRAM, .histogram = (x)                                          \
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
	static const u32 widths[] = { 20, 24, 36, 44, 60, 80, 200 };

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

/* No line of a terminal is longer than it, down to what the range and the count take. */
static void test_fits(void **unused)
{
	struct column columns[] = { COLUMN("pid", type_u64), COLUMN("command", type_comm),
				    COLUMN("h", histogram_ns) };
	static struct filled full;
	struct value values[] = { INT(12), TEXT("a rather long one"), HISTOGRAM(&full.histogram) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);
	u32 n_words[3] = { 0 }; /* widths at which there are bars, "up to", "share" */

	full.histogram.scheme = &log2_scheme;
	fill_latencies(&full);
	for (u32 width = 24; width <= 120; width++) {
		struct out_options options = { .is_terminal = true,
					       .width = width,
					       .is_ascii = true };
		size_t n, lines = 0;
		char *text = format_batches("table", options, &batch, 1, &n), *at;
		bool has_bar = strchr(text, '#'), has_up_to = strstr(text, "up to");
		bool has_share = strstr(text, "share");

		assert_true((!has_bar || has_up_to) && (!has_up_to || has_share));
		n_words[0] += has_bar, n_words[1] += has_up_to, n_words[2] += has_share;
		at = strstr(text, "\x1b[0m\n") + 5; /* behind the header */
		for (size_t length; *at; at += length + 1, lines++) {
			length = strcspn(at, "\n");
			assert_in_range(length, 1, width);
		}
		assert_true(lines >= 9);
		free(text);
	}
	/* From a width on there is always one more of them. */
	assert_int_equal(n_words[2], 121 - (23 + 8));
	assert_int_equal(n_words[1], 121 - (23 + 16));
	assert_int_equal(n_words[0], 121 - (23 + 16 + 2 + 4));
}

/* The second share of the n-th line of cells, from 0. */
static void check_shares(const char *text, u32 line, const char *wanted)
{
	const char *at = strstr(text, "up to\n");

	assert_non_null(at);
	at = strchr(at, '\n') + 1;
	for (; line > 0; line--)
		at = strchr(at, '\n') + 1;
	at += strcspn(at, ")]") + 1;
	at += strspn(at, " 0123456789,"); /* the gap, the count, and the first digits ... */
	while (at[-1] != ' ')
		at--; /* ... back to where the share begins */
	if (strncmp(at, wanted, strlen(wanted)) != 0)
		fail_msg("not %s: %s", wanted, at);
}

/* Nothing that is more than nothing is 0.0%, nothing that is less than all 100.0%. */
static void test_shares(void **unused)
{
	struct column columns[] = { UNNAMED("histogram(x)", histogram_int) };
	static struct filled filled;
	struct value values[] = { HISTOGRAM(&filled.histogram) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);
	size_t n;
	char *text;

	filled.histogram.scheme = &log2_scheme;
	fill(&filled, 0, 1);
	fill(&filled, 1, 1000000);
	fill(&filled, 8, 1);
	text = format_batches("table", (struct out_options){ .is_ascii = true }, &batch, 1, &n);
	check_shares(text, 0, "<0.1%   <0.1%  #\n");
	check_shares(text, 1, "99.9%   99.9%  ##########");
	check_shares(text, 2, "0.0%   99.9%\n");
	check_shares(text, 4, "<0.1%  100.0%  #\n");
	free(text);
	memset(&filled, 0, sizeof(filled));
	filled.histogram.scheme = &log2_scheme;
	fill(&filled, 0, 9995);
	fill(&filled, 1, 5);
	text = format_batches("table", (struct out_options){ .is_ascii = true }, &batch, 1, &n);
	/* Both are rounded to the nearest where that is not all or nothing. */
	check_shares(text, 0, "99.9%   99.9%");
	check_shares(text, 1, "0.1%  100.0%");
	free(text);
}

/* Of instants and addresses: what a sum of them would mean is left out. */
static void test_kinds(void **unused)
{
	static const struct scheme linear = {
		.kind = SCHEME_LINEAR, .low = 4096, .high = 12288, .step = 4096
	};
	struct column columns[] = {
		UNNAMED("histogram(time)", { .kind = TYPE_HISTOGRAM, .of = TYPE_TIMESTAMP }),
		UNNAMED("histogram(buf)", { .kind = TYPE_HISTOGRAM, .of = TYPE_POINTER }),
		COLUMN("pages", { .kind = TYPE_HISTOGRAM, .of = TYPE_POINTER }),
		COLUMN("p50(buf)", { .kind = TYPE_QUANTILE, .of = TYPE_POINTER }),
	};
	static struct filled filled[3];
	struct quantile quantile = between(500000000, 0x8000, 0xb504, 0x10000);
	struct value values[] = { HISTOGRAM(&filled[0].histogram), HISTOGRAM(&filled[1].histogram),
				  HISTOGRAM(&filled[2].histogram), QUANTILES(&quantile, 1) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);

	filled[0].histogram.scheme = filled[1].histogram.scheme = &log2_scheme;
	filled[2].histogram.scheme = &linear;
	fill(&filled[0], 1000000000001ll, 1);
	fill(&filled[0], 1000000000004ll, 2);
	fill(&filled[1], 0, 1);
	fill(&filled[1], 0x7ffc12345678ll, 2);
	fill(&filled[1], UINT64_MAX - 1, 2);
	fill(&filled[2], 0x10, 1);
	fill(&filled[2], 0x1234, 1);
	fill(&filled[2], 0x4567, 1);
	check_all("kinds", (struct out_options){ 0 }, &batch, 1);
}

static void check_title(const char *name, bool is_unnamed, const char *wanted)
{
	struct column columns[] = {
		{ .name = name, .type = histogram_int, .is_unnamed = is_unnamed }
	};
	static struct filled empty = { .histogram.scheme = &log2_scheme };
	struct value values[] = { HISTOGRAM(&empty.histogram) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);
	size_t n;
	char *text = format_batches("table", (struct out_options){ 0 }, &batch, 1, &n);

	assert_string_equal(strchr(text, '\n') + 1, wanted);
	free(text);
}

/* One histogram has a title where it has a name of its own; several (test_schemes) have all. */
static void test_title(void **unused)
{
	check_title("histogram(latency)", true, "count 0\n");
	check_title("latencies", false, "latencies\ncount 0\n");
	check_title("histogram(x)", false, "histogram(x)\ncount 0\n");
}

/* Many columns: lines are broken between them, at the terminal's width or 100. */
static void test_header(void **unused)
{
	struct column columns[] = {
		COLUMN("device_name(dev)", type_comm),
		COLUMN("sum(bytes)", type_u64),
		COLUMN("p50(latency)", quantile_ns),
		COLUMN("p99(latency)", quantile_ns),
		COLUMN("quantiles(latency, 0.5, 0.99)", ladder_ns),
		COLUMN("count(*)", type_u64),
		UNNAMED("histogram(latency)", histogram_ns),
		COLUMN("comm", type_comm),
	};
	struct quantile quantiles[] = { between(500000000, 65536, 92682, 131072),
					between(990000000, 131072, 185000, 262144) };
	static struct filled full;
	struct value values[] = { TEXT("8:16"),
				  INT(1234567890),
				  QUANTILES(quantiles, 1),
				  QUANTILES(quantiles + 1, 1),
				  QUANTILES(quantiles, 2),
				  INT(500),
				  HISTOGRAM(&full.histogram),
				  TEXT("a comm of many columns") };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);

	full.histogram.scheme = &log2_scheme;
	fill_latencies(&full);
	check_table("header.table", (struct out_options){ 0 }, &batch);
	check_table("header-60.table", (struct out_options){ .is_terminal = true, .width = 60 },
		    &batch);
	check_table("header-24.table", (struct out_options){ .is_terminal = true, .width = 24 },
		    &batch);
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
	const struct out_options options = { 0 };
	int fd = temporary_file();
	u32 n_lines = 0;
	struct out_file out;
	size_t n;
	char *text;

	for (u32 i = 0; i < N_CELLS; i++)
		cells[i] = (struct histogram_cell){ scheme_cell(&scheme, i), i + 1 };
	histogram.count = (u64)N_CELLS * (N_CELLS + 1) / 2;
	out_file_open(&out, out_format_find("table"), fd, &options, &schema);
	assert_int_equal(out_file_batch(&out, &batch), 0);
	assert_true(out.out.buf.capacity <= 256 << 10);
	assert_int_equal(out_file_close(&out, 0), 0);
	text = read_all(fd, &n);
	for (size_t i = 0; i < n; i++)
		n_lines += text[i] == '\n';
	assert_int_equal(n_lines, 1 + 1 + 1 + N_CELLS + 1);
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

	batches[0].account.lost[LOSS_UNPAIRED] = 12;
	batches[0].account.lost[LOSS_NEGATIVE] = 1;
	batches[0].account.unpaired[UNPAIRED_NEVER_STARTED] = 5;
	batches[0].account.unpaired[UNPAIRED_OVERWRITTEN] = 7;
	batches[1].account.lost[LOSS_UNPAIRED] = 100000;
	for (u32 i = 0; i < UNPAIRED_N; i++)
		batches[1].account.unpaired[i] = 1000 * (i + 1);
	check_all("unpaired", (struct out_options){ 0 }, batches, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {

		cmocka_unit_test(test_histogram),   cmocka_unit_test(test_locale),
		cmocka_unit_test(test_schemes),	    cmocka_unit_test(test_bins),
		cmocka_unit_test(test_bin_rules),   cmocka_unit_test(test_bins_conserve),
		cmocka_unit_test(test_large_chart), cmocka_unit_test(test_unpaired),
		cmocka_unit_test(test_fits),	    cmocka_unit_test(test_shares),
		cmocka_unit_test(test_kinds),	    cmocka_unit_test(test_title),
		cmocka_unit_test(test_header),
	};

	setenv("TZ", "UTC0", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
