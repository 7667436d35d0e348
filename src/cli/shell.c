/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql without a query: lines -> statements -> runs.  A statement ends at its ";", found
 * by the lexer of the language; what SET and CREATE VIEW did stays for those behind it.
 * ^C ends the query that runs, and not the shell.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shell.h"
#include "cli/signals.h"

static void on_interrupt(int number)
{
}

static void drop_front(struct buf *text, size_t n)
{
	n = MIN(n, text->n); /* a statement that was stopped has dropped all */
	memmove(text->at, text->at + n, text->n - n);
	text->n -= n;
}

static void remember(struct shell *shell, const char *text, size_t n_bytes)
{
	if (shell->edit)
		edit_remember(shell->edit, text, n_bytes);
}

static size_t count_blanks(const struct buf *text)
{
	size_t n = 0;

	while (n < text->n && strchr(" \t\r\n\f\v", text->at[n]))
		n++;
	return n;
}

/* Runs the whole statements in shell->text; the rest waits for more. */
static void run_statements(struct shell *shell)
{
	struct buf *text = &shell->text;
	bool is_behind = false;
	struct buf statement;

	buf_init(&statement);
	while (!shell->is_over) {
		bool is_blank = true;
		size_t n;

		drop_front(text, count_blanks(text));
		n = text->n ? sql_statement_bytes(text->at, text->n, &is_blank) : 0;
		/* A comment on the line of a ";" begins nothing; one before a view is the view's.
		 */
		if (!n && is_behind && is_blank)
			buf_reset(text);
		if (!n)
			break;
		is_behind = true;
		buf_reset(&statement);
		buf_put(&statement, text->at, n);
		drop_front(text, n);
		if (is_blank)
			continue;
		remember(shell, statement.at, n);
		shell_statement(shell, statement.at, n);
	}
	buf_free(&statement);
}

/* At the end of the input the last statement needs no ";". */
static void run_rest(struct shell *shell)
{
	struct buf *text = &shell->text;
	bool is_blank;

	drop_front(text, count_blanks(text));
	if (!text->n || shell->is_over)
		return;
	buf_putc(text, '\n');
	sql_statement_bytes(text->at, text->n, &is_blank);
	if (!is_blank)
		shell_statement(shell, text->at, text->n);
}

static bool is_word(const char *line, const char *word)
{
	size_t n = strlen(word);

	return strncmp(line, word, n) == 0 && line[n + strspn(line + n, " \t;\r\n")] == '\0';
}

/* What people type to leave or to be helped, where no statement has begun. */
static const char *command_meant(const char *line)
{
	if (is_word(line, "quit") || is_word(line, "exit"))
		return "\\q";
	if (is_word(line, "help") || is_word(line, "?"))
		return "\\?";
	return *line == '\\' ? line : NULL;
}

static void take_line(struct shell *shell, const char *line)
{
	const char *at = line + strspn(line, " \t");
	const char *command = shell->text.n ? NULL : command_meant(at);

	if (command) {
		remember(shell, at, strlen(at));
		shell_command(shell, command);
		return;
	}
	buf_puts(&shell->text, line);
	buf_putc(&shell->text, '\n');
	run_statements(shell);
}

static void read_terminal(struct shell *shell)
{
	const char *line;

	while (!shell->is_over) {
		switch (edit_read(shell->edit, shell->text.n == 0, &line)) {
		case EDIT_LINE:
			take_line(shell, line);
			break;
		case EDIT_CANCELLED:
			buf_reset(&shell->text);
			break;
		case EDIT_OVER:
			shell->is_over = true;
			break;
		}
	}
}

/* true: something was there to read. */
static bool read_pipe(struct shell *shell)
{
	bool is_any = false;
	size_t room = 0;
	char *line = NULL;
	ssize_t n;

	while (!shell->is_over && (n = getline(&line, &room, stdin)) >= 0) {
		if (n && line[n - 1] == '\n')
			line[--n] = '\0';
		/* A NUL is for the lexer to refuse. */
		if (strlen(line) != (size_t)n) {
			buf_put(&shell->text, line, (size_t)n);
			buf_putc(&shell->text, '\n');
			run_statements(shell);
		} else {
			take_line(shell, line);
		}
		is_any |= n > 0;
	}
	run_rest(shell);
	free(line);
	return is_any;
}

static void put_back_stdout(struct shell *shell)
{
	if (shell->stdout_fd < 0)
		return;
	fflush(stdout);
	dup2(shell->stdout_fd, STDOUT_FILENO);
	close(shell->stdout_fd);
}

int shell_run(const struct options *options)
{
	struct shell shell = { .options = *options, .stdout_fd = -1 };
	static const int interrupts[] = { SIGINT };
	bool is_any = true, is_terminal;
	struct signals interrupt;

	arena_init(&shell.keep.arena);
	settings_init(&shell.keep.settings);
	views_init(&shell.keep.views, &shell.keep.arena);
	shell.streams.arena = &shell.keep.arena;
	buf_init(&shell.text);
	if (isatty(STDIN_FILENO))
		shell.edit = edit_open(&shell);
	is_terminal = shell.edit != NULL;
	if (is_terminal) {
		puts("ebql " EBQL_VERSION
		     ".  A query ends with \";\".  \\? for help, \\q to leave.");
		fflush(stdout);
		/*
		 * ^C waits, unless the editor or a run takes it: what comes between a line and
		 * its run ends that at once, what comes behind a run drops the empty line.
		 */
		signals_take(&interrupt, interrupts, ARRAY_SIZE(interrupts), on_interrupt,
			     SA_RESTART, SIG_BLOCK);
		read_terminal(&shell);
		signals_give_back(&interrupt);
		edit_close(shell.edit);
	} else {
		is_any = read_pipe(&shell);
	}
	put_back_stdout(&shell);
	if (!is_any) {
		options_help(stderr);
		shell.status = 2;
	}
	catalog_close(shell.keep.catalog);
	buf_free(&shell.text);
	arena_free(&shell.keep.arena);
	/* The user has seen what went wrong. */
	return is_terminal ? 0 : shell.status;
}
