/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that ebql keeps of its own: a shell's history, a machine's costs.
 */
#ifndef EBQL_CLI_STATE_H
#define EBQL_CLI_STATE_H

#include <stdio.h>

struct state_file {
	FILE *file;
	int folder_fd;
	const char *name;
	char new[64];
};

/*
 * A new file beside `path`, which is absolute; folders that are not there are made, for their
 * owner only.  No link and no pipe that stands there is written through.  0; or -errno, and
 * there is nothing to end.
 */
int state_begin(struct state_file *state, const char *path);
/* Could it be begun?  0 or -errno; no file is left behind. */
int state_try(const char *path);
/* It takes the place of the old one; with an error it goes.  0 or -errno. */
int state_end(struct state_file *state, int error);

#endif
