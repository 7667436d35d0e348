/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Merged cells of first, last, stddev and top_k -> values. */
#include "drain/sketch.h"

#include <math.h>
#include <string.h>

#include "type/type.h"

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

void stddev_value(const u64 *squares, u64 n, s128 sum, bool is_population, struct value *ret_value)
{
	const struct moments moments = { n, sum, { squares[0], squares[1], squares[2] } };
	double real = moments_stddev(&moments, is_population);

	*ret_value = (struct value){ .kind = isnan(real) ? VALUE_NULL : VALUE_REAL, .real = real };
}

void top_value(const struct rows *rows, const struct cell *cell, const u64 *words, u32 k,
	       struct value *ret_value)
{
	u32 n = cell->top.n_sets * TOP_WAYS;
	struct top *top = scratch_alloc(rows->scratch, sizeof(*top));
	struct top_row *list = scratch_alloc(rows->scratch, MIN(n, k) * sizeof(*list));
	struct scratch_mark mark = scratch_mark(rows->scratch);
	struct top_entry *entries = scratch_alloc(rows->scratch, n * sizeof(*entries));

	*ret_value = (struct value){ .kind = VALUE_NULL };
	if (rows->scratch->is_short)
		return;
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

void first_last_value(const struct rows *rows, const struct cell *cell, const u64 *words,
		      struct value *ret_value)
{
	if (words[0])
		word_value(rows->phys, cell->arg, words + 1, ret_value);
	else
		*ret_value = (struct value){ .kind = VALUE_NULL };
}
