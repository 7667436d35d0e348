/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lines of an audit.  What cannot be written is said on standard error, each time.
 */
#include "host/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/datagram.h"
#include "host/written.h"
#include "query/query.h"
#include "sys/sys.h"

#define JOURNAL "/run/systemd/journal/socket"
#define SYSLOG	"/dev/log"
/* Of datagrams there is room for some 200 KiB. */
#define LOG_BYTES_MAX (128u << 10)
#define CUT	      "... (cut: the file of --audit has it whole)"

static struct {
	const char *path; /* NULL: nobody wants to know */
	int fd;
	u32 n_lost;   /* lines that the file has not, and that none in it has told yet */
	bool is_torn; /* the last of these ends in its midst */
} audit = { .fd = -1 };

/* Without its end of line. */
static void put_message(struct buf *text, const struct buf *line)
{
	bool is_cut = line->n > LOG_BYTES_MAX;

	buf_put(text, line->at, is_cut ? LOG_BYTES_MAX : line->n - 1);
	if (is_cut)
		buf_puts(text, CUT);
}

/* The journal's own protocol, else that of syslog(3); neither is waited for. */
static void log_line(const struct buf *line)
{
	struct buf text;

	buf_init(&text);
	buf_printf(&text, "PRIORITY=5\nSYSLOG_FACILITY=10\nSYSLOG_IDENTIFIER=ebql-audit\nMESSAGE=");
	put_message(&text, line);
	buf_putc(&text, '\n');
	if (!datagram_send(JOURNAL, text.at, text.n)) {
		buf_reset(&text);
		/* authpriv.notice */
		buf_printf(&text, "<85>ebql-audit[%d]: ", getpid());
		put_message(&text, line);
		datagram_send(SYSLOG, text.at, text.n);
	}
	buf_free(&text);
}

/* 0 or -errno; what of it stands there is a line of its own, whatever comes behind. */
static int append(const struct buf *line)
{
	ssize_t n;

	if (line->is_cut)
		return -ENOMEM;
	if (audit.is_torn && write(audit.fd, "\n", 1) != 1)
		return -errno;
	n = write(audit.fd, line->at, line->n);
	audit.is_torn = n > 0 && n < (ssize_t)line->n;
	return n < 0 ? -errno : audit.is_torn ? -ENOSPC : 0;
}

static void write_line(struct buf *line)
{
	int err;

	if (audit.n_lost)
		buf_printf(line, ",\"lines_lost\":%u", audit.n_lost);
	buf_puts(line, "}\n");
	err = append(line);
	audit.n_lost = err ? audit.n_lost + 1 : 0;
	if (err)
		fprintf(stderr, "ebql: --audit: %s: %s\n", audit.path, strerror(-err));
	log_line(line);
	buf_free(line);
}

/* --- What stands in it --- */

static void put_text(struct buf *line, const char *key, const char *text, size_t n)
{
	buf_puts(line, key);
	buf_put_json_string(line, text, n);
}

/* Of who logged in, whatever user he has become; null: nobody did. */
static void put_login(struct buf *line)
{
	long long uid = -1;
	FILE *file = fopen("/proc/self/loginuid", "re");

	if (file && fscanf(file, "%lld", &uid) != 1)
		uid = -1;
	if (file)
		fclose(file);
	if (uid < 0 || uid == UINT32_MAX)
		buf_puts(line, ",\"login_uid\":null");
	else
		buf_printf(line, ",\"login_uid\":%lld", uid);
}

static void begin(struct buf *line, const char *event, const char *name)
{
	buf_init(line);
	buf_printf(line, "{\"time\":%llu,\"event\":\"%s\",\"pid\":%d,\"uid\":%d",
		   (unsigned long long)base_realtime_ns(), event, getpid(), getuid());
	put_login(line);
	put_text(line, ",\"query\":", name, strlen(name));
}

static void put_capabilities(struct buf *line)
{
	const struct naming *naming = naming_find("capability_name");
	char number[32], room[NAMING_BYTES];
	const char *between = "", *name;

	buf_puts(line, ",\"capabilities\":[");
	for (s64 i = 0; i < 64; i++) {
		if (!sys_has_capability((u32)i))
			continue;
		snprintf(number, sizeof(number), "%lld", (long long)i);
		name = naming->name_of(naming, &i, 1, room) ?: number;
		buf_puts(line, between);
		buf_put_json_string(line, name, strlen(name));
		between = ",";
	}
	buf_puts(line, "]");
}

struct listing {
	struct buf *line;
	const char *between;
};

static void put_program(void *context, const struct load_identity *p)
{
	struct listing *listing = context;

	buf_printf(listing->line, "%s{\"id\":%u,\"tag\":\"", listing->between, p->id);
	for (u32 i = 0; i < sizeof(p->tag); i++)
		buf_printf(listing->line, "%02x", p->tag[i]);
	put_text(listing->line, "\",\"hook\":", p->hook->target, strlen(p->hook->target));
	put_text(listing->line, ",\"plan\":", p->hook->reason, strlen(p->hook->reason));
	buf_puts(listing->line, "}");
	listing->between = ",";
}

static void put_programs(struct buf *line, const struct query *q)
{
	struct listing listing = { .line = line, .between = "" };

	buf_puts(line, ",\"programs\":[");
	query_each_program(q, put_program, &listing);
	buf_puts(line, "]");
}

/* What became of them. */
static void put_end(struct buf *line, const struct query *q)
{
	const char *between = "";
	struct flow_result result;

	flow_result(q->flow, &result);
	buf_printf(line, ",\"duration_ns\":%llu,\"events\":%llu,\"matched\":%llu,\"lost\":{",
		   (unsigned long long)(base_monotonic_ns() - q->start_ns),
		   (unsigned long long)result.account.events,
		   (unsigned long long)result.account.matched);
	for (u32 i = 0; i < LOSS_N; i++) {
		if (!result.account.lost[i])
			continue;
		buf_printf(line, "%s\"%s\":%llu", between, loss_names[i],
			   (unsigned long long)result.account.lost[i]);
		between = ",";
	}
	buf_puts(line, "}");
}

static void write_event(const struct query *q, enum query_event event)
{
	static const char *const names[] = {
		[QUERY_LOADED] = "load",
		[QUERY_CHANGED] = "reload",
		[QUERY_UNLOADS] = "unload",
	};
	struct buf line;

	begin(&line, names[event], q->name);
	if (event != QUERY_UNLOADS) {
		put_capabilities(&line);
		put_text(&line, ",\"text\":", q->diags.text, q->diags.text_bytes);
	}
	put_programs(&line, q);
	if (event == QUERY_UNLOADS)
		put_end(&line, q);
	write_line(&line);
}

/* --- Its file --- */

bool audit_open(const char *path)
{
	const char *why;

	audit.path = path;
	if (!path)
		return true;
	audit.fd = written_open(path, true, &why);
	written_guard(audit.fd);
	if (audit.fd < 0) {
		fprintf(stderr, "ebql: --audit: %s: %s\n", path, why);
		return false;
	}
	written_end_line(audit.fd);
	query_on_programs = write_event;
	return true;
}

void audit_reopen(void)
{
	const char *why;
	int fd;

	if (!audit.path)
		return;
	written_guard(-1);
	fd = written_open(audit.path, true, &why);
	if (fd >= 0) {
		sys_close(&audit.fd);
		audit.fd = fd;
		audit.is_torn = false;
		written_end_line(fd);
	} else {
		fprintf(stderr, "ebql: --audit: %s: %s: not opened anew\n", audit.path, why);
	}
	written_guard(audit.fd);
}

void audit_close(void)
{
	query_on_programs = NULL;
	sys_close(&audit.fd);
	audit.path = NULL;
}
