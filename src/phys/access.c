/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streams -> hooks: the access path of each, chosen by estimated cost as a
 * database chooses an index, and the texts of the `probe` column.
 */
#include <linux/btf.h>
#include <linux/version.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "phys/internal.h"

/* What the expressions of the kernel part read. */
struct uses {
	bool ppid, pid_ns, comm, stacks;
};

static void note_use(void *context, struct expr *expr)
{
	struct uses *uses = context;

	uses->comm |= expr->kind == EXPR_SYSTEM && expr->index == SYS_COMM;
	uses->stacks |= expr_is_stack(expr);
	uses->ppid |=
		expr->kind == EXPR_SYSTEM && (expr->index == SYS_PPID || expr->index == SYS_TREE);
	uses->pid_ns |= expr->kind == EXPR_SYSTEM && expr->pid_ns;
}

static struct uses find_uses(const struct phys_input *input)
{
	struct uses uses = { false };

	plan_each_node((struct plan *)input->plan, note_use, &uses);
	return uses;
}

typedef VEC(struct hook) hook_vec;
typedef VEC(struct stream *) stream_vec;
typedef VEC(const char *) name_vec;

struct access {
	struct arena *arena;
	struct phys_set *set;
	const struct phys_input *inputs; /* by part */
	struct diags *diags;
	struct phys *phys; /* the part whose streams are being hooked */
	const struct phys_input *input;
	const struct phys_source *source;
	struct call_choice calls;
	hook_vec hooks;
	name_vec probes;
};

/*
 * Streams of one source, hooked the same way: a program of their own, or a further use of
 * the program that is there already (D2: one program a hook).  Look-ups come before
 * stores: an event's partner is an earlier one.
 */
static void use_add(struct access *a, struct hook hook, struct hook_use use)
{
	struct arena *arena = a->arena;
	u32 block = a->phys->number / BLOCK_PARTS, n_uses = 0, at;
	struct hook *same = NULL;

	use.phys = a->phys;
	use.part = a->phys->number;
	use.source = a->source;
	for (u32 i = 0; i < a->hooks.n && !same; i++) {
		if (!hook_is_same(&a->hooks.at[i], &hook))
			continue;
		if (a->hooks.at[i].block == block)
			same = &a->hooks.at[i];
		else
			a->hooks.at[i].is_split = hook.is_split = true;
	}
	if (!same) {
		for (u32 i = 0; i < a->set->n_parts; i++)
			n_uses += a->set->parts[i]->n_sources;
		hook.uses = arena_array(arena, struct hook_use, n_uses);
		hook.number = a->hooks.n;
		hook.block = block;
		vec_push(arena, &a->hooks, hook);
		same = &a->hooks.at[a->hooks.n - 1];
	}
	/* Of each part, uses that only store go last. */
	for (at = same->n_uses++; at > 0 && use.phys == same->uses[at - 1].phys &&
				  use.source->is_root && !same->uses[at - 1].source->is_root;
	     at--)
		same->uses[at] = same->uses[at - 1];
	same->uses[at] = use;
}

static void hook_add(struct access *a, struct hook hook, struct hook_use use)
{
	use.first_probe = a->probes.n;
	for (u32 i = 0; i < use.n_streams; i++)
		vec_push(a->arena, &a->probes, use.streams[i]->name);
	use_add(a, hook, use);
}

/* By a hook of its own. */
static void add_stream(struct access *a, struct stream *s, struct hook hook)
{
	enum access_path path = hook.path;
	struct hook_use use = { .streams = arena_array(a->arena, struct stream *, 1),
				.n_streams = 1 };

	use.streams[0] = s;
	hook.tracepoint_id = s->tracepoint_id;
	/* The catalog may go away before the programs do. */
	if (!hook.target)
		hook.target = path == ACCESS_SAMPLE ? arena_strdup(a->arena, s->name)
			      : path == ACCESS_TRACEPOINT
				      ? arena_printf(a->arena, "%s:%s", s->category, s->event)
			      : s->is_function ? stream_function(a->arena, s)
					       : arena_strdup(a->arena, s->event);
	hook_add(a, hook, use);
}

/* Of what BTF says a raw tracepoint is called with; 0: it knows none of that name. */
static u32 raw_btf_id(const struct phys_input *input, const char *event)
{
	char name[128];

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	return input->features->has_btf ? catalog_btf_id(input->catalog, BTF_KIND_TYPEDEF, name)
					: 0;
}

/* The same tracepoint?  (Raw ones have no category: their name alone is one of a kind.) */
static bool is_same_event(const struct stream *a, const struct stream *b)
{
	return a->kind == b->kind && strcmp(a->event, b->event) == 0 &&
	       (!a->category || !b->category || strcmp(a->category, b->category) == 0);
}

/* The fields of an event that are read, as the raw tracepoint has them. */
struct raw_reading {
	const struct access *access;
	const struct stream *stream;
	u32 source;
	struct raw_twin *twin;
	bool is_looked; /* for the twin */
	VEC(struct raw_field) fields;
	const char *missing; /* a field that cannot be had so */
};

static void read_raw(void *context, struct expr *e)
{
	struct raw_reading *r = context;
	const struct access *a = r->access;
	const struct stream *s = r->stream;
	struct raw_field field = { .name = e->name };
	u32 i = 0;

	if (e->kind != EXPR_FIELD || e->source != r->source || r->missing)
		return;
	while (i < r->fields.n && strcasecmp(r->fields.at[i].name, e->name) != 0)
		i++;
	if (i < r->fields.n)
		return;
	for (i = 0; strcasecmp(s->fields[i].name, e->name) != 0; i++)
		;
	if (!r->is_looked)
		r->twin = raw_twin_open(a->input->catalog, a->arena, s);
	r->is_looked = true;
	if (r->twin)
		field.expr = raw_twin_field(r->twin, &s->fields[i], &field.note);
	if (!field.expr)
		r->missing = e->name;
	vec_push(a->arena, &r->fields, field);
}

/*
 * What all sources of an event read of it: they share a hook, since of two hooks nobody knows
 * which the kernel calls first, and an event would meet itself.
 */
static void read_all_raw(struct raw_reading *r)
{
	const struct access *a = r->access;

	for (u32 i = 0; i < a->set->n_parts; i++)
		for (u32 j = 0; j < a->set->parts[i]->n_sources; j++) {
			const struct phys_source *source = &a->set->parts[i]->sources[j];
			const struct stream_list *list = source->streams;
			bool is_of = source == a->source;

			for (u32 k = 0; !is_of && k < list->streams.n; k++)
				is_of = is_same_event(list->streams.at[k], r->stream);
			r->source = source->number;
			if (is_of)
				plan_each_node((struct plan *)a->inputs[i].plan, read_raw, r);
		}
}

/* The path of a tracepoint that is no system call. */
static struct hook tracepoint_hook(const struct access *a, struct stream *s,
				   enum setting_access setting)
{
	struct raw_reading r = { .access = a, .stream = s };
	u32 id;

	if (setting == ACCESS_ONLY_TRACEPOINT)
		return (struct hook){ .path = ACCESS_TRACEPOINT,
				      .reason = "SET access_path = tracepoint" };
	id = is_of_calls(s) ? 0 : raw_btf_id(a->input, s->event);
	if (!id)
		return (struct hook){ .path = ACCESS_TRACEPOINT,
				      .reason = "BTF knows no raw tracepoint of that name" };
	read_all_raw(&r);
	if (!r.fields.n)
		return (struct hook){
			.path = ACCESS_RAW,
			/* Those that come later may read fields. */
			.is_typed = a->set->is_changing,
			.attach_btf_id = id,
			.reason = "no field is read, so the raw tracepoint of that name will do"
		};
	if (!r.missing)
		return (struct hook){ .path = ACCESS_RAW,
				      .is_typed = true,
				      .attach_btf_id = id,
				      .raw = raw_twin_stream(r.twin),
				      .fields = r.fields.at,
				      .n_fields = r.fields.n,
				      .reason = "the arguments of the raw tracepoint have all "
						"fields that are read" };
	return (struct hook){
		.path = ACCESS_TRACEPOINT,
		.reason = arena_printf(a->arena, "%s is laid out by the tracepoint only", r.missing)
	};
}

/* A stream that is no system call: its tracepoint, or the raw tracepoint of the same name. */
static bool add_plain(struct access *a, struct stream *s)
{
	enum setting_access setting = settings_tracepoint_access(a->input->settings);
	struct hook hook = { .path = ACCESS_RAW, .reason = "the stream is a raw tracepoint" };

	if (s->kind != STREAM_RAW_TRACEPOINT)
		hook = tracepoint_hook(a, s, setting);
	if (hook.path == ACCESS_TRACEPOINT && setting == ACCESS_ONLY_RAW)
		return diag_refuse(a->diags, "no-raw-path", a->input->plan->span,
				   "%s cannot be read by a raw tracepoint: %s" HINT
				   "SET access_path = auto",
				   s->name, hook.reason);
	add_stream(a, s, hook);
	return true;
}

/* What is hooked one by one. */
static bool add_hook(struct access *a, struct stream *s)
{
	bool is_list = s->kind == STREAM_ITERATOR;
	struct hook hook;

	if (is_list ? !phys_iterator_hook(a->input, s, a->arena, a->diags, &hook)
		    : !phys_function_hook(a->input, a->source, s, a->arena, a->diags, &hook))
		return false;
	add_stream(a, s, hook);
	return true;
}

static u32 find_compat(const struct phys_input *input)
{
	const struct arch *arch = catalog_arch(input->catalog);
	u32 task = catalog_btf_id(input->catalog, BTF_KIND_STRUCT, "task_struct");
	struct catalog_member member;

	if (task && catalog_member(input->catalog, task, arch->compat_member, NULL, &member) == 0)
		return (u32)(member.offset_bits / 8);
	return arch->compat_offset;
}

static struct hook raw_syscall_hook(const struct phys_input *input, bool is_exit)
{
	struct hook hook = { .path = ACCESS_RAW_SYSCALL, .is_exit = is_exit };

	hook.target = is_exit ? "sys_exit" : "sys_enter";
	hook.attach_btf_id = raw_btf_id(input, hook.target);
	hook.is_typed = hook.attach_btf_id != 0;
	hook.task_compat_offset = find_compat(input);
	return hook;
}

/* Those of one direction: raw sys_enter or sys_exit for all, or a hook for each. */
static bool add_syscalls(struct access *a, stream_vec *streams, bool is_exit)
{
	enum access_path path = phys_call_path(&a->calls, a->input->settings, is_exit);
	const char *why = phys_why_calls(&a->calls, a->input->settings, is_exit);

	if (path == ACCESS_RAW_SYSCALL) {
		struct hook_use use = { .streams = streams->at, .n_streams = streams->n };
		struct hook hook = raw_syscall_hook(a->input, is_exit);

		hook.reason = why;
		hook_add(a, hook, use);
		return true;
	}
	for (u32 i = 0; i < streams->n; i++) {
		struct stream *s = streams->at[i];
		struct hook hook = { .path = path, .reason = why };

		if (path == ACCESS_CALL) {
			const char *why_not = phys_why_no_call(a->input, a->source, s);

			if (why_not)
				return diag_refuse(a->diags, "no-trampoline", a->input->plan->span,
						   "%s cannot be read by a trampoline: %s" HINT
						   "SET access_path = auto",
						   s->name, why_not);
			hook.is_exit = is_exit;
			hook.is_typed = true;
			hook.is_insisted = a->input->settings->access_path == ACCESS_ONLY_FENTRY;
			hook.attach_btf_id = phys_call_function(a->input, s, &hook.target);
			hook.task_compat_offset = find_compat(a->input);
		}
		add_stream(a, s, hook);
	}
	return true;
}

/* ppid is current->real_parent->tgid; src/gen/pid.c needs all of them. */
static const struct {
	const char *of, *member;
	size_t offset;
} pid_members[] = {
	{ "task_struct", "real_parent", offsetof(struct pid_offsets, real_parent) },
	{ "task_struct", "tgid", offsetof(struct pid_offsets, tgid) },
	{ "task_struct", "group_leader", offsetof(struct pid_offsets, group_leader) },
	{ "task_struct", "thread_pid", offsetof(struct pid_offsets, thread_pid) },
	{ "pid", "level", offsetof(struct pid_offsets, level) },
	{ "pid", "numbers", offsetof(struct pid_offsets, numbers) },
	{ "upid", "nr", offsetof(struct pid_offsets, nr) },
	{ "upid", "ns", offsetof(struct pid_offsets, ns) },
	{ "pid_namespace", "ns.inum", offsetof(struct pid_offsets, inum) },
};
#define PPID_MEMBERS 2

static bool find_pids(struct phys *phys, const struct phys_input *input, u32 n, struct diags *diags)
{
	for (u32 i = 0; i < n; i++) {
		u32 id = catalog_btf_id(input->catalog, BTF_KIND_STRUCT, pid_members[i].of);
		struct catalog_member m;

		if (!id || catalog_member(input->catalog, id, pid_members[i].member, NULL, &m)) {
			diag_hint(
				diags,
				diag_failure_at(diags, "no-btf", input->plan->span,
						"%s the kernel's type information (BTF)",
						n == PPID_MEMBERS
							? "ppid needs"
							: "numbers of a PID namespace need"),
				"a kernel with CONFIG_DEBUG_INFO_BTF has /sys/kernel/btf/vmlinux");
			return false;
		}
		*(u32 *)((char *)&phys->pids + pid_members[i].offset) = (u32)(m.offset_bits / 8);
	}
	return true;
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

/*
 * Up to 6.9 a load of the page of system calls of old, whose address is above the kernel's, ended
 * the kernel (commit b599d7d26d6a).
 */
static void find_cast(struct phys *phys, const struct phys_input *input)
{
	const struct kernel_features *features = input->features;
	u32 cast, type;

	if (features->version < KERNEL_VERSION(6, 10, 0) || !features->has_btf ||
	    !catalog_arch(input->catalog)->checks_loads)
		return;
	cast = catalog_btf_id(input->catalog, BTF_KIND_FUNC, "bpf_rdonly_cast");
	type = catalog_btf_id(input->catalog, BTF_KIND_STRUCT, "pt_regs");
	if (!cast || !type || (features->has_typed_loads && !features->has_typed_loads(cast, type)))
		return;
	phys->typed.cast_btf_id = cast;
	phys->typed.long_btf_id = type;
}

/* Recorded rows are read in user space. */
static bool is_file(const struct phys_source *source)
{
	return source->streams->streams.at[0]->kind == STREAM_FILE;
}

/* One program for all. */
static bool add_functions(struct access *a, const struct phys_source *source)
{
	struct hook_use use = { .streams = source->streams->streams.at,
				.n_streams = source->streams->streams.n };
	struct hook hook;

	if (!phys_functions_hook(a->input, source, a->arena, a->diags, &hook))
		return false;
	hook_add(a, hook, use);
	return true;
}

/* Places of a program's file: one text of `probe` has one code, wherever it stands. */
static bool add_program(struct access *a, const struct phys_source *source)
{
	const struct stream_list *list = source->streams;
	u32 first_probe = a->probes.n, n;
	struct program_hook *hooks = phys_program_hooks(a->input, source, a->arena, a->diags, &n);

	for (u32 i = 0; i < list->streams.n; i++)
		if (!i || strcmp(list->streams.at[i - 1]->name, list->streams.at[i]->name) != 0)
			vec_push(a->arena, &a->probes, list->streams.at[i]->name);
	for (u32 i = 0; hooks && i < n; i++) {
		hooks[i].use.first_probe += first_probe;
		use_add(a, hooks[i].hook, hooks[i].use);
	}
	return hooks != NULL;
}

static bool add_source(struct access *a, const struct phys_source *source)
{
	stream_vec calls[2] = { { 0 }, { 0 } };

	a->source = source;
	if (source->streams->streams.at[0]->file_path && !a->input->is_replay)
		return add_program(a, source);
	if (source->streams->streams.n > 1 && source->streams->streams.at[0]->is_function &&
	    !a->input->is_replay)
		return add_functions(a, source);
	for (u32 i = 0; i < source->streams->streams.n; i++) {
		struct stream *s = source->streams->streams.at[i];

		if (a->input->is_replay) {
			add_stream(a, s,
				   (struct hook){ .path = ACCESS_REPLAY,
						  .reason = "recorded events" });
		} else if (stream_is_call(s)) {
			vec_push(a->arena, &calls[s->is_syscall_exit], s);
		} else if (s->sample) {
			add_stream(a, s,
				   (struct hook){ .path = ACCESS_SAMPLE,
						  .sample = *s->sample,
						  .reason = s->sample->is_of_one_cpu
								    ? "a perf event on one CPU"
								    : "a perf event on each CPU" });
		} else if (s->is_function || s->kind == STREAM_ITERATOR) {
			if (!add_hook(a, s))
				return false;
		} else if (!add_plain(a, s)) {
			return false;
		}
	}
	for (int is_exit = 0; is_exit < 2; is_exit++)
		if (calls[is_exit].n && !add_syscalls(a, &calls[is_exit], is_exit))
			return false;
	return true;
}

static bool part_access(struct access *a, u32 number)
{
	const struct phys_input *input = &a->inputs[number];
	struct phys *phys = a->set->parts[number];
	struct uses uses = find_uses(input);

	a->phys = phys;
	a->input = input;
	a->probes = (name_vec){ 0 };
	for (u32 i = 0; i < phys->n_sources; i++)
		if (!is_file(&phys->sources[i]) && !add_source(a, &phys->sources[i]))
			return false;
	for (u32 i = 0; i < a->hooks.n; i++)
		for (u32 k = 0;
		     a->hooks.at[i].path == ACCESS_ITERATOR && k < a->hooks.at[i].n_fields; k++)
			expr_each(a->hooks.at[i].fields[k].expr, note_use, &uses);
	if ((uses.ppid || uses.pid_ns) && !input->is_replay &&
	    !find_pids(phys, input, uses.pid_ns ? ARRAY_SIZE(pid_members) : PPID_MEMBERS, a->diags))
		return false;
	if (uses.comm && !input->is_replay)
		find_comm(phys, input);
	for (u32 i = 0; i < phys->n_sources; i++)
		if (phys->sources[i].scan->scan.loads && !phys->typed.cast_btf_id &&
		    !input->is_replay)
			find_cast(phys, input);
	phys->has_stacks = uses.stacks;
	phys->probes = a->probes.at;
	phys->n_probes = a->probes.n;
	return true;
}

/* One search in BTF for all plain tracepoints, not one for each. */
static void expect_raw(const struct phys_input *input, const struct phys *phys)
{
	if (input->is_replay || input->settings->access_path == ACCESS_ONLY_TRACEPOINT)
		return;
	for (u32 i = 0; i < phys->n_sources; i++) {
		const struct stream_list *list = phys->sources[i].streams;

		for (u32 k = 0; k < list->streams.n; k++) {
			const struct stream *s = list->streams.at[k];

			if (stream_is_call(s) && list->streams.n == 1)
				phys_expect_call(input, s);
			else if (s->kind == STREAM_TRACEPOINT && !is_of_calls(s))
				catalog_expect_raw(input->catalog, s->event);
		}
	}
}

static bool find_hooks(struct access *a)
{
	struct phys_set *set = a->set;

	for (u32 i = 0; i < set->n_parts; i++)
		if (!part_access(a, i))
			return false;
	if (!a->inputs[0].is_replay &&
	    phys_refuse_hooks(a->hooks.at, a->hooks.n, a->inputs[0].plan->span, a->diags))
		return false;
	set->hooks = a->hooks.at;
	set->n_hooks = a->hooks.n;
	return true;
}

bool phys_access(struct phys_set *set, const struct phys_input *inputs, struct arena *arena,
		 struct diags *diags)
{
	struct access access = { .arena = arena, .set = set, .inputs = inputs, .diags = diags };

	for (u32 i = 0; i < set->n_parts; i++)
		expect_raw(&inputs[i], set->parts[i]);
	phys_choose_calls(&access.calls, set, inputs, arena);
	return find_hooks(&access);
}

/*
 * false: a setting insists on its path, or it reads none or several calls, or each by its own
 * function, which costs others nothing.
 */
static bool has_choice(const struct phys_set *set, const struct phys_input *inputs, bool *ret_raw)
{
	bool has_any = false;

	for (u32 i = 0; i < set->n_parts; i++)
		if (settings_tracepoint_access(inputs[i].settings) != ACCESS_AUTO)
			return false;
	for (u32 i = 0; i < set->n_hooks; i++) {
		const struct hook *hook = &set->hooks[i];

		for (u32 k = 0; k < hook->n_uses; k++) {
			if (!stream_is_call(hook->uses[k].streams[0]))
				continue;
			if (hook->uses[k].n_streams > 1 || hook->path == ACCESS_CALL)
				return false;
			*ret_raw = hook->path == ACCESS_RAW_SYSCALL;
			has_any = true;
		}
	}
	return has_any && !inputs[0].is_replay;
}

/*
 * Starts that wait by thread are found by where its registers are, which a tracepoint's program
 * knows from a helper of 5.15, as a typed raw one has it.
 */
static bool can_find_starts(const struct phys_set *set, const struct phys_input *input)
{
	for (u32 i = 0; i < set->n_parts; i++)
		for (u32 k = 0; k < set->parts[i]->n_joins; k++)
			if (set->parts[i]->joins[k].kind == PAIR_THREAD &&
			    (!input->features->has_btf || !raw_btf_id(input, "sys_enter") ||
			     input->features->version < KERNEL_VERSION(5, 15, 0)))
				return false;
	return true;
}

struct phys_set *phys_other_path(const struct phys_set *set, const struct phys_input *inputs,
				 struct arena *arena)
{
	struct phys_set *other = arena_new(arena, struct phys_set);
	struct diags unheard;
	struct access access = {
		.arena = arena, .set = other, .inputs = inputs, .diags = &unheard
	};
	bool is_raw;

	diags_init(&unheard, arena, NULL, "", 0);
	if (!has_choice(set, inputs, &is_raw) || !can_find_starts(set, &inputs[0]))
		return NULL;
	*other = *set;
	phys_choose_calls(&access.calls, set, inputs, arena);
	access.calls.paths[0] = access.calls.paths[1] =
		is_raw ? ACCESS_TRACEPOINT : ACCESS_RAW_SYSCALL;
	return find_hooks(&access) ? other : NULL;
}
