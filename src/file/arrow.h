/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of the Arrow columnar format 1.x: the slots and values of its FlatBuffers
 * metadata (Schema.fbs, Message.fbs), as far as they are read or written here.
 *
 * A stream is a row of messages: ffffffff, u32 bytes of metadata, the metadata (a
 * FlatBuffer, padded to 8 bytes), the body.  First the schema, then batches; ffffffff and
 * a length of 0 end it.
 */
#ifndef EBQL_FILE_ARROW_H
#define EBQL_FILE_ARROW_H

#define ARROW_CONTINUATION 0xffffffffu
#define ARROW_ALIGN	   8u
#define ARROW_METADATA_MAX (64u << 20)

enum arrow_version { ARROW_V4 = 3, ARROW_V5 = 4 };

/* table Message */
enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_BYTES, MESSAGE_METADATA };
enum { HEADER_SCHEMA = 1, HEADER_DICTIONARY, HEADER_BATCH };
/* table Schema; endianness 0 is little */
enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS };
/* table Field */
enum {
	FIELD_NAME,
	FIELD_NULLABLE,
	FIELD_TYPE_KIND,
	FIELD_TYPE,
	FIELD_DICTIONARY,
	FIELD_CHILDREN,
	FIELD_METADATA
};
/* table KeyValue */
enum { PAIR_KEY, PAIR_VALUE };
/* table DictionaryEncoding */
enum { ENCODING_ID, ENCODING_INDEX_TYPE };
/* table RecordBatch; a node is {s64 length, s64 nulls}, a buffer {s64 offset, s64 bytes} */
enum { BATCH_ROWS, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION };
/* table DictionaryBatch */
enum { DICTIONARY_ID, DICTIONARY_DATA, DICTIONARY_IS_DELTA };

/* union Type */
enum arrow_type {
	ARROW_NULL = 1,
	ARROW_INT,  /* s32 bits, bool is_signed */
	ARROW_REAL, /* s16 precision: 0 half, 1 single, 2 double */
	ARROW_BINARY,
	ARROW_UTF8,
	ARROW_BOOL,
	ARROW_DECIMAL, /* s32 digits, s32 of them behind the point, s32 bits: 128 where absent */
	ARROW_DATE,
	ARROW_TIME,
	ARROW_TIMESTAMP, /* s16 unit (0 s, 1 ms, 2 us, 3 ns), string time zone */
	ARROW_INTERVAL,
	ARROW_LIST,
	ARROW_STRUCT,
	ARROW_UNION,
	ARROW_FIXED_BINARY, /* s32 bytes */
	ARROW_FIXED_LIST,
	ARROW_MAP,
	ARROW_DURATION, /* s16 unit, 1 (ms) where absent */
	ARROW_LARGE_BINARY,
	ARROW_LARGE_UTF8,
	ARROW_LARGE_LIST,
	ARROW_RUN_END,
	ARROW_BINARY_VIEW,
	ARROW_UTF8_VIEW,
	ARROW_TYPE_N
};

enum { ARROW_UNIT_S, ARROW_UNIT_MS, ARROW_UNIT_US, ARROW_UNIT_NS };

/* The key of a field's metadata that holds the column's type, as in JSON lines. */
#define ARROW_TYPE_KEY "ebql"
/* Of windows: the column that marks "(other)" rows, and the key of a batch's metadata. */
#define ARROW_OTHER	"_other"
#define ARROW_BATCH_KEY "_batch"
/* Of the decimals that hold sums. */
#define ARROW_DECIMAL_DIGITS 38u

#endif
