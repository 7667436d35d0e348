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

static bool has_groups(const struct cutter *c)
{
	return c->groups.n > 0;
}

bool cut_is_streaming(const struct cutter *c)
{
	return c->query->window.kind == WINDOW_NONE && !c->has_aggregate && !c->needs_all_rows &&
	       !has_groups(c) && n_streams(c) == 1;
}

/* Rows of one kernel stream, which would be handed on as they come. */
static bool is_one_stream(const struct cutter *c)
{
	const struct plan *tree = NULL;
	u32 n = 0;

	for (u32 i = 0; i < c->rows.n; i++) {
		n += c->parts.at[c->rows.at[i]->part].has_streams;
		tree = c->rows.at[i]->tree;
	}
	return n == 1 && !has_groups(c) && tree->kind != PLAN_UNION;
}

/* A file that would be a stream if its column `time` were one of times, or NULL. */
static const struct stream *find_no_time(const struct cutter *c)
{
	for (u32 i = 0; i < c->rows.n; i++) {
		const struct plan *tree = c->rows.at[i]->tree;
		const struct stream *stream;

		if (tree->kind != PLAN_SCAN)
			continue;
		stream = tree->scan.streams->streams.at[0];
		if (stream->kind == STREAM_FILE && stream->file->no_time)
			return stream;
	}
	return NULL;
}

static void refuse_tables(struct cutter *c, struct span span)
{
	const struct stream *stream = find_no_time(c);
	struct diag *diag = diag_error(c->diags, "no-time", span,
				       "a window needs the times of events, and the query reads "
				       "tables only");

	if (stream)
		diag_hint(c->diags, diag, "the column `time` of %s has not all times: %s",
			  stream->name, stream->file->no_time);
	else
		diag_hint(c->diags, diag, "a recorded stream has a column `time`");
}

static void check_window(struct cutter *c)
{
	const struct query_window *w = &c->query->window;
	bool is_of_rows = w->kind == WINDOW_COUNT || w->kind == WINDOW_SESSION;

	if (w->kind == WINDOW_NONE)
		return;
	if (!n_streams(c)) {
		refuse_tables(c, w->span);
	} else if (is_of_rows && n_streams(c) != 1) {
		diag_hint(c->diags,
			  diag_error(c->diags, "not-supported", w->span,
				     "this kind of window is one stream's, and the query reads %u",
				     n_streams(c)),
			  "a view or a nested select of UNION ALL is one stream, too");
	} else if (!c->has_aggregate && !c->needs_all_rows && n_streams(c) < 2) {
		diag_hint(c->diags,
			  diag_error(c->diags, "window-without-aggregate", w->span,
				     "a window needs something to aggregate"),
			  "add count(*), or leave WINDOW away to stream the rows");
	}
}

/* Rows of live streams without a window: there is no end at which to show them. */
static void check_live(struct cutter *c)
{
	const struct plan *p = c->query->plan;
	bool is_live = false;

	for (u32 i = 0; i < c->parts.n; i++)
		is_live |= c->parts.at[i].has_streams;
	if (!is_live || c->query->window.kind != WINDOW_NONE || c->has_aggregate)
		return;
	if (c->is_only_sorted && is_one_stream(c)) {
		p = plan_find(p, PLAN_SORT);
		diag_hint(c->diags,
			  diag_error(c->diags, "order-of-stream", p->sort.keys[0].expr->span,
				     "single events stream in the order they happen"),
			  "ORDER BY sorts the groups of a window");
	} else if (p->kind == PLAN_LIMIT && p->limit.offset && is_one_stream(c)) {
		diag_error(c->diags, "not-supported", p->span,
			   "OFFSET over single events is not available");
	} else if (!c->cut->is_streaming) {
		diag_hint(c->diags,
			  diag_warning(c->diags, "no-window", p->span,
				       "these rows are kept until the run ends, and shown then"),
			  "add WINDOW TUMBLING 1s to see them every second");
	}
}

static void take_window(struct cutter *c)
{
	const struct query_window *w = &c->query->window;

	c->cut->window = (struct cut_window){
		.kind = w->kind, .size = w->size, .advance = w->advance, .scope = w->scope
	};
}

struct cut *cut_query(const struct plan_query *query, const struct settings *settings,
		      const struct plan_database *databases, u32 n_databases, struct arena *arena,
		      struct diags *diags)
{
	struct cutter c = { .arena = arena,
			    .diags = diags,
			    .settings = settings,
			    .query = query,
			    .cut = arena_new(arena, struct cut) };
	struct buf sql;

	/* Each scan may become a relation. */
	c.n_relations = query->n_relations;
	c.n_relations_max = query->n_relations + query->n_sources;
	c.relations = arena_array(arena, struct relation, c.n_relations_max);
	for (u32 i = 0; i < query->n_aggregates; i++)
		vec_push(arena, &c.grouped, arena_new(arena, struct grouped));
	c.overs = arena_array(arena, const struct plan *, query->n_overs);
	take_window(&c);
	plan_columns(query->plan, arena, &c.cut->output);
	buf_init_in(&c.with, arena);
	buf_init_in(&sql, arena);
	cut_top(&c, &sql);
	cut_finish_rows(&c);
	if (!diags_failed(diags))
		check_window(&c);
	if (!diags_failed(diags))
		check_live(&c);
	if (sql.n)
		c.cut->sql = arena_printf(arena, "%s%s%s%s", c.with.n ? "WITH " : "",
					  c.with.n ? c.with.at : "", c.with.n ? " " : "", sql.at);
	c.cut->parts = c.parts.at;
	c.cut->n_parts = c.parts.n;
	c.cut->notes = c.notes.at;
	c.cut->n_notes = c.notes.n;
	c.cut->databases = databases;
	c.cut->n_databases = n_databases;
	return diags_failed(diags) ? NULL : c.cut;
}
