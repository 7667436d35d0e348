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

static void node_print(const struct plan *p, bool has_aliases, struct buf *out);
static void statistic_print(const struct aggregate *a, struct buf *out);

/* Behind the expression: IN (...), EXISTS (...). */
static void subplan_print(const struct expr *e, struct buf *out)
{
	if (e->kind == EXPR_IN_SELECT) {
		expr_print(e->args[0], out);
		buf_puts(out, " IN ");
	}
	buf_puts(out, e->kind == EXPR_EXISTS ? "EXISTS (" : "(");
	for (const struct plan *p = e->plan; p; p = p->input) {
		struct buf line;

		buf_init(&line);
		node_print(p, true, &line);
		buf_printf(out, "%s%s", p == e->plan ? "" : " < ", line.at);
		buf_free(&line);
	}
	buf_putc(out, ')');
}

static void match_print(const struct expr *e, struct buf *out)
{
	buf_putc(out, '(');
	expr_print(e->args[0], out);
	buf_puts(out, e->is_glob ? " GLOB " : " LIKE ");
	expr_print(e->args[1], out);
	if (e->n_args > 2) {
		buf_puts(out, " ESCAPE ");
		expr_print(e->args[2], out);
	}
	buf_putc(out, ')');
}

static void cast_print(const struct expr *e, struct buf *out)
{
	buf_puts(out, "CAST(");
	expr_print(e->args[0], out);
	buf_printf(out, " AS %s)",
		   e->type.kind == TYPE_REAL   ? "REAL"
		   : e->type.kind == TYPE_TEXT ? "TEXT"
					       : "INTEGER");
}

static void call_print(const struct expr *e, struct buf *out)
{
	buf_printf(out, "%s(", e->name);
	list_print(e, 0, out);
	buf_putc(out, ')');
}

static void prefix_print(const struct expr *e, struct buf *out)
{
	if (e->prefix)
		buf_printf(out, "%s.", e->prefix);
}

/* What has no arguments. */
static bool leaf_print(const struct expr *e, struct buf *out)
{
	switch (e->kind) {
	case EXPR_NULL:
		buf_puts(out, "NULL");
		return true;
	case EXPR_RUNNING:
		buf_printf(out, "r%u", e->index);
		return true;
	case EXPR_INTEGER:
		buf_put_s128(out, e->integer);
		return true;
	case EXPR_REAL:
		buf_put_real(out, e->real);
		return true;
	case EXPR_TEXT:
		text_print(e->text, e->text_bytes, out);
		return true;
	case EXPR_FIELD:
		prefix_print(e, out);
		buf_puts(out, e->name);
		return true;
	case EXPR_WINDOW_START:
	case EXPR_WINDOW_END:
		buf_puts(out, e->name);
		return true;
	case EXPR_SYSTEM:
		prefix_print(e, out);
		buf_printf(out, "current.%s", e->name);
		return true;
	case EXPR_COLUMN:
		buf_printf(out, "t%u.%s", e->source, e->name);
		return true;
	case EXPR_OVER:
		buf_printf(out, "f%u", e->index);
		return true;
	case EXPR_KEY:
		buf_printf(out, "k%u", e->index);
		return true;
	case EXPR_AGGREGATE:
		buf_printf(out, "a%u", e->index);
		return true;
	default:
		return false;
	}
}

void expr_print(const struct expr *e, struct buf *out)
{
	if (leaf_print(e, out))
		return;
	switch (e->kind) {
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
	case EXPR_CAST:
		cast_print(e, out);
		break;
	case EXPR_MATCH:
		match_print(e, out);
		break;
	case EXPR_SUBQUERY:
	case EXPR_EXISTS:
	case EXPR_IN_SELECT:
		subplan_print(e, out);
		break;
	case EXPR_STATISTIC:
		buf_puts(out, e->statistic->is_ladder ? "quantiles(" : "quantile(");
		list_print(e, 0, out);
		statistic_print(e->statistic, out);
		buf_putc(out, ')');
		break;
	case EXPR_UNION:
		buf_puts(out, "union(");
		list_print(e, 0, out);
		buf_putc(out, ')');
		break;
	default:
		BUG("expression kind %d", e->kind);
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
		buf_puts(out, items[i].is_unnest ? "UNNEST " : "");
		expr_print(items[i].expr, out);
		if (!prefix)
			buf_printf(out, " AS \"%s\"", items[i].name);
	}
}

/* "exponential(3), 0.5, 0.99, interpolated" behind the argument of a statistic. */
static void statistic_print(const struct aggregate *a, struct buf *out)
{
	for (u32 i = 0; i < a->n_q; i++) {
		u32 ppb = a->q_ppb[i], digits = 9;

		while (digits && ppb % 10 == 0) {
			ppb /= 10;
			digits--;
		}
		if (digits)
			buf_printf(out, ", %u.%0*u", a->q_ppb[i] / 1000000000, (int)digits,
				   ppb % (u32[]){ 1, 10, 100, 1000, 10000, 100000, 1000000,
						  10000000, 100000000, 1000000000 }[digits]);
		else
			buf_printf(out, ", %u", a->q_ppb[i] / 1000000000);
	}
	if (a->scheme) {
		buf_puts(out, ", ");
		scheme_print(a->scheme, out);
	}
	if (a->hll_bits)
		buf_printf(out, ", %u", a->hll_bits);
	if (a->k)
		buf_printf(out, ", %u", a->k);
	if (a->weight) {
		buf_puts(out, ", ");
		expr_print(a->weight, out);
	}
	if (a->is_population)
		buf_puts(out, ", population");
	if (a->is_interpolated)
		buf_puts(out, ", interpolated");
	if (a->part != QUANTILE_WHOLE)
		buf_puts(out, a->part == QUANTILE_LO ? ", lo" : ", hi");
}

static void aggregate_print(const struct aggregate *a, struct buf *out)
{
	buf_printf(out, "%s%s(%s", aggregate_infos[a->kind].name, a->is_ladder ? "s" : "",
		   a->is_distinct ? "DISTINCT " : "");
	if (a->arg)
		expr_print(a->arg, out);
	else
		buf_putc(out, '*');
	statistic_print(a, out);
	if (a->separator) {
		buf_puts(out, ", ");
		expr_print(a->separator, out);
	}
	buf_puts(out, a->keeps_null ? ", NULL too)" : ")");
	if (a->filter) {
		buf_puts(out, " FILTER ");
		expr_print(a->filter, out);
	}
}

static void aggregates_print(const struct plan *p, struct buf *out)
{
	for (u32 i = 0; i < p->aggregate.n; i++) {
		buf_printf(out, "%sa%u = ", i ? ", " : "", i);
		aggregate_print(&p->aggregate.list[i], out);
	}
}

static void sort_keys_print(const struct sort_key *keys, u32 n, struct buf *out)
{
	for (u32 i = 0; i < n; i++) {
		buf_puts(out, i ? ", " : "");
		expr_print(keys[i].expr, out);
		buf_puts(out, keys[i].is_descending ? " DESC" : "");
		buf_puts(out, keys[i].nulls < 0	  ? " NULLS FIRST"
			      : keys[i].nulls > 0 ? " NULLS LAST"
						  : "");
	}
}

static void over_print(const struct over *o, struct buf *out)
{
	if (o->function) {
		buf_printf(out, "%s(", o->function->name);
		exprs_print(o->args, o->n_args, ", ", out);
		buf_putc(out, ')');
	} else {
		aggregate_print(o->aggregate, out);
	}
	buf_puts(out, " over (");
	if (o->n_partition)
		buf_puts(out, "by ");
	exprs_print(o->partition, o->n_partition, ", ", out);
	if (o->n_order)
		buf_puts(out, o->n_partition ? " order " : "order ");
	sort_keys_print(o->order, o->n_order, out);
	if (o->frame)
		buf_printf(out, "%s%s", o->n_partition || o->n_order ? " " : "", o->frame);
	buf_putc(out, ')');
}

static void set_print(const struct plan *p, struct buf *out)
{
	static const char *const words[] = { [AST_UNION_ALL] = "union all",
					     [AST_UNION] = "union",
					     [AST_EXCEPT] = "except",
					     [AST_INTERSECT] = "intersect" };

	buf_printf(out, "Set t%u:", p->set.relation);
	for (u32 i = 1; i < p->n_inputs; i++)
		buf_printf(out, "%s %s", i > 1 ? "," : "", words[p->set.ops[i]]);
}

static void relate_print(const struct plan *p, struct buf *out)
{
	static const char *const words[] = {
		[RELATE_INNER] = "Join", [RELATE_LEFT] = "Left join", [RELATE_CROSS] = "Cross join"
	};

	buf_puts(out, words[p->relate.kind]);
	if (!p->relate.on)
		return;
	buf_puts(out, " on ");
	expr_print(p->relate.on, out);
}

/* The tracepoint itself: a span calls it by a name of its own. */
static void stream_print(const struct stream *stream, struct buf *out)
{
	if (stream->kind == STREAM_TRACEPOINT)
		buf_printf(out, "tracepoint:%s:%s", stream->category, stream->event);
	else
		buf_puts(out, stream->name);
}

static void scan_print(const struct plan *p, bool has_alias, struct buf *out)
{
	const struct stream *first = p->scan.streams->streams.at[0];
	u32 n = p->scan.streams->streams.n;
	const struct stream *last = p->scan.streams->streams.at[n - 1];

	buf_puts(out, "Scan ");
	stream_print(first, out);
	if (n > 1) {
		buf_puts(out, " ... ");
		stream_print(last, out);
		buf_printf(out, " (%u streams)", n);
	}
	if (has_alias)
		buf_printf(out, " AS %s", p->scan.alias);
}

static void join_print(const struct plan *p, struct buf *out)
{
	buf_printf(out, "%s%s join ", p->join.is_left ? "Left " : "",
		   p->join.kind == JOIN_PAIR ? (p->join.is_left ? "pair" : "Pair")
					     : (p->join.is_left ? "asof" : "Asof"));
	for (u32 i = 0; i < p->join.n_keys; i++) {
		buf_puts(out, i ? " AND " : "");
		expr_print(p->join.keys[i].left, out);
		buf_puts(out, " = ");
		expr_print(p->join.keys[i].right, out);
	}
	if (p->join.within_ns)
		buf_printf(out, " within %lluns", (unsigned long long)p->join.within_ns);
	if (!p->join.is_nesting)
		buf_puts(out, ", one at a time");
}

static void shared_print(const struct plan *p, struct buf *out)
{
	if (p->n_shared)
		buf_puts(out, ", once ");
	exprs_print(p->shared, p->n_shared, ", ", out);
}

static void aggregation_print(const struct plan *p, struct buf *out)
{
	buf_puts(out, "Aggregate ");
	aggregates_print(p, out);
	if (p->aggregate.n_keys)
		buf_puts(out, p->aggregate.n ? " by " : "by ");
	items_print(p->aggregate.keys, p->aggregate.n_keys, "k", out);
	if (p->aggregate.window == WINDOW_TUMBLING)
		buf_printf(out, " window tumbling %lluns",
			   (unsigned long long)p->aggregate.window_ns);
	else if (p->aggregate.window == WINDOW_HOPPING)
		buf_printf(out, " window hopping %lluns by %lluns",
			   (unsigned long long)p->aggregate.window_ns,
			   (unsigned long long)p->aggregate.advance_ns);
	if (p->aggregate.shares_cells)
		buf_puts(out, ", cells shared");
	shared_print(p, out);
}

static void node_print(const struct plan *p, bool has_aliases, struct buf *out)
{
	switch (p->kind) {
	case PLAN_SCAN:
		scan_print(p, has_aliases, out);
		break;
	case PLAN_JOIN:
		join_print(p, out);
		break;
	case PLAN_UNION:
		buf_puts(out, "Union all");
		break;
	case PLAN_RUNNING:
		buf_printf(out, "Running sum r%u of ", p->running.number);
		expr_print(p->running.arg, out);
		if (p->running.n_keys)
			buf_puts(out, " by ");
		exprs_print(p->running.keys, p->running.n_keys, ", ", out);
		break;
	case PLAN_FILTER:
		buf_puts(out, "Filter ");
		exprs_print(p->filter.conjuncts, p->filter.n_conjuncts, " AND ", out);
		break;
	case PLAN_AGGREGATE:
		aggregation_print(p, out);
		break;
	case PLAN_PROJECT:
		buf_puts(out, "Project ");
		items_print(p->project.items, p->project.n_items, NULL, out);
		shared_print(p, out);
		break;
	case PLAN_SORT:
		buf_puts(out, "Sort ");
		sort_keys_print(p->sort.keys, p->sort.n_keys, out);
		break;
	case PLAN_LIMIT:
		buf_printf(out, "Limit %lld offset %lld", (long long)p->limit.count,
			   (long long)p->limit.offset);
		break;
	case PLAN_OVER:
		buf_puts(out, "Over ");
		for (u32 i = 0; i < p->over.n; i++) {
			buf_printf(out, "%sf%u = ", i ? ", " : "", i);
			over_print(&p->over.list[i], out);
		}
		break;
	case PLAN_DISTINCT:
		buf_puts(out, "Distinct");
		break;
	case PLAN_RELATE:
		relate_print(p, out);
		break;
	case PLAN_DERIVED:
		buf_printf(out, "Derived t%u", p->derived.relation);
		break;
	case PLAN_TABLE:
		buf_printf(out, "Table t%u %s.%s", p->table.relation, p->table.database->name,
			   p->table.name);
		break;
	case PLAN_SET:
		set_print(p, out);
		break;
	case PLAN_ONE:
		buf_puts(out, "One row");
		break;
	case PLAN_N:
		break;
	}
}

static void tree_print(const struct plan *p, u32 depth, bool has_aliases, struct buf *out)
{
	buf_fill(out, ' ', 2 * depth);
	node_print(p, has_aliases, out);
	buf_putc(out, '\n');
	if (p->input)
		tree_print(p->input, depth + 1, has_aliases, out);
	if (p->right)
		tree_print(p->right, depth + 1, has_aliases, out);
	for (u32 i = 0; i < p->n_inputs; i++)
		tree_print(p->inputs[i], depth + 1, has_aliases, out);
}

void plan_print(const struct plan *plan, struct buf *out)
{
	tree_print(plan, 0, plan_n_sources(plan) > 1, out);
}
