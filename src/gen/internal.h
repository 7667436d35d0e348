/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to gen/: the state of one program being generated.
 *
 * NULL is control flow, not a value: gen_value() jumps to a label when the
 * expression is NULL, and hands out a register when it is not.
 */
#ifndef EBQL_GEN_INTERNAL_H
#define EBQL_GEN_INTERNAL_H

#include <string.h>

#include "base/vec.h"
#include "gen/gen.h"

/* A value that was computed on every way to this point of the program. */
struct memo {
	const struct expr *expr;
	vreg reg;
	stack_object object; /* of a text, or where a number is loaded from: reg is 0 */
};

/* A column of a start that was looked up: known from there on. */
struct stored {
	const struct expr *expr;
	vreg reg;
	stack_object text;
	vreg nulls;		   /* 0: never NULL, and no fault */
	u64 null_mask, fault_mask; /* of nulls; 0: none */
	u32 join, bytes_offset;	   /* of whose start, and where it stands there */
};
typedef VEC(struct stored) stored_vec;

/* What cells compute in several places: the event's fault is counted in the first. */
struct attempt {
	const struct expr *expr;
	vreg failed; /* 1: it was NULL; 0, no register: there is one place only */
};

/* The slot of a running sum, which others use too. */
struct running_slot {
	const struct phys_running *running;
	vreg slot, is_full; /* is_full not 0: it is another key's; no register: it never is */
};

/* A value that is not NULL: a word (of a probe its code), or the words of a text. */
struct operand {
	vreg reg; /* 0: text */
	stack_object text;
};

/* What is the same for all uses of an event, read where the first of them needs it. */
enum once {
	ONCE_TIME,
	ONCE_PID_TGID,
	ONCE_UID_GID,
	ONCE_COMM, /* 1: it was read */
	ONCE_N,
};

/* What this layer knows of an access path; the rows are in source.c. */
struct gen;
struct gen_kind {
	vreg (*field)(struct gen *g, const struct expr *e, const struct field *f);
	vreg (*frame)(struct gen *g); /* SYS_FRAME; NULL: it is of no function */
	bool has_typed_fields; /* the verifier knows a pointer among them for what it points to */
	bool is_sample;	       /* programs count how often they were run */
	/* What the kernel's stack begins with is the program and what calls it. */
	u32 n_own_frames;
	bool has_header; /* struct replay_header stands before the record, and tells the rest */
	/* No event: an object of a list, of which there is one program alone, or NULL behind the
	 * last.  The task that system columns are of; else it is the current one. */
	bool is_list;
	vreg (*task)(struct gen *g);
};

struct gen {
	struct arena *arena;
	const struct phys_set *set;
	const struct hook *hook;
	const struct gen_kind *kind;	  /* of the hook */
	const struct hook_use *use;	  /* the use of the hook being generated */
	const struct phys *phys;	  /* its part */
	const struct phys_source *source; /* its source */
	/* Not 0: what is emitted is for all of these, and `slice` is of none; `use` is the first.
	 */
	const struct hook_use **crowd;
	u32 n_crowd;
	struct ir *ir;
	struct buf *constants;
	vreg context;
	vreg line, word;    /* the CPU's slots, and what the one taken held; 0: starts only */
	vreg taken_at;	    /* the epochs by which it may take starts; 0: it took none so far */
	vreg cpu, slice;    /* slice 0: the part only stores starts here */
	vreg faults_before; /* is_list: that were counted before this object */
	vreg once[ONCE_N];  /* 0 in it: not read yet; no register: there is one use */
	stack_object comm;  /* ONCE_COMM: where it stands */
	bool has_comm;
	vreg registers;	     /* RAW_SYSCALL: struct pt_regs * */
	vreg number;	     /* RAW_SYSCALL over many: the system call's number */
	vreg probe;	     /* RAW_SYSCALL over many: its probe code */
	label done;	     /* this use is over */
	u32 operator_number; /* the one being generated */
	label busy;	     /* see gen_busy() */
	bool is_recount;     /* evaluating once more: faults are not counted again */
	vreg faults;	     /* not 0: a fault is not counted but sets fault_mask in it */
	u64 fault_mask;
	stack_object scratch; /* 8 bytes for a read that is taken out at once */
	bool has_scratch;
	stored_vec stored;
	stored_vec looked_up; /* by all of a crowd; `stored` is what the use at hand knows of it */
	VEC(struct running_slot) slots;
	VEC(struct memo) memos;
	vreg negative; /* 1: a value below zero was met; 0, no register: it is counted at once */
	VEC(struct attempt) attempts;
	VEC(struct memo) texts; /* each text has one place, filled again where it may not be */
};

/* The memos at a fork in the way; behind the join only these are known to be computed. */
static inline u32 gen_fork(const struct gen *g)
{
	return g->memos.n;
}

static inline void gen_join(struct gen *g, u32 fork)
{
	g->memos.n = fork;
}

/* Texts. */
static inline bool gen_is_text(const struct expr *e)
{
	return e->type.kind == TYPE_TEXT;
}

/* The column `probe`: a text whose code, an index into phys.probes, is what a program has of it. */
static inline bool gen_is_probe(const struct expr *e)
{
	return e->kind == EXPR_SYSTEM && e->index == SYS_PROBE;
}

/* Is it in words on the stack, and not in a register? */
static inline bool gen_has_words(const struct expr *e)
{
	return gen_is_text(e) && !gen_is_probe(e);
}

static inline u32 gen_text_words(const struct expr *e)
{
	return (u32)ALIGN_UP(MAX(e->type.bytes, 1u), 8) / 8;
}

static inline u64 gen_literal_word(const struct expr *literal, u32 word)
{
	u64 w = 0;

	if (8 * word < literal->text_bytes)
		memcpy(&w, literal->text + 8 * word, MIN(8u, literal->text_bytes - 8 * word));
	return w;
}

/* emit.c: what several operators emit alike; each into a new register. */
vreg gen_imm(struct gen *g, s64 value);
vreg gen_alu(struct gen *g, enum ir_alu op, vreg a, vreg b);
vreg gen_alui(struct gen *g, enum ir_alu op, vreg a, s64 b);
vreg gen_load(struct gen *g, vreg base, u32 offset_bytes, enum ir_size size);
/* Of what others may change, a word: no load before it is made behind it, nor one behind it before.
 */
vreg gen_load_in_order(struct gen *g, vreg base, u32 offset_bytes);
vreg gen_stack_load(struct gen *g, stack_object object, u32 offset_bytes, enum ir_size size);
/* The address of element `index` of an array in a map's value. */
vreg gen_element(struct gen *g, u32 map, u64 offset_bytes, vreg index, u64 stride_bytes);
/* base[offset] += 1, where nobody else writes. */
void gen_add_one(struct gen *g, vreg base, u32 offset_bytes);
/* base[offset] += v, where nobody else writes: the sum; where it overflows `carry` grows by one. */
vreg gen_add(struct gen *g, vreg base, u32 offset_bytes, vreg v, vreg carry);
/*
 * In halves, so that the verifier does not know what is read back: where v was computed in
 * branches it would walk on from each of them.
 */
void gen_store_unknown(struct gen *g, stack_object to, vreg v);
/* Words from memory to the stack, to memory from there, and from there to there. */
void gen_words_in(struct gen *g, stack_object to, vreg base, u32 offset_bytes, u32 n_words);
void gen_words_out(struct gen *g, vreg base, u32 offset_bytes, stack_object from, u32 n_words);
void gen_words_copy(struct gen *g, stack_object to, stack_object from, u32 n_words);
void gen_words_zero(struct gen *g, stack_object to, u32 n_words);
/* A table appended to the constants, unless it is there: where it begins. */
u32 gen_constant_table(struct gen *g, const void *table, size_t bytes);
/* The address of the byte `offset` of such a table. */
vreg gen_table_address(struct gen *g, u32 table, vreg offset);

/* context.c */
vreg gen_current_cpu(struct gen *g);
vreg gen_helper(struct gen *g, enum bpf_func_id helper);
vreg gen_replay_column(struct gen *g, u32 column);
/* Eight zeroed bytes on the stack; valid until the next call. */
stack_object gen_scratch(struct gen *g);
/* Where the program's tag stood is what says whose memory it is, as in an address without. */
vreg gen_untagged(struct gen *g, vreg address);
vreg gen_probe_read(struct gen *g, enum bpf_func_id helper, stack_object object, u32 bytes,
		    vreg address);
/* What stands in the kernel's memory, where it can surely be read. */
/* What a member that is a char * points to; of one that cannot be read 0. */
vreg gen_pointer(struct gen *g, const struct expr *e, label null);
/*
 * Where gen_has_loads(), at any address of the kernel's without a helper: 8 bytes as a number, 0
 * where they cannot be read.
 */
bool gen_has_loads(const struct gen *g);
vreg gen_load_word(struct gen *g, vreg address);
vreg gen_probe_load(struct gen *g, vreg address, enum ir_size size);
/* What stands there in the saved registers of a system call. */
vreg gen_register(struct gen *g, u32 offset_bytes, enum ir_size size);
/* A typed pointer to them, by a helper. */
vreg gen_task_registers(struct gen *g);
/* Where the record starts in the context: behind the header of a replayed event. */
s32 gen_record_offset(const struct gen *g);

/* budget.c */
/* Ahead of all: what the event costs of itself. */
void gen_budget_hook(struct gen *g);
/* An event of the use at hand, whose part has a budget: to g->done where there is no time for it,
 * else `begun` (0 before) says since when it is measured, if it is. */
void gen_budget_begin(struct gen *g, vreg begun);
void gen_budget_end(struct gen *g, vreg begun);
/* A start of that time may be none of the end at hand: events between them may have been left. */
void gen_budget_branch_doubtful(struct gen *g, vreg start_time, label doubtful);
/* One more that the count of phys.wake_cell has taken: the last one of wake_count wakes. */
void gen_wake_count(struct gen *g);

/* count.c */
/* For the use at hand, or for each of the crowd, as its own, unless its run is over. */
void gen_each(struct gen *g, void (*one)(struct gen *g, const void *context), const void *context);
void gen_count(struct gen *g, enum counter counter);
/* One more start or end without a partner. */
void gen_count_unpaired(struct gen *g, enum unpaired kind);
/* Where phys_set.is_checked: one more start was stored; was taken by an end. */
void gen_count_stored(struct gen *g);
void gen_count_sample(struct gen *g);
void gen_count_taken(struct gen *g);
/* Where operators count by themselves: one more of this one's; a row that it hands on. */
void gen_count_operator(struct gen *g, u32 counter);
void gen_count_out(struct gen *g);
/* Counts a fault, or marks it for those that ask for the value later. */
void gen_count_fault(struct gen *g);
/* Goes on where `condition` holds between a and b, or a number; else it is a fault, and NULL. */
void gen_require(struct gen *g, enum ir_condition condition, vreg a, vreg b, label null);
void gen_requirei(struct gen *g, enum ir_condition condition, vreg a, s64 b, label null);

/* known.c */
/* The column of a looked-up start that is this expression, or NULL. */
const struct stored *gen_stored(const struct gen *g, const struct expr *e);
/* Goes to null where it is NULL. */
void gen_stored_test(struct gen *g, const struct stored *s, label null);
/* The argument of a UNION column for rows that this source triggers. */
const struct expr *gen_branch_of(const struct gen *g, const struct expr *e);

/* source.c: what this layer knows of an access path, and columns. */
extern const struct gen_kind gen_kinds[ACCESS_N];

/* percpu.c: the address is that of a number of 64 bits in memory per CPU. */
vreg gen_percpu_sum(struct gen *g, vreg address);
/* Behind the last object: out. */
void gen_list_begin(struct gen *g, label out);
enum ir_size gen_size_of(struct type type);
vreg gen_field(struct gen *g, const struct expr *e, label null);
vreg gen_system(struct gen *g, const struct expr *e, label null);
/* pid.c: pid, tid or ppid in the namespace e->pid_ns. */
vreg gen_pid_in_ns(struct gen *g, const struct expr *e, label null);
vreg gen_is_below(struct gen *g, const struct expr *e, label null);
/* What is read at once for it and other members; nothing where it is read by itself. */
void gen_read_together(struct gen *g, const struct expr *e);
vreg gen_member(struct gen *g, const struct expr *e, label null);
/* stack.c: the number of the event's stack, STACK_NONE: there is no room for it. */
vreg gen_stack(struct gen *g, const struct expr *e);
/* The time of this source's event. */
vreg gen_time(struct gen *g);
/* Ahead of several uses: what they share is not read yet. */
void gen_once_begin(struct gen *g);
const struct field *gen_field_of(const struct gen *g, const struct expr *e);
/* A field of a tracepoint of which the hook has the raw one: what it is there; else NULL. */
const struct expr *gen_raw_of(const struct gen *g, const struct expr *e);
/* What a pointer or number says, or where a struct or array stands. */
vreg gen_address(struct gen *g, const struct expr *e, label null);
vreg gen_member_address(struct gen *g, const struct expr *e, label null);
/* What reads a member: it is in the kernel's memory, or in the program's. */
enum bpf_func_id gen_member_helper(const struct expr *e);
/*
 * Can it be loaded through a typed argument, and how far behind that is it?  Not so a pointer to
 * a struct: 6.18 searches all of BTF by name, several times, for what it may say of it (1 ms).
 * What is behind one is probed; where that fails it is 0.
 */
/*
 * Can the member surely be read?  What a tracepoint hands to its typed programs; not what a
 * function is called with, perhaps.
 */
bool gen_is_trusted(const struct gen *g, const struct expr *e);
bool gen_member_direct(struct gen *g, const struct expr *e, vreg *ret_base, u32 *ret_offset_bytes);

/* value.c: word expressions. */
vreg gen_value(struct gen *g, const struct expr *e, label null);
/* arith.c: gen_value() of OP +, -, ... */
vreg gen_arithmetic(struct gen *g, const struct expr *e, label null);

/* condition.c: jumps to yes, no, or null, which must be one of the two; `next` is placed next. */
/* Is everything that the condition reads computed on every way out of it? */
bool gen_is_straight(const struct gen *g, const struct expr *e);
void gen_condition(struct gen *g, const struct expr *e, label yes, label no, label null,
		   label next);
/* text.c */
/* The text in 8-byte words, zero behind its end; n words as gen_text_words() says. */
stack_object gen_text(struct gen *g, const struct expr *e, label null);
/* strs.c: READ_TEXTS; behind the words and one more there is room for a piece. */
#define STRS_PIECE 32u
void gen_strs(struct gen *g, const struct expr *e, stack_object text, label null);
/* path.c: READ_PATH; behind the words there is room for as many. */
void gen_path(struct gen *g, const struct expr *e, stack_object text, label null);
/* file.c: READ_FILE */
vreg gen_file(struct gen *g, const struct expr *e, label null);
/* A text, or gen_value(). */
struct operand gen_operand(struct gen *g, const struct expr *e, label null);
/* compare.c: a comparison, IN or LIKE of texts; IN of numbers. */
void gen_text_condition(struct gen *g, const struct expr *e, label yes, label no, label null);
void gen_in(struct gen *g, const struct expr *e, label yes, label no, label null);
/* Does op hold between a and b where a is smaller (order below 0), equal or greater? */
bool gen_order_holds(enum ast_op op, int order);
/* pattern.c: LIKE and GLOB. */
struct automaton;
const struct automaton *gen_automaton(struct gen *g, const struct expr *e);
bool gen_automaton_takes(const struct automaton *a, const char *text);
void gen_automaton_run(struct gen *g, const struct automaton *a, stack_object text, u32 words,
		       label yes, label no);

/* way.c: uses that phys_leader() brings together, behind what tells whether it is their event. */
void gen_way(struct gen *g, const struct hook_use *const *crowd, u32 n);
/* join.c: for the use at hand, or once for a crowd whose parts have one table. */
void gen_look_up(struct gen *g, const struct phys_step *step);
void gen_store(struct gen *g, const struct phys_step *step);
/* What a crowd has looked up, as the use at hand names it. */
void gen_know_looked_up(struct gen *g);
/* An end of it whose clock is behind that of its start, which a crowd has looked up, leaves. */
void gen_check_order(struct gen *g, const struct phys_step *step);

/* running.c: adds to the running sum; its value is a stored column from there on. */
void gen_running(struct gen *g, const struct phys_step *step);

/* key.c */
/* A word of a key. */
struct key_word {
	vreg reg; /* 0: on the stack, or a constant */
	stack_object object;
	u32 offset_bytes;
	bool has_ways;	  /* maybe several to its value; the first of its key's words */
	bool is_constant; /* the same in all rows: not hashed, not compared */
	s64 constant;
};
/* Does one of several ways of the program lead to its value? */
static inline bool gen_is_computed(const struct expr *e)
{
	return e->kind == EXPR_OP || e->kind == EXPR_CASE || e->kind == EXPR_IN ||
	       e->kind == EXPR_LIKE || e->kind == EXPR_IS_NULL;
}
vreg gen_key_load(struct gen *g, const struct key_word *k);
/* 0 where the words at base + offset are these; those that all keys share are not compared. */
vreg gen_key_differs(struct gen *g, const struct key_word *words, u32 n_words, vreg base,
		     u32 offset_bytes);
/* The words of keys; those that may be NULL have a bit each in words[0]. */
void gen_key_words(struct gen *g, const struct phys_key *keys, u32 n_keys, struct key_word *words);
/* 64 bits, the high ones well mixed. */
vreg gen_key_hash(struct gen *g, const struct key_word *words, u32 n_words);

/* state.c */
/* Do events of the hook go to the part's (NULL: any part's) output? */
bool gen_needs_slice(const struct hook *hook, const struct phys *phys);
/* Leaves for `out` before anything is marked when the CPU is none of ours. */
void gen_enter(struct gen *g, label out);
/* From here on the use at hand: its part's slice.  To `over` where that part's run is over. */
void gen_enter_use(struct gen *g, const struct hook_use *use, label over);
/* Of the block, as they are now. */
vreg gen_epochs(struct gen *g);
/*
 * EBQL_DAWDLE in build-debug: the program takes some ten us here, so that a run ends between two
 * steps of it.
 */
void gen_dawdle(struct gen *g);
/* To `over` where the runs of all of the crowd are, or that of the use at hand. */
void gen_leave_if_all_over(struct gen *g, vreg epochs, label over);
/* Gives the slot back. */
void gen_leave(struct gen *g);
/*
 * Of an event that another hook brings, too: does it go on here (enum hand)?  Else to g->done,
 * where the program has to find out.
 */
bool gen_is_handed(struct gen *g, const struct hook_use *use);
/*
 * Behind the program's end, at the label g->busy: every slot is taken, all parts miss the event
 * whose it is here.
 */
void gen_busy(struct gen *g);
/* Which of the CPU's slots it is, from its word: a number that the verifier does not know. */
vreg gen_slot_level(struct gen *g);
/* The copy in use by this part. */
vreg gen_slot_epoch(struct gen *g);
/* row.c */
/* The group's row, found or made; the (other) row when there is no room. */
vreg gen_row(struct gen *g);
/* attempt.c */
/* gen_operand() of an argument or a weight: one fault an event. */
struct operand gen_cell_operand(struct gen *g, const struct expr *e, label null);
/* e is computed in one more place. */
void gen_attempt_place(struct gen *g, const struct expr *e);
/* A value below zero is left out: counted, once an event. */
void gen_negative(struct gen *g);
/* cell.c */
void gen_cells(struct gen *g, vreg row);
/* histogram.c: not for values below zero where c->skips_negative. */
void gen_histogram(struct gen *g, const struct cell *c, vreg row, vreg v);
/* sketch.c */
void gen_first_last(struct gen *g, const struct cell *c, vreg row, struct operand value);
void gen_squares(struct gen *g, const struct cell *c, vreg row, struct operand value);
void gen_registers(struct gen *g, const struct cell *c, vreg row, struct operand value);
void gen_top(struct gen *g, const struct cell *c, vreg row, struct operand value);
/* stream.c */
/*
 * Any expression: where it is NULL its bit in `nulls` is set, and the value is 0; zero: what holds
 * a 0 that the verifier does not know, or 0.
 */
struct operand gen_nullable(struct gen *g, const struct expr *e, s32 bit, vreg nulls, vreg zero);
void gen_stream(struct gen *g);

#endif
