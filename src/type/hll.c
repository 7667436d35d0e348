/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * HyperLogLog: merging registers, and the estimate from how often each rank occurs.
 */
#include "type/hll.h"

#include <math.h>
#include <string.h>

u64 hll_hash_bytes(const void *bytes, size_t n)
{
	const u8 *at = bytes;
	u64 sum = HLL_OFFSET, word;

	for (u32 i = 0; n; i++) {
		size_t part = MIN(n, sizeof(word));

		word = 0;
		memcpy(&word, at, part);
		sum += word * hll_word_multiplier(i);
		at += part;
		n -= part;
	}
	return hll_mix(sum);
}

void hll_merge(u8 *to, const u8 *from, u32 bits)
{
	for (u32 i = 0; i < 1u << bits; i++)
		to[i] = MAX(to[i], from[i]);
}

/* x + sum over k >= 1 of x^(2^k) 2^(k - 1): what registers that are 0 stand for. */
static double sigma(double x)
{
	double y = 1, z = x, before;

	if (x == 1)
		return INFINITY;
	do {
		before = z;
		x *= x;
		z += x * y;
		y += y;
	} while (z != before);
	return z;
}

/* (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3: registers at the highest rank. */
static double tau(double x)
{
	double y = 1, z = 1 - x, before;

	if (x == 0 || x == 1)
		return 0;
	do {
		before = z;
		x = sqrt(x);
		y *= 0.5;
		z -= (1 - x) * (1 - x) * y;
	} while (z != before);
	return z / 3;
}

u64 hll_estimate(const u8 *registers, u32 bits)
{
	const u32 n = 1u << bits, top = 65 - bits;
	u32 counts[66] = { 0 };
	double z, estimate;

	for (u32 i = 0; i < n; i++)
		counts[MIN(registers[i], top)]++;
	z = n * tau(1 - (double)counts[top] / n);
	for (u32 rank = top - 1; rank > 0; rank--)
		z = 0.5 * (z + counts[rank]);
	z += n * sigma((double)counts[0] / n);
	/* z = 0: every register is at the highest rank. */
	estimate = (double)n * n / (2 * M_LN2 * z);
	return estimate < 0x1p64 ? (u64)(estimate + 0.5) : UINT64_MAX;
}

double hll_standard_error(u32 bits)
{
	return 1.04 / sqrt((double)(1u << bits));
}
