/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql's JSON lines -> cells per (fd, cpu).  The scanner knows JSON's shape but only
 * the numbers under the names of interest; nesting goes one deeper than ebql's batches.
 */
#include "fold.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 4, MAX_KEY = 64 };

/* What one line said. */
struct line {
	bool is_batch, is_other, is_last, is_partial;
	bool has_n, has_s, has_fd, has_cpu, has_count;
	u64 n, s, lo, hi, count, time_ns;
	s64 fd, cpu;
	u64 start_ns, end_ns, events, matched, rows, lost, ring_full, table_full;
	u64 late_ns, merged;
};

struct scan {
	const char *at, *end;
	struct line *line;
	char path[MAX_DEPTH][MAX_KEY];
	int depth;
};

static void PRINTF(2, 3) fail(struct fold *fold, const char *format, ...)
{
	va_list args;

	if (fold->error[0])
		return;
	va_start(args, format);
	vsnprintf(fold->error, sizeof(fold->error), format, args);
	va_end(args);
}

void fold_init(struct fold *fold)
{
	memset(fold, 0, sizeof(*fold));
	fold->capacity = 1024;
	fold->cells = calloc(fold->capacity, sizeof(*fold->cells));
	BUG_ON(!fold->cells);
	buf_init(&fold->line);
}

void fold_free(struct fold *fold)
{
	free(fold->cells);
	buf_free(&fold->line);
}

static struct fold_cell *cell_at(struct fold *fold, s64 fd, s64 cpu)
{
	u64 hash = ((u64)fd * 0x9e3779b97f4a7c15ull) ^ ((u64)cpu * 0xc2b2ae3d27d4eb4full);
	u32 i = (u32)(hash >> 32) & (fold->capacity - 1);

	while (fold->cells[i].calls && (fold->cells[i].fd != fd || fold->cells[i].cpu != cpu))
		i = (i + 1) & (fold->capacity - 1);
	return &fold->cells[i];
}

static void add_cell(struct fold *fold, const struct fold_cell *cell)
{
	struct fold_cell *to;

	if (fold->n_cells * 2 >= fold->capacity) {
		struct fold_cell *old = fold->cells;
		u32 n = fold->capacity;

		fold->capacity *= 4;
		fold->cells = calloc(fold->capacity, sizeof(*fold->cells));
		BUG_ON(!fold->cells);
		for (u32 i = 0; i < n; i++)
			if (old[i].calls)
				*cell_at(fold, old[i].fd, old[i].cpu) = old[i];
		free(old);
	}
	to = cell_at(fold, cell->fd, cell->cpu);
	if (to->calls == 0) {
		*to = *cell;
		fold->n_cells++;
		return;
	}
	to->calls += cell->calls;
	to->sum += cell->sum;
	to->min = MIN(to->min, cell->min);
	to->max = MAX(to->max, cell->max);
}

static void number_of_row(struct line *line, const char *key, u64 value)
{
	if (!strcmp(key, "fd")) {
		line->has_fd = true;
		line->fd = (s64)value;
	} else if (!strcmp(key, "cpu")) {
		line->has_cpu = true;
		line->cpu = (s64)value;
	} else if (!strcmp(key, "n")) {
		line->has_n = true;
		line->n = value;
	} else if (!strcmp(key, "s")) {
		line->has_s = true;
		line->s = value;
	} else if (!strcmp(key, "lo")) {
		line->lo = value;
	} else if (!strcmp(key, "hi")) {
		line->hi = value;
	} else if (!strcmp(key, "count")) {
		line->has_count = true;
		line->count = value;
	} else if (!strcmp(key, "time")) {
		line->time_ns = value;
	}
}

static void number_of_batch(struct line *line, const char *key, u64 value)
{
	if (!strcmp(key, "window_start"))
		line->start_ns = value;
	else if (!strcmp(key, "window_end"))
		line->end_ns = value;
	else if (!strcmp(key, "events"))
		line->events = value;
	else if (!strcmp(key, "matched"))
		line->matched = value;
	else if (!strcmp(key, "rows"))
		line->rows = value;
	else if (!strcmp(key, "late_ns"))
		line->late_ns = value;
	else if (!strcmp(key, "merged"))
		line->merged = value;
}

static void scan_number(struct scan *scan, u64 value)
{
	const char *key = scan->path[scan->depth - 1];

	if (scan->depth == 1) {
		number_of_row(scan->line, key, value);
	} else if (scan->depth == 2 && !strcmp(scan->path[0], "_batch")) {
		number_of_batch(scan->line, key, value);
	} else if (scan->depth == 3 && !strcmp(scan->path[1], "lost")) {
		scan->line->lost += value;
		if (!strcmp(key, "ring_full"))
			scan->line->ring_full = value;
		if (!strcmp(key, "table_full"))
			scan->line->table_full = value;
	}
}

static void scan_space(struct scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

static bool scan_char(struct scan *scan, char c)
{
	scan_space(scan);
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

static bool scan_string(struct scan *scan, char *ret_text, size_t size)
{
	size_t n = 0;

	if (!scan_char(scan, '"'))
		return false;
	while (scan->at < scan->end && *scan->at != '"') {
		if (*scan->at == '\\')
			scan->at++;
		if (scan->at == scan->end)
			return false;
		if (n + 1 < size)
			ret_text[n++] = *scan->at;
		scan->at++;
	}
	ret_text[n] = 0;
	return scan_char(scan, '"');
}

/* Numbers as ebql prints its integers; the fraction of a real is skipped. */
static bool scan_digits(struct scan *scan)
{
	bool is_negative = scan_char(scan, '-');
	const char *start = scan->at;
	u64 value = 0;

	for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; scan->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (u64)(*scan->at - '0'), &value))
			return false;
	if (scan->at == start)
		return false;
	while (scan->at < scan->end && strchr(".eE+-0123456789", *scan->at))
		scan->at++;
	scan_number(scan, is_negative ? -value : value);
	return true;
}

static bool scan_object(struct scan *scan);

static bool scan_value(struct scan *scan)
{
	static const char *const words[] = { "null", "true", "false" };
	const char *key = scan->path[scan->depth - 1];
	char text[MAX_KEY];

	scan_space(scan);
	if (scan->at == scan->end)
		return false;
	if (*scan->at == '{')
		return scan_object(scan);
	if (*scan->at == '"')
		return scan_string(scan, text, sizeof(text));
	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(scan->end - scan->at) >= n && !memcmp(scan->at, words[i], n)) {
			scan->at += n;
			if (i == 1 && scan->depth == 1 && !strcmp(key, "_other"))
				scan->line->is_other = true;
			if (i == 1 && scan->depth == 2 && !strcmp(key, "last"))
				scan->line->is_last = true;
			if (i == 1 && scan->depth == 2 && !strcmp(key, "partial"))
				scan->line->is_partial = true;
			return true;
		}
	}
	return scan_digits(scan);
}

static bool scan_object(struct scan *scan)
{
	bool is_ok = true;

	if (!scan_char(scan, '{') || scan->depth == MAX_DEPTH)
		return false;
	if (scan_char(scan, '}'))
		return true;
	scan->depth++;
	do {
		is_ok = scan_string(scan, scan->path[scan->depth - 1], MAX_KEY) &&
			scan_char(scan, ':');
		if (is_ok && scan->depth == 1 && !strcmp(scan->path[0], "_batch"))
			scan->line->is_batch = true;
		is_ok = is_ok && scan_value(scan);
	} while (is_ok && scan_char(scan, ','));
	scan->depth--;
	return is_ok && scan_char(scan, '}');
}

/* Windows end with multiples of their advance; the run's end is none. */
static void check_lateness(struct fold *fold, const struct line *line)
{
	u64 advance_ns = fold->advance_ns ? fold->advance_ns : fold->size_ns;
	u64 before_ns = fold->n_windows ? fold->last_end_ns : line->start_ns;
	u64 n_ended = line->end_ns / advance_ns - before_ns / advance_ns;
	u64 late_ns = n_ended ? line->end_ns % advance_ns : 0;

	late_ns = late_ns > fold->size_ns / 100 ? late_ns : 0;
	if (line->late_ns != late_ns || line->merged != (n_ended > 1 ? n_ended : 0))
		fail(fold,
		     "window %" PRIu64 " is late by %" PRIu64 " and stands for %" PRIu64
		     ", but says %" PRIu64 " and %" PRIu64,
		     fold->n_windows, late_ns, n_ended, line->late_ns, line->merged);
	fold->most_merged = MAX(fold->most_merged, line->merged);
}

static void take_batch(struct fold *fold, const struct line *line)
{
	if (fold->size_ns)
		check_lateness(fold, line);
	if (line->rows != fold->batch_rows)
		fail(fold, "window %" PRIu64 ": %" PRIu64 " rows, batch says %" PRIu64,
		     fold->n_windows, fold->batch_rows, line->rows);
	if (line->matched > line->events)
		fail(fold, "window %" PRIu64 ": more matched than events", fold->n_windows);
	if (fold->has_all_events && line->events != fold->batch_calls)
		fail(fold, "window %" PRIu64 ": %" PRIu64 " events, rows say %" PRIu64,
		     fold->n_windows, line->events, fold->batch_calls);
	if (fold->advance_ns && line->end_ns <= fold->last_end_ns)
		fail(fold, "window %" PRIu64 " ends before the one before it", fold->n_windows);
	if (fold->advance_ns && fold->n_windows > 0 && !line->is_last)
		fold->n_skipped +=
			line->end_ns / fold->advance_ns - fold->last_end_ns / fold->advance_ns - 1;
	if (fold->n_windows > 0 && !fold->advance_ns && line->start_ns != fold->last_end_ns)
		fail(fold,
		     "window %" PRIu64 " starts at %" PRIu64 ", the one before ended at %" PRIu64,
		     fold->n_windows, line->start_ns, fold->last_end_ns);
	if (line->end_ns < line->start_ns)
		fail(fold, "window %" PRIu64 " ends before it starts", fold->n_windows);
	if (fold->n_windows == 0)
		fold->first_start_ns = line->start_ns;
	fold->last_end_ns = line->end_ns;
	fold->longest_window_ns = MAX(fold->longest_window_ns, line->end_ns - line->start_ns);
	fold->n_windows++;
	fold->n_partial += line->is_partial;
	fold->n_merged += MAX(line->merged, 1ull) - 1;
	fold->events += line->events;
	fold->matched += line->matched;
	fold->lost += line->lost;
	fold->lost_ring_full += line->ring_full;
	fold->lost_table_full += line->table_full;
	fold->was_last |= line->is_last;
	fold->batch_rows = 0;
	fold->batch_calls = 0;
}

static void take_row(struct fold *fold, const struct line *line)
{
	struct fold_cell cell = {
		.fd = line->has_fd ? line->fd : -1,
		.cpu = line->has_cpu ? line->cpu : -1,
		.calls = line->n,
		.sum = line->s,
		.min = line->lo,
		.max = line->hi,
	};

	if (!line->has_n) { /* a row of one event */
		cell.calls = 1;
		cell.sum = cell.min = cell.max = line->count;
	}
	fold->n_rows++;
	fold->batch_rows++;
	fold->batch_calls += cell.calls;
	fold->calls += cell.calls;
	fold->sum += cell.sum;
	if (fold->first_time_ns == 0)
		fold->first_time_ns = line->time_ns;
	if (line->is_other)
		fold->other_calls += cell.calls;
	else if (cell.calls > 0)
		add_cell(fold, &cell);
}

static void take_line(struct fold *fold, const char *text, size_t n)
{
	struct line line = { 0 };
	struct scan scan = { .at = text, .end = text + n, .line = &line };

	fold->n_lines++;
	if (!scan_object(&scan) || scan.at != scan.end)
		fail(fold, "line %" PRIu64 " is no JSON object: %.*s", fold->n_lines,
		     (int)MIN(n, (size_t)120), text);
	else if (line.is_batch)
		take_batch(fold, &line);
	else
		take_row(fold, &line);
}

void fold_feed(struct fold *fold, const char *bytes, size_t n)
{
	const char *end = bytes + n;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));

		if (!newline) {
			buf_put(&fold->line, bytes, (size_t)(end - bytes));
			return;
		}
		if (fold->line.n > 0) {
			buf_put(&fold->line, bytes, (size_t)(newline - bytes));
			take_line(fold, fold->line.at, fold->line.n);
			buf_reset(&fold->line);
		} else {
			take_line(fold, bytes, (size_t)(newline - bytes));
		}
		bytes = newline + 1;
	}
}

void fold_truth(struct fold *fold, const char *text)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		struct fold_cell cell;

		if (sscanf(text,
			   "%" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &cell.fd, &cell.cpu, &cell.calls, &cell.sum, &cell.min, &cell.max) != 6)
			continue;
		add_cell(fold, &cell);
		fold->calls += cell.calls;
		fold->sum += cell.sum;
	}
}

void fold_drop_keys(struct fold *fold, bool drop_fd, bool drop_cpu)
{
	struct fold_cell *old = fold->cells;
	u32 n = fold->capacity;

	fold->cells = calloc(n, sizeof(*fold->cells));
	BUG_ON(!fold->cells);
	fold->n_cells = 0;
	for (u32 i = 0; i < n; i++) {
		if (old[i].calls == 0)
			continue;
		if (drop_fd)
			old[i].fd = -1;
		if (drop_cpu)
			old[i].cpu = -1;
		add_cell(fold, &old[i]);
	}
	free(old);
}

bool fold_equals(struct fold *fold, const struct fold *truth)
{
	if (fold->line.n > 0)
		fail(fold, "the last line has no end");
	if (fold->batch_rows > 0)
		fail(fold, "%" PRIu64 " rows without a batch", fold->batch_rows);
	for (u32 i = 0; i < truth->capacity; i++) {
		const struct fold_cell *want = &truth->cells[i];
		const struct fold_cell *have = cell_at(fold, want->fd, want->cpu);

		if (want->calls == 0)
			continue;
		if (have->calls != want->calls || have->sum != want->sum ||
		    have->min != want->min || have->max != want->max)
			fail(fold,
			     "fd %" PRId64 " cpu %" PRId64 ": calls, sum, min, max are %" PRIu64
			     " %" PRIu64 " %" PRIu64 " %" PRIu64 " instead of %" PRIu64 " %" PRIu64
			     " %" PRIu64 " %" PRIu64,
			     want->fd, want->cpu, have->calls, have->sum, have->min, have->max,
			     want->calls, want->sum, want->min, want->max);
	}
	if (fold->n_cells != truth->n_cells)
		fail(fold, "%u keys instead of %u", fold->n_cells, truth->n_cells);
	if (fold->calls != truth->calls || fold->sum != truth->sum)
		fail(fold, "totals differ");
	return !fold->error[0];
}
