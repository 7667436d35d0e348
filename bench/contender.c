/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is measured: a program of handwritten.bpf.o in this process, or bpftrace or
 * ebql as a process of its own -> attached, later detached, with what it counted.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bench.h"

/* Both scripts end with the events of the last part of a second, which bpftrace prints. */
#define SCRIPT_NATURAL                                                                             \
	"tracepoint:syscalls:sys_enter_pread64 /pid == %d/ { "                                     \
	"@n[args->fd, cpu] = count(); @max[args->fd, cpu] = max(args->count); "                    \
	"@avg[args->fd, cpu] = avg(args->count); } "                                               \
	"interval:s:1 { print(@n); print(@max); print(@avg); clear(@n); clear(@max); clear(@avg); }"
#define SCRIPT_STATS                                                                               \
	"tracepoint:syscalls:sys_enter_pread64 /pid == %d/ { "                                     \
	"@n[args->fd, cpu] = stats(args->count); @max[args->fd, cpu] = max(args->count); } "       \
	"interval:s:1 { print(@n); print(@max); clear(@n); clear(@max); }"

#define SCRIPT_PAIR(map)                                                                           \
	"tracepoint:syscalls:sys_enter_pread64 { @s[tid] = nsecs; } "                              \
	"tracepoint:syscalls:sys_exit_pread64 /@s[tid]/ { " map                                    \
	" = hist(nsecs - @s[tid]); delete(@s[tid]); }"
#define QUERY_PAIR(scheme)                                                                         \
	"SELECT histogram(latency" scheme ") FROM syscall:pread64 WINDOW TUMBLING 1s"
#define QUERY_PAIR_GROUPED                                                                         \
	"SELECT pid, comm, histogram(latency) FROM syscall:pread64 GROUP BY pid, comm "            \
	"WINDOW TUMBLING 1s"

#define QUERY_STATE(items)                                                                         \
	"SET access_path = raw; SELECT COUNT(*)" items                                             \
	" FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d WINDOW TUMBLING 1s"
#define QUERY_RUNNING                                                                              \
	"SET access_path = raw; SELECT COUNT(*), max(depth) FROM "                                 \
	"(SELECT sum(count) OVER (PARTITION BY tid) AS depth "                                     \
	"FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d) WINDOW TUMBLING 1s"

const struct contender contenders[N_CONTENDERS] = {
	[EMPTY_TRACEPOINT] = { "empty-tracepoint", "empty program, syscall tracepoint", KIND_LIBBPF,
			       "empty_tracepoint", false },
	[EMPTY_RAW] = { "empty-raw", "empty program, raw_tp", KIND_LIBBPF, "empty_raw", false },
	[HAND_TRACEPOINT] = { "hand-tracepoint", "hand-written C, PERCPU_HASH, syscall tracepoint",
			      KIND_LIBBPF, "hand_tracepoint", true },
	[HAND_RAW] = { "hand-raw", "hand-written C, PERCPU_HASH, raw_tp", KIND_LIBBPF, "hand_raw",
		       true },
	[BPFTRACE] = { "bpftrace", "bpftrace: count, max, avg", KIND_BPFTRACE, SCRIPT_NATURAL,
		       true },
	[BPFTRACE_STATS] = { "bpftrace-stats", "bpftrace: stats, max", KIND_BPFTRACE, SCRIPT_STATS,
			     true },
	[EBQL_TRACEPOINT] = { "ebql-tracepoint", "ebql, Figure 12, access_path = tracepoint",
			      KIND_EBQL, "tracepoint", true },
	[EBQL_RAW] = { "ebql-raw", "ebql, Figure 12, access_path = raw", KIND_EBQL, "raw", true },
	[PAIR_FLOOR] = { "pair-floor", "two programs that read the time once each, raw",
			 KIND_LIBBPF, "floor_enter", false, SET_PAIR, "floor_exit" },
	[PAIR_HAND] = { "pair-hand", "hand-written C: hash of starts, per-CPU log2 array, raw",
			KIND_LIBBPF, "pair_enter", true, SET_PAIR, "pair_exit" },
	[PAIR_HAND_GROUPED] = { "pair-hand-grouped", "the same, per-CPU hash by (pid, comm)",
				KIND_LIBBPF, "pair_enter", true, SET_PAIR, "pair_exit_grouped" },
	[PAIR_BPFTRACE] = { "pair-bpftrace", "bpftrace: the usual two probes, hist", KIND_BPFTRACE,
			    SCRIPT_PAIR("@"), true, SET_PAIR },
	[PAIR_BPFTRACE_GROUPED] = { "pair-bpftrace-grouped", "the same by pid, comm", KIND_BPFTRACE,
				    SCRIPT_PAIR("@[pid, comm]"), true, SET_PAIR },
	[PAIR_EBQL] = { "pair-ebql", "ebql: histogram(latency)", KIND_EBQL, QUERY_PAIR(""), true,
			SET_PAIR },
	[PAIR_EBQL_EXPONENTIAL] = { "pair-ebql-exponential", "ebql: exponential(3)", KIND_EBQL,
				    QUERY_PAIR(", exponential(3)"), true, SET_PAIR },
	[PAIR_EBQL_LOGLINEAR] = { "pair-ebql-loglinear", "ebql: loglinear(7)", KIND_EBQL,
				  QUERY_PAIR(", loglinear(7)"), true, SET_PAIR },
	[PAIR_EBQL_GROUPED] = { "pair-ebql-grouped", "ebql: by pid, comm", KIND_EBQL,
				QUERY_PAIR_GROUPED, true, SET_PAIR },
	[STATE_COUNT] = { "state-count", "count(*)", KIND_EBQL, QUERY_STATE(""), true, SET_STATE },
	[STATE_RUNNING] = { "state-running", "max of sum(count) OVER (PARTITION BY tid)", KIND_EBQL,
			    QUERY_RUNNING, true, SET_STATE },
	[STATE_FIRST_LAST] = { "state-first-last", "first(pos), last(pos)", KIND_EBQL,
			       QUERY_STATE(", first(pos), last(pos)"), true, SET_STATE },
	[STATE_STDDEV] = { "state-stddev", "stddev(pos)", KIND_EBQL, QUERY_STATE(", stddev(pos)"),
			   true, SET_STATE },
	[STATE_DISTINCT] = { "state-distinct", "approx_count_distinct(pos)", KIND_EBQL,
			     QUERY_STATE(", approx_count_distinct(pos)"), true, SET_STATE },
	[STATE_TOP] = { "state-top", "top_k(pos, 10)", KIND_EBQL, QUERY_STATE(", top_k(pos, 10)"),
			true, SET_STATE },
};

bool contender_is_there(const struct contender *c)
{
	static const char *const sets[] = {
		[SET_COUNT] = "count", [SET_PAIR] = "pair", [SET_STATE] = "user"
	};
	bool is_yardstick =
		c == &contenders[EMPTY_RAW] && config.only && strcmp(config.only, "user") == 0;

	if (config.only && strcmp(config.only, sets[c->set]) != 0 && !is_yardstick)
		return false;
	return c->kind != KIND_BPFTRACE || config.bpftrace;
}

char *contender_figure12(const char *access_path, unsigned int window_ms)
{
	char *text = NULL;

	if (asprintf(&text,
		     "SET access_path = %s;\n"
		     "SELECT fd, cpu, COUNT(*), MAX(count), AVG(count) "
		     "FROM tracepoint/syscalls/sys_enter_pread64\n"
		     "GROUP BY fd, cpu WHERE pid == %d WINDOW(time, %u, %u);",
		     access_path, config.traced_pid, window_ms, window_ms) < 0)
		fail("out of memory");
	return text;
}

char *contender_bpftrace_script(const struct contender *c)
{
	char *text = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (c->set == SET_PAIR)
		text = strdup(c->text);
	else if (asprintf(&text, c->text, config.traced_pid) < 0)
		fail("out of memory");
#pragma GCC diagnostic pop
	return text;
}

static void attach_libbpf(struct attached *a)
{
	const struct contender *c = a->contender;
	struct bpf_program *program, *wanted[2] = { NULL, NULL };
	struct {
		uint32_t pid;
		uint32_t padding;
		u64 nr;
	} constants = { (uint32_t)config.traced_pid, 0, SYS_pread64 };
	struct bpf_map *map;

	a->object = bpf_object__open_file(config.object, NULL);
	if (!a->object)
		fail("%s: %s", config.object, strerror(errno));
	bpf_object__for_each_program(program, a->object)
	{
		const char *name = bpf_program__name(program);
		bool is_first = strcmp(name, c->text) == 0;
		bool is_second = c->second && strcmp(name, c->second) == 0;

		bpf_program__set_autoload(program, is_first || is_second);
		if (is_first || is_second)
			wanted[is_second] = program;
	}
	map = bpf_object__find_map_by_name(a->object, ".rodata");
	if (!wanted[0] || (c->second && !wanted[1]) || !map ||
	    bpf_map__value_size(map) != sizeof(constants) ||
	    bpf_map__set_initial_value(map, &constants, sizeof(constants)))
		fail("%s has not the programs it should", config.object);
	if (bpf_object__load(a->object))
		fail("%s: cannot load: %s", c->name, strerror(errno));
	for (int i = 1; i >= 0; i--) { /* the end first: no start waits for ever */
		if (!wanted[i])
			continue;
		a->n_insns += (unsigned int)bpf_program__insn_cnt(wanted[i]);
		a->links[i] = bpf_program__attach(wanted[i]);
		if (!a->links[i])
			fail("%s: cannot attach: %s", c->name, strerror(errno));
	}
}

static void count_libbpf(struct attached *a)
{
	struct {
		uint32_t fd, cpu;
	} key, next;
	struct {
		u64 count, sum, max;
	} * values;
	int n_cpus = libbpf_num_possible_cpus();
	int map = bpf_object__find_map_fd_by_name(a->object, "groups");
	void *from = NULL;

	values = calloc((size_t)n_cpus, sizeof(*values));
	if (!values)
		fail("out of memory");
	while (map >= 0 && bpf_map_get_next_key(map, from, &next) == 0) {
		key = next;
		from = &key;
		if (bpf_map_lookup_elem(map, &key, values))
			continue;
		for (int i = 0; i < n_cpus; i++)
			a->counted += values[i].count;
	}
	free(values);
}

/* A histogram: the counts of all its cells, of every group and CPU. */
static void count_pairs(struct attached *a)
{
	bool is_grouped = strstr(a->contender->second, "grouped");
	int map = bpf_object__find_map_fd_by_name(a->object,
						  is_grouped ? "pair_groups" : "pair_cells");
	int n_cpus = libbpf_num_possible_cpus();
	size_t n_words = (size_t)n_cpus * (is_grouped ? 64 : 1);
	u64 *values = calloc(n_words, sizeof(*values));
	char key[64], next[64];
	void *from = NULL;

	if (!values || map < 0)
		fail("no map of the pairs");
	while (bpf_map_get_next_key(map, from, next) == 0) {
		memcpy(key, next, sizeof(key));
		from = key;
		if (bpf_map_lookup_elem(map, key, values))
			continue;
		for (size_t i = 0; i < n_words; i++)
			a->counted += values[i];
	}
	free(values);
}

static void attach_bpftrace(struct attached *a)
{
	char *script = contender_bpftrace_script(a->contender);

	process_start(&a->process, (const char *[]){ config.bpftrace, "-f", "json", "-B", "line",
						     "-e", script, NULL });
	free(script);
	if (!process_wait_text(&a->process, 0, "attached_probes", 20000000000ull))
		fail("bpftrace does not attach: %s", a->process.texts[1]);
	/* It says so before it attaches.  That this was long enough is seen by the counts. */
	sleep_ns(600000000);
}

/* The sum of the numbers behind the string, wherever it stands in the text. */
static u64 sum_behind(const char *text, const char *string)
{
	u64 sum = 0;

	for (const char *at = strstr(text, string); at; at = strstr(at + 1, string))
		sum += strtoull(at + strlen(string), NULL, 10);
	return sum;
}

/*
 * {"type": "map", "data": {"@n": {"3,1": 17854, "4,0": 5}}}, or, of stats,
 * {"type": "stats", "data": {"@n": {"3,1": {"count": 50, "average": 1, "total": 50}}}}
 */
static void count_bpftrace(struct attached *a)
{
	char *save = NULL, *text = a->process.texts[0];

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *map = strstr(line, "{\"@n\": {");

		if (a->contender->set == SET_PAIR && strstr(line, "{\"type\": \"hist\""))
			a->counted += sum_behind(line, "\"count\": ");
		if (!map)
			continue;
		if (strstr(map, "\"count\": "))
			a->counted += sum_behind(map, "\"count\": ");
		else
			a->counted += sum_behind(map + 8, "\": ");
	}
}

static double number_behind(const char *text, const char *string)
{
	const char *at = strstr(text, string);

	return at ? strtod(at + strlen(string), NULL) : NAN;
}

static char *query_of(const struct contender *c)
{
	char *text = NULL;

	if (c->set == SET_COUNT)
		return contender_figure12(c->text, 1000);
	if (c->set == SET_PAIR)
		return strdup(c->text);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (asprintf(&text, c->text, config.traced_pid) < 0)
		fail("out of memory");
#pragma GCC diagnostic pop
	return text;
}

static void attach_ebql(struct attached *a)
{
	char *query = query_of(a->contender);
	const char *text, *insns;

	process_start(&a->process,
		      (const char *[]){ config.ebql, "-v", "-o", "json", query, NULL });
	free(query);
	if (!process_wait_text(&a->process, 1, "attached:", 20000000000ull))
		fail("ebql does not attach: %s", a->process.texts[1]);
	process_wait_text(&a->process, 1, " ms\n", 1000000000);
	text = a->process.texts[1];
	a->compile_ms = number_behind(text, "compiled in ");
	a->load_ms = number_behind(text, "attached: load ");
	a->attach_ms = number_behind(text, " ms, attach ");
	insns = strstr(text, " instructions");
	while (insns && insns > text && insns[-1] >= '0' && insns[-1] <= '9')
		insns--;
	a->n_insns = insns ? (unsigned int)strtoul(insns, NULL, 10) : 0;
}

/* Rows and batch counters must agree: the row counts are the answer, matched is the account. */
static void count_ebql(struct attached *a)
{
	const char *text = a->process.texts[0];
	u64 matched = sum_behind(text, "\"matched\":");

	a->counted =
		sum_behind(text, a->contender->set == SET_PAIR ? "\"count\":" : "\"COUNT(*)\":");
	if (matched != a->counted)
		fail("ebql: rows count %llu, batches say %llu matched",
		     (unsigned long long)a->counted, (unsigned long long)matched);
	if (WIFEXITED(a->process.status) && WEXITSTATUS(a->process.status) == 3)
		a->lost = 1;
	else if (a->process.status)
		fail("ebql: wait status %d: %s", a->process.status, a->process.texts[1]);
}

void contender_attach(struct attached *a, const struct contender *c)
{
	memset(a, 0, sizeof(*a));
	a->contender = c;
	a->compile_ms = a->load_ms = a->attach_ms = NAN;
	if (c->kind == KIND_LIBBPF)
		attach_libbpf(a);
	else if (c->kind == KIND_BPFTRACE)
		attach_bpftrace(a);
	else
		attach_ebql(a);
}

void contender_detach(struct attached *a)
{
	if (a->contender->kind == KIND_LIBBPF) {
		for (int i = 0; i < 2; i++)
			bpf_link__destroy(a->links[i]);
		if (a->contender->is_counting && a->contender->set == SET_PAIR)
			count_pairs(a);
		else if (a->contender->is_counting)
			count_libbpf(a);
		bpf_object__close(a->object);
		return;
	}
	process_finish(&a->process, SIGINT);
	if (config.is_debug)
		fprintf(stderr, "%s:\n%s%s", a->contender->id, a->process.texts[0],
			a->process.texts[1]);
	if (a->contender->kind == KIND_BPFTRACE)
		count_bpftrace(a);
	else
		count_ebql(a);
	process_free(&a->process);
}
