/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An ELF file of this machine's kind, or a piece of memory that is one, as its headers tell of it.
 * It is read piece by piece, never mapped: a file that somebody cuts off meanwhile reads short.
 * Nothing in it is trusted.
 */
#ifndef EBQL_CAT_ELF_H
#define EBQL_CAT_ELF_H

#include <elf.h>

#include "cat/cat.h"

struct elf {
	int fd;		  /* -1: it lies in memory, which is ours to free */
	const u8 *memory; /* or NULL */
	u64 n_bytes;
	struct file_id id;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	char *section_names;
	u32 n_segments, n_sections;
	bool is_relocated; /* addresses in memory are others */
	u64 section_names_bytes;
};

/* 0; -ENOEXEC: it is no program of this machine; -errno. */
int elf_open(struct elf *elf, const char *path);
void elf_close(struct elf *elf);
bool elf_is_program(const char *path);
const Elf64_Shdr *elf_section(const struct elf *elf, const char *name);
/* What it holds, and a NUL behind it, to free(); NULL: it cannot be read. */
void *elf_section_bytes(const struct elf *elf, const Elf64_Shdr *section);
/* Of an address in memory, in the file; is_code: in what is executed, or in what is written. */
bool elf_file_offset(const struct elf *elf, u64 address, bool is_code, u64 *ret_offset);

struct elf_symbol {
	const char *name;
	u64 address, n_bytes;
	u32 type; /* STT_... */
	u32 rank; /* what the file exports is meant before what it keeps to itself */
};

/* Those that are defined in it, but no old versions; also what .gnu_debugdata has of them.  0, or
 * -E2BIG: they are more than a program can have, and were visited in part. */
int elf_each_symbol(const struct elf *elf,
		    void (*visit)(void *context, const struct elf_symbol *symbol), void *context);

#endif
