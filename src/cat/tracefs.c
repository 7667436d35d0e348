/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * tracefs: where it is, the text of its files, and the list of its events.
 * Finding one tracepoint opens one file; nothing is listed that was not asked for.
 */
#include "cat/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sys/sys.h"

/* A snapshot is the user's to read, tracefs may be more than that. */
static int open_file(struct catalog *catalog, const char *path)
{
	int fd;

	if (catalog->is_live)
		return sys_tracefs_file(catalog->tracefs_fd, path);
	fd = openat(catalog->tracefs_fd, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int tracefs_read(struct catalog *catalog, const char *path)
{
	int fd, error;

	if (!catalog->tracefs_looked)
		catalog->tracefs_fd = sys_tracefs_open();
	catalog->tracefs_looked = true;
	if (catalog->tracefs_fd < 0)
		return catalog->tracefs_fd;
	fd = open_file(catalog, path);
	if (fd < 0)
		return fd;
	buf_reset(&catalog->scratch);
	error = buf_read(&catalog->scratch, fd, SIZE_MAX);
	close(fd);
	return error;
}

static int list(struct catalog *catalog, const struct stream_kind_info *kind,
		struct stream_names *names)
{
	int rc = tracefs_read(catalog, "available_events");
	char *line, *next, *colon;

	if (rc)
		return rc;
	/* One "CATEGORY:EVENT" a line; the ftrace ones, which no program can have, are not there.
	 */
	for (line = catalog->scratch.at; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		stream_names_add(catalog->arena, names, &tracefs_kind, line, colon + 1);
	}
	return 0;
}

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	struct stream *stream;
	char path[256];
	int error;

	/* Names come from the user: they stay below events/. */
	if (strchr(category, '/') || strchr(event, '/') || category[0] == '.' || event[0] == '.' ||
	    !category[0] || !event[0] || !strcmp(category, "ftrace") ||
	    snprintf(path, sizeof(path), "events/%s/%s/format", category, event) >=
		    (int)sizeof(path))
		return -ENOENT;
	error = tracefs_read(catalog, path);
	if (error)
		return error == -ENOTDIR ? -ENOENT : error;
	stream = stream_new(catalog->arena, &tracefs_kind, category, event);
	if (stream->is_syscall_enter || stream->is_syscall_exit) {
		stream->syscall_nr = event_syscall(catalog, event);
		stream->syscall = syscall_name(catalog->arch, stream->syscall_nr);
	}
	*ret_stream = stream;
	return format_parse(catalog->arena, catalog->scratch.at, catalog->scratch.n, stream);
}

static void complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	if (error == -ENODEV)
		diag_failure_at(diags, "no-tracefs", span,
				"tracefs is not mounted, so there is no list of tracepoints" HINT
				"as root: mount -t tracefs tracefs /sys/kernel/tracing; for a "
				"container: docker run "
				"-v /sys/kernel/tracing:/sys/kernel/tracing:ro");
	else if (error == -EACCES || error == -EPERM)
		diag_failure_at(diags, "no-privilege", span,
				"no permission to read tracefs (missing: root's file permission, "
				"or the capability CAP_DAC_READ_SEARCH)" HINT
				"run as root, or: " SYS_SETCAP "$(command -v ebql)");
	else
		diag_failure_at(diags, "no-tracefs", span, "cannot read tracefs: %s" HINT "%s",
				strerror(-error), diag_machine_hint(-error) ?: "");
}

const struct stream_kind_info tracefs_kind = {
	.kind = STREAM_TRACEPOINT,
	.name = "tracepoint",
	.shorthand = "t",
	.form = "tracepoint:CATEGORY:NAME",
	.has_category = true,
	.list = list,
	.load = load,
	.complain = complain,
};
