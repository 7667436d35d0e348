/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bound expressions over tuples -> values.  Columns are picked; what is computed is
 * computed by SQLite, over the relation t(c0, c1, ...) of a batch's tuples, as
 * cut/ prints it.
 */
#include <errno.h>
#include <sqlite3.h>

#include "lite/lite.h"
#include "tree/internal.h"

/* --- Slots --- */

struct slot_source *slots_source(const struct slots *slots, u32 number)
{
	for (u32 i = 0; i < slots->n_sources; i++)
		if (slots->sources[i].source->number == number)
			return &slots->sources[i];
	BUG("no scan is source %u", number);
}

static void note_source(void *context, struct expr *e)
{
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM)
		*(u32 *)context = e->source;
}

/* The slot that holds the value of this expression, or -1: it is computed. */
static s32 slots_find(const struct slots *slots, const struct expr *e)
{
	const struct slot_source *s;
	u32 number = 0;

	if (e->kind == EXPR_RUNNING)
		return (s32)slots->running.at[e->index];
	if (e->kind != EXPR_FIELD && e->kind != EXPR_SYSTEM && e->kind != EXPR_MEMBER)
		return -1;
	expr_each((struct expr *)e, note_source, &number);
	s = slots_source(slots, number);
	for (u32 i = 0; i < s->source->n_columns; i++)
		if (expr_equal(s->source->columns[i].expr, e))
			return (s32)(s->first + i);
	BUG("source %u has no column %s", number, e->name ? e->name : "?");
}

/* --- Expression -> SQL --- */

/* In rows of the branch whose scan is there; in none of them: of no partner, all is NULL. */
static void put_union(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	const struct row_sql *sql = w->context;

	buf_puts(out, "CASE");
	for (u32 i = 0; i < e->n_args; i++) {
		buf_printf(out, " WHEN c%u IS NOT NULL THEN ",
			   slots_source(sql->slots, e->branches[i])->first);
		lite_write(w, e->args[i], out);
	}
	buf_puts(out, " END");
}

static bool put_slot(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	const struct row_sql *sql = w->context;
	s32 slot = slots_find(sql->slots, e);

	if (slot >= 0)
		buf_printf(out, "c%d", slot);
	else if (e->kind == EXPR_UNION)
		put_union(w, e, out);
	return slot >= 0 || e->kind == EXPR_UNION;
}

/* --- The relation --- */

static void tuple_value(void *context, u64 row, u32 column, struct scratch *scratch,
			struct value *ret_value)
{
	const struct row_sql *sql = context;

	*ret_value = sql->tuples[row]->slots[column];
}

/* --- Statements --- */

/* Is the expression's value in the tuple, or in the query? */
static bool is_picked(const struct row_sql *sql, const struct expr *e)
{
	if (expr_is_constant(e) || slots_find(sql->slots, e) >= 0)
		return true;
	if (e->kind != EXPR_UNION)
		return false;
	for (u32 i = 0; i < e->n_args; i++)
		if (!is_picked(sql, e->args[i]))
			return false;
	return true;
}

static struct value pick(struct row_sql *sql, const struct expr *e, const struct tuple *t)
{
	s32 slot;

	if (expr_is_constant(e))
		return lite_constant(e);
	slot = slots_find(sql->slots, e);
	if (slot >= 0)
		return t->slots[slot];
	for (u32 i = 0; i < e->n_args; i++)
		if (t->slots[slots_source(sql->slots, e->branches[i])->first].kind != VALUE_NULL)
			return pick(sql, e->args[i], t);
	return (struct value){ .kind = VALUE_NULL };
}

static struct value take_picked(struct row_eval *eval, u32 k, const struct tuple *t)
{
	struct value value =
		eval->slots[k] >= 0 ? t->slots[eval->slots[k]] : pick(eval->sql, eval->exprs[k], t);

	if (value.has_fault && !eval->is_handed_on) {
		eval->sql->context.n_faults++;
		value.has_fault = false;
	}
	return value;
}

void row_eval_init(struct row_eval *eval, struct row_sql *sql, struct expr *const *exprs, u32 n)
{
	const struct lite_writer writer = { .leaf = put_slot,
					    .context = sql,
					    .arena = sql->slots->arena };
	struct buf text;

	*eval = (struct row_eval){ .sql = sql, .exprs = (struct expr **)exprs, .n = n };
	eval->computed = arena_array(sql->slots->arena, s32, MAX(n, 1u));
	eval->slots = arena_array(sql->slots->arena, s32, MAX(n, 1u));
	buf_init_in(&text, sql->slots->arena);
	for (u32 i = 0; i < n; i++) {
		eval->computed[i] = -1;
		eval->slots[i] = slots_find(sql->slots, exprs[i]);
		if (is_picked(sql, exprs[i]))
			continue;
		buf_puts(&text, eval->n_computed ? ", " : "SELECT ");
		lite_write(&writer, exprs[i], &text);
		eval->computed[i] = (s32)eval->n_computed++;
	}
	buf_puts(&text, " FROM t");
	if (eval->n_computed)
		eval->text = text.at;
}

void row_eval_init_filter(struct row_eval *eval, struct row_sql *sql, struct expr *const *conjuncts,
			  u32 n)
{
	struct arena *arena = sql->slots->arena;
	const struct lite_writer writer = { .leaf = put_slot, .context = sql, .arena = arena };
	struct buf text;

	*eval = (struct row_eval){ .sql = sql, .n = 1, .n_computed = 1 };
	eval->computed = arena_array(arena, s32, 1);
	eval->exprs = arena_array(arena, struct expr *, 1);
	eval->exprs[0] = expr_new(arena, EXPR_NULL, (struct span){ 0, 0 });
	eval->exprs[0]->type = (struct type){ .kind = TYPE_BOOL, .bits = 8 };
	buf_init_in(&text, arena);
	buf_puts(&text, "SELECT CASE WHEN ");
	for (u32 i = 0; i < n; i++) {
		buf_puts(&text, i ? " AND (" : "(");
		lite_write_condition(&writer, conjuncts[i], &text);
		buf_putc(&text, ')');
	}
	buf_puts(&text, n ? " THEN 1 ELSE 0 END FROM t" : "1 THEN 1 END FROM t");
	eval->text = text.at;
}

void row_eval_close(struct row_eval *eval)
{
	sqlite3_finalize(eval->statement);
	region_free(&eval->values);
	eval->statement = NULL;
}

static bool register_all(struct row_sql *sql)
{
	sql->table = (struct relation){ .name = "t",
					.context = &sql->context,
					.n_columns = sql->slots->n_slots,
					.is_read = true,
					.expected_rows = 10000 };
	return !func_register(sql->db, &sql->context) && !relation_register(sql->db, &sql->table);
}

int row_sql_open(struct row_sql *sql, struct row_eval *const *evals, u32 n_evals)
{
	bool is_needed = false;

	for (u32 i = 0; i < n_evals; i++)
		is_needed |= evals[i]->text != NULL;
	if (!is_needed)
		return 0;
	if (connect_open(sql->cancel, &sql->db) || !register_all(sql))
		return connect_refused(sql->db, sql->diags);
	for (u32 i = 0; i < n_evals; i++) {
		struct row_eval *eval = evals[i];

		if (!eval->text)
			continue;
		if (sqlite3_prepare_v3(sql->db, eval->text, -1, SQLITE_PREPARE_PERSISTENT,
				       &eval->statement, NULL))
			return connect_refused(sql->db, sql->diags);
		BUG_ON((u32)sqlite3_column_count(eval->statement) != eval->n_computed);
	}
	return 0;
}

void row_sql_close(struct row_sql *sql)
{
	sqlite3_close(sql->db);
	relation_close(&sql->table);
	sql->db = NULL;
}

static int take_row(struct row_eval *eval, struct value *ret_row)
{
	struct row_sql *sql = eval->sql;
	int err = 0;

	for (u32 i = 0; i < eval->n && !err; i++)
		if (eval->computed[i] >= 0)
			err = func_take(eval->statement, eval->computed[i], eval->exprs[i]->type,
					sql->scratch, &ret_row[i]);
	if (err == -EOVERFLOW)
		connect_too_large("a column of a row", sql->diags);
	return err;
}

static int run_statement(struct row_eval *eval, struct value *rows, u32 n)
{
	u64 n_faults = eval->sql->context.n_faults;
	int step = SQLITE_DONE, err = 0;
	u32 at = 0;

	while (!err && (step = sqlite3_step(eval->statement)) == SQLITE_ROW) {
		BUG_ON(at >= n);
		/* What its values counted goes with the row. */
		if (eval->is_handed_on) {
			eval->sql->tuples[at]->n_faults = eval->sql->context.n_faults - n_faults;
			eval->n_faults += eval->sql->tuples[at]->n_faults;
			eval->sql->context.n_faults = n_faults;
		}
		err = take_row(eval, rows + (size_t)at++ * eval->n);
	}
	if (!err && step != SQLITE_DONE)
		err = connect_refused(eval->sql->db, eval->sql->diags);
	sqlite3_reset(eval->statement);
	BUG_ON(!err && at != n);
	return err;
}

int row_eval_run(struct row_eval *eval, struct tuple *const *tuples, u32 n_tuples,
		 const struct value **ret_values)
{
	struct row_sql *sql = eval->sql;
	const struct relation_reader reader = { .value = tuple_value,
						.context = sql,
						.other_row = -1 };
	u64 start_ns = base_monotonic_ns(), n_faults = sql->context.n_faults;
	struct value *rows;
	int err = 0;

	if (!region_need(&eval->values, MAX((size_t)n_tuples * eval->n, 1u) * sizeof(*rows)))
		return -ENOMEM;
	rows = eval->values.at;
	for (u32 i = 0; i < n_tuples; i++)
		for (u32 k = 0; k < eval->n; k++)
			if (eval->computed[k] < 0)
				rows[(size_t)i * eval->n + k] = take_picked(eval, k, tuples[i]);
	sql->tuples = tuples;
	relation_set_reader(&sql->table, &reader, n_tuples);
	if (eval->statement && n_tuples)
		err = run_statement(eval, rows, n_tuples);
	eval->n_faults += sql->context.n_faults - n_faults;
	eval->sql_ns += base_monotonic_ns() - start_ns;
	*ret_values = rows;
	return err;
}
