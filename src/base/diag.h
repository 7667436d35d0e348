/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Diagnostics: what the user did wrong, where (a span of the query text), and
 * how to mend it.  Every diagnostic has a stable tag ("unknown-column"), listed
 * in docs/diagnostics.md and covered by a test.  Printed with the source line
 * and a caret; at most five per query.
 */
#ifndef EBQL_BASE_DIAG_H
#define EBQL_BASE_DIAG_H

#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

/* Bytes [start, end) of the query text. */
struct span {
	u32 start, end;
};

/* Of what has no place in the text. */
#define SPAN_NONE ((struct span){ UINT32_MAX, UINT32_MAX })

static inline struct span span_join(struct span a, struct span b)
{
	return (struct span){ MIN(a.start, b.start), MAX(a.end, b.end) };
}

struct diag {
	const char *tag;
	const char *message;
	const char *hint; /* NULL when there is none */
	struct span span;
	bool has_span;
	bool is_warning;
	bool is_loss;	 /* a warning of rows that are missing */
	bool is_failure; /* the text is not to blame: the exit status is 1, not 2 */
};

struct diags {
	struct arena *arena;
	const char *file; /* "query", or the name after -f */
	bool is_of_many;  /* texts: what has no place in this one is told with the file, too */
	bool is_shipped; /* with ebql: what it names and is not there is no mistake of the user's */
	const char *text; /* a NUL follows its text_bytes */
	size_t text_bytes;
	u32 columns;	       /* of the terminal that they are printed for; 0: none */
	VEC(struct diag) list; /* the first DIAG_MAX errors and the warnings */
	u32 n_errors;	       /* counts also those that were not kept */
};

#define DIAG_MAX 5

void diags_init(struct diags *diags, struct arena *arena, const char *file, const char *text,
		size_t text_bytes);

enum diag_kind { DIAG_ERROR, DIAG_WARNING, DIAG_FAILURE };

/* Between the message and the hint in the format of any diagnostic: "no such x" HINT "take y" */
#define HINT "\f"
/* Returns the diagnostic so that a hint can be added, or NULL when it was one too many. */
struct diag *diag_add(struct diags *diags, enum diag_kind kind, const char *tag, struct span span,
		      const char *format, ...) PRINTF(5, 6);
struct diag *diag_vadd(struct diags *diags, enum diag_kind kind, const char *tag, struct span span,
		       const char *format, va_list args) PRINTF(5, 0);
/* diags, tag, span, format, ... */
#define diag_error(diags, ...)	 diag_add(diags, DIAG_ERROR, __VA_ARGS__)
#define diag_warning(diags, ...) diag_add(diags, DIAG_WARNING, __VA_ARGS__)
/* What the text is not to blame for (a missing privilege, a refused attach), at a place. */
#define diag_failure_at(diags, ...) diag_add(diags, DIAG_FAILURE, __VA_ARGS__)
/* diags, tag, format, ...: without a place in the text */
#define diag_plain(diags, tag, ...)   diag_error(diags, tag, SPAN_NONE, __VA_ARGS__)
#define diag_failure(diags, tag, ...) diag_failure_at(diags, tag, SPAN_NONE, __VA_ARGS__)
/* diag_error() for who gives up with it: always NULL, which is false, too. */
#define diag_refuse(diags, ...) diag_none(diag_error(diags, __VA_ARGS__))
static inline void *diag_none(const struct diag *diag)
{
	(void)diag;
	return NULL;
}
/*
 * What helps against an errno for which neither a query nor ebql is to blame but the machine, or a
 * limit of this process; NULL: it is none of these.
 */
const char *diag_machine_hint(int error);
/* Does nothing when diag is NULL. */
void diag_hint(struct diags *diags, struct diag *diag, const char *format, ...) PRINTF(3, 4);
/* Has a text of ebql's own that there?  What stands for a parameter is the user's all the same. */
static inline bool diags_is_ours(const struct diags *diags, struct span span)
{
	return diags->is_shipped && span.start < diags->text_bytes &&
	       diags->text[span.start] != ':';
}
/* Is there an error that the text is not to blame for? */
bool diags_have_failure(const struct diags *diags);
static inline bool diags_failed(const struct diags *diags)
{
	return diags->n_errors > 0;
}
/*
 * error[tag]: message
 *   query:1:8
 *   SELECT pidd FROM ...
 *          ^^^^
 *   hint: did you mean "pid"?
 */
void diags_print(const struct diags *diags, struct buf *out);

/* Where a span begins, from 1: columns are characters.  0, 0: it has no place in the text. */
void diags_place(const struct diags *diags, struct span span, u32 *ret_line, u32 *ret_column);

/* Did-you-mean: offer every candidate, then take the best (NULL when none is near). */
struct suggest {
	const char *wanted;
	const char *best;
	u32 best_distance;
};

void suggest_init(struct suggest *suggest, const char *wanted);
void suggest_offer(struct suggest *suggest, const char *candidate);
const char *suggest_best(const struct suggest *suggest);

#endif
