/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * More groups than max_groups: what a result with an "(other)" row must keep,
 * whichever groups found room, on one CPU and on more.
 */
#include <string.h>

#include "replay.h"

#define OTHER_SELECT                                                                               \
	"f_s16 AS k, path AS p, count(*) AS n, sum(f_s32) AS s, min(f_s32) AS lo, "                \
	"max(f_s32) AS hi, avg(f_s32) AS m"

/* The same with keys that rules take away: one that WHERE fixes, one that follows from another. */
#define OTHER_MORE ", f_u8 AS fixed, f_s16 + 1 AS follows"

/* The row of the reference with the same keys. */
static const struct value *row_of(const struct result *all, const struct value *row)
{
	for (u32 i = 0; i < all->n_rows; i++) {
		const struct value *r = all->values + (size_t)i * all->n_columns;

		if (!value_compare(&r[0], &row[0]) && !value_compare(&r[1], &row[1]))
			return r;
	}
	return NULL;
}

/*
 * What a result with an "(other)" row must keep: rows of groups that found room are
 * exact, the other row's keys are NULL, totals are those of all events, and
 * table_full counts the events of the other row.
 */
static const char *other_is_wrong(const struct result *all, const struct result *got,
				  u64 max_groups, bool one_slice, bool has_own_room)
{
	s128 n = 0, sum = 0, lo = INT64_MAX, hi = INT64_MIN, all_n = 0, all_sum = 0,
	     all_lo = INT64_MAX, all_hi = INT64_MIN;

	for (u32 i = 0; i < all->n_rows; i++) {
		const struct value *r = all->values + (size_t)i * all->n_columns;

		all_n += r[2].integer;
		all_sum += r[3].integer;
		all_lo = MIN(all_lo, r[4].integer);
		all_hi = MAX(all_hi, r[5].integer);
	}
	for (u32 i = 0; i < got->n_rows; i++) {
		const struct value *r = got->values + (size_t)i * got->n_columns;
		const struct value *exact = row_of(all, r);

		n += r[2].integer;
		sum += r[3].integer;
		lo = MIN(lo, r[4].integer);
		hi = MAX(hi, r[5].integer);
		if (i == got->other_row) {
			if (r[0].kind != VALUE_NULL || r[1].kind != VALUE_NULL)
				return "the keys of (other) are not NULL";
			for (u32 c = 7; c < got->n_columns; c++)
				if (r[c].kind != VALUE_NULL)
					return "a key of (other) that tells no groups apart is not "
					       "NULL";
			if (r[2].integer != got->lost[LOSS_TABLE_FULL])
				return "table_full is not the number of events in (other)";
			continue;
		}
		if (!exact)
			return "a group that no event is in";
		for (u32 c = 2; c < all->n_columns; c++)
			if (value_compare(&r[c], &exact[c]))
				return "a group that found room is not exact";
	}
	if (n != all_n || sum != all_sum || lo != all_lo || hi != all_hi)
		return "the totals are not exact";
	if (one_slice && got->other_row >= 0 && all->n_rows <= max_groups)
		return "(other) where there was room";
	/* The CPUs share a kernel map's room: there one of them may use more. */
	if (one_slice && has_own_room && all->n_rows > max_groups &&
	    (got->other_row < 0 || got->n_rows - 1 > max_groups))
		return "more groups than max_groups";
	return NULL;
}

/* The value of f_u8 that most events have. */
static u32 most_frequent(const struct dataset *dataset)
{
	u32 counts[256] = { 0 }, most = 0;

	for (u32 i = 0; i < dataset->n_events; i++)
		counts[(u8)dataset->events[i].integers[C_U8]]++;
	for (u32 i = 1; i < ARRAY_SIZE(counts); i++)
		if (counts[i] > counts[most])
			most = i;
	return most;
}

static void put_query(const struct dataset *dataset, const char *from, bool has_more,
		      struct buf *out)
{
	buf_printf(out, "SELECT " OTHER_SELECT "%s FROM %s", has_more ? OTHER_MORE : "", from);
	if (has_more)
		buf_printf(out, " WHERE f_u8 = %u GROUP BY f_u8, k, p, f_s16 + 1",
			   most_frequent(dataset));
	else
		buf_puts(out, " GROUP BY k, p");
}

static bool check(struct replayer *engine, const struct dataset *dataset,
		  const struct engine_options *options, bool one_slice, bool has_more,
		  struct buf *report)
{
	u64 max_groups = options->max_groups;
	sqlite3 *db = reference_open();
	const char *error = NULL, *wrong = NULL;
	struct result all, got = { 0 };
	struct buf ours, theirs;
	struct arena arena;

	arena_init(&arena);
	buf_init(&ours);
	buf_init(&theirs);
	put_query(dataset, REPLAY_STREAM, has_more, &ours);
	put_query(dataset, "t", has_more, &theirs);
	reference_load(db, dataset->events, dataset->n_events);
	if (!reference_run(db, theirs.at, &arena, &all, &error) ||
	    !replayer_run(engine, ours.at, options, dataset->events, dataset->n_events, &arena,
			  &got, &error))
		wrong = error;
	else
		wrong = other_is_wrong(&all, &got, max_groups, one_slice,
				       strcmp(options->state, "kernel_map") != 0);
	if (wrong) {
		buf_printf(report,
			   "%s\nrules_off '%s', max_groups %llu, state %s, %s, %u groups: %s\n",
			   ours.at, options->rules_off, (unsigned long long)max_groups,
			   options->state, one_slice ? "one CPU" : "more CPUs", all.n_rows, wrong);
		result_print(&got, report);
	}
	sqlite3_close(db);
	buf_free(&ours);
	buf_free(&theirs);
	arena_free(&arena);
	return !wrong;
}

u32 other_check(struct replayer *engine, u64 seed, struct buf *report)
{
	static const u64 max_groups[] = { 1, 2, 5, 16, 60, 1000 };
	static const char *const states[] = { "auto", "table", "kernel_map" };
	static const char *const rules_off[] = { "", "all" };
	struct dataset dataset;
	struct arena arena;
	u32 n_wrong = 0;

	arena_init(&arena);
	for (u32 one_slice = 0; one_slice < 2; one_slice++) {
		struct rng rng = { 3 };

		dataset_random(&dataset, &arena, 0, seed);
		for (u32 i = 0; i < dataset.n_events && one_slice; i++) {
			dataset.events[i].integers[C_CPU] = 0;
			event_encode(&dataset.events[i], &arena, &rng);
		}
		for (u32 i = 0; i < ARRAY_SIZE(max_groups) * ARRAY_SIZE(states) * 4; i++) {
			const struct engine_options options = {
				rules_off[i / 2 % 2], states[i / 4 % ARRAY_SIZE(states)],
				max_groups[i / 4 / ARRAY_SIZE(states)]
			};

			n_wrong += !check(engine, &dataset, &options, one_slice, i % 2, report);
		}
	}
	arena_free(&arena);
	return n_wrong;
}
