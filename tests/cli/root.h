/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tests that load programs are skipped for others than root.
 */
#ifndef TESTS_CLI_ROOT_H
#define TESTS_CLI_ROOT_H

#include <unistd.h>

#define NEEDS_ROOT()                                                                               \
	do {                                                                                       \
		if (geteuid() != 0) {                                                              \
			print_message("SKIP: needs root\n");                                       \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

#endif
