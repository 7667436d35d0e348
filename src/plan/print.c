/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Plans and bound expressions -> text, for EXPLAIN.
 */

#include "plan/plan.h"

static void exprs_print(struct expr *const *exprs, u32 n, const char *between, struct buf *out)
{
	for (u32 i = 0; i < n; i++) {
		buf_puts(out, i ? between : "");
		expr_print(exprs[i], out);
	}
}

static void node_print(const struct plan *p, bool has_aliases, struct buf *out);
static void statistic_print(const struct aggregate *a, struct buf *out);

/* The operators of a sub-query, in one line. */
static void subplan_print(const struct plan *plan, struct buf *out)
{
	for (const struct plan *p = plan; p; p = p->input) {
		buf_puts(out, p == plan ? "" : " < ");
		node_print(p, true, out);
	}
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

static const char *cast_name(struct type type)
{
	return type.kind == TYPE_REAL ? "REAL" : type.kind == TYPE_TEXT ? "TEXT" : "INTEGER";
}

/* How each kind is written: part_print() says what stands behind a %. */
static const char *const forms[] = {
	[EXPR_NULL] = "NULL",
	[EXPR_INTEGER] = "%d",
	[EXPR_REAL] = "%f",
	[EXPR_TEXT] = "%t",
	[EXPR_FIELD] = "%p%n",
	[EXPR_SYSTEM] = "%pcurrent.%n",
	[EXPR_OP] = "(%0 %o %1)",
	[EXPR_IN] = "(%0 IN (%+))",
	[EXPR_LIKE] = "(%0 %l %t)",
	[EXPR_IS_NULL] = "(%0 IS NULL)",
	[EXPR_CASE] = "%w",
	[EXPR_CALL] = "%n(%*)",
	[EXPR_CAST] = "CAST(%0 AS %c)",
	[EXPR_MATCH] = "(%0 %l %1)",
	[EXPR_KEY] = "k%i",
	[EXPR_AGGREGATE] = "a%i",
	[EXPR_OVER] = "f%i",
	[EXPR_COLUMN] = "t%s.%n",
	[EXPR_SUBQUERY] = "(%q)",
	[EXPR_EXISTS] = "EXISTS (%q)",
	[EXPR_IN_SELECT] = "%0 IN (%q)",
	[EXPR_STATISTIC] = "%a",
	[EXPR_WINDOW_START] = "%n",
	[EXPR_WINDOW_END] = "%n",
	[EXPR_OTHER] = "%n",
	[EXPR_UNION] = "union(%*)",
	[EXPR_RUNNING] = "r%i",
};

/* The descriptor whose file it is, or the dentry. */
static const struct expr *named_by(const struct expr *e)
{
	const struct expr *dentry =
		e->read == READ_NAME ? e->args[0]->args[0]->args[0] : e->args[0];
	const struct expr *file = dentry;

	while (file->kind == EXPR_MEMBER && file->read == READ_MEMBER)
		file = file->args[0];
	return file->kind == EXPR_MEMBER && file->read == READ_FILE ? file->args[0] : dentry;
}

static void part_print(const struct expr *e, char part, struct buf *out)
{
	switch (part) {
	case '0': /* the arguments */
	case '1':
	case '2':
		expr_print(e->args[part - '0'], out);
		break;
	case '*': /* all of them */
		exprs_print(e->args, e->n_args, ", ", out);
		break;
	case '+': /* all but the first */
		exprs_print(e->args + 1, e->n_args - 1, ", ", out);
		break;
	case 'n':
		buf_puts(out, e->name);
		break;
	case 'p':
		if (e->prefix)
			buf_printf(out, "%s.", e->prefix);
		break;
	case 'i':
		buf_printf(out, "%u", e->index);
		break;
	case 's':
		buf_printf(out, "%u", e->source);
		break;
	case 'd':
		buf_put_s128(out, e->integer);
		break;
	case 'f':
		buf_put_real(out, e->real);
		break;
	case 't':
		buf_put_quoted(out, '\'', e->text, e->text_bytes);
		break;
	case 'o':
		buf_puts(out, ast_op_names[e->op]);
		break;
	case 'l':
		buf_puts(out, e->is_glob ? "GLOB" : "LIKE");
		break;
	case 'c':
		buf_puts(out, cast_name(e->type));
		break;
	case 'w':
		case_print(e, out);
		break;
	case 'q':
		subplan_print(e->plan, out);
		break;
	case 'x':
		expr_print(named_by(e), out);
		break;
	case 'a':
		buf_puts(out, e->statistic->is_ladder ? "quantiles(" : "quantile(");
		expr_print(e->args[0], out);
		statistic_print(e->statistic, out);
		buf_putc(out, ')');
		break;
	default:
		BUG("%%%c is no part of an expression", part);
	}
}

/* How EXPR_MEMBER is written. */
static const char *read_form(const struct expr *e)
{
	switch (e->read) {
	case READ_MEMBER:
		return "%0.%n";
	case READ_ELEMENT:
		return e->n_args > 1 ? "%0[%1]" : "%0[%d]";
	case READ_TEXT:
		return e->integer ? "str(%0, %d)" : "str(%0)";
	case READ_TEXTS:
		return e->n_args > 1 ? e->integer ? "strs(%0, %1, %d)" : "strs(%0, %1)"
		       : e->integer  ? "strs(%0, %d)"
				     : "strs(%0)";
	case READ_TOGETHER:
		return "%0 from byte %d on";
	case READ_POINTER:
		return "%n";
	case READ_FILE:
		return "file(%0)";
	case READ_NAME:
		return e->integer ? "file_name(%x, %d)" : "file_name(%x)";
	case READ_PATH:
		return e->integer ? "file_path(%x, %d)" : "file_path(%x)";
	}
	BUG("no read %d", e->read);
}

void expr_print(const struct expr *e, struct buf *out)
{
	const char *form = e->kind == EXPR_MEMBER ? read_form(e) : forms[e->kind];

	if (e->kind == EXPR_OP && e->n_args == 1)
		form = "(%o %0)";
	else if (e->kind == EXPR_MATCH && e->n_args > 2)
		form = "(%0 %l %1 ESCAPE %2)";
	for (; *form; form++) {
		if (*form == '%')
			part_print(e, *++form, out);
		else
			buf_putc(out, *form);
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
	for (u32 i = 0; i < a->n_q; i++)
		buf_printf(out, ", %.9g", a->q_ppb[i] / 1e9);
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

void aggregate_print(const struct aggregate *a, struct buf *out)
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
		[RELATE_INNER] = "Join",
		[RELATE_LEFT] = "Left join",
		[RELATE_FULL] = "Full join",
		[RELATE_CROSS] = "Cross join",
	};

	buf_puts(out, words[p->relate.kind]);
	if (!p->relate.on)
		return;
	buf_puts(out, " on ");
	expr_print(p->relate.on, out);
}

static void scan_print(const struct plan *p, bool has_alias, struct buf *out)
{
	struct stream **streams = p->scan.streams->streams.at;
	u32 n = p->scan.streams->streams.n;

	/* The tracepoint itself: a span calls it by a name of its own. */
	for (u32 i = 0; i < MIN(n, 2u); i++) {
		const struct stream *s = i ? streams[n - 1] : streams[0];

		buf_puts(out, i ? " ... " : "Scan ");
		if (s->kind == STREAM_TRACEPOINT)
			buf_printf(out, "tracepoint:%s:%s", s->category, s->event);
		else
			buf_puts(out, s->name);
	}
	if (n > 1)
		buf_printf(out, " (%u streams)", n);
	if (p->scan.computes)
		buf_puts(out, " (computes)");
	if (has_alias)
		buf_printf(out, " AS %s", p->scan.alias);
	if (p->scan.loads)
		buf_puts(out, ", typed");
	for (u32 i = 0; i < p->scan.n_readings; i++) {
		buf_printf(out, ", at once %u bytes of ", p->scan.readings[i]->index);
		expr_print(p->scan.readings[i], out);
	}
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
	if (p->join.shares_starts)
		buf_puts(out, ", starts may be shared");
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
	for (u32 i = 0; i < p->aggregate.n; i++) {
		buf_printf(out, "%sa%u = ", i ? ", " : "", i);
		aggregate_print(&p->aggregate.list[i], out);
	}
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
	const struct plan *below;

	buf_fill(out, ' ', 2 * depth);
	node_print(p, has_aliases, out);
	buf_putc(out, '\n');
	for (u32 i = 0; (below = plan_child(p, i)); i++)
		tree_print(below, depth + 1, has_aliases, out);
}

static void count_scan(void *context, struct plan *p)
{
	*(u32 *)context += p->kind == PLAN_SCAN;
}

void plan_print(const struct plan *plan, struct buf *out)
{
	u32 n_scans = 0;

	plan_each((struct plan *)plan, count_scan, &n_scans);
	tree_print(plan, 0, n_scans > 1, out);
}

void plan_print_operator(const struct plan *plan, struct buf *out)
{
	node_print(plan, true, out);
}
