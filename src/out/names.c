/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What structured formats call their columns: a schema's names, made unique by suffixes.
 */
#include "out/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool out_has_column(const struct schema *schema, const char *name)
{
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (strcmp(schema->columns[i].name, name) == 0)
			return true;
	}
	return false;
}

/* What is given already, and what stays for those whose own name it is. */
static bool is_taken(const struct out_names *names, const char *name, bool is_made,
		     const struct schema *schema, const char *const *reserved, u32 n_reserved)
{
	for (u32 i = 0; i < n_reserved; i++) {
		if (strcmp(reserved[i], name) == 0)
			return true;
	}
	for (u32 i = 0; i < names->n; i++) {
		if (names->names[i] && strcmp(names->names[i], name) == 0)
			return true;
	}
	return is_made && out_has_column(schema, name);
}

/* fd, fd_2, fd_3, ...: the first that is free.  NULL: no memory. */
static char *free_name(const struct out_names *names, const char *name, const char *end,
		       const struct schema *schema, const char *const *reserved, u32 n_reserved)
{
	char *made;
	int n = asprintf(&made, "%s%s", name, end);

	for (u32 suffix = 2;
	     n >= 0 && is_taken(names, made, *end || suffix > 2, schema, reserved, n_reserved);
	     suffix++) {
		free(made);
		n = asprintf(&made, "%s%s_%u", name, end, suffix);
	}
	return n < 0 ? NULL : made;
}

int out_names_init(struct out_names *names, const struct schema *schema,
		   const char *const *reserved, u32 n_reserved)
{
	static const char *const ends[OUT_NAMES_A_COLUMN] = { "", "_lo", "_hi" };
	u32 n = schema->n_columns * OUT_NAMES_A_COLUMN;

	*names = (struct out_names){ .n = n, .names = calloc(n + 1, sizeof(char *)) };
	/* The bounds' names come behind all others, so it is they that get a suffix. */
	for (u32 k = 0; names->names && k < OUT_NAMES_A_COLUMN; k++) {
		for (u32 i = 0; i < schema->n_columns; i++) {
			char **own = &names->names[i * OUT_NAMES_A_COLUMN];

			if (k && schema->columns[i].type.kind != TYPE_QUANTILE)
				continue;
			own[k] = free_name(names, k ? own[0] : schema->columns[i].name, ends[k],
					   schema, reserved, n_reserved);
			if (!own[k]) {
				out_names_free(names);
				return -ENOMEM;
			}
		}
	}
	if (!names->names)
		names->n = 0;
	return names->names ? 0 : -ENOMEM;
}

void out_names_free(struct out_names *names)
{
	for (u32 i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct out_names){ 0 };
}
