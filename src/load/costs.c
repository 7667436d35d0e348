/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs and maps -> what the kernel says that they take.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/load.h"
#include "sys/sys.h"

void load_costs_of_hooks(const struct load_hooks *hooks, struct load_costs *costs)
{
	struct bpf_prog_info info;

	for (u32 i = 0; i < hooks->n_programs; i++) {
		memset(&info, 0, sizeof(info));
		if (hooks->programs[i].fd < 0 ||
		    sys_info(hooks->programs[i].fd, &info, sizeof(info)) < 0)
			continue;
		costs->run_ns += info.run_time_ns;
		costs->n_runs += info.run_cnt;
	}
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

void load_costs_of_state(const struct load_state *state, struct load_costs *costs)
{
	for (u32 i = 0; i < LOAD_MAP_N; i++)
		if (state->map_fds[i] >= 0)
			costs->map_bytes += map_bytes(state->map_fds[i]);
}
