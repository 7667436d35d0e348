/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The options that list and describe share, and the catalog they then ask.
 */
#ifndef EBQL_CLI_CATALOG_OPTIONS_H
#define EBQL_CLI_CATALOG_OPTIONS_H

#include "cat/cat.h"
#include "plan/plan.h"

struct catalog_options {
	bool is_json;
	const char *snapshot; /* --catalog FILE; NULL: the live kernel */
	const char *argument; /* the only positional one, or NULL */
};

/* false after a complaint on stderr (then exit with 2); usage is the text behind "usage: ". */
bool catalog_options_parse(int argc, char **argv, const char *usage,
			   struct catalog_options *ret_options);
/* NULL after a diagnostic. */
struct catalog *catalog_options_open(const struct catalog_options *options, struct arena *arena,
				     struct diags *diags);
/* Prints the streams and views that match the pattern; 0, or 1 after a complaint. */
int list_streams(struct catalog *catalog, const char *pattern, bool is_json,
		 struct view_list *views, struct diags *diags);
/* Writes the diagnostics to stderr. */
void catalog_complain(const struct diags *diags);

#endif
