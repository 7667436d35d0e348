/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * System calls -> how they are read: by the raw tracepoint of all calls, by the call's own
 * tracepoint, or by a trampoline on the call's own function.
 *
 * That function is entered where sys_enter_X comes (behind seccomp and tracers), so for entries the
 * three are the same events.  It is left where sys_exit_X comes, but for returns of calls that it
 * was not entered for: those that were refused, those that had begun before, a new thread's from
 * the clone that made it, an execve's from execveat.  So it brings returns where these are no rows
 * anyway: where each is joined to its own call's entry.
 */
#include <string.h>

#include "phys/internal.h"

/* Without a survey: half of all system calls are the wanted ones. */
#define DEFAULT_SHARE 0.5
#define SHARE_MIN     0.001

/* --- By its own function? --- */

/* A scan with nothing but conditions above it. */
static const struct stream_list *bare_scan(const struct plan *p, u32 *ret_source)
{
	while (p->kind == PLAN_FILTER)
		p = p->input;
	if (p->kind != PLAN_SCAN)
		return NULL;
	*ret_source = p->scan.source;
	return p->scan.streams;
}

static bool has_entry_of(const struct stream_list *list, s32 syscall_nr)
{
	for (u32 i = 0; i < list->streams.n; i++)
		if (list->streams.at[i]->is_syscall_enter &&
		    list->streams.at[i]->syscall_nr == syscall_nr)
			return true;
	return false;
}

static bool is_of_thread(const struct plan_join *join)
{
	return join->kind == JOIN_PAIR && !join->is_left && join->n_keys == 1 &&
	       join->keys[0].left->kind == EXPR_SYSTEM && join->keys[0].left->index == SYS_TID &&
	       join->keys[0].right->kind == EXPR_SYSTEM && join->keys[0].right->index == SYS_TID;
}

/* Is a return of that scan a row only with the entry of the same call of its thread? */
static bool is_end_of_call(const struct plan *plan, u32 source, s32 syscall_nr)
{
	const struct plan *child;
	u32 found;

	if (plan->kind == PLAN_JOIN && is_of_thread(&plan->join) &&
	    bare_scan(plan->input, &found) && found == source) {
		const struct stream_list *entries = bare_scan(plan->right, &found);

		return entries && has_entry_of(entries, syscall_nr);
	}
	for (u32 i = 0; (child = plan_child(plan, i)); i++)
		if (is_end_of_call(child, source, syscall_nr))
			return true;
	return false;
}

static const char *call_of(const struct stream *s)
{
	return s->event + strlen(s->is_syscall_exit ? "sys_exit_" : "sys_enter_");
}

u32 phys_call_function(const struct phys_input *input, const struct stream *s,
		       const char **ret_name)
{
	return input->features->has_btf
		       ? catalog_call_function(input->catalog, call_of(s), ret_name)
		       : 0;
}

void phys_expect_call(const struct phys_input *input, const struct stream *s)
{
	catalog_expect_call(input->catalog, call_of(s));
}

const char *phys_why_no_call(const struct phys_input *input, const struct phys_source *source,
			     const struct stream *s)
{
	const char *name;
	u32 id;

	id = phys_call_function(input, s, &name);
	if (!id)
		return input->features->why_no_trampoline ? "BTF does not know its function" : "";
	if (s->is_syscall_exit && !is_end_of_call(input->plan, source->number, s->syscall_nr))
		return "returns of calls that began before, or were refused, are none of it";
	return phys_why_no_trampoline(input->features, 0, id, s->is_syscall_exit,
				      input->settings->access_path);
}

/* --- By cost --- */

static bool is_free(const struct settings *settings)
{
	return settings_tracepoint_access(settings) == ACCESS_AUTO &&
	       settings->access_path != ACCESS_ONLY_FENTRY;
}

static void count_calls(struct call_choice *c, const struct phys *phys)
{
	for (u32 i = 0; i < phys->n_sources; i++) {
		const struct stream_list *list = phys->sources[i].streams;
		u32 n[2] = { 0 };

		for (u32 j = 0; j < list->streams.n; j++)
			if (stream_is_call(list->streams.at[j]))
				n[list->streams.at[j]->is_syscall_exit]++;
		for (u32 j = 0; j < 2; j++)
			c->n_calls[j] = MAX(c->n_calls[j], n[j]);
	}
}

/* Asked of the kernel last, and where it would be cheaper only. */
static const char *why_no_calls(const struct phys_input *input, const struct phys *phys)
{
	const char *why_not = NULL;

	for (u32 i = 0; i < phys->n_sources && !why_not; i++) {
		const struct stream *s = phys->sources[i].streams->streams.at[0];

		if (stream_is_call(s))
			why_not = phys_why_no_call(input, &phys->sources[i], s);
	}
	return why_not;
}

static double wanted_share(const struct call_choice *c)
{
	return c->share >= 0 ? MAX(c->share, SHARE_MIN) : DEFAULT_SHARE;
}

struct call_costs phys_call_costs(const struct costs *costs, double share, bool is_raw_paid,
				  bool is_tracepoint_paid)
{
	double others = 1 / MAX(share, SHARE_MIN) - 1;

	return (struct call_costs){
		.raw = cost_ns(costs, COST_RAW_CALL) +
		       (is_raw_paid ? 0 : cost_ns(costs, COST_RAW_OTHER) * others),
		.tracepoint =
			cost_ns(costs, COST_TRACEPOINT_CALL) +
			(is_tracepoint_paid ? 0 : cost_ns(costs, COST_TRACEPOINT_OTHER) * others),
	};
}

/*
 * One way for all sources' system calls of a direction, for they share a hook: of two hooks nobody
 * knows which the kernel calls first, and an event would meet itself.  Queries that insist on
 * another have their own: no source of theirs meets one of these.
 */
void phys_choose_calls(struct call_choice *c, const struct phys_set *set,
		       const struct phys_input *inputs, struct arena *arena)
{
	const struct costs *costs = inputs[0].settings->costs;
	double raw, cheapest, own;
	u32 n_ends;

	*c = (struct call_choice){ .arena = arena, .share = -1 };
	for (u32 i = 0; i < set->n_parts; i++) {
		c->share = MAX(c->share, inputs[i].share);
		if (is_free(inputs[i].settings))
			count_calls(c, set->parts[i]);
	}
	c->costs = phys_call_costs(costs, wanted_share(c), false, false);
	raw = c->costs.raw;
	for (u32 j = 0; j < 2; j++)
		c->paths[j] = c->n_calls[j] > 1 || raw <= c->costs.tracepoint ? ACCESS_RAW_SYSCALL
									      : ACCESS_TRACEPOINT;
	n_ends = (c->n_calls[0] > 0) + (c->n_calls[1] > 0);
	cheapest = n_ends * MIN(raw, c->costs.tracepoint);
	own = c->n_calls[0] * cost_ns(costs, COST_FENTRY_CALL) +
	      c->n_calls[1] * cost_ns(costs, COST_FEXIT_CALL);
	c->is_dear = own > cheapest;
	if (!n_ends || c->n_calls[0] > 1 || c->n_calls[1] > 1 || c->is_dear)
		return;
	for (u32 i = 0; i < set->n_parts && !c->why_no_call; i++)
		if (is_free(inputs[i].settings) && !inputs[i].is_replay)
			c->why_no_call = why_no_calls(&inputs[i], set->parts[i]);
	if (!c->why_no_call)
		c->paths[0] = c->paths[1] = ACCESS_CALL;
}

enum access_path phys_call_path(const struct call_choice *c, const struct settings *settings,
				bool is_exit)
{
	enum setting_access setting = settings_tracepoint_access(settings);

	if (settings->access_path == ACCESS_ONLY_FENTRY)
		return ACCESS_CALL;
	if (setting == ACCESS_ONLY_TRACEPOINT)
		return ACCESS_TRACEPOINT;
	return setting == ACCESS_ONLY_RAW ? ACCESS_RAW_SYSCALL : c->paths[is_exit];
}

/* Whose costs they are, where somebody measured. */
static const char *measured(const struct costs *costs, struct arena *arena)
{
	if (!costs || !costs->path)
		return "";
	return costs->ignored
		       ? arena_printf(arena, "; %s is not used: %s", costs->path, costs->ignored)
		       : "; costs measured on this machine";
}

const char *phys_why_calls(const struct call_choice *c, const struct settings *settings,
			   bool is_exit)
{
	enum access_path path = phys_call_path(c, settings, is_exit);
	const char *text;

	if (settings->access_path == ACCESS_ONLY_FENTRY)
		return "SET access_path = fentry";
	if (settings_tracepoint_access(settings) != ACCESS_AUTO)
		return path == ACCESS_RAW_SYSCALL ? "SET access_path = raw"
						  : "SET access_path = tracepoint";
	if (c->n_calls[is_exit] > 1)
		return "one raw tracepoint serves all these system calls";
	text = arena_printf(c->arena, "estimate per wanted event: ");
	if (!c->why_no_call && path == ACCESS_CALL)
		text = arena_printf(
			c->arena, "%s%s %.0f ns, ", text, is_exit ? "fexit" : "fentry",
			cost_ns(settings->costs, is_exit ? COST_FEXIT_CALL : COST_FENTRY_CALL));
	text = arena_printf(c->arena,
			    "%sraw %.0f ns, tracepoint %.0f ns, at %.0f%% wanted of all system "
			    "calls (%s%s)",
			    text, c->costs.raw, c->costs.tracepoint, 100 * wanted_share(c),
			    c->share >= 0 ? "surveyed" : "assumed",
			    measured(settings->costs, c->arena));
	return c->why_no_call && *c->why_no_call
		       ? arena_printf(c->arena, "%s; no trampoline on its function: %s", text,
				      c->why_no_call)
		       : text;
}
