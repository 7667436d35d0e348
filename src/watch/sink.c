/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> their output, or what is kept for it, and on_row; whose file that is.
 */
#include "watch/sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_sink(void *context, const struct schema *schema)
{
	struct form *f = context;
	const struct watch_options *o = f->of->all->options;
	const struct out_options options = {
		.is_terminal = !f->path && f->of->all->is_terminal,
		.is_ascii = o->is_ascii,
		.has_window_columns = o->has_window_columns,
		.bins = o->bins,
		.monotonic_to_realtime_ns = (s64)(base_realtime_ns() - base_monotonic_ns()),
		.is_streaming = cut_has_rows(f->query.cut),
		.has_other = cut_has_other(f->query.cut),
		.is_gathered = f->path != NULL && !f->keep,
		.query = f->of->name,
		.write = f->keep ? keep_put : output_put,
		.context = f->keep ? (void *)f->keep : (void *)f->output,
	};
	int err = out_file_open(&f->out, f->format, output_fd(f->output), &options, schema);

	if (f->keep) {
		err = err ?: out_file_idle(&f->out);
		keep_end(f->keep, 0); /* what stands ahead of all */
	}
	if (!err && *f->query.settings.on_row && !f->row_action) {
		f->row_action = row_open(&f->query.settings, f->of->name, f->of->shown.at, schema,
					 &options);
		err = f->row_action ? 0 : -ENOMEM;
	}
	return err;
}

/* Streamed rows in a table say nothing of whose they are. */
static void put_heading(struct form *f)
{
	bool is_other = f->of->all->last != f;

	if (f->path)
		return;
	f->of->all->last = f;
	if (is_other && f->query.cut->is_streaming && f->format != out_format_find("json")) {
		out_put_visible(&f->out.out.buf, f->of->name, strlen(f->of->name), 0);
		buf_puts(&f->out.out.buf, ":\n");
	}
}

static int give_batch(void *context, const struct batch *batch)
{
	struct form *f = context;
	bool is_streaming = f->query.cut->is_streaming;
	struct batch given = *batch;
	struct buf nothing = { 0 };
	int error = f->out.out.error;

	f->counts.n_rows += batch->n_rows;
	f->counts.n_windows += !is_streaming;
	if (!is_streaming)
		host_count(f->query.flow, &f->ends, batch, &f->n_counted);
	/* What is kept is written later, and then or just before the output may have failed. */
	if (f->keep) {
		error = out_file_batch(&f->out, &given);
		keep_end(f->keep, is_streaming ? batch->n_rows : 1);
		error = f->out.out.error = error ?: output_put(f->output, &nothing);
	} else if (output_has_room(f->output)) {
		given.n_unwritten = is_streaming ? f->counts.n_unwritten : f->n_unwritten;
		f->n_unwritten = 0;
		put_heading(f);
		error = out_file_batch(&f->out, &given);
	} else {
		f->n_unwritten += is_streaming ? batch->n_rows : 1;
		f->counts.n_unwritten += is_streaming ? batch->n_rows : 1;
	}
	if (f->row_action)
		row_batch(f->row_action, batch);
	if (!error && f->query.settings.on_loss_fail && account_is_biased(&batch->account)) {
		f->is_ended_by_loss = true;
		return -ECANCELED;
	}
	return error;
}

static int idle(void *context)
{
	return out_file_idle(&((struct form *)context)->out);
}

static int close_sink(void *context, int error)
{
	struct form *f = context;

	return out_file_close(&f->out, diags_failed(&f->query.diags) ? -ECANCELED : 0);
}

struct sink sink_of(struct form *f)
{
	return (struct sink){ open_sink, give_batch, idle, close_sink, f };
}

bool sink_choose(struct form *f)
{
	const char *text = f->query.settings.out, *colon = strchrnul(text, ':');
	char *format = arena_strndup(&f->query.arena, text, (size_t)(colon - text));
	struct query *q = &f->query;

	f->format = *text ? out_format_find(format) : f->of->all->options->format;
	f->path = *colon && strcmp(colon + 1, "-") != 0 ? colon + 1 : NULL;
	if (f->path)
		out_put_visible(&f->shown, f->path, strlen(f->path), 0);
	if (!f->format || f->format == out_format_find("heatmap") || (f->path && !*f->path))
		return diag_refuse(&q->diags, "bad-output", q->settings.out_span,
				   "\"%s\" is no output of ebql watch" HINT
				   "out = 'json:/path', or expanded, table, csv, arrow, jsonl; "
				   "without a path standard output",
				   *text ? text : f->format->name);
	if (!f->path && f->format != out_format_find("json") &&
	    f->format != out_format_find("table") && f->format != out_format_find("expanded"))
		return diag_refuse(
			&q->diags, "bad-output", q->settings.out_span,
			"on standard output, where other queries write too, %s cannot be "
			"read" HINT "out = '%s:/path', or table, expanded or json",
			f->format->name, f->format->name);
	if (f->format->needs_rows && !record_check(q, f->format, NULL, false))
		return false;
	if (f->path && !f->of->trust)
		return diag_refuse(&q->diags, "untrusted-file", q->settings.out_span,
				   "%s would be written for who may write %s" HINT
				   "the query's file must be root's (or of the user that runs ebql "
				   "watch), and no other's to write: chown root, chmod go-w",
				   f->shown.at, q->diags.file);
	return !f->path || record_check_file(q, f->path);
}

/* A file that an Arrow stream stands in cannot be written on. */
static bool may_append(const struct form *f, int fd)
{
	struct stat st;

	return !f->format->is_binary || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size;
}

/* The path's file; -1 and why. */
static int open_file(const struct form *f, const char **ret_why)
{
	int fd = written_open(f->path, true, ret_why);

	if (fd < 0 || may_append(f, fd))
		return fd;
	*ret_why = "is not empty, and nothing can be written behind an Arrow stream";
	close(fd);
	return -1;
}

/* NULL and why. */
static struct output *open_path(const struct form *f, const char **ret_why)
{
	int fd = open_file(f, ret_why);

	if (fd < 0)
		return NULL;
	if (!f->format->is_binary)
		written_end_line(fd);
	*ret_why = strerror(ENOMEM);
	return output_open(fd, f->shown.at);
}

/* Is what stands at the path the form's output?  A device may be so for many. */
static bool is_file_of(const struct form *f, const char *path)
{
	struct stat at, ours;

	return stat(path, &at) == 0 && fstat(output_fd(f->output), &ours) == 0 &&
	       !S_ISCHR(at.st_mode) && at.st_dev == ours.st_dev && at.st_ino == ours.st_ino;
}

/* A query's own file may have been moved away for its new form; another's may not be taken so. */
static bool is_output(const struct form *f, const struct form *other)
{
	struct stat st;

	return other && other->path &&
	       (is_file_of(other, f->path) ||
		(other->of != f->of && strcmp(other->path, f->path) == 0 &&
		 !(fstat(output_fd(other->output), &st) == 0 && S_ISCHR(st.st_mode))));
}

/*
 * The other's output is the form's too, for the moment until the other leaves it: its old form, or
 * that of a query whose new form waits for what this one's old form has.  What these still have to
 * say stands before what the form says.
 */
static bool take_over(struct form *f, struct form *other)
{
	struct watch_query *w = f->of;

	if (other->of != w && !(w->form && other->of->waits_for == w->form)) {
		w->waits_for = other;
		return diag_refuse(&f->query.diags, "bad-output", f->query.settings.out_span,
				   "%s: %s writes there" HINT "give each a file of its own",
				   f->path, other->of->path);
	}
	if (f->format->is_binary || other->format->is_binary)
		return diag_refuse(&f->query.diags, "bad-output", f->query.settings.out_span,
				   "%s: %s writes there as it was before, and nothing can be "
				   "written behind an Arrow stream" HINT
				   "give the new form a file of its own, or move that one away",
				   f->path, other->of->path);
	f->output = output_use(other->output);
	return true;
}

/* Who else has it, his old form too; NULL: nobody. */
static struct form *find_writer(const struct form *f)
{
	struct watch_query *w = f->path ? f->of->all->first : NULL;

	while (w && !is_output(f, w->form))
		w = w->next;
	return w ? w->form : NULL;
}

static bool refuse_output(struct form *f, const char *why)
{
	return diag_refuse(&f->query.diags, "unknown-file", f->query.settings.out_span, "%s: %s",
			   f->path, why);
}

bool sink_check(struct form *f)
{
	struct stat st;
	const char *why;
	int fd;

	/* Another has it, and may have left it by then; or who reads there would be woken. */
	if (!f->path || find_writer(f) || (lstat(f->path, &st) == 0 && !S_ISREG(st.st_mode)))
		return true;
	fd = open_file(f, &why);
	return fd >= 0 ? close(fd) == 0 : refuse_output(f, why);
}

bool sink_take(struct form *f)
{
	struct form *writer = find_writer(f);
	const char *why;

	if (writer)
		return take_over(f, writer);
	f->output = f->path ? open_path(f, &why) : output_use(f->of->all->standard);
	return f->output || refuse_output(f, why);
}

void sink_reopen(struct form *f)
{
	struct output *output;
	const char *why;

	/* Where nothing was moved away there is nothing to open, and no thread more that waits. */
	if (!f->path || is_file_of(f, f->path))
		return;
	output = open_path(f, &why);
	if (!output) {
		fprintf(stderr, "ebql: %s: %s: not opened anew\n", f->shown.at, why);
		return;
	}
	if (f->keep)
		keep_begin_again(f->keep);
	else
		out_file_close(&f->out, 0);
	output_leave(f->output, f->of->all->cancel);
	f->output = output;
	if (!f->keep)
		open_sink(f, &f->query.cut->output);
}
