/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql record -o FILE 'SQL': the rows of a query over single events -> a file that
 * FROM 'FILE' reads back.
 */
#include "host/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
	query_tell(
		"ebql: record: without a column \"time\" %s will be a table, with no windows and "
		"no order; SELECT time, ...\n",
		path);
}

/* Where everybody may place files, as in /tmp. */
static bool is_shared(const char *path, const struct stat *file)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
		 slash ? path : ".");
	return stat(folder, &st) < 0 ||
	       ((st.st_mode & S_ISVTX) && (st.st_mode & (S_IWGRP | S_IWOTH)) &&
		file->st_uid != st.st_uid);
}

/* Who can write there could say that others did what they did not. */
static struct stat guarded;

void record_guard(int fd)
{
	if (fd < 0 || fstat(fd, &guarded) < 0 || S_ISCHR(guarded.st_mode))
		guarded = (struct stat){ 0 };
}

/*
 * NULL: it may be written.  What the kernel refuses with fs.protected_regular and
 * protected_hardlinks, which may be off: another user placed the file, to have it written over,
 * or the name, to have a file of ours written over.
 */
static const char *refuse_file(int fd, const char *path, bool is_log)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return strerror(errno);
	if (guarded.st_ino && st.st_dev == guarded.st_dev && st.st_ino == guarded.st_ino)
		return "the audit stands there (--audit)";
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		return "the file has another name, too: it is not written over";
	if (st.st_uid != geteuid() && is_shared(path, &st))
		return "is another user's, in a directory that is everybody's";
	return !is_log && S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0 ? strerror(errno) : NULL;
}

/* A FIFO that is read too waits for no reader, and survives him. */
static int open_log(const char *path)
{
	struct stat st;
	bool is_fifo = lstat(path, &st) == 0 && S_ISFIFO(st.st_mode);
	int flags = (is_fifo ? O_RDWR : O_WRONLY | O_CREAT) | O_APPEND | O_NOFOLLOW | O_CLOEXEC;

	return open(path, flags | O_NONBLOCK, 0666);
}

int record_file(const char *path, bool is_log, const char **ret_why)
{
	int fd = is_log ? open_log(path)
			: open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);

	if (fd < 0) {
		*ret_why = errno == ELOOP ? "is a link: name the file itself" : strerror(errno);
		return -1;
	}
	*ret_why = refuse_file(fd, path, is_log);
	if (!*ret_why)
		return fd;
	close(fd);
	return -1;
}

void record_end_line(int fd)
{
	char path[32], last = '\n';
	struct stat st;
	int file;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	/* It is open for writing only, and may be readable to nobody: then nothing is known. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	/* Where there is no room, what comes fails, too, and says so. */
	if (pread(file, &last, 1, st.st_size - 1) == 1 && last != '\n' && write(fd, "\n", 1) < 0)
		errno = 0;
	close(file);
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
	fd = record_file(path, is_begun, &why);
	if (fd < 0) {
		diag_plain(&q->diags, "unknown-file", "%s: %s", path, why);
		return false;
	}
	*ret_fd = fd;
	if (is_recording)
		warn_of_time(&q->cut->output, path);
	return true;
}
