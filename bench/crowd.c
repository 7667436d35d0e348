/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What many queries in one engine cost -> two tables in Markdown: time per event of a hook that
 * serves one query, or fourteen, in one program or in a program each; and how long it takes until
 * one more query runs beside fourteen.  As root.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "query/query.h"

#define N_MANY	 14
#define N_ROUNDS 11
#define N_CALLS	 200000
#define N_ADDED	 200

/* Of the same events, no two alike. */
static const char *const alike[] = {
	"SELECT count(*) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT tid, count(*) FROM %s WHERE pid = %d GROUP BY tid WINDOW TUMBLING 1s",
	"SELECT histogram(fildes) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT sum(fildes), max(fildes) FROM %s WHERE pid = %d AND fildes > 3 WINDOW TUMBLING 1s",
	"SELECT fildes, min(fildes), avg(fildes) FROM %s WHERE pid = %d GROUP BY fildes WINDOW TUMBLING 1s",
	"SELECT cpu, count(*) FROM %s WHERE pid = %d GROUP BY cpu WINDOW TUMBLING 1s",
	"SELECT quantile(fildes, 0.99) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT max(fildes) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT tid, sum(fildes) FROM %s WHERE pid = %d GROUP BY tid WINDOW TUMBLING 1s",
	"SELECT tid, cpu, count(*) FROM %s WHERE pid = %d GROUP BY tid, cpu WINDOW TUMBLING 1s",
	"SELECT avg(fildes) FROM %s WHERE pid = %d AND fildes < 3 WINDOW TUMBLING 1s",
	"SELECT uid, count(*) FROM %s WHERE pid = %d GROUP BY uid WINDOW TUMBLING 1s",
	"SELECT fildes %% 8, count(*) FROM %s WHERE pid = %d GROUP BY fildes %% 8 WINDOW TUMBLING 1s",
	"SELECT min(fildes), count(*) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	/* The one that comes. */
	"SELECT gid, count(*) FROM %s WHERE pid = %d GROUP BY gid WINDOW TUMBLING 1s",
};

/* Of the same spans, no two alike. */
static const char *const spans[] = {
	"SELECT histogram(latency) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT count(*) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT tid, max(latency) FROM %s WHERE pid = %d GROUP BY tid WINDOW TUMBLING 1s",
	"SELECT ret, count(*) FROM %s WHERE pid = %d GROUP BY ret WINDOW TUMBLING 1s",
	"SELECT fildes, avg(latency) FROM %s WHERE pid = %d GROUP BY fildes WINDOW TUMBLING 1s",
	"SELECT quantile(latency, 0.99) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT sum(latency) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT min(latency) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT cpu, count(*) FROM %s WHERE pid = %d GROUP BY cpu WINDOW TUMBLING 1s",
	"SELECT tid, histogram(latency) FROM %s WHERE pid = %d GROUP BY tid WINDOW TUMBLING 1s",
	"SELECT max(latency), min(ret) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT histogram(latency, exponential(3)) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT fildes, sum(latency) FROM %s WHERE pid = %d GROUP BY fildes WINDOW TUMBLING 1s",
	"SELECT count(*), max(latency) FROM %s WHERE pid = %d AND ret < 0 WINDOW TUMBLING 1s",
};

/* The same question, with other windows. */
static const char *const windows[] = {
	"SELECT histogram(latency) FROM %s WHERE pid = %d WINDOW TUMBLING 1s",
	"SELECT histogram(latency) FROM %s WHERE pid = %d WINDOW TUMBLING 10s",
	"SELECT histogram(latency) FROM %s WHERE pid = %d WINDOW TUMBLING 100ms",
	"SELECT histogram(latency) FROM %s WHERE pid = %d WINDOW HOPPING 10s BY 1s",
};

/* One call each. */
static const char *const calls[] = {
	"dup",	  "getppid", "pread64", "pwrite64", "lseek", "getuid", "getgid",
	"getsid", "getpgid", "alarm",	"umask",    "dup2",  "fsync",  "fchdir",
};

struct way {
	const char *name;
	const char *const *texts;
	u32 n_texts;
	u32 n;
	const char *stream;
	bool is_apart; /* a program each, attached directly */
	bool is_each;  /* of another call each */
	bool is_one;   /* to what it costs the others are compared, up to the next such */
	double ns[N_ROUNDS];
};

#define TEXTS(of) of, ARRAY_SIZE(of)
#define EVENTS	  "tracepoint:syscalls:sys_enter_dup"
static struct way ways[] = {
	{ "none", TEXTS(alike), 0, EVENTS },
	{ "1 query, attached directly", TEXTS(alike), 1, EVENTS, .is_apart = true, .is_one = true },
	{ "1 query, behind a dispatcher", TEXTS(alike), 1, EVENTS },
	{ "14 queries in one program", TEXTS(alike), N_MANY, EVENTS },
	{ "14 queries, a program each", TEXTS(alike), N_MANY, EVENTS, .is_apart = true },
	{ "14 of other calls each", TEXTS(alike), N_MANY, EVENTS, .is_each = true },
	{ "1 query of spans", TEXTS(spans), 1, "syscall:dup", .is_one = true },
	{ "14 queries of spans", TEXTS(spans), N_MANY, "syscall:dup" },
	{ "14 of spans, with other windows", TEXTS(windows), N_MANY, "syscall:dup" },
};

static struct query queries[N_MANY + 1];

static int ignore(void *context, const struct batch *batch)
{
	return 0;
}

static void prepare(const struct way *way, struct query *query, u32 i)
{
	static char said[N_MANY + 1][256];
	char stream[64];

	snprintf(stream, sizeof(stream), "%s", way->stream);
	if (way->is_each)
		snprintf(stream, sizeof(stream), "tracepoint:syscalls:sys_enter_%s", calls[i]);
	snprintf(said[i], sizeof(said[i]), way->texts[way->is_each ? 0 : i % way->n_texts], stream,
		 getpid());
	if (!query_init(query, "bench", said[i], strlen(said[i])) || !query_parse(query) ||
	    !query_compile(query))
		exit(fprintf(stderr, "bench: %s\n", said[i]) > 0);
}

static void begin(struct query *query, struct engine *engine, bool is_apart)
{
	struct flow_input how = { .sink = { .batch = ignore } };

	if ((is_apart && query_load(query)) || query_start(query, engine, &how))
		exit(fputs("bench: a query does not run\n", stderr));
}

static void end(struct query *query)
{
	flow_stop(query->flow);
	query_free(query);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double at_share(double *values, u32 n, double share)
{
	qsort(values, n, sizeof(*values), compare);
	return values[(u32)((n - 1) * share)];
}

static double time_calls(void)
{
	double chunks[100];

	for (u32 k = 0; k < ARRAY_SIZE(chunks); k++) {
		u64 start_ns = base_monotonic_ns();

		for (u32 i = 0; i < N_CALLS / ARRAY_SIZE(chunks); i++)
			syscall(SYS_dup, -1);
		chunks[k] =
			(double)(base_monotonic_ns() - start_ns) / (N_CALLS / ARRAY_SIZE(chunks));
	}
	return at_share(chunks, ARRAY_SIZE(chunks), 0.5);
}

static void measure(struct way *way, u32 round)
{
	struct engine *engine;

	engine_open(&engine);
	for (u32 i = 0; i < way->n; i++) {
		prepare(way, &queries[i], i);
		begin(&queries[i], engine, way->is_apart);
	}
	way->ns[round] = time_calls();
	for (u32 i = 0; i < way->n; i++)
		end(&queries[i]);
	engine_close(engine);
}

static void show_costs(void)
{
	double none, one = 0;

	for (u32 round = 0; round < N_ROUNDS; round++)
		for (u32 i = 0; i < ARRAY_SIZE(ways); i++)
			measure(&ways[i], round);
	none = at_share(ways[0].ns, N_ROUNDS, 0.5);
	printf("\nMany queries in one engine, of one hook:\n\n");
	printf("| on the hook | ns an event | to one |\n|---|---|---|\n");
	for (u32 i = 1; i < ARRAY_SIZE(ways); i++) {
		double ns = at_share(ways[i].ns, N_ROUNDS, 0.5) - none;

		one = ways[i].is_one ? ns : one;
		printf("| %s | %.0f | %.2f |\n", ways[i].name, ns, ns / one);
	}
}

static void show_adding(void)
{
	double compile_ms[N_ADDED], start_ms[N_ADDED], end_ms[N_ADDED];
	struct query *last = &queries[N_MANY];
	struct engine *engine;
	u64 ns;

	engine_open(&engine);
	for (u32 i = 0; i < N_MANY; i++) {
		prepare(&ways[3], &queries[i], i);
		begin(&queries[i], engine, false);
	}
	for (u32 i = 0; i < N_ADDED; i++) {
		ns = base_monotonic_ns();
		prepare(&ways[3], last, N_MANY);
		compile_ms[i] = (double)(base_monotonic_ns() - ns) / 1e6;
		ns = base_monotonic_ns();
		begin(last, engine, false);
		start_ms[i] = (double)(base_monotonic_ns() - ns) / 1e6;
		engine_step(engine);
		ns = base_monotonic_ns();
		end(last);
		end_ms[i] = (double)(base_monotonic_ns() - ns) / 1e6;
	}
	for (u32 i = 0; i < N_MANY; i++)
		end(&queries[i]);
	engine_close(engine);
	printf("\n| beside 14 queries of one hook, ms | median | p99 |\n|---|---|---|\n");
	printf("| text to instructions | %.2f | %.2f |\n", at_share(compile_ms, N_ADDED, 0.5),
	       at_share(compile_ms, N_ADDED, 0.99));
	printf("| until it counts | %.2f | %.2f |\n", at_share(start_ms, N_ADDED, 0.5),
	       at_share(start_ms, N_ADDED, 0.99));
	printf("| until it is gone | %.2f | %.2f |\n", at_share(end_ms, N_ADDED, 0.5),
	       at_share(end_ms, N_ADDED, 0.99));
}

int main(void)
{
	load_raise_limits(NULL);
	show_costs();
	show_adding();
	return 0;
}
