/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The type words of a C declaration, as tracefs prints them -> width and sign.
 * A system call's argument fills 8 bytes of the record whatever its type, so the
 * declared name is all there is to tell an int from a long.
 */
#include "cat/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The kernel's typedef names on 64-bit machines, by what they are; a blank on both sides of each.
 */
static const struct {
	struct ctype type;
	const char *names;
} typedefs[] = {
	{ { CTYPE_BOOL, 8, false }, " bool " },
	{ { CTYPE_INT, 8, true }, " __s8 int8_t s8 " },
	{ { CTYPE_INT, 16, true }, " __s16 int16_t s16 " },
	{ { CTYPE_INT, 32, true },
	  " __kernel_clockid_t __kernel_pid_t __kernel_rwf_t __kernel_timer_t __s32 "
	  "clockid_t compat_int_t compat_long_t compat_off_t compat_pid_t compat_ssize_t "
	  "int32_t key_serial_t key_t mqd_t old_time32_t pid_t rwf_t s32 timer_t " },
	{ { CTYPE_INT, 64, true },
	  " __kernel_old_time_t __kernel_time64_t __s64 clock_t int64_t ktime_t loff_t "
	  "off_t ptrdiff_t s64 ssize_t suseconds_t time64_t time_t " },
	{ { CTYPE_INT, 8, false }, " __u8 blk_status_t u8 uint8_t " },
	{ { CTYPE_INT, 16, false },
	  " __be16 __le16 __u16 old_gid_t old_uid_t u16 uint16_t umode_t ushort " },
	{ { CTYPE_INT, 32, false },
	  " __be32 __kernel_mode_t __le32 __poll_t __u32 blk_opf_t compat_aio_context_t "
	  "compat_size_t compat_uint_t compat_ulong_t compat_uptr_t dev_t errseq_t "
	  "fmode_t gfp_t gid_t mode_t nlink_t projid_t qid_t u32 uid_t uint uint32_t " },
	{ { CTYPE_INT, 64, false },
	  " __be64 __le64 __u64 aio_context_t blkcnt_t dma_addr_t ino_t old_sigset_t "
	  "phys_addr_t resource_size_t sector_t size_t u64 uint64_t uintptr_t ulong " },
	{ { CTYPE_POINTER, 64, false },
	  " __sighandler_t __sigrestore_t cap_user_data_t cap_user_header_t fl_owner_t "
	  "initcall_t " },
};

/* What a typedef's name stands for. */
static struct ctype find_typedef(const char *name)
{
	char word[80];

	snprintf(word, sizeof(word), " %s ", name);
	for (u32 i = 0; i < ARRAY_SIZE(typedefs); i++)
		if (strstr(typedefs[i].names, word))
			return typedefs[i].type;
	return (struct ctype){ CTYPE_UNKNOWN };
}

/* The words that C's own types are made of. */
enum { C_UNSIGNED, C_SIGNED, C_CHAR, C_SHORT, C_INT, C_LONG, C_ENUM, C_STRUCT, C_UNION, C_N };

static const char *const c_words[C_N] = { "unsigned", "signed", "char",	  "short", "int",
					  "long",     "enum",	"struct", "union" };

struct words {
	bool has[C_N];
	u32 n_other;
	char other[64];
};

static void add_word(struct words *words, const char *at, size_t n)
{
	static const char qualifiers[] = " const volatile restrict __user __rcu ";
	char word[sizeof(words->other)], apart[sizeof(word) + 2];

	snprintf(word, sizeof(word), "%.*s", (int)n, at);
	snprintf(apart, sizeof(apart), " %s ", word);
	if (strstr(qualifiers, apart) || !strncmp(word, "__seg_", 6))
		return;
	for (u32 i = 0; i < C_N; i++) {
		if (strcmp(word, c_words[i]) != 0)
			continue;
		words->has[i] = true;
		return;
	}
	words->n_other++;
	memcpy(words->other, word, sizeof(word));
}

/*
 * text is the declaration without the variable's name and array bounds.  A plain
 * char is CTYPE_CHAR, so that arrays of it become text; it is unsigned in kernels
 * since 6.2 (-funsigned-char), where the format file's own sign is to be asked.
 */
struct ctype ctype_parse(const char *text, size_t n)
{
	struct words words = { 0 };
	const bool *has = words.has;

	for (size_t i = 0; i < n;) {
		size_t start = i;

		if (text[i] == '*')
			return (struct ctype){ CTYPE_POINTER, 64, false };
		while (i < n && (isalnum((u8)text[i]) || text[i] == '_'))
			i++;
		if (i > start)
			add_word(&words, text + start, i - start);
		else
			i++;
	}
	if (has[C_STRUCT] || has[C_UNION])
		return (struct ctype){ CTYPE_STRUCT };
	if (has[C_ENUM])
		return (struct ctype){ CTYPE_INT, 32, false };
	if (words.n_other)
		return words.n_other == 1 ? find_typedef(words.other)
					  : (struct ctype){ CTYPE_UNKNOWN };
	if (has[C_CHAR])
		return has[C_UNSIGNED] || has[C_SIGNED]
			       ? (struct ctype){ CTYPE_INT, 8, has[C_SIGNED] }
			       : (struct ctype){ CTYPE_CHAR, 8, false };
	if (has[C_SHORT])
		return (struct ctype){ CTYPE_INT, 16, !has[C_UNSIGNED] };
	if (has[C_LONG])
		return (struct ctype){ CTYPE_INT, 64, !has[C_UNSIGNED] };
	if (has[C_INT] || has[C_UNSIGNED] || has[C_SIGNED])
		return (struct ctype){ CTYPE_INT, 32, !has[C_UNSIGNED] };
	return (struct ctype){ CTYPE_UNKNOWN };
}
