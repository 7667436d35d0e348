/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random schemas and values, written and read back: equal, value by value, in all three
 * kinds of files (CSV as far as it carries types).  And the Arrow reader on streams of
 * another implementation, cut at every byte, and with every byte changed.
 */
#include "files.h"

#include <math.h>

static u64 seed;

static u64 draw(u64 n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? seed % n : seed;
}

static const struct type types[] = {
	{ .kind = TYPE_BOOL },
	{ TYPE_INT, 8, true },
	{ TYPE_INT, 16, true },
	{ TYPE_INT, 32, true },
	{ TYPE_INT, 64, true },
	{ TYPE_INT, 8 },
	{ TYPE_INT, 16 },
	{ TYPE_INT, 32 },
	{ TYPE_INT, 64 },
	{ TYPE_DURATION, 64, true },
	{ TYPE_DURATION, 64 },
	{ TYPE_TIMESTAMP, 64 },
	{ TYPE_TIMESTAMP, 64, true },
	{ TYPE_POINTER, 64 },
	{ .kind = TYPE_TEXT, .bytes = 16 },
	{ .kind = TYPE_BLOB, .bytes = 5 },
	{ .kind = TYPE_REAL },
};

/* Words that have to be told from numbers, NULL and syntax. */
static const char *const words[] = { "",	 "0",	     "-1",	     "1.5",
				     "nan",	 "NULL",     "null",	     "\"",
				     ",",	 "a\nb",     "\r",	     "#",
				     "\xff\xfe", "\xc3\xa4", "\\u0041",	     "'",
				     " x ",	 "true",     "\xed\xb2\x80", "\x01\x7f" };

static struct value draw_value(struct type type, struct arena *arena)
{
	struct value v = { .kind = VALUE_NULL };
	u64 bits = draw(0) >> draw(64);

	if (draw(5) == 0)
		return v;
	if (type_is_word(type)) {
		s128 low = type_min(type), high = type_max(type);

		/* Arrow's instants end at 2^63. */
		if (type.kind == TYPE_DURATION || type.kind == TYPE_TIMESTAMP)
			high = MIN(high, (s128)INT64_MAX);
		v.kind = VALUE_INT;
		v.integer = draw(4) == 0   ? low
			    : draw(4) == 0 ? high
			    : low < 0	   ? (s128)(s64)bits
					   : (s128)bits;
		v.integer = MAX(MIN(v.integer, high), low);
	} else if (type.kind == TYPE_REAL) {
		v.kind = VALUE_REAL;
		memcpy(&v.real, &bits, sizeof(v.real));
		if (draw(2))
			v.real = (double)(s64)draw(1000) / 8;
	} else if (type.kind == TYPE_BLOB) {
		v = (struct value){ .kind = VALUE_TEXT,
				    .n = type.bytes,
				    .text = arena_alloc(arena, 8) };
		memcpy((char *)v.text, &bits, type.bytes);
	} else {
		v.kind = VALUE_TEXT;
		v.text = words[draw(ARRAY_SIZE(words))];
		v.n = (u32)strlen(v.text);
	}
	return v;
}

static bool is_equal(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == VALUE_INT)
		return a->integer == b->integer;
	if (a->kind == VALUE_REAL) /* the bits: -0.0 too; a NaN is a NaN */
		return memcmp(&a->real, &b->real, sizeof(a->real)) == 0 ||
		       (isnan(a->real) && isnan(b->real));
	return a->kind == VALUE_NULL || (a->n == b->n && memcmp(a->text, b->text, a->n) == 0);
}

static void check_type(struct type written, struct type read)
{
	assert_int_equal(written.kind, read.kind);
	if (written.kind == TYPE_INT)
		assert_int_equal(written.bits, read.bits);
	if (written.kind == TYPE_INT || written.kind == TYPE_DURATION ||
	    written.kind == TYPE_TIMESTAMP)
		assert_int_equal(written.is_signed, read.is_signed);
	if (written.kind == TYPE_BLOB)
		assert_int_equal(written.bytes, read.bytes);
}

/* CSV has no types: blobs are hex, a column of integers in halves may read as another kind. */
static void check_csv(struct type type, const struct value *wrote, const struct value *read)
{
	struct value v = *wrote;
	char text[24];

	if (type.kind == TYPE_BLOB && v.kind == VALUE_TEXT) {
		for (u32 i = 0; i < v.n; i++)
			sprintf(text + 2 * i, "%02x", (u8)v.text[i]);
		v = (struct value){ .kind = VALUE_TEXT, .n = 2 * v.n, .text = text };
	}
	if (read->kind == VALUE_TEXT && v.kind == VALUE_INT) { /* wider than 64 bits together */
		struct buf out;

		buf_init(&out);
		buf_put_s128(&out, v.integer);
		assert_int_equal(out.n, read->n);
		assert_memory_equal(out.at, read->text, out.n);
		buf_free(&out);
		return;
	}
	assert_true(is_equal(&v, read));
}

static void check_file(const char *path, enum file_kind kind, const struct schema *schema,
		       const struct value *values, u32 n_rows)
{
	struct value *row;
	struct file_rows *rows;
	struct arena arena;
	struct diags diags;
	struct file *file;

	arena_init(&arena);
	diags_init(&diags, &arena, "query", "", 0);
	file = file_open(path, &arena, (struct span){ 0 }, &diags);
	assert_non_null(file);
	assert_int_equal(file->schema.n_columns, schema->n_columns);
	for (u32 i = 0; i < schema->n_columns; i++) {
		assert_string_equal(file->schema.columns[i].name, schema->columns[i].name);
		if (kind != FILE_CSV)
			check_type(schema->columns[i].type, file->schema.columns[i].type);
	}
	rows = file_rows_open(file, &diags);
	assert_non_null(rows);
	row = arena_array(&arena, struct value, schema->n_columns);
	for (u32 r = 0; r < n_rows; r++) {
		assert_int_equal(file_rows_next(rows, row), 1);
		for (u32 i = 0; i < schema->n_columns; i++) {
			const struct value *wrote = &values[(size_t)r * schema->n_columns + i];

			if (kind == FILE_CSV)
				check_csv(schema->columns[i].type, wrote, &row[i]);
			else
				assert_true(is_equal(wrote, &row[i]));
		}
	}
	assert_int_equal(file_rows_next(rows, row), 0);
	assert_int_equal(file_rows_next(rows, row), 0);
	file_rows_close(rows);
	arena_free(&arena);
}

static const char *const names[FILE_KIND_N] = {
	[FILE_ARROW] = "a.arrows", [FILE_JSONL] = "a.jsonl", [FILE_CSV] = "a.csv"
};

/* One random schema with random rows, in batches of random sizes. */
static void round_trip(enum file_kind kind)
{
	struct folder folder = { 0 };
	struct file_writer *writer;
	struct schema schema;
	struct value *values;
	struct arena arena;
	struct buf out;
	u32 n_rows = (u32)draw(40), n;

	arena_init(&arena);
	buf_init(&out);
	schema.n_columns = 1 + (u32)draw(9);
	schema.columns = arena_array(&arena, struct column, schema.n_columns);
	for (u32 i = 0; i < schema.n_columns; i++) {
		schema.columns[i].name =
			arena_printf(&arena, "%s%u", words[draw(ARRAY_SIZE(words))], i);
		/* CSV's header is bytes, JSON's names are, too. */
		schema.columns[i].type = types[draw(ARRAY_SIZE(types))];
	}
	values = arena_array(&arena, struct value, (size_t)n_rows * schema.n_columns + 1);
	for (u32 i = 0; i < n_rows * schema.n_columns; i++)
		values[i] = draw_value(schema.columns[i % schema.n_columns].type, &arena);
	writer = file_writer_open(kind, &schema, &out);
	for (u32 row = 0; row < n_rows; row += n) {
		n = 1 + (u32)draw(16);
		n = MIN(n, n_rows - row);
		file_writer_rows(writer, values + (size_t)row * schema.n_columns, n);
	}
	assert_null(file_writer_error(writer));
	file_writer_close(writer);
	folder_open(&folder);
	check_file(folder_write(&folder, names[kind], out.at, out.n), kind, &schema, values,
		   n_rows);
	folder_close(&folder);
	buf_free(&out);
	arena_free(&arena);
}

static void test_round_trips(void **state)
{
	for (u32 i = 1; i <= 600; i++) {
		seed = 0x9e3779b97f4a7c15ull * i;
		round_trip(i % FILE_KIND_N);
	}
}

/* Names that are the same, or empty, become different ones. */
static void test_names(void **state)
{
	struct column columns[] = { { "a", type_int(8, false) },
				    { "a", type_int(8, false) },
				    { "a_2", type_int(8, false) },
				    { "", type_int(8, false) } };
	const struct schema schema = { 4, columns };

	for (u32 kind = 0; kind < FILE_KIND_N; kind++) {
		struct folder folder = { 0 };
		struct file_writer *writer;
		struct buf out;

		buf_init(&out);
		writer = file_writer_open(kind, &schema, &out);
		file_writer_close(writer);
		folder_open(&folder);
		folder_write(&folder, names[kind], out.at, out.n);
		buf_reset(&out);
		show(folder.file, &out);
		assert_string_equal(out.at, kind == FILE_CSV
						    ? "a INTEGER, a_3 INTEGER, a_2 INTEGER, "
						      "column_4 INTEGER; time -1\n"
						    : "a u8, a_3 u8, a_2 u8, column_4 u8; "
						      "time -1\n");
		folder_close(&folder);
		buf_free(&out);
	}
}

static void test_not_of_type(void **state)
{
	struct column columns[] = { { "a", type_int(8, false) }, { "d", { TYPE_DURATION, 64 } } };
	const struct schema schema = { 2, columns };
	struct value row[2] = { { .kind = VALUE_INT, .integer = 256 }, { .kind = VALUE_NULL } };
	struct file_writer *writer;
	struct buf out;

	buf_init(&out);
	writer = file_writer_open(FILE_JSONL, &schema, &out);
	file_writer_rows(writer, row, 1);
	assert_string_equal(
		file_writer_error(writer),
		"a value that is not of its type: CAST(x AS INTEGER), REAL or TEXT makes it one");
	assert_string_equal(file_writer_error_column(writer), "a");
	file_writer_close(writer);
	row[0].integer = 255;
	row[1] = (struct value){ .kind = VALUE_INT, .integer = (s128)1 << 63 };
	writer = file_writer_open(FILE_ARROW, &schema, &out);
	file_writer_rows(writer, row, 1);
	assert_non_null(file_writer_error(writer));
	file_writer_close(writer);
	buf_free(&out);
}

/* --- Arrow streams of others, and broken ones --- */

static void check_data(const char *name, const char *expected)
{
	struct buf out;

	buf_init(&out);
	show(name, &out);
	assert_string_equal(out.at, expected);
	buf_free(&out);
}

static void test_foreign_arrow(void **state)
{
	check_data(
		DATA "/foreign.arrows",
		"i8 s8, u8 u8, i16 s16, u16 u16, i32 s32, u32 u32, i64 INTEGER, u64 u64, f32 REAL, "
		"f64 REAL, b BOOLEAN, s TEXT(14), dict TEXT(5), dict32 TEXT(1), n NULL, "
		"fb BLOB(3); time -1\n"
		"-128, 0, -32768, 0, -2147483648, 0, -9223372036854775808, 0, 0.5, "
		"0.10000000000000001, 1, '', 'red', 'x', NULL, 010203\n"
		"127, 255, 32767, 65535, 2147483647, 4294967295, 9223372036854775807, "
		"18446744073709551615, -1.25, -1.0000000000000001e+300, 0, 'h\xc3\xa4', 'green', 'x', "
		"NULL, NULL\n"
		"NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', NULL, 'y', "
		"NULL, 000000\n"
		"0, 1, 0, 1, 0, 1, 0, 1, 3, 3, 1, 'long text here', 'red', 'z', NULL, "
		"fffefd\n");
	check_data(DATA "/times.arrows",
		   "time TIMESTAMP, ms TIMESTAMP, us TIMESTAMP, ns TIMESTAMP, d DURATION, dn "
		   "DURATION; time 0\n"
		   "1700000000000000000, -1000000, 0, 5, 5000000, 7\n"
		   "1700000001000000000, 1700000001001000000, 1000, -6, -6000000, -8\n");
	check_data(DATA "/list.arrows",
		   "error[bad-file]: list.arrows: column \"l\" is of a type that is not read here "
		   "(list)\n");
	check_data(DATA "/random_access.arrows",
		   "error[bad-file]: random_access.arrows: is of Arrow's file format (Feather); it "
		   "is the stream format that is read here\n");
}

static size_t read_data(const char *path, char *bytes, size_t capacity)
{
	FILE *file = fopen(path, "r");
	size_t n;

	assert_non_null(file);
	n = fread(bytes, 1, capacity, file);
	assert_true(n < capacity);
	fclose(file);
	return n;
}

/* Where it is cut, it ends or is broken; rows that came whole are those of the whole file. */
static void test_cut_arrow(void **state)
{
	struct folder folder = { 0 };
	static char bytes[1 << 16];
	size_t n = read_data(DATA "/foreign.arrows", bytes, sizeof(bytes));
	size_t n_whole = 0, n_cut = 0, n_told = 0;
	struct buf out, whole;
	char *warning;

	buf_init(&out);
	buf_init(&whole);
	folder_open(&folder);
	show(DATA "/foreign.arrows", &whole);
	for (size_t i = 0; i < n; i++) {
		folder_write(&folder, "a.arrows", bytes, i);
		buf_reset(&out);
		show(folder.file, &out);
		warning = strstr(out.at, "warning[cut-file]");
		if (warning) {
			/* The row of the batch is known as soon as the batch's head is whole. */
			n_told += strstr(warning, ": 4 rows (") != NULL;
			*warning = '\0';
			out.n = (size_t)(warning - out.at);
			n_cut++;
		}
		if (strstr(out.at, "error[bad-file]")) {
			assert_false(n_whole || n_cut);
			continue;
		}
		/* The schema alone, or all. */
		if (strchr(out.at, '\n') + 1 != out.at + out.n)
			assert_string_equal(out.at, whole.at);
		n_whole += !warning;
	}
	/* Behind the schema, each of two dictionaries and the batch. */
	assert_int_equal(n_whole, 4);
	assert_true(n_cut > 500 && n_told > 100);
	folder_close(&folder);
	buf_free(&out);
	buf_free(&whole);
}

/* Every byte changed in three ways: no crash, and an error or rows. */
static void test_changed_arrow(void **state)
{
	struct folder folder = { 0 };
	static char bytes[1 << 16];
	static const char *const files[] = { DATA "/foreign.arrows", DATA "/times.arrows" };
	struct buf out;

	buf_init(&out);
	folder_open(&folder);
	for (u32 f = 0; f < ARRAY_SIZE(files); f++) {
		size_t n = read_data(files[f], bytes, sizeof(bytes));

		for (size_t i = 0; i < n; i++) {
			static const u8 masks[] = { 0x01, 0x80, 0xff };

			for (u32 m = 0; m < ARRAY_SIZE(masks); m++) {
				bytes[i] ^= (char)masks[m];
				folder_write(&folder, "a.arrows", bytes, n);
				buf_reset(&out);
				show(folder.file, &out);
				assert_true(out.n > 0);
				bytes[i] ^= (char)masks[m];
			}
		}
	}
	folder_close(&folder);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips), cmocka_unit_test(test_names),
		cmocka_unit_test(test_not_of_type), cmocka_unit_test(test_foreign_arrow),
		cmocka_unit_test(test_cut_arrow),   cmocka_unit_test(test_changed_arrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
