/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The terminal that we inherited, opened anew.
 */
#ifndef EBQL_HOST_TERMINAL_H
#define EBQL_HOST_TERMINAL_H

/*
 * A descriptor by which nothing waits (O_NONBLOCK, which on what we inherited would be everybody's)
 * of the terminal that fd is; mode: O_RDONLY, O_WRONLY.  Or -1, with errno.
 */
int terminal_open(int fd, int mode);

#endif
