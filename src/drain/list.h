/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's list as an iterator's program hands it out -> rows of values.
 */
#ifndef EBQL_DRAIN_LIST_H
#define EBQL_DRAIN_LIST_H

#include "base/region.h"
#include "load/load.h"
#include "type/type.h"

/* The program is attached: its link is there. */
struct list_reader {
	const struct load_hooks *hooks;
	int fd;			     /* of the walk under way, or -1 */
	struct region bytes, values; /* what was read; one row */
	size_t n_bytes, at;	     /* of `bytes`, and up to where rows were taken */
	/* Of the latest walk, when it is over. */
	u64 n_objects, n_faults; /* visited; counted by conditions */
};

void list_open(struct list_reader *reader, const struct load_hooks *hooks);
/* Begins a walk from the list's start.  0 or -errno. */
int list_begin(struct list_reader *reader);
/* 1: *ret_row has a value for each of the projection's items, until the next call; 0: that was the
 * last one; -errno. */
int list_next(struct list_reader *reader, const struct value **ret_row);
void list_close(struct list_reader *reader);

#endif
