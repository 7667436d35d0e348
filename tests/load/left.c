/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "left.h"
#include "sys/sys.h"

/* prog and map infos have type and id first. */
struct info_head {
	u32 type, id;
};

static u32 id_of(int fd)
{
	struct info_head head;

	return sys_info(fd, &head, sizeof(head)) ? 0 : head.id;
}

static void note(u32 *ids, u32 *n, int fd)
{
	if (fd < 0)
		return;
	ids[*n] = id_of(fd);
	BUG_ON(!ids[*n] || *n >= LEFT_MAX);
	++*n;
}

void left_note(const struct load_hooks *load, struct left *ret_left)
{
	memset(ret_left, 0, sizeof(*ret_left));
	for (u32 i = 0; i < load->n_programs; i++)
		note(ret_left->programs, &ret_left->n_programs, load->programs[i].fd);
	for (u32 i = 0; i < LOAD_MAP_SHARED_N; i++)
		note(ret_left->maps, &ret_left->n_maps, load->map_fds[i]);
	for (u32 i = 0; i < LOAD_MAP_N; i++)
		note(ret_left->maps, &ret_left->n_maps, load->states->map_fds[i]);
	BUG_ON(!ret_left->n_programs || !ret_left->n_maps);
}

/* Without a descriptor of its own: closing one clears a PROG_ARRAY (see tests/live/left.c). */
static bool exists(enum bpf_cmd command, u32 id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = id - 1;
	return sys_bpf(command, &attr) == 0 && attr.next_id == id;
}

u32 left_count(const struct left *left, u64 wait_ns)
{
	u64 end_ns = base_monotonic_ns() + wait_ns;
	u32 n;

	do {
		n = 0;
		for (u32 i = 0; i < left->n_programs; i++)
			n += exists(BPF_PROG_GET_NEXT_ID, left->programs[i]);
		for (u32 i = 0; i < left->n_maps; i++)
			n += exists(BPF_MAP_GET_NEXT_ID, left->maps[i]);
		if (n)
			usleep(2000);
	} while (n && base_monotonic_ns() < end_ns);
	return n;
}

u32 left_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	u32 n = 0;

	BUG_ON(!dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

void left_keep_capabilities(u64 mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = mask, .permitted = mask },
		{ .effective = mask >> 32, .permitted = mask >> 32 },
	};

	BUG_ON(syscall(SYS_capset, &header, data));
}
