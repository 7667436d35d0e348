/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * flood LOAD N: makes the events of a load N times, and nothing else (bench/predict).
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char byte;

static void must(long result)
{
	if (result < 0) {
		perror("flood");
		exit(1);
	}
}

static void make_preads(long n)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (long i = 0; i < n; i++)
		must(pread(fd, &byte, 1, i & 1023));
}

static void make_other_calls(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* Each datagram is taken again by who sent it. */
static void make_datagrams(long n)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t bytes = sizeof(to);

	must(bind(fd, (struct sockaddr *)&to, sizeof(to)));
	must(getsockname(fd, (struct sockaddr *)&to, &bytes));
	for (long i = 0; i < n; i++) {
		must(sendto(fd, &byte, 1, 0, (struct sockaddr *)&to, sizeof(to)));
		must(recv(fd, &byte, 1, 0));
	}
}

static void exchange(int in, int out, long n, int begins)
{
	for (long i = 0; i < n; i++) {
		if (begins)
			must(write(out, &byte, 1));
		must(read(in, &byte, 1));
		if (!begins)
			must(write(out, &byte, 1));
	}
}

/* Two processes on one CPU wake each other up. */
static void make_switches(long n)
{
	int there[2], back[2];
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET((size_t)sched_getcpu(), &cpu);
	must(sched_setaffinity(0, sizeof(cpu), &cpu));
	must(pipe(there));
	must(pipe(back));
	if (!fork()) {
		exchange(there[0], back[1], n, 0);
		_exit(0);
	}
	exchange(back[0], there[1], n, 1);
	wait(NULL);
}

static void make_faults(long n)
{
	const long pages = 256, bytes = pages * 4096;
	char *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, (size_t)bytes, MADV_NOHUGEPAGE);
	for (long i = 0; i < n; i++) {
		memory[i % pages * 4096] = 1;
		if (i % pages == pages - 1)
			must(madvise(memory, (size_t)bytes, MADV_DONTNEED));
	}
}

static char *(*volatile function)(const char *) = basename;

static void call_function(long n)
{
	for (long i = 0; i < n; i++)
		function("a");
}

static void open_files(long n)
{
	for (long i = 0; i < n; i++) {
		int fd = open("/dev/null", O_WRONLY);

		must(write(fd, &byte, 1));
		must(close(fd));
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(long n);
	} loads[] = {
		{ "pread", make_preads },     { "others", make_other_calls },
		{ "sendto", make_datagrams }, { "switches", make_switches },
		{ "faults", make_faults },    { "function", call_function },
		{ "files", open_files },
	};

	for (size_t i = 0; argc == 3 && i < sizeof(loads) / sizeof(*loads); i++)
		if (strcmp(argv[1], loads[i].name) == 0) {
			loads[i].make(atol(argv[2]));
			return 0;
		}
	fputs("usage: flood LOAD N\n", stderr);
	return 2;
}
