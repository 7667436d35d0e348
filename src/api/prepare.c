/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Texts and the values of their parameters -> queries that can be run; what is wrong with them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"

/* As far as can be told while values are missing. */
static int begin(struct ebql_query *query)
{
	struct sql_parameters open = { .is_open = true };
	struct query *q = &query->query;

	query->state = QUERY_BROKEN;
	query->end = EBQL_NO_MEMORY;
	query->info.size = 0;
	query->shown.schema = NULL;
	query->stats = (struct ebql_stats){ .size = sizeof(query->stats) };
	query->is_enough = query->is_lossy = false;
	if (!query_init(q, "query", query->text, query->text_bytes))
		return EBQL_NO_MEMORY;
	query_begin_kept(q, &query->session->keep);
	/* Others may drop views while this one waits to be run. */
	q->views.views.at = arena_grow(&q->arena, q->views.views.at,
				       q->views.views.n * sizeof(*q->views.views.at),
				       q->views.views.n * sizeof(*q->views.views.at));
	sql_parse_bound(&q->arena, &open, &q->diags);
	if (diags_failed(&q->diags)) {
		query->end = EBQL_REFUSED;
		return EBQL_REFUSED;
	}
	query->state = QUERY_READY;
	return EBQL_OK;
}

int ebql_prepare(struct ebql_session *session, const char *text, size_t bytes,
		 struct ebql_query **ret_query)
{
	struct ebql_query *query;
	int status;

	if (!ret_query)
		return EBQL_MISUSE;
	*ret_query = NULL;
	if (!session || !text || session->is_busy)
		return EBQL_MISUSE;
	query = calloc(1, sizeof(*query));
	if (!query)
		return EBQL_NO_MEMORY;
	query->session = session;
	query->last = &query->first;
	buf_init(&query->message);
	arena_init(&query->bindings);
	query->text_bytes = bytes == SIZE_MAX ? strlen(text) : bytes;
	query->text = malloc(query->text_bytes + 1);
	if (!query->text || !arena_reserve(&query->bindings)) {
		arena_free(&query->bindings);
		free(query->text);
		free(query);
		return EBQL_NO_MEMORY;
	}
	memcpy(query->text, text, query->text_bytes);
	query->text[query->text_bytes] = '\0';
	query->next = session->queries;
	session->queries = query;
	status = begin(query);
	if (status == EBQL_NO_MEMORY)
		ebql_query_close(query);
	else
		*ret_query = query;
	return status;
}

int ebql_reset(struct ebql_query *query)
{
	if (!query || query->session->is_busy)
		return EBQL_MISUSE;
	api_clear(query);
	return begin(query) == EBQL_NO_MEMORY ? EBQL_NO_MEMORY : EBQL_OK;
}

void ebql_query_close(struct ebql_query *query)
{
	struct ebql_query **at;

	if (!query || query->session->is_busy)
		return;
	api_clear(query);
	for (at = &query->session->queries; *at != query;)
		at = &(*at)->next;
	*at = query->next;
	buf_free(&query->message);
	for (u32 i = 0; i < query->parameters.list.n; i++)
		free((char *)query->parameters.list.at[i].text);
	arena_free(&query->bindings);
	free(query->text);
	free(query);
}

/* --- Values --- */

static int bind(struct ebql_query *query, const char *name, struct sql_parameter value)
{
	struct sql_parameters *all;
	u32 i = 0;

	if (!query || !name || !*name || query->session->is_busy || query->state != QUERY_READY)
		return EBQL_MISUSE;
	all = &query->parameters;
	value.text = strndup(value.text ? value.text : "", value.text_bytes);
	if (!value.text)
		return EBQL_NO_MEMORY;
	while (i < all->list.n && strcmp(all->list.at[i].name, name) != 0)
		i++;
	if (i < all->list.n) {
		value.name = all->list.at[i].name;
		free((char *)all->list.at[i].text);
		all->list.at[i] = value;
		return EBQL_OK;
	}
	value.name = arena_strdup(&query->bindings, name);
	vec_push(&query->bindings, &all->list, value);
	return EBQL_OK;
}

static int refuse(struct ebql_query *query, const char *name, const char *why)
{
	if (!query || !name || query->session->is_busy || query->state != QUERY_READY)
		return EBQL_MISUSE;
	diag_plain(&query->query.diags, "bad-parameter", "the value of :%s %s", name, why);
	query->state = QUERY_BROKEN;
	query->end = EBQL_REFUSED;
	return EBQL_REFUSED;
}

int ebql_bind_int(struct ebql_query *query, const char *name, int64_t value)
{
	return bind(query, name,
		    (struct sql_parameter){ .kind = AST_INTEGER,
					    .is_negative = value < 0,
					    .integer = value < 0 ? -(u64)value : (u64)value });
}

int ebql_bind_uint(struct ebql_query *query, const char *name, uint64_t value)
{
	return bind(query, name, (struct sql_parameter){ .kind = AST_INTEGER, .integer = value });
}

int ebql_bind_real(struct ebql_query *query, const char *name, double value)
{
	if (!isfinite(value))
		return refuse(query, name, "is no number");
	return bind(query, name,
		    (struct sql_parameter){ .kind = AST_REAL,
					    .is_negative = signbit(value) != 0,
					    .real = fabs(value) });
}

int ebql_bind_text(struct ebql_query *query, const char *name, const char *text, size_t bytes)
{
	if (!text)
		return EBQL_MISUSE;
	bytes = bytes == SIZE_MAX ? strlen(text) : bytes;
	if (memchr(text, '\0', bytes))
		return refuse(query, name, "has a NUL, which no text of a query can have");
	if (bytes >= 1u << 20)
		return refuse(query, name, "is longer than any query");
	return bind(
		query, name,
		(struct sql_parameter){ .kind = AST_TEXT, .text = text, .text_bytes = (u32)bytes });
}

int ebql_bind_duration(struct ebql_query *query, const char *name, uint64_t ns)
{
	return bind(query, name, (struct sql_parameter){ .kind = AST_DURATION, .integer = ns });
}

int ebql_bind_bool(struct ebql_query *query, const char *name, int value)
{
	return bind(query, name, (struct sql_parameter){ .kind = AST_BOOL, .integer = value != 0 });
}

int ebql_bind_null(struct ebql_query *query, const char *name)
{
	return bind(query, name, (struct sql_parameter){ .kind = AST_NULL });
}
