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

/* maps.c: slots and constants, and each part's maps; 0 or a diagnostic and -errno. */
int load_maps_open(struct load_hooks *hooks, struct diags *diags);
void load_maps_close(struct load_hooks *hooks);
/* The descriptor of a map by its number in relocations; -1: there is none. */
int load_map_fd(const struct load_hooks *hooks, u32 number);

/* attach.c: what this layer knows of an access path. */
struct load_kind {
	const char *name; /* in messages */
	enum bpf_prog_type type;
	u32 flags;
	/* Where the hook is_typed: its program's type, and how it is attached by its BTF id. */
	enum bpf_prog_type typed_type;
	enum bpf_attach_type typed_attach_type;
	bool has_event; /* a perf event, which is opened before any program starts */
	int (*attach)(struct load_program *program); /* NULL: nothing; 0 or -errno */
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

/* Starts are none of the run's; are, from 0.1 ms from now on, when it returns. */
void load_forget_starts(struct load_hooks *hooks);
void load_begin_starts(struct load_hooks *hooks);

/* program.c: 0 or a diagnostic and -errno. */
int load_program_open(struct load_hooks *hooks, struct load_program *program, struct diags *diags);

/* flip.c: what the kernel counts with the program: monotonic; one system call, 1-2 us. */
u64 load_recursion_misses(const struct load_program *program);
/* That of one which is loaded. */
u64 load_program_missed(const struct load_hooks *hooks, u32 program);

/* attach.c: takes a file descriptor lower than those of maps, programs and links. */
int load_perf_reserve(struct load_program *program);

/*
 * privilege.c: adds `no-privilege` and returns true when `error` (positive) is what
 * the kernel says to a process without the capabilities to `doing` ("load a program"); and
 * `attach-failed` where the process may have no more files.
 */
bool load_refused(int error, const char *doing, struct diags *diags);

#endif
