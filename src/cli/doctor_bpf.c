/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The doctor's questions to bpf(2): creates small maps and loads programs of two or
 * three instructions, of each kind a query can need.  Everything is closed again.
 */
#include "cli/doctor.h"

#include <bpf/bpf.h>
#include <errno.h>
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

/* What has been made is there: that was all. */
static int closed(int fd)
{
	if (fd >= 0)
		close(fd);
	return MIN(fd, 0);
}

static int load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t n,
		const struct bpf_prog_load_opts *options)
{
	return bpf_prog_load(type, "ebql_doctor", "Dual BSD/GPL", insns, n, options);
}

static int try_array(u32 argument)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ebql_doctor", 4, 8, 512, &options), error = 0;
	const size_t bytes = 4096;
	void *memory;

	if (fd < 0)
		return fd;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		error = -errno;
	else
		munmap(memory, bytes);
	close(fd);
	return error;
}

static int try_map(u32 type)
{
	bool is_ring = type == BPF_MAP_TYPE_RINGBUF;

	return closed(bpf_map_create(type, "ebql_doctor", is_ring ? 0 : 8, is_ring ? 0 : 8,
				     is_ring ? sysconf(_SC_PAGESIZE) : 64, NULL));
}

static int try_program(u32 type)
{
	return closed(load(type, empty, ARRAY_SIZE(empty), NULL));
}

static bool report(struct buf *detail, const char *done, int error)
{
	buf_puts(detail, error ? strerror(-error) : done);
	return !error;
}

static bool probe_typed(u32 argument, struct buf *detail)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_RAW_TP);
	struct catalog *catalog;
	struct arena arena;

	arena_init(&arena);
	catalog = catalog_open_live(&arena);
	options.attach_btf_id = catalog_btf_id(catalog, BTF_KIND_TYPEDEF, "btf_trace_sys_enter");
	catalog_close(catalog);
	arena_free(&arena);
	if (options.attach_btf_id)
		return report(
			detail, "loaded",
			closed(load(BPF_PROG_TYPE_TRACING, empty, ARRAY_SIZE(empty), &options)));
	buf_puts(detail, "no BTF of the tracepoint sys_enter");
	return false;
}

/* Loads as a raw tracepoint's program, runs it once on CPU 0: it must give this. */
static int run_once(const struct bpf_insn *insns, size_t n, s32 wanted)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU);
	int fd = load(BPF_PROG_TYPE_RAW_TRACEPOINT, insns, n, NULL), error;

	if (fd < 0)
		return fd;
	error = bpf_prog_test_run_opts(fd, &options);
	close(fd);
	return error ? error : (s32)options.retval == wanted ? 0 : -EDOM;
}

static int try_run(u32 argument)
{
	return run_once(empty, ARRAY_SIZE(empty), 0);
}

static int try_division(u32 argument)
{
	return run_once(signed_division, ARRAY_SIZE(signed_division), -3);
}

static int try_atomic(u32 argument)
{
	return run_once(atomic_fetch, ARRAY_SIZE(atomic_fetch), 0);
}

static int try_attach_raw(u32 argument)
{
	int program = load(BPF_PROG_TYPE_RAW_TRACEPOINT, empty, ARRAY_SIZE(empty), NULL), link;

	if (program < 0)
		return program;
	link = bpf_raw_tracepoint_open("sys_enter", program);
	close(program);
	return closed(link);
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
		return -errno;
	error = ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ? -errno : 0;
	close(event);
	return error;
}

u32 doctor_tracepoint_id(struct buf *why)
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

static bool probe_attach_tracepoint(u32 argument, struct buf *detail)
{
	u32 id = doctor_tracepoint_id(detail);
	int program, error;

	if (!id) {
		buf_reset(detail);
		buf_puts(detail, "no id of the tracepoint sched_switch (see tracefs)");
		return false;
	}
	program = load(BPF_PROG_TYPE_TRACEPOINT, empty, ARRAY_SIZE(empty), NULL);
	error = program < 0 ? program : attach_tracepoint(program, id);
	closed(program);
	return report(detail, "attached to sched_switch", error);
}

#define MEND_PRIVILEGE "needs CAP_BPF and CAP_PERFMON, or root"

const struct check bpf_checks[] = {
	{ "array map, mmapable", MEND_PRIVILEGE " (and kernel 5.5)", true, 0, try_array,
	  "created and mapped" },
	{ "hash map", MEND_PRIVILEGE, true, BPF_MAP_TYPE_HASH, try_map, "created" },
	{ "ring buffer", MEND_PRIVILEGE " (and kernel 5.8)", true, BPF_MAP_TYPE_RINGBUF, try_map,
	  "created" },
	{ "raw tracepoint program", MEND_PRIVILEGE, true, BPF_PROG_TYPE_RAW_TRACEPOINT, try_program,
	  "loaded" },
	{ "raw tracepoint attach", MEND_PRIVILEGE, true, 0, try_attach_raw,
	  "attached to sys_enter" },
	{ "tracepoint program", MEND_PRIVILEGE, true, BPF_PROG_TYPE_TRACEPOINT, try_program,
	  "loaded" },
	{ "tracepoint attach", MEND_PRIVILEGE "; kernel.perf_event_paranoid may forbid it", true,
	  .probe = probe_attach_tracepoint },
	{ "typed tracepoint program", "needs kernel types (BTF); queries do without", false,
	  .probe = probe_typed },
	{ "program run on a chosen CPU", MEND_PRIVILEGE " (and kernel 5.10)", true, 0, try_run,
	  "ran on CPU 0" },
	{ "atomic fetch instructions", "kernel 5.12 has them; queries do without", false, 0,
	  try_atomic, "ran" },
	{ "signed division instruction",
	  "kernel 6.6 has it; divisions take a few instructions more", false, 0, try_division,
	  "-7 / 2 is -3" },
};

const u32 n_bpf_checks = ARRAY_SIZE(bpf_checks);
