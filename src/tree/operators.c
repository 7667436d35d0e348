/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The operators of a FROM tree over a batch of tuples, one operator after the other,
 * from the scans to the projection.  What gen/join.c does with an event at a time: a
 * join meets the rows of its two sides in the order of the rows of scans that trigger them.
 */
#include <errno.h>
#include <string.h>

#include "tree/internal.h"

#define IN_FLIGHT_MIN 16u

/* The entry of a table by keys. */
struct row_key {
	struct key key;
	struct start *top; /* JOIN: the newest start */
	s128 sum;	   /* RUNNING */
	bool has_sum, is_over;
};

/* A start that waits for its end, in the list of all starts of its join, oldest first. */
struct start {
	struct start *older_of_key, *newer_of_key, *before, *behind;
	struct row_key *key;
	u64 time_ns;
	u32 n_bytes;
	bool is_of_file;
	struct gaps gaps;
	struct value slots[]; /* those of the join's right side, then their texts */
};

struct row_tree;

struct op {
	const struct plan *plan;
	/* The rows of its inputs -> its own; NULL: it has them already. */
	int (*run)(struct row_tree *tree, struct op *op);
	struct op **inputs;
	u32 n_inputs;
	u32 *at; /* UNION: per input, the row that is next */
	struct region out;
	u32 n_out;
	struct row_eval eval, eval_right; /* conditions; keys of both sides; argument and keys */
	struct keys keys;
	u32 lo, hi; /* JOIN: slots of the right side; RUNNING, SCAN: lo is its own, the first */
	struct start *oldest, *newest;
	u64 n_waiting, most_waiting, n_left; /* left: at the end, and told */
	/* What it handed on (matched) and lost; early: of what lies behind the latest flip and was
	 * met already. */
	struct account account, early;
};

struct row_tree {
	struct slots *slots;
	struct row_sql *sql;
	struct scratch *scratch;
	struct arena *arena;
	struct op *root, *project;
	VEC(struct op *) ops;
	struct op **scans; /* by the place of their sources in slots->sources */
	struct pool pool;
	struct start *dead; /* used up in this batch, whose rows point to their texts */
	struct buf key;
	u64 max_in_flight;
	u64 flip;	       /* the latest */
	u64 n_starts, n_taken; /* of PAIR JOINs: all; those that ends took */
	u64 n_expired;	       /* of ASOF JOINs, which take nothing */
};

static struct tuple **tuples_of(const struct op *op)
{
	return op->out.at;
}

/* Where that counts which the operator does with this row of a scan. */
static struct account *account_of(const struct row_tree *tree, struct op *op, const struct tuple *t)
{
	return t->flip > tree->flip ? &op->early : &op->account;
}

/* There is room: no operator gives more rows than its inputs have. */
static void emit(struct op *op, struct tuple *tuple)
{
	tuples_of(op)[op->n_out++] = tuple;
}

static size_t tuple_bytes(const struct row_tree *tree)
{
	return sizeof(struct tuple) + tree->slots->n_slots * sizeof(struct value);
}

/* NULL: no memory. */
static struct tuple *tuple_copy(struct row_tree *tree, const struct tuple *from)
{
	struct tuple *to = scratch_alloc(tree->scratch, tuple_bytes(tree));

	return to ? memcpy(to, from, tuple_bytes(tree)) : NULL;
}

/* --- Keys --- */

/* false: one of them is NULL. */
static bool make_key(struct row_tree *tree, const struct value *values, u32 n)
{
	bool is_whole = true;

	buf_reset(&tree->key);
	for (u32 i = 0; i < n; i++) {
		is_whole &= values[i].kind != VALUE_NULL;
		key_put(&tree->key, &values[i]);
	}
	return is_whole;
}

static struct row_key *find_key(const struct row_tree *tree, struct op *op, bool is_made)
{
	return (struct row_key *)keys_find(&op->keys, &tree->key, is_made);
}

/* --- Starts --- */

/* Its key stays known where an end wants to tell a thread that was never seen. */
static void forget(struct row_tree *tree, struct op *op, struct start *s)
{
	*(s->newer_of_key ? &s->newer_of_key->older_of_key : &s->key->top) = s->older_of_key;
	if (s->older_of_key)
		s->older_of_key->newer_of_key = s->newer_of_key;
	if (!s->key->top && (op->plan->join.kind == JOIN_ASOF || op->plan->join.is_nesting))
		keys_remove(&op->keys, &s->key->key);
	*(s->before ? &s->before->behind : &op->oldest) = s->behind;
	*(s->behind ? &s->behind->before : &op->newest) = s->before;
	op->n_waiting--;
	s->older_of_key = tree->dead;
	tree->dead = s;
}

static void bury_dead(struct row_tree *tree)
{
	while (tree->dead) {
		struct start *s = tree->dead;

		tree->dead = s->older_of_key;
		pool_give(&tree->pool, s, s->n_bytes);
	}
}

/* NULL: no memory. */
static struct start *start_new(struct row_tree *tree, const struct op *op, const struct tuple *t)
{
	u32 n = op->hi - op->lo;
	size_t n_bytes = sizeof(struct start) + n * sizeof(struct value);
	struct start *s;
	char *text;

	for (u32 i = 0; i < n; i++)
		if (t->slots[op->lo + i].kind == VALUE_TEXT)
			n_bytes += t->slots[op->lo + i].n;
	s = pool_take(&tree->pool, n_bytes);
	if (!s)
		return NULL;
	*s = (struct start){
		.time_ns = t->time_ns, .n_bytes = n_bytes, .is_of_file = !t->flip, .gaps = t->gaps
	};
	memcpy(s->slots, &t->slots[op->lo], n * sizeof(struct value));
	text = (char *)&s->slots[n];
	for (u32 i = 0; i < n; i++)
		if (s->slots[i].kind == VALUE_TEXT && s->slots[i].n) {
			memcpy(text, s->slots[i].text, s->slots[i].n);
			s->slots[i].text = text;
			text += s->slots[i].n;
		}
	return s;
}

/* The oldest gives its room away; what is older than WITHIN was forgotten anyway. */
static void evict(struct row_tree *tree, struct op *op, const struct tuple *t)
{
	u64 within_ns = op->plan->join.within_ns;
	bool is_old = within_ns && t->time_ns - op->oldest->time_ns > within_ns;

	if (op->plan->join.kind == JOIN_PAIR)
		account_of(tree, op, t)->unpaired[is_old ? UNPAIRED_EXPIRED : UNPAIRED_FULL]++;
	else
		account_of(tree, op, t)->lost[LOSS_EVICTED] += !is_old;
	forget(tree, op, op->oldest);
}

static int store(struct row_tree *tree, struct op *op, const struct tuple *t,
		 const struct value *key_values)
{
	struct account *account = account_of(tree, op, t);
	bool is_pair = op->plan->join.kind == JOIN_PAIR;
	struct row_key *key;
	struct start *s;

	tree->n_starts += is_pair;
	if (!make_key(tree, key_values, op->plan->join.n_keys)) {
		account->unpaired[UNPAIRED_NEVER_ENDED] += is_pair;
		return 0;
	}
	key = find_key(tree, op, true);
	/* A thread's system calls never nest: a start replaces the one before. */
	if (key && key->top && (!is_pair || !op->plan->join.is_nesting)) {
		account->unpaired[UNPAIRED_OVERWRITTEN] += is_pair;
		forget(tree, op, key->top);
		key = find_key(tree, op, true);
	} else if (op->n_waiting >= tree->max_in_flight) {
		evict(tree, op, t);
		key = find_key(tree, op, true);
	}
	s = key ? start_new(tree, op, t) : NULL;
	if (!s)
		return -ENOMEM;
	s->key = key;
	s->older_of_key = key->top;
	if (key->top)
		key->top->newer_of_key = s;
	key->top = s;
	s->before = op->newest;
	*(op->newest ? &op->newest->behind : &op->oldest) = s;
	op->newest = s;
	op->n_waiting++;
	op->most_waiting = MAX(op->most_waiting, op->n_waiting);
	return 0;
}

/*
 * Is it unknown whether that is the end's start?  Among the rows that are missing in between may be
 * its own end, and this one's start.  Of ASOF JOINs it is so where max_cpu left them; where the
 * ring was full the windows tell (row_tree_goes_on()).
 */
static bool is_doubtful(const struct op *op, const struct start *s, const struct tuple *t)
{
	bool is_asof = op->plan->join.kind == JOIN_ASOF;

	/* Of a file nothing is missing: no newer start, or no end of it. */
	if (s->is_of_file && (is_asof || !t->flip))
		return false;
	if (is_asof)
		return s->gaps.left != t->gaps.left;
	return s->gaps.left != t->gaps.left || s->gaps.full != t->gaps.full;
}

/* The latest start of the key, or NULL: there is none, as is counted. */
static const struct start *find_start(struct row_tree *tree, struct op *op, const struct tuple *t,
				      const struct value *key_values)
{
	const struct plan *p = op->plan;
	struct account *account = account_of(tree, op, t);
	struct row_key *key = NULL;
	struct start *s;

	if (make_key(tree, key_values, p->join.n_keys)) {
		key = find_key(tree, op, false);
		if (!key && p->join.kind == JOIN_PAIR && !p->join.is_nesting) {
			account->unpaired[UNPAIRED_BEGAN_BEFORE]++;
			find_key(tree, op, true); /* from now on it is known */
			return NULL;
		}
	}
	s = key ? key->top : NULL;
	if (!s) {
		account->unpaired[UNPAIRED_NEVER_STARTED] += !p->join.is_left;
		return NULL;
	}
	if (p->join.kind == JOIN_PAIR)
		forget(tree, op, s);
	if (is_doubtful(op, s, t)) {
		account->unpaired[UNPAIRED_NEVER_ENDED] += p->join.kind == JOIN_PAIR;
		account->unpaired[UNPAIRED_NEVER_STARTED] += !p->join.is_left;
		return NULL;
	}
	if (p->join.within_ns && t->time_ns - s->time_ns > p->join.within_ns) {
		account->unpaired[UNPAIRED_EXPIRED]++;
		tree->n_expired += p->join.kind == JOIN_ASOF;
		return NULL;
	}
	tree->n_taken += p->join.kind == JOIN_PAIR;
	return s;
}

static int look_up(struct row_tree *tree, struct op *op, const struct tuple *t,
		   const struct value *key_values)
{
	const struct start *s = find_start(tree, op, t, key_values);
	struct tuple *joined;

	if (!s && !op->plan->join.is_left)
		return 0;
	account_of(tree, op, t)->events += !s;
	joined = tuple_copy(tree, t);
	if (!joined)
		return -ENOMEM;
	if (s)
		memcpy(&joined->slots[op->lo], s->slots, (op->hi - op->lo) * sizeof(struct value));
	/* An ASOF JOIN's start may be replaced in this batch: then it is dead, not gone. */
	emit(op, joined);
	return 0;
}

/* --- Operators --- */

static int run_filter(struct row_tree *tree, struct op *op)
{
	const struct op *in = op->inputs[0];
	const struct value *holds;
	int err = row_eval_run(&op->eval, tuples_of(in), in->n_out, &holds);

	for (u32 i = 0; i < in->n_out && !err; i++)
		if (holds[i].kind == VALUE_INT && holds[i].integer)
			emit(op, tuples_of(in)[i]);
	return err;
}

static int run_join(struct row_tree *tree, struct op *op)
{
	const struct op *left = op->inputs[0], *right = op->inputs[1];
	const struct value *left_keys, *right_keys;
	u32 n = op->plan->join.n_keys, l = 0, r = 0;
	int err = row_eval_run(&op->eval, tuples_of(left), left->n_out, &left_keys);

	if (!err)
		err = row_eval_run(&op->eval_right, tuples_of(right), right->n_out, &right_keys);
	while (!err && (l < left->n_out || r < right->n_out)) {
		bool is_left =
			r == right->n_out ||
			(l < left->n_out && tuples_of(left)[l]->seq < tuples_of(right)[r]->seq);

		if (is_left) {
			err = look_up(tree, op, tuples_of(left)[l], left_keys + (size_t)l * n);
			l++;
		} else {
			err = store(tree, op, tuples_of(right)[r], right_keys + (size_t)r * n);
			r++;
		}
		if (tree->key.is_cut)
			err = -ENOMEM;
	}
	return err;
}

static int run_union(struct row_tree *tree, struct op *op)
{
	u32 *at = op->at;

	memset(at, 0, op->n_inputs * sizeof(*at));
	for (;;) {
		u32 best = UINT32_MAX;

		for (u32 i = 0; i < op->n_inputs; i++)
			if (at[i] < op->inputs[i]->n_out &&
			    (best == UINT32_MAX ||
			     tuples_of(op->inputs[i])[at[i]]->seq <
				     tuples_of(op->inputs[best])[at[best]]->seq))
				best = i;
		if (best == UINT32_MAX)
			return 0;
		emit(op, tuples_of(op->inputs[best])[at[best]++]);
	}
}

/* As gen/running.c: a sum that left 64 bits signed is NULL, and a fault, from then on. */
static void add_to_sum(struct op *op, struct row_key *key, const struct value *value)
{
	if (value->kind == VALUE_INT && !key->is_over) {
		key->sum += value->integer;
		key->has_sum = true;
		key->is_over = key->sum < INT64_MIN || key->sum > INT64_MAX;
	}
	op->account.lost[LOSS_FAULT] += key->is_over;
}

static int run_running(struct row_tree *tree, struct op *op)
{
	const struct op *in = op->inputs[0];
	u32 n = 1 + op->plan->running.n_keys;
	const struct value *values;
	int err = row_eval_run(&op->eval, tuples_of(in), in->n_out, &values);

	for (u32 i = 0; i < in->n_out && !err; i++, values += n) {
		struct tuple *t = tuple_copy(tree, tuples_of(in)[i]);
		struct row_key *key;

		make_key(tree, values + 1, n - 1);
		key = find_key(tree, op, true);
		if (!t || !key)
			return -ENOMEM;
		add_to_sum(op, key, values);
		t->slots[op->lo] =
			(struct value){ .kind = key->has_sum && !key->is_over ? VALUE_INT
									      : VALUE_NULL,
					.integer = key->sum };
		emit(op, t);
	}
	return err;
}

static void count_out(struct row_tree *tree, struct op *op)
{
	for (u32 i = 0; i < op->n_out; i++)
		account_of(tree, op, tuples_of(op)[i])->matched++;
}

static int op_run(struct row_tree *tree, struct op *op)
{
	u64 n_in = 0;
	int err = 0;

	if (!op->run)
		return 0;
	for (u32 i = 0; i < op->n_inputs && !err; i++) {
		err = op_run(tree, op->inputs[i]);
		n_in += op->inputs[i]->n_out;
	}
	if (!err && !region_need(&op->out, MAX(n_in, 1u) * sizeof(struct tuple *)))
		err = -ENOMEM;
	op->n_out = 0;
	if (!err)
		err = op->run(tree, op);
	count_out(tree, op);
	return err;
}

/* --- The tree --- */

static void open_filter(struct row_tree *tree, struct op *op)
{
	const struct plan *p = op->plan;

	row_eval_init_filter(&op->eval, tree->sql, p->filter.conjuncts, p->filter.n_conjuncts);
	op->run = run_filter;
}

static void open_join(struct row_tree *tree, struct op *op)
{
	const struct plan *p = op->plan;
	struct expr **left = arena_array(tree->arena, struct expr *, MAX(p->join.n_keys, 1u));
	struct expr **right = arena_array(tree->arena, struct expr *, MAX(p->join.n_keys, 1u));

	for (u32 i = 0; i < p->join.n_keys; i++) {
		left[i] = p->join.keys[i].left;
		right[i] = p->join.keys[i].right;
	}
	row_eval_init(&op->eval, tree->sql, left, p->join.n_keys);
	row_eval_init(&op->eval_right, tree->sql, right, p->join.n_keys);
	op->run = run_join;
}

static void open_running(struct row_tree *tree, struct op *op)
{
	const struct plan *p = op->plan;
	struct slots *slots = tree->slots;
	struct expr **exprs = arena_array(tree->arena, struct expr *, 1 + p->running.n_keys);

	exprs[0] = p->running.arg;
	for (u32 i = 0; i < p->running.n_keys; i++)
		exprs[1 + i] = p->running.keys[i];
	row_eval_init(&op->eval, tree->sql, exprs, 1 + p->running.n_keys);
	while (slots->running.n <= p->running.number)
		vec_push(tree->arena, &slots->running, 0);
	slots->running.at[p->running.number] = slots->n_slots++;
	op->run = run_running;
}

/* is_root: its events make rows of the root appear; n_asof: on so many right sides it is. */
static void open_scan(struct row_tree *tree, struct op *op, bool is_root, u32 n_asof)
{
	struct slot_source *s = slots_source(tree->slots, op->plan->scan.source);

	s->first = op->lo;
	s->is_root = is_root;
	s->n_asof = n_asof;
	tree->slots->n_slots += s->source->n_columns;
	tree->scans[s - tree->slots->sources] = op;
}

static struct op *op_open(struct row_tree *tree, const struct plan *p, bool is_root, u32 n_asof)
{
	struct op *op = arena_new(tree->arena, struct op);

	op->plan = p;
	op->keys.item_bytes = sizeof(struct row_key);
	op->inputs = arena_array(tree->arena, struct op *, 2 + p->n_inputs);
	op->at = arena_array(tree->arena, u32, 2 + p->n_inputs);
	if (p->input)
		op->inputs[op->n_inputs++] = op_open(tree, p->input, is_root, n_asof);
	op->lo = tree->slots->n_slots;
	if (p->right)
		op->inputs[op->n_inputs++] =
			op_open(tree, p->right, false, n_asof + (p->join.kind == JOIN_ASOF));
	op->hi = tree->slots->n_slots;
	for (u32 i = 0; i < p->n_inputs; i++)
		op->inputs[op->n_inputs++] = op_open(tree, p->inputs[i], is_root, n_asof);
	if (p->kind == PLAN_FILTER)
		open_filter(tree, op);
	else if (p->kind == PLAN_JOIN)
		open_join(tree, op);
	else if (p->kind == PLAN_UNION)
		op->run = run_union;
	else if (p->kind == PLAN_RUNNING)
		open_running(tree, op);
	else if (p->kind == PLAN_SCAN)
		open_scan(tree, op, is_root, n_asof);
	else
		BUG("operator %d over single rows", p->kind);
	vec_push(tree->arena, &tree->ops, op);
	return op;
}

static void open_project(struct row_tree *tree, const struct plan *project)
{
	struct op *op = arena_new(tree->arena, struct op);
	struct expr **exprs = arena_array(tree->arena, struct expr *, project->project.n_items);

	op->plan = project;
	for (u32 i = 0; i < project->project.n_items; i++)
		exprs[i] = project->project.items[i].expr;
	row_eval_init(&op->eval, tree->sql, exprs, project->project.n_items);
	op->eval.is_handed_on = true;
	vec_push(tree->arena, &tree->ops, op);
	tree->project = op;
}

struct row_tree *row_tree_open(const struct plan *plan, struct slots *slots, struct row_sql *sql,
			       struct scratch *scratch, u64 max_in_flight)
{
	struct row_tree *tree = arena_new(slots->arena, struct row_tree);
	const struct plan *project = plan_find(plan, PLAN_PROJECT);
	VEC(struct row_eval *) evals = { 0 };

	tree->slots = slots;
	tree->sql = sql;
	tree->scratch = scratch;
	tree->arena = slots->arena;
	tree->max_in_flight = MAX(max_in_flight, (u64)IN_FLIGHT_MIN);
	buf_init(&tree->key);
	tree->scans = arena_array(tree->arena, struct op *, slots->n_sources);
	tree->root = op_open(tree, project->input, true, 0);
	open_project(tree, project);
	for (u32 i = 0; i < tree->ops.n; i++) {
		vec_push(tree->arena, &evals, &tree->ops.at[i]->eval);
		vec_push(tree->arena, &evals, &tree->ops.at[i]->eval_right);
	}
	if (row_sql_open(sql, evals.at, evals.n) == 0)
		return tree;
	row_tree_close(tree);
	return NULL;
}

static int give_to_scans(struct row_tree *tree, struct tuple *const *tuples, const u32 *sources,
			 u32 n)
{
	for (u32 i = 0; i < tree->slots->n_sources; i++) {
		tree->scans[i]->n_out = 0;
		if (!region_need(&tree->scans[i]->out, n * sizeof(struct tuple *)))
			return -ENOMEM;
	}
	for (u32 i = 0; i < n; i++)
		emit(tree->scans[sources[i]], tuples[i]);
	for (u32 i = 0; i < tree->slots->n_sources; i++)
		count_out(tree, tree->scans[i]);
	return 0;
}

int row_tree_run(struct row_tree *tree, struct tuple *const *tuples, const u32 *sources, u32 n,
		 const struct value **ret_rows, struct tuple *const **ret_triggers, u32 *ret_n_rows)
{
	int err;

	bury_dead(tree);
	err = give_to_scans(tree, tuples, sources, n);
	if (!err)
		err = op_run(tree, tree->root);
	if (err)
		return err;
	*ret_n_rows = tree->root->n_out;
	*ret_triggers = tuples_of(tree->root);
	return row_eval_run(&tree->project->eval, tuples_of(tree->root), tree->root->n_out,
			    ret_rows);
}

void row_tree_flipped(struct row_tree *tree, u64 flip)
{
	tree->flip = flip;
	for (u32 i = 0; i < tree->ops.n; i++) {
		struct op *op = tree->ops.at[i];

		account_add(&op->account, &op->early);
		op->early = (struct account){ 0 };
	}
}

/* Every start of a PAIR JOIN was taken by an end, or is counted by what became of it, or waits. */
static void check_starts(const struct row_tree *tree, u64 n_waiting)
{
	static const enum unpaired kinds[] = { UNPAIRED_NEVER_ENDED, UNPAIRED_OVERWRITTEN,
					       UNPAIRED_EXPIRED, UNPAIRED_FULL };
	u64 n = tree->n_taken + n_waiting;

	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++)
		for (u32 k = 0; k < tree->ops.n; k++)
			n += tree->ops.at[k]->account.unpaired[kinds[i]] +
			     tree->ops.at[k]->early.unpaired[kinds[i]];
	ASSERT(n == tree->n_starts + tree->n_expired);
}

u64 row_tree_waiting(struct row_tree *tree, u64 before_ns)
{
	u64 n = 0, n_all = 0;

	for (u32 i = 0; i < tree->ops.n; i++) {
		struct op *op = tree->ops.at[i];

		if (op->plan->kind != PLAN_JOIN || op->plan->join.kind != JOIN_PAIR)
			continue;
		op->n_left = 0;
		for (const struct start *s = op->oldest; s; s = s->behind)
			op->n_left += s->time_ns < before_ns || before_ns == UINT64_MAX;
		n += op->n_left;
		n_all += op->n_waiting;
	}
	check_starts(tree, n_all);
	return n;
}

bool row_tree_goes_on(const struct row_tree *tree)
{
	bool goes_on = false;

	for (u32 i = 0; i < tree->ops.n; i++) {
		const struct plan *p = tree->ops.at[i]->plan;

		goes_on |= p->kind == PLAN_RUNNING ||
			   (p->kind == PLAN_JOIN && (p->join.kind == JOIN_ASOF || p->join.is_left));
	}
	return goes_on;
}

void row_tree_account(const struct row_tree *tree, struct account *ret_account)
{
	*ret_account = (struct account){ 0 };
	for (u32 i = 0; i < tree->ops.n; i++) {
		const struct op *op = tree->ops.at[i];

		account_add(ret_account, &op->account);
	}
	ret_account->events = 0;
	for (u32 i = 0; i < tree->slots->n_sources; i++)
		if (tree->slots->sources[i].is_root)
			ret_account->events += tree->scans[i]->account.matched;
	ret_account->matched = tree->root->account.matched;
}

u32 row_tree_n_operators(const struct row_tree *tree)
{
	return tree->ops.n;
}

void row_tree_operator(const struct row_tree *tree, u32 i, struct row_operator *ret_operator)
{
	const struct op *op = tree->ops.at[i];

	*ret_operator = (struct row_operator){ .plan = op->plan,
					       .account = op->account,
					       .n_single = op->account.events,
					       .sql_ns = op->eval.sql_ns + op->eval_right.sql_ns,
					       .most_waiting = op->most_waiting,
					       .max_in_flight = tree->max_in_flight };
	ret_operator->account.events = op->n_inputs ? 0 : op->account.matched;
	for (u32 k = 0; k < op->n_inputs; k++)
		ret_operator->account.events += op->inputs[k]->account.matched;
	ret_operator->account.unpaired[UNPAIRED_NEVER_ENDED] += op->n_left;
	for (u32 k = 0; k < UNPAIRED_N; k++)
		ret_operator->account.lost[LOSS_UNPAIRED] += ret_operator->account.unpaired[k];
	ret_operator->account.lost[LOSS_FAULT] += op->eval.n_faults + op->eval_right.n_faults;
	if (op == tree->project)
		ret_operator->account.events = ret_operator->account.matched =
			tree->root->account.matched;
}

void row_tree_close(struct row_tree *tree)
{
	for (u32 i = 0; i < tree->ops.n; i++) {
		struct op *op = tree->ops.at[i];

		row_eval_close(&op->eval);
		row_eval_close(&op->eval_right);
		region_free(&op->out);
		keys_close(&op->keys);
	}
	row_sql_close(tree->sql);
	pool_free(&tree->pool);
	buf_free(&tree->key);
}
