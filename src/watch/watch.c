/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql watch FILE|DIRECTORY...: all queries of the files in one engine, which come, change and go
 * with their files.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "host/host.h"
#include "sys/sys.h"
#include "watch/files.h"
#include "watch/messages.h"
#include "watch/query.h"
#include "watch/service.h"
#include "watch/sink.h"
#include "watch/status.h"
#include "watch/watch.h"

#define TEXT_BYTES_MAX (16u << 20)
/* Editors take a file away before they put the new one in its place. */
#define GONE_NS	     1000000000ull
#define GONE_POLL_MS 50
/* The clock that files have their times of may stand for some milliseconds. */
#define STAMP_NS 1000000000ull

struct watch {
	struct watch_all all;
	struct host host;
	struct watch_files *files;
	struct status *status;
	struct signals hangup; /* as it was */
	int epoll_fd, schedule_fd;
	u32 n_told, n_told_running; /* queries, to the service manager */
	bool is_again;		    /* SIGHUP: all anew */
	bool has_begun;		    /* all that was there has been read once */
	u64 peeked_ns;
};

/* --- SIGHUP --- */

static const int hangup_signal[] = { SIGHUP };
static int hangup_fd = -1;

static void on_hangup(int number)
{
	const u64 one = 1;
	int error = errno;

	/* Full: it has been told already. */
	if (write(hangup_fd, &one, sizeof(one)) < 0)
		errno = error;
}

static bool take_hangup(void)
{
	u64 n;

	return read(hangup_fd, &n, sizeof(n)) == sizeof(n);
}

/* --- Files -> queries --- */

/* The path's directory, ended by 0. */
static const char *folder_of(const char *path, char *room)
{
	snprintf(room, PATH_MAX, "%s", path);
	return dirname(room);
}

static bool stat_folder(const char *path, struct stat *st)
{
	char folder[PATH_MAX];

	return stat(folder_of(path, folder), st) == 0;
}

/* One name in one directory, which may itself have several. */
static bool is_same_name(const char *a, const char *b)
{
	const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
	struct stat in_a, in_b;

	return strcmp(a, b) == 0 ||
	       (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) == 0 &&
		stat_folder(a, &in_a) && stat_folder(b, &in_b) && in_a.st_dev == in_b.st_dev &&
		in_a.st_ino == in_b.st_ino);
}

static struct watch_query *find(const struct watch *watch, const char *path)
{
	struct watch_query *w = watch->all.first;

	while (w && !is_same_name(w->path, path))
		w = w->next;
	return w;
}

/* The file's name without its end; where another query has that name, its path. */
static const char *name_of(const struct watch *watch, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".sql") == 0)
		n -= 4;
	for (const struct watch_query *w = watch->all.first; w; w = w->next)
		if (strlen(w->name) == n && strncmp(w->name, name, n) == 0)
			return strdup(path);
	return strndup(name, n);
}

static struct watch_query *add(struct watch *watch, const char *path)
{
	struct watch_query *w = calloc(1, sizeof(*w)), **at = &watch->all.first;

	if (!w)
		return NULL;
	w->all = &watch->all;
	w->path = strdup(path);
	w->name = name_of(watch, path);
	w->state = WATCH_FAILED;
	buf_init(&w->text);
	buf_init(&w->problem);
	buf_init(&w->waiting);
	buf_init(&w->shown);
	out_put_visible(&w->shown, path, strlen(path), 0);
	while (*at)
		at = &(*at)->next;
	*at = w;
	return w;
}

static void take_out(struct watch *watch, struct watch_query *w)
{
	struct watch_query **at = &watch->all.first;

	watch_query_end(w);
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	buf_free(&w->text);
	buf_free(&w->problem);
	buf_free(&w->waiting);
	buf_free(&w->shown);
	free(w->path);
	free((char *)w->name);
	free(w);
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return NULL;
	case S_IFIFO:
		return "is a FIFO: a query is read from a file";
	case S_IFSOCK:
		return "is a socket: a query is read from a file";
	}
	return "is a device or directory: a query is read from a file";
}

/*
 * One that was changed this very moment may be so again, and keep its time: it has none yet, and is
 * read again.
 */
static struct watch_stamp stamp_of(const struct stat *st)
{
	u64 changed_ns = (u64)st->st_ctim.tv_sec * 1000000000ull + (u64)st->st_ctim.tv_nsec;

	if (changed_ns + STAMP_NS > base_realtime_ns())
		return (struct watch_stamp){ 0 };
	return (struct watch_stamp){ st->st_dev, st->st_ino, (u64)st->st_size, changed_ns };
}

/* It is root's or ours, and no other's to write. */
static bool is_trusted(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == getuid()) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* As it stands in its directory, of which it is told who may put files there; -1. */
static int open_text(const char *path, bool *ret_is_place_trusted)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;
	int at = open(folder_of(path, folder), O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	*ret_is_place_trusted = at >= 0 && fstat(at, &st) == 0 && is_trusted(&st);
	fd = openat(at, slash ? slash + 1 : path, flags | O_NOFOLLOW);
	if (at >= 0)
		close(at);
	if (fd >= 0)
		return fd;
	*ret_is_place_trusted = false; /* a link leads to where others may be */
	return open(path, flags);
}

/* What stands at the path is read: 0; -EAGAIN: it is being written, or is not there; or -errno. */
static int read_text(struct watch *watch, const char *path, struct buf *text,
		     struct watch_stamp *ret_stamp, enum trust *ret_trust)
{
	bool is_place_trusted;
	int fd = open_text(path, &is_place_trusted), err;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	err = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EAGAIN;
	*ret_stamp = stamp_of(&st);
	*ret_trust = err || !is_trusted(&st) ? TRUST_NONE
		     : is_place_trusted	     ? TRUST_PLACE
					     : TRUST_FILE;
	if (!err && files_is_written(watch->files, st.st_dev, st.st_ino))
		err = -EAGAIN;
	if (!err)
		err = buf_read(text, fd, TEXT_BYTES_MAX);
	/* Who began to write meanwhile has told so; what else is told here must be looked at. */
	watch->all.is_due |= files_read(watch->files);
	if (!err && files_is_written(watch->files, st.st_dev, st.st_ino))
		err = -EAGAIN;
	close(fd);
	return err;
}

static void say(const struct watch *watch, const struct watch_query *w, const char *what)
{
	if (watch->has_begun)
		fprintf(stderr, "ebql: %s: %s\n", w->shown.at, what);
}

/* Is it what the query's text was read from? */
static bool is_as_read(const struct watch_query *w, const struct stat *st)
{
	struct watch_stamp stamp = stamp_of(st);

	return w->has_text && stamp.inode && memcmp(&stamp, &w->stamp, sizeof(stamp)) == 0;
}

static void read_query(struct watch *watch, struct watch_query *w)
{
	const struct form *before = w->form;
	struct watch_stamp stamp = { 0 };
	const char *why = NULL;
	enum trust trust = TRUST_NONE;
	struct stat st;
	struct buf text;
	int err;

	/* To open a FIFO would wake who writes there, to open a device may do anything. */
	if (stat(w->path, &st) == 0) {
		why = kind_of(st.st_mode);
		if (!why && !watch->is_again && is_as_read(w, &st))
			return;
	}
	buf_init(&text);
	err = why ? -EINVAL : read_text(watch, w->path, &text, &stamp, &trust);
	if (err) {
		buf_free(&text);
		if (err != -EAGAIN)
			watch_query_unread(w, why ? why : strerror(-err));
		return;
	}
	w->stamp = stamp;
	/* What was refused may not be so any more. */
	w->has_text &= trust == w->trust;
	w->trust = trust;
	watch_query_set(w, &text, watch->is_again);
	if (w->form && w->form != before)
		say(watch, w, before ? "its query runs in its new form" : "its query runs");
}

static void found(void *context, const char *path)
{
	struct watch *watch = context;
	struct watch_query *w = find(watch, path);

	/* A file that is named, and stands in a directory that is. */
	if (w && w->is_found)
		return;
	if (!w)
		w = add(watch, path);
	if (!w)
		return;
	w->is_found = true;
	w->gone_ns = 0;
	read_query(watch, w);
	/* It is yet to be written. */
	if (!w->has_text && !w->problem.n)
		take_out(watch, w);
}

/* Files that are gone for long enough. */
static void drop_gone(struct watch *watch)
{
	u64 now_ns = base_monotonic_ns();

	for (struct watch_query *w = watch->all.first, *next; w; w = next) {
		next = w->next;
		if (!w->gone_ns || now_ns - w->gone_ns < GONE_NS)
			continue;
		watch_query_end(w);
		say(watch, w, "is gone, and so is its query");
		take_out(watch, w);
	}
}

static void say_missing(const struct watch *watch, const char *path, u32 n_more)
{
	bool is_fixed = watch->all.options->is_fixed;
	struct buf shown;

	buf_init(&shown);
	out_put_visible(&shown, path, strlen(path), 0);
	fprintf(stderr, "ebql: watch: %s%s%s is not there", is_fixed ? "" : "waiting for ",
		shown.at, is_fixed ? "" : ", which");
	if (n_more)
		fprintf(stderr, ", and for %u more", n_more);
	fputc('\n', stderr);
	buf_free(&shown);
}

/* What is needed yet: all of it, since programs are loaded again; of those that stay little. */
static u64 kept_rights(const struct watch *watch)
{
	u64 kept = 0;

	if (!watch->all.options->is_fixed)
		return UINT64_MAX;
	for (const struct watch_query *w = watch->all.first; w; w = w->next)
		if (w->form && flow_names_processes(w->form->query.flow))
			kept |= SYS_CAP(CAP_SYS_PTRACE);
	return kept;
}

/* For the next of all that open or close, by the wall's clock, or when that is set. */
static void set_schedule(struct watch *watch)
{
	struct itimerspec at = { 0 };

	for (const struct watch_query *w = watch->all.first; w; w = w->next)
		if (watch_query_is_scheduled(w) && w->change &&
		    (!at.it_value.tv_sec || w->change < at.it_value.tv_sec))
			at.it_value.tv_sec = w->change;
	timerfd_settime(watch->schedule_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL);
}

static bool take_schedule(struct watch *watch)
{
	u64 n;

	return read(watch->schedule_fd, &n, sizeof(n)) == sizeof(n) || errno == ECANCELED;
}

/* With all rights of the user, as at the start: files are opened, programs are loaded. */
static void look(struct watch *watch)
{
	const char *missing;
	u32 n_missing;

	sys_rights_back();
	watch->all.is_due = false;
	if (watch->is_again) {
		audit_reopen();
		files_forget_written(watch->files);
		tzset();
	}
	for (struct watch_query *w = watch->all.first; w; w = w->next)
		w->is_found = false;
	n_missing = files_each(watch->files, found, watch, &missing);
	for (struct watch_query *w = watch->all.first; w; w = w->next) {
		if (!w->is_found && !w->gone_ns)
			w->gone_ns = base_monotonic_ns();
		if (watch->is_again && w->form)
			sink_reopen(w->form);
		watch_query_tick(w);
	}
	set_schedule(watch);
	sys_rights_rest(kept_rights(watch));
	if (!watch->has_begun && n_missing)
		say_missing(watch, missing, n_missing - 1);
	watch->is_again = false;
	watch->has_begun = true;
}

/* The queries stay those of the beginning: SIGHUP opens their outputs anew. */
static void look_at_outputs(struct watch *watch)
{
	if (watch->is_again)
		audit_reopen();
	for (struct watch_query *w = watch->all.first; w; w = w->next)
		if (watch->is_again && w->form)
			sink_reopen(w->form);
	watch->is_again = watch->all.is_due = false;
}

static void look_again(struct watch *watch)
{
	bool is_again = watch->is_again;

	if (is_again)
		service_tell_reload();
	if (!watch->all.options->is_fixed)
		look(watch);
	else
		look_at_outputs(watch);
	if (is_again)
		service_tell("READY=1");
}

/* So many queries run, if they are others than before. */
static void tell_status(struct watch *watch)
{
	u32 n = 0, n_running = 0;

	for (const struct watch_query *w = watch->all.first; w; w = w->next, n++)
		n_running += w->form != NULL;
	if (n != watch->n_told || n_running != watch->n_told_running)
		service_tell("STATUS=%u of %u queries run", n_running, n);
	watch->n_told = n;
	watch->n_told_running = n_running;
}

/* --- The loop --- */

/* So long (-1: for ever), but not over that time (0: none). */
static int sooner(int ms, u64 at_ns)
{
	u64 now_ns = base_monotonic_ns();
	int left_ms;

	if (!at_ns)
		return ms;
	left_ms = at_ns <= now_ns ? 0 : (int)MIN((at_ns - now_ns) / 1000000 + 1, (u64)INT32_MAX);
	return ms < 0 ? left_ms : MIN(ms, left_ms);
}

static int wait_ms(const struct watch *watch)
{
	int ms = watch->all.is_due ? 0 : messages_are_missing() ? MESSAGES_POLL_MS : -1;
	u64 first_ns = 0, end_ns;

	for (const struct watch_query *w = watch->all.first; w; w = w->next) {
		end_ns = watch_query_end_ns(w);
		if (end_ns && (!first_ns || end_ns < first_ns))
			first_ns = end_ns;
		if (w->gone_ns && ms)
			ms = GONE_POLL_MS;
		else if (ms && watch_query_is_peeked(w))
			ms = HOST_LOSS_POLL_MS;
	}
	return sooner(sooner(sooner(ms, first_ns), service_live_ns()), rows_due_ns());
}

/* -n was reached by all, or nobody reads standard output any more. */
static bool is_over(const struct watch *watch)
{
	bool is_asked = watch->all.is_standard_gone || watch->host.options.n_windows;

	for (const struct watch_query *w = watch->all.first; w && is_asked; w = w->next)
		is_asked = !w->form && !watch_query_is_scheduled(w);
	return is_asked && watch->all.first;
}

static void step_queries(struct watch *watch)
{
	u64 now_ns = base_monotonic_ns();
	bool is_peeked = now_ns - watch->peeked_ns >= HOST_LOSS_POLL_MS * 1000000ull;

	if (is_peeked)
		watch->peeked_ns = now_ns;
	for (struct watch_query *w = watch->all.first; w; w = w->next)
		watch_query_step(w, is_peeked);
	for (struct watch_query *w = watch->all.first; w; w = w->next)
		watch_query_snapshot(w);
	rows_step();
}

static int run(struct watch *watch)
{
	int ended = host_start(&watch->host);

	watch->n_told = UINT32_MAX;
	look(watch);
	tell_status(watch);
	fprintf(stderr, "ebql: watch: %u of %u queries run\n", watch->n_told_running,
		watch->n_told);
	service_tell("READY=1");
	while (!ended && !is_over(watch)) {
		ended = host_wait(&watch->host, watch->epoll_fd, wait_ms(watch));
		service_live();
		step_queries(watch);
		messages_step();
		status_step(watch->status, &watch->all);
		watch->all.is_due |= take_schedule(watch);
		watch->is_again = take_hangup();
		watch->all.is_due |= files_read(watch->files);
		if (!ended && (watch->all.is_due || watch->is_again))
			look_again(watch);
		drop_gone(watch);
		tell_status(watch);
	}
	service_tell("STOPPING=1");
	return MIN(ended, 0);
}

/* --- Begin and end --- */

/* Standard output stays a descriptor, of nothing. */
static bool open_standard(struct watch *watch)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	watch->all.is_terminal = isatty(STDOUT_FILENO);
	if (fd < 0 || nothing < 0)
		return false;
	dup2(nothing, STDOUT_FILENO);
	close(nothing);
	watch->all.standard = output_open(fd, TELL_STDOUT);
	return watch->all.standard != NULL;
}

static bool wake_by(struct watch *watch, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return fd < 0 || epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Once for what takes long, and not each second: it is a log. */
static void say_progress(const char *doing, const char *target, u32 n_done, u32 n_all)
{
	static char told[256];
	char now[sizeof(told)];

	snprintf(now, sizeof(now), "%s %s", doing, target);
	if (strcmp(now, told) != 0)
		fprintf(stderr, "ebql: watch: %s: %u of %u places\n", now, n_done, n_all);
	memcpy(told, now, sizeof(told));
}

/* To attach to many places takes long. */
static bool tell_progress(const char *doing, const char *target, u32 n_done, u32 n_all)
{
	service_live();
	return host_tell_progress(doing, target, n_done, n_all);
}

static int open_all(struct watch *watch, const struct watch_options *options)
{
	int err;

	hangup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	watch->schedule_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	host_say_progress = say_progress;
	load_on_progress = tell_progress;
	err = host_open(&watch->host, &options->host) ?: messages_open();
	signals_take(&watch->hangup, hangup_signal, 1, on_hangup, SA_RESTART, SIG_UNBLOCK);
	if (err)
		return err;
	watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	watch->files = files_open(options->words, !options->is_fixed);
	if (hangup_fd < 0 || watch->schedule_fd < 0 || watch->epoll_fd < 0 || !watch->files ||
	    !open_standard(watch))
		return errno ? -errno : -ENOMEM;
	if (!wake_by(watch, hangup_fd) || !wake_by(watch, watch->schedule_fd) ||
	    !wake_by(watch, rows_open()) || !wake_by(watch, files_fd(watch->files)) ||
	    !wake_by(watch, status_fd(watch->status)))
		return -errno;
	watch->all.options = options;
	watch->all.engine = watch->host.engine;
	watch->all.cancel = host_cancel();
	watch->all.start_ns = base_monotonic_ns();
	return 0;
}

/* Did none of those that are there fail? */
static bool end_queries(struct watch *watch)
{
	bool is_clean = true;

	/* A last row may want what another one keeps. */
	for (struct watch_query *w = watch->all.first; w; w = w->next)
		if (w->form && w->form->row_action)
			watch_query_end(w);
	for (struct watch_query *w = watch->all.first; w; w = w->next) {
		watch_query_end(w);
		is_clean &= w->state != WATCH_FAILED;
	}
	rows_close(host_cancel_output());
	output_leave(watch->all.standard, host_cancel_output());
	is_clean &= outputs_wait(messages_output(), host_cancel_output());
	while (watch->all.first)
		take_out(watch, watch->all.first);
	return is_clean;
}

/* Each query has some. */
static void raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

int watch_run(const struct watch_options *options)
{
	struct watch watch = { .epoll_fd = -1, .schedule_fd = -1 };
	int err, status;

	if (options->is_status)
		return status_show(options->socket, options->has_json);
	if (status_open(options->socket, &watch.status))
		return 1;
	service_open();
	load_raise_limits(NULL);
	raise_files();
	err = open_all(&watch, options);
	if (!err)
		err = run(&watch);
	status = end_queries(&watch) ? watch.all.has_loss ? 3 : 0 : 1;
	if (err)
		status = tell_failed("watch", -err);
	messages_close(host_cancel_output());
	signals_give_back(&watch.hangup);
	host_close(&watch.host);
	files_close(watch.files);
	status_close(watch.status);
	sys_close(&watch.epoll_fd);
	sys_close(&watch.schedule_fd);
	sys_close(&hangup_fd);
	return status;
}
