/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a query that one kernel part answers does at the instants of the loop: its
 * windows' boundaries, or snapshots, or the reading of streamed rows.
 */
#include "engine/loop.h"
#include "engine/window.h"

static int run_attach(void *context)
{
	struct run *run = context;
	int err;

	run->start_ns = run->window_start_ns = base_realtime_ns();
	err = load_attach(run->load, run->diags);
	return err ? err : window_open_user(run);
}

static int run_boundary(void *context, bool *ret_is_over)
{
	struct run *run = context;
	u64 now_ns = base_realtime_ns();

	if (run->options.n_windows && run->result.windows + 1 >= run->options.n_windows &&
	    window_is_due(run, now_ns)) {
		*ret_is_over = true;
		return 0;
	}
	return window_close_at(run, now_ns);
}

static int run_poll(void *context, bool *ret_more, bool *ret_is_over)
{
	struct run *run = context;
	int err = 0;

	*ret_more = false;
	if (run->phys->is_streaming)
		err = window_stream(run, ret_more);
	*ret_is_over = run->n_rows >= run->rows_limit;
	if (!err && run->options.ends_at_loss)
		*ret_is_over |= window_has_loss(run);
	return err;
}

static bool is_polled(const struct run *run)
{
	return run->phys->is_streaming ||
	       (run->options.ends_at_loss && run->phys->window == WINDOW_NONE);
}

static int run_last(void *context)
{
	struct run *run = context;

	return run->phys->is_streaming ? window_stream_last(run) : window_close_last(run);
}

static void run_detach(void *context)
{
	load_detach(((struct run *)context)->load);
}

u64 window_period_ns(const struct run *run)
{
	if (run->phys->is_streaming)
		return 0;
	if (run->phys->window == WINDOW_HOPPING)
		return run->phys->advance_ns;
	return run->phys->window != WINDOW_NONE ? run->phys->window_ns : run->options.every_ns;
}

u64 window_between_ns(const struct run *run)
{
	if (run->phys->window != WINDOW_HOPPING)
		return 0;
	return hop_between_ns(run->phys->window_ns, run->phys->advance_ns);
}

int run_loop(struct run *run, struct diags *diags, struct run_result *ret_result)
{
	const struct loop_driver driver = {
		.attach = run_attach,
		.boundary = run_boundary,
		.poll = is_polled(run) ? run_poll : NULL,
		.poll_ns = run->phys->is_streaming ? 0 : WINDOW_LOSS_NS,
		.last = run_last,
		.detach = run_detach,
		.context = run,
		.period_ns = window_period_ns(run),
		.between_ns = window_between_ns(run),
		.options = &run->options,
		.sink = &run->sink,
		.ret_child_status = &run->result.child_status,
	};
	int err;

	run->diags = diags;
	err = loop_drive(&driver);
	*ret_result = run->result;
	return err;
}
