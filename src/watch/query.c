/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries of files: started, replaced, ended, each with what it says on standard error.  A new form
 * runs before the old one ends, so that a text that cannot run leaves the old one as it was.
 */
#include "watch/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watch/check.h"
#include "watch/sink.h"

#define COLUMNS 80 /* source lines are cut to so many, which any terminal has */

/* --- What is said --- */

static void say(struct watch_query *w, const char *format, ...) PRINTF(2, 3);

/* stderr is a stream of ours here, and what it is known by the descriptor alone. */
static void print(const char *text, size_t n)
{
	struct buf out;

	buf_init(&out);
	buf_put(&out, text, n);
	tell_fold(&out, STDERR_FILENO);
	fwrite(out.at, 1, out.n, stderr);
	buf_free(&out);
}

/* On standard error, and for the status. */
static void say(struct watch_query *w, const char *format, ...)
{
	size_t before = w->problem.n;
	va_list args;

	va_start(args, format);
	buf_vprintf(&w->problem, format, args);
	va_end(args);
	if (w->problem.n > before)
		print(w->problem.at + before, w->problem.n - before);
}

static void say_errno(struct watch_query *w, const char *what, int error)
{
	struct buf text;

	buf_init(&text);
	tell_put_errno(&text, what, error);
	say(w, "ebql: %s: %s", w->shown.at, text.at);
	buf_free(&text);
}

static void say_diags(struct watch_query *w, struct query *q)
{
	struct buf out;

	if (!q->diags.list.n)
		return;
	buf_init(&out);
	/* The status is shown on other terminals, too. */
	q->diags.columns = MIN(tell_columns(STDERR_FILENO) ?: COLUMNS, COLUMNS);
	diags_print(&q->diags, &out);
	if (diags_failed(&q->diags))
		say(w, "%s", out.at);
	else
		print(out.at, out.n);
	q->diags.list.n = 0; /* warnings are said once */
	buf_free(&out);
}

/* --- Its life --- */

static void form_free(struct form *f)
{
	if (!f)
		return;
	row_leave(f->row_action);
	query_free(&f->query); /* closes the sink */
	keep_free(f->keep);
	output_leave(f->output, f->of->all->cancel);
	buf_free(&f->text);
	buf_free(&f->shown);
	free(f);
}

/* 0; -EAGAIN: its schedule has it wait; or -errno, of what no diagnostic tells. */
static int form_run(struct form *f)
{
	const struct watch_options *o = f->of->all->options;
	struct query *q = &f->query;
	struct flow_input how = { .every_ns = o->every_ns,
				  .sink = sink_of(f),
				  .cancel = f->of->all->cancel,
				  .is_brief = true };
	time_t change;
	int err;

	q->settings.target_pid = o->target_pid;
	q->settings.only_pid = MAX(o->target_pid, 0);
	q->is_beside = true;
	q->is_fixed = o->is_fixed;
	if (!query_parse(q) || !watch_check_statement(q) || !query_compile(q) || !sink_choose(f) ||
	    !watch_check(q, o) || !row_check(q, f->of->trust))
		return -EINVAL;
	if (!schedule_at(&q->settings.schedule, time(NULL), &change))
		return sink_check(f) ? -EAGAIN : -EINVAL;
	if (!sink_take(f))
		return -EINVAL;
	if (q->settings.keep && !(f->keep = keep_open(q->settings.keep)))
		return -ENOMEM;
	if (q->programs)
		load_raise_limits(q->programs->set);
	f->ends = o->host;
	f->ends.n_windows = o->host.n_windows ?: q->settings.n_windows;
	if (q->cut->is_streaming)
		how.n_rows = f->ends.n_windows;
	f->start_ns = f->looked_ns = base_monotonic_ns();
	err = query_start(q, f->of->all->engine, &how);
	if (err)
		return err;
	/* From here on the sink is closed by query_close(). */
	return host_check_windows(q->flow, f->ends.n_windows, &q->diags);
}

/* It runs or waits by it from here on. */
static void set_schedule(struct watch_query *w, const struct schedule *s, const struct buf *text)
{
	struct buf kept = { 0 };

	buf_init(&kept);
	if (schedule_is_set(s))
		buf_put(&kept, text->at, text->n);
	/* The text may be the one that it has. */
	buf_free(&w->waiting);
	w->waiting = kept;
	w->schedule = *s;
	w->not_before = 0;
	if (watch_query_is_scheduled(w))
		schedule_at(s, time(NULL), &w->change);
}

/* NULL: what is wrong with the text was told, but where it waits. */
static struct form *form_start(struct watch_query *w, const struct buf *text, bool *ret_waits)
{
	struct form *f = calloc(1, sizeof(*f));
	int error = -ENOMEM;

	*ret_waits = false;
	if (!f || !query_init(&f->query, w->path, "", 0)) {
		free(f);
		say_errno(w, "", ENOMEM);
		return NULL;
	}
	f->of = w;
	f->query.name = w->name;
	buf_init(&f->text);
	buf_init(&f->shown);
	buf_put(&f->text, text->at, text->n);
	if (!f->text.is_cut) {
		diags_init(&f->query.diags, &f->query.arena, w->path, f->text.at ? f->text.at : "",
			   f->text.n);
		f->query.diags.is_of_many = true;
		error = form_run(f);
	}
	say_diags(w, &f->query);
	if (!error && !f->query.cut->is_streaming)
		host_count(f->query.flow, &f->ends, NULL, &f->n_counted);
	*ret_waits = error == -EAGAIN;
	if (!error || *ret_waits)
		set_schedule(w, &f->query.settings.schedule, text);
	if (!error)
		return f;
	if (!*ret_waits && !diags_failed(&f->query.diags))
		say_errno(w, "", -error);
	form_free(f);
	return NULL;
}

/* Once. */
static void say_nothing_kept(struct form *f, const char *name)
{
	struct buf shown;

	f->is_nothing_kept = true;
	buf_init(&shown);
	out_put_visible(&shown, name, strlen(name), 0);
	fprintf(stderr, "ebql: %s: on_row: no query \"%s\" that runs keeps anything\n",
		f->of->shown.at, shown.n ? shown.at : "");
	buf_free(&shown);
}

/* A row of it wants what another keeps: that is written when that one is stepped. */
static void want_snapshot(struct form *f)
{
	const char *name = f->row_action ? row_wanted(f->row_action) : NULL;
	struct watch_query *w = f->of->all->first;

	while (name && w && !(w->form && w->form->keep && strcmp(w->name, name) == 0))
		w = w->next;
	if (name && w)
		w->is_wanted = true;
	else if (name && !f->is_nothing_kept)
		say_nothing_kept(f, name);
}

/* Where its output has no room it waits for that, but not behind the form's end. */
static void write_kept(struct form *f, bool is_end)
{
	bool has_room = f->keep && f->of->is_wanted && output_has_room(f->output);
	struct buf text;
	u64 n;

	if (!f->keep || !f->of->is_wanted || (!has_room && !is_end))
		return;
	f->of->is_wanted = false;
	buf_init(&text);
	n = keep_take(f->keep, &text);
	if (has_room && !f->out.out.error)
		f->out.out.error = output_put(f->output, &text);
	if (has_room && !f->out.out.error)
		fprintf(stderr, "ebql: %s: a snapshot of %llu %s\n", f->of->shown.at,
			(unsigned long long)n, f->query.cut->is_streaming ? "rows" : "windows");
	else
		f->counts.n_unwritten += n;
	buf_free(&text);
}

/* Ends it; 0, or -errno of what ended it and was not told. */
static int form_end(struct form *f)
{
	struct query *q = &f->query;
	struct flow_result result;
	int err = flow_stop(q->flow), closed;

	flow_result(q->flow, &result);
	f->counts.account = result.account;
	f->of->all->has_loss |= account_is_biased(&result.account) || f->counts.n_unwritten;
	if (f->row_action)
		f->counts.on_row = *row_counts(f->row_action);
	want_snapshot(f);
	write_kept(f, true);
	closed = query_close(q);
	if (diags_failed(&q->diags))
		return -EINVAL;
	return err ? err : closed;
}

const char *watch_losses(struct arena *arena, const struct account *account)
{
	const char *all = "";

	for (u32 i = 0; i < LOSS_N; i++)
		if (account->lost[i])
			all = arena_printf(arena, "%s%s%s %llu", all, *all ? ", " : "",
					   loss_names[i], (unsigned long long)account->lost[i]);
	return *all ? all : "-";
}

/* Its last words; the state that it leaves. */
static enum watch_state say_end(struct form *f, int error)
{
	struct watch_query *w = f->of;

	w->all->is_standard_gone |= error && !f->path && error == f->out.out.error;
	say_diags(w, &f->query);
	if (f->counts.n_unwritten)
		fprintf(stderr, "ebql: %s: %llu %s were not written: the output had no room\n",
			w->shown.at, (unsigned long long)f->counts.n_unwritten,
			f->query.cut->is_streaming ? "rows" : "windows");
	/* Who stopped its SQL was warned. */
	if (error == -EINTR) {
		w->all->has_loss = true;
		return WATCH_ENDED;
	}
	if (f->is_ended_by_loss)
		say(w, "ebql: %s: ended by a loss (on_loss = 'fail'): %s\n", w->shown.at,
		    watch_losses(&f->query.arena, &f->counts.account));
	else if (error == -EPIPE && !f->path)
		return WATCH_ENDED; /* the reader had enough */
	else if (error && !diags_failed(&f->query.diags))
		say_errno(w,
			  error != f->out.out.error ? ""
			  : f->path		    ? f->shown.at
						    : TELL_STDOUT,
			  -error);
	return f->is_ended_by_loss || error ? WATCH_FAILED : WATCH_ENDED;
}

static void end_form(struct watch_query *w)
{
	struct form *f = w->form;

	if (!f)
		return;
	w->state = say_end(f, form_end(f));
	w->counts = f->counts;
	w->form = NULL;
	if (w->all->last == f)
		w->all->last = NULL;
	/* Its output may be what others were refused for: they are read again. */
	for (struct watch_query *other = w->all->first; other; other = other->next) {
		if (other->waits_for != f)
			continue;
		other->waits_for = NULL;
		other->has_text = false;
		w->all->is_due = true;
	}
	form_free(f);
}

void watch_query_end(struct watch_query *w)
{
	end_form(w);
	buf_reset(&w->waiting);
}

u64 watch_query_end_ns(const struct watch_query *w)
{
	u64 ns = w->form ? w->form->query.settings.duration_ns : 0;

	return ns ? w->form->start_ns + ns : 0;
}

bool watch_query_is_peeked(const struct watch_query *w)
{
	const struct query *q = w->form ? &w->form->query : NULL;

	return q && q->settings.on_loss_fail && q->cut->window.kind != WINDOW_TUMBLING &&
	       q->cut->window.kind != WINDOW_HOPPING;
}

void watch_query_step(struct watch_query *w, bool is_peeked)
{
	struct account account;
	u64 end_ns = watch_query_end_ns(w);

	if (!w->form)
		return;
	say_diags(w, &w->form->query); /* what it was told while it runs */
	want_snapshot(w->form);
	if (is_peeked && watch_query_is_peeked(w) && !flow_is_over(w->form->query.flow)) {
		flow_peek(w->form->query.flow, &account);
		w->form->is_ended_by_loss = account_is_biased(&account);
	}
	if (w->form->is_ended_by_loss || flow_is_over(w->form->query.flow) ||
	    (end_ns && base_monotonic_ns() >= end_ns))
		end_form(w);
	/* It had its turn, and waits for the next one. */
	if (!w->form && watch_query_is_scheduled(w)) {
		w->not_before = w->change;
		if (w->state == WATCH_ENDED && w->change)
			w->state = WATCH_WAITS;
		else
			buf_reset(&w->waiting);
	}
}

static void say_goes_on(struct watch_query *w)
{
	if (w->form)
		fprintf(stderr, "ebql: %s: its query runs on as it was before\n", w->shown.at);
	else if (watch_query_is_scheduled(w))
		fprintf(stderr, "ebql: %s: its query waits as it was before\n", w->shown.at);
	else
		w->state = WATCH_FAILED;
}

static bool is_same(const struct buf *a, const struct buf *b)
{
	return a->n == b->n && (!a->n || memcmp(a->at, b->at, a->n) == 0);
}

static void say_waits(struct watch_query *w)
{
	char text[64];
	struct tm tm;

	strftime(text, sizeof(text), "%a %F %T %Z", localtime_r(&w->change, &tm));
	fprintf(stderr, "ebql: %s: its query waits until %s\n", w->shown.at, text);
}

/* The new form runs, or, where there is none, the query waits for its time. */
static void go_over(struct watch_query *w, struct form *form)
{
	end_form(w);
	w->form = form;
	w->state = form ? WATCH_RUNS : WATCH_WAITS;
	buf_reset(&w->problem);
	if (!form)
		say_waits(w);
}

void watch_query_set(struct watch_query *w, struct buf *text, bool is_again)
{
	bool is_old = w->has_text && is_same(text, &w->text) && !(is_again && w->problem.n);
	struct form *form;
	bool waits;

	buf_free(&w->text);
	w->text = *text;
	w->has_text = true;
	if (is_old)
		return;
	w->waits_for = NULL;
	buf_reset(&w->problem);
	if (w->form && is_same(text, &w->form->text))
		return; /* it was taken back */
	form = form_start(w, &w->text, &waits);
	if (form || waits)
		go_over(w, form);
	else
		say_goes_on(w);
}

void watch_query_snapshot(struct watch_query *w)
{
	if (w->form)
		write_kept(w->form, false);
}

void watch_query_tick(struct watch_query *w)
{
	time_t now = time(NULL);
	struct form *form;
	bool waits, is_open;

	if (!watch_query_is_scheduled(w))
		return;
	is_open = schedule_at(&w->schedule, now, &w->change);
	/* The clock may have been set back. */
	w->not_before = w->change ? MIN(w->not_before, w->change) : w->not_before;
	if (!is_open) {
		if (w->form)
			go_over(w, NULL);
	} else if (!w->form && now >= w->not_before) {
		form = form_start(w, &w->waiting, &waits);
		if (form) {
			go_over(w, form);
			fprintf(stderr, "ebql: %s: its query runs\n", w->shown.at);
		} else if (!waits) {
			buf_reset(&w->waiting);
			w->state = WATCH_FAILED;
		}
	}
}

void watch_query_unread(struct watch_query *w, const char *why)
{
	struct buf said;
	bool is_old;

	buf_init(&said);
	buf_printf(&said, "ebql: %s: %s\n", w->shown.at, why);
	/* Each reason is said once. */
	is_old = !w->has_text && is_same(&said, &w->problem);
	buf_free(&said);
	if (is_old)
		return;
	w->has_text = false;
	w->waits_for = NULL;
	buf_reset(&w->problem);
	say(w, "ebql: %s: %s\n", w->shown.at, why);
	say_goes_on(w);
}
