/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DESCRIBE STREAM: what is known of it -> text, or JSON.
 */
#include "cli/describe.h"

#include <string.h>
#include <unistd.h>

/* The stream, when it is one of a system call alone. */
static const struct stream *syscall_of(const struct query_description *d)
{
	const struct stream *first = d->list ? d->list->streams.at[0] : NULL;

	return first && !d->list->is_wildcard && first->syscall_nr >= 0 ? first : NULL;
}

bool describe_written(struct query *q, const char *written, size_t n,
		      struct query_description *ret_description)
{
	const char *text = arena_printf(&q->arena, "DESCRIBE %.*s", (int)n, written);
	const struct ast_source *source;

	diags_init(&q->diags, &q->arena, "query", text, strlen(text));
	q->script = sql_parse(&q->arena, &q->diags);
	if (diags_failed(&q->diags) || q->script->statements.n != 1)
		return false;
	source = q->script->statements.at[0].source;
	return source && (source->kind == AST_SOURCE_STREAM || source->kind == AST_SOURCE_FILE) &&
	       query_describe(q, source, ret_description);
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
	/* As in SQL: with a ":" anywhere a "/" belongs to a file's name. */
	while (!is_file && (part = strtok_r(words, strchr(text, ':') ? ":" : "/", &words)))
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

static void put_lines(const char *title, const struct query_column *lines, u32 n, struct buf *out)
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

		buf_printf(out, "%*s  %-*s  ", name_width - width, "", type_width, lines[i].type);
		put_name(out, lines[i].meaning);
		buf_putc(out, '\n');
	}
	buf_free(&name);
}

static void put_table(const struct query_description *d, struct buf *out)
{
	const struct stream *syscall = syscall_of(d);

	put_name(out, d->name);
	buf_putc(out, '\n');
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
			   syscall->syscall ?: "?");
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

static void put_json_lines(const char *key, const char *meaning, const struct query_column *lines,
			   u32 n, struct buf *out)
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

static void put_json(const struct query_description *d, struct buf *out)
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
	struct query_description description;
	struct buf out;

	if (!query_describe(q, source, &description))
		return tell_diags(q);
	buf_init(&out);
	if (is_json)
		put_json(&description, &out);
	else
		put_table(&description, &out);
	if (!is_json)
		tell_fold(&out, STDOUT_FILENO);
	return tell_paged(&out, tell_diags(q));
}
