/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A stack -> its names.
 */
#include "sym/internal.h"

#include <stdlib.h>
#include <string.h>

#include "type/type.h"

struct namer *namer_open(void)
{
	struct namer *namer = calloc(1, sizeof(*namer));

	if (!namer)
		return NULL;
	arena_init(&namer->arena);
	buf_init(&namer->texts);
	kernel_symbols_open(&namer->kernel);
	return namer;
}

void namer_close(struct namer *namer)
{
	if (!namer)
		return;
	processes_forget(namer);
	kernel_symbols_close(&namer->kernel);
	buf_free(&namer->texts);
	free(namer);
}

static void kernel_name(const struct namer *namer, u64 address, struct buf *to)
{
	const struct symbol *s = symbol_table_find(&namer->kernel.table, address);

	if (s)
		buf_puts(to, s->name);
}

void namer_name(struct namer *namer, struct stack *stack)
{
	struct process *process =
		stack->pid ? process_of(namer, stack->pid, stack->addresses, stack->n) : NULL;
	u32 at[STACK_DEPTH_MAX + 1];
	struct buf *texts = &namer->texts;
	const char **names;
	char *room;

	buf_reset(texts);
	if (!process)
		kernel_symbols_look(&namer->kernel);
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
