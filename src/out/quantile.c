/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Quantiles -> a cell for each of a ladder's rungs, and JSON.
 */
#include "out/format.h"

#include <math.h>

/* The interval as it is shown; where only one value is possible, with lo == hi. */
static struct scheme_edges shown_edges(struct type type, const struct quantile *quantile)
{
	struct scheme_edges edges = {
		.lo = quantile->lo,
		.hi = quantile->hi,
		.has_lo = quantile->has_lo,
		.has_hi = quantile->has_hi,
		.is_lo_open = quantile->is_lo_open,
		.is_hi_open = quantile->is_hi_open,
	};
	bool is_single;

	/* What cannot be negative is at least 0, whatever was lost. */
	if (!edges.has_lo && !type.is_signed && quantile->estimate >= 0 &&
	    (!edges.has_hi || edges.hi >= 0)) {
		edges.has_lo = true;
		edges.is_lo_open = false;
		edges.lo = 0;
	}
	/* Values are integers: (4, inf) begins with 5, which is then the estimate too. */
	is_single = edges.has_lo && edges.has_hi && !quantile->is_interpolated &&
		    edges.lo + edges.is_lo_open == edges.hi - edges.is_hi_open;
	if (is_single || (edges.has_lo && !edges.has_hi)) {
		edges.lo += edges.is_lo_open;
		edges.is_lo_open = false;
	}
	if (is_single) {
		edges.hi = edges.lo;
		edges.is_hi_open = false;
	}
	return edges;
}

/*
 * "92.7us [64us, 128us)", "~" in front of an interpolated estimate; "90.041us" where only
 * one value is possible.  The estimate has three digits, more only where it would else
 * leave its interval; without an upper bound it is the lower one, rounded like that.
 */
static void put_quantile(struct buf *buf, struct type type, const struct quantile *quantile)
{
	struct scheme_edges edges = shown_edges(type, quantile);
	double point = quantile->interpolated;
	s128 estimate = quantile->estimate;
	u32 digits = OUT_DIGITS_USUAL;

	if (edges.has_lo && edges.has_hi) {
		if (edges.lo == edges.hi) {
			out_put_interval(buf, type.of, &edges, OUT_DIGITS_EXACT, true);
			return;
		}
		digits = out_interval_digits(edges.lo, edges.hi);
	}
	if (quantile->is_interpolated)
		buf_putc(buf, '~');
	if (quantile->is_interpolated && (type.of != TYPE_DURATION || fabs(point) >= 1e30)) {
		out_put_short_real(buf, point);
	} else if (type.of == TYPE_DURATION) {
		if (quantile->is_interpolated)
			estimate = (s128)(point + (point < 0 ? -0.5 : 0.5));
		out_put_duration_within(buf, estimate, &edges, digits);
	} else {
		out_put_measure(buf, type.of, estimate, digits, OUT_NEAREST);
	}
	buf_putc(buf, ' ');
	out_put_interval(buf, type.of, &edges, digits, true);
}

/* value / scale, scale 10^n_decimals, without zeros at its end. */
static void put_decimals(struct buf *buf, u32 value, u32 scale, int n_decimals)
{
	buf_put_u64(buf, value / scale);
	if (value % scale == 0)
		return;
	buf_printf(buf, ".%0*u", n_decimals, value % scale);
	while (buf->at[buf->n - 1] == '0')
		buf->n--;
}

/* "p99.9" of 999000000: a billionth part of 1 has nine decimals, so of 100 seven. */
static void put_rung(struct buf *buf, u32 q_ppb)
{
	buf_putc(buf, 'p');
	put_decimals(buf, q_ppb, 10000000, 7);
}

static u32 n_lines(const struct value *value)
{
	return value->n;
}

/* A ladder's lines begin with their rungs, as wide as the widest. */
static u32 put_line(struct buf *buf, struct type type, const struct value *value, u32 line)
{
	size_t start = buf->n, longest = 0, length;

	for (u32 i = 0; type.kind == TYPE_LADDER && i < value->n; i++) {
		put_rung(buf, value->quantiles[i].q_ppb);
		longest = MAX(longest, buf->n - start);
		buf->n = start;
	}
	if (type.kind == TYPE_LADDER) {
		put_rung(buf, value->quantiles[line].q_ppb);
		length = buf->n - start;
		buf_fill(buf, ' ', longest - length + 2);
	}
	put_quantile(buf, type, &value->quantiles[line]);
	return (u32)(buf->n - start);
}

/* --- JSON --- */

static void put_json_estimate(struct buf *buf, const struct quantile *quantile)
{
	if (!quantile->is_interpolated)
		buf_put_s128(buf, quantile->estimate);
	else if (isfinite(quantile->interpolated))
		buf_put_real(buf, quantile->interpolated);
	else
		buf_puts(buf, "null");
}

/* A quantile is its estimate; its bounds are columns of their own. */
static void put_json(struct buf *buf, struct type type, const struct value *value)
{
	if (type.kind != TYPE_LADDER) {
		put_json_estimate(buf, value->quantiles);
		return;
	}
	buf_putc(buf, '[');
	for (u32 i = 0; i < value->n; i++) {
		const struct quantile *quantile = &value->quantiles[i];

		buf_puts(buf, i == 0 ? "{\"q\":" : ",{\"q\":");
		put_decimals(buf, quantile->q_ppb, 1000000000, 9);
		buf_puts(buf, ",\"est\":");
		put_json_estimate(buf, quantile);
		buf_puts(buf, ",\"lo\":");
		out_put_json_bound(buf, quantile->has_lo, quantile->lo);
		buf_puts(buf, ",\"hi\":");
		out_put_json_bound(buf, quantile->has_hi, quantile->hi);
		buf_putc(buf, '}');
	}
	buf_putc(buf, ']');
}

const struct out_special out_quantiles = { n_lines, put_line, put_json };
