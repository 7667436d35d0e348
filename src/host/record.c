/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * May this query's rows be written so, and there?
 */
#include "host/record.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "host/tell.h"
#include "host/written.h"

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

bool record_check(struct query *q, const struct out_format *format, const char *path,
		  bool is_terminal)
{
	struct span span = q->statement->span;
	const char *instead = "json, csv and arrow take windows and snapshots, too";

	if (path)
		instead = "record the events with the columns that the query uses; then run the "
			  "query FROM 'FILE', as often as you like";
	if (path && q->bound->has_iterators && !q->bound->has_streams)
		instead = "a list of the kernel has no events; ebql -o arrow 'SELECT ...' > "
			  "FILE.arrows keeps its rows as a table";
	if (!(path ? q->cut->is_streaming : cut_has_rows(q->cut)) && (path || format->needs_rows)) {
		return diag_refuse(&q->diags, "not-rows", span,
				   "%s takes the rows of single events, and the query has none" HINT
				   "%s",
				   path ? "record" : format->name, instead);
	}
	if (!path && format->is_binary && is_terminal) {
		return diag_refuse(&q->diags, "not-rows", span,
				   "-o %s writes bytes that a terminal cannot show" HINT
				   "%s> FILE.arrows",
				   format->name,
				   q->cut->is_streaming ? "ebql record -o FILE.arrows, or " : "");
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
	tell("ebql: record: without a column \"time\" %s will be a table, with no windows and "
	     "no order; SELECT time, ...\n",
	     path);
}

bool record_check_file(struct query *q, const char *path)
{
	if (!is_read(q->cut, path))
		return true;
	return diag_refuse(&q->diags, "unknown-file", q->statement->span,
			   "%s: the query reads the file that it would be recorded in", path);
}

bool record_open(struct query *q, const char *path, bool is_recording, bool is_begun, int *ret_fd)
{
	const char *why;
	int fd;

	if (!record_check_file(q, path))
		return false;
	fd = written_open_as_it_is(path, is_begun, &why);
	if (fd < 0) {
		diag_plain(&q->diags, "unknown-file", "%s: %s", path, why);
		return false;
	}
	*ret_fd = fd;
	if (is_recording)
		warn_of_time(&q->cut->output, path);
	return true;
}
