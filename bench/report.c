/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples -> medians and ratios -> the page bench/RESULTS.md.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static const struct sample *sample_at(const struct report *r, int round, int contender)
{
	return &r->samples[round * N_CONTENDERS + contender];
}

double *report_column(const struct report *r, int contender, size_t member)
{
	double *values = malloc((size_t)config.n_rounds * sizeof(*values));

	if (!values)
		fail("out of memory");
	for (int i = 0; i < config.n_rounds; i++)
		memcpy(&values[i], (const char *)sample_at(r, i, contender) + member,
		       sizeof(values[i]));
	return values;
}

static double column_quantile(const struct report *r, int contender, size_t member, double q)
{
	double *values = report_column(r, contender, member);
	double result = quantile(values, (size_t)config.n_rounds, q);

	free(values);
	return result;
}

#define MEDIAN_OF(r, contender, member)                                                            \
	column_quantile(r, contender, offsetof(struct sample, member), 0.5)

struct ratio {
	double of_medians, median, low, high; /* median and quartiles of the rounds' ratios */
};

static struct ratio ratio_of(const struct report *r, int contender, int yardstick)
{
	size_t member = offsetof(struct sample, cost_ns), n = (size_t)config.n_rounds;
	double *values = report_column(r, contender, member),
	       *by = report_column(r, yardstick, member);
	struct ratio ratio = { 0 };

	for (size_t i = 0; i < n; i++)
		values[i] /= by[i];
	ratio.of_medians = MEDIAN_OF(r, contender, cost_ns) / MEDIAN_OF(r, yardstick, cost_ns);
	ratio.median = quantile(values, n, 0.5);
	ratio.low = quantile(values, n, 0.25);
	ratio.high = quantile(values, n, 0.75);
	free(values);
	free(by);
	return ratio;
}

/* goal 0: none */
static void put_ratio(const struct report *r, FILE *out, int contender, int yardstick, double goal)
{
	struct ratio ratio;

	if (!contender_is_there(&contenders[yardstick]))
		return;
	ratio = ratio_of(r, contender, yardstick);
	fprintf(out, "| %s / %s | **%.2f** | %.2f | %.2f to %.2f |", contenders[contender].id,
		contenders[yardstick].id, ratio.median, ratio.of_medians, ratio.low, ratio.high);
	if (goal > 0)
		fprintf(out, " %.2f |\n", goal);
	else
		fputs(" |\n", out);
}

static void put_ratios(const struct report *r, FILE *out)
{
	fputs("| per-event cost | median of the rounds' ratios | ratio of medians | middle half | "
	      "goal: at most |\n|---|---|---|---|---|\n",
	      out);
	put_ratio(r, out, EBQL_RAW, HAND_TRACEPOINT, 0.40);
	put_ratio(r, out, EBQL_TRACEPOINT, HAND_TRACEPOINT, 0.65);
	put_ratio(r, out, EBQL_RAW, BPFTRACE, 0.40);
	put_ratio(r, out, EBQL_TRACEPOINT, BPFTRACE, 0.65);
	put_ratio(r, out, EBQL_RAW, BPFTRACE_STATS, 0);
	put_ratio(r, out, EBQL_TRACEPOINT, BPFTRACE_STATS, 0);
	put_ratio(r, out, EMPTY_RAW, HAND_TRACEPOINT, 0);
	put_ratio(r, out, EMPTY_TRACEPOINT, HAND_TRACEPOINT, 0);
	fputs("\nThe last two are the hooks themselves: no program on them can cost less.\n\n",
	      out);
}

static void put_counts(const struct report *r, FILE *out, int contender)
{
	int n_exact = 0, n_low = 0, n_high = 0;

	if (!contenders[contender].is_counting) {
		fputs(" - |", out);
		return;
	}
	for (int i = 0; i < config.n_rounds; i++) {
		const struct sample *s = sample_at(r, i, contender);

		n_exact += s->counted == s->made;
		n_low += s->counted < s->made;
		n_high += s->counted > s->made;
	}
	if (n_exact == config.n_rounds)
		fputs(" exact in all rounds |", out);
	else
		fprintf(out, " too low in %d, too high in %d of %d rounds |", n_low, n_high,
			config.n_rounds);
}

static void put_costs(const struct report *r, FILE *out)
{
	fputs("| contender | cost per event, ns (median) | middle half | untraced call, ns | cost "
	      "per other system call, ns | instructions | counts |\n"
	      "|---|---|---|---|---|---|---|\n",
	      out);
	for (int i = 0; i < N_CONTENDERS; i++) {
		size_t cost = offsetof(struct sample, cost_ns);
		unsigned int n_insns = sample_at(r, 0, i)->n_insns;

		if (!contender_is_there(&contenders[i]))
			continue;
		fprintf(out, "| %s: %s | %.0f | %.0f to %.0f | %.0f | %.0f |", contenders[i].id,
			contenders[i].name, column_quantile(r, i, cost, 0.5),
			column_quantile(r, i, cost, 0.25), column_quantile(r, i, cost, 0.75),
			MEDIAN_OF(r, i, base_ns), MEDIAN_OF(r, i, cost_other_ns));
		if (n_insns)
			fprintf(out, " %u |", n_insns);
		else
			fputs(" - |", out);
		put_counts(r, out, i);
		fputc('\n', out);
	}
	fputc('\n', out);
}

static void put_three(FILE *out, const char *what, const double *ms)
{
	if (!isnan(ms[0]))
		fprintf(out, "| %s | %.1f | %.1f to %.1f |\n", what, ms[0], ms[1], ms[2]);
}

static void put_startup(const struct report *r, FILE *out)
{
	const struct startup *s = &r->startup;

	fputs("| from the start of the process to | ms (median) | 10 % to 90 % |\n|---|---|---|\n",
	      out);
	put_three(out, "ebql: the first streamed event (its own time)", s->first_row_ms);
	put_three(out, "ebql: the end of the first 1 ms window of Figure 12 that counted",
		  s->first_window_ms);
	put_three(out, "ebql: its exit, of a query with LIMIT 1", s->command_ms);
	put_three(out, "bpftrace: the first event (its own time)", s->bpftrace_ms);
	fputc('\n', out);
	fputs("| inside ebql, ms (median) | compile | load and verify | attach |\n|---|---|---|---|\n",
	      out);
	for (int i = EBQL_TRACEPOINT; i <= EBQL_RAW; i++)
		fprintf(out, "| %s | %.2f | %.2f | %.2f |\n", contenders[i].id,
			MEDIAN_OF(r, i, compile_ms), MEDIAN_OF(r, i, load_ms),
			MEDIAN_OF(r, i, attach_ms));
	fputc('\n', out);
}

static void put_footprints(const struct report *r, FILE *out)
{
	fputs("| running 3 s, 1 s windows | peak RSS, MiB | own CPU until attached, ms | own CPU then, "
	      "% of one | counted - made |\n|---|---|---|---|---|\n",
	      out);
	for (int i = 0; i < N_CONTENDERS; i++) {
		const struct footprint *f = &r->footprints[i];

		if (f->peak_rss_kib)
			fprintf(out, "| %s | %.1f | %.1f | %.2f | %+lld of %llu |\n",
				contenders[i].id, (double)f->peak_rss_kib / 1024, f->start_cpu_ms,
				f->cpu_percent, (long long)(f->counted - f->made),
				(unsigned long long)f->made);
	}
	fputs("\n`counted` sums what was printed each second. Where bpftrace is far above, its clear() "
	      "left counts standing,\nwhich were printed again (probably an event that had read the old "
	      "value and wrote it back); where it is\nbelow, events were lost around print() and "
	      "clear().\n\n",
	      out);
}

static void put_binary(FILE *out)
{
	char stripped[] = "/tmp/bench-stripped-XXXXXX";
	struct stat full = { 0 }, small = { 0 };
	char *save = NULL, *text, *line;
	int fd = mkstemp(stripped);

	free(process_output((const char *[]){ "strip", "-o", stripped, config.ebql, NULL }));
	stat(config.ebql, &full);
	stat(stripped, &small);
	if (fd >= 0)
		close(fd);
	unlink(stripped);
	fprintf(out, "The binary has %lld KiB, stripped %lld KiB, and links",
		(long long)full.st_size / 1024, (long long)small.st_size / 1024);
	text = process_output((const char *[]){ "readelf", "-d", config.ebql, NULL });
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *at = strstr(line, "(NEEDED)") ? strchr(line, '[') : NULL;

		if (at)
			fprintf(out, " %.*s", (int)strcspn(at + 1, "]"), at + 1);
	}
	fputs(".\n", out);
	free(text);
}

static void put_first_line(FILE *out, const char *const *argv)
{
	char *text = process_output(argv);

	fprintf(out, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
}

/* Samples that stayed unsteady however often they were repeated. */
static void put_unsteady(const struct report *r, FILE *out)
{
	int n = 0, n_all = 0, n_repeats = 0;

	for (int i = 0; i < N_CONTENDERS; i++)
		for (int round = 0; contender_is_there(&contenders[i]) && round < config.n_rounds;
		     round++) {
			const struct sample *s = sample_at(r, round, i);

			n += s->is_disturbed || s->base_gap > STEADY_GAP;
			n_repeats += s->n_repeats;
			n_all++;
		}
	fprintf(out,
		"A measurement is repeated, at most four times, while the untraced batches before and after "
		"it differ by more\nthan %.0f %% or others traced meanwhile, whatever it gave itself: %d "
		"repeats for %d measurements. %d did not\nbecome steady; they are kept.\n\n",
		STEADY_GAP * 100, n_repeats, n_all, n);
}

static void put_machine(FILE *out)
{
	char line[512] = "", date[32] = "";
	struct utsname name = { 0 };
	time_t now = time(NULL);
	FILE *f = fopen("/proc/cpuinfo", "r");
	char *model = NULL;

	while (f && !model && fgets(line, sizeof(line), f))
		if (strncmp(line, "model name", 10) == 0)
			model = strchr(line, ':');
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	uname(&name);
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	fprintf(out, "%s; %s, %ld CPUs; Linux %s; ", date, model ? model + 2 : name.machine,
		sysconf(_SC_NPROCESSORS_ONLN), name.release);
	if (config.bpftrace) {
		put_first_line(out, (const char *[]){ config.bpftrace, "--version", NULL });
		fputs("; ", out);
	}
	put_first_line(out, (const char *[]){ "clang", "--version", NULL });
	fprintf(out, "; %d rounds of %llu ms batches.\n\n", config.n_rounds,
		(unsigned long long)config.batch_ns / 1000000);
}

void report_write(const struct report *r, FILE *out)
{
	fputs("# Results of `make bench`\n\n", out);
	put_machine(out);
	if (config.only && strcmp(config.only, "many") == 0) {
		report_put_many(r, out);
		return;
	}
	if (contender_is_there(&contenders[EBQL_RAW]))
		put_ratios(r, out);
	report_put_pairs(r, out);
	report_put_user(r, out);
	fputs("A tight loop of 1-byte pread64 calls of /dev/zero runs on one CPU, all else on another. In "
	      "each round each\ncontender is attached anew, in shuffled order, between two untraced "
	      "batches; its cost is its time per call\nless their mean. A batch's time is the median "
	      "of its chunks of 256 calls. The figures above compare\ncontenders within a round; "
	      "nanoseconds below are of this machine at this hour, which it shares with\nothers, "
	      "and its speed changes between runs: compare ratios, not runs. The hand-written\n"
	      "programs only count: no windows, no reader. ebql's keep exact windows of 1 s.\n\n",
	      out);
	put_costs(r, out);
	put_unsteady(r, out);
	fputs("\"Other system call\": getppid, with the same contender attached. `counts`: events "
	      "reported against calls\nmade, from attaching to detaching.\n\n",
	      out);
	if (!config.only) {
		put_startup(r, out);
		put_footprints(r, out);
	}
	put_binary(out);
	if (!config.only)
		report_put_many(r, out);
	fflush(out);
}
