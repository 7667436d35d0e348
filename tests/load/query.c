/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "query.h"
#include "sys/sys.h"

static u32 tracepoint_id(const char *name)
{
	char path[128], text[32] = "";
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	return n > 0 ? strtoul(text, NULL, 10) : 0;
}

void query_init(struct query *query, enum access_path path)
{
	struct state_layout *state = &query->phys.state;

	*query = (struct query){ .settings = { .max_groups = 1024, .ring_bytes = 100 * 1000 } };
	arena_init(&query->arena);
	diags_init(&query->diags, &query->arena, "query", "SELECT count(*) FROM t", 22);
	*state = (struct state_layout){
		.kind = STATE_DIRECT,
		.n_cpus = load_possible_cpus(),
		.n_levels = 1,
		.key_words = 2,
		.n_rows = 1,
		.row_bytes = 8 * QUERY_WORDS,
		.rows_bytes_offset = 8 * COUNTER_N,
		.slice_bytes = 8 * COUNTER_N + 8 * QUERY_WORDS,
		.max_groups = 1024,
	};
	state->all_rows = state->max_groups * state->n_cpus;
	state->total_bytes = state->slice_bytes * STATE_COPIES * state->n_cpus;
	for (u32 i = 0; i < ARRAY_SIZE(query->hook); i++) {
		query->hook[i] = (struct hook){
			.path = path,
			.uses = &query->use,
			.n_uses = 1,
			.number = i,
			.target =
				path == ACCESS_TRACEPOINT ? "raw_syscalls:sys_enter" : "sys_enter",
		};
		if (path == ACCESS_TRACEPOINT)
			query->hook[i].tracepoint_id = tracepoint_id("raw_syscalls/sys_enter");
	}
	query->phys.arena = &query->arena;
	query->phys.settings = &query->settings;
	query->phys.set = &query->set;
	query->part = &query->phys;
	query->use.phys = &query->phys;
	query->use.source = &query->source;
	query->set = (struct phys_set){
		.parts = &query->part,
		.n_parts = 1,
		.hooks = query->hook,
		.n_hooks = 1,
		.n_cpus = state->n_cpus,
		.n_slots = 1,
	};
}

void query_free(struct query *query)
{
	arena_free(&query->arena);
}

void query_compile_ir(struct query *query, u32 i, struct ir *ir)
{
	struct bpf_features features = { 0 };
	const char *reason = NULL;
	int err = bpf_compile(ir, &query->arena, &features, &query->programs[i].code, &reason);

	if (err)
		BUG("%s", ir_check(ir) ? ir_check(ir) : reason);
}

/* line = &slots[cpu], word = what its one slot held. */
static void enter(struct query *query, struct ir *ir, vreg cpu, vreg line, vreg word, vreg row)
{
	const struct state_layout *state = &query->phys.state;
	u32 epochs_bytes = state->n_cpus * sizeof(struct slot_line);
	vreg offset = ir_reg(ir), mark = ir_reg(ir), epoch = ir_reg(ir);
	label got = ir_label(ir);

	ir_map_value(ir, line, LOAD_MAP_SLOTS, 0);
	ir_alui(ir, IR_MUL, offset, cpu, sizeof(struct slot_line));
	ir_alu(ir, IR_ADD, line, line, offset);
	if (!query->takes_no_slot) {
		ir_imm(ir, mark, (s64)SLOT_BUSY);
		ir_atomic(ir, IR_ATOMIC_XCHG, word, line, 0, mark);
		ir_branchi(ir, IR_SGE, word, 0, got);
		ir_imm(ir, mark, 1);
		ir_map_value(ir, line, LOAD_MAP_SLOTS, epochs_bytes + sizeof(struct slot_line));
		ir_atomic(ir, IR_ATOMIC_ADD, 0, line, 0, mark);
		ir_exit(ir, 0);
		ir_place(ir, got);
	}
	ir_map_value(ir, mark, LOAD_MAP_SLOTS, epochs_bytes);
	ir_load(ir, epoch, mark, 0, IR_U64);
	ir_alui(ir, IR_AND, epoch, epoch, 1);
	ir_alui(ir, IR_MUL, offset, epoch, state->n_cpus);
	ir_alu(ir, IR_ADD, offset, offset, cpu);
	ir_alui(ir, IR_MUL, offset, offset, state->slice_bytes);
	ir_map_value(ir, row, load_map_number(&query->phys, LOAD_MAP_STATE),
		     state->rows_bytes_offset);
	ir_alu(ir, IR_ADD, row, row, offset);
}

void query_compile(struct query *query, u32 i)
{
	/* Raw tracepoints: the second argument; the tracepoint's record: after the 8 common bytes.
	 */
	struct ir *ir = ir_new(&query->arena);
	vreg id = ir_reg(ir), cpu = ir_reg(ir), line = ir_reg(ir), slot = ir_reg(ir);
	vreg row = ir_reg(ir), word = ir_reg(ir);
	label out = ir_label(ir), known = ir_label(ir);

	ir_at(ir, (struct span){ 7, 15 });
	if (query->hook[i].path != ACCESS_REPLAY) {
		ir_load(ir, id, ir_context(ir), 8, IR_U64);
		ir_branchi(ir, IR_NE, id, QUERY_SYSCALL, out);
	}
	ir_call(ir, cpu, BPF_FUNC_get_smp_processor_id, 0, NULL);
	ir_branchi(ir, IR_LT, cpu, query->phys.state.n_cpus, known);
	ir_exit(ir, 0);
	ir_place(ir, known);
	enter(query, ir, cpu, line, slot, row);
	for (u32 j = 0; j < QUERY_WORDS; j++) {
		ir_load(ir, word, row, 8 * j, IR_U64);
		ir_alui(ir, IR_ADD, word, word, 1);
		ir_store(ir, row, 8 * j, IR_U64, word);
	}
	if (!query->takes_no_slot)
		ir_atomic(ir, IR_ATOMIC_XCHG, 0, line, 0, slot);
	ir_place(ir, out);
	ir_exit(ir, 0);
	query_compile_ir(query, i, ir);
}

int query_open(struct query *query, u32 n_programs)
{
	query->set.n_hooks = n_programs;
	return load_open(&query->load, &query->set, query->programs, NULL, 0, &query->arena,
			 &query->diags);
}

int query_run(struct query *query, const void *context, u32 context_bytes)
{
	u8 copy[4096]; /* the kernel writes the context back */
	u32 value;

	BUG_ON(context_bytes > sizeof(copy));
	memcpy(copy, context, context_bytes);
	return sys_prog_test_run(query->programs[0].fd, copy, context_bytes, 0, 0, &value);
}

void query_show(struct query *query)
{
	struct buf buf;

	buf_init(&buf);
	diags_print(&query->diags, &buf);
	buf_flush(&buf, STDERR_FILENO, NULL);
	buf_free(&buf);
}

u64 *query_row(struct query *query, u32 copy, u32 cpu)
{
	const struct state_layout *state = &query->phys.state;

	return (u64 *)(query->load.states->state + state_slice_offset(state, copy, cpu, 0) +
		       state->rows_bytes_offset);
}

u64 query_drain(struct query *query, u32 copy, u64 *ret_n_torn)
{
	u64 sum = 0;

	for (u32 cpu = 0; cpu < query->phys.state.n_cpus; cpu++) {
		u64 *row = query_row(query, copy, cpu);

		for (u32 i = 1; i < QUERY_WORDS; i++)
			*ret_n_torn += row[i] != row[0];
		sum += row[0];
		memset(row, 0, 8 * QUERY_WORDS);
	}
	return sum;
}

void query_calls(u64 n)
{
	long number = QUERY_SYSCALL;

	while (n--)
		syscall(number);
}

const struct diag *query_only_diag(struct query *query, const char *tag)
{
	if (query->diags.n_errors != 1 || strcmp(query->diags.list.at[0].tag, tag)) {
		query_show(query);
		fail_msg("expected one diagnostic, %s", tag);
	}
	return &query->diags.list.at[0];
}

void query_contains(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("no \"%s\" in \"%s\"", part, text ? text : "(none)");
}

void query_open_ok(struct query *query, u32 n_programs)
{
	if (query_open(query, n_programs) || query->diags.n_errors) {
		query_show(query);
		fail_msg("not opened");
	}
}

void query_attach_ok(struct query *query)
{
	if (load_attach(&query->load, &query->diags)) {
		query_show(query);
		fail_msg("not attached");
	}
}

void query_stay_on_cpu(cpu_set_t *ret_before)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	assert_int_equal(sched_getaffinity(0, sizeof(*ret_before), ret_before), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
}

void query_idle_event(const struct query *query)
{
	int fd = query->load.programs[0].perf_fd;

	if (fd >= 0)
		assert_int_equal(sys_perf_count(fd), 0);
}
