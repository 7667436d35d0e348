/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The pipeline: text -> AST -> logical plan -> optimised plan -> physical plan ->
 * IR -> instructions.  query_compile() is the tour.
 */
#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "query/query.h"
#include "opt/opt.h"

bool query_init(struct query *query, const char *file, const char *text, size_t text_bytes)
{
	memset(query, 0, sizeof(*query));
	query->share = -1;
	query->name = file;
	arena_init(&query->arena);
	if (!arena_reserve(&query->arena))
		return false;
	diags_init(&query->diags, &query->arena, file, text, text_bytes);
	settings_init(&query->settings);
	views_init(&query->views, &query->arena);
	return true;
}

void query_free(struct query *query)
{
	query_close(query);
	if (!query->keep || query->catalog != query->keep->catalog)
		catalog_close(query->catalog);
	arena_free(&query->arena);
}

void query_begin_kept(struct query *query, struct keep *keep)
{
	query->keep = keep;
	query->settings = keep->settings;
	query->views = keep->views;
	query->views.arena = &query->arena;
	query->views.views.capacity = query->views.views.n; /* grows in an array of its own */
	for (u32 i = 0; i < keep->databases.n; i++)
		vec_push(&query->arena, &query->databases, keep->databases.at[i]);
}

struct catalog *keep_catalog(struct keep *keep)
{
	if (!keep->catalog)
		keep->catalog = catalog_open_live(&keep->arena);
	return keep->catalog;
}

bool query_init_kept(struct query *query, struct keep *keep)
{
	if (!query_init(query, "query", "", 0))
		return false;
	query_begin_kept(query, keep);
	query->catalog = keep_catalog(keep);
	return true;
}

/* ATTACH 'ref.db' AS ref */
static const char *database_name(const struct ast_statement *s, struct arena *arena)
{
	return s->option.name ? s->option.name : file_called(arena, s->text);
}

void query_end_kept(struct query *query)
{
	struct keep *keep = query->keep;
	struct ast_script *script;
	bool is_keeping = false;
	struct settings settings;
	struct diags diags;

	if (!keep)
		return;
	settings = keep->settings;
	for (u32 i = 0; i < query->script->statements.n; i++) {
		const struct ast_statement *s = &query->script->statements.at[i];

		if (s->kind == AST_STATEMENT_SET)
			settings_set(&settings, &s->option, &query->diags);
		is_keeping |= s->kind == AST_STATEMENT_CREATE_VIEW ||
			      s->kind == AST_STATEMENT_DROP_VIEW || s->kind == AST_STATEMENT_ATTACH;
	}
	settings_keep(&keep->settings, &settings, &keep->arena);
	if (!is_keeping)
		return;
	/* Once more, from a text and into trees that live as long as the shell. */
	diags_init(&diags, &keep->arena, query->diags.file,
		   arena_strndup(&keep->arena, query->diags.text, query->diags.text_bytes),
		   query->diags.text_bytes);
	script = sql_parse_bound(&keep->arena, query->parameters, &diags);
	for (u32 i = 0; i < script->statements.n; i++) {
		const struct ast_statement *s = &script->statements.at[i];

		if (s->kind == AST_STATEMENT_CREATE_VIEW)
			views_add(&keep->views, s, &diags);
		else if (s->kind == AST_STATEMENT_DROP_VIEW)
			views_drop(&keep->views, s, &diags);
		else if (s->kind == AST_STATEMENT_ATTACH)
			vec_push(&keep->arena, &keep->databases,
				 (struct plan_database){ .path = s->text,
							 .name = database_name(s, &keep->arena) });
	}
	/* Later texts have other words at the spans of these. */
	for (u32 i = 0; i < keep->views.views.n; i++)
		keep->views.views.at[i].is_shipped = true;
}

/* false after a diagnostic. */
static bool is_database(struct query *query, const struct ast_statement *s)
{
	struct diags *diags = &query->diags;
	sqlite3 *db = NULL;
	int error = sqlite3_open_v2(s->text, &db, SQLITE_OPEN_READONLY, NULL);

	if (error == SQLITE_OK)
		error = sqlite3_exec(db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL);
	if (error != SQLITE_OK)
		diag_refuse(diags, "bad-file", s->span,
			    "\"%s\" cannot be read as a database of SQLite: %s" HINT
			    "rows of other files are read by FROM 'FILE.csv'",
			    s->text, sqlite3_errmsg(db));
	sqlite3_close(db);
	return error == SQLITE_OK;
}

static bool is_rule(const char *name, size_t n)
{
	for (u32 i = 0; i < opt_n_rules; i++)
		if (strlen(opt_rules[i].name) == n && strncmp(opt_rules[i].name, name, n) == 0)
			return true;
	return false;
}

/* rules_off as SET or WITH give it: names of rules, or 'all'. */
static void check_rules(const struct ast_option *option, struct diags *diags)
{
	const struct ast *value = option->value;
	const char *list = value->kind == AST_TEXT			    ? value->text
			   : value->kind == AST_NAME && value->n_parts == 1 ? value->parts[0]
									    : NULL;
	bool is_good = list != NULL;
	struct buf names;

	if (strcasecmp(option->name, "rules_off") != 0 || (list && strcmp(list, "all") == 0))
		return;
	for (const char *at = list; is_good && *(at += strspn(at, ", ")); at += strcspn(at, ", "))
		is_good = is_rule(at, strcspn(at, ", "));
	if (is_good)
		return;
	buf_init(&names);
	for (u32 i = 0; i < opt_n_rules; i++)
		buf_printf(&names, "%s%s", i ? "," : "", opt_rules[i].name);
	diag_refuse(diags, "bad-option-value", value->span,
		    "rules_off names no such rule" HINT "'all', or some of '%s'", names.at);
	buf_free(&names);
}

static void attach(struct query *query, const struct ast_statement *s)
{
	const char *name = database_name(s, &query->arena);
	struct diags *diags = &query->diags;
	struct stat st;
	/* Opening another kind may wait for ever. */
	const char *why = access(s->text, R_OK) || stat(s->text, &st) ? strerror(errno)
			  : S_ISREG(st.st_mode)			      ? NULL
								      : "is no regular file";

	if (why) {
		diag_refuse(diags, "unknown-file", s->span,
			    "cannot read \"%s\": %s" HINT "ATTACH takes a file of SQLite", s->text,
			    why);
		return;
	}
	if (!is_database(query, s))
		return;
	if (strcasecmp(name, "main") == 0 || strcasecmp(name, "temp") == 0)
		diag_refuse(diags, "duplicate-name", s->span,
			    "a database cannot be called \"%s\"" HINT "ATTACH '%s' AS another_name",
			    name, s->text);
	for (u32 i = 0; i < query->databases.n; i++)
		if (strcasecmp(query->databases.at[i].name, name) == 0)
			diag_refuse(diags, "duplicate-name", s->span,
				    "a database \"%s\" is attached already" HINT
				    "ATTACH '%s' AS another_name",
				    name, s->text);
	vec_push(&query->arena, &query->databases,
		 (struct plan_database){ .path = s->text, .name = name, .span = s->span });
}

/* SET, ATTACH, CREATE VIEW, DROP VIEW, which stand before the query; false: none of these. */
static bool prepare(struct query *query, const struct ast_statement *s)
{
	struct diags *diags = &query->diags;

	switch (s->kind) {
	case AST_STATEMENT_SET:
		settings_set(&query->settings, &s->option, diags);
		check_rules(&s->option, diags);
		return true;
	case AST_STATEMENT_ATTACH:
		attach(query, s);
		return true;
	case AST_STATEMENT_CREATE_VIEW:
	case AST_STATEMENT_DROP_VIEW:
		break;
	case AST_STATEMENT_SELECT:
	case AST_STATEMENT_EXPLAIN:
	case AST_STATEMENT_SHOW_STREAMS:
	case AST_STATEMENT_SHOW_VIEWS:
	case AST_STATEMENT_DESCRIBE:
		return false;
	}
	if (query->statement && !query->is_many)
		diag_refuse(diags, "second-query", s->span,
			    "views are made and dropped before the query" HINT "put it first");
	else if (s->kind == AST_STATEMENT_CREATE_VIEW)
		views_add(&query->views, s, diags);
	else
		views_drop(&query->views, s, diags);
	return true;
}

/* A value that the text does not ask for was meant for another name. */
static void check_parameters(struct query *query)
{
	const struct sql_parameters *all = query->parameters;

	for (u32 i = 0; i < all->list.n; i++) {
		const char *name = all->list.at[i].name;
		struct suggest suggest;

		if (all->list.at[i].is_used)
			continue;
		suggest_init(&suggest, name);
		for (u32 j = 0; j < all->list.n; j++)
			if (all->list.at[j].is_used)
				suggest_offer(&suggest, all->list.at[j].name);
		diag_plain(&query->diags, "unknown-parameter",
			   "the query has no parameter %s%s, which has a value" HINT "%s%s%s",
			   *name >= '0' && *name <= '9' ? "$" : ":", name,
			   suggest_best(&suggest) ? "did you mean :"
			   : *all->declared	  ? "it has "
						  : "",
			   suggest_best(&suggest)
				   ?: *all->declared
				      ? all->declared
				      : "it declares none: is it in quotes, or spelt otherwise?",
			   suggest_best(&suggest) ? "?" : "");
	}
}

/* What the text declares, with the values that were given.  false after a diagnostic. */
static bool bind_parameters(struct query *query)
{
	const struct sql_parameters *given = query->parameters;
	struct sql_parameters *all = arena_new(&query->arena, struct sql_parameters);
	struct sql_head head;

	if (!sql_declared(&query->arena, &query->diags, &head))
		return false;
	for (u32 i = 0; given && i < given->list.n; i++)
		vec_push(&query->arena, &all->list, given->list.at[i]);
	if (given) {
		all->words = given->words;
		all->is_shared = given->is_shared;
	}
	if (query->settings.target_pid >= 0)
		all->pid = arena_printf(&query->arena, "%d", query->settings.target_pid);
	query->parameters = all;
	if (!sql_bind(&query->arena, &query->diags, &head, all))
		return false;
	query->settings.is_target_used |= all->is_pid_used;
	return true;
}

bool query_parse(struct query *query)
{
	const struct ast_statement *definition = NULL;
	struct diags *diags = &query->diags;

	if (!bind_parameters(query))
		return false;
	query->script = sql_parse_bound(&query->arena, query->parameters, diags);
	if (!diags_failed(diags) && !query->parameters->is_shared)
		check_parameters(query);
	if (diags_failed(diags))
		return false;
	for (u32 i = 0; i < query->script->statements.n; i++) {
		const struct ast_statement *s = &query->script->statements.at[i];

		if (prepare(query, s)) {
			definition = s->kind == AST_STATEMENT_CREATE_VIEW ? s : definition;
		} else if (query->n_queries++ && !query->is_many) {
			diag_refuse(diags, "second-query", s->span,
				    "one text holds SET, CREATE VIEW and one query" HINT
				    "run them one by one, or with ebql watch, a file each");
		} else {
			query->statement = s;
		}
	}
	if (!query->statement)
		query->statement = definition;
	if (query->statement && query->statement->select)
		for (u32 i = 0; i < query->statement->select->options.n; i++)
			check_rules(&query->statement->select->options.at[i], diags);
	if (!query->statement && !diags_failed(diags) &&
	    !(query->keep && query->script->statements.n))
		diag_refuse(diags, "no-query", (struct span){ 0, 0 },
			    "there is no query" HINT
			    "for example SELECT comm, count(*) FROM tracepoint:sched:sched_switch "
			    "GROUP BY comm");
	return !diags_failed(diags);
}
