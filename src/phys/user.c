/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is left to the user part: which input column each output column is, or
 * the SQL text that SQLite runs over the rows of a window.
 */
#include <string.h>

#include "phys/internal.h"

/* One bit each in the row's null mask. */
#define STREAM_COLUMNS_MAX 64

typedef VEC(struct stream_column) column_vec;

struct user_plan {
	struct phys *phys;
	struct arena *arena;
	const struct plan *project, *having, *sort, *limit;
	column_vec columns; /* streamed */
	u32 at_bytes;
	struct expr **items; /* of the projection, over the input columns */
	s32 *items_from;     /* the input column that the item is, or -1 */
	s32 unnest;	     /* the item that stands for the cells of a histogram, or -1 */
};

static struct expr *column_ref(struct arena *arena, const struct expr *e, u32 index)
{
	struct expr *ref = expr_new(arena, EXPR_KEY, e->span);

	ref->type = e->type;
	ref->index = index;
	return ref;
}

static u32 stream_add(struct user_plan *u, struct expr *e)
{
	struct stream_column c = { .expr = e, .type = e->type };

	for (u32 i = 0; i < u->columns.n; i++)
		if (expr_equal(u->columns.at[i].expr, e))
			return i;
	c.is_probe = e->kind == EXPR_SYSTEM && e->index == SYS_PROBE;
	c.n_bytes = e->type.kind == TYPE_TEXT && !c.is_probe ? (u32)ALIGN_UP(e->type.bytes, 8) : 8;
	c.bytes_offset = u->at_bytes;
	u->at_bytes += c.n_bytes;
	vec_push(u->arena, &u->columns, c);
	return u->columns.n - 1;
}

/*
 * Why a part of an expression may not be wanted: it stands in an arm of a CASE, or
 * behind an AND or OR.  It is wanted where none of the `skips` is true, and `only`,
 * when there is one, is.
 */
struct guard {
	const struct guard *outer;
	struct expr **skips;
	u32 n_skips;
	struct expr *only;
};

/* part, and NULL where it is not wanted, as one CASE for the kernel. */
static struct expr *guarded(struct user_plan *u, const struct guard *g, struct expr *part)
{
	struct expr *null = expr_new(u->arena, EXPR_NULL, part->span), *e;

	for (; g; g = g->outer) {
		e = expr_new(u->arena, EXPR_CASE, part->span);
		e->args = arena_array(u->arena, struct expr *, 2 * g->n_skips + 3);
		for (u32 i = 0; i < g->n_skips; i++) {
			if (g->skips[i]->is_user_only)
				continue;
			e->args[e->n_args++] = g->skips[i];
			e->args[e->n_args++] = null;
		}
		if (g->only && !g->only->is_user_only) {
			e->args[e->n_args++] = g->only;
			e->args[e->n_args++] = part;
			e->args[e->n_args++] = null;
		} else {
			e->args[e->n_args++] = part;
		}
		if (e->n_args == 1)
			continue;
		expr_infer(e);
		e->type = part->type;
		part = e;
	}
	return part;
}

static bool is_guard_for_kernel(const struct guard *g)
{
	for (; g; g = g->outer) {
		if (g->only && g->only->is_user_only)
			return false;
		for (u32 i = 0; i < g->n_skips; i++)
			if (g->skips[i]->is_user_only)
				return false;
	}
	return true;
}

static bool is_leaf(const struct expr *e)
{
	/* Which branch of a union it is, only the event's program knows. */
	return e->kind == EXPR_MEMBER || e->kind == EXPR_UNION || e->n_args == 0;
}

/*
 * Does SQLite compute it as the kernel does, but for the counting of faults?  It goes
 * over to floating point where integers overflow, and its shifts wrap.
 */
static bool is_same_in_sqlite(const struct expr *e)
{
	bool is_bits = e->kind == EXPR_OP &&
		       ((e->op >= OP_BIT_AND && e->op <= OP_CONCAT) || e->op == OP_BIT_NOT);

	if (is_leaf(e))
		return true;
	if (e->may_overflow || is_bits)
		return false;
	for (u32 i = 0; i < e->n_args; i++)
		if (!is_same_in_sqlite(e->args[i]))
			return false;
	return true;
}

static struct expr *stream_parts(struct user_plan *u, struct expr *e, const struct guard *outer);

/* Each arm is wanted where its WHEN is true and none before it was. */
static void stream_case(struct user_plan *u, struct expr *copy, struct expr *const *args,
			const struct guard *outer)
{
	struct expr **skips = arena_array(u->arena, struct expr *, copy->n_args);
	u32 n = 0;

	for (u32 i = 0; i < copy->n_args; i++) {
		struct guard g = { outer, skips, n, i % 2 ? args[i - 1] : NULL };

		/* The first WHEN is computed for every row. */
		copy->args[i] = stream_parts(u, args[i], i ? &g : outer);
		if (i % 2)
			skips[n++] = args[i - 1];
	}
}

/* b in a AND b, a OR b is not wanted where a alone decides: not where it is NULL. */
static void stream_and_or(struct user_plan *u, struct expr *copy, struct expr *const *args,
			  const struct guard *outer)
{
	struct expr *skip = args[0];
	struct guard g = { outer, &skip, 1, NULL };

	if (copy->op == OP_AND) {
		skip = expr_new(u->arena, EXPR_OP, args[0]->span);
		skip->op = OP_NOT;
		skip->args = arena_array(u->arena, struct expr *, 1);
		skip->args[skip->n_args++] = args[0];
		expr_infer(skip);
	}
	copy->args[0] = stream_parts(u, args[0], outer);
	copy->args[1] = stream_parts(u, args[1], &g);
}

/*
 * Streams the largest parts that the kernel can compute, and refers to them.  A part
 * that may fault is computed only where it is wanted.  Where only the user part
 * knows that, it leaves the faulting operator to SQLite, if it is the same there.
 */
static struct expr *stream_parts(struct user_plan *u, struct expr *e, const struct guard *outer)
{
	struct expr *copy, *part = e;
	bool is_left = e->is_user_only;

	if (expr_is_constant(e))
		return e;
	if (!is_left && e->nullable && outer) {
		is_left = !is_leaf(e) && !is_guard_for_kernel(outer) && is_same_in_sqlite(e);
		if (type_is_word(e->type))
			part = guarded(u, outer, e);
	}
	if (!is_left)
		return column_ref(u->arena, e, stream_add(u, part));
	copy = arena_new(u->arena, struct expr);
	*copy = *e;
	copy->args = arena_array(u->arena, struct expr *, e->n_args);
	if (e->kind == EXPR_CASE)
		stream_case(u, copy, e->args, outer);
	else if (e->kind == EXPR_OP && (e->op == OP_AND || e->op == OP_OR))
		stream_and_or(u, copy, e->args, outer);
	else
		for (u32 i = 0; i < e->n_args; i++)
			copy->args[i] = stream_parts(u, e->args[i], outer);
	return copy;
}

static bool is_quantile(const struct aggregate *a)
{
	return a->kind == AGGREGATE_QUANTILE && a->part == QUANTILE_WHOLE && !a->is_ladder;
}

/* What a column of that aggregate by itself holds: a quantile comes with its bounds. */
static struct type aggregate_type(const struct aggregate *a)
{
	if (!is_quantile(a))
		return a->type;
	return (struct type){ .kind = TYPE_QUANTILE, .of = a->arg->type.kind };
}

static void print_q(u32 q_ppb, struct buf *out)
{
	char digits[12];
	int n = snprintf(digits, sizeof(digits), "%u.%09u", q_ppb / 1000000000, q_ppb % 1000000000);

	while (digits[n - 1] == '0')
		n--;
	if (digits[n - 1] == '.')
		n--;
	buf_put(out, digits, n);
}

/* "quantile_lo(latency, 0.99", without the scheme. */
static void name_statistic(const struct aggregate *a, struct buf *out)
{
	static const char *const parts[] = {
		[QUANTILE_WHOLE] = "quantile",
		[QUANTILE_LO] = "quantile_lo",
		[QUANTILE_HI] = "quantile_hi",
	};

	if (a->kind == AGGREGATE_HISTOGRAM)
		buf_puts(out, "histogram");
	else if (a->is_interpolated)
		buf_puts(out, "percentile_cont");
	else
		buf_puts(out, a->is_ladder ? "quantiles" : parts[a->part]);
	buf_putc(out, '(');
	expr_print(a->arg, out);
	for (u32 i = 0; i < a->n_q; i++) {
		buf_puts(out, ", ");
		print_q(a->q_ppb[i], out);
	}
}

/* Messages name input columns as the query does. */
static const char *name_of(struct user_plan *u, const struct expr *e,
			   const struct aggregate *aggregate)
{
	struct buf text;
	const char *name;

	buf_init(&text);
	if (aggregate && aggregate->scheme) {
		name_statistic(aggregate, &text);
		e = NULL;
	} else if (aggregate) {
		buf_printf(&text, "%s(%s", aggregate_infos[aggregate->kind].name,
			   aggregate->arg ? "" : "*");
	}
	if (e)
		expr_print(e, &text);
	buf_puts(&text, aggregate ? ")" : "");
	name = arena_strdup(u->arena, text.at);
	buf_free(&text);
	return name;
}

static void input_schema(struct user_plan *u, const struct plan *agg)
{
	struct phys *p = u->phys;
	struct schema *in = &p->user.input;
	struct column *c;

	if (p->is_streaming) {
		in->n_columns = u->columns.n;
		in->columns = arena_array(u->arena, struct column, in->n_columns);
		for (u32 i = 0; i < u->columns.n; i++)
			in->columns[i] = (struct column){ name_of(u, u->columns.at[i].expr, NULL),
							  u->columns.at[i].type };
		return;
	}
	in->n_columns = p->n_keys + p->n_aggregates + 2;
	in->columns = c = arena_array(u->arena, struct column, in->n_columns);
	for (u32 i = 0; i < p->n_keys; i++)
		*c++ = (struct column){ p->keys[i].name, p->keys[i].expr->type };
	for (u32 i = 0; i < p->n_aggregates; i++)
		*c++ = (struct column){ name_of(u, agg->aggregate.list[i].arg,
						&agg->aggregate.list[i]),
					aggregate_type(&agg->aggregate.list[i]) };
	for (u32 i = 0; i < 2; i++)
		*c++ = (struct column){ i ? "window_end" : "window_start",
					{ .kind = TYPE_TIMESTAMP, .bits = 64 } };
}

/* The input column that the expression is, or -1. */
static s32 plain_column(const struct phys *p, const struct expr *e)
{
	switch (e->kind) {
	case EXPR_KEY:
		return (s32)e->index;
	case EXPR_AGGREGATE:
		return (s32)(p->n_keys + e->index);
	case EXPR_WINDOW_START:
		return (s32)(p->n_keys + p->n_aggregates);
	case EXPR_WINDOW_END:
		return (s32)(p->n_keys + p->n_aggregates + 1);
	default:
		return -1;
	}
}

/*
 * The input column of a sort key whose values may not fit SQLite's integers: it is
 * ordered by its two halves, h and l.  -1: by itself.
 */
static s32 split_column(const struct phys *p, const struct expr *e)
{
	if (e->kind == EXPR_KEY)
		return type_is_word(e->type) && e->hi > INT64_MAX ? plain_column(p, e) : -1;
	if (e->kind != EXPR_AGGREGATE)
		return -1;
	/* A sum may be longer than its type. */
	if (aggregate_infos[p->aggregates[e->index].kind].cell == CELL_SUM)
		return type_is_word(e->type) ? plain_column(p, e) : -1;
	return type_is_word(e->type) && e->nullable && e->hi > INT64_MAX ? plain_column(p, e) : -1;
}

static void sql_input(struct user_plan *u, struct buf *sql)
{
	const struct phys *p = u->phys;
	u32 n = 0;

	buf_puts(sql, " FROM (SELECT ");
	if (p->is_streaming)
		for (u32 i = 0; i < u->columns.n; i++, n++)
			buf_printf(sql, "c%u AS k%u, ", n, i);
	for (u32 i = 0; i < p->n_keys; i++, n++)
		buf_printf(sql, "c%u AS k%u, ", n, i);
	for (u32 i = 0; i < p->n_aggregates; i++, n++)
		buf_printf(sql, "c%u AS a%u, ", n, i);
	if (!p->is_streaming)
		buf_printf(sql, "c%u AS window_start, c%u AS window_end, ", n, n + 1);
	for (u32 i = 0; u->sort && i < u->sort->sort.n_keys; i++) {
		s32 split = split_column(p, u->sort->sort.keys[i].expr);

		if (split >= 0)
			buf_printf(sql, "h%d, l%d, ", split, split);
	}
	buf_puts(sql, "other, row FROM w)");
}

static void sql_direction(const struct sort_key *key, struct buf *sql)
{
	buf_puts(sql, key->is_descending ? " DESC" : "");
	buf_puts(sql, key->nulls < 0 ? " NULLS FIRST" : key->nulls > 0 ? " NULLS LAST" : "");
}

static void sql_order(struct user_plan *u, struct buf *sql)
{
	buf_puts(sql, " ORDER BY other");
	for (u32 i = 0; i < u->sort->sort.n_keys; i++) {
		const struct sort_key *key = &u->sort->sort.keys[i];
		s32 split = split_column(u->phys, key->expr);

		/* A constant orders nothing, and SQLite would take it for a column's number. */
		if (expr_is_constant(key->expr))
			continue;
		buf_puts(sql, ", ");
		if (split >= 0) {
			buf_printf(sql, "h%d", split);
			sql_direction(key, sql);
			buf_printf(sql, ", l%d", split);
		} else {
			expr_print(key->expr, sql);
		}
		sql_direction(key, sql);
	}
}

/* Only what is computed: columns that are input columns are taken by their row. */
static void sql_select(struct user_plan *u, struct buf *sql)
{
	buf_puts(sql, "SELECT ");
	for (u32 i = 0; i < u->project->project.n_items; i++) {
		if (u->items_from[i] >= 0)
			continue;
		expr_print(u->items[i], sql);
		buf_puts(sql, ", ");
	}
	buf_puts(sql, "row");
	sql_input(u, sql);
}

static void sql_having(struct user_plan *u, struct buf *sql)
{
	for (u32 i = 0; i < u->having->filter.n_conjuncts; i++) {
		buf_puts(sql, i ? " AND " : "");
		expr_print(u->having->filter.conjuncts[i], sql);
	}
	if (!u->having->filter.n_conjuncts)
		buf_puts(sql, "1");
}

/* The "(other)" row holds what the losses tell of: HAVING and LIMIT never drop it. */
static const char *sql_text(struct user_plan *u)
{
	bool is_limited = u->limit && !u->phys->is_streaming && u->unnest < 0;
	struct buf sql;
	const char *text;

	buf_init(&sql);
	buf_puts(&sql, is_limited ? "SELECT * FROM (" : "");
	sql_select(u, &sql);
	if (is_limited)
		buf_puts(&sql, " WHERE NOT other");
	if (u->having) {
		buf_puts(&sql, is_limited ? " AND (" : " WHERE other OR (");
		sql_having(u, &sql);
		buf_putc(&sql, ')');
	}
	if (u->sort)
		sql_order(u, &sql);
	if (is_limited) {
		buf_printf(&sql, " LIMIT %lld OFFSET %lld) UNION ALL ",
			   (long long)u->limit->limit.count, (long long)u->limit->limit.offset);
		sql_select(u, &sql);
		buf_puts(&sql, " WHERE other");
	}
	text = arena_strdup(u->arena, sql.at);
	buf_free(&sql);
	return text;
}

static bool stream_limit(struct user_plan *u, struct diags *diags)
{
	if (!u->phys->is_streaming || !u->limit)
		return true;
	u->phys->stream_limit = u->limit->limit.count;
	if (u->limit->limit.offset == 0)
		return true;
	diag_error(diags, "not-supported", u->limit->span,
		   "OFFSET over single events is not available yet");
	return false;
}

/* To SQLite an integer of 2^63 and more is a real, and so is what it computes from it. */
static void find_too_large(void *context, struct expr *e)
{
	const struct expr **found = context;

	if (e->kind != EXPR_OP ||
	    (e->op > OP_SHIFT_RIGHT && e->op != OP_NEG && e->op != OP_BIT_NOT))
		return;
	for (u32 i = 0; i < e->n_args; i++)
		if (e->args[i]->kind == EXPR_INTEGER && e->args[i]->integer > INT64_MAX)
			*found = e->args[i];
}

static bool check_literals(struct user_plan *u, struct diags *diags)
{
	const struct expr *found = NULL;

	for (u32 i = 0; i < u->project->project.n_items; i++)
		if (u->items_from[i] < 0)
			expr_each(u->items[i], find_too_large, &found);
	for (u32 i = 0; u->having && i < u->having->filter.n_conjuncts; i++)
		expr_each(u->having->filter.conjuncts[i], find_too_large, &found);
	for (u32 i = 0; u->sort && i < u->sort->sort.n_keys; i++)
		expr_each(u->sort->sort.keys[i].expr, find_too_large, &found);
	if (!found)
		return true;
	diag_error(
		diags, "too-large", found->span,
		"this number does not fit 64 bits signed, which is what user space computes with "
		"here");
	return false;
}

/* --- Output columns --- */

/* UNNEST(top_k(x, k)). */
static void unnest_top_columns(struct user_plan *u, const struct item *item, const struct plan *agg,
			       struct column *columns)
{
	static const char *const names[] = { "value", "weight", "error" };
	const struct expr *x = agg->aggregate.list[item->expr->index].arg;

	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		columns[i].name = names[i];
		columns[i].type = i ? type_int(64, false) : x->type;
		if (item->name && *item->name) /* its alias */
			columns[i].name = arena_printf(u->arena, "%s_%s", item->name, names[i]);
	}
}

/* UNNEST(h): the words of the values in h, and no wider name for what has no alias. */
static void unnest_columns(struct user_plan *u, const struct item *item, struct column *columns)
{
	static const char *const names[] = { "lo", "hi", "count" };
	struct type type = { .kind = item->expr->type.of, .bits = 64, .is_signed = true };
	if (type.kind != TYPE_DURATION && type.kind != TYPE_TIMESTAMP)
		type.kind = TYPE_INT;
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		columns[i].name = names[i];
		columns[i].type = i == 2 ? type_int(64, false) : type;
		if (item->name && *item->name) /* its alias */
			columns[i].name = arena_printf(u->arena, "%s_%s", item->name, names[i]);
	}
}

static struct type output_type(const struct plan *agg, const struct expr *e)
{
	return e->kind == EXPR_AGGREGATE ? aggregate_type(&agg->aggregate.list[e->index]) : e->type;
}

static void output_columns(struct user_plan *u, const struct plan *agg)
{
	struct phys_user *user = &u->phys->user;
	u32 n_items = u->project->project.n_items, n = 0;

	user->output.n_columns = n_items + (u->unnest >= 0 ? 2 : 0);
	user->output.columns = arena_array(u->arena, struct column, user->output.n_columns);
	user->output_from = arena_array(u->arena, s32, user->output.n_columns);
	user->unnest = user->unnest_limit = -1;
	for (u32 i = 0; i < n_items; i++) {
		const struct item *item = &u->project->project.items[i];

		user->output_from[n] = u->items_from[i];
		if (i != (u32)u->unnest) {
			user->output.columns[n++] =
				(struct column){ item->name, output_type(agg, u->items[i]) };
			continue;
		}
		user->unnest = (s32)n;
		user->output_from[n + 1] = user->output_from[n + 2] = u->items_from[i];
		if (item->expr->type.kind == TYPE_TOP)
			unnest_top_columns(u, item, agg, &user->output.columns[n]);
		else
			unnest_columns(u, item, &user->output.columns[n]);
		n += 3;
	}
	if (u->unnest >= 0 && u->limit) {
		user->unnest_limit = u->limit->limit.count;
		user->unnest_offset = u->limit->limit.offset;
	}
}

bool phys_user_part(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	struct user_plan u = { .phys = phys, .arena = phys->arena, .at_bytes = 8, .unnest = -1 };
	const struct plan *agg = plan_find(input->plan, PLAN_AGGREGATE);
	bool needs_sql;

	u.project = plan_find(input->plan, PLAN_PROJECT);
	u.sort = plan_find(input->plan, PLAN_SORT);
	u.limit = plan_find(input->plan, PLAN_LIMIT);
	if (agg && u.project->input->kind == PLAN_FILTER)
		u.having = u.project->input;
	if (!stream_limit(&u, diags))
		return false;
	u.items = arena_array(phys->arena, struct expr *, u.project->project.n_items);
	u.items_from = arena_array(phys->arena, s32, u.project->project.n_items);
	needs_sql = u.having || u.sort;
	for (u32 i = 0; i < u.project->project.n_items; i++) {
		struct expr *e = u.project->project.items[i].expr;

		u.items[i] = agg ? e : stream_parts(&u, e, NULL);
		u.items_from[i] = plain_column(phys, u.items[i]);
		needs_sql |= u.items_from[i] < 0;
		if (u.project->project.items[i].is_unnest)
			u.unnest = (s32)i;
	}
	needs_sql |= u.limit && agg && u.unnest < 0;
	output_columns(&u, agg);
	if (u.columns.n > STREAM_COLUMNS_MAX) {
		diag_hint(diags,
			  diag_error(diags, "too-many-columns", input->plan->span,
				     "a streamed row has at most %u columns", STREAM_COLUMNS_MAX),
			  "select fewer of them");
		return false;
	}
	phys->columns = u.columns.at;
	phys->n_columns = u.columns.n;
	phys->row_bytes = u.at_bytes;
	input_schema(&u, agg);
	if (needs_sql && !check_literals(&u, diags))
		return false;
	if (needs_sql)
		phys->user.sql = sql_text(&u);
	return true;
}
