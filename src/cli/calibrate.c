/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql calibrate: queries, each beside a loop that makes its events -> the table of costs of this
 * machine.  A loop is timed without the query, with it and without it again; all queries take
 * turns, and so do not differ by the hour.  What is taken is the median of the rounds.  What it
 * takes to read the clock programs measure themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/analyze.h"
#include "cli/cli.h"
#include "cli/figures.h"
#include "cli/paired.h"
#include "cli/state.h"
#include "host/host.h"

#define N_ROUNDS      9
#define N_ROUNDS_MAX  1000
#define N_TRIES	      4
#define STEADY	      0.04
#define N_CHUNKS      32
#define CHUNK_CALLS   256
#define NS_LEAST      0.005 /* what the file has as more than 0 */
#define N_KEYS	      10000 /* of a large table */
#define SAMPLE_NS     100000
#define SAMPLE_RUN_NS 20000000ull

/* --- Loops --- */

static void loop_wanted(u32 n)
{
	for (u32 i = 0; i < n; i++)
		syscall(SYS_pread64, -1, NULL, i & 4095, 0ul);
}

static void loop_keys(u32 n)
{
	static u32 key;

	for (u32 i = 0; i < n; i++) {
		key = (key + 7919) % N_KEYS;
		syscall(SYS_pread64, -1, NULL, 0ul, (unsigned long)key);
	}
}

static void loop_file(u32 n)
{
	static int fd;
	char byte = 0;

	if (!fd)
		fd = open("/proc/sys/kernel/ostype", O_RDONLY | O_CLOEXEC);
	for (u32 i = 0; i < n; i++)
		if (syscall(SYS_pread64, fd, &byte, 0ul, 0ul) < 0)
			return;
}

static void loop_other(u32 n)
{
	for (u32 i = 0; i < n; i++)
		syscall(SYS_getppid);
}

static void loop_timer(u32 n)
{
	const struct itimerval never = { 0 };

	for (u32 i = 0; i < n; i++)
		setitimer(ITIMER_VIRTUAL, &never, NULL);
}

static void loop_read(u32 n)
{
	static int fd;
	char byte;

	if (!fd)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (u32 i = 0; i < n; i++)
		if (read(fd, &byte, 1) < 0)
			return;
}

/* It begins as functions do, by an instruction that the kernel does itself (push). */
static char *(*volatile function)(const char *) = basename;

static void loop_function(u32 n)
{
	for (u32 i = 0; i < n; i++)
		function("a");
}

static void loop_probe(u32 n)
{
	static jmp_buf here;

	for (u32 i = 0; i < n; i++)
		setjmp(here);
}

/* --- What is measured --- */

#define WANTED	   "FROM tracepoint:syscalls:sys_enter_pread64 "
#define RAW	   "SET access_path = raw; SELECT count(*) AS n"
#define TRACEPOINT "SET access_path = tracepoint; SELECT count(*) AS n "
#define FENTRY	   "SET access_path = fentry; SELECT count(*) AS n "
#define KPROBE	   "SET access_path = kprobe; SELECT count(*) AS n "
#define COUNT	   "SELECT count(*) AS n "
#define ROWS	   "SET ring_bytes = 8388608; SET access_path = raw; SELECT fd "
#define TIMER	   "FROM tracepoint:timer:itimer_state"
#define BOTH                                                                                       \
	"FROM (SELECT cpu " WANTED "UNION ALL SELECT cpu FROM tracepoint:syscalls:sys_exit_pread64)"

/* A hook: what the query costs but for its count.  Of a value or a state: what it costs beyond
 * that, and beyond what else the query has. */
#define HOOK	    .less = { COST_CELL }
#define BEYOND(...) .base = COST_RAW_CALL, .less = { __VA_ARGS__ }

/*
 * Of what the query costs, what `base` costs in the same round, and what the costs `less` are, is
 * taken away; the rest is `times` (0: once) as much as is looked for.
 */
static const struct measure {
	enum cost cost;
	void (*loop)(u32 n); /* NULL: it only computes */
	const char *text;
	enum cost base, less[4]; /* COST_NONE: none */
	int times;
	bool is_by_program; /* it is what programs measured (phys/maps.h), not what they cost, of
			     * rounds as fast as that in which `base` costs its median */
} measures[] = {
	{ COST_RAW_CALL, loop_wanted, RAW " " WANTED, HOOK },
	{ COST_CLOCK, loop_wanted, RAW " " WANTED "WITH (max_cpu = '1%')", BEYOND(COST_NONE),
	  .is_by_program = true },
	{ COST_ACCOUNT, loop_wanted, RAW " " WANTED "WITH (max_cpu = '100%')", BEYOND(COST_NONE) },
	{ COST_CELL, loop_wanted, RAW ", sum(count), max(count), min(pos) " WANTED,
	  BEYOND(COST_NONE), .times = 3 },
	{ COST_RAW_OTHER, loop_other, RAW " " WANTED },
	{ COST_RAW_SHARED, loop_wanted, RAW " " BOTH, BEYOND(COST_RAW_CALL, COST_CELL),
	  .times = -1 },
	{ COST_TRACEPOINT_CALL, loop_wanted, TRACEPOINT WANTED, HOOK },
	{ COST_TRACEPOINT_OTHER, loop_other, TRACEPOINT WANTED },
	{ COST_FENTRY_CALL, loop_wanted, FENTRY WANTED, HOOK },
	{ COST_RAW, loop_timer, RAW " " TIMER, HOOK },
	{ COST_TRACEPOINT, loop_timer, TRACEPOINT TIMER, HOOK },
	{ COST_FENTRY, loop_read, FENTRY "FROM kprobe:vfs_read", HOOK },
	{ COST_FEXIT, loop_read, FENTRY "FROM kretprobe:vfs_read", HOOK },
	{ COST_KPROBE, loop_read, KPROBE "FROM kprobe:vfs_read", HOOK },
	{ COST_KRETPROBE, loop_read, KPROBE "FROM kretprobe:vfs_read", HOOK },
	{ COST_UPROBE, loop_function, COUNT "FROM uprobe:libc.so.6:basename", HOOK },
	{ COST_URETPROBE, loop_function, COUNT "FROM uretprobe:libc.so.6:basename", HOOK },
	{ COST_USDT, loop_probe, COUNT "FROM usdt:libc.so.6:libc:setjmp", HOOK },
	{ COST_SAMPLE, NULL, COUNT "FROM profile:10000", HOOK },
	{ COST_TIME, loop_wanted, RAW ", max(time) " WANTED, BEYOND(COST_CELL) },
	{ COST_ID, loop_wanted, RAW ", max(pid), max(uid) " WANTED, BEYOND(COST_CELL, COST_CELL),
	  .times = 2 },
	{ COST_PPID, loop_wanted, RAW ", max(ppid) " WANTED, BEYOND(COST_CELL) },
	{ COST_MEMBER, loop_wanted,
	  "SET rules_off = 'typed'; " RAW ", max(task.start_time) " WANTED,
	  BEYOND(COST_CELL, COST_ID) },
	{ COST_LOAD, loop_wanted, RAW ", max(task.start_time) " WANTED,
	  BEYOND(COST_CELL, COST_ID) },
	{ COST_USER, loop_file, RAW ", max(user(buf, 'u8')) " WANTED, BEYOND(COST_CELL) },
	{ COST_FILE_NAME, loop_file, RAW ", file_name(fd) AS k " WANTED "GROUP BY file_name(fd)",
	  BEYOND(COST_TABLE) },
	{ COST_FILE_PATH, loop_file, RAW ", file_path(fd) AS k " WANTED "GROUP BY file_path(fd)",
	  BEYOND(COST_TABLE) },
	{ COST_DIRECT, loop_wanted, RAW ", fd & 7 AS k " WANTED "GROUP BY fd & 7",
	  BEYOND(COST_NONE) },
	{ COST_TABLE, loop_wanted, RAW ", fd " WANTED "GROUP BY fd", BEYOND(COST_NONE) },
	{ COST_TABLE_LARGE, loop_keys,
	  "SET max_groups = 65536; " RAW ", pos " WANTED "GROUP BY pos", BEYOND(COST_NONE) },
	{ COST_KERNEL_MAP, loop_wanted, "SET state = kernel_map; " RAW ", fd " WANTED "GROUP BY fd",
	  BEYOND(COST_NONE) },
	{ COST_COMM, loop_wanted, RAW ", comm " WANTED "GROUP BY comm", BEYOND(COST_TABLE) },
	{ COST_LIKE, loop_wanted, RAW " " WANTED "WHERE comm LIKE '%b%'", BEYOND(COST_COMM) },
	{ COST_KSTACK, loop_wanted, RAW ", kstack " WANTED "GROUP BY kstack", BEYOND(COST_TABLE) },
	{ COST_USTACK, loop_wanted, RAW ", ustack " WANTED "GROUP BY ustack", BEYOND(COST_TABLE) },
	{ COST_HISTOGRAM, loop_wanted, RAW ", histogram(count) " WANTED, BEYOND(COST_NONE) },
	{ COST_START, loop_wanted, RAW ", max(latency) FROM syscall:pread64",
	  .base = COST_RAW_SHARED, .less = { COST_TIME, COST_TIME }, .times = 2 },
	{ COST_ROW, loop_wanted, ROWS WANTED, BEYOND(COST_NONE) },
};
#define N_MEASURES ARRAY_SIZE(measures)

struct calibration {
	struct arena *arena;
	struct query first;	    /* its catalog serves all */
	double *deltas[N_MEASURES]; /* what the query cost in each round */
	const char *refused[N_MEASURES];
	u32 n_unsteady[N_MEASURES]; /* rounds */
	u32 n_rounds;
	struct costs costs;
};

/* --- Timing --- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(double *values, u32 n, double q)
{
	double at = q * (n - 1);
	u32 i = (u32)at;

	qsort(values, n, sizeof(*values), compare);
	return i + 1 < n ? values[i] + (at - i) * (values[i + 1] - values[i]) : values[i];
}

/* The median of chunks: where another process was let in, it is one chunk. */
static double time_loop(void (*loop)(u32 n))
{
	double chunks[N_CHUNKS];

	for (u32 i = 0; i < N_CHUNKS; i++) {
		u64 start_ns = base_monotonic_ns();

		loop(CHUNK_CALLS);
		chunks[i] = (double)(base_monotonic_ns() - start_ns) / CHUNK_CALLS;
	}
	return quantile(chunks, N_CHUNKS, 0.5);
}

/* Samples come seldom, so all of the time counts that is this thread's, and theirs within it. */
static double time_work(void)
{
	u64 start_ns = process_cpu_ns(), ns = 0;
	u32 n = 0;

	for (; ns < SAMPLE_RUN_NS; n++) {
		for (volatile u32 i = 0; i < 1000; i++)
			;
		ns = process_cpu_ns() - start_ns;
	}
	return (double)ns / n;
}

/* What reading the clock took the loop's programs.  NAN: none of them has. */
static double clock_ns(const struct flow *flow, void (*loop)(u32 n))
{
	u32 n_loads;
	struct budget *budget = flow_loads(flow, &n_loads)[0]->budget;
	int cpu = sched_getcpu();
	struct budget_line *line = (struct budget_line *)(budget + 1) + cpu;
	u64 eighths;

	if (cpu < 0)
		return NAN;
	time_loop(loop);
	eighths = __atomic_load_n(&line->clock, __ATOMIC_RELAXED);
	return eighths ? (double)eighths / 8 : NAN;
}

static int drop(void *context, const struct batch *batch)
{
	return 0;
}

static double with_query(struct calibration *c, const struct measure *m, struct query *q)
{
	struct flow_input how = { .sink.batch = drop };
	struct engine *engine = NULL;
	double ns = NAN;

	q->catalog = c->first.catalog;
	/* Whatever an earlier one has measured: the table's, which knows no clock. */
	q->settings.costs = &c->costs;
	q->settings.measures_clock = m->is_by_program;
	if (!query_parse(q) || !query_compile(q))
		return NAN;
	load_raise_limits(q->programs->set);
	if (!query_load(q) && !engine_open(&engine) && !query_start(q, engine, &how)) {
		ns = m->is_by_program ? clock_ns(q->flow, m->loop)
		     : m->loop	      ? time_loop(m->loop)
				      : time_work();
		engine_step(engine);
	}
	query_close(q);
	if (engine)
		engine_close(engine);
	return ns;
}

static const char *why_refused(struct calibration *c, const struct query *q)
{
	for (u32 i = 0; i < q->diags.list.n; i++)
		if (!q->diags.list.at[i].is_warning)
			return arena_strdup(c->arena, q->diags.list.at[i].message);
	return "it does not run here";
}

static double time_alone(const struct measure *m)
{
	return m->loop ? time_loop(m->loop) : time_work();
}

/* Once more where the machine itself changed its speed meanwhile.  NAN: it cannot be had here. */
static double measure(struct calibration *c, u32 i)
{
	const struct measure *m = &measures[i];
	double after = time_alone(m), before = after, with = NAN;
	bool is_steady = false;
	struct query q;

	for (u32 n = 0; n < N_TRIES && !is_steady && !c->refused[i]; n++) {
		before = after;
		if (!query_init(&q, "calibrate", m->text, strlen(m->text))) {
			c->refused[i] = "out of memory";
			return NAN;
		}
		with = with_query(c, m, &q);
		if (isnan(with))
			c->refused[i] = why_refused(c, &q);
		q.catalog = NULL;
		query_free(&q);
		after = time_alone(m);
		is_steady =
			m->is_by_program || fabs(before - after) < STEADY * (before + after) / 2;
	}
	c->n_unsteady[i] += !is_steady;
	if (!m->loop)
		return (1 - (before + after) / 2 / with) * SAMPLE_NS;
	return m->is_by_program ? with : with - (before + after) / 2;
}

static u32 find(enum cost cost)
{
	u32 i = 0;

	while (measures[i].cost != cost)
		i++;
	return i;
}

/* What is not had here is nothing to subtract: what is left would be something else. */
static void refuse_dependent(struct calibration *c, u32 i)
{
	const struct measure *m = &measures[i];
	enum cost needed[1 + ARRAY_SIZE(m->less)] = { m->base };

	memcpy(needed + 1, m->less, sizeof(m->less));
	for (u32 k = 0; k < ARRAY_SIZE(needed) && !c->refused[i]; k++)
		if (needed[k] && c->refused[find(needed[k])])
			c->refused[i] = arena_printf(c->arena, "%s, which it takes, cannot be had",
						     cost_infos[needed[k]].name);
}

static const char lost[] = "what it costs is lost in the noise: measure when the machine is idle";

/* The cell's cost is known from the second one on; the first is corrected then. */
static void take(struct calibration *c, u32 i, bool is_last)
{
	const struct measure *m = &measures[i];
	struct cost_figure *figure = &c->costs.of[m->cost];
	double *values = arena_array(c->arena, double, c->n_rounds);
	double less = 0, ns, spread_ns;
	u32 n_unsteady = c->n_unsteady[i];

	for (u32 k = 0; k < ARRAY_SIZE(m->less) && m->less[k]; k++)
		less += c->costs.of[m->less[k]].ns;
	for (u32 r = 0; r < c->n_rounds; r++) {
		double base = !m->base || m->is_by_program ? 0 : c->deltas[find(m->base)][r];

		values[r] = (c->deltas[i][r] - base - less) / (m->times ? m->times : 1);
	}
	if (m->is_by_program) {
		paired_scale(values, c->deltas[find(m->base)], c->n_rounds, c->arena);
		n_unsteady = c->n_unsteady[find(m->base)];
	}
	ns = quantile(values, c->n_rounds, 0.5);
	spread_ns = (quantile(values, c->n_rounds, 0.75) - quantile(values, c->n_rounds, 0.25)) / 2;
	/*
	 * Nothing is free: plans would be made, and loads expected, as if it were.  But without the
	 * account the clock is of no use.
	 */
	if (is_last && ns < NS_LEAST && cost_infos[m->cost].ns > 0 && m->cost != COST_ACCOUNT) {
		c->refused[i] = lost;
		*figure = (struct cost_figure){ cost_infos[m->cost].ns };
		if (m->cost == COST_START)
			c->costs.of[COST_END] = (struct cost_figure){ cost_infos[COST_END].ns };
		return;
	}
	if (!costs_take(&c->costs, m->cost, ns < 0 ? 0 : ns, spread_ns)) {
		c->refused[i] =
			arena_printf(c->arena, "%.3g ns were measured, which cannot be", ns);
		return;
	}
	/* The median is of such a round then. */
	figure->is_unsteady = n_unsteady * 2 >= c->n_rounds;
	if (m->cost == COST_START)
		c->costs.of[COST_END] = *figure;
}

static void stay_on_cpu(cpu_set_t *was)
{
	cpu_set_t here;
	int cpu = sched_getcpu();

	sched_getaffinity(0, sizeof(*was), was);
	if (cpu < 0)
		return;
	CPU_ZERO(&here);
	CPU_SET((u32)cpu, &here);
	sched_setaffinity(0, sizeof(here), &here);
}

static void measure_all(struct calibration *c)
{
	cpu_set_t cpus;

	stay_on_cpu(&cpus);
	for (u32 i = 0; i < N_MEASURES; i++)
		c->deltas[i] = arena_array(c->arena, double, c->n_rounds);
	for (u32 r = 0; r < c->n_rounds; r++)
		for (u32 i = 0; i < N_MEASURES; i++)
			if (!c->refused[i])
				c->deltas[i][r] = measure(c, i);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	for (u32 i = 0; i < N_MEASURES; i++)
		refuse_dependent(c, i);
	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < N_MEASURES; i++)
			if (!c->refused[i])
				take(c, i, round == 1);
}

/* --- The file --- */

static int save(const struct calibration *c, const char *path)
{
	struct state_file state;
	int error = state_begin(&state, path);
	struct buf out;

	if (error)
		return tell_failed(path, -error);
	buf_init(&out);
	costs_write(&c->costs, costs_kernel(c->arena), costs_cpu(c->arena), &out);
	error = state_end(&state, buf_flush(&out, fileno(state.file), NULL));
	buf_free(&out);
	if (error)
		return tell_failed(path, -error);
	tell_note("ebql: the costs are kept in %s\n", path);
	return 0;
}

/* --- Showing --- */

static const char *refused(const struct calibration *c, enum cost cost)
{
	for (u32 i = 0; i < N_MEASURES; i++)
		if (measures[i].cost == cost)
			return c->refused[i];
	return NULL;
}

static int say(struct calibration *c, const struct options *options, const struct costs *costs)
{
	static const struct column columns[] = {
		{ "name", { .kind = TYPE_TEXT } },
		{ "ns", { .kind = TYPE_REAL, .bits = 64 } },
		{ "spread_ns", { .kind = TYPE_REAL, .bits = 64 } },
		{ "from", { .kind = TYPE_TEXT } },
		{ "meaning", { .kind = TYPE_TEXT } },
	};
	struct figures figures;
	u32 n_unsteady = 0;

	figures_init(&figures, c->arena, columns, ARRAY_SIZE(columns));
	for (u32 i = 0; i < COST_N; i++) {
		const struct cost_figure *figure = &costs->of[i];
		const char *why = refused(c, (enum cost)i);

		figures_text(&figures, cost_infos[i].name);
		figures_real(&figures, figure->ns);
		figures_real(&figures, figure->is_measured ? figure->spread_ns : NAN);
		n_unsteady += figure->is_unsteady;
		figures_text(&figures, figure->is_unsteady   ? "this machine, unsteady"
				       : figure->is_measured ? "this machine"
				       : why ? arena_printf(c->arena, "table: %s", why)
					     : "table");
		figures_text(&figures, cost_infos[i].meaning);
	}
	if (n_unsteady)
		tell_note("ebql: %u are unsteady: the machine changed its speed meanwhile; measure "
			  "again when it is idle\n",
			  n_unsteady);
	return figures_say(&figures, options, NULL);
}

static int calibrate(struct calibration *c, const struct options *options)
{
	const char *path = costs_path(c->arena);
	int error, status;

	if (!path) {
		tell("ebql: neither XDG_STATE_HOME nor HOME says where to keep the costs\n");
		return 1;
	}
	error = state_try(path);
	if (error)
		return tell_failed(path, -error);
	costs_init(&c->costs);
	measure_all(c);
	if (c->refused[0]) {
		tell("ebql: calibrate: %s: %s\n%s", cost_infos[measures[0].cost].name,
		     c->refused[0],
		     c->refused[0] == lost ? "" : "  hint: ebql doctor says what is missing\n");
		return 1;
	}
	status = save(c, path);
	return status ? status : say(c, options, &c->costs);
}

static int show(struct calibration *c, const struct options *options)
{
	const struct costs *costs = catalog_costs(c->first.catalog);

	if (costs->ignored)
		tell_note("ebql: %s is not used: %s\n", costs->path, costs->ignored);
	else if (costs->path)
		tell_note("ebql: measured on this machine, in %s\n", costs->path);
	return say(c, options, costs);
}

int cmd_calibrate(struct options *options)
{
	struct calibration c = { .n_rounds = N_ROUNDS };
	int status;

	if (options->host.n_windows)
		c.n_rounds = (u32)MIN(options->host.n_windows, (u64)N_ROUNDS_MAX);
	if (!query_init(&c.first, "calibrate", "", 0))
		return tell_no_memory();
	c.arena = &c.first.arena;
	if (!query_open_catalog(&c.first))
		status = tell_diags(&c.first);
	else
		status = options->is_show ? show(&c, options) : calibrate(&c, options);
	query_free(&c.first);
	return status;
}
