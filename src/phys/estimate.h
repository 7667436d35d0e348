/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a plan will cost, by the table of costs; part of phys.h.
 */
#ifndef EBQL_PHYS_ESTIMATE_H
#define EBQL_PHYS_ESTIMATE_H

#include "base/base.h"

struct costs;
struct hook;
struct phys_set;

/* What each wanted system call costs on either path, in ns, with the others that come by. */
struct call_costs {
	double raw, tracepoint;
};

/*
 * `share` of all calls are wanted; is_raw_paid, is_tracepoint_paid: the others come by there
 * anyway, since some other query reads one.
 */
struct call_costs phys_call_costs(const struct costs *costs, double share, bool is_raw_paid,
				  bool is_tracepoint_paid);

/* One event of a hook: the hook itself, what the parts do with it, and (RAW_SYSCALL, TRACEPOINT of
 * a system call) what another call costs that only comes by; with what max_cpu takes of each. */
struct hook_estimate {
	double hook_ns, work_ns, other_ns;
};

/* As if every condition let the event pass. */
void phys_estimate(const struct hook *hook, struct hook_estimate *ret);
/* What each event is charged with besides its work, of a part with max_cpu: its share of the hook,
 * and the account, of which an event that is not the part's takes less. */
double phys_charged_ns(const struct hook *hook);

/* By what its events could be read as well, and what the hook would then cost; up to 2. */
struct hook_other {
	const char *name;
	bool is_sure; /* every kernel has it */
	double hook_ns, other_ns;
};
u32 phys_other_hooks(const struct hook *hook, struct hook_other ret_others[2]);

#endif
