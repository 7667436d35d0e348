/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * pid, tid and ppid as a PID namespace numbers them: a process has a number in its own namespace
 * and in each one around it, one a level, in the order of struct pid's numbers[].  (The helper
 * bpf_get_ns_current_pid_tgid knows the innermost only: no process of a container within.)
 */
#include "gen/internal.h"

#define LEVELS_MAX 33 /* MAX_PID_NS_LEVEL below the initial one */

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

vreg gen_pid_in_ns(struct gen *g, const struct expr *e, label null)
{
	const struct pid_offsets *o = &g->phys->pids;
	vreg task = g->kind->task ? g->kind->task(g)
				  : gen_helper(g, BPF_FUNC_get_current_task_btf); /* 5.11 */

	if (e->index == SYS_PPID)
		task = gen_load(g, task, o->real_parent, IR_U64);
	if (e->index != SYS_TID)
		task = gen_load(g, task, o->group_leader, IR_U64);
	return number_in(g, task, e->pid_ns, null);
}
