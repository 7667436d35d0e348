/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of the kernel that cannot be read, or not wholly: what ebql says of each, and what it
 * says to try instead.  Which functions these are is found in /proc/kallsyms, by other code than
 * ebql's.  --lockdown: locks this kernel down, and what it says then; nothing takes that back.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "cat/cat.h"
#include "watch.h"

/* Of a trampoline (BPF_MAX_TRAMP_LINKS, 5.16 and later). */
#define TRAMPOLINE_PROGRAMS 38

/* The names of code in /proc/kallsyms, sorted. */
static struct buf symbols;
static const char **names;
static u32 n_names;

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "ADDRESS t NAME\t[MODULE]" */
static int setup(void **state)
{
	u32 n_lines = 0;

	buf_init(&symbols);
	if (buf_read_file(&symbols, "/proc/kallsyms", SIZE_MAX))
		return -1;
	for (const char *at = symbols.at; (at = strchr(at, '\n')); at++)
		n_lines++;
	names = calloc(n_lines, sizeof(*names));
	for (char *rest = symbols.at, *line; (line = strsep(&rest, "\n")) && *line;) {
		char *kind = strchr(line, ' ') + 1;

		kind[2 + strcspn(kind + 2, "\t")] = '\0';
		if (strchr("tTwW", *kind) && strncmp(kind + 2, "__pfx_", 6) != 0)
			names[n_names++] = kind + 2;
	}
	qsort(names, n_names, sizeof(*names), compare);
	return 0;
}

/* The place of the first name that is not before this one, and how many are this one. */
static u32 find(const char *name, u32 *ret_n)
{
	u32 low = 0, high = n_names;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (strcmp(names[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*ret_n = 0; low + *ret_n < n_names && !strcmp(names[low + *ret_n], name);)
		++*ret_n;
	return low;
}

static u32 count(const char *name)
{
	u32 n;

	find(name, &n);
	return n;
}

/*
 * A function of which the compiler has made NAME.SUFFIX.N, and that has code itself or not; the
 * name of the twin is nobody else's.  list: of the names among which the twin must be, NULL: all.
 */
static const char *find_twin(const char *suffix, bool has_code, const char *list,
			     const char **ret_twin)
{
	static char name[256];
	char line[256];

	for (u32 i = 0; i < n_names; i++) {
		const char *at = strstr(names[i], suffix);

		if (!at || memchr(names[i], '.', (size_t)(at - names[i])) ||
		    at[strlen(suffix) + strspn(at + strlen(suffix), "0123456789")])
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(at - names[i]), names[i]);
		snprintf(line, sizeof(line), "\n%s\n", names[i]);
		*ret_twin = names[i];
		if (count(name) == has_code && count(names[i]) == 1 &&
		    (!list || strstr(list, line)))
			return name;
	}
	fail_msg("no function has a twin %sN", suffix);
	return NULL;
}

/* A name that several functions have. */
static const char *find_common(void)
{
	for (u32 i = 1; i < n_names; i++)
		if (!strpbrk(names[i], ".$") && !strcmp(names[i], names[i - 1]))
			return names[i];
	fail_msg("no two functions have one name");
	return NULL;
}

/* A flag beside those of proc.h: what it complains of, it says once. */
#define ONCE (1u << 31)

/* Runs `ebql WORD... QUERY`, and expects its status and the text in what it complains of. */
static void expect(u32 flags, const char *const *words, int status, const char *text,
		   const char *format, ...) PRINTF(5, 6);

static void expect(u32 flags, const char *const *words, int status, const char *text,
		   const char *format, ...)
{
	const char *argv[8];
	struct proc ebql = { 0 };
	char query[512];
	va_list args;
	u32 n = 0;
	const char *found;
	int got;

	va_start(args, format);
	vsnprintf(query, sizeof(query), format, args);
	va_end(args);
	for (; words[n]; n++)
		argv[n] = words[n];
	argv[n++] = query;
	argv[n] = NULL;
	proc_start(&ebql, argv, flags & ~ONCE);
	got = proc_wait_exit(&ebql, 60000);
	found = strstr(ebql.err_text.at, text);
	if (got != status || !found || (flags & ONCE && strstr(found + 8, "warning[")))
		fail_msg("%s: status %d, not %d; \"%s\" is not in: %s", query, got, status, text,
			 ebql.err_text.at);
	proc_end_all();
}

/* A query as it is run, explained, and run where BTF is hidden. */
#define RUN	((const char *[]){ proc_ebql(), "-d", "1ms", NULL })
#define EXPLAIN ((const char *[]){ proc_ebql(), "explain", NULL })
#define HIDDEN	((const char *[]){ proc_path("test_refusal"), "--hidden", "-d", "1ms", NULL })

#define BY(path) "SET access_path = " path "; SELECT count(*) FROM "

static void test_missing(void **state)
{
	expect(0, RUN, 2, "did you mean \"kprobe:vfs_read\"?", "SELECT 1 FROM kprobe:vfs_raed");
	expect(0, RUN, 2,
	       "it is not in this kernel, or in a module that is not loaded, or the compiler has put "
	       "all of it into its callers (inlined)",
	       "SELECT 1 FROM kprobe:zzz_no_such_function_at_all");
}

/* Whether BTF knows the name or not. */
static void expect_code(const char *name, const char *text, const char *hint)
{
	struct proc ebql = { 0 };
	char query[256];
	const char *argv[] = { proc_ebql(), "explain", query, NULL };

	snprintf(query, sizeof(query), "SELECT count(*) FROM kprobe:%s", name);
	proc_start(&ebql, argv, 0);
	proc_wait_exit(&ebql, 60000);
	if (!strstr(ebql.err_text.at, text) || !strstr(ebql.err_text.at, hint))
		fail_msg("%s: \"%s\" or \"%s\" is not in: %s", name, text, hint, ebql.err_text.at);
	proc_end_all();
}

static void test_changed(void **state)
{
	static const char *const suffixes[] = { ".isra.", ".constprop." };
	char text[512], hint[512];
	const char *twin;

	for (u32 i = 0; i < ARRAY_SIZE(suffixes); i++) {
		const char *name = find_twin(suffixes[i], false, NULL, &twin);

		snprintf(text, sizeof(text), "the compiler has made %s", twin);
		snprintf(hint, sizeof(hint), "kprobe:%s has them as arg0, arg1, ...", twin);
		expect_code(name, text, hint);
	}
}

static void test_parted(void **state)
{
	const char *twin, *name = find_twin(".part.", false, NULL, &twin);
	char text[512], hint[512];

	snprintf(text, sizeof(text), "its beginning is within its callers, the rest is %s", twin);
	snprintf(hint, sizeof(hint), "kprobe:%s is called where the beginning does not do", twin);
	expect_code(name, text, hint);
	name = find_twin(".part.", true, NULL, &twin);
	snprintf(text, sizeof(text),
		 "warning[function-code]: %s: some callers call what the compiler has made of it: "
		 "%s",
		 name, twin);
	expect_code(name, text, "such calls are not seen; which callers only debug information");
}

/* In BTF, and nowhere else; pahole leaves these out of the BTF of the guests' kernels. */
static void test_inlined(void **state)
{
	struct btf *btf = btf__load_vmlinux_btf();
	char name[256] = "", twin[300];
	u32 at, n;

	assert_non_null(btf);
	for (u32 id = 1; id < btf__type_cnt(btf) && !*name; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!btf_is_func(t))
			continue;
		snprintf(name, sizeof(name), "%s", btf__name_by_offset(btf, t->name_off));
		snprintf(twin, sizeof(twin), "%s.", name);
		at = find(twin, &n);
		if (count(name) || (at < n_names && !strncmp(names[at], twin, strlen(twin))) ||
		    !strncmp(name, "__bpf_trace_", 12))
			*name = '\0';
	}
	btf__free(btf);
	assert_true(*name);
	expect_code(name, "there is no code of that name: the compiler has put it into its callers",
		    "which callers only debug information tells, or the source: probe one");
}

static void test_common(void **state)
{
	const char *name = find_common();
	char text[256];

	snprintf(text, sizeof(text), "%s: %u functions have that name", name, count(name));
	expect_code(name, text, "a kprobe takes none of them since Linux 6.6");
}

static void test_no_privilege(void **state)
{
	expect(PROC_NOBODY, RUN, 1, "error[no-privilege]", "SELECT count(*) FROM kprobe:vfs_read");
}

static void test_no_btf(void **state)
{
	expect(0, HIDDEN, 2,
	       "error[no-trampoline]: kprobe:vfs_read cannot be read by a trampoline: "
	       "BTF does not know the function",
	       BY("fentry") "kprobe:vfs_read");
	expect(0, HIDDEN, 1, "error[no-btf]: the kernel has no BTF",
	       "SELECT count(*) FROM kprobe:vfs_raed");
	expect(0, HIDDEN, 1,
	       "error[no-btf]: the kernel has no BTF (No such file or directory), which "
	       "iterators need",
	       "SELECT count(*) FROM iter:task");
#ifdef __aarch64__
	expect(0, RUN, 2,
	       "error[no-btf]: iter:bpf_prog: BTF of this kernel does not have what "
	       "\"run_cnt\" is read of",
	       "SELECT run_cnt FROM iter:bpf_prog");
#endif
}

/* --- What only a kernel with kprobes refuses --- */

static void test_twin_is_read(void **state)
{
	static const char *const suffixes[] = { ".isra.", ".part." };
	struct buf traced;
	const char *twin;

	buf_init(&traced);
	assert_int_equal(
		buf_read_file(&traced, "/sys/kernel/tracing/available_filter_functions", SIZE_MAX),
		0);
	for (u32 i = 0; i < ARRAY_SIZE(suffixes); i++) {
		find_twin(suffixes[i], false, traced.at, &twin);
		expect(0, RUN, 0, "", "SELECT count(*), max(arg0) FROM kprobe:%s", twin);
	}
	buf_free(&traced);
}

#define NOTRACE "the function is left out of tracing (notrace, "
/* arm64's kernel answers as those that have no trampolines at all. */
#if defined(__x86_64__)
#define BY_FENTRY   1, NOTRACE
#define BLACKLISTED "kprobe_int3_handler"
#else
#define BY_FENTRY   2, "this kernel attaches none there"
#define BLACKLISTED "do_el1_softstep"
#endif

static void test_left_out(void **state)
{
	expect(0, RUN, BY_FENTRY, BY("fentry") "kprobe:trace_clock_local");
	mount("d", "/sys/kernel/debug", "debugfs", 0, NULL); /* unless it is there */
	expect(0, RUN, 1,
	       "no probe may be there: it is in /sys/kernel/debug/kprobes/blacklist; probe a "
	       "function that calls it, or that it calls",
	       BY("kprobe") "kprobe:" BLACKLISTED);
#if defined(__x86_64__) /* arm64's kernel answers as above */
	expect(0, RUN, 1, "no instruction begins there", "SELECT count(*) FROM kprobe:vfs_read+1");
#endif
}

/* As many programs as the trampolines of a function take; closed by their descriptors. */
static void fill_trampolines(const char *function, int links[TRAMPOLINE_PROGRAMS])
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct catalog *catalog;
	struct arena arena;
	u32 id;

	/* libbpf's search takes seconds in a guest. */
	arena_init(&arena);
	catalog = catalog_open_live(&arena);
	id = catalog_btf_id(catalog, BTF_KIND_FUNC, function);
	for (u32 i = 0; i < TRAMPOLINE_PROGRAMS; i++) {
		LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
			    .attach_btf_id = id);
		int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "many", "GPL", insns,
				       ARRAY_SIZE(insns), &opts);

		links[i] = bpf_raw_tracepoint_open(NULL, fd);
		if (links[i] < 0)
			fail_msg("program %u: %s", i, strerror(errno));
		close(fd);
	}
	catalog_close(catalog);
	arena_free(&arena);
}

#define FULL "its trampolines have the 38 programs that they take"

/* A trampoline is refused as it is attached: a kprobe, unless it is insisted on the other. */
static void test_too_many(void **state)
{
	const char *path = "/tmp/ebql_too_many.sql";
	const char *const json[] = { proc_ebql(), "-o",
				     "json",	  "-d",
				     "1ms",	  "SELECT count(*) FROM fentry:vfs_fsync_range",
				     NULL };
	struct proc ebql = { 0 };
	FILE *file = fopen(path, "we");
	int links[TRAMPOLINE_PROGRAMS];

	fill_trampolines("vfs_fsync_range", links);
	expect(0, RUN, 1,
	       "the trampolines of a function take 38 programs, and these have them; SET "
	       "access_path = kprobe reads it another way",
	       BY("fentry") "fentry:vfs_fsync_range");
	expect(0, RUN, 0, "", BY("kprobe") "fentry:vfs_fsync_range");
	expect(0, RUN, 0, "warning[fallback]: vfs_fsync_range is read by a kprobe: " FULL,
	       "SELECT count(*) FROM fentry:vfs_fsync_range");
	proc_start(&ebql, json, 0);
	assert_int_equal(proc_wait_exit(&ebql, 60000), 0);
	if (!strstr(ebql.out_text.at, "\"fallback\":\"vfs_fsync_range: by a kprobe: " FULL))
		fail_msg("%s", ebql.out_text.at);
	proc_end_all();
	/* Both ends of a span, beside what needs none. */
	expect(0, RUN, 0, "warning[fallback]: vfs_fsync_range is read by a kprobe: " FULL,
	       "SELECT count(*) FROM (SELECT time FROM function:vfs_fsync_range UNION ALL "
	       "SELECT time FROM fentry:vfs_statfs)");
	/* What EXPLAIN said is not said once more: _printk() takes any number of arguments. */
	expect(0, RUN, 2, "cannot be read by a trampoline", BY("fentry") "kprobe:_printk");
	expect(ONCE, RUN, 0, "warning[fallback]: vfs_fsync_range is read by a kprobe: " FULL,
	       "SELECT count(*) FROM (SELECT time FROM fentry:vfs_fsync_range UNION ALL "
	       "SELECT time FROM kprobe:_printk)");
	assert_true(file && fputs("SELECT count(*) FROM fentry:vfs_fsync_range", file) >= 0 &&
		    fclose(file) == 0);
	expect(0, ((const char *[]){ proc_ebql(), "watch", "-d", "1ms", NULL }), 0,
	       "warning[fallback]: vfs_fsync_range is read by a kprobe: " FULL, "%s", path);
	unlink(path);
	for (u32 i = 0; i < ARRAY_SIZE(links); i++)
		close(links[i]);
}

/* That of a system call: by a tracepoint then. */
static void test_too_many_of_call(void **state)
{
	int links[TRAMPOLINE_PROGRAMS];

	fill_trampolines(CALL_PREFIX "fsync", links);
	expect(0, RUN, 1,
	       "cannot attach to " CALL_PREFIX "fsync (trampoline): Argument list too long",
	       BY("fentry") "tracepoint:syscalls:sys_enter_fsync");
	expect(0, RUN, 0, "", "SELECT count(*) FROM syscall:fsync");
	for (u32 i = 0; i < ARRAY_SIZE(links); i++)
		close(links[i]);
}

/* --- --lockdown --- */

static void test_lockdown(void **state)
{
	int fd;

	mount("s", "/sys/kernel/security", "securityfs", 0, NULL);
	fd = open("/sys/kernel/security/lockdown", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0 && write(fd, "confidentiality", 15) == 15);
	close(fd);
	expect(0, RUN, 1,
	       "error[locked-down]: the kernel is locked down (confidentiality) and does not "
	       "permit to attach a kprobe",
	       BY("kprobe") "kprobe:vfs_read");
	expect(0, RUN, 1,
	       "error[locked-down]: the kernel is locked down (confidentiality) and does not "
	       "permit to read its memory",
	       "SELECT max(file.f_path.dentry.d_parent) FROM kprobe:vfs_read");
	/* What the hint says is so. */
	expect(0, RUN, 0, "", BY("fentry") "kprobe:vfs_read");
	expect(0, RUN, 0, "", BY("tracepoint") "tracepoint:sched:sched_switch");
	expect(0, RUN, 0, "", "SELECT count(*) FROM uprobe:%s:main", proc_ebql());
}

/* Execs ebql where /sys/kernel/btf is empty. */
static int run_hidden(char **argv)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL))
		return 127;
	argv[1] = (char *)proc_ebql();
	execv(argv[1], argv + 1);
	return 127;
}

static int teardown(void **state)
{
	proc_end_all();
	free(names);
	buf_free(&symbols);
	return 0;
}

static int require(void **state)
{
	watch_require();
	return 0;
}

#define TEST(test) cmocka_unit_test_setup(test, require)

int main(int argc, char **argv)
{
	const struct CMUnitTest lockdown[] = { TEST(test_lockdown) };
	const struct CMUnitTest without[] = {
		TEST(test_missing), TEST(test_changed),	     TEST(test_parted), TEST(test_inlined),
		TEST(test_common),  TEST(test_no_privilege), TEST(test_no_btf),
	};
	const struct CMUnitTest tests[] = {
		TEST(test_parted),   TEST(test_twin_is_read),	  TEST(test_left_out),
		TEST(test_too_many), TEST(test_too_many_of_call), TEST(test_no_privilege),
		TEST(test_no_btf),
	};

	if (argc > 2 && !strcmp(argv[1], "--hidden"))
		return run_hidden(argv);
	if (argc == 2 && !strcmp(argv[1], "--lockdown"))
		return cmocka_run_group_tests_name("lockdown", lockdown, NULL, teardown);
	if (access("/sys/bus/event_source/devices/kprobe", F_OK))
		return cmocka_run_group_tests_name("refusal", without, setup, teardown);
	return cmocka_run_group_tests_name("refusal", tests, setup, teardown);
}
