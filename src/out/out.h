/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> bytes on a descriptor: table with histograms as bars, JSON lines, CSV, heat map,
 * files.  A format is one file and one entry of out_formats: it makes bytes of batches, and knows
 * neither where they go nor when.  struct out_file is the sink (type/sink.h) that does.
 */
#ifndef EBQL_OUT_OUT_H
#define EBQL_OUT_OUT_H

#include "base/buf.h"
#include "file/file.h"
#include "type/type.h"

struct out;

/*
 * What structured formats have as columns: a QUANTILE is three, NAME, NAME_lo and NAME_hi.  A
 * name that another column has, or that is reserved, gets a suffix: fd, fd_2, fd_3; the schema's
 * own names come first.
 */
struct out_column {
	char *name;
	struct type type;
	u32 from; /* column of the schema */
	enum quantile_part part;
};

struct out_columns {
	u32 n;
	struct out_column *at;
};

/* out_options.bins: all cells, or a rule of the number of values n. */
#define OUT_BINS_ALL	 0u
#define OUT_BINS_SQRT	 UINT32_MAX	  /* ceil(sqrt n) */
#define OUT_BINS_STURGES (UINT32_MAX - 1) /* ceil(log2 n) + 1: Sturges 1926 */

struct out_options {
	bool is_terminal; /* may use colour and redraw; a pipe gets plain lines */
	u32 width;	  /* columns of the terminal, read anew for each window; 0: no limit */
	u32 height;	  /* its lines; 0: unknown */
	/* Added to TIMESTAMPs of CLOCK_MONO where time of day is wanted. */
	s64 monotonic_to_realtime_ns;
	/* Ends a write that waits for its reader; NULL: nothing does. */
	const struct cancel *cancel;
	bool is_streaming;	 /* rows of single events: no window lines between them */
	bool has_other;		 /* there may be an "(other)" row */
	bool is_timeless;	 /* rows of no time, as figures are: -o line shows none */
	bool is_gathered;	 /* rows of a file may wait for others, 250 ms at most where
				    out_file_idle() is called */
	bool is_ascii;		 /* bars of '#', heat map of ASCII shades */
	bool has_window_columns; /* rows carry their window's bounds; of CSV and JSON */
	u32 bins;		 /* at most so many bars a histogram, or OUT_BINS_* */
	const char *query;	 /* its name, where several write to one place; NULL: nobody asks */
	/* Takes the bytes, and empties the buffer, in place of the descriptor; NULL: none does. */
	int (*write)(void *context, struct buf *buf);
	void *context;
};

#define OUT_RESERVED_MAX 3

struct out_format {
	const char *name;
	const char *meaning;
	bool needs_histogram;	   /* a column of TYPE_HISTOGRAM, see out_has_histogram() */
	bool needs_calls;	   /* a column of TYPE_STACK or TYPE_TEXT, see out_has_calls() */
	bool needs_rows;	   /* rows of single events, as they happen: options.is_streaming */
	bool is_binary;		   /* nothing for a terminal */
	bool is_single;		   /* readers see nothing that is written behind it */
	bool takes_window_columns; /* options.has_window_columns */
	enum file_kind file;	   /* of those that FROM reads back */
	/*
	 * Of structured ones: names, up to OUT_RESERVED_MAX of them, that none of out->columns
	 * has; ends with NULL.  The first is that of the "(other)" row's mark: of all rows with
	 * window columns, or of that alone (marks_other).
	 */
	const char *const *reserved;
	bool marks_other;
	size_t state_bytes; /* of out->state, which is cleared */
	/* 0, or -ENOMEM: then only `end` is called.  Each of these may be NULL. */
	int (*begin)(struct out *out, const struct schema *schema);
	/* A window, or some streamed rows: what stands above the rows; without `row` all of it. */
	void (*batch)(struct out *out, const struct batch *batch);
	void (*row)(struct out *out, const struct batch *batch, u32 row);
	/* Behind the rows of a window, or of a whole stream, whose number it is: what was seen
	 * and lost.  Only of a window has the batch its rows. */
	void (*account)(struct out *out, const struct batch *batch, u64 n_rows);
	/* Now and then while rows stream. */
	void (*idle)(struct out *out);
	/* What comes last, unless something failed (out->error), and gives back what was taken. */
	void (*end)(struct out *out);
};

/* What a format writes with. */
struct out {
	const struct out_format *format;
	struct out_options options;
	struct buf buf;
	struct buf scratch;		/* for text whose width is wanted before it is written */
	void (*flush)(struct out *out); /* the sink's: takes what is in buf */
	void *state;
	struct out_columns columns; /* where the format has reserved names */
	/* Bounds that stand in front of a row: --window-columns, and the query selects it not. */
	bool has_start, has_end;
	bool selects_other; /* a column tells the "(other)" row, and no window column does */
	bool is_utf8;	  /* the terminal's or file's charset, by the locale; never with is_ascii */
	bool has_escapes; /* a terminal that obeys them: neither TERM=dumb nor NO_COLOR */
	/* What failed first, 0 or -errno: nothing is written after it. */
	int error;
	const char *why;  /* in words, where the errno does not say it; or NULL */
	char why_of[512]; /* they, where they are of a column */
};

struct out_file {
	struct out out;
	int fd;
	/* Of streamed rows: the latest batch, without its rows, and how many came. */
	struct batch run;
	u64 n_rows;
};

extern const struct out_format *const out_formats[];
extern const u32 out_n_formats;

const struct out_format *out_format_find(const char *name);
/* Writes files that FROM 'FILE' reads. */
const struct out_format *out_recorder(enum file_kind kind);
bool out_has_histogram(const struct schema *schema);
bool out_has_calls(const struct schema *schema);
/* Of a terminal: neither TERM=dumb nor NO_COLOR. */
bool out_obeys_escapes(void);
/* Each 0 or -errno: of the write (-EPIPE), or -ENOMEM; the first one stays. */

/* The schema stays until it is closed, and so does the descriptor; out_file_close() after failure
 * too. */
int out_file_open(struct out_file *file, const struct out_format *format, int fd,
		  const struct out_options *options, const struct schema *schema);
int out_file_batch(struct out_file *file, const struct batch *batch);
/* With is_gathered: every 10 ms or so. */
int out_file_idle(struct out_file *file);
/* error: of the query; not 0: nothing more is written. */
int out_file_close(struct out_file *file, int error);

/* Of what was opened as "json": each column of a row with its value, texts as they are, NULL empty.
 */
typedef void out_json_visit(void *context, const char *name, size_t n_name, const char *value,
			    size_t n_value);
void out_json_each(struct out *out, const struct batch *batch, u32 row, out_json_visit *visit,
		   void *context);

/* "1.53ms", "90us", "2s", "0ns": three significant digits, exact where fewer do. */
void out_put_duration(struct buf *buf, s128 ns);
/* 12,345 */
void out_put_thousands(struct buf *buf, s128 value);
/*
 * Text as a terminal may safely show it: control bytes, bidirectional controls
 * and bytes that are no UTF-8 become \xNN.  Cut with an ellipsis when it is wider
 * than max_width columns (0: no limit).  Returns its width in columns.
 */
u32 out_put_visible(struct buf *buf, const char *text, size_t n, u32 max_width);
/* "14:03:07.512000" local time of a CLOCK_REALTIME instant. */
void out_put_time_of_day(struct buf *buf, u64 realtime_ns);

#endif
