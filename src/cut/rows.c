/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parts: groups that the kernel aggregates, tables, and rows, which grow: the largest
 * pieces of the SQL's expressions that read one FROM tree become items of its part, so
 * they are computed where its rows are made.
 */
#include "cut/build.h"

/* What several selects read is one part. */
static u32 part_add(struct cutter *c, struct cut_part part)
{
	for (u32 i = 0; i < c->parts.n; i++)
		if ((part.plan && c->parts.at[i].plan == part.plan) ||
		    (part.file && c->parts.at[i].file == part.file))
			return i;
	part.name = arena_printf(c->arena, "w%u", c->parts.n);
	vec_push(c->arena, &c->parts, part);
	return c->parts.n - 1;
}

u32 cut_relation_add(struct cutter *c)
{
	vec_push(c->arena, &c->relations, (struct relation_name){ .depth = c->depth });
	return c->relations.n - 1;
}

/*
 * A recorded stream or a table?  A file with a time is a stream of events, unless the
 * query reads streams of the kernel: those have no windows in common, it is looked up.
 */
static const struct file *table_of(const struct cutter *c, const struct plan *tree)
{
	const struct stream *stream;

	if (tree->kind != PLAN_SCAN)
		return NULL;
	stream = tree->scan.streams->streams.at[0];
	if (stream->kind != STREAM_FILE)
		return NULL;
	return stream->file->time_column < 0 || c->query->has_streams ? stream->file : NULL;
}

static bool is_iterator(const struct plan *tree)
{
	return tree->kind == PLAN_SCAN &&
	       tree->scan.streams->streams.at[0]->kind == STREAM_ITERATOR;
}

static struct cut_part iterator_part(const struct plan *tree)
{
	return (struct cut_part){ .kind = PART_TABLE,
				  .is_kernel = true,
				  .reason = cut_reason_text(CUT_ITERATOR),
				  .span = tree->span };
}

struct rows *cut_rows_add(struct cutter *c, const struct plan *tree, bool has_time)
{
	struct rows *r = arena_new(c->arena, struct rows);

	*r = (struct rows){ .tree = tree, .has_time = has_time, .relation = cut_relation_add(c) };
	r->file = table_of(c, tree);
	r->is_table = r->file || is_iterator(tree);
	r->computes = !r->is_table || tree->scan.computes;
	if (is_iterator(tree))
		r->part = part_add(c, iterator_part(tree));
	else if (r->file)
		r->part = part_add(c, (struct cut_part){ .kind = PART_TABLE,
							 .columns = r->file->schema,
							 .has_files = true,
							 .file = r->file,
							 .reason = cut_reason_text(CUT_TABLE),
							 .span = tree->span });
	else
		r->part = part_add(c, (struct cut_part){ .kind = PART_ROWS, .span = tree->span });
	r->has_time &= !r->is_table;
	if (r->has_time)
		vec_push(c->arena, &r->items, plan_time(tree, c->arena));
	vec_push(c->arena, &c->rows, r);
	return r;
}

/* --- Items --- */

const struct rows *cut_window_rows(const struct cutter *c)
{
	const struct query_window *w = &c->query->window;
	bool is_own =
		w->kind == WINDOW_SESSION || (w->kind == WINDOW_COUNT && w->scope != COUNT_GLOBAL);

	for (u32 i = 0; is_own && i < c->rows.n; i++)
		if (!c->rows.at[i]->is_table)
			return c->rows.at[i];
	return NULL;
}

u32 cut_rows_depth(const struct cutter *c, const struct rows *rows)
{
	return c->relations.at[rows->relation].depth;
}

u32 cut_rows_column(struct cutter *c, struct rows *rows, struct expr *e)
{
	for (u32 i = 0; i < rows->items.n; i++)
		if (expr_equal(rows->items.at[i], e))
			return i;
	vec_push(c->arena, &rows->items, e);
	return rows->items.n - 1;
}

static struct rows *rows_of(struct cutter *c, const struct expr *e)
{
	for (u32 i = 0; i < c->rows.n; i++)
		if (expr_is_of(e, c->rows.at[i]->tree))
			return c->rows.at[i];
	return NULL;
}

static bool is_leaf(const struct expr *e)
{
	/* Which branch of a union it is, only the event's program knows. */
	return e->kind == EXPR_MEMBER || e->kind == EXPR_UNION || e->n_args == 0;
}

struct rows *cut_rows_of(struct cutter *c, const struct expr *e)
{
	struct rows *rows = e->is_user_only && e->kind != EXPR_FIELD ? NULL : rows_of(c, e);

	return rows && !rows->file && (rows->computes || is_leaf(e)) &&
			       (e->kind == EXPR_FIELD || cut_is_kernel_expr(e, rows->tree))
		       ? rows
		       : NULL;
}

/* The whole expression as a column of the rows, or NULL: in pieces. */
static struct expr *take_whole(struct cutter *c, struct expr *e, bool is_guarded)
{
	struct rows *rows = cut_rows_of(c, e);

	if (!rows)
		return NULL;
	/* Without a partner only the columns are NULL: x IS NULL, CASE, ... are not. */
	if (rows->is_nullable && !is_leaf(e) && !expr_is_strict(e))
		return NULL;
	/* Where it may not be wanted its fault would count: who wants it computes it. Of what
	 * cannot be read the row has a mark, which counts when the column is read. */
	is_guarded |= cut_rows_depth(c, rows) < c->depth;
	if (is_guarded && !is_leaf(e) && expr_can_fault(e, rows->tree))
		return NULL;
	return cut_ref(c->arena, e, EXPR_COLUMN, rows->relation, cut_rows_column(c, rows, e));
}

/* is_guarded: it is not wanted for all rows. */
static struct expr *take(struct cutter *c, struct expr *e, bool is_guarded)
{
	struct expr *copy = expr_is_constant(e) ? e : take_whole(c, e, is_guarded);
	bool guards =
		e->kind == EXPR_CASE || (e->kind == EXPR_OP && (e->op == OP_AND || e->op == OP_OR));
	struct rows *rows;

	if (copy)
		return copy;
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM) {
		/* Of a file that is a table, whose fields are its columns. */
		rows = rows_of(c, e);
		BUG_ON(!rows || !rows->file || e->kind != EXPR_FIELD);
		return cut_ref(c->arena, e, EXPR_COLUMN, rows->relation, e->index);
	}
	if (!e->n_args)
		return e;
	copy = expr_copy(c->arena, e);
	/* The first WHEN, and the left side of AND and OR, are wanted for every row. */
	for (u32 i = 0; i < e->n_args; i++)
		copy->args[i] = take(c, e->args[i], is_guarded || (guards && i));
	return copy;
}

struct expr *cut_take(struct cutter *c, struct expr *e)
{
	return take(c, e, c->is_guarded);
}

/* --- Plans of parts --- */

static struct plan *plan_over(struct cutter *c, enum plan_kind kind, const struct plan *input)
{
	struct plan *p = arena_new(c->arena, struct plan);

	p->kind = kind;
	p->input = (struct plan *)input;
	p->span = c->query->plan->span;
	return p;
}

static const char *text_of(struct cutter *c, struct expr *const *exprs, u32 n)
{
	struct buf text;

	buf_init_in(&text, c->arena);
	for (u32 i = 0; i < n; i++) {
		buf_puts(&text, i ? " AND " : "");
		expr_print(exprs[i], &text);
	}
	return text.at;
}

/* What tree/ has a column for. */
static bool put_column(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	bool is_union = e->kind == EXPR_UNION;

	if (!is_leaf(e))
		return false;
	buf_puts(out, is_union ? "CASE" : "c0");
	for (u32 i = 0; is_union && i < e->n_args; i++) {
		buf_puts(out, " WHEN c0 THEN ");
		lite_write(w, e->args[i], out);
	}
	buf_puts(out, is_union ? " END" : "");
	return true;
}

struct checking {
	struct cutter *c;
	bool is_condition;
};

static void check_expr(void *context, struct expr **e)
{
	const struct checking *checking = context;
	const struct lite_writer w = { .leaf = put_column, .arena = checking->c->arena };
	struct buf sql;

	buf_init_in(&sql, w.arena);
	buf_puts(&sql, "SELECT CASE WHEN (");
	(checking->is_condition ? lite_write_condition : lite_write)(&w, *e, &sql);
	lite_check_depth(sql.at, 0, (*e)->span, checking->c->diags);
}

/* User space computes its expressions, each by itself (tree/). */
static void check_plan(void *context, struct plan *p)
{
	struct checking checking = { context, p->kind == PLAN_FILTER };

	plan_each_expr(p, check_expr, &checking);
}

static void finish(struct cutter *c, struct rows *rows)
{
	struct cut_part *part = &c->parts.at[rows->part];
	struct plan *project;
	u32 n;

	/* Rows without columns can be counted; SQLite wants one. */
	if (!rows->items.n)
		vec_push(c->arena, &rows->items, expr_number(c->arena, rows->tree->span, 0));
	n = rows->items.n;
	project = plan_over(c, PLAN_PROJECT, rows->tree);
	if (rows->where.n) {
		struct plan *filter = plan_over(c, PLAN_FILTER, rows->tree);

		filter->filter.conjuncts = rows->where.at;
		filter->filter.n_conjuncts = rows->where.n;
		project->input = filter;
		part->where = text_of(c, rows->where.at, rows->where.n);
	}
	project->project.items = arena_array(c->arena, struct item, n);
	project->project.n_items = n;
	for (u32 i = 0; i < n; i++) {
		struct expr *e = rows->items.at[i];
		bool is_named = e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM;
		const char *name = is_named ? e->name : text_of(c, &e, 1);

		if (!i && rows->has_time)
			name = system_columns[SYS_TIME].name;
		project->project.items[i] = (struct item){ .name = name, .expr = e };
	}
	plan_columns(project, c->arena, &part->columns);
	part->plan = project;
	cut_note_scans(rows->tree, part);
	part->is_kernel = rows->is_table || (c->settings->pushdown && !part->has_files);
	if (!part->is_kernel)
		plan_each(project, check_plan, c);
	part->has_time = rows->has_time;
	part->reason = cut_reason_text(rows->is_table		? CUT_ITERATOR
				       : part->has_files	? CUT_RECORDED
				       : !c->settings->pushdown ? CUT_PUSHDOWN
				       : !rows->has_time	? CUT_STREAMED
								: CUT_ROWS);
}

void cut_finish_rows(struct cutter *c)
{
	for (u32 i = 0; i < c->rows.n; i++)
		if (!c->rows.at[i]->file)
			finish(c, c->rows.at[i]);
}

/* --- Groups --- */

static struct column aggregate_column(struct cutter *c, const struct aggregate *a)
{
	struct type type = a->type;
	struct buf text;

	buf_init_in(&text, c->arena);
	aggregate_print(a, &text);
	if (lite_is_quantile(a))
		type = (struct type){ .kind = TYPE_QUANTILE, .of = a->arg->type.kind };
	return (struct column){ text.at, type };
}

u32 cut_groups_part(struct cutter *c, const struct plan *plan, enum cut_reason reason)
{
	const struct plan_aggregate *a = &plan->aggregate;
	struct column *columns = arena_array(c->arena, struct column, a->n_keys + a->n);
	u32 n = 0;

	for (u32 i = 0; i < a->n_keys; i++)
		columns[n++] = (struct column){ a->keys[i].name, a->keys[i].expr->type };
	for (u32 i = 0; i < a->n; i++)
		columns[n++] = aggregate_column(c, &a->list[i]);
	return part_add(c, (struct cut_part){ .kind = PART_GROUPS,
					      .plan = (struct plan *)plan,
					      .columns = { n, columns },
					      .is_kernel = true,
					      .has_streams = true,
					      .reason = cut_reason_text(reason),
					      .span = plan->span });
}
