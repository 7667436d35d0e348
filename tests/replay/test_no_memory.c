/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A host without memory: of all requests that a query makes, SQLite's included, the n-th fails, or
 * the n-th and all behind it, for n = 1, 2, ... until the query makes no more.  It ends with an
 * error or with its answer, never with the process, and gives back what it had.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay.h"

enum { N_EVENTS = 600, N_RECORDED = 60 };

/* --- Requests --- */

static bool is_counting, fails_from_there;
static u64 n_requests, failing; /* the number of the one that fails; 0: none does */
static s64 n_held;		/* pieces and mappings that were not given back */

static bool is_refused(void)
{
	if (!is_counting)
		return false;
	n_requests++;
	return failing && (fails_from_there ? n_requests >= failing : n_requests == failing);
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *at, size_t n);
void __real_free(void *at);
void *__real_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__real_mremap(void *at, size_t old, size_t n, int flags);
int __real_munmap(void *at, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *at, size_t n);
void __wrap_free(void *at);
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mremap(void *at, size_t old, size_t n, int flags);
int __wrap_munmap(void *at, size_t n);

void *__wrap_malloc(size_t n)
{
	void *at = is_refused() ? NULL : __real_malloc(n);

	n_held += at != NULL;
	return at;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *at = is_refused() ? NULL : __real_calloc(n, size);

	n_held += at != NULL;
	return at;
}

void *__wrap_realloc(void *at, size_t n)
{
	void *grown = is_refused() ? NULL : __real_realloc(at, n);

	n_held += !at && grown;
	return grown;
}

void __wrap_free(void *at)
{
	n_held -= at != NULL;
	__real_free(at);
}

void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	void *mapped = MAP_FAILED;

	errno = ENOMEM;
	if (!is_refused())
		mapped = __real_mmap64(at, n, protection, flags, fd, offset);
	n_held += mapped != MAP_FAILED;
	return mapped;
}

void *__wrap_mremap(void *at, size_t old, size_t n, int flags)
{
	errno = ENOMEM;
	return is_refused() ? MAP_FAILED : __real_mremap(at, old, n, flags);
}

int __wrap_munmap(void *at, size_t n)
{
	n_held--;
	return __real_munmap(at, n);
}

/* --- SQLite's, which the program that has SQLite may choose --- */

static sqlite3_mem_methods real;

static void *sqlite_malloc(int n)
{
	return is_refused() ? NULL : real.xMalloc(n);
}

static void *sqlite_realloc(void *at, int n)
{
	return is_refused() ? NULL : real.xRealloc(at, n);
}

static int take_sqlite(void **state)
{
	sqlite3_mem_methods mine;

	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real))
		return -1;
	mine = real;
	mine.xMalloc = sqlite_malloc;
	mine.xRealloc = sqlite_realloc;
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &mine))
		return -1;
	/* What it keeps for all connections is there before anything is counted. */
	return sqlite3_initialize();
}

/* --- Queries --- */

struct given {
	const char *name, *sql;
	bool is_files;
	enum engine_rows rows;
};

static const char recorded_csv[] = "recorded.csv";

static const struct given queries[] = {
	{ "file",
	  "SELECT k, max(s) FROM (SELECT k, upper(t) AS s FROM 'recorded.csv' "
	  "WHERE length(t) > 1) GROUP BY k ORDER BY 2 DESC, 1 LIMIT 5",
	  true },
	{ "windows",
	  "SELECT window_start, k, count(*), p50(m), top_k(t, 2), histogram(m), "
	  "approx_count_distinct(t), first(t), group_concat(t) FROM 'recorded.csv' "
	  "GROUP BY k WINDOW HOPPING 2s ADVANCE BY 1s",
	  true },
	{ "sessions",
	  "SELECT k, t, count(*), sum(m) FROM 'recorded.csv' GROUP BY k, t "
	  "WINDOW SESSION 20ms",
	  true },
	{ "joins",
	  "SELECT a.t, b.t, sum(a.m) OVER (PARTITION BY a.k ORDER BY a.time) FROM "
	  "'recorded.csv' a ASOF LEFT JOIN 'recorded.csv' b ON a.k = b.k AND "
	  "a.time >= b.time WHERE a.m % 3 <> 1",
	  true },
	{ "groups",
	  "SELECT f_u8, count(*) AS n, max(f_s64), p99(f_u32), top_k(name, 2) FROM " REPLAY_STREAM
	  " GROUP BY f_u8 HAVING n > 1 ORDER BY n DESC LIMIT 7" },
	{ "plain groups", "SELECT f_u8, count(*), histogram(f_u16) FROM " REPLAY_STREAM
			  " WHERE f_u16 > 9 GROUP BY f_u8" },
	{ "rows", "SELECT time, name, upper(path) FROM " REPLAY_STREAM " WHERE f_u8 > 3" },
	{ "raw rows",
	  "SELECT time, name, f_s64 + f_u8 FROM " REPLAY_STREAM
	  " WHERE f_u8 > 3 AND name LIKE '%a%'",
	  .rows = ROWS_OF_RAW_SCANS },
};

static bool write_recorded(void)
{
	FILE *file = fopen(recorded_csv, "w");

	if (!file)
		return false;
	/* Not in order: it is sorted in memory. */
	fputs("time,k,m,t\n", file);
	for (u32 i = 0; i < N_RECORDED; i++)
		fprintf(file, "%llu,%u,%u,text%u\n", (1000 + 10 * i + (i % 3) * 25) * 1000000ull,
			i % 5, i * 7 % 100, i % 17);
	return fclose(file) == 0;
}

/* true: it gave its answer. */
static bool run(struct replayer *engine, const struct given *q, const struct dataset *events,
		struct arena *arena, struct result *ret_result, const char **ret_error)
{
	const struct engine_options options = { .is_files = q->is_files, .rows = q->rows };
	s64 n_before = n_held;
	sqlite3_int64 n_sqlite = sqlite3_memory_used();
	bool is_good;

	n_requests = 0;
	is_counting = true;
	is_good = replayer_run(engine, q->sql, &options, events->events,
			       q->is_files ? 0 : events->n_events, arena, ret_result, ret_error);
	is_counting = false;
	if (n_held != n_before || sqlite3_memory_used() != n_sqlite)
		fail_msg("%s: request %llu of %llu: %lld pieces, %lld bytes of SQLite's remain",
			 q->name, (unsigned long long)failing, (unsigned long long)n_requests,
			 (long long)(n_held - n_before),
			 (long long)(sqlite3_memory_used() - n_sqlite));
	return is_good;
}

static void check(struct replayer *engine, const struct given *q, const struct dataset *events)
{
	struct arena kept = { 0 }, arena = { 0 };
	struct result expected, result;
	const char *error = NULL;
	/* Of a short run (sanitizers) each third. */
	u64 n_all, n_failed = 0, step = getenv("EBQL_SHORT") ? 3 : 1;

	assert_true(arena_reserve(&kept));
	failing = 0;
	if (!run(engine, q, events, &kept, &expected, &error))
		fail_msg("%s: %s", q->name, error);
	result_sort(&expected);
	n_all = n_requests;
	assert_true(n_all > 2);
	for (failing = 1 + fails_from_there; failing <= n_all; failing += step) {
		arena_init(&arena);
		assert_true(arena_reserve(&arena));
		if (!run(engine, q, events, &arena, &result, &error)) {
			n_failed++;
		} else {
			result_sort(&result);
			if (!result_equal(&expected, &result))
				fail_msg("%s: request %llu: another answer, and no error", q->name,
					 (unsigned long long)failing);
		}
		arena_free(&arena);
	}
	print_message("%s: %llu requests, %llu ended it%s\n", q->name, (unsigned long long)n_all,
		      (unsigned long long)n_failed, fails_from_there ? ", with all behind it" : "");
	assert_true(n_failed * step > n_all / 4);
	arena_free(&kept);
	failing = 0;
}

static void test_each(void **state)
{
	struct arena arena = { 0 };
	struct replayer *engine = replayer_open(&arena);
	char folder[] = "/tmp/ebql-no-memory-XXXXXX";
	struct dataset events;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_true(write_recorded());
	dataset_random(&events, &arena, 0, 1);
	events.n_events = MIN(events.n_events, (u32)N_EVENTS);
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		for (u32 from_there = 0; from_there < 2; from_there++) {
			fails_from_there = from_there;
			check(engine, &queries[i], &events);
		}
	}
	unlink(recorded_csv);
	assert_int_equal(chdir("/"), 0);
	rmdir(folder);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_each) };

	return cmocka_run_group_tests_name("no-memory", tests, take_sqlite, NULL);
}
