/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Flags of system calls, as this kind of machine numbers them: "O_RDWR|O_CLOEXEC", and what has no
 * name in hex.  A text stands for a number where it is what the number is shown as.
 */
#include "cat/internal.h"

#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of several bits that others have too first. */
struct flag {
	u64 bits;
	const char *name;
};

struct flags {
	u64 low; /* these bits are a number, and `lows` its names */
	const struct flag *lows;
	const struct flag *list;
	bool low_is_signal;
	const char *none; /* of 0 */
};

#define FLAG(name)                                                                                 \
	{                                                                                          \
		name, #name                                                                        \
	}
#define END                                                                                        \
	{                                                                                          \
		0, NULL                                                                            \
	}

static const struct flag open_lows[] = { FLAG(O_RDONLY), FLAG(O_WRONLY), FLAG(O_RDWR),
					 FLAG(O_ACCMODE), END };
static const struct flag open_list[] = { FLAG(O_CREAT),	    FLAG(O_EXCL),      FLAG(O_NOCTTY),
					 FLAG(O_TRUNC),	    FLAG(O_APPEND),    FLAG(O_NONBLOCK),
					 FLAG(O_SYNC),	    FLAG(O_DSYNC),     FLAG(FASYNC),
					 FLAG(O_DIRECT),    FLAG(O_LARGEFILE), FLAG(O_TMPFILE),
					 FLAG(O_DIRECTORY), FLAG(O_NOFOLLOW),  FLAG(O_NOATIME),
					 FLAG(O_CLOEXEC),   FLAG(O_PATH),      END };
static const struct flags open_flags = { O_ACCMODE, open_lows, open_list };

static const struct flag prot_list[] = { FLAG(PROT_READ),
					 FLAG(PROT_WRITE),
					 FLAG(PROT_EXEC),
					 FLAG(PROT_SEM),
					 FLAG(PROT_GROWSDOWN),
					 FLAG(PROT_GROWSUP),
#ifdef PROT_BTI
					 FLAG(PROT_BTI),
					 FLAG(PROT_MTE),
#endif
					 END };
static const struct flags mmap_prot = { .list = prot_list, .none = "PROT_NONE" };

static const struct flag map_lows[] = { FLAG(MAP_SHARED), FLAG(MAP_PRIVATE),
					FLAG(MAP_SHARED_VALIDATE), END };
static const struct flag map_list[] = {
	FLAG(MAP_FIXED),     FLAG(MAP_ANONYMOUS),
#ifdef MAP_32BIT
	FLAG(MAP_32BIT),
#endif
	FLAG(MAP_GROWSDOWN), FLAG(MAP_DENYWRITE), FLAG(MAP_EXECUTABLE),	     FLAG(MAP_LOCKED),
	FLAG(MAP_NORESERVE), FLAG(MAP_POPULATE),  FLAG(MAP_NONBLOCK),	     FLAG(MAP_STACK),
	FLAG(MAP_HUGETLB),   FLAG(MAP_SYNC),	  FLAG(MAP_FIXED_NOREPLACE), END
};
static const struct flags mmap_flags = { MAP_TYPE, map_lows, map_list };

static const struct flag clone_list[] = { FLAG(CLONE_VM),
					  FLAG(CLONE_FS),
					  FLAG(CLONE_FILES),
					  FLAG(CLONE_SIGHAND),
					  FLAG(CLONE_PIDFD),
					  FLAG(CLONE_PTRACE),
					  FLAG(CLONE_VFORK),
					  FLAG(CLONE_PARENT),
					  FLAG(CLONE_THREAD),
					  FLAG(CLONE_NEWNS),
					  FLAG(CLONE_SYSVSEM),
					  FLAG(CLONE_SETTLS),
					  FLAG(CLONE_PARENT_SETTID),
					  FLAG(CLONE_CHILD_CLEARTID),
					  FLAG(CLONE_DETACHED),
					  FLAG(CLONE_UNTRACED),
					  FLAG(CLONE_CHILD_SETTID),
					  FLAG(CLONE_NEWCGROUP),
					  FLAG(CLONE_NEWUTS),
					  FLAG(CLONE_NEWIPC),
					  FLAG(CLONE_NEWUSER),
					  FLAG(CLONE_NEWPID),
					  FLAG(CLONE_NEWNET),
					  FLAG(CLONE_IO),
					  FLAG(CLONE_CLEAR_SIGHAND),
					  FLAG(CLONE_INTO_CGROUP),
					  END };
/* clone() has the signal of the child's end in the low byte; unshare() and clone3() a flag. */
static const struct flag clone_lows[] = { FLAG(CLONE_NEWTIME), END };
static const struct flags clone_flags = { CSIGNAL, clone_lows, clone_list, true };

/* --- A number -> its flags --- */

static const char *low_name(const struct flags *flags, u64 bits, char *room)
{
	const char *name = flags->low_is_signal
				   ? naming_signal.name_of(NULL, &(s64){ (s64)bits }, 1, room)
				   : NULL;

	for (const struct flag *f = flags->lows; f && f->name && !name; f++)
		if (f->bits == bits)
			name = f->name;
	return name;
}

static void append(char *room, const char *name)
{
	size_t n = strlen(room);

	snprintf(room + n, NAMING_BYTES - n, "%s%s", n ? "|" : "", name);
}

static const char *name_of(const struct naming *naming, const s64 *number, u32 n, char *room)
{
	const struct flags *flags = naming->flags;
	u64 x = (u64)*number, bits = x & ~flags->low;
	char own[NAMING_BYTES], rest[20];
	const char *low = low_name(flags, x & flags->low, own);

	if (!x && !low)
		return flags->none;
	room[0] = '\0';
	if (low && !flags->low_is_signal)
		append(room, low);
	else if (!low)
		bits = x;
	for (const struct flag *f = flags->list; f->name; f++) {
		if ((bits & f->bits) != f->bits)
			continue;
		append(room, f->name);
		bits &= ~f->bits;
	}
	if (low && flags->low_is_signal)
		append(room, low);
	if (bits) {
		snprintf(rest, sizeof(rest), "0x%llx", (unsigned long long)bits);
		append(room, rest);
	}
	return room;
}

/* --- And back --- */

static bool add_word(const struct flag *list, const char *word, u64 *bits, struct suggest *suggest)
{
	for (const struct flag *f = list; f && f->name; f++) {
		suggest_offer(suggest, f->name);
		if (strcmp(f->name, word) != 0)
			continue;
		*bits |= f->bits;
		return true;
	}
	return false;
}

static bool add_low(const struct flags *flags, const char *word, u64 *bits)
{
	char room[NAMING_BYTES];

	for (s64 x = 1; flags->low_is_signal && x <= (s64)flags->low; x++) {
		const char *name = naming_signal.name_of(NULL, &x, 1, room);

		if (!name || strcmp(name, word) != 0)
			continue;
		*bits |= (u64)x;
		return true;
	}
	return false;
}

static u32 numbers_of(const struct naming *naming, const char *text, s64 *ret_numbers,
		      struct suggest *suggest)
{
	static _Thread_local char room[NAMING_BYTES];
	const struct flags *flags = naming->flags;
	const char *shown;
	char words[NAMING_BYTES], *at = words, *word, *end;
	u64 bits = 0;

	snprintf(words, sizeof(words), "%s", text);
	while ((word = strsep(&at, "|"))) {
		struct suggest near;
		u64 rest = strtoull(word, &end, 0);

		suggest_init(&near, word);
		if (flags->none && strcmp(word, flags->none) == 0)
			continue;
		if (*word && !*end)
			bits |= rest;
		else if (!add_word(flags->lows, word, &bits, &near) &&
			 !add_word(flags->list, word, &bits, &near) &&
			 !add_low(flags, word, &bits)) {
			suggest->best = suggest_best(&near);
			return 0;
		}
	}
	*ret_numbers = (s64)bits;
	shown = name_of(naming, ret_numbers, 1, room);
	suggest->best = shown; /* in this order, with all that it has */
	return shown && strcmp(shown, text) == 0;
}

#define OF_FLAGS(of, shown)                                                                        \
	{                                                                                          \
		.name = #of, .name_of = name_of, .example = shown, .numbers_of = numbers_of,       \
		.flags = &of                                                                       \
	}
const struct naming naming_open_flags = OF_FLAGS(open_flags, "O_RDWR|O_CLOEXEC");
const struct naming naming_mmap_prot = OF_FLAGS(mmap_prot, "PROT_READ|PROT_WRITE");
const struct naming naming_mmap_flags = OF_FLAGS(mmap_flags, "MAP_PRIVATE|MAP_ANONYMOUS");
const struct naming naming_clone_flags = OF_FLAGS(clone_flags, "CLONE_VM|CLONE_VFORK|SIGCHLD");
