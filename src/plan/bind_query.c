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

/* --- One select --- */

static bool can_open(struct scope *scope, const struct item *items, u32 n)
{
	const struct ast_select *s = scope->select;

	if (s->is_distinct || s->order_by.n || s->limit || s->offset || scope->overs.n ||
	    scope->has_unnest || !s->from || !plan_is_rows(scope->from) ||
	    !bind_has_times(scope, scope->from) || scope->is_where_of_user)
		return false;
	for (u32 i = 0; i < n; i++)
		if (items[i].expr->n_nodes > OPENED_NODES_MAX ||
		    !expr_is_within(items[i].expr, scope->from))
			return false;
	return true;
}

static struct plan *aggregate_new(struct scope *scope, struct plan *input)
{
	const struct query_window *w = &scope->shared->window;
	struct plan *p = plan_new(scope->arena, PLAN_AGGREGATE, scope->select->span, input);

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
		scope->item = ast;
		if (!e && ast)
			e = bind_expr(scope, ast);
		scope->item = NULL;
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
		bool is_of_group = e->kind == EXPR_OTHER || e->kind == EXPR_WINDOW_START ||
				   e->kind == EXPR_WINDOW_END;

		for (u32 k = 0; k < scope->keys.n; k++)
			is_of_group |= expr_equal(e, scope->keys.at[k].expr);
		if (is_of_group || !plan_is_rows(scope->from))
			continue;
		a.time = bind_time_of(scope, scope->from, e->span);
		a.keeps_null = e->nullable;
		u->items.at[i].expr = bind_aggregate_ref(scope, a);
		u->is_latest = true;
	}
}

static bool bind_upper(struct scope *scope, struct upper *u)
{
	const struct ast_select *s = scope->select;

	scope->is_grouped = bind_is_aggregated(s);
	if (!bind_keys(scope) || !bind_items(scope, &u->items))
		return false;
	if (s->having) {
		scope->no_overs_in = "HAVING";
		u->having = bind_condition(scope, s->having, "HAVING");
		scope->no_overs_in = NULL;
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
		p = plan_filter(scope->arena, p, &u->having, 1);
	if (scope->overs.n) {
		p = plan_new(scope->arena, PLAN_OVER, s->span, p);
		p->over.list = scope->overs.at;
		p->over.n = scope->overs.n;
		p->over.number = scope->over_number;
	}
	p = plan_new(scope->arena, PLAN_PROJECT, s->span, p);
	p->project.items = u->items.at;
	p->project.n_items = u->items.n;
	if (s->is_distinct && !u->is_latest)
		p = plan_new(scope->arena, PLAN_DISTINCT, s->span, p);
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

	if (!bind_take_window(scope))
		return false;
	p = s->from ? bind_from(scope, s->from) : plan_new(scope->arena, PLAN_ONE, s->span, NULL);
	if (!p)
		return false;
	scope->from = p;
	if (s->where) {
		scope->no_aggregates_in = "WHERE";
		where = bind_condition(scope, s->where, "WHERE");
		scope->no_aggregates_in = NULL;
	}
	p = plan_filter(scope->arena, p, &where, where != NULL);
	scope->is_where_of_user =
		where && (where->is_user_only || !expr_is_within(where, scope->from));
	if (!bind_upper(scope, &u) || diags_failed(scope->diags))
		return false;
	ret_arm->is_open = !u.is_aggregated && can_open(scope, u.items.at, u.items.n);
	p = bind_runnings_new(scope, p);
	ret_arm->tree = p;
	ret_arm->columns = u.items;
	ret_arm->chain = add_upper(scope, p, &u);
	return ret_arm->chain != NULL;
}

/* --- Selects within the query --- */

static bool bind_whole_select(struct scope *scope, struct arm *ret_arm)
{
	const struct ast_select *s = scope->select;
	bool is_good;

	if (scope->shared->depth >= DEPTH_MAX)
		return diag_refuse(scope->diags, "too-deep", s->span,
				   "these selects nest too deep");
	scope->shared->depth++;
	for (u32 i = 0; i < s->ctes.n; i++) {
		struct cte_list *list = arena_new(scope->arena, struct cte_list);

		*list = (struct cte_list){ &s->ctes.at[i], scope->ctes };
		scope->ctes = list;
	}
	is_good = s->compound.n ? bind_arms(scope, ret_arm) : bind_arm(scope, ret_arm);
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
	if (select->options.n)
		return bind_refuse(scope, select->span, "WITH (...) in a nested select is");
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
				       .tree = arm.tree,
				       .columns = arm.columns });
	return arm.tree;
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
	e = expr_ref(scope->arena,
		     ast->kind == AST_SUBQUERY ? EXPR_SUBQUERY
		     : ast->kind == AST_EXISTS ? EXPR_EXISTS
					       : EXPR_IN_SELECT,
		     ast->span, columns.at[0].expr, 0, 0);
	e->plan = arm.chain;
	e->subquery = number_of_text(scope, ast);
	if (ast->kind == AST_SUBQUERY)
		return e;
	e->type = type_bool();
	e->lo = 0;
	e->hi = 1;
	e->nullable = x != NULL;
	if (x) {
		e->args = arena_array(scope->arena, struct expr *, 1);
		e->args[0] = x;
		e->n_args = 1;
	}
	return e;
}

/* --- The query --- */

/* Without FROM there is one row, and nothing to count. */
static bool check_reads(struct scope *scope)
{
	const struct ast_select *s = scope->select;

	if (scope->shared->scans.n || scope->shared->n_relations ||
	    (!bind_is_aggregated(s) && scope->shared->window.kind == WINDOW_NONE))
		return true;
	return diag_refuse(scope->diags, "missing-from", scope->select->span,
			   "the query counts, or has a window, and reads from no stream" HINT
			   "add FROM tracepoint:CATEGORY:NAME; \"ebql list\" shows them");
}

/* COUNT ... PER CPU goes by a column of the rows. */
static bool find_cpu(struct scope *scope)
{
	struct query_window *w = &scope->shared->window;

	if (w->kind != WINDOW_COUNT || w->scope != COUNT_PER_CPU || scope->members.n != 1)
		return true;
	w->cpu = bind_bare(scope, "cpu", w->span);
	if (w->cpu || diags_failed(scope->diags))
		return true;
	return diag_refuse(scope->diags, "unknown-column", w->span,
			   "the rows have no column \"cpu\", which PER CPU goes by" HINT
			   "record it too: SELECT time, cpu, ...");
}

static void find_select(void *context, struct plan *p)
{
	*(bool *)context |= plan_reads_selects(p);
}

/* Sessions, and windows of a CPU's or a group's own rows, are of the rows that the outermost
 * select reads. */
static bool check_own_windows(struct scope *scope, const struct plan *chain)
{
	const struct query_window *w = &scope->shared->window;
	bool has_select = false;

	plan_each((struct plan *)plan_rows(chain), find_select, &has_select);
	if ((w->kind != WINDOW_SESSION && (w->kind != WINDOW_COUNT || w->scope == COUNT_GLOBAL)) ||
	    !has_select)
		return true;
	return diag_refuse(scope->diags, "not-supported", w->span,
			   "this kind of window is one stream's, and these are rows of selects" HINT
			   "a view or a nested select of UNION ALL is one stream, too");
}

/* A name before each column, where several streams are read. */
static void set_prefix(void *context, struct expr *e)
{
	const struct bind_shared *shared = context;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM)
		e->prefix = shared->scans.at[e->source]->scan.alias;
}

/* Scans of a query with several are told apart by their names, or by their numbers. */
static void name_scans(struct scope *scope, struct plan *p)
{
	struct bind_shared *shared = scope->shared;

	if (shared->scans.n < 2)
		return;
	for (u32 i = 0; i < shared->scans.n; i++) {
		bool is_unique = shared->scans.at[i]->scan.alias != NULL;

		for (u32 k = 0; k < shared->scans.n && is_unique; k++)
			is_unique = k == i || !shared->scans.at[k]->scan.alias ||
				    strcasecmp(shared->scans.at[k]->scan.alias,
					       shared->scans.at[i]->scan.alias) != 0;
		if (!is_unique)
			shared->scans.at[i]->scan.alias = arena_printf(scope->arena, "s%u", i);
	}
	plan_each_node(p, set_prefix, shared);
}

struct plan_query *plan_bind_query(const struct ast_select *select,
				   const struct plan_context *context, struct diags *diags)
{
	struct bind_shared shared = { .context = context };
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
	name_scans(&scope, arm.chain);
	*query = (struct plan_query){ .plan = arm.chain,
				      .window = shared.window,
				      .n_sources = shared.scans.n,
				      .n_relations = shared.n_relations,
				      .n_aggregates = shared.n_aggregates,
				      .n_overs = shared.n_overs };
	for (u32 i = 0; i < shared.scans.n; i++) {
		const struct stream *s = shared.scans.at[i]->scan.streams->streams.at[0];

		query->has_streams |= !stream_is_list(s);
		query->has_iterators |= s->kind == STREAM_ITERATOR;
	}
	return query;
}
