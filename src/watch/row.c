/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Commands get their row as a file in memory, so that one which does not read it holds up nobody.
 * Of each query one runs at a time; a few rows wait for it, and what comes then is counted.
 */
#include "watch/row.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/sys.h"

#define WAITING_MAX    16
#define END_NS	       2000000000ull
#define WORDS_MAX      32
#define ENV_BYTES_MAX  (64u << 10) /* of one column; the kernel takes 128 KiB */
#define COMMAND_PREFIX "EBQL_"

enum what { ROW_LOG, ROW_EXEC, ROW_SHELL, ROW_SNAPSHOT };

static const char *const whats[] = {
	[ROW_LOG] = "log",
	[ROW_EXEC] = "exec:",
	[ROW_SHELL] = "shell:",
	[ROW_SNAPSHOT] = "snapshot:",
};

/* A row that waits for its command. */
struct job {
	struct job *next;
	struct buf row;
	struct buf environment; /* NAME=VALUE, each ended by 0 */
};

struct row_action {
	struct row_action *next;
	enum what what;
	char *argument, *name;
	char *shown, *said, *title; /* its file, argument and name in messages */
	struct out_file out;	    /* json */
	struct job *first, **end;
	u32 n_waiting;
	u64 n_untold; /* that were dropped */
	struct row_counts counts;
	pid_t pid; /* 0: none runs */
	int pid_fd;
	u64 most_ns, limit_ns; /* what it may take, and until when that is */
	bool is_late;	       /* it was killed */
	bool is_left, is_wanted;
};

static struct row_action *actions;
static int epoll_fd = -1;

/* --- The text --- */

static bool split(const char *on_row, enum what *ret_what, const char **ret_argument)
{
	for (u32 i = 0; i < ARRAY_SIZE(whats); i++) {
		size_t n = strlen(whats[i]);

		if (strncmp(on_row, whats[i], n) != 0)
			continue;
		*ret_what = i;
		*ret_argument = on_row + n;
		return i == ROW_LOG ? !on_row[n] : on_row[n + strspn(on_row + n, " ")] != '\0';
	}
	return false;
}

static u32 count_words(const char *text)
{
	u32 n = 0;

	for (text += strspn(text, " "); *text; text += strspn(text, " "), n++)
		text += strcspn(text, " ");
	return n;
}

bool row_check(struct query *q, enum trust trust)
{
	const struct settings *s = &q->settings;
	const char *argument;
	enum what what;

	if (!*s->on_row)
		return true;
	if (!split(s->on_row, &what, &argument))
		return diag_refuse(&q->diags, "bad-on-row", s->on_row_span,
				   "nothing is done with a row by \"%s\"" HINT
				   "'log', 'exec:COMMAND WORDS', 'shell:COMMAND', or "
				   "'snapshot:QUERY' of one that keeps its windows",
				   s->on_row);
	if (what == ROW_EXEC && count_words(argument) > WORDS_MAX)
		return diag_refuse(&q->diags, "bad-on-row", s->on_row_span,
				   "the command has more than %d words" HINT
				   "a script, or 'shell:COMMAND'",
				   WORDS_MAX);
	if (trust == TRUST_PLACE || what == ROW_LOG || what == ROW_SNAPSHOT)
		return true;
	return diag_refuse(&q->diags, "untrusted-file", s->on_row_span,
			   "a command would be run for who may write %s" HINT
			   "the file and its directory must be root's (or of the user that runs "
			   "ebql watch), no other's to write, and no link: chown root, chmod go-w",
			   q->diags.file);
}

/* --- One command --- */

static void free_job(struct job *job)
{
	buf_free(&job->row);
	buf_free(&job->environment);
	free(job);
}

static bool has_variable(const struct job *job, const char *variable)
{
	const char *end = job->environment.at + job->environment.n;

	for (const char *at = job->environment.at; at < end; at += strlen(at) + 1)
		if (strncmp(at, variable, strcspn(at, "=") + 1) == 0)
			return true;
	return false;
}

/* The row's, and ours (perhaps of another row); the strings stay theirs.  NULL: no memory. */
static char **make_environment(const struct job *job)
{
	const char *end = job->environment.at + job->environment.n;
	u32 n = 0, n_ours = 0;
	char **all;

	while (environ[n])
		n++;
	for (const char *at = job->environment.at; at < end; at += strlen(at) + 1)
		n++;
	all = calloc(n + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (char **at = environ; *at; at++)
		if (!has_variable(job, *at))
			all[n_ours++] = *at;
	for (char *at = job->environment.at; at < end; at += strlen(at) + 1)
		all[n_ours++] = at;
	return all;
}

/* The row, from its beginning; -1. */
static int open_row(const struct job *job)
{
	int fd = memfd_create("row", MFD_CLOEXEC);

	if (fd >= 0 && (write(fd, job->row.at, job->row.n) != (ssize_t)job->row.n ||
			lseek(fd, 0, SEEK_SET) < 0))
		sys_close(&fd);
	return fd;
}

/* Its signals are as usual, it leads a group of its own, and what it prints goes to our log. */
static int spawn(char *const *words, char *const *environment, int row_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int error;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, row_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	error = posix_spawnp(ret_pid, words[0], &files, &attr, words, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return error;
}

/* 0 or an errno */
static int run(struct row_action *a, const struct job *job)
{
	char *words[WORDS_MAX + 1] = { "/bin/sh", "-c", a->argument }, *text = NULL, *at;
	char **environment = make_environment(job);
	int row_fd = open_row(job), error = ENOMEM;
	struct epoll_event event = { .events = EPOLLIN };
	u32 n = 0;

	if (a->what == ROW_EXEC && (text = strdup(a->argument)))
		for (char *word = strtok_r(text, " ", &at); word && n < WORDS_MAX;
		     word = strtok_r(NULL, " ", &at))
			words[n++] = word;
	if (n)
		words[n] = NULL;
	if (environment && row_fd >= 0 && (a->what == ROW_SHELL || text))
		error = spawn(words, environment, row_fd, &a->pid);
	free(text);
	free(environment);
	sys_close(&row_fd);
	if (error)
		return error;
	/* Linux 5.3 */
	a->pid_fd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	if (a->pid_fd >= 0)
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, a->pid_fd, &event);
	a->limit_ns = base_monotonic_ns() + a->most_ns;
	a->is_late = false;
	a->counts.n_run++;
	return 0;
}

static void start_next(struct row_action *a)
{
	struct job *job;
	int error;

	while (!a->pid && (job = a->first)) {
		a->first = job->next;
		if (!a->first)
			a->end = &a->first;
		a->n_waiting--;
		error = run(a, job);
		free_job(job);
		if (!error)
			continue;
		a->pid = 0;
		a->counts.n_failed++;
		fprintf(stderr, "ebql: %s: on_row: %s: %s\n", a->shown, a->said, strerror(error));
	}
	if (a->n_untold && a->n_waiting < WAITING_MAX) {
		fprintf(stderr,
			"ebql: %s: on_row: no command was run for %llu rows: %u waited already\n",
			a->shown, (unsigned long long)a->n_untold, WAITING_MAX);
		a->n_untold = 0;
	}
}

static void say_end(struct row_action *a, int status)
{
	const char *what = "ended with";
	int n = WEXITSTATUS(status);

	if (!status && !a->is_late)
		return;
	a->counts.n_failed++;
	if (a->is_late) {
		fprintf(stderr, "ebql: %s: on_row: %s: killed, after %llu ms (on_row_limit)\n",
			a->shown, a->said, (unsigned long long)a->most_ns / 1000000);
		return;
	}
	if (WIFSIGNALED(status)) {
		what = "killed by signal";
		n = WTERMSIG(status);
	}
	fprintf(stderr, "ebql: %s: on_row: %s: %s %d\n", a->shown, a->said, what, n);
}

static void step(struct row_action *a)
{
	siginfo_t ended = { 0 };
	int status = 0;

	if (a->pid && waitid(P_PID, (id_t)a->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    ended.si_pid) {
		/* Of what it started nothing stays; its number is nobody else's before it is taken.
		 */
		kill(-a->pid, SIGKILL);
		waitpid(a->pid, &status, 0);
		sys_close(&a->pid_fd);
		a->pid = 0;
		say_end(a, status);
	} else if (a->pid && !a->is_late && base_monotonic_ns() >= a->limit_ns) {
		a->is_late = true;
		kill(-a->pid, SIGKILL);
	}
	start_next(a);
}

/* --- Rows --- */

/* A name that shells take; no value with a 0 in it. */
static void put_variable(void *context, const char *name, size_t n, const char *value,
			 size_t n_value)
{
	struct buf *to = context;

	/* EBQL_QUERY is the query's name, which comes first. */
	if ((to->n && n == 5 && strncasecmp(name, "query", n) == 0) || n_value > ENV_BYTES_MAX ||
	    memchr(value, '\0', n_value))
		return;
	buf_puts(to, COMMAND_PREFIX);
	for (size_t i = 0; i < n; i++) {
		char c = name[i];

		buf_putc(to, c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A')
			     : (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c
										: '_');
	}
	buf_putc(to, '=');
	buf_put(to, value, n_value);
	buf_putc(to, '\0');
}

static void enqueue(struct row_action *a, const struct batch *batch, u32 row)
{
	struct job *job = a->n_waiting < WAITING_MAX ? calloc(1, sizeof(*job)) : NULL;

	if (!job) {
		a->n_untold++;
		a->counts.n_dropped++;
		return;
	}
	buf_init(&job->row);
	buf_init(&job->environment);
	buf_put(&job->row, a->out.out.buf.at, a->out.out.buf.n);
	put_variable(&job->environment, "query", 5, a->name, strlen(a->name));
	out_json_each(&a->out.out, batch, row, put_variable, &job->environment);
	*a->end = job;
	a->end = &job->next;
	a->n_waiting++;
	start_next(a);
}

/* As one piece, however long it is: the log takes it whole, or counts it. */
static void log_row(const struct row_action *a, const struct buf *line)
{
	struct buf text;

	buf_init(&text);
	buf_printf(&text, "ebql: %s: row: ", a->title);
	buf_put(&text, line->at, line->n);
	fwrite(text.at, 1, text.n, stderr);
	buf_free(&text);
}

void row_batch(struct row_action *a, const struct batch *batch)
{
	for (u32 i = 0; i < batch->n_rows; i++) {
		struct buf *line = &a->out.out.buf;

		if (a->what == ROW_SNAPSHOT) {
			a->is_wanted = true;
			return;
		}
		buf_reset(line);
		a->out.out.format->row(&a->out.out, batch, i);
		if (a->what == ROW_LOG)
			log_row(a, line);
		else
			enqueue(a, batch, i);
	}
}

/* As messages may say it. */
static char *visible(const char *text)
{
	struct buf buf;
	char *copy;

	buf_init(&buf);
	out_put_visible(&buf, text, strlen(text), 0);
	copy = buf.is_cut ? NULL : strndup(buf.n ? buf.at : "", buf.n);
	buf_free(&buf);
	return copy;
}

struct row_action *row_open(const struct settings *settings, const char *name, const char *shown,
			    const struct schema *schema, const struct out_options *options)
{
	struct row_action *a = calloc(1, sizeof(*a));
	struct out_options out = { .has_window_columns = true,
				   .is_streaming = options->is_streaming,
				   .has_other = options->has_other,
				   .monotonic_to_realtime_ns = options->monotonic_to_realtime_ns };
	const char *argument;

	if (!a)
		return NULL;
	a->pid_fd = -1;
	a->end = &a->first;
	BUG_ON(!split(settings->on_row, &a->what, &argument));
	argument += strspn(argument, " ");
	a->most_ns = settings->on_row_limit_ns;
	a->argument = strdup(argument);
	a->name = strdup(name);
	a->shown = strdup(shown);
	a->said = visible(argument);
	a->title = visible(name);
	a->next = actions;
	actions = a;
	if (!a->argument || !a->name || !a->shown || !a->said || !a->title ||
	    out_file_open(&a->out, out_format_find("json"), -1, &out, schema)) {
		row_leave(a);
		return NULL;
	}
	return a;
}

const struct row_counts *row_counts(const struct row_action *a)
{
	return &a->counts;
}

const char *row_wanted(struct row_action *a)
{
	bool is_wanted = a->is_wanted;

	a->is_wanted = false;
	return is_wanted ? a->argument : NULL;
}

/* --- All --- */

static void free_action(struct row_action *a)
{
	struct row_action **at = &actions;

	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	free(a->argument);
	free(a->name);
	free(a->shown);
	free(a->said);
	free(a->title);
	free(a);
}

void row_leave(struct row_action *a)
{
	if (!a)
		return;
	/* Its schema goes. */
	out_file_close(&a->out, -ECANCELED);
	a->is_left = true;
}

void rows_step(void)
{
	for (struct row_action *a = actions, *next; a; a = next) {
		next = a->next;
		step(a);
		if (a->is_left && !a->pid && !a->first)
			free_action(a);
	}
}

int rows_open(void)
{
	/* What a service manager gave to us is not for commands. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd;
}

u64 rows_due_ns(void)
{
	u64 due_ns = 0;

	for (const struct row_action *a = actions; a; a = a->next)
		if (a->pid && !a->is_late && (!due_ns || a->limit_ns < due_ns))
			due_ns = a->limit_ns;
	return due_ns;
}

void rows_close(const struct cancel *cancel)
{
	u64 end_ns = base_monotonic_ns() + END_NS;

	for (rows_step(); actions && base_monotonic_ns() < end_ns && !cancel_is_due(cancel);
	     rows_step())
		poll(&(struct pollfd){ epoll_fd, POLLIN }, 1, 20);
	for (struct row_action *a = actions; a; a = a->next) {
		fprintf(stderr, "ebql: %s: on_row: %s: not waited for any longer, %u rows waited\n",
			a->shown, a->said, a->n_waiting);
		if (a->pid)
			kill(-a->pid, SIGKILL);
		if (a->pid)
			waitpid(a->pid, NULL, 0);
		while (a->first) {
			struct job *job = a->first;

			a->first = job->next;
			free_job(job);
		}
		sys_close(&a->pid_fd);
	}
	while (actions)
		free_action(actions);
	sys_close(&epoll_fd);
}
