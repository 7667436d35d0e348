/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The queries that documents show -> each is planned, over a snapshot of a kernel: those between
 * ``` that begin as SQL, and those in the quotes of a command "ebql ...".  Needs no privileges.
 * What docs/tools.md shows is planned over this kernel, with the arguments shown, as root.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"

/* What a snapshot does not hold: functions of programs, lists, files that a query before writes. */
static const char *const elsewhere[] = { "error[not-in-snapshot]", "error[no-iterator]",
					 "error[unknown-file]" };

/* What of docs/tools.md this kernel may have no stream for. */
static const char *const absent[] = {
	"mdflush",  /* of md_mod, which only arrays load */
	"xfsdist",  /* of xfs, which only its file systems load */
	"capable",  /* cap_capable: from 6.14 on */
	"numamove", /* migrate_misplaced_folio(): from 6.7 on */
};

static bool is_query(const char *text)
{
	static const char *const words[] = { "SELECT ", "WITH ", "SET ", "CREATE ", "VALUES " };

	while (strncmp(text, "--", 2) == 0 && strchr(text, '\n'))
		text = strchr(text, '\n') + 1;
	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* What "ebql explain" complains of, given such arguments; empty: nothing. */
static void explain(const char *arguments, char *said, size_t size)
{
	char command[1024];
	FILE *pipe;
	size_t got;
	int status;

	snprintf(command, sizeof(command), "%s explain %s 2>&1 >/dev/null </dev/null", EBQL_BINARY,
		 arguments);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	got = fread(said, 1, size - 1, pipe);
	said[got] = '\0';
	status = pclose(pipe);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		said[0] = '\0';
	else if (!got)
		snprintf(said, size, "status %d", status);
}

static void plan(const char *query, size_t n, const char *document)
{
	char path[] = "/tmp/ebql-document-XXXXXX", arguments[512], said[4096];
	int fd = mkstemp(path);
	bool is_fine;

	assert_true(fd >= 0 && write(fd, query, n) == (ssize_t)n);
	close(fd);
	snprintf(arguments, sizeof(arguments), "--catalog %s -f %s", CATALOG, path);
	explain(arguments, said, sizeof(said));
	unlink(path);
	is_fine = !said[0];
	for (u32 i = 0; i < ARRAY_SIZE(elsewhere) && !is_fine; i++)
		is_fine = strstr(said, elsewhere[i]) != NULL;
	if (!is_fine)
		fail_msg("%s: %.*s\n%s", document, (int)n, query, said);
}

/* Of a command the first text in quotes that is a query.  Returns their number. */
static u32 plan_commands(const char *text, const char *end, const char *document)
{
	const char *line = text, *next, *quote, *close;
	u32 n = 0;

	for (; line < end; line = next) {
		const char *at = line + strspn(line, "$# ");

		next = memchr(line, '\n', (size_t)(end - line)) ?: end;
		next += next < end;
		if (strncmp(at, "ebql ", 5) != 0)
			continue;
		quote = at + strcspn(at, "'\"\n");
		if (*quote == '\n' || !is_query(quote + 1))
			continue;
		close = strchr(quote + 1, *quote);
		assert_true(close && close < end);
		plan(quote + 1, (size_t)(close - quote) - 1, document);
		next = strchr(close, '\n') + 1;
		n++;
	}
	return n;
}

static void check(const char *document, u32 n_least)
{
	char path[512];
	struct buf text;
	char *at, *end;
	u32 n = 0;

	snprintf(path, sizeof(path), "%s/%s", SOURCE, document);
	buf_init(&text);
	assert_int_equal(buf_read_file(&text, path, SIZE_MAX), 0);
	for (at = text.at; (at = strstr(at, "\n```")); at = end + 4) {
		at = strchr(at + 4, '\n') + 1;
		end = strstr(at - 1, "\n```");
		assert_non_null(end);
		if (is_query(at)) {
			plan(at, (size_t)(end - at), document);
			n++;
		} else {
			n += plan_commands(at, end + 1, document);
		}
	}
	buf_free(&text);
	print_message("%s: %u queries\n", document, n);
	assert_true(n >= n_least);
}

static void test_manual(void **state)
{
	check("docs/manual.md", 35);
}

static void test_readme(void **state)
{
	check("README.md", 10);
}

static void test_tutorial(void **state)
{
	check("docs/tutorial.md", 9);
}

static bool may_be_absent(const char *tool)
{
	for (u32 i = 0; i < ARRAY_SIZE(absent); i++)
		if (strncmp(tool, absent[i], strlen(absent[i])) == 0)
			return true;
	return false;
}

static void test_tools(void **state)
{
	static const char prompt[] = "\n$ ebql ";
	char path[512], arguments[512], said[4096];
	struct buf text;
	u32 n = 0;

	if (geteuid() != 0) {
		print_message("SKIP: needs root\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/docs/tools.md", SOURCE);
	buf_init(&text);
	assert_int_equal(buf_read_file(&text, path, SIZE_MAX), 0);
	for (const char *at = text.at; (at = strstr(at, prompt)); n++) {
		at += strlen(prompt);
		snprintf(arguments, sizeof(arguments), "%.*s", (int)strcspn(at, "\n"), at);
		if (strstr(arguments, " -- "))
			*strstr(arguments, " -- ") = '\0';
		explain(arguments, said, sizeof(said));
		if (said[0] && !(may_be_absent(arguments) && strstr(said, "error[unknown-stream]")))
			fail_msg("docs/tools.md: ebql %s\n%s", arguments, said);
	}
	buf_free(&text);
	assert_true(n >= 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_readme),
		cmocka_unit_test(test_tutorial),
		cmocka_unit_test(test_tools),
	};

	return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}
