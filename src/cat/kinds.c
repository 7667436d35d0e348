/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kinds of streams.  The row of each stands beside its functions; what a program on it
 * is and where it attaches is said by the rows of phys/ and load/ for its access paths.
 */
#include "cat/internal.h"

#include <string.h>

const struct stream_kind_info *const stream_kinds[] = {
	[STREAM_RAW_TRACEPOINT] = &raw_kind, [STREAM_TRACEPOINT] = &tracefs_kind,
	[STREAM_KPROBE] = &kprobe_kind,	     [STREAM_KRETPROBE] = &kretprobe_kind,
	[STREAM_FENTRY] = &fentry_kind,	     [STREAM_FEXIT] = &fexit_kind,
	[STREAM_UPROBE] = &uprobe_kind,	     [STREAM_URETPROBE] = &uretprobe_kind,
	[STREAM_USDT] = &usdt_kind, /* one a line */
	[STREAM_PROFILE] = &profile_kind,    [STREAM_INTERVAL] = &interval_kind,
	[STREAM_SOFTWARE] = &software_kind,  [STREAM_HARDWARE] = &hardware_kind,
	[STREAM_ITERATOR] = &iterator_kind,  [STREAM_FILE] = NULL, /* catalog_file() */
};
_Static_assert(ARRAY_SIZE(stream_kinds) == STREAM_N, "a kind of stream has no row");

const struct stream_kind_info *stream_kind_named(const char *word)
{
	for (u32 i = 0; i < STREAM_N; i++) {
		const struct stream_kind_info *kind = stream_kinds[i];

		if (kind && (!strcmp(word, kind->name) || !strcmp(word, kind->shorthand)))
			return kind;
	}
	return NULL;
}

const char *stream_kind_word(enum stream_kind kind)
{
	return stream_kinds[kind] ? stream_kinds[kind]->name : NULL;
}

const char *stream_written_out(struct arena *arena, const char *path)
{
	size_t n = strcspn(path, ":/");
	const struct stream_kind_info *kind =
		path[n] ? stream_kind_named(arena_strndup(arena, path, n)) : NULL;
	char *copy = kind ? arena_printf(arena, "%s%s", kind->name, path + n)
			  : arena_strdup(arena, path);

	for (char *c = copy; *c && !(kind && kind->list_file); c++)
		*c = *c == '/' ? ':' : *c;
	return copy;
}
