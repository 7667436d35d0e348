/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The pipeline behind the parser: AST -> logical plan -> cut -> for each of its parts
 * optimised plan; then for all of them physical plan -> IR -> instructions.  query_compile() is the
 * tour.
 */
#include <errno.h>
#include <linux/version.h>
#include <signal.h>
#include <string.h>

#include "gen/gen.h"
#include "opt/opt.h"
#include "query/internal.h"

/* Programs for several parts beyond this are made two: each part is then verified anew. */
#define SHARED_INSNS_MAX 16384

/* Do programs count what only ASSERT() looks at? */
#ifdef NDEBUG
static const bool is_checked;
#else
static const bool is_checked = true;
#endif

bool program_compile(struct programs *programs, u32 i, const struct kernel_features *kernel,
		     struct arena *arena, const char **ret_reason)
{
	const struct bpf_features features = { kernel->has_signed_division };
	struct load_program *p = &programs->of_hook[i];
	int err;

	p->hook = &programs->set->hooks[i];
	programs->irs[i] = gen_program(programs->set, p->hook, arena, &programs->constants);
	err = bpf_compile(programs->irs[i], arena, &features, &p->code, ret_reason);
	if (err && err != -E2BIG)
		BUG("the program for %s: %s", p->hook->target, *ret_reason);
	return !err && (p->code.n_insns <= SHARED_INSNS_MAX || hook_n_parts(p->hook) == 1);
}

void programs_init(struct programs *programs, u32 n_hooks, struct arena *arena)
{
	buf_init_in(&programs->constants, arena);
	programs->irs = arena_array(arena, struct ir *, n_hooks);
	programs->of_hook = arena_array(arena, struct load_program, n_hooks);
}

/* One program a hook; where it would be too large for all its parts, several. */
bool query_programs(struct query *query, struct programs *programs)
{
	struct phys_set *set = programs->set;
	const char *reason = NULL;

	programs_init(programs, set->n_hooks * MAX(set->n_parts, 1u), &query->arena);
	for (u32 i = 0; i < set->n_hooks;) {
		if (program_compile(programs, i, &query->features, &query->arena, &reason)) {
			i++;
			continue;
		}
		/* All anew: there may be more slots than before. */
		if (phys_split(set, i, &query->arena)) {
			programs->constants.n = 0;
			i = 0;
			continue;
		}
		return diag_refuse(&query->diags, "program-too-large", query->statement->span,
				   "the query does not fit one kernel program: %s" HINT
				   "use fewer texts or conditions in one query",
				   reason);
	}
	/* Their places changed where hooks became several. */
	for (u32 i = 0; i < set->n_hooks; i++)
		programs->of_hook[i].hook = &set->hooks[i];
	return true;
}

/*
 * A frozen catalog stands for one machine, so that its plans are the same everywhere:
 * one with the kernel of tests/catalog/kernel-6.18 and four CPUs.
 */
static void find_machine(struct query *query)
{
	if (!query->catalog_path) {
		kernel_features_probe(&query->features);
		query->n_cpus = load_possible_cpus();
		return;
	}
	query->features = (struct kernel_features){ .version = KERNEL_VERSION(6, 18, 0),
						    .has_btf = true,
						    .has_raw_recursion_guard = true,
						    .has_large_array_value = true,
						    .has_signed_division = true };
	query->n_cpus = 4;
}

/*
 * The share of the wanted system calls among all, or -1: not asked for, or not known.  It takes its
 * time, so of queries beside others turn.c looks as they run.
 */
static double survey(struct query *query, const struct query_part *part)
{
	const struct plan *rows = plan_rows(part->optimized);
	const struct stream_list *list;
	const struct stream *s;

	/* The first call of the first scan stands for all: both ends come equally often. */
	while (rows->kind != PLAN_SCAN) {
		u32 first = 0;

		while (first + 1 < rows->n_inputs && plan_is_empty(rows->inputs[first]))
			first++;
		rows = rows->kind == PLAN_UNION ? rows->inputs[first] : rows->input;
	}
	list = rows->scan.streams;
	s = list->streams.at[0];
	if (query->share >= 0)
		return query->share;
	if (!query->settings.survey_ns || query->is_beside || query->catalog_path ||
	    list->streams.n > 1 || s->syscall_nr < 0 ||
	    !(s->is_syscall_enter || s->is_syscall_exit))
		return -1;
	return load_survey(s->syscall_nr, query->settings.survey_ns);
}

bool query_open_catalog(struct query *query)
{
	if (!query->catalog && query->catalog_path)
		query->catalog =
			catalog_open_snapshot(&query->arena, query->catalog_path, &query->diags);
	else if (!query->catalog)
		query->catalog = catalog_open_live(&query->arena);
	if (query->catalog)
		catalog_set_process(query->catalog, query->settings.only_pid);
	return query->catalog != NULL;
}

/* The optimised plan of a part, as the physical plan wants it, unless it has no streams. */
static void optimize_part(struct query *query, struct cut_part *cut_part, struct query_part *part)
{
	bool is_list = cut_part->kind == PART_TABLE && cut_part->plan;

	part->logical = part->optimized = cut_part->plan;
	if (!cut_part->has_streams && !is_list)
		return;
	/* The items of its rows are known only now. */
	if (cut_part->is_kernel && query->settings.pushdown)
		part->optimized = opt_run(part->logical, &query->settings, &query->arena);
	cut_part->plan = part->optimized;
	part->input = (struct phys_input){
		.name = cut_part->name,
		.plan = part->optimized,
		.settings = &query->settings,
		.features = &query->features,
		.catalog = query->catalog,
		.n_cpus = query->n_cpus,
		.only_scans = !cut_part->is_kernel,
		.share = is_list ? -1 : survey(query, part),
		.is_checked = is_checked && !query->catalog_path,
	};
}

static bool is_shared(const struct query *query, u32 part)
{
	return query->parts[part].input.plan && query->cut->parts[part].kind != PART_TABLE;
}

const struct phys_input *query_inputs(struct query *query, u32 *ret_n)
{
	struct phys_input *inputs =
		arena_array(&query->arena, struct phys_input, query->cut->n_parts);

	*ret_n = 0;
	for (u32 i = 0; i < query->cut->n_parts; i++)
		if (is_shared(query, i))
			inputs[(*ret_n)++] = query->parts[i].input;
	return inputs;
}

void query_set_parts(struct query *query, const struct phys_set *set)
{
	u32 n = 0;

	for (u32 i = 0; i < query->cut->n_parts; i++)
		if (is_shared(query, i))
			query->parts[i].phys = set->parts[n++];
}

/* Plans -> instructions: of all parts together, since they share hooks. */
bool query_plan_programs(struct query *query)
{
	u32 n;
	const struct phys_input *inputs = query_inputs(query, &n);
	struct phys_set *set = n ? phys_plan(inputs, n, &query->arena, &query->diags) : NULL;

	if (!set)
		return !n;
	query->programs = arena_new(&query->arena, struct programs);
	query->programs->set = set;
	query_set_parts(query, set);
	return query_programs(query, query->programs);
}

/* Each by itself: what reads a list shares its program with nobody. */
static bool plan_lists(struct query *query)
{
	for (u32 i = 0; i < query->cut->n_parts; i++) {
		struct query_part *part = &query->parts[i];
		struct phys_set *set;

		if (!part->input.plan || is_shared(query, i))
			continue;
		set = phys_plan(&part->input, 1, &query->arena, &query->diags);
		if (!set)
			return false;
		part->list = arena_new(&query->arena, struct programs);
		part->list->set = set;
		if (!query_programs(query, part->list))
			return false;
	}
	return true;
}

/* Whose numbers pid, tid and ppid are must not be guessed silently. */
static void warn_namespace(struct query *query)
{
	if ((query->bound->has_streams || query->bound->has_iterators) &&
	    !catalog_pid_ns(query->catalog).ino)
		diag_warning(&query->diags, "no-proc", SPAN_NONE,
			     "without /proc ebql cannot tell in which PID namespace it runs" HINT
			     "pid, tid and ppid are the kernel's own numbers; mount -t proc proc "
			     "/proc");
}

/* Nothing matches a process that is not there; recordings and frozen catalogs are of others. */
static void warn_process(struct query *query)
{
	const struct settings *settings = &query->settings;

	if (!settings->is_target_used || settings->target_pid <= 0 ||
	    !(query->bound->has_streams || query->bound->has_iterators) || query->catalog_path ||
	    kill(settings->target_pid, 0) == 0 || errno != ESRCH)
		return;
	diag_warning(&query->diags, "no-process", SPAN_NONE,
		     "there is no process %d, which -p names" HINT
		     "it takes the id of a running process; -- COMMAND starts one",
		     settings->target_pid);
}

/* Both are of programs that events run. */
static void warn_budget(struct query *query)
{
	const struct settings *settings = &query->settings;

	if (settings->over_budget == BUDGET_SAMPLE && !settings->max_cpu)
		diag_warning(&query->diags, "no-events", SPAN_NONE,
			     "over_budget has no effect: there is no budget" HINT
			     "max_cpu = '1%%' is one");
	if (query->bound->has_streams || (!settings->max_cpu && !settings->wake_count))
		return;
	diag_warning(&query->diags, "no-events", SPAN_NONE,
		     "%s has no effect: this query reads no stream of events" HINT
		     "files, tables and lists are read when they are asked for, and no event wakes",
		     settings->max_cpu ? "max_cpu" : "wake_count");
}

struct plan_context query_context(struct query *query)
{
	return (struct plan_context){ .catalog = query->catalog,
				      .settings = &query->settings,
				      .views = &query->views,
				      .n_views = UINT32_MAX,
				      .arena = &query->arena,
				      .databases = query->databases.at,
				      .n_databases = query->databases.n };
}

bool query_compile(struct query *query)
{
	u64 start_ns = base_monotonic_ns();
	struct plan_context context;

	if (!query_open_catalog(query))
		return false;
	if (!query->settings.costs)
		query->settings.costs = catalog_costs(query->catalog);
	context = query_context(query);
	query->bound = plan_bind_query(query->statement->select, &context, &query->diags);
	if (!query->bound)
		return false;
	warn_process(query);
	warn_namespace(query);
	warn_budget(query);
	query->bound_plan = query->bound->plan;
	/* Where user space does it all, nothing is rewritten: it is the reference. */
	if (query->settings.pushdown && (query->bound->has_streams || query->bound->has_iterators))
		query->bound->plan = opt_query(query->bound->plan, &query->settings, &query->arena);
	query->cut = cut_query(query->bound, &query->settings, query->databases.at,
			       query->databases.n, &query->arena, &query->diags);
	if (!query->cut)
		return false;
	if (query->bound->has_streams || query->bound->has_iterators)
		find_machine(query);
	query->parts = arena_array(&query->arena, struct query_part, query->cut->n_parts);
	for (u32 i = 0; i < query->cut->n_parts; i++)
		optimize_part(query, &query->cut->parts[i], &query->parts[i]);
	if (!query_plan_programs(query) || !plan_lists(query))
		return false;
	query->compile_ns = base_monotonic_ns() - start_ns;
	return true;
}
