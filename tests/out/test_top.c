/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Top lists in every format: their lines, their bounds, and what is not listed.
 */
#include "golden.h"

#include "out/format.h"

static const struct type top_text = { .kind = TYPE_TOP, .of = TYPE_TEXT };
static const struct type top_ns = { .kind = TYPE_TOP, .of = TYPE_DURATION };

#define TOP(list)                                                                                  \
	{                                                                                          \
		.kind = VALUE_TOP, .top = (list)                                                   \
	}

static const struct top_row names[] = {
	{ TEXT("dd"), 120, 2 },
	{ TEXT("a \"b\""), 11, 0 },
	{ TEXT("gr\xc3\xbc\xc3\x9f"
	       "e"),
	  7, 7 },
};
static const struct top_row times[] = {
	{ INT(1500), (s128)1 << 70, 0 },
	{ INT(-3), 1, 0 },
};
/* 120 + 11 + 7 listed at most, 129 at least. */
static const struct top some = { names, 3, 141, 9 };
static const struct top all = { times, 2, ((s128)1 << 70) + 1, 0 };
static const struct top none = { NULL, 0, 0, 0 };

static void check_lines(struct type type, const struct top *top, const char *wanted)
{
	const struct value value = { .kind = VALUE_TOP, .top = top };
	struct buf buf, line;

	buf_init(&buf);
	for (u32 i = 0; i < out_top.n_lines(&value); i++) {
		out_top.put_line(&buf, type, &value, i);
		buf_putc(&buf, '\n');
	}
	assert_string_equal(buf.at ? buf.at : "", wanted);
	buf_free(&buf);
	buf_init(&line);
	if (top->n_rows > 2) {
		u32 width = out_top.put_line(&line, type, &value, 2);

		assert_int_equal(width, line.n - 2); /* two letters of two bytes */
	}
	buf_free(&line);
}

static void test_top_lines(void **unused)
{
	check_lines(top_text, &some,
		    "dd       [118, 120]\n"
		    "a \"b\"    11\n"
		    "gr\xc3\xbc\xc3\x9f"
		    "e    [0, 7]\n"
		    "(other)  [3, 12]\n");
	check_lines(top_ns, &all, "1.5us  1180591620717411303424\n-3ns   1\n");
	check_lines(top_text, &none, "");
}

static void check_json(struct type type, const struct top *top, const char *wanted)
{
	struct buf buf;

	buf_init(&buf);
	out_put_json_value(&buf, type, &(struct value){ .kind = VALUE_TOP, .top = top });
	assert_string_equal(buf.at, wanted);
	buf_free(&buf);
}

static void test_top_json(void **unused)
{
	check_json(top_text, &some,
		   "{\"top\":[{\"value\":\"dd\",\"lo\":118,\"hi\":120},"
		   "{\"value\":\"a \\\"b\\\"\",\"lo\":11,\"hi\":11},"
		   "{\"value\":\"gr\xc3\xbc\xc3\x9f"
		   "e\",\"lo\":0,\"hi\":7}],"
		   "\"other\":{\"lo\":3,\"hi\":12,\"max\":9},\"total\":141}");
	check_json(top_ns, &all,
		   "{\"top\":[{\"value\":1500,\"lo\":1180591620717411303424,"
		   "\"hi\":1180591620717411303424},{\"value\":-3,\"lo\":1,\"hi\":1}],"
		   "\"other\":{\"lo\":0,\"hi\":0,\"max\":0},\"total\":1180591620717411303425}");
	check_json(top_text, &none,
		   "{\"top\":[],\"other\":{\"lo\":0,\"hi\":0,\"max\":0},\"total\":0}");
}

static void test_top_formats(void **unused)
{
	static const char *const formats[] = { "table", "json", "csv" };
	struct column columns[] = { COLUMN("pid", { .kind = TYPE_INT, .bits = 32 }),
				    COLUMN("who", { .kind = TYPE_TOP, .of = TYPE_TEXT }),
				    COLUMN("long", { .kind = TYPE_TOP, .of = TYPE_DURATION }) };
	const struct schema schema = SCHEMA(columns);
	struct value values[] = { INT(1), TOP(&some), TOP(&all), INT(2), TOP(&none), NUL };
	struct batch batch = batch_of(&schema, values, 2);
	const struct out_options options = { 0 };

	for (u32 i = 0; i < ARRAY_SIZE(formats); i++) {
		char file[32];
		size_t n;
		char *text = format_batches(formats[i], options, &batch, 1, &n);

		snprintf(file, sizeof(file), "top.%s", formats[i]);
		check_golden(file, text, n);
		free(text);
	}
	/* Their weights fit 64 bits. */
	columns[2].type.of = TYPE_TEXT;
	values[2] = values[1];
	check_format("top-arrow", "json", options, &batch, 1);
	check_format("top-arrow", "arrow", options, &batch, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_lines),
		cmocka_unit_test(test_top_json),
		cmocka_unit_test(test_top_formats),
	};

	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
