/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Signals -> the handler of who has taken them, and back to what was before.
 */
#include "host/signals.h"

/* Blocked, so that none finds half of them changed. */
static void block(const int *numbers, u32 n, sigset_t *ret_set, sigset_t *ret_before)
{
	sigemptyset(ret_set);
	for (u32 i = 0; i < n; i++)
		sigaddset(ret_set, numbers[i]);
	sigprocmask(SIG_BLOCK, ret_set, ret_before);
}

void signals_take(struct signals *saved, const int *numbers, u32 n, void (*handler)(int number),
		  int flags, int how)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	sigset_t set;

	BUG_ON(n > SIGNALS_MAX);
	saved->numbers = numbers;
	saved->n = n;
	block(numbers, n, &set, &saved->mask);
	action.sa_mask = set; /* a handler is interrupted by none of them either */
	for (u32 i = 0; i < n; i++)
		sigaction(numbers[i], &action, &saved->actions[i]);
	sigprocmask(how, &set, NULL);
}

static void on_nothing(int number)
{
}

void signals_let_in(struct signals *saved)
{
	static const int key[] = { SIGINT };
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	signals_take(saved, key, sigismember(&now, SIGINT) == 1, on_nothing, 0, SIG_UNBLOCK);
}

void signals_lend(struct signals *saved)
{
	static const int keys[] = { SIGINT, SIGQUIT };

	/* Not SIG_IGN, which exec would leave the child. */
	signals_take(saved, keys, ARRAY_SIZE(keys), on_nothing, SA_RESTART, SIG_UNBLOCK);
}

void signals_give_back(const struct signals *saved)
{
	sigset_t set, now;

	block(saved->numbers, saved->n, &set, &now);
	for (u32 i = 0; i < saved->n; i++)
		sigaction(saved->numbers[i], &saved->actions[i], NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}
