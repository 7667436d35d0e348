/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A cgroup's id (version 2) -> its path below the mount, and the container that a path tells.  The
 * tree is walked where an id is not known, a tenth of the time at most: on 64-bit kernels the
 * number of a cgroup's folder is its id (kernfs_ino()).  Ids are given once, so paths of cgroups
 * that have ended stay known.
 */
#include "cat/internal.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATHS_MAX 65536u /* then they are forgotten, but for those that are there */
#define DEPTH_MAX 64u
#define WALK_EACH 10u /* times what a walk takes */

static struct {
	struct path {
		u64 id;
		char *path;
	} * list;
	u32 n, room;
	u64 next_walk_ns;
} known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Where the hierarchy of version 2 is mounted; false: nowhere. */
static bool find_mount(char mount[NAMING_BYTES])
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	bool is_found = false;
	char *line = NULL;
	size_t n = 0;

	while (file && !is_found && getline(&line, &n, file) > 0)
		is_found = strstr(line, " - cgroup2 ") &&
			   sscanf(line, "%*s %*s %*s %*s %4000s", mount) == 1;
	free(line);
	if (file)
		fclose(file);
	return is_found;
}

/* NULL: it is not known. */
static struct path *find(u64 id)
{
	for (u32 i = 0; i < known.n; i++)
		if (known.list[i].id == id)
			return &known.list[i];
	return NULL;
}

static void add(u64 id, const char *path)
{
	struct path *more;

	if (find(id))
		return;
	if (known.n == known.room) {
		more = realloc(known.list, (2 * known.room + 64) * sizeof(*more));
		if (!more)
			return;
		known.list = more;
		known.room = 2 * known.room + 64;
	}
	known.list[known.n] = (struct path){ id, strdup(path) };
	known.n += known.list[known.n].path != NULL;
}

/* path: of the folder below the mount; it comes back as it was. */
static void walk(const char *mount, char path[NAMING_BYTES], u32 depth)
{
	size_t n = strlen(path);
	char full[2 * NAMING_BYTES];
	struct dirent *entry;
	DIR *folder;

	snprintf(full, sizeof(full), "%s%s", mount, path);
	folder = opendir(full);
	while (folder && (entry = readdir(folder))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(path + n, NAMING_BYTES - n, "/%s", entry->d_name);
		add(entry->d_ino, path);
		if (depth < DEPTH_MAX)
			walk(mount, path, depth + 1);
		path[n] = '\0';
	}
	if (folder)
		closedir(folder);
}

static void forget(void)
{
	for (u32 i = 0; i < known.n; i++)
		free(known.list[i].path);
	known.n = 0;
}

static const char *name_of_cgroup(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	u64 now_ns = base_monotonic_ns();
	char mount[NAMING_BYTES], path[NAMING_BYTES] = "";
	const struct path *found;
	struct stat root;

	pthread_mutex_lock(&lock);
	if (!find((u64)*x) && now_ns >= known.next_walk_ns && find_mount(mount) &&
	    stat(mount, &root) == 0) {
		if (known.n > PATHS_MAX)
			forget();
		add(root.st_ino, "/");
		walk(mount, path, 0);
		known.next_walk_ns =
			base_monotonic_ns() + WALK_EACH * (base_monotonic_ns() - now_ns);
	}
	found = find((u64)*x);
	if (found)
		snprintf(room, NAMING_BYTES, "%s", found->path);
	pthread_mutex_unlock(&lock);
	return found ? room : NULL;
}

static u32 numbers_of_cgroup(const struct naming *naming, const char *name, s64 *ret_numbers,
			     struct suggest *suggest)
{
	char mount[NAMING_BYTES], full[2 * NAMING_BYTES];
	struct stat stat_of;

	if (name[0] != '/' || strstr(name, "//") || strstr(name, "/.") ||
	    (name[1] && name[strlen(name) - 1] == '/') || !find_mount(mount))
		return 0;
	snprintf(full, sizeof(full), "%s%s", mount, name);
	if (stat(full, &stat_of) || !S_ISDIR(stat_of.st_mode))
		return 0;
	*ret_numbers = (s64)stat_of.st_ino;
	return 1;
}

/* The id that one part of a path tells, as of "docker-ID.scope", or ID alone; 0: none. */
static size_t id_in(const char *part, size_t n, const char **ret_id)
{
	size_t start = 0, digits = 0;

	if (n > 6 && strncmp(part + n - 6, ".scope", 6) == 0)
		n -= 6;
	for (size_t i = 0; i < n; i++)
		if (part[i] == '-' || part[i] == ':')
			start = i + 1;
	while (start + digits < n && isxdigit((u8)part[start + digits]) &&
	       !isupper((u8)part[start + digits]))
		digits++;
	*ret_id = part + start;
	return start + digits == n && (digits == 64 || digits == 12) ? digits : 0;
}

static const char *name_of_container(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	const char *path = name_of_cgroup(naming, x, n, room), *id, *found = NULL;
	size_t digits, length = 0;

	/* The innermost, of containers in each other. */
	for (const char *at = path; at && *at; at += strcspn(at, "/")) {
		at += strspn(at, "/");
		digits = id_in(at, strcspn(at, "/"), &id);
		if (digits) {
			found = id;
			length = digits;
		}
	}
	if (!found)
		return NULL;
	memmove(room, found, length);
	room[length] = '\0';
	return room;
}

const struct naming naming_cgroup = { .name = "cgroup_path",
				      .name_of = name_of_cgroup,
				      .example = "/system.slice/cron.service",
				      .numbers_of = numbers_of_cgroup };
const struct naming naming_container = { .name = "container_id",
					 .name_of = name_of_container,
					 .is_null_else = true };
