/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* JSON lines, one after the other; what is no JSON is the reader's error. */
#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scan {
	const char *at, *end;
	struct line *line;
	char path[READER_PATH_BYTES];
	u32 depth;
};

enum { DEPTH_MAX = 8 };

const struct leaf *line_leaf(const struct line *line, const char *path)
{
	for (u32 i = 0; i < line->n; i++)
		if (!strcmp(line->leaves[i].path, path))
			return &line->leaves[i];
	return NULL;
}

u64 line_number(const struct line *line, const char *path)
{
	const struct leaf *leaf = line_leaf(line, path);

	return leaf && leaf->kind == LEAF_INTEGER ? (u64)leaf->integer : 0;
}

const char *line_text(const struct line *line, const char *path)
{
	const struct leaf *leaf = line_leaf(line, path);

	return leaf && leaf->kind == LEAF_TEXT ? leaf->text : "";
}

u64 line_cells(const struct line *line, const char *name,
	       void (*cell)(void *context, s64 lo, s64 hi, u64 count), void *context)
{
	char path[READER_PATH_BYTES];
	const struct leaf *three[3];
	u32 n = 0;
	u64 sum = 0;

	snprintf(path, sizeof(path), "%.60s.cells[][]", name);
	for (u32 i = 0; i < line->n; i++) {
		if (strcmp(line->leaves[i].path, path))
			continue;
		three[n++] = &line->leaves[i];
		if (n < 3)
			continue;
		n = 0;
		sum += (u64)three[2]->integer;
		if (cell)
			cell(context,
			     three[0]->kind == LEAF_NULL ? INT64_MIN : (s64)three[0]->integer,
			     three[1]->kind == LEAF_NULL ? INT64_MAX : (s64)three[1]->integer,
			     (u64)three[2]->integer);
	}
	return sum;
}

static struct leaf *add_leaf(struct scan *scan, enum leaf_kind kind)
{
	struct line *line = scan->line;
	struct leaf *leaf;

	if (line->n == line->capacity) {
		line->capacity = line->capacity ? 2 * line->capacity : 64;
		line->leaves = realloc(line->leaves, line->capacity * sizeof(*line->leaves));
		BUG_ON(!line->leaves);
	}
	leaf = &line->leaves[line->n++];
	memset(leaf, 0, sizeof(*leaf));
	leaf->kind = kind;
	memcpy(leaf->path, scan->path, sizeof(leaf->path));
	return leaf;
}

static void skip_space(struct scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

static bool take(struct scan *scan, char c)
{
	skip_space(scan);
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

static bool take_string(struct scan *scan, char *ret_text, size_t size)
{
	size_t n = 0;

	if (!take(scan, '"'))
		return false;
	while (scan->at < scan->end && *scan->at != '"') {
		if (*scan->at == '\\' && ++scan->at == scan->end)
			return false;
		if (n + 1 < size)
			ret_text[n++] = *scan->at;
		scan->at++;
	}
	ret_text[n] = 0;
	return take(scan, '"');
}

static bool take_number(struct scan *scan)
{
	char text[64];
	size_t n = 0;
	struct leaf *leaf;
	s128 value = 0;

	while (scan->at < scan->end && strchr("+-.0123456789eE", *scan->at) && n + 1 < sizeof(text))
		text[n++] = *scan->at++;
	text[n] = 0;
	if (n == 0)
		return false;
	if (strpbrk(text, ".eE")) {
		leaf = add_leaf(scan, LEAF_REAL);
		leaf->real = strtod(text, NULL);
		return true;
	}
	for (const char *c = text + (*text == '-'); *c; c++) {
		if (*c < '0' || *c > '9')
			return false;
		value = value * 10 + (*c - '0');
	}
	add_leaf(scan, LEAF_INTEGER)->integer = *text == '-' ? -value : value;
	return true;
}

static bool take_word(struct scan *scan)
{
	static const struct {
		const char *text;
		enum leaf_kind kind;
	} words[] = { { "null", LEAF_NULL }, { "true", LEAF_BOOL }, { "false", LEAF_BOOL } };

	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].text);

		if ((size_t)(scan->end - scan->at) < n || memcmp(scan->at, words[i].text, n))
			continue;
		scan->at += n;
		add_leaf(scan, words[i].kind)->integer = i == 1;
		return true;
	}
	return false;
}

static bool take_value(struct scan *scan);

/* Members or elements up to `close`, with their names put behind the path. */
static bool take_many(struct scan *scan, bool is_object)
{
	char close = is_object ? '}' : ']';
	size_t n = strlen(scan->path);
	bool is_ok = true;

	if (take(scan, close))
		return true;
	if (scan->depth == DEPTH_MAX)
		return false;
	scan->depth++;
	do {
		char key[READER_PATH_BYTES] = "[]";

		if (is_object)
			is_ok = take_string(scan, key, sizeof(key)) && take(scan, ':');
		snprintf(scan->path + n, sizeof(scan->path) - n, "%s%s",
			 is_object && n > 0 ? "." : "", key);
		is_ok = is_ok && take_value(scan);
	} while (is_ok && take(scan, ','));
	scan->depth--;
	scan->path[n] = 0;
	return is_ok && take(scan, close);
}

static bool take_value(struct scan *scan)
{
	skip_space(scan);
	if (take(scan, '{'))
		return take_many(scan, true);
	if (take(scan, '['))
		return take_many(scan, false);
	if (scan->at < scan->end && *scan->at == '"') {
		char text[READER_TEXT_BYTES];

		if (!take_string(scan, text, sizeof(text)))
			return false;
		memcpy(add_leaf(scan, LEAF_TEXT)->text, text, sizeof(text));
		return true;
	}
	return take_word(scan) || take_number(scan);
}

static void add_up(u64 *total, u64 n, bool is_cumulative)
{
	*total = is_cumulative ? n : *total + n;
}

static void take_batch(struct reader *reader)
{
	const struct line *line = &reader->line;
	struct reader_totals *t = &reader->totals;
	bool over = reader->is_cumulative;
	u64 lost = 0;

	for (u32 i = 0; i < line->n; i++)
		if (!strncmp(line->leaves[i].path, "_batch.lost.", 12) &&
		    strcmp(line->leaves[i].path, "_batch.lost.unpaired"))
			lost += (u64)line->leaves[i].integer;
	t->n_batches++;
	t->n_merged += MAX(line_number(line, "_batch.merged"), 1ull) - 1;
	add_up(&t->events, line_number(line, "_batch.events"), over);
	add_up(&t->matched, line_number(line, "_batch.matched"), over);
	add_up(&t->lost, lost, over);
	add_up(&t->unpaired, line_number(line, "_batch.lost.unpaired"), over);
	add_up(&t->negative, line_number(line, "_batch.lost.negative"), over);
	add_up(&t->ring_full, line_number(line, "_batch.lost.ring_full"), over);
	add_up(&t->never_started, line_number(line, "_batch.unpaired.never_started"), over);
	add_up(&t->began_before, line_number(line, "_batch.unpaired.began_before"), over);
	add_up(&t->never_ended, line_number(line, "_batch.unpaired.never_ended"), over);
	add_up(&t->overwritten, line_number(line, "_batch.unpaired.overwritten"), over);
	add_up(&t->expired, line_number(line, "_batch.unpaired.expired"), over);
	add_up(&t->full, line_number(line, "_batch.unpaired.full"), over);
	if (line_number(line, "_batch.rows") != reader->batch_rows && !reader->error[0])
		snprintf(reader->error, sizeof(reader->error), "batch %lu says %lu rows, has %lu",
			 t->n_batches, line_number(line, "_batch.rows"), reader->batch_rows);
	reader->batch_rows = 0;
}

static void take_line(struct reader *reader, const char *text, size_t n)
{
	struct scan scan = { .at = text, .end = text + n, .line = &reader->line };

	reader->line.n = 0;
	reader->line.is_batch = false;
	if (!take(&scan, '{') || !take_many(&scan, true) || scan.at != scan.end) {
		if (!reader->error[0])
			snprintf(reader->error, sizeof(reader->error), "no JSON object: %.*s",
				 (int)MIN(n, (size_t)160), text);
		return;
	}
	reader->line.is_batch = line_leaf(&reader->line, "_batch.rows") != NULL;
	if (reader->line.is_batch) {
		take_batch(reader);
		if (reader->batch)
			reader->batch(reader->context, &reader->line);
		return;
	}
	reader->totals.n_rows++;
	reader->batch_rows++;
	if (reader->row)
		reader->row(reader->context, &reader->line);
}

void reader_init(struct reader *reader, void (*row)(void *context, const struct line *line),
		 void *context)
{
	memset(reader, 0, sizeof(*reader));
	reader->row = row;
	reader->context = context;
	buf_init(&reader->rest);
}

void reader_free(struct reader *reader)
{
	free(reader->line.leaves);
	buf_free(&reader->rest);
}

void reader_feed(void *context, const char *bytes, size_t n)
{
	struct reader *reader = context;
	const char *end = bytes + n, *newline;

	while ((newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		buf_put(&reader->rest, bytes, (size_t)(newline - bytes));
		take_line(reader, reader->rest.at, reader->rest.n);
		buf_reset(&reader->rest);
		bytes = newline + 1;
	}
	buf_put(&reader->rest, bytes, (size_t)(end - bytes));
}
