/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef EBQL_TESTS_LIVE_TWIN_H
#define EBQL_TESTS_LIVE_TWIN_H

#include "base/base.h"

/* Each file that includes this has a function of its own by that name. */
static __attribute__((noinline)) u64 twin_call(u64 kind, u64 number)
{
	__asm__ volatile("" : "+r"(kind) : : "memory");
	return number + kind;
}

typedef u64 (*twin_function)(u64 kind, u64 number);

twin_function other_twin(void);

#endif
