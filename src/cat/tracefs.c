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

const char *tracefs_root(struct catalog *catalog)
{
	int rc;

	if (catalog->tracefs_looked)
		return catalog->tracefs;
	catalog->tracefs_looked = true;
	catalog->tracefs_error = -ENODEV;
	for (u32 i = 0; i < ARRAY_SIZE(roots); i++) {
		rc = look(roots[i]);
		if (!rc) {
			catalog->tracefs = roots[i];
			return catalog->tracefs;
		}
		if (rc == -EACCES)
			catalog->tracefs_error = rc;
	}
	if (catalog->tracefs_error == -EACCES)
		return NULL;
	/* Mounting adds a view, it changes nothing that is traced. */
	if (!mount("tracefs", TRACEFS, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) &&
	    !look(TRACEFS))
		catalog->tracefs = TRACEFS;
	return catalog->tracefs;
}

int tracefs_read(struct catalog *catalog, const char *path)
{
	const char *root = tracefs_root(catalog);
	char full[512];

	if (!root)
		return catalog->tracefs_error;
	if (snprintf(full, sizeof(full), "%s/%s", root, path) >= (int)sizeof(full))
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

static struct stream *load(struct catalog *catalog, const char *category, const char *event,
			   int *ret_error)
{
	struct stream *stream;
	char path[256];
	int n;

	/* Names come from the user: they stay below events/. */
	if (strchr(category, '/') || strchr(event, '/') || category[0] == '.' || event[0] == '.' ||
	    !category[0] || !event[0] || !strcmp(category, "ftrace"))
		return NULL;
	n = snprintf(path, sizeof(path), "events/%s/%s/format", category, event);
	if (n >= (int)sizeof(path))
		return NULL;
	*ret_error = tracefs_read(catalog, path);
	if (*ret_error == -ENOTDIR)
		*ret_error = -ENOENT;
	if (*ret_error)
		return NULL;
	stream = stream_new(catalog->arena, &tracefs_kind, category, event);
	*ret_error = format_parse(catalog->arena, catalog->scratch.at, catalog->scratch.n, stream);
	return *ret_error ? NULL : stream;
}

static void complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	struct diag *diag;

	switch (error) {
	case -ENODEV:
		diag = diag_failure_at(
			diags, "no-tracefs", span,
			"tracefs is not mounted, so there is no list of tracepoints");
		diag_hint(diags, diag, "as root: mount -t tracefs tracefs %s", TRACEFS);
		break;
	case -EACCES:
	case -EPERM:
		diag = diag_failure_at(
			diags, "no-privilege", span,
			"no permission to read %s (missing: root's file permission, or "
			"the capability CAP_DAC_READ_SEARCH)",
			catalog->tracefs ? catalog->tracefs : TRACEFS);
		diag_hint(diags, diag,
			  "run as root, or let your group read it: "
			  "mount -o remount,mode=750,gid=GROUP %s",
			  TRACEFS);
		break;
	default:
		diag_failure_at(diags, "no-tracefs", span, "cannot read tracefs: %s",
				strerror(-error));
	}
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
