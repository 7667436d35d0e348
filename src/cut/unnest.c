/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * UNNEST(h) as an item -> the select without it, which has the histogram or top list in a
 * column and its rows numbered in their order, joined with the cells of that column.
 * ORDER BY and HAVING so work on the rows before there are cells, LIMIT counts cells.
 */
#include <string.h>
#include <strings.h>

#include "cut/internal.h"

bool cut_is_unnest(const struct ast *ast)
{
	return ast->kind == AST_CALL && strcasecmp(ast->text, "unnest") == 0;
}

/* The only UNNEST of the select, or NULL: none, or one too many, with a diagnostic. */
const struct ast_item *cut_unnest_item(struct cutter *c, const struct ast_select *select)
{
	const struct ast_item *found = NULL;

	for (u32 i = 0; i < select->items.n; i++) {
		const struct ast_item *item = &select->items.at[i];

		if (!cut_is_unnest(item->expr) || item->expr->n_args != 1)
			continue;
		if (!found && !select->is_distinct) {
			found = item;
			continue;
		}
		diag_hint(c->diags,
			  diag_error(c->diags, "unnest-here", item->expr->span,
				     found ? "a query has one UNNEST"
					   : "UNNEST() and DISTINCT do not go together"),
			  "SELECT comm, UNNEST(histogram(latency)) ... GROUP BY comm");
		return NULL;
	}
	return found;
}

struct printed cut_unnest_here(struct cutter *c, const struct ast *ast, const char *message)
{
	diag_hint(c->diags, diag_error(c->diags, "unnest-here", ast->span, "%s", message),
		  "SELECT comm, UNNEST(histogram(latency)) ... GROUP BY comm");
	return cut_bad();
}

struct printed cut_unnest_argument(struct cutter *c, struct level *level, const struct ast *ast,
				   struct buf *out)
{
	struct printed p = cut_item(c, level, ast->args[0], out);

	if (p.is_good && p.type.kind != TYPE_HISTOGRAM && p.type.kind != TYPE_TOP)
		return cut_unnest_here(c, ast, "UNNEST() takes a histogram or a top_k()");
	return p;
}

/* The three columns that stand for the one, named as the kernel part names them. */
static void three_columns(struct cutter *c, const struct column *from, struct column *ret_columns)
{
	static const char *const names[][3] = { { "lo", "hi", "count" },
						{ "value", "weight", "error" } };
	bool is_top = from->type.kind == TYPE_TOP;
	struct type type = from->type;

	type.kind = from->type.of;
	type.of = TYPE_NULL;
	if (!is_top) {
		if (type.kind != TYPE_DURATION && type.kind != TYPE_TIMESTAMP)
			type.kind = TYPE_INT;
		type.bits = 64;
		type.is_signed = true;
	}
	for (u32 i = 0; i < 3; i++) {
		bool is_value = is_top ? i == 0 : i < 2;

		ret_columns[i].name = names[is_top][i];
		ret_columns[i].type = is_value ? type : type_int(64, false);
		if (*from->name) /* its alias */
			ret_columns[i].name =
				arena_printf(c->arena, "%s_%s", from->name, names[is_top][i]);
	}
}

void cut_print_unnested(struct cutter *c, struct level *level, const struct schema *inner,
			const char *sql, struct buf *out, struct schema *ret_columns)
{
	const char *rows = arena_printf(c->arena, "t%u", c->n_aliases++);
	const char *cells = arena_printf(c->arena, "t%u", c->n_aliases++);
	u32 n = 0;

	ret_columns->columns = arena_array(c->arena, struct column, inner->n_columns + 2);
	buf_puts(out, "SELECT ");
	for (u32 i = 0; i < inner->n_columns; i++) {
		bool is_unnest = i == level->unnest_column;

		if (is_unnest)
			three_columns(c, &inner->columns[i], &ret_columns->columns[n]);
		else
			ret_columns->columns[n] = inner->columns[i];
		for (u32 k = 0; k < (is_unnest ? 3u : 1u); k++, n++) {
			buf_puts(out, n ? ", " : "");
			if (is_unnest)
				buf_printf(out, "%s.%c", cells, 'a' + (char)k);
			else
				buf_printf(out, "%s.c%u", rows, i);
			buf_printf(out, " AS c%u", n);
		}
	}
	ret_columns->n_columns = n;
	buf_printf(out, " FROM (%s) AS %s, eb_cells(%s.c%u) AS %s", sql, rows, rows,
		   level->unnest_column, cells);
	if (!level->select->compound.n && !level->is_arm)
		level->unnest_order =
			arena_printf(c->arena, " ORDER BY %s.n, %s.cell", rows, cells);
}
