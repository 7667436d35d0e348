/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * /proc/kallsyms -> the kernel's functions.  A line is "ADDRESS t NAME", and behind the names of a
 * module "\t[MODULE]".
 */
#include "sym/internal.h"

#include <stdlib.h>
#include <string.h>

static void add(struct arena *arena, char *line, struct symbol_table *table)
{
	char *rest, *module;
	u64 address = strtoull(line, &rest, 16);

	if (rest == line || rest[0] != ' ' || !rest[1] || !strchr("tTwW", rest[1]) ||
	    rest[2] != ' ')
		return;
	module = strchr(rest + 3, '\t');
	if (module)
		*module = ' ';
	if (address)
		vec_push(arena, &table->list, (struct symbol){ address, 0, rest + 3 });
}

void kernel_read(struct arena *arena, int fd, struct symbol_table *table)
{
	struct buf text;

	buf_init_in(&text, arena);
	if (buf_read(&text, fd, SIZE_MAX))
		return;
	for (char *line = text.at, *end; line && *line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		add(arena, line, table);
	}
	table_sort(table, false);
}
