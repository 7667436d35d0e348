/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What happens in a flow, and when.
 *
 * Live (a part has streams): windows of time end at multiples of the advance on the wall
 * clock.  At such an instant the load of each part is flipped: when that returns, every
 * event from before is in the ring buffer, so the rows from before the nominal instant
 * are all there, and those from behind it wait in their source.  Where a part is
 * aggregated in the kernel, its switch is the instant.
 *
 * Files alone: the rows' own times are the clock, and it runs as fast as they are read.
 */
#include <errno.h>
#include <string.h>

#include "engine/flow_internal.h"
#include "engine/loop.h"

/* --- Opening --- */

static int take_groups(void *context, const struct batch *batch)
{
	struct flow_part *part = context;

	part->groups = *batch;
	part->has_groups = true;
	return 0;
}

/* A file without times: all its rows, read once. */
static int read_table(struct flow *flow, struct flow_part *part, struct arena *arena)
{
	u32 width = part->part->columns.n_columns;
	struct file_rows *rows = file_rows_open(part->part->file, flow->diags);
	struct value *row = arena_array(arena, struct value, width + 1);
	int got = rows ? 1 : -EINVAL;

	while (got > 0) {
		got = file_rows_next(rows, row);
		if (got > 0)
			row_fifo_put(&part->queue, row_pool_take(&part->pool, row));
		if (got > 0 && !(part->queue.n % FLOW_READ_ROWS) && flow_check_memory(flow))
			got = -E2BIG;
	}
	if (rows)
		file_rows_close(rows);
	return got;
}

static int open_part(struct flow *flow, u32 number, struct load *load, struct arena *arena)
{
	struct flow_part *part = &flow->parts[number];
	const struct cut_part *of = &flow->cut->parts[number];
	struct relation *relation = &flow->relations[number];
	const struct run_sink sink = { .batch = take_groups, .context = part };

	*part = (struct flow_part){ .part = of, .load = load };
	*relation = (struct relation){ .name = of->name,
				       .columns = &of->columns,
				       .n_columns = of->columns.n_columns,
				       .expected_rows = of->kind == PART_GROUPS ? 1000 : 100000 };
	row_pool_open(&part->pool, of->columns.n_columns);
	flow->is_live |= of->has_streams || of->kind == PART_GROUPS;
	switch (of->kind) {
	case PART_GROUPS:
		flow->has_groups = true;
		part->run = run_open(load, &flow->options, &sink, arena, flow->diags);
		return part->run ? 0 : -EINVAL;
	case PART_ROWS:
		flow->has_rows = true;
		relation->has_sessions = flow->is_grouped;
		part->source = row_source_open(of, load, loop_cancel(), arena, flow->diags);
		return part->source ? 0 : -EINVAL;
	case PART_TABLE:
		if (read_table(flow, part, arena))
			return -EINVAL;
		relation->expected_rows = part->queue.n + 1;
		relation_set_rows(relation, row_fifo_rows(&part->queue), part->queue.n);
		return 0;
	}
	BUG("kind of part");
}

/* Of all rows that are recorded, those that WHERE drops too: windows begin and end with them. */
static void find_span(struct flow *flow)
{
	u64 first_ns, last_ns;

	for (u32 i = 0; i < flow->n_parts; i++) {
		if (!flow->parts[i].source ||
		    !row_source_span(flow->parts[i].source, &first_ns, &last_ns))
			continue;
		flow->first_ns = flow->has_span ? MIN(flow->first_ns, first_ns) : first_ns;
		flow->last_ns = flow->has_span ? MAX(flow->last_ns, last_ns) : last_ns;
		flow->has_span = true;
	}
}

struct flow *flow_open(const struct cut *cut, struct load *const *loads,
		       const struct run_options *options, const struct run_sink *sink,
		       const struct settings *settings, struct arena *arena, struct diags *diags)
{
	struct flow *flow = arena_new(arena, struct flow);
	int err = 0;

	flow->cut = cut;
	flow->options = *options;
	flow->sink = *sink;
	flow->diags = diags;
	flow->max_bytes = FLOW_MAX_BYTES;
	flow->result.child_status = -1;
	flow->limit = options->n_rows ? options->n_rows : UINT64_MAX;
	if (cut->is_streaming && cut->limit >= 0)
		flow->limit = MIN(flow->limit, (u64)cut->limit);
	flow->is_grouped = cut->window.kind == WINDOW_SESSION ||
			   (cut->window.kind == WINDOW_COUNT && cut->window.scope != COUNT_GLOBAL);
	flow->parts = arena_array(arena, struct flow_part, cut->n_parts + 1);
	flow->relations = arena_array(arena, struct relation, cut->n_parts + 1);
	flow->start = flow->window = flow_now(flow);
	for (; flow->n_parts < cut->n_parts && !err; flow->n_parts++)
		err = open_part(flow, flow->n_parts, loads[flow->n_parts], arena);
	if (!err && !flow->is_live)
		find_span(flow);
	if (!err && flow->is_grouped)
		err = flow_groups_open(flow, arena);
	if (!err)
		err = flow_sql_open(&flow->sql, cut, flow->relations, loop_cancel(), diags);
	if (!err)
		return flow;
	flow_close(flow);
	return NULL;
}

void flow_close(struct flow *flow)
{
	/* First the connection, whose tables are the relations. */
	flow_sql_close(&flow->sql);
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];

		relation_close(&flow->relations[i]);
		if (part->run)
			run_close(part->run);
		if (part->source)
			row_source_close(part->source);
		row_fifo_close(&part->queue);
		row_pool_close(&part->pool);
	}
	flow_groups_close(flow);
	region_free(&flow->panes);
}

/* --- Rows --- */

/* The number read, from all parts; *ret_more: some part may have more. */
static int read_parts(struct flow *flow, struct flow_instant before, u64 *ret_n, bool *ret_more)
{
	*ret_n = 0;
	*ret_more = false;
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];
		s64 n;

		if (!part->source)
			continue;
		n = flow_read(flow, part, flow_row_time(part, before), FLOW_READ_ROWS);
		if (n < 0)
			return (int)n;
		*ret_n += (u64)n;
		*ret_more |= n > 0;
	}
	return flow_check_memory(flow);
}

static int read_all(struct flow *flow, struct flow_instant before)
{
	bool is_more = true;
	int err = 0;
	u64 n;

	while (is_more && !err)
		err = read_parts(flow, before, &n, &is_more);
	return err;
}

static int flip_rows(struct flow *flow)
{
	int err = 0;

	for (u32 i = 0; i < flow->n_parts && !err; i++)
		if (flow->parts[i].source && flow->parts[i].load)
			err = load_flip(flow->parts[i].load);
	return err;
}

/* Streamed rows: those in the queues are one batch. */
static int stream_take(struct flow *flow)
{
	struct flow_account account;
	u64 n = 0;
	int err;

	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];

		if (!part->source)
			continue;
		n += part->queue.n;
		relation_set_rows(&flow->relations[i], row_fifo_rows(&part->queue), part->queue.n);
	}
	if (!n || flow->n_streamed >= flow->limit)
		return 0;
	flow_account(flow);
	account = flow->total;
	err = flow_give(flow, flow->is_live ? flow->start.real_ns : flow->first_ns,
			flow->is_live ? base_realtime_ns() : flow->last_ns, &account, true, false);
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].source)
			flow_drop(&flow->parts[i], flow->parts[i].queue.n);
	return err;
}

/* What is in the queues, into windows that rows end, or into a batch of streamed rows. */
static int take_rows(struct flow *flow, u64 before_ns)
{
	if (flow->is_grouped)
		return flow_groups_take(flow, before_ns, false);
	if (flow->cut->window.kind == WINDOW_COUNT)
		return flow_count_take(flow, false);
	return stream_take(flow);
}

static bool is_over(const struct flow *flow)
{
	return flow->is_ended || (flow->cut->is_streaming && flow->n_streamed >= flow->limit);
}

/* Do rows end the windows, and not the clock? */
static bool is_row_driven(const struct flow *flow)
{
	if (!flow->has_rows)
		return false;
	return flow->cut->is_streaming || flow->cut->window.kind == WINDOW_COUNT ||
	       flow->cut->window.kind == WINDOW_SESSION;
}

/* --- Live --- */

static u64 advance_ns(const struct flow *flow)
{
	const struct cut_window *window = &flow->cut->window;

	return window->kind == WINDOW_HOPPING ? window->advance : window->size;
}

static bool is_timed(const struct flow *flow)
{
	return flow->cut->window.kind == WINDOW_TUMBLING ||
	       flow->cut->window.kind == WINDOW_HOPPING;
}

/* Switches all loads, one right behind the other; those of groups first. */
static int switch_all(struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].run)
			window_switch(flow->parts[i].run);
	return flip_rows(flow);
}

/*
 * Attaching takes 0.1 ms for some hooks and 10 for others.  Where several loads are attached
 * one after the other, they begin together when all are: what came before is forgotten.
 */
static int start_together(struct flow *flow)
{
	int err;

	flow->start = flow->window = flow_now(flow);
	err = switch_all(flow);
	for (u32 i = 0; i < flow->n_parts && !err; i++)
		if (flow->parts[i].run)
			err = window_restart(flow->parts[i].run);
	if (err == -EBUSY) /* a CPU was stuck: the start is a little less exact */
		err = 0;
	if (!err)
		err = read_all(flow, flow->start);
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].source)
			flow_drop(&flow->parts[i], flow->parts[i].queue.n);
	flow_account(flow);
	flow->since = flow->total = (struct flow_account){ 0 };
	return err;
}

static int flow_attach(void *context)
{
	struct flow *flow = context;
	u32 n_loads = 0;
	int err = 0;

	flow->start = flow->window = flow_now(flow);
	for (u32 i = 0; i < flow->n_parts && !err; i++) {
		struct flow_part *part = &flow->parts[i];

		if (part->run)
			part->run->start_ns = part->run->window_start_ns = base_realtime_ns();
		if (part->load)
			err = load_attach(part->load, flow->diags);
		n_loads += part->load != NULL;
	}
	for (u32 i = 0; i < flow->n_parts && !err; i++)
		if (flow->parts[i].run)
			err = window_open_user(flow->parts[i].run);
	if (!err && n_loads > 1)
		err = start_together(flow);
	if (flow->is_live && is_timed(flow))
		flow->next_ns = (flow->start.real_ns / advance_ns(flow) + 1) * advance_ns(flow);
	return err;
}

static void flow_detach(void *context)
{
	struct flow *flow = context;

	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].load)
			load_detach(flow->parts[i].load);
}

/*
 * Closes the parts that the kernel aggregates.  *ret_end: the instant at which the first
 * of them switched; left alone when there is none.
 */
static int close_groups(struct flow *flow, struct flow_instant now, bool is_last,
			struct flow_instant *ret_end)
{
	bool is_first = true;

	for (u32 i = 0; i < flow->n_parts; i++) {
		struct run *run = flow->parts[i].run;
		int err;

		if (!run)
			continue;
		run->diags = flow->diags;
		err = is_last ? window_close_last(run) : window_close_at(run, now.real_ns);
		if (err)
			return err;
		/* The next window begins where this one ended. */
		if (is_first)
			*ret_end = (struct flow_instant){ run->window_start_ns,
							  run->window_start_ns -
								  (u64)flow->real_offset_ns };
		is_first = false;
	}
	return 0;
}

static const struct run *first_run(const struct flow *flow)
{
	u32 i = 0;

	while (!flow->parts[i].run)
		i++;
	return flow->parts[i].run;
}

/*
 * The nominal instant, on both clocks.  Where the clock of the day was set meanwhile, it
 * is no longer behind the window's start: then it is now.
 */
static struct flow_instant instant_at(const struct flow *flow, struct flow_instant now, u64 ns)
{
	struct flow_instant at = { ns, ns - (u64)flow->real_offset_ns };

	if (at.monotonic_ns <= flow->window.monotonic_ns || at.monotonic_ns > now.monotonic_ns)
		at.monotonic_ns = now.monotonic_ns;
	return at;
}

#define LATE_MAX 64 /* windows that are made up for; more, and the clock was set */

/* Windows of rows: every nominal end that passed, though their turn came late. */
static int rows_due(struct flow *flow, struct flow_instant now, bool *ret_is_over)
{
	u64 advance = advance_ns(flow), last_ns = now.real_ns / advance * advance;
	int err = 0;

	if (last_ns < flow->next_ns && flow->next_ns - last_ns <= advance)
		return 0; /* none */
	if (last_ns < flow->next_ns || last_ns - flow->next_ns > LATE_MAX * advance)
		flow->next_ns = last_ns;
	while (!err && flow->next_ns <= last_ns) {
		struct flow_instant end = instant_at(flow, now, flow->next_ns);

		if (flow_is_last_window(flow)) {
			*ret_is_over = true;
			flow->end = end;
			return 0;
		}
		err = read_all(flow, end);
		if (!err)
			err = flow_window_give(flow, end, flow->next_ns, false);
		flow->next_ns += advance;
	}
	return err;
}

/* A window, pane or snapshot of groups, perhaps with rows beside them. */
static int groups_boundary(struct flow *flow, struct flow_instant now, bool *ret_is_over)
{
	bool is_due = window_is_due(first_run(flow), now.real_ns);
	struct flow_instant end = now;
	u64 end_ns = now.real_ns;
	int err;

	if (flow_is_last_window(flow) && is_due) {
		*ret_is_over = true;
		return 0;
	}
	err = switch_all(flow);
	if (!err)
		err = close_groups(flow, now, false, &end);
	if (err)
		return err;
	if (!is_due) {
		flow_pane_end(flow, end);
		return 0;
	}
	err = read_all(flow, end);
	if (err)
		return err;
	if (is_timed(flow)) {
		end_ns = now.real_ns / advance_ns(flow) * advance_ns(flow);
		flow->next_ns = end_ns + advance_ns(flow);
	}
	return flow_window_give(flow, end, end_ns, false);
}

static int flow_boundary(void *context, bool *ret_is_over)
{
	struct flow *flow = context;
	struct flow_instant now = flow_now(flow);
	int err;

	if (flow->has_groups)
		return groups_boundary(flow, now, ret_is_over);
	if (!is_timed(flow) && flow_is_last_window(flow)) {
		*ret_is_over = true;
		return 0;
	}
	err = flip_rows(flow);
	if (is_timed(flow))
		return err ? err : rows_due(flow, now, ret_is_over);
	if (!err)
		err = read_all(flow, now);
	return err ? err : flow_window_give(flow, now, now.real_ns, false);
}

static int live_poll(struct flow *flow, bool *ret_more)
{
	struct flow_instant now = flow_now(flow);
	struct relation *relation;
	u64 n, before_ns = 0;
	int err = 0;

	*ret_more = false;
	for (u32 i = 0; i < flow->n_parts && !err; i++)
		if (flow->parts[i].source)
			err = row_source_poll(flow->parts[i].source);
	if (err || !is_row_driven(flow))
		return err;
	err = flip_rows(flow);
	if (err)
		return err == -EBUSY ? 0 : err;
	err = read_parts(flow, now, &n, ret_more);
	if (err)
		return err;
	if (!*ret_more)
		before_ns = flow_row_time(flow_row_part(flow, &relation), now);
	return take_rows(flow, before_ns);
}

/* --- Files --- */

/* Windows of the rows' own time: one lot of rows, or the window they are complete for. */
static int file_window(struct flow *flow, bool *ret_more)
{
	u64 advance = advance_ns(flow), n;
	bool is_last;
	int err;

	if (!flow->has_span)
		return 0;
	if (!flow->next_ns) {
		err = flow_check_span(flow, advance);
		if (err)
			return err;
		flow->next_ns = (flow->first_ns / advance + 1) * advance;
	}
	err = read_parts(flow, (struct flow_instant){ flow->next_ns, flow->next_ns }, &n, ret_more);
	if (err || *ret_more)
		return err;
	is_last = flow->next_ns > flow->last_ns || flow_is_last_window(flow);
	err = flow_window_give(flow, (struct flow_instant){ flow->next_ns, flow->next_ns },
			       flow->next_ns, is_last);
	flow->next_ns += advance;
	*ret_more = !is_last;
	return err;
}

static int file_poll(struct flow *flow, bool *ret_more)
{
	const struct flow_instant end_of_time = { UINT64_MAX, UINT64_MAX };
	u64 n;
	int err;

	*ret_more = false;
	if (!flow->has_rows)
		return 0;
	if (is_timed(flow))
		return file_window(flow, ret_more);
	err = read_parts(flow, end_of_time, &n, ret_more);
	if (err || !is_row_driven(flow))
		return err;
	return take_rows(flow, 0);
}

/* --- Both --- */

/* Windows of time tell their losses when they end. */
static bool ends_at_loss(const struct flow *flow)
{
	return flow->options.ends_at_loss && !is_timed(flow);
}

static bool has_loss(struct flow *flow)
{
	flow_account(flow);
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].run && window_has_loss(flow->parts[i].run))
			return true;
	return losses_are_biased(flow->total.lost, flow->total.unpaired);
}

static int flow_poll(void *context, bool *ret_more, bool *ret_is_over)
{
	struct flow *flow = context;
	int err = flow->is_live ? live_poll(flow, ret_more) : file_poll(flow, ret_more);

	*ret_is_over = is_over(flow) || (!err && ends_at_loss(flow) && has_loss(flow)) ||
		       (!flow->is_live && !*ret_more);
	flow->result.is_partial = !flow->is_live && !*ret_is_over;
	return err;
}

/* The last batch, of all that is in the queues. */
static int give_last(struct flow *flow, struct flow_instant end)
{
	struct flow_account account;

	if (flow->is_ended)
		return 0;
	if (flow->is_grouped)
		return flow_groups_take(flow, 0, true);
	if (flow->cut->window.kind == WINDOW_COUNT)
		return flow_count_take(flow, true);
	if (is_timed(flow) && flow->next_ns && (flow->is_live || flow->total.matched))
		return flow_window_give(flow, end, flow->next_ns, true);
	if (!is_row_driven(flow) && !is_timed(flow))
		return flow_window_give(flow, end, end.real_ns, true);
	flow_account(flow);
	account = flow->total;
	return flow_give(flow, flow->is_live ? flow->start.real_ns : flow->first_ns,
			 flow->is_live ? end.real_ns : flow->last_ns, &account, false, true);
}

/* Behind the last row: the starts of joins that never met an end. */
static void finish_rows(struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].source)
			row_source_finish(flow->parts[i].source);
}

static int flow_last(void *context)
{
	struct flow *flow = context;
	struct flow_instant end = flow_now(flow);
	bool is_over;
	int err = 0;

	if (flow->is_live) {
		/* Where the switch fails, detaching does: programs end before it returns. */
		switch_all(flow);
		flow_account(flow);
		err = close_groups(flow, end, true, &end);
		flow_detach(flow);
		if (!err && is_timed(flow) && !flow->has_groups && !flow->end.real_ns)
			err = rows_due(flow, end, &is_over);
		if (flow->end.real_ns)
			end = flow->end;
		if (!err)
			err = read_all(flow, end);
	} else if (is_timed(flow)) {
		end = (struct flow_instant){ flow->next_ns, flow->next_ns };
	}
	finish_rows(flow);
	if (!err && !flow->is_ended && is_row_driven(flow))
		err = take_rows(flow, 0);
	return err ? err : give_last(flow, end);
}

static u64 period_ns(const struct flow *flow)
{
	if (!flow->is_live || is_row_driven(flow))
		return 0;
	if (flow->has_groups)
		return window_period_ns(first_run(flow));
	return is_timed(flow) ? advance_ns(flow) : flow->options.every_ns;
}

static void sum_up(struct flow *flow)
{
	struct run_result *result = &flow->result;
	struct flow_account all = flow->total;

	flow_account_add(&all, &flow->sql_lost);
	for (u32 i = 0; i < flow->n_parts; i++) {
		const struct run *run = flow->parts[i].run;
		struct flow_account of_run;

		if (!run)
			continue;
		of_run = (struct flow_account){ run->result.events, run->result.matched };
		memcpy(of_run.lost, run->result.lost, sizeof(of_run.lost));
		memcpy(of_run.unpaired, run->result.unpaired, sizeof(of_run.unpaired));
		flow_account_add(&all, &of_run);
	}
	result->events = all.events;
	result->matched = all.matched;
	memcpy(result->lost, all.lost, sizeof(result->lost));
	memcpy(result->unpaired, all.unpaired, sizeof(result->unpaired));
}

int flow_loop(struct flow *flow, struct diags *diags, struct run_result *ret_result)
{
	const struct loop_driver driver = {
		.attach = flow_attach,
		.boundary = flow_boundary,
		/* Groups alone have nothing to be read between boundaries. */
		.poll = flow->has_rows || !flow->is_live || ends_at_loss(flow) ? flow_poll : NULL,
		.last = flow_last,
		.detach = flow_detach,
		.context = flow,
		.period_ns = period_ns(flow),
		.between_ns = flow->has_groups ? window_between_ns(first_run(flow)) : 0,
		.options = &flow->options,
		.sink = &flow->sink,
		.ret_child_status = &flow->result.child_status,
	};
	int err;

	flow->diags = diags;
	flow->result.is_partial = !flow->is_live;
	err = loop_drive(&driver);
	flow_account(flow);
	sum_up(flow);
	*ret_result = flow->result;
	return err;
}

int flow_drain_once(struct flow *flow, bool is_last)
{
	struct flow_instant end = flow_now(flow);
	int err = 0;

	for (u32 i = 0; i < flow->n_parts && !err; i++) {
		struct flow_part *part = &flow->parts[i];

		if (part->run)
			err = run_drain_once(part->run, is_last);
	}
	if (!err)
		err = read_all(flow, (struct flow_instant){ UINT64_MAX, UINT64_MAX });
	if (err)
		return err;
	flow_account(flow);
	if (is_last)
		finish_rows(flow);
	flow->is_drained = true;
	if (!is_row_driven(flow))
		return flow_window_give(flow, end, end.real_ns, is_last);
	err = take_rows(flow, 0);
	return err || !is_last ? err : give_last(flow, end);
}
