/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a run cost, and what each operator did in it: EXPLAIN ANALYZE and --stats.
 */
#ifndef EBQL_CLI_ANALYZE_H
#define EBQL_CLI_ANALYZE_H

#include "query/query.h"

struct analysis {
	bool is_on;
	int run_time_fd;      /* while it is open the kernel measures; -1: it does not */
	u64 start_ns, cpu_ns; /* first when all was attached, then how much it was since */
	u64 empty_run_ns;     /* load_empty_run_ns(); 0: the kernel does not measure */
	u64 n_rows, n_batches;
	const struct programs *programs; /* NULL: there are none; closed by now */
	struct load_runs *runs;		 /* by program */
	struct flow_figures figures;
	struct account account; /* of the run */
};

/* CPU time of all threads so far. */
u64 process_cpu_ns(void);
/* Before the query is started; with a warning, no-run-time, where the kernel does not measure. */
void analysis_open(struct analysis *analysis, struct query *query);
/* The programs are attached. */
void analysis_start(struct analysis *analysis);
void analysis_count(struct analysis *analysis, const struct batch *batch);
/* The query's flow is over, and not closed: takes all figures. */
void analysis_end(struct analysis *analysis, struct query *query);
void analysis_print(const struct analysis *analysis, const struct query *query, bool is_json,
		    struct buf *out);

#endif
