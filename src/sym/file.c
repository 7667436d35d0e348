/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An ELF file -> its functions, by where they lie in the file.
 */
#include "sym/internal.h"

#include "cat/cat.h"

struct reading {
	struct arena *arena;
	struct symbol_table *table;
};

static void add(void *context, const char *name, u64 offset, u64 n_bytes)
{
	struct reading *r = context;

	vec_push(r->arena, &r->table->list,
		 (struct symbol){ offset, n_bytes, arena_strdup(r->arena, name) });
}

void file_read(struct arena *arena, int fd, struct symbol_table *table)
{
	struct reading r = { arena, table };

	elf_each_function(fd, add, &r);
	symbol_table_sort(table, false);
}
