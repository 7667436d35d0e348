/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waits for the engine, the end of the duration, the child's end, or a signal.
 */
#include "host/loop.h"
#include "host/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_S	 1000000000ull
#define NS_PER_MS	 1000000ull
#define CHILD_GRACE_MS	 1000
#define SIGNALS_TO_KILL	 3
#define FILE_WINDOWS_MAX 10000000ull
/* Descriptors that came from outside are lower. */
#define INHERITED_MAX 65536
/* How long SQL that is under way may go on, behind a signal and behind the duration. */
#define STOP_GRACE_NS	  2000000000ull
#define DURATION_GRACE_NS 10000000000ull
#define TICK_US		  100000
#define TELL_MS		  1000
/* timeout(1) signals its child, and then the group that it is of: of one number, that is one wish.
 */
#define REPEAT_NS 50000000ull

/* --- Signals --- */

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };
static const int child_signal[] = { SIGCHLD };
static volatile sig_atomic_t n_stop_signals, stop_signal, last_stop_signal, n_to_kill;
static volatile u64 last_stop_ns;
static struct cancel cancel, cancel_output;
static int stop_fd = -1;

static struct signals saved_stop, saved_write, saved_tick, saved_child;
static int child_pid; /* child_end() waits for it */

/* A write(2) that waits for a reader, or for a terminal that is stopped, is interrupted by it. */
static void on_tick(int number)
{
}

/* From then on, now and then: one that comes just before the write(2) does not interrupt it. */
static void tick_from(u64 ns)
{
	const struct itimerval ticks = {
		.it_interval.tv_usec = TICK_US,
		.it_value = { (time_t)(ns / NS_PER_S), 1 + (suseconds_t)(ns % NS_PER_S / 1000) },
	};

	setitimer(ITIMER_REAL, &ticks, NULL);
}

/*
 * Ends this process at once.  Its end closes its perf events, and the kernel takes up to 85 ms for
 * each: that is left to a copy of the process, which has them too and ends behind it.
 */
static void leave(int number)
{
	const int parent = getpid();
	sigset_t set;

	/* Not fork(), which may wait for a lock that the interrupted code has. */
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
		sigfillset(&set);
		sigprocmask(SIG_SETMASK, &set, NULL);
		/* What others wait for the end of, and gave to us: ours are all closed by exec. */
		for (int fd = 0; fd < INHERITED_MAX; fd++)
			if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC))
				close(fd);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			pause();
		_exit(0);
	}
	signal(number, SIG_DFL);
	raise(number);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL); /* that ends us, but not the first of a container */
	_exit(128 + number);
}

static void on_stop_signal(int number)
{
	const u64 one = 1, grace_ns = n_stop_signals ? 0 : STOP_GRACE_NS,
		  now_ns = base_monotonic_ns();
	int error = errno;

	if (n_stop_signals && number == last_stop_signal && now_ns - last_stop_ns < REPEAT_NS)
		return;
	last_stop_signal = number;
	last_stop_ns = now_ns;
	cancel_set(&cancel, now_ns + grace_ns);
	cancel_set(&cancel_output, now_ns + grace_ns);
	tick_from(grace_ns);
	stop_signal = number;
	/* An output that never takes our bytes must not make us immortal. */
	if (++n_stop_signals >= n_to_kill)
		leave(number);
	if (write(stop_fd, &one, sizeof(one)) < 0)
		errno = 0; /* full: the host has been told already */
	errno = error;
}

/* Those that were adopted.  The command itself is waited for elsewhere: then the run is over. */
static void on_child(int number)
{
	int error = errno;
	siginfo_t info = { 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
	       info.si_pid != child_pid) {
		waitpid(info.si_pid, NULL, WNOHANG);
		info.si_pid = 0;
	}
	errno = error;
}

static void take_signals(void)
{
	/* Of a reader that went, and of RLIMIT_FSIZE: the write says it. */
	static const int write_signals[] = { SIGPIPE, SIGXFSZ };
	static const int tick_signal[] = { SIGALRM };
	struct sigaction hangup;

	n_stop_signals = stop_signal = 0;
	n_to_kill = SIGNALS_TO_KILL;
	sigaction(SIGHUP, NULL, &hangup);
	signals_take(&saved_write, write_signals, ARRAY_SIZE(write_signals), SIG_IGN, 0,
		     SIG_UNBLOCK);
	/* No SA_RESTART: that is what it is for. */
	signals_take(&saved_tick, tick_signal, 1, on_tick, 0, SIG_UNBLOCK);
	signals_take(&saved_stop, stop_signals, ARRAY_SIZE(stop_signals), on_stop_signal,
		     SA_RESTART, SIG_UNBLOCK);
	/* nohup: stays ignored */
	if (hangup.sa_handler == SIG_IGN)
		sigaction(SIGHUP, &hangup, NULL);
}

/* While a signal may come once more, it is still ours: behind that it would end the process. */
static void give_signals_back(void)
{
	const struct itimerval never = { 0 };

	while (n_stop_signals && base_monotonic_ns() - last_stop_ns < REPEAT_NS)
		usleep(1000);
	signals_give_back(&saved_stop);
	setitimer(ITIMER_REAL, &never, NULL);
	signals_give_back(&saved_tick);
	signals_give_back(&saved_write);
}

void host_given_all(void)
{
	n_to_kill = n_stop_signals + 1;
}

const struct cancel *host_cancel(void)
{
	return &cancel;
}

const struct cancel *host_cancel_output(void)
{
	return &cancel_output;
}

bool host_must_leave(void)
{
	return stop_signal == SIGTERM || stop_signal == SIGHUP;
}

int host_stop_signal(void)
{
	int number = stop_signal;

	stop_signal = 0;
	return number;
}

/* --- What takes long before and behind a run --- */

void (*host_say_progress)(const char *doing, const char *target, u32 n_done, u32 n_all);

/* From the first second on, now and then.  false: the user wants no more of it. */
bool host_tell_progress(const char *doing, const char *target, u32 n_done, u32 n_all)
{
	static u64 told_ns;
	u64 now_ns = base_monotonic_ns();

	if (n_done <= 1)
		told_ns = now_ns;
	if (now_ns - told_ns >= NS_PER_S) {
		if (host_say_progress)
			host_say_progress(doing, target, n_done, n_all);
		told_ns = now_ns;
	}
	return !n_stop_signals;
}

/* --- The duration --- */

static int open_duration(struct host *host)
{
	struct itimerspec at = { 0 };
	u64 end_ns;

	if (!host->options.duration_ns)
		return 0;
	end_ns = base_monotonic_ns() + host->options.duration_ns;
	cancel_set(&cancel, end_ns + DURATION_GRACE_NS);
	if (n_stop_signals) /* it came before that, or between the two */
		cancel_set(&cancel, last_stop_ns + (n_stop_signals > 1 ? 0 : STOP_GRACE_NS));
	at.it_value = (struct timespec){ end_ns / NS_PER_S, end_ns % NS_PER_S };
	host->duration_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (host->duration_fd < 0 ||
	    timerfd_settime(host->duration_fd, TFD_TIMER_ABSTIME, &at, NULL))
		return -errno;
	return 0;
}

/* --- The child --- */

int host_start_child(struct host_options *options, char **command)
{
	int sockets[2], error;
	char go;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	options->child_pid = fork();
	error = errno;
	if (options->child_pid == 0) {
		close(sockets[0]);
		if (read(sockets[1], &go, 1) != 1)
			_exit(127); /* the query failed: nothing is run */
		execvp(command[0], command);
		error = errno;
		fprintf(stderr, "ebql: %s: %s\n", command[0], strerror(error));
		_exit(write(sockets[1], &error, sizeof(error)) > 0 ? 127 : 126);
	}
	close(sockets[1]);
	options->child_go_fd = sockets[0];
	return options->child_pid < 0 ? -error : 0;
}

bool host_child_failed(const struct host_options *options)
{
	int error;

	return options->child_go_fd >= 0 &&
	       recv(options->child_go_fd, &error, sizeof(error), MSG_DONTWAIT) > 0;
}

static int child_start(struct host *host)
{
	const char go = 1;

	if (host->options.child_pid < 0)
		return 0;
	/* Linux 5.3, which is older than the mappings of the state (5.5). */
	host->child_fd = syscall(SYS_pidfd_open, host->options.child_pid, 0);
	if (host->child_fd < 0)
		return -errno;
	child_pid = host->options.child_pid;
	if (host->options.adopts) {
		if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
			return -errno;
		signals_take(&saved_child, child_signal, 1, on_child, SA_RESTART | SA_NOCLDSTOP,
			     SIG_UNBLOCK);
	}
	host->child.start_ns = base_monotonic_ns();
	if (n_stop_signals) /* it waits, and never runs */
		return 0;
	if (write(host->options.child_go_fd, &go, 1) == 1)
		return 0;
	close(host->child_fd);
	host->child_fd = -1;
	return -errno;
}

/* Does it end before that, and before a signal more?  Ticks are none. */
static bool ends_within(struct pollfd *ended, u32 ms)
{
	const u64 until_ns = base_monotonic_ns() + ms * NS_PER_MS;
	const int n_signals = n_stop_signals;
	u64 now_ns;
	int n;

	do {
		now_ns = MIN(base_monotonic_ns(), until_ns);
		n = poll(ended, 1, (int)((until_ns - now_ns) / NS_PER_MS));
	} while (n < 0 && errno == EINTR && n_stop_signals == n_signals && now_ns < until_ns);
	return n == 1;
}

/* The run is over: so is the child, whichever of the two ended the other. */
static void child_end(struct host *host)
{
	struct pollfd ended = { .fd = host->child_fd, .events = POLLIN };
	const int pid = host->options.child_pid;

	if (host->child_fd < 0)
		return;
	if (host->options.adopts)
		signals_give_back(&saved_child); /* it would end the poll(2) */
	if (poll(&ended, 1, 0) != 1) {
		kill(pid, SIGTERM);
		kill(pid, SIGCONT);
		if (!ends_within(&ended, CHILD_GRACE_MS))
			kill(pid, SIGKILL);
	}
	while (wait4(pid, &host->child.status, 0, &host->child.usage) < 0)
		if (errno != EINTR)
			return;
}

/* --- The loop --- */

/* As the kernel has it from its first version on; headers have it only together with all of
 * sched.h. */
struct sched_attr_0 {
	u32 size, policy;
	u64 flags;
	s32 nice;
	u32 priority;
	u64 runtime_ns, deadline_ns, period_ns;
};
#define RESET_ON_FORK 1
#define SLICE_NS      100000

/*
 * This thread waits, and what wakes it (wake_count, max_cpu) is not to wait for others' slices,
 * some ms, where threads that never sleep have all CPUs.  Since Linux 6.12 a thread may ask for a
 * slice of its own: a short one is run earlier, by no more than its fair share of the CPU, and no
 * right is needed for it, as for SCHED_RR or a nice below 0.  Older kernels tell of none (0), and
 * keep theirs.
 */
static void run_early(bool is_early)
{
	struct sched_attr_0 attr = { 0 };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) || attr.policy != SCHED_OTHER ||
	    !attr.runtime_ns || (attr.runtime_ns <= SLICE_NS) == is_early)
		return;
	attr.size = sizeof(attr);
	/* Commands of on_row, and a pager, have the usual one. */
	attr.flags = is_early ? attr.flags | RESET_ON_FORK : attr.flags & ~RESET_ON_FORK;
	attr.runtime_ns = is_early ? SLICE_NS : 0; /* 0: the kernel's own */
	syscall(SYS_sched_setattr, 0, &attr, 0);   /* where it is refused, it stays as it is */
}

int host_open(struct host *host, const struct host_options *options)
{
	*host = (struct host){
		.options = *options, .child.status = -1, .duration_fd = -1, .child_fd = -1
	};
	stop_fd = host->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return -errno;
	take_signals();
	return engine_open(&host->engine);
}

void host_close(struct host *host)
{
	const int fds[] = { host->stop_fd, host->duration_fd, host->child_fd };

	if (host->engine)
		engine_close(host->engine);
	child_end(host);
	run_early(false);
	if (host->stop_fd >= 0)
		give_signals_back();
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	stop_fd = -1;
	n_stop_signals = 0;
	cancel_set(&cancel, 0);
	cancel_set(&cancel_output, 0);
}

void host_count(struct flow *flow, const struct host_options *options, const struct batch *batch,
		u64 *n_given)
{
	*n_given += batch && (!batch->is_partial || options->counts_partial);
	if (options->n_windows && *n_given + 1 >= options->n_windows)
		flow_stop_at_window(flow, !options->counts_partial);
}

static bool has_loss(struct host *host, u64 *seen_ns)
{
	u64 now_ns = base_monotonic_ns();
	struct account account;

	if (!host->options.ends_at_loss || now_ns - *seen_ns < HOST_LOSS_POLL_MS * NS_PER_MS)
		return false;
	*seen_ns = now_ns;
	flow_peek(host->flow, &account);
	return account_is_biased(&account);
}

int host_wait(struct host *host, int more_fd, int timeout_ms)
{
	struct pollfd fds[] = { { engine_fd(host->engine), POLLIN },
				{ host->stop_fd, POLLIN },
				{ host->duration_fd, POLLIN },
				{ host->child_fd, POLLIN },
				{ more_fd, POLLIN } };

	if (poll(fds, ARRAY_SIZE(fds), timeout_ms) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[3].revents)
		host->child.ns = base_monotonic_ns() - host->child.start_ns;
	if (fds[1].revents || fds[2].revents || fds[3].revents)
		return 1;
	return fds[0].revents ? engine_step(host->engine) : 0;
}

/* Nobody is told: nothing wakes up for it. */
static void tell_totals(const struct host *host, u64 begun_ns, u64 *told_ns)
{
	u64 now_ns = base_monotonic_ns();

	if (!host->options.say_totals || now_ns - *told_ns < TELL_MS * NS_PER_MS)
		return;
	*told_ns = now_ns;
	host->options.say_totals(host->flow, now_ns - begun_ns);
}

static bool is_over(const struct host *host)
{
	return host->flow && flow_is_over(host->flow);
}

static int steps(struct host *host)
{
	const int wait_ms = host->options.ends_at_loss ? HOST_LOSS_POLL_MS
			    : host->options.say_totals ? TELL_MS
						       : -1;
	u64 loss_seen_ns = 0, begun_ns = base_monotonic_ns(), told_ns = begun_ns;
	int ended = 0;

	while (!ended && !is_over(host)) {
		ended = host_wait(host, -1, wait_ms);
		if (ended || is_over(host))
			break;
		if (has_loss(host, &loss_seen_ns))
			break;
		tell_totals(host, begun_ns, &told_ns);
	}
	return MIN(ended, 0);
}

int host_check_windows(const struct flow *flow, u64 n_windows, struct diags *diags)
{
	u64 first_ns, last_ns, n = flow_n_windows(flow, &first_ns, &last_ns);

	if (n_windows)
		n = MIN(n, n_windows);
	if (n <= FILE_WINDOWS_MAX)
		return 0;
	diag_failure(diags, "too-many-windows",
		     "the recorded events reach over %llu windows, from %llu ns to %llu ns" HINT
		     "is the time of an event wrong? Else make the window longer, or ask for fewer "
		     "with -n",
		     (unsigned long long)n, (unsigned long long)first_ns,
		     (unsigned long long)last_ns);
	return -E2BIG;
}

int host_start(struct host *host)
{
	run_early(true);
	/* Here, since it makes SQLite start up: the programs count already. */
	if (!sqlite3_hard_heap_limit64(-1))
		sqlite3_hard_heap_limit64((s64)HOST_HEAP_BYTES);
	return open_duration(host);
}

int host_run(struct host *host, struct diags *diags)
{
	int err = host->flow ? host_check_windows(host->flow, host->options.n_windows, diags) : 0;

	if (!err)
		err = host_start(host);
	if (!err)
		err = child_start(host);
	if (!err && host->flow)
		host_count(host->flow, &host->options, NULL, &host->n_given);
	if (!err)
		err = steps(host);
	return err || !host->flow ? err : flow_stop(host->flow);
}
