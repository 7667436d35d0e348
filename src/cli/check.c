/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql snapshot: queries -> a text of what they rely on in this kernel (query/snapshot.c).
 * ebql check: such a text and another, or this kernel -> the differences, and whose they are.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/host.h"

#define FIRST_LINE "ebql snapshot 1\n"
#define BYTES_MAX  (64u << 20)

struct fact {
	const char *key, *value, *place; /* value and place: "" none */
};

struct relied {
	const char *file;
	struct buf text; /* the query's */
	VEC(struct fact) facts;
};

struct snapshot {
	const char *name; /* what differences say of it; NULL: this kernel */
	VEC(struct relied) queries;
};

/* --- Writing --- */

static void begin(const struct options *options, struct buf *out)
{
	struct utsname name = { 0 };

	uname(&name);
	buf_puts(out, FIRST_LINE);
	if (options->catalog_path)
		buf_printf(out, "catalog %s\n", options->catalog_path);
	else
		buf_printf(out, "kernel %s %s\n", name.release, name.machine);
}

/* The exit status: of a query that cannot be had here as if it were run. */
static int add(const struct options *options, const char *file, const struct buf *text,
	       bool is_quiet, struct buf *out)
{
	struct query query;
	int status;

	if (!query_init(&query, file, text->at, text->n))
		return tell_no_memory();
	query.diags.is_of_many = true;
	query.catalog_path = options->catalog_path;
	query_snapshot(&query, out);
	if (is_quiet)
		query.diags.list.n = 0;
	status = tell_diags(&query);
	query_free(&query);
	return status;
}

static int fail(const char *file, const char *why)
{
	tell("ebql: %s: %s\n", file, why);
	return 2;
}

static int read_file(const char *path, struct buf *text)
{
	int error;

	buf_reset(text);
	buf_puts(text, "");
	error = buf_read_file(text, path, BYTES_MAX);
	return error ? fail(path, strerror(-error)) : 0;
}

static int write_out(const char *path, struct buf *out, int status)
{
	const char *why;
	int fd, error;

	if (!path)
		return tell_answer(out, status);
	fd = written_open(path, false, &why);
	if (fd < 0)
		return fail(path, why);
	error = buf_flush(out, fd, NULL);
	if (close(fd) || error)
		return tell_failed(path, error ? -error : errno);
	return status;
}

int cmd_snapshot(struct options *options)
{
	const char *path = options->record_path, *dot = path ? strrchr(path, '.') : NULL;
	struct buf out, text;
	int status = 0, failed = 0, one;

	if (path && strcmp(path, "-") == 0)
		path = NULL;
	/* As "-o *.sql" has it. */
	if (dot && strcmp(dot, ".sql") == 0)
		return fail(path, "-o says where the snapshot goes, and this is a query's name");
	buf_init(&out);
	buf_init(&text);
	begin(options, &out);
	for (char **file = options->words; *file; file++) {
		failed = strchr(*file, '\n') ? fail(*file, "no name for a query")
					     : read_file(*file, &text);
		if (failed)
			break;
		one = add(options, *file, &text, false, &out);
		status = MAX(status, one);
	}
	status = failed ? failed : write_out(path, &out, status);
	buf_free(&text);
	buf_free(&out);
	return status;
}

/* --- Reading --- */

static struct fact fact_of(char *line)
{
	struct fact fact = { .key = line, .value = "", .place = "" };
	char *value = strncmp(line, "error ", 6) ? strstr(line, ": ") : NULL, *place;

	if (!value)
		return fact;
	*value = '\0';
	fact.value = value + 2;
	place = strstr(fact.value, ", ");
	if (place) {
		*place = '\0';
		fact.place = place + 2;
	}
	return fact;
}

/* Changes the text, and keeps it.  false: it is none of ours. */
static bool parse(struct arena *arena, char *text, struct snapshot *ret)
{
	struct relied *query = NULL;
	size_t n = strlen(FIRST_LINE);

	if (strncmp(text, FIRST_LINE, n) != 0)
		return false;
	text += n;
	for (char *line; (line = strsep(&text, "\n"));) {
		if (strncmp(line, "query ", 6) == 0) {
			vec_push(arena, &ret->queries, (struct relied){ .file = line + 6 });
			query = &ret->queries.at[ret->queries.n - 1];
			buf_init_in(&query->text, arena);
			buf_puts(&query->text, "");
		} else if (query && strncmp(line, "| ", 2) == 0) {
			buf_printf(&query->text, "%s\n", line + 2);
		} else if (query && *line) {
			vec_push(arena, &query->facts, fact_of(line));
		}
	}
	return true;
}

static int open_snapshot(struct arena *arena, const char *path, struct snapshot *ret)
{
	struct buf text;
	int status;

	*ret = (struct snapshot){ .name = path };
	buf_init_in(&text, arena);
	status = read_file(path, &text);
	if (status || parse(arena, text.at, ret))
		return status;
	tell("error[bad-snapshot]: %s is no snapshot of this version\n"
	     "  hint: ebql snapshot -o FILE QUERY.sql... writes one\n",
	     path);
	return 2;
}

/* Of the same queries, in this kernel (or the options' catalog). */
static void make_snapshot(const struct options *options, struct arena *arena,
			  const struct snapshot *old, struct snapshot *ret)
{
	struct buf text;

	*ret = (struct snapshot){ .name = options->catalog_path };
	buf_init_in(&text, arena);
	begin(options, &text);
	for (u32 i = 0; i < old->queries.n; i++)
		add(options, old->queries.at[i].file, &old->queries.at[i].text, true, &text);
	parse(arena, text.at, ret);
}

/* --- Comparing --- */

struct difference {
	const char *text;
	struct buf queries;
};

struct comparison {
	struct arena *arena;
	bool is_verbose;
	VEC(struct difference) list;
	bool is_broken;
};

/* Once, however many queries have it. */
static void differ(struct comparison *c, const struct relied *query, const char *text)
{
	u32 i = 0;

	while (i < c->list.n && strcmp(c->list.at[i].text, text) != 0)
		i++;
	if (i == c->list.n) {
		vec_push(c->arena, &c->list, (struct difference){ .text = text });
		buf_init_in(&c->list.at[i].queries, c->arena);
	}
	buf_printf(&c->list.at[i].queries, "%s%s", c->list.at[i].queries.n ? ", " : "",
		   query->file);
}

static void breaks(struct comparison *c, const struct relied *query, const char *text)
{
	c->is_broken = true;
	differ(c, query, text);
}

static const struct fact *find_fact(const struct relied *query, const char *key)
{
	for (u32 i = 0; i < query->facts.n; i++)
		if (strcmp(query->facts.at[i].key, key) == 0)
			return &query->facts.at[i];
	return NULL;
}

static bool is_error(const struct fact *fact)
{
	return strncmp(fact->key, "error ", 6) == 0;
}

/*
 * What one reads and the other does not is another way to the same answer; but a stream, which
 * only a wildcard can have lost, is part of it.
 */
static void compare_queries(struct comparison *c, const struct relied *old,
			    const struct relied *new)
{
	bool is_there = !new->facts.n || !is_error(&new->facts.at[0]);

	for (u32 i = 0; i < new->facts.n; i++) {
		const struct fact *is = &new->facts.at[i], *was = find_fact(old, is->key);

		if (is_error(is) && !was)
			breaks(c, old, is->key + strlen("error "));
		else if (was && strcmp(was->value, is->value) != 0)
			breaks(c, old,
			       arena_printf(c->arena, "%s: was %s, is %s", is->key, was->value,
					    is->value));
		else if (was && c->is_verbose && strcmp(was->place, is->place) != 0)
			differ(c, old,
			       arena_printf(c->arena, "%s: was %s, is %s (breaks nothing)", is->key,
					    was->place, is->place));
		else if (!was && c->is_verbose)
			differ(c, old,
			       arena_printf(c->arena, "%s: is read now (breaks nothing)", is->key));
	}
	for (u32 i = 0; is_there && i < old->facts.n; i++) {
		const char *key = old->facts.at[i].key;

		if (find_fact(new, key) || is_error(&old->facts.at[i]))
			continue;
		if (strncmp(key, "stream ", 7) == 0)
			breaks(c, old, arena_printf(c->arena, "%s: is gone", key));
		else if (c->is_verbose)
			differ(c, old, arena_printf(c->arena, "%s: is not read any more", key));
	}
}

static void compare(struct comparison *c, const struct snapshot *old, const struct snapshot *new)
{
	for (u32 i = 0; i < old->queries.n; i++) {
		const struct relied *query = &old->queries.at[i], *other = NULL;

		for (u32 k = 0; k < new->queries.n && !other; k++)
			if (strcmp(new->queries.at[k].file, query->file) == 0)
				other = &new->queries.at[k];
		if (!other)
			breaks(c, query, arena_printf(c->arena, "not in %s", new->name));
		else if (strcmp(other->text.at, query->text.at) != 0)
			breaks(c, query, arena_printf(c->arena, "another query in %s", new->name));
		else
			compare_queries(c, query, other);
	}
}

static int say(struct comparison *c, const struct snapshot *old, const struct snapshot *new)
{
	struct buf out;

	compare(c, old, new);
	buf_init(&out);
	for (u32 i = 0; i < c->list.n; i++)
		buf_printf(&out, "%s: %s\n", c->list.at[i].queries.at, c->list.at[i].text);
	tell_fold(&out, STDOUT_FILENO);
	return tell_answer(&out, c->is_broken);
}

int cmd_check(struct options *options)
{
	char **files = options->words;
	struct comparison c = { .is_verbose = options->is_verbose };
	struct snapshot old, new;
	struct arena arena;
	int status;

	if (files[1] && (files[2] || options->catalog_path))
		return fail(files[2] ? files[2] : options->catalog_path,
			    "a snapshot is compared with one other, or with a kernel");
	arena_init(&arena);
	c.arena = &arena;
	status = open_snapshot(&arena, files[0], &old);
	if (!status && files[1])
		status = open_snapshot(&arena, files[1], &new);
	else if (!status)
		make_snapshot(options, &arena, &old, &new);
	if (!status)
		status = say(&c, &old, &new);
	arena_free(&arena);
	return status;
}
