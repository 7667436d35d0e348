/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * WINDOW in all its spellings -> struct ast_window.  Times become ns here; what
 * size is sensible is the binder's question.
 */
#include "sql/parse.h"

#define NS_PER_MS 1000000u

/* Number of events of a COUNT window. */
static u64 parse_count(struct parser *p, struct span *ret_span)
{
	u64 count = p->tok.integer;

	*ret_span = p->tok.span;
	if (parse_at(p, TOKEN_DURATION)) {
		parse_error(p, "bad-duration", p->tok.span,
			    "a COUNT window is measured in events, not in time" HINT
			    "write COUNT (SIZE 1024), or TUMBLING and a time");
	}
	parse_expect(p, TOKEN_INTEGER, "a number of events");
	return count;
}

/* A number of events or a time; of WINDOW(time, 1000, 1000) milliseconds unless it has a unit. */
static u64 read_length(struct parser *p, struct ast_window *window, bool is_ms,
		       struct span *ret_span)
{
	bool overflow = false;
	u64 value;

	if (window->kind == AST_WINDOW_COUNT)
		return parse_count(p, ret_span);
	if (!is_ms || !parse_at(p, TOKEN_INTEGER)) {
		value = parse_duration(p, ret_span, &overflow);
		window->overflow |= overflow;
		return value;
	}
	value = p->tok.integer;
	*ret_span = p->tok.span;
	if (value > UINT64_MAX / NS_PER_MS) {
		parse_report(p, "number-too-large", p->tok.span,
			     "a window of %llu ms does not fit 64 bits of nanoseconds",
			     (unsigned long long)value);
		window->overflow = true;
		value = UINT64_MAX / NS_PER_MS;
	}
	parse_next(p);
	return value * NS_PER_MS;
}

static void read_size(struct parser *p, struct ast_window *window, bool is_ms)
{
	window->size = read_length(p, window, is_ms, &window->size_span);
	window->advance = window->size;
	window->advance_span = window->size_span;
}

/* PER CPU and PER GROUP, behind the size or the advance of COUNT, or behind its ")". */
static void read_scope(struct parser *p, struct ast_window *window)
{
	struct span span = p->tok.span;

	if (window->kind != AST_WINDOW_COUNT || !parse_word_is(p, "per"))
		return;
	if (window->scope != AST_COUNT_ALL) {
		parse_error(p, "syntax-error", span, "a COUNT window has one PER");
		return;
	}
	parse_next(p);
	if (parse_word_is(p, "cpu"))
		window->scope = AST_COUNT_PER_CPU;
	else if (parse_at_keyword(p, KW_GROUP))
		window->scope = AST_COUNT_PER_GROUP;
	else
		parse_expected(p, "CPU or GROUP");
	if (window->scope != AST_COUNT_ALL)
		parse_next(p);
}

/*
 * What stands behind the kind: "(SIZE a, ADVANCE BY b)", "a BY b", "a"; for COUNT also
 * "(SIZE a PER CPU, ADVANCE BY b)" and "(SIZE a, ADVANCE BY b) PER GROUP".
 */
static void read_kind(struct parser *p, struct ast_window *window)
{
	bool has_parens = parse_at(p, TOKEN_OPEN);
	bool may_advance = window->kind == AST_WINDOW_HOPPING || window->kind == AST_WINDOW_COUNT;
	bool has_advance = false;
	struct span open = { 0 };

	if (has_parens)
		open = parse_open(p);
	parse_accept_keyword(p, window->kind == AST_WINDOW_SESSION ? KW_GAP : KW_SIZE);
	read_size(p, window, false);
	read_scope(p, window);
	if (may_advance) {
		has_advance = has_parens && parse_accept(p, TOKEN_COMMA);
		if (parse_accept_keyword(p, KW_ADVANCE)) {
			parse_expect_keyword(p, KW_BY);
			has_advance = true;
		} else if (!has_advance) {
			has_advance = parse_accept_keyword(p, KW_BY);
		}
	}
	if (has_advance) {
		window->advance = read_length(p, window, false, &window->advance_span);
		read_scope(p, window);
	}
	if (has_parens) {
		parse_close(p, open);
		read_scope(p, window);
	}
	if (window->kind == AST_WINDOW_HOPPING && !has_advance) {
		parse_error(p, "syntax-error", parse_span(p, window->span.start),
			    "a HOPPING window has a size and an advance" HINT
			    "write HOPPING 10s BY 1s, or TUMBLING 10s");
	}
}

/* WINDOW(time, 1000, 1000), WINDOW(count, 1024, 256) and WINDOW(count, 1024) PER CPU. */
static void read_arguments(struct parser *p, struct ast_window *window)
{
	struct span open = parse_open(p);
	bool is_count = parse_at_keyword(p, KW_COUNT);

	if (!is_count && !parse_at_keyword(p, KW_TIME)) {
		parse_expected(p, "time or count");
		return;
	}
	parse_next(p);
	parse_expect(p, TOKEN_COMMA, "\",\"");
	window->kind = is_count ? AST_WINDOW_COUNT : AST_WINDOW_HOPPING;
	read_size(p, window, true);
	if (parse_accept(p, TOKEN_COMMA))
		window->advance = read_length(p, window, true, &window->advance_span);
	read_scope(p, window);
	parse_close(p, open);
	read_scope(p, window);
	if (!is_count && window->advance == window->size)
		window->kind = AST_WINDOW_TUMBLING;
}

struct ast_window parse_window(struct parser *p)
{
	static const enum keyword names[] = { KW_TUMBLING, KW_HOPPING, KW_COUNT, KW_SESSION };
	static const enum ast_window_kind kinds[] = { AST_WINDOW_TUMBLING, AST_WINDOW_HOPPING,
						      AST_WINDOW_COUNT, AST_WINDOW_SESSION };
	struct ast_window window = { .span = p->tok.span };

	parse_next(p); /* WINDOW */
	parse_mend(p, names, ARRAY_SIZE(names), "is no kind of window");
	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		if (parse_at_keyword(p, names[i]))
			window.kind = kinds[i];
	if (window.kind != AST_WINDOW_NONE) {
		parse_next(p);
		read_kind(p, &window);
	} else if (parse_at(p, TOKEN_OPEN)) {
		read_arguments(p, &window);
	} else {
		parse_expected(p, "TUMBLING, HOPPING, COUNT or SESSION");
	}
	window.span = parse_span(p, window.span.start);
	return window;
}
