/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files of ebql's own state, where links and pipes stand in their places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/state.h"

static char root[] = "/tmp/ebql-state-XXXXXX";
static char path[128], new[160], other[128];

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void check_file(const char *name, const char *text)
{
	char had[32] = "";
	FILE *file = fopen(name, "r");
	struct stat st;

	assert_non_null(file);
	assert_int_equal(lstat(name, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_non_null(fgets(had, sizeof(had), file));
	assert_string_equal(had, text);
	fclose(file);
}

static int keep(const char *text, int error)
{
	struct state_file state;
	int begun = state_begin(&state, path);

	if (begun)
		return begun;
	fputs(text, state.file);
	return state_end(&state, error);
}

static int set_up(void **state)
{
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/a/ebql/costs", root);
	snprintf(new, sizeof(new), "%s.%d", path, (int)getpid());
	snprintf(other, sizeof(other), "%s/other", root);
	write_file(other, "another's");
	alarm(60); /* of a pipe that is waited for */
	return 0;
}

static void test_folders(void **state)
{
	char folder[128];
	struct stat st;

	umask(022);
	assert_int_equal(keep("one", 0), 0);
	check_file(path, "one");
	snprintf(folder, sizeof(folder), "%s/a/ebql", root);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	/* What failed leaves the old one, and nothing beside it. */
	assert_int_equal(keep("two", -EIO), -EIO);
	check_file(path, "one");
	assert_int_equal(access(new, F_OK), -1);
	/* Tried, it leaves nothing; and where no folder can be made, that is why. */
	assert_int_equal(state_try(path), 0);
	check_file(path, "one");
	assert_int_equal(access(new, F_OK), -1);
	assert_int_equal(state_try("/sys/none/ebql/costs"), geteuid() ? -EACCES : -EPERM);
}

/* In the place of the file, and of the one beside it. */
static void test_places(void **state)
{
	const char *const places[] = { path, new };

	for (size_t i = 0; i < 2; i++) {
		unlink(places[i]);
		assert_int_equal(symlink(other, places[i]), 0);
		assert_int_equal(keep("links", 0), 0);
		check_file(path, "links");
		unlink(places[i]);
		assert_int_equal(link(other, places[i]), 0);
		assert_int_equal(keep("hard", 0), 0);
		check_file(path, "hard");
		unlink(places[i]);
		assert_int_equal(mkfifo(places[i], 0600), 0);
		assert_int_equal(keep("pipes", 0), 0);
		check_file(path, "pipes");
		check_file(other, "another's");
	}
	/* A folder is not to be replaced: nothing is left. */
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(keep("folder", 0), -EISDIR);
	assert_int_equal(access(new, F_OK), -1);
	rmdir(path);
}

/* A folder that is a link: root does not write where it leads. */
static void test_linked(void **state)
{
	char folder[128], real[128];

	snprintf(folder, sizeof(folder), "%s/a/ebql", root);
	snprintf(real, sizeof(real), "%s/real", root);
	assert_int_equal(rename(folder, real), 0);
	assert_int_equal(symlink(real, folder), 0);
	assert_int_equal(keep("linked", 0), geteuid() ? 0 : -ENOTDIR);
	unlink(path);
	unlink(folder);
	rmdir(real);
	unlink(other);
	snprintf(folder, sizeof(folder), "%s/a", root);
	rmdir(folder);
	assert_int_equal(rmdir(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_linked),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
