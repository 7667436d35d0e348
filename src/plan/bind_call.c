/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Function calls: functions that are rewritten into operators, and SQLite's scalar
 * functions, which only the user part can run.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* --- Arguments --- */

/* A special value is no value to compute with; bind_expr() said so already. */
static const char *what_is_wrong(char takes, const struct expr *x)
{
	if (x->type.kind == TYPE_NULL)
		return NULL;
	switch (takes) {
	case 'p':
		return x->kind != EXPR_INTEGER || x->integer < 1 ? "takes a number from 1 on here"
								 : NULL;
	case 'n':
		return expr_is_text(x) ? "takes a number" : NULL;
	case 'i':
		return expr_is_text(x) || x->type.kind == TYPE_REAL ? "takes a whole number here"
								    : NULL;
	case 'c':
		return expr_is_text(x) ? "needs a condition here" : NULL;
	default:
		return NULL;
	}
}

/* first: of those that must be of one kind */
static bool check_argument(struct scope *scope, const struct sql_function *f, char takes,
			   const struct expr *x, const struct expr **first)
{
	const char *wrong = what_is_wrong(takes, x);

	if (takes == '=' && x->type.kind != TYPE_NULL) {
		if (*first && !bind_fits(scope, arena_printf(scope->arena, "%s()", f->name),
					 x->span, *first, x))
			return false;
		*first = x;
	}
	if (!wrong)
		return true;
	if (takes == 'p')
		return diag_refuse(scope->diags, "wrong-arguments", x->span,
				   "%s() %s" HINT
				   "the number stands in the query: ntile(4), nth_value(x, 2)",
				   f->name, wrong);
	return diag_refuse(scope->diags, "type-mismatch", x->span,
			   "%s() %s, this is a %s" HINT "%s", f->name, wrong,
			   expr_is_text(x) ? "text" : "real number",
			   takes == 'c' ? "compare it: comm = 'nginx'"
			   : x->kind == EXPR_TEXT && strcasecmp(f->name, "time_bucket") == 0
				   ? "a time stands without quotes (100ms), or is written "
				     "INTERVAL '100 ms'"
			   : x->kind == EXPR_TEXT ? "leave the quotes away to write a number"
						  : "CAST(x AS INTEGER) makes a whole number");
}

bool bind_check_arguments(struct scope *scope, const struct sql_function *f, const struct ast *ast,
			  struct expr *const *args)
{
	const struct expr *first = NULL;

	if (ast->distinct || ast->filter)
		return diag_refuse(
			scope->diags, "not-supported", ast->span,
			ast->distinct ? "DISTINCT belongs into an aggregate, and %s() is none" HINT
					"SELECT DISTINCT in a nested select"
				      : "FILTER belongs behind an aggregate, and %s() is none" HINT
					"CASE WHEN ... THEN x END leaves values out",
			ast->text);
	if (ast->star || ast->n_args < f->least || ast->n_args > f->most) {
		bool is_more = !ast->star && ast->n_args > f->most;
		u32 n = is_more ? f->most : f->least;

		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "%s() takes %s%u argument%s", f->name,
				   f->least == f->most ? ""
				   : is_more	       ? "at most "
						       : "at least ",
				   n, n == 1 ? "" : "s");
	}
	for (u32 i = 0; i < ast->n_args; i++)
		if (!check_argument(scope, f, function_takes(f, i), args[i], &first))
			return false;
	return true;
}

/* --- Calls --- */

/*
 * NULL where x is, and looked at first: what is asked for once more behind that did not fault, so a
 * fault of x counts once.
 */
static struct expr *null_with(struct scope *scope, struct span span, struct expr *x,
			      struct expr *otherwise)
{
	if (!otherwise || !x->nullable)
		return otherwise;
	return bind_case_of(scope, span, expr_make(scope->arena, EXPR_IS_NULL, x->span, 1, x),
			    expr_new(scope->arena, EXPR_NULL, span), otherwise);
}

/* The smaller (or larger) of two values. */
static struct expr *extreme_of(struct scope *scope, struct span span, enum ast_op better,
			       struct expr *a, struct expr *b)
{
	struct expr *e = bind_case_of(scope, span, bind_op(scope, better, span, a, b), a, b);

	return null_with(scope, span, a, null_with(scope, span, b, e));
}

/* So many of its lowest bytes, the other way round: from the order of the network. */
static struct expr *swapped(struct scope *scope, struct span span, struct expr *x, u32 bytes)
{
	struct expr *e = NULL;

	for (u32 i = 0; i < bytes; i++) {
		s64 left = 8 * ((s64)bytes - 1 - 2 * i); /* from its place to the new one */
		struct expr *mask = expr_number(scope->arena, span, 255ll << (8 * (bytes - 1 - i)));
		struct expr *byte = bind_op(scope, left < 0 ? OP_SHIFT_RIGHT : OP_SHIFT_LEFT, span,
					    x, expr_number(scope->arena, span, llabs(left)));

		byte = bind_op(scope, OP_BIT_AND, span, byte, mask);
		e = e ? bind_op(scope, OP_BIT_OR, span, e, byte) : byte;
	}
	if (e && type_is_word(e->type))
		e->type = type_int(64, false); /* as of what may be NULL */
	return e;
}

/* abs, min, max, coalesce, ifnull, nullif, iif: CASE in other clothes, so the kernel part has them
 * too. */
static struct expr *bind_rewritten(struct scope *scope, const struct ast *ast, struct expr **x)
{
	const char *f = ast->text;
	struct span span = ast->span;
	u32 n = ast->n_args;

	if (strcasecmp(f, "abs") == 0 && n == 1 && type_is_word(x[0]->type) && x[0]->lo >= 0)
		return x[0];
	if (strcasecmp(f, "abs") == 0 && n == 1)
		return null_with(scope, span, x[0],
				 bind_case_of(scope, span,
					      bind_op(scope, OP_LT, span, x[0],
						      expr_number(scope->arena, span, 0)),
					      bind_op(scope, OP_NEG, span, x[0], NULL), x[0]));
	if ((strcasecmp(f, "min") == 0 || strcasecmp(f, "max") == 0) && n >= 2) {
		struct expr *e = x[0];

		for (u32 i = 1; i < n && e; i++)
			e = extreme_of(scope, span, strcasecmp(f, "min") == 0 ? OP_LE : OP_GE, e,
				       x[i]);
		return e;
	}
	if (strcasecmp(f, "ntohs") == 0)
		return null_with(scope, span, x[0], swapped(scope, span, x[0], 2));
	if (strcasecmp(f, "ntohl") == 0)
		return null_with(scope, span, x[0], swapped(scope, span, x[0], 4));
	if (strcasecmp(f, "iif") == 0 && n == 3)
		return bind_case_of(scope, span, x[0], x[1], x[2]);
	if (strcasecmp(f, "nullif") == 0 && n == 2)
		return null_with(scope, span, x[0],
				 bind_case_of(scope, span, bind_op(scope, OP_EQ, span, x[0], x[1]),
					      expr_new(scope->arena, EXPR_NULL, span), x[0]));
	if ((strcasecmp(f, "coalesce") == 0 && n >= 2) ||
	    (strcasecmp(f, "ifnull") == 0 && n == 2)) {
		struct expr *e = x[n - 1];

		for (u32 i = n - 1; i > 0 && e; i--)
			e = bind_case_of(
				scope, span,
				expr_make(scope->arena, EXPR_IS_NULL, x[i - 1]->span, 1, x[i - 1]),
				e, x[i - 1]);
		return e;
	}
	return NULL;
}

/* p42 -> "0.42", p5 -> "0.05", p9999 -> "0.9999"; NULL for other names. */
static const char *percentile_named(struct scope *scope, const char *name)
{
	size_t n = strspn(name + 1, "0123456789");

	if ((name[0] != 'p' && name[0] != 'P') || !n || n > 9 || name[1 + n])
		return NULL;
	if (strcmp(name + 1, "100") == 0)
		return "1";
	return arena_printf(scope->arena, "0.%s%s", n == 1 ? "0" : "", name + 1);
}

/* What other databases call it, and what it is called here. */
static const char *const foreign[][2] = {
	{ "median", "p50(x) with its bounds, or percentile_cont(0.5) WITHIN GROUP (ORDER BY x)" },
	{ "percentile", "quantile(x, 0.99), or p50 ... p999" },
	{ "percentile_disc", "quantile(x, 0.99), or percentile_cont(q) WITHIN GROUP (ORDER BY x)" },
	{ "approx_percentile", "quantile(x, 0.99), or p50 ... p999" },
	{ "date_trunc", "time_bucket(1s, time) is the time in whole seconds" },
	{ "tumble", "WINDOW TUMBLING 1s at the end of the query" },
	{ "now", "time is that of the event" },
	{ "var_samp", "stddev_samp(x) is its root" },
	{ "var_pop", "stddev_pop(x) is its root" },
	{ "variance", "stddev(x) is its root" },
	{ "count_distinct", "count(DISTINCT x), or approx_count_distinct(x)" },
	{ "uniq", "count(DISTINCT x), or approx_count_distinct(x)" },
	{ "arg_max", "a nested select with ORDER BY and LIMIT 1" },
	{ "argmax", "a nested select with ORDER BY and LIMIT 1" },
	{ "max_by", "a nested select with ORDER BY and LIMIT 1" },
	{ "arg_min", "a nested select with ORDER BY and LIMIT 1" },
	{ "argmin", "a nested select with ORDER BY and LIMIT 1" },
	{ "min_by", "a nested select with ORDER BY and LIMIT 1" },
	{ "any_value", "first(x), or last(x)" },
	{ "string_agg", "group_concat(x, ', ')" },
	{ "columns", "name the columns that are wanted" },
	{ "unnest", "a[0] is an array's element; VALUES (1), (2) are rows" },
	{ "to_timestamp", "time is a TIMESTAMP; strftime('%Y-%m-%d', x, 'unixepoch') of seconds" },
	{ "to_char", "strftime('%H:%M', time / 1s, 'unixepoch')" },
	{ "date_part", "strftime('%H', time / 1s, 'unixepoch') is the hour" },
	{ "epoch", "time / 1s is the time in whole seconds" },
	{ "age", "the difference of two times is a DURATION: time - start_time" },
	{ "date_diff", "the difference of two times is a DURATION: time - start_time" },
	{ "datediff", "the difference of two times is a DURATION: time - start_time" },
	{ "regexp_matches", "x LIKE 'a%', or x GLOB 'a*[0-9]'" },
	{ "regexp_like", "x LIKE 'a%', or x GLOB 'a*[0-9]'" },
	{ "regexp_replace", "replace(x, 'a', 'b')" },
	{ "regexp_extract", "substr(x, 1, instr(x, ':') - 1)" },
	{ "quantile_cont", "quantile(x, 0.99), or percentile_cont(q) WITHIN GROUP (ORDER BY x)" },
	{ "quantile_disc", "quantile(x, 0.99), or percentile_cont(q) WITHIN GROUP (ORDER BY x)" },
	{ "sum_if", "sum(x) FILTER (WHERE condition)" },
	{ "listagg", "group_concat(x, ', ')" },
	{ "concat", "x || y" },
	{ "char_length", "length(x)" },
	{ "nvl", "coalesce(x, y)" },
	{ "isnull", "x IS NULL, or coalesce(x, y)" },
	{ "len", "length(x)" },
	{ "left", "substr(x, 1, n)" },
	{ "right", "substr(x, -n)" },
	{ "strpos", "instr(x, 'a')" },
	{ "if", "iif(condition, x, y), or CASE WHEN condition THEN x ELSE y END" },
	{ "greatest", "max(x, y)" },
	{ "least", "min(x, y)" },
	{ "bucket", "histogram(x, linear(low, high, step)), or x / 100 * 100" },
	{ "width_bucket", "histogram(x, linear(low, high, step))" },
	{ "path", "file_path(x), of a descriptor or a file" },
	{ "hist", "histogram(x)" },
	{ "lhist", "histogram(x, linear(low, high, step))" },
	{ "stats", "count(*), avg(x), sum(x)" },
	{ "ksym", "sym(x)" },
	{ "kstack", "kstack is a column" },
	{ "ustack", "ustack is a column" },
	{ "countif", "count(*) FILTER (WHERE condition)" },
	{ "count_if", "count(*) FILTER (WHERE condition)" },
	{ "sumif", "sum(x) FILTER (WHERE condition)" },
	{ "starts_with", "x LIKE 'a%'" },
	{ "ends_with", "x LIKE '%a'" },
	{ "contains", "x LIKE '%a%'" },
	{ "array_agg", "group_concat(x, ', '), or top_k(x, 10)" },
	{ "list", "group_concat(x, ', '), or top_k(x, 10)" },
	{ "bool_and", "min(condition)" },
	{ "bool_or", "max(condition)" },
	{ "every", "min(condition)" },
	{ "mode", "top_k(x, 1)" },
	{ "version", "\"ebql version\" tells it" },
	{ "generate_series", "VALUES (1), (2) are rows" },
	{ "unixepoch", "time / 1s is the time in whole seconds" },
};

/* What is read where the event is. */
static const struct {
	const char *name;
	struct expr *(*bind)(struct scope *scope, const struct ast *ast);
} reads[] = { { "str", bind_str },
	      { "strs", bind_strs },
	      { "user", bind_user },
	      { "container_of", bind_container_of },
	      { "file_name", bind_file_name },
	      { "file_path", bind_file_path } };

const char *read_name_at(u32 i)
{
	return i < ARRAY_SIZE(reads) ? reads[i].name : NULL;
}

static bool bind_read(struct scope *scope, const struct ast *ast, struct expr **ret_expr)
{
	for (u32 i = 0; i < ARRAY_SIZE(reads); i++) {
		if (strcasecmp(reads[i].name, ast->text) != 0)
			continue;
		*ret_expr = ast->star || ast->distinct || ast->filter
				    ? diag_refuse(scope->diags, "wrong-arguments", ast->span,
						  "%s() takes plain arguments", ast->text)
				    : reads[i].bind(scope, ast);
		return true;
	}
	return false;
}

static const char *const of_processes[] = { "target_pid", "target_tree", "pid_in_ns" };

struct expr *bind_unknown_function(struct scope *scope, const struct ast *ast, bool is_window)
{
	struct suggest suggest;
	struct diag *d;

	for (u32 i = 0; i < ARRAY_SIZE(foreign); i++)
		if (strcasecmp(foreign[i][0], ast->text) == 0)
			return diag_refuse(scope->diags, "unknown-function", ast->span,
					   "there is no function \"%s\"" HINT "%s", ast->text,
					   foreign[i][1]);
	suggest_init(&suggest, ast->text);
	for (u32 i = 0; aggregate_name_at(i); i++)
		suggest_offer(&suggest, aggregate_name_at(i));
	function_suggest(&suggest, is_window);
	for (u32 i = 0; !is_window && read_name_at(i); i++)
		suggest_offer(&suggest, read_name_at(i));
	for (u32 i = 0; i < ARRAY_SIZE(of_processes) && !is_window; i++)
		suggest_offer(&suggest, of_processes[i]);
	d = diag_error(scope->diags, "unknown-function", ast->span, "there is no %sfunction \"%s\"",
		       is_window ? "window " : "", ast->text);
	if (percentile_named(scope, ast->text))
		diag_hint(scope->diags, d,
			  "write quantile(x, %s); there are p50, p90, p95, p99, p999",
			  percentile_named(scope, ast->text));
	else if (suggest_best(&suggest))
		diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	return NULL;
}

static bool takes_nothing(struct scope *scope, const struct ast *ast)
{
	if (!ast->n_args && !ast->star && !ast->distinct && !ast->filter)
		return true;
	return diag_refuse(scope->diags, "wrong-arguments", ast->span,
			   "%s() takes no arguments" HINT "-p PID and -- COMMAND name the process",
			   ast->text);
}

static struct expr *bind_target_pid(struct scope *scope, const struct ast *ast)
{
	if (!takes_nothing(scope, ast))
		return NULL;
	scope->settings->is_target_used = true;
	if (scope->settings->target_pid >= 0)
		return expr_integer(scope->arena, ast->span, type_int(32, true),
				    scope->settings->target_pid);
	return diag_refuse(scope->diags, "no-target", ast->span,
			   "no target process is named" HINT "name one by -p PID or -- COMMAND");
}

/* Of a process that runs: itself, and what is below it. */
static struct expr *bind_tree_of(struct scope *scope, const struct ast *ast, s32 pid)
{
	u64 ino = catalog_pid_ns(scope->catalog).ino;
	struct expr *own, *below;

	if (ino && ino != PID_NS_INITIAL)
		return diag_refuse(
			scope->diags, "no-target", ast->span,
			"parents have numbers of the initial PID namespace, which is not "
			"ebql's" HINT "-- COMMAND starts a tree that it can tell");
	own = bind_pid_in(scope, ast->text, ino, ast->span);
	below = own ? bind_tree(scope, pid, ast->span) : NULL;
	if (!below)
		return NULL;
	scope->settings->is_target_used = true;
	return bind_op(scope, OP_OR, ast->span,
		       bind_op(scope, OP_EQ, ast->span, own,
			       expr_integer(scope->arena, ast->span, type_int(32, true), pid)),
		       below);
}

/* Their parents are what tells: of a command they all lead to us, since we adopt its orphans. */
static struct expr *bind_target_tree(struct scope *scope, const struct ast *ast)
{
	s32 pid = scope->settings->target_pid;

	if (!takes_nothing(scope, ast))
		return NULL;
	if (scope->settings->target_parent >= 0) {
		scope->settings->is_tree_used = true;
		return bind_tree(scope, scope->settings->target_parent, ast->span);
	}
	if (pid < 0)
		return diag_refuse(scope->diags, "no-target", ast->span,
				   "there is no command, of whose processes it is" HINT
				   "start it by -- COMMAND, or name by -p PID one that runs");
	return bind_tree_of(scope, ast, pid);
}

/* pid_in_ns(dev, ino) */
static struct expr *bind_pid_in_ns(struct scope *scope, const struct ast *ast)
{
	struct pid_ns own = catalog_pid_ns(scope->catalog);
	struct expr **x = bind_exprs(scope, ast->args, ast->n_args);

	if (!x)
		return NULL;
	if (ast->star || ast->distinct || ast->filter || ast->n_args != 2 ||
	    x[0]->kind != EXPR_INTEGER || x[1]->kind != EXPR_INTEGER)
		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "%s() takes the two numbers of a PID namespace" HINT
				   "stat -Lc '%%d, %%i' /proc/PID/ns/pid prints them",
				   ast->text);
	/* Namespaces are files of one file system of the kernel's own. */
	if ((own.dev && x[0]->integer != own.dev) || x[1]->integer < 1 ||
	    x[1]->integer > UINT32_MAX)
		return diag_refuse(scope->diags, "unknown-namespace", ast->span,
				   "there is no such PID namespace" HINT
				   "stat -Lc '%%d, %%i' /proc/PID/ns/pid prints a process' own");
	return bind_pid_in(scope, ast->text, (u64)x[1]->integer, ast->span);
}

/* What only user space computes is computed once, by SQLite's own function. */
static bool is_rewritable(struct scope *scope, const struct ast *ast, struct expr *const *args)
{
	if (strcasecmp(ast->text, "iif") == 0 || strncasecmp(ast->text, "ntoh", 4) == 0)
		return true;
	for (u32 i = 0; i < ast->n_args; i++)
		if (args[i]->is_user_only || args[i]->type.kind == TYPE_TEXT ||
		    (args[i]->type.kind == TYPE_NULL && !bind_is_empty(scope, args[i])))
			return false;
	return true;
}

static struct expr *needs_over(struct scope *scope, const struct ast *ast)
{
	return diag_refuse(scope->diags, "needs-over", ast->span,
			   "%s() looks at other rows" HINT
			   "say which: %s() OVER (PARTITION BY ... ORDER BY ...)",
			   ast->text, ast->text);
}

/* SQLite would take the nanoseconds for days, of which no date has so many: NULL. */
static struct expr *date_of_time(struct scope *scope, const struct ast *ast, const struct ast *time)
{
	return diag_refuse(scope->diags, "type-mismatch", time->span,
			   "%s() counts in days or seconds, and a time in nanoseconds" HINT
			   "%s(%sx / 1s, 'unixepoch')",
			   ast->text, ast->text, time == ast->args[0] ? "" : "'%Y-%m-%d', ");
}

/* time_bucket(width, x): the multiple of the width that x is in. */
static struct expr *bind_time_bucket(struct scope *scope, const struct ast *ast, struct expr **args)
{
	struct expr *x = bind_real_time(scope->arena, args[1]);

	if (args[0]->type.kind == TYPE_TIMESTAMP || args[0]->hi < 1)
		return diag_refuse(scope->diags, "wrong-arguments", ast->args[0]->span,
				   "a bucket is wider than 0, and no instant" HINT
				   "the width comes first: time_bucket(1s, time)");
	return bind_op(scope, OP_SUB, ast->span, x, bind_op(scope, OP_MOD, ast->span, x, args[0]));
}

/* The last day that SQLite has a date of, 9999-12-31, counted as it counts numbers. */
#define LAST_DAY 5373484

static bool is_divided(const struct ast *x)
{
	for (u32 i = 0; i < x->n_args; i++)
		if (x->args[i] && is_divided(x->args[i]))
			return true;
	return x->kind == AST_BINARY && x->op == OP_DIV;
}

/* x / 1000000000 is a DURATION too, and a column of a select within may be one so divided. */
static bool may_be_seconds(struct scope *scope, const struct ast *ast, const struct expr *x)
{
	if (x->kind == EXPR_AGGREGATE && x->index < scope->aggregates.n &&
	    scope->aggregates.at[x->index].arg)
		return may_be_seconds(scope, ast, scope->aggregates.at[x->index].arg);
	for (u32 i = 0; i < x->n_args; i++)
		if (may_be_seconds(scope, ast, x->args[i]))
			return true;
	return x->kind == EXPR_COLUMN || (x->kind == EXPR_OP && x->op == OP_DIV) || is_divided(ast);
}

/* GROUP BY time(1s) is what others write for a bucket. */
static void warn_nanoseconds(struct scope *scope, const struct ast *ast, const struct ast *x,
			     bool is_said)
{
	bool is_time = strcasecmp(ast->text, "time") == 0 && !is_said;

	diag_hint(scope->diags,
		  diag_warning(scope->diags, "not-unixepoch", x->span,
			       "%s() takes a number for %s, and this is one of nanoseconds",
			       ast->text, is_said ? "seconds here" : "a day since 4714 BC"),
		  is_said   ? "x / 1s is a number of seconds"
		  : is_time ? "time_bucket(1s, time) is the time in steps of 1s"
			    : "x / 1s is a number of seconds, 'unixepoch' says that they are");
}

/* A number of seconds is a day that no calendar has, and so NULL, unless it is said what it is. */
static void warn_days(struct scope *scope, const struct ast *ast, struct expr *const *args)
{
	u32 at = strcasecmp(ast->text, "strftime") == 0, next = at + 1;
	const struct ast *said = next < ast->n_args ? ast->args[next] : NULL;

	bool is_said =
		said && (said->kind != AST_TEXT || strcasecmp(said->text, "unixepoch") == 0 ||
			 strcasecmp(said->text, "auto") == 0);

	if (at < ast->n_args && args[at]->type.kind == TYPE_DURATION &&
	    !(is_said && may_be_seconds(scope, ast->args[at], args[at])))
		warn_nanoseconds(scope, ast, ast->args[at], is_said);
	if (at >= ast->n_args || args[at]->type.kind != TYPE_INT || args[at]->hi <= LAST_DAY ||
	    is_said)
		return;
	diag_hint(scope->diags,
		  diag_warning(scope->diags, "not-unixepoch", ast->args[at]->span,
			       "%s() takes a number for a day since 4714 BC: of seconds it is NULL",
			       ast->text),
		  "%s(%sx, 'unixepoch') is of seconds since 1970", ast->text,
		  at ? "'%Y-%m-%d', " : "");
}

struct expr *bind_call(struct scope *scope, const struct ast *ast)
{
	struct aggregate_name aggregate;
	u32 n_errors = scope->diags->n_errors;
	const struct sql_function *f;
	struct expr *e, **args;

	if (ast->is_over)
		return bind_over(scope, ast);
	if (bind_find_aggregate(ast, &aggregate))
		return aggregate_infos[aggregate.kind].takes == TAKES_SCHEME
			       ? bind_statistic(scope, ast, &aggregate)
			       : bind_aggregate(scope, ast, &aggregate);
	if (strcasecmp(ast->text, "unnest") == 0)
		return diag_refuse(scope->diags, "unnest-here", ast->span,
				   "UNNEST() is a whole item of the SELECT list" HINT
				   "SELECT comm, UNNEST(histogram(latency)) ... GROUP BY comm");
	if (strcasecmp(ast->text, "target_pid") == 0)
		return bind_target_pid(scope, ast);
	if (strcasecmp(ast->text, "target_tree") == 0)
		return bind_target_tree(scope, ast);
	if (strcasecmp(ast->text, "pid_in_ns") == 0)
		return bind_pid_in_ns(scope, ast);
	if (strcasecmp(ast->text, "kstack") == 0)
		return bind_stack(scope, ast, SYS_KSTACK);
	if (strcasecmp(ast->text, "ustack") == 0)
		return bind_stack(scope, ast, SYS_USTACK);
	if (bind_read(scope, ast, &e) || bind_naming(scope, ast, &e))
		return e;
	args = bind_exprs(scope, ast->args, ast->n_args);
	if (!args)
		return NULL;
	f = function_find(ast->text, false);
	if (!f && function_find(ast->text, true))
		return needs_over(scope, ast);
	if (!f)
		return bind_unknown_function(scope, ast, false);
	if (!bind_check_arguments(scope, f, ast, args))
		return NULL;
	if (strcasecmp(f->name, "time_bucket") == 0)
		return bind_time_bucket(scope, ast, args);
	for (u32 i = 0; i < ast->n_args; i++) {
		if (function_takes(f, i) != 'd')
			continue;
		if (args[i]->type.kind == TYPE_TIMESTAMP)
			return date_of_time(scope, ast, ast->args[i]);
		args[i] = bind_real_time(scope->arena, args[i]);
	}
	bind_meet_clocks(scope->arena, args, ast->n_args);
	if (function_takes(f, 0) == 'd')
		warn_days(scope, ast, args);
	if (is_rewritable(scope, ast, args)) {
		e = bind_rewritten(scope, ast, args);
		if (e || scope->diags->n_errors > n_errors)
			return e;
	}
	return expr_call(scope->arena, f, ast->span, args, ast->n_args);
}
