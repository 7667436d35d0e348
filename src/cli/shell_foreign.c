/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Commands, settings and formats as psql, sqlite3 and DuckDB call them -> what they are here, or a
 * hint what there is instead.
 */
#include <string.h>
#include <strings.h>

#include "cli/shell.h"

struct pair {
	const char *theirs, *ours;
};

static const char *find(const struct pair *pairs, u32 n, const char *name)
{
	for (u32 i = 0; i < n; i++)
		if (strcasecmp(pairs[i].theirs, name) == 0)
			return pairs[i].ours;
	return NULL;
}

const char *shell_command_here(const char *name)
{
	static const struct pair names[] = {
		{ ".help", "\\?" },   { "\\h", "\\?" },		{ ".quit", "\\q" },
		{ ".exit", "\\q" },   { ".tables", "\\dv" },	{ "\\dt", "\\dv" },
		{ "\\d+", "\\d" },    { "\\dv+", "\\dv" },	{ "\\dt+", "\\dv" },
		{ ".schema", "\\d" }, { ".read", "\\i" },	{ ".mode", "\\format" },
		{ ".output", "\\o" }, { ".timer", "\\timing" }, { ".shell", "\\!" },
		{ ".system", "\\!" }, { "\\ir", "\\i" },
	};

	return find(names, ARRAY_SIZE(names), name) ?: name;
}

const char *shell_format_here(const char *name)
{
	static const struct pair formats[] = {
		{ "aligned", "table" }, { "column", "table" },	  { "columns", "table" },
		{ "box", "table" },	{ "duckbox", "table" },	  { "vertical", "expanded" },
		{ "ndjson", "jsonl" },	{ "jsonlines", "jsonl" }, { "unaligned", "csv" },
	};

	return find(formats, ARRAY_SIZE(formats), name) ?: name;
}

const char *shell_command_hint(const char *name)
{
	static const struct pair hints[] = {
		{ "\\l", "\"ebql list\" and \\d PATTERN show the streams, \\dv the views" },
		{ "\\dn", "\"ebql list\" and \\d PATTERN show the streams, \\dv the views" },
		{ ".databases", "\"ebql list\" and \\d PATTERN show the streams, \\dv the views" },
		{ "\\df", "TAB completes functions, and \"man ebql-sql\" has them all" },
		{ "\\du", "\"ebql doctor\" says what this user may do" },
		{ "\\c", "ATTACH 'FILE.db' reads a database of SQLite" },
		{ ".open", "ATTACH 'FILE.db' reads a database of SQLite" },
		{ "\\conninfo", "\"ebql doctor\" says what this kernel can do" },
		{ "\\p", "\\e edits the latest statement, \\g runs it again" },
		{ "\\r", "^C drops what has been typed" },
		{ "\\s", "^R searches the history" },
		{ "\\w", "\\e edits the latest statement in $EDITOR, which writes files" },
		{ "\\a", "\\format csv, and \\format table" },
		{ "\\t", "\\format csv has the names alone above the rows" },
		{ "\\H", "\\format lists the formats" },
		{ "\\echo", "\\! echo TEXT" },
		{ ".print", "\\! echo TEXT" },
		{ ".headers", "\\format csv has the names in its first line" },
		{ ".header", "\\format csv has the names in its first line" },
		{ ".separator", "\\format csv separates by commas" },
		{ ".nullvalue", "coalesce(x, '-') shows another text than NULL" },
		{ ".width", "a table fits the terminal, \\x has a line for each column" },
		{ ".once", "SELECT ... \\g FILE" },
		{ ".import", "FROM 'FILE.csv' reads a file" },
		{ ".dump", "\\copy (SELECT ...) TO FILE" },
		{ ".columns", "\\x off" },
		{ ".rows", "\\x on" },
		{ ".show", "\\pset" },
		{ ".explain", "EXPLAIN SELECT ..." },
	};

	return find(hints, ARRAY_SIZE(hints), name);
}

const char *shell_setting_hint(const char *name)
{
	static const struct pair hints[] = {
		{ "null", "NULL is NULL in a table; coalesce(x, '-') shows another text" },
		{ "pager", "$PAGER says which one is used for long lists; PAGER= is none" },
		{ "border", "tables have none" },
		{ "columns", "a table fits the terminal, \\x has a line for each column" },
		{ "footer", "a table has none; -o csv and json have the rows alone" },
		{ "tuples_only", "\\format csv has the names alone above the rows" },
		{ "fieldsep", "\\format csv separates by commas" },
	};

	return find(hints, ARRAY_SIZE(hints), name)
		       ?: "\\pset format and \\pset expanded are there";
}
