/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random queries over random events, run in every way there is: by the kernel's programs,
 * with pushdown off, on a recording, and by SQLite alone, which gets a text that the
 * generator writes itself.  A query is a tree of phrases, which prints as each of them.
 */
#ifndef EBQL_TESTS_RANDOM_H
#define EBQL_TESTS_RANDOM_H

#include "file/file.h"
#include "phys/phys.h"
#include "../replay/replay.h"

/* --- Phrases (phrase.c) --- */

/* What a query is to have now and then: each run of some length must have had each of them. */
#define TRAITS                                                                                     \
	TRAIT(BITS, "bit_or, bit_and, bit_xor")                                                    \
	TRAIT(BRANCH, "branches")                                                                  \
	TRAIT(MIXED_BRANCH, "branches of mixed types")                                             \
	TRAIT(GUARD, "guards")                                                                     \
	TRAIT(FILTER, "FILTER")                                                                    \
	TRAIT(QUANTILE, "quantiles")                                                               \
	TRAIT(STATISTIC, "histograms, sketches")                                                   \
	TRAIT(OVER, "OVER")                                                                        \
	TRAIT(FRAME, "OVER with a frame")                                                          \
	TRAIT(NAMED_WINDOW, "WINDOW w AS")                                                         \
	TRAIT(ROW_VALUE, "row values")                                                             \
	TRAIT(OVER_GROUPS, "OVER above groups")                                                    \
	TRAIT(RUNNING, "running sums")                                                             \
	TRAIT(SCALAR, "scalar sub-queries")                                                        \
	TRAIT(SCALAR_STATISTIC, "scalar sub-queries of quantiles")                                 \
	TRAIT(CORRELATED, "correlated sub-queries")                                                \
	TRAIT(IN_SELECT, "IN (SELECT)")                                                            \
	TRAIT(NESTED, "nested selects of events")                                                  \
	TRAIT(UNION_OF_STREAMS, "UNION ALL of streams")                                            \
	TRAIT(UNION_IN_FROM, "unions of aggregates in FROM")                                       \
	TRAIT(UNION_IN_WITH, "unions of aggregates in WITH")                                       \
	TRAIT(UNION_JOINED, "unions of aggregates as a side of a join")                            \
	TRAIT(WITH_TWICE, "WITH read twice")                                                       \
	TRAIT(PAIR, "PAIR JOIN")                                                                   \
	TRAIT(ASOF, "ASOF JOIN")                                                                   \
	TRAIT(LEFT_PAIR, "LEFT PAIR or ASOF JOIN")                                                 \
	TRAIT(WITHIN, "WITHIN")                                                                    \
	TRAIT(JOIN, "JOIN")                                                                        \
	TRAIT(LEFT_JOIN, "LEFT JOIN")                                                              \
	TRAIT(RIGHT_JOIN, "RIGHT JOIN")                                                            \
	TRAIT(FULL_JOIN, "FULL JOIN")                                                              \
	TRAIT(USING, "USING")                                                                      \
	TRAIT(GROUP_BY_ALIAS, "GROUP BY a name or number")                                         \
	TRAIT(HAVING, "HAVING")                                                                    \
	TRAIT(DISTINCT, "DISTINCT")                                                                \
	TRAIT(DOUBLED, "DISTINCT with a column twice")                                             \
	TRAIT(COMPOUND, "UNION, EXCEPT, INTERSECT")                                                \
	TRAIT(STAR, "SELECT *")                                                                    \
	TRAIT(ORDER, "ORDER BY")                                                                   \
	TRAIT(LIMIT, "LIMIT")                                                                      \
	TRAIT(TUMBLING, "TUMBLING")                                                                \
	TRAIT(HOPPING, "HOPPING")                                                                  \
	TRAIT(COUNT, "COUNT")                                                                      \
	TRAIT(SESSION, "SESSION")                                                                  \
	TRAIT(TIES, "events of one instant")                                                       \
	TRAIT(BIG, "numbers of 2^63 and more")                                                     \
	TRAIT(ELEMENT, "elements of arrays")                                                       \
	TRAIT(NAME, "names of numbers")                                                            \
	TRAIT(TEXT_BEHIND, "texts behind addresses")                                               \
	TRAIT(FAULTS, "faults")

enum trait {
	TRAIT_NONE,
#define TRAIT(name, text) TRAIT_##name,
	TRAITS
#undef TRAIT
		TRAIT_N
};

extern const char *const trait_names[TRAIT_N];

enum phrase_class {
	PHRASE_INTEGER,
	PHRASE_TEXT,
	PHRASE_REAL,
	PHRASE_FIXED, /* clauses, members of FROM, selects: stays as it is */
	PHRASE_LIST,  /* the args, with `ebql` between them; one at least stays */
};

/*
 * Templates: $0 .. $9 are the args, $!0 .. the same, of all rows and not those of the window.
 * $E and $O are the two streams, or their recordings.  SQLite: $W is " WHERE <in the
 * window>" or nothing.
 */
struct phrase {
	enum phrase_class class;
	const char *ebql, *sqlite; /* sqlite NULL: the same */
	struct phrase **args;
	u32 n_args;
	bool is_optional; /* may be left out: "" */
	bool is_gone;
	u64 traits;  /* bits: those that it alone makes */
	u32 tag;     /* an item and what sorts by it are dropped together; 0: none */
	s128 lo, hi; /* INTEGER: every value lies here */
	bool is_nullable, may_fault;
};

enum phrase_dialect { PHRASE_STREAMS, PHRASE_FILES, PHRASE_SQLITE };

struct phrase_print {
	enum phrase_dialect dialect;
	const char *event, *other; /* STREAMS, FILES: what $E and $O are */
	bool is_all;		   /* SQLITE: $W is nothing */
};

struct phrase *phrase_new(struct arena *arena, enum phrase_class class, const char *ebql,
			  u32 n_args, ...);
void phrase_list_add(struct arena *arena, struct phrase *list, struct phrase *arg);
void phrase_print(const struct phrase *phrase, const struct phrase_print *how, struct buf *out);
/* Says that it has the trait; gives it back. */
struct phrase *phrase_mark(struct phrase *phrase, enum trait trait);
/* Of all of it that is printed. */
u64 phrase_traits(const struct phrase *phrase);
/* Replaces parts of the tree by less, in place, while fails() says that it still fails. */
void phrase_shrink(struct phrase *root, struct arena *arena, bool (*fails)(void *context),
		   void *context);

/* --- Rows (rows.c) --- */

struct rows {
	struct arena *arena;
	struct dataset data; /* in the order of their times */
	bool has_ties; /* some times are the same: then those of the other stream come first */
	bool is_big;   /* f_u64 goes beyond 2^63, where SQLite does not follow */
	const char *files[FILE_KIND_N][2]; /* recordings of both streams; NULL: not written yet */
	sqlite3 *db;			   /* tables ev and ot; NULL: not made yet */
};

void rows_random(struct rows *rows, struct arena *arena, u64 seed);
/* The paths of the recordings; written when first asked for. */
const char *const *rows_files(struct rows *rows, enum file_kind kind);
sqlite3 *rows_db(struct rows *rows);
/* Copies all but some events. */
void rows_without(const struct rows *rows, u32 first, u32 n, struct rows *ret_rows);
void rows_close(struct rows *rows);

/* --- Queries (generate*.c) --- */

struct oracle_query {
	struct phrase *text;
	/* SQLite's selects of the times of all rows that a COUNT window counts. */
	struct phrase *times;
	enum window_shape {
		SHAPE_NONE,
		SHAPE_TUMBLING,
		SHAPE_HOPPING,
		SHAPE_COUNT,
		SHAPE_SESSION
	} shape;
	u64 size, advance;
	bool is_ordered; /* the order is total, but for equal rows */
	bool has_reference;
	bool has_own_names; /* some column has no AS: SQLite calls it otherwise */
	bool has_statistic; /* the value of a nested select is one */
	bool may_fault;	    /* else there is no fault in any way */
	bool spares_faults; /* x op y: x may be NULL, and y may fault */
	bool is_wide;	    /* numbers of 2^63 and more may come of smaller ones */
	bool counts_faults; /* of all faults the number is told: see EXEMPT_FAULTS */
};

void oracle_query_random(struct oracle_query *query, const struct rows *rows, struct arena *arena,
			 struct rng *rng);

/* --- Windows (reference.c) --- */

struct span_ns {
	u64 from, to; /* [from, to) */
};

/* Numbered by what is the same in every way: the multiple of the advance that they end at. */
struct windows {
	struct span_ns *at;
	u64 *numbers;
	u32 n;
};

/* Those that rows of these times give; they are in order. */
void windows_of(const struct oracle_query *query, struct rows *rows, struct arena *arena,
		struct windows *ret_windows);

/* --- The ways (ways.c, reference.c) --- */

enum way { WAY_KERNEL, WAY_USER, WAY_FILE, WAY_SQLITE };

struct way_options {
	enum way way;
	const char *rules_off;
	enum file_kind file;
	bool is_off; /* FILE: pushdown = off as well */
	/* KERNEL */
	const char *state; /* NULL: auto */
	bool is_old_kernel;
	u32 n_panes;
	const struct crowd *crowd; /* it runs with the others of it, and is: */
	u32 member;
};

/* So many random queries a run has, unless told otherwise, and so many failures end it. */
enum { ORACLE_QUERIES = 400, ORACLE_FAILURES_MAX = 5 };

/* So many run together; of test_oracle's there are so many over the same rows. */
enum { CROWD = 14, QUERIES_OF_ROWS = 6 };

struct crowd {
	struct oracle_query *queries[CROWD];
	struct way_options ways[CROWD];
};

/* What two answers are compared by, in this order. */
enum aspect {
	ASPECT_STATUS, /* the exit status, and the diagnostic where there are no rows */
	ASPECT_NAMES,  /* of the columns */
	ASPECT_TYPES,
	ASPECT_ROWS,	/* the values */
	ASPECT_PRINTED, /* each row as csv, json and table show it */
	ASPECT_COUNTS,	/* events, and those that passed WHERE */
	ASPECT_LOSSES,	/* by cause */
	ASPECT_N
};

extern const char *const aspect_names[ASPECT_N];

struct window_account {
	u64 number;
	struct account account;
};

/* The first column of a result is the number of its window, the last are the printed forms. */
struct answer {
	struct result result;
	struct schema schema; /* of the columns between; SQLite: names alone */
	u32 n_parts;	      /* of the query, in this way */
	u32 n_parts_beside;   /* in its programs, with those of others */
	u32 n_sources;	      /* of events, that its programs read; 0: user space reads a file */
	u32 status;	      /* as the command exits: 0, 3 (losses); else see error */
	const char *error;    /* NULL: it has rows */
	const char *summary;  /* of error: the tag and the message, with $E and $O */
	bool is_limited;      /* starts of a join gave way: which, hangs on the kernel's table */
	u64 n_expired; /* starts; those that gave way when they were too old are among them */
	/* Recordings have the windows from their first row's to their last row's. */
	bool has_bounds;
	u64 first_window, last_window;
	struct window_account *accounts;
	u32 n_accounts;
};

/* --- Answers (answer.c) --- */

/* Prints rows one by one, each as it is alone. */
struct printer;
struct printer *printer_open(const struct schema *schema, struct arena *arena);
/* One text for each format; they live in the arena. */
enum { PRINTED_N = 3 };
void printer_row(struct printer *printer, const struct value *row, struct value *ret_texts);
void printer_close(struct printer *printer);

/*
 * Where a difference is right, and why, or is known and not mended yet (then EBQL_STRICT
 * reports it).  Each is as narrow as can be, and how often it was used is printed.
 */
struct exemption {
	const char *name, *reason;
	bool is_known;
	u64 n_used;
};

extern struct exemption exemptions[];
extern const u32 n_exemptions;

/*
 * The first aspect that differs, ASPECT_N: none.  Both results are sorted, and cut to the
 * windows that both have.
 */
enum aspect answers_differ(const struct oracle_query *query, const struct way_options *a_way,
			   const struct answer *a, const struct way_options *b_way,
			   const struct answer *b, struct arena *arena);
void answer_print(const struct answer *answer, struct buf *out);
/* As the command exits after its losses. */
u32 answer_status(const struct result *result);

void way_run(struct replayer *engine, const struct oracle_query *query, struct rows *rows,
	     const struct way_options *options, const struct windows *windows, struct arena *arena,
	     struct answer *ret_answer);
/* The answers of all, which run at once. */
void crowd_run(struct replayer *engine, const struct crowd *crowd, struct rows *rows,
	       struct arena *arena, struct answer ret_answers[CROWD]);
void reference_answer(const struct oracle_query *query, struct rows *rows,
		      const struct windows *windows, struct arena *arena,
		      struct answer *ret_answer);
void reference_functions(sqlite3 *db);

/* --- All ways of a query (compare.c) --- */

enum { TAGS_MAX = 40 };

struct totals {
	u32 n_queries, n_refused, n_limited, n_with_rows, n_runs, n_reference;
	u32 n_beside;	       /* runs with CROWD - 1 others, */
	u32 n_shared;	       /* of which so many in programs of more than 8 parts */
	u32 n_traits[TRAIT_N]; /* of queries that have rows */
	const char *type;      /* of the last query's first column; "-": it was refused */
	struct {
		char tag[40];
		u32 n;
		char example[300];
	} tags[TAGS_MAX];
};

extern struct replayer *oracle_engine;
/* false after a report: two ways differ.  seed (0: it is not random) and number say how to run it
 * again. */
bool oracle_check(struct oracle_query *query, struct rows *rows, u64 seed, u32 number,
		  struct totals *totals);
/*
 * The same of up to CROWD queries of the same rows, of which the first has that number, each alone
 * and beside others.
 */
bool oracle_check_crowd(struct oracle_query *queries, u32 n, struct rows *rows, u64 seed,
			u32 number, struct totals *totals);
/*
 * Of n queries of the same rows the first n_alone one after the other, and then all beside each
 * other; how many are false.
 */
u32 oracle_check_all(struct oracle_query *queries, u32 n_alone, u32 n, struct rows *rows, u64 seed,
		     u32 number, struct totals *totals);
void totals_print(const struct totals *totals, u64 start_ns, u32 n_failures);

/* --- Every function with every type (functions.c), and those written by hand (fixed.c) --- */

u32 functions_n(void);
void functions_query(u32 number, struct oracle_query *query, struct arena *arena);
/*
 * The type of each (NULL: not asked) against the file of them, which was read against the
 * manual's rules: all ways may be wrong in the same way.  How many differ; EBQL_UPDATE writes it.
 */
u32 functions_check_types(const char *const *types);
u32 fixed_n(void);
void fixed_query(u32 number, struct oracle_query *query, struct arena *arena);

#endif
