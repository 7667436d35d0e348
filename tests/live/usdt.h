/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A probe with a semaphore: of those all probes of a source file have one, or none. */
#ifndef EBQL_TESTS_LIVE_USDT_H
#define EBQL_TESTS_LIVE_USDT_H

#include "base/base.h"

bool usdt_listens(void);
/* Passes the probe so often, with the numbers from 0 on, each time if somebody listens. */
void usdt_ask(u32 n);
/* Passes so often ebql_twin:again, of which there are two notes, and the place of first, second. */
void usdt_twins(u32 n);

#endif
