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

/* One call's look-up. */
struct find {
	struct catalog *catalog;
	const struct stream_kind_info *kind;
	const char *as;	      /* the kind, as messages call it */
	const char *category; /* pattern; NULL: any */
	const char *event;    /* pattern */
	const char *wanted;   /* as the user wrote it, with ':' between the parts */
	u32 n_matches;	      /* of a wildcard */
	bool is_short;	      /* the path has not all of its parts */
	struct span span;
	struct diags *diags;
	struct stream_list *list;
	const struct stream_names *names; /* of its kind, and file; NULL: not asked for yet */
};

static enum find_result complain_error(const struct find *find, int error)
{
	if (error == -EINVAL)
		diag_error(find->diags, "unknown-stream", find->span,
			   "the format file of %s cannot be understood", find->wanted);
	else
		find->kind->complain(find->catalog, error, find->span, find->diags);
	return FIND_FAILED;
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
	nr = event_syscall(find->catalog, find->event);
	return nr >= 0 && nr == event_syscall(find->catalog, name->event);
}

static const char *hint_unknown(const struct find *find, const struct stream_names *names)
{
	struct arena *arena = find->catalog->arena;
	struct suggest whole, event;
	const char *meant = NULL;

	if (find->list->is_wildcard)
		return "no name matches the wildcard; ebql list shows them";
	if (find->kind->meant)
		meant = find->kind->meant(find->catalog, find->kind, names, find->category,
					  find->event);
	if (meant)
		return meant;
	suggest_init(&whole, strchr(find->wanted, ':') + 1);
	suggest_init(&event, find->event);
	for (u32 i = 0; i < names->list.n; i++) {
		const struct stream_name *name = &names->list.at[i];

		if (is_meant(find, name))
			return arena_printf(arena, "did you mean \"%s%s\"?", find->as,
					    strchr(name->name, ':'));
		suggest_offer(&whole, strchr(name->name, ':') + 1);
		suggest_offer(&event, name->event);
	}
	if (suggest_best(&whole))
		return arena_printf(arena, "did you mean \"%s:%s\"?", find->as,
				    suggest_best(&whole));
	if (suggest_best(&event))
		return arena_printf(arena, "did you mean the event \"%s\"?", suggest_best(&event));
	if (find->kind->nowhere)
		return find->kind->nowhere;
	return "ebql list shows the streams, ebql list WORD those that contain WORD";
}

/* A file is read for it, so once. */
static const struct stream_names *names_of(struct find *find)
{
	if (!find->names)
		find->names = stream_names_in(find->catalog, find->kind, find->category);
	return find->names;
}

static enum find_result complain_unknown(struct find *find)
{
	const struct stream_names *names = names_of(find);

	if (names->error)
		return complain_error(find, names->error);
	if (diags_is_ours(find->diags, find->span)) {
		diag_failure_at(find->diags, "unknown-stream", find->span,
				"there is no stream %s here" HINT
				"its module is not loaded, or this version or configuration of %s "
				"has none; nothing is wrong with the query",
				find->wanted, find->kind->list_file ? "the program" : "the kernel");
		return FIND_UNKNOWN;
	}
	diag_error(find->diags, "unknown-stream", find->span, "there is no stream %s%s" HINT "%s",
		   find->wanted, find->catalog->is_live ? "" : " in this catalog",
		   hint_unknown(find, names));
	return FIND_UNKNOWN;
}

/* Each is a breakpoint, in each process that has the file in its memory. */
#define PLACES_MAX 10000

/* One that is not there leaves the list as it is. */
static int load(struct find *find, const char *category, const char *event)
{
	struct stream *stream;
	int error = find->kind->load(find->catalog, find->kind, category, event, &stream);

	for (; !error && stream; stream = stream->next_place)
		vec_push(find->catalog->arena, &find->list->streams, stream);
	return error == -ENOENT ? 0 : error;
}

static int load_listed(struct find *find, const struct stream_name *name)
{
	struct stream *stream;
	int error;

	if (!find->kind->load_listed)
		return load(find, name->category, name->event);
	error = find->kind->load_listed(find->catalog, find->kind, name, &stream);
	if (!error)
		vec_push(find->catalog->arena, &find->list->streams, stream);
	find->list->n_left_out += error == -ENOENT;
	return error == -ENOENT ? 0 : error;
}

typedef VEC(const struct stream_name *) name_vec;

static int compare_orders(const void *a, const void *b)
{
	const struct stream_name *const *x = a, *const *y = b;

	return ((*x)->order > (*y)->order) - ((*x)->order < (*y)->order);
}

static int compare_names(const void *a, const void *b)
{
	const struct stream_name *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name) ?: compare_orders(a, b);
}

/* A function under several names is one event. */
static void drop_aliases(name_vec *matches)
{
	u32 n = 0;

	if (matches->n)
		qsort(matches->at, matches->n, sizeof(matches->at[0]), compare_orders);
	for (u32 i = 0; i < matches->n; i++)
		if (!n || !matches->at[i]->file_offset ||
		    matches->at[n - 1]->file_offset != matches->at[i]->file_offset)
			matches->at[n++] = matches->at[i];
	matches->n = n;
	if (n)
		qsort(matches->at, n, sizeof(matches->at[0]), compare_names);
}

/* Loads every name that both patterns match; of a file's no more than can be used. */
static int load_matches(struct find *find)
{
	const struct stream_names *names = names_of(find);
	bool is_file = find->kind->list_file;
	name_vec matches = { 0 };
	int error = names->error;

	for (u32 i = 0; i < names->list.n && !error; i++) {
		const struct stream_name *name = &names->list.at[i];

		/* What several modules have by one name the kernel would take any of. */
		if (!is_file && !find->category && i && !strcmp(name->name, name[-1].name))
			continue;
		if (!fnmatch(find->event, name->event, 0) &&
		    (!find->category || is_file || !fnmatch(find->category, name->category, 0)))
			vec_push(find->catalog->arena, &matches, name);
	}
	if (is_file)
		drop_aliases(&matches);
	find->n_matches = matches.n;
	for (u32 i = 0; i < matches.n && !error && (i <= PLACES_MAX || !is_file); i++)
		error = load_listed(find, matches.at[i]);
	return error;
}

/* What a wildcard names and does not read must not go unsaid. */
static void warn_left_out(const struct find *find)
{
	const struct stream_list *list = find->list;

	if (list->n_left_out)
		diag_warning(
			find->diags, "left-out", find->span,
			"%u of the %u functions that %s names are left out" HINT "%s",
			list->n_left_out, list->n_left_out + list->streams.n, find->wanted,
			find->kind->list_file
				? "their code is chosen at run time, or begins with what takes no probe"
				: "the kernel lets no probe be there (they are not in "
				  "/sys/kernel/tracing/available_filter_functions), or several "
				  "functions bear the name");
}

static bool complain_many(const struct find *find)
{
	u32 n = MAX(find->list->streams.n, find->n_matches);

	if (!find->kind->list_file || n <= PLACES_MAX)
		return false;
	diag_refuse(find->diags, "too-many-places", find->span,
		    "%s names %u places of the program, and %u at most are attached to" HINT
		    "a narrower wildcard; ebql list '%s' shows what it names",
		    find->wanted, n, PLACES_MAX, find->wanted);
	return true;
}

/* "tracepoint:NAME": the category is found when only one has that name; so is a provider. */
static bool complain_ambiguous(const struct find *find)
{
	const struct stream_list *list = find->list;
	const char *first = list->streams.at[0]->name;
	const char *last = list->streams.at[list->streams.n - 1]->name;

	if (!find->is_short || list->is_wildcard || strcmp(first, last) == 0)
		return false;
	diag_refuse(find->diags, "ambiguous-stream", find->span,
		    "more than one %s has a %s %s" HINT "write \"%s\" or \"%s\"",
		    find->kind->has_provider ? "provider" : "category", find->kind->name,
		    strchr(find->wanted, ':') + 1, first, last);
	return true;
}

#define KINDS                                                                                      \
	"the kinds are tracepoint (t), raw_tracepoint (rt), kprobe (k), kretprobe (kr), fentry "   \
	"(f), fexit (fr), uprobe (u), uretprobe (ur), usdt, iter (it), profile, interval, "        \
	"software, hardware, and the spans syscall, function and "                                 \
	"userfunction"

/* NULL: no kind is near. */
static const char *near_kind(const char *word)
{
	struct suggest suggest;

	suggest_init(&suggest, word);
	for (u32 i = 0; i < STREAM_N; i++)
		if (stream_kinds[i])
			suggest_offer(&suggest, stream_kinds[i]->name);
	suggest_offer(&suggest, "syscall"); /* spans, made of two streams */
	suggest_offer(&suggest, "function");
	suggest_offer(&suggest, "userfunction");
	return suggest_best(&suggest);
}

static bool find_kind(struct find *find, const char *const *path, u32 n_path)
{
	const char *word = path[0], *near = near_kind(word);

	find->kind = stream_kind_named(word);
	if (find->kind)
		return true;
	/* libc.so.6:malloc, /usr/bin/bash:readline */
	if (n_path == 2 && (strchr(word, '/') || strstr(word, ".so")))
		return diag_refuse(find->diags, "unknown-stream-kind", find->span,
				   "%s is no kind of stream" HINT "did you mean \"uprobe:%s:%s\"?",
				   word, word, path[1]);
	if (n_path <= 2 && !near &&
	    catalog_is_unread(find->catalog, n_path == 1 ? word : NULL, find->span, find->diags))
		return false;
	if (n_path == 1)
		return diag_refuse(find->diags, "unknown-stream-kind", find->span,
				   "%s is no stream" HINT
				   "streams are written tracepoint:CATEGORY:NAME or "
				   "raw_tracepoint:NAME, files 'FILE.csv'; ebql list %s shows the "
				   "streams that contain the word",
				   word, word);
	return diag_refuse(find->diags, "unknown-stream-kind", find->span,
			   "%s is no kind of stream" HINT "%s%s%s", word,
			   near ? "did you mean \"" : KINDS, near ?: "", near ? "\"?" : "");
}

/* The path's parts behind the kind; false with a diagnostic when they are too many or few. */
static bool find_parts(struct find *find, const char *const *path, u32 n_path)
{
	const struct stream_kind_info *kind = find->kind;

	if (n_path < (kind->needs_category ? 3 : 2))
		return diag_refuse(find->diags, "unknown-stream", find->span,
				   "%s: needs a name behind it" HINT "write %s", kind->name,
				   kind->form);
	if (n_path > (kind->has_provider ? 4 : kind->has_category ? 3 : 2))
		return diag_refuse(find->diags, "unknown-stream", find->span,
				   "%s: has fewer parts than that" HINT "write %s", kind->name,
				   kind->form);
	find->category = n_path >= 3 ? path[1] : NULL;
	find->event = path[n_path - 1];
	if (n_path == 4)
		find->event = arena_printf(find->catalog->arena, "%s:%s", path[2], path[3]);
	find->as = find->as ?: kind->name;
	find->wanted = arena_printf(find->catalog->arena, "%s:%s%s%s", find->as,
				    find->category ?: "", find->category ? ":" : "", find->event);
	find->list->is_wildcard = is_wildcard(find->event) || (find->category && !kind->list_file &&
							       is_wildcard(find->category));
	find->is_short = (kind->has_category && !find->category && !kind->is_whole) ||
			 (kind->has_provider && n_path == 3);
	if (kind->has_provider && n_path == 3)
		find->event = arena_printf(find->catalog->arena, "*:%s", find->event);
	return true;
}

static enum find_result look_up(struct catalog *catalog, const char *as, const char *const *path,
				u32 n_path, struct span span, struct diags *diags,
				struct stream_list **ret_list)
{
	struct find find = { .catalog = catalog, .as = as, .span = span, .diags = diags };
	int error;

	BUG_ON(!n_path);
	*ret_list = NULL;
	find.list = arena_new(catalog->arena, struct stream_list);
	if (!find_kind(&find, path, n_path) || !find_parts(&find, path, n_path))
		return FIND_UNKNOWN;
	find.list->pattern = find.category && find.kind->has_many
				     ? strchr(find.wanted, ':') + 1
				     : arena_strdup(catalog->arena, find.event);
	error = find.list->is_wildcard || find.is_short ? load_matches(&find)
							: load(&find, find.category, find.event);
	if (error)
		return complain_error(&find, error);
	if (!find.list->streams.n) {
		warn_left_out(&find);
		return complain_unknown(&find);
	}
	if (complain_ambiguous(&find) || complain_many(&find))
		return FIND_UNKNOWN;
	warn_left_out(&find);
	*ret_list = find.list;
	return FIND_FOUND;
}

enum find_result catalog_look_up(struct catalog *catalog, const char *const *path, u32 n_path,
				 struct span span, struct diags *diags,
				 struct stream_list **ret_list)
{
	return look_up(catalog, NULL, path, n_path, span, diags, ret_list);
}

struct stream_list *catalog_find_as(struct catalog *catalog, const char *as,
				    const char *const *path, u32 n_path, struct span span,
				    struct diags *diags)
{
	struct stream_list *list;

	look_up(catalog, as, path, n_path, span, diags, &list);
	return list;
}

struct stream_list *catalog_find(struct catalog *catalog, const char *const *path, u32 n_path,
				 struct span span, struct diags *diags)
{
	return catalog_find_as(catalog, NULL, path, n_path, span, diags);
}

/* tracepoint.sched.sched_switch -> its parts; only of kinds whose names have no points. */
static u32 split_at_points(struct catalog *catalog, const char *word, const char **parts)
{
	char *rest = arena_strdup(catalog->arena, word);
	u32 n = 0;

	for (char *part; n < 3 && (part = strsep(&rest, "."));)
		parts[n++] = part;
	return rest ? 0 : n;
}

const char **catalog_spell(struct catalog *catalog, const char *const *path, u32 n_path, u32 *ret_n,
			   const char **ret_nearest)
{
	const char *word = path[n_path - 1];
	const struct stream_kind_info *kind =
		stream_kind_named(arena_strndup(catalog->arena, word, strcspn(word, ".")));
	const char **parts = arena_array(catalog->arena, const char *, 3);
	const struct stream_names *names;
	struct suggest suggest;
	u32 n_found = 0;

	*ret_nearest = NULL;
	if (n_path > 2 || (n_path == 2 && stream_kind_named(path[0])))
		return NULL;
	if (n_path == 1 && kind && !kind->list_file) {
		*ret_n = split_at_points(catalog, word, parts);
		return *ret_n > 1 ? parts : NULL;
	}
	*ret_n = 3;
	suggest_init(&suggest, word);
	names = stream_names_in(catalog, &tracefs_kind, NULL);
	for (u32 i = 0; i < names->list.n; i++) {
		const struct stream_name *name = &names->list.at[i];

		suggest_offer(&suggest, name->event);
		if (strcmp(n_path == 1 ? name->event : name->category, path[0]) != 0)
			continue;
		parts[0] = tracefs_kind.name;
		parts[1] = name->category;
		parts[2] = word;
		*ret_nearest = name->name;
		n_found = n_path == 1 ? n_found + 1 : 1;
	}
	for (u32 i = 0; i < names->list.n && !n_found; i++)
		if (suggest_best(&suggest) == names->list.at[i].event)
			*ret_nearest = names->list.at[i].name;
	return n_found == 1 ? parts : NULL;
}

bool stream_matches(const char *name, const char *pattern)
{
	if (!is_wildcard(pattern))
		return strstr(name, pattern) != NULL;
	for (; name; name = strchr(name, ':'), name = name ? name + 1 : NULL) {
		if (!fnmatch(pattern, name, 0))
			return true;
	}
	return false;
}

/* Is the kind itself meant, or some of the names that it shows? */
static bool shows(const struct stream_kind_info *kind, const char *pattern)
{
	size_t n = strlen(kind->name);

	if (!strncmp(pattern, kind->name, n) && pattern[n] == ':')
		return true;
	if (kind->list_file)
		return false;
	return !kind->is_twin && (!kind->has_many || (*pattern && !strchr(pattern, ':')));
}

/* "usdt:FILE", "usdt:FILE:...": whose names are asked for. */
static const char *file_of(struct catalog *catalog, const struct stream_kind_info *kind,
			   const char *pattern)
{
	size_t skip = kind->list_file ? strlen(kind->name) + 1 : 0;

	return skip ? arena_strndup(catalog->arena, pattern + skip, strcspn(pattern + skip, ":"))
		    : NULL;
}

/* A function with its module, where the pattern has one. */
static const char *listed_name(struct catalog *catalog, const struct stream_kind_info *kind,
			       const struct stream_name *name, const char *pattern)
{
	const char *colon = strchr(pattern, ':');

	return kind->has_many && colon && strchr(colon + 1, ':')
		       ? stream_canonical_name(catalog->arena, kind, name->category, name->event)
		       : name->name;
}

void catalog_each(struct catalog *catalog, const char *pattern,
		  void (*visit)(void *context, const char *name), void *context)
{
	pattern = stream_written_out(catalog->arena, pattern);
	for (u32 kind = 0; kind < STREAM_N; kind++) {
		const struct stream_names *names;

		if (!stream_kinds[kind] || !shows(stream_kinds[kind], pattern))
			continue;
		names = stream_names_in(catalog, stream_kinds[kind],
					file_of(catalog, stream_kinds[kind], pattern));
		for (u32 i = 0; i < names->list.n; i++) {
			const char *name = listed_name(catalog, stream_kinds[kind],
						       &names->list.at[i], pattern);

			if ((!i || strcmp(name, names->list.at[i - 1].name) != 0) &&
			    stream_matches(name, pattern))
				visit(context, name);
		}
	}
}
