/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Text -> real numbers.
 */
#ifndef EBQL_BASE_REAL_H
#define EBQL_BASE_REAL_H

/* strtod() as in the locale "C", whatever locale the program around us has. */
double base_real(const char *text, char **ret_end);

#endif
