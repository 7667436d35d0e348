/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables of symbols: an address -> the function that it lies in.
 */
#include <stdlib.h>

#include "cat/internal.h"

/* No function is so large: what lies there came after the list was read. */
#define FARTHEST_BYTES (1u << 20)

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void symbol_table_sort(struct symbol_table *table, bool keeps_last)
{
	struct symbol *at = table->list.at;
	u32 n = 0;

	for (u32 i = 0; i < table->list.n; i++)
		at[i].order = i;
	if (table->list.n)
		qsort(at, table->list.n, sizeof(*at), compare);
	for (u32 i = 0; i < table->list.n; i++) {
		if (!n || at[n - 1].start != at[i].start)
			at[n++] = at[i];
		else if (keeps_last)
			at[n - 1] = at[i];
	}
	table->list.n = n;
}

u64 symbol_end(const struct symbol_table *table, const struct symbol *symbol)
{
	const struct symbol *next = symbol + 1;
	u64 end = symbol->start + (symbol->n_bytes ?: FARTHEST_BYTES);

	return next < table->list.at + table->list.n ? MIN(end, next->start) : end;
}

const struct symbol *symbol_table_find(const struct symbol_table *table, u64 address)
{
	const struct symbol *at = table->list.at;
	u32 low = 0, high = table->list.n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - at[low - 1].start >= (at[low - 1].n_bytes ?: FARTHEST_BYTES))
		return NULL;
	return &at[low - 1];
}
