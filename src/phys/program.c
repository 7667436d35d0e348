/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Places of a program's file -> the hooks that read them: functions' entries or returns, or the
 * probes that the program was built with.  One program serves all of a source, but where arguments
 * are read that do not stand at the same place in each.
 */
#include <linux/btf.h>
#include <string.h>
#include <strings.h>

#include "phys/internal.h"

/* Of one source: each is a program, and takes some time to come and to go. */
#define HOOKS_MAX 64

struct reading {
	struct arena *arena;
	u32 source;
	VEC(const char *) names; /* of the arguments that are read */
};

static void note_argument(void *context, struct expr *e)
{
	struct reading *r = context;

	if (e->kind == EXPR_FIELD && e->source == r->source)
		vec_push(r->arena, &r->names, e->name);
}

static const struct user_operand *operand_of(const struct stream *s, const char *name)
{
	for (u32 i = 0; i < s->n_fields; i++)
		if (strcasecmp(s->fields[i].name, name) == 0)
			return s->fields[i].operand;
	return NULL;
}

static bool is_alike(const struct user_operand *a, const struct user_operand *b)
{
	if (!a || !b)
		return a == b;
	return a->kind == b->kind && a->type.bits == b->type.bits &&
	       a->type.is_signed == b->type.is_signed && a->value == b->value &&
	       a->base == b->base && a->index == b->index && a->bits == b->bits &&
	       a->shift == b->shift && a->index_bits == b->index_bits &&
	       a->index_is_signed == b->index_is_signed && a->index_shift == b->index_shift;
}

static bool are_alike(const struct reading *r, const struct stream *a, const struct stream *b)
{
	for (u32 i = 0; i < r->names.n; i++)
		if (!is_alike(operand_of(a, r->names.at[i]), operand_of(b, r->names.at[i])))
			return false;
	return true;
}

static u32 member_at(struct catalog *catalog, const char *type, const char *name)
{
	u32 id = catalog_btf_id(catalog, BTF_KIND_STRUCT, type);
	struct catalog_member member;

	if (!id || catalog_member(catalog, id, name, NULL, &member) != 0)
		return 0;
	return (u32)(member.offset_bits / 8);
}

static struct entry_places entry_of(const struct phys_input *input, const struct stream *s)
{
	struct catalog *catalog = input->catalog;
	struct entry_places entry = { .is_entry = s->kind == STREAM_UPROBE &&
						  !s->function_offset_bytes };

	if (!entry.is_entry)
		return entry;
	entry.utask = member_at(catalog, "task_struct", "utask");
	entry.auprobe = member_at(catalog, "uprobe_task", "auprobe");
	/* A function of its own: of the configuration nothing else can be seen here. */
	entry.has_ibt = catalog_btf_id(catalog, BTF_KIND_FUNC, "ibt_save") != 0;
	return entry;
}

/* What is known of all places of the source. */
static struct hook hook_of(const struct phys_input *input, const struct stream *s,
			   struct arena *arena)
{
	const struct kernel_features *features = input->features;
	s32 pid = input->settings->only_pid;
	bool has_multi = !features->has_uprobe_multi || features->has_uprobe_multi(pid > 0);

	return (struct hook){ .path = has_multi ? ACCESS_UPROBE_MULTI : ACCESS_UPROBE,
			      .is_exit = s->is_return,
			      .file_path = arena_strdup(arena, s->file_path),
			      .file_id = s->file_id,
			      .pid = MAX(pid, 0),
			      .entry = entry_of(input, s),
			      .reason = s->kind == STREAM_USDT ? "a probe of a program"
							       : "a function of a program" };
}

/* Behind the others of its hook, whose names come before it. */
static void add_place(struct program_hook *to, struct stream *s, u32 name)
{
	struct hook_place *place = &to->hook.places[to->hook.n_places++];

	if (!to->use.n_streams)
		to->use.first_probe = name;
	/* Compared byte by byte: no gap in it is left as it was. */
	memset(place, 0, sizeof(*place));
	place->offset = s->file_offset;
	place->semaphore_offset = s->semaphore_offset;
	place->name = name - to->use.first_probe;
	to->hook.n_names = place->name ? place->name + 1 : 0;
	to->use.streams[to->use.n_streams++] = s;
}

static void finish(struct program_hook *h, const struct stream_list *list, struct arena *arena)
{
	const struct stream *s = h->use.streams[0];

	/* The catalog may go away before the programs do. */
	h->hook.target = arena_printf(arena, "%s:%s", s->category,
				      h->hook.n_names ? list->pattern : s->event);
	if (h->hook.n_places > 1)
		h->hook.reason = arena_printf(
			arena, "%u places, %s", h->hook.n_places,
			h->hook.path == ACCESS_UPROBE_MULTI
				? "by one link"
				: "one after the other: this kernel has no links for many");
}

struct program_hook *phys_program_hooks(const struct phys_input *input,
					const struct phys_source *source, struct arena *arena,
					struct diags *diags, u32 *ret_n)
{
	const struct stream_list *list = source->streams;
	struct hook hook = hook_of(input, list->streams.at[0], arena);
	struct program_hook *hooks = arena_array(arena, struct program_hook, HOOKS_MAX);
	struct reading reading = { .arena = arena, .source = source->number };
	u32 name = 0, k;

	*ret_n = 0;
	plan_each_node((struct plan *)input->plan, note_argument, &reading);
	for (u32 i = 0; i < list->streams.n; i++) {
		struct stream *s = list->streams.at[i];

		name += i && strcmp(list->streams.at[i - 1]->name, s->name) != 0;
		for (k = 0; k < *ret_n && !are_alike(&reading, hooks[k].use.streams[0], s); k++)
			;
		if (k == HOOKS_MAX)
			return diag_refuse(
				diags, "too-many-places", input->plan->span,
				"%s has arguments in more than %u ways, and each takes a "
				"program of its own" HINT
				"read none of its arguments, or name fewer probes",
				list->pattern, HOOKS_MAX);
		if (k == *ret_n) {
			hooks[k].hook = hook;
			hooks[k].hook.places =
				arena_array(arena, struct hook_place, list->streams.n - i);
			hooks[k].use.streams =
				arena_array(arena, struct stream *, list->streams.n - i);
			++*ret_n;
		}
		add_place(&hooks[k], s, name);
	}
	for (k = 0; k < *ret_n; k++)
		finish(&hooks[k], list, arena);
	return hooks;
}
