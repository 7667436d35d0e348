/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Raw tracepoints: BTF -> streams.  For each tracepoint the kernel's BTF has a
 * typedef btf_trace_NAME of a pointer to its callback's prototype (types without
 * names) and the functions __traceiter_NAME and __bpf_trace_NAME, whose prototypes
 * have the names.  The program sees the arguments behind the first, void *__data,
 * each in 8 bytes.
 */
#include "cat/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static u32 find_id(struct catalog *catalog, u32 kind, const char *prefix, const char *event)
{
	return catalog_any_btf_id(catalog, kind,
				  arena_printf(catalog->arena, "%s%s", prefix, event));
}

static bool callback_proto(struct btf_blob *btf, u32 typedef_id, struct btf_view *ret_proto)
{
	return btf_resolve(btf, typedef_id, ret_proto) && ret_proto->kind == BTF_KIND_PTR &&
	       btf_resolve(btf, ret_proto->size_or_type, ret_proto) &&
	       ret_proto->kind == BTF_KIND_FUNC_PROTO && ret_proto->vlen;
}

/* The same parameters with names, when the function has them. */
static bool named_proto(struct btf_blob *btf, u32 function_id, struct btf_view *proto)
{
	struct btf_view view;

	if (!btf_type(btf, function_id, &view) || view.kind != BTF_KIND_FUNC ||
	    !btf_type(btf, view.size_or_type, &view) || view.kind != BTF_KIND_FUNC_PROTO ||
	    view.vlen != proto->vlen)
		return false;
	*proto = view;
	return true;
}

/* Whether tracefs knows a tracepoint of that name (a system call's event is none). */
static bool tracefs_has(struct catalog *catalog, const char *event)
{
	const struct stream_names *names = stream_names_of(catalog, &tracefs_kind);

	for (u32 i = 0; i < names->list.n; i++) {
		if (!strcmp(names->list.at[i].event, event) &&
		    strcmp(names->list.at[i].category, "syscalls") != 0)
			return true;
	}
	return false;
}

static int compare_name(const void *key, const void *entry)
{
	return strcmp(key, ((const struct stream_name *)entry)->event);
}

static struct stream_name *known_name(struct stream_names *names, const char *event)
{
	return names->list.n ? bsearch(event, names->list.at, names->list.n,
				       sizeof(names->list.at[0]), compare_name)
			     : NULL;
}

/* The two ids: from the list of names when that was read, else each by its own search. */
static struct stream_name find_ids(struct catalog *catalog, const char *event)
{
	struct stream_names *names = &catalog->names[STREAM_RAW_TRACEPOINT];
	struct stream_name *known = names->is_loaded ? known_name(names, event) : NULL;
	struct stream_name found = { 0 };

	if (known)
		return *known;
	found.typedef_id = find_id(catalog, BTF_KIND_TYPEDEF, "btf_trace_", event);
	if (found.typedef_id)
		found.function_id = find_id(catalog, BTF_KIND_FUNC, "__traceiter_", event);
	return found;
}

/* The callback's prototype, with the names of its parameters where a function has them. */
static bool find_proto(struct catalog *catalog, const char *event, struct btf_view *ret_proto)
{
	struct btf_blob *btf = catalog_btf(catalog);
	struct stream_name ids;

	if (!btf)
		return false;
	ids = find_ids(catalog, event);
	if (!callback_proto(btf, ids.typedef_id, ret_proto))
		return false;
	if (!named_proto(btf, ids.function_id, ret_proto))
		named_proto(btf, find_id(catalog, BTF_KIND_FUNC, "__bpf_trace_", event), ret_proto);
	return true;
}

/*
 * -ENOENT when neither BTF nor tracefs knows the name (also: when there is neither).  Of what only
 * tracefs knows there is but the name, so it has arg0..arg11.
 */
static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	struct btf_view proto;
	bool is_typed = find_proto(catalog, event, &proto);
	struct stream *stream;

	if (!is_typed && !tracefs_has(catalog, event))
		return -ENOENT;
	stream = stream_new(catalog->arena, &raw_kind, NULL, event);
	stream->n_fields = is_typed ? MIN(proto.vlen - 1, RAW_ARGS_MAX) : RAW_ARGS_MAX;
	stream->fields = arena_array(catalog->arena, struct field, stream->n_fields);
	for (u32 i = 0; i < stream->n_fields; i++) {
		u32 word = 2 * (i + 1); /* of the prototype: name, type; void *__data is first */

		stream->fields[i] = proto_argument(catalog, i);
		if (is_typed)
			proto_set_type(catalog, btf_word_name(&proto, word),
				       btf_word_id(&proto, word + 1), &stream->fields[i]);
	}
	*ret_stream = stream;
	return 0;
}

static void complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	diag_failure_at(diags, "no-btf", span,
			"the kernel has no BTF (%s), so its raw tracepoints are unknown" HINT
			"a kernel built with CONFIG_DEBUG_INFO_BTF=y has it; without it the names "
			"are read from tracefs, which failed too",
			strerror(-catalog->btf_error));
}

static void add_typedef(void *context, u32 id, const char *name)
{
	struct catalog *catalog = context;
	struct stream_names *names = &catalog->names[STREAM_RAW_TRACEPOINT];

	stream_names_add(catalog->arena, names, &raw_kind, NULL, name + strlen("btf_trace_"));
	names->list.at[names->list.n - 1].typedef_id = id;
}

static void add_function(void *context, u32 id, const char *name)
{
	struct catalog *catalog = context;
	struct stream_name *known =
		known_name(&catalog->names[STREAM_RAW_TRACEPOINT], name + strlen("__traceiter_"));

	if (known)
		known->function_id = id;
}

static int list(struct catalog *catalog, const struct stream_kind_info *kind,
		struct stream_names *names)
{
	struct btf_blob *btf = catalog_btf(catalog);
	const struct stream_names *events;

	if (btf) {
		btf_each_name(btf, BTF_KIND_TYPEDEF, "btf_trace_", add_typedef, catalog);
		stream_names_sort(names);
		btf_each_name(btf, BTF_KIND_FUNC, "__traceiter_", add_function, catalog);
		return 0;
	}
	events = stream_names_of(catalog, &tracefs_kind);
	for (u32 i = 0; i < events->list.n; i++) {
		if (strcmp(events->list.at[i].category, "syscalls") != 0)
			stream_names_add(catalog->arena, names, &raw_kind, NULL,
					 events->list.at[i].event);
	}
	return events->error ? -ENODATA : 0;
}

const struct stream_kind_info raw_kind = {
	.kind = STREAM_RAW_TRACEPOINT,
	.name = "raw_tracepoint",
	.shorthand = "rt",
	.form = "raw_tracepoint:NAME",
	.list = list,
	.load = load,
	.complain = complain,
};
