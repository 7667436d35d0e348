/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The text before the cursor -> what its last word may become: keywords, functions,
 * settings, streams (a segment at a time), views, and the columns of the sources that
 * the statement names.  The text need not parse; what cannot be bound has no columns.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/describe.h"
#include "cli/shell.h"

static const char *const statements[] = { "SELECT", "WITH", "EXPLAIN", "SHOW",
					  "CREATE", "DROP", "SET",     "DESCRIBE" };

struct search {
	struct shell *shell;
	struct arena *arena;
	const char *word; /* what has been typed of it; of a stream: written out in full */
	size_t n;	  /* its length */
	const char *path; /* what stands before the word and a dot: rq.q */
	bool has_source;  /* the statement names one */
	struct names *names;
};

static void add(struct search *search, const char *name)
{
	vec_push(search->arena, &search->names->list, name);
}

static void offer(void *context, const char *name)
{
	struct search *search = context;

	if (strncasecmp(name, search->word, search->n) == 0)
		add(search, arena_strdup(search->arena, name));
}

/* --- Streams --- */

static void keep_stream(void *context, const char *name)
{
	static const char call[] = "tracepoint:syscalls:sys_exit_";
	struct names *names = context;

	vec_push(names->arena, &names->list, arena_strdup(names->arena, name));
	if (strncmp(name, call, sizeof(call) - 1) == 0)
		vec_push(names->arena, &names->list,
			 arena_printf(names->arena, "syscall:%s", name + sizeof(call) - 1));
}

/* "tracepoint:sched:sched_switch" is offered as "tracepoint:", then with its next part. */
static void offer_stream(struct search *search, const char *name)
{
	const char *colon;

	if (strncmp(name, search->word, search->n) != 0)
		return;
	colon = strchr(name + search->n, ':');
	add(search,
	    arena_strndup(search->arena, name, colon ? (size_t)(colon - name) + 1 : strlen(name)));
}

/* Of spans, and of the kind whose names theirs are. */
static const char *const spans[][2] = { { "syscall:", "" },
					{ "function:", "kprobe:" },
					{ "userfunction:", "" } };

static void offer_kinds(struct search *search)
{
	const char *word;

	for (u32 kind = 0; kind < STREAM_N; kind++) {
		word = stream_kind_word((enum stream_kind)kind);
		if (word)
			offer_stream(search, arena_printf(search->arena, "%s:", word));
	}
	for (u32 i = 0; i < ARRAY_SIZE(spans); i++)
		offer_stream(search, spans[i][0]);
}

/* As "function:", with a name of kprobe's. */
struct renamed {
	struct search *search;
	const char *as;
};

static void offer_renamed(void *context, const char *name)
{
	const struct renamed *r = context;

	offer_stream(r->search,
		     arena_printf(r->search->arena, "%s%s", r->as, strchr(name, ':') + 1));
}

/* Names of which there are too many to keep: those that begin as the word does. */
static void offer_many(struct search *search)
{
	struct renamed r = { search, NULL };
	const char *name = strchr(search->word, ':') + 1, *kind;

	r.as = kind = arena_strndup(search->arena, search->word, (size_t)(name - search->word));
	for (u32 i = 0; i < ARRAY_SIZE(spans); i++)
		if (!strcmp(kind, spans[i][0]))
			kind = spans[i][1];
	if (*kind)
		catalog_each(keep_catalog(&search->shell->keep),
			     arena_printf(search->arena, "%s%s", kind, name), offer_renamed, &r);
}

static void offer_view(void *context, const struct view *view)
{
	offer(context, view->name);
}

static void offer_sources(struct search *search)
{
	struct shell *shell = search->shell;

	if (!shell->streams.list.n)
		catalog_each(keep_catalog(&shell->keep), "", keep_stream, &shell->streams);
	search->word = stream_written_out(search->arena,
					  arena_strndup(search->arena, search->word, search->n));
	search->n = strlen(search->word);
	for (u32 i = 0; i < shell->streams.list.n; i++)
		offer_stream(search, shell->streams.list.at[i]);
	if (strchr(search->word, ':'))
		offer_many(search);
	else
		offer_kinds(search);
	views_each(&shell->keep.views, offer_view, search);
}

/* --- Columns --- */

static void offer_system(struct search *search)
{
	for (u32 i = 0; i < SYS_SHOWN; i++)
		offer(search, system_columns[i].name);
}

/* The columns of the source, and every event's; or the members behind a path.  false: none. */
static bool offer_described(struct search *search, const char *written)
{
	struct query_description d;
	struct query q;
	bool is_good = query_init_kept(&q, &search->shell->keep) &&
		       describe_written(&q, written, strlen(written), &d);

	if (is_good) {
		for (u32 i = 0; i < d.columns.n; i++)
			offer(search, d.columns.at[i].name);
		for (u32 i = 0; i < d.system.n; i++)
			offer(search, d.system.at[i].name);
	}
	query_free(&q);
	return is_good;
}

/* x.rq.q.: of column rq or, where x is the source's name, of column q; x. alone: all columns. */
static void offer_columns(void *context, const char *written, size_t n)
{
	struct search *search = context;
	const char *source = arena_strndup(search->arena, written, n), *path = search->path, *dot;

	search->has_source = true;
	while (path) {
		if (offer_described(search, arena_printf(search->arena, "%s.%s", source, path)))
			return;
		dot = strchr(path, '.');
		if (dot && path != search->path)
			return;
		path = dot ? dot + 1 : NULL;
	}
	if (!search->path || !strchr(search->path, '.'))
		offer_described(search, source);
}

/* The names before the word that begins there, without the last dot; NULL: there are none. */
static const char *path_before(struct arena *arena, const char *text, size_t start)
{
	size_t first = start;

	while (first && (text[first - 1] == '.' || text[first - 1] == '_' ||
			 isalnum((unsigned char)text[first - 1])))
		first--;
	return first + 1 < start ? arena_strndup(arena, text + first, start - 1 - first) : NULL;
}

/* --- Words of the language --- */

static void offer_call(struct search *search, const char *name)
{
	offer(search, arena_printf(search->arena, "%s(", name));
}

static void offer_functions(struct search *search)
{
	for (u32 i = 0; aggregate_name_at(i); i++)
		offer_call(search, aggregate_name_at(i));
	for (u32 i = 0; function_name_at(i); i++)
		offer_call(search, function_name_at(i));
	for (u32 i = 0; read_name_at(i); i++)
		offer_call(search, read_name_at(i));
	for (u32 i = 0; i < SCHEME_N; i++)
		offer_call(search, scheme_name(i));
	offer_call(search, "target_pid");
	offer_call(search, "target_tree");
	offer_call(search, "pid_in_ns");
	offer_call(search, "unnest");
}

/* In the case that the word has been begun in.  A blank follows; behind names, often a comma. */
static void offer_keyword(struct search *search, const char *keyword)
{
	bool is_lower = false;
	char *name;

	for (size_t i = 0; i < search->n; i++)
		is_lower |= search->word[i] >= 'a' && search->word[i] <= 'z';
	name = arena_printf(search->arena, "%s ", keyword);
	for (char *at = name; is_lower && *at; at++)
		*at = (char)(*at >= 'A' && *at <= 'Z' ? *at + 'a' - 'A' : *at);
	offer(search, name);
}

/* Has a function of that name been offered? */
static bool is_function(const struct search *search, const char *name)
{
	size_t n = strlen(name);

	for (u32 i = 0; i < search->names->list.n; i++)
		if (strncasecmp(search->names->list.at[i], name, n) == 0 &&
		    search->names->list.at[i][n] == '(')
			return true;
	return false;
}

static void offer_keywords(struct search *search)
{
	const char *keyword;

	for (u32 i = 0; (keyword = sql_keyword(i)); i++)
		if (!is_function(search, keyword))
			offer_keyword(search, keyword);
}

static void offer_commands(struct search *search)
{
	const char *name;

	for (u32 i = 0; (name = shell_command_name(i)); i++)
		offer(search, name);
}

/* --- What the candidates have in common --- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_unique(struct names *names)
{
	u32 n = 0;

	if (!names->list.n)
		return;
	qsort(names->list.at, names->list.n, sizeof(*names->list.at), compare);
	for (u32 i = 1; i < names->list.n; i++)
		if (strcmp(names->list.at[n], names->list.at[i]) != 0)
			names->list.at[++n] = names->list.at[i];
	names->list.n = n + 1;
}

static void finish(struct search *search, bool is_name, bool has_slashes,
		   struct completion *completion)
{
	const struct names *names = search->names;
	const char *first;
	size_t common, n;

	sort_unique(search->names);
	if (!names->list.n)
		return;
	first = names->list.at[0];
	common = strlen(first);
	for (u32 i = 1; i < names->list.n; i++) {
		size_t same = search->n;

		while (same < common && first[same] == names->list.at[i][same])
			same++;
		common = same;
	}
	completion->is_whole = names->list.n == 1;
	n = MIN(common - MIN(search->n, common), sizeof(completion->insert) - 2);
	memcpy(completion->insert, first + search->n, n);
	for (size_t i = 0; has_slashes && i < n; i++)
		if (completion->insert[i] == ':')
			completion->insert[i] = '/';
	if (completion->is_whole && !is_name && !strchr(": ", first[strlen(first) - 1]))
		completion->insert[n] = ' ';
}

static void offer_by_place(struct search *search, enum sql_place place, const char *text,
			   size_t n_bytes)
{
	switch (place) {
	case SQL_PLACE_START:
		for (u32 i = 0; i < ARRAY_SIZE(statements); i++)
			offer_keyword(search, statements[i]);
		break;
	case SQL_PLACE_SOURCE:
		offer_sources(search);
		break;
	case SQL_PLACE_OPTION:
		settings_each(offer, search);
		break;
	case SQL_PLACE_EXPRESSION:
		offer_functions(search);
		if (search->n)
			offer_keywords(search);
		/* fallthrough */
	case SQL_PLACE_MEMBER:
		sql_each_source(text, n_bytes, offer_columns, search);
		/* FROM is still to come: the columns that all streams have. */
		if (!search->has_source)
			offer_system(search);
		break;
	case SQL_PLACE_NONE:
		break;
	}
}

void shell_complete(struct shell *shell, const char *text, size_t n_bytes, size_t cursor,
		    struct arena *arena, struct completion *ret_completion)
{
	struct search search = { .shell = shell, .arena = arena, .names = &ret_completion->names };
	enum sql_place place = SQL_PLACE_NONE;
	bool has_slashes = false, is_blank;
	size_t start = 0, n;

	*ret_completion = (struct completion){ .names = { .arena = arena } };
	while (cursor && (n = sql_statement_bytes(text, cursor, &is_blank))) {
		text += n;
		n_bytes -= n;
		cursor -= n;
	}
	if (n_bytes && text[0] == '\\') {
		size_t name = strcspn(text, " \t");

		start = name < cursor ? name + strspn(text + name, " \t") : 0;
		if (start && strncmp(text, "\\d", name) == 0)
			place = SQL_PLACE_SOURCE;
	} else {
		place = sql_place_at_end(text, cursor, &start);
	}
	search.word = arena_strndup(arena, text + start, cursor - start);
	search.n = strlen(search.word);
	if (place == SQL_PLACE_MEMBER)
		search.path = path_before(arena, text, start);
	if (place == SQL_PLACE_SOURCE)
		has_slashes = strchr(search.word, '/') != NULL;
	if (n_bytes && text[0] == '\\' && !start)
		offer_commands(&search);
	else
		offer_by_place(&search, place, text, n_bytes);
	finish(&search, place == SQL_PLACE_EXPRESSION || place == SQL_PLACE_MEMBER, has_slashes,
	       ret_completion);
}
