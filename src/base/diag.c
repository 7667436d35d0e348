/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Diagnostics: collected by the compiler stages, printed with the source line
 * and carets under the span.  Text of the user's is shown with control bytes and
 * bytes that are no UTF-8 as ".", so a message cannot drive the terminal.
 */
#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "base/utf8.h"

/* Columns of a source line that are shown; longer lines are cut around the span. */
#define DIAG_LINE_COLUMNS  100
#define DIAG_LEAST_COLUMNS 20
/* Around a line that is cut: "  ..." and "...". */
#define DIAG_MARK_COLUMNS 8

void diags_init(struct diags *diags, struct arena *arena, const char *file, const char *text,
		size_t text_bytes)
{
	*diags = (struct diags){
		.arena = arena, .file = file, .text = text, .text_bytes = text_bytes
	};
}

/*
 * The hint stands behind the message: how long that is, the format up to HINT tells.  An empty one
 * is none.
 */
static void set_message(struct diags *diags, struct diag *diag, const char *format, va_list args)
{
	const char *hint = strchr(format, HINT[0]);
	char *message;
	va_list again;
	int n;

	va_copy(again, args);
	message = arena_vprintf(diags->arena, format, args);
	if (hint) {
		n = vsnprintf(NULL, 0, arena_strndup(diags->arena, format, (size_t)(hint - format)),
			      again);
		message[n] = '\0';
		diag->hint = message[n + 1] ? message + n + 1 : NULL;
	}
	va_end(again);
	diag->message = message;
}

struct diag *diag_vadd(struct diags *diags, enum diag_kind kind, const char *tag, struct span span,
		       const char *format, va_list args)
{
	struct diag diag = { .tag = tag,
			     .span = span,
			     .has_span = span.start != SPAN_NONE.start,
			     .is_warning = kind == DIAG_WARNING,
			     .is_failure = kind == DIAG_FAILURE };
	u32 i, n_same = 0;

	/* What an alias stands for is bound wherever the alias stands: it is said once. */
	for (i = 0; i < diags->list.n && diag.has_span; i++)
		if (diags->list.at[i].has_span && strcmp(diags->list.at[i].tag, tag) == 0 &&
		    diags->list.at[i].span.start == span.start &&
		    diags->list.at[i].span.end == span.end) {
			return NULL;
		}
	if (!diag.is_warning)
		diags->n_errors++;
	for (i = 0; i < diags->list.n; i++)
		n_same += diags->list.at[i].is_warning == diag.is_warning;
	if (n_same >= DIAG_MAX)
		return NULL;
	set_message(diags, &diag, format, args);
	vec_push(diags->arena, &diags->list, diag);
	return &diags->list.at[diags->list.n - 1];
}

struct diag *diag_add(struct diags *diags, enum diag_kind kind, const char *tag, struct span span,
		      const char *format, ...)
{
	struct diag *diag;
	va_list args;

	va_start(args, format);
	diag = diag_vadd(diags, kind, tag, span, format, args);
	va_end(args);
	return diag;
}

bool diags_have_failure(const struct diags *diags)
{
	for (u32 i = 0; i < diags->list.n; i++)
		if (diags->list.at[i].is_failure)
			return true;
	return false;
}

const char *diag_machine_hint(int error)
{
	switch (error) {
	case EMFILE:
		return "raise the limit of open files, RLIMIT_NOFILE (ulimit -n)";
	case ENFILE:
		return "the whole machine has too many files open: sysctl fs.file-max";
	case ENOMEM:
		return "the machine is short of memory, or a limit is reached: of this process "
		       "(ulimit -v, -l) or of its cgroup (memory.max)";
	case EAGAIN:
		return "a limit is reached: of processes and threads (ulimit -u, pids.max of the "
		       "cgroup) or of locked memory (ulimit -l)";
	case ENOSPC:
	case EDQUOT:
		return "there is no room left there, or no more that this user may have";
	case EFBIG:
		return "a limit is reached: of the sizes of files, RLIMIT_FSIZE (ulimit -f), or "
		       "of that file system";
	}
	return NULL;
}

void diag_hint(struct diags *diags, struct diag *diag, const char *format, ...)
{
	va_list args;

	if (!diag)
		return;
	va_start(args, format);
	diag->hint = arena_vprintf(diags->arena, format, args);
	va_end(args);
}

/* One character as shown; bytes that are none count as one column each. */
static size_t put_shown(struct buf *out, const char *text, size_t n, bool keep_tabs)
{
	size_t length = utf8_length(text, n);
	unsigned char c = (unsigned char)text[0];
	/* U+0080..U+009F are control characters too (C2 80 .. C2 9F). */
	bool is_c1 = length == 2 && c == 0xC2 && (unsigned char)text[1] < 0xA0;

	if (!length || is_c1 || c == 0x7F || (c < 0x20 && !(c == '\t' && keep_tabs)))
		buf_putc(out, '.');
	else
		buf_put(out, text, length);
	return length ? length : 1;
}

static void put_safe(struct buf *out, const char *text)
{
	size_t n = strlen(text), i = 0;

	while (i < n)
		i += put_shown(out, text + i, n - i, false);
}

static size_t columns_of(const char *text, size_t n)
{
	size_t i = 0, columns = 0;

	while (i < n) {
		size_t length = utf8_length(text + i, n - i);

		i += length ? length : 1;
		columns++;
	}
	return columns;
}

static size_t bytes_of(const char *text, size_t n, size_t columns)
{
	size_t i = 0;

	while (i < n && columns--) {
		size_t length = utf8_length(text + i, n - i);

		i += length ? length : 1;
	}
	return i;
}

/* Where in the text a span lies: its line [start, end) and the columns within. */
struct place {
	size_t line_start, line_end;
	size_t line;		  /* from 1 */
	size_t column, n_columns; /* from 0; carets, at least 1 */
};

static struct place find_place(const struct diags *diags, struct span span)
{
	size_t start = MIN((size_t)span.start, diags->text_bytes), end, i;
	const char *text = diags->text;
	struct place place = { .line = 1 };

	/* "End of input" is shown behind the last word, not on an empty last line. */
	if (start == diags->text_bytes)
		while (start && strchr(" \t\r\n", text[start - 1]) && text[start - 1])
			start--;
	for (i = 0; i < start; i++) {
		if (text[i] == '\n') {
			place.line++;
			place.line_start = i + 1;
		}
	}
	place.line_end = start;
	while (place.line_end < diags->text_bytes && text[place.line_end] != '\n')
		place.line_end++;
	if (place.line_end > start && text[place.line_end - 1] == '\r')
		place.line_end--;
	end = MAX(MIN((size_t)span.end, place.line_end), start);
	place.column = columns_of(text + place.line_start, start - place.line_start);
	place.n_columns = MAX(columns_of(text + start, end - start), (size_t)1);
	return place;
}

void diags_place(const struct diags *diags, struct span span, u32 *ret_line, u32 *ret_column)
{
	struct place place;

	*ret_line = *ret_column = 0;
	if (span.start == SPAN_NONE.start || !diags->text)
		return;
	place = find_place(diags, span);
	*ret_line = (u32)place.line;
	*ret_column = (u32)place.column + 1;
}

static size_t most_columns(const struct diags *diags)
{
	if (!diags->columns)
		return DIAG_LINE_COLUMNS;
	return MAX(MIN(diags->columns, DIAG_LINE_COLUMNS + DIAG_MARK_COLUMNS) - DIAG_MARK_COLUMNS,
		   DIAG_LEAST_COLUMNS);
}

static void print_source(const struct diags *diags, const struct place *place, struct buf *out)
{
	const char *line = diags->text + place->line_start;
	size_t n = place->line_end - place->line_start;
	size_t columns = columns_of(line, n), first = 0, carets = place->n_columns, i = 0;
	size_t most = most_columns(diags), lead = most * 2 / 5, column;
	bool cut_left, cut_right;

	if (columns > most && place->column > lead)
		first = MIN(place->column - lead, columns - most / 2);
	cut_left = first > 0;
	i = bytes_of(line, n, first);
	line += i;
	n -= i;
	columns -= first;
	cut_right = columns > most;
	if (cut_right)
		n = bytes_of(line, n, most);

	buf_puts(out, cut_left ? "  ..." : "  ");
	for (i = 0; i < n;) {
		bool is_blank = line[i] == '\t' && diags->columns;

		i += put_shown(out, is_blank ? " " : line + i, is_blank ? 1 : n - i, true);
	}
	buf_puts(out, cut_right ? "...\n" : "\n");

	buf_puts(out, cut_left ? "     " : "  ");
	for (i = 0, column = first; column < place->column; column++) {
		size_t length = i < n ? utf8_length(line + i, n - i) : 1;

		buf_putc(out, i < n && line[i] == '\t' && !diags->columns ? '\t' : ' ');
		i += length ? length : 1;
	}
	if (place->column - first + carets > most)
		carets = MAX(most - MIN(place->column - first, most), (size_t)1);
	buf_fill(out, '^', carets);
	buf_putc(out, '\n');
}

static void print_one(const struct diags *diags, const struct diag *diag, struct buf *out)
{
	buf_printf(out, "%s[%s]: ", diag->is_warning ? "warning" : "error", diag->tag);
	put_safe(out, diag->message);
	buf_putc(out, '\n');
	if (diag->has_span && diags->text) {
		struct place place = find_place(diags, diag->span);

		buf_puts(out, "  ");
		put_safe(out, diags->file);
		buf_printf(out, ":%zu:%zu\n", place.line, place.column + 1);
		print_source(diags, &place, out);
	} else if (diags->is_of_many) {
		buf_puts(out, "  ");
		put_safe(out, diags->file);
		buf_putc(out, '\n');
	}
	if (diag->hint) {
		buf_puts(out, "  hint: ");
		put_safe(out, diag->hint);
		buf_putc(out, '\n');
	}
}

void diags_print(const struct diags *diags, struct buf *out)
{
	u32 i, n_shown = 0;

	for (i = 0; i < diags->list.n; i++) {
		print_one(diags, &diags->list.at[i], out);
		n_shown += !diags->list.at[i].is_warning;
	}
	if (diags->n_errors > n_shown)
		buf_printf(out, "... and %u more error%s\n", diags->n_errors - n_shown,
			   diags->n_errors - n_shown == 1 ? "" : "s");
}
