/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parts that are tables: files without times, which are read once, and lists of the kernel, which
 * are read anew whenever a batch is made.
 */
#include <errno.h>
#include <string.h>

#include "engine/internal.h"
#include "lite/lite.h"

static int put_row(struct flow *flow, struct flow_part *part, const struct value *row)
{
	if (!row_fifo_put(&part->queue, &part->pool, row))
		return -ENOMEM;
	return part->queue.n % FLOW_READ_ROWS ? 0 : flow_check_memory(flow);
}

static int read_file(struct flow *flow, struct flow_part *part, struct arena *arena)
{
	struct file_rows *rows = file_rows_open(part->part->file, flow->diags);
	struct value *row = arena_array(arena, struct value, part->part->columns.n_columns + 1);
	int got = rows ? 1 : -EINVAL, err;

	while (got > 0) {
		got = file_rows_next(rows, row);
		err = got > 0 ? put_row(flow, part, row) : 0;
		got = err ? err : got;
	}
	if (rows)
		file_rows_close(rows);
	return got;
}

static void set_rows(struct flow_part *part)
{
	relation_set_rows(part->relation, row_fifo_rows(&part->queue), part->queue.n);
}

int flow_open_table(struct flow *flow, struct flow_part *part, const struct load_hooks *list,
		    struct arena *arena)
{
	int err;

	if (list) {
		list_open(&part->list, list);
		part->row = arena_array(arena, struct value, part->part->columns.n_columns + 1);
		part->relation->expected_rows = 1000;
		flow->has_lists = true;
		return 0;
	}
	err = read_file(flow, part, arena);
	part->relation->expected_rows = part->queue.n + 1;
	set_rows(part);
	return err;
}

static int read_list(struct flow *flow, struct flow_part *part)
{
	const struct phys *phys = part->list.hooks->states[0].phys;
	const struct plan_project *project = &part->part->plan->project;
	const struct value *values;
	int got = list_begin(&part->list);

	flow_drop(part, part->queue.n);
	while (got >= 0 && (got = list_next(&part->list, &values)) > 0) {
		for (u32 i = 0; i < project->n_items; i++)
			part->row[i] = phys->item_columns[i] < 0
					       ? lite_constant(project->items[i].expr)
					       : values[phys->item_columns[i]];
		got = put_row(flow, part, part->row);
	}
	set_rows(part);
	if (got < 0 && !diags_failed(flow->diags))
		diag_failure(flow->diags, "iterator-read", "cannot read iter:%s: %s" HINT "%s",
			     part->list.hooks->programs[0].hook->target, strerror(-got),
			     diag_machine_hint(-got) ?: "before 5.19 each reading takes CAP_BPF");
	return got;
}

int flow_read_lists(struct flow *flow, struct account *account)
{
	/* Windows that rows end, and that end together, have one reading: the first's. */
	bool is_due = flow->has_lists && !flow->are_lists_read;
	int err = 0;

	for (u32 i = 0; is_due && i < flow->n_parts && !err; i++) {
		struct flow_part *part = &flow->parts[i];

		if (!part->list.hooks)
			continue;
		err = read_list(flow, part);
		account->lost[LOSS_FAULT] += part->list.n_faults;
	}
	flow->are_lists_read = true;
	return err;
}
