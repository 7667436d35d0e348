/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Group keys and aggregates -> key words, cells, and where the groups live.
 */
#include <string.h>

#include "phys/internal.h"

#define DIRECT_ROWS_MAX 4096
#define KEY_WORDS_MAX	40 /* 320 of the 512 bytes of a program's stack */
#define ARRAY_VALUE_MAX                                                                            \
	(4ull << 20)		     /* KMALLOC_MAX_SIZE, the limit before has_large_array_value   \
				      */
#define STATE_BYTES_MAX (1ull << 29) /* BPF_MAX_VAR_OFF: how far the verifier follows an offset */
#define NARROW_SUM_MAX	((s128)1 << 24) /* 2^39 such values fit 64 bits: a day at 6 million/s */
#define SLICE_ALIGN	128		/* two lines: the adjacent-line prefetcher pairs them */

static bool is_system(const struct expr *e, enum system_column column)
{
	return e->kind == EXPR_SYSTEM && e->index == column;
}

static bool plan_keys(struct phys *phys, const struct plan *agg, struct diags *diags)
{
	u32 words = 0, null_bit = 0;

	phys->n_keys = agg->n_keys;
	phys->keys = arena_array(phys->arena, struct phys_key, agg->n_keys);
	for (u32 i = 0; i < agg->n_keys; i++)
		if (agg->keys[i].expr->nullable)
			words = 1;
	for (u32 i = 0; i < agg->n_keys; i++) {
		struct phys_key *key = &phys->keys[i];
		struct expr *e = agg->keys[i].expr;

		*key = (struct phys_key){ .expr = e, .name = agg->keys[i].name, .null_bit = -1 };
		if (is_system(e, SYS_CPU)) {
			key->is_slice = true;
			continue;
		}
		key->is_probe = is_system(e, SYS_PROBE);
		key->first_word = words;
		key->n_words = e->type.kind == TYPE_TEXT && !key->is_probe
				       ? (u32)ALIGN_UP(e->type.bytes, 8) / 8
				       : 1;
		if (e->nullable)
			key->null_bit = (s32)null_bit++;
		words += key->n_words;
	}
	phys->state.key_words = words;
	if (words <= KEY_WORDS_MAX)
		return true;
	diag_hint(diags,
		  diag_error(diags, "key-too-wide", agg->keys[0].expr->span,
			     "the group keys take %u bytes, more than %u", 8 * words,
			     8 * KEY_WORDS_MAX),
		  "group by fewer or shorter texts");
	return false;
}

static bool same(const struct expr *a, const struct expr *b)
{
	return a && b ? expr_equal(a, b) : a == b;
}

typedef VEC(struct cell) cell_vec;

static s32 cell_add(struct phys *phys, cell_vec *cells, struct cell cell)
{
	for (u32 i = 0; i < cells->n; i++) {
		const struct cell *c = &cells->at[i];

		if (c->kind == cell.kind && same(c->arg, cell.arg) && same(c->filter, cell.filter))
			return (s32)i;
	}
	vec_push(phys->arena, cells, cell);
	return (s32)cells->n - 1;
}

/* Which cells an aggregate needs: one table entry a kind. */
static const struct {
	bool has_value, is_count_needed;
	enum cell_kind value;
} aggregate_cells[AGGREGATE_N] = {
	[AGGREGATE_COUNT] = { false, true, CELL_COUNT },
	[AGGREGATE_SUM] = { true, false, CELL_SUM },
	[AGGREGATE_MIN] = { true, false, CELL_MIN },
	[AGGREGATE_MAX] = { true, false, CELL_MAX },
	[AGGREGATE_AVG] = { true, true, CELL_SUM },
};

static void plan_aggregate(struct phys *phys, cell_vec *cells, const struct aggregate *a,
			   struct phys_aggregate *ret)
{
	bool may_be_empty = phys->n_keys == 0 || a->filter || (a->arg && a->arg->nullable);
	struct cell value = { .kind = aggregate_cells[a->kind].value,
			      .arg = a->arg,
			      .filter = a->filter };

	*ret = (struct phys_aggregate){ a->kind, a->type, -1, -1 };
	if (aggregate_cells[a->kind].is_count_needed || may_be_empty)
		ret->count_cell =
			cell_add(phys, cells,
				 (struct cell){ .kind = CELL_COUNT,
						.arg = a->arg && a->arg->nullable ? a->arg : NULL,
						.filter = a->filter });
	if (!aggregate_cells[a->kind].has_value)
		return;
	value.is_signed = a->arg->type.is_signed && a->arg->lo < 0;
	value.is_wide = value.kind == CELL_SUM &&
			(a->arg->hi > NARROW_SUM_MAX || a->arg->lo < -NARROW_SUM_MAX);
	ret->value_cell = cell_add(phys, cells, value);
}

/* One word key whose range is small and known: its value is the row number. */
static const struct phys_key *direct_key(const struct phys *phys)
{
	const struct phys_key *only = NULL;

	for (u32 i = 0; i < phys->n_keys; i++) {
		const struct phys_key *key = &phys->keys[i];

		if (key->is_slice)
			continue;
		if (only || key->null_bit >= 0 || key->n_words != 1 ||
		    (!key->is_probe && !type_is_word(key->expr->type)))
			return NULL;
		only = key;
	}
	if (!only)
		return NULL;
	if (only->is_probe)
		return phys->n_probes <= DIRECT_ROWS_MAX ? only : NULL;
	return only->expr->hi - only->expr->lo < DIRECT_ROWS_MAX ? only : NULL;
}

static void choose_state(struct phys *phys, const struct phys_input *input)
{
	struct state_layout *s = &phys->state;
	const struct phys_key *key = direct_key(phys);
	enum setting_state setting = input->settings->state;

	s->max_groups = input->settings->max_groups;
	if (phys->is_streaming) {
		s->kind = STATE_NONE;
	} else if (s->key_words == 0) {
		s->kind = STATE_DIRECT;
		s->n_rows = 1;
	} else if (setting == STATE_ONLY_KERNEL_MAP) {
		s->kind = STATE_KERNEL_MAP;
	} else if (key && setting == STATE_AUTO) {
		s->kind = STATE_DIRECT;
		s->domain_lo = key->is_probe ? 0 : (s64)key->expr->lo;
		s->n_rows =
			key->is_probe ? phys->n_probes : (u32)(key->expr->hi - key->expr->lo) + 1;
	} else {
		s->kind = STATE_TABLE;
	}
	if (s->kind == STATE_TABLE)
		s->n_rows = (u32)s->max_groups + 1;
	if (s->kind == STATE_KERNEL_MAP)
		s->n_rows = 1;
}

/*
 * Can two programs of the query be on one CPU at once, one interrupting the
 * other?  Not when there is one that the kernel guards against itself, nor for
 * system calls, which start in task context with preemption off.
 */
static u32 levels(const struct phys *phys, const struct kernel_features *features)
{
	bool only_syscalls = true;

	for (u32 i = 0; i < phys->n_hooks; i++)
		only_syscalls &= phys->hooks[i].path == ACCESS_RAW_SYSCALL ||
				 phys->hooks[i].path == ACCESS_REPLAY;
	if (only_syscalls)
		return 1;
	if (phys->n_hooks == 1 &&
	    (phys->hooks[0].path == ACCESS_TRACEPOINT || features->has_raw_recursion_guard))
		return 1;
	return 4;
}

static void lay_out(struct phys *phys)
{
	struct state_layout *s = &phys->state;
	u32 at = 0;

	if (s->kind == STATE_TABLE)
		at = 8 + 8 * s->key_words;
	s->cells_bytes_offset = at;
	for (u32 i = 0; i < phys->n_cells; i++) {
		phys->cells[i].bytes_offset = at;
		at += phys->cells[i].is_wide ? 16 : 8;
	}
	s->row_bytes = MAX(at, 8u);
	s->index_bytes_offset = 8 * COUNTER_N;
	s->n_index = 0;
	if (s->kind == STATE_TABLE) {
		s->n_index = 16;
		while (s->n_index < 2 * s->max_groups)
			s->n_index *= 2;
	}
	s->rows_bytes_offset = s->index_bytes_offset + 4 * s->n_index;
	s->slice_bytes =
		ALIGN_UP(s->rows_bytes_offset + (u64)s->n_rows * s->row_bytes, SLICE_ALIGN);
	s->total_bytes = s->slice_bytes * s->n_copies * s->n_cpus * s->n_levels;
}

bool phys_state(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	const struct plan *agg = plan_find(input->plan, PLAN_AGGREGATE);
	struct state_layout *s = &phys->state;
	cell_vec cells = { 0 };

	s->n_copies = 2;
	s->n_cpus = input->n_cpus;
	s->n_levels = levels(phys, input->features);
	if (agg) {
		phys->window = agg->window;
		phys->window_ns = agg->window_ns;
		if (!plan_keys(phys, agg, diags))
			return false;
	}
	choose_state(phys, input);
	if (agg) {
		phys->n_aggregates = agg->n_aggregates;
		phys->aggregates =
			arena_array(phys->arena, struct phys_aggregate, agg->n_aggregates);
		for (u32 i = 0; i < agg->n_aggregates; i++)
			plan_aggregate(phys, &cells, &agg->aggregates[i], &phys->aggregates[i]);
		/* DIRECT with groups: a count tells the rows in use; `cpu` alone is such a group.
		 */
		if (s->kind == STATE_DIRECT && phys->n_keys > 0)
			phys->exists_cell =
				cell_add(phys, &cells, (struct cell){ .kind = CELL_COUNT });
	}
	phys->cells = cells.at;
	phys->n_cells = cells.n;
	for (u32 i = 0; i < cells.n; i++)
		if (cells.at[i].kind == CELL_COUNT && !cells.at[i].arg && !cells.at[i].filter)
			phys->matched_cell = (s32)i;
	lay_out(phys);
	bool is_too_large =
		s->total_bytes > STATE_BYTES_MAX ||
		(s->total_bytes > ARRAY_VALUE_MAX && !input->features->has_large_array_value);

	if (is_too_large && s->key_words && input->settings->state == STATE_AUTO) {
		s->kind = STATE_KERNEL_MAP;
		s->n_rows = 1;
		phys->exists_cell = -1;
		lay_out(phys);
	}
	if (s->total_bytes <= STATE_BYTES_MAX)
		return true;
	diag_hint(diags,
		  diag_error(diags, "state-too-large", input->plan->span,
			     "the groups would take %llu MiB",
			     (unsigned long long)s->total_bytes >> 20),
		  "lower max_groups, or SET state = kernel_map");
	return false;
}
