/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Physical plan and instructions -> maps and programs in the kernel, attached.
 * Everything is held by file descriptors and mappings of this process alone, so
 * that its end, however it comes, detaches and frees all.
 */
#ifndef EBQL_LOAD_LOAD_H
#define EBQL_LOAD_LOAD_H

#include <pthread.h>

#include "base/arena.h"
#include "base/diag.h"
#include "bpf/bpf.h"
#include "phys/phys.h"

struct load_program {
	const struct hook *hook;
	struct bpf_code code;
	int fd, perf_fd, link_fd; /* -1: none */
	/*
	 * Instead, of an event on each CPU, by its number; start_ns: when it began to count
	 * (CLOCK_MONOTONIC), or the CPU was seen offline; n_due: what was due before that.
	 * Beside it, of each further function.
	 */
	struct load_event {
		int fd, link_fd;
		u64 start_ns, n_due;
	} * events;
	u32 n_events;
	u32 n_left_out;	 /* of a wildcard's functions: the kernel refuses them */
	u32 first_place; /* KPROBE, UPROBE: that of the perf event */
	/* Of a set that changes: what is attached in its place. */
	struct load_chain *chain;
	u32 n_verified; /* instructions that the verifier walked */
};

/*
 * What is attached to a hook for all sets that change, and calls their programs one after the
 * other; see change.c.
 */
struct load_chain {
	struct load_chain *next;
	struct hook hook;	     /* what it takes to attach to it */
	struct load_program program; /* that one */
	int array_fd;		     /* LOAD_MAP_CHAIN */
	u32 places;		     /* a bit for each that has a program */
};

/* Closes what takes long, in a thread of its own. */
struct load_closer {
	pthread_mutex_t mutex;
	pthread_t thread;
	bool has_thread, is_working;
	struct load_closing {
		int fd;
		/* Of a chain's array, this place is emptied first; -1: it is none. */
		s32 place;
		const struct load_chain *chain; /* which, and never looked into */
	} * closing, now;
	u32 n, n_room;
};

/* All chains of an engine, which is of one thread. */
struct load_stacks;

struct load_chains {
	struct load_chain *first;
	const struct bpf_code *dispatcher;
	struct load_closer closer;
};

/* What one part has in the kernel. */
struct load_state {
	struct load_hooks *hooks;
	const struct phys *phys;
	int map_fds[LOAD_MAP_N];
	struct control_line *control; /* mmapped, n_cpus lines */
	u8 *state;		      /* mmapped, phys->state.total_bytes */
	struct budget *budget;	      /* mmapped; NULL: it may take any time */
	/* Of LOAD_MAP_WAKE, mmapped: bytes that programs wrote, and that were taken; NULL: none. */
	const u64 *wakes;
	u64 *wakes_taken;
	u8 *pairs;	    /* tests: the tables of the joins; NULL: those of LOAD_MAP_PAIR */
	u64 epoch;	    /* the copy that programs update now; set by load_flip() */
	u64 missed_before;  /* of load_missed(): already reported */
	u64 samples_missed; /* that were due, and no program was run for, when it was last asked */
	u64 missed_ahead;   /* before it came, to those that were there */
	u64 waits_since_ns; /* load_flip() waits for programs, CLOCK_MONOTONIC; 0: it does not */
	u64 switched_ns;    /* it did, for the flip that is done now */
	bool is_ending;	    /* load_end_starts(): the next flip is the last */
	bool is_over;	    /* that was it */
	bool is_closed;	    /* load_close_starts() */
	bool has_joined;    /* its starts lie where others' did before it came */
	/*
	 * Of those who read it (drain/groups.h): which they are, events that were missed, and all
	 * that the slices of the copies had that were cleared.
	 */
	struct groups *readers;
	u64 n_missed, drained[COUNTER_N];
};

/* What all parts share: the programs on the hooks, and the slots of the CPUs. */
struct load_hooks {
	struct arena *arena;
	const struct phys_set *set;
	struct load_program *programs; /* one for each hook of the set */
	u32 n_programs;
	int map_fds[LOAD_MAP_SHARED_N];
	struct slot_line *slots;    /* mmapped: [block][cpu], and the epochs of each block */
	u64 *missed;		    /* behind these: by part */
	struct load_stacks *stacks; /* NULL: no program takes any */
	const void *constants;
	u32 constants_bytes;
	struct load_state *states; /* one for each part of the set */
	u32 n_states;
	u32 n_users;		    /* load_attach() less load_detach(): the last one detaches */
	u32 too_large;		    /* the program for which load_open() returned -EFBIG */
	u64 verify_ns, attach_ns;   /* for --verbose; attach_ns is 0 before any load_attach() */
	struct load_chains *chains; /* of a set that changes; NULL: it does not */
	bool is_stale;		    /* its programs serve a part that is gone */
};

/*
 * Where a host wants it: how far a program is that is attached to many places, or detached, one
 * after the other.  false: enough, the attaching fails with -EINTR.
 */
extern bool (*load_on_progress)(const char *doing, const char *target, u32 n_done, u32 n_all);

void kernel_features_probe(struct kernel_features *ret_features);
u32 load_possible_cpus(void);
/*
 * For programs that have the process to themselves: raises RLIMIT_MEMLOCK (kernels before 5.11)
 * and, where there is a set, RLIMIT_NOFILE to what load_open() takes.  Nothing else in it does.
 */
void load_raise_limits(const struct phys_set *set);
/*
 * Watches system calls for duration_ns: which share of them has this number?  In
 * [0, 1]; 0 when there were none, -errno when the kernel does not let us look.
 */
double load_survey(s32 syscall_nr, u64 duration_ns);
/* The same in two steps; 0 or -errno.  With a closer the second does not wait for the kernel. */
struct load_survey {
	u64 n_all, n_wanted, ns; /* in so long */
	void *lines;
	size_t bytes;
	int map_fd, link_fd;
};
int load_survey_begin(struct load_survey *survey, s32 syscall_nr);
void load_survey_end(struct load_survey *survey, struct load_closer *closer);

/*
 * stacks.c: by what programs have of it; NULL: there was no room.  Each is there once, until
 * load_stacks_forget().
 */
const struct stack *load_stack(const struct load_hooks *hooks, u64 word);
/* Takes over what programs met since the last time; then each that has no names yet, once. */
void load_stacks_look(const struct load_hooks *hooks);
struct stack *load_stacks_next(const struct load_hooks *hooks);
/* The latest load_flip(): what is read behind it is of then. */
u64 load_stacks_now(const struct load_hooks *hooks);
/* What was read before then is held by nobody, if there are many. */
void load_stacks_forget(const struct load_hooks *hooks, u64 before);

/*
 * Opens the maps of all parts and loads the programs (of set->hooks, in their order);
 * attaches nothing yet.  The verifier's log and `bpftool prog dump` show diags->text.  On
 * failure: a diagnostic (tags no-privilege, verifier, map-create, attach-failed, ...; it says which
 * limit of the process is too low) and
 * -errno, nothing left.  -EFBIG, without a diagnostic: the program for several parts is too
 * much for the verifier; phys_split() its hook, and try again.
 */
int load_open(struct load_hooks *hooks, const struct phys_set *set, struct load_program *programs,
	      const void *constants, u32 constants_bytes, struct arena *arena, struct diags *diags);
/* -EUNATCH, without a diagnostic: a trampoline was refused, and a plan made anew takes another
 * path there.  load_change() has it, too. */
int load_attach(struct load_hooks *hooks, struct diags *diags);
/* Appends what the program of the part reads otherwise than it would be by choice.  false: it is
 * not the part's, or there is nothing. */
bool load_tell_fallback(const struct load_program *program, const struct load_state *state,
			struct buf *text);
void load_detach(struct load_hooks *hooks);
void load_close(struct load_hooks *hooks);

/*
 * Sets that change.  load_chains_close() waits for what is still being detached; no set is left
 * then.
 */
void load_chains_open(struct load_chains *chains, const struct bpf_code *dispatcher);
void load_chains_close(struct load_chains *chains);
/* Without parts: load_change() brings them, load_close() ends it. */
void load_open_changing(struct load_hooks *hooks, struct load_chains *chains,
			struct load_state *states, const struct phys_set *empty);
/* The place of each hook's program.  false: all places of one are taken. */
bool load_find_places(const struct load_hooks *hooks, struct phys_set *set);
/* The program that runs on the hook: it serves these very uses (is_same), or others; or NULL. */
const struct load_program *load_running(const struct load_hooks *hooks, const struct hook *hook,
					bool *ret_is_same);
/*
 * Other parts: those that are new in `set` get maps, hooks whose uses have changed get their
 * programs (which alone have code), and hooks without uses are left.  The programs that run are
 * exchanged; each event is seen by the old or the new one.  The parts that stay notice nothing; one
 * that is new is seen by all events that begin after the next load_flip() of it. On failure all is
 * as before, but that parts which are not in `set` are closed all the same. Errors as load_open()
 * and load_attach() have them; -EFBIG as there.
 */
int load_change(struct load_hooks *hooks, const struct phys_set *set, struct load_program *programs,
		const void *constants, u32 constants_bytes, struct arena *arena,
		struct diags *diags);

/*
 * While system calls go from one path to the other (enum hand): LOAD_MAP_MARKS for programs that
 * name it, all of it 0.  load_order(): does the program on that raw hook, which has a chain, have a
 * call before that on its tracepoint (tracepoint_id: of syscalls:sys_enter_getppid, or sys_exit)?
 * It stays so while both are attached.  load_grace_begin() and load_grace_is_over(), which some 0.1
 * s later says that all events have passed both programs that began before.  0 or -errno.
 */
int load_marks_open(struct load_hooks *hooks, struct diags *diags);
void load_marks_close(struct load_hooks *hooks);
int load_order(const struct load_hooks *hooks, const struct hook *raw, u32 tracepoint_id,
	       struct arena *arena, bool *ret_is_raw_first);
int load_grace_begin(const struct load_hooks *hooks);
bool load_grace_is_over(const struct load_hooks *hooks);
/*
 * Switches these parts (of the same hooks) to their other copies, in 0.1 us: all parts of a block
 * at one instant, on all CPUs.  When it returns 0, no program uses or will use the old copies: they
 * may be read and cleared by plain loads and stores.
 * -EBUSY: a slot was taken for all that time (a program runs for less than a microsecond); events
 * go to the new copies, but `epoch` says the old ones, which may still be written, and
 * `waits_since_ns` since when.  The next call with the same parts finishes it, switches them no
 * second time, and has that time in `switched_ns`.
 */
int load_flip(struct load_state *const *states, u32 n_states, u64 patience_ns);
/*
 * The end of a run, so that each of the starts that wait for PAIR JOINs is one of what became of
 * them.  Ahead of the last flip, which ends starts and ends at that instant: no start behind it is
 * of the run, and no end behind it takes one.
 */
void load_end_starts(struct load_state *const *states, u32 n_states);
/*
 * Behind the flip, or when the programs were detached instead: when it returns, the starts of the
 * run that wait stay as they are, and so does what was
 * counted of them.  Up to 20 ms, once a part.  true: and the flip ended the ends.
 */
bool load_close_starts(struct load_state *state);
/*
 * When it returns, every program that had begun is over: what it streamed is in its ring buffer,
 * with nothing before it there that is still being written.  -EBUSY as load_flip().
 */
int load_settle(const struct load_hooks *hooks, u64 patience_ns);
/* Programs may wake user space anew; what for is to be looked at behind it. */
void load_take_wakes(struct load_state *state);
/* What the kernel spent on it, and has for it. */
struct load_costs {
	u64 run_ns, n_runs; /* of its programs, while kernel.bpf_stats_enabled was on */
	u64 map_bytes;
};

/*
 * Of parts of the same hooks: their own maps, and the programs that serve them, be it with
 * others.
 */
void load_costs(struct load_state *const *states, u32 n_states, struct load_costs *ret_costs);
/* A program as the kernel knows it. */
struct load_identity {
	const struct hook *hook;
	u32 id;
	u8 tag[8];
};
typedef void load_visit(void *context, const struct load_identity *program);
/* Those that serve the parts (NULL: all), and what calls them where they share a hook. */
void load_each_program(const struct load_hooks *hooks, struct load_state *const *states,
		       u32 n_states, load_visit *visit, void *context);
/*
 * While the kernel measures run times: what an empty program takes by that, in ns, which is what
 * the measuring adds to each; 0: unknown.
 */
u64 load_empty_run_ns(void);
/* Our number in the initial PID namespace; where that cannot be found out, in our own. */
s32 load_initial_pid(void);
/* What the kernel says of a program, since it was attached. */
struct load_runs {
	u64 n, ns;  /* while the kernel measures: sys_run_time_open() */
	u64 missed; /* events that the kernel did not run it for */
};
void load_program_runs(const struct load_hooks *hooks, u32 program, struct load_runs *ret_runs);
/* Events that the kernel did not run the part's programs for since the last call. */
u64 load_missed(struct load_state *state);

#endif
