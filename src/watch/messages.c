/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * stderr, the variable, is a stream whose bytes go to an output with a thread.  Each call of stdio
 * that prints hands over one piece, which is taken whole or left away and counted.
 */
#include "watch/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	struct output *output;
	FILE *before;
	unsigned int n_unwritten;
} messages;

/* Of those that had no room, or were lost behind that: a line, if there are some. */
static void put_unwritten(struct buf *buf)
{
	int error;
	u64 n = output_take_lost(messages.output, &error);

	if (n)
		buf_printf(buf, "\nebql: up to %llu bytes of messages before this are lost: %s\n",
			   (unsigned long long)n, strerror(error));
	if (messages.n_unwritten)
		buf_printf(buf, "ebql: %u messages before this took no room here\n",
			   messages.n_unwritten);
	messages.n_unwritten = 0;
}

/* Under the stream's lock: from any thread. */
static ssize_t take(void *context, const char *bytes, size_t n)
{
	struct buf buf;

	if (!output_has_room(messages.output)) {
		messages.n_unwritten += n > 0;
		return (ssize_t)n;
	}
	buf_init(&buf);
	put_unwritten(&buf);
	buf_put(&buf, bytes, n);
	/* Who closed it does not want to know. */
	if (buf.n)
		output_put(messages.output, &buf);
	buf_free(&buf);
	return (ssize_t)n;
}

bool messages_are_missing(void)
{
	return __atomic_load_n(&messages.n_unwritten, __ATOMIC_RELAXED) > 0;
}

void messages_step(void)
{
	if (!messages.output)
		return;
	flockfile(stderr);
	if (messages.n_unwritten)
		take(NULL, "", 0);
	funlockfile(stderr);
}

int messages_open(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	FILE *stream;

	/* It is closed: nobody wants them. */
	if (fd < 0)
		return errno == EBADF ? 0 : -errno;
	messages.output = output_open(fd, "standard error");
	if (messages.output)
		output_outlive_full(messages.output);
	stream = messages.output ? fopencookie(NULL, "w", (cookie_io_functions_t){ .write = take })
				 : NULL;
	if (!stream)
		return -ENOMEM;
	setvbuf(stream, NULL, _IONBF, 0);
	messages.before = stderr;
	stderr = stream;
	return 0;
}

struct output *messages_output(void)
{
	return messages.output;
}

void messages_close(const struct cancel *cancel)
{
	if (!messages.output)
		return;
	if (output_drain(messages.output, cancel)) {
		take(NULL, "", 0);
		output_drain(messages.output, cancel);
	}
	/* The stream stays: a thread that was late may still print there. */
	if (messages.before)
		stderr = messages.before;
}
