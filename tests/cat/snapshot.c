/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Catalog -> a text that can stand in for it: the streams with their columns, and
 * the answers that BTF gave.  src/cat/snapshot.c reads it; one fact a line, words between
 * single blanks:
 *
 *   ebql-catalog 1
 *   release RELEASE MACHINE
 *   stream KIND CATEGORY|- EVENT ID SYSCALL
 *   field NAME KIND OFFSET SIZE ELEMENTS BTF-TYPE TYPE DECLARATION
 *   id BTF-KIND NAME ID
 *   member STRUCT PATH OFFSET-BITS BITFIELD-BITS FACTS
 *   type ID FACTS
 *   end
 * where FACTS is SIZE BTF-TYPE TYPE POINTER|- POINTEE ELEMENTS.
 */
#include "snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

static void put_type(struct type type, struct buf *out)
{
	switch (type.kind) {
	case TYPE_NULL:
		buf_puts(out, "none");
		break;
	case TYPE_BOOL:
		buf_puts(out, "bool");
		break;
	case TYPE_INT:
		buf_printf(out, "%c%u", type.is_signed ? 's' : 'u', type.bits);
		break;
	case TYPE_POINTER:
		buf_puts(out, "pointer");
		break;
	case TYPE_TEXT:
		buf_printf(out, "text:%u", type.bytes);
		break;
	case TYPE_BLOB:
		buf_printf(out, "blob:%u", type.bytes);
		break;
	default:
		BUG("a column of the catalog has type kind %u", type.kind);
	}
}

static void put_stream(const struct stream *stream, struct buf *out)
{
	buf_printf(out, "stream %s %s %s %u %d\n", stream_kinds[stream->kind]->name,
		   stream->category ? stream->category : "-", stream->event, stream->tracepoint_id,
		   stream->syscall_nr);
	for (u32 i = 0; i < stream->n_fields; i++) {
		const struct field *field = &stream->fields[i];

		buf_printf(out, "field %s %s %u %u %u %u ", field->name,
			   snapshot_fields[field->kind], field->offset_bytes, field->size_bytes,
			   field->n_elements, field->btf_type_id);
		put_type(field->type, out);
		buf_printf(out, " %s\n", field->declaration);
	}
}

static void put_facts(const struct catalog_member *facts, struct buf *out)
{
	buf_printf(out, "%u %u ", facts->size_bytes, facts->btf_type_id);
	put_type(facts->type, out);
	buf_printf(out, " %s %u %u\n",
		   facts->is_char_pointer ? "char"
		   : facts->is_pointer	  ? "pointer"
					  : "-",
		   facts->pointee_btf_id, facts->n_elements);
}

/* All members, also those of anonymous structs inside. */
static void freeze_members(struct catalog *catalog, struct btf_blob *btf, u32 struct_id,
			   const struct btf_view *composite)
{
	struct catalog_member member;
	struct btf_view inner;

	for (u32 i = 0; i < composite->vlen; i++) {
		const char *name = btf_string(btf, btf_word(composite, 3 * i));

		if (name[0])
			catalog_member(catalog, struct_id, name, NULL, &member);
		else if (btf_resolve(btf, btf_word(composite, 3 * i + 1), &inner))
			freeze_members(catalog, btf, struct_id, &inner);
	}
}

/* "task_struct.tgid": a member's path; "pt_regs": all members. */
static int freeze_struct(struct catalog *catalog, u32 kind, const char *name)
{
	size_t n = strcspn(name, ".");
	u32 id = catalog_btf_id(catalog, kind, arena_strndup(catalog->arena, name, n));
	struct btf_blob *btf = catalog_btf(catalog);
	struct catalog_member member;
	struct btf_view view;

	if (!id)
		return -ENOENT;
	if (name[n])
		return catalog_member(catalog, id, name + n + 1, NULL, &member);
	if (btf && btf_resolve(btf, id, &view))
		freeze_members(catalog, btf, id, &view);
	return 0;
}

/* 1 when the pattern speaks of BTF; then it is done, or -ENOENT. */
static int freeze_btf(struct catalog *catalog, const char *pattern)
{
	static const struct {
		const char *prefix;
		u32 kind;
	} kinds[] = {
		{ "struct:", BTF_KIND_STRUCT },
		{ "union:", BTF_KIND_UNION },
		{ "typedef:", BTF_KIND_TYPEDEF },
		{ "func:", BTF_KIND_FUNC },
	};

	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *name = pattern + strlen(kinds[i].prefix);

		if (strncmp(pattern, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
			continue;
		if (kinds[i].kind == BTF_KIND_STRUCT || kinds[i].kind == BTF_KIND_UNION)
			return freeze_struct(catalog, kinds[i].kind, name) ? -ENOENT : 1;
		return catalog_btf_id(catalog, kinds[i].kind, name) ? 1 : -ENOENT;
	}
	return 0;
}

static struct stream_list *find_pattern(struct catalog *catalog, const char *pattern)
{
	char *copy = arena_strdup(catalog->arena, pattern), *rest = NULL;
	const char *path[4];
	struct diags diags;
	u32 n_path = 0;

	diags_init(&diags, catalog->arena, "snapshot", pattern, strlen(pattern));
	for (char *part = strtok_r(copy, ":", &rest); part && n_path < ARRAY_SIZE(path);
	     part = strtok_r(NULL, ":", &rest))
		path[n_path++] = part;
	return n_path ? catalog_find(catalog, path, n_path, (struct span){ 0, 0 }, &diags) : NULL;
}

struct written {
	VEC(const char *) names;
};

static bool is_new(struct arena *arena, struct written *written, const char *name)
{
	for (u32 i = 0; i < written->names.n; i++) {
		if (!strcmp(written->names.at[i], name))
			return false;
	}
	vec_push(arena, &written->names, name);
	return true;
}

static void put_head(const struct catalog *catalog, struct buf *out)
{
	struct utsname name;

	buf_printf(out, "ebql-catalog %u\n", SNAPSHOT_VERSION);
	if (catalog->release) {
		buf_printf(out, "release %s\n", catalog->release);
		return;
	}
	BUG_ON(uname(&name));
	buf_printf(out, "release %s %s\n", name.release, name.machine);
}

static void put_btf(const struct catalog *catalog, struct buf *out)
{
	for (u32 i = 0; i < catalog->ids.n; i++)
		buf_printf(out, "id %u %s %u\n", catalog->ids.at[i].kind, catalog->ids.at[i].name,
			   catalog->ids.at[i].id);
	for (u32 i = 0; i < catalog->members.n; i++) {
		const struct member_fact *fact = &catalog->members.at[i];

		buf_printf(out, "member %u %s %lu %u ", fact->struct_id, fact->path,
			   fact->member.offset_bits, fact->member.bitfield_bits);
		put_facts(&fact->member, out);
	}
	for (u32 i = 0; i < catalog->types.n; i++) {
		buf_printf(out, "type %u ", catalog->types.at[i].id);
		put_facts(&catalog->types.at[i].type, out);
	}
}

int snapshot_write(struct catalog *catalog, const char *const *patterns, u32 n_patterns,
		   struct buf *out)
{
	struct written written = { 0 };
	int error = 0;

	put_head(catalog, out);
	for (u32 i = 0; i < n_patterns; i++) {
		struct stream_list *list;
		int rc = freeze_btf(catalog, patterns[i]);

		if (rc < 0)
			error = rc;
		if (rc)
			continue;
		list = find_pattern(catalog, patterns[i]);
		if (!list)
			error = -ENOENT;
		for (u32 k = 0; list && k < list->streams.n; k++) {
			if (is_new(catalog->arena, &written, list->streams.at[k]->name))
				put_stream(list->streams.at[k], out);
		}
	}
	put_btf(catalog, out);
	buf_puts(out, "end\n");
	return error;
}
