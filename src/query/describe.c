/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A source -> its columns with types and meanings, then the system columns; of a wildcard the
 * columns that all its streams share.
 */
#include <string.h>

#include "query/query.h"

static bool has_field(const struct stream *stream, const struct field *wanted)
{
	for (u32 i = 0; i < stream->n_fields; i++) {
		const struct field *field = &stream->fields[i];
		struct type a = field->type, b = wanted->type;

		if (!strcmp(field->name, wanted->name))
			return a.kind == b.kind && a.bits == b.bits && a.is_signed == b.is_signed &&
			       a.bytes == b.bytes && field->n_elements == wanted->n_elements;
	}
	return false;
}

static const char *type_text_of(struct arena *arena, struct type type, u32 n_elements)
{
	struct buf text;
	const char *copy;

	buf_init(&text);
	type_print(type, &text);
	if (n_elements)
		buf_printf(&text, "[%u]", n_elements);
	copy = arena_strdup(arena, text.at);
	buf_free(&text);
	return copy;
}

static void add_fields(struct query_description *d, struct arena *arena)
{
	const struct stream *first = d->list->streams.at[0];

	for (u32 i = 0; i < first->n_fields; i++) {
		const struct field *field = &first->fields[i];
		bool is_shared = true;

		for (u32 k = 1; k < d->list->streams.n && is_shared; k++)
			is_shared = has_field(d->list->streams.at[k], field);
		if (is_shared)
			vec_push(arena, &d->columns,
				 (struct query_column){
					 field->name,
					 type_text_of(arena, field->type, field->n_elements),
					 field->declaration });
	}
}

static void add_system_columns(struct query_description *d, struct arena *arena)
{
	for (u32 i = 0; i < SYS_SHOWN; i++) {
		const struct system_column_info *info = &system_columns[i];
		const char *name = info->name;

		for (u32 k = 0; k < d->columns.n; k++)
			if (!strcmp(d->columns.at[k].name, info->name))
				name = arena_printf(arena, "current.%s", info->name);
		vec_push(arena, &d->system,
			 (struct query_column){ name, type_text_of(arena, info->type, 0),
						info->meaning });
	}
}

/* By which program a tracepoint that is no system call's is read, and what that risks. */
static const char *access_note(struct query *q, const struct stream *s)
{
	struct raw_twin *twin = raw_twin_open(q->catalog, &q->arena, s);
	const char *kept = "", *notes = "", *note;

	for (u32 i = 0; i < s->n_fields; i++)
		if (!twin || !raw_twin_field(twin, &s->fields[i], &note))
			kept = arena_printf(&q->arena, "%s%s%s", kept, *kept ? ", " : "",
					    s->fields[i].name);
		else if (note)
			notes = arena_printf(&q->arena, "%s; %s is %s", notes, s->fields[i].name,
					     note);
	if (!*kept)
		return arena_printf(&q->arena,
				    "read by raw_tracepoint:%s, with all of its fields%s", s->event,
				    notes);
	return arena_printf(&q->arena,
			    "read by raw_tracepoint:%s; by the perf tracepoint, whose events the "
			    "kernel skips (missed) while another BPF program of that kind runs on "
			    "the CPU, where one of these is used: %s%s",
			    s->event, kept, notes);
}

/* A tracepoint's short name that is no view's -> its path; .a.b stays behind it. */
static const struct ast_source *spelled(struct query *q, const struct ast_source *source)
{
	const char *word = source->path[0], *nearest, *point = strchr(word, '.');
	struct ast_source *copy = arena_new(&q->arena, struct ast_source);
	const char **path;

	if (source->kind != AST_SOURCE_STREAM || views_find(&q->views, word, UINT32_MAX))
		return source;
	*copy = *source;
	path = catalog_spell(q->catalog, source->path, source->n_path, &copy->n_path, &nearest);
	if (!path && point && source->n_path == 1) {
		word = arena_strndup(&q->arena, word, (size_t)(point - word));
		path = catalog_spell(q->catalog, &word, 1, &copy->n_path, &nearest);
		if (path)
			path[copy->n_path - 1] =
				arena_printf(&q->arena, "%s%s", path[copy->n_path - 1], point);
	}
	copy->path = path;
	return path ? copy : source;
}

bool query_describe(struct query *q, const struct ast_source *source,
		    struct query_description *ret_description)
{
	struct query_description *d = ret_description;
	struct plan_description bound;
	struct plan_context context;

	*d = (struct query_description){ .name = source->written, .comment = "" };
	if (!query_open_catalog(q))
		return false;
	context = query_context(q);
	source = spelled(q, source);
	if (!plan_is_derived(source) && !plan_is_table(source, &context) &&
	    !plan_is_of_members(source, q->catalog, &q->arena)) {
		d->list = catalog_find(q->catalog, source->path, source->n_path, source->span,
				       &q->diags);
		if (!d->list)
			return false;
		if (!d->list->is_wildcard) {
			d->name = d->list->streams.at[0]->name;
			query_check_function(q, d->list->streams.at[0], NULL);
		}
		if (!d->list->is_wildcard && d->list->streams.at[0]->kind == STREAM_TRACEPOINT &&
		    d->list->streams.at[0]->syscall_nr < 0)
			d->access = access_note(q, d->list->streams.at[0]);
		if (!d->list->is_wildcard && d->list->streams.at[0]->kind == STREAM_USDT)
			d->access = arena_printf(
				&q->arena, "in %u place%s of %s%s", d->list->streams.n,
				d->list->streams.n > 1 ? "s" : "",
				d->list->streams.at[0]->file_path,
				d->list->streams.at[0]->semaphore_offset
					? ", which asks by a semaphore whether anybody listens"
					: "");
		if (catalog_pid_ns(q->catalog).ino != PID_NS_INITIAL)
			d->note = "ebql runs in a PID namespace: pid, tid and ppid are its "
				  "numbers, ids in the event's fields the kernel's own";
		if (d->list->streams.at[0]->kind == STREAM_ITERATOR)
			d->access =
				"a list of the kernel, read as it is at the end of each window; "
				"without one, once";
		add_fields(d, &q->arena);
		if (!stream_is_list(d->list->streams.at[0]))
			add_system_columns(d, &q->arena);
		return true;
	}
	if (!plan_describe(source, &context, &q->diags, &bound))
		return false;
	d->name = bound.name;
	d->comment = bound.comment;
	for (u32 i = 0; i < bound.n_columns; i++)
		vec_push(&q->arena, &d->columns,
			 (struct query_column){
				 bound.columns[i].name,
				 bound.columns[i].c_type
					 ?: type_text_of(&q->arena, bound.columns[i].type, 0),
				 bound.columns[i].meaning });
	if (bound.has_system)
		add_system_columns(d, &q->arena);
	return true;
}
