/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * EXPLAIN, SHOW and DESCRIBE -> rows of text, for who takes rows.
 */
#include <sqlite3.h>
#include <string.h>

#include "query/query.h"

struct rows {
	struct query *query;
	VEC(struct value) values;
};

static void add(struct rows *r, const char *text, size_t n)
{
	struct arena *arena = &r->query->arena;

	vec_push(arena, &r->values,
		 (struct value){
			 .kind = VALUE_TEXT, .text = arena_strndup(arena, text, n), .n = (u32)n });
}

static bool explain(struct rows *r)
{
	const char *stage = r->query->statement->text;
	struct buf text;
	size_t n;
	bool is_good;

	buf_init(&text);
	is_good = query_explain(r->query, stage ? stage : "physical", &text);
	for (const char *at = text.at; is_good && *at; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		add(r, at, n);
	}
	buf_free(&text);
	return is_good;
}

/* --- Streams and views --- */

struct search {
	const char *pattern;
	query_stream_function *each_stream;
	query_view_function *each_view;
	void *context;
	bool is_exact;	  /* only the names of which the pattern is a part, or only the others */
	const char *span; /* by which a function is called that the catalog has as a kprobe */
};

/* Is the pattern the name, or a part of it, as a category is? */
static bool is_exactly(const char *name, const char *pattern)
{
	size_t m = strlen(pattern);

	for (; name; name = strchr(name, ':') ? strchr(name, ':') + 1 : NULL)
		if (!strncmp(name, pattern, m) && (!name[m] || name[m] == ':'))
			return true;
	return false;
}

static void look_at_stream(void *context, const char *name)
{
	struct search *search = context;

	if (is_exactly(name, search->pattern) == search->is_exact)
		search->each_stream(search->context, name);
}

/* Of each system call, its span. */
static void look_at_call(void *context, const char *name)
{
	struct search *search = context;
	char span[128];

	snprintf(span, sizeof(span), "syscall:%s", strrchr(name, ':') + sizeof(":sys_exit_") - 1);
	if (stream_matches(span, search->pattern))
		look_at_stream(search, span);
}

static void look_at_function(void *context, const char *name)
{
	struct search *search = context;
	char span[256];

	snprintf(span, sizeof(span), "%s%s", search->span, strchr(name, ':'));
	look_at_stream(search, span);
}

static void look_at_stream_view(void *context, const struct view *view)
{
	struct search *search = context;

	if (stream_matches(view->name, search->pattern))
		search->each_stream(search->context, view->name);
}

bool query_each_stream(struct query *query, const char *pattern, query_stream_function *each,
		       void *context)
{
	struct search search = { pattern, each, NULL, context, true };
	static const char *const functions[][2] = { { "function", "kprobe" },
						    { "userfunction", "uprobe" } };

	if (!query_open_catalog(query))
		return false;
	views_each(&query->views, look_at_stream_view, &search);
	do {
		catalog_each(query->catalog, "tracepoint:syscalls:sys_exit_*", look_at_call,
			     &search);
		catalog_each(query->catalog, pattern, look_at_stream, &search);
		for (u32 i = 0; i < ARRAY_SIZE(functions); i++) {
			size_t n = strlen(functions[i][0]);

			if (strncmp(pattern, functions[i][0], n) != 0 || pattern[n] != ':')
				continue;
			search.span = functions[i][0];
			catalog_each(
				query->catalog,
				arena_printf(&query->arena, "%s%s", functions[i][1], pattern + n),
				look_at_function, &search);
		}
		search.is_exact = !search.is_exact;
	} while (!search.is_exact);
	return true;
}

static void look_at_view(void *context, const struct view *view)
{
	struct search *search = context;
	size_t n = strlen(view->comment);

	if (search->pattern && sqlite3_strlike(search->pattern, view->name, 0) != 0)
		return;
	while (n && view->comment[n - 1] == '\n')
		n--;
	search->each_view(search->context, view->name, view->comment, n);
}

void query_each_view(struct query *query, const char *like, query_view_function *each,
		     void *context)
{
	views_each(&query->views, look_at_view, &(struct search){ like, NULL, each, context });
}

/* SHOW STREAMS LIKE 'sched%' -> sched* */
const char *query_stream_pattern(struct query *query)
{
	const char *like = query->statement->text;
	char *pattern = arena_strdup(&query->arena, like ? like : "");

	for (char *p = pattern; *p; p++)
		*p = *p == '%' ? '*' : *p == '_' ? '?' : *p;
	return pattern;
}

static void add_stream(void *rows, const char *name)
{
	add(rows, name, strlen(name));
}

static bool streams(struct rows *r)
{
	return query_each_stream(r->query, query_stream_pattern(r->query), add_stream, r);
}

static void add_view(void *rows, const char *name, const char *comment, size_t n)
{
	add(rows, name, strlen(name));
	add(rows, comment, n);
}

static bool views(struct rows *r)
{
	query_each_view(r->query, r->query->statement->text, add_view, r);
	return true;
}

/* --- Columns --- */

static void add_line(struct rows *r, const char *text)
{
	add(r, text, strlen(text));
}

static bool describe(struct rows *r)
{
	struct query_description d;

	if (!query_describe(r->query, r->query->statement->source, &d))
		return false;
	for (u32 i = 0; i < d.columns.n + d.system.n; i++) {
		const struct query_column *c =
			i < d.columns.n ? &d.columns.at[i] : &d.system.at[i - d.columns.n];

		add_line(r, c->name);
		add_line(r, c->type);
		add_line(r, c->meaning);
		add_line(r, i < d.columns.n ? "column" : "system column");
	}
	return true;
}

/* --- Statements --- */

static const struct showing {
	const char *columns[5]; /* NULL ends them */
	bool (*show)(struct rows *r);
} showings[] = {
	[AST_STATEMENT_EXPLAIN] = { { "line" }, explain },
	[AST_STATEMENT_SHOW_STREAMS] = { { "stream" }, streams },
	[AST_STATEMENT_SHOW_VIEWS] = { { "view", "comment" }, views },
	[AST_STATEMENT_DESCRIBE] = { { "name", "type", "meaning", "kind" }, describe },
};

static const struct showing *showing_of(const struct query *query)
{
	const struct ast_statement *s = query->statement;

	if (!s || s->kind >= ARRAY_SIZE(showings) || s->analyze || !showings[s->kind].show)
		return NULL;
	return &showings[s->kind];
}

bool query_shows(const struct query *query)
{
	return showing_of(query) != NULL;
}

bool query_show(struct query *query, struct batch *ret_batch)
{
	const struct showing *showing = showing_of(query);
	struct rows r = { .query = query };
	struct schema *schema = arena_new(&query->arena, struct schema);

	while (showing->columns[schema->n_columns])
		schema->n_columns++;
	schema->columns = arena_array(&query->arena, struct column, schema->n_columns);
	for (u32 i = 0; i < schema->n_columns; i++)
		schema->columns[i] =
			(struct column){ .name = showing->columns[i], .type = type_text(0) };
	if (!showing->show(&r))
		return false;
	*ret_batch = (struct batch){ .schema = schema,
				     .n_rows = r.values.n / schema->n_columns,
				     .values = r.values.at,
				     .other_row = -1,
				     .is_last = true };
	return true;
}
