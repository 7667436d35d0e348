/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Golden plans on the frozen catalog: golden/NAME.sql -> golden/NAME.out, which
 * holds the optimised and the physical plan, with all rules on and all off, or
 * the diagnostics; of EXPLAIN ANALYZE the operators, too.  EBQL_UPDATE=1 writes the expectations
 * anew.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/query.h"
#include "opt/opt.h"
#include "../bind_select.h"

/* What EXPLAIN ANALYZE has figures of, and where each operator counts. */
static void operators(const struct phys *phys, struct buf *out)
{
	buf_printf(out, "-- operators: counters up to %u\n", phys->state.index_bytes_offset);
	for (u32 i = 0; i < phys->state.n_operators; i++) {
		buf_printf(out, "  %u ", i);
		phys_print_operator(phys, i, out);
		buf_putc(out, '\n');
	}
}

static bool parse(struct query *q)
{
	if (!query_parse(q))
		return false;
	q->settings.counts_operators = q->statement->analyze;
	return true;
}

/* "-- catalog NAME" in the first line, or else the newest. */
static const char *catalog_of(const char *text)
{
	static char path[512];
	char name[64];

	if (sscanf(text, "-- catalog %63s", name) != 1)
		return CATALOG;
	snprintf(path, sizeof(path), "%s/../%s", CATALOG, name);
	return path;
}

static void plans(const char *text, const char *rules_off, struct buf *out)
{
	struct query q;

	query_init(&q, "query", text, strlen(text));
	q.catalog_path = catalog_of(text);
	q.settings.rules_off = rules_off;
	if (!strstr(text, "no target is named"))
		q.settings.target_pid = 4242;
	if (parse(&q) && query_compile(&q)) {
		/* Whatever the parts of it: the query is bound once. */
		assert_int_equal(q.settings.n_bindings, 1);
		buf_printf(out, "-- rules off: %s\n", *rules_off ? rules_off : "none");
		if (q.cut->sql)
			cut_print(q.cut, out);
		if (!*rules_off && q.programs && q.programs->set->n_parts > 1) {
			buf_puts(out, "-- hooks\n");
			phys_print_hooks(q.programs->set, out);
		}
		for (u32 i = 0; i < q.cut->n_parts; i++) {
			const struct programs *list = q.parts[i].list;
			const struct phys *phys = list ? list->set->parts[0] : q.parts[i].phys;

			if (q.cut->sql)
				buf_printf(out, "-- %s\n", q.cut->parts[i].name);
			if (q.parts[i].optimized)
				plan_print(q.parts[i].optimized, out);
			if (!*rules_off && phys)
				phys_print(phys, out);
			if (q.settings.counts_operators && phys)
				operators(phys, out);
		}
	}
	diags_print(&q.diags, out);
	query_free(&q);
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
	plans(text.at, "", &got);
	/* A diagnostic does not depend on the rules: shown once. */
	if (strncmp(got.at, "error", 5) != 0)
		plans(text.at, "all", &got);
	read_file(expected_path, &expected);
	if (getenv("EBQL_UPDATE")) {
		FILE *f = fopen(expected_path, "w");

		assert_non_null(f);
		fwrite(got.at, 1, got.n, f);
		fclose(f);
	} else {
		if (!expected.at || strcmp(got.at, expected.at) != 0)
			print_error("%s\n%s\n-- expected\n%s\n", path, got.at,
				    expected.n ? expected.at : "(nothing)");
		assert_non_null(expected.at);
		assert_string_equal(got.at, expected.at);
	}
	buf_free(&text);
	buf_free(&got);
	buf_free(&expected);
	free(expected_path);
}

/* A query that each rule does something to. */
static const struct {
	const char *rule, *text;
} rule_queries[] = {
	{ "fold", "SELECT fd FROM syscall:pread64 WHERE fd > 1 + 2" },
	{ "split", "SELECT fd FROM syscall:pread64 WHERE fd > 3 AND pid = 7" },
	{ "keys", "SELECT fd, count(*) FROM syscall:pread64 WHERE pid = 7 GROUP BY pid, fd" },
	{ "unused", "SELECT a.pid FROM tracepoint:syscalls:sys_exit_read a LEFT ASOF JOIN "
		    "tracepoint:syscalls:sys_enter_read b ON a.tid = b.tid AND a.time >= b.time" },
	{ "push_down", "SELECT b.fd FROM tracepoint:syscalls:sys_enter_read a ASOF JOIN "
		       "tracepoint:syscalls:sys_enter_pread64 b ON a.tid = b.tid AND a.time >= "
		       "b.time WHERE a.fd = 2" },
	{ "order", "SELECT fd FROM syscall:pread64 WHERE comm = 'a' AND fd > 3" },
	{ "share", "SELECT count(*) FILTER (WHERE pid = 1), count(*) FILTER (WHERE pid = 2) "
		   "FROM syscall:pread64" },
	{ "cells", "SELECT avg(fd), sum(fd) FROM syscall:pread64" },
	{ "starts", "SELECT count(*) FROM syscall:pread64" },
	{ "members", "SELECT task.pid, task.tgid FROM syscall:pread64" },
	{ "typed", "SELECT task.pid FROM syscall:pread64" },
	{ "tables", "SELECT count(*) FROM iter:task WHERE uid = 0" },
};

static void logical(const char *text, const char *rules_off, struct buf *out)
{
	struct query q;

	query_init(&q, "query", text, strlen(text));
	q.catalog_path = CATALOG;
	q.settings.rules_off = rules_off;
	assert_true(query_parse(&q) && query_compile(&q));
	plan_print(q.parts[0].optimized, out);
	query_free(&q);
}

/* Each rule alone off: the plan must still be made, and be another one. */
static void test_each_rule_off(void **state)
{
	assert_int_equal(ARRAY_SIZE(rule_queries), opt_n_rules);
	for (u32 i = 0; i < opt_n_rules; i++) {
		struct buf with, again, without;

		buf_init(&with);
		buf_init(&again);
		buf_init(&without);
		assert_string_equal(rule_queries[i].rule, opt_rules[i].name);
		logical(rule_queries[i].text, "", &with);
		logical(rule_queries[i].text, "", &again);
		logical(rule_queries[i].text, opt_rules[i].name, &without);
		assert_string_equal(with.at, again.at);
		assert_string_not_equal(with.at, without.at);
		buf_free(&with);
		buf_free(&again);
		buf_free(&without);
	}
	assert_true(opt_is_off("split, order", "order"));
	assert_true(opt_is_off("all", "fold"));
	assert_false(opt_is_off("splitter", "split"));
	assert_false(opt_is_off("", "split"));
}

#define PARTS_MAX 20

static struct phys_input input_of(struct query *q, const char *text, double share)
{
	struct phys_input input = { .name = "w", .n_cpus = 2, .share = share };

	query_init(q, "query", text, strlen(text));
	q->catalog_path = CATALOG;
	assert_true(query_parse(q) && query_open_catalog(q));
	input.plan = opt_run(bind_select(q->statement->select, q->catalog, &q->settings, &q->views,
					 &q->arena, &q->diags),
			     &q->settings, &q->arena);
	q->features = (struct kernel_features){ .has_btf = true, .has_large_array_value = true };
	input.settings = &q->settings;
	input.features = &q->features;
	input.catalog = q->catalog;
	return input;
}

/* n_parts of the same query. */
static struct phys_set *physical(struct query *q, const char *text, double share, u32 n_parts)
{
	struct phys_input inputs[PARTS_MAX];

	inputs[0] = input_of(q, text, share);
	for (u32 i = 1; i < n_parts; i++)
		inputs[i] = inputs[0];
	return phys_plan(inputs, n_parts, &q->arena, &q->diags);
}

/* A rare call alone takes its tracepoint; beside a source that must be raw it is raw too. */
static void test_calls_go_one_way(void **state)
{
	static const struct {
		const char *right;
		enum access_path path;
		u32 n_uses;
	} cases[] = {
		{ "tracepoint:syscalls:sys_enter_read", ACCESS_TRACEPOINT, 2 },
		{ "tracepoint:syscalls:sys_enter_*", ACCESS_RAW_SYSCALL, 2 },
		{ "tracepoint:syscalls:sys_exit_*", ACCESS_TRACEPOINT, 1 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct phys_set *set;
		struct query q;
		struct buf sql;

		buf_init(&sql);
		buf_printf(&sql,
			   "SELECT count(*) FROM tracepoint:syscalls:sys_enter_read a PAIR JOIN "
			   "%s b ON a.tid = b.tid",
			   cases[i].right);
		set = physical(&q, sql.at, 0.01, 1);
		assert_non_null(set);
		assert_int_equal(set->hooks[0].path, cases[i].path);
		assert_int_equal(set->hooks[0].n_uses, cases[i].n_uses);
		assert_true(set->hooks[0].uses[0].source->is_root);
		query_free(&q);
		buf_free(&sql);
	}
}

/* Of queries that are planned together each has the path that its settings ask for. */
static void test_paths_of_queries(void **state)
{
	static const enum setting_access asked[] = { ACCESS_ONLY_TRACEPOINT, ACCESS_AUTO,
						     ACCESS_ONLY_RAW, ACCESS_ONLY_TRACEPOINT };
	struct settings settings[ARRAY_SIZE(asked)];
	struct phys_input inputs[ARRAY_SIZE(asked)];
	struct phys_set *set;
	struct query q;

	inputs[0] = input_of(&q, "SELECT count(*) FROM tracepoint:syscalls:sys_enter_read", -1);
	for (u32 i = 0; i < ARRAY_SIZE(asked); i++) {
		inputs[i] = inputs[0];
		settings[i] = q.settings;
		settings[i].access_path = asked[i];
		inputs[i].settings = &settings[i];
	}
	set = phys_plan(inputs, ARRAY_SIZE(asked), &q.arena, &q.diags);
	assert_non_null(set);
	assert_int_equal(set->n_hooks, 2);
	assert_int_equal(set->hooks[0].path, ACCESS_TRACEPOINT);
	assert_int_equal(set->hooks[0].n_uses, 2);
	assert_ptr_equal(set->hooks[0].uses[1].phys, set->parts[3]);
	assert_int_equal(set->hooks[1].path, ACCESS_RAW_SYSCALL);
	assert_int_equal(set->hooks[1].n_uses, 2);
	query_free(&q);
}

/* What is planned by itself, with the numbers that are free, and put together, is as one plan. */
static void test_merged_plans(void **state)
{
	struct query queries[3];
	struct phys_set *plans[3], *set;
	struct phys_input inputs[2];
	static const char *const sql[] = {
		"SELECT count(*) FROM tracepoint:sched:sched_switch",
		"SELECT next_pid, count(*) FROM tracepoint:sched:sched_switch GROUP BY next_pid",
		"SELECT prev_pid, count(*) FROM tracepoint:sched:sched_switch GROUP BY prev_pid",
	};
	u64 taken = 1 << 1;

	for (u32 i = 0; i < ARRAY_SIZE(plans); i++) {
		inputs[0] = inputs[1] = input_of(&queries[i], sql[i], -1);
		plans[i] = phys_plan_into(taken, inputs, 2, &queries[i].arena, &queries[i].diags);
		assert_non_null(plans[i]);
		for (u32 k = 0; k < 2; k++) {
			assert_false(taken >> plans[i]->parts[k]->number & 1);
			taken |= 1ull << plans[i]->parts[k]->number;
		}
	}
	assert_int_equal(taken, 0x7f);
	set = phys_merge(plans, ARRAY_SIZE(plans), queries[0].n_cpus, &queries[0].arena);
	assert_int_equal(set->n_hooks, 1);
	assert_true(set->hooks[0].is_typed);
	assert_int_equal(set->hooks[0].n_uses, 6);
	assert_int_equal(set->hooks[0].n_fields, 2);
	assert_int_equal(set->n_parts, BLOCK_PARTS);
	assert_null(set->parts[1]);
	assert_ptr_equal(set->parts[2], plans[0]->parts[1]);
	/* Without the second one. */
	plans[1] = plans[2];
	set = phys_merge(plans, 2, queries[0].n_cpus, &queries[0].arena);
	assert_int_equal(set->hooks[0].n_uses, 4);
	assert_int_equal(set->hooks[0].n_fields, 1);
	assert_string_equal(set->hooks[0].fields[0].name, "prev_pid");
	assert_null(set->parts[3]);
	for (u32 i = 0; i < ARRAY_SIZE(plans); i++)
		query_free(&queries[i]);
}

static void expect_hooks(const struct phys_set *set, const char *want)
{
	struct buf out;

	buf_init(&out);
	phys_print_hooks(set, &out);
	buf_putc(&out, '\0');
	assert_string_equal(out.at, want);
	buf_free(&out);
}

/* One hook serves all parts of a block, in their order; one too large is two, told as such. */
static void test_hooks_are_shared(void **state)
{
	const char *why = "    no field is read, so the raw tracepoint of that name will do\n";
	const char *several = "    one of several programs there: one would be too large\n";
	struct phys_set *set;
	struct query q;
	char want[512];

	set = physical(&q, "SELECT count(*) FROM tracepoint:sched:sched_switch", -1, 3);
	assert_non_null(set);
	snprintf(want, sizeof(want), "  hook raw tracepoint sched_switch w, w, w\n%s", why);
	expect_hooks(set, want);
	assert_int_equal(hook_n_parts(&set->hooks[0]), 3);
	assert_true(phys_split(set, 0, &q.arena));
	snprintf(want, sizeof(want),
		 "  hook raw tracepoint sched_switch w, w\n%s%s"
		 "  hook raw tracepoint sched_switch w\n%s%s",
		 why, several, why, several);
	expect_hooks(set, want);
	assert_true(phys_split(set, 0, &q.arena));
	assert_false(phys_split(set, 0, &q.arena));
	assert_int_equal(set->n_hooks, 3);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(set->hooks[i].number, i);
		assert_int_equal(set->hooks[i].uses[0].phys->number, i);
	}
	query_free(&q);
}

static void test_hooks_of_blocks(void **state)
{
	struct phys_set *set;
	struct query q;

	set = physical(&q, "SELECT count(*) FROM tracepoint:sched:sched_switch", -1, 17);
	assert_non_null(set);
	assert_int_equal(set->n_hooks, 2);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(set->hooks[i].block, i);
		assert_true(set->hooks[i].is_split);
	}
	assert_int_equal(hook_n_parts(&set->hooks[0]), 16);
	assert_ptr_equal(set->hooks[1].uses[0].phys, set->parts[16]);
	/* Two programs of one tracepoint: neither is guarded against the other. */
	assert_int_equal(set->n_slots, SLOTS_MAX);
	query_free(&q);
}

/* How often a program's IR has the text. */
static u32 count_in_ir(const char *text, const char *what)
{
	struct query q;
	struct buf ir;
	u32 n = 0;

	buf_init(&ir);
	query_init(&q, "query", text, strlen(text));
	q.catalog_path = CATALOG;
	assert_true(query_parse(&q) && query_explain(&q, "ir", &ir));
	buf_putc(&ir, '\0');
	for (const char *at = ir.at; (at = strstr(at, what)); at += strlen(what))
		n++;
	buf_free(&ir);
	query_free(&q);
	return n;
}

/*
 * prev_state is computed of task_struct.exit_state, which changes while the thread leaves its CPU:
 * however often a query speaks of it, an event has one.
 */
static void test_fields_are_read_once(void **state)
{
#define SWITCHES   " FROM tracepoint:sched:sched_switch "
#define EXIT_STATE " +1160]"
	static const char *const queries[] = {
		"SELECT prev_state" SWITCHES,
		"SELECT count(*)" SWITCHES "WHERE prev_state = 32 OR prev_state = 16",
		"SELECT count(*)" SWITCHES "WHERE prev_pid = 7 AND prev_state = 1 OR "
		"NOT (prev_pid = 8 AND prev_state < 3)",
		"SELECT count(*) FILTER (WHERE prev_state = 32), "
		"count(*) FILTER (WHERE prev_state = 16), sum(prev_state)" SWITCHES,
		"SELECT CASE prev_state WHEN 32 THEN 'zombie' WHEN 16 THEN 'dead' END AS s, "
		"count(*)" SWITCHES "GROUP BY s",
		"SELECT CASE WHEN prev_pid = 1 THEN prev_state WHEN prev_pid = 2 THEN -prev_state "
		"ELSE CASE prev_state WHEN 1 THEN 2 ELSE prev_state END END AS s, "
		"max(prev_state)" SWITCHES "GROUP BY s",
		"SELECT prev_state = 16 AS a, prev_state = nullif(prev_pid, 3) AS b, "
		"prev_state IN (16, 32) AS c, count(*)" SWITCHES "GROUP BY a, b, c",
		"SELECT time, prev_state, iif(prev_pid > 3, prev_state, 0)" SWITCHES
		"WHERE prev_state > 0",
		"SELECT prev_state AS s, count(*) AS n" SWITCHES "GROUP BY s "
		"HAVING max(prev_state) > 2 ORDER BY min(prev_state)",
		"SELECT iif(prev_pid > 3, prev_state, 0) AS s, sum(prev_state) OVER "
		"(PARTITION BY prev_state ORDER BY time)" SWITCHES,
	};

	for (u32 i = 0; i < ARRAY_SIZE(queries); i++)
		if (count_in_ir(queries[i], EXIT_STATE) != 1)
			fail_msg("read %u times: %s", count_in_ir(queries[i], EXIT_STATE),
				 queries[i]);
	/* A text of a CASE as well. */
	assert_int_equal(count_in_ir("SELECT CASE comm WHEN 'a' THEN 1 WHEN 'b' THEN 2 "
				     "WHEN 'c' THEN 3 ELSE 4 END AS c, count(*) "
				     "FROM raw_tracepoint:sched_switch GROUP BY c",
				     "get_current_task_btf"),
			 1);
}

/* However often a shell or a session is told the same, it takes no more memory. */
static void test_settings_are_kept(void **state)
{
	static const char *const texts[] = {
		"SET max_groups = 77; SET rules_off = 'keys'",
		"SET access_path = raw; SET max_groups = 99",
	};
	struct keep keep = { 0 };
	u64 used = 0;

	arena_init(&keep.arena);
	settings_init(&keep.settings);
	views_init(&keep.views, &keep.arena);
	for (u32 i = 0; i < 1000; i++) {
		const char *text = texts[i % 2];
		struct query q;

		assert_true(query_init(&q, "query", text, strlen(text)));
		query_begin_kept(&q, &keep);
		assert_true(query_parse(&q));
		query_end_kept(&q);
		query_free(&q);
		assert_int_equal(keep.settings.max_groups, i % 2 ? 99 : 77);
		assert_string_equal(keep.settings.rules_off, "keys");
		assert_int_equal(keep.settings.access_path == ACCESS_ONLY_RAW, i > 0);
		if (i == 1)
			used = arena_used(&keep.arena);
	}
	assert_int_equal(arena_used(&keep.arena), used);
	arena_free(&keep.arena);
}

int main(void)
{
	struct CMUnitTest tests[512] = { 0 };
	size_t n = 0;
	glob_t files;

	if (glob(GOLDEN "/*.sql", 0, NULL, &files) != 0)
		return 1;
	for (size_t i = 0; i < files.gl_pathc && n < ARRAY_SIZE(tests) - 9; i++)
		tests[n++] = (struct CMUnitTest){ strrchr(files.gl_pathv[i], '/') + 1, test_case,
						  NULL, NULL, files.gl_pathv[i] };
	tests[n++] = (struct CMUnitTest){ "each rule off", test_each_rule_off, NULL, NULL, NULL };
	tests[n++] =
		(struct CMUnitTest){ "calls go one way", test_calls_go_one_way, NULL, NULL, NULL };
	tests[n++] =
		(struct CMUnitTest){ "paths of queries", test_paths_of_queries, NULL, NULL, NULL };
	tests[n++] = (struct CMUnitTest){ "settings are kept", test_settings_are_kept, NULL, NULL,
					  NULL };
	tests[n++] = (struct CMUnitTest){ "merged plans", test_merged_plans, NULL, NULL, NULL };
	tests[n++] =
		(struct CMUnitTest){ "hooks are shared", test_hooks_are_shared, NULL, NULL, NULL };
	tests[n++] =
		(struct CMUnitTest){ "hooks of blocks", test_hooks_of_blocks, NULL, NULL, NULL };
	tests[n++] = (struct CMUnitTest){ "fields are read once", test_fields_are_read_once, NULL,
					  NULL, NULL };
	int failed = _cmocka_run_group_tests("plan", tests, n, NULL, NULL);

	globfree(&files);
	return failed;
}
