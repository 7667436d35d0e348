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

static bool is_wildcard(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

static struct stream *frozen_load(struct catalog *catalog, const struct stream_kind_info *kind,
				  const char *category, const char *event)
{
	for (u32 i = 0; i < catalog->frozen.n; i++) {
		struct stream *stream = catalog->frozen.at[i];

		if (stream->kind == kind->kind && !strcmp(stream->event, event) &&
		    (!category || !strcmp(stream->category, category)))
			return stream;
	}
	return NULL;
}

static struct stream *load(struct catalog *catalog, const struct stream_kind_info *kind,
			   const char *category, const char *event, int *ret_error)
{
	*ret_error = -ENOENT;
	return catalog->is_live ? kind->load(catalog, category, event, ret_error)
				: frozen_load(catalog, kind, category, event);
}

/* One call's look-up. */
struct find {
	struct catalog *catalog;
	const struct stream_kind_info *kind;
	const char *category; /* pattern; NULL: any */
	const char *event;    /* pattern */
	const char *wanted;   /* as the user wrote it, with ':' between the parts */
	struct span span;
	struct diags *diags;
	struct stream_list *list;
};

static void complain_error(const struct find *find, int error)
{
	if (error == -EINVAL)
		diag_error(find->diags, "unknown-stream", find->span,
			   "the format file of %s cannot be understood", find->wanted);
	else
		find->kind->complain(find->catalog, error, find->span, find->diags);
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
	if (!name->category || strcmp(name->category, "syscalls") != 0 ||
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
		diag_hint(find->diags, diag, "did you mean \"%s:%s\"?", find->kind->name,
			  suggest_best(&whole));
	else if (suggest_best(&event))
		diag_hint(find->diags, diag, "did you mean the event \"%s\"?",
			  suggest_best(&event));
	else
		diag_hint(find->diags, diag,
			  "ebql list shows the streams, ebql list WORD those that contain WORD");
}

static enum find_result complain_unknown(const struct find *find)
{
	const struct stream_names *names = stream_names_of(find->catalog, find->kind);
	struct diag *diag;

	if (names->error) {
		complain_error(find, names->error);
		return FIND_FAILED;
	}
	diag = diag_error(find->diags, "unknown-stream", find->span, "there is no stream %s%s",
			  find->wanted, find->catalog->is_live ? "" : " in this snapshot");
	if (find->list->is_wildcard)
		diag_hint(find->diags, diag, "no name matches the wildcard; ebql list shows them");
	else
		hint_unknown(find, names, diag);
	return FIND_UNKNOWN;
}

/* Loads every name that both patterns match. */
static int find_matches(struct find *find)
{
	const struct stream_names *names = stream_names_of(find->catalog, find->kind);
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

	if (find->category || list->is_wildcard || list->streams.n < 2)
		return false;
	diag_refuse(find->diags, "ambiguous-stream", find->span,
		    "more than one category has a %s %s" HINT "write \"%s\" or \"%s\"",
		    find->kind->name, find->event, list->streams.at[0]->name,
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

	find->kind = stream_kind_named(word);
	if (find->kind)
		return true;
	if (n_path > 1 && is_planned(word)) {
		diag = diag_error(find->diags, "not-supported", find->span,
				  "%s: streams are not available yet", word);
		diag_hint(find->diags, diag,
			  "the kinds are tracepoint (t), raw_tracepoint (rt) and "
			  "syscall; \"ebql list\" has them");
		return false;
	}
	suggest_init(&suggest, word);
	for (u32 i = 0; i < STREAM_N; i++)
		if (stream_kinds[i])
			suggest_offer(&suggest, stream_kinds[i]->name);
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
	const struct stream_kind_info *kind = find->kind;
	u32 most = kind->has_category ? 3 : 2;

	if (n_path < 2 || n_path > most) {
		diag_hint(find->diags,
			  diag_error(find->diags, "unknown-stream", find->span,
				     n_path < 2 ? "%s: needs a name behind it"
						: "%s: has fewer parts than that",
				     kind->name),
			  "write %s", kind->form);
		return false;
	}
	find->category = n_path == 3 ? path[1] : NULL;
	find->event = path[n_path - 1];
	find->wanted = stream_canonical_name(find->catalog->arena, find->kind, find->category,
					     find->event);
	return true;
}

enum find_result catalog_look_up(struct catalog *catalog, const char *const *path, u32 n_path,
				 struct span span, struct diags *diags,
				 struct stream_list **ret_list)
{
	struct find find = { .catalog = catalog, .span = span, .diags = diags };
	struct stream *stream;
	int error = 0;

	BUG_ON(!n_path);
	*ret_list = NULL;
	find.list = arena_new(catalog->arena, struct stream_list);
	if (!find_kind(&find, path[0], n_path) || !find_parts(&find, path, n_path))
		return FIND_UNKNOWN;
	find.list->is_wildcard =
		is_wildcard(find.event) || (find.category && is_wildcard(find.category));
	if (find.list->is_wildcard || (find.kind->has_category && !find.category)) {
		error = find_matches(&find);
	} else {
		stream = load(catalog, find.kind, find.category, find.event, &error);
		if (stream)
			vec_push(catalog->arena, &find.list->streams, stream);
		if (stream || error == -ENOENT)
			error = 0;
	}
	if (error) {
		complain_error(&find, error);
		return FIND_FAILED;
	}
	if (!find.list->streams.n)
		return complain_unknown(&find);
	if (complain_ambiguous(&find))
		return FIND_UNKNOWN;
	*ret_list = find.list;
	return FIND_FOUND;
}

struct stream_list *catalog_find(struct catalog *catalog, const char *const *path, u32 n_path,
				 struct span span, struct diags *diags)
{
	struct stream_list *list;

	catalog_look_up(catalog, path, n_path, span, diags, &list);
	return list;
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

/* The kind whose name follows that of `before` (NULL: the first), or NULL. */
static const struct stream_kind_info *next_kind(const struct stream_kind_info *before)
{
	const struct stream_kind_info *next = NULL;

	for (u32 i = 0; i < STREAM_N; i++) {
		const struct stream_kind_info *kind = stream_kinds[i];

		if (!kind || (before && strcmp(kind->name, before->name) <= 0))
			continue;
		if (!next || strcmp(kind->name, next->name) < 0)
			next = kind;
	}
	return next;
}

void catalog_each(struct catalog *catalog, const char *pattern,
		  void (*visit)(void *context, const char *name), void *context)
{
	const struct stream_kind_info *kind = NULL;
	bool is_glob = is_wildcard(pattern);

	pattern = stream_written_out(catalog->arena, pattern);
	while ((kind = next_kind(kind))) {
		const struct stream_names *names = stream_names_of(catalog, kind);

		for (u32 i = 0; i < names->list.n; i++) {
			if (name_matches(names->list.at[i].name, pattern, is_glob))
				visit(context, names->list.at[i].name);
		}
	}
}
