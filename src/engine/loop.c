/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The loop of a run: waits for the next window boundary, the end of the duration,
 * the child's end, a signal, or (streamed rows) 10 ms.
 *
 * Boundaries are the multiples of a period on CLOCK_REALTIME: of the window's size, or of
 * its advance; and maybe instants between these.  The timer is
 * set anew after each batch, to the first boundary that lies ahead: one that passed
 * while a slow output took its time is skipped, and that window is longer.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/loop.h"

#define NS_PER_S	1000000000ull
#define STREAM_POLL_NS	10000000
#define CHILD_GRACE_MS	1000
#define SIGNALS_TO_KILL 3
/* How long SQL that is under way may go on, behind a signal and behind the duration. */
#define STOP_GRACE_NS	  2000000000ull
#define DURATION_GRACE_NS 10000000000ull

enum wait_fd { WAIT_STOP, WAIT_DURATION, WAIT_BOUNDARY, WAIT_CHILD, WAIT_N };

struct loop {
	const struct loop_driver *driver;
	struct pollfd fds[WAIT_N]; /* fd -1: not waited for */
	bool is_child_going;
};

/* --- Signals --- */

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t n_stop_signals, stop_signal;
static struct cancel cancel;
static int stop_fd = -1;

struct saved_signals {
	struct sigaction stop[ARRAY_SIZE(stop_signals)], pipe;
	sigset_t mask;
};

static void on_stop_signal(int number)
{
	const u64 one = 1;
	int error = errno;

	cancel_set(&cancel, base_monotonic_ns() + (n_stop_signals ? 0 : STOP_GRACE_NS));
	stop_signal = number;
	/* An output that never takes our bytes must not make us immortal. */
	if (++n_stop_signals >= SIGNALS_TO_KILL) {
		signal(number, SIG_DFL);
		raise(number);
	}
	if (write(stop_fd, &one, sizeof(one)) < 0)
		errno = 0; /* full: the loop has been told already */
	errno = error;
}

static void signals_take(struct saved_signals *saved)
{
	struct sigaction stop = { .sa_handler = on_stop_signal, .sa_flags = SA_RESTART };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t unblocked;
	u32 i;

	n_stop_signals = stop_signal = 0;
	for (i = 0; i < ARRAY_SIZE(stop_signals); i++) {
		sigaction(stop_signals[i], &stop, &saved->stop[i]);
		/* nohup: stays ignored */
		if (stop_signals[i] == SIGHUP && saved->stop[i].sa_handler == SIG_IGN)
			sigaction(SIGHUP, &ignore, NULL);
	}
	sigaction(SIGPIPE, &ignore, &saved->pipe);
	/* One that came before this and was blocked ends the run now. */
	sigemptyset(&unblocked);
	for (i = 0; i < ARRAY_SIZE(stop_signals); i++)
		sigaddset(&unblocked, stop_signals[i]);
	sigprocmask(SIG_UNBLOCK, &unblocked, &saved->mask);
}

static void signals_give_back(const struct saved_signals *saved)
{
	u32 i;

	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
	for (i = 0; i < ARRAY_SIZE(stop_signals); i++)
		sigaction(stop_signals[i], &saved->stop[i], NULL);
	sigaction(SIGPIPE, &saved->pipe, NULL);
}

const struct cancel *loop_cancel(void)
{
	return &cancel;
}

int run_stop_signal(void)
{
	int number = stop_signal;

	stop_signal = 0;
	return number;
}

/* --- Timers --- */

static struct itimerspec timer_at(u64 ns)
{
	return (struct itimerspec){ .it_value = { ns / NS_PER_S, ns % NS_PER_S } };
}

static int arm_boundary(struct loop *loop)
{
	u64 now_ns = base_realtime_ns();
	u64 period_ns = loop->driver->period_ns;
	u64 between_ns = loop->driver->between_ns, at_ns = now_ns / period_ns * period_ns;
	struct itimerspec at;

	at_ns += now_ns < at_ns + between_ns ? between_ns : period_ns;
	at = timer_at(at_ns);
	/* CANCEL_ON_SET: when the clock is set, reading the timer fails with ECANCELED. */
	if (timerfd_settime(loop->fds[WAIT_BOUNDARY].fd,
			    TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL))
		return -errno;
	return 0;
}

static int open_duration(struct loop *loop)
{
	struct itimerspec at;
	u64 end_ns;

	if (!loop->driver->options->duration_ns)
		return 0;
	end_ns = base_monotonic_ns() + loop->driver->options->duration_ns;
	at = timer_at(end_ns);
	if (!n_stop_signals)
		cancel_set(&cancel, end_ns + DURATION_GRACE_NS);
	loop->fds[WAIT_DURATION].fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (loop->fds[WAIT_DURATION].fd < 0 ||
	    timerfd_settime(loop->fds[WAIT_DURATION].fd, TFD_TIMER_ABSTIME, &at, NULL))
		return -errno;
	return 0;
}

static int open_boundary(struct loop *loop)
{
	if (!loop->driver->period_ns)
		return 0;
	loop->fds[WAIT_BOUNDARY].fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (loop->fds[WAIT_BOUNDARY].fd < 0)
		return -errno;
	return arm_boundary(loop);
}

/* --- The child --- */

static int child_start(struct loop *loop)
{
	const struct run_options *options = loop->driver->options;
	const char go = 1;

	if (options->child_pid < 0)
		return 0;
	/* Linux 5.3, which is older than the mappings of the state (5.5). */
	loop->fds[WAIT_CHILD].fd = syscall(SYS_pidfd_open, options->child_pid, 0);
	if (loop->fds[WAIT_CHILD].fd < 0 || write(options->child_go_fd, &go, 1) != 1)
		return -errno;
	loop->is_child_going = true;
	return 0;
}

/* The run is over: so is the child, whichever of the two ended the other. */
static void child_end(struct loop *loop)
{
	const int pid = loop->driver->options->child_pid;
	struct pollfd *ended = &loop->fds[WAIT_CHILD];
	int status;

	if (!loop->is_child_going)
		return;
	if (poll(ended, 1, 0) == 0) {
		kill(pid, SIGTERM);
		kill(pid, SIGCONT);
		if (poll(ended, 1, CHILD_GRACE_MS) == 0)
			kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	*loop->driver->ret_child_status = status;
}

/* --- The loop --- */

static int loop_open(struct loop *loop)
{
	const struct loop_driver *driver = loop->driver;
	int err = driver->attach(driver->context);

	if (!err)
		err = open_duration(loop);
	if (!err)
		err = open_boundary(loop);
	if (!err && driver->sink->attached)
		driver->sink->attached(driver->sink->context);
	if (!err)
		err = child_start(loop);
	return err;
}

/* Sleeps until something is to be done; what that is stands in fds[].revents. */
static int loop_wait(struct loop *loop, bool is_more)
{
	const struct loop_driver *driver = loop->driver;
	const u64 poll_ns = driver->poll_ns ? driver->poll_ns : STREAM_POLL_NS;
	const struct timespec tick = { .tv_nsec = is_more ? 0 : (long)poll_ns };
	const struct timespec *timeout = driver->poll ? &tick : NULL;
	u32 i;

	if (ppoll(loop->fds, WAIT_N, timeout, NULL) >= 0)
		return 0;
	for (i = 0; i < WAIT_N; i++)
		loop->fds[i].revents = 0;
	return errno == EINTR ? 0 : -errno;
}

static int at_boundary(struct loop *loop, bool *ret_is_over)
{
	const struct loop_driver *driver = loop->driver;
	u64 n_expired;
	int err;

	if (read(loop->fds[WAIT_BOUNDARY].fd, &n_expired, sizeof(n_expired)) < 0) {
		if (errno == EAGAIN)
			return 0;
		/* The clock was set: other boundaries lie ahead now. */
		return errno == ECANCELED ? arm_boundary(loop) : -errno;
	}
	err = driver->boundary(driver->context, ret_is_over);
	return err || *ret_is_over ? err : arm_boundary(loop);
}

static int loop_run(struct loop *loop)
{
	const struct loop_driver *driver = loop->driver;
	/* The first poll does not wait: all of a small file is there already. */
	bool is_over = false, is_more = true;
	int err = 0;

	while (!err && !is_over) {
		err = loop_wait(loop, is_more);
		if (err)
			break;
		is_over = loop->fds[WAIT_STOP].revents || loop->fds[WAIT_DURATION].revents ||
			  loop->fds[WAIT_CHILD].revents;
		if (!is_over && loop->fds[WAIT_BOUNDARY].revents)
			err = at_boundary(loop, &is_over);
		if (!is_over && !err && driver->poll)
			err = driver->poll(driver->context, &is_more, &is_over);
		if (!err && driver->poll && driver->sink->idle)
			err = driver->sink->idle(driver->sink->context);
	}
	return err ? err : driver->last(driver->context);
}

int loop_drive(const struct loop_driver *driver)
{
	struct loop loop = { .driver = driver };
	struct saved_signals saved;
	int err;
	u32 i;

	for (i = 0; i < WAIT_N; i++)
		loop.fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	stop_fd = loop.fds[WAIT_STOP].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return -errno;
	signals_take(&saved);
	err = loop_open(&loop);
	if (!err)
		err = loop_run(&loop);
	driver->detach(driver->context);
	child_end(&loop);
	signals_give_back(&saved);
	for (i = 0; i < WAIT_N; i++)
		if (loop.fds[i].fd >= 0)
			close(loop.fds[i].fd);
	stop_fd = -1;
	n_stop_signals = 0;
	cancel_set(&cancel, 0);
	return err;
}
