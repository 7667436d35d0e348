/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * function:NAME -> kretprobe:NAME PAIR JOIN kprobe:NAME on the thread, and userfunction:FILE:NAME
 * of uprobes, with the columns of a completed call: its arguments, ret, latency, start_time.  Calls
 * nest, where a function calls itself or an interrupt does: each is known by its frame.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* By the first word of a path. */
static const struct function_kind {
	const char *word, *form, *example, *entry, *exit;
	u32 n_path;
} kinds[] = {
	{ "function", "function:NAME", "function:vfs_read", "kprobe", "kretprobe", 2 },
	{ "userfunction", "userfunction:FILE:NAME", "userfunction:libc.so.6:malloc", "uprobe",
	  "uretprobe", 3 },
};

static const struct function_kind *kind_of(const struct ast_source *source)
{
	for (u32 i = 0; i < ARRAY_SIZE(kinds) && source->kind == AST_SOURCE_STREAM; i++)
		if (strcasecmp(source->path[0], kinds[i].word) == 0)
			return &kinds[i];
	return NULL;
}

bool bind_is_function(const struct ast_source *source)
{
	return kind_of(source) != NULL;
}

const char *bind_function_comment(void)
{
	return "a call of the function, from its entry to its return\n"
	       "\n"
	       "Arguments are those of the entry.  No row: calls that the compiler put into their\n"
	       "callers; calls that were under way when the query began, which are ends that\n"
	       "never started.\n";
}

static struct stream_list *find_event(struct scope *scope, const struct ast_source *source,
				      const char *kind)
{
	const char *path[3] = { kind, source->path[1], source->path[source->n_path - 1] };

	return catalog_find_as(scope->catalog, kind_of(source)->word, path, source->n_path,
			       source->span, scope->diags);
}

/* Named after the span: that is what `probe` shows. */
static struct stream_list *named(struct scope *scope, const char *word,
				 const struct stream_list *returns)
{
	struct stream_list *list = arena_new(scope->arena, struct stream_list);

	list->is_wildcard = returns->is_wildcard;
	for (u32 i = 0; i < returns->streams.n; i++) {
		struct stream *s = arena_new(scope->arena, struct stream);

		*s = *returns->streams.at[i];
		s->name = arena_printf(scope->arena, "%s%s", word, strchr(s->name, ':'));
		vec_push(scope->arena, &list->streams, s);
	}
	return list;
}

static struct join_key key_of(struct scope *scope, enum system_column column,
			      const struct from_member *end, const struct from_member *start,
			      struct span span)
{
	return (struct join_key){ bind_system(scope, end, column, span),
				  bind_system(scope, start, column, span) };
}

static void add_keys(struct scope *scope, struct plan *join, const struct from_member *end,
		     const struct from_member *start)
{
	bool is_of_program = start->streams->streams.at[0]->file_path != NULL;

	join->join.is_nesting = true;
	join->join.keys = arena_array(scope->arena, struct join_key, 2);
	join->join.keys[join->join.n_keys++] = key_of(scope, SYS_FRAME, end, start, join->span);
	/* Whose memory that is in. */
	if (is_of_program)
		join->join.keys[join->join.n_keys++] =
			key_of(scope, SYS_TASK, end, start, join->span);
}

struct plan *bind_function(struct scope *scope, const struct ast_source *source)
{
	const struct function_kind *kind = kind_of(source);
	struct stream_list *returns, *entries;
	struct plan *return_scan, *entry_scan, *join;
	struct from_member end, start;

	if (source->n_path != kind->n_path)
		return diag_refuse(scope->diags, "unknown-stream", source->span,
				   "such a function's span is called %s" HINT "for example %s",
				   kind->form, kind->example);
	returns = find_event(scope, source, kind->exit);
	entries = returns ? find_event(scope, source, kind->entry) : NULL;
	if (!entries)
		return NULL;
	if (returns->is_wildcard)
		return diag_refuse(scope->diags, "not-supported", source->span,
				   "%s: a span of several functions is not available" HINT
				   "name one; %s: has the entries of all",
				   source->written, kind->entry);
	return_scan =
		bind_scan(scope, named(scope, kind->word, returns), source->alias, source->span);
	entry_scan = return_scan ? bind_scan(scope, entries, NULL, source->span) : NULL;
	if (!entry_scan)
		return NULL;
	end = bind_stream_member(scope, return_scan);
	start = bind_stream_member(scope, entry_scan);
	join = bind_join_new(scope, JOIN_PAIR, end.tree, start.tree, source->span);
	add_keys(scope, join, &end, &start);
	bind_span_member(scope, source, &end, &start, join);
	return join;
}
