/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running sums: their keys, and the table in which the sums stand.
 *
 * One slot for all CPUs: the rows of one key come from any of them, and each sees what
 * the sum was made by it.
 */
#include "phys/internal.h"

#define DIRECT_SLOTS_MAX  4096
#define LINE_BYTES	  64
#define RUNNING_VALUE_MAX (4ull << 20) /* see has_large_array_value */
#define RUNNING_BYTES_MAX (1ull << 29) /* BPF_MAX_VAR_OFF: how far the verifier follows */
#define RUNNING_SLOTS_MIN 64
#define SMALL_STEP_MAX	  1024 /* 2^53 of these overflow: 28 years at 10 million a second */
#define SUM_ALIGN	  64

static void plan_keys(struct phys *phys, struct phys_running *r)
{
	u32 words = 0, null_bit = 0;

	r->n_keys = r->plan->n_running_keys;
	r->keys = arena_array(phys->arena, struct phys_key, MAX(r->n_keys, 1u));
	for (u32 i = 0; i < r->n_keys; i++)
		if (r->plan->running_keys[i]->nullable)
			words = 1;
	for (u32 i = 0; i < r->n_keys; i++) {
		struct phys_key *key = &r->keys[i];
		struct expr *e = r->plan->running_keys[i];

		*key = (struct phys_key){ .expr = e, .name = "of running sum", .null_bit = -1 };
		key->is_probe = e->kind == EXPR_SYSTEM && e->index == SYS_PROBE;
		key->first_word = words;
		key->n_words = e->type.kind == TYPE_TEXT && !key->is_probe
				       ? (u32)ALIGN_UP(e->type.bytes, 8) / 8
				       : 1;
		if (e->nullable)
			key->null_bit = (s32)null_bit++;
		words += key->n_words;
	}
	r->key_words = words;
}

/* One key that is never NULL, from a small known range. */
static bool is_direct(const struct phys *phys, const struct phys_running *r, u32 n_cpus,
		      s64 *ret_lo, u32 *ret_n)
{
	const struct phys_key *key = &r->keys[0];
	const struct expr *e;

	*ret_lo = 0;
	*ret_n = 1;
	if (!r->n_keys)
		return true;
	e = key->expr;
	if (r->n_keys != 1 || key->null_bit >= 0 || key->n_words != 1)
		return false;
	if (key->is_probe) {
		*ret_n = phys->n_probes;
	} else if (e->kind == EXPR_SYSTEM && e->index == SYS_CPU) {
		*ret_n = n_cpus;
	} else if (type_is_word(e->type) && e->hi - e->lo < DIRECT_SLOTS_MAX) {
		*ret_lo = (s64)e->lo;
		*ret_n = (u32)(e->hi - e->lo) + 1;
	} else {
		return false;
	}
	return *ret_n <= DIRECT_SLOTS_MAX;
}

static void choose_table(const struct phys *phys, const struct phys_input *input,
			 struct phys_running *r)
{
	const struct expr *x = r->plan->running_arg;

	r->may_overflow = x->lo < -SMALL_STEP_MAX || x->hi > SMALL_STEP_MAX;
	if (is_direct(phys, r, input->n_cpus, &r->domain_lo, &r->n_slots)) {
		r->kind = RUNNING_DIRECT;
		r->slot_bytes = LINE_BYTES;
		r->reason = r->n_keys ? "the key's range is small" : "one sum";
		return;
	}
	r->kind = RUNNING_TABLE;
	r->reason = "keys of any value";
	r->slot_bytes = (u32)ALIGN_UP(RUNNING_KEY_BYTES + 8 * r->key_words, 8);
	if (r->slot_bytes <= LINE_BYTES)
		r->slot_bytes = LINE_BYTES;
	r->n_slots = RUNNING_SLOTS_MIN;
	/* Half of them stay free, so that a key is found within a few steps. */
	while (r->n_slots < 2 * input->settings->max_groups)
		r->n_slots *= 2;
}

bool phys_runnings(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	u64 limit = input->features->has_large_array_value ? RUNNING_BYTES_MAX : RUNNING_VALUE_MAX;

	for (u32 i = 0; i < phys->n_runnings; i++) {
		struct phys_running *r = &phys->runnings[i];
		u64 room = limit / (phys->n_joins + phys->n_runnings);

		plan_keys(phys, r);
		choose_table(phys, input, r);
		while (r->kind == RUNNING_TABLE && r->n_slots > RUNNING_SLOTS_MIN &&
		       (u64)r->n_slots * r->slot_bytes > room)
			r->n_slots /= 2;
		r->offset_bytes = phys->pair_bytes;
		r->slots_bytes =
			r->offset_bytes + (r->kind == RUNNING_TABLE ? RUNNING_HEADER_BYTES : 0);
		r->table_bytes =
			ALIGN_UP(r->slots_bytes - r->offset_bytes + (u64)r->n_slots * r->slot_bytes,
				 SUM_ALIGN);
		phys->pair_bytes += r->table_bytes;
	}
	return true;
}
