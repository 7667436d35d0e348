/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows with stacks -> a line for each stack, as flamegraph.pl takes them: its calls from the root,
 * with ; between, a blank, and what its rows come to.  Equal ones are one line, and the lines are
 * in order.  All at the end; what was lost is a comment.
 */
#include "out/calls.h"

#include <errno.h>
#include <stdlib.h>

/* A text of a file may be as deep as it is long: no recursion.  path: room for the depth. */
static void put_path(struct buf *buf, const struct call *call, const struct call **path)
{
	u32 n = 0;

	for (u32 depth = call->depth; n < depth; call = call->parent)
		path[n++] = call;
	while (n--) {
		/* A blank would end the calls. */
		for (const char *c = path[n]->name; *c; c++)
			buf_putc(buf, (u8)*c <= ' ' ? '_' : *c);
		if (n)
			buf_putc(buf, ';');
	}
}

static void put_losses(struct buf *buf, const struct account *account)
{
	const char *before = "# lost ";

	for (u32 i = 0; i < LOSS_N; i++) {
		if (!account->lost[i])
			continue;
		buf_puts(buf, before);
		buf_puts(buf, loss_names[i]);
		buf_putc(buf, '=');
		buf_put_u64(buf, account->lost[i]);
		before = " ";
	}
	buf_puts(buf, account_has_loss(account) ? "\n" : "");
}

static void folded_end(struct out *out)
{
	struct calls *calls = out->state;
	const struct call **path = NULL;

	if (!out->error) {
		calls_sort(calls);
		path = calloc(calls->deepest + 1, sizeof(*path));
		out->error = path ? 0 : -ENOMEM;
	}
	if (!out->error) {
		for (struct call *call = calls->root; call && !out->error;
		     call = calls_next(call)) {
			if (!call->self)
				continue;
			put_path(&out->buf, call, path);
			buf_putc(&out->buf, ' ');
			buf_put_s128(&out->buf, (s128)call->self);
			buf_putc(&out->buf, '\n');
			out_row_done(out);
		}
		put_losses(&out->buf, &calls->total.account);
		if (out_put_sampled(&out->buf, "# ", &calls->total))
			buf_putc(&out->buf, '\n');
	}
	free(path);
	calls_free(calls);
}

const struct out_format out_folded = {
	.name = "folded",
	.meaning = "a line for each stack, with what its rows come to, for flame graphs",
	.needs_calls = true,
	.state_bytes = sizeof(struct calls),
	.begin = calls_begin,
	.batch = calls_batch,
	.row = calls_row,
	.account = calls_account,
	.end = folded_end,
};
