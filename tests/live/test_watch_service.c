/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql watch as a service: what it tells a manager, whose part this test plays, and what it keeps
 * of its rights.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>
/* All of its arguments stand in memory. */
#define STAP_SDT_ARG_CONSTRAINT m
#include <sys/sdt.h>

#include "place.h"

/* --- A manager --- */

static int manager_open(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_true(fd >= 0);
	if (*path == '@')
		address.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))),
			 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
	return fd;
}

/* The next thing told, "" for none in that time. */
static const char *next_told(int fd, int limit_ms)
{
	struct pollfd told = { fd, POLLIN };
	static char text[512];
	ssize_t n;

	text[0] = '\0';
	if (poll(&told, 1, limit_ms) != 1)
		return text;
	n = recv(fd, text, sizeof(text) - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	return text;
}

/* But for signs of life, of which it counts those that came before. */
static u32 expect_told(int fd, const char *beginning)
{
	u32 n_signs = 0;
	const char *told;

	while (strcmp(told = next_told(fd, LIMIT_MS), "WATCHDOG=1") == 0)
		n_signs++;
	if (strncmp(told, beginning, strlen(beginning)) != 0)
		fail_msg("told \"%s\", not \"%s\"", told, beginning);
	return n_signs;
}

/* By a path that stays, which the audit then tells once. */
static void write_calls(struct place *p, const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.sql", name);
	place_write(p, file,
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 10ms WITH (access_path = raw, out = 'json:%s/%s.out')",
		    getpid(), p->folder, name);
}

/* A manager that asks for signs of life each 0.4 s gets one in 0.2 s, and none of a hanging one. */
static void test_notify(void **state)
{
	struct place *p = *state;
	char path[32];
	int fd;

	session_require();
	snprintf(path, sizeof(path), "@ebql-test-%d", getpid());
	fd = manager_open(path);
	setenv("WATCHDOG_USEC", "400000", 1);
	write_calls(p, "a");
	place_write(p, "bad.sql", "SELECT nothing FROM run_queue");
	place_start(p, p->folder, NULL);
	expect_told(fd, "STATUS=1 of 2 queries run");
	expect_told(fd, "READY=1");
	for (u32 i = 0; i < 3; i++)
		assert_string_equal(next_told(fd, LIMIT_MS), "WATCHDOG=1");
	write_calls(p, "b");
	expect_told(fd, "STATUS=2 of 3 queries run");
	proc_signal(&p->session->ebql, SIGHUP);
	expect_told(fd, "RELOADING=1\nMONOTONIC_USEC=");
	expect_told(fd, "READY=1");
	unlink(place_path(p, "b.sql"));
	expect_told(fd, "STATUS=1 of 2 queries run");
	proc_signal(&p->session->ebql, SIGSTOP);
	while (*next_told(fd, 1000))
		; /* what it had told before */
	assert_string_equal(next_told(fd, 800), "");
	proc_signal(&p->session->ebql, SIGCONT);
	assert_string_equal(next_told(fd, LIMIT_MS), "WATCHDOG=1");
	proc_signal(&p->session->ebql, SIGTERM);
	expect_told(fd, "STOPPING=1");
	place_end(p, 0, 1);
	close(fd);
}

/* Another process is to give signs, or none: then none comes, and nothing is due in between. */
static void test_no_signs(void **state)
{
	struct place *p = *state;
	int fd;

	fd = manager_open(place_path(p, "manager"));
	setenv("WATCHDOG_USEC", "100000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	place_write(p, "rows.csv", "time,n\n1,5\n");
	place_write(p, "a.sql", "SELECT sum(n) AS n FROM '%s/rows.csv'", p->folder);
	place_start(p, p->folder, "-o", "json", NULL);
	expect_told(fd, "STATUS=");
	while (strcmp(next_told(fd, LIMIT_MS), "READY=1") != 0)
		;
	for (const char *told; *(told = next_told(fd, 500));)
		assert_string_equal(told, "STATUS=0 of 1 queries run");
	proc_signal(&p->session->ebql, SIGTERM);
	expect_told(fd, "STOPPING=1");
	place_end(p, 0, 0);
	close(fd);
}

/* --fixed: no right is left once all is attached, and files may change as they like. */
static void test_fixed(void **state)
{
	struct place *p = *state;

	session_require();
	write_calls(p, "a");
	write_calls(p, "b");
	place_start(p, p->folder, "--fixed", NULL);
	assert_int_equal(proc_capabilities(p->session->ebql.pid, "CapPrm") & ~(1ull << 39), 0);
	assert_int_equal(proc_capabilities(p->session->ebql.pid, "CapEff"), 0);
	place_call(1000);
	place_write(p, "a.sql", "nonsense");
	write_calls(p, "c");
	unlink(place_path(p, "b.sql"));
	place_wait_status(p, "\"windows\":3");
	place_move(p, "a.out", "a.1");
	proc_signal(&p->session->ebql, SIGHUP);
	while (access(place_path(p, "a.out"), F_OK))
		proc_pump(5);
	place_call(2000);
	/* None comes, changes or goes in that time, nor tries to. */
	usleep(1200000);
	place_wait_status(p, "\"queries\":2");
	assert_false(proc_wait_text(&p->session->ebql, "sql", 1));
	place_end(p, SIGTERM, 0);
	assert_int_equal(place_sum(p, "a.1", "\"n\":") + place_sum(p, "a.out", "\"n\":"), 3000);
	assert_int_equal(place_sum(p, "b.out", "\"n\":"), 3000);
	assert_true(place_sum(p, "a.out", "\"n\":") >= 2000);
	assert_int_not_equal(access(place_path(p, "c.out"), F_OK), 0);
}

/* "17:05:21", of UTC; until the next call but one. */
static const char *clock_at(time_t at)
{
	static char texts[2][16];
	static u32 n;
	char *text = texts[n++ % 2];
	struct tm tm;

	strftime(text, sizeof(texts[0]), "%T", gmtime_r(&at, &tm));
	return text;
}

/*
 * It counts what happens while it is open, and neither before nor behind that.  Its hours are far
 * away, whatever the test takes: its clock is set to shortly before they begin and end.
 */
static void test_schedule(void **state)
{
	struct place *p = *state;
	time_t now = time(NULL), start = now + 3600, stop = now + 7200;
	struct buf text;

	session_require();
	setenv("TZ", "UTC", 1);
	place_write(p, "hours.sql",
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 10ms "
		    "WITH (start = '%s', stop = '%s', out = 'json:%s/hours.out')",
		    getpid(), clock_at(start), clock_at(stop), p->folder);
	place_write(p, "short.sql",
		    "SELECT count(*) AS n FROM run_queue WITH (duration = 100ms, "
		    "out = 'json:%s/short.out')",
		    p->folder);
	place_write(p, "never.sql", "SELECT count(*) FROM run_queue WITH (start = '9:00')");
	/* What would be wrong at its hours is told now. */
	place_write(p, "late.sql",
		    "SELECT count(*) FROM run_queue WITH (start = '%s', stop = '%s', "
		    "out = 'json:%s/nowhere/out')",
		    clock_at(now + 14400), clock_at(now + 14460), p->folder);
	place_start_clock(p, ".", CLOCK_LIBRARY);
	place_call(10000);
	buf_init(&text);
	place_status(p, true, &text);
	assert_int_equal(place_figure(text.at, "hours", "\"state\":\"waits\",\"windows\":"), 0);
	assert_true(place_figure(text.at, "hours", "\"next_start\":") == (double)start * 1e9);
	place_status(p, false, &text);
	assert_non_null(strstr(text.at, "waits until "));
	assert_non_null(strstr(text.at, "error[bad-schedule]: start and stop belong together"));
	assert_non_null(strstr(text.at, "/nowhere/out: No such file or directory"));
	/* What is wrong with a change leaves it waiting. */
	place_write(p, "hours.sql", "nothing");
	place_said(p, "its query waits as it was before\n");
	place_set_clock(p, (int)(start - 1 - time(NULL)));
	place_said(p, "its query runs\n");
	place_call(700);
	place_wait_status(p, "\"state\":\"ended\",\"windows\":1");
	place_status(p, true, &text);
	assert_true(place_figure(text.at, "hours", "\"next_stop\":") == (double)stop * 1e9);
	assert_int_equal(place_figure(text.at, "short", "\"state\":\"ended\",\"windows\":"), 1);
	place_call(300);
	place_set_clock(p, (int)(stop - 1 - time(NULL)));
	place_said(p, "its query waits until ");
	place_call(5000);
	place_status(p, true, &text);
	/* The same hours of tomorrow. */
	assert_true(place_figure(text.at, "hours", "\"next_start\":") ==
		    (double)(start + 86400) * 1e9);
	place_end(p, SIGTERM, 1);
	assert_int_equal(place_sum(p, "hours.out", "\"n\":"), 1000);
	buf_free(&text);
	unsetenv("TZ");
}

/* Where nothing may be attached later. */
static void test_fixed_schedule(void **state)
{
	struct place *p = *state;

	place_write(p, "rows.csv", "time,n\n1,5\n");
	place_write(p, "a.sql", "SELECT sum(n) AS n FROM '%s/rows.csv' WITH (days = 'mon-sun')",
		    p->folder);
	place_start(p, p->folder, "-o", "json", "--fixed", NULL);
	place_wait_status(p, "error[bad-schedule]: with --fixed nothing is attached later");
	place_end(p, SIGTERM, 1);
}

/* A line of the audit: its programs are those that the kernel has by these ids. */
static void expect_programs(const char *line)
{
	struct bpf_prog_info info;
	u32 bytes, n = 0;
	char tag[17];

	for (const char *at = line; (at = strstr(at, "{\"id\":")); n++) {
		int fd = bpf_prog_get_fd_by_id((u32)strtoul(at += 6, NULL, 10));

		assert_true(fd >= 0);
		memset(&info, 0, sizeof(info));
		bytes = sizeof(info);
		assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &bytes), 0);
		for (u32 i = 0; i < 8; i++)
			snprintf(tag + 2 * i, 3, "%02x", info.tag[i]);
		at = strstr(at, "\"tag\":\"");
		assert_int_equal(strncmp(at + 7, tag, 16), 0);
		close(fd);
	}
	assert_true(n > 0);
}

/* Two lines, of its load and its end, say who, what, by which programs, and what became of it. */
static void test_audit(void **state)
{
	struct place *p = *state;
	char path[128], text[64], command[1024];
	struct buf line;

	session_require();
	snprintf(path, sizeof(path), "%s", place_path(p, "audit"));
	write_calls(p, "a");
	place_write(p, "rows.csv", "time,n\n1,5\n");
	place_write(p, "file.sql", "SELECT sum(n) FROM '%s/rows.csv'", p->folder);
	place_start(p, p->folder, "-o", "json", "--audit", path, NULL);
	/* Nobody's rows come between. */
	place_write(p, "forge.sql", "SELECT count(*) " CALLS "WITH (out = 'csv:%s')", getpid(),
		    path);
	place_said(p, "audit: the audit stands there (--audit)\n");
	buf_init(&line);
	place_read(p, "audit", &line);
	assert_int_equal(strncmp(line.at, "{\"time\":", 8), 0);
	snprintf(text, sizeof(text),
		 ",\"event\":\"load\",\"pid\":%d,\"uid\":0,\"login_uid\":", p->session->ebql.pid);
	assert_non_null(strstr(line.at, text));
	assert_non_null(strstr(line.at, ",\"query\":\"a\",\"capabilities\":[\"CAP_CHOWN\","));
	assert_non_null(strstr(line.at, "\"CAP_BPF\""));
	assert_non_null(strstr(line.at, ",\"text\":\"SELECT count(*) AS n FROM tracepoint:"));
	assert_non_null(strstr(line.at, "\"hook\":\""));
	expect_programs(line.at);
	place_call(700);
	/* Moved away: what comes stands in its successor. */
	place_move(p, "audit", "audit.1");
	proc_signal(&p->session->ebql, SIGHUP);
	while (access(path, F_OK))
		proc_pump(5);
	place_said(p, "audit: the audit stands there (--audit)\n");
	place_end(p, SIGTERM, 1);
	snprintf(command, sizeof(command),
		 "%s --audit %s -O %s 'SELECT time FROM raw_tracepoint:sched_switch' 2>&1 | "
		 "grep -q 'the audit stands there' && "
		 "%s --audit %s -O %s 'EXPLAIN SELECT count(*) FROM run_queue' 2>&1 | "
		 "grep -q 'the audit stands there'",
		 proc_ebql(), path, path, proc_ebql(), path, path);
	assert_int_equal(system(command), 0);
	place_read(p, "audit.1", &line);
	assert_ptr_equal(strchr(line.at, '\n') + 1, line.at + line.n - 1);
	place_read(p, "audit", &line);
	assert_ptr_equal(strchr(line.at, '\n') + 1, line.at + line.n - 1);
	assert_non_null(strstr(line.at, ",\"event\":\"unload\","));
	/* Events are everybody's on this machine. */
	assert_true(strtoull(strstr(line.at, ",\"events\":") + 10, NULL, 10) >= 700);
	assert_non_null(strstr(line.at, ",\"matched\":700,\"lost\":{}}\n"));
	assert_true(strtoull(strstr(line.at, "\"duration_ns\":") + 14, NULL, 10) > 1000000);
	buf_free(&line);
}

/* Waits until the audit has so many lines of programs that changed, each of which is of "a". */
static void wait_reloads(struct place *p, u32 n, struct buf *text)
{
	u64 limit_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;
	u32 seen;

	do {
		proc_pump(20);
		place_read(p, "audit", text);
		seen = 0;
		for (const char *at = text->at; (at = strstr(at, ",\"event\":\"reload\","));
		     seen++) {
			at = strstr(at, ",\"query\":");
			assert_int_equal(strncmp(at, ",\"query\":\"a\",", 13), 0);
		}
	} while (seen < n && base_monotonic_ns() < limit_ns);
	assert_int_equal(seen, n);
}

/* What shares programs with another has others when that comes, and when it goes. */
static void test_reload(void **state)
{
	struct place *p = *state;
	struct buf text;

	session_require();
	write_calls(p, "a");
	place_start(p, p->folder, "--audit", place_path(p, "audit"), NULL);
	/* Without a hook of the other's: that leaves both as they are. */
	place_write(p, "apart.sql",
		    "SELECT count(*) FROM raw_tracepoint:sched_switch "
		    "WITH (out = 'json:/dev/null')");
	place_said(p, "apart.sql: its query runs\n");
	/* Alike, it would read what the other's programs count. */
	place_write(p, "b.sql",
		    "SELECT tid, count(*) AS n " CALLS
		    "GROUP BY tid WITH (access_path = raw, out = 'json:/dev/null')",
		    getpid());
	buf_init(&text);
	wait_reloads(p, 1, &text);
	unlink(place_path(p, "b.sql"));
	wait_reloads(p, 2, &text);
	/* The last line: of it. */
	text.at[strlen(text.at) - 1] = '\0';
	assert_non_null(strstr(strrchr(text.at, '\n'), "\"event\":\"reload\""));
	expect_programs(strrchr(text.at, '\n'));
	buf_free(&text);
	place_end(p, SIGTERM, 0);
}

/* Where the system has a log, the same lines stand there: the journal's, else that of /dev/log. */
static void test_log(void **state)
{
	static const char *const beginnings[] = {
		"<85>ebql-audit[",
		"PRIORITY=5\nSYSLOG_FACILITY=10\nSYSLOG_IDENTIFIER=ebql-audit\nMESSAGE={"
	};
	struct place *p = *state;
	static char line[256 << 10];
	char command[1024];
	struct buf file;
	u32 n_cut = 0;
	bool is_cut;
	FILE *text;

	session_require();
	buf_init(&file);
	text = fopen(place_path(p, "query.sql"), "we");
	fprintf(text, "SELECT count(*) FROM tracepoint:syscalls:sys_enter_getppid -- %0*d", 150000,
		0);
	assert_int_equal(fclose(text), 0);
	for (u32 i = 0; i < 2; i++) {
		int fd = manager_open(place_path(p, i ? "journal" : "syslog"));

		/* In a /dev and /run of its own. */
		snprintf(
			command, sizeof(command),
			"cd %s && rm -rf dev run && mkdir -p dev run/systemd/journal && "
			"touch dev/null && ln -s $PWD/syslog dev/log && "
			"if [ %u = 1 ]; then ln -s $PWD/journal run/systemd/journal/socket; fi && "
			"unshare -m sh -c 'mount --bind /dev/null dev/null && "
			"mount --rbind dev /dev && mount --bind run /run && "
			"exec %s --audit audit%u -d 50ms query.sql' >out 2>&1 || { cat out >&2; false; }",
			p->folder, i, proc_ebql(), i);
		assert_int_equal(system(command), 0);
		snprintf(command, sizeof(command), "audit%u", i);
		place_read(p, command, &file);
		for (const char *at = file.at, *end; (end = strchr(at, '\n')); at = end + 1) {
			ssize_t n = recv(fd, line, sizeof(line) - 1, MSG_DONTWAIT);

			assert_true(n > 0);
			line[n] = '\0';
			assert_int_equal(strncmp(line, beginnings[i], strlen(beginnings[i])), 0);
			is_cut = end - at > 128 << 10;
			assert_int_equal(strncmp(strchr(line, '{'), at,
						 is_cut ? 128 << 10 : (size_t)(end - at)),
					 0);
			assert_int_equal(strstr(line, "(cut: the file of --audit has it whole)") !=
						 NULL,
					 is_cut);
			n_cut += is_cut;
		}
		assert_true(recv(fd, line, sizeof(line), MSG_DONTWAIT) < 0);
		assert_int_equal(n_cut, i + 1);
		assert_non_null(strstr(file.at, "\"event\":\"unload\""));
		close(fd);
	}
	buf_free(&file);
}

static void expect_payload(struct place *p, u32 n_refused)
{
	static const char said[] = "error[payload]: column ";
	struct buf text;
	u32 n = 0;

	buf_init(&text);
	place_status(p, true, &text);
	for (const char *at = text.at; (at = strstr(at, said)); at++)
		n++;
	assert_int_equal(n, n_refused);
	buf_free(&text);
}

/* What programs have in memory is no column, unless that was allowed; conditions may read it. */
static void test_payload(void **state)
{
	char self[128] = "", argument[256], condition[256];
	const char *const columns[] = {
		"SELECT time, str(filename) AS f FROM tracepoint:syscalls:sys_enter_openat",
		"SELECT count(*) FROM tracepoint:syscalls:sys_enter_openat GROUP BY str(filename)",
		"SELECT max(length(str(filename))) FROM tracepoint:syscalls:sys_enter_openat",
		"SELECT n FROM (SELECT str(filename) AS n FROM "
		"tracepoint:syscalls:sys_enter_openat) AS t",
		"SELECT (SELECT max(str(filename)) FROM tracepoint:syscalls:sys_enter_openat) AS m, "
		"count(*) FROM run_queue",
		"SELECT time, strs(argv) AS a FROM tracepoint:syscalls:sys_enter_execve",
		"SELECT time, user(filename, 'long int') AS l FROM "
		"tracepoint:syscalls:sys_enter_openat",
		argument,
	};
	const char *const fine[] = {
		"SELECT count(*), comm FROM tracepoint:syscalls:sys_enter_openat "
		"WHERE str(filename) = '/etc/shadow' GROUP BY comm",
		"SELECT time, filename FROM tracepoint:sched:sched_process_exec",
		"SELECT time, filename FROM tracepoint:syscalls:sys_enter_openat WHERE pid = 1",
		condition,
	};
	struct place *p = *state;
	char name[32] = "", said[128];

	session_require();
	DTRACE_PROBE1(ebql_test, secret, name[0]);
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(argument, sizeof(argument),
		 "SELECT n FROM (SELECT max(arg0) AS n FROM usdt:%s:ebql_test:secret) AS t", self);
	snprintf(condition, sizeof(condition),
		 "SELECT count(*) FROM usdt:%s:ebql_test:secret WHERE arg0 = 7", self);
	for (u32 i = 0; i < ARRAY_SIZE(columns); i++) {
		snprintf(name, sizeof(name), "c%u.sql", i);
		place_write(p, name, "%s WITH (out = 'json:/dev/null')", columns[i]);
	}
	for (u32 i = 0; i < ARRAY_SIZE(fine); i++) {
		snprintf(name, sizeof(name), "f%u.sql", i);
		place_write(p, name, "%s WITH (out = 'json:/dev/null')", fine[i]);
	}
	for (u32 k = 0; k < 2; k++) {
		place_start(p, p->folder, "-o", "json", k ? "--allow-payload" : NULL, NULL);
		for (u32 i = 0; i < ARRAY_SIZE(columns) + ARRAY_SIZE(fine); i++) {
			bool is_column = i < ARRAY_SIZE(columns);

			snprintf(said, sizeof(said), "/%c%u.sql\",\"state\":\"%s\"",
				 is_column ? 'c' : 'f',
				 is_column ? i : i - (u32)ARRAY_SIZE(columns),
				 is_column && !k ? "failed" : "runs");
			place_wait_status(p, said);
		}
		if (!k)
			expect_payload(p, ARRAY_SIZE(columns));
		/* The machine's own losses are none of the test's. */
		proc_signal(&p->session->ebql, SIGTERM);
		assert_true(proc_wait_exit(&p->session->ebql, LIMIT_MS) >= 0);
		proc_forget(&p->session->ebql);
	}
}

static int setup(void **state)
{
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return place_setup(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, place_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_notify),   TEST(test_no_signs),	TEST(test_fixed),
		TEST(test_schedule), TEST(test_audit),		TEST(test_reload),
		TEST(test_log),	     TEST(test_fixed_schedule), TEST(test_payload),
	};

	return cmocka_run_group_tests_name("watch_service", tests, NULL, NULL);
}
