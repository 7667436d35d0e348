/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes the snapshot that the tests use, a small part of what the kernel has:
 *   freeze tests/catalog/kernel-RELEASE
 * on a kernel whose tracefs and BTF are readable.  It is no test.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cat/cat.h"

/* CATEGORY:EVENT. */
static const char *const events[] = {
	"syscalls:sys_*_read",
	"syscalls:sys_*_write",
	"syscalls:sys_*_pread64",
	"syscalls:sys_*_openat",
	"syscalls:sys_*_sendto",
	"syscalls:sys_*_newfstat",
	"syscalls:sys_*_fsync",
	"syscalls:sys_*_clone",
	"syscalls:sys_*_clone3",
	"syscalls:sys_*_fork",
	"syscalls:sys_*_vfork",
	"raw_syscalls:*",
	"sched:sched_switch",
	"sched:sched_wakeup",
	"sched:sched_wakeup_new",
	"sched:sched_waking",
	"sched:sched_process_exec",
	"sched:sched_process_exit",
	"irq:*",
	"block:block_rq_insert",
	"block:block_rq_issue",
	"block:block_rq_complete",
	"kmem:kmem_cache_alloc",
	"sock:inet_sock_set_state",
	"exceptions:page_fault_*",
};

static const char *const raw[] = { "sched_switch",	 "sched_wakeup",       "sched_wakeup_new",
				   "sched_migrate_task", "sched_process_exec", "sys_enter",
				   "sys_exit",		 "block_rq_issue",     "block_rq_insert",
				   "block_rq_complete",	 "block_rq_requeue",   "irq_handler_entry",
				   "irq_handler_exit",	 "softirq_entry",      "softirq_exit",
				   "page_fault_user",	 "inet_sock_set_state" };

static const char *const functions[] = { "vfs_read",	    "tcp_sendmsg",
					 "tcp_setsockopt",  "ep_loop_check_proc",
					 "bpf_iter_task",   "bpf_iter_task_file",
					 "__x64_sys_fsync", "__do_sys_vfork" };

/* With what is counted in them; others lose all of that. */
static const char *const enums[] = { "req_op", "req_flag_bits", "blktrace_cat" };

/* Structs with the members that are kept, between blanks; NULL: all.  Others lose all of theirs. */
static const struct {
	const char *name, *members;
} structs[] = {
	{ "pt_regs", NULL },
	{ "task_struct",
	  " thread_info real_parent parent group_leader tgid pid thread_pid comm flags prio "
	  "start_time mm cred __state exit_state on_cpu on_rq se signal real_cred utime stime "
	  "cgroups files fs " },
	{ "thread_info", " status cpu " },
	{ "signal_struct", " nr_threads " },
	{ "css_set", " dfl_cgrp " },
	{ "cgroup", " kn " },
	{ "kernfs_node", " id " },
	{ "sched_entity", " cfs_rq vprot sum_exec_runtime " },
	{ "cfs_rq", " rq " },
	{ "rq", " nr_running " },
	{ "pid", " level numbers " },
	{ "upid", NULL },
	{ "pid_namespace", " ns " },
	{ "ns_common", " inum " },
	{ "mm_struct", " owner total_vm " },
	{ "cred", " uid gid " },
	{ "request", " __data_len q __sector state cmd_flags bio " },
	{ "bio", " bi_ioprio " },
	{ "irqaction", " name " },
	{ "sock", " __sk_common sk_protocol " },
	{ "sock_common", " skc_family skc_dport " },
	{ "request_queue", " disk " },
	{ "gendisk", " major first_minor " },
	{ "file", " f_path f_inode f_flags f_pos " },
	{ "inode", " i_ino i_sb i_mode " },
	{ "super_block", " s_dev s_magic " },
	{ "path", NULL },
	{ "dentry", " d_name d_parent d_hash d_sb d_inode " },
	{ "hlist_bl_node", NULL },
	{ "vfsmount", " mnt_root " },
	{ "mount", " mnt mnt_parent mnt_mountpoint " },
	{ "files_struct", " fdt " },
	{ "fdtable", " max_fds fd " },
	{ "fs_struct", " root " },
	{ "qstr", NULL },
};

/* --- tracefs --- */

static void write_file(const char *folder, const char *name, const void *bytes, size_t n)
{
	struct buf path, text;
	int fd;

	buf_init(&path);
	buf_init(&text);
	buf_printf(&path, "%s/%s", folder, name);
	for (char *slash = strchr(path.at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path.at, 0777);
		*slash = '/';
	}
	fd = open(path.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	buf_put(&text, bytes, n);
	if (fd < 0 || buf_flush(&text, fd, NULL))
		fprintf(stderr, "freeze: %s: %s\n", path.at, strerror(errno));
	close(fd);
	buf_free(&text);
	buf_free(&path);
}

/* The format file of a stream, without the form in which the kernel would print it. */
static void freeze_stream(const char *folder, const struct stream *stream, struct buf *list)
{
	char from[320], to[256];
	struct buf text;
	char *end;

	snprintf(to, sizeof(to), "events/%s/%s/format", stream->category, stream->event);
	snprintf(from, sizeof(from), "/sys/kernel/tracing/%s", to);
	buf_init(&text);
	if (buf_read_file(&text, from, SIZE_MAX))
		fprintf(stderr, "freeze: cannot read %s\n", from);
	end = strstr(text.at, "\nprint fmt:");
	write_file(folder, to, text.at, end ? (size_t)(end - text.at) + 1 : text.n);
	buf_printf(list, "%s:%s\n", stream->category, stream->event);
	buf_free(&text);
}

static void freeze_events(const char *folder)
{
	struct catalog *catalog;
	struct arena arena;
	struct diags diags;
	struct buf list;

	arena_init(&arena);
	buf_init(&list);
	catalog = catalog_open_live(&arena);
	for (u32 i = 0; i < ARRAY_SIZE(events); i++) {
		size_t n = strcspn(events[i], ":");
		const char *path[] = { "tracepoint", arena_strndup(&arena, events[i], n),
				       events[i] + n + 1 };
		const struct stream_list *found;

		diags_init(&diags, &arena, "freeze", "", 0);
		found = catalog_find(catalog, path, 3, SPAN_NONE, &diags);
		if (!found)
			fprintf(stderr, "freeze: %s names nothing on this kernel\n", events[i]);
		for (u32 k = 0; found && k < found->streams.n; k++)
			freeze_stream(folder, found->streams.at[k], &list);
	}
	write_file(folder, "available_events", list.at, list.n);
	catalog_close(catalog);
	buf_free(&list);
	arena_free(&arena);
}

/* --- BTF --- */

struct copy {
	struct btf *from, *to;
	struct arena arena;
	u32 *numbers; /* of a type of from, in to; 0: not wanted so far */
	VEC(u32) ids; /* of from, as they are numbered */
};

/* The number that the type will have. */
static int want(struct copy *copy, u32 id)
{
	if (id && !copy->numbers[id]) {
		vec_push(&copy->arena, &copy->ids, id);
		copy->numbers[id] = copy->ids.n;
	}
	return (int)copy->numbers[id];
}

static bool is_kept(const char *in, const char *member)
{
	char word[128];

	if (!in[0])
		return true; /* an unnamed one: what it has is its parent's */
	for (u32 i = 0; i < ARRAY_SIZE(structs); i++) {
		if (strcmp(structs[i].name, in) != 0)
			continue;
		snprintf(word, sizeof(word), " %s ", member);
		return !structs[i].members || strstr(structs[i].members, word) || !member[0];
	}
	return false;
}

static void copy_composite(struct copy *copy, const struct btf_type *t, const char *name)
{
	const struct btf_member *members = btf_members(t);

	if (btf_is_struct(t))
		btf__add_struct(copy->to, name, t->size);
	else
		btf__add_union(copy->to, name, t->size);
	for (u32 i = 0; i < btf_vlen(t); i++) {
		const char *member = btf__name_by_offset(copy->from, members[i].name_off);

		if (is_kept(name, member))
			btf__add_field(copy->to, member, want(copy, members[i].type),
				       btf_member_bit_offset(t, i), btf_member_bitfield_size(t, i));
	}
}

static void copy_enum(struct copy *copy, const struct btf_type *t, const char *name)
{
	btf__add_enum(copy->to, name, t->size);
	for (u32 i = 0; i < ARRAY_SIZE(enums); i++)
		for (u32 k = 0; strcmp(enums[i], name) == 0 && k < btf_vlen(t); k++)
			btf__add_enum_value(
				copy->to, btf__name_by_offset(copy->from, btf_enum(t)[k].name_off),
				btf_enum(t)[k].val);
}

static void copy_type(struct copy *copy, u32 id)
{
	const struct btf_type *t = btf__type_by_id(copy->from, id);
	const char *name = btf__name_by_offset(copy->from, t->name_off);
	const struct btf_param *params = btf_params(t);
	struct btf *to = copy->to;

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		btf__add_int(to, name, t->size, btf_int_encoding(t));
		break;
	case BTF_KIND_PTR:
		btf__add_ptr(to, want(copy, t->type));
		break;
	case BTF_KIND_TYPEDEF:
		btf__add_typedef(to, name, want(copy, t->type));
		break;
	case BTF_KIND_CONST:
		btf__add_const(to, want(copy, t->type));
		break;
	case BTF_KIND_VOLATILE:
		btf__add_volatile(to, want(copy, t->type));
		break;
	case BTF_KIND_RESTRICT:
		btf__add_restrict(to, want(copy, t->type));
		break;
	case BTF_KIND_TYPE_TAG:
		btf__add_type_tag(to, name, want(copy, t->type));
		break;
	case BTF_KIND_ARRAY:
		btf__add_array(to, want(copy, btf_array(t)->index_type),
			       want(copy, btf_array(t)->type), btf_array(t)->nelems);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		copy_composite(copy, t, name);
		break;
	case BTF_KIND_ENUM:
		copy_enum(copy, t, name);
		break;
	case BTF_KIND_ENUM64:
		btf__add_enum64(to, name, t->size, btf_kflag(t));
		break;
	case BTF_KIND_FWD:
		btf__add_fwd(to, name, btf_kflag(t) ? BTF_FWD_UNION : BTF_FWD_STRUCT);
		break;
	case BTF_KIND_FUNC:
		btf__add_func(to, name, btf_vlen(t), want(copy, t->type));
		break;
	case BTF_KIND_FUNC_PROTO:
		btf__add_func_proto(to, want(copy, t->type));
		for (u32 i = 0; i < btf_vlen(t); i++)
			btf__add_func_param(to, btf__name_by_offset(copy->from, params[i].name_off),
					    want(copy, params[i].type));
		break;
	default:
		BUG("type %u of BTF is of kind %u", id, btf_kind(t));
	}
	BUG_ON(btf__type_cnt(to) - 1 != copy->numbers[id]);
}

static void want_name(struct copy *copy, u32 kind, const char *prefix, const char *name)
{
	char whole[128];
	int id;

	snprintf(whole, sizeof(whole), "%s%s", prefix, name);
	id = btf__find_by_name_kind(copy->from, whole, kind);
	if (id > 0)
		want(copy, (u32)id);
	else
		fprintf(stderr, "freeze: %s is not in this kernel's BTF\n", whole);
}

static void freeze_btf(const char *folder)
{
	struct copy copy = { .from = btf__parse("/sys/kernel/btf/vmlinux", NULL),
			     .to = btf__new_empty() };
	const void *bytes;
	u32 n_bytes;

	if (!copy.from || !copy.to) {
		fputs("freeze: cannot read the kernel's BTF\n", stderr);
		return;
	}
	arena_init(&copy.arena);
	copy.numbers = arena_array(&copy.arena, u32, btf__type_cnt(copy.from));
	for (u32 i = 0; i < ARRAY_SIZE(raw); i++) {
		want_name(&copy, BTF_KIND_TYPEDEF, "btf_trace_", raw[i]);
		want_name(&copy, BTF_KIND_FUNC, "__traceiter_", raw[i]);
	}
	for (u32 i = 0; i < ARRAY_SIZE(structs); i++)
		want_name(&copy, BTF_KIND_STRUCT, "", structs[i].name);
	for (u32 i = 0; i < ARRAY_SIZE(enums); i++)
		want_name(&copy, BTF_KIND_ENUM, "", enums[i]);
	for (u32 i = 0; i < ARRAY_SIZE(functions); i++)
		want_name(&copy, BTF_KIND_FUNC, "", functions[i]);
	want_name(&copy, BTF_KIND_FUNC, "", "bpf_rdonly_cast");
	for (u32 i = 0; i < copy.ids.n; i++)
		copy_type(&copy, copy.ids.at[i]);
	bytes = btf__raw_data(copy.to, &n_bytes);
	write_file(folder, "btf", bytes, n_bytes);
	btf__free(copy.from);
	btf__free(copy.to);
	arena_free(&copy.arena);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: freeze FOLDER\n", stderr);
		return 2;
	}
	freeze_events(argv[1]);
	freeze_btf(argv[1]);
	return 0;
}
