/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query in an engine under the host of the command line.
 */
#ifndef EBQL_TESTS_ENGINE_HOSTED_H
#define EBQL_TESTS_ENGINE_HOSTED_H

#include "host/host.h"

struct hosted {
	struct host_options options;
	struct flow_input input;
	u64 max_bytes; /* of rows that are kept; 0: as ever */
	struct flow_result result;
	int child_status;
};

/* 0 or -errno: that of engine_add(), or what ended it. */
int hosted_run(struct hosted *hosted);

#endif
