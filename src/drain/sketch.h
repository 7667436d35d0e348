/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Merged cells of first, last, stddev and top_k: the values that they come to. */
#ifndef EBQL_DRAIN_SKETCH_H
#define EBQL_DRAIN_SKETCH_H

#include "drain/merge.h"
#include "drain/rows.h"

/* words: of the cell in an entry.  Texts point into it, top lists into the scratch. */
void first_last_value(const struct rows *rows, const struct cell *cell, const u64 *words,
		      struct value *ret_value);
void top_value(const struct rows *rows, const struct cell *cell, const u64 *words, u32 k,
	       struct value *ret_value);
/* NULL: there are too few values. */
void stddev_value(const u64 *squares, u64 n, s128 sum, bool is_population, struct value *ret_value);

#endif
