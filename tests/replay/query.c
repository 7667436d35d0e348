/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query tree -> its text, for ebql and for SQLite.  The two differ in FROM
 * alone.  Parentheses stand everywhere, or only where SQLite's precedence asks for
 * them, so that the parser's precedence is compared too.
 */
#include <string.h>

#include "replay.h"

/* SQLite's levels, loosest first; comparisons, bit operators and so on each are one level. */
enum level {
	LEVEL_OR = 1,
	LEVEL_AND,
	LEVEL_NOT,
	LEVEL_EQUAL,
	LEVEL_LESS,
	LEVEL_BITS,
	LEVEL_ADD,
	LEVEL_MULTIPLY,
	LEVEL_UNARY,
	LEVEL_PRIMARY,
};

static enum level binary_level(const char *op)
{
	static const struct {
		const char *op;
		enum level level;
	} levels[] = {
		{ "OR", LEVEL_OR },	 { "AND", LEVEL_AND },	    { "=", LEVEL_EQUAL },
		{ "==", LEVEL_EQUAL },	 { "<>", LEVEL_EQUAL },	    { "!=", LEVEL_EQUAL },
		{ "IS", LEVEL_EQUAL },	 { "IS NOT", LEVEL_EQUAL }, { "<", LEVEL_LESS },
		{ "<=", LEVEL_LESS },	 { ">", LEVEL_LESS },	    { ">=", LEVEL_LESS },
		{ "&", LEVEL_BITS },	 { "|", LEVEL_BITS },	    { "<<", LEVEL_BITS },
		{ ">>", LEVEL_BITS },	 { "+", LEVEL_ADD },	    { "-", LEVEL_ADD },
		{ "*", LEVEL_MULTIPLY }, { "/", LEVEL_MULTIPLY },   { "%", LEVEL_MULTIPLY },
	};

	for (u32 i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(levels[i].op, op))
			return levels[i].level;
	BUG("operator %s", op);
}

static enum level node_level(const struct query *query, const struct node *node)
{
	switch (node->kind) {
	case NODE_INTEGER:
		return node->integer < 0 ? LEVEL_UNARY : LEVEL_PRIMARY;
	case NODE_UNARY:
		return strcmp(node->text, "NOT") ? LEVEL_UNARY : LEVEL_NOT;
	case NODE_BINARY:
		return binary_level(node->text);
	case NODE_BETWEEN:
	case NODE_IN:
	case NODE_LIKE:
	case NODE_IS_NULL:
		return LEVEL_EQUAL;
	case NODE_KEY:
		return node_level(query, query->keys[node->column]);
	default:
		return LEVEL_PRIMARY;
	}
}

static void node_print(const struct query *query, const struct node *node, struct buf *out);

static void print_text(const char *text, struct buf *out)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_putc(out, '\'');
		buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

/* An operand that must bind at least as tightly as `least`. */
static void print_operand(const struct query *query, const struct node *node, enum level least,
			  struct buf *out)
{
	enum level level = node_level(query, node);
	bool wrap = level < least || (query->all_parentheses && level < LEVEL_UNARY);

	if (wrap)
		buf_putc(out, '(');
	node_print(query, node, out);
	if (wrap)
		buf_putc(out, ')');
}

static void print_case(const struct query *query, const struct node *node, struct buf *out)
{
	u32 i = 0;

	buf_puts(out, "CASE");
	if (node->kind == NODE_SWITCH) {
		buf_putc(out, ' ');
		print_operand(query, node->args[i++], LEVEL_OR, out);
	}
	for (; i + 1 < node->n_args; i += 2) {
		buf_puts(out, " WHEN ");
		print_operand(query, node->args[i], LEVEL_OR, out);
		buf_puts(out, " THEN ");
		print_operand(query, node->args[i + 1], LEVEL_OR, out);
	}
	if (i < node->n_args) {
		buf_puts(out, " ELSE ");
		print_operand(query, node->args[i], LEVEL_OR, out);
	}
	buf_puts(out, " END");
}

/* What the text is for: SQLite has some aggregates under other names (func/func.h). */
static enum dialect printed;

static const struct {
	const char *name, *sqlite;
	bool has_time;
} renamed[] = {
	{ "bit_or", "eb_bit_or" },	   { "bit_and", "eb_bit_and" },
	{ "bit_xor", "eb_bit_xor" },	   { "first", "eb_first", true },
	{ "last", "eb_last", true },	   { "stddev", "eb_stddev_samp" },
	{ "stddev_pop", "eb_stddev_pop" },
};

static void print_aggregate(const struct query *query, const struct node *node, struct buf *out)
{
	u32 n = node->n_args - node->has_filter;
	const char *name = node->text;
	bool has_time = false;

	for (u32 i = 0; printed == DIALECT_SQLITE && i < ARRAY_SIZE(renamed); i++)
		if (strcmp(renamed[i].name, node->text) == 0) {
			name = renamed[i].sqlite;
			has_time = renamed[i].has_time;
		}
	buf_printf(out, "%s(", name);
	if (n)
		print_operand(query, node->args[0], LEVEL_OR, out);
	else
		buf_putc(out, '*');
	buf_puts(out, has_time ? ", time)" : ")");
	if (node->has_filter) {
		buf_puts(out, " FILTER (WHERE ");
		print_operand(query, node->args[n], LEVEL_OR, out);
		buf_putc(out, ')');
	}
}

static void print_call(const struct query *query, const struct node *node, struct buf *out)
{
	buf_printf(out, "%s(", node->text);
	for (u32 i = 0; i < node->n_args; i++) {
		buf_puts(out, i ? ", " : "");
		print_operand(query, node->args[i], LEVEL_OR, out);
	}
	buf_putc(out, ')');
}

static void print_in(const struct query *query, const struct node *node, struct buf *out)
{
	print_operand(query, node->args[0], LEVEL_EQUAL, out);
	buf_puts(out, node->negated ? " NOT IN (" : " IN (");
	for (u32 i = 1; i < node->n_args; i++) {
		if (i > 1)
			buf_puts(out, ", ");
		node_print(query, node->args[i], out);
	}
	buf_putc(out, ')');
}

static void print_unary(const struct query *query, const struct node *node, struct buf *out)
{
	bool is_not = !strcmp(node->text, "NOT");

	buf_puts(out, node->text);
	if (is_not)
		buf_putc(out, ' ');
	/* -(-5): two dashes would begin a comment. */
	print_operand(query, node->args[0], is_not ? LEVEL_NOT : LEVEL_PRIMARY, out);
}

static void node_print(const struct query *query, const struct node *node, struct buf *out)
{
	enum level level = node_level(query, node);

	switch (node->kind) {
	case NODE_COLUMN:
		buf_puts(out, column_infos[node->column].name);
		break;
	case NODE_INTEGER:
		buf_put_s128(out, node->integer);
		break;
	case NODE_REAL:
		buf_puts(out, node->text);
		break;
	case NODE_TEXT:
		print_text(node->text, out);
		break;
	case NODE_NULL:
		buf_puts(out, "NULL");
		break;
	case NODE_UNARY:
		print_unary(query, node, out);
		break;
	case NODE_BINARY:
		print_operand(query, node->args[0], level, out);
		buf_printf(out, " %s ", node->text);
		print_operand(query, node->args[1], level + 1, out);
		break;
	case NODE_BETWEEN:
		print_operand(query, node->args[0], level, out);
		buf_puts(out, node->negated ? " NOT BETWEEN " : " BETWEEN ");
		print_operand(query, node->args[1], LEVEL_LESS, out);
		buf_puts(out, " AND ");
		print_operand(query, node->args[2], LEVEL_LESS, out);
		break;
	case NODE_IN:
		print_in(query, node, out);
		break;
	case NODE_LIKE:
		print_operand(query, node->args[0], level, out);
		buf_printf(out, " %s%s ", node->negated ? "NOT " : "", node->text);
		print_operand(query, node->args[1], LEVEL_LESS, out);
		break;
	case NODE_IS_NULL:
		print_operand(query, node->args[0], level, out);
		buf_puts(out, node->negated ? " IS NOT NULL" : " IS NULL");
		break;
	case NODE_CALL:
		print_call(query, node, out);
		break;
	case NODE_CASE:
	case NODE_SWITCH:
		print_case(query, node, out);
		break;
	case NODE_AGGREGATE:
		print_aggregate(query, node, out);
		break;
	case NODE_KEY:
		node_print(query, query->keys[node->column], out);
		break;
	}
}

static void print_where(const struct query *query, struct buf *out)
{
	for (u32 i = 0; i < query->n_where; i++) {
		buf_puts(out, i ? " AND " : " WHERE ");
		print_operand(query, query->where[i], LEVEL_NOT, out);
	}
}

/* The item that is key `key` and nothing else, or -1. */
static s32 item_of_key(const struct query *query, u32 key)
{
	for (u32 i = 0; i < query->n_items; i++)
		if (query->items[i]->kind == NODE_KEY && query->items[i]->column == key)
			return i;
	return -1;
}

static void print_group_by(const struct query *query, struct buf *out)
{
	for (u32 i = 0; i < query->n_keys; i++) {
		s32 item = item_of_key(query, i);

		buf_puts(out, i ? ", " : " GROUP BY ");
		if (query->key_styles[i] == 1 && item >= 0)
			buf_printf(out, "c%d", item);
		else if (query->key_styles[i] == 2 && item >= 0)
			buf_printf(out, "%d", item + 1);
		else
			print_operand(query, query->keys[i], LEVEL_OR, out);
	}
}

static void print_order_by(const struct query *query, struct buf *out)
{
	static const char *const nulls[] = { "", " NULLS FIRST", " NULLS LAST" };

	for (u32 i = 0; i < query->n_order_by; i++)
		buf_printf(out, "%sc%u%s%s", i ? ", " : " ORDER BY ", query->order_by[i],
			   query->order_down[i] ? " DESC" : "", nulls[query->order_nulls[i]]);
	if (query->limit >= 0)
		buf_printf(out, " LIMIT %lld", (long long)query->limit);
	if (query->limit >= 0 && query->offset >= 0)
		buf_printf(out, " OFFSET %lld", (long long)query->offset);
}

void query_print(const struct query *query, enum dialect dialect, struct buf *out)
{
	printed = dialect;
	for (u32 i = 0; i < query->n_items; i++) {
		buf_puts(out, i ? ", " : "SELECT ");
		print_operand(query, query->items[i], LEVEL_OR, out);
		buf_printf(out, " AS c%u", i);
	}
	buf_printf(out, " FROM %s", dialect == DIALECT_EBQL ? REPLAY_STREAM : "t");
	if (dialect == DIALECT_EBQL && query->clauses_swapped) {
		print_group_by(query, out);
		print_where(query, out);
	} else {
		print_where(query, out);
		print_group_by(query, out);
	}
	if (query->having) {
		buf_puts(out, " HAVING ");
		print_operand(query, query->having, LEVEL_OR, out);
	}
	print_order_by(query, out);
}

void query_print_matched(const struct query *query, struct buf *out)
{
	buf_puts(out, "SELECT count(*) FROM t");
	print_where(query, out);
}
