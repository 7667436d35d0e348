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
	struct phys_set *set; /* NULL: no kernel part */
	u32 first_part;	      /* in the set; those of others stand before it */
	struct load_hooks hooks;
	bool is_loaded;
	struct load_state **load_list;
	struct flow_input input;
	struct flow *flow;
	struct result *result;
	const struct event *events;
	u32 n_events, n_ended; /* windows */
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
static bool compile_hook(struct job *job, struct load_program *program, u32 i,
			 struct buf *constants, const char **ret_reason)
{
	const struct bpf_features features = { job->features.has_signed_division };
	struct ir *ir = gen_program(job->set, &job->set->hooks[i], job->arena, constants);

	*ret_reason = NULL;
	if (!bpf_compile(ir, job->arena, &features, &program->code, ret_reason))
		return true;
	if (!*ret_reason)
		*ret_reason = ir_check(ir);
	return false;
}

static const char *load_parts(struct job *job)
{
	struct phys_set *set = job->set;
	struct load_program *programs =
		arena_array(job->arena, struct load_program, set->n_hooks * set->n_parts);
	const char *reason = NULL, *step = NULL;
	struct buf constants;
	int err;

	do {
		buf_init_in(&constants, job->arena);
		for (u32 i = 0; i < set->n_hooks && !step; i++)
			while (!compile_hook(job, &programs[i], i, &constants, &reason) && !step)
				if (!phys_split(set, i, job->arena))
					step = arena_printf(job->arena, "compile (%s)", reason);
		err = step ? 0
			   : load_open(&job->hooks, set, programs, constants.at, constants.n,
				       job->arena, &job->diags);
	} while (err == -EFBIG && phys_split(set, job->hooks.too_large, job->arena));
	job->is_loaded = !step && !err;
	return err ? "load" : step;
}

static void make_panes(struct job *job)
{
	struct phys *phys = job->set->parts[job->first_part];

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

/* Those of others that can be planned; every second has the rules off. */
static u32 add_others(const struct job *job, u32 from, u32 to, struct phys_input *inputs, u32 room)
{
	u32 n = 0;

	for (u32 i = from; i < to; i++) {
		struct job *other = arena_new(job->arena, struct job);
		struct phys_input own[BLOCK_PARTS];
		u32 n_own;

		*other = *job;
		other->settings.rules_off = i % 2 ? "all" : "";
		if (cut_text(other, job->options->beside[i]) || other->cut->n_parts > BLOCK_PARTS)
			continue;
		n_own = add_inputs(other, own);
		if (!n_own || n + n_own > room || !phys_plan(own, n_own, job->arena, &other->diags))
			continue;
		memcpy(inputs + n, own, n_own * sizeof(*own));
		n += n_own;
	}
	return n;
}

/* All parts with streams, which share the programs. */
static const char *compile_parts(struct job *job)
{
	u32 n_most = job->cut->n_parts + BLOCK_PARTS, n, n_own, n_beside = job->options->n_beside;
	struct phys_input *inputs = arena_array(job->arena, struct phys_input, n_most);
	struct phys_input *own = arena_array(job->arena, struct phys_input, n_most);
	const char *step;
	u32 room;

	n_own = add_inputs(job, own);
	if (!n_own)
		return NULL;
	room = n_own < BLOCK_PARTS ? BLOCK_PARTS - n_own : 0;
	n = job->first_part = add_others(job, 0, n_beside / 2, inputs, room / 2);
	memcpy(inputs + n, own, n_own * sizeof(*own));
	n += n_own;
	n += add_others(job, n_beside / 2, n_beside, inputs + n, room - job->first_part);
	if (job->options->n_parts)
		*job->options->n_parts = n;
	job->set = phys_plan(inputs, n, job->arena, &job->diags);
	if (!job->set)
		return "phys";
	make_panes(job);
	step = load_parts(job);
	n = job->first_part;
	for (u32 i = 0; i < job->cut->n_parts && !step; i++)
		if (job->cut->parts[i].has_streams)
			job->load_list[i] = &job->hooks.states[n++];
	return step;
}

static const char *compile(struct job *job, const char *sql)
{
	const char *step;

	diags_init(&job->diags, job->arena, "query", sql, strlen(sql));
	job->catalog = catalog_open_snapshot(job->arena, CATALOG_PATH, &job->diags);
	if (!job->catalog)
		return "catalog";
	step = cut_text(job, sql);
	if (step)
		return step;
	job->load_list = arena_array(job->arena, struct load_state *, job->cut->n_parts + 1);
	return compile_parts(job);
}

static const char *open_run(struct job *job)
{
	const struct cut *cut = job->cut;

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
	return job->cut->sql ? job->cut->is_streaming
			     : job->set->parts[job->first_part]->is_streaming;
}

static bool is_of(const struct hook *hook, const struct event *event)
{
	const char *name = hook->uses[0].streams[0]->event;

	return strcmp(name, event->stream == STREAM_OTHER ? "other" : "event") == 0;
}

/* Every program of its stream sees an event, in the order of the hooks: ends before starts. */
static const char *feed(struct job *job, const struct event *event)
{
	u32 value;

	for (u32 i = 0; job->set && i < job->set->n_hooks; i++)
		if (is_of(&job->set->hooks[i], event) &&
		    sys_prog_test_run(job->hooks.programs[i].fd, (void *)event->context,
				      event->context_bytes, 0, 0, &value))
			return "test run";
	return NULL;
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
		flow_switch(&flow, 1);
		flow_take_boundary(flow, flow_now(flow));
	}
	return flow->err == 0;
}

/* Ends the windows that end before that event, or, behind the last event, all that are left. */
static bool end_windows(struct job *job, u32 event, u64 *now_ns)
{
	const struct engine_options *options = job->options;

	for (; job->n_ended < options->n_window_ends && options->window_ends[job->n_ended] <= event;
	     job->n_ended++)
		if (!drain(job, *now_ns += STEP_NS))
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

static const char *replay(struct job *job)
{
	const char *step = NULL;
	u64 now_ns = CLOCK_NS;

	flow_start(job->flow, (struct flow_instant){ 0 });
	for (u32 i = 0; i < job->n_events && !step; i++) {
		if (!end_windows(job, i, &now_ns) ||
		    (is_due(job, i) && !drain(job, now_ns += STEP_NS)))
			return "drain";
		step = feed(job, &job->events[i]);
	}
	if (!step && !end_windows(job, job->n_events, &now_ns))
		return "drain";
	job->flow->clock_ns = now_ns + STEP_NS;
	if (!step && flow_stop(job->flow))
		step = "drain";
	return step;
}

/* The next end of a window, or start of one. */
static u64 next_boundary(const struct engine_options *options, u64 after_ns)
{
	u64 advance = options->hop_advance_ns, at = (after_ns / advance + 1) * advance;
	u64 start = at - options->hop_size_ns % advance;

	return start > after_ns ? start : at;
}

static const char *replay_hopping(struct job *job)
{
	u64 advance = job->options->hop_advance_ns, now_ns, last_ns, at;
	const char *step = NULL;
	bool is_good;

	if (!job->n_events)
		return NULL;
	/* The run begins before all windows that the first event is in. */
	last_ns = (u64)job->events[0].integers[C_TIME];
	now_ns = (last_ns / advance) * advance - ALIGN_UP(job->options->hop_size_ns, advance);
	is_good = true;
	flow_start(job->flow, (struct flow_instant){ now_ns, now_ns, 0 });
	for (u32 i = 0; i < job->n_events && is_good && !step; i++) {
		last_ns = (u64)job->events[i].integers[C_TIME];
		while (is_good && (at = next_boundary(job->options, now_ns)) <= last_ns) {
			is_good = drain(job, at);
			now_ns = at;
		}
		step = feed(job, &job->events[i]);
	}
	/* To the first end of a window behind the last event. */
	while (is_good && (now_ns <= last_ns || now_ns % advance)) {
		now_ns = next_boundary(job->options, now_ns);
		is_good = drain(job, now_ns);
	}
	return step ? step : is_good ? NULL : "drain";
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

static void close_job(struct job *job)
{
	if (job->flow)
		flow_close(job->flow);
	if (job->is_loaded)
		load_close(&job->hooks);
	if (job->catalog)
		catalog_close(job->catalog);
}

bool replayer_run(struct replayer *engine, const char *sql, const struct engine_options *options,
		  const struct event *events, u32 n_events, struct arena *arena,
		  struct result *ret_result, const char **ret_error)
{
	struct job job = { .engine = engine,
			   .options = options,
			   .arena = arena,
			   .result = ret_result,
			   .features = engine->features,
			   .events = events,
			   .n_events = n_events };
	const char *step;

	*ret_result = (struct result){ .other_row = -1, .has_counters = true };
	job.features.has_signed_division &= !options->is_old_kernel;
	job_settings(&job, strlen(sql));
	step = compile(&job, sql);
	if (!step)
		step = open_run(&job);
	if (!step)
		step = options->is_files      ? read_files(&job)
		       : options->hop_size_ns ? replay_hopping(&job)
					      : replay(&job);
	if (!step)
		step = figures_check(job.flow, arena);
	if (step)
		*ret_error = failure(&job, step);
	if (step && options->failed)
		options->failed(options->context, step, &job.diags);
	close_job(&job);
	return !step;
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
