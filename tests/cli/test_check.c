/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql snapshot and ebql check: the queries of relied/ over the checked-in catalog of one kernel
 * (golden/snapshot.txt; EBQL_UPDATE=1 writes it), and over copies of that catalog in each of which
 * one thing is changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

/* In a scratch folder, which is this process' current one. */
#define GOLDEN	"$HERE/golden/snapshot.txt"
#define QUERIES "$HERE/relied"

static struct buf said;

/* What a shell and ebql ($E) say to either side is in `said`; returns the exit status. */
static int run(const char *command)
{
	char text[2048];
	FILE *pipe;
	int status;

	snprintf(text, sizeof(text), "exec 2>&1; E=" EBQL_BINARY "; HERE=" HERE "; %s", command);
	pipe = popen(text, "re");
	assert_non_null(pipe);
	buf_reset(&said);
	buf_puts(&said, "");
	for (char chunk[4096]; fgets(chunk, sizeof(chunk), pipe);)
		buf_puts(&said, chunk);
	status = pclose(pipe);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect(const char *command, int status, const char *text)
{
	int got = run(command);

	assert_string_equal(said.at, text);
	assert_int_equal(got, status);
}

static int setup(void **state)
{
	static char folder[] = "/tmp/ebql-test-XXXXXX";

	*state = mkdtemp(folder);
	buf_init(&said);
	if (!*state || chdir(folder))
		return 1;
	run("cp -r $HERE/../catalog/kernel-6.18 . && cp " QUERIES "/*.sql . && "
	    "$E snapshot -o now --catalog kernel-6.18 *.sql");
	return said.n != 0;
}

static int teardown(void **state)
{
	run("rm -r \"$PWD\"");
	buf_free(&said);
	return chdir("/");
}

static void test_golden(void **state)
{
	if (getenv("EBQL_UPDATE"))
		run("cp now " GOLDEN);
	expect("diff now " GOLDEN, 0, "");
	expect("$E snapshot --catalog kernel-6.18 *.sql | diff now -", 0, "");
}

static void test_equal(void **state)
{
	expect("$E check -v now now", 0, "");
	expect("$E check -v now --catalog kernel-6.18", 0, "");
	/* Another kernel's name is no difference, nor is what stands elsewhere. */
	expect("sed s/^catalog.*/kernel/ now >named; $E check now named", 0, "");
}

/*
 * With this command the copy `other` of the catalog is changed, and then check says so of both the
 * catalog and a snapshot of it.
 */
static void plant(const char *command, int status, const char *text)
{
	char line[1024];

	snprintf(line, sizeof(line), "rm -rf other; cp -r kernel-6.18 other; %s", command);
	expect(line, 0, "");
	expect("$E check now --catalog other", status, text);
	run("$E snapshot -o then --catalog other *.sql 2>/dev/null");
	expect("$E check now then", status, text);
}

/* One name in the BTF for another of the same length; or, three, in a circle. */
#define BTF(script)	      "LC_ALL=C sed -i '" script "' other/btf"
#define FORMAT(event, script) "sed -i '" script "' other/events/" event "/format"

static void test_gone(void **state)
{
	plant(BTF("s/\\x00d_name\\x00/\\x00d_nome\\x00/"), 1,
	      "reads.sql: unknown-member: struct dentry has no member \"d_name\"; did you mean "
	      "\"d_nome\"?\n");
	plant(BTF("s/\\x00vfs_read\\x00/\\x00vfs_raed\\x00/"), 1,
	      "reads.sql: unknown-stream: there is no stream function:vfs_read in this catalog; "
	      "did you mean \"function:vfs_raed\"?\n");
	plant(FORMAT("block/block_rq_issue", "s/ioprio/prio/"), 1,
	      "requests.sql: unknown-column: tracepoint:block:block_rq_issue has no column "
	      "\"ioprio\"; did you mean \"prio\"?\n");
	plant("sed -i /sys_enter_pread64/d other/available_events; "
	      "rm -r other/events/syscalls/sys_enter_pread64",
	      1,
	      "calls.sql: unknown-stream: there is no system call \"pread64\" with tracepoints; "
	      "\"ebql list sys_enter\" shows them all\n");
}

static void test_changed(void **state)
{
	plant(FORMAT("block/block_rq_issue", "s/rwbs\\[10\\];\\(.*\\)size:10/rwbs[8];\\1size:8/"),
	      1,
	      "requests.sql, sectors.sql: field tracepoint:block:block_rq_issue.rwbs: "
	      "was TEXT(10), is TEXT(8)\n");
	plant(FORMAT("kmem/kmem_cache_alloc",
		     "s/bytes_alloc;\\(.*\\)size:8/bytes_alloc;\\1size:4/"),
	      1,
	      "allocations.sql: field tracepoint:kmem:kmem_cache_alloc.bytes_alloc: "
	      "was u64, is u32\n");
	/* The names of the arguments of the same type change places. */
	plant(BTF("s/\\x00prev\\x00/\\x00prxv\\x00/; s/\\x00next\\x00/\\x00prev\\x00/; "
		  "s/\\x00prxv\\x00/\\x00next\\x00/"),
	      1,
	      "slices.sql, switches.sql: field raw_tracepoint:sched_switch.prev: was pointer to "
	      "struct task_struct as argument 2, is pointer to struct task_struct as argument 3\n");
	/* A member that BTF says is of another type: here the old kernel's was. */
	expect("sed 's/^\\(member struct rq.nr_running: \\)u32/\\1u64/' now >then; "
	       "$E check then now",
	       1, "calls.sql: member struct rq.nr_running: was u64, is u32\n");
}

/* The query goes on, without what its wildcard has lost; what it gains breaks nothing. */
static void test_wildcard(void **state)
{
	static const char gone[] = "wild: stream tracepoint:sched:sched_wakeup_new: is gone\n";

	expect("echo 'SELECT probe, count(*) FROM tracepoint:sched:sched_wak* GROUP BY 1' >wild; "
	       "$E snapshot -o all --catalog kernel-6.18 wild; rm -rf other; "
	       "cp -r kernel-6.18 other; rm -r other/events/sched/sched_wakeup_new; "
	       "sed -i /sched_wakeup_new/d other/available_events; "
	       "$E snapshot -o fewer --catalog other wild",
	       0, "");
	expect("$E check all fewer", 1, gone);
	expect("$E check all --catalog other", 1, gone);
	expect("$E check fewer all", 0, "");
	expect("$E check -v fewer all", 0,
	       "wild: stream tracepoint:sched:sched_wakeup_new: is read now (breaks nothing)\n");
}

/* Where a thing is, is found anew in each kernel. */
static void test_moved(void **state)
{
	plant(FORMAT("kmem/kmem_cache_alloc", "s/offset:40/offset:56/"), 0, "");
	expect("$E check -v now then", 0,
	       "allocations.sql: field tracepoint:kmem:kmem_cache_alloc.bytes_alloc: "
	       "was at 40, is at 56 (breaks nothing)\n");
	/* Without its type there the field is read by the perf tracepoint: the same answer. */
	plant(BTF("s/\\x00__REQ_FUA\\x00/\\x00__REQ_FAU\\x00/"), 0, "");
	expect("$E check -v now then | grep stream", 0,
	       "requests.sql, sectors.sql: stream tracepoint:block:block_rq_issue: was by raw "
	       "tracepoint block_rq_issue, is by tracepoint block:block_rq_issue (breaks "
	       "nothing)\n");
}

/* What a query breaks by is told, whichever of many it is. */
static void test_queries(void **state)
{
	expect("sed '/^query calls.sql/,/^$/d' now >then; $E check now then", 1,
	       "calls.sql: not in then\n");
	expect("sed 's/^| WHERE count > 1/| WHERE count > 2/' now >then; $E check now then", 1,
	       "reads.sql: another query in then\n");
	expect("$E check then now", 1, "reads.sql: another query in now\n");
}

static void test_usage(void **state)
{
	expect("$E check calls.sql", 2,
	       "error[bad-snapshot]: calls.sql is no snapshot of this version\n"
	       "  hint: ebql snapshot -o FILE QUERY.sql... writes one\n");
	expect("$E check none", 2, "ebql: none: No such file or directory\n");
	expect("$E check now now now", 2,
	       "ebql: now: a snapshot is compared with one other, or with a kernel\n");
	expect("$E snapshot -o calls.sql reads.sql", 2,
	       "ebql: calls.sql: -o says where the snapshot goes, and this is a query's name\n");
	expect("$E snapshot", 2,
	       "usage: ebql snapshot [-o FILE] [--catalog FOLDER] QUERY.sql...\n");
	/* What fails here is written down all the same. */
	expect("echo 'SELECT pidd FROM syscall:read' >bad; "
	       "$E snapshot --catalog kernel-6.18 bad | tail -n 3",
	       0,
	       "error[unknown-column]: syscall:read has no column \"pidd\"\n"
	       "  bad:1:8\n"
	       "  SELECT pidd FROM syscall:read\n"
	       "         ^^^^\n"
	       "  hint: did you mean \"pid\"?\n"
	       "query bad\n"
	       "| SELECT pidd FROM syscall:read\n"
	       "error unknown-column: syscall:read has no column \"pidd\"; did you mean \"pid\"?\n");
	expect("$E snapshot --catalog kernel-6.18 bad >/dev/null 2>&1", 2, "");
}

/* What this kernel has now, it has a moment later, too. */
static void test_live(void **state)
{
	if (run("$E snapshot -o live switches.sql calls.sql")) {
		printf("SKIP: no tracefs or BTF to be read here\n");
		skip();
	}
	expect("$E check -v live", 0, "");
	expect("sed -i 's/TEXT(16)/TEXT(32)/' live; $E check live", 1,
	       "switches.sql: field tracepoint:sched:sched_switch.prev_comm: was TEXT(32), "
	       "is TEXT(16)\n"
	       "switches.sql: member struct task_struct.comm: was TEXT(32), is TEXT(16)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),	 cmocka_unit_test(test_equal),
		cmocka_unit_test(test_gone),	 cmocka_unit_test(test_changed),
		cmocka_unit_test(test_moved),	 cmocka_unit_test(test_queries),
		cmocka_unit_test(test_usage),	 cmocka_unit_test(test_live),
		cmocka_unit_test(test_wildcard),
	};

	return cmocka_run_group_tests_name("check", tests, setup, teardown);
}
