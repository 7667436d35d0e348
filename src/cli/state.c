/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file is written by way of another, so that who dies leaves the old one or the new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/state.h"

static int make_folder(const char *path)
{
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

/* -errno of the first that could not be made, which is why the last one may not be there. */
static int make_folders(char *path)
{
	int error = 0, one;

	for (char *at = path; (at = strchr(at + 1, '/')); *at = '/') {
		*at = '\0';
		one = make_folder(path);
		error = error ? error : one;
	}
	one = make_folder(path);
	return error ? error : one;
}

int state_begin(struct state_file *state, const char *path)
{
	/* A user's links are his own; root may be sent to a folder of somebody else. */
	const int no_link = geteuid() ? 0 : O_NOFOLLOW;
	char folder[PATH_MAX];
	int fd, error;

	state->name = strrchr(path, '/') + 1;
	if ((size_t)snprintf(folder, sizeof(folder), "%.*s", (int)(state->name - 1 - path), path) >=
	    sizeof(folder))
		return -ENAMETOOLONG;
	error = make_folders(folder);
	state->folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC | no_link);
	if (state->folder_fd < 0)
		return errno == ENOENT && error ? error : -errno;
	snprintf(state->new, sizeof(state->new), "%s.%d", state->name, (int)getpid());
	unlinkat(state->folder_fd, state->new, 0); /* of one that died, or a link */
	fd = openat(state->folder_fd, state->new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	state->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (state->file)
		return 0;
	error = -errno;
	if (fd >= 0)
		close(fd);
	close(state->folder_fd);
	return error;
}

int state_try(const char *path)
{
	struct state_file state;
	int error = state_begin(&state, path);

	if (!error)
		state_end(&state, -ECANCELED);
	return error;
}

int state_end(struct state_file *state, int error)
{
	if (fclose(state->file) && !error)
		error = -errno;
	if (!error && renameat(state->folder_fd, state->new, state->folder_fd, state->name))
		error = -errno;
	if (error)
		unlinkat(state->folder_fd, state->new, 0);
	close(state->folder_fd);
	return error;
}
