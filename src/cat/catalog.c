/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The catalog's state: opening, closing, and the questions that BTF answers.
 */
#include "cat/internal.h"

#include <errno.h>
#include <string.h>

struct catalog *catalog_open_live(struct arena *arena)
{
	struct catalog *catalog = arena_new(arena, struct catalog);
	struct stat ns;

	catalog->arena = arena;
	catalog->is_live = true;
	catalog->btf_path = "/sys/kernel/btf/vmlinux";
	buf_init_in(&catalog->scratch, arena);
	if (stat("/proc/self/ns/pid", &ns) == 0)
		catalog->pid_ns = (struct pid_ns){ ns.st_dev, ns.st_ino };
	return catalog;
}

struct catalog *catalog_open_snapshot(struct arena *arena, const char *folder, struct diags *diags)
{
	struct catalog *catalog = catalog_open_live(arena);
	int error;

	catalog->is_live = false;
	catalog->pid_ns = (struct pid_ns){ 0, PID_NS_INITIAL };
	catalog->tracefs_looked = true;
	catalog->tracefs = arena_strdup(arena, folder);
	catalog->btf_path = arena_printf(arena, "%s/btf", folder);
	error = tracefs_read(catalog, "available_events");
	/* Without it raw tracepoints have no types, as in a kernel without. */
	if (!error && !catalog_btf(catalog) && catalog->btf_error != -ENOENT)
		error = catalog->btf_error;
	if (!error)
		return catalog;
	diag_failure(diags, "bad-snapshot",
		     "cannot read the snapshot %s: %s" HINT
		     "it is a folder with copies of available_events and events of "
		     "/sys/kernel/tracing, and of /sys/kernel/btf/vmlinux as btf",
		     folder, strerror(-error));
	return NULL;
}

void catalog_close(struct catalog *catalog)
{
	if (catalog)
		btf_close(&catalog->btf);
}

struct pid_ns catalog_pid_ns(const struct catalog *catalog)
{
	return catalog->pid_ns;
}

struct btf_blob *catalog_btf(struct catalog *catalog)
{
	if (!catalog->btf_looked) {
		catalog->btf_looked = true;
		catalog->btf_error = btf_open(&catalog->btf, catalog->arena, catalog->btf_path);
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

int catalog_member(struct catalog *catalog, u32 struct_btf_id, const char *name,
		   struct suggest *suggest, struct catalog_member *ret_member)
{
	struct btf_blob *btf = catalog_btf(catalog);

	return btf ? btf_find_member(btf, struct_btf_id, name, suggest, ret_member) : -ENODATA;
}

int catalog_btf_type(struct catalog *catalog, u32 btf_type_id, struct catalog_member *ret_type)
{
	struct btf_blob *btf = catalog_btf(catalog);

	return btf ? btf_describe(btf, btf_type_id, ret_type) : -ENODATA;
}
