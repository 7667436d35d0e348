/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the formats share inside this layer: numbers as text, unique column
 * names, safe text, and writing in pieces so that a window of any size needs a
 * buffer of fixed size.
 */
#ifndef EBQL_OUT_FORMAT_H
#define EBQL_OUT_FORMAT_H

#include "out/out.h"

/* The buffer is written out whenever it has grown beyond this. */
#define OUT_CHUNK_BYTES (64 << 10)

extern const struct out_format out_table, out_json, out_csv;

/*
 * Called after each row: writes when the buffer is full enough.  False once a
 * write has failed (out->error): the format can stop early.
 */
bool out_row_done(struct out *out);

/* "0x1f", without leading zeros. */
void out_put_hex(struct buf *buf, u64 value);
/* Lower-case hex digits, two a byte. */
void out_put_hex_bytes(struct buf *buf, const char *bytes, u32 n);
/* Plain digits, whatever the size. */
void out_put_integer(struct buf *buf, s128 value);
/* Shortest text that reads back as the same double; "3.0", never "3".  Finite values only. */
void out_put_real(struct buf *buf, double value);

/*
 * Name of a column, made unique among the schema's and the reserved names by a
 * suffix: fd, fd_2, fd_3.  Appended to buf.
 */
void out_put_unique_name(struct buf *buf, const struct schema *schema, u32 column,
			 const char *const *reserved, u32 n_reserved);
/* Has the schema a column of that name? */
bool out_has_column(const struct schema *schema, const char *name);

/*
 * Text as a terminal may safely show it: control bytes, bidirectional controls
 * and bytes that are no UTF-8 become \xNN.  Cut with an ellipsis when it is wider
 * than max_width columns (0: no limit).  Returns its width in columns.
 */
u32 out_put_visible(struct buf *buf, const char *text, size_t n, u32 max_width);

/* The counters of streamed rows' small batches, closed by the last one. */
struct out_run {
	struct batch last; /* schema and values are not kept */
	u64 n_rows;
	bool is_closed;
};

/* Takes in one small batch; true when it was the last and the run is to be summed up. */
bool out_run_add(struct out_run *run, const struct batch *batch);

#endif
