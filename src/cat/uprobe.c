/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of programs and libraries: uprobe:FILE:FUNCTION and uretprobe:FILE:FUNCTION -> streams
 * of their entries and returns.  What a function is called with is known by the registers only:
 * arg0 and so on, and ret.  FUNCTION+OFFSET is where one of its instructions begins, which is
 * looked at here: the kernel would put its breakpoint into the middle of one as well, and the
 * program would crash.  FILE is a path, the name of a program as a shell finds it, or that of a
 * library as the loader does: bash, libc.so.6, libc.
 */
#include "cat/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cat/elf.h"

/* With the name of the machine's kind behind some. */
static const char *const library_folders[] = {
	"/lib/%s", "/usr/lib/%s", "/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
};

#define NAMES_MAX (1u << 20)

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

/* Of one process, the file that it has by this path: a container has files of its own. */
static const char *of_process(const struct catalog *catalog, const char *path)
{
	const char *there;
	struct stat ours, its;
	bool is_here = !stat(path, &ours);

	if (!catalog->process)
		return is_here ? path : NULL;
	there = arena_printf(catalog->arena, "/proc/%d/root%s", catalog->process, path);
	if (stat(there, &its))
		return is_here ? path : NULL;
	return is_here && file_id_equal(file_id_of(&ours), file_id_of(&its)) ? path : there;
}

/* A path stays as it is written: /proc/PID/root/... leads into another mount namespace. */
const char *program_find(struct catalog *catalog, const char *name)
{
	char folder[PATH_MAX];

	if (strchr(name, '/') && name[0] != '/')
		name = getcwd(folder, sizeof(folder))
			       ? arena_printf(catalog->arena, "%s/%s", folder, name)
			       : NULL;
	else if (name[0] != '/')
		name = find_program(catalog->arena, name) ?: find_library(catalog->arena, name);
	return name ? of_process(catalog, name) : NULL;
}

void catalog_set_process(struct catalog *catalog, s32 pid)
{
	catalog->process = pid;
}

/* Some bytes of code; less than n where the file ends, or cannot be read. */
static u32 read_code(const char *path, u64 offset, u8 *code, u32 n)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : pread(fd, code, n, (off_t)offset);

	if (fd >= 0)
		close(fd);
	return (u32)MAX(got, 0);
}

/* Of instructions that are looked at, from the function's begin on: files say any size. */
#define BEHIND_MAX (4u << 20)

/* Why no probe can be so far behind the function's begin, or NULL. */
static const char *why_not_there(struct arena *arena, const char *path,
				 const struct symbol_place *place, u32 behind)
{
	u32 at = 0, n = behind + 16, step = 1, before = 0;
	u8 *code;

	if (behind >= place->n_bytes)
		return arena_printf(arena, "the function is %" PRIu64 " bytes long",
				    place->n_bytes);
	if (behind > BEHIND_MAX)
		return "it is farther into the function than is looked";
	code = arena_alloc(arena, n);
	n = read_code(path, place->offset, code, n);
	for (; at < behind && step; at += step) {
		before = at;
		step = arch_own->instruction_bytes(code + at, n - at);
	}
	if (at == behind)
		return NULL;
	if (!step)
		return arena_printf(arena, "it cannot be told where instructions begin behind +%#x",
				    before);
	return arena_printf(arena, "no instruction begins there, but at +%#x and +%#x", before, at);
}

static int find_place(struct catalog *catalog, const struct stream_kind_info *kind,
		      const char *path, const char *event, struct symbol_place *ret_place,
		      u32 *ret_behind, const char **ret_why)
{
	const char *name, *nearest;
	int err;

	*ret_why = NULL;
	if (!function_split(catalog->arena, event, &name, ret_behind)) {
		*ret_why = "write FUNCTION, or FUNCTION+OFFSET with a number of bytes";
		return -ESRCH;
	}
	err = symbols_find(catalog->arena, path, name, ret_place, &nearest);
	if (err)
		*ret_why = nearest ? arena_printf(catalog->arena, "%s has \"%s\"", path, nearest)
				   : NULL;
	else if (*ret_behind && kind->kind == STREAM_URETPROBE)
		*ret_why = arena_printf(catalog->arena,
					"a function returns as a whole: write %s:FILE:%s",
					kind->name, name);
	else if (*ret_behind)
		*ret_why = why_not_there(catalog->arena, path, ret_place, *ret_behind);
	return err ? err : *ret_why ? -ESRCH : 0;
}

static void add_fields(struct catalog *catalog, struct stream *s)
{
	if (s->function_offset_bytes)
		return; /* who knows what is in the registers there */
	s->n_fields = s->is_return ? 1 : catalog->arch->n_arguments;
	s->fields = arena_array(catalog->arena, struct field, MAX(s->n_fields, 1u));
	for (u32 i = 0; i < s->n_fields; i++)
		s->fields[i] = proto_argument(catalog, i);
	if (s->is_return)
		s->fields[0] = proto_return(catalog, 0);
}

static struct stream *new_stream(struct catalog *catalog, const struct stream_kind_info *kind,
				 const char *category, const char *event,
				 const struct program_file *file, u64 offset, u32 behind)
{
	struct stream *s = stream_new(catalog->arena, kind, category, event);

	s->is_function = true;
	s->is_return = kind->kind == STREAM_URETPROBE;
	s->function_offset_bytes = behind;
	s->file_path = file->path;
	s->file_id = file->id;
	s->file_offset = offset + behind;
	add_fields(catalog, s);
	return s;
}

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	struct symbol_place place;
	struct program_file file = { 0 };
	const char *why_not;
	u32 behind;
	int err;

	if (!catalog->is_live)
		return -ENODEV;
	file.path = program_find(catalog, category);
	if (!file.path)
		return -ENOENT;
	err = find_place(catalog, kind, file.path, event, &place, &behind, &why_not);
	if (err)
		return err == -ESRCH ? -ENOENT : err;
	file.path = arena_strdup(catalog->arena, file.path);
	file.id = place.file;
	*ret_stream = new_stream(catalog, kind, category, event, &file, place.offset, behind);
	return 0;
}

static int load_listed(struct catalog *catalog, const struct stream_kind_info *kind,
		       const struct stream_name *name, struct stream **ret_stream)
{
	u8 first = 0;

	if (!name->file_offset || !read_code(name->file->path, name->file_offset, &first, 1) ||
	    (first && strchr(arch_own->unprobed, first)))
		return -ENOENT;
	*ret_stream = new_stream(catalog, kind, name->category, name->event, name->file,
				 name->file_offset, 0);
	return 0;
}

static const char *meant(struct catalog *catalog, const struct stream_kind_info *kind,
			 const struct stream_names *names, const char *category, const char *event)
{
	const char *path = program_find(catalog, category), *why_not;
	struct symbol_place place;
	u32 behind;

	if (!path)
		return arena_printf(catalog->arena,
				    "there is no program or library %s: write its path", category);
	find_place(catalog, kind, path, event, &place, &behind, &why_not);
	return why_not
		       ?: arena_printf(catalog->arena,
				       "the symbols of %s have no function of such a name", path);
}

static int list_file(struct catalog *catalog, const struct stream_kind_info *kind,
		     const char *category, struct stream_names *names)
{
	const char *path = catalog->is_live ? program_find(catalog, category) : NULL;
	struct symbols *symbols;
	int err = path ? symbols_open(path, &symbols) : 0;
	struct program_file *file;

	if (!path)
		return catalog->is_live ? 0 : -ENODEV;
	if (err)
		return err;
	/* Of the memory that a query has. */
	if (symbols_count(symbols) > NAMES_MAX) {
		symbols_close(symbols);
		return -E2BIG;
	}
	file = arena_new(catalog->arena, struct program_file);
	file->path = arena_strdup(catalog->arena, path);
	file->id = symbols_file(symbols);
	for (u32 i = 0; i < symbols_count(symbols); i++) {
		u64 offset;
		const char *event = symbols_name(symbols, i, &offset);
		struct stream_name *name;

		stream_names_add(catalog->arena, names, kind, category, event);
		name = &names->list.at[names->list.n - 1];
		name->file = file;
		name->file_offset = offset;
		name->order = i;
	}
	symbols_close(symbols);
	return 0;
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
	else if (error == -E2BIG)
		diag_error(diags, "not-a-program", span,
			   "the file has more, or longer, segments, symbols or notes than any "
			   "program" HINT "readelf --headers --notes shows what it says of itself");
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
		.load = load, .load_listed = load_listed, .complain = program_complain,            \
		.meant = meant                                                                     \
	}

const struct stream_kind_info uprobe_kind = UPROBE_KIND(STREAM_UPROBE, "uprobe", "u");
const struct stream_kind_info uretprobe_kind = UPROBE_KIND(STREAM_URETPROBE, "uretprobe", "ur");
