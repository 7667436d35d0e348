/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections to SQLite.  A statement can run for hours: every so many of its steps it
 * is asked whether the run is to end.
 */
#include "rel/connect.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "func/func.h"

static int on_steps(void *context)
{
	return cancel_is_due(context);
}

int connect_open(const struct cancel *cancel, struct sqlite3 **ret_db)
{
	const int flags =
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
	int code;

	code = sqlite3_open_v2(":memory:", ret_db, flags, NULL);
	if (code)
		return code;
	/* 16 KiB in place of 120. */
	sqlite3_db_config(*ret_db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 128, 128);
	sqlite3_progress_handler(*ret_db, CONNECT_STEPS, on_steps, (void *)cancel);
	/* Large sorts must not write files. */
	return sqlite3_exec(*ret_db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
}

/* Of neither the statement nor its data: the error, and told; 0: another one. */
static int failed_outside(struct sqlite3 *db, struct diags *diags)
{
	struct diag *diag;
	u64 heap_bytes;

	switch (db ? sqlite3_errcode(db) : SQLITE_NOMEM) {
	case SQLITE_INTERRUPT:
		diag_warning(diags, "interrupted", SPAN_NONE,
			     "the query was stopped while it computed rows: these are missing");
		return -EINTR;
	case SQLITE_NOMEM:
		/* The limit is the host's; 0: it has set none. */
		heap_bytes = (u64)sqlite3_hard_heap_limit64(-1);
		diag = heap_bytes
			       ? diag_failure(diags, "too-many-rows",
					      "SQLite needs more than %llu MiB to sort, join or "
					      "group the rows",
					      (unsigned long long)heap_bytes >> 20)
			       : diag_failure(diags, "too-many-rows",
					      "there is no memory to sort, join or group the rows");
		diag_hint(diags, diag, "ask for fewer rows: WHERE, or a shorter WINDOW");
		return -E2BIG;
	default:
		return 0;
	}
}

/* --- SQLite's messages --- */

/* Functions of ours that are called otherwise in a query; of others "eb_" goes. */
static const char *const said_as[][2] = {
	{ "eb_add", "+" },
	{ "eb_sub", "-" },
	{ "eb_mul", "*" },
	{ "eb_div", "/" },
	{ "eb_mod", "%" },
	{ "eb_neg", "-" },
	{ "eb_shl", "<<" },
	{ "eb_shr", ">>" },
	{ "eb_and", "&" },
	{ "eb_or", "|" },
	{ "eb_not", "~" },
	{ "eb_compare", "a comparison" },
	{ "eb_fit", "CASE" },
	{ "eb_i64", "printf" },
	{ "eb_lo", "quantile_lo" },
	{ "eb_hi", "quantile_hi" },
	{ "eb_estimate", "quantile" },
	{ "eb_cells", "UNNEST" },
	{ "eb_histogram_empty", "histogram" },
	{ "eb_sum_shown", "sum" },
	{ "eb_stddev_samp", "stddev" },
	{ "eb_stddev_pop", "stddev" },
};

/* The letter and digits: "c12". */
static bool is_numbered(const char *word, size_t n, char letter)
{
	if (n < 2 || word[0] != letter)
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isdigit((u8)word[i]))
			return false;
	return true;
}

static bool is_stream(const char *word, size_t n)
{
	return is_numbered(word, n, 't') || is_numbered(word, n, 'w');
}

static void put_word(struct buf *out, const char *word, size_t n)
{
	const char *dot = memchr(word, '.', n);
	size_t n_left = dot ? (size_t)(dot - word) : 0;

	for (u32 i = 0; i < ARRAY_SIZE(said_as); i++) {
		if (strlen(said_as[i][0]) != n || memcmp(word, said_as[i][0], n) != 0)
			continue;
		buf_puts(out, said_as[i][1]);
		return;
	}
	if (n > 3 && memcmp(word, "eb_", 3) == 0)
		buf_put(out, word + 3, n - 3);
	else if (is_numbered(word, n, 'c') ||
		 (dot && is_stream(word, n_left) && is_numbered(dot + 1, n - n_left - 1, 'c')))
		buf_puts(out, "a column");
	else if (is_stream(word, n))
		buf_puts(out, "a stream");
	else
		buf_put(out, word, n);
}

/* Without the names that only our text has: functions eb_*, relations w0 and t0, columns c0. */
static void put_message(struct buf *out, const char *message)
{
	const char *end;

	/* near "WORD": of a text that nobody wrote. */
	if (strncmp(message, "near \"", strlen("near \"")) == 0) {
		end = strstr(message, "\": ");
		message = end ? end + strlen("\": ") : message;
	}
	while (*message) {
		size_t n = 0;

		while (isalnum((u8)message[n]) || message[n] == '_' || message[n] == '.')
			n++;
		if (n)
			put_word(out, message, n);
		else
			buf_putc(out, *message);
		message += MAX(n, (size_t)1);
	}
	buf_puts(out, "");
}

/* Without the place of a call that ends it, "@7-21", which lite/ gave to ours: *ret_n bytes. */
static struct span place_in(const char *message, int *ret_n)
{
	const char *at = strrchr(message, '@');
	struct span span;
	int n = 0;

	*ret_n = (int)strlen(message);
	if (!at || sscanf(at, "@%u-%u%n", &span.start, &span.end, &n) < 2 || at[n])
		return SPAN_NONE;
	*ret_n = (int)(at - message);
	return span;
}

int connect_too_large(const char *what, struct diags *diags)
{
	int n;
	struct span span = place_in(what, &n);
	struct diag *diag =
		diag_failure_at(diags, "too-large", span,
				"an integer beyond what user space computes with: %.*s", n, what);

	diag_hint(diags, diag,
		  "it computes exactly with those from -2^63 on, printf() and arguments of "
		  "aggregates to 64 bits; where about right will do, CAST(x AS REAL)");
	return -EOVERFLOW;
}

static int mixed_schemes(const char *which, struct diags *diags)
{
	int n;
	struct span span = place_in(which, &n);
	struct diag *diag = diag_failure_at(
		diags, "mixed-schemes", span,
		"histograms of one scheme can be added up, and these are of %.*s", n, which);

	diag_hint(diags, diag, "name one scheme for all of them: histogram(x, loglinear(3))");
	return -EINVAL;
}

/* Of a column without a type, or that holds another: text is "NAME: not an integer". */
static int no_integer(const char *text, struct diags *diags)
{
	int n = (int)strcspn(text, ":");
	bool is_histogram = strncmp(text, "histogram", (size_t)n) == 0;
	struct diag *diag =
		diag_failure(diags, "type-mismatch",
			     "%.*s()%s takes integers, and a value that it is given is none", n,
			     text, is_histogram ? ", or a quantile," : "");

	diag_hint(
		diags, diag,
		"CAST(x AS INTEGER) makes it one; of a real number say how fine: CAST(x * 1000 AS "
		"INTEGER)");
	return -EINVAL;
}

int connect_refused(struct sqlite3 *db, struct diags *diags)
{
	int err = failed_outside(db, diags);
	struct diag *diag;
	struct buf text;

	if (err)
		return err;
	buf_init(&text);
	put_message(&text, sqlite3_errmsg(db));
	switch (func_refusal(db)) {
	case FUNC_TOO_LARGE:
		err = connect_too_large(text.is_cut ? "" : text.at + strlen("too large: "), diags);
		break;
	case FUNC_MIXED_SCHEMES:
		err = mixed_schemes(text.at, diags);
		break;
	case FUNC_NO_INTEGER:
		err = no_integer(text.is_cut ? "" : text.at, diags);
		break;
	case FUNC_REFUSED_OTHERWISE:
		diag = diag_failure(diags, "user-part", "SQLite: %s", text.at);
		diag_hint(diags, diag, "EXPLAIN shows the SQL that user space runs");
		err = -EINVAL;
	}
	buf_free(&text);
	return err;
}
