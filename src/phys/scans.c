/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bare scans: the FROM tree -> its scans alone, each a root that streams those columns
 * which the plan uses of it, its event's time first.  Filters, joins and everything
 * behind them are left to user space.
 */

#include "phys/internal.h"

typedef VEC(struct phys_source) source_vec;

struct scan_walk {
	struct arena *arena;
	const struct plan *plan;
	struct diags *diags;
	source_vec sources;
	bool is_refused;
};

static struct phys_source *source_of(struct scan_walk *w, u32 number)
{
	for (u32 i = 0; i < w->sources.n; i++)
		if (w->sources.at[i].number == number)
			return &w->sources.at[i];
	BUG("no scan is source %u", number);
}

static void add_column(struct scan_walk *w, struct phys_source *s, struct expr *e)
{
	if (!w->is_refused)
		w->is_refused = phys_stream_column(s->columns, &s->n_columns, &s->row_bytes, e,
						   w->plan, w->diags) < 0;
}

/* --- Scans --- */

static void add_source(struct scan_walk *w, const struct plan *scan, bool is_root)
{
	struct phys_source s = { .number = scan->scan.source,
				 .scan = scan,
				 .streams = scan->scan.streams,
				 .row_bytes = sizeof(struct stream_header),
				 .is_root = is_root };
	struct expr *time = expr_new(w->arena, EXPR_SYSTEM, scan->span);

	time->index = SYS_TIME;
	time->name = system_columns[SYS_TIME].name;
	time->type = system_columns[SYS_TIME].type;
	time->hi = type_max(time->type);
	time->source = scan->scan.source;
	s.columns = arena_array(w->arena, struct stream_column, STREAM_COLUMNS_MAX);
	add_column(w, &s, time);
	vec_push(w->arena, &w->sources, s);
}

/* is_root: the operator's rows come out at the root, they are not stored for a join; is_wanted:
 * such scans, or the others. */
static void find_sources(struct scan_walk *w, const struct plan *p, bool is_root, bool is_wanted)
{
	if (p->kind == PLAN_SCAN && is_root == is_wanted)
		add_source(w, p, is_root);
	if (p->input)
		find_sources(w, p->input, is_root, is_wanted);
	if (p->right)
		find_sources(w, p->right, false, is_wanted);
	for (u32 i = 0; i < p->n_inputs; i++)
		find_sources(w, p->inputs[i], is_root, is_wanted);
}

/* --- Columns --- */

static void note_source(void *context, struct expr *e)
{
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM)
		*(u32 *)context = e->source;
}

/* A member is read where the event is, with all that leads to it: of one column, by its binding. */
static u32 source_of_member(struct expr *e)
{
	u32 source = UINT32_MAX;

	expr_each(e, note_source, &source);
	return source;
}

static void collect(void *context, struct expr **root)
{
	struct scan_walk *w = context;
	struct expr *e = *root;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM)
		add_column(w, source_of(w, e->source), e);
	else if (e->kind == EXPR_MEMBER)
		add_column(w, source_of(w, source_of_member(e)), e);
	else
		for (u32 i = 0; i < e->n_args; i++)
			collect(w, &e->args[i]);
}

static void collect_of_operator(void *context, struct plan *p)
{
	plan_each_expr(p, collect, context);
}

bool phys_scan_sources(const struct plan *plan, struct arena *arena, struct diags *diags,
		       struct phys_source **ret_sources, u32 *ret_n)
{
	struct scan_walk w = { .arena = arena, .plan = plan, .diags = diags };

	/* Look-ups come before stores where both are of one event: in the order of the records. */
	find_sources(&w, plan, true, true);
	find_sources(&w, plan, true, false);
	plan_each((struct plan *)plan, collect_of_operator, &w);
	*ret_sources = w.sources.at;
	*ret_n = w.sources.n;
	return !w.is_refused;
}

bool phys_scans(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	phys->only_scans = true;
	phys->plan = input->plan;
	if (!phys_scan_sources(input->plan, phys->arena, diags, &phys->sources, &phys->n_sources))
		return false;
	for (u32 i = 0; i < phys->n_sources; i++)
		phys->sources[i].is_root = true;
	return true;
}
