/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql doctor: asks kernel and privileges for each thing a query may need, by trying
 * it: small maps, and programs of two or three instructions of each kind that a query can need.
 * Everything is closed again.  A line is "ok", "no" (needed and missing, with how to mend it) or
 * "-" (missing but not needed).
 */
#include "cli/cli.h"
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cat/cat.h"
#include "load/load.h"
#include "sys/sys.h"

/* One question: what answers it, and what to do when the answer is no. */
struct check {
	const char *name, *mend;
	bool is_needed; /* for the main job */
	/* Does it work?  Says with what value or error. */
	bool (*probe)(u32 argument, struct buf *detail);
	u32 argument;
};

/* --- The system --- */

/* The first line of a small file, behind what it is; NULL and `otherwise` when unreadable. */
static const char *put_value(struct buf *detail, const char *what, const char *path,
			     const char *otherwise)
{
	size_t start = strlen(what);

	buf_puts(detail, what);
	if (buf_read_file(detail, path, 4096)) {
		buf_reset(detail);
		buf_puts(detail, otherwise);
		return NULL;
	}
	detail->n = start + strcspn(detail->at + start, "\n");
	detail->at[detail->n] = '\0';
	return detail->at + start;
}

static bool probe_kernel(u32 argument, struct buf *detail)
{
	struct utsname name;

	if (uname(&name))
		return false;
	buf_printf(detail, "%s %s", name.release, name.machine);
	return sys_kernel_version() >= KERNEL_VERSION(5, 15, 0);
}

static bool probe_btf(u32 argument, struct buf *detail)
{
	buf_puts(detail, "/sys/kernel/btf/vmlinux");
	return !access("/sys/kernel/btf/vmlinux", R_OK);
}

/* tracefs' id of sched_switch; 0 and why when it cannot be had. */
static u32 tracepoint_id(struct buf *why)
{
	const char *const path[] = { "tracepoint", "sched", "sched_switch" };
	const struct stream_list *list;
	struct catalog *catalog;
	struct arena arena;
	struct diags diags;
	u32 id;

	arena_init(&arena);
	diags_init(&diags, &arena, "doctor", "", 0);
	catalog = catalog_open_live(&arena);
	list = catalog_find(catalog, path, 3, (struct span){ 0, 0 }, &diags);
	id = list ? list->streams.at[0]->tracepoint_id : 0;
	if (!list)
		buf_puts(why, diags.list.at[0].message);
	catalog_close(catalog);
	arena_free(&arena);
	return id;
}

static bool probe_tracefs(u32 argument, struct buf *detail)
{
	if (!tracepoint_id(detail))
		return false;
	buf_puts(detail, "formats are readable");
	return true;
}

/* CAP_SYS_ADMIN holds all that CAP_BPF and CAP_PERFMON were split from (kernel 5.8). */
static bool probe_capability(u32 argument, struct buf *detail)
{
	if (sys_has_capability(argument)) {
		buf_puts(detail, "effective");
		return true;
	}
	if (argument != CAP_SYS_ADMIN && sys_has_capability(CAP_SYS_ADMIN)) {
		buf_puts(detail, "not effective, but CAP_SYS_ADMIN is");
		return true;
	}
	buf_puts(detail, "not effective");
	return false;
}

static bool probe_jit(u32 argument, struct buf *detail)
{
	const char *value =
		put_value(detail, "net.core.bpf_jit_enable = ", "/proc/sys/net/core/bpf_jit_enable",
			  "unknown (net.core.bpf_jit_enable cannot be read)");

	return value && value[0] != '0';
}

static bool probe_unprivileged(u32 argument, struct buf *detail)
{
	const char *value = put_value(detail, "kernel.unprivileged_bpf_disabled = ",
				      "/proc/sys/kernel/unprivileged_bpf_disabled", "unknown");

	if (value && value[0] != '0')
		buf_puts(detail, ": programs need CAP_BPF");
	return true;
}

/* Tracepoints through perf_event_open() need CAP_PERFMON unless paranoid is -1. */
static bool probe_paranoid(u32 argument, struct buf *detail)
{
	const char *value = put_value(
		detail, "kernel.perf_event_paranoid = ", "/proc/sys/kernel/perf_event_paranoid",
		"the kernel has no perf events");

	return value && (atoi(value) < 0 || sys_has_capability(CAP_PERFMON) ||
			 sys_has_capability(CAP_SYS_ADMIN));
}

static bool probe_lockdown(u32 argument, struct buf *detail)
{
	const char *value =
		put_value(detail, "", "/sys/kernel/security/lockdown",
			  "none (no lockdown in this kernel, or securityfs not mounted)");

	return !value || !strstr(value, "[confidentiality]");
}

/* --- bpf(2) --- */

#define INSN(c, d, s, o, i)                                                                        \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}

/* r0 = 0; exit */
static const struct bpf_insn empty[] = {
	INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
	INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
};

/* r0 = -7 s/ 2; exit.  Signed division is the unsigned one with offset 1, since 6.6. */
static const struct bpf_insn signed_division[] = {
	INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -7),
	INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 2),
	INSN(BPF_ALU64 | BPF_DIV | BPF_X, 0, 1, 1, 0),
	INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
};

/* r1 = 1; r1 = atomic_fetch_add(stack, r1); r0 = r1; exit.  With the fetch since 5.12. */
static const struct bpf_insn atomic_fetch[] = {
	INSN(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 0),
	INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
	INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 10, 1, -8, BPF_ADD | BPF_FETCH),
	INSN(BPF_ALU64 | BPF_MOV | BPF_X, 0, 1, 0, 0),
	INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
};

static bool is_refused; /* the last one, for want of a permission */

static bool report(struct buf *detail, const char *done, int error)
{
	is_refused = error == -EPERM || error == -EACCES;
	buf_puts(detail, error ? strerror(-error) : done);
	return !error;
}

/* What has been made is there: that was all. */
static int closed(int fd)
{
	int error = MIN(fd, 0);

	sys_close(&fd);
	return error;
}

/* btf_id: of what a typed program attaches to, in that way; or 0. */
static int load(enum bpf_prog_type type, const struct bpf_insn *insns, u32 n, u32 attach_type,
		u32 btf_id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = sys_pointer(insns);
	attr.insn_cnt = n;
	attr.license = sys_pointer("Dual BSD/GPL");
	memcpy(attr.prog_name, "ebql_doctor", sizeof("ebql_doctor"));
	if (btf_id) {
		attr.expected_attach_type = attach_type;
		attr.attach_btf_id = btf_id;
	}
	return sys_prog_load(&attr);
}

static int load_empty(enum bpf_prog_type type)
{
	return load(type, empty, ARRAY_SIZE(empty), 0, 0);
}

static bool probe_array(u32 argument, struct buf *detail)
{
	int fd = sys_map_create(BPF_MAP_TYPE_ARRAY, "ebql_doctor", 4, 8, 512, BPF_F_MMAPABLE);
	const size_t bytes = 4096;
	void *memory;
	int error = fd < 0 ? fd : sys_map_memory(fd, bytes, &memory);

	if (!error)
		munmap(memory, bytes);
	sys_close(&fd);
	return report(detail, "created and mapped", error);
}

static bool probe_map(u32 type, struct buf *detail)
{
	bool is_ring = type == BPF_MAP_TYPE_RINGBUF;

	return report(detail, "created",
		      closed(sys_map_create(type, "ebql_doctor", is_ring ? 0 : 8, is_ring ? 0 : 8,
					    is_ring ? sysconf(_SC_PAGESIZE) : 64, 0)));
}

static bool probe_program(u32 type, struct buf *detail)
{
	return report(detail, "loaded", closed(load_empty(type)));
}

/* 0: none. */
static u32 kernel_btf_id(u32 kind, const char *name)
{
	struct catalog *catalog;
	struct arena arena;
	u32 btf_id;

	arena_init(&arena);
	catalog = catalog_open_live(&arena);
	btf_id = catalog_btf_id(catalog, kind, name);
	catalog_close(catalog);
	arena_free(&arena);
	return btf_id;
}

static bool probe_typed(u32 attach_type, struct buf *detail)
{
	bool is_list = attach_type == BPF_TRACE_ITER;
	u32 btf_id = kernel_btf_id(is_list ? BTF_KIND_FUNC : BTF_KIND_TYPEDEF,
				   is_list ? "bpf_iter_task" : "btf_trace_sys_enter");

	if (btf_id)
		return report(detail, "loaded",
			      closed(load(BPF_PROG_TYPE_TRACING, empty, ARRAY_SIZE(empty),
					  attach_type, btf_id)));
	buf_puts(detail, is_list ? "no BTF of iter:task" : "no BTF of the tracepoint sys_enter");
	return false;
}

/* Loads as a raw tracepoint's program, runs it once on CPU 0: it must give this. */
static int run_once(const struct bpf_insn *insns, u32 n, s32 wanted)
{
	int fd = load(BPF_PROG_TYPE_RAW_TRACEPOINT, insns, n, 0, 0), error;
	u32 value;

	if (fd < 0)
		return fd;
	error = sys_prog_test_run(fd, NULL, 0, BPF_F_TEST_RUN_ON_CPU, 0, &value);
	close(fd);
	return error ? error : (s32)value == wanted ? 0 : -EDOM;
}

static bool probe_run(u32 argument, struct buf *detail)
{
	return report(detail, "ran on CPU 0", run_once(empty, ARRAY_SIZE(empty), 0));
}

static bool probe_division(u32 argument, struct buf *detail)
{
	return report(detail, "-7 / 2 is -3",
		      run_once(signed_division, ARRAY_SIZE(signed_division), -3));
}

static bool probe_atomic(u32 argument, struct buf *detail)
{
	return report(detail, "ran", run_once(atomic_fetch, ARRAY_SIZE(atomic_fetch), 0));
}

static bool probe_attach_raw(u32 argument, struct buf *detail)
{
	int program = load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT), error = program;

	if (program >= 0)
		error = closed(sys_raw_tracepoint_open("sys_enter", program));
	sys_close(&program);
	return report(detail, "attached to sys_enter", error);
}

static int attach_tracepoint(int program, u32 id)
{
	int error, link = -1, event = sys_perf_open(id, 0);

	if (event < 0)
		return event;
	error = sys_perf_attach(event, program, 0, &link);
	sys_close(&link);
	close(event);
	return error;
}

static bool probe_attach_tracepoint(u32 argument, struct buf *detail)
{
	u32 id = tracepoint_id(detail);
	int program, error;

	if (!id) {
		buf_reset(detail);
		buf_puts(detail, "no id of the tracepoint sched_switch (see tracefs)");
		return false;
	}
	program = load_empty(BPF_PROG_TYPE_TRACEPOINT);
	error = program < 0 ? program : attach_tracepoint(program, id);
	closed(program);
	return report(detail, "attached to sched_switch", error);
}

/* Of a kind of perf events: a program that is attached to this one, or why there is none. */
static int attach_event(enum bpf_prog_type type, int event)
{
	int program = event < 0 ? event : load_empty(type), link = -1, error = program;

	if (error >= 0)
		error = sys_perf_attach(event, program, 0, &link);
	sys_close(&link);
	sys_close(&event);
	sys_close(&program);
	return error;
}

static bool probe_samples(u32 type, struct buf *detail)
{
	return report(detail, "attached on CPU 0",
		      attach_event(BPF_PROG_TYPE_PERF_EVENT, sys_sample_open(type, 0, 1000000, 0)));
}

static bool probe_kprobe(u32 argument, struct buf *detail)
{
	return report(detail, "attached to vfs_read",
		      attach_event(BPF_PROG_TYPE_KPROBE, sys_kprobe_open("vfs_read", 0, false)));
}

/* Where the file has no instructions: nothing runs into it. */
static bool probe_uprobe(u32 argument, struct buf *detail)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), error;

	error = file < 0 ? -errno
			 : attach_event(BPF_PROG_TYPE_KPROBE,
					sys_uprobe_open(file, &(struct sys_uprobe){ 0 }));
	sys_close(&file);
	return report(detail, "attached to a file", error);
}

/* To a function that is there to be attached to: no tracer of others misses a return meanwhile. */
static bool probe_trampoline(u32 argument, struct buf *detail)
{
	u32 btf_id = kernel_btf_id(BTF_KIND_FUNC, "bpf_fentry_test1");
	int program, error;

	if (!btf_id) {
		buf_puts(detail, "no BTF of the function bpf_fentry_test1");
		return false;
	}
	program = load(BPF_PROG_TYPE_TRACING, empty, ARRAY_SIZE(empty), BPF_TRACE_FENTRY, btf_id);
	error = program < 0 ? program : closed(sys_raw_tracepoint_open(NULL, program));
	sys_close(&program);
	return report(detail, "attached to bpf_fentry_test1", error);
}

#define MEND_CAPABILITY "run as root, or: " SYS_SETCAP "ebql"
#define MEND_PRIVILEGE	"needs CAP_BPF and CAP_PERFMON, or root"

static const struct check checks[] = {
	{ "kernel 5.15 or later", "older ones are not tested; what they lack stands below", false,
	  probe_kernel },
	{ "kernel types (BTF)",
	  "a kernel with CONFIG_DEBUG_INFO_BTF=y; without it raw tracepoints have arg0..arg11",
	  false, probe_btf },
	{ "tracefs",
	  "CAP_DAC_READ_SEARCH reads it where it is mounted (mount -t tracefs tracefs "
	  "/sys/kernel/tracing), CAP_SYS_ADMIN everywhere",
	  true, probe_tracefs },
	{ "CAP_BPF", MEND_CAPABILITY, true, probe_capability, CAP_BPF },
	{ "CAP_PERFMON", MEND_CAPABILITY, true, probe_capability, CAP_PERFMON },
	{ "CAP_SYS_ADMIN", "not needed where the two above are effective", false, probe_capability,
	  CAP_SYS_ADMIN },
	{ "JIT compiler", "sysctl net.core.bpf_jit_enable=1", false, probe_jit },
	{ "unprivileged bpf", "", false, probe_unprivileged },
	{ "perf events", "CAP_PERFMON, or: sysctl kernel.perf_event_paranoid=-1", true,
	  probe_paranoid },
	{ "lockdown",
	  "programs may not read kernel memory under lockdown=confidentiality: boot without it",
	  true, probe_lockdown },
	{ "array map, mmapable", MEND_PRIVILEGE " (and kernel 5.5)", true, probe_array },
	{ "hash map", MEND_PRIVILEGE, true, probe_map, BPF_MAP_TYPE_HASH },
	{ "ring buffer", MEND_PRIVILEGE " (and kernel 5.8)", true, probe_map,
	  BPF_MAP_TYPE_RINGBUF },
	{ "raw tracepoint program", MEND_PRIVILEGE, true, probe_program,
	  BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "raw tracepoint attach", MEND_PRIVILEGE, true, probe_attach_raw },
	{ "tracepoint program", MEND_PRIVILEGE, true, probe_program, BPF_PROG_TYPE_TRACEPOINT },
	{ "tracepoint attach", MEND_PRIVILEGE "; kernel.perf_event_paranoid may forbid it", true,
	  probe_attach_tracepoint },
	{ "typed tracepoint program", "needs kernel types (BTF); queries do without", false,
	  probe_typed, BPF_TRACE_RAW_TP },
	{ "iterator program", "needs kernel types (BTF) and kernel 5.8; only iter: needs it", false,
	  probe_typed, BPF_TRACE_ITER },
	{ "samples of a clock", MEND_PRIVILEGE "; only profile:, interval: and software: need them",
	  false, probe_samples, PERF_TYPE_SOFTWARE },
	{ "samples of the hardware's events",
	  "a virtual machine seldom has them; only hardware: needs them", false, probe_samples,
	  PERF_TYPE_HARDWARE },
	{ "kprobes",
	  "a kernel with CONFIG_KPROBE_EVENTS, and 1 in /sys/kernel/debug/kprobes/enabled; only "
	  "functions of the kernel need them (kprobe:, function: and the tools made of them), where "
	  "it has no trampolines",
	  false, probe_kprobe },
	{ "trampolines (fentry)",
	  "a kernel with BTF and CONFIG_FUNCTION_TRACER that permits them; functions of the "
	  "kernel are read by kprobes without",
	  false, probe_trampoline },
	{ "uprobes",
	  "a kernel with CONFIG_UPROBE_EVENTS; only functions of programs (uprobe:, usdt:, "
	  "userfunction:) need them",
	  false, probe_uprobe },
	{ "program run on a chosen CPU", MEND_PRIVILEGE " (and kernel 5.10)", true, probe_run },
	{ "atomic fetch instructions", "kernel 5.12 has them: boot a newer kernel", true,
	  probe_atomic },
	{ "signed division instruction",
	  "kernel 6.6 has it; divisions take a few instructions more", false, probe_division },
};

static bool may_load(void)
{
	return sys_has_capability(CAP_SYS_ADMIN) ||
	       (sys_has_capability(CAP_BPF) && sys_has_capability(CAP_PERFMON));
}

/* Prints one line, and how to mend it; false when something needed is missing. */
static bool run_check(const struct check *check, struct buf *out)
{
	const char *mend = check->mend;
	struct buf detail;
	bool works;

	buf_init(&detail);
	is_refused = false;
	works = check->probe(check->argument, &detail);
	/* Whether the kernel has it is not known then. */
	if (is_refused && !may_load() && !strstr(mend, MEND_PRIVILEGE))
		mend = MEND_PRIVILEGE;
	buf_printf(out, "%-2s  %-30s  %s\n",
		   works	      ? "ok"
		   : check->is_needed ? "no"
				      : "-",
		   check->name, detail.n ? detail.at : "");
	if (!works && mend[0])
		buf_printf(out, "      %s\n", mend);
	buf_free(&detail);
	return works || !check->is_needed;
}

int cmd_doctor(struct options *options)
{
	bool is_well = true;
	struct buf out;

	load_raise_limits(NULL);
	buf_init(&out);
	for (u32 i = 0; i < ARRAY_SIZE(checks); i++)
		is_well &= run_check(&checks[i], &out);
	buf_printf(&out, "%s\n",
		   is_well ? "everything that queries on tracepoints need works"
			   : "queries on tracepoints need what is marked \"no\"");
	tell_fold(&out, STDOUT_FILENO);
	return tell_answer(&out, is_well ? 0 : 1);
}
