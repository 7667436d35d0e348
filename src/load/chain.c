/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is attached to a hook for sets that change: a program that calls, by tail calls of constant
 * places in an array of programs, that of the first set; each of these calls the next one's at its
 * end.  A place is given another program at once: an event is seen by the old one or by the new
 * one, never by both or none, for the kernel changes one jump.  So nothing is ever attached or
 * detached where an event could notice.
 *
 * Two attached programs, one for the other, would not do, with whatever word says which counts:
 * an interrupt between the two of one event may change that word.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "load/internal.h"

void load_chains_open(struct load_chains *chains, const struct bpf_code *dispatcher)
{
	chains->first = NULL;
	chains->dispatcher = dispatcher;
	load_closer_open(&chains->closer);
}

void load_chains_close(struct load_chains *chains)
{
	BUG_ON(chains->first);
	load_closer_close(&chains->closer);
}

struct load_chain *load_chain_of(const struct load_chains *chains, const struct hook *hook)
{
	struct load_chain *chain = chains->first;

	while (chain && !hook_is_same(&chain->hook, hook))
		chain = chain->next;
	return chain;
}

static int open_program(const struct load_chains *chains, struct load_chain *chain,
			struct arena *arena, struct diags *diags)
{
	struct load_hooks hooks = { .arena = arena, .n_states = 0 };
	int err = load_chain_map_open(&chain->array_fd, diags);

	hooks.map_fds[LOAD_MAP_CHAIN] = chain->array_fd;
	chain->program.code = *chains->dispatcher;
	return err ? err : load_program_open(&hooks, &chain->program, diags);
}

/* In one piece of memory; NULL: there are none, or there is no room. */
static const char **copy_names(const char *const *names, u32 n)
{
	size_t bytes = n * sizeof(*names);
	const char **copy;
	char *to;

	for (u32 i = 0; i < n; i++)
		bytes += strlen(names[i]) + 1;
	copy = n ? malloc(bytes) : NULL;
	to = (char *)(copy + n);
	for (u32 i = 0; copy && i < n; i++) {
		copy[i] = strcpy(to, names[i]);
		to += strlen(to) + 1;
	}
	return copy;
}

static struct hook_place *copy_places(const struct hook_place *places, u32 n)
{
	struct hook_place *copy = places ? malloc(n * sizeof(*copy)) : NULL;

	return copy ? memcpy(copy, places, n * sizeof(*copy)) : NULL;
}

int load_chain_open(struct load_chains *chains, const struct hook *hook, struct arena *arena,
		    struct diags *diags, struct load_chain **ret_chain)
{
	struct load_chain *chain = load_chain_of(chains, hook);
	int err;

	*ret_chain = chain;
	if (chain)
		return 0;
	chain = calloc(1, sizeof(*chain));
	if (!chain)
		return -ENOMEM;
	/* What it takes to attach to it. */
	chain->hook = *hook;
	chain->hook.target = strdup(hook->target);
	chain->hook.names = hook->names ? copy_names(hook->names, hook->n_places) : NULL;
	chain->hook.places = copy_places(hook->places, hook->n_places);
	chain->hook.file_path = hook->file_path ? strdup(hook->file_path) : NULL;
	chain->hook.raw = NULL;
	chain->hook.fields = NULL;
	chain->hook.uses = NULL;
	chain->hook.reason = "it is attached, and calls what the queries have there";
	chain->hook.n_fields = chain->hook.n_uses = 0;
	chain->program.hook = &chain->hook;
	chain->array_fd = chain->program.fd = -1;
	chain->program.perf_fd = chain->program.link_fd = -1;
	chain->next = chains->first;
	chains->first = chain;
	err = chain->hook.target && !chain->hook.file_path == !hook->file_path &&
			      !chain->hook.names == !hook->names &&
			      !chain->hook.places == !hook->places
		      ? open_program(chains, chain, arena, diags)
		      : -ENOMEM;
	if (err)
		load_chain_leave(chains, chain);
	else
		*ret_chain = chain;
	return err;
}

int load_chain_put(struct load_chain *chain, u32 place, int program_fd)
{
	int err = sys_map_element(BPF_MAP_UPDATE_ELEM, chain->array_fd, &place, &program_fd);

	chain->places |= err ? 0 : 1u << place;
	return err;
}

void load_chain_take(struct load_chain *chain, u32 place)
{
	sys_map_element(BPF_MAP_DELETE_ELEM, chain->array_fd, &place, NULL);
	chain->places &= ~(1u << place);
}

/*
 * Emptying a place takes the kernel a grace period (bpf_arch_poke_desc_update()), of each hook.
 * Until then its program still runs, over maps that are its own and that nobody reads.
 */
void load_chain_take_soon(struct load_chains *chains, struct load_chain *chain, u32 place)
{
	int fd;

	chain->places &= ~(1u << place);
	if (!chain->places)
		return; /* it is detached */
	fd = fcntl(chain->array_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		load_chain_take(chain, place);
	else
		load_closer_take_place(&chains->closer, chain, place, &fd);
}

void load_chain_leave(struct load_chains *chains, struct load_chain *chain)
{
	struct load_chain **at = &chains->first;

	if (chain->places)
		return;
	while (*at != chain)
		at = &(*at)->next;
	*at = chain->next;
	load_unlink(&chain->program, &chains->closer);
	sys_close(&chain->program.fd);
	sys_close(&chain->array_fd);
	free(chain->hook.names);
	free(chain->hook.places);
	free((char *)chain->hook.file_path);
	free((char *)chain->hook.target);
	free(chain);
}
