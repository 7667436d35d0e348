/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query's text and rows -> its answer, through every stage of ebql: parse, cut, and for
 * each part optimise, plan for replay, generate, load; then every event is run by the
 * programs, and what they counted is drained when a window is full.  Recordings have no
 * programs.
 */
#include <string.h>

#include "cut/cut.h"
#include "gen/gen.h"
#include "load/load.h"
#include "opt/opt.h"
#include "phys/phys.h"
#include "random.h"
#include "engine/flow.h"
#include "engine/engine.h"

#define MAX_GROUPS    1024
#define RING_BYTES    (1 << 18)
#define MAX_IN_FLIGHT 1024

struct way_job {
	const struct machine *machine;
	const struct oracle_query *query;
	struct rows *rows;
	const struct way_options *options;
	const struct windows *windows;
	struct arena *arena;
	struct diags diags;
	struct settings settings;
	struct view_list views;
	struct catalog *catalog;
	struct cut *cut;
	struct phys **physes; /* by part; NULL: no kernel part */
	struct load *loads;
	struct load **load_list;
	struct run *run; /* the whole in the kernel; else */
	struct flow *flow;
	struct phrase_print how;
	struct answer *answer;
	struct printer *printer;
	u32 n_batches;
};

/* --- Batches -> rows --- */

static void print_histogram(const struct histogram *h, struct buf *out)
{
	buf_puts(out, "histogram");
	for (u32 i = 0; i < h->n_cells; i++)
		buf_printf(out, " %u:%llu", h->cells[i].cell,
			   (unsigned long long)h->cells[i].count);
	if (h->count) {
		buf_puts(out, " sum ");
		buf_put_s128(out, h->sum);
		buf_puts(out, " min ");
		buf_put_s128(out, h->min);
		buf_puts(out, " max ");
		buf_put_s128(out, h->max);
	}
}

static void print_quantiles(const struct value *v, struct buf *out)
{
	for (u32 i = 0; i < v->n; i++) {
		const struct quantile *q = &v->quantiles[i];

		buf_printf(out, "q%u ", q->q_ppb);
		if (q->is_interpolated)
			buf_printf(out, "%.17g", q->interpolated);
		else
			buf_put_s128(out, q->estimate);
		buf_puts(out, q->is_lo_open ? " (" : " [");
		if (q->has_lo)
			buf_put_s128(out, q->lo);
		buf_putc(out, ',');
		if (q->has_hi)
			buf_put_s128(out, q->hi);
		buf_puts(out, q->is_hi_open ? ") " : "] ");
	}
}

/* Values without a type of SQLite's are compared by their texts. */
static struct value plain(const struct value *v, struct arena *arena)
{
	struct value plain = { .kind = VALUE_TEXT };
	struct buf out;

	if (v->kind < VALUE_QUANTILES)
		return *v;
	buf_init(&out);
	buf_puts(&out, "");
	if (v->kind == VALUE_HISTOGRAM)
		print_histogram(v->histogram, &out);
	else if (v->kind == VALUE_QUANTILES)
		print_quantiles(v, &out);
	plain.text = arena_strdup(arena, out.at);
	plain.n = (u32)out.n;
	buf_free(&out);
	return plain;
}

static u64 window_number(struct way_job *job, const struct batch *batch)
{
	const struct windows *windows = job->windows;

	switch (job->query->shape) {
	case SHAPE_TUMBLING:
	case SHAPE_HOPPING:
		if (job->options->way == WAY_FILE)
			return batch->window_end_ns / job->query->advance;
		return job->n_batches < windows->n ? windows->numbers[job->n_batches] : 0;
	case SHAPE_COUNT:
		return job->n_batches;
	default:
		return 0;
	}
}

static void note_bounds(struct answer *answer, u64 number)
{
	if (!answer->has_bounds)
		answer->first_window = number;
	answer->has_bounds = true;
	answer->last_window = number;
}

/* Bounds and counters of a batch without a window are those of the run so far. */
static void add_account(struct result *result, const struct batch *batch)
{
	bool is_more = batch->is_windowed;

	result->events = batch->events + (is_more ? result->events : 0);
	result->matched = batch->matched + (is_more ? result->matched : 0);
	for (u32 i = 0; i < LOSS_N; i++)
		result->lost[i] = batch->lost[i] + (is_more ? result->lost[i] : 0);
	for (u32 i = 0; i < UNPAIRED_N; i++)
		result->unpaired[i] = batch->unpaired[i] + (is_more ? result->unpaired[i] : 0);
}

/* The file's name or the stream's, wherever the text has it, as $E or $O. */
static const char *plain_text(struct way_job *job, const char *text)
{
	const char *event = job->how.event, *other = job->how.other, *plain;
	struct buf out;

	buf_init(&out);
	buf_puts(&out, "");
	while (*text) {
		bool is_event = !strncmp(text, event, strlen(event));
		bool is_other = !strncmp(text, other, strlen(other));

		if (is_event || is_other) {
			buf_puts(&out, is_event ? "$E" : "$O");
			text += strlen(is_event ? event : other);
		} else {
			buf_putc(&out, *text++);
		}
	}
	plain = arena_strdup(job->arena, out.at);
	buf_free(&out);
	return plain;
}

static void take_schema(struct way_job *job, const struct schema *schema)
{
	struct schema *copy = &job->answer->schema;

	copy->n_columns = schema->n_columns;
	copy->columns = arena_array(job->arena, struct column, schema->n_columns + 1);
	for (u32 i = 0; i < schema->n_columns; i++)
		copy->columns[i] = (struct column){ plain_text(job, schema->columns[i].name),
						    schema->columns[i].type };
	job->printer = printer_open(copy, job->arena);
}

static int take_batch(void *context, const struct batch *batch)
{
	struct way_job *job = context;
	struct result *result = &job->answer->result;
	u32 n = batch->schema->n_columns;
	u64 number = window_number(job, batch);
	struct value row[64];

	BUG_ON(1 + n + PRINTED_N > ARRAY_SIZE(row));
	result->n_columns = 1 + n + PRINTED_N;
	row[0] = (struct value){ .kind = VALUE_INT, .integer = number };
	for (u32 i = 0; i < batch->n_rows; i++) {
		const struct value *values = &batch->values[(size_t)i * n];

		for (u32 k = 0; k < n; k++)
			row[k + 1] = plain(&values[k], job->arena);
		printer_row(job->printer, values, row + 1 + n);
		result_add_row(result, job->arena, row);
	}
	if (job->query->shape == SHAPE_TUMBLING && job->options->way != WAY_FILE &&
	    job->n_batches >= job->windows->n)
		result->n_rows = 0; /* no event, no window */
	job->n_batches++;
	if (job->options->way == WAY_FILE &&
	    (job->query->shape == SHAPE_TUMBLING || job->query->shape == SHAPE_HOPPING))
		note_bounds(job->answer, number);
	if (batch->lost[LOSS_EVICTED] || batch->unpaired[UNPAIRED_FULL])
		job->answer->is_limited = true;
	job->answer->n_expired += batch->unpaired[UNPAIRED_EXPIRED];
	if (batch->lost[LOSS_RING_FULL] || batch->lost[LOSS_TABLE_FULL] || batch->lost[LOSS_MISSED])
		BUG("a loss that must not be");
	add_account(result, batch);
	return 0;
}

/* --- Compiling and loading --- */

static void fail_answer(struct way_job *job, const char *step)
{
	struct buf out;

	buf_init(&out);
	buf_printf(&out, "%s: ", step);
	diags_print(&job->diags, &out);
	job->answer->error = arena_strdup(job->arena, out.at);
	buf_reset(&out);
	for (u32 i = 0; i < job->diags.list.n; i++) {
		const struct diag *diag = &job->diags.list.at[i];

		buf_printf(&out, "%s[%s]: ", diag->is_warning ? "warning" : "error", diag->tag);
		buf_printf(&out, "%s\n", plain_text(job, diag->message));
	}
	if (!job->diags.list.n)
		buf_puts(&out, step);
	job->answer->summary = arena_strdup(job->arena, out.at);
	buf_free(&out);
}

static void job_settings(struct way_job *job)
{
	struct settings *settings = &job->settings;

	settings_init(settings);
	settings->max_groups = MAX_GROUPS;
	settings->is_max_groups_set = true;
	settings->ring_bytes = RING_BYTES;
	settings->max_in_flight = MAX_IN_FLIGHT;
	settings->rules_off = job->options->rules_off ? job->options->rules_off : "";
	settings->pushdown = job->options->way == WAY_KERNEL ||
			     (job->options->way == WAY_FILE && !job->options->is_off);
}

static const char *load_part(struct way_job *job, u32 number)
{
	const struct bpf_features features = { job->machine->features->has_signed_division };
	const struct phys *phys = job->physes[number];
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
	if (!step && load_open(&job->loads[number], phys, programs, phys->n_hooks, constants.at,
			       constants.n, job->arena, &job->diags))
		step = "load";
	if (!step)
		job->load_list[number] = &job->loads[number];
	buf_free(&constants);
	return step;
}

static const char *compile_part(struct way_job *job, u32 number)
{
	struct cut_part *part = &job->cut->parts[number];
	struct phys_input input = { .features = job->machine->features,
				    .n_cpus = job->machine->n_cpus,
				    .settings = &job->settings,
				    .catalog = job->catalog,
				    .is_replay = true,
				    .is_raw = !part->is_kernel,
				    .share = -1 };

	if (!part->has_streams)
		return NULL;
	if (part->is_kernel)
		part->plan = opt_run(part->plan, &job->settings, job->arena);
	input.plan = part->plan;
	job->physes[number] = phys_plan(&input, job->arena, &job->diags);
	return job->physes[number] ? load_part(job, number) : "phys";
}

static const char *compile(struct way_job *job, const char *sql)
{
	const char *step = NULL;
	struct ast_script *script;

	diags_init(&job->diags, job->arena, "query", sql, strlen(sql));
	views_init(&job->views, job->arena);
	job->catalog = catalog_open_snapshot(job->arena, CATALOG_PATH, &job->diags);
	if (!job->catalog)
		return "catalog";
	script = sql_parse(job->arena, &job->diags);
	if (diags_failed(&job->diags))
		return "parse";
	BUG_ON(script->statements.n != 1);
	job->cut = cut_plan(script->statements.at[0].select, job->catalog, &job->settings,
			    &job->views, NULL, 0, job->arena, &job->diags);
	if (!job->cut)
		return "cut";
	job->answer->n_parts = job->cut->n_parts;
	job->physes = arena_array(job->arena, struct phys *, job->cut->n_parts);
	job->loads = arena_array(job->arena, struct load, job->cut->n_parts);
	job->load_list = arena_array(job->arena, struct load *, job->cut->n_parts);
	for (u32 i = 0; i < job->cut->n_parts && !step; i++)
		step = compile_part(job, i);
	return step;
}

static const char *open_run(struct way_job *job)
{
	const struct run_options options = { .child_pid = -1, .child_go_fd = -1 };
	const struct run_sink sink = { .batch = take_batch, .context = job };

	take_schema(job, job->cut->sql ? &job->cut->output : &job->physes[0]->user.output);
	if (job->cut->sql)
		job->flow = flow_open(job->cut, job->load_list, &options, &sink, &job->settings,
				      job->arena, &job->diags);
	else
		job->run = run_open(job->load_list[0], &options, &sink, job->arena, &job->diags);
	return job->run || job->flow ? NULL : "run";
}

/* --- Running --- */

static bool is_of(const struct hook *hook, const struct event *event)
{
	const char *name = hook->uses[0].streams[0]->event;

	return strcmp(name, event->stream == STREAM_OTHER ? "other" : "event") == 0;
}

/* Every program of its stream sees an event, in the order of the hooks: ends before starts. */
static const char *feed(struct way_job *job, const struct event *event)
{
	for (u32 i = 0; i < job->cut->n_parts; i++) {
		const struct phys *phys = job->physes[i];

		for (u32 k = 0; phys && k < phys->n_hooks; k++)
			if (is_of(&phys->hooks[k], event) &&
			    load_test_run(job->load_list[i], k, event->context,
					  event->context_bytes))
				return "test run";
	}
	return NULL;
}

static const char *drain(struct way_job *job, bool is_last)
{
	int err =
		job->run ? run_drain_once(job->run, is_last) : flow_drain_once(job->flow, is_last);

	return err ? "drain" : NULL;
}

/* Windows of time end when their last event is behind. */
static const char *replay(struct way_job *job)
{
	const struct dataset *data = &job->rows->data;
	bool is_tumbling = job->query->shape == SHAPE_TUMBLING;
	const char *step = NULL;
	u32 window = 0;

	for (u32 i = 0; i < data->n_events && !step; i++) {
		u64 time_ns = (u64)data->events[i].integers[C_TIME];

		while (is_tumbling && !step && time_ns >= job->windows->at[window].to) {
			step = drain(job, false);
			window++;
		}
		if (!step)
			step = feed(job, &data->events[i]);
	}
	return step ? step : drain(job, true);
}

static const char *read_files(struct way_job *job)
{
	struct run_result result;

	return flow_loop(job->flow, &job->diags, &result) ? "flow" : NULL;
}

static void close_job(struct way_job *job)
{
	if (job->run)
		run_close(job->run);
	if (job->flow)
		flow_close(job->flow);
	for (u32 i = 0; job->cut && i < job->cut->n_parts; i++)
		if (job->load_list[i])
			load_close(job->load_list[i]);
	if (job->catalog)
		catalog_close(job->catalog);
}

void way_run(const struct machine *machine, const struct oracle_query *query, struct rows *rows,
	     const struct way_options *options, const struct windows *windows, struct arena *arena,
	     struct answer *ret_answer)
{
	struct way_job job = { .how = { .event = "tracepoint:test:event",
					.other = "tracepoint:test:other" },
			       .machine = machine,
			       .query = query,
			       .rows = rows,
			       .options = options,
			       .windows = windows,
			       .arena = arena,
			       .answer = ret_answer };
	const char *step;
	struct buf sql;

	*ret_answer = (struct answer){ .result.other_row = -1 };
	if (options->way == WAY_FILE) {
		const char *const *files = rows_files(rows, options->file);

		job.how = (struct phrase_print){
			.dialect = PHRASE_FILES,
			.event = arena_printf(arena, "'%s'", files[0]),
			.other = arena_printf(arena, "'%s'", files[1]),
		};
	}
	buf_init(&sql);
	phrase_print(query->text, &job.how, &sql);
	job_settings(&job);
	step = compile(&job, sql.at);
	if (!step)
		step = open_run(&job);
	if (!step)
		step = options->way == WAY_FILE ? read_files(&job) : replay(&job);
	if (step)
		fail_answer(&job, step);
	else
		ret_answer->status =
			losses_are_biased(ret_answer->result.lost, ret_answer->result.unpaired) ? 3
												: 0;
	if (job.printer)
		printer_close(job.printer);
	close_job(&job);
	buf_free(&sql);
}
