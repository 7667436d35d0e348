/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pieces of a query for cut/: rows with their time in front, and single aggregate calls
 * over values that SQLite computes.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

static struct scope piece_scope(const struct plan_context *context, struct bind_shared *shared,
				const struct ast_select *select, struct diags *diags)
{
	return (struct scope){ .arena = context->arena,
			       .diags = diags,
			       .catalog = context->catalog,
			       .settings = context->settings,
			       .shared = shared,
			       .n_views = context->n_views,
			       .select = select };
}

struct plan *plan_bind_in(const struct plan_context *context, const struct ast_select *select,
			  struct diags *diags)
{
	struct bind_shared shared = { .views = context->views };
	struct scope scope = piece_scope(context, &shared, select, diags);

	return bind_select(&scope);
}

struct plan *plan_bind_rows(const struct plan_context *context, const struct ast_select *select,
			    struct diags *diags)
{
	struct bind_shared shared = { .views = context->views };
	struct scope scope = piece_scope(context, &shared, select, diags);
	item_vec items = { 0 };
	struct plan *p;

	bind_ctes(&scope);
	p = bind_from(&scope, select->from);
	if (!p)
		return NULL;
	p = bind_where(&scope, p);
	vec_push(scope.arena, &items,
		 (struct item){ .name = "time", .expr = bind_time_of(&scope, p, select->span) });
	if (!items.at[0].expr || !bind_items(&scope, false, &items))
		return NULL;
	p = bind_runnings_new(&scope, p);
	p = bind_plan_new(&scope, PLAN_PROJECT, p);
	p->project.items = items.at;
	p->project.n_items = items.n;
	bind_name_scans(&scope, p);
	return diags_failed(diags) ? NULL : p;
}

bool plan_is_aggregate(const struct ast *call)
{
	struct ast *none[2] = { NULL, NULL };

	/* min(a, b) is no aggregate; what the arguments are does not matter. */
	return bind_has_aggregate(&(struct ast){ .kind = AST_CALL,
						 .text = call->text,
						 .n_args = MIN(call->n_args, 2u),
						 .args = none });
}

bool plan_is_naming(const struct expr *e)
{
	return bind_is_naming(e);
}

/* A column of that type, of no stream. */
static struct ast *fake_column(struct scope *scope, struct relation *relation, struct type type,
			       struct span span)
{
	struct ast *name = arena_new(scope->arena, struct ast);
	struct expr *e = expr_new(scope->arena, EXPR_FIELD, span);

	if (!type_is_word(type) && type.kind != TYPE_TEXT)
		type = type_int(64, true);
	e->type = type;
	e->index = relation->n_columns;
	e->nullable = true;
	if (type_is_word(type)) {
		e->lo = type_min(type);
		e->hi = type_max(type);
	}
	e->name = arena_printf(scope->arena, "value %u", relation->n_columns);
	relation->columns[relation->n_columns++] = (struct item){ e->name, e };
	name->kind = AST_NAME;
	name->span = span;
	name->n_parts = 1;
	name->parts = arena_array(scope->arena, const char *, 1);
	name->parts[0] = e->name;
	name->part_spans = arena_array(scope->arena, struct span, 1);
	name->part_spans[0] = span;
	return name;
}

bool plan_bind_aggregate(const struct plan_context *context, const struct ast *call,
			 const struct type *types, bool is_grouped, struct diags *diags,
			 struct aggregate *ret_aggregate, struct type *ret_type)
{
	struct bind_shared shared = { .views = context->views };
	struct ast_select select = { .span = call->span };
	struct scope scope = piece_scope(context, &shared, &select, diags);
	struct relation values = { .written = "the values" };
	struct stream none = { .name = "" };
	struct stream_list streams = { 0 };
	struct ast copy = *call;
	struct expr *e;

	/* Sketches are smaller where there are many. */
	if (is_grouped)
		vec_push(scope.arena, &select.group_by, (struct ast *)call);
	/* The binder looks at the field of a column: at those of the values there is nothing. */
	none.n_fields = call->n_args + 1;
	none.fields = arena_array(scope.arena, struct field, none.n_fields);
	vec_push(scope.arena, &streams.streams, &none);
	values.tree = bind_scan(&scope, &streams, NULL, call->span);
	values.columns = arena_array(scope.arena, struct item, call->n_args + 1);
	copy.distinct = copy.is_over = false;
	copy.filter = NULL;
	copy.n_partition_by = 0;
	copy.args = arena_array(scope.arena, struct ast *, call->n_args + 1);
	for (u32 i = 0; i < call->n_args; i++)
		copy.args[i] = types[i].kind == TYPE_NULL ? call->args[i]
							  : fake_column(&scope, &values, types[i],
									call->args[i]->span);
	if (copy.is_within_group && call->n_order_by) {
		copy.order_by = arena_array(scope.arena, struct ast_order, call->n_order_by);
		memcpy(copy.order_by, call->order_by, call->n_order_by * sizeof(*copy.order_by));
		copy.order_by[0].expr = fake_column(&scope, &values, types[call->n_args],
						    call->order_by[0].expr->span);
	} else {
		copy.n_order_by = 0;
	}
	vec_push(scope.arena, &scope.relations, values);
	scope.is_top_of_item = true;
	e = bind_call(&scope, &copy);
	if (!e || e->kind != EXPR_AGGREGATE)
		return false;
	*ret_aggregate = scope.aggregates.at[e->index];
	*ret_type = e->type;
	return !diags_failed(diags);
}
