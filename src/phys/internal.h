/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to phys/: the steps of phys_plan().
 */
#ifndef EBQL_PHYS_INTERNAL_H
#define EBQL_PHYS_INTERNAL_H

#include "phys/phys.h"

/* rows.c: sources and their ways, joins with their keys. */
void phys_rows(struct phys *phys, const struct phys_input *input);
/*
 * Visits the expressions (as wholes) that events of a source meet from step `from` of
 * their way on: what a STORE at its end stores, and what the output takes of them,
 * included.
 */
void phys_each_behind(const struct phys *phys, const struct phys_source *source, u32 from,
		      void (*visit)(void *context, struct expr *expr), void *context);
/* scans.c: the scans alone, with the columns that they stream. */
bool phys_scans(struct phys *phys, const struct phys_input *input, struct diags *diags);
/* access.c: hooks and probes of all parts.  false after a diagnostic. */
bool phys_access(struct phys_set *set, const struct phys_input *inputs, struct arena *arena,
		 struct diags *diags);
/* hooks.c: how many programs of the part (NULL: of any) can be on one CPU at once. */
u32 phys_levels(const struct phys_set *set, const struct phys *phys,
		const struct kernel_features *features);
/* A key of fewer values indexes its rows, or slots, directly. */
#define PHYS_DIRECT_MAX 4096
/* How far into a map's value the verifier follows an offset: BPF_MAX_VAR_OFF. */
#define PHYS_OFFSET_MAX (1ull << 29)
/* The largest array value before has_large_array_value: KMALLOC_MAX_SIZE. */
#define PHYS_VALUE_MAX (4ull << 20)
/* Where the words of keys lie (expr, name and is_slice are given); how many there are. */
u32 phys_key_words(struct phys_key *keys, u32 n);
/* function.c: how a function's entry or return is read; false after a diagnostic. */
bool phys_function_hook(const struct phys_input *input, const struct phys_source *source,
			const struct stream *s, struct arena *arena, struct diags *diags,
			struct hook *ret_hook);
/* iterator.c: the same of a list of the kernel. */
bool phys_iterator_hook(const struct phys_input *input, const struct stream *s, struct arena *arena,
			struct diags *diags, struct hook *ret_hook);
/* state.c: keys, state layout. */
bool phys_state(struct phys *phys, const struct phys_input *input, struct diags *diags);
/* cell.c: aggregates and the cells that they read; state.kind is known before, offsets are not. */
void phys_cells(struct phys *phys, const struct plan *agg);
void phys_cell_print(const struct cell *cell, struct buf *out);
/* stream.c: words of a value: a probe is a code. */
u32 phys_words(const struct expr *e);
/* The columns of streamed rows. */
#define STREAM_COLUMNS_MAX 64u /* a bit each in the row's header, and one more that may fault */
/* The column of that expression of the tree, added if it is new; -1 after a diagnostic. */
s32 phys_stream_column(struct stream_column *columns, u32 *n_columns, u32 *row_bytes,
		       struct expr *e, const struct plan *tree, struct diags *diags);
bool phys_stream(struct phys *phys, const struct phys_input *input, struct diags *diags);
/* join.c: what each join stores, and its table; after all that the output needs is known. */
bool phys_joins(struct phys *phys, const struct phys_input *input, struct diags *diags);
/* starts.c: parts that are planned together keep starts once. */
void phys_share_all_starts(struct phys_set *set);
/* share.c: */
bool phys_has_same_streams(const struct hook_use *a, const struct hook_use *b);
/* running.c: the tables of running sums, behind those of the joins. */
bool phys_runnings(struct phys *phys, const struct phys_input *input, struct diags *diags);

#endif
