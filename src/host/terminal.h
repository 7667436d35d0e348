/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The terminal that we inherited, opened anew.
 */
#ifndef EBQL_HOST_TERMINAL_H
#define EBQL_HOST_TERMINAL_H

/*
 * A descriptor of the terminal that fd is; mode: O_RDONLY, O_WRONLY.  By it nothing waits
 * (O_NONBLOCK, which on what we inherited would be everybody's), unless nobody lets us open it.
 */
int terminal_open(int fd, int mode);

#endif
