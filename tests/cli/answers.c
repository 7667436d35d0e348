/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Commands, and what each must answer: a text whose blocks have a command behind "$ ", what it says
 * on both outputs, and its exit status behind "= ", unless it is 0.  EBQL_UPDATE=1 writes the
 * answers.  habits.txt: what hands type that know bpftrace, psql and DuckDB; tools.txt: the queries
 * that ship with ebql, beside loads whose truth is known, of which the folder tools has some;
 * tools-bpftrace.txt: the same beside bpftrace's.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"

/* What a command may take; all of them end within seconds here, and within some more in a guest. */
#define LIMIT_S 60

/* Behind a session and its command: says where its threads stand in the kernel, and ends them. */
static const char end_session[] =
	"exec >&2; session=$0; pids=\n"
	"echo \"stands still: $1\"\n"
	"for p in /proc/[0-9]*; do\n"
	"	set -- $(sed 's/.*) //' $p/stat 2>/dev/null)\n"
	"	[ \"$4\" = $session ] || continue\n"
	"	pids=\"$pids ${p#/proc/}\"\n"
	"	echo \"${p#/proc/} of $2, $1: $(tr '\\0\\n' '  ' <$p/cmdline | cut -c 1-150)\"\n"
	"	for t in $p/task/*; do echo \"  call $(cat $t/syscall)\"; head -n 8 $t/stack; done\n"
	"done\n"
	"kill -KILL $pids";

/* sh with the script and arguments: at once in a session of its own, or when the time is over. */
static int start(const char *script, const char *first, const char *second, int out)
{
	int pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (out < 0)
		sleep(LIMIT_S);
	else if (setsid() < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", script, first, second, NULL);
	_exit(127);
}

/* The command, in the folder of the test, where "ebql" is the binary. */
static void run(const char *command, struct buf *out)
{
	int ends[2], pid, watcher, status;
	struct buf line;
	char session[16];

	buf_init(&line);
	buf_printf(&line, "exec 2>&1 </dev/null; %s", command);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = start(line.at, NULL, NULL, ends[1]);
	close(ends[1]);
	snprintf(session, sizeof(session), "%d", pid);
	watcher = start(end_session, session, command, -1);
	assert_int_equal(buf_read(out, ends[0], 1 << 20), 0);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	kill(watcher, SIGKILL);
	assert_int_equal(waitpid(watcher, NULL, 0), watcher);
	if (out->n && out->at[out->n - 1] != '\n')
		buf_putc(out, '\n');
	if (WIFSIGNALED(status))
		buf_printf(out, "= signal %d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		buf_printf(out, "= %d\n", WEXITSTATUS(status));
	buf_free(&line);
}

static const char *line_end(const char *at)
{
	return at + strcspn(at, "\n");
}

/* The blocks of the text as they should be -> as they are. */
static u32 answer(const char *text, struct buf *out)
{
	u32 n_commands = 0;

	for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
		struct buf command;

		end = line_end(at);
		/* A comment, or an empty line behind an answer. */
		if (strncmp(at, "$ ", 2) != 0) {
			if (*at == '#' || at == end)
				buf_printf(out, "%.*s\n", (int)(end - at), at);
			continue;
		}
		buf_printf(out, "%.*s\n", (int)(end - at), at);
		buf_init(&command);
		buf_put(&command, at + 2, (size_t)(end - at - 2));
		run(command.at, out);
		buf_free(&command);
		n_commands++;
		/* What it said before stands there up to the next empty line. */
		while (*end && end[1] && end[1] != '\n')
			end = line_end(end + 1);
	}
	return n_commands;
}

static void test_answers(void **state)
{
	struct buf wanted, got;
	FILE *file;

	buf_init(&wanted);
	buf_init(&got);
	assert_int_equal(buf_read_file(&wanted, HERE "/" TEXT, 1 << 20), 0);
	assert_true(answer(wanted.at, &got) >= N_COMMANDS);
	if (getenv("EBQL_UPDATE")) {
		file = fopen(HERE "/" TEXT, "w");
		assert_non_null(file);
		fputs(got.at, file);
		assert_int_equal(fclose(file), 0);
	} else if (strcmp(wanted.at, got.at) != 0) {
		file = fopen("got.txt", "w");
		assert_non_null(file);
		fputs(got.at, file);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(system("diff " HERE "/" TEXT " got.txt"), 0);
	}
	buf_free(&wanted);
	buf_free(&got);
}

static char folder[] = "/tmp/ebql-answers-XXXXXX";

static int enter(void **state)
{
#ifdef NEEDS_ROOT
	if (geteuid() != 0) {
		print_message("SKIP: needs root\n");
		skip();
	}
#endif
#ifdef BPFTRACE
	if (access(BPFTRACE, X_OK)) {
		print_message("SKIP: %s is not there\n", BPFTRACE);
		skip();
	}
#endif
	struct buf path;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(symlink(EBQL_BINARY, "ebql"), 0);
	buf_init(&path);
	buf_printf(&path, "%s:" HERE "/tools:%s", folder, getenv("PATH"));
	assert_int_equal(setenv("PATH", path.at, 1), 0);
	assert_int_equal(setenv("HOME", folder, 1), 0);
	assert_int_equal(setenv("CATALOG", CATALOG, 1), 0);
	assert_int_equal(setenv("ONELINERS", HERE "/oneliners.bt", 1), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	buf_free(&path);
	/* The databases are of habits.txt, and not where tools-functions.txt alone is tested. */
	assert_int_equal(system("cp " HERE "/habits.csv events.csv; "
				"for f in " HERE "/*.db; do [ ! -e \"$f\" ] || cp \"$f\" .; done"),
			 0);
	return 0;
}

static int leave(void **state)
{
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(setenv("FOLDER", folder, 1), 0);
	/* With what was mounted in it. */
	return system(
		"grep -o \"$FOLDER/[^ ]*\" /proc/mounts | while read -r at; do umount \"$at\"; "
		"done; rm -r \"$FOLDER\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers) };

	return cmocka_run_group_tests_name(TEXT, tests, enter, leave);
}
