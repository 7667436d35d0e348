/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Golden tests of the parser: parse/NAME.sql beside NAME.ast (the statements, printed, and
 * printed explicitly) or NAME.err (the diagnostics).  They also go round: printed and parsed
 * again it is the same tree.  EBQL_UPDATE=1 rewrites the expectations.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sql/sql.h"

#define CASES_MAX 512

static char *case_names[CASES_MAX];
static u32 n_cases;
static bool is_update;

static bool read_file(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "rb");
	char block[4096];
	size_t n;

	if (!file)
		return false;
	while ((n = fread(block, 1, sizeof(block), file)))
		buf_put(out, block, n);
	fclose(file);
	return true;
}

static void write_file(const char *path, const struct buf *text)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(text->at, 1, text->n, file), text->n);
	assert_int_equal(fclose(file), 0);
}

static void path_of(const char *name, const char *extension, struct buf *ret_path)
{
	buf_reset(ret_path);
	buf_printf(ret_path, "%s/%s%s", PARSE_DIR, name, extension);
}

static struct ast_script *parse(struct arena *arena, struct diags *diags, const struct buf *text)
{
	diags_init(diags, arena, "query", text->at, text->n);
	return sql_parse(arena, diags);
}

static void check_round_trip(const struct ast_script *script, const struct buf *tree)
{
	struct buf printed, again, tree_again;
	struct ast_script *second;
	struct arena arena;
	struct diags diags;

	arena_init(&arena);
	buf_init(&printed);
	buf_init(&again);
	buf_init(&tree_again);
	sql_print_script(script, false, &printed);
	second = parse(&arena, &diags, &printed);
	if (diags_failed(&diags)) {
		diags_print(&diags, &again);
		fail_msg("the printed query does not parse:\n%s", again.at);
	}
	sql_print_script(second, false, &again);
	assert_string_equal(printed.at, again.at);
	sql_print_script(second, true, &tree_again);
	assert_string_equal(tree->at, tree_again.at);
	/* The explicit form is the same tree, too. */
	second = parse(&arena, &diags, tree);
	assert_false(diags_failed(&diags));
	buf_reset(&again);
	sql_print_script(second, false, &again);
	assert_string_equal(printed.at, again.at);
	buf_free(&tree_again);
	buf_free(&again);
	buf_free(&printed);
	arena_free(&arena);
}

static void check_twin(const char *name, const char *extension, const char *other,
		       const struct buf *actual)
{
	struct buf expected, path;

	buf_init(&expected);
	buf_init(&path);
	path_of(name, other, &path);
	if (is_update)
		unlink(path.at);
	if (access(path.at, F_OK) == 0)
		fail_msg("%s: expected %s, found\n%s", name, other, actual->at);
	path_of(name, extension, &path);
	if (is_update) {
		write_file(path.at, actual);
	} else {
		if (!read_file(path.at, &expected))
			fail_msg("%s: no %s (EBQL_UPDATE=1 writes it)", name, path.at);
		if (strcmp(expected.at, actual->at))
			fail_msg("%s: expected\n%s\nfound\n%s", name, expected.at, actual->at);
	}
	buf_free(&path);
	buf_free(&expected);
}

static void check_case(void **state)
{
	const char *name = *state;
	struct buf text, out, tree, path;
	struct ast_script *script;
	struct arena arena;
	struct diags diags;

	arena_init(&arena);
	buf_init(&text);
	buf_init(&out);
	buf_init(&tree);
	buf_init(&path);
	path_of(name, ".sql", &path);
	assert_true(read_file(path.at, &text));
	script = parse(&arena, &diags, &text);
	if (diags_failed(&diags)) {
		diags_print(&diags, &out);
		check_twin(name, ".err", ".ast", &out);
	} else {
		sql_print_script(script, false, &out);
		sql_print_script(script, true, &tree);
		buf_putc(&out, '\n');
		buf_put(&out, tree.at, tree.n);
		check_twin(name, ".ast", ".err", &out);
		check_round_trip(script, &tree);
	}
	buf_free(&path);
	buf_free(&tree);
	buf_free(&out);
	buf_free(&text);
	arena_free(&arena);
}

/* Every tag of this layer has a case; text-too-long has its own test (test_limits). */
static void check_tags(void **state)
{
	static const char *const tags[] = {
		"syntax-error",	   "missing-comma", "unclosed-quote",	"unclosed-comment",
		"unknown-keyword", "bad-number",    "number-too-large", "unclosed-parenthesis",
		"bad-duration",	   "too-deep",	    "duplicate-clause", "bad-byte",
	};
	bool is_seen[ARRAY_SIZE(tags)] = { false };
	struct buf text, path;
	u32 i, j;

	(void)state;
	buf_init(&text);
	buf_init(&path);
	for (i = 0; i < n_cases; i++) {
		buf_reset(&text);
		path_of(case_names[i], ".err", &path);
		if (!read_file(path.at, &text))
			continue;
		for (j = 0; j < ARRAY_SIZE(tags); j++) {
			char wanted[64];

			snprintf(wanted, sizeof(wanted), "error[%s]: ", tags[j]);
			is_seen[j] |= strstr(text.at, wanted) != NULL;
		}
	}
	for (j = 0; j < ARRAY_SIZE(tags); j++)
		if (!is_seen[j])
			fail_msg("no case has the tag %s", tags[j]);
	assert_true(n_cases >= 60);
	buf_free(&path);
	buf_free(&text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_cases(void)
{
	DIR *folder = opendir(PARSE_DIR);
	struct dirent *entry;

	if (!folder)
		BUG("%s: %s", PARSE_DIR, strerror(errno));
	while ((entry = readdir(folder))) {
		char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".sql"))
			continue;
		BUG_ON(n_cases == CASES_MAX);
		case_names[n_cases++] = strndup(entry->d_name, (size_t)(dot - entry->d_name));
	}
	closedir(folder);
	qsort(case_names, n_cases, sizeof(case_names[0]), by_name);
}

int main(void)
{
	struct CMUnitTest *tests;
	int failed;
	u32 i;

	is_update = getenv("EBQL_UPDATE") != NULL;
	find_cases();
	tests = calloc(n_cases + 1, sizeof(*tests));
	for (i = 0; i < n_cases; i++)
		tests[i] = (struct CMUnitTest){ .name = case_names[i],
						.test_func = check_case,
						.initial_state = case_names[i] };
	tests[n_cases] = (struct CMUnitTest){ .name = "every-tag", .test_func = check_tags };
	failed = _cmocka_run_group_tests("parse", tests, n_cases + 1, NULL, NULL);
	for (i = 0; i < n_cases; i++)
		free(case_names[i]);
	free(tests);
	return failed;
}
