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

/* What pyproject.toml says is a package, whole; nothing is fetched for it. */
static void test_package(void **state)
{
	assert_int_equal(
		system("d=$(mktemp -d) && cp -r " SOURCE_DIR "/python $d && cd $d/python && "
		       "python3 -W ignore -c 'import setuptools; setuptools.setup()' -q build "
		       "--build-lib $d/out && diff -r -x __pycache__ ebql $d/out/ebql; s=$?; rm -r $d; exit $s"),
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_values),
					    cmocka_unit_test(test_package) };

	return cmocka_run_group_tests_name("python", tests, NULL, NULL);
}
