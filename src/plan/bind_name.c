/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names -> columns: fields of the event first, then system columns; s.name for
 * an alias, current.name for the system column behind a field of the same name,
 * a.b.c through the members of kernel structs.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

static const struct field *field_find(const struct stream *stream, const char *name)
{
	for (u32 i = 0; i < stream->n_fields; i++)
		if (strcasecmp(stream->fields[i].name, name) == 0)
			return &stream->fields[i];
	return NULL;
}

static bool type_same(struct type a, struct type b)
{
	return a.kind == b.kind && a.bits == b.bits && a.is_signed == b.is_signed &&
	       a.bytes == b.bytes;
}

static struct expr *column_expr(struct scope *scope, enum expr_kind kind, const char *name,
				u32 index, struct type type, struct span span)
{
	struct expr *e = expr_new(scope->arena, kind, span);

	e->name = name;
	e->index = index;
	e->type = type;
	if (type_is_word(type)) {
		e->lo = type_min(type);
		e->hi = type_max(type);
	}
	return e;
}

/* Do all streams of a wildcard have this field with one type? */
static bool field_is_shared(struct scope *scope, const char *name, const struct field *first)
{
	for (u32 i = 1; i < scope->streams->streams.n; i++) {
		const struct field *f = field_find(scope->streams->streams.at[i], name);

		if (!f || !type_same(f->type, first->type) || f->kind != first->kind)
			return false;
	}
	return true;
}

struct expr *bind_field(struct scope *scope, const char *name, struct span span)
{
	const struct field *f = field_find(scope->streams->streams.at[0], name);

	if (!f)
		return NULL;
	if (!field_is_shared(scope, name, f))
		return NULL;
	return column_expr(scope, EXPR_FIELD, f->name,
			   (u32)(f - scope->streams->streams.at[0]->fields), f->type, span);
}

struct expr *bind_system(struct scope *scope, enum system_column column, struct span span)
{
	return column_expr(scope, EXPR_SYSTEM, system_columns[column].name, column,
			   system_columns[column].type, span);
}

static int system_find(const char *name)
{
	for (int i = 0; i < SYS_N; i++)
		if (strcasecmp(system_columns[i].name, name) == 0)
			return i;
	return -1;
}

static struct expr *unknown_column(struct scope *scope, const char *name, struct span span)
{
	const struct stream *s = scope->streams->streams.at[0];
	const struct field *some = NULL;
	struct suggest suggest;
	struct diag *d;

	for (u32 i = 0; i < scope->streams->streams.n && !some; i++)
		some = field_find(scope->streams->streams.at[i], name);
	if (some) {
		d = diag_error(scope->diags, "unshared-column", span,
			       "not all %u streams have a column \"%s\" of one type",
			       scope->streams->streams.n, name);
		diag_hint(scope->diags, d, "name one stream, or use system columns and probe");
		return NULL;
	}
	suggest_init(&suggest, name);
	for (u32 i = 0; i < s->n_fields; i++)
		suggest_offer(&suggest, s->fields[i].name);
	for (u32 i = 0; i < SYS_N; i++)
		suggest_offer(&suggest, system_columns[i].name);
	for (u32 i = 0; i < scope->select->items.n; i++)
		if (scope->select->items.at[i].alias)
			suggest_offer(&suggest, scope->select->items.at[i].alias);
	d = diag_error(scope->diags, "unknown-column", span, "%s has no column \"%s\"", s->name,
		       name);
	if (suggest_best(&suggest))
		diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	else
		diag_hint(scope->diags, d, "\"ebql describe %s\" lists its columns", s->name);
	return NULL;
}

/* One step of a.b.c: the member `name` of what `base` points to or is. */
static struct expr *member_step(struct scope *scope, struct expr *base, u32 struct_id,
				const char *name, struct span span)
{
	struct expr *e = expr_new(scope->arena, EXPR_MEMBER, span_join(base->span, span));
	struct suggest suggest;

	suggest_init(&suggest, name);
	if (catalog_member(scope->catalog, struct_id, name, &suggest, &e->member) != 0) {
		struct diag *d = diag_error(scope->diags, "unknown-member", span,
					    "there is no member \"%s\" here", name);

		if (suggest_best(&suggest))
			diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
		return NULL;
	}
	e->name = name;
	e->type = e->member.type;
	if (e->member.is_char_pointer)
		e->type = type_text(64);
	if (type_is_word(e->type)) {
		e->lo = type_min(e->type);
		e->hi = type_max(e->type);
	}
	e->nullable = true;
	e->args = arena_array(scope->arena, struct expr *, 1);
	e->args[0] = base;
	e->n_args = 1;
	return e;
}

static struct expr *bind_members(struct scope *scope, struct expr *base, const struct ast *ast,
				 u32 from)
{
	const struct field *f = base->kind == EXPR_FIELD
					? &scope->streams->streams.at[0]->fields[base->index]
					: NULL;
	struct catalog_member type;
	u32 id = 0;

	if (f && f->btf_type_id && catalog_btf_type(scope->catalog, f->btf_type_id, &type) == 0 &&
	    type.is_pointer)
		id = type.pointee_btf_id;
	for (u32 i = from; i < ast->n_parts; i++) {
		if (!id) {
			struct diag *d = diag_error(scope->diags, "no-members", ast->part_spans[i],
						    "%s has no members", ast->parts[i - 1]);

			diag_hint(scope->diags, d,
				  "members are read through pointers to kernel structs, as raw "
				  "tracepoints have them");
			return NULL;
		}
		base = member_step(scope, base, id, ast->parts[i], ast->part_spans[i]);
		if (!base)
			return NULL;
		id = base->member.is_pointer		   ? base->member.pointee_btf_id
		     : base->member.type.kind == TYPE_NULL ? base->member.btf_type_id
							   : 0;
	}
	return base;
}

static struct expr *check_scalar(struct scope *scope, struct expr *e, const struct ast *ast)
{
	if (!e)
		return NULL;
	const struct field *f =
		e->kind == EXPR_FIELD ? &scope->streams->streams.at[0]->fields[e->index] : NULL;
	bool is_array = (f && f->n_elements) || (e->kind == EXPR_MEMBER && e->member.n_elements);

	if (!is_array && (type_is_word(e->type) || e->type.kind == TYPE_TEXT))
		return e;
	struct diag *d = diag_error(scope->diags, "not-supported", ast->span,
				    "%s is %s, which cannot be used as a value yet",
				    ast->parts[ast->n_parts - 1],
				    is_array			? "an array"
				    : e->type.kind == TYPE_NULL ? "a struct"
								: "raw bytes");

	if (e->type.kind == TYPE_NULL)
		diag_hint(scope->diags, d, "name one of its members");
	return NULL;
}

static struct expr *bind_window_bound(struct scope *scope, const char *name, struct span span)
{
	bool is_start = strcasecmp(name, "window_start") == 0;
	struct expr *e =
		expr_new(scope->arena, is_start ? EXPR_WINDOW_START : EXPR_WINDOW_END, span);

	e->type = (struct type){ .kind = TYPE_TIMESTAMP, .bits = 64 };
	e->lo = 0;
	e->hi = INT64_MAX;
	e->name = is_start ? "window_start" : "window_end";
	if (scope->no_aggregates_in || scope->is_inside_aggregate) {
		diag_error(scope->diags, "window-bound-here", span,
			   "%s is known only when the window is closed", e->name);
		return NULL;
	}
	return e;
}

static const struct ast *find_alias(struct scope *scope, const char *name)
{
	const struct ast_select *s = scope->select;

	for (u32 i = 0; i < s->items.n; i++)
		if (s->items.at[i].alias && strcasecmp(s->items.at[i].alias, name) == 0)
			return s->items.at[i].expr;
	return NULL;
}

/* As in SQLite, the name of an item may stand for its expression in every clause. */
static struct expr *bind_alias(struct scope *scope, const struct ast *item)
{
	struct expr *e;

	scope->is_inside_alias = true;
	e = bind_expr(scope, item);
	scope->is_inside_alias = false;
	return e;
}

struct expr *bind_name(struct scope *scope, const struct ast *ast)
{
	const struct stream *stream = scope->streams->streams.at[0];
	u32 at = 0;
	bool is_current = false;
	struct expr *e;

	if (ast->n_parts > 1 && strcasecmp(ast->parts[0], "current") == 0) {
		is_current = true;
		at = 1;
	} else if (ast->n_parts > 1 && !field_find(stream, ast->parts[0]) &&
		   ((scope->alias && strcasecmp(ast->parts[0], scope->alias) == 0) ||
		    (!scope->alias && strcasecmp(ast->parts[0], stream->event) == 0))) {
		at = 1;
	}
	const char *name = ast->parts[at];

	if (!is_current && scope->is_windowed && ast->n_parts == at + 1 &&
	    (strcasecmp(name, "window_start") == 0 || strcasecmp(name, "window_end") == 0))
		return bind_window_bound(scope, name, ast->span);
	e = is_current ? NULL : bind_field(scope, name, ast->part_spans[at]);
	if (!e && system_find(name) >= 0)
		e = bind_system(scope, (enum system_column)system_find(name), ast->part_spans[at]);
	if (!e && ast->n_parts == 1 && !scope->is_inside_alias) {
		const struct ast *item = find_alias(scope, name);

		if (item)
			return bind_alias(scope, item);
	}
	if (!e)
		return unknown_column(scope, name, ast->part_spans[at]);
	if (at + 1 < ast->n_parts)
		e = bind_members(scope, e, ast, at + 1);
	return check_scalar(scope, e, ast);
}
