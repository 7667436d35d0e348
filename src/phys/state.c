/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Group keys -> key words; keys and cells -> where the groups live, byte by byte.
 */

#include "phys/internal.h"

#define KEY_WORDS_MAX 40  /* 320 of the 512 bytes of a program's stack */
#define SLICE_ALIGN   128 /* two lines: the adjacent-line prefetcher pairs them */

/* Histograms: what state may take when max_groups was left to us, for each CPU (it is all mapped,
 * so it counts as ours) and in all; which lie in the row as a whole; how many chunks a row of the
 * others has in the pool on average. */
#define HISTOGRAM_CPU_BYTES    (6ull << 20)
#define HISTOGRAM_STATE_BYTES  (256ull << 20)
#define DENSE_CELLS_MAX	       72
#define SMALL_CHUNK_CELLS      8
#define LARGE_CHUNK_CELLS      64
#define SMALL_CHUNKS_MAX_CELLS 1024
#define POOL_CHUNKS_PER_ROW    6
#define CHUNK_ALIGN	       64
/* The heads of its buckets alone take 64 MiB. */
#define MAP_ROWS_MAX	  (1ull << 22)
#define SKETCH_GROUPS_MIN 16

/* The panes of a HOPPING window, with so many groups each at least where there are keys. */
#define PANES_BYTES_MAX	 (1ull << 30)
#define PANES_GROUPS_MIN 16

static bool is_root(const struct phys *phys, u32 source)
{
	for (u32 i = 0; i < phys->n_sources; i++)
		if (phys->sources[i].number == source)
			return phys->sources[i].is_root;
	return false;
}

/* The CPU of the event that the group's row is updated by: the one whose slice it is in. */
static bool is_own_cpu(const struct phys *phys, const struct expr *e)
{
	return e->kind == EXPR_SYSTEM && e->index == SYS_CPU && is_root(phys, e->source);
}

u32 phys_key_words(struct phys_key *keys, u32 n)
{
	u32 words = 0, null_bit = 0;

	for (u32 i = 0; i < n; i++)
		if (keys[i].expr->nullable)
			words = 1;
	for (u32 i = 0; i < n; i++) {
		struct phys_key *key = &keys[i];
		const struct expr *e = key->expr;

		key->null_bit = -1;
		if (key->is_slice)
			continue;
		key->is_probe = e->kind == EXPR_SYSTEM && e->index == SYS_PROBE;
		key->first_word = words;
		key->n_words = phys_words(e);
		if (e->nullable)
			key->null_bit = (s32)null_bit++;
		words += key->n_words;
	}
	return words;
}

static bool plan_keys(struct phys *phys, const struct plan *agg, struct diags *diags)
{
	u32 words;

	phys->n_keys = agg->aggregate.n_keys;
	phys->keys = arena_array(phys->arena, struct phys_key, agg->aggregate.n_keys);
	for (u32 i = 0; i < agg->aggregate.n_keys; i++)
		phys->keys[i] = (struct phys_key){ .expr = agg->aggregate.keys[i].expr,
						   .name = agg->aggregate.keys[i].name,
						   .is_slice = is_own_cpu(
							   phys, agg->aggregate.keys[i].expr) };
	words = phys_key_words(phys->keys, phys->n_keys);
	phys->state.key_words = words;
	if (words <= KEY_WORDS_MAX)
		return true;
	return diag_refuse(diags, "key-too-wide", agg->aggregate.keys[0].expr->span,
			   "the group keys take %u bytes, more than %u" HINT
			   "group by fewer or shorter texts",
			   8 * words, 8 * KEY_WORDS_MAX);
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
		return phys->n_probes <= PHYS_DIRECT_MAX ? only : NULL;
	return only->expr->hi - only->expr->lo < PHYS_DIRECT_MAX ? only : NULL;
}

static void set_kind(struct state_layout *s, enum state_kind kind)
{
	s->kind = kind;
	s->n_rows = kind == STATE_TABLE ? (u32)s->max_groups + 1 : 1;
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
		set_kind(s, STATE_DIRECT);
	} else if (setting == STATE_ONLY_KERNEL_MAP) {
		set_kind(s, STATE_KERNEL_MAP);
	} else if (key && setting == STATE_AUTO) {
		s->kind = STATE_DIRECT;
		s->domain_lo = key->is_probe ? 0 : (s64)key->expr->lo;
		s->n_rows =
			key->is_probe ? phys->n_probes : (u32)(key->expr->hi - key->expr->lo) + 1;
	} else {
		set_kind(s, STATE_TABLE);
	}
}

/*
 * A histogram's cells lie in the row when they are few, or the row is the only one;
 * else in chunks, most of which no value ever needs.
 */
static void shape_histogram(const struct state_layout *s, struct cell *c)
{
	bool is_dense =
		c->n_cells <= DENSE_CELLS_MAX || (s->kind == STATE_DIRECT && s->n_rows == 1);

	c->chunk_cells = c->n_chunks = c->unplaced_bytes = 0;
	c->n_bytes = 8 * c->n_cells;
	if (is_dense)
		return;
	c->chunk_cells =
		c->n_cells <= SMALL_CHUNKS_MAX_CELLS ? SMALL_CHUNK_CELLS : LARGE_CHUNK_CELLS;
	c->n_chunks = (c->n_cells + c->chunk_cells - 1) / c->chunk_cells;
	c->unplaced_bytes = ALIGN_UP(4 * c->n_chunks, 8);
	c->n_bytes = c->unplaced_bytes + 8;
}

/* Offsets of the cells in the row, those that are one or two words first; the row's size. */
static u32 lay_out_row(struct phys *phys)
{
	u32 at = phys->state.cells_bytes_offset;

	for (u32 pass = 0; pass < 2; pass++) {
		for (u32 i = 0; i < phys->n_cells; i++) {
			struct cell *c = &phys->cells[i];

			if (cell_ops[c->kind].is_large != (pass == 1))
				continue;
			if (c->kind == CELL_HISTOGRAM)
				shape_histogram(&phys->state, c);
			c->bytes_offset = at;
			at += c->n_bytes;
		}
	}
	return MAX(at, 8u);
}

/* Room for the chunks of one slice: a few for every row, and all of them for one. */
static u64 pool_bytes(const struct phys *phys)
{
	const struct state_layout *s = &phys->state;
	u64 usual = 0, full = 0;

	for (u32 i = 0; i < phys->n_cells; i++) {
		const struct cell *c = &phys->cells[i];

		usual += 8ull * c->chunk_cells * MIN(c->n_chunks, POOL_CHUNKS_PER_ROW);
		full += 8ull * c->chunk_cells * c->n_chunks;
	}
	usual *= s->kind == STATE_KERNEL_MAP ? s->max_groups + 1 : s->n_rows;
	return MAX(usual, full);
}

static u64 all_rows(const struct state_layout *s)
{
	u64 n_slices = (u64)s->n_cpus * s->n_levels;

	switch (s->kind) {
	case STATE_NONE:
		return 0;
	case STATE_DIRECT:
		return s->n_rows * n_slices;
	case STATE_TABLE:
		return s->max_groups * n_slices;
	case STATE_KERNEL_MAP:
		break;
	}
	/* A group met on each level of nesting is rare enough to share that room. */
	return MIN(s->max_groups * s->n_cpus, MAP_ROWS_MAX);
}

/* Sizes beyond 32 bits make total_bytes too large, and are refused by that. */
static void lay_out(struct phys *phys)
{
	struct state_layout *s = &phys->state;
	u64 rows_end, pool;

	s->cells_bytes_offset = s->kind == STATE_TABLE ? 8 + 8 * s->key_words : 0;
	s->row_bytes = lay_out_row(phys);
	s->index_bytes_offset = phys_operator_bytes(1 + s->n_operators);
	s->n_index = 0;
	if (s->kind == STATE_TABLE) {
		s->n_index = 16;
		while (s->n_index < 2 * s->max_groups)
			s->n_index *= 2;
	}
	s->rows_bytes_offset = s->index_bytes_offset + 4 * s->n_index;
	rows_end = s->rows_bytes_offset + (u64)s->n_rows * s->row_bytes;
	pool = pool_bytes(phys);
	s->pool_bytes = (u32)pool;
	s->pool_bytes_offset = pool ? (u32)ALIGN_UP(rows_end, CHUNK_ALIGN) : 0;
	if (pool)
		rows_end = ALIGN_UP(rows_end, CHUNK_ALIGN) + pool;
	s->slice_bytes = ALIGN_UP(rows_end, SLICE_ALIGN);
	s->total_bytes = s->slice_bytes * STATE_COPIES * s->n_cpus * s->n_levels;
	s->all_rows = all_rows(s);
}

static void change_kind(struct phys *phys, enum state_kind kind)
{
	set_kind(&phys->state, kind);
	phys->exists_cell = -1;
	lay_out(phys);
}

/* At the least so many groups, unless there is no room for them at all. */
static u64 groups_min(const struct phys *phys)
{
	for (u32 i = 0; i < phys->n_cells; i++)
		if (phys->cells[i].kind == CELL_HLL || phys->cells[i].kind == CELL_TOP)
			return SKETCH_GROUPS_MIN;
	return 1;
}

static bool has_large_cell(const struct phys *phys)
{
	for (u32 i = 0; i < phys->n_cells; i++)
		if (cell_ops[phys->cells[i].kind].is_large)
			return true;
	return false;
}

/*
 * A histogram or a sketch makes rows large.  Where nobody asked for a number of groups it is
 * the memory that says how many fit.
 */
static void lower_max_groups(struct phys *phys, const struct phys_input *input)
{
	struct state_layout *s = &phys->state;
	u64 most = input->features->has_large_array_value
			   ? MIN(HISTOGRAM_STATE_BYTES, HISTOGRAM_CPU_BYTES * s->n_cpus)
			   : PHYS_VALUE_MAX;

	if (!s->key_words || s->total_bytes <= most || !has_large_cell(phys) ||
	    input->settings->is_max_groups_set)
		return;
	if (s->kind == STATE_DIRECT)
		change_kind(phys, STATE_TABLE);
	if (s->kind == STATE_TABLE && !input->features->has_large_array_value &&
	    input->settings->state == STATE_AUTO)
		change_kind(phys, STATE_KERNEL_MAP);
	while (s->total_bytes > most && s->max_groups > groups_min(phys)) {
		s->max_groups /= 2;
		set_kind(s, s->kind);
		lay_out(phys);
	}
}

/* Says what would help this query, and nothing that is so already. */
static void state_too_large(const struct phys *phys, const struct phys_input *input,
			    struct diags *diags)
{
	const struct state_layout *s = &phys->state;
	const char *hint = "lower max_groups";

	if (!s->key_words)
		hint = "take a scheme with fewer cells, or a smaller k of top_k()";
	else if (has_large_cell(phys))
		hint = "lower max_groups, or take a scheme with fewer cells, fewer registers or a "
		       "smaller k";
	else if (s->kind != STATE_KERNEL_MAP)
		hint = "lower max_groups, or SET state = kernel_map";
	diag_refuse(diags, "state-too-large", input->plan->span,
		    "the groups would take %llu MiB, the limit is %llu MiB" HINT "%s",
		    (unsigned long long)s->total_bytes >> 20, PHYS_OFFSET_MAX >> 20, hint);
}

/* Where panes of few groups have no room; more than these are summed up when it comes to it. */
static bool check_panes(const struct phys *phys, const struct phys_input *input,
			struct diags *diags)
{
	const struct state_layout *s = &phys->state;
	u64 groups = phys->n_keys ? MIN(s->max_groups, PANES_GROUPS_MIN) : 1, bytes;

	if (phys->window != WINDOW_HOPPING)
		return true;
	bytes = hop_n_panes(phys->window_ns, phys->advance_ns) * s->row_bytes * groups;
	if (bytes <= PANES_BYTES_MAX)
		return true;
	return diag_refuse(
		diags, "state-too-large", input->plan->span,
		"the panes of a window would take %llu MiB, the limit is %llu MiB" HINT
		"a longer advance; a smaller k of top_k(), fewer registers, or a scheme with "
		"fewer cells",
		(unsigned long long)bytes >> 20, PANES_BYTES_MAX >> 20);
}

bool phys_state(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	const struct plan *agg = plan_find(input->plan, PLAN_AGGREGATE);
	struct state_layout *s = &phys->state;
	bool is_too_large;

	s->n_cpus = input->n_cpus;
	s->n_levels = phys_levels(phys->set, phys, input->features);
	if (agg) {
		phys->window = agg->aggregate.window;
		phys->window_ns = agg->aggregate.window_ns;
		phys->advance_ns = agg->aggregate.advance_ns;
		if (!plan_keys(phys, agg, diags))
			return false;
	}
	choose_state(phys, input);
	if (agg)
		phys_cells(phys, agg);
	lay_out(phys);
	lower_max_groups(phys, input);
	is_too_large = s->total_bytes > PHYS_OFFSET_MAX ||
		       (s->total_bytes > PHYS_VALUE_MAX && !input->features->has_large_array_value);

	if (is_too_large && s->key_words && input->settings->state == STATE_AUTO)
		change_kind(phys, STATE_KERNEL_MAP);
	if (s->total_bytes <= PHYS_OFFSET_MAX)
		return check_panes(phys, input, diags);
	state_too_large(phys, input, diags);
	return false;
}
