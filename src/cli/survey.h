/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Of ebql survey: whose events they were.
 */
#ifndef EBQL_CLI_SURVEY_H
#define EBQL_CLI_SURVEY_H

#include "base/base.h"

enum who_kind { WHO_COMM, WHO_PID, WHO_CALL, WHO_N };

/* So many events of a stream had all of these. */
struct who {
	u32 stream;
	char comm[17];
	s64 pid, call; /* call: its number; -1: the stream is not of all calls */
	u64 n;
};

/*
 * Sorts the rows.  most[stream], which begins as 0: of the key of that kind that has the most
 * events of it, all of them; of the other keys any.
 */
void who_find(struct who *rows, u32 n_rows, enum who_kind kind, struct who *most);

#endif
