/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Replay tests: queries over recorded events must give what SQLite, a model or a hand has
 * worked out from the same rows.  An event is written twice: as the bytes a program gets
 * (struct replay_header, then the record of tracepoint:test:event) and as a row of
 * the SQLite table t.
 */
#ifndef EBQL_TESTS_REPLAY_H
#define EBQL_TESTS_REPLAY_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/vec.h"
#include "type/type.h"

#define REPLAY_STREAM "tracepoint:test:event"

/* --- Random numbers: splitmix64, so that a seed means the same everywhere --- */

struct rng {
	u64 state;
};

u64 rng_next(struct rng *rng);
/* 0 .. n - 1 */
u32 rng_below(struct rng *rng, u32 n);
s64 rng_range(struct rng *rng, s64 low, s64 high);
bool rng_percent(struct rng *rng, u32 percent);

/* EBQL_SEED and its like: the variable's number, or that. */
u64 env_number(const char *name, u64 otherwise);

/* --- Events (events.c) --- */

enum replay_column {
	C_U8,
	C_S8,
	C_U16,
	C_S16,
	C_U32,
	C_S32,
	C_U64,
	C_S64,
	C_BOOL,
	C_NAME,
	C_PATH,
	C_DL,
	C_PTR,
	C_TIME,
	C_PID,
	C_TID,
	C_PPID,
	C_UID,
	C_GID,
	C_COMM,
	C_CPU,
	C_CGROUP,
	C_NUMA_NODE,
	C_PROBE,
	C_N
};

struct column_info {
	const char *name;
	bool is_text;
	bool is_header;	      /* offset_bytes in struct replay_header, else in the record */
	bool is_compare_only; /* a pointer or an instant: no arithmetic */
	bool is_signed;
	u32 offset_bytes, size_bytes;
	s64 min, max; /* of random events: u64 columns stay below 2^63 */
};

extern const struct column_info column_infos[C_N];

/* Events say they were on CPUs 0 .. replay_cpus - 1; fewer where the machine has fewer. */
#define REPLAY_CPUS 2
extern u32 replay_cpus;

enum event_stream { STREAM_EVENT, STREAM_OTHER }; /* tracepoint:test:event, :other */

struct event {
	u8 stream; /* enum event_stream */
	s128 integers[C_N];
	const char *texts[C_N]; /* without NUL inside */
	u32 text_bytes[C_N];
	u8 *context;
	u32 context_bytes;
};

struct dataset {
	const char *name;
	struct arena *arena;
	struct event *events;
	u32 n_events;
	/* What the rows hold: literals near it hit often, ranges keep expressions in 64 bits. */
	s128 lo[C_N], hi[C_N];
};

#define N_DATASETS 8

void dataset_random(struct dataset *dataset, struct arena *arena, u32 which, u64 seed);
/* An event with every column 0 or empty; set integers and texts, then event_encode(). */
void event_init(struct event *event);
void event_encode(struct event *event, struct arena *arena, struct rng *garbage);
void dataset_measure(struct dataset *dataset);

/* --- Results (result.c) and the reference (reference.c) --- */

struct result {
	u32 n_columns, n_rows;
	struct value *values;
	s64 other_row; /* -1: none */
	bool has_counters;
	u64 events, matched;
	u64 lost[LOSS_N], unpaired[UNPAIRED_N];
};

int value_compare(const struct value *a, const struct value *b);
void value_print(const struct value *value, struct buf *out);
/* Rows in ascending order of their values; the (other) row is kept track of. */
void result_sort(struct result *result);
bool result_equal(const struct result *a, const struct result *b);
void result_print(const struct result *result, struct buf *out);
/* Appends one row; values are copied with their texts. */
void result_add_row(struct result *result, struct arena *arena, const struct value *values);

/* A table of events: their columns, then `seq`, their numbers; stream -1: of both. */
void reference_table(sqlite3 *db, const char *table);
void reference_fill(sqlite3 *db, const char *table, const struct event *events, u32 n_events,
		    s32 stream);
/* As ebql has it; a text lives as long as the row. */
struct value reference_value(sqlite3_stmt *statement, u32 column);
/* A database with ebql's functions and a table t. */
sqlite3 *reference_open(void);
/* Makes the table t hold these rows. */
void reference_load(sqlite3 *db, const struct event *events, u32 n_events);
/* False, with the message in *ret_error, when SQLite refuses the text. */
bool reference_run(sqlite3 *db, const char *sql, struct arena *arena, struct result *ret_result,
		   const char **ret_error);

/* --- The engine under test (engine.c) --- */

/* Where the operators run: in the kernel, or (pushdown = off) in user space over all events. */
enum engine_rows { ROWS_OF_KERNEL, ROWS_OF_RAW_SCANS };

struct engine_options {
	const char *rules_off;	/* NULL or "": every rule on */
	const char *state;	/* NULL or "auto", "table", "kernel_map" */
	u64 max_groups;		/* 0: the default of these tests */
	u64 max_in_flight;	/* 0: the smallest */
	bool is_old_kernel;	/* generate for a kernel without signed division (< 6.6) */
	bool is_files;		/* the query reads recordings alone: no event is replayed */
	const u32 *window_ends; /* ascending: a window ends before the event of that number */
	u32 n_window_ends;
	/* 0, or aggregates are those of a hopping window which has so many panes. */
	u32 n_panes;
	/* Or the query has such a window, of the events' own times; 0: not. */
	u64 hop_size_ns, hop_advance_ns;
	/* Each may be NULL.  The output and the number of parts, before the first batch; */
	void (*opened)(void *context, const struct schema *output, u32 n_parts);
	/* every batch (NULL: its rows go into the result); and what refused, and why. */
	void (*batch)(void *context, const struct batch *batch);
	void (*failed)(void *context, const char *step, const struct diags *diags);
	void *context;
	enum engine_rows rows;
};

struct replayer;

/* Skips the test where this machine does not let us load programs. */
struct replayer *replayer_open(struct arena *arena);
/*
 * Text -> result over these events, through every stage.  False, with the
 * diagnostics or the failing step in *ret_error, when some stage refuses.
 */
bool replayer_run(struct replayer *engine, const char *sql, const struct engine_options *options,
		  const struct event *events, u32 n_events, struct arena *arena,
		  struct result *ret_result, const char **ret_error);

struct replay_query {
	const char *sql;
	struct engine_options options;
	struct result result;
	const char *error;  /* as *ret_error; NULL: it has a result */
	u32 n_parts_beside; /* in its programs, its own among them */
	u32 n_sharing;	    /* of its parts, those whose starts are in one table with others' */
	u32 n_sources;	    /* of events, that its programs read */
};

/*
 * The same for queries that run together: they share programs, as those of one engine do, and each
 * has its own windows and its own answer.  One that is refused leaves the others alone.
 */
void replayer_run_all(struct replayer *engine, struct replay_query *queries, u32 n,
		      const struct event *events, u32 n_events, struct arena *arena);
/* These return how many queries were wrong; the first few are in the report. */
u32 overflow_check(struct replayer *engine, u64 seed, struct buf *report);
u32 other_check(struct replayer *engine, u64 seed, struct buf *report);

/* --- Cases worked out by hand (cases.c, cases.sql) --- */

struct case_file {
	VEC(struct replay_case {
		const char *name;
		u32 line;
		const char *sql;
		VEC(struct event) events;
		struct result expected; /* rows and lost */
		bool faults_checked;	/* the case says how many */
		bool has_others;	/* events of tracepoint:test:other, which few read */
		bool is_ordered;
		const char *reason;  /* why SQLite gives something else; NULL: it must not */
		const char *refused; /* the tag of the diagnostic that comes instead of rows */
		u64 max_groups;	     /* 0: the default of these tests */
	})
	cases;
};

/* Aborts the test with file and line when the file is malformed. */
struct case_file *case_file_read(const char *path, struct arena *arena);

#endif
