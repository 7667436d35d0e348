/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kinds of streams, one row each: how they are written, where their names come from and
 * what loads one.  What a program on it is and where it attaches is said by the rows of
 * phys/ and load/ for its access paths.
 */
#include "cat/internal.h"

#include <string.h>

const struct stream_kind_info stream_kinds[] = {
	[STREAM_TRACEPOINT] = {
		.name = "tracepoint",
		.shorthand = "t",
		.form = "tracepoint:CATEGORY:NAME",
		.has_category = true,
		.list = tracefs_names,
		.load = tracefs_load,
		.complain = tracefs_complain,
	},
	[STREAM_RAW_TRACEPOINT] = {
		.name = "raw_tracepoint",
		.shorthand = "rt",
		.form = "raw_tracepoint:NAME",
		.list = raw_names,
		.load = raw_load,
		.complain = raw_complain,
	},
	[STREAM_FILE] = { .name = NULL }, /* catalog_file() */
};
_Static_assert(ARRAY_SIZE(stream_kinds) == STREAM_N, "a kind of stream has no row");

bool stream_kind_find(const char *word, enum stream_kind *ret_kind)
{
	for (u32 i = 0; i < STREAM_N; i++) {
		const struct stream_kind_info *kind = &stream_kinds[i];

		if (!kind->name || (strcmp(word, kind->name) && strcmp(word, kind->shorthand)))
			continue;
		*ret_kind = (enum stream_kind)i;
		return true;
	}
	return false;
}

const char *stream_written_out(struct arena *arena, const char *path)
{
	size_t n = strcspn(path, ":/");
	enum stream_kind kind;
	char *copy;

	if (path[n] && stream_kind_find(arena_strndup(arena, path, n), &kind))
		copy = arena_printf(arena, "%s%s", stream_kinds[kind].name, path + n);
	else
		copy = arena_strdup(arena, path);
	for (char *c = copy; *c; c++)
		*c = *c == '/' ? ':' : *c;
	return copy;
}
