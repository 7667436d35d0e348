/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A stack -> the names of its calls, one by one, or all of them as flame graphs take them.
 */
#include "type/stack.h"

#include <stdio.h>

const char *stack_name(const struct stack *stack, u32 number, char hex[STACK_HEX_BYTES])
{
	if (stack->names && stack->names[number])
		return stack->names[number];
	snprintf(hex, STACK_HEX_BYTES, "0x%llx", (unsigned long long)stack->addresses[number]);
	return hex;
}

void stack_put_folded(const struct stack *stack, struct buf *to)
{
	char hex[STACK_HEX_BYTES];

	for (u32 i = stack->n; i--;) {
		for (const char *c = stack_name(stack, i, hex); *c; c++)
			buf_putc(to, (u8)*c <= ' ' || *c == ';' ? '_' : *c);
		if (i)
			buf_putc(to, ';');
	}
}
