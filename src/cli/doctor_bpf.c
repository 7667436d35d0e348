/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The doctor's questions to bpf(2): creates small maps and loads programs of two or
 * three instructions, of each kind a query can need.  Everything is closed again.
 */
#include "cli/doctor.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cat/cat.h"

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

static bool report(struct buf *detail, const char *done, int error)
{
	if (error)
		buf_printf(detail, "%s", strerror(error));
	else
		buf_puts(detail, done);
	return !error;
}

/* bpf(2): a file descriptor or 0, else -errno. */
static int bpf_call(enum bpf_cmd command, union bpf_attr *attr)
{
	int rc = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

static int load_typed(enum bpf_prog_type type, const struct bpf_insn *insns, u32 n, u32 attach_type,
		      u32 btf_id)
{
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (u64)(uintptr_t)insns,
		.insn_cnt = n,
		.license = (u64)(uintptr_t) "Dual BSD/GPL",
		.prog_name = "ebql_doctor",
		.expected_attach_type = attach_type,
		.attach_btf_id = btf_id,
	};

	return bpf_call(BPF_PROG_LOAD, &attr);
}

static int load(enum bpf_prog_type type, const struct bpf_insn *insns, u32 n)
{
	return load_typed(type, insns, n, 0, 0);
}

static int create_map(enum bpf_map_type type, u32 key_bytes, u32 value_bytes, u32 n, u32 flags)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = key_bytes,
		.value_size = value_bytes,
		.max_entries = n,
		.map_flags = flags,
		.map_name = "ebql_doctor",
	};

	return bpf_call(BPF_MAP_CREATE, &attr);
}

static bool probe_array(const struct check *check, struct buf *detail)
{
	int fd = create_map(BPF_MAP_TYPE_ARRAY, 4, 8, 512, BPF_F_MMAPABLE);
	size_t bytes = 4096;
	void *memory;
	int error;

	if (fd < 0)
		return report(detail, NULL, -fd);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	error = memory == MAP_FAILED ? errno : 0;
	if (!error)
		munmap(memory, bytes);
	close(fd);
	return report(detail, "created and mapped", error);
}

static bool probe_map(const struct check *check, struct buf *detail)
{
	bool is_ring = check->argument == BPF_MAP_TYPE_RINGBUF;
	u32 page = sysconf(_SC_PAGESIZE);
	int fd = create_map(check->argument, is_ring ? 0 : 8, is_ring ? 0 : 8, is_ring ? page : 64,
			    0);

	if (fd >= 0)
		close(fd);
	return report(detail, "created", fd < 0 ? -fd : 0);
}

static bool probe_program(const struct check *check, struct buf *detail)
{
	int fd = load(check->argument, empty, ARRAY_SIZE(empty));

	if (fd >= 0)
		close(fd);
	return report(detail, "loaded", fd < 0 ? -fd : 0);
}

static bool probe_typed(const struct check *check, struct buf *detail)
{
	struct arena arena;
	struct catalog *catalog;
	u32 btf_id;
	int fd;

	arena_init(&arena);
	catalog = catalog_open_live(&arena);
	btf_id = catalog_btf_id(catalog, BTF_KIND_TYPEDEF, "btf_trace_sys_enter");
	catalog_close(catalog);
	arena_free(&arena);
	if (!btf_id) {
		buf_puts(detail, "no BTF of the tracepoint sys_enter");
		return false;
	}
	fd = load_typed(BPF_PROG_TYPE_TRACING, empty, ARRAY_SIZE(empty), BPF_TRACE_RAW_TP, btf_id);
	if (fd >= 0)
		close(fd);
	return report(detail, "loaded", fd < 0 ? -fd : 0);
}

/* Loads as a raw tracepoint's program, runs it once on CPU 0. */
static int run_once(const struct bpf_insn *insns, size_t n, u32 *ret_value)
{
	union bpf_attr attr = { .test.flags = BPF_F_TEST_RUN_ON_CPU };
	int fd = load(BPF_PROG_TYPE_RAW_TRACEPOINT, insns, n);
	int rc;

	if (fd < 0)
		return -fd;
	attr.test.prog_fd = fd;
	rc = bpf_call(BPF_PROG_TEST_RUN, &attr);
	close(fd);
	*ret_value = attr.test.retval;
	return rc < 0 ? -rc : 0;
}

static bool probe_test_run(const struct check *check, struct buf *detail)
{
	u32 value = 1;
	int error = run_once(empty, ARRAY_SIZE(empty), &value);

	return report(detail, "ran on CPU 0", error) && !value;
}

static bool probe_division(const struct check *check, struct buf *detail)
{
	u32 value = 0;
	int error = run_once(signed_division, ARRAY_SIZE(signed_division), &value);

	if (!error && (s32)value != -3)
		error = EDOM;
	return report(detail, "-7 / 2 is -3", error);
}

static bool probe_atomic(const struct check *check, struct buf *detail)
{
	u32 value = 1;
	int error = run_once(atomic_fetch, ARRAY_SIZE(atomic_fetch), &value);

	return report(detail, "ran", error) && !value;
}

static bool probe_attach_raw(const struct check *check, struct buf *detail)
{
	int program = load(BPF_PROG_TYPE_RAW_TRACEPOINT, empty, ARRAY_SIZE(empty));
	union bpf_attr attr = { 0 };
	int link;

	if (program < 0)
		return report(detail, NULL, -program);
	attr.raw_tracepoint.name = (u64)(uintptr_t) "sys_enter";
	attr.raw_tracepoint.prog_fd = program;
	link = bpf_call(BPF_RAW_TRACEPOINT_OPEN, &attr);
	if (link >= 0)
		close(link);
	close(program);
	return report(detail, "attached to sys_enter", link < 0 ? -link : 0);
}

/* tracefs id of sched_switch, 0 when it cannot be had. */
static u32 tracepoint_id(void)
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
	catalog_close(catalog);
	arena_free(&arena);
	return id;
}

static int attach_tracepoint(int program, u32 id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.sample_period = 1,
		.wakeup_events = 1,
	};
	int error, event = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (event < 0)
		return errno;
	error = ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ? errno : 0;
	close(event);
	return error;
}

static bool probe_attach_tracepoint(const struct check *check, struct buf *detail)
{
	u32 id = tracepoint_id();
	int program, error;

	if (!id) {
		buf_puts(detail, "no id of the tracepoint sched_switch (see tracefs)");
		return false;
	}
	program = load(BPF_PROG_TYPE_TRACEPOINT, empty, ARRAY_SIZE(empty));
	if (program < 0)
		return report(detail, NULL, -program);
	error = attach_tracepoint(program, id);
	close(program);
	return report(detail, "attached to sched_switch", error);
}

#define MEND_PRIVILEGE "needs CAP_BPF and CAP_PERFMON, or root"

const struct check bpf_checks[] = {
	{ "array map, mmapable", true, probe_array, 0, MEND_PRIVILEGE " (and kernel 5.5)" },
	{ "hash map", true, probe_map, BPF_MAP_TYPE_HASH, MEND_PRIVILEGE },
	{ "ring buffer", true, probe_map, BPF_MAP_TYPE_RINGBUF,
	  MEND_PRIVILEGE " (and kernel 5.8)" },
	{ "raw tracepoint program", true, probe_program, BPF_PROG_TYPE_RAW_TRACEPOINT,
	  MEND_PRIVILEGE },
	{ "raw tracepoint attach", true, probe_attach_raw, 0, MEND_PRIVILEGE },
	{ "tracepoint program", true, probe_program, BPF_PROG_TYPE_TRACEPOINT, MEND_PRIVILEGE },
	{ "tracepoint attach", true, probe_attach_tracepoint, 0,
	  MEND_PRIVILEGE "; kernel.perf_event_paranoid may forbid it" },
	{ "typed tracepoint program", false, probe_typed, 0,
	  "needs kernel types (BTF); queries do without" },
	{ "program run on a chosen CPU", true, probe_test_run, 0,
	  MEND_PRIVILEGE " (and kernel 5.10)" },
	{ "atomic fetch instructions", false, probe_atomic, 0,
	  "kernel 5.12 has them; queries do without" },
	{ "signed division instruction", false, probe_division, 0,
	  "kernel 6.6 has it; divisions take a few instructions more" },
};

const u32 n_bpf_checks = ARRAY_SIZE(bpf_checks);
