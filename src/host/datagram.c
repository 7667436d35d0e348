/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Datagrams to local sockets.
 */
#include "host/datagram.h"

#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SEND_MS 100

bool datagram_send(const char *path, const char *bytes, size_t n)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t length = strlen(path);
	struct pollfd fd;
	bool is_sent;

	if (!length || length >= sizeof(to.sun_path))
		return false;
	memcpy(to.sun_path, path, length);
	if (*path == '@')
		to.sun_path[0] = '\0';
	fd = (struct pollfd){ socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
			      POLLOUT };
	if (fd.fd < 0)
		return false;
	is_sent = connect(fd.fd, (const struct sockaddr *)&to,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0 &&
		  poll(&fd, 1, SEND_MS) == 1 && send(fd.fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n;
	close(fd.fd);
	return is_sent;
}
