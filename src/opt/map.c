/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Walking plans by copy, for rules that look at one operator at a time.
 */
#include "opt/rules.h"

struct plan *opt_map(struct plan *plan, struct arena *arena,
		     void (*change)(struct plan *copy, struct arena *arena))
{
	struct plan *copy = plan_copy(plan, arena), **below;

	for (u32 i = 0; !plan_reads_selects(copy) && (below = plan_slot(copy, i)); i++)
		*below = opt_map(*below, arena, change);
	change(copy, arena);
	return copy;
}
