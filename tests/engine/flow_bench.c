/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The fakes hold the flow to its promises: rows are read up to an instant only when a
 * flip came after it, and texts of rows that were read before are gone.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "flow_bench.h"

static struct bench *bench;

static u64 now_ns(void)
{
	return bench->clock_ns ? bench->clock_ns : base_monotonic_ns();
}

/* --- Row sources --- */

struct row_source *row_source_open(const struct cut_part *part, struct load_state *load,
				   const struct cancel *cancel, struct arena *arena,
				   struct diags *diags)
{
	struct row_source *s = &bench->sources[part - bench->parts];

	assert_int_equal(part->kind, PART_ROWS);
	s->n_columns = part->columns.n_columns;
	s->is_live = part->has_streams;
	return s;
}

u64 live_time(const struct row_source *s, u32 number)
{
	return s->first_ns + number * s->step_ns;
}

static u64 flip_behind(u64 time_ns)
{
	u32 n = bench->n_flips;

	while (n && bench->flips_ns[n - 1] > time_ns)
		n--;
	return n + 1;
}

/* Rows of the clock: they are there when a flip says so. */
static s64 read_live(struct row_source *s, u64 before_ns, u32 limit)
{
	u32 n = 0;

	assert_true(before_ns <= bench->flip_ns || !bench->n_attached);
	if (!s->first_ns)
		s->first_ns = bench->flip_ns;
	while (n < limit && n < ROWS_MAX && live_time(s, s->n_read) < before_ns &&
	       live_time(s, s->n_read) <= bench->flip_ns) {
		struct value *out = &s->out[(size_t)n * s->n_columns];

		s->origins[n++] = (struct row_origin){ flip_behind(live_time(s, s->n_read)), 0 };
		out[0] = (struct value){ .kind = VALUE_INT, .integer = live_time(s, s->n_read) };
		out[1] = (struct value){ .kind = VALUE_INT, .integer = s->n_read++ };
	}
	return n;
}

s64 row_source_read(struct row_source *s, u64 before_ns, u32 limit, const struct value **ret_rows,
		    const struct row_origin **ret_origins)
{
	u32 n = 0;

	*ret_rows = s->out;
	*ret_origins = s->origins;
	if (bench->read_limit)
		limit = MIN(limit, bench->read_limit);
	if (s->is_live)
		return read_live(s, before_ns, limit);
	/* Texts of the read before are gone. */
	memset(s->text, '#', sizeof(s->text));
	while (n < limit && n < ROWS_MAX && s->n_read < s->n_rows) {
		const struct value *row = &s->rows[(size_t)s->n_read * COLUMNS];

		if ((u64)row->integer >= before_ns)
			break;
		memcpy(&s->out[(size_t)n * s->n_columns], row, s->n_columns * sizeof(*row));
		for (u32 i = 0; i < s->n_columns; i++) {
			struct value *value = &s->out[(size_t)n * s->n_columns + i];

			if (value->kind == VALUE_TEXT && bench->read_limit == 1) {
				memcpy(s->text, value->text, value->n);
				value->text = s->text;
			}
		}
		n++;
		s->n_read++;
	}
	return n;
}

void row_source_left(struct row_source *s)
{
}

int row_source_poll(struct row_source *s)
{
	return 0;
}

int row_source_flipped(struct row_source *s, u64 *ret_before_ns)
{
	*ret_before_ns = 0;
	return 0;
}

bool row_source_peek(struct row_source *s, u64 *ret_time_ns)
{
	if (s->n_read == s->n_rows)
		return false;
	*ret_time_ns = (u64)s->rows[(size_t)s->n_read * COLUMNS].integer;
	return true;
}

bool row_source_span(const struct row_source *s, u64 *ret_first_ns, u64 *ret_last_ns)
{
	if (s->is_live || !s->n_rows)
		return false;
	*ret_first_ns = (u64)s->rows[0].integer;
	*ret_last_ns = (u64)s->rows[(size_t)(s->n_rows - 1) * COLUMNS].integer;
	return true;
}

bool row_source_goes_on(const struct row_source *s)
{
	return false;
}

u64 row_source_newest(const struct row_source *s)
{
	if (s->is_live)
		return UINT64_MAX;
	return s->n_read ? (u64)s->rows[(size_t)(s->n_read - 1) * COLUMNS].integer : 0;
}

void row_source_before_flip(struct row_source *s)
{
}

void row_source_go_on(struct row_source *s)
{
	s->n_gone_on++;
}

void row_source_account(struct row_source *s, bool is_all, struct account *account,
			struct account *ret_repeated)
{
	*ret_repeated = (struct account){ 0 };
	account_add(account, &s->account);
	if (s->is_finished && s->has_leftovers) {
		account->unpaired[UNPAIRED_NEVER_ENDED] += 7;
		account->lost[LOSS_UNPAIRED] += 7;
		s->has_leftovers = false; /* told once */
	}
	s->is_finished = false;
	memset(&s->account, 0, sizeof(s->account));
}

int row_source_skip(struct row_source *s)
{
	s->first_ns = bench->flip_ns;
	return 0;
}

int row_source_finish(struct row_source *s, u64 before_ns)
{
	s->is_finished = true;
	return 0;
}

/* No operators, and no kernel. */
static struct meter no_meter;
static struct stream_reader no_stream;

u32 row_source_n_operators(const struct row_source *source)
{
	return 0;
}

void row_source_operator(const struct row_source *source, u32 i, struct row_operator *ret_operator)
{
	fail();
}

struct meter *row_source_meter(struct row_source *source)
{
	return &no_meter;
}

const struct stream_reader *row_source_stream(const struct row_source *source)
{
	return &no_stream;
}

void row_source_close(struct row_source *s)
{
}

/* --- Tables --- */

struct file_rows {
	struct row_source *source;
};

struct file_rows *file_rows_open(const struct file *file, struct diags *diags)
{
	static struct file_rows rows;

	rows.source = &bench->sources[file - bench->files];
	return &rows;
}

int file_rows_next(struct file_rows *rows, struct value *ret_row)
{
	struct row_source *s = rows->source;

	if (s->n_read == s->n_rows)
		return 0;
	memcpy(ret_row, &s->rows[(size_t)s->n_read++ * COLUMNS],
	       bench->parts[s - bench->sources].columns.n_columns * sizeof(*ret_row));
	return 1;
}

void file_rows_close(struct file_rows *rows)
{
}

/* --- Loads --- */

bool load_tell_fallback(const struct load_program *program, const struct load_state *state,
			struct buf *text)
{
	return false;
}

int load_attach(struct load_hooks *hooks, struct diags *diags)
{
	/* Several begin together: with the first look. */
	if (bench->cut.n_parts == 1)
		bench->sources[0].first_ns = now_ns();
	bench->n_attached++;
	return 0;
}

void load_detach(struct load_hooks *hooks)
{
	bench->n_attached = 0;
}

static void count_group(u32 copy, u64 key, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		fake_update(&bench->fake, fake_row(&bench->fake, copy, 0, 0, &key), 0, 0);
		fake_counters(&bench->fake, copy, 0, 0)[COUNTER_EVENTS]++;
		bench->n_counted++;
	}
}

/* Of the part with groups: key k has k + 1 events before each switch. */
static void count_some(const struct load_state *load, u64 copy)
{
	for (u64 key = 0; load->phys && key < 3; key++)
		count_group((u32)copy, key, (u32)key + 1);
}

/* One that waits: what comes behind it is in the other copy. */
static void flip_one(struct load_state *load, bool is_done)
{
	bool was_waiting = load->waits_since_ns;

	if (was_waiting || is_done)
		load->switched_ns = load->waits_since_ns;
	else
		load->waits_since_ns = now_ns();
	count_some(load, load->epoch ^ was_waiting);
	if (!is_done)
		return;
	load->waits_since_ns = 0;
	load->epoch ^= load->phys != NULL;
}

int load_flip(struct load_state *const *states, u32 n_states, u64 patience_ns)
{
	bool is_done = !bench->flip_errors || bench->flip_errors-- <= 0;

	for (u32 i = 0; i < n_states; i++)
		flip_one(states[i], is_done);
	if (!is_done)
		return bench->flip_error;
	bench->flip_ns = now_ns();
	assert_true(bench->n_flips < ARRAY_SIZE(bench->flips_ns));
	bench->flips_ns[bench->n_flips++] = bench->flip_ns;
	return 0;
}

/* Until then there are rows from behind the flip, too. */
void load_end_starts(struct load_state *const *states, u32 n_states)
{
}

bool load_close_starts(struct load_state *state)
{
	return false;
}

int load_settle(const struct load_hooks *hooks, u64 patience_ns)
{
	bench->flip_ns = now_ns();
	return bench->unsettled_flip && bench->n_flips == bench->unsettled_flip ? -EBUSY : 0;
}

u64 load_missed(struct load_state *load)
{
	return 0;
}

/* --- The bench --- */

static void put_value(struct buf *out, const struct value *value)
{
	if (value->kind == VALUE_INT)
		buf_put_s128(out, value->integer);
	else if (value->kind == VALUE_REAL)
		buf_printf(out, "%g", value->real);
	else if (value->kind == VALUE_TEXT)
		buf_put(out, value->text, value->n);
	else
		buf_puts(out, value->kind == VALUE_NULL ? "-" : "?");
}

static int take(void *context, const struct batch *batch)
{
	struct bench *b = context;
	u32 width = batch->schema->n_columns;

	assert_true(b->n_batches < ARRAY_SIZE(b->batches));
	b->batches[b->n_batches] = *batch;
	if (batch->n_rows) {
		b->firsts[b->n_batches] = (s64)batch->values[0].integer;
		b->seconds[b->n_batches] = width > 1 ? (s64)batch->values[1].integer : 0;
	}
	b->n_batches++;
	if (b->sink_sleep_ns)
		nanosleep(&(struct timespec){ .tv_nsec = (long)b->sink_sleep_ns }, NULL);
	if (b->sink_signal)
		raise(b->sink_signal);
	if (!b->is_texted)
		return b->sink_error;
	if (batch->is_windowed)
		buf_printf(&b->text, "[%llu,%llu)", (unsigned long long)batch->window_start_ns,
			   (unsigned long long)batch->window_end_ns);
	for (u32 row = 0; row < batch->n_rows; row++) {
		buf_puts(&b->text, row ? ";" : " ");
		for (u32 i = 0; i < width; i++) {
			if (i)
				buf_putc(&b->text, ',');
			put_value(&b->text, &batch->values[row * width + i]);
		}
	}
	buf_puts(&b->text, batch->is_last ? "!\n" : "\n");
	return b->sink_error;
}

void bench_init(struct bench *b, const char *sql, u32 n_output)
{
	memset(b, 0, sizeof(*b));
	bench = b;
	arena_init(&b->arena);
	diags_init(&b->diags, &b->arena, "query", "", 0);
	buf_init(&b->text);
	b->is_texted = true;
	b->cut.parts = b->parts;
	b->cut.sql = sql;
	b->cut.limit = -1;
	b->cut.output = (struct schema){ n_output, b->output };
	for (u32 i = 0; i < n_output; i++)
		b->output[i] = (struct column){ "x", type_int(64, true) };
	b->cut.window.key_columns = b->key_columns;
	b->options =
		(struct host_options){ .child_pid = -1, .child_go_fd = -1, .counts_partial = true };
}

struct cut_part *add_part(struct bench *b, enum cut_part_kind kind, u32 n_columns)
{
	static const char *const names[] = { "w0", "w1", "w2" };
	u32 n = b->cut.n_parts++;

	b->sources[n].number = n;
	for (u32 i = 0; i < n_columns; i++)
		b->columns[n][i] = (struct column){ "x", type_int(64, true) };
	b->parts[n] = (struct cut_part){ .kind = kind,
					 .name = names[n],
					 .columns = { n_columns, b->columns[n] } };
	return &b->parts[n];
}

/* A recorded stream of rows (time, value, text). */
struct row_source *add_file(struct bench *b, u32 n_columns)
{
	struct cut_part *part = add_part(b, PART_ROWS, n_columns);
	struct row_source *s = &b->sources[part - b->parts];

	part->has_files = true;
	s->rows = arena_array(&b->arena, struct value, ROWS_MAX * COLUMNS);
	return s;
}

struct row_source *add_stream(struct bench *b, u64 step_ns)
{
	struct cut_part *part = add_part(b, PART_ROWS, 2);
	struct row_source *s = &b->sources[part - b->parts];

	part->has_streams = true;
	s->step_ns = step_ns;
	b->loads[part - b->parts] = &b->load[part - b->parts];
	b->hooks.n_states = PARTS_MAX;
	b->load[part - b->parts].hooks = &b->hooks;
	return s;
}

void put_row(struct row_source *s, u64 time_ns, s64 value, const char *text)
{
	struct value *row = &s->rows[(size_t)s->n_rows++ * COLUMNS];

	row[0] = (struct value){ .kind = VALUE_INT, .integer = time_ns };
	row[1] = (struct value){ .kind = VALUE_INT, .integer = value };
	row[2] = (struct value){ .kind = VALUE_TEXT, .n = (u32)strlen(text), .text = text };
}

void put_times(struct row_source *s, const u64 *times, u32 n)
{
	for (u32 i = 0; i < n; i++)
		put_row(s, times[i], i + 1, "");
}

struct flow_input bench_input(struct bench *b)
{
	return (struct flow_input){ .cut = &b->cut,
				    .loads = b->loads,
				    .every_ns = b->every_ns,
				    .n_rows = b->n_rows,
				    .is_brief = b->is_brief,
				    .sink = { .batch = take, .context = b },
				    .arena = &b->arena,
				    .diags = &b->diags };
}

int bench_run(struct bench *b)
{
	struct hosted hosted = { .options = b->options,
				 .input = bench_input(b),
				 .max_bytes = b->max_bytes };
	int err = hosted_run(&hosted);

	b->result = hosted.result;
	assert_int_equal(b->n_attached, 0);
	return err;
}

void bench_free(struct bench *b)
{
	buf_free(&b->text);
	arena_free(&b->arena);
}

void expect(struct bench *b, const char *wanted)
{
	/* In one read, and row by row: texts of rows that were read before are gone then. */
	for (u32 limit = 0; limit < 2; limit++) {
		b->read_limit = limit;
		b->n_batches = 0;
		buf_reset(&b->text);
		for (u32 i = 0; i < PARTS_MAX; i++)
			b->sources[i].n_read = 0;
		assert_int_equal(bench_run(b), 0);
		assert_string_equal(b->text.at, wanted);
	}
	bench_free(b);
}
