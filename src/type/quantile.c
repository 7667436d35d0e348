/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bounds of a quantile.
 *
 * Of N = c + u + l values, c lie in cells, u are in no cell but between the exact
 * minimum and maximum (they found no room), and l are not known at all.  x(k) is the
 * true value of rank k among all N, p(k) the value of rank k among the c, whose cell
 * is known.
 *
 * Of the k smallest values at most u + l are not in cells, so at least k - u - l are,
 * and the largest of these is at most x(k):	p(k - u - l) <= x(k), if k > u + l.
 * At least k values are at most p(k):		x(k) <= p(k), if k <= c.
 * The minimum and maximum are those of the c + u: one of the k smallest is among
 * these when k > l:				minimum <= x(k), if k > l;
 * at least k values are at most the maximum:	x(k) <= maximum, if k <= c + u.
 *
 * n_lost may be more than the true l (a loss cannot be told by group): with L >= l lost,
 * rank k = ceil(q (c + u + L)) is not below the true rank, and k - L not above the true
 * rank less l, since a step of L moves ceil(q (..)) by 0 or 1; so both bounds are at
 * most wider than those with l.
 */
#include "type/quantile.h"

#define PPB 1000000000u

const char *const quantile_edge_names[EDGE_N] = {
	[EDGE_MID] = "mid",
	[EDGE_LOWER] = "lower",
	[EDGE_UPPER] = "upper",
	[EDGE_LINEAR] = "linear",
};

/* Integers that a bound includes. */
static s128 first_of(const struct quantile *q)
{
	return q->lo + q->is_lo_open;
}

static s128 last_of(const struct quantile *q)
{
	return q->hi - q->is_hi_open;
}

/* The cell of the value of that rank (1 .. count), and how many values lie in cells before. */
static const struct histogram_cell *cell_of_rank(const struct histogram *h, u64 rank,
						 u64 *ret_before)
{
	const struct histogram_cell *cell = h->cells;
	u64 before = 0;

	for (; rank - before > cell->count; cell++)
		before += cell->count;
	*ret_before = before;
	return cell;
}

static void set_lo(const struct histogram *h, u128 rank, u64 n_lost, struct quantile *q)
{
	u128 n_unknown = (u128)n_lost + h->n_unplaced;
	struct scheme_edges edges;
	u64 before;

	q->has_lo = rank > n_lost;
	if (!q->has_lo)
		return;
	q->lo = h->min;
	if (rank <= n_unknown)
		return;
	scheme_edges(h->scheme, cell_of_rank(h, rank - n_unknown, &before)->cell, &edges);
	if (edges.has_lo && edges.lo + edges.is_lo_open > h->min) {
		q->lo = edges.lo;
		q->is_lo_open = edges.is_lo_open;
	}
}

static void set_hi(const struct histogram *h, u128 rank, struct quantile *q)
{
	struct scheme_edges edges;
	u64 before;

	q->has_hi = rank <= (u128)h->count + h->n_unplaced;
	if (!q->has_hi)
		return;
	q->hi = h->max;
	if (rank > h->count)
		return;
	scheme_edges(h->scheme, cell_of_rank(h, rank, &before)->cell, &edges);
	if (edges.has_hi && edges.hi - edges.is_hi_open < h->max) {
		q->hi = edges.hi;
		q->is_hi_open = edges.is_hi_open;
	}
}

static void set_bounds(const struct histogram *h, const struct quantile_request *request,
		       struct quantile *q)
{
	u128 n = (u128)h->count + h->n_unplaced + request->n_lost, lower, upper;

	*q = (struct quantile){ .q_ppb = request->q_ppb,
				.is_interpolated = request->is_interpolated };
	if (request->is_interpolated) {
		/* Between the ranks 1 + floor(q (n - 1)) and 1 + ceil(q (n - 1)). */
		lower = 1 + request->q_ppb * (n - 1) / PPB;
		upper = 1 + (request->q_ppb * (n - 1) + PPB - 1) / PPB;
	} else {
		lower = (request->q_ppb * n + PPB - 1) / PPB;
		lower = upper = MAX(lower, 1);
	}
	set_lo(h, lower, request->n_lost, q);
	set_hi(h, upper, q);
}

/* --- Estimates --- */

/* The integer nearest to the root of n. */
static u128 root(u128 n)
{
	u128 low = base_root(n);

	/* (low + 1/2)^2 = low^2 + low + 1/4 */
	return low + (n - low * low > low);
}

/* Geometric where cells grow with the values, else arithmetic; the nearest integer. */
static s128 middle_of(const struct scheme *scheme, const struct quantile *q)
{
	if (scheme->kind != SCHEME_LINEAR && scheme->kind != SCHEME_BOUNDS && q->lo > 0)
		return root((u128)q->lo * (u128)q->hi);
	return q->lo + (q->hi - q->lo + 1) / 2;
}

/*
 * The counted value of rank 1 + rank0, as if those of a cell lay in its integers at equal
 * distances, half of one from its ends.  The first and the last one are known.
 */
static long double value_of(const struct histogram *h, u64 rank0)
{
	const struct histogram_cell *cell;
	struct quantile q = { 0 };
	u64 before;

	if (rank0 == 0)
		return (long double)h->min;
	if (rank0 == h->count - 1)
		return (long double)h->max;
	cell = cell_of_rank(h, rank0 + 1, &before);
	set_lo(h, rank0 + 1 + (u128)h->n_unplaced, 0, &q);
	set_hi(h, rank0 + 1, &q);
	return (long double)first_of(&q) + (long double)(last_of(&q) - first_of(&q)) *
						   ((long double)(rank0 - before) + 0.5L) /
						   (long double)cell->count;
}

/* Of the counted values: the lost ones are taken to be spread as these are. */
static long double interpolate(const struct histogram *h, u32 q_ppb)
{
	u128 place = q_ppb * (u128)(h->count - 1);
	u64 rank0 = place / PPB, part = place % PPB;
	long double value = value_of(h, rank0);

	if (part)
		value += (value_of(h, rank0 + 1) - value) * (long double)part / PPB;
	return value;
}

static s128 clamp(s128 value, const struct quantile *q)
{
	if (q->has_lo && value < first_of(q))
		value = first_of(q);
	if (q->has_hi && value > last_of(q))
		value = last_of(q);
	return value;
}

static s128 estimate(const struct histogram *h, enum quantile_edge edge, const struct quantile *q)
{
	long double value;

	switch (edge) {
	case EDGE_LOWER:
		return first_of(q);
	case EDGE_UPPER:
		return q->has_hi ? last_of(q) : first_of(q);
	case EDGE_MID:
		return q->has_hi ? clamp(middle_of(h->scheme, q), q) : first_of(q);
	case EDGE_LINEAR:
	case EDGE_N:
		break;
	}
	if (!h->count)
		return clamp(h->min, q);
	value = interpolate(h, q->q_ppb);
	return clamp((s128)(value < 0 ? value - 0.5L : value + 0.5L), q);
}

static double estimate_real(const struct histogram *h, const struct quantile *q)
{
	long double value = h->count ? interpolate(h, q->q_ppb) : (long double)h->min;

	if (q->has_lo && value < (long double)first_of(q))
		value = (long double)first_of(q);
	if (q->has_hi && value > (long double)last_of(q))
		value = (long double)last_of(q);
	return (double)value;
}

bool quantile_of(const struct histogram *histogram, const struct quantile_request *request,
		 struct quantile *ret_quantile)
{
	struct quantile_request counted = *request;
	struct quantile known;

	if (!histogram->count && !histogram->n_unplaced)
		return false;
	set_bounds(histogram, request, ret_quantile);
	known = *ret_quantile;
	if (!known.has_lo) {
		/* So much was lost that only the counted values can give an estimate. */
		counted.n_lost = 0;
		set_bounds(histogram, &counted, &known);
	}
	ret_quantile->estimate = clamp(estimate(histogram, request->edge, &known), ret_quantile);
	if (request->is_interpolated)
		ret_quantile->interpolated = estimate_real(histogram, ret_quantile);
	return true;
}
