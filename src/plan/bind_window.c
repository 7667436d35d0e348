/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The one WINDOW of a query, wherever it is said; which sizes and advances are possible,
 * and why others are not.
 */
#include <string.h>

#include "plan/bind.h"

#define WINDOW_MIN_NS 1000000ull
#define WINDOW_MAX_NS (24ull * 3600 * 1000000000)

static void refuse_window(struct scope *scope, struct span span, const char *wrong,
			  const char *hint)
{
	diag_hint(
		scope->diags,
		diag_error(scope->diags, "bad-window", span, "a window %s is not possible", wrong),
		"%s", hint);
}

static bool check_hops(struct scope *scope, const struct ast_window *w)
{
	struct span span = w->advance_span.end ? w->advance_span : w->span;
	const char *wrong = NULL;
	u64 between_ns;

	if (w->advance > WINDOW_MAX_NS)
		wrong = "that advances by more than a day";
	else if (w->advance == 0)
		wrong = "that does not advance";
	else if (w->advance < WINDOW_MIN_NS)
		wrong = "that advances by less than a millisecond";
	if (wrong) {
		refuse_window(scope, span, wrong, "advance by 1ms to 1d");
		return false;
	}
	between_ns = hop_between_ns(w->size, w->advance);
	if (between_ns && (between_ns < WINDOW_MIN_NS || w->advance - between_ns < WINDOW_MIN_NS)) {
		refuse_window(scope, span, "that begins within 1ms of where another one ends",
			      "an advance that divides the size, or leaves at least 1ms");
		return false;
	}
	if (hop_n_panes(w->size, w->advance) > HOP_PANES_MAX) {
		refuse_window(scope, span, "of more than 65,536 panes", "a longer advance");
		return false;
	}
	return true;
}

bool bind_check_window(struct scope *scope)
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
		return w->kind != AST_WINDOW_HOPPING || check_hops(scope, w);
	refuse_window(scope, span, wrong,
		      "from 1ms to 1d; without WINDOW a query counts until it ends");
	return false;
}

static bool same_window(const struct ast_window *w, const struct query_window *q)
{
	static const enum window_kind kinds[] = { [AST_WINDOW_NONE] = WINDOW_NONE,
						  [AST_WINDOW_TUMBLING] = WINDOW_TUMBLING,
						  [AST_WINDOW_HOPPING] = WINDOW_HOPPING,
						  [AST_WINDOW_COUNT] = WINDOW_COUNT,
						  [AST_WINDOW_SESSION] = WINDOW_SESSION };
	u64 advance = w->kind == AST_WINDOW_TUMBLING ? w->size : w->advance;
	enum window_kind kind = kinds[w->kind];

	if (kind == WINDOW_HOPPING && advance == w->size)
		kind = WINDOW_TUMBLING;
	return kind == q->kind && w->size == q->size && advance == q->advance &&
	       (enum count_scope)w->scope == q->scope;
}

/* The selects of one query have one window; false after a diagnostic. */
bool bind_take_window(struct scope *scope)
{
	const struct ast_window *w = &scope->select->window;

	if (w->kind == AST_WINDOW_NONE || same_window(w, &scope->shared->window))
		return true;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "bad-window", w->span,
			     "the selects of one query have one window, this is another one"),
		  "say WINDOW once, at the end of the query");
	return false;
}

struct find_window {
	struct scope *scope;
	const struct ast_window *window;
	bool is_aggregated; /* one of the selects around it aggregates */
	u32 n_views;
};

static void window_of_select(struct find_window *f, const struct ast_select *s, bool is_within);

static void window_of_source(struct find_window *f, const struct ast_source *source)
{
	const struct view *view = NULL;
	u32 n_views = f->n_views;

	if (!source || f->window)
		return;
	if (source->kind == AST_SOURCE_STREAM && source->n_path == 1 && f->scope->shared->views)
		view = views_find(f->scope->shared->views, source->path[0], n_views);
	if (view) {
		f->n_views = (u32)(view - f->scope->shared->views->views.at);
		window_of_select(f, view->select, true);
		f->n_views = n_views;
	}
	if (source->select)
		window_of_select(f, source->select, true);
	window_of_source(f, source->left);
	window_of_source(f, source->right);
}

static void window_of_expr(struct find_window *f, const struct ast *ast)
{
	if (!ast || f->window)
		return;
	if (ast->select)
		window_of_select(f, ast->select, true);
	for (u32 i = 0; i < ast->n_args; i++)
		window_of_expr(f, ast->args[i]);
	window_of_expr(f, ast->otherwise);
}

/* That of the select itself goes before those within it. */
static void window_of_select(struct find_window *f, const struct ast_select *s, bool is_within)
{
	bool was_aggregated = f->is_aggregated;

	if (f->window)
		return;
	if (s->window.kind != AST_WINDOW_NONE) {
		f->window = &s->window;
		return;
	}
	for (u32 i = 0; i < s->compound.n; i++)
		window_of_select(f, s->compound.at[i].select, is_within);
	if (f->window)
		return;
	f->is_aggregated |= s->is_distinct || bind_is_aggregated(s);
	for (u32 i = 0; i < s->ctes.n; i++)
		window_of_select(f, s->ctes.at[i].select, true);
	window_of_source(f, s->from);
	window_of_expr(f, s->where);
	window_of_expr(f, s->having);
	for (u32 i = 0; i < s->items.n; i++)
		window_of_expr(f, s->items.at[i].expr);
	if (!f->window)
		f->is_aggregated = was_aggregated;
}

static bool bad_window(struct scope *scope, struct span span, const char *message, const char *hint)
{
	diag_hint(scope->diags, diag_error(scope->diags, "bad-window", span, "%s", message), "%s",
		  hint);
	return false;
}

static struct span or_whole(struct span part, struct span whole)
{
	return part.end ? part : whole;
}

#define COUNT_MAX (1ull << 32)

static bool check_rows_window(struct scope *scope, const struct ast_window *ast)
{
	const struct query_window *w = &scope->shared->window;

	if (!w->size)
		return bad_window(scope, or_whole(ast->size_span, ast->span),
				  "a window of no size is not possible",
				  "TUMBLING 1s, COUNT (SIZE 1024), SESSION (GAP 100ms)");
	if (!w->advance && w->kind == WINDOW_COUNT)
		return bad_window(scope, or_whole(ast->advance_span, ast->span),
				  "a window that does not advance is not possible",
				  "advance by 1ms, or by 1 row, or by more");
	if (w->kind == WINDOW_COUNT && (w->size > COUNT_MAX || w->advance > COUNT_MAX))
		return bad_window(scope, ast->span, "a window of so many rows is not possible",
				  "the rows of a count window are kept in memory");
	return true;
}

bool bind_find_window(struct scope *scope, const struct ast_select *select)
{
	struct find_window f = { .scope = scope, .n_views = scope->n_views };
	struct query_window *w = &scope->shared->window;
	struct ast_select own = *select;
	struct scope of = *scope;

	window_of_select(&f, select, false);
	if (!f.window)
		return true;
	scope->shared->is_windowed = true;
	*w = (struct query_window){ .size = f.window->size,
				    .advance = f.window->kind == AST_WINDOW_TUMBLING
						       ? f.window->size
						       : f.window->advance,
				    .scope = (enum count_scope)f.window->scope,
				    .span = f.window->span };
	w->kind = f.window->kind == AST_WINDOW_COUNT	 ? WINDOW_COUNT
		  : f.window->kind == AST_WINDOW_SESSION ? WINDOW_SESSION
		  : w->advance == w->size		 ? WINDOW_TUMBLING
							 : WINDOW_HOPPING;
	if (f.window->overflow)
		return bad_window(scope, or_whole(f.window->size_span, f.window->span),
				  "a window of this size is not possible",
				  "a window is at most a day long");
	if (f.is_aggregated)
		return bad_window(scope, f.window->span,
				  "this WINDOW is of a nested select, and the one that reads it "
				  "aggregates: over how many windows is not said",
				  "say WINDOW at the end of the query: all of it is then computed "
				  "once a window");
	if (w->kind == WINDOW_COUNT || w->kind == WINDOW_SESSION)
		return check_rows_window(scope, f.window);
	own.window = *f.window;
	of.select = &own;
	return bind_check_window(&of);
}
