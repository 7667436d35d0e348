/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef EBQL_TESTS_LIVE_DELAY_H
#define EBQL_TESTS_LIVE_DELAY_H

/* What delay.c says on standard error of the program that it delays, once. */
#define DELAY_MARK "looks at the clock are delayed\n"

#endif
