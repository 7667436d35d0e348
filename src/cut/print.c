/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * EXPLAIN of a cut: what the kernel does, what user space does, and why.
 */
#include "cut/build.h"

const char *cut_reason_text(enum cut_reason reason)
{
	static const char *const texts[] = {
		[CUT_KERNEL] = "aggregated in the kernel, one row a group and window",
		[CUT_PUSHDOWN] =
			"pushdown is off: the kernel streams the columns of each scan, and "
			"nothing else, so max_groups limits nothing",
		[CUT_RECORDED] = "recorded rows are read in user space",
		[CUT_TABLE] = "a file without times, or beside streams of the kernel, is "
			      "a table: all of it, in every window",
		[CUT_ITERATOR] = "a list of the kernel is a table: read anew for each window, by a "
				 "program that hands on the columns that are used",
		[CUT_STREAMED] = "rows stream from the kernel",
		[CUT_ROWS] = "SQLite needs the rows themselves: the kernel filters, "
			     "pairs and streams the columns that are used",
		[CUT_ROW_WINDOW] = "windows that rows end are made in user space",
		[CUT_JOIN] = "of the rows of one window",
		[CUT_SELECT] = "of the rows of another select",
		[CUT_CONDITION] = "a condition that only user space can test",
		[CUT_KEY] = "a key that only user space can compute",
		[CUT_ARGUMENT] = "an aggregate of what only user space can compute",
		[CUT_AGGREGATE] = "an aggregate that only user space has",
		[CUT_DISTINCT] = "DISTINCT in an aggregate",
		[CUT_REGROUPED] =
			"aggregated in the kernel, by the distinct values too; SQLite puts "
			"the groups together",
		[CUT_NAMED] = "aggregated in the kernel, by the addresses; SQLite puts those of "
			      "one name together",
		[CUT_GROUPS] = "over what was aggregated",
		[CUT_WINDOW] = "over the rows of a window",
	};

	return texts[reason];
}

void cut_note(struct cutter *c, const char *clause, const struct expr *e, enum cut_reason reason)
{
	struct buf text;

	buf_init_in(&text, c->arena);
	buf_puts(&text, clause);
	if (e) {
		buf_putc(&text, ' ');
		expr_print(e, &text);
	}
	buf_printf(&text, ": %s", cut_reason_text(reason));
	vec_push(c->arena, &c->notes, text.at);
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
	static const char *const per[] = { [COUNT_GLOBAL] = "",
					   [COUNT_PER_CPU] = ", each CPU's by itself",
					   [COUNT_PER_GROUP] = ", each group's by itself" };
	const struct cut_window *w = &cut->window;
	unsigned long long size = w->size, advance = w->advance;

	if (w->kind == WINDOW_NONE)
		buf_puts(out, cut->is_streaming ? "user: rows as they come\n"
						: "user: all rows since the start\n");
	else if (w->kind == WINDOW_TUMBLING)
		buf_printf(out, "user: window tumbling %lluns\n", size);
	else if (w->kind == WINDOW_HOPPING && !hop_between_ns(size, advance))
		buf_printf(out, "user: window hopping %lluns by %lluns, of %llu panes\n", size,
			   advance, size / advance);
	else if (w->kind == WINDOW_HOPPING)
		buf_printf(out,
			   "user: window hopping %lluns by %lluns, of %llu pane%s: one ends each "
			   "%lluns and %lluns after that\n",
			   size, advance, (unsigned long long)hop_n_panes(size, advance),
			   size < advance ? "" : "s", advance,
			   (unsigned long long)hop_between_ns(size, advance));
	else if (w->kind == WINDOW_COUNT)
		buf_printf(out,
			   "user: window of %llu rows by %llu%s: every row streams to user "
			   "space, where rows are counted in the order of their times\n",
			   size, advance, per[w->scope]);
	else
		buf_printf(out,
			   "user: a window ends %lluns after its last row%s: every row streams "
			   "to user space\n",
			   size, w->n_key_columns ? per[COUNT_PER_GROUP] : "");
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
	print_window(cut, out);
	for (u32 i = 0; i < cut->n_notes; i++)
		buf_printf(out, "user: %s\n", cut->notes[i]);
	if (cut->sql)
		buf_printf(out, "user: SQLite: %s\n", cut->sql);
	buf_puts(out, "  output ");
	print_columns(&cut->output, out);
	buf_putc(out, '\n');
}
