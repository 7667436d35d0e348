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

/* The words that C's own types are made of, and those that say nothing of a type. */
static const char c_words[] = " unsigned signed char short int long enum struct union ";
static const char qualifiers[] = " const volatile restrict __user __rcu ";

/* What a typedef's name stands for; a blank on both sides of it. */
static struct ctype find_typedef(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(typedefs); i++)
		if (strstr(typedefs[i].names, name))
			return typedefs[i].type;
	return (struct ctype){ CTYPE_UNKNOWN };
}

/*
 * text is the declaration without the variable's name and array bounds.  A plain
 * char is CTYPE_CHAR, so that arrays of it become text; it is unsigned in kernels
 * since 6.2 (-funsigned-char), where the format file's own sign is to be asked.
 */
struct ctype ctype_parse(const char *text, size_t n)
{
	char words[128] = "", word[80], other[80] = "";
	bool is_unsigned, is_signed;
	u32 n_other = 0;

	for (size_t i = 0; i < n;) {
		size_t start = i;

		if (text[i] == '*')
			return (struct ctype){ CTYPE_POINTER, 64, false };
		while (i < n && (isalnum((u8)text[i]) || text[i] == '_'))
			i++;
		if (i == start) {
			i++;
			continue;
		}
		snprintf(word, sizeof(word), " %.*s ", (int)(i - start), text + start);
		if (strstr(qualifiers, word) || !strncmp(word, " __seg_", 7))
			continue;
		if (strstr(c_words, word)) {
			strncat(words, word, sizeof(words) - strlen(words) - 1);
		} else {
			n_other++;
			memcpy(other, word, sizeof(other));
		}
	}
	is_unsigned = strstr(words, " unsigned ");
	is_signed = strstr(words, " signed ");
	if (strstr(words, " struct ") || strstr(words, " union "))
		return (struct ctype){ CTYPE_STRUCT };
	if (strstr(words, " enum "))
		return (struct ctype){ CTYPE_INT, 32, false };
	if (n_other)
		return n_other == 1 ? find_typedef(other) : (struct ctype){ CTYPE_UNKNOWN };
	if (strstr(words, " char "))
		return is_unsigned || is_signed ? (struct ctype){ CTYPE_INT, 8, is_signed }
						: (struct ctype){ CTYPE_CHAR, 8, false };
	if (strstr(words, " short "))
		return (struct ctype){ CTYPE_INT, 16, !is_unsigned };
	if (strstr(words, " long "))
		return (struct ctype){ CTYPE_INT, 64, !is_unsigned };
	if (words[0])
		return (struct ctype){ CTYPE_INT, 32, !is_unsigned };
	return (struct ctype){ CTYPE_UNKNOWN };
}

struct type catalog_c_integer(const char *text)
{
	struct ctype type = ctype_parse(text, strlen(text));
	bool is_char = type.kind == CTYPE_CHAR;

	if (type.kind != CTYPE_INT && !is_char)
		return (struct type){ 0 };
	return type_int(type.bits, is_char ? (char)-1 < 0 : type.is_signed);
}
