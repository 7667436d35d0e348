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

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/shell.h"

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

	if (!query_is_streaming(q)) {
		diag_hint(&q->diags,
			  diag_error(&q->diags, "not-rows", span,
				     "%s takes the rows of single events, and the query has none",
				     path ? "record" : format->name),
			  "record the events with the columns that the query uses; then run the "
			  "query FROM 'FILE', as often as you like");
		return false;
	}
	if (!path && format->is_binary && isatty(STDOUT_FILENO)) {
		diag_hint(&q->diags,
			  diag_error(&q->diags, "not-rows", span,
				     "-o %s writes bytes that a terminal cannot show",
				     format->name),
			  "ebql record -o FILE.arrows, or > FILE.arrows");
		return false;
	}
	return true;
}

/* The file that a plan reads and that is the one given; NULL: it reads none such. */
static const struct stream *reads(const struct plan *p, const struct stat *file)
{
	const struct stream *found = NULL;
	struct stat st;

	if (!p)
		return NULL;
	if (p->kind == PLAN_SCAN) {
		const struct stream *s = p->scan.streams->streams.at[0];

		return s->kind == STREAM_FILE && stat(s->file->path, &st) == 0 &&
				       st.st_dev == file->st_dev && st.st_ino == file->st_ino
			       ? s
			       : NULL;
	}
	for (u32 i = 0; i < p->n_inputs && !found; i++)
		found = reads(p->inputs[i], file);
	if (!found)
		found = reads(p->input, file);
	return found ? found : reads(p->right, file);
}

/* Would recording destroy what the query reads? */
static bool is_read(const struct cut *cut, const char *path)
{
	struct stat file, st;

	if (stat(path, &file) < 0)
		return false;
	for (u32 i = 0; i < cut->n_parts; i++) {
		const struct cut_part *part = &cut->parts[i];

		if (reads(part->plan, &file))
			return true;
		if (part->file && stat(part->file->path, &st) == 0 && st.st_dev == file.st_dev &&
		    st.st_ino == file.st_ino)
			return true;
	}
	return false;
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
		diag_error(&q->diags, "unknown-file", q->statement->span,
			   "%s: the query reads the file that it would be recorded in", path);
		return false;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		diag_plain(&q->diags, "unknown-file", "%s: %s", path, strerror(errno));
		return false;
	}
	*ret_fd = fd;
	warn_of_time(query_output(q), path);
	return true;
}

/* Takes "-o FILE" in its three forms out of what stands before "--"; NULL: there is none. */
static const char *take_path(int *argc, char **argv)
{
	for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
		bool is_apart = strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0;
		const char *path = is_apart				   ? argv[i + 1]
				   : strncmp(argv[i], "--output=", 9) == 0 ? argv[i] + 9
				   : strncmp(argv[i], "-o", 2) == 0	   ? argv[i] + 2
									   : NULL;
		int n = is_apart ? 2 : 1;

		if (!path)
			continue;
		memmove(&argv[i], &argv[i + n], (size_t)(*argc - i - n + 1) * sizeof(*argv));
		*argc -= n;
		return path;
	}
	return NULL;
}

int cmd_record(int argc, char **argv)
{
	const char *path = take_path(&argc, argv);
	struct options options;
	enum file_kind kind;
	int status;

	if (!path) {
		fputs("ebql: record: -o FILE says where the rows go, a file that ends with "
		      ".arrows, .jsonl or .csv\n",
		      stderr);
		return 2;
	}
	if (!file_kind_of(path, &kind)) {
		fprintf(stderr,
			"error[unknown-file]: %s: is no kind of file\n"
			"  hint: files end with .arrows, .jsonl or .csv\n",
			path);
		return 2;
	}
	status = options_parse(&options, argc, argv);
	if (status < 0 && options.is_shell) {
		fputs("ebql: record: there is no query\n", stderr);
		status = 2;
	}
	if (status < 0) {
		options.format = out_recorder(kind);
		options.record_path = path;
		status = run_text(&options, NULL);
	}
	buf_free(&options.text);
	return status;
}
