/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The ring buffer's reader on a ring made by hand, in the kernel's layout.
 */
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "drain/stream.h"

enum { RING = 256, ROW = 48 };

static const char *const probes[] = { "one", "two" };
static struct stream_column columns[] = {
	{ .type = { .kind = TYPE_INT, .bits = 32, .is_signed = true },
	  .bytes_offset = 16,
	  .n_bytes = 8 },
	{ .type = { .kind = TYPE_TEXT, .bytes = 10 }, .bytes_offset = 24, .n_bytes = 16 },
	{ .type = { .kind = TYPE_TEXT, .bytes = 8 },
	  .is_probe = true,
	  .bytes_offset = 40,
	  .n_bytes = 8 },
};

struct ring {
	struct phys phys;
	struct stream_reader reader;
	u64 consumer, producer;
	u8 data[2 * RING];
	struct value values[STREAM_BATCH_ROWS * 3];
};

static void ring_init(struct ring *ring)
{
	memset(ring, 0, sizeof(*ring));
	ring->phys.columns = columns;
	ring->phys.n_columns = 3;
	ring->phys.probes = (const char **)probes;
	ring->phys.n_probes = 2;
	ring->reader = (struct stream_reader){
		.end = UINT64_MAX,
		.phys = &ring->phys,
		.consumer = &ring->consumer,
		.producer = &ring->producer,
		.data = ring->data,
		.mask = RING - 1,
		.n_bytes = RING,
		.values = { ring->values, sizeof(ring->values) },
	};
}

/* Where the record's length word is; both images of the ring are kept alike by put(). */
static u64 put(struct ring *ring, s64 number, const char *text, u64 nulls, u32 flags)
{
	u64 at = ring->producer, length = ROW | flags, code = number & 1;
	/* Of level 3; part 2 uses copy 1, and the run of part 3 is over; scan 5. */
	u64 word = slot_word(3, 1 << 2 | 1ull << (SLOT_OVER_SHIFT + 3) |
					1ull << (SLOT_OTHERS_SHIFT + 3)) |
		   5ull << STREAM_SOURCE_SHIFT;
	u8 record[8 + ROW] = { 0 };

	memcpy(record, &length, 4);
	memcpy(record + 8, &word, 8);
	memcpy(record + 16, &nulls, 8);
	memcpy(record + 24, &number, 8);
	strncpy((char *)record + 32, text, 16);
	memcpy(record + 48, &code, 8);
	for (u32 i = 0; i < sizeof(record); i++) {
		ring->data[(at + i) % RING] = record[i];
		ring->data[(at + i) % RING + RING] = record[i];
	}
	ring->producer += sizeof(record);
	return at;
}

static void test_decode(void **state)
{
	struct ring ring;

	ring_init(&ring);
	put(&ring, -3, "hello", 0, 0);
	put(&ring, 4, "0123456789XYZ", 0, 0);
	put(&ring, 0, "", 3, 0);
	assert_int_equal(stream_read(&ring.reader, 100), 3);
	assert_int_equal(ring.values[0].kind, VALUE_INT);
	assert_true(ring.values[0].integer == -3);
	assert_int_equal(ring.values[1].n, 5);
	assert_memory_equal(ring.values[1].text, "hello", 5);
	assert_int_equal(ring.values[2].n, 3);
	assert_memory_equal(ring.values[2].text, "two", 3);
	assert_int_equal(ring.values[4].n, 10); /* the type's bytes, not the row's */
	assert_int_equal(ring.values[6].kind, VALUE_NULL);
	assert_int_equal(ring.values[7].kind, VALUE_NULL);
	assert_memory_equal(ring.values[8].text, "one", 3);
	/* Room is given back by the next read only: texts point into it. */
	assert_int_equal(ring.consumer, 0);
	assert_int_equal(stream_read(&ring.reader, 100), 0);
	assert_int_equal(ring.consumer, ring.producer);
}

/* What a record says of its program: the copy of its part, and the scan. */
static void test_header(void **state)
{
	struct ring ring;
	u32 n_bytes;

	ring_init(&ring);
	put(&ring, 1, "a", 0, 0);
	for (u32 part = 0; part < 2 * BLOCK_PARTS; part++) {
		const u8 *record = stream_next(&ring.reader, &n_bytes);

		assert_int_equal(n_bytes, ROW);
		ring.phys.number = part;
		assert_int_equal(stream_copy(&ring.phys, record), part % BLOCK_PARTS == 2);
		assert_int_equal(stream_source(record), 5);
		ring.reader.position = 0;
	}
}

static void test_order(void **state)
{
	struct ring ring;
	u64 busy;
	u32 ready = ROW;

	ring_init(&ring);
	put(&ring, 1, "a", 0, BPF_RINGBUF_DISCARD_BIT);
	put(&ring, 2, "b", 0, 0);
	busy = put(&ring, 3, "c", 0, BPF_RINGBUF_BUSY_BIT);
	put(&ring, 4, "d", 0, 0);
	assert_int_equal(stream_read(&ring.reader, 100), 1);
	assert_true(ring.values[0].integer == 2);
	assert_int_equal(stream_read(&ring.reader, 100), 0);
	memcpy(ring.data + busy, &ready, 4);
	assert_int_equal(stream_read(&ring.reader, 1), 1); /* the limit */
	assert_true(ring.values[0].integer == 3);
	assert_int_equal(stream_read(&ring.reader, 100), 1);
	assert_true(ring.values[0].integer == 4);
}

static void test_wrap(void **state)
{
	struct ring ring;

	ring_init(&ring);
	for (s64 i = 0; i < 1000; i++) {
		put(&ring, i, "abcdefghi", 0, 0);
		put(&ring, -i, "xy", 0, 0);
		assert_int_equal(stream_read(&ring.reader, 100), 2);
		assert_true(ring.values[0].integer == i);
		assert_memory_equal(ring.values[1].text, "abcdefghi", 9);
		assert_true(ring.values[3].integer == -i);
		assert_int_equal(ring.values[4].n, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests_name("run-stream", tests, NULL, NULL);
}
