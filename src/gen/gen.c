/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The order of a program: which event is it, take the CPU's slice, count it,
 * test WHERE, then update the group's cells or stream the row, and leave.
 */
#include "gen/internal.h"

/* Offset in x86-64's struct pt_regs: an ABI, the same in every kernel. */
#define PT_REGS_ORIG_AX 120
/* x86-64: in thread_info.status of a task that is in a call of the 32-bit table. */
#define TS_COMPAT 0x0002

/* A table of u16 by number; where it says 0 the call is not wanted.  Its word for this call. */
static vreg number_table(struct gen *g, const u16 *words, vreg number, label out)
{
	u32 n = (u32)syscall_count(), at = gen_constant_table(g, words, n * sizeof(*words));
	vreg word;

	ir_branchi(g->ir, IR_GE, number, n, out);
	word = gen_load(g, gen_table_address(g, at, gen_alui(g, IR_SHL, number, 1)), 0, IR_U16);
	ir_branchi(g->ir, IR_EQ, word, 0, out);
	return word;
}

/* Is it one of this use's calls, and which? */
static void take_number(struct gen *g, vreg number, label out)
{
	const struct hook_use *use = g->use;
	u32 n = (u32)syscall_count();
	u16 *codes;

	if (use->n_streams == 1) {
		ir_branchi(g->ir, IR_NE, number, use->streams[0]->syscall_nr, out);
		return;
	}
	codes = arena_array(g->arena, u16, n);
	for (u32 i = 0; i < use->n_streams; i++) {
		s32 nr = use->streams[i]->syscall_nr;

		if (nr >= 0 && (u32)nr < n)
			codes[nr] = (u16)(use->first_probe + i + 1);
	}
	g->probe = number_table(g, codes, number, out);
	ir_alui(g->ir, IR_SUB, g->probe, g->probe, 1);
	g->number = number;
}

/* Leaves where the call is none that any use of the hook wants. */
static void take_any_number(struct gen *g, vreg number, label out)
{
	const struct hook *hook = g->hook;
	u32 n = (u32)syscall_count();
	u16 *wanted = arena_array(g->arena, u16, n);
	label known = ir_label(g->ir);
	bool is_few = true;

	for (u32 i = 0; i < hook->n_uses; i++) {
		is_few &= hook->uses[i].n_streams == 1;
		for (u32 k = 0; k < hook->uses[i].n_streams; k++) {
			s32 nr = hook->uses[i].streams[k]->syscall_nr;

			if (nr >= 0 && (u32)nr < n)
				wanted[nr] = 1;
		}
	}
	if (!is_few) {
		number_table(g, wanted, number, out);
		return;
	}
	for (u32 nr = 0; nr < n; nr++)
		if (wanted[nr])
			ir_branchi(g->ir, IR_EQ, number, nr, known);
	ir_jump(g->ir, out);
	ir_place(g->ir, known);
}

/*
 * Leaves where the call is one of the 32-bit table, whose numbers are others: of a 32-bit
 * program, or by int $0x80 from any.  As the syscall tracepoints know it
 * (arch_trace_is_compat_syscall()): the saved registers do not tell it.
 */
static void skip_compat(struct gen *g, label out)
{
	u32 offset = g->hook->task_status_offset;
	vreg task, status;

	if (g->hook->is_typed) {
		task = gen_helper(g, BPF_FUNC_get_current_task_btf);
		status = gen_load(g, task, offset, IR_U32);
	} else {
		task = gen_helper(g, BPF_FUNC_get_current_task);
		status = gen_probe_load(g, gen_alui(g, IR_ADD, task, offset), IR_U32);
	}
	ir_branchi(g->ir, IR_TEST, status, TS_COMPAT, out);
}

/* Is this a wanted system call?  Of its number the kernel takes 32 bits, whatever is above. */
static vreg raw_syscall_filter(struct gen *g, void (*take)(struct gen *g, vreg number, label out),
			       label out)
{
	struct ir *ir = g->ir;
	vreg number;

	g->registers = ir_reg(ir);
	if (!g->hook->is_exit) {
		number = gen_load(g, g->context, 8, IR_U32);
		take(g, number, out);
		ir_load(ir, g->registers, g->context, 0, IR_U64);
	} else {
		ir_load(ir, g->registers, g->context, 0, IR_U64);
		number = gen_register(g, PT_REGS_ORIG_AX, IR_U32);
		take(g, number, out);
	}
	skip_compat(g, out);
	return number;
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

/* Does computing e compute the part? */
static bool contains(const struct gen *g, const struct expr *e, const struct expr *part)
{
	/* What a start has stored as a whole is there, and its parts are not. */
	if (gen_stored(g, e))
		return false;
	if (expr_equal(e, part))
		return true;
	/* A branch of a union is computed on its own way. */
	for (u32 i = 0; e->kind != EXPR_UNION && i < e->n_args; i++)
		if (contains(g, e->args[i], part))
			return true;
	return false;
}

/* What the plan computes once is computed ahead of e, where e needs it. */
static void compute_shared(struct gen *g, const struct expr *e)
{
	for (u32 i = 0; i < g->phys->n_shared; i++)
		if (contains(g, e, g->phys->shared[i]))
			gen_value(g, g->phys->shared[i], g->done);
}

/*
 * One event has one time: the clock is read once, before the first expression that
 * uses it, where no join of ways can make it forgotten.
 */
static void read_time_for(void *context, struct expr *e)
{
	struct gen *g = context;
	struct time_use use = { .source = g->source->number };

	expr_each(e, note_time, &use);
	if (use.is_used)
		gen_time(g);
	compute_shared(g, e);
}

static void read_time(struct gen *g)
{
	phys_each_output(g->phys, read_time_for, g);
	for (u32 i = 0; i < g->source->n_columns; i++)
		read_time_for(g, g->source->columns[i].expr);
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
	if (step->running) {
		read_time_for(g, step->running->plan->running.arg);
		for (u32 i = 0; i < step->running->n_keys; i++)
			read_time_for(g, step->running->keys[i].expr);
		return;
	}
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

	g->operator_number = s->first_operator;
	if (s->is_root)
		gen_count(g, COUNTER_EVENTS);
	gen_count_out(g);
	for (u32 i = 0; i < s->n_steps; i++) {
		const struct phys_step *step = &s->steps[i];

		g->operator_number = s->first_operator + 1 + i;
		if (step->join || step->running)
			read_time_for_step(g, step);
		if (step->kind == STEP_FILTER)
			filter(g, step);
		else if (step->kind == STEP_LOOKUP)
			gen_look_up(g, step);
		else if (step->kind == STEP_RUNNING)
			gen_running(g, step);
		else
			gen_store(g, step);
		if (step->kind != STEP_STORE)
			gen_count_out(g);
	}
	if (!s->is_root)
		return;
	g->operator_number = g->phys->n_operators - 1;
	if (g->phys->has_matched && g->phys->matched_cell < 0)
		gen_count(g, COUNTER_MATCHED);
	read_time(g);
	if (g->phys->is_streaming)
		gen_stream(g);
	else
		gen_cells(g, gen_row(g));
}

/* Do events of the hook go to the part's (NULL: any part's) output? */
static bool needs_slice(const struct hook *hook, const struct phys *phys)
{
	for (u32 i = 0; i < hook->n_uses; i++)
		if (hook->uses[i].source->is_root && (!phys || hook->uses[i].phys == phys))
			return true;
	return false;
}

/* Where the part's run is over: an end behind it takes no start, and is none of its events. */
static void leave_if_over(struct gen *g)
{
	u64 bit = 1ull << (SLOT_OVER_SHIFT + g->phys->number % BLOCK_PARTS);

	for (u32 i = 0; i < g->source->n_steps; i++) {
		const struct phys_join *join = g->source->steps[i].join;

		if (!join || join->join != JOIN_PAIR)
			continue;
		ir_branchi(g->ir, IR_TEST, g->word, (s64)bit, g->done);
		return;
	}
}

static void begin_use(struct gen *g, u32 i)
{
	g->use = &g->hook->uses[i];
	g->phys = g->use->phys;
	g->source = g->use->source;
	g->slice = 0;
	g->number = g->probe = 0;
	g->memos.n = g->stored.n = g->slots.n = g->texts.n = 0;
	g->has_scratch = false;
}

/* Several uses of one hook take the event in turn.  It has one time for all. */
static void take_uses(struct gen *g, label out)
{
	bool is_one = g->hook->n_uses == 1;
	vreg number = 0;

	begin_use(g, 0);
	if (g->kind->is_of_calls)
		number = raw_syscall_filter(g, is_one ? take_number : take_any_number, out);
	if (needs_slice(g->hook, NULL)) {
		ir_note(g->ir, "slot of this CPU");
		gen_enter(g, out);
	}
	if (!is_one)
		gen_once_begin(g);
	for (u32 i = 0; i < g->hook->n_uses; i++) {
		g->done = ir_label(g->ir);
		if (!is_one)
			begin_use(g, i);
		if (!is_one && g->kind->is_of_calls)
			take_number(g, number, g->done);
		if (g->line)
			leave_if_over(g);
		if (needs_slice(g->hook, g->phys))
			gen_take_slice(g);
		go_the_way(g);
		ir_place(g->ir, g->done);
	}
	ir_note(g->ir, "leave");
	ir_at(g->ir, (struct span){ 0, 0 });
	if (g->line)
		gen_leave(g);
}

struct ir *gen_program(const struct phys_set *set, const struct hook *hook, struct arena *arena,
		       struct buf *constants)
{
	struct gen gen = { .arena = arena,
			   .set = set,
			   .hook = hook,
			   .kind = &gen_kinds[hook->path],
			   .constants = constants };
	struct gen *g = &gen;
	label out;

	g->ir = ir_new(arena);
	g->context = ir_context(g->ir);
	out = ir_label(g->ir);
	g->busy = ir_label(g->ir);
	ir_note(g->ir, "%s", hook->target);
	take_uses(g, out);
	ir_place(g->ir, out);
	ir_exit(g->ir, 0);
	if (g->line) {
		ir_place(g->ir, g->busy);
		gen_busy(g);
	}
	return g->ir;
}
