/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * syscall:NAME -> sys_exit_NAME PAIR JOIN sys_enter_NAME on the thread, with the
 * columns of a completed call: its arguments, ret, nr, latency, start_time.  A
 * thread is in one system call at a time, so starts never nest.  A wildcard stands
 * for all calls that have both tracepoints.  A new thread's return from the call that
 * made it is no end: it never entered.
 */
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

#define ENTER  "sys_enter_"
#define EXIT   "sys_exit_"
#define ENTERS "tracepoint:syscalls:" ENTER

bool bind_is_span(const struct ast_source *source)
{
	return source->kind == AST_SOURCE_STREAM && strcasecmp(source->path[0], "syscall") == 0;
}

const char *bind_span_comment(const struct ast_source *source, struct arena *arena)
{
	static const char *const common =
		"a call, from its entry to its return, under the number that the kernel takes\n"
		"\n"
		"That is the lower half of rax, or what a tracer made of it (ptrace).\n"
		"No row, however it is read: calls of 32-bit programs and by int $0x80, whose\n"
		"numbers mean others; what the vDSO answers, or syscall user dispatch takes; what\n"
		"io_uring does for a program, which passes no system call.\n"
		"A call that seccomp denies or a tracer emulates (PTRACE_SYSEMU) returns and never\n"
		"entered: it is no row, but an end that is unpaired.\n"
		"What a signal interrupts returns -512 to -516 here, also where the program is told\n"
		"EINTR; restarted by the kernel it is one more row, after -516 of restart_syscall.\n";
	static const char *const of_exec =
		"execve from a thread that is not the leader returns with the leader's tid: a row\n"
		"where raw tracepoints are read, an unpaired entry and return with\n"
		"SET access_path = tracepoint.  Where it starts a 32-bit program it has an entry\n"
		"and no return; execveat returns as execve.\n";
	bool has_exec = fnmatch(source->path[1], "execve", FNM_CASEFOLD) == 0 ||
			fnmatch(source->path[1], "execveat", FNM_CASEFOLD) == 0;

	return arena_printf(arena, "%s%s", common, has_exec ? of_exec : "");
}

/* What a call's name may have been meant to be. */
struct calls {
	struct suggest suggest;
	/* pread64 for pread, which by distance alone would be read: what the C library calls so */
	const char *numbered;
};

static void offer_call(void *context, const char *name)
{
	struct calls *calls = context;
	const char *call = name + strlen(ENTERS), *wanted = calls->suggest.wanted;
	size_t n = strlen(wanted);

	suggest_offer(&calls->suggest, call);
	if (n && strncmp(call, wanted, n) == 0 &&
	    strspn(call + n, "0123456789") == strlen(call + n))
		calls->numbered = call;
}

static struct plan *unknown_call(struct scope *scope, const struct ast_source *source)
{
	bool is_ours = diags_is_ours(scope->diags, source->span);
	struct calls calls = { 0 };
	const char *best;
	struct diag *d;

	suggest_init(&calls.suggest, source->path[1]);
	catalog_each(scope->catalog, ENTERS "*", offer_call, &calls);
	best = calls.numbered ? calls.numbered : suggest_best(&calls.suggest);
	d = diag_add(scope->diags, is_ours ? DIAG_FAILURE : DIAG_ERROR, "unknown-stream",
		     source->span, "there is no system call \"%s\" with tracepoints%s",
		     source->path[1], is_ours ? " here" : "");
	if (is_ours)
		diag_hint(scope->diags, d,
			  "this kind of machine, or this kernel, has none; nothing is wrong with "
			  "the query");
	else if (best)
		diag_hint(scope->diags, d, "did you mean \"syscall:%s\"?", best);
	else
		diag_hint(scope->diags, d, "\"ebql list sys_enter\" shows them all");
	return NULL;
}

/* The tracepoints of that end.  A name that is not there says nothing; *ret_failed for the rest. */
static struct stream_list *find_end(struct scope *scope, const struct ast_source *source,
				    const char *end, bool *ret_failed)
{
	const char *path[3] = { "tracepoint", "syscalls",
				arena_printf(scope->arena, "%s%s", end, source->path[1]) };
	struct stream_list *list;
	struct diags quiet;

	diags_init(&quiet, scope->arena, scope->diags->file, scope->diags->text,
		   scope->diags->text_bytes);
	*ret_failed = catalog_look_up(scope->catalog, path, 3, source->span, &quiet, &list) ==
		      FIND_FAILED;
	if (*ret_failed)
		catalog_find(scope->catalog, path, 3, source->span, scope->diags);
	return list;
}

static struct stream *list_find(const struct stream_list *list, const char *event)
{
	for (u32 i = 0; i < list->streams.n; i++)
		if (strcmp(list->streams.at[i]->event, event) == 0)
			return list->streams.at[i];
	return NULL;
}

/*
 * Calls that never complete: the thread ends in them, or, for sigreturn, comes out of the
 * call that the signal had interrupted.  Named alone they are a span of nothing; a
 * wildcard leaves them away, since each would be a start without an end.
 */
static bool never_returns(const char *call)
{
	return strcmp(call, "exit") == 0 || strcmp(call, "exit_group") == 0 ||
	       strcmp(call, "rt_sigreturn") == 0;
}

/* The exits are named after the span: their names are what `probe` shows. */
static void pair_ends(struct scope *scope, const struct stream_list *exits,
		      const struct stream_list *enters, struct stream_list *ret_exits,
		      struct stream_list *ret_enters)
{
	for (u32 i = 0; i < exits->streams.n; i++) {
		struct stream *exit = exits->streams.at[i];
		const char *call = exit->event + strlen(EXIT);
		struct stream *enter =
			list_find(enters, arena_printf(scope->arena, ENTER "%s", call));
		struct stream *named;

		if (!enter || (exits->is_wildcard && never_returns(call)))
			continue;
		named = arena_new(scope->arena, struct stream);
		*named = *exit;
		named->name = arena_printf(scope->arena, "syscall:%s", call);
		vec_push(scope->arena, &ret_exits->streams, named);
		vec_push(scope->arena, &ret_enters->streams, enter);
	}
	ret_exits->is_wildcard = exits->is_wildcard;
	ret_enters->is_wildcard = enters->is_wildcard;
}

static bool makes_threads(const char *call)
{
	static const char *const calls[] = { "clone", "clone3", "fork", "vfork" };

	for (u32 i = 0; i < ARRAY_SIZE(calls); i++)
		if (strcmp(call, calls[i]) == 0)
			return true;
	return false;
}

/* Is it one of the calls that make threads?  NULL: none of the list's calls is. */
static struct expr *is_making(struct scope *scope, const struct from_member *exit, struct span span)
{
	const struct stream_list *list = exit->streams;
	struct expr *in = expr_new(scope->arena, EXPR_IN, span);

	in->args = arena_array(scope->arena, struct expr *, list->streams.n + 1);
	in->args[in->n_args++] = bind_column(scope, exit, "__syscall_nr", span);
	for (u32 i = 0; i < list->streams.n; i++) {
		const char *call = list->streams.at[i]->event + strlen(EXIT);
		s32 nr = makes_threads(call) ? list->streams.at[i]->syscall_nr : -1;

		if (nr >= 0)
			in->args[in->n_args++] = expr_number(scope->arena, span, nr);
	}
	if (!in->args[0] || in->n_args == 1)
		return NULL;
	if (in->n_args == 2)
		return bind_op(scope, OP_EQ, span, in->args[0], in->args[1]);
	expr_infer(in);
	return in;
}

/*
 * The exits without those of new threads: clone and its like return 0 there, and a
 * thread's number, or an error below 0, to the thread that called.
 */
static struct plan *without_children(struct scope *scope, const struct from_member *exit,
				     struct span span)
{
	struct expr *making = is_making(scope, exit, span), *zero, *is_end;
	struct expr *ret = bind_column(scope, exit, "ret", span);

	if (!making || !ret)
		return exit->tree;
	zero = expr_number(scope->arena, span, 0);
	if (exit->streams->is_wildcard)
		is_end = bind_op(scope, OP_NOT, span,
				 bind_op(scope, OP_AND, span,
					 bind_op(scope, OP_EQ, span, ret, zero), making),
				 NULL);
	else
		is_end = bind_op(scope, OP_NE, span, ret, zero);
	return plan_filter(scope->arena, exit->tree, &is_end, 1);
}

/* A name that is taken is one of the call's arguments: it stays theirs. */
static void add_column(struct scope *scope, item_vec *columns, const char *name, struct expr *e,
		       const char *meaning)
{
	for (u32 i = 0; i < columns->n; i++)
		if (strcasecmp(columns->at[i].name, name) == 0)
			return;
	if (e)
		vec_push(scope->arena, columns,
			 (struct item){ .name = name, .expr = e, .meaning = meaning });
}

static void add_arguments(struct scope *scope, item_vec *columns, const struct from_member *enter,
			  struct span span)
{
	for (u32 i = 0; i < enter->columns.n; i++) {
		const struct item *column = &enter->columns.at[i];

		if (strcmp(column->name, "__syscall_nr") != 0 && bind_is_value(scope, column->expr))
			add_column(scope, columns, column->name,
				   bind_column_at(scope, enter, i, span), column->meaning);
	}
}

void bind_span_member(struct scope *scope, const struct ast_source *source,
		      const struct from_member *exit, const struct from_member *enter,
		      struct plan *join)
{
	struct span span = source->span;
	bool is_one = !exit->streams->is_wildcard;
	struct from_member r = {
		.tree = join, .source = exit->source, .has_system = true, .is_call = enter->is_call
	};
	struct expr *latency =
		bind_op(scope, OP_SUB, span, bind_system(scope, exit, SYS_TIME, span),
			bind_system(scope, enter, SYS_TIME, span));

	add_arguments(scope, &r.columns, enter, span);
	add_column(scope, &r.columns, "ret", bind_column(scope, exit, "ret", span),
		   "what the call returned");
	add_column(scope, &r.columns, "nr", bind_column(scope, exit, "__syscall_nr", span),
		   "the number of the call: syscall_name(nr)");
	add_column(scope, &r.columns, "latency", latency, "from its entry to its return");
	add_column(scope, &r.columns, "start_time", bind_system(scope, enter, SYS_TIME, span),
		   "when it was entered");
	r.name = source->alias ? source->alias : is_one ? source->path[1] : NULL;
	r.written = source->written;
	vec_push(scope->arena, &scope->members, r);
}

/* By the kernel's own number: threads outside of ebql's PID namespace have no other. */
static struct expr *thread_of(struct scope *scope, const struct from_member *of, struct span span)
{
	struct expr *tid = bind_system(scope, of, SYS_TID, span);

	tid->pid_ns = 0;
	tid->nullable = of->is_nullable;
	return tid;
}

struct plan *bind_span(struct scope *scope, const struct ast_source *source)
{
	struct stream_list *exits, *enters, *exit_list, *enter_list;
	struct plan *exit_scan, *enter_scan, *join;
	struct from_member exit, enter;
	bool failed;

	if (source->n_path != 2)
		return diag_refuse(scope->diags, "unknown-stream", source->span,
				   "a system call's span is called syscall:NAME" HINT
				   "for example syscall:pread64, or syscall:* for all");
	exits = find_end(scope, source, EXIT, &failed);
	enters = exits ? find_end(scope, source, ENTER, &failed) : NULL;
	if (failed)
		return NULL;
	if (!enters)
		return unknown_call(scope, source);
	exit_list = arena_new(scope->arena, struct stream_list);
	enter_list = arena_new(scope->arena, struct stream_list);
	pair_ends(scope, exits, enters, exit_list, enter_list);
	if (!exit_list->streams.n)
		return unknown_call(scope, source);
	if (!exit_list->is_wildcard && !scope->is_shipped &&
	    never_returns(exit_list->streams.at[0]->event + strlen(EXIT)))
		diag_hint(scope->diags,
			  diag_warning(scope->diags, "never-returns", source->span,
				       "%s never completes, so this span has no rows",
				       source->written),
			  "its entry is " ENTERS "%s",
			  exit_list->streams.at[0]->event + strlen(EXIT));
	exit_scan = bind_scan(scope, exit_list, source->alias, source->span);
	enter_scan = exit_scan ? bind_scan(scope, enter_list, NULL, source->span) : NULL;
	if (!enter_scan)
		return NULL;
	exit = bind_stream_member(scope, exit_scan);
	enter = bind_stream_member(scope, enter_scan);
	join = bind_join_new(scope, JOIN_PAIR, without_children(scope, &exit, source->span),
			     enter_scan, source->span);
	join->join.keys = arena_array(scope->arena, struct join_key, 1);
	join->join.keys[0] = (struct join_key){ thread_of(scope, &exit, source->span),
						thread_of(scope, &enter, source->span) };
	join->join.n_keys = 1;
	bind_span_member(scope, source, &exit, &enter, join);
	return join;
}
