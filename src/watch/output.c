/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Outputs with threads.  The threads touch nothing but their struct output; signals are the main
 * thread's.
 */
#include "watch/output.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/sys.h"

#define STACK_BYTES (64 << 10)
#define WAIT_NS	    1000000
#define GRACE_NS    2000000000ull

struct output {
	u32 n_users;
	int fd;
	char *name;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t is_given;
	struct buf waiting;
	int error;
	bool is_writing;
	bool outlives_full; /* what comes behind a full disk's error is tried */
	u64 n_lost;	    /* bytes, at most, with such an error */
	int lost_error;
	bool is_left, is_told; /* who gave it bytes was told of the error */
	struct cancel end;     /* it was left, and has had the time to take what waits */
};

/* Of all outputs. */
static u32 n_open;
static bool has_failed;

/* 0, or the -errno that it failed with first: then what comes goes nowhere. */
static int write_some(struct output *o, struct buf *taken)
{
	const struct buf none = *taken;
	size_t n = o->waiting.n;
	int err;

	*taken = o->waiting;
	o->waiting = none;
	if (o->error) {
		buf_reset(taken);
		return 0;
	}
	o->is_writing = true;
	pthread_mutex_unlock(&o->lock);
	err = buf_flush(taken, o->fd, &o->end);
	pthread_mutex_lock(&o->lock);
	o->is_writing = false;
	if (!o->outlives_full || (err != -ENOSPC && err != -EDQUOT))
		return err;
	o->n_lost += n;
	o->lost_error = -err;
	return 0;
}

static void *run_output(void *context)
{
	struct output *o = context;
	struct buf taken;

	sys_rights_drop();
	buf_init(&taken);
	pthread_mutex_lock(&o->lock);
	while (o->waiting.n || !o->is_left) {
		if (o->waiting.n)
			o->error = write_some(o, &taken) ?: o->error;
		else
			pthread_cond_wait(&o->is_given, &o->lock);
	}
	pthread_mutex_unlock(&o->lock);
	/* A disk that is full may say so only now. */
	if (close(o->fd) < 0 && !o->error)
		o->error = -errno;
	if (o->error && !o->is_told) {
		fprintf(stderr, "ebql: %s: %s\n", o->name,
			o->error == -ETIMEDOUT ? "took no more: what was not written is lost"
					       : strerror(-o->error));
		__atomic_store_n(&has_failed, true, __ATOMIC_RELAXED);
	}
	buf_free(&taken);
	buf_free(&o->waiting);
	free(o->name);
	free(o);
	__atomic_sub_fetch(&n_open, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool start(struct output *o)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attr, run_output, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return error == 0;
}

struct output *output_open(int fd, const char *name)
{
	struct output *o = calloc(1, sizeof(*o));

	if (!o || !(o->name = strdup(name)))
		goto failed;
	o->fd = fd;
	o->n_users = 1;
	buf_init(&o->waiting);
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->is_given, NULL);
	__atomic_add_fetch(&n_open, 1, __ATOMIC_RELAXED);
	if (start(o))
		return o;
	__atomic_sub_fetch(&n_open, 1, __ATOMIC_RELAXED);
	free(o->name);
failed:
	free(o);
	close(fd);
	return NULL;
}

struct output *output_use(struct output *output)
{
	output->n_users++;
	return output;
}

int output_fd(const struct output *output)
{
	return output->fd;
}

void output_outlive_full(struct output *output)
{
	pthread_mutex_lock(&output->lock);
	output->outlives_full = true;
	pthread_mutex_unlock(&output->lock);
}

u64 output_take_lost(struct output *output, int *ret_error)
{
	u64 n;

	pthread_mutex_lock(&output->lock);
	n = output->n_lost;
	*ret_error = output->lost_error;
	output->n_lost = 0;
	pthread_mutex_unlock(&output->lock);
	return n;
}

bool output_has_room(struct output *output)
{
	bool has_room;

	pthread_mutex_lock(&output->lock);
	has_room = output->waiting.n < OUTPUT_WAITING_BYTES;
	pthread_mutex_unlock(&output->lock);
	return has_room;
}

int output_put(void *context, struct buf *buf)
{
	struct output *output = context;
	int err;

	pthread_mutex_lock(&output->lock);
	buf_put(&output->waiting, buf->at, buf->n);
	err = buf->is_cut || output->waiting.is_cut ? -ENOMEM : output->error;
	output->is_told |= err != 0;
	pthread_cond_signal(&output->is_given);
	pthread_mutex_unlock(&output->lock);
	buf_reset(buf);
	return err;
}

void output_leave(struct output *output, const struct cancel *cancel)
{
	u64 end_ns = base_monotonic_ns() + GRACE_NS;

	if (!output || --output->n_users)
		return;
	if (cancel->at_ns)
		end_ns = MIN(end_ns, cancel->at_ns);
	pthread_mutex_lock(&output->lock);
	output->is_left = true;
	cancel_set(&output->end, end_ns);
	pthread_cond_signal(&output->is_given);
	pthread_mutex_unlock(&output->lock);
}

/* Until it is so, and true; false: the grace, or `cancel`, was over before. */
static bool wait_until(bool (*is_so)(struct output *), struct output *output,
		       const struct cancel *cancel)
{
	const struct timespec some = { .tv_nsec = WAIT_NS };
	u64 due_ns = base_monotonic_ns() + GRACE_NS;

	/* Beyond that for those that give up by themselves, and then say whose they are. */
	while (!is_so(output) && base_monotonic_ns() < due_ns + 3 * CANCEL_POLL_MS * 1000000ull) {
		nanosleep(&some, NULL);
		if (cancel_is_due(cancel))
			due_ns = MIN(due_ns, cancel->at_ns);
	}
	return is_so(output);
}

static bool is_written(struct output *output)
{
	bool is_writing;

	pthread_mutex_lock(&output->lock);
	is_writing = output->waiting.n || output->is_writing;
	pthread_mutex_unlock(&output->lock);
	return !is_writing;
}

bool output_drain(struct output *output, const struct cancel *cancel)
{
	return wait_until(is_written, output, cancel);
}

static bool is_last(struct output *kept)
{
	return __atomic_load_n(&n_open, __ATOMIC_ACQUIRE) == (kept ? 1u : 0u);
}

bool outputs_wait(struct output *kept, const struct cancel *cancel)
{
	bool is_written = wait_until(is_last, kept, cancel);

	if (!is_written)
		fputs("ebql: an output took no more: what was not written is lost\n", stderr);
	return is_written && !__atomic_load_n(&has_failed, __ATOMIC_RELAXED);
}
