/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql calibrate where the machine changes its speed meanwhile (speed.c), where the kernel refuses
 * some of what is measured, and where it refuses all.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"

enum { LIMIT_MS = 100000, NOBODY = 65534 /* as PROC_NOBODY */ };

static char folder[] = "/tmp/ebql-calibrate-XXXXXX";

/* What the line of that name has behind it, of rows in CSV or of the file of costs. */
static const char *behind(const struct buf *text, const char *name)
{
	static char line[512];

	for (const char *at = text->at; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strncmp(at, name, strlen(name)) == 0) {
			snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
			return line + strlen(name);
		}
	fail_msg("no line %s in %s", name, text->at);
	return NULL;
}

static void run(struct proc *ebql, u32 flags, int status, const char *option)
{
	memset(ebql, 0, sizeof(*ebql));
	proc_start(ebql,
		   (const char *const[]){ proc_ebql(), "calibrate", "-n", "1", "-o", "csv", option,
					  NULL },
		   flags);
	assert_int_equal(proc_wait_exit(ebql, LIMIT_MS), status);
}

static void read_costs(struct buf *text)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/ebql/costs", folder);
	buf_init(text);
	assert_int_equal(buf_read_file(text, path, 65536), 0);
	buf_puts(text, "");
}

static u32 n_marked(const struct buf *text)
{
	u32 n = 0;

	for (const char *at = text->at; (at = strstr(at, ",\"this machine, unsteady\",")); at++)
		n++;
	return n;
}

static void check_marks(struct proc *ebql)
{
	char said[96];

	assert_non_null(
		strstr(behind(&ebql->out_text, "raw_call,"), ",\"this machine, unsteady\","));
	assert_non_null(strstr(behind(&ebql->out_text, "account,"), ",\"this machine"));
	/* Of others the machine says whether they are marked; all that are, are counted. */
	snprintf(said, sizeof(said), "ebql: %u are unsteady: the machine changed its speed ",
		 n_marked(&ebql->out_text));
	assert_non_null(strstr(ebql->err_text.at, said));
}

static void test_marks(void **state)
{
	struct proc ebql;
	struct buf costs;

	session_require();
	setenv("LD_PRELOAD", SPEED_LIBRARY, 1);
	run(&ebql, 0, 0, NULL);
	unsetenv("LD_PRELOAD");
	check_marks(&ebql);
	/* Which needs a perf event: the table's figure stands, and why. */
	assert_non_null(strstr(behind(&ebql.out_text, "sample,"), "table: "));
	proc_forget(&ebql);
	read_costs(&costs);
	assert_non_null(strstr(behind(&costs, "raw_call "), " unsteady"));
	assert_null(strstr(costs.at, "\nsample "));
	/* Nothing that is kept is free, but max_cpu's own: a clock that is of no use, the account.
	 */
	for (const char *at = costs.at; (at = strstr(at, " 0.00 ")); at++)
		assert_true(strchr("0123456789", at[-1]) || strncmp(at - 5, "clock", 5) == 0 ||
			    strncmp(at - 7, "account", 7) == 0);
	buf_free(&costs);
	/* As the file has it. */
	run(&ebql, 0, 0, "--show");
	check_marks(&ebql);
	proc_forget(&ebql);
}

/* A file of costs that the user who is refused may write. */
static void give_costs(struct buf *costs)
{
	static const char *const names[] = { "", "/ebql", "/ebql/costs" };
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/ebql", folder);
	assert_true(!mkdir(path, 0700) || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/ebql/costs", folder);
	file = fopen(path, "a");
	assert_non_null(file);
	if (!ftell(file))
		fputs("kept\n", file); /* alone: no test has measured before */
	fclose(file);
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s%s", folder, names[i]);
		assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	}
	read_costs(costs);
}

/* Nothing is measured, and the file stays. */
static void test_refused(void **state)
{
	struct buf before, after;
	struct proc ebql;

	session_require();
	give_costs(&before);
	run(&ebql, PROC_NOBODY, 1, NULL);
	assert_int_equal(ebql.out_text.n, 0);
	assert_non_null(strstr(ebql.err_text.at, "ebql: calibrate: "));
	assert_non_null(strstr(ebql.err_text.at, "  hint: ebql doctor says what is missing\n"));
	proc_forget(&ebql);
	read_costs(&after);
	assert_string_equal(before.at, after.at);
	buf_free(&before);
	buf_free(&after);
}

static int set_up(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	return setenv("XDG_STATE_HOME", folder, 1);
}

static int tear_down(void **state)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/ebql/costs", folder);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	return rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_refused),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("calibrate", tests, set_up, tear_down);
}
