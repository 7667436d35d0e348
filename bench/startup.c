/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How soon the first event is counted after the process was started, and what a
 * running tracer takes of memory and CPU.  The loop of preads runs all the while.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

static const char *need_status(const struct process *p, const char *what)
{
	/* 3: losses, which a run of one row of a busy loop has by its nature */
	if (!WIFEXITED(p->status) || (WEXITSTATUS(p->status) != 0 && WEXITSTATUS(p->status) != 3))
		fail("%s: wait status %d: %s", what, p->status, p->texts[1]);
	return p->texts[0];
}

/* An instant of either clock -> ms since the process was started. */
static double since_start_ms(const struct process *p, u64 instant_ns)
{
	if (instant_ns > 1000000000000000000ull) /* of CLOCK_REALTIME, beyond the year 2001 */
		instant_ns -= realtime_ns() - monotonic_ns();
	return ((double)instant_ns - (double)p->start_ns) / 1e6;
}

static u64 number_behind(const char *text, const char *string, const char *what)
{
	const char *at = strstr(text, string);

	if (!at)
		fail("%s: no %s in: %s", what, string, text);
	return strtoull(at + strlen(string), NULL, 10);
}

/* The own time of the first row, and the time of the whole command. */
static void first_row(double *ret_first_ms, double *ret_command_ms)
{
	struct process p;
	char *query = NULL;

	if (asprintf(
		    &query,
		    "SELECT time FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d LIMIT 1",
		    loop_pid()) < 0)
		fail("out of memory");
	process_start(&p, (const char *[]){ config.ebql, "-o", "json", query, NULL });
	process_finish(&p, 0);
	*ret_command_ms = (double)(monotonic_ns() - p.start_ns) / 1e6;
	need_status(&p, "first row");
	*ret_first_ms = since_start_ms(&p, number_behind(p.texts[0], "{\"time\":", "first row"));
	process_free(&p);
	free(query);
}

/* The end of the first window that counted something: when the answer covers an event. */
static double first_window(void)
{
	struct process p;
	char *query = contender_figure12("auto", 1), *line = NULL;
	double ms;

	process_start(&p, (const char *[]){ config.ebql, "-o", "json", query, NULL });
	if (!process_wait_text(&p, 0, "\"COUNT(*)\":", 10000000000ull))
		fail("no window counts: %s%s", p.texts[0], p.texts[1]);
	process_finish(&p, SIGINT);
	need_status(&p, "first window");
	/* The first batch line behind the first row is that of the row's window. */
	line = strstr(strstr(p.texts[0], "\"COUNT(*)\":"), "{\"_batch\":");
	ms = since_start_ms(&p, number_behind(line ? line : "", "\"window_end\":", "first window"));
	process_free(&p);
	free(query);
	return ms;
}

static double first_of_bpftrace(void)
{
	struct process p;
	char *script = NULL;
	double ms;

	if (asprintf(&script,
		     "tracepoint:syscalls:sys_enter_pread64 /pid == %d/ "
		     "{ printf(\"first %%llu\\n\", nsecs); exit(); }",
		     loop_pid()) < 0)
		fail("out of memory");
	process_start(&p, (const char *[]){ config.bpftrace, "-B", "line", "-e", script, NULL });
	process_finish(&p, 0);
	ms = since_start_ms(&p, number_behind(p.texts[0], "first ", "bpftrace"));
	process_free(&p);
	free(script);
	return ms;
}

static void summarize(double *values, size_t n, double *ret_three)
{
	ret_three[0] = median(values, n);
	ret_three[1] = quantile(values, n, 0.1);
	ret_three[2] = quantile(values, n, 0.9);
}

void startup_measure(struct startup *ret)
{
	size_t n = (size_t)config.n_starts;
	double *values[4];

	for (size_t i = 0; i < N_OF(values); i++)
		values[i] = calloc(n, sizeof(double));
	loop_busy_begin();
	for (size_t i = 0; i < n; i++) {
		first_row(&values[0][i], &values[1][i]);
		values[2][i] = first_window();
		values[3][i] = config.bpftrace ? first_of_bpftrace() : NAN;
	}
	loop_busy_end();
	summarize(values[0], n, ret->first_row_ms);
	summarize(values[1], n, ret->command_ms);
	summarize(values[2], n, ret->first_window_ms);
	summarize(values[3], n, ret->bpftrace_ms);
	for (size_t i = 0; i < N_OF(values); i++)
		free(values[i]);
}

void footprint_measure(const struct contender *c, u64 duration_ns, struct footprint *ret)
{
	struct attached a;
	u64 start_cpu_ns, cpu_ns, attached_ns;

	contender_attach(&a, c);
	attached_ns = monotonic_ns();
	start_cpu_ns = process_cpu_ns(&a.process);
	loop_busy_begin();
	sleep_ns(duration_ns);
	cpu_ns = process_cpu_ns(&a.process) - start_cpu_ns;
	ret->cpu_percent = (double)cpu_ns / (double)(monotonic_ns() - attached_ns) * 100;
	ret->start_cpu_ms = (double)start_cpu_ns / 1e6;
	ret->made = loop_busy_end();
	ret->peak_rss_kib = process_peak_rss_kib(&a.process);
	contender_detach(&a);
	ret->counted = a.counted;
	ret->lost = a.lost;
}
