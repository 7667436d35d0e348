/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Do the programs of two queries do the same?  Then one state serves both: their windows, and what
 * they make of the groups, are user space's.  The same instructions over the same layout of maps
 * are the same sources, conditions, keys and cells, however they are written.
 */
#include <string.h>

#include "query/internal.h"

static bool is_same_bytes(const void *a, u64 n_a, const void *b, u64 n_b)
{
	return n_a == n_b && (!n_a || memcmp(a, b, n_a) == 0);
}

static bool is_same_program(const struct load_program *a, const struct load_program *b)
{
	const struct bpf_code *x = &a->code, *y = &b->code;

	return hook_is_same(a->hook, b->hook) &&
	       is_same_bytes(x->insns, x->n_insns * sizeof(*x->insns), y->insns,
			     y->n_insns * sizeof(*y->insns)) &&
	       is_same_bytes(x->relocs, x->n_relocs * sizeof(*x->relocs), y->relocs,
			     y->n_relocs * sizeof(*y->relocs));
}

/*
 * Groups in memory that several can read, and whose operators, or ends of windows, do not count for
 * one of them.  A
 * condition that always holds leaves no instruction, but then there is a count of what matched.
 */
static bool is_same_part(const struct phys *a, const struct phys *b)
{
	return !a->is_streaming && a->state.kind != STATE_KERNEL_MAP && !a->state.n_operators &&
	       !a->has_budget && a->wake_cell < 0 && a->pair_bytes == b->pair_bytes &&
	       a->has_matched == b->has_matched && a->matched_cell == b->matched_cell &&
	       is_same_bytes(&a->state, sizeof(a->state), &b->state, sizeof(b->state));
}

bool query_is_alike(const struct query *a, const struct query *b)
{
	const struct programs *x = a->programs, *y = b->programs;
	bool is_same =
		x->set->n_parts == y->set->n_parts && x->set->n_hooks == y->set->n_hooks &&
		is_same_bytes(x->constants.at, x->constants.n, y->constants.at, y->constants.n);

	for (u32 i = 0; is_same && i < x->set->n_parts; i++)
		is_same = is_same_part(x->set->parts[i], y->set->parts[i]);
	for (u32 i = 0; is_same && i < x->set->n_hooks; i++)
		is_same = is_same_program(&x->of_hook[i], &y->of_hook[i]);
	return is_same;
}
