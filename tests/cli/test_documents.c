/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The queries and commands that documents show.  Each query is planned, over a snapshot of a
 * kernel: those between ``` that begin as SQL, and those in the quotes of a command "ebql ...".  As
 * root each of them, and each command "ebql ...", is run for 100 ms, in a folder that has the files
 * that documents speak of; what "ebql explain" prints there is what the document says that it does.
 * What is typed in docs/shell.txt is planned too.
 * What docs/tools.md shows is planned over this kernel, with the arguments shown: test_tools runs
 * it.
 */
#include <ctype.h>
#include <setjmp.h>
#include <sqlite3.h>
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

/* What it complains of, of such a query over the snapshot. */
static void explain_query(const char *query, size_t n, char *said, size_t size)
{
	char path[] = "/tmp/ebql-document-XXXXXX", arguments[512];
	int fd = mkstemp(path);

	assert_true(fd >= 0 && write(fd, query, n) == (ssize_t)n);
	close(fd);
	snprintf(arguments, sizeof(arguments), "--catalog %s -f %s", CATALOG, path);
	explain(arguments, said, size);
	unlink(path);
}

static void plan(const char *query, size_t n, const char *document)
{
	char said[4096];
	bool is_fine;

	explain_query(query, n, said, sizeof(said));
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

static u32 plan_block(const char *at, const char *end, const char *document)
{
	if (!is_query(at))
		return plan_commands(at, end + 1, document);
	plan(at, (size_t)(end - at), document);
	return 1;
}

typedef u32 visit_block(const char *at, const char *end, const char *document);

/* What stands between ``` in a document, block by block.  Returns the sum of what each gave. */
static u32 each_block(const char *document, visit_block *visit)
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
		n += visit(at, end, document);
	}
	buf_free(&text);
	return n;
}

/* --- Run --- */

/* What of it is no command, or wants what a test has not. */
static const char *const not_run[] = {
	"ebql [", /* how it is written */
	"ebql watch [",
	"ebql watch --status [",
	"ebql record -o FILE [",
	"ebql explain [",
	"ebql list [",
	"ebql describe [",
	"ebql snapshot [",
	"ebql check [",
	"ebql tools [",
	"ebql survey PATTERN",
	"ebql overhead [",
	"ebql calibrate [",
	"ebql version |",
	"ebql watch --status", /* none runs here: tests/live asks one */
	"ebql --heatmap \"SELECT histogram(latency) FROM syscall:pread64", /* six seconds of fio */
};

static u32 n_only_planned;

static bool is_left_out(const char *command)
{
	for (u32 i = 0; i < ARRAY_SIZE(not_run); i++)
		if (strncmp(command, not_run[i], strlen(not_run[i])) == 0)
			return true;
	return false;
}

/* By a shell, in the folder of the test.  Returns the exit status; out has what it says. */
static int run(const char *command, struct buf *out)
{
	FILE *file = fopen("command", "w");
	char chunk[4096];
	size_t n;
	int status;

	assert_non_null(file);
	fputs(command, file);
	assert_int_equal(fclose(file), 0);
	out->n = 0;
	file = popen("timeout -k 5 20 sh command 2>&1 </dev/null", "r");
	assert_non_null(file);
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_put(out, chunk, n);
	buf_putc(out, '\0');
	status = pclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Of a kernel without kprobes, queries over its functions are planned alone; and so is one over a
 * library that is not installed.
 */
static void try(const char *command, const char *document, struct buf *out)
{
	int status = run(command, out);

	if ((status == 1 && strstr(out->at, "error[attach-failed]") &&
	     strstr(out->at, "(kprobe)")) ||
	    (status == 2 && strstr(out->at, "there is no program or library lib"))) {
		n_only_planned++;
		return;
	}
	if (status != 0 && status != 3)
		fail_msg("%s: %s\nstatus %d\n%s", document, command, status, out->at);
}

/*
 * The command that begins there goes to the end of its line, but where that is within quotes or
 * behind a backslash.  What it writes below /var/log is written here.
 */
static const char *take_command(const char *at, const char *end, struct buf *ret)
{
	static const char log[] = "/var/log/";
	char quote = '\0';

	ret->n = 0;
	for (; at < end && (*at != '\n' || quote || at[-1] == '\\'); at++) {
		if (*at == quote)
			quote = '\0';
		else if (!quote && (*at == '\'' || *at == '"'))
			quote = *at;
		else if (!quote && *at == '#' && at[-1] == ' ')
			break; /* a comment, which may hold quotes */
		if (*at == '/' && strncmp(at, log, strlen(log)) == 0)
			at += strlen(log) - 1;
		else
			buf_putc(ret, *at);
	}
	buf_putc(ret, '\0');
	assert_int_equal(quote, '\0');
	return at + strcspn(at, "\n");
}

static u32 run_block(const char *at, const char *end, const char *document)
{
	struct buf command, out;
	u32 n = 0;

	buf_init(&command);
	buf_init(&out);
	if (is_query(at) || strncmp(at, "#!", 2) == 0) {
		buf_puts(&command, "cat >query.sql <<'End'\n");
		buf_put(&command, at, (size_t)(end - at));
		buf_puts(&command, "\nEnd\nebql query.sql");
		buf_puts(&command, memmem(at, (size_t)(end - at), "target_", 7) ? " -p $$" : "");
		buf_putc(&command, '\0');
		try(command.at, document, &out);
		n = 1;
		at = end;
	}
	for (const char *line = at, *rest; line < end; line = rest) {
		bool has_prompt = strncmp(line, "$ ", 2) == 0;

		line += has_prompt ? 2 : 0;
		rest = line + strcspn(line, "\n") + 1;
		if (strncmp(line, "ebql ", 5) != 0 || is_left_out(line))
			continue;
		rest = take_command(line, end, &command) + 1;
		try(command.at, document, &out);
		n++;
		if (has_prompt && strncmp(line, "ebql explain ", 13) == 0 &&
		    strncmp(rest, out.at, (size_t)(end + 1 - rest)) != 0)
			fail_msg("%s: %s\ngives\n%s", document, command.at, out.at);
	}
	buf_free(&command);
	buf_free(&out);
	return n;
}

static void check(const char *document, u32 n_least)
{
	u32 n = each_block(document, plan_block);

	print_message("%s: %u queries\n", document, n);
	assert_true(n >= n_least);
	if (geteuid() != 0) {
		print_message("SKIP: to run them needs root\n");
		skip();
	}
	n_only_planned = 0;
	n = each_block(document, run_block);
	print_message("%s: %u queries and commands, %u of them only planned\n", document, n,
		      n_only_planned);
	assert_true(n >= n_least);
	/* Those over functions, where the kernel has no kprobes. */
	assert_true(4 * n_only_planned < n);
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

static bool is_typed(const char *line)
{
	return strncmp(line, "ebql> ", 6) == 0 || strncmp(line, " ...> ", 6) == 0;
}

/*
 * What is typed in docs/shell.txt is planned; where an error is shown there, that is what is said.
 * A line below which TAB listed words is typed on in the next one like it.
 */
static void test_session(void **state)
{
	struct buf text, typed;
	char said[4096];
	size_t n_views = 0;
	u32 n = 0;

	buf_init(&text);
	buf_init(&typed);
	assert_int_equal(buf_read_file(&text, SOURCE "/docs/shell.txt", SIZE_MAX), 0);
	for (const char *line = text.at, *next; (next = strchr(line, '\n')); line = next) {
		bool has_ended = *next++ && next[-2] == ';';

		if (!is_typed(line) || line[6] == '\\' || !(has_ended || is_typed(next)))
			continue;
		if (*line == 'e')
			typed.n = n_views;
		buf_put(&typed, line + 6, (size_t)(next - line) - 6);
		if (!has_ended)
			continue;
		/* A view is planned with what reads it. */
		if (strncmp(typed.at + n_views, "CREATE VIEW ", 12) == 0) {
			n_views = typed.n;
			continue;
		}
		n++;
		if (strncmp(next, "error[", 6) != 0) {
			plan(typed.at, typed.n, "docs/shell.txt");
			continue;
		}
		explain_query(typed.at, typed.n, said, sizeof(said));
		said[strcspn(said, "\n")] = '\0';
		if (!said[0] || strncmp(next, said, strlen(said)) != 0)
			fail_msg("docs/shell.txt: %.*s\n%s", (int)typed.n, typed.at, said);
	}
	assert_int_equal(n, 3);
	buf_free(&text);
	buf_free(&typed);
}

/* A folder with what documents speak of, and an "ebql" that ends by itself. */
static int make_folder(void **state)
{
	static char folder[sizeof("/tmp/ebql-documents-XXXXXX")];
	sqlite3 *db;

	strcpy(folder, "/tmp/ebql-documents-XXXXXX");
	if (!mkdtemp(folder) || chdir(folder) || setenv("EBQL", EBQL_BINARY, 1) ||
	    setenv("PATH", SOURCE "/tests/cli/documents:/usr/sbin:/usr/bin:/sbin:/bin", 1) ||
	    setenv("XDG_STATE_HOME", folder, 1) || sqlite3_open("inventory.db", &db) != SQLITE_OK)
		return -1;
	*state = folder;
	if (sqlite3_exec(db, "CREATE TABLE disks(dev, rack)", NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_close(db) != SQLITE_OK)
		return -1;
	return system("ln -s '" SOURCE "/examples' examples; mkdir queries; echo true >load; "
		      "chmod +x load; echo 'SELECT 1 AS one FROM syscall:read' "
		      "| tee opening.sql >queries/reads.sql");
}

static int remove_folder(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "cd /; rm -r %s", (char *)*state);
	return chdir("/") ?: system(command);
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
		cmocka_unit_test_setup_teardown(test_manual, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_readme, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_tutorial, make_folder, remove_folder),
		cmocka_unit_test(test_tools),
		cmocka_unit_test(test_session),
	};

	return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}
