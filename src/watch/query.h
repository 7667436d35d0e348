/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query of ebql watch: the text of a file -> a query that runs, with an output of its own, and
 * what is known of it.
 */
#ifndef EBQL_WATCH_QUERY_H
#define EBQL_WATCH_QUERY_H

#include "query/query.h"
#include "watch/keep.h"
#include "watch/output.h"
#include "watch/row.h"
#include "watch/watch.h"

/* What tells one file's content from another's.  All 0: read it. */
struct watch_stamp {
	u64 device, inode, bytes;
	u64 changed_ns; /* CLOCK_REALTIME */
};

enum watch_state { WATCH_RUNS, WATCH_WAITS, WATCH_ENDED, WATCH_FAILED };

/* What it gave. */
struct watch_counts {
	u64 n_windows, n_rows; /* windows and snapshots */
	struct row_counts on_row;
	u64 n_unwritten; /* windows, or streamed rows, that its output had no room for */
	struct account account;
};

/* A text that was taken into the engine, until it is another. */
struct form {
	struct watch_query *of;
	struct query query;
	struct buf text;
	struct out_file out;
	const struct out_format *format;
	const char *path; /* of its output, in query.arena; NULL: standard output */
	struct buf shown; /* the same in messages */
	struct output *output;
	struct keep_ring *keep;	       /* what waits to be wanted; NULL: all is written */
	struct row_action *row_action; /* NULL: nothing is done with a row */
	struct watch_counts counts;
	struct host_options ends; /* n_windows: of its own, or of all */
	u64 n_counted;		  /* windows of these */
	u64 n_unwritten;	  /* that no batch has told yet */
	u64 start_ns;		  /* CLOCK_MONOTONIC */
	/* Of the status: when it last looked, and what programs and we had spent on it then. */
	u64 looked_ns, run_ns, computed_ns;
	bool is_ended_by_loss, is_nothing_kept; /* the latter was said */
};

struct watch_query {
	struct watch_query *next;
	struct watch_all *all;
	char *path;	  /* of the file */
	struct buf shown; /* the same in messages */
	const char *name;
	struct watch_stamp stamp; /* of the file that text was read from */
	enum watch_state state;
	struct buf text;    /* that was tried last */
	bool has_text;	    /* it could be read */
	enum trust trust;   /* in what its file says */
	bool is_wanted;	    /* what it keeps is to be written */
	struct buf problem; /* what is wrong with that text, or ended it; empty: nothing */
	struct form *form;  /* NULL: none runs */
	/*
	 * Of a query that has a schedule and runs or waits: the text that runs again when it opens,
	 * not before then; and when it opens or closes next (seconds of CLOCK_REALTIME; 0: never).
	 */
	struct schedule schedule;
	struct buf waiting;
	time_t not_before, change;
	const struct form *waits_for; /* another's, which has the output that this text asks for */
	struct watch_counts counts;   /* of the form that ended */
	u64 gone_ns; /* CLOCK_MONOTONIC: since when the file is not there; 0: it is */
	bool is_found;
};

struct watch_all {
	const struct watch_options *options;
	struct engine *engine;
	struct output *standard; /* output */
	const struct form *last; /* that wrote to it */
	struct watch_query *first;
	const struct cancel *cancel;
	u64 start_ns;		/* CLOCK_MONOTONIC */
	u64 looked_ns, used_us; /* of the status: when it last looked, and what we had computed */
	bool is_terminal, is_standard_gone;
	bool has_loss; /* some query had one that may bias its answer */
	bool is_due;   /* files may be other than they were, or wait for an output that was left */
};

/*
 * The text is that of the query's file now: it runs instead of what ran, unless something is wrong
 * with it, which is told: then that runs on.  One that failed is tried once more only if is_again.
 * Takes the text's memory.
 */
void watch_query_set(struct watch_query *w, struct buf *text, bool is_again);
/* The file cannot be read: what ran runs on. */
void watch_query_unread(struct watch_query *w, const char *why);
/* Has it a schedule, and runs or waits by it? */
static inline bool watch_query_is_scheduled(const struct watch_query *w)
{
	return w->waiting.n > 0;
}
/* Behind the steps of all: what it keeps is written, if one of them wants it. */
void watch_query_snapshot(struct watch_query *w);
/* What its schedule says now; with the rights to attach. */
void watch_query_tick(struct watch_query *w);
/* When it has run for as long as its text allows (CLOCK_MONOTONIC); 0: never. */
u64 watch_query_end_ns(const struct watch_query *w);
/* Must it be looked now and then whether it lost anything (on_loss = 'fail')? */
bool watch_query_is_peeked(const struct watch_query *w);
/* If it is over, what ended it is told; is_peeked: a loss ends it. */
void watch_query_step(struct watch_query *w, bool is_peeked);
/* Ends what runs, with its last window. */
void watch_query_end(struct watch_query *w);
/* "missed 3, unpaired 12", or "-" */
const char *watch_losses(struct arena *arena, const struct account *account);

#endif
