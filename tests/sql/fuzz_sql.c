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

static void check_printed(struct arena *arena, const struct ast_script *script)
{
	struct buf printed, again, tree, tree_again;
	struct ast_script *second;
	struct diags diags;

	buf_init(&printed);
	buf_init(&again);
	buf_init(&tree);
	buf_init(&tree_again);
	/* Printing may make a text of nearly 1 MiB longer than that. */
	sql_print_script(script, false, &printed);
	if (printed.n < 1u << 20) {
		second = parse(arena, &diags, printed.at, printed.n);
		if (diags_failed(&diags))
			diags_print(&diags, &printed);
		must(!diags_failed(&diags), "the printed query does not parse", &printed);
		sql_print_script(second, false, &again);
		must(!strcmp(printed.at, again.at), "printed differently again", &printed);
		sql_print_script(script, true, &tree);
		sql_print_script(second, true, &tree_again);
		must(!strcmp(tree.at, tree_again.at), "parsed to another tree", &printed);
	}
	buf_free(&tree_again);
	buf_free(&tree);
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
	script = parse(&arena, &diags, arena_strndup(&arena, (const char *)bytes, n), n);
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
