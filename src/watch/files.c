/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * inotify: of each directory named, of those that files named stand in, also through links, and of
 * the nearest one that is there of what is yet to come.
 */
#include "watch/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/vec.h"
#include "host/host.h"

#define EVENTS                                                                                     \
	(IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM |          \
	 IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)

#define COMINGS                                                                                    \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
#define WRITTEN_MAX 64

struct folder {
	int wd;
	char *path; /* NULL: there was no memory */
};

struct written {
	u64 device, inode;
};

struct watch_files {
	struct arena arena;
	int fd;
	char *const *paths;
	VEC(struct folder) folders;
	/* The latest; one that went away unseen is never taken out. */
	struct written written[WRITTEN_MAX];
	u32 n_written;
	bool is_told; /* that inotify has no room */
};

struct watch_files *files_open(char *const *paths, bool wants_changes)
{
	struct watch_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	arena_init(&files->arena);
	files->paths = paths;
	files->fd = wants_changes ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
	if (files->fd < 0 && wants_changes)
		fprintf(stderr, "ebql: watch: no inotify (%s): SIGHUP makes it look for changes\n",
			strerror(errno));
	return files;
}

void files_close(struct watch_files *files)
{
	if (!files)
		return;
	if (files->fd >= 0)
		close(files->fd);
	for (u32 i = 0; i < files->folders.n; i++)
		free(files->folders.at[i].path);
	arena_free(&files->arena);
	free(files);
}

int files_fd(const struct watch_files *files)
{
	return files->fd;
}

/* --- Directories --- */

static struct folder *find_folder(struct watch_files *files, int wd)
{
	for (u32 i = 0; i < files->folders.n; i++)
		if (files->folders.at[i].wd == wd)
			return &files->folders.at[i];
	return NULL;
}

/* false: it is not there. */
static bool watch_folder(struct watch_files *files, const char *path, u32 events)
{
	int wd = files->fd < 0
			 ? -1
			 : inotify_add_watch(files->fd, path, events | IN_ONLYDIR | IN_MASK_ADD);
	struct folder *folder;

	if (wd < 0) {
		if (files->fd >= 0 && errno == ENOSPC && !files->is_told) {
			fputs("ebql: watch: not all changes are seen, SIGHUP makes it look: "
			      "fs.inotify.max_user_watches is too low\n",
			      stderr);
			files->is_told = true;
			errno = ENOSPC;
		}
		return errno != ENOENT && errno != ENOTDIR;
	}
	folder = find_folder(files, wd);
	/* The same directory by another path; or one that was renamed, and made anew. */
	if (folder && folder->path && strcmp(folder->path, path) == 0)
		return true;
	if (!folder) {
		vec_push(&files->arena, &files->folders, (struct folder){ .wd = wd });
		folder = &files->folders.at[files->folders.n - 1];
	}
	/* One that is read by two paths has another one each time. */
	free(folder->path);
	folder->path = strdup(path);
	return true;
}

/* The directory that the path stands in, else the nearest one above that is there. */
static void watch_above(struct watch_files *files, const char *path, u32 events)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	do {
		slash = strrchr(folder, '/');
		if (slash > folder)
			*slash = '\0';
		else
			strcpy(folder, slash ? "/" : ".");
	} while (!watch_folder(files, folder, events) && slash && slash > folder);
}

/* Where a link leads, changes are seen too. */
static void watch_target(struct watch_files *files, const char *path)
{
	char target[PATH_MAX];
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && realpath(path, target))
		watch_above(files, target, EVENTS);
}

/* --- What inotify tells --- */

static void set_written(struct watch_files *files, const struct stat *st, bool is_written)
{
	struct written *at = files->written;
	u32 i = 0;

	while (i < files->n_written && (at[i].device != st->st_dev || at[i].inode != st->st_ino))
		i++;
	if (is_written && i == files->n_written) {
		if (i == WRITTEN_MAX)
			memmove(at, at + 1, --files->n_written * sizeof(*at));
		at[files->n_written++] = (struct written){ st->st_dev, st->st_ino };
	} else if (!is_written && i < files->n_written) {
		memmove(&at[i], &at[i + 1], (--files->n_written - i) * sizeof(*at));
	}
}

/* false: nothing that matters. */
static bool take_event(struct watch_files *files, const struct inotify_event *event)
{
	struct folder *folder = find_folder(files, event->wd);
	char path[PATH_MAX];
	struct stat st;

	if (event->mask & IN_Q_OVERFLOW)
		files->n_written = 0;
	if (!folder)
		return true;
	if (event->mask & (IN_IGNORED | IN_MOVE_SELF)) {
		if (event->mask & IN_MOVE_SELF)
			inotify_rm_watch(files->fd, event->wd);
		free(folder->path);
		*folder = files->folders.at[--files->folders.n];
		return true;
	}
	if (!event->len || !folder->path ||
	    snprintf(path, sizeof(path), "%s/%s", folder->path, event->name) >= (int)sizeof(path))
		return true;
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return true;
	/* One that was made empty will be closed. */
	if (event->mask & IN_MODIFY ||
	    (event->mask & IN_CREATE && !st.st_size && st.st_nlink == 1)) {
		set_written(files, &st, true);
		return false;
	}
	/* Who moves a file into its place, or gives it a name there, has written it. */
	if (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE))
		set_written(files, &st, false);
	return true;
}

bool files_read(struct watch_files *files)
{
	_Alignas(struct inotify_event) char bytes[4096];
	bool is_due = false;
	ssize_t n;

	while (files->fd >= 0 && (n = read(files->fd, bytes, sizeof(bytes))) > 0) {
		const struct inotify_event *event;

		for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*event) + event->len)) {
			event = (const void *)(bytes + at);
			is_due |= take_event(files, event);
		}
	}
	return is_due;
}

void files_forget_written(struct watch_files *files)
{
	files->n_written = 0;
}

bool files_is_written(const struct watch_files *files, u64 device, u64 inode)
{
	for (u32 i = 0; i < files->n_written; i++)
		if (files->written[i].device == device && files->written[i].inode == inode)
			return true;
	return false;
}

/* --- What is there --- */

static int is_query(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return entry->d_name[0] != '.' && n > 4 && strcmp(entry->d_name + n - 4, ".sql") == 0;
}

static bool look(struct watch_files *files, const char *path,
		 void (*found)(void *context, const char *path), void *context)
{
	char name[PATH_MAX];
	struct dirent **entries;
	struct stat st;
	int n;

	n = stat(path, &st);
	/* Of a directory it matters only that it comes and goes. */
	watch_above(files, path, n == 0 && S_ISDIR(st.st_mode) ? COMINGS : EVENTS);
	watch_target(files, path);
	if (n < 0)
		return false;
	if (!S_ISDIR(st.st_mode)) {
		found(context, path);
		return true;
	}
	watch_folder(files, path, EVENTS);
	n = scandir(path, &entries, is_query, alphasort);
	if (n < 0) {
		tell_failed(path, errno);
		return true;
	}
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%s%s", path,
			 path[strlen(path) - 1] == '/' ? "" : "/", entries[i]->d_name);
		watch_target(files, name);
		if (stat(name, &st) == 0 && !S_ISDIR(st.st_mode))
			found(context, name);
		free(entries[i]);
	}
	free(entries);
	return true;
}

u32 files_each(struct watch_files *files, void (*found)(void *context, const char *path),
	       void *context, const char **ret_missing)
{
	u32 n_missing = 0;

	for (u32 i = 0; files->paths[i]; i++)
		if (!look(files, files->paths[i], found, context) && !n_missing++)
			*ret_missing = files->paths[i];
	return n_missing;
}
