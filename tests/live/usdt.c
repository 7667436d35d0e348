/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "usdt.h"

extern u16 ebql_asked_asked_semaphore;
u16 ebql_asked_asked_semaphore __attribute__((section(".probes")));

bool usdt_listens(void)
{
	return *(volatile u16 *)&ebql_asked_asked_semaphore;
}

void usdt_ask(u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (usdt_listens())
			DTRACE_PROBE1(ebql_asked, asked, i);
}
