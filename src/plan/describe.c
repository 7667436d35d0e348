/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A view or a span -> the names, types and meanings of its columns, for DESCRIBE.
 */

#include "plan/bind.h"

bool plan_is_derived(const struct ast_source *source)
{
	/* A word alone is a view or nothing: binding finds out, and says what was meant. */
	return source->kind == AST_SOURCE_FILE ||
	       (source->kind == AST_SOURCE_STREAM &&
		(bind_is_span(source) || bind_is_function(source) || source->n_path == 1));
}

/* What a column is: for a field of an event how the kernel declares it, else what the select says.
 */
static const char *meaning(struct scope *scope, const struct expr *e, const struct ast *item)
{
	struct buf out;

	if (e->kind == EXPR_FIELD) {
		const struct plan *scan = scope->shared->scans.at[e->source];

		return scan->scan.streams->streams.at[0]->fields[e->index].declaration;
	}
	if (e->kind == EXPR_SYSTEM)
		return system_columns[e->index].meaning;
	if (e->kind == EXPR_UNION)
		return meaning(scope, e->args[0], item);
	buf_init_in(&out, scope->arena);
	if (item)
		sql_print_expr(item, &out);
	else
		expr_print(e, &out);
	return out.at;
}

/* What the view's select says the column is; NULL where a * stands for several. */
static const struct ast *item_of(const struct view *view, u32 n_columns, u32 i)
{
	const struct ast_select *s = view ? view->select : NULL;

	if (!s || s->items.n != n_columns || s->items.at[i].expr->kind == AST_STAR)
		return NULL;
	return s->items.at[i].expr;
}

bool plan_describe(const struct ast_source *source, struct catalog *catalog,
		   struct view_list *views, struct arena *arena, struct diags *diags,
		   struct plan_description *ret_description)
{
	const struct plan_context context = { .views = views, .n_views = UINT32_MAX };
	struct bind_shared shared = { .context = &context };
	struct ast_select select = { .span = source->span };
	struct settings settings;
	struct scope scope = { .arena = arena,
			       .diags = diags,
			       .catalog = catalog,
			       .settings = &settings,
			       .shared = &shared,
			       .n_views = UINT32_MAX,
			       .select = &select };
	const struct view *view =
		source->n_path == 1 ? views_find(views, source->path[0], UINT32_MAX) : NULL;
	const struct from_member *r;

	settings_init(&settings);
	if (!bind_from(&scope, source))
		return false;
	r = &scope.members.at[0];
	*ret_description = (struct plan_description){
		.name = r->written,
		.comment = bind_is_span(source)	      ? bind_span_comment(source, arena)
			   : bind_is_function(source) ? bind_function_comment()
			   : view		      ? view->comment
						      : "",
		.columns = arena_array(arena, struct plan_column, MAX(r->columns.n, 1u)),
		.n_columns = r->columns.n,
		.has_system = r->has_system,
	};
	for (u32 i = 0; i < r->columns.n; i++)
		ret_description->columns[i] = (struct plan_column){
			.name = r->columns.at[i].name,
			.type = r->columns.at[i].expr->type,
			.meaning = r->columns.at[i].meaning
					   ? r->columns.at[i].meaning
					   : meaning(&scope, r->columns.at[i].expr,
						     item_of(view, r->columns.n, i)),
		};
	return !diags_failed(diags);
}
