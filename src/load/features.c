/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The running kernel -> struct kernel_features, and how many CPUs it can have.
 * Asks what is cheap to ask and goes by the version for the rest: a probe that
 * loads a program costs more than all that the answer decides.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/internal.h"

/*
 * Whether an array map's value may be larger than KMALLOC_MAX_SIZE (4 MiB).  Asked
 * with a map that no machine can hold (over 4 PiB): a kernel with the limit refuses the
 * value size, E2BIG, one without it gets as far as the allocation, ENOMEM.  Neither
 * allocates anything, so the question costs one system call.
 */
static bool has_large_array_value(void)
{
	int fd = sys_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, (4u << 20) + 4096, 1u << 30,
				BPF_F_MMAPABLE);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -ENOMEM;
}

void kernel_features_probe(struct kernel_features *ret_features)
{
	u32 version = load_kernel_version();

	*ret_features = (struct kernel_features){
		.version = version,
		.has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0,
		.has_raw_recursion_guard = version >= LOAD_VERSION(6, 1, 0),
		.has_large_array_value = has_large_array_value(),
		/* BPF_SDIV, BPF_MOVSX and the like: the cpu=v4 instructions, x86 and arm64. */
		.has_signed_division = version >= LOAD_VERSION(6, 6, 0),
	};
}

/* The last number of a list of ranges ("0-1,4-7"), plus one. */
static u32 ranges_end(const char *text)
{
	u32 end = 0;

	while (*text) {
		char *rest;
		unsigned long number = strtoul(text, &rest, 10);

		if (rest != text)
			end = MAX(end, (u32)number + 1);
		text = *rest ? rest + 1 : rest;
	}
	return end;
}

u32 load_possible_cpus(void)
{
	static u32 n_cpus;
	char text[4096];
	ssize_t n;
	int fd;

	if (n_cpus)
		return n_cpus;
	fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n > 0) {
			text[n] = '\0';
			n_cpus = ranges_end(text);
		}
	}
	if (!n_cpus)
		n_cpus = MAX(sysconf(_SC_NPROCESSORS_CONF), 1);
	return n_cpus;
}
