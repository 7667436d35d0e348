/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Diagnostics and errnos -> standard error, and exit statuses.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"
#include "out/out.h"

static bool is_quiet;

void query_be_quiet(void)
{
	is_quiet = true;
}

bool query_is_quiet(void)
{
	return is_quiet;
}

void query_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!is_quiet)
		vfprintf(stderr, format, args);
	va_end(args);
}

/* Remarks on the text go. */
static void leave_remarks_out(struct diags *diags)
{
	u32 n = 0;

	for (u32 i = 0; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.at[i];

		if (!d->is_warning || !d->has_span || d->is_loss)
			diags->list.at[n++] = *d;
	}
	diags->list.n = n;
}

int query_no_memory(void)
{
	fputs("ebql: out of memory\n", stderr);
	return 1;
}

int query_failed(const char *what, int error)
{
	const char *hint = diag_machine_hint(error);
	struct buf shown;

	buf_init(&shown);
	out_put_visible(&shown, what, strlen(what), 0);
	fprintf(stderr, "ebql: %s%s%s\n", shown.at, *what ? ": " : "", strerror(error));
	buf_free(&shown);
	if (hint)
		fprintf(stderr, "  hint: %s\n", hint);
	return 1;
}

int query_say(struct buf *out, int status)
{
	int error = buf_flush(out, STDOUT_FILENO, NULL);

	buf_free(out);
	return error ? query_failed(QUERY_STDOUT, -error) : status;
}

int query_report(struct query *query)
{
	struct buf out;
	int status = diags_have_failure(&query->diags) ? 1 : diags_failed(&query->diags) ? 2 : 0;

	if (is_quiet)
		leave_remarks_out(&query->diags);
	if (!query->diags.list.n)
		return status;
	buf_init(&out);
	diags_print(&query->diags, &out);
	if (!status)
		query->diags.list.n = 0; /* warnings are shown once */
	/* Not buf_flush(): a stopped terminal must not keep a program that is told to end. */
	fwrite(out.at, 1, out.n, stderr);
	buf_free(&out);
	return status;
}
