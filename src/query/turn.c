/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries whose system calls come by a tracepoint or by the raw one, as is cheaper while they run.
 *
 * Which it is hangs on how many of all calls are wanted ones, so each query is looked at for a
 * moment, soon after it has started and then ever more seldom.  Where the other path would be
 * cheaper, twice in a row, the query goes over: its parts stay as they are, with what they have in
 * the kernel, and so do its windows; only programs change, step by step:
 *
 *	  of the two, the old hook comes first	 the new hook comes first
 *	  old		new			 old		new
 *	0 plain		idle			 plain		idle
 *	1 takes		idle			 second		leaves
 *	2 takes		second			 second		takes
 *	3 leaves	second			 idle		takes
 *	4 -		plain			 -		plain
 *
 * From step 1 on all events end between two steps that began before (load_grace_begin()).  So in
 * each step, and in the midst of its exchanges, an event is taken by one of the two programs: where
 * the second one asks what the first one did, that one has said so.  Up to step 1 the old one takes
 * all: from there the way back is open, as soon as what has begun is over.
 */
#include <errno.h>
#include <linux/version.h>
#include <string.h>

#include "query/internal.h"

#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull
/* How long a look takes, and when the first one is; between later ones there is up to: */
#define LOOK_NS	      (50 * NS_PER_MS)
#define FIRST_LOOK_NS NS_PER_S
#define LOOKS_MAX_NS  (64 * NS_PER_S)
/* It goes over where that makes it so much cheaper, that many looks in a row, and so often. */
#define MARGIN	  1.25
#define WISHES	  2
#define TURNS_MAX 2
/* In all, per second: 0.01 % of a core. */
#define GAIN_MIN_NS 1e5
/* Is the grace over? */
#define GRACE_LOOK_NS (5 * NS_PER_MS)
#define RETRY_NS      (100 * NS_PER_MS)

enum { OLD, NEW };
#define N_STEPS 4

/* [is the new one first][step][OLD, NEW] */
static const enum hand hands[2][N_STEPS][2] = {
	{
		{ HAND_PLAIN, HAND_IDLE },
		{ HAND_TAKES, HAND_IDLE },
		{ HAND_TAKES, HAND_SECOND },
		{ HAND_LEAVES, HAND_SECOND },
	},
	{
		{ HAND_PLAIN, HAND_IDLE },
		{ HAND_SECOND, HAND_LEAVES },
		{ HAND_SECOND, HAND_TAKES },
		{ HAND_IDLE, HAND_TAKES },
	},
};

static bool is_of_calls(const struct hook *hook)
{
	const struct stream *s = hook->uses[0].streams[0];

	return s->is_syscall_enter || s->is_syscall_exit;
}

static bool is_exit(const struct hook *hook)
{
	return hook->uses[0].streams[0]->is_syscall_exit;
}

/* There is one: each query here reads calls. */
static const struct hook *call_hook(const struct phys_set *plan)
{
	const struct hook *hook = plan->hooks;

	while (!is_of_calls(hook))
		hook++;
	return hook;
}

static bool is_raw(const struct phys_set *plan)
{
	return call_hook(plan)->path == ACCESS_RAW_SYSCALL;
}

/* --- Steps --- */

/* The hooks of a plan; of the new one without those that both have. */
static void add_hooks(struct phys_set *to, const struct phys_set *from, bool is_new,
		      struct arena *arena)
{
	for (u32 i = 0; i < from->n_hooks; i++) {
		const struct hook *hook = &from->hooks[i];
		struct hook *copy = &to->hooks[to->n_hooks];

		if (is_new && !is_of_calls(hook))
			continue;
		*copy = *hook;
		copy->number = to->n_hooks++;
		copy->uses = arena_array(arena, struct hook_use, hook->n_uses);
		memcpy(copy->uses, hook->uses, hook->n_uses * sizeof(*hook->uses));
	}
}

static struct phys_set *both_paths(struct query *q)
{
	const struct phys_set *before = q->plan_before, *other = q->plan_other;
	struct phys_set *both = arena_new(&q->arena, struct phys_set);

	*both = *before;
	both->hooks = arena_array(&q->arena, struct hook, before->n_hooks + other->n_hooks);
	both->n_hooks = 0;
	add_hooks(both, before, false, &q->arena);
	add_hooks(both, other, true, &q->arena);
	return both;
}

static void set_hands(struct turns *t, u32 step)
{
	const struct phys_set *before = t->query->plan_before;

	for (u32 i = 0; i < t->both->n_hooks; i++) {
		struct hook *hook = &t->both->hooks[i];
		bool is_new_first = t->is_raw_first[is_exit(hook)] != is_raw(before);

		for (u32 k = 0; k < hook->n_uses && is_of_calls(hook); k++)
			hook->uses[k].hand =
				hands[is_new_first][step][i < before->n_hooks ? OLD : NEW];
	}
}

static int go_to_step(struct turns *t, u32 step)
{
	int err;

	set_hands(t, step);
	err = segment_replan(t->query, t->both);
	if (err)
		set_hands(t, t->step);
	else
		t->step = step;
	return err;
}

static bool find_ids(struct turns *t)
{
	static const char *const names[] = { "sys_enter_getppid", "sys_exit_getppid" };
	struct query *q = t->query;
	struct diags unheard;

	diags_init(&unheard, &q->arena, NULL, "", 0);
	for (u32 i = 0; q->catalog && i < 2 && !t->ids[i]; i++) {
		const char *const path[] = { "tracepoint", "syscalls", names[i] };
		const struct stream_list *list =
			catalog_find(q->catalog, path, 3, (struct span){ 0, 0 }, &unheard);

		t->ids[i] = list ? list->streams.at[0]->tracepoint_id : 0;
	}
	return t->ids[0] && t->ids[1];
}

static void end_turn(struct turns *t)
{
	load_marks_close(segment_hooks(t->query));
	t->query->turn.leaves = false;
	t->state = TURN_NONE;
	t->query = NULL;
}

/* It stays as it is. */
static int give_up(struct turns *t)
{
	struct query *q = t->query;
	int err = q->plan == q->plan_before ? 0 : segment_replan(q, q->plan_before);

	if (err)
		return err;
	q->turn.n_failed++;
	end_turn(t);
	return 0;
}

static void begin_turn(struct turns *t, struct query *q)
{
	t->query = q;
	t->state = TURN_GOES;
	t->shared->due_ns = base_monotonic_ns();
	t->step = t->n_ordered = 0;
	t->is_waiting = t->is_undone = false;
	q->plan_before = q->plan;
	t->both = both_paths(q);
}

static void tell(struct query *q)
{
	const struct hook *hook = call_hook(q->plan);
	const struct call_costs *costs = &q->turn.costs;
	bool is_raw_now = is_raw(q->plan);
	const char *share;

	q->turn.n_turns++;
	q->turn.turned_ns = base_realtime_ns();
	if (q->turn.is_told)
		return;
	share = q->turn.share < 0.001 ? "less than 0.1%"
				      : arena_printf(&q->arena, "%.3g%%", 100 * q->turn.share);
	diag_warning(
		&q->diags, "path-changed", q->statement->span,
		"%s is read by the %s from here on, every event once: %s of all system calls "
		"are wanted, and with the others one of these costs %.0f ns there, not %.0f" HINT
		"SET access_path = %s has it so from the start",
		hook->uses[0].streams[0]->name, access_kinds[hook->path].name, share,
		is_raw_now ? costs->raw : costs->tracepoint,
		is_raw_now ? costs->tracepoint : costs->raw, is_raw_now ? "raw" : "tracepoint");
}

/* Step 0. */
static int attach(struct turns *t)
{
	struct query *q = t->query;
	struct diags unheard;
	int err;

	diags_init(&unheard, &q->arena, NULL, "", 0);
	err = find_ids(t) ? load_marks_open(segment_hooks(q), &unheard) : -ENOENT;
	return err ?: go_to_step(t, 0);
}

/* Up to step 2: what both hooks bring must be known to the kernel, and in which order. */
static int go_ahead(struct turns *t)
{
	struct query *q = t->query;
	const struct phys_set *raw = is_raw(q->plan_before) ? q->plan_before : q->plan_other;

	if (q->plan == q->plan_before)
		return attach(t);
	while (t->n_ordered < raw->n_hooks) {
		const struct hook *hook = &raw->hooks[t->n_ordered++];

		if (is_of_calls(hook))
			return load_order(segment_hooks(q), hook, t->ids[is_exit(hook)], &q->arena,
					  &t->is_raw_first[is_exit(hook)]);
	}
	t->is_waiting = false;
	return go_to_step(t, t->step + 1);
}

/* From step 2 on, where it can only go on.  0, or -errno: once more. */
static int go_through(struct turns *t)
{
	struct query *q = t->query;
	int err = t->step + 1 < N_STEPS ? go_to_step(t, t->step + 1)
					: segment_replan(q, q->plan_other);

	if (err)
		return err;
	t->is_waiting = false;
	if (q->plan != q->plan_other)
		return 0;
	q->plan_other = q->plan_before;
	tell(q);
	end_turn(t);
	return 0;
}

/* Waits behind a step, and takes the next one.  0, or -errno: once more. */
static int go_on(struct turns *t)
{
	struct load_hooks *hooks = segment_hooks(t->query);
	int err;

	/* Who closes a perf event holds a mutex, for which who opens one would wait. */
	if (!load_grace_is_over(hooks))
		return 0;
	if (t->step && !t->is_waiting) {
		/*
		 * Tried until it can be.  It lacks descriptors, memory or rights, which programs
		 * need as well, also those of the way back; and from step 2 on there is none.
		 */
		err = load_grace_begin(hooks);
		t->is_waiting = !err;
		return err;
	}
	if (t->is_undone)
		return give_up(t);
	if (t->step > 1)
		return go_through(t);
	/* One program may be too large for the kernel, at step 2 at the latest. */
	t->is_undone = go_ahead(t) != 0;
	return 0;
}

/* --- Looks --- */

/* How long: the first one as SET survey has it. */
static u64 look_time(const struct query *q)
{
	return q->settings.survey_ns && !q->turn.was_looked_at ? q->settings.survey_ns : LOOK_NS;
}

/* By a margin, and in all: would it be so much cheaper? */
static bool is_worth(const struct query *q, const struct call_costs *costs,
		     const struct load_survey *seen)
{
	double now = is_raw(q->plan) ? costs->raw : costs->tracepoint;
	double then = is_raw(q->plan) ? costs->tracepoint : costs->raw;
	double rate = (double)seen->n_all * (double)NS_PER_S / (double)seen->ns;

	return then * MARGIN < now && (now - then) * MAX(q->turn.share, 0.001) * rate > GAIN_MIN_NS;
}

/* Would the other path be cheaper? */
static bool wishes(struct query *q, const struct load_survey *seen)
{
	struct query_turn *turn = &q->turn;
	double all = (double)seen->n_all, share = all > 0 ? (double)seen->n_wanted / all : 0;
	struct call_costs alone = phys_call_costs(q->settings.costs, share, false, false);
	/* What a tracepoint's program misses beside another one is counted from 6.7 on. */
	bool may = !segment_is_shared(q) &&
		   (!is_raw(q->plan) || q->features.version >= KERNEL_VERSION(6, 7, 0));

	turn->was_looked_at = all > 0;
	turn->share = share;
	turn->costs = phys_call_costs(q->settings.costs, share,
				      segment_shares_calls(q, ACCESS_RAW_SYSCALL),
				      segment_shares_calls(q, ACCESS_TRACEPOINT));
	turn->leaves = may && is_worth(q, &alone, seen);
	return may && is_worth(q, &turn->costs, seen);
}

static void look_seldom(struct query_turn *turn)
{
	turn->n_wishes = 0;
	turn->every_ns = MIN(2 * turn->every_ns, LOOKS_MAX_NS);
}

static void end_look(struct turns *t)
{
	struct query *q = t->query;
	struct query_turn *turn = &q->turn;

	load_survey_end(&t->survey, segment_closer(q));
	t->state = TURN_NONE;
	t->query = NULL;
	if (!wishes(q, &t->survey)) {
		look_seldom(turn);
	} else if (++turn->n_wishes >= WISHES) {
		turn->n_wishes = 0;
		begin_turn(t, q);
	}
	turn->look_ns = base_monotonic_ns() + turn->every_ns;
}

static bool can_look(const struct query *q)
{
	return q->turn.look_ns && q->turn.n_turns < TURNS_MAX && q->turn.n_failed < TURNS_MAX;
}

/* The first that is due; NULL: none will be. */
static struct query *next_look(const struct turns *t)
{
	struct query *next = NULL;

	for (struct query *q = t->first; q; q = q->turn.next)
		if (can_look(q) && (!next || q->turn.look_ns < next->turn.look_ns))
			next = q;
	return next;
}

static void begin_look(struct turns *t, struct query *q)
{
	s32 number = call_hook(q->plan)->uses[0].streams[0]->syscall_nr;

	/* Those who read what it counts have come for the path that it has: as long as they do. */
	if (!segment_is_shared(q) && !load_survey_begin(&t->survey, number)) {
		t->query = q;
		t->state = TURN_LOOKS;
		return;
	}
	q->turn.leaves = false;
	look_seldom(&q->turn);
	q->turn.look_ns = base_monotonic_ns() + q->turn.every_ns;
}

static u64 step(void *crowd)
{
	struct turns *t = crowd_turns(crowd);
	struct query *next;
	u64 now_ns = base_monotonic_ns();

	if (t->state == TURN_LOOKS)
		end_look(t);
	if (t->state == TURN_GOES && go_on(t))
		return now_ns + RETRY_NS;
	if (t->state == TURN_GOES)
		return now_ns + GRACE_LOOK_NS;
	next = next_look(t);
	if (next && next->turn.look_ns <= now_ns) {
		begin_look(t, next);
		next = next_look(t);
	}
	if (t->state == TURN_LOOKS)
		return now_ns + look_time(t->query);
	return next ? MAX(next->turn.look_ns, now_ns + 1) : 0;
}

/* --- Queries --- */

void turns_enter(struct query *q, struct engine *engine)
{
	struct turns *t = segment_turns(q);
	u32 n;

	q->turn = (struct query_turn){ .next = t->first, .every_ns = FIRST_LOOK_NS };
	q->plan_before = q->plan;
	q->plan_other = NULL;
	if (!q->is_fixed && !phys_path_stays(q->plan))
		q->plan_other = phys_other_path(q->plan, query_inputs(q, &n), &q->arena);
	t->first = q;
	t->shared = engine_shared(engine);
	t->shared->step = step;
	if (!q->plan_other)
		return;
	q->turn.look_ns = base_monotonic_ns() + (q->settings.survey_ns ? 0 : FIRST_LOOK_NS);
	/* Else it finds out when something is due. */
	if (!t->shared->due_ns)
		t->shared->due_ns = q->turn.look_ns;
}

void turns_leave(struct query *q)
{
	struct turns *t = segment_turns(q);
	struct query **at = &t->first;

	while (*at != q)
		at = &(*at)->turn.next;
	*at = q->turn.next;
	if (t->query != q)
		return;
	if (t->state == TURN_LOOKS)
		load_survey_end(&t->survey, segment_closer(q));
	if (t->state == TURN_GOES)
		load_marks_close(segment_hooks(q));
	t->state = TURN_NONE;
	t->query = NULL;
}

const char *query_path(const struct query *q)
{
	if (!q->segment || !q->plan_other)
		return NULL;
	return is_raw(q->plan) ? "raw" : "tracepoint";
}

int query_turn(struct query *q)
{
	struct turns *t;

	if (!q->segment || !q->plan_other || segment_is_shared(q))
		return -ENOTSUP;
	t = segment_turns(q);
	if (t->state != TURN_NONE)
		return -EBUSY;
	q->turn.is_told = true;
	q->turn.look_ns = 0;
	begin_turn(t, q);
	return 0;
}
