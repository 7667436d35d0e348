/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Diagnostics and errnos -> standard error, and exit statuses.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

#define FOLD_MIN 40 /* columns: in less words are on lines of their own */

/* More lines than the terminal has?  Wide ones are wrapped, or the pager moves sideways. */
static bool is_long(const struct buf *out)
{
	struct winsize size;
	u32 n = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row)
		return false;
	for (size_t i = 0; i < out->n; i++)
		n += out->at[i] == '\n';
	return n >= size.ws_row;
}

/* Bytes of a line that fit; *ret_indent: where its last column begins, of prose its words. */
static size_t fitting(const char *line, size_t n, u32 width, u32 *ret_indent)
{
	size_t blank = 0, i = 0;
	u32 at = 0, gap = 0;

	*ret_indent = 0;
	for (; i < n && at <= width; i++) {
		if (line[i] == ' ') {
			blank = i;
			gap++;
		} else {
			if (gap > 1 && (!*ret_indent || line[0] != ' '))
				*ret_indent = at;
			gap = 0;
		}
		at += (line[i] & 0xC0) != 0x80;
	}
	return at <= width ? n : blank > *ret_indent ? blank : n;
}

void query_fold(struct buf *out)
{
	struct winsize size;
	struct buf folded;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < FOLD_MIN)
		return;
	buf_init(&folded);
	for (size_t at = 0; at < out->n; at++) {
		size_t n = strcspn(out->at + at, "\n");
		u32 indent = 0, more, first = true;

		while (n) {
			size_t fits = fitting(out->at + at, n, size.ws_col - (first ? 0 : indent),
					      first ? &indent : &more);

			buf_put(&folded, out->at + at, fits);
			at += fits;
			n -= fits;
			if (!n)
				break;
			at++;
			n--;
			buf_putc(&folded, '\n');
			buf_fill(&folded, ' ', indent);
			first = false;
		}
		buf_putc(&folded, '\n');
	}
	buf_free(out);
	*out = folded;
}

int query_page(struct buf *out, int status)
{
	const char *pager = getenv("PAGER") ?: "less -FRX";
	FILE *pipe = *pager && is_long(out) ? popen(pager, "we") : NULL;
	void (*interrupt)(int number), (*broken)(int number);
	bool is_shown;

	if (!pipe)
		return query_say(out, status);
	/* ^C is the pager's, and who leaves it need not have seen all. */
	interrupt = signal(SIGINT, SIG_IGN);
	broken = signal(SIGPIPE, SIG_IGN);
	fwrite(out->at, 1, out->n, pipe);
	is_shown = pclose(pipe) != 127 << 8; /* of sh: there is no such program */
	signal(SIGPIPE, broken);
	signal(SIGINT, interrupt);
	if (!is_shown)
		return query_say(out, status);
	buf_free(out);
	return status;
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
