/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The arena, the buffer, vectors, UTF-8, did-you-mean.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/utf8.h"
#include "base/vec.h"

static void test_arena(void **state)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, 4096, 65536, 65537, 1u << 20, 20u << 20 };
	struct arena arena;
	u8 *at[ARRAY_SIZE(sizes)];
	size_t i, j;

	(void)state;
	arena_init(&arena);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		at[i] = arena_alloc(&arena, sizes[i]);
		assert_non_null(at[i]);
		assert_int_equal((uintptr_t)at[i] % 16, 0);
		for (j = 0; j < sizes[i]; j++)
			assert_int_equal(at[i][j], 0);
		memset(at[i], (int)i + 1, sizes[i]);
	}
	/* Nothing written later touched what was given earlier. */
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (j = 0; j < sizes[i]; j++)
			if (at[i][j] != i + 1)
				fail_msg("piece %zu, byte %zu", i, j);
	arena_free(&arena);
	assert_null(arena.chunk);
}

static u64 resident_bytes(void)
{
	char line[128];
	u64 pages = 0;
	int fd = open("/proc/self/statm", O_RDONLY);
	ssize_t n = read(fd, line, sizeof(line) - 1);

	close(fd);
	assert_true(n > 0);
	line[n] = '\0';
	assert_non_null(strchr(line, ' '));
	pages = strtoull(strchr(line, ' '), NULL, 10);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

/* Memory is not paid for until it is touched; a sanitizer's shadow of it is an eighth. */
static void test_arena_resident(void **state)
{
	u64 before = resident_bytes();
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_non_null(arena_alloc(&arena, 256u << 20));
	assert_true(resident_bytes() - before < 64u << 20);
	arena_free(&arena);
}

/* Where a process may have no more: it says what for, and ends. */
static void test_arena_full(void **state)
{
	const struct rlimit limit = { 64 << 20, 64 << 20 };
	struct arena arena;
	struct rlimit kept;
	int pipes[2], status;
	struct buf said;
	pid_t pid;

#ifdef __SANITIZE_ADDRESS__
	print_message("SKIP: a sanitizer takes all addresses\n");
	skip();
#endif
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDERR_FILENO);
		setrlimit(RLIMIT_AS, &limit);
		getrlimit(RLIMIT_AS, &kept);
		if (kept.rlim_cur != limit.rlim_cur)
			_exit(77);
		arena_init(&arena);
		if (arena_reserve(&arena))
			for (u32 i = 0; i < 256; i++)
				arena_alloc(&arena, 1 << 20);
		_exit(0);
	}
	close(pipes[1]);
	buf_init(&said);
	assert_int_equal(buf_read(&said, pipes[0], 1 << 20), 0);
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("SKIP: an emulator does not limit memory\n");
		skip();
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	buf_putc(&said, '\0');
	if (strncmp(said.at, "ebql: no memory for what a query is made of: it has taken ", 58) != 0)
		fail_msg("%s", said.at);
	assert_non_null(strstr(said.at, " KiB, and "));
	assert_non_null(strstr(said.at, "\n  hint: write a query this large as several, or "));
	buf_free(&said);
}

static void test_arena_text(void **state)
{
	struct arena arena;
	char *text;

	(void)state;
	arena_init(&arena);
	assert_string_equal(arena_strdup(&arena, "abc"), "abc");
	assert_string_equal(arena_strndup(&arena, "abcdef", 2), "ab");
	assert_string_equal(arena_strndup(&arena, "", 0), "");
	assert_string_equal(arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
	text = arena_printf(&arena, "%0200000d", 5);
	assert_int_equal(strlen(text), 200000);
	assert_int_equal(text[199999], '5');
	assert_int_equal(text[0], '0');
	arena_free(&arena);
}

static void test_vec(void **state)
{
	VEC(u32) numbers = { 0 };
	struct arena arena;
	u32 i;

	(void)state;
	arena_init(&arena);
	for (i = 0; i < 10000; i++)
		vec_push(&arena, &numbers, i * 3);
	assert_int_equal(numbers.n, 10000);
	for (i = 0; i < 10000; i++)
		assert_int_equal(numbers.at[i], i * 3);
	arena_free(&arena);
}

static void test_buf(void **state)
{
	struct buf buf = { 0 };
	const char *at;
	u32 i;

	(void)state;
	/* A zeroed one works as an initialised one. */
	buf_puts(&buf, "x");
	assert_string_equal(buf.at, "x");
	buf_free(&buf);
	buf_init(&buf);
	assert_string_equal(buf.at, "");
	buf_reset(&buf);
	assert_string_equal(buf.at, "");
	buf_put(&buf, NULL, 0);
	buf_puts(&buf, "abc");
	buf_putc(&buf, 'd');
	buf_fill(&buf, '.', 3);
	buf_put(&buf, "e\0f", 3);
	buf_printf(&buf, "%s%d", "g", 12);
	assert_int_equal(buf.n, 13);
	assert_memory_equal(buf.at, "abcd...e\0fg12", 14);
	for (i = 0; i < 1000; i++)
		buf_printf(&buf, "%08u", i);
	assert_int_equal(buf.n, 8013);
	assert_string_equal(buf.at + 8005, "00000999");
	at = buf.at;
	buf_reset(&buf);
	assert_int_equal(buf.n, 0);
	buf_fill(&buf, 'x', 8013);
	assert_ptr_equal(buf.at, at);
	buf_free(&buf);
}

static void test_numbers(void **state)
{
	static const u64 unsigneds[] = {
		0, 1, 9, 10, 99, 12345, UINT32_MAX, INT64_MAX, UINT64_MAX
	};
	static const s64 signeds[] = { 0, -1, 1, INT64_MIN, INT64_MAX, -10, 1234567890123 };
	struct buf buf;
	char text[32];
	u32 i;

	(void)state;
	buf_init(&buf);
	for (i = 0; i < ARRAY_SIZE(unsigneds); i++) {
		buf_reset(&buf);
		buf_put_u64(&buf, unsigneds[i]);
		snprintf(text, sizeof(text), "%llu", (unsigned long long)unsigneds[i]);
		assert_string_equal(buf.at, text);
	}
	for (i = 0; i < ARRAY_SIZE(signeds); i++) {
		buf_reset(&buf);
		buf_put_s128(&buf, signeds[i]);
		buf_putc(&buf, ' ');
		buf_put_s128(&buf, signeds[i]);
		snprintf(text, sizeof(text), "%lld", (long long)signeds[i]);
		assert_memory_equal(buf.at, text, strlen(text));
		assert_string_equal(buf.at + strlen(text) + 1, text);
	}
	buf_reset(&buf);
	buf_put_s128(&buf, (s128)UINT64_MAX + 1);
	assert_string_equal(buf.at, "18446744073709551616");
	buf_reset(&buf);
	buf_put_s128(&buf, (s128)((u128)1 << 127));
	assert_string_equal(buf.at, "-170141183460469231731687303715884105728");
	buf_reset(&buf);
	buf_put_s128(&buf, (s128)(((u128)1 << 127) - 1));
	assert_string_equal(buf.at, "170141183460469231731687303715884105727");
	buf_free(&buf);
}

#define REPLACED "\xEF\xBF\xBD"

static void test_json(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *json;
	} cases[] = {
		{ "", 0, "\"\"" },
		{ "abc", 3, "\"abc\"" },
		{ "\"\\/", 3, "\"\\\"\\\\/\"" },
		{ "\b\t\n\f\r\x01\x1f\x7f", 8, "\"\\b\\t\\n\\f\\r\\u0001\\u001f\\u007f\"" },
		{ "a\0b", 3, "\"a\\u0000b\"" },
		{ "gr\xC3\xB6\xC3\x9F", 6, "\"gr\xC3\xB6\xC3\x9F\"" },
		{ "\xE6\x97\xA5\xF0\x9F\x90\x9D", 7, "\"\xE6\x97\xA5\xF0\x9F\x90\x9D\"" },
		{ "\xFF", 1, "\"" REPLACED "\"" },
		{ "\xC3", 1, "\"" REPLACED "\"" },
		{ "\xC3(", 2, "\"" REPLACED "(\"" },
		{ "\xC0\x80", 2, "\"" REPLACED REPLACED "\"" },
		{ "\xE0\x80\x80", 3, "\"" REPLACED REPLACED REPLACED "\"" },
		{ "\xED\xA0\x80", 3, "\"" REPLACED REPLACED REPLACED "\"" },
		{ "\xF4\x90\x80\x80", 4, "\"" REPLACED REPLACED REPLACED REPLACED "\"" },
		{ "a\xC2\x9B\xC2\xA0", 5, "\"a\\u009b\xC2\xA0\"" },
		{ "\xF4\x8F\xBF\xBF", 4, "\"\xF4\x8F\xBF\xBF\"" },
		{ "a\xC2\x9B\xC2\xA0", 5, "\"a\\u009b\xC2\xA0\"" },
	};
	struct buf buf;
	u32 i;

	(void)state;
	buf_init(&buf);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&buf);
		buf_put_json_string(&buf, cases[i].text, cases[i].n);
		assert_string_equal(buf.at, cases[i].json);
	}
	buf_reset(&buf);
	buf_put_json_exact(&buf, "\xffz", 2);
	assert_string_equal(buf.at, "\"\\udcffz\"");
	buf_reset(&buf);
	buf_put_json_exact(&buf, "a\xFF\n\xC3", 4);
	assert_string_equal(buf.at, "\"a\\udcff\\n\\udcc3\"");
	buf_reset(&buf);
	buf_put_quoted(&buf, '\'', "it's\"", 5);
	assert_string_equal(buf.at, "'it''s\"'");
	buf_free(&buf);
}

/* Every 3-byte string, against the definition of UTF-8. */
static void test_utf8(void **state)
{
	u32 code;

	(void)state;
	for (code = 0; code < 1u << 24; code++) {
		u32 a = code >> 16, b = code >> 8 & 0xFF, c = code & 0xFF;
		char text[3] = { (char)a, (char)b, (char)c };
		bool has_b = (b & 0xC0) == 0x80, has_c = (c & 0xC0) == 0x80;
		u32 two = (a & 0x1F) << 6 | (b & 0x3F);
		u32 three = (a & 0xF) << 12 | (b & 0x3F) << 6 | (c & 0x3F);
		size_t length = 0;

		if (a < 0x80)
			length = 1;
		else if (a >> 5 == 6 && has_b && two >= 0x80)
			length = 2;
		else if (a >> 4 == 14 && has_b && has_c && three >= 0x800 && three >> 11 != 27)
			length = 3;
		if (utf8_length(text, 3) != length)
			fail_msg("%06x", code);
	}
}

static void test_flush(void **state)
{
	int ends[2], status;
	struct buf buf;
	char *got;
	size_t n = 300000, done = 0;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	/* Larger than the pipe, and not blocking: the rest must wait, not get lost. */
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	child = fork();
	assert_true(child >= 0);
	buf_init(&buf);
	if (!child) {
		u32 i;

		for (i = 0; i < n; i++)
			buf_putc(&buf, (char)i);
		_exit(buf_flush(&buf, ends[1], NULL) || buf.n);
	}
	close(ends[1]);
	got = malloc(n + 1);
	assert_non_null(got);
	for (;;) {
		ssize_t part = read(ends[0], got + done, n + 1 - done);

		if (part <= 0)
			break;
		done += (size_t)part;
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(done, n);
	while (done--)
		assert_int_equal(got[done], (char)done);
	free(got);
	close(ends[0]);

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	buf_puts(&buf, "x");
	assert_int_equal(buf_flush(&buf, ends[1], NULL), -EPIPE);
	assert_int_equal(buf.n, 0);
	close(ends[1]);
	buf_puts(&buf, "x");
	assert_int_equal(buf_flush(&buf, -1, NULL), -EBADF);
	buf_free(&buf);
}

static const char *best_of(const char *wanted, const char *const *candidates, u32 n)
{
	struct suggest suggest;
	u32 i;

	suggest_init(&suggest, wanted);
	for (i = 0; i < n; i++)
		suggest_offer(&suggest, candidates[i]);
	return suggest_best(&suggest);
}

static void test_suggest(void **state)
{
	static const char *const names[] = {
		"pid",	    "tid",	 "comm",    "count",
		"quantile", "quantiles", "latency", "sys_enter_pread64",
		"cpu",	    "FROM",	 "x"
	};
	static const struct {
		const char *wanted, *best;
	} cases[] = {
		{ "pidd", "pid" },
		{ "pdi", "pid" },
		{ "PID", "pid" },
		{ "cmom", "comm" },
		{ "form", "FROM" },
		{ "quant", "quantile" },
		{ "latncy", "latency" },
		{ "latency_ns", "latency" },
		{ "sys_enter_pread", "sys_enter_pread64" },
		{ "conut", "count" },
		{ "coutn", "count" },
		{ "zzz", NULL },
		{ "y", NULL },
		{ "", NULL },
		{ "qu", NULL },
		{ "quantilesx", "quantiles" },
		{ "sid", "pid" },
		{ "completely_else", NULL },
	};
	char *is_long = malloc(1000);
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *best = best_of(cases[i].wanted, names, ARRAY_SIZE(names));

		if (!best != !cases[i].best || (best && strcmp(best, cases[i].best)))
			fail_msg("%s: %s", cases[i].wanted, best ? best : "nothing");
	}
	assert_non_null(is_long);
	memset(is_long, 'a', 999);
	is_long[999] = '\0';
	assert_null(best_of(is_long, names, ARRAY_SIZE(names)));
	assert_null(best_of("a", (const char *const *)&is_long, 1));
	free(is_long);
}

static void test_bug(void **state)
{
	int ends[2], status;
	char text[256];
	size_t n = 0;
	ssize_t part;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		BUG_ON(1 + 1 == 2);
		_exit(0);
	}
	close(ends[1]);
	while ((part = read(ends[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)part;
	text[n] = '\0';
	assert_non_null(strstr(text, "ebql: bug at "));
	assert_non_null(strstr(text, "test_base.c:"));
	assert_non_null(strstr(text, "1 + 1 == 2"));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	close(ends[0]);
}

static void test_clocks(void **state)
{
	u64 first = base_monotonic_ns(), second = base_monotonic_ns();

	(void)state;
	assert_true(second >= first);
	assert_true(base_realtime_ns() > 1600000000000000000u);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena),	   cmocka_unit_test(test_arena_resident),
		cmocka_unit_test(test_arena_full), cmocka_unit_test(test_arena_text),
		cmocka_unit_test(test_vec),	   cmocka_unit_test(test_buf),
		cmocka_unit_test(test_numbers),	   cmocka_unit_test(test_json),
		cmocka_unit_test(test_utf8),	   cmocka_unit_test(test_flush),
		cmocka_unit_test(test_suggest),	   cmocka_unit_test(test_bug),
		cmocka_unit_test(test_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
