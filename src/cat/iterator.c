/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's own lists: iter:NAME -> a stream of the objects that a BPF iterator of that name
 * visits.  A function bpf_iter_NAME of the kernel's BTF says what a program is called with; the
 * columns that people expect are expressions over that (plan/fields.sql).
 */
#include "cat/internal.h"

#include <errno.h>
#include <string.h>

struct plain_column {
	const char *name;
	struct type type;
	const char *meaning;
	bool is_read; /* a text behind a pointer: it may be cut */
};

#define U16                                                                                        \
	{                                                                                          \
		TYPE_INT, 16                                                                       \
	}
#define U32                                                                                        \
	{                                                                                          \
		TYPE_INT, 32                                                                       \
	}
#define S32                                                                                        \
	{                                                                                          \
		TYPE_INT, 32, true                                                                 \
	}
#define U64                                                                                        \
	{                                                                                          \
		TYPE_INT, 64                                                                       \
	}
#define S64                                                                                        \
	{                                                                                          \
		TYPE_INT, 64, true                                                                 \
	}
#define BOOL                                                                                       \
	{                                                                                          \
		TYPE_BOOL, 8                                                                       \
	}
#define DURATION                                                                                   \
	{                                                                                          \
		TYPE_DURATION, 64                                                                  \
	}
#define TIME                                                                                       \
	{                                                                                          \
		TYPE_TIMESTAMP, 64, .clock = CLOCK_MONO                                            \
	}
#define TEXT(n)                                                                                    \
	{                                                                                          \
		TYPE_TEXT, .bytes = n                                                              \
	}

static const struct plain_column of_task[] = {
	{ "pid", U32, "the process (thread group)" },
	{ "tid", U32, "the thread" },
	{ "ppid", U32, "the parent process; 0: none in this PID namespace" },
	{ "comm", TEXT(16), "the thread's name" },
	{ "state", TEXT(1),
	  "R running, S sleeping, D disk sleep, T stopped, t traced, Z zombie, "
	  "X dead, P parked, I idle" },
	{ "uid", U32, "the user, as the initial namespace numbers it" },
	{ "gid", U32, "the group, as the initial namespace numbers it" },
	{ "cpu", U32, "the CPU that it is on, or was on last" },
	{ "threads", S32, "how many threads the process has" },
	{ "start_time", TIME, "when the thread began (CLOCK_MONOTONIC)" },
	{ "runtime", DURATION, "CPU time, exactly" },
	{ "utime", DURATION, "CPU time in user mode, as ticks sample it" },
	{ "stime", DURATION, "CPU time in the kernel, as ticks sample it" },
	{ "vm_pages", U64, "pages of its address space; 0: a thread of the kernel" },
	{ "is_kernel", BOOL, "a thread of the kernel" },
	{ "cgroup", U64, "id of its cgroup (version 2)" },
	{ NULL },
};

static const struct plain_column of_task_file[] = {
	{ "pid", U32, "the process (thread group)" },
	{ "comm", TEXT(16), "the name of its first thread" },
	{ "uid", U32, "the user, as the initial namespace numbers it" },
	{ "name", TEXT(64), "the last part of the file's path", true },
	{ "inode", U64, "the file's number in its file system" },
	{ "dev", U32, "its file system: device_name(dev)" },
	{ "mode", U16, "its kind and permissions, as stat() has them" },
	{ "flags", U32, "how it was opened, as open() has them" },
	{ "pos", S64, "where it is read and written next" },
	{ NULL },
};

static const struct plain_column of_tcp[] = {
	{ "state", { TYPE_INT, 8 }, "tcp_state(state) is its name" },
	{ "family", U16, "2 IPv4, 10 IPv6" },
	{ "laddr", U32, "IPv4: its own address, in network order" },
	{ "lport", U16, "its own port" },
	{ "raddr", U32, "IPv4: the other side's address, in network order" },
	{ "rport", U16, "the other side's port" },
	{ "rx_queue", U32, "bytes to be read; LISTEN: connections to be accepted" },
	{ "tx_queue", U32, "bytes that the other side has not confirmed" },
	{ "inode", U64, "of its file, as in iter:task_file; 0: it has none" },
	{ "netns", U32, "the network namespace, by inode" },
	{ NULL },
};

static const struct plain_column of_udp[] = {
	{ "family", U16, "2 IPv4, 10 IPv6" },
	{ "laddr", U32, "IPv4: its own address, in network order" },
	{ "lport", U16, "its own port" },
	{ "raddr", U32, "IPv4: the address that it is connected to, in network order" },
	{ "rport", U16, "the port that it is connected to" },
	{ "rx_queue", S32, "bytes of memory that wait to be read" },
	{ "tx_queue", S32, "bytes of memory that wait to be sent" },
	{ "inode", U64, "of its file, as in iter:task_file; 0: it has none" },
	{ "netns", U32, "the network namespace, by inode" },
	{ NULL },
};

static const struct plain_column of_bpf_prog[] = {
	{ "id", U32, "the program's number" },
	{ "name", TEXT(16), "its name" },
	{ "type", U32, "enum bpf_prog_type" },
	{ "uid", U32, "who loaded it" },
	{ "insns", U32, "instructions, as the kernel runs them" },
	{ "run_cnt", U64, "how often it ran while kernel.bpf_stats_enabled was on" },
	{ "run_time_ns", U64, "and for how long in all" },
	{ NULL },
};

static const struct plain_column of_bpf_map[] = {
	{ "id", U32, "the map's number" },
	{ "name", TEXT(16), "its name" },
	{ "type", U32, "enum bpf_map_type" },
	{ "key_bytes", U32, "of a key" },
	{ "value_bytes", U32, "of a value" },
	{ "max_entries", U32, "how many it can hold" },
	{ NULL },
};

static const struct iterator {
	const char *name;
	const struct plain_column *columns;
	/* The object, known for more than the iterator's prototype says. */
	const char *cast, *cast_struct;
} iterators[] = {
	{ "task", of_task }, { "task_file", of_task_file }, { "tcp", of_tcp, "tcp_sk", "tcp_sock" },
	{ "udp", of_udp },   { "bpf_prog", of_bpf_prog },   { "bpf_map", of_bpf_map },
};

static const struct iterator *find(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(iterators); i++)
		if (!strcmp(iterators[i].name, name))
			return &iterators[i];
	return NULL;
}

static struct field plain_field(const struct plain_column *c)
{
	return (struct field){ .name = c->name,
			       .declaration = c->meaning,
			       .kind = c->is_read ? FIELD_DATA_LOC : FIELD_FIXED,
			       .type = c->type,
			       .size_bytes = MAX(c->type.bytes, c->type.bits / 8u) };
}

/* What the program is called with: each in 8 bytes, behind struct bpf_iter_meta *. */
static void add_arguments(struct catalog *catalog, const struct btf_view *proto, struct stream *s)
{
	for (u32 i = 1; i < proto->vlen; i++) {
		struct field *f = &s->fields[s->n_fields++];

		*f = proto_argument(catalog, i);
		proto_set_type(catalog, btf_word_name(proto, 2 * i), btf_word_id(proto, 2 * i + 1),
			       f);
	}
}

static void add_cast(struct catalog *catalog, const struct iterator *it, struct stream *s)
{
	struct field *f = &s->fields[s->n_fields++];

	*f = proto_argument(catalog, 1);
	f->kind = FIELD_CAST;
	f->name = it->cast;
	f->declaration = arena_printf(catalog->arena, "struct %s *%s", it->cast_struct, it->cast);
	f->type = (struct type){ .kind = TYPE_POINTER, .bits = 64 };
	f->btf_type_id = catalog_btf_id(catalog, BTF_KIND_STRUCT, it->cast_struct);
}

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	const struct iterator *it = find(event);
	struct btf_view proto;
	u32 id, n = 0;
	struct stream *s;

	if (!it)
		return -ENOENT;
	id = catalog_btf_id(catalog, BTF_KIND_FUNC,
			    arena_printf(catalog->arena, "bpf_iter_%s", event));
	if (!id || !btf_type(&catalog->btf, id, &proto) ||
	    !btf_type(&catalog->btf, proto.size_or_type, &proto) ||
	    proto.kind != BTF_KIND_FUNC_PROTO)
		return -ENODATA;
	while (it->columns[n].name)
		n++;
	s = stream_new(catalog->arena, kind, NULL, event);
	s->function_btf_id = id;
	s->fields = arena_array(catalog->arena, struct field, n + proto.vlen + 1);
	for (u32 i = 0; i < n; i++)
		s->fields[s->n_fields++] = plain_field(&it->columns[i]);
	add_arguments(catalog, &proto, s);
	if (it->cast)
		add_cast(catalog, it, s);
	*ret_stream = s;
	return 0;
}

struct listing {
	struct catalog *catalog;
	const struct stream_kind_info *kind;
	struct stream_names *names;
};

static void add_name(void *context, u32 id, const char *name)
{
	const struct iterator *it = find(name + strlen("bpf_iter_"));
	struct listing *l = context;

	if (it)
		stream_names_add(l->catalog->arena, l->names, l->kind, NULL, it->name);
}

/* Those that this kernel has. */
static int list(struct catalog *catalog, const struct stream_kind_info *kind,
		struct stream_names *names)
{
	struct listing l = { catalog, kind, names };

	if (!catalog_btf(catalog))
		return -ENODATA;
	btf_each_name(&catalog->btf, BTF_KIND_FUNC, "bpf_iter_", add_name, &l);
	return 0;
}

static void complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	if (!catalog_btf(catalog))
		diag_failure_at(diags, "no-btf", span,
				"the kernel has no BTF (%s), which iterators need" HINT
				"a kernel built with CONFIG_DEBUG_INFO_BTF=y has it",
				strerror(-catalog->btf_error));
	else
		diag_failure_at(diags, "no-iterator", span,
				"this kernel has no such iterator" HINT
				"ebql list iter: shows those that it has");
}

const struct stream_kind_info iterator_kind = {
	.kind = STREAM_ITERATOR,
	.name = "iter",
	.shorthand = "it",
	.form = "iter:NAME",
	.list = list,
	.load = load,
	.complain = complain,
};
