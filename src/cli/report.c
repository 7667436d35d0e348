/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Diagnostics and errnos -> standard error, and exit statuses.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/report.h"
#include "out/out.h"

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
