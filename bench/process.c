/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Child processes: started with pipes on stdout and stderr, read while they run,
 * ended by a signal, with what they used.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

void process_start(struct process *p, const char *const *argv)
{
	int out[2], err[2];

	memset(p, 0, sizeof(*p));
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail("cannot make pipes");
	for (int i = 0; i < 2; i++)
		p->texts[i] = calloc(1, 1);
	p->start_ns = monotonic_ns();
	p->pid = fork();
	if (p->pid < 0)
		fail("cannot fork");
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	p->fds[0] = out[0];
	p->fds[1] = err[0];
}

static void take(struct process *p, int stream)
{
	char chunk[16384];
	ssize_t n = read(p->fds[stream], chunk, sizeof(chunk));

	if (n <= 0) {
		close(p->fds[stream]);
		p->fds[stream] = -1;
		return;
	}
	p->texts[stream] = realloc(p->texts[stream], p->sizes[stream] + (size_t)n + 1);
	if (!p->texts[stream])
		fail("out of memory");
	memcpy(p->texts[stream] + p->sizes[stream], chunk, (size_t)n);
	p->sizes[stream] += (size_t)n;
	p->texts[stream][p->sizes[stream]] = '\0';
}

/* One round of reading; false when nothing came in the time. */
static bool pump(struct process *p, u64 timeout_ns)
{
	struct pollfd fds[2] = { { p->fds[0], POLLIN, 0 }, { p->fds[1], POLLIN, 0 } };

	if (poll(fds, 2, (int)(timeout_ns / 1000000)) <= 0)
		return false;
	for (int i = 0; i < 2; i++)
		if (p->fds[i] >= 0 && fds[i].revents)
			take(p, i);
	return true;
}

bool process_wait_text(struct process *p, int stream, const char *text, u64 timeout_ns)
{
	u64 end_ns = monotonic_ns() + timeout_ns, now_ns;

	while (!strstr(p->texts[stream], text)) {
		now_ns = monotonic_ns();
		if (now_ns >= end_ns || p->fds[stream] < 0)
			return false;
		pump(p, end_ns - now_ns);
	}
	return true;
}

void process_finish(struct process *p, int signal)
{
	u64 end_ns = monotonic_ns() + 20000000000ull;

	if (signal)
		kill(p->pid, signal);
	while (p->fds[0] >= 0 || p->fds[1] >= 0) {
		if (!pump(p, 1000000000) && monotonic_ns() > end_ns)
			kill(p->pid, SIGKILL);
	}
	while (wait4(p->pid, &p->status, 0, &p->usage) < 0 && errno == EINTR)
		;
}

void process_free(struct process *p)
{
	free(p->texts[0]);
	free(p->texts[1]);
	memset(p, 0, sizeof(*p));
}

static void read_proc(const struct process *p, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", p->pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

/* The CPU-time clock of another process has ns, where /proc/PID/stat has ticks. */
u64 process_cpu_ns(const struct process *p)
{
	struct timespec t = { 0, 0 };
	clockid_t clock;

	if (clock_getcpuclockid(p->pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

/*
 * VmHWM of the living process: ru_maxrss would also hold the size of this program,
 * of which the child was a copy until its exec.
 */
u64 process_peak_rss_kib(const struct process *p)
{
	char text[8192];
	const char *at;

	read_proc(p, "status", text, sizeof(text));
	at = strstr(text, "VmHWM:");
	return at ? strtoull(at + 6, NULL, 10) : 0;
}

char *process_output(const char *const *argv)
{
	struct process p;
	char *text;

	process_start(&p, argv);
	process_finish(&p, 0);
	text = p.texts[0];
	p.texts[0] = NULL;
	process_free(&p);
	return text;
}
