/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Other kernels: the test programs that load BPF, run inside stock Debian kernels by
 * tests/vm/run.  One test here is one program in one kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../live/proc.h"

enum { SKIPPED = 77, MAX_ARGS = 32, LIMIT_S = 400 };

static const char *const kernels[] = { "6.1", "6.12" };

/* Paths are in the build tree; files beside the program, as it expects them. */
static const struct program {
	const char *name, *path, *argument;
	const char *files[4];
	const char *source_files; /* a directory of the source tree */
} programs[] = {
	{ .name = "boot", .path = "/bin/uname", .argument = "-r" },
	{ .name = "random", .path = "../bpf/test_bpf_random" },
	{ .name = "replay", .path = "../replay/test_replay", .source_files = "tests/replay" },
	{ .name = "exact",
	  .path = "../live/test_exact",
	  .argument = "--quick",
	  .files = { "../../ebql", "../loadgen" } },
};

struct test {
	char name[64];
	const struct program *program;
	const char *kernel;
};

static const char *build_path(char *path, size_t size, const char *relative)
{
	char *resolved;

	resolved = realpath(relative[0] == '/' ? relative : proc_path(relative), NULL);
	snprintf(path, size, "%s", resolved ? resolved : "");
	free(resolved);
	return path;
}

/* What the guest's cmocka said, for counting by eye: its last lines. */
static const char *tail(const char *text)
{
	size_t n = text ? strlen(text) : 0;

	return n > 3000 ? text + n - 3000 : n ? text : "silent";
}

static void test_program(void **state)
{
	const struct test *test = *state;
	const struct program *program = test->program;
	static char paths[MAX_ARGS][4096];
	const char *argv[MAX_ARGS] = { VM_RUN, "-s", "390", "-e", "EBQL_TEST_VM=1" };
	struct proc proc = { 0 };
	u32 n = 5;

	for (u32 i = 0; i < ARRAY_SIZE(program->files) && program->files[i]; i++) {
		argv[n++] = "-f";
		argv[n] = build_path(paths[n], sizeof(paths[n]), program->files[i]);
		n += argv[n][0] != 0;
		if (argv[n - 1][0] == '-') {
			print_message("SKIP: not built: %s\n", program->files[i]);
			skip();
		}
	}
	if (program->source_files) {
		argv[n++] = "-f";
		snprintf(paths[n], sizeof(paths[n]), "%s/%s", SOURCE_ROOT, program->source_files);
		argv[n] = paths[n];
		n++;
	}
	argv[n++] = test->kernel;
	argv[n++] = "--";
	argv[n] = build_path(paths[n], sizeof(paths[n]), program->path);
	if (!argv[n][0]) {
		print_message("SKIP: not built: %s\n", program->path);
		skip();
	}
	n++;
	argv[n] = program->argument;
	proc_start(&proc, argv, 0);
	proc_wait_exit(&proc, LIMIT_S * 1000);
	if (proc.status == SKIPPED) {
		print_message("SKIP: %s", proc.err_text.n ? proc.err_text.at : "\n");
		proc_end_all();
		skip();
	}
	if (proc.status != 0)
		fail_msg("status %d in %s: %s\n%s", proc.status, test->kernel,
			 tail(proc.out_text.at), tail(proc.err_text.at));
	if (!strcmp(program->name, "boot") &&
	    strncmp(proc.out_text.at, test->kernel, strlen(test->kernel)) != 0)
		fail_msg("booted %s instead of %s", proc.out_text.at, test->kernel);
}

static int end_all(void **state)
{
	proc_end_all();
	return 0;
}

int main(int argc, char **argv)
{
	static struct test tests[ARRAY_SIZE(kernels) * ARRAY_SIZE(programs)];
	static struct CMUnitTest units[ARRAY_SIZE(tests)];
	u32 n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(kernels); i++) {
		for (u32 j = 0; j < ARRAY_SIZE(programs); j++) {
			tests[n].program = &programs[j];
			tests[n].kernel = kernels[i];
			snprintf(tests[n].name, sizeof(tests[n].name), "linux_%s_%s", kernels[i],
				 programs[j].name);
			units[n] = (struct CMUnitTest){ .name = tests[n].name,
							.test_func = test_program,
							.teardown_func = end_all,
							.initial_state = &tests[n] };
			n++;
		}
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return _cmocka_run_group_tests("vm", units, n, NULL, NULL);
}
