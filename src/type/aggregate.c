/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table of aggregates, and what types they yield.  To add one: a member of
 * enum aggregate_kind and its entry here (HACKING.md has the rest).
 */
#include <strings.h>

#include "type/type.h"

/* --- Types of results --- */

static void full_range(struct type_range *x)
{
	x->lo = type_min(x->type);
	x->hi = type_max(x->type);
}

static void result_number(struct type_range *x)
{
	x->type = type_int(64, false);
	full_range(x);
}

static void result_real(struct type_range *x)
{
	bool is_duration = x->type.kind == TYPE_DURATION || x->type.of == TYPE_DURATION;

	/* A mean of durations counts nanoseconds, too. */
	*x = (struct type_range){ .type = { .kind = TYPE_REAL,
					    .of = is_duration ? TYPE_DURATION : TYPE_NULL } };
}

static void result_text(struct type_range *x)
{
	*x = (struct type_range){ .type = type_text(0) };
}

/* One of the values. */
static void result_same(struct type_range *x)
{
}

static void result_sum(struct type_range *x)
{
	/* Of texts that are numbers: whole or real, as each value says. */
	if (x->type.kind == TYPE_TEXT)
		*x = (struct type_range){ .type = { .kind = TYPE_NULL } };
	if (!type_is_word(x->type)) /* real numbers, in SQLite */
		return;
	x->type.bits = 64;
	if (x->type.kind != TYPE_DURATION)
		x->type.kind = TYPE_INT;
	x->type.is_signed = x->lo < 0;
	x->type.is_wide = x->type.kind == TYPE_INT;
	full_range(x);
}

/* Signed: from a power of two's negative to below it; a word holds the range of its bits. */
static void result_bits(struct type_range *x)
{
	s128 end = 1;

	while (end <= x->hi || -end > x->lo)
		end *= 2;
	x->lo = x->lo < 0 ? -end : 0;
	x->hi = end - 1;
	if (x->type.kind != TYPE_INT)
		x->type = type_int(64, x->lo < 0);
}

static void result_histogram(struct type_range *x)
{
	*x = (struct type_range){ .type = { .kind = TYPE_HISTOGRAM,
					    .is_signed = x->type.is_signed,
					    .of = x->type.kind,
					    .clock = x->type.clock } };
}

/* UNNEST has columns of the values' type. */
static void result_top(struct type_range *x)
{
	x->type.of = x->type.kind;
	x->type.kind = TYPE_TOP;
	x->lo = x->hi = 0;
}

/* --- The table --- */

const struct aggregate_info aggregate_infos[AGGREGATE_N] = {
	[AGGREGATE_COUNT] = {
		.name = "count",
		.meaning = "events, or values that are not NULL",
		.cell = CELL_COUNT,
		.counts = COUNTS_ALWAYS,
		.is_never_null = true,
		.result = result_number,
		.sql = "count",
		.regroup = "eb_sum",
	},
	[AGGREGATE_SUM] = {
		.name = "sum",
		.meaning = "exact sum, in 128 bits",
		.cell = CELL_SUM,
		.result = result_sum,
		.sql = "eb_sum",
		.regroup = "eb_sum",
	},
	[AGGREGATE_MIN] = {
		.name = "min",
		.meaning = "smallest value",
		.cell = CELL_MIN,
		.result = result_same,
		.sql = "min",
		.regroup = "min",
	},
	[AGGREGATE_MAX] = {
		.name = "max",
		.meaning = "largest value",
		.cell = CELL_MAX,
		.result = result_same,
		.sql = "max",
		.regroup = "max",
	},
	[AGGREGATE_AVG] = {
		.name = "avg",
		.meaning = "arithmetic mean of the exact sum",
		.cell = CELL_SUM,
		.counts = COUNTS_ALWAYS,
		.reads = READS_MEAN,
		.result = result_real,
		.sql = "eb_avg",
	},
	[AGGREGATE_BIT_OR] = {
		.name = "bit_or",
		.meaning = "the bits that are set in one of the values",
		.cell = CELL_OR,
		.result = result_bits,
		.sql = "eb_bit_or",
		.takes_integers = true,
		.regroup = "eb_bit_or",
	},
	[AGGREGATE_BIT_AND] = {
		.name = "bit_and",
		.meaning = "the bits that are set in all values",
		.cell = CELL_AND,
		.result = result_bits,
		.sql = "eb_bit_and",
		.takes_integers = true,
		.regroup = "eb_bit_and",
	},
	[AGGREGATE_BIT_XOR] = {
		.name = "bit_xor",
		.meaning = "the bits that are set in an odd number of the values",
		.cell = CELL_XOR,
		.result = result_bits,
		.sql = "eb_bit_xor",
		.takes_integers = true,
		.regroup = "eb_bit_xor",
	},
	[AGGREGATE_HISTOGRAM] = {
		.name = "histogram",
		.meaning = "how many values fell into each cell of a scheme",
		.takes = TAKES_SCHEME,
		.cell = CELL_HISTOGRAM,
		.counts = COUNTS_NEVER,
		.reads = READS_HISTOGRAM,
		.result = result_histogram,
		.sql = "eb_histogram",
	},
	[AGGREGATE_QUANTILE] = {
		.name = "quantile",
		.meaning = "the value that a share q stays below, with bounds",
		.takes = TAKES_SCHEME,
		.cell = CELL_HISTOGRAM,
		.counts = COUNTS_NEVER,
		.reads = READS_QUANTILES,
		.sql = "eb_histogram",
	},
	[AGGREGATE_FIRST] = {
		.name = "first",
		.meaning = "value of the earliest event",
		.takes = TAKES_VALUE,
		.cell = CELL_FIRST,
		.counts = COUNTS_NEVER,
		.reads = READS_EVENT,
		.result = result_same,
		.sql = "eb_first",
	},
	[AGGREGATE_LAST] = {
		.name = "last",
		.meaning = "value of the latest event",
		.takes = TAKES_VALUE,
		.cell = CELL_LAST,
		.counts = COUNTS_NEVER,
		.reads = READS_EVENT,
		.result = result_same,
		.sql = "eb_last",
	},
	[AGGREGATE_STDDEV] = {
		.name = "stddev",
		.meaning = "standard deviation, from exact sums",
		.takes = TAKES_VALUE,
		.cell = CELL_SUM,
		.counts = COUNTS_ALWAYS,
		.reads = READS_DEVIATION,
		.result = result_real,
		.sql = "eb_stddev_samp",
		.takes_integers = true,
	},
	[AGGREGATE_APPROX_COUNT_DISTINCT] = {
		.name = "approx_count_distinct",
		.meaning = "about how many different values there are",
		.takes = TAKES_VALUE,
		.cell = CELL_HLL,
		.counts = COUNTS_NEVER,
		.is_never_null = true,
		.result = result_number,
		.sql = "eb_approx_count_distinct",
		.takes_integers = true,
	},
	[AGGREGATE_TOP_K] = {
		.name = "top_k",
		.meaning = "the k values of most weight, with bounds",
		.takes = TAKES_VALUE,
		.cell = CELL_TOP,
		.counts = COUNTS_NEVER,
		.reads = READS_TOP,
		.result = result_top,
		.sql = "eb_top_k",
		.takes_integers = true,
	},
	[AGGREGATE_TOTAL] = {
		.name = "total",
		.meaning = "sum as a real number, 0.0 of no values; in SQLite",
		.is_never_null = true,
		.result = result_real,
		.sql = "eb_total",
	},
	[AGGREGATE_GROUP_CONCAT] = {
		.name = "group_concat",
		.meaning = "the values as one text; in SQLite",
		.takes = TAKES_VALUE,
		.result = result_text,
		.sql = "group_concat",
		.sql_takes_text = true,
	},
	[AGGREGATE_HISTOGRAM_MERGE] = {
		.name = "histogram_merge",
		.meaning = "histograms of one scheme added up; in SQLite",
		.takes = TAKES_VALUE,
		.result = result_same,
		.sql = "eb_histogram_merge",
	},
};

/* --- Names --- */

/* Those that an aggregate has besides its own. */
static const struct aggregate_name other_names[] = {
	{ "quantiles", AGGREGATE_QUANTILE, .is_many = true },
	{ "approx_quantile", AGGREGATE_QUANTILE }, /* DuckDB's name */
	{ "quantile_lo", AGGREGATE_QUANTILE, .part = QUANTILE_LO },
	{ "quantile_hi", AGGREGATE_QUANTILE, .part = QUANTILE_HI },
	{ "percentile_cont", AGGREGATE_QUANTILE, .is_interpolated = true },
	{ "p50", AGGREGATE_QUANTILE, .q_ppb = 500000000 },
	{ "p90", AGGREGATE_QUANTILE, .q_ppb = 900000000 },
	{ "p95", AGGREGATE_QUANTILE, .q_ppb = 950000000 },
	{ "p99", AGGREGATE_QUANTILE, .q_ppb = 990000000 },
	{ "p999", AGGREGATE_QUANTILE, .q_ppb = 999000000 },
	{ "stddev_samp", AGGREGATE_STDDEV },
	{ "stddev_pop", AGGREGATE_STDDEV, .is_population = true },
};

bool aggregate_find(const char *name, struct aggregate_name *ret_name)
{
	for (u32 i = 0; i < AGGREGATE_N; i++)
		if (strcasecmp(aggregate_infos[i].name, name) == 0) {
			*ret_name = (struct aggregate_name){ aggregate_infos[i].name,
							     (enum aggregate_kind)i };
			return true;
		}
	for (u32 i = 0; i < ARRAY_SIZE(other_names); i++)
		if (strcasecmp(other_names[i].name, name) == 0) {
			*ret_name = other_names[i];
			return true;
		}
	return false;
}

const char *aggregate_name_at(u32 i)
{
	if (i < AGGREGATE_N)
		return aggregate_infos[i].name;
	return i - AGGREGATE_N < ARRAY_SIZE(other_names) ? other_names[i - AGGREGATE_N].name : NULL;
}
