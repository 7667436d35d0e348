/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the tests of the outputs share: batches -> text of a format, compared with
 * golden files.  EBQL_UPDATE=1 writes the golden files anew.
 */
#ifndef EBQL_TESTS_OUT_GOLDEN_H
#define EBQL_TESTS_OUT_GOLDEN_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/out.h"

#define T0	 1700000000000000000ull /* 22:13:20 UTC */
#define S128_MIN ((s128)((u128)1 << 127))
#define S128_MAX (~S128_MIN)

#define NUL                                                                                        \
	{                                                                                          \
		.kind = VALUE_NULL                                                                 \
	}
#define INT(x)                                                                                     \
	{                                                                                          \
		.kind = VALUE_INT, .integer = (x)                                                  \
	}
#define REAL(x)                                                                                    \
	{                                                                                          \
		.kind = VALUE_REAL, .real = (x)                                                    \
	}
#define TEXT(x)                                                                                    \
	{                                                                                          \
		.kind = VALUE_TEXT, .n = sizeof(x) - 1, .text = (x)                                \
	}
#define QUANTILES(list, count)                                                                     \
	{                                                                                          \
		.kind = VALUE_QUANTILES, .n = (count), .quantiles = (list)                         \
	}
#define COLUMN(x, ...)                                                                             \
	{                                                                                          \
		.name = (x), .type = __VA_ARGS__                                                   \
	}
#define UNNAMED(x, ...)                                                                            \
	{                                                                                          \
		.name = (x), .type = __VA_ARGS__, .is_unnamed = true                               \
	}
#define SCHEMA(list)                                                                               \
	{                                                                                          \
		.n_columns = ARRAY_SIZE(list), .columns = (list)                                   \
	}

static const struct type type_u64 = { .kind = TYPE_INT, .bits = 64 };
static const struct type type_comm = { .kind = TYPE_TEXT, .bytes = 16 };
static const struct type type_s64 = { .kind = TYPE_INT, .bits = 64, .is_signed = true };

static const struct type quantile_ns = { .kind = TYPE_QUANTILE, .of = TYPE_DURATION };
static const struct type ladder_ns = { .kind = TYPE_LADDER, .of = TYPE_DURATION };

/* --- Plumbing --- */

/* Everything that was written to the temporary file behind fd. */
static inline char *read_all(int fd, size_t *ret_n)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *text = malloc((size_t)n + 1);

	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)n, 0), n);
	text[n] = '\0';
	*ret_n = (size_t)n;
	close(fd);
	return text;
}

static inline int temporary_file(void)
{
	char path[] = "/tmp/ebql-test-out-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static inline char *format_batches(const char *format, struct out_options options,
				   const struct batch *batches, u32 n_batches, size_t *ret_n)
{
	const struct out_format *found = out_format_find(format);
	struct out_file out;
	int fd;

	assert_non_null(found);
	fd = temporary_file();
	out_file_open(&out, found, fd, &options, batches[0].schema);
	for (u32 i = 0; i < n_batches; i++)
		assert_int_equal(out_file_batch(&out, &batches[i]), 0);
	assert_int_equal(out_file_close(&out, 0), 0);
	return read_all(fd, ret_n);
}

static inline void check_golden(const char *name, const char *text, size_t n)
{
	char path[512];
	char *wanted;
	size_t n_wanted;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, name);
	if (getenv("EBQL_UPDATE")) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, text, n), (ssize_t)n);
		close(fd);
		return;
	}
	fd = open(path, O_RDONLY);
	if (fd < 0)
		fail_msg("%s is missing (EBQL_UPDATE=1 writes it)", path);
	wanted = read_all(fd, &n_wanted);
	if (n != n_wanted || memcmp(text, wanted, n) != 0)
		fail_msg("%s differs; now it is:\n%s", path, text);
	free(wanted);
}

static inline void check_format(const char *name, const char *format, struct out_options options,
				const struct batch *batches, u32 n_batches)
{
	char file[128];
	size_t n;
	char *text = format_batches(format, options, batches, n_batches, &n);

	snprintf(file, sizeof(file), "%s.%s", name, format);
	check_golden(file, text, n);
	free(text);
}

static inline bool has_stack(const struct schema *schema)
{
	for (u32 i = 0; i < schema->n_columns; i++)
		if (schema->columns[i].type.kind == TYPE_STACK)
			return true;
	return false;
}

/* The same batches in every format that is text; golden files NAME.table, NAME.json, NAME.csv. */
static inline void check_texts(const char *name, struct out_options options,
			       const struct batch *batches, u32 n_batches)
{
	for (u32 i = 0; i < out_n_formats; i++) {
		/* Those are read back in tests/file and tests/cli/test_record.c. */
		if (out_formats[i]->needs_rows || out_formats[i]->is_binary)
			continue;
		if (out_formats[i]->needs_histogram && !out_has_histogram(batches[0].schema))
			continue;
		if (out_formats[i]->needs_calls && !has_stack(batches[0].schema))
			continue;
		check_format(name, out_formats[i]->name, options, batches, n_batches);
	}
}

/* And in Arrow's: tests/cli/test_arrow.c compares each NAME.arrow with NAME.json. */
static inline void check_all(const char *name, struct out_options options,
			     const struct batch *batches, u32 n_batches)
{
	check_texts(name, options, batches, n_batches);
	check_format(name, "arrow", options, batches, n_batches);
}

static inline struct batch batch_of(const struct schema *schema, struct value *values, u32 n_rows)
{
	return (struct batch){
		.schema = schema,
		.values = values,
		.n_rows = n_rows,
		.other_row = -1,
		.is_windowed = true,
		.window_start_ns = T0,
		.window_end_ns = T0 + 1000000000ull,
		.account.events = 12345,
		.account.matched = 12000,
	};
}

/* As check_all(), of the table alone. */
static inline void check_table(const char *name, struct out_options options,
			       const struct batch *batch)
{
	size_t n;
	char *text = format_batches("table", options, batch, 1, &n);

	check_golden(name, text, n);
	free(text);
}

static inline struct quantile between(u32 q_ppb, s128 lo, s128 estimate, s128 hi)
{
	return (struct quantile){ .q_ppb = q_ppb,
				  .has_lo = true,
				  .has_hi = true,
				  .is_hi_open = true,
				  .lo = lo,
				  .estimate = estimate,
				  .hi = hi };
}

static inline u64 random_next(u64 *random)
{
	*random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
	return *random;
}

#endif
