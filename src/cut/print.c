/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * EXPLAIN of a cut: what the kernel does, what user space does, and why.
 */
#include "cut/internal.h"

void cut_note(struct cutter *c, const char *clause, const struct ast *ast, const char *why)
{
	struct buf text;

	buf_init(&text);
	buf_puts(&text, clause);
	if (ast) {
		buf_putc(&text, ' ');
		sql_print_expr(ast, &text);
	}
	buf_printf(&text, ": %s", why);
	vec_push(c->arena, &c->notes, arena_strdup(c->arena, text.at));
	buf_free(&text);
}

static const char *const kinds[] = {
	[PART_GROUPS] = "groups", [PART_ROWS] = "rows", [PART_TABLE] = "table"
};

static void print_columns(const struct schema *columns, struct buf *out)
{
	for (u32 i = 0; i < columns->n_columns; i++) {
		buf_printf(out, "%sc%u=%s ", i ? ", " : "", i, columns->columns[i].name);
		type_print(columns->columns[i].type, out);
	}
}

static void print_window(const struct cut *cut, struct buf *out)
{
	const struct cut_window *w = &cut->window;
	unsigned long long size = w->size, advance = w->advance;

	switch (w->kind) {
	case WINDOW_NONE:
		buf_puts(out, cut->is_streaming ? "user: rows as they come\n"
						: "user: all rows since the start\n");
		break;
	case WINDOW_TUMBLING:
		buf_printf(out, "user: window tumbling %lluns\n", size);
		break;
	case WINDOW_HOPPING:
		buf_printf(out, "user: window hopping %lluns by %lluns\n", size, advance);
		break;
	case WINDOW_COUNT:
		buf_printf(out,
			   "user: window of %llu rows by %llu%s: every row streams to user "
			   "space, where rows are counted in the order of their times\n",
			   size, advance,
			   w->scope == COUNT_PER_CPU	 ? ", each CPU's by itself"
			   : w->scope == COUNT_PER_GROUP ? ", each group's by itself"
							 : "");
		break;
	case WINDOW_SESSION:
		buf_printf(out,
			   "user: a window ends %lluns after its last row%s: every row streams "
			   "to user space\n",
			   size, w->n_key_columns ? ", each group's by itself" : "");
		break;
	}
}

void cut_print(const struct cut *cut, struct buf *out)
{
	for (u32 i = 0; i < cut->n_parts; i++) {
		const struct cut_part *p = &cut->parts[i];

		buf_printf(out, "%s: part %s, %s: %s\n", p->is_kernel ? "kernel" : "user", p->name,
			   kinds[p->kind], p->reason);
		if (p->where)
			buf_printf(out, "  where %s\n", p->where);
		if (p->columns.n_columns) {
			buf_puts(out, "  columns ");
			print_columns(&p->columns, out);
			buf_putc(out, '\n');
		}
	}
	if (!cut->sql)
		return;
	if (cut->why)
		buf_printf(out, "user: needed for: %s\n", cut->why);
	print_window(cut, out);
	for (u32 i = 0; i < cut->n_notes; i++)
		buf_printf(out, "user: %s\n", cut->notes[i]);
	buf_printf(out, "user: SQLite: %s\n", cut->sql);
	buf_puts(out, "  output ");
	print_columns(&cut->output, out);
	buf_putc(out, '\n');
}
