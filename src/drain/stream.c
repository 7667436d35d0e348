/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Ring buffer reader.  The layout is the kernel's ABI (kernel/bpf/ringbuf.c): a page
 * with our position, a page with the kernel's, the data twice; each record has a
 * header of a u32 length with two flag bits and a u32 page offset, and takes a
 * multiple of 8 bytes.  A record whose busy bit is set is still being written: what
 * is behind it waits, so order is kept.
 */
#include "drain/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sys/sys.h"

static size_t row_bytes(const struct stream_reader *reader)
{
	return sizeof(struct value) * MAX(reader->phys->n_columns, 1);
}

int stream_open(struct stream_reader *reader, const struct load_state *load)
{
	struct bpf_map_info info;
	u64 page = sysconf(_SC_PAGESIZE);
	int ring_fd = load->map_fds[LOAD_MAP_RING];
	void *at;
	int err;

	*reader = (struct stream_reader){ .hooks = load->hooks,
					  .phys = load->phys,
					  .page_bytes = page,
					  .end = UINT64_MAX,
					  .copy = -1 };
	if (ring_fd < 0)
		return 0;
	err = sys_info(ring_fd, &info, sizeof(info));
	if (err)
		return err;
	reader->n_bytes = info.max_entries;
	reader->mask = reader->n_bytes - 1;
	err = sys_map_memory(ring_fd, page, &at);
	if (err)
		return err;
	reader->consumer = at;
	at = mmap(NULL, page + 2 * reader->n_bytes, PROT_READ, MAP_SHARED, ring_fd, page);
	if (at == MAP_FAILED) {
		err = -errno;
		stream_close(reader);
		return err;
	}
	reader->producer = at;
	reader->data = (const u8 *)at + page;
	reader->position = *reader->consumer;
	if (!region_need(&reader->values, STREAM_BATCH_ROWS * row_bytes(reader))) {
		stream_close(reader);
		return -ENOMEM;
	}
	return 0;
}

void stream_close(struct stream_reader *reader)
{
	if (reader->consumer)
		munmap(reader->consumer, reader->page_bytes);
	if (reader->producer)
		munmap((void *)reader->producer, reader->page_bytes + 2 * reader->n_bytes);
	region_free(&reader->values);
	reader->consumer = NULL;
	reader->producer = NULL;
}

static struct stream_header header_of(const u8 *record)
{
	struct stream_header header;

	memcpy(&header, record, sizeof(header));
	return header;
}

u32 stream_source(const u8 *record)
{
	return (u32)(header_of(record).word >> STREAM_SOURCE_SHIFT) & STREAM_SOURCE_MASK;
}

u32 stream_copy(const struct phys *phys, const u8 *record)
{
	return header_of(record).word >> phys->number % BLOCK_PARTS & 1;
}

void stream_value(const struct phys *phys, struct type type, bool is_probe, const void *at,
		  u32 n_bytes, struct value *ret_value)
{
	bool is_text = !is_probe && (type.kind == TYPE_TEXT || type.kind == TYPE_BLOB);
	u64 word;

	*ret_value = (struct value){ .kind = is_text || is_probe ? VALUE_TEXT : VALUE_INT };
	if (is_text) {
		ret_value->text = at;
		ret_value->n = MIN(type.bytes, n_bytes);
		if (type.kind == TYPE_TEXT)
			ret_value->n = (u32)strnlen(at, ret_value->n);
		return;
	}
	memcpy(&word, at, sizeof(word));
	if (type.kind == TYPE_STACK) {
		ret_value->stack = (const struct stack *)(uintptr_t)word;
		ret_value->kind = ret_value->stack ? VALUE_STACK : VALUE_NULL;
		ret_value->has_fault = !ret_value->stack;
	} else if (is_probe) {
		BUG_ON(word >= phys->n_probes);
		ret_value->text = phys->probes[word];
		ret_value->n = (u32)strlen(ret_value->text);
	} else {
		ret_value->integer = type.is_signed ? (s128)(s64)word : (s128)word;
	}
}

void stream_decode(const struct load_hooks *hooks, const struct phys *phys,
		   const struct phys_source *source, const u8 *record, struct value *ret_values)
{
	const struct stream_column *columns = source ? source->columns : phys->columns;
	u32 n_columns = source ? source->n_columns : phys->n_columns;
	u64 nulls = header_of(record).nulls, word;

	for (u32 i = 0; i < n_columns; i++) {
		const struct stream_column *c = &columns[i];
		const void *at = record + c->bytes_offset;

		if (c->type.kind == TYPE_STACK) {
			memcpy(&word, at, sizeof(word));
			word = (uintptr_t)load_stack(hooks, word);
			at = &word;
		}

		if (nulls >> i & 1)
			ret_values[i] = (struct value){ .kind = VALUE_NULL };
		else
			stream_value(phys, c->type, c->is_probe, at, c->n_bytes, &ret_values[i]);
		ret_values[i].has_fault |= c->fault_bit >= 0 && nulls >> c->fault_bit & 1;
	}
}

const u8 *stream_next(struct stream_reader *reader, u32 *ret_bytes)
{
	u64 written, end;

	if (!reader->producer)
		return NULL;
	written = stream_written(reader);
	reader->most_bytes = MAX(reader->most_bytes, written - *reader->consumer);
	end = MIN(written, reader->end);
	while (reader->position < end) {
		const u8 *record = reader->data + (reader->position & reader->mask);
		u32 length = __atomic_load_n((const u32 *)record, __ATOMIC_ACQUIRE);
		bool is_discarded = length & BPF_RINGBUF_DISCARD_BIT;

		if (length & BPF_RINGBUF_BUSY_BIT)
			return NULL;
		length &= ~BPF_RINGBUF_DISCARD_BIT;
		reader->position += ALIGN_UP((u64)length + BPF_RINGBUF_HDR_SZ, 8);
		if (is_discarded)
			continue;
		*ret_bytes = length;
		return record + BPF_RINGBUF_HDR_SZ;
	}
	return NULL;
}

void stream_release(struct stream_reader *reader)
{
	if (reader->producer)
		__atomic_store_n(reader->consumer, reader->position, __ATOMIC_RELEASE);
}

u32 stream_read(struct stream_reader *reader, u64 limit)
{
	const u8 *record;
	u32 n = 0, n_bytes;

	if (!reader->producer)
		return 0;
	stream_release(reader);
	/* No memory for more rows: these first. */
	while (n < limit && region_need(&reader->values, (n + 1ull) * row_bytes(reader)) &&
	       (record = stream_next(reader, &n_bytes))) {
		if (reader->copy >= 0 && stream_copy(reader->phys, record) != (u32)reader->copy)
			continue;
		stream_decode(reader->hooks, reader->phys, NULL, record,
			      (struct value *)reader->values.at +
				      (size_t)n++ * reader->phys->n_columns);
	}
	return n;
}
