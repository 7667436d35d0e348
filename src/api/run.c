/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The life of a query in its session's engine: compiled, attached, over; and what became of it.
 */
#include <errno.h>
#include <string.h>

#include "api/internal.h"
#include "file/file.h"

/* What went wrong, as a status; what nobody has told yet is told. */
static int broke(struct ebql_query *query, int err)
{
	struct diags *diags = &query->query.diags;

	query->state = QUERY_BROKEN;
	if (err == -ENOMEM && !diags_failed(diags))
		return query->end = EBQL_NO_MEMORY;
	if (!diags_failed(diags))
		diag_failure(diags, "run-failed", "the query cannot go on: %s" HINT "%s",
			     strerror(-err), diag_machine_hint(-err) ?: "");
	return query->end = diags_have_failure(diags) ? EBQL_FAILED : EBQL_REFUSED;
}

/* SET, ATTACH and views alone. */
static bool is_setting(const struct query *q)
{
	return !q->statement || q->statement->kind == AST_STATEMENT_CREATE_VIEW ||
	       q->statement->kind == AST_STATEMENT_DROP_VIEW;
}

static int compile(struct ebql_query *query)
{
	struct query *q = &query->query;

	if (query->state == QUERY_COMPILED)
		return EBQL_OK;
	if (query->state == QUERY_BROKEN)
		return query->end;
	if (query->state != QUERY_READY)
		return EBQL_MISUSE;
	q->parameters = &query->parameters;
	q->is_beside = true;
	if (!query_parse(q))
		return broke(query, -EINVAL);
	if (!is_setting(q) && !query_shows(q) && q->statement->kind != AST_STATEMENT_SELECT) {
		diag_error(
			&q->diags, "not-supported", q->statement->span,
			"a program gets the batches of a SELECT" HINT
			"ebql_stats() tells what a run took; \"ebql '...'\" shows it by operator");
		return broke(query, -EINVAL);
	}
	if (query_shows(q) ? !query_show(q, &query->shown) : !is_setting(q) && !query_compile(q))
		return broke(query, -EINVAL);
	query->state = QUERY_COMPILED;
	query->stats.compile_ns = q->compile_ns;
	return EBQL_OK;
}

int ebql_schema(struct ebql_query *query, struct ArrowSchema *ret_schema)
{
	const struct schema none = { 0 };
	int status;

	if (!query || !ret_schema || query->session->is_busy)
		return EBQL_MISUSE;
	if (query->state == QUERY_READY) {
		status = compile(query);
		if (status)
			return status;
	}
	if (query->state == QUERY_BROKEN)
		return query->end;
	return arrow_export_schema(query->shown.schema ? query->shown.schema
				   : query->query.cut  ? &query->query.cut->output
						       : &none,
				   ret_schema)
		       ? EBQL_NO_MEMORY
		       : EBQL_OK;
}

/* What is known once it is attached. */
static void learn_programs(struct ebql_query *query)
{
	struct query_costs costs;

	query_costs(&query->query, &costs);
	query->stats.verify_ns = costs.verify_ns;
	query->stats.attach_ns = costs.attach_ns;
	query->stats.programs = costs.n_programs;
	query->stats.instructions = costs.n_insns;
	query->stats.segment = costs.segment;
	query->stats.segment_queries = costs.n_in_segment;
	query->stats.counted_with = costs.n_counted_with;
}

static int end_status(struct ebql_query *query, int err)
{
	if (query->is_lossy)
		return EBQL_LOSSES;
	if (!err || (err == -ECANCELED && query->is_enough))
		return EBQL_END;
	if (err == -ECANCELED || err == -EINTR)
		return EBQL_CANCELLED;
	return broke(query, err);
}

int ebql_run(struct ebql_query *query, const struct ebql_options *options)
{
	struct query *q;
	struct flow_input how;
	int status, err;

	if (!query || query->session->is_busy ||
	    (options && options->size < UP_TO(struct ebql_options, context)))
		return EBQL_MISUSE;
	status = compile(query);
	if (status)
		return status;
	q = &query->query;
	query->options = (struct ebql_options){ 0 };
	if (options)
		memcpy(&query->options, options, MIN(options->size, sizeof(*options)));
	if (is_setting(q) || query->shown.schema) {
		err = query->shown.schema ? api_sink(query).batch(query, &query->shown) : 0;
		if (is_setting(q))
			query_end_kept(q);
		query->stats.is_over = 1;
		query->state = QUERY_OVER;
		query->end = end_status(query, err);
		return EBQL_OK;
	}
	how = (struct flow_input){ .every_ns = query->options.every_ns,
				   .n_rows = query->options.rows,
				   .sink = api_sink(query),
				   .cancel = &query->session->cancel };
	cancel_set(&query->session->cancel, 0);
	err = query_start(q, query->session->engine, &how);
	if (err)
		return broke(query, err);
	query->state = QUERY_RUNNING;
	learn_programs(query);
	return EBQL_OK;
}

/* --- The end --- */

/* Its flow has given all that it gives. */
static void finish(struct ebql_query *query)
{
	struct flow_result result;
	int err = flow_stop(query->query.flow);

	flow_result(query->query.flow, &result);
	api_account(&result.account, &query->stats.events, &query->stats.matched,
		    query->stats.lost);
	query->stats.is_partial = result.is_partial;
	query->stats.is_over = 1;
	query_close(&query->query);
	query->end = end_status(query, err);
	query->state = QUERY_OVER;
}

void api_settle(struct ebql_session *session)
{
	for (struct ebql_query *query = session->queries; query; query = query->next)
		if (query->state == QUERY_RUNNING && flow_is_over(query->query.flow))
			finish(query);
}

int ebql_stop(struct ebql_query *query)
{
	if (!query || query->session->is_busy || query->state < QUERY_RUNNING)
		return EBQL_MISUSE;
	if (query->state == QUERY_RUNNING) {
		cancel_set(&query->session->cancel, 0);
		finish(query);
	}
	return query->end == EBQL_END ? EBQL_OK : query->end;
}

void api_clear(struct ebql_query *query)
{
	query_free(&query->query);
	api_drop_waiting(query);
}

int ebql_stats(struct ebql_query *query, struct ebql_stats *ret_stats)
{
	struct account account;

	if (!query || !ret_stats)
		return EBQL_MISUSE;
	if (query->state == QUERY_RUNNING && !query->session->is_busy) {
		learn_programs(query);
		flow_peek(query->query.flow, &account);
		api_account(&account, &query->stats.events, &query->stats.matched,
			    query->stats.lost);
	}
	return api_give(&query->stats, sizeof(query->stats), UP_TO(struct ebql_stats, counted_with),
			ret_stats);
}
