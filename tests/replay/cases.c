/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * cases.sql -> cases.  The file is SQL with comments that say what the events are
 * and which rows must come:
 *
 *   -- events: a new set of events follows
 *   -- event: f_u8=1 name='abc'     one event; what is not named is 0 or ''
 *   -- event: other f_u8=1          one of tracepoint:test:other
 *   -- case: what is shown          begins a case over the set
 *   -- max_groups: 4
 *   -- own: why SQLite differs      else SQLite must give the same rows
 *   -- ordered                      rows in this order, else in any
 *   SELECT ... ;
 *   -- row: 1 | 'abc' | NULL | 2.5
 *   -- other: NULL | 7              the "(other)" row
 *   -- lost: fault=2
 *   -- refused: tag                 instead of rows: a diagnostic
 * In texts \xHH is a byte and \\ a backslash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

struct reader {
	const char *path;
	u32 line;
	struct arena *arena;
	struct case_file *file;
	struct replay_case *open; /* the case being read */
	VEC(struct event) events;
	struct buf sql;
	struct rng garbage;
};

_Noreturn static void malformed(struct reader *r, const char *what)
{
	BUG("%s:%u: %s", r->path, r->line, what);
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

static int hex_digit(struct reader *r, char c)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, c);

	if (!c || !at)
		malformed(r, "bad \\x in a text");
	return at - digits;
}

/* '...' -> its bytes; returns what stands behind it. */
static const char *take_text(struct reader *r, const char *at, const char **ret, u32 *ret_n)
{
	char *text = arena_alloc(r->arena, strlen(at) + 1);
	u32 n = 0;

	for (at++; *at && *at != '\''; at++) {
		if (at[0] == '\\' && at[1] == 'x') {
			text[n++] = (char)(hex_digit(r, at[2]) << 4 | hex_digit(r, at[3]));
			at += 3;
		} else {
			at += at[0] == '\\' && at[1] == '\\';
			text[n++] = *at;
		}
	}
	if (!*at)
		malformed(r, "a text without its end");
	*ret = text;
	*ret_n = n;
	return at + 1;
}

static const char *take_integer(struct reader *r, const char *at, s128 *ret)
{
	bool is_negative = *at == '-';
	s128 value = 0;

	at += is_negative;
	if (*at < '0' || *at > '9')
		malformed(r, "a number is missing");
	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (*at - '0');
	*ret = is_negative ? -value : value;
	return at;
}

static void read_event(struct reader *r, const char *at)
{
	struct event event;

	event_init(&event);
	at = skip_blanks(at);
	if (!strncmp(at, "other ", 6)) {
		event.stream = STREAM_OTHER;
		at += 6;
	}
	for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
		size_t n = strcspn(at, "=");
		u32 i = 0;

		while (i < C_N && (strlen(column_infos[i].name) != n ||
				   strncmp(column_infos[i].name, at, n) != 0))
			i++;
		if (i == C_N || at[n] != '=')
			malformed(r, "no such column");
		at += n + 1;
		if (column_infos[i].is_text)
			at = take_text(r, at, &event.texts[i], &event.text_bytes[i]);
		else
			at = take_integer(r, at, &event.integers[i]);
	}
	event_encode(&event, r->arena, &r->garbage);
	vec_push(r->arena, &r->events, event);
}

static void read_row(struct reader *r, const char *at)
{
	struct value values[16];
	u32 n = 0;

	for (at = skip_blanks(at);; at = skip_blanks(at + 1)) {
		struct value *v = &values[n++];
		size_t length = strcspn(at, " |");

		*v = (struct value){ .kind = VALUE_NULL };
		if (*at == '\'') {
			v->kind = VALUE_TEXT;
			at = take_text(r, at, &v->text, &v->n);
		} else if (!strncmp(at, "NULL", 4)) {
			at += 4;
		} else if (memchr(at, '.', length) || memchr(at, 'e', length)) {
			v->kind = VALUE_REAL;
			v->real = strtod(at, (char **)&at);
		} else {
			v->kind = VALUE_INT;
			at = take_integer(r, at, &v->integer);
		}
		at = skip_blanks(at);
		if (*at != '|' || n == ARRAY_SIZE(values))
			break;
	}
	if (*at)
		malformed(r, "values are separated by |");
	if (r->open->expected.n_rows && r->open->expected.n_columns != n)
		malformed(r, "rows differ in their number of values");
	r->open->expected.n_columns = n;
	result_add_row(&r->open->expected, r->arena, values);
}

static void read_lost(struct reader *r, const char *at)
{
	for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
		size_t n = strcspn(at, "=");
		u32 i = 0;
		s128 count;

		while (i < LOSS_N &&
		       (strlen(loss_names[i]) != n || strncmp(loss_names[i], at, n) != 0))
			i++;
		if (i == LOSS_N || at[n] != '=')
			malformed(r, "no such loss");
		at = take_integer(r, at + n + 1, &count);
		r->open->faults_checked |= i == LOSS_FAULT;
		r->open->expected.lost[i] = (u64)count;
	}
}

static void begin_case(struct reader *r, const char *name)
{
	struct replay_case new_case = { .name = arena_strdup(r->arena, name), .line = r->line };

	new_case.expected.other_row = -1;
	for (u32 i = 0; i < r->events.n; i++)
		vec_push(r->arena, &new_case.events, r->events.at[i]);
	for (u32 i = 0; i < r->events.n; i++)
		new_case.has_others |= r->events.at[i].stream == STREAM_OTHER;
	vec_push(r->arena, &r->file->cases, new_case);
	r->open = &r->file->cases.at[r->file->cases.n - 1];
}

/* What stands behind "-- WORD", or NULL when the line is not that one. */
static const char *line_of(const char *line, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(line, "-- ", 3) != 0 || strncmp(line + 3, word, n) != 0)
		return NULL;
	return skip_blanks(line + 3 + n);
}

static void read_comment(struct reader *r, const char *line)
{
	const char *rest;
	s128 n;

	if ((rest = line_of(line, "events:"))) {
		r->events.n = 0;
		r->open = NULL;
		return;
	}
	if ((rest = line_of(line, "event:"))) {
		read_event(r, rest);
		return;
	}
	if ((rest = line_of(line, "case:"))) {
		begin_case(r, rest);
		return;
	}
	if (!r->open)
		return;
	if ((rest = line_of(line, "max_groups:"))) {
		take_integer(r, rest, &n);
		r->open->max_groups = (u64)n;
	} else if ((rest = line_of(line, "own:"))) {
		r->open->reason = arena_strdup(r->arena, rest);
	} else if (line_of(line, "ordered")) {
		r->open->is_ordered = true;
	} else if ((rest = line_of(line, "row:"))) {
		read_row(r, rest);
	} else if ((rest = line_of(line, "other:"))) {
		r->open->expected.other_row = r->open->expected.n_rows;
		read_row(r, rest);
	} else if ((rest = line_of(line, "lost:"))) {
		read_lost(r, rest);
	} else if ((rest = line_of(line, "refused:"))) {
		r->open->refused = arena_strdup(r->arena, rest);
	}
}

static void read_sql(struct reader *r, const char *line)
{
	const char *end = strchr(line, ';');

	if (!r->open || r->open->sql)
		malformed(r, "a query without its case");
	if (r->sql.n)
		buf_putc(&r->sql, ' ');
	buf_put(&r->sql, line, end ? (size_t)(end - line) : strlen(line));
	if (end) {
		r->open->sql = arena_strdup(r->arena, r->sql.at);
		buf_reset(&r->sql);
	}
}

struct case_file *case_file_read(const char *path, struct arena *arena)
{
	struct reader r = { .path = path, .arena = arena, .garbage = { 7 } };
	FILE *file = fopen(path, "r");
	char line[1024];

	if (!file)
		BUG("cannot open %s", path);
	r.file = arena_new(arena, struct case_file);
	buf_init(&r.sql);
	while (fgets(line, sizeof(line), file)) {
		size_t n = strlen(line);

		r.line++;
		if (n + 1 == sizeof(line))
			malformed(&r, "the line is too long");
		while (n && (line[n - 1] == '\n' || line[n - 1] == ' '))
			line[--n] = '\0';
		if (!strncmp(line, "--", 2))
			read_comment(&r, line);
		else if (n)
			read_sql(&r, line);
	}
	fclose(file);
	for (u32 i = 0; i < r.file->cases.n; i++) {
		r.line = r.file->cases.at[i].line;
		if (!r.file->cases.at[i].sql)
			malformed(&r, "a case without a query");
	}
	buf_free(&r.sql);
	return r.file;
}
