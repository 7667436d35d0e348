/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The pipeline behind the parser: AST -> cut -> for each of its parts logical plan ->
 * optimised plan -> physical plan -> IR -> instructions.  query_compile() is the tour.
 */
#include <errno.h>
#include <linux/version.h>
#include <string.h>

#include "cli/query.h"
#include "gen/gen.h"
#include "opt/opt.h"

static bool compile_program(struct query *query, struct query_part *part, u32 i)
{
	const struct bpf_features features = { query->features.has_signed_division };
	struct load_program *p = &part->programs[i];
	const char *reason = NULL;
	int err;

	p->hook = &part->phys->hooks[i];
	part->irs[i] = gen_program(part->phys, p->hook, &query->arena, &part->constants);
	err = bpf_compile(part->irs[i], &query->arena, &features, &p->code, &reason);
	if (!err)
		return true;
	if (err != -E2BIG)
		BUG("the program for %s: %s", p->hook->target, reason);
	diag_hint(&query->diags,
		  diag_error(&query->diags, "program-too-large", query->statement->span,
			     "the query does not fit one kernel program: %s", reason),
		  "use fewer texts or conditions in one query");
	return false;
}

/*
 * A frozen catalog stands for one machine, so that its plans are the same everywhere:
 * one with the kernel of tests/catalog/kernel-6.18.snapshot and four CPUs.
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

/* The share of the wanted system calls among all, or -1: not asked for, or not known. */
static double survey(struct query *query, const struct query_part *part)
{
	const struct plan *rows = plan_rows(part->optimized);
	const struct stream_list *list;
	const struct stream *s;

	/* The first call of the first scan stands for all: both ends come equally often. */
	while (rows->kind != PLAN_SCAN)
		rows = rows->kind == PLAN_UNION ? rows->inputs[0] : rows->input;
	list = rows->scan.streams;
	s = list->streams.at[0];
	if (!query->settings.survey_ns || query->catalog_path || list->streams.n > 1 ||
	    s->syscall_nr < 0 || !(s->is_syscall_enter || s->is_syscall_exit))
		return -1;
	return load_survey(s->syscall_nr, query->settings.survey_ns, &query->arena);
}

bool query_open_catalog(struct query *query)
{
	query->catalog =
		query->catalog_path
			? catalog_open_snapshot(&query->arena, query->catalog_path, &query->diags)
			: catalog_open_live(&query->arena);
	return query->catalog != NULL;
}

/* Plan -> instructions of one part. */
static bool compile_part(struct query *query, struct cut_part *cut_part, struct query_part *part)
{
	struct arena *arena = &query->arena;
	bool is_raw = !cut_part->is_kernel;

	buf_init(&part->constants);
	part->logical = part->optimized = cut_part->plan;
	if (!cut_part->has_streams)
		return true;
	/* Where user space does it all, nothing is rewritten: it is the reference. */
	if (!is_raw)
		part->optimized = opt_run(part->logical, &query->settings, arena);
	cut_part->plan = part->optimized;
	part->phys = phys_plan(
		&(struct phys_input){
			.plan = part->optimized,
			.settings = &query->settings,
			.features = &query->features,
			.catalog = query->catalog,
			.n_cpus = query->n_cpus,
			.is_raw = is_raw,
			.share = survey(query, part),
		},
		arena, &query->diags);
	if (!part->phys)
		return false;
	part->n_programs = part->phys->n_hooks;
	part->irs = arena_array(arena, struct ir *, part->n_programs);
	part->programs = arena_array(arena, struct load_program, part->n_programs);
	for (u32 i = 0; i < part->n_programs; i++)
		if (!compile_program(query, part, i))
			return false;
	return true;
}

bool query_compile(struct query *query)
{
	u64 start_ns = base_monotonic_ns();

	if (!query_open_catalog(query))
		return false;
	query->cut =
		cut_plan(query->statement->select, query->catalog, &query->settings, &query->views,
			 query->databases.at, query->databases.n, &query->arena, &query->diags);
	if (!query->cut)
		return false;
	find_machine(query);
	query->parts = arena_array(&query->arena, struct query_part, query->cut->n_parts);
	for (u32 i = 0; i < query->cut->n_parts; i++)
		if (!compile_part(query, &query->cut->parts[i], &query->parts[i]))
			return false;
	query->compile_ns = base_monotonic_ns() - start_ns;
	return true;
}

const struct schema *query_output(const struct query *query)
{
	return query->cut->sql ? &query->cut->output : &query->parts[0].phys->user.output;
}

bool query_is_streaming(const struct query *query)
{
	return query->cut->sql ? query->cut->is_streaming : query->parts[0].phys->is_streaming;
}
