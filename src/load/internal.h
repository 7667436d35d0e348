/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the files of this layer share: one function a step of load_open(), and
 * how a refusal of the kernel becomes a diagnostic.
 */
#ifndef EBQL_LOAD_INTERNAL_H
#define EBQL_LOAD_INTERNAL_H

#include "load/load.h"
#include "sys/sys.h"

/* Most helpers that read kernel memory are for GPL-compatible programs only. */
#define LOAD_LICENSE "Dual BSD/GPL"

/* empty.c: a program of these instructions, and one that does nothing; what else it is, attr says.
 * Its descriptor, or -errno. */
int load_insns(union bpf_attr *attr, const struct bpf_insn *insns, u32 n);
int load_empty(union bpf_attr *attr);

/* maps.c: slots and constants, and each part's maps; 0 or a diagnostic and -errno. */
int load_maps_open(struct load_hooks *hooks, struct diags *diags);
void load_maps_close(struct load_hooks *hooks);
int load_slots_open(struct load_hooks *hooks, struct diags *diags);
/* The constants of `hooks`, if its programs name them. */
int load_const_open(struct load_hooks *hooks, struct diags *diags);
/* That of stacks, if its programs name it and there is none yet. */
int load_stacks_open(struct load_hooks *hooks, struct diags *diags);
/* The maps of one part, as the programs of `hooks` name them. */
int load_state_open(const struct load_hooks *hooks, struct load_state *state, struct diags *diags);
void load_state_close(struct load_state *state);
/* LOAD_MAP_CHAIN. */
int load_chain_map_open(int *ret_fd, struct diags *diags);
/* The descriptor of a map by its number in relocations; -1: there is none. */
int load_map_fd(const struct load_hooks *hooks, u32 number);

/* attach.c: what this layer knows of an access path. */
struct load_kind {
	const char *name; /* in messages */
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type; /* 0: none */
	u32 flags;
	/* Where the hook is_typed: its program's type, and how it is attached by its BTF id. */
	enum bpf_prog_type typed_type;
	enum bpf_attach_type typed_attach_type, typed_return_type; /* 0: of returns, too */
	/* A perf event, which is opened before any program starts; NULL: none. */
	int (*open_event)(struct load_program *program);
	int (*attach)(struct load_program *program); /* NULL: nothing; 0 or -errno */
	/* How often it should have been run so far, and, where it was not, until when the last one
	 * may still come; NULL: nobody knows. */
	u64 (*due)(const struct load_program *program, u64 *until_ns);
	/* Events that the kernel did not run the program for, since it was loaded. */
	u64 (*missed)(const struct load_program *program);
};
extern const struct load_kind load_kinds[ACCESS_N];

static inline const struct load_kind *load_kind(const struct load_program *program)
{
	return &load_kinds[program->hook->path];
}

/* starts.c: returns when no program that had begun is still running. */
void load_wait_for_programs(u32 n_cpus);

/* From here on starts are none of the part's run; are. */
void load_forget_starts(struct load_state *state);
void load_begin_starts(struct load_state *state);

/* What is attached, of which the kernel counts what it calls, too. */
static inline const struct load_program *load_entered(const struct load_program *program)
{
	return program->chain ? &program->chain->program : program;
}

/* program.c: 0 or a diagnostic and -errno. */
int load_program_open(struct load_hooks *hooks, struct load_program *program, struct diags *diags);

/* stacks.c: that at `at`.  NULL: there is no memory. */
struct load_stacks *load_stacks_new(const struct phys_set *set, void *at);
void load_stacks_free(struct load_stacks *stacks);
/*
 * These are to be switched: goes over to the other generation where it is time, and that is free.
 * load_stacks_bit(): of the epochs.
 */
void load_stacks_turn(struct load_state *const *states, u32 n_states);
u64 load_stacks_bit(const struct load_hooks *hooks);
void load_stacks_flipped(const struct load_hooks *hooks);

/* flip.c: this thread alone writes them. */
void load_change_epochs(const struct load_hooks *hooks, u32 block, u64 mask, u64 bits);
/* A part begins, in the place of another, before its programs: starts are none of its run yet. */
void load_reset(struct load_hooks *hooks, struct load_state *state);
/* What the kernel counts with the program: monotonic; one system call, 1-2 us. */
u64 load_recursion_misses(const struct load_program *program);
bool load_serves(const struct load_program *program, u32 part);
/* That of one which is loaded. */
u64 load_program_missed(const struct load_hooks *hooks, u32 program);

/* attach.c: 0 or a diagnostic and -errno; or -EUNATCH without one, as load_attach(). */
int load_program_attach(struct load_program *program, struct diags *diags);
/* features.c: no plan takes it there again.  false: it has refused too many. */
bool load_refuse_trampoline(const struct hook *hook, int error);
/* Do starts wait there that are attached first? */
bool load_has_starts(const struct hook *hook);

/* chain.c: the one of this hook; NULL: there is none. */
struct load_chain *load_chain_of(const struct load_chains *chains, const struct hook *hook);
/* The same, made where there is none: loaded, and not attached.  0 or a diagnostic and -errno. */
int load_chain_open(struct load_chains *chains, const struct hook *hook, struct arena *arena,
		    struct diags *diags, struct load_chain **ret_chain);
/* Calls the program, in the place of another or of none; -errno: as before. */
int load_chain_put(struct load_chain *chain, u32 place, int program_fd);
/* Calls none there, when it returns. */
void load_chain_take(struct load_chain *chain, u32 place);
/* The same, soon: the place stays taken as long (load_find_places()). */
void load_chain_take_soon(struct load_chains *chains, struct load_chain *chain, u32 place);
/* A chain without programs is detached, and what it still calls with it. */
void load_chain_leave(struct load_chains *chains, struct load_chain *chain);

/* change.c: no program of the set that changes is called any more. */
void load_leave(struct load_hooks *hooks);

/* closer.c */
void load_closer_open(struct load_closer *closer);
/* Closes it soon; *fd is -1 then. */
void load_closer_take(struct load_closer *closer, int *fd);
/* Empties the place of the chain's array, too, which is another descriptor of it. */
void load_closer_take_place(struct load_closer *closer, const struct load_chain *chain, u32 place,
			    int *fd);
/* Places of the chain that are not empty yet: a bit for each. */
u32 load_closer_places(struct load_closer *closer, const struct load_chain *chain);
bool load_closer_is_working(struct load_closer *closer);
/* When all is closed. */
void load_closer_close(struct load_closer *closer);

/* attach.c: detaches it, there or by the closer's thread. */
void load_unlink(struct load_program *program, struct load_closer *closer);
static inline bool load_is_attached(const struct load_program *program)
{
	return program->link_fd >= 0 || program->perf_fd >= 0 || program->n_events;
}
/* sample.c */
int load_sample_attach(struct load_program *program);
u64 load_samples_due(const struct load_program *program, u64 *until_ns);
/* attach.c: takes a file descriptor lower than those of maps, programs and links. */
int load_perf_reserve(struct load_program *program);

/*
 * functions.c: functions and places of programs, many by one link, or one after the other, but for
 * those that the kernel refuses (n_left_out); 0 or -errno.  How far that is: false: the host wants
 * no more of it.
 */
int load_place_open(struct load_program *program);
int load_multi_attach(struct load_program *program);
int load_places_attach(struct load_program *program);
bool load_tell_progress(const char *doing, const struct hook *hook, u32 n_done);

/*
 * privilege.c: adds `no-privilege` and returns true when `error` (positive) is what
 * the kernel says to a process without the capabilities to `doing` ("load a program"); and
 * `attach-failed` where the process may have no more files.
 */
bool load_refused(int error, const char *doing, struct diags *diags);
/* Is it the place that the kernel refuses with this error (positive), and not the process? */
bool load_is_of_place(int error);
/* The diagnostic for what lockdown refuses. */
void load_locked_down(struct span span, const char *doing, struct diags *diags);

#endif
