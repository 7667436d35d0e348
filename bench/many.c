/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fourteen histograms at once, by one ebql watch, by a process each, and by bpftrace likewise ->
 * what an event costs, beside one histogram alone.  Of each kind there is a set: of one event, of
 * the latencies of one call, and of the latencies of fourteen calls, of which one is called.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* The clauses of one histogram; NULL keys: all in one. */
struct histogram {
	const char *call, *value, *key;		   /* ebql's */
	const char *bpftrace_value, *bpftrace_key; /* of args */
	bool is_positive;			   /* only where ret > 0, which it is */
};

#define EVENT(value, key, bpftrace)                                                                \
	{                                                                                          \
		"pread64", value, key, "args->" value, bpftrace, false                             \
	}
#define EVENTS(key, bpftrace) EVENT("count", key, bpftrace), EVENT("pos", key, bpftrace)
#define LATENCIES(key, bpftrace)                                                                   \
	{ "pread64", "latency", key, "nsecs - @s", bpftrace, false },                              \
	{                                                                                          \
		"pread64", "latency", key, "nsecs - @s", bpftrace, true                            \
	}
#define CALL(name)                                                                                 \
	{                                                                                          \
		name, "latency", NULL, "nsecs - @s", NULL, false                                   \
	}

static const struct histogram sets[N_MANY_SETS][N_MANY] = {
	[MANY_EVENT] = { EVENTS(NULL, NULL), EVENTS("fd", "args->fd"), EVENTS("tid", "tid"),
			 EVENTS("cpu", "cpu"), EVENTS("uid", "uid"), EVENTS("comm", "comm"),
			 EVENTS("gid", "gid") },
	[MANY_LATENCY] = { LATENCIES(NULL, NULL), LATENCIES("ret", "args->ret"),
			   LATENCIES("tid", "tid"), LATENCIES("cpu", "cpu"),
			   LATENCIES("uid", "uid"), LATENCIES("comm", "comm"),
			   LATENCIES("gid", "gid") },
	/* The loop's process makes none of the others. */
	[MANY_CALLS] = { CALL("pread64"), CALL("pwrite64"), CALL("readv"), CALL("writev"),
			 CALL("openat"), CALL("close"), CALL("mmap"), CALL("munmap"),
			 CALL("epoll_wait"), CALL("futex"), CALL("fsync"), CALL("poll"),
			 CALL("recvfrom"), CALL("sendto") },
};

const char *const many_set_names[N_MANY_SETS] = {
	[MANY_EVENT] = "14 histograms of one event, by 7 keys",
	[MANY_LATENCY] = "14 histograms of one call's latency, by 7 keys",
	[MANY_CALLS] = "14 calls' latencies, one of which is called",
};

const struct many_way many_ways[N_MANY_WAYS] = {
	[MANY_EBQL_1] = { "ebql, one query", KIND_EBQL, false, 1, 1 },
	[MANY_WATCH_1] = { "ebql watch, one query", KIND_EBQL, true, 1, 1 },
	[MANY_WATCH_14] = { "**ebql watch, 14 queries**", KIND_EBQL, true, 1, N_MANY },
	[MANY_EBQL_14] = { "14 processes of ebql", KIND_EBQL, false, N_MANY, 1 },
	[MANY_BPFTRACE_1] = { "bpftrace, one histogram", KIND_BPFTRACE, false, 1, 1 },
	[MANY_BPFTRACE_BODIES] = { "bpftrace, 14 in one script", KIND_BPFTRACE, false, 1, N_MANY },
	[MANY_BPFTRACE_14] = { "14 processes of bpftrace", KIND_BPFTRACE, false, N_MANY, 1 },
};

static char folder[64]; /* of ebql watch's files */

/* --- Texts --- */

static void put_query(const struct histogram *h, FILE *out)
{
	bool is_span = strcmp(h->value, "latency") == 0;

	fputs("SELECT ", out);
	if (h->key)
		fprintf(out, "%s, ", h->key);
	fprintf(out, "histogram(%s) FROM %s%s WHERE pid = %d%s", h->value,
		is_span ? "syscall:" : "tracepoint:syscalls:sys_enter_", h->call, loop_pid(),
		h->is_positive ? " AND ret > 0" : "");
	if (h->key)
		fprintf(out, " GROUP BY %s", h->key);
	fputs(" WINDOW TUMBLING 1s", out);
}

/* A body of a script; what it keeps has the number in its name. */
static void put_body(const struct histogram *h, int number, FILE *out)
{
	char key[64] = "";

	if (h->bpftrace_key)
		snprintf(key, sizeof(key), "[%s]", h->bpftrace_key);
	if (strcmp(h->value, "latency") != 0) {
		fprintf(out, "tracepoint:syscalls:sys_enter_%s /pid == %d/ { @h%d%s = hist(%s); } ",
			h->call, loop_pid(), number, key, h->bpftrace_value);
		return;
	}
	fprintf(out,
		"tracepoint:syscalls:sys_enter_%s /pid == %d/ { @s%d[tid] = nsecs; } "
		"tracepoint:syscalls:sys_exit_%s /@s%d[tid]%s/ "
		"{ @h%d%s = hist(nsecs - @s%d[tid]); delete(@s%d[tid]); } ",
		h->call, loop_pid(), number, h->call, number,
		h->is_positive ? " && args->ret > 0" : "", number, key, number, number);
}

static char *text_of(enum many_set set, const struct many_way *way, int first)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		fail("out of memory");
	for (int i = first; i < first + way->n_queries; i++)
		if (way->kind == KIND_EBQL)
			put_query(&sets[set][i], out);
		else
			put_body(&sets[set][i], i, out);
	fclose(out);
	return text;
}

/* --- Beginning and end --- */

static const char *path_of(int i)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/q%02d.sql", folder, i);
	return path;
}

static void start_watch(struct process *p, enum many_set set, const struct many_way *way)
{
	char socket[128], wanted[64];

	for (int i = 0; i < way->n_queries; i++) {
		FILE *out = fopen(path_of(i), "w");

		if (!out)
			fail("cannot write %s", path_of(i));
		put_query(&sets[set][i], out);
		fclose(out);
	}
	snprintf(socket, sizeof(socket), "%s/socket", folder);
	snprintf(wanted, sizeof(wanted), "%d of %d queries run", way->n_queries, way->n_queries);
	process_start(p, (const char *[]){ config.ebql, "watch", "-o", "json", "--socket", socket,
					   folder, NULL });
	if (!process_wait_text(p, 1, wanted, 20000000000ull))
		fail("ebql watch does not run: %s", p->texts[1]);
}

static void start(struct process *p, enum many_set set, const struct many_way *way, int i)
{
	char *text;

	if (way->is_watch) {
		start_watch(p, set, way);
		return;
	}
	text = text_of(set, way, i);
	if (way->kind == KIND_EBQL)
		process_start(p, (const char *[]){ config.ebql, "-v", "-o", "json", text, NULL });
	else
		process_start(p, (const char *[]){ config.bpftrace, "-f", "json", "-B", "line",
						   "-e", text, NULL });
	free(text);
}

static void await(struct process *p, const struct many_way *way)
{
	bool is_ebql = way->kind == KIND_EBQL;

	if (way->is_watch)
		return;
	if (!process_wait_text(p, is_ebql, is_ebql ? "attached:" : "attached_probes",
			       60000000000ull))
		fail("%s does not attach: %s", way->name, p->texts[1]);
}

/* The sum of the numbers behind the string, wherever it stands in the text. */
static u64 sum_behind(const char *text, const char *string)
{
	u64 sum = 0;

	for (const char *at = strstr(text, string); at; at = strstr(at + 1, string))
		sum += strtoull(at + strlen(string), NULL, 10);
	return sum;
}

static u64 end(struct process *p, const struct many_way *way)
{
	u64 counted;

	process_finish(p, 0);
	if (way->kind == KIND_EBQL && p->status && WEXITSTATUS(p->status) != 3)
		fail("%s: wait status %d: %s", way->name, p->status, p->texts[1]);
	counted = sum_behind(p->texts[0], way->kind == KIND_EBQL ? "\"matched\":" : "\"count\": ");
	if (config.is_debug)
		fprintf(stderr, "%s%s", p->texts[0], p->texts[1]);
	process_free(p);
	return counted;
}

/* --- Measuring --- */

/* Before is the untraced time before; gives that behind it. */
static double measure(enum many_set set, const struct many_way *way, double before_ns,
		      struct many_sample *ret)
{
	struct process processes[N_MANY];
	struct loop_result loaded;
	double after_ns;
	u64 counted = 0, made;

	for (int i = 0; i < way->n_processes; i++)
		start(&processes[i], set, way, i);
	for (int i = 0; i < way->n_processes; i++)
		await(&processes[i], way);
	/* It says so before it attaches.  That this was long enough is seen by the counts. */
	if (way->kind == KIND_BPFTRACE)
		sleep_ns(way->n_processes * way->n_queries > 1 ? 3000000000ull : 600000000);
	made = loop_batch(LOOP_PREAD, config.batch_ns / 5).calls;
	loaded = loop_batch(LOOP_PREAD, config.batch_ns);
	made += loaded.calls;
	for (int i = 0; i < way->n_processes; i++)
		kill(processes[i].pid, SIGINT);
	for (int i = 0; i < way->n_processes; i++)
		counted += end(&processes[i], way);
	for (int i = 0; i < way->n_queries && way->is_watch; i++)
		unlink(path_of(i));
	after_ns = untraced_ns();
	/* Of different calls one is called. */
	if (set != MANY_CALLS)
		made *= (u64)(way->n_processes * way->n_queries);
	ret->cost_ns = loaded.ns_per_call - (before_ns + after_ns) / 2;
	ret->gap_ns = fabs(before_ns - after_ns);
	ret->difference = (double)counted - (double)made;
	if (config.is_debug)
		fprintf(stderr, "%-28s base %6.1f cost %7.1f, %+.0f of %llu\n", way->name, after_ns,
			ret->cost_ns, ret->difference, (unsigned long long)made);
	return after_ns;
}

int many_n_rounds(void)
{
	return (config.n_rounds + 2) / 3;
}

bool many_is_there(enum many_at way)
{
	return many_ways[way].kind == KIND_EBQL || config.bpftrace;
}

void many_measure(struct many_sample *samples)
{
	double base_ns;

	snprintf(folder, sizeof(folder), "/tmp/ebql-bench-XXXXXX");
	if (!mkdtemp(folder))
		fail("cannot make a folder in /tmp");
	base_ns = untraced_ns();
	for (int round = 0; round < many_n_rounds(); round++) {
		for (int set = 0; set < N_MANY_SETS; set++)
			for (int k = 0; k < N_MANY_WAYS; k++) {
				int way = round % 2 ? N_MANY_WAYS - 1 - k : k, n = 0;
				struct many_sample *sample = many_sample(samples, round, set, way);

				if (!many_is_there((enum many_at)way))
					continue;
				/* While the machine changed its speed by more than matters here. */
				do
					base_ns = measure((enum many_set)set, &many_ways[way],
							  base_ns, sample);
				while (sample->gap_ns > 0.2 * sample->cost_ns && n++ < 2);
			}
		fprintf(stderr, "bench: many queries, round %d of %d\n", round + 1,
			many_n_rounds());
	}
	rmdir(folder);
}

/* --- The examples under stress --- */

static const char *example_of(int i)
{
	static const char *const names[N_MANY] = {
		"block_io",	  "futex",     "irq",	     "off_cpu",
		"page_faults",	  "run_queue", "softirq",    "sys_close",
		"sys_epoll_wait", "sys_mmap",  "sys_openat", "sys_read",
		"sys_write",	  "tcp",
	};
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s.sql", config.examples, names[i]);
	return path;
}

static void watch_examples(bool is_watch, u64 duration_ns, struct many_stress *ret)
{
	int n = is_watch ? 1 : N_MANY;
	struct process processes[N_MANY];
	u64 begin_ns, cpu_ns = 0;

	*ret = (struct many_stress){ 0 };
	for (int i = 0; i < n; i++)
		process_start(&processes[i],
			      is_watch ? (const char *[]){ config.ebql, "watch", "-o", "json",
							   "--socket", "/tmp/ebql-bench-socket",
							   config.examples, NULL }
				       : (const char *[]){ config.ebql, "-v", "-o", "json", "-f",
							   example_of(i), NULL });
	for (int i = 0; i < n; i++)
		if (!process_wait_text(
			    &processes[i], 1,
			    is_watch ? "14 of 14 queries run" : "attached:", 20000000000ull))
			fail("the examples do not run: %s", processes[i].texts[1]);
	sleep_ns(1500000000);
	begin_ns = monotonic_ns();
	for (int i = 0; i < n; i++)
		cpu_ns -= process_cpu_ns(&processes[i]);
	sleep_ns(duration_ns);
	for (int i = 0; i < n; i++) {
		cpu_ns += process_cpu_ns(&processes[i]);
		ret->peak_rss_kib += process_peak_rss_kib(&processes[i]);
	}
	ret->cpu_percent = (double)cpu_ns / (double)(monotonic_ns() - begin_ns) * 100;
	for (int i = 0; i < n; i++)
		kill(processes[i].pid, SIGINT);
	for (int i = 0; i < n; i++) {
		process_finish(&processes[i], 0);
		ret->counted += sum_behind(processes[i].texts[0], "\"matched\":");
		ret->missed += sum_behind(processes[i].texts[0], "\"missed\":");
		process_free(&processes[i]);
	}
	ret->counted_per_s =
		(double)ret->counted / ((double)(monotonic_ns() - begin_ns) / 1e9 + 1.5);
}

void many_measure_stress(u64 duration_ns, struct many_stress ret_stresses[2])
{
	stress_begin();
	for (int i = 0; i < 2; i++)
		watch_examples(i == 0, duration_ns, &ret_stresses[i]);
	stress_end();
}
