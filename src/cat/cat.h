/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The catalog: which streams this kernel has, with which columns, and the facts
 * of BTF that the later stages need.  Reads tracefs and /sys/kernel/btf lazily, or copies of them
 * (tests, explain without privileges).
 */
#ifndef EBQL_CAT_CAT_H
#define EBQL_CAT_CAT_H

#include <sys/stat.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"
#include "cat/costs.h"
#include "file/file.h"
#include "type/type.h"

/* In the order in which they are listed. */
enum stream_kind {
	STREAM_RAW_TRACEPOINT, /* raw_tracepoint:NAME */
	STREAM_TRACEPOINT,     /* tracepoint:CATEGORY:NAME */
	STREAM_KPROBE,	       /* kprobe:FUNCTION, kprobe:FUNCTION+OFFSET */
	STREAM_KRETPROBE,      /* kretprobe:FUNCTION */
	STREAM_FENTRY,	       /* fentry:FUNCTION: the event of kprobe:FUNCTION */
	STREAM_FEXIT,	       /* fexit:FUNCTION: that of kretprobe:FUNCTION */
	STREAM_UPROBE,	       /* uprobe:FILE:FUNCTION */
	STREAM_URETPROBE,      /* uretprobe:FILE:FUNCTION */
	STREAM_USDT,	       /* usdt:FILE:PROVIDER:NAME */
	STREAM_PROFILE,	       /* profile:HZ */
	STREAM_INTERVAL,       /* interval:TIME */
	STREAM_SOFTWARE,       /* software:EVENT:PERIOD */
	STREAM_HARDWARE,       /* hardware:EVENT:PERIOD */
	STREAM_ITERATOR,       /* iter:NAME: a list of the kernel's, which has no times */
	STREAM_FILE,	       /* 'FILE': recorded rows; its columns are the fields */
	STREAM_N
};

enum field_kind {
	FIELD_FIXED,	 /* offset_bytes, size_bytes in the tracepoint's record */
	FIELD_DATA_LOC,	 /* u32 at offset_bytes: (length << 16) | offset from the record's start */
	FIELD_REL_LOC,	 /* as DATA_LOC, the offset counts from behind the u32 (kernel 5.18) */
	FIELD_ARG,	 /* raw tracepoint, function: argument number offset_bytes / 8 */
	FIELD_USER_MODE, /* sample: the word at offset_bytes says in which mode the CPU was */
	FIELD_CAST,	 /* as ARG: a pointer to the struct btf_type_id */
	FIELD_RET,	 /* what a function returned; offset_bytes is behind its arguments */
	FIELD_OPERAND,	 /* of a user probe: `operand` says where it stands */
};

#define OPERAND_NO_REGISTER 0xFFFF

/* Where an argument of a user probe stands when it is hit. */
struct user_operand {
	const char *text;    /* "-4@-20(%rbp)" */
	const char *why_not; /* it cannot be read, or NULL; then nothing below holds */
	struct type type;    /* of what stands there */
	/* base + (index << index_shift) + value: it is that number, or it is at that address. */
	enum { OPERAND_VALUE, OPERAND_MEMORY } kind;
	u64 value;
	bool is_address; /* value is one of the program's file */
	u16 base, index; /* registers: bytes in struct pt_regs, or OPERAND_NO_REGISTER */
	u8 bits, shift;	 /* of a VALUE's base: so many, from that one on */
	u8 index_bits;	 /* 32: of the index this half, extended */
	bool index_is_signed;
	u8 index_shift;
};

/*
 * A column that comes with the event.  `type` is the declared C type: a syscall
 * argument `unsigned int fd` that fills 8 bytes of the record is u32, its low half.
 */
struct field {
	const char *name;
	const char *declaration; /* "unsigned int fd", as the kernel writes it */
	enum field_kind kind;
	struct type type;
	u32 offset_bytes;
	u32 size_bytes;	 /* in the record */
	u32 n_elements;	 /* of an array that is no text, `type` is then the element's; else 0 */
	u32 btf_type_id; /* raw tracepoints: the argument's BTF type; else 0 */
	struct user_operand *operand;
};

/* Why it is no column, or NULL. */
static inline const char *field_why_not(const struct field *f)
{
	return f->operand ? f->operand->why_not : NULL;
}

/* Of perf events: what happens each `period` times (or ns). */
struct stream_sample {
	u32 type;   /* PERF_TYPE_* */
	u64 config; /* PERF_COUNT_* */
	u64 period;
	bool is_of_one_cpu; /* else of each */
};

/* Which file it is, as it was when it was read. */
struct file_id {
	u64 dev, ino, changed_ns;
};

static inline struct file_id file_id_of(const struct stat *stat)
{
	return (struct file_id){ stat->st_dev, stat->st_ino,
				 (u64)stat->st_mtim.tv_sec * 1000000000 +
					 (u64)stat->st_mtim.tv_nsec };
}

static inline bool file_id_equal(struct file_id a, struct file_id b)
{
	return a.dev == b.dev && a.ino == b.ino && a.changed_ns == b.changed_ns;
}

struct stream {
	enum stream_kind kind;
	const char *name;     /* canonical: "tracepoint:syscalls:sys_enter_pread64" */
	const char *category; /* NULL for raw tracepoints; of a function the module, if named */
	const char *event;
	u32 tracepoint_id; /* tracefs "id"; 0 for raw tracepoints */
	u32 n_fields;
	struct field *fields; /* without the common_ ones and without padding */
	struct file *file;    /* STREAM_FILE */
	/* syscalls:sys_enter_X and sys_exit_X: */
	bool is_syscall_enter, is_syscall_exit;
	s32 syscall_nr;	     /* -1 when unknown (then only the tracepoint path exists) */
	const char *syscall; /* its name, or NULL */
	/* Functions, event is then their name, and user probes: */
	bool is_function, is_return;
	u32 function_btf_id;	   /* 0: BTF does not know it */
	const char *module;	   /* of which that is; NULL: of the kernel itself */
	u32 function_words;	   /* of 8 bytes that its arguments take */
	u32 function_offset_bytes; /* NAME+OFFSET */
	/* Of programs and libraries; NULL: of the kernel.  And where in the file. */
	const char *file_path;
	struct file_id file_id;
	u64 file_offset;
	u64 semaphore_offset;		    /* in the file; 0: there is none */
	struct stream *next_place;	    /* of the same user probe, or NULL */
	const struct stream_sample *sample; /* NULL: it is no sample */
};

/* Rows that are there, and no events. */
static inline bool stream_is_list(const struct stream *stream)
{
	return stream->kind == STREAM_FILE || stream->kind == STREAM_ITERATOR;
}

/* Else it is a table. */
static inline bool stream_has_times(const struct stream *stream)
{
	return !stream_is_list(stream) || (stream->file && stream->file->time_column >= 0);
}

/* Columns of every kernel stream. */
enum system_column {
	SYS_TIME,
	SYS_PID,
	SYS_TID,
	SYS_PPID,
	SYS_UID,
	SYS_GID,
	SYS_COMM,
	SYS_CPU,
	SYS_CGROUP,
	SYS_NUMA_NODE,
	SYS_TASK,
	SYS_PROBE,
	SYS_KSTACK,
	SYS_USTACK,
	/* Of functions, and not shown: where the call's return address stands, or what is as much
	 * its own; the same at the entry and at the return. */
	SYS_FRAME,
	SYS_TREE,     /* target_tree(): is the process below the one that expr.integer names? */
	SYS_FUNCTION, /* its number among a wildcard's matches */
	SYS_N,
	SYS_SHOWN = SYS_FRAME
};

struct system_column_info {
	const char *name;
	struct type type;
	const char *meaning; /* one line for DESCRIBE */
	enum cost cost;	     /* of reading it */
};

extern const struct system_column_info system_columns[SYS_N];

struct catalog;

/* A path or pattern in canonical spelling: t:sched/sched_sw -> tracepoint:sched:sched_sw. */
const char *stream_written_out(struct arena *arena, const char *path);

/* Never fails for a missing tracefs or BTF: lookups then do, with the reason in diags. */
struct catalog *catalog_open_live(struct arena *arena);
/* Of programs' probes the files are those that this process has by their paths; 0: this one. */
void catalog_set_process(struct catalog *catalog, s32 pid);
/*
 * Of a folder with copies: available_events and events of tracefs, btf and btf-modules.  NULL and a
 * diagnostic when there is none, or its BTF is broken.
 */
struct catalog *catalog_open_snapshot(struct arena *arena, const char *folder, struct diags *diags);
void catalog_close(struct catalog *catalog);
/* Of this machine, or a snapshot's file `costs`; they live as long as the catalog's arena. */
const struct costs *catalog_costs(struct catalog *catalog);

/*
 * The streams a path names: {"tracepoint", "syscalls", "sys_enter_*"}; kinds also
 * by their short forms t and rt; * and ? are wildcards.  Sorted by name.  Without
 * a match: NULL, and a diagnostic (tags unknown-stream, unknown-stream-kind,
 * ambiguous-stream, no-tracefs, no-privilege, no-btf) with did-you-mean over the
 * names of that kind.  The category may be left out where one only has the name.
 */
struct stream_list {
	VEC(struct stream *) streams;
	bool is_wildcard;
	const char *pattern; /* of the event's name, if so */
	u32 n_left_out; /* matches that no program can be attached to, or not to each of them */
};
struct stream_list *catalog_find(struct catalog *catalog, const char *const *path, u32 n_path,
				 struct span span, struct diags *diags);
/* The same; messages call the kind so: a span that is made of events of other kinds. */
struct stream_list *catalog_find_as(struct catalog *catalog, const char *as,
				    const char *const *path, u32 n_path, struct span span,
				    struct diags *diags);

/* The same, for who must know why there are none. */
enum find_result {
	FIND_FOUND,
	FIND_UNKNOWN, /* the path names no stream, or not one alone */
	FIND_FAILED,  /* the names, or the stream, cannot be read here */
};
enum find_result catalog_look_up(struct catalog *catalog, const char *const *path, u32 n_path,
				 struct span span, struct diags *diags,
				 struct stream_list **ret_list);

/*
 * sched_switch, where one tracepoint alone has the name, sched:NAME of a category of theirs,
 * as perf writes it, tracepoint.sched.sched_switch -> a path; else NULL, and the full name of one
 * that may have been meant, or NULL.
 */
const char **catalog_spell(struct catalog *catalog, const char *const *path, u32 n_path, u32 *ret_n,
			   const char **ret_nearest);

/*
 * What to write for a word that is no stream, but a tracepoint, a function, or a pattern of them, a
 * kind or a rate; a hint, or NULL: it is none of these.
 */
const char *catalog_propose(struct catalog *catalog, const char *word);

/*
 * May the word (NULL: it is known to be one) be the name of a tracepoint of the running kernel,
 * whose names cannot be read here?  Says why, then.
 */
bool catalog_is_unread(struct catalog *catalog, const char *word, struct span span,
		       struct diags *diags);

/* A recording or table: one stream whose fields are the file's columns (kind FIELD_FIXED, number
 * offset_bytes / 8).  NULL and a diagnostic of file_open(). */
struct stream_list *catalog_file(struct catalog *catalog, const char *path, struct span span,
				 struct diags *diags);

/* The file's own name without folders and suffix: what it is called where it has no alias. */
const char *file_called(struct arena *arena, const char *path);

/* Has the name that word in it, or does the glob match all of it or what is behind a colon? */
bool stream_matches(const char *name, const char *pattern);
/* Calls visit for every stream name that matches; "": all. */
void catalog_each(struct catalog *catalog, const char *pattern,
		  void (*visit)(void *context, const char *name), void *context);
/* The word of a kind in paths, or NULL: it has none. */
const char *stream_kind_word(enum stream_kind kind);

/*
 * What the kernel's list of symbols says of the code of a function, as BTF or the list names it.
 */
struct function_code {
	bool is_there;	  /* a probe can be there, as far as the list tells */
	bool has_twin;	  /* code that the compiler has made of it, under another name */
	const char *text; /* NULL: and it sees all calls */
	const char *hint;
};
struct function_code function_code(struct arena *arena, const char *name);
/* Both take MODULE:NAME as well.  0: none or several have the name, or the list hides it. */
u64 function_address(struct arena *arena, const char *name);
/* The name to give them. */
const char *stream_function(struct arena *arena, const struct stream *stream);

/* BTF: id of a named type of that kind (BTF_KIND_*), 0 when there is none. */
u32 catalog_btf_id(struct catalog *catalog, u32 btf_kind, const char *name);
/*
 * The same of the modules as well, if one of them alone has it.  Such an id is the catalog's own:
 * for all here that takes ids, but the kernel has others.
 */
u32 catalog_any_btf_id(struct catalog *catalog, u32 btf_kind, const char *name);
/* Offers the names of all types of that kind. */
void catalog_suggest_type(struct catalog *catalog, u32 btf_kind, struct suggest *suggest);
/* This raw tracepoint will be asked for: with the next search its names are found, too. */
void catalog_expect_raw(struct catalog *catalog, const char *event);

/*
 * The kernel's own function of a system call ("newfstat", as tracefs calls it), which is called
 * with the registers of the thread: its id, 0 when BTF has none, and its name.
 */
u32 catalog_call_function(struct catalog *catalog, const char *call, const char **ret_name);
void catalog_expect_call(struct catalog *catalog, const char *call);

/*
 * A member of a struct: name may be a path through embedded and anonymous
 * structs ("thread_info.status").  Returns 0, -ENOENT (then suggest gets the
 * names it could have been, when not NULL), -ENODATA without BTF.  (It is not named
 * struct btf_member because linux/btf.h has one.)
 */
struct catalog_member {
	u64 offset_bits;
	u32 size_bytes;	      /* of the whole member */
	u32 bitfield_bits;    /* 0: no bitfield */
	u32 btf_type_id;      /* of the member, modifiers and typedefs resolved */
	struct type type;     /* word, TEXT of a char array, POINTER; kind NULL for a struct */
	bool is_pointer;      /* to a struct: pointee_btf_id */
	u32 pointee_btf_id;   /* struct or union; 0 for other pointers */
	bool is_char_pointer; /* char *: text behind the pointer */
	bool is_array;
	u32 n_elements;	    /* of an array; 0: as many as there is room for, as in int x[] */
	u32 element_btf_id; /* of an array or a pointer: what each is that it has, or points to */
};
int catalog_member(struct catalog *catalog, u32 struct_btf_id, const char *name,
		   struct suggest *suggest, struct catalog_member *ret_member);
/* "struct file" */
const char *catalog_struct_name(struct catalog *catalog, u32 struct_btf_id);
/* Calls visit for each member, those of anonymous structs and unions among them. */
void catalog_each_member(struct catalog *catalog, u32 struct_btf_id,
			 void (*visit)(void *context, const char *name,
				       const struct catalog_member *member),
			 void *context);
/* "pointer to struct dentry", "u64[4]", "u32:3" */
void catalog_put_type(struct catalog *catalog, const struct catalog_member *facts, struct buf *out);
/* "unsigned char", "pid_t", as programs of this kind of machine have it; 0 bits: it is none. */
struct type catalog_c_integer(const char *text);
/* The same facts for a type itself, such as a raw tracepoint's argument. */
int catalog_btf_type(struct catalog *catalog, u32 btf_type_id, struct catalog_member *ret_type);

/*
 * The PID namespace that this process runs in, as stat() of /proc/self/ns/pid tells of it; zeros:
 * /proc does not tell.  A snapshot is of the initial one.
 */
#define PID_NS_INITIAL 0xEFFFFFFCu /* PROC_PID_INIT_INO */
struct pid_ns {
	u64 dev, ino;
};
struct pid_ns catalog_pid_ns(const struct catalog *catalog);

/* Where a variable that each CPU has stands among those; false: BTF does not know it. */
bool catalog_percpu(struct catalog *catalog, const char *name, u32 *ret_bytes);
/* The number of an enumerator of a named enum; false: there is none. */
bool catalog_enumerator(struct catalog *catalog, const char *enumeration, const char *name,
			s64 *ret_number);

/*
 * What a query relies on, a line each (fact.c): from now on each member and enumerator that is
 * asked for and found, and the fields that are added.  They go into `out`.
 */
void catalog_tell_facts(struct catalog *catalog, struct buf *out);
void catalog_add_field(struct catalog *catalog, const struct stream *stream,
		       const struct field *field);

/*
 * The functions of a program or library, by where their code lies in its file; also of a stripped
 * one, as far as it tells.  0, -ENOEXEC: it is none of this machine, or -errno.
 */
struct symbols;
int symbols_open(const char *path, struct symbols **ret_symbols);
void symbols_close(struct symbols *symbols);
/* The function that the place is in, and how far from its begin; NULL: none is known there. */
const char *symbols_at(const struct symbols *symbols, u64 file_offset, u64 *ret_behind);

/*
 * What differs from machine to machine: arch_x86_64.c and arch_arm64.c, of which each is all that
 * is known of one, and both are in every ebql.  Places are bytes in the kernel's struct pt_regs.
 */
struct arch {
	const char *name;	    /* as uname -m says it */
	const char *library_folder; /* /lib/NAME, where Debian and its like have libraries */
	u16 elf_machine;
	/* System calls: their names by number, as far as machines differ. */
	const char *const *calls;
	u32 n_calls;
	const char *call_prefix;   /* of the functions that are them: "__x64_sys_" */
	const char *number_member; /* where the number is; no other machine has it */
	u16 number, call_arguments[6];
	/* Functions: the arguments that registers carry, the result, and the stack pointer, which
	 * is return_bytes higher at the return than at the entry. */
	u16 arguments[8], n_arguments, result, stack, return_bytes;
	/* Where it was, the word that has its mode, what of that says so, and says user mode; and
	 * how large all is. */
	u16 instruction, mode, mode_mask, user_mode, n_bytes;
	/* What says that a task is in a call of the 32-bit table: its place in task_struct, where
	 * that is without BTF, and the bit of the u32 there. */
	const char *compat_member;
	u32 compat_offset, compat_bit;
	/* Is a plain store, for others, behind all loads and stores before it, and a load behind
	 * all loads? */
	bool keeps_order;
	/* Does a load that may fail (BPF_PROBE_MEM) give 0 for every address that is none of the
	 * kernel's, as bpf_probe_read_kernel() fails for it? */
	bool checks_loads;
	/* So many bits at an address' upper end say nothing, in programs: the one below them does,
	 * whether it is the kernel's. */
	u8 tag_bits;
	/* How long the first instruction is; 0: it is none, or longer than the n bytes. */
	u32 (*instruction_bytes)(const u8 *code, u32 n);
	/* What instructions begin with that the kernel puts no probe at: of many places it does not
	 * say which, and to find it out takes seconds. */
	const char *unprobed;
};
extern const struct arch arch_x86_64, arch_arm64;
/* The one that this ebql is compiled for; and that of the catalog. */
extern const struct arch *const arch_own;
const struct arch *catalog_arch(const struct catalog *catalog);

/* System call names: number -> name ("pread64") or NULL, and name -> number or -1. */
const char *syscall_name(const struct arch *arch, s32 nr);
s32 syscall_number(const struct arch *arch, const char *name);
/* One more than the largest known number. */
s32 syscall_count(void);

/* --- Names of numbers --- */

#define NAMING_BYTES   4300u /* of a name */
#define NAMING_NUMBERS 4u    /* that one name stands for */

struct naming_range {
	u64 lo, end;
};

/* The numbers whose bits of the mask are the value; mask 0: that number alone. */
struct naming_bits {
	s64 mask, value;
};

/* A function that names numbers, which SQLite calls. */
struct naming {
	const char *name;
	const char *sql; /* what SQLite calls it; NULL: the same */
	u8 most;	 /* numbers that it takes; 0: one */
	/* NULL: they have no name, or func/ asks sym/.  `room`: of NAMING_BYTES, for one that is
	 * made. */
	const char *(*name_of)(const struct naming *naming, const s64 *x, u32 n, char *room);
	bool is_null_else; /* what has no name is NULL, not its digits */
	bool is_address;   /* ..., or its digits in hex; takes 2^63 and more */
	/* Of a number that may be negative, it is this one. */
	const struct naming *of_signed;
	/* A name, as of a number; NULL: a name tells no numbers.  Else those of lo to hi do, or */
	const char *example;
	s64 lo, hi;
	u32 (*numbers_of)(const struct naming *naming, const char *name, s64 *ret_numbers,
			  struct suggest *suggest);
	/* Of a name that more numbers have than could be listed; 0: there is none such. */
	u32 (*bits_of)(const char *name, struct naming_bits ret[NAMING_NUMBERS],
		       struct suggest *suggest);
	const struct flags *flags;
	/* Before rights are given up: what names are to be looked up in. */
	void (*prepare)(void);
	/* Of addresses: from each of these on, and up to, a name stands for; 0: for none; -1:
	 * for too many, or names are not known. */
	int (*ranges_of)(const char *name, struct naming_range ret[NAMING_NUMBERS],
			 struct suggest *suggest);
};

extern const struct naming *const namings[];
extern const u32 n_namings;
/* NULL: none. */
const struct naming *naming_find(const char *name);
/*
 * The numbers that are shown as `name`, at most NAMING_NUMBERS; 0: none is, and the nearest name is
 * offered.
 */
u32 naming_numbers(const struct naming *naming, const char *name, s64 *ret_numbers,
		   struct suggest *suggest);
/* Of a naming with flags: is that one of them?  If not, the nearest is offered. */
bool naming_has_flag(const struct naming *naming, const char *word, struct suggest *suggest);
/* Whose names of fixed numbers this one (SIGKILL) is among, and its number; NULL: of none. */
const struct naming *naming_with(const char *name, s64 *ret_number);
/* Is this one of its flags, that others stand beside?  Small numbers are kinds: O_WRONLY, SOCK_RAW.
 */
bool naming_is_bit(const struct naming *naming, s64 number);
/* The IPv6 address that is shown so, as naming_inet takes it. */
bool naming_address(const char *text, u64 ret_words[2]);
extern const struct naming naming_inet, naming_ntop, naming_usym;

/* --- Names of addresses --- */

/* A function: from `start` on, n_bytes long; 0: up to the next one. */
struct symbol {
	u64 start, n_bytes;
	const char *name;
	u32 order; /* in the list, before it was sorted */
};

struct symbol_table {
	VEC(struct symbol) list; /* sorted by symbol_table_sort() */
};

/* Of several at one place the first in the list stays, or the last. */
void symbol_table_sort(struct symbol_table *table, bool keeps_last);
/* NULL: there is none. */
const struct symbol *symbol_table_find(const struct symbol_table *table, u64 address);
/* Behind its last byte. */
u64 symbol_end(const struct symbol_table *table, const struct symbol *symbol);

/* kallsyms.c: the kernel's, as who opened it may see them. */
struct kernel_symbols {
	int fd, modules_fd;
	struct arena arena;
	struct symbol_table table;
	u64 modules_hash, looked_ns; /* at the list of modules */
};
void kernel_symbols_open(struct kernel_symbols *k);
void kernel_symbols_close(struct kernel_symbols *k);
/* Reads them, and again where there are other modules by now. */
void kernel_symbols_look(struct kernel_symbols *k);

/*
 * elf.c: each function that the symbol tables of an ELF file name; offset: of its code, in the
 * file. Of a file that is none, or of another machine, there are none.
 */
typedef void function_visit(void *context, const char *name, u64 offset, u64 n_bytes);
void elf_each_function(int fd, function_visit *visit, void *context);

#endif
