/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of the kernel -> their names: syscall_name(nr), task_state(prev_state),
 * softirq_name(vec), tcp_state(state): one table entry each; and device_name(dev), "8:16".
 * NULL gives NULL, an unknown number its decimal text.  And instants: eb_real_time(t).
 */
#include "func/internal.h"

#include <stdio.h>

#include "cat/cat.h"

static const char *name_of_syscall(s64 nr, char *room)
{
	return nr >= 0 && nr < syscall_count() ? syscall_name(arch_own, (s32)nr) : NULL;
}

/*
 * The bits of a task's state (include/linux/sched.h), as sched_switch gives them: bit 7
 * is then "idle", and 256 (TASK_REPORT_MAX) says that it was preempted.  The kernel's own
 * word, which raw tracepoints carry, has idle as 0x402 (TASK_UNINTERRUPTIBLE with
 * TASK_NOLOAD), and 256 (TASK_WAKEKILL) together with a lower bit only.
 */
static const char *name_of_task_state(s64 state, char *room)
{
	static const char *const bits[] = { "sleeping", "disk sleep", "stopped", "traced",  "dead",
					    "zombie",	"parked",     "idle",	 "runnable" };

	if (state == 0)
		return "running";
	if ((state & 0x402) == 0x402)
		return "idle";
	for (u32 i = 0; i < ARRAY_SIZE(bits); i++)
		if (state >> i & 1)
			return bits[i];
	return NULL;
}

/* include/linux/interrupt.h; named as /proc/softirqs does. */
static const char *name_of_softirq(s64 vector, char *room)
{
	static const char *const texts[] = { "HI",	 "TIMER",   "NET_TX", "NET_RX",	 "BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

	return vector >= 0 && vector < (s64)ARRAY_SIZE(texts) ? texts[vector] : NULL;
}

/* include/net/tcp_states.h */
static const char *name_of_tcp_state(s64 state, char *room)
{
	static const char *const texts[] = { NULL,	     "ESTABLISHED",   "SYN_SENT",
					     "SYN_RECV",     "FIN_WAIT1",     "FIN_WAIT2",
					     "TIME_WAIT",    "CLOSE",	      "CLOSE_WAIT",
					     "LAST_ACK",     "LISTEN",	      "CLOSING",
					     "NEW_SYN_RECV", "BOUND_INACTIVE" };

	return state > 0 && state < (s64)ARRAY_SIZE(texts) ? texts[state] : NULL;
}

#define ROOM_BYTES 24u

/* dev_t as the kernel has it: 12 bits of major, 20 of minor (include/linux/kdev_t.h). */
static const char *name_of_device(s64 device, char *room)
{
	if (device < 0 || device > UINT32_MAX)
		return NULL;
	snprintf(room, ROOM_BYTES, "%u:%u", (u32)(device >> 20), (u32)device & 0xfffff);
	return room;
}

enum { SYSCALL, TASK_STATE, SOFTIRQ, TCP_STATE, DEVICE };

/* NULL: the number has none.  `room` is for one that is made. */
static const char *(*const names[])(s64 number, char *room) = {
	[SYSCALL] = name_of_syscall, [TASK_STATE] = name_of_task_state,
	[SOFTIRQ] = name_of_softirq, [TCP_STATE] = name_of_tcp_state,
	[DEVICE] = name_of_device,
};

static void name_number(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	bool is_big = special_of(argv[0]) == VALUE_INT;
	s128 number = is_big ? special_integer(argv[0]) : sqlite3_value_int64(argv[0]);
	const char *name = NULL;
	char room[ROOM_BYTES];

	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	if (!is_big)
		name = names[func_of(context)->function->detail]((s64)number, room);
	if (name)
		sqlite3_result_text(context, name, -1, SQLITE_TRANSIENT);
	else
		func_result_digits(context, number);
}

/* An instant of CLOCK_MONOTONIC on CLOCK_REALTIME: by one amount, so differences stay. */
static void real_time(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	s64 ns = sqlite3_value_int64(argv[0]), real_ns;

	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER)
		sqlite3_result_value(context, argv[0]);
	else if (!__builtin_add_overflow(ns, func_of(context)->real_offset_ns, &real_ns))
		sqlite3_result_int64(context, real_ns);
}

const struct function name_functions[] = {
	{ "syscall_name", 1, SYSCALL, name_number },
	{ "task_state", 1, TASK_STATE, name_number },
	{ "softirq_name", 1, SOFTIRQ, name_number },
	{ "tcp_state", 1, TCP_STATE, name_number },
	{ "device_name", 1, DEVICE, name_number },
	{ "eb_real_time", 1, 0, real_time },
	{ NULL },
};
