/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of the kernel with fixed names.
 */
#include "cat/internal.h"

#include <linux/capability.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const char *name_of_syscall(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	return *x >= 0 && *x < syscall_count() ? syscall_name(arch_own, (s32)*x) : NULL;
}

const struct naming naming_syscall = {
	.name = "syscall_name", .name_of = name_of_syscall, .example = "read", .hi = 999
};

/*
 * The bits of a task's state (include/linux/sched.h), as sched_switch gives them: bit 7
 * is then "idle", and 256 (TASK_REPORT_MAX) says that it was preempted.  The kernel's own
 * word, which raw tracepoints carry, has idle as 0x402 (TASK_UNINTERRUPTIBLE with
 * TASK_NOLOAD), and 256 (TASK_WAKEKILL) together with a lower bit only.
 */
static const char *const state_bits[] = { "sleeping", "disk sleep", "stopped", "traced",  "dead",
					  "zombie",   "parked",	    "idle",    "runnable" };
#define IDLE 0x402

static const char *name_of_task_state(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	if (*x == 0)
		return "running";
	if ((*x & IDLE) == IDLE)
		return "idle";
	for (u32 i = 0; i < ARRAY_SIZE(state_bits); i++)
		if (*x >> i & 1)
			return state_bits[i];
	return NULL;
}

/* The lowest bit names it, so those below are 0; but the two of IDLE go first. */
static u32 bits_of_task_state(const char *name, struct naming_bits ret[NAMING_NUMBERS],
			      struct suggest *suggest)
{
	u32 n = 0;

	suggest_offer(suggest, "running");
	if (strcmp(name, "running") == 0)
		ret[n++] = (struct naming_bits){ 0, 0 };
	if (strcmp(name, "idle") == 0)
		ret[n++] = (struct naming_bits){ IDLE, IDLE };
	for (u32 i = 0; i < ARRAY_SIZE(state_bits); i++) {
		s64 bit = 1 << i, mask = 2 * bit - 1;

		suggest_offer(suggest, state_bits[i]);
		if (strcmp(name, state_bits[i]) != 0)
			continue;
		for (s64 more = 0; more <= (bit & 3 ? IDLE : 0); more += 2)
			if (!(more & ~IDLE) && !(bit == 2 && more & 2) &&
			    ((bit | more) & IDLE) != IDLE && n < NAMING_NUMBERS)
				ret[n++] = (struct naming_bits){ mask | (bit & 3 ? IDLE : 0),
								 bit | more };
	}
	return n;
}

const struct naming naming_task_state = { .name = "task_state",
					  .name_of = name_of_task_state,
					  .example = "sleeping",
					  .bits_of = bits_of_task_state };

/* include/linux/interrupt.h; named as /proc/softirqs does. */
static const char *name_of_softirq(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	static const char *const texts[] = { "HI",	 "TIMER",   "NET_TX", "NET_RX",	 "BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

	return *x >= 0 && *x < (s64)ARRAY_SIZE(texts) ? texts[*x] : NULL;
}

const struct naming naming_softirq = {
	.name = "softirq_name", .name_of = name_of_softirq, .example = "NET_RX", .hi = 9
};

/* include/net/tcp_states.h */
static const char *name_of_tcp_state(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	static const char *const texts[] = { NULL,	     "ESTABLISHED",   "SYN_SENT",
					     "SYN_RECV",     "FIN_WAIT1",     "FIN_WAIT2",
					     "TIME_WAIT",    "CLOSE",	      "CLOSE_WAIT",
					     "LAST_ACK",     "LISTEN",	      "CLOSING",
					     "NEW_SYN_RECV", "BOUND_INACTIVE" };

	return *x > 0 && *x < (s64)ARRAY_SIZE(texts) ? texts[*x] : NULL;
}

const struct naming naming_tcp_state = {
	.name = "tcp_state", .name_of = name_of_tcp_state, .example = "ESTABLISHED", .hi = 13
};

/* --- Sockets, and how threads are scheduled: by the names that C has for them --- */

#define OF(name) [name] = #name

static const char *name_of_family(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	static const char *const texts[] = {
		OF(AF_UNSPEC),	   OF(AF_UNIX),	     OF(AF_INET),     OF(AF_AX25),
		OF(AF_IPX),	   OF(AF_APPLETALK), OF(AF_NETROM),   OF(AF_BRIDGE),
		OF(AF_ATMPVC),	   OF(AF_X25),	     OF(AF_INET6),    OF(AF_ROSE),
		OF(AF_DECnet),	   OF(AF_NETBEUI),   OF(AF_SECURITY), OF(AF_KEY),
		OF(AF_NETLINK),	   OF(AF_PACKET),    OF(AF_ASH),      OF(AF_ECONET),
		OF(AF_ATMSVC),	   OF(AF_RDS),	     OF(AF_SNA),      OF(AF_IRDA),
		OF(AF_PPPOX),	   OF(AF_WANPIPE),   OF(AF_LLC),      OF(AF_IB),
		OF(AF_MPLS),	   OF(AF_CAN),	     OF(AF_TIPC),     OF(AF_BLUETOOTH),
		OF(AF_IUCV),	   OF(AF_RXRPC),     OF(AF_ISDN),     OF(AF_PHONET),
		OF(AF_IEEE802154), OF(AF_CAIF),	     OF(AF_ALG),      OF(AF_NFC),
		OF(AF_VSOCK),	   OF(AF_KCM),	     OF(AF_QIPCRTR),  OF(AF_SMC),
		OF(AF_XDP),	   OF(AF_MCTP),
	};

	return *x >= 0 && *x < (s64)ARRAY_SIZE(texts) ? texts[*x] : NULL;
}

const struct naming naming_family = {
	.name = "family_name", .name_of = name_of_family, .example = "AF_INET6", .hi = AF_MCTP
};

static const char *name_of_protocol(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	static const char *const texts[] = {
		OF(IPPROTO_IP),	     OF(IPPROTO_ICMP),	   OF(IPPROTO_IGMP),	 OF(IPPROTO_IPIP),
		OF(IPPROTO_TCP),     OF(IPPROTO_EGP),	   OF(IPPROTO_PUP),	 OF(IPPROTO_UDP),
		OF(IPPROTO_IDP),     OF(IPPROTO_TP),	   OF(IPPROTO_DCCP),	 OF(IPPROTO_IPV6),
		OF(IPPROTO_ROUTING), OF(IPPROTO_FRAGMENT), OF(IPPROTO_RSVP),	 OF(IPPROTO_GRE),
		OF(IPPROTO_ESP),     OF(IPPROTO_AH),	   OF(IPPROTO_ICMPV6),	 OF(IPPROTO_NONE),
		OF(IPPROTO_DSTOPTS), OF(IPPROTO_MTP),	   OF(IPPROTO_BEETPH),	 OF(IPPROTO_ENCAP),
		OF(IPPROTO_PIM),     OF(IPPROTO_COMP),	   OF(IPPROTO_SCTP),	 OF(IPPROTO_MH),
		OF(IPPROTO_UDPLITE), OF(IPPROTO_MPLS),	   OF(IPPROTO_ETHERNET), OF(IPPROTO_RAW),
		OF(IPPROTO_MPTCP),
	};

	return *x >= 0 && *x < (s64)ARRAY_SIZE(texts) ? texts[*x] : NULL;
}

const struct naming naming_protocol = { .name = "protocol_name",
					.name_of = name_of_protocol,
					.example = "IPPROTO_TCP",
					.hi = IPPROTO_MPTCP };

static const char *name_of_policy(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	/* The header of 6.12 is the first with SCHED_EXT; SCHED_NORMAL is chrt's SCHED_OTHER. */
	static const char *const texts[] = {
		[0] = "SCHED_OTHER", OF(SCHED_FIFO),	 OF(SCHED_RR),	   OF(SCHED_BATCH),
		OF(SCHED_IDLE),	     OF(SCHED_DEADLINE), [7] = "SCHED_EXT"
	};

	return *x >= 0 && *x < (s64)ARRAY_SIZE(texts) ? texts[*x] : NULL;
}

const struct naming naming_policy = {
	.name = "policy_name", .name_of = name_of_policy, .example = "SCHED_FIFO", .hi = 7
};

/* dev_t as the kernel has it: 12 bits of major, 20 of minor (include/linux/kdev_t.h). */
static const char *name_of_device(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	if (*x < 0 || *x > UINT32_MAX)
		return NULL;
	snprintf(room, NAMING_BYTES, "%u:%u", (u32)(*x >> 20), (u32)*x & 0xfffff);
	return room;
}

static u32 numbers_of_device(const struct naming *naming, const char *name, s64 *ret_numbers,
			     struct suggest *suggest)
{
	u32 major, minor;
	char room[NAMING_BYTES];

	if (sscanf(name, "%u:%u", &major, &minor) != 2 || major > 0xfff || minor > 0xfffff)
		return 0;
	*ret_numbers = (s64)major << 20 | minor;
	return strcmp(name_of_device(naming, ret_numbers, 1, room), name) == 0;
}

const struct naming naming_device = { .name = "device_name",
				      .name_of = name_of_device,
				      .example = "8:16",
				      .numbers_of = numbers_of_device };

/* --- errno --- */

/* The kernel's own, which programs never see (include/linux/errno.h). */
#define FIRST_OWN 512
static const char *const own_errors[] = {
	[0] = "ERESTARTSYS",
	[1] = "ERESTARTNOINTR",
	[2] = "ERESTARTNOHAND",
	[3] = "ENOIOCTLCMD",
	[4] = "ERESTART_RESTARTBLOCK",
	[5] = "EPROBE_DEFER",
	[6] = "EOPENSTALE",
	[7] = "ENOPARAM",
	[9] = "EBADHANDLE",
	[10] = "ENOTSYNC",
	[11] = "EBADCOOKIE",
	[12] = "ENOTSUPP",
	[13] = "ETOOSMALL",
	[14] = "ESERVERFAULT",
	[15] = "EBADTYPE",
	[16] = "EJUKEBOX",
	[17] = "EIOCBQUEUED",
	[18] = "ERECALLCONFLICT",
};
#define LAST_ERRNO (FIRST_OWN + (s64)ARRAY_SIZE(own_errors) - 1)

static const char *name_of_errno(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	s64 error;

	if (*x < -LAST_ERRNO || *x > LAST_ERRNO || !*x)
		return NULL;
	error = *x < 0 ? -*x : *x;
	return error >= FIRST_OWN ? own_errors[error - FIRST_OWN] : strerrorname_np((int)error);
}

/* A read that returns 2 has read two bytes: no ENOENT. */
static const char *name_of_return(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	return *x < 0 ? name_of_errno(naming, x, n, room) : NULL;
}

const struct naming naming_return = { .name = "errno_name",
				      .sql = "eb_return_name",
				      .name_of = name_of_return,
				      .example = "ENOENT",
				      .lo = -LAST_ERRNO,
				      .hi = -1 };
const struct naming naming_errno = { .name = "errno_name",
				     .name_of = name_of_errno,
				     .of_signed = &naming_return,
				     .example = "ENOENT",
				     .lo = 0,
				     .hi = LAST_ERRNO };

/* --- Signals --- */

/* The kernel has them from 32 on, of which C libraries keep two: as `kill -l` has it. */
#define FIRST_REAL_TIME 34
#define LAST_SIGNAL	64

static const char *name_of_signal(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	const char *name = *x > 0 && *x < 32 ? sigabbrev_np((int)*x) : NULL;

	if (!name && (*x < FIRST_REAL_TIME || *x > LAST_SIGNAL))
		return NULL;
	if (name)
		snprintf(room, NAMING_BYTES, "SIG%s", name);
	else if (*x == FIRST_REAL_TIME)
		return "SIGRTMIN";
	else
		snprintf(room, NAMING_BYTES, "SIGRTMIN+%u", (u32)*x - FIRST_REAL_TIME);
	return room;
}

const struct naming naming_signal = {
	.name = "signal_name", .name_of = name_of_signal, .example = "SIGKILL", .hi = LAST_SIGNAL
};

/* --- Capabilities --- */

static const char *name_of_capability(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	/* clang-format off */
	static const char *const texts[] = {
		"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER",
		"CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP",
		"CAP_LINUX_IMMUTABLE", "CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST",
		"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_IPC_OWNER",
		"CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT", "CAP_SYS_PTRACE",
		"CAP_SYS_PACCT", "CAP_SYS_ADMIN", "CAP_SYS_BOOT", "CAP_SYS_NICE",
		"CAP_SYS_RESOURCE", "CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_MKNOD",
		"CAP_LEASE", "CAP_AUDIT_WRITE", "CAP_AUDIT_CONTROL", "CAP_SETFCAP",
		"CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG", "CAP_WAKE_ALARM",
		"CAP_BLOCK_SUSPEND", "CAP_AUDIT_READ", "CAP_PERFMON", "CAP_BPF",
		"CAP_CHECKPOINT_RESTORE",
	};
	/* clang-format on */

	_Static_assert(ARRAY_SIZE(texts) == CAP_CHECKPOINT_RESTORE + 1, "one is missing");
	return *x >= 0 && *x < (s64)ARRAY_SIZE(texts) ? texts[*x] : NULL;
}

const struct naming naming_capability = { .name = "capability_name",
					  .name_of = name_of_capability,
					  .example = "CAP_SYS_ADMIN",
					  .hi = CAP_LAST_CAP };
