/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A set that changes while its programs run: from one generation of programs to the next.
 *
 * Both generations do the same for the parts that are in both, with the same maps and by the same
 * words of the slots, so it does not matter which of them an event meets.  What is new has maps
 * that nobody else knows.  Where a part reads several hooks, one is exchanged after the other: its
 * start is the flip behind the last of them.  A program of the old generation that is still under
 * way then is that of an event that began before.
 */
#include <errno.h>
#include <string.h>

#include "load/internal.h"

void load_open_changing(struct load_hooks *hooks, struct load_chains *chains,
			struct load_state *states, const struct phys_set *empty)
{
	*hooks = (struct load_hooks){
		.chains = chains, .set = empty, .states = states, .n_states = BLOCK_PARTS
	};
	for (u32 i = 0; i < LOAD_MAP_SHARED_N; i++)
		hooks->map_fds[i] = -1;
	for (u32 i = 0; i < BLOCK_PARTS; i++) {
		states[i] = (struct load_state){ .hooks = hooks };
		for (u32 k = 0; k < LOAD_MAP_N; k++)
			states[i].map_fds[k] = -1;
	}
}

static struct load_program *running(const struct load_hooks *hooks, const struct hook *hook)
{
	for (u32 i = 0; i < hooks->n_programs; i++)
		if (hook_is_same(hooks->programs[i].hook, hook))
			return &hooks->programs[i];
	return NULL;
}

const struct load_program *load_running(const struct load_hooks *hooks, const struct hook *hook,
					bool *ret_is_same)
{
	const struct load_program *program = running(hooks, hook);
	bool is_same = program && !hooks->is_stale && program->hook->n_uses == hook->n_uses;

	for (u32 i = 0; is_same && i < hook->n_uses; i++)
		is_same = program->hook->uses[i].source == hook->uses[i].source &&
			  program->hook->uses[i].hand == hook->uses[i].hand;
	*ret_is_same = is_same;
	return program;
}

bool load_find_places(const struct load_hooks *hooks, struct phys_set *set)
{
	for (u32 i = 0; i < set->n_hooks; i++) {
		struct hook *hook = &set->hooks[i];
		const struct load_program *program = running(hooks, hook);
		const struct load_chain *chain = load_chain_of(hooks->chains, hook);
		u32 taken = 0;

		if (chain && !program)
			taken = chain->places | load_closer_places(&hooks->chains->closer, chain);
		hook->place = program ? program->hook->place : 0;
		while (taken >> hook->place & 1)
			hook->place++;
		if (hook->place == CHAIN_PLACES)
			return false;
	}
	return true;
}

/* The maps of the parts that are new; those of the others are there. */
static int open_parts(struct load_hooks *next, struct diags *diags)
{
	int err = next->slots ? 0 : load_slots_open(next, diags);

	for (u32 i = 0; i < BLOCK_PARTS && !err; i++) {
		struct load_state *state = &next->states[i];

		if (!next->set->parts[i] || state->phys)
			continue;
		state->phys = next->set->parts[i];
		state->missed_before = state->missed_ahead = state->samples_missed = 0;
		load_reset(next, state);
		err = load_state_open(next, state, diags);
	}
	if (!err)
		err = load_const_open(next, diags);
	return err ? err : load_stacks_open(next, diags);
}

/* Was there one that is not kept? */
static bool close_parts(struct load_hooks *hooks, struct phys *const *kept)
{
	bool is_any = false;

	for (u32 i = 0; i < BLOCK_PARTS; i++) {
		struct load_state *state = &hooks->states[i];

		if (!state->phys || kept[i])
			continue;
		load_state_close(state);
		state->phys = NULL;
		is_any = true;
	}
	return is_any;
}

static int open_program(struct load_hooks *next, struct load_program *program, struct diags *diags)
{
	int err = load_chain_open(next->chains, program->hook, next->arena, diags, &program->chain);

	if (err)
		return err;
	next->map_fds[LOAD_MAP_CHAIN] = program->chain->array_fd;
	return load_program_open(next, program, diags);
}

/* Those that run on, and new ones. */
static int open_programs(const struct load_hooks *hooks, struct load_hooks *next,
			 struct diags *diags)
{
	u64 start_ns = base_monotonic_ns();
	int err = 0;

	for (u32 i = 0; i < next->n_programs && !err; i++) {
		struct load_program *program = &next->programs[i];
		const struct load_program *old;
		bool is_same;

		old = load_running(hooks, program->hook, &is_same);
		if (is_same) {
			program->fd = old->fd;
			program->chain = old->chain;
			program->n_verified = old->n_verified;
		} else {
			err = open_program(next, program, diags);
			next->too_large = i;
		}
	}
	next->verify_ns = base_monotonic_ns() - start_ns;
	return err;
}

/* The program comes, or goes again where `is_back`; what was in its place comes back then. */
static int exchange(const struct load_hooks *hooks, struct load_program *program, bool is_back,
		    struct diags *diags)
{
	const struct load_program *old = running(hooks, program->hook);
	u32 place = program->hook->place;
	int err = 0;

	if (old && old->fd == program->fd)
		return 0;
	if (is_back && old)
		return load_chain_put(program->chain, place, old->fd);
	if (is_back) {
		load_chain_take(program->chain, place);
		return 0;
	}
	err = load_chain_put(program->chain, place, program->fd);
	if (err)
		diag_failure(diags, "attach-failed", "cannot exchange the program on %s: %s",
			     program->hook->target, strerror(-err));
	if (!err && !load_is_attached(&program->chain->program))
		err = load_program_attach(&program->chain->program, diags);
	return err;
}

/* Starts first, as load_attach() has it. */
static int exchange_all(const struct load_hooks *hooks, struct load_hooks *next,
			struct diags *diags)
{
	u64 start_ns = base_monotonic_ns();
	int err = 0;

	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < next->n_programs && !err; i++)
			if (load_has_starts(next->programs[i].hook) == !round)
				err = exchange(hooks, &next->programs[i], false, diags);
	for (u32 i = 0; err && i < next->n_programs; i++)
		exchange(hooks, &next->programs[i], true, diags);
	next->attach_ns = base_monotonic_ns() - start_ns;
	return err;
}

/* Does another program do now what it does for a part? */
static bool is_replaced(const struct load_program *program, const struct load_hooks *by)
{
	for (u32 i = 0; by->set && i < BLOCK_PARTS; i++)
		if (by->set->parts[i] && load_serves(program, i))
			return true;
	return false;
}

/* The programs of one generation that the other does not have. */
static void close_programs(struct load_hooks *hooks, const struct load_hooks *other)
{
	for (u32 i = 0; i < hooks->n_programs; i++) {
		struct load_program *program = &hooks->programs[i];
		const struct load_program *left = running(other, program->hook);

		if (left && left->fd == program->fd)
			continue;
		if (!left && program->chain && is_replaced(program, other))
			load_chain_take(program->chain, program->hook->place);
		else if (!left && program->chain)
			load_chain_take_soon(hooks->chains, program->chain, program->hook->place);
		if (program->chain)
			load_chain_leave(hooks->chains, program->chain);
		sys_close(&program->fd);
	}
}

void load_leave(struct load_hooks *hooks)
{
	close_programs(hooks, &(struct load_hooks){ .n_programs = 0 });
	hooks->n_programs = 0;
}

/* Of the part, what was missed at hooks of the one generation that it does not have in the other.
 */
static u64 missed_beyond(const struct load_hooks *hooks, const struct load_hooks *other, u32 part)
{
	u64 missed = 0;

	for (u32 i = 0; i < hooks->n_programs; i++) {
		const struct load_program *program = running(other, hooks->programs[i].hook);

		if (load_serves(&hooks->programs[i], part) &&
		    !(program && load_serves(program, part)))
			missed += load_program_missed(hooks, i);
	}
	return missed;
}

int load_change(struct load_hooks *hooks, const struct phys_set *set, struct load_program *programs,
		const void *constants, u32 constants_bytes, struct arena *arena,
		struct diags *diags)
{
	struct phys *kept[BLOCK_PARTS];
	struct load_hooks next = *hooks;
	bool is_less;
	int err;

	for (u32 i = 0; i < BLOCK_PARTS; i++)
		kept[i] = hooks->states[i].phys == set->parts[i] ? set->parts[i] : NULL;
	is_less = close_parts(hooks, set->parts);
	next.arena = arena;
	next.set = set;
	next.programs = programs;
	next.n_programs = set->n_hooks;
	next.constants = constants;
	next.constants_bytes = constants_bytes;
	next.is_stale = false;
	for (u32 i = 0; i < set->n_hooks; i++) {
		programs[i].hook = &set->hooks[i];
		programs[i].fd = programs[i].perf_fd = programs[i].link_fd = -1;
	}
	err = open_parts(&next, diags);
	hooks->slots = next.slots;
	hooks->missed = next.missed;
	hooks->map_fds[LOAD_MAP_SLOTS] = next.map_fds[LOAD_MAP_SLOTS];
	hooks->stacks = next.stacks;
	hooks->map_fds[LOAD_MAP_STACKS] = next.map_fds[LOAD_MAP_STACKS];
	if (!err)
		err = open_programs(hooks, &next, diags);
	sys_close(&next.map_fds[LOAD_MAP_CONST]);
	next.map_fds[LOAD_MAP_CHAIN] = -1;
	if (!err)
		err = exchange_all(hooks, &next, diags);
	if (err) {
		close_programs(&next, hooks);
		close_parts(hooks, kept);
		hooks->is_stale |= is_less;
		return err;
	}
	/* A part that goes to another hook goes on counting what it missed. */
	for (u32 i = 0; i < BLOCK_PARTS; i++)
		if (kept[i])
			hooks->states[i].missed_ahead +=
				missed_beyond(&next, hooks, i) - missed_beyond(hooks, &next, i);
	close_programs(hooks, &next);
	*hooks = next;
	for (u32 i = 0; i < BLOCK_PARTS; i++) {
		struct load_state *state = &hooks->states[i];

		if (!set->parts[i] || kept[i])
			continue;
		state->missed_ahead = load_missed(state);
		state->missed_before = 0;
		load_begin_starts(state);
	}
	return 0;
}
