/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of programs and libraries: uprobe:FILE:FUNCTION and uretprobe:FILE:FUNCTION -> streams
 * of their entries and returns.  What a function is called with is known by the registers only:
 * arg0 and so on, and ret.  No place within a function: the kernel would put its breakpoint into
 * the middle of an instruction as well, and the program would crash.  FILE is a path, the name of a
 * program as a shell finds it, or that of a library as the loader does: bash, libc.so.6, libc.
 */
#include "cat/internal.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cat/elf.h"

/* With the name of the machine's kind behind some. */
static const char *const library_folders[] = {
	"/lib/%s", "/usr/lib/%s", "/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
};

/* The last program or library that the pattern names, so of versions the highest; or NULL. */
static const char *last_match(struct arena *arena, const char *pattern)
{
	const char *found = NULL;
	glob_t matches;

	if (!glob(pattern, 0, NULL, &matches))
		for (size_t i = matches.gl_pathc; i-- > 0 && !found;)
			if (elf_is_program(matches.gl_pathv[i]))
				found = arena_strdup(arena, matches.gl_pathv[i]);
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
		if (n && elf_is_program(file))
			return file;
	}
	return NULL;
}

static const char *find_library(struct arena *arena, const char *name)
{
	static const char *const forms[] = { "%s/%s", "%s/%s.so", "%s/%s.so.*" };

	for (u32 k = 0; k < ARRAY_SIZE(forms); k++)
		for (u32 i = 0; i < ARRAY_SIZE(library_folders); i++) {
			const char *folder =
				arena_printf(arena, library_folders[i], arch_own->library_folder);
			const char *file =
				last_match(arena, arena_printf(arena, forms[k], folder, name));

			if (file)
				return file;
		}
	return NULL;
}

/* A path stays as it is written: /proc/PID/root/... leads into another mount namespace. */
const char *program_find(struct arena *arena, const char *name)
{
	char folder[PATH_MAX];

	if (name[0] == '/')
		return access(name, F_OK) ? NULL : name;
	if (strchr(name, '/'))
		return access(name, F_OK) || !getcwd(folder, sizeof(folder))
			       ? NULL
			       : arena_printf(arena, "%s/%s", folder, name);
	return find_program(arena, name) ?: find_library(arena, name);
}

static void add_fields(struct catalog *catalog, struct stream *s)
{
	s->n_fields = s->is_return ? 1 : catalog->arch->n_arguments;
	s->fields = arena_array(catalog->arena, struct field, MAX(s->n_fields, 1u));
	for (u32 i = 0; i < s->n_fields; i++)
		s->fields[i] = proto_argument(catalog, i);
	if (s->is_return)
		s->fields[0] = proto_return(catalog, 0);
}

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	const char *file, *nearest;
	struct stream *s;
	int err;

	if (!catalog->is_live)
		return -ENODEV;
	file = program_find(catalog->arena, category);
	if (!file)
		return -ENOENT;
	s = stream_new(catalog->arena, kind, category, event);
	err = symbols_find(catalog->arena, file, event, &s->file_offset, &s->file_id, &nearest);
	if (err)
		return err == -ESRCH ? -ENOENT : err;
	s->is_function = true;
	s->is_return = kind->kind == STREAM_URETPROBE;
	s->file_path = arena_strdup(catalog->arena, file);
	add_fields(catalog, s);
	*ret_stream = s;
	return 0;
}

static const char *meant(struct catalog *catalog, const struct stream_kind_info *kind,
			 const char *category, const char *event)
{
	const char *file = program_find(catalog->arena, category), *nearest = NULL;
	struct file_id id;
	u64 offset;

	if (!file)
		return arena_printf(catalog->arena,
				    "there is no program or library %s: write its path", category);
	if (strchr(event, '+'))
		return "a place within a function is not available: in the middle of an instruction "
		       "it would crash the program";
	symbols_find(catalog->arena, file, event, &offset, &id, &nearest);
	return nearest ? arena_printf(catalog->arena, "%s has \"%s\"", file, nearest)
		       : arena_printf(catalog->arena,
				      "the symbols of %s have no function of such a name", file);
}

static int list_file(struct catalog *catalog, const struct stream_kind_info *kind,
		     const char *category, struct stream_names *names)
{
	const char *file = catalog->is_live ? program_find(catalog->arena, category) : NULL;
	struct symbols *symbols;
	int err = file ? symbols_open(file, &symbols) : 0;

	if (!file)
		return catalog->is_live ? 0 : -ENODEV;
	for (u32 i = 0; !err && i < symbols_count(symbols); i++)
		stream_names_add(catalog->arena, names, kind, category, symbols_name(symbols, i));
	if (!err)
		symbols_close(symbols);
	return err;
}

void program_complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	if (error == -ENODEV)
		diag_failure_at(diags, "not-in-snapshot", span,
				"functions of programs are not part of a snapshot" HINT
				"without --catalog they are those of this machine");
	else if (error == -ENOEXEC)
		diag_error(diags, "not-a-program", span,
			   "the file is no program or library of this machine (ELF)" HINT
			   "of a script it is its interpreter that has functions");
	else if (error == -ENOTUNIQ)
		diag_error(
			diags, "ambiguous-stream", span,
			"the file has several functions of that name, none of which it exports" HINT
			"name one that calls it, or that it calls");
	else
		diag_failure_at(diags, "unknown-file", span,
				"cannot read the program: %s" HINT "%s", strerror(-error),
				diag_machine_hint(-error) ?: "read it with your own rights");
}

#define UPROBE_KIND(kind_, name_, short_)                                                          \
	{                                                                                          \
		.kind = kind_, .name = name_, .shorthand = short_, .form = name_ ":FILE:FUNCTION", \
		.has_category = true, .needs_category = true, .list_file = list_file,              \
		.load = load, .complain = program_complain, .meant = meant                         \
	}

const struct stream_kind_info uprobe_kind = UPROBE_KIND(STREAM_UPROBE, "uprobe", "u");
const struct stream_kind_info uretprobe_kind = UPROBE_KIND(STREAM_URETPROBE, "uretprobe", "ur");
