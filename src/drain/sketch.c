/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cells of sketches.  In an entry FIRST, LAST and HLL are as in a row; squares have three
 * words always, and a slice of top_k becomes what slices merge into (type/top.h).
 */
#include "drain/sketch.h"

#include <math.h>
#include <string.h>

#include "type/type.h"

u32 sketch_words(const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_FIRST:
	case CELL_LAST:
		return 1 + cell->n_words;
	case CELL_SQUARES:
		return 3;
	case CELL_HLL:
		return (1u << cell->hll_bits) / 8;
	case CELL_TOP:
		return top_merged_words(&cell->top);
	default:
		return 0;
	}
}

static void add_squares(u64 *to, const u64 *from, u32 n)
{
	u128 carry = 0;

	for (u32 i = 0; i < 3; i++) {
		carry += (u128)to[i] + (i < n ? from[i] : 0);
		to[i] = (u64)carry;
		carry >>= 64;
	}
}

void sketch_combine(const struct cell *cell, u64 *to, const u8 *from)
{
	u64 order, squares[3];

	switch (cell->kind) {
	case CELL_FIRST:
	case CELL_LAST:
		memcpy(&order, from, sizeof(order));
		if (order > to[0])
			memcpy(to, from, cell->n_bytes);
		break;
	case CELL_SQUARES:
		memcpy(squares, from, cell->n_bytes);
		add_squares(to, squares, cell->n_words);
		break;
	case CELL_HLL:
		hll_merge((u8 *)to, from, cell->hll_bits);
		break;
	case CELL_TOP:
		top_merge_slice(&cell->top, to, from);
		break;
	default:
		BUG("cell kind %d", cell->kind);
	}
}

void sketch_combine_entry(const struct cell *cell, u64 *to, const u64 *from)
{
	if (cell->kind == CELL_TOP)
		top_merge(&cell->top, to, from);
	else if (cell->kind == CELL_SQUARES)
		add_squares(to, from, 3);
	else
		sketch_combine(cell, to, (const u8 *)from);
}

/* --- Values --- */

/* The words of a value of the argument. */
static void word_value(const struct phys *phys, const struct expr *arg, const u64 *words,
		       struct value *ret_value)
{
	*ret_value = (struct value){ .kind = VALUE_INT };
	if (arg->kind == EXPR_SYSTEM && arg->index == SYS_PROBE) {
		BUG_ON(*words >= phys->n_probes);
		ret_value->kind = VALUE_TEXT;
		ret_value->text = phys->probes[*words];
		ret_value->n = (u32)strlen(ret_value->text);
	} else if (arg->type.kind == TYPE_TEXT) {
		ret_value->kind = VALUE_TEXT;
		ret_value->text = (const char *)words;
		ret_value->n = (u32)strnlen(ret_value->text, arg->type.bytes);
	} else {
		ret_value->integer = arg->type.is_signed ? (s128)(s64)*words : (s128)*words;
	}
}

static void stddev_value(const u64 *squares, u64 n, s128 sum, bool is_population,
			 struct value *ret_value)
{
	const struct moments moments = { n, sum, { squares[0], squares[1], squares[2] } };
	double real = moments_stddev(&moments, is_population);

	*ret_value = (struct value){ .kind = isnan(real) ? VALUE_NULL : VALUE_REAL, .real = real };
}

static void top_value(const struct rows *rows, const struct cell *cell, const u64 *words, u32 k,
		      struct value *ret_value)
{
	u32 n = cell->top.n_sets * TOP_WAYS;
	struct top *top = scratch_alloc(rows->scratch, sizeof(*top));
	struct top_row *list = scratch_alloc(rows->scratch, MIN(n, k) * sizeof(*list));
	struct scratch_mark mark = scratch_mark(rows->scratch);
	struct top_entry *entries = scratch_alloc(rows->scratch, n * sizeof(*entries));

	*top = (struct top){ .rows = list };
	top->n_rows = top_list(&cell->top, words, k, entries, &top->total, &top->max_unlisted);
	for (u32 i = 0; i < top->n_rows; i++) {
		list[i].weight = entries[i].weight;
		list[i].error = entries[i].error;
		word_value(rows->phys, cell->arg, entries[i].value, &list[i].value);
	}
	scratch_release(rows->scratch, mark);
	*ret_value = (struct value){ .kind = VALUE_TOP, .top = top };
}

void sketch_value(const struct rows *rows, const u64 *cells, const struct phys_aggregate *aggregate,
		  u64 n, s128 sum, struct value *ret_value)
{
	s32 number = aggregate->kind == AGGREGATE_STDDEV ? aggregate->squares_cell
							 : aggregate->value_cell;
	const struct cell *cell = &rows->phys->cells[number];
	const u64 *words = cells + rows->merge->cells[number].to_word;

	switch (aggregate->kind) {
	case AGGREGATE_FIRST:
	case AGGREGATE_LAST:
		if (words[0])
			word_value(rows->phys, cell->arg, words + 1, ret_value);
		else
			*ret_value = (struct value){ .kind = VALUE_NULL };
		break;
	case AGGREGATE_STDDEV:
		stddev_value(words, n, sum, aggregate->aggregate->is_population, ret_value);
		break;
	case AGGREGATE_APPROX_COUNT_DISTINCT:
		*ret_value = (struct value){ .kind = VALUE_INT,
					     .integer = hll_estimate((const u8 *)words,
								     cell->hll_bits) };
		break;
	case AGGREGATE_TOP_K:
		top_value(rows, cell, words, aggregate->aggregate->k, ret_value);
		break;
	default:
		BUG("aggregate kind %d", aggregate->kind);
	}
}
