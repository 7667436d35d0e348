/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A terminal's descriptor -> another one of it.
 */
#include "host/terminal.h"

#include <fcntl.h>
#include <stdio.h>

int terminal_open(int fd, int mode)
{
	const int flags = mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	char path[32];
	int terminal;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	terminal = open(path, flags);
	/* su leaves a terminal its old user's: this way in is that of a session. */
	if (terminal < 0)
		terminal = open("/dev/tty", flags);
	return terminal < 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : terminal;
}
