/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whose events ebql survey says that they were, against a plain count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/survey.h"

enum { ROWS = 400, STREAMS = 3, KEYS = 7 };

/* Of its kind the row has key number k. */
static bool has_key(const struct who *row, enum who_kind kind, u32 k)
{
	char comm[17];

	snprintf(comm, sizeof(comm), "comm %u", k);
	return kind == WHO_COMM	 ? strcmp(row->comm, comm) == 0
	       : kind == WHO_PID ? row->pid == k
				 : row->call == (s64)k - 1;
}

static u64 n_of(const struct who *rows, u32 stream, enum who_kind kind, u32 k)
{
	u64 n = 0;

	for (u32 i = 0; i < ROWS; i++)
		n += rows[i].stream == stream && has_key(&rows[i], kind, k) ? rows[i].n : 0;
	return n;
}

static void test_most(void **state)
{
	static struct who rows[ROWS];

	srand(1);
	for (u32 i = 0; i < ROWS; i++) {
		/* The last stream has none. */
		rows[i].stream = (u32)rand() % (STREAMS - 1);
		snprintf(rows[i].comm, sizeof(rows[i].comm), "comm %u", (u32)rand() % KEYS);
		rows[i].pid = rand() % KEYS;
		rows[i].call = rand() % KEYS - 1;
		rows[i].n = (u64)rand() % 1000;
	}
	for (u32 kind = 0; kind < WHO_N; kind++) {
		struct who most[STREAMS] = { 0 };

		who_find(rows, ROWS, (enum who_kind)kind, most);
		for (u32 stream = 0; stream < STREAMS; stream++) {
			u64 n = 0;

			for (u32 k = 0; k < KEYS; k++) {
				u64 its = n_of(rows, stream, (enum who_kind)kind, k);

				n = its > n ? its : n;
				if (has_key(&most[stream], (enum who_kind)kind, k) &&
				    most[stream].n)
					assert_int_equal(most[stream].n, its);
			}
			assert_int_equal(most[stream].n, n);
		}
	}
}

static void test_none(void **state)
{
	struct who most[1] = { 0 };

	who_find(NULL, 0, WHO_PID, most);
	assert_int_equal(most[0].n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("survey", tests, NULL, NULL);
}
