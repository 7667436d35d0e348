/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every format against golden files, over values at the ends of their ranges,
 * text that tries to break out, and batches with and without losses.
 */
#include "golden.h"
#include "out/format.h"

/* --- Values --- */

static void test_extremes(void **unused)
{
	struct column columns[] = {
		COLUMN("sum", { .kind = TYPE_INT, .bits = 64, .is_signed = true }),
		COLUMN("u", { .kind = TYPE_INT, .bits = 64 }),
		COLUMN("d", { .kind = TYPE_DURATION, .is_signed = true }),
		COLUMN("time", { .kind = TYPE_TIMESTAMP, .clock = CLOCK_MONO }),
		COLUMN("ptr", { .kind = TYPE_POINTER }),
		COLUMN("flag", { .kind = TYPE_BOOL }),
		COLUMN("avg", { .kind = TYPE_REAL }),
		COLUMN("bytes", { .kind = TYPE_BLOB, .bytes = 4 }),
	};
	struct value values[][8] = {
		{ INT(S128_MAX), INT(UINT64_MAX), INT(INT64_MAX), INT(0), INT(UINT64_MAX), INT(1),
		  REAL(0.1), TEXT("\x00\xff\x7f\x80") },
		{ INT(S128_MIN), INT(0), INT(INT64_MIN), INT(86399999999999ll), INT(0), INT(0),
		  REAL(-1.0 / 3), TEXT("abcd") },
		{ INT(-1), INT((s128)1 << 63), INT(1530000), INT(T0), INT(0xffff888100000000ull),
		  INT(1), REAL(3), NUL },
		{ NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL },
		{ INT((s128)UINT64_MAX + 1), INT(7), INT(0), INT(UINT64_MAX), INT(255), INT(0),
		  REAL(1e300), NUL },
		{ INT(-((s128)1 << 64)), INT(8), REAL(1500.4), INT(1), INT(1), INT(0), REAL(5e-324),
		  NUL },
		{ INT(0), INT(9), INT(-1), INT(1), INT(1), INT(0), REAL(INFINITY), NUL },
		{ INT(0), INT(9), INT(-1), INT(1), INT(1), INT(0), REAL(-INFINITY), NUL },
		{ INT(0), INT(9), INT(-1), INT(1), INT(1), INT(0), REAL(NAN), NUL },
		{ INT(0), INT(9), INT(-1), INT(1), INT(1), INT(0), REAL(-0.0), NUL },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));
	struct out_options options = { .monotonic_to_realtime_ns = 3600000000000ll };

	check_texts("extremes", options, &batch, 1);
}

/* What Arrow's types can hold as well. */
static void test_limits(void **unused)
{
	struct column columns[] = {
		COLUMN("sum", { TYPE_INT, 64, true, .is_wide = true }),
		COLUMN("s8", { TYPE_INT, 8, true }),
		COLUMN("u16", { TYPE_INT, 16 }),
		COLUMN("s32", { TYPE_INT, 32, true }),
		COLUMN("s64", { TYPE_INT, 64, true }),
		COLUMN("u64", { TYPE_INT, 64 }),
		COLUMN("d", { TYPE_DURATION, 64, true }),
		COLUMN("time", { TYPE_TIMESTAMP, 64 }),
		COLUMN("ptr", { TYPE_POINTER, 64 }),
		COLUMN("flag", { .kind = TYPE_BOOL }),
		COLUMN("avg", { .kind = TYPE_REAL }),
		COLUMN("bytes", { .kind = TYPE_BLOB, .bytes = 4 }),
		COLUMN("none", { .kind = TYPE_NULL }),
	};
	const s128 nines = (s128)10000000000000000000ull * 10000000000000000000ull - 1;
	struct value values[][13] = {
		{ INT(nines), INT(127), INT(65535), INT(INT32_MAX), INT(INT64_MAX), INT(UINT64_MAX),
		  INT(INT64_MAX), INT(T0), INT(UINT64_MAX), INT(1), REAL(0.1),
		  TEXT("\x00\xff\x7f\x80"), NUL },
		{ INT(-nines), INT(-128), INT(0), INT(INT32_MIN), INT(INT64_MIN), INT(0),
		  INT(INT64_MIN), INT(INT64_MAX), INT(0), INT(0), REAL(-1.0 / 3), TEXT("abcd"),
		  REAL(0.5) },
		{ NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL },
		{ INT((s128)1 << 64), INT(-1), INT(1), INT(-1), INT(-1), INT((s128)1 << 63),
		  INT(-1), INT(0), INT(255), INT(1), REAL(INFINITY), NUL, INT(7) },
		{ INT(-((s128)1 << 64)), NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, REAL(1e300),
		  NUL, NUL },
		{ INT(0), NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, REAL(-0.0), NUL, NUL },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));

	batch.other_row = 5;
	check_all("limits", (struct out_options){ 0 }, &batch, 1);
}

/* What they cannot ends the output, and nothing of the window is in it. */
static void test_beyond(void **unused)
{
	struct column column = COLUMN("d", { TYPE_DURATION, 64 });
	const struct schema schema = { 1, &column };
	struct value values[] = { INT(1), INT((s128)1 << 63) };
	struct batch batch = batch_of(&schema, values, 1);
	const struct out_options options = { 0 };
	int fd = temporary_file();
	struct out_file out;
	off_t n;

	out_file_open(&out, &out_arrow, fd, &options, &schema);
	assert_int_equal(out_file_batch(&out, &batch), 0);
	n = lseek(fd, 0, SEEK_END);
	batch.n_rows = 2;
	assert_int_equal(out_file_batch(&out, &batch), -EOVERFLOW);
	assert_string_equal(
		out.out.why,
		"column \"d\": a duration or time of 2^63 ns or more, which Arrow cannot hold");
	assert_int_equal(out_file_close(&out, 0), -EOVERFLOW);
	assert_int_equal(lseek(fd, 0, SEEK_END), n);
	close(fd);
}

/* Neither how large an instant is nor what its column is called says of which clock it is. */
static void test_clocks(void **unused)
{
	struct column columns[] = {
		COLUMN("window_start", { .kind = TYPE_TIMESTAMP, .clock = CLOCK_MONO }),
		COLUMN("time", { .kind = TYPE_TIMESTAMP, .clock = CLOCK_REAL }),
	};
	struct value values[][2] = {
		{ INT(1000), INT(1000) },
		{ INT(1100000000000000000), INT(1100000000000000000) },
		{ INT(-1000), INT(-1000) },
		{ NUL, NUL },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));
	struct out_options options = { .monotonic_to_realtime_ns = 3600000000000ll };

	check_all("clocks", options, &batch, 1);
}

static void test_text(void **unused)
{
	struct column columns[] = {
		COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
		COLUMN("n", type_u64),
		COLUMN("file, \"name\"", { .kind = TYPE_TEXT, .bytes = 64 }),
	};
	struct value values[][3] = {
		{ TEXT("plain"), INT(1), TEXT("a b") },
		{ TEXT("say \"hi\""), INT(22), TEXT("a,b") },
		{ TEXT("two\nlines\r\t"), INT(333), TEXT("back\\slash") },
		{ TEXT("\x1b[31mred\x1b[0m"), INT(4), TEXT("\x07\x7f\x01\xc2\x80\xc2\xa0") },
		{ TEXT("bad \xff\xc3(\xc0\x80\xed\xa0\x80"), INT(5), TEXT("cut \xe2\x82") },
		{ TEXT("größe €"), INT(6), TEXT("日本語") },
		{ TEXT("e\xcc\x81"), INT(7), TEXT("\xf0\x9f\x90\x9d bee") },
		{ TEXT("\xc2\x9b"
		       "31m"),
		  INT(8),
		  TEXT("\xe2\x80\xae"
		       "evil") },
		{ TEXT(""), INT(9), TEXT("# lost") },
		{ NUL, INT(10), TEXT(" padded ") },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));

	check_all("text", (struct out_options){ 0 }, &batch, 1);
}

/* Rows that carry their window's bounds, where a format has them. */
static void check_columns_as(const char *name, struct out_options options,
			     const struct batch *batches, u32 n_batches)
{
	options.has_window_columns = true;
	for (u32 i = 0; i < out_n_formats; i++)
		if (out_formats[i]->takes_window_columns)
			check_format(name, out_formats[i]->name, options, batches, n_batches);
}

static void test_names(void **unused)
{
	struct column columns[] = {
		COLUMN("fd", type_s64),	    COLUMN("fd", type_s64),
		COLUMN("fd", type_s64),	    COLUMN("fd_2", type_s64),
		COLUMN("_other", type_s64), COLUMN("_batch", type_s64),
		COLUMN("a\"b\n", type_s64), COLUMN("window_end", { .kind = TYPE_TIMESTAMP }),
	};
	struct value values[] = { INT(1), INT(2), INT(3), INT(4),
				  INT(5), INT(6), INT(7), INT(T0 + 1000000000ull) };
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, values, 1);
	struct out_options options = { .monotonic_to_realtime_ns = 7200000000000ll,
				       .has_other = true };

	columns[7].bound = BOUND_END;
	check_all("names", options, &batch, 1);
	check_columns_as("names-marked", options, &batch, 1);
}

/* --- Batches --- */

static struct column group_columns[] = {
	COLUMN("fd", { .kind = TYPE_INT, .bits = 32, .is_signed = true }),
	COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
	COLUMN("n", { .kind = TYPE_INT, .bits = 64 }),
	COLUMN("avg", { .kind = TYPE_REAL }),
};
static const struct schema group_schema = SCHEMA(group_columns);

static void check_columns(const char *name, const struct batch *batches, u32 n_batches)
{
	check_columns_as(name, (struct out_options){ 0 }, batches, n_batches);
}

/* Three windows: clean; empty; with an (other) row and every loss. */
static void test_windows(void **unused)
{
	struct value first[] = { INT(3),  TEXT("cat"), INT(10),	  REAL(1.5),
				 INT(-1), TEXT("dog"), INT(2000), REAL(2) };
	struct value third[] = { INT(3), TEXT("cat"), INT(10), REAL(1.5), NUL, NUL, INT(77), NUL };
	struct batch batches[] = {
		batch_of(&group_schema, first, 2),
		batch_of(&group_schema, NULL, 0),
		batch_of(&group_schema, third, 2),
	};

	batches[1].window_start_ns = T0 + 1000000000ull;
	batches[1].window_end_ns = T0 + 2000000000ull;
	batches[1].account.events = batches[1].account.matched = 0;
	batches[2].window_start_ns = T0 + 2000000000ull;
	batches[2].window_end_ns = T0 + 2001000000ull;
	batches[2].account.events = UINT64_MAX;
	batches[2].other_row = 1;
	batches[2].is_last = true;
	for (u32 i = 0; i < LOSS_N; i++)
		batches[2].account.lost[i] = i == LOSS_FAULT ? UINT64_MAX : 1000 + i;
	check_all("windows", (struct out_options){ 0 }, batches, 3);
	check_columns("window-columns", batches, 3);
}

/* Windows that ended late, one of them with losses; and several that are given as one. */
static void test_late(void **unused)
{
	struct value row[] = { INT(3), TEXT("cat"), INT(10), REAL(1.5) };
	struct batch batches[] = {
		batch_of(&group_schema, row, 1),
		batch_of(&group_schema, row, 1),
		batch_of(&group_schema, NULL, 0),
	};

	batches[0].late_ns = 12345678;
	batches[0].is_partial = batches[2].is_partial = true;
	batches[1].n_merged = 1234;
	batches[2].late_ns = 1;
	batches[2].n_merged = 2;
	batches[2].account.lost[LOSS_RING_FULL] = 7;
	check_all("late", (struct out_options){ 0 }, batches, 3);
}

/* Threads were left out, then more of them; max_cpu ended the run. */
static void test_sampled(void **unused)
{
	struct value row[] = { INT(3), TEXT("cat"), INT(10), REAL(1.5) };
	struct batch batches[] = {
		batch_of(&group_schema, row, 1),
		batch_of(&group_schema, row, 1),
		batch_of(&group_schema, row, 1),
	};

	batches[0].sampled = (struct batch_sampled){ 1, 1 };
	batches[1].sampled = (struct batch_sampled){ 4, 1 };
	batches[1].account.lost[LOSS_OVER_BUDGET] = 12345;
	batches[2].sampled = (struct batch_sampled){ 4, 4 };
	batches[2].is_over_budget = batches[2].is_last = true;
	check_all("sampled", (struct out_options){ 0 }, batches, 3);
}

/* Of a query that writes beside others, to what had no room for some of its windows. */
static void test_watched(void **unused)
{
	struct value row[] = { INT(3), TEXT("cat"), INT(10), REAL(1.5) };
	struct batch batches[] = { batch_of(&group_schema, row, 1),
				   batch_of(&group_schema, row, 1) };

	batches[1].n_unwritten = 12345;
	batches[1].is_last = true;
	check_all("watched", (struct out_options){ .query = "cats \"and\" dogs" }, batches, 2);
	check_texts("watched-stream", (struct out_options){ .query = "cats", .is_streaming = true },
		    batches, 2);
}

/* Totals so far, then the last; and an (other) row that has no key to carry the mark. */
static void test_snapshots(void **unused)
{
	struct column columns[] = { COLUMN("n", type_u64) };
	struct schema schema = SCHEMA(columns);
	struct value first[] = { INT(1) }, second[] = { INT(1), INT(5) };
	struct batch batches[] = { batch_of(&schema, first, 1), batch_of(&schema, second, 2) };

	batches[0].is_windowed = batches[1].is_windowed = false;
	batches[1].window_end_ns += 500000000ull;
	batches[1].is_last = true;
	batches[1].other_row = 1;
	batches[1].account.lost[LOSS_TABLE_FULL] = 5;
	check_all("snapshots", (struct out_options){ 0 }, batches, 2);
	check_columns("snapshot-columns", batches, 2);
	/* The query selects one of the bounds: it has no second one. */
	columns[0].name = "window_end";
	columns[0].bound = BOUND_END;
	check_columns("own-bound", batches, 2);
	columns[0].bound = BOUND_NONE;
	columns[0].name = "n";
	/* One result at the end: the same columns, as nobody can know before how many come. */
	check_all("total", (struct out_options){ 0 }, batches + 1, 1);
}

/*
 * UNNEST: several (other) rows, each of which is marked, also where a cell without an
 * edge stands in the first or the last of them.
 */
static void test_unnest(void **unused)
{
	struct column columns[] = { COLUMN("lo", type_s64), COLUMN("hi", type_s64),
				    COLUMN("count", type_u64) };
	struct column keyed[] = { COLUMN("fd", type_s64), columns[0], columns[1], columns[2] };
	struct value rows[][3] = { { INT(20), NUL, INT(7) },
				   { NUL, INT(10), INT(1) },
				   { INT(10), INT(20), INT(2) },
				   { INT(20), NUL, INT(3) } };
	struct value keyed_rows[][4] = { { INT(4), INT(20), NUL, INT(7) },
					 { NUL, NUL, INT(10), INT(1) },
					 { NUL, INT(10), INT(20), INT(2) },
					 { NUL, INT(20), NUL, INT(3) } };
	struct schema schema = SCHEMA(columns), keyed_schema = SCHEMA(keyed);
	struct batch batch = batch_of(&schema, &rows[0][0], ARRAY_SIZE(rows));
	struct batch keyed_batch =
		batch_of(&keyed_schema, &keyed_rows[0][0], ARRAY_SIZE(keyed_rows));

	batch.other_row = keyed_batch.other_row = 1;
	check_all("unnest", (struct out_options){ 0 }, &batch, 1);
	check_all("unnest-keyed", (struct out_options){ 0 }, &keyed_batch, 1);
}

/* quantile_lo() and quantile_hi() where losses leave no bound; a REAL that is infinite. */
static void test_no_bound(void **unused)
{
	struct column columns[] = { COLUMN("quantile_lo", { .kind = TYPE_DURATION }),
				    COLUMN("quantile_hi", { .kind = TYPE_DURATION }),
				    COLUMN("hi", type_u64), COLUMN("x", { .kind = TYPE_REAL }) };
	struct value rows[][4] = {
		{ INT(1000), INT(2000), INT(9), REAL(0.5) },
		{ REAL(-INFINITY), REAL(INFINITY), REAL(INFINITY), REAL(INFINITY) },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &rows[0][0], ARRAY_SIZE(rows));

	check_all("no-bound", (struct out_options){ 0 }, &batch, 1);
}

static struct column stream_columns[] = {
	COLUMN("time", { .kind = TYPE_TIMESTAMP, .clock = CLOCK_MONO }),
	COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
	COLUMN("latency", { .kind = TYPE_DURATION }),
	COLUMN("count", { .kind = TYPE_INT, .bits = 64 }),
};
static const struct schema stream_schema = SCHEMA(stream_columns);

static void test_streaming(void **unused)
{
	struct value first[] = { INT(1000), TEXT("cat"), INT(999), INT(5) };
	struct value second[] = { INT(2000), TEXT("longer than the column is"),
				  INT(1000), INT(123456789012ll),
				  INT(3000), TEXT("x"),
				  NUL,	     INT(0) };
	struct batch batches[] = {
		batch_of(&stream_schema, first, 1),
		batch_of(&stream_schema, second, 2),
		batch_of(&stream_schema, NULL, 0),
	};
	struct out_options options = { .is_streaming = true, .monotonic_to_realtime_ns = T0 };

	for (u32 i = 0; i < 3; i++) {
		batches[i].is_windowed = false;
		batches[i].account.events = 100 * (i + 1);
		batches[i].account.matched = i + 1;
		batches[i].account.lost[LOSS_RING_FULL] = i;
	}
	/* A run that broke off after two batches still says what it lost. */
	check_texts("broken-off", options, batches, 2);
	batches[2].is_last = true;
	check_texts("streaming", options, batches, 3);
	/* No event at all: a header (table, csv) and the summing up. */
	batches[2].account.lost[LOSS_RING_FULL] = 0;
	check_texts("no-event", options, batches + 2, 1);
}

static void test_terminal(void **unused)
{
	struct column columns[] = {
		COLUMN("a_rather_long_name", { .kind = TYPE_TEXT, .bytes = 64 }),
		COLUMN("n", type_u64),
		COLUMN("path", { .kind = TYPE_TEXT, .bytes = 64 }),
	};
	struct value values[][3] = {
		{ TEXT("0123456789"), INT(1), TEXT("/usr/share/doc/something/readme.txt") },
		{ TEXT("日本語日本語日本語日本語"), INT(22), TEXT("/short") },
		{ TEXT("\x1b]0;title\x07"), INT(22), TEXT("exactly fifteen") },
	};
	struct schema schema = SCHEMA(columns);
	struct batch batch = batch_of(&schema, &values[0][0], ARRAY_SIZE(values));
	struct out_options options = { .is_terminal = true, .width = 40 };

	check_texts("terminal", options, &batch, 1);
	/* A terminal that knows no escape sequences gets none. */
	setenv("TERM", "dumb", 1);
	check_texts("terminal-dumb", options, &batch, 1);
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	check_texts("terminal-dumb", options, &batch, 1);
	unsetenv("NO_COLOR");
	/* A pipe of the same width cuts nothing. */
	options.is_terminal = false;
	check_texts("pipe", options, &batch, 1);
}

/* --- Parts --- */

/* Where no row "(other)" is shown the words must hold for all that a full table means. */
static void test_table_full(void **unused)
{
	struct batch batch = { .other_row = -1 };
	struct buf buf;

	batch.account.lost[LOSS_TABLE_FULL] = 3;
	buf_init(&buf);
	out_put_loss(&buf, &batch);
	assert_non_null(strstr(buf.at, "table_full 3"));
	assert_non_null(strstr(buf.at, "without room for their running sum"));
	batch.other_row = 0;
	buf_reset(&buf);
	out_put_loss(&buf, &batch);
	assert_string_equal(buf.at,
			    "lost: table_full 3 (events summed in \"(other)\"; raise max_groups)");
	buf_free(&buf);
}

static void check_duration(s128 ns, const char *wanted)
{
	struct buf buf;

	buf_init(&buf);
	out_put_duration(&buf, ns);
	assert_string_equal(buf.at, wanted);
	buf_free(&buf);
}

static void test_duration(void **unused)
{
	const s128 s = 1000000000;

	check_duration(0, "0ns");
	check_duration(1, "1ns");
	check_duration(999, "999ns");
	check_duration(1000, "1us");
	check_duration(1001, "1us");
	check_duration(1005, "1.01us");
	check_duration(1090, "1.09us");
	check_duration(1100, "1.1us");
	check_duration(9994, "9.99us");
	check_duration(9995, "10us");
	check_duration(12340, "12.3us");
	check_duration(99950, "100us");
	check_duration(90000, "90us");
	check_duration(999499, "999us");
	check_duration(999500, "1ms");
	check_duration(1530000, "1.53ms");
	check_duration(-1530000, "-1.53ms");
	check_duration(999999999, "1s");
	check_duration(2 * s, "2s");
	check_duration(90 * s, "90s");
	check_duration(599 * s, "599s");
	check_duration(600 * s - 1, "10m");
	check_duration(600 * s, "10m");
	check_duration(3600 * s, "60m");
	check_duration(36000 * s, "10h");
	check_duration(864000 * s, "10d");
	check_duration(UINT64_MAX, "213504d");
	check_duration(S128_MIN, "-1969226660422097589487122d");
}

static void test_time_of_day(void **unused)
{
	struct buf buf;

	buf_init(&buf);
	out_put_time_of_day(&buf, T0 + 512345678);
	assert_string_equal(buf.at, "22:13:20.512345");
	buf_reset(&buf);
	out_put_time_of_day(&buf, 0);
	assert_string_equal(buf.at, "00:00:00.000000");
	buf_free(&buf);
}

/* Reals in JSON and CSV read back as the same bits. */
static void test_real_round_trip(void **unused)
{
	struct column columns[] = { COLUMN("x", { .kind = TYPE_REAL }) };
	struct schema schema = SCHEMA(columns);
	static struct value values[2000];
	struct batch batch = batch_of(&schema, values, ARRAY_SIZE(values));
	u64 random = 88172645463325252ull;
	size_t n;
	char *text, *at;

	for (u32 i = 0; i < ARRAY_SIZE(values); i++) {
		double x;

		do {
			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			memcpy(&x, &random, sizeof(x));
			if (i % 2)
				x = (double)(random >> 40) / (double)(1 + i);
		} while (!isfinite(x));
		values[i] = (struct value)REAL(x);
	}
	text = format_batches("json", (struct out_options){ 0 }, &batch, 1, &n);
	at = text;
	for (u32 i = 0; i < ARRAY_SIZE(values); i++) {
		double x;

		assert_memory_equal(at, "{\"x\":", 5);
		x = strtod(at + 5, &at);
		assert_memory_equal(&x, &values[i].real, sizeof(x));
		assert_memory_equal(at, "}\n", 2);
		at += 2;
	}
	free(text);
}

/* A large window is written in pieces, from a buffer that stays small. */
static void test_large_window(void **unused)
{
	enum { N_ROWS = 131072 };
	struct value *values = calloc(N_ROWS * 4, sizeof(*values));
	struct batch batch = batch_of(&group_schema, values, N_ROWS);
	const struct out_options options = { 0 };
	int fd = temporary_file();
	struct out_file out;
	size_t n, capacity;
	char *text, *at;

	for (u32 i = 0; i < N_ROWS; i++) {
		values[i * 4] = (struct value)INT(i);
		values[i * 4 + 1] = (struct value)TEXT("worker");
		values[i * 4 + 2] = (struct value)INT((s128)i * i);
		values[i * 4 + 3] = (struct value)REAL(i);
	}
	out_file_open(&out, out_format_find("json"), fd, &options, &group_schema);
	assert_int_equal(out_file_batch(&out, &batch), 0);
	capacity = out.out.buf.capacity;
	assert_true(capacity <= 256 << 10);
	assert_int_equal(out_file_batch(&out, &batch), 0);
	assert_int_equal(out.out.buf.capacity, capacity);
	assert_int_equal(out_file_close(&out, 0), 0);
	text = at = read_all(fd, &n);
	for (u32 i = 0; i < 2 * (N_ROWS + 1); i++) {
		char wanted[128];
		u64 row = i % (N_ROWS + 1);

		if (row < N_ROWS) {
			int length = snprintf(
				wanted, sizeof(wanted),
				"{\"fd\":%lu,\"comm\":\"worker\",\"n\":%lu,\"avg\":%lu.0}\n", row,
				row * row, row);

			assert_memory_equal(at, wanted, (size_t)length);
		}
		at = strchr(at, '\n') + 1;
	}
	assert_ptr_equal(at, text + n);
	free(text);
	free(values);
}

/* Rows that wait for others are the same rows; many are written before the end. */
static void test_gathered(void **unused)
{
	enum { N_ROWS = 5000, N_BATCH = 7 };
	struct out_options options = { .is_streaming = true };
	char *texts[2];
	size_t n[2];

	for (u32 way = 0; way < 2; way++) {
		int fd = temporary_file();
		struct out_file out;

		options.is_gathered = way;
		out_file_open(&out, out_recorder(FILE_JSONL), fd, &options, &stream_schema);
		for (u32 i = 0; i < N_ROWS; i += N_BATCH) {
			struct value values[N_BATCH][4];
			struct batch batch =
				batch_of(&stream_schema, &values[0][0], MIN(N_BATCH, N_ROWS - i));
			char names[N_BATCH][16];

			for (u32 j = 0; j < batch.n_rows; j++) {
				snprintf(names[j], sizeof(names[j]), "name %u", i + j);
				memcpy(values[j],
				       (struct value[]){ INT(i + j),
							 { .kind = VALUE_TEXT,
							   .n = (u32)strlen(names[j]),
							   .text = names[j] },
							 NUL,
							 INT(j) },
				       sizeof(values[j]));
			}
			assert_int_equal(out_file_batch(&out, &batch), 0);
			memset(names, 'x', sizeof(names)); /* it kept what it wants */
		}
		assert_true(lseek(fd, 0, SEEK_END) > 4096 * 20);
		assert_int_equal(out_file_close(&out, 0), 0);
		texts[way] = read_all(fd, &n[way]);
	}
	assert_int_equal(n[0], n[1]);
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

static void test_broken_pipe(void **unused)
{
	struct value values[] = { INT(3), TEXT("cat"), INT(10), REAL(1.5) };
	struct batch batch = batch_of(&group_schema, values, 1);

	for (u32 i = 0; i < out_n_formats; i++) {
		const struct out_options options = { 0 };
		/* All at the end. */
		int err = out_formats[i]->needs_calls ? 0 : -EPIPE;
		struct out_file out;
		int fds[2];

		if (out_formats[i]->needs_histogram || out_formats[i]->needs_rows)
			continue;
		assert_int_equal(pipe(fds), 0);
		close(fds[0]);
		out_file_open(&out, out_formats[i], fds[1], &options, &group_schema);
		assert_int_equal(out_file_batch(&out, &batch), err);
		assert_int_equal(out_file_batch(&out, &batch), err);
		assert_int_equal(out_file_close(&out, 0), -EPIPE);
		close(fds[1]);
	}
}

static void test_find(void **unused)
{
	assert_string_equal(out_format_find("table")->name, "table");
	assert_ptr_equal(out_format_find("table"), out_formats[0]);
	assert_null(out_format_find("xml"));
	assert_null(out_format_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_full),   cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_limits),	     cmocka_unit_test(test_beyond),
		cmocka_unit_test(test_clocks),	     cmocka_unit_test(test_text),
		cmocka_unit_test(test_names),

		cmocka_unit_test(test_windows),	     cmocka_unit_test(test_late),
		cmocka_unit_test(test_sampled),	     cmocka_unit_test(test_watched),
		cmocka_unit_test(test_snapshots),    cmocka_unit_test(test_streaming),
		cmocka_unit_test(test_unnest),	     cmocka_unit_test(test_no_bound),
		cmocka_unit_test(test_terminal),     cmocka_unit_test(test_duration),
		cmocka_unit_test(test_time_of_day),  cmocka_unit_test(test_real_round_trip),
		cmocka_unit_test(test_large_window), cmocka_unit_test(test_gathered),
		cmocka_unit_test(test_broken_pipe),  cmocka_unit_test(test_find),
	};

	signal(SIGPIPE, SIG_IGN);
	setenv("TZ", "UTC0", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
