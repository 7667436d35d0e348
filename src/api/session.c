/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sessions: an engine, what SET and CREATE VIEW left, and a descriptor by which other threads wake
 * the one that waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/internal.h"

const char *ebql_version(void)
{
	return EBQL_VERSION;
}

const char *ebql_status_text(int status)
{
	switch (status) {
	case EBQL_OK:
		return "it is done";
	case EBQL_BATCH:
		return "there is a batch";
	case EBQL_NOTHING:
		return "there is no batch yet";
	case EBQL_END:
		return "there is no more";
	case EBQL_REFUSED:
		return "the query is refused";
	case EBQL_FAILED:
		return "the kernel or the machine failed the query";
	case EBQL_NO_MEMORY:
		return "there is no memory";
	case EBQL_MISUSE:
		return "this cannot be called here";
	case EBQL_CANCELLED:
		return "the query was cancelled";
	case EBQL_LOSSES:
		return "the answer is biased by losses";
	}
	return "no status of libebql";
}

int ebql_session_open(struct ebql_session **ret_session)
{
	struct ebql_session *session;

	if (!ret_session)
		return EBQL_MISUSE;
	*ret_session = NULL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return EBQL_NO_MEMORY;
	arena_init(&session->keep.arena);
	settings_init(&session->keep.settings);
	views_init(&session->keep.views, &session->keep.arena);
	session->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!arena_reserve(&session->keep.arena) || session->wake_fd < 0 ||
	    engine_open(&session->engine)) {
		int status = session->wake_fd < 0 || session->keep.arena.chunk ? EBQL_FAILED
									       : EBQL_NO_MEMORY;

		ebql_session_close(session);
		return status;
	}
	*ret_session = session;
	return EBQL_OK;
}

void ebql_session_close(struct ebql_session *session)
{
	if (!session || session->is_busy)
		return;
	while (session->queries)
		ebql_query_close(session->queries);
	if (session->engine)
		engine_close(session->engine);
	if (session->wake_fd >= 0)
		close(session->wake_fd);
	arena_free(&session->keep.arena);
	free(session);
}

int ebql_session_fd(const struct ebql_session *session)
{
	return session ? engine_fd(session->engine) : -1;
}

int api_step(struct ebql_session *session)
{
	int err = engine_step(session->engine);

	api_settle(session);
	return err ? EBQL_FAILED : EBQL_OK;
}

int ebql_session_step(struct ebql_session *session)
{
	if (!session || session->is_busy)
		return EBQL_MISUSE;
	cancel_set(&session->cancel, 0);
	return api_step(session);
}

void ebql_interrupt(struct ebql_session *session)
{
	const u64 one = 1;
	int error = errno; /* of what a signal's handler interrupted */

	if (!session)
		return;
	/* In this order: who clears the cancel and waits then has the wake.  Full: it was woken. */
	if (write(session->wake_fd, &one, sizeof(one)) < 0)
		errno = error;
	cancel_set(&session->cancel, 1);
}
