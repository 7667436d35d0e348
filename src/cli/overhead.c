/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql overhead: a command, with a query and without it by turns -> what the query costs it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/figures.h"
#include "cli/paired.h"
#include "host/host.h"

#define N_ROUNDS 10

/* One run of the command. */
struct run {
	double wall_ns, cpu_ns, own_cpu_ns;
	u64 n_events;
};

struct overhead {
	const struct options *options;
	struct arena arena;
	struct run *runs[2]; /* by is_with: one a round */
	u32 n_rounds, n_failed;
};

static double seconds_ns(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static struct run run_of(struct overhead *o, const struct trial *trial)
{
	const struct rusage *usage = &trial->child.usage;

	o->n_failed += !WIFEXITED(trial->child.status) || WEXITSTATUS(trial->child.status) != 0;
	return (struct run){ .wall_ns = (double)trial->child.ns,
			     .cpu_ns = seconds_ns(usage->ru_utime) + seconds_ns(usage->ru_stime),
			     .own_cpu_ns = (double)trial->own_cpu_ns,
			     .n_events = trial->account.events };
}

/* The status of a run, or why it says nothing: a command that was ended has no time of its own. */
static int check_run(const struct overhead *o, const struct run *run, int status)
{
	const struct options *options = o->options;
	struct query q;

	if (status)
		return status;
	if (host_stop_signal()) /* the command's end may have been seen before it */
		return 1;
	if (run->wall_ns > 0)
		return 0;
	if (!query_init(&q, options->file, options->text.at, options->text.n))
		return tell_no_memory();
	diag_failure(&q.diags, "ended-first",
		     "the query ended before the command, so nothing is known of the command with "
		     "it" HINT "leave out LIMIT and on_loss = 'fail'");
	status = tell_diags(&q);
	query_free(&q);
	return status;
}

/* The exit status, 0 or that of a run that failed. */
static int run_with(struct overhead *o, struct run *ret)
{
	struct options options = *o->options;
	struct trial trial = { 0 };
	int status;

	options.trial = &trial;
	options.host.n_windows = 0;
	options.format = out_format_find("table");
	status = run_text(&options, NULL);
	*ret = run_of(o, &trial);
	/* What was lost is told by a run of the query itself. */
	return status == 3 ? 0 : status;
}

static int run_without(struct overhead *o, struct run *ret)
{
	struct host_options options = o->options->host;
	struct trial trial = { 0 };
	struct host host;
	int error, status = 0;

	options.n_windows = options.duration_ns = 0;
	error = host_start_child(&options, o->options->command);
	if (error)
		return tell_failed("cannot start the command", -error);
	error = host_open(&host, &options);
	if (!error)
		error = host_run(&host, NULL);
	host_close(&host);
	if (host_child_failed(&options))
		status = 1;
	close(options.child_go_fd);
	trial.child = host.child;
	*ret = run_of(o, &trial);
	return error ? tell_failed("cannot run the command", -error) : status;
}

static int run_one(struct overhead *o, bool is_with, struct run *ret)
{
	int status = is_with ? run_with(o, ret) : run_without(o, ret);

	return check_run(o, ret, status);
}

static bool is_heads(void)
{
	u8 coin = 0;

	return getrandom(&coin, 1, 0) == 1 && coin & 1;
}

/* Each round has one of each, and a coin says which is first. */
static int run_all(struct overhead *o)
{
	struct run unheard;
	/* The first warms up; a query that is wrong is told before the command does anything. */
	int status = run_one(o, true, &unheard);

	for (u32 r = 0; r < o->n_rounds && !status; r++) {
		bool is_with = is_heads();

		for (u32 i = 0; i < 2 && !status; i++, is_with = !is_with)
			status = run_one(o, is_with, &o->runs[is_with][r]);
	}
	return status;
}

/* --- Figures --- */

static double member(const struct run *run, size_t offset)
{
	return *(const double *)((const char *)run + offset);
}

static double mean(const struct overhead *o, bool is_with, size_t offset)
{
	double sum = 0;

	for (u32 r = 0; r < o->n_rounds; r++)
		sum += member(&o->runs[is_with][r], offset);
	return sum / o->n_rounds;
}

/* Whoever reads the rows alone must see it, too. */
static const char *note(struct overhead *o, const char *text)
{
	return !o->n_failed
		       ? text
		       : arena_printf(&o->arena, "%s%sthe command failed in %u of %u runs", text,
				      *text ? "; " : "", o->n_failed, 2 * o->n_rounds + 1);
}

static void add(struct overhead *o, struct figures *f, const char *what, size_t offset)
{
	double *differences = arena_array(&o->arena, double, o->n_rounds);
	double without = mean(o, false, offset), n_events = 0;
	struct shift shift;
	bool is_told;

	for (u32 r = 0; r < o->n_rounds; r++) {
		differences[r] = member(&o->runs[1][r], offset) - member(&o->runs[0][r], offset);
		n_events += (double)o->runs[1][r].n_events / o->n_rounds;
	}
	shift = shift_of(differences, o->n_rounds, &o->arena);
	is_told = shift.lo > 0 || shift.hi < 0;
	figures_text(f, what);
	figures_int(f, (s128)without);
	figures_int(f, (s128)mean(o, true, offset));
	figures_int(f, (s128)shift.estimate);
	figures_int(f, (s128)shift.lo);
	figures_int(f, (s128)shift.hi);
	figures_real(f, is_told && without > 0 ? 100 * shift.estimate / without : NAN);
	figures_real(f, is_told && n_events > 0 ? shift.estimate / n_events : NAN);
	figures_text(f, note(o, is_told ? "" : "not distinguishable from 0"));
}

/* ebql's own time: what it took, beside nothing. */
static void add_own(struct overhead *o, struct figures *f)
{
	double own = mean(o, true, offsetof(struct run, own_cpu_ns)), n_events = 0;
	double wall = mean(o, true, offsetof(struct run, wall_ns));
	double *times = arena_array(&o->arena, double, o->n_rounds);
	struct shift shift;

	for (u32 r = 0; r < o->n_rounds; r++) {
		times[r] = (double)o->runs[1][r].own_cpu_ns;
		n_events += (double)o->runs[1][r].n_events / o->n_rounds;
	}
	shift = shift_of(times, o->n_rounds, &o->arena);
	figures_text(f, "CPU time of ebql");
	figures_int(f, 0);
	figures_int(f, (s128)own);
	figures_int(f, (s128)shift.estimate);
	figures_int(f, (s128)shift.lo);
	figures_int(f, (s128)shift.hi);
	figures_real(f, wall > 0 ? 100 * shift.estimate / wall : NAN);
	figures_real(f, n_events > 0 ? shift.estimate / n_events : NAN);
	figures_text(f, note(o, "of one CPU, while the command ran"));
}

static int say(struct overhead *o)
{
	static const struct column columns[] = {
		{ "what", { .kind = TYPE_TEXT } },
		{ "without", { .kind = TYPE_DURATION, .bits = 64, .is_signed = true } },
		{ "with", { .kind = TYPE_DURATION, .bits = 64, .is_signed = true } },
		{ "difference", { .kind = TYPE_DURATION, .bits = 64, .is_signed = true } },
		{ "lo", { .kind = TYPE_DURATION, .bits = 64, .is_signed = true } },
		{ "hi", { .kind = TYPE_DURATION, .bits = 64, .is_signed = true } },
		{ "percent", { .kind = TYPE_REAL, .bits = 64 } },
		{ "ns_per_event", { .kind = TYPE_REAL, .bits = 64 } },
		{ "note", { .kind = TYPE_TEXT } },
	};
	double confidence, n_events = 0;
	struct figures figures;
	int status;

	figures_init(&figures, &o->arena, columns, ARRAY_SIZE(columns));
	add(o, &figures, "wall time", offsetof(struct run, wall_ns));
	add(o, &figures, "CPU time", offsetof(struct run, cpu_ns));
	add_own(o, &figures);
	shift_rank(o->n_rounds, &o->arena, &confidence);
	for (u32 r = 0; r < o->n_rounds; r++)
		n_events += (double)o->runs[1][r].n_events / o->n_rounds;
	status = figures_say(&figures, o->options, NULL);
	tell_note(
		"ebql: %u rounds, %.0f events a run; difference: the Hodges-Lehmann estimate, not "
		"with - without; lo and hi: %.1f %% confidence\n",
		o->n_rounds, n_events, 100 * confidence);
	if (!o->n_failed)
		return status;
	tell("ebql: %s\n", note(o, ""));
	return 1;
}

int cmd_overhead(struct options *options)
{
	u64 n_rounds = options->host.n_windows ?: N_ROUNDS;
	struct overhead o = { .options = options };
	int status;

	if (options->is_shell || !options->command) {
		tell("ebql: overhead: a query and, behind --, the command that it is measured on\n");
		return 2;
	}
	if (n_rounds < SHIFT_PAIRS_MIN || n_rounds > SHIFT_PAIRS_MAX) {
		tell("ebql: overhead: -n is from %u rounds, which 95 %% confidence takes, to "
		     "%u\n",
		     SHIFT_PAIRS_MIN, SHIFT_PAIRS_MAX);
		return 2;
	}
	if (!figures_check(options))
		return 2;
	arena_init(&o.arena);
	o.n_rounds = (u32)n_rounds;
	for (u32 i = 0; i < 2; i++)
		o.runs[i] = arena_array(&o.arena, struct run, o.n_rounds);
	status = run_all(&o);
	status = status ? status : say(&o);
	arena_free(&o.arena);
	return status;
}
