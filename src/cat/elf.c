/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program or library -> where in its file a function's code begins.  Reads .symtab and .dynsym
 * of ELF files of this machine's kind; nothing in the file is trusted.
 */
#include "cat/internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

struct elf {
	const u8 *data;
	size_t n;
};

/* NULL: it reaches beyond the file, or does not lie as what is read there must. */
static const void *piece(const struct elf *elf, u64 offset, u64 n, u64 align)
{
	return !(offset % align) && offset <= elf->n && n <= elf->n - offset ? elf->data + offset
									     : NULL;
}

static int elf_open(struct elf *elf, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	const Elf64_Ehdr *header;
	struct stat stat;
	void *data;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat))
		err = -errno;
	else if (!S_ISREG(stat.st_mode) || stat.st_size < (off_t)sizeof(*header))
		err = -ENOEXEC;
	data = err ? MAP_FAILED : mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!err && data == MAP_FAILED)
		err = -errno;
	close(fd);
	if (err)
		return err;
	*elf = (struct elf){ data, (size_t)stat.st_size };
	header = data;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != MACHINE) {
		munmap(data, elf->n);
		return -ENOEXEC;
	}
	return 0;
}

/* Of an address in memory, in the file. */
static bool file_offset(const struct elf *elf, u64 address, u64 *ret_offset)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf->data;
	const Elf64_Phdr *segments =
		piece(elf, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr), 8);

	for (u32 i = 0; segments && i < header->e_phnum; i++) {
		const Elf64_Phdr *p = &segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && address >= p->p_vaddr &&
		    address - p->p_vaddr < p->p_filesz) {
			*ret_offset = address - p->p_vaddr + p->p_offset;
			return true;
		}
	}
	return false;
}

struct search {
	const char *symbol;
	struct suggest *suggest;
	u64 address;
	u32 rank; /* of what was found; 0: nothing */
	bool is_ambiguous;
};

/* What the file exports is meant before what it keeps to itself; an old version of it never. */
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

static void take_symbol(struct search *search, const Elf64_Sym *s, u32 rank)
{
	if (rank < search->rank)
		return;
	search->is_ambiguous =
		rank == search->rank && (search->is_ambiguous || s->st_value != search->address);
	search->rank = rank;
	search->address = s->st_value;
}

static void search_table(const struct elf *elf, const Elf64_Shdr *table, const Elf64_Shdr *strings,
			 const Elf64_Shdr *version_table, struct search *search)
{
	const Elf64_Sym *symbols = piece(elf, table->sh_offset, table->sh_size, 8);
	const char *names = piece(elf, strings->sh_offset, strings->sh_size, 1);
	u64 n = table->sh_size / sizeof(*symbols);
	const u16 *versions = NULL;

	if (version_table && version_table->sh_size / sizeof(u16) >= n)
		versions = piece(elf, version_table->sh_offset, version_table->sh_size, 2);
	if (!symbols || !names || !strings->sh_size || names[strings->sh_size - 1])
		return;
	for (u64 i = 0; i < n; i++) {
		const Elf64_Sym *s = &symbols[i];
		u32 rank = rank_of(s, versions ? versions + i : NULL);

		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF ||
		    s->st_name >= strings->sh_size || !rank)
			continue;
		if (strcmp(names + s->st_name, search->symbol) == 0)
			take_symbol(search, s, rank);
		else
			suggest_offer(search->suggest, names + s->st_name);
	}
}

static void search_sections(const struct elf *elf, const Elf64_Shdr *sections, u32 n,
			    struct search *search)
{
	for (u32 i = 0; i < n; i++) {
		const Elf64_Shdr *s = &sections[i], *versions = NULL;

		if ((s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM) || s->sh_link >= n)
			continue;
		for (u32 k = 0; k < n && !versions; k++)
			if (sections[k].sh_type == SHT_GNU_versym && sections[k].sh_link == i)
				versions = &sections[k];
		search_table(elf, s, &sections[s->sh_link], versions, search);
	}
}

bool elf_is_program(const char *path)
{
	struct elf elf = { 0 };

	if (elf_open(&elf, path))
		return false;
	munmap((void *)elf.data, elf.n);
	return true;
}

int elf_find_function(struct arena *arena, const char *path, const char *symbol, u64 *ret_offset,
		      const char **ret_nearest)
{
	struct suggest suggest;
	struct search search = { .symbol = symbol, .suggest = &suggest };
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
	struct elf elf = { 0 };
	int err = elf_open(&elf, path);

	*ret_nearest = NULL;
	if (err)
		return err;
	suggest_init(&suggest, symbol);
	header = (const Elf64_Ehdr *)elf.data;
	sections = piece(&elf, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr), 8);
	if (sections)
		search_sections(&elf, sections, header->e_shnum, &search);
	if (search.is_ambiguous)
		err = -ENOTUNIQ;
	else if (!search.rank || !file_offset(&elf, search.address, ret_offset))
		err = -ESRCH;
	if (suggest_best(&suggest))
		*ret_nearest = arena_strdup(arena, suggest_best(&suggest));
	munmap((void *)elf.data, elf.n);
	return err;
}
