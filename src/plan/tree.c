/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Questions about plans: which part is FROM, whose events make a row appear, and
 * which sources an expression reads.
 */
#include <string.h>

#include "plan/plan.h"

static void *copied(struct arena *arena, const void *list, size_t n_bytes)
{
	return n_bytes ? memcpy(arena_alloc(arena, n_bytes), list, n_bytes) : NULL;
}

struct plan *plan_new(struct arena *arena, enum plan_kind kind, struct span span,
		      struct plan *input)
{
	struct plan *p = arena_new(arena, struct plan);

	p->kind = kind;
	p->span = span;
	p->input = input;
	return p;
}

struct plan *plan_filter(struct arena *arena, struct plan *input, struct expr *const *conjuncts,
			 u32 n)
{
	struct plan *p;

	if (!n)
		return input;
	p = plan_new(arena, PLAN_FILTER, conjuncts[0]->span, input);
	p->filter.n_conjuncts = n;
	p->filter.conjuncts = copied(arena, conjuncts, n * sizeof(*conjuncts));
	return p;
}

const struct plan *plan_find(const struct plan *plan, enum plan_kind kind)
{
	while (plan && plan->kind != kind)
		plan = plan->kind == PLAN_DERIVED ? NULL : plan->input;
	return plan;
}

const struct plan *plan_rows(const struct plan *plan)
{
	const struct plan *aggregate = plan_find(plan, PLAN_AGGREGATE);
	const struct plan *project = plan_find(plan, PLAN_PROJECT);

	if (aggregate)
		return aggregate->input;
	return project ? project->input : plan;
}

u32 plan_trigger(const struct plan *plan)
{
	while (plan->kind != PLAN_SCAN)
		plan = plan->kind == PLAN_UNION ? plan->inputs[0] : plan->input;
	return plan->scan.source;
}

struct plan **plan_slot(struct plan *p, u32 i)
{
	if (p->input && i-- == 0)
		return &p->input;
	if (p->right && i-- == 0)
		return &p->right;
	return i < p->n_inputs ? &p->inputs[i] : NULL;
}

const struct plan *plan_child(const struct plan *p, u32 i)
{
	struct plan **slot = plan_slot((struct plan *)p, i);

	return slot ? *slot : NULL;
}

bool plan_reads_selects(const struct plan *p)
{
	return p->kind == PLAN_DERIVED || p->kind == PLAN_SET;
}

const struct plan *plan_scan(const struct plan *p, u32 source)
{
	const struct plan *child, *found = NULL;

	if (p->kind == PLAN_SCAN)
		return p->scan.source == source ? p : NULL;
	for (u32 i = 0; !found && !plan_reads_selects(p) && (child = plan_child(p, i)); i++)
		found = plan_scan(child, source);
	return found;
}

bool plan_has_relation(const struct plan *p, u32 relation)
{
	const struct plan *child;

	if (p->kind == PLAN_DERIVED)
		return p->derived.relation == relation;
	if (p->kind == PLAN_TABLE)
		return p->table.relation == relation;
	for (u32 i = 0; (child = plan_child(p, i)); i++)
		if (plan_has_relation(child, relation))
			return true;
	return false;
}

bool plan_is_rows(const struct plan *p)
{
	const struct plan *child;

	if (p->kind != PLAN_SCAN && p->kind != PLAN_JOIN && p->kind != PLAN_UNION &&
	    p->kind != PLAN_FILTER && p->kind != PLAN_RUNNING)
		return false;
	for (u32 i = 0; (child = plan_child(p, i)); i++)
		if (!plan_is_rows(child))
			return false;
	return true;
}

/* 0: reads nothing, 1: of the tree only, -1: of others too */
static int reads(const struct expr *e, const struct plan *tree)
{
	int all = 0;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING)
		return plan_scan(tree, e->source) ? 1 : -1;
	if (e->plan || e->kind == EXPR_COLUMN || e->kind == EXPR_OVER || e->kind == EXPR_KEY ||
	    e->kind == EXPR_AGGREGATE || e->kind == EXPR_WINDOW_START ||
	    e->kind == EXPR_WINDOW_END || e->kind == EXPR_OTHER)
		return -1;
	/* Which branch the row is of is something read, be the branches constants. */
	for (u32 i = 0; e->kind == EXPR_UNION && i < e->n_args; i++) {
		if (!plan_scan(tree, e->branches[i]))
			return -1;
		all = 1;
	}
	for (u32 i = 0; i < e->n_args; i++) {
		int one = reads(e->args[i], tree);

		if (one < 0)
			return -1;
		all |= one;
	}
	return all;
}

bool expr_reads(const struct expr *e)
{
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING ||
	    e->kind == EXPR_UNION || e->kind == EXPR_COLUMN || e->kind == EXPR_OTHER)
		return true;
	for (u32 i = 0; i < e->n_args; i++)
		if (expr_reads(e->args[i]))
			return true;
	return false;
}

bool expr_is_of(const struct expr *expr, const struct plan *tree)
{
	return reads(expr, tree) > 0;
}

bool expr_is_within(const struct expr *expr, const struct plan *tree)
{
	return reads(expr, tree) >= 0;
}

void plan_each(struct plan *plan, void (*visit)(void *context, struct plan *plan), void *context)
{
	struct plan **child;

	visit(context, plan);
	for (u32 i = 0; (child = plan_slot(plan, i)); i++)
		plan_each(*child, visit, context);
}

typedef void visit_expr(void *context, struct expr **expr);

/* expr: what follows the name of an entry of the list, .expr or nothing */
#define VISIT(list, n, expr)                                                                       \
	for (u32 i_ = 0; i_ < (n); i_++)                                                           \
	visit(context, &(list)[i_] expr)

static void visit_aggregate(struct aggregate *a, visit_expr *visit, void *context)
{
	struct expr **const all[] = { &a->arg, &a->filter, &a->time, &a->weight, &a->separator };

	for (u32 i = 0; i < ARRAY_SIZE(all); i++)
		if (*all[i])
			visit(context, all[i]);
}

static void visit_over(struct over *o, visit_expr *visit, void *context)
{
	if (o->aggregate)
		visit_aggregate(o->aggregate, visit, context);
	VISIT(o->args, o->n_args, );
	VISIT(o->partition, o->n_partition, );
	VISIT(o->order, o->n_order, .expr);
}

void plan_each_expr(struct plan *p, void (*visit)(void *context, struct expr **expr), void *context)
{
	VISIT(p->filter.conjuncts, p->filter.n_conjuncts, );
	VISIT(p->aggregate.keys, p->aggregate.n_keys, .expr);
	for (u32 i = 0; i < p->aggregate.n; i++)
		visit_aggregate(&p->aggregate.list[i], visit, context);
	for (u32 i = 0; i < p->over.n; i++)
		visit_over(&p->over.list[i], visit, context);
	VISIT(p->project.items, p->project.n_items, .expr);
	VISIT(p->sort.keys, p->sort.n_keys, .expr);
	VISIT(p->shared, p->n_shared, );
	for (u32 i = 0; i < p->join.n_keys; i++) {
		visit(context, &p->join.keys[i].left);
		visit(context, &p->join.keys[i].right);
	}
	if (p->relate.on)
		visit(context, &p->relate.on);
	if (p->running.arg)
		visit(context, &p->running.arg);
	VISIT(p->running.keys, p->running.n_keys, );
}

struct mapping {
	struct arena *arena;
	struct expr *(*change)(void *context, struct expr *expr);
	void *context;
};

static void map_root(void *context, struct expr **e)
{
	const struct mapping *m = context;

	*e = expr_map(m->arena, *e, m->change, m->context);
}

void plan_map_expr(struct plan *p, struct arena *arena,
		   struct expr *(*change)(void *context, struct expr *expr), void *context)
{
	plan_each_expr(p, map_root, &(struct mapping){ arena, change, context });
}

struct node_visit {
	void (*visit)(void *context, struct expr *expr);
	void *context;
};

static void visit_node(void *context, struct expr *e)
{
	const struct node_visit *v = context;

	v->visit(v->context, e);
	if (e->plan)
		plan_each_node(e->plan, v->visit, v->context);
}

static void visit_root(void *context, struct expr **e)
{
	expr_each(*e, visit_node, context);
}

static void visit_operator(void *context, struct plan *p)
{
	plan_each_expr(p, visit_root, context);
}

void plan_each_own(struct plan *p, void (*visit)(void *context, struct expr *expr), void *context)
{
	visit_operator(&(struct node_visit){ visit, context }, p);
}

void plan_each_node(struct plan *plan, void (*visit)(void *context, struct expr *expr),
		    void *context)
{
	plan_each(plan, visit_operator, &(struct node_visit){ visit, context });
}

#define COPY(member, n) ((member) = copied(arena, (member), (n) * sizeof(*(member))))

struct plan *plan_copy(const struct plan *plan, struct arena *arena)
{
	struct plan *p = arena_new(arena, struct plan);

	*p = *plan;
	COPY(p->inputs, p->n_inputs);
	COPY(p->shared, p->n_shared);
	COPY(p->filter.conjuncts, p->filter.n_conjuncts);
	COPY(p->aggregate.keys, p->aggregate.n_keys);
	COPY(p->aggregate.list, p->aggregate.n);
	COPY(p->project.items, p->project.n_items);
	COPY(p->sort.keys, p->sort.n_keys);
	COPY(p->join.keys, p->join.n_keys);
	COPY(p->running.keys, p->running.n_keys);
	COPY(p->over.list, p->over.n);
	for (u32 i = 0; i < p->over.n; i++) {
		struct over *o = &p->over.list[i];

		COPY(o->aggregate, o->aggregate ? 1 : 0);
		COPY(o->args, o->n_args);
		COPY(o->partition, o->n_partition);
		COPY(o->order, o->n_order);
	}
	return p;
}

void plan_unnest_columns(const char *name, struct type type, struct arena *arena,
			 struct column ret_columns[3])
{
	static const char *const names[][3] = { { "lo", "hi", "count" },
						{ "value", "weight", "error" } };
	bool is_top = type.kind == TYPE_TOP;

	type.kind = type.of;
	type.of = TYPE_NULL;
	if (!is_top) {
		if (type.kind != TYPE_DURATION && type.kind != TYPE_TIMESTAMP)
			type.kind = TYPE_INT;
		type.bits = 64;
		type.is_signed = true;
	}
	for (u32 i = 0; i < 3; i++) {
		bool is_value = is_top ? i == 0 : i < 2;

		ret_columns[i].name = names[is_top][i];
		ret_columns[i].type = is_value ? type : type_int(64, false);
		if (*name)
			ret_columns[i].name = arena_printf(arena, "%s_%s", name, names[is_top][i]);
	}
}

static struct type shown_type(const struct expr *e)
{
	/* One of a histogram is as its values are. */
	bool is_merged = e->kind == EXPR_STATISTIC && e->args[0]->type.kind == TYPE_HISTOGRAM;

	/* An interpolated one is shown as the number that it is. */
	if (e->is_quantile && e->type.kind != TYPE_REAL)
		return (struct type){ .kind = TYPE_QUANTILE,
				      .is_signed = (is_merged ? e->args[0] : e)->type.is_signed,
				      .of = e->type.kind,
				      .clock = e->type.clock };
	return e->type;
}

const struct item *plan_items(const struct plan *plan, u32 *ret_n)
{
	while (plan->kind != PLAN_PROJECT && plan->kind != PLAN_SET)
		plan = plan->input;
	*ret_n = plan->kind == PLAN_SET ? plan->set.n_columns : plan->project.n_items;
	return plan->kind == PLAN_SET ? plan->set.columns : plan->project.items;
}

void plan_columns(const struct plan *plan, struct arena *arena, struct schema *ret_columns)
{
	u32 n_items, n = 0;
	const struct item *items = plan_items(plan, &n_items);

	ret_columns->columns = arena_array(arena, struct column, 3 * n_items);
	for (u32 i = 0; i < n_items; i++) {
		struct column *column = &ret_columns->columns[n];

		n += items[i].is_unnest ? 3 : 1;
		if (items[i].is_unnest)
			plan_unnest_columns(items[i].name, items[i].expr->type, arena, column);
		else
			*column = (struct column){ items[i].name, shown_type(items[i].expr),
						   items[i].is_unnamed, items[i].expr->is_other,
						   items[i].expr->bound };
	}
	ret_columns->n_columns = n;
}

void plan_triggers(const struct plan *tree, struct arena *arena, trigger_vec *ret_triggers)
{
	while (tree->kind != PLAN_SCAN && tree->kind != PLAN_UNION)
		tree = tree->input;
	if (tree->kind == PLAN_SCAN)
		vec_push(arena, ret_triggers, tree->scan.source);
	for (u32 i = 0; i < tree->n_inputs; i++)
		plan_triggers(tree->inputs[i], arena, ret_triggers);
}

struct branch {
	struct arena *arena;
	u32 trigger;
};

static struct expr *of_branch(void *context, struct expr *e)
{
	const struct branch *b = context;
	struct expr *null;

	for (u32 i = 0; e->kind == EXPR_UNION && i < e->n_args; i++) {
		if (e->branches[i] != b->trigger)
			continue;
		if (e->args[i]->kind != EXPR_NULL)
			return e->args[i];
		/* A NULL of the column's type: what stands above compares by it. */
		null = expr_new(b->arena, EXPR_NULL, e->span);
		null->type = e->type;
		null->nullable = true;
		return null;
	}
	return e;
}

struct expr *expr_branch(struct arena *arena, struct expr *e, u32 trigger)
{
	return expr_map(arena, e, of_branch, &(struct branch){ arena, trigger });
}

/* Of a kernel's event the system column, of a recorded one its column `time`. */
static struct expr *time_of(const struct plan *scan, struct arena *arena)
{
	const struct stream *s = scan->scan.streams->streams.at[0];
	bool is_file = s->kind == STREAM_FILE;
	struct expr *e;

	if (!stream_has_times(s))
		return NULL;
	e = expr_new(arena, is_file ? EXPR_FIELD : EXPR_SYSTEM, scan->span);
	e->index = is_file ? (u32)s->file->time_column : SYS_TIME;
	e->name = is_file ? s->fields[e->index].name : system_columns[SYS_TIME].name;
	expr_set_type(e, is_file ? s->fields[e->index].type : system_columns[SYS_TIME].type);
	e->source = scan->scan.source;
	return e;
}

struct expr *plan_time(const struct plan *tree, struct arena *arena)
{
	struct expr *all = expr_new(arena, EXPR_UNION, tree->span);
	trigger_vec triggers = { 0 };

	plan_triggers(tree, arena, &triggers);
	all->args = arena_array(arena, struct expr *, triggers.n);
	all->n_args = triggers.n;
	all->branches = triggers.at;
	all->name = system_columns[SYS_TIME].name;
	for (u32 i = 0; i < triggers.n; i++) {
		all->args[i] = time_of(plan_scan(tree, triggers.at[i]), arena);
		if (!all->args[i])
			return NULL;
		all->type = all->args[i]->type;
		all->lo = all->args[i]->lo;
		all->hi = all->args[i]->hi;
	}
	return triggers.n == 1 ? all->args[0] : all;
}
