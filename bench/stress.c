/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Children, one on each CPU, that do all the time what the histograms of examples/histograms are
 * about: system calls, page faults, switches of threads, blocks written, connections.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define N_CHILDREN 2
#define BLOCK	   4096

static pid_t children[N_CHILDREN];

/* A connection to ourselves, over and done. */
static void connect_once(int listener)
{
	struct sockaddr_in address;
	socklen_t n = sizeof(address);
	int client = socket(AF_INET, SOCK_STREAM, 0), server;

	if (getsockname(listener, (struct sockaddr *)&address, &n) == 0 &&
	    connect(client, (struct sockaddr *)&address, n) == 0) {
		server = accept(listener, NULL, NULL);
		close(server);
	}
	close(client);
}

static void work(int cpu)
{
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	int listener = socket(AF_INET, SOCK_STREAM, 0), epoll = epoll_create1(0), word = 0;
	char path[] = "/var/tmp/ebql-bench-XXXXXX";
	int file = mkostemp(path, O_DIRECT);
	struct epoll_event event;
	void *block = NULL;

	pin_to_cpu(cpu);
	unlink(path);
	if (listen(listener, 8) || posix_memalign(&block, BLOCK, BLOCK))
		_exit(1);
	memset(block, 1, BLOCK);
	for (unsigned int i = 0;; i++) {
		char *page = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		int fd = open("/dev/null", O_WRONLY);

		if (read(zero, page, BLOCK) != BLOCK || write(null, page, BLOCK) != BLOCK)
			_exit(1);
		close(fd);
		munmap(page, BLOCK);
		epoll_wait(epoll, &event, 1, 0);
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
		if (i % 16 == 0)
			usleep(1);
		if (i % 64 == 0)
			connect_once(listener);
		/* Where the file system takes no such writes, it has no blocks either. */
		if (i % 256 == 0 && file >= 0 && pwrite(file, block, BLOCK, i % 1024 * BLOCK) < 0)
			file = -1;
	}
}

void stress_begin(void)
{
	for (int i = 0; i < N_CHILDREN; i++) {
		children[i] = fork();
		if (children[i] < 0)
			fail("cannot fork");
		if (children[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			work(i ? config.loop_cpu : config.other_cpu);
		}
	}
}

void stress_end(void)
{
	for (int i = 0; i < N_CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}
