/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The path of a stream, as the query writes it -> the streams it names, or the
 * diagnostic that says why there are none.  A full name opens its own file only;
 * wildcards, short paths and did-you-mean read the list of all names, once.
 */
#include "cat/internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *shorthand;
	enum stream_kind kind;
} kinds[] = {
	{ "tracepoint", "t", STREAM_TRACEPOINT },
	{ "raw_tracepoint", "rt", STREAM_RAW_TRACEPOINT },
};

static const char *kind_name(enum stream_kind kind)
{
	return kinds[kind == STREAM_RAW_TRACEPOINT].name;
}

bool is_wildcard(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

static const char *canonical_name(struct arena *arena, enum stream_kind kind, const char *category,
				  const char *event)
{
	return kind == STREAM_TRACEPOINT ? arena_printf(arena, "tracepoint:%s:%s", category, event)
					 : arena_printf(arena, "raw_tracepoint:%s", event);
}

struct stream *stream_new(struct arena *arena, enum stream_kind kind, const char *category,
			  const char *event)
{
	struct stream *stream = arena_new(arena, struct stream);

	stream->kind = kind;
	stream->category = category ? arena_strdup(arena, category) : NULL;
	stream->event = arena_strdup(arena, event);
	stream->name = canonical_name(arena, kind, category, event);
	stream->syscall_nr = -1;
	if (category && !strcmp(category, "syscalls")) {
		stream->is_syscall_enter = !strncmp(event, "sys_enter_", 10);
		stream->is_syscall_exit = !strncmp(event, "sys_exit_", 9);
		if (stream->is_syscall_enter || stream->is_syscall_exit)
			stream->syscall_nr =
				syscall_number(event + (stream->is_syscall_enter ? 10 : 9));
	}
	return stream;
}

void stream_names_add(struct arena *arena, struct stream_names *names, enum stream_kind kind,
		      const char *category, const char *event)
{
	size_t skip = kind == STREAM_TRACEPOINT ? strlen("tracepoint:") : strlen("raw_tracepoint:");
	struct stream_name name = { .name = canonical_name(arena, kind, category, event) };

	if (category) {
		name.category = arena_strdup(arena, category);
		skip += strlen(category) + 1;
	}
	name.event = name.name + skip;
	vec_push(arena, &names->list, name);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct stream_name *)a)->name, ((const struct stream_name *)b)->name);
}

void stream_names_sort(struct stream_names *names)
{
	if (names->list.n)
		qsort(names->list.at, names->list.n, sizeof(names->list.at[0]), compare_names);
}

const struct stream_names *catalog_names(struct catalog *catalog, enum stream_kind kind)
{
	struct stream_names *names = &catalog->names[kind];

	if (names->is_loaded)
		return names;
	names->is_loaded = true;
	if (!catalog->is_live) {
		for (u32 i = 0; i < catalog->frozen.n; i++) {
			const struct stream *stream = catalog->frozen.at[i];

			if (stream->kind == kind)
				stream_names_add(catalog->arena, names, kind, stream->category,
						 stream->event);
		}
	} else {
		names->error = kind == STREAM_TRACEPOINT ? tracefs_names(catalog, names)
							 : raw_names(catalog, names);
	}
	stream_names_sort(names);
	return names;
}

static struct stream *frozen_load(struct catalog *catalog, enum stream_kind kind,
				  const char *category, const char *event)
{
	for (u32 i = 0; i < catalog->frozen.n; i++) {
		struct stream *stream = catalog->frozen.at[i];

		if (stream->kind == kind && !strcmp(stream->event, event) &&
		    (!category || !strcmp(stream->category, category)))
			return stream;
	}
	return NULL;
}

/* NULL and *ret_error: -ENOENT, or why tracefs could not be asked. */
static struct stream *load(struct catalog *catalog, enum stream_kind kind, const char *category,
			   const char *event, int *ret_error)
{
	struct stream *stream;
	char path[256];
	int n;

	*ret_error = -ENOENT;
	if (!catalog->is_live)
		return frozen_load(catalog, kind, category, event);
	if (kind == STREAM_RAW_TRACEPOINT)
		return raw_load(catalog, event);
	/* Names come from the user: they stay below events/. */
	if (strchr(category, '/') || strchr(event, '/') || category[0] == '.' || event[0] == '.' ||
	    !category[0] || !event[0] || !strcmp(category, "ftrace"))
		return NULL;
	n = snprintf(path, sizeof(path), "events/%s/%s/format", category, event);
	if (n >= (int)sizeof(path))
		return NULL;
	*ret_error = tracefs_read(catalog, path);
	if (*ret_error == -ENOTDIR)
		*ret_error = -ENOENT;
	if (*ret_error)
		return NULL;
	stream = stream_new(catalog->arena, kind, category, event);
	*ret_error = format_parse(catalog->arena, catalog->scratch.at, catalog->scratch.n, stream);
	return *ret_error ? NULL : stream;
}

/* One call's look-up. */
struct find {
	struct catalog *catalog;
	enum stream_kind kind;
	const char *category; /* pattern; NULL: any */
	const char *event;    /* pattern */
	const char *wanted;   /* as the user wrote it, with ':' between the parts */
	struct span span;
	struct diags *diags;
	struct stream_list *list;
};

static void complain_error(const struct find *find, int error)
{
	struct diag *diag;

	if (error == -EINVAL) {
		diag_error(find->diags, "unknown-stream", find->span,
			   "the format file of %s cannot be understood", find->wanted);
	} else if (find->kind == STREAM_RAW_TRACEPOINT) {
		diag = diag_error(find->diags, "no-btf", find->span,
				  "the kernel has no BTF (%s), so its raw tracepoints are unknown",
				  strerror(-find->catalog->btf_error));
		diag_hint(find->diags, diag,
			  "a kernel built with CONFIG_DEBUG_INFO_BTF=y has it; without it the "
			  "names are read from tracefs, which failed too");
	} else {
		tracefs_complain(find->catalog, error, find->span, find->diags);
	}
}

/* Number of the system call that "sys_enter_fstat" speaks of, or -1. */
static s32 event_syscall(const char *event)
{
	if (!strncmp(event, "sys_enter_", 10))
		return syscall_number(event + 10);
	return strncmp(event, "sys_exit_", 9) ? -1 : syscall_number(event + 9);
}

/*
 * A name that is surely the one meant: the same event in another category, the name
 * that tracefs has for the system call (newfstat for fstat), or one with digits
 * behind it (pread64 for pread), which by distance alone would be "read".
 */
static bool is_meant(const struct find *find, const struct stream_name *name)
{
	size_t n = strlen(find->event);
	s32 nr;

	if (!strncmp(name->event, find->event, n) &&
	    strspn(name->event + n, "0123456789") == strlen(name->event + n))
		return true;
	if (find->kind != STREAM_TRACEPOINT || strcmp(name->category, "syscalls") != 0 ||
	    strncmp(name->event, find->event, 8) != 0)
		return false;
	nr = event_syscall(find->event);
	return nr >= 0 && nr == event_syscall(name->event);
}

static void hint_unknown(const struct find *find, const struct stream_names *names,
			 struct diag *diag)
{
	struct suggest whole, event;

	suggest_init(&whole, strchr(find->wanted, ':') + 1);
	suggest_init(&event, find->event);
	for (u32 i = 0; i < names->list.n; i++) {
		const struct stream_name *name = &names->list.at[i];

		if (is_meant(find, name)) {
			diag_hint(find->diags, diag, "did you mean \"%s\"?", name->name);
			return;
		}
		suggest_offer(&whole, strchr(name->name, ':') + 1);
		suggest_offer(&event, name->event);
	}
	if (suggest_best(&whole))
		diag_hint(find->diags, diag, "did you mean \"%s:%s\"?", kind_name(find->kind),
			  suggest_best(&whole));
	else if (suggest_best(&event))
		diag_hint(find->diags, diag, "did you mean the event \"%s\"?",
			  suggest_best(&event));
	else
		diag_hint(find->diags, diag,
			  "ebql list shows the streams, ebql list WORD those that contain WORD");
}

static void complain_unknown(const struct find *find)
{
	const struct stream_names *names = catalog_names(find->catalog, find->kind);
	struct diag *diag;

	if (names->error) {
		complain_error(find, names->error);
		return;
	}
	diag = diag_error(find->diags, "unknown-stream", find->span, "there is no stream %s%s",
			  find->wanted, find->catalog->is_live ? "" : " in this snapshot");
	if (find->list->is_wildcard)
		diag_hint(find->diags, diag, "no name matches the wildcard; ebql list shows them");
	else
		hint_unknown(find, names, diag);
}

/* Loads every name that both patterns match. */
static int find_matches(struct find *find)
{
	const struct stream_names *names = catalog_names(find->catalog, find->kind);
	struct stream *stream;
	int error;

	if (names->error)
		return names->error;
	for (u32 i = 0; i < names->list.n; i++) {
		const struct stream_name *name = &names->list.at[i];

		if (fnmatch(find->event, name->event, 0) ||
		    (find->category && fnmatch(find->category, name->category, 0)))
			continue;
		stream = load(find->catalog, find->kind, name->category, name->event, &error);
		if (stream)
			vec_push(find->catalog->arena, &find->list->streams, stream);
		else if (error != -ENOENT)
			return error;
	}
	return 0;
}

/* "tracepoint:NAME": the category is found when only one has that name. */
static bool complain_ambiguous(const struct find *find)
{
	const struct stream_list *list = find->list;
	struct diag *diag;

	if (find->category || list->is_wildcard || list->streams.n < 2 ||
	    find->kind != STREAM_TRACEPOINT)
		return false;
	diag = diag_error(find->diags, "ambiguous-stream", find->span,
			  "more than one category has a tracepoint %s", find->event);
	diag_hint(find->diags, diag, "write \"%s\" or \"%s\"", list->streams.at[0]->name,
		  list->streams.at[1]->name);
	return true;
}

/* Kinds of the language that this version does not have. */
static bool is_planned(const char *word)
{
	static const char *const words[] = { "kprobe",	 "kretprobe", "fentry",	  "fexit",
					     "uprobe",	 "uretprobe", "usdt",	  "profile",
					     "software", "hardware",  "function", "userfunction",
					     "iter",	 "interval" };

	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static bool find_kind(struct find *find, const char *word, u32 n_path)
{
	struct suggest suggest;
	struct diag *diag;

	if (n_path > 1 && is_planned(word)) {
		diag = diag_error(find->diags, "not-supported", find->span,
				  "%s: streams are not available yet", word);
		diag_hint(find->diags, diag,
			  "the kinds are tracepoint (t), raw_tracepoint (rt) and "
			  "syscall; \"ebql list\" has them");
		return false;
	}
	suggest_init(&suggest, word);
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(word, kinds[i].name) || !strcmp(word, kinds[i].shorthand)) {
			find->kind = kinds[i].kind;
			return true;
		}
		suggest_offer(&suggest, kinds[i].name);
	}
	suggest_offer(&suggest, "syscall"); /* a span, made of two streams */
	diag = diag_error(find->diags, "unknown-stream-kind", find->span,
			  n_path == 1 ? "%s is no stream" : "%s is no kind of stream", word);
	if (n_path == 1)
		diag_hint(find->diags, diag,
			  "streams are written tracepoint:CATEGORY:NAME or raw_tracepoint:NAME, "
			  "files 'FILE.csv'; ebql list %s shows the streams that contain the word",
			  word);
	else if (suggest_best(&suggest))
		diag_hint(find->diags, diag, "did you mean \"%s\"?", suggest_best(&suggest));
	else
		diag_hint(find->diags, diag,
			  "the kinds are tracepoint (t), raw_tracepoint (rt) and syscall");
	return false;
}

/* The path's parts behind the kind; false with a diagnostic when they are too many or few. */
static bool find_parts(struct find *find, const char *const *path, u32 n_path)
{
	u32 most = find->kind == STREAM_TRACEPOINT ? 3 : 2;
	struct diag *diag;

	if (n_path < 2 || n_path > most) {
		diag = diag_error(
			find->diags, "unknown-stream", find->span,
			n_path < 2 ? "%s needs a name behind it" : "%s has fewer parts than that",
			find->kind == STREAM_TRACEPOINT ? "tracepoint:" : "raw_tracepoint:");
		diag_hint(find->diags, diag,
			  find->kind == STREAM_TRACEPOINT ? "write tracepoint:CATEGORY:NAME"
							  : "write raw_tracepoint:NAME");
		return false;
	}
	find->category = n_path == 3 ? path[1] : NULL;
	find->event = path[n_path - 1];
	find->wanted = canonical_name(find->catalog->arena,
				      n_path == 3 ? STREAM_TRACEPOINT : STREAM_RAW_TRACEPOINT,
				      find->category, find->event);
	if (n_path == 2 && find->kind == STREAM_TRACEPOINT)
		find->wanted = arena_printf(find->catalog->arena, "tracepoint:%s", find->event);
	return true;
}

struct stream_list *catalog_find(struct catalog *catalog, const char *const *path, u32 n_path,
				 struct span span, struct diags *diags)
{
	struct find find = { .catalog = catalog, .span = span, .diags = diags };
	struct stream *stream;
	int error = 0;

	BUG_ON(!n_path);
	find.list = arena_new(catalog->arena, struct stream_list);
	if (!find_kind(&find, path[0], n_path) || !find_parts(&find, path, n_path))
		return NULL;
	find.list->is_wildcard =
		is_wildcard(find.event) || (find.category && is_wildcard(find.category));
	if (find.list->is_wildcard || (find.kind == STREAM_TRACEPOINT && !find.category)) {
		error = find_matches(&find);
	} else {
		stream = load(catalog, find.kind, find.category, find.event, &error);
		if (stream)
			vec_push(catalog->arena, &find.list->streams, stream);
		if (stream || error == -ENOENT)
			error = 0;
	}
	if (!error && find.list->streams.n && !complain_ambiguous(&find))
		return find.list;
	if (error)
		complain_error(&find, error);
	else if (!find.list->streams.n)
		complain_unknown(&find);
	return NULL;
}

/* A glob matches the whole name or what stands behind one of its colons. */
static bool name_matches(const char *name, const char *pattern, bool is_glob)
{
	if (!is_glob)
		return strstr(name, pattern) != NULL;
	for (; name; name = strchr(name, ':'), name = name ? name + 1 : NULL) {
		if (!fnmatch(pattern, name, 0))
			return true;
	}
	return false;
}

/* The pattern with the spellings of canonical names: ':' for '/', long forms for t: and rt:. */
static const char *canonical_pattern(struct arena *arena, const char *pattern)
{
	char *copy;

	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i].shorthand);

		if (!strncmp(pattern, kinds[i].shorthand, n) &&
		    (pattern[n] == ':' || pattern[n] == '/')) {
			pattern = arena_printf(arena, "%s:%s", kinds[i].name, pattern + n + 1);
			break;
		}
	}
	copy = arena_strdup(arena, pattern);
	for (char *c = copy; *c; c++) {
		if (*c == '/')
			*c = ':';
	}
	return copy;
}

void catalog_each(struct catalog *catalog, const char *pattern,
		  void (*visit)(void *context, const char *name), void *context)
{
	/* "raw_tracepoint" sorts before "tracepoint". */
	static const enum stream_kind order[] = { STREAM_RAW_TRACEPOINT, STREAM_TRACEPOINT };
	bool is_glob = is_wildcard(pattern);

	pattern = canonical_pattern(catalog->arena, pattern);
	for (u32 k = 0; k < ARRAY_SIZE(order); k++) {
		const struct stream_names *names = catalog_names(catalog, order[k]);

		for (u32 i = 0; i < names->list.n; i++) {
			if (name_matches(names->list.at[i].name, pattern, is_glob))
				visit(context, names->list.at[i].name);
		}
	}
}
