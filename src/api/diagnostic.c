/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is wrong with a query, one by one or as text.
 */
#include "api/internal.h"

int ebql_diagnostic(const struct ebql_query *query, unsigned int i,
		    struct ebql_diagnostic *ret_diagnostic)
{
	struct ebql_diagnostic given = { .size = sizeof(given) };
	const struct diag *diag;

	if (!query || !ret_diagnostic)
		return EBQL_MISUSE;
	if (i >= query->query.diags.list.n)
		return EBQL_END;
	diag = &query->query.diags.list.at[i];
	given.tag = diag->tag;
	given.message = diag->message;
	given.hint = diag->hint;
	given.severity = diag->is_warning   ? EBQL_WARNING
			 : diag->is_failure ? EBQL_FAILURE
					    : EBQL_ERROR;
	diags_place(&query->query.diags, diag->span, &given.line, &given.column);
	if (given.line) {
		given.start = MIN(diag->span.start, (u32)query->text_bytes);
		given.end = MIN(MAX(diag->span.end, given.start), (u32)query->text_bytes);
	}
	return api_give(&given, sizeof(given), UP_TO(struct ebql_diagnostic, end), ret_diagnostic);
}

const char *ebql_message(struct ebql_query *query)
{
	if (!query)
		return "";
	buf_reset(&query->message);
	diags_print(&query->query.diags, &query->message);
	return query->message.at;
}
