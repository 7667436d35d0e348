/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * 'FILE' of FROM -> a stream whose fields are the file's columns.  A file is read once for them,
 * however often it is asked for, until it changes.
 */
#include <string.h>

#include "cat/internal.h"

const char *file_called(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	return arena_strndup(arena, base, dot ? (size_t)(dot - base) : strlen(base));
}

static const char *declaration(struct arena *arena, const struct column *column)
{
	struct buf text;

	buf_init_in(&text, arena);
	type_print(column->type, &text);
	buf_printf(&text, " %s", column->name);
	return text.at;
}

static struct file_fact *known_file(struct catalog *catalog, const char *path)
{
	for (u32 i = 0; i < catalog->files.n; i++) {
		if (strcmp(catalog->files.at[i].path, path) == 0)
			return &catalog->files.at[i];
	}
	return NULL;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

struct stream_list *catalog_file(struct catalog *catalog, const char *path, struct span span,
				 struct diags *diags)
{
	struct file_fact *known = known_file(catalog, path), fact = { .path = path };
	struct stream_list *list;
	struct stream *stream;
	struct file *file;

	if (stat(path, &fact.stat) == 0 && known && is_unchanged(&known->stat, &fact.stat))
		return known->list;
	file = file_open(path, catalog->arena, span, diags);
	if (!file)
		return NULL;
	stream = arena_new(catalog->arena, struct stream);
	stream->kind = STREAM_FILE;
	stream->name = file->path;
	stream->event = file_called(catalog->arena, file->path);
	stream->syscall_nr = -1;
	stream->file = file;
	stream->n_fields = file->schema.n_columns;
	stream->fields = arena_array(catalog->arena, struct field, stream->n_fields);
	for (u32 i = 0; i < stream->n_fields; i++) {
		const struct column *c = &file->schema.columns[i];

		stream->fields[i] = (struct field){ .name = c->name,
						    .declaration = declaration(catalog->arena, c),
						    .kind = FIELD_FIXED,
						    .type = c->type,
						    .offset_bytes = 8 * i,
						    .size_bytes = 8 };
	}
	list = arena_new(catalog->arena, struct stream_list);
	vec_push(catalog->arena, &list->streams, stream);
	fact.path = file->path;
	fact.list = list;
	if (known)
		*known = fact;
	else
		vec_push(catalog->arena, &catalog->files, fact);
	return list;
}
