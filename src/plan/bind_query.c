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

u32 bind_number(struct scope *scope)
{
	if (!scope->has_number)
		scope->number = scope->shared->n_aggregates++;
	scope->has_number = true;
	return scope->number;
}

struct lift {
	struct scope *scope;
	bool is_bad;
};

static struct expr *lift_outer(struct lift *lift, struct expr *e);

static void lift_slot(void *context, struct expr **e)
{
	struct lift *lift = context;

	*e = lift_outer(lift, *e);
}

static void lift_plan(void *context, struct plan *p)
{
	plan_each_expr(p, lift_slot, context);
}

/* In a sub-query only what reads the outer select's own rows is lifted. */
static struct expr *lift_outer(struct lift *lift, struct expr *e)
{
	struct expr *lifted;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_MEMBER ||
	    e->kind == EXPR_COLUMN || e->kind == EXPR_UNION || e->kind == EXPR_RUNNING) {
		lifted = bind_lift(lift->scope, e);
		lift->is_bad |= !lifted;
		return lifted ? lifted : e;
	}
	if (e->plan)
		plan_each(e->plan, lift_plan, lift);
	for (u32 i = 0; i < e->n_args; i++)
		e->args[i] = lift_outer(lift, e->args[i]);
	return e;
}

bool bind_lift_subquery(struct scope *scope, struct expr *e)
{
	struct lift lift = { .scope = scope };

	plan_each(e->plan, lift_plan, &lift);
	return !lift.is_bad;
}

static bool lift_list(struct scope *scope, struct expr **list, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		list[i] = bind_lift(scope, list[i]);
		if (!list[i])
			return false;
	}
	return true;
}

/* Window functions of groups run over groups. */
static bool lift_over(struct scope *scope, struct over *o)
{
	struct aggregate *a = o->aggregate;
	struct expr **slots[] = { a ? &a->arg : NULL, a ? &a->filter : NULL,
				  a ? &a->weight : NULL };

	for (u32 i = 0; i < ARRAY_SIZE(slots); i++)
		if (slots[i] && *slots[i] && !lift_list(scope, slots[i], 1))
			return false;
	for (u32 i = 0; i < o->n_order; i++)
		if (!lift_list(scope, &o->order[i].expr, 1))
			return false;
	return lift_list(scope, o->args, o->n_args) &&
	       lift_list(scope, o->partition, o->n_partition);
}

/* --- Columns of a select --- */

static const struct plan *project_of(const struct plan *chain)
{
	while (chain->kind == PLAN_LIMIT || chain->kind == PLAN_SORT ||
	       chain->kind == PLAN_DISTINCT)
		chain = chain->input;
	return chain;
}

static struct expr *output_column(struct scope *scope, const char *name, u32 relation, u32 index,
				  const struct expr *of, struct span span)
{
	struct expr *e = expr_new(scope->arena, EXPR_COLUMN, span);

	e->name = name;
	e->source = relation;
	e->index = index;
	e->type = of->type;
	e->lo = of->lo;
	e->hi = of->hi;
	e->nullable = true;
	e->is_user_only = true;
	e->is_quantile = of->is_quantile;
	return e;
}

/* lo, hi, count of a histogram's cells; value, weight, error of top_k()'s rows. */
static void push_cells(struct scope *scope, const struct item *item, u32 relation, struct span span,
		       item_vec *columns)
{
	struct column cells[3];

	plan_unnest_columns(item->name, item->expr->type, scope->arena, cells);
	for (u32 i = 0; i < 3; i++) {
		struct expr of = { .type = cells[i].type };

		if (type_is_word(of.type)) {
			of.lo = type_min(of.type);
			of.hi = type_max(of.type);
		}
		vec_push(scope->arena, columns,
			 (struct item){ cells[i].name, output_column(scope, cells[i].name, relation,
								     columns->n, &of, span) });
	}
}

void bind_output(struct scope *scope, const struct plan *chain, u32 relation, struct span span,
		 item_vec *ret_columns)
{
	const struct plan *p = project_of(chain);

	for (u32 i = 0; p->kind == PLAN_SET && i < p->set.n_columns; i++)
		vec_push(scope->arena, ret_columns,
			 (struct item){ p->set.columns[i].name,
					output_column(scope, p->set.columns[i].name, relation, i,
						      p->set.columns[i].expr, span) });
	for (u32 i = 0; i < p->project.n_items; i++) {
		const struct item *item = &p->project.items[i];

		if (item->is_unnest)
			push_cells(scope, item, relation, span, ret_columns);
		else
			vec_push(scope->arena, ret_columns,
				 (struct item){ item->name,
						output_column(scope, item->name, relation,
							      ret_columns->n, item->expr, span) });
	}
}

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

/* Files without times are tables: what is computed of them is no rows of a stream. */
bool bind_has_times(struct scope *scope, const struct plan *rows)
{
	source_vec triggers = { 0 };

	bind_triggers(scope->arena, rows, &triggers);
	for (u32 i = 0; i < triggers.n; i++) {
		const struct plan *scan = scope->shared->scans.at[triggers.at[i]];
		const struct stream *s = scan->scan.streams->streams.at[0];

		if (s->kind == STREAM_FILE && s->file->time_column < 0)
			return false;
	}
	return true;
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
		if (!e && ast)
			e = bind_expr(scope, ast);
		if (!e)
			return false;
		u->sort[u->n_sort++] = (struct sort_key){ e, s->order_by.at[i].is_descending,
							  s->order_by.at[i].nulls };
	}
	return true;
}

static bool refuse_having(struct scope *scope)
{
	diag_hint(scope->diags,
		  diag_error(scope->diags, "having-here", scope->select->having->span,
			     "HAVING chooses among groups, and there are none"),
		  "put the condition into WHERE");
	return false;
}

static bool refuse_star(struct scope *scope, const struct ast *star)
{
	diag_hint(scope->diags,
		  diag_error(scope->diags, "star-here", star->span,
			     "* has no meaning in a query with aggregates"),
		  "name the group keys");
	return false;
}

static bool lift_upper(struct scope *scope, struct upper *u)
{
	const struct ast_select *s = scope->select;
	bool is_good = true;

	for (u32 i = 0; i < s->items.n; i++)
		if (s->items.at[i].expr->kind == AST_STAR)
			return refuse_star(scope, s->items.at[i].expr);
	/* The other items may have errors of their own to show. */
	for (u32 i = 0; i < u->items.n; i++)
		is_good &= lift_list(scope, &u->items.at[i].expr, 1);
	for (u32 i = 0; i < scope->overs.n; i++)
		is_good &= lift_over(scope, &scope->overs.at[i]);
	for (u32 i = 0; i < u->n_sort && is_good; i++)
		is_good = lift_list(scope, &u->sort[i].expr, 1);
	return is_good && (!u->having || lift_list(scope, &u->having, 1));
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

static bool check_unnest(struct scope *scope)
{
	if (!scope->has_unnest || !scope->select->is_distinct)
		return true;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "unnest-here", scope->select->span,
			     "UNNEST() and DISTINCT do not go together"),
		  "SELECT comm, UNNEST(histogram(latency)) ... GROUP BY comm");
	return false;
}

static bool bind_upper(struct scope *scope, struct upper *u)
{
	const struct ast_select *s = scope->select;

	scope->is_grouped = is_grouped(s);
	if (!bind_keys(scope) || !bind_items(scope, &u->items) || !check_unnest(scope))
		return false;
	if (s->having) {
		u->having = bind_condition(scope, s->having, "HAVING");
		if (!u->having)
			return false;
	}
	if (!s->compound.n && !bind_sort_keys(scope, u))
		return false;
	u->is_aggregated = scope->keys.n || scope->aggregates.n;
	if (s->having && !u->is_aggregated)
		return refuse_having(scope);
	if (s->is_distinct && s->group_by.n && !s->having && !scope->aggregates.n &&
	    !scope->overs.n)
		take_latest(scope, u);
	return !u->is_aggregated || lift_upper(scope, u);
}

struct plan *bind_add_limit(struct scope *scope, struct plan *p)
{
	if (!scope->select->limit && !scope->select->offset)
		return p;
	p = bind_plan_new(scope, PLAN_LIMIT, p);
	return bind_limit(scope, p) ? p : NULL;
}

struct plan *bind_add_sort(struct scope *scope, struct plan *p, struct sort_key *keys, u32 n)
{
	if (!n)
		return p;
	p = bind_plan_new(scope, PLAN_SORT, p);
	p->sort.keys = keys;
	p->sort.n_keys = n;
	return p;
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
	if (s->compound.n)
		return p;
	return bind_add_limit(scope, bind_add_sort(scope, p, u->sort, u->n_sort));
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
		p = bind_where(scope, p);
		where = p == scope->from ? NULL : p->filter.conjuncts[0];
	}
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

	if (scope->shared->depth >= DEPTH_MAX) {
		diag_error(scope->diags, "too-deep", scope->select->span,
			   "these selects nest too deep");
		return false;
	}
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
	vec_push(scope->arena, &scope->relations,
		 (struct relation){ .name = name,
				    .written = written,
				    .tree = arm.rows.tree,
				    .columns = arm.rows.columns,
				    .n_columns = arm.rows.n_columns });
	return arm.rows.tree;
}

/* The same for the same text: a group's key is known again in the items. */
static u32 number_of_text(struct scope *scope, const struct ast *ast)
{
	struct bound_text t = { .first_relation = scope->first_relation,
				.n_relations = scope->relations.n };
	struct buf text;

	buf_init_in(&text, scope->arena);
	sql_print_expr(ast, &text);
	t.text = text.at;
	for (u32 i = 0; i < scope->subqueries.n; i++) {
		const struct bound_text *at = &scope->subqueries.at[i];

		if (at->first_relation == t.first_relation && at->n_relations == t.n_relations &&
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
	if (ast->kind != AST_EXISTS && columns.n != 1) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "wrong-arguments", ast->span,
				     "a select that stands for a value has one column, this has %u",
				     columns.n),
			  "SELECT only what is compared");
		return NULL;
	}
	if (x && !bind_fits(scope, OP_EQ, ast->span, x, columns.at[0].expr))
		return NULL;
	e = expr_new(scope->arena,
		     ast->kind == AST_SUBQUERY ? EXPR_SUBQUERY
		     : ast->kind == AST_EXISTS ? EXPR_EXISTS
					       : EXPR_IN_SELECT,
		     ast->span);
	e->plan = arm.chain;
	e->subquery = number_of_text(scope, ast);
	e->type = (struct type){ .kind = TYPE_BOOL, .bits = 8 };
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
	diag_hint(scope->diags,
		  diag_error(scope->diags, "missing-from", scope->select->span,
			     "the query reads from no stream"),
		  "add FROM tracepoint:CATEGORY:NAME; \"ebql list\" shows them");
	return false;
}

/* COUNT ... PER CPU goes by a column of the rows. */
static bool find_cpu(struct scope *scope, struct plan *chain)
{
	struct query_window *w = &scope->shared->window;
	const char *parts[] = { "cpu" };
	struct span spans[] = { w->span };
	struct ast name = {
		.kind = AST_NAME, .span = w->span, .parts = parts, .part_spans = spans, .n_parts = 1
	};

	if (w->kind != WINDOW_COUNT || w->scope != COUNT_PER_CPU || scope->relations.n != 1)
		return true;
	if (bind_is_column(scope, "cpu"))
		w->cpu = bind_name(scope, &name);
	if (w->cpu)
		return true;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "unknown-column", w->span,
			     "the rows have no column \"cpu\", which PER CPU goes by"),
		  "record it too: SELECT time, cpu, ...");
	return false;
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
	    !check_reads(&scope) || !find_cpu(&scope, arm.chain) || diags_failed(diags))
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

struct plan *plan_bind(const struct ast_select *select, struct catalog *catalog,
		       struct settings *settings, struct view_list *views, struct arena *arena,
		       struct diags *diags)
{
	struct plan_context context = { .catalog = catalog,
					.settings = settings,
					.views = views,
					.n_views = UINT32_MAX,
					.arena = arena };
	struct plan_query *query = plan_bind_query(select, &context, diags);

	return query ? query->plan : NULL;
}
