/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parts: groups that the kernel aggregates, tables, and rows, which grow: the largest
 * pieces of the SQL's expressions that read one FROM tree become items of its part, so
 * they are computed where its rows are made.
 */
#include <string.h>

#include "cut/build.h"

u32 cut_part_add(struct cutter *c, struct cut_part part)
{
	part.name = arena_printf(c->arena, "w%u", c->parts.n);
	vec_push(c->arena, &c->parts, part);
	return c->parts.n - 1;
}

static u32 relation_add(struct cutter *c, const char *alias)
{
	BUG_ON(c->n_relations == c->n_relations_max);
	c->relations[c->n_relations] = (struct relation){ .alias = alias };
	return c->n_relations++;
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

void cut_refuse_condition(struct cutter *c, const struct expr *e)
{
	diag_hint(c->diags,
		  diag_error(c->diags, "not-supported", e->span,
			     "this condition cannot be tested before the rows are counted, as "
			     "windows of COUNT and SESSION and running sums need it"),
		  "count(*) FILTER (WHERE ...), sum(x) FILTER (WHERE ...) take any condition");
}

/* A table is read once, however often the query names it. */
static u32 table_part(struct cutter *c, const struct file *file, struct span span)
{
	for (u32 i = 0; i < c->parts.n; i++)
		if (c->parts.at[i].kind == PART_TABLE && c->parts.at[i].file == file)
			return i;
	return cut_part_add(c, (struct cut_part){ .kind = PART_TABLE,
						  .columns = file->schema,
						  .has_files = true,
						  .file = file,
						  .reason = cut_reason_text(CUT_TABLE),
						  .span = span });
}

struct rows *cut_rows_add(struct cutter *c, const struct plan *tree, bool has_time)
{
	const struct file *file = table_of(c, tree);
	struct rows *r = arena_new(c->arena, struct rows);
	const char *alias = arena_printf(c->arena, "t%u", c->n_aliases++);

	*r = (struct rows){ .tree = tree, .file = file, .has_time = has_time };
	r->relation = relation_add(c, alias);
	if (cut_user_condition(tree))
		cut_refuse_condition(c, cut_user_condition(tree));
	if (file) {
		r->part = table_part(c, file, tree->span);
	} else {
		r->part =
			cut_part_add(c, (struct cut_part){ .kind = PART_ROWS, .span = tree->span });
		if (has_time)
			vec_push(c->arena, &r->items, plan_time(tree, c->arena));
	}
	vec_push(c->arena, &c->rows, r);
	return r;
}

/* --- Items --- */

static struct expr *column_ref(struct cutter *c, const struct rows *rows, const struct expr *e,
			       u32 index)
{
	struct expr *ref = arena_new(c->arena, struct expr);

	*ref = *e;
	ref->kind = EXPR_COLUMN;
	ref->source = rows->relation;
	ref->index = index;
	ref->args = NULL;
	ref->n_args = 0;
	ref->may_overflow = false;
	return ref;
}

u32 cut_rows_column(struct cutter *c, struct rows *rows, struct expr *e)
{
	for (u32 i = 0; i < rows->items.n; i++)
		if (expr_equal(rows->items.at[i], e))
			return i;
	vec_push(c->arena, &rows->items, e);
	return rows->items.n - 1;
}

/* A column of a file that is a table. */
static struct expr *file_column(struct cutter *c, const struct rows *rows, const struct expr *e)
{
	const struct schema *schema = &rows->file->schema;
	const char *name = e->kind == EXPR_SYSTEM ? system_columns[e->index].name : e->name;

	for (u32 i = 0; i < schema->n_columns; i++)
		if (strcmp(schema->columns[i].name, name) == 0)
			return column_ref(c, rows, e, i);
	BUG("the file has no column %s", name);
}

static struct rows *rows_of(struct cutter *c, const struct expr *e)
{
	for (u32 i = 0; i < c->rows.n; i++)
		if (expr_is_of(e, c->rows.at[i]->tree))
			return c->rows.at[i];
	return NULL;
}

struct rows *cut_rows_of(struct cutter *c, const struct expr *e)
{
	struct rows *rows = e->is_user_only && e->kind != EXPR_FIELD ? NULL : rows_of(c, e);

	return rows && !rows->file && (e->kind == EXPR_FIELD || cut_is_kernel_expr(e, rows->tree))
		       ? rows
		       : NULL;
}

/*
 * Why a piece of an expression may not be wanted: it stands in an arm of a CASE, or
 * behind an AND or OR.  It is wanted where none of the `skips` is true, and `only`,
 * when there is one, is.
 */
struct guard {
	const struct guard *outer;
	struct expr **skips;
	u32 n_skips;
	struct expr *only;
};

static bool is_guard_of(const struct guard *g, const struct rows *rows)
{
	for (; g; g = g->outer) {
		if (!cut_is_kernel_expr(g->only, rows->tree))
			return false;
		for (u32 i = 0; i < g->n_skips; i++)
			if (!cut_is_kernel_expr(g->skips[i], rows->tree))
				return false;
	}
	return true;
}

/* The piece, and NULL where it is not wanted, as one CASE for the kernel. */
static struct expr *guarded(struct cutter *c, const struct guard *g, struct expr *piece)
{
	struct expr *null = expr_new(c->arena, EXPR_NULL, piece->span), *e;

	for (; g; g = g->outer) {
		e = expr_new(c->arena, EXPR_CASE, piece->span);
		e->args = arena_array(c->arena, struct expr *, 2 * g->n_skips + 3);
		for (u32 i = 0; i < g->n_skips; i++) {
			e->args[e->n_args++] = g->skips[i];
			e->args[e->n_args++] = null;
		}
		if (g->only)
			e->args[e->n_args++] = g->only;
		e->args[e->n_args++] = piece;
		if (g->only)
			e->args[e->n_args++] = null;
		expr_infer(e);
		e->type = piece->type;
		piece = e;
	}
	return piece;
}

static bool is_leaf(const struct expr *e)
{
	/* Which branch of a union it is, only the event's program knows. */
	return e->kind == EXPR_MEMBER || e->kind == EXPR_UNION || e->n_args == 0;
}

/* The whole expression as a column of the rows, or NULL: in pieces. */
static struct expr *take_whole(struct cutter *c, struct expr *e, const struct guard *outer)
{
	struct rows *rows = cut_rows_of(c, e);
	struct expr *piece = e;

	if (!rows)
		return NULL;
	/* Without a partner only the columns are NULL: x IS NULL, CASE, ... are not. */
	if (rows->is_nullable && !is_leaf(e) && !expr_is_strict(e))
		return NULL;
	if (expr_can_fault(e, rows->tree) && (outer || rows->is_outer || c->is_guarded)) {
		bool is_kernels = !rows->is_outer && !c->is_guarded && type_is_word(e->type) &&
				  is_guard_of(outer, rows);

		if (!is_kernels && !is_leaf(e))
			return NULL;
		if (is_kernels)
			piece = guarded(c, outer, e);
	}
	return column_ref(c, rows, e, cut_rows_column(c, rows, piece));
}

static struct expr *take(struct cutter *c, struct expr *e, const struct guard *outer);

/* Each arm is wanted where its WHEN is true and none before it was. */
static void take_case(struct cutter *c, struct expr *copy, struct expr *const *args,
		      const struct guard *outer)
{
	struct expr **skips = arena_array(c->arena, struct expr *, copy->n_args);
	u32 n = 0;

	for (u32 i = 0; i < copy->n_args; i++) {
		struct guard g = { outer, skips, n, i % 2 ? args[i - 1] : NULL };

		/* The first WHEN is computed for every row. */
		copy->args[i] = take(c, args[i], i ? &g : outer);
		if (i % 2)
			skips[n++] = args[i - 1];
	}
}

/* b in a AND b, a OR b is not wanted where a alone decides: not where it is NULL. */
static void take_and_or(struct cutter *c, struct expr *copy, struct expr *const *args,
			const struct guard *outer)
{
	struct expr *skip = args[0];
	struct guard g = { outer, &skip, 1, NULL };

	if (copy->op == OP_AND) {
		skip = expr_new(c->arena, EXPR_OP, args[0]->span);
		skip->op = OP_NOT;
		skip->args = arena_array(c->arena, struct expr *, 1);
		skip->args[skip->n_args++] = args[0];
		expr_infer(skip);
	}
	copy->args[0] = take(c, args[0], outer);
	copy->args[1] = take(c, args[1], &g);
}

static struct expr *take(struct cutter *c, struct expr *e, const struct guard *outer)
{
	struct expr *copy = expr_is_constant(e) ? e : take_whole(c, e, outer);
	struct rows *rows;

	if (copy)
		return copy;
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM) {
		rows = rows_of(c, e);
		BUG_ON(!rows || !rows->file);
		return file_column(c, rows, e);
	}
	if (!e->n_args)
		return e;
	copy = arena_new(c->arena, struct expr);
	*copy = *e;
	copy->args = arena_array(c->arena, struct expr *, e->n_args);
	if (e->kind == EXPR_CASE)
		take_case(c, copy, e->args, outer);
	else if (e->kind == EXPR_OP && (e->op == OP_AND || e->op == OP_OR))
		take_and_or(c, copy, e->args, outer);
	else
		for (u32 i = 0; i < e->n_args; i++)
			copy->args[i] = take(c, e->args[i], outer);
	return copy;
}

struct expr *cut_take(struct cutter *c, struct expr *e)
{
	const struct guard filter = { .only = c->only };

	return take(c, e, c->only ? &filter : NULL);
}

/* --- Plans of parts --- */

static struct plan *plan_over(struct cutter *c, enum plan_kind kind, const struct plan *input)
{
	struct plan *p = arena_new(c->arena, struct plan);

	p->kind = kind;
	p->input = (struct plan *)input;
	p->span = c->query->plan->span;
	p->limit.count = -1;
	return p;
}

static const char *text_of(struct cutter *c, const struct expr *const *exprs, u32 n)
{
	struct buf text;

	buf_init_in(&text, c->arena);
	for (u32 i = 0; i < n; i++) {
		buf_puts(&text, i ? " AND " : "");
		expr_print(exprs[i], &text);
	}
	return text.at;
}

static const char *item_name(struct cutter *c, const struct expr *e)
{
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM)
		return e->name;
	return text_of(c, &e, 1);
}

static void finish(struct cutter *c, struct rows *rows)
{
	struct cut_part *part = &c->parts.at[rows->part];
	u32 n = rows->items.n;
	struct plan *project;

	project = plan_over(c, PLAN_PROJECT, rows->tree);
	if (rows->where.n) {
		struct plan *filter = plan_over(c, PLAN_FILTER, rows->tree);

		filter->filter.conjuncts = rows->where.at;
		filter->filter.n_conjuncts = rows->where.n;
		project->input = filter;
		part->where = text_of(c, (const struct expr *const *)rows->where.at, rows->where.n);
	}
	project->project.items = arena_array(c->arena, struct item, n);
	project->project.n_items = part->columns.n_columns = n;
	part->columns.columns = arena_array(c->arena, struct column, n);
	for (u32 i = 0; i < n; i++) {
		struct expr *e = rows->items.at[i];
		const char *name = i || !rows->has_time ? item_name(c, e) : "time";

		project->project.items[i] = (struct item){ .name = name, .expr = e };
		part->columns.columns[i] = (struct column){ name, e->type };
	}
	part->plan = project;
	cut_note_scans(rows->tree, part);
	part->is_kernel = c->settings->pushdown && !part->has_files;
	part->has_time = rows->has_time;
	part->reason = cut_reason_text(part->has_files		? CUT_RECORDED
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

static const char *aggregate_text(struct cutter *c, const struct aggregate *a)
{
	struct buf text;

	buf_init_in(&text, c->arena);
	buf_printf(&text, "%s%s(", aggregate_infos[a->kind].name, a->is_ladder ? "s" : "");
	if (a->arg)
		expr_print(a->arg, &text);
	else
		buf_putc(&text, '*');
	buf_putc(&text, ')');
	return text.at;
}

/* A quantile comes with its bounds. */
static struct type aggregate_type(const struct aggregate *a)
{
	if (!cut_is_quantile(a))
		return a->type;
	return (struct type){ .kind = TYPE_QUANTILE, .of = a->arg->type.kind };
}

/* What several selects read is one part. */
u32 cut_groups_part(struct cutter *c, const struct plan *plan, enum cut_reason reason)
{
	const struct plan_aggregate *a = &plan->aggregate;
	struct column *columns = arena_array(c->arena, struct column, a->n_keys + a->n);
	u32 n = 0, part;

	for (u32 i = 0; i < c->groups.n; i++)
		if (c->groups.at[i].plan == plan)
			return c->groups.at[i].part;
	for (u32 i = 0; i < a->n_keys; i++)
		columns[n++] = (struct column){ a->keys[i].name, a->keys[i].expr->type };
	for (u32 i = 0; i < a->n; i++)
		columns[n++] = (struct column){ aggregate_text(c, &a->list[i]),
						aggregate_type(&a->list[i]) };
	part = cut_part_add(c, (struct cut_part){ .kind = PART_GROUPS,
						  .plan = (struct plan *)plan,
						  .columns = { n, columns },
						  .is_kernel = true,
						  .has_streams = true,
						  .reason = cut_reason_text(reason),
						  .span = plan->span });
	vec_push(c->arena, &c->groups, (struct groups){ plan, part });
	return part;
}
