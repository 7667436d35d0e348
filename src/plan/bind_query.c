/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A select of any kind -> the chain of operators that plan.h tells, and what a
 * select is where it stands for a value or a relation.  A select that only chooses
 * and computes over rows of streams is opened: its FROM and WHERE go into the tree of
 * the one that reads it, its items are columns.
 */
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "plan/bind.h"

#define DEPTH_MAX 64u
/* An item larger than that is computed once, by a select of its own. */
#define OPENED_NODES_MAX 500u

/* --- Aggregates and groups --- */

/* --- One select --- */

static void find_other(void *context, struct expr *e)
{
	bool *has_other = context;

	*has_other |= e->plan || e->kind == EXPR_COLUMN || e->kind == EXPR_OVER ||
		      e->kind == EXPR_KEY || e->kind == EXPR_AGGREGATE;
}

/* Does it read but columns of these rows: no outer select's, no sub-query? */
static bool is_of_rows(const struct expr *e, const struct plan *rows)
{
	bool has_other = false;

	expr_each((struct expr *)e, find_other, &has_other);
	return !has_other && (expr_is_of(e, rows) || !expr_reads(e));
}

static bool can_open(struct scope *scope, const struct expr *where, const struct item *items, u32 n)
{
	const struct ast_select *s = scope->select;

	if (s->is_distinct || s->order_by.n || s->limit || s->offset || scope->overs.n ||
	    scope->has_unnest || !s->from || !plan_is_rows(scope->from) ||
	    !bind_has_times(scope, scope->from))
		return false;
	if (where && (where->is_user_only || !is_of_rows(where, scope->from)))
		return false;
	for (u32 i = 0; i < n; i++)
		if (items[i].expr->n_nodes > OPENED_NODES_MAX ||
		    !is_of_rows(items[i].expr, scope->from))
			return false;
	return true;
}

static struct plan *aggregate_new(struct scope *scope, struct plan *input)
{
	const struct query_window *w = &scope->shared->window;
	struct plan *p = bind_plan_new(scope, PLAN_AGGREGATE, input);

	p->aggregate.number = bind_number(scope);
	p->aggregate.keys = scope->keys.at;
	p->aggregate.n_keys = scope->keys.n;
	p->aggregate.list = scope->aggregates.at;
	p->aggregate.n = scope->aggregates.n;
	if (w->kind != WINDOW_TUMBLING && w->kind != WINDOW_HOPPING)
		return p;
	p->aggregate.window = w->kind;
	p->aggregate.window_ns = w->size;
	p->aggregate.advance_ns = w->kind == WINDOW_HOPPING ? w->advance : 0;
	return p;
}

/* What is above FROM and WHERE, bound but not yet lifted. */
struct upper {
	item_vec items;
	struct expr *having;
	struct sort_key *sort;
	u32 n_sort;
	bool is_aggregated;
	bool is_latest; /* one row a group by itself: DISTINCT says no more */
};

/* An item that is a sub-query, as it is bound already: it is read once.  NULL: it is none. */
static struct expr *bound_item(const struct scope *scope, const struct upper *u,
			       const struct ast *ast)
{
	const struct ast_select *s = scope->select;

	for (u32 i = 0; i < s->items.n && u->items.n == s->items.n; i++)
		if (s->items.at[i].expr == ast && u->items.at[i].expr->kind == EXPR_SUBQUERY)
			return u->items.at[i].expr;
	return NULL;
}

static bool bind_sort_keys(struct scope *scope, struct upper *u)
{
	const struct ast_select *s = scope->select;

	u->sort = arena_array(scope->arena, struct sort_key, s->order_by.n);
	for (u32 i = 0; i < s->order_by.n; i++) {
		const struct ast *ast = s->order_by.at[i].expr;
		struct expr *e = NULL;

		/* Items, those of * too, by their number. */
		if (ast->kind == AST_INTEGER && ast->integer >= 1 && ast->integer <= u->items.n)
			e = u->items.at[ast->integer - 1].expr;
		else
			ast = bind_resolve_item(scope, ast, "ORDER BY");
		if (!e && ast && ast != s->order_by.at[i].expr)
			e = bound_item(scope, u, ast);
		if (!e && ast)
			e = bind_expr(scope, ast);
		if (!e)
			return false;
		u->sort[u->n_sort++] = (struct sort_key){ e, s->order_by.at[i].is_descending,
							  s->order_by.at[i].nulls };
	}
	return true;
}

static bool check_clauses(struct scope *scope, const struct upper *u)
{
	const struct ast_select *s = scope->select;

	if (s->having && !u->is_aggregated)
		return diag_refuse(scope->diags, "having-here", s->having->span,
				   "HAVING chooses among groups, and there are none" HINT
				   "put the condition into WHERE");
	if (scope->has_unnest && s->is_distinct)
		return diag_refuse(scope->diags, "unnest-here", s->span,
				   "UNNEST() and DISTINCT do not go together" HINT
				   "SELECT comm, UNNEST(histogram(latency)) ... GROUP BY comm");
	for (u32 i = 0; u->is_aggregated && i < s->items.n; i++)
		if (s->items.at[i].expr->kind == AST_STAR)
			return diag_refuse(scope->diags, "star-here", s->items.at[i].expr->span,
					   "* has no meaning in a query with aggregates" HINT
					   "name the group keys");
	return true;
}

/* SELECT DISTINCT a, b ... GROUP BY a: what is no key is that of the group's latest row. */
static void take_latest(struct scope *scope, struct upper *u)
{
	for (u32 i = 0; i < u->items.n; i++) {
		struct expr *e = u->items.at[i].expr;
		struct aggregate a = { .kind = AGGREGATE_LAST, .arg = e, .span = e->span };
		bool is_key = false;

		for (u32 k = 0; k < scope->keys.n; k++)
			is_key |= expr_equal(e, scope->keys.at[k].expr);
		if (is_key || !plan_is_rows(scope->from))
			continue;
		a.time = bind_time_of(scope, scope->from, e->span);
		a.keeps_null = e->nullable;
		u->items.at[i].expr = bind_aggregate_ref(scope, a);
		u->is_latest = true;
	}
}

/* By its own words; quantile(h, q) of a histogram, which only its type tells, is none. */
static bool is_grouped(const struct ast_select *s)
{
	bool is_grouped = s->group_by.n || bind_has_aggregate(s->having);

	for (u32 i = 0; i < s->items.n; i++)
		is_grouped |= bind_has_aggregate(s->items.at[i].expr);
	for (u32 i = 0; i < s->order_by.n; i++)
		is_grouped |= bind_has_aggregate(s->order_by.at[i].expr);
	return is_grouped;
}

static bool bind_upper(struct scope *scope, struct upper *u)
{
	const struct ast_select *s = scope->select;

	scope->is_grouped = is_grouped(s);
	if (!bind_keys(scope) || !bind_items(scope, &u->items))
		return false;
	if (s->having) {
		u->having = bind_condition(scope, s->having, "HAVING");
		if (!u->having)
			return false;
	}
	if (!s->compound.n && !bind_sort_keys(scope, u))
		return false;
	u->is_aggregated = scope->keys.n || scope->aggregates.n;
	if (s->is_distinct && s->group_by.n && !s->having && !scope->aggregates.n &&
	    !scope->overs.n)
		take_latest(scope, u);
	return check_clauses(scope, u);
}

static struct plan *add_upper(struct scope *scope, struct plan *p, struct upper *u)
{
	const struct ast_select *s = scope->select;

	if (u->is_aggregated)
		p = aggregate_new(scope, p);
	if (u->having)
		p = bind_filter_new(scope, p, u->having);
	if (scope->overs.n) {
		p = bind_plan_new(scope, PLAN_OVER, p);
		p->over.list = scope->overs.at;
		p->over.n = scope->overs.n;
		p->over.number = scope->over_number;
	}
	p = bind_plan_new(scope, PLAN_PROJECT, p);
	p->project.items = u->items.at;
	p->project.n_items = u->items.n;
	if (s->is_distinct && !u->is_latest)
		p = bind_plan_new(scope, PLAN_DISTINCT, p);
	if (!s->compound.n)
		p = bind_add_order(scope, p, u->sort, u->n_sort);
	return p && u->is_aggregated && !bind_lift(scope, p) ? NULL : p;
}

bool bind_arm(struct scope *scope, struct arm *ret_arm)
{
	const struct ast_select *s = scope->select;
	struct expr *where = NULL;
	struct upper u = { 0 };
	struct plan *p;

	scope->is_windowed = scope->shared->is_windowed;
	if (!bind_take_window(scope))
		return false;
	p = s->from ? bind_from(scope, s->from) : bind_plan_new(scope, PLAN_ONE, NULL);
	if (!p)
		return false;
	scope->from = p;
	if (s->where) {
		scope->no_aggregates_in = "WHERE";
		where = bind_condition(scope, s->where, "WHERE");
		scope->no_aggregates_in = NULL;
	}
	if (where)
		p = bind_filter_new(scope, p, where);
	if (!bind_upper(scope, &u) || diags_failed(scope->diags))
		return false;
	ret_arm->is_open = !u.is_aggregated && can_open(scope, where, u.items.at, u.items.n);
	p = bind_runnings_new(scope, p);
	ret_arm->rows = (struct derived){ p, u.items.at, u.items.n };
	ret_arm->chain = add_upper(scope, p, &u);
	return ret_arm->chain != NULL;
}

/* --- Selects within the query --- */

static bool bind_whole_select(struct scope *scope, struct arm *ret_arm)
{
	bool is_good;

	if (scope->shared->depth >= DEPTH_MAX)
		return diag_refuse(scope->diags, "too-deep", scope->select->span,
				   "these selects nest too deep");
	scope->shared->depth++;
	bind_ctes(scope);
	is_good = scope->select->compound.n ? bind_arms(scope, ret_arm) : bind_arm(scope, ret_arm);
	scope->shared->depth--;
	return is_good && !diags_failed(scope->diags);
}

struct plan *bind_nested(struct scope *scope, const struct scope *inner,
			 const struct ast_select *select, const char *name, const char *written,
			 bool is_named)
{
	struct bind_shared *shared = scope->shared;
	struct scope own = bind_scope(inner, select);
	struct arm arm = { 0 };

	own.outer = scope->outer;
	if (select->options.n) {
		bind_refuse(scope, select->span, "WITH (...) in a nested select is");
		return NULL;
	}
	for (u32 i = 0; is_named && i < shared->selects.n; i++)
		if (shared->selects.at[i].select == select &&
		    shared->selects.at[i].ctes == inner->ctes)
			return bind_derived_new(scope, shared->selects.at[i].plan, name, written,
						select->span);
	if (!bind_whole_select(&own, &arm))
		return NULL;
	if (!arm.is_open && is_named)
		vec_push(scope->arena, &shared->selects,
			 (struct bound_select){ select, inner->ctes, arm.chain });
	if (!arm.is_open)
		return bind_derived_new(scope, arm.chain, name, written, select->span);
	vec_push(scope->arena, &scope->members,
		 (struct from_member){ .name = name,
				       .written = written,
				       .tree = arm.rows.tree,
				       .columns = arm.rows.columns,
				       .n_columns = arm.rows.n_columns });
	return arm.rows.tree;
}

/* The same for the same text: a group's key is known again in the items. */
static u32 number_of_text(struct scope *scope, const struct ast *ast)
{
	struct bound_text t = { .first_member = scope->first_member,
				.n_members = scope->members.n };
	struct buf text;

	buf_init_in(&text, scope->arena);
	sql_print_expr(ast, &text);
	t.text = text.at;
	for (u32 i = 0; i < scope->subqueries.n; i++) {
		const struct bound_text *at = &scope->subqueries.at[i];

		if (at->first_member == t.first_member && at->n_members == t.n_members &&
		    strcmp(at->text, t.text) == 0)
			return at->number;
	}
	t.number = ++scope->shared->n_subqueries;
	vec_push(scope->arena, &scope->subqueries, t);
	return t.number;
}

struct expr *bind_subquery(struct scope *scope, const struct ast *ast)
{
	struct scope inner = bind_scope(scope, ast->select);
	struct expr *x = NULL, *e;
	struct arm arm = { 0 };
	item_vec columns = { 0 };

	if (ast->kind == AST_IN_SELECT) {
		x = bind_expr(scope, ast->args[0]);
		if (!x)
			return NULL;
	}
	inner.outer = scope;
	if (!bind_whole_select(&inner, &arm))
		return NULL;
	bind_output(&inner, arm.chain, 0, ast->span, &columns);
	if (ast->kind != AST_EXISTS && columns.n != 1)
		return diag_refuse(
			scope->diags, "wrong-arguments", ast->span,
			"a select that stands for a value has one column, this has %u" HINT
			"SELECT only what is compared",
			columns.n);
	if (x && !bind_fits(scope, "IN", ast->span, x, columns.at[0].expr))
		return NULL;
	e = expr_new(scope->arena,
		     ast->kind == AST_SUBQUERY ? EXPR_SUBQUERY
		     : ast->kind == AST_EXISTS ? EXPR_EXISTS
					       : EXPR_IN_SELECT,
		     ast->span);
	e->plan = arm.chain;
	e->subquery = number_of_text(scope, ast);
	e->type = type_bool();
	e->hi = 1;
	e->is_user_only = true;
	e->nullable = ast->kind != AST_EXISTS;
	if (x) {
		e->args = arena_array(scope->arena, struct expr *, 1);
		e->args[0] = x;
		e->n_args = 1;
	}
	if (ast->kind == AST_SUBQUERY) {
		e->type = columns.at[0].expr->type;
		e->lo = columns.at[0].expr->lo;
		e->hi = columns.at[0].expr->hi;
		return e;
	}
	return ast->negated ? bind_op(scope, OP_NOT, ast->span, e, NULL) : e;
}

/* --- The query --- */

static bool check_reads(struct scope *scope)
{
	if (scope->shared->scans.n || scope->shared->n_relations)
		return true;
	return diag_refuse(scope->diags, "missing-from", scope->select->span,
			   "the query reads from no stream" HINT
			   "add FROM tracepoint:CATEGORY:NAME; \"ebql list\" shows them");
}

/* COUNT ... PER CPU goes by a column of the rows. */
static bool find_cpu(struct scope *scope)
{
	struct query_window *w = &scope->shared->window;
	const char *parts[] = { "cpu" };
	struct span spans[] = { w->span };
	struct ast name = {
		.kind = AST_NAME, .span = w->span, .parts = parts, .part_spans = spans, .n_parts = 1
	};

	if (w->kind != WINDOW_COUNT || w->scope != COUNT_PER_CPU || scope->members.n != 1)
		return true;
	if (bind_is_column(scope, "cpu"))
		w->cpu = bind_name(scope, &name);
	if (w->cpu)
		return true;
	return diag_refuse(scope->diags, "unknown-column", w->span,
			   "the rows have no column \"cpu\", which PER CPU goes by" HINT
			   "record it too: SELECT time, cpu, ...");
}

static bool has_select(const struct plan *from)
{
	const struct plan *below;

	if (plan_reads_selects(from))
		return true;
	for (u32 i = 0; (below = plan_child(from, i)); i++)
		if (has_select(below))
			return true;
	return false;
}

/* Sessions, and windows of a CPU's or a group's own rows, are of the rows that the outermost
 * select reads. */
static bool check_own_windows(struct scope *scope, const struct plan *chain)
{
	const struct query_window *w = &scope->shared->window;

	if ((w->kind != WINDOW_SESSION && (w->kind != WINDOW_COUNT || w->scope == COUNT_GLOBAL)) ||
	    !has_select(plan_rows(chain)))
		return true;
	return diag_refuse(scope->diags, "not-supported", w->span,
			   "this kind of window is one stream's, and these are rows of selects" HINT
			   "a view or a nested select of UNION ALL is one stream, too");
}

struct plan_query *plan_bind_query(const struct ast_select *select,
				   const struct plan_context *context, struct diags *diags)
{
	struct bind_shared shared = { .views = context->views, .context = context };
	struct scope scope = { .arena = context->arena,
			       .diags = diags,
			       .catalog = context->catalog,
			       .settings = context->settings,
			       .shared = &shared,
			       .n_views = context->n_views,
			       .select = select };
	struct plan_query *query = arena_new(context->arena, struct plan_query);
	struct arm arm = { 0 };

	scope.settings->n_bindings++;
	for (u32 i = 0; i < select->options.n; i++)
		settings_set(scope.settings, &select->options.at[i], diags);
	if (!bind_find_window(&scope, select) || !bind_whole_select(&scope, &arm) ||
	    !check_reads(&scope) || !check_own_windows(&scope, arm.chain) || !find_cpu(&scope) ||
	    diags_failed(diags))
		return NULL;
	bind_name_scans(&scope, arm.chain);
	*query = (struct plan_query){ .plan = arm.chain,
				      .window = shared.window,
				      .n_sources = shared.scans.n,
				      .n_relations = shared.n_relations,
				      .n_aggregates = shared.n_aggregates,
				      .n_overs = shared.n_overs };
	for (u32 i = 0; i < shared.scans.n; i++)
		query->has_streams |=
			shared.scans.at[i]->scan.streams->streams.at[0]->kind != STREAM_FILE;
	return query;
}
