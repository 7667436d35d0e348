/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bucket arithmetic: turns a value into the number of its cell and a cell into its
 * edges.  Integers only: every edge is exact, and so is the side a value falls on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "type/scheme.h"

/* Values reach from -2^63 up to, not including, 2^64. */
#define VALUE_MIN (-((s128)1 << 63))
#define VALUE_END ((s128)1 << 64)

const char *const scheme_names[SCHEME_N] = {
	[SCHEME_LOG2] = "log2",		  [SCHEME_EXPONENTIAL] = "exponential",
	[SCHEME_LOGLINEAR] = "loglinear", [SCHEME_LINEAR] = "linear",
	[SCHEME_BOUNDS] = "bounds",
};

/*
 * Found by search: a de Bruijn sequence M for which also the products M * (2^(k + 1) - 1),
 * k = 0 .. 63, differ in their highest six bits.  Those bits are the index of k.
 */
const u8 scheme_log2_table[64] = {
	0,  11, 1,  12, 55, 16, 2,  13, 46, 56, 49, 17, 21, 41, 3,  61, 14, 47, 39, 59, 57, 50,
	29, 52, 18, 36, 22, 42, 25, 31, 4,  62, 10, 54, 15, 45, 48, 20, 40, 60, 38, 58, 28, 51,
	35, 24, 30, 9,	53, 44, 19, 37, 27, 34, 23, 8,	43, 26, 33, 7,	32, 6,	5,  63,
};

/*
 * floor(2^(63 + i / 64)), i = 0 .. 63: the integer 64th roots of 2^(63 * 64 + i).  Shifted
 * right they give the floor of every smaller power, since floor(floor(x) / 2^n) = floor(x / 2^n).
 */
static const u64 powers[64] = {
	0x8000000000000000ull, 0x8164d1f3bc030773ull, 0x82cd8698ac2ba1d7ull, 0x843a28c3acde4046ull,
	0x85aac367cc487b14ull, 0x871f61969e8d1010ull, 0x88980e8092da8527ull, 0x8a14d575496efd9aull,
	0x8b95c1e3ea8bd6e6ull, 0x8d1adf5b7e5ba9e5ull, 0x8ea4398b45cd53c0ull, 0x9031dc431466b1dcull,
	0x91c3d373ab11c336ull, 0x935a2b2f13e6e92bull, 0x94f4efa8fef70961ull, 0x96942d3720185a00ull,
	0x9837f0518db8a96full, 0x99e0459320b7fa64ull, 0x9b8d39b9d54e5538ull, 0x9d3ed9a72cffb750ull,
	0x9ef5326091a111adull, 0xa0b0510fb9714fc2ull, 0xa27043030c496818ull, 0xa43515ae09e6809eull,
	0xa5fed6a9b15138eaull, 0xa7cd93b4e9653569ull, 0xa9a15ab4ea7c0ef8ull, 0xab7a39b5a93ed337ull,
	0xad583eea42a14ac6ull, 0xaf3b78ad690a4374ull, 0xb123f581d2ac258full, 0xb311c412a9112489ull,
	0xb504f333f9de6484ull, 0xb6fd91e328d17791ull, 0xb8fbaf4762fb9ee9ull, 0xbaff5ab2133e45fbull,
	0xbd08a39f580c36beull, 0xbf1799b67a731082ull, 0xc12c4cca66709456ull, 0xc346ccda24976407ull,
	0xc5672a115506daddull, 0xc78d74c8abb9b15cull, 0xc9b9bd866e2f27a2ull, 0xcbec14fef2727c5cull,
	0xce248c151f8480e3ull, 0xd06333daef2b2594ull, 0xd2a81d91f12ae45aull, 0xd4f35aabcfedfa1full,
	0xd744fccad69d6af4ull, 0xd99d15c278afd7b5ull, 0xdbfbb797daf23755ull, 0xde60f4825e0e9123ull,
	0xe0ccdeec2a94e111ull, 0xe33f8972be8a5a51ull, 0xe5b906e77c8348a8ull, 0xe8396a503c4bdc68ull,
	0xeac0c6e7dd24392eull, 0xed4f301ed9942b84ull, 0xefe4b99bdcdaf5cbull, 0xf281773c59ffb139ull,
	0xf5257d152486cc2cull, 0xf7d0df730ad13bb8ull, 0xfa83b2db722a033aull, 0xfd3e0c0cf486c174ull,
};

void scheme_numbers(const struct scheme *scheme, struct scheme_numbers *ret_numbers)
{
	struct scheme_numbers *numbers = ret_numbers;

	numbers->n = 0;
	numbers->at = numbers->room;
	switch (scheme->kind) {
	case SCHEME_EXPONENTIAL:
	case SCHEME_LOGLINEAR:
		numbers->room[numbers->n++] = scheme->digits;
		break;
	case SCHEME_LINEAR:
		numbers->room[numbers->n++] = scheme->low;
		numbers->room[numbers->n++] = scheme->high;
		numbers->room[numbers->n++] = scheme->step;
		break;
	case SCHEME_BOUNDS:
		numbers->at = scheme->bounds;
		numbers->n = scheme->n_bounds;
		break;
	case SCHEME_LOG2:
	case SCHEME_N:
		break;
	}
}

static bool are_ascending(const s64 *numbers, u32 n)
{
	for (u32 i = 1; i < n; i++)
		if (numbers[i] <= numbers[i - 1])
			return false;
	return n > 0;
}

bool scheme_of_numbers(enum scheme_kind kind, const s64 *numbers, u32 n, struct scheme *ret_scheme)
{
	struct scheme *scheme = ret_scheme;

	*scheme = (struct scheme){ .kind = kind };
	switch (kind) {
	case SCHEME_LOG2:
		return n == 0;
	case SCHEME_EXPONENTIAL:
	case SCHEME_LOGLINEAR:
		if (n != 1)
			return false;
		scheme->digits = (u32)numbers[0];
		return kind == SCHEME_LOGLINEAR ? numbers[0] >= 1 && numbers[0] <= 10
						: numbers[0] >= 0 && numbers[0] <= 6;
	case SCHEME_LINEAR:
		if (n != 3)
			return false;
		scheme->low = numbers[0];
		scheme->high = numbers[1];
		scheme->step = numbers[2];
		return scheme->low < scheme->high && scheme->step > 0 &&
		       scheme_n_cells(scheme) <= SCHEME_CELLS_MAX;
	case SCHEME_BOUNDS:
		scheme->bounds = numbers;
		scheme->n_bounds = n;
		return are_ascending(numbers, n);
	case SCHEME_N:
		break;
	}
	return false;
}

void scheme_print(const struct scheme *scheme, struct buf *out)
{
	struct scheme_numbers numbers;

	BUG_ON(scheme->kind >= SCHEME_N);
	buf_puts(out, scheme_names[scheme->kind]);
	scheme_numbers(scheme, &numbers);
	for (u32 i = 0; i < numbers.n; i++) {
		buf_puts(out, i ? ", " : "(");
		buf_put_s128(out, numbers.at[i]);
	}
	buf_puts(out, numbers.n ? ")" : "");
}

/* "(1, 2, 5)", or nothing: up to `max` numbers.  false: the text is not of that form. */
static bool read_numbers(const char *text, s64 *ret_numbers, u32 max, u32 *ret_n)
{
	char *end;

	*ret_n = 0;
	if (!*text)
		return true;
	if (*text != '(')
		return false;
	do {
		if (*ret_n == max)
			return false;
		errno = 0;
		ret_numbers[(*ret_n)++] = strtoll(text + 1, &end, 10);
		if (errno || end == text + 1)
			return false;
		text = end;
	} while (*text == ',');
	return strcmp(text, ")") == 0;
}

bool scheme_read(const char *text, s64 *numbers, struct scheme *ret_scheme)
{
	size_t length = strcspn(text, "(");
	enum scheme_kind kind = SCHEME_LOG2;
	u32 n;

	while (kind < SCHEME_N &&
	       (strncmp(text, scheme_names[kind], length) != 0 || scheme_names[kind][length]))
		kind++;
	return read_numbers(text + length, numbers, SCHEME_BOUNDS_MAX, &n) &&
	       scheme_of_numbers(kind, numbers, n, ret_scheme);
}

bool scheme_equal(const struct scheme *a, const struct scheme *b)
{
	struct scheme_numbers x, y;

	scheme_numbers(a, &x);
	scheme_numbers(b, &y);
	return a->kind == b->kind && x.n == y.n && !memcmp(x.at, y.at, x.n * sizeof(*x.at));
}

bool scheme_takes_negative(const struct scheme *scheme)
{
	return scheme->kind == SCHEME_LINEAR || scheme->kind == SCHEME_BOUNDS;
}

u32 scheme_digits(const struct scheme *scheme)
{
	switch (scheme->kind) {
	case SCHEME_LOG2:
		return 0;
	case SCHEME_EXPONENTIAL:
		BUG_ON(scheme->digits > 6);
		return scheme->digits + 1;
	case SCHEME_LOGLINEAR:
		BUG_ON(!scheme->digits || scheme->digits > 10);
		return scheme->digits;
	case SCHEME_LINEAR:
	case SCHEME_BOUNDS:
	case SCHEME_N:
		break;
	}
	BUG("scheme %d starts with no logarithm", (int)scheme->kind);
}

/* v not 0. */
static u32 log2_floor(u64 v)
{
	u32 shift;

	for (shift = 1; shift < 64; shift *= 2)
		v |= v >> shift;
	return scheme_log2_table[(v * SCHEME_LOG2_MULTIPLIER) >> 58];
}

/* --- Loglinear cells; those of log2 have b = 0 --- */

static u32 loglinear_n_cells(u32 b)
{
	return (65 - b) << b;
}

static u32 loglinear_cell(u32 b, u64 v)
{
	u32 shift = log2_floor(v | 1ull << b) - b;

	return (shift << b) + (u32)(v >> shift);
}

/* [lo, hi): below 2^b each integer has a cell, above that (cell >> b) - 1 is the shift. */
static void loglinear_edges(u32 b, u32 cell, s128 *ret_lo, s128 *ret_hi)
{
	u32 shift = cell >> b ? (cell >> b) - 1 : 0;
	s128 mantissa = (s128)cell - ((s128)shift << b);

	*ret_lo = mantissa << shift;
	*ret_hi = (mantissa + 1) << shift;
}

/* --- Exponential cells --- */

static u32 exponential_n_cells(u32 s)
{
	return 2 + (64u << s);
}

/* floor(2^(j / 2^s)), j = 0 .. 64 * 2^s; the last is 2^64, no value, and stands as 2^64 - 1. */
static u64 exponential_threshold(u32 s, u32 j)
{
	u32 octave = j >> s;
	u32 part = j & ((1u << s) - 1);

	if (octave == 64)
		return UINT64_MAX;
	return powers[part << (6 - s)] >> (63 - octave);
}

/* 0, or 1 more than the smallest j with v <= 2^(j / 2^s): an edge belongs to the cell it ends. */
static u32 exponential_cell(u32 s, u64 v)
{
	u32 low, high;

	if (!v)
		return 0;
	/* 2^octave is an edge and not above v, the next power of two is above it. */
	low = log2_floor(v) << s;
	high = low + (1u << s);
	while (low < high) {
		u32 middle = (low + high) / 2;

		if (v <= exponential_threshold(s, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low + 1;
}

void scheme_exponential_tables(u32 s, struct arena *arena, struct scheme_exponential *ret_tables)
{
	u32 b = s + 1;
	u32 n = loglinear_n_cells(b);
	u16 *base = arena_array(arena, u16, n);
	u64 *threshold = arena_array(arena, u64, n);
	s128 lo, hi;
	u32 c, last;

	BUG_ON(s > 6);
	for (c = 0; c < n; c++) {
		loglinear_edges(b, c, &lo, &hi);
		base[c] = (u16)exponential_cell(s, (u64)lo);
		last = exponential_cell(s, (u64)(hi - 1));
		BUG_ON(last != base[c] && last != base[c] + 1u);
		threshold[c] = last == base[c] ? UINT64_MAX : exponential_threshold(s, base[c] - 1);
	}
	*ret_tables = (struct scheme_exponential){ .n = n, .base = base, .threshold = threshold };
}

/* --- Linear cells and bounds --- */

/* Cells of [low, high) alone; the last may be shorter than a step. */
static u64 linear_n_steps(const struct scheme *scheme)
{
	s128 width = (s128)scheme->high - scheme->low;

	BUG_ON(scheme->step <= 0 || width <= 0);
	return (u64)((width + scheme->step - 1) / scheme->step);
}

static u32 linear_cell(const struct scheme *scheme, s128 value)
{
	if (value < scheme->low)
		return 0;
	if (value >= scheme->high)
		return scheme_n_cells(scheme) - 1;
	return 1 + (u32)((value - scheme->low) / scheme->step);
}

/* The number of bounds at or below the value. */
static u32 bounds_cell(const struct scheme *scheme, s128 value)
{
	u32 low = 0, high = scheme->n_bounds;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (scheme->bounds[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- All schemes --- */

/* U32_MAX stands for a linear scheme with more cells than fit: far above SCHEME_CELLS_MAX. */
u32 scheme_n_cells(const struct scheme *scheme)
{
	u64 n;

	switch (scheme->kind) {
	case SCHEME_LOG2:
	case SCHEME_LOGLINEAR:
		return loglinear_n_cells(scheme_digits(scheme));
	case SCHEME_EXPONENTIAL:
		BUG_ON(scheme->digits > 6);
		return exponential_n_cells(scheme->digits);
	case SCHEME_LINEAR:
		n = linear_n_steps(scheme);
		return n > UINT32_MAX - 2 ? UINT32_MAX : (u32)n + 2;
	case SCHEME_BOUNDS:
		return scheme->n_bounds + 1;
	case SCHEME_N:
		break;
	}
	BUG("scheme %d", (int)scheme->kind);
}

u32 scheme_cell(const struct scheme *scheme, s128 value)
{
	BUG_ON(value < (scheme_takes_negative(scheme) ? VALUE_MIN : 0) || value >= VALUE_END);
	switch (scheme->kind) {
	case SCHEME_LOG2:
	case SCHEME_LOGLINEAR:
		return loglinear_cell(scheme_digits(scheme), (u64)value);
	case SCHEME_EXPONENTIAL:
		BUG_ON(scheme->digits > 6);
		return exponential_cell(scheme->digits, (u64)value);
	case SCHEME_LINEAR:
		return linear_cell(scheme, value);
	case SCHEME_BOUNDS:
		return bounds_cell(scheme, value);
	case SCHEME_N:
		break;
	}
	BUG("scheme %d", (int)scheme->kind);
}

/*
 * exponential(s): cell 0 is [0, 0], cell i is (T[i - 2], T[i - 1]] with T[-1] = 0: the same
 * integers as between the real edges.  Where no integer lies between two of those, the cell is
 * (T, T] and always empty.
 */
static void exponential_edges(u32 s, u32 cell, struct scheme_edges *edges)
{
	edges->is_lo_open = cell > 0;
	edges->is_hi_open = false;
	edges->lo = cell > 1 ? exponential_threshold(s, cell - 2) : 0;
	edges->hi = cell > 0 ? exponential_threshold(s, cell - 1) : 0;
}

/* Where there is no edge, lo and hi say how far values reach. */
void scheme_edges(const struct scheme *scheme, u32 cell, struct scheme_edges *ret_edges)
{
	struct scheme_edges edges = { .has_lo = true, .has_hi = true, .is_hi_open = true };
	u32 n = scheme_n_cells(scheme);

	BUG_ON(cell >= n);
	switch (scheme->kind) {
	case SCHEME_LOG2:
	case SCHEME_LOGLINEAR:
		loglinear_edges(scheme_digits(scheme), cell, &edges.lo, &edges.hi);
		break;
	case SCHEME_EXPONENTIAL:
		exponential_edges(scheme->digits, cell, &edges);
		break;
	case SCHEME_LINEAR:
		edges.lo = cell == n - 1 ? scheme->high
					 : scheme->low + ((s128)cell - 1) * scheme->step;
		edges.hi = MIN(scheme->low + (s128)cell * scheme->step, (s128)scheme->high);
		break;
	case SCHEME_BOUNDS:
		edges.lo = cell ? scheme->bounds[cell - 1] : 0;
		edges.hi = cell < n - 1 ? scheme->bounds[cell] : 0;
		break;
	case SCHEME_N:
		BUG("scheme %d", (int)scheme->kind);
	}
	if (scheme_takes_negative(scheme)) {
		edges.has_lo = cell > 0;
		edges.has_hi = cell < n - 1;
		edges.lo = edges.has_lo ? edges.lo : VALUE_MIN;
		edges.hi = edges.has_hi ? edges.hi : VALUE_END;
	}
	*ret_edges = edges;
}
