/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql survey: streams -> how often they fire, and for whom (one query counts them all), by what
 * each would be read, and what that would cost by the table of costs.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/figures.h"
#include "cli/survey.h"

#define SURVEY_NS    5000000000ull
#define ALL_CALLS    "raw_tracepoint:sys_enter"
#define STREAMS_MAX  2000
#define SOURCES_MAX  31 /* a query reads 64, and this one each twice; a wildcard is one */
#define BUSY_PERCENT 1.0
#define CHEAPER_BY   1.1
#define GROUPS_MAX   4096 /* of a CPU: streams; and names, processes and calls of each */

struct surveyed {
	const char *name;
	const char *sql; /* the query whose cost is asked for; NULL: one that counts it */
	bool is_of_view; /* whose rows have a comm of their own */
	bool is_hidden;	 /* counted for what it says of others */
	u64 n;		 /* events */
	struct who most[WHO_N];
};

struct survey {
	const struct options *options;
	struct arena *arena;
	struct query query; /* its catalog and its views serve all */
	const char *sql;    /* of streams that are being added: as in struct surveyed */
	bool is_of_view;
	VEC(struct surveyed) streams;
	VEC(struct who) who;
	struct buf from, who_from; /* what is counted: SELECTs over them */
	u32 n_sources;		   /* of these */
	u32 n_matched;		   /* streams, those that were there already too */
	int status;		   /* of a query that was refused, which was told */
	bool has_calls;
	struct trial trial;
};

/* --- Which streams --- */

static struct surveyed *find(struct survey *s, const char *name)
{
	for (u32 i = 0; i < s->streams.n; i++)
		if (strcmp(s->streams.at[i].name, name) == 0)
			return &s->streams.at[i];
	return NULL;
}

static const struct span_events {
	const char *span, *start, *end;
} spans[] = {
	{ "syscall:", "tracepoint:syscalls:sys_enter_", "tracepoint:syscalls:sys_exit_" },
	{ "function:", "kprobe:", "kretprobe:" },
	{ "userfunction:", "uprobe:", "uretprobe:" },
};

static const struct span_events *span_of(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(spans); i++)
		if (strncmp(name, spans[i].span, strlen(spans[i].span)) == 0)
			return &spans[i];
	return NULL;
}

/* A span appears when its end does. */
static const char *event_name(struct survey *s, const char *name)
{
	const struct span_events *span = span_of(name);

	return span ? arena_printf(s->arena, "%s%s", span->end, name + strlen(span->span)) : name;
}

static void add_name(struct survey *s, const char *name)
{
	vec_push(s->arena, &s->streams,
		 (struct surveyed){ .name = arena_strdup(s->arena, name),
				    .sql = s->sql,
				    .is_of_view = s->is_of_view });
	s->has_calls |= strncmp(name, "tracepoint:syscalls:", 20) == 0;
}

/* Is an event of it any system call's? */
static bool is_of_all_calls(const char *source)
{
	return strcmp(source, ALL_CALLS) == 0 ||
	       strcmp(source, "tracepoint:raw_syscalls:sys_enter") == 0 ||
	       strcmp(source, "tracepoint:raw_syscalls:sys_exit") == 0;
}

static void count(struct survey *s, const char *source, bool is_hidden)
{
	s->n_sources++;
	buf_printf(&s->from, "%sSELECT probe FROM %s", s->from.n ? " UNION ALL " : "", source);
	if (!is_hidden)
		buf_printf(&s->who_from,
			   "%sSELECT probe, current.comm AS comm, current.pid AS pid, %s AS call "
			   "FROM %s",
			   s->who_from.n ? " UNION ALL " : "",
			   is_of_all_calls(source) ? "id" : "-1", source);
}

static void add_stream(struct survey *s, const char *name)
{
	s->n_matched++;
	if (s->streams.n > STREAMS_MAX || find(s, name))
		return;
	add_name(s, name);
	count(s, name, false);
}

/* A list as FROM reads it: a wildcard is one source, unless some of it is counted already. */
static void add_list(struct survey *s, const char *written, const struct stream_list *list)
{
	bool is_new = true;

	for (u32 i = 0; i < list->streams.n; i++)
		is_new &= !find(s, list->streams.at[i]->name);
	if (is_new)
		count(s, written, false);
	for (u32 i = 0; i < list->streams.n; i++)
		if (is_new)
			add_name(s, list->streams.at[i]->name);
		else
			add_stream(s, list->streams.at[i]->name);
	s->n_matched += list->streams.n;
}

/* As `ebql list` finds it; a span is its two events, and views are not among them. */
static void add_listed(void *survey, const char *name)
{
	struct survey *s = survey;
	const struct span_events *span = span_of(name);

	if (!strchr(name, ':'))
		return;
	if (span)
		add_stream(s,
			   arena_printf(s->arena, "%s%s", span->start, name + strlen(span->span)));
	add_stream(s, event_name(s, name));
}

/* The streams of a query, each once. */
static bool add_streams_of(struct survey *s, struct query *q)
{
	if (!query_parse(q))
		return false;
	if (!q->statement || q->statement->kind != AST_STATEMENT_SELECT)
		return diag_refuse(&q->diags, "no-streams", SPAN_NONE,
				   "only of a SELECT is there something to survey");
	if (!query_compile(q))
		return false;
	for (u32 i = 0; q->programs && i < q->programs->set->n_hooks; i++) {
		const struct hook *hook = &q->programs->set->hooks[i];

		for (u32 k = 0; k < hook->n_uses; k++)
			for (u32 j = 0; j < hook->uses[k].n_streams; j++)
				add_stream(s, event_name(s, hook->uses[k].streams[j]->name));
	}
	return q->programs || diag_refuse(&q->diags, "no-streams", SPAN_NONE,
					  "the query reads no stream of the kernel");
}

/* false: it is refused, and s->status. */
static bool add_query(struct survey *s, const char *text)
{
	struct query q;
	bool is_added;

	if (!query_init(&q, "query", text, strlen(text))) {
		s->status = tell_no_memory();
		return false;
	}
	q.catalog = s->query.catalog;
	q.settings.target_pid = getpid();
	s->sql = text;
	is_added = add_streams_of(s, &q);
	s->sql = NULL;
	s->status = is_added ? 0 : tell_diags(&q);
	q.catalog = NULL;
	query_free(&q);
	return is_added;
}

static bool add_view(struct survey *s, const char *name)
{
	bool is_added;

	s->is_of_view = true;
	is_added = add_query(s, arena_printf(s->arena, "SELECT count(*) FROM %s", name));
	s->is_of_view = false;
	return is_added;
}

/* false after a diagnostic. */
static bool add_pattern(struct survey *s, const char *word)
{
	struct query *q = &s->query;
	struct query_description d;

	if (strpbrk(word, " \t\n"))
		return add_query(s, word);
	s->n_matched = 0;
	if (!describe_written(q, word, strlen(word), &d))
		d.list = NULL;
	else if (!d.list && !span_of(word)) /* a view, or members of a tracepoint's struct */
		return add_view(s, word);
	else if (!d.list && !strpbrk(word, "*?"))
		add_listed(s, word);
	if (d.list)
		add_list(s, d.list->is_wildcard ? word : d.list->streams.at[0]->name, d.list);
	diags_init(&q->diags, &q->arena, "survey", "", 0);
	if (!s->n_matched && !query_each_stream(q, word, add_listed, s))
		return false;
	if (s->streams.n > STREAMS_MAX)
		return diag_refuse(&q->diags, "too-many-streams", SPAN_NONE,
				   "\"%s\" matches %u streams, and a survey is of %u at most" HINT
				   "ebql list '%s' shows them",
				   word, s->n_matched, STREAMS_MAX, word);
	return s->n_matched ||
	       diag_refuse(&q->diags, "unknown-stream", SPAN_NONE,
			   "no stream matches \"%s\"" HINT "ebql list shows which there are", word);
}

/* --- How often --- */

static int take_counts(void *survey, const struct batch *batch)
{
	struct survey *s = survey;

	for (u32 i = 0; i < batch->n_rows; i++) {
		const struct value *row = &batch->values[i * batch->schema->n_columns];
		struct surveyed *stream;
		struct who who = { 0 };

		/* Of groups that found no room it is not known whose they are. */
		if ((s64)i == batch->other_row || row[0].kind != VALUE_TEXT)
			continue;
		stream = find(s, arena_strndup(s->arena, row[0].text, row[0].n));
		if (!stream)
			continue;
		if (row[1].kind != VALUE_TEXT) {
			stream->n = (u64)row[4].integer;
			continue;
		}
		who.stream = (u32)(stream - s->streams.at);
		memcpy(who.comm, row[1].text, MIN(row[1].n, sizeof(who.comm) - 1));
		who.pid = (s64)row[2].integer;
		who.call = (s64)row[3].integer;
		who.n = (u64)row[4].integer;
		vec_push(s->arena, &s->who, who);
	}
	return 0;
}

static void find_most(struct survey *s)
{
	for (u32 kind = 0; kind < WHO_N; kind++) {
		struct who *most = arena_array(s->arena, struct who, s->streams.n);

		who_find(s->who.at, s->who.n, (enum who_kind)kind, most);
		for (u32 i = 0; i < s->streams.n; i++)
			s->streams.at[i].most[kind] = most[i];
	}
}

/* The exit status. */
static int count_all(struct survey *s)
{
	struct options options = *s->options;
	int status;

	if (s->has_calls && !find(s, ALL_CALLS)) {
		add_name(s, ALL_CALLS);
		count(s, ALL_CALLS, true);
		find(s, ALL_CALLS)->is_hidden = true;
	}
	buf_init_in(&options.text, s->arena);
	/* Two parts, of one program at each hook: that groups of the second find no room takes
	 * nothing from the first. */
	buf_printf(&options.text,
		   "SELECT probe, NULL AS comm, 0 AS pid, -1 AS call, count(*) AS events FROM (%s) "
		   "GROUP BY probe UNION ALL "
		   "SELECT probe, comm, pid, call, count(*) FROM (%s) "
		   "GROUP BY probe, comm, pid, call WITH (max_groups = %u)",
		   s->from.at, s->who_from.at, GROUPS_MAX);
	options.file = "survey";
	options.format = out_format_find("table");
	options.trial = &s->trial;
	if (!options.command && !options.host.duration_ns)
		options.host.duration_ns = SURVEY_NS;
	s->trial = (struct trial){ .batch = take_counts, .context = s };
	status = run_text(&options, NULL);
	find_most(s);
	return status == 3 ? 0 : status; /* what was lost stands below the rows */
}

/* --- What it costs --- */

struct forecast {
	const char *path, *others; /* "": it is not known */
	double event_ns, hook_ns;  /* one event, and of that its hook */
	double ns, others_ns;	   /* all that the time had, and of that for other system calls */
	double cheapest_ns;	   /* of the other ways, all that the time had */
	const char *cheapest;
};

static u64 n_calls(struct survey *s)
{
	const struct surveyed *all = find(s, ALL_CALLS);

	return all ? all->n : 0;
}

/* How many of the calls that come by a hook are for none of its streams: this stream's share. */
static double n_others(struct survey *s, const struct surveyed *stream, const struct hook *hook)
{
	double wanted = 0;

	for (u32 i = 0; i < hook->n_uses; i++)
		for (u32 k = 0; k < hook->uses[i].n_streams; k++) {
			const struct surveyed *its =
				find(s, event_name(s, hook->uses[i].streams[k]->name));

			wanted += its && hook->uses[i].part == hook->uses[0].part ? (double)its->n
										  : 0;
		}
	if ((double)n_calls(s) <= wanted)
		return 0;
	return ((double)n_calls(s) - wanted) * (wanted > 0 ? (double)stream->n / wanted : 1);
}

static void add_hook(struct survey *s, const struct surveyed *stream, const struct hook *hook,
		     struct forecast *cost)
{
	double n = (double)stream->n, others = n_others(s, stream, hook);
	struct hook_estimate estimate;
	struct hook_other other[2];
	u32 n_other = phys_other_hooks(hook, other);

	phys_estimate(hook, &estimate);
	cost->path = *cost->path ? arena_printf(s->arena, "%s, %s", cost->path, hook_word(hook))
				 : hook_word(hook);
	cost->event_ns += estimate.hook_ns + estimate.work_ns;
	cost->hook_ns += estimate.hook_ns;
	cost->others_ns += estimate.other_ns * others;
	cost->ns += (estimate.hook_ns + estimate.work_ns) * n + estimate.other_ns * others;
	for (u32 i = 0; i < n_other; i++) {
		double event_ns = other[i].hook_ns + estimate.work_ns;
		double ns = event_ns * n + other[i].other_ns * others;

		cost->others = arena_printf(s->arena, "%s%s%s%s %.0f ns, %.3g %%", cost->others,
					    *cost->others ? "; " : "", other[i].name,
					    other[i].is_sure ? "" : " (if it can be had)", event_ns,
					    100 * ns / (double)s->trial.ns);
		if (ns < cost->cheapest_ns && other[i].is_sure) {
			cost->cheapest_ns = ns;
			cost->cheapest = other[i].name;
		}
	}
}

/* As the query would be planned by itself, with what is known of the rates. */
static struct forecast cost_of(struct survey *s, const struct surveyed *stream)
{
	const char *text =
		stream->sql ?: arena_printf(s->arena, "SELECT count(*) FROM %s", stream->name);
	struct forecast cost = { .path = "", .others = "", .cheapest_ns = INFINITY };
	struct query q;

	if (!query_init(&q, "survey", text, strlen(text)))
		return cost;
	q.catalog = s->query.catalog;
	q.share = n_calls(s) ? MIN((double)stream->n / (double)n_calls(s), 1.0) : -1;
	q.settings.target_pid = getpid();
	if (query_parse(&q) && query_compile(&q) && q.programs)
		for (u32 i = 0; i < q.programs->set->n_hooks; i++) {
			const struct hook *hook = &q.programs->set->hooks[i];
			bool is_its = false;

			for (u32 k = 0; k < hook->n_uses; k++)
				for (u32 j = 0; j < hook->uses[k].n_streams; j++)
					is_its |= strcmp(event_name(s,
								    hook->uses[k].streams[j]->name),
							 stream->name) == 0;
			if (is_its)
				add_hook(s, stream, hook, &cost);
		}
	q.catalog = NULL;
	query_free(&q);
	return cost;
}

static bool is_most(const struct surveyed *stream, enum who_kind kind)
{
	return stream->most[kind].n && 2 * stream->most[kind].n >= stream->n;
}

static double percent_of(const struct surveyed *stream, enum who_kind kind)
{
	return 100 * (double)stream->most[kind].n / (double)stream->n;
}

/* NULL: none has most of them. */
static const char *call_of(struct survey *s, const struct surveyed *stream)
{
	s64 call = stream->most[WHO_CALL].call;

	return is_most(stream, WHO_CALL) && call >= 0
		       ? syscall_name(catalog_arch(s->query.catalog), (s32)call)
		       : NULL;
}

/* Who has half of a stream's events, at least; "": nobody. */
static const char *mostly(struct survey *s, const struct surveyed *stream)
{
	const char *text = "", *call = call_of(s, stream);

	if (is_most(stream, WHO_COMM))
		text = arena_printf(s->arena, "comm '%s' %.0f %%", stream->most[WHO_COMM].comm,
				    percent_of(stream, WHO_COMM));
	if (is_most(stream, WHO_PID))
		text = arena_printf(s->arena, "%s, pid %lld %.0f %%", text,
				    (long long)stream->most[WHO_PID].pid,
				    percent_of(stream, WHO_PID));
	if (call)
		text = arena_printf(s->arena, "%s, call %s %.0f %%", text, call,
				    percent_of(stream, WHO_CALL));
	return *text == ',' ? text + 2 : text;
}

/* Most is of one thread's name, or of one call: what to leave out, and what of all that saves. */
static const char *filter(struct survey *s, const struct surveyed *stream,
			  const struct forecast *cost)
{
	const char *call = call_of(s, stream), *comm = stream->most[WHO_COMM].comm, *text;
	struct buf name;
	double saved_ns;

	if (call)
		return arena_printf(s->arena, "; %.0f %% of it is of one call: FROM syscall:%s",
				    percent_of(stream, WHO_CALL), call);
	if (!is_most(stream, WHO_COMM))
		return "";
	text = arena_printf(s->arena, "; %.0f %% of it is of comm '%s'",
			    percent_of(stream, WHO_COMM), comm);
	if (stream->is_of_view)
		return text;
	buf_init_in(&name, s->arena);
	buf_put_quoted(&name, '\'', comm, strlen(comm));
	/* The hook is paid, and the name is read, whether the event passes or not. */
	saved_ns = cost->event_ns - cost->hook_ns -
		   cost_ns(catalog_costs(s->query.catalog), COST_COMM);
	saved_ns = MAX(saved_ns, 0.0) * (double)stream->most[WHO_COMM].n;
	return arena_printf(s->arena,
			    "%s: WHERE current.comm <> %s would save %.0f %%, of %.0f ns the "
			    "hook itself takes %.0f",
			    text, name.at, 100 * saved_ns / cost->ns, cost->event_ns,
			    cost->hook_ns);
}

static const char *advice(struct survey *s, const struct surveyed *stream,
			  const struct forecast *cost, double percent)
{
	if (!stream->n)
		return "no event came";
	if (cost->cheapest_ns * CHEAPER_BY < cost->ns)
		return arena_printf(s->arena, "%s would be cheaper", cost->cheapest);
	if (percent <= BUSY_PERCENT)
		return "";
	if (cost->others_ns > cost->ns / 2)
		return "more than 1 % of a CPU, for other system calls mostly";
	return arena_printf(s->arena, "more than 1 %% of a CPU%s", filter(s, stream, cost));
}

/* Those that came most often first; others as they were asked for. */
static void sort(struct survey *s)
{
	for (u32 i = 1; i < s->streams.n; i++) {
		struct surveyed stream = s->streams.at[i];
		u32 at = i;

		while (at > 0 && s->streams.at[at - 1].n < stream.n) {
			s->streams.at[at] = s->streams.at[at - 1];
			at--;
		}
		s->streams.at[at] = stream;
	}
}

static int say(struct survey *s)
{
	static const struct column columns[] = {
		{ "stream", { .kind = TYPE_TEXT } },
		{ "events", { .kind = TYPE_INT, .bits = 64 } },
		{ "per_second", { .kind = TYPE_REAL, .bits = 64 } },
		{ "path", { .kind = TYPE_TEXT } },
		{ "ns_per_event", { .kind = TYPE_REAL, .bits = 64 } },
		{ "cpu_percent", { .kind = TYPE_REAL, .bits = 64 } },
		{ "machine_percent", { .kind = TYPE_REAL, .bits = 64 } },
		{ "mostly", { .kind = TYPE_TEXT } },
		{ "other_paths", { .kind = TYPE_TEXT } },
		{ "advice", { .kind = TYPE_TEXT } },
	};
	double n_cpus = (double)sysconf(_SC_NPROCESSORS_ONLN), ns = (double)s->trial.ns;
	struct figures figures;

	figures_init(&figures, s->arena, columns, ARRAY_SIZE(columns));
	sort(s);
	for (u32 i = 0; i < s->streams.n; i++) {
		const struct surveyed *stream = &s->streams.at[i];
		struct forecast cost;
		double percent;

		if (stream->is_hidden)
			continue;
		cost = cost_of(s, stream);
		percent = 100 * cost.ns / ns;
		figures_text(&figures, stream->name);
		figures_int(&figures, (s128)stream->n);
		figures_real(&figures, (double)stream->n * 1e9 / ns);
		figures_text(&figures, cost.path);
		figures_real(&figures, *cost.path ? cost.event_ns : NAN);
		figures_real(&figures, *cost.path ? percent : NAN);
		figures_real(&figures, *cost.path ? percent / n_cpus : NAN);
		figures_text(&figures, mostly(s, stream));
		figures_text(&figures, cost.others);
		figures_text(&figures, advice(s, stream, &cost, percent));
	}
	return figures_say(&figures, s->options, &s->trial.account);
}

static int survey(struct survey *s)
{
	const struct costs *costs;
	int status;

	for (char **word = s->options->words; *word; word++)
		if (!add_pattern(s, *word))
			return s->status ?: tell_diags(&s->query);
	if (s->n_sources > SOURCES_MAX) {
		diag_refuse(&s->query.diags, "too-many-streams", SPAN_NONE,
			    "these are %u streams of several kinds, and %u at most are read one by "
			    "one" HINT
			    "of one kind they are read as one: tracepoint:*:NAME*, kprobe:NAME*",
			    s->n_sources, SOURCES_MAX);
		return tell_diags(&s->query);
	}
	status = count_all(s);
	if (status)
		return status;
	costs = catalog_costs(s->query.catalog);
	if (costs->ignored)
		tell_note("ebql: %s is not used: %s\n", costs->path, costs->ignored);
	else if (!costs->path)
		tell_note("ebql: the costs are of another machine; \"ebql calibrate\" measures "
			  "this one's\n");
	return say(s);
}

int cmd_survey(struct options *options)
{
	struct survey s = { .options = options };
	int status;

	if (!figures_check(options))
		return 2;
	if (!query_init(&s.query, "survey", "", 0))
		return tell_no_memory();
	s.arena = &s.query.arena;
	buf_init_in(&s.from, s.arena);
	buf_init_in(&s.who_from, s.arena);
	s.query.settings.target_pid = getpid();
	status = query_open_catalog(&s.query) ? survey(&s) : tell_diags(&s.query);
	query_free(&s.query);
	return status;
}
