/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SHOW STREAMS: the canonical names of the streams and views that match, one a line;
 * SHOW VIEWS: the views with what the comments above them say.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/describe.h"

struct listing {
	struct buf out;
	bool is_json, is_csv;
	u32 n, n_tracepoints;
};

static void add_name(void *context, const char *name)
{
	struct listing *listing = context;

	listing->n++;
	if (!strncmp(name, "tracepoint:", 11))
		listing->n_tracepoints++;
	if (listing->is_json) {
		buf_puts(&listing->out, "{\"stream\": ");
		buf_put_json_string(&listing->out, name, strlen(name));
		buf_putc(&listing->out, '}');
	} else {
		buf_puts(&listing->out, name);
	}
	buf_putc(&listing->out, '\n');
}

/* Says why there are no tracepoints, unless it is that none has such a name. */
static bool complain_source(struct query *q)
{
	const char *const nothing[] = { "tracepoint", "* *" };
	struct stream_list *list;

	if (catalog_look_up(q->catalog, nothing, 2, (struct span){ 0, 0 }, &q->diags, &list) !=
	    FIND_FAILED)
		return false;
	q->diags.list.at[q->diags.list.n - 1].has_span = false;
	tell_diags(q);
	return true;
}

int list_streams(struct query *q, const char *pattern, bool is_json)
{
	struct listing listing = { .is_json = is_json };
	int rc;

	buf_init(&listing.out);
	if (!query_each_stream(q, pattern, add_name, &listing))
		return tell_diags(q);
	rc = tell_paged(&listing.out, 0);
	if (!listing.n_tracepoints && complain_source(q))
		return 1;
	if (!listing.n) {
		tell("no stream matches \"%s\"\n", pattern);
		tell("  hint: a pattern is a part of the name (pread) or has wildcards "
		     "('sys_enter_p*'); ebql list alone shows all\n");
		return 1;
	}
	return rc;
}

static void put_view(void *context, const char *name, const char *comment, size_t n)
{
	struct listing *listing = context;
	struct buf *out = &listing->out;

	if (listing->is_json) {
		buf_puts(out, "{\"view\": ");
		buf_put_json_string(out, name, strlen(name));
		buf_puts(out, ", \"comment\": ");
		buf_put_json_string(out, comment, n);
		buf_putc(out, '}');
	} else if (listing->is_csv) {
		buf_put_quoted(out, '\"', name, strlen(name));
		buf_putc(out, ',');
		buf_put_quoted(out, '\"', comment, n);
	} else if (n) {
		buf_printf(out, "%-20s  %.*s", name, (int)strcspn(comment, "\n"), comment);
	} else {
		buf_puts(out, name);
	}
	buf_putc(out, '\n');
}

int list_views(struct query *q, const char *like, const struct out_format *format)
{
	struct listing listing = { .is_json = format == out_format_find("json"),
				   .is_csv = format == out_format_find("csv") };

	buf_init(&listing.out);
	if (listing.is_csv)
		buf_puts(&listing.out, "view,comment\n");
	query_each_view(q, like, put_view, &listing);
	if (!listing.is_json && !listing.is_csv)
		tell_fold(&listing.out, STDOUT_FILENO);
	return tell_paged(&listing.out, tell_diags(q));
}
