/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hook -> what an event there will cost, by the table of costs: the hook, what is read, where it is
 * kept.
 */
#include <string.h>

#include "phys/internal.h"

/* --- The hook --- */

static enum cost tracepoint_cost(const struct stream *s)
{
	return stream_is_call(s) ? COST_TRACEPOINT_CALL : COST_TRACEPOINT;
}

/* The raw tracepoints of all system calls are on their way alone. */
static enum cost raw_cost(const struct hook *hook)
{
	return strcmp(hook->target, "sys_enter") == 0 || strcmp(hook->target, "sys_exit") == 0
		       ? COST_RAW_CALL
		       : COST_RAW;
}

/*
 * Both ends of a function of a program stand at one breakpoint, whose cost the return has.  Of the
 * first query's own programs, whatever others there are beside it.
 */
static bool has_return(const struct hook *hook)
{
	const struct phys_set *set = hook->uses[0].phys->set;

	for (u32 i = 0; !hook->is_exit && i < set->n_hooks; i++) {
		struct hook other = set->hooks[i];

		if (!other.is_exit)
			continue;
		other.is_exit = false;
		other.entry = hook->entry;
		if (hook_is_same(hook, &other))
			return true;
	}
	return false;
}

static enum cost path_cost(const struct hook *hook, enum access_path path)
{
	const struct stream *s = hook->uses[0].streams[0];

	switch (path) {
	case ACCESS_TRACEPOINT:
		return tracepoint_cost(s);
	case ACCESS_RAW:
		return raw_cost(hook);
	case ACCESS_RAW_SYSCALL:
		return COST_RAW_CALL;
	case ACCESS_CALL:
		return hook->is_exit ? COST_FEXIT_CALL : COST_FENTRY_CALL;
	case ACCESS_TRAMPOLINE:
		return hook->is_exit ? COST_FEXIT : COST_FENTRY;
	case ACCESS_KPROBE:
	case ACCESS_KPROBE_MULTI:
		return hook->is_exit ? COST_KRETPROBE : COST_KPROBE;
	case ACCESS_UPROBE:
	case ACCESS_UPROBE_MULTI:
		if (s->kind == STREAM_USDT)
			return COST_USDT;
		if (has_return(hook))
			return COST_RAW;
		return hook->is_exit ? COST_URETPROBE : COST_UPROBE;
	case ACCESS_SAMPLE:
		return COST_SAMPLE;
	case ACCESS_ITERATOR:
	case ACCESS_REPLAY:
	case ACCESS_N:
		break;
	}
	return COST_NONE;
}

/* What max_cpu takes of each event by which the program runs. */
static double accounts_ns(const struct hook *hook, const struct costs *costs)
{
	double ns = 0;

	for (u32 i = 0; i < hook->n_uses; i++)
		ns += hook_charges(hook, i) ? cost_ns(costs, COST_ACCOUNT) : 0;
	return ns;
}

static double hook_ns(const struct hook *hook, enum access_path path, const struct costs *costs)
{
	return cost_ns(costs, path_cost(hook, path)) + accounts_ns(hook, costs);
}

/* What another system call costs there. */
static double other_ns(const struct hook *hook, enum access_path path, const struct costs *costs)
{
	if (path == ACCESS_RAW_SYSCALL)
		return cost_ns(costs, COST_RAW_OTHER) + accounts_ns(hook, costs);
	if (path == ACCESS_TRACEPOINT && stream_is_call(hook->uses[0].streams[0]))
		return cost_ns(costs, COST_TRACEPOINT_OTHER);
	return 0;
}

double phys_charged_ns(const struct hook *hook)
{
	const struct costs *costs = hook->uses[0].phys->settings->costs;
	/* It is paid before it is known which call this is: mostly it is another one. */
	double ns = MAX(cost_ns(costs, path_cost(hook, hook->path)),
			hook->path == ACCESS_RAW_SYSCALL ? cost_ns(costs, COST_RAW_OTHER) : 0.0);

	return ns / hook_n_parts(hook) + cost_ns(costs, COST_ACCOUNT);
}

/* --- What is done there --- */

struct work {
	const struct hook_use *use;
	const struct costs *costs;
	u32 columns; /* system columns that were read: once in a program */
	double ns;
};

static void read_column(struct work *w, enum system_column column)
{
	if (!(w->columns & 1u << column))
		w->ns += cost_ns(w->costs, system_columns[column].cost);
	w->columns |= 1u << column;
}

static void add_expr(void *work, struct expr *e)
{
	struct work *w = work;
	bool is_row = e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM;

	if (is_row && e->source != w->use->source->number)
		return; /* it stands in the start */
	if (e->kind == EXPR_SYSTEM && !e->pid_ns)
		read_column(w, (enum system_column)e->index);
	else if (e->kind == EXPR_MEMBER && e->read == READ_MEMBER && !e->is_of_user &&
		 w->use->phys->typed.cast_btf_id)
		w->ns += cost_ns(w->costs, COST_LOAD);
	else
		w->ns += expr_own_cost_ns(e, w->costs);
}

static void add_output(void *work, struct expr *e)
{
	expr_each(e, add_expr, work);
}

static void add_step(struct work *w, const struct phys_step *step)
{
	for (u32 i = 0; i < step->n_conjuncts; i++)
		expr_each(step->conjuncts[i], add_expr, w);
	for (u32 i = 0; step->keys && i < step->join->n_keys; i++)
		expr_each(step->keys[i], add_expr, w);
	if (step->kind == STEP_STORE || step->kind == STEP_LOOKUP) {
		read_column(w, SYS_TIME);
		w->ns += cost_ns(w->costs, step->kind == STEP_STORE ? COST_START : COST_END);
	}
	for (u32 i = 0; step->kind == STEP_STORE && i < step->join->n_columns; i++)
		expr_each(step->join->columns[i].expr, add_expr, w);
}

/* More keys than a cache has room for make a table slower. */
#define LARGE_GROUPS 65536

static void add_state(struct work *w, const struct phys *phys)
{
	const struct costs *costs = w->costs;

	phys_each_output(phys, add_output, w);
	if (phys->is_streaming || phys->only_scans)
		w->ns += cost_ns(costs, COST_ROW);
	for (u32 i = 0; i < phys->n_cells; i++)
		w->ns += cost_ns(costs, phys->cells[i].kind == CELL_HISTOGRAM ? COST_HISTOGRAM
									      : COST_CELL);
	if (phys->state.kind == STATE_DIRECT && phys->n_keys)
		w->ns += cost_ns(costs, COST_DIRECT);
	if (phys->state.kind == STATE_TABLE)
		w->ns += cost_ns(costs, phys->state.max_groups >= LARGE_GROUPS ? COST_TABLE_LARGE
									       : COST_TABLE);
	if (phys->state.kind == STATE_KERNEL_MAP)
		w->ns += cost_ns(costs, COST_KERNEL_MAP);
}

/* Calls go the way of traced ones once for both of their ends. */
static double shared_ns(const struct hook *hook, const struct costs *costs)
{
	const struct phys_set *set = hook->uses[0].phys->set;

	for (u32 i = 0; hook->path == ACCESS_RAW_SYSCALL && hook->is_exit && i < set->n_hooks; i++)
		if (set->hooks[i].path == ACCESS_RAW_SYSCALL && !set->hooks[i].is_exit)
			return cost_ns(costs, COST_RAW_SHARED);
	return 0;
}

void phys_estimate(const struct hook *hook, struct hook_estimate *ret)
{
	const struct costs *costs = hook->uses[0].phys->settings->costs;
	double shared = shared_ns(hook, costs);
	struct work w = { .costs = costs };

	for (u32 i = 0; i < hook->n_uses; i++) {
		const struct phys_source *source = hook->uses[i].source;

		w.use = &hook->uses[i];
		for (u32 k = 0; k < source->n_steps; k++)
			add_step(&w, &source->steps[k]);
		if (source->is_root)
			add_state(&w, w.use->phys);
	}
	ret->hook_ns = hook_ns(hook, hook->path, costs) - shared;
	ret->work_ns = w.ns;
	ret->other_ns = MAX(other_ns(hook, hook->path, costs) - shared, 0.0);
}

u32 phys_other_hooks(const struct hook *hook, struct hook_other ret_others[2])
{
	static const enum access_path calls[] = { ACCESS_RAW_SYSCALL, ACCESS_TRACEPOINT,
						  ACCESS_CALL },
				      events[] = { ACCESS_RAW, ACCESS_TRACEPOINT, ACCESS_N },
				      functions[] = { ACCESS_TRAMPOLINE, ACCESS_KPROBE, ACCESS_N };
	const struct costs *costs = hook->uses[0].phys->settings->costs;
	const struct stream *s = hook->uses[0].streams[0];
	const enum access_path *paths = stream_is_call(s) ? calls
					: s->is_function  ? functions
							  : events;
	u32 n = 0;

	if (hook->file_path || s->kind == STREAM_RAW_TRACEPOINT || s->sample)
		return 0;
	for (u32 i = 0; i < ARRAY_SIZE(calls) && paths[i] != ACCESS_N; i++) {
		enum access_path path = paths[i];
		struct hook as = *hook;

		as.path = path;
		if (path != hook->path)
			ret_others[n++] = (struct hook_other){ hook_word(&as), path < ACCESS_CALL,
							       hook_ns(hook, path, costs),
							       other_ns(hook, path, costs) };
	}
	return n;
}
