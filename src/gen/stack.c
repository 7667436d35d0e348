/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The stack of an event -> the number of the slot where it stands (phys/stack.h): taken into the
 * scratch of the CPU's slot, hashed, and found in the generation that is used, or written.
 */
#include "gen/internal.h"

#define HASH_MULTIPLIER 0x9e3779b97f4a7c15ll

struct taking {
	u32 depth;    /* a multiple of STACK_AT_ONCE */
	vreg scratch; /* struct stack, zeros behind it */
	vreg generation, tag, slot;
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

#define PUSH_RBP	0x55
#define ENDBR		0xfa1e0ff3u
#define ENDBR_BITS	0xfeffffffu /* of 64 bits and of 32 */
#define RETURN_TO_LEAST 4096 /* _start returns nowhere: the number of arguments stands there */

/*
 * The function has no frame yet, so the walk by frames goes past who called it: the address to
 * return to, or 0 where that cannot be read or the kernel adds it.  0, no register: never so.
 */
static vreg missed_caller(struct gen *g, const struct expr *e)
{
	const struct entry_places *entry = &g->hook->entry;
	struct ir *ir = g->ir;
	label is_there = ir_label(ir);
	vreg caller, at, code;
	stack_object copy;

	if (e->index != SYS_USTACK || !entry->is_entry || !g->set->arch->return_bytes ||
	    e->integer < 2)
		return 0;
	caller = gen_imm(g, 0);
	if (entry->auprobe) {
		at = gen_alui(g, IR_ADD, gen_helper(g, BPF_FUNC_get_current_task), entry->utask);
		at = gen_alui(g, IR_ADD, gen_probe_load(g, at, IR_U64), entry->auprobe);
		code = gen_probe_load(g, gen_probe_load(g, at, IR_U64), IR_U32);
		ir_branchi(ir, IR_EQ, gen_alui(g, IR_AND, code, 0xff), PUSH_RBP, is_there);
		if (entry->has_ibt)
			ir_branchi(ir, IR_EQ, gen_alui(g, IR_AND, code, ENDBR_BITS), ENDBR,
				   is_there);
	}
	copy = gen_scratch(g);
	gen_probe_read(g, BPF_FUNC_probe_read_user, copy, 8,
		       gen_load(g, g->context, g->set->arch->stack, IR_U64));
	ir_stack_load(ir, caller, copy, 0, IR_U64);
	ir_place(ir, is_there);
	return caller;
}

/* One that cannot be had has no calls, and is no process'. */
static void take(struct gen *g, const struct expr *e, const struct taking *t)
{
	u32 depth = (u32)e->integer;
	vreg pid = process_of(g, e),
	     args[4] = { ir_reg(g->ir), ir_reg(g->ir), ir_reg(g->ir), ir_reg(g->ir) };
	vreg n = ir_reg(g->ir), caller = missed_caller(g, e);
	label is_taken = ir_label(g->ir), is_whole = ir_label(g->ir), is_known = ir_label(g->ir);
	struct ir *ir = g->ir;

	for (u32 i = depth; i < t->depth; i++)
		ir_storei(ir, t->scratch, (s32)(8 * (STACK_WORDS + i)), IR_U64, 0);
	ir_storei(ir, t->scratch, 0, IR_U64, 0);
	ir_storei(ir, t->scratch, offsetof(struct stack, names), IR_U64, 0);
	ir_mov(ir, args[0], g->context);
	ir_alui(ir, IR_ADD, args[1], t->scratch, offsetof(struct stack, addresses));
	ir_imm(ir, args[2], 8 * depth);
	if (caller) { /* between the function and what the kernel has behind it */
		ir_storei(ir, t->scratch, offsetof(struct stack, addresses), IR_U64, 0);
		ir_branchi(ir, IR_LT, caller, RETURN_TO_LEAST, is_known);
		ir_alui(ir, IR_ADD, args[1], args[1], 8);
		ir_imm(ir, args[2], 8 * (depth - 1));
		ir_place(ir, is_known);
	}
	ir_imm(ir, args[3], e->index == SYS_USTACK ? BPF_F_USER_STACK : g->kind->n_own_frames);
	/* What it does not fill it zeroes, all where it fails. */
	ir_call(ir, n, BPF_FUNC_get_stack, 4, args);
	ir_branchi(ir, IR_SLE, n, 0, is_taken);
	ir_alui(ir, IR_SHR, n, n, 3);
	if (caller) {
		ir_branchi(ir, IR_LT, caller, RETURN_TO_LEAST, is_whole);
		ir_store(ir, t->scratch, offsetof(struct stack, addresses), IR_U64,
			 gen_load(g, t->scratch, offsetof(struct stack, addresses) + 8, IR_U64));
		ir_store(ir, t->scratch, offsetof(struct stack, addresses) + 8, IR_U64, caller);
		ir_alui(ir, IR_ADD, n, n, 1);
		ir_place(ir, is_whole);
	}
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
	label again = ir_label(ir);

	hash_word(g, h, multiplier, gen_load(g, t->scratch, 0, IR_U64));
	ir_mov(ir, at, t->scratch);
	ir_place(ir, again);
	for (u32 k = 0; k < STACK_AT_ONCE; k++)
		hash_word(g, h, multiplier, gen_load(g, at, 8 * (STACK_WORDS + k), IR_U64));
	go_on(g, t, at, 0, i, n, again);
	t->slot = gen_alui(g, IR_SHR, h, 64 - (u32)__builtin_ctz(stacks_n_slots(g->set)));
	t->tag = h;
	ir_alui(ir, IR_AND, h, h, -(s64)(1u << STACK_PLACE_BITS));
}

/* The generation's pool, or what lies in it at `at`. */
static vreg pool_of(struct gen *g, const struct taking *t, vreg at)
{
	vreg pool = gen_element(g, LOAD_MAP_STACKS, stacks_pools_at(g->set), t->generation,
				stacks_pool_bytes(g->set));

	ir_alu(g->ir, IR_ADD, pool, pool, at);
	return pool;
}

/* Behind those in the pool: what the word of its slot is then. */
static vreg write(struct gen *g, const struct taking *t)
{
	u32 last = (u32)stacks_pool_bytes(g->set) - STACK_MOST_BYTES;
	struct ir *ir = g->ir;
	vreg bytes = count_of(g, t), at = ir_reg(ir), dst = ir_reg(ir), whole;
	vreg head = gen_element(g, LOAD_MAP_STACKS, 0, t->generation, 8);
	vreg args[3] = { ir_reg(ir), bytes, t->scratch };

	ir_alui(ir, IR_ADD, bytes, bytes, STACK_AT_ONCE);
	ir_alui(ir, IR_AND, bytes, bytes, -(s64)STACK_AT_ONCE);
	ir_alui(ir, IR_SHL, bytes, bytes, 3);
	ir_alui(ir, IR_ADD, bytes, bytes, 8 * STACK_WORDS);
	ir_branchi(ir, IR_GT, gen_load(g, head, 0, IR_U64), last, t->none);
	ir_atomic(ir, IR_ATOMIC_FETCH_ADD, at, head, 0, bytes);
	ir_alui(ir, IR_AND, at, at, -8); /* nothing: it shows the verifier that it is aligned */
	ir_branchi(ir, IR_GT, at, last, t->none);
	/* Never taken: it shows the verifier how many there are. */
	ir_branchi(ir, IR_GT, bytes, STACK_MOST_BYTES, t->none);
	ir_mov(ir, dst, pool_of(g, t, at));
	ir_mov(ir, args[0], dst);
	ir_call(ir, 0, BPF_FUNC_probe_read_kernel, 3, args);
	whole = head_of(g, t);
	ir_atomic(ir, IR_ATOMIC_XCHG, whole, dst, 0, whole);
	ir_alui(ir, IR_SHR, at, at, 3);
	ir_alui(ir, IR_ADD, at, at, 1);
	ir_alu(ir, IR_OR, at, at, t->tag);
	return at;
}

/* The slot has that tag: is it this very stack?  names, the second word, are user space's. */
static void compare(struct gen *g, const struct taking *t, vreg its)
{
	struct ir *ir = g->ir;
	vreg place = gen_alui(g, IR_AND, its, (1u << STACK_PLACE_BITS) - 1), at = ir_reg(ir);
	vreg other, differ, i = gen_imm(g, 0), n = count_of(g, t);
	label again = ir_label(ir);

	ir_alui(ir, IR_SUB, place, place, 1);
	ir_alui(ir, IR_SHL, place, place, 3);
	/* Never taken, as above. */
	ir_branchi(ir, IR_GT, place, (u32)stacks_pool_bytes(g->set) - STACK_MOST_BYTES, t->none);
	other = pool_of(g, t, place);
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

/* The slot's number among those of both generations. */
static vreg number_of(struct gen *g, const struct taking *t)
{
	vreg number = gen_alui(g, IR_MUL, t->generation, stacks_n_slots(g->set));

	ir_alu(g->ir, IR_ADD, number, number, t->slot);
	return number;
}

vreg gen_stack(struct gen *g, const struct expr *e)
{
	struct ir *ir = g->ir;
	struct taking t = { .depth = (u32)ALIGN_UP((u64)e->integer, STACK_AT_ONCE),
			    .scratch = scratch_of(g),
			    .none = ir_label(ir) };
	stack_object found = ir_stack(ir, 8);
	vreg steps = ir_reg(ir), entry = ir_reg(ir), its = ir_reg(ir), none;
	vreg differ = ir_reg(ir);
	label look = ir_label(ir), is_free = ir_label(ir), is_its = ir_label(ir);
	label again = ir_label(ir), known = ir_label(ir), end = ir_label(ir);

	ir_note(ir, "%s", e->name);
	take(g, e, &t);
	hash(g, &t);
	t.generation = gen_alui(g, IR_AND, gen_alui(g, IR_SHR, g->word, SLOT_STACKS_SHIFT), 1);
	ir_imm(ir, steps, STACK_STEPS);
	ir_place(ir, look);
	ir_mov(ir, entry,
	       gen_element(g, LOAD_MAP_STACKS, stacks_slots_at(g->set), number_of(g, &t), 8));
	ir_load(ir, its, entry, 0, IR_U64);
	ir_alu(ir, IR_XOR, differ, its, t.tag);
	ir_alui(ir, IR_SHR, differ, differ, STACK_PLACE_BITS);
	ir_branchi(ir, IR_EQ, its, 0, is_free);
	ir_branchi(ir, IR_EQ, differ, 0, is_its);
	ir_alui(ir, IR_ADD, t.slot, t.slot, 1);
	ir_alui(ir, IR_AND, t.slot, t.slot, stacks_n_slots(g->set) - 1);
	ir_place(ir, again);
	ir_alui(ir, IR_SUB, steps, steps, 1);
	ir_branchi(ir, IR_NE, steps, 0, look);
	ir_jump(ir, t.none);
	ir_place(ir, is_free);
	ir_compare_exchange(ir, its, entry, 0, IR_U64, 0, write(g, &t));
	/* Another one's by now: of this stack perhaps. */
	ir_branchi(ir, IR_NE, its, 0, again);
	ir_jump(ir, known);
	ir_place(ir, is_its);
	compare(g, &t, its);
	ir_place(ir, known);
	gen_store_unknown(g, found, gen_alui(g, IR_ADD, number_of(g, &t), 1));
	ir_jump(ir, end);
	ir_place(ir, t.none);
	none = gen_imm(g, STACK_NONE);
	gen_store_unknown(g, found, none);
	ir_place(ir, end);
	vec_push(g->arena, &g->memos, (struct memo){ .expr = e, .object = found });
	return gen_stack_load(g, found, 0, IR_U64);
}
