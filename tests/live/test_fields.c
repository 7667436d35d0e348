/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every field of a tracepoint that is had from the raw tracepoint's arguments (fields.sql),
 * read both ways at once: two queries of one engine group by all of them, one by the perf
 * tracepoint, one by the raw one, over what a child does meanwhile.  Their groups are equal.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/version.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "said.h"
#include "engine/engine.h"
#include "plan/views.h"
#include "sys/sys.h"

#define COUNT_MAX 96
#define AT_ONCE	  12 /* or there is too little memory, and too much that misses events */

/* --- What happens --- */

static char device[64];	   /* a block device that is ours; "": there is none */
static char link_path[64]; /* this program, by the name fld-PID */

static void take_signal(int signal)
{
}

static void *ping(void *context)
{
	int *fds = context;
	char c;

	while (read(fds[0], &c, 1) == 1)
		if (write(fds[1], &c, 1) != 1)
			break;
	return NULL;
}

static void wake_threads(void)
{
	int to[2], back[2], fds[2];
	pthread_t thread;
	char c = 0;

	if (pipe(to) || pipe(back))
		exit(2);
	fds[0] = to[0];
	fds[1] = back[1];
	pthread_create(&thread, NULL, ping, fds);
	for (u32 i = 0; i < 200; i++)
		if (write(to[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			exit(2);
	close(to[1]);
	pthread_join(thread, NULL);
}

static void start_processes(void)
{
	for (u32 i = 0; i < 20; i++) {
		int pid = fork();

		if (!pid) {
			if (i % 2) {
				prctl(PR_SET_NAME, "fld-child");
				_exit(0);
			}
			execl(link_path, link_path, "--exit", NULL);
			_exit(2);
		}
		waitpid(pid, NULL, 0);
	}
}

static void touch_pages(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *pages =
		mmap(NULL, 64 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (u32 i = 0; i < 32; i++)
		pages[i << 12] = 1;
	/* The kernel's own faults. */
	for (u32 i = 32; i < 64; i++)
		if (read(fd, pages + (i << 12), 8) != 8)
			exit(2);
	munmap(pages, 64 << 12);
	close(fd);
}

static void talk(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	int server = socket(AF_INET, SOCK_STREAM, 0), client, one;
	char text[100] = "";

	if (bind(server, (void *)&at, n) || listen(server, 8) ||
	    getsockname(server, (void *)&at, &n))
		exit(2);
	for (u32 i = 0; i < 20; i++) {
		client = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(client, (void *)&at, sizeof(at)))
			exit(2);
		one = accept(server, NULL, NULL);
		if (write(client, text, i + 1) != i + 1 || read(one, text, sizeof(text)) != i + 1)
			exit(2);
		close(client);
		close(one);
	}
	close(server);
}

/* The one that waits for a vfork is blocked: it sleeps and takes no signal. */
static void be_blocked(void)
{
	for (u32 i = 0; i < 5; i++) {
		int pid = vfork();

		if (!pid) {
			nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return is_written;
}

static bool file_has(const char *path, const char *text)
{
	FILE *file = fopen(path, "r");
	bool has = false;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		has |= strstr(line, text) != NULL;
	if (file)
		fclose(file);
	return has;
}

static bool has_freezer(void)
{
	return file_has("/proc/cgroups", "freezer");
}

/* In a mount namespace of its own, which ends with it. */
static int freeze(void)
{
	char number[16], folder[32], c;
	int pid, named[2];

	snprintf(folder, sizeof(folder), "/tmp/ebql-%d", getpid());
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "cgroup", 0, "freezer") || mkdir(folder, 0700) || chdir(folder) ||
	    pipe(named))
		return 2;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "fld-frozen");
		if (write(named[1], "", 1) != 1)
			_exit(2);
		for (;;)
			;
	}
	close(named[1]);
	/* Frozen before it has its name, it would be looked for by another. */
	if (read(named[0], &c, 1) != 1)
		return 2;
	snprintf(number, sizeof(number), "%d", pid);
	if (!write_text("cgroup.procs", number) || !write_text("freezer.state", "FROZEN"))
		return 2;
	while (!file_has("freezer.state", "FROZEN"))
		usleep(1000);
	if (!write_text("freezer.state", "THAWED"))
		return 2;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rmdir(folder) ? 2 : 0;
}

static void be_frozen(void)
{
	int pid = fork(), status;

	if (!pid)
		_exit(freeze());
	waitpid(pid, &status, 0);
	if (status)
		exit(2);
}

/* Reads, writes, flushes; with and without sectors. */
static void use_disk(void)
{
	u64 range[2] = { 0, 1 << 20 };
	void *block;
	int fd = open(device, O_RDWR | O_DIRECT | O_CLOEXEC);

	if (fd < 0 || posix_memalign(&block, 4096, 1 << 16))
		exit(2);
	memset(block, 1, 1 << 16);
	for (u32 i = 0; i < 100; i++) {
		ssize_t n = 4096 << i % 5;

		if (i % 2 ? pread(fd, block, (size_t)n, i * 65536) != n
			  : pwrite(fd, block, (size_t)n, i * 65536) != n)
			exit(2);
		if (i % 10 == 0)
			fdatasync(fd);
	}
	ioctl(fd, BLKDISCARD, range);
	ioctl(fd, BLKZEROOUT, range);
	close(fd);
	fd = open(device, O_RDWR | O_DSYNC | O_CLOEXEC);
	if (pwrite(fd, block, 4096, 1 << 21) != 4096)
		exit(2);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	for (u32 i = 0; i < 64; i++)
		if (pread(fd, block, 4096, i * 4096) != 4096)
			exit(2);
	close(fd);
	free(block);
}

static int work(void)
{
	struct itimerspec soon = { .it_value.tv_nsec = 100000 };
	cpu_set_t cpu;
	timer_t timer;

	snprintf(link_path, sizeof(link_path), "/tmp/fld-%d", getpid());
	if (symlink("/proc/self/exe", link_path))
		return 2;
	signal(SIGUSR1, take_signal);
	signal(SIGALRM, take_signal);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	for (u32 i = 0; i < 20; i++) {
		CPU_ZERO(&cpu);
		CPU_SET(i % 2, &cpu);
		sched_setaffinity(0, sizeof(cpu), &cpu);
		nanosleep(&(struct timespec){ 0, 100000 }, NULL);
		timer_settime(timer, 0, &soon, NULL);
		kill(getpid(), SIGUSR1);
		touch_pages();
	}
	CPU_SET(0, &cpu);
	CPU_SET(1, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	wake_threads();
	start_processes();
	talk();
	be_blocked();
	if (has_freezer())
		be_frozen();
	if (device[0])
		use_disk();
	unlink(link_path);
	/* Interrupts find it. */
	for (u64 end_ns = base_monotonic_ns() + 100000000; base_monotonic_ns() < end_ns;)
		;
	return 0;
}

/* --- Both ways --- */

struct way {
	struct query query;
	char text[4096];
	struct buf rows; /* a line each, sorted */
	u64 n, missed;
};

struct pair {
	const char *name; /* of the tracepoint */
	char fields[1024], kept[512];
	struct way ways[2]; /* by the tracepoint, by the raw one */
};

static struct pair *pairs;
static u32 n_pairs;

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * A thread that is waited for while it leaves its CPU turns from a zombie (32) to dead (16)
 * meanwhile, at times between the tracepoint's look and the raw one's: here they are one.
 */
static s128 as_once(const char *column, s128 value)
{
	return strcmp(column, "prev_state") == 0 && value == 16 ? 32 : value;
}

static void put_value(struct buf *out, const char *column, const struct value *v)
{
	if (v->kind == VALUE_TEXT)
		buf_put_json_exact(out, v->text, v->n);
	else if (v->kind == VALUE_INT)
		buf_put_s128(out, as_once(column, v->integer));
	else
		buf_printf(out, "(kind %u)", v->kind);
	buf_putc(out, ' ');
}

static int take(void *context, const struct batch *batch)
{
	u32 n_columns = batch->schema->n_columns;
	struct way *w = context;
	char **lines = calloc(batch->n_rows + 1, sizeof(*lines));

	w->missed += batch->account.lost[LOSS_MISSED];
	w->n = 0;
	for (u32 i = 0; i < batch->n_rows; i++) {
		const struct value *row = batch->values + (u64)i * n_columns;
		struct buf line;

		buf_init(&line);
		for (u32 k = 0; k < n_columns; k++)
			put_value(&line, batch->schema->columns[k].name, &row[k]);
		w->n += (u64)row[n_columns - 1].integer;
		lines[i] = line.at;
	}
	qsort(lines, batch->n_rows, sizeof(*lines), compare_lines);
	buf_reset(&w->rows);
	for (u32 i = 0; i < batch->n_rows; i++) {
		buf_printf(&w->rows, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	return 0;
}

static bool prepare(struct way *w, const char *access_path, const struct pair *p, const char *where)
{
	snprintf(
		w->text, sizeof(w->text),
		"SET access_path = %s; SELECT %s, count(*) FROM tracepoint:%s WHERE %s GROUP BY %s "
		"WITH (max_groups = 8192)",
		access_path, p->fields, p->name, where, p->fields);
	buf_init(&w->rows);
	if (query_init(&w->query, "text", w->text, strlen(w->text)) && query_parse(&w->query) &&
	    query_compile(&w->query))
		return true;
	query_said(&w->query);
	return false;
}

/* Which fields of the tracepoint can be had from the raw one's arguments; false: it is not here. */
static bool find_fields(struct pair *p, struct catalog *catalog, struct arena *arena)
{
	const char *path[3] = { "tracepoint", arena_strndup(arena, p->name, strcspn(p->name, ":")),
				strchr(p->name, ':') + 1 };
	struct stream_list *list;
	struct raw_twin *twin;
	struct diags diags;

	diags_init(&diags, arena, "", "", 0);
	list = catalog_find(catalog, path, 3, (struct span){ 0 }, &diags);
	twin = list ? raw_twin_open(catalog, arena, list->streams.at[0]) : NULL;
	for (u32 i = 0; twin && i < list->streams.at[0]->n_fields; i++) {
		const struct field *f = &list->streams.at[0]->fields[i];
		const char *note;
		bool is_raw = raw_twin_field(twin, f, &note);
		char *to = is_raw ? p->fields : p->kept;

		sprintf(to + strlen(to), is_raw ? "%s\"%s\"" : "%s%s", *to ? ", " : "", f->name);
	}
	return p->fields[0];
}

static void find_pairs(struct arena *arena)
{
	struct catalog *catalog = catalog_open_live(arena);
	const char *only = getenv("EBQL_FIELDS");
	char *text = strdup(fields_sql), *paragraph, *word;

	pairs = calloc(COUNT_MAX, sizeof(*pairs));
	for (char *line = strtok_r(text, "\n", &paragraph); line;
	     line = strtok_r(NULL, "\n", &paragraph)) {
		if (line[0] == '\t' || line[0] == '-')
			continue;
		for (char *name = strtok_r(line, " ", &word); name;
		     name = strtok_r(NULL, " ", &word)) {
			struct pair *p = &pairs[n_pairs];

			*p = (struct pair){ .name = arena_strdup(arena, name) };
			if (only && !strstr(only, name))
				continue;
			if (find_fields(p, catalog, arena))
				n_pairs++;
			assert_true(n_pairs < COUNT_MAX);
		}
	}
	free(text);
	catalog_close(catalog);
}

static void start_pairs(struct engine *engine, u32 from, u32 to)
{
	for (u32 i = from; i < to; i++) {
		struct pair *p = &pairs[i];
		char where[100] = "current.comm LIKE 'fld%'";
		struct stat s;

		if (strncmp(p->name, "block:block_rq", 14) == 0 && !stat(device, &s))
			snprintf(where, sizeof(where), "dev = %u",
				 major(s.st_rdev) << 20 | minor(s.st_rdev));
		/* Of a thread that begins to run, or is woken: not the current one. */
		if (strncmp(p->name, "sched:sched_stat", 16) == 0)
			snprintf(where, sizeof(where), "comm LIKE 'fld%%'");
		for (u32 k = 0; k < 2; k++) {
			struct flow_input how = { .sink = { .batch = take,
							    .context = &p->ways[k] } };

			assert_true(prepare(&p->ways[k], k ? "raw" : "tracepoint", p, where));
			if (query_start(&p->ways[k].query, engine, &how)) {
				query_said(&p->ways[k].query);
				fail_msg("%s", p->name);
			}
		}
	}
}

static void stop_pairs(u32 from, u32 to)
{
	for (u32 i = from; i < to; i++)
		for (u32 k = 0; k < 2; k++)
			assert_int_equal(flow_stop(pairs[i].ways[k].query.flow), 0);
	for (u32 i = from; i < to; i++)
		for (u32 k = 2; k-- > 0;) {
			assert_int_equal(query_close(&pairs[i].ways[k].query), 0);
			query_free(&pairs[i].ways[k].query);
		}
}

/* How often the group is there: a line but for its last number. */
static u64 times_of(const struct way *w, const char *group, size_t n)
{
	for (const char *at = w->rows.at; at && *at; at = strchr(at, '\n') + 1)
		if (strncmp(at, group, n) == 0)
			return strtoull(at + n, NULL, 10);
	return 0;
}

/* Has way b each group of a as often, or more often? */
static bool has_all(const struct pair *p, const struct way *a, const struct way *b)
{
	const char *end;

	for (const char *at = a->rows.at; at && *at; at = end + 1) {
		const char *number;

		end = strchr(at, '\n');
		for (number = end - 1; number[-1] != ' '; number--)
			;
		if (times_of(b, at, (size_t)(number - at)) >= strtoull(number, NULL, 10))
			continue;
		print_error("%s by the %s alone: %.*s\n", p->name,
			    a == p->ways ? "tracepoint" : "raw tracepoint", (int)(end - at), at);
		return false;
	}
	return true;
}

/* The child does all of these; what else there is hangs on interrupts and on where it runs. */
static bool is_certain(const char *name)
{
	static const char *const certain[] = { "sched:sched_switch",
					       "sched:sched_wakeup",
					       "sched:sched_wakeup_new",
					       "sched:sched_waking",
					       "sched:sched_process_fork",
					       "sched:sched_process_exec",
					       "sched:sched_process_exit",
					       "sched:sched_process_wait",
					       "sched:sched_stat_wait",
					       "sched:sched_stat_sleep",
					       "sched:sched_stat_iowait",
					       "sched:sched_stat_blocked",
					       "sched:sched_stat_runtime",
					       "task:task_newtask",
					       "timer:hrtimer_start",
					       "signal:signal_generate",
					       "signal:signal_deliver",
					       "exceptions:page_fault_user",
					       "exceptions:page_fault_kernel",
					       "raw_syscalls:sys_enter",
					       "raw_syscalls:sys_exit",
					       "kmem:kmalloc",
					       "kmem:kmem_cache_alloc",
					       "net:net_dev_queue",
					       "net:net_dev_xmit",
					       "sock:inet_sock_set_state",
					       "block:block_rq_issue",
					       "block:block_rq_complete" };

	if ((strncmp(name, "block:", 6) == 0 || strstr(name, "iowait")) && !device[0])
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(certain); i++)
		if (strcmp(certain[i], name) == 0)
			return true;
	return false;
}

/*
 * What one way has not seen the kernel must say that it missed there; the other groups are
 * equal.
 */
static bool is_equal(const struct pair *p)
{
	const struct way *a = &p->ways[0], *b = &p->ways[1];

	print_message(
		"%s: %llu events, %llu missed by the tracepoint, %llu by the raw one: %s%s%s\n",
		p->name, (unsigned long long)b->n, (unsigned long long)a->missed,
		(unsigned long long)b->missed, p->fields, p->kept[0] ? "; not " : "", p->kept);
	/* Before 6.7 (commit dd8657894c11) it does not say so of the tracepoint. */
	if (sys_kernel_version() < KERNEL_VERSION(6, 7, 0))
		return b->missed || has_all(p, a, b);
	return (b->missed || has_all(p, a, b)) && (a->missed || has_all(p, b, a)) &&
	       b->n <= a->n + a->missed && a->n <= b->n + b->missed;
}

/*
 * A child leaves its CPU for good some time after it is waited for: it has where another runs
 * there.
 */
static void run_everywhere(void)
{
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (u32 i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		usleep(50000);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void run_child(void)
{
	int pid = fork(), status;

	if (!pid) {
		execl("/proc/self/exe", "fld-work", "--work", device, NULL);
		_exit(2);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	run_everywhere();
}

/* The switch away from a frozen thread, which is not one that could run on. */
static bool has_frozen(const struct way *w)
{
	s32 state;

	for (const char *at = w->rows.at; at && *at; at = strchr(at, '\n') + 1)
		if (sscanf(at, "\"fld-frozen\" %*d %*d %d", &state) == 1 && state == 2)
			return true;
	return false;
}

static void ask(struct engine *engine, u32 from, u32 to)
{
	start_pairs(engine, from, to);
	run_child();
	stop_pairs(from, to);
}

/* What its own work makes the kernel do (a softirq, as it leaves RCU) a perf tracepoint drops, and
 * does not tell as missed: a pair that differs is asked again, by itself. */
static bool is_equal_once(struct engine *engine, u32 i)
{
	for (u32 try = 0; !is_equal(&pairs[i]); try++) {
		if (try == 2)
			return false;
		pairs[i].ways[0].missed = pairs[i].ways[1].missed = 0;
		ask(engine, i, i + 1);
	}
	return true;
}

static void test_fields(void **state)
{
	u32 n_different = 0, n_certain = 0;
	struct engine *engine;
	struct arena arena;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	arena_init(&arena);
	find_pairs(&arena);
	assert_int_equal(engine_open(&engine), 0);
	for (u32 from = 0; from < n_pairs; from += AT_ONCE)
		ask(engine, from, MIN(from + AT_ONCE, n_pairs));
	for (u32 i = 0; i < n_pairs; i++) {
		n_different += !is_equal_once(engine, i);
		if (is_certain(pairs[i].name) && !pairs[i].ways[1].n)
			fail_msg("%s did not happen", pairs[i].name);
		if (strcmp(pairs[i].name, "sched:sched_switch") == 0 && has_freezer())
			assert_true(has_frozen(&pairs[i].ways[1]));
		n_certain += is_certain(pairs[i].name);
	}
	assert_int_equal(n_different, 0);
	assert_true(n_certain >= 16);
}

/* --- A disk, and the kernel's statistics of its scheduler --- */

#define SCHEDSTATS "/proc/sys/kernel/sched_schedstats"

static char disk_path[64];
static bool has_stats; /* they were on */

static int machine_setup(void **state)
{
	char command[256];
	FILE *pipe;

	/* Without them no sched_stat_* but that of run times happens. */
	has_stats = file_has(SCHEDSTATS, "1");
	write_text(SCHEDSTATS, "1");
	snprintf(disk_path, sizeof(disk_path), "/var/tmp/ebql-test-fields-%d.disk", getpid());
	snprintf(command, sizeof(command),
		 "truncate -s 16M %s && losetup --find --show %s 2>/dev/null", disk_path,
		 disk_path);
	pipe = geteuid() ? NULL : popen(command, "r");
	if (pipe && !fgets(device, sizeof(device), pipe))
		device[0] = 0;
	device[strcspn(device, "\n")] = 0;
	return pipe && pclose(pipe) ? (device[0] = 0) : 0;
}

static int machine_teardown(void **state)
{
	char command[128];

	if (!has_stats)
		write_text(SCHEDSTATS, "0");
	snprintf(command, sizeof(command), "losetup --detach %s", device);
	if (device[0] && system(command))
		print_error("cannot: %s\n", command);
	unlink(disk_path);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(
		test_fields, machine_setup, machine_teardown) };

	if (argc > 1 && strcmp(argv[1], "--exit") == 0)
		return 0;
	if (argc > 2 && strcmp(argv[1], "--work") == 0) {
		prctl(PR_SET_NAME, "fld-work");
		snprintf(device, sizeof(device), "%s", argv[2]);
		return work();
	}
	return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
