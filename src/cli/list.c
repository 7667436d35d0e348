/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql list [PATTERN]: the canonical names of the streams that match, one a line.
 */
#include "cli/cli.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/describe.h"

struct listing {
	struct buf out;
	const char *pattern;
	bool is_json;
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

/* A view by its name: matched as streams are, by a pattern or a part. */
static void add_view(void *context, const struct view *view)
{
	struct listing *listing = context;
	const char *pattern = listing->pattern;

	if (strpbrk(pattern, "*?") ? !fnmatch(pattern, view->name, 0)
				   : strstr(view->name, pattern) != NULL)
		add_name(listing, view->name);
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
	query_report(q);
	return true;
}

int list_streams(struct query *q, const char *pattern, bool is_json)
{
	struct listing listing = { .is_json = is_json, .pattern = pattern };
	int rc;

	buf_init(&listing.out);
	catalog_each(q->catalog, pattern, add_name, &listing);
	views_each(&q->views, add_view, &listing);
	rc = buf_flush(&listing.out, STDOUT_FILENO);
	buf_free(&listing.out);
	if (!listing.n_tracepoints && complain_source(q))
		return 1;
	if (!listing.n) {
		fprintf(stderr, "no stream matches \"%s\"\n", pattern);
		fprintf(stderr, "  hint: a pattern is a part of the name (pread) or has wildcards "
				"('sys_enter_p*'); ebql list alone shows all\n");
		return 1;
	}
	return rc ? 1 : 0;
}

int cmd_list(struct options *options)
{
	struct query q;
	int status;

	query_init(&q, "list", "", 0);
	q.catalog_path = options->catalog_path;
	status = query_open_catalog(&q) ? list_streams(&q, options->word ? options->word : "",
						       options_want_json(options))
					: query_report(&q);
	query_free(&q);
	return status;
}
