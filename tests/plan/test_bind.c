/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Golden logical plans on the frozen catalog, before and after the rules:
 * bind/NAME.sql -> bind/NAME.out, or the diagnostics.  Nothing behind opt/ is
 * needed.  EBQL_UPDATE=1 writes the expectations anew.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "opt/opt.h"
#include "../bind_select.h"

struct job {
	struct arena arena;
	struct diags diags;
	struct settings settings;
	struct view_list views;
	struct catalog *catalog;
};

static void job_open(struct job *job, const char *text, size_t n)
{
	arena_init(&job->arena);
	diags_init(&job->diags, &job->arena, "query", text, n);
	settings_init(&job->settings);
	views_init(&job->views, &job->arena);
	job->catalog = catalog_open_snapshot(&job->arena, CATALOG, &job->diags);
	assert_non_null(job->catalog);
}

static void job_close(struct job *job)
{
	catalog_close(job->catalog);
	arena_free(&job->arena);
}

static struct plan_context context_of(struct job *job)
{
	return (struct plan_context){ .catalog = job->catalog,
				      .views = &job->views,
				      .n_views = UINT32_MAX,
				      .arena = &job->arena };
}

static void describe(struct job *job, const struct ast_source *source, struct buf *out)
{
	const struct plan_context context = context_of(job);
	struct plan_description d;

	if (!plan_is_derived(source) && !plan_is_of_members(source, job->catalog, &job->arena)) {
		buf_puts(out, "not derived\n");
		return;
	}
	if (!plan_describe(source, &context, &job->diags, &d))
		return;
	buf_printf(out, "%s%s\n%s", d.name, d.has_system ? ", system columns" : "", d.comment);
	for (u32 i = 0; i < d.n_columns; i++) {
		buf_printf(out, "%s ", d.columns[i].name);
		if (d.columns[i].c_type)
			buf_puts(out, d.columns[i].c_type);
		else
			type_print(d.columns[i].type, out);
		buf_printf(out, ": %s\n", d.columns[i].meaning);
	}
}

static void put_own_view(void *context, const struct view *view)
{
	if (!view->is_shipped)
		buf_printf(context, "%s: %s\n", view->name, view->comment);
}

static void show(struct job *job, const struct ast_select *select, struct buf *out)
{
	struct plan *plan = bind_select(select, job->catalog, &job->settings, &job->views,
					&job->arena, &job->diags);
	struct buf optimized;

	if (!plan)
		return;
	plan_print(plan, out);
	buf_init(&optimized);
	plan_print(opt_query(plan, &job->settings, &job->arena), &optimized);
	buf_printf(out, "-- optimized\n%s", optimized.at);
	buf_free(&optimized);
}

static void statement(struct job *job, const struct ast_statement *s, struct buf *out)
{
	switch (s->kind) {
	case AST_STATEMENT_SET:
		settings_set(&job->settings, &s->option, &job->diags);
		break;
	case AST_STATEMENT_CREATE_VIEW:
		views_add(&job->views, s, &job->diags);
		break;
	case AST_STATEMENT_DROP_VIEW:
		views_drop(&job->views, s, &job->diags);
		break;
	case AST_STATEMENT_SHOW_VIEWS:
		views_each(&job->views, put_own_view, out);
		break;
	case AST_STATEMENT_DESCRIBE:
		describe(job, s->source, out);
		break;
	default:
		show(job, s->select, out);
		break;
	}
}

static void bind(const struct buf *text, struct buf *out)
{
	struct ast_script *script;
	struct job job;

	job_open(&job, text->at, text->n);
	script = sql_parse(&job.arena, &job.diags);
	for (u32 i = 0; !diags_failed(&job.diags) && i < script->statements.n; i++)
		statement(&job, &script->statements.at[i], out);
	diags_print(&job.diags, out);
	job_close(&job);
}

static void read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "r");
	char chunk[4096];
	size_t n;

	if (!f)
		return;
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_put(out, chunk, n);
	fclose(f);
}

static void test_case(void **state)
{
	const char *path = *state;
	char *expected_path = strdup(path);
	struct buf text, got, expected;

	buf_init(&text);
	buf_init(&got);
	buf_init(&expected);
	strcpy(strrchr(expected_path, '.'), ".out");
	read_file(path, &text);
	bind(&text, &got);
	read_file(expected_path, &expected);
	if (getenv("EBQL_UPDATE")) {
		FILE *f = fopen(expected_path, "w");

		assert_non_null(f);
		fwrite(got.at, 1, got.n, f);
		fclose(f);
	} else {
		assert_non_null(expected.at);
		assert_string_equal(got.at, expected.at);
	}
	buf_free(&text);
	buf_free(&got);
	buf_free(&expected);
	free(expected_path);
}

static void bind_view(void *context, const struct view *view)
{
	struct job *job = context;
	const char *path[1] = { view->name };
	struct ast_source source = {
		.kind = AST_SOURCE_STREAM, .path = path, .n_path = 1, .written = view->name
	};
	const struct plan_context in = context_of(job);
	struct plan_description d;

	assert_true(view->is_shipped);
	/* A comment says which events bound it. */
	assert_string_not_equal(view->comment, "");
	if (!plan_describe(&source, &in, &job->diags, &d)) {
		print_error("view %s: %s\n", view->name, job->diags.list.at[0].message);
		fail();
	}
	assert_true(d.n_columns > 0);
}

/* Every view that ships can be made of the frozen catalog's streams. */
static void test_shipped_views(void **state)
{
	struct job job;

	job_open(&job, "", 0);
	views_each(&job.views, bind_view, &job);
	assert_true(job.views.views.n > 0);
	job_close(&job);
}

/* A difference of two ends is of the join: it does not go below 0, and cannot overflow. */
static void test_latency_range(void **state)
{
	const char *text = "SELECT latency FROM syscall:pread64";
	const struct expr *latency;
	struct ast_script *script;
	struct plan *plan;
	struct job job;

	job_open(&job, text, strlen(text));
	script = sql_parse(&job.arena, &job.diags);
	plan = bind_select(script->statements.at[0].select, job.catalog, &job.settings, &job.views,
			   &job.arena, &job.diags);
	assert_non_null(plan);
	latency = plan_find(plan, PLAN_PROJECT)->project.items[0].expr;
	assert_int_equal(latency->type.kind, TYPE_DURATION);
	assert_false(latency->type.is_signed);
	assert_true(latency->lo == 0);
	assert_false(latency->may_overflow);
	assert_false(latency->nullable);
	assert_int_equal(plan_trigger(plan_rows(plan)), 0);
	assert_true(expr_is_of(latency, plan_rows(plan)));
	assert_false(expr_is_of(latency, plan_rows(plan)->right));
	assert_false(plan_rows(plan)->join.is_nesting);
	job_close(&job);
}

/* WITH (...) comes after SET. */
static void test_settings(void **state)
{
	const char *text = "SELECT p99(latency) FROM syscall:read "
			   "WITH (edge = linear, max_in_flight = 1048576)";
	struct ast_script *script;
	struct job job;

	job_open(&job, text, strlen(text));
	assert_int_equal(job.settings.max_in_flight, 65536);
	assert_int_equal(job.settings.edge, EDGE_MID);
	script = sql_parse(&job.arena, &job.diags);
	assert_non_null(bind_select(script->statements.at[0].select, job.catalog, &job.settings,
				    &job.views, &job.arena, &job.diags));
	assert_int_equal(job.settings.max_in_flight, 1048576);
	assert_int_equal(job.settings.edge, EDGE_LINEAR);
	job_close(&job);
}

/* A list of any length is refused at its place, and not worked on. */
static void test_columns(void **state)
{
	static const struct {
		const char *begin, *column, *end, *message; /* message NULL: none */
		u32 n;
	} cases[] = {
		{ "SELECT fd", ", fd", " FROM syscall:read", NULL, 1999 },
		{ "SELECT fd", ", fd", " FROM syscall:read", "a select has at most 2000 columns",
		  2000 },
		{ "SELECT count(*) FROM syscall:read GROUP BY fd", ", fd", "", NULL, 1999 },
		{ "SELECT count(*) FROM syscall:read GROUP BY fd", ", fd + 1", "",
		  "GROUP BY has at most 2000 columns", 100000 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf text, got;

		buf_init(&text);
		buf_init(&got);
		buf_puts(&text, cases[i].begin);
		for (u32 k = 0; k < cases[i].n; k++)
			buf_puts(&text, cases[i].column);
		buf_puts(&text, cases[i].end);
		bind(&text, &got);
		assert_int_equal(strstr(got.at, "error[too-many-columns]: ") != NULL,
				 cases[i].message != NULL);
		assert_true(!cases[i].message || strstr(got.at, cases[i].message));
		buf_free(&text);
		buf_free(&got);
	}
}

/* Named alone it is a span without rows: legal, and said. */
static void test_never_returns(void **state)
{
	const char *text = "SELECT count(*) FROM syscall:exit_group";
	struct ast_script *script;
	struct job job;

	job_open(&job, text, strlen(text));
	catalog_close(job.catalog);
	job.catalog = catalog_open_snapshot(&job.arena, CATALOG "/../never-returns", &job.diags);
	assert_non_null(job.catalog);
	script = sql_parse(&job.arena, &job.diags);
	assert_non_null(bind_select(script->statements.at[0].select, job.catalog, &job.settings,
				    &job.views, &job.arena, &job.diags));
	assert_int_equal(job.diags.list.n, 1);
	assert_true(job.diags.list.at[0].is_warning);
	assert_string_equal(job.diags.list.at[0].tag, "never-returns");
	assert_int_equal(job.diags.list.at[0].span.start, 21);
	assert_string_equal(job.diags.list.at[0].hint,
			    "its entry is tracepoint:syscalls:sys_enter_exit_group");
	job_close(&job);
}

/* An argument called as what each event has is what the bare name means: legal, and said once. */
static void test_hidden(void **state)
{
	static const struct {
		const char *sql, *hint; /* NULL: nothing is said */
		u32 start;
	} cases[] = {
		{ "SELECT pid, tid FROM syscall:getpgid WHERE pid = 7",
		  "current.pid is the caller's; getpgid.pid is the argument, without this warning",
		  43 },
		{ "SELECT count(*) FROM tracepoint:syscalls:sys_enter_getpgid WHERE uid + pid = 7",
		  "current.pid is the caller's; sys_enter_getpgid.pid is the argument, without this "
		  "warning",
		  71 },
		{ "SELECT getpgid.pid, current.pid, uid, ret FROM syscall:getpgid", NULL, 0 },
		{ "SELECT g.pid FROM syscall:getpgid AS g WHERE g.current.pid = 7", NULL, 0 },
		{ "SELECT pid FROM tracepoint:syscalls:sys_exit_getpgid", NULL, 0 },
		{ "SELECT * FROM syscall:getpgid", NULL, 0 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ast_script *script;
		struct job job;

		job_open(&job, cases[i].sql, strlen(cases[i].sql));
		catalog_close(job.catalog);
		job.catalog =
			catalog_open_snapshot(&job.arena, CATALOG "/../hidden-pid", &job.diags);
		assert_non_null(job.catalog);
		script = sql_parse(&job.arena, &job.diags);
		if (!bind_select(script->statements.at[0].select, job.catalog, &job.settings,
				 &job.views, &job.arena, &job.diags))
			fail_msg("%s: %s", cases[i].sql, job.diags.list.at[0].message);
		assert_int_equal(job.diags.list.n, cases[i].hint != NULL);
		if (cases[i].hint) {
			assert_true(job.diags.list.at[0].is_warning);
			assert_string_equal(job.diags.list.at[0].tag, "hidden-column");
			assert_int_equal(job.diags.list.at[0].span.start, cases[i].start);
			assert_string_equal(job.diags.list.at[0].hint, cases[i].hint);
		}
		job_close(&job);
	}
}

/* By which clock each item of SELECT is: r(eal), m(onotonic), - no time. */
static void test_clocks(void **state)
{
	static const struct {
		const char *sql, *clocks;
	} cases[] = {
		{ "SELECT time, time + 1s, time - 5, time - time, pid FROM "
		  "raw_tracepoint:sched_switch",
		  "mmm--" },
		{ "SELECT max(time), min(time) - 1s, first(time), window_start, max(time) - min(time) "
		  "FROM raw_tracepoint:sched_switch WINDOW TUMBLING 1s",
		  "mmmr-" },
		{ "SELECT start_time, end_time FROM (SELECT time AS start_time, time + 1s AS end_time "
		  "FROM raw_tracepoint:sched_switch) AS s",
		  "mm" },
		{ "SELECT p50(histogram_merge(h)) + 1s FROM (SELECT histogram(time) AS h FROM "
		  "raw_tracepoint:sched_switch GROUP BY cpu) AS g",
		  "m" },
		{ "SELECT iif(max(time) > 5, max(time), min(time)), iif(max(time) > 5, max(time), "
		  "window_end), window_end - max(time) FROM raw_tracepoint:sched_switch WINDOW "
		  "TUMBLING 1s",
		  "mr-" },
		{ "SELECT time, time + 1s FROM 'data/reads.csv'", "rr" },
		/* Joined with a file, events are on its clock. */
		{ "SELECT a.time, b.time, a.time + 1s FROM raw_tracepoint:sched_switch AS a ASOF JOIN "
		  "'data/reads.csv' AS b ON a.pid = b.pid AND a.time >= b.time",
		  "rrr" },
		{ "SELECT max(a.time), max(b.time) FROM raw_tracepoint:sched_switch AS a ASOF JOIN "
		  "'data/reads.csv' AS b ON a.pid = b.pid AND a.time >= b.time",
		  "rr" },
		{ "SELECT a.time, b.time FROM raw_tracepoint:sched_switch AS a ASOF JOIN "
		  "raw_tracepoint:sched_switch AS b ON a.pid = b.pid AND a.time >= b.time",
		  "mm" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct ast_script *script;
		const struct plan *project;
		struct job job;

		job_open(&job, cases[i].sql, strlen(cases[i].sql));
		script = sql_parse(&job.arena, &job.diags);
		project = bind_select(script->statements.at[0].select, job.catalog, &job.settings,
				      &job.views, &job.arena, &job.diags);
		assert_non_null(project);
		project = plan_find(project, PLAN_PROJECT);
		assert_int_equal(project->project.n_items, strlen(cases[i].clocks));
		for (u32 k = 0; k < project->project.n_items; k++) {
			struct type type = project->project.items[k].expr->type;
			char clock = type.kind != TYPE_TIMESTAMP ? '-'
				     : type.clock == CLOCK_MONO	 ? 'm'
								 : 'r';

			if (clock != cases[i].clocks[k])
				fail_msg("%s: item %u is %c", cases[i].sql, k, clock);
		}
		job_close(&job);
	}
}

int main(void)
{
	struct CMUnitTest tests[512] = { 0 };
	size_t n = 0;
	glob_t files;

	/* Files of the queries are data/NAME. */
	if (chdir(BIND) != 0)
		return 1;
	if (glob(BIND "/*.sql", 0, NULL, &files) != 0)
		return 1;
	for (size_t i = 0; i < files.gl_pathc && n < ARRAY_SIZE(tests) - 7; i++)
		tests[n++] = (struct CMUnitTest){ strrchr(files.gl_pathv[i], '/') + 1, test_case,
						  NULL, NULL, files.gl_pathv[i] };
	tests[n++] = (struct CMUnitTest){ "shipped views", test_shipped_views, NULL, NULL, NULL };
	tests[n++] = (struct CMUnitTest){ "latency range", test_latency_range, NULL, NULL, NULL };
	tests[n++] = (struct CMUnitTest){ "settings", test_settings, NULL, NULL, NULL };
	tests[n++] = (struct CMUnitTest){ "columns", test_columns, NULL, NULL, NULL };
	tests[n++] = (struct CMUnitTest){ "never returns", test_never_returns, NULL, NULL, NULL };
	tests[n++] = (struct CMUnitTest){ "hidden", test_hidden, NULL, NULL, NULL };
	tests[n++] = (struct CMUnitTest){ "clocks", test_clocks, NULL, NULL, NULL };
	int failed = _cmocka_run_group_tests("bind", tests, n, NULL, NULL);

	globfree(&files);
	return failed;
}
