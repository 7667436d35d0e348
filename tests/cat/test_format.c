/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The format parser: recorded and made-up format files against twin files of the
 * columns they have, and broken ones against refusal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cat/internal.h"

static char *read_text(const char *path, size_t *ret_n)
{
	FILE *file = fopen(path, "re");
	char *text = malloc(65536);

	if (!file) {
		free(text);
		return NULL;
	}
	*ret_n = fread(text, 1, 65535, file);
	text[*ret_n] = '\0';
	fclose(file);
	return text;
}

static void put_stream(const struct stream *stream, struct buf *out)
{
	static const char *const kinds[] = { "fixed", "data_loc", "rel_loc", "arg" };

	buf_printf(out, "id %u\n", stream->tracepoint_id);
	for (u32 i = 0; i < stream->n_fields; i++) {
		const struct field *field = &stream->fields[i];

		buf_printf(out, "%s: %s at %u size %u ", field->name, kinds[field->kind],
			   field->offset_bytes, field->size_bytes);
		type_print(field->type, out);
		if (field->n_elements)
			buf_printf(out, "[%u]", field->n_elements);
		buf_printf(out, " <- %s\n", field->declaration);
	}
}

/* CATEGORY.EVENT.format and its twin CATEGORY.EVENT.columns. */
static void check_file(const char *name)
{
	char path[512], *text, *expected;
	const char *dot = strchr(name, '.');
	struct stream stream = { 0 };
	struct arena arena;
	struct buf out;
	size_t n, n_expected;

	arena_init(&arena);
	buf_init(&out);
	snprintf(path, sizeof(path), "%s/%s", FORMATS_DIR, name);
	text = read_text(path, &n);
	assert_non_null(text);
	strcpy(strrchr(path, '.'), ".columns");
	expected = read_text(path, &n_expected);
	stream.category = arena_strndup(&arena, name, dot - name);
	assert_int_equal(format_parse(&arena, text, n, &stream), 0);
	put_stream(&stream, &out);
	if (getenv("EBQL_UPDATE")) {
		FILE *file = fopen(path, "we");

		fwrite(out.at, 1, out.n, file);
		fclose(file);
	} else {
		assert_non_null(expected);
		assert_string_equal(out.at, expected);
	}
	free(text);
	free(expected);
	buf_free(&out);
	arena_free(&arena);
}

static void test_recorded(void **state)
{
	DIR *directory = opendir(FORMATS_DIR);
	struct dirent *entry;
	u32 n = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		const char *suffix = strrchr(entry->d_name, '.');

		if (strcmp(suffix, ".format") != 0)
			continue;
		check_file(entry->d_name);
		n++;
	}
	closedir(directory);
	assert_true(n >= 15);
}

static int parse(const char *text)
{
	struct stream stream = { .category = "test" };
	struct arena arena;
	int rc;

	arena_init(&arena);
	rc = format_parse(&arena, text, strlen(text), &stream);
	arena_free(&arena);
	return rc;
}

static void test_broken(void **state)
{
	assert_int_equal(parse("ID: 1\n\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n"), 0);
	assert_int_equal(parse("ID: 1\n\tfield:int x;\toffset:8;\tsize:4;\n"), 0);
	assert_int_equal(parse(""), -EINVAL);
	assert_int_equal(parse("ID: \n"), -EINVAL);
	assert_int_equal(parse("ID: x\n"), -EINVAL);
	assert_int_equal(parse("ID: 99999999999\n"), -EINVAL);
	assert_int_equal(parse("ID: 1\nfield:int x\n"), -EINVAL);
	assert_int_equal(parse("ID: 1\nfield:int x;\n"), -EINVAL);
	assert_int_equal(parse("ID: 1\nfield:int x; offset:8;\n"), -EINVAL);
	assert_int_equal(parse("ID: 1\nfield:int x; offset:; size:4;\n"), -EINVAL);
	assert_int_equal(parse("ID: 1\nfield:int x; offset:8; size:99999999999;\n"), -EINVAL);
	assert_int_equal(parse("ID: 1\nfield:; offset:8; size:4;\n"), -EINVAL);
	assert_int_equal(parse("ID: 1\nfield:]; offset:8; size:4;\n"), -EINVAL);
	assert_int_equal(parse("ID: 1\nfield:int *; offset:8; size:8;\n"), -EINVAL);
	assert_int_equal(parse("field:int x; offset:8; size:4;\n"), -EINVAL);
}

/* Every prefix of a real file either parses or is refused; the sanitizers watch. */
static void test_truncated(void **state)
{
	struct stream stream;
	struct arena arena;
	size_t n, n_parsed = 0;
	char *text = read_text(FORMATS_DIR "/test.all_kinds.format", &n);

	assert_non_null(text);
	for (size_t length = 0; length < n; length++) {
		char *exact = malloc(length ? length : 1);

		memcpy(exact, text, length);
		arena_init(&arena);
		stream = (struct stream){ .category = "test" };
		n_parsed += !format_parse(&arena, exact, length, &stream);
		arena_free(&arena);
		free(exact);
	}
	assert_true(n_parsed > 0 && n_parsed < n);
	free(text);
}

static void expect_ctype(const char *text, enum ctype_kind kind, u8 bits, bool is_signed)
{
	struct ctype type = ctype_parse(text, strlen(text));

	if (type.kind != kind || type.bits != bits || type.is_signed != is_signed)
		fail_msg("%s: kind %d bits %u signed %d", text, type.kind, type.bits,
			 type.is_signed);
}

static void test_ctype(void **state)
{
	expect_ctype("int", CTYPE_INT, 32, true);
	expect_ctype("unsigned", CTYPE_INT, 32, false);
	expect_ctype("signed", CTYPE_INT, 32, true);
	expect_ctype("long unsigned int", CTYPE_INT, 64, false);
	expect_ctype("unsigned long long", CTYPE_INT, 64, false);
	expect_ctype("short int", CTYPE_INT, 16, true);
	expect_ctype("unsigned char", CTYPE_INT, 8, false);
	expect_ctype("signed char", CTYPE_INT, 8, true);
	expect_ctype("char", CTYPE_CHAR, 8, false);
	expect_ctype("const char", CTYPE_CHAR, 8, false);
	expect_ctype("umode_t", CTYPE_INT, 16, false);
	expect_ctype("__be16", CTYPE_INT, 16, false);
	expect_ctype("ushort", CTYPE_INT, 16, false);
	expect_ctype("const key_serial_t", CTYPE_INT, 32, true);
	expect_ctype("bool", CTYPE_BOOL, 8, false);
	expect_ctype("cap_user_data_t", CTYPE_POINTER, 64, false);
	expect_ctype("struct x *", CTYPE_POINTER, 64, false);
	expect_ctype("struct x", CTYPE_STRUCT, 0, false);
	expect_ctype("enum x", CTYPE_INT, 32, false);
	expect_ctype("no_such_t", CTYPE_UNKNOWN, 0, false);
	expect_ctype("", CTYPE_UNKNOWN, 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_ctype),
	};

	return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
