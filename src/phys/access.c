/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streams -> hooks: the access path of each, chosen by estimated cost as a
 * database chooses an index, and the texts of the `probe` column.
 */
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

#include "phys/internal.h"

/*
 * Nanoseconds of an empty program per event it is for, and per other system
 * call that only passes by; measured on x86-64, kernel 6.18 (ARCHITECTURE.md).
 */
#define TRACEPOINT_HIT_NS   126.0
#define TRACEPOINT_OTHER_NS 40.0
#define RAW_HIT_NS	    60.0
#define RAW_OTHER_NS	    71.0
/* Without a survey: half of all system calls are the wanted ones. */
#define DEFAULT_SHARE 0.5

#ifdef __x86_64__
#define HAS_RAW_SYSCALL_REGISTERS true
#else
/* The registers of system call arguments are known to gen/ for x86-64 only. */
#define HAS_RAW_SYSCALL_REGISTERS false
#endif

/* What the expressions of the kernel part read. */
struct uses {
	bool fields, ppid, comm;
};

static void note_use(void *context, struct expr *expr)
{
	struct uses *uses = context;

	uses->fields |= expr->kind == EXPR_FIELD;
	uses->comm |= expr->kind == EXPR_SYSTEM && expr->index == SYS_COMM;
	uses->ppid |= expr->kind == EXPR_SYSTEM && expr->index == SYS_PPID;
}

static struct uses find_uses(const struct phys *phys, const struct phys_input *input)
{
	struct uses uses = { 0 };
	const struct plan *agg = plan_find(input->plan, PLAN_AGGREGATE);
	const struct plan *project = plan_find(input->plan, PLAN_PROJECT);

	for (u32 i = 0; i < phys->n_conjuncts; i++)
		expr_each(phys->conjuncts[i], note_use, &uses);
	for (u32 i = 0; agg && i < agg->n_keys; i++)
		expr_each(agg->keys[i].expr, note_use, &uses);
	for (u32 i = 0; agg && i < agg->n_aggregates; i++) {
		if (agg->aggregates[i].arg)
			expr_each(agg->aggregates[i].arg, note_use, &uses);
		if (agg->aggregates[i].filter)
			expr_each(agg->aggregates[i].filter, note_use, &uses);
	}
	for (u32 i = 0; !agg && i < project->n_items; i++)
		expr_each(project->items[i].expr, note_use, &uses);
	return uses;
}

static double estimate(double hit_ns, double other_ns, double share)
{
	return hit_ns + other_ns * (1 - share) / share;
}

typedef VEC(struct hook) hook_vec;
typedef VEC(struct stream *) stream_vec;
typedef VEC(const char *) name_vec;

static void hook_add(struct phys *phys, hook_vec *hooks, name_vec *probes, struct hook hook)
{
	hook.first_probe = probes->n;
	for (u32 i = 0; i < hook.n_streams; i++)
		vec_push(phys->arena, probes, hook.streams[i]->name);
	vec_push(phys->arena, hooks, hook);
}

static struct hook hook_one(struct phys *phys, struct stream *s, enum access_path path)
{
	struct hook hook = { .path = path, .n_streams = 1 };

	hook.streams = arena_array(phys->arena, struct stream *, 1);
	hook.streams[0] = s;
	hook.tracepoint_id = s->tracepoint_id;
	hook.target = path == ACCESS_TRACEPOINT
			      ? arena_printf(phys->arena, "%s:%s", s->category, s->event)
			      : s->event;
	return hook;
}

static bool has_raw_twin(const struct phys_input *input, const struct stream *s)
{
	char name[128];

	if (strcmp(s->category, "syscalls") == 0 || !input->features->has_btf)
		return false;
	snprintf(name, sizeof(name), "btf_trace_%s", s->event);
	return catalog_btf_id(input->catalog, BTF_KIND_TYPEDEF, name) != 0;
}

/* A stream that is no system call: its tracepoint, or the raw tracepoint of the same name. */
static bool add_plain(struct phys *phys, const struct phys_input *input, struct stream *s,
		      bool uses, hook_vec *hooks, name_vec *probes, struct diags *diags)
{
	enum setting_access setting = input->settings->access_path;
	struct hook hook;

	if (s->kind == STREAM_RAW_TRACEPOINT) {
		hook = hook_one(phys, s, ACCESS_RAW);
		hook.cost_ns = RAW_HIT_NS;
		hook.reason = "the stream is a raw tracepoint";
	} else if (!uses && setting != ACCESS_ONLY_TRACEPOINT && has_raw_twin(input, s)) {
		hook = hook_one(phys, s, ACCESS_RAW);
		hook.cost_ns = RAW_HIT_NS;
		hook.reason = "no field is read, so the raw tracepoint of that name will do";
	} else if (setting == ACCESS_ONLY_RAW) {
		struct diag *d = diag_error(diags, "no-raw-path", input->plan->span,
					    "%s cannot be read by a raw tracepoint%s", s->name,
					    uses ? " when its fields are used" : "");

		diag_hint(diags, d, "SET access_path = auto");
		return false;
	} else {
		hook = hook_one(phys, s, ACCESS_TRACEPOINT);
		hook.cost_ns = TRACEPOINT_HIT_NS;
		hook.reason = setting == ACCESS_ONLY_TRACEPOINT
				      ? "SET access_path = tracepoint"
				      : "its fields are laid out by the tracepoint only";
	}
	hook_add(phys, hooks, probes, hook);
	return true;
}

static struct hook raw_syscall_hook(const struct phys_input *input, stream_vec *streams,
				    bool is_exit)
{
	struct hook hook = { .path = ACCESS_RAW_SYSCALL, .is_exit = is_exit };

	hook.streams = streams->at;
	hook.n_streams = streams->n;
	hook.target = is_exit ? "sys_exit" : "sys_enter";
	if (input->features->has_btf)
		hook.attach_btf_id =
			catalog_btf_id(input->catalog, BTF_KIND_TYPEDEF,
				       is_exit ? "btf_trace_sys_exit" : "btf_trace_sys_enter");
	hook.is_typed = hook.attach_btf_id != 0;
	return hook;
}

/* The system calls of one direction: raw sys_enter or sys_exit for all, or a tracepoint each. */
static bool add_syscalls(struct phys *phys, const struct phys_input *input, stream_vec *streams,
			 bool is_exit, hook_vec *hooks, name_vec *probes, struct diags *diags)
{
	enum setting_access setting = input->settings->access_path;
	double share = input->share >= 0 ? MAX(input->share, 0.001) : DEFAULT_SHARE;
	double raw_ns = estimate(RAW_HIT_NS, RAW_OTHER_NS, share);
	double tracepoint_ns = estimate(TRACEPOINT_HIT_NS, TRACEPOINT_OTHER_NS, share);
	bool is_raw = streams->n > 1 || raw_ns <= tracepoint_ns;
	const char *why;

	why = arena_printf(phys->arena,
			   "estimate per wanted event: raw %.0f ns, tracepoint %.0f ns, at %.0f%% "
			   "wanted of all system calls (%s)",
			   raw_ns, tracepoint_ns, 100 * share,
			   input->share >= 0 ? "surveyed" : "assumed");
	if (setting == ACCESS_AUTO && streams->n > 1)
		why = "one raw tracepoint serves all these system calls";
	if (setting != ACCESS_AUTO) {
		is_raw = setting == ACCESS_ONLY_RAW;
		why = is_raw ? "SET access_path = raw" : "SET access_path = tracepoint";
	}
	if (!HAS_RAW_SYSCALL_REGISTERS) {
		is_raw = false;
		why = "this architecture has no raw path yet";
	}
	if (is_raw) {
		struct hook hook = raw_syscall_hook(input, streams, is_exit);

		hook.cost_ns = raw_ns;
		hook.reason = why;
		hook_add(phys, hooks, probes, hook);
		return true;
	}
	for (u32 i = 0; i < streams->n; i++) {
		struct hook hook = hook_one(phys, streams->at[i], ACCESS_TRACEPOINT);

		hook.cost_ns = tracepoint_ns;
		hook.reason = why;
		hook_add(phys, hooks, probes, hook);
	}
	return true;
}

/* ppid is current->real_parent->tgid; BTF tells where they are. */
static bool find_parent(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	u32 task = catalog_btf_id(input->catalog, BTF_KIND_STRUCT, "task_struct");
	struct catalog_member parent, tgid;

	if (task && catalog_member(input->catalog, task, "real_parent", NULL, &parent) == 0 &&
	    catalog_member(input->catalog, task, "tgid", NULL, &tgid) == 0) {
		phys->task_real_parent_offset = (u32)(parent.offset_bits / 8);
		phys->task_tgid_offset = (u32)(tgid.offset_bits / 8);
		return true;
	}
	diag_hint(diags,
		  diag_error(diags, "no-btf", input->plan->span,
			     "ppid needs the kernel's type information (BTF)"),
		  "a kernel with CONFIG_DEBUG_INFO_BTF has /sys/kernel/btf/vmlinux");
	return false;
}

/* Without BTF, comm is read by the helper, which costs 36 ns more (ARCHITECTURE.md). */
static void find_comm(struct phys *phys, const struct phys_input *input)
{
	u32 task = input->features->has_btf
			   ? catalog_btf_id(input->catalog, BTF_KIND_STRUCT, "task_struct")
			   : 0;
	struct catalog_member comm;

	if (task && catalog_member(input->catalog, task, "comm", NULL, &comm) == 0 &&
	    comm.offset_bits % 64 == 0 && comm.size_bytes == 16)
		phys->task_comm_offset = (u32)(comm.offset_bits / 8);
}

bool phys_access(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	const struct plan *scan = plan_find(input->plan, PLAN_SCAN);
	stream_vec calls[2] = { { 0 }, { 0 } };
	struct uses uses = find_uses(phys, input);
	hook_vec hooks = { 0 };
	name_vec probes = { 0 };

	for (u32 i = 0; i < scan->streams->streams.n; i++) {
		struct stream *s = scan->streams->streams.at[i];

		if (input->is_replay) {
			struct hook hook = hook_one(phys, s, ACCESS_REPLAY);

			hook.reason = "recorded events";
			hook_add(phys, &hooks, &probes, hook);
		} else if ((s->is_syscall_enter || s->is_syscall_exit) && s->syscall_nr >= 0) {
			vec_push(phys->arena, &calls[s->is_syscall_exit], s);
		} else if (!add_plain(phys, input, s, uses.fields, &hooks, &probes, diags)) {
			return false;
		}
	}
	for (int is_exit = 0; is_exit < 2; is_exit++)
		if (calls[is_exit].n &&
		    !add_syscalls(phys, input, &calls[is_exit], is_exit, &hooks, &probes, diags))
			return false;
	if (uses.ppid && !input->is_replay && !find_parent(phys, input, diags))
		return false;
	if (uses.comm && !input->is_replay)
		find_comm(phys, input);
	phys->hooks = hooks.at;
	phys->n_hooks = hooks.n;
	phys->probes = probes.at;
	phys->n_probes = probes.n;
	return true;
}
