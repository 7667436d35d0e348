/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks as text.
 */
#ifndef EBQL_TYPE_STACK_H
#define EBQL_TYPE_STACK_H

#include "type/type.h"

/* PERF_MAX_STACK_DEPTH: the kernel gives no more (kernel.perf_event_max_stack). */
#define STACK_DEPTH_MAX 127u
#define STACK_HEX_BYTES 20
/* One of its calls, 0 the innermost: the name, or the address, in `hex`, where it has none. */
const char *stack_name(const struct stack *stack, u32 number, char hex[STACK_HEX_BYTES]);
/* From the root to the leaf, with ; between; what a name has of these, and of blanks, is _. */
void stack_put_folded(const struct stack *stack, struct buf *to);

#endif
