/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A text of bpftrace, PROBE /FILTER/ { ACTION }, -> the SQL for it, which the hint shows: of what
 * one-liners do.  One action that prints or aggregates; a start that is kept until a return is the
 * latency of a span; an interval is the end of the run or of the window.
 */
#include <ctype.h>
#include <string.h>

#include "sql/parse.h"

struct piece {
	const char *at, *end;
};

struct clause {
	struct piece probe, filter, body;
};

struct translation {
	struct piece source, filter, start; /* start: the probe whose time is kept */
	struct buf list;
	const char *window, *duration; /* of an interval */
	bool is_grouped, is_latency, is_failed;
};

static struct piece trimmed(struct piece s)
{
	while (s.at < s.end && isspace((unsigned char)*s.at))
		s.at++;
	while (s.at < s.end && isspace((unsigned char)s.end[-1]))
		s.end--;
	return s;
}

static bool begins(struct piece s, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(s.end - s.at) >= n && memcmp(s.at, with, n) == 0;
}

static bool has_byte(struct piece s, char byte)
{
	return s.at < s.end && memchr(s.at, byte, (size_t)(s.end - s.at));
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static size_t word_bytes(struct piece s)
{
	size_t n = 0;

	while (s.at + n < s.end && is_of_word(s.at[n]))
		n++;
	return n;
}

/* Behind the text in quotes that begins here. */
static const char *behind_text(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\' && at + 1 < end;
	return at < end ? at + 1 : end;
}

/* The first byte of `any` outside of texts and of (), [], {} that open here; or the end. */
static const char *find_outside(struct piece s, const char *any)
{
	int depth = 0;

	while (s.at < s.end) {
		if (!depth && strchr(any, *s.at))
			break;
		depth += *s.at == '(' || *s.at == '[' || *s.at == '{';
		depth -= *s.at == ')' || *s.at == ']' || *s.at == '}';
		s.at = *s.at == '"' ? behind_text(s.at, s.end) : s.at + 1;
	}
	return s.at;
}

static bool is_filter_next(const char *at, const char *from)
{
	return *at == '/' && at > from && isspace((unsigned char)at[-1]);
}

/* The next clause of `rest`; false: there is none. */
static bool take_clause(struct piece *rest, struct clause *ret)
{
	const char *at = trimmed(*rest).at, *from = at;

	*ret = (struct clause){ .probe = { at, at } };
	while (at < rest->end && *at != '{' && *at != ';' && !is_filter_next(at, from))
		at++;
	ret->probe = trimmed((struct piece){ from, at });
	if (at < rest->end && *at == '/') {
		from = ++at;
		while (at < rest->end && *at != '{')
			at++;
		ret->filter = trimmed((struct piece){ from, at });
		if (ret->filter.at == ret->filter.end || ret->filter.end[-1] != '/')
			return false;
		ret->filter = trimmed((struct piece){ ret->filter.at, ret->filter.end - 1 });
	}
	if (at >= rest->end || *at != '{' || ret->probe.at == ret->probe.end)
		return false;
	from = ++at;
	at = find_outside((struct piece){ at, rest->end }, "}");
	ret->body = trimmed((struct piece){ from, at });
	rest->at = at < rest->end ? at + 1 : at;
	return true;
}

/* --- Expressions --- */

/* (struct path *), (uint64): a type in parentheses.  Its bytes, or 0. */
static size_t cast_bytes(struct piece s)
{
	const char *at = s.at + 1;

	while (at < s.end && (is_of_word(*at) || *at == ' ' || *at == '*'))
		at++;
	if (at >= s.end || *at != ')' ||
	    (at[-1] != '*' && !begins((struct piece){ s.at + 1, at }, "uint") &&
	     !begins((struct piece){ s.at + 1, at }, "int")))
		return 0;
	return (size_t)(at + 1 - s.at);
}

/* "nsecs - @start[tid]", from nsecs on.  Its bytes, or 0. */
static size_t latency_bytes(struct piece s)
{
	const char *at = s.at + strlen("nsecs");

	while (at < s.end && *at == ' ')
		at++;
	if (at >= s.end || *at != '-')
		return 0;
	for (at++; at < s.end && *at == ' ';)
		at++;
	if (at >= s.end || *at != '@')
		return 0;
	at += 1 + word_bytes((struct piece){ at + 1, s.end });
	if (at < s.end && *at == '[') {
		at = find_outside((struct piece){ at + 1, s.end }, "]");
		at += at < s.end;
	}
	return (size_t)(at - s.at);
}

/* A word, and what belongs to it, -> out.  Its bytes. */
static size_t put_word(struct translation *t, struct piece s, struct buf *out)
{
	static const char *const words[][2] = {
		{ "nsecs", "time" },
		{ "retval", "ret" },
		{ "func", "probe" },
		{ "ksym", "sym" },
	};
	/* Of which SQL has nothing: no hint is better than one that cannot be followed. */
	static const char *const nothing[] = { "elapsed",  "rand",     "ncpus",	  "numaid",
					       "usermode", "strftime", "jiffies", "kaddr",
					       "uaddr",	   "reg",      "join",	  "strerror",
					       "buf",	   "macaddr" };
	size_t n = word_bytes(s);

	for (u32 i = 0; i < ARRAY_SIZE(nothing); i++)
		t->is_failed |= strlen(nothing[i]) == n && begins(s, nothing[i]);
	if (n == 4 && begins(s, "args") && s.at + 4 < s.end && (s.at[4] == '.' || s.at[4] == '-'))
		return s.at[4] == '.' ? 5 : 6;
	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		if (strlen(words[i][0]) == n && begins(s, words[i][0])) {
			buf_puts(out, words[i][1]);
			return n;
		}
	}
	buf_put(out, s.at, n);
	return n;
}

static size_t put_mark(struct translation *t, struct piece s, struct buf *out)
{
	static const char *const marks[][2] = { { "==", "=" },	{ "&&", "AND" }, { "||", "OR" },
						{ "!=", "<>" }, { "->", "." },	 { "<=", "<=" },
						{ ">=", ">=" }, { "!", "NOT " } };

	for (u32 i = 0; i < ARRAY_SIZE(marks); i++) {
		if (begins(s, marks[i][0])) {
			buf_puts(out, marks[i][1]);
			return strlen(marks[i][0]);
		}
	}
	t->is_failed |= *s.at == '@' || *s.at == '?' || *s.at == ';' || *s.at == '{';
	buf_putc(out, *s.at);
	return 1;
}

/* "bash" -> 'bash'; what is printed has no line end here. */
static size_t put_text(struct piece s, struct buf *out)
{
	const char *end = behind_text(s.at, s.end);

	buf_putc(out, '\'');
	for (const char *at = s.at + 1; at < end - 1; at++) {
		if (begins((struct piece){ at, end }, "\\n"))
			at++;
		else if (*at == '\'')
			buf_puts(out, "''");
		else
			buf_putc(out, *at);
	}
	buf_putc(out, '\'');
	return (size_t)(end - s.at);
}

static void put_expr(struct translation *t, struct piece s, struct buf *out)
{
	s = trimmed(s);
	/* (nsecs - @start[tid]) / 1000: a DURATION has its unit. */
	for (const char *at = s.at; at < s.end; at++) {
		if (begins((struct piece){ at, s.end }, "nsecs") &&
		    latency_bytes((struct piece){ at, s.end })) {
			t->is_latency = true;
			buf_puts(out, "latency");
			return;
		}
	}
	while (s.at < s.end) {
		size_t n = *s.at == '(' ? cast_bytes(s) : 0;

		if (n) {
			size_t word = word_bytes((struct piece){ s.at + n, s.end });

			s.at += n;
			/* ((struct path *)arg0)->dentry: what has the type already */
			if (word && s.at + word < s.end && s.at[word] == ')' && out->n &&
			    out->at[out->n - 1] == '(' &&
			    (out->n < 2 || !is_of_word(out->at[out->n - 2]))) {
				out->n--;
				buf_put(out, s.at, word);
				s.at += word + 1;
			}
		} else if (*s.at == '"') {
			s.at += put_text(s, out);
		} else if (is_of_word(*s.at)) {
			s.at += put_word(t, s, out);
		} else {
			s.at += put_mark(t, s, out);
		}
	}
}

/* --- Actions --- */

/* One more of the list, by the comma between. */
static void put_item(struct translation *t, struct piece s)
{
	if (t->list.n)
		buf_puts(&t->list, ", ");
	put_expr(t, s, &t->list);
}

/* a, b, c: each; the n-th argument in ret. */
static u32 split(struct piece s, struct piece *ret, u32 most)
{
	u32 n = 0;

	s = trimmed(s);
	while (s.at < s.end) {
		const char *end = find_outside(s, ",");

		if (n < most)
			ret[n] = trimmed((struct piece){ s.at, end });
		n++;
		s.at = end < s.end ? end + 1 : end;
	}
	return MIN(n, most);
}

/* What stands in the brackets that open at s; behind them in *ret_end. */
static struct piece within(struct piece s, const char *close, const char **ret_end)
{
	const char *end = find_outside((struct piece){ s.at + 1, s.end }, close);

	*ret_end = end < s.end ? end + 1 : end;
	return (struct piece){ s.at + 1, end };
}

/* count(), hist(x), ... */
static void put_aggregate(struct translation *t, struct piece s)
{
	static const char *const same[] = { "sum", "avg", "min", "max" };
	struct piece args[4], name = { s.at, s.at + word_bytes(s) };
	const char *end;
	u32 n;

	t->is_failed |= name.end >= s.end || *name.end != '(';
	if (t->is_failed)
		return;
	n = split(within((struct piece){ name.end, s.end }, ")", &end), args, ARRAY_SIZE(args));
	buf_puts(&t->list, t->list.n ? ", " : "");
	if (begins(s, "count(")) {
		buf_puts(&t->list, "count(*)");
	} else if (begins(s, "hist(") && n) {
		buf_puts(&t->list, "histogram(");
		put_expr(t, args[0], &t->list);
		buf_putc(&t->list, ')');
	} else if (begins(s, "lhist(") && n == 4) {
		buf_puts(&t->list, "histogram(");
		put_expr(t, args[0], &t->list);
		buf_printf(&t->list, ", linear(%.*s, %.*s, %.*s))", (int)(args[1].end - args[1].at),
			   args[1].at, (int)(args[2].end - args[2].at), args[2].at,
			   (int)(args[3].end - args[3].at), args[3].at);
	} else if (begins(s, "stats(") && n) {
		buf_puts(&t->list, "count(*), avg(");
		put_expr(t, args[0], &t->list);
		buf_puts(&t->list, "), sum(");
		put_expr(t, args[0], &t->list);
		buf_putc(&t->list, ')');
	} else {
		bool is_known = false;

		for (u32 i = 0; i < ARRAY_SIZE(same); i++)
			is_known |= strlen(same[i]) == (size_t)(name.end - name.at) &&
				    begins(s, same[i]);
		t->is_failed |= !is_known;
		put_expr(t, s, &t->list);
	}
}

/* @name[keys] = aggregate; @name[keys]++; @name[keys] = nsecs, which is a start. */
static void take_map(struct translation *t, const struct clause *clause, struct piece s)
{
	const char *at = s.at + 1 + word_bytes((struct piece){ s.at + 1, s.end });
	struct piece keys[8], rest;
	u32 n = 0;

	if (at < s.end && *at == '[')
		n = split(within((struct piece){ at, s.end }, "]", &at), keys, ARRAY_SIZE(keys));
	rest = trimmed((struct piece){ at, s.end });
	if (begins(rest, "=") && !begins(rest, "==")) {
		rest = trimmed((struct piece){ rest.at + 1, rest.end });
		if (begins(rest, "nsecs") && rest.end - rest.at == 5) {
			t->start = clause->probe;
			return;
		}
	} else if (!begins(rest, "++")) {
		t->is_failed = true;
		return;
	}
	t->is_failed |= t->list.n > 0;
	for (u32 i = 0; i < n; i++)
		put_item(t, keys[i]);
	t->is_grouped = n > 0;
	if (begins(rest, "++"))
		buf_puts(&t->list, t->list.n ? ", count(*)" : "count(*)");
	else
		put_aggregate(t, rest);
	t->source = clause->probe;
	t->filter = clause->filter;
}

static void take_printf(struct translation *t, const struct clause *clause, struct piece s)
{
	struct piece args[12];
	const char *end;
	u32 n = split(within((struct piece){ memchr(s.at, '(', (size_t)(s.end - s.at)), s.end },
			     ")", &end),
		      args, ARRAY_SIZE(args));

	t->is_failed |= t->list.n > 0 || !n;
	for (u32 i = n > 1; i < n; i++)
		put_item(t, args[i]);
	t->source = clause->probe;
	t->filter = clause->filter;
}

/* interval:s:5 { exit(); } ends the run, any other action of it a window. */
static void take_interval(struct parser *p, struct translation *t, const struct clause *clause)
{
	const char *unit =
		memchr(clause->probe.at, ':', (size_t)(clause->probe.end - clause->probe.at));
	const char *number =
		unit ? memchr(unit + 1, ':', (size_t)(clause->probe.end - unit - 1)) : NULL;
	const char *time;

	t->is_failed |= !number;
	if (!number)
		return;
	time = arena_printf(p->arena, "%.*s%.*s", (int)(clause->probe.end - number - 1), number + 1,
			    (int)(number - unit - 1), unit + 1);
	if (begins(clause->body, "exit"))
		t->duration = time;
	else
		t->window = time;
}

static void take_body(struct translation *t, const struct clause *clause)
{
	struct piece rest = clause->body;

	while (rest.at < rest.end) {
		const char *end = find_outside(rest, ";");
		struct piece s = trimmed((struct piece){ rest.at, end });

		rest.at = end < rest.end ? end + 1 : end;
		if (begins(s, "@"))
			take_map(t, clause, s);
		else if (begins(s, "printf(") || (begins(s, "print(") && !begins(s, "print(@")))
			take_printf(t, clause, s);
		else if (s.at < s.end && !begins(s, "delete(") && !begins(s, "clear(") &&
			 !begins(s, "print(") && !begins(s, "exit("))
			t->is_failed = true;
	}
}

/* --- The query --- */

/* The rest of a probe behind one of these; NULL: it is another. */
static const char *behind(struct piece s, const char *first, const char *second)
{
	const char *prefix = begins(s, first) ? first : begins(s, second) ? second : NULL;

	return prefix ? s.at + strlen(prefix) : NULL;
}

/* As bpftrace calls it -> as it is called here. */
static void put_source(struct translation *t, struct buf *out)
{
	static const char *const kinds[][2] = {
		{ "rawtracepoint:", "raw_tracepoint:" },
		{ "kfunc:", "fentry:" },
		{ "kretfunc:", "fexit:" },
		{ "s:", "software:" },
		{ "h:", "hardware:" },
		{ "p:hz:", "profile:" },
		{ "profile:hz:", "profile:" },
		{ "U:", "usdt:" },
	};
	const char *call =
		behind(t->start, "tracepoint:syscalls:sys_enter_", "t:syscalls:sys_enter_");
	const char *function = behind(t->start, "kprobe:", "k:");
	const char *of_user = behind(t->start, "uprobe:", "u:");
	const char *name = call ? call : function ? function : of_user;
	u32 i = 0;

	if (t->is_latency) {
		t->is_failed |= !name;
		if (name)
			buf_printf(out, "%s:%.*s",
				   call	      ? "syscall"
				   : function ? "function"
					      : "userfunction",
				   (int)(t->start.end - name), name);
		return;
	}
	while (i < ARRAY_SIZE(kinds) && !begins(t->source, kinds[i][0]))
		i++;
	if (i < ARRAY_SIZE(kinds)) {
		t->source.at += strlen(kinds[i][0]);
		buf_puts(out, kinds[i][1]);
	}
	t->is_failed |= has_byte(t->source, ',');
	buf_put(out, t->source.at, (size_t)(t->source.end - t->source.at));
}

/* What is done before and behind it all. */
static bool is_frame(struct piece probe)
{
	return begins(probe, "BEGIN") || begins(probe, "END");
}

static void put_query(struct translation *t, struct buf *out)
{
	buf_printf(out, "SELECT %.*s", (int)t->list.n, t->list.at);
	t->is_failed |= !t->list.n;
	if (!is_frame(t->source)) {
		buf_puts(out, " FROM ");
		put_source(t, out);
	}
	/* /@start[tid] && .../: a span has its start. */
	if (t->is_latency && begins(t->filter, "@")) {
		t->filter.at = find_outside(t->filter, "&|=<>!");
		if (begins(t->filter, "&&"))
			t->filter.at += 2;
	}
	if (t->filter.at < t->filter.end) {
		buf_puts(out, " WHERE ");
		put_expr(t, t->filter, out);
	}
	if (t->is_grouped)
		buf_puts(out, " GROUP BY ALL");
	if (t->window)
		buf_printf(out, " WINDOW TUMBLING %s", t->window);
}

static bool is_probe(struct piece probe)
{
	static const char *const kinds[] = {
		"tracepoint", "t",	  "rawtracepoint",  "rt",
		"kprobe",     "k",	  "kretprobe",	    "kr",
		"kfunc",      "kretfunc", "fentry",	    "f",
		"fexit",      "fr",	  "uprobe",	    "u",
		"uretprobe",  "ur",	  "usdt",	    "U",
		"profile",    "p",	  "interval",	    "i",
		"software",   "s",	  "hardware",	    "h",
		"iter",	      "it",	  "raw_tracepoint", "watchpoint",
		"w",
	};
	size_t n = word_bytes(probe);

	if (begins(probe, "BEGIN") || begins(probe, "END"))
		return n == (begins(probe, "END") ? 3u : 5u) && probe.at + n == probe.end;
	for (u32 i = 0; i < ARRAY_SIZE(kinds) && has_byte(probe, ':'); i++)
		if (strlen(kinds[i]) == n && begins(probe, kinds[i]) && probe.at[n] == ':')
			return true;
	return false;
}

bool parse_bpftrace(struct parser *p)
{
	struct piece rest = { p->text + p->tok.span.start, p->text + p->text_bytes };
	struct translation t = { 0 };
	struct clause clause;
	struct span span = p->tok.span;
	struct buf query;
	u32 n = 0;

	buf_init_in(&t.list, p->arena);
	buf_init_in(&query, p->arena);
	while (!p->panic && take_clause(&rest, &clause) && (n || is_probe(clause.probe))) {
		if (!n++)
			span.end = (u32)(clause.probe.end - p->text);
		if (begins(clause.probe, "interval:") || begins(clause.probe, "i:"))
			take_interval(p, &t, &clause);
		else if (!is_frame(clause.probe) || (n == 1 && trimmed(rest).at == rest.end))
			take_body(&t, &clause);
	}
	if (!n)
		return false;
	put_query(&t, &query);
	if (t.is_failed)
		parse_error(
			p, "other-dialect", span,
			"this is bpftrace's language" HINT
			"in SQL what it prints or counts stands behind SELECT, the probe behind "
			"FROM, the filter behind WHERE, keys behind GROUP BY; \"ebql tools\" has "
			"bpftrace's tools");
	else
		parse_error(p, "other-dialect", span,
			    "this is bpftrace's language" HINT "in SQL: %.*s%s%s%s", (int)query.n,
			    query.at, t.duration ? "; the option -d " : "", t.duration ?: "",
			    t.duration ? " ends it" : "");
	parse_stop(p);
	return true;
}
