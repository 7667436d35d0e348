/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks as programs wrote them (phys/stack.h) -> one of each, which values point to.
 *
 * Programs use one generation of slots and pool, as a bit of the epochs says.  It changes in a
 * switch of all copies that may hold a stack, so that each copy has numbers of one generation.
 * When all of them are switched the next time, the copies from before were read, and what was
 * read is here: the other generation is empty then, and may be used again.  It is not where a part
 * keeps stacks for longer than a window (phys->keeps_stacks).
 *
 * A program has its slot of the CPU where it takes a stack, so none has the old bit when a switch
 * is over.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/region.h"
#include "load/internal.h"

#define INDEX_MIN 1024u

struct known_stack {
	u64 hash, used; /* used: stacks->now when it was read last */
	struct stack stack;
};

struct generation {
	u64 *used_bytes, *slots;
	u8 *pool;
	u64 n_seen;		    /* bytes of the pool */
	struct known_stack **known; /* by slot; NULL: not looked up yet */
};

struct load_stacks {
	u8 *at;
	u64 n_bytes, pool_bytes;
	u32 n_slots;
	struct generation generations[STACK_GENERATIONS];
	u32 current;
	bool is_retired; /* the other one may hold something */
	u64 now;
	struct region list, index; /* struct known_stack *; u32 numbers in it and 1, 0: free */
	u32 n, n_named, n_kept;	   /* n_kept: when they were looked through last */
	u64 n_index;
};

struct load_stacks *load_stacks_new(const struct phys_set *set, void *at)
{
	struct load_stacks *stacks = calloc(1, sizeof(*stacks));
	bool is_short = !stacks;

	for (u32 i = 0; i < STACK_GENERATIONS && stacks; i++) {
		struct generation *g = &stacks->generations[i];

		stacks->n_slots = stacks_n_slots(set);
		stacks->pool_bytes = stacks_pool_bytes(set);
		g->used_bytes = (u64 *)at + i;
		g->slots = (u64 *)((u8 *)at + stacks_slots_at(set)) + (u64)i * stacks->n_slots;
		g->pool = (u8 *)at + stacks_pools_at(set) + i * stacks->pool_bytes;
		g->known = calloc(stacks->n_slots, sizeof(*g->known));
		is_short |= !g->known;
	}
	if (stacks && !is_short) {
		stacks->at = at;
		stacks->n_bytes = stacks_bytes(set);
		return stacks;
	}
	load_stacks_free(stacks);
	return NULL;
}

static struct known_stack **list_of(const struct load_stacks *stacks)
{
	return stacks->list.at;
}

static void forget(struct known_stack *known)
{
	free((void *)known->stack.names);
	free(known);
}

void load_stacks_free(struct load_stacks *stacks)
{
	if (!stacks)
		return;
	for (u32 i = 0; i < stacks->n; i++)
		forget(list_of(stacks)[i]);
	for (u32 i = 0; i < STACK_GENERATIONS; i++)
		free(stacks->generations[i].known);
	region_free(&stacks->list);
	region_free(&stacks->index);
	if (stacks->at)
		munmap(stacks->at, stacks->n_bytes);
	free(stacks);
}

/* --- One of each --- */

static u64 hash_of(const struct stack *stack)
{
	u64 h = stack->pid;

	for (u32 i = 0; i < stack->n; i++) {
		h = (h ^ stack->addresses[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

static void index_put(struct load_stacks *stacks, u32 number)
{
	u32 *index = stacks->index.at;
	u64 at = list_of(stacks)[number]->hash & (stacks->n_index - 1);

	while (index[at])
		at = (at + 1) & (stacks->n_index - 1);
	index[at] = number + 1;
}

/* Makes it of the list, at most half full; false: there is no memory. */
static bool index_make(struct load_stacks *stacks)
{
	u64 n = INDEX_MIN;

	while (n < 4ull * (stacks->n + 1))
		n *= 2;
	if (!region_need(&stacks->index, n * sizeof(u32)))
		return false;
	stacks->n_index = n;
	memset(stacks->index.at, 0, n * sizeof(u32));
	for (u32 i = 0; i < stacks->n; i++)
		index_put(stacks, i);
	return true;
}

static struct known_stack *find(const struct load_stacks *stacks, const struct stack *stack,
				u64 hash)
{
	const u32 *index = stacks->index.at;
	u64 mask = stacks->n_index - 1;

	for (u64 at = hash & mask; stacks->n_index && index[at]; at = (at + 1) & mask) {
		struct known_stack *known = list_of(stacks)[index[at] - 1];

		if (known->hash == hash && known->stack.pid == stack->pid &&
		    known->stack.n == stack->n &&
		    !memcmp(known->stack.addresses, stack->addresses, stack->n * sizeof(u64)))
			return known;
	}
	return NULL;
}

/* NULL: there is no memory. */
static struct known_stack *take(struct load_stacks *stacks, const struct stack *stack)
{
	u64 hash = hash_of(stack), n_bytes = sizeof(*stack) + stack->n * sizeof(u64);
	struct known_stack *known = find(stacks, stack, hash);

	if (!known) {
		if (!region_need(&stacks->list, (stacks->n + 1ull) * sizeof(known)) ||
		    (2ull * stacks->n >= stacks->n_index && !index_make(stacks)))
			return NULL;
		known = malloc(offsetof(struct known_stack, stack) + n_bytes);
		if (!known)
			return NULL;
		known->hash = hash;
		memcpy(&known->stack, stack, n_bytes);
		known->stack.names = NULL;
		list_of(stacks)[stacks->n] = known;
		index_put(stacks, stacks->n++);
	}
	known->used = stacks->now;
	return known;
}

const struct stack *load_stack(const struct load_hooks *hooks, u64 word)
{
	struct load_stacks *stacks = hooks->stacks;
	struct known_stack **known;
	struct generation *g;
	u64 slot, its;

	if (!stacks || word == STACK_NONE || word > (u64)STACK_GENERATIONS * stacks->n_slots)
		return NULL;
	g = &stacks->generations[(word - 1) / stacks->n_slots];
	slot = (word - 1) % stacks->n_slots;
	its = __atomic_load_n(&g->slots[slot], __ATOMIC_ACQUIRE);
	BUG_ON(!its); /* what was given back is held by nobody */
	known = &g->known[slot];
	if (!*known)
		*known = take(stacks,
			      (struct stack *)(g->pool +
					       8 * ((its & ((1ull << STACK_PLACE_BITS) - 1)) - 1)));
	if (!*known)
		return NULL;
	(*known)->used = stacks->now;
	return &(*known)->stack;
}

/* --- Names --- */

void load_stacks_look(const struct load_hooks *hooks)
{
	struct load_stacks *stacks = hooks->stacks;

	for (u32 i = 0; i < STACK_GENERATIONS; i++) {
		struct generation *g = &stacks->generations[i];
		u64 end = __atomic_load_n(g->used_bytes, __ATOMIC_ACQUIRE);

		end = MIN(end, stacks->pool_bytes - STACK_MOST_BYTES + 1);
		while (g->n_seen < end) {
			const struct stack *stack = (struct stack *)(g->pool + g->n_seen);

			/* A program is writing it, or was refused the room. */
			if (!__atomic_load_n(&stack->is_whole, __ATOMIC_ACQUIRE) ||
			    !take(stacks, stack))
				break;
			g->n_seen += stack_bytes(stack->n);
		}
	}
}

struct stack *load_stacks_next(const struct load_hooks *hooks)
{
	struct load_stacks *stacks = hooks->stacks;

	return stacks->n_named < stacks->n ? &list_of(stacks)[stacks->n_named++]->stack : NULL;
}

u64 load_stacks_now(const struct load_hooks *hooks)
{
	return hooks->stacks ? hooks->stacks->now : 0;
}

void load_stacks_forget(const struct load_hooks *hooks, u64 before)
{
	struct load_stacks *stacks = hooks->stacks;
	u32 n = 0;

	/* What a generation knows now is not forgotten. */
	before = MIN(before, stacks->now);
	if (stacks->n < 2 * (stacks->n_kept + stacks->n_slots) || stacks->n_named < stacks->n)
		return;
	for (u32 i = 0; i < STACK_GENERATIONS; i++)
		for (u32 k = 0; k < stacks->n_slots; k++)
			if (stacks->generations[i].known[k])
				stacks->generations[i].known[k]->used = stacks->now;
	for (u32 i = 0; i < stacks->n; i++) {
		struct known_stack *known = list_of(stacks)[i];

		if (known->used >= before)
			list_of(stacks)[n++] = known;
		else
			forget(known);
	}
	stacks->n = stacks->n_named = stacks->n_kept = n;
	index_make(stacks); /* not more than there was */
}

/* --- Generations --- */

u64 load_stacks_bit(const struct load_hooks *hooks)
{
	return hooks->stacks ? (u64)hooks->stacks->current << SLOT_STACKS_SHIFT : 0;
}

void load_stacks_flipped(const struct load_hooks *hooks)
{
	if (hooks->stacks)
		hooks->stacks->now++;
}

/* Are all of those who hold stacks switched, and hold none then but those of a copy? */
static bool is_turn(struct load_state *const *states, u32 n_states)
{
	const struct load_hooks *hooks = states[0]->hooks;

	for (u32 i = 0; i < hooks->n_states; i++) {
		const struct load_state *state = &hooks->states[i];
		bool is_switched = false;

		if (!state->phys || !state->phys->has_stacks)
			continue;
		for (u32 k = 0; k < n_states; k++)
			is_switched |= states[k] == state;
		if (!is_switched || state->waits_since_ns || state->phys->keeps_stacks)
			return false;
	}
	return true;
}

/* Nobody uses it. */
static void clear(struct load_stacks *stacks, struct generation *g)
{
	memset(g->slots, 0, stacks->n_slots * sizeof(*g->slots));
	memset(g->known, 0, stacks->n_slots * sizeof(*g->known));
	memset(g->pool, 0, MIN(*g->used_bytes, stacks->pool_bytes));
	*g->used_bytes = g->n_seen = 0;
}

/* Half of what it has room for. */
static bool is_used(const struct load_stacks *stacks, const struct generation *g)
{
	u32 n = 0;

	if (__atomic_load_n(g->used_bytes, __ATOMIC_RELAXED) > stacks->pool_bytes / 2)
		return true;
	for (u32 i = 0; i < stacks->n_slots; i++)
		n += g->slots[i] != 0;
	return n > stacks->n_slots / 4;
}

void load_stacks_turn(struct load_state *const *states, u32 n_states)
{
	struct load_stacks *stacks = states[0]->hooks->stacks;

	if (!stacks || !is_turn(states, n_states))
		return;
	if (stacks->is_retired)
		clear(stacks, &stacks->generations[!stacks->current]);
	stacks->is_retired = is_used(stacks, &stacks->generations[stacks->current]);
	stacks->current ^= stacks->is_retired;
}
