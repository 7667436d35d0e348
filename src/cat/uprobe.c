/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of programs and libraries: uprobe:FILE:FUNCTION, uprobe:FILE:FUNCTION+OFFSET and
 * uretprobe:FILE:FUNCTION -> streams of their entries and returns.  What a function is called with
 * is known by the registers only: arg0 to arg5, and ret.  FILE is a path, the name of a program as
 * a shell finds it, or that of a library as the loader does: bash, libc.so.6, libc.
 */
#include "cat/internal.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the calling convention has in registers. */
#define REGISTER_ARGS 6

static const char *const library_folders[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib/aarch64-linux-gnu",
	"/usr/local/lib",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
};

/* The first file that the pattern names, or NULL. */
static const char *first_match(struct arena *arena, const char *pattern)
{
	const char *found = NULL;
	glob_t matches;

	if (!glob(pattern, 0, NULL, &matches))
		found = arena_strdup(arena, matches.gl_pathv[0]);
	globfree(&matches);
	return found;
}

static const char *find_program(struct arena *arena, const char *name)
{
	const char *path = getenv("PATH") ?: "/usr/bin:/bin";

	for (size_t n; *path; path += n + (path[n] == ':')) {
		const char *file;

		n = strcspn(path, ":");
		file = arena_printf(arena, "%.*s/%s", (int)n, path, name);
		if (n && access(file, X_OK) == 0)
			return file;
	}
	return NULL;
}

static const char *find_library(struct arena *arena, const char *name)
{
	static const char *const forms[] = { "%s/%s", "%s/%s.so", "%s/%s.so.*" };

	for (u32 k = 0; k < ARRAY_SIZE(forms); k++)
		for (u32 i = 0; i < ARRAY_SIZE(library_folders); i++) {
			const char *file = first_match(
				arena, arena_printf(arena, forms[k], library_folders[i], name));

			if (file)
				return file;
		}
	return NULL;
}

static const char *find_file(struct arena *arena, const char *name)
{
	const char *file;
	char *whole;

	if (strchr(name, '/')) {
		whole = realpath(name, NULL);
		file = whole ? arena_strdup(arena, whole) : NULL;
		free(whole);
		return file;
	}
	return find_program(arena, name) ?: find_library(arena, name);
}

static void add_fields(struct catalog *catalog, struct stream *s)
{
	s->n_fields = s->is_return ? 1 : s->function_offset_bytes ? 0 : REGISTER_ARGS;
	s->fields = arena_array(catalog->arena, struct field, MAX(s->n_fields, 1u));
	for (u32 i = 0; i < s->n_fields; i++)
		s->fields[i] = proto_argument(catalog, i);
	if (s->is_return)
		s->fields[0] = proto_return(catalog, 0);
}

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	const char *file, *name, *nearest;
	u32 offset_bytes;
	struct stream *s;
	int err;

	if (!catalog->is_live)
		return -ENODEV;
	if (!function_split(catalog->arena, event, &name, &offset_bytes) ||
	    (offset_bytes && kind->kind != STREAM_UPROBE))
		return -ENOENT;
	file = find_file(catalog->arena, category);
	if (!file)
		return -ENOENT;
	s = stream_new(catalog->arena, kind, category, event);
	err = elf_find_function(catalog->arena, file, name, &s->file_offset, &nearest);
	if (err)
		return err == -ESRCH ? -ENOENT : err;
	s->event = name;
	s->is_function = true;
	s->is_return = kind->kind == STREAM_URETPROBE;
	s->function_offset_bytes = offset_bytes;
	s->file_path = file;
	s->file_offset += offset_bytes;
	add_fields(catalog, s);
	*ret_stream = s;
	return 0;
}

static const char *meant(struct catalog *catalog, const char *category, const char *event)
{
	const char *file = find_file(catalog->arena, category), *nearest = NULL, *name;
	u32 offset_bytes;
	u64 offset;

	if (!file)
		return arena_printf(catalog->arena,
				    "there is no program or library %s: write its path", category);
	if (!function_split(catalog->arena, event, &name, &offset_bytes))
		return "an offset is a number: uprobe:FILE:FUNCTION+16";
	elf_find_function(catalog->arena, file, name, &offset, &nearest);
	return nearest ? arena_printf(catalog->arena, "%s has \"%s\"", file, nearest)
		       : arena_printf(catalog->arena,
				      "the symbols of %s have no function of such a name", file);
}

/* Of files that nobody has named. */
static int list(struct catalog *catalog, const struct stream_kind_info *kind,
		struct stream_names *names)
{
	return 0;
}

static void complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	if (error == -ENODEV)
		diag_failure_at(diags, "not-in-snapshot", span,
				"functions of programs are not part of a snapshot" HINT
				"without --catalog they are those of this machine");
	else if (error == -ENOEXEC)
		diag_error(diags, "not-a-program", span,
			   "the file is no program or library of this machine (ELF)" HINT
			   "of a script it is its interpreter that has functions");
	else
		diag_failure_at(diags, "unknown-file", span,
				"cannot read the program: %s" HINT "%s", strerror(-error),
				diag_machine_hint(-error) ?: "read it with your own rights");
}

#define UPROBE_KIND(kind_, name_, short_)                                                          \
	{                                                                                          \
		.kind = kind_, .name = name_, .shorthand = short_, .form = name_ ":FILE:FUNCTION", \
		.has_category = true, .needs_category = true, .list = list, .load = load,          \
		.complain = complain, .meant = meant                                               \
	}

const struct stream_kind_info uprobe_kind = UPROBE_KIND(STREAM_UPROBE, "uprobe", "u");
const struct stream_kind_info uretprobe_kind = UPROBE_KIND(STREAM_URETPROBE, "uretprobe", "ur");
