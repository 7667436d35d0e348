/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query by hand for the tests of load/: physical plan, a program that counts
 * calls of one system call number into both words of its CPU's row, and the
 * generator of exactly known numbers of such calls.
 */
#ifndef TESTS_LOAD_QUERY_H
#define TESTS_LOAD_QUERY_H

#include <sched.h>
#include <unistd.h>

#include "load/load.h"

/*
 * No system call has this number, so nobody else makes it (another run of these tests has
 * another process ID); the tracepoint sees it all the same, as it stands before the range check.
 */
#define QUERY_SYSCALL (100000 + getpid())

/*
 * Words of a row, all counting the same events: a torn update shows as a difference.
 * So many that a flip finds a program at work about as often as not.
 */
#define QUERY_WORDS 128

struct query {
	struct arena arena;
	struct diags diags;
	struct phys phys, *part;
	struct phys_set set;
	struct phys_source source;
	struct hook_use use;
	struct settings settings;
	struct hook hook[2];
	struct stream *no_stream;
	struct load_program programs[2];
	struct load_hooks load;
	bool takes_no_slot; /* its programs are wrong: they read the copy and mark nothing */
};

/* A plan of one hook for this path, and state of one row a slice. */
void query_init(struct query *query, enum access_path path);
void query_free(struct query *query);
/* The counting program (for the hook's path), compiled into programs[i]. */
void query_compile(struct query *query, u32 i);
/* Any other program. */
void query_compile_ir(struct query *query, u32 i, struct ir *ir);
int query_open(struct query *query, u32 n_programs);
/* Runs the first program once over these context bytes. */
int query_run(struct query *query, const void *context, u32 context_bytes);
/* Prints what diagnostics there are, for a test that fails. */
void query_show(struct query *query);

u64 *query_row(struct query *query, u32 copy, u32 cpu);
/* Sums word `word` of this copy's rows over all CPUs; then clears them if is_clear. */
u64 query_drain(struct query *query, u32 copy, u64 *ret_n_torn);

void query_calls(u64 n);

/* Or the test fails. */
void query_open_ok(struct query *query, u32 n_programs);
void query_attach_ok(struct query *query);
/* The event of its tracepoint, if it has one, is only where the program hangs: even on its CPU,
 * where this thread has to stay, it counts nothing. */
void query_stay_on_cpu(cpu_set_t *ret_before);
void query_idle_event(const struct query *query);
/* The one diagnostic, of this tag. */
const struct diag *query_only_diag(struct query *query, const char *tag);
void query_contains(const char *text, const char *part);

#define SKIP_UNLESS(condition, reason)                                                             \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			print_message("SKIP: %s\n", reason);                                       \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

#endif
