/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Small batches of streamed rows -> large ones.
 */
#include "out/gather.h"

#include <stdlib.h>

#define GATHERED_ROWS	    4096u
#define GATHERED_TEXT_BYTES (1u << 20)
#define GATHERED_NS	    250000000ull

/* Texts go to a buffer that may move: value->integer says where in it they are. */
bool gather_add(struct gather *gather, const struct batch *batch)
{
	u32 n_columns = batch->schema->n_columns;
	size_t n_before = (size_t)gather->n_rows * n_columns;
	size_t n = (size_t)batch->n_rows * n_columns;

	/* Those of the rows that were taken. */
	if (!gather->n_rows)
		buf_reset(&gather->texts);
	if (n_before + n > gather->capacity) {
		size_t capacity = MAX(n_before + n, 2 * gather->capacity);
		void *grown = realloc(gather->values, capacity * sizeof(*gather->values));

		if (!grown)
			return false;
		gather->values = grown;
		gather->capacity = capacity;
	}
	for (size_t i = 0; i < n; i++) {
		struct value *v = &gather->values[n_before + i];

		*v = batch->values[i];
		if (v->kind != VALUE_TEXT)
			continue;
		v->integer = (s128)gather->texts.n;
		if (v->n)
			buf_put(&gather->texts, batch->values[i].text, v->n);
	}
	if (!gather->n_rows)
		gather->first_ns = base_monotonic_ns();
	gather->n_rows += batch->n_rows;
	return true;
}

bool gather_is_due(const struct gather *gather)
{
	return gather->n_rows &&
	       (gather->n_rows >= GATHERED_ROWS || gather->texts.n >= GATHERED_TEXT_BYTES ||
		base_monotonic_ns() - gather->first_ns >= GATHERED_NS);
}

void gather_take(struct gather *gather, const struct schema *schema, struct batch *ret_batch)
{
	size_t n = (size_t)gather->n_rows * schema->n_columns;

	for (size_t i = 0; i < n; i++)
		if (gather->values[i].kind == VALUE_TEXT)
			gather->values[i].text =
				gather->texts.at + (size_t)gather->values[i].integer;
	*ret_batch = (struct batch){ .schema = schema,
				     .n_rows = gather->n_rows,
				     .values = gather->values,
				     .other_row = -1 };
	gather->n_rows = 0;
}

void gather_free(struct gather *gather)
{
	buf_free(&gather->texts);
	free(gather->values);
}
