/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What tracing read() costs in instructions, by each way to trace it -> lines of a Markdown table:
 * of a read that is traced, and of another call.  Runs in a guest whose clock ticks
 * once an instruction (bench/icount), so a figure is the same each time.
 *
 *	icount EBQL OBJECT [BPFTRACE]
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define N_CALLS	  1000
#define N_BATCHES 15

#define COUNT_QUERY "SELECT count(*) FROM tracepoint:syscalls:sys_enter_read WINDOW TUMBLING 1s"
#define PAIR_QUERY  "SELECT histogram(latency) FROM syscall:read WINDOW TUMBLING 1s"

/* Programs of handwritten.bpf.o, or what is run. */
static const struct way {
	const char *name, *first, *second; /* programs */
	const char *query, *script;
} ways[] = {
	{ "empty program, fentry", "empty_fentry" },
	{ "empty program, raw tracepoint", "empty_raw" },
	{ "empty program, tracepoint", "empty_enter_read" },
	{ "count by hand, fentry", "count_fentry" },
	{ "count by hand, raw tracepoint", "count_raw" },
	{ "count by hand, tracepoint", "count_tracepoint" },
	{ "ebql count(*), fentry", .query = "SET access_path = fentry; " COUNT_QUERY },
	{ "ebql count(*), raw", .query = "SET access_path = raw; " COUNT_QUERY },
	{ "ebql count(*), tracepoint", .query = "SET access_path = tracepoint; " COUNT_QUERY },
	{ "bpftrace count()", .script = "tracepoint:syscalls:sys_enter_read { @ = count(); }" },
	{ "empty programs, fentry and fexit", "empty_fentry", "empty_fexit" },
	{ "empty programs, raw tracepoints", "empty_raw", "empty_raw_exit" },
	{ "empty programs, tracepoints", "empty_enter_read", "empty_exit_read" },
	{ "histogram of latency by hand, fentry", "pair_fentry", "pair_fexit" },
	{ "histogram of latency by hand, raw", "pair_enter", "pair_exit" },
	{ "ebql histogram(latency), fentry", .query = "SET access_path = fentry; " PAIR_QUERY },
	{ "ebql histogram(latency), raw", .query = "SET access_path = raw; " PAIR_QUERY },
	{ "ebql histogram(latency), tracepoint",
	  .query = "SET access_path = tracepoint; " PAIR_QUERY },
	{ "bpftrace hist(latency)",
	  .script = "tracepoint:syscalls:sys_enter_read { @s[tid] = nsecs; } "
		    "tracepoint:syscalls:sys_exit_read /@s[tid]/ { @ = hist(nsecs - @s[tid]); "
		    "delete(@s[tid]); }" },
};

static double calls(long number)
{
	uint64_t least = UINT64_MAX;

	for (int batch = 0; batch < N_BATCHES; batch++) {
		uint64_t start = __rdtsc(), ticks;

		for (int i = 0; i < N_CALLS; i++)
			syscall(number, -1, NULL, 0);
		ticks = __rdtsc() - start;
		least = ticks < least ? ticks : least;
	}
	return (double)least / N_CALLS;
}

/* Waits for the text on its standard error or output. */
static bool wait_text(int fd, const char *text)
{
	char said[65536];
	size_t n = 0;
	ssize_t got;

	while (n < sizeof(said) - 1 && (got = read(fd, said + n, sizeof(said) - 1 - n)) > 0) {
		n += (size_t)got;
		said[n] = '\0';
		if (strstr(said, text))
			return true;
	}
	fprintf(stderr, "%s\n", n ? said : "(nothing)");
	return false;
}

/* Its pid; 0: it does not run here. */
static pid_t start(const char *const argv[], const char *ready, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds) || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(fds[1], 2);
		dup2(strstr(ready, "Attach") ? fds[1] : null, 1);
		close(fds[0]);
		close(fds[1]);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(fds[1]);
	*ret_fd = fds[0];
	if (wait_text(fds[0], ready))
		return pid;
	close(fds[0]);
	waitpid(pid, NULL, 0);
	return 0;
}

static struct bpf_link *attach(struct bpf_object *object, const char *name)
{
	struct bpf_program *program = name ? bpf_object__find_program_by_name(object, name) : NULL;
	struct bpf_link *link = program ? bpf_program__attach(program) : NULL;

	if (name && !link) {
		fprintf(stderr, "icount: cannot attach %s\n", name);
		exit(1);
	}
	return link;
}

static struct bpf_object *load(const char *path, const struct way *way)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		const char *name = bpf_program__name(program);

		bpf_program__set_autoload(program,
					  (way->first && !strcmp(name, way->first)) ||
						  (way->second && !strcmp(name, way->second)));
	}
	if (bpf_object__load(object))
		exit(1);
	return object;
}

static void measure(const struct way *way, const char *ebql, const char *path, const char *bpftrace)
{
	const char *const query[] = { ebql, "--verbose", way->query, NULL };
	const char *const script[] = { bpftrace, "-e", way->script, NULL };
	struct bpf_object *object = way->first ? load(path, way) : NULL;
	struct bpf_link *first = NULL, *second = NULL;
	double read_before, other_before, read_with, other_with;
	pid_t pid = 0;
	int fd = -1;

	if (way->script && !bpftrace)
		return;
	read_before = calls(SYS_read);
	other_before = calls(SYS_getppid);
	if (object) {
		first = attach(object, way->first);
		second = attach(object, way->second);
	} else {
		pid = start(way->query ? query : script, way->query ? "attached:" : "Attach", &fd);
		if (!pid) {
			printf("| %s | does not run here | |\n", way->name);
			return;
		}
		sleep(1);
	}
	read_with = calls(SYS_read);
	other_with = calls(SYS_getppid);
	printf("| %s | %.0f | %.0f |\n", way->name, read_with - read_before,
	       other_with - other_before);
	fflush(stdout);
	bpf_link__destroy(second);
	bpf_link__destroy(first);
	bpf_object__close(object);
	if (pid) {
		kill(pid, SIGINT);
		waitpid(pid, NULL, 0);
		close(fd);
	}
	sleep(1);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	printf("| no program at all: the call itself | %.0f | %.0f |\n", calls(SYS_read),
	       calls(SYS_getppid));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		measure(&ways[i], argv[1], argv[2], argc > 3 ? argv[3] : NULL);
	return 0;
}
