/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The SQL of a cut, prepared once: relations -> the rows of a batch.
 */
#ifndef EBQL_ENGINE_FLOW_SQL_H
#define EBQL_ENGINE_FLOW_SQL_H

#include "base/cancel.h"
#include "base/diag.h"
#include "cut/cut.h"
#include "func/func.h"
#include "base/region.h"
#include "rel/rel.h"
#include "base/scratch.h"

struct sqlite3_stmt;

struct flow_sql {
	const struct cut *cut;
	struct relation *relations;
	u32 n_computed; /* columns of the output that the statement yields */
	struct sqlite3 *db;
	struct sqlite3_stmt *statement;
	int start_parameter, end_parameter; /* 0: the text has none */
	struct func_context context;
	struct region values;	/* output rows */
	struct scratch scratch; /* what they point to */
};

/*
 * relations: one a part.  0, or -EINVAL and a diagnostic: user-part, SQLite's message.
 */
int flow_sql_open(struct flow_sql *sql, const struct cut *cut, struct relation *relations,
		  const struct cancel *cancel, struct diags *diags);
void flow_sql_close(struct flow_sql *sql);
/*
 * Runs it over the relations' rows: sets schema, n_rows, values and other_row of the
 * batch, and adds to its losses what the functions counted.  `batch` has its bounds and
 * losses.  At most `limit` rows.  They live until the next call.  0, or -errno and a
 * diagnostic: too-large, or as connect_refused() has it.
 */
int flow_sql_run(struct flow_sql *sql, u64 limit, struct diags *diags, struct batch *batch);

/* The same without SQL: each row of the first relation, by the cut's picks.  0 or -ENOMEM. */
int flow_sql_pick(struct flow_sql *sql, const struct cut *cut, struct relation *relation,
		  struct batch *batch);

#endif
