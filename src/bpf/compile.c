/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * bpf_compile(): the back end's passes in their order.
 */
#include <errno.h>

#include "bpf/ir.h"

/* Left for spilled operands when some instruction finds no free register. */
#define RESERVED_REGS (1u << 4 | 1u << 5)

int bpf_compile(struct ir *ir, struct arena *arena, const struct bpf_features *features,
		struct bpf_code *ret_code, const char **ret_reason)
{
	struct lir lir;
	struct alloc alloc;
	int err;

	*ret_code = (struct bpf_code){ 0 };
	*ret_reason = ir_check(ir);
	if (*ret_reason)
		return ir->is_too_large ? -E2BIG : -EINVAL;
	ir_lower(ir, arena, features, &lir);
	lir_allocate(&lir, arena, 0, &alloc);
	err = lir_encode(&lir, &alloc, arena, ret_code, ret_reason);
	if (err == -EAGAIN) {
		lir_allocate(&lir, arena, RESERVED_REGS, &alloc);
		err = lir_encode(&lir, &alloc, arena, ret_code, ret_reason);
	}
	BUG_ON(err == -EAGAIN);
	return err;
}
