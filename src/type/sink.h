/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where batches go: what an engine writes to.  A host gives its own, or struct out_file
 * (out/out.h), which writes them to a descriptor in one of the formats.
 */
#ifndef EBQL_TYPE_SINK_H
#define EBQL_TYPE_SINK_H

#include "type/type.h"

/* Each returns 0 or -errno, which ends the query.  All but `batch` may be NULL. */
struct sink {
	/* Before the first batch: the columns of all, which stay until `close`. */
	int (*schema)(void *context, const struct schema *schema);
	/* A batch and its values stay until it returns. */
	int (*batch)(void *context, const struct batch *batch);
	/* Every 10 ms or so while rows stream: what waits to be written may be due. */
	int (*idle)(void *context);
	/* Once where `schema` was called: nothing comes any more.  error: what ended the query. */
	int (*close)(void *context, int error);
	void *context;
};

#endif
