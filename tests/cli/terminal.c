/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A pseudo terminal for tests.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

#include "terminal.h"

void start_words(struct terminal *t, u16 columns, char *const words[])
{
	const struct winsize size = { .ws_row = 50, .ws_col = columns };

	t->at = 0;
	buf_reset(&t->seen);
	t->pid = forkpty(&t->fd, NULL, NULL, &size);
	assert_true(t->pid >= 0);
	if (t->pid == 0) {
		setenv("TERM", "vt100", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		setenv("NO_COLOR", "1", 1);
		setenv("XDG_STATE_HOME", t->state, 1);
		setenv("HOME", t->state, 1);
		execvp(words[0], words);
		_exit(127);
	}
}

void start(struct terminal *t, const char *option)
{
	start_words(t, 200, (char *const[]){ EBQL_BINARY, (char *)option, NULL });
}

int setup_idle(void **state)
{
	struct terminal *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	snprintf(t->state, sizeof(t->state), "/tmp/ebql-test-shell-XXXXXX");
	assert_non_null(mkdtemp(t->state));
	buf_init(&t->seen);
	*state = t;
	return 0;
}

int setup(void **state)
{
	int error = setup_idle(state);

	start(*state, NULL);
	return error;
}

int teardown(void **state)
{
	struct terminal *t = *state;
	char command[128];
	int status;

	if (t->pid > 0) {
		kill(t->pid, SIGKILL);
		waitpid(t->pid, &status, 0);
		close(t->fd);
	}
	snprintf(command, sizeof(command), "rm -rf %s", t->state);
	status = system(command);
	buf_free(&t->seen);
	free(t);
	return status;
}

/* One more piece of output; false at its end, or when none comes in time. */
bool read_more(struct terminal *t)
{
	struct pollfd fd = { .fd = t->fd, .events = POLLIN };
	char chunk[4096];
	ssize_t n;

	if (poll(&fd, 1, WAIT_MS) <= 0)
		return false;
	n = read(t->fd, chunk, sizeof(chunk));
	if (n > 0)
		buf_put(&t->seen, chunk, (size_t)n);
	return n > 0;
}

/* The text must come, behind all that has been waited for so far. */
void expect(struct terminal *t, const char *text)
{
	const char *found;

	while (!(found = t->seen.n > t->at
				 ? memmem(t->seen.at + t->at, t->seen.n - t->at, text, strlen(text))
				 : NULL))
		if (!read_more(t))
			fail_msg("\"%s\" never came; there is: %s", text,
				 t->seen.n > t->at ? t->seen.at + t->at : "nothing");
	t->at = (size_t)(found - t->seen.at) + strlen(text);
}

void type(struct terminal *t, const char *keys)
{
	size_t n = strlen(keys);

	assert_int_equal(write(t->fd, keys, n), n);
}

void key(struct terminal *t, char c)
{
	assert_int_equal(write(t->fd, &c, 1), 1);
}

/* Types a line when the shell asks for it, and waits until the line stands there. */
void line(struct terminal *t, const char *text)
{
	expect(t, "ebql> ");
	type(t, text);
	type(t, "\r");
	expect(t, "\n");
}

/* The keys make the line that is being edited (drawn anew, as a whole) this; it is then dropped. */
void expect_line(struct terminal *t, const char *keys, const char *text)
{
	expect(t, "> ");
	type(t, keys);
	/* A mark at the end, where blanks would not show. */
	type(t, "!\x0c");
	expect(t, text);
	key(t, CTRL('C'));
	expect(t, "^C");
}

int ended(struct terminal *t)
{
	int status;

	while (read_more(t))
		;
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	close(t->fd);
	t->pid = 0;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Nothing of the kind since `from`. */
bool has_seen(struct terminal *t, size_t from, const char *text)
{
	return memmem(t->seen.at + from, t->seen.n - from, text, strlen(text)) != NULL;
}
