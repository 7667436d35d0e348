/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A bench for flows: sources that give rows of a "file" or of the clock, a load layer
 * that counts groups, tables, and a sink that writes each batch as text:
 * "[start,end) row; row" with a "!" behind the last one.
 */
#ifndef EBQL_TESTS_ENGINE_FLOW_BENCH_H
#define EBQL_TESTS_ENGINE_FLOW_BENCH_H

#include "fake.h"
#include "engine/internal.h"
#include "hosted.h"

#define MS	  1000000ull
#define PARTS_MAX 3
#define COLUMNS	  6
#define ROWS_MAX  4096

struct row_source {
	u32 number;
	bool is_live;
	struct value *rows; /* of a file: COLUMNS wide in memory, n_columns handed out */
	u32 n_rows, n_read, n_columns;
	u64 step_ns, first_ns; /* live: a row every so often, its number is c1 */
	struct value out[4 * ROWS_MAX];
	struct row_origin origins[ROWS_MAX];
	struct account account; /* what the next account says */
	bool is_finished, has_leftovers;
	u32 n_gone_on;
	char text[32]; /* texts live until the next read */
};

struct bench {
	struct arena arena;
	struct diags diags;
	struct cut cut;
	struct cut_part parts[PARTS_MAX];
	struct plan_database database;
	struct column columns[PARTS_MAX][COLUMNS], output[COLUMNS];
	struct load_hooks hooks;
	struct load_state *loads[PARTS_MAX];
	struct load_state load[PARTS_MAX];
	struct row_source sources[PARTS_MAX];
	struct file files[PARTS_MAX];
	u32 key_columns[2];
	struct host_options options;
	u64 every_ns, n_rows;
	bool is_brief;
	struct flow_result result;
	u64 max_bytes;
	u32 read_limit; /* of rows a read; 0: none */
	/* the load layer */
	struct fake fake;
	struct control_line control[2];
	u64 clock_ns;		/* what the clocks show; 0: they go */
	u64 flips_ns[ROWS_MAX]; /* when they were made */
	u64 flip_ns, n_counted; /* flip_ns: the rows are there up to then */
	u32 n_attached, n_flips;
	int flip_error, flip_errors;
	u32 unsettled_flip; /* after which a program is stuck; 0: none */
	/* the sink */
	struct buf text;
	struct batch batches[ROWS_MAX];
	s64 firsts[ROWS_MAX],
		seconds[ROWS_MAX]; /* the first two columns of each batch's first row */
	u32 n_batches;
	bool is_texted;
	int sink_error, sink_signal;
	u64 sink_sleep_ns;
};

void bench_init(struct bench *b, const char *sql, u32 n_output);
struct cut_part *add_part(struct bench *b, enum cut_part_kind kind, u32 n_columns);
/* A recorded stream of rows (time, value, text), of which n_columns are handed out. */
struct row_source *add_file(struct bench *b, u32 n_columns);
/* A row (time, number) every step_ns from its attaching on, or from the first look at it. */
struct row_source *add_stream(struct bench *b, u64 step_ns);
void put_row(struct row_source *s, u64 time_ns, s64 value, const char *text);
/* Rows of these times, with the values 1, 2, ... */
void put_times(struct row_source *s, const u64 *times, u32 n);
u64 live_time(const struct row_source *s, u32 number);
struct flow_input bench_input(struct bench *b);
int bench_run(struct bench *b);
void bench_free(struct bench *b);
/* Runs twice, reading all rows at once and row by row, and compares the text; frees. */
void expect(struct bench *b, const char *wanted);

#define TIMES(...) ((const u64[]){ __VA_ARGS__ }), ARRAY_SIZE(((const u64[]){ __VA_ARGS__ }))

#endif
