/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Standing queries: files and directories of them -> what each gives, until the process is told to
 * end; or what those of another such process do.
 */
#ifndef EBQL_WATCH_WATCH_H
#define EBQL_WATCH_WATCH_H

#include "host/host.h"
#include "out/out.h"

struct watch_options {
	char **words;			 /* files and directories; NULL ends them */
	const char *socket;		 /* of the status; NULL: the usual place */
	const struct out_format *format; /* of queries whose text says none */
	struct host_options host;
	u64 every_ns;	/* of queries without a window; 0: at their ends */
	int target_pid; /* -1: none */
	u32 bins;	/* a number or OUT_BINS_*; 0: all cells */
	bool is_ascii, has_window_columns;
	bool is_fixed;		  /* the queries stay those of the beginning */
	bool allows_payload;	  /* columns that may carry memory of user programs */
	bool is_status, has_json; /* the status alone is shown; as JSON */
};

/* The process' exit status: 0 done, 1 failed, 3 losses may bias what a query gave. */
int watch_run(const struct watch_options *options);

#endif
