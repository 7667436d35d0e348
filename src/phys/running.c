/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running sums: their keys, and the table in which the sums stand.
 *
 * One slot for all CPUs: the rows of one key come from any of them, and each sees what
 * the sum was made by it.
 */
#include "phys/internal.h"

#define LINE_BYTES	  64
#define RUNNING_SLOTS_MIN 64
#define SMALL_STEP_MAX	  1024 /* 2^53 of these overflow: 28 years at 10 million a second */
#define SUM_ALIGN	  64
/*
 * Look-ups in tables, each a loop of RUNNING_STEPS, that the verifier of 6.18 was seen to
 * walk: on one event's way, and in all ways of one program.  It refuses 32 (EFAULT).
 */
#define WAY_TABLES_MAX	   16
#define PROGRAM_TABLES_MAX 24

static void plan_keys(struct phys *phys, struct phys_running *r)
{
	r->n_keys = r->plan->running.n_keys;
	r->keys = arena_array(phys->arena, struct phys_key, MAX(r->n_keys, 1u));
	for (u32 i = 0; i < r->n_keys; i++)
		r->keys[i] = (struct phys_key){ .expr = r->plan->running.keys[i],
						.name = "of running sum" };
	r->key_words = phys_key_words(r->keys, r->n_keys);
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
	} else if (type_is_word(e->type) && e->hi - e->lo < PHYS_DIRECT_MAX) {
		*ret_lo = (s64)e->lo;
		*ret_n = (u32)(e->hi - e->lo) + 1;
	} else {
		return false;
	}
	return *ret_n <= PHYS_DIRECT_MAX;
}

static void choose_table(const struct phys *phys, const struct phys_input *input,
			 struct phys_running *r)
{
	u32 bytes = RUNNING_KEY_BYTES + 8 * r->key_words + RUNNING_SUM_WORDS * 8 * r->n_followers;

	if (is_direct(phys, r, input->n_cpus, &r->domain_lo, &r->n_slots)) {
		r->kind = RUNNING_DIRECT;
		r->slot_bytes = (u32)ALIGN_UP(bytes, LINE_BYTES);
		r->reason = r->n_keys ? "the key's range is small" : "one sum";
		return;
	}
	r->kind = RUNNING_TABLE;
	r->reason = "keys of any value";
	r->slot_bytes = MAX(bytes, LINE_BYTES);
	r->n_slots = RUNNING_SLOTS_MIN;
	/* Half of them stay free, so that a key is found within a few steps. */
	while (r->n_slots < 2 * input->settings->max_groups)
		r->n_slots *= 2;
}

static bool same_keys(const struct plan *a, const struct plan *b)
{
	if (a->running.n_keys != b->running.n_keys)
		return false;
	for (u32 i = 0; i < a->running.n_keys; i++)
		if (!expr_equal(a->running.keys[i], b->running.keys[i]))
			return false;
	return true;
}

/* The first sum with its keys that each of its rows has come by. */
static struct phys_running *leader_of(struct phys *phys, const struct phys_running *r)
{
	const struct plan *first = NULL;

	for (const struct plan *p = r->plan->input;
	     p && (p->kind == PLAN_RUNNING || p->kind == PLAN_FILTER); p = p->input)
		if (p->kind == PLAN_RUNNING && same_keys(p, r->plan))
			first = p;
	for (u32 i = 0; i < phys->n_runnings; i++)
		if (phys->runnings[i].plan == first)
			return &phys->runnings[i];
	return NULL;
}

static void find_leaders(struct phys *phys)
{
	for (u32 i = 0; i < phys->n_runnings; i++) {
		struct phys_running *r = &phys->runnings[i], *leader = leader_of(phys, r);
		const struct expr *x = r->plan->running.arg;

		r->may_overflow = x->lo < -SMALL_STEP_MAX || x->hi > SMALL_STEP_MAX;
		r->leader = leader;
		/* For now its number among them. */
		if (leader)
			r->sum_bytes = leader->n_followers++;
	}
}

static void follow(struct phys_running *r)
{
	struct phys_running own = *r;

	*r = *own.leader;
	r->number = own.number;
	r->plan = own.plan;
	r->leader = own.leader;
	r->n_followers = 0;
	r->may_overflow = own.may_overflow;
	r->sum_bytes = RUNNING_KEY_BYTES + 8 * r->key_words + RUNNING_SUM_WORDS * 8 * own.sum_bytes;
}

static void place_table(struct phys *phys, const struct phys_input *input, struct phys_running *r,
			u64 room)
{
	plan_keys(phys, r);
	choose_table(phys, input, r);
	while (r->kind == RUNNING_TABLE && r->n_slots > RUNNING_SLOTS_MIN &&
	       (u64)r->n_slots * r->slot_bytes > room)
		r->n_slots /= 2;
	r->offset_bytes = phys->pair_bytes;
	r->slots_bytes = r->offset_bytes + RUNNING_HEADER_BYTES;
	r->table_bytes = ALIGN_UP(
		r->slots_bytes - r->offset_bytes + (u64)r->n_slots * r->slot_bytes, SUM_ALIGN);
	phys->pair_bytes += r->table_bytes;
}

static bool too_many(const struct phys_running *r, u32 limit, const char *where,
		     struct diags *diags)
{
	return diag_refuse(
		diags, "too-many-sums", r->plan->span,
		"more than %u running sums with keys of their own %s" HINT
		"sums with the same PARTITION BY count as one; SET pushdown = off has no limit",
		limit, where);
}

static bool check_way(const struct phys_source *source, u32 *n_of_program, struct diags *diags)
{
	u32 n = 0;

	for (u32 i = 0; i < source->n_steps; i++) {
		const struct phys_running *r = source->steps[i].running;

		if (!r || r->leader || r->kind != RUNNING_TABLE)
			continue;
		if (++n > WAY_TABLES_MAX)
			return too_many(r, WAY_TABLES_MAX, "in one row", diags);
		if (++*n_of_program > PROGRAM_TABLES_MAX)
			return too_many(r, PROGRAM_TABLES_MAX, "at one event of the kernel", diags);
	}
	return true;
}

static bool check_tables(const struct phys *phys, struct diags *diags)
{
	for (u32 i = 0; i < phys->set->n_hooks; i++) {
		const struct hook *hook = &phys->set->hooks[i];
		u32 n = 0;

		for (u32 use = 0; use < hook->n_uses; use++)
			if (hook->uses[use].phys == phys &&
			    !check_way(hook->uses[use].source, &n, diags))
				return false;
	}
	return true;
}

bool phys_runnings(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	u64 limit = input->features->has_large_array_value ? PHYS_OFFSET_MAX : PHYS_VALUE_MAX;

	find_leaders(phys);
	for (u32 i = 0; i < phys->n_runnings; i++)
		if (!phys->runnings[i].leader)
			place_table(phys, input, &phys->runnings[i],
				    limit / (phys->n_joins + phys->n_runnings));
	for (u32 i = 0; i < phys->n_runnings; i++)
		if (phys->runnings[i].leader)
			follow(&phys->runnings[i]);
	return check_tables(phys, diags);
}
