/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which programs make most system calls?  Once a second, for so many seconds:
 *
 *	cc -o top top.c $(pkg-config --cflags --libs ebql)
 *	sudo ./top 10
 */
#include <ebql.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char text[] = "SELECT comm, count(*) AS calls, count(DISTINCT pid) AS processes "
			   "FROM raw_tracepoint:sys_enter WHERE pid <> :own GROUP BY comm "
			   "ORDER BY calls DESC LIMIT 10 WINDOW TUMBLING :every";

/* Row i of a column of texts: a dictionary of them, and a number of one a row. */
static void print_text(const struct ArrowArray *column, int64_t i)
{
	const int32_t *numbers = column->buffers[1];
	const int32_t *offsets = column->dictionary->buffers[1];
	const char *bytes = column->dictionary->buffers[2];
	int32_t at = numbers[i];

	printf("%-16.*s", (int)(offsets[at + 1] - offsets[at]), bytes + offsets[at]);
}

static void print_window(const struct ebql_batch *window, const struct ArrowArray *rows)
{
	const int64_t *calls = rows->children[1]->buffers[1];
	const int64_t *processes = rows->children[2]->buffers[1];

	printf("\n%.3f s: %llu calls, %llu missed\n",
	       (double)(window->window_end_ns - window->window_start_ns) / 1e9,
	       (unsigned long long)window->matched,
	       (unsigned long long)window->lost[EBQL_LOSS_MISSED]);
	for (int64_t i = 0; i < rows->length; i++) {
		print_text(rows->children[0], i);
		printf("%10lld %6lld\n", (long long)calls[i], (long long)processes[i]);
	}
}

int main(int argc, char **argv)
{
	struct ebql_batch window = { .size = sizeof(window) };
	int n = argc > 1 ? atoi(argv[1]) : 10, status;
	struct ebql_session *session;
	struct ebql_query *query;
	struct ArrowArray rows;

	status = ebql_session_open(&session);
	if (status) {
		fprintf(stderr, "top: %s\n", ebql_status_text(status));
		return 1;
	}
	status = ebql_prepare(session, text, sizeof(text) - 1, &query);
	if (!status)
		status = ebql_bind_int(query, "own", getpid());
	if (!status)
		status = ebql_bind_duration(query, "every", 1000000000);
	if (!status)
		status = ebql_run(query, NULL);
	while (!status && n-- > 0) {
		do
			status = ebql_next(query, -1, &rows);
		while (status == EBQL_NOTHING);
		if (status != EBQL_BATCH)
			break;
		status = ebql_batch(query, &window);
		print_window(&window, &rows);
		rows.release(&rows);
	}
	if (status)
		fprintf(stderr, "top: %s\n%s", ebql_status_text(status), ebql_message(query));
	ebql_session_close(session);
	return status != EBQL_OK;
}
