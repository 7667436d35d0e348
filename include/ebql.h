/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libebql: streaming SQL over the Linux kernel, within a program.
 *
 *	struct ebql_session *session;
 *	struct ebql_query *query;
 *	struct ArrowArray rows;
 *
 *	ebql_session_open(&session);
 *	ebql_prepare(session, "SELECT comm, count(*) FROM tracepoint:sched:sched_switch "
 *		     "WHERE pid = :pid GROUP BY comm WINDOW TUMBLING 1s", -1, &query);
 *	ebql_bind_int(query, "pid", 42);
 *	if (ebql_run(query, NULL))
 *		fputs(ebql_message(query), stderr);
 *	while (ebql_next(query, -1, &rows) == EBQL_BATCH) {
 *		...
 *		rows.release(&rows);
 *	}
 *	ebql_session_close(session);
 *
 * Threads.  A session, with its queries, is used by one thread at a time; several sessions may be
 * used by several threads at once, and disturb each other in nothing.  Only ebql_interrupt() may be
 * called at any time, by any thread and by a signal handler.  An array that was handed out belongs
 * to the program and to no thread.
 *
 * The process.  The library takes no signal (a thread that it may start to close descriptors has
 * all of them blocked), waits for nothing but in ebql_next() and its like, writes no file and
 * nothing to standard output or error, and changes neither the capabilities, limits, locale nor
 * directory of the process, nor SQLite's settings.  It uses what rights the calling thread has
 * (root, or CAP_BPF and CAP_PERFMON, and CAP_DAC_READ_SEARCH for tracefs): a query is refused with
 * the tag no-privilege where they do not do.  All descriptors are closed by exec; after fork() the
 * child leaves the session alone.  Of a query that needs more open files or locked memory than the
 * process may have, the hint names the limit.  What SQLite computes for one batch may take 1 s of a
 * CPU beside another query of the session over the running kernel, since that one waits: what takes
 * longer ends with EBQL_FAILED and the tag too-slow.  Only a bug of the library, and a query too
 * large for 256 MiB of plans, end the process.
 *
 * Memory.  Text that a function returns lives as long as it says; it is UTF-8, or has the bytes
 * that the query's text has.  Text that is given is copied.  NULL for a handle is EBQL_MISUSE;
 * ebql_session_fd() is -1 then, ebql_message() "", and functions without a result do nothing.
 *
 * The binary interface.  Functions are only added, under a new version of the symbols.  Structures
 * begin with their size, which the caller sets (sizeof): they may grow at the end.  A size below
 * that of the first release of the structure is EBQL_MISUSE.
 */
#ifndef EBQL_H
#define EBQL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EBQL_API __attribute__((visibility("default")))

/* --- The Arrow C data and stream interfaces, as their specification has them --- */

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

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

/* --- What functions return --- */

enum ebql_status {
	EBQL_OK = 0,
	EBQL_BATCH = 1,	  /* there is a batch */
	EBQL_NOTHING = 2, /* none yet: the time is over, or a signal or ebql_interrupt() came */
	EBQL_END = 3,	  /* there is no more */

	EBQL_REFUSED = -1,   /* the text, or a value, is wrong: ebql_message() says where */
	EBQL_FAILED = -2,    /* the kernel or the machine is to blame: it says how */
	EBQL_NO_MEMORY = -3, /* nothing was done */
	EBQL_MISUSE = -4,    /* not in this state of the query, or not within a call-back */
	EBQL_CANCELLED = -5, /* the call-back returned less than 0, or ebql_interrupt() ended it */
	EBQL_LOSSES = -6     /* SET on_loss = fail, and the losses of a batch bias it */
};

/* "the query is refused", ...; for ever. */
EBQL_API const char *ebql_status_text(int status);
/* "0.1.0"; for ever. */
EBQL_API const char *ebql_version(void);

/* --- Sessions --- */

/* An engine with its queries: the windows of queries that end together end at one instant. */
struct ebql_session;
struct ebql_query;

/* EBQL_OK, EBQL_NO_MEMORY, or EBQL_FAILED: no descriptors.  *ret_session is NULL but after EBQL_OK.
 */
EBQL_API int ebql_session_open(struct ebql_session **ret_session);
/* Closes its queries too.  NULL is nothing. */
EBQL_API void ebql_session_close(struct ebql_session *session);
/*
 * For programs with an event loop: a descriptor that is readable when something is due.  It stays
 * the session's.  Then ebql_session_step() does what is due for all its queries, and never waits:
 * call-backs are called, and what ebql_next() takes with a timeout of 0 is there.
 */
EBQL_API int ebql_session_fd(const struct ebql_session *session);
/* EBQL_OK, EBQL_MISUSE, or EBQL_FAILED (of a timer).  What ends a query is told by that query. */
EBQL_API int ebql_session_step(struct ebql_session *session);
/*
 * ebql_next() and a stream that wait return; what SQLite computes for long ends, and the query with
 * the warning "interrupted".  From any thread, and from signal handlers, as long as the session is
 * open.
 */
EBQL_API void ebql_interrupt(struct ebql_session *session);

/* --- Queries --- */

/*
 * Reads a text: SET, ATTACH, CREATE VIEW and DROP VIEW, which hold for the query behind them, and
 * one SELECT; or what shows something, as one batch of texts: EXPLAIN (column `line`), SHOW STREAMS
 * (`stream`), SHOW VIEWS (`view`, `comment`), DESCRIBE (`name`, `type`, `meaning`, `kind`: "column"
 * or "system column"). EXPLAIN ANALYZE is refused: not-supported.  A text without SELECT is done by
 * ebql_run(), and holds for all queries that the session prepares afterwards.  bytes: SIZE_MAX (-1)
 * where the text ends with a NUL.
 *
 * EBQL_OK; EBQL_REFUSED after an error of syntax; EBQL_NO_MEMORY, EBQL_MISUSE.  *ret_query is to be
 * closed after the first two, and NULL after the others.
 */
EBQL_API int ebql_prepare(struct ebql_session *session, const char *text, size_t bytes,
			  struct ebql_query **ret_query);
/*
 * The value of :name wherever the text has it, as if it were written there: an integer, a real
 * number, a text, a duration (WINDOW TUMBLING :every), TRUE or FALSE, or NULL.  Before
 * ebql_schema() and ebql_run(), or behind ebql_reset(); the last one of a name counts.
 *
 * EBQL_OK, EBQL_NO_MEMORY, EBQL_MISUSE (no name, or it is too late), EBQL_REFUSED (bad-parameter: a
 * text with a NUL, a number that is none).  That a name is in no text, or has no value, is told by
 * ebql_run() and ebql_schema(): unknown-parameter, unbound-parameter.
 */
EBQL_API int ebql_bind_int(struct ebql_query *query, const char *name, int64_t value);
EBQL_API int ebql_bind_uint(struct ebql_query *query, const char *name, uint64_t value);
EBQL_API int ebql_bind_real(struct ebql_query *query, const char *name, double value);
EBQL_API int ebql_bind_text(struct ebql_query *query, const char *name, const char *text,
			    size_t bytes);
EBQL_API int ebql_bind_duration(struct ebql_query *query, const char *name, uint64_t ns);
EBQL_API int ebql_bind_bool(struct ebql_query *query, const char *name, int value);
EBQL_API int ebql_bind_null(struct ebql_query *query, const char *name);
/*
 * The columns: a struct of one child a column, whose metadata "ebql" names the SQL type.  It is the
 * caller's, to be released.  EBQL_OK, EBQL_REFUSED, EBQL_FAILED, EBQL_NO_MEMORY, EBQL_MISUSE.
 */
EBQL_API int ebql_schema(struct ebql_query *query, struct ArrowSchema *ret_schema);

/*
 * Of a call-back: the query, a batch, and what ebql_batch() tells of it.  The array is released
 * behind it, unless its `release` was set to NULL: then it was moved, and is the program's.  0: go
 * on; more: this was the last batch; less: the query ends with EBQL_CANCELLED.  Within it, of this
 * session's functions only ebql_batch(), ebql_stats(), ebql_message(), ebql_diagnostic() and
 * ebql_interrupt() may be called: others return EBQL_MISUSE.
 */
typedef int (*ebql_batch_function)(void *context, struct ebql_query *query,
				   struct ArrowArray *batch);

/*
 * A signal came while a stream of the query waits, in the thread that does: for languages that run
 * handlers of their own.  *ret_stops is 1, and where it still is behind this, get_next() gives
 * EINTR.
 */
typedef void (*ebql_signal_function)(void *context, int *ret_stops);

struct ebql_options {
	size_t size;	   /* sizeof(struct ebql_options); what is 0 below is not asked for */
	uint64_t every_ns; /* a query without a WINDOW gives a snapshot so often */
	uint64_t rows;	   /* streamed rows to end after */
	ebql_batch_function batch; /* NULL: batches wait for ebql_next() */
	void *context;
	ebql_signal_function on_signal; /* NULL: a stream waits through signals */
};

/*
 * Compiles the query, unless ebql_schema() has, loads and attaches it: it counts from then on.
 * options: NULL is all 0.  EBQL_OK, EBQL_REFUSED, EBQL_FAILED, EBQL_NO_MEMORY, EBQL_MISUSE (it runs
 * already, or has ended: see ebql_reset()).
 */
EBQL_API int ebql_run(struct ebql_query *query, const struct ebql_options *options);
/*
 * The next batch: the rows of a window, a snapshot, or rows that stream, as a struct array with
 * one child a column.  It is the caller's, to be released; it outlives query and session.  What is
 * due meanwhile for other queries of the session is done.
 * timeout_ms: how long to wait; 0: not at all; less: without end.
 *
 * EBQL_BATCH; EBQL_NOTHING; EBQL_END: it has ended, and all was given; what ended it otherwise:
 * EBQL_FAILED, EBQL_NO_MEMORY, EBQL_CANCELLED, EBQL_LOSSES; EBQL_MISUSE: it never ran, or has a
 * call-back.  A query whose batches nobody takes ends with EBQL_FAILED and the tag not-taken, when
 * 65,536 of them, or 16 million values, are waiting.
 */
EBQL_API int ebql_next(struct ebql_query *query, int timeout_ms, struct ArrowArray *ret_batch);
/*
 * The same as an Arrow stream, whose get_next() waits.  It borrows the query, which must stay open
 * and in use by that thread until the stream is released; releasing it ends nothing.  Errors are
 * EINVAL (refused, misuse), EIO, ENOMEM, and EINTR behind ebql_interrupt() or on_signal, which is
 * to be called again: nothing is lost; get_last_error() is what ebql_message() says, or of a status
 * alone ebql_status_text(), or that it was interrupted.  EBQL_OK or EBQL_MISUSE.
 */
EBQL_API int ebql_stream(struct ebql_query *query, struct ArrowArrayStream *ret_stream);
/*
 * Ends it now: what was counted up to this instant is the last batch, exactly, which ebql_next() or
 * the call-back is given as any other.  EBQL_OK, also where it has ended, or what ended it
 * otherwise, as ebql_next().  Its programs are detached, which takes some ms, or 85 for each hook
 * of a perf tracepoint.
 */
EBQL_API int ebql_stop(struct ebql_query *query);
/*
 * Ends it, if it runs, without a last batch, and forgets what it was told and gave: it can be bound
 * and run again.  Values stay bound.  EBQL_OK, EBQL_NO_MEMORY, EBQL_MISUSE.
 */
EBQL_API int ebql_reset(struct ebql_query *query);
/* The same, and frees it.  NULL is nothing.  Not within a call-back. */
EBQL_API void ebql_query_close(struct ebql_query *query);

/* --- What is known of batches and runs --- */

/* Why something that happened was not counted; places in `lost`. */
enum ebql_loss {
	EBQL_LOSS_MISSED,     /* the kernel skipped the program */
	EBQL_LOSS_TABLE_FULL, /* events of groups that found no room: summed in the (other) row */
	EBQL_LOSS_RING_FULL,  /* rows that found no room in the ring buffer */
	EBQL_LOSS_EVICTED,    /* values that a sketch gave up */
	EBQL_LOSS_UNPAIRED,   /* events without a partner; the kinds of it are below */
	EBQL_LOSS_NEGATIVE,   /* differences below zero */
	EBQL_LOSS_FAULT,      /* expressions that became NULL: failed read, x / 0, overflow */
	EBQL_LOSS_NEVER_STARTED, /* of EBQL_LOSS_UNPAIRED: an end whose start was not seen */
	EBQL_LOSS_NEVER_ENDED,	 /* starts that still waited when the run ended */
	EBQL_LOSS_OVERWRITTEN,	 /* a start that another one of the same thread replaced */
	EBQL_LOSS_EXPIRED,	 /* a start older than WITHIN when its end came */
	EBQL_LOSS_FULL,		 /* starts that found no room */
	EBQL_LOSS_BEGAN_BEFORE,	 /* an end that began before the run */
	EBQL_LOSS_OVER_BUDGET,	 /* events that max_cpu left no time for */
	EBQL_LOSS_N,
	EBQL_LOSS_MAX = 16 /* room for those to come */
};

/* "missed", ..., as the formats of the program write them; NULL: there is none.  For ever. */
EBQL_API const char *ebql_loss_name(unsigned int loss);

struct ebql_batch {
	size_t size; /* sizeof(struct ebql_batch) */
	uint64_t rows;
	int64_t other_row; /* the "(other)" row, where groups without room are summed; -1: none */
	/* CLOCK_REALTIME; without a window those of the run so far; both 0: there was no row. */
	uint64_t window_start_ns, window_end_ns;
	uint64_t late_ns; /* behind its time, where that is more than 1 % of the window */
	uint64_t merged;  /* windows that are given as one, since it ended so late; 0: it is one */
	uint64_t events, matched; /* before and behind WHERE */
	uint64_t lost[EBQL_LOSS_MAX];
	int32_t is_windowed, is_last;
	int32_t is_partial; /* shorter than asked: the run began within the window, or ended */
	/* max_cpu: events of one in so many threads were taken at its end, and in some of the time
	 * before of one in `sampled_before`: the most, or, where that is `sampled`, the least; 0:
	 * there is no limit. */
	uint32_t sampled, sampled_before;
	int32_t is_over_budget; /* the last one: max_cpu ended the run */
};

struct ebql_stats {
	size_t size;		  /* sizeof(struct ebql_stats) */
	uint64_t batches, rows;	  /* given */
	uint64_t events, matched; /* of the whole run, up to the last window that ended */
	uint64_t lost[EBQL_LOSS_MAX];
	uint64_t compile_ns, verify_ns, attach_ns;
	/* In the kernel, as they were when it began to run, for it and those that it shares with.
	 */
	uint64_t programs, instructions;
	int32_t is_over;
	int32_t is_partial; /* files: stopped before all their rows were read */
	/* The queries of a session share programs by segments: its own, from 1, and how many
	 * queries are there now (or were, when it ended).  0: it has programs of its own, or none.
	 */
	uint32_t segment, segment_queries;
	uint32_t counted_with; /* others of these, which count the same: once for all */
};

/* Of the batch that ebql_next() or the stream gave last, or that the call-back has.  EBQL_OK, or
 * EBQL_MISUSE: there was none. */
EBQL_API int ebql_batch(const struct ebql_query *query, struct ebql_batch *ret_batch);
/* Of the run so far, or of the run that ended.  EBQL_OK or EBQL_MISUSE. */
EBQL_API int ebql_stats(struct ebql_query *query, struct ebql_stats *ret_stats);

/* --- Errors and warnings --- */

enum ebql_severity {
	EBQL_ERROR,   /* the text, or a value, is wrong */
	EBQL_WARNING, /* it runs all the same */
	EBQL_FAILURE  /* the text is not to blame */
};

struct ebql_diagnostic {
	size_t size;	       /* sizeof(struct ebql_diagnostic) */
	const char *tag;       /* stable, as in docs/diagnostics.md: "unknown-column" */
	const char *message;   /* one sentence */
	const char *hint;      /* what to do; NULL: none */
	int32_t severity;      /* enum ebql_severity */
	uint32_t line, column; /* from 1, columns in characters; 0: it has no place in the text */
	uint32_t start, end;   /* the same in bytes of the text: [start, end) */
};

/*
 * Error or warning number i, of the preparation and of the run.  EBQL_OK, EBQL_END: there are no
 * more, EBQL_MISUSE.  The texts live until ebql_reset() or the query is closed.
 */
EBQL_API int ebql_diagnostic(const struct ebql_query *query, unsigned int i,
			     struct ebql_diagnostic *ret_diagnostic);
/*
 * All of them, as the program prints them, with their lines of the text; "" where there are none.
 * Lives until the next call of this function, ebql_reset(), or the query is closed.
 */
EBQL_API const char *ebql_message(struct ebql_query *query);

#ifdef __cplusplus
}
#endif

#endif
