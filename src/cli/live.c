/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a run does -> a line of the terminal, drawn again in its place.
 */
#include "cli/live.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host.h"
#include "out/out.h"

#define HOOKS_SHOWN 3u
#define WIDTH	    80u

static bool is_on;
static int terminal_fd = -1;
static u32 shown; /* columns that are to be taken away */

bool live_open(int out_fd)
{
	struct stat st;

	is_on = !tell_is_quiet() && isatty(STDERR_FILENO) &&
		(isatty(out_fd) || (fstat(out_fd, &st) == 0 && S_ISREG(st.st_mode)));
	if (is_on && terminal_fd < 0)
		terminal_fd = terminal_open(STDERR_FILENO, O_WRONLY);
	return is_on;
}

static u32 width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH;
}

/* Dim, cut to the terminal's width less one, where a cursor would go to the next line. */
static void put(const struct buf *text, const char *before, const char *behind)
{
	bool is_dim = out_obeys_escapes();
	struct pollfd fd = { terminal_fd, POLLOUT };
	struct buf line;
	u32 n;

	buf_init(&line);
	buf_puts(&line, before);
	buf_puts(&line, is_dim ? "\033[2m" : "");
	n = out_put_visible(&line, text->at, text->n, width() - 1);
	buf_puts(&line, is_dim ? "\033[0m" : "");
	for (u32 i = n; i < shown; i++)
		buf_putc(&line, ' ');
	buf_puts(&line, behind);
	/* A terminal that is stopped takes nothing, and must not keep the run from its end. */
	if (poll(&fd, 1, 0) == 1 && fd.revents == POLLOUT &&
	    write(terminal_fd, line.at, line.n) > 0)
		shown = *behind ? 0 : MAX(n, shown);
	buf_free(&line);
}

void live_clear(void)
{
	struct buf nothing;

	if (!shown)
		return;
	/* And what the terminal shows of ^C. */
	shown = MIN(shown + 2, width() - 1);
	buf_init(&nothing);
	put(&nothing, "\r", "\r");
	buf_free(&nothing);
}

void live_say_attached(const struct programs *programs, bool has_end)
{
	u32 n = programs ? programs->set->n_hooks : 0;
	struct buf text;

	live_clear();
	if (!is_on || !n)
		return;
	buf_init(&text);
	buf_puts(&text, has_end ? "ebql: attached to " : "ebql: until ^C, attached to ");
	for (u32 i = 0; i < MIN(n, HOOKS_SHOWN); i++) {
		const struct hook *hook = &programs->set->hooks[i];

		buf_puts(&text, i ? ", " : "");
		phys_print_hook(hook, &text);
		if (hook->n_places > 1)
			buf_printf(&text, " (%u)", hook->n_places);
	}
	if (n > HOOKS_SHOWN)
		buf_printf(&text, " and %u more", n - HOOKS_SHOWN);
	put(&text, "", "\n");
	buf_free(&text);
}

void live_say_progress(const char *doing, const char *target, u32 n_done, u32 n_all)
{
	struct buf text;

	if (!is_on)
		return;
	buf_init(&text);
	buf_printf(&text, "ebql: %s %s: ", doing, target);
	out_put_thousands(&text, n_done);
	buf_puts(&text, " of ");
	out_put_thousands(&text, n_all);
	buf_puts(&text, " places");
	put(&text, "\r", "");
	buf_free(&text);
}

void live_say_totals(struct flow *flow, u64 elapsed_ns)
{
	struct account account;
	struct buf text;
	u64 n_groups;
	bool is_known = flow_glance(flow, &account, &n_groups);

	buf_init(&text);
	buf_printf(&text, "ebql: %llu s: ", (unsigned long long)(elapsed_ns / 1000000000));
	out_put_thousands(&text, account.events);
	buf_puts(&text, " events");
	if (is_known) {
		buf_puts(&text, ", ");
		out_put_thousands(&text, account.matched);
		buf_puts(&text, " matched");
	}
	if (is_known && n_groups) {
		buf_puts(&text, ", ");
		out_put_thousands(&text, n_groups);
		buf_puts(&text, n_groups == 1 ? " group" : " groups");
	}
	put(&text, "\r", "");
	buf_free(&text);
}
