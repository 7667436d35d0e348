/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregation that stays in the kernel: a select as a whole; or its keys and aggregates,
 * under a SELECT list, HAVING or ORDER BY that only SQLite can do; or, for
 * count(DISTINCT x), finer groups, by x too, which SQLite puts together.
 */
#include <string.h>
#include <strings.h>

#include "cut/internal.h"

typedef VEC(struct ast_item) ast_item_vec;

static bool is_kernel_window(const struct cutter *c)
{
	return c->window.kind == AST_WINDOW_NONE || c->window.kind == AST_WINDOW_TUMBLING ||
	       c->window.kind == AST_WINDOW_HOPPING;
}

/* The select as a plan that aggregates in the kernel, or NULL. */
static struct plan *bind_groups(struct cutter *c, const struct ast_select *select)
{
	struct ast_select *copy = arena_new(c->arena, struct ast_select);
	struct plan_context context = cut_context(c);
	struct diags trial;
	struct plan *p;

	if (!c->is_kernel || !is_kernel_window(c) || !select->from)
		return NULL;
	*copy = *select;
	copy->window = c->window;
	copy->options.n = 0;
	copy->ctes.n = 0;
	if (c->ctes)
		copy->ctes = c->ctes->ctes;
	cut_trial(c, &trial);
	p = plan_bind_in(&context, copy, &trial);
	return p && plan_find(p, PLAN_AGGREGATE) && !cut_reads_files(p) ? p : NULL;
}

static struct type item_type(const struct plan *p, const struct item *item)
{
	const struct plan *agg = plan_find(p, PLAN_AGGREGATE);
	const struct aggregate *a;

	if (item->expr->kind != EXPR_AGGREGATE)
		return item->expr->type;
	a = &agg->aggregate.list[item->expr->index];
	if (a->kind == AGGREGATE_QUANTILE && a->part == QUANTILE_WHOLE && !a->is_ladder &&
	    !a->is_interpolated)
		return (struct type){ .kind = TYPE_QUANTILE, .of = a->arg->type.kind };
	return item->expr->type;
}

static void add_groups(struct cutter *c, struct plan *p, const struct ast_select *select,
		       const char *reason, struct relation *ret_relation)
{
	const struct plan *project = plan_find(p, PLAN_PROJECT);
	struct schema columns = { project->project.n_items,
				  arena_array(c->arena, struct column, project->project.n_items) };

	for (u32 i = 0; i < project->project.n_items; i++)
		columns.columns[i] = (struct column){ project->project.items[i].name,
						      item_type(p, &project->project.items[i]) };
	u32 part;

	part = cut_part_add(c,
			    (struct cut_part){ .kind = PART_GROUPS,
					       .plan = p,
					       .columns = columns,
					       .is_kernel = true,
					       .has_streams = true,
					       .reason = reason,
					       .span = select->span },
			    NULL);
	*ret_relation = (struct relation){ .columns = columns, .part = part };
	c->has_aggregate = true;
}

static bool has_unnest(const struct plan *p)
{
	const struct plan *project = plan_find(p, PLAN_PROJECT);

	for (u32 i = 0; i < project->project.n_items; i++)
		if (project->project.items[i].is_unnest)
			return true;
	return false;
}

/* Told apart they would be two programs, and windows that end some us apart. */
static bool same_select(const struct ast_select *a, const struct ast_select *b)
{
	const struct ast x = { .kind = AST_SUBQUERY, .select = (struct ast_select *)a };
	const struct ast y = { .kind = AST_SUBQUERY, .select = (struct ast_select *)b };

	return a == b || sql_expr_equal(&x, &y);
}

bool cut_groups(struct cutter *c, const struct ast_select *select, struct relation *ret_relation)
{
	struct ast_select *copy = arena_new(c->arena, struct ast_select);
	struct plan *p;

	if (select->compound.n && (select->order_by.n || select->limit))
		return false;
	for (u32 i = 0; i < c->groups.n; i++) {
		const struct shared_groups *shared = &c->groups.at[i];

		if (shared->select != select &&
		    (shared->ctes != c->ctes || shared->n_views != c->n_views ||
		     !same_select(shared->select, select)))
			continue;
		*ret_relation = c->groups.at[i].relation;
		return true;
	}
	*copy = *select;
	copy->compound.n = 0;
	p = bind_groups(c, copy);
	if (!p || has_unnest(p))
		return false;
	add_groups(c, p, select, "aggregated in the kernel, one row a group and window",
		   ret_relation);
	vec_push(c->arena, &c->groups,
		 (struct shared_groups){ select, c->ctes, c->n_views, *ret_relation });
	return true;
}

/* --- Keys and aggregates --- */

struct split {
	struct cutter *c;
	struct level *level;
	ast_item_vec items;
	VEC(struct replaced) replaced;
	const struct ast *distinct; /* x of count(DISTINCT x) */
	bool is_bad;
};

static void add_item(struct split *s, const struct ast *ast, const struct ast *item,
		     const struct aggregate_info *regroup)
{
	for (u32 i = 0; i < s->replaced.n; i++)
		if (sql_expr_equal(s->replaced.at[i].ast, ast))
			return;
	vec_push(s->c->arena, &s->replaced,
		 (struct replaced){ .ast = ast, .column = s->items.n, .regroup = regroup });
	vec_push(s->c->arena, &s->items,
		 (struct ast_item){ .expr = (struct ast *)item,
				    .alias = arena_printf(s->c->arena, "#%u", s->items.n) });
}

/* The aggregate whose finer groups SQLite can put together, or NULL. */
static const struct aggregate_info *regrouped(const struct ast *ast)
{
	struct aggregate_name name;

	return aggregate_find(ast->text, &name) && ast->n_args < 2 &&
			       aggregate_infos[name.kind].regroup
		       ? &aggregate_infos[name.kind]
		       : NULL;
}

static void take_aggregate(struct split *s, const struct ast *ast)
{
	/* Finer groups are those of the distinct values: they are counted. */
	static const struct aggregate_info distinct = { .regroup = "count" };

	if (!s->distinct) {
		s->is_bad |= ast->distinct;
		add_item(s, ast, ast, NULL);
	} else if (ast->distinct) {
		s->is_bad |= strcasecmp(ast->text, "count") != 0 || ast->n_args != 1 ||
			     ast->filter || !sql_expr_equal(ast->args[0], s->distinct);
		add_item(s, ast, s->distinct, &distinct);
	} else {
		s->is_bad |= !regrouped(ast);
		add_item(s, ast, ast, regrouped(ast));
	}
}

static void collect(struct split *s, const struct ast *ast, const struct ast **distinct)
{
	if (!ast)
		return;
	if (cut_is_aggregate(ast)) {
		if (distinct && ast->distinct && ast->n_args == 1)
			*distinct = ast->args[0];
		if (!distinct)
			take_aggregate(s, ast);
		return;
	}
	for (u32 i = 0; i < ast->n_args; i++)
		collect(s, ast->args[i], distinct);
	for (u32 i = 0; i < ast->n_partition_by; i++)
		collect(s, ast->partition_by[i], distinct);
	for (u32 i = 0; i < ast->n_order_by; i++)
		collect(s, ast->order_by[i].expr, distinct);
	collect(s, ast->otherwise, distinct);
	collect(s, ast->filter, distinct);
}

static void collect_all(struct split *s, const struct ast **distinct)
{
	const struct ast_select *select = s->level->select;

	for (u32 i = 0; i < select->items.n; i++)
		collect(s, select->items.at[i].expr, distinct);
	collect(s, select->having, distinct);
	for (u32 i = 0; i < select->order_by.n; i++)
		collect(s, select->order_by.at[i].expr, distinct);
}

/* GROUP BY names an item by its number or alias; a column of that name goes first. */
static const struct ast *key_of(struct split *s, struct rows_part *rows, const struct ast *ast)
{
	const struct ast_select *select = s->level->select;
	const struct ast_item *item = cut_alias(select, ast);
	struct type type;

	if (ast->kind == AST_INTEGER)
		return ast->integer >= 1 && ast->integer <= select->items.n
			       ? select->items.at[ast->integer - 1].expr
			       : NULL;
	if (item && cut_rows_column(s->c, rows, ast, NULL, &type) < 0)
		return item->expr;
	return ast;
}

bool cut_split(struct cutter *c, struct level *level, struct buf *from)
{
	const struct ast_select *select = level->select;
	struct ast_select *inner = arena_new(c->arena, struct ast_select);
	struct split s = { .c = c, .level = level };
	struct relation relation;
	struct rows_part *rows;
	struct diags trial;
	struct plan *p;

	if (!c->is_kernel || !is_kernel_window(c))
		return false;
	rows = cut_rows_of(c, select->from, select, &trial);
	if (!rows)
		return false;
	inner->span = select->span;
	inner->from = select->from;
	inner->where = select->where;
	collect_all(&s, &s.distinct);
	for (u32 i = 0; i < select->group_by.n; i++) {
		const struct ast *key = key_of(&s, rows, select->group_by.at[i]);

		if (!key)
			return false;
		add_item(&s, key, key, NULL);
		vec_push(c->arena, &inner->group_by, (struct ast *)key);
	}
	if (s.distinct)
		vec_push(c->arena, &inner->group_by, (struct ast *)s.distinct);
	collect_all(&s, NULL);
	if (s.is_bad || !s.items.n)
		return false;
	inner->items.at = s.items.at;
	inner->items.n = s.items.n;
	p = bind_groups(c, inner);
	if (!p)
		return false;
	add_groups(c, p, select,
		   s.distinct ? "aggregated in the kernel, by the distinct values too; SQLite puts "
				"the groups together"
			      : "keys and aggregates in the kernel; the rest needs SQLite",
		   &relation);
	relation.alias = arena_printf(c->arena, "t%u", c->n_aliases++);
	vec_push(c->arena, &level->relations, relation);
	level->replaced.at = s.replaced.at;
	level->replaced.n = s.replaced.n;
	level->is_split = true;
	level->is_regrouped = s.distinct != NULL;
	buf_printf(from, "w%u AS %s", relation.part, relation.alias);
	return true;
}

/* --- DISTINCT --- */

static struct ast *last_of(struct cutter *c, struct ast *ast)
{
	struct ast *call = arena_new(c->arena, struct ast);

	call->kind = AST_CALL;
	call->text = "last";
	call->text_bytes = 4;
	call->span = ast->span;
	call->args = arena_array(c->arena, struct ast *, 1);
	call->args[0] = ast;
	call->n_args = 1;
	return call;
}

bool cut_is_key(const struct ast_select *select, u32 i)
{
	for (u32 k = 0; k < select->group_by.n; k++) {
		const struct ast *key = select->group_by.at[k];

		if (sql_expr_equal(key, select->items.at[i].expr) ||
		    cut_alias(select, key) == &select->items.at[i] ||
		    (key->kind == AST_INTEGER && key->integer == i + 1))
			return true;
	}
	return false;
}

/*
 * SELECT DISTINCT a, b FROM s: one row for each a, b.  With GROUP BY a: one row for each
 * a, the latest event's.
 */
const struct ast_select *cut_distinct(struct cutter *c, const struct ast_select *select)
{
	struct ast_select *copy;
	struct rows_part *rows;
	struct ast_item *items;
	struct diags trial;

	if (!select->is_distinct || !select->from || select->compound.n)
		return select;
	for (u32 i = 0; i < select->items.n; i++)
		if (select->items.at[i].expr->kind == AST_STAR ||
		    cut_is_of_rows(select->items.at[i].expr))
			return select;
	rows = cut_rows_of(c, select->from, select, &trial);
	if (!rows)
		return select;
	copy = arena_new(c->arena, struct ast_select);
	*copy = *select;
	copy->is_distinct = false;
	copy->group_by.n = 0;
	items = arena_array(c->arena, struct ast_item, select->items.n);
	for (u32 i = 0; i < select->items.n; i++) {
		struct ast *expr = select->items.at[i].expr;
		bool is_key = !select->group_by.n || cut_is_key(select, i);

		items[i] = select->items.at[i];
		if (!is_key) {
			const struct expr *e = cut_rows_expr(c, rows, expr);

			/* last() skips NULLs: the values would be of several rows. */
			if (!e || e->nullable)
				return select;
			/* It keeps its name. */
			if (!items[i].alias)
				items[i].alias =
					expr->kind == AST_NAME
						? expr->parts[expr->n_parts - 1]
						: arena_strndup(c->arena,
								c->diags->text + expr->span.start,
								expr->span.end - expr->span.start);
			items[i].expr = last_of(c, expr);
		}
	}
	copy->items.at = items;
	copy->items.n = copy->items.capacity = select->items.n;
	memset(&copy->group_by, 0, sizeof(copy->group_by));
	for (u32 k = 0; k < select->group_by.n; k++)
		vec_push(c->arena, &copy->group_by, select->group_by.at[k]);
	/* A number would be taken for an item's, and makes no rows distinct. */
	for (u32 i = 0; !select->group_by.n && i < select->items.n; i++)
		if (select->items.at[i].expr->kind != AST_INTEGER)
			vec_push(c->arena, &copy->group_by, select->items.at[i].expr);
	return copy->group_by.n ? copy : select;
}
