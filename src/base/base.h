/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The words every layer shares: fixed-width integers, array size, minimum and
 * maximum, and how a bug of our own ends the process.  Holds no state.
 */
#ifndef EBQL_BASE_BASE_H
#define EBQL_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef __int128 s128;
typedef unsigned __int128 u128;

#define ARRAY_SIZE(a)  (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)      ((a) < (b) ? (a) : (b))
#define MAX(a, b)      ((a) > (b) ? (a) : (b))
#define ALIGN_UP(x, a) (((x) + (a)-1) / (a) * (a))
#define PRINTF(f, a)   __attribute__((format(printf, f, a)))

/* An error of ours, never the user's: says where and aborts, also in release builds. */
#define BUG(...) base_bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(condition)                                                                          \
	do {                                                                                       \
		if (__builtin_expect(!!(condition), 0))                                            \
			BUG("%s", #condition);                                                     \
	} while (0)

/* What holds unless we erred, looked at where b_ndebug is false. */
#ifdef NDEBUG
#define ASSERT(condition) ((void)sizeof(condition))
#else
#define ASSERT(condition) BUG_ON(!(condition))
#endif

_Noreturn void base_bug(const char *file, int line, const char *format, ...) PRINTF(3, 4);
/* Out of memory: one line on stderr, exit status 1. */
_Noreturn void base_no_memory(void);

/* 0 ... 15, or -1. */
static inline int base_hex_digit(char c)
{
	char lower = c | 0x20;

	if (c >= '0' && c <= '9')
		return c - '0';
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The greatest integer whose square is at most n. */
u64 base_root(u128 n);

/* Nanoseconds of CLOCK_MONOTONIC and of CLOCK_REALTIME. */
u64 base_monotonic_ns(void);
u64 base_realtime_ns(void);

#endif
