/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whose events they were: counts by stream, thread's name, process and system call -> the one of
 * each kind that has the most of a stream.
 */
#include "cli/survey.h"

#include <stdlib.h>
#include <string.h>

/* Those of one stream and one name, process or call are together. */
static int compare_keys(const struct who *a, const struct who *b, enum who_kind kind)
{
	switch (kind) {
	case WHO_COMM:
		return strcmp(a->comm, b->comm);
	case WHO_PID:
		return (a->pid > b->pid) - (a->pid < b->pid);
	case WHO_CALL:
		return (a->call > b->call) - (a->call < b->call);
	case WHO_N:
		break;
	}
	return 0;
}

static enum who_kind sorted_by;

static int compare(const void *a, const void *b)
{
	const struct who *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return compare_keys(x, y, sorted_by);
}

void who_find(struct who *rows, u32 n_rows, enum who_kind kind, struct who *most)
{
	u64 n = 0;

	sorted_by = kind;
	if (!n_rows)
		return;
	qsort(rows, n_rows, sizeof(*rows), compare);
	for (u32 i = 0; i < n_rows; i++) {
		struct who *its = &most[rows[i].stream];

		n += rows[i].n;
		if (i + 1 < n_rows && !compare(&rows[i], &rows[i + 1]))
			continue;
		if (n > its->n) {
			*its = rows[i];
			its->n = n;
		}
		n = 0;
	}
}
