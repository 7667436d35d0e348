/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kinds of cells: how large each is, how two of one group are merged, and the number
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

static void add_words(u64 *to, u32 n_to, const u64 *from, u32 n_from, u64 extension)
{
	u128 carry = 0;

	for (u32 i = 0; i < n_to; i++) {
		carry += (u128)to[i] + (i < n_from ? from[i] : extension);
		to[i] = (u64)carry;
		carry >>= 64;
	}
}

static u32 sum_bytes(const struct cell *cell)
{
	return cell->is_wide ? 16 : 8;
}

static u32 sum_words(const struct cell *cell)
{
	return 2;
}

static void sum_merge_entry(const struct cell *cell, u64 *to, const u64 *from)
{
	add_words(to, 2, from, 2, 0);
}

static void sum_merge_row(const struct cell *cell, u64 *to, const u8 *from)
{
	u64 words[2];

	memcpy(words, from, sum_bytes(cell));
	if (!cell->is_wide)
		words[1] = cell->is_signed ? (u64)((s64)words[0] >> 63) : 0;
	sum_merge_entry(cell, to, words);
}

static s128 sum_integer(const struct cell *cell, const u64 *words)
{
	return (s128)((u128)words[1] << 64 | words[0]);
}

static u32 squares_bytes(const struct cell *cell)
{
	return 8 * cell->n_words;
}

static u32 squares_words(const struct cell *cell)
{
	return 3;
}

static void squares_merge_row(const struct cell *cell, u64 *to, const u8 *from)
{
	u64 words[3];

	memcpy(words, from, squares_bytes(cell));
	add_words(to, 3, words, cell->n_words, 0);
}

static void squares_merge_entry(const struct cell *cell, u64 *to, const u64 *from)
{
	add_words(to, 3, from, 3, 0);
}

/* --- Histograms: their bytes are shaped with the state, their chunks merged by drain/ --- */

static u32 histogram_bytes(const struct cell *cell)
{
	return cell->n_bytes;
}

/* Two places of chunks a word, and a count of the values that found no room. */
static u32 histogram_words(const struct cell *cell)
{
	return cell->chunk_cells ? (cell->n_chunks + 1) / 2 + 1 : cell->n_cells;
}

/* --- Sketches --- */

static u32 ordered_bytes(const struct cell *cell)
{
	return 8 + 8 * cell->n_words;
}

static u32 ordered_words(const struct cell *cell)
{
	return 1 + cell->n_words;
}

static void ordered_merge_row(const struct cell *cell, u64 *to, const u8 *from)
{
	u64 order;

	memcpy(&order, from, sizeof(order));
	if (order > to[0])
		memcpy(to, from, ordered_bytes(cell));
}

static u32 hll_bytes(const struct cell *cell)
{
	return 1u << cell->hll_bits;
}

static u32 hll_words(const struct cell *cell)
{
	return hll_bytes(cell) / 8;
}

static void hll_merge_row(const struct cell *cell, u64 *to, const u8 *from)
{
	hll_merge((u8 *)to, from, cell->hll_bits);
}

static s128 hll_integer(const struct cell *cell, const u64 *words)
{
	return (s128)hll_estimate((const u8 *)words, cell->hll_bits);
}

static u32 top_bytes(const struct cell *cell)
{
	return top_slice_bytes(&cell->top);
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
		.bytes = sum_bytes,
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
		.bytes = histogram_bytes,
		.words = histogram_words,
	},
	[CELL_FIRST] = {
		.name = "first",
		.bytes = ordered_bytes,
		.words = ordered_words,
		.merge_row = ordered_merge_row,
	},
	[CELL_LAST] = {
		.name = "last",
		.bytes = ordered_bytes,
		.words = ordered_words,
		.merge_row = ordered_merge_row,
	},
	[CELL_SQUARES] = {
		.name = "squares",
		.bytes = squares_bytes,
		.words = squares_words,
		.merge_row = squares_merge_row,
		.merge_entry = squares_merge_entry,
	},
	[CELL_HLL] = {
		.name = "registers",
		.is_large = true,
		.bytes = hll_bytes,
		.words = hll_words,
		.merge_row = hll_merge_row,
		.integer = hll_integer,
	},
	[CELL_TOP] = {
		.name = "top",
		.is_large = true,
		.bytes = top_bytes,
		.words = top_words,
		.merge_row = top_merge_row,
		.merge_entry = top_merge_entry,
	},
};
