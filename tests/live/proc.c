/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Child processes of the live tests.  One list of all of them: whoever waits for one
 * reads the pipes of all, so none can block on a full pipe.
 */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PROCS = 16 };

static struct proc *procs[MAX_PROCS];
static u32 n_procs;

/*
 * What is timed comes before other work of the machine: as a session of its own, since the
 * kernel's autogroups share the CPUs out by session and heed priorities within one only.
 * Without root it is left as it is.
 */
static void go_ahead(void)
{
	int group;

	setsid();
	group = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	/* Where both are refused, the test may be late. */
	if (setpriority(PRIO_PROCESS, 0, -20) == 0 && group >= 0 && write(group, "-20", 3) < 0)
		errno = 0;
	if (group >= 0)
		close(group);
}

static void run_child(const char *const argv[], int fds[3], u32 flags)
{
	int program = -1;
	sigset_t none;

	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	go_ahead();
	if (flags & PROC_NOBODY) {
		/* Opened before privileges go: the build tree may not be readable without. */
		program = open(argv[0], O_RDONLY | O_CLOEXEC);
		if (program < 0 || setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
		    setresuid(65534, 65534, 65534))
			goto failed;
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* A test that is ended by others leaves nothing attached. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (program >= 0)
		fexecve(program, (char *const *)argv, environ);
	else
		execv(argv[0], (char *const *)argv);
failed:
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

void proc_start(struct proc *proc, const char *const argv[], u32 flags)
{
	int pipes[3][2], ends[3];

	BUG_ON(n_procs == MAX_PROCS);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 3; i++)
		BUG_ON(pipe2(pipes[i], O_CLOEXEC));
	ends[0] = pipes[0][0];
	ends[1] = pipes[1][1];
	ends[2] = pipes[2][1];
	buf_init(&proc->out_text);
	buf_init(&proc->err_text);
	proc->status = -1;
	proc->start_ns = base_monotonic_ns();
	proc->pid = fork();
	BUG_ON(proc->pid < 0);
	if (proc->pid == 0)
		run_child(argv, ends, flags);
	for (int i = 0; i < 3; i++)
		close(ends[i]);
	proc->in = pipes[0][1];
	proc->out = pipes[1][0];
	proc->err = pipes[2][0];
	fcntl(proc->out, F_SETPIPE_SZ, 1 << 20);
	procs[n_procs++] = proc;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void read_end(struct proc *proc, int *fd)
{
	static char bytes[1 << 18];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n <= 0)
		close_end(fd);
	else if (fd == &proc->out && proc->sink)
		proc->sink(proc->sink_context, bytes, (size_t)n);
	else
		buf_put(fd == &proc->out ? &proc->out_text : &proc->err_text, bytes, (size_t)n);
}

void proc_pump(int timeout_ms)
{
	struct pollfd fds[2 * MAX_PROCS];

	for (u32 i = 0; i < n_procs; i++) {
		fds[2 * i] = (struct pollfd){ .fd = procs[i]->out, .events = POLLIN };
		fds[2 * i + 1] = (struct pollfd){ .fd = procs[i]->err, .events = POLLIN };
	}
	if (poll(fds, 2 * n_procs, timeout_ms) <= 0)
		return;
	for (u32 i = 0; i < n_procs; i++) {
		if (fds[2 * i].revents)
			read_end(procs[i], &procs[i]->out);
		if (fds[2 * i + 1].revents)
			read_end(procs[i], &procs[i]->err);
	}
}

static bool has_ended(struct proc *proc)
{
	int status;

	if (proc->pid == 0)
		return true;
	if (wait4(proc->pid, &status, WNOHANG, &proc->usage) != proc->pid)
		return false;
	proc->end_ns = base_monotonic_ns();
	proc->pid = 0;
	proc->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

static bool has_text(const struct proc *proc, const char *text)
{
	return (proc->err_text.n && strstr(proc->err_text.at, text)) ||
	       (proc->out_text.n && strstr(proc->out_text.at, text));
}

bool proc_wait_text(struct proc *proc, const char *text, int timeout_ms)
{
	u64 limit_ns = base_monotonic_ns() + (u64)timeout_ms * 1000000;

	while (!has_text(proc, text)) {
		if (base_monotonic_ns() > limit_ns || (proc->out < 0 && proc->err < 0))
			return false;
		proc_pump(10);
	}
	return true;
}

int proc_wait_exit(struct proc *proc, int timeout_ms)
{
	u64 limit_ns = base_monotonic_ns() + (u64)timeout_ms * 1000000;

	while (!has_ended(proc)) {
		if (base_monotonic_ns() > limit_ns)
			return -1;
		proc_pump(2);
		if (proc->out < 0 && proc->err < 0)
			usleep(500);
	}
	/* What it wrote at the end; another process may hold its pipes open. */
	while ((proc->out >= 0 || proc->err >= 0) && base_monotonic_ns() < limit_ns)
		proc_pump(2);
	return proc->status;
}

void proc_write(struct proc *proc, const char *text)
{
	size_t n = strlen(text);

	BUG_ON(write(proc->in, text, n) != (ssize_t)n);
}

void proc_close_in(struct proc *proc)
{
	close_end(&proc->in);
}

void proc_close_out(struct proc *proc)
{
	close_end(&proc->out);
}

void proc_signal(struct proc *proc, int signal)
{
	if (proc->pid > 0)
		kill(proc->pid, signal);
}

void proc_forget(struct proc *proc)
{
	u32 to = 0;

	for (u32 i = 0; i < n_procs; i++)
		if (procs[i] != proc)
			procs[to++] = procs[i];
	n_procs = to;
	close_end(&proc->in);
	close_end(&proc->out);
	close_end(&proc->err);
	buf_free(&proc->out_text);
	buf_free(&proc->err_text);
}

void proc_end_all(void)
{
	for (u32 i = 0; i < n_procs; i++) {
		struct proc *proc = procs[i];

		if (!has_ended(proc)) {
			kill(proc->pid, SIGKILL);
			wait4(proc->pid, NULL, 0, NULL);
			proc->pid = 0;
		}
		close_end(&proc->in);
		close_end(&proc->out);
		close_end(&proc->err);
		buf_free(&proc->out_text);
		buf_free(&proc->err_text);
	}
	n_procs = 0;
}

const char *proc_path(const char *relative)
{
	static char path[PATH_MAX + 256];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);

	BUG_ON(n <= 0);
	path[n] = 0;
	snprintf(strrchr(path, '/') + 1, 256, "%s", relative);
	return path;
}

static const char *program(char *path, const char *variable, const char *relative)
{
	const char *named = getenv(variable);

	snprintf(path, PATH_MAX, "%s", named ? named : proc_path(relative));
	return path;
}

const char *proc_ebql(void)
{
	static char path[PATH_MAX];

	return program(path, "EBQL", "../../ebql");
}

const char *proc_loadgen(void)
{
	static char path[PATH_MAX];

	return program(path, "LOADGEN", "../loadgen");
}

bool proc_has_trampolines(void)
{
	return access("/sys/bus/event_source/devices/kprobe", F_OK) == 0;
}

u64 proc_capabilities(int pid, const char *set)
{
	char path[64], name[16];
	u64 value = 1;
	struct buf text;
	const char *at;

	buf_init(&text);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	snprintf(name, sizeof(name), "\n%s:", set);
	BUG_ON(buf_read_file(&text, path, 65536));
	at = strstr(text.at, name);
	BUG_ON(!at);
	value = strtoull(at + strlen(name), NULL, 16);
	buf_free(&text);
	return value;
}
