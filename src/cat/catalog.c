/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The catalog's state: opening, closing, and the questions that BTF answers.
 */
#include "cat/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct catalog *catalog_open_live(struct arena *arena)
{
	struct catalog *catalog = arena_new(arena, struct catalog);
	struct stat ns;

	catalog->arena = arena;
	catalog->arch = arch_own;
	catalog->is_live = true;
	catalog->btf_path = "/sys/kernel/btf/vmlinux";
	catalog->modules_path = "/sys/kernel/btf";
	buf_init_in(&catalog->scratch, arena);
	if (stat("/proc/self/ns/pid", &ns) == 0)
		catalog->pid_ns = (struct pid_ns){ ns.st_dev, ns.st_ino };
	return catalog;
}

/* A snapshot may be of another machine.  Without BTF it is of this one. */
static const struct arch *find_arch(struct catalog *catalog)
{
	static const struct arch *const all[] = { &arch_x86_64, &arch_arm64 };
	u32 registers = catalog_btf_id(catalog, BTF_KIND_STRUCT, "pt_regs");
	struct catalog_member number;

	for (u32 i = 0; registers && i < ARRAY_SIZE(all); i++)
		if (!btf_find_member(&catalog->btf, registers, all[i]->number_member, NULL,
				     &number))
			return all[i];
	return arch_own;
}

const struct arch *catalog_arch(const struct catalog *catalog)
{
	return catalog->arch;
}

struct catalog *catalog_open_snapshot(struct arena *arena, const char *folder, struct diags *diags)
{
	struct catalog *catalog = catalog_open_live(arena);
	int error;

	catalog->is_live = false;
	catalog->pid_ns = (struct pid_ns){ 0, PID_NS_INITIAL };
	catalog->tracefs_looked = true;
	catalog->tracefs_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (catalog->tracefs_fd < 0)
		catalog->tracefs_fd = -errno;
	catalog->btf_path = arena_printf(arena, "%s/btf", folder);
	catalog->modules_path = arena_printf(arena, "%s/btf-modules", folder);
	catalog->costs_path = arena_printf(arena, "%s/costs", folder);
	error = tracefs_read(catalog, "available_events");
	/* Without it raw tracepoints have no types, as in a kernel without. */
	if (!error && !catalog_btf(catalog) && catalog->btf_error != -ENOENT)
		error = catalog->btf_error;
	catalog->arch = find_arch(catalog);
	if (!error)
		return catalog;
	diag_failure(diags, "bad-snapshot", "cannot read the snapshot %s: %s" HINT "%s", folder,
		     strerror(-error),
		     diag_machine_hint(-error)
			     ?: "it is a folder with copies of available_events and events of "
				"/sys/kernel/tracing, and of /sys/kernel/btf/vmlinux as btf");
	catalog_close(catalog);
	return NULL;
}

void catalog_close(struct catalog *catalog)
{
	if (!catalog)
		return;
	btf_close(&catalog->btf);
	if (catalog->tracefs_looked && catalog->tracefs_fd >= 0)
		close(catalog->tracefs_fd);
}

struct pid_ns catalog_pid_ns(const struct catalog *catalog)
{
	return catalog->pid_ns;
}

struct btf_blob *catalog_btf(struct catalog *catalog)
{
	if (!catalog->btf_looked) {
		catalog->btf_looked = true;
		catalog->btf_error =
			btf_open(&catalog->btf, catalog->arena, NULL, catalog->btf_path);
	}
	return catalog->btf_error ? NULL : &catalog->btf;
}

/* Its place in catalog->ids; those from n_known on are not looked for yet. */
static u32 id_place(struct catalog *catalog, u32 btf_kind, const char *name)
{
	for (u32 i = 0; i < catalog->ids.n; i++)
		if (catalog->ids.at[i].kind == btf_kind && !strcmp(catalog->ids.at[i].name, name))
			return i;
	vec_push(catalog->arena, &catalog->ids,
		 (struct btf_wanted){ .kind = btf_kind,
				      .name = arena_strdup(catalog->arena, name) });
	return catalog->ids.n - 1;
}

u32 catalog_btf_id(struct catalog *catalog, u32 btf_kind, const char *name)
{
	u32 place = id_place(catalog, btf_kind, name);
	struct btf_blob *btf = catalog_btf(catalog);

	if (place >= catalog->n_known && btf) {
		btf_find_all(btf, catalog->ids.at + catalog->n_known,
			     catalog->ids.n - catalog->n_known);
		catalog->n_known = catalog->ids.n;
	}
	return catalog->ids.at[place].id;
}

/* Theirs is read when something is asked for that the kernel itself does not have. */
struct btf_blob *catalog_modules_btf(struct catalog *catalog)
{
	struct btf_blob *btf = catalog_btf(catalog);

	if (btf && !catalog->modules_looked)
		btf_open_modules(btf, catalog->arena, catalog->modules_path);
	catalog->modules_looked |= btf != NULL;
	return btf;
}

u32 catalog_btf_id_of(struct catalog *catalog, u32 btf_kind, const char *name, const char *module)
{
	bool is_kernel = !module || !strcmp(module, KERNEL_MODULE);
	u32 id = is_kernel ? catalog_btf_id(catalog, btf_kind, name) : 0;
	struct btf_blob *btf = id || (module && is_kernel) ? NULL : catalog_modules_btf(catalog);

	return btf ? btf_find_in_modules(btf, btf_kind, name, module) : id;
}

u32 catalog_any_btf_id(struct catalog *catalog, u32 btf_kind, const char *name)
{
	return catalog_btf_id_of(catalog, btf_kind, name, NULL);
}

void catalog_each_member(struct catalog *catalog, u32 struct_btf_id,
			 void (*visit)(void *context, const char *name,
				       const struct catalog_member *member),
			 void *context)
{
	struct btf_blob *btf = catalog_btf(catalog);

	if (btf)
		btf_each_member(btf, struct_btf_id, visit, context);
}

static void offer_type(void *context, u32 id, const char *name)
{
	suggest_offer(context, name);
}

void catalog_suggest_type(struct catalog *catalog, u32 btf_kind, struct suggest *suggest)
{
	struct btf_blob *btf = catalog_btf(catalog);

	if (btf)
		btf_each_name(btf, btf_kind, "", offer_type, suggest);
}

void catalog_expect_raw(struct catalog *catalog, const char *event)
{
	id_place(catalog, BTF_KIND_TYPEDEF, arena_printf(catalog->arena, "btf_trace_%s", event));
	id_place(catalog, BTF_KIND_FUNC, arena_printf(catalog->arena, "__traceiter_%s", event));
}

struct percpu_search {
	struct catalog *catalog;
	u32 variable;
	u32 offset_bytes;
	bool is_found;
};

static void look_in_section(void *context, u32 id, const char *name)
{
	struct percpu_search *s = context;
	struct btf_view view;

	if (strcmp(name, ".data..percpu") != 0 || !btf_type(&s->catalog->btf, id, &view))
		return;
	for (u32 i = 0; i < view.vlen; i++)
		if (btf_word(&view, 3 * i) == s->variable) {
			s->offset_bytes = btf_word(&view, 3 * i + 1);
			s->is_found = true;
		}
}

bool catalog_percpu(struct catalog *catalog, const char *name, u32 *ret_bytes)
{
	struct percpu_search s = { .catalog = catalog };

	s.variable = catalog_btf_id(catalog, BTF_KIND_VAR, name);
	if (s.variable)
		btf_each_name(&catalog->btf, BTF_KIND_DATASEC, ".data..percpu", look_in_section,
			      &s);
	*ret_bytes = s.offset_bytes;
	return s.is_found;
}

/*
 * "__x64_sys_read"; what SYSCALL_DEFINE0() makes may have such a name as an alias only, which BTF
 * leaves out: then it is a "__do_sys_getpid".
 */
static const char *call_function(struct catalog *catalog, const char *call, bool is_other)
{
	return arena_printf(catalog->arena, "%s%s",
			    is_other ? "__do_sys_" : catalog_arch(catalog)->call_prefix, call);
}

void catalog_expect_call(struct catalog *catalog, const char *call)
{
	for (u32 i = 0; i < 2; i++)
		id_place(catalog, BTF_KIND_FUNC, call_function(catalog, call, i));
}

/* Is its one argument the registers? */
static bool takes_registers(struct catalog *catalog, u32 id)
{
	struct btf_view view;

	return btf_type(&catalog->btf, id, &view) &&
	       btf_type(&catalog->btf, view.size_or_type, &view) &&
	       view.kind == BTF_KIND_FUNC_PROTO && view.vlen == 1 &&
	       btf_resolve(&catalog->btf, btf_word(&view, 1), &view) && view.kind == BTF_KIND_PTR &&
	       btf_resolve(&catalog->btf, view.size_or_type, &view) &&
	       view.kind == BTF_KIND_STRUCT && !strcmp(view.name, "pt_regs");
}

u32 catalog_call_function(struct catalog *catalog, const char *call, const char **ret_name)
{
	for (u32 i = 0; i < 2; i++) {
		const char *name = call_function(catalog, call, i);
		u32 id = catalog_btf_id(catalog, BTF_KIND_FUNC, name);

		*ret_name = name;
		if (id && takes_registers(catalog, id))
			return id;
	}
	return 0;
}

bool catalog_enumerator(struct catalog *catalog, const char *enumeration, const char *name,
			s64 *ret_number)
{
	u32 id = catalog_btf_id(catalog, BTF_KIND_ENUM, enumeration);
	struct btf_view view;

	if (!id || !btf_type(&catalog->btf, id, &view))
		return false;
	for (u32 i = 0; i < view.vlen; i++)
		if (!strcmp(btf_word_name(&view, 2 * i), name)) {
			*ret_number = (s32)btf_word(&view, 2 * i + 1);
			if (catalog->facts)
				buf_printf(catalog->facts, "enumerator %s.%s: there, %lld\n",
					   enumeration, name, (long long)*ret_number);
			return true;
		}
	return false;
}

int catalog_btf_type(struct catalog *catalog, u32 btf_type_id, struct catalog_member *ret_type)
{
	struct btf_blob *btf = catalog_btf(catalog);

	return btf ? btf_describe(btf, btf_type_id, ret_type) : -ENODATA;
}
