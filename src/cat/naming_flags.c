/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Flags of system calls, as this kind of machine numbers them: "O_RDWR|O_CLOEXEC", and what has no
 * name in hex; those of block requests, and modes of files.  A text stands for a number where it is
 * what the number is shown as.
 */
#include "cat/internal.h"

#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/mount.h>
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

/* The kernel's enum sock_type (include/linux/net.h), with what socket() takes beside it. */
static const struct flag socket_lows[] = { { 1, "SOCK_STREAM" },    { 2, "SOCK_DGRAM" },
					   { 3, "SOCK_RAW" },	    { 4, "SOCK_RDM" },
					   { 5, "SOCK_SEQPACKET" }, { 6, "SOCK_DCCP" },
					   { 10, "SOCK_PACKET" },   END };
static const struct flag socket_list[] = { { O_NONBLOCK, "SOCK_NONBLOCK" },
					   { O_CLOEXEC, "SOCK_CLOEXEC" },
					   END };
static const struct flags socket_type = { 0xf, socket_lows, socket_list };

static const struct flag mount_list[] = { FLAG(MS_RDONLY),
					  FLAG(MS_NOSUID),
					  FLAG(MS_NODEV),
					  FLAG(MS_NOEXEC),
					  FLAG(MS_SYNCHRONOUS),
					  FLAG(MS_REMOUNT),
					  FLAG(MS_MANDLOCK),
					  FLAG(MS_DIRSYNC),
					  FLAG(MS_NOSYMFOLLOW),
					  FLAG(MS_NOATIME),
					  FLAG(MS_NODIRATIME),
					  FLAG(MS_BIND),
					  FLAG(MS_MOVE),
					  FLAG(MS_REC),
					  FLAG(MS_SILENT),
					  FLAG(MS_POSIXACL),
					  FLAG(MS_UNBINDABLE),
					  FLAG(MS_PRIVATE),
					  FLAG(MS_SLAVE),
					  FLAG(MS_SHARED),
					  FLAG(MS_RELATIME),
					  FLAG(MS_I_VERSION),
					  FLAG(MS_STRICTATIME),
					  FLAG(MS_LAZYTIME),
					  END };
static const struct flags mount_flags = { .list = mount_list };

static const struct flag futex_lows[] = {
	FLAG(FUTEX_WAIT),	    FLAG(FUTEX_WAKE),	     FLAG(FUTEX_FD),
	FLAG(FUTEX_REQUEUE),	    FLAG(FUTEX_CMP_REQUEUE), FLAG(FUTEX_WAKE_OP),
	FLAG(FUTEX_LOCK_PI),	    FLAG(FUTEX_UNLOCK_PI),   FLAG(FUTEX_TRYLOCK_PI),
	FLAG(FUTEX_WAIT_BITSET),    FLAG(FUTEX_WAKE_BITSET), FLAG(FUTEX_WAIT_REQUEUE_PI),
	FLAG(FUTEX_CMP_REQUEUE_PI), FLAG(FUTEX_LOCK_PI2),    END
};
static const struct flag futex_list[] = { FLAG(FUTEX_PRIVATE_FLAG), FLAG(FUTEX_CLOCK_REALTIME),
					  END };
static const struct flags futex_op = { 0x7f, futex_lows, futex_list };

/* enum req_op and enum req_flag_bits of include/linux/blk_types.h: those that 6.1 to 6.18 have by
 * the same numbers. */
static const struct flag request_lows[] = {
	{ 0, "REQ_OP_READ" },	      { 1, "REQ_OP_WRITE" },
	{ 2, "REQ_OP_FLUSH" },	      { 3, "REQ_OP_DISCARD" },
	{ 5, "REQ_OP_SECURE_ERASE" }, { 7, "REQ_OP_ZONE_APPEND" },
	{ 9, "REQ_OP_WRITE_ZEROES" }, { 34, "REQ_OP_DRV_IN" },
	{ 35, "REQ_OP_DRV_OUT" },     END
};
static const struct flag request_list[] = { { 1 << 8, "REQ_FAILFAST_DEV" },
					    { 1 << 9, "REQ_FAILFAST_TRANSPORT" },
					    { 1 << 10, "REQ_FAILFAST_DRIVER" },
					    { 1 << 11, "REQ_SYNC" },
					    { 1 << 12, "REQ_META" },
					    { 1 << 13, "REQ_PRIO" },
					    { 1 << 14, "REQ_NOMERGE" },
					    { 1 << 15, "REQ_IDLE" },
					    { 1 << 16, "REQ_INTEGRITY" },
					    { 1 << 17, "REQ_FUA" },
					    { 1 << 18, "REQ_PREFLUSH" },
					    { 1 << 19, "REQ_RAHEAD" },
					    { 1 << 20, "REQ_BACKGROUND" },
					    { 1 << 21, "REQ_NOWAIT" },
					    END };
static const struct flags request_flags = { 0xff, request_lows, request_list };

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

bool naming_has_flag(const struct naming *naming, const char *word, struct suggest *suggest)
{
	u64 bits;

	return add_word(naming->flags->lows, word, &bits, suggest) ||
	       add_word(naming->flags->list, word, &bits, suggest) ||
	       add_low(naming->flags, word, &bits);
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

/* --- Modes of files, as ls -l has them --- */

/* By the bits S_IFMT; a mode without them, as open() takes, is shown without the letter. */
static const char mode_letters[16] = {
	[1] = 'p', [2] = 'c', [4] = 'd', [6] = 'b', [8] = '-', [10] = 'l', [12] = 's'
};

static const char *name_of_mode(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	static const char specials[] = "sst", letters[] = "rwx";
	char *at = room;

	if (*x < 0 || *x > 0xffff || (*x >> 12 && !mode_letters[*x >> 12]))
		return NULL;
	if (*x >> 12)
		*at++ = mode_letters[*x >> 12];
	for (u32 bit = 0; bit < 9; bit++)
		*at++ = *x >> (8 - bit) & 1 ? letters[bit % 3] : '-';
	*at = '\0';
	/* The set-id and sticky bits take the place of an x, or in capitals of a missing one. */
	for (u32 i = 0; i < 3; i++) {
		char *place = at - 7 + 3 * i;

		if (*x >> (11 - i) & 1)
			*place = *place == 'x' ? specials[i] : (char)(specials[i] - 'a' + 'A');
	}
	return room;
}

static u32 numbers_of_mode(const struct naming *naming, const char *text, s64 *ret_numbers,
			   struct suggest *suggest)
{
	char room[NAMING_BYTES];
	s64 type = strlen(text) == 10 ? 1 : 0, end = type ? 16 : 1;

	for (; type < end; type++) {
		s64 x = type << 12;

		if (type && mode_letters[type] != text[0])
			continue;
		text += type > 0;
		for (u32 i = 0; i < 9 && text[i]; i++) {
			x |= (text[i] != '-' && text[i] != 'S' && text[i] != 'T') << (8 - i);
			if (i % 3 == 2)
				x |= (strchr("sStT", text[i]) != NULL) << (11 - i / 3);
		}
		*ret_numbers = x;
		return strcmp(name_of_mode(naming, &x, 1, room), text - (type > 0)) == 0;
	}
	return 0;
}

const struct naming naming_mode = { .name = "file_mode",
				    .name_of = name_of_mode,
				    .example = "-rw-r--r--",
				    .numbers_of = numbers_of_mode };

#define OF_FLAGS(of, shown)                                                                        \
	{                                                                                          \
		.name = #of, .name_of = name_of, .example = shown, .numbers_of = numbers_of,       \
		.flags = &of                                                                       \
	}
const struct naming naming_open_flags = OF_FLAGS(open_flags, "O_RDWR|O_CLOEXEC");
const struct naming naming_mmap_prot = OF_FLAGS(mmap_prot, "PROT_READ|PROT_WRITE");
const struct naming naming_mmap_flags = OF_FLAGS(mmap_flags, "MAP_PRIVATE|MAP_ANONYMOUS");
const struct naming naming_clone_flags = OF_FLAGS(clone_flags, "CLONE_VM|CLONE_VFORK|SIGCHLD");
const struct naming naming_socket_type = OF_FLAGS(socket_type, "SOCK_STREAM|SOCK_CLOEXEC");
const struct naming naming_mount_flags = OF_FLAGS(mount_flags, "MS_RDONLY|MS_NOSUID");
const struct naming naming_futex_op = OF_FLAGS(futex_op, "FUTEX_WAIT|FUTEX_PRIVATE_FLAG");
const struct naming naming_request_flags = OF_FLAGS(request_flags, "REQ_OP_WRITE|REQ_SYNC");
