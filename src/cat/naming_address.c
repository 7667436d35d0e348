/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Addresses of the network -> their text.  An address of four bytes is one number, whose lowest
 * byte is the address' first, as the kernel keeps it (__be32); one of sixteen is two such.
 */
#include "cat/internal.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

static const char *name_of_inet(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	if (n == 1 && (*x < 0 || *x > UINT32_MAX))
		return NULL;
	return inet_ntop(n == 1 ? AF_INET : AF_INET6, x, room, NAMING_BYTES);
}

/* What an IPv6 socket that speaks IPv4 has instead of its address: ::ffff:1.2.3.4. */
static bool is_mapped(const s64 *x)
{
	return x[0] == 0 && (x[1] & UINT32_MAX) == 0xffff0000u;
}

/* family, and an address of 4 or of 16 bytes */
static const char *name_of_ntop(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	s64 address = x[1];

	if (x[0] == AF_INET6)
		return n > 2 ? name_of_inet(naming, x + 1, 2, room) : NULL;
	if (x[0] != AF_INET)
		return NULL;
	if (n > 2)
		address = is_mapped(x + 1) ? (s64)((u64)x[2] >> 32) : address & UINT32_MAX;
	return name_of_inet(naming, &address, 1, room);
}

static u32 numbers_of_inet(const struct naming *naming, const char *name, s64 *ret_numbers,
			   struct suggest *suggest)
{
	u32 word;

	if (inet_pton(AF_INET, name, &word) != 1)
		return 0;
	*ret_numbers = word;
	return 1;
}

bool naming_address(const char *text, u64 ret_words[2])
{
	char shown[INET6_ADDRSTRLEN];

	return inet_pton(AF_INET6, text, ret_words) == 1 &&
	       strcmp(inet_ntop(AF_INET6, ret_words, shown, sizeof(shown)), text) == 0;
}

const struct naming naming_inet = { .name = "inet",
				    .most = 2,
				    .name_of = name_of_inet,
				    .example = "10.0.0.1",
				    .numbers_of = numbers_of_inet };
const struct naming naming_ntop = {
	.name = "ntop", .most = 3, .name_of = name_of_ntop, .is_null_else = true
};
