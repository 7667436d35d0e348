/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clauses of one SELECT: its list, GROUP BY, WHERE, LIMIT; and lifting what was bound of
 * rows onto keys and aggregates.  What a select is made of them bind_query.c says.
 */
#include <strings.h>

#include "plan/bind.h"

const struct ast *bind_resolve_item(struct scope *scope, const struct ast *ast, const char *clause)
{
	const struct ast_select *s = scope->select;
	const struct ast *item;

	if (ast->kind == AST_INTEGER) {
		if (ast->integer >= 1 && ast->integer <= s->items.n &&
		    s->items.at[ast->integer - 1].expr->kind != AST_STAR)
			return s->items.at[ast->integer - 1].expr;
		return diag_refuse(scope->diags, "bad-ordinal", ast->span,
				   "%s %llu: the SELECT list has no such item" HINT
				   "items count from 1 to %u",
				   clause, (unsigned long long)ast->integer, s->items.n);
	}
	item = ast->kind == AST_NAME && ast->n_parts == 1 ? bind_find_alias(scope, ast->parts[0])
							  : NULL;
	return item && (clause[0] == 'O' || !bind_is_column(scope, ast->parts[0])) ? item : ast;
}

/* The expression as it stands in the query; of a view that is not in it, printed anew. */
static const char *written(struct scope *scope, const struct ast *ast)
{
	struct buf out;

	if (!scope->is_shipped)
		return arena_strndup(scope->arena, scope->diags->text + ast->span.start,
				     ast->span.end - ast->span.start);
	buf_init_in(&out, scope->arena);
	sql_print_expr(ast, &out);
	return out.at;
}

/* SQLite has no more columns, and what comes to more is no query that somebody wrote. */
#define COLUMNS_MAX 2000

/* May the list have an element of this number? */
static bool check_number(struct scope *scope, u32 number, struct span span, const char *list)
{
	if (number < COLUMNS_MAX)
		return true;
	return diag_refuse(scope->diags, "too-many-columns", span, "%s has at most %u columns",
			   list, COLUMNS_MAX);
}

bool bind_keys(struct scope *scope)
{
	const struct ast_select *s = scope->select;
	bool is_all = s->group_by.n && s->group_by.at[0]->kind == AST_STAR;

	for (u32 i = 0; i < (is_all ? s->items.n : s->group_by.n); i++) {
		const struct ast *of = is_all ? s->items.at[i].expr : s->group_by.at[i];
		const struct ast *ast = is_all ? of : bind_resolve_item(scope, of, "GROUP BY");
		struct expr *e;

		if (!ast || !check_number(scope, i, of->span, "GROUP BY"))
			return false;
		if (is_all && bind_has_aggregate(of))
			continue;
		scope->no_aggregates_in = "GROUP BY";
		scope->takes_stack = true;
		scope->item = ast;
		e = bind_expr(scope, ast);
		scope->item = NULL;
		scope->no_aggregates_in = NULL;
		if (!e)
			return false;
		bind_push_keys(scope, written(scope, of), e);
	}
	return true;
}

static const char *item_name(struct scope *scope, const struct ast_item *item, const struct expr *e)
{
	if (item->alias)
		return item->alias;
	if (item->expr->kind == AST_NAME && e->kind != EXPR_MEMBER)
		return item->expr->parts[item->expr->n_parts - 1];
	return written(scope, item->expr);
}

/* The system columns that * shows. */
static bool push_system(struct scope *scope, const struct from_member *r, bool is_bare,
			struct span span, item_vec *items)
{
	static const enum system_column shown[] = { SYS_TIME, SYS_PID, SYS_COMM, SYS_CPU };
	const struct stream_list *streams = scope->shared->scans.at[r->source]->scan.streams;

	if (streams->is_wildcard)
		vec_push(scope->arena, items,
			 (struct item){ "probe", bind_system(scope, r, SYS_PROBE, span) });
	for (u32 i = 0; i < ARRAY_SIZE(shown); i++) {
		const char *name = system_columns[shown[i]].name;
		struct expr *e;

		if (bind_column(scope, r, name, span))
			continue;
		e = is_bare && bind_either_of(scope, r, name)
			    ? bind_bare(scope, name, span)
			    : bind_system(scope, r, shown[i], span);
		if (!e)
			return false;
		vec_push(scope->arena, items, (struct item){ name, e });
	}
	return true;
}

/* is_bare: two that are one by USING are shown once, where the first stands. */
static bool push_columns(struct scope *scope, const struct from_member *r, bool is_bare,
			 struct span span, item_vec *items)
{
	for (u32 i = 0; i < r->columns.n; i++) {
		const char *name = r->columns.at[i].name;
		struct expr *e = bind_column_at(scope, r, i, span);

		if (!bind_is_value(scope, e) || (is_bare && bind_is_merged(scope, r, name)))
			continue;
		if (is_bare && bind_either_of(scope, r, name))
			e = bind_bare(scope, name, span);
		if (!e)
			return false;
		vec_push(scope->arena, items, (struct item){ name, e });
	}
	return true;
}

static bool name_is_taken(const item_vec *items, u32 n, const char *name)
{
	for (u32 i = 0; i < n; i++)
		if (strcasecmp(items->at[i].name, name) == 0)
			return true;
	return false;
}

/* Columns of several streams that have one name get their stream's before it. */
static void prefix_clashes(struct scope *scope, const struct from_member *r, item_vec *items,
			   u32 first, u32 before)
{
	for (u32 i = before; i < items->n; i++)
		if (r->name && name_is_taken(items, before, items->at[i].name) && before > first)
			items->at[i].name =
				arena_printf(scope->arena, "%s.%s", r->name, items->at[i].name);
}

bool bind_star(struct scope *scope, const char *only, struct span span, item_vec *items)
{
	u32 first = items->n, n_shown = 0;

	for (u32 i = scope->first_member; i < scope->members.n; i++) {
		const struct from_member *r = &scope->members.at[i];
		u32 before = items->n;

		if (only && (!r->name || strcasecmp(r->name, only) != 0))
			continue;
		if (r->has_system && (i == scope->first_member || only) &&
		    !push_system(scope, r, !only, span, items))
			return false;
		if (!push_columns(scope, r, !only, span, items))
			return false;
		prefix_clashes(scope, r, items, first, before);
		n_shown++;
	}
	if (n_shown)
		return true;
	if (!only)
		return diag_refuse(scope->diags, "missing-from", span,
				   "* stands for columns, and without FROM there are none" HINT
				   "add FROM tracepoint:CATEGORY:NAME; \"ebql list\" shows them");
	return diag_refuse(scope->diags, "unknown-column", span,
			   "nothing in FROM is called \"%s\"" HINT "FROM stream AS %s names one so",
			   only, only);
}

/* "SELECT pid comm": a name for pid, or a forgotten comma?  Legal, so it is only a warning.
 */
static void warn_missing_comma(struct scope *scope, const struct ast_item *item)
{
	const char *text = scope->diags->text;

	if (!item->alias || scope->is_shipped || !bind_is_column(scope, item->alias))
		return;
	for (u32 i = item->expr->span.end; i < item->alias_span.start; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r')
			return; /* AS */
	diag_warning(scope->diags, "missing-comma", item->alias_span,
		     "\"%s\" is a column, but here it names the one before it" HINT
		     "put a comma between them, or write AS to mean it",
		     item->alias);
}

/* UNNEST(histogram(...)): the item stands for lo, hi and count of each cell. */
static bool is_unnest(const struct ast *ast)
{
	return ast->kind == AST_CALL && ast->n_args == 1 && strcasecmp(ast->text, "unnest") == 0;
}

static struct expr *bind_unnest(struct scope *scope, const struct ast *ast)
{
	struct expr *e;

	scope->is_top_of_item = true;
	scope->item = ast;
	e = bind_expr(scope, ast->args[0]);
	scope->item = NULL;
	scope->is_top_of_item = false;
	if (!e)
		return NULL;
	if ((e->type.kind == TYPE_HISTOGRAM || e->type.kind == TYPE_TOP) && !scope->has_unnest) {
		scope->has_unnest = true;
		return e;
	}
	diag_hint(scope->diags,
		  diag_error(scope->diags, "unnest-here", ast->span,
			     scope->has_unnest ? "a query has one UNNEST"
					       : "UNNEST() takes a histogram or a top_k()"),
		  "SELECT comm, UNNEST(histogram(latency)) ... GROUP BY comm");
	return NULL;
}

static struct expr *bind_item(struct scope *scope, const struct ast_item *item)
{
	struct expr *e;

	if (is_unnest(item->expr))
		return bind_unnest(scope, item->expr);
	scope->is_top_of_item = true;
	scope->has_event_items = !scope->is_grouped;
	scope->item = item->expr;
	e = bind_expr(scope, item->expr);
	scope->item = NULL;
	scope->is_top_of_item = scope->has_event_items = false;
	return e;
}

bool bind_items(struct scope *scope, item_vec *items)
{
	const struct ast_select *s = scope->select;

	for (u32 i = 0; i < s->items.n; i++) {
		const struct ast_item *item = &s->items.at[i];
		struct expr *e;

		if (!check_number(scope, i, item->expr->span, "a select"))
			return false;
		if (item->expr->kind == AST_STAR) {
			if (!bind_star(scope, item->expr->n_parts ? item->expr->parts[0] : NULL,
				       item->expr->span, items))
				return false;
			continue;
		}
		warn_missing_comma(scope, item);
		e = bind_item(scope, item);
		if (!e)
			continue; /* the other items may have errors of their own to show */
		/* Without a name of its own an UNNEST has plain lo, hi, count. */
		vec_push(scope->arena, items,
			 (struct item){ .name = is_unnest(item->expr)
							? (item->alias ? item->alias : "")
							: item_name(scope, item, e),
					.expr = e,
					.is_unnamed = !item->alias && item->expr->kind == AST_CALL,
					.is_unnest = is_unnest(item->expr) });
	}
	return !diags_failed(scope->diags);
}

/* LIMIT and OFFSET; false after a diagnostic. */
static bool bind_limit(struct scope *scope, struct plan *p)
{
	const struct ast *asts[2] = { scope->select->limit, scope->select->offset };
	s64 *to[2] = { &p->limit.count, &p->limit.offset };

	for (int i = 0; i < 2; i++) {
		if (!asts[i])
			continue;
		if (asts[i]->kind != AST_INTEGER || asts[i]->integer > INT64_MAX)
			return diag_refuse(scope->diags, "bad-limit", asts[i]->span,
					   "LIMIT and OFFSET take a whole number below 2^63" HINT
					   "%s",
					   asts[i]->kind == AST_UNARY ? "LIMIT ALL is no limit"
								      : "for example LIMIT 10");
		*to[i] = (s64)asts[i]->integer;
	}
	return true;
}

struct plan *bind_add_order(struct scope *scope, struct plan *p, struct sort_key *keys, u32 n)
{
	if (n) {
		p = plan_new(scope->arena, PLAN_SORT, scope->select->span, p);
		p->sort.keys = keys;
		p->sort.n_keys = n;
	}
	if (!scope->select->limit && !scope->select->offset)
		return p;
	p = plan_new(scope->arena, PLAN_LIMIT, scope->select->span, p);
	p->limit.count = -1;
	return bind_limit(scope, p) ? p : NULL;
}
