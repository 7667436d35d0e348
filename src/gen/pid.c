/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * pid, tid and ppid as a PID namespace numbers them: a process has a number in its own namespace
 * and in each one around it, one a level, in the order of struct pid's numbers[].  (The helper
 * bpf_get_ns_current_pid_tgid knows the innermost only: no process of a container within.)
 * And whether a process is below another: parents tell it.
 */
#include "gen/internal.h"

#define LEVELS_MAX	33 /* MAX_PID_NS_LEVEL below the initial one */
#define ANCESTORS_MAX	64 /* parents that are looked at, */
#define PARENTS_AT_ONCE 8  /* so many at a time */

/* Goes up from the innermost, where who asks is most often. */
static vreg number_in(struct gen *g, vreg task, u32 inode, label null)
{
	const struct pid_offsets *o = &g->phys->pids;
	struct ir *ir = g->ir;
	/* NULL of a thread that is gone: what is read through it is 0, which is no namespace. */
	vreg pid = gen_load(g, task, o->thread_pid, IR_U64);
	vreg level = gen_load(g, pid, o->level, IR_U32), steps = gen_imm(g, LEVELS_MAX), at, ns;
	stack_object number = ir_stack(ir, UPID_BYTES);
	label look = ir_label(ir), found = ir_label(ir);

	/* For the verifier, which must know how far from the pointer it is. */
	ir_alui(ir, IR_AND, level, level, 63);
	at = gen_alu(g, IR_ADD, pid, gen_alui(g, IR_MUL, level, UPID_BYTES));
	ir_alui(ir, IR_ADD, at, at, o->numbers);
	ir_place(ir, look);
	gen_probe_read(g, BPF_FUNC_probe_read_kernel, number, UPID_BYTES, at);
	ns = gen_alui(g, IR_ADD, gen_stack_load(g, number, o->ns, IR_U64), o->inum);
	ir_branchi(ir, IR_EQ, gen_probe_load(g, ns, IR_U32), inode, found);
	ir_branchi(ir, IR_EQ, level, 0, null);
	ir_alui(ir, IR_SUB, level, level, 1);
	ir_alui(ir, IR_SUB, at, at, UPID_BYTES);
	ir_alui(ir, IR_SUB, steps, steps, 1);
	ir_branchi(ir, IR_NE, steps, 0, look);
	ir_jump(ir, null);
	ir_place(ir, found);
	return gen_stack_load(g, number, o->nr, IR_U32);
}

static vreg current_task(struct gen *g)
{
	return g->kind->task ? g->kind->task(g)
			     : gen_helper(g, BPF_FUNC_get_current_task_btf); /* 5.11 */
}

vreg gen_pid_in_ns(struct gen *g, const struct expr *e, label null)
{
	const struct pid_offsets *o = &g->phys->pids;
	vreg task = current_task(g);

	if (e->index == SYS_PPID)
		task = gen_load(g, task, o->real_parent, IR_U64);
	if (e->index != SYS_TID)
		task = gen_load(g, task, o->group_leader, IR_U64);
	return number_in(g, task, e->pid_ns, null);
}

/*
 * The parent of a process that dies is replaced by another that is below the same one (an orphan's
 * is who adopts it), so whichever of the two is read leads there; what is read stays until the
 * program has ended (RCU).  The first process of all is its own parent.
 *
 * Each way on is walked by the verifier once more, so there is one only behind several parents.
 * A chain that is longer than what is looked at is a fault.
 */
vreg gen_is_below(struct gen *g, const struct expr *e, label null)
{
	const struct pid_offsets *o = &g->phys->pids;
	struct ir *ir = g->ir;
	vreg task = current_task(g), is_below = gen_imm(g, 0), number;
	label end = ir_label(ir);

	for (u32 i = 1; i <= ANCESTORS_MAX; i++) {
		task = gen_load(g, task, o->real_parent, IR_U64);
		number = gen_load(g, task, o->tgid, IR_U32);
		/* A difference that is 0 is the only one to have the topmost bit behind that. */
		ir_alu(ir, IR_OR, is_below, is_below,
		       gen_alui(g, IR_SHR,
				gen_alui(g, IR_SUB, gen_alui(g, IR_XOR, number, e->integer), 1),
				63));
		if (i % PARENTS_AT_ONCE)
			continue;
		ir_branchi(ir, IR_NE, is_below, 0, end);
		ir_branchi(ir, IR_LE, number, 1, end);
	}
	gen_count_fault(g);
	ir_jump(ir, null);
	ir_place(ir, end);
	return is_below;
}
