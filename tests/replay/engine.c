/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Query text + events -> batches, through every stage of ebql: parse, cut, and for each part
 * optimise, plan for replay, generate, load; then each program runs once for each event of its
 * stream, and what they counted is drained where a window ends.  An event names its CPU, and
 * so its slice, itself.  A query over recordings has no programs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "cut/cut.h"
#include "engine/internal.h"
#include "figures.h"
#include "gen/gen.h"
#include "load/load.h"
#include "opt/opt.h"
#include "phys/phys.h"
#include "replay.h"
#include "sys/sys.h"

/* Small tables: thousands of maps are made and zeroed in one test. */
#define MAX_GROUPS     1024
#define RING_BYTES_MIN (1 << 18)
/* Streamed rows are read after so many events. */
#define STREAM_EVENTS 200
/* The clock, behind the times of all events, and from one end of a window or pane to the next. */
#define CLOCK_NS (1ull << 62)
#define STEP_NS	 (1ull << 32)

struct replayer {
	struct kernel_features features;
	u32 n_cpus;
};

struct job;

/* Parts that share programs, as in query/segment.c: those of one query, or of several. */
struct segment {
	struct job *jobs[BLOCK_PARTS];
	u32 n_jobs, n_parts;
	struct phys_set *set;
	struct load_hooks hooks;
	bool is_loaded;
};

/* One query on its way. */
struct job {
	struct replayer *engine;
	const struct engine_options *options;
	struct arena *arena;
	struct diags diags;
	struct settings settings;
	struct kernel_features features;
	struct view_list views;
	struct catalog *catalog;
	struct cut *cut;
	struct phys_set *plan; /* NULL: no kernel part */
	struct segment *segment;
	struct load_state **load_list;
	struct flow_input input;
	struct flow *flow;
	struct result *result;
	const struct event *events;
	u32 n_events, n_ended; /* windows */
	u64 now_ns;
	const char *step; /* that failed; NULL: none did */
};

/* Queries that run together, over the same events. */
struct run {
	struct job *jobs;
	u32 n_jobs;
	struct segment *segments;
	u32 n_segments;
	struct arena *arena;
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

static void job_settings(struct job *job, size_t text_bytes)
{
	const struct engine_options *options = job->options;
	struct settings *settings = &job->settings;
	u64 ring_bytes = RING_BYTES_MIN;

	/* Where rows are read at the end, they all find room. */
	while (ring_bytes < job->n_events * 1024ull)
		ring_bytes *= 2;
	settings_init(settings);
	settings->max_groups = options->max_groups ? options->max_groups : MAX_GROUPS;
	settings->is_max_groups_set = true;
	settings->ring_bytes = ring_bytes;
	settings->max_in_flight = options->max_in_flight ? options->max_in_flight : 16;
	settings->rules_off = options->rules_off ? options->rules_off : "";
	settings->state = !options->state			  ? STATE_AUTO
			  : !strcmp(options->state, "table")	  ? STATE_ONLY_TABLE
			  : !strcmp(options->state, "kernel_map") ? STATE_ONLY_KERNEL_MAP
								  : STATE_AUTO;
	settings->pushdown = options->rows == ROWS_OF_KERNEL;
	/* Of every other query: it must make no difference, but for what figures_check() sees. */
	settings->counts_operators = text_bytes % 2;
}

/* --- Batches -> result --- */

static int take_batch(void *context, const struct batch *batch)
{
	struct job *job = context;
	struct result *result = job->result;
	u32 n = batch->schema->n_columns;

	if (job->options->batch) {
		job->options->batch(job->options->context, batch);
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
	result->events = batch->account.events;
	result->matched = batch->account.matched;
	memcpy(result->lost, batch->account.lost, sizeof(result->lost));
	memcpy(result->unpaired, batch->account.unpaired, sizeof(result->unpaired));
	return 0;
}

/* --- Compiling and loading: NULL, or the step that refused --- */

/* As query/compile.c does it. */
static bool compile_hook(struct segment *segment, struct load_program *program, u32 i,
			 struct buf *constants, struct arena *arena, const char **ret_reason)
{
	const struct bpf_features features = { segment->jobs[0]->features.has_signed_division };
	struct ir *ir = gen_program(segment->set, &segment->set->hooks[i], arena, constants);

	*ret_reason = NULL;
	if (!bpf_compile(ir, arena, &features, &program->code, ret_reason))
		return true;
	if (!*ret_reason)
		*ret_reason = ir_check(ir);
	return false;
}

static const char *load_segment(struct segment *segment, struct arena *arena)
{
	struct diags *diags = &segment->jobs[0]->diags;
	struct phys_set *set = segment->set;
	struct load_program *programs =
		arena_array(arena, struct load_program, set->n_hooks * set->n_parts);
	const char *reason = NULL, *step = NULL;
	struct buf constants;
	int err;

	do {
		buf_init_in(&constants, arena);
		for (u32 i = 0; i < set->n_hooks && !step; i++)
			while (!compile_hook(segment, &programs[i], i, &constants, arena,
					     &reason) &&
			       !step)
				if (!phys_split(set, i, arena))
					step = arena_printf(arena, "compile (%s)", reason);
		err = step ? 0
			   : load_open(&segment->hooks, set, programs, constants.at, constants.n,
				       arena, diags);
	} while (err == -EFBIG && phys_split(set, segment->hooks.too_large, arena));
	segment->is_loaded = !step && !err;
	return err ? "load" : step;
}

static void make_panes(struct job *job)
{
	struct phys *phys = job->plan->parts[0];

	if (!job->options->n_panes || phys->is_streaming || job->cut->sql)
		return;
	phys->window = job->cut->window.kind = WINDOW_HOPPING;
	/* And the one that ends with the run. */
	phys->window_ns = job->cut->window.size = (job->options->n_panes + 1) * STEP_NS;
	phys->advance_ns = job->cut->window.advance = STEP_NS;
}

/* Its parts with streams, behind those that are there; how many. */
static u32 add_inputs(const struct job *job, struct phys_input *inputs)
{
	u32 n = 0;

	for (u32 i = 0; i < job->cut->n_parts; i++) {
		struct cut_part *part = &job->cut->parts[i];

		if (!part->has_streams)
			continue;
		if (part->is_kernel)
			part->plan = opt_run(part->plan, &job->settings, job->arena);
		inputs[n++] = (struct phys_input){ .name = part->name,
						   .plan = part->plan,
						   .features = &job->features,
						   .n_cpus = job->engine->n_cpus,
						   .settings = &job->settings,
						   .catalog = job->catalog,
						   .is_replay = true,
						   .only_scans = !part->is_kernel,
						   .share = -1 };
	}
	return n;
}

static const char *cut_text(struct job *job, const char *sql)
{
	struct plan_query *query;
	struct ast_script *script;

	diags_init(&job->diags, job->arena, "query", sql, strlen(sql));
	views_init(&job->views, job->arena);
	script = sql_parse(job->arena, &job->diags);
	if (diags_failed(&job->diags))
		return "parse";
	BUG_ON(script->statements.n != 1);
	query = plan_bind_query(script->statements.at[0].select,
				&(struct plan_context){ .catalog = job->catalog,
							.settings = &job->settings,
							.views = &job->views,
							.n_views = UINT32_MAX,
							.arena = job->arena },
				&job->diags);
	if (!query)
		return "bind";
	if (job->settings.pushdown && query->has_streams)
		query->plan = opt_query(query->plan, &job->settings, job->arena);
	job->cut = cut_query(query, &job->settings, NULL, 0, job->arena, &job->diags);
	return job->cut ? NULL : "cut";
}

/* Where there is room for that many parts of a query that runs beside others. */
static struct segment *shared_segment(struct run *run, u32 n_parts)
{
	struct segment *last = run->n_segments ? &run->segments[run->n_segments - 1] : NULL;

	if (last && !last->set && last->n_parts + n_parts <= BLOCK_PARTS)
		return last;
	return &run->segments[run->n_segments++];
}

/* As query/segment.c does it. */
static void share_starts(const struct segment *segment, struct phys_set *plan)
{
	for (u32 i = 0; i < plan->n_parts; i++)
		for (u32 k = 0; k < segment->n_jobs; k++)
			if (phys_share_with(plan->parts[i], segment->jobs[k]->plan))
				break;
}

static u32 n_sharing(const struct job *job)
{
	const struct phys_set *set = job->segment->set;
	u32 n = 0;

	for (u32 i = 0; i < job->plan->n_parts; i++) {
		const struct phys *phys = job->plan->parts[i];
		u32 n_there = 0;

		for (u32 k = 0; set && k < set->n_parts; k++)
			n_there += phys->n_joins && set->parts[k]->starts == phys->starts;
		n += n_there > 1;
	}
	return n;
}

/* All its parts with streams; a query that is too large for others has programs of its own. */
static const char *plan_job(struct run *run, struct job *job)
{
	struct phys_input *inputs =
		arena_array(job->arena, struct phys_input, job->cut->n_parts + 1);
	u32 n = add_inputs(job, inputs);
	struct segment *segment;

	if (!n)
		return NULL;
	if (run->n_jobs == 1 || n > BLOCK_PARTS) {
		segment = &run->segments[run->n_segments++];
		job->plan = segment->set = phys_plan(inputs, n, job->arena, &job->diags);
	} else {
		segment = shared_segment(run, n);
		job->plan = phys_plan_into((1ull << segment->n_parts) - 1, inputs, n, job->arena,
					   &job->diags);
		if (job->plan)
			share_starts(segment, job->plan);
	}
	if (!job->plan)
		return "phys";
	make_panes(job);
	job->segment = segment;
	segment->jobs[segment->n_jobs++] = job;
	segment->n_parts += n;
	return NULL;
}

static const char *compile(struct run *run, struct job *job, const char *sql)
{
	const char *step;

	diags_init(&job->diags, job->arena, "query", sql, strlen(sql));
	job->catalog = catalog_open_snapshot(job->arena, CATALOG_PATH, &job->diags);
	if (!job->catalog)
		return "catalog";
	step = cut_text(job, sql);
	return step ? step : plan_job(run, job);
}

/* Its programs, which are attached to nothing. */
static void open_segment(struct run *run, struct segment *segment)
{
	struct phys_set *plans[BLOCK_PARTS];
	const char *step;

	if (!segment->n_jobs)
		return;
	for (u32 i = 0; i < segment->n_jobs; i++)
		plans[i] = segment->jobs[i]->plan;
	if (!segment->set) {
		segment->set = phys_merge(plans, segment->n_jobs, segment->jobs[0]->engine->n_cpus,
					  run->arena);
		segment->set->n_parts = segment->n_parts;
		/* There is no other segment's program to be called behind them: feed() does that.
		 */
		segment->set->is_changing = false;
	}
	step = load_segment(segment, run->arena);
	for (u32 i = 0; i < segment->n_jobs; i++)
		segment->jobs[i]->step = step;
}

static const char *open_run(struct job *job)
{
	const struct cut *cut = job->cut;
	u32 n = 0;

	job->load_list = arena_array(job->arena, struct load_state *, cut->n_parts + 1);
	for (u32 i = 0; i < cut->n_parts; i++)
		if (cut->parts[i].has_streams)
			job->load_list[i] =
				&job->segment->hooks.states[job->plan->parts[n++]->number];
	if (job->options->opened)
		job->options->opened(job->options->context, &cut->output, cut->n_parts);
	job->input = (struct flow_input){ .cut = job->cut,
					  .loads = job->load_list,
					  .sink = { .batch = take_batch, .context = job },
					  .arena = job->arena,
					  .diags = &job->diags };
	/* Files are read by an engine: read_files(). */
	if (job->options->is_files)
		return NULL;
	job->flow = flow_open(&job->input);
	return job->flow ? NULL : "run";
}

/* --- Running --- */

static bool is_streaming(const struct job *job)
{
	return job->cut->sql ? job->cut->is_streaming : job->plan->parts[0]->is_streaming;
}

static bool is_of(const struct hook *hook, const struct event *event)
{
	const char *name = hook->uses[0].streams[0]->event;

	return strcmp(name, event->stream == STREAM_OTHER ? "other" : "event") == 0;
}

/* Every program of its stream sees an event, in the order of the hooks: ends before starts. */
static bool feed(struct segment *segment, const struct event *event)
{
	u32 value;

	for (u32 i = 0; i < segment->set->n_hooks; i++)
		if (is_of(&segment->set->hooks[i], event) &&
		    sys_prog_test_run(segment->hooks.programs[i].fd, (void *)event->context,
				      event->context_bytes, 0, 0, &value))
			return false;
	return true;
}

/* It is now_ns, when a window, pane or piece of a stream ends. */
static bool drain(struct job *job, u64 now_ns)
{
	struct flow *flow = job->flow;
	bool is_more = true;

	flow->clock_ns = now_ns;
	if (is_streaming(job)) {
		while (is_more && !flow_is_over(flow))
			flow_poll(flow, &is_more);
	} else {
		flow_switch(&flow, 1, FLOW_PATIENCE_NS);
		flow_take_boundary(flow, flow_now(flow));
	}
	return flow->err == 0;
}

/* Ends the windows that end before that event, or, behind the last event, all that are left. */
static bool end_windows(struct job *job, u32 event)
{
	const struct engine_options *options = job->options;

	for (; job->n_ended < options->n_window_ends && options->window_ends[job->n_ended] <= event;
	     job->n_ended++)
		if (!drain(job, job->now_ns += STEP_NS))
			return false;
	return true;
}

/* Panes are of about as many events each; streamed rows are read now and then. */
static bool is_due(const struct job *job, u32 event)
{
	u32 n_panes = job->options->n_panes;

	if (is_streaming(job))
		return event % STREAM_EVENTS == STREAM_EVENTS - 1;
	return n_panes && !job->cut->sql && event && event % (job->n_events / n_panes + 1) == 0;
}

/* The next end of a window, or start of one. */
static u64 next_boundary(const struct engine_options *options, u64 after_ns)
{
	u64 advance = options->hop_advance_ns, at = (after_ns / advance + 1) * advance;
	u64 start = at - options->hop_size_ns % advance;

	return start > after_ns ? start : at;
}

/* To that time, over all ends of windows. */
static bool hop_to(struct job *job, u64 time_ns)
{
	u64 at;

	while ((at = next_boundary(job->options, job->now_ns)) <= time_ns)
		if (!drain(job, job->now_ns = at))
			return false;
	return true;
}

static void start(struct job *job)
{
	u64 advance = job->options->hop_advance_ns;

	if (!advance) {
		job->now_ns = CLOCK_NS;
		flow_start(job->flow, (struct flow_instant){ 0 });
	} else if (job->n_events) {
		/* The run begins before all windows that the first event is in. */
		job->now_ns = (u64)job->events[0].integers[C_TIME] / advance * advance -
			      ALIGN_UP(job->options->hop_size_ns, advance);
		flow_start(job->flow, (struct flow_instant){ job->now_ns, job->now_ns, 0 });
	}
}

/* What is due before that event. */
static bool step_to(struct job *job, u32 event)
{
	if (job->options->hop_advance_ns)
		return hop_to(job, (u64)job->events[event].integers[C_TIME]);
	return end_windows(job, event) &&
	       (!is_due(job, event) || drain(job, job->now_ns += STEP_NS));
}

static bool stop(struct job *job)
{
	u64 advance = job->options->hop_advance_ns;

	if (!advance) {
		if (!end_windows(job, job->n_events))
			return false;
		job->flow->clock_ns = job->now_ns + STEP_NS;
		return flow_stop(job->flow) == 0;
	}
	/* To the first end of a window behind the last event. */
	return !job->n_events || hop_to(job, (u64)job->events[job->n_events - 1].integers[C_TIME] /
							     advance * advance +
						     advance);
}

static bool is_live(const struct job *job)
{
	return !job->step && !job->options->is_files;
}

static void replay(struct run *run)
{
	for (u32 j = 0; j < run->n_jobs; j++)
		if (is_live(&run->jobs[j]))
			start(&run->jobs[j]);
	for (u32 i = 0; i < run->jobs[0].n_events; i++) {
		for (u32 j = 0; j < run->n_jobs; j++)
			if (is_live(&run->jobs[j]) && !step_to(&run->jobs[j], i))
				run->jobs[j].step = "drain";
		for (u32 k = 0; k < run->n_segments; k++)
			if (run->segments[k].is_loaded &&
			    !feed(&run->segments[k], &run->jobs[0].events[i]))
				run->segments[k].jobs[0]->step = "test run";
	}
	for (u32 j = 0; j < run->n_jobs; j++)
		if (is_live(&run->jobs[j]) && !stop(&run->jobs[j]))
			run->jobs[j].step = "drain";
}

static const char *read_files(struct job *job)
{
	struct engine *engine;
	int err = engine_open(&engine);

	if (err)
		return "flow";
	err = engine_add(engine, &job->input, &job->flow);
	while (!err && !flow_is_over(job->flow))
		err = engine_step(engine);
	if (!err)
		err = flow_stop(job->flow);
	engine_close(engine);
	return err ? "flow" : NULL;
}

static void close_run(struct run *run)
{
	for (u32 j = 0; j < run->n_jobs; j++)
		if (run->jobs[j].flow)
			flow_close(run->jobs[j].flow);
	for (u32 i = 0; i < run->n_segments; i++)
		if (run->segments[i].is_loaded)
			load_close(&run->segments[i].hooks);
	for (u32 j = 0; j < run->n_jobs; j++)
		if (run->jobs[j].catalog)
			catalog_close(run->jobs[j].catalog);
}

static void end_job(struct job *job, struct replay_query *query)
{
	if (!job->step)
		job->step = figures_check(job->flow, job->arena);
	if (job->step)
		query->error = failure(job, job->step);
	if (job->step && job->options->failed)
		job->options->failed(job->options->context, job->step, &job->diags);
	query->n_parts_beside = job->segment ? job->segment->n_parts : 0;
	query->n_sharing = job->plan ? n_sharing(job) : 0;
	query->n_sources = 0;
	for (u32 i = 0; job->plan && i < job->plan->n_parts; i++)
		query->n_sources += job->plan->parts[i]->n_sources;
}

void replayer_run_all(struct replayer *engine, struct replay_query *queries, u32 n,
		      const struct event *events, u32 n_events, struct arena *arena)
{
	struct run run = { .jobs = arena_array(arena, struct job, n),
			   .n_jobs = n,
			   .segments = arena_array(arena, struct segment, n),
			   .arena = arena };

	for (u32 i = 0; i < n; i++) {
		struct job *job = &run.jobs[i];

		queries[i].result = (struct result){ .other_row = -1, .has_counters = true };
		queries[i].error = NULL;
		*job = (struct job){ .engine = engine,
				     .options = &queries[i].options,
				     .arena = arena,
				     .result = &queries[i].result,
				     .features = engine->features,
				     .events = events,
				     .n_events = n_events };
		job->features.has_signed_division &= !job->options->is_old_kernel;
		job_settings(job, strlen(queries[i].sql));
		job->step = compile(&run, job, queries[i].sql);
	}
	for (u32 i = 0; i < run.n_segments; i++)
		open_segment(&run, &run.segments[i]);
	for (u32 i = 0; i < n; i++)
		if (!run.jobs[i].step)
			run.jobs[i].step = open_run(&run.jobs[i]);
	replay(&run);
	for (u32 i = 0; i < n; i++) {
		if (!run.jobs[i].step && run.jobs[i].options->is_files)
			run.jobs[i].step = read_files(&run.jobs[i]);
		end_job(&run.jobs[i], &queries[i]);
	}
	close_run(&run);
}

bool replayer_run(struct replayer *engine, const char *sql, const struct engine_options *options,
		  const struct event *events, u32 n_events, struct arena *arena,
		  struct result *ret_result, const char **ret_error)
{
	struct replay_query query = { .sql = sql, .options = *options };

	replayer_run_all(engine, &query, 1, events, n_events, arena);
	*ret_result = query.result;
	if (query.error)
		*ret_error = query.error;
	return !query.error;
}

struct replayer *replayer_open(struct arena *arena)
{
	struct replayer *engine = arena_new(arena, struct replayer);
	const struct engine_options options = { 0 };
	const char *error = NULL;
	struct result result;

	kernel_features_probe(&engine->features);
	engine->n_cpus = load_possible_cpus();
	replay_cpus = MIN(engine->n_cpus, REPLAY_CPUS);
	/* The only refusal that lets the tests be skipped: everything else is a failure. */
	if (!replayer_run(engine, "SELECT count(*) FROM " REPLAY_STREAM, &options, NULL, 0, arena,
			  &result, &error) &&
	    strstr(error, "[no-privilege]")) {
		print_message("SKIP: %s\n", error);
		skip();
	}
	return engine;
}
