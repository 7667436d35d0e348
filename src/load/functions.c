/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program -> on all functions of a wildcard: by one link, where the kernel has such
 * (kprobe.multi, 5.18 with CONFIG_FPROBE), else by an event for each, which takes a moment each to
 * come and to go.
 */
#include <errno.h>
#include <stdlib.h>

#include "load/internal.h"

bool (*load_on_progress)(const char *doing, const char *target, u32 n_done, u32 n_all);

bool load_tell_progress(const char *doing, const struct hook *hook, u32 n_done)
{
	return !load_on_progress || load_on_progress(doing, hook->target, n_done, hook->n_names);
}

int load_kprobe_multi_attach(struct load_program *program)
{
	const struct hook *hook = program->hook;
	int fd = sys_kprobe_multi_open(program->fd, hook->names, hook->n_names, hook->is_exit);

	if (fd < 0)
		return fd;
	program->link_fd = fd;
	return 0;
}

/* The first has the event that every program on a kprobe has. */
int load_kprobes_attach(struct load_program *program)
{
	const struct hook *hook = program->hook;
	int err = sys_perf_attach(program->perf_fd, program->fd, 0, &program->link_fd);

	if (err || hook->n_names < 2)
		return err;
	program->events = calloc(hook->n_names, sizeof(program->events[0]));
	if (!program->events)
		return -ENOMEM;
	for (u32 i = 1; i < hook->n_names && !err; i++) {
		struct load_event *event = &program->events[program->n_events];

		if (!load_tell_progress("attaching to", hook, i))
			return -EINTR;
		*event = (struct load_event){ -1, -1, 0, 0 };
		event->fd = sys_kprobe_open(hook->names[i], 0, hook->is_exit);
		if (event->fd < 0)
			return event->fd;
		program->n_events++;
		err = sys_perf_attach(event->fd, program->fd, i, &event->link_fd);
	}
	return err;
}
