/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hooks that one event comes to: those that may not be together.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "phys/internal.h"

/* The kernel's tracepoint behind a hook: several tracepoints of calls stand on one. */
static const char *kernel_event(const struct hook *hook)
{
	const struct stream *s = hook->uses[0].streams[0];

	return stream_is_call(s) ? s->is_syscall_exit ? "sys_exit" : "sys_enter" : s->event;
}

/* Whichever module it is of. */
static const char *function_at(const struct hook *hook, u32 i)
{
	const char *name = hook->n_places ? hook->names[i] : hook->target;

	return strchr(name, ':') ? strchr(name, ':') + 1 : name;
}

/* Of a wildcard's functions, in the order of names, or a call's own one, and others', is one the
 * same? */
static bool has_function(const struct hook *a, const struct hook *b)
{
	for (u32 i = 0, k = 0; i < MAX(a->n_places, 1u) && k < MAX(b->n_places, 1u);) {
		int order = strcmp(function_at(a, i), function_at(b, k));

		if (!order)
			return true;
		i += order < 0;
		k += order > 0;
	}
	return false;
}

static int compare_offsets(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static u64 *sorted_offsets(const struct hook *hook, struct arena *arena)
{
	u64 *offsets = arena_array(arena, u64, hook->n_places);

	for (u32 i = 0; i < hook->n_places; i++)
		offsets[i] = hook->places[i].offset;
	qsort(offsets, hook->n_places, sizeof(*offsets), compare_offsets);
	return offsets;
}

/* The same of places of one file, which are in the order of names as well. */
static bool has_place(const struct hook *a, const struct hook *b, struct arena *arena)
{
	const u64 *x = sorted_offsets(a, arena), *y = sorted_offsets(b, arena);

	for (u32 i = 0, k = 0; i < a->n_places && k < b->n_places;) {
		if (x[i] == y[k])
			return true;
		if (x[i] < y[k])
			i++;
		else
			k++;
	}
	return false;
}

/* Does one event come to both hooks? */
static bool is_shared_event(const struct hook *a, const struct hook *b, struct arena *arena)
{
	const struct stream *x = a->uses[0].streams[0], *y = b->uses[0].streams[0];

	/* Whatever they are called there. */
	if (a->file_path || b->file_path)
		return a != b && a->path == b->path && a->is_exit == b->is_exit &&
		       file_id_equal(a->file_id, b->file_id) && has_place(a, b, arena);
	if (a->n_places || b->n_places ||
	    (x->is_function != y->is_function &&
	     (a->path == ACCESS_CALL || b->path == ACCESS_CALL)))
		return a != b && a->is_exit == b->is_exit && a->offset_bytes == b->offset_bytes &&
		       has_function(a, b);
	if (x->is_function || y->is_function)
		return a != b && x->is_function && y->is_function && x->is_return == y->is_return &&
		       strcmp(x->event, y->event) == 0 &&
		       x->function_offset_bytes == y->function_offset_bytes;
	/* Two different calls, of which one has no number. */
	if (is_of_calls(x) && is_of_calls(y))
		return false;
	return a != b && strcmp(kernel_event(a), kernel_event(b)) == 0;
}

static const struct phys_join *met(const struct hook *looks_up, const struct hook *stores)
{
	for (u32 i = 0; i < looks_up->n_uses; i++) {
		const struct phys_source *a = looks_up->uses[i].source;

		for (u32 j = 0; j < a->n_steps; j++)
			for (u32 k = 0; k < stores->n_uses; k++) {
				const struct phys_source *b = stores->uses[k].source;

				if (a->steps[j].kind == STEP_LOOKUP && !b->is_root &&
				    b->steps[b->n_steps - 1].join == a->steps[j].join)
					return a->steps[j].join;
			}
	}
	return NULL;
}

/*
 * An event that a join knows by two hooks may be stored before it looks its partner up, and
 * so become its own: which hook comes first depends on the order of attaching.
 */
static bool refuse_mixed(const struct hook *x, const struct hook *y, struct diags *diags)
{
	const struct phys_join *join = met(x, y);

	if (!join || !is_shared_event(x, y, diags->arena))
		return false;
	diag_refuse(diags, "mixed-hooks", join->span,
		    "%s and %s are one event, and which of the two is called first is not "
		    "known" HINT "name the event the same way on both sides",
		    x->uses[0].streams[0]->name, y->uses[0].streams[0]->name);
	return true;
}

struct listened {
	struct file_id file;
	u64 offset, semaphore_offset;
	const char *event;
};

static int compare_listened(const void *a, const void *b)
{
	/* Numbers without a gap, the event's text is none of them. */
	return memcmp(a, b, offsetof(struct listened, event));
}

static bool refuse_two(const struct listened *x, const struct listened *y, struct span span,
		       struct diags *diags)
{
	if (!file_id_equal(x->file, y->file) || x->offset != y->offset ||
	    x->semaphore_offset == y->semaphore_offset)
		return false;
	diag_refuse(diags, "two-semaphores", span,
		    "%s and %s stand at one place, and %s, where the kernel takes the same of "
		    "all" HINT "name one of them",
		    strcmp(x->event, y->event) < 0 ? x->event : y->event,
		    strcmp(x->event, y->event) < 0 ? y->event : x->event,
		    x->semaphore_offset && y->semaphore_offset
			    ? "each has a semaphore of its own"
			    : "only one of them asks by a semaphore");
	return true;
}

/* The kernel counts one up for each place of a file, whichever programs are there. */
static bool refuse_two_semaphores(const struct hook *hooks, u32 n, struct span span,
				  struct diags *diags)
{
	VEC(struct listened) all = { 0 };
	bool has_semaphore = false, is_refused = false;

	for (u32 i = 0; i < n; i++)
		for (u32 k = 0; k < hooks[i].n_places && hooks[i].places; k++) {
			const struct hook_place *place = &hooks[i].places[k];

			has_semaphore |= place->semaphore_offset != 0;
			vec_push(diags->arena, &all,
				 (struct listened){ hooks[i].file_id, place->offset,
						    place->semaphore_offset,
						    hooks[i].uses[0].streams[k]->event });
		}
	if (has_semaphore)
		qsort(all.at, all.n, sizeof(all.at[0]), compare_listened);
	for (u32 i = 1; i < all.n && has_semaphore && !is_refused; i++)
		is_refused = refuse_two(&all.at[i - 1], &all.at[i], span, diags);
	return is_refused;
}

bool phys_refuse_hooks(const struct hook *hooks, u32 n, struct span span, struct diags *diags)
{
	for (u32 i = 0; i < n; i++)
		for (u32 k = 0; k < n; k++)
			if (refuse_mixed(&hooks[i], &hooks[k], diags))
				return true;
	return refuse_two_semaphores(hooks, n, span, diags);
}
