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
	char *buf;	/* writable: texts are decoded in place; behind the last byte is a NUL */
	size_t start, end, capacity;
};

/* 0 or -errno; the size counts as it is now. */
int reader_open(struct reader *reader, const char *path);
void reader_close(struct reader *reader);
/* Has at least n bytes from reader->start on in the buffer, or all that are left; 0 or -errno. */
int reader_need(struct reader *reader, size_t n);
/* Behind the byte order mark, if there is one. */
void reader_skip_mark(struct reader *reader);
static inline size_t reader_has(const struct reader *reader)
{
	return reader->end - reader->start;
}

struct file_pass {
	struct reader reader;
	const char *path;
	struct diags *diags;
	struct span span; /* of its name in the query, or SPAN_NONE */
	const char *unit; /* "line" or "batch" */
	u64 place;	  /* its number, from 1; 0: none yet */
	u64 n_lines;	  /* that were read */
	bool is_learning; /* the rows, to their end, which may be cut */
	bool is_ours;	  /* of CSV: every line ends with a line feed, or it is cut */
	bool is_escaped;  /* of CSV: by -o csv, which has \xHH for bytes that are no text */
	u64 n_cut;	  /* rows that the file ends in the middle of; 0: not known */
};

/*
 * Where the line ends that holds byte `from` behind reader->start: at its line feed, or where the
 * file does.  0 or -errno after a diagnostic.
 */
int file_line_end(struct file_pass *pass, size_t from, size_t *ret_end);
/*
 * The file ends in the middle of n rows (0: of how many is not known), or of something else:
 * -ENODATA where file_learn() goes on without these, else -EINVAL after a diagnostic.
 */
int file_cut(struct file_pass *pass, u64 n);
/* "FILE: line 3: ..."; file_complain() with the tag bad-file, -EINVAL. */
struct diag *file_complain_as(struct file_pass *pass, const char *tag, const char *message);
int file_complain(struct file_pass *pass, const char *format, ...) PRINTF(2, 3);
int file_has_changed(struct file_pass *pass);
/* The same for an errno; the error.  The machine may be to blame for it, and not the query. */
int file_complain_errno(struct file_pass *pass, const char *tag, int error);
/* The same for a failed read. */
int file_complain_read(struct file_pass *pass, int error);

/* --- Values as they are written --- */

enum written_kind {
	WRITTEN_NULL,
	WRITTEN_FALSE,
	WRITTEN_TRUE,
	WRITTEN_BARE, /* a number in JSON, anything without quotes in CSV */
	WRITTEN_STRING,
	WRITTEN_NESTED, /* an array or object of JSON */
};

/* The text of a value; of a string without its quotes. */
struct written {
	enum written_kind kind;
	bool has_escape; /* which json_decode() resolves */
	char *text;
	size_t n;
};

/* The value of rows->fields[column]; 0 or -EINVAL after a diagnostic. */
int file_text_value(struct file_rows *rows, u32 column, struct value *ret_value);

/* --- Columns: learn.c --- */

/* Reads all rows behind the head and finishes the schema; false after a diagnostic. */
bool file_learn(struct file_rows *rows, struct arena *arena);
/* Names made unique by a suffix: fd, fd_2; empty ones become column_N. */
const char **file_unique_names(struct arena *arena, const struct schema *schema);

/* --- Numbers and values: text.c --- */

/* "u32", "DURATION", "DURATION SIGNED": every word, TEXT, BLOB and REAL, and back. */
void file_put_type(struct buf *buf, struct type type);
bool file_type_of(const char *text, size_t n, struct type *ret_type);
/* -9223372036854775808 ... 18446744073709551615, without leading zeros. */
bool file_integer_of(const char *text, size_t n, s128 *ret_value);
bool file_is_digits(const char *text, size_t n); /* an integer of any length */
bool file_is_number(const char *text, size_t n); /* JSON's */
/* nan, inf, -inf */
bool file_special_of(const char *text, size_t n, double *ret_value);
/* Rows of CSV or JSON; a BLOB is hex digits. */
void file_write_text(struct file_writer *writer, const struct value *values, u32 n);
/* --- The kinds --- */

/* A walk over the rows: one that learns the columns, or one of columns that are known. */
struct file_rows {
	struct file_pass pass;
	const struct file_format *format;
	const struct file *file;
	struct file *learnt;	/* the same while it is learnt */
	struct written *fields; /* of a row of text; there are FILE_COLUMNS_MAX */
	u64 before_ns;		/* the last row's time */
	void *state;
};

struct file_writer {
	enum file_kind kind;
	const struct schema *schema;
	struct buf *out;
	struct arena arena;
	const char **names; /* unique */
	bool is_window;	    /* of Arrow: windows for other programs */
	s64 offset_ns;	    /* then: added to instants of CLOCK_MONO */
	bool *has_value;    /* by column: some row had one */
	const char *error, *error_column;
	void *state;
};

struct file_format {
	const char *suffix;
	const char *unit;
	/* The columns that the file's head names, in a new file; NULL after a diagnostic. */
	struct file *(*head)(struct file_rows *rows, struct arena *arena);
	/* 1: at the next row; 0: the end; -errno after a diagnostic. */
	int (*next)(struct file_rows *rows);
	/* Of this row; 0 or -errno after a diagnostic. */
	int (*value)(struct file_rows *rows, u32 column, struct value *ret_value);
	void (*close)(struct file_rows *rows); /* NULL: nothing to free */
	void (*write_begin)(struct file_writer *writer);
	void (*write_rows)(struct file_writer *writer, const struct value *values, u32 n);
	void (*write_end)(struct file_writer *writer); /* NULL: nothing */
};

extern const struct file_format file_arrow, file_jsonl, file_csv;

/* Of what a column cannot hold. */
#define FILE_NOT_OF_TYPE                                                                           \
	"a value that is not of its type: CAST(x AS INTEGER), REAL or TEXT makes it one"
/* Of a sum, which has up to 128 bits. */
#define FILE_TOO_LARGE                                                                             \
	"a number beyond 64 bits, which no such column holds: as CAST(x AS REAL) or CAST(x AS "    \
	"TEXT) it is written"
/* Why it cannot be written, of which column; column NULL: of none. */
static inline void file_writer_refuse(struct file_writer *writer, const char *why,
				      const char *column)
{
	writer->error = why;
	writer->error_column = column;
}

/* arrow_write.c */
void arrow_write_begin(struct file_writer *writer);
void arrow_write_rows(struct file_writer *writer, const struct value *values, u32 n);
void arrow_write_end(struct file_writer *writer);

#endif
