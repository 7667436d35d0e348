/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program -> on all functions of a wildcard: by one link, where the kernel has such
 * (kprobe.multi, 5.18 with CONFIG_FPROBE), else by an event for each, which takes a moment each to
 * come and to go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/internal.h"

bool (*load_on_progress)(const char *doing, const char *target, u32 n_done, u32 n_all);

bool load_tell_progress(const char *doing, const struct hook *hook, u32 n_done)
{
	return !load_on_progress || load_on_progress(doing, hook->target, n_done, hook->n_names);
}

/* Which of a wildcard's functions one link takes. */
struct takable {
	const struct load_program *program;
	const char **names;
	u64 *cookies; /* their numbers in the hook */
	u32 n;
};

static int open_link(const struct takable *t, u32 first, u32 n)
{
	return sys_kprobe_multi_open(t->program->fd, t->names + first, t->cookies + first, n,
				     t->program->hook->is_exit);
}

/*
 * The kernel takes all or none, and does not say which it does not know: by halves.  Those of
 * the range [first, first + n) that it takes go behind the t->n that were found ahead of it.
 */
static int find_takable(struct takable *t, u32 first, u32 n)
{
	int fd = open_link(t, first, n), err;

	if (fd >= 0) {
		sys_close(&fd);
		memmove(t->names + t->n, t->names + first, n * sizeof(*t->names));
		memmove(t->cookies + t->n, t->cookies + first, n * sizeof(*t->cookies));
		t->n += n;
		return 0;
	}
	if (!load_is_of_place(-fd) || n == 1)
		return load_is_of_place(-fd) ? 0 : fd;
	if (!load_tell_progress("attaching to", t->program->hook, first))
		return -EINTR;
	err = find_takable(t, first, n / 2);
	return err ? err : find_takable(t, first + n / 2, n - n / 2);
}

static int attach_link(struct load_program *program, struct takable *t)
{
	const struct hook *hook = program->hook;
	int fd, err, refusal;

	for (u32 i = 0; i < hook->n_names; i++) {
		t->names[i] = hook->names[i];
		t->cookies[i] = i;
	}
	refusal = fd = open_link(t, 0, hook->n_names);
	if (fd < 0 && load_is_of_place(-fd)) {
		err = find_takable(t, 0, hook->n_names);
		if (err || !t->n)
			return err ? err : refusal;
		fd = open_link(t, 0, t->n);
		program->n_left_out = hook->n_names - t->n;
	}
	if (fd < 0)
		return fd;
	program->link_fd = fd;
	return 0;
}

int load_kprobe_multi_attach(struct load_program *program)
{
	u32 n = program->hook->n_names;
	struct takable t = { .program = program,
			     .names = calloc(n, sizeof(*t.names)),
			     .cookies = calloc(n, sizeof(*t.cookies)) };
	int err = t.names && t.cookies ? attach_link(program, &t) : -ENOMEM;

	free(t.names);
	free(t.cookies);
	return err;
}

/* Of a wildcard the first that can be had. */
int load_kprobe_open(struct load_program *program)
{
	const struct hook *hook = program->hook;
	int fd;

	if (!hook->n_names)
		return sys_kprobe_open(hook->target, hook->offset_bytes, hook->is_exit);
	program->first_name = program->n_left_out = 0;
	while ((fd = sys_kprobe_open(hook->names[program->first_name], 0, hook->is_exit)) < 0 &&
	       load_is_of_place(-fd) && program->first_name + 1 < hook->n_names) {
		program->first_name++;
		program->n_left_out++;
	}
	return fd;
}

/* The first has the event that every program on a kprobe has. */
int load_kprobes_attach(struct load_program *program)
{
	const struct hook *hook = program->hook;
	int err = sys_perf_attach(program->perf_fd, program->fd, program->first_name,
				  &program->link_fd);

	if (err || hook->n_names < 2)
		return err;
	program->events = calloc(hook->n_names, sizeof(program->events[0]));
	if (!program->events)
		return -ENOMEM;
	for (u32 i = program->first_name + 1; i < hook->n_names && !err; i++) {
		struct load_event *event = &program->events[program->n_events];

		if (!load_tell_progress("attaching to", hook, i))
			return -EINTR;
		*event = (struct load_event){ -1, -1, 0, 0 };
		event->fd = sys_kprobe_open(hook->names[i], 0, hook->is_exit);
		if (event->fd < 0 && load_is_of_place(-event->fd)) {
			program->n_left_out++;
			continue;
		}
		if (event->fd < 0)
			return event->fd;
		program->n_events++;
		err = sys_perf_attach(event->fd, program->fd, i, &event->link_fd);
	}
	return err;
}
