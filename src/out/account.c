/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a batch says of itself -> lines for people: its stretch of time, its counts, its losses.
 */
#include "out/format.h"

#include <string.h>

static const char *const loss_phrases[LOSS_N] = {
	[LOSS_MISSED] = "events for which the kernel skipped the program",
	[LOSS_TABLE_FULL] = "events summed in \"(other)\"; raise max_groups",
	[LOSS_RING_FULL] = "rows that found no room; raise ring_bytes or filter more",
	[LOSS_EVICTED] = "starts that gave their room to newer ones",
	[LOSS_UNPAIRED] = "events without a partner",
	[LOSS_NEGATIVE] = ("negative values or differences, left out; "
			   "linear() and bounds() take them"),
	[LOSS_FAULT] = "NULL for a failed read, x / 0 or overflow, or a text cut",
	[LOSS_OVER_BUDGET] = "events that max_cpu left no time for",
};

void out_put_instant(struct buf *buf, u64 realtime_ns, bool is_short)
{
	out_put_time_of_day(buf, realtime_ns);
	if (!is_short)
		buf->n -= 3;
}

bool out_is_short(u64 start_ns, u64 end_ns)
{
	return end_ns - start_ns < 10000000;
}

void out_put_window(struct buf *buf, const struct batch *batch)
{
	bool is_short = out_is_short(batch->window_start_ns, batch->window_end_ns);

	if (!batch->window_end_ns) {
		buf_puts(buf, "no window");
		return;
	}
	out_put_instant(buf, batch->window_start_ns, is_short);
	buf_puts(buf, " - ");
	out_put_instant(buf, batch->window_end_ns, is_short);
}

void out_put_window_head(struct out *out, const struct batch *batch, bool *has_output)
{
	struct buf *buf = &out->buf;

	if (*has_output)
		buf_putc(buf, '\n');
	*has_output = true;
	if (out->options.query) {
		out_put_visible(buf, out->options.query, strlen(out->options.query), 0);
		buf_puts(buf, "   ");
	}
	out_put_window(buf, batch);
	buf_puts(buf, "   events ");
	out_put_thousands(buf, batch->account.events);
	buf_puts(buf, "  matched ");
	out_put_thousands(buf, batch->account.matched);
	buf_puts(buf, batch->is_partial ? "  (partial)\n" : "\n");
	if (!batch->n_rows)
		buf_puts(buf, "(no rows)\n");
}

/* "5 never started, 7 overwritten", or the phrase where no kind is known. */
static void put_unpaired(struct buf *buf, const struct batch *batch)
{
	const char *between = "";

	for (u32 i = 0; i < UNPAIRED_N; i++) {
		if (batch->account.unpaired[i] == 0)
			continue;
		buf_puts(buf, between);
		out_put_thousands(buf, batch->account.unpaired[i]);
		buf_putc(buf, ' ');
		for (const char *at = unpaired_names[i]; *at; at++)
			buf_putc(buf, *at == '_' ? ' ' : *at);
		between = ", ";
	}
	if (!*between)
		buf_puts(buf, loss_phrases[LOSS_UNPAIRED]);
}

static const char *loss_phrase(enum loss loss, const struct batch *batch)
{
	/* No row "(other)" to see: not shown by this output, or not what happened. */
	if (loss == LOSS_TABLE_FULL && batch->other_row < 0)
		return "events summed in \"(other)\", or values without room for their running sum "
		       "or histogram; raise max_groups";
	return loss_phrases[loss];
}

void out_put_loss(struct buf *buf, const struct batch *batch)
{
	const char *between = "lost: ";

	for (u32 i = 0; i < LOSS_N; i++) {
		if (batch->account.lost[i] == 0)
			continue;
		buf_puts(buf, between);
		buf_puts(buf, loss_names[i]);
		buf_putc(buf, ' ');
		out_put_thousands(buf, batch->account.lost[i]);
		buf_puts(buf, " (");
		if (i == LOSS_UNPAIRED)
			put_unpaired(buf, batch);
		else
			buf_puts(buf, loss_phrase(i, batch));
		buf_putc(buf, ')');
		between = ", ";
	}
}

bool out_put_late(struct buf *buf, const char *before, const struct batch *batch)
{
	if (!batch->late_ns && !batch->n_merged)
		return false;
	buf_puts(buf, before);
	buf_puts(buf, "late: ");
	if (batch->late_ns) {
		buf_puts(buf, "ended ");
		out_put_duration(buf, batch->late_ns);
		buf_puts(buf, batch->n_merged ? " behind its time, " : " behind its time");
	}
	if (batch->n_merged) {
		out_put_thousands(buf, batch->n_merged);
		buf_puts(buf, " windows in one");
	}
	return true;
}

void out_add_sampled(struct batch *total, const struct batch *batch)
{
	const struct batch_sampled *b = &batch->sampled, *t = &total->sampled;
	u32 most = MAX(MAX(b->now, b->before), MAX(t->now, t->before));
	u32 least = MIN(b->now, b->before);

	if (t->now)
		least = MIN(least, MIN(t->now, t->before));
	total->sampled = (struct batch_sampled){ b->now, most > b->now ? most : least };
	total->is_over_budget |= batch->is_over_budget;
}

bool out_put_sampled(struct buf *buf, const char *before, const struct batch *batch)
{
	const struct batch_sampled *s = &batch->sampled;

	if (s->now <= 1 && s->before <= 1 && !batch->is_over_budget)
		return false;
	buf_puts(buf, before);
	if (s->now > 1 || s->before > 1) {
		buf_puts(buf, "sampled: the events of one in ");
		buf_put_u64(buf, s->now);
		buf_puts(buf, " threads");
	}
	if (s->before != s->now) {
		buf_puts(buf, ", before that of one in ");
		buf_put_u64(buf, s->before);
	}
	if (batch->is_over_budget)
		buf_puts(buf, s->now > 1 ? "; ended by max_cpu" : "ended by max_cpu");
	return true;
}

void out_put_notes(struct out *out, const struct batch *batch, u64 n_rows)
{
	if (out_put_late(&out->buf, "", batch))
		buf_putc(&out->buf, '\n');
	if (out_put_sampled(&out->buf, "", batch))
		buf_putc(&out->buf, '\n');
	if (batch->n_unwritten) {
		buf_puts(&out->buf, "not written before: ");
		out_put_thousands(&out->buf, batch->n_unwritten);
		buf_puts(&out->buf, out->options.is_streaming ? " rows" : " windows");
		buf_puts(&out->buf, ", for which the output had no room\n");
	}
	out_put_loss(&out->buf, batch);
	if (account_has_loss(&batch->account))
		buf_putc(&out->buf, '\n');
}

void out_flow_count(struct out *out, struct out_flow *flow, const char *name, u64 count)
{
	buf_reset(&out->scratch);
	buf_puts(&out->scratch, name);
	out_put_thousands(&out->scratch, count);
	out_flow_put(out, flow, out->scratch.at, out->scratch.n);
}
