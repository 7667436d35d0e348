/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * UTF-8: how long the character at a place is, and whether it is one at all
 * (RFC 3629: shortest form, no surrogates, up to U+10FFFF).
 */
#ifndef EBQL_BASE_UTF8_H
#define EBQL_BASE_UTF8_H

#include "base/base.h"

/* Bytes of the character at text (1..4), or 0 when the first byte starts none. */
static inline size_t utf8_decode(const char *text, size_t n, u32 *ret_code)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length, i;
	u32 code;

	*ret_code = n ? at[0] : 0;
	if (*ret_code < 0x80)
		return n > 0;
	if (at[0] < 0xC2 || at[0] > 0xF4)
		return 0;
	length = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
	if (length > n)
		return 0;
	code = at[0] & (0x7Fu >> length);
	for (i = 1; i < length; i++) {
		if ((at[i] & 0xC0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3F);
	}
	if ((length == 3 && code < 0x800) || (code >= 0xD800 && code <= 0xDFFF) ||
	    (length == 4 && code < 0x10000) || code > 0x10FFFF)
		return 0;
	*ret_code = code;
	return length;
}

static inline size_t utf8_length(const char *text, size_t n)
{
	u32 code;

	return utf8_decode(text, n, &code);
}

#endif
