/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One SELECT -> logical plan.  Rows are bound first; in a query with aggregates
 * the SELECT list, HAVING and ORDER BY are then lifted onto keys and aggregates.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

#define WINDOW_MIN_NS 1000000ull
#define WINDOW_MAX_NS (24ull * 3600 * 1000000000)

static struct plan *plan_new(struct scope *scope, enum plan_kind kind, struct plan *input)
{
	struct plan *p = arena_new(scope->arena, struct plan);

	p->kind = kind;
	p->input = input;
	p->span = scope->select->span;
	p->limit = -1;
	return p;
}

static bool refuse(struct scope *scope, struct span span, const char *what)
{
	diag_hint(scope->diags,
		  diag_error(scope->diags, "not-supported", span, "%s not available yet", what),
		  "see the manual for what this version can do");
	return false;
}

static bool check_supported(struct scope *scope)
{
	const struct ast_select *s = scope->select;

	if (!s->from) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "missing-from", s->span,
				     "the query reads from no stream"),
			  "add FROM tracepoint:CATEGORY:NAME; \"ebql list\" shows them");
		return false;
	}
	if (s->ctes.n)
		return refuse(scope, s->ctes.at[0].span, "WITH queries are");
	if (s->compound.n)
		return refuse(scope, s->compound.at[0].select->span, "UNION and the like are");
	if (s->is_distinct)
		return refuse(scope, s->span, "DISTINCT is");
	if (s->from->kind == AST_SOURCE_JOIN)
		return refuse(scope, s->from->span, "joins are");
	if (s->from->kind == AST_SOURCE_FILE)
		return refuse(scope, s->from->span, "reading files is");
	if (s->from->kind == AST_SOURCE_SELECT)
		return refuse(scope, s->from->span, "nested selects are");
	if (s->window.kind > AST_WINDOW_TUMBLING &&
	    !(s->window.kind == AST_WINDOW_HOPPING && s->window.size == s->window.advance))
		return refuse(scope, s->window.span, "this kind of window is");
	return true;
}

static bool check_window(struct scope *scope)
{
	const struct ast_window *w = &scope->select->window;
	struct span span = w->size_span.end ? w->size_span : w->span;
	const char *wrong = NULL;

	if (w->kind == AST_WINDOW_NONE)
		return true;
	if (w->overflow || w->size > WINDOW_MAX_NS)
		wrong = "longer than a day";
	else if (w->size == 0)
		wrong = "of no length";
	else if (w->size < WINDOW_MIN_NS)
		wrong = "shorter than a millisecond";
	if (!wrong)
		return true;
	diag_hint(
		scope->diags,
		diag_error(scope->diags, "bad-window", span, "a window %s is not possible", wrong),
		"from 1ms to 1d; without WINDOW a query counts until it ends");
	return false;
}

/* The item whose alias this name is, or NULL. */
static const struct ast_item *alias_find(struct scope *scope, const struct ast *ast)
{
	const struct ast_select *s = scope->select;

	if (ast->kind != AST_NAME || ast->n_parts != 1)
		return NULL;
	for (u32 i = 0; i < s->items.n; i++)
		if (s->items.at[i].alias && strcasecmp(s->items.at[i].alias, ast->parts[0]) == 0)
			return &s->items.at[i];
	return NULL;
}

/* Is the name a column of its own? */
static bool is_column(struct scope *scope, const struct ast *ast)
{
	if (bind_field(scope, ast->parts[0], ast->span))
		return true;
	for (int i = 0; i < SYS_N; i++)
		if (strcasecmp(system_columns[i].name, ast->parts[0]) == 0)
			return true;
	return false;
}

/* GROUP BY and ORDER BY may name items by number or by alias; else the expression itself. */
static const struct ast *resolve_item(struct scope *scope, const struct ast *ast,
				      const char *clause)
{
	const struct ast_select *s = scope->select;
	const struct ast_item *item;

	if (ast->kind == AST_INTEGER) {
		if (ast->integer >= 1 && ast->integer <= s->items.n &&
		    s->items.at[ast->integer - 1].expr->kind != AST_STAR)
			return s->items.at[ast->integer - 1].expr;
		diag_hint(scope->diags,
			  diag_error(scope->diags, "bad-ordinal", ast->span,
				     "%s %llu: the SELECT list has no such item", clause,
				     (unsigned long long)ast->integer),
			  "items count from 1 to %u", s->items.n);
		return NULL;
	}
	item = alias_find(scope, ast);
	if (item && (clause[0] == 'O' || !is_column(scope, ast)))
		return item->expr;
	return ast;
}

static bool bind_keys(struct scope *scope)
{
	const struct ast_select *s = scope->select;

	for (u32 i = 0; i < s->group_by.n; i++) {
		const struct ast *ast = resolve_item(scope, s->group_by.at[i], "GROUP BY");
		struct expr *e;

		if (!ast)
			return false;
		scope->no_aggregates_in = "GROUP BY";
		e = bind_expr(scope, ast);
		scope->no_aggregates_in = NULL;
		if (!e)
			return false;
		if (e->is_user_only || e->type.kind == TYPE_NULL)
			return refuse(scope, ast->span,
				      "this expression as a group key (it needs the user part) is");
		char *name = arena_strndup(
			scope->arena, scope->diags->text + s->group_by.at[i]->span.start,
			s->group_by.at[i]->span.end - s->group_by.at[i]->span.start);

		vec_push(scope->arena, &scope->keys, (struct item){ name, e });
	}
	return true;
}

static struct expr *ungrouped(struct scope *scope, const struct expr *e)
{
	struct diag *d =
		diag_error(scope->diags, "ungrouped-column", e->span,
			   "\"%s\" is neither a group key nor inside an aggregate", e->name);

	if (type_is_word(e->type))
		diag_hint(scope->diags, d, "add it to GROUP BY, or take min(%s) or max(%s)",
			  e->name, e->name);
	else
		diag_hint(scope->diags, d, "add it to GROUP BY");
	return NULL;
}

struct expr *bind_lift(struct scope *scope, struct expr *e)
{
	struct expr *r;

	if (!e)
		return NULL;
	for (u32 i = 0; i < scope->keys.n; i++) {
		if (!expr_equal(e, scope->keys.at[i].expr))
			continue;
		r = expr_new(scope->arena, EXPR_KEY, e->span);
		r->index = i;
		r->type = e->type;
		r->lo = e->lo;
		r->hi = e->hi;
		/* NULL in the "(other)" row. */
		r->nullable = true;
		return r;
	}
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_MEMBER)
		return ungrouped(scope, e);
	if (e->kind == EXPR_AGGREGATE || e->n_args == 0)
		return e;
	r = arena_new(scope->arena, struct expr);
	*r = *e;
	r->args = arena_array(scope->arena, struct expr *, e->n_args);
	for (u32 i = 0; i < e->n_args; i++) {
		r->args[i] = bind_lift(scope, e->args[i]);
		if (!r->args[i])
			return NULL;
	}
	if (r->kind != EXPR_CALL && r->kind != EXPR_OP)
		expr_infer(r);
	else
		for (u32 i = 0; i < r->n_args; i++) {
			r->nullable |= r->args[i]->nullable;
			r->is_user_only |= r->args[i]->is_user_only;
		}
	return r;
}

static const char *item_name(struct scope *scope, const struct ast_item *item, const struct expr *e)
{
	struct span span = item->expr->span;

	if (item->alias)
		return item->alias;
	if (item->expr->kind == AST_NAME && e->kind != EXPR_MEMBER)
		return item->expr->parts[item->expr->n_parts - 1];
	return arena_strndup(scope->arena, scope->diags->text + span.start, span.end - span.start);
}

typedef VEC(struct item) item_vec;

static void push_star(struct scope *scope, struct span span, item_vec *items)
{
	static const enum system_column shown[] = { SYS_TIME, SYS_PID, SYS_COMM, SYS_CPU };
	const struct stream *s = scope->streams->streams.at[0];

	if (scope->streams->is_wildcard)
		vec_push(scope->arena, items,
			 (struct item){ "probe", bind_system(scope, SYS_PROBE, span) });
	for (u32 i = 0; i < ARRAY_SIZE(shown); i++) {
		struct expr *field = bind_field(scope, system_columns[shown[i]].name, span);

		if (!field)
			vec_push(scope->arena, items,
				 (struct item){ system_columns[shown[i]].name,
						bind_system(scope, shown[i], span) });
	}
	for (u32 i = 0; i < s->n_fields; i++) {
		const struct field *f = &s->fields[i];
		struct expr *e = bind_field(scope, f->name, span);

		if (e && !f->n_elements && (type_is_word(f->type) || f->type.kind == TYPE_TEXT))
			vec_push(scope->arena, items, (struct item){ f->name, e });
	}
}

/* "SELECT pid comm": a name for pid, or a forgotten comma?  Legal, so it is only a warning. */
static void warn_missing_comma(struct scope *scope, const struct ast_item *item)
{
	const char *text = scope->diags->text;
	struct ast name = { .kind = AST_NAME,
			    .n_parts = 1,
			    .parts = (const char **)&item->alias,
			    .span = item->alias_span };

	if (!item->alias || !is_column(scope, &name))
		return;
	for (u32 i = item->expr->span.end; i < item->alias_span.start; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r')
			return; /* AS */
	diag_hint(scope->diags,
		  diag_warning(scope->diags, "missing-comma", item->alias_span,
			       "\"%s\" is a column, but here it names the one before it",
			       item->alias),
		  "put a comma between them, or write AS to mean it");
}

static bool bind_items(struct scope *scope, bool is_aggregated, item_vec *items)
{
	const struct ast_select *s = scope->select;

	for (u32 i = 0; i < s->items.n; i++) {
		const struct ast_item *item = &s->items.at[i];
		struct expr *e;

		if (item->expr->kind == AST_STAR) {
			if (is_aggregated) {
				diag_hint(scope->diags,
					  diag_error(scope->diags, "star-here", item->expr->span,
						     "* has no meaning in a query with aggregates"),
					  "name the group keys");
				return false;
			}
			push_star(scope, item->expr->span, items);
			continue;
		}
		warn_missing_comma(scope, item);
		e = bind_expr(scope, item->expr);
		if (e && is_aggregated)
			e = bind_lift(scope, e);
		if (!e)
			continue; /* the other items may have errors of their own to show */
		vec_push(scope->arena, items, (struct item){ item_name(scope, item, e), e });
	}
	return !diags_failed(scope->diags);
}

static bool bind_sort(struct scope *scope, bool is_aggregated, struct plan *sort)
{
	const struct ast_select *s = scope->select;

	sort->n_sort_keys = s->order_by.n;
	sort->sort_keys = arena_array(scope->arena, struct sort_key, s->order_by.n);
	for (u32 i = 0; i < s->order_by.n; i++) {
		const struct ast *ast = resolve_item(scope, s->order_by.at[i].expr, "ORDER BY");
		struct expr *e = ast ? bind_expr(scope, ast) : NULL;

		if (e && is_aggregated)
			e = bind_lift(scope, e);
		if (!e)
			return false;
		sort->sort_keys[i] = (struct sort_key){ e, s->order_by.at[i].is_descending,
							s->order_by.at[i].nulls };
	}
	return true;
}

static bool bind_limit(struct scope *scope, struct plan *p)
{
	const struct ast *asts[2] = { scope->select->limit, scope->select->offset };
	s64 *to[2] = { &p->limit, &p->offset };

	for (int i = 0; i < 2; i++) {
		if (!asts[i])
			continue;
		if (asts[i]->kind != AST_INTEGER || asts[i]->integer > INT32_MAX) {
			diag_hint(scope->diags,
				  diag_error(scope->diags, "bad-limit", asts[i]->span,
					     "LIMIT and OFFSET take a whole number"),
				  "for example LIMIT 10");
			return false;
		}
		*to[i] = (s64)asts[i]->integer;
	}
	return true;
}

static struct plan *filter_new(struct scope *scope, struct plan *input, struct expr *predicate)
{
	struct plan *p = plan_new(scope, PLAN_FILTER, input);

	p->n_conjuncts = 1;
	p->conjuncts = arena_array(scope->arena, struct expr *, 1);
	p->conjuncts[0] = predicate;
	p->span = predicate->span;
	return p;
}

static bool is_aggregated(const struct ast_select *s)
{
	if (s->group_by.n || s->having || s->window.kind != AST_WINDOW_NONE)
		return true;
	for (u32 i = 0; i < s->items.n; i++)
		if (bind_has_aggregate(s->items.at[i].expr))
			return true;
	return false;
}

static struct plan *bind_where(struct scope *scope, struct plan *input)
{
	struct expr *where;

	if (!scope->select->where)
		return input;
	scope->no_aggregates_in = "WHERE";
	where = bind_condition(scope, scope->select->where, "WHERE");
	scope->no_aggregates_in = NULL;
	if (!where)
		return input;
	if (where->is_user_only) {
		refuse(scope, scope->select->where->span,
		       "a WHERE that needs real numbers or text functions is");
		return input;
	}
	return filter_new(scope, input, where);
}

static struct plan *aggregate_new(struct scope *scope, struct plan *input)
{
	struct plan *p = plan_new(scope, PLAN_AGGREGATE, input);
	const struct ast_window *w = &scope->select->window;

	p->keys = scope->keys.at;
	p->n_keys = scope->keys.n;
	p->aggregates = scope->aggregates.at;
	p->n_aggregates = scope->aggregates.n;
	p->window = w->kind == AST_WINDOW_NONE ? WINDOW_NONE : WINDOW_TUMBLING;
	p->window_ns = w->size;
	return p;
}

static bool check_shape(struct scope *scope, bool aggregated)
{
	const struct ast_select *s = scope->select;
	bool has_aggregate = s->group_by.n || s->having;

	for (u32 i = 0; i < s->items.n; i++)
		has_aggregate |= bind_has_aggregate(s->items.at[i].expr);
	if (s->window.kind != AST_WINDOW_NONE && !has_aggregate) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "window-without-aggregate", s->window.span,
				     "a window needs something to aggregate"),
			  "add count(*), or leave WINDOW away to stream the rows");
		return false;
	}
	if (!aggregated && s->order_by.n) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "order-of-stream", s->order_by.at[0].expr->span,
				     "single events stream in the order they happen"),
			  "ORDER BY sorts the groups of a window");
		return false;
	}
	return true;
}

struct plan *plan_bind(const struct ast_select *select, struct catalog *catalog,
		       struct settings *settings, struct arena *arena, struct diags *diags)
{
	struct scope scope = { .arena = arena,
			       .diags = diags,
			       .catalog = catalog,
			       .settings = settings,
			       .select = select };
	bool aggregated = is_aggregated(select);
	item_vec items = { 0 };
	struct expr *having = NULL;
	struct plan *p;

	scope.is_windowed = select->window.kind != AST_WINDOW_NONE;
	for (u32 i = 0; i < select->options.n; i++)
		settings_set(settings, &select->options.at[i], diags);
	if (!check_supported(&scope) || !check_window(&scope) || !check_shape(&scope, aggregated))
		return NULL;
	scope.alias = select->from->alias;
	scope.streams = catalog_find(catalog, select->from->path, select->from->n_path,
				     select->from->span, diags);
	if (!scope.streams)
		return NULL;
	p = plan_new(&scope, PLAN_SCAN, NULL);
	p->streams = scope.streams;
	p->alias = scope.alias;
	p->span = select->from->span;
	p = bind_where(&scope, p);
	if (!bind_keys(&scope) || !bind_items(&scope, aggregated, &items))
		return NULL;
	if (select->having) {
		having = bind_lift(&scope, bind_condition(&scope, select->having, "HAVING"));
		if (!having)
			return NULL;
	}
	struct plan *sort = plan_new(&scope, PLAN_SORT, NULL);

	if (!bind_sort(&scope, aggregated, sort))
		return NULL;
	if (aggregated)
		p = aggregate_new(&scope, p);
	if (having)
		p = filter_new(&scope, p, having);
	p = plan_new(&scope, PLAN_PROJECT, p);
	p->items = items.at;
	p->n_items = items.n;
	if (sort->n_sort_keys) {
		sort->input = p;
		p = sort;
	}
	if (select->limit || select->offset) {
		p = plan_new(&scope, PLAN_LIMIT, p);
		if (!bind_limit(&scope, p))
			return NULL;
	}
	return diags_failed(diags) ? NULL : p;
}
