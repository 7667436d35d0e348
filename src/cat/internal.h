/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the files of the catalog share: the BTF blob, the catalog's state, and the
 * functions that turn tracefs texts and BTF types into streams and fields.
 */
#ifndef EBQL_CAT_INTERNAL_H
#define EBQL_CAT_INTERNAL_H

#include "cat/cat.h"

#include <linux/btf.h>
#include <sys/stat.h>

/* Capacity of a string whose length is only known at run time (__data_loc). */
#define DYNAMIC_TEXT_BYTES 64
/* A raw tracepoint's program sees at most this many arguments (MAX_BPF_FUNC_ARGS). */
#define RAW_ARGS_MAX 12

/* btf.c: a BTF blob in memory; every access is checked against its bounds. */
struct btf_blob {
	const u8 *data;
	size_t data_bytes;
	bool is_mapped; /* data is ours to unmap */
	const u8 *types;
	u32 types_bytes;
	const char *strings;
	u32 strings_bytes;
	/* marks[k] is the offset of type 64 k + 1; filled as far as scans have come. */
	u32 *marks;
	u32 n_marks;
	/* Of a module: its types' and names' numbers go on behind those of the kernel's own blob.
	 * An id has above BTF_ID_BITS which module's it is; 0: the kernel's own. */
	const struct btf_blob *base;
	const char *module;
	u32 number, first_id;
	struct btf_blob *modules; /* of the kernel's own: modules[number - 1] */
	u32 n_modules;
};

/* As many as an id in the kernel can have (BTF_MAX_TYPE). */
#define BTF_ID_BITS 20
#define BTF_ID_MASK ((1u << BTF_ID_BITS) - 1)

struct btf_view {
	const struct btf_blob *blob;
	u32 id;
	const char *name;
	u32 kind, vlen;
	bool kind_flag;
	u32 size_or_type;
	const u8 *tail; /* what follows struct btf_type: u32 words, length checked */
};

/* Unaligned load of the i-th word of a type's tail. */
static inline u32 btf_word(const struct btf_view *view, u32 i)
{
	u32 word;

	__builtin_memcpy(&word, view->tail + 4 * (size_t)i, 4);
	return word;
}

/* 0, or -EINVAL when the header makes no sense.  data must outlive btf.  base: of a module's. */
int btf_init(struct btf_blob *btf, struct arena *arena, struct btf_blob *base, const void *data,
	     size_t data_bytes);
/* Maps or reads the file; 0 or -errno. */
int btf_open(struct btf_blob *btf, struct arena *arena, struct btf_blob *base, const char *path);
/* Those of modules: the files of the folder, as far as they can be read. */
void btf_open_modules(struct btf_blob *btf, struct arena *arena, const char *folder);
void btf_close(struct btf_blob *btf);
struct btf_wanted {
	u32 kind;
	const char *name;
	u32 place; /* of the name among the strings; 0: no type bears it */
	u32 id;	   /* of the first type of that kind and name, 0: there is none */
};
/* Finds the ids of all of them in one walk over the types. */
void btf_find_all(struct btf_blob *btf, struct btf_wanted *wanted, u32 n);
u32 btf_find(struct btf_blob *btf, u32 kind, const char *name);
/* The same of modules, or of this one; 0: none has it, or several have. */
u32 btf_find_in_modules(struct btf_blob *btf, u32 kind, const char *name, const char *only);
/* false when the id does not exist or its record is broken. */
bool btf_type(struct btf_blob *btf, u32 id, struct btf_view *ret_view);
/* The type behind typedefs, const, volatile, restrict and tags. */
bool btf_resolve(struct btf_blob *btf, u32 id, struct btf_view *ret_view);
/* The i-th word of a view's tail as an id, and as a name. */
u32 btf_word_id(const struct btf_view *view, u32 i);
const char *btf_word_name(const struct btf_view *view, u32 i);
/* Visits every type of that kind whose name begins with prefix. */
void btf_each_name(struct btf_blob *btf, u32 kind, const char *prefix,
		   void (*visit)(void *context, u32 id, const char *name), void *context);

/* btf_member.c: the answers of catalog_member() and catalog_btf_type(). */
int btf_find_member(struct btf_blob *btf, u32 struct_id, const char *path, struct suggest *suggest,
		    struct catalog_member *ret_member);
int btf_describe(struct btf_blob *btf, u32 id, struct catalog_member *ret_type);
void btf_each_member(struct btf_blob *btf, u32 struct_id,
		     void (*visit)(void *context, const char *name,
				   const struct catalog_member *member),
		     void *context);

/* format.c: the text of a format file -> stream->fields and tracepoint_id; 0 or -EINVAL. */
int format_parse(struct arena *arena, const char *text, size_t text_bytes, struct stream *stream);

/* proto.c: the i-th argument, of which nothing more is known; and its name ("": none) and type. */
struct field proto_argument(struct catalog *catalog, u32 i);
/* As catalog_any_btf_id(); of that module alone, where it is not NULL. */
#define KERNEL_MODULE "vmlinux" /* what BTF calls the kernel itself */
u32 catalog_btf_id_of(struct catalog *catalog, u32 btf_kind, const char *name, const char *module);
/* function_code.c: is there code of that name (or MODULE:NAME) in the kernel or a module? */
bool symbol_is_code(struct arena *arena, const char *name);
/* What a function with so many arguments returns, as far as that is known. */
struct field proto_return(struct catalog *catalog, u32 n_args);
/* "vfs_read+0x10" -> vfs_read, 16; false: what is behind the + is no number. */
bool function_split(struct arena *arena, const char *event, const char **ret_name, u32 *ret_offset);
void proto_set_type(struct catalog *catalog, const char *name, u32 type, struct field *field);

/* code_x86_64.c: as arch.instruction_bytes. */
u32 code_x86_64_bytes(const u8 *code, u32 n);
/*
 * symbols.c: where the function begins in the file, and how long it is (0: nobody knows).  -ESRCH:
 * it has none of that name, but perhaps one of nearly that; -ENOTUNIQ: several; -ENOEXEC: it is no
 * program of this machine; -errno.
 */
struct symbol_place {
	u64 offset, n_bytes;
	struct file_id file;
};
int symbols_find(struct arena *arena, const char *path, const char *symbol,
		 struct symbol_place *ret_place, const char **ret_nearest);
/* By place, of names of one the first is the one to show; offset 0: chosen at run time. */
u32 symbols_count(const struct symbols *symbols);
const char *symbols_name(const struct symbols *symbols, u32 i, u64 *ret_offset);
struct file_id symbols_file(const struct symbols *symbols);

/* ctype.c: the words of a C declaration -> what is known of its type. */
enum ctype_kind { CTYPE_UNKNOWN, CTYPE_INT, CTYPE_BOOL, CTYPE_CHAR, CTYPE_POINTER, CTYPE_STRUCT };
struct ctype {
	enum ctype_kind kind;
	u8 bits; /* of INT, CHAR and BOOL */
	bool is_signed;
};
struct ctype ctype_parse(const char *text, size_t n);

struct stream_name {
	const char *name; /* canonical */
	const char *category, *event;
	/* Raw tracepoints: BTF ids of btf_trace_NAME and __traceiter_NAME, or 0.  Functions:
	 * theirs. */
	u32 typedef_id, function_id;
	/* Functions of a program: where its code is, 0: chosen at run time, and its number among
	 * the names, those of one place together.  Of its probes' places: which of the notes. */
	const struct program_file *file;
	u64 file_offset;
	u32 order;
};

struct program_file {
	const char *path;
	struct file_id id;
	const struct note *notes; /* usdt.c */
	u32 n_notes;
};

struct stream_names {
	VEC(struct stream_name) list; /* sorted by name */
	bool is_loaded;
	int error; /* why the list is empty */
};

struct file_fact {
	const char *path;
	struct stat stat; /* of when it was read */
	struct stream_list *list;
};

struct catalog {
	struct arena *arena;
	const struct arch *arch;
	bool is_live;
	s32 process;	    /* whose files programs' probes are of; 0: ours */
	struct buf scratch; /* the file read last */
	bool tracefs_looked;
	int tracefs_fd; /* its root, or a snapshot's; or -errno */
	const char *btf_path, *modules_path;
	struct btf_blob btf;
	bool btf_looked, modules_looked;
	int btf_error;
	struct pid_ns pid_ns;
	struct stream_names names[STREAM_N];
	VEC(struct btf_wanted) ids;  /* that were asked for: a search goes through all types */
	VEC(const char *) probeable; /* functions, sorted; as often as there are such */
	bool probeable_looked;
	u32 n_known;		     /* of them; the others are looked for together */
	VEC(struct file_fact) files; /* of FROM, by path */
	struct buf *facts;	     /* catalog_tell_facts(); NULL: nobody wants them */
	const char *costs_path;	     /* of a snapshot */
	bool costs_looked;
	struct costs costs;
};

/* What the catalog must know of a kind of stream: a row beside the kind's functions. */
struct stream_kind_info {
	enum stream_kind kind;
	const char *name, *shorthand; /* in paths */
	const char *form;	      /* "tracepoint:CATEGORY:NAME" */
	bool has_category;	      /* may be left out where only one has such an event */
	bool needs_category;	      /* it may not be left out */
	bool is_whole;		      /* a name without one is no shorter form of another */
	bool has_many;		      /* names: only those that a word asks for are shown */
	bool has_provider;	      /* which stands before the name, and may be left out */
	bool is_twin;		      /* has the names of another kind, which shows them */
	/* Appends all names; 0 or -errno. */
	int (*list)(struct catalog *catalog, const struct stream_kind_info *kind,
		    struct stream_names *names);
	/* In its place: the category is a file, and these are its names. */
	int (*list_file)(struct catalog *catalog, const struct stream_kind_info *kind,
			 const char *file, struct stream_names *names);
	/* 0, -ENOENT, -EINVAL, or why its source could not be asked.  With next_place: several. */
	int (*load)(struct catalog *catalog, const struct stream_kind_info *kind,
		    const char *category, const char *event, struct stream **ret_stream);
	/* The same for one of a wildcard's matches, of which `list` knows more than the name;
	 * -ENOENT: it is left out.  NULL: load() does. */
	int (*load_listed)(struct catalog *catalog, const struct stream_kind_info *kind,
			   const struct stream_name *name, struct stream **ret_stream);
	/* What to say of a name that is none of these, or NULL; may be NULL itself. */
	const char *(*meant)(struct catalog *catalog, const struct stream_kind_info *kind,
			     const struct stream_names *names, const char *category,
			     const char *event);
	const char *nowhere; /* what a name is that is near none; NULL: no more is known */
	/* A diagnostic for an error of these two other than -ENOENT and -EINVAL. */
	void (*complain)(struct catalog *catalog, int error, struct span span, struct diags *diags);
};

extern const struct stream_kind_info tracefs_kind; /* tracefs.c */
extern const struct stream_kind_info raw_kind;	   /* raw.c */
/* function.c */
extern const struct stream_kind_info kprobe_kind, kretprobe_kind, fentry_kind, fexit_kind;
/* uprobe.c */
extern const struct stream_kind_info uprobe_kind, uretprobe_kind;
/* The program or library that is called so, or NULL; and what is wrong with it. */
const char *program_find(struct catalog *catalog, const char *name);
void program_complain(struct catalog *catalog, int error, struct span span, struct diags *diags);
extern const struct stream_kind_info usdt_kind; /* usdt.c */
/* sample.c */
extern const struct stream_kind_info profile_kind, interval_kind, software_kind, hardware_kind;
extern const struct stream_kind_info iterator_kind; /* iterator.c */
/* kinds.c: all; NULL: it has no path (files). */
extern const struct stream_kind_info *const stream_kinds[STREAM_N];
/* By its long or short word, or NULL. */
const struct stream_kind_info *stream_kind_named(const char *word);

/* stream.c */
const char *stream_canonical_name(struct arena *arena, const struct stream_kind_info *kind,
				  const char *category, const char *event);
/* Number of the system call that "sys_enter_fstat" speaks of, or -1. */
s32 event_syscall(const struct catalog *catalog, const char *event);
struct stream *stream_new(struct arena *arena, const struct stream_kind_info *kind,
			  const char *category, const char *event);
void stream_names_add(struct arena *arena, struct stream_names *names,
		      const struct stream_kind_info *kind, const char *category, const char *event);
/* By name. */
void stream_names_sort(struct stream_names *names);
/* All names of the kind, sorted, read once. */
const struct stream_names *stream_names_of(struct catalog *catalog,
					   const struct stream_kind_info *kind);
/* The same, or those of a file. */
const struct stream_names *
stream_names_in(struct catalog *catalog, const struct stream_kind_info *kind, const char *category);

/* tracefs.c: a file of tracefs -> catalog->scratch; 0 or -errno (-ENODEV: there is none). */
int tracefs_read(struct catalog *catalog, const char *path);

/* raw.c: BTF or NULL with btf_error set. */
struct btf_blob *catalog_btf(struct catalog *catalog);
/* catalog.c: the same, with those of the modules. */
struct btf_blob *catalog_modules_btf(struct catalog *catalog);

/* --- Names of numbers --- */

/* naming_table.c */
extern const struct naming naming_syscall, naming_task_state, naming_softirq, naming_tcp_state;
extern const struct naming naming_device;
extern const struct naming naming_errno, naming_signal, naming_capability;
extern const struct naming naming_family, naming_protocol, naming_policy;
/* naming_flags.c */
extern const struct naming naming_open_flags, naming_mmap_prot, naming_mmap_flags;
extern const struct naming naming_clone_flags, naming_socket_type, naming_mount_flags;
extern const struct naming naming_futex_op, naming_request_flags, naming_mode;
/* naming_host.c */
extern const struct naming naming_user, naming_group, naming_disk, naming_port;
/* naming_symbol.c */
extern const struct naming naming_sym;
/* naming_cgroup.c */
extern const struct naming naming_cgroup, naming_container;
/* The name of a number that look_up() finds, which is asked once a second at most. */
const char *naming_known(const struct naming *naming, s64 x, char *room,
			 const char *(*look_up)(s64 x, char *room));

#endif
