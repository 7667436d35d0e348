/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries that run in one engine, and come and go: they share programs.
 *
 * A segment is a set of parts that changes (phys_merge(), load_change()), of BLOCK_PARTS at most.
 * A query that comes goes to the segment that reads most of its hooks, whose programs there are
 * made anew for what they did and for it.  Where one becomes too large for the kernel, or takes
 * it long, the query goes to the next segment, and several programs run on a hook, one after the
 * other.
 *
 * A query whose programs would do what those of another do (alike.c) has the same parts: its plan
 * is its own, with the numbers of those, and only the first such query's is merged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/gen.h"
#include "query/internal.h"

/*
 * A program for which the verifier walked so many instructions gets no more to do: the engine's
 * windows wait for it, 10 to 20 ms here.  (Not by the time, which a busy machine makes longer.)
 */
#define VERIFY_MAX_INSNS 20000

struct segment {
	struct segment *next;
	struct crowd *crowd;
	u32 number;
	struct query **queries;
	u32 n_queries, n_room;
	struct load_state states[BLOCK_PARTS];
	struct load_hooks hooks;
	struct arena arena; /* of the programs that run */
	bool is_tried;	    /* for the query that comes */
};

/* Of one engine; the engine and each of its queries use it. */
struct crowd {
	u32 n_users;
	u32 n_made;   /* segments so far */
	u32 n_starts; /* numbers of phys.starts so far */
	struct segment *first;
	struct load_chains chains;
	struct bpf_code dispatcher;
	struct arena arena; /* of that */
	struct turns turns;
};

/* --- Crowds --- */

static void crowd_leave(void *context)
{
	struct crowd *crowd = context;

	if (--crowd->n_users)
		return;
	load_chains_close(&crowd->chains);
	arena_free(&crowd->arena);
	free(crowd);
}

/* NULL: there is no memory. */
static struct crowd *crowd_of(struct engine *engine)
{
	struct engine_shared *shared = engine_shared(engine);
	const struct bpf_features features = { 0 };
	struct crowd *crowd = shared->shared;
	const char *reason;

	if (crowd)
		return crowd;
	crowd = calloc(1, sizeof(*crowd));
	if (!crowd || !arena_reserve(&crowd->arena)) {
		free(crowd);
		return NULL;
	}
	if (bpf_compile(gen_dispatcher(&crowd->arena), &crowd->arena, &features, &crowd->dispatcher,
			&reason))
		BUG("dispatcher: %s", reason);
	load_chains_open(&crowd->chains, &crowd->dispatcher);
	crowd->n_users = 1;
	*shared = (struct engine_shared){ .shared = crowd, .release = crowd_leave };
	return crowd;
}

/* --- Segments --- */

static struct segment *segment_new(struct crowd *crowd, u32 n_cpus)
{
	struct segment *segment = calloc(1, sizeof(*segment));

	if (!segment || !arena_reserve(&segment->arena)) {
		free(segment);
		return NULL;
	}
	segment->crowd = crowd;
	segment->number = ++crowd->n_made;
	segment->next = crowd->first;
	crowd->first = segment;
	load_open_changing(&segment->hooks, &crowd->chains, segment->states,
			   phys_merge(NULL, 0, n_cpus, &segment->arena));
	return segment;
}

static void segment_end(struct segment *segment)
{
	struct segment **at = &segment->crowd->first;

	while (*at != segment)
		at = &(*at)->next;
	*at = segment->next;
	load_close(&segment->hooks);
	arena_free(&segment->arena);
	free(segment->queries);
	free(segment);
}

static u64 numbers_of(const struct query *query)
{
	u64 numbers = 0;

	for (u32 k = 0; k < query->plan->n_parts; k++)
		numbers |= 1ull << query->plan->parts[k]->number;
	return numbers;
}

/* A bit for each number that a part has. */
static u64 taken_of(const struct segment *segment)
{
	u64 taken = 0;

	for (u32 i = 0; i < segment->n_queries; i++)
		taken |= numbers_of(segment->queries[i]);
	return taken;
}

/* The first query there with the same parts, or NULL. */
static struct query *same_parts(const struct segment *segment, const struct query *query)
{
	for (u32 i = 0; i < segment->n_queries; i++)
		if (numbers_of(segment->queries[i]) == numbers_of(query))
			return segment->queries[i];
	return NULL;
}

static bool append(struct segment *segment, struct query *query)
{
	struct query **queries = segment->queries;

	if (segment->n_queries == segment->n_room) {
		queries = realloc(queries, (segment->n_room + BLOCK_PARTS) * sizeof(*queries));
		if (!queries)
			return false;
		segment->queries = queries;
		segment->n_room += BLOCK_PARTS;
	}
	queries[segment->n_queries++] = query;
	return true;
}

/* The programs of hooks whose uses change.  false: one is too large (for a query that comes). */
static bool compile_changed(struct segment *segment, struct programs *programs,
			    const struct query *query, struct arena *arena)
{
	const char *reason;

	programs_init(programs, programs->set->n_hooks, arena);
	for (u32 i = 0; i < programs->set->n_hooks; i++) {
		struct hook *hook = &programs->set->hooks[i];
		const struct load_program *old;
		bool is_same;

		old = load_running(&segment->hooks, hook, &is_same);
		if (is_same)
			continue;
		if (!query->segment && old && old->hook->n_uses < hook->n_uses &&
		    old->n_verified > VERIFY_MAX_INSNS)
			return false;
		if (!program_compile(programs, i, &query->features, arena, &reason))
			return false;
		/* Places in several texts are none. */
		if (segment->n_queries > 1)
			memset(programs->of_hook[i].code.spans, 0,
			       programs->of_hook[i].code.n_insns * sizeof(struct span));
	}
	return true;
}

/*
 * The programs become those of its queries.  0, -EFBIG, or -errno after a diagnostic (NULL: it is
 * not wanted).
 */
static int change(struct segment *segment, const struct query *query, struct diags *diags)
{
	struct phys_set *plans[BLOCK_PARTS];
	struct programs programs = { 0 };
	struct diags unheard;
	struct arena arena;
	u32 n_plans = 0;
	int err = -EFBIG;

	arena_init(&arena);
	if (!arena_reserve(&arena))
		return -ENOMEM;
	diags_init(&unheard, &arena, NULL, "", 0);
	for (u32 i = 0; i < segment->n_queries; i++)
		if (same_parts(segment, segment->queries[i]) == segment->queries[i])
			plans[n_plans++] = segment->queries[i]->plan;
	programs.set = phys_merge(plans, n_plans, query->n_cpus, &arena);
	if (load_find_places(&segment->hooks, programs.set) &&
	    compile_changed(segment, &programs, query, &arena))
		err = load_change(&segment->hooks, programs.set, programs.of_hook,
				  programs.constants.at, (u32)programs.constants.n, &arena,
				  diags ?: &unheard);
	if (err) {
		arena_free(&arena);
		return err;
	}
	arena_free(&segment->arena);
	segment->arena = arena;
	segment->hooks.arena = &segment->arena;
	for (u32 i = 0; i < segment->n_queries; i++)
		query_announce(segment->queries[i], QUERY_CHANGED);
	return 0;
}

/* --- Queries --- */

/* Only the programs that were made for it have code. */
static struct query_costs costs_now(const struct segment *segment)
{
	const struct load_hooks *hooks = &segment->hooks;
	struct query_costs costs = { .verify_ns = hooks->verify_ns,
				     .attach_ns = hooks->attach_ns,
				     .segment = segment->number };

	for (u32 i = 0; i < hooks->n_programs; i++) {
		costs.n_programs += hooks->programs[i].code.n_insns > 0;
		costs.n_insns += hooks->programs[i].code.n_insns;
	}
	return costs;
}

/*
 * Its parts are read, by that query or others, and were ended by no last switch; and its calls come
 * by the path that it was planned for.
 */
static bool is_counting(const struct segment *segment, const struct query *query)
{
	const struct turns *turns = &segment->crowd->turns;
	bool is_counting =
		!query->turn.n_turns && !(turns->query == query && turns->state == TURN_GOES);

	for (u32 i = 0; i < query->plan->n_parts; i++) {
		const struct load_state *state = &segment->states[query->plan->parts[i]->number];

		is_counting &= state->readers && !state->is_ending;
	}
	return is_counting;
}

/*
 * Its parts, which are none of the segment's yet, keep their starts where parts do that run on, if
 * their joins are alike.
 */
static void share_starts(struct segment *segment, const struct query *query)
{
	segment->crowd->n_starts += BLOCK_PARTS;
	for (u32 i = 0; i < query->plan->n_parts; i++)
		query->plan->parts[i]->starts += segment->crowd->n_starts;
	for (u32 i = 0; i < query->plan->n_parts; i++) {
		bool is_placed = false;

		for (u32 k = 0; k < segment->n_queries && !is_placed; k++)
			is_placed =
				is_counting(segment, segment->queries[k]) &&
				phys_share_with(query->plan->parts[i], segment->queries[k]->plan);
	}
}

/* Its parts become those of `alike`.  false: its starts are not to be laid out like theirs. */
static bool take_parts(const struct query *query, const struct query *alike)
{
	for (u32 i = 0; i < query->plan->n_parts; i++) {
		struct phys *phys = query->plan->parts[i];

		phys->number = alike->plan->parts[i]->number;
		if (phys_may_share_starts(phys) && !phys_share_starts(phys, alike->plan->parts[i]))
			return false;
		phys->starts = alike->plan->parts[i]->starts;
	}
	return true;
}

/* With parts of its own, or those of `alike`: -ENOENT: these are not like them after all. */
static int enter(struct segment *segment, struct query *query, const struct query *alike)
{
	u32 n;
	const struct phys_input *inputs = query_inputs(query, &n);
	u64 taken = alike ? 0 : taken_of(segment);
	int err = 0;

	query->plan = phys_plan_into(taken, inputs, n, &query->arena, &query->diags);
	if (!query->plan)
		return -EINVAL;
	if (alike && !take_parts(query, alike))
		return -ENOENT;
	if (!alike)
		share_starts(segment, query);
	if (!append(segment, query))
		return -ENOMEM;
	if (!alike)
		err = change(segment, query, &query->diags);
	if (err) {
		segment->n_queries--;
		return err;
	}
	query->segment = segment;
	query->costs =
		alike ? (struct query_costs){ .segment = segment->number } : costs_now(segment);
	segment->crowd->n_users++;
	query_set_parts(query, query->plan);
	return 0;
}

/* It enters where one is that counts what it would.  -ENOENT: there is none. */
static int enter_alike(struct crowd *crowd, struct query *query)
{
	for (struct segment *segment = crowd->first; segment; segment = segment->next)
		for (u32 i = 0; i < segment->n_queries; i++) {
			const struct query *other = segment->queries[i];

			if (query_is_alike(query, other) && is_counting(segment, other))
				return enter(segment, query, other);
		}
	return -ENOENT;
}

/* How many of the query's hooks it reads; -1: it has no room, or was tried. */
static s32 likeness(const struct segment *segment, const struct query *query)
{
	const struct phys_set *set = query->programs->set;
	u32 n_free = BLOCK_PARTS - (u32)__builtin_popcountll(taken_of(segment));
	s32 n = 0;

	if (segment->is_tried || n_free < set->n_parts)
		return -1;
	for (u32 i = 0; i < set->n_hooks; i++)
		for (u32 k = 0; k < segment->hooks.n_programs; k++)
			n += strcmp(segment->hooks.programs[k].hook->target,
				    set->hooks[i].target) == 0;
	return n;
}

static struct segment *likest(const struct crowd *crowd, const struct query *query)
{
	struct segment *best = NULL;
	s32 most = -1;

	for (struct segment *segment = crowd->first; segment; segment = segment->next) {
		s32 n = likeness(segment, query);

		if (n <= most)
			continue;
		most = n;
		best = segment;
	}
	return best;
}

/* What running sums keep is of all events since their programs began; and a room of its own. */
static bool is_apart(const struct query *query)
{
	for (u32 i = 0; i < query->cut->n_parts; i++) {
		const struct phys *phys = query->parts[i].phys;

		if (phys && (phys->n_runnings ||
			     (phys->has_stacks && phys->settings->stacks != STACKS_USUAL)))
			return true;
	}
	return false;
}

int segment_join(struct query *query, struct engine *engine)
{
	struct crowd *crowd;
	struct segment *segment;
	int err;

	if (!query->programs || query->programs->is_loaded ||
	    query->programs->set->n_parts > BLOCK_PARTS || is_apart(query))
		return -EFBIG;
	crowd = crowd_of(engine);
	if (!crowd)
		return -ENOMEM;
	for (segment = crowd->first; segment; segment = segment->next)
		segment->is_tried = false;
	err = enter_alike(crowd, query);
	if (err != -ENOENT)
		return err;
	err = -EFBIG;
	while (err == -EFBIG && (segment = likest(crowd, query))) {
		segment->is_tried = true;
		err = enter(segment, query, NULL);
	}
	if (err == -EFBIG) {
		segment = segment_new(crowd, query->n_cpus);
		err = segment ? enter(segment, query, NULL) : -ENOMEM;
		if (err && segment)
			segment_end(segment);
		if (err == -EFBIG)
			diag_warning(
				&query->diags, "own-programs", SPAN_NONE,
				"it gets programs of its own: those that the queries on its hooks "
				"share take no more, and each event costs more by these" HINT
				"a hook has %u shared programs, each of up to %u parts; queries that "
				"are alike share a part",
				CHAIN_PLACES, BLOCK_PARTS);
	}
	return err;
}

/* The query's parts go on as those of the one that has them, too.  false: they were its already. */
static bool hand_on(struct segment *segment, const struct query *to)
{
	bool is_new = false;

	for (u32 i = 0; i < to->plan->n_parts; i++) {
		struct load_state *state = &segment->states[to->plan->parts[i]->number];

		is_new |= state->phys != to->plan->parts[i];
		state->phys = to->plan->parts[i];
	}
	return is_new;
}

void segment_leave(struct query *query)
{
	struct segment *segment = query->segment;
	const struct query *next;
	struct crowd *crowd;
	u32 i = 0;

	if (!segment)
		return;
	crowd = segment->crowd;
	while (segment->queries[i] != query)
		i++;
	segment->n_queries--;
	for (; i < segment->n_queries; i++)
		segment->queries[i] = segment->queries[i + 1];
	query->segment = NULL;
	next = same_parts(segment, query);
	/* Where it fails the programs go on for it too, and the next change takes it out. */
	if (!segment->n_queries)
		segment_end(segment);
	else if (!next || hand_on(segment, next))
		change(segment, query, NULL);
	crowd_leave(crowd);
}

bool query_counts_with(const struct query *query, const struct query *other)
{
	return query != other && query->segment && query->segment == other->segment &&
	       numbers_of(query) == numbers_of(other);
}

u32 segment_n_queries(const struct query *query)
{
	return query->segment->n_queries;
}

u32 segment_n_counted_with(const struct query *query)
{
	u32 n = 0;

	for (u32 i = 0; i < query->segment->n_queries; i++)
		n += query_counts_with(query, query->segment->queries[i]);
	return n;
}

/* Do two of the parts keep their starts in one table? */
static bool has_same_starts(const struct query *a, const struct query *b)
{
	for (u32 i = 0; i < a->plan->n_parts; i++)
		for (u32 k = 0; k < b->plan->n_parts; k++)
			if (a->plan->parts[i] != b->plan->parts[k] && a->plan->parts[i]->n_joins &&
			    a->plan->parts[i]->starts == b->plan->parts[k]->starts)
				return true;
	return false;
}

bool segment_is_shared(const struct query *query)
{
	const struct segment *segment = query->segment;

	for (u32 i = 0; i < segment->n_queries; i++)
		if (query_counts_with(query, segment->queries[i]) ||
		    has_same_starts(query, segment->queries[i]))
			return true;
	return false;
}

struct load_state *segment_state(const struct query *query, const struct phys *phys)
{
	return &query->segment->states[phys->number];
}

struct turns *crowd_turns(void *crowd)
{
	return &((struct crowd *)crowd)->turns;
}

struct turns *segment_turns(const struct query *query)
{
	return &query->segment->crowd->turns;
}

struct load_hooks *segment_hooks(const struct query *query)
{
	return &query->segment->hooks;
}

struct load_closer *segment_closer(const struct query *query)
{
	return &query->segment->crowd->chains.closer;
}

int segment_replan(struct query *query, struct phys_set *plan)
{
	struct phys_set *before = query->plan;
	int err;

	query->plan = plan;
	err = change(query->segment, query, NULL);
	if (err)
		query->plan = before;
	return err;
}

static bool is_of_calls(const struct hook *hook, enum access_path path)
{
	const struct stream *s = hook->uses[0].streams[0];

	return hook->path == path && (s->is_syscall_enter || s->is_syscall_exit);
}

bool segment_shares_calls(const struct query *query, enum access_path path)
{
	const struct segment *segment = query->segment->crowd->first;

	for (; segment; segment = segment->next)
		for (u32 i = 0; i < segment->n_queries; i++) {
			const struct query *other = segment->queries[i];

			for (u32 k = 0; k < other->plan->n_hooks && other != query; k++)
				if (!other->turn.leaves &&
				    is_of_calls(&other->plan->hooks[k], path))
					return true;
		}
	return false;
}
