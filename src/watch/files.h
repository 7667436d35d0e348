/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files and directories that the user named -> the paths of the queries in them, and when to look
 * anew.  What inotify tells is only a hint to look, but for one thing: which files are just being
 * written, and are not to be read before they are closed.
 */
#ifndef EBQL_WATCH_FILES_H
#define EBQL_WATCH_FILES_H

#include "base/base.h"

struct watch_files;

/*
 * paths ends with NULL; wants_changes: files_fd() tells them.  NULL: no memory.  Where there is no
 * inotify a warning says so.
 */
struct watch_files *files_open(char *const *paths, bool wants_changes);
void files_close(struct watch_files *files);
/* To be polled for reading; -1: none. */
int files_fd(const struct watch_files *files);
/* Takes what has been told; true: it is time for files_each(). */
bool files_read(struct watch_files *files);
/*
 * Calls found() for each file that is there now: those named, and those of the directories called
 * NAME.sql, in the order of their names; hidden ones are none.  How many of those named are not
 * there, and the first of them.
 */
u32 files_each(struct watch_files *files, void (*found)(void *context, const char *path),
	       void *context, const char **ret_missing);
/* Is somebody writing that file, so that files_read() will be true once more? */
bool files_is_written(const struct watch_files *files, u64 device, u64 inode);
/* Of some that were written no end is told, as of truncate(2). */
void files_forget_written(struct watch_files *files);

#endif
