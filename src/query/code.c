/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The functions that a query reads -> what the kernel's list of symbols says against it: that one
 * has no code of its own, that no probe may be there, that not all calls come by there.
 */
#include "query/query.h"

void query_check_function(struct query *q, const struct stream *s, struct buf *facts)
{
	struct function_code code;
	const char *name;

	if (!s->is_function || s->file_path || q->catalog_path)
		return;
	name = stream_function(&q->arena, s);
	code = function_code(&q->arena, name);
	if (code.text && facts && !code.is_there)
		diag_failure(&q->diags, "function-code", "%s: %s" HINT "%s", name, code.text,
			     code.hint);
	else if (facts)
		buf_printf(facts, "code %s: %s\n", name, code.text ?: "for all calls");
	else if (code.text)
		diag_warning(&q->diags, "function-code", SPAN_NONE, "%s: %s" HINT "%s", name,
			     code.text, code.hint);
}

void query_check_functions(struct query *q, struct buf *facts)
{
	const char *last = "";

	for (u32 i = 0; q->programs && i < q->programs->set->n_hooks; i++) {
		const struct stream *s = q->programs->set->hooks[i].uses[0].streams[0];

		/* A span's return and entry are of the same one. */
		if (strcmp(s->event, last) != 0)
			query_check_function(q, s, facts);
		last = s->event;
	}
}
