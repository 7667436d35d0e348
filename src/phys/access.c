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

/* What the expressions of the kernel part read; fields: of one source. */
struct uses {
	u32 source;
	bool fields, ppid, comm;
};

static void note_use(void *context, struct expr *expr)
{
	struct uses *uses = context;

	uses->fields |= expr->kind == EXPR_FIELD && expr->source == uses->source;
	uses->comm |= expr->kind == EXPR_SYSTEM && expr->index == SYS_COMM;
	uses->ppid |= expr->kind == EXPR_SYSTEM && expr->index == SYS_PPID;
}

static void note_uses(void *context, struct expr *expr)
{
	expr_each(expr, note_use, context);
}

static struct uses find_uses(const struct phys *phys, const struct phys_input *input, u32 source)
{
	struct uses uses = { .source = source };

	phys_each_of_plan(phys, input->plan, note_uses, &uses);
	return uses;
}

static double estimate(double hit_ns, double other_ns, double share)
{
	return hit_ns + other_ns * (1 - share) / share;
}

typedef VEC(struct hook) hook_vec;
typedef VEC(struct stream *) stream_vec;
typedef VEC(const char *) name_vec;

struct access {
	struct phys *phys;
	const struct phys_input *input;
	struct diags *diags;
	const struct phys_source *source; /* whose streams are being hooked */
	bool uses_fields;
	hook_vec hooks;
	name_vec probes;
};

/*
 * Streams of one source, hooked the same way: a program of their own, or a further use of
 * the program that is there already (D2: one program a hook).  Look-ups come before
 * stores: an event's partner is an earlier one.
 */
static void hook_add(struct access *a, struct hook hook, struct hook_use use)
{
	struct arena *arena = a->phys->arena;
	struct hook *same = NULL;

	use.source = a->source;
	use.first_probe = a->probes.n;
	for (u32 i = 0; i < use.n_streams; i++)
		vec_push(arena, &a->probes, use.streams[i]->name);
	for (u32 i = 0; i < a->hooks.n && !same && hook.path != ACCESS_REPLAY; i++)
		if (a->hooks.at[i].path == hook.path && a->hooks.at[i].is_exit == hook.is_exit &&
		    strcmp(a->hooks.at[i].target, hook.target) == 0)
			same = &a->hooks.at[i];
	if (!same) {
		hook.uses = arena_array(arena, struct hook_use, a->phys->n_sources);
		vec_push(arena, &a->hooks, hook);
		same = &a->hooks.at[a->hooks.n - 1];
	}
	same->uses[same->n_uses++] = use;
}

/* Uses that only store go last, each kind in the order of its sources. */
static void order_uses(struct hook *hook)
{
	for (u32 i = 1; i < hook->n_uses; i++) {
		struct hook_use use = hook->uses[i];
		u32 at = i;

		for (; at > 0 && use.source->is_root && !hook->uses[at - 1].source->is_root; at--)
			hook->uses[at] = hook->uses[at - 1];
		hook->uses[at] = use;
	}
}

static struct hook hook_one(struct access *a, struct stream *s, enum access_path path,
			    struct hook_use *ret_use)
{
	struct hook hook = { .path = path };

	ret_use->streams = arena_array(a->phys->arena, struct stream *, 1);
	ret_use->streams[0] = s;
	ret_use->n_streams = 1;
	hook.tracepoint_id = s->tracepoint_id;
	hook.target = path == ACCESS_TRACEPOINT
			      ? arena_printf(a->phys->arena, "%s:%s", s->category, s->event)
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
static bool add_plain(struct access *a, struct stream *s)
{
	enum setting_access setting = a->input->settings->access_path;
	struct hook_use use = { 0 };
	struct hook hook;

	if (s->kind == STREAM_RAW_TRACEPOINT) {
		hook = hook_one(a, s, ACCESS_RAW, &use);
		hook.cost_ns = RAW_HIT_NS;
		hook.reason = "the stream is a raw tracepoint";
	} else if (!a->uses_fields && setting != ACCESS_ONLY_TRACEPOINT &&
		   has_raw_twin(a->input, s)) {
		hook = hook_one(a, s, ACCESS_RAW, &use);
		hook.cost_ns = RAW_HIT_NS;
		hook.reason = "no field is read, so the raw tracepoint of that name will do";
	} else if (setting == ACCESS_ONLY_RAW) {
		struct diag *d = diag_error(a->diags, "no-raw-path", a->input->plan->span,
					    "%s cannot be read by a raw tracepoint%s", s->name,
					    a->uses_fields ? " when its fields are used" : "");

		diag_hint(a->diags, d, "SET access_path = auto");
		return false;
	} else {
		hook = hook_one(a, s, ACCESS_TRACEPOINT, &use);
		hook.cost_ns = TRACEPOINT_HIT_NS;
		hook.reason = setting == ACCESS_ONLY_TRACEPOINT
				      ? "SET access_path = tracepoint"
				      : "its fields are laid out by the tracepoint only";
	}
	hook_add(a, hook, use);
	return true;
}

static struct hook raw_syscall_hook(const struct phys_input *input, bool is_exit)
{
	struct hook hook = { .path = ACCESS_RAW_SYSCALL, .is_exit = is_exit };

	hook.target = is_exit ? "sys_exit" : "sys_enter";
	if (input->features->has_btf)
		hook.attach_btf_id =
			catalog_btf_id(input->catalog, BTF_KIND_TYPEDEF,
				       is_exit ? "btf_trace_sys_exit" : "btf_trace_sys_enter");
	hook.is_typed = hook.attach_btf_id != 0;
	return hook;
}

/* The system calls of one direction: raw sys_enter or sys_exit for all, or a tracepoint each. */
static void add_syscalls(struct access *a, stream_vec *streams, bool is_exit)
{
	const struct phys_input *input = a->input;
	enum setting_access setting = input->settings->access_path;
	double share = input->share >= 0 ? MAX(input->share, 0.001) : DEFAULT_SHARE;
	double raw_ns = estimate(RAW_HIT_NS, RAW_OTHER_NS, share);
	double tracepoint_ns = estimate(TRACEPOINT_HIT_NS, TRACEPOINT_OTHER_NS, share);
	bool is_raw = streams->n > 1 || raw_ns <= tracepoint_ns;
	const char *why;

	why = arena_printf(a->phys->arena,
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
		struct hook_use use = { .streams = streams->at, .n_streams = streams->n };
		struct hook hook = raw_syscall_hook(input, is_exit);

		hook.cost_ns = raw_ns;
		hook.reason = why;
		hook_add(a, hook, use);
		return;
	}
	for (u32 i = 0; i < streams->n; i++) {
		struct hook_use use = { 0 };
		struct hook hook = hook_one(a, streams->at[i], ACCESS_TRACEPOINT, &use);

		hook.cost_ns = tracepoint_ns;
		hook.reason = why;
		hook_add(a, hook, use);
	}
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

static bool add_source(struct access *a, const struct phys_source *source)
{
	stream_vec calls[2] = { { 0 }, { 0 } };

	a->source = source;
	a->uses_fields = find_uses(a->phys, a->input, source->number).fields;
	for (u32 i = 0; i < source->streams->streams.n; i++) {
		struct stream *s = source->streams->streams.at[i];

		if (a->input->is_replay) {
			struct hook_use use = { 0 };
			struct hook hook = hook_one(a, s, ACCESS_REPLAY, &use);

			hook.reason = "recorded events";
			hook_add(a, hook, use);
		} else if ((s->is_syscall_enter || s->is_syscall_exit) && s->syscall_nr >= 0) {
			vec_push(a->phys->arena, &calls[s->is_syscall_exit], s);
		} else if (!add_plain(a, s)) {
			return false;
		}
	}
	for (int is_exit = 0; is_exit < 2; is_exit++)
		if (calls[is_exit].n)
			add_syscalls(a, &calls[is_exit], is_exit);
	return true;
}

bool phys_access(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	struct access access = { .phys = phys, .input = input, .diags = diags };
	struct uses uses = find_uses(phys, input, UINT32_MAX);

	for (u32 i = 0; i < phys->n_sources; i++)
		if (!add_source(&access, &phys->sources[i]))
			return false;
	for (u32 i = 0; i < access.hooks.n; i++)
		order_uses(&access.hooks.at[i]);
	if (uses.ppid && !input->is_replay && !find_parent(phys, input, diags))
		return false;
	if (uses.comm && !input->is_replay)
		find_comm(phys, input);
	phys->hooks = access.hooks.at;
	phys->n_hooks = access.hooks.n;
	phys->probes = access.probes.at;
	phys->n_probes = access.probes.n;
	return true;
}
