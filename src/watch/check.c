/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What ebql watch does not run, and why.
 */
#include "watch/check.h"

bool watch_check_statement(struct query *q)
{
	const struct ast_statement *s = q->statement;

	if (s && s->kind == AST_STATEMENT_SELECT)
		return true;
	return diag_refuse(&q->diags, "no-query", s ? s->span : SPAN_NONE,
			   "there is no query" HINT
			   "a file of ebql watch has one SELECT, behind SET "
			   "and CREATE VIEW");
}

/* Passwords stand in memory: nobody's file makes a log of them unless the user said so. */
static bool check_payload(struct query *q, const struct watch_options *o)
{
	const struct expr *e = o->allows_payload ? NULL : plan_payload(q->bound_plan);

	if (!e)
		return true;
	return diag_refuse(&q->diags, "payload", e->span,
			   "column %.*s may carry memory of user programs" HINT
			   "ebql watch --allow-payload runs such queries",
			   (int)(e->span.end - e->span.start), q->diags.text + e->span.start);
}

static bool check_schedule(struct query *q)
{
	const struct schedule *s = &q->settings.schedule;

	if ((s->start_s < 0) != (s->stop_s < 0))
		return diag_refuse(&q->diags, "bad-schedule", s->span,
				   "start and stop belong together" HINT
				   "WITH (start = '09:05', stop = '09:25')");
	if (q->is_fixed && schedule_is_set(s))
		return diag_refuse(&q->diags, "bad-schedule", s->span,
				   "with --fixed nothing is attached later" HINT
				   "run it by an ebql watch without --fixed");
	return true;
}

bool watch_check(struct query *q, const struct watch_options *options)
{
	return check_payload(q, options) && check_schedule(q);
}
