/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The catalog's state: opening, closing, and the BTF questions.  Every answer of
 * BTF is kept, so that asking again is cheap and a snapshot can repeat it where
 * there is no BTF.
 */
#include "cat/internal.h"

#include <errno.h>
#include <string.h>

struct catalog *catalog_open_live(struct arena *arena)
{
	struct catalog *catalog = arena_new(arena, struct catalog);

	catalog->arena = arena;
	catalog->is_live = true;
	buf_init_in(&catalog->scratch, arena);
	return catalog;
}

void catalog_close(struct catalog *catalog)
{
	if (!catalog)
		return;
	btf_close(&catalog->btf);
}

struct btf_blob *catalog_btf(struct catalog *catalog)
{
	if (!catalog->is_live)
		return NULL;
	if (!catalog->btf_looked) {
		catalog->btf_looked = true;
		catalog->btf_error =
			btf_open(&catalog->btf, catalog->arena, "/sys/kernel/btf/vmlinux");
	}
	return catalog->btf_error ? NULL : &catalog->btf;
}

u32 catalog_btf_id(struct catalog *catalog, u32 btf_kind, const char *name)
{
	struct btf_blob *btf;
	u32 id;

	for (u32 i = 0; i < catalog->ids.n; i++) {
		if (catalog->ids.at[i].kind == btf_kind && !strcmp(catalog->ids.at[i].name, name))
			return catalog->ids.at[i].id;
	}
	btf = catalog_btf(catalog);
	if (!btf)
		return 0;
	id = btf_find(btf, btf_kind, name);
	vec_push(catalog->arena, &catalog->ids,
		 (struct id_fact){ btf_kind, arena_strdup(catalog->arena, name), id });
	return id;
}

/* A snapshot's answer about a member that was not frozen. */
static int frozen_member(struct catalog *catalog, u32 struct_id, struct suggest *suggest)
{
	bool is_known = false;

	for (u32 i = 0; i < catalog->members.n; i++) {
		if (catalog->members.at[i].struct_id != struct_id)
			continue;
		is_known = true;
		if (suggest)
			suggest_offer(suggest, catalog->members.at[i].path);
	}
	return is_known ? -ENOENT : -ENODATA;
}

int catalog_member(struct catalog *catalog, u32 struct_btf_id, const char *name,
		   struct suggest *suggest, struct catalog_member *ret_member)
{
	struct btf_blob *btf;
	int rc;

	for (u32 i = 0; i < catalog->members.n; i++) {
		const struct member_fact *fact = &catalog->members.at[i];

		if (fact->struct_id == struct_btf_id && !strcmp(fact->path, name)) {
			*ret_member = fact->member;
			return 0;
		}
	}
	btf = catalog_btf(catalog);
	if (!btf)
		return frozen_member(catalog, struct_btf_id, suggest);
	rc = btf_find_member(btf, struct_btf_id, name, suggest, ret_member);
	if (!rc)
		vec_push(catalog->arena, &catalog->members,
			 (struct member_fact){ struct_btf_id, arena_strdup(catalog->arena, name),
					       *ret_member });
	return rc;
}

int catalog_btf_type(struct catalog *catalog, u32 btf_type_id, struct catalog_member *ret_type)
{
	struct btf_blob *btf;
	int rc;

	for (u32 i = 0; i < catalog->types.n; i++) {
		if (catalog->types.at[i].id == btf_type_id) {
			*ret_type = catalog->types.at[i].type;
			return 0;
		}
	}
	btf = catalog_btf(catalog);
	if (!btf)
		return -ENODATA;
	rc = btf_describe(btf, btf_type_id, ret_type);
	if (!rc)
		vec_push(catalog->arena, &catalog->types,
			 (struct type_fact){ btf_type_id, *ret_type });
	return rc;
}
