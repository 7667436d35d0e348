/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A catalog, opened for a test, and what it answers. */
#ifndef EBQL_TESTS_LOOK_H
#define EBQL_TESTS_LOOK_H

#include <string.h>

#include "cat/internal.h"

struct session {
	struct arena arena;
	struct diags diags;
	struct catalog *catalog;
};

static inline void session_open(struct session *session, const char *snapshot)
{
	arena_init(&session->arena);
	diags_init(&session->diags, &session->arena, "test", "", 0);
	session->catalog =
		snapshot ? catalog_open_snapshot(&session->arena, snapshot, &session->diags)
			 : catalog_open_live(&session->arena);
}

static inline void session_close(struct session *session)
{
	catalog_close(session->catalog);
	arena_free(&session->arena);
}

/* Finds "a:b:c"; diagnostics of earlier calls are forgotten. */
static inline enum find_result look_up(struct session *session, const char *name,
				       struct stream_list **ret_list)
{
	char *copy = arena_strdup(&session->arena, name), *rest = NULL;
	const char *path[8];
	u32 n = 0;

	diags_init(&session->diags, &session->arena, "test", "", 0);
	for (char *part = strtok_r(copy, ":", &rest); part; part = strtok_r(NULL, ":", &rest))
		path[n++] = part;
	return catalog_look_up(session->catalog, path, n, (struct span){ 0, 0 }, &session->diags,
			       ret_list);
}

static inline struct stream_list *find(struct session *session, const char *name)
{
	struct stream_list *list;

	look_up(session, name, &list);
	return list;
}

static inline void expect_error(struct session *session, const char *name, const char *tag,
				const char *hint)
{
	assert_null(find(session, name));
	assert_int_equal(session->diags.n_errors, 1);
	assert_string_equal(session->diags.list.at[0].tag, tag);
	assert_non_null(session->diags.list.at[0].hint);
	if (!strstr(session->diags.list.at[0].hint, hint))
		fail_msg("%s: hint is: %s", name, session->diags.list.at[0].hint);
}

static inline const struct field *field_of(const struct stream *stream, const char *name)
{
	for (u32 i = 0; i < stream->n_fields; i++) {
		if (!strcmp(stream->fields[i].name, name))
			return &stream->fields[i];
	}
	fail_msg("%s has no field %s", stream->name, name);
	return NULL;
}

#endif
