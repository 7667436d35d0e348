/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The functions that name numbers, and the way back: which numbers a name stands for.
 */
#include "cat/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct naming *const namings[] = {
	&naming_syscall,     &naming_task_state,  &naming_softirq,    &naming_device,
	&naming_tcp_state,   &naming_errno,	  &naming_signal,     &naming_capability,
	&naming_open_flags,  &naming_mmap_prot,	  &naming_mmap_flags, &naming_clone_flags,
	&naming_user,	     &naming_group,	  &naming_inet,	      &naming_ntop,
	&naming_disk,	     &naming_cgroup,	  &naming_container,  &naming_sym,
	&naming_usym,	     &naming_family,	  &naming_protocol,   &naming_policy,
	&naming_socket_type, &naming_mount_flags, &naming_futex_op,   &naming_request_flags,
	&naming_mode,	     &naming_port,
};
const u32 n_namings = ARRAY_SIZE(namings);

const struct naming *naming_find(const char *name)
{
	for (u32 i = 0; i < n_namings; i++)
		if (strcasecmp(namings[i]->name, name) == 0)
			return namings[i];
	return NULL;
}

/* Names that are kept; of all others there is one number at most. */
static u32 numbers_by_trying(const struct naming *naming, const char *name, s64 *ret_numbers,
			     struct suggest *suggest)
{
	char room[NAMING_BYTES];
	u32 n = 0;

	for (s64 x = naming->lo; x <= naming->hi; x++) {
		const char *other = naming->name_of(naming, &x, 1, room);

		if (!other)
			continue;
		if (strcmp(other, name) == 0 && n < NAMING_NUMBERS)
			ret_numbers[n++] = x;
		if (other != room)
			suggest_offer(suggest, other);
	}
	return n;
}

/* A number without a name is named by its digits. */
static u32 number_by_digits(const struct naming *naming, const char *name, s64 *ret_number)
{
	char room[NAMING_BYTES], digits[24], *end;
	s64 x = strtoll(name, &end, 10);

	snprintf(digits, sizeof(digits), "%lld", (long long)x);
	if (strcmp(digits, name) != 0 || naming->name_of(naming, &x, 1, room))
		return 0;
	*ret_number = x;
	return 1;
}

u32 naming_numbers(const struct naming *naming, const char *name, s64 *ret_numbers,
		   struct suggest *suggest)
{
	u32 n = naming->numbers_of ? naming->numbers_of(naming, name, ret_numbers, suggest)
				   : numbers_by_trying(naming, name, ret_numbers, suggest);

	return n ?: number_by_digits(naming, name, ret_numbers);
}

bool naming_is_bit(const struct naming *naming, s64 number)
{
	return naming->flags && number > 3 && !(number & (number - 1));
}

const struct naming *naming_with(const char *name, s64 *ret_number)
{
	static const struct naming *const fixed[] = {
		&naming_errno,	   &naming_signal,	 &naming_capability,  &naming_open_flags,
		&naming_mmap_prot, &naming_mmap_flags,	 &naming_clone_flags, &naming_family,
		&naming_protocol,  &naming_policy,	 &naming_socket_type, &naming_mount_flags,
		&naming_futex_op,  &naming_request_flags
	};
	s64 numbers[NAMING_NUMBERS];

	for (u32 i = 0; *name >= 'A' && *name <= 'Z' && i < ARRAY_SIZE(fixed); i++) {
		struct suggest suggest;

		suggest_init(&suggest, name);
		numbers[0] = 0; /* of a flag that is never shown alone the number is given all the
				   same */
		if (!naming_numbers(fixed[i], name, numbers, &suggest) &&
		    (!fixed[i]->flags || !numbers[0]))
			continue;
		*ret_number = numbers[0];
		return fixed[i];
	}
	return NULL;
}
