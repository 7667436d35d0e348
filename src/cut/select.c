/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A select -> SQL: SELECT, FROM, WHERE, GROUP BY, HAVING; several of them; ORDER BY and
 * LIMIT.  Its columns are c0, c1, ... whatever the query calls them.
 */
#include "cut/build.h"

/* Each is some calls of ours in each other. */
#define DEPTH_MAX 64u
/* Sub-queries are printed where they stand up to so many entries of SQLite's parser (lite_depth()),
 * of which it has LITE_DEPTH_MAX; so many more wait around a select in WITH. */
#define INLINE_DEPTH 48u
#define WITH_DEPTH   8u

/* One select as it is printed. */
struct select {
	struct cutter *c;
	struct chain ch;
	bool is_scalar;
	const struct item *columns;    /* an arm of a UNION: of all arms together */
	const struct grouped *grouped; /* by a part; NULL: SQLite groups, or nothing does */
	enum cut_reason reason;	       /* why SQLite groups */
	/* The whole query's, over one part of groups: */
	bool has_other;		   /* the "(other)" row is kept, behind the others */
	const s32 *picks;	   /* these columns come by the number of the part's row */
	size_t having, having_end; /* has_other: where the condition stands in the text */
};

/* --- FROM --- */

/* Its columns have the numbers of the relation from here on. */
static void put_name(struct cutter *c, u32 relation, const struct schema *named, struct buf *out)
{
	c->relations.at[relation] = (struct relation_name){ .depth = c->depth, .named = named };
	buf_printf(out, " AS t%u", relation);
}

static void put_from(struct cutter *c, const struct plan *from, struct buf *out);

/* Behind the first, what can fail is not asked for in all rows. */
static void put_conjuncts(struct cutter *c, expr_vec *conjuncts, const char *before,
			  struct buf *out)
{
	bool was_guarded = c->is_guarded;

	lite_guard_failures(conjuncts, c->arena);
	for (u32 i = 0; i < conjuncts->n; i++) {
		buf_puts(out, i ? " AND " : before);
		cut_put(c, conjuncts->at[i], LITE_CONDITION, out);
		c->is_guarded = true;
	}
	c->is_guarded = was_guarded;
}

static void from_relate(struct cutter *c, const struct plan *p, struct buf *out)
{
	static const char *const words[] = { [RELATE_INNER] = " JOIN ",
					     [RELATE_LEFT] = " LEFT JOIN ",
					     [RELATE_FULL] = " FULL JOIN ",
					     [RELATE_CROSS] = " CROSS JOIN " };
	bool is_full = p->relate.kind == RELATE_FULL;
	bool is_left = p->relate.kind == RELATE_LEFT || is_full;
	bool is_nested = p->right->kind == PLAN_RELATE;
	u32 first_right = c->rows.n, n_joined = c->joined.n;
	expr_vec on = { 0 };

	put_from(c, p->input, out);
	buf_puts(out, words[p->relate.kind]);
	if (!is_full) {
		n_joined = c->joined.n;
		first_right = c->rows.n;
	}
	buf_puts(out, is_nested ? "(" : "");
	put_from(c, p->right, out);
	buf_puts(out, is_nested ? ")" : "");
	for (u32 i = first_right; is_left && i < c->rows.n; i++) {
		c->rows.at[i]->is_nullable = true;
		/* Without a partner: that is known at the end only. */
		c->needs_all_rows |= !c->rows.at[i]->is_table;
	}
	cut_note(c, is_full ? "full join" : is_left ? "left join" : "join", p->relate.on, CUT_JOIN);
	if (p->relate.on)
		expr_conjuncts(c->arena, p->relate.on, &on);
	/* What is on the right of a LEFT JOIN, and anywhere in a FULL one, may be missing. */
	if (is_left)
		c->joined.n = n_joined;
	for (u32 i = 0; i < on.n && !is_left; i++)
		vec_push(c->arena, &c->joined, on.at[i]);
	put_conjuncts(c, &on, " ON ", out);
}

static void from_rows(struct cutter *c, const struct plan *tree, struct buf *out)
{
	struct rows *rows = NULL;

	/* A select that is printed in two clauses, as a sub-query in a key, reads the same rows
	 * in both. */
	for (u32 i = 0; i < c->rows.n && !rows; i++)
		if (c->rows.at[i]->tree == tree)
			rows = c->rows.at[i];
	if (!rows)
		rows = cut_rows_add(c, tree, true);
	c->reads_streams |= !rows->is_table;
	buf_printf(out, "w%u", rows->part);
	put_name(c, rows->relation, NULL, out);
}

static void put_from(struct cutter *c, const struct plan *from, struct buf *out)
{
	if (plan_is_rows(from)) {
		from_rows(c, from, out);
	} else if (from->kind == PLAN_RELATE) {
		from_relate(c, from, out);
	} else if (from->kind == PLAN_DERIVED) {
		cut_nested(c, from->input, false, false, out);
		put_name(c, from->derived.relation, NULL, out);
	} else {
		BUG_ON(from->kind != PLAN_TABLE);
		c->cut->reads_tables = true;
		lite_write_name(from->table.database->name, out);
		buf_putc(out, '.');
		lite_write_name(from->table.name, out);
		put_name(c, from->table.relation, &from->table.columns, out);
	}
}

/* --- WHERE to HAVING --- */

/* The rows whose part tests the condition, or NULL. */
static struct rows *rows_of_condition(struct select *s, u32 first, struct expr *e)
{
	struct cutter *c = s->c;
	struct rows *rows = cut_rows_of(c, e), *own = first < c->rows.n ? c->rows.at[first] : NULL;

	/* Of no column at all: `matched` tells what it drops, too. */
	if (!rows && own && (cut_is_where_first(c) || own->tree == s->ch.from) &&
	    cut_is_kernel_expr(e, own->tree))
		rows = own;
	if (!rows || cut_rows_depth(c, rows) < c->depth || rows->is_nullable || rows->file ||
	    !rows->computes)
		return NULL;
	return c->is_guarded && expr_can_fault(e, rows->tree) ? NULL : rows;
}

/* What no part tests is SQLite's. */
static void put_where(struct select *s, u32 first, struct buf *out)
{
	struct cutter *c = s->c;
	bool was_guarded = c->is_guarded, can_fail = false;
	expr_vec all = { 0 }, rest = { 0 }, guarded = { 0 };

	for (u32 i = 0; i < s->ch.where.n; i++)
		expr_conjuncts(c->arena, s->ch.where.at[i], &all);
	for (u32 i = 0; i < all.n && !diags_failed(c->diags); i++) {
		struct expr *e = all.at[i];
		struct rows *rows = rows_of_condition(s, first, e);

		if (rows) {
			vec_push(c->arena, &rows->where, e);
		} else if (!cut_is_where_first(c)) {
			cut_note(c, "where", e, CUT_CONDITION);
			vec_push(c->arena, &rest, e);
			c->is_guarded = true; /* what can fault is only wanted where this is true */
		} else {
			diag_refuse(c->diags, "not-supported", e->span,
				    "this condition cannot be tested before the rows are "
				    "counted, as windows of COUNT and SESSION need it" HINT
				    "count(*) FILTER (WHERE ...), sum(x) FILTER (WHERE ...) take "
				    "any condition");
		}
	}
	c->is_guarded = was_guarded;
	for (u32 i = 0; i < rest.n; i++)
		can_fail |= expr_can_fail(rest.at[i]);
	/* SQLite tests ON first or WHERE first, as it likes. */
	for (u32 i = 0; i < c->joined.n && can_fail; i++)
		vec_push(c->arena, &guarded, c->joined.at[i]);
	for (u32 i = 0; i < rest.n; i++)
		vec_push(c->arena, &guarded, rest.at[i]);
	put_conjuncts(c, &guarded, " WHERE ", out);
	c->is_guarded |= rest.n > 0;
}

static bool note_window_key(struct cutter *c, struct expr *e)
{
	struct cut_window *w = &c->cut->window;

	if (e && c->rows.n == 1 && cut_rows_of(c, e) == c->rows.at[0]) {
		w->key_columns[w->n_key_columns++] = cut_rows_column(c, c->rows.at[0], e);
		return true;
	}
	return e && expr_is_constant(e);
}

/* Sessions, and count windows of CPUs and groups: their keys. */
static void window_keys(struct cutter *c, const struct plan_aggregate *a)
{
	const struct query_window *w = &c->query->window;
	bool is_of_cpu = w->kind == WINDOW_COUNT && w->scope == COUNT_PER_CPU, is_good;
	bool is_of_names = false;

	c->cut->window.key_columns = arena_array(c->arena, u32, a ? a->n_keys + 1 : 1);
	is_good = !is_of_cpu || note_window_key(c, w->cpu);
	for (u32 i = 0; a && !is_of_cpu && is_good && i < a->n_keys; i++) {
		is_good = note_window_key(c, a->keys[i].expr);
		is_of_names = cut_names_address(a->keys[i].expr);
	}
	if (!is_good)
		diag_refuse(c->diags, "not-supported", w->span,
			    "windows of their own are made for groups of columns only" HINT "%s",
			    is_of_names ? "GROUP BY the address, and select its name; or WINDOW "
					  "COUNT of all rows together"
					: "GROUP BY the event's columns, or expressions of them");
}

static void put_group_by(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	const struct plan_aggregate *a = s->ch.aggregate ? &s->ch.aggregate->aggregate : NULL;
	const struct rows *rows = cut_window_rows(c);
	u32 n_keys = a ? a->n_keys : 0;

	for (u32 i = 0; i < n_keys; i++) {
		buf_puts(out, i ? ", " : " GROUP BY ");
		cut_put_group_key(c, a->keys[i].expr, out);
		cut_note(c, "group by", a->keys[i].expr, s->reason);
	}
	if (c->depth > 1 || !rows)
		return;
	window_keys(c, a);
	if (a)
		buf_printf(out, "%st%u.session", n_keys ? ", " : " GROUP BY ", rows->relation);
}

static void put_having(struct select *s, struct buf *out)
{
	const expr_vec *having = &s->ch.having;
	bool is_limited = s->has_other && s->ch.limit;
	bool keeps_other = s->has_other && !s->ch.limit; /* with LIMIT it stands apart */

	if (!having->n && !is_limited)
		return;
	buf_puts(out, s->grouped && !s->grouped->columns ? " WHERE " : " HAVING ");
	if (keeps_other)
		buf_printf(out, "t%u.other OR (", s->grouped->relation);
	s->having = out->n;
	for (u32 i = 0; i < having->n; i++) {
		buf_puts(out, i ? " AND " : "");
		cut_note(s->c, "having", having->at[i], CUT_GROUPS);
		cut_put(s->c, having->at[i], LITE_CONDITION, out);
	}
	s->having_end = out->n;
	buf_puts(out, keeps_other ? ")" : "");
}

/* false: the kernel does not aggregate it. */
static bool from_part(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	const struct plan *a = s->ch.aggregate;
	struct finer finer;
	struct grouped *g;

	if (!a)
		return false;
	c->has_aggregate = true;
	g = c->grouped.at[a->aggregate.number];
	*g = (struct grouped){ .plan = a, .depth = c->depth };
	s->reason = cut_refuse_groups(c, &s->ch, &finer);
	if (s->reason)
		return false;
	c->reads_streams = true;
	g->is_part = true;
	g->relation = cut_relation_add(c);
	s->grouped = g;
	buf_printf(out, " FROM w%u AS t%u",
		   !cut_is_finer(&finer)
			   ? cut_groups_part(c, a, CUT_KERNEL)
			   : cut_groups_part(c, cut_make_finer(c, g, finer.distinct),
					     finer.of_names ? CUT_NAMED : CUT_REGROUPED),
		   g->relation);
	g->of_names = finer.of_names;
	for (u32 i = 0; g->keys && i < a->aggregate.n_keys; i++) {
		buf_puts(out, i ? ", " : " GROUP BY ");
		cut_put_key(c, g, i, out);
	}
	return true;
}

static void put_rows(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	const struct plan *from = s->ch.from;
	u32 first = c->rows.n;

	if (!from_part(s, out)) {
		if (from->kind != PLAN_ONE) {
			buf_puts(out, " FROM ");
			put_from(c, from, out);
		} else {
			/* SQLite may take the aggregate for that of a select around. */
			c->reads_streams |= s->ch.aggregate != NULL;
		}
		c->is_guarded = from->kind == PLAN_RELATE;
		put_where(s, first, out);
		put_group_by(s, out);
	}
	if (s->ch.over)
		c->overs[s->ch.over->over.number] = s->ch.over;
}

/* --- SELECT, ORDER BY, LIMIT --- */

/* Items that come by the number of the part's row are not in the SQL. */
static bool is_picked(const struct select *s, u32 item)
{
	return s->picks && s->picks[item] != CUT_PICK_SQL;
}

/* A number: the value of the select, or beside the numbers of other arms. */
static bool is_estimate(const struct select *s, u32 item)
{
	/* Before it one item may be three columns. */
	u32 column = s->ch.unnest >= 0 && (s32)item > s->ch.unnest ? item + 2 : item;

	return s->is_scalar ||
	       (s->columns && s->ch.project->project.items[item].expr->is_quantile &&
		!s->columns[column].expr->is_quantile);
}

/* A sum of the whole query that nothing goes by. */
static bool is_only_shown(const struct select *s, const struct expr *e)
{
	const struct plan_sort *sort = s->ch.sort ? &s->ch.sort->sort : NULL;

	if (s->c->depth > 1 || s->ch.unnest >= 0 || !cut_is_sum(s->c, e))
		return false;
	for (u32 i = 0; sort && i < sort->n_keys; i++)
		if (expr_equal(sort->keys[i].expr, e))
			return false;
	return true;
}

static void put_items(struct select *s, struct buf *out)
{
	const struct plan_project *p = &s->ch.project->project;
	u32 n = 0;

	for (u32 i = 0; i < p->n_items; i++) {
		if (is_picked(s, i))
			continue;
		buf_puts(out, n ? ", " : "");
		cut_put(s->c, p->items[i].expr,
			is_estimate(s, i)		     ? LITE_VALUE
			: is_only_shown(s, p->items[i].expr) ? LITE_SHOWN
							     : LITE_ITEM,
			out);
		buf_printf(out, " AS c%u", n++);
	}
	if (s->picks)
		buf_printf(out, "%st%u.row", n ? ", " : "", s->grouped->relation);
}

/* The number of the printed item that is the same, which is then computed once; 0: none. */
static u32 printed_item(const struct select *s, const struct expr *e)
{
	const struct plan_project *p = s->ch.project ? &s->ch.project->project : NULL;
	u32 n = 0;

	for (u32 i = 0; p && !e->is_quantile && i < p->n_items; i++) {
		n += !is_picked(s, i);
		if (!is_picked(s, i) && expr_equal(p->items[i].expr, e))
			return n;
	}
	return 0;
}

/* Of an UNNEST the rows are numbered in that order, by which their cells are sorted. */
static void put_sort(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	const struct plan_sort *sort = s->ch.sort ? &s->ch.sort->sort : NULL;
	bool is_kept = s->has_other && !s->ch.limit;
	const char *before = " ORDER BY ";

	if (!sort)
		return;
	if (is_kept)
		buf_printf(out, "%st%u.other", before, s->grouped->relation);
	before = is_kept ? ", " : before;
	for (u32 i = 0; i < sort->n_keys; i++) {
		u32 item = s->ch.unnest < 0 ? printed_item(s, sort->keys[i].expr) : 0;

		if (cut_put_sort_key(c, &sort->keys[i], item, before, out))
			before = ", ";
		cut_note(c, "order by", sort->keys[i].expr, CUT_GROUPS);
	}
	c->is_only_sorted |= !c->needs_all_rows && !c->has_aggregate;
	c->needs_all_rows = true;
}

void cut_put_limit(struct cutter *c, const struct plan *limit, struct buf *out)
{
	if (!limit)
		return;
	cut_note(c, "limit", NULL, CUT_GROUPS);
	c->needs_all_rows = true;
	buf_printf(out, " LIMIT %lld", (long long)limit->limit.count);
	if (limit->limit.offset)
		buf_printf(out, " OFFSET %lld", (long long)limit->limit.offset);
}

/* What FROM names is known before the items are printed. */
static void put_body(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	struct buf from;

	buf_init_in(&from, c->arena);
	put_rows(s, &from);
	buf_puts(out, s->ch.distinct ? "SELECT DISTINCT " : "SELECT ");
	put_items(s, out);
	if (s->ch.unnest >= 0) {
		buf_puts(out, ", row_number() OVER (");
		put_sort(s, out);
		buf_puts(out, ") AS n");
	}
	buf_put(out, from.at, from.n);
	put_having(s, out);
	c->needs_all_rows |= s->ch.distinct != NULL;
	if (s->ch.distinct)
		cut_note(c, "distinct", NULL, CUT_GROUPS);
}

/* UNNEST(h): the select with h in a column, joined with the cells of that column. */
static void put_unnested(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	u32 rows = cut_relation_add(c), cells = cut_relation_add(c), n = 0;

	buf_puts(out, "SELECT ");
	for (u32 i = 0; i < s->ch.project->project.n_items; i++) {
		bool is_unnest = (s32)i == s->ch.unnest;

		for (u32 k = 0; k < (is_unnest ? 3u : 1u); k++, n++) {
			buf_puts(out, n ? ", " : "");
			if (is_unnest)
				buf_printf(out, "t%u.%c AS c%u", cells, 'a' + (char)k, n);
			else
				buf_printf(out, "t%u.c%u AS c%u", rows, i, n);
		}
	}
	buf_puts(out, " FROM (");
	put_body(s, out);
	buf_printf(out, ") AS t%u, eb_cells(t%u.c%d) AS t%u ORDER BY t%u.n, t%u.cell", rows, rows,
		   s->ch.unnest, cells, rows, cells);
	c->needs_all_rows = true;
}

static void put_select(struct select *s, struct buf *out);

static void put_set(struct select *s, struct buf *out)
{
	static const char *const words[] = { [AST_UNION_ALL] = " UNION ALL ",
					     [AST_UNION] = " UNION ",
					     [AST_EXCEPT] = " EXCEPT ",
					     [AST_INTERSECT] = " INTERSECT " };
	struct cutter *c = s->c;
	const struct plan *set = s->ch.set;
	bool is_wrapped = s->ch.sort || s->ch.limit || s->ch.distinct;

	buf_puts(out, is_wrapped ? "SELECT * FROM (" : "");
	for (u32 i = 0; i < set->n_inputs; i++) {
		struct select arm = { .c = c,
				      .is_scalar = s->is_scalar,
				      .columns = s->columns ? s->columns : set->set.columns };
		bool is_plain;

		cut_chain(c, set->inputs[i], &arm.ch);
		is_plain = !arm.ch.set && !arm.ch.sort && !arm.ch.limit && arm.ch.unnest < 0;
		buf_puts(out, i ? words[set->set.ops[i]] : "");
		c->needs_all_rows |= i && set->set.ops[i] != AST_UNION_ALL;
		buf_puts(out, is_plain ? "" : "SELECT * FROM (");
		put_select(&arm, out);
		cut_put_limit(c, arm.ch.limit, out);
		buf_puts(out, is_plain ? "" : ")");
	}
	buf_puts(out, is_wrapped ? ")" : "");
	if (is_wrapped)
		put_name(c, set->set.relation, NULL, out);
	put_sort(s, out);
}

/* SELECT ... ORDER BY: LIMIT is still to come. */
static void put_select(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	bool was_guarded = c->is_guarded;
	expr_vec joined = c->joined;

	c->is_guarded = false;
	c->joined = (expr_vec){ 0 };
	c->depth++;
	if (s->ch.set) {
		put_set(s, out);
	} else if (s->ch.unnest >= 0) {
		put_unnested(s, out);
	} else {
		put_body(s, out);
		put_sort(s, out);
	}
	c->depth--;
	c->is_guarded = was_guarded;
	c->joined = joined;
}

/* is_scalar: a special value is its estimate. */
static void put_plan(struct cutter *c, const struct plan *plan, bool is_scalar, struct buf *out)
{
	struct select s = { .c = c, .is_scalar = is_scalar };

	if (c->depth == DEPTH_MAX) {
		lite_refuse_depth(plan->span, c->diags);
		return;
	}
	cut_chain(c, plan, &s.ch);
	put_select(&s, out);
	cut_put_limit(c, s.ch.limit, out);
}

static void put_shared(struct cutter *c, u32 number, bool is_inline, struct buf *out)
{
	c->reads_streams |= c->shared.at[number].reads_streams;
	buf_printf(out, is_inline ? "(SELECT * FROM s%u)" : "s%u", number);
}

void cut_nested(struct cutter *c, const struct plan *select, bool is_inline, bool is_scalar,
		struct buf *out)
{
	struct cutter before = *c;
	struct buf sql;
	u32 number = 0;
	bool is_shared;

	while (number < c->shared.n && c->shared.at[number].plan != select)
		number++;
	if (number < c->shared.n) {
		put_shared(c, number, is_inline, out);
		return;
	}
	buf_init_in(&sql, c->arena);
	c->reads_streams = false;
	c->reach = UINT32_MAX;
	put_plan(c, select, is_scalar, &sql);
	/* It reads nothing of the selects around it: then it can stand before them. */
	is_shared = c->reach > c->depth && (!is_inline || lite_depth(sql.at) > INLINE_DEPTH);
	lite_check_depth(sql.at, is_shared ? WITH_DEPTH : 0, select->span, c->diags);
	/* What is only of tables asks for no end of the streams around it. */
	if (!c->reads_streams) {
		c->has_aggregate = before.has_aggregate;
		c->needs_all_rows = before.needs_all_rows;
		c->is_only_sorted = before.is_only_sorted;
	}
	if (is_shared) {
		number = c->shared.n;
		vec_push(c->arena, &c->shared, (struct shared){ select, c->reads_streams });
		buf_printf(&c->with, "%ss%u AS (%s)", number ? ", " : "WITH ", number, sql.at);
		put_shared(c, number, is_inline, out);
	} else {
		buf_printf(out, "(%s)", sql.at);
	}
	c->reads_streams |= before.reads_streams;
	c->reach = MIN(c->reach, before.reach);
}

/* --- The whole query --- */

/* Columns of the part's row that no SQL needs to see; the least of them. */
static const s32 *find_picks(struct cutter *c, const struct chain *ch, s32 *ret_least)
{
	const struct plan_project *p = &ch->project->project;
	s32 *picks = arena_array(c->arena, s32, p->n_items + 1);

	*ret_least = 0;
	for (u32 i = 0; i < p->n_items; i++) {
		const struct expr *e = p->items[i].expr;

		picks[i] = e->kind == EXPR_KEY		  ? (s32)e->index
			   : e->kind == EXPR_WINDOW_START ? CUT_PICK_START
			   : e->kind == EXPR_WINDOW_END	  ? CUT_PICK_END
			   : e->kind == EXPR_OTHER	  ? CUT_PICK_OTHER
							  : CUT_PICK_SQL;
		if (e->kind == EXPR_AGGREGATE)
			picks[i] = (s32)(ch->aggregate->aggregate.n_keys + e->index);
		*ret_least = MIN(*ret_least, picks[i]);
	}
	return picks;
}

/* The text for the "(other)" row alone, or for the others that HAVING chooses. */
static void put_half(const struct select *s, const struct buf *sql, bool is_other, struct buf *out)
{
	bool has_condition = !is_other && s->having < s->having_end;

	buf_put(out, sql->at, s->having);
	buf_printf(out, "%st%u.other%s", is_other ? "" : "NOT ", s->grouped->relation,
		   has_condition ? " AND " : "");
	if (has_condition)
		buf_put(out, sql->at + s->having, s->having_end - s->having);
	buf_puts(out, sql->at + s->having_end);
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
	if (!s->ch.limit) {
		buf_puts(out, sql.at);
	} else {
		buf_puts(out, "SELECT * FROM (");
		put_half(s, &sql, false, out);
		cut_put_limit(s->c, s->ch.limit, out);
		buf_puts(out, ") UNION ALL SELECT * FROM (");
		put_half(s, &sql, true, out);
		buf_putc(out, ')');
	}
}

/* Groups as the kernel gives them: no SQL, or only for what it must compute. */
static bool top_groups(struct select *s, struct buf *out)
{
	struct cutter *c = s->c;
	const struct chain *ch = &s->ch;
	struct finer finer;
	s32 least = CUT_PICK_SQL;

	if (ch->set || !ch->aggregate || cut_refuse_groups(c, ch, &finer) || cut_is_finer(&finer))
		return false;
	if (ch->unnest < 0 && !ch->distinct)
		c->cut->picks = s->picks = find_picks(c, ch, &least);
	s->has_other = true;
	if (least == CUT_PICK_SQL || ch->having.n || ch->sort || ch->limit || ch->over)
		put_limited(s, out);
	else
		cut_groups_part(c, ch->aggregate, CUT_KERNEL);
	c->has_aggregate = true;
	return true;
}

/* Rows of kernel streams, each as it comes: all that is wanted of them their program computes. */
static bool top_rows(struct select *s)
{
	const struct chain *ch = &s->ch;
	struct cutter *c = s->c;
	const struct plan_project *p;
	struct rows *rows;
	s32 *picks;

	if (ch->set || ch->aggregate || ch->over || ch->distinct || ch->sort || ch->unnest >= 0 ||
	    c->query->window.kind != WINDOW_NONE || (ch->limit && ch->limit->limit.offset) ||
	    cut_refuse_rows(c, ch))
		return false;
	p = &ch->project->project;
	for (u32 i = 0; i < p->n_items; i++)
		if (!cut_is_kernel_expr(p->items[i].expr, ch->from))
			return false;
	rows = cut_rows_add(c, ch->from, false);
	rows->where = ch->where;
	picks = arena_array(c->arena, s32, p->n_items);
	for (u32 i = 0; i < p->n_items; i++)
		picks[i] = (s32)cut_rows_column(c, rows, p->items[i].expr);
	c->cut->picks = picks;
	return true;
}

const struct plan *cut_top(struct cutter *c, struct buf *out)
{
	struct select s = { .c = c };

	cut_chain(c, c->query->plan, &s.ch);
	if (top_groups(&s, out))
		return NULL;
	if (!top_rows(&s))
		put_select(&s, out);
	return s.ch.limit;
}
