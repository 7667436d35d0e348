/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Perf events that sample, on one CPU or on each, and how often their program should have been
 * run: a sample that is due while another tracing program runs on its CPU is left out, and the
 * kernel tells nobody (bpf_overflow_handler()); of clocks, also one that is late by a period.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "load/internal.h"

/*
 * A sample is taken within this time of when it is due, or its CPU does not run: the interrupt of
 * a clock comes a little late, and a program may be interrupted before it has counted.
 */
#define CLOCK_LATE_NS 1000000
#define COUNT_LATE_NS 50000

static bool is_clock(const struct stream_sample *sample)
{
	return sample->type == PERF_TYPE_SOFTWARE && (sample->config == PERF_COUNT_SW_CPU_CLOCK ||
						      sample->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* -ENODEV: there is no such CPU now. */
static int open_on(const struct load_program *program, u32 cpu, struct load_event *ret_sample)
{
	const struct stream_sample *s = &program->hook->sample;
	int err;

	*ret_sample = (struct load_event){ -1, -1, 0 };
	ret_sample->fd = sys_sample_open(s->type, s->config, s->period, cpu);
	if (ret_sample->fd < 0)
		return ret_sample->fd;
	err = sys_perf_attach(ret_sample->fd, program->fd, 0, &ret_sample->link_fd);
	if (!err)
		err = sys_perf_enable(ret_sample->fd);
	/*
	 * Of clocks: their timers go by this one, and what they count by another one, from which
	 * NTP may lead this one away by 500 ppm: a period in 20 s.
	 */
	ret_sample->start_ns = base_monotonic_ns() - sys_perf_count(ret_sample->fd);
	return err;
}

int load_sample_attach(struct load_program *program)
{
	bool is_of_one_cpu = program->hook->sample.is_of_one_cpu;
	u32 n_cpus = load_possible_cpus();
	int err = -ENODEV;

	program->events = calloc(n_cpus, sizeof(program->events[0]));
	if (!program->events)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < n_cpus && (!err || err == -ENODEV); cpu++) {
		err = open_on(program, cpu, &program->events[program->n_events]);
		program->n_events += err != -ENODEV;
		if (!err && is_of_one_cpu)
			break;
	}
	return err == -ENODEV && program->n_events ? 0 : err;
}

u64 load_samples_due(const struct load_program *program, u64 *until_ns)
{
	const struct stream_sample *s = &program->hook->sample;
	u64 late_ns = is_clock(s) ? MIN(CLOCK_LATE_NS, s->period / 2) : COUNT_LATE_NS, n = 0;

	for (u32 i = 0; i < program->n_events; i++) {
		u64 now_ns = base_monotonic_ns();
		u64 count = is_clock(s) ? now_ns - program->events[i].start_ns
					: sys_perf_count(program->events[i].fd);

		n += count / s->period;
		/* The last one that is due was so then, or just now. */
		now_ns -= is_clock(s) ? count % s->period : 0;
		*until_ns = MAX(*until_ns, now_ns + late_ns);
	}
	return n;
}
