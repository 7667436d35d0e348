/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that use the library as its pages say: examples/top.c, also under valgrind, and
 * stranger.py, which knows how many calls it makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void shell(const char *words)
{
	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	if (system(words))
		fail_msg("%s", words);
}

/*
 * Two windows, each with its head, over a process that makes calls; the first window may be of the
 * last instant of a second.
 */
#define TWO_WINDOWS                                                                                \
	"(while sleep 0.05; do :; done) >&2 & p=$!; " TOP_PROGRAM                                  \
	" 2 | awk '/ calls, / { n++; m += $3 } END { exit n != 2 || !m }'; s=$?; kill $p; exit $s"

static void test_top(void **state)
{
	shell(TWO_WINDOWS);
}

#ifndef __SANITIZE_ADDRESS__
static void test_valgrind(void **state)
{
	shell("bash -o pipefail -c \"valgrind -q --leak-check=full --error-exitcode=9 " TOP_PROGRAM
	      " 1 | grep -c ' calls, ' >&2\"");
}
#endif

static void test_stranger(void **state)
{
	setenv("EBQL_LIBRARY", BUILD_DIR "/libebql.so", 1);
	setenv("PYTHONPATH", SOURCE_DIR "/python", 1);
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	shell("[ -z '" SANITIZE "' ] || export LD_PRELOAD=$(cc -print-file-name=libasan.so):$(cc "
	      "-print-file-name=libubsan.so); exec python3 " SOURCE_DIR "/tests/live/stranger.py");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(test_valgrind),
#endif
		cmocka_unit_test(test_stranger),
	};

	return cmocka_run_group_tests_name("examples", tests, NULL, NULL);
}
