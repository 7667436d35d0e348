/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kind of machine this is, and system call numbers <-> names (up to kernel 6.18).  tracefs
 * names some after the function that implements them, see aliases.
 */
#include "cat/cat.h"

#include <string.h>

/* From this number on all machines share them. */
#define FIRST_SHARED 424

/* clang-format off */
static const char *const shared[] = {
	"pidfd_send_signal", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "pidfd_open",
	"clone3", "close_range", "openat2", "pidfd_getfd", "faccessat2", "process_madvise",
	"epoll_pwait2", "mount_setattr", "quotactl_fd", "landlock_create_ruleset",
	"landlock_add_rule", "landlock_restrict_self", "memfd_secret", "process_mrelease",
	"futex_waitv", "set_mempolicy_home_node", "cachestat", "fchmodat2", "map_shadow_stack",
	"futex_wake", "futex_wait", "futex_requeue", "statmount", "listmount",
	"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal", "setxattrat",
	"getxattrat", "listxattrat", "removexattrat", "open_tree_attr", "file_getattr",
	"file_setattr",
};
/* clang-format on */

/* As tracefs has it (the kernel's SYSCALL_DEFINE), and as the table above does. */
static const struct {
	const char *tracefs, *name;
} aliases[] = {
	{ "fadvise64_64", "fadvise64" },
	{ "newfstat", "fstat" },
	{ "newlstat", "lstat" },
	{ "newstat", "stat" },
	{ "newuname", "uname" },
	{ "sendfile64", "sendfile" },
	{ "sysctl", "_sysctl" },
	{ "umount", "umount2" },
	{ "arm64_personality", "personality" },
};

#ifdef __x86_64__
const struct arch *const arch_own = &arch_x86_64;
#elif defined(__aarch64__)
const struct arch *const arch_own = &arch_arm64;
#else
#error "no src/cat/arch_NAME.c for this machine"
#endif

const char *syscall_name(const struct arch *arch, s32 nr)
{
	if (nr < 0 || nr >= syscall_count())
		return NULL;
	if (nr >= FIRST_SHARED)
		return shared[nr - FIRST_SHARED];
	return nr < (s32)arch->n_calls ? arch->calls[nr] : NULL;
}

static s32 number_of(const struct arch *arch, const char *name)
{
	for (s32 nr = 0; nr < syscall_count(); nr++) {
		const char *other = syscall_name(arch, nr);

		if (other && !strcmp(other, name))
			return nr;
	}
	return -1;
}

s32 syscall_number(const struct arch *arch, const char *name)
{
	s32 nr = number_of(arch, name);

	for (u32 i = 0; nr < 0 && i < ARRAY_SIZE(aliases); i++) {
		if (!strcmp(aliases[i].tracefs, name))
			nr = number_of(arch, aliases[i].name);
	}
	return nr;
}

s32 syscall_count(void)
{
	return FIRST_SHARED + ARRAY_SIZE(shared);
}
