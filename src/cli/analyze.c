/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A run -> its figures: the kernel's measuring is on from before the programs are attached until
 * they are read, and off with the descriptor, however this process ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/analyze.h"
#include "out/out.h"
#include "sys/sys.h"

typedef unsigned long long ull;

u64 process_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

/* --- Taking figures --- */

static void warn_unmeasured(struct query *query, int error)
{
	diag_warning(&query->diags, "no-run-time", SPAN_NONE,
		     "the kernel does not measure the programs: %s" HINT "%s", strerror(error),
		     error == EPERM ? "measuring takes CAP_SYS_ADMIN; all else is counted"
				    : "run times are measured from Linux 5.8 on; all else is "
				      "counted");
}

void analysis_open(struct analysis *a, struct query *query)
{
	int fd = -1;

	a->run_time_fd = -1;
	if (!a->is_on || !query->programs)
		return;
	fd = sys_run_time_open();
	if (fd < 0)
		warn_unmeasured(query, -fd);
	else
		a->empty_run_ns = load_empty_run_ns();
	a->run_time_fd = fd;
}

void analysis_start(struct analysis *a)
{
	a->start_ns = base_monotonic_ns();
	a->cpu_ns = process_cpu_ns();
}

void analysis_count(struct analysis *a, const struct batch *batch)
{
	a->n_rows += batch->n_rows;
	a->n_batches++;
}

void analysis_end(struct analysis *a, struct query *query)
{
	struct flow_result result;

	if (!a->is_on)
		return;
	a->start_ns = MAX(base_monotonic_ns() - a->start_ns, 1u);
	a->cpu_ns = process_cpu_ns() - a->cpu_ns;
	a->programs = query->programs;
	if (a->programs) {
		const struct load_hooks *hooks = &a->programs->hooks;

		a->runs = arena_array(&query->arena, struct load_runs, hooks->n_programs);
		for (u32 i = 0; i < hooks->n_programs; i++)
			load_program_runs(hooks, i, &a->runs[i]);
	}
	sys_close(&a->run_time_fd);
	flow_figures(query->flow, &query->arena, &a->figures);
	flow_result(query->flow, &result);
	a->account = result.account;
}

/* --- What follows from them --- */

static u32 n_programs(const struct analysis *a)
{
	return a->runs ? a->programs->hooks.n_programs : 0;
}

static u64 programs_ns(const struct analysis *a)
{
	u64 ns = 0;

	for (u32 i = 0; i < n_programs(a); i++)
		ns += a->runs[i].ns;
	return ns;
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static u64 rows_of_scan(const struct analysis *a, const struct hook_use *use)
{
	for (u32 i = 0; i < a->figures.operators.n; i++)
		if (a->figures.operators.at[i].part == use->phys->name)
			return a->figures.operators.at[i + use->source->first_operator]
				.account.matched;
	return 0;
}

/*
 * Of the calls that came by on a raw path, those of a number that the query wants.  false: it is
 * another path, or several uses of sets of calls, which may overlap.
 */
static bool wanted_calls(const struct analysis *a, const struct hook *hook, u64 *ret_n)
{
	*ret_n = 0;
	if (hook->path != ACCESS_RAW_SYSCALL)
		return false;
	for (u32 i = 0; i < hook->n_uses; i++) {
		const struct hook_use *use = &hook->uses[i];
		bool is_new = true;

		if (use->n_streams > 1 && hook->n_uses > 1)
			return false;
		for (u32 k = 0; k < i; k++)
			is_new &=
				hook->uses[k].streams[0]->syscall_nr != use->streams[0]->syscall_nr;
		if (is_new)
			*ret_n += rows_of_scan(a, use);
	}
	return true;
}

/* What each of them costs on either path.  false: it reads none, or several, or all. */
static bool wanted_costs(const struct analysis *a, const struct hook *hook, u64 n_runs,
			 struct call_costs *ret_costs)
{
	u64 n;

	if (!n_runs || hook->uses[0].n_streams > 1 || !wanted_calls(a, hook, &n))
		return false;
	*ret_costs = phys_call_costs(a->programs->set->parts[0]->settings->costs,
				     (double)n / (double)n_runs, false, false);
	return true;
}

/* --- For people --- */

static void put_percent(struct buf *out, u64 part, u64 whole)
{
	buf_printf(out, "%.3g %%", percent(part, whole));
}

static void put_lost(const struct account *account, struct buf *out)
{
	const char *between = "lost ";

	for (u32 i = 0; i < LOSS_N; i++) {
		if (!account->lost[i])
			continue;
		buf_printf(out, "%s%s ", between, loss_names[i]);
		out_put_thousands(out, account->lost[i]);
		between = ", ";
		for (u32 k = 0, n = 0; i == LOSS_UNPAIRED && k < UNPAIRED_N; k++) {
			if (!account->unpaired[k])
				continue;
			buf_printf(out, "%s%s ", n++ ? ", " : " (", unpaired_names[k]);
			out_put_thousands(out, account->unpaired[k]);
		}
		buf_puts(out, i == LOSS_UNPAIRED ? ")" : "");
	}
}

static void put_run(const struct analysis *a, const struct query *query, struct buf *out)
{
	const struct programs *programs = a->programs;

	buf_puts(out, "ran ");
	out_put_duration(out, a->start_ns);
	buf_puts(out, ": events ");
	out_put_thousands(out, a->account.events);
	buf_puts(out, ", matched ");
	out_put_thousands(out, a->account.matched);
	buf_puts(out, ", rows ");
	out_put_thousands(out, a->n_rows);
	buf_puts(out, ", batches ");
	out_put_thousands(out, a->n_batches);
	buf_puts(out, "\nuser space took ");
	out_put_duration(out, a->cpu_ns);
	buf_puts(out, ", ");
	put_percent(out, a->cpu_ns, a->start_ns);
	buf_puts(out, " of a core");
	if (a->empty_run_ns) {
		buf_puts(out, "; programs ");
		out_put_duration(out, programs_ns(a));
		buf_puts(out, ", ");
		put_percent(out, programs_ns(a), a->start_ns);
		buf_printf(out,
			   " of a core\n"
			   "measuring is on for all BPF programs of the machine, and %lluns of "
			   "each run are its own",
			   (ull)a->empty_run_ns);
	}
	buf_puts(out, "\ncompiled in ");
	out_put_duration(out, query->compile_ns);
	if (programs) {
		buf_puts(out, ", verified in ");
		out_put_duration(out, programs->hooks.verify_ns);
		buf_puts(out, ", attached in ");
		out_put_duration(out, programs->hooks.attach_ns);
	}
	buf_putc(out, '\n');
}

static void put_program(const struct analysis *a, const struct load_program *program, u32 i,
			struct buf *out)
{
	const struct load_runs *runs = &a->runs[i];
	const struct hook *hook = program->hook;
	struct call_costs costs;
	u64 n;

	buf_printf(out, "program %s %s: %u instructions", hook_word(hook), hook->target,
		   program->code.n_insns);
	if (runs->n) {
		buf_puts(out, ", ");
		out_put_thousands(out, runs->n);
		buf_printf(out, " runs of %lluns, ", (ull)(runs->ns / runs->n));
		put_percent(out, runs->ns, a->start_ns);
		buf_puts(out, " of a core");
	}
	if (runs->missed) {
		buf_puts(out, ", missed ");
		out_put_thousands(out, runs->missed);
	}
	if (runs->n && wanted_calls(a, hook, &n)) {
		buf_puts(out, "; of the calls ");
		put_percent(out, n, runs->n);
		buf_puts(out, " were wanted");
	}
	if (wanted_costs(a, hook, runs->n, &costs))
		buf_printf(out, ", by estimate %.0f ns each, by their tracepoint %.0f", costs.raw,
			   costs.tracepoint);
	buf_printf(out, "\n  %s\n", hook->reason);
}

#define COLUMN 14u

static void put_column(struct buf *out, size_t begin)
{
	char text[64];
	size_t n = MIN(out->n - begin, sizeof(text));

	memcpy(text, out->at + begin, n);
	out->n = begin;
	buf_fill(out, ' ', COLUMN - MIN(n, (size_t)COLUMN));
	buf_put(out, text, n);
}

static void put_operator(const struct flow_operator *o, struct buf *out)
{
	size_t begin = out->n;

	out_put_thousands(out, o->account.events);
	put_column(out, begin);
	begin = out->n;
	out_put_thousands(out, o->account.matched);
	put_column(out, begin);
	begin = out->n;
	if (o->sql_ns)
		out_put_duration(out, o->sql_ns);
	put_column(out, begin);
	buf_printf(out, "  %s", o->text);
	if (o->n_single) {
		buf_puts(out, ", without a partner ");
		out_put_thousands(out, o->n_single);
	}
	buf_putc(out, '\n');
	if (account_has_loss(&o->account)) {
		buf_fill(out, ' ', 3 * COLUMN + 4);
		put_lost(&o->account, out);
		buf_putc(out, '\n');
	}
}

static void put_operators(const struct analysis *a, struct buf *out)
{
	const struct flow_operator *before = NULL;

	for (u32 i = 0; i < a->figures.operators.n; i++) {
		const struct flow_operator *o = &a->figures.operators.at[i];

		if (!before || before->part != o->part || before->is_kernel != o->is_kernel) {
			buf_printf(out, "%14s%14s%14s  ", "rows in", "rows out",
				   o->is_kernel ? "" : "SQLite");
			if (o->part)
				buf_printf(out, "%s, ", o->part);
			buf_puts(out, o->is_kernel ? "kernel\n" : "user space\n");
		}
		put_operator(o, out);
		before = o;
	}
}

static void put_rooms(const struct analysis *a, struct buf *out)
{
	for (u32 i = 0; i < a->figures.rooms.n; i++) {
		const struct flow_room *room = &a->figures.rooms.at[i];

		buf_printf(out, "%s, %s: ", room->part, room->what);
		out_put_thousands(out, room->used);
		buf_puts(out, " of ");
		out_put_thousands(out, room->size);
		buf_printf(out, " %s %s\n", room->unit,
			   room->is_last ? "at the end" : "at the most");
	}
}

static void print_text(const struct analysis *a, const struct query *query, struct buf *out)
{
	put_run(a, query, out);
	for (u32 i = 0; i < n_programs(a); i++)
		put_program(a, &a->programs->hooks.programs[i], i, out);
	put_operators(a, out);
	put_rooms(a, out);
	if (account_has_loss(&a->account)) {
		put_lost(&a->account, out);
		buf_putc(out, '\n');
	}
}

/* --- For programs --- */

static void json_text(struct buf *out, const char *before, const char *text)
{
	buf_puts(out, before);
	if (text)
		buf_put_json_string(out, text, strlen(text));
	else
		buf_puts(out, "null");
}

/* A brace is closed by the caller. */
static void json_account(const struct account *account, struct buf *out)
{
	const char *between = "";

	buf_puts(out, ", \"lost\": {");
	for (u32 i = 0; i < LOSS_N; i++) {
		if (!account->lost[i])
			continue;
		buf_printf(out, "%s\"%s\": %llu", between, loss_names[i], (ull)account->lost[i]);
		between = ", ";
	}
	buf_puts(out, "}, \"unpaired\": {");
	between = "";
	for (u32 i = 0; i < UNPAIRED_N; i++) {
		if (!account->unpaired[i])
			continue;
		buf_printf(out, "%s\"%s\": %llu", between, unpaired_names[i],
			   (ull)account->unpaired[i]);
		between = ", ";
	}
	buf_putc(out, '}');
}

static void json_run(const struct analysis *a, const struct query *query, struct buf *out)
{
	const struct programs *programs = a->programs;

	buf_printf(out,
		   "{\"elapsed_ns\": %llu, \"rows\": %llu, \"batches\": %llu, \"events\": %llu, "
		   "\"matched\": %llu",
		   (ull)a->start_ns, (ull)a->n_rows, (ull)a->n_batches, (ull)a->account.events,
		   (ull)a->account.matched);
	json_account(&a->account, out);
	buf_printf(out, ", \"compile_ns\": %llu, \"verify_ns\": %llu, \"attach_ns\": %llu",
		   (ull)query->compile_ns, (ull)(programs ? programs->hooks.verify_ns : 0),
		   (ull)(programs ? programs->hooks.attach_ns : 0));
	buf_printf(out, ", \"user_ns\": %llu, \"user_percent\": %.4f", (ull)a->cpu_ns,
		   percent(a->cpu_ns, a->start_ns));
	if (a->empty_run_ns)
		buf_printf(out,
			   ", \"kernel_ns\": %llu, \"kernel_percent\": %.4f, "
			   "\"measuring_ns_per_run\": %llu",
			   (ull)programs_ns(a), percent(programs_ns(a), a->start_ns),
			   (ull)a->empty_run_ns);
}

static void json_program(const struct analysis *a, const struct load_program *program, u32 i,
			 struct buf *out)
{
	const struct load_runs *runs = &a->runs[i];
	struct call_costs costs;
	u64 n;

	json_text(out, i ? ", {\"path\": " : "{\"path\": ", hook_word(program->hook));
	json_text(out, ", \"target\": ", program->hook->target);
	json_text(out, ", \"reason\": ", program->hook->reason);
	buf_printf(out, ", \"instructions\": %u, \"missed\": %llu", program->code.n_insns,
		   (ull)runs->missed);
	if (a->empty_run_ns) {
		buf_printf(out, ", \"runs\": %llu, \"ns\": %llu", (ull)runs->n, (ull)runs->ns);
		if (runs->n)
			buf_printf(out, ", \"ns_per_run\": %.1f",
				   (double)runs->ns / (double)runs->n);
		if (wanted_calls(a, program->hook, &n))
			buf_printf(out, ", \"wanted\": %llu", (ull)n);
		if (wanted_costs(a, program->hook, runs->n, &costs))
			buf_printf(out,
				   ", \"raw_ns_per_wanted\": %.0f, \"tracepoint_ns_per_wanted\": "
				   "%.0f",
				   costs.raw, costs.tracepoint);
	}
	buf_putc(out, '}');
}

static void json_operator(const struct flow_operator *o, u32 i, struct buf *out)
{
	json_text(out, i ? ", {\"part\": " : "{\"part\": ", o->part);
	json_text(out, ", \"where\": ", o->is_kernel ? "kernel" : "user");
	json_text(out, ", \"operator\": ", o->text);
	buf_printf(out, ", \"rows_in\": %llu, \"rows_out\": %llu", (ull)o->account.events,
		   (ull)o->account.matched);
	if (o->n_single)
		buf_printf(out, ", \"without_partner\": %llu", (ull)o->n_single);
	if (!o->is_kernel)
		buf_printf(out, ", \"sqlite_ns\": %llu", (ull)o->sql_ns);
	json_account(&o->account, out);
	buf_putc(out, '}');
}

static void json_room(const struct flow_room *room, u32 i, struct buf *out)
{
	json_text(out, i ? ", {\"part\": " : "{\"part\": ", room->part);
	json_text(out, ", \"what\": ", room->what);
	json_text(out, ", \"unit\": ", room->unit);
	buf_printf(out, ", \"used\": %llu, \"size\": %llu, \"at\": \"%s\"}", (ull)room->used,
		   (ull)room->size, room->is_last ? "end" : "most");
}

static void print_json(const struct analysis *a, const struct query *query, struct buf *out)
{
	json_run(a, query, out);
	buf_puts(out, ", \"programs\": [");
	for (u32 i = 0; i < n_programs(a); i++)
		json_program(a, &a->programs->hooks.programs[i], i, out);
	buf_puts(out, "], \"operators\": [");
	for (u32 i = 0; i < a->figures.operators.n; i++)
		json_operator(&a->figures.operators.at[i], i, out);
	buf_puts(out, "], \"rooms\": [");
	for (u32 i = 0; i < a->figures.rooms.n; i++)
		json_room(&a->figures.rooms.at[i], i, out);
	buf_puts(out, "]}\n");
}

void analysis_print(const struct analysis *a, const struct query *query, bool is_json,
		    struct buf *out)
{
	if (is_json)
		print_json(a, query, out);
	else
		print_text(a, query, out);
}
