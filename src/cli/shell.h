/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The interactive shell: statements and backslash commands from a terminal (or a pipe),
 * run one after the other in this process.
 */
#ifndef EBQL_CLI_SHELL_H
#define EBQL_CLI_SHELL_H

#include "cli/cli.h"

struct edit;

struct names {
	VEC(const char *) list;
	struct arena *arena;
};

struct shell {
	struct options options; /* of the command line, for each statement */
	struct keep keep;
	struct edit *edit; /* NULL: standard input is no terminal */
	struct buf text;   /* what has been read and not been run */
	struct buf
		before;	 /* of a text that is no terminal's: what stands before that; see pass() */
	struct buf last; /* the latest statement */
	bool is_head;	 /* so far it is the comment that the text begins with */
	u32 depth;	 /* of files that are read, each by a \i in another */
	const struct out_format *format_before_x;
	bool is_timed, is_over;
	bool is_file_over; /* the file that is read: \q stood there */
	bool is_stopped;   /* by ^C: all that was to come is not wanted */
	int status; /* of the first statement that failed; else 3 where one lost events; else 0 */
	int stdout_fd;	      /* standard output, while \o has it elsewhere; else -1 */
	bool is_out_begun;    /* has a statement written where results go? */
	struct names streams; /* all of the catalog, once one was completed */
	FILE *asked;	      /* what a command has it read next; NULL: nothing */
	char *asked_name;     /* in messages */
};

/* Reads statements until \q, the end of the input or SIGTERM; the exit status. */
int shell_run(const struct options *options);
/* Runs the statements of the options' text; the same. */
int shell_text(const struct options *options);
static inline bool shell_must_stop(const struct shell *shell)
{
	return shell->is_over || shell->is_file_over || shell->is_stopped;
}

/* --- shell_command.c --- */

/* One statement, as if it had been typed. */
/* On a terminal: who types is told what of the results was not taken. */
void shell_check_output(struct shell *shell);
void shell_statement(struct shell *shell, const char *text, size_t n_bytes);
/* A line that begins with a backslash. */
void shell_command(struct shell *shell, const char *line);
/* Does it run the statement that stands before it, as SELECT ... \g does? */
bool shell_command_runs(const char *line);
/* "\d", "\dv", ...; NULL behind the last. */
const char *shell_command_name(u32 i);

/* shell_foreign.c: a command or format as other shells call it -> as it is called here; itself. */
const char *shell_command_here(const char *name);
const char *shell_format_here(const char *name);
/* What there is in place of a command, NULL where none is known, and of a setting of \pset. */
const char *shell_command_hint(const char *name);
const char *shell_setting_hint(const char *name);

/* shell_complete.c */
struct completion {
	char insert[256];   /* what is sure to follow the word; may be empty */
	struct names names; /* what it could become, where that is not sure; sorted */
	bool is_whole;	    /* there is one only, and insert ends it */
};
/* text: what has been typed and not been run, on all lines; the cursor is at one of its bytes. */
void shell_complete(struct shell *shell, const char *text, size_t n_bytes, size_t cursor,
		    struct arena *arena, struct completion *ret_completion);

/* --- Line editing: shell_edit.c --- */

enum edit_end { EDIT_LINE, EDIT_CANCELLED, EDIT_OVER };

/* NULL and a word about it on stderr: no libedit here. */
struct edit *edit_open(struct shell *shell);
void edit_close(struct edit *edit);
/* *ret_line lives until the next call, without its line end. */
enum edit_end edit_read(struct edit *edit, bool is_first, const char **ret_line);
/* Takes a statement or command into the history, and writes that to its file. */
void edit_remember(struct edit *edit, const char *text, size_t n_bytes);

#endif
