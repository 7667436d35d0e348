/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A stack -> its names.
 */
#include "sym/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/sys.h"
#include "type/type.h"

#define LOOK_NS 20000000ull /* modules are looked for so often, while there are new stacks */

struct namer *namer_open(void)
{
	struct namer *namer = calloc(1, sizeof(*namer));

	if (!namer)
		return NULL;
	arena_init(&namer->arena);
	arena_init(&namer->kernel_arena);
	buf_init(&namer->texts);
	namer->kernel_fd = sys_kallsyms_open();
	namer->modules_fd = open("/proc/modules", O_RDONLY | O_CLOEXEC);
	return namer;
}

void namer_close(struct namer *namer)
{
	if (!namer)
		return;
	sys_close(&namer->kernel_fd);
	sys_close(&namer->modules_fd);
	processes_forget(namer);
	arena_free(&namer->kernel_arena);
	buf_free(&namer->texts);
	free(namer);
}

/* Of the list of modules and where they are. */
static u64 modules_hash(struct namer *namer)
{
	struct buf text;
	u64 hash = 1;

	buf_init(&text);
	if (namer->modules_fd >= 0 && lseek(namer->modules_fd, 0, SEEK_SET) == 0)
		buf_read(&text, namer->modules_fd, SIZE_MAX);
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

/* Modules come and go as the program runs. */
static void look_at_kernel(struct namer *namer)
{
	u64 now_ns = base_monotonic_ns(), hash;

	if (namer->kernel_fd < 0 || now_ns < namer->looked_ns + LOOK_NS)
		return;
	namer->looked_ns = now_ns;
	hash = modules_hash(namer);
	if (hash == namer->modules_hash || lseek(namer->kernel_fd, 0, SEEK_SET) < 0)
		return;
	namer->modules_hash = hash;
	arena_free(&namer->kernel_arena);
	arena_init(&namer->kernel_arena);
	namer->kernel = (struct symbol_table){ 0 };
	kernel_read(&namer->kernel_arena, namer->kernel_fd, &namer->kernel);
}

static void kernel_name(const struct namer *namer, u64 address, struct buf *to)
{
	const struct symbol *s = table_find(&namer->kernel, address);

	if (s)
		buf_puts(to, s->name);
}

void namer_name(struct namer *namer, struct stack *stack)
{
	struct process *process = stack->pid ? process_of(namer, stack) : NULL;
	u32 at[STACK_DEPTH_MAX + 1];
	struct buf *texts = &namer->texts;
	const char **names;
	char *room;

	buf_reset(texts);
	if (!process)
		look_at_kernel(namer);
	for (u32 i = 0; i < stack->n; i++) {
		/* Behind the call, which may be the last of its function. */
		u64 address = stack->addresses[i] - (i > 0);

		at[i] = (u32)texts->n;
		if (process)
			process_name(namer, process, address, texts);
		else if ((s64)address < 0)
			kernel_name(namer, address, texts);
		if (texts->n > at[i])
			buf_putc(texts, '\0');
	}
	at[stack->n] = (u32)texts->n;
	names = texts->is_cut ? NULL : malloc(stack->n * sizeof(*names) + texts->n + 1);
	if (!names)
		return;
	room = (char *)&names[stack->n];
	if (texts->n)
		memcpy(room, texts->at, texts->n);
	for (u32 i = 0; i < stack->n; i++)
		names[i] = at[i + 1] > at[i] ? room + at[i] : NULL;
	stack->names = names;
}
