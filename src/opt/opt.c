/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The pass table of the optimiser.
 */
#include <string.h>

#include "opt/rules.h"

/* What is pushed into a branch of a union meets the constants there: the rules go round again. */
#define N_ROUNDS 2

const struct opt_rule opt_rules[] = {
	{ "fold", "compute constants and what the ranges of values decide", opt_fold },
	{ "split", "make one condition of each side of an AND", opt_split },
	{ "keys", "group by no key that a condition or another key tells", opt_keys },
	{ "unused", "leave out LEFT joins whose right side nothing reads", opt_unused },
	{ "same_thread", "test before pairing what both ends of a call agree on", opt_same_thread },
	{ "push_down", "test conditions below joins, unions and running sums", opt_push_down },
	{ "order", "test cheap conditions that drop much first", opt_order },
	{ "share", "compute once what several parts of the query use", opt_share },
	{ "cells", "keep once what several aggregates count or sum", opt_cells },
};

const u32 opt_n_rules = ARRAY_SIZE(opt_rules);

bool opt_is_off(const char *rules_off, const char *name)
{
	size_t n = strlen(name);

	if (strcmp(rules_off, "all") == 0)
		return true;
	for (const char *at = rules_off; *at;) {
		size_t length = strcspn(at, ", ");

		if (length == n && strncmp(at, name, n) == 0)
			return true;
		at += length;
		at += strspn(at, ", ");
	}
	return false;
}

struct plan *opt_run(struct plan *plan, const struct settings *settings, struct arena *arena)
{
	for (u32 round = 0; round < N_ROUNDS; round++)
		for (u32 i = 0; i < opt_n_rules; i++)
			if (!opt_is_off(settings->rules_off, opt_rules[i].name))
				plan = opt_rules[i].apply(plan, arena);
	return plan;
}
