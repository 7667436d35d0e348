/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What stands on the command line of a run.
 */
#ifndef EBQL_CLI_OPTIONS_H
#define EBQL_CLI_OPTIONS_H

#include "base/buf.h"
#include "out/out.h"
#include "cli/host.h"

struct options {
	struct buf text;  /* the query */
	const char *file; /* its name in messages */
	const struct out_format *format;
	const char *record_path; /* of "ebql record"; NULL: rows go to standard output */
	struct host_options host;
	u64 every_ns;	/* --every; 0: none */
	int target_pid; /* -p; -1: none */
	char **command; /* behind --; NULL: none */
	bool is_verbose;
	bool has_format, is_heatmap; /* -o, --heatmap */
	bool is_ascii;		     /* --ascii */
	bool is_shell;		     /* no query: statements are read from standard input */
	u32 bins;		     /* --bins: a number or OUT_BINS_*; 0: all cells */
};

/* -1 to go on, else the exit status. */
int options_parse(struct options *options, int argc, char **argv);
void options_help(FILE *out);
/*
 * Takes the first query that begins with a comment ("-- hello\nSELECT ...") out of argv,
 * where getopt would see an option; NULL when there is none.
 */
const char *options_take_comment(int *argc, char **argv);
/* "10s", "500ms", a bare number of seconds; false when it is none. */
bool options_duration(const char *text, u64 *ret_ns);

#endif
