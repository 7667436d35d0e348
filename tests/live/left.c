/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs and maps of a process, from /proc/PID/fdinfo and the programs' own account. */
#include "left.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

static void add(u32 *ids, u32 *n, u32 id)
{
	for (u32 i = 0; i < *n; i++)
		if (ids[i] == id)
			return;
	if (*n < LEFT_MAX)
		ids[(*n)++] = id;
}

static void add_maps_of(struct left *left, u32 program)
{
	u32 maps[64] = { 0 };
	struct bpf_prog_info info = { .nr_map_ids = ARRAY_SIZE(maps),
				      .map_ids = (u64)(uintptr_t)maps };
	u32 size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(program);

	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
		for (u32 i = 0; i < MIN(info.nr_map_ids, (u32)ARRAY_SIZE(maps)); i++)
			add(left->maps, &left->n_maps, maps[i]);
	close(fd);
}

void left_take(struct left *left, int pid)
{
	struct dirent *entry;
	char path[300], line[256];
	DIR *directory;

	memset(left, 0, sizeof(*left));
	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	directory = opendir(path);
	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		FILE *file;
		u32 id;

		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", pid, entry->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file)) {
			if (sscanf(line, "prog_id: %u", &id) == 1)
				add(left->programs, &left->n_programs, id);
			else if (sscanf(line, "map_id: %u", &id) == 1)
				add(left->maps, &left->n_maps, id);
		}
		if (file)
			fclose(file);
	}
	closedir(directory);
	for (u32 i = 0; i < left->n_programs; i++)
		add_maps_of(left, left->programs[i]);
}

/*
 * Without a descriptor of its own: two that are closed one soon after the other each clear a
 * PROG_ARRAY, and while the first clearing is still queued the second's reference is never
 * given back (prog_array_map_clear(), also in 6.18), so that watching alone would keep the map.
 */
static bool is_there(int (*next_id)(u32, u32 *), u32 id)
{
	u32 next;

	return next_id(id - 1, &next) == 0 && next == id;
}

u32 left_wait_gone(const struct left *left, int timeout_ms)
{
	u64 limit_ns = base_monotonic_ns() + (u64)timeout_ms * 1000000;
	u32 n;

	do {
		n = 0;
		for (u32 i = 0; i < left->n_programs; i++)
			n += is_there(bpf_prog_get_next_id, left->programs[i]);
		for (u32 i = 0; i < left->n_maps; i++)
			n += is_there(bpf_map_get_next_id, left->maps[i]);
		if (n > 0)
			usleep(5000);
	} while (n > 0 && base_monotonic_ns() < limit_ns);
	return n;
}

u32 left_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	u32 n = 0;

	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}
