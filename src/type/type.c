/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a type is called, what it can hold, and the names of the losses.
 */
#include "type/type.h"

const char *const loss_names[LOSS_N] = {
	[LOSS_MISSED] = "missed",	[LOSS_TABLE_FULL] = "table_full",
	[LOSS_RING_FULL] = "ring_full", [LOSS_EVICTED] = "evicted",
	[LOSS_UNPAIRED] = "unpaired",	[LOSS_NEGATIVE] = "negative",
	[LOSS_FAULT] = "fault",		[LOSS_OVER_BUDGET] = "over_budget",
};

const char *const unpaired_names[UNPAIRED_N] = {
	[UNPAIRED_NEVER_STARTED] = "never_started",
	[UNPAIRED_NEVER_ENDED] = "never_ended",
	[UNPAIRED_OVERWRITTEN] = "overwritten",
	[UNPAIRED_EXPIRED] = "expired",
	[UNPAIRED_FULL] = "full",
	[UNPAIRED_BEGAN_BEFORE] = "began_before",
};

static const char *const type_names[] = {
	[TYPE_NULL] = "NULL",
	[TYPE_BOOL] = "BOOLEAN",
	[TYPE_INT] = "INTEGER",
	[TYPE_DURATION] = "DURATION",
	[TYPE_TIMESTAMP] = "TIMESTAMP",
	[TYPE_POINTER] = "POINTER",
	[TYPE_TEXT] = "TEXT",
	[TYPE_BLOB] = "BLOB",
	[TYPE_REAL] = "REAL",
	[TYPE_HISTOGRAM] = "HISTOGRAM",
	[TYPE_QUANTILE] = "QUANTILE",
	[TYPE_LADDER] = "LADDER",
	[TYPE_TOP] = "TOP",
	[TYPE_STACK] = "STACK",
};

void type_print(struct type type, struct buf *out)
{
	BUG_ON(type.kind >= ARRAY_SIZE(type_names));
	/* SQL's own integer is the signed one of 64 bits; the others say their width. */
	if (type.kind == TYPE_INT && !(type.bits == 64 && type.is_signed))
		buf_printf(out, "%c%u", type.is_signed ? 's' : 'u', type.bits);
	else
		buf_puts(out, type_names[type.kind]);
	if ((type.kind == TYPE_TEXT || type.kind == TYPE_BLOB) && type.bytes)
		buf_printf(out, "(%u)", type.bytes);
	/* The kind alone, not the width: HISTOGRAM(INTEGER) for integers of any width. */
	if (type.kind >= TYPE_HISTOGRAM && type.of != TYPE_NULL) {
		BUG_ON(type.of >= ARRAY_SIZE(type_names));
		buf_printf(out, "(%s)", type_names[type.of]);
	}
}

bool top_others(const struct top *top, s128 *ret_lo, s128 *ret_hi)
{
	*ret_lo = *ret_hi = top->total;
	for (u32 i = 0; i < top->n_rows; i++) {
		*ret_lo -= top->rows[i].weight;
		*ret_hi -= top->rows[i].weight - top->rows[i].error;
	}
	*ret_lo = MAX(*ret_lo, (s128)0);
	return *ret_hi > 0;
}

bool type_is_word(struct type type)
{
	return type.kind >= TYPE_BOOL && type.kind <= TYPE_POINTER;
}

bool type_equal(struct type a, struct type b)
{
	return a.kind == b.kind && a.bits == b.bits && a.is_signed == b.is_signed && a.of == b.of &&
	       a.bytes == b.bytes && a.clock == b.clock;
}

/* Bits of a word type's range: BOOL has one, all but the integers have 64. */
static u32 word_bits(struct type type)
{
	BUG_ON(!type_is_word(type));
	if (type.kind == TYPE_BOOL)
		return 1;
	if (type.kind != TYPE_INT)
		return 64;
	BUG_ON(!type.bits || type.bits > 64);
	return type.bits;
}

static bool word_is_signed(struct type type)
{
	return type.is_signed && type.kind != TYPE_BOOL && type.kind != TYPE_POINTER;
}

s128 type_min(struct type type)
{
	u32 bits = word_bits(type);

	return word_is_signed(type) ? -((s128)1 << (bits - 1)) : 0;
}

s128 type_max(struct type type)
{
	u32 bits = word_bits(type);

	return ((s128)1 << (word_is_signed(type) ? bits - 1 : bits)) - 1;
}

/* Of u64 only. */
void account_add(struct account *to, const struct account *from)
{
	u64 *words = (u64 *)to;

	for (u32 i = 0; i < sizeof(*to) / sizeof(u64); i++)
		words[i] += ((const u64 *)from)[i];
}

void account_subtract(struct account *from, const struct account *what)
{
	u64 *words = (u64 *)from;

	for (u32 i = 0; i < sizeof(*from) / sizeof(u64); i++)
		words[i] -= ((const u64 *)what)[i];
}

bool account_has_loss(const struct account *account)
{
	for (u32 i = 0; i < LOSS_N; i++)
		if (account->lost[i])
			return true;
	return false;
}

/* The causes, and the kinds of LOSS_UNPAIRED, by which values are missing. */
static const enum loss value_losses[] = { LOSS_MISSED, LOSS_RING_FULL, LOSS_NEGATIVE,
					  LOSS_OVER_BUDGET };
static const enum unpaired value_unpaired[] = { UNPAIRED_NEVER_STARTED, UNPAIRED_EXPIRED,
						UNPAIRED_FULL };

u64 account_lost_values(const struct account *account)
{
	u64 n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(value_losses); i++)
		n += account->lost[value_losses[i]];
	for (u32 i = 0; i < ARRAY_SIZE(value_unpaired); i++)
		n += account->unpaired[value_unpaired[i]];
	return n;
}

struct account account_take_lost_values(struct account *account)
{
	struct account taken = { 0 };

	for (u32 i = 0; i < ARRAY_SIZE(value_losses); i++)
		taken.lost[value_losses[i]] = account->lost[value_losses[i]];
	for (u32 i = 0; i < ARRAY_SIZE(value_unpaired); i++) {
		taken.unpaired[value_unpaired[i]] = account->unpaired[value_unpaired[i]];
		taken.lost[LOSS_UNPAIRED] += account->unpaired[value_unpaired[i]];
	}
	account_subtract(account, &taken);
	return taken;
}

bool account_is_biased(const struct account *account)
{
	for (u32 i = 0; i < LOSS_N; i++)
		if (i != LOSS_UNPAIRED && account->lost[i])
			return true;
	return account->unpaired[UNPAIRED_EXPIRED] || account->unpaired[UNPAIRED_FULL];
}
