/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * python/ebql with the system's Python and no package: values.py, over rows of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_values(void **state)
{
	setenv("EBQL_LIBRARY", BUILD_DIR "/libebql.so", 1);
	setenv("PYTHONPATH", SOURCE_DIR "/python", 1);
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	/* A library with ASan wants ASan in the program. */
	assert_int_equal(system("[ -z '" SANITIZE "' ] || export LD_PRELOAD=$(cc "
				"-print-file-name=libasan.so):$(cc -print-file-name=libubsan.so); "
				"exec python3 " SOURCE_DIR "/tests/api/values.py"),
			 0);
}

/* Who has the package alone is told what is missing. */
static void test_no_library(void **state)
{
	assert_int_equal(
		system("EBQL_LIBRARY=/nowhere/libebql.so PYTHONPATH=" SOURCE_DIR "/python "
		       "PYTHONDONTWRITEBYTECODE=1 python3 -c 'import ebql' 2>&1 | "
		       "grep -q '^OSError: /nowhere/libebql.so: .*make install.*EBQL_LIBRARY'"),
		0);
}

/*
 * As the manual has it where no network is: pip, in an environment of its own, with Debian's
 * packages alone; and what it installed is whole, and works from anywhere.
 */
static void test_package(void **state)
{
	assert_int_equal(
		system("d=$(mktemp -d) && cd $d && cp -r " SOURCE_DIR
		       "/python . && unset PYTHONPATH && "
		       "/usr/bin/python3 -m venv --system-site-packages env && "
		       "env/bin/pip install -q --no-build-isolation --no-index ./python && "
		       "cd / && (export LD_PRELOAD; [ -z '" SANITIZE "' ] || LD_PRELOAD=$(cc "
		       "-print-file-name=libasan.so):$(cc -print-file-name=libubsan.so); "
		       "$d/env/bin/python -c 'import ebql; print(ebql.__path__[0])' >$d/where && "
		       "$d/env/bin/python " SOURCE_DIR "/tests/api/values.py Rows.test_rows) && "
		       "diff -r -x __pycache__ $d/python/ebql $(cat $d/where) && "
		       "grep -q ^$d/env $d/where; s=$?; rm -r $d; exit $s"),
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_values),
					    cmocka_unit_test(test_no_library),
					    cmocka_unit_test(test_package) };

	return cmocka_run_group_tests_name("python", tests, NULL, NULL);
}
