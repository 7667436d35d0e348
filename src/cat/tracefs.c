/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * tracefs: where it is, the text of its files, and the list of its events.
 * Finding one tracepoint opens one file; nothing is listed that was not asked for.
 */
#include "cat/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"

static const char *const roots[] = { TRACEFS, "/sys/kernel/debug/tracing" };

/* 0 when root/events is there, -ENOENT, or -EACCES when a directory on the way is closed. */
static int look(const char *root)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/events", root);
	return access(path, F_OK) ? -errno : 0;
}

/* Its root, or NULL and why in catalog->tracefs_error. */
static const char *find_root(struct catalog *catalog)
{
	catalog->tracefs_error = -ENODEV;
	for (u32 i = 0; i < ARRAY_SIZE(roots); i++) {
		int error = look(roots[i]);

		if (!error)
			return roots[i];
		if (error == -EACCES)
			catalog->tracefs_error = error;
	}
	/* Mounting adds a view, it changes nothing that is traced. */
	return catalog->tracefs_error == -ENODEV &&
			       !mount("tracefs", TRACEFS, "tracefs",
				      MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) &&
			       !look(TRACEFS)
		       ? TRACEFS
		       : NULL;
}

int tracefs_read(struct catalog *catalog, const char *path)
{
	char full[512];

	if (!catalog->tracefs_looked)
		catalog->tracefs = find_root(catalog);
	catalog->tracefs_looked = true;
	if (!catalog->tracefs)
		return catalog->tracefs_error;
	if (snprintf(full, sizeof(full), "%s/%s", catalog->tracefs, path) >= (int)sizeof(full))
		return -ENOENT;
	buf_reset(&catalog->scratch);
	return buf_read_file(&catalog->scratch, full, SIZE_MAX);
}

static int list(struct catalog *catalog, struct stream_names *names)
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

static int load(struct catalog *catalog, const char *category, const char *event,
		struct stream **ret_stream)
{
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
	*ret_stream = stream_new(catalog->arena, &tracefs_kind, category, event);
	return format_parse(catalog->arena, catalog->scratch.at, catalog->scratch.n, *ret_stream);
}

static void complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	if (error == -ENODEV)
		diag_failure_at(diags, "no-tracefs", span,
				"tracefs is not mounted, so there is no list of tracepoints" HINT
				"as root: mount -t tracefs tracefs " TRACEFS);
	else if (error == -EACCES || error == -EPERM)
		diag_failure_at(diags, "no-privilege", span,
				"no permission to read %s (missing: root's file permission, or "
				"the capability CAP_DAC_READ_SEARCH)" HINT
				"run as root, or let your group read it: "
				"mount -o remount,mode=750,gid=GROUP " TRACEFS,
				catalog->tracefs ? catalog->tracefs : TRACEFS);
	else
		diag_failure_at(diags, "no-tracefs", span, "cannot read tracefs: %s",
				strerror(-error));
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
