/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps by their names -> their memory.
 */
#include <bpf/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "map_memory.h"

u32 newest_map(void)
{
	u32 id = 0;

	while (bpf_map_get_next_id(id, &id) == 0)
		;
	return id;
}

void *map_memory(u32 since, const char *name, int protection, off_t offset)
{
	void *at = MAP_FAILED;

	for (u32 id = since; at == MAP_FAILED && bpf_map_get_next_id(id, &id) == 0;) {
		struct bpf_map_info info = { 0 };
		u32 size = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id);

		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && strcmp(info.name, name) == 0)
			at = mmap(NULL,
				  info.type == BPF_MAP_TYPE_ARRAY ? info.value_size
								  : (u32)sysconf(_SC_PAGESIZE),
				  protection, MAP_SHARED, fd, offset);
		close(fd);
	}
	assert_true(at != MAP_FAILED);
	return at;
}
