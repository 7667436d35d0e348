/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files of queries, what they gave, and what ebql watch says of them. */
#include "place.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* --- Files --- */

const char *place_path(struct place *p, const char *name)
{
	snprintf(p->path, sizeof(p->path), "%s/%s", p->folder, name);
	return p->path;
}

static void write_at(struct place *p, const char *name, const char *text)
{
	int fd = open(place_path(p, name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	size_t half = strlen(text) / 2;

	/* In two pieces: a file that is being written is not to be read. */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, half), half);
	usleep(20000);
	assert_int_equal(write(fd, text + half, strlen(text) - half), strlen(text) - half);
	close(fd);
}

/* "%d" of the formats is this process. */
void place_write(struct place *p, const char *name, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	write_at(p, name, text);
}

void place_move(struct place *p, const char *from, const char *to)
{
	char old[128];

	snprintf(old, sizeof(old), "%s", place_path(p, from));
	assert_int_equal(rename(old, place_path(p, to)), 0);
}

void place_read(struct place *p, const char *name, struct buf *text)
{
	buf_reset(text);
	assert_int_equal(buf_read_file(text, place_path(p, name), 64 << 20), 0);
	buf_putc(text, '\0');
}

/* What stands behind the key in all lines, added up. */
u64 place_sum(struct place *p, const char *name, const char *key)
{
	struct buf text;
	u64 sum = 0;

	buf_init(&text);
	place_read(p, name, &text);
	for (const char *at = text.at; (at = strstr(at, key)); at++)
		sum += strtoull(at + strlen(key), NULL, 10);
	buf_free(&text);
	return sum;
}

/* --- ebql watch --- */

int place_setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	BUG_ON(!p);
	session_setup((void **)&p->session);
	strcpy(p->folder, "/tmp/ebql-watch-XXXXXX");
	BUG_ON(!mkdtemp(p->folder));
	snprintf(p->socket, sizeof(p->socket), "%s/socket", p->folder);
	*state = p;
	return 0;
}

int place_teardown(void **state)
{
	struct place *p = *state;
	char command[192];

	session_teardown((void **)&p->session);
	/* Of a test that failed. */
	snprintf(command, sizeof(command), "umount %s/disk 2>/dev/null; rm -r %s", p->folder,
		 p->folder);
	BUG_ON(system(command));
	free(p);
	return 0;
}

void place_said(struct place *p, const char *text)
{
	struct proc *ebql = &p->session->ebql;

	if (!proc_wait_text(ebql, text, LIMIT_MS))
		fail_msg("\"%s\" is not said: %s", text,
			 ebql->err_text.n ? ebql->err_text.at : "silent");
	buf_reset(&ebql->err_text);
}

/* Options, then the folder, or what else is named. */
void place_start(struct place *p, const char *what, ...)
{
	const char *argv[24] = { proc_ebql(), "watch", "--socket", p->socket };
	va_list args;
	u32 n = 4;

	va_start(args, what);
	while (n < ARRAY_SIZE(argv) - 2 && (argv[n] = va_arg(args, const char *)))
		n++;
	va_end(args);
	argv[n++] = what;
	argv[n] = NULL;
	proc_start(&p->session->ebql, argv, 0);
	place_said(p, "queries run\n");
}

void place_end(struct place *p, int signal, int status)
{
	session_end(p->session, signal, status);
}

void place_start_clock(struct place *p, const char *name, const char *library)
{
	char audit[128];

	place_write(p, "offset", "0\n");
	setenv("EBQL_TEST_CLOCK", place_path(p, "offset"), 1);
	setenv("LD_PRELOAD", library, 1);
	snprintf(audit, sizeof(audit), "%s", place_path(p, "audit"));
	place_start(p, place_path(p, name), "--audit", audit, NULL);
	unsetenv("LD_PRELOAD");
}

void place_set_clock(struct place *p, int offset)
{
	struct buf text;

	place_write(p, "next", "%d\n", offset);
	place_move(p, "next", "offset");
	/* SIGHUP makes the audit anew, and then it looks; the status comes behind that. */
	unlink(place_path(p, "audit"));
	proc_signal(&p->session->ebql, SIGHUP);
	while (access(place_path(p, "audit"), F_OK))
		proc_pump(5);
	buf_init(&text);
	place_status(p, true, &text);
	buf_free(&text);
}

void place_status(struct place *p, bool is_json, struct buf *text)
{
	char command[256];
	FILE *pipe;

	snprintf(command, sizeof(command), "%s watch --status -o %s --socket %s", proc_ebql(),
		 is_json ? "json" : "table", p->socket);
	buf_reset(text);
	pipe = popen(command, "re");
	assert_non_null(pipe);
	assert_int_equal(buf_read(text, fileno(pipe), 1 << 20), 0);
	assert_int_equal(pclose(pipe), 0);
	buf_putc(text, '\0');
}

/* Waits until the status says so. */
void place_wait_status(struct place *p, const char *part)
{
	u64 limit_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;
	struct buf text;

	buf_init(&text);
	do {
		place_status(p, true, &text);
		proc_pump(20);
	} while (!strstr(text.at, part) && base_monotonic_ns() < limit_ns);
	if (!strstr(text.at, part))
		fail_msg("the status never says %s: %s", part, text.at);
	buf_free(&text);
}

void place_call(u32 n)
{
	while (n--)
		syscall(SYS_getppid);
}

/* A number of the query's line. */
double place_figure(const char *status, const char *query, const char *key)
{
	char name[64];
	const char *at;

	snprintf(name, sizeof(name), "{\"name\":\"%s\"", query);
	at = strstr(status, name);
	assert_non_null(at);
	at = strstr(at, key);
	assert_non_null(at);
	return strtod(at + strlen(key), NULL);
}
