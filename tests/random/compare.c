/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One query in all ways: each against the first, and that against SQLite.  Where two differ,
 * the query and the rows are made small while they differ in the same aspect, and shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/opt.h"
#include "random.h"

struct replayer *oracle_engine;

/* One query in two ways. */
struct comparison {
	struct oracle_query *query;
	struct rows *rows;
	struct way_options ways[2]; /* by the first it is judged */
	struct buf *report;	    /* NULL: says nothing */
	const char *kind;	    /* of the difference: the tag of an error, or the aspect */
	const char *wanted;	    /* when shrinking: only this kind */
};

static bool has_tag(const char *error, const char *tag)
{
	return error && strstr(error, tag);
}

/* --- Comparing --- */

static void get_answer(const struct comparison *c, const struct way_options *way,
		       const struct windows *windows, struct arena *arena,
		       struct answer *ret_answer)
{
	if (way->way == WAY_SQLITE)
		reference_answer(c->query, c->rows, windows, arena, ret_answer);
	else
		way_run(oracle_engine, c->query, c->rows, way, windows, arena, ret_answer);
}

static const char *way_name(const struct way_options *way, struct arena *arena)
{
	switch (way->way) {
	case WAY_KERNEL:
		return arena_printf(arena, "kernel, rules off '%s', state %s, %u panes%s%s",
				    way->rules_off, way->state ? way->state : "auto", way->n_panes,
				    way->is_old_kernel ? ", old kernel" : "",
				    way->crowd ? ", beside others" : "");
	case WAY_USER:
		return way->crowd ? "pushdown off, beside others" : "pushdown off";
	case WAY_FILE:
		return arena_printf(arena, "recording of format %d%s", way->file,
				    way->is_off ? ", pushdown off" : "");
	default:
		return "SQLite";
	}
}

/* The tag of the diagnostic, "[...]", or the step that failed. */
static const char *tag_of(const char *error, struct arena *arena)
{
	const char *open = strchr(error, '['), *end = open ? strchr(open, ']') : NULL;

	return end ? arena_strndup(arena, open, (size_t)(end - open) + 1)
		   : arena_strndup(arena, error, strcspn(error, ":"));
}

/*
 * What the generator does not avoid and no way does: keys of signed and unsigned numbers, or
 * of constants; arms of UNION ALL of different kinds; a window over rows that nothing sorts or
 * aggregates.
 */
static bool is_refusal(const char *error)
{
	return has_tag(error, "[bad-join]") || has_tag(error, "[union-columns]") ||
	       has_tag(error, "[type-mismatch]") || has_tag(error, "[not-supported]") ||
	       has_tag(error, "[window-without-aggregate]");
}

/* CSV has numbers and texts, and does not tell signed types from unsigned ones. */
static bool is_of_types(const char *error)
{
	return has_tag(error, "[bad-join]") || has_tag(error, "[union-columns]") ||
	       has_tag(error, "[type-mismatch]");
}

enum verdict { VERDICT_SAME, VERDICT_DIFFERS, VERDICT_REFUSED, VERDICT_LIMITED };

static enum verdict judge(struct comparison *c, struct answer *a, struct answer *b,
			  struct arena *arena)
{
	const struct way_options *ways = c->ways;
	enum aspect aspect;

	/* Bounds of quantiles tell of what expired: it may have given way long before its end. */
	if (a->is_limited || b->is_limited ||
	    (ways[0].way != WAY_SQLITE && a->n_expired != b->n_expired))
		return VERDICT_LIMITED;
	if (ways[0].way == WAY_SQLITE && is_refusal(b->error))
		return VERDICT_REFUSED;
	/* A step of shrinking that SQLite refuses says nothing. */
	if (ways[0].way == WAY_SQLITE && a->error && !c->report)
		return VERDICT_SAME;
	if (ways[1].way == WAY_FILE && ways[1].file == FILE_CSV &&
	    (is_of_types(a->error) || is_of_types(b->error)))
		return VERDICT_REFUSED;
	aspect = answers_differ(c->query, &ways[0], a, &ways[1], b, arena);
	if (aspect == ASPECT_N)
		return a->error && b->error ? VERDICT_REFUSED : VERDICT_SAME;
	c->kind = aspect_names[aspect];
	if (aspect == ASPECT_STATUS && (a->error || b->error))
		c->kind = arena_printf(arena, "%s %s", a->error ? tag_of(a->error, arena) : "",
				       b->error ? tag_of(b->error, arena) : "");
	return VERDICT_DIFFERS;
}

static enum verdict compare(struct comparison *c, struct arena *arena)
{
	struct windows windows;
	struct answer answers[2];
	enum verdict verdict;

	windows_of(c->query, c->rows, arena, &windows);
	for (u32 i = 0; i < 2; i++)
		get_answer(c, &c->ways[i], &windows, arena, &answers[i]);
	verdict = judge(c, &answers[0], &answers[1], arena);
	for (u32 i = 0; c->report && i < 2; i++) {
		buf_printf(c->report, "  %s:\n", way_name(&c->ways[i], arena));
		answer_print(&answers[i], c->report);
	}
	return verdict;
}

static bool fails(void *context)
{
	struct comparison *c = context;
	struct arena arena;
	bool is_failing;

	arena_init(&arena);
	is_failing = compare(c, &arena) == VERDICT_DIFFERS && strcmp(c->kind, c->wanted) == 0;
	arena_free(&arena);
	return is_failing;
}

/* --- Making it small --- */

static void shrink_rows(struct comparison *c, struct rows *rows)
{
	struct rows *kept = c->rows, fewer;

	for (u32 step = (kept->data.n_events + 1) / 2; step;
	     step = step == 1 ? 0 : (step + 1) / 2) {
		for (u32 at = 0; at < kept->data.n_events;) {
			u32 gone = MIN(step, kept->data.n_events - at);

			rows_without(kept, at, gone, &fewer);
			c->rows = &fewer;
			if (fails(c)) {
				rows_close(rows);
				*rows = fewer;
				kept = rows;
			} else {
				rows_close(&fewer);
				at += gone;
			}
			c->rows = kept;
		}
	}
}

static void print_texts(const struct comparison *c, struct buf *out)
{
	const struct phrase_print ebql = { .event = "tracepoint:test:event",
					   .other = "tracepoint:test:other" };
	const struct phrase_print sqlite = { PHRASE_SQLITE,
					     .is_all = c->query->shape == SHAPE_NONE };

	buf_puts(out, "  ");
	phrase_print(c->query->text, &ebql, out);
	if (c->query->has_reference) {
		buf_puts(out, "\n  ");
		phrase_print(c->query->text, &sqlite, out);
	}
	buf_putc(out, '\n');
}

static void print_rows(const struct comparison *c, struct buf *out)
{
	struct buf text;

	buf_init(&text);
	print_texts(c, &text);
	for (u32 j = 0; j < c->rows->data.n_events && j < 12; j++) {
		const struct event *e = &c->rows->data.events[j];

		buf_puts(out, e->stream == STREAM_OTHER ? "    other" : "    event");
		for (u32 i = 0; i < C_N; i++) {
			const struct column_info *info = &column_infos[i];

			if (!strstr(text.at, info->name))
				continue;
			buf_printf(out, " %s=", info->name);
			if (info->is_text)
				buf_printf(out, "'%s'", e->texts[i]);
			else
				buf_put_s128(out, e->integers[i]);
		}
		buf_putc(out, '\n');
	}
	buf_free(&text);
}

static void report_failure(struct comparison c, u64 seed, u32 number, struct arena *arena)
{
	struct rows rows = { .arena = arena, .data = c.rows->data, .is_big = c.rows->is_big };
	struct buf out;

	buf_init(&out);
	buf_printf(&out, "query %u differs in %s", number + c.ways[1].member, c.kind);
	/* Others are no random ones. */
	if (seed)
		buf_printf(&out, " (EBQL_SEED=%llu EBQL_FIRST=%u EBQL_QUERIES=%u)",
			   (unsigned long long)seed, number, c.ways[1].crowd ? QUERIES_OF_ROWS : 1);
	buf_putc(&out, '\n');
	print_texts(&c, &out);
	if (!getenv("EBQL_RAW")) {
		c.rows = &rows;
		c.wanted = arena_strdup(arena, c.kind);
		shrink_rows(&c, &rows);
		phrase_shrink(c.query->text, arena, fails, &c);
		shrink_rows(&c, &rows);
	}
	c.report = &out;
	buf_puts(&out, " at its smallest:\n");
	print_texts(&c, &out);
	print_rows(&c, &out);
	compare(&c, arena);
	fprintf(stderr, "%s\n", out.at);
	rows_close(&rows);
	buf_free(&out);
}

/* --- One query in all ways --- */

static void count_refusal(struct totals *totals, const char *refusal, struct arena *arena)
{
	const char *tag = tag_of(refusal, arena);

	for (u32 i = 0; i < TAGS_MAX; i++) {
		if (totals->tags[i].n && strcmp(totals->tags[i].tag, tag) != 0)
			continue;
		if (!totals->tags[i].n++) {
			snprintf(totals->tags[i].tag, sizeof(totals->tags[i].tag), "%s", tag);
			snprintf(totals->tags[i].example, sizeof(totals->tags[i].example), "%s",
				 refusal);
		}
		return;
	}
}

/*
 * CSV does not say what the columns of no rows are, nor that a type has no sign, which
 * matters beyond 2^63.
 */
static enum file_kind pick_format(const struct rows *rows, const struct oracle_query *query,
				  u32 number)
{
	bool is_big = rows->is_big || query->is_wide;
	u32 n[2] = { 0 };

	for (u32 i = 0; i < rows->data.n_events; i++)
		n[rows->data.events[i].stream]++;
	return n[0] && n[1] && !is_big ? number % FILE_KIND_N : number % FILE_CSV;
}

/* Layouts of the state, and what the kernel may lack: each query takes two in turn. */
static const struct way_options layouts[] = {
	{ WAY_KERNEL, "", .state = "table" },
	{ WAY_KERNEL, "all", .state = "kernel_map" },
	{ WAY_KERNEL, "", .is_old_kernel = true },
	{ WAY_KERNEL, "", .n_panes = 5 },
	{ WAY_KERNEL, "all", .state = "table" },
	{ WAY_KERNEL, "", .state = "kernel_map" },
	{ WAY_KERNEL, "all", .state = "table", .n_panes = 30 },
};

static struct way_options layout(const struct oracle_query *query, u32 number)
{
	struct way_options way = layouts[number % ARRAY_SIZE(layouts)];

	if (query->shape != SHAPE_NONE)
		way.n_panes = 0;
	return way;
}

enum { WAYS_MAX = 7 };

/* The first is what the others are compared with, and what is compared with SQLite. */
static u32 list_ways(const struct rows *rows, const struct oracle_query *query, u32 number,
		     struct way_options ways[WAYS_MAX])
{
	bool is_off = number / FILE_KIND_N % 2;
	/* A recording has the columns of the event alone. */
	bool reads_memory =
		phrase_traits(query->text) & (1ull << TRAIT_ELEMENT | 1ull << TRAIT_TEXT_BEHIND);
	u32 n = 0;

	ways[n++] = (struct way_options){ WAY_KERNEL, "all" };
	ways[n++] = (struct way_options){ WAY_KERNEL, "" };
	ways[n++] = (struct way_options){ WAY_USER, "" };
	ways[n++] = (struct way_options){ WAY_KERNEL, opt_rules[number % opt_n_rules].name };
	ways[n++] = layout(query, number);
	ways[n++] = layout(query, number + 3);
	/* No recording is called tracepoint:*. */
	if (!strstr(query->text->ebql, "tracepoint:") && !reads_memory)
		ways[n++] = (struct way_options){ WAY_FILE, "", pick_format(rows, query, number),
						  is_off };
	return n;
}

static void print_query(struct oracle_query *query, struct rows *rows, u32 number)
{
	struct buf out;

	buf_init(&out);
	print_texts(&(struct comparison){ query, rows }, &out);
	fprintf(stderr, "%u %s\n", number, out.at);
	buf_free(&out);
}

static const char *type_of(const struct answer *answer)
{
	static char text[40];
	struct buf out;

	if (!answer->schema.n_columns)
		return "-";
	buf_init(&out);
	type_print(answer->schema.columns[0].type, &out);
	snprintf(text, sizeof(text), "%s", out.at);
	buf_free(&out);
	return text;
}

bool oracle_check(struct oracle_query *query, struct rows *rows, u64 seed, u32 number,
		  struct totals *totals)
{
	const struct way_options sqlite = { WAY_SQLITE, "" };
	struct way_options ways[WAYS_MAX];
	struct answer first, other;
	struct windows windows;
	struct arena arena;
	bool is_good = true;
	u32 n_ways;

	arena_init(&arena);
	if (getenv("EBQL_PRINT"))
		print_query(query, rows, number);
	n_ways = list_ways(rows, query, number, ways);
	windows_of(query, rows, &arena, &windows);
	totals->n_queries++;
	totals->n_reference += query->has_reference;
	for (u32 i = 0; i < n_ways && is_good; i++) {
		struct comparison c = { query, rows, { ways[0], ways[i] } };
		enum verdict verdict;

		if (i == 0)
			c.ways[0] = sqlite;
		get_answer(&c, &ways[i], &windows, &arena, i ? &other : &first);
		totals->n_runs++;
		if (i == 0)
			totals->type = type_of(&first);
		if (i == 0 && first.result.n_rows) {
			totals->n_with_rows++;
			for (u32 k = 0; k < TRAIT_N; k++)
				totals->n_traits[k] += phrase_traits(query->text) >> k & 1;
		}
		if (i == 0 && first.error)
			count_refusal(totals, first.error, &arena);
		if (i == 0 && !query->has_reference)
			continue;
		if (i == 0)
			reference_answer(query, rows, &windows, &arena, &other);
		verdict = judge(&c, i ? &first : &other, i ? &other : &first, &arena);
		totals->n_limited += verdict == VERDICT_LIMITED;
		totals->n_refused += i == 0 && verdict == VERDICT_REFUSED;
		if (verdict == VERDICT_DIFFERS) {
			report_failure(c, seed, number, &arena);
			is_good = false;
		}
	}
	arena_free(&arena);
	return is_good;
}

/* --- Queries beside others --- */

/* Each member beside the others, against itself alone in the same way. */
static bool check_members(struct crowd *crowd, struct rows *rows, u64 seed, u32 number,
			  struct totals *totals)
{
	struct answer answers[CROWD], alone;
	struct windows windows;
	struct arena arena;
	bool is_good = true;

	arena_init(&arena);
	crowd_run(oracle_engine, crowd, rows, &arena, answers);
	for (u32 i = 0; i < CROWD && is_good; i++) {
		struct comparison c = { crowd->queries[i],
					rows,
					{ crowd->ways[i], crowd->ways[i] } };

		c.ways[1].crowd = crowd;
		c.ways[1].member = i;
		windows_of(c.query, rows, &arena, &windows);
		get_answer(&c, &c.ways[0], &windows, &arena, &alone);
		totals->n_beside += !answers[i].error;
		totals->n_shared += answers[i].n_parts_beside > 8;
		is_good = judge(&c, &alone, &answers[i], &arena) != VERDICT_DIFFERS;
		if (!is_good)
			report_failure(c, seed, number, &arena);
	}
	arena_free(&arena);
	return is_good;
}

/*
 * All that are there, beside others and, since random queries have little in common but their
 * streams, beside their own texts: the first half of them twice, and the second.
 */
bool oracle_check_crowd(struct oracle_query *queries, u32 n, struct rows *rows, u64 seed,
			u32 number, struct totals *totals)
{
	bool is_good = true;

	for (u32 k = 0; k < 3 && is_good; k++) {
		struct crowd crowd = { 0 };

		for (u32 i = 0; i < CROWD; i++) {
			u32 of = (k ? i / 2 + (k - 1) * CROWD / 2 : i) % n;

			crowd.queries[i] = &queries[of];
			crowd.ways[i] =
				(struct way_options){ (number + i) % 5 == 4 ? WAY_USER : WAY_KERNEL,
						      i % 2 ? "all" : "" };
		}
		is_good = check_members(&crowd, rows, seed, number, totals);
	}
	return is_good;
}

u32 oracle_check_all(struct oracle_query *queries, u32 n_alone, u32 n, struct rows *rows, u64 seed,
		     u32 number, struct totals *totals)
{
	u32 n_failures = 0;

	for (u32 i = 0; i < n_alone; i++)
		n_failures += !oracle_check(&queries[i], rows, seed, number + i, totals);
	/* One that was reported is not what it was. */
	for (u32 i = 0; i < n && !n_failures; i += CROWD)
		n_failures += !oracle_check_crowd(queries + i, MIN(n - i, CROWD), rows, seed,
						  number, totals);
	return n_failures;
}

void totals_print(const struct totals *totals, u64 start_ns, u32 n_failures)
{
	printf("%u queries in %u runs: %u against SQLite, %u with rows, %u refused; %u runs "
	       "limited; %u beside %u others, %u of them in programs of more than 8 parts; %.1f s; "
	       "%u differ\n",
	       totals->n_queries, totals->n_runs, totals->n_reference, totals->n_with_rows,
	       totals->n_refused, totals->n_limited, totals->n_beside, CROWD - 1, totals->n_shared,
	       (double)(base_monotonic_ns() - start_ns) / 1e9, n_failures);
	for (u32 i = 0; i < TAGS_MAX && totals->tags[i].n; i++)
		printf("%5u %s\n", totals->tags[i].n,
		       getenv("EBQL_VERBOSE") ? totals->tags[i].example : totals->tags[i].tag);
	for (u32 i = 1; i < TRAIT_N; i++)
		if (totals->n_traits[i])
			printf("%5u with rows have %s\n", totals->n_traits[i], trait_names[i]);
	for (u32 i = 0; i < n_exemptions; i++)
		if (exemptions[i].n_used)
			printf("%5llu %s %s: %s\n", (unsigned long long)exemptions[i].n_used,
			       exemptions[i].is_known ? "known" : "exempt", exemptions[i].name,
			       exemptions[i].reason);
}
