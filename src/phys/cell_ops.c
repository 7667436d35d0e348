/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kinds of cells: how two of one group are merged, and the number
 * that one stands for.  In entries FIRST, LAST and HLL are as in a row; sums have two words
 * always, squares three, and a slice of top_k becomes what slices merge into (type/top.h).
 */
#include <string.h>

#include "phys/phys.h"

/* --- Of one word --- */

static u64 fold_add(u64 a, u64 b)
{
	return a + b;
}

static u64 fold_max(u64 a, u64 b)
{
	return MAX(a, b);
}

static u64 fold_or(u64 a, u64 b)
{
	return a | b;
}

static u64 fold_xor(u64 a, u64 b)
{
	return a ^ b;
}

static s128 integer_plain(const struct cell *cell, const u64 *words)
{
	return (s128)words[0];
}

static s128 integer_max(const struct cell *cell, const u64 *words)
{
	return cell->is_signed ? (s128)(s64)(words[0] ^ CELL_BIAS) : (s128)words[0];
}

static s128 integer_min(const struct cell *cell, const u64 *words)
{
	u64 word = ~words[0];

	return integer_max(cell, &word);
}

static s128 integer_bits(const struct cell *cell, const u64 *words)
{
	return cell->is_signed ? (s128)(s64)words[0] : (s128)words[0];
}

static s128 integer_and(const struct cell *cell, const u64 *words)
{
	u64 word = ~words[0];

	return integer_bits(cell, &word);
}

/* --- Sums, and sums of squares --- */

static u32 sum_words(const struct cell *cell)
{
	return cell->kind == CELL_SQUARES ? 3 : 2;
}

static void add_words(u64 *to, u32 n_to, const u64 *from, u32 n_from, u64 extension)
{
	u128 carry = 0;

	for (u32 i = 0; i < n_to; i++) {
		carry += (u128)to[i] + (i < n_from ? from[i] : extension);
		to[i] = (u64)carry;
		carry >>= 64;
	}
}

static void sum_merge_row(const struct cell *cell, u64 *to, const u8 *from)
{
	u32 n = cell->n_bytes / 8;
	u64 words[3];
	bool is_negative;

	memcpy(words, from, cell->n_bytes);
	is_negative = cell->kind == CELL_SUM && cell->is_signed && (s64)words[n - 1] < 0;
	add_words(to, sum_words(cell), words, n, is_negative ? UINT64_MAX : 0);
}

static void sum_merge_entry(const struct cell *cell, u64 *to, const u64 *from)
{
	add_words(to, sum_words(cell), from, sum_words(cell), 0);
}

static s128 sum_integer(const struct cell *cell, const u64 *words)
{
	return (s128)((u128)words[1] << 64 | words[0]);
}

/* --- Histograms: their chunks are merged by drain/ --- */

/* Two places of chunks a word, and a count of the values that found no room. */
static u32 histogram_words(const struct cell *cell)
{
	return cell->chunk_cells ? (cell->n_chunks + 1) / 2 + 1 : cell->n_cells;
}

/* --- Sketches --- */

static u32 row_words(const struct cell *cell)
{
	return cell->n_bytes / 8;
}

static void ordered_merge_row(const struct cell *cell, u64 *to, const u8 *from)
{
	u64 order;

	memcpy(&order, from, sizeof(order));
	if (order > to[0])
		memcpy(to, from, cell->n_bytes);
}

static void hll_merge_row(const struct cell *cell, u64 *to, const u8 *from)
{
	hll_merge((u8 *)to, from, cell->hll_bits);
}

static s128 hll_integer(const struct cell *cell, const u64 *words)
{
	return (s128)hll_estimate((const u8 *)words, cell->hll_bits);
}

static u32 top_words(const struct cell *cell)
{
	return top_merged_words(&cell->top);
}

static void top_merge_row(const struct cell *cell, u64 *to, const u8 *from)
{
	top_merge_slice(&cell->top, to, from);
}

static void top_merge_entry(const struct cell *cell, u64 *to, const u64 *from)
{
	top_merge(&cell->top, to, from);
}

/* --- The table --- */

const struct cell_ops cell_ops[CELL_KIND_N] = {
	[CELL_NONE] = { .name = "none" },
	[CELL_COUNT] = { .name = "count", .fold = fold_add, .integer = integer_plain },
	[CELL_SUM] = {
		.name = "sum",
		.words = sum_words,
		.merge_row = sum_merge_row,
		.merge_entry = sum_merge_entry,
		.integer = sum_integer,
	},
	[CELL_MIN] = { .name = "min", .fold = fold_max, .integer = integer_min },
	[CELL_MAX] = { .name = "max", .fold = fold_max, .integer = integer_max },
	[CELL_OR] = { .name = "or", .fold = fold_or, .integer = integer_bits },
	[CELL_AND] = { .name = "and", .fold = fold_or, .integer = integer_and },
	[CELL_XOR] = { .name = "xor", .fold = fold_xor, .integer = integer_bits },
	[CELL_HISTOGRAM] = {
		.name = "histogram",
		.is_large = true,
		.words = histogram_words,
	},
	[CELL_FIRST] = {
		.name = "first",
		.words = row_words,
		.merge_row = ordered_merge_row,
	},
	[CELL_LAST] = {
		.name = "last",
		.words = row_words,
		.merge_row = ordered_merge_row,
	},
	[CELL_SQUARES] = {
		.name = "squares",
		.words = sum_words,
		.merge_row = sum_merge_row,
		.merge_entry = sum_merge_entry,
	},
	[CELL_HLL] = {
		.name = "registers",
		.is_large = true,
		.words = row_words,
		.merge_row = hll_merge_row,
		.integer = hll_integer,
	},
	[CELL_TOP] = {
		.name = "top",
		.is_large = true,
		.words = top_words,
		.merge_row = top_merge_row,
		.merge_entry = top_merge_entry,
	},
};
