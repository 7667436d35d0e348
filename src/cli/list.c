/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql list [PATTERN]: the canonical names of the streams that match, one a line.
 */
#include "cli/cli.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/catalog_options.h"
#include "plan/plan.h"

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
static bool complain_source(struct catalog *catalog, struct diags *diags)
{
	const char *const nothing[] = { "tracepoint", "* *" };
	struct stream_list *list;

	if (catalog_look_up(catalog, nothing, 2, (struct span){ 0, 0 }, diags, &list) !=
	    FIND_FAILED)
		return false;
	diags->list.at[0].has_span = false;
	catalog_complain(diags);
	return true;
}

int list_streams(struct catalog *catalog, const char *pattern, bool is_json,
		 struct view_list *views, struct diags *diags)
{
	struct listing listing = { .is_json = is_json, .pattern = pattern };
	int rc;

	buf_init(&listing.out);
	catalog_each(catalog, pattern, add_name, &listing);
	views_each(views, add_view, &listing);
	rc = buf_flush(&listing.out, STDOUT_FILENO);
	buf_free(&listing.out);
	if (!listing.n_tracepoints && complain_source(catalog, diags))
		return 1;
	if (!listing.n) {
		fprintf(stderr, "no stream matches \"%s\"\n", pattern);
		fprintf(stderr, "  hint: a pattern is a part of the name (pread) or has wildcards "
				"('sys_enter_p*'); ebql list alone shows all\n");
		return 1;
	}
	return rc ? 1 : 0;
}

int cmd_list(int argc, char **argv)
{
	struct catalog_options options;
	struct catalog *catalog;
	struct arena arena;
	struct diags diags;
	struct view_list views;
	int status = 1;

	if (!catalog_options_parse(argc, argv, "list [-o table|json] [--catalog FILE] [PATTERN]",
				   &options))
		return 2;
	arena_init(&arena);
	diags_init(&diags, &arena, "list", "", 0);
	catalog = catalog_options_open(&options, &arena, &diags);
	views_init(&views, &arena);
	if (catalog)
		status = list_streams(catalog, options.argument ? options.argument : "",
				      options.is_json, &views, &diags);
	else
		catalog_complain(&diags);
	catalog_close(catalog);
	arena_free(&arena);
	return status;
}
