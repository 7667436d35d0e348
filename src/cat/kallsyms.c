/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * /proc/kallsyms -> the kernel's functions, and those of modules, which come and go.  A line is
 * "ADDRESS t NAME", and behind the names of a module "\t[MODULE]".
 */
#include "cat/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/sys.h"

#define LOOK_NS 20000000ull /* modules are looked for so often, while there are new addresses */

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

static void read_all(struct arena *arena, int fd, struct symbol_table *table)
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
	symbol_table_sort(table, false);
}

/* Of the list of modules and where they are. */
static u64 modules_hash(struct kernel_symbols *k)
{
	struct buf text;
	u64 hash = 1;

	buf_init(&text);
	if (k->modules_fd >= 0 && lseek(k->modules_fd, 0, SEEK_SET) == 0)
		buf_read(&text, k->modules_fd, SIZE_MAX);
	/* Not how many use one: "NAME BYTES USERS USER,... STATE ADDRESS" */
	for (char *line = text.at, *end; line && *line; line = end) {
		const char *name_end = strchr(line, ' '), *state;

		end = strchrnul(line, '\n');
		end += *end == '\n';
		state = name_end;
		for (u32 i = 0; i < 3 && state; i++)
			state = strchr(state + 1, ' ');
		for (const char *c = line; name_end && c < name_end; c++)
			hash = (hash ^ (u8)*c) * 0x100000001b3ull;
		for (const char *c = state; c && c < end; c++)
			hash = (hash ^ (u8)*c) * 0x100000001b3ull;
	}
	buf_free(&text);
	return hash;
}

void kernel_symbols_look(struct kernel_symbols *k)
{
	u64 now_ns = base_monotonic_ns(), hash;

	if (k->fd < 0 || now_ns < k->looked_ns + LOOK_NS)
		return;
	k->looked_ns = now_ns;
	hash = modules_hash(k);
	if (hash == k->modules_hash || lseek(k->fd, 0, SEEK_SET) < 0)
		return;
	k->modules_hash = hash;
	arena_free(&k->arena);
	arena_init(&k->arena);
	k->table = (struct symbol_table){ 0 };
	read_all(&k->arena, k->fd, &k->table);
}

void kernel_symbols_open(struct kernel_symbols *k)
{
	*k = (struct kernel_symbols){ .fd = sys_kallsyms_open() };
	arena_init(&k->arena);
	k->modules_fd = open("/proc/modules", O_RDONLY | O_CLOEXEC);
}

void kernel_symbols_close(struct kernel_symbols *k)
{
	sys_close(&k->fd);
	sys_close(&k->modules_fd);
	arena_free(&k->arena);
}
