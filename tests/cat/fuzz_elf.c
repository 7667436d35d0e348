/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Any bytes are a program with functions, versions, packed symbols and probes, or are refused; a
 * second look finds what the first one did.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cat/internal.h"

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t n);

/* What was found: places, names, arguments. */
static u64 sum_of(const struct stream_list *list)
{
	u64 sum = list ? list->n_left_out : 1;

	for (u32 i = 0; list && i < list->streams.n; i++) {
		const struct stream *s = list->streams.at[i];

		sum = 31 * sum + s->file_offset + 7 * s->semaphore_offset + strlen(s->name);
		for (u32 k = 0; k < s->n_fields; k++) {
			const struct user_operand *o = s->fields[k].operand;

			sum = 31 * sum + strlen(s->fields[k].declaration);
			sum = 31 * sum + (o && !o->why_not ? o->value + o->base : 3);
		}
	}
	return sum;
}

static u64 look(const char *path)
{
	static const char *const ends[][2] = {
		{ "uprobe", "*" },	  { "uretprobe", "usdt_*" },
		{ "uprobe", "usdt_ask" }, { "uprobe", "a+0x3" },
		{ "usdt", "*" },	  { "usdt", "ebql_*:a*" },
		{ "usdt", "again" },	  { "usdt", "ebql_asked:asked" },
	};
	struct symbols *symbols = NULL;
	struct catalog *catalog;
	struct arena arena;
	struct diags diags;
	u64 sum = 0, behind;

	arena_init(&arena);
	diags_init(&diags, &arena, "query", "", 0);
	catalog = catalog_open_live(&arena);
	for (u32 i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *const parts[] = { ends[i][0], path, ends[i][1] };
		struct stream_list *list = NULL;
		enum find_result result =
			catalog_look_up(catalog, parts, 3, (struct span){ 0 }, &diags, &list);

		BUG_ON((result == FIND_FOUND) != (list != NULL));
		sum = 31 * sum + sum_of(list) + result;
	}
	catalog_close(catalog);
	arena_free(&arena);
	if (symbols_open(path, &symbols))
		return sum;
	for (u32 i = 0; i < symbols_count(symbols); i++) {
		u64 offset;
		const char *name = symbols_name(symbols, i, &offset);

		sum = 31 * sum + strlen(name) + offset;
		name = symbols_at(symbols, offset, &behind);
		sum = 31 * sum + (name ? strlen(name) + behind : 1);
	}
	symbols_close(symbols);
	return sum;
}

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t n)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/fuzz_elf.%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		BUG("cannot write %s", path);
	close(fd);
	BUG_ON(look(path) != look(path));
	unlink(path);
	return 0;
}
