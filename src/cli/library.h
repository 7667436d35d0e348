/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The queries that ship with ebql, each a text of tools/ with its name.
 */
#ifndef EBQL_CLI_LIBRARY_H
#define EBQL_CLI_LIBRARY_H

#include "base/diag.h"

struct library_entry {
	const char *name, *text;
};

/* One without a name ends them. */
extern const struct library_entry library_entries[];

/* The text of that name; NULL: there is none. */
const char *library_find(const char *name);
void library_offer(struct suggest *suggest);
/* -n NAME of bcc's tools, where one of the words is a tool that has a parameter for it. */
void library_hint_name(char **words, const char *value);
/* What the head of such a text, or of a file, says, and how it is called; the exit status. */
int library_help(const char *name, const char *text);

#endif
