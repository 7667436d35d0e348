/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hooks as several parts share them: what each access path is like, how many programs can
 * be on one CPU at once, and a hook in two where one program would be too large.
 */
#include <string.h>
#include <strings.h>

#include "phys/internal.h"

/* Reached from interrupts: task, softirq, irq, NMI. */
#define NESTED_SLOTS 4

const struct access_kind access_kinds[] = {
	[ACCESS_TRACEPOINT] = { .name = "tracepoint", .is_guarded = true, .n_slots = NESTED_SLOTS },
	[ACCESS_RAW] = { .name = "raw tracepoint",
			 .is_guarded_lately = true,
			 .n_slots = NESTED_SLOTS },
	[ACCESS_RAW_SYSCALL] = { .name = "raw system call tracepoint",
				 .is_of_calls = true,
				 .is_of_task = true,
				 .is_guarded_lately = true,
				 .n_slots = 1 },
	[ACCESS_CALL] = { .name = "fentry",
			  .return_name = "fexit",
			  .is_of_calls = true,
			  .is_guarded = true,
			  .n_slots = NESTED_SLOTS },
	[ACCESS_TRAMPOLINE] = { .name = "fentry",
				.return_name = "fexit",
				.is_guarded = true,
				.n_slots = NESTED_SLOTS },
	[ACCESS_KPROBE] = { .name = "kprobe",
			    .return_name = "kretprobe",
			    .is_guarded = true,
			    .n_slots = NESTED_SLOTS },
	[ACCESS_KPROBE_MULTI] = { .name = "kprobe.multi",
				  .return_name = "kretprobe.multi",
				  .is_guarded = true,
				  .n_slots = NESTED_SLOTS },
	[ACCESS_UPROBE] = { .name = "uprobe", .return_name = "uretprobe", .n_slots = NESTED_SLOTS },
	[ACCESS_UPROBE_MULTI] = { .name = "uprobe.multi",
				  .return_name = "uretprobe.multi",
				  .n_slots = NESTED_SLOTS },
	[ACCESS_SAMPLE] = { .name = "perf event", .is_guarded = true, .n_slots = NESTED_SLOTS },
	[ACCESS_ITERATOR] = { .name = "iterator", .is_of_task = true, .n_slots = 1 },
	[ACCESS_REPLAY] = { .name = "replay", .is_of_task = true, .n_slots = 1 },
};
_Static_assert(ARRAY_SIZE(access_kinds) == ACCESS_N, "an access path has no entry");

const char *hook_word(const struct hook *hook)
{
	const struct access_kind *kind = &access_kinds[hook->path];

	return hook->is_exit && kind->return_name ? kind->return_name : kind->name;
}

/* Between two looks at one pattern functions may have come or gone. */
static bool has_same_names(const struct hook *a, const struct hook *b)
{
	bool is_same = a->n_places == b->n_places && a->names && b->names;

	for (u32 i = 0; is_same && i < a->n_places; i++)
		is_same = strcmp(a->names[i], b->names[i]) == 0;
	return is_same;
}

bool hook_is_same(const struct hook *a, const struct hook *b)
{
	if (a->path != b->path || a->is_exit != b->is_exit || a->is_typed != b->is_typed)
		return false;
	if (a->file_path) /* whatever the function is called there */
		return a->pid == b->pid && a->n_places == b->n_places &&
		       a->entry.is_entry == b->entry.is_entry &&
		       file_id_equal(a->file_id, b->file_id) &&
		       memcmp(a->places, b->places, a->n_places * sizeof(*a->places)) == 0;
	if (a->names || b->names)
		return has_same_names(a, b);
	return a->offset_bytes == b->offset_bytes && strcmp(a->target, b->target) == 0;
}

/* Does an event of the hook write a slice: of this part, or of any (NULL)? */
static bool has_root(const struct hook *hook, const struct phys *phys)
{
	for (u32 i = 0; i < hook->n_uses; i++)
		if (hook->uses[i].source->is_root && (!phys || hook->uses[i].phys == phys))
			return true;
	return false;
}

/*
 * How many programs that write slices of the part (NULL: of any part) can be on one CPU at
 * once?  One where it is one that the kernel guards against itself, or where all are of
 * system calls, which start in task context with preemption off.
 */
u32 phys_levels(const struct phys_set *set, const struct phys *phys,
		const struct kernel_features *features)
{
	bool is_of_task = true, is_guarded = false;
	u32 n = 0, n_slots = 1;

	for (u32 i = 0; i < set->n_hooks; i++) {
		const struct access_kind *kind = &access_kinds[set->hooks[i].path];

		if (!has_root(&set->hooks[i], phys))
			continue; /* it only stores starts, and has no slice */
		n++;
		is_of_task &= kind->is_of_task;
		is_guarded = kind->is_guarded ||
			     (kind->is_guarded_lately && features->has_raw_recursion_guard);
		n_slots = MAX(n_slots, kind->n_slots);
	}
	return is_of_task || (n == 1 && is_guarded) ? 1 : n_slots;
}

const char *phys_path_stays(const struct phys_set *set)
{
	const struct stream *first = NULL;

	for (u32 i = 0; i < set->n_hooks; i++) {
		const struct hook *hook = &set->hooks[i];

		for (u32 k = 0; k < hook->n_uses; k++) {
			const struct hook_use *use = &hook->uses[k];
			const struct stream *s = use->streams[0];

			/* The hook's reason says it. */
			if (!(s->is_syscall_enter || s->is_syscall_exit) || use->n_streams > 1 ||
			    settings_tracepoint_access(use->phys->settings) != ACCESS_AUTO)
				continue;
			if (use->phys->n_runnings)
				return "its running sums began with its programs";
			/* -1: a call that is newer than this program. */
			if (first && first->syscall_nr != s->syscall_nr)
				return "it reads several system calls";
			first = s;
		}
	}
	return NULL;
}

/* What it serves and reads, added to what the hook of the set does. */
static void add_uses(struct hook *to, const struct hook *hook)
{
	for (u32 i = 0; i < hook->n_uses; i++) {
		to->uses[to->n_uses] = hook->uses[i];
		to->uses[to->n_uses++].part = hook->uses[i].phys->number;
	}
	to->raw = to->raw ?: hook->raw;
	for (u32 i = 0; i < hook->n_fields; i++) {
		u32 k = 0;

		while (k < to->n_fields && strcasecmp(to->fields[k].name, hook->fields[i].name))
			k++;
		if (k == to->n_fields)
			to->fields[to->n_fields++] = hook->fields[i];
	}
}

struct phys_set *phys_merge(struct phys_set *const *plans, u32 n_plans, u32 n_cpus,
			    struct arena *arena)
{
	struct phys_set *set = arena_new(arena, struct phys_set);
	u32 n_hooks = 0, n_uses = 0, n_fields = 0;

	*set = (struct phys_set){ .is_changing = true,
				  .parts = arena_array(arena, struct phys *, BLOCK_PARTS),
				  .n_parts = BLOCK_PARTS,
				  .n_cpus = n_cpus,
				  .n_stacks = STACKS_USUAL,
				  .n_slots = SLOTS_MAX };
	for (u32 i = 0; i < n_plans; i++) {
		set->arch = plans[i]->arch;
		set->is_checked = plans[i]->is_checked;
		for (u32 k = 0; k < plans[i]->n_hooks; k++) {
			n_hooks++;
			n_uses += plans[i]->hooks[k].n_uses;
			n_fields += plans[i]->hooks[k].n_fields;
		}
	}
	set->hooks = arena_array(arena, struct hook, n_hooks);
	for (u32 i = 0; i < n_plans; i++) {
		for (u32 k = 0; k < plans[i]->n_parts; k++)
			set->parts[plans[i]->parts[k]->number] = plans[i]->parts[k];
		for (u32 k = 0; k < plans[i]->n_hooks; k++) {
			const struct hook *hook = &plans[i]->hooks[k];
			struct hook *to = set->hooks;

			while (to < set->hooks + set->n_hooks && !hook_is_same(to, hook))
				to++;
			if (to == set->hooks + set->n_hooks) {
				*to = *hook;
				to->number = set->n_hooks++;
				/* It may outlive the query that it is of. */
				to->target = arena_strdup(arena, hook->target);
				if (hook->reason)
					to->reason = arena_strdup(arena, hook->reason);
				to->n_uses = to->n_fields = 0;
				to->uses = arena_array(arena, struct hook_use, n_uses);
				to->fields = arena_array(arena, struct raw_field, n_fields);
			}
			add_uses(to, hook);
		}
	}
	return set;
}

bool phys_split(struct phys_set *set, u32 number, struct arena *arena)
{
	struct hook *hooks = arena_array(arena, struct hook, set->n_hooks + 1);
	const struct hook *whole = &set->hooks[number];
	const struct phys *last = whole->uses[whole->n_uses - 1].phys, *middle;
	struct hook *first, *second;
	u32 at = 0;

	if (whole->uses[0].phys == last)
		return false;
	/* The half of the uses, and then all of the part that it ends with. */
	middle = whole->uses[(whole->n_uses - 1) / 2].phys;
	if (middle == last)
		middle = whole->uses[0].phys;
	while (whole->uses[at].phys->number <= middle->number)
		at++;
	for (u32 i = 0; i < set->n_hooks; i++)
		hooks[i + (i > number)] = set->hooks[i];
	first = &hooks[number];
	second = &hooks[number + 1];
	*second = *whole;
	first->n_uses = at;
	second->uses = whole->uses + at;
	second->n_uses = whole->n_uses - at;
	first->is_split = second->is_split = true;
	/* Neither program is guarded against the other. */
	set->n_slots = MAX(set->n_slots, access_kinds[whole->path].n_slots);
	set->hooks = hooks;
	set->n_hooks++;
	for (u32 i = 0; i < set->n_hooks; i++)
		hooks[i].number = i;
	/* Of two programs neither would know what the other has stored. */
	for (u32 i = 0; i < set->n_parts; i++)
		set->parts[i]->starts = set->parts[i]->number;
	return true;
}
