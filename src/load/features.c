/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The running kernel -> struct kernel_features, and how many CPUs it can have.
 * Asks what is cheap to ask and goes by the version for the rest: a probe that
 * loads a program costs more than all that the answer decides.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "load/internal.h"

#define ENOTSUPP_KERNEL 524 /* the kernel's own ENOTSUPP: no header of user space has it */

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

/*
 * "none voluntary (full)", where debugfs can be read; else what was chosen at boot, or can be known
 * by the kernel's own name.  In doubt it does.
 */
static bool preempts_fully(void)
{
	struct utsname name;
	struct buf text;
	bool is_full = true;

	buf_init(&text);
	if (!buf_read_file(&text, "/sys/kernel/debug/sched/preempt", 256))
		is_full = strstr(text.at, "(full)") != NULL;
	else if (!buf_read_file(&text, "/proc/cmdline", 65536) && strstr(text.at, "preempt="))
		is_full = strstr(text.at, "preempt=full") != NULL;
	else if (!uname(&name))
		is_full = strstr(name.version, "PREEMPT") != NULL;
	buf_free(&text);
	return is_full;
}

/*
 * Does this kernel attach what it has loaded?  On arm64 it does since 6.4 only, and there not to
 * functions that ftrace leaves out; it says so no sooner.  Asked until it did once, since whoever
 * has another trampoline there may miss a return meanwhile.
 */
static bool attaches_trampolines(int prog_fd)
{
	static bool is_known;
	bool does = __atomic_load_n(&is_known, __ATOMIC_RELAXED);

	if (!does) {
		int fd = sys_raw_tracepoint_open(NULL, prog_fd);

		does = fd != -ENOTSUPP_KERNEL;
		sys_close(&fd);
		__atomic_store_n(&is_known, does, __ATOMIC_RELAXED);
	}
	return does;
}

/*
 * Where attaching one failed in this process: BTF ids, each behind the number of the BTF that it is
 * of, and above them what the kernel said.
 */
#define REFUSED_BITS 52
static u64 refused[64];

static u64 place_of(u32 btf, u32 function_btf_id)
{
	return (u64)btf << 20 | function_btf_id;
}

bool load_refuse_trampoline(const struct hook *hook, int error)
{
	u64 place = place_of(hook->attach_btf, hook->attach_btf_id);

	for (u32 i = 0; i < ARRAY_SIZE(refused); i++) {
		u64 none = 0;

		if (__atomic_compare_exchange_n(&refused[i], &none,
						(u64)error << REFUSED_BITS | place, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static const char *why_refused(u64 place)
{
	for (u32 i = 0; i < ARRAY_SIZE(refused); i++) {
		u64 is = __atomic_load_n(&refused[i], __ATOMIC_RELAXED);

		if (is && (is & ((1ull << REFUSED_BITS) - 1)) == place)
			return is >> REFUSED_BITS == E2BIG ? "its trampolines have the 38 programs "
							     "that they take"
			       : is >> REFUSED_BITS == EBUSY
				       ? "another tracer has its entry to itself"
				       : "the kernel refuses to attach a trampoline there";
	}
	return NULL;
}

/* By a program that does nothing there: loading it asks all but whether there is room. */
static const char *why_no_trampoline(u32 btf, u32 function_btf_id, bool is_return)
{
	const char *why_not = why_refused(place_of(btf, function_btf_id));
	union bpf_attr attr;
	bool has_them;
	int fd, err, btf_fd = btf ? sys_btf_open(btf) : -1;

	if (why_not || (btf && btf_fd < 0)) {
		sys_close(&btf_fd);
		return why_not ?: "its module has gone";
	}
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACING;
	attr.expected_attach_type = is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	attr.attach_btf_id = function_btf_id;
	attr.attach_btf_obj_fd = MAX(btf_fd, 0);
	fd = load_empty(&attr);
	sys_close(&btf_fd);
	err = MIN(fd, 0);
	has_them = err || attaches_trampolines(fd);
	sys_close(&fd);
	/* Who may load nothing may want to know all the same. */
	if (err == -EPERM && !sys_has_capability(CAP_BPF) && !sys_has_capability(CAP_SYS_ADMIN))
		return NULL;
	if (err == -EPERM)
		return "this kernel permits no trampolines";
	if (!has_them)
		return "this kernel attaches none there";
	if (err)
		return "the kernel refuses a trampoline there";
	return NULL;
}

static const char *why_no_module(const char *module, u32 *ret_btf)
{
	s64 btf = sys_btf_of_module(module);

	*ret_btf = (u32)MAX(btf, 0);
	if (btf > 0)
		return NULL;
	return btf == -EPERM ? "a trampoline in a module takes CAP_SYS_ADMIN"
			     : "the kernel does not tell the BTF of its module";
}

/* A program that does nothing, to be attached so. */
static int open_probe(enum bpf_attach_type attach_type)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = attach_type;
	return load_empty(&attr);
}

/* One that is attached to nothing is refused, but for another reason where there are none. */
static bool has_kprobe_multi(void)
{
	int fd, err;

	if (sys_kernel_version() < KERNEL_VERSION(5, 18, 0))
		return false;
	fd = open_probe(BPF_TRACE_KPROBE_MULTI);
	err = fd < 0 ? 0 : sys_kprobe_multi_open(fd, NULL, NULL, 0, false);
	sys_close(&fd);
	return err != -EOPNOTSUPP;
}

/*
 * One that is attached to what is no file is refused for that (EBADF); with a process that cannot
 * be, for that, where the kernel knows processes: at first it took threads for them (commit
 * 46ba0e49b642, 6.10 and 6.6.33).  Who may load nothing may want to know all the same.
 */
static bool has_uprobe_multi(bool is_of_process)
{
	const u64 nowhere = 0;
	struct sys_uprobes probes = {
		.offsets = &nowhere, .cookies = &nowhere, .n = 1, .semaphore_offsets = &nowhere
	};
	int fd = open_probe(SYS_TRACE_UPROBE_MULTI), folder_fd = open("/", O_PATH | O_CLOEXEC);
	bool has = fd < 0 ? sys_kernel_version() >= KERNEL_VERSION(6, 6, 0)
			  : sys_uprobe_multi_open(fd, folder_fd, &probes) == -EBADF;

	probes.pid = -1;
	if (has && fd >= 0 && is_of_process)
		has = sys_uprobe_multi_open(fd, folder_fd, &probes) == -EINVAL;
	sys_close(&folder_fd);
	sys_close(&fd);
	return has;
}

/* Asked once.  Who may load nothing may want to know all the same. */
static bool has_typed_loads(u32 function_btf_id, u32 struct_btf_id)
{
	static int known; /* 1: it has them, -1: it has not */
	int has = __atomic_load_n(&known, __ATOMIC_RELAXED);
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = (s32)struct_btf_id },
		{ .code = BPF_JMP | BPF_CALL,
		  .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .imm = (s32)function_btf_id },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .src_reg = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int fd;

	if (has)
		return has > 0;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	fd = load_insns(&attr, insns, ARRAY_SIZE(insns));
	has = fd >= 0 || (fd == -EPERM && !sys_has_capability(CAP_BPF) &&
			  !sys_has_capability(CAP_SYS_ADMIN))
		      ? 1
		      : -1;
	sys_close(&fd);
	__atomic_store_n(&known, has, __ATOMIC_RELAXED);
	return has > 0;
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
		.why_no_trampoline = why_no_trampoline,
		.why_no_module = why_no_module,
		.preempts_fully = preempts_fully,
		.has_kprobe_multi = has_kprobe_multi,
		.has_uprobe_multi = has_uprobe_multi,
		.has_typed_loads = has_typed_loads,
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
