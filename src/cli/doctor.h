/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One question of the doctor: a name, whether the main job needs it, what answers it, and
 * what to do when the answer is no.  doctor.c asks about the system, doctor_bpf.c about bpf(2).
 */
#ifndef EBQL_CLI_DOCTOR_H
#define EBQL_CLI_DOCTOR_H

#include "base/buf.h"

struct check {
	const char *name, *mend;
	bool is_needed;
	u32 argument; /* for the next two */
	/* Tries it: 0 (which `done` words) or -errno. */
	int (*attempt)(u32 argument);
	const char *done;
	/* Or: works or not; says with what value or error. */
	bool (*probe)(u32 argument, struct buf *detail);
};

extern const struct check bpf_checks[];
extern const u32 n_bpf_checks;
/* tracefs' id of sched_switch; 0 and why when it cannot be had: doctor_bpf.c */
u32 doctor_tracepoint_id(struct buf *why);

#endif
