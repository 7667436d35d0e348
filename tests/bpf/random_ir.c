/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random choices -> an IR program that must be accepted and must end: nested
 * conditions, jumps out of them, counted loops, arithmetic on many live values,
 * all kinds of memory access with bounded addresses, and calls.
 */
#include "env.h"

#define MAX_POOL  48
#define MAX_DEPTH 4

struct random {
	struct ir *ir;
	struct source *source;
	const struct random_options *options;
	u32 n_left;	     /* statements */
	u32 n_branches_left; /* each may double what the verifier walks */
	u32 n_loops_left, n_objects_left;
	u32 n_iterations;	 /* product over the loops around here */
	vreg pool[MAX_POOL];	 /* numbers defined on every way to here */
	bool is_fixed[MAX_POOL]; /* a loop's counter: may be read only */
	u32 n_pool;
	vreg base;	    /* the data map's value, kept through the program */
	stack_object words; /* 8 of 8 bytes */
	stack_object key;
	u32 depth;
};

static u32 below(struct random *r, u32 limit)
{
	return source_below(r->source, limit);
}

static vreg any(struct random *r)
{
	return r->pool[below(r, r->n_pool)];
}

/* Where a result goes: mostly a new vreg, to have many alive, else one in use. */
static vreg target(struct random *r)
{
	u32 i = below(r, r->n_pool);

	if (below(r, 3) == 0 && !r->is_fixed[i])
		return r->pool[i];
	return ir_reg(r->ir);
}

static void keep(struct random *r, vreg v)
{
	u32 i;

	for (i = 0; i < r->n_pool; i++)
		if (r->pool[i] == v)
			return;
	if (r->n_pool < MAX_POOL) {
		r->pool[r->n_pool++] = v;
		r->is_fixed[r->n_pool - 1] = false;
		return;
	}
	/* Forgetting an older one of this block would need its scope: forget the new one. */
}

static s64 constant(struct random *r)
{
	static const s64 edges[] = { 0,		1,	   -1,	      2,	 -2,
				     7,		8,	   255,	      256,	 4096,
				     INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, UINT32_MAX,
				     1ll << 31, 1ll << 32, 1ll << 62, -4096,	 63,
				     64,	100,	   1000 };

	switch (below(r, 4)) {
	case 0:
		return (s64)source_u64(r->source);
	case 1:
		return (s8)below(r, 256);
	case 2:
		return (s32)source_u64(r->source);
	}
	return edges[below(r, ARRAY_SIZE(edges))];
}

static void arith(struct random *r)
{
	struct ir *ir = r->ir;
	vreg a = any(r), b = any(r), d = target(r);

	switch (below(r, 8)) {
	case 0:
		ir_imm(ir, d, constant(r));
		break;
	case 1:
		ir_mov(ir, d, a);
		break;
	case 2:
		if (below(r, 2))
			ir_neg(ir, d, a);
		else
			ir_bswap(ir, d, a);
		break;
	case 3:
		if (below(r, 2)) {
			b = ir_reg(ir);
			ir_extend(ir, b, a, below(r, IR_S32 + 1));
			a = b;
		}
		ir_extend(ir, d, a, below(r, IR_S32 + 1));
		break;
	case 4:
	case 5:
		ir_alui(ir, below(r, IR_ALU_N), d, a, constant(r));
		break;
	default:
		ir_alu(ir, below(r, IR_ALU_N), d, a, b);
	}
	keep(r, d);
}

/* An address in the data map from a number: start + (a & mask). */
static vreg address(struct random *r, u32 start, u32 mask)
{
	struct ir *ir = r->ir;
	vreg base = r->base, index = ir_reg(ir), p = ir_reg(ir);

	if (below(r, 3) == 0) {
		base = ir_reg(ir);
		ir_map_value(ir, base, ENV_MAP_DATA, start);
		start = 0;
	}
	if (below(r, 4) == 0) {
		ir_alui(ir, IR_ADD, p, base, start + (below(r, 1024) & mask));
		return p;
	}
	ir_alui(ir, IR_AND, index, any(r), mask);
	ir_alu(ir, IR_ADD, p, base, index);
	if (start == 0)
		return p;
	index = ir_reg(ir);
	ir_alui(ir, IR_ADD, index, p, start);
	return index;
}

static void map_access(struct random *r)
{
	struct ir *ir = r->ir;
	u8 size = below(r, IR_S32 + 1);
	s32 offset = (s32)below(r, 64);
	vreg d;

	switch (below(r, 3)) {
	case 0:
		d = target(r);
		ir_load(ir, d, address(r, 0, 0x3ff), offset, size);
		keep(r, d);
		break;
	case 1:
		ir_store(ir, address(r, 1024, 0x3ff), offset, size, any(r));
		break;
	default:
		ir_storei(ir, address(r, 1024, 0x3ff), offset, size, (s32)constant(r));
	}
}

static void atomic(struct random *r)
{
	struct ir *ir = r->ir;
	enum ir_atomic op = below(r, IR_ATOMIC_XCHG + 1);
	vreg p = address(r, 1024, 0x3f8);
	vreg s = any(r), d = op == IR_ATOMIC_ADD || below(r, 4) == 0 ? 0 : target(r);

	if (d && below(r, 4) == 0)
		d = p; /* the result over the address */

	if (below(r, 4) == 0)
		ir_compare_exchange(ir, d, p, (s32)(8 * below(r, 8)), below(r, 2) ? IR_U64 : IR_U32,
				    (s32)below(r, 2), s);
	else
		ir_atomic(ir, op, d, p, (s32)(8 * below(r, 8)), s);
	if (d)
		keep(r, d);
}

static void stack_access(struct random *r)
{
	struct ir *ir = r->ir;
	u8 size = below(r, IR_S32 + 1);
	u32 bytes = ir_sizes[size].bytes;
	u32 offset = below(r, 64 / bytes) * bytes;
	vreg d, p;

	switch (below(r, 5)) {
	case 0:
		ir_stack_store(ir, r->words, offset, size, any(r));
		break;
	case 1:
		ir_stack_storei(ir, r->words, offset, size, (s32)constant(r));
		break;
	case 2:
		p = ir_reg(ir);
		if (below(r, 2)) {
			vreg start = ir_reg(ir);

			ir_stack_address(ir, start, r->words, 0);
			ir_alui(ir, IR_ADD, p, start, offset & 56);
		} else {
			ir_stack_address(ir, p, r->words, offset & 56);
		}
		ir_store(ir, p, (s32)(offset & 7), size, any(r));
		break;
	case 3:
		p = ir_reg(ir);
		ir_stack_address(ir, p, r->words, offset & 56);
		d = target(r);
		ir_load(ir, d, p, (s32)(offset & 7), size);
		keep(r, d);
		break;
	default:
		d = target(r);
		ir_stack_load(ir, d, r->words, offset, size);
		keep(r, d);
	}
}

static void context(struct random *r)
{
	vreg d = target(r);

	ir_load(r->ir, d, ir_context(r->ir), (s32)(8 * below(r, ENV_CTX_WORDS)), IR_U64);
	keep(r, d);
}

static void block(struct random *r, label escape);

static void lookup(struct random *r)
{
	struct ir *ir = r->ir;
	vreg args[2] = { ir_reg(ir), ir_reg(ir) }, row = ir_reg(ir), d = target(r);
	label missing = ir_label(ir);
	u32 n_pool = r->n_pool;

	ir_stack_store(ir, r->key, 0, IR_U32, any(r));
	ir_map(ir, args[0], ENV_MAP_ROWS);
	ir_stack_address(ir, args[1], r->key, 0);
	ir_call(ir, row, BPF_FUNC_map_lookup_elem, 2, args);
	ir_branchi(ir, IR_EQ, row, 0, missing);
	ir_load(ir, d, row, 8, IR_U64);
	keep(r, d);
	ir_store(ir, row, (s32)(8 * below(r, 2)), IR_U64, any(r));
	if (below(r, 2))
		ir_atomic(ir, IR_ATOMIC_ADD, 0, row, 0, any(r));
	ir_place(ir, missing);
	r->n_pool = n_pool;
}

static void update(struct random *r)
{
	struct ir *ir = r->ir;
	vreg args[4] = { ir_reg(ir), ir_reg(ir), ir_reg(ir), ir_reg(ir) }, d = target(r);

	ir_alui(ir, IR_AND, args[3], any(r), 3);
	ir_map(ir, args[0], ENV_MAP_ROWS);
	ir_stack_storei(ir, r->key, 0, IR_U32, (s32)below(r, ENV_ROWS + 1));
	ir_stack_address(ir, args[1], r->key, 0);
	ir_stack_address(ir, args[2], r->words, 8 * below(r, 6));
	ir_call(ir, d, BPF_FUNC_map_update_elem, 4, args);
	/* The kernel's function returns an int in 6.1 (upper half zero), a long in 6.12. */
	ir_extend(ir, d, d, IR_S32);
	keep(r, d);
}

static void probe_read(struct random *r)
{
	struct ir *ir = r->ir;
	vreg args[3] = { ir_reg(ir), ir_reg(ir), 0 };

	args[2] = address(r, 0, 0x3ff);
	ir_imm(ir, args[1], (s64)(1 + below(r, 32)));
	ir_stack_address(ir, args[0], r->words, 8 * below(r, 4));
	ir_call(ir, 0, BPF_FUNC_probe_read_kernel, 3, args);
}

static void fake_call(struct random *r)
{
	vreg args[5], d = below(r, 4) ? target(r) : 0;

	for (u32 i = 0; i < 5; i++)
		args[i] = any(r);
	ir_call(r->ir, d, ENV_MIX_HELPER, 5, args);
	if (d)
		keep(r, d);
}

static void call(struct random *r)
{
	struct ir *ir = r->ir;
	vreg d;

	switch (below(r, r->options->has_fake_calls ? 10 : 7)) {
	case 0:
		lookup(r);
		return;
	case 1:
		update(r);
		return;
	case 2:
		probe_read(r);
		return;
	case 3:
		d = target(r);
		ir_call(ir, d, BPF_FUNC_ktime_get_ns, 0, NULL);
		ir_alui(ir, IR_AND, d, d, 0);
		break;
	case 4:
		ir_call(ir, 0, BPF_FUNC_ktime_get_ns, 0, NULL);
		return;
	case 5:
		d = target(r);
		ir_call(ir, d, BPF_FUNC_get_smp_processor_id, 0, NULL);
		break;
	case 6:
		d = target(r);
		ir_call(ir, d, BPF_FUNC_get_current_pid_tgid, 0, NULL);
		break;
	default:
		fake_call(r);
		return;
	}
	keep(r, d);
}

static void branch_to(struct random *r, label l)
{
	struct ir *ir = r->ir;
	enum ir_condition condition = below(r, IR_CONDITION_N);
	vreg a = any(r), b = any(r), small = ir_reg(ir), edge = ir_reg(ir);

	switch (below(r, 4)) {
	case 0:
		ir_branch(ir, condition, a, b, l);
		break;
	case 1:
		ir_branchi(ir, condition, a, constant(r), l);
		break;
	default:
		/* Few values, so that both are often equal. */
		ir_alui(ir, IR_AND, small, a, 3);
		ir_imm(ir, edge, below(r, 4));
		if (below(r, 2))
			ir_branch(ir, condition, small, edge, l);
		else
			ir_branch(ir, condition, edge, small, l);
	}
}

static void condition(struct random *r, label escape)
{
	struct ir *ir = r->ir;
	label other = ir_label(ir), end = ir_label(ir);
	u32 n_pool = r->n_pool;

	if (r->n_branches_left < r->n_iterations)
		return;
	r->n_branches_left -= r->n_iterations;
	if (below(r, 6) == 0) {
		branch_to(r, escape);
		return;
	}
	if (below(r, 4) == 0) {
		label then = ir_label(ir);

		branch_to(r, then);
		ir_jump(ir, other);
		ir_place(ir, then);
	} else {
		branch_to(r, other);
	}
	block(r, below(r, 3) ? escape : end);
	r->n_pool = n_pool;
	if (below(r, 2)) {
		if (below(r, 8) == 0)
			ir_exit(ir, (s32)constant(r));
		else
			ir_jump(ir, end);
		ir_place(ir, other);
		block(r, escape);
		r->n_pool = n_pool;
	} else {
		ir_place(ir, other);
	}
	ir_place(ir, end);
}

static void loop(struct random *r)
{
	struct ir *ir = r->ir;
	vreg i = ir_reg(ir);
	label top = ir_label(ir), end = ir_label(ir);
	u32 n = 1 + below(r, 4), n_inside = 1 + below(r, 10);
	u32 n_pool = r->n_pool, n_left = r->n_left;

	if (r->n_loops_left == 0 || r->n_pool == MAX_POOL)
		return;
	r->n_loops_left--;
	r->n_iterations *= n;
	r->n_left = MIN(n_left, n_inside);
	n_left -= r->n_left;
	ir_imm(ir, i, 0);
	ir_place(ir, top);
	keep(r, i);
	r->is_fixed[r->n_pool - 1] = true;
	block(r, end);
	r->n_pool = n_pool;
	ir_alui(ir, IR_ADD, i, i, 1);
	ir_branchi(ir, IR_LT, i, n, top);
	ir_place(ir, end);
	r->n_iterations /= n;
	r->n_left += n_left;
}

/* An object of its own for some statements, read behind them: others come and go meanwhile. */
static void own_object(struct random *r, label escape)
{
	struct ir *ir = r->ir;
	u32 n_words = 1 + below(r, 5), at = 8 * below(r, n_words), n_pool = r->n_pool;
	stack_object object = ir_stack(ir, 8 * n_words);
	bool by_address = below(r, 2);
	vreg p = ir_reg(ir), d;

	for (u32 i = 0; i < n_words; i++)
		ir_stack_store(ir, object, 8 * i, IR_U64, any(r));
	ir_stack_address(ir, p, object, 0);
	if (below(r, 2)) {
		vreg offset = ir_reg(ir);

		/* The verifier knows it, the allocator does not. */
		ir_imm(ir, offset, (s32)at);
		ir_alu(ir, IR_ADD, p, p, offset);
	} else {
		ir_alui(ir, IR_ADD, p, p, (s32)at);
	}
	block(r, escape);
	r->n_pool = n_pool;
	d = target(r);
	if (by_address)
		ir_load(ir, d, p, 0, IR_U64);
	else
		ir_stack_load(ir, d, object, at, IR_U64);
	keep(r, d);
}

static void statement(struct random *r, label escape)
{
	u32 at = below(r, 1000);

	ir_at(r->ir, (struct span){ at, at + 1 + below(r, 9) });
	ir_cold(r->ir, below(r, 6) == 0);
	switch (below(r, 20)) {
	case 0:
	case 1:
		call(r);
		break;
	case 2:
	case 3:
		if (r->depth < MAX_DEPTH)
			condition(r, escape);
		break;
	case 4:
		if (r->depth < MAX_DEPTH)
			loop(r);
		break;
	case 5:
		atomic(r);
		break;
	case 12:
		if (r->depth < MAX_DEPTH && r->n_objects_left) {
			r->n_objects_left--;
			own_object(r, escape);
		}
		break;
	case 6:
	case 7:
		stack_access(r);
		break;
	case 8:
	case 9:
	case 10:
		map_access(r);
		break;
	case 11:
		context(r);
		break;
	default:
		arith(r);
	}
}

/* Statements until the random end; new vregs are known only inside. */
static void block(struct random *r, label escape)
{
	u32 n_pool = r->n_pool;
	u32 n = 1 + below(r, 12);

	r->depth++;
	for (u32 i = 0; i < n && r->n_left > 0; i++) {
		r->n_left--;
		statement(r, escape);
	}
	r->depth--;
	r->n_pool = n_pool;
}

void random_ir(struct ir *ir, struct source *source, const struct random_options *options)
{
	struct random r = { .ir = ir,
			    .source = source,
			    .options = options,
			    .n_left = options->n_statements,
			    .n_branches_left = 14,
			    .n_loops_left = 3,
			    .n_objects_left = 12,
			    .n_iterations = 1 };
	label escape = ir_label(ir);
	u32 n_first = 1 + below(&r, below(&r, 2) ? 20 : 4), n_pool, n_kept;

	r.words = ir_stack(ir, 64);
	r.key = ir_stack(ir, 4);
	for (u32 i = 0; i < 8; i++)
		ir_stack_storei(ir, r.words, 8 * i, IR_U64, (s32)constant(&r));
	r.base = ir_reg(ir);
	ir_map_value(ir, r.base, ENV_MAP_DATA, 0);
	for (u32 i = 0; i < n_first; i++) {
		vreg v = ir_reg(ir);

		ir_load(ir, v, r.base, (s32)(8 * below(&r, 128)), IR_U64);
		keep(&r, v);
	}
	n_pool = r.n_pool;
	while (r.n_left > 0 && !(source->bytes && source->at == source->n)) {
		r.n_left--;
		statement(&r, escape);
	}
	/* What is not read at the end leaves its register earlier. */
	n_kept = below(&r, 2) ? r.n_pool : below(&r, r.n_pool);
	for (u32 i = 0; i < n_kept; i++)
		ir_store(ir, r.base, (s32)(ENV_OUT + 8 * i), IR_U64, r.pool[i]);
	ir_place(ir, escape);
	n_kept = MIN(n_kept, n_pool);
	for (u32 i = 0; i < n_kept; i++)
		ir_store(ir, r.base, (s32)(ENV_OUT + 1024 + 8 * i), IR_U64, r.pool[i]);
	ir_exit(ir, (s32)constant(&r));
}
