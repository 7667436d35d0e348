/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * expr_rule(): which type the result of an operation has, for arguments of every sign.
 * That the kernel part computes in that type is tested in tests/replay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "plan/plan.h"

static struct arena arena;

enum { S64, U64, U32, MINUS, N_ARGS };

static struct expr *arg(u32 i)
{
	struct type types[] = { type_int(64, true), type_int(64, false), type_int(32, false),
				type_int(64, true) };
	struct expr *e = expr_new(&arena, EXPR_FIELD, (struct span){ 0, 0 });

	e->type = types[i];
	e->lo = i == MINUS ? -1 : type_min(e->type);
	e->hi = i == MINUS ? -1 : type_max(e->type);
	return e;
}

/* Arguments S64, U64, U32, MINUS across, the same down. */
static const struct {
	enum ast_op op;
	const char *rules[N_ARGS];
} table[] = {
	/* Two signed ones, or a signed and an unsigned one: the arguments must be signed. */
	{ OP_ADD, { "SSSS", "SuuS", "Suss", "SSss" } },
	{ OP_SUB, { "SSSS", "SssS", "Ssss", "sSss" } },
	{ OP_MUL, { "SSSS", "SuuS", "Suus", "SSss" } },
	{ OP_BIT_AND, { "suss", "uusu", "ssss", "suss" } },
	{ OP_BIT_OR, { "sSss", "SuuS", "suss", "sSss" } },
	{ OP_SHIFT_LEFT, { "ssss", "uuus", "ssss", "ssss" } },
	{ OP_SHIFT_RIGHT, { "ssss", "uuuu", "ssss", "ssss" } },
};

static void test_table(void **state)
{
	for (u32 t = 0; t < ARRAY_SIZE(table); t++)
		for (u32 i = 0; i < N_ARGS; i++)
			for (u32 j = 0; j < N_ARGS; j++) {
				struct expr *e = expr_new(&arena, EXPR_OP, (struct span){ 0, 0 });
				struct expr *args[2] = { arg(i), arg(j) };

				e->op = table[t].op;
				e->args = args;
				e->n_args = 2;
				expr_infer(e);
				if (expr_rule(e) != table[t].rules[i][j])
					fail_msg("op %d of %u and %u: %c", e->op, i, j,
						 expr_rule(e));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_table) };
	int n_failed;

	arena_init(&arena);
	n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(&arena);
	return n_failed;
}
