/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A stack -> its names.
 */
#include "sym/internal.h"

#include <stdlib.h>

#include "sys/sys.h"

struct namer *namer_open(void)
{
	struct namer *namer = calloc(1, sizeof(*namer));

	if (!namer)
		return NULL;
	arena_init(&namer->arena);
	namer->kernel_fd = sys_kallsyms_open();
	return namer;
}

void namer_close(struct namer *namer)
{
	if (!namer)
		return;
	sys_close(&namer->kernel_fd);
	arena_free(&namer->arena);
	free(namer);
}

static const char *kernel_name(struct namer *namer, u64 address)
{
	const struct symbol *s;

	if (!namer->is_kernel_read && namer->kernel_fd >= 0)
		kernel_read(&namer->arena, namer->kernel_fd, &namer->kernel);
	namer->is_kernel_read = true;
	s = table_find(&namer->kernel, address);
	return s ? s->name : NULL;
}

void namer_name(struct namer *namer, struct stack *stack)
{
	const char **names = arena_array(&namer->arena, const char *, MAX(stack->n, 1));
	struct process *process = stack->pid ? process_of(namer, stack->pid) : NULL;

	for (u32 i = 0; i < stack->n; i++) {
		/* Behind the call, which may be the last of its function. */
		u64 address = stack->addresses[i] - (i > 0);

		if (process)
			names[i] = process_name(namer, process, address);
		else if ((s64)address < 0)
			names[i] = kernel_name(namer, address);
	}
	stack->names = names;
}
