/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Precedence and meaning against SQLite: random constant expressions with few
 * parentheses are evaluated by SQLite as written, as our tree with parentheses
 * around every node, and as our printer writes it; the three must agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "sql/sql.h"

#define N_EXPRESSIONS 20000

static u32 seed = 12345;

static u32 pick(u32 n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void operand(struct buf *out)
{
	static const char *const operands[] = { "0",	"1",   "2",   "3",   "7",    "-1",
						"NULL", "'2'", "'b'", "1.5", "'a%'", "0x10" };

	buf_puts(out, operands[pick(ARRAY_SIZE(operands))]);
}

static void expression(u32 depth, struct buf *out)
{
	static const char *const binaries[] = {
		"+",
		"-",
		"*",
		"/",
		"%",
		"&",
		"|",
		"<<",
		">>",
		"||",
		"=",
		"==",
		"<>",
		"<",
		"<=",
		">",
		">=",
		"!=",
		"IS",
		"IS NOT",
		"AND",
		"OR",
		"AND",
		"OR",
		"LIKE",
		"NOT LIKE",
		"GLOB",
		"NOT GLOB",
		"IS DISTINCT FROM",
		"IS NOT DISTINCT FROM",
	};
	static const char *const prefixes[] = { "NOT ", "- ", "+ ", "~ ", "NOT " };
	static const char *const postfixes[] = { " ISNULL",	    " NOTNULL",	 " IS NULL",
						 " IS NOT NULL",    " NOT NULL", " IN (1, 2)",
						 " NOT IN (0, 'b')" };

	if (!depth) {
		operand(out);
		return;
	}
	switch (pick(8)) {
	case 0:
		buf_puts(out, prefixes[pick(ARRAY_SIZE(prefixes))]);
		expression(depth - 1, out);
		break;
	case 1:
		expression(depth - 1, out);
		buf_puts(out, postfixes[pick(ARRAY_SIZE(postfixes))]);
		break;
	case 2:
		buf_putc(out, '(');
		expression(depth - 1, out);
		buf_putc(out, ')');
		break;
	case 3:
		expression(depth - 1, out);
		buf_puts(out, pick(2) ? " BETWEEN " : " NOT BETWEEN ");
		/* Bare AND within is read differently by none, but is no test of ours. */
		operand(out);
		buf_puts(out, pick(2) ? " + " : " < ");
		operand(out);
		buf_puts(out, " AND ");
		operand(out);
		break;
	default:
		expression(depth - 1, out);
		buf_printf(out, " %s ", binaries[pick(ARRAY_SIZE(binaries))]);
		expression(depth - 1, out);
	}
}

static void explicit_form(const struct ast *ast, struct buf *out)
{
	u32 i;

	buf_putc(out, '(');
	switch (ast->kind) {
	case AST_UNARY:
		buf_printf(out, "%s ", ast_op_names[ast->op]);
		explicit_form(ast->args[0], out);
		break;
	case AST_BINARY:
		explicit_form(ast->args[0], out);
		buf_printf(out, " %s ", ast_op_names[ast->op]);
		explicit_form(ast->args[1], out);
		break;
	case AST_BETWEEN:
		explicit_form(ast->args[0], out);
		buf_puts(out, ast->negated ? " NOT BETWEEN " : " BETWEEN ");
		explicit_form(ast->args[1], out);
		buf_puts(out, " AND ");
		explicit_form(ast->args[2], out);
		break;
	case AST_LIKE:
		explicit_form(ast->args[0], out);
		buf_printf(out, "%s %s ", ast->negated ? " NOT" : "", ast->text);
		explicit_form(ast->args[1], out);
		break;
	case AST_IS_NULL:
		explicit_form(ast->args[0], out);
		buf_puts(out, ast->negated ? " NOTNULL" : " ISNULL");
		break;
	case AST_IN:
		explicit_form(ast->args[0], out);
		buf_puts(out, ast->negated ? " NOT IN (" : " IN (");
		for (i = 1; i < ast->n_args; i++) {
			buf_puts(out, i > 1 ? ", " : "");
			explicit_form(ast->args[i], out);
		}
		buf_putc(out, ')');
		break;
	default:
		sql_print_expr(ast, out);
	}
	buf_putc(out, ')');
}

/* Type and value, or NULL when SQLite refuses the expression. */
static char *evaluate(sqlite3 *db, const char *expr)
{
	char *query = sqlite3_mprintf("SELECT typeof(x), quote(x) FROM (SELECT (%s) AS x)", expr);
	sqlite3_stmt *statement = NULL;
	char *result = NULL;

	if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		result = sqlite3_mprintf("%s %s", sqlite3_column_text(statement, 0),
					 sqlite3_column_text(statement, 1));
	sqlite3_finalize(statement);
	sqlite3_free(query);
	return result;
}

static void same_value(sqlite3 *db, const char *wanted, const char *text, const char *other)
{
	char *value = evaluate(db, other);

	if (!value || strcmp(wanted, value))
		fail_msg("%s\n  is %s, but\n%s\n  is %s", text, wanted, other,
			 value ? value : "refused");
	sqlite3_free(value);
}

static void test_random(void **state)
{
	struct buf text, form, printed;
	u32 i, n_compared = 0;
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	buf_init(&text);
	buf_init(&form);
	buf_init(&printed);
	for (i = 0; i < N_EXPRESSIONS; i++) {
		struct ast_script *script;
		struct arena arena;
		struct diags diags;
		char *value;

		arena_init(&arena);
		buf_reset(&text);
		buf_reset(&form);
		buf_reset(&printed);
		buf_puts(&text, "SELECT ");
		expression(1 + pick(4), &text);
		value = evaluate(db, text.at + 7);
		diags_init(&diags, &arena, "query", text.at, text.n);
		script = sql_parse(&arena, &diags);
		if (value && diags_failed(&diags)) {
			diags_print(&diags, &form);
			fail_msg("SQLite reads it, we do not:\n%s", form.at);
		}
		if (value) {
			explicit_form(script->statements.at[0].select->items.at[0].expr, &form);
			same_value(db, value, text.at + 7, form.at);
			sql_print_expr(script->statements.at[0].select->items.at[0].expr, &printed);
			same_value(db, value, text.at + 7, printed.at);
			n_compared++;
		}
		sqlite3_free(value);
		arena_free(&arena);
	}
	/* The few that SQLite refuses overflow or divide the smallest integer. */
	assert_true(n_compared > N_EXPRESSIONS * 9 / 10);
	buf_free(&printed);
	buf_free(&form);
	buf_free(&text);
	sqlite3_close(db);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
