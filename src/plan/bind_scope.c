/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Scopes, and the operators that more than one file of the binder makes.
 */
#include <strings.h>

#include "plan/bind.h"

struct scope bind_scope(const struct scope *outer, const struct ast_select *select)
{
	return (struct scope){ .arena = outer->arena,
			       .diags = outer->diags,
			       .catalog = outer->catalog,
			       .settings = outer->settings,
			       .shared = outer->shared,
			       .ctes = outer->ctes,
			       .n_views = outer->n_views,
			       .is_shipped = outer->is_shipped,
			       .select = select };
}

void *bind_refuse(struct scope *scope, struct span span, const char *what)
{
	return diag_refuse(
		scope->diags, "not-supported", span,
		"%s not available yet" HINT "see the manual for what this version can do", what);
}

struct plan *bind_scan(struct scope *scope, struct stream_list *streams, const char *alias,
		       struct span span)
{
	struct plan *p = plan_new(scope->arena, PLAN_SCAN, span, NULL);

	if (scope->shared->scans.n == SOURCES_MAX)
		return diag_refuse(scope->diags, "too-deep", span,
				   "the query reads more than %u streams, views counted each "
				   "time" HINT "a wildcard reads many streams as one",
				   SOURCES_MAX);
	p->scan.streams = streams;
	p->scan.alias = alias;
	p->scan.source = scope->shared->scans.n;
	vec_push(scope->arena, &scope->shared->scans, p);
	return p;
}

struct plan *bind_join_new(struct scope *scope, enum plan_join_kind join, struct plan *left,
			   struct plan *right, struct span span)
{
	struct plan *p = plan_new(scope->arena, PLAN_JOIN, span, left);

	p->join.kind = join;
	p->right = right;
	vec_push(scope->arena, &scope->shared->joins, p);
	return p;
}

u32 bind_number(struct scope *scope)
{
	if (!scope->has_number)
		scope->number = scope->shared->n_aggregates++;
	scope->has_number = true;
	return scope->number;
}

const struct stream *bind_stream_of(struct scope *scope, const struct expr *e)
{
	return e->kind == EXPR_FIELD
		       ? scope->shared->scans.at[e->source]->scan.streams->streams.at[0]
		       : NULL;
}

bool bind_is_unreadable(struct scope *scope, const struct from_member *member, const char *name,
			struct span span)
{
	for (u32 i = 0; member->streams && i < member->streams->streams.n; i++) {
		const struct stream *s = member->streams->streams.at[i];

		for (u32 k = 0; k < s->n_fields; k++) {
			const struct field *f = &s->fields[k];

			if (!field_why_not(f) || strcasecmp(f->name, name) != 0)
				continue;
			diag_refuse(scope->diags, "unreadable-argument", span,
				    "%s of %s is %s, which cannot be read: %s" HINT
				    "its other arguments can: ebql describe %s",
				    name, s->name, f->operand->text, field_why_not(f), s->name);
			return true;
		}
	}
	return false;
}

void bind_hint_columns(struct scope *scope, struct diag *d, const struct from_member *r)
{
	struct buf names;

	buf_init_in(&names, scope->arena);
	for (u32 i = 0; i < r->columns.n && i < 12; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", r->columns.at[i].name);
	diag_hint(scope->diags, d, "its columns are %s%s", names.at,
		  r->columns.n > 12 ? ", ..." : "");
}

const char *bind_note(struct scope *scope, const struct expr *e)
{
	const struct stream *stream = bind_stream_of(scope, e);

	return stream && stream->kind == STREAM_FILE ? stream->file->notes[e->index] : "";
}

/* The last of the visible columns that are made one of several by that name, of this member and
 * others; NULL: there is none.  A member of the right side has then no column of its own. */
static const struct merged_column *
merged_find(const struct scope *scope, const struct from_member *member, const char *name,
	    bool (*is)(const struct merged_column *merged, u32 member))
{
	const struct merged_column *found = NULL, *m;
	u32 number = (u32)(member - scope->members.at);

	for (u32 i = 0; i < scope->merged.n; i++) {
		m = &scope->merged.at[i];
		if (m->first >= scope->first_member && m->end <= scope->members.n &&
		    strcasecmp(m->name, name) == 0 && is(m, number))
			found = m;
	}
	return found;
}

static bool is_right(const struct merged_column *merged, u32 member)
{
	return member >= merged->middle && member < merged->end;
}

static bool is_either(const struct merged_column *merged, u32 member)
{
	return merged->is_either && member >= merged->first && member < merged->end;
}

bool bind_is_merged(const struct scope *scope, const struct from_member *member, const char *name)
{
	return merged_find(scope, member, name, is_right);
}

const struct merged_column *bind_either_of(const struct scope *scope,
					   const struct from_member *member, const char *name)
{
	return merged_find(scope, member, name, is_either);
}

void bind_push_column(struct scope *scope, const char *name, u32 relation, const struct expr *of,
		      struct span span, item_vec *columns)
{
	struct expr *e = expr_ref(scope->arena, EXPR_COLUMN, span, of, relation, columns->n);

	e->name = name;
	e->is_quantile = of->is_quantile;
	e->is_other = of->is_other;
	vec_push(scope->arena, columns, (struct item){ name, e });
}
