/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches of a flow -> Arrow arrays, which wait to be taken or go to a call-back.
 */
#include <errno.h>
#include <stdlib.h>

#include "api/internal.h"
#include "file/file.h"

static struct ebql_batch describe(const struct batch *batch)
{
	struct ebql_batch info = {
		.size = sizeof(info),
		.rows = batch->n_rows,
		.other_row = batch->other_row,
		.window_start_ns = batch->window_start_ns,
		.window_end_ns = batch->window_end_ns,
		.late_ns = batch->late_ns,
		.merged = batch->n_merged,
		.is_windowed = batch->is_windowed,
		.is_last = batch->is_last,
		.is_partial = batch->is_partial,
		.sampled = batch->sampled.now,
		.sampled_before = batch->sampled.before,
		.is_over_budget = batch->is_over_budget,
	};

	api_account(&batch->account, &info.events, &info.matched, info.lost);
	return info;
}

static int keep_waiting(struct ebql_query *query, const struct batch *batch)
{
	u64 n_values = (u64)batch->n_rows * batch->schema->n_columns;
	struct waiting *waiting;
	int err;

	/* One alone may have any size: nothing of it was there to be taken before. */
	if (query->n_waiting && (query->n_waiting == QUEUE_BATCHES_MAX ||
				 query->n_values + n_values > QUEUE_VALUES_MAX)) {
		diag_failure(&query->query.diags, "not-taken",
			     "%llu batches wait, and nobody takes them" HINT
			     "call ebql_next() for each query of a session, or run it with a "
			     "call-back",
			     (unsigned long long)query->n_waiting);
		return -ENOBUFS;
	}
	waiting = calloc(1, sizeof(*waiting));
	err = waiting ? arrow_export_batch(batch, &waiting->array) : -ENOMEM;
	if (err) {
		free(waiting);
		return err;
	}
	waiting->info = describe(batch);
	waiting->n_values = n_values;
	query->n_values += n_values;
	*query->last = waiting;
	query->last = &waiting->next;
	query->n_waiting++;
	return 0;
}

static int call_back(struct ebql_query *query, const struct batch *batch)
{
	struct ArrowArray array;
	int said = arrow_export_batch(batch, &array);

	if (said)
		return said;
	query->info = describe(batch);
	query->session->is_busy = true;
	said = query->options.batch(query->options.context, query, &array);
	query->session->is_busy = false;
	if (array.release)
		array.release(&array);
	query->is_enough = said > 0;
	return said < 0 ? -ECANCELED : 0;
}

static int take(void *context, const struct batch *batch)
{
	struct ebql_query *query = context;
	int err = query->options.batch ? call_back(query, batch) : keep_waiting(query, batch);

	if (err)
		return err;
	query->stats.batches++;
	query->stats.rows += batch->n_rows;
	query->is_lossy = query->query.settings.on_loss_fail && account_is_biased(&batch->account);
	return query->is_lossy || query->is_enough ? -ECANCELED : 0;
}

struct sink api_sink(struct ebql_query *query)
{
	return (struct sink){ .batch = take, .context = query };
}

bool api_give_waiting(struct ebql_query *query, struct ArrowArray *ret_batch)
{
	struct waiting *waiting = query->first;

	if (!waiting)
		return false;
	*ret_batch = waiting->array;
	query->info = waiting->info;
	query->first = waiting->next;
	if (!query->first)
		query->last = &query->first;
	query->n_waiting--;
	query->n_values -= waiting->n_values;
	free(waiting);
	return true;
}

void api_drop_waiting(struct ebql_query *query)
{
	struct ArrowArray array;

	while (api_give_waiting(query, &array))
		array.release(&array);
}
