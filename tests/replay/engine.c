/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Query text + events -> result, through every stage of ebql: parse, bind,
 * optimise, plan for replay, generate, load, run the program once for each event,
 * drain.  An event names its CPU, and so its slice, itself.
 */
#include <bpf/bpf.h>
#include <string.h>

#include "cat/cat.h"
#include "gen/gen.h"
#include "load/load.h"
#include "opt/opt.h"
#include "phys/phys.h"
#include "plan/plan.h"
#include "replay.h"
#include "tree/tree.h"
#include "engine/engine.h"
#include "sql/sql.h"

/* Small tables: thousands of maps are made and zeroed in one test. */
#define MAX_GROUPS 1024
#define RING_BYTES (1 << 18)
/* Streamed rows are read after so many events: they fit into the ring buffer. */
#define STREAM_EVENTS 200

struct engine {
	struct kernel_features features;
	u32 n_cpus;
	struct engine_stats stats;
};

/* One query on its way. */
struct job {
	struct engine *engine;
	const struct engine_options *options;
	struct arena *arena;
	struct diags diags;
	struct settings settings;
	struct kernel_features features;
	struct catalog *catalog;
	struct phys *phys;
	struct load load;
	struct run *run;
	struct cut_part part;
	struct row_source *source; /* in place of run */
	struct result *result;
};

static const char *failure(struct job *job, const char *step)
{
	struct buf out;
	const char *text;

	buf_init(&out);
	buf_printf(&out, "%s: ", step);
	diags_print(&job->diags, &out);
	text = arena_strdup(job->arena, out.at);
	buf_free(&out);
	return text;
}

static void job_settings(struct job *job, const struct engine_options *options)
{
	struct settings *settings = &job->settings;

	settings_init(settings);
	settings->max_groups = options->max_groups ? options->max_groups : MAX_GROUPS;
	settings->is_max_groups_set = true;
	settings->ring_bytes = RING_BYTES;
	settings->max_in_flight = options->max_in_flight ? options->max_in_flight : 16;
	settings->rules_off = options->rules_off;
	settings->state = !strcmp(options->state, "table")	  ? STATE_ONLY_TABLE
			  : !strcmp(options->state, "kernel_map") ? STATE_ONLY_KERNEL_MAP
								  : STATE_AUTO;
}

static int take_batch(void *context, const struct batch *batch)
{
	struct job *job = context;
	struct result *result = job->result;
	u32 n = batch->schema->n_columns;

	if (job->options->batch) {
		job->options->batch(job->options->batch_context, batch);
		return 0;
	}
	result->n_columns = n;
	if (job->options->n_panes && batch->is_windowed) {
		/* Only the last window has all panes. */
		result->values = NULL;
		result->n_rows = 0;
		result->other_row = -1;
	}
	if (batch->other_row >= 0)
		result->other_row = result->n_rows + batch->other_row;
	for (u32 i = 0; i < batch->n_rows; i++)
		result_add_row(result, job->arena, batch->values + (size_t)i * n);
	/* Without a window the counters of a batch are those of the run so far. */
	result->events = batch->events;
	result->matched = batch->matched;
	memcpy(result->lost, batch->lost, sizeof(result->lost));
	memcpy(result->unpaired, batch->unpaired, sizeof(result->unpaired));
	return 0;
}

/* Text -> physical plan; NULL or the step that refused. */
static const char *compile(struct job *job, const char *sql)
{
	struct phys_input input = { .features = &job->features,
				    .n_cpus = job->engine->n_cpus,
				    .is_replay = true,
				    .share = -1 };
	struct ast_script *script;
	struct plan *plan;

	diags_init(&job->diags, job->arena, "query", sql, strlen(sql));
	job->catalog = catalog_open_snapshot(job->arena, CATALOG_PATH, &job->diags);
	if (!job->catalog)
		return "catalog";
	script = sql_parse(job->arena, &job->diags);
	if (diags_failed(&job->diags))
		return "parse";
	BUG_ON(script->statements.n != 1);
	plan = plan_bind(script->statements.at[0].select, job->catalog, &job->settings, NULL,
			 job->arena, &job->diags);
	if (!plan)
		return "bind";
	input.plan = opt_run(plan, &job->settings, job->arena);
	input.settings = &job->settings;
	input.catalog = job->catalog;
	input.is_raw = job->options->rows == ROWS_OF_RAW_SCANS;
	job->part.plan = (struct plan *)input.plan;
	job->phys = phys_plan(&input, job->arena, &job->diags);
	if (job->phys && job->options->n_panes && !job->phys->is_streaming) {
		job->phys->window = WINDOW_HOPPING;
		job->phys->window_ns = (u64)job->options->n_panes << 32;
		job->phys->advance_ns = 1ull << 32;
	}
	return job->phys ? NULL : "phys";
}

static const char *open_rows(struct job *job)
{
	const struct plan *project = plan_find(job->part.plan, PLAN_PROJECT);
	struct schema *columns = &job->part.columns;

	job->part.kind = PART_ROWS;
	job->part.is_kernel = job->options->rows == ROWS_OF_KERNEL_PART;
	job->part.has_streams = true;
	columns->n_columns = project->project.n_items;
	columns->columns = arena_array(job->arena, struct column, project->project.n_items);
	for (u32 i = 0; i < project->project.n_items; i++)
		columns->columns[i] = (struct column){ project->project.items[i].name,
						       project->project.items[i].expr->type };
	for (u32 i = 0; job->part.is_kernel && i < project->project.n_items; i++)
		if (job->phys->user.output_from[i] < 0 &&
		    !expr_is_constant(project->project.items[i].expr)) {
			load_close(&job->load);
			return ENGINE_NOT_KERNEL;
		}
	job->source = row_source_open(&job->part, &job->load, NULL, job->arena, &job->diags);
	if (job->source)
		return NULL;
	load_close(&job->load);
	return "rows";
}

static const char *open_run(struct job *job)
{
	const struct run_options options = { .child_pid = -1, .child_go_fd = -1 };
	const struct run_sink sink = { .batch = take_batch, .context = job };

	if (job->options->rows != ROWS_OF_RUN)
		return open_rows(job);
	job->run = run_open(&job->load, &options, &sink, job->arena, &job->diags);
	if (job->run)
		return NULL;
	load_close(&job->load);
	return "run";
}

static const char *load(struct job *job)
{
	const struct bpf_features features = { job->features.has_signed_division };
	const struct phys *phys = job->phys;
	struct load_program *programs;
	const char *reason = NULL, *step = NULL;
	struct buf constants;

	programs = arena_array(job->arena, struct load_program, phys->n_hooks);
	buf_init(&constants);
	for (u32 i = 0; i < phys->n_hooks && !step; i++) {
		struct ir *ir = gen_program(phys, &phys->hooks[i], job->arena, &constants);

		programs[i].hook = &phys->hooks[i];
		if (bpf_compile(ir, job->arena, &features, &programs[i].code, &reason))
			step = arena_printf(job->arena, "compile (%s)",
					    reason ? reason : ir_check(ir));
	}
	if (!step && load_open(&job->load, phys, programs, phys->n_hooks, constants.at, constants.n,
			       job->arena, &job->diags))
		step = "load";
	if (!step)
		step = open_run(job);
	buf_free(&constants);
	return step;
}

/* How large the program is, and how much of it the verifier walked. */
static void measure(struct job *job)
{
	struct engine_stats *stats = &job->engine->stats;
	struct bpf_prog_info info = { 0 };
	u32 info_bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(job->load.programs[0].fd, &info, &info_bytes))
		return;
	stats->most_insns = MAX(stats->most_insns, job->load.programs[0].code.n_insns);
	stats->most_verified = MAX(stats->most_verified, info.verified_insns);
}

static bool is_of(const struct hook *hook, const struct event *event)
{
	const char *name = hook->uses[0].streams[0]->event;

	return strcmp(name, event->stream == STREAM_OTHER ? "other" : "event") == 0;
}

/* Ends the windows that end before that event, or, behind the last event, all that are left. */
static bool end_windows(struct job *job, u32 event, u32 *n_ended)
{
	const struct engine_options *options = job->options;

	for (; *n_ended < options->n_window_ends && options->window_ends[*n_ended] <= event;
	     ++*n_ended)
		if (run_drain_once(job->run, false))
			return false;
	return true;
}

/* Rows of a part: some are read on the way, the rest at the end. */
static bool read_rows(struct job *job, u64 before_ns, bool is_last)
{
	struct result *result = job->result;
	const struct value *rows;
	struct batch batch = { 0 };
	s64 n;

	result->n_columns = job->part.columns.n_columns;
	while ((n = row_source_read(job->source, before_ns, 7, &rows)) > 0)
		for (s64 i = 0; i < n; i++)
			result_add_row(result, job->arena, rows + (size_t)i * result->n_columns);
	if (n < 0 || !is_last)
		return n == 0;
	row_source_finish(job->source);
	row_source_account(job->source, &batch);
	result->events = batch.events;
	result->matched = batch.matched;
	memcpy(result->lost, batch.lost, sizeof(result->lost));
	memcpy(result->unpaired, batch.unpaired, sizeof(result->unpaired));
	return true;
}

/* Panes are of about as many events each. */
static bool is_pane_end(const struct job *job, u32 event, u32 n_events)
{
	u32 n_panes = job->options->n_panes;

	return n_panes && !job->phys->is_streaming && event &&
	       event % (n_events / n_panes + 1) == 0;
}

static bool drain(struct job *job, const struct event *event, bool is_last)
{
	if (job->source)
		return read_rows(job, is_last ? UINT64_MAX : (u64)event->integers[C_TIME], is_last);
	return run_drain_once(job->run, is_last) == 0;
}

/* Every program of its stream sees an event, in the order of the hooks: ends before starts. */
static const char *replay(struct job *job, const struct event *events, u32 n_events)
{
	u32 n_ended = 0;

	for (u32 i = 0; i < n_events; i++) {
		if (!end_windows(job, i, &n_ended))
			return "drain";
		if (is_pane_end(job, i, n_events) && !drain(job, &events[i], false))
			return "drain";
		for (u32 k = 0; k < job->phys->n_hooks; k++)
			if (is_of(&job->phys->hooks[k], &events[i]) &&
			    load_test_run(&job->load, k, events[i].context,
					  events[i].context_bytes))
				return "test run";
		if (job->phys->is_streaming && i % STREAM_EVENTS == STREAM_EVENTS - 1 &&
		    !drain(job, &events[i], false))
			return "drain";
	}
	if (!end_windows(job, n_events, &n_ended) || !drain(job, NULL, true))
		return "drain";
	return NULL;
}

bool engine_run(struct engine *engine, const char *sql, const struct engine_options *options,
		const struct event *events, u32 n_events, struct arena *arena,
		struct result *ret_result, const char **ret_error)
{
	struct job job = {
		.engine = engine, .options = options, .arena = arena, .result = ret_result
	};
	u64 at_ns[4] = { base_monotonic_ns() };
	const char *step;

	*ret_result = (struct result){ .other_row = -1, .has_counters = true };
	job.features = engine->features;
	job.features.has_signed_division &= !options->is_old_kernel;
	job_settings(&job, options);
	step = compile(&job, sql);
	at_ns[1] = at_ns[2] = at_ns[3] = base_monotonic_ns();
	if (!step) {
		step = load(&job);
		at_ns[2] = at_ns[3] = base_monotonic_ns();
		if (!step) {
			measure(&job);
			step = replay(&job, events, n_events);
			if (job.source)
				row_source_close(job.source);
			else
				run_close(job.run);
			load_close(&job.load);
		}
		at_ns[3] = base_monotonic_ns();
	}
	engine->stats.compile_ns += at_ns[1] - at_ns[0];
	engine->stats.load_ns += at_ns[2] - at_ns[1];
	engine->stats.replay_ns += at_ns[3] - at_ns[2];
	if (step)
		*ret_error = failure(&job, step);
	catalog_close(job.catalog);
	return !step;
}

struct engine *engine_open(struct arena *arena, const char **ret_reason)
{
	struct engine *engine = arena_new(arena, struct engine);
	const struct engine_options options = { "", "auto", 0 };
	struct result result;

	kernel_features_probe(&engine->features);
	engine->n_cpus = load_possible_cpus();
	replay_cpus = MIN(engine->n_cpus, REPLAY_CPUS);
	/* The only refusal that lets the tests be skipped: everything else is a failure. */
	if (!engine_run(engine, "SELECT count(*) FROM " REPLAY_STREAM, &options, NULL, 0, arena,
			&result, ret_reason) &&
	    strstr(*ret_reason, "[no-privilege]"))
		return NULL;
	return engine;
}

void engine_close(struct engine *engine)
{
}

const struct engine_stats *engine_stats(const struct engine *engine)
{
	return &engine->stats;
}
