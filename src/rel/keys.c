/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values of keys as bytes, and a hash table of chains by these.
 */
#include "rel/keys.h"

#include <string.h>

#define BUCKETS_MIN 1024u

void key_put(struct buf *buf, const struct value *value)
{
	double whole;

	buf_putc(buf, (char)value->kind);
	if (value->kind == VALUE_INT) {
		buf_put(buf, &value->integer, sizeof(value->integer));
	} else if (value->kind == VALUE_REAL) {
		/* 0.0 and -0.0 are equal. */
		whole = value->real + 0.0;
		buf_put(buf, &whole, sizeof(whole));
	} else if (value->kind == VALUE_TEXT) {
		buf_put(buf, &value->n, sizeof(value->n));
		buf_put(buf, value->text, value->n);
	} else if (value_is_special(value->kind)) {
		special_encode(value, buf);
	}
}

static u64 hash_bytes(const char *at, size_t n)
{
	u64 h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (u8)at[i]) * 0x100000001b3ull;
	return h ^ h >> 32;
}

static struct key **bucket(const struct keys *keys, u64 hash)
{
	return (struct key **)keys->buckets.at + (hash & (keys->n_buckets - 1));
}

static u8 *bytes_of(const struct keys *keys, const struct key *key)
{
	return (u8 *)key + keys->item_bytes;
}

/* Twice the buckets: each splits into itself and one in the new half.  false: no memory. */
static bool grow(struct keys *keys)
{
	u32 n = keys->n_buckets, n_more = n ? 2 * n : BUCKETS_MIN;

	if (!region_need(&keys->buckets, (size_t)n_more * sizeof(void *)))
		return false;
	keys->n_buckets = n_more;
	for (u32 i = 0; i < n; i++) {
		struct key **at = (struct key **)keys->buckets.at + i, *key;

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
	return true;
}

struct key *keys_find(struct keys *keys, const struct buf *bytes, bool is_made)
{
	u64 hash = hash_bytes(bytes->at, bytes->n);
	struct key *key;

	/* With fewer buckets than would be good it still works. */
	if (bytes->is_cut || (keys->n >= keys->n_buckets && !grow(keys) && !keys->n_buckets))
		return NULL;
	for (key = *bucket(keys, hash); key; key = key->next)
		if (key->hash == hash && key->n_bytes == bytes->n &&
		    memcmp(bytes_of(keys, key), bytes->at, bytes->n) == 0)
			return key;
	key = is_made ? pool_take(&keys->pool, keys->item_bytes + bytes->n) : NULL;
	if (!key)
		return NULL;
	memset(key, 0, keys->item_bytes);
	*key = (struct key){ .next = *bucket(keys, hash), .hash = hash, .n_bytes = bytes->n };
	memcpy(bytes_of(keys, key), bytes->at, bytes->n);
	*bucket(keys, hash) = key;
	keys->n++;
	return key;
}

void keys_remove(struct keys *keys, struct key *key)
{
	struct key **at = bucket(keys, key->hash);

	while (*at != key)
		at = &(*at)->next;
	*at = key->next;
	keys->n--;
	pool_give(&keys->pool, key, keys->item_bytes + key->n_bytes);
}

void keys_close(struct keys *keys)
{
	region_free(&keys->buckets);
	pool_free(&keys->pool);
}
