/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The words of a command line -> struct options, as the subcommand takes them.
 */
#ifndef EBQL_CLI_OPTIONS_H
#define EBQL_CLI_OPTIONS_H

#include "host/host.h"

/* A subcommand, or, without a name, what runs a query. */
struct command {
	const char *name;
	const char *usage;   /* behind "usage: ebql "; NULL: the help has it */
	const char *letters; /* of the options that it takes */
	enum {
		TAKES_NOTHING,
		TAKES_MAYBE_A_WORD,
		TAKES_A_WORD,
		TAKES_WORDS,
		TAKES_PATTERNS,
		TAKES_A_QUERY
	} takes;
	/* The process' exit status: see cli.h. */
	int (*run)(struct options *options);
	bool writes_file;  /* which -o names, instead of a format */
	const char *about; /* what it does, whole lines; NULL: the help says it */
};

/* Of the options of what runs a query, each one's letter; -O is of one that runs alone. */
#define RUN_LETTERS "ecfodnpvhHBAEMVWPqRU"

/* -1 to go on, else the exit status. */
int options_parse(struct options *options, const struct command *command, int argc, char **argv);
void options_free(struct options *options);
void options_help(FILE *out);

#endif
