/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * tracefs as a directory to open files below, without a mount that others see.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "sys/internal.h"

/* Nothing else than tracefs is read with more than the user's rights. */
static int open_root(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), err;
	struct statfs fs;

	if (fd < 0)
		return -errno;
	err = fstatfs(fd, &fs) ? -errno : fs.f_type == TRACEFS_MAGIC ? 0 : -ENOENT;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* A mount that no table of mounts has, gone with its descriptor (kernel 5.2). */
static int mount_apart(void)
{
	int mount_fd = -1, err = 0, fs_fd = syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);

	if (fs_fd < 0)
		return -errno;
	if (!syscall(SYS_fsconfig, fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount_fd = syscall(SYS_fsmount, fs_fd, FSMOUNT_CLOEXEC,
				   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
					   MOUNT_ATTR_NOEXEC);
	if (mount_fd < 0)
		err = -errno;
	close(fs_fd);
	return err ? err : mount_fd;
}

int sys_tracefs_open(void)
{
	int fd;

	rights_raise();
	fd = open_root("/sys/kernel/tracing");
	if (fd < 0)
		fd = mount_apart();
	/* Last: where it is not mounted there, looking makes the kernel mount it. */
	if (fd < 0)
		fd = open_root("/sys/kernel/debug/tracing");
	rights_lower();
	return fd >= 0 || fd == -EMFILE || fd == -ENFILE ? fd : -ENODEV;
}

int sys_kallsyms_open(void)
{
	int fd;

	/* Who opens it is asked, not who reads it (kallsyms_show_value()). */
	rights_raise();
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	rights_lower();
	return fd < 0 ? -errno : fd;
}

int sys_process_file(u32 pid, const char *path)
{
	char name[4224];
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/%s", pid, path);
	rights_raise_only(SYS_CAP(CAP_SYS_PTRACE));
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	rights_lower();
	return fd < 0 ? -errno : fd;
}

int sys_tracefs_file(int tracefs_fd, const char *path)
{
	int fd;

	rights_raise();
	fd = openat(tracefs_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	rights_lower();
	return fd < 0 ? -errno : fd;
}
