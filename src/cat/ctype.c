/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The type words of a C declaration, as tracefs prints them -> width and sign.
 * A system call's argument fills 8 bytes of the record whatever its type, so the
 * declared name is all there is to tell an int from a long.
 */
#include "cat/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct ctype_name {
	const char *name;
	struct ctype type;
};

#define S(b)                                                                                       \
	{                                                                                          \
		CTYPE_INT, b, true                                                                 \
	}
#define U(b)                                                                                       \
	{                                                                                          \
		CTYPE_INT, b, false                                                                \
	}
#define P                                                                                          \
	{                                                                                          \
		CTYPE_POINTER, 64, false                                                           \
	}

/* The kernel's typedef names on 64-bit machines; sorted, for bsearch(). */
static const struct ctype_name names[] = {
	{ "__be16", U(16) },
	{ "__be32", U(32) },
	{ "__be64", U(64) },
	{ "__kernel_clockid_t", S(32) },
	{ "__kernel_mode_t", U(32) },
	{ "__kernel_old_time_t", S(64) },
	{ "__kernel_pid_t", S(32) },
	{ "__kernel_rwf_t", S(32) },
	{ "__kernel_time64_t", S(64) },
	{ "__kernel_timer_t", S(32) },
	{ "__le16", U(16) },
	{ "__le32", U(32) },
	{ "__le64", U(64) },
	{ "__poll_t", U(32) },
	{ "__s16", S(16) },
	{ "__s32", S(32) },
	{ "__s64", S(64) },
	{ "__s8", S(8) },
	{ "__sighandler_t", P },
	{ "__sigrestore_t", P },
	{ "__u16", U(16) },
	{ "__u32", U(32) },
	{ "__u64", U(64) },
	{ "__u8", U(8) },
	{ "aio_context_t", U(64) },
	{ "blk_opf_t", U(32) },
	{ "blk_status_t", U(8) },
	{ "blkcnt_t", U(64) },
	{ "bool", { CTYPE_BOOL, 8, false } },
	{ "cap_user_data_t", P },
	{ "cap_user_header_t", P },
	{ "clock_t", S(64) },
	{ "clockid_t", S(32) },
	{ "compat_aio_context_t", U(32) },
	{ "compat_int_t", S(32) },
	{ "compat_long_t", S(32) },
	{ "compat_off_t", S(32) },
	{ "compat_pid_t", S(32) },
	{ "compat_size_t", U(32) },
	{ "compat_ssize_t", S(32) },
	{ "compat_uint_t", U(32) },
	{ "compat_ulong_t", U(32) },
	{ "compat_uptr_t", U(32) },
	{ "dev_t", U(32) },
	{ "dma_addr_t", U(64) },
	{ "errseq_t", U(32) },
	{ "fl_owner_t", P },
	{ "fmode_t", U(32) },
	{ "gfp_t", U(32) },
	{ "gid_t", U(32) },
	{ "initcall_t", P },
	{ "ino_t", U(64) },
	{ "int16_t", S(16) },
	{ "int32_t", S(32) },
	{ "int64_t", S(64) },
	{ "int8_t", S(8) },
	{ "key_serial_t", S(32) },
	{ "key_t", S(32) },
	{ "ktime_t", S(64) },
	{ "loff_t", S(64) },
	{ "mode_t", U(32) },
	{ "mqd_t", S(32) },
	{ "nlink_t", U(32) },
	{ "off_t", S(64) },
	{ "old_gid_t", U(16) },
	{ "old_sigset_t", U(64) },
	{ "old_time32_t", S(32) },
	{ "old_uid_t", U(16) },
	{ "phys_addr_t", U(64) },
	{ "pid_t", S(32) },
	{ "projid_t", U(32) },
	{ "ptrdiff_t", S(64) },
	{ "qid_t", U(32) },
	{ "resource_size_t", U(64) },
	{ "rwf_t", S(32) },
	{ "s16", S(16) },
	{ "s32", S(32) },
	{ "s64", S(64) },
	{ "s8", S(8) },
	{ "sector_t", U(64) },
	{ "size_t", U(64) },
	{ "ssize_t", S(64) },
	{ "suseconds_t", S(64) },
	{ "time64_t", S(64) },
	{ "time_t", S(64) },
	{ "timer_t", S(32) },
	{ "u16", U(16) },
	{ "u32", U(32) },
	{ "u64", U(64) },
	{ "u8", U(8) },
	{ "uid_t", U(32) },
	{ "uint", U(32) },
	{ "uint16_t", U(16) },
	{ "uint32_t", U(32) },
	{ "uint64_t", U(64) },
	{ "uint8_t", U(8) },
	{ "uintptr_t", U(64) },
	{ "ulong", U(64) },
	{ "umode_t", U(16) },
	{ "ushort", U(16) },
};

static int compare_name(const void *key, const void *entry)
{
	return strcmp(key, ((const struct ctype_name *)entry)->name);
}

/* The words that C's own integer types are made of. */
struct words {
	u32 n_long, n_other;
	bool is_unsigned, is_signed, is_char, is_short, is_int;
	bool is_enum, is_struct;
	char other[64];
};

static void add_word(struct words *words, const char *at, size_t n)
{
	char word[64];

	n = MIN(n, sizeof(word) - 1);
	memcpy(word, at, n);
	word[n] = '\0';
	if (!strcmp(word, "const") || !strcmp(word, "volatile") || !strncmp(word, "__seg_", 6) ||
	    !strcmp(word, "__user") || !strcmp(word, "__rcu") || !strcmp(word, "restrict")) {
		return;
	} else if (!strcmp(word, "unsigned")) {
		words->is_unsigned = true;
	} else if (!strcmp(word, "signed")) {
		words->is_signed = true;
	} else if (!strcmp(word, "long")) {
		words->n_long++;
	} else if (!strcmp(word, "int")) {
		words->is_int = true;
	} else if (!strcmp(word, "short")) {
		words->is_short = true;
	} else if (!strcmp(word, "char")) {
		words->is_char = true;
	} else if (!strcmp(word, "enum")) {
		words->is_enum = true;
	} else if (!strcmp(word, "struct") || !strcmp(word, "union")) {
		words->is_struct = true;
	} else {
		words->n_other++;
		memcpy(words->other, word, sizeof(word));
	}
}

/*
 * text is the declaration without the variable's name and array bounds.  A plain
 * char is CTYPE_CHAR, so that arrays of it become text; it is unsigned in kernels
 * since 6.2 (-funsigned-char), where the format file's own sign is to be asked.
 */
struct ctype ctype_parse(const char *text, size_t n)
{
	const struct ctype_name *known;
	struct words words = { 0 };

	for (size_t i = 0; i < n;) {
		size_t start = i;

		if (text[i] == '*')
			return (struct ctype)P;
		while (i < n && (isalnum((u8)text[i]) || text[i] == '_'))
			i++;
		if (i > start)
			add_word(&words, text + start, i - start);
		else
			i++;
	}
	if (words.is_struct)
		return (struct ctype){ CTYPE_STRUCT };
	if (words.is_enum)
		return (struct ctype)U(32);
	if (words.n_other) {
		known = bsearch(words.other, names, ARRAY_SIZE(names), sizeof(names[0]),
				compare_name);
		return known && words.n_other == 1 ? known->type : (struct ctype){ CTYPE_UNKNOWN };
	}
	if (words.is_char)
		return words.is_unsigned || words.is_signed
			       ? (struct ctype){ CTYPE_INT, 8, words.is_signed }
			       : (struct ctype){ CTYPE_CHAR, 8, false };
	if (words.is_short)
		return (struct ctype){ CTYPE_INT, 16, !words.is_unsigned };
	if (words.n_long)
		return (struct ctype){ CTYPE_INT, 64, !words.is_unsigned };
	if (words.is_int || words.is_unsigned || words.is_signed)
		return (struct ctype){ CTYPE_INT, 32, !words.is_unsigned };
	return (struct ctype){ CTYPE_UNKNOWN };
}
