/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql describe STREAM: its columns with types and meanings, then the system
 * columns; of a wildcard the columns that all its streams share.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/catalog_options.h"
#include "cli/describe.h"

#define PATH_PARTS_MAX 8

/* One line of the table. */
struct line {
	const char *name;
	const char *type;
	const char *meaning;
};

struct description {
	struct arena *arena;
	const struct stream_list *list;
	const char *name; /* as asked for a wildcard, canonical otherwise */
	VEC(const struct field *) shared;
	VEC(struct line) columns, system;
	VEC(const char *) access_paths;
	const struct stream *syscall; /* the only stream, when it is one of a system call */
};

static bool same_type(struct type a, struct type b)
{
	return a.kind == b.kind && a.bits == b.bits && a.is_signed == b.is_signed &&
	       a.bytes == b.bytes;
}

static bool has_field(const struct stream *stream, const struct field *wanted)
{
	for (u32 i = 0; i < stream->n_fields; i++) {
		const struct field *field = &stream->fields[i];

		if (!strcmp(field->name, wanted->name))
			return same_type(field->type, wanted->type) &&
			       field->n_elements == wanted->n_elements;
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

static void add_columns(struct description *description)
{
	const struct stream_list *list = description->list;
	const struct stream *first = list->streams.at[0];

	for (u32 i = 0; i < first->n_fields; i++) {
		const struct field *field = &first->fields[i];
		bool is_shared = true;

		for (u32 k = 1; k < list->streams.n && is_shared; k++)
			is_shared = has_field(list->streams.at[k], field);
		if (!is_shared)
			continue;
		vec_push(description->arena, &description->shared, field);
		vec_push(description->arena, &description->columns,
			 (struct line){
				 field->name,
				 type_text_of(description->arena, field->type, field->n_elements),
				 field->declaration });
	}
}

static void add_system_columns(struct description *description)
{
	for (u32 i = 0; i < SYS_N; i++) {
		const struct system_column_info *info = &system_columns[i];
		const char *name = info->name;

		for (u32 k = 0; k < description->shared.n; k++) {
			if (!strcmp(description->shared.at[k]->name, info->name))
				name = arena_printf(description->arena, "current.%s", info->name);
		}
		vec_push(description->arena, &description->system,
			 (struct line){ name, type_text_of(description->arena, info->type, 0),
					info->meaning });
	}
}

static void add_access_paths(struct description *description)
{
	const struct stream *stream = description->list->streams.at[0];

	if (description->list->is_wildcard)
		return;
	vec_push(description->arena, &description->access_paths, stream->name);
	if (stream->syscall_nr < 0)
		return;
	description->syscall = stream;
	vec_push(description->arena, &description->access_paths,
		 arena_printf(description->arena, "raw_tracepoint:%s with the number %d",
			      stream->is_syscall_enter ? "sys_enter" : "sys_exit",
			      stream->syscall_nr));
}

static void put_lines(const char *title, const struct line *lines, u32 n, struct buf *out)
{
	int name_width = strlen(title), type_width = 4;

	for (u32 i = 0; i < n; i++) {
		name_width = MAX(name_width, (int)strlen(lines[i].name));
		type_width = MAX(type_width, (int)strlen(lines[i].type));
	}
	buf_printf(out, "\n%-*s  %-*s  meaning\n", name_width, title, type_width, "type");
	for (u32 i = 0; i < n; i++)
		buf_printf(out, "%-*s  %-*s  %s\n", name_width, lines[i].name, type_width,
			   lines[i].type, lines[i].meaning);
}

static void put_table(const struct description *description, struct buf *out)
{
	const struct stream *syscall = description->syscall;

	buf_printf(out, "%s\n", description->name);
	if (description->list->is_wildcard)
		buf_printf(out, "  %u streams; a query on them has the columns they share\n",
			   description->list->streams.n);
	if (syscall) {
		buf_printf(out, "  the %s of system call %d, %s\n",
			   syscall->is_syscall_enter ? "entry" : "return", syscall->syscall_nr,
			   syscall_name(syscall->syscall_nr) ? syscall_name(syscall->syscall_nr)
							     : "?");
		buf_printf(out, "  can be read by %s, or by %s (SET access_path)\n",
			   description->access_paths.at[0], description->access_paths.at[1]);
	}
	if (description->columns.n)
		put_lines("column", description->columns.at, description->columns.n, out);
	put_lines("system column", description->system.at, description->system.n, out);
}

static void put_json_pair(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, "\"%s\": ", key);
	buf_put_json_string(out, text, strlen(text));
}

static void put_json_lines(const char *key, const char *meaning, const struct line *lines, u32 n,
			   struct buf *out)
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

static void put_json(const struct description *description, struct buf *out)
{
	buf_putc(out, '{');
	put_json_pair(out, "stream", description->name);
	buf_printf(out, ", \"streams\": %u", description->list->streams.n);
	if (description->syscall) {
		buf_printf(out, ", \"syscall\": %d", description->syscall->syscall_nr);
		buf_puts(out, ", \"access_paths\": [");
		for (u32 i = 0; i < description->access_paths.n; i++) {
			buf_puts(out, i ? ", " : "");
			buf_put_json_string(out, description->access_paths.at[i],
					    strlen(description->access_paths.at[i]));
		}
		buf_putc(out, ']');
	}
	put_json_lines("columns", "declaration", description->columns.at, description->columns.n,
		       out);
	put_json_lines("system_columns", "meaning", description->system.at, description->system.n,
		       out);
	buf_puts(out, "}\n");
}

/* "tracepoint:sched:sched_switch" or with slashes -> its parts. */
static u32 split(char *text, const char **ret_path)
{
	char *rest = NULL;
	u32 n = 0;

	for (char *part = strtok_r(text, ":/", &rest); part && n < PATH_PARTS_MAX;
	     part = strtok_r(NULL, ":/", &rest))
		ret_path[n++] = part;
	return n;
}

static void put_derived_table(const struct plan_description *d, const struct line *columns,
			      const struct line *system, struct buf *out)
{
	buf_printf(out, "%s\n", d->name);
	for (const char *at = d->comment; *at; at += *at == '\n') {
		size_t length = strcspn(at, "\n");

		buf_puts(out, "  ");
		buf_put(out, at, length);
		buf_putc(out, '\n');
		at += length;
	}
	put_lines("column", columns, d->n_columns, out);
	if (d->has_system)
		put_lines("system column", system, SYS_N, out);
}

static void put_derived_json(const struct plan_description *d, const struct line *columns,
			     const struct line *system, struct buf *out)
{
	buf_putc(out, '{');
	put_json_pair(out, "stream", d->name);
	buf_puts(out, ", ");
	put_json_pair(out, "comment", d->comment);
	put_json_lines("columns", "meaning", columns, d->n_columns, out);
	put_json_lines("system_columns", "meaning", system, d->has_system ? SYS_N : 0, out);
	buf_puts(out, "}\n");
}

int describe_derived(const struct ast_source *source, struct catalog *catalog,
		     struct view_list *views, bool is_json, struct arena *arena,
		     struct diags *diags)
{
	struct plan_description d;
	struct line *columns, system[SYS_N];
	struct buf out;
	int rc;

	if (!plan_describe(source, catalog, views, arena, diags, &d))
		return 2;
	columns = arena_array(arena, struct line, MAX(d.n_columns, 1u));
	for (u32 i = 0; i < d.n_columns; i++)
		columns[i] =
			(struct line){ d.columns[i].name, type_text_of(arena, d.columns[i].type, 0),
				       d.columns[i].meaning };
	for (u32 i = 0; i < SYS_N; i++) {
		const struct system_column_info *info = &system_columns[i];
		const char *name = info->name;

		for (u32 k = 0; k < d.n_columns; k++)
			if (!strcmp(d.columns[k].name, name))
				name = arena_printf(arena, "current.%s", info->name);
		system[i] =
			(struct line){ name, type_text_of(arena, info->type, 0), info->meaning };
	}
	buf_init(&out);
	if (is_json)
		put_derived_json(&d, columns, system, &out);
	else
		put_derived_table(&d, columns, system, &out);
	rc = buf_flush(&out, STDOUT_FILENO);
	buf_free(&out);
	return rc ? 1 : 0;
}

/* 'FILE.csv' as it stands in SQL, too. */
static const char *unquoted(const char *text, struct arena *arena)
{
	size_t n = strlen(text);

	return n > 2 && text[0] == '\'' && text[n - 1] == '\''
		       ? arena_strndup(arena, text + 1, n - 2)
		       : text;
}

static int describe(struct catalog *catalog, const struct catalog_options *options,
		    struct arena *arena, struct diags *diags)
{
	struct description description = { .arena = arena, .name = options->argument };
	enum find_result result;
	struct stream_list *list;
	const char *path[PATH_PARTS_MAX];
	u32 n = split(arena_strdup(arena, options->argument), path);
	struct view_list views;
	struct ast_source source;
	const char *argument = unquoted(options->argument, arena);
	struct span span = { 0, diags->text_bytes };
	enum file_kind kind;
	struct buf out;
	int rc;

	if (!n) {
		diag_error(diags, "unknown-stream", span, "a stream has a name");
		return 2;
	}
	source = (struct ast_source){ .kind = AST_SOURCE_STREAM,
				      .path = path,
				      .n_path = n,
				      .written = options->argument,
				      .span = span };
	/* A file's path has colons and slashes of its own. */
	if (file_kind_of(argument, &kind)) {
		path[0] = argument;
		source.kind = AST_SOURCE_FILE;
		source.n_path = 1;
	}
	views_init(&views, arena);
	if (plan_is_derived(&source))
		return describe_derived(&source, catalog, &views, options->is_json, arena, diags);
	result = catalog_look_up(catalog, path, n, span, diags, &list);
	if (result != FIND_FOUND)
		return result == FIND_FAILED ? 1 : 2;
	description.list = list;
	if (!description.list->is_wildcard)
		description.name = description.list->streams.at[0]->name;
	add_columns(&description);
	add_system_columns(&description);
	add_access_paths(&description);
	buf_init(&out);
	if (options->is_json)
		put_json(&description, &out);
	else
		put_table(&description, &out);
	rc = buf_flush(&out, STDOUT_FILENO);
	buf_free(&out);
	return rc ? 1 : 0;
}

int cmd_describe(int argc, char **argv)
{
	static const char usage[] = "describe [-o table|json] [--catalog FILE] STREAM";
	struct catalog_options options;
	struct catalog *catalog;
	struct arena arena;
	struct diags diags;
	int status = 1;

	if (!catalog_options_parse(argc, argv, usage, &options))
		return 2;
	if (!options.argument) {
		fprintf(stderr, "usage: ebql %s\n", usage);
		return 2;
	}
	arena_init(&arena);
	diags_init(&diags, &arena, "describe", options.argument, strlen(options.argument));
	catalog = catalog_options_open(&options, &arena, &diags);
	if (catalog)
		status = describe(catalog, &options, &arena, &diags);
	if (diags.list.n)
		catalog_complain(&diags);
	catalog_close(catalog);
	arena_free(&arena);
	return status;
}
