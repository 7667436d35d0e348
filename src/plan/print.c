/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Plans and bound expressions -> text, for EXPLAIN and for the user part's SQL.
 */
#include <string.h>

#include "plan/plan.h"

static void text_print(const char *text, u32 n, struct buf *out)
{
	buf_putc(out, '\'');
	for (u32 i = 0; i < n; i++) {
		if (text[i] == '\'')
			buf_putc(out, '\'');
		buf_putc(out, text[i]);
	}
	buf_putc(out, '\'');
}

static void list_print(const struct expr *e, u32 from, struct buf *out)
{
	for (u32 i = from; i < e->n_args; i++) {
		if (i > from)
			buf_puts(out, ", ");
		expr_print(e->args[i], out);
	}
}

static void op_print(const struct expr *e, struct buf *out)
{
	buf_putc(out, '(');
	if (e->n_args == 1) {
		buf_printf(out, "%s ", ast_op_names[e->op]);
		expr_print(e->args[0], out);
	} else {
		expr_print(e->args[0], out);
		buf_printf(out, " %s ", ast_op_names[e->op]);
		expr_print(e->args[1], out);
	}
	buf_putc(out, ')');
}

static void case_print(const struct expr *e, struct buf *out)
{
	buf_puts(out, "CASE");
	for (u32 i = 0; i + 1 < e->n_args; i += 2) {
		buf_puts(out, " WHEN ");
		expr_print(e->args[i], out);
		buf_puts(out, " THEN ");
		expr_print(e->args[i + 1], out);
	}
	buf_puts(out, " ELSE ");
	expr_print(e->args[e->n_args - 1], out);
	buf_puts(out, " END");
}

static void call_print(const struct expr *e, struct buf *out)
{
	if (strncmp(e->name, "CAST AS ", 8) == 0) {
		buf_puts(out, "CAST(");
		expr_print(e->args[0], out);
		buf_printf(out, " %s)", e->name + 5);
		return;
	}
	buf_printf(out, "%s(", e->name);
	list_print(e, 0, out);
	buf_putc(out, ')');
}

void expr_print(const struct expr *e, struct buf *out)
{
	switch (e->kind) {
	case EXPR_NULL:
		buf_puts(out, "NULL");
		break;
	case EXPR_INTEGER:
		buf_put_s128(out, e->integer);
		break;
	case EXPR_REAL:
		buf_printf(out, "%.17g", e->real);
		if (e->real == (double)(s64)e->real)
			buf_puts(out, ".0");
		break;
	case EXPR_TEXT:
		text_print(e->text, e->text_bytes, out);
		break;
	case EXPR_FIELD:
	case EXPR_WINDOW_START:
	case EXPR_WINDOW_END:
		buf_puts(out, e->name);
		break;
	case EXPR_SYSTEM:
		buf_printf(out, "current.%s", e->name);
		break;
	case EXPR_MEMBER:
		expr_print(e->args[0], out);
		buf_printf(out, ".%s", e->name);
		break;
	case EXPR_OP:
		op_print(e, out);
		break;
	case EXPR_IN:
		buf_putc(out, '(');
		expr_print(e->args[0], out);
		buf_puts(out, " IN (");
		list_print(e, 1, out);
		buf_puts(out, "))");
		break;
	case EXPR_LIKE:
		buf_putc(out, '(');
		expr_print(e->args[0], out);
		buf_puts(out, e->is_glob ? " GLOB " : " LIKE ");
		text_print(e->text, e->text_bytes, out);
		buf_putc(out, ')');
		break;
	case EXPR_IS_NULL:
		buf_putc(out, '(');
		expr_print(e->args[0], out);
		buf_puts(out, " IS NULL)");
		break;
	case EXPR_CASE:
		case_print(e, out);
		break;
	case EXPR_CALL:
		call_print(e, out);
		break;
	case EXPR_KEY:
		buf_printf(out, "k%u", e->index);
		break;
	case EXPR_AGGREGATE:
		buf_printf(out, "a%u", e->index);
		break;
	}
}

static void exprs_print(struct expr *const *exprs, u32 n, const char *between, struct buf *out)
{
	for (u32 i = 0; i < n; i++) {
		if (i)
			buf_puts(out, between);
		expr_print(exprs[i], out);
	}
}

static void items_print(const struct item *items, u32 n, const char *prefix, struct buf *out)
{
	for (u32 i = 0; i < n; i++) {
		if (i)
			buf_puts(out, ", ");
		if (prefix)
			buf_printf(out, "%s%u = ", prefix, i);
		expr_print(items[i].expr, out);
		if (!prefix)
			buf_printf(out, " AS \"%s\"", items[i].name);
	}
}

static void aggregates_print(const struct plan *p, struct buf *out)
{
	for (u32 i = 0; i < p->n_aggregates; i++) {
		const struct aggregate *a = &p->aggregates[i];

		buf_printf(out, "%sa%u = %s(", i ? ", " : "", i, aggregate_infos[a->kind].name);
		if (a->arg)
			expr_print(a->arg, out);
		else
			buf_putc(out, '*');
		buf_putc(out, ')');
		if (a->filter) {
			buf_puts(out, " FILTER ");
			expr_print(a->filter, out);
		}
	}
}

static void scan_print(const struct plan *p, struct buf *out)
{
	u32 n = p->streams->streams.n;

	buf_printf(out, "Scan %s", p->streams->streams.at[0]->name);
	if (n > 1)
		buf_printf(out, " ... %s (%u streams)", p->streams->streams.at[n - 1]->name, n);
}

static void node_print(const struct plan *p, struct buf *out)
{
	switch (p->kind) {
	case PLAN_SCAN:
		scan_print(p, out);
		break;
	case PLAN_FILTER:
		buf_puts(out, "Filter ");
		exprs_print(p->conjuncts, p->n_conjuncts, " AND ", out);
		break;
	case PLAN_AGGREGATE:
		buf_puts(out, "Aggregate ");
		aggregates_print(p, out);
		if (p->n_keys)
			buf_puts(out, p->n_aggregates ? " by " : "by ");
		items_print(p->keys, p->n_keys, "k", out);
		if (p->window == WINDOW_TUMBLING)
			buf_printf(out, " window tumbling %lluns",
				   (unsigned long long)p->window_ns);
		break;
	case PLAN_PROJECT:
		buf_puts(out, "Project ");
		items_print(p->items, p->n_items, NULL, out);
		break;
	case PLAN_SORT:
		buf_puts(out, "Sort ");
		for (u32 i = 0; i < p->n_sort_keys; i++) {
			buf_puts(out, i ? ", " : "");
			expr_print(p->sort_keys[i].expr, out);
			buf_puts(out, p->sort_keys[i].is_descending ? " DESC" : "");
		}
		break;
	case PLAN_LIMIT:
		buf_printf(out, "Limit %lld offset %lld", (long long)p->limit,
			   (long long)p->offset);
		break;
	case PLAN_N:
		break;
	}
}

void plan_print(const struct plan *plan, struct buf *out)
{
	u32 depth = 0;

	for (const struct plan *p = plan; p; p = p->input, depth++) {
		buf_fill(out, ' ', 2 * depth);
		node_print(p, out);
		buf_putc(out, '\n');
	}
}

const struct plan *plan_find(const struct plan *plan, enum plan_kind kind)
{
	while (plan && plan->kind != kind)
		plan = plan->input;
	return plan;
}
