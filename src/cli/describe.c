/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DESCRIBE STREAM: its columns with types and meanings, then the system columns; of a wildcard
 * the columns that all its streams share.
 */
#include "cli/describe.h"

#include <string.h>
#include <unistd.h>

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

static void add_fields(struct description *d, struct arena *arena)
{
	const struct stream *first = d->list->streams.at[0];

	for (u32 i = 0; i < first->n_fields; i++) {
		const struct field *field = &first->fields[i];
		bool is_shared = true;

		for (u32 k = 1; k < d->list->streams.n && is_shared; k++)
			is_shared = has_field(d->list->streams.at[k], field);
		if (is_shared)
			vec_push(arena, &d->columns,
				 (struct described_column){
					 field->name,
					 type_text_of(arena, field->type, field->n_elements),
					 field->declaration });
	}
}

static void add_system_columns(struct description *d, struct arena *arena)
{
	for (u32 i = 0; i < SYS_N; i++) {
		const struct system_column_info *info = &system_columns[i];
		const char *name = info->name;

		for (u32 k = 0; k < d->columns.n; k++)
			if (!strcmp(d->columns.at[k].name, info->name))
				name = arena_printf(arena, "current.%s", info->name);
		vec_push(arena, &d->system,
			 (struct described_column){ name, type_text_of(arena, info->type, 0),
						    info->meaning });
	}
}

/* The stream, when it is one of a system call alone. */
static const struct stream *syscall_of(const struct description *d)
{
	const struct stream *first = d->list ? d->list->streams.at[0] : NULL;

	return first && !d->list->is_wildcard && first->syscall_nr >= 0 ? first : NULL;
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

/* false after a diagnostic.  Of a wildcard the columns are those that all its streams share. */
static bool describe_source(struct query *q, const struct ast_source *source,
			    struct description *ret_description)
{
	struct description *d = ret_description;
	struct plan_description bound;

	*d = (struct description){ .name = source->written, .comment = "" };
	if (!plan_is_derived(source)) {
		d->list = catalog_find(q->catalog, source->path, source->n_path, source->span,
				       &q->diags);
		if (!d->list)
			return false;
		if (!d->list->is_wildcard)
			d->name = d->list->streams.at[0]->name;
		if (!d->list->is_wildcard && d->list->streams.at[0]->kind == STREAM_TRACEPOINT &&
		    !syscall_of(d))
			d->access = access_note(q, d->list->streams.at[0]);
		if (catalog_pid_ns(q->catalog).ino != PID_NS_INITIAL)
			d->note = "ebql runs in a PID namespace: pid, tid and ppid are its "
				  "numbers, ids in the event's fields the kernel's own";
		add_fields(d, &q->arena);
		add_system_columns(d, &q->arena);
		return true;
	}
	if (!plan_describe(source, q->catalog, &q->views, &q->arena, &q->diags, &bound))
		return false;
	d->name = bound.name;
	d->comment = bound.comment;
	for (u32 i = 0; i < bound.n_columns; i++)
		vec_push(&q->arena, &d->columns,
			 (struct described_column){
				 bound.columns[i].name,
				 type_text_of(&q->arena, bound.columns[i].type, 0),
				 bound.columns[i].meaning });
	if (bound.has_system)
		add_system_columns(d, &q->arena);
	return true;
}

bool describe_written(struct query *q, const char *written, size_t n,
		      struct description *ret_description)
{
	const char *text = arena_printf(&q->arena, "DESCRIBE %.*s", (int)n, written);
	const struct ast_source *source;

	diags_init(&q->diags, &q->arena, "query", text, strlen(text));
	q->script = sql_parse(&q->arena, &q->diags);
	if (diags_failed(&q->diags) || q->script->statements.n != 1)
		return false;
	source = q->script->statements.at[0].source;
	return source && (source->kind == AST_SOURCE_STREAM || source->kind == AST_SOURCE_FILE) &&
	       describe_source(q, source, ret_description);
}

/* A file may be written as in SQL, or bare. */
bool describe_name(struct query *q)
{
	const char *text = q->diags.text, *file = text;
	char *words = arena_strdup(&q->arena, text), *part;
	struct ast_statement *statement = arena_array(&q->arena, struct ast_statement, 1);
	struct ast_source *source = arena_array(&q->arena, struct ast_source, 1);
	struct span span = { 0, (u32)q->diags.text_bytes };
	VEC(const char *) path = { 0 };
	enum file_kind kind;

	if (text[0] == '\'' && span.end > 2 && text[span.end - 1] == '\'')
		file = arena_strndup(&q->arena, text + 1, span.end - 2);
	bool is_file = file_kind_of(file, &kind);

	if (is_file)
		vec_push(&q->arena, &path, file);
	while (!is_file && (part = strtok_r(words, ":/", &words)))
		vec_push(&q->arena, &path, part);
	if (!path.n)
		return diag_refuse(&q->diags, "unknown-stream", span, "a stream has a name");
	*source = (struct ast_source){ .kind = is_file ? AST_SOURCE_FILE : AST_SOURCE_STREAM,
				       .path = path.at,
				       .n_path = path.n,
				       .written = text,
				       .span = span };
	*statement = (struct ast_statement){ .kind = AST_STATEMENT_DESCRIBE, .source = source };
	q->statement = statement;
	return true;
}

static void put_raw_path(const struct stream *syscall, struct buf *out)
{
	buf_printf(out, "raw_tracepoint:%s with the number %d",
		   syscall->is_syscall_enter ? "sys_enter" : "sys_exit", syscall->syscall_nr);
}

/* Names of other people's files are shown, and not obeyed. */
static u32 put_name(struct buf *out, const char *name)
{
	return out_put_visible(out, name, strlen(name), 0);
}

static void put_lines(const char *title, const struct described_column *lines, u32 n,
		      struct buf *out)
{
	int name_width = strlen(title), type_width = 4;
	struct buf name;

	buf_init(&name);
	for (u32 i = 0; i < n; i++) {
		name_width = MAX(name_width, (int)put_name(&name, lines[i].name));
		type_width = MAX(type_width, (int)strlen(lines[i].type));
	}
	if (n)
		buf_printf(out, "\n%-*s  %-*s  meaning\n", name_width, title, type_width, "type");
	for (u32 i = 0; i < n; i++) {
		int width = (int)put_name(out, lines[i].name);

		buf_printf(out, "%*s  %-*s  %s\n", name_width - width, "", type_width,
			   lines[i].type, lines[i].meaning);
	}
	buf_free(&name);
}

static void put_table(const struct description *d, struct buf *out)
{
	const struct stream *syscall = syscall_of(d);

	buf_printf(out, "%s\n", d->name);
	for (const char *at = d->comment; *at; at += *at == '\n') {
		size_t length = strcspn(at, "\n");

		buf_printf(out, "  %.*s\n", (int)length, at);
		at += length;
	}
	if (d->note)
		buf_printf(out, "  %s\n", d->note);
	if (d->access)
		buf_printf(out, "  %s\n", d->access);
	if (d->list && d->list->is_wildcard)
		buf_printf(out, "  %u streams; a query on them has the columns they share\n",
			   d->list->streams.n);
	if (syscall) {
		buf_printf(out, "  the %s of system call %d, %s\n",
			   syscall->is_syscall_enter ? "entry" : "return", syscall->syscall_nr,
			   syscall_name(syscall->syscall_nr) ? syscall_name(syscall->syscall_nr)
							     : "?");
		buf_printf(out, "  can be read by %s, or by ", syscall->name);
		put_raw_path(syscall, out);
		buf_printf(out,
			   " (SET access_path)\n"
			   "  what is such a call, and what is none: ebql describe syscall:%s\n",
			   strchr(syscall->event + strlen("sys_e"), '_') + 1);
	}
	put_lines("column", d->columns.at, d->columns.n, out);
	put_lines("system column", d->system.at, d->system.n, out);
}

static void put_json_pair(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, "\"%s\": ", key);
	buf_put_json_string(out, text, strlen(text));
}

static void put_json_lines(const char *key, const char *meaning,
			   const struct described_column *lines, u32 n, struct buf *out)
{
	buf_printf(out, ", \"%s\": [", key);
	for (u32 i = 0; i < n; i++) {
		buf_puts(out, i ? ", {" : "{");
		put_json_pair(out, "name", lines[i].name);
		buf_puts(out, ", ");
		put_json_pair(out, "type", lines[i].type);
		buf_puts(out, ", ");
		put_json_pair(out, meaning, lines[i].meaning);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

static void put_json(const struct description *d, struct buf *out)
{
	const struct stream *syscall = syscall_of(d);

	buf_putc(out, '{');
	put_json_pair(out, "stream", d->name);
	if (d->list) {
		buf_printf(out, ", \"streams\": %u", d->list->streams.n);
	} else {
		buf_puts(out, ", ");
		put_json_pair(out, "comment", d->comment);
	}
	if (d->note) {
		buf_puts(out, ", ");
		put_json_pair(out, "note", d->note);
	}
	if (d->access) {
		buf_puts(out, ", ");
		put_json_pair(out, "access", d->access);
	}
	if (syscall) {
		buf_printf(out, ", \"syscall\": %d, \"access_paths\": [\"%s\", \"",
			   syscall->syscall_nr, syscall->name);
		put_raw_path(syscall, out);
		buf_puts(out, "\"]");
	}
	put_json_lines("columns", d->list ? "declaration" : "meaning", d->columns.at, d->columns.n,
		       out);
	put_json_lines("system_columns", "meaning", d->system.at, d->system.n, out);
	buf_puts(out, "}\n");
}

int describe_columns(struct query *q, const struct ast_source *source, bool is_json)
{
	struct description description;
	struct buf out;

	if (!query_open_catalog(q) || !describe_source(q, source, &description))
		return query_report(q);
	buf_init(&out);
	if (is_json)
		put_json(&description, &out);
	else
		put_table(&description, &out);
	return query_say(&out, query_report(q));
}
