/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs and maps -> what the kernel says that they take.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/internal.h"

static bool serves(const struct hook *hook, struct load_state *const *states, u32 n_states)
{
	for (u32 i = 0; i < hook->n_uses; i++)
		for (u32 k = 0; k < n_states; k++)
			if (hook->uses[i].part == states[k]->phys->number)
				return true;
	return false;
}

void load_program_runs(const struct load_hooks *hooks, u32 program, struct load_runs *ret_runs)
{
	struct bpf_prog_info info;

	*ret_runs = (struct load_runs){ .missed = load_program_missed(hooks, program) };
	if (hooks->programs[program].fd < 0 ||
	    sys_info(load_entered(&hooks->programs[program])->fd, &info, sizeof(info)) < 0)
		return;
	ret_runs->n = info.run_cnt;
	ret_runs->ns = info.run_time_ns;
}

static void add_program(const struct load_hooks *hooks, u32 program, struct load_costs *costs)
{
	struct load_runs runs;

	load_program_runs(hooks, program, &runs);
	costs->run_ns += runs.ns;
	costs->n_runs += runs.n;
}

/* "memlock:" of its fdinfo: what the kernel charges for it. */
static u64 map_bytes(int fd)
{
	char path[64], text[1024];
	const char *at;
	ssize_t n;
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	sys_close(&info);
	text[MAX(n, (ssize_t)0)] = '\0';
	at = strstr(text, "memlock:");
	return at ? strtoull(at + strlen("memlock:"), NULL, 10) : 0;
}

void load_costs(struct load_state *const *states, u32 n_states, struct load_costs *ret_costs)
{
	const struct load_hooks *hooks = n_states ? states[0]->hooks : NULL;

	*ret_costs = (struct load_costs){ 0 };
	for (u32 i = 0; hooks && i < hooks->n_programs; i++)
		if (serves(hooks->programs[i].hook, states, n_states))
			add_program(hooks, i, ret_costs);
	for (u32 i = 0; i < n_states; i++)
		for (u32 k = 0; k < LOAD_MAP_N; k++)
			if (states[i]->map_fds[k] >= 0)
				ret_costs->map_bytes += map_bytes(states[i]->map_fds[k]);
}

static void visit_one(const struct load_program *program, load_visit *visit, void *context)
{
	struct load_identity identity = { .hook = program->hook };
	struct bpf_prog_info info;

	if (program->fd < 0 || sys_info(program->fd, &info, sizeof(info)) < 0)
		return;
	identity.id = info.id;
	memcpy(identity.tag, info.tag, sizeof(identity.tag));
	visit(context, &identity);
}

void load_each_program(const struct load_hooks *hooks, struct load_state *const *states,
		       u32 n_states, load_visit *visit, void *context)
{
	for (u32 i = 0; i < hooks->n_programs; i++) {
		const struct load_program *program = &hooks->programs[i];

		if (states && !serves(program->hook, states, n_states))
			continue;
		visit_one(program, visit, context);
		if (load_entered(program) != program)
			visit_one(load_entered(program), visit, context);
	}
}
