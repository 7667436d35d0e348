/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The one WINDOW of a query, wherever it is said; which sizes and advances are possible,
 * and why others are not.
 */

#include "plan/bind.h"

#define WINDOW_MIN_NS 1000000ull
#define WINDOW_MAX_NS (24ull * 3600 * 1000000000)
#define COUNT_MAX     (1ull << 32)

static struct query_window window_of(const struct ast_window *w)
{
	static const enum window_kind kinds[] = { [AST_WINDOW_NONE] = WINDOW_NONE,
						  [AST_WINDOW_TUMBLING] = WINDOW_TUMBLING,
						  [AST_WINDOW_HOPPING] = WINDOW_HOPPING,
						  [AST_WINDOW_COUNT] = WINDOW_COUNT,
						  [AST_WINDOW_SESSION] = WINDOW_SESSION };
	struct query_window q = { .kind = kinds[w->kind],
				  .size = w->size,
				  .advance = w->kind == AST_WINDOW_TUMBLING ? w->size : w->advance,
				  .scope = (enum count_scope)w->scope,
				  .span = w->span };

	if (q.kind == WINDOW_HOPPING && q.advance == q.size)
		q.kind = WINDOW_TUMBLING;
	return q;
}

/* The selects of one query have one window; false after a diagnostic. */
bool bind_take_window(struct scope *scope)
{
	const struct query_window q = window_of(&scope->select->window);
	const struct query_window *one = &scope->shared->window;

	if (scope->select->window.kind == AST_WINDOW_NONE ||
	    (q.kind == one->kind && q.size == one->size && q.advance == one->advance &&
	     q.scope == one->scope))
		return true;
	return diag_refuse(scope->diags, "bad-window", q.span,
			   "the selects of one query have one window, this is another one" HINT
			   "say WINDOW once, at the end of the query");
}

/* The first rule that it breaks is told; what is wrong with a size goes before the rest. */
static bool check_window(struct scope *scope, const struct ast_window *ast)
{
	static const char *const sizes =
		"from 1ms to 1d; without WINDOW a query counts until it ends";
	static const char *const advances = "advance by 1ms to 1d, or by 1 row, or by more";
	const struct query_window *w = &scope->shared->window;
	bool is_hopping = ast->kind == AST_WINDOW_HOPPING, is_count = w->kind == WINDOW_COUNT;
	bool is_time = is_hopping || w->kind == WINDOW_TUMBLING;
	u64 ms = WINDOW_MIN_NS,
	    between_ns = is_hopping && w->advance ? hop_between_ns(w->size, w->advance) : 0;
	const struct {
		bool is_wrong, is_advance;
		const char *what, *hint;
	} rules[] = {
		{ !w->size, false, "of no size",
		  "TUMBLING 1s, COUNT (SIZE 1024), SESSION (GAP 100ms)" },
		{ ast->overflow || (is_time && w->size > WINDOW_MAX_NS), false, "longer than a day",
		  sizes },
		{ is_time && w->size < ms, false, "shorter than a millisecond", sizes },
		{ is_hopping && w->advance > WINDOW_MAX_NS, true,
		  "that advances by more than a day", advances },
		{ (is_hopping || is_count) && !w->advance, true, "that does not advance",
		  advances },
		{ is_hopping && w->advance < ms, true, "that advances by less than a millisecond",
		  advances },
		{ between_ns && (between_ns < ms || w->advance - between_ns < ms), true,
		  "that begins within 1ms of where another one ends",
		  "an advance that divides the size, or leaves at least 1ms" },
		{ is_hopping && w->advance && hop_n_panes(w->size, w->advance) > HOP_PANES_MAX,
		  true, "of more than 65,536 panes", "a longer advance" },
		{ is_count && (w->size > COUNT_MAX || w->advance > COUNT_MAX), false,
		  "of so many rows", "the rows of a count window are kept in memory" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rules); i++) {
		struct span part = rules[i].is_advance ? ast->advance_span : ast->size_span;

		if (rules[i].is_wrong)
			return diag_refuse(scope->diags, "bad-window", part.end ? part : ast->span,
					   "a window %s is not possible" HINT "%s", rules[i].what,
					   rules[i].hint);
	}
	return true;
}

struct find_window {
	struct scope *scope;
	const struct ast_window *window;
	bool is_aggregated; /* one of the selects around it aggregates */
	u32 n_views;
};

static void window_of_select(struct find_window *f, const struct ast_select *s);

static void window_of_source(struct find_window *f, const struct ast_source *source)
{
	const struct view *view = NULL;
	u32 n_views = f->n_views;

	if (!source || f->window)
		return;
	if (source->kind == AST_SOURCE_STREAM && source->n_path == 1 &&
	    f->scope->shared->context->views)
		view = views_find(f->scope->shared->context->views, source->path[0], n_views);
	if (view) {
		f->n_views = (u32)(view - f->scope->shared->context->views->views.at);
		window_of_select(f, view->select);
		f->n_views = n_views;
	}
	if (source->select)
		window_of_select(f, source->select);
	window_of_source(f, source->left);
	window_of_source(f, source->right);
}

static void window_of_expr(struct find_window *f, const struct ast *ast)
{
	if (!ast || f->window)
		return;
	if (ast->select)
		window_of_select(f, ast->select);
	for (u32 i = 0; i < ast->n_args; i++)
		window_of_expr(f, ast->args[i]);
	window_of_expr(f, ast->otherwise);
}

/* That of the select itself goes before those within it. */
static void window_of_select(struct find_window *f, const struct ast_select *s)
{
	bool was_aggregated = f->is_aggregated;

	if (f->window)
		return;
	if (s->window.kind != AST_WINDOW_NONE) {
		f->window = &s->window;
		return;
	}
	for (u32 i = 0; i < s->compound.n; i++)
		window_of_select(f, s->compound.at[i].select);
	if (f->window)
		return;
	f->is_aggregated |= s->is_distinct || bind_is_aggregated(s);
	for (u32 i = 0; i < s->ctes.n; i++)
		window_of_select(f, s->ctes.at[i].select);
	window_of_source(f, s->from);
	window_of_expr(f, s->where);
	window_of_expr(f, s->having);
	for (u32 i = 0; i < s->items.n; i++)
		window_of_expr(f, s->items.at[i].expr);
	if (!f->window)
		f->is_aggregated = was_aggregated;
}

bool bind_find_window(struct scope *scope, const struct ast_select *select)
{
	struct find_window f = { .scope = scope, .n_views = scope->n_views };

	window_of_select(&f, select);
	if (!f.window)
		return true;
	scope->shared->window = window_of(f.window);
	if (f.is_aggregated)
		return diag_refuse(
			scope->diags, "bad-window", f.window->span,
			"this WINDOW is of a nested select, and the one that reads it aggregates: "
			"over how many windows is not said" HINT
			"say WINDOW at the end of the query: all of it is then computed once a "
			"window");
	return check_window(scope, f.window);
}
