/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the two halves of the Arrow reader share: columns as the schema has them, and the
 * message that was read last.
 */
#ifndef EBQL_FILE_ARROW_READ_H
#define EBQL_FILE_ARROW_READ_H

#include "file/arrow.h"
#include "file/flatbuf.h"
#include "file/internal.h"

/* How the values of a column, or of its dictionary's numbers, are stored. */
struct arrow_layout {
	enum arrow_type kind;
	u32 bytes; /* of a value, of an offset of a text; 0: bits or nothing */
	bool is_signed;
	u32 scale; /* of TIMESTAMP and DURATION: ns in a unit */
};

struct arrow_column {
	struct arrow_layout layout;    /* of the numbers, where there is a dictionary */
	bool has_dictionary, is_large; /* with offsets of 64 bits in it */
	s64 dictionary;
};

struct arrow_file {
	struct file file;
	struct arrow_column *columns;
};

struct arrow_message {
	u32 header_kind;
	struct flatbuf fb;
	u32 header; /* its table */
	u64 body_bytes;
};

/* A column within the body of the batch: all of it is checked to lie there. */
struct arrow_values {
	const u8 *validity; /* NULL: no NULLs */
	const u8 *values;   /* or the offsets of texts; NULL: a batch without rows */
	const u8 *bytes;    /* of texts */
	u64 n_bytes;
};

/* The texts of a dictionary. */
struct arrow_dictionary {
	s64 id;
	bool is_large;
	struct buf texts;
	struct buf ends; /* u64: of each text in texts */
	u64 n;
};

/* A walk over the batches of a stream. */
struct arrow_walk {
	struct file_pass *pass;
	const struct schema *schema;
	const struct arrow_column *columns;
	struct buf metadata; /* of the last message */
	struct arrow_dictionary *dictionaries;
	u32 n_dictionaries;
	struct arrow_values *values; /* of the batch */
	u64 n_rows, row;
	bool is_over;
};

/* arrow_schema.c: the first message; 0 or -EINVAL after a diagnostic. */
int arrow_learn_schema(struct file_pass *pass, struct arrow_message *message, struct arena *arena,
		       struct arrow_file *ret_file);

/* arrow_batch.c */
/* 1: a message, its metadata in `metadata`; 0: the end of the stream; -errno, told. */
int arrow_next_message(struct file_pass *pass, struct buf *metadata,
		       struct arrow_message *ret_message);
/* 0, or -errno, told; arrow_walk_close() after both. */
int arrow_walk_open(struct arrow_walk *walk, struct file_pass *pass, const struct arrow_file *file);
void arrow_walk_close(struct arrow_walk *walk);
/* 1: a batch with at least one row, 0: the end, -errno after a diagnostic. */
int arrow_walk_next(struct arrow_walk *walk);
/* The value of a column in row walk->row of the batch, from 1; 0 or -EINVAL after a diagnostic. */
int arrow_value(struct arrow_walk *walk, u32 column, struct value *ret);

#endif
