/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which sizes and advances of a WINDOW of time are possible, and why others are not.
 */
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
