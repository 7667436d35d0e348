/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The list of views: those that ship with ebql (views.sql, in the binary), parsed
 * when a query first names something of one word, and those of the query's text.
 * Newer entries stand behind older ones and hide them, so a view that replaces
 * another may still be made of it.
 */
#include <string.h>
#include <strings.h>

#include "plan/plan.h"
#include "plan/views.h"

void views_init(struct view_list *list, struct arena *arena)
{
	*list = (struct view_list){ .arena = arena };
}

/* The start of the line before the one that starts at `line`. */
static u32 line_before(const char *text, u32 line)
{
	u32 at = line ? line - 1 : 0;

	while (at && text[at - 1] != '\n')
		at--;
	return at;
}

/* The lines "-- ..." that stand right above the statement, without their dashes. */
static const char *comment_of(struct arena *arena, const char *text, u32 start)
{
	u32 line = start, first;
	struct buf out;

	while (line && text[line - 1] != '\n')
		line--;
	first = line;
	while (first) {
		u32 before = line_before(text, first);

		if (strncmp(text + before, "--", 2) != 0)
			break;
		first = before;
	}
	buf_init_in(&out, arena);
	for (u32 at = first; at < line;) {
		u32 length = (u32)strcspn(text + at, "\n"), skip = 2 + (text[at + 2] == ' ');

		if (length > skip)
			buf_put(&out, text + at + skip, length - skip);
		buf_putc(&out, '\n');
		at += length + 1;
	}
	return out.at;
}

static void load_shipped(struct view_list *list)
{
	struct ast_script *script;
	struct diags diags;

	if (list->is_loaded)
		return;
	list->is_loaded = true;
	diags_init(&diags, list->arena, "views.sql", views_sql, strlen(views_sql));
	script = sql_parse(list->arena, &diags);
	if (diags_failed(&diags))
		BUG("views.sql: %s at byte %u", diags.list.at[0].message,
		    diags.list.at[0].span.start);
	for (u32 i = 0; i < script->statements.n; i++) {
		const struct ast_statement *s = &script->statements.at[i];

		BUG_ON(s->kind != AST_STATEMENT_CREATE_VIEW);
		vec_push(
			list->arena, &list->views,
			(struct view){ .name = s->text,
				       .select = s->select,
				       .comment = comment_of(list->arena, views_sql, s->span.start),
				       .is_shipped = true });
	}
}

const struct view *views_find(struct view_list *list, const char *name, u32 n)
{
	load_shipped(list);
	for (u32 i = MIN(n, list->views.n); i-- > 0;)
		if (strcasecmp(list->views.at[i].name, name) == 0)
			return list->views.at[i].select ? &list->views.at[i] : NULL;
	return NULL;
}

void views_each(struct view_list *list, void (*visit)(void *context, const struct view *view),
		void *context)
{
	load_shipped(list);
	for (u32 i = 0; i < list->views.n; i++)
		if (views_find(list, list->views.at[i].name, UINT32_MAX) == &list->views.at[i])
			visit(context, &list->views.at[i]);
}

void views_add(struct view_list *list, const struct ast_statement *statement, struct diags *diags)
{
	const char *name = statement->text;

	if (statement->if_exists && views_find(list, name, UINT32_MAX))
		return;
	if (!statement->replace && views_find(list, name, UINT32_MAX)) {
		diag_refuse(diags, "view-exists", statement->span,
			    "there is a view \"%s\" already" HINT
			    "CREATE OR REPLACE VIEW takes its place",
			    name);
		return;
	}
	load_shipped(list);
	vec_push(list->arena, &list->views,
		 (struct view){
			 .name = name,
			 .select = statement->select,
			 .comment = comment_of(list->arena, diags->text, statement->span.start) });
}

static void offer(void *context, const struct view *view)
{
	suggest_offer(context, view->name);
}

void views_drop(struct view_list *list, const struct ast_statement *statement, struct diags *diags)
{
	struct suggest suggest;
	struct diag *d;

	if (views_find(list, statement->text, UINT32_MAX)) {
		vec_push(list->arena, &list->views, (struct view){ .name = statement->text });
		return;
	}
	if (statement->if_exists)
		return;
	suggest_init(&suggest, statement->text);
	views_each(list, offer, &suggest);
	d = diag_error(diags, "unknown-view", statement->span, "there is no view \"%s\"",
		       statement->text);
	if (suggest_best(&suggest))
		diag_hint(diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	else
		diag_hint(diags, d, "SHOW VIEWS lists them");
}
