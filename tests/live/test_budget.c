/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the verifier is given: for sixty shapes of queries the
 * instructions emitted and walked, the stack, the maps and the memory of one CPU (of 1,024 groups
 * and starts), loaded and not attached.  budget.tsv holds them for each kernel (the guests' and
 * this machine's); none may grow by more than a tenth.  EBQL_UPDATE=1 writes this kernel's lines
 * anew; in a guest that is tests/vm/run -e EBQL_UPDATE=1 -f ... 6.1 -- sh -c 'test_budget; cat
 * budget.tsv'
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <sys/sdt.h>

#include "proc.h"
#include "said.h"
#include "sys/sys.h"

/* Of tests/vm/queries, where they run as well. */
static const char *const shapes[] = {
	"figure_12",
	"raw_ungrouped",
	"tracepoint_table",
	"raw_exit",
	"direct_domain",
	"kernel_map_raw",
	"text_keys_two",
	"text_data_loc",
	"like_inner",
	"division",
	"case",
	"filters_many",
	"system_columns",
	"wildcard_raw",
	"wildcard_like",
	"stream_rows",
	"stream_text",
	"raw_members_deep",
	"interrupt",
	"having_order",
	"many_keys",
	"rules_off",
	"spilled_level",
	"span_raw",
	"span_tracepoint",
	"span_schemes",
	"span_pair_join",
	"view_off_cpu",
	"view_run_queue",
	"running_table",
	"hopping",
	"sketches",
	"count_distinct",
	"session",
	"unpushed",
	"where_ors_87",
	"view_run_queue_depth",
};

/* Their files and functions are this program's own, and its C library's. */
#define CALL   "t:syscalls:sys_enter_pread64"
#define WINDOW " WINDOW TUMBLING 50ms"

static const char *const others[][2] = {
	{ "function_span", "SELECT count AS k, count(*), sum(ret), histogram(latency) FROM "
			   "function:vfs_read GROUP BY k" },
	{ "function_tcp", "SELECT size / 1KiB AS kib, histogram(latency) FROM function:tcp_sendmsg "
			  "WHERE ret > 0 GROUP BY kib WINDOW TUMBLING 1s" },
	{ "program_span",
	  "SELECT arg0, count(*), max(latency) FROM userfunction:/proc/self/exe:main "
	  "GROUP BY arg0" },
	{ "stack_kernel", "SELECT kstack, count(*) FROM " CALL " GROUP BY kstack" WINDOW },
	{ "stack_program", "SELECT ustack, count(*) FROM " CALL " GROUP BY ustack" WINDOW },
	{ "stack_both", "SET access_path = tracepoint; SELECT comm, ustack(8), kstack(127), "
			"count(*) FROM " CALL " GROUP BY 1, 2, 3" WINDOW },
	{ "stack_map",
	  "SET state = kernel_map; SELECT kstack, count(*) FROM " CALL " GROUP BY kstack" WINDOW },
	{ "stack_rows", "SELECT time, kstack, ustack FROM kprobe:vfs_read" },
	{ "stack_of_start", "SELECT b.kstack, histogram(a.time - b.time) FROM "
			    "t:syscalls:sys_exit_pread64 AS a PAIR JOIN " CALL
			    " AS b ON a.tid = b.tid GROUP BY b.kstack" WINDOW },
	{ "sample", "SELECT comm, ustack, kstack, count(*) FROM profile:99 GROUP BY 1, 2, 3" },
	{ "sample_interval", "SELECT cpu, count(*) FROM interval:1s GROUP BY cpu" },
	{ "list_threads", "SELECT pid, tid, comm, state, threads FROM iter:task WHERE uid = 0" },
	{ "list_members", "SELECT comm, sum(task.mm.total_vm) FROM iter:task GROUP BY comm" },
	{ "list_files", "SELECT pid, fd, name, inode FROM iter:task_file WHERE comm LIKE 'l%'" },
	{ "list_sockets", "SELECT state, laddr, lport, raddr, rport FROM iter:tcp WHERE lport = 22 "
			  "OR tcp_state(state) = 'LISTEN'" },
	{ "list_joined", "SELECT t.comm, count(*), sum(r.ret) FROM syscall:pread64 AS r JOIN "
			 "iter:task AS t ON r.tid = t.tid GROUP BY t.comm" WINDOW },
	{ "usdt", "SELECT arg1, count(*), max(arg0) FROM usdt:/proc/self/exe:budget:begins "
		  "GROUP BY arg1" WINDOW },
	{ "place", "SELECT arg0, count(*), sum(arg1) FROM uprobe:/proc/self/exe:main GROUP BY "
		   "arg0" WINDOW },
	{ "place_return", "SELECT histogram(ret) FROM uretprobe:/proc/self/exe:main" WINDOW },
	{ "text_of_program", "SELECT str(arg0, 128), count(*) FROM uprobe:%s:getenv GROUP BY 1" },
	{ "texts_of_program", "SELECT time, str(filename), strs(argv) FROM "
			      "t:syscalls:sys_enter_execve" },
	{ "members", "SELECT file.f_path.dentry.d_name.name, file.f_inode.i_ino, file.f_flags, "
		     "file.f_mode, count(*), sum(count) FROM kprobe:vfs_read GROUP BY 1, 2, 3, 4" },
	{ "functions_wildcard", "SELECT probe, comm, count(*) FROM kprobe:tcp_s* GROUP BY 1, 2" },
};

/* Not on kernels without. */
static const char *const trampolines[][2] = {
	{ "members_trampoline",
	  "SET access_path = fentry; SELECT file.f_inode.i_ino, "
	  "file.f_inode.i_size, count(*) FROM fentry:vfs_read GROUP BY 1, 2" },
	{ "call_trampoline", "SET access_path = fentry; SELECT fd, count(*), sum(count) FROM " CALL
			     " GROUP BY fd" WINDOW },
	{ "call_span_trampoline", "SET access_path = fentry; SELECT fd, count(*), histogram("
				  "latency) FROM syscall:pread64 GROUP BY fd" WINDOW },
};

enum figure { EMITTED, WALKED, STACK, MAPS, KIB, FIGURES };
static const char *const figure_names[FIGURES] = { "emitted", "walked", "stack", "maps", "KiB" };

struct line {
	char kernel[16], query[48];
	u32 figures[FIGURES];
};

static VEC(struct line) old, new;
static struct arena arena;
static char kernel[16];
static u32 version;

static u32 version_of(const char *name)
{
	u32 major = 0, minor = 0;

	sscanf(name, "%u.%u", &major, &minor);
	return 1000 * major + minor;
}

static void read_lines(void)
{
	FILE *file = fopen(BUDGET, "re");
	char text[256];
	struct line l;

	assert_non_null(file);
	while (fgets(text, sizeof(text), file))
		if (sscanf(text, "%15s %47s %u %u %u %u %u", l.kernel, l.query, &l.figures[EMITTED],
			   &l.figures[WALKED], &l.figures[STACK], &l.figures[MAPS],
			   &l.figures[KIB]) == 2 + FIGURES)
			vec_push(&arena, &old, l);
	fclose(file);
}

/* Those of other kernels as they are. */
static void write_lines(void)
{
	FILE *file = fopen(BUDGET, "we");

	assert_non_null(file);
	fputs("kernel\tquery\temitted\twalked\tstack\tmaps\tKiB\n", file);
	for (u32 i = 0; i < old.n; i++)
		if (strcmp(old.at[i].kernel, kernel) != 0)
			vec_push(&arena, &new, old.at[i]);
	for (u32 i = 0; i < new.n; i++) {
		fprintf(file, "%s\t%s", new.at[i].kernel, new.at[i].query);
		for (u32 k = 0; k < FIGURES; k++)
			fprintf(file, "\t%u", new.at[i].figures[k]);
		fputc('\n', file);
	}
	assert_int_equal(fclose(file), 0);
}

/* Memory is of one CPU and level: how many there are is the machine's. */
static void add_figures(const struct programs *programs, struct line *l)
{
	const struct load_hooks *hooks = &programs->hooks;
	u64 bytes = 0;

	for (u32 i = 0; i < hooks->n_programs; i++) {
		const struct load_program *p = &hooks->programs[i];

		l->figures[EMITTED] += p->code.n_insns;
		l->figures[WALKED] += p->n_verified;
		l->figures[STACK] = MAX(l->figures[STACK], p->code.stack_bytes);
	}
	for (u32 i = 0; i < LOAD_MAP_SHARED_N; i++)
		l->figures[MAPS] += hooks->map_fds[i] >= 0;
	for (u32 i = 0; i < hooks->n_states; i++) {
		bytes += STATE_COPIES * hooks->states[i].phys->state.slice_bytes +
			 hooks->states[i].phys->pair_bytes;
		for (u32 k = 0; k < LOAD_MAP_N; k++)
			l->figures[MAPS] += hooks->states[i].map_fds[k] >= 0;
	}
	l->figures[KIB] += (u32)(bytes >> 10);
}

static void take_figures(const struct query *q, struct line *l)
{
	if (q->programs)
		add_figures(q->programs, l);
	for (u32 i = 0; i < q->cut->n_parts; i++)
		if (q->parts[i].list)
			add_figures(q->parts[i].list, l);
	assert_true(l->figures[EMITTED]);
}

/* With little room: what the programs do is the same, and the guests clear memory slowly. */
#define LITTLE "SET max_groups = 1024; SET max_in_flight = 1024; SET ring_bytes = 65536; "

/* A list's program is loaded as it is attached. */
static int load_lists(struct query *q)
{
	int err = 0;

	for (u32 i = 0; i < q->cut->n_parts && !err; i++) {
		struct programs *p = q->parts[i].list;

		if (!p)
			continue;
		err = load_open(&p->hooks, p->set, p->of_hook, p->constants.at, (u32)p->constants.n,
				&q->arena, &q->diags);
		p->is_loaded = !err;
	}
	return err;
}

static void measure(const char *name, const char *query_text)
{
	const char *text = arena_printf(&arena, LITTLE "%s", query_text);
	struct line l = { 0 };
	struct query query;

	snprintf(l.kernel, sizeof(l.kernel), "%s", kernel);
	snprintf(l.query, sizeof(l.query), "%s", name);
	assert_true(query_init(&query, name, text, strlen(text)));
	if (!query_parse(&query) || !query_compile(&query) || query_load(&query) ||
	    load_lists(&query)) {
		query_said(&query);
		fail_msg("%s: %s", name, text);
	}
	take_figures(&query, &l);
	query_free(&query);
	vec_push(&arena, &new, l);
}

/* Where the C library is in its text. */
static void measure_other(const char *name, const char *text)
{
	const char *at = strstr(text, "%s");
	Dl_info library;

	assert_true(dladdr((void *)(uintptr_t)&getenv, &library));
	measure(name, at ? arena_printf(&arena, "%.*s%s%s", (int)(at - text), text,
					library.dli_fname, at + 2)
			 : text);
}

static void measure_all(void)
{
	FILE *file = fopen(QUERIES, "re");
	char text[4096];

	assert_non_null(file);
	while (fgets(text, sizeof(text), file)) {
		char *query = strstr(text, ": ");

		if (*text == '#')
			continue;
		assert_non_null(query);
		*query = '\0';
		query[strcspn(query + 2, "\n") + 2] = '\0';
		for (u32 i = 0; i < ARRAY_SIZE(shapes); i++)
			if (strcmp(shapes[i], text) == 0)
				measure(text, query + 2);
	}
	fclose(file);
	assert_int_equal(new.n, ARRAY_SIZE(shapes));
	for (u32 i = 0; i < ARRAY_SIZE(others); i++)
		measure_other(others[i][0], others[i][1]);
	for (u32 i = 0; i < ARRAY_SIZE(trampolines) && proc_has_trampolines(); i++)
		measure(trampolines[i][0], trampolines[i][1]);
}

/* This kernel's line, else that of the one whose version is nearest. */
static const struct line *find_line(const char *query)
{
	const struct line *best = NULL;
	u32 distance = UINT32_MAX;

	for (u32 i = 0; i < old.n; i++) {
		u32 other = version_of(old.at[i].kernel);
		u32 d = other > version ? other - version : version - other;

		if (strcmp(old.at[i].query, query) == 0 && d < distance) {
			best = &old.at[i];
			distance = d;
		}
	}
	return best;
}

static void compare(void)
{
	u32 n_grown = 0;

	for (u32 i = 0; i < new.n; i++) {
		const struct line *is = &new.at[i], *was = find_line(is->query);

		if (!was)
			fail_msg("%s is not in %s: EBQL_UPDATE=1", is->query, BUDGET);
		if (!i && strcmp(was->kernel, kernel) != 0)
			printf("# %s has no lines of %s: compared with those of %s\n", BUDGET,
			       kernel, was->kernel);
		for (u32 k = 0; k < FIGURES; k++) {
			if (10 * is->figures[k] <= 11 * was->figures[k])
				continue;
			print_error("%s on %s: %s was %u, is %u\n", is->query, kernel,
				    figure_names[k], was->figures[k], is->figures[k]);
			n_grown++;
		}
	}
	assert_int_equal(n_grown, 0);
}

static void test_budget(void **state)
{
	u32 release = sys_kernel_version();

	if (geteuid() != 0) {
		printf("SKIP: needs root, to load programs\n");
		skip();
	}
	snprintf(kernel, sizeof(kernel), "%u.%u", release >> 16, release >> 8 & 0xff);
	version = version_of(kernel);
	arena_init(&arena);
	read_lines();
	measure_all();
	if (getenv("EBQL_UPDATE"))
		write_lines();
	else
		compare();
	arena_free(&arena);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_budget) };

	DTRACE_PROBE2(budget, begins, argc, argv);
	sys_rights_init();
	load_raise_limits(NULL);
	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
