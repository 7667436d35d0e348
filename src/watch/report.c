/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table is one of -o table.  What the kernel spent is known while kernel.bpf_stats_enabled is
 * on: of the time since the last look.
 */
#include "watch/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char *const states[] = {
	[WATCH_RUNS] = "runs",
	[WATCH_WAITS] = "waits",
	[WATCH_ENDED] = "ended",
	[WATCH_FAILED] = "failed",
};

/* What is told of one query. */
struct report {
	struct watch_counts counts;
	struct load_costs costs;
	struct query_costs place;
	const char *path; /* query_path() */
	struct query_turn turn;
	u64 user_bytes;
	double kernel_core, user_core; /* below 0: not known */
};

static void look(struct watch_query *w, struct report *ret)
{
	struct form *f = w->form;
	u64 now_ns = base_monotonic_ns();
	struct load_state *const *loads;
	struct flow_result result;
	double since_ns;
	u32 n_loads;

	*ret = (struct report){ .counts = w->counts, .kernel_core = -1, .user_core = -1 };
	if (!f)
		return;
	flow_result(f->query.flow, &result);
	ret->counts = f->counts;
	ret->counts.account = result.account;
	if (f->row_action)
		ret->counts.on_row = *row_counts(f->row_action);
	loads = flow_loads(f->query.flow, &n_loads);
	load_costs(loads, n_loads, &ret->costs);
	query_costs(&f->query, &ret->place);
	ret->path = query_path(&f->query);
	ret->turn = f->query.turn;
	ret->user_bytes = arena_used(&f->query.arena) + f->text.n + f->out.out.buf.capacity +
			  f->out.out.scratch.capacity;
	since_ns = (double)MAX(now_ns - f->looked_ns, (u64)1);
	ret->user_core = (double)(result.computed_ns - f->computed_ns) / since_ns;
	if (ret->costs.n_runs)
		ret->kernel_core = (double)(ret->costs.run_ns - f->run_ns) / since_ns;
	f->looked_ns = now_ns;
	f->run_ns = ret->costs.run_ns;
	f->computed_ns = result.computed_ns;
}

/* Of this process, since the last look. */
static double user_core(struct watch_all *all)
{
	u64 now_ns = base_monotonic_ns(), used_us;
	struct rusage usage;
	double core;

	getrusage(RUSAGE_SELF, &usage);
	used_us = (u64)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		  (u64)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	core = (double)(used_us - all->used_us) * 1e3 /
	       (double)(now_ns - MAX(all->looked_ns, all->start_ns));
	all->looked_ns = now_ns;
	all->used_us = used_us;
	return core;
}

static u64 resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

/* --- JSON --- */

static void put_lost(struct buf *out, const struct account *account)
{
	const char *between = "";

	for (u32 i = 0; i < LOSS_N; i++) {
		if (!account->lost[i])
			continue;
		buf_printf(out, "%s\"%s\":", between, loss_names[i]);
		buf_put_u64(out, account->lost[i]);
		between = ",";
	}
}

static void put_text(struct buf *out, const char *key, const char *text, size_t n)
{
	buf_puts(out, key);
	buf_put_json_string(out, text, n);
}

static void put_core(struct buf *out, const char *key, double core)
{
	buf_puts(out, key);
	if (core >= 0)
		buf_printf(out, "%.6f", core);
	else
		buf_puts(out, "null");
}

/* How its system calls come, and what is known of what that costs. */
static void put_path(struct buf *out, const struct report *r)
{
	if (!r->path)
		return;
	buf_printf(out, ",\"path\":\"%s\",\"path_changes\":%u", r->path, r->turn.n_turns);
	if (r->turn.n_turns)
		buf_printf(out, ",\"path_since_ns\":%llu", (unsigned long long)r->turn.turned_ns);
	if (r->turn.was_looked_at)
		buf_printf(out,
			   ",\"wanted_share\":%.6f,\"raw_ns_per_wanted\":%.0f,"
			   "\"tracepoint_ns_per_wanted\":%.0f",
			   r->turn.share, r->turn.costs.raw, r->turn.costs.tracepoint);
}

/* Those that are counted together with it, from this one on; NULL: no more. */
static const struct watch_query *next_counted_with(const struct watch_query *w,
						   const struct watch_query *other)
{
	while (other &&
	       !(w->form && other->form && query_counts_with(&w->form->query, &other->form->query)))
		other = other->next;
	return other;
}

static void put_counted_with(const struct watch_all *all, const struct watch_query *w,
			     struct buf *out)
{
	const char *between = "";

	buf_puts(out, ",\"counted_with\":[");
	for (const struct watch_query *other = all->first; (other = next_counted_with(w, other));
	     other = other->next, between = ",")
		put_text(out, between, other->name, strlen(other->name));
	buf_puts(out, "]");
}

/* When it stops, or starts, by its schedule; 0: never. */
static time_t next_time(const struct watch_query *w)
{
	time_t at = w->change;

	/* It ended before it was to: it starts when it opens again. */
	if (!w->form && schedule_at(&w->schedule, time(NULL), &at) && at)
		schedule_at(&w->schedule, at, &at);
	return at;
}

static void put_json(const struct watch_all *all, struct watch_query *w, const struct report *r,
		     struct buf *out)
{
	put_text(out, "{\"name\":", w->name, strlen(w->name));
	put_text(out, ",\"file\":", w->path, strlen(w->path));
	buf_printf(out, ",\"state\":\"%s\",\"windows\":%llu,\"rows\":%llu,\"unwritten\":%llu",
		   states[w->state], (unsigned long long)r->counts.n_windows,
		   (unsigned long long)r->counts.n_rows, (unsigned long long)r->counts.n_unwritten);
	buf_printf(out, ",\"events\":%llu,\"lost\":{",
		   (unsigned long long)r->counts.account.events);
	put_lost(out, &r->counts.account);
	buf_puts(out, "},\"ns_per_event\":");
	if (r->costs.n_runs)
		buf_printf(out, "%.1f", (double)r->costs.run_ns / (double)r->costs.n_runs);
	else
		buf_puts(out, "null");
	if (r->counts.on_row.n_run || r->counts.on_row.n_failed)
		buf_printf(out,
			   ",\"commands\":%llu,\"commands_failed\":%llu,\"rows_left_out\":%llu",
			   (unsigned long long)r->counts.on_row.n_run,
			   (unsigned long long)r->counts.on_row.n_failed,
			   (unsigned long long)r->counts.on_row.n_dropped);
	if (watch_query_is_scheduled(w) && next_time(w))
		buf_printf(out, ",\"next_%s\":%llu000000000", w->form ? "stop" : "start",
			   (unsigned long long)next_time(w));
	put_core(out, ",\"kernel_core\":", r->kernel_core);
	put_core(out, ",\"user_core\":", r->user_core);
	buf_printf(out, ",\"kernel_bytes\":%llu,\"user_bytes\":%llu",
		   (unsigned long long)r->costs.map_bytes, (unsigned long long)r->user_bytes);
	buf_printf(out, ",\"segment\":%u,\"segment_queries\":%u", r->place.segment,
		   r->place.n_in_segment);
	put_counted_with(all, w, out);
	put_path(out, r);
	put_text(out, ",\"problem\":", w->problem.n ? w->problem.at : "", w->problem.n);
	buf_puts(out, "}\n");
}

/* --- The table --- */

enum shown {
	NAME,
	STATE,
	WINDOWS,
	ROWS,
	UNWRITTEN,
	LOST,
	NS_PER_EVENT,
	KERNEL_CORE,
	USER_CORE,
	KERNEL_MEMORY,
	USER_MEMORY,
	SEGMENT,
	COUNTED_WITH,
	FILE_NAME,
	FIELD_N
};

static const char *const titles[FIELD_N] = {
	[NAME] = "query",
	[STATE] = "state",
	[WINDOWS] = "windows",
	[ROWS] = "rows",
	[UNWRITTEN] = "unwritten",
	[LOST] = "lost",
	[NS_PER_EVENT] = "ns/event",
	[KERNEL_CORE] = "kernel core",
	[USER_CORE] = "user core",
	[KERNEL_MEMORY] = "kernel KiB",
	[USER_MEMORY] = "user KiB",
	[SEGMENT] = "segment",
	[COUNTED_WITH] = "counted with",
	[FILE_NAME] = "file",
};

static bool is_number(u32 field)
{
	return (field >= WINDOWS && field <= UNWRITTEN) || field == KERNEL_MEMORY ||
	       field == USER_MEMORY;
}

static struct value number(u64 n)
{
	return (struct value){ .kind = VALUE_INT, .integer = n };
}

static struct value text(struct arena *arena, const char *format, ...) PRINTF(2, 3);

static struct value text(struct arena *arena, const char *format, ...)
{
	struct value value = { .kind = VALUE_TEXT };
	va_list args;

	va_start(args, format);
	value.text = arena_vprintf(arena, format, args);
	va_end(args);
	value.n = (u32)strlen(value.text);
	return value;
}

static struct value core(struct arena *arena, double core)
{
	return core >= 0 ? text(arena, "%.3f %%", 100 * core) : text(arena, "-");
}

/* "a, b", or "-" */
static struct value counted_with(const struct watch_all *all, const struct watch_query *w,
				 struct arena *arena)
{
	const char *names = "";

	for (const struct watch_query *other = all->first; (other = next_counted_with(w, other));
	     other = other->next)
		names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", other->name);
	return text(arena, "%s", *names ? names : "-");
}

static struct value waiting(const struct watch_query *w, struct arena *arena)
{
	time_t at = next_time(w);
	char shown[64];
	struct tm tm;

	strftime(shown, sizeof(shown), "waits until %a %F %T", localtime_r(&at, &tm));
	return text(arena, "%s", shown);
}

static void set_row(const struct watch_all *all, struct watch_query *w, const struct report *r,
		    struct arena *arena, struct value *row)
{
	const struct load_costs *costs = &r->costs;
	double ns = costs->n_runs ? (double)costs->run_ns / (double)costs->n_runs : 0;

	row[NAME] = text(arena, "%s", w->name);
	row[STATE] =
		w->state == WATCH_WAITS ? waiting(w, arena) : text(arena, "%s", states[w->state]);
	row[WINDOWS] = number(r->counts.n_windows);
	row[ROWS] = number(r->counts.n_rows);
	row[UNWRITTEN] = number(r->counts.n_unwritten);
	row[LOST] = text(arena, "%s", watch_losses(arena, &r->counts.account));
	row[NS_PER_EVENT] = costs->n_runs ? text(arena, "%.1f", ns) : text(arena, "-");
	row[KERNEL_CORE] = core(arena, r->kernel_core);
	row[USER_CORE] = core(arena, r->user_core);
	row[KERNEL_MEMORY] = number(costs->map_bytes >> 10);
	row[USER_MEMORY] = number(r->user_bytes >> 10);
	row[SEGMENT] = r->place.segment
			       ? text(arena, "%u (of %u)", r->place.segment, r->place.n_in_segment)
			       : text(arena, "-");
	row[COUNTED_WITH] = counted_with(all, w, arena);
	row[FILE_NAME] = text(arena, "%s", w->path);
}

static int take(void *out, struct buf *buf)
{
	buf_put(out, buf->at, buf->n);
	buf_reset(buf);
	return 0;
}

static void put_table(struct arena *arena, struct value *values, u32 n, struct buf *out)
{
	const struct out_options options = { .is_ascii = true, .write = take, .context = out };
	size_t before = out->n, head;
	struct schema schema = { FIELD_N, arena_array(arena, struct column, FIELD_N) };
	struct out_file file;

	for (u32 i = 0; i < FIELD_N; i++)
		schema.columns[i] = (struct column){
			.name = titles[i],
			.type = is_number(i) ? type_int(64, false) : type_text(256),
		};
	if (!out_file_open(&file, out_format_find("table"), -1, &options, &schema))
		out_file_batch(&file, &(struct batch){ .schema = &schema,
						       .n_rows = n,
						       .values = values,
						       .other_row = -1 });
	out_file_close(&file, -ECANCELED);
	/* The line above a window. */
	head = strcspn(out->at + before, "\n") + 1;
	memmove(out->at + before, out->at + before + head, out->n - before - head + 1);
	out->n -= head;
}

/* --- Both --- */

void report_put(struct watch_all *all, bool is_json, struct buf *out)
{
	struct value *values;
	struct report report;
	struct arena arena;
	u32 n = 0, i = 0;

	for (const struct watch_query *w = all->first; w; w = w->next)
		n++;
	arena_init(&arena);
	values = arena_array(&arena, struct value, n * FIELD_N + 1);
	if (is_json)
		buf_printf(out,
			   "{\"_watch\":{\"pid\":%d,\"queries\":%u,\"up_ns\":%llu,"
			   "\"user_core\":%.6f,\"resident_bytes\":%llu}}\n",
			   getpid(), n, (unsigned long long)(base_monotonic_ns() - all->start_ns),
			   user_core(all), (unsigned long long)resident_bytes());
	else
		buf_printf(out,
			   "process %d, %u queries for %.0f s; in user space %.2f %% of a core and "
			   "%llu KiB\n",
			   getpid(), n, (double)(base_monotonic_ns() - all->start_ns) / 1e9,
			   100 * user_core(all), (unsigned long long)resident_bytes() >> 10);
	for (struct watch_query *w = all->first; w; w = w->next, i++) {
		look(w, &report);
		if (is_json)
			put_json(all, w, &report, out);
		else
			set_row(all, w, &report, &arena, &values[i * FIELD_N]);
	}
	if (!is_json && n)
		put_table(&arena, values, n, out);
	for (struct watch_query *w = all->first; w && !is_json; w = w->next)
		if (w->problem.n)
			buf_printf(out, "\n%s", w->problem.at);
	arena_free(&arena);
}
