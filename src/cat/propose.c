/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A word that names no stream -> how the stream that was meant may be written.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cat/internal.h"

/* The first of the kind's names that is the word, or matches it. */
static const struct stream_name *find_name(struct catalog *catalog,
					   const struct stream_kind_info *kind, const char *word)
{
	const struct stream_names *names = stream_names_in(catalog, kind, NULL);

	for (u32 i = 0; i < names->list.n; i++)
		if (!fnmatch(word, names->list.at[i].event, 0))
			return &names->list.at[i];
	return NULL;
}

const char *catalog_propose(struct catalog *catalog, const char *word)
{
	const struct stream_kind_info *kind = stream_kind_named(word);
	struct arena *arena = catalog->arena;
	const struct stream_name *name;

	if (kind)
		return arena_printf(arena, "write %s", kind->form);
	if (strcmp(word, "*") == 0)
		return NULL; /* every event there is: nobody means that */
	if (*word && !word[strspn(word, "0123456789")] && strlen(word) <= 5 && atoi(word))
		return arena_printf(arena, "write profile:%s, so many samples a second of each CPU",
				    word);
	name = find_name(catalog, &tracefs_kind, word);
	if (name && strcmp(name->event, word) == 0)
		return arena_printf(arena, "did you mean \"%s\"?", name->name);
	if (find_name(catalog, &kprobe_kind, word))
		return arena_printf(arena,
				    "write function:%s, each call with its latency and ret, or "
				    "kprobe:%s, where it begins%s%s",
				    word, word,
				    name ? "; events of tracepoints are tracepoint:" : "",
				    name ? word : "");
	if (name)
		return arena_printf(arena, "did you mean \"tracepoint:%s\"?", word);
	name = find_name(catalog, &raw_kind, word);
	return name ? arena_printf(arena, "did you mean \"raw_tracepoint:%s\"?", word) : NULL;
}

bool catalog_is_unread(struct catalog *catalog, const char *word, struct span span,
		       struct diags *diags)
{
	int error = catalog->is_live ? stream_names_of(catalog, &tracefs_kind)->error : 0;

	/* Of most tracepoints BTF has the names, which all may read; not of calls'. */
	if (!error ||
	    (word && strncmp(word, "sys_", 4) != 0 && !stream_names_of(catalog, &raw_kind)->error &&
	     !find_name(catalog, &raw_kind, word)))
		return false;
	tracefs_kind.complain(catalog, error, span, diags);
	return true;
}
