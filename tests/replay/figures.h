/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What operators of a run counted: do the figures add up, one operator to the next, and all of
 * them to the account of the run?
 */
#ifndef EBQL_TESTS_FIGURES_H
#define EBQL_TESTS_FIGURES_H

#include "engine/internal.h"

/* NULL, or what does not. */
const char *figures_check(struct flow *flow, struct arena *arena);

#endif
