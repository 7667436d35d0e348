/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> bytes: the table of formats, the four calls behind out.h, and the
 * parts of values that formats write alike.
 */
#include "out/format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/utf8.h"

const struct out_format *const out_formats[] = { &out_table,   &out_expanded, &out_json, &out_csv,
						 &out_heatmap, &out_arrow,    &out_jsonl };
const u32 out_n_formats = ARRAY_SIZE(out_formats);

const struct out_format *out_format_find(const char *name)
{
	for (u32 i = 0; i < out_n_formats; i++) {
		if (strcmp(out_formats[i]->name, name) == 0)
			return out_formats[i];
	}
	return NULL;
}

bool out_has_histogram(const struct schema *schema)
{
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (schema->columns[i].type.kind == TYPE_HISTOGRAM)
			return true;
	}
	return false;
}

/* POSIX: the first of the three that is set and not empty counts. */
static bool locale_is_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (u32 i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *locale = getenv(variables[i]);

		if (locale && *locale)
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}

/* The convention of NO_COLOR: set and not empty. */
static bool obeys_escapes(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return !(term && strcmp(term, "dumb") == 0) && !(no_color && *no_color);
}

/* One cheap system call a batch is less trouble than a handler of SIGWINCH. */
static void read_terminal_size(struct out *out)
{
	struct winsize size;

	if (!out->options.is_terminal || ioctl(out->options.fd, TIOCGWINSZ, &size) < 0)
		return;
	out->options.width = size.ws_col;
	out->options.height = size.ws_row;
}

int out_open(struct out *out, const struct out_format *format, const struct out_options *options,
	     const struct schema *schema)
{
	*out = (struct out){ .format = format, .options = *options };
	buf_init(&out->buf);
	buf_init(&out->scratch);
	out->is_utf8 = !options->is_ascii && locale_is_utf8();
	out->has_escapes = options->is_terminal && obeys_escapes();
	/* Now, not in the middle of the first window: reads the time zone's file. */
	tzset();
	out->error = format->begin(out, schema);
	return out->error;
}

static void out_write(struct out *out)
{
	int err;

	if (out->error)
		buf_reset(&out->buf);
	else if (out->buf.n > 0) {
		err = buf_flush(&out->buf, out->options.fd);
		if (err)
			out->error = err;
	}
}

bool out_row_done(struct out *out)
{
	if (out->buf.n >= OUT_CHUNK_BYTES)
		out_write(out);
	return !out->error;
}

int out_batch(struct out *out, const struct batch *batch)
{
	if (!out->options.is_streaming)
		read_terminal_size(out);
	if (!out->error)
		out->format->batch(out, batch);
	out_write(out);
	return out->error;
}

int out_idle(struct out *out)
{
	if (!out->error && out->format->idle)
		out->format->idle(out);
	out_write(out);
	return out->error;
}

int out_close(struct out *out)
{
	if (out->state)
		out->format->end(out);
	out_write(out);
	buf_free(&out->buf);
	buf_free(&out->scratch);
	return out->error;
}

bool out_run_add(struct out_run *run, const struct batch *batch)
{
	run->n_rows += batch->n_rows;
	run->last = *batch;
	run->last.schema = NULL;
	run->last.values = NULL;
	run->is_closed = batch->is_last;
	return batch->is_last;
}

/* --- Numbers --- */

void out_put_hex(struct buf *buf, u64 value)
{
	char text[18];
	u32 at = sizeof(text);

	do {
		text[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	text[--at] = 'x';
	text[--at] = '0';
	buf_put(buf, text + at, sizeof(text) - at);
}

void out_put_hex_bytes(struct buf *buf, const char *bytes, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		buf_putc(buf, "0123456789abcdef"[(u8)bytes[i] >> 4]);
		buf_putc(buf, "0123456789abcdef"[(u8)bytes[i] & 15]);
	}
}

void out_put_integer(struct buf *buf, s128 value)
{
	if (value >= 0 && value <= (s128)UINT64_MAX)
		buf_put_u64(buf, (u64)value);
	else
		buf_put_s128(buf, value);
}

/* Powers of ten that a long double of 64 mantissa bits holds exactly. */
static const long double powers_of_ten[] = {
	1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,	 1e7L,	1e8L,  1e9L,  1e10L,
	1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
};

/*
 * 0.001 <= value < 1e15 as `digits` significant digits, without an exponent and
 * without trailing zeros.  The last digit may be off by one where the product is
 * rounded, so the caller reads the text back.
 */
static void fixed_digits(double value, int digits, char *ret_text)
{
	int whole = 0, decimals;
	char *at, reversed[24];
	u64 scaled;

	while (whole < 15 && value >= powers_of_ten[whole])
		whole++;
	decimals = digits - whole;
	scaled = (u64)(value * powers_of_ten[decimals] + 0.5L);
	while (decimals > 0 && scaled % 10 == 0)
		scaled /= 10, decimals--;
	at = reversed;
	for (int i = 0; i < decimals; i++, scaled /= 10)
		*at++ = (char)('0' + scaled % 10);
	if (decimals > 0)
		*at++ = '.';
	do {
		*at++ = (char)('0' + scaled % 10);
		scaled /= 10;
	} while (scaled > 0);
	while (at > reversed)
		*ret_text++ = *--at;
	*ret_text = '\0';
}

void out_put_real(struct buf *buf, double value)
{
	bool is_plain = value >= 1e-3 && value < 1e15;
	char text[40];

	/* Most averages of few events; exact, and much cheaper than the trials below. */
	if (fabs(value) < 1e15 && value == (double)(s64)value) {
		if (signbit(value))
			buf_putc(buf, '-');
		buf_put_u64(buf, (u64)fabs(value));
		buf_put(buf, ".0", 2);
		return;
	}
	/* printf rounds rightly but slowly: only where the quick digits do not read back. */
	for (int digits = is_plain ? 15 : 18; digits <= 17; digits++) {
		fixed_digits(value, digits, text);
		if (strtod(text, NULL) == value) {
			buf_puts(buf, text);
			return;
		}
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_puts(buf, text);
}

#define SECOND_NS 1000000000ull

void out_put_time_of_day(struct buf *buf, u64 realtime_ns)
{
	char text[] = "00:00:00.000000";
	time_t seconds = (time_t)(realtime_ns / SECOND_NS);
	u32 micros = (u32)(realtime_ns % SECOND_NS / 1000);
	struct tm tm;

	localtime_r(&seconds, &tm);
	text[0] += tm.tm_hour / 10, text[1] += tm.tm_hour % 10;
	text[3] += tm.tm_min / 10, text[4] += tm.tm_min % 10;
	text[6] += tm.tm_sec / 10, text[7] += tm.tm_sec % 10;
	for (u32 i = 14; i >= 9; i--, micros /= 10)
		text[i] += micros % 10;
	buf_put(buf, text, 15);
}

/* --- Names --- */

bool out_has_column(const struct schema *schema, const char *name)
{
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (strcmp(schema->columns[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool is_reserved(const char *name, const char *const *reserved, u32 n_reserved)
{
	for (u32 i = 0; i < n_reserved; i++) {
		if (strcmp(reserved[i], name) == 0)
			return true;
	}
	return false;
}

void out_put_unique_name(struct buf *buf, const struct schema *schema, u32 column,
			 const char *const *reserved, u32 n_reserved)
{
	const char *name = schema->columns[column].name;
	u32 n_before = is_reserved(name, reserved, n_reserved) ? 1 : 0;
	size_t start = buf->n;

	for (u32 i = 0; i < column; i++) {
		if (strcmp(schema->columns[i].name, name) == 0)
			n_before++;
	}
	buf_puts(buf, name);
	/* The n_before-th suffix that nobody else has. */
	for (u32 suffix = 2; n_before > 0; suffix++) {
		buf->n = start;
		buf_printf(buf, "%s_%u", name, suffix);
		if (!out_has_column(schema, buf->at + start) &&
		    !is_reserved(buf->at + start, reserved, n_reserved))
			n_before--;
	}
}

/* Appends a name with its NUL and notes where it begins. */
static void names_add(struct out_names *names, size_t *starts, u32 i, const struct schema *schema,
		      u32 column, const char *const *reserved, u32 n_reserved)
{
	starts[i] = names->texts.n;
	out_put_unique_name(&names->texts, schema, column, reserved, n_reserved);
	buf_putc(&names->texts, '\0');
}

int out_names_init(struct out_names *names, const struct schema *schema,
		   const char *const *reserved, u32 n_reserved)
{
	u32 n = schema->n_columns, n_all = n * OUT_NAMES_A_COLUMN;
	int err = 0;
	struct schema all = { .n_columns = n };
	size_t *starts = calloc(n_all + 1, sizeof(*starts));
	u32 *at = calloc(n_all + 1, sizeof(*at)); /* names' number of a column of `all` */

	*names = (struct out_names){ .n = n_all, .names = calloc(n_all + 1, sizeof(char *)) };
	all.columns = calloc(n_all + 1, sizeof(*all.columns));
	buf_init(&names->texts);
	if (!starts || !at || !names->names || !all.columns)
		err = -ENOMEM;
	for (u32 i = 0; i < n && !err; i++) {
		all.columns[i] = schema->columns[i];
		at[i] = i * OUT_NAMES_A_COLUMN;
		names_add(names, starts, at[i], schema, i, reserved, n_reserved);
	}
	/* The bounds' names stand behind all others, so it is they that get a suffix. */
	for (u32 i = 0; i < n && !err; i++) {
		for (u32 k = 1; k < OUT_NAMES_A_COLUMN; k++) {
			char *name = NULL;

			if (schema->columns[i].type.kind != TYPE_QUANTILE)
				break;
			if (asprintf(&name, "%s_%s", names->texts.at + starts[at[i]],
				     k == 1 ? "lo" : "hi") < 0) {
				err = -ENOMEM;
				break;
			}
			at[all.n_columns] = at[i] + k;
			all.columns[all.n_columns++].name = name;
		}
	}
	for (u32 i = n; i < all.n_columns && !err; i++)
		names_add(names, starts, at[i], &all, i, reserved, n_reserved);
	for (u32 i = 0; i < all.n_columns && !err; i++)
		names->names[at[i]] = names->texts.at + starts[at[i]];
	for (u32 i = n; i < all.n_columns; i++)
		free((char *)all.columns[i].name);
	free(all.columns);
	free(starts);
	free(at);
	if (err)
		out_names_free(names);
	return err;
}

void out_names_free(struct out_names *names)
{
	buf_free(&names->texts);
	free(names->names);
}

/* --- Text --- */

/* Of a valid sequence of that length. */
static u32 codepoint_decode(const char *text, size_t length)
{
	const u8 *at = (const u8 *)text;
	u32 codepoint = length == 1 ? at[0] : at[0] & (0x7fu >> length);

	for (size_t i = 1; i < length; i++)
		codepoint = codepoint << 6 | (at[i] & 0x3f);
	return codepoint;
}

struct codepoint_range {
	u32 first, last;
};

/* What steers a terminal or reorders the line: C0, DEL, C1, line ends, bidirectional controls. */
static const struct codepoint_range steering[] = {
	{ 0x00, 0x1f },	    { 0x7f, 0x9f },	{ 0x061c, 0x061c }, { 0x200e, 0x200f },
	{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfeff, 0xfeff },
};

/* Shown without advancing (combining marks), and in two columns (East Asian wide, emoji). */
static const struct codepoint_range combining[] = {
	{ 0x0300, 0x036f }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200d },
	{ 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};
static const struct codepoint_range wide[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },	  { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },	  { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

static bool is_in(u32 codepoint, const struct codepoint_range *ranges, u32 n_ranges)
{
	for (u32 i = 0; i < n_ranges && codepoint >= ranges[i].first; i++) {
		if (codepoint <= ranges[i].last)
			return true;
	}
	return false;
}

static u32 codepoint_width(u32 codepoint)
{
	if (codepoint < 0x300)
		return 1;
	if (is_in(codepoint, combining, ARRAY_SIZE(combining)))
		return 0;
	return is_in(codepoint, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

u32 out_put_visible(struct buf *buf, const char *text, size_t n, u32 max_width)
{
	size_t cut_at = buf->n; /* the longest prefix that leaves room for the ellipsis */
	u32 width = 0, cut_width = 0;

	for (size_t i = 0; i < n;) {
		size_t length = utf8_length(text + i, n - i);
		u32 codepoint = codepoint_decode(text + i, length ? length : 1);

		if (length && !is_in(codepoint, steering, ARRAY_SIZE(steering))) {
			buf_put(buf, text + i, length);
			width += codepoint_width(codepoint);
		} else {
			length = MAX(length, 1ul);
			for (size_t j = 0; j < length; j++) {
				buf_put(buf, "\\x", 2);
				out_put_hex_bytes(buf, text + i + j, 1);
			}
			width += 4 * (u32)length;
		}
		i += length;
		if (max_width == 0)
			continue;
		if (width > max_width) {
			buf->n = cut_at;
			buf_puts(buf, "…");
			return cut_width + 1;
		}
		if (width < max_width)
			cut_at = buf->n, cut_width = width;
	}
	return width;
}

/* --- Lines of items --- */

#define FLOW_USUAL_COLUMNS 100
#define FLOW_GAP	   2

void out_flow_init(struct out_flow *flow, const struct out *out)
{
	bool is_known = out->options.is_terminal && out->options.width > 0;

	*flow = (struct out_flow){ .limit = is_known ? out->options.width : FLOW_USUAL_COLUMNS };
}

void out_flow_next(struct out *out, struct out_flow *flow, u32 width)
{
	if (flow->column > 0 && flow->column + FLOW_GAP + width > flow->limit) {
		buf_putc(&out->buf, '\n');
		flow->column = 0;
	} else if (flow->column > 0) {
		buf_fill(&out->buf, ' ', FLOW_GAP);
		flow->column += FLOW_GAP;
	}
	flow->column += width;
}

void out_flow_put(struct out *out, struct out_flow *flow, const char *text, size_t n)
{
	out_flow_next(out, flow, (u32)n);
	buf_put(&out->buf, text, n);
}
