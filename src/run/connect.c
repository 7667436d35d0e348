/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections to SQLite.  A statement can run for hours: every so many of its steps it
 * is asked whether the run is to end.
 */
#include "run/connect.h"

#include <errno.h>
#include <sqlite3.h>

#include "run/loop.h"

#define STEPS_BETWEEN 4096 /* of SQLite's machine; below 1 ms */

static void configure(void)
{
	static bool is_configured;

	if (is_configured)
		return;
	/* One thread, 16 KiB of lookaside for 120.  The limit needs the memory's statistics. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 128, 128);
	sqlite3_hard_heap_limit64(CONNECT_HEAP_BYTES);
	is_configured = true;
}

static int on_steps(void *context)
{
	return loop_is_overdue();
}

int connect_open(struct sqlite3 **ret_db)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
	int code;

	configure();
	code = sqlite3_open_v2(":memory:", ret_db, flags, NULL);
	if (code)
		return code;
	sqlite3_progress_handler(*ret_db, STEPS_BETWEEN, on_steps, NULL);
	/* Large sorts must not write files. */
	return sqlite3_exec(*ret_db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
}

int connect_failed(struct sqlite3 *db, struct diags *diags)
{
	struct diag *diag;

	switch (db ? sqlite3_errcode(db) : SQLITE_NOMEM) {
	case SQLITE_INTERRUPT:
		diag = diag_warning(diags, "interrupted", (struct span){ 0, 0 },
				    "the query was stopped while it computed rows: these are "
				    "missing");
		if (diag)
			diag->has_span = false;
		return -EINTR;
	case SQLITE_NOMEM:
		diag = diag_plain(diags, "too-many-rows",
				  "SQLite needs more than %llu MiB to sort, join or group the "
				  "rows",
				  (unsigned long long)sqlite3_hard_heap_limit64(-1) >> 20);
		diag_hint(diags, diag, "ask for fewer rows: WHERE, or a shorter WINDOW");
		return -E2BIG;
	default:
		return 0;
	}
}
