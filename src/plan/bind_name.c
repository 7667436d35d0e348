/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names -> columns: fields of the event and columns of nested selects first, then
 * system columns; s.name for an alias, which goes before a field of the same name,
 * current.name for the system column behind a field of the same name, a.b.c through the
 * members of kernel structs.
 */
#include <ctype.h>
#include <stdlib.h>
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

/* Do all streams of a wildcard have this field with one type? */
static bool field_is_shared(const struct stream_list *list, const char *name,
			    const struct field *first)
{
	for (u32 i = 0; i < list->streams.n; i++) {
		const struct field *f = field_find(list->streams.at[i], name);

		if (!f || !type_equal(f->type, first->type) || f->kind != first->kind ||
		    field_why_not(f))
			return false;
		if (list->streams.at[i]->is_function && f->kind == FIELD_ARG &&
		    f->offset_bytes != first->offset_bytes)
			return false;
	}
	return true;
}

static struct expr *field_expr(struct scope *scope, const struct plan *scan, u32 index)
{
	const struct stream *stream = scan->scan.streams->streams.at[0];
	const struct field *f = &stream->fields[index];
	struct expr *e;

	e = bind_column_expr(scope, EXPR_FIELD, f->name, index, f->type, scan->span);
	e->source = scan->scan.source;
	e->nullable = field_may_be_null(scan->scan.streams, index);
	/* Of recorded rows: the kernel has none. */
	e->is_user_only = f->type.kind == TYPE_REAL;
	return e;
}

static const char *field_meaning(const struct stream *stream, u32 index)
{
	if (stream->kind != STREAM_FILE)
		return stream->fields[index].declaration;
	return stream->file->time_column == (s32)index ? "when it happened"
						       : stream->file->notes[index];
}

/* -p: user programs' events are those of that process, by whatever the kernel leaves out itself. */
static struct plan *of_process(struct scope *scope, const struct from_member *member)
{
	struct expr *is_its, *pid;

	if (!member->streams->streams.at[0]->file_path || !scope->settings->only_pid)
		return member->tree;
	scope->settings->is_target_used = true;
	pid = expr_integer(scope->arena, member->tree->span, type_int(32, true),
			   scope->settings->only_pid);
	is_its = expr_op(scope->arena, OP_EQ, member->tree->span,
			 bind_system(scope, member, SYS_PID, member->tree->span), pid);
	return plan_filter(scope->arena, member->tree, &is_its, 1);
}

struct from_member bind_stream_member(struct scope *scope, struct plan *scan)
{
	struct from_member member;
	const struct stream_list *streams = scan->scan.streams;
	const struct stream *first = streams->streams.at[0];
	item_vec columns = { 0 };

	for (u32 i = 0; i < first->n_fields; i++)
		if (field_is_shared(streams, first->fields[i].name, &first->fields[i]))
			vec_push(scope->arena, &columns,
				 (struct item){ .name = first->fields[i].name,
						.expr = field_expr(scope, scan, i),
						.meaning = field_meaning(first, i) });
	member = (struct from_member){ .written = first->name,
				       .streams = streams,
				       .tree = scan,
				       .source = scan->scan.source,
				       .has_system = !stream_is_list(first),
				       .is_call = first->is_syscall_enter,
				       .columns = columns };
	member.tree = of_process(scope, &member);
	return member;
}

/*
 * A copy that stands where the column is used, not where it was defined.  What may be without a
 * partner is no bound: it is NULL then.
 */
static struct expr *placed(struct scope *scope, const struct expr *e, struct span span,
			   bool is_nullable)
{
	struct expr *copy = expr_copy(scope->arena, e);

	copy->span = span;
	copy->nullable |= is_nullable;
	copy->bound = is_nullable ? BOUND_NONE : e->bound;
	for (u32 i = 0; i < e->n_args; i++)
		copy->args[i] = placed(scope, e->args[i], span, is_nullable);
	return copy;
}

/* Right of a LEFT join a column is NULL without a partner, also a constant. */
static struct expr *null_without_partner(struct scope *scope, const struct from_member *member,
					 struct expr *e, struct span span)
{
	struct expr *time = bind_time_of(scope, member->tree, span);
	struct expr *null = expr_new(scope->arena, EXPR_NULL, span);

	time->nullable = null->nullable = true;
	return expr_make(scope->arena, EXPR_CASE, span, 3,
			 expr_make(scope->arena, EXPR_IS_NULL, span, 1, time), null, e);
}

struct expr *bind_column_at(struct scope *scope, const struct from_member *member, u32 i,
			    struct span span)
{
	struct expr *e = placed(scope, member->columns.at[i].expr, span, member->is_nullable);

	if (member->is_nullable && !expr_is_strict(e))
		return null_without_partner(scope, member, e, span);
	return e;
}

/* The columns that have this name. */
static u32 n_columns_of(const struct from_member *member, const char *name)
{
	u32 n = 0;

	for (u32 i = 0; i < member->columns.n; i++)
		n += strcasecmp(member->columns.at[i].name, name) == 0;
	return n;
}

static bool has_column(const struct from_member *member, const char *name)
{
	return n_columns_of(member, name);
}

enum window_bound bind_bound_of(const char *name)
{
	if (strcasecmp(name, "window_start") == 0)
		return BOUND_START;
	return strcasecmp(name, "window_end") == 0 ? BOUND_END : BOUND_NONE;
}

/* One that is more than what every select of a query with a WINDOW has: the bound so called. */
static bool has_own_column(const struct from_member *member, const char *name)
{
	for (u32 i = 0; i < member->columns.n; i++)
		if (strcasecmp(member->columns.at[i].name, name) == 0 &&
		    member->columns.at[i].expr->bound != bind_bound_of(name))
			return true;
	return false;
}

static struct expr *two_columns(struct scope *scope, const struct from_member *member,
				const char *name, struct span span)
{
	return diag_refuse(scope->diags, "ambiguous-column", span,
			   "%s has more than one column \"%s\"" HINT
			   "give each a name in its select: %s AS x",
			   member->written, name, name);
}

struct expr *bind_column(struct scope *scope, const struct from_member *member, const char *name,
			 struct span span)
{
	for (u32 i = 0; i < member->columns.n; i++)
		if (strcasecmp(member->columns.at[i].name, name) == 0)
			return bind_column_at(scope, member, i, span);
	return NULL;
}

/* The first member of FROM of which `is` says so; *ret_n: how many there are. */
static const struct from_member *
member_find(struct scope *scope, bool (*is)(const struct from_member *member, const char *name),
	    const char *name, u32 *ret_n)
{
	const struct from_member *found = NULL;

	*ret_n = 0;
	for (u32 i = scope->first_member; i < scope->members.n; i++) {
		if (!is(&scope->members.at[i], name) ||
		    (is == has_column && bind_is_merged(scope, &scope->members.at[i], name)))
			continue;
		found = found ? found : &scope->members.at[i];
		(*ret_n)++;
	}
	return found;
}

bool bind_is_column(struct scope *scope, const char *name)
{
	u32 n;

	if (member_find(scope, has_column, name, &n))
		return true;
	for (u32 i = scope->first_member; i < scope->members.n; i++)
		if (scope->members.at[i].has_system)
			return bind_system_find(name) >= 0;
	return false;
}

/* Offers what could have been meant; have some streams of a wildcard a column of that name? */
static bool offer_columns(const struct from_member *r, const char *name, struct suggest *suggest)
{
	u32 n_streams = r->streams ? r->streams->streams.n : 0;
	bool has_some = false;

	for (u32 i = 0; i < r->columns.n; i++)
		suggest_offer(suggest, r->columns.at[i].name);
	for (u32 i = 0; i < n_streams; i++)
		has_some |= field_find(r->streams->streams.at[i], name) != NULL;
	for (u32 i = 0; r->has_system && i < SYS_SHOWN; i++)
		suggest_offer(suggest, system_columns[i].name);
	return has_some;
}

/* What found no room is known of groups, behind which it stands. */
static bool is_other(const struct scope *scope, const char *name)
{
	return strcasecmp(name, "_other") == 0 && scope->select->group_by.n &&
	       !scope->no_aggregates_in && !scope->is_inside_aggregate;
}

/*
 * What other tracers call so: of bpftrace's words, of arguments by their numbers, and of C's names
 * of numbers; or NULL.
 */
static const char *foreign_column(struct scope *scope, const struct from_member *one,
				  const char *name)
{
	static const char *const words[][2] = {
		{ "nsecs", "time is when it happened" },
		{ "elapsed", "time is when it happened" },
		{ "args", "what stands in args is a column itself: x for args.x" },
		{ "retval", "ret is what was returned" },
		{ "func", "probe is the name of what fired" },
		{ "username", "user_name(uid) is the name of the user" },
		{ "all", "SELECT has all rows by itself: leave ALL away" },
		{ "current_timestamp", "time is that of the event" },
		{ "current_date", "time is that of the event" },
	};
	const struct stream *s = one && one->streams ? one->streams->streams.at[0] : NULL;
	s64 number = 0;
	const struct naming *naming = naming_with(name, &number);
	bool is_argument = strncasecmp(name, "arg", 3) == 0 && isdigit((unsigned char)name[3]);

	if (scope->is_inside_alias && bind_find_alias(scope, name))
		return "an alias within an alias is none: write its expression";
	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(words[i][0], name) == 0)
			return words[i][1];
	for (u32 i = 0; s && is_argument && i < s->n_fields; i++)
		if (s->fields[i].kind == FIELD_ARG &&
		    s->fields[i].offset_bytes / 8 == strtoul(name + 3, NULL, 10))
			return arena_printf(scope->arena, "that argument is called \"%s\"",
					    s->fields[i].name);
	if (naming && naming_is_bit(naming, number))
		return arena_printf(scope->arena,
				    "write x & 0x%llx <> 0; %s(x) has the names of all bits",
				    (unsigned long long)number, naming->name);
	if (naming)
		return arena_printf(scope->arena,
				    "a number is compared by its name so: %s(x) = '%s'",
				    naming->name, name);
	return NULL;
}

/* only: the member of FROM that was named before the column, or NULL */
static struct expr *unknown_column(struct scope *scope, const struct from_member *only,
				   const char *name, struct span span)
{
	static const struct from_member none = { .written = "a select without FROM" };
	u32 n = scope->members.n - scope->first_member;
	const struct from_member *first = n ? &scope->members.at[scope->first_member] : &none;
	const struct from_member *one = only ? only : n > 1 ? NULL : first;
	bool wants_text = scope->wants_text && !only;
	const char *foreign = foreign_column(scope, one, name);
	struct suggest suggest;
	struct diag *d;

	scope->wants_text = false;
	suggest_init(&suggest, name);
	for (u32 i = 0; i < n; i++) {
		const struct from_member *r = first + i;

		if (only && r != only)
			continue;
		if (bind_is_unreadable(scope, r, name, span))
			return NULL;
		if (offer_columns(r, name, &suggest))
			return diag_refuse(
				scope->diags, "unshared-column", span,
				"not all %u streams have a column \"%s\" of one type" HINT
				"name one stream, or use system columns and probe",
				r->streams->streams.n, name);
	}
	for (u32 i = 0; !only && i < scope->select->items.n; i++)
		if (scope->select->items.at[i].alias &&
		    strcasecmp(scope->select->items.at[i].alias, name) != 0)
			suggest_offer(&suggest, scope->select->items.at[i].alias);
	d = one ? diag_error(scope->diags, "unknown-column", span, "%s has no column \"%s\"",
			     one->written, name)
		: diag_error(scope->diags, "unknown-column", span,
			     "nothing in FROM has a column \"%s\"", name);
	if (bind_bound_of(name))
		diag_hint(
			scope->diags, d,
			"it is there with a WINDOW, once it is closed; without one -o csv and json "
			"have the bounds of totals by --window-columns");
	else if (strcasecmp(name, "_other") == 0)
		diag_hint(scope->diags, d,
			  "it is there where the select has GROUP BY, once groups are "
			  "counted: it is no key, and stands in no aggregate");
	else if (wants_text)
		diag_hint(scope->diags, d, "a text stands in single quotes: '%s'", name);
	else if (foreign)
		diag_hint(scope->diags, d, "%s", foreign);
	else if (suggest_best(&suggest))
		diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	else if (!one)
		diag_hint(scope->diags, d, "\"ebql describe STREAM\" lists the columns of each");
	else if (!n && !only)
		diag_hint(scope->diags, d,
			  "FROM says whose columns they are: \"ebql list\" shows the streams");
	else if (n && !one->streams)
		bind_hint_columns(scope, d, one);
	else
		diag_hint(scope->diags, d, "\"ebql describe %s\" lists its columns", one->written);
	return NULL;
}

/* "t.csv".k: the columns of a file go by another name.  true after a diagnostic. */
static bool is_file_name(struct scope *scope, const struct ast *ast)
{
	const char *file = ast->parts[0];

	for (struct scope *s = scope; s; s = s->outer)
		for (u32 i = s->first_member; i < s->members.n; i++) {
			const struct from_member *r = &s->members.at[i];

			if (!r->streams || r->streams->streams.at[0]->kind != STREAM_FILE ||
			    strcmp(r->written, file) != 0)
				continue;
			diag_error(scope->diags, "unknown-column", ast->part_spans[0],
				   "the rows of '%s' are called \"%s\" here" HINT
				   "write %s.%s, or give the file a name: FROM '%s' AS x",
				   file, r->name, r->name, ast->parts[1], file);
			return true;
		}
	return false;
}

bool bind_is_empty(struct scope *scope, const struct expr *e)
{
	const struct stream *stream = bind_stream_of(scope, e);
	bool is_found = stream && stream->kind == STREAM_FILE;

	for (u32 i = 0; i < e->n_args && !is_found; i++)
		is_found = bind_is_empty(scope, e->args[i]);
	return is_found && e->type.kind == TYPE_NULL;
}

struct expr *bind_window_bound(struct scope *scope, enum window_bound bound, struct span span)
{
	bool is_start = bound == BOUND_START;
	struct expr *e =
		expr_new(scope->arena, is_start ? EXPR_WINDOW_START : EXPR_WINDOW_END, span);

	e->type = (struct type){ .kind = TYPE_TIMESTAMP, .bits = 64 };
	e->lo = 0;
	e->hi = INT64_MAX;
	e->name = is_start ? "window_start" : "window_end";
	e->bound = bound;
	if (scope->no_aggregates_in || scope->is_inside_aggregate)
		return diag_refuse(scope->diags, "window-bound-here", span,
				   "%s is known only when the window is closed", e->name);
	return e;
}

static struct expr *bind_other(struct scope *scope, struct span span)
{
	struct expr *e = expr_new(scope->arena, EXPR_OTHER, span);

	e->type = type_bool();
	e->lo = 0;
	e->hi = 1;
	e->is_other = true;
	e->name = "_other";
	e->source = bind_number(scope);
	return e;
}

/* Within an item its own name is none, though another item may have it, too. */
const struct ast *bind_find_alias(struct scope *scope, const char *name)
{
	const struct ast_select *s = scope->select;
	const struct ast *found = NULL;

	for (u32 i = 0; i < s->items.n; i++) {
		const struct ast_item *item = &s->items.at[i];

		if (!item->alias || strcasecmp(item->alias, name) != 0)
			continue;
		if (item->expr == scope->item)
			return NULL;
		found = found ? found : item->expr;
	}
	return found;
}

/* As in SQLite, the name of an item may stand for its expression in every clause. */
static struct expr *bind_alias(struct scope *scope, const struct ast *item)
{
	const struct ast *outer = scope->item;
	struct expr *e;

	scope->is_inside_alias = true;
	scope->item = item;
	e = bind_expr(scope, item);
	scope->item = outer;
	scope->is_inside_alias = false;
	return e;
}

static bool is_called(const struct from_member *member, const char *name)
{
	return member->name && strcasecmp(member->name, name) == 0;
}

static struct expr *ambiguous(struct scope *scope, const char *name, struct span span)
{
	const char *of[2] = { NULL, NULL };
	u32 n = 0;

	for (u32 i = scope->first_member; i < scope->members.n && n < 2; i++) {
		const struct from_member *r = &scope->members.at[i];

		if ((has_column(r, name) || (r->has_system && bind_system_find(name) >= 0)) &&
		    r->name && !bind_is_merged(scope, r, name))
			of[n++] = r->name;
	}
	struct diag *d = diag_error(scope->diags, "ambiguous-column", span,
				    "more than one stream has a column \"%s\"", name);

	if (n == 2 && strcasecmp(of[0], of[1]) != 0)
		diag_hint(scope->diags, d, "say which: %s.%s or %s.%s", of[0], name, of[1], name);
	else
		diag_hint(scope->diags, d, "give each a name, FROM a AS x, and write x.%s", name);
	return NULL;
}

static struct expr *bind_in(struct scope *scope, u32 first, u32 end, const char *name,
			    struct span span)
{
	u32 outer = scope->first_member, n = scope->members.n;
	struct expr *e;

	scope->first_member = first;
	scope->members.n = end;
	e = bind_bare(scope, name, span);
	scope->first_member = outer;
	scope->members.n = n;
	return e;
}

/* Of a RIGHT or FULL join: of the side that has it. */
static struct expr *bind_either(struct scope *scope, const struct merged_column *m,
				struct span span)
{
	struct expr *left = bind_in(scope, m->first, m->middle, m->name, span);
	struct expr *right = bind_in(scope, m->middle, m->end, m->name, span);

	return left ? bind_case_of(scope, span,
				   expr_make(scope->arena, EXPR_IS_NULL, span, 1, left), right,
				   left)
		    : NULL;
}

struct expr *bind_bare(struct scope *scope, const char *name, struct span span)
{
	u32 n;
	const struct from_member *of = member_find(scope, has_column, name, &n);
	const struct merged_column *either = NULL;

	if (!of && bind_system_find(name) >= 0)
		of = bind_system_member(scope, name, &n);
	if (of && n == 1)
		either = bind_either_of(scope, of, name);
	if (either)
		return bind_either(scope, either, span);
	if (n > 1)
		return ambiguous(scope, name, span);
	if (of && n_columns_of(of, name) > 1)
		return two_columns(scope, of, name, span);
	if (!of || has_column(of, name))
		return of ? bind_column(scope, of, name, span) : NULL;
	return bind_system(scope, of, (enum system_column)bind_system_find(name), span);
}

struct expr *bind_among(struct scope *scope, u32 first, u32 end, const struct ast_column *column)
{
	u32 outer = scope->first_member, n = scope->members.n, n_errors = scope->diags->n_errors;
	struct expr *e = bind_in(scope, first, end, column->name, column->span);

	if (e || scope->diags->n_errors > n_errors)
		return e;
	scope->first_member = first;
	scope->members.n = end;
	unknown_column(scope, NULL, column->name, column->span);
	scope->first_member = outer;
	scope->members.n = n;
	return NULL;
}

/* A column of the one member of FROM that was named. */
static struct expr *bind_qualified(struct scope *scope, const struct from_member *of,
				   bool is_current, const char *name, struct span span)
{
	struct expr *e = NULL;

	if (!is_current && n_columns_of(of, name) > 1)
		return two_columns(scope, of, name, span);
	if (!is_current)
		e = bind_column(scope, of, name, span);
	if (!e && bind_system_find(name) >= 0)
		e = bind_system(scope, of, (enum system_column)bind_system_find(name), span);
	return e ? e : unknown_column(scope, of, name, span);
}

/*
 * a.b where `a` names both a member of FROM and a column of it: a column b of that member
 * goes first, then a member b of what column a points to, then a system column.
 */
static bool is_member_path(struct scope *scope, const struct from_member *of, const struct ast *ast)
{
	struct expr *e;

	if (!has_column(of, ast->parts[0]) || has_column(of, ast->parts[1]))
		return false;
	e = bind_column(scope, of, ast->parts[0], ast->part_spans[0]);
	return e && bind_struct_behind(scope, e);
}

/* a.b where column `a` has no members, and a select around calls its rows so: a column of those. */
static bool is_of_outer(struct scope *scope, const struct ast *ast)
{
	const struct from_member *of;
	struct expr *e;
	u32 n;

	if (ast->n_parts < 2)
		return false;
	of = member_find(scope, has_column, ast->parts[0], &n);
	e = of ? bind_column(scope, of, ast->parts[0], ast->part_spans[0]) : NULL;
	if (!e || bind_struct_behind(scope, e))
		return false;
	for (struct scope *outer = scope->outer; outer; outer = outer->outer)
		if (member_find(outer, is_called, ast->parts[0], &n))
			return true;
	return false;
}

/* Would the name be found here? */
static bool is_known(struct scope *scope, const struct ast *ast)
{
	u32 n;

	if (!scope->members.n)
		return false;
	if (ast->n_parts > 1 && (strcasecmp(ast->parts[0], "current") == 0 ||
				 member_find(scope, is_called, ast->parts[0], &n)))
		return true;
	if (ast->n_parts == 1 && is_other(scope, ast->parts[0]))
		return true;
	return bind_is_column(scope, ast->parts[0]) && !is_of_outer(scope, ast);
}

/* The window's, unless it is the column of what is read. */
static bool is_bound_here(struct scope *scope, const struct from_member *of, bool is_current,
			  const char *name)
{
	u32 n;

	if (scope->shared->window.kind == WINDOW_NONE || !bind_bound_of(name))
		return false;
	return is_current ||
	       !(of ? has_column(of, name) : member_find(scope, has_own_column, name, &n) != NULL);
}

/* What is called as something that every event, or window, has, which is meant more often. */
static void warn_hidden(struct scope *scope, const char *name, struct span span)
{
	u32 n;
	const struct from_member *of = member_find(scope, has_column, name, &n);
	bool is_bound = scope->shared->window.kind != WINDOW_NONE && bind_bound_of(name);

	if (scope->is_shipped || !of || n != 1 ||
	    !(is_bound || (of->is_call && bind_system_find(name) >= 0)))
		return;
	for (u32 i = 0; i < scope->diags->list.n; i++)
		if (strcmp(scope->diags->list.at[i].tag, "hidden-column") == 0)
			return;
	if (is_bound) {
		diag_hint(scope->diags,
			  diag_warning(scope->diags, "hidden-column", span,
				       "%s is a column of %s here, not the bound of the window",
				       name, of->written),
			  "current.%s is the window's; %s.%s is the column, without this warning",
			  name, of->name ? of->name : "x", name);
		return;
	}
	diag_hint(scope->diags,
		  diag_warning(scope->diags, "hidden-column", span,
			       "%s is an argument of the call here, not the %s of who calls", name,
			       name),
		  "current.%s is the caller's%s%s%s%s", name, of->name ? "; " : "",
		  of->name ? of->name : "", of->name ? arena_printf(scope->arena, ".%s", name) : "",
		  of->name ? " is the argument, without this warning" : "");
}

static struct expr *bind_name_in(struct scope *scope, const struct ast *ast)
{
	const struct from_member *of = NULL;
	u32 at = 0, n_named = 0, n_errors = scope->diags->n_errors;
	bool is_current = false;
	struct expr *e;

	if (ast->n_parts > 1 && strcasecmp(ast->parts[0], "current") == 0 && scope->members.n) {
		is_current = true;
		of = &scope->members.at[scope->first_member];
	} else if (ast->n_parts > 1) {
		of = member_find(scope, is_called, ast->parts[0], &n_named);
		/* w.current.comm: of the task that was running at w's event */
		if (of && ast->n_parts > 2 && strcasecmp(ast->parts[1], "current") == 0 &&
		    !has_column(of, ast->parts[1]))
			is_current = true;
		if (of && scope->members.n - scope->first_member == 1 &&
		    is_member_path(scope, of, ast))
			of = NULL;
		if (of && n_named > 1)
			return ambiguous(scope, ast->parts[1], ast->part_spans[0]);
	}
	at = of ? 1 : 0;
	at += is_current && strcasecmp(ast->parts[0], "current") != 0;
	const char *name = ast->parts[at];

	if (ast->n_parts == at + 1 && is_bound_here(scope, of, is_current, name))
		return bind_window_bound(scope, bind_bound_of(name), ast->span);
	if (of)
		e = bind_qualified(scope, of, is_current, name, ast->part_spans[at]);
	else
		e = bind_bare(scope, name, ast->part_spans[at]);
	if (e && !of)
		warn_hidden(scope, name, ast->part_spans[at]);
	if (!e && (of || scope->diags->n_errors > n_errors))
		return NULL;
	if (!e && ast->n_parts == 1 && !scope->is_inside_alias) {
		const struct ast *item = bind_find_alias(scope, name);

		if (item)
			return bind_alias(scope, item);
	}
	if (!e && ast->n_parts > 1 && is_file_name(scope, ast))
		return NULL;
	if (!e && ast->n_parts == 1 && is_other(scope, name))
		return bind_other(scope, ast->span);
	if (!e)
		return unknown_column(scope, NULL, name, ast->part_spans[at]);
	return at + 1 < ast->n_parts ? bind_members(scope, e, ast, at + 1) : e;
}

struct expr *bind_place(struct scope *scope, const struct ast *ast)
{
	bool is_alias = ast->n_parts == 1 && bind_find_alias(scope, ast->parts[0]);

	if (!is_alias && !is_known(scope, ast))
		for (struct scope *outer = scope->outer; outer; outer = outer->outer)
			if (is_known(outer, ast))
				return bind_name_in(outer, ast);
	return bind_name_in(scope, ast);
}
