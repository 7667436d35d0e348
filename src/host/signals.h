/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Signals that a part of the program takes for a while, and gives back.
 */
#ifndef EBQL_HOST_SIGNALS_H
#define EBQL_HOST_SIGNALS_H

#include <signal.h>

#include "base/base.h"

#define SIGNALS_MAX 6

struct signals {
	const int *numbers;
	u32 n;
	sigset_t mask; /* as it was */
	struct sigaction actions[SIGNALS_MAX];
};

/* how: SIG_BLOCK: they wait; SIG_UNBLOCK: one that came before and was blocked comes now. */
void signals_take(struct signals *saved, const int *numbers, u32 n, void (*handler)(int number),
		  int flags, int how);
/* Where ^C is held back it ends a call that waits, which gives EINTR, and nothing else. */
void signals_let_in(struct signals *saved);
/* ^C and ^\ are of the child that has the terminal, as by system(3), and not ours. */
void signals_lend(struct signals *saved);
void signals_give_back(const struct signals *saved);

#endif
