/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers, instants and texts as text: plain digits, hex, reals that read back the same, what a
 * terminal may safely be shown, JSON; and lines of items.
 */
#include "out/format.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/utf8.h"

/* --- Numbers --- */

void out_put_hex(struct buf *buf, u128 value)
{
	char text[2 + 32];
	u32 at = sizeof(text);

	do {
		text[--at] = "0123456789abcdef"[(u32)value & 15];
		value >>= 4;
	} while (value);
	text[--at] = 'x';
	text[--at] = '0';
	buf_put(buf, text + at, sizeof(text) - at);
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

/* --- Text --- */

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
		u32 codepoint;
		size_t length = utf8_decode(text + i, n - i, &codepoint);

		if (length && !is_in(codepoint, steering, ARRAY_SIZE(steering))) {
			buf_put(buf, text + i, length);
			width += codepoint_width(codepoint);
		} else {
			length = MAX(length, 1ul);
			for (size_t j = 0; j < length; j++) {
				buf_put(buf, "\\x", 2);
				buf_put_hex_bytes(buf, text + i + j, 1);
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

void out_put_bold(struct out *out, bool is_bold)
{
	if (out->has_escapes)
		buf_puts(&out->buf, is_bold ? "\x1b[1m" : "\x1b[0m");
}

/* --- JSON --- */

void out_put_json_count(struct buf *buf, const char *before, u64 count)
{
	buf_puts(buf, before);
	buf_put_u64(buf, count);
}

void out_put_json_bound(struct buf *buf, bool has, s128 bound)
{
	if (has)
		buf_put_s128(buf, bound);
	else
		buf_puts(buf, "null");
}

void out_put_json_scalar(struct buf *buf, struct type type, const struct value *value)
{
	switch ((enum value_kind)value->kind) {
	case VALUE_NULL:
		buf_put(buf, "null", 4);
		break;
	case VALUE_INT:
		if (type.kind == TYPE_POINTER) {
			buf_putc(buf, '"');
			out_put_hex(buf, (u64)value->integer);
			buf_putc(buf, '"');
		} else if (type.kind == TYPE_BOOL) {
			buf_puts(buf, value->integer ? "true" : "false");
		} else {
			buf_put_s128(buf, value->integer);
		}
		break;
	case VALUE_REAL:
		/*
		 * JSON has no infinities and no NaN; 1e999 reads as infinity.  Among integers
		 * an infinity is a bound that is not there, as in NAME_lo and NAME_hi.
		 */
		if (isnan(value->real) || (isinf(value->real) && type.kind != TYPE_REAL))
			buf_put(buf, "null", 4);
		else if (isinf(value->real))
			buf_puts(buf, value->real < 0 ? "-1e999" : "1e999");
		else
			buf_put_real(buf, value->real);
		break;
	case VALUE_TEXT:
		if (type.kind == TYPE_BLOB) {
			buf_putc(buf, '"');
			buf_put_hex_bytes(buf, value->text, value->n);
			buf_putc(buf, '"');
		} else {
			buf_put_json_string(buf, value->text, value->n);
		}
		break;
	case VALUE_QUANTILES:
	case VALUE_TOP:
	case VALUE_HISTOGRAM:
	case VALUE_STACK:
		BUG("a special value");
	}
}

void out_put_left(struct out *out, u32 columns)
{
	buf_put(&out->buf, out->scratch.at, out->scratch.n);
	if (out->scratch.n < columns)
		buf_fill(&out->buf, ' ', columns - out->scratch.n);
}

void out_put_right(struct out *out, u32 columns)
{
	if (out->scratch.n < columns)
		buf_fill(&out->buf, ' ', columns - out->scratch.n);
	buf_put(&out->buf, out->scratch.at, out->scratch.n);
}

/* --- Lines of items --- */

#define FLOW_USUAL_COLUMNS 100
#define FLOW_GAP	   2

void out_flow_init(struct out_flow *flow, const struct out *out)
{
	u32 width = out_width(out);

	*flow = (struct out_flow){ .limit = width ? width : FLOW_USUAL_COLUMNS };
}

bool out_flow_next(struct out *out, struct out_flow *flow, u32 width)
{
	u32 gap = flow->column > 0 ? FLOW_GAP : 0;

	if (flow->column + gap + width > flow->limit) {
		if (flow->is_one_line)
			return false;
		buf_puts(&out->buf, gap ? "\n" : "");
		flow->column = gap = 0;
	}
	buf_fill(&out->buf, ' ', gap);
	flow->column += gap + width;
	return true;
}

void out_flow_put(struct out *out, struct out_flow *flow, const char *text, size_t n)
{
	if (out_flow_next(out, flow, (u32)n))
		buf_put(&out->buf, text, n);
}
