/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Perf events that sample, on one CPU or on each, and how often their program should have been
 * run: a sample that is due while another tracing program runs on its CPU is left out, and the
 * kernel tells nobody (bpf_overflow_handler()); of clocks, also one that is late by a period.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	bool has_any = false;

	program->events = calloc(n_cpus, sizeof(program->events[0]));
	if (!program->events)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < n_cpus && !(has_any && is_of_one_cpu); cpu++) {
		struct load_event *event = &program->events[program->n_events++];
		int err;

		*event = (struct load_event){ -1, -1, base_monotonic_ns(), 0 };
		err = open_on(program, cpu, event);
		has_any |= !err;
		if (err && err != -ENODEV)
			return err;
	}
	return has_any ? 0 : -ENODEV;
}

/* "0-1,4-7" -> is the CPU in it?  For CPUs in ascending order; ranges: what is left to look at. */
static bool is_in(const char **ranges, u32 cpu)
{
	for (;;) {
		char *at;
		u64 first = strtoul(*ranges, &at, 10), last = first;

		if (at == *ranges)
			return false;
		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		if (cpu <= last)
			return cpu >= first;
		*ranges = at + (*at == ',');
	}
}

/* Which are online; empty: nobody knows. */
static void read_online(char *ret_ranges, size_t n_bytes)
{
	int fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, ret_ranges, n_bytes - 1);

	ret_ranges[MAX(n, 0)] = '\0';
	sys_close(&fd);
}

/*
 * What was due on a CPU without an event: one that came online later, or again, which ends its
 * event for good; by then the rights to open another one are gone.  Of clocks as many as since it
 * was last seen offline; of other events nobody knows how many, but that they are missing: one.
 */
static u64 due_without_event(const struct stream_sample *s, struct load_event *event,
			     bool is_online)
{
	u64 now_ns = base_monotonic_ns(), n = 1;

	if (event->fd >= 0)
		event->n_due += sys_perf_count(event->fd) / s->period;
	sys_close(&event->link_fd);
	sys_close(&event->fd);
	if (is_clock(s))
		n = (now_ns - event->start_ns) / s->period;
	event->n_due += is_online ? n : 0;
	event->start_ns = is_online && is_clock(s) ? event->start_ns + n * s->period : now_ns;
	return event->n_due;
}

u64 load_samples_due(const struct load_program *program, u64 *until_ns)
{
	const struct stream_sample *s = &program->hook->sample;
	u64 late_ns = is_clock(s) ? MIN(CLOCK_LATE_NS, s->period / 2) : COUNT_LATE_NS, n = 0;

	char online[4096];
	const char *ranges = online;

	read_online(online, sizeof(online));
	for (u32 i = 0; i < program->n_events; i++) {
		struct load_event *event = &program->events[i];
		bool is_online = *online ? is_in(&ranges, i) : event->fd >= 0;
		u64 now_ns = base_monotonic_ns(), count;

		if (event->fd < 0 || (!is_online && !s->is_of_one_cpu)) {
			n += due_without_event(s, event, is_online && !s->is_of_one_cpu);
			continue;
		}
		count = is_clock(s) ? now_ns - event->start_ns : sys_perf_count(event->fd);
		n += count / s->period;
		/* The last one that is due was so then, or just now. */
		now_ns -= is_clock(s) ? count % s->period : 0;
		*until_ns = MAX(*until_ns, now_ns + late_ns);
	}
	return n;
}
