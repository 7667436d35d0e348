/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * function:NAME -> kretprobe:NAME PAIR JOIN kprobe:NAME on the thread, with the columns of a
 * completed call: its arguments, ret, latency, start_time.  Calls nest, where a function calls
 * itself or an interrupt does: a return takes the latest entry of its thread, which is its own.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

bool bind_is_function(const struct ast_source *source)
{
	return source->kind == AST_SOURCE_STREAM && strcasecmp(source->path[0], "function") == 0;
}

const char *bind_function_comment(void)
{
	return "a call of the kernel's function, from its entry to its return\n"
	       "\n"
	       "Arguments are those of the entry.  No row: calls that the compiler put into their\n"
	       "callers; calls that were under way when the query began, which are ends that\n"
	       "never started.\n";
}

static struct stream_list *find_event(struct scope *scope, const struct ast_source *source,
				      const char *kind)
{
	const char *path[2] = { kind, source->path[1] };

	return catalog_find(scope->catalog, path, 2, source->span, scope->diags);
}

/* Named after the span: that is what `probe` shows. */
static struct stream_list *named(struct scope *scope, const struct stream_list *returns)
{
	struct stream_list *list = arena_new(scope->arena, struct stream_list);

	list->is_wildcard = returns->is_wildcard;
	for (u32 i = 0; i < returns->streams.n; i++) {
		struct stream *s = arena_new(scope->arena, struct stream);

		*s = *returns->streams.at[i];
		s->name = arena_printf(scope->arena, "function:%s", s->event);
		vec_push(scope->arena, &list->streams, s);
	}
	return list;
}

/* Not the tid: that of all idle threads is 0. */
static struct join_key thread_key(struct scope *scope, const struct from_member *end,
				  const struct from_member *start, struct span span)
{
	return (struct join_key){ bind_system(scope, end, SYS_TASK, span),
				  bind_system(scope, start, SYS_TASK, span) };
}

struct plan *bind_function(struct scope *scope, const struct ast_source *source)
{
	struct stream_list *returns, *entries;
	struct plan *return_scan, *entry_scan, *join;
	struct from_member end, start;

	if (source->n_path != 2)
		return diag_refuse(scope->diags, "unknown-stream", source->span,
				   "a function's span is called function:NAME" HINT
				   "for example function:vfs_read");
	returns = find_event(scope, source, "kretprobe");
	entries = returns ? find_event(scope, source, "kprobe") : NULL;
	if (!entries)
		return NULL;
	if (returns->is_wildcard)
		return diag_refuse(scope->diags, "not-supported", source->span,
				   "%s: a span of several functions is not available" HINT
				   "name one; kprobe:%s has the entries of all",
				   source->written, source->path[1]);
	return_scan = bind_scan(scope, named(scope, returns), source->alias, source->span);
	entry_scan = return_scan ? bind_scan(scope, entries, NULL, source->span) : NULL;
	if (!entry_scan)
		return NULL;
	end = bind_stream_member(scope, return_scan);
	start = bind_stream_member(scope, entry_scan);
	join = bind_join_new(scope, JOIN_PAIR, end.tree, entry_scan, source->span);
	join->join.is_nesting = true;
	join->join.keys = arena_array(scope->arena, struct join_key, 1);
	join->join.keys[0] = thread_key(scope, &end, &start, source->span);
	join->join.n_keys = 1;
	bind_span_member(scope, source, &end, &start, join);
	return join;
}
