/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the files of api/ share: the handles of ebql.h.
 */
#ifndef EBQL_API_INTERNAL_H
#define EBQL_API_INTERNAL_H

#include <ebql.h>

#include "query/query.h"

#define QUEUE_BATCHES_MAX 65536u
#define QUEUE_VALUES_MAX  (16u << 20)

struct ebql_session {
	struct engine *engine;
	struct keep keep;
	struct ebql_query *queries;
	struct cancel cancel;
	int wake_fd;
	bool is_busy; /* a call-back runs */
};

enum query_state {
	QUERY_READY,	/* it can be bound */
	QUERY_COMPILED, /* its columns are known */
	QUERY_RUNNING,
	QUERY_OVER,   /* `end` says how */
	QUERY_BROKEN, /* refused before it ran, for the reason `end` */
};

/* Batches that wait to be taken, the oldest first. */
struct waiting {
	struct waiting *next;
	struct ArrowArray array;
	struct ebql_batch info;
	u64 n_values;
};

struct ebql_query {
	struct ebql_session *session;
	struct ebql_query *next; /* of the session */
	struct query query;
	char *text;
	size_t text_bytes;
	struct sql_parameters parameters; /* in bindings, but for their texts */
	struct arena bindings;
	enum query_state state;
	int end;      /* enum ebql_status */
	int streamed; /* the same, of the latest call of its stream */
	struct ebql_options options;
	struct waiting *first, **last;
	u64 n_waiting, n_values;
	struct batch shown; /* of EXPLAIN and its like; without a schema: it is another text */
	/* What the sink says of the end beside its error. */
	bool is_enough, is_lossy;
	struct ebql_batch info;	 /* of the latest batch that was given; size 0: none was */
	struct ebql_stats stats; /* what does not change while it runs, and the end's account */
	struct buf message;
};

/* run.c: all that the flow has to say after a step. */
void api_settle(struct ebql_session *session);
/* As ebql_session_step(), which ends at an ebql_interrupt() from before, too. */
int api_step(struct ebql_session *session);
/* Ends it, if it runs, and what it gave; its text and its values stay. */
void api_clear(struct ebql_query *query);

/* batch.c: where the flow of a query writes to, and the oldest batch of those that wait there. */
struct sink api_sink(struct ebql_query *query);
bool api_give_waiting(struct ebql_query *query, struct ArrowArray *ret_batch);
void api_drop_waiting(struct ebql_query *query);

/* account.c */
void api_account(const struct account *account, u64 *ret_events, u64 *ret_matched,
		 u64 ret_lost[EBQL_LOSS_MAX]);
/* The size of a structure whose last member that is. */
#define UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))
/*
 * Into a structure of the caller's, as much as it has room for.  EBQL_OK, or EBQL_MISUSE: it is
 * smaller than the structure was when it was first released, which stays as it is.
 */
int api_give(const void *from, size_t bytes, size_t first_bytes, void *ret_to);

#endif
