/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arrow's C data interface: every type of the language, with values at the ends of its range and
 * without, as a reader that knows the interface alone finds them; whose memory is whose; and what
 * is refused.  All memory is counted: nothing stays, whichever request fails.
 */
#include <errno.h>
#include <sys/mman.h>

#include "arrow_text.h"

static u32 n_requests, failing; /* failing: the number of the one that does; 0: none */
static s64 n_live;

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t n);
char *__real_strdup(const char *text);
void __real_free(void *at);
void *__real_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t n);
char *__wrap_strdup(const char *text);
void __wrap_free(void *at);
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);

static bool is_refused(void)
{
	return ++n_requests == failing;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *at = is_refused() ? NULL : __real_calloc(n, size);

	n_live += at != NULL;
	return at;
}

void *__wrap_realloc(void *at, size_t n)
{
	void *grown = is_refused() ? NULL : __real_realloc(at, n);

	n_live += grown && !at;
	return grown;
}

char *__wrap_strdup(const char *text)
{
	char *copy = is_refused() ? NULL : __real_strdup(text);

	n_live += copy != NULL;
	return copy;
}

void __wrap_free(void *at)
{
	n_live -= at != NULL;
	__real_free(at);
}

void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	errno = ENOMEM;
	return is_refused() ? MAP_FAILED : __real_mmap64(at, n, protection, flags, fd, offset);
}

/* --- Values --- */

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
#define NUL                                                                                        \
	{                                                                                          \
		.kind = VALUE_NULL                                                                 \
	}
#define COLUMN(x, ...)                                                                             \
	{                                                                                          \
		.name = (x), .type = __VA_ARGS__                                                   \
	}

/* 10^38 - 1 */
#define NINES ((s128)10000000000000000000ull * 10000000000000000000ull - 1)

static void check(const struct column *columns, u32 n_columns, struct value *values, u32 n_rows,
		  s64 other_row, const char *expected)
{
	struct schema schema = { n_columns, (struct column *)columns };
	struct batch batch = {
		.schema = &schema, .n_rows = n_rows, .values = values, .other_row = other_row
	};
	struct ArrowSchema s;
	struct ArrowArray a;
	struct buf out;

	buf_init(&out);
	assert_int_equal(arrow_export_schema(&schema, &s), 0);
	assert_int_equal(arrow_export_batch(&batch, &a), 0);
	check_array(&s, &a);
	assert_string_equal(s.format, "+s");
	assert_int_equal(a.length, n_rows);
	for (s64 i = 0; i < s.n_children; i++) {
		put_schema(&out, s.children[i]);
		buf_putc(&out, '\n');
	}
	for (s64 i = 0; i < a.length; i++) {
		put_element(&out, &s, &a, i);
		buf_putc(&out, '\n');
	}
	s.release(&s);
	assert_null(s.release);
	a.release(&a);
	assert_null(a.release);
	assert_string_equal(out.at, expected);
	buf_free(&out);
}

static void test_words(void **state)
{
	static const struct column columns[] = {
		COLUMN("s8", { TYPE_INT, 8, true }),
		COLUMN("u8", { TYPE_INT, 8 }),
		COLUMN("s16", { TYPE_INT, 16, true }),
		COLUMN("u16", { TYPE_INT, 16 }),
		COLUMN("s32", { TYPE_INT, 32, true }),
		COLUMN("u32", { TYPE_INT, 32 }),
		COLUMN("s64", { TYPE_INT, 64, true }),
		COLUMN("u64", { TYPE_INT, 64 }),
		COLUMN("sum", { TYPE_INT, 64, true, .is_wide = true }),
		COLUMN("b", { TYPE_BOOL, 8 }),
		COLUMN("d", { TYPE_DURATION, 64 }),
		COLUMN("t", { TYPE_TIMESTAMP, 64, .clock = CLOCK_REAL }),
		COLUMN("p", { TYPE_POINTER, 64 }),
	};
	struct value values[][ARRAY_SIZE(columns)] = {
		{ INT(-128), INT(255), INT(-32768), INT(65535), INT(INT32_MIN), INT(UINT32_MAX),
		  INT(INT64_MIN), INT(UINT64_MAX), INT(NINES), INT(1), INT(INT64_MAX),
		  INT(INT64_MAX), INT(UINT64_MAX) },
		{ NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL },
		{ INT(127), INT(0), INT(32767), INT(0), INT(INT32_MAX), INT(0), INT(INT64_MAX),
		  INT((s128)1 << 63), INT(-NINES), INT(0), INT(-1), INT(0), INT(0) },
	};

	check(columns, ARRAY_SIZE(columns), values[0], ARRAY_SIZE(values), 2,
	      "s8 c [ebql=s8]\nu8 C [ebql=u8]\ns16 s [ebql=s16]\nu16 S [ebql=u16]\n"
	      "s32 i [ebql=s32]\nu32 I [ebql=u32]\ns64 l [ebql=INTEGER]\nu64 L [ebql=u64]\n"
	      "sum d:38,0 [ebql=INTEGER]\nb b [ebql=BOOLEAN]\nd tDn [ebql=DURATION]\n"
	      "t tsn:UTC [ebql=TIMESTAMP]\np L [ebql=POINTER]\n_other b [ebql=BOOLEAN]\n"
	      "{s8=-128 u8=255 s16=-32768 u16=65535 s32=-2147483648 u32=4294967295 "
	      "s64=-9223372036854775808 u64=18446744073709551615 "
	      "sum=99999999999999999999999999999999999999 b=true d=9223372036854775807 "
	      "t=9223372036854775807 p=18446744073709551615 _other=false}\n"
	      "{s8=NULL u8=NULL s16=NULL u16=NULL s32=NULL u32=NULL s64=NULL u64=NULL sum=NULL "
	      "b=NULL d=NULL t=NULL p=NULL _other=false}\n"
	      "{s8=127 u8=0 s16=32767 u16=0 s32=2147483647 u32=0 s64=9223372036854775807 "
	      "u64=9223372036854775808 sum=-99999999999999999999999999999999999999 b=false d=-1 "
	      "t=0 p=0 _other=true}\n");
}

static void test_reals(void **state)
{
	static const struct column columns[] = {
		COLUMN("x", { .kind = TYPE_REAL }),
		COLUMN("none", { .kind = TYPE_NULL }),
		COLUMN("hi", { TYPE_DURATION, 64 }),
	};
	struct quantile between = { .is_interpolated = true, .interpolated = 2.5 };
	struct value values[][3] = {
		{ REAL(0.1), NUL, INT(7) },
		{ INT(3), REAL(1.5), REAL(INFINITY) }, /* a bound that is not there */
		{ REAL(-INFINITY), INT((s128)1 << 60), REAL(-INFINITY) },
		{ { .kind = VALUE_QUANTILES, .n = 1, .quantiles = &between }, INT(-1), REAL(4) },
		{ NUL, NUL, NUL },
	};

	check(columns, 3, values[0], ARRAY_SIZE(values), -1,
	      "x g [ebql=REAL]\nnone g [ebql=REAL]\nhi tDn [ebql=DURATION]\n_other b "
	      "[ebql=BOOLEAN]\n"
	      "{x=0.1 none=NULL hi=7 _other=false}\n"
	      "{x=3.0 none=1.5 hi=NULL _other=false}\n"
	      "{x=-inf none=1.152921504606847e+18 hi=NULL _other=false}\n"
	      "{x=2.5 none=-1.0 hi=4 _other=false}\n"
	      "{x=NULL none=NULL hi=NULL _other=false}\n");
}

/* Names as they must be unique; what is no UTF-8; NULs; the same text again. */
static void test_texts(void **state)
{
	static const struct column columns[] = {
		COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
		COLUMN("_other", { .kind = TYPE_BLOB, .bytes = 4 }),
		COLUMN("comm", { .kind = TYPE_BLOB }),
	};
	struct value values[][3] = {
		{ TEXT("sh"), TEXT("\x00\xff\x7f\x80"), TEXT("ab") },
		{ TEXT(""), NUL, TEXT("") },
		{ NUL, TEXT("abcd"), NUL },
		{ TEXT("a\0b"), NUL, NUL },
		{ TEXT("a\xff\xc3(\xe2\x82"), NUL, NUL },
		{ TEXT("sh"), NUL, NUL },
		{ TEXT("gr\xc3\xb6\xc3\x9f"
		       "e"),
		  NUL, NUL },
	};

	check(columns, 3, values[0], ARRAY_SIZE(values), -1,
	      "comm i [ebql=TEXT] <comm u>\n_other_2 w:4 [ebql=BLOB(4)]\ncomm_2 z [ebql=BLOB]\n"
	      "_other b [ebql=BOOLEAN]\n"
	      "{comm=\"sh\" _other_2=00ff7f80 comm_2=\"ab\" _other=false}\n"
	      "{comm=\"\" _other_2=NULL comm_2=\"\" _other=false}\n"
	      "{comm=NULL _other_2=61626364 comm_2=NULL _other=false}\n"
	      "{comm=\"a\\u0000b\" _other_2=NULL comm_2=NULL _other=false}\n"
	      "{comm=\"a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\" _other_2=NULL "
	      "comm_2=NULL _other=false}\n"
	      "{comm=\"sh\" _other_2=NULL comm_2=NULL _other=false}\n"
	      "{comm=\"gr\xc3\xb6\xc3\x9f"
	      "e\" _other_2=NULL comm_2=NULL _other=false}\n");
}

static void test_special(void **state)
{
	static const struct column columns[] = {
		COLUMN("h", { .kind = TYPE_HISTOGRAM, .of = TYPE_DURATION }),
		COLUMN("u", { .kind = TYPE_HISTOGRAM, .of = TYPE_INT }),
		COLUMN("p50", { .kind = TYPE_QUANTILE, .of = TYPE_INT, .is_signed = true }),
		COLUMN("ladder", { .kind = TYPE_LADDER, .of = TYPE_DURATION }),
		COLUMN("top", { .kind = TYPE_TOP, .of = TYPE_TEXT, .bytes = 16 }),
	};
	static const struct scheme log2_scheme = { .kind = SCHEME_LOG2 };
	static const struct histogram_cell some[] = { { 0, 2 }, { 63, 1 } };
	static const struct histogram_cell last[] = { { 64, UINT64_MAX } };
	static const struct histogram h = { .scheme = &log2_scheme, .cells = some, .n_cells = 2 };
	static const struct histogram u = { .scheme = &log2_scheme, .cells = last, .n_cells = 1 };
	static const struct histogram empty = { .scheme = &log2_scheme };
	static const struct quantile rungs[] = {
		{ 500000000, true, true, .estimate = -5, .lo = -8, .hi = (s128)1 << 63 },
		{ 999000000, false, true, .estimate = 90, .lo = 1, .hi = 128 },
	};
	static const struct top_row rows[] = { { TEXT("dd"), .weight = 120, .error = 2 },
					       { TEXT("\xff"), .weight = 7, .error = 0 } };
	static const struct top top = { .rows = rows, .n_rows = 2, .total = 130 };
	struct value values[][5] = {
		{ { .kind = VALUE_HISTOGRAM, .histogram = &h },
		  { .kind = VALUE_HISTOGRAM, .histogram = &u },
		  { .kind = VALUE_QUANTILES, .n = 1, .quantiles = rungs },
		  { .kind = VALUE_QUANTILES, .n = 2, .quantiles = rungs },
		  { .kind = VALUE_TOP, .top = &top } },
		{ NUL, NUL, NUL, NUL, NUL },
		{ { .kind = VALUE_HISTOGRAM, .histogram = &empty }, NUL, INT(4), NUL, NUL },
	};

	check(columns, 5, values[0], ARRAY_SIZE(values), -1,
	      "h +l [ebql=HISTOGRAM(DURATION)] {item +s {lo tDn, hi tDn, count L}}\n"
	      "u +l [ebql=HISTOGRAM(INTEGER)] {item +s {lo L, hi L, count L}}\n"
	      "p50 +s [ebql=QUANTILE(INTEGER)] {est l, lo l, hi l}\n"
	      "ladder +l [ebql=LADDER(DURATION)] {item +s {q g, est tDn, lo tDn, hi tDn}}\n"
	      "top +l [ebql=TOP(TEXT)] {item +s {value u, weight L, error L}}\n"
	      "_other b [ebql=BOOLEAN]\n"
	      "{h=[{lo=0 hi=1 count=2} {lo=4611686018427387904 hi=NULL count=1}] "
	      "u=[{lo=9223372036854775808 hi=NULL count=18446744073709551615}] "
	      "p50={est=-5 lo=-8 hi=NULL} "
	      "ladder=[{q=0.5 est=-5 lo=-8 hi=NULL} {q=0.999 est=90 lo=NULL hi=128}] "
	      "top=[{value=\"dd\" weight=120 error=2} {value=\"\xef\xbf\xbd\" weight=7 error=0} "
	      "{value=NULL weight=5 error=2}] _other=false}\n"
	      "{h=NULL u=NULL p50=NULL ladder=NULL top=NULL _other=false}\n"
	      "{h=[] u=NULL p50={est=4 lo=NULL hi=NULL} ladder=NULL top=NULL _other=false}\n");
}

static void test_empty(void **state)
{
	static const struct column columns[] = {
		COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
		COLUMN("h", { .kind = TYPE_HISTOGRAM, .of = TYPE_DURATION }),
	};

	check(columns, 2, NULL, 0, -1,
	      "comm i [ebql=TEXT] <comm u>\n"
	      "h +l [ebql=HISTOGRAM(DURATION)] {item +s {lo tDn, hi tDn, count L}}\n"
	      "_other b [ebql=BOOLEAN]\n");
}

/* Many texts, each several times: the dictionary has each once, in the order they come. */
static void test_dictionary(void **state)
{
	enum { N = 3000, TEXTS = 700 };
	static const struct column column = COLUMN("t", { .kind = TYPE_TEXT, .bytes = 16 });
	static struct value values[N];
	static char texts[TEXTS][16];
	struct schema schema = { 1, (struct column *)&column };
	struct batch batch = { .schema = &schema, .n_rows = N, .values = values, .other_row = -1 };
	struct ArrowArray a, *column_of;

	for (u32 i = 0; i < TEXTS; i++)
		sprintf(texts[i], "text %u", i);
	for (u32 i = 0; i < N; i++)
		values[i] = (struct value){ .kind = VALUE_TEXT,
					    .n = (u32)strlen(texts[i % TEXTS]),
					    .text = texts[i % TEXTS] };
	assert_int_equal(arrow_export_batch(&batch, &a), 0);
	column_of = a.children[0];
	assert_int_equal(column_of->dictionary->length, TEXTS);
	for (u32 i = 0; i < N; i++)
		assert_int_equal(((const s32 *)column_of->buffers[1])[i], i % TEXTS);
	a.release(&a);
}

/* The kernel's instants, all moved by the same amount. */
static void test_clock(void **state)
{
	static const struct column column =
		COLUMN("t", { TYPE_TIMESTAMP, 64, .clock = CLOCK_MONO });
	struct schema schema = { 1, (struct column *)&column };
	struct value values[] = { INT(1000), INT(5000) };
	struct batch batch = { .schema = &schema, .n_rows = 2, .values = values, .other_row = -1 };
	struct ArrowArray a[2];
	const s64 *first, *second;

	assert_int_equal(arrow_export_batch(&batch, &a[0]), 0);
	assert_int_equal(arrow_export_batch(&batch, &a[1]), 0);
	first = a[0].children[0]->buffers[1];
	second = a[1].children[0]->buffers[1];
	assert_int_equal(first[1] - first[0], 4000);
	assert_memory_equal(first, second, 16);
	assert_in_range(first[0], 1600000000000000000, (s64)base_realtime_ns());
	a[0].release(&a[0]);
	a[1].release(&a[1]);
}

/* A consumer may keep a child alone. */
static void test_moved(void **state)
{
	static const struct column columns[] = {
		COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
		COLUMN("n", { TYPE_INT, 64 }),
	};
	struct schema schema = { 2, (struct column *)columns };
	struct value values[] = { TEXT("sh"), INT(7) };
	struct batch batch = { .schema = &schema, .n_rows = 1, .values = values, .other_row = -1 };
	struct ArrowSchema s, moved_schema;
	struct ArrowArray a, moved;
	struct buf out;

	assert_int_equal(arrow_export_schema(&schema, &s), 0);
	assert_int_equal(arrow_export_batch(&batch, &a), 0);
	moved_schema = *s.children[0];
	s.children[0]->release = NULL;
	moved = *a.children[0];
	a.children[0]->release = NULL;
	s.release(&s);
	a.release(&a);
	buf_init(&out);
	check_array(&moved_schema, &moved);
	put_element(&out, &moved_schema, &moved, 0);
	assert_string_equal(out.at, "\"sh\"");
	buf_free(&out);
	moved_schema.release(&moved_schema);
	moved.release(&moved);
}

static void check_refused(struct type type, struct value value)
{
	struct column column = { .name = "x", .type = type };
	struct schema schema = { 1, &column };
	struct batch batch = { .schema = &schema, .n_rows = 1, .values = &value, .other_row = -1 };
	struct ArrowArray a;

	assert_int_equal(arrow_export_batch(&batch, &a), -EOVERFLOW);
	assert_null(a.release);
}

static void test_refused(void **state)
{
	static const struct quantile late = { .estimate = (s128)1 << 63 };
	struct type sum = { TYPE_INT, 64, true, .is_wide = true };

	check_refused(sum, (struct value)INT(NINES + 1));
	check_refused(sum, (struct value)INT(-NINES - 1));
	check_refused((struct type){ TYPE_INT, 64 }, (struct value)INT((s128)1 << 64));
	check_refused((struct type){ TYPE_INT, 64 }, (struct value)INT(-1));
	check_refused((struct type){ TYPE_INT, 8, true }, (struct value)INT(128));
	check_refused((struct type){ TYPE_DURATION, 64 }, (struct value)INT((s128)1 << 63));
	check_refused((struct type){ TYPE_TIMESTAMP, 64 }, (struct value)INT((s128)1 << 63));
	check_refused((struct type){ TYPE_DURATION, 64 }, (struct value)REAL(1.5));
	check_refused((struct type){ TYPE_INT, 64 }, (struct value)TEXT("x"));
	check_refused((struct type){ .kind = TYPE_TEXT }, (struct value)INT(1));
	check_refused((struct type){ .kind = TYPE_BLOB, .bytes = 4 }, (struct value)TEXT("abc"));
	check_refused((struct type){ .kind = TYPE_NULL }, (struct value)INT(((s128)1 << 53) + 1));
	check_refused((struct type){ .kind = TYPE_HISTOGRAM, .of = TYPE_INT },
		      (struct value)INT(1));
	check_refused((struct type){ .kind = TYPE_QUANTILE, .of = TYPE_DURATION },
		      (struct value){ .kind = VALUE_QUANTILES, .n = 1, .quantiles = &late });
}

/* false: refused for want of memory. */
static bool export_some(void)
{
	static const struct column columns[] = {
		COLUMN("comm", { .kind = TYPE_TEXT, .bytes = 16 }),
		COLUMN("n", { TYPE_INT, 64 }),
		COLUMN("l", { .kind = TYPE_LADDER, .of = TYPE_DURATION }),
	};
	static const struct quantile rungs[] = { { 500000000, true, true, .hi = 9 } };
	struct schema schema = { 3, (struct column *)columns };
	struct value values[] = { TEXT("sh\xff"),
				  INT(7),
				  { .kind = VALUE_QUANTILES, .n = 1, .quantiles = rungs } };
	struct batch batch = { .schema = &schema, .n_rows = 1, .values = values, .other_row = -1 };
	struct ArrowSchema s;
	struct ArrowArray a;
	int errors[2];

	n_requests = 0;
	errors[0] = arrow_export_schema(&schema, &s);
	errors[1] = arrow_export_batch(&batch, &a);
	assert_int_equal(!errors[0], s.release != NULL);
	assert_int_equal(!errors[1], a.release != NULL);
	if (s.release)
		s.release(&s);
	if (a.release)
		a.release(&a);
	for (u32 i = 0; i < 2; i++)
		assert_true(errors[i] == 0 || errors[i] == -ENOMEM);
	return !errors[0] && !errors[1];
}

static void test_no_memory(void **state)
{
	s64 n_before = n_live;
	u32 n_all, n_done = 0;

	failing = 0;
	assert_true(export_some());
	assert_int_equal(n_live, n_before);
	n_all = n_requests;
	assert_true(n_all > 60);
	for (failing = 1; failing <= n_all; failing++) {
		n_done += export_some();
		assert_int_equal(n_live, n_before);
	}
	/* Of each the request for addresses is made again, for fewer. */
	assert_int_equal(n_done, 2);
	failing = 0;
}

static int count_before(void **state)
{
	*state = (void *)(uintptr_t)n_live;
	return 0;
}

static int count_after(void **state)
{
	return n_live != (s64)(uintptr_t)*state;
}

#define COUNTED(test) cmocka_unit_test_setup_teardown(test, count_before, count_after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COUNTED(test_words),	 COUNTED(test_reals), COUNTED(test_texts),
		COUNTED(test_special),	 COUNTED(test_empty), COUNTED(test_dictionary),
		COUNTED(test_clock),	 COUNTED(test_moved), COUNTED(test_refused),
		COUNTED(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
