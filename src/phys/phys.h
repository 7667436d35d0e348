/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Logical plan -> physical plan: which programs on which hooks (access path),
 * where groups live (state layout) and what the programs compute.  gen emits from
 * it, load sizes maps by it, drain reads memory by it: the byte layout is written
 * once, here.
 */
#ifndef EBQL_PHYS_PHYS_H
#define EBQL_PHYS_PHYS_H

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"
#include "phys/features.h"
#include "phys/hand.h"
#include "phys/maps.h"
#include "phys/places.h"
#include "phys/slot.h"
#include "plan/plan.h"
#include "type/type.h"

/* --- Access: one program per hook, for all parts that stand on it --- */

enum access_path {
	ACCESS_TRACEPOINT,  /* perf tracepoint: context is the record of the format file */
	ACCESS_RAW,	    /* raw tracepoint of the same name: context is the arguments */
	ACCESS_RAW_SYSCALL, /* raw sys_enter or sys_exit, filtered by system call number */
	ACCESS_CALL, /* fentry, fexit of a system call's own function: context is its registers */
	ACCESS_TRAMPOLINE,   /* fentry, fexit: context is the arguments, behind them the result */
	ACCESS_KPROBE,	     /* kprobe, kretprobe: context is struct pt_regs */
	ACCESS_KPROBE_MULTI, /* one program on many functions: the same */
	ACCESS_UPROBE,	     /* uprobe, uretprobe: the same, of a program */
	ACCESS_UPROBE_MULTI, /* one link for many places: the same */
	ACCESS_SAMPLE,	     /* perf event: context is struct bpf_perf_event_data */
	ACCESS_ITERATOR, /* no event: read(2) of an iterator calls it for each object of a list */
	ACCESS_REPLAY,	 /* tests: struct replay_header, then the record, run by TEST_RUN */
	ACCESS_N
};

/* What this layer knows of an access path; gen/ and load/ have tables like this one. */
struct access_kind {
	const char *name, *return_name; /* return_name: of functions' returns */
	bool is_of_calls; /* context is where the thread's registers are, of a call of any number */
	/* Programs start in task context alone, and none while another one of these runs there. */
	bool is_of_task;
	/* The kernel never runs a program while it runs on the same CPU: always, or (by the
	 * version) where kernel_features.has_raw_recursion_guard. */
	bool is_guarded, is_guarded_lately;
	u32 n_slots; /* so many of them at most are on one CPU at once */
};

extern const struct access_kind access_kinds[ACCESS_N];

/* One source's share of a hook: two scans of one tracepoint share its program. */
struct hook_use {
	const struct phys *phys; /* of that part */
	const struct phys_source *source;
	/* One, or for RAW_SYSCALL each wanted system call's. */
	struct stream **streams;
	u32 n_streams, part; /* part: its number, also where it is gone and its program is not */
	u32 first_probe;     /* `probe` code of streams[0]; see phys.probes */
	enum hand hand;
};

struct raw_field {
	const char *name;
	struct expr *expr; /* raw_twin_field() */
	const char *note;
};

struct hook {
	enum access_path path;
	bool is_exit;  /* RAW_SYSCALL: sys_exit; of a function: its return */
	bool is_typed; /* RAW, RAW_SYSCALL: tp_btf; CALL, TRAMPOLINE: loads are direct */
	u32 attach_btf_id, attach_btf; /* is_typed: btf_trace_NAME, function; of which BTF, or 0 */
	u32 offset_bytes;	       /* KPROBE: in the function */
	const char *file_path;	       /* UPROBE, UPROBE_MULTI: any of its names */
	struct file_id file_id;
	s32 pid;		     /* of this process alone; 0: of any */
	struct stream_sample sample; /* SAMPLE */
	u32 task_compat_offset; /* RAW_SYSCALL, CALL: of arch.compat_member in struct task_struct */
	struct entry_places entry; /* UPROBE, UPROBE_MULTI: a function's entry */
	const char **names;	   /* functions of a wildcard, whose pattern is the target */
	struct hook_place *places; /* in the file, at least one */
	u32 n_places, n_names;	   /* names that these have: the program is told which; 0: one */
	const char *target; /* what to attach to: "syscalls:sys_enter_read", "sched_switch" */
	u32 tracepoint_id;  /* TRACEPOINT */
	/* RAW of a tracepoint whose fields are read, typed: what they are of the raw one's. */
	const struct stream *raw;
	struct percpu_places percpu; /* where a field is of memory that each CPU has */
	struct raw_field *fields;
	u32 n_fields;
	/* What it serves, as the program does it: part by part, in each look-ups before stores. */
	struct hook_use *uses;
	u32 n_uses;
	u32 number, block; /* in the set; of its parts, see BLOCK_PARTS */
	u32 place;	   /* of a set that changes: of its program in LOAD_MAP_CHAIN */
	bool is_split;	   /* its target has several programs, as one would be too large */
	bool is_insisted, hides_frame; /* no other path; a return has no stack pointer */
	bool is_fallback;	       /* the reason says why it is not what is taken first */
	const char *reason;
};

/* --- Rows: what becomes of an event of each source --- */

/*
 * FROM is a tree of scans, filters, joins and unions.  A row of an operator appears
 * when an event of its trigger does: the scan at the left end.  So the way of an
 * event leads up the tree from its scan: through filters, through joins that it
 * reaches from the left (look up the partner, whose stored columns are known from
 * then on), until it is stored for a join that it reaches from the right, or comes
 * out at the root: there it is an event of the query, aggregated or streamed.
 */
enum phys_step_kind {
	STEP_FILTER,  /* on where all conjuncts are true */
	STEP_LOOKUP,  /* on with the partner; without: counted, or on with NULLs (is_left) */
	STEP_STORE,   /* the end of the way */
	STEP_RUNNING, /* on with one more value: a running sum */
};

struct phys_running;

struct phys_step {
	enum phys_step_kind kind;
	struct span span;
	struct expr **conjuncts; /* FILTER */
	u32 n_conjuncts;
	const struct phys_join *join;	    /* LOOKUP, STORE */
	const struct phys_running *running; /* RUNNING */
	struct expr **keys;		    /* LOOKUP, STORE: join->n_keys of them, of this side */
};

struct phys_source {
	u32 number; /* expr.source */
	const struct plan *scan;
	struct stream_list *streams;
	struct phys_step *steps;
	u32 n_steps;
	u32 first_operator; /* number of its scan; its steps follow */
	bool is_root;	    /* its way ends at the root, not in a STORE */
	/* Bare scans (phys_input.only_scans): each is a root without steps, with columns. */
	struct stream_column *columns;
	u32 n_columns, row_bytes;
};

/* --- Joins: starts that wait for their ends --- */

enum pair_kind {
	/*
	 * Keyed by the address of the thread's saved registers, which raw sys_enter and
	 * sys_exit both carry: one slot a thread, kept for the next call, no atomics but
	 * for the first; a start replaces the one before.
	 */
	PAIR_THREAD,
	PAIR_TABLE, /* any keys, several starts of one key: a slot is free when its start is gone */
};

/*
 * A table: u64 header[8] = { 0, slot_bytes, 2 * slot_bytes, ... } (read by programs where
 * the verifier must not know which slot it is), then slots[n_slots + PAIR_WAYS - 1], then
 * (THREAD) n_overflow slots more, each of
 *	u32 state    0 free; 1 being written (THREAD: owned for good); 2 holds a start
 *	u32 others   PAIR JOIN: of the epochs when it was stored, from SLOT_OTHERS_SHIFT on: of
 *whose runs it is none u64 time_ns  of the start; THREAD: 0 = none waits u64 key[key_words] u64
 *nulls    only when has_nulls: a bit each for columns that can be NULL, and for those whose reading
 *failed: a fault, which whoever asks for the value counts stored columns THREAD: a key may stand in
 *the PAIR_WAYS slots from its hash on.  Threads come and go, and their slots are never given back,
 *since nobody sees them end: a thread that finds all of these owned by others uses the overflow
 *slots, which are as TABLE's. TABLE: the slots are groups of PAIR_WAYS, and a key stands in one
 *group.  When all of it are taken the oldest gives way, which is the oldest of its key too, since
 *all of that key are there: what is left of a key is the newest, so no end meets a wrong start.  An
 * ASOF JOIN keeps two starts of a key: one can be read while the other is written.
 */
#define PAIR_WAYS	  8u
#define PAIR_HEADER_BYTES 64u
#define PAIR_STATE_BYTES  0
#define PAIR_OTHERS_BYTES 4
#define PAIR_TIME_BYTES	  8
#define PAIR_KEY_BYTES	  16

struct pair_column {
	struct expr *expr; /* reads sources of the join's right side only */
	u32 bytes_offset;  /* in the slot */
	u32 n_words;	   /* TEXT: zero behind its end */
	s32 null_bit;	   /* in nulls, or -1: never NULL */
	s32 fault_bit;	   /* in nulls, or -1: reading it counts no fault */
};

struct phys_join {
	u32 number;
	const struct plan *plan; /* what it was made of */
	struct span span;
	enum plan_join_kind join;
	bool is_left;
	enum pair_kind kind;
	struct phys_key
		*keys; /* is_slice, is_probe and null_bit unused; words as first_word, n_words */
	u32 n_keys, key_words;
	struct pair_column *columns; /* what the query needs of the start, and nothing else */
	u32 n_columns;
	bool has_nulls;
	u32 nulls_bytes;  /* offset in the slot */
	u64 within_ns;	  /* 0: any age */
	bool needs_order; /* the query uses both times: an end before its start is `negative` */
	u32 slot_bytes;
	u32 n_slots;	    /* a power of two */
	u32 n_overflow;	    /* THREAD: a power of two, at least PAIR_WAYS; TABLE: 0 */
	u64 overflow_bytes; /* where these begin, from the table's beginning */
	u64 table_bytes;    /* of the whole table */
	u64 offset_bytes;   /* of the table in LOAD_MAP_PAIR: a multiple of 64 */
	const char *reason; /* why this kind */
};

/* --- Running sums: one for each combination of their keys, for all CPUs --- */

enum running_kind {
	RUNNING_DIRECT, /* row number = key - domain_lo, or the one row without keys */
	RUNNING_TABLE,	/* open addressing */
};

/*
 * A table, behind those of the joins: u64 header[8] = { 0 }, a 0 that the verifier does not
 * know; then slots[n_slots], each of
 *	u64 sum    added to by BPF_ATOMIC fetch-and-add (kernel 5.12): the order of the
 *		   events is the order of these, on whatever CPU they happen
 *	u64 is_set 1: something was added; only when the argument may be NULL
 *	u64 is_over 1: the sum left s64: it is NULL from then on
 *	u64 tag    TABLE: 0 free; else the hash of the key (1 where that is 0): never given back
 *	u64 is_written 1: the key stands there
 *	u64 key[key_words]
 *	u64 sum, is_set, is_over  of each sum more that has the same keys (phys_running.leader)
 * Before the key is written, a row whose key has the tag takes it for its own: another key
 * with the same 64 bits would have to come in that instant.
 * Where no slot is found within RUNNING_STEPS the row's value is NULL, and it counts
 * COUNTER_RUNNING_FULL.  Slots of 64 bytes, as most are, begin at a cache line each.
 */
#define RUNNING_STEPS	      64
#define RUNNING_SUM_BYTES     0
#define RUNNING_SET_BYTES     8
#define RUNNING_OVER_BYTES    16
#define RUNNING_SUM_WORDS     3
#define RUNNING_TAG_BYTES     24
#define RUNNING_WRITTEN_BYTES 32
#define RUNNING_KEY_BYTES     40
#define RUNNING_HEADER_BYTES  64

struct phys_running {
	u32 number;
	const struct plan *plan; /* what it was made of: its argument */
	/* The sum of the same keys that every row comes by first: its slots are used, and what
	 * follows here is as there, but for sum_bytes and may_overflow.  NULL: it has its own. */
	const struct phys_running *leader;
	u32 n_followers;
	u32 sum_bytes; /* in the slot; RUNNING_SUM_BYTES and the next two count from there */
	enum running_kind kind;
	struct phys_key *keys; /* is_slice unused */
	u32 n_keys, key_words;
	s64 domain_lo; /* DIRECT with a key: value of row 0 */
	bool may_overflow;
	u32 slot_bytes, n_slots;       /* TABLE: a power of two */
	u64 table_bytes, offset_bytes; /* in LOAD_MAP_PAIR */
	u64 slots_bytes;	       /* of the first slot, in LOAD_MAP_PAIR */
	const char *reason;
};

/* --- State: where groups live --- */

enum state_kind {
	STATE_NONE,	  /* rows are streamed; only the counters of each slice are used */
	STATE_DIRECT,	  /* row number = key - domain_lo, or the one row of an ungrouped query */
	STATE_TABLE,	  /* open-addressing index of u32 row numbers, and dense rows */
	STATE_KERNEL_MAP, /* BPF_MAP_TYPE_HASH, one per copy, key: the key words and the CPU */
};

/*
 * The state map is one array value: slices[copy][cpu * n_levels + level], each (a program has
 * slice `level` if it has that slot, or the one there is where n_levels is 1)
 *   u64 counters[COUNTER_N]  (256 bytes)
 *   u64 counters[n_operators][COUNTER_N], of each operator by itself
 *   u32 index[n_index]       TABLE: bytes from the slice to the row, 0 = empty; n_index a
 *                            power of two
 *   rows[n_rows]             row_bytes each; TABLE and KERNEL_MAP: row 0 is "(other)"
 *   pool[pool_bytes]         chunks of histograms, taken one after the other
 * TABLE: counters[COUNTER_ROWS] rows beyond row 0 are in use, at most max_groups.
 * A row: TABLE: u32 index slot, u32 unused, then the key words; then the cells.
 * All cells start as zero.  A key that is NULL has its bit set in the null word
 * (the first key word, only when some key is nullable), its words are zero.
 */
enum counter {
	COUNTER_EVENTS,	 /* of the logical stream, before WHERE */
	COUNTER_MATCHED, /* kept by programs when has_matched and no cell tells it (matched_cell) */
	COUNTER_ROWS,
	COUNTER_TABLE_FULL, /* events in the (other) row of the slice, and of these: */
	COUNTER_STACK_FULL, /* for want of room for their stack, which no slice has then */
	COUNTER_RING_FULL,
	COUNTER_FAULT,
	COUNTER_NEGATIVE, /* differences below zero: of a pair, or of a histogram's value */
	COUNTER_UNPAIRED, /* UNPAIRED_N of them: NEVER_STARTED and EXPIRED are counted by ends */
	COUNTER_POOL = COUNTER_UNPAIRED + UNPAIRED_N, /* bytes of the slice's pool in use */
	COUNTER_UNPLACED,			      /* values that found no room in a histogram */
	COUNTER_EVICTED,      /* starts of an ASOF JOIN that gave their room to newer ones */
	COUNTER_RUNNING_FULL, /* running sums without a value: their table is full */
	COUNTER_TAKEN,	      /* starts of the run that ends took, where phys_set.is_checked */
	COUNTER_HASH,	      /* no counter: where a key's hash passes through (gen/key.c) */
	COUNTER_OVER_BUDGET,  /* events that found no time (phys/maps.h) */
	COUNTER_N = 32
};

/* The heads of its buckets alone take 64 MiB. */
#define STATE_MAP_ROWS_MAX (1u << 22)

struct state_layout {
	enum state_kind kind;
	u32 n_cpus;   /* possible CPUs */
	u32 n_levels; /* programs of the part on one CPU at once: 1, or 4 (task, softirq, irq, NMI)
		       */
	u32 n_operators; /* that count by themselves: phys.n_operators where that is asked for, else
			    0 */
	u32 key_words;	 /* u64 words, the null word included */
	u32 n_index, index_bytes_offset;
	u32 n_rows, row_bytes, rows_bytes_offset;
	u32 cells_bytes_offset;		   /* of the first cell in a row */
	u32 pool_bytes_offset, pool_bytes; /* 0: no cell is in chunks */
	s64 domain_lo;			   /* DIRECT with a key: value of row 0 */
	u64 slice_bytes;		   /* multiple of 128: CPUs share no cache line pair */
	u64 total_bytes;
	u64 max_groups;
	u64 all_rows; /* of a copy, that groups may take in all slices, or in the map */
};

static inline u64 state_slice_offset(const struct state_layout *s, u32 copy, u32 cpu, u32 level)
{
	return (((u64)copy * s->n_cpus + cpu) * s->n_levels + level) * s->slice_bytes;
}

/*
 * The control map of a part: one line a CPU.  Behind these, where operators count by themselves,
 * counters[cpu][n_operators][COUNTER_N] of what starts do.
 */
struct control_line {
	/* What starts count, which belong to no window: they only grow. */
	u64 start_faults, start_negative, start_evicted;
	u64 unpaired[UNPAIRED_N]; /* NEVER_ENDED: starts whose key is NULL */
	u64 start_running_full, start_over_budget;
	/* Of the first line, CLOCK_MONOTONIC: starts from before then are of runs that had the
	 * part's number before. */
	u64 starts_from_ns;
	u64 unused[1];
	/* Where phys_set.is_checked: of the run, those stored; those taken by ends that no slice
	 * counts. */
	u64 n_starts, n_taken;
	u64 n_samples; /* of perf events that the programs were run for */
};
_Static_assert(sizeof(struct control_line) == 128, "two CPUs on one cache line cost 22 ns");

/* --- Keys, cells, streamed rows --- */

struct phys_key {
	struct expr *expr;
	const char *name;
	bool is_slice;	/* the `cpu` key: named by the slice, stored nowhere */
	bool is_probe;	/* `probe`: the word is an index into phys.probes */
	u32 first_word; /* in the row's key words */
	u32 n_words;	/* words: 1; TEXT: bytes / 8 rounded up, zero behind its end */
	s32 null_bit;	/* in the null word, or -1 */
};

struct cell {
	enum cell_kind kind;
	struct expr *arg;    /* NULL: counts every event of the group */
	struct expr *filter; /* NULL: none */
	bool is_wide;
	bool is_signed; /* SUM: of the argument's type; MIN, MAX: biased */
	/* Values below zero are left alone, and counted `negative` once an event: a histogram whose
	 * scheme has no cells for them, and its sum, minimum and maximum. */
	bool skips_negative;
	u32 bytes_offset; /* in the row */
	u32 n_bytes;
	/* HISTOGRAM */
	const struct scheme *scheme;
	u32 n_cells;	 /* of the scheme */
	u32 chunk_cells; /* a power of two; 0: the cells lie in the row */
	u32 n_chunks;
	u32 unplaced_bytes; /* chunked: offset of the count of unplaced values, from bytes_offset */
	u32 n_words;	    /* FIRST, LAST: of the value; SQUARES */
	struct expr *time;  /* FIRST, LAST */
	u32 hll_bits;
	struct top_shape top;
	struct expr *weight; /* TOP; NULL: 1 */
};

/*
 * What there is to do with a kind of cell.  Slices, CPUs, nesting levels and panes have cells of
 * their own for one group; they are merged in entries (drain/merge.h).
 */
struct cell_ops {
	const char *name;
	bool is_large; /* makes rows large; lies behind the others */
	/*
	 * A cell of one word, in entries too: two of them merged.  Zero is neutral, the order does
	 * not matter.  Such a kind has none of the functions up to integer().
	 */
	u64 (*fold)(u64 a, u64 b);
	u32 (*words)(const struct cell *cell); /* in an entry */
	/* A row's cell, which may be unaligned, into an entry's.  NULL: a histogram, whose chunks
	 * lie elsewhere. */
	void (*merge_row)(const struct cell *cell, u64 *to, const u8 *from);
	/* An entry's into an entry's; NULL: as merge_row(), since a cell lies there as in a row. */
	void (*merge_entry)(const struct cell *cell, u64 *to, const u64 *from);
	/* The number that the words of an entry stand for; NULL: they stand for something else. */
	s128 (*integer)(const struct cell *cell, const u64 *words);
};

extern const struct cell_ops cell_ops[CELL_KIND_N];

/* How an aggregate is read off the cells; cell numbers, -1 = none. */
struct phys_aggregate {
	enum aggregate_kind kind;
	struct type type;
	s32 count_cell; /* COUNT, AVG; for SUM, MIN, MAX: NULL where it is 0 (-1: never empty) */
	s32 value_cell; /* SUM, MIN, MAX, AVG, STDDEV (the sum), and those with a cell of their own
			 */
	s32 squares_cell;				  /* STDDEV */
	s32 histogram_cell, sum_cell, min_cell, max_cell; /* HISTOGRAM, QUANTILE */
	const struct aggregate *aggregate;
};

/*
 * A streamed row in the ring buffer: this, then columns at 8-byte offsets.  `word` is what the
 * program had (slot_word()): it says in which copy of its part the event was counted, and so in
 * which window the row lies; of a bare scan the number of its source is added.
 */
struct stream_header {
	u64 word;
	u64 nulls; /* from the lowest bit on one for each column, from the highest on fault bits */
};

/* Behind what the word says of parts, below its level. */
#define STREAM_SOURCE_SHIFT (3 * BLOCK_PARTS)
#define STREAM_SOURCE_MASK  0x7fu

struct stream_column {
	struct expr *expr;
	struct type type;
	bool is_probe;
	u32 bytes_offset, n_bytes;
	/*
	 * In nulls; -1: computing it cannot fail.  A column is streamed also where the query
	 * guards it: the fault is of who evaluates it.
	 */
	s32 fault_bit;
};

/* On one hook, so many sets that change. */
#define CHAIN_PLACES 8u

/*
 * The parts that are planned together, and the hooks that they share.
 *
 * A set that changes, while its programs run, is a block of parts: by number, NULL where one may
 * come.  What is attached to its hooks calls its programs (load/chain.c).
 */
struct phys_set {
	bool is_changing;
	struct phys **parts;
	struct hook *hooks;
	u32 n_parts, n_hooks;
	const struct arch *arch; /* whose instructions the kernel makes of programs */
	u32 n_cpus, n_stacks;	 /* n_stacks: room for so many, a power of two (phys/stack.h) */
	u32 n_slots;		 /* of a CPU and block: 1 or SLOTS_MAX */
	bool is_checked;	 /* programs count starts, for meter_add_waiting() to check */
};

/* How it is read: "kprobe". */
const char *hook_word(const struct hook *hook);

/* May one program be on both? */
bool hook_is_same(const struct hook *a, const struct hook *b);

/* Parts follow each other in its uses. */
static inline u32 hook_n_parts(const struct hook *hook)
{
	u32 n = 1;

	for (u32 i = 1; i < hook->n_uses; i++)
		n += hook->uses[i].phys != hook->uses[i - 1].phys;
	return n;
}

static inline u32 phys_n_blocks(const struct phys_set *set)
{
	return (set->n_parts + BLOCK_PARTS - 1) / BLOCK_PARTS;
}

/* The line of the block's epochs; of phys_n_blocks(): behind all lines. */
static inline u32 phys_epochs_bytes(const struct phys_set *set, u32 block)
{
	return (phys_n_blocks(set) * set->n_cpus + block) * (u32)sizeof(struct slot_line);
}

struct phys {
	struct arena *arena;
	const struct settings *settings;
	const struct phys_set *set;
	u32 number; /* in set->parts */
	const char *name;
	const char **probes; /* `probe` texts by code */
	u32 n_probes;

	struct pid_offsets pids;
	struct typed_load typed;
	bool has_stacks, keeps_stacks; /* keeps_stacks: for longer than a window */
	bool has_budget;	       /* its programs measure the time that they take */
	u32 task_comm_offset;	       /* in struct task_struct; 0: unknown, or comm is not used */

	struct phys_source *sources;
	u32 n_sources;
	/* Of each source its scan and its steps; the last is what takes the rows of the root. */
	u32 n_operators;
	struct phys_join *joins;
	u32 n_joins;
	struct phys_running *runnings;
	u32 n_runnings;
	u64 pair_bytes;	  /* of LOAD_MAP_PAIR; 0: no joins and no running sums */
	u32 starts;	  /* parts with the same number here have one LOAD_MAP_PAIR */
	bool has_matched; /* some filter stands between the root's events and the output */

	/* Computed ahead of keys, cells, columns and conditions that contain them. */
	struct expr **shared;
	u32 n_shared;
	bool shares_cells; /* a new cell may be one that is there */

	bool is_streaming;
	struct stream_column *columns;
	u32 n_columns;
	u32 row_bytes; /* of a streamed row */
	/* Of each item of the projection: its column; -1: a constant. */
	s32 *item_columns;

	struct phys_key *keys;
	u32 n_keys;
	struct cell *cells;
	u32 n_cells;
	struct phys_aggregate *aggregates;
	u32 n_aggregates;
	s32 matched_cell; /* count(*) of each group: its sum is `matched`; -1: none */
	s32 wake_cell;	  /* the count of settings.wake_count; -1: none */
	s32 exists_cell;  /* DIRECT: the count cell that tells used rows from unused */
	struct state_layout state;

	enum window_kind window;
	u64 window_ns, advance_ns;
	bool only_scans; /* scans stream their columns, everything else is done in user space */
	const struct plan *plan; /* only_scans: what it was made of, for that user space */
};

/* The source whose scan or step that operator is; NULL: it is the last. */
static inline const struct phys_source *phys_operator_source(const struct phys *phys, u32 number)
{
	for (u32 i = 0; i < phys->n_sources; i++)
		if (number - phys->sources[i].first_operator <= phys->sources[i].n_steps)
			return &phys->sources[i];
	return NULL;
}

/* NULL: it is no step. */
static inline const struct phys_step *phys_operator_step(const struct phys *phys, u32 number)
{
	const struct phys_source *s = phys_operator_source(phys, number);

	return s && number > s->first_operator ? &s->steps[number - s->first_operator - 1] : NULL;
}

/* Of the block that an operator counts in, from those of the first one. */
static inline u32 phys_operator_bytes(u32 number)
{
	return 8 * COUNTER_N * number;
}

static inline size_t phys_control_bytes(const struct phys *phys)
{
	return phys->state.n_cpus *
	       (sizeof(struct control_line) + phys_operator_bytes(phys->state.n_operators));
}

/* In relocations. */
static inline u32 load_map_number(const struct phys *phys, enum load_map map)
{
	return LOAD_MAP_SHARED_N + phys->number * LOAD_MAP_N + map;
}

/* Does the program charge a part there, whosever event it is?  With the first of the part's uses.
 */
static inline bool hook_charges(const struct hook *hook, u32 use)
{
	const struct hook_use *at = &hook->uses[use];

	return at->phys->has_budget && at->hand != HAND_IDLE && (!use || at->phys != at[-1].phys);
}

struct phys_input {
	const char *name; /* of the part, for EXPLAIN */
	const struct plan *plan;
	const struct settings *settings;
	const struct kernel_features *features;
	struct catalog *catalog;
	u32 n_cpus;	 /* possible CPUs */
	bool is_replay;	 /* hooks become ACCESS_REPLAY */
	bool is_checked; /* as in struct phys_set; of all inputs alike */
	/* Only the scans of the plan, each with the columns that the plan uses of it. */
	bool only_scans;
	double share; /* of all system calls that are wanted ones, from the survey; < 0: unknown */
};

/* The inputs are of one machine and one kind (is_replay), each with settings of its own. */
struct phys_set *phys_plan(const struct phys_input *inputs, u32 n_inputs, struct arena *arena,
			   struct diags *diags);
/*
 * The same for a place in a set that changes: of the numbers below BLOCK_PARTS those that are not
 * in `taken`, which has room.
 */
struct phys_set *phys_plan_into(u64 taken, const struct phys_input *inputs, u32 n_inputs,
				struct arena *arena, struct diags *diags);
/* Such plans, of one block, as the set that they are together.  They live as long as it. */
struct phys_set *phys_merge(struct phys_set *const *plans, u32 n_plans, u32 n_cpus,
			    struct arena *arena);
/*
 * A hook whose program is too large for one: its parts are shared out to two hooks.  false: it has
 * one part.  The two programs' events may lie in different windows where a switch comes between.
 */
bool phys_split(struct phys_set *set, u32 hook, struct arena *arena);
/*
 * share.c: uses of one hook of which several go a way together as far as it is the same.  A point
 * of a way is a condition, or a step that has none.
 */
struct phys_point {
	const struct phys_step *step; /* NULL: the way is over */
	struct expr *condition;
};
struct phys_point phys_point(const struct phys_source *source, u32 n);
/*
 * 0: the two are not of the same streams, else one more than there are points that are alike at the
 * beginning of both ways; the use that this one goes with, or itself.
 */
u32 phys_n_alike(const struct hook_use *a, const struct hook_use *b);
u32 phys_leader(const struct hook *hook, u32 use);
/*
 * starts.c: the part keeps its starts where the other one does, from its beginning on, if its joins
 * are alike and ask for no more of a start.  Both are in one program of each hook then.
 */
bool phys_share_starts(struct phys *phys, const struct phys *other);
/* With the first part there that it can. */
bool phys_share_with(struct phys *phys, const struct phys_set *plan);
/* It keeps its starts once with whatever does so, too. */
bool phys_may_share_starts(const struct phys *phys);
/* Visits the expressions (as wholes) of the output: of keys, cells and streamed columns. */
void phys_each_output(const struct phys *phys, void (*visit)(void *context, struct expr *expr),
		      void *context);
void phys_print(const struct phys *phys, struct buf *out);
/* An operator of the part, by its number, in one line without its end. */
void phys_print_operator(const struct phys *phys, u32 number, struct buf *out);
/* One: "kprobe vfs_read"; and all, as phys_print() has them of one part, ahead of several. */
void phys_print_hook(const struct hook *hook, struct buf *out);
void phys_print_hooks(const struct phys_set *set, struct buf *out);

/*
 * The scans of a ROWS plan with the columns that it uses of each, files' scans included:
 * columns[0] is the event's time.  Those whose rows are the root's come first, as one
 * hook serves look-ups before stores; they alone have is_root.  The same for the same plan.
 * false after a diagnostic (too-many-columns).
 */
bool phys_scan_sources(const struct plan *plan, struct arena *arena, struct diags *diags,
		       struct phys_source **ret_sources, u32 *ret_n);

/* Tests: what stands before the record in a replayed event; system columns come from it. */
struct replay_header {
	u64 time_ns, cgroup;
	u32 pid, tid, ppid, uid, gid, cpu, numa_node, probe;
	char comm[16];
};

/* It needs what is above. */
#include "phys/stack.h"

#endif
