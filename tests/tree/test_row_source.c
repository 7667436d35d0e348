/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of recorded files through the operators of a plan, which is made by hand: order by
 * time, joins, unions, running sums, and what is counted.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tree/tree.h"

/* A query under test: its plan grows from the scans up. */
struct test {
	struct arena arena;
	struct diags diags;
	char directory[32];
	struct cut_part part;
	struct row_source *source;
	u32 n_files, n_scans;
	struct buf got;
};

static void test_begin(struct test *t)
{
	*t = (struct test){ .n_files = 0 };
	arena_init(&t->arena);
	diags_init(&t->diags, &t->arena, "query", "", 0);
	buf_init(&t->got);
	strcpy(t->directory, "/tmp/ebql-rows-XXXXXX");
	assert_non_null(mkdtemp(t->directory));
}

static void test_end(struct test *t)
{
	if (t->source)
		row_source_close(t->source);
	for (u32 i = 0; i < t->n_files; i++)
		unlink(arena_printf(&t->arena, "%s/%u.csv", t->directory, i));
	rmdir(t->directory);
	buf_free(&t->got);
	arena_free(&t->arena);
}

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static struct file *make_file(struct test *t, const char *text)
{
	char *path = arena_printf(&t->arena, "%s/%u.csv", t->directory, t->n_files++);
	struct file *file;

	write_file(path, text);
	file = file_open(path, &t->arena, (struct span){ 0, 0 }, &t->diags);
	assert_non_null(file);
	assert_true(file->time_column >= 0);
	return file;
}

static struct plan *op_new(struct test *t, enum plan_kind kind, struct plan *input)
{
	struct plan *p = arena_new(&t->arena, struct plan);

	p->kind = kind;
	p->input = input;
	p->join.is_nesting = true;
	return p;
}

static struct plan *scan(struct test *t, struct file *file)
{
	struct plan *p = op_new(t, PLAN_SCAN, NULL);
	struct stream *stream = arena_new(&t->arena, struct stream);

	stream->kind = STREAM_FILE;
	stream->name = file->path;
	stream->file = file;
	p->scan.streams = arena_new(&t->arena, struct stream_list);
	vec_push(&t->arena, &p->scan.streams->streams, stream);
	p->scan.source = t->n_scans++;
	return p;
}

static struct expr *field(struct test *t, u32 source, const char *name)
{
	struct expr *e = expr_new(&t->arena, EXPR_FIELD, (struct span){ 0, 0 });

	e->name = name;
	e->source = source;
	e->type = type_int(64, true);
	e->lo = INT64_MIN;
	e->hi = INT64_MAX;
	e->nullable = true;
	return e;
}

static struct plan *join(struct test *t, enum plan_join_kind kind, struct plan *left,
			 struct plan *right)
{
	struct plan *p = op_new(t, PLAN_JOIN, left);

	p->join.kind = kind;
	p->right = right;
	p->join.n_keys = 1;
	p->join.keys = arena_array(&t->arena, struct join_key, 1);
	p->join.keys[0] = (struct join_key){ field(t, left->scan.source, "k"),
					     field(t, right->scan.source, "k") };
	return p;
}

static void open_rows(struct test *t, struct plan *rows, struct expr **exprs, u32 n)
{
	struct plan *project = op_new(t, PLAN_PROJECT, rows);

	project->project.n_items = n;
	project->project.items = arena_array(&t->arena, struct item, n);
	for (u32 i = 0; i < n; i++)
		project->project.items[i] = (struct item){ .name = "", .expr = exprs[i] };
	t->part = (struct cut_part){ .kind = PART_ROWS, .plan = project, .has_files = true };
	t->part.columns.n_columns = n;
	t->source = row_source_open(&t->part, NULL, NULL, &t->arena, &t->diags);
	assert_true(t->source || t->diags.n_errors);
}

/* The rows from before that time, "1,2;3,NULL;". */
static const char *read_rows(struct test *t, u64 before_ns, u32 limit)
{
	u32 n_columns = t->part.columns.n_columns;
	const struct value *rows;
	const struct row_origin *origins;
	s64 n;

	buf_reset(&t->got);
	buf_puts(&t->got, "");
	while ((n = row_source_read(t->source, before_ns, limit, &rows, &origins)) > 0)
		for (s64 i = 0; i < n * n_columns; i++) {
			if (rows[i].kind == VALUE_INT)
				buf_put_s128(&t->got, rows[i].integer);
			else
				buf_puts(&t->got, rows[i].kind == VALUE_NULL ? "NULL" : "?");
			buf_putc(&t->got, (i + 1) % n_columns ? ',' : ';');
		}
	assert_int_equal(n, 0);
	return t->got.at ? t->got.at : "";
}

static void test_order(void **state)
{
	struct test t;
	struct plan *p;
	u64 time_ns;

	test_begin(&t);
	p = scan(&t, make_file(&t, "time,k\n30,1\n10,2\n20,3\n10,4\n40,5\n"));
	open_rows(&t, p, (struct expr *[]){ field(&t, 0, "time"), field(&t, 0, "k") }, 2);
	assert_true(row_source_peek(t.source, &time_ns));
	assert_int_equal(time_ns, 10);
	assert_string_equal(read_rows(&t, 10, 1), "");
	assert_string_equal(read_rows(&t, 30, 1), "10,2;10,4;20,3;");
	assert_true(row_source_peek(t.source, &time_ns));
	assert_int_equal(time_ns, 30);
	assert_string_equal(read_rows(&t, UINT64_MAX, 100), "30,1;40,5;");
	assert_false(row_source_peek(t.source, &time_ns));
	test_end(&t);
}

static struct account take_account(struct test *t)
{
	struct account account = { 0 }, repeated;

	row_source_finish(t->source, UINT64_MAX);
	row_source_account(t->source, false, &account, &repeated);
	return account;
}

static const char *const ends = "time,k,v\n"
				"5,1,1\n10,1,2\n11,1,3\n20,2,4\n30,3,5\n31,,6\n60,1,7\n";
static const char *const starts = "time,k,v\n"
				  "6,1,10\n7,1,11\n12,2,12\n13,2,13\n14,,14\n30,3,15\n40,9,16\n";

static void open_pair(struct test *t, bool is_left, bool is_nesting, u64 within_ns)
{
	struct plan *a, *p;

	test_begin(t);
	a = scan(t, make_file(t, ends));
	p = join(t, JOIN_PAIR, a, scan(t, make_file(t, starts)));
	p->join.is_left = is_left;
	p->join.is_nesting = is_nesting;
	p->join.within_ns = within_ns;
	open_rows(t, p,
		  (struct expr *[]){ field(t, 0, "time"), field(t, 0, "v"), field(t, 1, "v") }, 3);
}

static void test_pair(void **state)
{
	struct account account;
	struct test t;

	/* The latest start comes first; at 30 the end is before the start of that time. */
	open_pair(&t, false, true, 0);
	assert_string_equal(read_rows(&t, UINT64_MAX, 3), "10,2,11;11,3,10;20,4,13;");
	account = take_account(&t);
	assert_int_equal(account.events, 7);
	assert_int_equal(account.matched, 3);
	assert_int_equal(account.unpaired[UNPAIRED_NEVER_STARTED], 4);
	assert_int_equal(account.unpaired[UNPAIRED_NEVER_ENDED], 4);
	assert_int_equal(account.lost[LOSS_UNPAIRED], 8);
	test_end(&t);

	open_pair(&t, true, true, 4);
	assert_string_equal(read_rows(&t, UINT64_MAX, 100),
			    "5,1,NULL;10,2,11;11,3,NULL;20,4,NULL;30,5,NULL;31,6,NULL;60,7,NULL;");
	account = take_account(&t);
	assert_int_equal(account.unpaired[UNPAIRED_NEVER_STARTED], 0);
	assert_int_equal(account.unpaired[UNPAIRED_EXPIRED], 2);
	test_end(&t);
}

/* A thread's calls: one start at a time. */
static void test_not_nesting(void **state)
{
	struct account account;
	struct test t;

	open_pair(&t, false, false, 0);
	assert_string_equal(read_rows(&t, UINT64_MAX, 2), "10,2,11;20,4,13;");
	account = take_account(&t);
	assert_int_equal(account.unpaired[UNPAIRED_OVERWRITTEN], 2);
	assert_int_equal(account.unpaired[UNPAIRED_BEGAN_BEFORE], 2);
	assert_int_equal(account.unpaired[UNPAIRED_NEVER_STARTED], 3);
	assert_int_equal(account.unpaired[UNPAIRED_NEVER_ENDED], 3);
	test_end(&t);
}

/* What a thread that was not seen before ends began before the run; what it ends next did not. */
static void test_unseen(void **state)
{
	struct account account;
	struct plan *p;
	struct test t;

	test_begin(&t);
	p = scan(&t, make_file(&t, "time,k,v\n5,1,1\n6,1,2\n7,2,3\n"));
	p = join(&t, JOIN_PAIR, p, scan(&t, make_file(&t, "time,k,v\n9,3,1\n")));
	p->join.is_nesting = false;
	open_rows(&t, p, (struct expr *[]){ field(&t, 0, "time") }, 1);
	assert_string_equal(read_rows(&t, UINT64_MAX, 1), "");
	account = take_account(&t);
	assert_int_equal(account.unpaired[UNPAIRED_BEGAN_BEFORE], 2);
	assert_int_equal(account.unpaired[UNPAIRED_NEVER_STARTED], 1);
	test_end(&t);
}

/* A file of rows that have times when the query is bound, and others when it runs. */
static void open_changed(struct test *t, const char *text)
{
	struct file *file;

	test_begin(t);
	file = make_file(t, "time,k\n10,1\n");
	write_file(file->path, text);
	open_rows(t, scan(t, file), (struct expr *[]){ field(t, 0, "time"), field(t, 0, "k") }, 2);
}

/* What is appended later is not read; a file that was written anew is told. */
static void test_changed(void **state)
{
	static const char *const texts[] = { "time,k\n", "time,k\n,1\n10,2\n", "time,k\n09,1\n",
					     "time,k\n11,1\n20,2\n" };
	u64 first_ns, last_ns;
	struct test t;

	open_changed(&t, "time,k\n10,1\n5,3\n,4\n");
	assert_true(row_source_span(t.source, &first_ns, &last_ns));
	assert_int_equal(first_ns, 10);
	assert_int_equal(last_ns, 10);
	assert_string_equal(read_rows(&t, UINT64_MAX, 100), "10,1;");
	assert_int_equal(take_account(&t).events, 1);
	test_end(&t);
	for (u32 i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct value *rows;
		const struct row_origin *origins;

		open_changed(&t, texts[i]);
		if (t.source)
			assert_true(row_source_read(t.source, UINT64_MAX, 100, &rows, &origins) <
				    0);
		assert_int_equal(t.diags.n_errors, 1);
		test_end(&t);
	}
}

/* Two scans of one file: no row is its own partner, one of the same time before it is. */
static void test_same_file(void **state)
{
	struct file *file;
	struct plan *a, *p;
	struct test t;

	test_begin(&t);
	file = make_file(&t, "time,k,v\n10,1,1\n10,1,2\n20,2,3\n30,1,4\n");
	a = scan(&t, file);
	p = join(&t, JOIN_ASOF, a, scan(&t, file));
	open_rows(&t, p,
		  (struct expr *[]){ field(&t, 0, "time"), field(&t, 0, "v"), field(&t, 1, "v") },
		  3);
	assert_string_equal(read_rows(&t, UINT64_MAX, 100), "10,2,1;30,4,2;");
	test_end(&t);
}

/* An ASOF join takes the last one written of the same instant, a PAIR join an earlier one. */
static void test_equal_times(void **state)
{
	struct plan *p;
	struct test t;

	for (u32 i = 0; i < 2; i++) {
		test_begin(&t);
		p = scan(&t, make_file(&t, "time,k,v\n9,1,0\n10,1,1\n10,1,2\n20,2,3\n"));
		p = join(&t, i ? JOIN_PAIR : JOIN_ASOF, p,
			 scan(&t, make_file(&t, "time,k,v\n10,1,7\n10,1,8\n20,2,9\n30,1,6\n")));
		open_rows(&t, p,
			  (struct expr *[]){ field(&t, 0, "time"), field(&t, 0, "v"),
					     field(&t, 1, "v") },
			  3);
		assert_string_equal(read_rows(&t, UINT64_MAX, 100),
				    i ? "" : "10,1,8;10,2,8;20,3,9;");
		test_end(&t);
	}
}

static struct expr *union_of(struct test *t, struct expr *a, struct expr *b)
{
	struct expr *e = expr_new(&t->arena, EXPR_UNION, (struct span){ 0, 0 });
	u32 *branches = arena_array(&t->arena, u32, 2);

	e->name = "u";
	e->type = type_int(64, true);
	e->nullable = true;
	e->args = arena_array(&t->arena, struct expr *, 2);
	e->args[0] = a;
	e->args[1] = b;
	e->n_args = 2;
	branches[1] = 1;
	e->branches = branches;
	return e;
}

static struct expr *constant(struct test *t, s64 value)
{
	return expr_integer(&t->arena, (struct span){ 0, 0 }, type_int(64, true), value);
}

/* +1 for each row of the one file, -1 for each of the other. */
static void test_running(void **state)
{
	struct plan *u, *p;
	struct expr *depth;
	struct test t;

	test_begin(&t);
	u = op_new(&t, PLAN_UNION, NULL);
	u->inputs = arena_array(&t.arena, struct plan *, 2);
	u->inputs[u->n_inputs++] = scan(&t, make_file(&t, "time,k\n1,1\n2,1\n3,2\n9,1\n"));
	u->inputs[u->n_inputs++] = scan(&t, make_file(&t, "time,k\n2,1\n4,2\n5,1\n"));
	p = op_new(&t, PLAN_RUNNING, u);
	p->running.arg = union_of(&t, constant(&t, 1), constant(&t, -1));
	p->running.keys = arena_array(&t.arena, struct expr *, 1);
	p->running.keys[p->running.n_keys++] = union_of(&t, field(&t, 0, "k"), field(&t, 1, "k"));
	depth = expr_new(&t.arena, EXPR_RUNNING, (struct span){ 0, 0 });
	depth->type = type_int(64, true);
	open_rows(&t, p,
		  (struct expr *[]){ union_of(&t, field(&t, 0, "time"), field(&t, 1, "time")),
				     p->running.keys[0], depth },
		  3);
	assert_string_equal(read_rows(&t, UINT64_MAX, 100),
			    "1,1,1;2,1,2;2,1,1;3,2,1;4,2,0;5,1,0;9,1,1;");
	test_end(&t);
}

/* More rows than a batch, and more keys than a table begins with. */
static void test_many(void **state)
{
	enum { N = 5000 };
	struct buf text, expected;
	struct account account;
	struct plan *a, *p;
	struct test t;

	test_begin(&t);
	buf_init(&text);
	buf_init(&expected);
	buf_puts(&text, "time,k\n");
	for (u32 i = 0; i < N; i++)
		buf_printf(&text, "%u,%u\n", i + 1, i);
	a = scan(&t, make_file(&t, text.at));
	buf_reset(&text);
	buf_puts(&text, "time,k\n");
	for (u32 i = 0; i < N; i++) {
		buf_printf(&text, "%u,%u\n", N + N - i, i); /* the latest first: it is sorted */
		buf_printf(&expected, "%u,%u;", N + 1 + i, N - 1 - i + 1);
	}
	p = join(&t, JOIN_PAIR, scan(&t, make_file(&t, text.at)), a);
	/* The sides are scans 1 and 0. */
	open_rows(&t, p, (struct expr *[]){ field(&t, 1, "time"), field(&t, 0, "time") }, 2);
	assert_string_equal(read_rows(&t, UINT64_MAX, 100), expected.at);
	account = take_account(&t);
	assert_int_equal(account.matched, N);
	assert_int_equal(account.lost[LOSS_UNPAIRED], 0);
	buf_free(&text);
	buf_free(&expected);
	test_end(&t);
}

/* The table of starts cannot be read: an error, and not a number of none. */
static void test_finish_error(void **state)
{
	struct phys_join join = { .join = JOIN_PAIR, .slot_bytes = 64, .n_slots = 16 };
	struct stream_column column = { 0 };
	s32 item_columns[] = { 0 };
	struct phys phys = { .joins = &join,
			     .n_joins = 1,
			     .columns = &column,
			     .n_columns = 1,
			     .item_columns = item_columns };
	struct load_state load = { .phys = &phys };
	struct plan *project;
	struct test t;

	test_begin(&t);
	load.map_fds[LOAD_MAP_RING] = -1;
	load.map_fds[LOAD_MAP_PAIR] = 9999;
	project = op_new(&t, PLAN_PROJECT, NULL);
	project->project.n_items = 1;
	t.part = (struct cut_part){ .kind = PART_ROWS, .plan = project, .is_kernel = true };
	t.part.columns.n_columns = 1;
	t.source = row_source_open(&t.part, &load, NULL, &t.arena, &t.diags);
	assert_non_null(t.source);
	assert_int_equal(row_source_finish(t.source, UINT64_MAX), -EBADF);
	test_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	    cmocka_unit_test(test_pair),
		cmocka_unit_test(test_not_nesting), cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_same_file),   cmocka_unit_test(test_changed),
		cmocka_unit_test(test_equal_times), cmocka_unit_test(test_running),
		cmocka_unit_test(test_many),	    cmocka_unit_test(test_finish_error),
	};

	return cmocka_run_group_tests_name("row_source", tests, NULL, NULL);
}
