/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql tools: which queries ship with ebql, a line each; of one how it is called, its parameters
 * and its text.  The first lines of a text say what it is.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "cli/cli.h"
#include "cli/library.h"
#include "host/host.h"
#include "sql/sql.h"

const char *library_find(const char *name)
{
	for (const struct library_entry *e = library_entries; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return e->text;
	return NULL;
}

void library_hint_name(char **words, const char *value)
{
	const char *text = NULL;

	for (; *words && !text; words++)
		text = *words != value ? library_find(*words) : NULL;
	if (text && strstr(text, "\n-- :who "))
		tell("  hint: only programs of that name: ebql %s --set 'who=%s'\n", words[-1],
		     value);
}

void library_offer(struct suggest *suggest)
{
	for (const struct library_entry *e = library_entries; e->name; e++)
		suggest_offer(suggest, e->name);
}

/* The question that a text answers: the first line of its head. */
static const char *question(const struct sql_head *head)
{
	return head->lines.n ? head->lines.at[0] : "";
}

static void put_list(struct arena *arena, struct diags *diags, struct buf *out)
{
	for (const struct library_entry *e = library_entries; e->name; e++) {
		struct sql_head head;

		diags_init(diags, arena, e->name, e->text, strlen(e->text));
		sql_declared(arena, diags, &head);
		buf_printf(out, "%-16s  %s\n", e->name, question(&head));
	}
}

static void put_entry(const char *name, const struct sql_head *head, struct buf *out)
{
	buf_printf(out, "usage: ebql %s", name);
	for (u32 i = 0; i < head->list.n; i++)
		buf_printf(out, " [%s", head->list.at[i].value.name);
	for (u32 i = 0; i < head->list.n; i++)
		buf_putc(out, ']');
	buf_puts(out, head->list.n ? " [--set NAME=VALUE] [options]\n\n" : " [options]\n\n");
	for (u32 i = 0; i < head->list.n; i++) {
		const struct sql_declared *d = &head->list.at[i];

		buf_printf(out, "  %-12s  %-8s  %-10s  %s\n", d->value.name, d->type,
			   d->written ? d->written : "", d->meaning ? d->meaning : "");
	}
	if (head->list.n)
		buf_putc(out, '\n');
}

int library_help(const char *name, const char *text)
{
	struct sql_head head;
	struct arena arena;
	struct diags diags;
	struct buf out;

	arena_init(&arena);
	buf_init(&out);
	diags_init(&diags, &arena, name, text, strlen(text));
	sql_declared(&arena, &diags, &head);
	for (u32 i = 0; i < head.lines.n; i++)
		buf_printf(&out, "%s\n", head.lines.at[i]);
	if (head.lines.n && *head.lines.at[head.lines.n - 1])
		buf_putc(&out, '\n');
	put_entry(name, &head, &out);
	arena_free(&arena);
	tell_fold(&out, STDOUT_FILENO);
	return tell_answer(&out, 0);
}

int cmd_tools(struct options *options)
{
	const char *text = options->word ? library_find(options->word) : NULL, *nearest;
	struct suggest suggest;
	struct sql_head head;
	struct arena arena;
	struct diags diags;
	struct buf out;

	if (options->word && !text) {
		suggest_init(&suggest, options->word);
		library_offer(&suggest);
		nearest = suggest_best(&suggest);
		tell("ebql: there is no tool \"%s\"\n  hint: %s%s\n", options->word,
		     nearest ? "did you mean " : "\"ebql tools\" lists them", nearest ?: "");
		return 2;
	}
	arena_init(&arena);
	buf_init(&out);
	if (text) {
		diags_init(&diags, &arena, options->word, text, strlen(text));
		sql_declared(&arena, &diags, &head);
		put_entry(options->word, &head, &out);
		buf_puts(&out, text);
	} else {
		put_list(&arena, &diags, &out);
	}
	arena_free(&arena);
	tell_fold(&out, STDOUT_FILENO);
	return tell_paged(&out, 0);
}
