/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * eb_approx_count_distinct: the registers that the kernel part would have (type/hll.h).
 * eb_top_k: what the kernel part's bounded memory estimates (type/top.h), counted
 * exactly: all values in a hash table, and no error.
 */
#include "func/internal.h"

#include <stdlib.h>
#include <string.h>

/* A VALUE_INT or VALUE_TEXT, of blobs too.  false: NULL, or an error. */
static bool key_of(sqlite3_context *context, sqlite3_value *value, struct value *ret_key)
{
	int type = sqlite3_value_type(value);

	if (type == SQLITE_TEXT || (type == SQLITE_BLOB && special_of(value) == VALUE_NULL)) {
		*ret_key = (struct value){ .kind = VALUE_TEXT };
		ret_key->text = sqlite3_value_blob(value);
		ret_key->n = (u32)sqlite3_value_bytes(value);
		return true;
	}
	*ret_key = (struct value){ .kind = VALUE_INT };
	return integer_of(context, value, &ret_key->integer);
}

static u64 key_hash(const struct value *key)
{
	u64 word;

	if (key->kind == VALUE_TEXT)
		return hll_hash_bytes(key->text, key->n);
	word = (u64)key->integer;
	return hll_hash(&word, 1);
}

/* --- approx_count_distinct --- */

struct sketch {
	u32 bits;
	u8 registers[]; /* 2^bits */
};

static void step_sketch(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	s64 bits = sqlite3_value_int64(argv[1]);
	struct sketch *sketch;
	struct value key;

	if (bits < HLL_BITS_MIN || bits > HLL_BITS_MAX) {
		sqlite3_result_error(context, "approx_count_distinct: 4 to 16 bits", -1);
		return;
	}
	sketch = func_state(context, sizeof(*sketch) + ((size_t)1 << bits));
	if (!sketch)
		return;
	if (!sketch->bits)
		sketch->bits = (u32)bits;
	if (key_of(context, argv[0], &key))
		hll_add(sketch->registers, sketch->bits, key_hash(&key));
}

static void value_sketch(sqlite3_context *context)
{
	const struct sketch *sketch = func_state(context, 0);

	sqlite3_result_int64(context,
			     sketch ? (s64)hll_estimate(sketch->registers, sketch->bits) : 0);
}

/* --- top_k --- */

struct weighed {
	struct value key; /* text: a copy */
	s128 weight;	  /* 0: a free entry */
};

struct weights {
	struct weighed *at; /* open addressing */
	u32 n, capacity;    /* capacity: a power of two, at least twice n */
	u32 k;
	u64 n_rows;
	s128 total;
};

static bool key_equal(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind || a->kind == VALUE_INT)
		return a->kind == b->kind && a->integer == b->integer;
	return a->n == b->n && (!a->n || memcmp(a->text, b->text, a->n) == 0);
}

static struct weighed *find(struct weights *w, const struct value *key)
{
	u32 i = (u32)key_hash(key) & (w->capacity - 1);

	while (w->at[i].weight && !key_equal(&w->at[i].key, key))
		i = (i + 1) & (w->capacity - 1);
	return &w->at[i];
}

static bool grow(sqlite3_context *context, struct weights *w)
{
	struct weights old = *w;
	u32 capacity = old.capacity ? 2 * old.capacity : 64;
	struct weighed *grown = func_alloc(context, capacity * sizeof(*w->at));

	if (!grown)
		return false;
	w->capacity = capacity;
	w->at = grown;
	for (u32 i = 0; i < old.capacity; i++)
		if (old.at[i].weight)
			*find(w, &old.at[i].key) = old.at[i];
	free(old.at);
	return true;
}

static void add_weight(sqlite3_context *context, struct weights *w, const struct value *key,
		       s128 weight)
{
	struct weighed *entry;
	char *copy = NULL;

	if (2 * (w->n + 1) > w->capacity && !grow(context, w))
		return;
	entry = find(w, key);
	if (!entry->weight) {
		if (key->kind == VALUE_TEXT) {
			copy = func_alloc(context, key->n);
			if (!copy)
				return;
			if (key->n)
				memcpy(copy, key->text, key->n);
		}
		w->n++;
		entry->key = *key;
		if (key->kind == VALUE_TEXT)
			entry->key.text = copy;
	}
	entry->weight += weight;
	w->total += weight;
}

static void step_top(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct weights *w = func_state(context, sizeof(*w));
	s64 k = sqlite3_value_int64(argv[1]);
	struct value key;
	s128 weight;

	if (!w)
		return;
	if (k < 1 || k > TOP_K_MAX) {
		sqlite3_result_error(context, "top_k: 1 to 1000 values", -1);
		return;
	}
	w->k = (u32)k;
	w->n_rows++;
	if (!key_of(context, argv[0], &key) || !integer_of(context, argv[2], &weight))
		return;
	if (weight > 0)
		add_weight(context, w, &key, weight);
	else if (weight < 0)
		func_negative(context, w->n_rows, argv[3]);
}

/* The kernel part's words of a value: of texts the bytes, zeros behind them. */
static u64 word_of(const struct value *key, u32 i)
{
	u64 word = 0;

	if (key->kind == VALUE_INT)
		return i ? 0 : (u64)key->integer;
	if (i < key->n)
		memcpy(&word, key->text + i, MIN(key->n - i, (u32)sizeof(word)));
	return word;
}

/* As top_list(): the heaviest first, then the least words. */
static int order(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;
	u32 n = MAX(MAX(x->key.n, y->key.n), 1);

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	for (u32 i = 0; i < n; i += sizeof(u64)) {
		u64 p = word_of(&x->key, i), q = word_of(&y->key, i);

		if (p != q)
			return p < q ? -1 : 1;
	}
	return (x->key.kind == VALUE_TEXT) - (y->key.kind == VALUE_TEXT);
}

static void give_top(sqlite3_context *context, const struct weights *w)
{
	struct top top = { .n_rows = MIN(w->n, w->k), .total = w->total };
	struct top_row *rows = func_alloc(context, top.n_rows * sizeof(*rows));
	struct value value = { .kind = VALUE_TOP, .top = &top };

	if (!rows)
		return;
	for (u32 i = 0; i < top.n_rows; i++) {
		rows[i].weight = w->at[i].weight;
		rows[i].value = w->at[i].key;
	}
	if (w->n > w->k)
		top.max_unlisted = w->at[w->k].weight;
	top.rows = rows;
	func_result(context, &value);
	free(rows);
}

static void value_top(sqlite3_context *context)
{
	struct weights none = { 0 }, *w = func_state(context, 0);
	u32 n = 0;

	w = w ? w : &none;
	for (u32 i = 0; i < w->capacity; i++)
		if (w->at[i].weight)
			w->at[n++] = w->at[i];
	if (n)
		qsort(w->at, n, sizeof(*w->at), order);
	give_top(context, w);
}

static void clear_top(void *state)
{
	struct weights *w = state;

	for (u32 i = 0; i < w->n; i++)
		if (w->at[i].key.kind == VALUE_TEXT)
			free((void *)w->at[i].key.text);
	free(w->at);
}

const struct function distinct_functions[] = {
	{ "eb_approx_count_distinct", 2, 0, NULL, step_sketch, value_sketch },
	{ "eb_top_k", 4, 0, NULL, step_top, value_top, NULL, clear_top },
	{ NULL },
};
