/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The pipeline: text -> AST -> logical plan -> optimised plan -> physical plan ->
 * IR -> instructions.  query_compile() is the tour.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/version.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/query.h"
#include "gen/gen.h"
#include "opt/opt.h"

void query_init(struct query *query, const char *file, const char *text, size_t text_bytes)
{
	memset(query, 0, sizeof(*query));
	arena_init(&query->arena);
	diags_init(&query->diags, &query->arena, file, text, text_bytes);
	settings_init(&query->settings);
	views_init(&query->views, &query->arena);
	buf_init(&query->constants);
}

void query_free(struct query *query)
{
	if (query->catalog)
		catalog_close(query->catalog);
	buf_free(&query->constants);
	arena_free(&query->arena);
}

int query_read_file(const char *path, struct buf *ret_text)
{
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	char chunk[16384];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0 && ret_text->n < (64u << 20))
		buf_put(ret_text, chunk, (size_t)n);
	n = n < 0 ? -errno : 0;
	if (fd != STDIN_FILENO)
		close(fd);
	return (int)n;
}

/* rules_off as SET or WITH give it: names of rules, or 'all'. */
static void check_rules(const struct ast_option *option, struct diags *diags)
{
	const struct ast *value = option->value;
	const char *list = NULL;
	struct diag *diag;
	struct buf names;
	bool is_good;

	if (strcasecmp(option->name, "rules_off") != 0)
		return;
	if (value->kind == AST_TEXT)
		list = value->text;
	else if (value->kind == AST_NAME && value->n_parts == 1)
		list = value->parts[0];
	is_good = list != NULL;
	if (list && strcmp(list, "all") != 0) {
		for (const char *at = list + strspn(list, ", "); *at; at += strspn(at, ", ")) {
			size_t length = strcspn(at, ", ");
			bool is_known = false;

			for (u32 i = 0; i < opt_n_rules; i++)
				is_known |= strlen(opt_rules[i].name) == length &&
					    strncmp(opt_rules[i].name, at, length) == 0;
			is_good &= is_known;
			at += length;
		}
	}
	if (is_good)
		return;
	buf_init(&names);
	for (u32 i = 0; i < opt_n_rules; i++)
		buf_printf(&names, "%s%s", i ? "," : "", opt_rules[i].name);
	diag = diag_error(diags, "bad-option-value", value->span, "rules_off names no such rule");
	diag_hint(diags, diag, "'all', or some of '%s'", names.at);
	buf_free(&names);
}

/* SET, CREATE VIEW and DROP VIEW, which stand before the query; false: it is none of these. */
static bool prepare(struct query *query, const struct ast_statement *s)
{
	struct diags *diags = &query->diags;

	switch (s->kind) {
	case AST_STATEMENT_SET:
		settings_set(&query->settings, &s->option, diags);
		check_rules(&s->option, diags);
		return true;
	case AST_STATEMENT_CREATE_VIEW:
	case AST_STATEMENT_DROP_VIEW:
		break;
	default:
		return false;
	}
	if (query->statement)
		diag_hint(diags,
			  diag_error(diags, "second-query", s->span,
				     "views are made and dropped before the query"),
			  "put it first");
	else if (s->kind == AST_STATEMENT_CREATE_VIEW)
		views_add(&query->views, s, diags);
	else
		views_drop(&query->views, s, diags);
	return true;
}

bool query_parse(struct query *query)
{
	const struct ast_statement *definition = NULL;
	struct diags *diags = &query->diags;

	query->script = sql_parse(&query->arena, diags);
	if (diags_failed(diags))
		return false;
	for (u32 i = 0; i < query->script->statements.n; i++) {
		const struct ast_statement *s = &query->script->statements.at[i];

		if (prepare(query, s)) {
			definition = s->kind == AST_STATEMENT_CREATE_VIEW ? s : definition;
		} else if (query->statement) {
			diag_hint(diags,
				  diag_error(diags, "second-query", s->span,
					     "one text holds SET, CREATE VIEW and one query"),
				  "run them one by one");
		} else {
			query->statement = s;
		}
	}
	if (!query->statement)
		query->statement = definition;
	if (query->statement && query->statement->select)
		for (u32 i = 0; i < query->statement->select->options.n; i++)
			check_rules(&query->statement->select->options.at[i], diags);
	if (!query->statement && !diags_failed(diags))
		diag_hint(diags,
			  diag_error(diags, "no-query", (struct span){ 0, 0 }, "there is no query"),
			  "for example SELECT comm, count(*) FROM tracepoint:sched:sched_switch "
			  "GROUP BY comm");
	return !diags_failed(diags);
}

static bool compile_program(struct query *query, u32 i)
{
	const struct bpf_features features = { query->features.has_signed_division };
	struct load_program *p = &query->programs[i];
	const char *reason = NULL;
	int err;

	p->hook = &query->phys->hooks[i];
	query->irs[i] = gen_program(query->phys, p->hook, &query->arena, &query->constants);
	err = bpf_compile(query->irs[i], &query->arena, &features, &p->code, &reason);
	if (!err)
		return true;
	if (err != -E2BIG)
		BUG("the program for %s: %s", p->hook->target, reason);
	diag_hint(&query->diags,
		  diag_error(&query->diags, "program-too-large", query->statement->span,
			     "the query does not fit one kernel program: %s", reason),
		  "use fewer texts or conditions in one query");
	return false;
}

/*
 * A frozen catalog stands for one machine, so that its plans are the same everywhere:
 * one with the kernel of tests/catalog/kernel-6.18.snapshot and four CPUs.
 */
static void find_machine(struct query *query)
{
	if (!query->catalog_path) {
		kernel_features_probe(&query->features);
		query->n_cpus = load_possible_cpus();
		return;
	}
	query->features = (struct kernel_features){ .version = KERNEL_VERSION(6, 18, 0),
						    .has_btf = true,
						    .has_raw_recursion_guard = true,
						    .has_large_array_value = true,
						    .has_signed_division = true };
	query->n_cpus = 4;
}

/* The share of the wanted system calls among all, or -1: not asked for, or not known. */
static double survey(struct query *query)
{
	const struct plan *rows = plan_rows(query->optimized);
	const struct stream_list *list;
	const struct stream *s;

	/* The first call of the first scan stands for all: both ends come equally often. */
	while (rows->kind != PLAN_SCAN)
		rows = rows->kind == PLAN_UNION ? rows->inputs[0] : rows->input;
	list = rows->streams;
	s = list->streams.at[0];
	if (!query->settings.survey_ns || query->catalog_path || list->streams.n > 1 ||
	    s->syscall_nr < 0 || !(s->is_syscall_enter || s->is_syscall_exit))
		return -1;
	return load_survey(s->syscall_nr, query->settings.survey_ns, &query->arena);
}

bool query_open_catalog(struct query *query)
{
	query->catalog =
		query->catalog_path
			? catalog_open_snapshot(&query->arena, query->catalog_path, &query->diags)
			: catalog_open_live(&query->arena);
	return query->catalog != NULL;
}

bool query_compile(struct query *query)
{
	struct arena *arena = &query->arena;
	struct diags *diags = &query->diags;
	u64 start_ns = base_monotonic_ns();

	if (!query_open_catalog(query))
		return false;
	query->logical = plan_bind(query->statement->select, query->catalog, &query->settings,
				   &query->views, arena, diags);
	if (!query->logical)
		return false;
	query->optimized = opt_run(query->logical, &query->settings, arena);

	find_machine(query);
	query->phys = phys_plan(
		&(struct phys_input){
			.plan = query->optimized,
			.settings = &query->settings,
			.features = &query->features,
			.catalog = query->catalog,
			.n_cpus = query->n_cpus,
			.share = survey(query),
		},
		arena, diags);
	if (!query->phys)
		return false;

	query->n_programs = query->phys->n_hooks;
	query->irs = arena_array(arena, struct ir *, query->n_programs);
	query->programs = arena_array(arena, struct load_program, query->n_programs);
	for (u32 i = 0; i < query->n_programs; i++)
		if (!compile_program(query, i))
			return false;
	query->compile_ns = base_monotonic_ns() - start_ns;
	return true;
}

/* Tags of what the user's text is not to blame for. */
static bool is_environment(const char *tag)
{
	static const char *const tags[] = { "no-privilege", "no-tracefs", "no-btf",
					    "verifier",	    "map-create", "attach-failed",
					    "bad-snapshot", "too-large",  "user-part",
					    "run-start" };

	for (u32 i = 0; i < ARRAY_SIZE(tags); i++)
		if (strcmp(tags[i], tag) == 0)
			return true;
	return false;
}

int query_report(struct query *query)
{
	struct buf out;
	int status = diags_failed(&query->diags) ? 2 : 0;

	for (u32 i = 0; i < query->diags.list.n; i++)
		if (!query->diags.list.at[i].is_warning &&
		    is_environment(query->diags.list.at[i].tag))
			status = 1;
	if (!query->diags.list.n)
		return status;
	buf_init(&out);
	diags_print(&query->diags, &out);
	if (!status)
		query->diags.list.n = 0; /* warnings are shown once */
	buf_flush(&out, STDERR_FILENO);
	buf_free(&out);
	return status;
}
