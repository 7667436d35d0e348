/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * bench: what tracing one system call costs, by ebql and by its peers.
 *
 * The machine's speed is not constant: it changes at an attach, with the hour and
 * with its neighbours.  So in each round each contender is attached anew, in an
 * order of its own, between two batches without any; its cost is its time per call
 * less their mean, and contenders are compared within a round.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

struct config config = {
	.ebql = "build/ebql",
	.object = "handwritten.bpf.o",
	.bpftrace = "bpftrace",
	.examples = "examples/histograms",
	.n_rounds = 15,
	.n_starts = 31,
	.batch_ns = 150000000,
};

struct base {
	double pread_ns, other_ns;
};

static struct base measure(u64 *calls)
{
	struct loop_result pread = loop_batch(LOOP_PREAD, config.batch_ns);
	struct loop_result other = loop_batch(LOOP_GETPPID, config.batch_ns / 3);

	if (calls)
		*calls += pread.calls;
	return (struct base){ pread.ns_per_call, other.ns_per_call };
}

/* How many BPF programs that trace something the kernel holds. */
static int count_tracing_programs(void)
{
	unsigned int id = 0;
	int n = 0;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		struct bpf_prog_info info = { 0 };
		unsigned int info_bytes = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue; /* gone meanwhile */
		if (bpf_obj_get_info_by_fd(fd, &info, &info_bytes) == 0 &&
		    (info.type == BPF_PROG_TYPE_TRACEPOINT || info.type == BPF_PROG_TYPE_KPROBE ||
		     info.type == BPF_PROG_TYPE_RAW_TRACEPOINT ||
		     info.type == BPF_PROG_TYPE_PERF_EVENT || info.type == BPF_PROG_TYPE_TRACING))
			n++;
		close(fd);
	}
	return n;
}

/*
 * The loop when nothing traces it.  Another tracer of system calls on the machine
 * would make it slow before the contender does: its end is awaited.
 */
static struct base measure_untraced(void)
{
	for (int i = 0; i < 6000; i++) {
		bool is_quiet = count_tracing_programs() == 0;
		struct base base;

		if (is_quiet) {
			loop_batch(LOOP_PREAD, config.batch_ns / 5);
			base = measure(NULL);
			if (count_tracing_programs() == 0)
				return base;
		}
		if (i == 20)
			fprintf(stderr, "bench: waiting: others trace on this machine\n");
		sleep_ns(100000000);
	}
	fail("another tracer is at work on this machine all the time");
}

double untraced_ns(void)
{
	return measure_untraced().pread_ns;
}

/* Before is the untraced batch that ended the last measurement; gives the next one. */
static struct base measure_once(const struct contender *c, struct base before, struct sample *ret)
{
	struct base loaded, after;
	struct attached a;
	int n_programs;

	memset(ret, 0, sizeof(*ret));
	contender_attach(&a, c);
	ret->compile_ms = a.compile_ms;
	ret->load_ms = a.load_ms;
	ret->attach_ms = a.attach_ms;
	ret->n_insns = a.n_insns;
	ret->made = loop_batch(LOOP_PREAD, config.batch_ns / 5).calls; /* warms up */
	n_programs = count_tracing_programs();
	loaded = measure(&ret->made);
	/* bpftrace has one more, of its interval; ebql one more, which switches the windows */
	ret->is_disturbed = n_programs > (c->kind == KIND_LIBBPF ? 1 : 2) + (c->set == SET_PAIR) ||
			    count_tracing_programs() != n_programs;
	contender_detach(&a);
	after = measure_untraced();

	ret->base_ns = (before.pread_ns + after.pread_ns) / 2;
	ret->base_other_ns = (before.other_ns + after.other_ns) / 2;
	ret->base_gap = fabs(before.pread_ns - after.pread_ns) / ret->base_ns;
	ret->cost_ns = loaded.pread_ns - ret->base_ns;
	ret->cost_other_ns = loaded.other_ns - ret->base_other_ns;
	ret->counted = a.counted;
	ret->lost = a.lost;
	if (config.is_debug)
		fprintf(stderr,
			"%-16s base %6.1f gap %4.1f%%%s cost %6.1f other %6.1f made %llu counted %llu\n",
			c->id, ret->base_ns, ret->base_gap * 100,
			ret->is_disturbed ? " disturbed" : "", ret->cost_ns, ret->cost_other_ns,
			(unsigned long long)ret->made, (unsigned long long)ret->counted);
	return after;
}

/*
 * Measures again while the machine changed its speed meanwhile (the batches before
 * and after differ) or others traced: never by what the contender itself cost.
 */
static struct base measure_contender(const struct contender *c, struct base before,
				     struct sample *ret)
{
	struct sample sample;
	int n_repeats = -1;

	for (int i = 0; i < 5; i++) {
		before = measure_once(c, before, &sample);
		if (i == 0 || (!sample.is_disturbed &&
			       (ret->is_disturbed || sample.base_gap < ret->base_gap)))
			*ret = sample;
		n_repeats++;
		if (!ret->is_disturbed && ret->base_gap <= STEADY_GAP)
			break;
	}
	ret->n_repeats = n_repeats;
	return before;
}

static void shuffle(int *order, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int j = rand() % (i + 1), kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
}

static void run_rounds(struct sample *samples)
{
	int order[N_CONTENDERS];
	struct base base;

	for (int i = 0; i < N_CONTENDERS; i++)
		order[i] = i;
	loop_batch(LOOP_PREAD, config.batch_ns);
	base = measure_untraced();
	for (int round = 0; round < config.n_rounds; round++) {
		shuffle(order, N_CONTENDERS);
		for (int i = 0; i < N_CONTENDERS; i++) {
			const struct contender *c = &contenders[order[i]];

			if (contender_is_there(c))
				base = measure_contender(c, base,
							 &samples[round * N_CONTENDERS + order[i]]);
		}
		fprintf(stderr, "bench: round %d of %d\n", round + 1, config.n_rounds);
	}
}

static int print_warnings(enum libbpf_print_level level, const char *format, va_list list)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, list) : 0;
}

/* With kernel.bpf_stats_enabled each program run reads the clock twice. */
static void check_bpf_stats(void)
{
	FILE *f = fopen("/proc/sys/kernel/bpf_stats_enabled", "r");

	if (f && fgetc(f) == '1')
		fail("kernel.bpf_stats_enabled is 1, which adds to every figure; set it to 0");
	if (f)
		fclose(f);
}

static void find_cpus(void)
{
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN);

	if (n < 2)
		fail("needs two CPUs");
	config.loop_cpu = n - 1;
	config.other_cpu = 0;
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "e:p:m:r:s:b:o:x:tv")) != -1) {
		if (c == 'e')
			config.ebql = optarg;
		else if (c == 'p')
			config.object = optarg;
		else if (c == 'm')
			config.results = optarg;
		else if (c == 'r')
			config.n_rounds = atoi(optarg);
		else if (c == 's')
			config.n_starts = atoi(optarg);
		else if (c == 'b')
			config.batch_ns = strtoull(optarg, NULL, 10) * 1000000;
		else if (c == 'o')
			config.only = optarg;
		else if (c == 'x')
			config.examples = optarg;
		else if (c == 't')
			config.bpftrace = NULL;
		else if (c == 'v')
			config.is_debug = true;
		else
			exit(2);
	}
	if (config.only && strcmp(config.only, "count") && strcmp(config.only, "pair") &&
	    strcmp(config.only, "user") && strcmp(config.only, "many"))
		fail("-o count, -o pair, -o user or -o many");
	if (config.n_rounds < 1 || config.n_starts < 1 || config.batch_ns < 5000000)
		fail("at least one round (-r), one start (-s), batches of 5 ms (-b)");
}

int main(int argc, char **argv)
{
	struct report report = { 0 };

	parse_options(argc, argv);
	check_bpf_stats();
	find_cpus();
	libbpf_set_print(print_warnings);
	srand((unsigned int)monotonic_ns());
	report.samples = calloc((size_t)config.n_rounds * N_CONTENDERS, sizeof(*report.samples));
	report.many =
		calloc((size_t)many_n_rounds() * N_MANY_SETS * N_MANY_WAYS, sizeof(*report.many));
	if (!report.samples || !report.many)
		fail("out of memory");
	loop_start();
	config.traced_pid = loop_pid();
	pin_to_cpu(config.other_cpu);

	if (!config.only || strcmp(config.only, "many") != 0)
		run_rounds(report.samples);
	if (!config.only) {
		fprintf(stderr, "bench: start-up, %d times\n", config.n_starts);
		startup_measure(&report.startup);
	}
	for (int i = 0; i < N_CONTENDERS && !config.only; i++)
		if (contenders[i].set == SET_COUNT && contenders[i].kind != KIND_LIBBPF &&
		    contender_is_there(&contenders[i]))
			footprint_measure(&contenders[i], 3000000000ull, &report.footprints[i]);
	if (!config.only || strcmp(config.only, "user") == 0) {
		fprintf(stderr, "bench: the user part\n");
		user_measure(2000000000ull, report.user);
	}
	if (!config.only || strcmp(config.only, "many") == 0) {
		many_measure(report.many);
		fprintf(stderr, "bench: the examples\n");
		many_measure_stress(10000000000ull, report.stresses);
	}
	loop_stop();

	report_write(&report, stdout);
	if (config.results) {
		FILE *f = fopen(config.results, "w");

		if (!f)
			fail("cannot write %s", config.results);
		report_write(&report, f);
		fclose(f);
	}
	free(report.samples);
	free(report.many);
	return 0;
}
