/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The socket of ebql watch.  A client sends 't' (table) or 'j' (JSON) and gets a text; none is ever
 * waited for, and of more than a few the oldest goes.
 */
#include "watch/status.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/host.h"
#include "sys/sys.h"
#include "watch/report.h"

#define CLIENTS_MAX    8
#define LOCK_TRIES     100
#define LOCK_WAIT_US   20000
#define ANSWER_LIMIT_S 10

struct client {
	int fd; /* -1: none */
	u64 number;
	struct buf text;
	size_t n_sent;
};

struct status {
	struct sockaddr_un address;
	u64 device, inode; /* of the name */
	int fd, epoll_fd;
	struct client clients[CLIENTS_MAX];
	u64 n_clients; /* so far */
};

/* --- Its place --- */

/* false: there is none, or the path is too long. */
static bool find_address(const char *path, struct sockaddr_un *ret_address)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int n;

	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!path && !(runtime && *runtime == '/') && geteuid() != 0)
		return false;
	if (path)
		n = snprintf(ret_address->sun_path, sizeof(ret_address->sun_path), "%s", path);
	else
		n = snprintf(ret_address->sun_path, sizeof(ret_address->sun_path),
			     "%s/ebql-watch.sock", runtime && *runtime == '/' ? runtime : "/run");
	return n > 0 && n < (int)sizeof(ret_address->sun_path);
}

static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

/* 0, or -errno: -ECONNREFUSED where nobody listens any more, -EAGAIN where nobody answers. */
static int connect_to(const struct sockaddr_un *address, int flags, int *ret_fd)
{
	const struct timeval limit = { .tv_sec = ANSWER_LIMIT_S };
	int err = 0;

	*ret_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (*ret_fd < 0)
		return -errno;
	/* The former also limits connect(). */
	if (setsockopt(*ret_fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
	    setsockopt(*ret_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    connect(*ret_fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		err = -errno;
	if (err)
		sys_close(ret_fd);
	return err;
}

/*
 * Under a lock of the directory, so that of several that start at once one gets it: what nobody
 * listens at is taken over.
 */
static int bind_locked(struct status *s)
{
	const struct sockaddr *address = (const struct sockaddr *)&s->address;
	mode_t mask = umask(0177);
	struct stat st;
	int err, fd;

	err = bind(s->fd, address, sizeof(s->address)) < 0 ? -errno : 0;
	if (err == -EADDRINUSE && lstat(s->address.sun_path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
		err = -EEXIST;
	} else if (err == -EADDRINUSE) {
		err = connect_to(&s->address, SOCK_NONBLOCK, &fd);
		if (fd >= 0)
			close(fd);
		if (err == -ECONNREFUSED && unlink(s->address.sun_path) == 0)
			err = bind(s->fd, address, sizeof(s->address)) < 0 ? -errno : 0;
		else
			err = -EADDRINUSE;
	}
	umask(mask);
	if (!err && (listen(s->fd, CLIENTS_MAX) < 0 || lstat(s->address.sun_path, &st) < 0))
		err = -errno;
	if (!err) {
		s->device = st.st_dev;
		s->inode = st.st_ino;
	}
	return err;
}

/* Another one may have taken the place over, if somebody took the name away. */
static int unlink_locked(struct status *s)
{
	struct stat st;

	if (lstat(s->address.sun_path, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode)
		unlink(s->address.sun_path);
	return 0;
}

static int with_lock(struct status *s, int (*what)(struct status *))
{
	char path[sizeof(s->address.sun_path) + 1];
	int folder, err = -EAGAIN;

	snprintf(path, sizeof(path), "%s", s->address.sun_path);
	folder = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	for (u32 i = 0; i < LOCK_TRIES && err == -EAGAIN; i++) {
		err = flock(folder, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
		if (err == -EAGAIN)
			usleep(LOCK_WAIT_US);
	}
	if (!err)
		err = what(s);
	close(folder);
	return err;
}

static void watch_fd(struct status *s, int op, int fd, u32 events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	epoll_ctl(s->epoll_fd, op, fd, &event);
}

int status_open(const char *path, struct status **ret_status)
{
	struct status *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;
	bool is_refused;

	*ret_status = NULL;
	if (s && !find_address(path, &s->address)) {
		if (path)
			fprintf(stderr, "ebql: --socket: %s: is too long\n", path);
		else
			fprintf(stderr,
				"ebql: watch: nothing listens for --status: XDG_RUNTIME_DIR is %s"
				"\n  hint: --socket PATH gives it a place\n",
				getenv("XDG_RUNTIME_DIR") ? "no absolute path, or too long"
							  : "not set");
		free(s);
		return path ? 1 : 0;
	}
	if (!err) {
		s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
		s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		for (u32 i = 0; i < CLIENTS_MAX; i++)
			s->clients[i].fd = -1;
		err = s->fd < 0 || s->epoll_fd < 0 ? -errno : with_lock(s, bind_locked);
	}
	if (!err) {
		watch_fd(s, EPOLL_CTL_ADD, s->fd, EPOLLIN);
		*ret_status = s;
		return 0;
	}
	is_refused = path || err == -EADDRINUSE;
	if (err == -EADDRINUSE)
		fprintf(stderr,
			"ebql: watch: another one runs at %s\n"
			"  hint: --socket PATH gives this one another place\n",
			s->address.sun_path);
	else
		fprintf(stderr, "ebql: %s: %s%s\n", s ? s->address.sun_path : "watch",
			err == -EEXIST ? "is there, and is no socket" : strerror(-err),
			is_refused ? "" : ": no status");
	if (s) {
		sys_close(&s->fd);
		sys_close(&s->epoll_fd);
	}
	free(s);
	return is_refused;
}

static void drop(struct client *c)
{
	sys_close(&c->fd);
	buf_free(&c->text);
}

void status_close(struct status *s)
{
	if (!s)
		return;
	for (u32 i = 0; i < CLIENTS_MAX; i++)
		drop(&s->clients[i]);
	with_lock(s, unlink_locked);
	close(s->fd);
	close(s->epoll_fd);
	free(s);
}

int status_fd(const struct status *s)
{
	return s ? s->epoll_fd : -1;
}

/* --- Its clients --- */

static void take_client(struct status *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c = &s->clients[0];

	if (fd < 0)
		return;
	if (!is_ours(fd)) {
		close(fd);
		return;
	}
	for (u32 i = 1; i < CLIENTS_MAX && c->fd >= 0; i++)
		if (s->clients[i].fd < 0 || s->clients[i].number < c->number)
			c = &s->clients[i];
	drop(c);
	*c = (struct client){ .fd = fd, .number = ++s->n_clients };
	buf_init(&c->text);
	watch_fd(s, EPOLL_CTL_ADD, fd, EPOLLIN);
}

static void send_some(struct status *s, struct client *c)
{
	ssize_t n = send(c->fd, c->text.at + c->n_sent, c->text.n - c->n_sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0)
		c->n_sent += (size_t)n;
	if (c->n_sent == c->text.n || (n < 0 && errno != EAGAIN && errno != EINTR))
		drop(c);
	else
		watch_fd(s, EPOLL_CTL_MOD, c->fd, EPOLLOUT);
}

static void serve(struct status *s, struct client *c, struct watch_all *all)
{
	char wanted;
	ssize_t n;

	if (!c->text.n) {
		n = recv(c->fd, &wanted, 1, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n != 1 || (wanted != 't' && wanted != 'j')) {
			drop(c);
			return;
		}
		report_put(all, wanted == 'j', &c->text);
	}
	send_some(s, c);
}

void status_step(struct status *s, struct watch_all *all)
{
	struct epoll_event events[CLIENTS_MAX + 1];
	int n = s ? epoll_wait(s->epoll_fd, events, ARRAY_SIZE(events), 0) : 0;

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == s->fd)
			take_client(s);
		for (u32 k = 0; k < CLIENTS_MAX; k++)
			if (s->clients[k].fd == events[i].data.fd && s->clients[k].fd >= 0)
				serve(s, &s->clients[k], all);
	}
}

/* --- The client's side --- */

int status_show(const char *path, bool is_json)
{
	struct sockaddr_un address;
	struct buf text;
	int fd = -1, err;

	if (!find_address(path, &address)) {
		fputs("ebql: watch: --socket PATH says where it listens\n", stderr);
		return 1;
	}
	err = connect_to(&address, 0, &fd);
	if (err == -ENOENT || err == -ECONNREFUSED) {
		fprintf(stderr, "ebql: watch: none runs at %s\n", address.sun_path);
		return 1;
	}
	buf_init(&text);
	/* Who names a place knows whose it is: a service may run as a user of its own. */
	if (!err && !path && !is_ours(fd))
		err = -EACCES;
	if (!err && send(fd, is_json ? "j" : "t", 1, MSG_NOSIGNAL) != 1)
		err = -errno;
	if (!err)
		err = buf_read(&text, fd, INT_MAX);
	sys_close(&fd);
	if (!err && text.n && !is_json)
		tell_fold(&text, STDOUT_FILENO);
	if (!err && text.n)
		return tell_answer(&text, 0);
	buf_free(&text);
	fprintf(stderr, "ebql: %s: %s\n", address.sun_path,
		err == -EAGAIN || !err ? "does not answer" : strerror(-err));
	return 1;
}
