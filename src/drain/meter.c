/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counters of the kernel -> accounts.
 */
#include "drain/meter.h"

#include <string.h>

#include "drain/copy.h"
#include "drain/pair.h"

static void add_unpaired(struct account *to, const u64 unpaired[UNPAIRED_N])
{
	for (u32 i = 0; i < UNPAIRED_N; i++) {
		to->unpaired[i] += unpaired[i];
		to->lost[LOSS_UNPAIRED] += unpaired[i];
	}
}

static void add_lost(const u64 c[COUNTER_N], struct account *to)
{
	to->lost[LOSS_TABLE_FULL] +=
		c[COUNTER_TABLE_FULL] + c[COUNTER_UNPLACED] + c[COUNTER_RUNNING_FULL];
	to->lost[LOSS_RING_FULL] += c[COUNTER_RING_FULL];
	to->lost[LOSS_EVICTED] += c[COUNTER_EVICTED];
	to->lost[LOSS_NEGATIVE] += c[COUNTER_NEGATIVE];
	to->lost[LOSS_FAULT] += c[COUNTER_FAULT];
	to->lost[LOSS_OVER_BUDGET] += c[COUNTER_OVER_BUDGET];
	add_unpaired(to, c + COUNTER_UNPAIRED);
}

void meter_add_counters(const struct meter *meter, const u64 counters[COUNTER_N],
			struct account *to)
{
	const u64 *c = counters;

	to->events += c[COUNTER_EVENTS];
	to->matched += c[meter->load->phys->has_matched ? COUNTER_MATCHED : COUNTER_EVENTS];
	add_lost(c, to);
}

/* --- Operators --- */

static u32 n_words(const struct meter *meter)
{
	return meter->load->phys->state.n_operators * COUNTER_N;
}

void meter_open(struct meter *meter, struct load_state *load)
{
	struct arena *arena = load->phys->arena;

	*meter = (struct meter){ .load = load, .is_lasting = meter_goes_on(load->phys) };
	if (!n_words(meter))
		return;
	meter->operators = arena_array(arena, u64, n_words(meter));
	meter->now = arena_array(arena, u64, n_words(meter));
	for (u32 i = 0; i < ARRAY_SIZE(meter->told); i++)
		meter->told[i] = arena_array(arena, u64, n_words(meter));
}

void meter_forget_operators(struct meter *meter)
{
	if (meter->operators)
		memset(meter->operators, 0, n_words(meter) * sizeof(u64));
}

/* What `now` has more than was told. */
static void grow_operators(struct meter *meter, u32 of)
{
	for (u32 i = 0; i < n_words(meter); i++) {
		meter->operators[i] += meter->now[i] - meter->told[of][i];
		meter->told[of][i] = meter->now[i];
		meter->now[i] = 0;
	}
}

static void grow_copy(struct meter *meter, u64 copy)
{
	if (!meter->operators)
		return;
	drain_peek_operators(&meter->load->phys->state, meter->load->state, copy, meter->now);
	grow_operators(meter, (u32)copy);
}

static void grow_starts(struct meter *meter)
{
	const struct phys *phys = meter->load->phys;
	const u64 *from = (const u64 *)&meter->load->control[phys->state.n_cpus];

	if (!meter->operators || !meter->load->control)
		return;
	for (u32 i = 0; i < phys->state.n_cpus * n_words(meter); i++)
		meter->now[i % n_words(meter)] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	grow_operators(meter, STATE_COPIES);
}

void meter_take_operators(struct meter *meter, u64 copy)
{
	grow_copy(meter, copy);
	if (meter->operators)
		memset(meter->told[copy], 0, n_words(meter) * sizeof(u64));
}

void meter_operator(const struct meter *meter, u32 number, struct account *ret_account)
{
	const u64 *c = &meter->operators[number * COUNTER_N];

	*ret_account =
		(struct account){ .events = c[COUNTER_EVENTS], .matched = c[COUNTER_MATCHED] };
	add_lost(c, ret_account);
}

/* --- Parts --- */

/* What it has grown to, and by how much. */
static void grow(struct account *seen, const struct account *now, struct account *to)
{
	account_add(to, now);
	account_subtract(to, seen);
	*seen = *now;
}

void meter_take_starts(struct meter *meter, struct account *to)
{
	const struct phys *phys = meter->load->phys;
	struct account now = { 0 };

	for (u32 cpu = 0; phys->n_joins && cpu < phys->state.n_cpus; cpu++) {
		const struct control_line *line = &meter->load->control[cpu];
		u64 unpaired[UNPAIRED_N];

		now.lost[LOSS_FAULT] += __atomic_load_n(&line->start_faults, __ATOMIC_RELAXED);
		now.lost[LOSS_NEGATIVE] += __atomic_load_n(&line->start_negative, __ATOMIC_RELAXED);
		now.lost[LOSS_EVICTED] += __atomic_load_n(&line->start_evicted, __ATOMIC_RELAXED);
		now.lost[LOSS_TABLE_FULL] +=
			__atomic_load_n(&line->start_running_full, __ATOMIC_RELAXED);
		now.lost[LOSS_OVER_BUDGET] +=
			__atomic_load_n(&line->start_over_budget, __ATOMIC_RELAXED);
		for (u32 i = 0; i < UNPAIRED_N; i++)
			unpaired[i] = __atomic_load_n(&line->unpaired[i], __ATOMIC_RELAXED);
		add_unpaired(&now, unpaired);
	}
	grow(&meter->starts, &now, to);
	grow_starts(meter);
}

static void peek_copy(const struct meter *meter, u64 copy, struct account *to)
{
	u64 counters[COUNTER_N] = { 0 };

	drain_peek_counters(&meter->load->phys->state, meter->load->state, copy, counters);
	meter_add_counters(meter, counters, to);
}

void meter_peek_slices(const struct meter *meter, struct account *to)
{
	for (u32 copy = 0; copy < STATE_COPIES; copy++)
		peek_copy(meter, copy, to);
}

void meter_take_copy(struct meter *meter, u64 copy, struct account *to)
{
	struct account now = { 0 };

	peek_copy(meter, copy, &now);
	meter->n_left += now.lost[LOSS_OVER_BUDGET] - meter->slices[copy].lost[LOSS_OVER_BUDGET];
	grow(&meter->slices[copy], &now, to);
	grow_copy(meter, copy);
}

bool meter_goes_on(const struct phys *phys)
{
	bool goes_on = phys->n_runnings;

	for (u32 i = 0; i < phys->n_joins; i++)
		goes_on |= phys->joins[i].join == JOIN_ASOF || phys->joins[i].is_left;
	return goes_on;
}

/* Were events left that a start may have been? */
static bool has_left(const struct load_state *load)
{
	return load->phys->has_budget && load->budget &&
	       __atomic_load_n(&load->budget->opened_ns, __ATOMIC_RELAXED);
}

void meter_doubt_ends(const struct meter *meter, struct account *to)
{
	if (!meter->load->missed_before && !meter->n_full && !has_left(meter->load))
		return;
	to->unpaired[UNPAIRED_NEVER_STARTED] += to->unpaired[UNPAIRED_BEGAN_BEFORE];
	to->unpaired[UNPAIRED_BEGAN_BEFORE] = 0;
}

/* Are all events that come to no output ends whose start was not found? */
enum ends { ENDS_UNKNOWN, ENDS_FILTERED, ENDS_ALL };

static enum ends ends_of(const struct phys *phys)
{
	enum ends ends = ENDS_ALL;
	bool has_join = false;

	for (u32 i = 0; i < phys->n_sources; i++)
		for (u32 k = 0; k < phys->sources[i].n_steps; k++) {
			const struct phys_step *step = &phys->sources[i].steps[k];

			/* What comes out of a LEFT join all the same; ends of ends that are stored.
			 */
			if (step->kind == STEP_LOOKUP &&
			    (step->join->is_left || !phys->sources[i].is_root))
				return ENDS_UNKNOWN;
			has_join |= step->kind == STEP_LOOKUP;
			if (step->n_conjuncts)
				ends = ENDS_FILTERED;
		}
	return has_join ? ends : ENDS_UNKNOWN;
}

void meter_check_ends(const struct meter *meter, const struct account *counted)
{
	enum ends ends = ends_of(meter->load->phys);
	u64 n = counted->matched + counted->unpaired[UNPAIRED_NEVER_STARTED] +
		counted->unpaired[UNPAIRED_BEGAN_BEFORE];

	ASSERT(ends == ENDS_UNKNOWN || counted->events >= n);
	/* Of starts and of values these two are, too. */
	ASSERT(ends != ENDS_ALL || counted->events <= n + counted->unpaired[UNPAIRED_EXPIRED] +
							      counted->lost[LOSS_NEGATIVE]);
}

void meter_check_rows(const struct account *counted, u64 n_rows)
{
	ASSERT(counted->matched == n_rows + counted->lost[LOSS_RING_FULL]);
}

void meter_take_missed(struct meter *meter, struct account *to)
{
	struct load_state *load = meter->load;

	load->n_missed += load_missed(load);
	to->lost[LOSS_MISSED] += load->n_missed - meter->n_missed;
	meter->n_missed = load->n_missed;
	meter_doubt_ends(meter, to);
}

void meter_before_flip(struct meter *meter)
{
	meter_take_starts(meter, &meter->before);
	meter_take_missed(meter, &meter->before);
}

void meter_behind_flip(struct meter *meter, struct account *to, struct account *ret_repeated)
{
	struct account now = { 0 }, lost = { 0 };

	*ret_repeated = meter->has_between ? (struct account){ 0 } : meter->between;
	meter->has_between = false;
	account_add(to, ret_repeated);
	account_add(to, &meter->before);
	if (meter->is_lasting) {
		account_add(&meter->before, &meter->between);
		lost.lost[LOSS_MISSED] = meter->before.lost[LOSS_MISSED];
		lost.lost[LOSS_RING_FULL] = meter->before.lost[LOSS_RING_FULL];
		lost.lost[LOSS_OVER_BUDGET] = meter->before.lost[LOSS_OVER_BUDGET] + meter->n_left;
	}
	meter->n_left = 0;
	meter_take_starts(meter, &now);
	meter_take_missed(meter, &now);
	account_add(to, &now);
	meter_doubt_ends(meter, to);
	account_add(&now, &lost);
	meter->between = now;
	meter->before = (struct account){ 0 };
}

void meter_go_on(struct meter *meter)
{
	meter->has_between = true;
}

static u64 sum_lines(const struct load_state *load, size_t offset)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < load->phys->state.n_cpus; cpu++)
		n += *(const u64 *)((const u8 *)&load->control[cpu] + offset);
	return n;
}

/*
 * Every start of the run was taken by an end of it, or is counted by what became of it, or waits.
 * Where slices are drained, what stands in the copy in use now is no more of the run.
 */
static void check_starts(const struct meter *meter, u64 n_waiting)
{
	static const enum unpaired kinds[] = { UNPAIRED_NEVER_ENDED, UNPAIRED_OVERWRITTEN,
					       UNPAIRED_EXPIRED, UNPAIRED_FULL };
	const struct load_state *load = meter->load;
	u64 counters[COUNTER_N], n = n_waiting;

	memcpy(counters, load->drained, sizeof(counters));
	for (u32 copy = 0; copy < STATE_COPIES; copy++)
		if (load->phys->is_streaming || copy != load->epoch)
			drain_peek_counters(&load->phys->state, load->state, copy, counters);
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		n += counters[COUNTER_UNPAIRED + kinds[i]] +
		     sum_lines(load, offsetof(struct control_line, unpaired) + 8 * kinds[i]);
	n += counters[COUNTER_TAKEN] + sum_lines(load, offsetof(struct control_line, n_taken));
	ASSERT(n == sum_lines(load, offsetof(struct control_line, n_starts)));
}

/* What never ends was stored there. */
static void add_to_stores(const struct meter *meter, const struct phys_join *join, u64 n)
{
	const struct phys *phys = meter->load->phys;

	for (u32 i = 0; meter->operators && i < phys->n_operators; i++) {
		const struct phys_step *step = phys_operator_step(phys, i);

		if (step && step->kind == STEP_STORE && step->join == join) {
			meter->operators[i * COUNTER_N + COUNTER_UNPAIRED + UNPAIRED_NEVER_ENDED] +=
				n;
			return;
		}
	}
}

/*
 * The starts of the part's run that wait, of those from then on and before then: or -errno.
 * is_told: what stored them has them as never ended.
 */
static s64 waiting(struct meter *meter, u64 from_ns, u64 before_ns, bool is_told)
{
	const struct load_state *load = meter->load;
	/* When the run is over, each start says itself whose it is not: and programs' clock may be
	 * some ns ahead of user space's. */
	struct pair_which which = { .from_ns = from_ns,
				    .before_ns = load->is_over ? UINT64_MAX : before_ns,
				    .others = 1u << load->phys->number % BLOCK_PARTS };
	s64 sum = 0, n;

	if (load->control)
		which.from_ns = MAX(from_ns, load->control->starts_from_ns);
	for (u32 i = 0; i < load->phys->n_joins; i++) {
		const struct phys_join *join = &load->phys->joins[i];

		if (join->join != JOIN_PAIR)
			continue;
		n = pair_count_waiting(join, load->pairs, load->map_fds[LOAD_MAP_PAIR], &which);
		if (n < 0)
			return n;
		sum += n;
		if (is_told)
			add_to_stores(meter, join, (u64)n);
	}
	return sum;
}

int meter_add_waiting(struct meter *meter, u64 before_ns, struct account *to)
{
	bool is_still;
	s64 n;

	if (!meter->load->phys->n_joins)
		return 0;
	is_still = load_close_starts(meter->load);
	n = waiting(meter, meter->begin_ns, before_ns, true);
	if (n < 0)
		return (int)n;
	if (is_still && meter->load->phys->set->is_checked)
		check_starts(meter, (u64)waiting(meter, 0, before_ns, false));
	meter_take_starts(meter, to);
	to->unpaired[UNPAIRED_NEVER_ENDED] += (u64)n;
	to->lost[LOSS_UNPAIRED] += (u64)n;
	return 0;
}

void meter_take_drained(struct meter *meter, const u64 counters[COUNTER_N], bool is_kept,
			struct account *to)
{
	struct account counted = { 0 };

	for (u32 i = 0; i < COUNTER_N && !is_kept; i++)
		meter->load->drained[i] += counters[i];
	meter_add_counters(meter, counters, &counted);
	meter_check_ends(meter, &counted);
	meter->n_left += counted.lost[LOSS_OVER_BUDGET];
	account_add(to, &counted);
}
