/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program -> on all functions of a wildcard, or all places of a program's file: by one link,
 * where the kernel has such (kprobe.multi, 5.18 with CONFIG_FPROBE; uprobe.multi, 6.6), else by an
 * event for each, which takes a moment each to come and to go.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/internal.h"

bool (*load_on_progress)(const char *doing, const char *target, u32 n_done, u32 n_all);

bool load_tell_progress(const char *doing, const struct hook *hook, u32 n_done)
{
	return !load_on_progress || load_on_progress(doing, hook->target, n_done, hook->n_places);
}

/* With our own rights.  In another file a place may be in the middle of an instruction: -ESTALE. */
static int open_file(const struct hook *hook)
{
	int fd = open(hook->file_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &stat) && file_id_equal(file_id_of(&stat), hook->file_id))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Does the kernel refuse this one of several, and not the file or the process? */
static bool is_of_place(const struct hook *hook, int error)
{
	return load_is_of_place(error) && hook->n_places > 1 &&
	       !(hook->file_path && (error == ESRCH || error == ESTALE || error == ENOENT));
}

/* What the program is told: of a file's place its number, and in the lower half its name's. */
static u64 cookie_of(const struct hook *hook, u32 place)
{
	return hook->places ? (u64)place << 32 | hook->places[place].name : place;
}

/* Which of a hook's places one link takes. */
struct takable {
	const struct load_program *program;
	int file_fd; /* of a program */
	u32 *places; /* their numbers in the hook */
	u64 *words;  /* what the kernel wants of each: 3 */
	u32 n;
};

static int open_link(const struct takable *t, u32 first, u32 n)
{
	const struct hook *hook = t->program->hook;
	u64 *where = t->words, *cookies = where + n, *semaphores = cookies + n;
	struct sys_uprobes probes = { .offsets = where,
				      .semaphore_offsets = semaphores,
				      .cookies = cookies,
				      .n = n,
				      .pid = hook->pid,
				      .is_return = hook->is_exit };

	for (u32 i = 0; i < n; i++) {
		u32 place = t->places[first + i];

		where[i] =
			hook->places ? hook->places[place].offset : sys_pointer(hook->names[place]);
		semaphores[i] = hook->places ? hook->places[place].semaphore_offset : 0;
		cookies[i] = cookie_of(hook, place);
	}
	if (hook->places)
		return sys_uprobe_multi_open(t->program->fd, t->file_fd, &probes);
	return sys_kprobe_multi_open(t->program->fd, where, cookies, n, hook->is_exit);
}

/*
 * The kernel takes all or none, and does not say which it does not know: by halves.  Those of
 * the range [first, first + n) that it takes go behind the t->n that were found ahead of it.
 */
static int find_takable(struct takable *t, u32 first, u32 n)
{
	const struct hook *hook = t->program->hook;
	int fd = open_link(t, first, n), err;

	if (fd >= 0) {
		sys_close(&fd);
		memmove(t->places + t->n, t->places + first, n * sizeof(*t->places));
		t->n += n;
		return 0;
	}
	if (!is_of_place(hook, -fd) || n == 1)
		return is_of_place(hook, -fd) ? 0 : fd;
	if (!load_tell_progress("attaching to", hook, first))
		return -EINTR;
	err = find_takable(t, first, n / 2);
	return err ? err : find_takable(t, first + n / 2, n - n / 2);
}

static int attach_link(struct load_program *program, struct takable *t)
{
	const struct hook *hook = program->hook;
	int fd, err, refusal;

	for (u32 i = 0; i < hook->n_places; i++)
		t->places[i] = i;
	refusal = fd = open_link(t, 0, hook->n_places);
	if (fd < 0 && is_of_place(hook, -fd)) {
		err = find_takable(t, 0, hook->n_places);
		if (err || !t->n)
			return err ? err : refusal;
		fd = open_link(t, 0, t->n);
		program->n_left_out = hook->n_places - t->n;
	}
	if (fd < 0)
		return fd;
	program->link_fd = fd;
	return 0;
}

int load_multi_attach(struct load_program *program)
{
	size_t n = program->hook->n_places;
	struct takable t = { .program = program,
			     .file_fd = program->hook->file_path ? open_file(program->hook) : -1,
			     .places = calloc(n, sizeof(*t.places)),
			     .words = calloc(3 * n, sizeof(*t.words)) };
	int err = program->hook->file_path ? MIN(t.file_fd, 0) : 0;

	if (!err)
		err = t.places && t.words ? attach_link(program, &t) : -ENOMEM;
	sys_close(&t.file_fd);
	free(t.places);
	free(t.words);
	return err;
}

static int open_uprobe(const struct hook *hook, const struct hook_place *place)
{
	const struct sys_uprobe probe = { .offset = place->offset,
					  .semaphore_offset = place->semaphore_offset,
					  .pid = hook->pid,
					  .is_return = hook->is_exit };
	int file_fd = open_file(hook), fd;

	if (file_fd < 0)
		return file_fd;
	fd = sys_uprobe_open(file_fd, &probe);
	close(file_fd);
	return fd;
}

static int open_place(const struct hook *hook, u32 place)
{
	const char *name = hook->names ? hook->names[place] : hook->target;
	struct arena arena;
	u64 address;

	if (hook->places)
		return open_uprobe(hook, &hook->places[place]);
	if (!strchr(name, ':'))
		return sys_kprobe_open(name, hook->offset_bytes, hook->is_exit);
	/* By MODULE:NAME the kernel finds none from 6.6 on, up to 6.11. */
	arena_init(&arena);
	address = function_address(&arena, name);
	arena_free(&arena);
	return address ? sys_kprobe_open_at(address + hook->offset_bytes, hook->is_exit) : -ENOENT;
}

/* The first that can be had. */
int load_place_open(struct load_program *program)
{
	const struct hook *hook = program->hook;
	int fd;

	program->first_place = program->n_left_out = 0;
	while ((fd = open_place(hook, program->first_place)) < 0 && is_of_place(hook, -fd) &&
	       program->first_place + 1 < hook->n_places) {
		program->first_place++;
		program->n_left_out++;
	}
	return fd;
}

/* The first has the event that every program on such a hook has. */
int load_places_attach(struct load_program *program)
{
	const struct hook *hook = program->hook;
	int err = sys_perf_attach(program->perf_fd, program->fd,
				  cookie_of(hook, program->first_place), &program->link_fd);

	if (err || hook->n_places < 2)
		return err;
	program->events = calloc(hook->n_places, sizeof(program->events[0]));
	if (!program->events)
		return -ENOMEM;
	for (u32 i = program->first_place + 1; i < hook->n_places && !err; i++) {
		struct load_event *event = &program->events[program->n_events];

		if (!load_tell_progress("attaching to", hook, i))
			return -EINTR;
		*event = (struct load_event){ -1, -1, 0, 0 };
		event->fd = open_place(hook, i);
		if (event->fd < 0 && is_of_place(hook, -event->fd)) {
			program->n_left_out++;
			continue;
		}
		if (event->fd < 0)
			return event->fd;
		program->n_events++;
		err = sys_perf_attach(event->fd, program->fd, cookie_of(hook, i), &event->link_fd);
	}
	return err;
}
