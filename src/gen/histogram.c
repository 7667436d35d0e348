/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A value -> one more in its histogram's cell.  The number of the cell is computed as
 * type/scheme.h says, by tables in LOAD_MAP_CONST instead of branches; the cell lies
 * in the row, or in a chunk of the slice's pool that is taken when the first value
 * needs it.
 */
#include "gen/internal.h"

/* --- Logarithmic schemes --- */

/* floor(log2(v | 2^b)) - b, for v <= hi. */
static vreg shift_of(struct gen *g, vreg v, u64 hi, u32 b)
{
	struct ir *ir = g->ir;
	vreg bits;
	u8 table[64];

	for (u32 i = 0; i < 64; i++)
		table[i] = scheme_log2_table[i] > b ? scheme_log2_table[i] - b : 0;
	bits = gen_alui(g, IR_OR, v, 1ll << b);
	for (u32 by = 1; by < 64 && (hi | 1ull << b) >> by; by *= 2)
		ir_alu(ir, IR_OR, bits, bits, gen_alui(g, IR_SHR, bits, by));
	ir_alui(ir, IR_MUL, bits, bits, (s64)SCHEME_LOG2_MULTIPLIER);
	ir_alui(ir, IR_SHR, bits, bits, 58);
	return gen_load(g, gen_table_address(g, gen_constant_table(g, table, sizeof(table)), bits),
			0, IR_U8);
}

static vreg log_linear(struct gen *g, vreg v, u64 hi, u32 b)
{
	vreg shift, cell;

	if (hi >> b <= 1)
		return v; /* the linear cells of the start, each one wide */
	shift = shift_of(g, v, hi, b);
	cell = gen_alu(g, IR_SHR, v, shift);
	ir_alu(g->ir, IR_ADD, cell, cell, gen_alui(g, IR_SHL, shift, b));
	return cell;
}

struct exponential_entry {
	u64 threshold;
	u64 base;
};

/*
 * Where no threshold lies in a cell of the loglinear scheme its last integer stands in:
 * so value and threshold are always of one such cell, less than 2^63 apart, and the
 * sign of their difference is the comparison, for unsigned values too.
 */
static u32 exponential_table(struct gen *g, u32 s, u32 *ret_n)
{
	const struct scheme cells = { .kind = SCHEME_LOGLINEAR, .digits = s + 1 };
	struct scheme_exponential tables;
	struct exponential_entry *entries;

	scheme_exponential_tables(s, g->arena, &tables);
	entries = arena_array(g->arena, struct exponential_entry, tables.n);
	for (u32 i = 0; i < tables.n; i++) {
		struct scheme_edges edges;

		scheme_edges(&cells, i, &edges);
		entries[i].base = tables.base[i];
		entries[i].threshold = (u64)MIN((s128)tables.threshold[i], edges.hi - 1);
	}
	*ret_n = tables.n;
	return gen_constant_table(g, entries, tables.n * sizeof(*entries));
}

static vreg exponential(struct gen *g, vreg v, u64 hi, u32 s, label end)
{
	struct ir *ir = g->ir;
	u32 n, table = exponential_table(g, s, &n);
	vreg cell = ir_reg(ir), above, at;

	ir_mov(ir, cell, log_linear(g, v, hi, s + 1));
	/* Never taken: it shows the verifier that the entry lies in the table. */
	ir_branchi(ir, IR_GE, cell, n, end);
	at = gen_table_address(g, table, gen_alui(g, IR_SHL, cell, 4));
	above = gen_load(g, at, offsetof(struct exponential_entry, threshold), IR_U64);
	ir_load(ir, cell, at, offsetof(struct exponential_entry, base), IR_U64);
	ir_alu(ir, IR_SUB, above, above, v);
	ir_alu(ir, IR_ADD, cell, cell, gen_alui(g, IR_SHR, above, 63));
	return cell;
}

/* --- Schemes with a lowest and a highest edge --- */

/* offset / step for 0 <= offset < span: a multiplication where one is exact. */
static vreg divide(struct gen *g, vreg offset, u64 step, u64 span)
{
	for (u32 k = 1; k < 64 && (step & (step - 1)); k++) {
		u128 m = (((u128)1 << k) + step - 1) / step;
		u128 excess = m * step - ((u128)1 << k);

		/* offset * m / 2^k is above offset / step by less than 1 / step. */
		if (m * (span - 1) > UINT64_MAX)
			break;
		if (excess * (span - 1) >> k)
			continue;
		return gen_alui(g, IR_SHR, gen_alui(g, IR_MUL, offset, (s64)m), k);
	}
	return gen_alui(g, IR_DIV, offset, (s64)step);
}

/* 1 where a < b, unsigned, else 0: the borrow of a - b. */
static vreg is_less(struct gen *g, vreg a, vreg b, bool is_near)
{
	struct ir *ir = g->ir;
	vreg d = gen_alu(g, IR_SUB, a, b), either, both;

	if (!is_near) { /* they may be 2^63 and more apart */
		either = gen_alui(g, IR_XOR, a, -1);
		both = gen_alu(g, IR_AND, either, b);
		ir_alu(ir, IR_OR, either, either, b);
		ir_alu(ir, IR_AND, d, d, either);
		ir_alu(ir, IR_OR, d, d, both);
	}
	ir_alui(ir, IR_SHR, d, d, 63);
	return d;
}

/*
 * How many of the bounds behind the first are at most offset + bounds[0]: a binary
 * search in a table of 2^k - 1, whose every step adds half of what is left or nothing.
 * Entries hold the bound - 1, so that "less" is the question; the padding is never less.
 */
static vreg search(struct gen *g, const struct scheme *scheme, vreg offset, u64 span)
{
	struct ir *ir = g->ir;
	u32 n_inside = scheme->n_bounds - 2, n = 1, table;
	vreg found = gen_imm(g, 0), at = ir_reg(ir);
	u64 *entries;

	while (n - 1 < n_inside)
		n *= 2;
	entries = arena_array(g->arena, u64, n);
	for (u32 i = 0; i < n; i++)
		entries[i] = (i < n_inside ? (u64)scheme->bounds[i + 1] - (u64)scheme->bounds[0]
					   : span) -
			     1;
	table = gen_constant_table(g, entries, n * sizeof(*entries));
	ir_map_value(ir, at, LOAD_MAP_CONST, table);
	for (u32 step = n / 2; step > 0; step /= 2) {
		vreg entry = gen_load(g, at, 8 * (step - 1), IR_U64);
		vreg more = gen_alui(g, IR_SHL, is_less(g, entry, offset, span <= 1ull << 63),
				     __builtin_ctz(step) + 3);

		ir_alu(ir, IR_ADD, at, at, more);
		ir_alu(ir, IR_ADD, found, found, more);
	}
	ir_alui(ir, IR_SHR, found, found, 3);
	return found;
}

/*
 * Below the first edge: cell 0; from the last one on: the last cell.  A value is
 * unsigned when it can be 2^63 and more, and then it is never negative.
 */
static vreg between_edges(struct gen *g, const struct cell *c, vreg v)
{
	const struct scheme *scheme = c->scheme;
	bool is_unsigned = c->arg->hi > INT64_MAX;
	struct scheme_edges first, last;
	label known = ir_label(g->ir);
	vreg cell = ir_reg(g->ir), offset = ir_reg(g->ir);
	s128 low, above;

	scheme_edges(scheme, 0, &first);
	scheme_edges(scheme, c->n_cells - 1, &last);
	low = first.hi;
	above = last.lo;
	if (c->arg->lo < low) {
		ir_imm(g->ir, cell, 0);
		if (c->arg->hi < low)
			return cell;
		ir_branchi(g->ir, is_unsigned ? IR_LT : IR_SLT, v, (s64)low, known);
	}
	if (c->arg->hi >= above) {
		ir_imm(g->ir, cell, c->n_cells - 1);
		if (c->arg->lo >= above || low == above) {
			ir_place(g->ir, known);
			return cell;
		}
		ir_branchi(g->ir, is_unsigned ? IR_GE : IR_SGE, v, (s64)above, known);
	}
	ir_alui(g->ir, IR_SUB, offset, v, (s64)low);
	if (scheme->kind == SCHEME_LINEAR)
		ir_mov(g->ir, cell, divide(g, offset, (u64)scheme->step, (u64)(above - low)));
	else
		ir_mov(g->ir, cell, search(g, scheme, offset, (u64)(above - low)));
	ir_alui(g->ir, IR_ADD, cell, cell, 1);
	ir_place(g->ir, known);
	return cell;
}

/* --- The cell --- */

static vreg cell_number(struct gen *g, const struct cell *c, vreg v, label end)
{
	u64 hi = (u64)c->arg->hi;
	vreg cell;

	switch (c->scheme->kind) {
	case SCHEME_LOG2:
	case SCHEME_LOGLINEAR:
		cell = ir_reg(g->ir);
		ir_mov(g->ir, cell, log_linear(g, v, hi, scheme_digits(c->scheme)));
		return cell;
	case SCHEME_EXPONENTIAL:
		return exponential(g, v, hi, c->scheme->digits, end);
	case SCHEME_LINEAR:
	case SCHEME_BOUNDS:
		return between_edges(g, c, v);
	case SCHEME_N:
		break;
	}
	BUG("scheme %d", c->scheme->kind);
}

/* The next free bytes of the slice's pool, noted at `entry`; a pool in full use counts. */
static void take_chunk(struct gen *g, const struct cell *c, vreg row, vreg entry, vreg chunk,
		       label end)
{
	const struct state_layout *s = &g->phys->state;
	const u32 bytes = 8 * c->chunk_cells;
	struct ir *ir = g->ir;
	vreg used = gen_load(g, g->slice, 8 * COUNTER_POOL, IR_U64);
	label full = ir_label(ir), taken = ir_label(ir);

	ir_branchi(ir, IR_GT, used, (s64)s->pool_bytes - bytes, full);
	ir_alui(ir, IR_ADD, chunk, used, s->pool_bytes_offset);
	ir_store(ir, entry, (s32)c->bytes_offset, IR_U32, chunk);
	ir_alui(ir, IR_ADD, used, used, bytes);
	ir_store(ir, g->slice, 8 * COUNTER_POOL, IR_U64, used);
	ir_jump(ir, taken);
	ir_place(ir, full);
	gen_add_one(g, row, c->bytes_offset + c->unplaced_bytes);
	gen_count(g, COUNTER_UNPLACED);
	ir_jump(ir, end);
	ir_place(ir, taken);
}

static void update_chunked(struct gen *g, const struct cell *c, vreg row, vreg cell, label end)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	vreg entry = gen_alui(g, IR_SHR, cell, (u32)__builtin_ctz(c->chunk_cells));
	vreg chunk = ir_reg(ir), at;
	label have = ir_label(ir);

	ir_alui(ir, IR_SHL, entry, entry, 2);
	ir_alu(ir, IR_ADD, entry, entry, row);
	ir_load(ir, chunk, entry, (s32)c->bytes_offset, IR_U32);
	ir_branchi(ir, IR_NE, chunk, 0, have);
	take_chunk(g, c, row, entry, chunk, end);
	ir_place(ir, have);
	/* Never taken: it shows the verifier that the chunk lies in the slice. */
	ir_branchi(ir, IR_GT, chunk, (s64)s->pool_bytes_offset + s->pool_bytes - 8 * c->chunk_cells,
		   end);
	at = gen_alui(g, IR_SHL, gen_alui(g, IR_AND, cell, c->chunk_cells - 1), 3);
	ir_alu(ir, IR_ADD, at, at, g->slice);
	ir_alu(ir, IR_ADD, at, at, chunk);
	gen_add_one(g, at, 0);
}

void gen_histogram(struct gen *g, const struct cell *c, vreg row, vreg v)
{
	label end = ir_label(g->ir);
	vreg cell = cell_number(g, c, v, end);

	/* Never taken: it shows the verifier that the cell lies in the row. */
	ir_branchi(g->ir, IR_GE, cell, c->n_cells, end);
	if (c->chunk_cells) {
		update_chunked(g, c, row, cell, end);
	} else {
		vreg at = gen_alui(g, IR_SHL, cell, 3);

		ir_alu(g->ir, IR_ADD, at, at, row);
		gen_add_one(g, at, c->bytes_offset);
	}
	ir_place(g->ir, end);
}
