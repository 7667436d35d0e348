/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Any bytes parse or end in diagnostics; what parses, prints; what is printed,
 * parses to the same tree and prints the same.
 */
#include <stdlib.h>
#include <string.h>

#include "sql/sql.h"

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t n);

static void must(bool condition, const char *what, const struct buf *text)
{
	if (!condition)
		BUG("%s: %s", what, text->at);
}

static struct ast_script *parse(struct arena *arena, struct diags *diags, const char *text,
				size_t n)
{
	diags_init(diags, arena, "query", text, n);
	return sql_parse(arena, diags);
}

/* false: there are other statements than selects, which are not printed. */
static bool print_selects(const struct ast_script *script, struct buf *out)
{
	for (u32 i = 0; i < script->statements.n; i++) {
		if (script->statements.at[i].kind != AST_STATEMENT_SELECT)
			return false;
		sql_print_select(script->statements.at[i].select, out);
		buf_puts(out, ";\n");
	}
	return true;
}

static void check_printed(struct arena *arena, const struct ast_script *script)
{
	struct buf printed, again, dump, dump_again;
	struct ast_script *second;
	struct diags diags;

	buf_init(&printed);
	buf_init(&again);
	buf_init(&dump);
	buf_init(&dump_again);
	/* Printing may make a text of nearly 1 MiB longer than that. */
	if (print_selects(script, &printed) && printed.n < 1u << 20) {
		second = parse(arena, &diags, printed.at, printed.n);
		if (diags_failed(&diags))
			diags_print(&diags, &printed);
		must(!diags_failed(&diags), "the printed query does not parse", &printed);
		print_selects(second, &again);
		must(!strcmp(printed.at, again.at), "printed differently again", &printed);
		sql_dump_script(script, &dump);
		sql_dump_script(second, &dump_again);
		must(!strcmp(dump.at, dump_again.at), "parsed to another tree", &printed);
	}
	buf_free(&dump_again);
	buf_free(&dump);
	buf_free(&again);
	buf_free(&printed);
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t n)
{
	struct ast_script *script;
	struct arena arena;
	struct diags diags;
	struct buf out;
	u32 i;

	arena_init(&arena);
	buf_init(&out);
	script = parse(&arena, &diags, (const char *)bytes, n);
	if (diags_failed(&diags)) {
		must(diags.n_errors <= DIAG_MAX, "too many errors", &out);
		for (i = 0; i < diags.list.n; i++)
			must(!diags.list.at[i].has_span ||
				     (diags.list.at[i].span.start <= diags.list.at[i].span.end &&
				      diags.list.at[i].span.end <= n + 1),
			     "a span outside the text", &out);
		diags_print(&diags, &out);
	} else {
		check_printed(&arena, script);
	}
	buf_free(&out);
	arena_free(&arena);
	return 0;
}
