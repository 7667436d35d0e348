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

#include "host/signals.h"
#include "host/tell.h"
#include "out/out.h"

static bool is_quiet;

void tell_be_quiet(void)
{
	is_quiet = true;
}

bool tell_is_quiet(void)
{
	return is_quiet;
}

static void tell_va(const char *format, va_list args)
{
	struct buf text;

	buf_init(&text);
	buf_vprintf(&text, format, args);
	tell_print(&text, stderr);
}

void tell(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell_va(format, args);
	va_end(args);
}

void tell_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!is_quiet)
		tell_va(format, args);
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

int tell_no_memory(void)
{
	fputs("ebql: out of memory\n", stderr);
	return 1;
}

void tell_put_errno(struct buf *out, const char *what, int error)
{
	const char *hint = diag_machine_hint(error);

	out_put_visible(out, what, strlen(what), 0);
	buf_printf(out, "%s%s\n", *what ? ": " : "", strerror(error));
	if (hint)
		buf_printf(out, "  hint: %s\n", hint);
}

int tell_failed(const char *what, int error)
{
	struct buf text;

	buf_init(&text);
	buf_puts(&text, "ebql: ");
	tell_put_errno(&text, what, error);
	tell_print(&text, stderr);
	return 1;
}

int tell_answer(struct buf *out, int status)
{
	int error = buf_flush(out, STDOUT_FILENO, NULL);

	buf_free(out);
	return error ? tell_failed(TELL_STDOUT, -error) : status;
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

u32 tell_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= FOLD_MIN ? size.ws_col : 0;
}

/* Behind a sentence there are two blanks as well, and no column begins. */
static bool ends_sentence(char c)
{
	return c == '.' || c == ':' || c == ';' || c == '?';
}

/* Where the last column of a line begins; of prose the first word. */
static u32 find_indent(const char *line, size_t n, u32 width)
{
	u32 indent = 0, at = 0, gap = 0;

	for (size_t i = 0; i < n && at <= width / 2; i++) {
		if (line[i] == ' ') {
			gap++;
		} else {
			if (gap > 2 || gap == i || (gap == 2 && !ends_sentence(line[i - gap - 1])))
				indent = at;
			gap = 0;
		}
		at += (line[i] & 0xC0) != 0x80;
	}
	return indent;
}

/* Bytes of a line that fit, up to a blank behind the first `least` of them. */
static size_t fitting(const char *line, size_t n, u32 width, u32 least)
{
	size_t blank = 0, i = 0;
	u32 at = 0;

	for (; i < n && (at <= width || !blank); i++) {
		if (line[i] == ' ' && at > least)
			blank = i;
		at += (line[i] & 0xC0) != 0x80;
	}
	return at <= width || !blank ? n : blank;
}

#define COMMENT "-- " /* in SQL, and so on each of the lines that it becomes */

void tell_fold(struct buf *out, int fd)
{
	u32 width = tell_columns(fd);
	struct buf folded;

	if (!width)
		return;
	buf_init(&folded);
	for (size_t at = 0; at < out->n; at++) {
		size_t n = strcspn(out->at + at, "\n");
		bool is_comment = strncmp(out->at + at, COMMENT, strlen(COMMENT)) == 0;
		u32 indent = is_comment ? 0 : find_indent(out->at + at, n, width);
		u32 before = 0;

		while (n) {
			size_t fits = fitting(out->at + at, n, width - before, before ? 0 : indent);

			buf_put(&folded, out->at + at, fits);
			at += fits;
			n -= fits;
			while (n && out->at[at] == ' ') {
				at++;
				n--;
			}
			if (!n)
				break;
			buf_putc(&folded, '\n');
			buf_puts(&folded, is_comment ? COMMENT : "");
			buf_fill(&folded, ' ', indent);
			before = indent + (is_comment ? strlen(COMMENT) : 0);
		}
		if (at < out->n)
			buf_putc(&folded, '\n');
	}
	buf_free(out);
	*out = folded;
}

void tell_print(struct buf *out, FILE *to)
{
	tell_fold(out, fileno(to));
	fwrite(out->at, 1, out->n, to);
	buf_free(out);
}

int tell_paged(struct buf *out, int status)
{
	const char *pager = getenv("PAGER") ?: "less -FRX";
	void (*broken)(int number);
	struct signals lent;
	bool is_shown = false;
	FILE *pipe;

	if (!*pager || !is_long(out))
		return tell_answer(out, status);
	signals_lend(&lent);
	pipe = popen(pager, "we");
	if (pipe) {
		/* Who leaves it need not have seen all. */
		broken = signal(SIGPIPE, SIG_IGN);
		fwrite(out->at, 1, out->n, pipe);
		is_shown = pclose(pipe) != 127 << 8; /* of sh: there is no such program */
		signal(SIGPIPE, broken);
	}
	signals_give_back(&lent);
	if (!is_shown)
		return tell_answer(out, status);
	buf_free(out);
	return status;
}

int tell_diags(struct query *query)
{
	struct buf out;
	int status = diags_have_failure(&query->diags) ? 1 : diags_failed(&query->diags) ? 2 : 0;

	if (is_quiet)
		leave_remarks_out(&query->diags);
	if (!query->diags.list.n)
		return status;
	buf_init(&out);
	query->diags.columns = tell_columns(STDERR_FILENO);
	diags_print(&query->diags, &out);
	if (!status)
		query->diags.list.n = 0; /* warnings are shown once */
	/* Not buf_flush(): a stopped terminal must not keep a program that is told to end. */
	tell_print(&out, stderr);
	return status;
}
