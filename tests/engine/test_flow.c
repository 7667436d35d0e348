/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Windows of recorded rows, of every kind, and streamed rows: each batch as text.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "flow_bench.h"

/* An engine that is closed before its flow: the flow is still its owner's. */
static void test_engine_closed(void **state)
{
	struct flow_input input;
	struct engine *engine;
	struct flow *flow;
	struct bench b;

	bench_init(&b, "SELECT count(*) FROM w0", 1);
	put_times(add_file(&b, 2), TIMES(1, 2));
	input = bench_input(&b);
	assert_int_equal(engine_open(&engine), 0);
	assert_int_equal(engine_add(engine, &input, &flow), 0);
	engine_close(engine);
	assert_true(flow_is_over(flow));
	assert_int_equal(flow_stop(flow), -ECANCELED);
	assert_int_equal(b.n_batches, 0);
	assert_int_equal(flow_close(flow), 0);
	bench_free(&b);
}

/* --- Windows of files --- */

static void test_tumbling(void **state)
{
	struct bench b;
	struct row_source *s;

	bench_init(&b, "SELECT count(*), sum(c1), :window_start, :window_end FROM w0", 4);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	s = add_file(&b, 2);
	/* On a boundary: the window that begins there.  Idle windows are given too. */
	put_times(s, TIMES(13, 19, 20, 29, 30, 55));
	expect(&b, "[10,20) 2,3,10,20\n"
		   "[20,30) 2,7,20,30\n"
		   "[30,40) 1,5,30,40\n"
		   "[40,50) 0,-,40,50\n"
		   "[50,60) 1,6,50,60!\n");
}

static void test_last_on_boundary(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	put_times(add_file(&b, 2), TIMES(10, 20));
	expect(&b, "[10,20) 1\n[20,30) 1!\n");
}

static void test_grouped_idle(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT c2, count(*) FROM w0 GROUP BY c2 ORDER BY c2", 2);
	b.output[0].type = type_text(16);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	struct row_source *s = add_file(&b, 3);
	put_row(s, 1, 0, "some text");
	put_row(s, 2, 0, "b");
	put_row(s, 3, 0, "some text");
	put_row(s, 25, 0, "");
	expect(&b, "[0,10) b,1;some text,2\n[10,20)\n[20,30) ,1!\n");
}

static void test_hopping(void **state)
{
	struct bench b;

	/* The advance does not divide the size. */
	bench_init(&b, "SELECT count(*), min(c0), max(c0) FROM w0", 3);
	b.cut.window = (struct cut_window){ .kind = WINDOW_HOPPING, .size = 10, .advance = 4 };
	put_times(add_file(&b, 2), TIMES(13, 16, 19, 27));
	expect(&b, "[6,16) 1,13,13\n"
		   "[10,20) 3,13,19\n"
		   "[14,24) 2,16,19\n"
		   "[18,28) 2,19,27!\n");
	/* An advance greater than the size: rows between windows are in none. */
	bench_init(&b, "SELECT count(*), min(c0), max(c0) FROM w0", 3);
	b.cut.window = (struct cut_window){ .kind = WINDOW_HOPPING, .size = 3, .advance = 10 };
	put_times(add_file(&b, 2), TIMES(1, 6, 7, 9, 10, 16, 17, 18));
	expect(&b, "[7,10) 2,7,9\n[17,20) 2,17,18!\n");
}

/* Every window over random rows, against a plain count. */
static void test_hopping_random(void **state)
{
	static const u64 shapes[][2] = { { 10, 1 }, { 70, 30 }, { 30, 70 }, { 7, 7 }, { 100, 3 } };
	struct bench b;
	struct buf wanted;

	for (u32 shape = 0; shape < ARRAY_SIZE(shapes); shape++) {
		u64 size = shapes[shape][0], advance = shapes[shape][1], time = 1000, end;
		u64 times[100];

		srandom(shape + 1);
		bench_init(&b, "SELECT count(*), sum(c1) FROM w0", 2);
		b.cut.window = (struct cut_window){ .kind = WINDOW_HOPPING,
						    .size = size,
						    .advance = advance };
		for (u32 i = 0; i < 100; i++)
			times[i] = time += (u64)random() % 5;
		put_times(add_file(&b, 2), times, 100);
		buf_init(&wanted);
		for (end = (times[0] / advance + 1) * advance; end - advance <= times[99];
		     end += advance) {
			u64 n = 0, sum = 0;

			for (u32 i = 0; i < 100; i++) {
				if (times[i] >= end - size && times[i] < end) {
					n++;
					sum += i + 1;
				}
			}
			buf_printf(&wanted, "[%llu,%llu) %llu,", (unsigned long long)(end - size),
				   (unsigned long long)end, (unsigned long long)n);
			if (n)
				buf_put_u64(&wanted, sum);
			else
				buf_putc(&wanted, '-');
			buf_puts(&wanted, end > times[99] ? "!\n" : "\n");
		}
		expect(&b, wanted.at);
		buf_free(&wanted);
	}
}

static void test_two_files(void **state)
{
	struct bench b;

	/* Both sides' windows go on until the later one ends. */
	bench_init(
		&b,
		"SELECT w0.c1, w1.c1 FROM w0 LEFT JOIN w1 ON w0.c2 = w1.c2 ORDER BY w0.c0, w1.c0",
		2);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	struct row_source *s = add_file(&b, 3), *t = add_file(&b, 3);
	put_row(s, 11, 1, "a");
	put_row(s, 12, 2, "b");
	put_row(s, 31, 3, "a");
	put_row(t, 13, 10, "a");
	put_row(t, 14, 11, "a");
	put_row(t, 22, 12, "a");
	put_row(t, 45, 13, "a");
	expect(&b, "[10,20) 1,10;1,11;2,-\n[20,30)\n[30,40) 3,-\n[40,50)!\n");
}

static void test_table(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT w0.c1, w1.c2 FROM w0 JOIN w1 ON w0.c1 = w1.c0 ORDER BY 1, 2", 2);
	b.output[1].type = type_text(16);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	put_times(add_file(&b, 2), TIMES(1, 2, 3, 14, 15));
	struct cut_part *part = add_part(&b, PART_TABLE, 3);
	struct row_source *t = &b.sources[1];
	part->file = &b.files[1];
	t->rows = arena_array(&b.arena, struct value, 8 * COLUMNS);
	put_row(t, 2, 0, "two");
	put_row(t, 4, 0, "four");
	put_row(t, 5, 0, "five");
	put_row(t, 5, 0, "V");
	expect(&b, "[0,10) 2,two\n[10,20) 4,four;5,V;5,five!\n");
	/* and alone */
	bench_init(&b, "SELECT count(*), sum(c0) FROM w0", 2);
	part = add_part(&b, PART_TABLE, 3);
	part->file = &b.files[0];
	t = &b.sources[0];
	t->rows = arena_array(&b.arena, struct value, 8 * COLUMNS);
	put_row(t, 2, 0, "two");
	put_row(t, 4, 0, "four");
	expect(&b, " 2,6!\n");
}

static void test_empty_file(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	add_file(&b, 2);
	expect(&b, "[0,0)!\n");
	bench_init(&b, "SELECT count(*) FROM w0", 1);
	add_file(&b, 2);
	expect(&b, " 0!\n");
}

static void test_no_window(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT count(*), sum(c1) FROM w0", 2);
	put_times(add_file(&b, 2), TIMES(5, 6, 700));
	expect(&b, " 3,6!\n");
}

/* --- COUNT --- */

static void test_count(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT count(*), min(c1), max(c1) FROM w0", 3);
	b.cut.window = (struct cut_window){ .kind = WINDOW_COUNT, .size = 3, .advance = 3 };
	put_times(add_file(&b, 2), TIMES(1, 2, 3, 4, 5, 6, 7));
	expect(&b, "[1,3) 3,1,3\n[4,6) 3,4,6\n[7,7) 1,7,7!\n");
	bench_init(&b, "SELECT count(*), min(c1), max(c1) FROM w0", 3);
	b.cut.window = (struct cut_window){ .kind = WINDOW_COUNT, .size = 3, .advance = 3 };
	put_times(add_file(&b, 2), TIMES(1, 2, 3, 4, 5, 6));
	expect(&b, "[1,3) 3,1,3\n[4,6) 3,4,6!\n");
	/* windows that overlap */
	bench_init(&b, "SELECT count(*), min(c1), max(c1) FROM w0", 3);
	b.cut.window = (struct cut_window){ .kind = WINDOW_COUNT, .size = 4, .advance = 2 };
	put_times(add_file(&b, 2), TIMES(1, 2, 3, 4, 5, 6, 7));
	expect(&b, "[1,4) 4,1,4\n[3,6) 4,3,6\n[5,7) 3,5,7!\n");
	/* an incomplete window of nothing but rows that were given is none */
	bench_init(&b, "SELECT count(*), min(c1), max(c1) FROM w0", 3);
	b.cut.window = (struct cut_window){ .kind = WINDOW_COUNT, .size = 4, .advance = 2 };
	put_times(add_file(&b, 2), TIMES(1, 2, 3, 4, 5, 6));
	expect(&b, "[1,4) 4,1,4\n[3,6) 4,3,6!\n");
	/* windows with rows between them */
	bench_init(&b, "SELECT count(*), min(c1), max(c1) FROM w0", 3);
	b.cut.window = (struct cut_window){ .kind = WINDOW_COUNT, .size = 2, .advance = 5 };
	put_times(add_file(&b, 2), TIMES(1, 2, 3, 4, 5, 6, 7, 8));
	/* (the last row is in no window, and was not known to be the last when that was given) */
	expect(&b, "[1,2) 2,1,2\n[6,7) 2,6,7\n[8,8)!\n");
	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ .kind = WINDOW_COUNT, .size = 2, .advance = 2 };
	add_file(&b, 2);
	expect(&b, "[0,0)!\n");
}

static void group_by_text(struct bench *b, enum window_kind kind, u64 size, u64 advance)
{
	bench_init(b,
		   "SELECT c2, count(*), min(c1), max(c1), window_start, max(window_end) FROM w0 "
		   "GROUP BY session ORDER BY session",
		   6);
	b->output[0].type = type_text(8);
	b->cut.window = (struct cut_window){ .kind = kind,
					     .size = size,
					     .advance = advance,
					     .scope = COUNT_PER_GROUP,
					     .key_columns = b->key_columns,
					     .n_key_columns = 1 };
	b->key_columns[0] = 2;
}

static void put_a_and_bb(struct bench *b)
{
	struct row_source *s = add_file(b, 3);

	/* a: 1 2 4 5 7, bb: 3 6 */
	for (u32 i = 1; i <= 7; i++)
		put_row(s, i, i, i % 3 ? "a" : "bb");
}

static void test_count_per_group(void **state)
{
	struct bench b;

	group_by_text(&b, WINDOW_COUNT, 2, 2);
	put_a_and_bb(&b);
	expect(&b, "[1,2) a,2,1,2,1,2\n"
		   "[4,5) a,2,4,5,4,5\n"
		   "[3,6) bb,2,3,6,3,6\n"
		   "[7,7) a,1,7,7,7,7!\n");
	group_by_text(&b, WINDOW_COUNT, 3, 1);
	put_a_and_bb(&b);
	expect(&b, "[1,4) a,3,1,4,1,4\n"
		   "[2,5) a,3,2,5,2,5\n"
		   "[4,7) a,3,4,7,4,7\n"
		   "[3,6) bb,2,3,6,3,6!\n");
	group_by_text(&b, WINDOW_COUNT, 1, 3);
	put_a_and_bb(&b);
	expect(&b, "[1,1) a,1,1,1,1,1\n"
		   "[3,3) bb,1,3,3,3,3\n"
		   "[5,5) a,1,5,5,5,5\n"
		   "[7,7)!\n");
}

static void test_session(void **state)
{
	struct bench b;

	group_by_text(&b, WINDOW_SESSION, 10, 0);
	struct row_source *s = add_file(&b, 3);
	put_row(s, 100, 1, "a");
	put_row(s, 105, 2, "b");
	put_row(s, 110, 3, "a"); /* the gap, and no more: the same session */
	put_row(s, 121, 4, "a"); /* one more: another one */
	put_row(s, 121, 5, "b");
	put_row(s, 140, 6, "c");
	expect(&b, "[105,105) b,1,2,2,105,105\n"
		   "[100,110) a,2,1,3,100,110\n"
		   "[121,121) a,1,4,4,121,121\n"
		   "[121,121) b,1,5,5,121,121\n"
		   "[140,140) c,1,6,6,140,140!\n");
	/* of one end: by their starts, and then by their first rows */
	group_by_text(&b, WINDOW_SESSION, 10, 0);
	s = add_file(&b, 3);
	put_row(s, 4, 1, "d");
	put_row(s, 5, 2, "a");
	put_row(s, 5, 3, "b");
	put_row(s, 7, 4, "b");
	put_row(s, 7, 5, "c");
	put_row(s, 7, 6, "a");
	put_row(s, 7, 7, "d");
	put_row(s, 30, 8, "a");
	expect(&b, "[4,7) d,2,1,7,4,7\n"
		   "[5,7) a,2,2,6,5,7\n"
		   "[5,7) b,2,3,4,5,7\n"
		   "[7,7) c,1,5,5,7,7\n"
		   "[30,30) a,1,8,8,30,30!\n");
	/* session_row, many groups, and NULL is a group too */
	group_by_text(&b, WINDOW_SESSION, 10, 0);
	b.cut.sql = "SELECT c2, session_row, c1 FROM w0 ORDER BY window_start, c2, session_row";
	b.cut.output.n_columns = 3;
	s = add_file(&b, 3);
	put_row(s, 1, 1, "x");
	s->rows[2] = (struct value){ .kind = VALUE_NULL };
	put_row(s, 1, 2, "x");
	put_row(s, 2, 3, "x");
	put_row(s, 3, 4, "x");
	s->rows[3 * COLUMNS + 2] = (struct value){ .kind = VALUE_NULL };
	expect(&b, "[1,2) x,1,2;x,2,3\n[1,3) -,1,1;-,2,4!\n");
}

/* Two zeros are one key, as for SQLite. */
static void test_session_of_zeros(void **state)
{
	struct row_source *s;
	struct bench b;

	group_by_text(&b, WINDOW_SESSION, 10, 0);
	b.cut.sql = "SELECT count(*), sum(c1) FROM w0";
	b.cut.output.n_columns = 2;
	b.output[0].type = type_int(64, true);
	s = add_file(&b, 3);
	put_row(s, 1, 1, "");
	put_row(s, 2, 2, "");
	s->rows[2] = (struct value){ .kind = VALUE_REAL, .real = 0.0 };
	s->rows[COLUMNS + 2] = (struct value){ .kind = VALUE_REAL, .real = -0.0 };
	expect(&b, "[1,2) 2,3!\n");
}

/* The statement sees one window, though the rows of all are read together. */
static void test_session_limit(void **state)
{
	struct bench b;

	group_by_text(&b, WINDOW_SESSION, 10, 0);
	b.cut.sql = "SELECT c2, c1, sum(c1) OVER (ORDER BY c0), :window_start, :window_end "
		    "FROM w0 ORDER BY c1 DESC LIMIT 1";
	b.cut.output.n_columns = 5;
	put_a_and_bb(&b);
	put_row(&b.sources[0], 40, 8, "a");
	put_row(&b.sources[0], 41, 9, "bb");
	expect(&b, "[3,6) bb,6,9,3,6\n[1,7) a,7,19,1,7\n[40,40) a,8,8,40,40\n"
		   "[41,41) bb,9,9,41,41!\n");
	group_by_text(&b, WINDOW_COUNT, 2, 2);
	b.cut.sql = "SELECT c2, c1, sum(c1) OVER (ORDER BY c0), :window_start, :window_end "
		    "FROM w0 ORDER BY c1 DESC LIMIT 1";
	b.cut.output.n_columns = 5;
	b.options.n_windows = 2;
	put_a_and_bb(&b);
	expect(&b, "[1,2) a,2,3,1,2\n[4,5) a,5,9,4,5!\n");
}

/* So many groups that the table grows, and a window of each. */
static void test_many_sessions(void **state)
{
	static char names[3000][8];
	static const u64 gaps[] = { 100000, 10 };

	for (u32 k = 0; k < 2; k++) {
		struct row_source *s;
		struct bench b;
		u64 n_rows = 0;

		group_by_text(&b, WINDOW_SESSION, gaps[k], 0);
		b.cut.sql = "SELECT count(*), min(c1) FROM w0 GROUP BY session";
		b.cut.output.n_columns = 2;
		b.output[0].type = type_int(64, true);
		b.is_texted = false;
		s = add_file(&b, 3);
		for (u32 i = 0; i < 3000; i++) {
			snprintf(names[i], sizeof(names[i]), "g%u", i % 1500);
			put_row(s, i, i, names[i]);
		}
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.n_batches, k ? 3000 : 1500);
		for (u32 i = 0; i < b.n_batches; i++) {
			assert_int_equal(b.firsts[i], k ? 1 : 2);
			assert_int_equal(b.seconds[i], i);
			n_rows += b.batches[i].account.matched;
		}
		assert_int_equal(n_rows, 3000);
		bench_free(&b);
	}
}

/* Events of windows that rows end: those of their rows, and what was dropped, once. */
static void test_row_accounts(void **state)
{
	struct bench b;

	for (u32 k = 0; k < 2; k++) {
		struct row_source *s;
		u64 n_events = 0;

		if (k) {
			group_by_text(&b, WINDOW_COUNT, 2, 2);
		} else {
			bench_init(&b, "SELECT count(*) FROM w0", 1);
			b.cut.window = (struct cut_window){ WINDOW_COUNT, 2, 2 };
		}
		b.is_texted = false;
		s = add_file(&b, 3);
		for (u32 i = 1; i <= 7; i++)
			put_row(s, i, i, i == 3 || i == 6 ? "bb" : "a");
		s->account.events = 20;
		s->account.matched = 7;
		s->account.lost[LOSS_MISSED] = 4;
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.n_batches, 4);
		for (u32 i = 0; i < b.n_batches; i++) {
			assert_true(b.batches[i].account.events >= b.batches[i].account.matched);
			/* Where in these rows is not known. */
			assert_int_equal(b.batches[i].account.lost[LOSS_MISSED], 4);
			n_events += b.batches[i].account.events;
		}
		assert_int_equal(b.batches[0].account.events, 2 + 13);
		assert_int_equal(b.batches[1].account.events, 2);
		assert_int_equal(n_events, 20);
		assert_int_equal(b.result.account.events, 20);
		bench_free(&b);
	}
	/* rows between two windows */
	for (u32 k = 0; k < 2; k++) {
		u64 n_events = 0;

		if (k) {
			group_by_text(&b, WINDOW_COUNT, 1, 3);
		} else {
			bench_init(&b, "SELECT count(*) FROM w0", 1);
			b.cut.window = (struct cut_window){ WINDOW_COUNT, 1, 3 };
		}
		b.is_texted = false;
		put_a_and_bb(&b);
		b.sources[0].account.events = b.sources[0].account.matched = 7;
		assert_int_equal(bench_run(&b), 0);
		for (u32 i = 0; i < b.n_batches; i++) {
			assert_true(b.batches[i].account.events >= b.batches[i].account.matched);
			n_events += b.batches[i].account.events;
		}
		assert_int_equal(n_events, 7);
		bench_free(&b);
	}
}

/* --- Streamed rows --- */

static void test_streaming_limit(void **state)
{
	struct bench b;

	/* Each batch is a lot of rows; LIMIT counts over all of them. */
	bench_init(&b, "SELECT c1 * 10 FROM w0 WHERE c1 % 2", 1);
	b.cut.is_streaming = true;
	b.cut.limit = 3;
	put_times(add_file(&b, 2), TIMES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
	b.read_limit = 2;
	assert_int_equal(bench_run(&b), 0);
	assert_string_equal(b.text.at, " 10\n 30\n 50\n!\n");
	assert_int_equal(b.result.account.matched, 6);
	bench_free(&b);
	bench_init(&b, "SELECT c1 FROM w0", 1);
	b.cut.is_streaming = true;
	b.n_rows = 7;
	put_times(add_file(&b, 2), TIMES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
	b.read_limit = 5;
	assert_int_equal(bench_run(&b), 0);
	assert_string_equal(b.text.at, " 1;2;3;4;5\n 6;7\n!\n");
	bench_free(&b);
	bench_init(&b, "SELECT c1 FROM w0", 1);
	b.cut.is_streaming = true;
	put_times(add_file(&b, 2), TIMES(1, 2));
	assert_int_equal(bench_run(&b), 0);
	assert_string_equal(b.text.at, " 1;2\n!\n");
	bench_free(&b);
	bench_init(&b, "SELECT c1 FROM w0", 1);
	b.cut.is_streaming = true;
	b.cut.limit = 0;
	put_times(add_file(&b, 2), TIMES(1, 2));
	assert_int_equal(bench_run(&b), 0);
	assert_string_equal(b.text.at, "!\n");
	bench_free(&b);
}

static void test_n_windows(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	b.options.n_windows = 2;
	put_times(add_file(&b, 2), TIMES(1, 11, 12, 21, 31));
	expect(&b, "[0,10) 1\n[10,20) 2!\n");
	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ .kind = WINDOW_COUNT, .size = 2, .advance = 2 };
	b.options.n_windows = 1;
	put_times(add_file(&b, 2), TIMES(1, 11, 12, 21, 31));
	expect(&b, "[1,11) 2!\n");
}

/* --- Memory --- */

/* mmap() with offsets of 64 bits */
static u32 n_mappings;

void *__real_mmap64(void *at, size_t n_bytes, int protection, int flags, int fd, off_t offset);
void *__real_mremap(void *at, size_t old_bytes, size_t new_bytes, int flags);
void *__wrap_mmap64(void *at, size_t n_bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mremap(void *at, size_t old_bytes, size_t new_bytes, int flags);

void *__wrap_mmap64(void *at, size_t n_bytes, int protection, int flags, int fd, off_t offset)
{
	n_mappings++;
	return __real_mmap64(at, n_bytes, protection, flags, fd, offset);
}

void *__wrap_mremap(void *at, size_t old_bytes, size_t new_bytes, int flags)
{
	n_mappings++;
	return __real_mremap(at, old_bytes, new_bytes, flags);
}

static u32 n_mappings_at[4096];

static int note_mappings(void *context, const struct batch *batch)
{
	struct bench *b = context;

	assert_true(b->n_batches < ARRAY_SIZE(n_mappings_at));
	n_mappings_at[b->n_batches++] = n_mappings;
	return 0;
}

/* Rows of 4,000 with texts, in windows of 100 or so: memory is used again. */
static void test_steady(void **state)
{
	static const struct cut_window windows[] = {
		{ .kind = WINDOW_TUMBLING, .size = 100, .advance = 100 },
		{ .kind = WINDOW_HOPPING, .size = 300, .advance = 100 },
		{ .kind = WINDOW_COUNT, .size = 100, .advance = 70 },
		{ .kind = WINDOW_SESSION, .size = 5, .n_key_columns = 1 },
	};
	static char texts[4000][40];

	for (u32 i = 0; i < ARRAY_SIZE(windows); i++) {
		struct bench b;
		struct hosted hosted;
		struct row_source *s;

		bench_init(&b, "SELECT c2, count(*), c1 FROM w0 GROUP BY c2", 3);
		b.output[0].type = type_text(40);
		b.cut.window = windows[i];
		b.cut.window.key_columns = b.key_columns;
		b.key_columns[0] = 2;
		b.read_limit = 50;
		s = add_file(&b, 3);
		for (u32 row = 0; row < 4000; row++) {
			snprintf(texts[row], sizeof(texts[row]), "text %*u", 1 + row % 30,
				 row % 10);
			put_row(s, row, row, texts[row]);
		}
		n_mappings = 0;
		hosted = (struct hosted){ .options = b.options, .input = bench_input(&b) };
		hosted.input.sink.batch = note_mappings;
		assert_int_equal(hosted_run(&hosted), 0);
		b.result = hosted.result;
		assert_true(b.n_batches >= 35);
		assert_int_equal(b.result.account.matched, 4000);
		assert_true(n_mappings_at[b.n_batches / 5] > 0);
		assert_int_equal(n_mappings_at[b.n_batches / 5], n_mappings_at[b.n_batches - 2]);
		bench_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engine_closed),
		cmocka_unit_test(test_tumbling),
		cmocka_unit_test(test_last_on_boundary),
		cmocka_unit_test(test_grouped_idle),
		cmocka_unit_test(test_hopping),
		cmocka_unit_test(test_hopping_random),
		cmocka_unit_test(test_two_files),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_empty_file),
		cmocka_unit_test(test_no_window),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_count_per_group),
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_many_sessions),
		cmocka_unit_test(test_streaming_limit),
		cmocka_unit_test(test_session_of_zeros),
		cmocka_unit_test(test_session_limit),
		cmocka_unit_test(test_row_accounts),
		cmocka_unit_test(test_n_windows),
		cmocka_unit_test(test_steady),
	};

	return cmocka_run_group_tests_name("run-flow", tests, NULL, NULL);
}
