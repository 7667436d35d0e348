/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Probes that programs were built with (sys/sdt.h): the notes of a file -> streams of them,
 * usdt:FILE:PROVIDER:NAME.  A probe may stand in several places, where the compiler has put a
 * function into its callers: then it is several streams of one name, each with arguments of its
 * own.  A program may ask, before it computes a probe's arguments, whether anybody listens: by a
 * semaphore, which the kernel counts up.
 */
#include "cat/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cat/elf.h"
#include "cat/operand.h"

#define NOTE_NAME "stapsdt"
#define NOTE_TYPE 3
/*
 * More than any program has: of a file's notes, of one's texts, and of all arguments that are read
 * at once.
 */
#define BYTES_MAX     (32u << 20)
#define NOTES_MAX     (1u << 16)
#define NAME_BYTES    255
#define TEXT_BYTES    (16u << 10)
#define ARGUMENTS_MAX 32
#define OPERANDS_MAX  (1u << 18)

/* A probe at one place. */
struct note {
	const char *event; /* "PROVIDER:NAME" */
	const char *provider, *name, *args;
	u64 address, semaphore; /* semaphore 0: none */
	u64 file_offset, semaphore_offset;
	u32 order; /* in the file */
	u32 n_fields;
	struct field *fields;
};

typedef VEC(struct note) note_vec;

/* A symbol that arguments name. */
struct variable {
	const char *name;
	size_t n;
	u64 address;
	u32 n_found;
};

typedef VEC(struct variable) variable_vec;

/* All of a file. */
struct notes {
	struct elf elf;
	char *bytes; /* with a NUL behind them */
	u64 n_bytes;
	s64 moved; /* by so much the code since the notes were written (prelink) */
	struct arena *arena;
	note_vec list; /* by event and place */
	variable_vec variables;
	bool is_gathering; /* which variables there are: their addresses come then */
	u32 n_operands;
};

static int notes_open(struct notes *notes, const char *path)
{
	const Elf64_Shdr *section, *base;
	int err = elf_open(&notes->elf, path);

	if (err)
		return err;
	section = elf_section(&notes->elf, ".note.stapsdt");
	base = elf_section(&notes->elf, ".stapsdt.base");
	if (section && section->sh_size > BYTES_MAX) {
		elf_close(&notes->elf);
		return -E2BIG;
	}
	if (section)
		notes->bytes = elf_section_bytes(&notes->elf, section);
	if (notes->bytes)
		notes->n_bytes = section->sh_size;
	notes->moved = base ? (s64)base->sh_addr : 0;
	return 0;
}

static void notes_close(struct notes *notes)
{
	free(notes->bytes);
	elf_close(&notes->elf);
}

/* The text at *at, which is moved behind it; NULL: it does not end before `end`. */
static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	if (nul)
		*at = nul + 1;
	return nul ? text : NULL;
}

static bool read_note(const struct notes *notes, const char *at, const char *end, struct note *note)
{
	u64 words[3]; /* where it stands, where .stapsdt.base was, its semaphore */

	if ((size_t)(end - at) < sizeof(words))
		return false;
	memcpy(words, at, sizeof(words));
	at += sizeof(words);
	note->provider = take_text(&at, end);
	note->name = note->provider ? take_text(&at, end) : NULL;
	note->args = note->name ? take_text(&at, end) : NULL;
	if (notes->moved)
		words[0] += (u64)notes->moved - words[1];
	if (notes->moved && words[2])
		words[2] += (u64)notes->moved - words[1];
	note->address = words[0];
	note->semaphore = words[2];
	note->semaphore_offset = 0;
	return note->args && *note->provider && *note->name;
}

/* The next one behind *at. */
static bool next_note(const struct notes *notes, u64 *at, struct note *note)
{
	while (*at + sizeof(Elf64_Nhdr) <= notes->n_bytes) {
		const char *bytes = notes->bytes + *at;
		u64 rest = notes->n_bytes - *at - sizeof(Elf64_Nhdr), name_bytes, bytes_in_all;
		Elf64_Nhdr header;

		memcpy(&header, bytes, sizeof(header));
		name_bytes = ALIGN_UP((u64)header.n_namesz, 4);
		bytes_in_all = name_bytes + ALIGN_UP((u64)header.n_descsz, 4);
		if (bytes_in_all > rest)
			return false;
		bytes += sizeof(header);
		*at += sizeof(header) + bytes_in_all;
		if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof(NOTE_NAME) &&
		    memcmp(bytes, NOTE_NAME, sizeof(NOTE_NAME)) == 0 &&
		    read_note(notes, bytes + name_bytes, bytes + name_bytes + header.n_descsz,
			      note))
			return true;
	}
	return false;
}

static bool is_called(const struct note *note, const char *event)
{
	size_t n = strlen(note->provider);

	return strncmp(event, note->provider, n) == 0 && event[n] == ':' &&
	       strcmp(event + n + 1, note->name) == 0;
}

/* By event and place; of two at one place the first is meant. */
static int compare_notes(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	int names = strcmp(x->event, y->event);

	if (names)
		return names;
	if (x->file_offset != y->file_offset)
		return x->file_offset < y->file_offset ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Two notes of one probe at one place are one event. */
static void sort_notes(note_vec *list)
{
	u32 n = 0;

	if (list->n)
		qsort(list->at, list->n, sizeof(list->at[0]), compare_notes);
	for (u32 i = 0; i < list->n; i++)
		if (!n || list->at[n - 1].file_offset != list->at[i].file_offset ||
		    strcmp(list->at[n - 1].event, list->at[i].event) != 0)
			list->at[n++] = list->at[i];
	list->n = n;
}

/* Those of the event, NULL: all; but none whose place is not in the program. */
static int take_notes(struct notes *notes, const char *event)
{
	struct note note;
	u64 at = 0;
	u32 n = 0;

	while (next_note(notes, &at, &note)) {
		if (n == NOTES_MAX || strnlen(note.provider, NAME_BYTES + 1) > NAME_BYTES ||
		    strnlen(note.name, NAME_BYTES + 1) > NAME_BYTES ||
		    strnlen(note.args, TEXT_BYTES + 1) > TEXT_BYTES)
			return -E2BIG;
		note.order = n++;
		if ((event && !is_called(&note, event)) ||
		    !elf_file_offset(&notes->elf, note.address, true, &note.file_offset) ||
		    (note.semaphore &&
		     !elf_file_offset(&notes->elf, note.semaphore, false, &note.semaphore_offset)))
			continue;
		note.event = event ?: arena_printf(notes->arena, "%s:%s", note.provider, note.name);
		vec_push(notes->arena, &notes->list, note);
	}
	sort_notes(&notes->list);
	return 0;
}

/* --- Arguments --- */

static int compare_variables(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;
	int names = memcmp(x->name, y->name, MIN(x->n, y->n));

	return names ? names : (x->n > y->n) - (x->n < y->n);
}

static struct variable *variable_called(const struct notes *notes, const char *name, size_t n)
{
	const struct variable wanted = { .name = name, .n = n };

	return notes->variables.n ? bsearch(&wanted, notes->variables.at, notes->variables.n,
					    sizeof(wanted), compare_variables)
				  : NULL;
}

static void look_at(void *context, const struct elf_symbol *s)
{
	struct variable *found;

	if (s->type == STT_TLS)
		return;
	found = variable_called(context, s->name, strnlen(s->name, TEXT_BYTES + 1));
	if (!found || (found->n_found && found->address == s->address))
		return;
	found->n_found++;
	found->address = s->address;
}

static bool find_symbol(const struct operand_place *place, const char *name, size_t n,
			u64 *ret_address)
{
	struct notes *notes = place->context;
	const struct variable *found;

	if (notes->is_gathering) {
		vec_push(notes->arena, &notes->variables,
			 ((struct variable){ .name = name, .n = n }));
		return false;
	}
	found = variable_called(notes, name, n);
	*ret_address = found ? found->address : 0;
	return found && found->n_found == 1;
}

static const struct operand_machine *machine(void)
{
	return arch_own->elf_machine == EM_X86_64 ? &operand_x86_64 : &operand_arm64;
}

static struct operand_place place_of(struct notes *notes, const struct note *note)
{
	return (struct operand_place){ .address = note->address,
				       .is_relocated = notes->elf.is_relocated,
				       .find_symbol = find_symbol,
				       .context = notes };
}

/* Nothing of it is kept but what it names. */
static int gather_variables(struct notes *notes, const struct note *note)
{
	struct operand_place place = place_of(notes, note);
	const char *args = note->args;
	struct user_operand operand;
	struct arena texts;

	arena_init(&texts);
	for (u32 i = 0; i < ARGUMENTS_MAX && notes->n_operands <= OPERANDS_MAX &&
			operand_next(machine(), &args, &place, &texts, &operand);
	     i++)
		notes->n_operands++;
	arena_free(&texts);
	return notes->n_operands > OPERANDS_MAX ? -E2BIG : 0;
}

static void read_arguments(struct catalog *catalog, struct notes *notes, struct note *note)
{
	struct operand_place place = place_of(notes, note);
	VEC(struct field) fields = { 0 };
	const char *args = note->args;
	struct user_operand operand;

	while (fields.n < ARGUMENTS_MAX &&
	       operand_next(machine(), &args, &place, catalog->arena, &operand)) {
		struct field f = proto_argument(catalog, fields.n);

		f.kind = FIELD_OPERAND;
		f.type = operand.type;
		f.operand = arena_new(catalog->arena, struct user_operand);
		*f.operand = operand;
		vec_push(catalog->arena, &fields, f);
	}
	note->fields = fields.at;
	note->n_fields = fields.n;
}

/* All that the arguments name, in one walk over the file's symbols. */
static int find_variables(struct notes *notes)
{
	variable_vec *all = &notes->variables;
	u32 n = 0;

	if (!all->n)
		return 0;
	qsort(all->at, all->n, sizeof(all->at[0]), compare_variables);
	for (u32 i = 0; i < all->n; i++)
		if (!n || compare_variables(&all->at[n - 1], &all->at[i]) != 0)
			all->at[n++] = all->at[i];
	all->n = n;
	return elf_each_symbol(&notes->elf, look_at, notes);
}

/* One type for what stands in several places; bits 0: there is none. */
static struct type common_type(struct type a, struct type b)
{
	if (a.is_signed == b.is_signed)
		return a.bits > b.bits ? a : b;
	if ((a.is_signed ? b : a).bits == 64)
		return (struct type){ .bits = 0 };
	return type_int(64, true);
}

/* The argument, in all n places alike. */
static void settle_argument(struct catalog *catalog, struct note *places, u32 n, u32 i)
{
	struct field *first = &places->fields[i];
	struct type type = first->type;
	const char *why_not = NULL, *declaration;

	for (u32 k = 0; k < n && !why_not; k++) {
		if (i >= places[k].n_fields)
			return;
		type = common_type(type, places[k].fields[i].type);
		why_not = places[k].fields[i].operand->why_not;
		if (!type.bits)
			why_not = "its places have it with and without a sign";
	}
	declaration = arena_printf(catalog->arena, "%s%s%s", first->operand->text,
				   why_not ? ": cannot be read, " : "", why_not ?: "");
	for (u32 k = 0; k < n; k++) {
		struct field *f = &places[k].fields[i];

		if (type.bits)
			f->type = type;
		f->operand->why_not = why_not;
		f->declaration = declaration;
	}
}

/* How many of them, from that one on, are one probe's. */
static u32 n_places(const note_vec *list, u32 first)
{
	u32 n = 1;

	while (first + n < list->n && !strcmp(list->at[first].event, list->at[first + n].event))
		n++;
	return n;
}

static int read_all_arguments(struct catalog *catalog, struct notes *notes)
{
	note_vec *list = &notes->list;
	int err = 0;

	notes->is_gathering = true;
	for (u32 i = 0; i < list->n && !err; i++)
		err = gather_variables(notes, &list->at[i]);
	if (!err)
		err = find_variables(notes);
	notes->is_gathering = false;
	for (u32 i = 0; i < list->n && !err; i++)
		read_arguments(catalog, notes, &list->at[i]);
	for (u32 i = 0, n; i < list->n && !err; i += n) {
		n = n_places(list, i);
		for (u32 k = 0; k < list->at[i].n_fields; k++)
			settle_argument(catalog, &list->at[i], n, k);
	}
	return err;
}

/* Those of the event, NULL: all; nothing of them needs the file any more. */
static int read_notes(struct catalog *catalog, const char *path, const char *event,
		      struct program_file **ret_file)
{
	struct notes notes = { .arena = catalog->arena };
	struct program_file *file = arena_new(catalog->arena, struct program_file);
	int err = notes_open(&notes, path);

	if (err)
		return err;
	err = take_notes(&notes, event);
	if (!err)
		err = read_all_arguments(catalog, &notes);
	*file = (struct program_file){ .path = arena_strdup(catalog->arena, path),
				       .id = notes.elf.id,
				       .notes = notes.list.at,
				       .n_notes = notes.list.n };
	notes_close(&notes);
	*ret_file = file;
	return err;
}

/* --- The kind --- */

static struct stream *new_stream(struct catalog *catalog, const struct stream_kind_info *kind,
				 const char *category, const struct program_file *file, u32 i)
{
	const struct note *note = &file->notes[i];
	struct stream *s = stream_new(catalog->arena, kind, category, note->event);

	s->is_function = true;
	s->file_path = file->path;
	s->file_id = file->id;
	s->file_offset = note->file_offset;
	s->semaphore_offset = note->semaphore_offset;
	s->fields = note->fields;
	s->n_fields = note->n_fields;
	return s;
}

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	const char *path = catalog->is_live ? program_find(catalog, category) : NULL;
	struct stream *first = NULL, **last = &first;
	struct program_file *file;
	int err;

	if (!path)
		return catalog->is_live ? -ENOENT : -ENODEV;
	err = read_notes(catalog, path, event, &file);
	for (u32 i = 0; !err && i < file->n_notes; i++, last = &(*last)->next_place)
		*last = new_stream(catalog, kind, category, file, i);
	*ret_stream = first;
	return err || first ? err : -ENOENT;
}

static int load_listed(struct catalog *catalog, const struct stream_kind_info *kind,
		       const struct stream_name *name, struct stream **ret_stream)
{
	*ret_stream = new_stream(catalog, kind, name->category, name->file, name->order);
	return 0;
}

/* Of a probe at several places, each. */
static int list_file(struct catalog *catalog, const struct stream_kind_info *kind,
		     const char *category, struct stream_names *names)
{
	const char *path = catalog->is_live ? program_find(catalog, category) : NULL;
	struct program_file *file;
	int err;

	if (!path)
		return catalog->is_live ? 0 : -ENODEV;
	err = read_notes(catalog, path, NULL, &file);
	for (u32 i = 0; !err && i < file->n_notes; i++) {
		struct stream_name *name;

		stream_names_add(catalog->arena, names, kind, category, file->notes[i].event);
		name = &names->list.at[names->list.n - 1];
		name->file = file;
		name->order = i;
	}
	return err;
}

static const char *meant(struct catalog *catalog, const struct stream_kind_info *kind,
			 const struct stream_names *names, const char *category, const char *event)
{
	if (!program_find(catalog, category))
		return arena_printf(catalog->arena,
				    "there is no program or library %s: write its path", category);
	return names->list.n ? NULL
			     : arena_printf(catalog->arena,
					    "%s was built without any (sys/sdt.h); its functions "
					    "are uprobe:%s:FUNCTION",
					    category, category);
}

const struct stream_kind_info usdt_kind = {
	.kind = STREAM_USDT,
	.name = "usdt",
	.shorthand = "usdt",
	.form = "usdt:FILE:PROVIDER:NAME",
	.has_category = true,
	.needs_category = true,
	.has_provider = true,
	.list_file = list_file,
	.load = load,
	.load_listed = load_listed,
	.complain = program_complain,
	.meant = meant,
};
