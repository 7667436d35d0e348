/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query's text and rows -> its answer, in one of ebql's ways: the engine of the replay
 * tests gives batches, which are gathered here with the numbers of their windows, their
 * rows' printed forms, and what they account for.
 */
#include <string.h>

#include "random.h"

#define MAX_IN_FLIGHT 1024

struct way_job {
	const struct oracle_query *query;
	const struct way_options *options;
	const struct windows *windows;
	struct arena *arena;
	struct phrase_print how;
	struct answer *answer;
	struct printer *printer; /* NULL: the run was not opened */
	u32 n_batches;
};

/* --- Batches -> rows --- */

/* Values without a type of SQLite's are compared by their bytes. */
static struct value plain(const struct value *v, struct arena *arena)
{
	struct value plain = { .kind = VALUE_TEXT };
	struct buf bytes;

	if (!value_is_special(v->kind))
		return *v;
	buf_init(&bytes);
	special_encode(v, &bytes);
	plain.text = arena_strndup(arena, bytes.at, bytes.n);
	plain.n = (u32)bytes.n;
	buf_free(&bytes);
	return plain;
}

static u64 window_number(struct way_job *job, const struct batch *batch)
{
	const struct windows *windows = job->windows;

	switch (job->query->shape) {
	case SHAPE_HOPPING:
		return batch->window_end_ns / job->query->advance;
	case SHAPE_TUMBLING:
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

static void note_account(struct way_job *job, u64 number, const struct account *account)
{
	struct answer *answer = job->answer;
	u32 n = answer->n_accounts++;

	answer->accounts = arena_grow(job->arena, answer->accounts, n * sizeof(*answer->accounts),
				      (n + 1) * sizeof(*answer->accounts));
	answer->accounts[n] = (struct window_account){ number, *account };
}

/* Bounds and counters of a batch without a window are those of the run so far. */
static void add_account(struct result *result, const struct batch *batch)
{
	bool is_more = batch->is_windowed;

	result->events = batch->account.events + (is_more ? result->events : 0);
	result->matched = batch->account.matched + (is_more ? result->matched : 0);
	for (u32 i = 0; i < LOSS_N; i++)
		result->lost[i] = batch->account.lost[i] + (is_more ? result->lost[i] : 0);
	for (u32 i = 0; i < UNPAIRED_N; i++)
		result->unpaired[i] =
			batch->account.unpaired[i] + (is_more ? result->unpaired[i] : 0);
}

/* Wherever the text has the name of a stream or a file, $E or $O. */
static const char *plain_text(struct way_job *job, const char *text)
{
	const char *names[] = { "tracepoint:test:event", "tracepoint:test:other", job->how.event,
				job->how.other };
	const char *plain;
	struct buf out;

	buf_init(&out);
	buf_puts(&out, "");
	while (*text) {
		u32 i = 0;

		while (i < ARRAY_SIZE(names) && strncmp(text, names[i], strlen(names[i])) != 0)
			i++;
		if (i < ARRAY_SIZE(names)) {
			buf_puts(&out, i % 2 ? "$O" : "$E");
			text += strlen(names[i]);
		} else {
			buf_putc(&out, *text++);
		}
	}
	plain = arena_strdup(job->arena, out.at);
	buf_free(&out);
	return plain;
}

static void take_schema(void *context, const struct schema *schema, u32 n_parts)
{
	struct way_job *job = context;
	struct schema *copy = &job->answer->schema;

	job->answer->n_parts = n_parts;
	copy->n_columns = schema->n_columns;
	copy->columns = arena_array(job->arena, struct column, schema->n_columns + 1);
	for (u32 i = 0; i < schema->n_columns; i++)
		copy->columns[i] = (struct column){ plain_text(job, schema->columns[i].name),
						    schema->columns[i].type };
	job->printer = printer_open(copy, job->arena);
}

static void take_batch(void *context, const struct batch *batch)
{
	struct way_job *job = context;
	struct result *result = &job->answer->result;
	u32 n = batch->schema->n_columns;
	u64 number = window_number(job, batch);
	struct value row[64];

	/* From the first window that the first event is in. */
	if (job->query->shape == SHAPE_HOPPING && job->options->way != WAY_FILE &&
	    (!job->windows->n || number < job->windows->numbers[0]))
		return;
	/* No event, no window. */
	if (job->query->shape == SHAPE_TUMBLING && job->options->way != WAY_FILE &&
	    job->n_batches >= job->windows->n)
		return;
	/* Of panes only the last window has all. */
	if (job->options->n_panes && batch->is_windowed)
		*result = (struct result){ .other_row = -1 };
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
	job->n_batches++;
	if (batch->is_windowed)
		note_account(job, number, &batch->account);
	if (job->options->way == WAY_FILE &&
	    (job->query->shape == SHAPE_TUMBLING || job->query->shape == SHAPE_HOPPING))
		note_bounds(job->answer, number);
	if (batch->account.lost[LOSS_EVICTED] || batch->account.unpaired[UNPAIRED_FULL])
		job->answer->is_limited = true;
	job->answer->n_expired += batch->account.unpaired[UNPAIRED_EXPIRED];
	if (batch->account.lost[LOSS_RING_FULL] || batch->account.lost[LOSS_TABLE_FULL] ||
	    batch->account.lost[LOSS_MISSED])
		BUG("a loss that must not be");
	add_account(result, batch);
}

/* What the user is told, and the same without places and names of files. */
static void take_failure(void *context, const char *step, const struct diags *diags)
{
	struct way_job *job = context;
	struct buf out;

	buf_init(&out);
	buf_printf(&out, "%s: ", step);
	diags_print(diags, &out);
	job->answer->error = arena_strdup(job->arena, out.at);
	buf_reset(&out);
	for (u32 i = 0; i < diags->list.n; i++) {
		const struct diag *diag = &diags->list.at[i];

		buf_printf(&out, "%s[%s]: %s\n", diag->is_warning ? "warning" : "error", diag->tag,
			   plain_text(job, diag->message));
	}
	if (!diags->list.n)
		buf_puts(&out, step);
	job->answer->summary = arena_strdup(job->arena, out.at);
	buf_free(&out);
}

/* The number of the first event of each window but the first: there the one before ends. */
static void find_ends(const struct way_job *job, const struct rows *rows,
		      struct engine_options *options)
{
	const struct windows *windows = job->windows;
	u32 *ends = arena_array(job->arena, u32, windows->n + 1), event = 0;

	if (job->query->shape != SHAPE_TUMBLING)
		return;
	for (u32 i = 0; i + 1 < windows->n; i++) {
		while ((u64)rows->data.events[event].integers[C_TIME] < windows->at[i].to)
			event++;
		ends[options->n_window_ends++] = event;
	}
	options->window_ends = ends;
}

/* The query as the engine of the replay tests takes it; its text is in the buffer. */
static void prepare(struct way_job *job, struct rows *rows, struct buf *sql,
		    struct replay_query *ret_query)
{
	const struct oracle_query *query = job->query;
	const struct way_options *options = job->options;
	bool is_file = options->way == WAY_FILE;
	struct engine_options *how = &ret_query->options;

	*ret_query = (struct replay_query){ 0 };
	*how = (struct engine_options){
		.rules_off = options->rules_off,
		.state = options->state,
		.max_in_flight = MAX_IN_FLIGHT,
		.is_old_kernel = options->is_old_kernel,
		.n_panes = options->n_panes,
		.is_files = is_file,
		.rows = options->way == WAY_USER || options->is_off ? ROWS_OF_RAW_SCANS
								    : ROWS_OF_KERNEL,
		.opened = take_schema,
		.batch = take_batch,
		.failed = take_failure,
		.context = job,
	};
	job->how = (struct phrase_print){ .event = "tracepoint:test:event",
					  .other = "tracepoint:test:other" };
	*job->answer = (struct answer){ .result.other_row = -1 };
	if (query->shape == SHAPE_HOPPING) {
		how->hop_size_ns = query->size;
		how->hop_advance_ns = query->advance;
	}
	if (is_file) {
		const char *const *files = rows_files(rows, options->file);

		job->how = (struct phrase_print){
			.dialect = PHRASE_FILES,
			.event = arena_printf(job->arena, "'%s'", files[0]),
			.other = arena_printf(job->arena, "'%s'", files[1]),
		};
	} else {
		find_ends(job, rows, how);
	}
	buf_init_in(sql, job->arena);
	phrase_print(query->text, &job->how, sql);
	ret_query->sql = sql->at;
}

static void finish(struct way_job *job, const struct replay_query *query)
{
	job->answer->n_parts_beside = query->n_parts_beside;
	job->answer->n_sources = query->n_sources;
	if (!query->error)
		job->answer->status = answer_status(&job->answer->result);
	if (job->printer)
		printer_close(job->printer);
}

void crowd_run(struct replayer *engine, const struct crowd *crowd, struct rows *rows,
	       struct arena *arena, struct answer ret_answers[CROWD])
{
	struct replay_query queries[CROWD];
	struct windows windows[CROWD];
	struct way_job jobs[CROWD];
	struct buf sql[CROWD];

	for (u32 i = 0; i < CROWD; i++) {
		windows_of(crowd->queries[i], rows, arena, &windows[i]);
		jobs[i] = (struct way_job){ .query = crowd->queries[i],
					    .options = &crowd->ways[i],
					    .windows = &windows[i],
					    .arena = arena,
					    .answer = &ret_answers[i] };
		prepare(&jobs[i], rows, &sql[i], &queries[i]);
	}
	replayer_run_all(engine, queries, CROWD, rows->data.events, rows->data.n_events, arena);
	for (u32 i = 0; i < CROWD; i++)
		finish(&jobs[i], &queries[i]);
}

void way_run(struct replayer *engine, const struct oracle_query *query, struct rows *rows,
	     const struct way_options *options, const struct windows *windows, struct arena *arena,
	     struct answer *ret_answer)
{
	struct way_job job = { .query = query,
			       .options = options,
			       .windows = windows,
			       .arena = arena,
			       .answer = ret_answer };
	struct answer answers[CROWD];
	struct replay_query run;
	struct buf sql;

	if (options->crowd) {
		crowd_run(engine, options->crowd, rows, arena, answers);
		*ret_answer = answers[options->member];
		return;
	}
	prepare(&job, rows, &sql, &run);
	replayer_run_all(engine, &run, 1, rows->data.events, rows->data.n_events, arena);
	finish(&job, &run);
}
