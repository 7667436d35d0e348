/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measured values and intervals -> text for people.  What an interval holds its text holds
 * too: a lower bound is rounded down, an upper one up, and as many digits are shown as keep the
 * text about as narrow as the interval.
 */
#include "out/format.h"

#include <math.h>
#include <stdio.h>

struct duration_unit {
	u64 ns;
	u64 from_ns;	  /* used from this length on */
	u32 max_decimals; /* so many are exact, or enough where none is */
	const char *name;
};

#define SECOND_NS 1000000000ull

static const struct duration_unit duration_units[] = {
	{ 1, 0, 0, "ns" },
	{ 1000, 1000, 3, "us" },
	{ 1000000, 1000000, 6, "ms" },
	{ SECOND_NS, SECOND_NS, 9, "s" },
	{ 60 * SECOND_NS, 600 * SECOND_NS, 1, "m" },
	{ 3600 * SECOND_NS, 36000 * SECOND_NS, 1, "h" },
	{ 86400 * SECOND_NS, 864000 * SECOND_NS, 1, "d" },
};

/* Decimals of a unit that leave `digits` significant ones. */
static u32 duration_decimals(const struct duration_unit *unit, u128 ns, u32 digits)
{
	u32 whole = 1;

	for (u128 limit = (u128)unit->ns * 10; whole < digits && ns >= limit; limit *= 10)
		whole++;
	return MIN(digits - whole, unit->max_decimals);
}

/* A minute has no exact decimals: where more digits are wanted, seconds. */
static u32 n_duration_units(u32 digits)
{
	return digits > OUT_DIGITS_USUAL ? 4 : ARRAY_SIZE(duration_units);
}

/* scaled / scale units, scale being 10^decimals. */
struct rounded {
	const struct duration_unit *unit;
	u128 scaled, scale;
	u32 decimals;
};

/* |ns|, rounded by the sign of ns, in one of the first n_units units. */
static struct rounded round_duration(s128 ns, u32 digits, u32 n_units, enum out_rounding rounding)
{
	u128 left = ns < 0 ? -(u128)ns : (u128)ns;
	const struct duration_unit *unit = duration_units, *end = duration_units + n_units;
	u128 scaled, scale = 1;
	u32 decimals;

	while (unit + 1 < end && left >= unit[1].from_ns)
		unit++;
	decimals = duration_decimals(unit, left, digits);
	for (u32 i = 0; i < decimals; i++)
		scale *= 10;
	scaled = left * scale;
	if (rounding == OUT_NEAREST)
		scaled += unit->ns / 2;
	else if ((rounding == OUT_UP) == (ns >= 0))
		scaled += unit->ns - 1; /* away from zero */
	scaled /= unit->ns;
	/* 999.6us rounds to 1000us, which is 1ms. */
	if (unit + 1 < end && scaled * unit->ns >= unit[1].from_ns * scale) {
		scaled = scaled * unit->ns / unit[1].ns / scale;
		scale = 1;
		decimals = 0;
		unit++;
	}
	for (; decimals > 0 && scaled % 10 == 0; decimals--)
		scaled /= 10, scale /= 10;
	return (struct rounded){ unit, scaled, scale, decimals };
}

static void put_duration(struct buf *buf, s128 ns, u32 digits, u32 n_units,
			 enum out_rounding rounding)
{
	struct rounded rounded = round_duration(ns, digits, n_units, rounding);

	if (ns < 0 && rounded.scaled > 0)
		buf_putc(buf, '-');
	buf_put_s128(buf, (s128)(rounded.scaled / rounded.scale));
	if (rounded.decimals > 0)
		buf_printf(buf, ".%0*llu", (int)rounded.decimals,
			   (unsigned long long)(rounded.scaled % rounded.scale));
	buf_puts(buf, rounded.unit->name);
}

void out_put_duration(struct buf *buf, s128 ns)
{
	put_duration(buf, ns, OUT_DIGITS_USUAL, ARRAY_SIZE(duration_units), OUT_NEAREST);
}

void out_put_thousands(struct buf *buf, s128 value)
{
	u128 left = value < 0 ? -(u128)value : (u128)value;
	char text[64];
	u32 at = sizeof(text);

	for (u32 digits = 0; left > 0 || digits == 0; digits++, left /= 10) {
		if (digits > 0 && digits % 3 == 0)
			text[--at] = ',';
		text[--at] = (char)('0' + left % 10);
	}
	if (value < 0)
		text[--at] = '-';
	buf_put(buf, text + at, sizeof(text) - at);
}

void out_put_short_real(struct buf *buf, double value)
{
	char text[48];
	size_t n;

	if (!isfinite(value) || fabs(value) >= 1e15 || (value != 0 && fabs(value) < 0.0005)) {
		snprintf(text, sizeof(text), "%.6g", value);
		buf_puts(buf, text);
		return;
	}
	n = (size_t)snprintf(text, sizeof(text), "%.3f", value);
	while (text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	buf_put(buf, text, n);
}

/* --- Measures and intervals --- */

static void put_address(struct buf *buf, s128 value)
{
	if (value < 0)
		buf_putc(buf, '-');
	out_put_hex(buf, value < 0 ? -(u128)value : (u128)value);
}

void out_put_measure(struct buf *buf, u8 of, s128 value, u32 digits, enum out_rounding rounding)
{
	if (of == TYPE_DURATION)
		put_duration(buf, value, digits, n_duration_units(digits), rounding);
	else if (of == TYPE_POINTER)
		put_address(buf, value);
	else
		buf_put_s128(buf, value);
}

u32 out_interval_digits(s128 lo, s128 hi)
{
	u128 low = lo < 0 ? -(u128)lo : (u128)lo, high = hi < 0 ? -(u128)hi : (u128)hi;
	u128 largest = MAX(low, high), width = (u128)(hi - lo);
	u32 digits = OUT_DIGITS_USUAL;

	if (lo >= hi)
		return OUT_DIGITS_EXACT;
	/* The last of d digits of x is worth at most x / 10^(d-1). */
	for (u128 ulp = largest / 100; ulp > width / 4 && digits < OUT_DIGITS_EXACT; ulp /= 10)
		digits++;
	return digits;
}

void out_put_interval(struct buf *buf, u8 of, const struct scheme_edges *edges, u32 digits,
		      bool is_outward)
{
	if (edges->has_lo && edges->has_hi && edges->lo == edges->hi) {
		out_put_measure(buf, of, edges->lo, OUT_DIGITS_EXACT, OUT_NEAREST);
		return;
	}
	if (edges->has_lo) {
		buf_putc(buf, edges->is_lo_open ? '(' : '[');
		out_put_measure(buf, of, edges->lo, digits, is_outward ? OUT_DOWN : OUT_NEAREST);
	} else {
		buf_puts(buf, "(-inf");
	}
	buf_puts(buf, ", ");
	if (edges->has_hi) {
		out_put_measure(buf, of, edges->hi, digits, is_outward ? OUT_UP : OUT_NEAREST);
		buf_putc(buf, edges->is_hi_open ? ')' : ']');
	} else {
		buf_puts(buf, "inf)");
	}
}

static bool is_within(const struct scheme_edges *edges, s128 value)
{
	if (edges->has_lo && (edges->is_lo_open ? value <= edges->lo : value < edges->lo))
		return false;
	return !edges->has_hi || (edges->is_hi_open ? value < edges->hi : value <= edges->hi);
}

void out_put_duration_within(struct buf *buf, s128 ns, const struct scheme_edges *edges, u32 most)
{
	enum out_rounding rounding = edges->has_hi ? OUT_NEAREST : OUT_DOWN;
	u32 digits = OUT_DIGITS_USUAL, n_units = n_duration_units(most);

	for (; digits < most; digits++) {
		struct rounded r = round_duration(ns, digits, n_units, rounding);
		s128 shown = (s128)(r.scaled * r.unit->ns / r.scale);

		if (is_within(edges, ns < 0 ? -shown : shown))
			break;
	}
	put_duration(buf, ns, digits, n_units, rounding);
}
