/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The copy that was switched off -> groups of a window, by way of panes where windows
 * overlap.  The last window ends with a switch too: what the programs count between it
 * and their detaching lies behind the run's end and is dropped, so that the last window is
 * not longer by the time that detaching takes (8-84 ms).
 */
#include "drain/groups.h"

int groups_open(struct groups *groups, struct load_state *load, const struct phys *phys,
		struct arena *arena)
{
	int err;

	*groups = (struct groups){ .load = load, .phys = phys, .next_reader = load->readers };
	load->readers = groups;
	meter_open(&groups->meter, load);
	drain_open(&groups->drain, load->hooks, phys, arena);
	err = merge_open(&groups->merge, phys, arena);
	if (err || phys->window != WINDOW_HOPPING)
		return err;
	groups->panes = arena_new(arena, struct panes);
	return panes_open(groups->panes, phys, hop_n_panes(phys->window_ns, phys->advance_ns),
			  arena);
}

void groups_leave(struct groups *groups)
{
	struct groups **at = &groups->load->readers;

	while (*at && *at != groups)
		at = &(*at)->next_reader;
	if (*at)
		*at = groups->next_reader;
}

void groups_close(struct groups *groups)
{
	groups_leave(groups);
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
	if (groups->is_begun)
		return;
	groups->is_begun = true;
	groups->has_window = false;
	if (!is_windowed(groups))
		return;
	merge_reset(target(groups));
	groups->account = (struct account){ 0 };
	groups->first_use = load_stacks_now(groups->load->hooks);
	if (groups->panes)
		groups->panes->first_use = groups->first_use;
}

u64 groups_first_use(const struct groups *groups)
{
	return groups->panes ? panes_first_use(groups->panes) : groups->first_use;
}

static int take_copy(struct groups *groups, u64 copy, bool is_kept)
{
	const struct load_state *load = groups->load;
	u64 counters[COUNTER_N] = { 0 };
	int map_fd = -1, err;

	if (groups->phys->state.kind == STATE_KERNEL_MAP)
		map_fd = load->map_fds[copy ? LOAD_MAP_HASH1 : LOAD_MAP_HASH0];
	groups->drain.is_kept = is_kept;
	meter_take_operators(&groups->meter, copy);
	err = drain_copy(&groups->drain, load->state, (u32)copy, map_fd, target(groups), counters);
	if (!err)
		meter_take_drained(&groups->meter, counters, is_kept, &groups->account);
	return err;
}

/* --- Several readers --- */

bool groups_are_shared(const struct load_state *load)
{
	return load->readers && load->readers->next_reader;
}

bool groups_are_ending(const struct load_state *load)
{
	bool are_ending = true;

	for (const struct groups *reader = load->readers; reader; reader = reader->next_reader)
		are_ending &= reader->is_ending;
	return are_ending;
}

void groups_flipped(struct groups *groups)
{
	const struct load_state *load = groups->load;

	if (groups->is_taken || !groups_are_shared(load))
		return;
	for (struct groups *reader = load->readers; reader; reader = reader->next_reader) {
		int err;

		begin(reader);
		err = take_copy(reader, load->epoch ^ 1, reader->next_reader);
		reader->err = reader->err ? reader->err : err;
		reader->is_taken = true;
	}
}

int groups_take(struct groups *groups)
{
	begin(groups);
	if (!groups->is_taken && !groups->err)
		groups->err = take_copy(groups, groups->load->epoch ^ 1, false);
	groups->is_taken = true;
	return groups->err;
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
	groups->is_taken = false;
	if (is_windowed(groups))
		meter_before_flip(&groups->meter);
}

int groups_restart(struct groups *groups, u64 monotonic_ns)
{
	int err = groups_take(groups);

	take_between(groups);
	if (groups_are_shared(groups->load))
		groups->meter.begin_ns = monotonic_ns;
	groups->is_begun = false;
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
		err = take_copy(groups, groups->load->epoch, false);
	if (!err)
		err = groups_take(groups);
	if (end->is_last)
		groups_leave(groups);
	groups->is_begun = false;
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
