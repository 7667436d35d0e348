/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The heat map: its ASCII form against golden files, and its live form against a
 * small terminal that obeys what is sent to it.
 */
#include "golden.h"

#include <sys/ioctl.h>

static const struct type histogram_ns = { .kind = TYPE_HISTOGRAM, .of = TYPE_DURATION };
static const struct type histogram_int = { .kind = TYPE_HISTOGRAM, .of = TYPE_INT };
static const struct scheme log2_scheme = { .kind = SCHEME_LOG2 };

#define CELLS_A_WINDOW 4

/* Windows of one row (or of two groups), whose histograms the test fills. */
struct windows {
	struct column columns[2];
	struct schema schema;
	u32 n;
	struct batch *batches;
	struct value *values;
	struct histogram *histograms;
	struct histogram_cell *cells;
};

static void windows_init(struct windows *w, const struct scheme *scheme, struct type type, u32 n)
{
	w->columns[0] = (struct column)COLUMN("pid", type_u64);
	w->columns[1] = (struct column)UNNAMED("histogram(latency)", type);
	w->schema = (struct schema)SCHEMA(w->columns);
	w->n = n;
	w->batches = calloc(n, sizeof(*w->batches));
	w->values = calloc(n * 2, sizeof(*w->values));
	w->histograms = calloc(n, sizeof(*w->histograms));
	w->cells = calloc(n * CELLS_A_WINDOW, sizeof(*w->cells));
	for (u32 i = 0; i < n; i++) {
		w->batches[i] = batch_of(&w->schema, &w->values[i * 2], 1);
		w->batches[i].window_start_ns += i * 1000000000ull;
		w->batches[i].window_end_ns += i * 1000000000ull;
		w->histograms[i].scheme = scheme;
		w->histograms[i].cells = &w->cells[i * CELLS_A_WINDOW];
		w->values[i * 2] = (struct value)INT(i);
		w->values[i * 2 + 1] =
			(struct value){ .kind = VALUE_HISTOGRAM, .histogram = &w->histograms[i] };
	}
}

static void windows_free(struct windows *w)
{
	free(w->batches);
	free(w->values);
	free(w->histograms);
	free(w->cells);
}

/* Values of a window in ascending order. */
static void put(struct windows *w, u32 window, s128 value, u64 times)
{
	struct histogram *histogram = &w->histograms[window];
	struct histogram_cell *cell = &w->cells[window * CELLS_A_WINDOW + histogram->n_cells++];

	assert_true(histogram->n_cells <= CELLS_A_WINDOW);
	*cell = (struct histogram_cell){ scheme_cell(histogram->scheme, value), times };
	histogram->count += times;
}

/* Waves that wander from 2us to 1ms, with every 7th window empty. */
static void put_waves(struct windows *w)
{
	for (u32 i = 0; i < w->n; i++) {
		u64 low = 2000ull << (i % 9);

		if (i % 7 == 6)
			continue;
		put(w, i, low, 1 + i);
		put(w, i, low * 2, 100 * (i + 1));
		put(w, i, low * 4, 10000);
	}
}

static void check_map(const char *name, struct out_options options, struct windows *w, u32 n)
{
	size_t n_bytes;
	char *text = format_batches("heatmap", options, w->batches, n, &n_bytes);

	check_golden(name, text, n_bytes);
	free(text);
}

static void test_ascii(void **unused)
{
	struct out_options wide = { .is_ascii = true, .is_terminal = true, .width = 200 };
	struct out_options narrow = {
		.is_ascii = true, .is_terminal = true, .width = 30, .height = 10
	};
	struct windows w;

	windows_init(&w, &log2_scheme, histogram_ns, 50);
	put_waves(&w);
	w.batches[3].account.lost[LOSS_UNPAIRED] = 2;
	w.batches[4].account.lost[LOSS_UNPAIRED] = 3;
	w.batches[4].account.unpaired[UNPAIRED_EXPIRED] = 3;
	w.histograms[5].n_unplaced = 4;
	check_map("map-file.heatmap", (struct out_options){ 0 }, &w, w.n);
	check_map("map-200.heatmap", wide, &w, w.n);
	check_map("map-30.heatmap", narrow, &w, w.n);
	check_map("map-one.heatmap", (struct out_options){ 0 }, &w, 1);
	windows_free(&w);
}

/* No window with an event; and values below and above all bounds. */
static void test_edges(void **unused)
{
	static const struct scheme linear = {
		.kind = SCHEME_LINEAR, .low = -20, .high = 20, .step = 10
	};
	struct windows w;

	windows_init(&w, &log2_scheme, histogram_ns, 3);
	w.values[1].kind = VALUE_NULL;
	w.batches[2].n_rows = 0;
	check_map("map-empty.heatmap", (struct out_options){ 0 }, &w, 3);
	windows_free(&w);
	windows_init(&w, &linear, histogram_int, 4);
	put(&w, 0, -1000, 1);
	put(&w, 1, -5, 1);
	put(&w, 2, 5, UINT64_MAX / 4);
	put(&w, 3, 1000, 3);
	check_map("map-linear.heatmap", (struct out_options){ 0 }, &w, 4);
	windows_free(&w);
}

/* Running totals: a column holds what came since the one before. */
static void test_snapshots(void **unused)
{
	struct windows w, totals;
	char *of_windows, *of_totals;
	size_t n;

	windows_init(&w, &log2_scheme, histogram_ns, 3);
	windows_init(&totals, &log2_scheme, histogram_ns, 3);
	for (u32 i = 0; i < 3; i++) {
		put(&w, i, 1000, 5 * (i + 1));
		put(&totals, i, 1000, 5 * (i + 1) * (i + 2) / 2);
		totals.batches[i].is_windowed = false;
		totals.batches[i].window_start_ns = T0;
		totals.batches[i].account.events = (i + 1) * 12345;
		totals.batches[i].account.matched = (i + 1) * 12000;
	}
	of_windows = format_batches("heatmap", (struct out_options){ 0 }, w.batches, 3, &n);
	of_totals = format_batches("heatmap", (struct out_options){ 0 }, totals.batches, 3, &n);
	assert_string_equal(of_windows, of_totals);
	assert_non_null(strstr(of_windows, "count 30\n"));
	free(of_windows);
	free(of_totals);
	windows_free(&w);
	windows_free(&totals);
}

/* Groups of a window are one column. */
static void test_groups(void **unused)
{
	struct windows apart, together;
	char *of_apart, *of_together;
	size_t n;

	windows_init(&apart, &log2_scheme, histogram_ns, 2);
	windows_init(&together, &log2_scheme, histogram_ns, 1);
	put(&apart, 0, 1000, 4);
	put(&apart, 1, 1000, 3);
	put(&apart, 1, 9000, 2);
	apart.batches[0].n_rows = 2; /* the second row is the second window's */
	apart.batches[0].other_row = 1;
	put(&together, 0, 1000, 7);
	put(&together, 0, 9000, 2);
	of_apart = format_batches("heatmap", (struct out_options){ 0 }, apart.batches, 1, &n);
	of_together = format_batches("heatmap", (struct out_options){ 0 }, together.batches, 1, &n);
	assert_string_equal(of_apart, of_together);
	free(of_apart);
	free(of_together);
	windows_free(&apart);
	windows_free(&together);
}

static u64 shown_count(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	u64 count = 0;

	assert_non_null(at);
	for (at += strlen(name); *at == ',' || (*at >= '0' && *at <= '9'); at++)
		count = *at == ',' ? count : count * 10 + (u64)(*at - '0');
	return count;
}

/*
 * More windows than a file has columns: neighbours are summed, the whole run stays in the
 * picture and nothing is counted twice.
 */
static void check_merged(u32 n_windows, u32 n_columns, u32 a_column)
{
	char legend[64];
	struct windows w;
	size_t n;
	char *text, *row;

	windows_init(&w, &log2_scheme, histogram_ns, n_windows);
	for (u32 i = 0; i < n_windows; i++)
		put(&w, i, 1000, 1 + (i == 0) * 7);
	text = format_batches("heatmap", (struct out_options){ 0 }, w.batches, n_windows, &n);
	assert_int_equal(shown_count(text, "  windows "), n_windows);
	assert_int_equal(shown_count(text, "  count "), n_windows + 7);
	assert_null(strstr(text, "shown"));
	snprintf(legend, sizeof(legend), "%u windows a column", a_column);
	assert_true(!strstr(text, legend) == (a_column == 1));
	assert_true(!strstr(text, "a column") == (a_column == 1));
	/* The first column holds a_column windows, of which one has 7 more: the largest. */
	assert_int_equal(shown_count(text, "'@' "), a_column + 7);
	row = strchr(text, '|') + 1;
	assert_int_equal(strchr(row, '\n') - row, n_columns);
	assert_int_equal(row[0], '@');
	for (u32 i = 1; i < n_columns; i++)
		assert_true(row[i] != ' ' && row[i] != '@');
	free(text);
	windows_free(&w);
}

static void test_many(void **unused)
{
	check_merged(199, 199, 1);
	check_merged(200, 200, 1);
	check_merged(201, 101, 2);
	check_merged(400, 200, 2);
	check_merged(401, 101, 4);
	check_merged(3000, 188, 16);
}

/* Running totals and empty windows are merged as others are. */
static void test_many_snapshots(void **unused)
{
	struct windows w, totals;
	char *of_windows, *of_totals;
	u64 so_far = 0;
	size_t n;

	windows_init(&w, &log2_scheme, histogram_ns, 777);
	windows_init(&totals, &log2_scheme, histogram_ns, 777);
	for (u32 i = 0; i < w.n; i++) {
		u64 times = i % 3 == 0 ? i % 11 : 0;

		so_far += times;
		if (times > 0)
			put(&w, i, 1000, times);
		else
			w.values[2 * i + 1].kind = VALUE_NULL;
		if (so_far > 0)
			put(&totals, i, 1000, so_far);
		totals.batches[i].is_windowed = false;
		totals.batches[i].window_start_ns = T0;
		totals.batches[i].account.events = (i + 1) * 12345;
		totals.batches[i].account.matched = (i + 1) * 12000;
	}
	of_windows = format_batches("heatmap", (struct out_options){ 0 }, w.batches, w.n, &n);
	of_totals = format_batches("heatmap", (struct out_options){ 0 }, totals.batches, w.n, &n);
	assert_string_equal(of_windows, of_totals);
	assert_int_equal(shown_count(of_windows, "  count "), so_far);
	free(of_windows);
	free(of_totals);
	windows_free(&w);
	windows_free(&totals);
}

static u32 n_rows_of(const char *text)
{
	u32 n = 0;

	for (const char *at = text; (at = strstr(at, " |")); at++)
		n++;
	return n;
}

/* --bins: so many rows at most. */
static void test_rows(void **unused)
{
	static const u32 bins[] = { 1, 2, 5, 9, 11, 100 };
	struct windows w;
	size_t n;
	char *text;

	windows_init(&w, &log2_scheme, histogram_ns, 50);
	put_waves(&w);
	for (u32 i = 0; i < ARRAY_SIZE(bins); i++) {
		struct out_options options = { .bins = bins[i] };

		text = format_batches("heatmap", options, w.batches, w.n, &n);
		assert_in_range(n_rows_of(text), 1, bins[i]);
		assert_true(!strstr(text, " cells a row") == (bins[i] >= 11));
		if (bins[i] >= 11)
			assert_int_equal(n_rows_of(text), 11);
		free(text);
	}
	check_map("map-bins.heatmap", (struct out_options){ .bins = 5 }, &w, w.n);
	windows_free(&w);
}

/* Too small a terminal is told so, and gets its totals. */
static void test_tiny(void **unused)
{
	static const struct {
		u32 width, height;
		bool is_ascii, is_drawn;
	} cases[] = {
		{ 29, 24, false, false }, { 29, 24, true, false }, { 80, 3, false, false },
		{ 1, 1, false, false },	  { 30, 4, false, true },  { 30, 24, true, true },
		{ 0, 0, false, true },
	};
	struct windows w;

	windows_init(&w, &log2_scheme, histogram_ns, 2);
	put_waves(&w);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out_options options = { .is_terminal = true,
					       .width = cases[i].width,
					       .height = cases[i].height,
					       .is_ascii = cases[i].is_ascii };
		size_t n;
		char *text = format_batches("heatmap", options, w.batches, 2, &n);

		assert_true(!!strchr(text, '|') == cases[i].is_drawn);
		if (cases[i].width != 1)
			assert_true(!strstr(text, "terminal too small") == cases[i].is_drawn);
		assert_int_equal(shown_count(text, "windows "), 2);
		free(text);
	}
	windows_free(&w);
}

/* A terminal without escape sequences gets what --ascii gives. */
static void test_dumb(void **unused)
{
	struct out_options options = { .is_terminal = true, .width = 80, .height = 24 };
	struct windows w;
	char *ascii, *dumb, *no_color, *live;
	size_t n;

	windows_init(&w, &log2_scheme, histogram_ns, 20);
	put_waves(&w);
	options.is_ascii = true;
	ascii = format_batches("heatmap", options, w.batches, w.n, &n);
	options.is_ascii = false;
	setenv("TERM", "dumb", 1);
	dumb = format_batches("heatmap", options, w.batches, w.n, &n);
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	no_color = format_batches("heatmap", options, w.batches, w.n, &n);
	setenv("NO_COLOR", "", 1); /* as if it were not set */
	live = format_batches("heatmap", options, w.batches, w.n, &n);
	unsetenv("NO_COLOR");
	assert_string_equal(ascii, dumb);
	assert_string_equal(ascii, no_color);
	assert_null(strchr(ascii, '\x1b'));
	assert_non_null(strchr(live, '\x1b'));
	free(ascii);
	free(dumb);
	free(no_color);
	free(live);
	windows_free(&w);
}

/* --- A terminal --- */

#define SCREEN_LINES   24
#define SCREEN_COLUMNS 80

struct screen {
	char at[SCREEN_LINES][SCREEN_COLUMNS + 1];
	u8 colour[SCREEN_LINES][SCREEN_COLUMNS + 1];
	u32 line, column;
	u32 background;
	u32 n_scrolled;
};

static void screen_control(struct screen *s, char what, u32 n, const char *parameters)
{
	switch (what) {
	case 'A':
		assert_true(n <= s->line);
		s->line -= n;
		break;
	case 'K':
		memset(&s->at[s->line][s->column], ' ', SCREEN_COLUMNS - s->column);
		memset(&s->colour[s->line][s->column], 0, SCREEN_COLUMNS - s->column);
		break;
	case 'J':
		for (u32 i = s->line; i < SCREEN_LINES; i++) {
			memset(s->at[i], ' ', SCREEN_COLUMNS);
			memset(s->colour[i], 0, SCREEN_COLUMNS);
		}
		break;
	case 'm':
		s->background = 0;
		if (strncmp(parameters, "48;5;", 5) == 0)
			s->background = (u32)atoi(parameters + 5);
		break;
	default:
		fail_msg("the terminal does not know %c", what);
	}
}

static void screen_put(struct screen *s, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\x1b') {
			size_t start = i += 2;

			while (!(text[i] >= '@' && text[i] <= '~'))
				i++;
			screen_control(s, text[i], (u32)atoi(text + start), text + start);
		} else if (text[i] == '\n') {
			s->column = 0;
			if (++s->line < SCREEN_LINES)
				continue;
			memmove(s->at[0], s->at[1], sizeof(s->at) - sizeof(s->at[0]));
			memset(s->at[--s->line], ' ', SCREEN_COLUMNS);
			s->n_scrolled++;
		} else if (text[i] == '\r') {
			s->column = 0;
		} else if (((u8)text[i] & 0xc0) != 0x80) {
			/* Nothing may wrap or stand in the last column, or the way back up would be
			 * wrong. */
			assert_true(s->column < SCREEN_COLUMNS - 1);
			s->colour[s->line][s->column] = (u8)s->background;
			s->at[s->line][s->column++] = (u8)text[i] < 0x80 ? text[i] : '~';
		}
	}
}

/* The screen as text: '#' where the map has a colour. */
static char *screen_text(const struct screen *s)
{
	char *text = malloc(SCREEN_LINES * (SCREEN_COLUMNS + 2)), *at = text;

	for (u32 line = 0; line < SCREEN_LINES; line++) {
		char *start = at;

		for (u32 i = 0; i < SCREEN_COLUMNS; i++) {
			bool is_map = s->at[line][i] == ' ' && s->colour[line][i];

			*at++ = is_map ? '#' : s->at[line][i];
		}
		while (at > start && at[-1] == ' ')
			at--;
		*at++ = '\n';
	}
	*at = '\0';
	return text;
}

static void test_live(void **unused)
{
	struct out_options options = { .is_terminal = true,
				       .width = SCREEN_COLUMNS,
				       .height = SCREEN_LINES };
	static struct screen screen;
	struct windows w;
	struct out_file out;
	int fd = temporary_file();
	off_t done = 0;
	size_t n_bytes;
	char *text;

	memset(screen.at, ' ', sizeof(screen.at));
	windows_init(&w, &log2_scheme, histogram_ns, 100);
	put_waves(&w);
	w.batches[2].late_ns = 1500000;
	w.batches[98].n_merged = 2;
	w.batches[99].account.lost[LOSS_TABLE_FULL] = 12;
	w.batches[99].account.lost[LOSS_MISSED] = 12;
	out_file_open(&out, out_format_find("heatmap"), fd, &options, &w.schema);
	for (u32 i = 0; i < w.n; i++) {
		char drawn[65536];
		ssize_t n;
		u32 base = screen.line;

		assert_int_equal(out_file_batch(&out, &w.batches[i]), 0);
		n = pread(fd, drawn, sizeof(drawn), done);
		assert_in_range(n, 1, sizeof(drawn) - 1);
		done += n;
		screen_put(&screen, drawn, (size_t)n);
		assert_true(screen.line >= base);
		assert_int_equal(screen.column, 0);
		if (i == 2 || i == w.n - 1) {
			char name[64];

			text = screen_text(&screen);
			snprintf(name, sizeof(name), "live-%u.heatmap", i + 1);
			check_golden(name, text, strlen(text));
			free(text);
		}
	}
	/* It was all drawn over itself; at the end the run's totals come below. */
	assert_int_equal(screen.n_scrolled, 0);
	assert_int_equal(out_file_close(&out, 0), 0);
	text = read_all(fd, &n_bytes);
	check_golden("live-totals.heatmap", text + done, n_bytes - (size_t)done);
	free(text);
	windows_free(&w);
}

/* The bytes themselves, colours included. */
static void test_live_bytes(void **unused)
{
	struct out_options options = { .is_terminal = true, .width = 60, .height = 12 };
	struct out_options small = { .is_terminal = true, .width = 30, .height = 4 };
	struct windows w;

	windows_init(&w, &log2_scheme, histogram_ns, 2);
	put_waves(&w);
	check_map("live-bytes.heatmap", options, &w, 2);
	check_map("live-small.heatmap", small, &w, 2);
	windows_free(&w);
}

/* The size is the terminal's own, read at each window; another size wipes the screen. */
static void test_resize(void **unused)
{
	struct out_options options = { .is_terminal = true, .width = 7, .height = 9 };
	struct winsize size = { .ws_col = 100, .ws_row = 30 };
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	char text[65536];
	struct windows w;
	struct out_file out;
	int fd;
	size_t n_read;
	ssize_t n;

	if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0) {
		puts("SKIP: no pseudoterminal");
		skip();
	}
	fd = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(fd >= 0);
	windows_init(&w, &log2_scheme, histogram_ns, 200);
	put_waves(&w);
	out_file_open(&out, out_format_find("heatmap"), fd, &options, &w.schema);
	for (u32 i = 0; i < w.n; i++) {
		const char *axis;

		size.ws_col = i == w.n - 1 ? 50 : 100;
		assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
		assert_int_equal(out_file_batch(&out, &w.batches[i]), 0);
		for (n_read = 0; n_read < sizeof(text) - 1; n_read += (size_t)n) {
			n = read(terminal, text + n_read, sizeof(text) - 1 - n_read);
			if (n <= 0)
				break;
		}
		assert_true(n_read > 0);
		text[n_read] = '\0';
		assert_true(!strstr(text, "\x1b[2J") == (i != w.n - 1));
		if (i < w.n - 2)
			continue;
		/* Label of 7, a space, "+", and one column that stays free. */
		axis = strstr(text, "+-");
		assert_non_null(axis);
		assert_int_equal(strspn(axis + 1, "-"), size.ws_col - 9);
	}
	assert_int_equal(out_file_close(&out, 0), 0);
	close(fd);
	close(terminal);
	windows_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ascii),	   cmocka_unit_test(test_edges),
		cmocka_unit_test(test_snapshots),  cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many),	   cmocka_unit_test(test_live),
		cmocka_unit_test(test_live_bytes), cmocka_unit_test(test_resize),
		cmocka_unit_test(test_rows),	   cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_dumb),	   cmocka_unit_test(test_many_snapshots),
	};

	setenv("TZ", "UTC0", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	return cmocka_run_group_tests_name("heatmap", tests, NULL, NULL);
}
