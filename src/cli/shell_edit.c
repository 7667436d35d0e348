/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keys -> lines, with libedit: editing, history, completion.  The library is opened when
 * a shell starts, so that a query on the command line does not load it, nor the three
 * libraries that it needs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/shell.h"
#include "cli/state.h"

#define LIBRARY	      "libedit.so.2"
#define HISTORY_MAX   1000
#define SHOWN_MAX     400 /* names that an ambiguous word lists */
#define PROMPT	      "ebql> "
#define PROMPT_INSIDE " ...> " /* as wide */

#define FUNCTIONS(X)                                                                               \
	X(el_init)                                                                                 \
	X(el_end)                                                                                  \
	X(el_set)                                                                                  \
	X(el_get)                                                                                  \
	X(el_gets)                                                                                 \
	X(el_line)                                                                                 \
	X(el_insertstr)                                                                            \
	X(el_resize)                                                                               \
	X(el_source)                                                                               \
	X(history_init)                                                                            \
	X(history_end)                                                                             \
	X(history)

struct edit {
	struct shell *shell;
	void *library;
#define X(name) __typeof__(name) *name;
	FUNCTIONS(X)
#undef X
	EditLine *line;
	History *past;
	char *history_path; /* NULL: nowhere to keep it */
	FILE *out;	    /* the terminal */
	int keys;	    /* the terminal, which is read without waiting */
	char prompt[16];
	struct buf text; /* the line that was read */
	bool is_cancelled;
};

/* --- Signals, which come in only while we wait for a key --- */

static const int key_signals[] = { SIGINT, SIGTSTP, SIGWINCH };
static volatile sig_atomic_t has_come[ARRAY_SIZE(key_signals)];
static struct signals taken;

enum { KEY_INTERRUPT, KEY_SUSPEND, KEY_RESIZE };

static void on_signal(int number)
{
	for (u32 i = 0; i < ARRAY_SIZE(key_signals); i++)
		if (key_signals[i] == number)
			has_come[i] = 1;
}

/* These come at any time, also while a stopped terminal takes none of our bytes. */
static const int leave_signals[] = { SIGTERM, SIGHUP };
static struct signals leaving;
static struct termios before; /* libedit */

/* All has been said and saved; the rest would wait for the terminal. */
static void on_leave(int number)
{
	signal(SIGTTOU, SIG_IGN); /* in the background it would stop us */
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	_exit(0);
}

/* --- Keys --- */

/* libedit's callbacks get its own handle only; a process has one terminal to edit on. */
static struct edit *current;

static void take_key_signals(void)
{
	signals_take(&taken, key_signals, ARRAY_SIZE(key_signals), on_signal, 0, SIG_BLOCK);
}

/* By the signal itself: a process that no shell could continue is not stopped by it. */
static void suspend(struct edit *edit)
{
	sigset_t stop;

	edit->el_set(edit->line, EL_PREP_TERM, 0);
	signals_give_back(&taken);
	raise(SIGTSTP);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* who started us may have held it back */
	take_key_signals();
	edit->el_set(edit->line, EL_PREP_TERM, 1);
	edit->el_resize(edit->line);
	edit->el_set(edit->line, EL_REFRESH);
}

static bool take(u32 signal)
{
	bool is_set = has_come[signal];

	has_come[signal] = 0;
	return is_set;
}

/* Sleeps until there is a byte or one of our signals: which, in has_come.  false: no terminal. */
static bool wait_for_byte(void)
{
	struct pollfd fd = { .fd = current->keys, .events = POLLIN };
	sigset_t waiting = taken.mask, now;
	bool is_good;

	for (u32 i = 0; i < ARRAY_SIZE(key_signals); i++)
		sigdelset(&waiting, key_signals[i]);
	is_good = ppoll(&fd, 1, NULL, &waiting) >= 0 || errno == EINTR;
	/* Where there is a byte it let no signal in; one that is pending came before the byte. */
	sigprocmask(SIG_SETMASK, &waiting, &now);
	sigprocmask(SIG_SETMASK, &now, NULL);
	return is_good;
}

/* A key for libedit: 1, 0 at the end of the input, -1.  ^C is one too. */
static int read_key(EditLine *line, wchar_t *ret_key)
{
	mbstate_t state = { 0 };
	int is_editing = 1; /* not on a dumb terminal, where no key is bound */
	ssize_t n;
	char c;

	for (;;) {
		if (take(KEY_INTERRUPT)) {
			current->el_get(line, EL_EDITMODE, &is_editing);
			current->is_cancelled = !is_editing;
			if (!is_editing)
				return 0;
			*ret_key = 'C' & 0x1f;
			return 1;
		}
		if (take(KEY_RESIZE))
			current->el_resize(line);
		if (take(KEY_SUSPEND))
			suspend(current);
		if (!wait_for_byte())
			return -1;
		if (has_come[KEY_INTERRUPT] || has_come[KEY_RESIZE] || has_come[KEY_SUSPEND])
			continue;
		/*
		 * A terminal drops the keys before a ^C (n_tty's isig()), also one that the poll
		 * has told of: read() would wait for another, with the ^C held back.
		 */
		n = read(current->keys, &c, 1);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			return (int)n;
		switch (mbrtowc(ret_key, &c, 1, &state)) {
		case (size_t)-2: /* more bytes to come */
			break;
		case (size_t)-1: /* no character of this locale */
			memset(&state, 0, sizeof(state));
			break;
		default:
			return 1;
		}
	}
}

static unsigned char on_cancel(EditLine *line, int key)
{
	current->is_cancelled = true;
	return CC_NEWLINE;
}

static char *prompt(EditLine *line)
{
	return current->prompt;
}

/* --- Completion --- */

static const char *last_part(const char *name)
{
	size_t n = strlen(name);

	/* tracepoint:sched: and tracepoint:sched:sched_switch are shown by what is new in them. */
	for (size_t i = n > 1 ? n - 1 : 0; i-- > 0;)
		if (name[i] == ':')
			return name + i + 1;
	return name;
}

/* Into edit->text, as a terminal may safely show it: its width. */
static u32 put_name(struct edit *edit, const char *name)
{
	name = last_part(name);
	buf_reset(&edit->text);
	return out_put_visible(&edit->text, name, strlen(name), 0);
}

static void show_names(struct edit *edit, const struct names *names)
{
	u32 width = 0, columns, rows, n = MIN(names->list.n, SHOWN_MAX);
	struct winsize size = { .ws_col = 80 };

	ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	for (u32 i = 0; i < n; i++)
		width = MAX(width, put_name(edit, names->list.at[i]));
	columns = MAX(size.ws_col / (width + 2), 1u);
	rows = (n + columns - 1) / columns;
	fputc('\n', edit->out);
	for (u32 row = 0; row < rows; row++) {
		for (u32 i = row; i < n; i += rows) {
			u32 used = put_name(edit, names->list.at[i]);

			fprintf(edit->out, "%s%*s", edit->text.at,
				i + rows < n ? (int)(width + 2 - used) : 0, "");
		}
		fputc('\n', edit->out);
	}
	if (n < names->list.n)
		fprintf(edit->out, "and %u more\n", names->list.n - n);
	fflush(edit->out);
}

static unsigned char on_complete(EditLine *line, int key)
{
	struct edit *edit = current;
	const LineInfo *info = edit->el_line(line);
	struct completion completion;
	unsigned char result;
	struct arena arena;
	struct buf text;
	size_t cursor;

	arena_init(&arena);
	buf_init(&text);
	buf_put(&text, edit->shell->text.at, edit->shell->text.n);
	cursor = text.n + (size_t)(info->cursor - info->buffer);
	buf_put(&text, info->buffer, (size_t)(info->lastchar - info->buffer));
	shell_complete(edit->shell, text.at, text.n, cursor, &arena, &completion);
	if (completion.insert[0] || completion.is_whole) {
		edit->el_insertstr(line, completion.insert);
		result = CC_REFRESH;
	} else if (completion.names.list.n) {
		show_names(edit, &completion.names);
		result = CC_REDISPLAY;
	} else {
		result = CC_REFRESH_BEEP;
	}
	buf_free(&text);
	arena_free(&arena);
	return result;
}

/* --- History --- */

/* $XDG_STATE_HOME, else ~/.local/state, as the XDG base directories have it. */
static char *find_history(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n;

	if (state && *state == '/')
		n = asprintf(&path, "%s/ebql/history", state);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.local/state/ebql/history", home);
	else
		return NULL;
	if (n < 0)
		base_no_memory();
	return path;
}

static void save(struct edit *edit)
{
	struct state_file state;
	HistEvent event;

	/* Where it cannot be kept, the shell goes on without. */
	if (edit->history_path && !state_begin(&state, edit->history_path))
		state_end(&state,
			  edit->history(edit->past, &event, H_SAVE_FP, state.file) < 0 ? -EIO : 0);
}

/* Nobody waits for a pipe's writer. */
static void load(struct edit *edit)
{
	struct stat st;
	HistEvent event;

	edit->history_path = find_history();
	if (edit->history_path && stat(edit->history_path, &st) == 0 && S_ISREG(st.st_mode))
		edit->history(edit->past, &event, H_LOAD, edit->history_path);
}

void edit_remember(struct edit *edit, const char *text, size_t n_bytes)
{
	bool has_comment = memmem(text, n_bytes, "--", 2) != NULL;
	HistEvent event;
	struct buf line;

	/* One statement is one line, unless a comment needs its line end. */
	buf_init(&line);
	for (size_t i = 0; i < n_bytes; i++) {
		if (text[i] == '\n' && has_comment && line.n) {
			edit->history(edit->past, &event, H_ENTER, line.at);
			buf_reset(&line);
		} else if (text[i] && (text[i] != '\n' || line.n)) {
			buf_putc(&line, text[i] == '\n' ? ' ' : text[i]);
		}
	}
	if (line.n)
		edit->history(edit->past, &event, H_ENTER, line.at);
	buf_free(&line);
	save(edit);
}

/* --- The editor --- */

static bool load_library(struct edit *edit)
{
	edit->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!edit->library)
		return false;
#define X(name) edit->name = (__typeof__(edit->name))dlsym(edit->library, #name);
	FUNCTIONS(X)
#undef X
#define X(name) edit->name &&
	return FUNCTIONS(X) true;
#undef X
}

/* Keys are bytes of the locale; without one, or in C, they are taken to be UTF-8. */
static void set_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "ANSI_X3.4-1968") == 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static void bind_keys(struct edit *edit)
{
	static const char *const keys[][2] = {
		{ "^I", "ebql-complete" },	 { "^C", "ebql-cancel" },
		{ "^R", "em-inc-search-prev" },	 { "\033[3~", "ed-delete-next-char" },
		{ "\033[1~", "ed-move-to-beg" }, { "\033[4~", "ed-move-to-end" },
		{ "\033[1;5C", "em-next-word" }, { "\033[1;5D", "ed-prev-word" },
	};

	edit->el_set(edit->line, EL_EDITOR, "emacs");
	edit->el_set(edit->line, EL_ADDFN, "ebql-complete", "complete the word", on_complete);
	edit->el_set(edit->line, EL_ADDFN, "ebql-cancel", "drop the statement", on_cancel);
	for (u32 i = 0; i < ARRAY_SIZE(keys); i++)
		edit->el_set(edit->line, EL_BIND, keys[i][0], keys[i][1], NULL);
	edit->el_source(edit->line, NULL); /* ~/.editrc goes last */
}

static struct edit *no_library(struct edit *edit)
{
	fprintf(stderr, "ebql: no line editing: %s\n", dlerror());
	fputs("  hint: apt-get install libedit2\n", stderr);
	free(edit);
	return NULL;
}

struct edit *edit_open(struct shell *shell)
{
	struct edit *edit = calloc(1, sizeof(*edit));
	HistEvent event;

	if (!edit)
		base_no_memory();
	if (!load_library(edit))
		return no_library(edit);
	edit->keys = terminal_open(STDIN_FILENO, O_RDONLY);
	if (edit->keys < 0)
		base_no_memory();
	set_locale();
	tcgetattr(STDIN_FILENO, &before);
	current = edit;
	edit->shell = shell;
	buf_init(&edit->text);
	/* Of our own: \o has standard output elsewhere. */
	edit->out = fdopen(
		fcntl(isatty(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO, F_DUPFD_CLOEXEC, 3),
		"w");
	if (!edit->out)
		base_no_memory();
	edit->line = edit->el_init("ebql", stdin, edit->out, stderr);
	edit->past = edit->history_init();
	if (!edit->line || !edit->past)
		base_no_memory();
	edit->history(edit->past, &event, H_SETSIZE, HISTORY_MAX);
	edit->history(edit->past, &event, H_SETUNIQUE, 1);
	load(edit);
	edit->el_set(edit->line, EL_PROMPT, prompt);
	edit->el_set(edit->line, EL_SIGNAL, 0);
	edit->el_set(edit->line, EL_HIST, edit->history, edit->past);
	edit->el_set(edit->line, EL_GETCFN, read_key);
	/* A ^C that ends a query is not echoed into its last window. */
	edit->el_set(edit->line, EL_SETTY, "-x", "-echoctl", NULL);
	bind_keys(edit);
	return edit;
}

void edit_close(struct edit *edit)
{
	edit->history_end(edit->past);
	edit->el_end(edit->line);
	fclose(edit->out);
	close(edit->keys);
	current = NULL;
	buf_free(&edit->text);
	free(edit->history_path);
	free(edit);
}

enum edit_end edit_read(struct edit *edit, bool is_first, const char **ret_line)
{
	const char *line;
	int n = 0;

	snprintf(edit->prompt, sizeof(edit->prompt), "%s", is_first ? PROMPT : PROMPT_INSIDE);
	edit->is_cancelled = false;
	for (u32 i = 0; i < ARRAY_SIZE(key_signals); i++)
		has_come[i] = 0;
	take_key_signals();
	signals_take(&leaving, leave_signals, ARRAY_SIZE(leave_signals), on_leave, 0, SIG_UNBLOCK);
	/* Before the prompt, so that no key is echoed by the terminal too. */
	edit->el_set(edit->line, EL_PREP_TERM, 1);
	line = edit->el_gets(edit->line, &n);
	signals_give_back(&leaving);
	signals_give_back(&taken);
	if (edit->is_cancelled) {
		fputs("^C\n", edit->out);
		fflush(edit->out);
		return EDIT_CANCELLED;
	}
	if (!line || n <= 0) {
		fputc('\n', edit->out);
		fflush(edit->out);
		return EDIT_OVER;
	}
	buf_reset(&edit->text);
	buf_put(&edit->text, line, (size_t)n - (line[n - 1] == '\n'));
	*ret_line = edit->text.at;
	return EDIT_LINE;
}
