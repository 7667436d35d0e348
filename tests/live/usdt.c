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

/* Notes as no compiler makes them: two that are the same, two at one place, each with a semaphore
 * of its own, and a probe at both places. */
#define NOTE(label, semaphore, name)                                                               \
	".pushsection .note.stapsdt, \"\", %note\n"                                                \
	".balign 4\n"                                                                              \
	".4byte 8, 2f - 1f, 3\n"                                                                   \
	".asciz \"stapsdt\"\n"                                                                     \
	"1: .8byte " label ", _.stapsdt.base, " semaphore "\n"                                     \
	".asciz \"ebql_twin\"\n"                                                                   \
	".asciz \"" name "\"\n"                                                                    \
	".asciz \"\"\n"                                                                            \
	"2: .balign 4\n"                                                                           \
	".popsection\n"

u16 usdt_first_semaphore __attribute__((section(".probes"), visibility("hidden"), used));
u16 usdt_second_semaphore __attribute__((section(".probes"), visibility("hidden"), used));
void usdt_twins_once(void);
__asm__(".text\n.type usdt_twins_once, %function\nusdt_twins_once:\n"
	"usdt_again_place: nop\n"
	"usdt_shared_place: nop\n"
	"ret\n.size usdt_twins_once, . - usdt_twins_once\n" NOTE("usdt_again_place", "0", "again")
		NOTE("usdt_again_place", "0", "again") NOTE("usdt_shared_place",
							    "usdt_first_semaphore", "first")
			NOTE("usdt_shared_place", "usdt_second_semaphore", "second")
				NOTE("usdt_again_place", "0", "both")
					NOTE("usdt_shared_place", "usdt_second_semaphore", "both"));

void usdt_twins(u32 n)
{
	for (u32 i = 0; i < n; i++)
		usdt_twins_once();
}
