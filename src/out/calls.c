/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The columns of a row, in their order, are calls, from the root on: a stack as many as it has, a
 * text as many as it has between its ; (a stack that was recorded), any other value one.  The last
 * number, or duration, is what the row comes to.
 */
#include "out/calls.h"

#include <stdlib.h>
#include <string.h>

int calls_begin(struct out *out, const struct schema *schema)
{
	struct calls *calls = out->state;

	arena_init(&calls->arena);
	buf_init(&calls->frame);
	calls->value_column = -1;
	for (u32 i = 0; i < schema->n_columns; i++)
		if (schema->columns[i].type.kind == TYPE_INT ||
		    schema->columns[i].type.kind == TYPE_DURATION)
			calls->value_column = (s32)i;
	return 0;
}

static void clear(struct calls *calls)
{
	arena_free(&calls->arena);
	arena_init(&calls->arena);
	calls->root = NULL;
	calls->total = (struct batch){ 0 };
}

/* Totals since the start: what was before is in them. */
static bool is_snapshot(const struct out *out, const struct batch *batch)
{
	return !batch->is_windowed && !out->options.is_streaming;
}

void calls_batch(struct out *out, const struct batch *batch)
{
	struct calls *calls = out->state;

	if (is_snapshot(out, batch))
		clear(calls);
	if (!calls->root)
		calls->root = arena_new(&calls->arena, struct call);
}

static struct call *enter(struct calls *calls, struct call *parent, const char *name, size_t n)
{
	struct call **at = &parent->children, *call;

	/* The one that was met last is met again soon. */
	for (; *at; at = &(*at)->next) {
		call = *at;
		if (strncmp(call->name, name, n) || call->name[n])
			continue;
		*at = call->next;
		call->next = parent->children;
		return parent->children = call;
	}
	call = arena_new(&calls->arena, struct call);
	*call = (struct call){ .parent = parent,
			       .next = parent->children,
			       .name = arena_strndup(&calls->arena, name, n),
			       .depth = parent->depth + 1 };
	return parent->children = call;
}

static struct call *enter_text(struct calls *calls, struct call *call, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *stop = memchr(text, ';', (size_t)(end - text));

		if (!stop)
			stop = end;
		if (stop > text)
			call = enter(calls, call, text, (size_t)(stop - text));
		text = stop + 1;
	}
	return call;
}

static struct call *enter_value(struct out *out, struct call *call, struct type type,
				const struct value *value)
{
	struct calls *calls = out->state;

	buf_reset(&calls->frame);
	if (value->kind == VALUE_STACK)
		stack_put_folded(value->stack, &calls->frame);
	else
		out_put_cell(out, &calls->frame, type, value, 0, 0);
	return enter_text(calls, call, calls->frame.at, calls->frame.n);
}

void calls_row(struct out *out, const struct batch *batch, u32 row)
{
	struct calls *calls = out->state;
	const struct schema *schema = batch->schema;
	const struct value *values = &batch->values[(u64)row * schema->n_columns];
	struct call *call = calls->root;
	s128 value = 1;

	if (calls->value_column >= 0)
		value = values[calls->value_column].kind == VALUE_INT
				? values[calls->value_column].integer
				: 0;
	if (out_is_other(batch, row))
		call = enter(calls, call, OUT_OTHER, strlen(OUT_OTHER));
	for (u32 i = 0; i < schema->n_columns && !out_is_other(batch, row); i++)
		if ((s32)i != calls->value_column)
			call = enter_value(out, call, schema->columns[i].type, &values[i]);
	/* Of a row that has no call at all nothing could be shown but this. */
	if (call == calls->root)
		call = enter(calls, call, "[no calls]", strlen("[no calls]"));
	if (value > 0)
		call->self += (u128)value;
}

void calls_account(struct out *out, const struct batch *batch, u64 n_rows)
{
	struct calls *calls = out->state;

	account_add(&calls->total.account, &batch->account);
	out_add_sampled(&calls->total, batch);
}

static int compare(const void *a, const void *b)
{
	return strcmp((*(struct call *const *)a)->name, (*(struct call *const *)b)->name);
}

/* false: no memory for it. */
static bool sort_children(struct call *parent)
{
	struct call **list, *call;
	u32 n = 0;

	for (call = parent->children; call; call = call->next)
		n++;
	if (n < 2)
		return true;
	list = malloc(n * sizeof(struct call *));
	if (!list)
		return false;
	n = 0;
	for (call = parent->children; call; call = call->next)
		list[n++] = call;
	qsort(list, n, sizeof(struct call *), compare);
	parent->children = list[0];
	for (u32 i = 0; i < n; i++)
		list[i]->next = i + 1 < n ? list[i + 1] : NULL;
	free(list);
	return true;
}

struct call *calls_next(struct call *call)
{
	if (call->children)
		return call->children;
	while (call && !call->next)
		call = call->parent;
	return call ? call->next : NULL;
}

void calls_sort(struct calls *calls)
{
	for (struct call *call = calls->root; call; call = calls_next(call))
		calls->is_short |= !sort_children(call);
	for (struct call *call = calls->root; call; call = calls_next(call)) {
		calls->deepest = MAX(calls->deepest, call->depth);
		for (struct call *up = call; call->self && up; up = up->parent)
			up->all += call->self;
	}
}

void calls_free(struct calls *calls)
{
	arena_free(&calls->arena);
	buf_free(&calls->frame);
}
