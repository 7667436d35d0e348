/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A path -> a descriptor to write to, unless what stands there is another's or another's name
 * for it.
 */
#include "host/written.h"
#include "host/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/sys.h"

/* Where everybody may place files, as in /tmp. */
static bool is_shared(const char *path, const struct stat *file)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
		 slash ? path : ".");
	return stat(folder, &st) < 0 ||
	       ((st.st_mode & S_ISVTX) && (st.st_mode & (S_IWGRP | S_IWOTH)) &&
		file->st_uid != st.st_uid);
}

/* Who can write there could say that others did what they did not. */
static struct stat guarded;

void written_guard(int fd)
{
	if (fd < 0 || fstat(fd, &guarded) < 0 || S_ISCHR(guarded.st_mode))
		guarded = (struct stat){ 0 };
}

/*
 * NULL: it may be written.  What the kernel refuses with fs.protected_regular and
 * protected_hardlinks, which may be off: another user placed the file, to have it written over,
 * or the name, to have a file of ours written over.
 */
static const char *refuse_file(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return strerror(errno);
	if (guarded.st_ino && st.st_dev == guarded.st_dev && st.st_ino == guarded.st_ino)
		return "the audit stands there (--audit)";
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		return "the file has another name, too: it is not written over";
	if (st.st_uid != geteuid() && is_shared(path, &st))
		return "is another user's, in a directory that is everybody's";
	return NULL;
}

/* A FIFO that is read too waits for no reader, and survives him. */
static int open_log(const char *path)
{
	struct stat st;
	bool is_fifo = lstat(path, &st) == 0 && S_ISFIFO(st.st_mode);
	int flags = (is_fifo ? O_RDWR : O_WRONLY | O_CREAT) | O_APPEND | O_NOFOLLOW | O_CLOEXEC;

	return open(path, flags | O_NONBLOCK, 0666);
}

/* Of a FIFO when it has a reader, unless ^C comes before him. */
static int open_output(const char *path)
{
	struct signals key;
	int fd;

	signals_let_in(&key);
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	signals_give_back(&key);
	return fd;
}

static const char *why_not_open(const char *path)
{
	if (errno != ELOOP)
		return strerror(errno);
	return strncmp(path, "/dev/std", 8) == 0
		       ? "is a link: -O - is standard output, others write to files"
		       : "is a link: name the file itself";
}

int written_open_as_it_is(const char *path, bool is_log, const char **ret_why)
{
	int fd;

	if (strcmp(path, "-") == 0) {
		*ret_why = "no file is called so here: ./- is one";
		return -1;
	}
	fd = is_log ? open_log(path) : open_output(path);
	*ret_why = fd < 0 ? why_not_open(path) : refuse_file(fd, path);
	if (fd >= 0 && *ret_why)
		sys_close(&fd);
	return fd;
}

int written_empty(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 || (S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0) ? -errno : 0;
}

int written_open(const char *path, bool is_log, const char **ret_why)
{
	int fd = written_open_as_it_is(path, is_log, ret_why), error;

	error = fd >= 0 && !is_log ? written_empty(fd) : 0;
	if (!error)
		return fd;
	*ret_why = strerror(-error);
	close(fd);
	return -1;
}

void written_end_line(int fd)
{
	char path[32], last = '\n';
	struct stat st;
	int file;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	/* It is open for writing only, and may be readable to nobody: then nothing is known. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	/* Where there is no room, what comes fails, too, and says so. */
	if (pread(file, &last, 1, st.st_size - 1) == 1 && last != '\n' && write(fd, "\n", 1) < 0)
		errno = 0;
	close(file);
}
