/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waiting for batches: one by one, or as an Arrow stream.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "api/internal.h"

/* Until something is due: EBQL_OK; or why it is not waited for any more. */
static int wait_due(const struct ebql_session *session, u64 until_ns, bool *ret_interrupted)
{
	struct pollfd fds[] = { { engine_fd(session->engine), POLLIN, 0 },
				{ session->wake_fd, POLLIN, 0 } };
	u64 now_ns = base_monotonic_ns(), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec left = { (time_t)(left_ns / 1000000000),
				       (long)(left_ns % 1000000000) };
	u64 n;

	if (ppoll(fds, ARRAY_SIZE(fds), until_ns == UINT64_MAX ? NULL : &left, NULL) < 0)
		return errno == EINTR ? EBQL_NOTHING : EBQL_FAILED;
	if (fds[1].revents && read(session->wake_fd, &n, sizeof(n)) > 0) {
		*ret_interrupted = true;
		return EBQL_NOTHING;
	}
	return fds[0].revents ? EBQL_OK : EBQL_NOTHING;
}

static int next(struct ebql_query *query, int timeout_ms, struct ArrowArray *ret_batch,
		bool *ret_interrupted)
{
	u64 until_ns =
		timeout_ms < 0 ? UINT64_MAX : base_monotonic_ns() + (u64)timeout_ms * 1000000;
	bool is_late = false;
	int status;

	if (query->session->is_busy || query->options.batch || query->state == QUERY_READY ||
	    query->state == QUERY_COMPILED)
		return EBQL_MISUSE;
	for (;;) {
		if (api_give_waiting(query, ret_batch))
			return EBQL_BATCH;
		if (query->state != QUERY_RUNNING)
			return query->end;
		if (is_late)
			return EBQL_NOTHING;
		/* Before the wait: an ebql_interrupt() behind it is of the step. */
		cancel_set(&query->session->cancel, 0);
		status = wait_due(query->session, until_ns, ret_interrupted);
		if (!status)
			status = api_step(query->session);
		if (status)
			return status;
		is_late = base_monotonic_ns() >= until_ns;
	}
}

int ebql_next(struct ebql_query *query, int timeout_ms, struct ArrowArray *ret_batch)
{
	bool is_interrupted;

	if (!query || !ret_batch)
		return EBQL_MISUSE;
	return next(query, timeout_ms, ret_batch, &is_interrupted);
}

/* --- As a stream --- */

static int stream_error(int status)
{
	switch (status) {
	case EBQL_NO_MEMORY:
		return ENOMEM;
	case EBQL_REFUSED:
	case EBQL_MISUSE:
		return EINVAL;
	}
	return EIO;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct ebql_query *query = stream->private_data;
	int status = ebql_schema(query, out);

	query->streamed = status;
	return status ? stream_error(status) : 0;
}

/* Behind a signal. */
static bool goes_on(struct ebql_query *query)
{
	int stops = 1;

	if (!query->options.on_signal)
		return true;
	query->options.on_signal(query->options.context, &stops);
	return !stops;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct ebql_query *query = stream->private_data;
	bool is_interrupted = false;
	int status;

	do
		status = next(query, -1, out, &is_interrupted);
	while (status == EBQL_NOTHING && !is_interrupted && goes_on(query));
	query->streamed = status;
	if (status == EBQL_BATCH)
		return 0;
	out->release = NULL;
	if (status == EBQL_NOTHING)
		return EINTR;
	return status == EBQL_END ? 0 : stream_error(status);
}

static const char *stream_message(struct ArrowArrayStream *stream)
{
	struct ebql_query *query = stream->private_data;
	const char *message = query->streamed == EBQL_MISUSE ? "" : ebql_message(query);

	if (query->streamed == EBQL_NOTHING)
		return "it was interrupted";
	return *message ? message : ebql_status_text(query->streamed);
}

static void stream_release(struct ArrowArrayStream *stream)
{
	stream->release = NULL;
}

int ebql_stream(struct ebql_query *query, struct ArrowArrayStream *ret_stream)
{
	if (!query || !ret_stream || query->session->is_busy || query->options.batch)
		return EBQL_MISUSE;
	*ret_stream = (struct ArrowArrayStream){ .get_schema = stream_schema,
						 .get_next = stream_next,
						 .get_last_error = stream_message,
						 .release = stream_release,
						 .private_data = query };
	return EBQL_OK;
}
