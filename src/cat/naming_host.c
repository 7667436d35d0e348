/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers that this host gives names: users and groups, ports, and disks.  They are looked up as
 * they are shown; a name is asked for again after a second, and kept where it is gone meanwhile.
 */
#include "cat/internal.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <grp.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- What is known --- */

#define N_KNOWN	     1024u /* a number's place is its own, until another's takes it */
#define KNOWN_FOR_NS 1000000000ull

struct known {
	const struct naming *naming;
	s64 number;
	u64 until_ns;
	char *name; /* NULL: it has none */
};

static struct known known[N_KNOWN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *naming_known(const struct naming *naming, s64 x, char *room,
			 const char *(*look_up)(s64 x, char *room))
{
	struct known *k = &known[((u64)x + (u64)(uintptr_t)naming / 8) % N_KNOWN];
	u64 now_ns = base_monotonic_ns();
	const char *name;

	pthread_mutex_lock(&lock);
	if (k->naming != naming || k->number != x || k->until_ns < now_ns) {
		bool is_other = k->naming != naming || k->number != x;

		name = look_up(x, room);
		if (name || is_other) {
			free(k->name);
			k->name = name ? strdup(name) : NULL;
		}
		k->naming = naming;
		k->number = x;
		k->until_ns = now_ns + KNOWN_FOR_NS;
	}
	if (k->name)
		snprintf(room, NAMING_BYTES, "%s", k->name);
	name = k->name ? room : NULL;
	pthread_mutex_unlock(&lock);
	return name;
}

/* --- Users and groups --- */

/* An entry of either, as its data base has it: a group's members may be many. */
#define ENTRY_BYTES 65536u

static const char *look_up_user(s64 x, char *room)
{
	struct passwd entry, *found = NULL;
	char *bytes = malloc(ENTRY_BYTES);

	if (bytes && getpwuid_r((uid_t)x, &entry, bytes, ENTRY_BYTES, &found) == 0 && found)
		snprintf(room, NAMING_BYTES, "%s", found->pw_name);
	free(bytes);
	return found ? room : NULL;
}

static const char *look_up_group(s64 x, char *room)
{
	struct group entry, *found = NULL;
	char *bytes = malloc(ENTRY_BYTES);

	if (bytes && getgrgid_r((gid_t)x, &entry, bytes, ENTRY_BYTES, &found) == 0 && found)
		snprintf(room, NAMING_BYTES, "%s", found->gr_name);
	free(bytes);
	return found ? room : NULL;
}

static const char *name_of_user(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	return *x < 0 || *x >= UINT32_MAX ? NULL : naming_known(naming, *x, room, look_up_user);
}

static const char *name_of_group(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	return *x < 0 || *x >= UINT32_MAX ? NULL : naming_known(naming, *x, room, look_up_group);
}

/* The entry that `name` has, if it is the one that its number is shown by. */
static u32 shown_as(const struct naming *naming, s64 number, const char *name)
{
	char room[NAMING_BYTES];
	const char *shown = naming->name_of(naming, &number, 1, room);

	return shown && strcmp(shown, name) == 0;
}

/* As suggest_offer() of a name that does not stay: the best so far is in `nearest`. */
static void offer(struct suggest *suggest, const char *name, char nearest[NAMING_BYTES])
{
	u32 before = suggest->best_distance;

	suggest_offer(suggest, name);
	if (suggest->best_distance == before)
		return;
	snprintf(nearest, NAMING_BYTES, "%s", name);
	suggest->best = nearest;
}

static u32 numbers_of_user(const struct naming *naming, const char *name, s64 *ret_numbers,
			   struct suggest *suggest)
{
	static _Thread_local char nearest[NAMING_BYTES];
	struct passwd entry, *found = NULL;
	char *bytes = malloc(ENTRY_BYTES);

	if (bytes && getpwnam_r(name, &entry, bytes, ENTRY_BYTES, &found) == 0 && found)
		*ret_numbers = found->pw_uid;
	free(bytes);
	if (found)
		return shown_as(naming, *ret_numbers, name);
	pthread_mutex_lock(&lock);
	setpwent();
	while ((found = getpwent()))
		offer(suggest, found->pw_name, nearest);
	endpwent();
	pthread_mutex_unlock(&lock);
	return 0;
}

static u32 numbers_of_group(const struct naming *naming, const char *name, s64 *ret_numbers,
			    struct suggest *suggest)
{
	static _Thread_local char nearest[NAMING_BYTES];
	struct group entry, *found = NULL;
	char *bytes = malloc(ENTRY_BYTES);

	if (bytes && getgrnam_r(name, &entry, bytes, ENTRY_BYTES, &found) == 0 && found)
		*ret_numbers = found->gr_gid;
	free(bytes);
	if (found)
		return shown_as(naming, *ret_numbers, name);
	pthread_mutex_lock(&lock);
	setgrent();
	while ((found = getgrent()))
		offer(suggest, found->gr_name, nearest);
	endgrent();
	pthread_mutex_unlock(&lock);
	return 0;
}

/* --- Ports --- */

/* The first entry of /etc/services, by TCP or UDP. */
static const char *look_up_port(s64 x, char *room)
{
	struct servent entry, *found = NULL;
	char *bytes = malloc(ENTRY_BYTES);

	if (bytes &&
	    getservbyport_r(htons((u16)x), NULL, &entry, bytes, ENTRY_BYTES, &found) == 0 && found)
		snprintf(room, NAMING_BYTES, "%s", found->s_name);
	free(bytes);
	return found ? room : NULL;
}

static const char *name_of_port(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	return *x < 0 || *x > UINT16_MAX ? NULL : naming_known(naming, *x, room, look_up_port);
}

/* One service may have several ports. */
static u32 numbers_of_port(const struct naming *naming, const char *name, s64 *ret_numbers,
			   struct suggest *suggest)
{
	static _Thread_local char nearest[NAMING_BYTES];
	const struct servent *entry;
	s64 ports[NAMING_NUMBERS];
	u32 n = 0, n_shown = 0;

	pthread_mutex_lock(&lock);
	setservent(1);
	while ((entry = getservent())) {
		s64 port = ntohs((u16)entry->s_port);
		bool is_new = strcmp(entry->s_name, name) == 0 && n < NAMING_NUMBERS;

		offer(suggest, entry->s_name, nearest);
		for (u32 i = 0; i < n; i++)
			is_new &= ports[i] != port;
		if (is_new)
			ports[n++] = port;
	}
	endservent();
	pthread_mutex_unlock(&lock);
	for (u32 i = 0; i < n; i++)
		if (shown_as(naming, ports[i], name))
			ret_numbers[n_shown++] = ports[i];
	return n_shown;
}

/* --- Disks --- */

/* "/sys/dev/block/8:16" leads to ".../block/sdb". */
static const char *look_up_disk(s64 x, char *room)
{
	char link[64], path[NAMING_BYTES], *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", (u32)(x >> 20), (u32)x & 0xfffff);
	n = readlink(link, path, sizeof(path) - 1);
	path[MAX(n, 0)] = '\0';
	name = strrchr(path, '/');
	if (!name)
		return NULL;
	snprintf(room, NAMING_BYTES, "%s", name + 1);
	return room;
}

static const char *name_of_disk(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	const char *name =
		*x < 0 || *x > UINT32_MAX ? NULL : naming_known(naming, *x, room, look_up_disk);

	return name ?: naming_device.name_of(&naming_device, x, n, room);
}

static u32 numbers_of_disk(const struct naming *naming, const char *name, s64 *ret_numbers,
			   struct suggest *suggest)
{
	static _Thread_local char nearest[NAMING_BYTES];
	DIR *folder = opendir("/sys/class/block");
	struct dirent *entry;
	char path[300];
	u32 major, minor, n = 0;
	FILE *file;

	while (folder && (entry = readdir(folder))) {
		offer(suggest, entry->d_name, nearest);
		if (strcmp(entry->d_name, name) != 0 || entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/block/%s/dev", name);
		file = fopen(path, "re");
		n = file && fscanf(file, "%u:%u", &major, &minor) == 2;
		if (file)
			fclose(file);
		if (n)
			*ret_numbers = (s64)major << 20 | minor;
	}
	if (folder)
		closedir(folder);
	if (!n && naming_device.numbers_of(&naming_device, name, ret_numbers, suggest))
		n = shown_as(naming, *ret_numbers, name); /* of one that is gone */
	return n;
}

const struct naming naming_disk = { .name = "disk_name",
				    .name_of = name_of_disk,
				    .example = "sda",
				    .numbers_of = numbers_of_disk };
const struct naming naming_user = { .name = "user_name",
				    .name_of = name_of_user,
				    .example = "root",
				    .numbers_of = numbers_of_user };
const struct naming naming_group = { .name = "group_name",
				     .name_of = name_of_group,
				     .example = "root",
				     .numbers_of = numbers_of_group };
const struct naming naming_port = { .name = "port_name",
				    .name_of = name_of_port,
				    .example = "ssh",
				    .numbers_of = numbers_of_port };
