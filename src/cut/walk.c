/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Questions to a whole select, nested ones included: does it read the kernel's streams,
 * and which window does it say?  And to a plan: does it read files?
 */
#include <strings.h>

#include "cut/internal.h"

struct walk {
	struct cutter *c;
	const struct ast_window *window; /* the first that is said */
	bool has_stream;
	u32 n_views;		/* those that may be read here */
	VEC(const char *) ctes; /* names of WITH that are visible */
	const char *column;	/* is it mentioned? */
	bool is_mentioned;
};

static void walk_select(struct walk *w, const struct ast_select *s);

/* Any part may be it: s.x, x, x.member. */
static bool is_named(const struct ast *ast, const char *column)
{
	for (u32 i = 0; ast->kind == AST_NAME && i < ast->n_parts; i++)
		if (strcasecmp(ast->parts[i], column) == 0)
			return true;
	return false;
}

static void walk_expr(struct walk *w, const struct ast *ast)
{
	if (!ast)
		return;
	w->is_mentioned |= w->column && (ast->kind == AST_STAR || is_named(ast, w->column));
	if (ast->select)
		walk_select(w, ast->select);
	for (u32 i = 0; i < ast->n_args; i++)
		walk_expr(w, ast->args[i]);
	for (u32 i = 0; i < ast->n_order_by; i++)
		walk_expr(w, ast->order_by[i].expr);
	walk_expr(w, ast->otherwise);
	walk_expr(w, ast->filter);
}

/* One word may be a view's name, whose select says what it reads. */
/* A name of WITH hides the view of that name. */
static bool is_cte(const struct walk *w, const char *name)
{
	for (u32 i = 0; i < w->ctes.n; i++)
		if (strcasecmp(w->ctes.at[i], name) == 0)
			return true;
	return false;
}

static void walk_stream(struct walk *w, const struct ast_source *source)
{
	const struct view *view = NULL;
	u32 n_views = w->n_views;

	if (source->n_path == 1 && w->c->views && !is_cte(w, source->path[0]))
		view = views_find(w->c->views, source->path[0], n_views);
	w->has_stream |= source->n_path > 1;
	if (!view)
		return;
	w->n_views = (u32)(view - w->c->views->views.at);
	walk_select(w, view->select);
	w->n_views = n_views;
}

static void walk_source(struct walk *w, const struct ast_source *source)
{
	if (!source)
		return;
	if (source->kind == AST_SOURCE_STREAM)
		walk_stream(w, source);
	if (source->select)
		walk_select(w, source->select);
	walk_source(w, source->left);
	walk_source(w, source->right);
	walk_expr(w, source->on);
}

static void walk_select(struct walk *w, const struct ast_select *s)
{
	u32 n_ctes = w->ctes.n;

	if (s->window.kind != AST_WINDOW_NONE && !w->window)
		w->window = &s->window;
	for (u32 i = 0; i < s->ctes.n; i++) {
		walk_select(w, s->ctes.at[i].select);
		vec_push(w->c->arena, &w->ctes, s->ctes.at[i].name);
	}
	for (u32 i = 0; i < s->items.n; i++)
		walk_expr(w, s->items.at[i].expr);
	walk_source(w, s->from);
	walk_expr(w, s->where);
	walk_expr(w, s->having);
	for (u32 i = 0; i < s->order_by.n; i++)
		walk_expr(w, s->order_by.at[i].expr);
	for (u32 i = 0; i < s->compound.n; i++)
		walk_select(w, s->compound.at[i].select);
	w->ctes.n = n_ctes;
}

bool cut_reads_streams(struct cutter *c, const struct ast_select *select)
{
	struct walk w = { .c = c, .n_views = c->n_views };

	walk_select(&w, select);
	return w.has_stream;
}

bool cut_mentions(struct cutter *c, const struct ast_select *select, const char *column)
{
	struct walk w = { .c = c, .n_views = UINT32_MAX, .column = column };

	walk_select(&w, select);
	return w.is_mentioned;
}

const struct ast_window *cut_window_of(struct cutter *c, const struct ast_select *select)
{
	struct walk w = { .c = c, .n_views = c->n_views };

	walk_select(&w, select);
	return w.window ? w.window : &select->window;
}

bool cut_reads_files(const struct plan *p)
{
	if (p->kind == PLAN_SCAN)
		return p->scan.streams->streams.at[0]->kind == STREAM_FILE;
	if (p->input && cut_reads_files(p->input))
		return true;
	if (p->right && cut_reads_files(p->right))
		return true;
	for (u32 i = 0; i < p->n_inputs; i++)
		if (cut_reads_files(p->inputs[i]))
			return true;
	return false;
}
