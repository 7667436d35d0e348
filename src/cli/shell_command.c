/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One statement of the shell, and its backslash commands, one table entry each.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/describe.h"
#include "cli/shell.h"

#define DEPTH_MAX 16

/* Words for the one who sits there; a pipe gets results only. */
static void say(const struct shell *shell, const char *format, ...) PRINTF(2, 3);
static void say(const struct shell *shell, const char *format, ...)
{
	va_list args;

	if (!shell->edit)
		return;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
}

static void take_status(struct shell *shell, int status)
{
	if (shell->status == 0 || (shell->status == 3 && status != 0))
		shell->status = status;
}

/* An error; one in a file is told with its place. */
static void fail(struct shell *shell, const char *format, ...) PRINTF(2, 3);
static void fail(struct shell *shell, const char *format, ...)
{
	struct buf text;
	va_list args;
	u32 line = 1;

	buf_init(&text);
	for (size_t i = 0; i < shell->before.n; i++)
		line += shell->before.at[i] == '\n';
	if (shell->depth)
		buf_printf(&text, "ebql: %s:%u: ", shell->options.file, line);
	else
		buf_puts(&text, "ebql: ");
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	tell_print(&text, stderr);
	take_status(shell, 2);
}

static void say_times(const struct shell *shell, u64 total_ns)
{
	const struct keep *keep = &shell->keep;
	u64 start_ns = keep->compile_ns + keep->load_ns + keep->attach_ns;

	if (!start_ns) {
		tell("time %.2f ms\n", (double)total_ns / 1e6);
		return;
	}
	tell("compile %.2f ms, load %.2f ms, attach %.2f ms, run %.2f ms\n",
	     (double)keep->compile_ns / 1e6, (double)keep->load_ns / 1e6,
	     (double)keep->attach_ns / 1e6,
	     (double)(total_ns > start_ns ? total_ns - start_ns : 0) / 1e6);
}

static void take_output_back(struct shell *shell)
{
	if (shell->stdout_fd < 0)
		return;
	dup2(shell->stdout_fd, STDOUT_FILENO);
	close(shell->stdout_fd);
	shell->stdout_fd = -1;
}

/* A run takes a reader that went for a clean end, and stdio says nothing. */
void shell_check_output(struct shell *shell)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	bool is_bad = fflush(stdout) || ferror(stdout);
	int error = is_bad ? errno : 0;

	if (!shell->edit)
		return;
	if (poll(&out, 1, 0) == 1 && out.revents & POLLERR)
		error = EPIPE;
	if (error)
		tell_failed(TELL_STDOUT, error);
	if (error == EPIPE)
		take_output_back(shell);
	clearerr(stdout);
}

void shell_statement(struct shell *shell, const char *text, size_t n_bytes)
{
	struct options options = shell->options;
	u64 start_ns;
	int stopped;

	buf_init(&options.text);
	buf_put(&options.text, shell->before.at, shell->before.n);
	buf_put(&options.text, text, n_bytes);
	shell->keep.compile_ns = shell->keep.load_ns = shell->keep.attach_ns = 0;
	fflush(stdout);
	start_ns = base_monotonic_ns();
	take_status(shell, run_text(&options, &shell->keep));
	fflush(stdout);
	if (shell->is_timed)
		say_times(shell, base_monotonic_ns() - start_ns);
	shell_check_output(shell);
	buf_free(&options.text);
	stopped = host_stop_signal();
	if (!stopped)
		return;
	/* What was typed behind a query that has been stopped is not wanted either. */
	shell->is_over = stopped != SIGINT || !shell->edit;
	shell->is_stopped = true;
	buf_reset(&shell->text);
}

static void run_printf(struct shell *shell, const char *format, ...) PRINTF(2, 3);
static void run_printf(struct shell *shell, const char *format, ...)
{
	struct buf text;
	va_list args;

	buf_init(&text);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	shell_statement(shell, text.at, text.n);
	buf_free(&text);
}

/* The columns of a file, which needs no quotes here. */
static void describe_file(struct shell *shell, const char *path)
{
	const struct out_format *format = shell->options.format;
	struct buf quoted;

	buf_init(&quoted);
	for (const char *at = path; *at; at++)
		buf_puts(&quoted, *at == '\'' ? "''" : (char[]){ *at, '\0' });
	if (!options_want_json(&shell->options))
		shell->options.format = out_format_find("table");
	run_printf(shell, "DESCRIBE '%s'", quoted.at);
	shell->options.format = format;
	buf_free(&quoted);
}

/* What it has none of is then said, and what it has. */
static bool is_of_database(const struct shell *shell, const char *name)
{
	for (u32 i = 0; i < shell->keep.databases.n; i++) {
		const char *database = shell->keep.databases.at[i].name;
		bool is_quoted = *name == '"' || *name == '`';
		size_t n = strlen(database);

		if (strncasecmp(name + is_quoted, database, n) == 0 &&
		    name[n + 2 * (size_t)is_quoted] == '.')
			return true;
	}
	return false;
}

static void do_d(struct shell *shell, const char *argument)
{
	const struct out_format *format = shell->options.format;
	struct query_description description;
	enum file_kind kind;
	struct query q;

	if (file_kind_of(argument, &kind)) {
		describe_file(shell, argument);
		return;
	}
	if (!*argument) {
		run_printf(shell, "SHOW VIEWS");
		say(shell, "\nThese are the views.  \\d PATTERN lists streams (\\d 'sched*'), "
			   "\\d NAME shows the columns of one.\n");
		return;
	}
	if (!query_init_kept(&q, &shell->keep)) {
		take_status(shell, tell_no_memory());
	} else if (!strpbrk(argument, "*?") &&
		   (is_of_database(shell, argument) ||
		    describe_written(&q, argument, strlen(argument), &description))) {
		if (!options_want_json(&shell->options))
			shell->options.format = out_format_find("table");
		run_printf(shell, "DESCRIBE %s", argument);
		shell->options.format = format;
	} else {
		diags_init(&q.diags, &q.arena, "query", "", 0);
		fflush(stdout);
		if (list_streams(&q, argument, options_want_json(&shell->options)))
			take_status(shell, 2);
	}
	query_free(&q);
}

/* 'it' -> 'it', and a pattern with * and ? -> LIKE's % and _ */
static void do_dv(struct shell *shell, const char *argument)
{
	struct buf like;

	if (!*argument) {
		run_printf(shell, "SHOW VIEWS");
		return;
	}
	buf_init(&like);
	for (const char *at = argument; *at; at++) {
		if (*at == '\'')
			buf_putc(&like, '\'');
		buf_putc(&like, *at == '*' ? '%' : *at == '?' ? '_' : *at);
	}
	run_printf(shell, "SHOW VIEWS LIKE '%s'", like.at);
	buf_free(&like);
}

/* No argument: the other way round.  false after a complaint. */
static bool take_switch(struct shell *shell, const char *argument, bool *is_on)
{
	if (!*argument) {
		*is_on = !*is_on;
		return true;
	}
	if (strcasecmp(argument, "on") != 0 && strcasecmp(argument, "off") != 0) {
		fail(shell, "\"%s\" is neither on nor off\n", argument);
		if (strcasecmp(argument, "auto") == 0)
			tell("  hint: a table says which columns found no room in the "
			     "terminal\n");
		return false;
	}
	*is_on = strcasecmp(argument, "on") == 0;
	return true;
}

static void do_timing(struct shell *shell, const char *argument)
{
	if (take_switch(shell, argument, &shell->is_timed))
		say(shell, "Timing is %s.\n", shell->is_timed ? "on" : "off");
}

static void do_x(struct shell *shell, const char *argument)
{
	const struct out_format *expanded = out_format_find("expanded");
	const struct out_format **format = &shell->options.format;
	bool is_on = *format == expanded;

	if (!take_switch(shell, argument, &is_on))
		return;
	if (is_on && *format != expanded) {
		shell->format_before_x = *format;
		*format = expanded;
	} else if (!is_on && *format == expanded) {
		*format =
			shell->format_before_x ? shell->format_before_x : out_format_find("table");
	}
	say(shell, "Expanded output is %s.\n", is_on ? "on" : "off");
}

static void do_o(struct shell *shell, const char *argument)
{
	const char *why = NULL;
	int fd;

	fflush(stdout);
	if (!shell->options.out_path) {
		shell->options.is_out_begun =
			*argument || !shell->edit ? &shell->is_out_begun : NULL;
		shell->is_out_begun = false;
	}
	if (!*argument) {
		take_output_back(shell);
		return;
	}
	fd = written_open(argument, false, &why);
	if (fd >= 0 && shell->stdout_fd < 0)
		shell->stdout_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || shell->stdout_fd < 0) {
		fail(shell, "%s: %s\n", argument, why ? why : strerror(errno));
	} else {
		dup2(fd, STDOUT_FILENO);
	}
	if (fd >= 0)
		close(fd);
}

static void do_q(struct shell *shell, const char *argument)
{
	if (shell->depth)
		shell->is_file_over = true;
	else
		shell->is_over = true;
}

static void complain(struct shell *shell, const char *what, const char *why)
{
	fail(shell, "%s: %s\n", what, why);
}

/* It is read behind the command, as if it were typed. */
static void ask_to_read(struct shell *shell, const char *path, const char *name)
{
	struct signals key;

	signals_let_in(&key); /* a FIFO waits for its writer */
	shell->asked = fopen(path, "re");
	if (!shell->asked)
		complain(shell, *path ? path : "\\i", strerror(errno));
	signals_give_back(&key);
	shell->asked_name = shell->asked ? strdup(name) : NULL;
}

static void do_i(struct shell *shell, const char *argument)
{
	if (shell->depth == DEPTH_MAX) {
		complain(shell, argument, "files read files too deep: does one read itself?");
		return;
	}
	ask_to_read(shell, argument, argument);
}

/* By sh, to its end.  Its status as waitpid() gives it, or -1. */
static int run_command(const struct shell *shell, const char *command)
{
	int status = -1, pid;
	struct signals lent;

	fflush(NULL);
	/* Of a script ^C ends all. */
	if (shell->edit)
		signals_lend(&lent);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (shell->edit)
		signals_give_back(&lent);
	return status;
}

static void do_command(struct shell *shell, const char *argument)
{
	int status = run_command(shell, *argument ? argument : "exec ${SHELL:-sh}");

	if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
		take_status(shell, 2);
}

static void do_e(struct shell *shell, const char *argument)
{
	char path[] = "/tmp/ebql-XXXXXX.sql";
	int fd = mkostemps(path, 4, O_CLOEXEC);
	struct buf text, command;

	buf_init(&text);
	buf_init(&command);
	buf_put(&text, shell->last.at, shell->last.n);
	buf_putc(&text, '\n');
	buf_printf(&command, "${VISUAL:-${EDITOR:-vi}} %s", path);
	if (fd < 0 || buf_flush(&text, fd, NULL) || close(fd))
		complain(shell, path, strerror(errno));
	else if (run_command(shell, command.at) != 0)
		complain(shell, "\\e", "the editor failed ($VISUAL, $EDITOR): nothing is run");
	else
		ask_to_read(shell, path, "query");
	if (fd >= 0)
		unlink(path);
	buf_free(&text);
	buf_free(&command);
}

static const char *argument_of(struct arena *arena, const char *rest);

static void do_format(struct shell *shell, const char *argument)
{
	const struct out_format *format = out_format_find(shell_format_here(argument));

	if (!*argument)
		printf("%s\n", shell->options.format->name);
	else if (!format)
		complain(shell, argument,
			 "is no format: table, expanded, line, json, csv, heatmap, arrow, folded, "
			 "flamegraph or jsonl");
	else
		shell->options.format = format;
	fflush(stdout);
}

/* The last " TO ", in whatever letters. */
static const char *find_to(const char *text)
{
	const char *found = NULL;

	for (const char *at = text; *at; at++)
		if (strncasecmp(at, " to ", 4) == 0)
			found = at;
	return found;
}

/* " csv header" behind it is psql's, and means what is done. */
static const char *without_csv(struct arena *arena, const char *rest)
{
	const char *csv = strcasestr(rest, ".csv");
	const char *end = csv ? csv + 4 + strspn(csv + 4, "'\"") : NULL;
	bool is_said = end && *end == ' ' && strcasestr(end, "csv");

	return is_said ? arena_strndup(arena, rest, (size_t)(end - rest)) : rest;
}

/* "(SELECT ...) TO FILE", "view TO FILE"; what the file's name ends with says which kind it is. */
static void do_copy(struct shell *shell, const char *argument)
{
	static const char *const formats[] = {
		[FILE_ARROW] = "arrow", [FILE_JSONL] = "jsonl", [FILE_CSV] = "csv"
	};
	const struct options options = shell->options;
	const char *to = find_to(argument), *path;
	struct arena arena;
	enum file_kind kind;

	arena_init(&arena);
	path = to ? argument_of(&arena, without_csv(&arena, to + 4)) : "";
	if (!to || !file_kind_of(path, &kind)) {
		complain(
			shell, "\\copy",
			"is written (SELECT ...) TO 'FILE', which ends with .csv, .jsonl or .arrows\n"
			"  hint: a file is read by FROM 'FILE.csv'");
	} else {
		shell->options.out_path = path;
		shell->options.is_out_begun = NULL;
		shell->options.format = out_format_find(formats[kind]);
		if (*argument == '(' && to > argument && to[-1] == ')')
			run_printf(shell, "%.*s", (int)(to - argument - 2), argument + 1);
		else
			run_printf(shell, "SELECT * FROM %.*s", (int)(to - argument), argument);
		shell->options.out_path = options.out_path;
		shell->options.is_out_begun = options.is_out_begun;
		shell->options.format = options.format;
	}
	arena_free(&arena);
}

/* The latest statement once more, its rows into a file if there is one. */
static void do_g(struct shell *shell, const char *argument)
{
	const char *out_path = shell->options.out_path;
	bool *is_out_begun = shell->options.is_out_begun;

	if (!shell->last.n) {
		complain(shell, "\\g", "no statement has been run that it could repeat");
	} else if (*argument == '|' || *argument == '(') {
		complain(shell, "\\g",
			 "is followed by a FILE or nothing\n"
			 "  hint: \"ebql -o csv 'SELECT ...' | COMMAND\" in the system's shell");
	} else {
		shell->options.out_path = *argument ? argument : out_path;
		shell->options.is_out_begun = *argument ? NULL : is_out_begun;
		shell_statement(shell, shell->last.at, shell->last.n);
		shell->options.out_path = out_path;
		shell->options.is_out_begun = is_out_begun;
	}
}

static void do_gx(struct shell *shell, const char *argument)
{
	const struct out_format *format = shell->options.format;

	shell->options.format = out_format_find("expanded");
	do_g(shell, argument);
	shell->options.format = format;
}

/* psql's name for two of the settings there are. */
static void do_pset(struct shell *shell, const char *argument)
{
	size_t n = strcspn(argument, " \t=");
	const char *value = argument + n + strspn(argument + n, " \t=");
	bool is_expanded = shell->options.format == out_format_find("expanded");
	struct arena arena;
	const char *name;

	arena_init(&arena);
	name = arena_strndup(&arena, argument, n);
	value = argument_of(&arena, value);
	if (!n) {
		printf("expanded %s\nformat %s\n", is_expanded ? "on" : "off",
		       shell->options.format->name);
		fflush(stdout);
	} else if (strcasecmp(name, "format") == 0) {
		do_format(shell, value);
	} else if (strcasecmp(name, "expanded") == 0 || strcasecmp(name, "x") == 0) {
		do_x(shell, value);
	} else {
		fail(shell, "\\pset: there is no setting %s\n  hint: %s\n", name,
		     shell_setting_hint(name));
	}
	arena_free(&arena);
}

static void do_watch(struct shell *shell, const char *argument)
{
	sigset_t interrupt;
	u64 wait_ns;

	if (!shell->last.n) {
		complain(shell, "\\watch", "no statement has been run that it could repeat");
		return;
	}
	if (!sql_duration(*argument ? argument : "2", &wait_ns) || !wait_ns ||
	    wait_ns > DURATION_MAX_NS) {
		complain(shell, argument, "is no time such as 2 (seconds) or 500ms");
		return;
	}
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	while (!shell_must_stop(shell)) {
		const struct timespec wait = { (time_t)(wait_ns / 1000000000),
					       (long)(wait_ns % 1000000000) };

		shell_statement(shell, shell->last.at, shell->last.n);
		if (!shell_must_stop(shell) && sigtimedwait(&interrupt, NULL, &wait) > 0)
			shell->is_stopped = true;
	}
}

/* The place of the value of :NAME among those given, or behind the last. */
static u32 find_value(const struct shell *shell, const char *name, size_t n)
{
	const struct sql_parameters *all = &shell->options.parameters;
	u32 i = 0;

	while (i < all->words.n && (!all->words.at[i].name || strlen(all->words.at[i].name) != n ||
				    strncmp(all->words.at[i].name, name, n) != 0))
		i++;
	return i;
}

static void do_set(struct shell *shell, const char *argument)
{
	struct sql_parameters *all = &shell->options.parameters;
	struct arena *arena = &shell->keep.arena;
	size_t n = strcspn(argument, " \t=");
	const char *value = argument + n + strspn(argument + n, " \t=");
	struct sql_word word = { arena_strndup(arena, argument, n), argument_of(arena, value) };
	u32 i = find_value(shell, argument, n);

	if (!*argument) {
		for (i = 0; i < all->words.n; i++)
			printf("%s = %s\n", all->words.at[i].name ?: "", all->words.at[i].text);
		fflush(stdout);
	} else if (!n || !*value) {
		complain(shell, argument, "is no NAME VALUE");
	} else if (i < all->words.n) {
		all->words.at[i] = word;
	} else {
		vec_push(arena, &all->words, word);
	}
}

static void do_unset(struct shell *shell, const char *argument)
{
	struct sql_parameters *all = &shell->options.parameters;
	u32 i = find_value(shell, argument, strlen(argument));

	if (i == all->words.n)
		complain(shell, argument, "has no value");
	else
		all->words.at[i] = all->words.at[--all->words.n];
}

static void do_help(struct shell *shell, const char *argument);

static const struct shell_command {
	const char *name, *arguments, *meaning;
	void (*run)(struct shell *shell, const char *argument);
	bool is_raw; /* its argument is the rest of the line */
} commands[] = {
	{ "\\d", "[PATTERN | NAME]", "the views; streams that match; the columns of one", do_d },
	{ "\\dv", "[PATTERN]", "the views", do_dv },
	{ "\\timing", "[on|off]", "how long each statement's steps took", do_timing },
	{ "\\x", "[on|off]", "one line a column", do_x },
	{ "\\o", "[FILE]", "results to a file, or back to the terminal", do_o },
	{ "\\i", "FILE", "the statements and commands of a file", do_i },
	{ "\\g", "[FILE]", "run the last statement again, or what stands before it", do_g },
	{ "\\gx", "[FILE]", "the same, one line a column", do_gx },
	{ "\\e", "", "the last statement in $EDITOR, then run it", do_e },
	{ "\\watch", "[TIME]", "the last statement each 2s, until ^C", do_watch },
	{ "\\set", "[NAME VALUE]", "the value of :NAME; without, those there are", do_set },
	{ "\\unset", "NAME", "take it away", do_unset },
	{ "\\!", "[COMMAND]", "a command of the system's shell", do_command, .is_raw = true },
	{ "\\copy", "(SELECT ...) TO FILE", "its rows to a file: .csv, .jsonl or .arrows",
	  do_copy },
	{ "\\format", "[FORMAT]", "how results are written, as -o says", do_format },
	{ "\\pset", "[SETTING VALUE]", "format and expanded, as \\format and \\x", do_pset },
	{ "\\?", "", "this help", do_help },
	{ "\\q", "", "leave (also ^D)", do_q },
};

static void do_help(struct shell *shell, const char *argument)
{
	struct buf text;

	buf_init(&text);
	buf_puts(&text,
		 "A statement ends with \";\" and may have many lines:\n"
		 "  SELECT ... FROM stream ... WINDOW TUMBLING 1s;   ^C ends it\n"
		 "  EXPLAIN SELECT ...;  DESCRIBE stream;  SHOW STREAMS LIKE 'pattern';\n"
		 "  SET option = value;  CREATE VIEW name AS SELECT ...;   for this session\n"
		 "\n");
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++)
		buf_printf(&text, "  %-8s%-21s%s\n", commands[i].name, commands[i].arguments,
			   commands[i].meaning);
	buf_puts(&text, "\nTAB completes words, streams and columns; ^R searches the history.\n");
	tell_print(&text, stdout);
	fflush(stdout);
}

const char *shell_command_name(u32 i)
{
	return i < ARRAY_SIZE(commands) ? commands[i].name : NULL;
}

static void unknown(struct shell *shell, const char *name)
{
	const char *instead = shell_command_hint(name);
	struct suggest suggest;

	suggest_init(&suggest, name);
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++)
		suggest_offer(&suggest, commands[i].name);
	fail(shell, "there is no command %s\n", name);
	if (instead)
		tell("  hint: %s\n", instead);
	else if (suggest_best(&suggest))
		tell("  hint: did you mean \"%s\"?\n", suggest_best(&suggest));
	else
		tell("  hint: \\? lists them\n");
}

/* The rest of the line, without blanks, the ";" of habit, and quotes around it. */
static const char *argument_of(struct arena *arena, const char *rest)
{
	size_t n;

	rest += strspn(rest, " \t");
	n = strlen(rest);
	while (n && strchr(" \t\r;", rest[n - 1]))
		n--;
	/* "a"."b" has quotes of two names. */
	if (n >= 2 && rest[0] == rest[n - 1] && strchr("'\"", rest[0]) &&
	    !memchr(rest + 1, rest[0], n - 2))
		return arena_strndup(arena, rest + 1, n - 2);
	return arena_strndup(arena, rest, n);
}

bool shell_command_runs(const char *line)
{
	static const char *const names[] = { "\\g", "\\gx", "\\watch" };
	size_t n = strcspn(line, " \t\r;");

	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && strncmp(line, names[i], n) == 0)
			return true;
	return false;
}

void shell_command(struct shell *shell, const char *line)
{
	size_t n = strncmp(line, "\\!", 2) == 0 ? 2 : strcspn(line, " \t\r;");
	const struct shell_command *command = NULL;
	struct arena arena;
	const char *name;

	arena_init(&arena);
	name = arena_strndup(&arena, line, n);
	name = shell_command_here(name);
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			command = &commands[i];
	if (command)
		command->run(shell, command->is_raw ? line + n : argument_of(&arena, line + n));
	else
		unknown(shell, name);
	arena_free(&arena);
}
