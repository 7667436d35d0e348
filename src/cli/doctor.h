/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One question of the doctor: a name, whether the main job needs it, the probe that
 * answers it, and what to do when the answer is no.  doctor.c asks about the system,
 * doctor_bpf.c about bpf(2).
 */
#ifndef EBQL_CLI_DOCTOR_H
#define EBQL_CLI_DOCTOR_H

#include "base/buf.h"

struct check {
	const char *name;
	bool is_needed;
	/* Works or not; says with what value or error.  May use argument. */
	bool (*probe)(const struct check *check, struct buf *detail);
	u32 argument;
	const char *mend;
};

extern const struct check bpf_checks[];
extern const u32 n_bpf_checks;

#endif
