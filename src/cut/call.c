/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Function calls -> SQLite's SQL: the aggregates of the language by the functions of
 * func/, SQLite's own scalar and window functions by their names.
 */
#include <string.h>
#include <strings.h>

#include "cut/internal.h"

#define TYPE_OF_ARGS TYPE_N_KINDS
enum { TYPE_N_KINDS = 200 }; /* the result is of the arguments' type */

/* SQLite's functions that go through as they are. */
static const struct function {
	const char *name;
	u8 least, most, kind;
	const char *printed; /* NULL: name */
	bool takes_big;	     /* its arguments are only compared and handed on */
	const struct aggregate_info *aggregate;
} scalars[] = {
	{ "abs", 1, 1, TYPE_OF_ARGS, "eb_abs", true },
	{ "coalesce", 2, 99, TYPE_OF_ARGS, NULL, true },
	{ "ifnull", 2, 2, TYPE_OF_ARGS, NULL, true },
	{ "nullif", 2, 2, TYPE_OF_ARGS, NULL, true },
	{ "iif", 3, 3, TYPE_OF_ARGS, NULL, true },
	{ "min", 2, 99, TYPE_OF_ARGS, NULL, true },
	{ "max", 2, 99, TYPE_OF_ARGS, NULL, true },
	{ "round", 1, 2, TYPE_REAL, NULL, false },
	{ "ceil", 1, 1, TYPE_OF_ARGS, NULL, false },
	{ "ceiling", 1, 1, TYPE_OF_ARGS, NULL, false },
	{ "floor", 1, 1, TYPE_OF_ARGS, NULL, false },
	{ "sqrt", 1, 1, TYPE_REAL, NULL, false },
	{ "pow", 2, 2, TYPE_REAL, NULL, false },
	{ "power", 2, 2, TYPE_REAL, NULL, false },
	{ "exp", 1, 1, TYPE_REAL, NULL, false },
	{ "ln", 1, 1, TYPE_REAL, NULL, false },
	{ "log10", 1, 1, TYPE_REAL, NULL, false },
	{ "log2", 1, 1, TYPE_REAL, NULL, false },
	{ "upper", 1, 1, TYPE_TEXT, NULL, false },
	{ "lower", 1, 1, TYPE_TEXT, NULL, false },
	{ "trim", 1, 2, TYPE_TEXT, NULL, false },
	{ "ltrim", 1, 2, TYPE_TEXT, NULL, false },
	{ "rtrim", 1, 2, TYPE_TEXT, NULL, false },
	{ "substr", 2, 3, TYPE_TEXT, NULL, false },
	{ "substring", 2, 3, TYPE_TEXT, NULL, false },
	{ "replace", 3, 3, TYPE_TEXT, NULL, false },
	{ "char", 1, 99, TYPE_TEXT, NULL, false },
	{ "printf", 1, 99, TYPE_TEXT, NULL, false },
	{ "format", 1, 99, TYPE_TEXT, NULL, false },
	{ "hex", 1, 1, TYPE_TEXT, NULL, false },
	{ "quote", 1, 1, TYPE_TEXT, NULL, false },
	{ "typeof", 1, 1, TYPE_TEXT, NULL, false },
	{ "length", 1, 1, TYPE_INT, NULL, false },
	{ "instr", 2, 2, TYPE_INT, NULL, false },
	{ "unicode", 1, 1, TYPE_INT, NULL, false },
	{ "sign", 1, 1, TYPE_INT, NULL, false },
	{ "date", 0, 9, TYPE_TEXT, NULL, false },
	{ "time", 0, 9, TYPE_TEXT, NULL, false },
	{ "datetime", 0, 9, TYPE_TEXT, NULL, false },
	{ "julianday", 0, 9, TYPE_REAL, NULL, false },
	{ "unixepoch", 0, 9, TYPE_INT, NULL, false },
	{ "strftime", 1, 9, TYPE_TEXT, NULL, false },
	{ "syscall_name", 1, 1, TYPE_TEXT, NULL, false },
	{ "task_state", 1, 1, TYPE_TEXT, NULL, false },
	{ "softirq_name", 1, 1, TYPE_TEXT, NULL, false },
	{ "device_name", 1, 1, TYPE_TEXT, NULL, false },
	{ "tcp_state", 1, 1, TYPE_TEXT, NULL, false },
};

static const struct function windows[] = {
	{ "row_number", 0, 0, TYPE_INT },      { "rank", 0, 0, TYPE_INT },
	{ "dense_rank", 0, 0, TYPE_INT },      { "ntile", 1, 1, TYPE_INT },
	{ "percent_rank", 0, 0, TYPE_REAL },   { "cume_dist", 0, 0, TYPE_REAL },
	{ "lag", 1, 3, TYPE_OF_ARGS },	       { "lead", 1, 3, TYPE_OF_ARGS },
	{ "first_value", 1, 1, TYPE_OF_ARGS }, { "last_value", 1, 1, TYPE_OF_ARGS },
	{ "nth_value", 2, 2, TYPE_OF_ARGS },
};

static const struct function *find(const struct function *list, size_t n, const struct ast *ast)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(list[i].name, ast->text) == 0 &&
		    (list != scalars || ast->n_args > 1 ||
		     (strcmp(list[i].name, "min") != 0 && strcmp(list[i].name, "max") != 0)))
			return &list[i];
	return NULL;
}

/* An aggregate that is one function of SQLite's: there is nothing to be bound. */
static bool find_aggregate(const struct ast *ast, struct function *ret_function)
{
	const struct aggregate_info *info;
	struct aggregate_name name;

	if (!aggregate_find(ast->text, &name) || !aggregate_infos[name.kind].sql)
		return false;
	info = &aggregate_infos[name.kind];
	*ret_function = (struct function){ .name = info->name,
					   .least = name.kind == AGGREGATE_COUNT ? 0 : 1,
					   .most = MAX(info->sql_args_max, 1),
					   .kind = (u8)TYPE_OF_ARGS,
					   .printed = info->sql,
					   .takes_big = !info->sql_takes_i64,
					   .aggregate = info };
	return ast->n_args <= ret_function->most;
}

bool cut_is_aggregate(const struct ast *ast)
{
	struct function f;

	return ast->kind == AST_CALL && !ast->is_over &&
	       (find_aggregate(ast, &f) || plan_is_aggregate(ast));
}

bool cut_has_aggregate(const struct ast *ast)
{
	if (!ast)
		return false;
	if (cut_is_aggregate(ast))
		return true;
	for (u32 i = 0; i < ast->n_args; i++)
		if (cut_has_aggregate(ast->args[i]))
			return true;
	for (u32 i = 0; i < ast->n_partition_by; i++)
		if (cut_has_aggregate(ast->partition_by[i]))
			return true;
	for (u32 i = 0; i < ast->n_order_by; i++)
		if (cut_has_aggregate(ast->order_by[i].expr))
			return true;
	return cut_has_aggregate(ast->otherwise) || cut_has_aggregate(ast->filter);
}

static bool has_over(const struct ast *ast)
{
	if (!ast)
		return false;
	if (ast->is_over)
		return true;
	for (u32 i = 0; i < ast->n_args; i++)
		if (has_over(ast->args[i]))
			return true;
	return has_over(ast->otherwise);
}

bool cut_is_of_rows(const struct ast *ast)
{
	if (!ast)
		return false;
	if (ast->select || ast->is_over || cut_is_aggregate(ast))
		return true;
	for (u32 i = 0; i < ast->n_args; i++)
		if (cut_is_of_rows(ast->args[i]))
			return true;
	return cut_is_of_rows(ast->otherwise);
}

/* --- What stands behind the arguments --- */

static bool print_over(struct cutter *c, struct level *level, const struct ast *ast,
		       struct buf *out)
{
	if (ast->filter) {
		buf_puts(out, " FILTER (WHERE ");
		if (!cut_condition(c, level, ast->filter, out).is_good)
			return false;
		buf_putc(out, ')');
	}
	if (!ast->is_over)
		return true;
	c->needs_all_rows = true;
	cut_note(c, "window function", ast, "over the rows of a window");
	buf_puts(out, " OVER (");
	if (ast->n_partition_by) {
		buf_puts(out, "PARTITION BY ");
		if (!cut_exprs(c, level, ast->partition_by, ast->n_partition_by, out))
			return false;
	}
	for (u32 i = 0; i < ast->n_order_by && !ast->is_within_group; i++) {
		const struct ast_order *o = &ast->order_by[i];

		struct printed key;
		size_t at;

		buf_puts(out, i ? ", " : " ORDER BY ");
		at = out->n;
		key = cut_expr(c, level, o->expr, out);
		if (!key.is_good)
			return false;
		if (sql_is_range(ast->frame) && type_is_word(key.type) && !key.type.is_signed) {
			const char *text = arena_strndup(c->arena, out->at + at, out->n - at);

			out->n = at;
			buf_printf(out, "eb_range(%s)", text);
		}
		buf_puts(out, o->is_descending ? " DESC" : "");
		buf_puts(out, o->nulls < 0 ? " NULLS FIRST" : o->nulls > 0 ? " NULLS LAST" : "");
	}
	if (ast->frame)
		buf_printf(out, " %s", ast->frame);
	buf_putc(out, ')');
	return true;
}

static struct printed wrong_arguments(struct cutter *c, const struct ast *ast,
				      const struct function *f)
{
	diag_error(c->diags, "wrong-arguments", ast->span,
		   f->least == f->most ? "%s() takes %u argument%s"
				       : "%s() takes %u or more argument%s, but not so many",
		   f->name, f->least, f->least == 1 ? "" : "s");
	return cut_bad();
}

static struct type merged(struct type a, struct type b)
{
	if (a.kind == TYPE_NULL)
		return b;
	if (b.kind == TYPE_NULL || a.kind == b.kind || a.kind != TYPE_INT)
		return a;
	return b;
}

/* DISTINCT is an aggregate's, and not with OVER; FILTER is an aggregate's. */
static bool check_suffixes(struct cutter *c, const struct ast *ast, const struct function *f)
{
	bool is_aggregate = f->aggregate != NULL;
	const char *wrong = NULL;

	if (ast->distinct && !is_aggregate)
		wrong = "DISTINCT belongs into an aggregate, and %s() is none";
	else if (ast->distinct && ast->is_over)
		wrong = "DISTINCT in %s() with OVER is not available";
	else if (ast->filter && !is_aggregate)
		wrong = "FILTER belongs behind an aggregate, and %s() is none";
	if (wrong)
		diag_error(c->diags, "not-supported", ast->span, wrong, ast->text);
	return !wrong;
}

/* The functions of a table, called by their names. */
static struct printed print_plain(struct cutter *c, struct level *level, const struct ast *ast,
				  const struct function *f, struct buf *out)
{
	struct type type = { .kind = f->kind, .bits = 64, .is_signed = true };
	u32 first = strcmp(f->name, "iif") == 0 ? 1 : 0;

	if (ast->star ? strcmp(f->name, "count") != 0
		      : ast->n_args < f->least || ast->n_args > f->most)
		return wrong_arguments(c, ast, f);
	if (!check_suffixes(c, ast, f))
		return cut_bad();
	buf_printf(out, "%s(%s%s", f->printed ? f->printed : f->name,
		   ast->distinct ? "DISTINCT " : "",
		   ast->star || (!ast->n_args && strcmp(f->name, "count") == 0) ? "*" : "");
	if (f->kind == (u8)TYPE_OF_ARGS)
		type = (struct type){ .kind = TYPE_NULL };
	for (u32 i = 0; i < ast->n_args; i++) {
		struct printed p;

		buf_puts(out, i ? ", " : "");
		buf_puts(out, f->takes_big ? "" : "eb_i64(");
		if (strcmp(f->name, "histogram_merge") == 0)
			p = cut_item(c, level, ast->args[i], out);
		else if (i < first)
			p = cut_condition(c, level, ast->args[i], out);
		else
			p = cut_expr(c, level, ast->args[i], out);
		if (!p.is_good)
			return cut_bad();
		buf_puts(out, f->takes_big ? "" : ")");
		if (f->kind == (u8)TYPE_OF_ARGS && i >= first)
			type = merged(type, p.type);
	}
	buf_putc(out, ')');
	if (f->aggregate && f->aggregate->takes_integers && !type_is_word(type) &&
	    type.kind != TYPE_NULL && type.kind != TYPE_QUANTILE) {
		diag_hint(c->diags,
			  diag_error(c->diags, "type-mismatch", ast->args[0]->span,
				     "%s() takes integers, and this is %s", f->name,
				     type.kind == TYPE_REAL ? "a real number" : "none"),
			  "say how fine: CAST(x * 1000 AS INTEGER)");
		return cut_bad();
	}
	if (f->aggregate) {
		struct type_range range = { type };

		if (type_is_word(type))
			range = (struct type_range){ type, type_min(type), type_max(type) };
		f->aggregate->result(&range);
		type = range.type;
	}
	if (!print_over(c, level, ast, out))
		return cut_bad();
	return (struct printed){ .type = type, .is_good = true };
}

/* --- Histograms, quantiles, sketches --- */

static const char *const edges[] = {
	[EDGE_MID] = "mid", [EDGE_LOWER] = "lower", [EDGE_UPPER] = "upper", [EDGE_LINEAR] = "linear"
};

/* The time of the row, for first() and last(). */
static bool print_time(struct cutter *c, struct level *level, const struct ast *ast,
		       const char *value, struct buf *out)
{
	const struct relation *found = NULL;

	/* Of several streams the one whose column it is. */
	for (u32 i = 0; i < level->relations.n; i++) {
		const struct relation *r = &level->relations.at[i];
		const char *column = arena_printf(c->arena, "%s.", r->alias);

		if (r->rows && (!found || strstr(value, column)))
			found = r;
	}
	if (found) {
		buf_printf(out, "%s.c0", found->alias);
		return true;
	}
	diag_hint(c->diags,
		  diag_error(c->diags, "no-time", ast->span,
			     "%s() needs the times of events, and these rows have none", ast->text),
		  "min(), max() or first_value() OVER (ORDER BY ...)");
	return false;
}

struct statistic {
	const struct ast *ast;
	struct aggregate a;
	struct type type;
	const char *value; /* as printed */
	bool is_merged;	   /* of a histogram that is there already: not an aggregate */
};

static bool print_histogram(struct cutter *c, struct level *level, const struct statistic *s,
			    struct buf *out)
{
	struct buf scheme;
	bool is_good;

	if (s->is_merged) {
		buf_puts(out, s->value);
		return true;
	}
	buf_init(&scheme);
	scheme_print(s->a.scheme, &scheme);
	/* Of no rows it is empty, not NULL. */
	buf_printf(out, "ifnull(eb_histogram(%s%s, '%s')", s->ast->distinct ? "DISTINCT " : "",
		   s->value, scheme.at);
	is_good = print_over(c, level, s->ast, out);
	buf_printf(out, ", eb_histogram_empty('%s'))", scheme.at);
	buf_free(&scheme);
	return is_good;
}

static bool print_quantile(struct cutter *c, struct level *level, const struct statistic *s,
			   bool is_item, struct buf *out)
{
	static const char *const parts[] = {
		[QUANTILE_WHOLE] = "whole", [QUANTILE_LO] = "lo", [QUANTILE_HI] = "hi"
	};
	const struct aggregate *a = &s->a;
	const char *edge = edges[c->settings->edge];

	if (a->is_interpolated)
		buf_puts(out, "eb_percentile_cont(");
	else if (a->is_ladder)
		buf_puts(out, "eb_quantiles(");
	else
		buf_puts(out,
			 a->part == QUANTILE_WHOLE && !is_item ? "eb_estimate(" : "eb_quantile(");
	if (!print_histogram(c, level, s, out))
		return false;
	if (a->is_ladder)
		buf_printf(out, ", '%s'", edge);
	for (u32 i = 0; i < a->n_q; i++)
		buf_printf(out, ", %u", a->q_ppb[i]);
	if (!a->is_interpolated && !a->is_ladder) {
		if (a->part != QUANTILE_WHOLE || is_item)
			buf_printf(out, ", '%s'", parts[a->part]);
		buf_printf(out, ", '%s'", edge);
	}
	buf_putc(out, ')');
	return true;
}

static bool print_sketch(struct cutter *c, struct level *level, const struct statistic *s,
			 struct buf *out)
{
	const struct aggregate *a = &s->a;
	const struct ast *ast = s->ast;
	const char *distinct = ast->distinct ? "DISTINCT " : "";

	switch (a->kind) {
	case AGGREGATE_FIRST:
	case AGGREGATE_LAST:
		buf_printf(out, "%s(%s, ", a->kind == AGGREGATE_FIRST ? "eb_first" : "eb_last",
			   s->value);
		if (!print_time(c, level, ast, s->value, out))
			return false;
		break;
	case AGGREGATE_STDDEV:
		buf_printf(out, "%s(%s%s", a->is_population ? "eb_stddev_pop" : "eb_stddev_samp",
			   distinct, s->value);
		break;
	case AGGREGATE_APPROX_COUNT_DISTINCT:
		buf_printf(out, "eb_approx_count_distinct(%s, %u", s->value, a->hll_bits);
		break;
	case AGGREGATE_TOP_K:
		buf_printf(out, "ifnull(eb_top_k(%s, %u, ", s->value, a->k);
		if (ast->n_args < 3)
			buf_putc(out, '1');
		else if (!cut_expr(c, level, ast->args[2], out).is_good)
			return false;
		buf_putc(out, ')');
		if (!print_over(c, level, ast, out))
			return false;
		buf_puts(out, ", eb_top_k_empty())");
		return true;
	default:
		BUG("aggregate kind %d", a->kind);
	}
	buf_putc(out, ')');
	return print_over(c, level, ast, out);
}

/* What the binder does not see: OVER, DISTINCT, values that SQLite computed. */
static bool check_statistic(struct cutter *c, const struct statistic *s, const struct ast *value,
			    bool is_real)
{
	enum aggregate_kind kind = s->a.kind;
	bool is_end = kind == AGGREGATE_FIRST || kind == AGGREGATE_LAST;
	const struct ast *ast = s->ast;
	const char *message = NULL, *hint = NULL, *tag = "not-supported";

	if (ast->is_over && !is_end && kind != AGGREGATE_STDDEV) {
		message = "%s() as a window function is not available";
		hint = "group in a nested select, or take it over the whole window";
	} else if (ast->distinct && (is_end || kind == AGGREGATE_TOP_K)) {
		message = "DISTINCT in %s() is not available";
		hint = "SELECT DISTINCT in a nested select";
	} else if (is_real && !is_end) {
		tag = "type-mismatch";
		message = kind == AGGREGATE_HISTOGRAM || kind == AGGREGATE_QUANTILE
				  ? "%s() puts integers into cells, and this is a real number"
				  : "%s() takes integers, and this is a real number";
		hint = "say how fine: CAST(x * 1000 AS INTEGER)";
	} else if (s->is_merged && kind != AGGREGATE_QUANTILE) {
		tag = "type-mismatch";
		message = "%s() does not take a histogram";
		hint = "histogram_merge(h) adds histograms up, quantile(h, 0.99) reads one";
	}
	if (!message)
		return true;
	diag_hint(c->diags,
		  diag_error(c->diags, tag, is_real && value ? value->span : ast->span, message,
			     ast->text),
		  "%s", hint);
	return false;
}

static struct printed print_statistic(struct cutter *c, struct level *level, const struct ast *ast,
				      bool is_item, struct buf *out)
{
	const struct plan_context context = cut_context(c);
	const struct ast *value = ast->is_within_group && ast->n_order_by ? ast->order_by[0].expr
				  : ast->n_args				  ? ast->args[0]
									  : NULL;
	struct type *types = arena_array(c->arena, struct type, ast->n_args + 1);
	struct statistic s = { .ast = ast };
	struct printed p = { .is_good = true };
	struct buf text;
	bool is_good = true, is_real = false;

	if (value) {
		buf_init(&text);
		p = cut_item(c, level, value, &text);
		if (p.is_good && p.type.kind == TYPE_QUANTILE)
			s.value = arena_printf(c->arena, "eb_estimate(%s)", text.at);
		else
			s.value = arena_strdup(c->arena, text.at ? text.at : "");
		buf_free(&text);
		if (!p.is_good)
			return p;
		s.is_merged = p.type.kind == TYPE_HISTOGRAM;
		is_real = p.type.kind == TYPE_REAL;
		if (s.is_merged)
			p.type = (struct type){ .kind = p.type.of, .bits = 64, .is_signed = true };
		else if (p.type.kind == TYPE_NULL || p.type.kind == TYPE_REAL ||
			 p.type.kind == TYPE_QUANTILE)
			p.type = type_int(64, true);
		types[ast->is_within_group ? ast->n_args : 0] = p.type;
	}
	if (strcasecmp(ast->text, "top_k") == 0 && ast->n_args > 2)
		types[2] = type_int(64, true);
	if (!plan_bind_aggregate(&context, ast, types, level->select->group_by.n > 0, c->diags,
				 &s.a, &s.type))
		return cut_bad();
	if (!check_statistic(c, &s, value, is_real))
		return cut_bad();
	if (s.a.kind == AGGREGATE_HISTOGRAM)
		is_good = print_histogram(c, level, &s, out);
	else if (s.a.kind == AGGREGATE_QUANTILE)
		is_good = print_quantile(c, level, &s, is_item, out);
	else
		is_good = print_sketch(c, level, &s, out);
	if (s.a.kind == AGGREGATE_QUANTILE && s.a.part == QUANTILE_WHOLE && is_item &&
	    !s.a.is_ladder && !s.a.is_interpolated)
		s.type = (struct type){ .kind = TYPE_QUANTILE, .of = s.a.arg->type.kind };
	return (struct printed){ .type = s.type, .is_good = is_good };
}

static struct printed print_target(struct cutter *c, const struct ast *ast, struct buf *out)
{
	c->settings->is_target_used = true;
	if (c->settings->target_pid >= 0) {
		buf_printf(out, "%d", c->settings->target_pid);
		return (struct printed){ .type = type_int(32, true), .is_good = true };
	}
	diag_hint(c->diags,
		  diag_error(c->diags, "no-target", ast->span, "no target process is named"),
		  "name one by -p PID or -- COMMAND");
	return cut_bad();
}

static bool is_histogram(const struct ast *ast)
{
	return ast->kind == AST_CALL && !ast->is_over &&
	       (strcasecmp(ast->text, "histogram") == 0 ||
		strcasecmp(ast->text, "histogram_merge") == 0);
}

/* Aggregates of aggregates need a select of their own; but sum(count(*)) OVER () is one of groups.
 */
static bool check_inside(struct cutter *c, const struct ast *ast)
{
	struct function f;

	for (u32 i = 0; i < ast->n_args; i++) {
		if (is_histogram(ast->args[i]) && !find_aggregate(ast, &f))
			continue; /* quantile(histogram_merge(h), 0.99) */
		if (!(cut_has_aggregate(ast->args[i]) && !ast->is_over) &&
		    !(ast->args[i] && has_over(ast->args[i])))
			continue;
		diag_hint(c->diags,
			  diag_error(c->diags, "aggregate-not-allowed", ast->args[i]->span,
				     "this stands inside another aggregate"),
			  "compute it in a nested select: SELECT max(n) FROM (SELECT count(*) AS n "
			  "...)");
		return false;
	}
	return true;
}

/* A running sum in the order of events, as the part computes it; false: it is SQL's, of a window.
 */
static bool print_running(struct cutter *c, struct level *level, const struct ast *ast,
			  struct buf *out, struct printed *ret_printed)
{
	const struct relation *r = &level->relations.at[0];
	struct type type;
	s32 column;

	*ret_printed = cut_bad();
	if (level->relations.n != 1 || !r->rows)
		return false;
	column = cut_rows_column(c, r->rows, ast, NULL, &type);
	if (column < 0)
		return false;
	cut_print_column(r, column, out);
	*ret_printed = (struct printed){ .type = type, .is_good = true };
	return true;
}

struct printed cut_call(struct cutter *c, struct level *level, const struct ast *ast, bool is_item,
			struct buf *out)
{
	const struct function *f;
	struct function aggregate;
	bool is_plain = find_aggregate(ast, &aggregate);
	struct printed running;
	struct suggest suggest;
	struct diag *d;

	if (cut_is_unnest(ast))
		return cut_unnest_here(c, ast, "UNNEST() is a whole item of the SELECT list");
	if (strcasecmp(ast->text, "target_pid") == 0 && !ast->n_args)
		return print_target(c, ast, out);
	if (level->has_running && plan_is_running(ast) &&
	    print_running(c, level, ast, out, &running))
		return running;
	if ((is_plain || plan_is_aggregate(ast)) && !check_inside(c, ast))
		return cut_bad();
	if (is_plain || plan_is_aggregate(ast)) {
		bool was_guarded = level->is_guarded;
		struct printed p;

		/* Every row's arguments are computed, wherever the aggregate stands. */
		c->has_aggregate = true;
		level->is_guarded = false;
		p = is_plain ? print_plain(c, level, ast, &aggregate, out)
			     : print_statistic(c, level, ast, is_item, out);
		level->is_guarded = was_guarded;
		return p;
	}
	f = ast->is_over ? find(windows, ARRAY_SIZE(windows), ast)
			 : find(scalars, ARRAY_SIZE(scalars), ast);
	if (f)
		return print_plain(c, level, ast, f, out);
	suggest_init(&suggest, ast->text);
	for (u32 i = 0; i < ARRAY_SIZE(scalars); i++)
		suggest_offer(&suggest, scalars[i].name);
	for (u32 i = 0; i < ARRAY_SIZE(windows); i++)
		suggest_offer(&suggest, windows[i].name);
	for (u32 i = 0; aggregate_name_at(i); i++)
		suggest_offer(&suggest, aggregate_name_at(i));
	if (find(windows, ARRAY_SIZE(windows), ast)) {
		d = diag_error(c->diags, "needs-over", ast->span, "%s() looks at other rows",
			       ast->text);
		diag_hint(c->diags, d, "say which: %s() OVER (PARTITION BY ... ORDER BY ...)",
			  ast->text);
		return cut_bad();
	}
	d = diag_error(c->diags, "unknown-function", ast->span, "there is no %s \"%s\"",
		       ast->is_over ? "window function" : "function", ast->text);
	if (suggest_best(&suggest))
		diag_hint(c->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	return cut_bad();
}
