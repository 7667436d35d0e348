/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The columns that every event of the kernel has: by name, and those that take arguments:
 * pid_in_ns(dev, ino), kstack(n), ustack(n).
 */
#include <strings.h>

#include "plan/bind.h"

struct expr *bind_column_expr(struct scope *scope, enum expr_kind kind, const char *name, u32 index,
			      struct type type, struct span span)
{
	struct expr *e = expr_new(scope->arena, kind, span);

	e->name = name;
	e->index = index;
	expr_set_type(e, type);
	return e;
}

/* The number in that PID namespace, which processes outside of it have not. */
static void number_in(struct expr *e, u64 ino)
{
	if (!ino || ino == PID_NS_INITIAL)
		return;
	e->pid_ns = (u32)ino;
	e->nullable = true;
}

/* A stack of so many calls at most; its process is numbered as `pid` is, one that has none is 0. */
static void set_depth(struct scope *scope, struct expr *e, u32 depth)
{
	bool is_nullable = e->nullable;

	e->integer = depth;
	if (e->index == SYS_USTACK)
		number_in(e, catalog_pid_ns(scope->catalog).ino);
	e->nullable = is_nullable;
}

struct expr *bind_system(struct scope *scope, const struct from_member *member,
			 enum system_column column, struct span span)
{
	struct expr *e;

	if (!member->has_system)
		return NULL;
	e = bind_column_expr(scope, EXPR_SYSTEM, system_columns[column].name, column,
			     system_columns[column].type, span);
	e->source = member->source;
	e->nullable = member->is_nullable;
	if (member->is_real && column == SYS_TIME)
		e->type.clock = CLOCK_REAL;
	if (column == SYS_PID || column == SYS_TID || column == SYS_PPID)
		number_in(e, catalog_pid_ns(scope->catalog).ino);
	if (expr_is_stack(e))
		set_depth(scope, e, STACK_DEPTH_MAX);
	return e;
}

int bind_system_find(const char *name)
{
	for (int i = 0; i < SYS_SHOWN; i++)
		if (strcasecmp(system_columns[i].name, name) == 0)
			return i;
	return -1;
}

const struct from_member *bind_system_member(struct scope *scope, const char *name, u32 *ret_n)
{
	const struct from_member *found = NULL, *r;

	*ret_n = 0;
	for (u32 i = scope->first_member; i < scope->members.n; i++) {
		r = &scope->members.at[i];
		if (i > scope->first_member && r->leaf == (r - 1)->leaf)
			continue;
		if (!r->has_system || (name && bind_is_merged(scope, r, name)))
			continue;
		found = found ? found : r;
		(*ret_n)++;
	}
	return found;
}

struct expr *bind_of_event(struct scope *scope, const char *function, enum system_column column,
			   struct span span)
{
	u32 n;
	const struct from_member *of = bind_system_member(scope, NULL, &n);

	if (n == 1)
		return bind_system(scope, of, column, span);
	return diag_refuse(scope->diags, n ? "ambiguous-column" : "unknown-column", span,
			   "%s() is of one stream's event, and here %s" HINT "%s", function,
			   n ? "are several" : "is none",
			   n ? "name its result in a nested select over the stream"
			     : "views and recordings have the columns that their select names, as "
			       "pid, for pid = target_pid(); ask in a select over the stream");
}

struct expr *bind_pid_in(struct scope *scope, const char *function, u64 ino, struct span span)
{
	struct expr *e = bind_of_event(scope, function, SYS_PID, span);

	if (!e)
		return NULL;
	e->nullable &= !e->pid_ns;
	e->pid_ns = 0;
	number_in(e, ino);
	if (e->pid_ns)
		e->name = arena_printf(scope->arena, "%s in pid:[%u]", e->name, e->pid_ns);
	return e;
}

struct expr *bind_tree(struct scope *scope, s32 parent, struct span span)
{
	struct expr *e = bind_of_event(scope, "target_tree", SYS_TREE, span);

	if (!e)
		return NULL;
	e->integer = parent;
	e->nullable = true;
	return e;
}

struct expr *bind_stack(struct scope *scope, const struct ast *ast, enum system_column column)
{
	const struct ast *depth = ast->n_args == 1 ? ast->args[0] : NULL;
	struct expr *e;

	if (ast->star || ast->distinct || ast->filter || !depth || depth->kind != AST_INTEGER ||
	    depth->integer < 1 || depth->integer > STACK_DEPTH_MAX)
		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "%s() takes how many calls it has at most, 1 to %u" HINT
				   "for example %s(5); %s alone has all of them",
				   ast->text, STACK_DEPTH_MAX, ast->text, ast->text);
	e = bind_of_event(scope, ast->text, column, ast->span);
	if (!e)
		return NULL;
	set_depth(scope, e, (u32)depth->integer);
	e->name = arena_printf(scope->arena, "%s(%u)", e->name, (u32)depth->integer);
	return e;
}
