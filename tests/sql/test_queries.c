/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * queries/NAME.sql, run by the ebql binary over the recorded rows of queries/data, must
 * print queries/NAME.out to the byte: standard output, then what was said on standard error,
 * then "exit STATUS".  Each runs twice, with pushdown on and off, as the user nobody when the
 * test is root's: files need no privileges.  And each runs beside 13 others of them, which
 * EBQL_SEED chooses, in one engine: it must say the same.
 *
 * A line "-- options: ..." of NAME.sql holds further options; without -o the rows are JSON.
 * EBQL_UPDATE=1 writes the .out files; queries/check computes the rows in another way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/host.h"
#include "out/out.h"
#include "query/query.h"

enum { NOBODY = 65534, QUERIES_MAX = 1000, OPTIONS_MAX = 16, CROWD = 14 };

static char *names[QUERIES_MAX];
static u32 n_names;
/* A copy of queries/data: whose checkout it is may have no folders that others can look into. */
static char data[] = "/tmp/ebql-queries-XXXXXX";

static bool read_file(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "re");
	char chunk[4096];
	size_t n;

	buf_init(out);
	buf_puts(out, "");
	if (!file)
		return false;
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_put(out, chunk, n);
	fclose(file);
	return true;
}

/* The file's offset is at its start when the child has ended. */
static void append_file(FILE *file, struct buf *out)
{
	char chunk[4096];
	size_t n;

	rewind(file);
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_put(out, chunk, n);
	fclose(file);
}

/* What a user without any rights has; rows are found by the working directory. */
static void become_nobody(void)
{
	if (geteuid() != 0)
		return;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY) || geteuid() != NOBODY || setuid(0) == 0)
		_exit(125);
}

/* The words behind "-- options:", of which the text is cut up. */
static u32 options_of(char *line, char **options)
{
	u32 n = 0;
	bool has_format = false;

	options[n++] = (char *)"ebql";
	for (char *word = line ? strtok(line, " \n") : NULL; word && n < OPTIONS_MAX - 4;
	     word = strtok(NULL, " \n")) {
		has_format |= strcmp(word, "-o") == 0 || strcmp(word, "--heatmap") == 0;
		options[n++] = word;
	}
	if (!has_format) {
		options[n++] = (char *)"-o";
		options[n++] = (char *)"json";
	}
	options[n++] = (char *)"-f";
	options[n++] = (char *)"-";
	options[n] = NULL;
	return n;
}

/* Runs the text from standard input; what it says and its status -> out. */
static void run(const char *sql, const char *pushdown, struct buf *out)
{
	char *options[OPTIONS_MAX + 1], line[512] = "";
	const char *at = strstr(sql, "-- options:");
	FILE *in = tmpfile(), *said = tmpfile(), *told = tmpfile();
	int binary = open(EBQL_BINARY, O_RDONLY), status;
	pid_t child;

	assert_non_null(in);
	assert_non_null(said);
	assert_non_null(told);
	assert_true(binary >= 0);
	if (at)
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at + 11, "\n"), at + 11);
	options_of(line, options);
	fprintf(in, "SET pushdown = %s;\n%s", pushdown, sql);
	fflush(in);
	rewind(in);
	child = fork();
	if (child == 0) {
		dup2(fileno(in), 0);
		dup2(fileno(said), 1);
		dup2(fileno(told), 2);
		setenv("TZ", "UTC0", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		if (chdir(data) != 0)
			_exit(126);
		become_nobody();
		fexecve(binary, options, environ);
		_exit(127);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(binary);
	fclose(in);
	buf_init(out);
	buf_puts(out, "");
	append_file(said, out);
	append_file(told, out);
	assert_true(WIFEXITED(status));
	buf_printf(out, "exit %d\n", WEXITSTATUS(status));
}

/* Cuts each "key":NUMBER and its comma out of the text. */
static void cut_number(char *text, const char *key)
{
	for (char *at = text; (at = strstr(at, key));) {
		char *end = at + strlen(key);

		end += strspn(end, "0123456789");
		end += *end == ',';
		memmove(at, end, strlen(end) + 1);
	}
}

/* "-- tables only": nothing has a time, so the batch has the clock's. */
static void cut_clock(const char *sql, char *text)
{
	if (!strstr(sql, "-- tables only"))
		return;
	cut_number(text, "\"window_start\":");
	cut_number(text, "\"window_end\":");
}

static void test_query(void **state)
{
	const char *name = *state;
	char path[1024];
	struct buf sql, expected, on, off;

	snprintf(path, sizeof(path), "%s/%s.sql", QUERIES_DIR, name);
	assert_true(read_file(path, &sql));
	run(sql.at, "on", &on);
	cut_clock(sql.at, on.at);
	snprintf(path, sizeof(path), "%s/%s.out", QUERIES_DIR, name);
	if (getenv("EBQL_UPDATE")) {
		FILE *file = fopen(path, "we");

		assert_non_null(file);
		fputs(on.at, file);
		assert_int_equal(fclose(file), 0);
	}
	assert_true(read_file(path, &expected));
	assert_string_equal(on.at, expected.at);
	run(sql.at, "off", &off);
	cut_clock(sql.at, off.at);
	assert_string_equal(off.at, expected.at);
	buf_free(&sql);
	buf_free(&expected);
	buf_free(&on);
	buf_free(&off);
}

/* --- Beside others --- */

/* One of those in an engine; what the binary would say of it. */
struct asked {
	const char *name;
	struct buf text, wanted, out, told;
	const struct out_format *format;
	int target_pid;
	struct query query;
	struct host host; /* its number of windows */
	struct out_file file;
	int status;
	bool is_over;
};

static int put(void *context, struct buf *buf)
{
	struct asked *a = context;

	buf_put(&a->out, buf->at, buf->n);
	buf_reset(buf);
	return 0;
}

static int open_sink(void *context, const struct schema *schema)
{
	struct asked *a = context;
	const struct out_options options = { .is_streaming = cut_has_rows(a->query.cut),
					     .write = put,
					     .context = a };

	return out_file_open(&a->file, a->format, -1, &options, schema);
}

static int give_batch(void *context, const struct batch *batch)
{
	struct asked *a = context;

	host_count(a->host.flow, &a->host.options, batch, &a->host.n_given);
	return out_file_batch(&a->file, batch);
}

static int close_sink(void *context, int error)
{
	struct asked *a = context;

	return out_file_close(&a->file, diags_failed(&a->query.diags) ? -ECANCELED : 0);
}

/* As host/tell.c. */
static int report(struct asked *a)
{
	struct diags *diags = &a->query.diags;

	diags_print(diags, &a->told);
	if (diags_failed(diags))
		return diags_have_failure(diags) ? 1 : 2;
	diags->list.n = 0;
	return 0;
}

/* false: what it says is the command line's. */
static bool take_options(struct asked *a)
{
	const char *at = strstr(a->text.at, "-- options:");
	char *options[OPTIONS_MAX + 1], line[512] = "";
	u32 n;

	if (at)
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at + 11, "\n"), at + 11);
	n = options_of(line, options);
	a->target_pid = -1;
	for (u32 i = 1; i + 1 < n; i += 2) {
		if (strcmp(options[i], "-o") == 0)
			a->format = out_format_find(options[i + 1]);
		else if (strcmp(options[i], "-n") == 0)
			a->host.options.n_windows = strtoull(options[i + 1], NULL, 10);
		else if (strcmp(options[i], "-p") == 0)
			a->target_pid = atoi(options[i + 1]);
		else if (strcmp(options[i], "-f") != 0)
			return false;
	}
	return true;
}

/* false: it is no query. */
static bool ask(struct asked *a, const char *name, const char *pushdown)
{
	char path[1024];
	struct buf sql;

	*a = (struct asked){ .name = name };
	snprintf(path, sizeof(path), "%s/%s.sql", QUERIES_DIR, name);
	assert_true(read_file(path, &sql));
	snprintf(path, sizeof(path), "%s/%s.out", QUERIES_DIR, name);
	assert_true(read_file(path, &a->wanted));
	buf_init(&a->text);
	buf_printf(&a->text, "SET pushdown = %s;\n%s", pushdown, sql.at);
	buf_free(&sql);
	buf_init(&a->out);
	buf_puts(&a->out, "");
	buf_init(&a->told);
	buf_puts(&a->told, "");
	if (!take_options(a))
		return false;
	assert_true(query_init(&a->query, "-", a->text.at, a->text.n));
	if (!query_parse(&a->query))
		return true;
	return a->query.statement && a->query.statement->kind == AST_STATEMENT_SELECT;
}

static void start(struct asked *a, struct engine *engine)
{
	struct flow_input how = { .sink = { open_sink, give_batch, NULL, close_sink, a } };
	struct query *q = &a->query;

	q->settings.target_pid = a->target_pid;
	if (!diags_failed(&q->diags))
		query_compile(q);
	a->status = report(a);
	a->is_over = a->status != 0;
	if (a->is_over)
		return;
	if (q->cut->is_streaming) {
		how.n_rows = a->host.options.n_windows;
		a->host.options.n_windows = 0;
	}
	if (query_start(q, engine, &how)) {
		a->status = report(a);
		a->is_over = true;
		return;
	}
	a->host.flow = q->flow;
	if (host_check_windows(q->flow, a->host.options.n_windows, &q->diags)) {
		query_close(q);
		a->status = report(a);
		a->is_over = true;
	} else if (a->host.options.n_windows == 1) {
		flow_stop_at_window(q->flow, false);
	}
}

static void end(struct asked *a)
{
	struct flow_result result = { 0 };
	struct query *q = &a->query;
	int error;

	if (!q->flow)
		return;
	error = flow_stop(q->flow);
	flow_result(q->flow, &result);
	error = query_close(q) ?: error;
	a->status = account_is_biased(&result.account) ? 3 : 0;
	if (diags_failed(&q->diags))
		a->status = report(a);
	else
		assert_int_equal(error, 0);
}

static void answered(struct asked *a)
{
	buf_put(&a->out, a->told.at, a->told.n);
	buf_printf(&a->out, "exit %d\n", a->status);
	cut_clock(a->text.at, a->out.at);
	if (strcmp(a->out.at, a->wanted.at) != 0)
		fail_msg("%s, beside others:\n%sinstead of:\n%s", a->name, a->out.at, a->wanted.at);
}

static void forget(struct asked *a)
{
	struct buf *bufs[] = { &a->text, &a->wanted, &a->out, &a->told };

	query_free(&a->query);
	for (u32 i = 0; i < ARRAY_SIZE(bufs); i++)
		buf_free(bufs[i]);
}

static void run_together(struct asked *asked)
{
	struct engine *engine;
	bool are_over = false;

	assert_int_equal(engine_open(&engine), 0);
	for (u32 i = 0; i < CROWD; i++)
		start(&asked[i], engine);
	while (!are_over) {
		are_over = true;
		assert_int_equal(engine_step(engine), 0);
		for (u32 i = 0; i < CROWD; i++)
			are_over &= asked[i].is_over || flow_is_over(asked[i].query.flow);
	}
	for (u32 i = 0; i < CROWD; i++) {
		end(&asked[i]);
		answered(&asked[i]);
		forget(&asked[i]);
	}
	engine_close(engine);
}

/* All queries in an order of chance, CROWD at a time; the last ones beside some of the first. */
static void test_beside(void **state)
{
	static struct asked asked[CROWD];
	const char *order[QUERIES_MAX], *seed = getenv("EBQL_SEED");
	u32 n_here = 0, n = 0;

	srandom(seed ? (u32)atoi(seed) : 1);
	for (u32 i = 0; i < n_names; i++) {
		u32 k = (u32)random() % (i + 1);

		order[i] = order[k];
		order[k] = names[i];
	}
	for (u32 i = 0; i < n_names || n_here; i++) {
		if (!ask(&asked[n_here], order[i % n_names], *state)) {
			forget(&asked[n_here]);
			continue;
		}
		n += i < n_names;
		if (++n_here < CROWD)
			continue;
		run_together(asked);
		n_here = 0;
		if (i >= n_names)
			break;
	}
	print_message("%u queries, each beside %d others\n", n, CROWD - 1);
	assert_true(n > n_names * 95 / 100);
}

/* The user that runs these queries may read no kernel stream: it is the files that need none. */
static void test_unprivileged(void **state)
{
	struct buf out;

	if (geteuid() != 0) {
		print_message("SKIP: only root can become another user\n");
		skip();
	}
	run("SELECT pid FROM tracepoint:sched:sched_switch LIMIT 1", "on", &out);
	assert_non_null(strstr(out.at, "error[no-"));
	assert_non_null(strstr(out.at, "exit 1\n"));
	buf_free(&out);
	run("SELECT count(*) AS n FROM 'begins.jsonl'", "on", &out);
	assert_non_null(strstr(out.at, "{\"n\":"));
	assert_non_null(strstr(out.at, "exit 0\n"));
	buf_free(&out);
}

/* "SELECT ... x ..." with x so many times within itself, %s. */
static void nest(const char *select, const char *form, u32 n, struct buf *ret_sql)
{
	const char *place = strstr(form, "%s"), *hole = strstr(select, "%s");

	buf_init(ret_sql);
	buf_put(ret_sql, select, (size_t)(hole - select));
	for (u32 i = 0; i < n; i++)
		buf_put(ret_sql, form, (size_t)(place - form));
	buf_puts(ret_sql, "l");
	for (u32 i = 0; i < n; i++)
		buf_puts(ret_sql, place + 2);
	buf_puts(ret_sql, hole + 2);
}

/* Does it run?  If not, that is said of a place, and not by SQLite. */
static bool runs_nested(const char *select, const char *form, u32 n)
{
	struct buf sql, out;
	bool is_good;

	nest(select, form, n, &sql);
	run(sql.at, "on", &out);
	is_good = strstr(out.at, "\nexit 0\n") || strstr(out.at, "\nexit 3\n");
	if (!is_good && (!strstr(out.at, "error[too-deep]") || !strstr(out.at, "^\nexit 2\n")))
		fail_msg("%s, %u deep: %s", form, n, out.at);
	buf_free(&sql);
	buf_free(&out);
	return is_good;
}

/* SQLite's parser has a stack of its own; the deepest that is taken must be one for it, too. */
static void test_nesting(void **state)
{
	static const struct {
		const char *form;
		u32 least; /* so deep it runs */
	} nestings[] = {
		{ "CASE WHEN l > 20 THEN k ELSE %s END", 70 },
		{ "CASE WHEN l > 20 THEN %s ELSE k END", 15 },
		{ "CASE WHEN (%s) > 20 THEN k ELSE 1 END", 18 },
		{ "iif(l = 3, k, %s)", 70 },
		{ "coalesce(k, %s)", 15 },
		{ "(l - %s)", 15 },
		{ "(%s - l)", 70 },
		{ "round(%s, 1)", 24 },
		{ "length(replace('abc', 'b', %s))", 6 },
		{ "length('a' || upper(%s))", 5 },
		{ "CAST(upper(%s) AS INTEGER)", 6 },
		{ "(NOT %s)", 30 },
		{ "(~ (%s))", 24 },
		{ "(l < (%s))", 24 },
		{ "((%s) IN (1, 2))", 70 },
		{ "(k AND (%s))", 70 },
		{ "(k = 1 OR (l = 2 AND (%s)))", 10 },
		{ "(100 / (k - 1) > 3 AND (%s))", 70 },
		{ "(k <> 1 AND 100 / (k - 1) > %s)", 4 },
		{ "(k = 1 OR 100 / (k - 1) > 3 AND (%s))", 3 },
		{ "(SELECT max(%s) FROM 'nested-table.csv' AS u)", 60 },
		{ "(SELECT max(u.l) FROM 'nested-table.csv' AS u WHERE u.l > t.k AND u.l < %s)",
		  6 },
		{ "EXISTS (SELECT 1 FROM 'nested-table.csv' AS u WHERE u.l = t.l AND u.l < %s)",
		  6 },
		{ "(SELECT z.l + %s FROM 'nested-table.csv' AS z WHERE z.l >= t.l LIMIT 1)", 7 },
		{ "(SELECT max(l) FROM (SELECT l FROM 'nested-table.csv' WHERE k = t.k UNION "
		  "SELECT 7 UNION SELECT k FROM 'nested-table.csv' WHERE k > %s AND l > t.l) AS u)",
		  4 },
		{ "(SELECT count(*) FROM 'nested-table.csv' AS z WHERE z.l >= t.l GROUP BY k, l "
		  "HAVING count(*) > %s LIMIT 1)",
		  6 },
		{ "(SELECT count(*) FROM 'nested-table.csv' AS z JOIN (SELECT 1 AS j) AS y "
		  "ON z.k = y.j AND t.l < %s)",
		  4 },
		{ "(SELECT sum(z.l) OVER (PARTITION BY z.k, z.l ORDER BY z.l, z.k + %s) "
		  "FROM 'nested-table.csv' AS z WHERE z.l > t.l LIMIT 1)",
		  2 },
	};
	static const char *const selects[] = {
		"SELECT %s AS x FROM 'nested.csv' AS t",
		"SELECT k FROM 'nested.csv' AS t WHERE %s",
		"SELECT k, sum(CAST(%s AS INTEGER)) AS s FROM 'nested.csv' AS t GROUP BY k",
	};

	for (u32 i = 0; i < ARRAY_SIZE(nestings); i++)
		for (u32 k = 0; k < ARRAY_SIZE(selects); k++) {
			u32 good = nestings[i].least, bad = 71;

			if (!runs_nested(selects[k], nestings[i].form, good))
				fail_msg("%s in %s: not %u deep", nestings[i].form, selects[k],
					 good);
			while (bad - good > 1) {
				u32 middle = (good + bad) / 2;

				if (runs_nested(selects[k], nestings[i].form, middle))
					good = middle;
				else
					bad = middle;
			}
		}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_queries(void)
{
	DIR *dir = opendir(QUERIES_DIR);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);

		if (n > 4 && strcmp(entry->d_name + n - 4, ".sql") == 0 && n_names < QUERIES_MAX)
			names[n_names++] = strndup(entry->d_name, n - 4);
	}
	if (dir)
		closedir(dir);
	qsort(names, n_names, sizeof(names[0]), compare_names);
}

/* The rows are here, and there are as many as were written: a test of nothing passes always. */
static void test_all_are_here(void **state)
{
	assert_true(n_names >= 200);
}

static int copy_data(void **state)
{
	char command[1024];

	if (!mkdtemp(data))
		return -1;
	snprintf(command, sizeof(command), "cp %s/data/* %s && chmod -R a+rX %s", QUERIES_DIR, data,
		 data);
	if (system(command))
		return -1;
	/* As each of the processes has it. */
	setenv("TZ", "UTC0", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	return chdir(data);
}

static int remove_data(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", data);
	return system(command);
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[QUERIES_MAX + 5];
	u32 n = 0;

	list_queries();
	tests[n++] = (struct CMUnitTest){ .name = "all_are_here", .test_func = test_all_are_here };
	tests[n++] = (struct CMUnitTest){ .name = "unprivileged", .test_func = test_unprivileged };
	tests[n++] = (struct CMUnitTest){ .name = "nesting", .test_func = test_nesting };
	tests[n++] = (struct CMUnitTest){ "beside", test_beside, NULL, NULL, "on" };
	tests[n++] = (struct CMUnitTest){ "beside, pushdown off", test_beside, NULL, NULL, "off" };
	/* Of a short run (sanitizers) each third. */
	for (u32 i = 0; i < n_names; i += getenv("EBQL_SHORT") ? 3 : 1) {
		if (argc > 1 && !strstr(names[i], argv[1]))
			continue;
		tests[n++] = (struct CMUnitTest){ .name = names[i],
						  .test_func = test_query,
						  .initial_state = names[i] };
	}
	return _cmocka_run_group_tests("queries", tests, n, copy_data, remove_data);
}
