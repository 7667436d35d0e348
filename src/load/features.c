/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The running kernel -> struct kernel_features, and how many CPUs it can have.
 * Asks what is cheap to ask and goes by the version for the rest: a probe that
 * loads a program costs more than all that the answer decides.
 */
#include <errno.h>
#include <stdlib.h>
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
	bool has = fd >= 0 || fd == -ENOMEM;

	sys_close(&fd);
	return has;
}

void kernel_features_probe(struct kernel_features *ret_features)
{
	u32 version = sys_kernel_version();

	*ret_features = (struct kernel_features){
		.version = version,
		.has_btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0,
		.has_raw_recursion_guard = version >= KERNEL_VERSION(6, 1, 0),
		.has_large_array_value = has_large_array_value(),
		/* BPF_SDIV, BPF_MOVSX and the like: the cpu=v4 instructions, x86 and arm64. */
		.has_signed_division = version >= KERNEL_VERSION(6, 6, 0),
	};
}

u32 load_possible_cpus(void)
{
	static u32 known; /* several threads may find it out at once */
	u32 n_cpus = __atomic_load_n(&known, __ATOMIC_RELAXED);
	struct buf ranges; /* "0-1,4-7", in ascending order */

	if (n_cpus)
		return n_cpus;
	buf_init(&ranges);
	if (!buf_read_file(&ranges, "/sys/devices/system/cpu/possible", 4096)) {
		size_t last = ranges.n;

		while (last && ranges.at[last - 1] != '-' && ranges.at[last - 1] != ',')
			last--;
		n_cpus = (u32)strtoul(ranges.at + last, NULL, 10) + 1;
	} else {
		n_cpus = MAX(sysconf(_SC_NPROCESSORS_CONF), 1);
	}
	buf_free(&ranges);
	__atomic_store_n(&known, n_cpus, __ATOMIC_RELAXED);
	return n_cpus;
}
