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

/* floor(log2 v), v not 0. */
static u32 log2_floor(u64 v)
{
	u32 shift;

	for (shift = 1; shift < 64; shift *= 2)
		v |= v >> shift;
	return scheme_log2_table[(v * SCHEME_LOG2_MULTIPLIER) >> 58];
}

/* --- log2 and loglinear cells --- */

static bool loglinear_is_right(const struct scheme *scheme)
{
	return scheme->kind == SCHEME_LOG2 || (scheme->digits >= 1 && scheme->digits <= 10);
}

static u64 loglinear_n_cells(const struct scheme *scheme)
{
	return (u64)(65 - scheme->digits) << scheme->digits;
}

static u32 loglinear_cell(const struct scheme *scheme, s128 value)
{
	u32 b = (u32)scheme->digits, shift = log2_floor((u64)value | 1ull << b) - b;

	return (shift << b) + (u32)(value >> shift);
}

/* Below 2^b each integer has a cell, above that (cell >> b) - 1 is the shift. */
static void loglinear_edges(const struct scheme *scheme, u32 cell, struct scheme_edges *edges)
{
	u32 b = (u32)scheme->digits, shift = cell >> b ? (cell >> b) - 1 : 0;
	s128 mantissa = (s128)cell - ((s128)shift << b);

	edges->lo = mantissa << shift;
	edges->hi = (mantissa + 1) << shift;
}

/* --- Exponential cells --- */

static bool exponential_is_right(const struct scheme *scheme)
{
	return scheme->digits >= 0 && scheme->digits <= 6;
}

static u64 exponential_n_cells(const struct scheme *scheme)
{
	return 2 + (64ull << scheme->digits);
}

/* floor(2^(j / 2^s)), j = 0 .. 64 * 2^s; the last is 2^64, no value, and stands as 2^64 - 1. */
static u64 threshold_of(const struct scheme *scheme, u32 j)
{
	u32 s = (u32)scheme->digits, octave = j >> s, part = j & ((1u << s) - 1);

	return octave == 64 ? UINT64_MAX : powers[part << (6 - s)] >> (63 - octave);
}

/* 0, or 1 more than the smallest j with v <= 2^(j / 2^s): an edge belongs to the cell it ends. */
static u32 exponential_cell(const struct scheme *scheme, s128 value)
{
	u32 low, high;

	if (!value)
		return 0;
	/* 2^octave is an edge and not above v, the next power of two is above it. */
	low = log2_floor((u64)value) << scheme->digits;
	high = low + (1u << scheme->digits);
	while (low < high) {
		u32 middle = (low + high) / 2;

		if ((u64)value <= threshold_of(scheme, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low + 1;
}

/*
 * Cell 0 is [0, 0], cell i is (T[i - 2], T[i - 1]] with T[-1] = 0: the same integers as between
 * the real edges.  Where no integer lies between two of those, the cell is (T, T] and always
 * empty.
 */
static void exponential_edges(const struct scheme *scheme, u32 cell, struct scheme_edges *edges)
{
	edges->is_lo_open = cell > 0;
	edges->is_hi_open = false;
	edges->lo = cell > 1 ? threshold_of(scheme, cell - 2) : 0;
	edges->hi = cell > 0 ? threshold_of(scheme, cell - 1) : 0;
}

void scheme_exponential_tables(u32 s, struct arena *arena, struct scheme_exponential *ret_tables)
{
	const struct scheme cells = { .kind = SCHEME_LOGLINEAR, .digits = s + 1 };
	const struct scheme scheme = { .kind = SCHEME_EXPONENTIAL, .digits = s };
	u32 n = scheme_n_cells(&cells), last;
	u16 *base = arena_array(arena, u16, n);
	u64 *threshold = arena_array(arena, u64, n);
	struct scheme_edges edges;

	BUG_ON(s > 6);
	for (u32 c = 0; c < n; c++) {
		loglinear_edges(&cells, c, &edges);
		base[c] = (u16)exponential_cell(&scheme, edges.lo);
		last = exponential_cell(&scheme, edges.hi - 1);
		BUG_ON(last != base[c] && last != base[c] + 1u);
		threshold[c] = last == base[c] ? UINT64_MAX : threshold_of(&scheme, base[c] - 1);
	}
	*ret_tables = (struct scheme_exponential){ .n = n, .base = base, .threshold = threshold };
}

/* --- Linear cells and bounds --- */

static bool linear_is_right(const struct scheme *scheme)
{
	return scheme->low < scheme->high && scheme->step > 0 &&
	       scheme_n_cells(scheme) <= SCHEME_CELLS_MAX;
}

/* The last step may be shorter than the others. */
static u64 linear_n_cells(const struct scheme *scheme)
{
	s128 width = (s128)scheme->high - scheme->low;
	s128 n_steps = (width + scheme->step - 1) / scheme->step;

	return (u64)MIN(n_steps + 2, (s128)UINT32_MAX);
}

static u32 linear_cell(const struct scheme *scheme, s128 value)
{
	if (value < scheme->low)
		return 0;
	if (value >= scheme->high)
		return scheme_n_cells(scheme) - 1;
	return 1 + (u32)((value - scheme->low) / scheme->step);
}

static void linear_edges(const struct scheme *scheme, u32 cell, struct scheme_edges *edges)
{
	s128 high = scheme->high;

	edges->lo = MIN(scheme->low + ((s128)cell - 1) * scheme->step, high);
	edges->hi = MIN(scheme->low + (s128)cell * scheme->step, high);
}

static bool bounds_are_right(const struct scheme *scheme)
{
	for (u32 i = 1; i < scheme->n_bounds; i++)
		if (scheme->bounds[i] <= scheme->bounds[i - 1])
			return false;
	return scheme->n_bounds > 0;
}

static u64 bounds_n_cells(const struct scheme *scheme)
{
	return scheme->n_bounds + 1;
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

static void bounds_edges(const struct scheme *scheme, u32 cell, struct scheme_edges *edges)
{
	edges->lo = cell ? scheme->bounds[cell - 1] : 0;
	edges->hi = cell < scheme->n_bounds ? scheme->bounds[cell] : 0;
}

/* --- The table --- */

static const struct scheme_ops {
	const char *name;
	u32 n_numbers; /* in its parentheses; of bounds any */
	bool takes_negative;
	bool (*is_right)(const struct scheme *scheme);
	u64 (*n_cells)(const struct scheme *scheme);
	u32 (*cell)(const struct scheme *scheme, s128 value);
	/* Those that takes_negative says are not there, at the ends, may be anything. */
	void (*edges)(const struct scheme *scheme, u32 cell, struct scheme_edges *edges);
} schemes[SCHEME_N] = {
	[SCHEME_LOG2] = { "log2", 0, false, loglinear_is_right, loglinear_n_cells, loglinear_cell,
			  loglinear_edges },
	[SCHEME_EXPONENTIAL] = { "exponential", 1, false, exponential_is_right, exponential_n_cells,
				 exponential_cell, exponential_edges },
	[SCHEME_LOGLINEAR] = { "loglinear", 1, false, loglinear_is_right, loglinear_n_cells,
			       loglinear_cell, loglinear_edges },
	[SCHEME_LINEAR] = { "linear", 3, true, linear_is_right, linear_n_cells, linear_cell,
			    linear_edges },
	[SCHEME_BOUNDS] = { "bounds", 0, true, bounds_are_right, bounds_n_cells, bounds_cell,
			    bounds_edges },
};

static const struct scheme_ops *ops_of(const struct scheme *scheme)
{
	BUG_ON(scheme->kind >= SCHEME_N);
	return &schemes[scheme->kind];
}

const char *scheme_name(enum scheme_kind kind)
{
	return schemes[kind].name;
}

bool scheme_takes_negative(const struct scheme *scheme)
{
	return ops_of(scheme)->takes_negative;
}

u32 scheme_digits(const struct scheme *scheme)
{
	BUG_ON(scheme_takes_negative(scheme));
	return (u32)scheme->digits + (scheme->kind == SCHEME_EXPONENTIAL);
}

u32 scheme_n_cells(const struct scheme *scheme)
{
	return (u32)ops_of(scheme)->n_cells(scheme);
}

u32 scheme_cell(const struct scheme *scheme, s128 value)
{
	BUG_ON(value < (scheme_takes_negative(scheme) ? VALUE_MIN : 0) || value >= VALUE_END);
	return ops_of(scheme)->cell(scheme, value);
}

/* Where there is no edge, lo and hi say how far values reach. */
void scheme_edges(const struct scheme *scheme, u32 cell, struct scheme_edges *ret_edges)
{
	struct scheme_edges edges = { .has_lo = true, .has_hi = true, .is_hi_open = true };
	u32 n = scheme_n_cells(scheme);

	BUG_ON(cell >= n);
	ops_of(scheme)->edges(scheme, cell, &edges);
	if (scheme_takes_negative(scheme)) {
		edges.has_lo = cell > 0;
		edges.has_hi = cell < n - 1;
		edges.lo = edges.has_lo ? edges.lo : VALUE_MIN;
		edges.hi = edges.has_hi ? edges.hi : VALUE_END;
	}
	*ret_edges = edges;
}

/* --- As numbers and as text --- */

const s64 *scheme_numbers(const struct scheme *scheme, u32 *ret_n)
{
	bool has_bounds = scheme->kind == SCHEME_BOUNDS;

	*ret_n = has_bounds ? scheme->n_bounds : ops_of(scheme)->n_numbers;
	return has_bounds ? scheme->bounds : scheme->numbers;
}

bool scheme_of_numbers(enum scheme_kind kind, const s64 *numbers, u32 n, struct scheme *ret_scheme)
{
	struct scheme *scheme = ret_scheme;

	*scheme = (struct scheme){ .kind = kind };
	if (kind >= SCHEME_N || (kind != SCHEME_BOUNDS && n != schemes[kind].n_numbers))
		return false;
	if (kind == SCHEME_BOUNDS) {
		scheme->bounds = numbers;
		scheme->n_bounds = n;
	} else {
		memcpy(scheme->numbers, numbers, n * sizeof(*numbers));
	}
	return schemes[kind].is_right(scheme);
}

bool scheme_copy(const struct scheme *scheme, struct scheme *ret_copy)
{
	size_t n_bytes = scheme->n_bounds * sizeof(*scheme->bounds);
	s64 *bounds = n_bytes ? malloc(n_bytes) : NULL;

	if (bounds)
		memcpy(bounds, scheme->bounds, n_bytes);
	*ret_copy = *scheme;
	ret_copy->bounds = bounds;
	return bounds || !n_bytes;
}

void scheme_print(const struct scheme *scheme, struct buf *out)
{
	u32 n;
	const s64 *numbers = scheme_numbers(scheme, &n);

	buf_puts(out, scheme_name(scheme->kind));
	for (u32 i = 0; i < n; i++) {
		buf_puts(out, i ? ", " : "(");
		buf_put_s128(out, numbers[i]);
	}
	buf_puts(out, n ? ")" : "");
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
	       (strncmp(text, scheme_name(kind), length) != 0 || scheme_name(kind)[length]))
		kind++;
	return read_numbers(text + length, numbers, SCHEME_BOUNDS_MAX, &n) &&
	       scheme_of_numbers(kind, numbers, n, ret_scheme);
}

bool scheme_equal(const struct scheme *a, const struct scheme *b)
{
	u32 m, n;
	const s64 *x = scheme_numbers(a, &m), *y = scheme_numbers(b, &n);

	return a->kind == b->kind && m == n && !memcmp(x, y, n * sizeof(*x));
}
