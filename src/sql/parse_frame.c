/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The frame of OVER: ROWS BETWEEN 2 PRECEDING AND CURRENT ROW -> its text, checked, with times in
 * ns.  What SQLite refuses is refused here, with its place.
 */
#include <string.h>
#include <strings.h>

#include "sql/parse.h"

/* In the order in which bounds may follow each other. */
enum bound { FROM_START, PRECEDING, CURRENT, FOLLOWING, TO_END };

#define FRAME_HINT "for example ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"

bool parse_at_frame(const struct parser *p)
{
	struct token next = parse_peek(p);

	if (!parse_word_is(p, "ROWS") && !parse_word_is(p, "RANGE") && !parse_word_is(p, "GROUPS"))
		return false;
	return next.kind == TOKEN_WORD || next.kind == TOKEN_INTEGER || next.kind == TOKEN_REAL ||
	       next.kind == TOKEN_DURATION || next.kind == TOKEN_MINUS;
}

static void bad_frame(struct parser *p, struct span span, const char *message, const char *hint)
{
	parse_error(p, "bad-frame", span, "%s" HINT "%s", message, hint);
}

/* The number before PRECEDING or FOLLOWING. */
static bool take_distance(struct parser *p, bool is_range, struct buf *out)
{
	struct span span = p->tok.span;

	if (parse_at(p, TOKEN_INTEGER) || (parse_at(p, TOKEN_DURATION) && is_range)) {
		if (p->tok.integer > INT64_MAX) {
			bad_frame(p, span, "a frame reaches at most 2^63 - 1 far", FRAME_HINT);
			return false;
		}
		buf_put_u64(out, p->tok.integer);
	} else if (parse_at(p, TOKEN_REAL) && is_range) {
		buf_puts(out, parse_text(p, &p->tok, NULL));
	} else {
		bad_frame(p, span,
			  is_range ? "a frame of RANGE reaches a number or a time far"
				   : "a frame of ROWS or GROUPS reaches a whole number far",
			  FRAME_HINT);
		return false;
	}
	parse_next(p);
	return true;
}

static bool take_bound(struct parser *p, bool is_range, struct buf *out, enum bound *ret_bound)
{
	static const struct {
		const char *first, *second; /* NULL: a number */
	} bounds[] = {
		[FROM_START] = { "UNBOUNDED", "PRECEDING" },
		[PRECEDING] = { NULL, "PRECEDING" },
		[CURRENT] = { "CURRENT", "ROW" },
		[FOLLOWING] = { NULL, "FOLLOWING" },
		[TO_END] = { "UNBOUNDED", "FOLLOWING" },
	};
	const char *first = parse_word_is(p, "UNBOUNDED") ? "UNBOUNDED"
			    : parse_word_is(p, "CURRENT") ? "CURRENT"
							  : NULL;

	if (first) {
		parse_next(p);
		buf_puts(out, first);
	} else if (!take_distance(p, is_range, out)) {
		return false;
	}
	for (u32 i = 0; i < ARRAY_SIZE(bounds); i++) {
		if (!first != !bounds[i].first || (first && strcmp(first, bounds[i].first) != 0) ||
		    !parse_accept_word(p, bounds[i].second))
			continue;
		buf_printf(out, " %s", bounds[i].second);
		*ret_bound = i;
		return true;
	}
	bad_frame(p, p->tok.span,
		  first && *first == 'C' ? "ROW is missing behind CURRENT"
					 : "PRECEDING or FOLLOWING is missing here",
		  FRAME_HINT);
	return false;
}

static bool take_exclude(struct parser *p, struct buf *out)
{
	static const char *const forms[][2] = {
		{ "NO", "OTHERS" }, { "CURRENT", "ROW" }, { "GROUP", NULL }, { "TIES", NULL }
	};

	if (!parse_accept_word(p, "EXCLUDE"))
		return true;
	for (u32 i = 0; i < ARRAY_SIZE(forms); i++) {
		if (!parse_accept_word(p, forms[i][0]))
			continue;
		if (forms[i][1] && !parse_accept_word(p, forms[i][1]))
			break;
		buf_printf(out, " EXCLUDE %s%s%s", forms[i][0], forms[i][1] ? " " : "",
			   forms[i][1] ? forms[i][1] : "");
		return true;
	}
	bad_frame(p, p->tok.span, "this is nothing that a frame can exclude",
		  "EXCLUDE NO OTHERS, CURRENT ROW, GROUP or TIES");
	return false;
}

/* Of which rows, and in which order, the frame is. */
static void check_frame(struct parser *p, const struct ast *call, struct span span, enum bound from,
			enum bound to)
{
	bool has_distance =
		from == PRECEDING || from == FOLLOWING || to == PRECEDING || to == FOLLOWING;

	if (from > to || from == TO_END || to == FROM_START)
		bad_frame(p, span, "this frame ends before it begins", FRAME_HINT);
	else if (sql_is_range(p->text + span.start) && has_distance && call->n_order_by != 1)
		bad_frame(p, span, "RANGE with a distance goes by one ORDER BY expression",
			  "OVER (ORDER BY time RANGE 1s PRECEDING), or count ROWS");
}

static bool take_frame(struct parser *p, const struct ast *call, struct buf *out)
{
	u32 start = p->tok.span.start;
	bool is_range = parse_word_is(p, "RANGE");
	enum bound from, to = CURRENT;

	buf_puts(out, is_range ? "RANGE " : parse_word_is(p, "ROWS") ? "ROWS " : "GROUPS ");
	parse_next(p);
	if (parse_accept_keyword(p, KW_BETWEEN)) {
		buf_puts(out, "BETWEEN ");
		if (!take_bound(p, is_range, out, &from))
			return false;
		if (!parse_accept_keyword(p, KW_AND)) {
			bad_frame(p, p->tok.span, "AND and the other bound are missing here",
				  FRAME_HINT);
			return false;
		}
		buf_puts(out, " AND ");
		if (!take_bound(p, is_range, out, &to))
			return false;
	} else if (!take_bound(p, is_range, out, &from)) {
		return false;
	}
	check_frame(p, call, parse_span(p, start), from, to);
	return take_exclude(p, out);
}

void parse_frame(struct parser *p, struct ast *call)
{
	struct buf text;

	if (!parse_at_frame(p))
		return;
	buf_init_in(&text, p->arena);
	if (take_frame(p, call, &text))
		call->frame = text.at;
}

bool sql_is_range(const char *frame)
{
	return frame && strncasecmp(frame, "RANGE", 5) == 0;
}
