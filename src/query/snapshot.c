/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query -> its part of a snapshot: its text, and what it relies on in this kernel, or why it
 * cannot be had there.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "query/internal.h"

/* Fields of one stream, as expressions of one source name them. */
struct reads {
	struct catalog *catalog;
	const struct stream *stream;
	u32 source;
};

static void add_read(void *context, struct expr *e)
{
	struct reads *r = context;

	for (u32 i = 0; e->kind == EXPR_FIELD && e->source == r->source && i < r->stream->n_fields;
	     i++)
		if (strcasecmp(r->stream->fields[i].name, e->name) == 0)
			catalog_add_field(r->catalog, r->stream, &r->stream->fields[i]);
}

static void add_use(struct query *q, const struct hook *hook, const struct hook_use *use,
		    struct buf *facts)
{
	const struct access_kind *kind = &access_kinds[hook->path];
	const char *path = hook->is_exit && kind->return_name ? kind->return_name : kind->name;

	for (u32 i = 0; i < use->n_streams; i++) {
		struct reads reads = { q->catalog, use->streams[i], use->source->number };

		buf_printf(facts, "stream %s: there, by %s %s\n", use->streams[i]->name, path,
			   hook->target);
		for (u32 k = 0; k < q->cut->n_parts; k++)
			if (q->parts[k].phys == use->phys)
				plan_each_node(q->parts[k].optimized, add_read, &reads);
	}
}

static void add_hook(struct query *q, const struct hook *hook, struct buf *facts)
{
	struct reads reads = { q->catalog, hook->raw, RAW_SOURCE };

	for (u32 i = 0; i < hook->n_uses; i++)
		add_use(q, hook, &hook->uses[i], facts);
	for (u32 i = 0; i < hook->n_fields; i++)
		expr_each(hook->fields[i].expr, add_read, &reads);
}

static void add_errors(const struct diags *diags, struct buf *facts)
{
	for (u32 i = 0; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.at[i];

		if (!d->is_warning)
			buf_printf(facts, "error %s: %s%s%s\n", d->tag, d->message,
				   d->hint ? "; " : "", d->hint ?: "");
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each once, in their order. */
static void put_lines(struct query *q, char *text, struct buf *out)
{
	VEC(const char *) lines = { 0 };

	for (char *line; (line = strsep(&text, "\n"));)
		if (*line)
			vec_push(&q->arena, &lines, line);
	if (lines.n)
		qsort(lines.at, lines.n, sizeof(*lines.at), compare_lines);
	for (u32 i = 0; i < lines.n; i++)
		if (!i || strcmp(lines.at[i], lines.at[i - 1]) != 0)
			buf_printf(out, "%s\n", lines.at[i]);
}

void query_snapshot(struct query *q, struct buf *out)
{
	bool is_select =
		query_parse(q) && q->statement && q->statement->kind == AST_STATEMENT_SELECT;
	const char *text = q->diags.text, *end;
	struct buf facts;

	buf_init_in(&facts, &q->arena);
	buf_puts(&facts, "");
	if (!is_select && !diags_failed(&q->diags))
		diag_plain(&q->diags, "missing-from", "there is no SELECT");
	if (is_select && query_open_catalog(q)) {
		catalog_tell_facts(q->catalog, &facts);
		if (query_compile(q))
			query_check_functions(q, &facts);
	}
	if (diags_failed(&q->diags)) {
		buf_reset(&facts);
		add_errors(&q->diags, &facts);
	}
	for (u32 i = 0; !diags_failed(&q->diags) && q->programs && i < q->programs->set->n_hooks;
	     i++)
		add_hook(q, &q->programs->set->hooks[i], &facts);
	buf_printf(out, "\nquery %s\n", q->diags.file);
	for (; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		buf_printf(out, "| %.*s\n", (int)(end - text), text);
	}
	put_lines(q, facts.at, out);
	if (q->catalog)
		catalog_tell_facts(q->catalog, NULL);
}
