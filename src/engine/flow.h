/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The parts of a cut -> batches: collects each part's rows of a window and runs the
 * cut's SQL over them.  What run.h is for a query that one kernel part answers, this is
 * for all others.
 */
#ifndef EBQL_ENGINE_FLOW_H
#define EBQL_ENGINE_FLOW_H

#include "cut/cut.h"
#include "engine/engine.h"

struct flow;

/*
 * Batches.  A window of time has the events and losses of its time.  Where rows end the
 * windows (COUNT, SESSION), every window is a batch; of its `events`, `matched` are its rows;
 * what WHERE dropped, rows that lie between two windows, and losses are counted once, in the
 * first batch that is given after they were seen.  So `events` of all batches add up to the
 * events of the run, but for rows that windows share, which each of them counts.
 */

/*
 * loads[i], opened and not attached, belongs to parts[i]; NULL: it has no kernel part.
 * NULL after a diagnostic.  The sink's batches have cut->output as their schema.
 */
struct flow *flow_open(const struct cut *cut, struct load *const *loads,
		       const struct run_options *options, const struct run_sink *sink,
		       const struct settings *settings, struct arena *arena, struct diags *diags);
/*
 * As run_loop().  A cut whose rows all come from files ends with the files, at full
 * speed; their windows are those of the rows' times.
 */
int flow_loop(struct flow *flow, struct diags *diags, struct run_result *ret_result);
void flow_close(struct flow *flow);

/* Tests: what the replayed events gave, as one window over everything so far. */
int flow_drain_once(struct flow *flow, bool is_last);

#endif
