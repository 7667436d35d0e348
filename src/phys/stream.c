/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The items of a projection -> the columns of a streamed row: each value once, and no
 * constants.
 */
#include "phys/internal.h"

u32 phys_words(const struct expr *e)
{
	bool is_probe = e->kind == EXPR_SYSTEM && e->index == SYS_PROBE;

	return e->type.kind == TYPE_TEXT && !is_probe ? (u32)ALIGN_UP(e->type.bytes, 8) / 8 : 1;
}

s32 phys_stream_column(struct stream_column *columns, u32 *n_columns, u32 *row_bytes,
		       struct expr *e, const struct plan *tree, struct diags *diags)
{
	struct stream_column c = { .expr = e, .type = e->type, .fault_bit = -1 };
	bool can_fault = expr_can_fault(e, tree);
	u32 n_faults = 0;

	for (u32 i = 0; i < *n_columns; i++) {
		if (expr_equal(columns[i].expr, e))
			return (s32)i;
		n_faults += columns[i].fault_bit >= 0;
	}
	if (*n_columns + 1 + n_faults + can_fault > STREAM_COLUMNS_MAX) {
		diag_refuse(diags, "too-many-columns", e->span,
			    "a streamed row has at most %u columns" HINT
			    "select fewer of them; one whose reading may fail counts twice",
			    STREAM_COLUMNS_MAX);
		return -1;
	}
	if (can_fault)
		c.fault_bit = 63 - (s32)n_faults;
	c.is_probe = e->kind == EXPR_SYSTEM && e->index == SYS_PROBE;
	c.n_bytes = 8 * phys_words(e);
	c.bytes_offset = *row_bytes;
	*row_bytes += c.n_bytes;
	columns[*n_columns] = c;
	return (s32)(*n_columns)++;
}

bool phys_stream(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	const struct plan *project = plan_find(input->plan, PLAN_PROJECT);

	if (!phys->is_streaming)
		return true;
	phys->item_columns = arena_array(phys->arena, s32, project->project.n_items);
	phys->columns = arena_array(phys->arena, struct stream_column, STREAM_COLUMNS_MAX);
	phys->row_bytes = sizeof(struct stream_header);
	for (u32 i = 0; i < project->project.n_items; i++) {
		struct expr *e = project->project.items[i].expr;
		s32 *column = &phys->item_columns[i];

		*column = -1;
		if (expr_is_constant(e))
			continue;
		*column = phys_stream_column(phys->columns, &phys->n_columns, &phys->row_bytes, e,
					     input->plan, diags);
		if (*column < 0)
			return false;
	}
	/* The row that an iterator's program makes, behind its slices. */
	if (phys->set->hooks[0].path == ACCESS_ITERATOR) {
		phys->state.rows_bytes_offset = (u32)phys->state.total_bytes;
		phys->state.total_bytes += phys->row_bytes;
	}
	return true;
}
