/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A bound query -> its cut: the parts and the SQL, and what can only be said of all of
 * them: which windows they can have, whether rows can be handed on as they come.
 */
#include "cut/build.h"

/* Parts that lie in windows: two are joined there. */
static u32 n_streams(const struct cutter *c)
{
	u32 n = 0;

	for (u32 i = 0; i < c->parts.n; i++)
		n += c->parts.at[i].kind != PART_TABLE;
	return n;
}

/* Can each row be answered for as it comes, whatever other rows there are? */
static bool is_streaming(const struct cutter *c)
{
	return c->query->window.kind == WINDOW_NONE && !c->has_aggregate && !c->needs_all_rows &&
	       n_streams(c) == 1;
}

static void refuse_tables(struct cutter *c, struct span span)
{
	struct diag *diag = diag_error(c->diags, "no-time", span,
				       "a window needs the times of events, and the query reads "
				       "tables only");

	if (c->query->has_iterators) {
		diag_hint(c->diags, diag,
			  "WINDOW TUMBLING and HOPPING read the kernel's lists anew each time");
		return;
	}

	/* A file that would be a stream if its column `time` were one of times. */
	for (u32 i = 0; i < c->rows.n; i++)
		if (c->rows.at[i]->file && c->rows.at[i]->file->no_time) {
			diag_hint(c->diags, diag, "the column `time` of %s has not all times: %s",
				  c->rows.at[i]->file->path, c->rows.at[i]->file->no_time);
			return;
		}
	diag_hint(c->diags, diag, "a recorded stream has a column `time`");
}

static void check_window(struct cutter *c)
{
	const struct query_window *w = &c->query->window;

	if (!n_streams(c) && c->query->has_iterators && !cut_is_where_first(c))
		return; /* read anew at the end of each */
	if (!n_streams(c)) {
		refuse_tables(c, w->span);
	} else if (cut_is_where_first(c) && n_streams(c) != 1) {
		diag_refuse(c->diags, "not-supported", w->span,
			    "this kind of window is one stream's, and the query reads %u" HINT
			    "a view or a nested select of UNION ALL is one stream, too",
			    n_streams(c));
	} else if (cut_window_rows(c) && cut_rows_depth(c, cut_window_rows(c)) > 1) {
		diag_refuse(c->diags, "not-supported", w->span,
			    "groups have windows of their own in the outermost select "
			    "only, of the rows that it reads itself" HINT
			    "aggregate the stream itself by this window, or take WINDOW TUMBLING");
	} else if (!c->has_aggregate && !c->needs_all_rows && n_streams(c) < 2 &&
		   !c->query->has_iterators) {
		diag_refuse(c->diags, "window-without-aggregate", w->span,
			    "a window needs something to aggregate" HINT
			    "add count(*), or leave WINDOW away to stream the rows");
	}
}

/* Rows of live streams without a window: there is no end at which to show them. */
static void check_live(struct cutter *c)
{
	const struct plan *p = c->query->plan, *tree = NULL;
	u32 n = 0;

	for (u32 i = 0; i < c->rows.n; i++)
		if (c->parts.at[c->rows.at[i]->part].has_streams) {
			tree = c->rows.at[i]->tree;
			n++;
		}
	if (!n || c->has_aggregate)
		return;
	/* Of one stream they would be handed on as they come. */
	if (c->is_only_sorted && n == 1 && tree->kind != PLAN_UNION) {
		p = plan_find(p, PLAN_SORT);
		diag_refuse(c->diags, "order-of-stream", p->sort.keys[0].expr->span,
			    "single events stream in the order they happen" HINT
			    "ORDER BY sorts the groups of a window");
	} else if (p->kind == PLAN_LIMIT && p->limit.offset && n == 1 && tree->kind != PLAN_UNION) {
		diag_error(c->diags, "not-supported", p->span,
			   "OFFSET over single events is not available");
	} else if (!c->cut->is_streaming) {
		diag_warning(c->diags, "no-window", p->span,
			     "these rows are kept until the run ends, and shown then" HINT
			     "add WINDOW TUMBLING 1s to see them every second");
	}
}

struct cut *cut_query(const struct plan_query *query, const struct settings *settings,
		      const struct plan_database *databases, u32 n_databases, struct arena *arena,
		      struct diags *diags)
{
	const struct query_window *w = &query->window;
	struct cut *cut = arena_new(arena, struct cut);
	struct cutter c = {
		.arena = arena, .diags = diags, .settings = settings, .query = query, .cut = cut
	};
	const struct plan *limit;
	struct buf sql;

	for (u32 i = 0; i < query->n_relations; i++)
		vec_push(arena, &c.relations, (struct relation_name){ 0 });
	for (u32 i = 0; i < query->n_aggregates; i++)
		vec_push(arena, &c.grouped, arena_new(arena, struct grouped));
	c.overs = arena_array(arena, const struct plan *, query->n_overs);
	cut->window = (struct cut_window){
		.kind = w->kind, .size = w->size, .advance = w->advance, .scope = w->scope
	};
	cut->names_users = settings->is_usym_used;
	cut->named_pid = settings->target_pid;
	plan_columns(query->plan, arena, &cut->output);
	buf_init_in(&c.with, arena);
	buf_init_in(&sql, arena);
	limit = cut_top(&c, &sql);
	/* LIMIT of rows that are handed on as they come counts all of them. */
	cut->is_streaming = is_streaming(&c) && !(limit && limit->limit.offset);
	cut->limit = cut->is_streaming && limit ? limit->limit.count : -1;
	if (!cut->is_streaming)
		cut_put_limit(&c, limit, &sql);
	if (sql.n)
		lite_check_depth(sql.at, 2, query->plan->span, diags);
	cut_finish_rows(&c);
	if (!diags_failed(diags) && w->kind == WINDOW_NONE)
		check_live(&c);
	else if (!diags_failed(diags))
		check_window(&c);
	buf_puts(&c.with, sql.n && c.with.n ? " " : "");
	buf_put(&c.with, sql.at, sql.n);
	cut->sql = sql.n ? c.with.at : NULL;
	cut->parts = c.parts.at;
	cut->n_parts = c.parts.n;
	cut->notes = c.notes.at;
	cut->n_notes = c.notes.n;
	cut->databases = databases;
	cut->n_databases = n_databases;
	return diags_failed(diags) ? NULL : cut;
}
