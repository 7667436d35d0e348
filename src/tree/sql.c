/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bound expressions over tuples -> values.  Columns are picked; what is computed is
 * computed by SQLite, over the virtual table t(c0, c1, ..., k0, ...) of a batch's
 * tuples: c are their slots, k constants that SQL cannot write exactly.  Arithmetic
 * goes through the functions of func/, and a result that the kernel part would refuse
 * (it does not fit the expression's type) is NULL and a fault here too.
 */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "rel/rel.h"
#include "tree/internal.h"

/* --- Expression -> SQL --- */

static void put_expr(struct row_sql *sql, struct expr *e, struct buf *out);

static void put_constant(struct row_sql *sql, struct value value, struct buf *out)
{
	buf_printf(out, "k%u", sql->constants.n);
	vec_push(sql->slots->arena, &sql->constants, value);
}

static void put_integer(struct row_sql *sql, const struct expr *e, struct buf *out)
{
	if (e->integer > INT64_MIN && e->integer <= INT64_MAX)
		buf_put_s128(out, e->integer);
	else
		put_constant(sql, (struct value){ .kind = VALUE_INT, .integer = e->integer }, out);
}

static void put_text(const char *text, u32 n, struct buf *out)
{
	buf_putc(out, '\'');
	for (u32 i = 0; i < n; i++) {
		if (text[i] == '\'')
			buf_putc(out, '\'');
		buf_putc(out, text[i]);
	}
	buf_putc(out, '\'');
}

static bool is_big(const struct expr *e)
{
	return type_is_word(e->type) && e->hi > INT64_MAX;
}

static const char *const arithmetic[OP_N] = {
	[OP_ADD] = "eb_add",   [OP_SUB] = "eb_sub",	   [OP_MUL] = "eb_mul",
	[OP_DIV] = "eb_div",   [OP_MOD] = "eb_mod",	   [OP_BIT_AND] = "eb_and",
	[OP_BIT_OR] = "eb_or", [OP_SHIFT_LEFT] = "eb_shl", [OP_SHIFT_RIGHT] = "eb_shr",
	[OP_NEG] = "eb_neg",   [OP_BIT_NOT] = "eb_not",
};

/* As gen/arith.c: operators that compute with signed words refuse 2^63 and more. */
static bool needs_signed(const struct expr *e)
{
	bool both_positive = e->args[0]->lo >= 0 && e->n_args == 2 && e->args[1]->lo >= 0;

	if (!e->may_overflow)
		return false;
	return e->n_args == 1 || e->op == OP_BIT_AND || e->op == OP_BIT_OR || !both_positive;
}

/* Of constants alone SQLite computes once for all rows; a fault is one of each row. */
static void put_operand(struct row_sql *sql, const struct expr *e, u32 i, struct buf *out)
{
	const struct expr *x = e->args[i];

	if (i == 0 && x->kind == EXPR_INTEGER)
		put_constant(sql, (struct value){ .kind = VALUE_INT, .integer = x->integer }, out);
	else
		put_expr(sql, e->args[i], out);
}

static void put_arithmetic(struct row_sql *sql, struct expr *e, struct buf *out)
{
	bool is_word = type_is_word(e->type), is_signed = is_word && needs_signed(e);
	const char *fit = NULL;

	if (e->op == OP_PLUS) {
		put_expr(sql, e->args[0], out);
		return;
	}
	if (is_word && (e->op == OP_SHIFT_LEFT || e->op == OP_SHIFT_RIGHT) && !e->type.is_signed)
		fit = "row_as_unsigned";
	else if (is_word && e->may_overflow)
		fit = e->type.is_signed ? "row_fit_signed" : "row_fit_unsigned";
	if (fit)
		buf_printf(out, "%s(", fit);
	buf_printf(out, "%s(", arithmetic[e->op]);
	for (u32 i = 0; i < e->n_args; i++) {
		bool is_checked = is_signed && is_big(e->args[i]);

		buf_puts(out, i ? ", " : "");
		buf_puts(out, is_checked ? "row_fit_signed(" : "");
		put_operand(sql, e, i, out);
		buf_puts(out, is_checked ? ")" : "");
	}
	buf_puts(out, fit ? "))" : ")");
}

/* What stands for 2^63 and more is not true to SQLite by itself. */
static void put_condition(struct row_sql *sql, struct expr *e, struct buf *out)
{
	bool is_wrapped = is_big(e);

	buf_puts(out, is_wrapped ? "(" : "");
	put_expr(sql, e, out);
	buf_puts(out, is_wrapped ? " <> 0)" : "");
}

/* x + NULL and x < NULL are NULL, and x is not even computed: it makes no fault. */
static bool is_never_computed(const struct expr *e)
{
	if (e->type.kind == TYPE_NULL)
		return true;
	return e->op >= OP_EQ && e->op <= OP_GE &&
	       (e->args[0]->type.kind == TYPE_NULL || e->args[1]->type.kind == TYPE_NULL);
}

static void put_operator(struct row_sql *sql, struct expr *e, struct buf *out)
{
	void (*put)(struct row_sql * sql, struct expr * e, struct buf * out);

	if (is_never_computed(e)) {
		buf_puts(out, "NULL");
		return;
	}
	if (arithmetic[e->op] || e->op == OP_PLUS) {
		put_arithmetic(sql, e, out);
		return;
	}
	put = e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT ? put_condition : put_expr;
	buf_putc(out, '(');
	if (e->n_args == 2)
		put(sql, e->args[0], out);
	buf_printf(out, " %s ", ast_op_names[e->op]);
	put(sql, e->args[e->n_args - 1], out);
	buf_putc(out, ')');
}

/* A u64 of 2^63 and more where other arms are negative: no 64 bits hold both. */
static void put_result(struct row_sql *sql, const struct expr *e, struct expr *result,
		       struct buf *out)
{
	bool is_checked = e->may_overflow && is_big(result);

	buf_puts(out, is_checked ? "row_fit_signed(" : "");
	put_expr(sql, result, out);
	buf_puts(out, is_checked ? ")" : "");
}

static void put_case(struct row_sql *sql, struct expr *e, struct buf *out)
{
	if (e->n_args == 1) {
		put_result(sql, e, e->args[0], out);
		return;
	}
	buf_puts(out, "CASE");
	for (u32 i = 0; i + 1 < e->n_args; i += 2) {
		buf_puts(out, " WHEN ");
		put_condition(sql, e->args[i], out);
		buf_puts(out, " THEN ");
		put_result(sql, e, e->args[i + 1], out);
	}
	buf_puts(out, " ELSE ");
	put_result(sql, e, e->args[e->n_args - 1], out);
	buf_puts(out, " END");
}

/* In rows of the branch whose scan is there; in none of them: of no partner, all is NULL. */
static void put_union(struct row_sql *sql, const struct expr *e, struct buf *out)
{
	buf_puts(out, "CASE");
	for (u32 i = 0; i < e->n_args; i++) {
		buf_printf(out, " WHEN c%u IS NOT NULL THEN ",
			   slots_source(sql->slots, e->branches[i])->first);
		put_expr(sql, e->args[i], out);
	}
	buf_puts(out, " END");
}

static void put_args(struct row_sql *sql, struct expr *e, u32 from, bool is_guarded,
		     struct buf *out)
{
	for (u32 i = from; i < e->n_args; i++) {
		bool is_checked = is_guarded && is_big(e->args[i]);

		buf_puts(out, i > from ? ", " : "");
		buf_puts(out, is_checked ? "eb_i64(" : "");
		put_expr(sql, e->args[i], out);
		buf_puts(out, is_checked ? ")" : "");
	}
}

static void put_call(struct row_sql *sql, struct expr *e, struct buf *out)
{
	if (strncmp(e->name, "CAST AS ", 8) == 0) {
		buf_puts(out, "CAST(");
		put_args(sql, e, 0, true, out);
		buf_printf(out, " %s)", e->name + 5);
		return;
	}
	buf_printf(out, "%s(", e->name);
	put_args(sql, e, 0, true, out);
	buf_putc(out, ')');
}

static void put_expr(struct row_sql *sql, struct expr *e, struct buf *out)
{
	s32 slot = slots_find(sql->slots, e);

	if (slot >= 0) {
		buf_printf(out, "c%d", slot);
		return;
	}
	switch (e->kind) {
	case EXPR_NULL:
		buf_puts(out, "NULL");
		break;
	case EXPR_INTEGER:
		put_integer(sql, e, out);
		break;
	case EXPR_REAL:
		put_constant(sql, (struct value){ .kind = VALUE_REAL, .real = e->real }, out);
		break;
	case EXPR_TEXT:
		put_text(e->text, e->text_bytes, out);
		break;
	case EXPR_OP:
		put_operator(sql, e, out);
		break;
	case EXPR_IN:
		buf_putc(out, '(');
		put_expr(sql, e->args[0], out);
		buf_puts(out, " IN (");
		put_args(sql, e, 1, false, out);
		buf_puts(out, "))");
		break;
	case EXPR_LIKE:
		buf_putc(out, '(');
		put_expr(sql, e->args[0], out);
		buf_puts(out, e->is_glob ? " GLOB " : " LIKE ");
		put_text(e->text, e->text_bytes, out);
		buf_putc(out, ')');
		break;
	case EXPR_IS_NULL:
		buf_putc(out, '(');
		put_expr(sql, e->args[0], out);
		buf_puts(out, " IS NULL)");
		break;
	case EXPR_CASE:
		put_case(sql, e, out);
		break;
	case EXPR_CALL:
		put_call(sql, e, out);
		break;
	case EXPR_UNION:
		put_union(sql, e, out);
		break;
	default:
		BUG("expression kind %d over single rows", e->kind);
	}
}

/* --- The virtual table --- */

struct tuple_table {
	sqlite3_vtab base;
	struct row_sql *sql;
};

struct tuple_cursor {
	sqlite3_vtab_cursor base;
	u32 at;
};

static struct row_sql *cursor_sql(sqlite3_vtab_cursor *cursor)
{
	return ((struct tuple_table *)cursor->pVtab)->sql;
}

static int table_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
			 sqlite3_vtab **ret_table, char **ret_error)
{
	struct row_sql *sql = context;
	struct tuple_table *table;
	struct buf text;
	int err;

	buf_init(&text);
	buf_puts(&text, "CREATE TABLE t(");
	for (u32 i = 0; i < sql->slots->n_slots; i++)
		buf_printf(&text, "%sc%u", i ? ", " : "", i);
	for (u32 i = 0; i < sql->constants.n; i++)
		buf_printf(&text, ", k%u", i);
	buf_putc(&text, ')');
	err = sqlite3_declare_vtab(db, text.at);
	buf_free(&text);
	if (err)
		return err;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct tuple_table){ .sql = sql };
	*ret_table = &table->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int table_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	info->estimatedCost = 10000;
	info->estimatedRows = 10000;
	return SQLITE_OK;
}

static int table_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
	struct tuple_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct tuple_cursor){ .at = 0 };
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int table_filter(sqlite3_vtab_cursor *cursor, int index, const char *name, int argc,
			sqlite3_value **argv)
{
	((struct tuple_cursor *)cursor)->at = 0;
	return SQLITE_OK;
}

static int table_next(sqlite3_vtab_cursor *cursor)
{
	((struct tuple_cursor *)cursor)->at++;
	return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct tuple_cursor *)cursor)->at >= cursor_sql(cursor)->n_tuples;
}

/* The slot's value, for somebody who evaluates it: a read that failed is a fault. */
static const struct value *slot_value(struct row_sql *sql, const struct tuple *t, u32 slot)
{
	s32 time = sql->slots->read_of[slot];

	/* Without a time there is no event: it has no partner. */
	if (time >= 0 && t->slots[slot].kind == VALUE_NULL && t->slots[time].kind != VALUE_NULL)
		sql->context.n_faults++;
	return &t->slots[slot];
}

static int table_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	struct row_sql *sql = cursor_sql(cursor);
	const struct tuple *t = sql->tuples[((struct tuple_cursor *)cursor)->at];
	u32 i = (u32)column, n = sql->slots->n_slots;

	func_result(context, i < n ? slot_value(sql, t, i) : &sql->constants.at[i - n]);
	return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = ((struct tuple_cursor *)cursor)->at;
	return SQLITE_OK;
}

static const sqlite3_module tuple_module = {
	.xConnect = table_connect,
	.xDisconnect = table_disconnect,
	.xBestIndex = table_best_index,
	.xOpen = table_open,
	.xClose = table_close,
	.xFilter = table_filter,
	.xNext = table_next,
	.xEof = table_eof,
	.xColumn = table_column,
	.xRowid = table_rowid,
};

/* --- Results that the kernel part would refuse --- */

/* row_fit_signed(x), row_fit_unsigned(x): x, or NULL and a fault. */
static void fit(sqlite3_context *context, sqlite3_value *x, bool is_signed)
{
	struct row_sql *sql = sqlite3_user_data(context);
	bool is_out =
		is_signed ? func_is_special(x)
			  : sqlite3_value_type(x) == SQLITE_INTEGER && sqlite3_value_int64(x) < 0;

	if (!is_out) {
		sqlite3_result_value(context, x);
		return;
	}
	sql->context.n_faults++;
	sqlite3_result_null(context);
}

static void fit_signed(sqlite3_context *context, int n, sqlite3_value **args)
{
	fit(context, args[0], true);
}

static void fit_unsigned(sqlite3_context *context, int n, sqlite3_value **args)
{
	fit(context, args[0], false);
}

/* The 64 bits of a shifted u64, which stay unsigned. */
static void as_unsigned(sqlite3_context *context, int n, sqlite3_value **args)
{
	struct value value = { .kind = VALUE_INT };

	if (sqlite3_value_type(args[0]) != SQLITE_INTEGER || sqlite3_value_int64(args[0]) >= 0) {
		sqlite3_result_value(context, args[0]);
		return;
	}
	value.integer = (s128)(u64)sqlite3_value_int64(args[0]);
	func_result(context, &value);
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

	switch (e->kind) {
	case EXPR_NULL:
		return (struct value){ .kind = VALUE_NULL };
	case EXPR_INTEGER:
		return (struct value){ .kind = VALUE_INT, .integer = e->integer };
	case EXPR_REAL:
		return (struct value){ .kind = VALUE_REAL, .real = e->real };
	case EXPR_TEXT:
		return (struct value){ .kind = VALUE_TEXT, .n = e->text_bytes, .text = e->text };
	default:
		break;
	}
	slot = slots_find(sql->slots, e);
	if (slot >= 0)
		return *slot_value(sql, t, (u32)slot);
	for (u32 i = 0; i < e->n_args; i++)
		if (t->slots[slots_source(sql->slots, e->branches[i])->first].kind != VALUE_NULL)
			return pick(sql, e->args[i], t);
	return (struct value){ .kind = VALUE_NULL };
}

static void eval_text(struct row_eval *eval, const struct buf *text)
{
	eval->text = arena_strdup(eval->sql->slots->arena, text->at);
}

void row_eval_init(struct row_eval *eval, struct row_sql *sql, struct expr *const *exprs, u32 n)
{
	struct buf text;

	*eval = (struct row_eval){ .sql = sql, .exprs = (struct expr **)exprs, .n = n };
	eval->computed = arena_array(sql->slots->arena, s32, MAX(n, 1u));
	eval->slots = arena_array(sql->slots->arena, s32, MAX(n, 1u));
	buf_init(&text);
	for (u32 i = 0; i < n; i++) {
		eval->computed[i] = -1;
		eval->slots[i] = slots_find(sql->slots, exprs[i]);
		if (is_picked(sql, exprs[i]))
			continue;
		buf_puts(&text, eval->n_computed ? ", " : "SELECT ");
		put_expr(sql, exprs[i], &text);
		eval->computed[i] = (s32)eval->n_computed++;
	}
	buf_puts(&text, " FROM t");
	if (eval->n_computed)
		eval_text(eval, &text);
	buf_free(&text);
}

void row_eval_init_filter(struct row_eval *eval, struct row_sql *sql, struct expr *const *conjuncts,
			  u32 n)
{
	struct arena *arena = sql->slots->arena;
	struct buf text;

	*eval = (struct row_eval){ .sql = sql, .n = 1, .n_computed = 1 };
	eval->computed = arena_array(arena, s32, 1);
	eval->exprs = arena_array(arena, struct expr *, 1);
	eval->exprs[0] = expr_new(arena, EXPR_NULL, (struct span){ 0, 0 });
	eval->exprs[0]->type = (struct type){ .kind = TYPE_BOOL, .bits = 8 };
	buf_init(&text);
	buf_puts(&text, "SELECT CASE WHEN ");
	for (u32 i = 0; i < n; i++) {
		buf_puts(&text, i ? " AND (" : "(");
		put_condition(sql, conjuncts[i], &text);
		buf_putc(&text, ')');
	}
	buf_puts(&text, n ? " THEN 1 ELSE 0 END FROM t" : "1 THEN 1 END FROM t");
	eval_text(eval, &text);
	buf_free(&text);
}

void row_eval_close(struct row_eval *eval)
{
	sqlite3_finalize(eval->statement);
	region_free(&eval->values);
	eval->statement = NULL;
}

static int failed(struct row_sql *sql)
{
	return connect_refused(sql->db, sql->diags);
}

static bool register_all(struct row_sql *sql)
{
	static const struct {
		const char *name;
		void (*call)(sqlite3_context *context, int n, sqlite3_value **args);
	} functions[] = { { "row_fit_signed", fit_signed },
			  { "row_fit_unsigned", fit_unsigned },
			  { "row_as_unsigned", as_unsigned } };

	if (func_register(sql->db, &sql->context) ||
	    sqlite3_create_module(sql->db, "t", &tuple_module, sql))
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(functions); i++)
		if (sqlite3_create_function(sql->db, functions[i].name, 1,
					    SQLITE_UTF8 | SQLITE_DETERMINISTIC, sql,
					    functions[i].call, NULL, NULL))
			return false;
	return true;
}

int row_sql_open(struct row_sql *sql, struct row_eval *const *evals, u32 n_evals)
{
	bool is_needed = false;

	for (u32 i = 0; i < n_evals; i++)
		is_needed |= evals[i]->text != NULL;
	if (!is_needed)
		return 0;
	if (connect_open(sql->cancel, &sql->db) || !register_all(sql))
		return failed(sql);
	for (u32 i = 0; i < n_evals; i++) {
		struct row_eval *eval = evals[i];

		if (!eval->text)
			continue;
		if (sqlite3_prepare_v3(sql->db, eval->text, -1, SQLITE_PREPARE_PERSISTENT,
				       &eval->statement, NULL))
			return failed(sql);
		BUG_ON((u32)sqlite3_column_count(eval->statement) != eval->n_computed);
	}
	return 0;
}

void row_sql_close(struct row_sql *sql)
{
	sqlite3_close(sql->db);
	sql->db = NULL;
}

static void *take_memory(void *memory, size_t n_bytes)
{
	return scratch_alloc(memory, MAX(n_bytes, 1u));
}

static int take_row(struct row_eval *eval, struct value *ret_row)
{
	struct row_sql *sql = eval->sql;
	int err = 0;

	for (u32 i = 0; i < eval->n && !err; i++)
		if (eval->computed[i] >= 0)
			err = func_take(eval->statement, eval->computed[i], eval->exprs[i]->type,
					take_memory, sql->scratch, &ret_row[i]);
	if (err == -EOVERFLOW)
		diag_plain(sql->diags, "too-large",
			   "an integer beyond 64 bits signed, which user space computes with");
	return err;
}

static int run_statement(struct row_eval *eval, struct value *rows, u32 n)
{
	int step = SQLITE_DONE, err = 0;
	u32 at = 0;

	while (!err && (step = sqlite3_step(eval->statement)) == SQLITE_ROW) {
		BUG_ON(at >= n);
		err = take_row(eval, rows + (size_t)at++ * eval->n);
	}
	if (!err && step != SQLITE_DONE)
		err = failed(eval->sql);
	sqlite3_reset(eval->statement);
	BUG_ON(!err && at != n);
	return err;
}

int row_eval_run(struct row_eval *eval, struct tuple *const *tuples, u32 n_tuples,
		 const struct value **ret_values)
{
	struct row_sql *sql = eval->sql;
	struct value *rows;
	int err = 0;

	if (!region_need(&eval->values, MAX((size_t)n_tuples * eval->n, 1u) * sizeof(*rows)))
		base_no_memory();
	rows = eval->values.at;
	for (u32 i = 0; i < n_tuples; i++)
		for (u32 k = 0; k < eval->n; k++)
			if (eval->computed[k] < 0)
				rows[(size_t)i * eval->n + k] =
					eval->slots[k] >= 0
						? *slot_value(sql, tuples[i], (u32)eval->slots[k])
						: pick(sql, eval->exprs[k], tuples[i]);
	sql->tuples = tuples;
	sql->n_tuples = n_tuples;
	if (eval->statement && n_tuples)
		err = run_statement(eval, rows, n_tuples);
	*ret_values = rows;
	return err;
}
