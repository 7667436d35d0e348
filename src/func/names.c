/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of the kernel -> their names: syscall_name(nr), task_state(prev_state),
 * softirq_name(vec), tcp_state(state): one table entry each; and device_name(dev), "8:16".
 * NULL gives NULL, an unknown number its decimal text.  And instants: eb_real_time(t).
 */
#include "func/internal.h"

#include <stdio.h>

#include "cat/cat.h"

static const char *name_of_syscall(s64 nr)
{
	return nr >= 0 && nr < syscall_count() ? syscall_name((s32)nr) : NULL;
}

/*
 * The bits of a task's state (include/linux/sched.h), as sched_switch gives them: bit 7
 * is then "idle", and 256 (TASK_REPORT_MAX) says that it was preempted.  The kernel's own
 * word, which raw tracepoints carry, has idle as 0x402 (TASK_UNINTERRUPTIBLE with
 * TASK_NOLOAD), and 256 (TASK_WAKEKILL) together with a lower bit only.
 */
static const char *name_of_task_state(s64 state)
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
static const char *name_of_softirq(s64 vector)
{
	static const char *const names[] = { "HI",	 "TIMER",   "NET_TX", "NET_RX",	 "BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

	return vector >= 0 && vector < (s64)ARRAY_SIZE(names) ? names[vector] : NULL;
}

/* include/net/tcp_states.h */
static const char *name_of_tcp_state(s64 state)
{
	static const char *const names[] = { NULL,	     "ESTABLISHED",   "SYN_SENT",
					     "SYN_RECV",     "FIN_WAIT1",     "FIN_WAIT2",
					     "TIME_WAIT",    "CLOSE",	      "CLOSE_WAIT",
					     "LAST_ACK",     "LISTEN",	      "CLOSING",
					     "NEW_SYN_RECV", "BOUND_INACTIVE" };

	return state > 0 && state < (s64)ARRAY_SIZE(names) ? names[state] : NULL;
}

static const struct naming {
	const char *function;
	const char *(*name)(s64 number);
} namings[] = {
	{ "syscall_name", name_of_syscall },
	{ "task_state", name_of_task_state },
	{ "softirq_name", name_of_softirq },
	{ "tcp_state", name_of_tcp_state },
};

static void give_number(sqlite3_context *context, s128 number)
{
	struct buf text;

	buf_init(&text);
	buf_put_s128(&text, number);
	sqlite3_result_text(context, text.at, (int)text.n, SQLITE_TRANSIENT);
	buf_free(&text);
}

/* false: NULL is the result, or an unknown number's text. */
static bool take_number(sqlite3_context *context, sqlite3_value *value, s64 *ret_number)
{
	if (special_of(value) == VALUE_INT) {
		give_number(context, special_integer(value));
	} else if (sqlite3_value_type(value) != SQLITE_NULL) {
		*ret_number = sqlite3_value_int64(value);
		return true;
	}
	return false;
}

static void name_number(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct naming *naming = sqlite3_user_data(context);
	const char *name;
	s64 number;

	if (!take_number(context, argv[0], &number))
		return;
	name = naming->name(number);
	if (name)
		sqlite3_result_text(context, name, -1, SQLITE_STATIC);
	else
		give_number(context, number);
}

/* dev_t as the kernel has it: 12 bits of major, 20 of minor (include/linux/kdev_t.h). */
static void name_device(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	char text[24];
	s64 device;

	if (!take_number(context, argv[0], &device))
		return;
	if (device < 0 || device > UINT32_MAX) {
		give_number(context, device);
	} else {
		snprintf(text, sizeof(text), "%u:%u", (u32)(device >> 20), (u32)device & 0xfffff);
		sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
	}
}

/* An instant of CLOCK_MONOTONIC on CLOCK_REALTIME: by one amount, so differences stay. */
static void real_time(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const s64 *offset_ns = sqlite3_user_data(context);
	s64 ns = sqlite3_value_int64(argv[0]), real_ns;

	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER)
		sqlite3_result_value(context, argv[0]);
	else if (!__builtin_add_overflow(ns, *offset_ns, &real_ns))
		sqlite3_result_int64(context, real_ns);
}

static int register_real_time(struct sqlite3 *db)
{
	s64 *offset_ns = sqlite3_malloc(sizeof(*offset_ns));

	if (!offset_ns)
		return SQLITE_NOMEM;
	*offset_ns = (s64)(base_realtime_ns() - base_monotonic_ns());
	return sqlite3_create_function_v2(db, "eb_real_time", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
					  offset_ns, real_time, NULL, NULL, sqlite3_free);
}

int func_register_names(struct sqlite3 *db)
{
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
	int err = sqlite3_create_function_v2(db, "device_name", 1, flags, NULL, name_device, NULL,
					     NULL, NULL);

	if (!err)
		err = register_real_time(db);

	for (u32 i = 0; !err && i < ARRAY_SIZE(namings); i++)
		err = sqlite3_create_function_v2(db, namings[i].function, 1, flags,
						 (void *)&namings[i], name_number, NULL, NULL,
						 NULL);
	return err;
}
