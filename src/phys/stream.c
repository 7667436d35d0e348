/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The items of a projection -> the columns of a streamed row: each value once, and no
 * constants.
 */
#include "phys/internal.h"

/* One bit each in the row's null mask. */
#define STREAM_COLUMNS_MAX 64

typedef VEC(struct stream_column) column_vec;

static s32 column_of(struct phys *phys, column_vec *columns, struct expr *e)
{
	struct stream_column c = { .expr = e, .type = e->type };

	if (expr_is_constant(e))
		return -1;
	for (u32 i = 0; i < columns->n; i++)
		if (expr_equal(columns->at[i].expr, e))
			return (s32)i;
	c.is_probe = e->kind == EXPR_SYSTEM && e->index == SYS_PROBE;
	c.n_bytes = e->type.kind == TYPE_TEXT && !c.is_probe ? (u32)ALIGN_UP(e->type.bytes, 8) : 8;
	c.bytes_offset = phys->row_bytes;
	phys->row_bytes += c.n_bytes;
	vec_push(phys->arena, columns, c);
	return (s32)columns->n - 1;
}

bool phys_stream(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	const struct plan *project = plan_find(input->plan, PLAN_PROJECT);
	column_vec columns = { 0 };

	if (!phys->is_streaming)
		return true;
	phys->item_columns = arena_array(phys->arena, s32, project->project.n_items);
	phys->row_bytes = sizeof(struct stream_header);
	for (u32 i = 0; i < project->project.n_items; i++)
		phys->item_columns[i] = column_of(phys, &columns, project->project.items[i].expr);
	phys->columns = columns.at;
	phys->n_columns = columns.n;
	if (columns.n <= STREAM_COLUMNS_MAX)
		return true;
	diag_hint(diags,
		  diag_error(diags, "too-many-columns", input->plan->span,
			     "a streamed row has at most %u columns", STREAM_COLUMNS_MAX),
		  "select fewer of them");
	return false;
}
