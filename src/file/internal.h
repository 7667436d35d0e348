/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the kinds of files share: one walk over a file with its place for messages, what
 * is learnt of a column by looking at its values, and numbers as text.  One kind is one
 * entry of file_formats.
 */
#ifndef EBQL_FILE_INTERNAL_H
#define EBQL_FILE_INTERNAL_H

#include "file/file.h"

/* A file with more columns than this is taken for garbage. */
#define FILE_COLUMNS_MAX 2000u
/* So long may a row be; lengths of texts then fit 32 bits. */
#define FILE_ROW_BYTES_MAX (1u << 30)

/* reader.c: a file in pieces that are as long as they are asked for. */
struct reader {
	int fd;
	u64 inode;
	u64 left_bytes; /* of the file, not yet in the buffer */
	char *buf;	/* writable: texts are decoded in place */
	size_t start, end, capacity;
};

/* 0 or -errno; the size counts as it is now. */
int reader_open(struct reader *reader, const char *path);
void reader_close(struct reader *reader);
/* Has at least n bytes from reader->start on in the buffer, or all that are left; 0 or -errno. */
int reader_need(struct reader *reader, size_t n);
static inline size_t reader_has(const struct reader *reader)
{
	return reader->end - reader->start;
}

/* One walk over a file. */
struct file_pass {
	struct reader reader;
	const char *path;
	struct diags *diags;
	struct span span; /* of its name in the query, or SPAN_NONE */
	const char *unit; /* "line" or "batch" */
	u64 place;	  /* its number, from 1; 0: none yet */
};

/* "FILE: line 3: ..."; file_complain() with the tag bad-file, -EINVAL. */
struct diag *file_complain_as(struct file_pass *pass, const char *tag, const char *message);
int file_complain(struct file_pass *pass, const char *format, ...) PRINTF(2, 3);
int file_has_changed(struct file_pass *pass);
/* The same for a failed read; the error. */
int file_complain_read(struct file_pass *pass, int error);

/* --- Columns: learn.c --- */

/* What values of a column there are; places are those of a pass: lines or batches. */
struct file_guess {
	bool has_null, has_int, has_huge, has_real, has_bool, has_text;
	bool is_unordered;   /* an integer below the one before it */
	s128 min, max, last; /* of has_int */
	u32 longest_bytes;   /* of the values as texts */
	/* of the first NULL, integer beyond 64 bits, and text; and of min and max */
	u64 null_place, huge_place, text_place, min_place, max_place;
};

void file_guess_null(struct file_guess *guess, u64 place);
void file_guess_int(struct file_guess *guess, s128 value, u64 place);
/* A number's text: integer, integer beyond 64 bits, or real. */
void file_guess_number(struct file_guess *guess, const char *text, size_t n, u64 place);
void file_guess_text(struct file_guess *guess, size_t n, u64 place);
struct type file_guess_type(const struct file_guess *guess);
/*
 * Finishes a schema: texts as long as the longest, unique names, notes, the column `time` and
 * its order.
 */
void file_finish(struct file *file, const struct file_pass *pass, struct arena *arena,
		 const struct file_guess *guesses);
/* Names made unique by a suffix: fd, fd_2; empty ones become column_N. */
const char **file_unique_names(struct arena *arena, const struct schema *schema);

/* --- Numbers and values: text.c --- */

/* "u32", "DURATION", "DURATION SIGNED": every word, TEXT, BLOB and REAL, and back. */
void file_put_type(struct buf *buf, struct type type);
bool file_type_of(const char *text, size_t n, struct type *ret_type);
/* -9223372036854775808 ... 18446744073709551615, without leading zeros. */
bool file_integer_of(const char *text, size_t n, s128 *ret_value);
bool file_is_digits(const char *text, size_t n); /* an integer of any length */
/* JSON's numbers; the text need not end with a NUL. */
bool file_real_of(const char *text, size_t n, double *ret_value);
/* nan, inf, -inf */
bool file_special_of(const char *text, size_t n, double *ret_value);
/* A value of CSV or JSON; a BLOB is hex digits. */
void file_put_value(struct buf *buf, struct type type, const struct value *value, bool is_json);
/* Hex digits -> bytes at the same place; false when they are none. */
bool file_hex_decode(char *text, u32 n);

/* --- The kinds --- */

struct file_rows {
	struct file_pass pass;
	const struct file *file;
	u64 before_ns; /* the last row's time */
	void *state;
};

struct file_writer {
	enum file_kind kind;
	const struct schema *schema;
	struct buf *out;
	struct arena arena;
	const char **names; /* unique */
	const char *error;
	void *state;
};

struct file_format {
	const char *suffix;
	const char *unit;
	/* Reads all of the file; NULL after a diagnostic. */
	struct file *(*learn)(struct file_pass *pass, struct arena *arena);
	/* Checks that the file's head is still that of `file`; 0 or -errno after a diagnostic. */
	int (*begin)(struct file_rows *rows);
	int (*next)(struct file_rows *rows, struct value *ret_row);
	void (*close)(struct file_rows *rows); /* NULL: nothing to free */
	void (*write_begin)(struct file_writer *writer);
	void (*write_rows)(struct file_writer *writer, const struct value *values, u32 n);
	void (*write_end)(struct file_writer *writer); /* NULL: nothing */
};

extern const struct file_format file_arrow, file_jsonl, file_csv;

/* arrow_write.c */
void arrow_write_begin(struct file_writer *writer);
void arrow_write_rows(struct file_writer *writer, const struct value *values, u32 n);
void arrow_write_end(struct file_writer *writer);

#endif
