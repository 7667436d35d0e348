/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program with libebql in it, beside a poll loop, a signal and a database of its own: one thread
 * has a session that is stepped and calls back, another one a session that is pulled.  Each makes
 * 100,000 calls while its two queries count them; then all that belongs to the process is as it
 * was. test_embed.c checks what it prints.
 */
#include <ebql.h>
#include <dirent.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define CALLS "FROM tracepoint:syscalls:sys_enter_getppid WHERE tid = :tid "

static const char *const texts[] = {
	"SELECT count(*) AS n " CALLS "WINDOW TUMBLING :every",
	"SELECT count(*) AS n, cpu " CALLS "GROUP BY cpu, tid HAVING n > 0 WINDOW TUMBLING :every",
};
static sqlite3 *db;
static int n_alarms;

static void on_alarm(int number)
{
	__atomic_fetch_add(&n_alarms, 1, __ATOMIC_RELAXED);
}

/* --- What belongs to the process --- */

struct belongings {
	struct rlimit limits[RLIM_NLIMITS];
	void (*handlers[32])(int);
	int flags[32], blocked[32];
	char capabilities[2000], locale[100], directory[1000];
	long long heap_limit;
	int n_descriptors;
};

static void look(struct belongings *now)
{
	DIR *descriptors = opendir("/proc/self/fd");
	FILE *status = fopen("/proc/thread-self/status", "r");
	struct sigaction action;
	char line[200];
	sigset_t mask;

	memset(now, 0, sizeof(*now));
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "Cap", 3) == 0 || strncmp(line, "NoNewPrivs", 10) == 0)
			strcat(now->capabilities, line);
	fclose(status);
	while (readdir(descriptors))
		now->n_descriptors++;
	closedir(descriptors);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit((__rlimit_resource_t)i, &now->limits[i]);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < 32; i++) {
		sigaction(i, NULL, &action);
		now->handlers[i] = action.sa_handler;
		now->flags[i] = action.sa_flags;
		now->blocked[i] = sigismember(&mask, i);
	}
	strcpy(now->locale, setlocale(LC_ALL, NULL));
	now->heap_limit = sqlite3_hard_heap_limit64(-1);
	if (!getcwd(now->directory, sizeof(now->directory)))
		now->directory[0] = '?';
}

/* --- The queries --- */

/* The first column of every row; -1: something was lost. */
static long long sum(struct ebql_query *query, const struct ArrowArray *batch)
{
	struct ebql_batch info = { .size = sizeof(info) };
	const int64_t *values = batch->children[0]->buffers[1];
	long long n = 0;

	if (ebql_batch(query, &info))
		return -1;
	for (int i = 0; i < EBQL_LOSS_N; i++)
		if (info.lost[i])
			return -1;
	for (int64_t i = 0; i < batch->length; i++)
		n += values[i];
	return n;
}

/* Into the database. */
static int take(void *name, struct ebql_query *query, struct ArrowArray *batch)
{
	long long n = sum(query, batch);
	char *sql = sqlite3_mprintf("INSERT INTO t VALUES (%Q, %lld)", name, n);
	int failed = sqlite3_exec(db, sql, NULL, NULL, NULL);

	sqlite3_free(sql);
	return failed || n < 0 ? -1 : 0;
}

static int print(void *unused, int n, char **values, char **names)
{
	return printf("%s %s %s\n", values[0], values[1], values[2]) < 0;
}

static int start(struct ebql_session *session, int i, uint64_t every_ns,
		 const struct ebql_options *options, struct ebql_query **ret_query)
{
	int status = ebql_prepare(session, texts[i], -1, ret_query);

	if (!status)
		status = ebql_bind_int(*ret_query, "tid", syscall(SYS_gettid));
	if (!status)
		status = ebql_bind_duration(*ret_query, "every", every_ns);
	if (!status)
		status = ebql_run(*ret_query, options);
	if (status)
		fprintf(stderr, "%s\n%s", ebql_status_text(status), ebql_message(*ret_query));
	return status;
}

static void make_calls(int n)
{
	for (int i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* --- The two threads --- */

struct pulled {
	long long n[2], windows[2];
	int status;
};

static int pull(struct ebql_query *query, int i, struct pulled *pulled)
{
	struct ArrowArray batch;
	int status;

	while ((status = ebql_next(query, 0, &batch)) == EBQL_BATCH) {
		pulled->n[i] += sum(query, &batch);
		pulled->windows[i]++;
		batch.release(&batch);
	}
	return status < 0 ? status : 0;
}

static void *other(void *context)
{
	struct pulled *pulled = context;
	struct ebql_session *session;
	struct ebql_query *queries[2];
	int status = ebql_session_open(&session);

	for (int i = 0; i < 2 && !status; i++)
		status = start(session, i, 7000000, NULL, &queries[i]);
	for (int round = 0; round < 100 && !status; round++) {
		make_calls(1000);
		for (int i = 0; i < 2 && !status; i++)
			status = pull(queries[i], i, pulled);
		usleep(1000);
	}
	for (int i = 0; i < 2 && !status; i++) {
		status = ebql_stop(queries[i]);
		if (!status)
			status = pull(queries[i], i, pulled);
	}
	ebql_session_close(session);
	pulled->status = status;
	return NULL;
}

static int step(struct ebql_session *session)
{
	struct pollfd ready = { ebql_session_fd(session), POLLIN, 0 };

	return poll(&ready, 1, 1) > 0 ? ebql_session_step(session) : 0;
}

static int run(struct pulled *pulled)
{
	struct ebql_options options = { .size = sizeof(options), .batch = take };
	struct ebql_session *session;
	struct ebql_query *queries[2];
	pthread_t thread;
	int status = ebql_session_open(&session);

	for (int i = 0; i < 2 && !status; i++) {
		options.context = i ? "b" : "a";
		status = start(session, i, i ? 10000000 : 5000000, &options, &queries[i]);
	}
	pthread_create(&thread, NULL, other, pulled);
	for (int round = 0; round < 100 && !status; round++) {
		make_calls(1000);
		status = step(session);
	}
	for (int i = 0; i < 2 && !status; i++)
		status = ebql_stop(queries[i]);
	ebql_session_close(session);
	pthread_join(thread, NULL);
	return status;
}

int main(void)
{
	static const struct itimerval every_ms = { { 0, 1000 }, { 0, 1000 } }, never;
	static struct belongings before, after;
	struct pulled pulled = { 0 };
	int status = sqlite3_open(":memory:", &db);

	sqlite3_exec(db, "CREATE TABLE t(query, n)", NULL, NULL, NULL);
	signal(SIGALRM, on_alarm);
	setlocale(LC_ALL, "C");
	look(&before);
	setitimer(ITIMER_REAL, &every_ms, NULL);
	status = status || run(&pulled);
	setitimer(ITIMER_REAL, &never, NULL);
	look(&after);
	sqlite3_exec(db, "SELECT query, sum(n), count(*) FROM t GROUP BY query", print, NULL, NULL);
	for (int i = 0; i < 2; i++)
		printf("%c %lld %lld\n", 'c' + i, pulled.n[i], pulled.windows[i]);
	printf("%d %d\n", n_alarms, memcmp(&before, &after, sizeof(before)));
	if (memcmp(&before, &after, sizeof(before)))
		fprintf(stderr, "%s%s%d %d\n", before.capabilities, after.capabilities,
			before.n_descriptors, after.n_descriptors);
	sqlite3_close(db);
	return status || pulled.status;
}
