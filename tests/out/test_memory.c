/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lack of memory is an error that out_open(), out_file_batch() and out_close() tell: every format,
 * and every cleared allocation that it makes, the first one failing, then the second, ...
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "out/out.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static s64 n_left = -1; /* calls that still get memory; -1: all do */
static bool has_failed;

void *__wrap_calloc(size_t n, size_t size)
{
	if (n_left == 0) {
		has_failed = true;
		return NULL;
	}
	n_left -= n_left > 0;
	return __real_calloc(n, size);
}

static struct column columns[] = {
	{ "n", { .kind = TYPE_INT, .bits = 64 } },
	{ "n", { .kind = TYPE_QUANTILE, .of = TYPE_INT } },
	{ "h", { .kind = TYPE_HISTOGRAM, .of = TYPE_DURATION } },
};
static const struct schema schema = { ARRAY_SIZE(columns), columns };
static const struct scheme log2_scheme = { .kind = SCHEME_LOG2 };
static const struct histogram_cell cells[] = { { 3, 1 }, { 5, 2 } };
static const struct histogram histogram = { .scheme = &log2_scheme,
					    .cells = cells,
					    .n_cells = 2,
					    .count = 3,
					    .sum = 40,
					    .min = 4,
					    .max = 17 };

/* All calls from the n-th on fail; false: there are not so many. */
static bool run(const struct out_format *format, s64 n, int fd)
{
	struct out_options options = { .is_streaming = format->needs_rows };
	struct schema rows = { 1, columns };
	struct value values[] = {
		{ .kind = VALUE_INT, .integer = 7 },
		{ .kind = VALUE_NULL },
		{ .kind = VALUE_HISTOGRAM, .histogram = &histogram },
	};
	struct batch batch = { .schema = format->needs_rows ? &rows : &schema,
			       .n_rows = 1,
			       .values = values,
			       .other_row = -1,
			       .is_windowed = !format->needs_rows,
			       .window_end_ns = 1000 };
	struct out_file out;
	int opened, err;

	has_failed = false;
	n_left = n;
	opened = out_file_open(&out, format, fd, &options, batch.schema);
	err = out_file_batch(&out, &batch);
	assert_true(!opened || err == opened);
	err = out_file_close(&out, 0);
	n_left = -1;
	assert_int_equal(err, has_failed ? -ENOMEM : 0);
	return has_failed;
}

static void test_formats(void **state)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	for (u32 i = 0; i < out_n_formats; i++) {
		const struct out_format *format = out_formats[i];
		s64 n = 0;

		while (run(format, n, fds[1]))
			n++;
		assert_true(n > 0);
	}
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_formats) };

	return cmocka_run_group_tests_name("out-memory", tests, NULL, NULL);
}
