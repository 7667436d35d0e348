/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregates -> cells of a row.  Cells are shared: what counts, sums or orders the
 * same values is kept once, however many aggregates read it.
 */
#include "phys/internal.h"
#include "type/type.h"

#define NARROW_SUM_MAX ((s128)1 << 24) /* 2^39 such values fit 64 bits: a day at 6 million/s */

typedef VEC(struct cell) cell_vec;

static bool same(const struct expr *a, const struct expr *b)
{
	return a && b ? expr_equal(a, b) : a == b;
}

static s32 cell_add(struct phys *phys, cell_vec *cells, struct cell cell)
{
	for (u32 i = 0; phys->shares_cells && i < cells->n; i++) {
		const struct cell *c = &cells->at[i];

		if (c->kind == cell.kind && c->skips_negative == cell.skips_negative &&
		    same(c->arg, cell.arg) && same(c->filter, cell.filter) &&
		    (!cell.scheme || scheme_equal(c->scheme, cell.scheme)) &&
		    c->hll_bits == cell.hll_bits && c->top.n_sets == cell.top.n_sets &&
		    same(c->weight, cell.weight))
			return (s32)i;
	}
	vec_push(phys->arena, cells, cell);
	return (s32)cells->n - 1;
}

static s32 count_cell(struct phys *phys, cell_vec *cells, const struct aggregate *a)
{
	return cell_add(phys, cells,
			(struct cell){ .kind = CELL_COUNT,
				       .n_bytes = 8,
				       .arg = a->arg && a->arg->nullable ? a->arg : NULL,
				       .filter = a->filter });
}

/* SUM, MIN or MAX of the aggregate's argument. */
static s32 value_cell(struct phys *phys, cell_vec *cells, const struct aggregate *a,
		      enum cell_kind kind, bool skips_negative)
{
	s128 lo = skips_negative ? MAX(a->arg->lo, (s128)0) : a->arg->lo;
	struct cell value = { .kind = kind,
			      .arg = a->arg,
			      .filter = a->filter,
			      .skips_negative = skips_negative,
			      .is_signed = a->arg->type.is_signed && lo < 0 };

	value.is_wide = kind == CELL_SUM && (a->arg->hi > NARROW_SUM_MAX || lo < -NARROW_SUM_MAX);
	value.n_bytes = value.is_wide ? 16 : 8;
	return cell_add(phys, cells, value);
}

/* Words that a sum of squares needs: as a sum of up to 2^39 of them, or of any number. */
static u32 square_words(const struct expr *x)
{
	s128 most = MAX(x->hi, -x->lo);

	if (most <= (s128)1 << 12) /* its square is at most NARROW_SUM_MAX */
		return 1;
	return most <= UINT32_MAX ? 2 : 3;
}

/* The cell of an aggregate that has one of its own; for a STDDEV the one of the squares. */
static s32 sketch_cell(struct phys *phys, cell_vec *cells, const struct aggregate *a,
		       enum cell_kind kind)
{
	struct cell cell = { .kind = kind,
			     .arg = a->arg,
			     .filter = a->filter,
			     .time = a->time,
			     .hll_bits = a->hll_bits,
			     .weight = a->weight,
			     .n_words = MAX(phys_words(a->arg), 1u),
			     .is_signed = a->arg->type.is_signed && a->arg->lo < 0 };

	cell.n_bytes = 8 + 8 * cell.n_words;
	if (kind == CELL_SQUARES) {
		cell.n_words = square_words(a->arg);
		cell.n_bytes = 8 * cell.n_words;
	} else if (kind == CELL_HLL) {
		cell.n_bytes = 1u << a->hll_bits;
	} else if (kind == CELL_TOP) {
		cell.top = top_shape(a->k, cell.n_words);
		cell.n_bytes = top_slice_bytes(&cell.top);
	}
	return cell_add(phys, cells, cell);
}

/*
 * The histogram and what is always known beside it; its count is the sum of its cells.
 * The logarithmic schemes have no cell for values below zero: where such values are
 * possible these four cells skip them (the event is counted as `negative`), and so
 * have a sum, minimum and maximum of their own, not those of a plain sum(x).
 */
static void plan_histogram(struct phys *phys, cell_vec *cells, const struct aggregate *a,
			   struct phys_aggregate *ret)
{
	bool skips_negative = a->arg->lo < 0 && !scheme_takes_negative(a->scheme);

	ret->histogram_cell = cell_add(phys, cells,
				       (struct cell){ .kind = CELL_HISTOGRAM,
						      .arg = a->arg,
						      .filter = a->filter,
						      .skips_negative = skips_negative,
						      .scheme = a->scheme,
						      .n_cells = scheme_n_cells(a->scheme) });
	ret->sum_cell = value_cell(phys, cells, a, CELL_SUM, skips_negative);
	ret->min_cell = value_cell(phys, cells, a, CELL_MIN, skips_negative);
	ret->max_cell = value_cell(phys, cells, a, CELL_MAX, skips_negative);
}

static void plan_aggregate(struct phys *phys, cell_vec *cells, const struct aggregate *a,
			   struct phys_aggregate *ret)
{
	const struct aggregate_info *info = &aggregate_infos[a->kind];
	bool may_be_empty = phys->n_keys == 0 || a->filter || (a->arg && a->arg->nullable);

	*ret = (struct phys_aggregate){ .kind = a->kind,
					.type = a->type,
					.count_cell = -1,
					.value_cell = -1,
					.squares_cell = -1,
					.histogram_cell = -1,
					.sum_cell = -1,
					.min_cell = -1,
					.max_cell = -1,
					.aggregate = a };
	if (info->cell == CELL_HISTOGRAM) {
		plan_histogram(phys, cells, a, ret);
		return;
	}
	if (info->counts == COUNTS_NEVER) {
		ret->value_cell = sketch_cell(phys, cells, a, info->cell);
		return;
	}
	if (info->reads == READS_DEVIATION)
		ret->squares_cell = sketch_cell(phys, cells, a, CELL_SQUARES);
	if (info->counts == COUNTS_ALWAYS || may_be_empty)
		ret->count_cell = count_cell(phys, cells, a);
	if (info->cell != CELL_COUNT)
		ret->value_cell = value_cell(phys, cells, a, info->cell, false);
}

void phys_cells(struct phys *phys, const struct plan *agg)
{
	cell_vec cells = { 0 };

	phys->n_aggregates = agg->aggregate.n;
	phys->shares_cells = agg->aggregate.shares_cells;
	phys->aggregates = arena_array(phys->arena, struct phys_aggregate, agg->aggregate.n);
	for (u32 i = 0; i < agg->aggregate.n; i++)
		plan_aggregate(phys, &cells, &agg->aggregate.list[i], &phys->aggregates[i]);
	/* DIRECT with groups: a count tells the rows in use; `cpu` alone is such a group. */
	phys->shares_cells = true;
	if (phys->state.kind == STATE_DIRECT && phys->n_keys > 0)
		phys->exists_cell =
			cell_add(phys, &cells, (struct cell){ .kind = CELL_COUNT, .n_bytes = 8 });
	phys->cells = cells.at;
	phys->n_cells = cells.n;
	for (u32 i = 0; i < cells.n; i++)
		if (cells.at[i].kind == CELL_COUNT && !cells.at[i].arg && !cells.at[i].filter)
			phys->matched_cell = (s32)i;
}

static void sketch_print(const struct cell *c, struct buf *out)
{
	if (c->kind == CELL_SQUARES)
		buf_printf(out, " (%u bits)", 64 * c->n_words);
	if (c->kind == CELL_HLL)
		buf_printf(out, " (HyperLogLog, 2^%u bytes, standard error %.2f %%)", c->hll_bits,
			   100 * hll_standard_error(c->hll_bits));
	if (c->kind == CELL_TOP)
		buf_printf(out, " (Space-Saving, %u sets of %u values)", c->top.n_sets, TOP_WAYS);
}

void phys_cell_print(const struct cell *c, struct buf *out)
{
	buf_printf(out, "  cell +%u %s", c->bytes_offset, cell_ops[c->kind].name);
	if (c->kind == CELL_SUM)
		buf_puts(out, c->is_wide ? " (128 bits)" : " (64 bits)");
	if (c->kind == CELL_HISTOGRAM) {
		buf_putc(out, ' ');
		scheme_print(c->scheme, out);
		if (c->chunk_cells)
			buf_printf(out, " (%u cells, in %u chunks of %u as values need them)",
				   c->n_cells, c->n_chunks, c->chunk_cells);
		else
			buf_printf(out, " (%u cells)", c->n_cells);
	}
	sketch_print(c, out);
	if (c->arg) {
		buf_puts(out, " of ");
		expr_print(c->arg, out);
	}
	if (c->weight) {
		buf_puts(out, " by ");
		expr_print(c->weight, out);
	}
	if (c->skips_negative)
		buf_puts(out, " from 0");
	if (c->filter) {
		buf_puts(out, " where ");
		expr_print(c->filter, out);
	}
	buf_putc(out, '\n');
}
