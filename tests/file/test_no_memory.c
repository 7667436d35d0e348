/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A recording, or windows of Arrow, without memory: of all requests that writing makes the n-th
 * fails, for n = 1, 2, ...: then the writer or the buffer says so, or the bytes are the same.  And
 * windows like those before request nothing.
 */
#include <errno.h>
#include <sys/mman.h>

#include "files.h"

enum { N_ROWS = 3000 };

static u32 n_requests, failing;

static bool is_refused(void)
{
	return ++n_requests == failing;
}

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t n);
void *__real_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t n);
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);

void *__wrap_calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *at, size_t n)
{
	return is_refused() ? NULL : __real_realloc(at, n);
}

void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	errno = ENOMEM;
	return is_refused() ? MAP_FAILED : __real_mmap64(at, n, protection, flags, fd, offset);
}

/* false: told that it is not whole. */
static bool write_rows(enum file_kind kind, const struct value *rows, struct buf *out)
{
	struct column columns[] = { { .name = "time", .type = { TYPE_TIMESTAMP, 64, false } },
				    { .name = "text", .type = { TYPE_TEXT, .bytes = 16 } },
				    { .name = "none", .type = { TYPE_INT, 32, true } } };
	const struct schema schema = { ARRAY_SIZE(columns), columns };
	struct file_writer *writer;
	bool is_whole;

	n_requests = 0;
	writer = file_writer_open(kind, &schema, out);
	if (!writer)
		return false;
	for (u32 i = 0; i < N_ROWS; i += N_ROWS / 3)
		file_writer_rows(writer, rows + i * schema.n_columns, N_ROWS / 3);
	is_whole = !file_writer_error(writer);
	file_writer_close(writer);
	return is_whole && !out->is_cut;
}

static struct column window_columns[] = {
	{ .name = "comm", .type = { TYPE_TEXT, .bytes = 16 } },
	{ .name = "n", .type = { TYPE_INT, 64, true, .is_wide = true } },
	{ .name = "h", .type = { TYPE_HISTOGRAM, .of = TYPE_DURATION } },
};

enum { N_GROUPS = 300 };

/* Windows with other texts each, of one length; the requests of all but the first two. */
static bool write_windows(u32 n_windows, struct buf *out, u32 *ret_n_steady)
{
	static const struct scheme log2_scheme = { .kind = SCHEME_LOG2 };
	static const struct histogram_cell cells[] = { { 3, 1 }, { 5, 2 } };
	static const struct histogram h = { .scheme = &log2_scheme, .cells = cells, .n_cells = 2 };
	static struct value rows[N_GROUPS][3];
	static char texts[N_GROUPS][16];
	const struct schema schema = { ARRAY_SIZE(window_columns), window_columns };
	struct batch batch = {
		.schema = &schema, .n_rows = N_GROUPS, .values = rows[0], .other_row = -1
	};
	struct file_writer *writer;
	bool is_whole;

	n_requests = *ret_n_steady = 0;
	writer = file_writer_open_windows(&schema, 0, out);
	if (!writer)
		return false;
	for (u32 window = 0; window < n_windows; window++) {
		u32 n_before = n_requests;

		for (u32 i = 0; i < N_GROUPS; i++) {
			snprintf(texts[i], sizeof(texts[i]), "%s %03u",
				 window % 2 ? "worker\xff" : "group\xff.", i);
			rows[i][0] = (struct value){ .kind = VALUE_TEXT,
						     .n = (u32)strlen(texts[i]),
						     .text = texts[i] };
			rows[i][1] = (struct value){ .kind = VALUE_INT, .integer = i };
			rows[i][2] = (struct value){ .kind = VALUE_HISTOGRAM, .histogram = &h };
		}
		if (n_windows > 2)
			buf_reset(out); /* it was written */
		file_writer_window(writer, &batch, "{}");
		*ret_n_steady += window < 2 ? 0 : n_requests - n_before;
	}
	is_whole = !file_writer_error(writer);
	file_writer_close(writer);
	return is_whole && !out->is_cut;
}

static void test_windows(void **state)
{
	struct buf expected, out;
	u32 n_all, n_steady;

	(void)state;
	buf_init(&expected);
	failing = 0;
	assert_true(write_windows(2, &expected, &n_steady));
	n_all = n_requests;
	assert_true(n_all > 10);
	for (failing = 1; failing <= n_all; failing++) {
		buf_init(&out);
		if (write_windows(2, &out, &n_steady)) {
			assert_int_equal(out.n, expected.n);
			assert_memory_equal(out.at, expected.at, out.n);
		}
		buf_free(&out);
	}
	failing = 0;
	assert_true(write_windows(10, &expected, &n_steady));
	assert_int_equal(n_steady, 0);
	buf_free(&expected);
}

static void test_each(void **state)
{
	static struct value rows[N_ROWS][3];
	struct buf expected, out;

	(void)state;
	for (u32 i = 0; i < N_ROWS; i++) {
		rows[i][0] = (struct value){ .kind = VALUE_INT, .integer = 1000 + i };
		rows[i][1] = (struct value){ .kind = VALUE_TEXT,
					     .n = i % 16,
					     .text = "a text of bytes." };
	}
	for (enum file_kind kind = 0; kind < FILE_KIND_N; kind++) {
		u32 n_all;

		buf_init(&expected);
		failing = 0;
		assert_true(write_rows(kind, rows[0], &expected));
		n_all = n_requests;
		assert_true(n_all > 4);
		for (failing = 1; failing <= n_all; failing++) {
			buf_init(&out);
			if (write_rows(kind, rows[0], &out)) {
				assert_int_equal(out.n, expected.n);
				assert_memory_equal(out.at, expected.at, out.n);
			}
			buf_free(&out);
		}
		buf_free(&expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_each),
					    cmocka_unit_test(test_windows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
