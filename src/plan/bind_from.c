/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * FROM -> a tree of scans, filters, joins and unions, and the relations whose
 * columns the rest of the query names.  Views, WITH and nested selects are put in
 * place of their names: their WHERE becomes a filter in the tree, their items
 * columns; or, where they are not opened, and of tables, the columns are a relation's.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* --- Columns of a select --- */

void bind_output(struct scope *scope, const struct plan *chain, u32 relation, struct span span,
		 item_vec *ret_columns)
{
	u32 n;
	const struct item *items = plan_items(chain, &n);

	for (u32 i = 0; i < n; i++) {
		struct column cells[3]; /* of UNNEST */

		if (items[i].name == bind_event_time)
			continue;
		if (!items[i].is_unnest) {
			bind_push_column(scope, items[i].name, relation, items[i].expr, span,
					 ret_columns);
			continue;
		}
		plan_unnest_columns(items[i].name, items[i].expr->type, scope->arena, cells);
		for (u32 k = 0; k < 3; k++) {
			struct expr of = { 0 };

			expr_set_type(&of, cells[k].type);
			bind_push_column(scope, cells[k].name, relation, &of, span, ret_columns);
		}
	}
}

struct plan *bind_derived_new(struct scope *scope, struct plan *chain, const char *name,
			      const char *written, struct span span)
{
	struct plan *p = plan_new(scope->arena, PLAN_DERIVED, span, chain);
	item_vec columns = { 0 };

	p->derived.relation = scope->shared->n_relations++;
	p->derived.alias = name;
	bind_output(scope, chain, p->derived.relation, span, &columns);
	vec_push(scope->arena, &scope->members,
		 (struct from_member){
			 .name = name, .written = written, .tree = p, .columns = columns });
	return p;
}

/* --- Streams, files, names --- */

static const struct cte_list *cte_find(const struct scope *scope, const char *name)
{
	const struct cte_list *list = scope->ctes;

	while (list && strcasecmp(list->cte->name, name) != 0)
		list = list->outer;
	return list;
}

static struct plan *bind_view(struct scope *scope, const struct ast_source *source,
			      const struct view *view)
{
	struct scope inner = bind_scope(scope, view->select);

	inner.ctes = NULL;
	inner.n_views = (u32)(view - scope->shared->context->views->views.at);
	inner.is_shipped |= view->is_shipped;
	if (inner.is_shipped)
		sql_respan(view->select, source->span);
	return bind_nested(scope, &inner, view->select, source->alias ? source->alias : view->name,
			   view->name, true);
}

/* Of recorded rows all that is known are the file's columns. */
static struct plan *add_scan(struct scope *scope, const struct ast_source *source)
{
	bool is_file = source->kind == AST_SOURCE_FILE;
	struct stream_list *streams =
		is_file ? catalog_file(scope->catalog, source->path[0], source->span, scope->diags)
			: catalog_find(scope->catalog, source->path, source->n_path, source->span,
				       scope->diags);
	struct plan *scan = streams ? bind_scan(scope, streams, source->alias, source->span) : NULL;
	struct from_member member;

	if (!scan)
		return NULL;
	if (streams->is_wildcard && streams->streams.at[0]->kind == STREAM_ITERATOR)
		return diag_refuse(scope->diags, "not-supported", source->span,
				   "%s: a wildcard over iterators is not available" HINT
				   "name one; UNION ALL puts rows of several together",
				   source->written);
	member = bind_stream_member(scope, scan);
	member.name = source->alias ? source->alias : streams->streams.at[0]->event;
	vec_push(scope->arena, &scope->members, member);
	return member.tree;
}

static void offer_view(void *context, const struct view *view)
{
	suggest_offer(context, view->name);
}

/* A single word that means nothing: it may be a system call's name. */
static void complain_word(struct scope *scope, const struct ast_source *source)
{
	const char *name = source->path[0], *nearest;
	const char *proposed = catalog_propose(scope->catalog, name);
	struct diag *d;
	u32 n;

	/* Whose name it may be cannot be told then. */
	if (syscall_number(catalog_arch(scope->catalog), name) < 0 &&
	    catalog_is_unread(scope->catalog, name, source->span, scope->diags))
		return;
	d = diag_error(scope->diags, "unknown-stream-kind", source->span,
		       "%s is no stream, no view and no name of WITH", name);
	if (syscall_number(catalog_arch(scope->catalog), name) >= 0)
		diag_hint(scope->diags, d, "did you mean \"syscall:%s\"?", name);
	else if (proposed)
		diag_hint(scope->diags, d, "%s", proposed);
	else if ((catalog_spell(scope->catalog, source->path, 1, &n, &nearest), nearest))
		/* kmalloc, for malloc: perhaps a program's was meant. */
		diag_hint(scope->diags, d,
			  *name == strrchr(nearest, ':')[1]
				  ? "did you mean \"%s\"?"
				  : "did you mean \"%s\"?  A program's function is uprobe:FILE:%s",
			  nearest, name);
	else
		diag_hint(
			scope->diags, d,
			"streams are written tracepoint:CATEGORY:NAME, raw_tracepoint:NAME, "
			"syscall:NAME or uprobe:FILE:NAME, files 'FILE.csv'; SHOW VIEWS lists the "
			"views, \"ebql list %s\" what contains the word",
			name);
}

/* FROM t.csv and FROM "t.csv": true after a diagnostic. */
static bool is_bare_file(struct scope *scope, const struct ast_source *source)
{
	size_t n = strlen(source->written), is_quoted = source->written[0] == '"';
	enum file_kind kind;

	if (!file_kind_of(source->path[source->n_path - 1], &kind))
		return false;
	diag_refuse(scope->diags, "unknown-stream-kind", source->span,
		    "%s is no stream, no view and no name of WITH" HINT
		    "a file stands in single quotes: FROM '%.*s'",
		    source->written, (int)(n - 2 * is_quoted), source->written + is_quoted);
	return true;
}

/* A misspelt view, WITH name or "syscall": true after a diagnostic. */
static bool is_misspelt(struct scope *scope, const struct ast_source *source)
{
	struct suggest suggest;
	const char *best;

	if (is_bare_file(scope, source))
		return true;
	suggest_init(&suggest, source->path[0]);
	if (source->n_path == 1) {
		for (const struct cte_list *l = scope->ctes; l; l = l->outer)
			suggest_offer(&suggest, l->cte->name);
		if (scope->shared->context->views)
			views_each(scope->shared->context->views, offer_view, &suggest);
		bind_offer_tables(scope, &suggest);
	} else if (source->n_path == 2) {
		suggest_offer(&suggest, "syscall");
	}
	best = suggest_best(&suggest);
	if (!best && source->n_path == 1)
		complain_word(scope, source);
	if (!best)
		return source->n_path == 1;
	/* A view never sees itself, nor those made after it. */
	if (strcasecmp(best, source->path[0]) == 0)
		diag_refuse(scope->diags, "unknown-stream", source->span,
			    "the view \"%s\" is not made yet here" HINT
			    "a view is made of streams and of views that stand before it",
			    best);
	else
		diag_refuse(scope->diags,
			    source->n_path == 1 ? "unknown-stream" : "unknown-stream-kind",
			    source->span, "there is no %s \"%s\"" HINT "did you mean \"%s\"?",
			    source->n_path == 1 ? "view" : "kind of stream", source->path[0], best);
	return true;
}

/* name (a, b): the columns of the select that was bound last are called so. */
static bool name_columns(struct scope *scope, const ast_columns *names, const char *of)
{
	item_vec *columns = &scope->members.at[scope->members.n - 1].columns;

	if (names->n && names->n != columns->n)
		return diag_refuse(scope->diags, "wrong-arguments", names->at[0].span,
				   "%u names are given for the columns of %s, which has %u",
				   names->n, of, columns->n);
	for (u32 i = 0; i < names->n; i++) {
		columns->at[i].name = names->at[i].name;
		for (u32 k = 0; k < i; k++)
			if (strcasecmp(names->at[k].name, names->at[i].name) == 0)
				return diag_refuse(scope->diags, "duplicate-name",
						   names->at[i].span,
						   "the column \"%s\" of %s is named twice",
						   names->at[i].name, of);
	}
	return true;
}

static struct plan *bind_stream(struct scope *scope, const struct ast_source *source)
{
	const char *name = source->path[0];
	const struct cte_list *cte = source->n_path == 1 ? cte_find(scope, name) : NULL;
	const struct view *view = NULL;
	const char **path = NULL, *nearest;
	struct ast_source spelled;
	struct plan *table;

	if (cte) {
		struct scope inner = bind_scope(scope, cte->cte->select);

		inner.ctes = cte->outer;
		table = bind_nested(scope, &inner, cte->cte->select,
				    source->alias ? source->alias : cte->cte->name, cte->cte->name,
				    true);
		return table && name_columns(scope, &cte->cte->columns, name) ? table : NULL;
	}
	if (source->n_path == 1 && scope->shared->context->views)
		view = views_find(scope->shared->context->views, name, scope->n_views);
	if (view)
		return bind_view(scope, source, view);
	if (bind_is_span(source))
		return bind_span(scope, source);
	if (bind_is_function(source))
		return bind_function(scope, source);
	if (bind_table(scope, source, &table))
		return table;
	spelled = *source;
	if (source->n_path > 1 || syscall_number(catalog_arch(scope->catalog), name) < 0)
		path = catalog_spell(scope->catalog, source->path, source->n_path, &spelled.n_path,
				     &nearest);
	if (path)
		spelled.path = path;
	else if (is_misspelt(scope, source))
		return NULL;
	return add_scan(scope, path ? &spelled : source);
}

static struct plan *bind_source(struct scope *scope, const struct ast_source *source)
{
	struct plan *p;

	switch (source->kind) {
	case AST_SOURCE_STREAM:
		return bind_stream(scope, source);
	case AST_SOURCE_SELECT: {
		struct scope inner = bind_scope(scope, source->select);

		p = bind_nested(scope, &inner, source->select, source->alias,
				source->alias ? source->alias : "the nested select", false);
		return p && name_columns(scope, &source->columns, source->alias) ? p : NULL;
	}
	case AST_SOURCE_JOIN:
		return bind_join(scope, source);
	case AST_SOURCE_FILE:
		return add_scan(scope, source);
	}
	return NULL;
}

struct plan *bind_from(struct scope *scope, const struct ast_source *source)
{
	if (source->kind == AST_SOURCE_JOIN || !source->alias)
		return bind_source(scope, source);
	for (u32 i = 0; i < scope->members.n; i++) {
		const char *name = scope->members.at[i].name;

		if (!name || strcasecmp(name, source->alias) != 0)
			continue;
		return diag_refuse(scope->diags, "duplicate-name", source->alias_span,
				   "the alias \"%s\" is given twice" HINT
				   "give each stream of FROM a name of its own",
				   source->alias);
	}
	return bind_source(scope, source);
}
