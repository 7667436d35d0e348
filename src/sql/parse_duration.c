/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Durations that are more than one token: 10 SECONDS, INTERVAL '1' SECOND -> ns.
 */
#include <string.h>

#include "sql/parse.h"

#define UNITS_HINT "units are NANOSECOND ... SECOND, MINUTE, HOUR, DAY, or ns ... d"

static void bad_duration(struct parser *p, struct span span, enum lex_problem problem)
{
	if (problem == LEX_BAD_NUMBER)
		parse_report(p, "bad-duration", span, "this is no number of time units");
	else
		parse_problem(p, problem == LEX_TOO_LARGE ? LEX_DURATION_LARGE : problem, span);
}

/* The unit that the current word is: SECOND, minutes, ms; or 0. */
static u64 unit_here(const struct parser *p)
{
	if (!parse_at(p, TOKEN_WORD))
		return 0;
	return unit_of_duration(p->text + p->tok.span.start, p->tok.span.end - p->tok.span.start);
}

bool parse_at_interval(const struct parser *p)
{
	u8 next;

	if (!parse_at_keyword(p, KW_INTERVAL))
		return false;
	next = parse_peek(p).kind;
	return next == TOKEN_TEXT || next == TOKEN_INTEGER || next == TOKEN_REAL;
}

/* INTERVAL '1' SECOND, INTERVAL 1 SECOND, INTERVAL '1 second'. */
u64 parse_interval(struct parser *p, bool *ret_overflow)
{
	enum lex_problem problem = LEX_FINE;
	u32 start = p->tok.span.start, n, n_number;
	u64 unit = 0, value = 0;
	const char *text;

	parse_next(p);
	text = parse_text(p, &p->tok, &n);
	parse_next(p);
	n_number = (u32)strcspn(text, " ");
	if (n_number < n) {
		u32 at = n_number + (u32)strspn(text + n_number, " ");

		unit = unit_of_duration(text + at, n - at);
		if (!unit)
			parse_error(p, "bad-duration", parse_span(p, start),
				    "this interval has an unknown unit");
	} else {
		unit = unit_here(p);
		if (unit)
			parse_next(p);
		else
			parse_error(p, "bad-duration", p->tok.span,
				    "expected a unit of time, found %s" HINT UNITS_HINT,
				    parse_found(p));
	}
	if (unit)
		problem = number_scale(text, n_number, unit, &value);
	if (problem)
		bad_duration(p, parse_span(p, start), problem);
	*ret_overflow = problem == LEX_TOO_LARGE;
	return value;
}

u64 parse_duration(struct parser *p, struct span *ret_span, bool *ret_overflow)
{
	enum lex_problem problem;
	struct token number = p->tok;
	u64 value = number.integer, unit;
	const char *text;
	u32 n;

	*ret_span = number.span;
	*ret_overflow = false;
	if (parse_accept(p, TOKEN_DURATION))
		return value;
	if (parse_at_interval(p)) {
		value = parse_interval(p, ret_overflow);
		*ret_span = parse_span(p, number.span.start);
		return value;
	}
	if (!parse_accept(p, TOKEN_INTEGER) && !parse_accept(p, TOKEN_REAL)) {
		parse_expected(p, "a duration such as 1s");
		return 0;
	}
	/* Reported already, and read as a number. */
	if (number.problem)
		return 0;
	unit = unit_here(p);
	/* A word that begins no clause was meant as a unit. */
	if (!unit && parse_at(p, TOKEN_WORD) && p->tok.keyword == KW_NONE &&
	    parse_misspelt_clause(p) == KW_NONE) {
		parse_report(p, "bad-duration", p->tok.span,
			     "%s is no unit of time" HINT UNITS_HINT, parse_found(p));
		parse_next(p);
		return 0;
	}
	if (!unit) {
		parse_report(p, "bad-duration", number.span,
			     "this duration has no unit" HINT "did you mean %sms?",
			     parse_text(p, &number, NULL));
		return 0;
	}
	parse_next(p);
	*ret_span = parse_span(p, number.span.start);
	text = parse_text(p, &number, &n);
	problem = number_scale(text, n, unit, &value);
	if (problem)
		bad_duration(p, *ret_span, problem);
	*ret_overflow = problem == LEX_TOO_LARGE;
	return value;
}
