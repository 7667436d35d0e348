/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql without a query, or with several: lines -> statements -> runs.  A statement ends at its
 * ";", found by the lexer of the language; what SET and CREATE VIEW did stays for those behind it.
 * ^C ends the query that runs, and not the shell.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/shell.h"

static void on_nothing(int number)
{
}

/* Does the line belong to the comment that a text begins with, which declares parameters? */
static bool is_of_head(const char *line)
{
	line += strspn(line, " \t\r");
	return *line == '\n' || strncmp(line, "--", 2) == 0 || strncmp(line, "#!", 2) == 0;
}

/*
 * What has been read and is done with, before the next statement: its head as it is, so that that
 * one has its parameters, and of the rest the line ends and the column, for the places in messages.
 * A ";" ends the head.
 */
static void pass(struct shell *shell, const char *at, size_t n)
{
	struct buf *before = &shell->before;

	for (size_t i = 0; i < n; i++) {
		bool is_continued = (at[i] & 0xc0) == 0x80, was_head = shell->is_head;

		if (was_head && (!before->n || before->at[before->n - 1] == '\n'))
			shell->is_head = is_of_head(at + i);
		while (!shell->is_head && at[i] == '\n' && before->n &&
		       before->at[before->n - 1] == ' ')
			before->n--;
		if (shell->is_head || at[i] == '\n' || at[i] == '\t')
			buf_putc(before, at[i]);
		else if (!is_continued)
			buf_putc(before, was_head ? ';' : ' ');
	}
}

static void drop_front(struct shell *shell, size_t n)
{
	struct buf *text = &shell->text;

	n = MIN(n, text->n); /* a statement that was stopped has dropped all */
	if (!shell->edit || shell->depth)
		pass(shell, text->at, n);
	memmove(text->at, text->at + n, text->n - n);
	text->n -= n;
}

static void remember(struct shell *shell, const char *text, size_t n_bytes)
{
	if (shell->edit && !shell->depth)
		edit_remember(shell->edit, text, n_bytes);
}

static size_t count_blanks(const struct buf *text)
{
	size_t n = 0;

	while (n < text->n && strchr(" \t\r\n\f\v", text->at[n]))
		n++;
	return n;
}

static void run_one(struct shell *shell, const char *text, size_t n_bytes)
{
	buf_reset(&shell->last);
	buf_put(&shell->last, text, n_bytes);
	remember(shell, text, n_bytes);
	shell_statement(shell, text, n_bytes);
}

/* Runs the whole statements in shell->text; the rest waits for more. */
static void run_statements(struct shell *shell)
{
	struct buf *text = &shell->text;
	bool is_behind = false;
	struct buf statement;

	buf_init(&statement);
	while (!shell_must_stop(shell)) {
		bool is_blank = true;
		size_t n;

		drop_front(shell, count_blanks(text));
		n = text->n ? sql_statement_bytes(text->at, text->n, &is_blank) : 0;
		/* A comment on the line of a ";" begins nothing; one before a view is the view's.
		 */
		if (!n && is_behind && is_blank)
			drop_front(shell, text->n);
		if (!n)
			break;
		is_behind = true;
		buf_reset(&statement);
		buf_put(&statement, text->at, n);
		if (!is_blank)
			run_one(shell, statement.at, n);
		drop_front(shell, n);
	}
	buf_free(&statement);
}

/* At the end of the input the last statement needs no ";". */
static void run_rest(struct shell *shell)
{
	struct buf *text = &shell->text;
	bool is_blank;

	drop_front(shell, count_blanks(text));
	if (!text->n || shell_must_stop(shell))
		return;
	buf_putc(text, '\n');
	sql_statement_bytes(text->at, text->n, &is_blank);
	if (is_blank)
		return;
	buf_reset(&shell->last);
	buf_put(&shell->last, text->at, text->n);
	shell_statement(shell, shell->last.at, shell->last.n);
}

static bool is_word(const char *line, const char *word)
{
	size_t n = strlen(word);

	return strncmp(line, word, n) == 0 && line[n + strspn(line + n, " \t;\r\n")] == '\0';
}

/* What people type to leave or to be helped, where no statement has begun. */
static const char *command_meant(const char *line)
{
	static const char *const words[][2] = {
		{ "quit", "\\q" },
		{ "exit", "\\q" },
		{ "help", "\\?" },
		{ "?", "\\?" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		if (is_word(line, words[i][0]))
			return words[i][1];
	return *line == '\\' || *line == '.' ? line : NULL;
}

/* What \g and \watch run: it has no ";", and is the latest statement from here on. */
static void take_rest(struct shell *shell)
{
	struct buf *text = &shell->text;
	bool is_blank = true;

	drop_front(shell, count_blanks(text));
	if (text->n)
		sql_statement_bytes(text->at, text->n, &is_blank);
	if (!is_blank) {
		buf_reset(&shell->last);
		buf_put(&shell->last, text->at, text->n);
		remember(shell, text->at, text->n);
	}
	drop_front(shell, text->n);
}

static void read_file(struct shell *shell, FILE *file, const char *name);

static void read_asked(struct shell *shell)
{
	FILE *file = shell->asked;
	char *name = shell->asked_name;

	if (!file)
		return;
	shell->asked = NULL;
	shell->asked_name = NULL;
	read_file(shell, file, name ?: "");
	fclose(file);
	free(name);
}

static void run_command(struct shell *shell, const char *line, const char *command)
{
	if (!shell->text.n)
		remember(shell, line, strlen(line));
	shell_command(shell, command);
	shell_check_output(shell);
	read_asked(shell);
	if (shell->text.n)
		buf_putc(&shell->text, '\n');
	else if (!shell->edit || shell->depth)
		pass(shell, "\n", 1);
}

/* SELECT 1 \gx: a command behind statements, or behind a part of one.  false: there is none. */
static bool take_command_behind(struct shell *shell, const char *line)
{
	size_t before = shell->text.n, at;

	buf_puts(&shell->text, line);
	at = sql_command_at(shell->text.at, shell->text.n);
	if (at < before || at == shell->text.n) {
		shell->text.n = before;
		return false;
	}
	shell->text.n = at;
	line += at - before;
	run_statements(shell);
	if (shell_must_stop(shell))
		return true;
	if (shell_command_runs(line))
		take_rest(shell);
	run_command(shell, line, line);
	return true;
}

static void take_line(struct shell *shell, const char *line)
{
	const char *at = line + strspn(line, " \t");
	const char *command = shell->text.n ? NULL : command_meant(at);

	/* Who does not know how to end a statement can leave all the same. */
	if (shell->edit && !shell->depth && is_word(at, "\\q"))
		command = at;

	if (command) {
		run_command(shell, at, command);
		return;
	}
	if (take_command_behind(shell, line))
		return;
	buf_puts(&shell->text, line);
	buf_putc(&shell->text, '\n');
	run_statements(shell);
}

static void read_terminal(struct shell *shell)
{
	const char *line;

	while (!shell->is_over) {
		shell->is_stopped = false;
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

/* As getline(3); ^C ends the wait for a FIFO's writer. */
static ssize_t read_line(struct shell *shell, char **line, size_t *room, FILE *file)
{
	struct signals key;
	ssize_t n;

	signals_let_in(&key);
	n = getline(line, room, file);
	shell->is_stopped |= n < 0 && errno == EINTR;
	signals_give_back(&key);
	return n;
}

/* true: something was there to read. */
static bool read_lines(struct shell *shell, FILE *file)
{
	bool is_any = false;
	size_t room = 0;
	char *line = NULL;
	ssize_t n;

	while (!shell_must_stop(shell) && (n = read_line(shell, &line, &room, file)) >= 0) {
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

/* Runs the statements of a file, as if they were typed; name: in messages. */
static void read_file(struct shell *shell, FILE *file, const char *name)
{
	struct buf text = shell->text, before = shell->before;
	const char *outer = shell->options.file;
	bool was_head = shell->is_head;

	buf_init(&shell->text);
	buf_init(&shell->before);
	shell->options.file = name;
	shell->is_head = true;
	shell->depth++;
	read_lines(shell, file);
	shell->depth--;
	shell->is_file_over = false;
	buf_free(&shell->text);
	buf_free(&shell->before);
	shell->text = text;
	shell->before = before;
	shell->options.file = outer;
	shell->is_head = was_head;
}

static void open_shell(struct shell *shell, const struct options *options)
{
	*shell = (struct shell){ .options = *options, .stdout_fd = -1, .is_head = true };
	arena_init(&shell->keep.arena);
	settings_init(&shell->keep.settings);
	views_init(&shell->keep.views, &shell->keep.arena);
	shell->streams.arena = &shell->keep.arena;
	buf_init(&shell->text);
	buf_init(&shell->before);
	buf_init(&shell->last);
}

static void close_shell(struct shell *shell)
{
	if (shell->stdout_fd >= 0) {
		fflush(stdout);
		dup2(shell->stdout_fd, STDOUT_FILENO);
		close(shell->stdout_fd);
	}
	catalog_close(shell->keep.catalog);
	buf_free(&shell->text);
	buf_free(&shell->before);
	buf_free(&shell->last);
	arena_free(&shell->keep.arena);
}

/* $XDG_CONFIG_HOME, else ~/.config, as the XDG base directories have it.  NULL: there is none. */
static FILE *open_rc(const struct options *options, char *ret_path, size_t n)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (options->has_no_rc)
		return NULL;
	if (config && *config == '/')
		snprintf(ret_path, n, "%s/ebql/rc", config);
	else if (home && *home == '/')
		snprintf(ret_path, n, "%s/.config/ebql/rc", home);
	else
		return NULL;
	return fopen(ret_path, "re");
}

/* What is wrong in it was told, and is not the fault of what follows. */
static void read_rc(struct shell *shell)
{
	char path[PATH_MAX];
	FILE *file;

	errno = ENOENT;
	file = open_rc(&shell->options, path, sizeof(path));
	if (!file && errno != ENOENT && errno != ENOTDIR)
		tell("ebql: %s: %s: it is not read\n", path, strerror(errno));
	if (!file)
		return;
	read_file(shell, file, path);
	fclose(file);
	shell->status = 0;
}

int shell_run(const struct options *options)
{
	static const int interrupts[] = { SIGINT }, pipes[] = { SIGPIPE };
	struct signals interrupt, pipe;
	struct shell shell;
	bool is_terminal;

	open_shell(&shell, options);
	if (isatty(STDIN_FILENO))
		shell.edit = edit_open(&shell);
	is_terminal = shell.edit != NULL;
	shell.options.is_out_begun = is_terminal ? NULL : &shell.is_out_begun;
	read_rc(&shell);
	if (is_terminal) {
		puts("ebql " EBQL_VERSION
		     ".  A query ends with \";\".  \\? for help, \\q to leave.");
		fflush(stdout);
		/*
		 * ^C waits, unless the editor or a run takes it: what comes between a line and
		 * its run ends that at once, what comes behind a run drops the empty line.
		 */
		signals_take(&interrupt, interrupts, ARRAY_SIZE(interrupts), on_nothing, SA_RESTART,
			     SIG_BLOCK);
		/* What \o writes to may go: who types is told.  Commands have the usual one. */
		signals_take(&pipe, pipes, ARRAY_SIZE(pipes), on_nothing, SA_RESTART, SIG_UNBLOCK);
		read_terminal(&shell);
		signals_give_back(&pipe);
		signals_give_back(&interrupt);
		edit_close(shell.edit);
	} else if (!read_lines(&shell, stdin)) {
		options_help(stderr);
		shell.status = 2;
	}
	close_shell(&shell);
	/* The user has seen what went wrong. */
	return is_terminal ? 0 : shell.status;
}

int shell_text(const struct options *options)
{
	FILE *file = fmemopen(options->text.at, options->text.n, "r");
	struct shell shell;

	if (!file)
		return tell_no_memory();
	open_shell(&shell, options);
	shell.options.is_out_begun = &shell.is_out_begun;
	read_file(&shell, file, options->file);
	fclose(file);
	close_shell(&shell);
	return shell.status;
}
