/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The binary run by a shell: what it says about a wrong command line, and the
 * statements that read no event, in every format.  Needs no privileges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"

#define USAGE_LIST "usage: ebql list [-o table|json] [--catalog FOLDER] [PATTERN]\n"
#define HINT	   "  hint: \"ebql help\" shows the options\n"

static void expect(const char *arguments, int status, const char *said)
{
	char command[1024], chunk[4096];
	struct buf got;
	FILE *pipe;
	size_t n;
	int ended;

	snprintf(command, sizeof(command), "%s %s 2>&1", EBQL_BINARY, arguments);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	buf_init(&got);
	buf_puts(&got, "");
	while ((n = fread(chunk, 1, sizeof(chunk), pipe)) > 0)
		buf_put(&got, chunk, n);
	ended = pclose(pipe);
	assert_string_equal(got.at, said);
	assert_true(WIFEXITED(ended));
	assert_int_equal(WEXITSTATUS(ended), status);
	buf_free(&got);
}

/* What a subcommand is for, and where it runs queries the options that it takes. */
static void test_help(void **state)
{
	expect("list --help", 0,
	       USAGE_LIST
	       "\nThe streams and views that FROM can read: all, those whose name contains\n"
	       "PATTERN (sched), or those that match its * and ? ('tracepoint:sched:*').\n");
	expect("record --help | sed -n '1,6p'", 0,
	       "usage: ebql record -o FILE [options] 'SQL' [-- COMMAND ARGS...]\n\n"
	       "Writes single events to FILE, which ends with .arrows, .jsonl or .csv, and which\n"
	       "FROM 'FILE' reads, on any machine and without privileges.\n"
	       "  -e, --execute SQL        the query, as without -e; also -c; may be several\n"
	       "  -f, --file FILE          read the query from FILE (- for standard input)\n");
	expect("record -h | grep -c -e --output", 1, "0\n");
	expect("watch --help | grep -e --fixed", 0,
	       "usage: ebql watch [options] [--fixed] [--socket PATH] FILE|DIRECTORY...\n"
	       "      --fixed              do not look at the files again, and give all rights up\n");
	/* Each of those that the help names says it. */
	for (const char *const *c =
		     (const char *const[]){ "explain", "list", "describe", "record", "watch",
					    "snapshot", "check", "survey", "calibrate", "overhead",
					    "tools", "doctor", NULL };
	     *c; c++) {
		char command[64];

		snprintf(command, sizeof(command), "%s --help | grep -c '^$'", *c);
		expect(command, 0, "1\n");
	}
}

static void test_options(void **state)
{
	expect("--bogus", 2, "ebql: there is no option --bogus\n" HINT);
	expect("--bogus=3 x", 2, "ebql: there is no option --bogus\n" HINT);
	expect("--bins", 2, "ebql: --bins needs a value\n" HINT);
	expect("-vx", 2, "ebql: there is no option -x\n" HINT);
	expect("-n", 2, "ebql: -n needs a value\n" HINT);
	/* Durations are the language's, and whole numbers of ns. */
	expect("-d 1e3 x", 2,
	       "ebql: -d: \"1e3\" is no duration such as 10s, 500ms, 2h, 7d or 1.5 (seconds)\n");
	expect("-d 100y x", 2, "ebql: -d: \"100y\" is too long: up to nine years, 3472d\n");
	expect("-d 0.5ns x", 2,
	       "ebql: -d: \"0.5ns\" is no duration such as 10s, 500ms, 2h, 7d or 1.5 (seconds)\n");
	expect("--every 0 x", 2,
	       "ebql: --every: \"0\" is no duration such as 10s, 500ms, 2h, 7d or 1.5 (seconds)\n");
	expect("-d 1.5d -f /nonexistent", 2, "ebql: /nonexistent: No such file or directory\n");
	expect("--heatmap=3", 2, "ebql: --heatmap takes no value\n" HINT);
	expect("list -z", 2, "ebql: there is no option -z\n" USAGE_LIST);
	expect("list --catalog", 2, "ebql: --catalog needs a value\n" USAGE_LIST);
	expect("list -o csv", 2, "ebql: -o: \"csv\" is no format here: table or json\n");
	expect("explain --stage", 2,
	       "ebql: --stage needs a value\n"
	       "usage: ebql explain [--stage ast|cut|logical|optimized|physical|ir|bpf|all]\n"
	       "                    [--catalog FOLDER] [-f FILE] 'SQL'\n");
	expect("watch", 2,
	       "usage: ebql watch [options] [--fixed] [--socket PATH] FILE|DIRECTORY...\n"
	       "       ebql watch --status [-o table|json] [--socket PATH]\n");
	expect("watch -v /tmp", 2,
	       "ebql: there is no option -v\n"
	       "usage: ebql watch [options] [--fixed] [--socket PATH] FILE|DIRECTORY...\n"
	       "       ebql watch --status [-o table|json] [--socket PATH]\n");
	expect("watch -d 1s -- true", 2,
	       "ebql: watch: \"--\" is no option here: it starts no command\n");
	expect("watch /tmp -", 2, "ebql: watch: \"-\" is no file or directory\n");
	expect("watch --socket /dev/null /tmp", 1, "ebql: /dev/null: is there, and is no socket\n");
	expect("watch --status -o csv", 2, "ebql: -o: \"csv\" is no format here: table or json\n");
	expect("watch --status --socket /nonexistent/s", 1,
	       "ebql: watch: none runs at /nonexistent/s\n");
	expect("watch --socket /nonexistent/s /tmp", 1,
	       "ebql: /nonexistent/s: No such file or directory\n");
	expect("\"SELECT n FROM '/dev/null' WITH (out = 5)\" 2>&1 | head -1", 0,
	       "error[bad-option-value]: out cannot be set to this\n");
	/* --heatmap is a format; which stands first is all the same. */
	expect("--heatmap -o json 'SELECT 1'", 2,
	       "ebql: --heatmap: \"json\" is another format; give one of the two\n");
	expect("-o json --heatmap 'SELECT 1'", 2,
	       "ebql: --heatmap: \"json\" is another format; give one of the two\n");
}

/* The newest of one name is shown; a view without a comment has no blanks behind it. */
static void test_show_views(void **state)
{
	static const char plain[] =
		"'CREATE VIEW v_one AS SELECT pid FROM t:a:b;\n"
		"-- a \"pair\", of two\n"
		"-- and more\n"
		"CREATE TEMP VIEW IF NOT EXISTS v_two AS SELECT pid FROM t:a:b;\n"
		"SHOW VIEWS LIKE '\\''V_%O%'\\'''";
	char command[512];

	expect(plain, 0, "v_one\nv_two                 a \"pair\", of two\n");
	snprintf(command, sizeof(command), "-o json %s", plain);
	expect(command, 0,
	       "{\"view\": \"v_one\", \"comment\": \"\"}\n"
	       "{\"view\": \"v_two\", \"comment\": \"a \\\"pair\\\", of two\\nand more\"}\n");
	snprintf(command, sizeof(command), "-o csv %s", plain);
	expect(command, 0,
	       "view,comment\n\"v_one\",\"\"\n\"v_two\",\"a \"\"pair\"\", of two\nand more\"\n");
	expect("-o heatmap 'SHOW VIEWS'", 2,
	       "ebql: -o: this statement is shown as table or json, not as heatmap\n");
	expect("-o csv 'SHOW STREAMS'", 2,
	       "ebql: -o: this statement is shown as table or json, not as csv\n");
	expect("-o csv 'DESCRIBE irq'", 2,
	       "ebql: -o: this statement is shown as table or json, not as csv\n");
}

/* Whatever cannot be opened, it is said, and what was is closed once. */
static void test_few_files(void **state)
{
	char command[512];

	/* Those that the test itself inherited are none of ebql's. */
	assert_int_equal(close_range(3, ~0u, CLOSE_RANGE_CLOEXEC), 0);
	for (int n = 4; n <= 6; n++) {
		int status;

		snprintf(command, sizeof(command),
			 "f=$(mktemp --suffix=.csv) && printf 'time,k\\n1,2\\n' >$f; "
			 "prlimit --nofile=%d:%d %s \"SELECT k FROM '$f'\" >/dev/null 2>&1; "
			 "status=$?; rm $f; exit $status",
			 n, n, EBQL_BINARY);
		status = system(command);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
	}
}

/* The kernel has room for the rows, and this process none to map them. */
static void test_no_room(void **state)
{
	if (geteuid() != 0) {
		print_message("SKIP: needs root to load programs\n");
		skip();
	}
#ifdef __SANITIZE_ADDRESS__
	print_message("SKIP: the sanitizer takes more addresses than the limit\n");
	skip();
#endif
	expect("version >/dev/null; prlimit --as=250000000 " EBQL_BINARY
	       " -n 1 'SET ring_bytes = 256MiB; SELECT pid FROM raw_tracepoint:sched_switch'",
	       1,
	       "error[run-start]: cannot make room for rows: Cannot allocate memory\n"
	       "  hint: the machine is short of memory, or a limit is reached: of this process "
	       "(ulimit -v, -l) or of its cgroup (memory.max)\n");
}

static void test_no_query(void **state)
{
	expect("'DROP VIEW IF EXISTS v'", 2,
	       "error[no-query]: there is no query\n"
	       "  query:1:1\n"
	       "  DROP VIEW IF EXISTS v\n"
	       "  ^\n"
	       "  hint: for example SELECT comm, count(*) FROM tracepoint:sched:sched_switch "
	       "GROUP BY comm\n");
	expect("explain --catalog " CATALOG " 'CREATE VIEW v AS SELECT 1'", 2,
	       "ebql: only a SELECT can be explained\n");
}

/* One event has one time, also where two aggregates with filters of their own use it. */
static void test_explain(void **state)
{
	expect("explain --stage bpf --catalog " CATALOG
	       " 'SELECT first(fd) FILTER (WHERE fd > 3), last(count) FILTER (WHERE fd > 4) "
	       "FROM tracepoint:syscalls:sys_enter_read' | grep -c ktime_get_ns",
	       0, "1\n");
}

/* Several calls of one pattern: each hook has its reason.  Of no others has this kernel types. */
static void test_explain_calls(void **state)
{
	char folder[] = "/tmp/ebql-catalog-XXXXXX", command[512];

	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "cp -r " CATALOG "/. %s && cd %s/events/syscalls && "
		 "ls | grep -v -e fsync -e vfork | xargs rm -r",
		 folder, folder);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command),
		 "explain --catalog %s 'SET access_path = fentry; SELECT probe, count(*) FROM "
		 "t:syscalls:sys_enter_* GROUP BY probe' | grep -A 1 hook",
		 folder);
	expect(command, 0,
	       "  hook fentry __x64_sys_fsync (typed)\n    SET access_path = fentry\n"
	       "  hook fentry __do_sys_vfork (typed)\n    SET access_path = fentry\n");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* Above the highest number that processes have; with this one there is a process. */
static void test_no_process(void **state)
{
	const char *of_target = "\"EXPLAIN SELECT count(*) FROM raw_tracepoint:sched_switch WHERE "
				"pid = target_pid()\"";
	char command[512];

	snprintf(command, sizeof(command), EBQL_BINARY " %s >/dev/null 2>&1",
		 "'EXPLAIN SELECT count(*) FROM raw_tracepoint:sched_switch'");
	if (system(command) != 0)
		skip(); /* who may not read the catalog */
	snprintf(command, sizeof(command), "-p 4194304 %s 2>&1 >/dev/null | cat", of_target);
	expect(command, 0,
	       "warning[no-process]: there is no process 4194304, which -p names\n"
	       "  hint: it takes the id of a running process; -- COMMAND starts one\n");
	snprintf(command, sizeof(command), "-p $$ %s 2>&1 >/dev/null | cat", of_target);
	expect(command, 0, "");
}

static void test_no_events(void **state)
{
	expect("\"SELECT 1 AS one WITH (max_cpu = '1%')\" 2>&1", 0,
	       "warning[no-events]: max_cpu has no effect: this query reads no stream of events\n"
	       "  hint: files, tables and lists are read when they are asked for, and no event "
	       "wakes\n"
	       "    one\n      1\n");
	expect("'SELECT 1 AS one WITH (wake_count = 3)' 2>&1 >/dev/null | head -n 1", 0,
	       "warning[no-events]: wake_count has no effect: this query reads no stream of "
	       "events\n");
	expect("\"SELECT 1 AS one WITH (over_budget = 'sample')\" 2>&1 >/dev/null | cat", 0,
	       "warning[no-events]: over_budget has no effect: there is no budget\n"
	       "  hint: max_cpu = '1%' is one\n");
	expect("'SELECT 1 AS one WITH (keep = 3, edge = mid, keep = 4)' 2>&1 >/dev/null | head -n 1",
	       0, "warning[duplicate-clause]: keep is set twice: this one counts\n");
	expect("'SELECT 1 AS one' 2>&1", 0, "    one\n      1\n");
}

static void test_describe(void **state)
{
	expect("version >/dev/null; cd $(mktemp -d); printf "
	       "'time,v,\\033[1mw\\n1,2,x\\n2,,\\n3,abc,y\\n' >a.csv; " EBQL_BINARY
	       " describe a.csv; rm -r $PWD",
	       0,
	       "a.csv\n\n"
	       "column    type       meaning\n"
	       "time      TIMESTAMP  when it happened\n"
	       "v         TEXT(3)    a text since line 4\n"
	       "\\x1b[1mw  TEXT(1)    \n");
	expect("describe --catalog " CATALOG " tcp_conect", 2,
	       "error[unknown-stream]: there is no view \"tcp_conect\"\n"
	       "  describe:1:1\n"
	       "  tcp_conect\n"
	       "  ^^^^^^^^^^\n"
	       "  hint: did you mean \"tcp_connect\"?\n");
	expect("describe --catalog " CATALOG " syscal:read", 2,
	       "error[unknown-stream-kind]: syscal is no kind of stream\n"
	       "  describe:1:1\n"
	       "  syscal:read\n"
	       "  ^^^^^^^^^^^\n"
	       "  hint: did you mean \"syscall\"?\n");
	expect("describe --catalog " CATALOG " syscall:pread", 2,
	       "error[unknown-stream]: there is no system call \"pread\" with tracepoints\n"
	       "  describe:1:1\n"
	       "  syscall:pread\n"
	       "  ^^^^^^^^^^^^^\n"
	       "  hint: did you mean \"syscall:pread64\"?\n");
}

/* How often a file is opened while a command runs. */
static u32 n_opens(const char *path, const char *arguments)
{
	_Alignas(struct inotify_event) char events[65536];
	struct inotify_event *event;
	char command[1024];
	u32 opens = 0;
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ssize_t n;

	assert_true(inotify_add_watch(fd, path, IN_OPEN | IN_CLOSE) >= 0);
	snprintf(command, sizeof(command), "%s %s >/dev/null", EBQL_BINARY, arguments);
	assert_int_equal(system(command), 0);
	while ((n = read(fd, events, sizeof(events))) > 0) {
		for (char *at = events; at < events + n; at += sizeof(*event) + event->len) {
			event = (struct inotify_event *)at;
			opens += (event->mask & IN_OPEN) != 0;
		}
	}
	close(fd);
	return opens;
}

/* A file is read once for its columns and once for its rows, whatever the query asks. */
static void test_reads(void **state)
{
	static const char *const queries[] = {
		"SELECT a FROM '%s' WHERE a > 1 AND length(a) > 0",
		"SELECT a, count(*) FROM '%s' WHERE a > 1 AND length(a) > 0 OR a IS NULL GROUP BY a "
		"HAVING count(*) > 0 AND max(b) > 1 ORDER BY a + 1, a LIMIT 3",
		"SELECT a, rank() OVER (ORDER BY b) FROM '%s' WHERE a + b > 2",
		"SELECT * FROM (SELECT a, b FROM '%s' WHERE b > 1 LIMIT 3) AS t WHERE a > 0",
		"SELECT x.a FROM '%1$s' AS x JOIN '%1$s' AS y ON x.a = y.b OR x.a = y.a",
		"SELECT (SELECT max(b) FROM '%1$s') AS m, count(*) FROM '%1$s' GROUP BY m ORDER BY m + 1",
		"SELECT a FROM '%1$s' AS x WHERE a IN (SELECT b - 1 FROM '%1$s' AS y WHERE y.a = x.a) "
		"UNION SELECT b FROM '%1$s'",
		"WITH c AS (SELECT a, count(*) AS n FROM '%1$s' GROUP BY a) SELECT x.n FROM c AS x "
		"JOIN c AS y ON x.a = y.a",
	};
	char path[] = "/tmp/ebql-reads-XXXXXX.csv", arguments[512], query[400];
	int fd = mkstemps(path, 4);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a,b\n1,2\n3,4\n", 12), 12);
	close(fd);
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		snprintf(query, sizeof(query), queries[i], path);
		snprintf(arguments, sizeof(arguments), "explain \"%s\"", query);
		assert_int_equal(n_opens(path, arguments), 1);
		snprintf(arguments, sizeof(arguments), "\"%s\"", query);
		assert_int_equal(n_opens(path, arguments), 2);
	}
	unlink(path);
}

/* What the manual's last section says is not there is answered as it says. */
static void test_not_there(void **state)
{
	char line[1024], command[1400], query[600], tag[64];
	FILE *manual = fopen(MANUAL, "re");
	bool is_section = false;
	u32 n = 0;

	assert_non_null(manual);
	while (fgets(line, sizeof(line), manual)) {
		is_section |= strncmp(line, "## 12.", 6) == 0;
		if (!is_section ||
		    sscanf(line, "| %*[^`]`%599[^`]` | `%63[^`]` |", query, tag) != 2)
			continue;
		snprintf(command, sizeof(command), "%s \"%s\" 2>&1 | grep -cF 'error[%s]'",
			 strncmp(query, "EXPLAIN", 7) ? "explain --catalog " CATALOG : "", query,
			 tag);
		expect(command, 0, "1\n");
		n++;
	}
	fclose(manual);
	assert_true(n >= 10);
}

/* What bash completes: the word before the last, and what is typed of the last. */
static void test_completion(void **state)
{
	static const char *const cases[][2] = {
		{ "--wi", "--window-columns --windows" },
		{ "desc", "describe" },
		{ "bios", "biosnoop biostacks" },
		{ "-o js", "json jsonl" },
		{ "tools tcps", "tcpsendlat tcpstates tcpsynbl" },
		{ "watch --f", "--file --fixed" },
		{ "explain --st", "--stage --stats" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char command[1024], said[256];

		snprintf(
			command, sizeof(command),
			"help >/dev/null; bash -c 'ebql() { " EBQL_BINARY
			" \"$@\"; }; . " COMPLETIONS "/ebql.bash"
			"; COMP_WORDS=(ebql \"$@\"); COMP_CWORD=$#; _ebql; echo ${COMPREPLY[*]}' - %s",
			cases[i][0]);
		snprintf(said, sizeof(said), "%s\n", cases[i][1]);
		expect(command, 0, said);
	}
}

/* Each subcommand of the help is among what the shell's words give. */
static void expect_subcommands(const char *words)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "help >/dev/null; %s >/tmp/ebql-words-$$; $E help | sed '/^$/q' | "
		 "grep -oE 'ebql [a-z |]+' | tr -s ' |' '\\n' | grep -vx ebql | { "
		 "n=0; while read -r word; do n=$((n + 1)); "
		 "tr ' ' '\\n' </tmp/ebql-words-$$ | grep -qx -- \"$word\" || echo no $word; "
		 "done; [ $n -ge 14 ] || echo $n; }; rm /tmp/ebql-words-$$",
		 words);
	expect(command, 0, "");
}

/* By the file's own pattern, and, where the shell is, by itself. */
static void test_completion_of_subcommands(void **state)
{
	static const struct {
		const char *shell, *file, *words;
	} cases[] = {
		{ "bash", "ebql.bash",
		  "bash -c 'ebql() { $E \"$@\"; }; . $D/ebql.bash; COMP_WORDS=(ebql \"\"); "
		  "COMP_CWORD=1; _ebql; echo ${COMPREPLY[*]}'" },
		{ "zsh", "_ebql",
		  "zsh -fc 'ebql() { $E \"$@\"; }; compadd() { echo \"$@\"; }; _files() { :; }; "
		  "words=(ebql \"\"); CURRENT=2; . $D/_ebql'" },
		{ "fish", "ebql.fish",
		  "fish --no-config -c 'function ebql; $E $argv; end; source $D/ebql.fish; "
		  "complete -C \"ebql \"' | cut -f 1" },
	};
	char text[512];

	setenv("E", EBQL_BINARY, 1);
	setenv("D", COMPLETIONS, 1);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text),
			 "$E help | grep -oP -- \"$(sed -n \"s/.*'\\([^']*ebql|[^']*\\)'.*/\\1/p\" "
			 "$D/%s)\" | cut -d ' ' -f 2",
			 cases[i].file);
		expect_subcommands(text);
		snprintf(text, sizeof(text), "command -v %s >/dev/null", cases[i].shell);
		if (system(text)) {
			print_message("%s is not there to complete\n", cases[i].shell);
			continue;
		}
		snprintf(text, sizeof(text), "help >/dev/null; %s -n $D/%s", cases[i].shell,
			 cases[i].file);
		expect(text, 0, "");
		expect_subcommands(cases[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_show_views),
		cmocka_unit_test(test_no_query),
		cmocka_unit_test(test_few_files),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_no_process),
		cmocka_unit_test(test_no_events),
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_completion_of_subcommands),
		cmocka_unit_test(test_explain_calls),
	};

	return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
