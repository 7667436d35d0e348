/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random rows: events of both streams in the order of their times, the tables ev and ot
 * of SQLite with the same rows, and recordings of them in every format.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random.h"

#define ROWS_MAX     110
#define TIME_FIRST   1000000000ull /* before now, whenever the machine was started */
#define TIME_STEP_NS 400000	   /* windows are of 1 ms and more */

static const char *const key_texts[] = { "", "a", "A", "it's" };
static const char *const texts_behind[] = {
	"",    "a",    "ab",  "AB",
	"abc", "it's", "%b_", "sixty-four bytes and no more, as many as there are in one column"
};

/* Few values, so that groups and joins meet. */
static void make_keys(struct event *e, struct rng *rng)
{
	u32 name = rng_below(rng, ARRAY_SIZE(key_texts));

	e->integers[C_U8] = rng_below(rng, 3);
	e->integers[C_S8] = rng_range(rng, -2, 2);
	e->integers[C_BOOL] = rng_below(rng, 2);
	/* An address that can be read, in this process. */
	e->integers[C_PTR] =
		(s128)(uintptr_t)texts_behind[rng_below(rng, ARRAY_SIZE(texts_behind))];
	e->texts[C_NAME] = key_texts[name];
	e->text_bytes[C_NAME] = strlen(key_texts[name]);
}

void rows_random(struct rows *rows, struct arena *arena, u64 seed)
{
	struct rng rng = { seed };
	u64 time_ns = TIME_FIRST + rng_below(&rng, 1000000);
	struct dataset *data = &rows->data;
	u32 n = rng_percent(&rng, 6) ? rng_below(&rng, 4) : 10 + rng_below(&rng, ROWS_MAX - 10);
	/* Now and then one of the streams is empty. */
	u32 streams = rng_percent(&rng, 8) ? rng_below(&rng, 2) * 100 : 20 + rng_below(&rng, 61);

	*rows = (struct rows){ .arena = arena,
			       .is_big = rng_percent(&rng, 25),
			       .has_ties = rng_percent(&rng, 12) };
	dataset_random(data, arena, rng_below(&rng, N_DATASETS - 2), rng_next(&rng) >> 32);
	data->n_events = n;
	for (u32 i = 0; i < n; i++) {
		struct event *e = &data->events[i];

		make_keys(e, &rng);
		if (rows->is_big && rng_percent(&rng, 40))
			e->integers[C_U64] = rng_percent(&rng, 50)
						     ? UINT64_MAX - rng_below(&rng, 3)
						     : INT64_MAX + (s128)rng_below(&rng, 3);
		e->stream = rng_percent(&rng, streams) ? STREAM_EVENT : STREAM_OTHER;
		if (!rows->has_ties || !i || rng_percent(&rng, 60) ||
		    (e->stream == STREAM_OTHER && e[-1].stream == STREAM_EVENT))
			time_ns += 1 + rng_below(&rng, TIME_STEP_NS);
		/* Now and then some windows are idle. */
		if (!rows->has_ties && rng_percent(&rng, 2))
			time_ns += rng_below(&rng, 20 * TIME_STEP_NS);
		e->integers[C_TIME] = time_ns;
		if (e->stream == STREAM_OTHER) {
			e->texts[C_PROBE] = "tracepoint:test:other";
			e->text_bytes[C_PROBE] = strlen(e->texts[C_PROBE]);
		}
		event_encode(e, arena, &rng);
	}
	dataset_measure(data);
}

void rows_without(const struct rows *rows, u32 first, u32 n, struct rows *ret_rows)
{
	const struct dataset *data = &rows->data;
	struct event *fewer = arena_array(rows->arena, struct event, data->n_events + 1);

	*ret_rows = (struct rows){ .arena = rows->arena,
				   .data = *data,
				   .is_big = rows->is_big,
				   .has_ties = rows->has_ties };
	memcpy(fewer, data->events, first * sizeof(*fewer));
	memcpy(fewer + first, data->events + first + n,
	       (data->n_events - first - n) * sizeof(*fewer));
	ret_rows->data.events = fewer;
	ret_rows->data.n_events = data->n_events - n;
}

/* --- Recordings --- */

static struct type column_type(u32 column)
{
	const struct column_info *info = &column_infos[column];

	if (column == C_BOOL)
		return (struct type){ .kind = TYPE_BOOL, .bits = 8 };
	if (column == C_PTR)
		return (struct type){ .kind = TYPE_POINTER, .bits = 64 };
	if (column == C_TIME)
		return (struct type){ .kind = TYPE_TIMESTAMP, .bits = 64 };
	if (info->is_text)
		return type_text(64);
	return type_int(8 * info->size_bytes, info->is_signed && !info->is_header);
}

static void put_event(struct file_writer *writer, const struct event *e)
{
	struct value row[C_N];

	for (u32 i = 0; i < C_N; i++) {
		if (column_infos[i].is_text)
			row[i] = (struct value){ .kind = VALUE_TEXT,
						 .n = e->text_bytes[i],
						 .text = e->texts[i] };
		else
			row[i] = (struct value){ .kind = VALUE_INT, .integer = e->integers[i] };
	}
	file_writer_rows(writer, row, 1);
}

static const char *write_file(const struct rows *rows, enum file_kind kind, u8 stream)
{
	static const char *const suffixes[] = {
		[FILE_ARROW] = "arrows", [FILE_JSONL] = "jsonl", [FILE_CSV] = "csv"
	};
	static u32 n_files;
	const char *path = arena_printf(rows->arena, "/tmp/ebql-random-%d-%u.%s", getpid(),
					n_files++, suffixes[kind]);
	struct schema schema = { C_N, arena_array(rows->arena, struct column, C_N) };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct file_writer *writer;
	struct buf out;

	BUG_ON(fd < 0);
	for (u32 i = 0; i < C_N; i++)
		schema.columns[i] = (struct column){ column_infos[i].name, column_type(i) };
	buf_init(&out);
	writer = file_writer_open(kind, &schema, &out);
	for (u32 i = 0; i < rows->data.n_events; i++)
		if (rows->data.events[i].stream == stream)
			put_event(writer, &rows->data.events[i]);
	BUG_ON(file_writer_error(writer));
	file_writer_close(writer);
	BUG_ON(buf_flush(&out, fd, NULL));
	close(fd);
	buf_free(&out);
	return path;
}

const char *const *rows_files(struct rows *rows, enum file_kind kind)
{
	for (u32 i = 0; i < 2 && !rows->files[kind][i]; i++)
		rows->files[kind][i] =
			write_file(rows, kind, i ? (u8)STREAM_OTHER : (u8)STREAM_EVENT);
	return rows->files[kind];
}

/* --- Tables --- */

static void must(sqlite3 *db, int rc)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE)
		BUG("reference: %s", sqlite3_errmsg(db));
}

sqlite3 *rows_db(struct rows *rows)
{
	if (rows->db)
		return rows->db;
	must(NULL, sqlite3_open(":memory:", &rows->db));
	for (u32 i = 0; i < 2; i++) {
		const char *table = i == STREAM_OTHER ? "ot" : "ev";

		reference_table(rows->db, table);
		reference_fill(rows->db, table, rows->data.events, rows->data.n_events, (s32)i);
	}
	reference_functions(rows->db);
	return rows->db;
}

void rows_close(struct rows *rows)
{
	for (u32 i = 0; i < FILE_KIND_N; i++)
		for (u32 k = 0; k < 2; k++) {
			if (rows->files[i][k])
				unlink(rows->files[i][k]);
			rows->files[i][k] = NULL;
		}
	sqlite3_close(rows->db);
	rows->db = NULL;
}
