/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The order of a program: which event is it, take the CPU's slice, count it,
 * test WHERE, then update the group's cells or stream the row, and leave.
 */
#include "gen/internal.h"

/* Offsets in x86-64's struct pt_regs: an ABI, the same in every kernel. */
#define PT_REGS_ORIG_AX 120
#define PT_REGS_CS	136
#define USER32_CS	0x23

/* Number -> probe code + 1, or 0 for system calls that are not wanted. */
static void many_syscalls(struct gen *g, vreg number, label out)
{
	struct ir *ir = g->ir;
	u32 n = (u32)syscall_count(), at;
	u16 *codes = arena_array(g->arena, u16, n);
	vreg table = ir_reg(ir), offset = ir_reg(ir);

	for (u32 i = 0; i < g->use->n_streams; i++) {
		s32 nr = g->use->streams[i]->syscall_nr;

		if (nr >= 0 && (u32)nr < n)
			codes[nr] = (u16)(g->use->first_probe + i + 1);
	}
	buf_fill(g->constants, 0, (8 - g->constants->n % 8) % 8);
	at = (u32)g->constants->n;
	buf_put(g->constants, codes, n * sizeof(*codes));
	ir_branchi(ir, IR_GE, number, n, out);
	ir_map_value(ir, table, LOAD_MAP_CONST, at);
	ir_alui(ir, IR_SHL, offset, number, 1);
	ir_alu(ir, IR_ADD, table, table, offset);
	g->probe = ir_reg(ir);
	ir_load(ir, g->probe, table, 0, IR_U16);
	ir_branchi(ir, IR_EQ, g->probe, 0, out);
	ir_alui(ir, IR_SUB, g->probe, g->probe, 1);
	g->number = number;
}

/*
 * Is this the wanted system call?  A 32-bit task's calls have numbers of their
 * own; the syscall tracepoints skip them, and so does this path: its code
 * segment is that of 32-bit user code.
 */
static void raw_syscall_filter(struct gen *g, label out)
{
	struct ir *ir = g->ir;
	vreg number = ir_reg(ir), segment = ir_reg(ir);
	stack_object copy;

	g->registers = ir_reg(ir);
	if (!g->hook->is_exit) {
		ir_load(ir, number, g->context, 8, IR_U64);
		if (g->use->n_streams == 1)
			ir_branchi(ir, IR_NE, number, g->use->streams[0]->syscall_nr, out);
		ir_load(ir, g->registers, g->context, 0, IR_U64);
	} else {
		ir_load(ir, g->registers, g->context, 0, IR_U64);
		if (g->hook->is_typed) {
			ir_load(ir, number, g->registers, PT_REGS_ORIG_AX, IR_U64);
		} else {
			vreg address = ir_reg(ir);

			copy = gen_scratch(g);
			ir_alui(ir, IR_ADD, address, g->registers, PT_REGS_ORIG_AX);
			gen_probe_read(g, BPF_FUNC_probe_read_kernel, copy, 8, address);
			ir_stack_load(ir, number, copy, 0, IR_U64);
		}
		if (g->use->n_streams == 1)
			ir_branchi(ir, IR_NE, number, g->use->streams[0]->syscall_nr, out);
	}
	if (g->use->n_streams > 1)
		many_syscalls(g, number, out);
	if (g->hook->is_typed) {
		ir_load(ir, segment, g->registers, PT_REGS_CS, IR_U64);
	} else {
		vreg address = ir_reg(ir);

		copy = gen_scratch(g);
		ir_alui(ir, IR_ADD, address, g->registers, PT_REGS_CS);
		gen_probe_read(g, BPF_FUNC_probe_read_kernel, copy, 8, address);
		ir_stack_load(ir, segment, copy, 0, IR_U64);
	}
	ir_extend(ir, segment, segment, IR_U16);
	ir_branchi(ir, IR_EQ, segment, USER32_CS, out);
}

struct time_use {
	u32 source;
	bool is_used;
};

static void note_time(void *context, struct expr *e)
{
	struct time_use *use = context;

	use->is_used |= e->kind == EXPR_SYSTEM && e->index == SYS_TIME && e->source == use->source;
}

/*
 * One event has one time: the clock is read once, before the first expression that
 * uses it, where no join of ways can make it forgotten.
 */
static void read_time_for(struct gen *g, struct expr *e)
{
	struct time_use use = { .source = g->source->number };

	if (e)
		expr_each(e, note_time, &use);
	if (use.is_used)
		gen_time(g);
}

static void read_time(struct gen *g)
{
	const struct phys *p = g->phys;

	for (u32 i = 0; i < p->n_keys; i++)
		read_time_for(g, p->keys[i].expr);
	for (u32 i = 0; i < p->n_cells; i++) {
		read_time_for(g, p->cells[i].arg);
		read_time_for(g, p->cells[i].filter);
	}
	for (u32 i = 0; i < p->n_columns; i++)
		read_time_for(g, p->columns[i].expr);
}

static void filter(struct gen *g, const struct phys_step *step)
{
	for (u32 i = 0; i < step->n_conjuncts; i++) {
		struct expr *e = step->conjuncts[i];
		label yes = ir_label(g->ir);
		u32 fork;

		read_time_for(g, e);
		fork = gen_fork(g);

		ir_at(g->ir, e->span);
		gen_condition(g, e, yes, g->done, g->done, yes);
		ir_place(g->ir, yes);
		/* Every way to here went through a comparison as a whole, but not through all
		 * sides of an OR. */
		if (e->kind == EXPR_OP && (e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT))
			gen_join(g, fork);
		if (e->kind == EXPR_CASE || e->kind == EXPR_IS_NULL || e->kind == EXPR_UNION)
			gen_join(g, fork);
	}
}

/* Keys and what a start keeps may be computed in branches: their time is read before. */
static void read_time_for_step(struct gen *g, const struct phys_step *step)
{
	for (u32 i = 0; i < step->join->n_keys; i++)
		read_time_for(g, step->keys[i]);
	for (u32 i = 0; step->kind == STEP_STORE && i < step->join->n_columns; i++)
		if (step->join->columns[i].bytes_offset != PAIR_TIME_BYTES)
			read_time_for(g, step->join->columns[i].expr);
}

/* The way of the event, to its store or to the query's output. */
static void go_the_way(struct gen *g)
{
	const struct phys_source *s = g->source;

	if (s->is_root)
		gen_count(g, COUNTER_EVENTS);
	for (u32 i = 0; i < s->n_steps; i++) {
		const struct phys_step *step = &s->steps[i];

		if (step->join)
			read_time_for_step(g, step);
		if (step->kind == STEP_FILTER)
			filter(g, step);
		else if (step->kind == STEP_LOOKUP)
			gen_look_up(g, step);
		else
			gen_store(g, step);
	}
	if (!s->is_root)
		return;
	if (g->phys->has_matched && g->phys->matched_cell < 0)
		gen_count(g, COUNTER_MATCHED);
	read_time(g);
	if (g->phys->is_streaming)
		gen_stream(g);
	else
		gen_cells(g, gen_row(g));
}

static bool needs_slice(const struct hook *hook)
{
	for (u32 i = 0; i < hook->n_uses; i++)
		if (hook->uses[i].source->is_root)
			return true;
	return false;
}

static void leave(struct gen *g)
{
	ir_note(g->ir, "leave");
	ir_at(g->ir, (struct span){ 0, 0 });
	if (!g->slice)
		return;
	if (g->phys->state.n_levels > 1)
		ir_store(g->ir, g->control, offsetof(struct control_line, busy), IR_U64, g->level);
	else
		ir_storei(g->ir, g->control, offsetof(struct control_line, busy), IR_U64, 0);
}

static void begin_use(struct gen *g, u32 i)
{
	g->use = &g->hook->uses[i];
	g->source = g->use->source;
	g->number = g->probe = 0;
	g->memos.n = g->stored.n = 0;
}

/*
 * Several sources at one hook: each takes the event in turn.  It has one time for all.
 */
static void several_uses(struct gen *g, label out)
{
	vreg time = ir_reg(g->ir);
	label end = g->done;

	if (needs_slice(g->hook))
		gen_enter(g, out);
	begin_use(g, 0);
	ir_mov(g->ir, time, gen_time(g));
	for (u32 i = 0; i < g->hook->n_uses; i++) {
		begin_use(g, i);
		gen_know_time(g, time);
		g->done = ir_label(g->ir);
		if (g->hook->path == ACCESS_RAW_SYSCALL)
			raw_syscall_filter(g, g->done);
		go_the_way(g);
		ir_place(g->ir, g->done);
	}
	ir_place(g->ir, end);
	leave(g);
}

static void one_use(struct gen *g, label out)
{
	begin_use(g, 0);
	if (g->hook->path == ACCESS_RAW_SYSCALL)
		raw_syscall_filter(g, out);
	if (needs_slice(g->hook)) {
		ir_note(g->ir, "slice of this CPU");
		gen_enter(g, out);
	}
	go_the_way(g);
	ir_place(g->ir, g->done);
	leave(g);
}

struct ir *gen_program(const struct phys *phys, const struct hook *hook, struct arena *arena,
		       struct buf *constants)
{
	struct gen gen = { .arena = arena, .phys = phys, .hook = hook, .constants = constants };
	struct gen *g = &gen;
	label out;

	g->ir = ir_new(arena);
	g->context = ir_context(g->ir);
	g->done = ir_label(g->ir);
	out = ir_label(g->ir);
	g->busy = ir_label(g->ir);
	ir_note(g->ir, "%s", hook->target);
	if (hook->n_uses == 1)
		one_use(g, out);
	else
		several_uses(g, out);
	ir_place(g->ir, out);
	ir_exit(g->ir, 0);
	if (phys->state.n_levels > 1 && g->slice) {
		ir_place(g->ir, g->busy);
		gen_busy(g);
	}
	return g->ir;
}
