/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arrow's C data interface: a schema and batches as structures that any Arrow library takes over
 * as they are, within the process.  The two structures are the interface's own, byte for byte.
 */
#ifndef EBQL_FILE_ARROW_C_H
#define EBQL_FILE_ARROW_C_H

#include <stdint.h>

struct batch;
struct schema;

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE	      2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

/*
 * The columns as the children of a struct, and behind them `_other`: is the row what found no room
 * in a group of its own?  Column names are made unique by suffixes.  A field's metadata "ebql" is
 * our name of the type:
 *	integers	int8 .. int64, uint8 .. uint64; sums decimal128(38, 0)
 *	BOOLEAN		bool
 *	REAL		double, and so a column of no type, as NULL
 *	DURATION	duration[ns]; TIMESTAMP timestamp[ns, UTC], of CLOCK_REALTIME; POINTER
 *uint64 TEXT		dictionary of utf8; what is no UTF-8 is U+FFFD
 *	BLOB		fixed-size binary, or binary
 *	histogram	list<struct<lo, hi, count>>, as UNNEST has them
 *	quantile	struct<est, lo, hi>; several list<struct<q, est, lo, hi>>
 *	top list	list<struct<value, weight, error>>, as UNNEST has them
 * Edges and bounds are NULL where there is none, or none that the type can hold.
 *
 * What is returned belongs to the caller, who calls its `release` once; it stays when schema and
 * batch are gone.  0, or -errno with release NULL: -ENOMEM; -EOVERFLOW, a value that Arrow's type
 * cannot hold: a time of 2^63 ns or more, a sum of more than 38 digits.
 */
int arrow_export_schema(const struct schema *schema, struct ArrowSchema *ret_schema);
int arrow_export_batch(const struct batch *batch, struct ArrowArray *ret_array);

#endif
