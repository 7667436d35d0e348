/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A select -> SQL: SELECT, FROM, WHERE, GROUP BY, HAVING; several of them; ORDER BY and
 * LIMIT.  Its columns are c0, c1, ... whatever the query calls them.
 */
#include "cut/build.h"

/* One select as it is printed. */
struct select {
	struct cutter *c;
	struct chain ch;
	bool is_scalar;
	const struct grouped *grouped; /* by a part; NULL: SQLite groups, or nothing does */
	/* The whole query's, over one part of groups: */
	bool has_other;	  /* the "(other)" row is kept, behind the others */
	const s32 *picks; /* these columns come by the number of the part's row */
	s32 unnest;	  /* number of the item, or -1 */
	const char *cells_order;
	enum cut_reason reason; /* why SQLite groups */
};

/* Around the condition of HAVING in the text of a select with LIMIT: see put_limited(). */
#define HAVING_BEGIN '\1'
#define HAVING_END   '\2'

/* --- FROM to HAVING --- */

/* The rows whose part tests the condition, or NULL. */
static struct rows *rows_of_condition(struct select *s, u32 first, struct expr *e)
{
	struct cutter *c = s->c;
	struct rows *rows = cut_rows_of(c, e), *own = first < c->rows.n ? c->rows.at[first] : NULL;

	/* Of no column at all: `matched` tells what it drops, too. */
	if (!rows && own && (cut_is_where_first(c) || own->tree == s->ch.from) &&
	    cut_is_kernel_expr(e, own->tree))
		rows = own;
	if (!rows || rows->is_outer || rows->is_nullable || rows->file)
		return NULL;
	return c->is_guarded && expr_can_fault(e, rows->tree) ? NULL : rows;
}

/* false after a diagnostic. */
static bool put_conjunct(struct select *s, u32 first, struct expr *e, const char **before,
			 struct buf *out)
{
	struct cutter *c = s->c;
	struct rows *rows = rows_of_condition(s, first, e);

	if (rows) {
		vec_push(c->arena, &rows->where, e);
		return true;
	}
	if (e->kind == EXPR_OP && e->op == OP_AND)
		return put_conjunct(s, first, e->args[0], before, out) &&
		       put_conjunct(s, first, e->args[1], before, out);
	if (cut_is_where_first(c)) {
		cut_refuse_condition(c, e);
		return false;
	}
	cut_note(c, "where", e, CUT_CONDITION);
	buf_puts(out, *before);
	*before = " AND ";
	cut_put(c, e, WANT_CONDITION, out);
	c->is_guarded = true; /* what can fault is only wanted where this is true */
	return true;
}

static void put_where(struct select *s, u32 first, struct buf *out)
{
	const char *before = " WHERE ";

	for (u32 i = 0; i < s->ch.where.n; i++)
		if (!put_conjunct(s, first, s->ch.where.at[i], &before, out))
			return;
}

static bool note_window_key(struct cutter *c, struct expr *e, struct span span)
{
	struct cut_window *w = &c->cut->window;

	if (e && c->rows.n == 1 && cut_rows_of(c, e) == c->rows.at[0]) {
		w->key_columns[w->n_key_columns++] = cut_rows_column(c, c->rows.at[0], e);
		return true;
	}
	if (e && expr_is_constant(e))
		return true;
	diag_hint(c->diags,
		  diag_error(c->diags, "not-supported", span,
			     "windows of their own are made for groups of columns only"),
		  "GROUP BY the event's columns, or expressions of them");
	return false;
}

/* Sessions, and count windows of CPUs and groups: their keys. */
static void window_keys(struct select *s)
{
	struct cutter *c = s->c;
	const struct query_window *w = &c->query->window;
	u32 n = s->ch.aggregate ? s->ch.aggregate->aggregate.n_keys : 0;
	bool is_cpu = w->kind == WINDOW_COUNT && w->scope == COUNT_PER_CPU;

	if (c->cut->window.key_columns)
		return; /* a select around the one of the rows */
	c->cut->window.key_columns = arena_array(c->arena, u32, n + 1);
	if (is_cpu)
		note_window_key(c, w->cpu, w->span);
	for (u32 i = 0; !is_cpu && i < n; i++)
		if (!note_window_key(c, s->ch.aggregate->aggregate.keys[i].expr, w->span))
			return;
}

static void put_group_by(struct select *s, u32 first, struct buf *out)
{
	struct cutter *c = s->c;
	const struct plan *a = s->ch.aggregate;
	const char *before = " GROUP BY ";

	if (cut_is_own_window(c) && first < c->rows.n)
		window_keys(s);
	for (u32 i = 0; a && i < a->aggregate.n_keys; i++) {
		buf_puts(out, before);
		before = ", ";
		cut_put_group_key(c, a->aggregate.keys[i].expr, out);
		cut_note(c, "group by", a->aggregate.keys[i].expr, s->reason);
	}
	if (a && cut_is_own_window(c) && first < c->rows.n)
		buf_printf(out, "%s%s.session", before,
			   c->relations[c->rows.at[first]->relation].alias);
}

static void put_having(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	bool is_where = s->grouped && !s->grouped->is_regrouped;
	bool is_limited = s->has_other && s->ch.limit;

	if (!s->ch.having.n && !is_limited)
		return;
	buf_puts(out, is_where ? " WHERE " : " HAVING ");
	if (is_limited)
		buf_putc(out, HAVING_BEGIN);
	else if (s->has_other)
		buf_printf(out, "%s.other OR (", s->grouped->alias);
	for (u32 i = 0; i < s->ch.having.n; i++) {
		buf_puts(out, i ? " AND " : "");
		cut_note(c, "having", s->ch.having.at[i], CUT_GROUPS);
		cut_put(c, s->ch.having.at[i], WANT_CONDITION, out);
	}
	if (is_limited)
		buf_putc(out, HAVING_END);
	else if (s->has_other)
		buf_putc(out, ')');
}

/* The part has a column for each key, for x of count(DISTINCT x), and each other aggregate. */
static void regroup(struct cutter *c, struct grouped *g, const struct plan *a, struct expr *x,
		    struct buf *out)
{
	struct plan *finer = arena_new(c->arena, struct plan);
	u32 n_keys = a->aggregate.n_keys, n = 0, part;

	*finer = *a;
	finer->aggregate.keys = arena_array(c->arena, struct item, n_keys + 1);
	for (u32 i = 0; i < n_keys; i++)
		finer->aggregate.keys[i] = a->aggregate.keys[i];
	finer->aggregate.keys[n_keys] = (struct item){ .name = "distinct", .expr = x };
	finer->aggregate.n_keys = n_keys + 1;
	finer->aggregate.list = arena_array(c->arena, struct aggregate, a->aggregate.n);
	g->columns = arena_array(c->arena, u32, a->aggregate.n);
	for (u32 i = 0; i < a->aggregate.n; i++) {
		bool is_distinct = a->aggregate.list[i].is_distinct;

		g->columns[i] = is_distinct ? n_keys : n_keys + 1 + n;
		if (!is_distinct)
			finer->aggregate.list[n++] = a->aggregate.list[i];
	}
	finer->aggregate.n = n;
	part = cut_groups_part(c, finer, CUT_REGROUPED);
	buf_printf(out, " FROM w%u AS %s", part, g->alias);
	for (u32 i = 0; i < n_keys; i++)
		buf_printf(out, "%s%s.c%u", i ? ", " : " GROUP BY ", g->alias, i);
}

/* false: the kernel does not aggregate it. */
static bool from_part(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	const struct plan *a = s->ch.aggregate;
	struct expr *distinct = NULL;
	struct grouped *g;

	if (!a)
		return false;
	c->has_aggregate = true;
	g = c->grouped.at[a->aggregate.number];
	*g = (struct grouped){ .plan = a };
	s->reason = cut_refuse_groups(c, &s->ch, &distinct);
	if (s->reason)
		return false;
	g->alias = arena_printf(c->arena, "t%u", c->n_aliases++);
	g->is_regrouped = distinct != NULL;
	s->grouped = g;
	if (distinct) {
		regroup(c, g, a, distinct, out);
	} else {
		g->part = cut_groups_part(c, a, CUT_KERNEL);
		buf_printf(out, " FROM w%u AS %s", g->part, g->alias);
	}
	return true;
}

static void put_from(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	u32 first = c->rows.n;

	if (!from_part(s, out)) {
		if (s->ch.from->kind != PLAN_ONE) {
			buf_puts(out, " FROM ");
			cut_from(c, s->ch.from, out);
		}
		c->is_guarded = s->ch.from->kind == PLAN_RELATE;
		put_where(s, first, out);
		put_group_by(s, first, out);
	}
	if (s->ch.over)
		c->overs[s->ch.over->over.number] = s->ch.over;
	put_having(s, out);
}

/* --- SELECT, ORDER BY, LIMIT --- */

static void put_items(struct select *s, struct buf *out)
{
	const struct plan_project *p = &s->ch.project->project;
	u32 n = 0;

	for (u32 i = 0; i < p->n_items; i++) {
		if (s->picks && s->picks[i] != CUT_PICK_SQL)
			continue;
		buf_puts(out, n ? ", " : "");
		cut_put(s->c, p->items[i].expr, s->is_scalar ? WANT_VALUE : WANT_ITEM, out);
		buf_printf(out, " AS c%u", s->picks ? n : i);
		n++;
	}
	if (s->picks)
		buf_printf(out, "%s%s.row", n ? ", " : "", s->grouped->alias);
}

static void put_sort(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	const struct plan_sort *sort = s->ch.sort ? &s->ch.sort->sort : NULL;
	bool is_kept = s->has_other && !s->ch.limit; /* with LIMIT it stands apart */

	if (!sort)
		return;
	if (is_kept)
		buf_printf(out, " ORDER BY %s.other", s->grouped->alias);
	cut_put_order(c, sort->keys, sort->n_keys, is_kept ? ", " : " ORDER BY ", out);
	for (u32 i = 0; i < sort->n_keys; i++)
		cut_note(c, "order by", sort->keys[i].expr, CUT_GROUPS);
	c->is_only_sorted |= !c->needs_all_rows && !c->has_aggregate;
	c->needs_all_rows = true;
}

static void put_limit(struct cutter *c, const struct plan *limit, struct buf *out)
{
	if (!limit)
		return;
	cut_note(c, "limit", NULL, CUT_GROUPS);
	c->needs_all_rows = true;
	buf_printf(out, " LIMIT %lld", (long long)limit->limit.count);
	if (limit->limit.offset)
		buf_printf(out, " OFFSET %lld", (long long)limit->limit.offset);
}

static void put_body(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	struct buf from;

	buf_init_in(&from, c->arena);
	put_from(s, &from);
	buf_puts(out, s->ch.distinct ? "SELECT DISTINCT " : "SELECT ");
	put_items(s, out);
	/* The number of the row, by which its cells are sorted. */
	if (s->unnest >= 0) {
		buf_puts(out, ", row_number() OVER (");
		put_sort(s, out);
		buf_puts(out, ") AS n");
	}
	buf_puts(out, from.n ? from.at : "");
	c->needs_all_rows |= s->ch.distinct != NULL;
	if (s->ch.distinct)
		cut_note(c, "distinct", NULL, CUT_GROUPS);
}

/* UNNEST(h): the select with h in a column, joined with the cells of that column. */
static void put_unnested(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	const char *rows = arena_printf(c->arena, "t%u", c->n_aliases++);
	const char *cells = arena_printf(c->arena, "t%u", c->n_aliases++);
	u32 n = 0;

	buf_puts(out, "SELECT ");
	for (u32 i = 0; i < s->ch.project->project.n_items; i++) {
		bool is_unnest = (s32)i == s->unnest;

		for (u32 k = 0; k < (is_unnest ? 3u : 1u); k++, n++) {
			buf_puts(out, n ? ", " : "");
			if (is_unnest)
				buf_printf(out, "%s.%c AS c%u", cells, 'a' + (char)k, n);
			else
				buf_printf(out, "%s.c%u AS c%u", rows, i, n);
		}
	}
	buf_puts(out, " FROM (");
	put_body(s, out);
	buf_printf(out, ") AS %s, eb_cells(%s.c%d) AS %s", rows, rows, s->unnest, cells);
	s->cells_order = arena_printf(c->arena, " ORDER BY %s.n, %s.cell", rows, cells);
	c->needs_all_rows = true;
}

/* SELECT ... ORDER BY: LIMIT is still to come. */
static void put_sorted(struct select *s, struct buf *out)
{
	if (s->unnest >= 0) {
		put_unnested(s, out);
		buf_puts(out, s->cells_order);
		return;
	}
	put_body(s, out);
	put_sort(s, out);
}

static s32 find_unnest(const struct chain *ch)
{
	for (u32 i = 0; ch->project && i < ch->project->project.n_items; i++)
		if (ch->project->project.items[i].is_unnest)
			return (s32)i;
	return -1;
}

/* Its cells are sorted. */
static bool has_unnest(const struct plan *plan)
{
	const struct chain ch = { .project = plan };

	return find_unnest(&ch) >= 0;
}

static void put_set(struct cutter *c, const struct chain *ch, struct buf *out)
{
	static const char *const words[] = { [AST_UNION_ALL] = " UNION ALL ",
					     [AST_UNION] = " UNION ",
					     [AST_EXCEPT] = " EXCEPT ",
					     [AST_INTERSECT] = " INTERSECT " };
	const char *alias = arena_printf(c->arena, "t%u", c->n_aliases++);
	const struct plan *set = ch->set;
	bool is_wrapped = ch->sort || ch->limit || ch->distinct;

	c->relations[set->set.relation] = (struct relation){ .alias = alias };
	buf_puts(out, is_wrapped ? "SELECT * FROM (" : "");
	for (u32 i = 0; i < set->n_inputs; i++) {
		bool is_chain = set->inputs[i]->kind == PLAN_PROJECT && !has_unnest(set->inputs[i]);

		buf_puts(out, i ? words[set->set.ops[i]] : "");
		c->needs_all_rows |= i && set->set.ops[i] != AST_UNION_ALL;
		buf_puts(out, is_chain ? "" : "SELECT * FROM (");
		cut_select(c, set->inputs[i], false, out);
		buf_puts(out, is_chain ? "" : ")");
	}
	if (is_wrapped)
		buf_printf(out, ") AS %s", alias);
}

static bool check_depth(struct cutter *c, struct span span)
{
	if (c->depth < CUT_DEPTH_MAX)
		return true;
	if (!diags_failed(c->diags))
		diag_error(c->diags, "too-deep", span, "these selects nest too deep");
	return false;
}

static void put_select(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	bool was_guarded = c->is_guarded;
	struct expr *const only = c->only;

	c->is_guarded = false;
	c->only = NULL;
	c->depth++;
	if (s->ch.set) {
		put_set(c, &s->ch, out);
		put_sort(s, out);
	} else {
		put_sorted(s, out);
	}
	c->depth--;
	c->is_guarded = was_guarded;
	c->only = only;
}

void cut_select(struct cutter *c, const struct plan *plan, bool is_scalar, struct buf *out)
{
	struct select s = { .c = c, .is_scalar = is_scalar };

	if (!check_depth(c, plan->span))
		return;
	chain_read(plan, c->arena, &s.ch);
	cut_group_distinct(c, &s.ch);
	s.unnest = find_unnest(&s.ch);
	put_select(&s, out);
	put_limit(c, s.ch.limit, out);
}

/* --- The whole query --- */

/* Columns of the part's row that no SQL needs to see; is_computed: there are others. */
static s32 *find_picks(struct cutter *c, const struct chain *ch, bool *ret_is_computed)
{
	const struct plan_project *p = &ch->project->project;
	s32 *picks = arena_array(c->arena, s32, p->n_items + 1);

	*ret_is_computed = false;
	for (u32 i = 0; i < p->n_items; i++) {
		const struct expr *e = p->items[i].expr;

		if (e->kind == EXPR_KEY)
			picks[i] = (s32)e->index;
		else if (e->kind == EXPR_AGGREGATE)
			picks[i] = (s32)(ch->aggregate->aggregate.n_keys + e->index);
		else if (e->kind == EXPR_WINDOW_START)
			picks[i] = CUT_PICK_START;
		else if (e->kind == EXPR_WINDOW_END)
			picks[i] = CUT_PICK_END;
		else
			picks[i] = CUT_PICK_SQL;
		*ret_is_computed |= picks[i] == CUT_PICK_SQL;
	}
	return picks;
}

/* The text for the "(other)" row alone, or for the others that HAVING chooses. */
static void put_half(const struct select *s, const char *text, bool is_other, struct buf *out)
{
	bool is_skipped = false;

	for (; *text; text++) {
		if (*text == HAVING_BEGIN) {
			buf_printf(out, "%s%s.other", is_other ? "" : "NOT ", s->grouped->alias);
			is_skipped = is_other;
			buf_puts(out, is_other || text[1] == HAVING_END ? "" : " AND ");
		} else if (*text == HAVING_END) {
			is_skipped = false;
		} else if (!is_skipped) {
			buf_putc(out, *text);
		}
	}
}

/*
 * The "(other)" row holds what the losses tell of: HAVING and LIMIT never drop it, and it
 * is the last.
 */
static void put_limited(struct select *s, struct buf *out)
{
	struct buf sql;

	buf_init_in(&sql, s->c->arena);
	put_select(s, &sql);
	if (!s->has_other || !s->ch.limit) {
		buf_puts(out, sql.at);
		put_limit(s->c, s->ch.limit, out);
	} else {
		buf_puts(out, "SELECT * FROM (");
		put_half(s, sql.at, false, out);
		put_limit(s->c, s->ch.limit, out);
		buf_puts(out, ") UNION ALL SELECT * FROM (");
		put_half(s, sql.at, true, out);
		buf_putc(out, ')');
	}
}

/* Groups as the kernel gives them: no SQL, or only for what it must compute. */
static bool top_groups(struct cutter *c, struct select *s, struct buf *out)
{
	struct expr *distinct;
	bool is_computed;
	s32 *picks;

	if (s->ch.set || !s->ch.aggregate || cut_refuse_groups(c, &s->ch, &distinct) || distinct)
		return false;
	s->has_other = true;
	if (s->unnest >= 0 || s->ch.distinct) {
		put_limited(s, out);
		return true;
	}
	picks = find_picks(c, &s->ch, &is_computed);
	c->cut->picks = picks;
	if (is_computed || s->ch.having.n || s->ch.sort || s->ch.limit || s->ch.over) {
		s->picks = picks;
		put_limited(s, out);
		return true;
	}
	cut_groups_part(c, s->ch.aggregate, CUT_KERNEL);
	c->has_aggregate = true;
	return true;
}

static bool has_files(const struct plan *tree)
{
	struct cut_part part = { 0 };

	cut_note_scans(tree, &part);
	return part.has_files;
}

/* Rows of kernel streams, each as it comes: all that is wanted of them their program computes. */
static bool top_rows(struct cutter *c, struct select *s)
{
	const struct chain *ch = &s->ch;
	struct rows *rows;
	s32 *picks;

	if (ch->set || ch->aggregate || ch->over || ch->distinct || ch->sort || s->unnest >= 0 ||
	    !cut_is_rows(ch->from) || cut_user_condition(ch->from) || !c->settings->pushdown ||
	    has_files(ch->from) || c->query->window.kind != WINDOW_NONE ||
	    (ch->limit && ch->limit->limit.offset))
		return false;
	for (u32 i = 0; i < ch->where.n; i++)
		if (!cut_is_kernel_expr(ch->where.at[i], ch->from))
			return false;
	for (u32 i = 0; i < ch->project->project.n_items; i++)
		if (!cut_is_kernel_expr(ch->project->project.items[i].expr, ch->from))
			return false;
	rows = cut_rows_add(c, ch->from, false);
	rows->where = ch->where;
	picks = arena_array(c->arena, s32, ch->project->project.n_items);
	for (u32 i = 0; i < ch->project->project.n_items; i++)
		picks[i] = (s32)cut_rows_column(c, rows, ch->project->project.items[i].expr);
	c->cut->picks = picks;
	return true;
}

void cut_top(struct cutter *c, struct buf *out)
{
	struct select s = { .c = c };

	chain_read(c->query->plan, c->arena, &s.ch);
	cut_group_distinct(c, &s.ch);
	s.unnest = find_unnest(&s.ch);
	c->cut->limit = -1;
	if (top_rows(c, &s)) {
		c->cut->is_streaming = true;
		c->cut->limit = s.ch.limit ? s.ch.limit->limit.count : -1;
		return;
	}
	if (top_groups(c, &s, out))
		return;
	put_select(&s, out);
	/* LIMIT of rows that are handed on as they come counts all of them. */
	c->cut->is_streaming = cut_is_streaming(c);
	if (c->cut->is_streaming && s.ch.limit && !s.ch.limit->limit.offset) {
		c->cut->limit = s.ch.limit->limit.count;
	} else if (s.ch.limit) {
		put_limit(c, s.ch.limit, out);
		c->cut->is_streaming = false;
	}
}
