/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arguments -> union bpf_attr -> bpf(2).  The union is cleared as a whole first:
 * the kernel refuses bytes it does not know unless they are zero.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "sys/internal.h"

#ifndef MFD_NOEXEC_SEAL /* 6.3 */
#define MFD_NOEXEC_SEAL 8U
#endif

int sys_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int ret;

	rights_raise();
	ret = syscall(SYS_bpf, command, attr, sizeof(*attr));
	rights_lower();
	return ret < 0 ? -errno : ret;
}

int sys_map_create(enum bpf_map_type type, const char *name, u32 key_bytes, u32 value_bytes,
		   u32 max_entries, u32 flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_bytes;
	attr.value_size = value_bytes;
	attr.max_entries = max_entries;
	attr.map_flags = flags;
	if (name)
		strncpy(attr.map_name, name, sizeof(attr.map_name) - 1);
	return sys_bpf(BPF_MAP_CREATE, &attr);
}

int sys_map_memory(int fd, size_t bytes, void **ret_at)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	*ret_at = at;
	return 0;
}

int sys_map_element(enum bpf_cmd command, int fd, const void *key, void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = fd;
	attr.key = sys_pointer(key);
	attr.value = sys_pointer(value);
	return sys_bpf(command, &attr);
}

int sys_map_take_batch(int fd, const void *from, void *ret_position, void *keys, void *values,
		       u32 *count)
{
	union bpf_attr attr;
	int err;

	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = fd;
	attr.batch.in_batch = sys_pointer(from);
	attr.batch.out_batch = sys_pointer(ret_position);
	attr.batch.keys = sys_pointer(keys);
	attr.batch.values = sys_pointer(values);
	attr.batch.count = *count;
	err = sys_bpf(BPF_MAP_LOOKUP_AND_DELETE_BATCH, &attr);
	*count = attr.batch.count;
	return err;
}

int sys_map_freeze(int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = fd;
	return sys_bpf(BPF_MAP_FREEZE, &attr);
}

/*
 * The verifier gives up (EAGAIN) when a signal is pending, and a program with a fast timer would
 * never load: signals wait these milliseconds.  SIGSTOP does not, and may come more than once.
 */
int sys_prog_load(union bpf_attr *attr)
{
	sigset_t all, before;
	int tries = 1000, ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	do {
		ret = sys_bpf(BPF_PROG_LOAD, attr);
	} while (ret == -EAGAIN && --tries);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

int sys_btf_load(const void *btf, u32 bytes)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.btf = sys_pointer(btf);
	attr.btf_size = bytes;
	return sys_bpf(BPF_BTF_LOAD, &attr);
}

int sys_info(int fd, void *ret_info, u32 bytes)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(ret_info, 0, bytes);
	attr.info.bpf_fd = fd;
	attr.info.info = sys_pointer(ret_info);
	attr.info.info_len = bytes;
	return sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

int sys_btf_open(u32 number)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.btf_id = number;
	return sys_bpf(BPF_BTF_GET_FD_BY_ID, &attr);
}

/* A program's BTF may bear the same name. */
static bool is_btf_of(int fd, const char *module)
{
	char name[64] = "";
	union bpf_attr attr;
	struct bpf_btf_info info = { .name = sys_pointer(name), .name_len = sizeof(name) };

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = fd;
	attr.info.info = sys_pointer(&info);
	attr.info.info_len = sizeof(info);
	return !sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) && info.kernel_btf && !strcmp(name, module);
}

s64 sys_btf_of_module(const char *module)
{
	union bpf_attr attr;
	int err, fd;
	bool is_it;

	memset(&attr, 0, sizeof(attr));
	while (!(err = sys_bpf(BPF_BTF_GET_NEXT_ID, &attr))) {
		fd = sys_btf_open(attr.next_id);
		if (fd < 0 && fd != -ENOENT) /* it may have gone meanwhile */
			return fd;
		is_it = fd >= 0 && is_btf_of(fd, module);
		sys_close(&fd);
		if (is_it)
			return attr.next_id;
		attr.start_id = attr.next_id;
	}
	return err;
}

int sys_run_time_open(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	return sys_bpf(BPF_ENABLE_STATS, &attr);
}

int sys_prog_test_run(int fd, void *context, u32 context_bytes, u32 flags, u32 cpu, u32 *ret_value)
{
	union bpf_attr attr;
	int err;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = fd;
	attr.test.ctx_in = sys_pointer(context);
	attr.test.ctx_size_in = context_bytes;
	attr.test.flags = flags;
	attr.test.cpu = cpu;
	err = sys_bpf(BPF_PROG_TEST_RUN, &attr);
	*ret_value = attr.test.retval;
	return err;
}

int sys_raw_tracepoint_open(const char *name, int prog_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = sys_pointer(name);
	attr.raw_tracepoint.prog_fd = prog_fd;
	return sys_bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

int sys_iterator_link(int prog_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog_fd;
	attr.link_create.attach_type = BPF_TRACE_ITER;
	return sys_bpf(BPF_LINK_CREATE, &attr);
}

int sys_iterator_open(int link_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.iter_create.link_fd = link_fd;
	return sys_bpf(BPF_ITER_CREATE, &attr);
}

static int perf_open_of(struct perf_event_attr *attr, s32 pid, s32 cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	rights_raise();
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	rights_lower();
	return fd < 0 ? -errno : fd;
}

static int perf_open(struct perf_event_attr *attr, u32 cpu)
{
	return perf_open_of(attr, -1, (s32)cpu);
}

/*
 * Disabled, as kprobes are: programs hang on the tracepoint, and trace_call_bpf() runs them whether
 * the event is enabled or not.  An enabled one costs its CPU a sample each time from where its
 * program is gone to where the event is closed: closing the link waits for a grace period of 25 ms
 * and more in between (perf_event_detach_bpf_prog()), in which a busy call took longer than with
 * the program.  Uprobes have no period, and so no samples.
 */
int sys_perf_open(u32 tracepoint_id, u32 cpu)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
					.config = tracepoint_id,
					.disabled = 1 };

	return perf_open(&attr, cpu);
}

/* The number in a file of a kind of perf events: "6", "config:0". */
static bool pmu_number(const char *file, u32 *ret_number)
{
	char path[96];
	FILE *f;
	bool has;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", file);
	f = fopen(path, "re");
	has = f && fscanf(f, "%*[a-z:]") >= 0 && fscanf(f, "%u", ret_number) == 1;
	if (f)
		fclose(f);
	return has;
}

bool sys_has_uprobes(u32 *ret_type)
{
	return pmu_number("uprobe/type", ret_type);
}

/* The file by its descriptor: with our own rights it was opened. */
int sys_uprobe_open(int file_fd, const struct sys_uprobe *probe)
{
	struct perf_event_attr attr = { .probe_offset = probe->offset };
	u32 return_bit, semaphore_bit = 32;
	char path[64];

	if (!sys_has_uprobes(&attr.type) || !pmu_number("uprobe/format/retprobe", &return_bit))
		return -ENODEV;
	if (probe->semaphore_offset &&
	    (!pmu_number("uprobe/format/ref_ctr_offset", &semaphore_bit) ||
	     probe->semaphore_offset >> (64 - semaphore_bit)))
		return -EOPNOTSUPP;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	attr.uprobe_path = sys_pointer(path);
	attr.config = probe->semaphore_offset << semaphore_bit;
	attr.config |= probe->is_return ? 1ull << return_bit : 0;
	return probe->pid ? perf_open_of(&attr, probe->pid, -1) : perf_open(&attr, 0);
}

int sys_uprobe_open_own(void)
{
	int fd, file_fd = memfd_create("ebql", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (file_fd < 0)
		return -errno;
	fd = sys_uprobe_open(file_fd, &(struct sys_uprobe){ 0 });
	close(file_fd);
	return fd;
}

int sys_sample_open(u32 type, u64 config, u64 period, u32 cpu)
{
	struct perf_event_attr attr = {
		.type = type, .config = config, .sample_period = period, .disabled = 1
	};

	return perf_open(&attr, cpu);
}

int sys_perf_enable(int perf_fd)
{
	return ioctl(perf_fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

u64 sys_perf_count(int perf_fd)
{
	u64 count;

	return read(perf_fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

/* where: of the function's begin, or without one (0) the address. */
static int open_kprobe(u64 function, u64 where, bool is_return)
{
	struct perf_event_attr attr = { .disabled = 1,
					.kprobe_func = function,
					.probe_offset = where };
	u32 bit;

	if (!pmu_number("kprobe/type", &attr.type) || !pmu_number("kprobe/format/retprobe", &bit))
		return -ENODEV;
	attr.config = is_return ? 1ull << bit : 0;
	return perf_open(&attr, 0);
}

int sys_kprobe_open(const char *function, u32 offset_bytes, bool is_return)
{
	return open_kprobe(sys_pointer(function), offset_bytes, is_return);
}

int sys_kprobe_open_at(u64 address, bool is_return)
{
	return open_kprobe(0, address, is_return);
}

/* A link, or the ioctl that came before it. */
int sys_perf_attach(int perf_fd, int prog_fd, u64 cookie, int *ret_link_fd)
{
	union bpf_attr attr;
	int link_fd;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog_fd;
	attr.link_create.target_fd = perf_fd;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	link_fd = sys_bpf(BPF_LINK_CREATE, &attr);
	if (link_fd >= 0) {
		*ret_link_fd = link_fd;
		return 0;
	}
	if (sys_kernel_version() >= KERNEL_VERSION(5, 15, 0))
		return link_fd;
	return ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, prog_fd) ? -errno : 0;
}

int sys_kprobe_multi_open(int prog_fd, const u64 *names, const u64 *cookies, u32 n, bool is_return)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog_fd;
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.flags = is_return ? BPF_F_KPROBE_MULTI_RETURN : 0;
	attr.link_create.kprobe_multi.cnt = n;
	attr.link_create.kprobe_multi.syms = sys_pointer(names);
	attr.link_create.kprobe_multi.cookies = sys_pointer(cookies);
	return sys_bpf(BPF_LINK_CREATE, &attr);
}

/* What headers before 6.6 do not have of union bpf_attr. */
struct uprobe_multi_attr {
	u32 prog_fd, target_fd, attach_type, unused;
	u64 path, offsets, semaphore_offsets, cookies;
	u32 n, flags;
	s32 pid;
};
_Static_assert(sizeof(struct uprobe_multi_attr) <= sizeof(union bpf_attr), "no room for it");
#define UPROBE_MULTI_RETURN 1

/* The file by its descriptor: with our own rights it was opened. */
int sys_uprobe_multi_open(int prog_fd, int file_fd, const struct sys_uprobes *probes)
{
	struct uprobe_multi_attr multi = {
		.prog_fd = (u32)prog_fd,
		.attach_type = SYS_TRACE_UPROBE_MULTI,
		.offsets = sys_pointer(probes->offsets),
		.semaphore_offsets = sys_pointer(probes->semaphore_offsets),
		.cookies = sys_pointer(probes->cookies),
		.n = probes->n,
		.flags = probes->is_return ? UPROBE_MULTI_RETURN : 0,
		.pid = probes->pid,
	};
	union bpf_attr attr;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	multi.path = sys_pointer(path);
	memset(&attr, 0, sizeof(attr));
	memcpy(&attr, &multi, sizeof(multi));
	return sys_bpf(BPF_LINK_CREATE, &attr);
}
