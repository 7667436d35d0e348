/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows that a subcommand has computed itself, in the formats of results.
 */
#ifndef EBQL_CLI_FIGURES_H
#define EBQL_CLI_FIGURES_H

#include "cli/options.h"

struct figures {
	struct arena *arena;
	struct schema schema;
	VEC(struct value) values; /* row after row */
};

/* false after a complaint: such rows have no such form. */
bool figures_check(const struct options *options);
void figures_init(struct figures *figures, struct arena *arena, const struct column *columns,
		  u32 n_columns);
void figures_text(struct figures *figures, const char *text);
void figures_int(struct figures *figures, s128 value);
/* Of three significant digits; NAN: NULL. */
void figures_real(struct figures *figures, double value);
/* To standard output; the exit status.  account: of the run that they are of, or NULL. */
int figures_say(const struct figures *figures, const struct options *options,
		const struct account *account);

#endif
