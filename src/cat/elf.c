/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file -> the headers, sections and symbols of the program or library that it is: .symtab,
 * .dynsym, and of a stripped one the .symtab within its .gnu_debugdata.
 */
#include "cat/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cat/elf.h"

/* What .gnu_debugdata may become: a table of symbols, no more. */
#define UNPACKED_MAX (256u << 20)
/*
 * More than any program has, and less than a machine: of its tables, and what of them is read; the
 * largest browsers with all their symbols need a third.
 */
#define PIECE_MAX    (512u << 20)
#define WORK_MAX     (1u << 30)
#define SYMBOL_WORK  64 /* of each, beside its name */
#define TABLES_MAX   4
#define SEGMENTS_MAX 256

static bool read_at(const struct elf *elf, u64 offset, void *to, u64 n)
{
	u64 done = 0;

	if (offset > elf->n_bytes || n > elf->n_bytes - offset)
		return false;
	if (elf->memory) {
		memcpy(to, elf->memory + offset, n);
		return true;
	}
	while (done < n) {
		ssize_t got = pread(elf->fd, (u8 *)to + done, n - done, (off_t)(offset + done));

		if (got <= 0)
			return false;
		done += (u64)got;
	}
	return true;
}

/* With a NUL behind it. */
static void *read_piece(const struct elf *elf, u64 offset, u64 n)
{
	u8 *piece = n <= MIN(elf->n_bytes, PIECE_MAX) ? malloc(n + 1) : NULL;

	if (piece && !read_at(elf, offset, piece, n)) {
		free(piece);
		piece = NULL;
	}
	if (piece)
		piece[n] = 0;
	return piece;
}

void elf_close(struct elf *elf)
{
	free(elf->segments);
	free(elf->sections);
	free(elf->section_names);
	free((void *)elf->memory);
	if (elf->fd >= 0)
		close(elf->fd);
	*elf = (struct elf){ .fd = -1 };
}

/* A file without sections, or with broken ones, is a program all the same. */
static int read_headers(struct elf *elf)
{
	Elf64_Ehdr header;

	if (!read_at(elf, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != arch_own->elf_machine)
		return -ENOEXEC;
	if (header.e_phnum > SEGMENTS_MAX)
		return -E2BIG;
	elf->is_relocated = header.e_type == ET_DYN;
	elf->segments =
		read_piece(elf, header.e_phoff, (u64)header.e_phnum * sizeof(*elf->segments));
	elf->sections =
		read_piece(elf, header.e_shoff, (u64)header.e_shnum * sizeof(*elf->sections));
	elf->n_segments = elf->segments ? header.e_phnum : 0;
	elf->n_sections = elf->sections ? header.e_shnum : 0;
	if (header.e_shstrndx < elf->n_sections) {
		const Elf64_Shdr *names = &elf->sections[header.e_shstrndx];

		elf->section_names = read_piece(elf, names->sh_offset, names->sh_size);
		elf->section_names_bytes = elf->section_names ? names->sh_size : 0;
	}
	return 0;
}

/* The descriptor is its own from then on. */
static int open_at(struct elf *elf, int fd)
{
	struct stat stat;
	int err = 0;

	*elf = (struct elf){ .fd = fd };
	if (fd < 0)
		return -errno;
	if (fstat(elf->fd, &stat))
		err = -errno;
	else if (!S_ISREG(stat.st_mode))
		err = -ENOEXEC;
	if (!err) {
		elf->n_bytes = (u64)stat.st_size;
		elf->id = file_id_of(&stat);
		err = read_headers(elf);
	}
	if (err)
		elf_close(elf);
	return err;
}

int elf_open(struct elf *elf, const char *path)
{
	return open_at(elf, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

bool elf_is_program(const char *path)
{
	struct elf elf;

	if (elf_open(&elf, path))
		return false;
	elf_close(&elf);
	return true;
}

const Elf64_Shdr *elf_section(const struct elf *elf, const char *name)
{
	for (u32 i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].sh_name < elf->section_names_bytes &&
		    strcmp(elf->section_names + elf->sections[i].sh_name, name) == 0)
			return &elf->sections[i];
	return NULL;
}

void *elf_section_bytes(const struct elf *elf, const Elf64_Shdr *section)
{
	if (section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED)
		return NULL;
	return read_piece(elf, section->sh_offset, section->sh_size);
}

bool elf_file_offset(const struct elf *elf, u64 address, bool is_code, u64 *ret_offset)
{
	for (u32 i = 0; i < elf->n_segments; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & (is_code ? PF_X : PF_W) &&
		    address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz) {
			*ret_offset = address - p->p_vaddr + p->p_offset;
			return true;
		}
	}
	return false;
}

/* --- Symbols --- */

typedef void symbol_visit(void *context, const struct elf_symbol *symbol);

/* 0: an old version, which no program is linked with any more. */
static u32 rank_of(const Elf64_Sym *s, const u16 *version)
{
	if (version && *version & 0x8000) /* hidden */
		return 0;
	switch (ELF64_ST_BIND(s->st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	default:
		return 1;
	}
}

struct elf_table {
	Elf64_Sym *symbols;
	u16 *versions; /* or NULL */
	char *names;   /* a NUL is behind them */
	u64 n, names_bytes;
};

/* `work` is what may still be done; -E2BIG: it was not enough. */
static int visit_table(const struct elf_table *t, u64 *work, symbol_visit *visit, void *context)
{
	for (u64 i = 0; i < t->n; i++) {
		u64 n;

		const Elf64_Sym *s = &t->symbols[i];
		struct elf_symbol symbol = {
			.address = s->st_value,
			.n_bytes = s->st_size,
			.type = ELF64_ST_TYPE(s->st_info),
			.rank = rank_of(s, t->versions ? t->versions + i : NULL),
		};

		if (s->st_shndx == SHN_UNDEF || s->st_name >= t->names_bytes || !symbol.rank)
			continue;
		symbol.name = t->names + s->st_name;
		n = strlen(symbol.name) + SYMBOL_WORK;
		if (n > *work)
			return -E2BIG;
		*work -= n;
		visit(context, &symbol);
	}
	return 0;
}

static const Elf64_Shdr *versions_of(const struct elf *elf, u32 table, u64 n)
{
	for (u32 i = 0; i < elf->n_sections; i++)
		if (elf->sections[i].sh_type == SHT_GNU_versym &&
		    elf->sections[i].sh_link == table &&
		    elf->sections[i].sh_size / sizeof(u16) >= n)
			return &elf->sections[i];
	return NULL;
}

static int each_of_sections(const struct elf *elf, u64 *work, symbol_visit *visit, void *context)
{
	u32 n_tables = 0;
	int err = 0;

	for (u32 i = 0; i < elf->n_sections && !err; i++) {
		const Elf64_Shdr *s = &elf->sections[i], *versions;
		struct elf_table t = { .n = s->sh_size / sizeof(Elf64_Sym) };

		if ((s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM) ||
		    s->sh_link >= elf->n_sections)
			continue;
		t.names_bytes = elf->sections[s->sh_link].sh_size;
		if (++n_tables > TABLES_MAX || s->sh_size > PIECE_MAX || t.names_bytes > PIECE_MAX)
			return -E2BIG;
		versions = versions_of(elf, i, t.n);
		t.symbols = elf_section_bytes(elf, s);
		t.names = elf_section_bytes(elf, &elf->sections[s->sh_link]);
		t.versions = versions ? elf_section_bytes(elf, versions) : NULL;
		if (t.symbols && t.names)
			err = visit_table(&t, work, visit, context);
		free(t.symbols);
		free(t.names);
		free(t.versions);
	}
	return err;
}

/* lzma_stream_buffer_decode() of liblzma 5, and of its results these two. */
typedef int lzma_decode(u64 *memory, u32 flags, const void *allocator, const u8 *from, size_t *at,
			size_t n, u8 *to, size_t *ret_n, size_t room);
#define LZMA_OK	       0
#define LZMA_BUF_ERROR 10

/* The library is opened for this alone: programs that are stripped so are few. */
static u8 *unpack(const u8 *packed, size_t n, size_t *ret_n)
{
	void *library = dlopen("liblzma.so.5", RTLD_NOW | RTLD_LOCAL);
	lzma_decode *decode =
		library ? (lzma_decode *)dlsym(library, "lzma_stream_buffer_decode") : NULL;
	u8 *unpacked = NULL;

	*ret_n = 0;
	for (size_t room = 8 * n + 4096; decode && room <= UNPACKED_MAX; room *= 4) {
		size_t at = 0;
		u64 memory = UNPACKED_MAX;
		int ret;

		*ret_n = 0;
		free(unpacked);
		unpacked = malloc(room);
		if (!unpacked)
			break;
		ret = decode(&memory, 0, NULL, packed, &at, n, unpacked, ret_n, room);
		if (ret == LZMA_OK)
			break;
		*ret_n = 0;
		if (ret != LZMA_BUF_ERROR)
			break;
	}
	if (library)
		dlclose(library);
	return unpacked;
}

static int each_of_debug_data(const struct elf *elf, u64 *work, symbol_visit *visit, void *context)
{
	const Elf64_Shdr *section = elf_section(elf, ".gnu_debugdata");
	u8 *packed = section ? elf_section_bytes(elf, section) : NULL;
	struct elf within = { .fd = -1 };
	size_t n;
	int err = 0;

	if (!packed)
		return 0;
	within.memory = unpack(packed, section->sh_size, &n);
	within.n_bytes = n;
	if (within.memory && !read_headers(&within))
		err = each_of_sections(&within, work, visit, context);
	elf_close(&within);
	free(packed);
	return err;
}

int elf_each_symbol(const struct elf *elf, symbol_visit *visit, void *context)
{
	u64 work = WORK_MAX;
	int err = each_of_sections(elf, &work, visit, context);

	return err ? err : each_of_debug_data(elf, &work, visit, context);
}

struct functions {
	const struct elf *elf;
	function_visit *visit;
	void *context;
};

static void take_function(void *context, const struct elf_symbol *symbol)
{
	struct functions *f = context;
	u64 offset;

	if ((symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC) && *symbol->name &&
	    elf_file_offset(f->elf, symbol->address, true, &offset))
		f->visit(f->context, symbol->name, offset, symbol->n_bytes);
}

void elf_each_function(int fd, function_visit *visit, void *context)
{
	struct elf elf;
	struct functions f = { &elf, visit, context };

	if (open_at(&elf, dup(fd)))
		return;
	elf_each_symbol(&elf, take_function, &f);
	elf_close(&elf);
}
