/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql record -o FILE 'SQL': the rows of a query over single events -> a file that
 * FROM 'FILE' reads back.
 */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool record_is_replay(const struct cut *cut)
{
	bool has_files = false;

	for (u32 i = 0; i < cut->n_parts; i++) {
		if (cut->parts[i].has_streams)
			return false;
		has_files |= cut->parts[i].has_files;
	}
	return has_files;
}

bool record_check(struct query *q, const struct out_format *format, const char *path)
{
	struct span span = q->statement->span;

	if (!q->cut->is_streaming) {
		return diag_refuse(
			&q->diags, "not-rows", span,
			"%s takes the rows of single events, and the query has none" HINT
			"record the events with the columns that the query uses; then run the "
			"query FROM 'FILE', as often as you like",
			path ? "record" : format->name);
	}
	if (!path && format->is_binary && isatty(STDOUT_FILENO)) {
		return diag_refuse(&q->diags, "not-rows", span,
				   "-o %s writes bytes that a terminal cannot show" HINT
				   "ebql record -o FILE.arrows, or > FILE.arrows",
				   format->name);
	}
	return true;
}

/* A search for the file that would be recorded in, among those that are read. */
struct search {
	struct stat file;
	bool is_found;
};

static void look_at(struct search *search, const char *path)
{
	struct stat st;

	search->is_found |= stat(path, &st) == 0 && st.st_dev == search->file.st_dev &&
			    st.st_ino == search->file.st_ino;
}

static void look_at_plan(void *context, struct plan *p)
{
	const struct stream *s = p->kind == PLAN_SCAN ? p->scan.streams->streams.at[0] : NULL;

	if (s && s->kind == STREAM_FILE)
		look_at(context, s->file->path);
}

/* Would recording destroy what the query reads? */
static bool is_read(const struct cut *cut, const char *path)
{
	struct search search = { .is_found = false };

	if (stat(path, &search.file) < 0)
		return false;
	for (u32 i = 0; i < cut->n_parts; i++) {
		if (cut->parts[i].plan)
			plan_each(cut->parts[i].plan, look_at_plan, &search);
		if (cut->parts[i].file)
			look_at(&search, cut->parts[i].file->path);
	}
	return search.is_found;
}

static void warn_of_time(const struct schema *schema, const char *path)
{
	for (u32 i = 0; i < schema->n_columns; i++)
		if (strcasecmp(schema->columns[i].name, "time") == 0)
			return;
	fprintf(stderr,
		"ebql: record: without a column \"time\" %s will be a table, with no windows and "
		"no order; SELECT time, ...\n",
		path);
}

bool record_open(struct query *q, const char *path, int *ret_fd)
{
	int fd;

	if (is_read(q->cut, path)) {
		return diag_refuse(&q->diags, "unknown-file", q->statement->span,
				   "%s: the query reads the file that it would be recorded in",
				   path);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		diag_plain(&q->diags, "unknown-file", "%s: %s", path, strerror(errno));
		return false;
	}
	*ret_fd = fd;
	warn_of_time(&q->cut->output, path);
	return true;
}
