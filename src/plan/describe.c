/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A view or a span -> the names, types and meanings of its columns, for DESCRIBE.
 */

#include <string.h>
#include <strings.h>

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

/* STREAM.a.b -> the stream, and a.b as a name; false: there is no "." behind the last ":". */
static bool split(const struct ast_source *source, struct arena *arena,
		  struct ast_source *ret_stream, struct ast *ret_path)
{
	const char *last = source->path[source->n_path - 1], *dot = strchr(last, '.');
	VEC(const char *) parts = { 0 };
	VEC(struct span) spans = { 0 };
	char *rest, *part;

	if (source->kind != AST_SOURCE_STREAM || !dot || dot == last)
		return false;
	rest = arena_strdup(arena, dot + 1);
	while ((part = strtok_r(rest, ".", &rest))) {
		vec_push(arena, &parts, part);
		vec_push(arena, &spans, source->span);
	}
	*ret_path = (struct ast){ .kind = AST_NAME,
				  .span = source->span,
				  .parts = parts.at,
				  .part_spans = spans.at,
				  .n_parts = parts.n };
	*ret_stream = *source;
	ret_stream->path = arena_array(arena, const char *, source->n_path);
	memcpy(ret_stream->path, source->path, source->n_path * sizeof(*source->path));
	ret_stream->path[source->n_path - 1] = arena_strndup(arena, last, (size_t)(dot - last));
	ret_stream->written =
		arena_strndup(arena, source->written, strlen(source->written) - strlen(dot));
	return parts.n > 0;
}

bool plan_is_of_members(const struct ast_source *source, struct catalog *catalog,
			struct arena *arena)
{
	struct ast_source stream;
	struct stream_list *list;
	struct diags unsaid;
	struct ast path;

	if (!split(source, arena, &stream, &path))
		return false;
	/* NAME.isra.0 is a function. */
	diags_init(&unsaid, arena, "", "", 0);
	return plan_is_derived(source) ||
	       catalog_look_up(catalog, source->path, source->n_path, source->span, &unsaid,
			       &list) != FIND_FOUND;
}

struct members {
	struct scope *scope;
	VEC(struct plan_column) list;
};

static void add_member(void *context, const char *name, const struct catalog_member *member)
{
	struct members *m = context;
	struct arena *arena = m->scope->arena;
	struct plan_column column = { .name = arena_strdup(arena, name), .type = member->type };
	u32 bit = (u32)(member->offset_bits % 8);
	struct buf type;

	buf_init_in(&type, arena);
	catalog_put_type(m->scope->catalog, member, &type);
	column.c_type = type.at;
	column.meaning = arena_printf(arena, bit ? "at byte %llu, bit %u" : "at byte %llu",
				      (unsigned long long)member->offset_bits / 8, bit);
	vec_push(arena, &m->list, column);
}

/* The members of what the path leads to, as columns. */
static bool describe_members(struct scope *scope, const struct ast *path,
			     struct plan_description *d)
{
	struct members m = { .scope = scope };
	struct expr *e = bind_path(scope, path);
	struct catalog_member element;
	u32 id = e ? bind_struct_behind(scope, e) : 0;

	if (!e)
		return false;
	/* Of an array of structs, those of its elements. */
	if (!id && expr_is_place(e) &&
	    catalog_btf_type(scope->catalog, e->member.element_btf_id, &element) == 0)
		id = element.type.kind == TYPE_NULL ? element.btf_type_id : element.pointee_btf_id;
	if (!id)
		return diag_refuse(scope->diags, "no-members", path->span,
				   "%s has no members: it is no struct, and points to none",
				   path->parts[path->n_parts - 1]);
	catalog_each_member(scope->catalog, id, add_member, &m);
	d->comment = arena_printf(scope->arena, "members of %s\n",
				  catalog_struct_name(scope->catalog, id));
	d->columns = m.list.at;
	d->n_columns = m.list.n;
	return true;
}

bool plan_describe(const struct ast_source *source, const struct plan_context *context,
		   struct diags *diags, struct plan_description *ret_description)
{
	struct arena *arena = context->arena;
	struct bind_shared shared = { .context = context };
	struct ast_select select = { .span = source->span };
	struct settings settings;
	struct scope scope = { .arena = arena,
			       .diags = diags,
			       .catalog = context->catalog,
			       .settings = &settings,
			       .shared = &shared,
			       .n_views = UINT32_MAX,
			       .select = &select };
	struct ast_source stream;
	struct ast path;
	const struct view *view = source->n_path == 1
					  ? views_find(context->views, source->path[0], UINT32_MAX)
					  : NULL;
	const struct from_member *r;

	settings_init(&settings);
	/* d.n and "a.b" are no columns of a stream then. */
	if (!plan_is_table(source, context) &&
	    plan_is_of_members(source, context->catalog, arena)) {
		*ret_description = (struct plan_description){ .name = source->written };
		split(source, arena, &stream, &path);
		return bind_from(&scope, &stream) &&
		       describe_members(&scope, &path, ret_description);
	}
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
			.c_type = r->tree->kind == PLAN_TABLE && !r->columns.at[i].expr->type.kind
					  ? "ANY"
					  : NULL,
			.meaning = r->columns.at[i].meaning
					   ? r->columns.at[i].meaning
					   : meaning(&scope, r->columns.at[i].expr,
						     item_of(view, r->columns.n, i)),
		};
	return !diags_failed(diags);
}
