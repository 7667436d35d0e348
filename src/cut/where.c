/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * WHERE: each condition goes to the part whose columns it reads, if that can test it;
 * the others are printed for SQLite.
 */
#include <string.h>

#include "cut/internal.h"

/* Windows that rows make, and running sums: only of rows that pass WHERE. */
static bool is_where_first(const struct cutter *c, const struct level *level)
{
	return c->window.kind == AST_WINDOW_SESSION || c->window.kind == AST_WINDOW_COUNT ||
	       level->has_running;
}

static void note_relations(struct cutter *c, struct level *level, const struct ast *ast, u64 *seen,
			   bool *has_unknown)
{
	if (!ast)
		return;
	if (ast->kind == AST_NAME) {
		bool is_known = false;

		for (u32 i = 0; i < level->relations.n && i < 64; i++) {
			struct relation *r = &level->relations.at[i];
			u32 n = r->rows ? r->rows->items.n : 0;
			struct type type;

			if (!r->rows) {
				*has_unknown |= cut_known_column(r, ast) >= 0;
				continue;
			}
			if (cut_rows_column(c, r->rows, ast, NULL, &type) < 0)
				continue;
			r->rows->items.n = r->rows->types.n = r->rows->naming.n = n;
			*seen |= 1ull << i;
			is_known = true;
		}
		*has_unknown |= !is_known;
	}
	for (u32 i = 0; i < ast->n_args; i++)
		note_relations(c, level, ast->args[i], seen, has_unknown);
	note_relations(c, level, ast->otherwise, seen, has_unknown);
}

/* A condition over one stream's columns is the kernel's, if it can test it. */
static bool push_down(struct cutter *c, struct level *level, struct ast *condition)
{
	bool has_unknown = false;
	u64 seen = 0;
	struct relation *r;

	if (cut_is_of_rows(condition))
		return false;
	note_relations(c, level, condition, &seen, &has_unknown);
	if (is_where_first(c, level) && !seen && level->relations.n)
		seen = 1;
	if (has_unknown || !seen || (seen & (seen - 1)))
		return false;
	r = &level->relations.at[__builtin_ctzll(seen)];
	return r->rows && !r->is_nullable && cut_rows_where(c, r->rows, condition);
}

bool cut_refuse_aggregate(struct cutter *c, const struct ast *ast, const char *why)
{
	diag_error(c->diags, "aggregate-not-allowed", ast->span,
		   "an aggregate cannot stand here: %s", why);
	return false;
}

static bool refuse_condition(struct cutter *c, const struct ast *ast)
{
	diag_hint(c->diags,
		  diag_error(c->diags, "not-supported", ast->span,
			     "this condition cannot be tested before the rows are counted, as "
			     "windows of COUNT and SESSION and running sums need it"),
		  "count(*) FILTER (WHERE ...), sum(x) FILTER (WHERE ...) take any condition");
	return false;
}

bool cut_where(struct cutter *c, struct level *level, struct ast *ast, bool *is_first,
	       struct buf *out)
{
	if (ast->kind == AST_BINARY && ast->op == OP_AND)
		return cut_where(c, level, ast->args[0], is_first, out) &&
		       cut_where(c, level, ast->args[1], is_first, out);
	if (cut_has_aggregate(ast))
		return cut_refuse_aggregate(c, ast,
					    "WHERE is evaluated for each row, before there are "
					    "groups");
	if (push_down(c, level, ast))
		return true;
	/* Rows that do not pass would be counted, and would hold sessions together. */
	if (is_where_first(c, level))
		return refuse_condition(c, ast);
	cut_note(c, "where", ast,
		 cut_is_of_rows(ast) ? "it has a sub-query"
		 : level->relations.n > 1 && c->is_kernel
			 ? "of several members of FROM, behind a LEFT JOIN, or a function of SQLite"
		 : c->is_kernel ? "functions and values that only user space has"
				: "pushdown is off");
	buf_puts(out, *is_first ? " WHERE " : " AND ");
	*is_first = false;
	return cut_condition(c, level, ast, out).is_good;
}
