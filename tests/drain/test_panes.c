/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Panes on memory made by hand: windows of random panes, pushed and expired in random
 * order, against a model that keeps every pane's events; the "(other)" rule over panes
 * by constructed cases; and that many panes cost no allocation and little time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake.h"
#include "drain/panes.h"

#define KEYS	  14u
#define CPUS	  2u
#define PANES_MAX 400u
#define CELLS_MAX 64u

static const struct scheme log2_scheme = { .kind = SCHEME_LOG2 };

/* One group, or a sum of all. */
struct sums {
	u64 count, min, max;
	u64 sum;
	u64 cells[CELLS_MAX + 1];
};

struct model_pane {
	u64 position;
	struct sums truth[KEYS][CPUS];
	bool is_live[KEYS][CPUS]; /* with `cpu` no key: of CPU 0 */
	bool is_closed[CPUS];
	u64 events;
};

struct bench {
	struct fake fake;
	struct panes panes;
	bool has_slice_key, is_chunked;
	s32 count, histogram;
	u64 random;
	struct model_pane model[PANES_MAX];
	u32 first, n; /* model[first .. n - 1] are kept */
	u32 n_fresh;
	bool fresh_stay;
};

static u32 draw(struct bench *b, u32 below)
{
	b->random = b->random * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)((b->random >> 33) % below);
}

static void bench_open(struct bench *b, u64 seed, u32 max_groups, u32 n_panes)
{
	struct fake *f = &b->fake;

	memset(b, 0, sizeof(*b));
	b->random = seed;
	b->has_slice_key = draw(b, 2);
	b->is_chunked = draw(b, 2);
	fake_init(f, STATE_TABLE, CPUS, 2, max_groups);
	fake_key(f, type_int(64, false));
	if (b->has_slice_key)
		fake_slice_key(f);
	b->count = fake_cell(f, CELL_COUNT, false, false);
	b->histogram = fake_histogram(f, &log2_scheme, b->is_chunked ? 8 : 0, 1 << 16, false);
	fake_aggregate(f, AGGREGATE_COUNT, b->count, -1);
	fake_aggregate(f, AGGREGATE_SUM, b->count, b->histogram + 1);
	fake_aggregate(f, AGGREGATE_MIN, b->count, b->histogram + 2);
	fake_aggregate(f, AGGREGATE_MAX, b->count, b->histogram + 3);
	fake_ready(f);
	assert_true(scheme_n_cells(&log2_scheme) <= CELLS_MAX + 1);
	assert_int_equal(panes_open(&b->panes, &f->phys, n_panes, &f->arena), 0);
}

static void bench_close(struct bench *b)
{
	panes_close(&b->panes);
	fake_free(&b->fake);
}

static void sums_add(struct sums *to, const struct sums *from)
{
	if (!from->count)
		return;
	to->min = to->count ? MIN(to->min, from->min) : from->min;
	to->max = to->count ? MAX(to->max, from->max) : from->max;
	to->count += from->count;
	to->sum += from->sum;
	for (u32 i = 0; i <= CELLS_MAX; i++)
		to->cells[i] += from->cells[i];
}

static void event(struct bench *b, struct model_pane *pane, u64 key, u32 cpu, u32 level, u64 value)
{
	struct sums one = { .count = 1, .min = value, .max = value, .sum = value };
	u8 *cells = fake_row(&b->fake, 0, cpu, level, &key);

	one.cells[scheme_cell(&log2_scheme, value)] = 1;
	sums_add(&pane->truth[key][b->has_slice_key ? cpu : 0], &one);
	fake_update(&b->fake, cells, b->count, 0);
	fake_histogram_update(&b->fake, cells, 0, cpu, level, b->histogram, value);
	fake_counters(&b->fake, 0, cpu, level)[COUNTER_EVENTS]++;
	pane->events++;
}

/* Which groups are exact in the pane, as its merge says. */
static void note_exact(struct bench *b, struct model_pane *pane)
{
	const struct merge *merge = &b->panes.pane;

	for (u32 i = 1; i < merge->n_entries; i++) {
		const struct merge_entry *entry = merge_entry(merge, i);

		if (!entry->is_folded)
			pane->is_live[entry->words[0]][b->has_slice_key ? entry->words[1] : 0] =
				true;
	}
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		pane->is_closed[cpu] = b->has_slice_key ? merge->cpu_closed[cpu] : merge->is_closed;
}

static struct model_pane *begin_pane(struct bench *b, u64 position)
{
	struct model_pane *pane = &b->model[b->n++];

	assert_true(b->n <= PANES_MAX);
	memset(pane, 0, sizeof(*pane));
	pane->position = position;
	return pane;
}

static void end_pane(struct bench *b, struct model_pane *pane)
{
	/* One in the pane, and one at each of its ends, which its neighbour has as well. */
	struct account account = { .lost[LOSS_MISSED] = 3 };
	const struct account repeated = { .lost[LOSS_MISSED] = 1 };
	u64 counters[COUNTER_N] = { 0 };

	merge_reset(&b->panes.pane);
	assert_int_equal(drain_copy(&b->fake.drain, b->fake.state, 0, -1, &b->panes.pane, counters),
			 0);
	account.events = counters[COUNTER_EVENTS];
	account.lost[LOSS_TABLE_FULL] = counters[COUNTER_TABLE_FULL];
	assert_int_equal(
		panes_push(&b->panes, pane->position, 1000 * pane->position, &account, &repeated),
		0);
	note_exact(b, pane);
	b->n_fresh++;
}

static void expire(struct bench *b, u64 position)
{
	u32 n_staying = b->fresh_stay ? b->n_fresh : 0;

	panes_expire(&b->panes, position, b->fresh_stay);
	while (b->n - b->first > n_staying && b->model[b->first].position <= position)
		b->first++;
	b->n_fresh = MIN(b->n_fresh, b->n - b->first);
}

/* Exact in each pane: it has a row there, or the pane would have had room for one. */
static bool is_exact(const struct bench *b, u32 key, u32 cpu, bool *ret_is_there)
{
	*ret_is_there = false;
	for (u32 i = b->first; i < b->n; i++) {
		const struct model_pane *pane = &b->model[i];

		*ret_is_there |= pane->is_live[key][cpu];
		if (!pane->is_live[key][cpu] && pane->is_closed[cpu])
			return false;
	}
	return true;
}

static void visit(void *context, u32 cell, u64 count)
{
	((struct sums *)context)->cells[cell] = count;
}

static void read_entry(const struct bench *b, u32 number, struct sums *ret_sums)
{
	const struct merge *merge = &b->fake.merge;
	const u64 *cells = merge_cells(merge, merge_entry(merge, number));

	memset(ret_sums, 0, sizeof(*ret_sums));
	ret_sums->count = (u64)fake_value(&b->fake, number, 1 + b->has_slice_key).integer;
	ret_sums->sum = (u64)fake_value(&b->fake, number, 2 + b->has_slice_key).integer;
	ret_sums->min = (u64)fake_value(&b->fake, number, 3 + b->has_slice_key).integer;
	ret_sums->max = (u64)fake_value(&b->fake, number, 4 + b->has_slice_key).integer;
	assert_int_equal(
		merge_histogram(merge, cells, &merge->cells[b->histogram], visit, ret_sums), 0);
}

static void check_groups(struct bench *b, struct sums *ret_total)
{
	const struct merge *merge = &b->fake.merge;
	u32 n_live = merge->has_other, n_want = merge->has_other, at;
	struct sums have, want;
	bool is_there;

	memset(ret_total, 0, sizeof(*ret_total));
	for (at = merge_seek(merge, 1); at != MERGE_END && at != MERGE_OTHER;
	     at = merge_seek(merge, at + 1)) {
		const struct merge_entry *entry = merge_entry(merge, at);
		u32 cpu = b->has_slice_key ? (u32)entry->words[1] : 0;

		assert_true(is_exact(b, (u32)entry->words[0], cpu, &is_there));
		memset(&want, 0, sizeof(want));
		for (u32 i = b->first; i < b->n; i++)
			sums_add(&want, &b->model[i].truth[entry->words[0]][cpu]);
		read_entry(b, at, &have);
		assert_memory_equal(&have, &want, sizeof(have));
		sums_add(ret_total, &have);
		n_live++;
	}
	for (u32 key = 0; key < KEYS; key++)
		for (u32 cpu = 0; cpu < (b->has_slice_key ? CPUS : 1); cpu++)
			n_want += is_exact(b, key, cpu, &is_there) && is_there;
	assert_int_equal(n_live, n_want);
	assert_int_equal(n_live, merge->n_live);
	memset(&have, 0, sizeof(have));
	if (merge->has_other)
		read_entry(b, MERGE_OTHER, &have);
	sums_add(ret_total, &have);
	/* An event is there because a slice had no room for it, or because it was folded. */
	assert_int_equal(have.count, b->panes.kept.lost[LOSS_TABLE_FULL] + merge->n_folded);
}

static void check_window(struct bench *b)
{
	struct sums have, want = { 0 };
	struct account fresh;
	u32 n_kept;
	u64 start_ns = 7, events = 0, n_fresh_events = 0;

	merge_reset(&b->fake.merge);
	assert_int_equal(panes_merge(&b->panes, &b->fake.merge, &fresh, &start_ns), 0);
	check_groups(b, &have);
	for (u32 i = b->first; i < b->n; i++) {
		for (u32 key = 0; key < KEYS; key++)
			for (u32 cpu = 0; cpu < CPUS; cpu++)
				sums_add(&want, &b->model[i].truth[key][cpu]);
		events += b->model[i].events;
		n_fresh_events += i >= b->n - b->n_fresh ? b->model[i].events : 0;
	}
	assert_memory_equal(&have, &want, sizeof(have));
	assert_int_equal(b->panes.kept.events, events);
	n_kept = b->n - b->first;
	assert_int_equal(b->panes.kept.lost[LOSS_MISSED], n_kept ? 2 * n_kept + 1 : 0);
	assert_int_equal(fresh.events, n_fresh_events);
	assert_int_equal(fresh.lost[LOSS_MISSED], 3 * b->n_fresh);
	assert_int_equal(start_ns, b->first < b->n ? 1000 * b->model[b->first].position : 7);
	b->n_fresh = 0;
}

/* --- Random panes --- */

static void random_pane(struct bench *b, u64 position, u32 n_keys)
{
	struct model_pane *pane = begin_pane(b, position);
	u32 n = draw(b, 4) ? draw(b, 40) : 0;

	/* One after the other: arguments are evaluated in an order of the compiler's. */
	for (u32 i = 0; i < n; i++) {
		u64 value = draw(b, 8) ? draw(b, 1000) : (u64)draw(b, 1000) << 40;
		u32 level = draw(b, 2), cpu = draw(b, CPUS);

		event(b, pane, draw(b, n_keys), cpu, level, value);
	}
	end_pane(b, pane);
}

static void test_random(void **state)
{
	static struct bench b;
	u32 n_other = 0, n_whole = 0;

	for (u64 seed = 1; seed <= 300; seed++) {
		/* Few groups overflow in nearly every pane, many in none, 10 now and then. */
		static const u32 max_groups[] = { 4, 10, 10, 16 };
		static const u32 sizes[] = { 1, 2, 3, 5, 10, 16, 40, 100 };
		u32 size = sizes[seed % ARRAY_SIZE(sizes)], n_keys;
		u64 position = 100;

		bench_open(&b, seed, max_groups[seed / 8 % 4], size);
		n_keys = 8 + draw(&b, KEYS - 8 + 1);
		b.fresh_stay = seed % 2;
		for (u32 i = 0; i < 3 * size + 20; i++) {
			position += 1 + (draw(&b, 8) ? 0 : draw(&b, 1 + size));
			expire(&b, position - size);
			random_pane(&b, position, n_keys);
			if (!draw(&b, 20))
				expire(&b, position); /* all of them */
			/* They stay where at most one lies between two windows. */
			if (draw(&b, 3) || (b.fresh_stay && b.n_fresh > 1))
				check_window(&b);
			n_other += b.fake.merge.has_other;
			n_whole += !b.fake.merge.has_other && b.fake.merge.n_live > 0;
		}
		bench_close(&b);
	}
	assert_true(n_other > 1000 && n_whole > 1000);
}

/* --- The "(other)" rule, case by case --- */

static void fill_pane(struct bench *b, u64 position, u32 first_key, u32 n_keys)
{
	struct model_pane *pane = begin_pane(b, position);

	for (u32 key = first_key; key < first_key + n_keys; key++)
		event(b, pane, key, 0, 0, 5);
	end_pane(b, pane);
}

static bool has_group(const struct bench *b, u64 key)
{
	const struct merge *merge = &b->fake.merge;

	for (u32 i = 1; i < merge->n_entries; i++)
		if (!merge_entry(merge, i)->is_folded && merge_entry(merge, i)->words[0] == key)
			return true;
	return false;
}

static void test_other(void **state)
{
	static struct bench b;

	/* Room for 4 groups a slice.  No overflow: all are exact, though in different panes. */
	bench_open(&b, 2, 4, 3);
	fill_pane(&b, 1, 0, 3);
	fill_pane(&b, 2, 2, 4);
	check_window(&b);
	assert_false(b.fake.merge.has_other);
	assert_int_equal(b.fake.merge.n_live, 6);
	/* The third holds 3, 4, 5, 6 and drops 7: what it does not hold is exact nowhere. */
	fill_pane(&b, 3, 3, 5);
	check_window(&b);
	assert_true(b.fake.merge.has_other);
	assert_true(has_group(&b, 3) && has_group(&b, 5) && has_group(&b, 6));
	assert_false(has_group(&b, 0) || has_group(&b, 2) || has_group(&b, 7));
	/* 0, 1 once, 2 twice: known events which no slice counted as dropped. */
	assert_int_equal(b.fake.merge.n_folded, 4);
	/* And when that pane has left, so has its overflow. */
	expire(&b, 3);
	fill_pane(&b, 4, 0, 4);
	check_window(&b);
	assert_false(b.fake.merge.has_other);
	assert_int_equal(b.fake.merge.n_live, 4);
	bench_close(&b);
}

/* More panes than a window has, which only a clock set back again and again makes. */
static void test_too_many(void **state)
{
	static struct bench b;
	u32 n_kept;

	bench_open(&b, 3, 16, 4);
	for (u64 i = 1; i <= 100; i++)
		fill_pane(&b, i, 0, 2);
	n_kept = (u32)b.panes.n_kept;
	assert_true(n_kept >= 4 && n_kept < 100);
	b.first = 100 - n_kept;
	b.n_fresh = n_kept;
	check_window(&b);
	bench_close(&b);
}

static u64 packed_bytes(const struct panes *panes)
{
	u64 n_bytes = 0;

	for (u32 i = 0; i < panes->n_ring; i++)
		n_bytes += panes->blocks[i].pack.used_bytes;
	return n_bytes;
}

/* No room for more panes: their groups are in "(other)", and the memory stays what it is. */
static void test_memory(void **state)
{
	static struct bench b;

	for (u64 seed = 1; seed < 20; seed++) {
		u32 n_other = 0, n_whole = 0;
		u64 small_bytes;

		bench_open(&b, seed, KEYS, 10);
		for (u64 i = 1; i <= 10; i++)
			random_pane(&b, i, 2);
		small_bytes = packed_bytes(&b.panes);
		b.panes.max_bytes = 2 * small_bytes;
		for (u64 i = 11; i <= 80; i++) {
			expire(&b, i - 10);
			random_pane(&b, i, i % 40 < 20 ? KEYS : 2);
			check_window(&b);
			n_other += b.fake.merge.n_folded > 0;
			n_whole += b.fake.merge.n_folded == 0;
			/* The rows of "(other)" stand beside it. */
			assert_true(packed_bytes(&b.panes) <= 3 * small_bytes);
		}
		assert_true(n_other > 5 && n_whole > 5);
		bench_close(&b);
	}
}

/* --- Cost --- */

static void test_cost(void **state)
{
	static const u32 sizes[] = { 10, 100, 1000, 10000 };
	const u32 n_groups = 1000;

	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct account account = { 0 }, none = { 0 }, fresh;
		u64 counters[COUNTER_N] = { 0 };
		struct panes panes;
		struct fake f;
		u64 start_ns, ns = 0, worst_ns = 0, from_ns;
		s32 count;

		fake_init(&f, STATE_TABLE, 1, 1, n_groups);
		fake_key(&f, type_int(64, false));
		count = fake_cell(&f, CELL_COUNT, false, false);
		fake_aggregate(&f, AGGREGATE_COUNT, count, -1);
		fake_ready(&f);
		assert_int_equal(panes_open(&panes, &f.phys, sizes[i], &f.arena), 0);
		for (u64 at = 1; at <= sizes[i] + 1000; at++) {
			for (u64 key = 0; key < 20; key++) {
				u64 group = (at * 20 + key) % n_groups;

				fake_update(&f, fake_row(&f, 0, 0, 0, &group), count, 0);
			}
			fake_counters(&f, 0, 0, 0)[COUNTER_EVENTS] += 20;
			merge_reset(&panes.pane);
			drain_copy(&f.drain, f.state, 0, -1, &panes.pane, counters);
			from_ns = base_monotonic_ns();
			assert_int_equal(panes_push(&panes, sizes[i] + at, 0, &account, &none), 0);
			panes_expire(&panes, at, false);
			if (at <= sizes[i])
				continue;
			merge_reset(&f.merge);
			assert_int_equal(panes_merge(&panes, &f.merge, &fresh, &start_ns), 0);
			from_ns = base_monotonic_ns() - from_ns;
			ns += from_ns;
			worst_ns = MAX(worst_ns, from_ns);
			assert_int_equal(f.merge.n_live, MIN(n_groups, 20 * sizes[i]));
		}
		printf("window of %u panes, %u groups: %.1f us, at worst %.1f us\n", sizes[i],
		       MIN(n_groups, 20 * sizes[i]), (double)ns / 1000 / 1000,
		       (double)worst_ns / 1000);
		panes_close(&panes);
		fake_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	 cmocka_unit_test(test_other),
		cmocka_unit_test(test_too_many), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests_name("run-panes", tests, NULL, NULL);
}
