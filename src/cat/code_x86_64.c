/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Machine code of x86-64 -> how long its instructions are: a probe must stand where one begins, and
 * the kernel, which puts a breakpoint there, does not ask.
 */
#include "cat/internal.h"

/*
 * What follows an opcode: . nothing, m a ModR/M byte, b w d 1 2 4 bytes, z 2 or 4, by the operand's
 * size; B Z as b z behind a ModR/M byte; i z or 8 bytes, a an address, e 3 bytes, g as m, B or Z
 * by the ModR/M byte.  p is a prefix, V one that has the map of opcodes in it, x no instruction.
 */
static const char opcodes[] = "mmmmbzxxmmmmbzxx"
			      "mmmmbzxxmmmmbzxx"
			      "mmmmbzpxmmmmbzpx"
			      "mmmmbzpxmmmmbzpx"
			      "pppppppppppppppp"
			      "................"
			      "xxVmppppzZbB...."
			      "bbbbbbbbbbbbbbbb"
			      "BZxBmmmmmmmmmmmm"
			      "..........x....."
			      "aaaa....bz......"
			      "bbbbbbbbiiiiiiii"
			      "BBw.VVBZe.w..bx."
			      "mmmmxxx.mmmmmmmm"
			      "bbbbbbbbddxb...."
			      "p.pp..gg......mm";
/* Behind 0F. */
static const char opcodes_0f[] = "mmmmx.....x.xm.B"
				 "mmmmmmmmmmmmmmmm"
				 "mmmmxxxxmmmmmmmm"
				 "......x.xxxxxxxx"
				 "mmmmmmmmmmmmmmmm"
				 "mmmmmmmmmmmmmmmm"
				 "mmmmmmmmmmmmmmmm"
				 "BBBBmmm.mmxxmmmm"
				 "dddddddddddddddd"
				 "mmmmmmmmmmmmmmmm"
				 "...mBmxx...mBmmm"
				 "mmmmmmmmmmBmmmmm"
				 "mmBmBBBm........"
				 "mmmmmmmmmmmmmmmm"
				 "mmmmmmmmmmmmmmmm"
				 "mmmmmmmmmmmmmmmm";
_Static_assert(sizeof(opcodes) == 257 && sizeof(opcodes_0f) == 257, "not every opcode is there");

/* The ModR/M byte, and what it says that follows. */
static u32 modrm_bytes(const u8 *at, const u8 *end)
{
	u8 mode = at < end ? at[0] >> 6 : 3, rm = at < end ? at[0] & 7 : 0;
	bool has_sib = mode != 3 && rm == 4;
	u8 base = has_sib && at + 1 < end ? at[1] & 7 : rm;

	if (mode == 1)
		return 2 + has_sib;
	if (mode == 2 || (mode == 0 && base == 5))
		return 5 + has_sib;
	return 1 + has_sib;
}

/* Which map a VEX (C4, C5) or EVEX (62) prefix names, behind which the opcode stands. */
static u32 map_of(const u8 *prefix, u32 *ret_n)
{
	*ret_n = prefix[0] == 0xC5 ? 2 : prefix[0] == 0xC4 ? 3 : 4;
	return prefix[0] == 0xC5 ? 1 : prefix[1] & (prefix[0] == 0xC4 ? 0x1F : 7);
}

static u32 operand_bytes(char form, const u8 *at, const u8 *end, bool is_short, bool is_wide)
{
	bool is_first = at < end && (*at & 0x38) < 0x10; /* TEST, of the group F6 and F7 */
	u32 z = is_short && !is_wide ? 2 : 4;

	switch (form) {
	case 'm':
		return modrm_bytes(at, end);
	case 'B':
		return modrm_bytes(at, end) + 1;
	case 'Z':
		return modrm_bytes(at, end) + z;
	case 'g':
		return modrm_bytes(at, end) + (!is_first ? 0 : at[-1] & 1 ? z : 1);
	case 'b':
		return 1;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'd':
		return 4;
	case 'z':
		return z;
	case 'i':
		return is_wide ? 8 : z;
	case 'a':
		return 8;
	default:
		return 0;
	}
}

u32 code_x86_64_bytes(const u8 *code, u32 n)
{
	const u8 *at = code, *end = code + n;
	bool is_short = false, is_wide = false;
	u32 map = 0, n_prefix;
	char form;

	for (; at < end && opcodes[*at] == 'p'; at++) {
		is_short |= *at == 0x66;
		is_wide = (*at & 0xF8) == 0x48;
	}
	if (end - at >= 5 && opcodes[*at] == 'V') {
		map = map_of(at, &n_prefix);
		at += n_prefix;
	} else if (end - at >= 2 && *at == 0x0F) {
		map = at[1] == 0x38 ? 2 : at[1] == 0x3A ? 3 : 1;
		at += map == 1 ? 1 : 2;
	}
	/* Maps 4 and 7, and 8F that is no POP, have other forms. */
	if (at >= end || map == 4 || map > 6 ||
	    (map == 0 && *at == 0x8F && at + 1 < end && at[1] & 0x38))
		return 0;
	if (map == 0)
		form = opcodes[*at];
	else if (map == 1)
		form = opcodes_0f[*at];
	else
		form = map == 3 ? 'B' : 'm';
	at++;
	at += operand_bytes(form, at, end, is_short, is_wide);
	return form == 'x' || form == 'V' || at > end || at - code > 15 ? 0 : (u32)(at - code);
}
