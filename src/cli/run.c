/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql 'SQL': compiles the query, loads and attaches it, and prints its batches
 * until it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/analyze.h"
#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/live.h"
#include "host/host.h"
#include "sys/sys.h"

struct session {
	struct query query;
	struct options options;
	struct out_file out;
	int out_fd;
	struct host host;
	struct analysis analysis;
	bool is_explained; /* EXPLAIN ANALYZE: no rows are shown */
	bool is_open;	   /* the output */
	bool is_ended_by_loss;
};

/* Its rows are shown to nobody. */
static bool is_hidden(const struct session *s)
{
	return s->is_explained || s->options.trial;
}

/* Of several statements the first one empties the file of -O, which the others add to. */
static bool is_out_begun(const struct session *s)
{
	return s->options.is_out_begun && *s->options.is_out_begun;
}

/* A FIFO's reader would take the end of the first statement for that of all. */
static void begin_out(const struct session *s, int fd)
{
	static int kept_fd = -1;
	struct stat st;

	if (!s->options.is_out_begun)
		return;
	if (kept_fd < 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		kept_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	*s->options.is_out_begun = true;
}

/* All is attached: what cannot run leaves in the file what stands there. */
static int open_output(void *context, const struct schema *schema)
{
	struct session *s = context;
	const struct out_options options = {
		.is_terminal = isatty(s->out_fd),
		.is_ascii = s->options.is_ascii,
		.has_window_columns = s->options.has_window_columns,
		.bins = s->options.bins,
		.monotonic_to_realtime_ns = (s64)(base_realtime_ns() - base_monotonic_ns()),
		.is_streaming = cut_has_rows(s->query.cut),
		.has_other = cut_has_other(s->query.cut),
		.is_gathered = s->options.record_path != NULL,
		.cancel = host_cancel_output(),
	};

	int error = s->out_fd > STDOUT_FILENO && !is_out_begun(s) ? written_empty(s->out_fd) : 0;

	begin_out(s, s->out_fd);
	s->is_open = true;
	if (error || is_hidden(s))
		return error;
	return out_file_open(&s->out, s->options.format, s->out_fd, &options, schema);
}

static int give_batch(void *context, const struct batch *batch)
{
	struct session *s = context;
	const struct trial *trial = s->options.trial;
	int error = 0;

	live_clear();
	if (trial && trial->batch)
		error = trial->batch(trial->context, batch);
	else if (!is_hidden(s))
		error = out_file_batch(&s->out, batch);
	analysis_count(&s->analysis, batch);
	host_count(s->host.flow, &s->host.options, batch, &s->host.n_given);
	if (!error && s->query.settings.on_loss_fail && account_is_biased(&batch->account)) {
		s->is_ended_by_loss = true;
		return -ECANCELED;
	}
	return error;
}

static int idle(void *context)
{
	struct session *s = context;

	return is_hidden(s) ? 0 : out_file_idle(&s->out);
}

/* Standard output stays a descriptor, of nothing. */
static int close_descriptor(struct session *s)
{
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC), err = 0;

	if (close(s->out_fd) < 0)
		err = -errno;
	if (s->out_fd == STDOUT_FILENO)
		dup2(nothing, STDOUT_FILENO);
	sys_close(&nothing);
	s->out_fd = -1;
	return err;
}

/*
 * After a failure nothing more is written; what was stopped is complete.  Who reads it need not
 * wait until all hooks are detached.
 */
static int close_output(void *context, int error)
{
	struct session *s = context;
	int err, closed;

	if (is_hidden(s))
		return 0;
	err = out_file_close(&s->out, diags_failed(&s->query.diags) ? -ECANCELED : 0);
	if (s->query.keep)
		return err;
	host_given_all();
	closed = close_descriptor(s);
	if (!err)
		s->out.out.error = err = closed;
	return err;
}

static void say_attached(struct session *s)
{
	const struct programs *programs = s->query.programs;
	u64 verify_ns = programs ? programs->hooks.verify_ns : 0;
	u64 attach_ns = programs ? programs->hooks.attach_ns : 0;

	if (s->query.keep) {
		s->query.keep->load_ns = verify_ns;
		s->query.keep->attach_ns = attach_ns;
	}
	live_say_attached(programs, s->options.command || s->options.host.duration_ns ||
					    s->options.host.n_windows);
	if (s->options.is_verbose)
		tell("attached: load %.2f ms, attach %.2f ms\n", (double)verify_ns / 1e6,
		     (double)attach_ns / 1e6);
}

static void say_plan(const struct query *q)
{
	u32 n = q->programs ? q->programs->set->n_hooks : 0;

	tell("compiled in %.2f ms\n", (double)q->compile_ns / 1e6);
	for (u32 i = 0; i < n; i++) {
		const struct load_program *p = &q->programs->of_hook[i];

		tell("%s: %u instructions; %s\n", p->hook->target, p->code.n_insns,
		     p->hook->reason);
		if (i == 9 && n > 11) {
			tell("... and %u programs more\n", n - 10);
			break;
		}
	}
}

/* Can the format show what the query gives?  false after a diagnostic. */
static bool check_format(struct session *s)
{
	struct query *q = &s->query;

	if (!record_check(q, s->options.format, s->options.record_path,
			  !s->options.out_path && isatty(STDOUT_FILENO)))
		return false;
	if (s->options.format->needs_calls && !out_has_calls(&q->cut->output))
		return diag_refuse(&q->diags, "no-stack", q->statement->span,
				   "-o %s is of stacks, and the query has none" HINT
				   "SELECT kstack, count(*) ... GROUP BY kstack",
				   s->options.format->name);
	if (!s->options.format->needs_histogram || out_has_histogram(&q->cut->output))
		return true;
	return diag_refuse(&q->diags, "no-histogram", q->statement->span,
			   "--heatmap draws a histogram, and the query has none" HINT
			   "SELECT histogram(x) ... WINDOW TUMBLING 1s");
}

/* What a heat map leaves away, said before it is drawn. */
static void warn_heatmap(const struct session *s)
{
	const struct schema *schema = &s->query.cut->output;
	const struct plan *plan = s->query.cut->n_parts ? s->query.parts[0].optimized : NULL;
	const struct plan *agg = plan ? plan_find(plan, PLAN_AGGREGATE) : NULL;
	const char *drawn = NULL;
	u32 n = 0;

	if (!s->options.format->needs_histogram)
		return;
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (schema->columns[i].type.kind == TYPE_HISTOGRAM && n++ == 0)
			drawn = schema->columns[i].name;
	}
	if (n > 1)
		tell_note("ebql: --heatmap draws only the first histogram, %s\n", drawn);
	if (agg && agg->aggregate.n_keys)
		tell_note("ebql: --heatmap merges all groups of GROUP BY into one map\n");
	if (!s->options.out_path && isatty(STDOUT_FILENO) &&
	    s->query.cut->window.kind == WINDOW_NONE && !s->options.every_ns)
		tell_note(
			"ebql: --heatmap: without WINDOW or --every the map is drawn at the end\n");
}

/*
 * The shell's next query, and a trial's next run, need them all again; COMMAND may be another user
 * by the time it is ended; processes are looked at where stacks are shown.
 */
static u64 kept_rights(const struct session *s)
{
	u64 kept = s->options.command ? SYS_CAP(CAP_KILL) : 0;

	if (flow_names_processes(s->query.flow))
		kept |= SYS_CAP(CAP_SYS_PTRACE);
	return s->query.keep || s->options.trial ? UINT64_MAX : kept;
}

static void begin_trial(struct trial *trial)
{
	if (!trial)
		return;
	trial->ns = base_monotonic_ns();
	trial->own_cpu_ns = process_cpu_ns();
}

static void end_trial(struct trial *trial, const struct flow_result *result)
{
	if (!trial)
		return;
	trial->ns = base_monotonic_ns() - trial->ns;
	trial->own_cpu_ns = process_cpu_ns() - trial->own_cpu_ns;
	trial->account = result->account;
}

/* Attaches, runs to the end, detaches; 0 or -errno, and why in diags. */
static int run_hosted(struct session *s, struct flow_result *ret_result)
{
	struct query *q = &s->query;
	struct flow_input how = { .every_ns = s->options.every_ns,
				  .sink = { open_output, give_batch, idle, close_output, s },
				  .cancel = host_cancel() };
	struct host_options options = s->options.host;
	int error, closed;

	if (q->cut->is_streaming) {
		how.n_rows = options.n_windows;
		options.n_windows = 0;
	}
	options.ends_at_loss = q->settings.on_loss_fail && q->cut->window.kind != WINDOW_TUMBLING &&
			       q->cut->window.kind != WINDOW_HOPPING;
	/* What is printed at its end is all that there is to see; a command writes there, too. */
	if (!s->options.trial && live_open(s->out_fd) && !s->options.command &&
	    !q->cut->is_streaming && q->cut->window.kind == WINDOW_NONE && !s->options.every_ns &&
	    !record_is_replay(q->cut))
		options.say_totals = live_say_totals;
	host_say_progress = live_say_progress;
	load_on_progress = host_tell_progress;
	error = host_open(&s->host, &options);
	analysis_open(&s->analysis, q);
	if (!error)
		error = query_start(q, s->host.engine, &how);
	if (!error) {
		s->host.flow = q->flow;
		sys_rights_rest(kept_rights(s));
		say_attached(s);
		tell_diags(q); /* of another path, or of functions that are left out */
		analysis_start(&s->analysis);
		begin_trial(s->options.trial);
		error = host_run(&s->host, &q->diags);
		live_clear();
		flow_result(s->host.flow, ret_result);
		end_trial(s->options.trial, ret_result);
		analysis_end(&s->analysis, q);
		closed = query_close(q);
		live_clear(); /* of detaching */
		error = error ? error : closed;
		sys_rights_back();
	}
	return error;
}

/* Says how the run ended; the exit status. */
static int say_end(struct session *s, int error, const struct flow_result *result)
{
	struct query *q = &s->query;

	/* It was never opened. */
	if (!s->is_open) {
		if (!q->diags.n_errors)
			tell_failed("", -error);
		return MAX(tell_diags(q), 1);
	}
	if (diags_failed(&q->diags))
		return MAX(tell_diags(q), 1);
	if (error == -EPIPE)
		error = 0; /* the reader had enough: a clean end */
	else if (result->is_partial && !error)
		tell("ebql: stopped before the file was read to its end: the answer is of a "
		     "part of it\n");
	if (error == -EINTR) {
		tell_diags(q); /* which rows are missing */
		return 3;
	}
	if (error == -ETIMEDOUT) {
		tell("ebql: the output took no more: what was not written is lost\n");
		return 1;
	}
	if (error && !s->is_ended_by_loss) {
		const char *what = error != s->out.out.error ? ""
				   : s->options.record_path  ? s->options.record_path
				   : s->options.out_path     ? s->options.out_path
							     : TELL_STDOUT;

		if (!*what || !s->out.out.why)
			return tell_failed(what, -error);
		tell("ebql: %s: %s\n", what, s->out.out.why);
		return 1;
	}
	return s->is_ended_by_loss || account_is_biased(&result->account) ? 3 : 0;
}

/* Rows go to standard output, and so does what is shown instead of them. */
static int say_analysis(struct session *s, int status)
{
	struct buf out;

	tell_diags(&s->query);
	if (diags_failed(&s->query.diags))
		return status;
	buf_init(&out);
	analysis_print(&s->analysis, &s->query, options_want_json(&s->options), &out);
	if (s->is_explained && s->options.out_path)
		dup2(s->out_fd, STDOUT_FILENO);
	if (!options_want_json(&s->options))
		tell_fold(&out, s->is_explained ? STDOUT_FILENO : STDERR_FILENO);
	if (s->is_explained)
		return tell_answer(&out, status);
	fwrite(out.at, 1, out.n, stderr);
	buf_free(&out);
	return status;
}

/*
 * What is said while the host has the signals waits for no terminal; in a shell that goes on it is
 * shown before the prompt.
 */
static int loop(struct session *s)
{
	struct flow_result result = { 0 };
	int error = run_hosted(s, &result), status;
	bool is_waiting = s->query.keep && !host_must_leave();

	if (is_waiting)
		host_close(&s->host);
	status = say_end(s, error, &result);
	if (!is_waiting)
		host_close(&s->host);
	if (s->options.trial)
		s->options.trial->child = s->host.child;
	return s->analysis.is_on && s->is_open ? say_analysis(s, status) : status;
}

/* Nothing but files: there is nothing to wait for.  false: the query is refused. */
static bool check_replay(struct session *s)
{
	if (s->options.command) {
		tell("ebql: -- COMMAND is for queries over streams; this one reads only files\n");
		return false;
	}
	if (s->options.host.duration_ns)
		tell_note("ebql: -d has no effect: the query reads only files, and these to their "
			  "ends\n");
	s->options.host.duration_ns = 0;
	return true;
}

/* What only ebql watch heeds. */
static void note_of_watch(const struct settings *settings)
{
	if (*settings->out)
		tell_note("ebql: out has no effect: it says where ebql watch writes\n");
	if (schedule_is_set(&settings->schedule))
		tell_note(
			"ebql: start, stop and days have no effect: they are hours of ebql watch\n");
	if (*settings->on_row)
		tell_note("ebql: on_row has no effect: it says what rows of ebql watch do\n");
	if (settings->keep)
		tell_note("ebql: keep has no effect: it is for snapshots of ebql watch\n");
}

static int run_select(struct session *s)
{
	const char *path = s->options.record_path ?: s->options.out_path;
	struct host_options *host = &s->options.host;
	struct query *q = &s->query;
	int error, status;

	q->settings.only_pid = MAX(s->options.target_pid, 0);
	if (s->options.command) {
		error = host_start_child(&s->options.host, s->options.command);
		if (error)
			return tell_failed("cannot start the command", -error);
		q->settings.target_pid = s->options.host.child_pid;
		q->settings.target_parent = load_initial_pid();
	}
	/* Behind the child's start: they are ours alone. */
	load_raise_limits(NULL);
	s->analysis.is_on = s->is_explained || s->options.has_stats;
	q->settings.counts_operators = s->analysis.is_on;
	if (!query_compile(q) || !check_format(s))
		return tell_diags(q);
	/* Of the query's own options, too.  A trial lasts as long as who runs it says. */
	if (!s->options.trial) {
		host->n_windows = host->n_windows ?: q->settings.n_windows;
		host->duration_ns = host->duration_ns ?: q->settings.duration_ns;
	}
	if (is_out_begun(s) && s->options.format->is_single) {
		diag_refuse(&q->diags, "bad-output", q->statement->span,
			    "-o %s: another query has written there, and readers see the first one "
			    "alone" HINT "run each by itself",
			    s->options.format->name);
		return tell_diags(q);
	}
	tell_diags(q); /* what it warns of is known before anything is loaded */
	host->adopts = q->settings.is_tree_used;
	if (s->options.target_pid >= 0 && !q->settings.is_target_used)
		tell_note(
			q->parameters->has_pid
				? "ebql: -p has no effect: the query's :pid has a value already\n"
				: "ebql: -p has no effect: it names the process for target_pid(), "
				  "which the query does not use, and declares no :pid\n");
	if (s->options.every_ns && q->cut->is_streaming)
		tell_note("ebql: --every has no effect: the query's rows stream as they happen\n");
	else if (s->options.every_ns && q->cut->window.kind != WINDOW_NONE)
		tell_note("ebql: --every has no effect: the query has a WINDOW\n");
	note_of_watch(&q->settings);
	if (record_is_replay(q->cut) && !check_replay(s))
		return 2;
	warn_heatmap(s);
	if (s->options.is_verbose) {
		say_plan(q);
		query_check_functions(q, NULL);
		tell_diags(q);
	}
	if (path && !record_open(q, path, s->options.record_path, is_out_begun(s), &s->out_fd))
		return tell_diags(q);
	if (q->programs)
		load_raise_limits(q->programs->set);
	if (query_load(q))
		return MAX(tell_diags(q), 1);
	status = loop(s);
	return host_child_failed(&s->options.host) ? 1 : status;
}

/* Statements that show no rows have no other forms. */
static bool is_table_or_json(const struct session *s)
{
	const char *format = s->options.format->name;

	if (strcmp(format, "table") == 0 || strcmp(format, "expanded") == 0 ||
	    strcmp(format, "json") == 0)
		return true;
	tell("ebql: -o: this statement is shown as table or json, not as %s\n", format);
	return false;
}

static int show_streams(struct session *s)
{
	return list_streams(&s->query,
			    s->options.word ? s->options.word : query_stream_pattern(&s->query),
			    options_want_json(&s->options));
}

struct view_check {
	struct query *query;
	u32 n;
};

static void check_view(void *context, const struct view *view)
{
	struct view_check *check = context;
	struct query *q = check->query;
	const char *path[1] = { view->name };
	struct ast_source source = {
		.kind = AST_SOURCE_STREAM, .path = path, .n_path = 1, .written = view->name
	};
	const struct plan_context in = query_context(q);
	struct plan_description description;

	if (view->is_shipped)
		return;
	check->n++;
	plan_describe(&source, &in, &q->diags, &description);
}

/* A text of nothing but views: are they right?  Nothing remembers them. */
static int check_views(struct session *s)
{
	struct view_check check = { &s->query, 0 };
	struct query *q = &s->query;

	if (!query_open_catalog(q))
		return tell_diags(q);
	views_each(&q->views, check_view, &check);
	if (!diags_failed(&q->diags) && !s->query.keep)
		tell_note(
			"ebql: %u view%s checked, and no query: a view lives as long as its text, "
			"put the query behind it\n",
			check.n, check.n == 1 ? "" : "s");
	return tell_diags(q);
}

/* No command is started: any process stands for it. */
static int explain(struct session *s, const char *stage, int target_pid)
{
	struct buf out;

	s->query.settings.target_pid = target_pid;
	s->query.settings.target_parent = getpid();
	s->query.settings.only_pid = MAX(s->options.target_pid, 0);
	buf_init(&out);
	query_explain(&s->query, stage, &out);
	tell_fold(&out, STDOUT_FILENO);
	return tell_answer(&out, tell_diags(&s->query));
}

/*
 * What shows something else than rows writes it to standard output: that is the file then, which
 * keeps what stands there until something is written.
 */
static int redirect(const struct session *s)
{
	const char *why = NULL;
	int fd = written_open_as_it_is(s->options.out_path, is_out_begun(s), &why);

	begin_out(s, fd);
	if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && close(fd) == 0)
		return 0;
	tell("ebql: %s: %s\n", s->options.out_path, why ?: strerror(errno));
	return 1;
}

/* Behind what was written stands the end of what was there. */
static int cut_rest(int status)
{
	off_t end;

	fflush(stdout);
	end = lseek(STDOUT_FILENO, 0, SEEK_CUR);
	if ((status && !end) || end < 0 || !ftruncate(STDOUT_FILENO, end))
		return status;
	return errno == EINVAL ? status : tell_failed(TELL_STDOUT, errno);
}

static int do_statement(struct session *s)
{
	const struct ast_statement *statement = s->query.statement;

	switch (statement->kind) {
	case AST_STATEMENT_SELECT:
		return run_select(s);
	case AST_STATEMENT_EXPLAIN:
		s->is_explained = statement->analyze;
		if (s->is_explained)
			return is_table_or_json(s) ? run_select(s) : 2;
		return explain(s, statement->text ? statement->text : "physical",
			       s->options.command ? getpid() : s->options.target_pid);
	case AST_STATEMENT_SHOW_STREAMS:
		return is_table_or_json(s) ? show_streams(s) : 2;
	case AST_STATEMENT_DESCRIBE:
		return is_table_or_json(s) ? describe_columns(&s->query, statement->source,
							      options_want_json(&s->options))
					   : 2;
	case AST_STATEMENT_SHOW_VIEWS:
		return strcmp(s->options.format->name, "csv") == 0 || is_table_or_json(s)
			       ? list_views(&s->query, statement->text, s->options.format)
			       : 2;
	case AST_STATEMENT_CREATE_VIEW:
		return check_views(s);
	case AST_STATEMENT_DROP_VIEW:
	case AST_STATEMENT_SET:
	case AST_STATEMENT_ATTACH:
		break;
	}
	return tell_diags(&s->query);
}

static int run_statement(struct session *s)
{
	const struct ast_statement *statement = s->query.statement;
	bool has_rows = statement->kind == AST_STATEMENT_SELECT ||
			(statement->kind == AST_STATEMENT_EXPLAIN && statement->analyze);
	bool is_redirected = s->options.out_path && !has_rows, is_first = !is_out_begun(s);
	int status;

	if (s->options.record_path && statement->kind != AST_STATEMENT_SELECT) {
		tell("ebql: record: only a SELECT can be recorded\n");
		return 2;
	}
	if (s->options.stage && statement->kind != AST_STATEMENT_SELECT &&
	    statement->kind != AST_STATEMENT_EXPLAIN) {
		tell("ebql: only a SELECT can be explained\n");
		return 2;
	}
	if (s->options.trial && statement->kind != AST_STATEMENT_SELECT) {
		tell("ebql: overhead: only of a SELECT\n");
		return 2;
	}
	if (s->options.stage)
		return explain(s, s->options.stage, getpid());
	if (is_redirected && redirect(s))
		return 1;
	status = do_statement(s);
	return is_first && is_redirected ? cut_rest(status) : status;
}

int run_count(const struct options *options, u32 *ret_n)
{
	struct sql_parameters parameters = options->parameters;
	struct query q;
	int status = 0;

	if (!query_init(&q, options->file, options->text.at, options->text.n))
		return tell_no_memory();
	q.parameters = &parameters;
	q.settings.target_pid = options->target_pid;
	q.is_many = true;
	if (!query_parse(&q))
		status = tell_diags(&q);
	*ret_n = q.n_queries;
	query_free(&q);
	return status;
}

int run_text(const struct options *options, struct keep *keep)
{
	struct session session = { .options = *options, .out_fd = STDOUT_FILENO }, *s = &session;
	int status;

	if (!query_init(&s->query, options->file, options->text.at, options->text.n))
		return tell_no_memory();
	s->query.catalog_path = options->catalog_path;
	s->query.diags.is_shipped = options->is_shipped;
	s->query.parameters = &s->options.parameters;
	s->options.parameters.is_shared = keep != NULL;
	if (keep)
		query_begin_kept(&s->query, keep);
	s->query.settings.target_pid = s->options.target_pid;
	if ((options->is_name ? describe_name(&s->query) : query_parse(&s->query)) &&
	    s->query.statement)
		status = run_statement(s);
	else
		status = tell_diags(&s->query);
	if (s->out_fd > STDOUT_FILENO)
		close(s->out_fd);
	/* Without the byte that starts it, the command ends by itself. */
	if (s->options.host.child_go_fd >= 0)
		close(s->options.host.child_go_fd);
	if (status == 0)
		query_end_kept(&s->query);
	if (keep)
		keep->compile_ns = s->query.compile_ns;
	query_free(&s->query);
	return status;
}
