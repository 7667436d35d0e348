/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The scalar and window functions of the language: how many arguments they take, of
 * which types, and what they yield.  One table for all ways that compute them.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

static const struct sql_function functions[] = {
	{ "abs", 1, 1, "n", FUNCTION_OF_ARGS, "eb_abs", true },
	{ "coalesce", 2, 99, "=", FUNCTION_OF_ARGS, NULL, true },
	{ "ifnull", 2, 2, "=", FUNCTION_OF_ARGS, NULL, true },
	{ "nullif", 2, 2, "=", FUNCTION_OF_ARGS, NULL, true },
	{ "iif", 3, 3, "c=", FUNCTION_OF_ARGS, NULL, true },
	{ "time_bucket", 2, 2, "n", FUNCTION_OF_ARGS, NULL, true },
	{ "ntohs", 1, 1, "i", TYPE_INT },
	{ "ntohl", 1, 1, "i", TYPE_INT },
	{ "min", 2, 99, "=", FUNCTION_OF_ARGS, NULL, true },
	{ "max", 2, 99, "=", FUNCTION_OF_ARGS, NULL, true },
	{ "round", 1, 2, "ni", TYPE_REAL },
	{ "ceil", 1, 1, "n", FUNCTION_OF_ARGS, .of_big = "%s" },
	{ "ceiling", 1, 1, "n", FUNCTION_OF_ARGS, .of_big = "%s" },
	{ "floor", 1, 1, "n", FUNCTION_OF_ARGS, .of_big = "%s" },
	{ "sqrt", 1, 1, "n", TYPE_REAL },
	{ "pow", 2, 2, "n", TYPE_REAL },
	{ "power", 2, 2, "n", TYPE_REAL },
	{ "exp", 1, 1, "n", TYPE_REAL },
	{ "ln", 1, 1, "n", TYPE_REAL },
	{ "log10", 1, 1, "n", TYPE_REAL },
	{ "log2", 1, 1, "n", TYPE_REAL },
	{ "sign", 1, 1, "n", TYPE_INT },
	{ "upper", 1, 1, "t", TYPE_TEXT },
	{ "lower", 1, 1, "t", TYPE_TEXT },
	{ "trim", 1, 2, "t", TYPE_TEXT },
	{ "ltrim", 1, 2, "t", TYPE_TEXT },
	{ "rtrim", 1, 2, "t", TYPE_TEXT },
	{ "substr", 2, 3, "ti", TYPE_TEXT },
	{ "substring", 2, 3, "ti", TYPE_TEXT },
	{ "replace", 3, 3, "t", TYPE_TEXT },
	{ "instr", 2, 2, "t", TYPE_INT },
	{ "length", 1, 1, "t", TYPE_INT },
	{ "unicode", 1, 1, "t", TYPE_INT },
	{ "char", 1, 99, "i", TYPE_TEXT },
	{ "printf", 1, 99, "ta", TYPE_TEXT },
	{ "format", 1, 99, "ta", TYPE_TEXT },
	{ "hex", 1, 1, "a", TYPE_TEXT, .of_big = "hex(eb_text(%s))" },
	{ "quote", 1, 1, "a", TYPE_TEXT, .of_big = "ifnull(CAST(eb_text(%s) AS TEXT), 'NULL')" },
	{ "typeof", 1, 1, "a", TYPE_TEXT, .of_big = "iif(%s IS NULL, 'null', 'integer')" },
	{ "date", 0, 9, "d", TYPE_TEXT },
	{ "time", 0, 9, "d", TYPE_TEXT },
	{ "datetime", 0, 9, "d", TYPE_TEXT },
	{ "julianday", 0, 9, "d", TYPE_REAL },
	{ "unixepoch", 0, 9, "d", TYPE_INT },
	{ "strftime", 1, 9, "d", TYPE_TEXT },
	{ "row_number", 0, 0, "", TYPE_INT, .is_window = true },
	{ "rank", 0, 0, "", TYPE_INT, .is_window = true },
	{ "dense_rank", 0, 0, "", TYPE_INT, .is_window = true },
	{ "ntile", 1, 1, "p", TYPE_INT, .is_window = true },
	{ "percent_rank", 0, 0, "", TYPE_REAL, .is_window = true },
	{ "cume_dist", 0, 0, "", TYPE_REAL, .is_window = true },
	{ "lag", 1, 3, "=i=", FUNCTION_OF_ARGS, NULL, true, true },
	{ "lead", 1, 3, "=i=", FUNCTION_OF_ARGS, NULL, true, true },
	{ "first_value", 1, 1, "=", FUNCTION_OF_ARGS, NULL, true, true },
	{ "last_value", 1, 1, "=", FUNCTION_OF_ARGS, NULL, true, true },
	{ "nth_value", 2, 2, "=p", FUNCTION_OF_ARGS, NULL, true, true },
};

/* Nobody writes it: an instant of CLOCK_MONOTONIC on CLOCK_REALTIME (bind_time.c). */
const struct sql_function function_real_time = { "eb_real_time", 1,    1,   "i",
						 TYPE_TIMESTAMP, NULL, true };

bool function_is_naming(const struct expr *e)
{
	return e->kind == EXPR_CALL && e->function->naming;
}

const struct sql_function *function_find(const char *name, bool is_window)
{
	for (u32 i = 0; i < ARRAY_SIZE(functions); i++)
		if (strcasecmp(functions[i].name, name) == 0 && functions[i].is_window == is_window)
			return &functions[i];
	return NULL;
}

const char *function_name_at(u32 i)
{
	if (i < n_namings)
		return namings[i]->name;
	i -= n_namings;
	return i < ARRAY_SIZE(functions) ? functions[i].name : NULL;
}

void function_suggest(struct suggest *suggest, bool is_window)
{
	for (u32 i = 0; i < n_namings && !is_window; i++)
		suggest_offer(suggest, namings[i]->name);
	for (u32 i = 0; i < ARRAY_SIZE(functions); i++)
		if (functions[i].is_window == is_window)
			suggest_offer(suggest, functions[i].name);
}

char function_takes(const struct sql_function *f, u32 i)
{
	u32 n = (u32)strlen(f->takes);

	return f->takes[MIN(i, n - 1)];
}
