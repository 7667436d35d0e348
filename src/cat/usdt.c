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
/* More than any program has: bytes of notes, and of one's arguments and places. */
#define NOTES_MAX     (32u << 20)
#define ARGUMENTS_MAX 32
#define PLACES_MAX    10001

struct note {
	const char *provider, *name, *args;
	u64 address, semaphore; /* semaphore 0: none */
};

/* All of a file. */
struct notes {
	struct elf elf;
	char *bytes; /* with a NUL behind them */
	u64 n_bytes;
	s64 moved; /* by so much the code since the notes were written (prelink) */
};

static int notes_open(struct notes *notes, const char *path)
{
	const Elf64_Shdr *section, *base;
	int err = elf_open(&notes->elf, path);

	notes->bytes = NULL;
	notes->n_bytes = 0;
	if (err)
		return err;
	section = elf_section(&notes->elf, ".note.stapsdt");
	base = elf_section(&notes->elf, ".stapsdt.base");
	if (section && section->sh_size > NOTES_MAX) {
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

/* --- Arguments --- */

struct symbol_search {
	const char *name;
	size_t n;
	u64 address;
	u32 n_found;
};

static void look_at(void *context, const struct elf_symbol *s)
{
	struct symbol_search *search = context;

	if (strncmp(s->name, search->name, search->n) != 0 || s->name[search->n] ||
	    s->type == STT_TLS || (search->n_found && search->address == s->address))
		return;
	search->n_found++;
	search->address = s->address;
}

static bool find_symbol(const struct operand_place *place, const char *name, size_t n,
			u64 *ret_address)
{
	struct symbol_search search = { .name = name, .n = n };

	elf_each_symbol(place->context, look_at, &search);
	*ret_address = search.address;
	return search.n_found == 1;
}

static const struct operand_machine *machine(void)
{
	return arch_own->elf_machine == EM_X86_64 ? &operand_x86_64 : &operand_arm64;
}

static void add_arguments(struct catalog *catalog, struct stream *s, const struct notes *notes,
			  const struct note *note)
{
	struct operand_place place = { .address = note->address,
				       .is_relocated = notes->elf.is_relocated,
				       .find_symbol = find_symbol,
				       .context = (void *)&notes->elf };
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
	s->fields = fields.at;
	s->n_fields = fields.n;
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

/* The argument, in all places alike. */
static void settle_argument(struct catalog *catalog, struct stream *places, u32 i)
{
	struct field *first = &places->fields[i];
	struct type type = first->type;
	const char *why_not = NULL;

	for (struct stream *s = places; s && !why_not; s = s->next_place) {
		if (i >= s->n_fields)
			return;
		type = common_type(type, s->fields[i].type);
		why_not = s->fields[i].operand->why_not;
		if (!type.bits)
			why_not = "its places have it with and without a sign";
	}
	for (struct stream *s = places; s; s = s->next_place) {
		struct field *f = &s->fields[i];

		if (type.bits)
			f->type = type;
		f->operand->why_not = why_not;
		f->declaration = arena_printf(catalog->arena, "%s%s%s", first->operand->text,
					      why_not ? ": cannot be read, " : "", why_not ?: "");
	}
}

/* --- The kind --- */

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	const char *file = catalog->is_live ? program_find(catalog->arena, category) : NULL;
	struct stream *first = NULL, **last = &first;
	struct notes notes;
	struct note note;
	u64 at = 0;
	u32 n_places = 0;
	int err;

	if (!file)
		return catalog->is_live ? -ENOENT : -ENODEV;
	err = notes_open(&notes, file);
	if (err)
		return err;
	while (n_places < PLACES_MAX && next_note(&notes, &at, &note)) {
		struct stream *s;

		if (!is_called(&note, event))
			continue;
		s = stream_new(catalog->arena, kind, category, event);
		if (!elf_file_offset(&notes.elf, note.address, true, &s->file_offset) ||
		    (note.semaphore &&
		     !elf_file_offset(&notes.elf, note.semaphore, false, &s->semaphore_offset)))
			continue; /* its notes are broken there */
		s->is_function = true;
		s->file_path = arena_strdup(catalog->arena, file);
		s->file_id = notes.elf.id;
		add_arguments(catalog, s, &notes, &note);
		*last = s;
		last = &s->next_place;
		n_places++;
	}
	for (u32 i = 0; first && i < first->n_fields; i++)
		settle_argument(catalog, first, i);
	notes_close(&notes);
	*ret_stream = first;
	return first ? 0 : -ENOENT;
}

static int list_file(struct catalog *catalog, const struct stream_kind_info *kind,
		     const char *category, struct stream_names *names)
{
	const char *file = catalog->is_live ? program_find(catalog->arena, category) : NULL;
	const char *event = NULL;
	struct notes notes;
	struct note note;
	u64 at = 0;
	int err;

	if (!file)
		return catalog->is_live ? 0 : -ENODEV;
	err = notes_open(&notes, file);
	if (err)
		return err;
	while (next_note(&notes, &at, &note)) {
		/* Several places of one mostly stand together; find.c leaves out the others. */
		if (event && is_called(&note, event))
			continue;
		event = arena_printf(catalog->arena, "%s:%s", note.provider, note.name);
		stream_names_add(catalog->arena, names, kind, category, event);
	}
	notes_close(&notes);
	return 0;
}

static const char *meant(struct catalog *catalog, const struct stream_kind_info *kind,
			 const char *category, const char *event)
{
	const struct stream_names *names = stream_names_in(catalog, kind, category);

	if (!program_find(catalog->arena, category))
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
	.complain = program_complain,
	.meant = meant,
};
