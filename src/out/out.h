/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> bytes on a file descriptor: table with histograms as bars, JSON lines,
 * CSV, heat map.  One format is one file and one entry of out_formats.
 */
#ifndef EBQL_OUT_OUT_H
#define EBQL_OUT_OUT_H

#include "base/buf.h"
#include "file/file.h"
#include "type/type.h"

struct out;

/* out_options.bins: all cells, or a rule of the number of values n. */
#define OUT_BINS_ALL	 0u
#define OUT_BINS_SQRT	 UINT32_MAX	  /* ceil(sqrt n) */
#define OUT_BINS_STURGES (UINT32_MAX - 1) /* ceil(log2 n) + 1: Sturges 1926 */

struct out_options {
	int fd;
	bool is_terminal; /* may use colour and redraw; a pipe gets plain lines */
	u32 width;	  /* columns of the terminal, read anew at each batch; 0: no limit */
	s64 monotonic_to_realtime_ns; /* added to TIMESTAMPs of CLOCK_MONO where time of day is
				       * wanted
				       */
	bool is_streaming;	      /* rows of single events: no window lines between them */
	bool is_gathered;	      /* rows may wait for others: out_idle() is called */
	bool is_ascii;		      /* bars of '#', heat map of ASCII shades */
	u32 height;		      /* lines of the terminal; 0: unknown */
	u32 bins;		      /* at most so many bars a histogram, or OUT_BINS_* */
};

struct out_format {
	const char *name;
	const char *meaning;
	bool needs_histogram; /* a column of TYPE_HISTOGRAM, see out_has_histogram() */
	bool needs_rows;      /* rows of single events, as they happen: options.is_streaming */
	bool is_binary;	      /* nothing for a terminal */
	/* 0, or -ENOMEM: then nothing is kept, and nothing below is called. */
	int (*begin)(struct out *out, const struct schema *schema);
	/*
	 * Streamed rows come in many small batches; is_last closes the run.  Their
	 * counters and bounds are those of the run so far, not of the small batch.
	 */
	void (*batch)(struct out *out, const struct batch *batch);
	/* Once in a while between batches; NULL: nothing waits. */
	void (*idle)(struct out *out);
	void (*end)(struct out *out);
};

struct out {
	const struct out_format *format;
	struct out_options options;
	struct buf buf;
	struct buf scratch; /* for text whose width is wanted before it is written */
	void *state;
	bool is_utf8;	  /* the terminal's or file's charset, by the locale; never with is_ascii */
	bool has_escapes; /* a terminal that obeys them: neither TERM=dumb nor NO_COLOR */
	/* Of the first write that failed, or -ENOMEM: 0 or -errno; nothing is written after it. */
	int error;
};

extern const struct out_format *const out_formats[];
extern const u32 out_n_formats;

const struct out_format *out_format_find(const char *name);
/* Writes files that FROM 'FILE' reads. */
const struct out_format *out_recorder(enum file_kind kind);
bool out_has_histogram(const struct schema *schema);
/* 0 or -ENOMEM; out_close() also then. */
int out_open(struct out *out, const struct out_format *format, const struct out_options *options,
	     const struct schema *schema);
/* 0 or -errno, of the write (-EPIPE) or -ENOMEM; the first one stays. */
int out_batch(struct out *out, const struct batch *batch);
/* With is_gathered: call it every 10 ms or so, rows wait 250 ms at most. */
int out_idle(struct out *out);
int out_close(struct out *out);

/* "1.53ms", "90us", "2s", "0ns": three significant digits, exact where fewer do. */
void out_put_duration(struct buf *buf, s128 ns);
/* "14:03:07.512000" local time of a CLOCK_REALTIME instant. */
void out_put_time_of_day(struct buf *buf, u64 realtime_ns);

#endif
