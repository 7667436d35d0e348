/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streams and their names as such, of whatever kind: what loaders make them of, and the
 * sorted list of all names of a kind, read once.
 */
#include "cat/internal.h"

#include <stdlib.h>
#include <string.h>

const char *stream_canonical_name(struct arena *arena, const struct stream_kind_info *kind,
				  const char *category, const char *event)
{
	return category ? arena_printf(arena, "%s:%s:%s", kind->name, category, event)
			: arena_printf(arena, "%s:%s", kind->name, event);
}

s32 event_syscall(const struct catalog *catalog, const char *event)
{
	if (!strncmp(event, "sys_enter_", 10))
		return syscall_number(catalog->arch, event + 10);
	return strncmp(event, "sys_exit_", 9) ? -1 : syscall_number(catalog->arch, event + 9);
}

struct stream *stream_new(struct arena *arena, const struct stream_kind_info *kind,
			  const char *category, const char *event)
{
	struct stream *stream = arena_new(arena, struct stream);

	stream->kind = kind->kind;
	stream->category = category ? arena_strdup(arena, category) : NULL;
	stream->event = arena_strdup(arena, event);
	stream->name = stream_canonical_name(arena, kind, category, event);
	stream->syscall_nr = -1;
	if (category && !strcmp(category, "syscalls")) {
		stream->is_syscall_enter = !strncmp(event, "sys_enter_", 10);
		stream->is_syscall_exit = !strncmp(event, "sys_exit_", 9);
	}
	return stream;
}

const char *stream_function(struct arena *arena, const struct stream *stream)
{
	return stream->category ? arena_printf(arena, "%s:%s", stream->category, stream->event)
				: arena_strdup(arena, stream->event);
}

void stream_names_add(struct arena *arena, struct stream_names *names,
		      const struct stream_kind_info *kind, const char *category, const char *event)
{
	size_t skip = strlen(kind->name) + 1;
	struct stream_name name = { .name = stream_canonical_name(arena, kind, category, event) };

	if (category) {
		name.category = arena_strdup(arena, category);
		skip += strlen(category) + 1;
	}
	name.event = name.name + skip;
	vec_push(arena, &names->list, name);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct stream_name *)a)->name, ((const struct stream_name *)b)->name);
}

void stream_names_sort(struct stream_names *names)
{
	if (names->list.n)
		qsort(names->list.at, names->list.n, sizeof(names->list.at[0]), compare_names);
}

const struct stream_names *stream_names_of(struct catalog *catalog,
					   const struct stream_kind_info *kind)
{
	struct stream_names *names = &catalog->names[kind->kind];

	if (names->is_loaded)
		return names;
	names->is_loaded = true;
	names->error = kind->list(catalog, kind, names);
	stream_names_sort(names);
	return names;
}

const struct stream_names *
stream_names_in(struct catalog *catalog, const struct stream_kind_info *kind, const char *category)
{
	struct stream_names *names;

	if (!kind->list_file)
		return stream_names_of(catalog, kind);
	names = arena_new(catalog->arena, struct stream_names);
	names->error = kind->list_file(catalog, kind, category, names);
	stream_names_sort(names);
	return names;
}
