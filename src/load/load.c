/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opens and closes what the parts hold in the kernel: limits, descriptors for perf
 * events, maps, programs.  Either all or nothing.
 */
#include <string.h>

#include "load/internal.h"

static void load_init(struct load_hooks *hooks, const struct phys_set *set,
		      struct load_program *programs, struct arena *arena)
{
	*hooks = (struct load_hooks){ .arena = arena,
				      .set = set,
				      .programs = programs,
				      .n_programs = set->n_hooks,
				      .n_states = set->n_parts };
	for (u32 i = 0; i < LOAD_MAP_SHARED_N; i++)
		hooks->map_fds[i] = -1;
	hooks->states = arena_array(arena, struct load_state, set->n_parts);
	for (u32 i = 0; i < set->n_parts; i++) {
		struct load_state *state = &hooks->states[i];

		*state = (struct load_state){ .hooks = hooks, .phys = set->parts[i] };
		for (u32 k = 0; k < LOAD_MAP_N; k++)
			state->map_fds[k] = -1;
	}
	for (u32 i = 0; i < set->n_hooks; i++) {
		programs[i].hook = &set->hooks[i];
		programs[i].fd = programs[i].perf_fd = programs[i].link_fd = -1;
	}
}

int load_open(struct load_hooks *hooks, const struct phys_set *set, struct load_program *programs,
	      const void *constants, u32 constants_bytes, struct arena *arena, struct diags *diags)
{
	u64 start_ns;
	int err = 0;

	BUG_ON(!set->n_cpus || !set->n_slots || set->n_slots > SLOTS_MAX);
	load_init(hooks, set, programs, arena);
	hooks->constants = constants;
	hooks->constants_bytes = constants_bytes;
	for (u32 i = 0; i < set->n_hooks && !err; i++)
		err = load_perf_reserve(&programs[i]);
	if (err && !load_refused(-err, "open files", diags))
		diag_failure(diags, "attach-failed", "cannot open %u files: %s", set->n_hooks,
			     strerror(-err));
	if (!err)
		err = load_maps_open(hooks, diags);
	start_ns = base_monotonic_ns();
	for (u32 i = 0; i < set->n_hooks && !err; i++) {
		err = load_program_open(hooks, &programs[i], diags);
		hooks->too_large = i;
	}
	hooks->verify_ns = base_monotonic_ns() - start_ns;
	/* The programs hold it. */
	sys_close(&hooks->map_fds[LOAD_MAP_CONST]);
	if (err)
		load_close(hooks);
	return err;
}

void load_close(struct load_hooks *hooks)
{
	hooks->n_users = 0;
	if (hooks->chains)
		load_leave(hooks);
	load_detach(hooks);
	for (u32 i = 0; i < hooks->n_programs; i++)
		sys_close(&hooks->programs[i].fd);
	load_maps_close(hooks);
}
