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

/* Streams the largest parts that the kernel can compute, and refers to them. */
static struct expr *stream_parts(struct user_plan *u, struct expr *e)
{
	struct expr *copy;

	if (expr_is_constant(e))
		return e;
	if (!e->is_user_only)
		return column_ref(u->arena, e, stream_add(u, e));
	copy = arena_new(u->arena, struct expr);
	*copy = *e;
	copy->args = arena_array(u->arena, struct expr *, e->n_args);
	for (u32 i = 0; i < e->n_args; i++)
		copy->args[i] = stream_parts(u, e->args[i]);
	return copy;
}

static void input_schema(struct user_plan *u)
{
	struct phys *p = u->phys;
	struct schema *in = &p->user.input;
	u32 n = 0;

	if (p->is_streaming) {
		in->n_columns = u->columns.n;
		in->columns = arena_array(u->arena, struct column, in->n_columns);
		for (u32 i = 0; i < u->columns.n; i++)
			in->columns[i] = (struct column){ arena_printf(u->arena, "c%u", i),
							  u->columns.at[i].type };
		return;
	}
	in->n_columns = p->n_keys + p->n_aggregates + 2;
	in->columns = arena_array(u->arena, struct column, in->n_columns);
	for (u32 i = 0; i < p->n_keys; i++)
		in->columns[n++].type = p->keys[i].expr->type;
	for (u32 i = 0; i < p->n_aggregates; i++)
		in->columns[n++].type = p->aggregates[i].type;
	for (u32 i = 0; i < 2; i++)
		in->columns[n++].type = (struct type){ .kind = TYPE_TIMESTAMP, .bits = 64 };
	for (u32 i = 0; i < n; i++)
		in->columns[i].name = arena_printf(u->arena, "c%u", i);
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
	buf_puts(sql, "other FROM w)");
}

static void sql_order(const struct plan *sort, struct buf *sql)
{
	buf_puts(sql, " ORDER BY other");
	for (u32 i = 0; i < sort->n_sort_keys; i++) {
		const struct sort_key *key = &sort->sort_keys[i];

		/* A constant orders nothing, and SQLite would take it for a column's number. */
		if (expr_is_constant(key->expr))
			continue;
		buf_puts(sql, ", ");
		expr_print(key->expr, sql);
		buf_puts(sql, key->is_descending ? " DESC" : "");
		buf_puts(sql, key->nulls < 0   ? " NULLS FIRST"
			      : key->nulls > 0 ? " NULLS LAST"
					       : "");
	}
}

static const char *sql_text(struct user_plan *u, struct expr *const *items)
{
	struct buf sql;
	const char *text;

	buf_init(&sql);
	buf_puts(&sql, "SELECT ");
	for (u32 i = 0; i < u->project->n_items; i++) {
		expr_print(items[i], &sql);
		buf_puts(&sql, ", ");
	}
	buf_puts(&sql, "other");
	sql_input(u, &sql);
	if (u->having) {
		buf_puts(&sql, " WHERE ");
		for (u32 i = 0; i < u->having->n_conjuncts; i++) {
			buf_puts(&sql, i ? " AND " : "");
			expr_print(u->having->conjuncts[i], &sql);
		}
		if (!u->having->n_conjuncts)
			buf_puts(&sql, "1");
	}
	if (u->sort)
		sql_order(u->sort, &sql);
	if (u->limit && !u->phys->is_streaming)
		buf_printf(&sql, " LIMIT %lld OFFSET %lld", (long long)u->limit->limit,
			   (long long)u->limit->offset);
	text = arena_strdup(u->arena, sql.at);
	buf_free(&sql);
	return text;
}

static bool stream_limit(struct user_plan *u, struct diags *diags)
{
	if (!u->phys->is_streaming || !u->limit)
		return true;
	u->phys->stream_limit = u->limit->limit;
	if (u->limit->offset == 0)
		return true;
	diag_error(diags, "not-supported", u->limit->span,
		   "OFFSET over single events is not available yet");
	return false;
}

bool phys_user_part(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	struct user_plan u = { .phys = phys, .arena = phys->arena, .at_bytes = 8 };
	const struct plan *agg = plan_find(input->plan, PLAN_AGGREGATE);
	struct schema *out = &phys->user.output;
	struct expr **items;
	bool needs_sql;

	u.project = plan_find(input->plan, PLAN_PROJECT);
	u.sort = plan_find(input->plan, PLAN_SORT);
	u.limit = plan_find(input->plan, PLAN_LIMIT);
	if (agg && u.project->input->kind == PLAN_FILTER)
		u.having = u.project->input;
	if (!stream_limit(&u, diags))
		return false;
	out->n_columns = u.project->n_items;
	out->columns = arena_array(phys->arena, struct column, out->n_columns);
	phys->user.output_from = arena_array(phys->arena, s32, out->n_columns);
	items = arena_array(phys->arena, struct expr *, out->n_columns);
	needs_sql = u.having || u.sort || (u.limit && agg);
	for (u32 i = 0; i < out->n_columns; i++) {
		struct expr *e = u.project->items[i].expr;

		items[i] = agg ? e : stream_parts(&u, e);
		out->columns[i] = (struct column){ u.project->items[i].name, e->type };
		phys->user.output_from[i] = plain_column(phys, items[i]);
		needs_sql |= phys->user.output_from[i] < 0;
	}
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
	input_schema(&u);
	if (needs_sql)
		phys->user.sql = sql_text(&u, items);
	return true;
}
