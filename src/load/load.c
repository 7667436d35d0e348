/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opens and closes what a query holds in the kernel: limits, descriptors for perf
 * events, maps, programs.  Either all or nothing.
 */
#include <errno.h>
#include <string.h>

#include "load/internal.h"

/* bpf_prog_test_run_syscall() of the kernel: U16_MAX. */
#define TEST_CONTEXT_BYTES 65535

static void load_init(struct load *load, const struct phys *phys, struct load_program *programs,
		      u32 n_programs, struct arena *arena)
{
	*load = (struct load){
		.arena = arena,
		.phys = phys,
		.programs = programs,
		.n_programs = n_programs,
	};
	for (u32 i = 0; i < LOAD_MAP_N; i++)
		load->map_fds[i] = -1;
	for (u32 i = 0; i < n_programs; i++) {
		programs[i].fd = programs[i].perf_fd = programs[i].link_fd = -1;
		programs[i].missed_before = 0;
	}
}

int load_open(struct load *load, const struct phys *phys, struct load_program *programs,
	      u32 n_programs, const void *constants, u32 constants_bytes, struct arena *arena,
	      struct diags *diags)
{
	u64 start_ns;
	int err = 0;

	BUG_ON(!phys->state.n_cpus);
	load_init(load, phys, programs, n_programs, arena);
	load->constants = constants;
	load->constants_bytes = constants_bytes;
	load_raise_limits(3 * n_programs + LOAD_MAP_N);
	for (u32 i = 0; i < n_programs && !err; i++)
		err = load_perf_reserve(&programs[i]);
	if (err)
		diag_plain(diags, "attach-failed", "cannot open %u files: %s", n_programs,
			   strerror(-err));
	if (!err)
		err = load_maps_open(load, diags);
	start_ns = base_monotonic_ns();
	for (u32 i = 0; i < n_programs && !err; i++)
		err = load_program_open(load, &programs[i], diags);
	load->verify_ns = base_monotonic_ns() - start_ns;
	if (err)
		load_close(load);
	return err;
}

void load_close(struct load *load)
{
	load_detach(load);
	for (u32 i = 0; i < load->n_programs; i++)
		load_close_fd(&load->programs[i].fd);
	load_maps_close(load);
}

int load_test_run(struct load *load, u32 i, const void *context, u32 context_bytes)
{
	u8 copy[TEST_CONTEXT_BYTES]; /* the kernel writes the context back */
	u32 value;

	BUG_ON(i >= load->n_programs);
	if (context_bytes > sizeof(copy))
		return -E2BIG;
	memcpy(copy, context, context_bytes);
	return sys_prog_test_run(load->programs[i].fd, copy, context_bytes, 0, 0, &value);
}
