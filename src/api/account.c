/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What happened and was lost, and other structures -> the caller's.
 */
#include <string.h>

#include "api/internal.h"

/* Both are in the same order, which is that of ebql.h for good. */
static const u8 losses[LOSS_N] = {
	[LOSS_MISSED] = EBQL_LOSS_MISSED,	[LOSS_TABLE_FULL] = EBQL_LOSS_TABLE_FULL,
	[LOSS_RING_FULL] = EBQL_LOSS_RING_FULL, [LOSS_EVICTED] = EBQL_LOSS_EVICTED,
	[LOSS_UNPAIRED] = EBQL_LOSS_UNPAIRED,	[LOSS_NEGATIVE] = EBQL_LOSS_NEGATIVE,
	[LOSS_FAULT] = EBQL_LOSS_FAULT,		[LOSS_OVER_BUDGET] = EBQL_LOSS_OVER_BUDGET,
};
static const u8 kinds_of_unpaired[UNPAIRED_N] = {
	[UNPAIRED_NEVER_STARTED] = EBQL_LOSS_NEVER_STARTED,
	[UNPAIRED_NEVER_ENDED] = EBQL_LOSS_NEVER_ENDED,
	[UNPAIRED_OVERWRITTEN] = EBQL_LOSS_OVERWRITTEN,
	[UNPAIRED_EXPIRED] = EBQL_LOSS_EXPIRED,
	[UNPAIRED_FULL] = EBQL_LOSS_FULL,
	[UNPAIRED_BEGAN_BEFORE] = EBQL_LOSS_BEGAN_BEFORE,
};

const char *ebql_loss_name(unsigned int loss)
{
	for (u32 i = 0; i < LOSS_N; i++)
		if (losses[i] == loss)
			return loss_names[i];
	for (u32 i = 0; i < UNPAIRED_N; i++)
		if (kinds_of_unpaired[i] == loss)
			return unpaired_names[i];
	return NULL;
}

void api_account(const struct account *account, u64 *ret_events, u64 *ret_matched,
		 u64 ret_lost[EBQL_LOSS_MAX])
{
	*ret_events = account->events;
	*ret_matched = account->matched;
	for (u32 i = 0; i < LOSS_N; i++)
		ret_lost[losses[i]] = account->lost[i];
	for (u32 i = 0; i < UNPAIRED_N; i++)
		ret_lost[kinds_of_unpaired[i]] = account->unpaired[i];
}

int api_give(const void *from, size_t bytes, size_t first_bytes, void *ret_to)
{
	size_t room;

	memcpy(&room, ret_to, sizeof(room));
	if (room < first_bytes)
		return EBQL_MISUSE;
	/* What the caller knows and we do not is 0; its own size stays. */
	if (room > bytes)
		memset((char *)ret_to + bytes, 0, room - bytes);
	memcpy((char *)ret_to + sizeof(room), (const char *)from + sizeof(room),
	       MIN(room, bytes) - sizeof(room));
	return EBQL_OK;
}

int ebql_batch(const struct ebql_query *query, struct ebql_batch *ret_batch)
{
	if (!query || !ret_batch || !query->info.size)
		return EBQL_MISUSE;
	return api_give(&query->info, sizeof(query->info), UP_TO(struct ebql_batch, is_last),
			ret_batch);
}
