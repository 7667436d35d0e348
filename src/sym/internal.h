/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Inside of sym/: one table of names for what has addresses, and who has such.
 */
#ifndef EBQL_SYM_INTERNAL_H
#define EBQL_SYM_INTERNAL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "sym/sym.h"

/* A function: from `start` on, n_bytes long; 0: up to the next one. */
struct symbol {
	u64 start, n_bytes; /* n_bytes 0: up to the next */
	const char *name;
	u32 order; /* in the list, before it was sorted */
};

struct symbol_table {
	VEC(struct symbol) list; /* sorted by table_sort() */
};

/* table.c.  Of several at one place the first in the list stays, or the last. */
void table_sort(struct symbol_table *table, bool keeps_last);
/* NULL: there is none. */
const struct symbol *table_find(const struct symbol_table *table, u64 address);

/* kernel.c: the kernel's, as a descriptor of its list has them. */
void kernel_read(struct arena *arena, int fd, struct symbol_table *table);

/* file.c: of an ELF file, by places in the file; what is none has none. */
void file_read(struct arena *arena, int fd, struct symbol_table *table);

/* process.c: whose stack it is; appends the name of an address, or nothing. */
struct process;
struct process *process_of(struct namer *namer, const struct stack *stack);
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
	int kernel_fd, modules_fd;
	struct arena kernel_arena;
	struct symbol_table kernel;
	u64 modules_hash, looked_ns; /* at the list of modules */
	/* Of processes and files; all of it is forgotten when there are many. */
	struct arena arena;
	struct process *processes;
	struct symbol_file *files;
	u32 n_processes, n_files;
	struct buf texts; /* of the stack at hand */
};

#endif
