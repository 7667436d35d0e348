/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * function:NAME -> kretprobe:NAME PAIR JOIN kprobe:NAME on the thread, and userfunction:FILE:NAME
 * of uprobes, with the columns of a completed call: its arguments, ret, latency, start_time.  Calls
 * nest, where a function calls itself or an interrupt does.  A wildcard stands for all functions
 * that match, in one program at either end.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* By the first word of a path. */
static const struct function_kind {
	const char *word, *form, *example, *entry, *exit;
	u32 n_path, n_path_most;
} kinds[] = {
	{ "function", "function:NAME", "function:vfs_read", "kprobe", "kretprobe", 2, 3 },
	{ "userfunction", "userfunction:FILE:NAME", "userfunction:libc.so.6:malloc", "uprobe",
	  "uretprobe", 3, 3 },
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

/* As lists have them: several functions of a program may bear one name. */
static int compare(const struct stream *a, const struct stream *b)
{
	return strcmp(a->event, b->event)
		       ?: (a->file_offset > b->file_offset) - (a->file_offset < b->file_offset);
}

/* The returns' functions are the entries', or some of them, in the same order. */
static struct stream *entry_of(const struct stream_list *entries, const struct stream *end, u32 *at)
{
	while (*at < entries->streams.n && compare(entries->streams.at[*at], end) < 0)
		++*at;
	return *at < entries->streams.n && !compare(entries->streams.at[*at], end)
		       ? entries->streams.at[*at]
		       : NULL;
}

/*
 * Those that have both ends, each function with one number in both lists.  The returns are named
 * after the span: that is what `probe` shows.
 */
static bool pair_ends(struct scope *scope, const struct ast_source *source,
		      struct stream_list *returns, struct stream_list *entries)
{
	struct stream_list ends = *returns, starts = *entries;
	u32 at = 0;

	returns->streams.n = entries->streams.n = 0;
	for (u32 i = 0; i < ends.streams.n; i++) {
		struct stream *start = entry_of(&starts, ends.streams.at[i], &at);
		struct stream *end = arena_new(scope->arena, struct stream);

		if (!start)
			continue;
		*end = *ends.streams.at[i];
		end->name = arena_printf(scope->arena, "%s%s", kind_of(source)->word,
					 strchr(end->name, ':'));
		vec_push(scope->arena, &returns->streams, end);
		vec_push(scope->arena, &entries->streams, start);
	}
	/* Between the two looks at them they may all have changed. */
	return returns->streams.n ||
	       diag_refuse(scope->diags, "unknown-stream", source->span,
			   "of what %s names nothing has both an entry and a return" HINT
			   "once more: it has changed meanwhile",
			   returns->pattern);
}

static struct join_key key_of(struct scope *scope, enum system_column column,
			      const struct from_member *end, const struct from_member *start,
			      struct span span)
{
	return (struct join_key){ bind_system(scope, end, column, span),
				  bind_system(scope, start, column, span) };
}

/*
 * A call's frame is its own, also where a function calls itself; but one that ends by a jump to
 * another shares its frame with that.
 */
static void add_keys(struct scope *scope, struct plan *join, const struct from_member *end,
		     const struct from_member *start)
{
	const struct stream_list *starts = start->streams;

	join->join.is_nesting = true;
	join->join.keys = arena_array(scope->arena, struct join_key, 3);
	join->join.keys[join->join.n_keys++] = key_of(scope, SYS_FRAME, end, start, join->span);
	/* Whose memory that is in; and where the kernel hides the frame (hook.hides_frame), calls
	 * nest as they do in the thread. */
	if (starts->is_wildcard || starts->streams.at[0]->file_path)
		join->join.keys[join->join.n_keys++] =
			key_of(scope, SYS_TASK, end, start, join->span);
	if (starts->is_wildcard)
		join->join.keys[join->join.n_keys++] =
			key_of(scope, SYS_FUNCTION, end, start, join->span);
}

/* What is said of the returns is not said of the entries once more. */
static struct stream_list *find_entries(struct scope *scope, const struct ast_source *source)
{
	const char *kind = kind_of(source)->entry;
	struct diags quiet, *loud = scope->diags;
	struct stream_list *list;

	diags_init(&quiet, scope->arena, loud->file, loud->text, loud->text_bytes);
	scope->diags = &quiet;
	list = find_event(scope, source, kind);
	scope->diags = loud;
	return list ?: find_event(scope, source, kind);
}

struct plan *bind_function(struct scope *scope, const struct ast_source *source)
{
	const struct function_kind *kind = kind_of(source);
	struct stream_list *returns, *entries;
	struct plan *return_scan, *entry_scan, *join;
	struct from_member end, start;

	if (source->n_path < kind->n_path || source->n_path > kind->n_path_most)
		return diag_refuse(scope->diags, "unknown-stream", source->span,
				   "such a function's span is called %s" HINT "for example %s",
				   kind->form, kind->example);
	returns = find_event(scope, source, kind->exit);
	entries = returns ? find_entries(scope, source) : NULL;
	if (!entries || !pair_ends(scope, source, returns, entries))
		return NULL;
	return_scan = bind_scan(scope, returns, source->alias, source->span);
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
