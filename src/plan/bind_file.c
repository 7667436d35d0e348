/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * file_name(x), file_path(x): the name, or path, of what x is of: a descriptor of the calling
 * process, a struct file, dentry or path.
 */
#include <linux/btf.h>
#include <linux/limits.h>
#include <string.h>

#include "plan/bind.h"

/* Programs keep a path on the stack, and as much once more to write it. */
#define PATH_BYTES	 128
#define PATH_BYTES_LEAST 32
#define PATH_BYTES_MOST	 160

static void note_event(void *context, struct expr *e)
{
	struct expr **ret_event = context;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM)
		*ret_event = e;
}

/* The task that is current at the event that x is of. */
static struct expr *task_of(struct scope *scope, const struct ast *call, struct expr *x)
{
	const struct system_column_info *column = &system_columns[SYS_TASK];
	struct expr *event = NULL, *task;

	expr_each(x, note_event, &event);
	if (!event)
		return bind_of_event(scope, call->text, SYS_TASK, call->span);
	if (!bind_of_one_event(scope, x))
		return NULL;
	task = bind_column_expr(scope, EXPR_SYSTEM, column->name, SYS_TASK, column->type, x->span);
	task->source = event->source;
	task->nullable = event->nullable;
	return task;
}

static void note_list(void *context, struct expr *e)
{
	struct scope **ret_scope = context;

	if (*ret_scope && bind_stream_of(*ret_scope, e) &&
	    bind_stream_of(*ret_scope, e)->kind == STREAM_ITERATOR)
		*ret_scope = NULL;
}

/* A list's rows are of other processes than the one that reads it. */
static bool is_of_list(struct scope *scope, struct expr *x)
{
	struct scope *left = scope;

	expr_each(x, note_list, &left);
	return !left;
}

/* task.files.fdt has them: max_fds of them, from where fd points to. */
static struct expr *open_file(struct scope *scope, const struct ast *call, struct expr *fd)
{
	static const char *const table[] = { "files", "fdt", NULL };
	static const char *const number[] = { "max_fds", NULL }, *const pointers[] = { "fd", NULL };
	struct expr *task, *fdt, *n, *from, *e;

	if (is_of_list(scope, fd))
		return diag_refuse(
			scope->diags, "type-mismatch", fd->span,
			"%s() takes a descriptor of the process whose event it is, and a "
			"list has no events" HINT "iter:task_file has file: %s(file)",
			call->text, call->text);
	task = task_of(scope, call, fd);
	fdt = task ? bind_member_chain(scope, task, call->span, table) : NULL;
	n = fdt ? bind_member_chain(scope, fdt, call->span, number) : NULL;
	from = n ? bind_member_chain(scope, fdt, call->span, pointers) : NULL;
	if (!from)
		return NULL;
	e = expr_make(scope->arena, EXPR_MEMBER, call->span, 3, fd, n, from);
	e->read = READ_FILE;
	e->nullable = true;
	e->name = "file";
	e->member = (struct catalog_member){
		.size_bytes = 8,
		.type = { .kind = TYPE_POINTER, .bits = 64 },
		.is_pointer = true,
		.pointee_btf_id = catalog_btf_id(scope->catalog, BTF_KIND_STRUCT, "file"),
	};
	expr_set_type(e, e->member.type);
	return e;
}

/* How a dentry is had of what x is, and its mount. */
static const struct file_struct {
	const char *name;
	const char *const *dentry, *const *mount; /* mount: NULL: it has none */
} structs[] = {
	{ "struct file", (const char *const[]){ "f_path", "dentry", NULL },
	  (const char *const[]){ "f_path", "mnt", NULL } },
	{ "struct path", (const char *const[]){ "dentry", NULL },
	  (const char *const[]){ "mnt", NULL } },
	{ "struct dentry", (const char *const[]){ NULL }, NULL },
};

static const struct file_struct *struct_of(struct scope *scope, const struct expr *e)
{
	u32 id = bind_struct_behind(scope, e);
	const char *name = id ? catalog_struct_name(scope->catalog, id) : "";

	for (u32 i = 0; i < ARRAY_SIZE(structs); i++)
		if (strcmp(structs[i].name, name) == 0)
			return &structs[i];
	return NULL;
}

/* The file, path or dentry that an argument is, or whose descriptor. */
static struct expr *bind_file(struct scope *scope, const struct ast *call, const struct ast *ast,
			      const struct file_struct **ret_of)
{
	struct expr *e = bind_path(scope, ast);

	*ret_of = e ? struct_of(scope, e) : NULL;
	if (!e || (*ret_of && !(e->kind == EXPR_MEMBER && e->is_of_user)))
		return e;
	if (!*ret_of && bind_is_value(scope, e) && e->type.kind == TYPE_INT) {
		*ret_of = &structs[0];
		return open_file(scope, call, e);
	}
	return diag_refuse(scope->diags, "type-mismatch", ast->span,
			   "%s() takes a descriptor, or a pointer to a struct file, path or "
			   "dentry" HINT "an address is made one by CAST(x AS 'struct file *')",
			   call->text);
}

/* x, and how many bytes to read, 0 where the query does not say; NULL after a diagnostic. */
static struct expr *bind_arguments(struct scope *scope, const struct ast *ast, u32 least, u32 most,
				   const struct file_struct **ret_of, u32 *ret_bytes)
{
	struct expr *e;

	if (ast->n_args < 1 || ast->n_args > 2)
		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "%s() takes a descriptor or a file, and how many bytes to read: "
				   "%s(fd, 64)",
				   ast->text, ast->text);
	e = bind_file(scope, ast, ast->args[0], ret_of);
	*ret_bytes = 0;
	if (e && ast->n_args == 2)
		*ret_bytes = bind_bytes(scope, ast, ast->args[1], least, most);
	return ast->n_args == 2 && !*ret_bytes ? NULL : e;
}

struct expr *bind_file_name(struct scope *scope, const struct ast *ast)
{
	static const char *const name[] = { "d_name", "name", NULL };
	const struct file_struct *of;
	struct expr *e;
	u32 n;

	e = bind_arguments(scope, ast, 1, NAME_MAX, &of, &n);
	e = e ? bind_member_chain(scope, e, ast->span, of->dentry) : NULL;
	e = e ? bind_member_chain(scope, e, ast->span, name) : NULL;
	if (!e)
		return NULL;
	e = bind_read_new(scope, READ_NAME, ast->span, e, NULL);
	e->integer = n;
	e->name = "file_name";
	expr_set_type(e, type_text(n ?: NAME_MAX));
	return bind_of_one_event(scope, e);
}

/* --- Paths --- */

static const struct {
	const char *of, *member;
	size_t offset;
} members[] = {
	{ "dentry", "d_parent", offsetof(struct file_offsets, parent) },
	{ "dentry", "d_name.name", offsetof(struct file_offsets, name) },
	{ "dentry", "d_name.len", offsetof(struct file_offsets, name_length) },
	{ "dentry", "d_hash.pprev", offsetof(struct file_offsets, hashed) },
	{ "dentry", "d_sb", offsetof(struct file_offsets, super_block) },
	{ "dentry", "d_inode", offsetof(struct file_offsets, inode) },
	{ "super_block", "s_magic", offsetof(struct file_offsets, magic) },
	{ "inode", "i_ino", offsetof(struct file_offsets, inode_number) },
	{ "vfsmount", "mnt_root", offsetof(struct file_offsets, mount_root) },
	{ "mount", "mnt", offsetof(struct file_offsets, mount) },
	{ "mount", "mnt_parent", offsetof(struct file_offsets, mount_parent) },
	{ "mount", "mnt_mountpoint", offsetof(struct file_offsets, mountpoint) },
};

static const struct file_offsets *find_offsets(struct scope *scope, const struct ast *call)
{
	struct file_offsets *offsets = arena_new(scope->arena, struct file_offsets);

	for (u32 i = 0; i < ARRAY_SIZE(members); i++) {
		u32 id = catalog_btf_id(scope->catalog, BTF_KIND_STRUCT, members[i].of);
		struct catalog_member m;

		if (!id || catalog_member(scope->catalog, id, members[i].member, NULL, &m))
			return diag_refuse(scope->diags, "no-members", call->span,
					   "the kernel's type information does not say where %s of "
					   "struct %s is, which %s() needs",
					   members[i].member, members[i].of, call->text);
		*(u32 *)((char *)offsets + members[i].offset) = (u32)(m.offset_bits / 8);
	}
	return offsets;
}

struct expr *bind_file_path(struct scope *scope, const struct ast *ast)
{
	static const char *const root[] = { "fs", "root", NULL };
	const struct file_struct *of;
	struct expr *x, *task, *e, *args[4] = { NULL };
	u32 n, n_args = 1;

	x = bind_arguments(scope, ast, PATH_BYTES_LEAST, PATH_BYTES_MOST, &of, &n);
	args[0] = x ? bind_member_chain(scope, x, ast->span, of->dentry) : NULL;
	if (args[0] && of->mount) {
		n_args = ARRAY_SIZE(args);
		args[1] = bind_member_chain(scope, x, ast->span, of->mount);
		task = args[1] ? task_of(scope, ast, x) : NULL;
		e = task ? bind_member_chain(scope, task, ast->span, root) : NULL;
		args[2] = e ? bind_member_chain(scope, e, ast->span, structs[1].dentry) : NULL;
		args[3] = args[2] ? bind_member_chain(scope, e, ast->span, structs[1].mount) : NULL;
	}
	if (!args[n_args - 1])
		return NULL;
	e = expr_make(scope->arena, EXPR_MEMBER, ast->span, n_args, args[0], args[1], args[2],
		      args[3]);
	e->read = READ_PATH;
	e->nullable = true;
	e->integer = n;
	e->name = "file_path";
	e->offsets = find_offsets(scope, ast);
	expr_set_type(e, type_text(n ?: PATH_BYTES));
	return e->offsets ? bind_of_one_event(scope, e) : NULL;
}
