/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to phys/: the steps of phys_plan().
 */
#ifndef EBQL_PHYS_INTERNAL_H
#define EBQL_PHYS_INTERNAL_H

#include <string.h>

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
/* One that has a number. */
static inline bool stream_is_call(const struct stream *s)
{
	return (s->is_syscall_enter || s->is_syscall_exit) && s->syscall_nr >= 0;
}
/* call.c: how system calls are read where no setting says it; of entries and of returns. */
struct call_choice {
	struct arena *arena;
	enum access_path paths[2];
	u32 n_calls[2]; /* the most that one source has */
	double share;	/* as in phys_input, the largest */
	struct call_costs costs;
	bool is_dear;		 /* their own functions cost more */
	const char *why_no_call; /* they cannot be had; NULL: not asked, or they can */
};
void phys_choose_calls(struct call_choice *choice, const struct phys_set *set,
		       const struct phys_input *inputs, struct arena *arena);
enum access_path phys_call_path(const struct call_choice *choice, const struct settings *settings,
				bool is_exit);
const char *phys_why_calls(const struct call_choice *choice, const struct settings *settings,
			   bool is_exit);
/* Why its own function cannot bring the events of this scan of it, or NULL.  "": a catalog that is
 * a part of a kernel's does not have it. */
const char *phys_why_no_call(const struct phys_input *input, const struct phys_source *source,
			     const struct stream *s);
/* That function's id in BTF, and its name; 0: it is not there. */
u32 phys_call_function(const struct phys_input *input, const struct stream *s,
		       const char **ret_name);
/* It will be asked for: with the next search in BTF it is found, too. */
void phys_expect_call(const struct phys_input *input, const struct stream *s);
/* function.c: why the kernel takes no trampoline at that function, or NULL. */
const char *phys_why_no_trampoline(const struct kernel_features *features, u32 btf,
				   u32 function_btf_id, bool has_return,
				   enum setting_access setting);
/* function.c: how a function's entry or return is read; false after a diagnostic. */
bool phys_function_hook(const struct phys_input *input, const struct phys_source *source,
			const struct stream *s, struct arena *arena, struct diags *diags,
			struct hook *ret_hook);
/*
 * program.c: the hooks of a program's places, as few as can read what is wanted of each;
 * use.first_probe counts the source's names.  NULL after a diagnostic.
 */
struct program_hook {
	struct hook hook;
	struct hook_use use;
};
struct program_hook *phys_program_hooks(const struct phys_input *input,
					const struct phys_source *source, struct arena *arena,
					struct diags *diags, u32 *ret_n);
/* Of any system call's tracepoints. */
static inline bool is_of_calls(const struct stream *s)
{
	return s->category && strcmp(s->category, "syscalls") == 0;
}
/* meet.c: true, with a diagnostic: two of them may not be together. */
bool phys_refuse_hooks(const struct hook *hooks, u32 n, struct span span, struct diags *diags);
/* iterator.c: the same of a list of the kernel. */
bool phys_iterator_hook(const struct phys_input *input, const struct stream *s, struct arena *arena,
			struct diags *diags, struct hook *ret_hook);
/* All those of a wildcard by one program; false after a diagnostic. */
bool phys_functions_hook(const struct phys_input *input, const struct phys_source *source,
			 struct arena *arena, struct diags *diags, struct hook *ret_hook);
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
