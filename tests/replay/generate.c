/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random queries over a dataset.  Every integer expression carries the interval
 * its values lie in over the dataset's rows, and none leaves 64 bits: there SQLite
 * turns to REAL and ebql to NULL, which cases.sql tests by hand.
 */
#include <string.h>

#include "replay.h"

struct generator {
	const struct dataset *dataset;
	struct arena *arena;
	struct rng *rng;
	const struct query *query; /* behind the aggregate: keys and aggregates to choose from */
};

static struct node *gen_integer(struct generator *g, u32 depth);
static struct node *gen_bool(struct generator *g, u32 depth);
static bool key_is_compare_only(const struct query *query, const struct node *node);

static struct node *node_new(struct generator *g, enum node_kind kind, u32 n_args)
{
	struct node *node = arena_new(g->arena, struct node);

	node->kind = kind;
	node->n_args = n_args;
	node->args = arena_array(g->arena, struct node *, n_args + 1);
	return node;
}

static struct node *node_integer(struct generator *g, s128 value)
{
	struct node *node = node_new(g, NODE_INTEGER, 0);

	node->integer = node->lo = node->hi = value;
	return node;
}

static struct node *node_text(struct generator *g, const char *text)
{
	struct node *node = node_new(g, NODE_TEXT, 0);

	node->class = CLASS_TEXT;
	node->text = text;
	return node;
}

static struct node *node_column(struct generator *g, u32 column)
{
	struct node *node = node_new(g, NODE_COLUMN, 0);

	node->column = column;
	node->class = column_infos[column].is_text ? CLASS_TEXT : CLASS_INTEGER;
	node->lo = g->dataset->lo[column];
	node->hi = g->dataset->hi[column];
	return node;
}

static struct node *node_binary(struct generator *g, const char *op, struct node *a, struct node *b)
{
	struct node *node = node_new(g, NODE_BINARY, 2);

	node->text = op;
	node->args[0] = a;
	node->args[1] = b;
	node->hi = 1; /* of a comparison; arithmetic sets its own */
	return node;
}

/* --- Integers --- */

static struct node *gen_literal(struct generator *g)
{
	static const s64 ends[] = { INT8_MIN,	INT8_MAX,      UINT8_MAX, INT16_MIN,  INT16_MAX,
				    UINT16_MAX, INT32_MIN,     INT32_MAX, UINT32_MAX, INT64_MIN,
				    INT64_MAX,	INT64_MIN + 1, 1ll << 32, 1ll << 53 };

	if (rng_percent(g->rng, 10))
		return node_integer(g, ends[rng_below(g->rng, ARRAY_SIZE(ends))]);
	if (rng_percent(g->rng, 30))
		return node_integer(g, rng_range(g->rng, -100, 5000));
	return node_integer(g, rng_range(g->rng, -3, 9));
}

/* A value that some row has in this column, or its neighbour. */
static struct node *gen_near(struct generator *g, u32 column)
{
	const struct dataset *d = g->dataset;
	s128 v;

	if (!d->n_events || rng_percent(g->rng, 15))
		return gen_literal(g);
	v = d->events[rng_below(g->rng, d->n_events)].integers[column] +
	    (rng_percent(g->rng, 30) ? rng_range(g->rng, -1, 1) : 0);
	return interval_fits(v, v) ? node_integer(g, v) : gen_literal(g);
}

static u32 integer_column(struct generator *g, bool for_compare)
{
	for (;;) {
		/* The event's own fields more often than the system columns. */
		u32 c = rng_percent(g->rng, 75) ? rng_below(g->rng, C_BOOL + 1)
						: rng_below(g->rng, C_N);

		if (!column_infos[c].is_text && (for_compare || !column_infos[c].is_compare_only))
			return c;
	}
}

static struct node *gen_case(struct generator *g, u32 depth, bool is_switch)
{
	u32 n_pairs = 1 + rng_below(g->rng, 2);
	bool has_else = rng_percent(g->rng, 70);
	struct node *node = node_new(g, is_switch ? NODE_SWITCH : NODE_CASE,
				     is_switch + 2 * n_pairs + has_else);
	u32 at = 0;

	node->lo = INT64_MAX;
	node->hi = INT64_MIN;
	if (is_switch)
		node->args[at++] = gen_integer(g, depth - 1);
	while (at < node->n_args) {
		struct node *value;

		if (at + 1 < node->n_args)
			node->args[at++] = is_switch ? gen_literal(g) : gen_bool(g, depth - 1);
		value = node->args[at++] = gen_integer(g, depth - 1);
		node->lo = MIN(node->lo, value->lo);
		node->hi = MAX(node->hi, value->hi);
	}
	return node;
}

/* Functions that are CASE in other clothes. */
static struct node *gen_call(struct generator *g, u32 depth)
{
	static const char *const names[] = { "abs", "iif", "nullif", "ifnull", "coalesce" };
	u32 which = rng_below(g->rng, ARRAY_SIZE(names));
	struct node *node = node_new(g, NODE_CALL, which == 0 ? 1 : which == 1 ? 3 : 2);

	node->text = names[which];
	for (u32 i = 0; i < node->n_args; i++) {
		struct node *arg =
			which == 1 && i == 0 ? gen_bool(g, depth - 1) : gen_integer(g, depth - 1);

		node->args[i] = arg;
		if (i <= (which == 1)) {
			node->lo = arg->lo;
			node->hi = arg->hi;
		} else if (which != 2) {
			node->lo = MIN(node->lo, arg->lo);
			node->hi = MAX(node->hi, arg->hi);
		}
	}
	if (which == 0) {
		node->hi = interval_magnitude(node);
		node->lo = 0;
	}
	return interval_fits(node->lo, node->hi) ? node : node->args[0];
}

static struct node *gen_unary(struct generator *g, u32 depth)
{
	struct node *node = node_new(g, NODE_UNARY, 1), *a = gen_integer(g, depth - 1);

	node->args[0] = a;
	if (rng_percent(g->rng, 50)) {
		node->text = "~";
		node->lo = ~a->hi;
		node->hi = ~a->lo;
	} else {
		node->text = "-";
		node->lo = -a->hi;
		node->hi = -a->lo;
	}
	return interval_fits(node->lo, node->hi) ? node : a;
}

static struct node *gen_amount(struct generator *g, bool is_left)
{
	if (rng_percent(g->rng, 60))
		return node_integer(g, rng_below(g->rng, is_left ? 12 : 70));
	struct node *mask = node_binary(g, "&", node_column(g, integer_column(g, false)),
					node_integer(g, is_left ? 7 : 63));

	interval_infer(mask);
	return mask;
}

static struct node *gen_arithmetic(struct generator *g, u32 depth)
{
	static const char *const ops[] = { "+", "-", "*", "/", "%", "&", "|", "<<", ">>" };

	for (u32 attempt = 0; attempt < 4; attempt++) {
		const char *op = ops[rng_below(g->rng, ARRAY_SIZE(ops))];
		struct node *a = gen_integer(g, depth - 1), *b;
		struct node *node;

		if (op[0] == '<' || op[0] == '>')
			b = gen_amount(g, op[0] == '<');
		else
			b = gen_integer(g, depth - 1);
		/* -2^63 / -1: REAL in SQLite. */
		if (op[0] == '/' && a->lo == INT64_MIN && b->lo <= -1 && b->hi >= -1)
			continue;
		node = node_binary(g, op, a, b);
		if (interval_infer(node))
			return node;
	}
	return node_column(g, integer_column(g, false));
}

static struct node *gen_integer(struct generator *g, u32 depth)
{
	u32 dice = rng_below(g->rng, 100);

	if (depth == 0 || dice < 25) {
		if (rng_percent(g->rng, 80))
			return node_column(g, integer_column(g, false));
		return gen_literal(g);
	}
	if (dice < 80)
		return gen_arithmetic(g, depth);
	if (dice < 88)
		return gen_unary(g, depth);
	if (dice < 93)
		return gen_case(g, depth, rng_percent(g->rng, 30));
	if (dice < 96)
		return gen_call(g, depth);
	return gen_bool(g, depth - 1);
}

/* --- Texts --- */

static u32 text_column(struct generator *g)
{
	static const u32 columns[] = { C_NAME, C_NAME, C_PATH, C_PATH, C_DL, C_COMM, C_PROBE };

	return columns[rng_below(g->rng, ARRAY_SIZE(columns))];
}

static const char *near_text(struct generator *g, u32 column)
{
	const struct dataset *d = g->dataset;
	const char *text =
		d->n_events ? d->events[rng_below(g->rng, d->n_events)].texts[column] : "abc";

	if (rng_percent(g->rng, 10))
		return arena_printf(g->arena, "%sx", text);
	if (rng_percent(g->rng, 10) && *text)
		return arena_strndup(g->arena, text, strlen(text) - 1);
	return text;
}

static char flip_case(char c)
{
	return c >= 'a' && c <= 'z' ? c - 32 : c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* A row's text with parts replaced by wildcards and letters by their other case. */
static const char *gen_pattern(struct generator *g, u32 column, bool is_glob)
{
	const char *text = near_text(g, column);
	char pattern[128];
	u32 n = 0, length = MIN(strlen(text), 50);

	if (rng_percent(g->rng, 25))
		pattern[n++] = is_glob ? '*' : '%';
	for (u32 i = 0; i < length; i++) {
		u32 dice = rng_below(g->rng, 100);

		if (dice < 12)
			pattern[n++] = is_glob ? '?' : '_';
		else if (dice < 20)
			pattern[n++] = is_glob ? '*' : '%';
		else if (dice < 30)
			i += rng_below(g->rng, 4);
		else if (is_glob && text[i] == '[')
			pattern[n++] = '?'; /* a class without its end */
		else
			pattern[n++] = dice < 50 && !is_glob ? flip_case(text[i]) : text[i];
	}
	if (rng_percent(g->rng, 40))
		pattern[n++] = is_glob ? '*' : '%';
	return arena_strndup(g->arena, pattern, n);
}

static struct node *gen_like(struct generator *g)
{
	struct node *node = node_new(g, NODE_LIKE, 2);
	u32 column = text_column(g);
	bool is_glob = rng_percent(g->rng, 25);

	node->hi = 1;
	node->text = is_glob ? "GLOB" : "LIKE";
	node->negated = rng_percent(g->rng, 25);
	node->args[0] = node_column(g, column);
	node->args[1] = node_text(g, gen_pattern(g, column, is_glob));
	return node;
}

static const char *gen_comparison_op(struct generator *g)
{
	static const char *const ops[] = { "=",	 "==", "<>", "!=", "<",
					   "<=", ">",  ">=", "IS", "IS NOT" };

	return ops[rng_below(g->rng, ARRAY_SIZE(ops))];
}

static struct node *gen_text_compare(struct generator *g)
{
	u32 column = text_column(g);
	struct node *a = node_column(g, column), *b;

	if (rng_percent(g->rng, 25))
		b = node_column(g, text_column(g));
	else
		b = node_text(g, near_text(g, column));
	if (rng_percent(g->rng, 15)) {
		struct node *swap = a;

		a = b;
		b = swap;
	}
	return node_binary(g, gen_comparison_op(g), a, b);
}

static struct node *gen_null(struct generator *g)
{
	return node_new(g, NODE_NULL, 0);
}

static struct node *gen_in(struct generator *g, u32 depth)
{
	u32 n = 1 + rng_below(g->rng, 6);
	struct node *node = node_new(g, NODE_IN, 1 + n);
	u32 column = integer_column(g, true);
	bool is_text = rng_percent(g->rng, 35);

	node->hi = 1;
	node->negated = rng_percent(g->rng, 30);
	if (is_text)
		node->args[0] = node_column(g, column = text_column(g));
	else if (rng_percent(g->rng, 70) || !depth)
		node->args[0] = node_column(g, column);
	else
		node->args[0] = gen_integer(g, depth - 1);
	for (u32 i = 1; i <= n; i++) {
		if (rng_percent(g->rng, 6))
			node->args[i] = gen_null(g);
		else
			node->args[i] =
				is_text ? node_text(g, near_text(g, column)) : gen_near(g, column);
	}
	return node;
}

/* --- Conditions --- */

/* An operand of a comparison and something of its size. */
static void gen_pair(struct generator *g, u32 depth, struct node **ret_a, struct node **ret_b)
{
	u32 column = integer_column(g, true);
	bool is_only = column_infos[column].is_compare_only;

	if (is_only || depth == 0 || rng_percent(g->rng, 45)) {
		*ret_a = node_column(g, column);
		if (!is_only && rng_percent(g->rng, 25))
			*ret_b = node_column(g, integer_column(g, false));
		else
			*ret_b = gen_near(g, column);
	} else {
		*ret_a = gen_integer(g, depth - 1);
		*ret_b = rng_percent(g->rng, 40) ? gen_integer(g, depth - 1) : gen_literal(g);
	}
	if (rng_percent(g->rng, 4))
		*ret_b = gen_null(g);
}

static struct node *gen_between(struct generator *g, u32 depth)
{
	struct node *node = node_new(g, NODE_BETWEEN, 3);

	node->hi = 1;
	node->negated = rng_percent(g->rng, 25);
	if (rng_percent(g->rng, 12)) {
		u32 column = text_column(g);

		node->args[0] = node_column(g, column);
		node->args[1] = node_text(g, near_text(g, column));
		node->args[2] = node_text(g, near_text(g, column));
		return node;
	}
	gen_pair(g, depth, &node->args[0], &node->args[1]);
	if (node->args[0]->kind == NODE_COLUMN)
		node->args[2] = gen_near(g, node->args[0]->column);
	else
		node->args[2] = gen_integer(g, depth ? depth - 1 : 0);
	return node;
}

static struct node *gen_is_null(struct generator *g, u32 depth)
{
	struct node *node = node_new(g, NODE_IS_NULL, 1);

	node->hi = 1;
	node->negated = rng_percent(g->rng, 50);
	node->args[0] = gen_integer(g, depth ? depth - 1 : 0);
	return node;
}

static struct node *gen_bool(struct generator *g, u32 depth)
{
	u32 dice = rng_below(g->rng, 100);
	struct node *a, *b;

	if (depth && dice < 30) {
		a = gen_bool(g, depth - 1);
		b = gen_bool(g, depth - 1);
		return node_binary(g, dice < 15 ? "AND" : "OR", a, b);
	}
	if (depth && dice < 38) {
		a = node_new(g, NODE_UNARY, 1);
		a->text = "NOT";
		a->hi = 1;
		a->args[0] = gen_bool(g, depth - 1);
		return a;
	}
	if (dice < 68) {
		gen_pair(g, depth, &a, &b);
		return node_binary(g, gen_comparison_op(g), a, b);
	}
	if (dice < 76)
		return gen_between(g, depth);
	if (dice < 83)
		return gen_in(g, depth);
	if (dice < 89)
		return gen_like(g);
	if (dice < 95)
		return gen_text_compare(g);
	if (dice < 97)
		return gen_is_null(g, depth);
	return gen_integer(g, depth ? depth - 1 : 0); /* not zero is true */
}

/* --- The query --- */

static bool has(const struct node *node, enum node_kind kind)
{
	if (node->kind == kind)
		return true;
	for (u32 i = 0; i < node->n_args; i++)
		if (has(node->args[i], kind))
			return true;
	return false;
}

static struct node *gen_key(struct generator *g)
{
	struct node *key;

	if (rng_percent(g->rng, 25))
		return node_column(g, text_column(g));
	if (rng_percent(g->rng, 60))
		return node_column(g, integer_column(g, true));
	/* Without a column GROUP BY would take it for an ordinal. */
	do {
		key = rng_percent(g->rng, 20) ? gen_bool(g, 1) : gen_integer(g, 2);
	} while (!has(key, NODE_COLUMN));
	return key;
}

/* A key that follows from another one: the same again, or computed from it. */
static struct node *gen_key_of(struct generator *g, struct node *key)
{
	static const char *const ops[] = { "+", "-", "*", "/", "%", "<", ">=", "=" };
	u32 op = rng_below(g->rng, ARRAY_SIZE(ops));
	struct node *node = node_binary(g, ops[op], key, node_integer(g, 1 + rng_below(g->rng, 9)));

	if (key->class != CLASS_INTEGER || key_is_compare_only(g->query, key))
		return key;
	return op > 4 || interval_infer(node) ? node : key;
}

/* key = a value that some row has */
static struct node *gen_fixed(struct generator *g, struct node *key)
{
	bool is_text = key->class == CLASS_TEXT;

	return node_binary(g, "=", key,
			   is_text ? node_text(g, near_text(g, key->column))
				   : gen_near(g, key->column));
}

static struct node *gen_aggregate(struct generator *g)
{
	static const char *const names[] = { "count",	   "sum",    "min",	"max",	  "avg",
					     "count",	   "SUM",    "first",	"last",	  "stddev",
					     "stddev_pop", "bit_or", "bit_and", "bit_xor" };
	const char *name = names[rng_below(g->rng, ARRAY_SIZE(names))];
	struct node *node = node_new(g, NODE_AGGREGATE, 2), *arg;
	s128 n = g->dataset->n_events;
	bool is_stddev = strncmp(name, "stddev", 6) == 0, is_avg = name[0] == 'a';
	bool is_sum = !is_stddev && (name[0] == 's' || name[0] == 'S');
	bool is_order = name[0] == 'f' || name[0] == 'l';

	node->text = name;
	node->n_args = 0;
	if (name[0] != 'c' || rng_percent(g->rng, 50)) {
		do {
			arg = rng_percent(g->rng, 55)
				      ? node_column(g, integer_column(g, !is_sum && !is_avg &&
										 !is_stddev))
				      : gen_integer(g, 2);
			/* SQLite's avg adds doubles: exact, in any order, below 2^53. */
		} while ((is_sum && !interval_fits(arg->lo * n, arg->hi * n)) ||
			 (is_avg && interval_magnitude(arg) * n > (s128)1 << 53));
		if ((name[0] == 'c' || is_order) && rng_percent(g->rng, 15))
			arg = node_column(g, text_column(g));
		if (is_order)
			node->class = arg->class;
		node->args[node->n_args++] = arg;
		node->lo = is_sum ? MIN(arg->lo * n, 0) : arg->lo;
		node->hi = is_sum ? MAX(arg->hi * n, 0) : arg->hi;
	}
	if (name[0] == 'b')
		interval_of_bits(node);
	if (name[0] == 'c') {
		node->lo = 0;
		node->hi = n;
	}
	if (is_avg || is_stddev)
		node->class = CLASS_REAL;
	if ((node->has_filter = rng_percent(g->rng, 25)))
		node->args[node->n_args++] = gen_bool(g, 1);
	return node;
}

static struct node *gen_key_reference(struct generator *g, u32 key)
{
	struct node *node = node_new(g, NODE_KEY, 0);

	node->column = key;
	node->class = g->query->keys[key]->class;
	node->lo = g->query->keys[key]->lo;
	node->hi = g->query->keys[key]->hi;
	return node;
}

/* An integer expression over integer keys, aggregates and constants. */
static struct node *gen_behind(struct generator *g, u32 depth)
{
	static const char *const ops[] = { "+", "-", "*", "/", "%", "&", ">=" };
	struct node *a, *b, *node;

	if (depth == 0 || rng_percent(g->rng, 30)) {
		u32 key = rng_below(g->rng, QUERY_KEYS_MAX);

		if (rng_percent(g->rng, 15))
			return gen_literal(g);
		if (key < g->query->n_keys && g->query->keys[key]->class == CLASS_INTEGER)
			return gen_key_reference(g, key);
		do {
			node = gen_aggregate(g);
		} while (node->class != CLASS_INTEGER);
		return node;
	}
	a = gen_behind(g, depth - 1);
	b = gen_behind(g, depth - 1);
	node = node_binary(g, ops[rng_below(g->rng, ARRAY_SIZE(ops))], a, b);
	if (node->text[0] == '>')
		return node;
	if (node->text[0] == '/' && a->lo == INT64_MIN && b->lo <= -1 && b->hi >= -1)
		return a;
	/* A pointer or an instant as a key is no number. */
	return interval_infer(node) ? node : a;
}

static bool key_is_compare_only(const struct query *query, const struct node *node)
{
	if (node->kind == NODE_KEY)
		node = query->keys[node->column];
	if (node->kind == NODE_COLUMN && column_infos[node->column].is_compare_only)
		return true;
	for (u32 i = 0; i < node->n_args; i++)
		if (key_is_compare_only(query, node->args[i]))
			return true;
	return false;
}

static struct node *gen_number_behind(struct generator *g, u32 depth)
{
	struct node *node;

	do {
		node = gen_behind(g, depth);
	} while (node->kind != NODE_AGGREGATE && key_is_compare_only(g->query, node));
	return node;
}

static struct node *gen_having(struct generator *g)
{
	struct node *a, *b, *condition;

	if (rng_percent(g->rng, 25)) {
		do {
			a = gen_aggregate(g);
		} while (a->class != CLASS_REAL);
		b = node_new(g, NODE_REAL, 0);
		b->class = CLASS_REAL;
		b->text = arena_printf(g->arena, "%u.%u", rng_below(g->rng, 300),
				       rng_below(g->rng, 10));
	} else {
		a = gen_number_behind(g, 1);
		b = rng_percent(g->rng, 70) ? gen_literal(g) : gen_number_behind(g, 1);
	}
	condition = node_binary(g, gen_comparison_op(g), a, b);
	if (rng_percent(g->rng, 20))
		condition =
			node_binary(g, rng_percent(g->rng, 50) ? "AND" : "OR", condition,
				    node_binary(g, ">", gen_number_behind(g, 0), gen_literal(g)));
	return condition;
}

static void gen_items(struct generator *g, struct query *query)
{
	u32 n_more = 1 + rng_below(g->rng, 4);

	for (u32 i = 0; i < query->n_keys; i++)
		if (rng_percent(g->rng, 90))
			query->items[query->n_items++] = gen_key_reference(g, i);
	for (u32 i = 0; i < n_more; i++)
		query->items[query->n_items++] =
			rng_percent(g->rng, 75) ? gen_aggregate(g) : gen_number_behind(g, 2);
}

static void gen_streaming_items(struct generator *g, struct query *query)
{
	u32 n = 1 + rng_below(g->rng, 5);

	query->is_streaming = true;
	for (u32 i = 0; i < n; i++)
		query->items[query->n_items++] = gen_key(g);
}

static void gen_order(struct generator *g, struct query *query)
{
	u32 first = rng_below(g->rng, query->n_items);

	query->n_order_by = query->n_items;
	for (u32 i = 0; i < query->n_items; i++) {
		query->order_by[i] = (first + i) % query->n_items;
		query->order_down[i] = rng_percent(g->rng, 40);
		query->order_nulls[i] = rng_percent(g->rng, 15) ? 1 + rng_below(g->rng, 2) : 0;
	}
	if (rng_percent(g->rng, 60)) {
		query->limit = rng_below(g->rng, 12);
		query->offset = rng_percent(g->rng, 30) ? (s64)rng_below(g->rng, 4) : -1;
	}
}

void query_random(struct query *query, const struct dataset *dataset, struct arena *arena,
		  struct rng *rng)
{
	struct generator g = { dataset, arena, rng, query };
	bool is_streaming = rng_percent(rng, 8), is_aggregate = false;

	memset(query, 0, sizeof(*query));
	query->limit = query->offset = -1;
	query->clauses_swapped = rng_percent(rng, 20);
	query->all_parentheses = rng_percent(rng, 40);
	while (query->n_where < ARRAY_SIZE(query->where) &&
	       rng_percent(rng, query->n_where ? 35 : 70))
		query->where[query->n_where++] = gen_bool(&g, 1 + rng_below(rng, 3));
	if (is_streaming) {
		gen_streaming_items(&g, query);
		return;
	}
	for (u32 n = rng_below(rng, 4); query->n_keys < n; query->n_keys++) {
		query->keys[query->n_keys] =
			query->n_keys && rng_percent(rng, 20)
				? gen_key_of(&g, query->keys[rng_below(rng, query->n_keys)])
				: gen_key(&g);
		query->key_styles[query->n_keys] = rng_percent(rng, 30) ? 1 + rng_below(rng, 2) : 0;
	}
	if (query->n_keys && query->keys[0]->kind == NODE_COLUMN && rng_percent(rng, 20) &&
	    query->n_where < ARRAY_SIZE(query->where))
		query->where[query->n_where++] = gen_fixed(&g, query->keys[0]);
	gen_items(&g, query);
	/* An ungrouped query needs an aggregate somewhere, or it would stream. */
	for (u32 i = 0; i < query->n_items; i++)
		is_aggregate |= has(query->items[i], NODE_AGGREGATE);
	if (!is_aggregate)
		query->items[query->n_items - 1] = gen_aggregate(&g);
	if (query->n_keys && rng_percent(rng, 20))
		query->having = gen_having(&g);
	if (rng_percent(rng, 20))
		gen_order(&g, query);
}
