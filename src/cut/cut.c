/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Select -> cut: the whole as one part of the kernel where that can be; else parts and
 * SQL.  What the binder has to say of names and types it says first, so a wrong query
 * gets the same message whichever way it would run.
 */
#include <string.h>

#include "cut/internal.h"

#define COUNT_MAX (1ull << 32)

/* --- Windows --- */

static bool bad_window(struct cutter *c, const char *message, const char *hint)
{
	const struct ast_window *w = &c->window;
	struct span span = w->size_span.end ? w->size_span : w->span;

	diag_hint(c->diags, diag_error(c->diags, "bad-window", span, "%s", message), "%s", hint);
	return false;
}

static bool take_window(struct cutter *c)
{
	static const enum window_kind kinds[] = { [AST_WINDOW_NONE] = WINDOW_NONE,
						  [AST_WINDOW_TUMBLING] = WINDOW_TUMBLING,
						  [AST_WINDOW_HOPPING] = WINDOW_HOPPING,
						  [AST_WINDOW_COUNT] = WINDOW_COUNT,
						  [AST_WINDOW_SESSION] = WINDOW_SESSION };
	static const enum count_scope scopes[] = { [AST_COUNT_ALL] = COUNT_GLOBAL,
						   [AST_COUNT_PER_CPU] = COUNT_PER_CPU,
						   [AST_COUNT_PER_GROUP] = COUNT_PER_GROUP };
	const struct ast_window *w = &c->window;
	struct cut_window *to = &c->cut->window;

	to->kind = kinds[w->kind];
	to->size = w->size;
	to->advance = w->kind == AST_WINDOW_TUMBLING ? w->size : w->advance;
	to->scope = scopes[w->scope];
	if (to->kind == WINDOW_HOPPING && to->advance == to->size)
		to->kind = WINDOW_TUMBLING;
	if (to->kind == WINDOW_NONE)
		return true;
	if (w->overflow)
		return bad_window(c, "a window of this size is not possible",
				  "a window is at most a day long");
	if (!w->size)
		return bad_window(c, "a window of no size is not possible",
				  "TUMBLING 1s, COUNT (SIZE 1024), SESSION (GAP 100ms)");
	if (!to->advance)
		return bad_window(c, "a window that does not advance is not possible",
				  "advance by 1ms, or by 1 row, or by more");
	if (to->kind == WINDOW_COUNT && (to->size > COUNT_MAX || to->advance > COUNT_MAX))
		return bad_window(c, "a window of so many rows is not possible",
				  "the rows of a count window are kept in memory");
	return true;
}

/* --- The whole in the kernel --- */

static bool is_only(const struct diags *diags, const char *tag)
{
	for (u32 i = 0; i < diags->list.n; i++)
		if (!diags->list.at[i].is_warning && strcmp(diags->list.at[i].tag, tag) != 0)
			return false;
	return true;
}

static bool has(const struct diags *diags, const char *tag)
{
	for (u32 i = 0; i < diags->list.n; i++)
		if (!diags->list.at[i].is_warning && strcmp(diags->list.at[i].tag, tag) == 0)
			return true;
	return false;
}

/* Can SQLite do what the binder has refused? */
static bool may_cut(const struct cutter *c, const struct ast_select *s, const struct diags *why)
{
	if (cut_is_refusal(why) || is_only(why, "order-of-stream"))
		return true;
	/* The binder knows no tables of databases, and no bounds of windows in a UNION. */
	if (c->cut->n_databases &&
	    (is_only(why, "unknown-stream") || is_only(why, "unknown-stream-kind")))
		return true;
	if (s->compound.n && c->window.kind != AST_WINDOW_NONE)
		return true;
	/* Rows of a window are worth something where they are sorted, joined, ...: see cut_up(). */
	return c->window.kind != AST_WINDOW_NONE && is_only(why, "window-without-aggregate");
}

/* What is wrong whichever way the query runs. */
static void take_errors(struct cutter *c, const struct diags *from)
{
	struct diags rest = *from;

	rest.n_errors = rest.list.n = 0;
	rest.list.at = NULL;
	rest.list.capacity = 0;
	for (u32 i = 0; i < from->list.n; i++)
		if (strcmp(from->list.at[i].tag, "not-supported") != 0)
			vec_push(c->arena, &rest.list, from->list.at[i]);
	cut_take_diags(c, rest.list.n && rest.list.n < from->list.n ? &rest : from);
}

static void whole(struct cutter *c, struct plan *p, const struct ast_select *select)
{
	bool is_grouped = plan_find(p, PLAN_AGGREGATE) != NULL;

	cut_part_add(c,
		     (struct cut_part){ .kind = is_grouped ? PART_GROUPS : PART_ROWS,
					.plan = p,
					.is_kernel = true,
					.has_streams = true,
					.span = select->span,
					.reason = is_grouped ? "aggregated in the kernel"
							     : "rows stream from the kernel" },
		     NULL);
}

/* --- Parts and SQL --- */

static bool check_streams(struct cutter *c, const struct ast_select *select)
{
	for (u32 i = 0; i < c->parts.n; i++)
		if (c->parts.at[i].kind != PART_TABLE)
			return true;
	if (c->window.kind == AST_WINDOW_NONE)
		return true;
	diag_hint(c->diags,
		  diag_error(c->diags, "no-time", c->window.span,
			     "a window needs the times of events, and the query reads tables only"),
		  "a recorded stream has a column `time`");
	return false;
}

/* COUNT and SESSION windows are made of the rows of one stream. */
static bool check_row_window(struct cutter *c)
{
	u32 n_rows = 0, n_groups = 0;

	if (c->window.kind != AST_WINDOW_COUNT && c->window.kind != AST_WINDOW_SESSION)
		return true;
	for (u32 i = 0; i < c->parts.n; i++) {
		n_rows += c->parts.at[i].kind == PART_ROWS;
		n_groups += c->parts.at[i].kind == PART_GROUPS;
	}
	if (n_rows == 1 && !n_groups)
		return true;
	diag_hint(c->diags,
		  diag_error(c->diags, "not-supported", c->window.span,
			     "this kind of window is one stream's, and the query reads %u",
			     n_rows + n_groups),
		  "a view or a nested select of UNION ALL is one stream, too");
	return false;
}

/* Parts that lie in windows: two are joined there. */
static u32 n_streams(const struct cutter *c)
{
	u32 n = 0;

	for (u32 i = 0; i < c->parts.n; i++)
		n += c->parts.at[i].kind != PART_TABLE;
	return n;
}

/* Rows of one kernel stream, which would be handed on as they come. */
static bool is_one_stream(const struct cutter *c)
{
	u32 n_streams = 0;

	for (u32 i = 0; i < c->parts.n; i++) {
		if (c->parts.at[i].kind == PART_GROUPS)
			return false;
		n_streams += c->parts.at[i].has_streams;
	}
	return n_streams == 1;
}

static void window_for_nothing(struct cutter *c)
{
	diag_hint(c->diags,
		  diag_error(c->diags, "window-without-aggregate", c->window.span,
			     "a window needs something to aggregate"),
		  "add count(*), or leave WINDOW away to stream the rows");
}

/* Rows of live streams without a window: there is no end at which to show them. */
static bool check_live_rows(struct cutter *c, const struct ast_select *select)
{
	bool is_live = false;

	for (u32 i = 0; i < c->parts.n; i++)
		is_live |= c->parts.at[i].has_streams;
	if (!is_live || c->window.kind != AST_WINDOW_NONE || c->has_aggregate)
		return true;
	if (select->offset && is_one_stream(c)) {
		diag_error(c->diags, "not-supported", select->offset->span,
			   "OFFSET over single events is not available");
		return false;
	}
	if (!c->cut->is_streaming)
		diag_hint(c->diags,
			  diag_warning(c->diags, "no-window", select->span,
				       "these rows are kept until the run ends, and shown then"),
			  "add WINDOW TUMBLING 1s to see them every second");
	return true;
}

/* why: what the binder had to say. */
static bool cut_up(struct cutter *c, const struct ast_select *select, const struct diags *why)
{
	struct cut *cut = c->cut;
	bool is_good;
	struct buf sql;

	buf_init(&sql);
	is_good = cut_select(c, NULL, select, true, &sql, &cut->output) && cut_rows_finish(c) &&
		  check_streams(c, select) && check_row_window(c);
	cut->sql = arena_strdup(c->arena, sql.at ? sql.at : "");
	buf_free(&sql);
	cut->notes = c->notes.at;
	cut->n_notes = c->notes.n;
	cut->is_streaming = cut_is_streaming(c);
	if (!cut->is_streaming)
		cut->limit = -1;
	if (is_good && c->window.kind != AST_WINDOW_NONE && !c->has_aggregate &&
	    !c->needs_all_rows && n_streams(c) < 2)
		window_for_nothing(c);
	/* Recorded rows have an end, and so have those that are kept for another reason. */
	if (is_good && c->window.kind == AST_WINDOW_NONE && c->is_only_sorted &&
	    has(why, "order-of-stream") && is_one_stream(c))
		cut_take_diags(c, why);
	return is_good && !diags_failed(c->diags) && check_live_rows(c, select);
}

/* "DISTINCT in an aggregate", from the refusal "DISTINCT in an aggregate is not available yet". */
static const char *reason_of(struct cutter *c, const struct diags *refusal)
{
	static const char *const ends[] = { " is not available yet", " are not available yet",
					    " not available yet" };

	for (u32 i = 0; i < refusal->list.n; i++) {
		const struct diag *d = &refusal->list.at[i];
		size_t n = strlen(d->message);

		if (d->is_warning)
			continue;
		if (strcmp(d->tag, "window-without-aggregate") == 0)
			return "rows of a window, not aggregated or not in one step";
		for (u32 k = 0; k < ARRAY_SIZE(ends); k++)
			if (n > strlen(ends[k]) &&
			    strcmp(d->message + n - strlen(ends[k]), ends[k]) == 0)
				return arena_strndup(c->arena, d->message, n - strlen(ends[k]));
		return d->message;
	}
	return NULL;
}

struct cut *cut_plan(const struct ast_select *select, struct catalog *catalog,
		     struct settings *settings, struct view_list *views,
		     const struct plan_database *databases, u32 n_databases, struct arena *arena,
		     struct diags *diags)
{
	struct cutter c = { .arena = arena,
			    .diags = diags,
			    .catalog = catalog,
			    .settings = settings,
			    .views = views,
			    .cut = arena_new(arena, struct cut),
			    .n_views = UINT32_MAX };
	struct plan_context context;
	struct diags trial, failed;
	struct plan *p;

	c.window = *cut_window_of(&c, select);
	c.has_streams = cut_reads_streams(&c, select);
	c.cut->limit = -1;
	c.cut->databases = (struct plan_database *)databases;
	c.cut->n_databases = n_databases;
	context = cut_context(&c);
	cut_trial(&c, &trial);
	p = plan_bind_in(&context, select, &trial);
	c.is_kernel = settings->pushdown;
	c.cut->why = reason_of(&c, &trial);
	if (!p && !may_cut(&c, select, &trial)) {
		take_errors(&c, &trial);
		return NULL;
	}
	if (!take_window(&c))
		return NULL;
	if (p)
		cut_take_diags(&c, &trial);
	if (!p && c.is_kernel && select->is_distinct) {
		cut_trial(&c, &failed);
		p = plan_bind_in(&context, cut_distinct(&c, select), &failed);
	}
	if (p && c.is_kernel && !cut_reads_files(p)) {
		whole(&c, p, select);
	} else if (!cut_up(&c, select, &trial)) {
		/* A function that neither knows: the binder's message is the better one. */
		if (!p && is_only(diags, "unknown-function") &&
		    is_only(&trial, "unknown-function")) {
			diags->list.n = diags->n_errors = 0;
			cut_take_diags(&c, &trial);
		}
		return NULL;
	}
	c.cut->parts = c.parts.at;
	c.cut->n_parts = c.parts.n;
	return diags_failed(diags) ? NULL : c.cut;
}
