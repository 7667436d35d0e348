/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every function and operator over a value of every type, one query each.  There is no text
 * for SQLite: what it makes of wrong types is not the question.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define N_VALUES ARRAY_SIZE(values)

/* $ is the value. */
static const char *const functions[] = {
	"$",
	"-$",
	"~$",
	"NOT $",
	"$ + 1",
	"1 - $",
	"$ * 3",
	"$ / 2",
	"$ % 3",
	"$ & 1",
	"$ | 1",
	"$ << 1",
	"$ >> 1",
	"$ + $",
	"$ - $",
	"$ * $",
	"$ / $",
	"$ + 2us",
	"$ * 1.5",
	"$ || 'x'",
	"$ = 1",
	"$ < 1",
	"$ = $",
	"$ <> 'a'",
	"$ > 'a'",
	"$ > 1.5",
	"$ IS NULL",
	"$ IS NOT 1",
	"$ IN (1, 2)",
	"$ IN ('a')",
	"$ BETWEEN 1 AND 2",
	"$ LIKE 'a%'",
	"$ GLOB 'a*'",
	"$ AND 1",
	"0 OR $",
	"CASE WHEN $ THEN 1 END",
	"CASE $ WHEN 1 THEN 2 ELSE 3 END",
	"CASE WHEN flag THEN $ ELSE 1 END",
	"CASE WHEN flag THEN $ ELSE 'a' END",
	"CASE WHEN flag THEN $ ELSE 0.5 END",
	"CASE WHEN flag THEN $ ELSE 2us END",
	"CASE WHEN flag THEN $ END",
	"CASE WHEN flag THEN f_u8 ELSE $ END",
	"abs($)",
	"coalesce($, 1)",
	"coalesce($, $)",
	"coalesce(NULL, $)",
	"ifnull($, 7)",
	"nullif($, 1)",
	"nullif(1, $)",
	"iif($, 1, 2)",
	"iif(flag, $, NULL)",
	"iif(flag, 7, $)",
	"min($, 1)",
	"max($, $)",
	"max($, f_s64)",
	"round($)",
	"round($, 1)",
	"ceil($)",
	"floor($)",
	"sqrt($)",
	"pow($, 2)",
	"exp($ % 5)",
	"ln($)",
	"log10($)",
	"log2($)",
	"sign($)",
	"upper($)",
	"lower($)",
	"trim($)",
	"ltrim($, 'a')",
	"rtrim($)",
	"substr($, 2)",
	"substr(name, 1, $ % 3)",
	"replace($, 'a', 'b')",
	"char($ % 80 + 20)",
	"printf('%d', $)",
	"printf('%s', $)",
	"printf($)",
	"hex($)",
	"quote($)",
	"typeof($)",
	"length($)",
	"instr($, 'a')",
	"instr(name, $)",
	"unicode($)",
	"date($ % 1000, 'unixepoch')",
	"strftime('%Y', $ % 1000, 'unixepoch')",
	"syscall_name($)",
	"task_state($)",
	"softirq_name($)",
	"device_name($)",
	"tcp_state($)",
	"errno_name($)",
	"open_flags($)",
	"inet($)",
	"ntop(2, $)",
	"ntohl($)",
	"CAST($ AS INTEGER)",
	"CAST($ AS TEXT)",
	"CAST($ AS REAL)",
	"CAST($ AS DURATION)",
	"coalesce($, 0.5) / 2",
	"iif($ IS NULL, 1.5, $) || ''",
	"count($)",
	"sum($)",
	"min($)",
	"max($)",
	"avg($)",
	"total($)",
	"stddev($)",
	"stddev_pop($)",
	"first($)",
	"last($)",
	"bit_or($)",
	"bit_and($)",
	"bit_xor($)",
	"count(DISTINCT $)",
	"sum(DISTINCT $)",
	"group_concat($, ',') IS NULL",
	"approx_count_distinct($)",
	"top_k($, 2)",
	"histogram($)",
	"histogram($, linear(0, 10, 2))",
	"p50($)",
	"quantile($, 0.9, log2)",
	"quantiles($, 0.5, 0.9)",
	"quantile_lo($, 0.5)",
	"quantile_hi($, 0.5)",
	"percentile_cont(0.5) WITHIN GROUP (ORDER BY $)",
	"max($) - min($)",
	"avg($) * 2",
	"iif(count(*) > 1, max($), 7)",
	"-max($)",
	"max($) % 3",
	"coalesce(max($), 0)",
	"p50($) > 1",
};

static const char *const values[] = {
	"f_u8",	      "f_s16", "f_u32", "f_s64",	 "f_u64",	 "flag",
	"(f_u8 > 1)", "name",  "dl",	"ptr",		 "time",	 "NULL",
	"'text'",     "1.5",   "5",	"(f_u16 * 1us)", "(f_u8 * 0.5)", "upper(name)",
};

u32 functions_n(void)
{
	return ARRAY_SIZE(functions) * N_VALUES;
}

void functions_query(u32 number, struct oracle_query *query, struct arena *arena)
{
	const char *at = functions[number / N_VALUES];
	const char *value = values[number % N_VALUES];
	struct buf text;

	buf_init(&text);
	buf_puts(&text, "SELECT ");
	for (; *at; at++) {
		if (*at == '$')
			buf_puts(&text, value);
		else
			buf_putc(&text, *at);
	}
	buf_puts(&text, " FROM $E");
	*query = (struct oracle_query){
		.text = phrase_new(arena, PHRASE_FIXED, arena_strdup(arena, text.at), 0),
	};
	buf_free(&text);
}

static void write_types(const char *const *types)
{
	FILE *file = fopen(TYPES_PATH, "w");

	BUG_ON(!file);
	fprintf(file, "The types of each over");
	for (u32 i = 0; i < N_VALUES; i++)
		fprintf(file, "%s %s", i ? "," : "", values[i]);
	fprintf(file, "; -: refused.\n");
	for (u32 i = 0; i < functions_n(); i++)
		fprintf(file, "%s%s%s%s", i % N_VALUES ? ", " : functions[i / N_VALUES],
			i % N_VALUES ? "" : "\t", types[i], (i + 1) % N_VALUES ? "" : "\n");
	fclose(file);
}

u32 functions_check_types(const char *const *types)
{
	char line[1000], *at, *type;
	u32 number = 0, n_wrong = 0;
	FILE *file;

	if (getenv("EBQL_UPDATE"))
		write_types(types);
	file = fopen(TYPES_PATH, "r");
	BUG_ON(!file || !fgets(line, sizeof(line), file));
	while (fgets(line, sizeof(line), file)) {
		at = line;
		BUG_ON(strcmp(strsep(&at, "\t"), functions[number / N_VALUES]));
		for (; (type = strsep(&at, ",\n")) && *type; number++) {
			type += *type == ' ';
			if (!types[number] || strcmp(type, types[number]) == 0)
				continue;
			fprintf(stderr, "%s of %s has type %s, should be %s\n", line,
				values[number % N_VALUES], types[number], type);
			n_wrong++;
		}
	}
	BUG_ON(number != functions_n());
	fclose(file);
	return n_wrong;
}
