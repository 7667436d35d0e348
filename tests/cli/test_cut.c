/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Recordings that are cut: by a limit of their size, by a full disk, by kill -9, at random places.
 * All rows that are whole in the file are read back, those of a recording that was not cut, and
 * a warning says what is left out.  Which rows are whole is found out here once more.
 */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"

enum { N_ROWS = 9000, N_CUTS = 100, FILE_MOST = 64 << 20 };

static const char *const kinds[] = { "arrows", "jsonl", "csv" };
#define N_KINDS ARRAY_SIZE(kinds)

#define QUERY "SELECT * FROM 'source.jsonl'"

static struct buf rows; /* all of them as JSON lines, the line of columns first */
static u64 seed = 20251122;

static u64 random_below(u64 n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 20) % n;
}

/* --- Running ebql --- */

/* Its exit status, or -1: it was killed.  It writes to `out`, and complaints to "said". */
static int run(const char *out, u64 most_bytes, u64 kill_ns, const char *const *args)
{
	const char *argv[8] = { "ebql" };
	int status;
	pid_t child;

	for (u32 n = 1; *args; n++)
		argv[n] = *args++;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct rlimit limit = { most_bytes, most_bytes };

		dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 1);
		dup2(open("said", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 2);
		if (most_bytes && setrlimit(RLIMIT_FSIZE, &limit))
			_exit(99);
		execv(EBQL_BINARY, (char **)argv);
		_exit(98);
	}
	if (kill_ns) {
		nanosleep(&(struct timespec){ 0, (long)kill_ns }, NULL);
		kill(child, SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (kill_ns && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return -1;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void read_file(const char *path, struct buf *into)
{
	buf_reset(into);
	assert_int_equal(buf_read_file(into, path, FILE_MOST), 0);
	buf_putc(into, '\0');
	into->n--;
}

/* --- Which rows are whole --- */

struct whole {
	bool has_head;
	u64 rows, bytes, rows_cut; /* rows_cut 0: not known */
};

static u32 load(const char *at, u32 bytes)
{
	u32 value = 0;

	memcpy(&value, at, bytes);
	return value;
}

/* The place of a slot of a table of a flat buffer; 0: it is left out. */
static u32 slot(const char *fb, u32 table, u32 number)
{
	u32 vtable = table - load(fb + table, 4), n = load(fb + vtable, 2), at = 4 + 2 * number;
	u32 offset = at < n ? load(fb + vtable + at, 2) : 0;

	return offset ? table + offset : 0;
}

static struct whole whole_of_arrow(const struct buf *file)
{
	struct whole whole = { .rows_cut = 0 };

	while (whole.bytes + 8 <= file->n) {
		const char *at = file->at + whole.bytes, *fb = at + 8;
		u64 bytes = load(at + 4, 4), n;
		u32 table, header;

		if (!bytes) { /* the end */
			whole.bytes += 8;
			break;
		}
		if (whole.bytes + 8 + bytes > file->n)
			return whole;
		table = load(fb, 4);
		header = slot(fb, table, 2);
		header += load(fb + header, 4);
		n = slot(fb, header, 0) && whole.has_head ? load(fb + slot(fb, header, 0), 4) : 0;
		bytes += slot(fb, table, 3) ? load(fb + slot(fb, table, 3), 4) : 0;
		if (whole.bytes + 8 + bytes > file->n) {
			whole.rows_cut = n;
			return whole;
		}
		whole.has_head = true;
		whole.rows += n;
		whole.bytes += 8 + bytes;
	}
	return whole;
}

/* Lines; of JSON also the last one where only its line feed is missing. */
static struct whole whole_of_text(const struct buf *file, bool is_csv)
{
	struct whole whole = { .rows_cut = 1 };
	bool is_quoted = false;
	u64 n = 0;

	for (size_t i = 0; i < file->n; i++) {
		is_quoted ^= is_csv && file->at[i] == '"';
		if (is_quoted || file->at[i] != '\n')
			continue;
		n++;
		whole.bytes = i + 1;
	}
	/* Rows end with "null}" or a number, and no text of theirs with a brace. */
	if (!is_csv && whole.bytes < file->n && file->at[file->n - 1] == '}' &&
	    (n || file->at[file->n - 2] == '}') && (n || file->at[file->n - 3] == ']')) {
		n++;
		whole.bytes = file->n;
	}
	whole.has_head = n > 0;
	whole.rows = n ? n - 1 : 0;
	return whole;
}

static struct whole whole_of(u32 kind, const struct buf *file)
{
	return kind == 0 ? whole_of_arrow(file) : whole_of_text(file, kind == 2);
}

/* --- What is read back --- */

/* The first n rows, and the line of columns. */
static size_t rows_bytes(u64 n)
{
	const char *at = rows.at;

	for (u64 i = 0; i <= n; i++)
		at = strchr(at, '\n') + 1;
	return (size_t)(at - rows.at);
}

static struct whole expect_read(u32 kind, const char *path)
{
	struct buf file, back, said;
	struct whole whole;
	char query[128], expected[512] = "", left_out[64] = "its rows";
	int status;

	buf_init(&file);
	buf_init(&back);
	buf_init(&said);
	read_file(path, &file);
	whole = whole_of(kind, &file);
	/* CSV has fewer types. */
	snprintf(query, sizeof(query), "SELECT time, pid, comm, big, ratio FROM '%s'", path);
	status = run("back", 0, 0, (const char *const[]){ "-o", "jsonl", query, NULL });
	read_file("back", &back);
	read_file("said", &said);
	if (!whole.has_head) {
		assert_int_equal(status, 2);
		assert_non_null(strstr(said.at, "error[bad-file]"));
		goto out;
	}
	if (whole.rows_cut)
		snprintf(left_out, sizeof(left_out), "%lu row%s", whole.rows_cut,
			 whole.rows_cut == 1 ? "" : "s");
	if (whole.bytes < file.n) {
		snprintf(expected, sizeof(expected),
			 "as after a full disk or a kill: %s (%lu bytes) left out", left_out,
			 file.n - whole.bytes);
		if (!strstr(said.at, "warning[cut-file]") || !strstr(said.at, expected))
			fail_msg("not \"%s\": %s", expected, said.at);
	} else {
		assert_string_equal(said.at, "");
	}
	assert_int_equal(status, 0);
	/* The types of a column without a value stand at the end of a CSV. */
	if (kind == 2 && !whole.rows)
		goto out;
	assert_int_equal(back.n, rows_bytes(whole.rows));
	assert_memory_equal(back.at, rows.at, back.n);
out:
	buf_free(&file);
	buf_free(&back);
	buf_free(&said);
	return whole;
}

static void record(char *ret_path, u32 kind, const char *folder, u64 most_bytes, u64 kill_ns,
		   int status)
{
	int have;

	sprintf(ret_path, "%scut.%s", folder, kinds[kind]);
	have = run("/dev/null", most_bytes, kill_ns,
		   (const char *const[]){ "record", "-o", ret_path, QUERY, NULL });
	if (have != status && !(status < 0 && have == 0))
		fail_msg("record ends with %d", have);
}

/* --- The cuts --- */

static u64 size_of(u32 kind)
{
	char path[32];
	struct buf file;
	u64 n;

	buf_init(&file);
	record(path, kind, "", 0, 0, 0);
	read_file(path, &file);
	n = file.n;
	assert_int_equal(expect_read(kind, path).rows, N_ROWS);
	buf_free(&file);
	return n;
}

/* The file is as long as its limit, to the byte. */
static void test_limit(void **state)
{
	u64 n_rows = 0;
	char path[32];

	for (u32 kind = 0; kind < N_KINDS; kind++) {
		u64 size = size_of(kind);

		for (u32 i = 0; i < N_CUTS / N_KINDS + 1; i++) {
			/* The message, too, is a file here. */
			u64 most =
				i % 8 ? 256 + random_below(size - 256) : 256 + random_below(1024);

			record(path, kind, "", most, 0, 1);
			n_rows += expect_read(kind, path).rows;
		}
	}
	assert_true(n_rows > 20000);
}

static void need_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("SKIP: needs root to mount\n");
	skip();
}

/* In a mount namespace of its own: the child's, where the disk is. */
static void test_disk(void **state)
{
	u64 n_rows = 0;
	char path[32];

	need_root();
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mkdir("disk", 0700), 0);
	for (u32 kind = 0; kind < N_KINDS; kind++) {
		u64 n_pages = size_of(kind) / 4096;

		for (u32 i = 0; i < N_CUTS / N_KINDS + 1; i++) {
			char options[32];

			snprintf(options, sizeof(options), "size=%luk",
				 4 * (1 + random_below(n_pages - 1)));
			assert_int_equal(mount("tmpfs", "disk", "tmpfs", 0, options), 0);
			record(path, kind, "disk/", 0, 0, 1);
			n_rows += expect_read(kind, path).rows;
			assert_int_equal(umount("disk"), 0);
		}
	}
	assert_true(n_rows > 20000);
}

/* kill -9 between its start and what it takes when nobody kills it, until so many were cut. */
static void test_kill(void **state)
{
	u64 n_rows = 0;
	char path[32];

	for (u32 kind = 0; kind < N_KINDS; kind++) {
		u64 start_ns = base_monotonic_ns(), whole_ns;

		record(path, kind, "", 0, 0, 0);
		whole_ns = base_monotonic_ns() - start_ns;
		for (u32 n_killed = 0, tries = 0; n_killed <= N_CUTS / N_KINDS; tries++) {
			struct whole whole;

			assert_true(tries < 50 * N_CUTS);
			unlink(path);
			record(path, kind, "", 0, 1 + random_below(whole_ns), -1);
			if (access(path, R_OK))
				continue; /* before it opened it */
			whole = expect_read(kind, path);
			n_rows += whole.rows;
			n_killed += whole.rows < N_ROWS;
		}
	}
	assert_true(n_rows > 0);
}

/* `says` NULL: silence. */
static void expect_rows(const char *file, const char *rows_of_it, const char *says)
{
	struct buf back, said;
	char query[256];

	buf_init(&back);
	buf_init(&said);
	snprintf(query, sizeof(query), "SELECT * FROM '%s'", file);
	run("back", 0, 0, (const char *const[]){ "-o", "csv", query, NULL });
	read_file("back", &back);
	read_file("said", &said);
	if (says ? !strstr(said.at, says) : said.n > 0)
		fail_msg("%s: not \"%s\": %s", file, says ? says : "", said.at);
	if (!strstr(back.at, rows_of_it))
		fail_msg("%s: not \"%s\": %s", file, rows_of_it, back.at);
	buf_free(&back);
	buf_free(&said);
}

/*
 * Who puts all names in quotes and ends without a line feed is another writer; our own recordings
 * are cut there, whatever their last name is.
 */
static void test_writers(void **state)
{
	static const char *const names[] = { "n",      "\"a,b\"", "\"_other\"",
					     "\" x\"", "\"#\"",	  "\"q\"\"\"" };
	char query[256];

	assert_int_equal(system("printf '\"time\",\"n\"\n1,12\n2,34' > quoted.csv"), 0);
	expect_rows("quoted.csv", "2,34\n", NULL);
	assert_int_equal(system("printf '\"n\"\n\"a\"\n\"b\"\n' > one.csv"), 0);
	expect_rows("one.csv", "b\n", NULL);
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(query, sizeof(query), "SELECT time, n AS %s FROM 'quoted.csv'", names[i]);
		run("said", 0, 0, (const char *const[]){ "record", "-o", "ours.csv", query, NULL });
		assert_int_equal(system("truncate -s -2 ours.csv"), 0);
		expect_rows("ours.csv", "1,12\n", "1 row (3 bytes) left out");
	}
	/* The line of types behind the rows is none. */
	run("said", 0, 0,
	    (const char *const[]){ "record", "-o", "ours.csv",
				   "SELECT time, n FROM 'quoted.csv' WHERE n < 0", NULL });
	assert_int_equal(system("truncate -s -1 ours.csv"), 0);
	expect_rows("ours.csv", "n\n", "its rows (23 bytes) left out");
	run("ours.csv", 0, 0,
	    (const char *const[]){ "-o", "csv", "--window-columns", "SELECT n FROM 'quoted.csv'",
				   NULL });
	assert_int_equal(system("truncate -s -1 ours.csv"), 0);
	expect_rows("ours.csv", "\n12,0\n", "1 row (4 bytes) left out");
}

/* A file of somebody else may end without a line feed: its last line is a row. */
static void test_others(void **state)
{
	struct buf back, said;

	buf_init(&back);
	buf_init(&said);
	assert_int_equal(system("printf 'time,n\\n1,12\\n2,34' > others.csv; "
				"printf '{\"time\": 1}\\n{\"time\": 2}' > others.jsonl"),
			 0);
	run("back", 0, 0,
	    (const char *const[]){ "-o", "csv",
				   "SELECT n, b.time FROM 'others.csv' a JOIN 'others.jsonl' b "
				   "ON a.time = b.time ORDER BY n",
				   NULL });
	read_file("back", &back);
	read_file("said", &said);
	assert_string_equal(said.at, "");
	assert_non_null(strstr(back.at, "12,1\n"));
	assert_non_null(strstr(back.at, "34,2\n"));
	buf_free(&back);
	buf_free(&said);
}

/* --- The rows --- */

/* Texts with what lines and fields end with, longer and shorter; a column of NULLs at first. */
static void write_source(void)
{
	static const char *const texts[] = { "a", "b\\n\\\"c\\\", ", "", "\\udcff\\u0001",
					     "{[\\\\" };
	FILE *file = fopen("source.jsonl", "w");

	assert_non_null(file);
	fputs("{\"ebql\": {\"columns\": [{\"name\": \"time\", \"type\": \"TIMESTAMP\"}, {\"name\": "
	      "\"pid\", \"type\": \"INTEGER\"}, {\"name\": \"comm\", \"type\": \"TEXT\"}, "
	      "{\"name\": \"big\", \"type\": \"u64\"}, {\"name\": \"ratio\", \"type\": "
	      "\"REAL\"}]}}\n",
	      file);
	for (u32 i = 0; i < N_ROWS; i++) {
		fprintf(file, "{\"time\": %lu, \"pid\": %d, \"comm\": \"",
			1700000000000000000 + 1000ul * i, (int)i - 7);
		for (u64 n = random_below(8); n > 0; n--)
			fputs(texts[random_below(ARRAY_SIZE(texts))], file);
		fprintf(file, "\", \"big\": %lu, \"ratio\": %s}\n", ~0ul - i,
			i % 3 ? "0.25" : "null");
	}
	assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
	static char folder[] = "/tmp/ebql-test-cut-XXXXXX";

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	write_source();
	buf_init(&rows);
	assert_int_equal(run("rows", 0, 0, (const char *const[]){ "-o", "jsonl", QUERY, NULL }), 0);
	read_file("rows", &rows);
	return 0;
}

static int teardown(void **state)
{
	char command[128], folder[64];

	buf_free(&rows);
	if (!getcwd(folder, sizeof(folder)))
		return 1;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),	cmocka_unit_test(test_disk),
		cmocka_unit_test(test_kill),	cmocka_unit_test(test_others),
		cmocka_unit_test(test_writers),
	};

	return cmocka_run_group_tests_name("cut", tests, setup, teardown);
}
