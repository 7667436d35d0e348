/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql 'SQL': compiles the query, loads and attaches it, and prints its batches
 * until it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/options.h"
#include "cli/query.h"

struct session {
	struct query query;
	struct options options;
	struct out out;
	struct load load;
	bool is_ended_by_loss;
	int exec_fd; /* the errno of an exec that failed, or nothing; -1: no command */
};

static int give_batch(void *context, const struct batch *batch)
{
	struct session *s = context;
	int error = out_batch(&s->out, batch);

	if (!error && s->query.settings.on_loss_fail &&
	    losses_are_biased(batch->lost, batch->unpaired)) {
		s->is_ended_by_loss = true;
		return -ECANCELED;
	}
	return error;
}

static void say_attached(void *context)
{
	struct session *s = context;

	if (s->options.is_verbose)
		fprintf(stderr, "attached: load %.2f ms, attach %.2f ms\n",
			(double)s->load.verify_ns / 1e6, (double)s->load.attach_ns / 1e6);
}

static void say_plan(const struct query *q)
{
	fprintf(stderr, "compiled in %.2f ms\n", (double)q->compile_ns / 1e6);
	for (u32 i = 0; i < q->n_programs; i++) {
		const struct hook *h = q->programs[i].hook;

		fprintf(stderr, "%s: %u instructions; %s\n", h->target, q->programs[i].code.n_insns,
			h->reason);
		if (i == 9 && q->n_programs > 11) {
			fprintf(stderr, "... and %u programs more\n", q->n_programs - 10);
			break;
		}
	}
}

/* Starts COMMAND, which waits for a byte (or the end of the pipe) before its exec. */
static int child_start(struct session *s)
{
	struct options *o = &s->options;
	int pipe_fds[2], exec_fds[2], failed = 0;
	char go;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(exec_fds, O_CLOEXEC | O_NONBLOCK) < 0) {
		failed = -errno;
		close(pipe_fds[0]);
		close(pipe_fds[1]);
		return failed;
	}
	o->run.child_pid = fork();
	if (o->run.child_pid < 0) {
		failed = -errno;
		close(pipe_fds[0]);
		close(pipe_fds[1]);
		close(exec_fds[0]);
		close(exec_fds[1]);
		return failed;
	}
	if (o->run.child_pid == 0) {
		close(pipe_fds[1]);
		if (read(pipe_fds[0], &go, 1) != 1)
			_exit(127); /* the query failed: nothing is run */
		execvp(o->command[0], o->command);
		failed = errno;
		fprintf(stderr, "ebql: %s: %s\n", o->command[0], strerror(failed));
		_exit(write(exec_fds[1], &failed, sizeof(failed)) > 0 ? 127 : 126);
	}
	close(pipe_fds[0]);
	close(exec_fds[1]);
	s->exec_fd = exec_fds[0];
	o->run.child_go_fd = pipe_fds[1];
	return 0;
}

/* The command is over: was it one at all?  The child has said why not. */
static bool child_failed(const struct session *s)
{
	int failed;

	return s->exec_fd >= 0 && read(s->exec_fd, &failed, sizeof(failed)) > 0;
}

static void out_start(struct session *s)
{
	struct out_options options = { .fd = STDOUT_FILENO };
	struct winsize size;

	options.is_terminal = isatty(STDOUT_FILENO);
	if (options.is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
		options.width = size.ws_col;
		options.height = size.ws_row;
	}
	options.is_ascii = s->options.is_ascii;
	options.bins = s->options.bins;
	options.monotonic_to_realtime_ns = (s64)(base_realtime_ns() - base_monotonic_ns());
	options.is_streaming = s->query.phys->is_streaming;
	out_open(&s->out, s->options.format, &options, &s->query.phys->user.output);
}

/* Can the format show what the query gives?  false after a diagnostic. */
static bool check_format(struct session *s)
{
	struct query *q = &s->query;
	struct diag *diag;

	if (!s->options.format->needs_histogram || out_has_histogram(&q->phys->user.output))
		return true;
	diag = diag_error(&q->diags, "no-histogram", q->statement->span,
			  "--heatmap draws a histogram, and the query has none");
	diag_hint(&q->diags, diag, "SELECT histogram(x) ... WINDOW TUMBLING 1s");
	return false;
}

/* What a heat map leaves away, said before it is drawn. */
static void warn_heatmap(const struct session *s)
{
	const struct schema *schema = &s->query.phys->user.output;
	const struct plan *agg = plan_find(s->query.optimized, PLAN_AGGREGATE);
	const char *drawn = NULL;
	u32 n = 0;

	if (!s->options.format->needs_histogram)
		return;
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (schema->columns[i].type.kind == TYPE_HISTOGRAM && n++ == 0)
			drawn = schema->columns[i].name;
	}
	if (n > 1)
		fprintf(stderr, "ebql: --heatmap draws only the first histogram, %s\n", drawn);
	if (agg && agg->n_keys)
		fputs("ebql: --heatmap merges all groups of GROUP BY into one map\n", stderr);
	if (isatty(STDOUT_FILENO) && s->query.phys->window == WINDOW_NONE &&
	    !s->options.run.every_ns)
		fputs("ebql: --heatmap: without WINDOW or --every the map is drawn at the end\n",
		      stderr);
}

static int loop(struct session *s)
{
	struct query *q = &s->query;
	const struct run_sink sink = { give_batch, say_attached, s };
	struct run_result result = { 0 };
	struct run *run;
	int error, closed;

	if (q->phys->is_streaming)
		s->options.run.n_rows = s->options.run.n_windows;
	run = run_open(&s->load, &s->options.run, &sink, &q->arena, &q->diags);
	if (!run)
		return query_report(q);
	out_start(s);
	error = run_loop(run, &q->diags, &result);
	run_close(run);
	/* After a failure nothing more is written, but all is freed. */
	if (!s->out.error && diags_failed(&q->diags))
		s->out.error = -ECANCELED;
	closed = out_close(&s->out);
	error = error ? error : closed;
	if (diags_failed(&q->diags))
		return MAX(query_report(q), 1);
	if (error == -EPIPE)
		error = 0; /* the reader had enough: a clean end */
	if (error && !s->is_ended_by_loss) {
		fprintf(stderr, "ebql: %s\n", strerror(-error));
		return 1;
	}
	return s->is_ended_by_loss || losses_are_biased(result.lost, result.unpaired) ? 3 : 0;
}

static int run_select(struct session *s)
{
	struct query *q = &s->query;
	int error, status;

	q->settings.target_pid = s->options.target_pid;
	if (s->options.command) {
		error = child_start(s);
		if (error) {
			fprintf(stderr, "ebql: cannot start the command: %s\n", strerror(-error));
			return 1;
		}
		q->settings.target_pid = s->options.run.child_pid;
	}
	if (!query_compile(q) || !check_format(s))
		return query_report(q);
	query_report(q); /* what it warns of is known before anything is loaded */
	if (s->options.target_pid >= 0 && !q->settings.is_target_used)
		fprintf(stderr,
			"ebql: -p has no effect: it names the process for target_pid(), which "
			"the query does not use\n");
	if (s->options.run.every_ns && q->phys->is_streaming)
		fprintf(stderr,
			"ebql: --every has no effect: the query's rows stream as they happen\n");
	else if (s->options.run.every_ns && q->phys->window != WINDOW_NONE)
		fprintf(stderr, "ebql: --every has no effect: the query has a WINDOW\n");
	warn_heatmap(s);
	if (s->options.is_verbose)
		say_plan(q);
	error = load_open(&s->load, q->phys, q->programs, q->n_programs, q->constants.at,
			  (u32)q->constants.n, &q->arena, &q->diags);
	if (error)
		return MAX(query_report(q), 1);
	status = loop(s);
	load_close(&s->load);
	return child_failed(s) ? 1 : status;
}

static bool is_format(const struct session *s, const char *name)
{
	return strcmp(s->options.format->name, name) == 0;
}

/* Statements that show no rows have no other forms. */
static bool is_table_or_json(const struct session *s)
{
	if (is_format(s, "table") || is_format(s, "json"))
		return true;
	fprintf(stderr, "ebql: -o: this statement is shown as table or json, not as %s\n",
		s->options.format->name);
	return false;
}

/* SHOW STREAMS LIKE 'sched%' -> list 'sched*' */
static int show_streams(struct session *s)
{
	const char *like = s->query.statement->text;
	bool is_json = is_format(s, "json");
	char pattern[256], name[] = "list", output[] = "-o", json[] = "json", table[] = "table";
	char *argv[] = { name, output, is_json ? json : table, like ? pattern : NULL, NULL };

	if (!is_table_or_json(s))
		return 2;
	snprintf(pattern, sizeof(pattern), "%s", like ? like : "");
	for (char *p = pattern; *p; p++)
		*p = *p == '%' ? '*' : *p == '_' ? '?' : *p;
	return cmd_list(like ? 4 : 3, argv);
}

static int describe(struct session *s)
{
	const struct ast_statement *statement = s->query.statement;
	struct query *q = &s->query;
	bool is_json = is_format(s, "json");
	char stream[512], name[] = "describe", output[] = "-o", json[] = "json", table[] = "table";
	char *argv[] = { name, output, is_json ? json : table, stream, NULL };

	if (!is_table_or_json(s))
		return 2;
	if (plan_is_derived(statement->source)) {
		int status = 1;

		if (query_open_catalog(q))
			status = describe_derived(statement->source, q->catalog, &q->views, is_json,
						  &q->arena, &q->diags);
		return q->diags.list.n ? query_report(q) : status;
	}
	snprintf(stream, sizeof(stream), "%s", statement->source->written);
	return cmd_describe(4, argv);
}

struct view_listing {
	struct buf out;
	const char *like; /* NULL: all */
	bool is_json, is_csv;
};

/* RFC 4180: always quoted, as comments have commas and lines. */
static void put_csv(struct buf *out, const char *text, size_t n)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"')
			buf_putc(out, '"');
		buf_putc(out, text[i]);
	}
	buf_putc(out, '"');
}

static void put_view(void *context, const struct view *view)
{
	struct view_listing *listing = context;
	const char *comment = view->comment;
	size_t n = strlen(comment);
	struct buf *out = &listing->out;

	if (listing->like && sqlite3_strlike(listing->like, view->name, 0) != 0)
		return;
	while (n && comment[n - 1] == '\n')
		n--;
	if (listing->is_json) {
		buf_puts(out, "{\"view\": ");
		buf_put_json_string(out, view->name, strlen(view->name));
		buf_puts(out, ", \"comment\": ");
		buf_put_json_string(out, comment, n);
		buf_putc(out, '}');
	} else if (listing->is_csv) {
		put_csv(out, view->name, strlen(view->name));
		buf_putc(out, ',');
		put_csv(out, comment, n);
	} else if (n) {
		buf_printf(out, "%-20s  %.*s", view->name, (int)strcspn(comment, "\n"), comment);
	} else {
		buf_puts(out, view->name);
	}
	buf_putc(out, '\n');
}

static int show_views(struct session *s)
{
	struct view_listing listing = { .like = s->query.statement->text,
					.is_json = is_format(s, "json"),
					.is_csv = is_format(s, "csv") };
	int error;

	if (!listing.is_csv && !is_table_or_json(s))
		return 2;
	buf_init(&listing.out);
	if (listing.is_csv)
		buf_puts(&listing.out, "view,comment\n");
	views_each(&s->query.views, put_view, &listing);
	error = buf_flush(&listing.out, STDOUT_FILENO);
	buf_free(&listing.out);
	return error ? 1 : query_report(&s->query);
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
	struct plan_description description;

	if (view->is_shipped)
		return;
	check->n++;
	plan_describe(&source, q->catalog, &q->views, &q->arena, &q->diags, &description);
}

/* A text of nothing but views: are they right?  Nothing remembers them. */
static int check_views(struct session *s)
{
	struct view_check check = { &s->query, 0 };
	struct query *q = &s->query;

	if (!query_open_catalog(q))
		return query_report(q);
	views_each(&q->views, check_view, &check);
	if (!diags_failed(&q->diags))
		fprintf(stderr,
			"ebql: %u view%s checked, and no query: a view lives as long as its text, "
			"put the query behind it\n",
			check.n, check.n == 1 ? "" : "s");
	return query_report(q);
}

static int refuse(struct session *s, const char *what)
{
	diag_error(&s->query.diags, "not-supported", s->query.statement->span,
		   "%s not available yet", what);
	return query_report(&s->query);
}

static int run_statement(struct session *s)
{
	const struct ast_statement *statement = s->query.statement;

	optind = 1;
	switch (statement->kind) {
	case AST_STATEMENT_SELECT:
		return run_select(s);
	case AST_STATEMENT_EXPLAIN:
		if (statement->analyze)
			return refuse(s, "EXPLAIN ANALYZE is");
		/* The command is not started: any process stands for it. */
		s->query.settings.target_pid =
			s->options.command ? getpid() : s->options.target_pid;
		return explain_query(&s->query, statement->text ? statement->text : "physical");
	case AST_STATEMENT_SHOW_STREAMS:
		return show_streams(s);
	case AST_STATEMENT_DESCRIBE:
		return describe(s);
	case AST_STATEMENT_SHOW_VIEWS:
		return show_views(s);
	case AST_STATEMENT_CREATE_VIEW:
		return check_views(s);
	default:
		return query_report(&s->query);
	}
}

int cmd_run(int argc, char **argv)
{
	struct session session = { .exec_fd = -1 }, *s = &session;
	int status = options_parse(&s->options, argc, argv);

	if (status >= 0) {
		buf_free(&s->options.text);
		return status;
	}
	query_init(&s->query, s->options.file, s->options.text.at, s->options.text.n);
	if (query_parse(&s->query))
		status = run_statement(s);
	else
		status = query_report(&s->query);
	/* Without the byte that starts it, the command ends by itself. */
	if (s->options.run.child_go_fd >= 0)
		close(s->options.run.child_go_fd);
	if (s->exec_fd >= 0)
		close(s->exec_fd);
	query_free(&s->query);
	buf_free(&s->options.text);
	return status;
}
