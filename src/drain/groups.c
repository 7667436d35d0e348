/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The copy that was switched off -> groups of a window, by way of panes where windows
 * overlap.  The last window ends with a switch too: what the programs count between it
 * and their detaching lies behind the run's end and is dropped, so that the last window is
 * not longer by the time that detaching takes (8-84 ms).
 */
#include "drain/groups.h"

int groups_open(struct groups *groups, struct load_state *load, struct arena *arena)
{
	const struct phys *phys = load->phys;
	int err;

	*groups = (struct groups){ .load = load, .phys = phys };
	meter_open(&groups->meter, load);
	drain_open(&groups->drain, phys, arena);
	err = merge_open(&groups->merge, phys, arena);
	if (err || phys->window != WINDOW_HOPPING)
		return err;
	groups->panes = arena_new(arena, struct panes);
	return panes_open(groups->panes, phys, hop_n_panes(phys->window_ns, phys->advance_ns),
			  arena);
}

void groups_close(struct groups *groups)
{
	merge_close(&groups->merge);
	if (groups->panes)
		panes_close(groups->panes);
}

void groups_start(struct groups *groups, u64 now_ns)
{
	groups->start_ns = groups->window_start_ns = now_ns;
}

static bool is_windowed(const struct groups *groups)
{
	return groups->phys->window != WINDOW_NONE;
}

/* What is counted now is merged there. */
static struct merge *target(struct groups *groups)
{
	return groups->panes ? &groups->panes->pane : &groups->merge;
}

/* Groups are kept from snapshot to snapshot where there is no window. */
static void begin(struct groups *groups)
{
	groups->has_window = false;
	if (!is_windowed(groups))
		return;
	merge_reset(target(groups));
	groups->account = (struct account){ 0 };
}

static int take_copy(struct groups *groups, u64 copy)
{
	const struct load_state *load = groups->load;
	u64 counters[COUNTER_N] = { 0 };
	int map_fd = -1, err;

	if (groups->phys->state.kind == STATE_KERNEL_MAP)
		map_fd = load->map_fds[copy ? LOAD_MAP_HASH1 : LOAD_MAP_HASH0];
	meter_take_operators(&groups->meter, copy);
	err = drain_copy(&groups->drain, load->state, (u32)copy, map_fd, target(groups), counters);
	if (!err)
		meter_take_drained(&groups->meter, counters, &groups->account);
	return err;
}

/*
 * Sums up windows; one without bounds holds the run so far.  fresh: what of the window no
 * window before had too.
 */
static void add_to_total(struct groups *groups, const struct account *fresh)
{
	u64 *n_full = &groups->total.lost[LOSS_TABLE_FULL];

	if (!is_windowed(groups))
		groups->total = (struct account){ 0 };
	account_add(&groups->total, fresh);
	/* Groups that had room in each of the panes may have none in their window. */
	*n_full = MAX(*n_full, groups->window.lost[LOSS_TABLE_FULL]);
}

/* The merged groups are the window's; account: what was counted beside them. */
static void give(struct groups *groups, const struct account *account, const struct account *fresh,
		 u64 start_ns, u64 end_ns)
{
	groups->has_window = true;
	groups->n_given += groups->merge.n_live;
	groups->most_groups =
		MAX(groups->most_groups, groups->merge.n_live - groups->merge.has_other);
	groups->window = *account;
	groups->window.lost[LOSS_TABLE_FULL] += groups->merge.n_folded;
	groups->rows = (struct rows){ .phys = groups->phys,
				      .merge = &groups->merge,
				      .window_start_ns = start_ns,
				      .window_end_ns = end_ns,
				      .matched = groups->window.matched,
				      .n_lost_values = account_lost_values(&groups->window) };
	add_to_total(groups, fresh ? fresh : &groups->window);
}

/* --- HOPPING --- */

static int give_panes(struct groups *groups, u64 end_ns)
{
	struct panes *panes = groups->panes;
	struct account fresh;
	u64 start_ns = end_ns;
	int err;

	/* The run ends in the gap between two windows: no window was begun. */
	if (!panes->n_kept)
		return 0;
	merge_reset(&groups->merge);
	err = panes_merge(panes, &groups->merge, &fresh, &start_ns);
	if (!err)
		give(groups, &panes->kept, &fresh, start_ns, end_ns);
	return err;
}

static int close_pane(struct groups *groups, const struct groups_end *end)
{
	const struct phys *phys = groups->phys;
	int err = panes_push(groups->panes, end->position, groups->window_start_ns,
			     &groups->account, &groups->repeated);

	if (err)
		return err;
	groups->window_start_ns = end->switched_ns;
	/* Only between two windows that leave a gap are there events that belong to none. */
	panes_expire(groups->panes, end->expired, phys->window_ns >= phys->advance_ns);
	return end->has_window ? give_panes(groups, end->switched_ns) : 0;
}

/* --- Ends --- */

/*
 * What no copy holds.  Windows that follow each other may both have it; the run has it once.  Of
 * panes in gaps, between windows, it has nothing.
 */
static void take_between(struct groups *groups)
{
	const struct phys *phys = groups->phys;
	struct account *repeated = &groups->repeated;

	*repeated = (struct account){ 0 };
	if (!is_windowed(groups)) {
		meter_take_starts(&groups->meter, &groups->account);
		meter_take_missed(&groups->meter, &groups->account);
		return;
	}
	meter_behind_flip(&groups->meter, &groups->account, repeated);
	if (!groups->panes || phys->window_ns >= phys->advance_ns)
		account_subtract(&groups->total, repeated);
}

void groups_before_flip(struct groups *groups)
{
	if (is_windowed(groups))
		meter_before_flip(&groups->meter);
}

int groups_restart(struct groups *groups)
{
	int err = take_copy(groups, groups->load->epoch ^ 1);

	take_between(groups);
	merge_reset(target(groups));
	groups->account = groups->total = (struct account){ 0 };
	return err;
}

int groups_end(struct groups *groups, const struct groups_end *end)
{
	u64 start_ns = is_windowed(groups) ? groups->window_start_ns : groups->start_ns;
	int err = 0;

	begin(groups);
	/* As near to the switch as can be: ends go on using starts up. */
	if (end->is_last)
		err = meter_add_waiting(&groups->meter, end->before_ns, &groups->account);
	/* No switch: both copies hold events. */
	if (!err && end->is_unswitched)
		err = take_copy(groups, groups->load->epoch);
	if (!err)
		err = take_copy(groups, groups->load->epoch ^ 1);
	if (err)
		return err;
	take_between(groups);
	if (groups->panes)
		return close_pane(groups, end);
	groups->window_start_ns = end->switched_ns;
	give(groups, &groups->account, NULL, start_ns, end->switched_ns);
	return 0;
}

void groups_peek(struct groups *groups, struct account *ret_account)
{
	meter_take_starts(&groups->meter, &groups->account);
	meter_take_missed(&groups->meter, &groups->account);
	*ret_account = groups->account;
	meter_peek_slices(&groups->meter, ret_account);
}
