/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Inside of sym/: who has tables of names.
 */
#ifndef EBQL_SYM_INTERNAL_H
#define EBQL_SYM_INTERNAL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "cat/cat.h"
#include "sym/sym.h"

/* file.c: of an ELF file, by places in the file; what is none has none. */
void file_read(struct arena *arena, int fd, struct symbol_table *table);

/* process.c: whose addresses they are, as those of a stack; appends the name of one, or nothing. */
struct process;
struct process *process_of(struct namer *namer, u32 pid, const u64 *addresses, u32 n);
void process_look(struct namer *namer, u32 pid);
void process_name(struct namer *namer, struct process *process, u64 address, struct buf *to);
void processes_forget(struct namer *namer);

/* A file that a process has mapped: each once. */
struct symbol_file {
	struct symbol_file *next;
	u64 device, inode;
	bool is_read;
	struct symbol_table table;
};

struct namer {
	struct kernel_symbols kernel;
	/* Of processes and files; all of it is forgotten when there are many. */
	struct arena arena;
	struct process *processes;
	struct symbol_file *files;
	u32 n_processes, n_files;
	struct buf texts; /* of the stack at hand */
};

#endif
