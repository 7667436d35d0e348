/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages about the command line that its parsers share.
 */
#ifndef EBQL_CLI_COMPLAIN_H
#define EBQL_CLI_COMPLAIN_H

/* getopt_long() gave c: '?' for what it does not know, ':' for a value that is missing. */
void complain_option(int c, char **argv);

#endif
