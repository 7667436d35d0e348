/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * --audit of every subcommand that attaches something: each query has a line of its load and one of
 * its end, of the same programs and with their plans; and what a full disk makes of the file.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "place.h"

/* What stands between the two, of the line; until the next call but one. */
static const char *part(const char *line, const char *from, const char *to)
{
	static char parts[2][4096];
	static u32 n;
	char *text = parts[n++ % 2];
	const char *at = strstr(line, from), *end = at ? strstr(at + strlen(from), to) : NULL;

	assert_non_null(end);
	at += strlen(from);
	assert_true((size_t)(end - at) < sizeof(parts[0]));
	snprintf(text, sizeof(parts[0]), "%.*s", (int)(end - at), at);
	return text;
}

/* "4,7" of its programs */
static void put_ids(const char *line, struct buf *ids)
{
	buf_reset(ids);
	for (const char *at = line; (at = strstr(at, "{\"id\":")); at++)
		buf_printf(ids, "%s%lu", ids->n ? "," : "", strtoul(at + 6, NULL, 10));
	assert_true(ids->n > 0);
}

/* So many of them. */
static u32 count(const char *text, const char *key)
{
	u32 n = 0;

	for (; (text = strstr(text, key)); text++)
		n++;
	return n;
}

/* Each load has an end, the next one of a query of that name by these programs; the loads. */
static u32 expect_pairs(char *text, const char *name)
{
	struct buf loaded, ended;
	u32 n_loads = 0, n_ends = 0;
	char *line, *at;

	buf_init(&loaded);
	buf_init(&ended);
	while ((line = strsep(&text, "\n")) && *line) {
		n_ends += strcmp(part(line, "\"event\":\"", "\""), "unload") == 0;
		if (strcmp(part(line, "\"event\":\"", "\""), "load") != 0)
			continue;
		n_loads++;
		assert_string_equal(part(line, "\"query\":\"", "\""), name);
		assert_non_null(strstr(line, "\"capabilities\":[\"CAP_CHOWN\","));
		put_ids(line, &loaded);
		assert_int_equal(count(line, ",\"plan\":\""), count(line, "{\"id\":"));
		/* The next line: a text runs its queries one after the other. */
		assert_non_null(text);
		at = strndup(text, strcspn(text, "\n"));
		assert_string_equal(part(at, "\"event\":\"", "\""), "unload");
		assert_string_equal(part(at, "\"query\":\"", "\""), name);
		assert_non_null(strstr(at, ",\"duration_ns\":"));
		put_ids(at, &ended);
		assert_string_equal(ended.at, loaded.at);
		free(at);
	}
	assert_int_equal(n_ends, n_loads);
	buf_free(&loaded);
	buf_free(&ended);
	return n_loads;
}

#define QUERY "SELECT count(*) FROM tracepoint:syscalls:sys_enter_getppid"
#define ROWS  "SELECT time, pid FROM tracepoint:syscalls:sys_enter_getppid"

/* $E is ebql, in a folder of its own. */
static void test_commands(void **state)
{
	static const struct {
		const char *command, *name;
		s32 n_loads; /* -1: some */
	} cases[] = {
		{ "$E --audit audit -d 50ms '" QUERY "'", "query", 1 },
		{ "$E --audit audit -d 50ms '" QUERY "; " ROWS "'", "query", 2 },
		{ "$E --audit audit -d 50ms 'EXPLAIN ANALYZE " QUERY "'", "query", 1 },
		{ "$E record --audit audit -o rows.csv -d 50ms '" ROWS "'", "query", 1 },
		{ "$E record --audit audit -o rows.csv -d 50ms '" QUERY "'; test $? = 2", "", 0 },
		{ "printf '%s;\\n' '" QUERY "' '\\copy (" ROWS ") TO copy.csv' >in && "
		  "$E --audit audit -d 50ms <in",
		  "query", 2 },
		{ "$E syscount 10ms 1 --audit audit", "syscount", 1 },
		{ "$E survey --audit audit -d 50ms raw_tracepoint:sched_switch syscall:read",
		  "survey", 1 },
		{ "$E overhead --audit audit -n 6 '" QUERY "' -- true", "query", 7 },
		{ "XDG_STATE_HOME=$PWD $E calibrate --audit audit -n 1", "calibrate", -1 },
		{ "echo '" QUERY "' >q.sql; $E watch --audit audit --socket s -d 50ms q.sql", "q",
		  1 },
		/* They attach nothing, and so have no such option. */
		{ "$E explain --audit audit '" QUERY "'; test $? = 2", "", 0 },
		{ "$E list --audit audit; test $? = 2", "", 0 },
		{ "$E snapshot --audit audit q.sql; test $? = 2", "", 0 },
		{ "$E doctor --audit audit; test $? = 2", "", 0 },
	};
	struct place *p = *state;
	char command[1024];
	struct buf text;
	u32 n;

	session_require();
	buf_init(&text);
	setenv("E", proc_ebql(), 1);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(command, sizeof(command),
			 "cd %s && rm -f audit && { %s; } >out 2>&1 || { cat out >&2; false; }",
			 p->folder, cases[i].command);
		if (system(command))
			fail_msg("%s", cases[i].command);
		n = 0;
		if (access(place_path(p, "audit"), F_OK) == 0) {
			place_read(p, "audit", &text);
			n = expect_pairs(text.at, cases[i].name);
		}
		if (cases[i].n_loads < 0 ? n < 10 : n != (u32)cases[i].n_loads)
			fail_msg("%s: %u loads", cases[i].command, n);
	}
	buf_free(&text);
}

/* The plan of each program is what "ebql explain" says of its hook. */
static void test_plan(void **state)
{
	static const struct {
		const char *query, *plan; /* NULL: the kernel's own */
	} cases[] = {
		{ QUERY, NULL },
		{ "SELECT count(*) FROM syscall:getppid", NULL },
		{ "SELECT prev_comm, count(*) FROM tracepoint:sched:sched_switch GROUP BY prev_comm",
		  NULL },
		{ ROWS " WITH (access_path = tracepoint)", "SET access_path = tracepoint" },
		{ ROWS " WITH (access_path = raw)", "SET access_path = raw" },
		{ "SELECT count(*) FROM raw_tracepoint:sched_switch",
		  "the stream is a raw tracepoint" },
	};
	struct place *p = *state;
	char command[1024], said[1024];
	struct buf text, explained;
	const char *plan;

	session_require();
	buf_init(&text);
	buf_init(&explained);
	setenv("E", proc_ebql(), 1);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(command, sizeof(command),
			 "cd %s && rm -f audit && $E explain '%s' >explained && "
			 "$E --audit audit -d 50ms '%s' >out",
			 p->folder, cases[i].query, cases[i].query);
		assert_int_equal(system(command), 0);
		place_read(p, "audit", &text);
		place_read(p, "explained", &explained);
		assert_true(count(text.at, "{\"id\":") > 0);
		for (const char *at = text.at; (at = strstr(at, "{\"id\":")); at++) {
			plan = part(at, ",\"plan\":\"", "\"}");
			if (cases[i].plan)
				assert_string_equal(plan, cases[i].plan);
			snprintf(said, sizeof(said), "\n    %s\n", plan);
			if (!strstr(explained.at, said))
				fail_msg("%s: %s\n%s", cases[i].query, plan, explained.at);
		}
	}
	buf_free(&text);
	buf_free(&explained);
}

/*
 * A disk without room: each line that it does not take is said, a torn one stays a line of its own,
 * and the next one tells how many are missing.  Queries run on.
 */
static void test_full_disk(void **state)
{
	struct place *p = *state;
	char command[512], disk[128];
	struct buf text;

	session_require();
	snprintf(disk, sizeof(disk), "%s", place_path(p, "disk"));
	/* Two pages, of which 100 bytes are left. */
	snprintf(command, sizeof(command),
		 "mkdir %s && mount -t tmpfs -o size=8k tmpfs %s && "
		 "yes '' | head -c 8092 >%s/audit",
		 disk, disk, disk);
	assert_int_equal(system(command), 0);
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 10ms "
		    "WITH (access_path = tracepoint, out = 'json:%s/a.out')",
		    getpid(), p->folder);
	snprintf(command, sizeof(command), "%s/audit", disk);
	place_start(p, p->folder, "--audit", command, NULL);
	place_call(100);
	place_write(p, "b.sql", QUERY " WITH (access_path = tracepoint, out = 'json:/dev/null')");
	assert_true(proc_wait_text(&p->session->ebql, "b.sql: its query runs\n", LIMIT_MS));
	place_said(p, "disk/audit: No space left on device\n");
	snprintf(command, sizeof(command), "mount -o remount,size=1m %s", disk);
	assert_int_equal(system(command), 0);
	unlink(place_path(p, "b.sql"));
	place_said(p, "b.sql: is gone, and so is its query\n");
	place_call(100);
	place_end(p, SIGTERM, 0);
	assert_int_equal(place_sum(p, "a.out", "\"n\":"), 200);
	buf_init(&text);
	place_read(p, "disk/audit", &text);
	snprintf(command, sizeof(command), "umount %s", disk);
	assert_int_equal(system(command), 0);
	/* Of a's load there is a piece; b's, and a's other programs, are missing. */
	assert_int_equal(count(text.at, "\n{\"time\":"), 4);
	assert_int_equal(count(text.at, "}\n"), 3);
	assert_int_equal(count(text.at, "\"event\":\"unload\""), 2);
	assert_int_equal(count(text.at, "\"lines_lost\":3}\n"), 1);
	buf_free(&text);
}

/*
 * Without the right to exchange programs (--fixed) those of a query that ended go on for others
 * that share them, and are told of whole at the end of these.
 */
static void test_fixed(void **state)
{
	struct place *p = *state;
	char command[512], *last;
	struct buf text;

	session_require();
	snprintf(command, sizeof(command),
		 "cd %s && echo '" QUERY " GROUP BY pid WITH (duration = 100ms)' >a.sql && "
		 "echo '" QUERY "' >b.sql && "
		 "%s watch --fixed --audit audit --socket s -d 1s . >out 2>&1",
		 p->folder, proc_ebql());
	assert_int_equal(system(command), 0);
	buf_init(&text);
	place_read(p, "audit", &text);
	assert_int_equal(count(text.at, "\"event\":\"load\""), 2);
	assert_int_equal(count(text.at, "\"event\":\"unload\""), 2);
	/* The last line: b's, whose programs are those of its load. */
	text.at[text.n - 2] = '\0';
	last = strrchr(text.at, '\n');
	assert_non_null(strstr(last, "\"event\":\"unload\""));
	assert_string_equal(part(last, "\"query\":\"", "\""), "b");
	assert_non_null(strstr(text.at, part(last, "\"programs\":", ",\"duration_ns\"")));
	/* Of its programs one is attached, and calls the others. */
	assert_int_equal(count(last, ",\"plan\":\"it is attached, and calls "), 1);
	assert_int_equal(count(last, ",\"plan\":\""), count(last, "{\"id\":"));
	buf_free(&text);
}

/* SIGHUP, which a terminal that goes away sends, ends a query of the command line as SIGTERM does.
 */
static void test_hangup(void **state)
{
	struct place *p = *state;
	struct buf text;

	session_require();
	session_ebql(p->session, "--audit", place_path(p, "audit"),
		     "SELECT count(*) AS n FROM tracepoint:syscalls:sys_enter_getppid", NULL);
	session_end(p->session, SIGHUP, 0);
	buf_init(&text);
	place_read(p, "audit", &text);
	assert_int_equal(expect_pairs(text.at, "query"), 1);
	buf_free(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_commands), TEST(test_plan),	TEST(test_full_disk),
		TEST(test_fixed),    TEST(test_hangup),
	};

	return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
