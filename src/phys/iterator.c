/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A list of the kernel -> the hook that reads it: the program that its BPF iterator calls for each
 * object, with the columns that are read as expressions over what it is called with.
 */
#include <linux/btf.h>
#include <strings.h>

#include "phys/internal.h"

struct reading {
	const struct phys_input *input;
	const struct stream *stream;
	struct arena *arena;
	struct raw_twin *twin;
	VEC(struct raw_field) fields;
	const char *missing;
	struct percpu_places percpu;
};

static bool is_known(const struct reading *r, const char *name)
{
	for (u32 i = 0; i < r->fields.n; i++)
		if (strcasecmp(r->fields.at[i].name, name) == 0)
			return true;
	return false;
}

static bool find_member(const struct reading *r, const char *of, const char *name, u32 *ret_bytes)
{
	u32 id = catalog_btf_id(r->input->catalog, BTF_KIND_STRUCT, of);
	struct catalog_member member;

	if (!id || catalog_member(r->input->catalog, id, name, NULL, &member))
		return false;
	*ret_bytes = (u32)(member.offset_bits / 8);
	return true;
}

static bool find_percpu(struct reading *r)
{
	u32 offset, queue;

	if (!catalog_percpu(r->input->catalog, "this_cpu_off", &offset) ||
	    !catalog_percpu(r->input->catalog, "runqueues", &queue))
		return false;
	r->percpu.distance = (s32)(offset - queue);
	return find_member(r, "task_struct", "sched_task_group", &r->percpu.group) &&
	       find_member(r, "task_group", "cfs_rq", &r->percpu.queues) &&
	       find_member(r, "cfs_rq", "rq", &r->percpu.queue);
}

/* What the program is called with is there as it is. */
static void note_field(void *context, struct expr *e)
{
	struct reading *r = context;
	const struct field *f = r->stream->fields;
	struct raw_field field = { .name = e->name };

	if (e->kind != EXPR_FIELD || is_known(r, e->name))
		return;
	while (strcasecmp(f->name, e->name) != 0)
		f++;
	if (f->kind == FIELD_ARG || f->kind == FIELD_CAST)
		return;
	field.expr = raw_twin_field(r->twin, f, &field.note);
	if (!field.expr || (field.expr->is_percpu && !find_percpu(r)))
		r->missing = e->name;
	vec_push(r->arena, &r->fields, field);
}

bool phys_iterator_hook(const struct phys_input *input, const struct stream *s, struct arena *arena,
			struct diags *diags, struct hook *ret_hook)
{
	struct reading r = { .input = input, .stream = s, .arena = arena };

	r.twin = raw_twin_open(input->catalog, arena, s);
	plan_each_node((struct plan *)input->plan, note_field, &r);
	if (r.missing)
		return diag_refuse(
			diags, "no-btf", input->plan->span,
			"%s: BTF of this kernel does not have what \"%s\" is read of" HINT
			"the members of its structs can be named, see ebql describe",
			s->name, r.missing);
	*ret_hook = (struct hook){ .path = ACCESS_ITERATOR,
				   .is_typed = true,
				   .attach_btf_id = s->function_btf_id,
				   .percpu = r.percpu,
				   .raw = s,
				   .fields = r.fields.at,
				   .n_fields = r.fields.n,
				   .reason = "the kernel calls it for each object of its list" };
	return true;
}
