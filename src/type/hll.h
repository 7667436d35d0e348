/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * HyperLogLog: values -> 2^bits registers of a byte -> how many different values there
 * were.  Generated code computes the same hash and registers as hll_add() does.
 *
 * The low `bits` bits of a value's hash choose a register, which keeps the largest rank:
 * one more than the number of trailing zeros of the other bits.  Registers of two
 * sketches merge by their maximum, and are then those of the values of both.
 */
#ifndef EBQL_TYPE_HLL_H
#define EBQL_TYPE_HLL_H

#include "base/base.h"

#define HLL_BITS_MIN	 4u
#define HLL_BITS_MAX	 16u
#define HLL_BITS_DEFAULT 12u /* of an aggregate without groups */
#define HLL_BITS_GROUPED 10u

/* The finalizer of MurmurHash3's 128-bit form: two multiplications, three shifts; a bijection. */
#define HLL_MULTIPLIER_1 0xff51afd7ed558ccdull
#define HLL_MULTIPLIER_2 0xc4ceb9fe1a85ec53ull
#define HLL_SHIFT	 33
/* Added before it: 0 would stay 0. */
#define HLL_OFFSET 0x9e3779b97f4a7c15ull

static inline u64 hll_mix(u64 x)
{
	x ^= x >> HLL_SHIFT;
	x *= HLL_MULTIPLIER_1;
	x ^= x >> HLL_SHIFT;
	x *= HLL_MULTIPLIER_2;
	return x ^ x >> HLL_SHIFT;
}

/* What word i of a value is multiplied with: 1, then odd numbers that have nothing in common. */
static inline u64 hll_word_multiplier(u32 i)
{
	return i ? hll_mix(i * HLL_OFFSET) | 1 : 1;
}

/*
 * Of n words: an integer is one, a text as many as it takes, zero behind its end.  Words of
 * zeros at the end change nothing, so the width of a text's column does not matter.
 */
static inline u64 hll_hash(const u64 *words, u32 n)
{
	u64 sum = HLL_OFFSET;

	for (u32 i = 0; i < n; i++)
		sum += words[i] * hll_word_multiplier(i);
	return hll_mix(sum);
}

/* 1 .. 65 - bits */
static inline u8 hll_rank(u64 hash, u32 bits)
{
	return (u8)(1 + __builtin_ctzll(hash >> bits | 1ull << (64 - bits)));
}

static inline void hll_add(u8 *registers, u32 bits, u64 hash)
{
	u8 *at = &registers[hash & ((1u << bits) - 1)], rank = hll_rank(hash, bits);

	*at = MAX(*at, rank);
}

/* hll_hash() of a text or blob of n bytes. */
u64 hll_hash_bytes(const void *bytes, size_t n);
void hll_merge(u8 *to, const u8 *from, u32 bits);
/*
 * The number of different values, to the nearest integer: the improved raw estimator of
 * Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017),
 * section 4, which needs no tables and is unbiased from 0 on.
 */
u64 hll_estimate(const u8 *registers, u32 bits);
/* 1.04 / sqrt(2^bits) (Flajolet, Fusy, Gandouet, Meunier 2007): relative, one standard deviation.
 */
double hll_standard_error(u32 bits);

#endif
