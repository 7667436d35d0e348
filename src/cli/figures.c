/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of a subcommand -> one batch -> the format of -o.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/figures.h"

bool figures_check(const struct options *options)
{
	const struct out_format *format = options->format;

	if (!format->needs_histogram && !format->needs_calls && !format->needs_rows)
		return true;
	tell("ebql: -o: such figures are no %s\n", format->name);
	return false;
}

void figures_init(struct figures *f, struct arena *arena, const struct column *columns,
		  u32 n_columns)
{
	*f = (struct figures){ .arena = arena };
	f->schema.n_columns = n_columns;
	f->schema.columns = arena_array(arena, struct column, n_columns);
	memcpy(f->schema.columns, columns, n_columns * sizeof(*columns));
}

void figures_text(struct figures *f, const char *text)
{
	vec_push(f->arena, &f->values,
		 (struct value){ .kind = VALUE_TEXT, .text = text, .n = (u32)strlen(text) });
}

void figures_int(struct figures *f, s128 value)
{
	vec_push(f->arena, &f->values, (struct value){ .kind = VALUE_INT, .integer = value });
}

void figures_real(struct figures *f, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3g", value);
	vec_push(f->arena, &f->values,
		 isnan(value) ? (struct value){ .kind = VALUE_NULL }
			      : (struct value){ .kind = VALUE_REAL, .real = strtod(text, NULL) });
}

int figures_say(const struct figures *f, const struct options *options,
		const struct account *account)
{
	const struct out_options how = { .is_terminal = isatty(STDOUT_FILENO),
					 .is_ascii = options->is_ascii,
					 .is_streaming = true,
					 .is_timeless = true };
	struct batch batch = { .schema = &f->schema,
			       .n_rows = f->values.n / f->schema.n_columns,
			       .values = f->values.at,
			       .other_row = -1,
			       .is_last = true };
	struct out_file out;
	int error, closed;

	if (account)
		batch.account = *account;
	error = out_file_open(&out, options->format, STDOUT_FILENO, &how, &f->schema);
	if (!error)
		error = out_file_batch(&out, &batch);
	closed = out_file_close(&out, error);
	error = error ? error : closed;
	return error ? tell_failed(TELL_STDOUT, -error) : 0;
}
