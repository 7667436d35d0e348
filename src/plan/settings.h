/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What SET, WITH (...) and the command line say of how a query is run.
 */
#ifndef EBQL_PLAN_SETTINGS_H
#define EBQL_PLAN_SETTINGS_H

#include <time.h>

#include "base/arena.h"
#include "base/diag.h"
#include "sql/sql.h"
#include "type/type.h"

enum setting_access {
	ACCESS_AUTO,
	ACCESS_ONLY_TRACEPOINT,
	ACCESS_ONLY_RAW,
	ACCESS_ONLY_FENTRY,
	ACCESS_ONLY_KPROBE,
};
enum setting_budget { BUDGET_DETACH, BUDGET_SAMPLE };
enum setting_state { STATE_AUTO, STATE_ONLY_TABLE, STATE_ONLY_KERNEL_MAP };

/* WITH (start = '09:05', stop = '09:25', days = 'mon-fri'), in local time */
struct schedule {
	s32 start_s, stop_s; /* of the day; -1: not said */
	u32 days;	     /* bit tm_wday; 0: not said, all */
	struct span span;    /* where the text says so */
};

static inline bool schedule_is_set(const struct schedule *s)
{
	return s->start_s >= 0 || s->stop_s >= 0 || s->days;
}

/* As options have them; false: it is none. */
bool schedule_clock(const char *text, s32 *ret_s);
bool schedule_days(const char *text, u32 *ret_days);
/*
 * Is it open at `now`, by the process' time zone?  *ret_change: until when that is so; 0: for ever.
 * Over midnight where it stops before it starts: on the days named it starts.  A time that comes
 * twice, as clocks are put back, is the first of both; one that they skip is when they do.
 */
bool schedule_at(const struct schedule *schedule, time_t now, time_t *ret_change);

struct settings {
	enum setting_access access_path;
	enum setting_state state;
	u64 max_groups;	   /* 16,384 */
	u64 ring_bytes;	   /* 2 MiB */
	u64 max_in_flight; /* 65,536: starts that wait for their ends */
	u64 stacks;	   /* 16,384: different ones that there is room for */
	enum quantile_edge edge;
	u64 survey_ns;	   /* how long to watch rates before choosing; 0: no survey */
	bool on_loss_fail; /* on_loss = 'fail' */
	bool pushdown;
	const char *rules_off; /* comma-separated names of optimiser rules; "all" */
	const char *out;       /* ebql watch: 'FORMAT' or 'FORMAT:PATH'; "": as its -o says */
	struct span out_span;  /* where the text says so */
	/* ebql watch */
	struct schedule schedule;
	u64 keep; /* windows that wait for a snapshot, instead of being written; 0: none */
	const char *on_row; /* what a row does; "" */
	struct span on_row_span;
	u64 on_row_limit_ns;	/* 10 s: how long its command may take */
	bool is_max_groups_set; /* asked for, be it the default's number */
	s32 target_pid;		/* -1: none named */
	/* Of the command, whose tree is below it, as the initial PID namespace has it; -1: none. */
	s32 target_parent;
	s32 only_pid; /* of programs' events those of this process; 0: of all */
	/* Of the program: where the command line says nothing else; 0: until it is stopped. */
	u64 n_windows, duration_ns;
	const struct costs *costs; /* the catalog's, unless others are set; NULL: the table's */
	u32 n_bindings;		   /* counted by plan_bind_query(): one for a query */
	bool counts_operators;	   /* each operator by itself: EXPLAIN ANALYZE */
	bool measures_clock;	   /* max_cpu: reads it though it is not known what that takes */
	bool is_tree_used;	   /* the same of target_tree() */
	bool is_usym_used;	   /* and of usym() */
	bool is_usym_told;	   /* that it may find no name: once a query */
	bool is_target_used;	   /* set by plan_bind_query(): the query calls target_pid() */
	u64 max_cpu;		   /* of one CPU's time, in millionths; 0: any */
	enum setting_budget over_budget;
	u64 wake_count; /* events of the count that end a window ahead of its time; 0: none do */
};

/* What it says of streams that tracepoints bring; the other words are about functions. */
static inline enum setting_access settings_tracepoint_access(const struct settings *settings)
{
	return settings->access_path > ACCESS_ONLY_RAW ? ACCESS_AUTO : settings->access_path;
}

/* The defaults. */
void settings_init(struct settings *settings);
/* SET name = value; an unknown name or value is a diagnostic. */
void settings_set(struct settings *settings, const struct ast_option *option, struct diags *diags);
/* They become the same; of texts those are the arena's that differed. */
void settings_keep(struct settings *kept, const struct settings *now, struct arena *arena);
/* Calls visit for the name of each setting. */
void settings_each(void (*visit)(void *context, const char *name), void *context);

#endif
