/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Vector: a growing array in an arena.  VEC(struct thing) names the type,
 * vec_push(arena, &v, item) appends; v.at[i] and v.n read.
 */
#ifndef EBQL_BASE_VEC_H
#define EBQL_BASE_VEC_H

#include "base/arena.h"

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		u32 n, capacity;                                                                   \
	}

#define vec_push(arena, v, ...)                                                                    \
	do {                                                                                       \
		if ((v)->n == (v)->capacity) {                                                     \
			u32 more_ = (v)->capacity ? 2 * (v)->capacity : 8;                         \
			(v)->at = arena_grow((arena), (v)->at, (v)->n * sizeof(*(v)->at),          \
					     more_ * sizeof(*(v)->at));                            \
			(v)->capacity = more_;                                                     \
		}                                                                                  \
		/* The value may ask for n, which is its index. */                                 \
		(v)->at[(v)->n] = (__VA_ARGS__);                                                   \
		(v)->n++;                                                                          \
	} while (0)

#endif
