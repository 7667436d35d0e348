/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What this process may do, and when.
 *
 * A binary with capabilities (setcap), or with another owner (set-user-id), serves users who may
 * less than it.  So what it brings is effective in the calls of sys/ alone, which are for the
 * kernel's own things; files that the user names are opened with the user's own rights.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "sys/internal.h"

/* Sets of capabilities: `base` is effective but in calls of ours, where `permitted` is. */
static u64 permitted, inheritable, base;
static bool is_lent; /* they are the binary's, not the user's */

static const struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

u32 sys_kernel_version(void)
{
	static u32 known; /* several threads may find it out at once */
	u32 a = 0, b = 0, c = 0, version = __atomic_load_n(&known, __ATOMIC_RELAXED);
	struct utsname name;

	if (!version && uname(&name) == 0) {
		sscanf(name.release, "%u.%u.%u", &a, &b, &c);
		version = KERNEL_VERSION(a, b, c);
		__atomic_store_n(&known, version, __ATOMIC_RELAXED);
	}
	return version;
}

static void make_effective(u64 set)
{
	const struct __user_cap_data_struct data[2] = {
		{ (u32)set, (u32)permitted, (u32)inheritable },
		{ (u32)(set >> 32), (u32)(permitted >> 32), (u32)(inheritable >> 32) },
	};
	int error = errno;

	if (syscall(SYS_capset, &header, data) && is_lent)
		BUG("capset: %d", errno);
	errno = error;
}

static bool get(struct __user_cap_data_struct data[2])
{
	memset(data, 0, 2 * sizeof(*data));
	return syscall(SYS_capget, &header, data) == 0;
}

void sys_rights_init(void)
{
	struct __user_cap_data_struct data[2];

	/* AT_SECURE: exec gave more than the user has; to root it gives nothing more. */
	is_lent = getauxval(AT_SECURE) && getuid() != 0;
	if (getuid() != geteuid() || getgid() != getegid())
		BUG_ON(prctl(PR_SET_KEEPCAPS, 1) || setresgid(getgid(), getgid(), getgid()) ||
		       setresuid(getuid(), getuid(), getuid()));
	BUG_ON(!get(data) && is_lent);
	permitted = data[0].permitted | (u64)data[1].permitted << 32;
	inheritable = data[0].inheritable | (u64)data[1].inheritable << 32;
	sys_rights_back();
}

void sys_rights_back(void)
{
	base = is_lent ? 0 : permitted;
	make_effective(base);
}

void sys_rights_rest(u64 kept)
{
	/* Kernels before 5.19 (commit c8644cd0efe7) refuse all of bpf(2) without it, where
	 * unprivileged_bpf_disabled is set. */
	if (sys_kernel_version() < KERNEL_VERSION(5, 19, 0))
		kept |= SYS_CAP(CAP_BPF);
	permitted &= kept;
	inheritable &= kept;
	base = 0;
	make_effective(base);
}

void sys_rights_drop(void)
{
	const struct __user_cap_data_struct none[2] = { { 0 } };

	BUG_ON(syscall(SYS_capset, &header, none) && is_lent);
}

void rights_raise(void)
{
	if (base != permitted)
		make_effective(permitted);
}

void rights_raise_only(u64 set)
{
	make_effective(base | (permitted & set));
}

void rights_lower(void)
{
	if (base != permitted)
		make_effective(base);
}

bool sys_has_capability(u32 capability)
{
	struct __user_cap_data_struct data[2];

	return get(data) && ((data[capability / 32].effective >> capability % 32 & 1) ||
			     (permitted & SYS_CAP(capability)));
}
