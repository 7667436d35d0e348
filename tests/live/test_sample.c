/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples: this test, as a workload, touches pages and goes to sleep a known number of times, and
 * keeps CPUs busy in functions that it knows; ebql counts that by perf events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"
#include "watch.h"

enum { PAGE_BYTES = 4096, PAGES = 3000 };
#define FIRST_PAGE 0x200000000000

/* --- The workload --- */

/* Where no page is, each touched page is one fault at its address. */
static void touch_pages(u8 *pages, u32 n)
{
	for (u32 i = 0; i < n; i++)
		((volatile u8 *)pages)[(size_t)i * PAGE_BYTES] = 1;
}

static int work(void)
{
	size_t bytes = (size_t)PAGES * PAGE_BYTES;
	u8 *pages = mmap((void *)FIRST_PAGE, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	char line[32];

	if (pages == MAP_FAILED || madvise(pages, bytes, MADV_NOHUGEPAGE))
		return 1;
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		touch_pages(pages, PAGES);
		madvise(pages, bytes, MADV_DONTNEED);
		work_answer("done\n");
	}
	return 0;
}

/* --- What ebql saw of it --- */

struct seen {
	struct watch watch;
	u64 n, as_expected, sum, n_rows;
};

static void take_row(void *context, const struct line *line)
{
	struct seen *s = context;

	s->n += line_number(line, "n");
	s->as_expected += line_number(line, "as_expected");
	s->sum += line_number(line, "total");
	s->n_rows++;
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct seen));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct seen *s = *state;

	watch_close(&s->watch);
	free(s);
	return 0;
}

#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)

/* Page i is touched once in each of two rounds, at i pages behind the first one. */
static void test_page_faults(void **state)
{
	struct seen *s = *state;

	watch_require();
	watch_open(&s->watch, take_row, s);
	watch_work(&s->watch, "pages");
	watch_ebql(
		&s->watch,
		"SELECT count(*) AS n, sum((addr - " TEXT(
			FIRST_PAGE) ") / 4096) AS total, "
				    "count(*) FILTER (WHERE user_mode AND period = 1) AS as_expected "
				    "FROM software:page-faults:1 WHERE pid = %d "
				    "AND addr >= " TEXT(FIRST_PAGE) " AND addr < " TEXT(
					    FIRST_PAGE) " + %d * 4096 "
							"WINDOW TUMBLING 10ms",
		s->watch.pid, PAGES);
	watch_tell(&s->watch, "touch", "done\n");
	watch_tell(&s->watch, "touch", "done\n");
	watch_end(&s->watch, 0);
	assert_int_equal(s->n, 2 * PAGES);
	assert_int_equal(s->as_expected, 2 * PAGES);
	assert_int_equal(s->sum, PAGES * (PAGES - 1));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_page_faults, setup, teardown),
	};

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
