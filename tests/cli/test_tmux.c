/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The shell and tools on the screen of a terminal emulator, tmux, of 80 and of 200 columns.  Lines
 * that the terminal wrapped are those that it joins again; what is there is compared with what the
 * same says into a pipe, word by word: only what carries a mark may be missing.  Each wait is for a
 * text that must come, never for a time.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "terminal.h"

struct tmux {
	char folder[64], socket[16];
	u32 n_windows;
	int columns;
	struct buf screen; /* all that was shown, lines that were wrapped joined */
	struct buf split;  /* as it stands there */
};

/* tmux with these words; what it says. */
static void tmux(struct tmux *t, struct buf *out, ...)
{
	char *words[24] = { "tmux", "-u", "-L", t->socket, "-f", "conf" };
	int ends[2], pid, status;
	va_list more;
	u32 n = 6;

	va_start(more, out);
	while ((words[n] = va_arg(more, char *)))
		n++;
	va_end(more);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execvp(words[0], words);
		_exit(127);
	}
	close(ends[1]);
	buf_reset(out);
	assert_int_equal(buf_read(out, ends[0], 1 << 24), 0);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A terminal of its own, in which the words run. */
static void open_window(struct tmux *t, int columns, const char *command)
{
	char width[16];

	snprintf(t->socket, sizeof(t->socket), "t%u", t->n_windows++);
	snprintf(width, sizeof(width), "%d", columns);
	t->columns = columns;
	tmux(t, &t->split, "new-session", "-d", "-x", width, "-y", "50", command, NULL);
}

static void close_window(struct tmux *t)
{
	tmux(t, &t->split, "kill-server", NULL);
}

/* Blanks at the ends of lines, and empty lines at its end, are nothing. */
static void trim(struct buf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++) {
		if (text->at[i] == '\n')
			while (n && text->at[n - 1] == ' ')
				n--;
		text->at[n++] = text->at[i];
	}
	while (n && isspace((u8)text->at[n - 1]))
		n--;
	text->at[text->n = n] = '\0';
}

static void capture(struct tmux *t)
{
	tmux(t, &t->screen, "capture-pane", "-p", "-J", "-S", "-", NULL);
	trim(&t->screen);
	tmux(t, &t->split, "capture-pane", "-p", "-S", "-", NULL);
	trim(&t->split);
}

/* Looks until it is there. */
static void wait_for(struct tmux *t, bool (*is_there)(struct tmux *t, const char *text),
		     const char *text)
{
	for (u32 i = 0; i < WAIT_MS / 20; i++) {
		tmux(t, &t->screen, "capture-pane", "-p", "-J", "-S", "-", NULL);
		trim(&t->screen);
		if (is_there(t, text))
			return;
		usleep(20000);
	}
	fail_msg("\"%s\" never came; there is: %s", text, t->screen.at);
}

static bool has_text(struct tmux *t, const char *text)
{
	return strstr(t->screen.at, text) != NULL;
}

static bool ends_with(struct tmux *t, const char *text)
{
	size_t n = strlen(text);

	return t->screen.n >= n && strcmp(t->screen.at + t->screen.n - n, text) == 0;
}

/* A ";" at its end would be tmux' own. */
static void keys(struct tmux *t, const char *text)
{
	size_t n = strlen(text);
	char typed[512];

	snprintf(typed, sizeof(typed), "%.*s%s", (int)(n - (text[n - 1] == ';')), text,
		 text[n - 1] == ';' ? "\\;" : "");
	tmux(t, &t->split, "send-keys", "-l", "--", typed, NULL);
}

/* Types a line when the shell asks for one, and waits until it asks again. */
static void type_line(struct tmux *t, const char *text)
{
	wait_for(t, ends_with, "\nebql>");
	keys(t, text);
	wait_for(t, ends_with, text);
	tmux(t, &t->split, "send-keys", "Enter", NULL);
	wait_for(t, ends_with, "\nebql>");
}

/* --- What is looked for --- */

static void check_not_wrapped(struct tmux *t)
{
	capture(t);
	if (strcmp(t->screen.at, t->split.at) != 0)
		fail_msg("wrapped at %d columns: %s", t->columns, t->split.at);
}

static const char *line_end(const char *at)
{
	return at + strcspn(at, "\n");
}

/* A time of the clock, or a duration: two runs see one event at times of their own. */
static bool is_time(const char *word, size_t n)
{
	size_t digits = 0;

	while (digits < n && strchr("0123456789.:", word[digits]))
		digits++;
	return digits &&
	       (memchr(word, ':', digits) ? digits == n : n - digits <= 2 && word[n - 1] == 's');
}

/* A bar: as long as there is room. */
static bool is_bar(const char *word, size_t n)
{
	return n >= 3 && (u8)word[0] == 0xe2 && (u8)word[1] == 0x96;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\n");
}

#define MARK "…"

/* The end of a cell: two blanks or the line's. */
static const char *cell_end(const char *at)
{
	while (*at && *at != '\n' && !(at[0] == ' ' && at[1] == ' '))
		at++;
	return at;
}

/* One word of the screen, and what stands for it in the pipe's text, behind which it returns. */
static const char *take_word(const char *word, size_t n, bool is_column, const char *piped)
{
	const size_t mark = strlen(MARK);
	bool is_cut = n >= mark && memcmp(word + n - mark, MARK, mark) == 0;
	const char *from = skip_blanks(piped);
	size_t there = strcspn(from, " \t\n");

	if (is_cut && n == mark && is_column) {
		/* Columns that found no room: all of them are on this line. */
		from = piped + strspn(piped, " ");
		assert_true(*from && *from != '\n');
		return line_end(from);
	}
	if (is_cut) {
		if (strncmp(from, word, n - mark) != 0)
			fail_msg("\"%.*s\" is cut of \"%.*s\"", (int)n, word, 80, from);
		return cell_end(from);
	}
	if ((is_time(word, n) && is_time(from, there)) || (is_bar(word, n) && is_bar(from, there)))
		return from + there;
	if (there != n || memcmp(from, word, n) != 0)
		fail_msg("\"%.*s\" on the screen, \"%.*s\" in the pipe", (int)n, word, (int)there,
			 from);
	return from + there;
}

/* Lines that only who sits at a terminal is told, and accounts of events that two runs see apart.
 */
static bool is_aside(const char *line)
{
	return !strncmp(line, "ebql>", 5) || !strncmp(line, "ebql 0", 6) ||
	       !strncmp(line, "ebql: attached", 14) || !strncmp(line, "Expanded", 8) ||
	       !strncmp(line, "lost: ", 6) || !strncmp(line, "Pane is dead", 12);
}

/* Behind the place of an error: the lines of its source, which test_carets() looks at. */
static const char *behind_source(const char *place)
{
	for (u32 i = 0; i < 2 && *place; i++)
		place = line_end(place + 1);
	return place;
}

/* The lines of the screen have every word that the pipe's have, or a mark for it. */
static void check_same(const char *screen, const char *piped)
{
	bool is_left_out = false;

	for (const char *line = screen, *end; *line; line = *end ? end + 1 : end) {
		bool is_place = !strncmp(line, "  query:", 8) || !strncmp(line, "  long.sql:", 11);
		const char *at = line;

		end = line_end(line);
		/* A comment of SQL is one on each of its lines. */
		if (!strncmp(line, "-- ", 3) && strncmp(skip_blanks(piped), "-- ", 3) != 0)
			at += 3;
		if (is_aside(line))
			continue;
		if (!strncmp(line, "(" MARK " ", 5)) {
			assert_true(is_left_out);
			is_left_out = false;
			continue;
		}
		while (at += strspn(at, " "), at < end) {
			size_t n = strcspn(at, " \n");
			bool is_column = at >= line + 2 && at[-1] == ' ' && at[-2] == ' ';

			piped = take_word(at, n, is_column, piped);
			is_left_out |= is_column && n == strlen(MARK) && !memcmp(at, MARK, n);
			at += n;
		}
		if (is_place) {
			end = behind_source(end);
			piped = behind_source(piped);
		}
	}
	assert_false(is_left_out);
	if (*skip_blanks(piped))
		fail_msg("not on the screen: %s", piped);
}

/* What the command says, without the accounts. */
static void run(const char *command, struct buf *out)
{
	FILE *pipe = popen(command, "re");
	char line[4096];

	assert_non_null(pipe);
	buf_reset(out);
	buf_puts(out, "");
	while (fgets(line, sizeof(line), pipe))
		if (!is_aside(line))
			buf_puts(out, line);
	pclose(pipe);
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* --- The shell --- */

static const char *const session[] = {
	"SELECT * FROM 'wide.csv';",
	"SELECT path, note, pid FROM 'wide.csv';",
	"SELECT pid, histogram(latency) FROM 'wide.csv' GROUP BY pid;",
	"SELECT pid, comm, path, quantiles(latency, 0.5, 0.9) FROM 'long.sql';",
	"\\i long.sql",
	"\\?",
	"\\timin",
	"\\d wide.csv",
	"\\dv",
	"SELECT 1 FROM nowhere;",
	"\\x",
	"SELECT * FROM 'wide.csv' LIMIT 2;",
	"\\x",
};

/* Statements whose error stands far behind the right margin, before it and on it. */
static void write_files(void)
{
	struct buf text;

	buf_init(&text);
	buf_puts(&text, "time,pid,comm,latency,path,flags,a_name_of_many_letters,note\n");
	for (u32 i = 0; i < 12; i++) {
		buf_printf(&text, "%u00000000,%u,comm%u,%u,/usr/share/doc/a-long-path/%u/", i + 1,
			   1000 + i / 4, i, i * 12345, i);
		buf_fill(&text, 'x', 9 * i);
		buf_printf(&text, ",%u,%u,note %u with a wörd\n", i % 7, i * 1000003, i);
	}
	write_file("wide.csv", text.at);
	buf_reset(&text);
	for (u32 i = 0; i < 120; i += 10) {
		buf_puts(&text, "SELECT pid");
		buf_fill(&text, ' ', i);
		buf_puts(&text,
			 ", pidd FROM 'wide.csv' WHERE comm = 'a' AND\tpath LIKE '%/12%';\n");
	}
	write_file("long.sql", text.at);
	buf_free(&text);
}

static void shell_of(struct tmux *t, int columns, const char *piped)
{
	open_window(t, columns, "exec ./ebql");
	wait_for(t, ends_with, "\nebql>");
	for (u32 i = 0; i < ARRAY_SIZE(session); i++)
		type_line(t, session[i]);
	check_not_wrapped(t);
	check_same(t->screen.at, piped);
	close_window(t);
}

static void test_shell(void **state)
{
	struct tmux *t = *state;
	struct buf text;

	buf_init(&text);
	for (u32 i = 0; i < ARRAY_SIZE(session); i++)
		buf_printf(&text, "%s\n", session[i]);
	write_file("session", text.at);
	/* A pipe is one text, of many lines. */
	run("./ebql <session 2>&1 | sed 's/query:[0-9]*:/query:1:/'", &text);
	shell_of(t, 80, text.at);
	shell_of(t, 200, text.at);
	buf_free(&text);
}

/* --- Carets --- */

/* The caret stands below what is meant, also where the line was cut. */
static void test_carets(void **state)
{
	struct tmux *t = *state;
	u32 n = 0;

	for (int columns = 80; columns <= 200; columns += 120) {
		open_window(t, columns, "./ebql -f long.sql; echo end; exec cat");
		wait_for(t, has_text, "\nend");
		check_not_wrapped(t);
		for (const char *line = t->screen.at; *(line = line_end(line)); n++) {
			const char *source = ++line, *next = line_end(line), *caret;

			if (!*next || !(caret = strchr(next, '^')) || caret > line_end(next + 1)) {
				n--;
				continue;
			}
			assert_memory_equal(source + (caret - next - 1), "pidd", 4);
		}
		close_window(t);
	}
	assert_int_equal(n, 24);
}

/* --- Completion --- */

static void test_completion(void **state)
{
	struct tmux *t = *state;
	struct buf names;

	NEEDS_ROOT();
	buf_init(&names);
	for (int columns = 80; columns <= 200; columns += 120) {
		open_window(t, columns, "exec ./ebql");
		wait_for(t, ends_with, "\nebql>");
		keys(t, "DESCRIBE syscall:se");
		tmux(t, &t->split, "send-keys", "Tab", NULL);
		wait_for(t, has_text, "setxattr");
		wait_for(t, ends_with, "\nebql> DESCRIBE syscall:se");
		check_not_wrapped(t);
		run("./ebql list 'syscall:se*' | sed 's/syscall://'", &names);
		for (char *name = strtok(names.at, "\n"); name; name = strtok(NULL, "\n"))
			if (!strstr(t->screen.at, name))
				fail_msg("%s is not offered: %s", name, t->screen.at);
		close_window(t);
	}
	buf_free(&names);
}

/* --- Words --- */

static void test_texts(void **state)
{
	static const char *const commands[] = {
		"help",
		"tools",
		"tools biolatency",
		"biolatency -h",
		"doctor",
		"describe --catalog " CATALOG " off_cpu",
		"describe --catalog " CATALOG " syscall:read",
		"-e 'SHOW VIEWS'",
		"biolatenc",
		"list nothing-of-that-name",
		"explain --catalog " CATALOG
		" 'SELECT comm, count(*), p99(latency) FROM syscall:read "
		"WHERE fd = 3 GROUP BY comm WINDOW TUMBLING 1s'",
	};
	struct tmux *t = *state;
	char command[512];
	struct buf piped;

	buf_init(&piped);
	for (u32 i = 0; i < 2 * ARRAY_SIZE(commands); i++) {
		snprintf(command, sizeof(command), "./ebql %s 2>&1; echo end", commands[i / 2]);
		run(command, &piped);
		snprintf(command, sizeof(command), "./ebql %s; echo end; exec cat",
			 commands[i / 2]);
		open_window(t, i % 2 ? 200 : 80, command);
		wait_for(t, ends_with, "\nend");
		check_not_wrapped(t);
		check_same(t->screen.at, piped.at);
		close_window(t);
	}
	buf_free(&piped);
}

/* --- Tools --- */

/* The tool on the screen, and around it the same with results in a file: both see one run of
 * `load`. */
static void tool_of(struct tmux *t, int columns, const char *tool, const char *load)
{
	struct buf piped;
	char command[512];

	buf_init(&piped);
	snprintf(command, sizeof(command),
		 "./ebql -q %s -O piped -- ./ebql %s -- sh %s; echo end; exec cat", tool, tool,
		 load);
	open_window(t, columns, command);
	wait_for(t, ends_with, "\nend");
	check_not_wrapped(t);
	run("cat piped; echo end", &piped);
	check_same(t->screen.at, piped.at);
	close_window(t);
	buf_free(&piped);
}

static void test_tools(void **state)
{
	struct tmux *t = *state;

	NEEDS_ROOT();
	assert_int_equal(
		system("cp /bin/true e-true; cp /bin/cat e-cat; "
		       "name=$(printf 'name%.0s' $(seq 50)); echo x >$name; "
		       "echo \"./e-true one two $name $name; ./e-true; ./e-true 3\" >execs; "
		       "echo \"./e-cat $name nothing $name.none 2>&1 | cat >opened\" >opens"),
		0);
	for (int columns = 80; columns <= 200; columns += 120) {
		tool_of(t, columns, "execsnoop e-true", "execs");
		assert_non_null(strstr(t->screen.at, "./e-true one two "));
		assert_non_null(strstr(t->screen.at, "./e-true 3"));
		tool_of(t, columns, "opensnoop false e-cat", "opens");
		assert_non_null(strstr(t->screen.at, "  namename"));
		assert_non_null(strstr(t->screen.at, "  -2  O_RDONLY"));
		assert_non_null(strstr(t->screen.at, "  nothing\n"));
	}
}

/* A disk that others do not use: its requests are known. */
static void test_disk(void **state)
{
	struct tmux *t = *state;
	char command[256];
	struct buf name;

	NEEDS_ROOT();
	buf_init(&name);
	run("truncate -s 1M disk && losetup -f --show disk | sed s,/dev/,,", &name);
	if (!name.n) {
		print_message("SKIP: no loop devices\n");
		skip();
	}
	trim(&name);
	for (int columns = 80; columns <= 200; columns += 120) {
		snprintf(command, sizeof(command),
			 "echo 'dd if=/dev/zero of=/dev/%s bs=4096 count=16 oflag=direct "
			 "status=none' >writes; ./ebql biolatency 1h 0 %s -- sh writes; echo end; "
			 "exec cat",
			 name.at, name.at);
		open_window(t, columns, command);
		wait_for(t, ends_with, "\nend");
		check_not_wrapped(t);
		assert_non_null(strstr(t->screen.at, "  rwbs WS\nlatency\n"));
		assert_non_null(strstr(t->screen.at, "\ncount 16  sum "));
		assert_non_null(strstr(t->screen.at, "  100.0%  █"));
		close_window(t);
		snprintf(command, sizeof(command), "biosnoop 0s %s", name.at);
		tool_of(t, columns, command, "writes");
	}
	snprintf(command, sizeof(command), "losetup -d /dev/%s", name.at);
	assert_int_equal(system(command), 0);
	buf_free(&name);
}

/* --- A terminal that changes --- */

#define LONG "a-text-of-one-hundred-and-twenty-letters-"
#define ROW  LONG LONG LONG

static void test_resize(void **state)
{
	struct tmux *t = *state;
	const char *cut;

	NEEDS_ROOT();
	open_window(t, 80,
		    "trap : INT; ./ebql \"SELECT '" ROW
		    "' AS t, count(*) > 0 AS some FROM sched_switch "
		    "WINDOW TUMBLING 100ms\"; echo end; exec cat");
	wait_for(t, has_text, MARK "  true\n");
	tmux(t, &t->split, "resize-window", "-x", "200", NULL);
	wait_for(t, has_text, ROW "  true\n");
	tmux(t, &t->split, "clear-history", NULL);
	tmux(t, &t->split, "resize-window", "-x", "80", NULL);
	wait_for(t, has_text, MARK "  true\n");
	tmux(t, &t->split, "send-keys", "C-c", NULL);
	wait_for(t, has_text, "\nend");
	/* Nothing but windows, whatever the width was when they came. */
	for (const char *line = line_end(t->screen.at); *line; line = line_end(line)) {
		cut = strstr(++line, MARK);
		if (!*line || *line == '\n' || isdigit(*line) || !strncmp(line, "t  ", 3) ||
		    !strncmp(line, "^C", 2) || !strncmp(line, "end", 3) ||
		    !strncmp(line, "late: ", 6) || !strncmp(line, "lost: ", 6))
			continue;
		if (strncmp(line, ROW "  true\n", strlen(ROW "  true\n")) != 0 &&
		    (!cut || memcmp(line, ROW, (size_t)(cut - line)) != 0 ||
		     strncmp(cut, MARK "  true\n", strlen(MARK "  true\n")) != 0))
			fail_msg("no window: %s", line);
	}
	close_window(t);
	/* And between two statements. */
	open_window(t, 80, "exec ./ebql");
	type_line(t, "SELECT '" ROW "' AS t;");
	tmux(t, &t->split, "resize-window", "-x", "200", NULL);
	type_line(t, "SELECT '" ROW "' AS u;");
	assert_non_null(strstr(t->screen.at, "\n" ROW "\n"));
	close_window(t);
}

static int enter(void **state)
{
	struct tmux *t = calloc(1, sizeof(*t));

	if (system("tmux -V >/dev/null 2>&1") != 0) {
		print_message("SKIP: there is no tmux\n");
		skip();
	}
	assert_non_null(t);
	snprintf(t->folder, sizeof(t->folder), "/tmp/ebql-tmux-XXXXXX");
	assert_non_null(mkdtemp(t->folder));
	assert_int_equal(chdir(t->folder), 0);
	assert_int_equal(symlink(EBQL_BINARY, "ebql"), 0);
	setenv("TMUX_TMPDIR", t->folder, 1);
	setenv("HOME", t->folder, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("PAGER", "", 1);
	unsetenv("TMUX");
	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_CONFIG_HOME");
	write_file("conf", "set -g history-limit 50000\nset -g status off\n"
			   "set -g default-shell /bin/sh\n");
	write_files();
	buf_init(&t->screen);
	buf_init(&t->split);
	*state = t;
	return 0;
}

static int leave(void **state)
{
	struct tmux *t = *state;
	char command[256];

	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command),
		 "for s in %s/tmux-*/*; do tmux -S $s kill-server 2>/dev/null; done; rm -r %s",
		 t->folder, t->folder);
	buf_free(&t->screen);
	buf_free(&t->split);
	free(t);
	return system(command);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shell),	   cmocka_unit_test(test_carets),
		cmocka_unit_test(test_completion), cmocka_unit_test(test_texts),
		cmocka_unit_test(test_tools),	   cmocka_unit_test(test_disk),
		cmocka_unit_test(test_resize),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("tmux", tests, enter, leave);
}
