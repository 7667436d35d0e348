/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Starts that wait: tables made by hand, in plain memory and in a map of the kernel.
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

#include "drain/pair.h"
#include "sys/sys.h"

#define N_SLOTS 8192u

struct tables {
	struct phys phys;
	struct phys_join joins[3];
	u8 *at;
	u64 n_waiting, n_before; /* of PAIR JOINs: all, and those from before 500 */
};

static void lay_out(struct tables *t)
{
	static const u32 slot_bytes[] = { 24, 72, 40 };
	u64 at = 0;

	memset(t, 0, sizeof(*t));
	for (u32 i = 0; i < ARRAY_SIZE(t->joins); i++) {
		struct phys_join *join = &t->joins[i];

		join->kind = i == 0 ? PAIR_THREAD : PAIR_TABLE;
		join->join = i == 2 ? JOIN_ASOF : JOIN_PAIR;
		join->slot_bytes = slot_bytes[i];
		join->n_slots = N_SLOTS >> i;
		join->offset_bytes = at;
		join->table_bytes =
			PAIR_HEADER_BYTES + (u64)(join->n_slots + PAIR_WAYS - 1) * join->slot_bytes;
		at = ALIGN_UP(at + join->table_bytes, 64);
	}
	t->phys.joins = t->joins;
	t->phys.n_joins = ARRAY_SIZE(t->joins);
	t->phys.pair_bytes = at;
}

static void put(struct tables *t, u32 join, u32 slot, u64 state, u64 time_ns)
{
	const struct phys_join *j = &t->joins[join];
	u64 *words =
		(u64 *)(t->at + j->offset_bytes + PAIR_HEADER_BYTES + (u64)slot * j->slot_bytes);
	bool waits = state == 2 || (j->kind == PAIR_THREAD && state == 1 && time_ns != 0);

	/* Every third is none of this run, and each of another one, too. */
	words[PAIR_STATE_BYTES / 8] = state | (slot % 3 ? 8ull : 4ull) << (8 * PAIR_OTHERS_BYTES);
	words[PAIR_TIME_BYTES / 8] = time_ns;
	memset(words + 2, 0xff, j->slot_bytes - 16); /* keys and columns mean nothing here */
	if (!waits || j->join != JOIN_PAIR || slot % 3 == 0)
		return;
	t->n_waiting++;
	t->n_before += time_ns < 500;
}

static void fill(struct tables *t)
{
	u64 random = 12345;

	memset(t->at, 0xff, PAIR_HEADER_BYTES);
	for (u32 join = 0; join < t->phys.n_joins; join++) {
		u32 n = t->joins[join].n_slots + PAIR_WAYS - 1;

		for (u32 slot = 0; slot < n; slot++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			if (random >> 62 && slot && slot != n - 1)
				continue;
			/* Both ends of each table are in use. */
			put(t, join, slot, slot ? random >> 40 & 3 : 2, 1 + (random >> 32) % 1000);
		}
	}
	put(t, 0, 1, 1, 0); /* an owned slot whose thread is in no call */
	assert_true(t->n_before > 100 && t->n_before < t->n_waiting - 100);
}

static s64 count_waiting(const struct phys *phys, const u8 *pairs, int fd, u64 from_ns,
			 u64 before_ns)
{
	s64 sum = 0, n = 0;

	for (u32 i = 0; i < phys->n_joins && n >= 0; i++) {
		if (phys->joins[i].join != JOIN_PAIR)
			continue;
		n = pair_count_waiting(&phys->joins[i], pairs, fd,
				       &(struct pair_which){ .from_ns = from_ns,
							     .before_ns = before_ns,
							     .others = 4 });
		sum += n;
	}
	return n < 0 ? n : sum;
}

static void expect(const struct tables *t, const u8 *pairs, int fd)
{
	assert_int_equal(count_waiting(&t->phys, pairs, fd, 0, UINT64_MAX), t->n_waiting);
	assert_int_equal(count_waiting(&t->phys, pairs, fd, 0, 500), t->n_before);
	assert_int_equal(count_waiting(&t->phys, pairs, fd, 0, 0), 0);
}

static void test_memory(void **state)
{
	struct tables t;

	lay_out(&t);
	t.at = calloc(1, t.phys.pair_bytes);
	assert_non_null(t.at);
	assert_int_equal(count_waiting(&t.phys, t.at, -1, 0, UINT64_MAX), 0);
	fill(&t);
	expect(&t, t.at, -1);
	assert_int_equal(count_waiting(&t.phys, NULL, -1, 0, UINT64_MAX), 0);
	free(t.at);
}

static void test_map(void **state)
{
	struct tables t;
	int fd;

	lay_out(&t);
	fd = sys_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, (u32)t.phys.pair_bytes, 1, BPF_F_MMAPABLE);
	if (fd < 0) {
		printf("SKIP: no BPF map: %s\n", strerror(-fd));
		skip();
	}
	t.at = mmap(NULL, t.phys.pair_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(t.at != MAP_FAILED);
	fill(&t);
	expect(&t, NULL, fd);
	munmap(t.at, t.phys.pair_bytes);
	close(fd);
	assert_int_equal(count_waiting(&t.phys, NULL, fd, 0, 0), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_map),
	};

	return cmocka_run_group_tests_name("run-pair", tests, NULL, NULL);
}
