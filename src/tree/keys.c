/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A table by the values of keys, and the memory of what is in it.  Both keep what they
 * once needed, so that a run that goes on as before takes no more.
 */
#include <string.h>

#include "tree/internal.h"

#define BUCKETS_MIN 1024u

/* --- Keys --- */

void key_put(struct buf *buf, const struct value *value)
{
	double whole;

	buf_putc(buf, (char)value->kind);
	switch (value->kind) {
	case VALUE_INT:
		buf_put(buf, &value->integer, sizeof(value->integer));
		break;
	case VALUE_REAL:
		/* 0.0 and -0.0 are equal. */
		whole = value->real + 0.0;
		buf_put(buf, &whole, sizeof(whole));
		break;
	case VALUE_TEXT:
		buf_put(buf, &value->n, sizeof(value->n));
		if (value->n)
			buf_put(buf, value->text, value->n);
		break;
	default:
		break;
	}
}

static u64 hash_bytes(const char *at, size_t n)
{
	u64 h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (u8)at[i]) * 0x100000001b3ull;
	return h ^ h >> 32;
}

static struct row_key **bucket(const struct row_keys *keys, u64 hash)
{
	return (struct row_key **)keys->buckets.at + (hash & (keys->n_buckets - 1));
}

/* Twice the buckets: each splits into itself and one in the new half. */
static void grow(struct row_keys *keys)
{
	u32 n = keys->n_buckets;

	keys->n_buckets = n ? 2 * n : BUCKETS_MIN;
	if (!region_need(&keys->buckets, (size_t)keys->n_buckets * sizeof(void *)))
		base_no_memory();
	for (u32 i = 0; i < n; i++) {
		struct row_key **at = (struct row_key **)keys->buckets.at + i, *key;

		while ((key = *at)) {
			if (!(key->hash & n)) {
				at = &key->next;
				continue;
			}
			*at = key->next;
			key->next = *bucket(keys, key->hash);
			*bucket(keys, key->hash) = key;
		}
	}
}

struct row_key *keys_find(struct row_keys *keys, struct pool *pool, const struct buf *bytes,
			  bool is_made)
{
	u64 hash = hash_bytes(bytes->at, bytes->n);
	struct row_key *key;

	if (keys->n >= keys->n_buckets)
		grow(keys);
	for (key = *bucket(keys, hash); key; key = key->next)
		if (key->hash == hash && key->n_bytes == bytes->n &&
		    (!bytes->n || memcmp(key->bytes, bytes->at, bytes->n) == 0))
			return key;
	if (!is_made)
		return NULL;
	key = pool_take(pool, sizeof(*key) + bytes->n);
	*key = (struct row_key){ .next = *bucket(keys, hash), .hash = hash, .n_bytes = bytes->n };
	if (bytes->n)
		memcpy(key->bytes, bytes->at, bytes->n);
	*bucket(keys, hash) = key;
	keys->n++;
	return key;
}

void keys_remove(struct row_keys *keys, struct pool *pool, struct row_key *key)
{
	struct row_key **at = bucket(keys, key->hash);

	while (*at != key)
		at = &(*at)->next;
	*at = key->next;
	keys->n--;
	pool_give(pool, key, sizeof(*key) + key->n_bytes);
}

void keys_free(struct row_keys *keys)
{
	region_free(&keys->buckets);
}
