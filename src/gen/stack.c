/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The stack of an event -> the number of the slot where it stands (phys/stack.h): taken into the
 * scratch of the CPU's slot, hashed, and found there or written.
 */
#include "gen/internal.h"

#define HASH_MULTIPLIER 0x9e3779b97f4a7c15ll

struct taking {
	u32 depth;    /* a multiple of STACK_AT_ONCE */
	vreg scratch; /* struct stack, zeros behind it */
	vreg tag, slot;
	label none;
};

static vreg scratch_of(struct gen *g)
{
	const struct phys_set *set = g->set;
	u32 of_cpu = set->n_slots * STACK_SCRATCH_BYTES;
	vreg at = gen_element(g, LOAD_MAP_STACKS,
			      STACK_HEAD_BYTES + (u64)g->hook->block * set->n_cpus * of_cpu, g->cpu,
			      of_cpu);

	if (set->n_slots > 1)
		ir_alu(g->ir, IR_ADD, at, at,
		       gen_alui(g, IR_MUL, gen_slot_level(g), STACK_SCRATCH_BYTES));
	return at;
}

/* Whose it is: a stack of a program is one of that process alone. */
static vreg process_of(struct gen *g, const struct expr *e)
{
	struct expr *pid = expr_copy(g->arena, e);
	vreg v = gen_imm(g, 0);
	label unknown = ir_label(g->ir);
	u32 fork = gen_fork(g);

	if (e->index == SYS_KSTACK)
		return v;
	pid->index = SYS_PID;
	pid->type = system_columns[SYS_PID].type;
	ir_mov(g->ir, v, gen_system(g, pid, unknown));
	ir_place(g->ir, unknown);
	gen_join(g, fork);
	return v;
}

/* One that cannot be had has no calls, and is no process'. */
static void take(struct gen *g, const struct expr *e, const struct taking *t)
{
	u32 depth = (u32)e->integer;
	vreg pid = process_of(g, e),
	     args[4] = { ir_reg(g->ir), ir_reg(g->ir), ir_reg(g->ir), ir_reg(g->ir) };
	vreg n = ir_reg(g->ir);
	label is_taken = ir_label(g->ir);
	struct ir *ir = g->ir;

	for (u32 i = depth; i < t->depth; i++)
		ir_storei(ir, t->scratch, (s32)(8 * (STACK_WORDS + i)), IR_U64, 0);
	ir_storei(ir, t->scratch, 0, IR_U64, 0);
	ir_storei(ir, t->scratch, offsetof(struct stack, names), IR_U64, 0);
	ir_mov(ir, args[0], g->context);
	ir_alui(ir, IR_ADD, args[1], t->scratch, offsetof(struct stack, addresses));
	ir_imm(ir, args[2], 8 * depth);
	ir_imm(ir, args[3], e->index == SYS_USTACK ? BPF_F_USER_STACK : g->kind->n_own_frames);
	/* What it does not fill it zeroes, all where it fails. */
	ir_call(ir, n, BPF_FUNC_get_stack, 4, args);
	ir_branchi(ir, IR_SLE, n, 0, is_taken);
	ir_alui(ir, IR_SHR, n, n, 3);
	ir_store(ir, t->scratch, offsetof(struct stack, n), IR_U16, n);
	ir_store(ir, t->scratch, offsetof(struct stack, pid), IR_U32, pid);
	ir_place(ir, is_taken);
}

/* The first word, as it is in the pool: is_whole is said there alone, and last. */
static vreg head_of(struct gen *g, const struct taking *t)
{
	return gen_alui(g, IR_OR, gen_load(g, t->scratch, 0, IR_U64),
			(s64)1 << 8 * offsetof(struct stack, is_whole));
}

/* How many there are, from memory: the verifier would follow up what it knew of it. */
static vreg count_of(struct gen *g, const struct taking *t)
{
	return gen_load(g, t->scratch, offsetof(struct stack, n), IR_U16);
}

/* Ends a loop over the addresses from `at` on, and maybe others beside. */
static void go_on(struct gen *g, const struct taking *t, vreg at, vreg other, vreg i, vreg n,
		  label again)
{
	label end = ir_label(g->ir);

	ir_alui(g->ir, IR_ADD, at, at, 8 * STACK_AT_ONCE);
	if (other)
		ir_alui(g->ir, IR_ADD, other, other, 8 * STACK_AT_ONCE);
	ir_alui(g->ir, IR_ADD, i, i, STACK_AT_ONCE);
	ir_branchi(g->ir, IR_GE, i, t->depth, end);
	ir_branch(g->ir, IR_LT, i, n, again);
	ir_place(g->ir, end);
}

static void hash_word(struct gen *g, vreg h, vreg multiplier, vreg word)
{
	ir_alu(g->ir, IR_XOR, h, h, gen_alui(g, IR_SHR, h, 29));
	ir_alu(g->ir, IR_XOR, h, h, word);
	ir_alu(g->ir, IR_MUL, h, h, multiplier);
}

static void hash(struct gen *g, struct taking *t)
{
	struct ir *ir = g->ir;
	vreg h = gen_imm(g, 0), multiplier = gen_imm(g, HASH_MULTIPLIER), i = gen_imm(g, 0);
	vreg at = ir_reg(ir), n = count_of(g, t);
	label again = ir_label(ir), is_tag = ir_label(ir);

	hash_word(g, h, multiplier, gen_load(g, t->scratch, 0, IR_U64));
	ir_mov(ir, at, t->scratch);
	ir_place(ir, again);
	for (u32 k = 0; k < STACK_AT_ONCE; k++)
		hash_word(g, h, multiplier, gen_load(g, at, 8 * (STACK_WORDS + k), IR_U64));
	go_on(g, t, at, 0, i, n, again);
	t->slot = gen_alui(g, IR_SHR, h, 64 - __builtin_ctz(STACK_SLOTS));
	t->tag = h;
	ir_branchi(ir, IR_NE, h, 0, is_tag);
	ir_imm(ir, h, 1);
	ir_place(ir, is_tag);
}

/* The slot is ours: the stack goes behind those in the pool. */
static void insert(struct gen *g, const struct taking *t, vreg entry, label written)
{
	u32 pool = (u32)stacks_pool_bytes(g->set);
	struct ir *ir = g->ir;
	vreg bytes = count_of(g, t), at = ir_reg(ir), head = ir_reg(ir);
	vreg args[3] = { ir_reg(ir), bytes, t->scratch }, dst, whole;
	label refused = ir_label(ir);

	ir_alui(ir, IR_ADD, bytes, bytes, STACK_AT_ONCE);
	ir_alui(ir, IR_AND, bytes, bytes, -(s64)STACK_AT_ONCE);
	ir_alui(ir, IR_SHL, bytes, bytes, 3);
	ir_alui(ir, IR_ADD, bytes, bytes, 8 * STACK_WORDS);
	ir_map_value(ir, head, LOAD_MAP_STACKS, 0);
	ir_atomic(ir, IR_ATOMIC_FETCH_ADD, at, head, 0, bytes);
	ir_alui(ir, IR_AND, at, at, -8); /* nothing: it shows the verifier that it is aligned */
	ir_branchi(ir, IR_GT, at, STACK_POOL_BYTES - STACK_MOST_BYTES, refused);
	/* Never taken: it shows the verifier how many there are. */
	ir_branchi(ir, IR_GT, bytes, STACK_MOST_BYTES, refused);
	ir_map_value(ir, args[0], LOAD_MAP_STACKS, pool);
	ir_alu(ir, IR_ADD, args[0], args[0], at);
	dst = ir_reg(ir);
	ir_mov(ir, dst, args[0]);
	ir_call(ir, 0, BPF_FUNC_probe_read_kernel, 3, args);
	whole = head_of(g, t);
	ir_atomic(ir, IR_ATOMIC_XCHG, whole, dst, 0, whole);
	ir_alui(ir, IR_ADD, at, at, pool);
	/* The stack is seen by who sees the place: an exchange orders both. */
	ir_atomic(ir, IR_ATOMIC_XCHG, at, entry, 8, at);
	ir_jump(ir, written);
	ir_place(ir, refused);
	ir_storei(ir, entry, 8, IR_U64, STACK_REFUSED);
	ir_jump(ir, t->none);
}

/* The slot has that tag: is it this very stack?  names, the second word, are user space's. */
static void compare(struct gen *g, const struct taking *t, vreg entry, label written)
{
	struct ir *ir = g->ir;
	vreg place = gen_load(g, entry, 8, IR_U64), at = ir_reg(ir), other = ir_reg(ir), differ;
	vreg i = gen_imm(g, 0), n = count_of(g, t);
	label again = ir_label(ir);

	ir_branchi(ir, IR_EQ, place, 0, written);
	ir_branchi(ir, IR_EQ, place, STACK_REFUSED, t->none);
	/* Never taken, as above. */
	ir_branchi(ir, IR_GT, place, stacks_bytes(g->set) - STACK_MOST_BYTES, t->none);
	ir_map_value(ir, other, LOAD_MAP_STACKS, 0);
	ir_alu(ir, IR_ADD, other, other, place);
	ir_mov(ir, at, t->scratch);
	differ = gen_alu(g, IR_XOR, head_of(g, t), gen_load(g, other, 0, IR_U64));
	ir_place(ir, again);
	for (u32 k = 0; k < STACK_AT_ONCE; k++) {
		u32 bytes = 8 * (STACK_WORDS + k);

		ir_alu(ir, IR_OR, differ, differ,
		       gen_alu(g, IR_XOR, gen_load(g, at, bytes, IR_U64),
			       gen_load(g, other, bytes, IR_U64)));
	}
	go_on(g, t, at, other, i, n, again);
	ir_branchi(ir, IR_NE, differ, 0, t->none);
}

vreg gen_stack(struct gen *g, const struct expr *e)
{
	struct ir *ir = g->ir;
	struct taking t = { .depth = (u32)ALIGN_UP((u64)e->integer, STACK_AT_ONCE),
			    .scratch = scratch_of(g),
			    .none = ir_label(ir) };
	stack_object found = ir_stack(ir, 8);
	vreg steps = ir_reg(ir), entry = ir_reg(ir), its = ir_reg(ir), none;
	label look = ir_label(ir), is_free = ir_label(ir), is_its = ir_label(ir);
	label again = ir_label(ir), written = ir_label(ir), end = ir_label(ir);

	ir_note(ir, "%s", e->name);
	take(g, e, &t);
	hash(g, &t);
	ir_imm(ir, steps, STACK_STEPS);
	ir_place(ir, look);
	ir_mov(ir, entry,
	       gen_element(g, LOAD_MAP_STACKS, stacks_slots_bytes(g->set), t.slot,
			   STACK_SLOT_BYTES));
	ir_load(ir, its, entry, 0, IR_U64);
	ir_branchi(ir, IR_EQ, its, 0, is_free);
	ir_branch(ir, IR_EQ, its, t.tag, is_its);
	ir_alui(ir, IR_ADD, t.slot, t.slot, 1);
	ir_alui(ir, IR_AND, t.slot, t.slot, STACK_SLOTS - 1);
	ir_place(ir, again);
	ir_alui(ir, IR_SUB, steps, steps, 1);
	ir_branchi(ir, IR_NE, steps, 0, look);
	ir_jump(ir, t.none);
	ir_place(ir, is_free);
	ir_compare_exchange(ir, its, entry, 0, 0, t.tag);
	/* Another CPU's by now: of this stack perhaps. */
	ir_branchi(ir, IR_NE, its, 0, again);
	insert(g, &t, entry, written);
	ir_place(ir, is_its);
	compare(g, &t, entry, written);
	ir_place(ir, written);
	gen_store_unknown(g, found, gen_alui(g, IR_ADD, t.slot, 1));
	ir_jump(ir, end);
	ir_place(ir, t.none);
	none = gen_imm(g, STACK_NONE);
	gen_store_unknown(g, found, none);
	ir_place(ir, end);
	vec_push(g->arena, &g->memos, (struct memo){ .expr = e, .object = found });
	return gen_stack_load(g, found, 0, IR_U64);
}
