/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What things cost in the kernel: the one table that plans are chosen by; part of cat.h.  Its
 * figures are those of ARCHITECTURE.md, or what `ebql calibrate` measured on this machine.
 */
#ifndef EBQL_CAT_COSTS_H
#define EBQL_CAT_COSTS_H

#include "base/arena.h"
#include "base/buf.h"

enum cost {
	COST_NONE, /* of what is at hand: a field, the CPU, a sum of two */
	/* Hooks: an empty program, for each event that it is for; OTHER: for each system call that
	 * only passes by. */
	COST_RAW_CALL,
	COST_RAW_OTHER,
	COST_RAW_SHARED, /* by what both, at a call's entry and its return, cost less together */
	COST_TRACEPOINT_CALL,
	COST_TRACEPOINT_OTHER,
	COST_FENTRY_CALL,
	COST_FEXIT_CALL,
	COST_RAW,
	COST_TRACEPOINT,
	COST_FENTRY,
	COST_FEXIT,
	COST_KPROBE,
	COST_KRETPROBE,
	COST_UPROBE,
	COST_URETPROBE,
	COST_USDT,
	COST_SAMPLE,
	COST_CLOCK,   /* at the speed at which raw_call costs so much; 0: not known */
	COST_ACCOUNT, /* of max_cpu: of each event, but for reading the clock */
	/* Values */
	COST_TIME,
	COST_ID,
	COST_PPID,
	COST_IN_NAMESPACE,
	COST_COMM,
	COST_TEXT,
	COST_MEMBER,
	COST_LOAD,
	COST_USER,
	COST_FILE_NAME,
	COST_FILE_PATH,
	COST_LIKE,
	COST_KSTACK,
	COST_USTACK,
	/* State */
	COST_CELL,
	COST_DIRECT,
	COST_TABLE,
	COST_TABLE_LARGE,
	COST_KERNEL_MAP,
	COST_HISTOGRAM,
	COST_START,
	COST_END,
	COST_ROW,
	COST_N
};

struct cost_info {
	const char *name, *meaning;
	double ns; /* unless it was measured */
};

extern const struct cost_info cost_infos[COST_N];

struct costs {
	struct cost_figure {
		double ns, spread_ns; /* half of the middle half's width; 0: unknown */
		bool is_measured;     /* on this machine */
		bool is_unsteady;     /* while the machine itself changed its speed */
	} of[COST_N];
	bool is_measured;    /* some are */
	const char *path;    /* of the file; NULL: there is none */
	const char *ignored; /* why the file is not used; NULL: it is, or there is none */
};

/* costs: NULL: those of the table. */
static inline double cost_ns(const struct costs *costs, enum cost cost)
{
	return costs ? costs->of[cost].ns : cost_infos[cost].ns;
}

/* Those of the table. */
void costs_init(struct costs *costs);
/* What was measured; false: no mechanism costs that, and nothing is taken. */
bool costs_take(struct costs *costs, enum cost cost, double ns, double spread_ns);
/*
 * The text of such a file, for a machine with this kernel and this CPU (NULL: with any).  Where it
 * says nothing the table stays; of another machine, broken or cut, it is not used, and `ignored`
 * says so.
 */
void costs_read(struct costs *costs, const char *text, const char *kernel, const char *cpu,
		struct arena *arena);
void costs_write(const struct costs *costs, const char *kernel, const char *cpu, struct buf *out);

/* Of this machine: its kernel's release, and its first CPU's model. */
const char *costs_kernel(struct arena *arena);
const char *costs_cpu(struct arena *arena);
/*
 * Where they are kept: $XDG_STATE_HOME/ebql/costs; without that, root's in /var/lib/ebql/costs and
 * another user's in ~/.local/state/ebql/costs.  NULL: there is no such place.
 */
const char *costs_path(struct arena *arena);

#endif
