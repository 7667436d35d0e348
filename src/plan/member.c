/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A member -> the object that it is read of, and what else is read with it.
 */
#include "plan/plan.h"

bool expr_is_place(const struct expr *e)
{
	return e->kind == EXPR_MEMBER && (e->member.is_array || e->member.type.kind == TYPE_NULL);
}

struct expr *expr_object(const struct expr *member, u64 *ret_offset_bits)
{
	struct expr *object = member->args[0];

	*ret_offset_bits = member->member.offset_bits;
	for (; expr_is_place(object) && object->read == READ_MEMBER; object = object->args[0])
		*ret_offset_bits += object->member.offset_bits;
	return object;
}

bool expr_is_read_by(const struct expr *member, const struct expr *object, u64 offset_bits,
		     const struct expr *reading)
{
	u64 bits = member->member.bitfield_bits ?: 8 * member->member.size_bytes;
	u64 begin_bits = reading->member.offset_bits;

	return member->read == READ_MEMBER && type_is_word(member->type) && !member->is_percpu &&
	       member->is_of_user == reading->is_of_user && offset_bits >= begin_bits &&
	       offset_bits + bits <= begin_bits + 8 * reading->index &&
	       (member->member.bitfield_bits ? offset_bits % 64 + bits <= 64
					     : offset_bits % bits == 0) &&
	       expr_equal(object, reading->args[0]);
}
