/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * arm64, with little-endian kernels: all that is known of it.
 */
#include "cat/cat.h"

#include <elf.h>

/* By their numbers, as the man pages have them (__NR_ of the kernel's UAPI headers). */
/* clang-format off */
static const char *const calls[] = {
	[0] = "io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "setxattr",
	"lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr",
	"flistxattr", "removexattr", "lremovexattr", "fremovexattr", "getcwd", "lookup_dcookie",
	"eventfd2", "epoll_create1", "epoll_ctl", "epoll_pwait", "dup", "dup3", "fcntl",
	"inotify_init1", "inotify_add_watch", "inotify_rm_watch", "ioctl", "ioprio_set",
	"ioprio_get", "flock", "mknodat", "mkdirat", "unlinkat", "symlinkat", "linkat",
	"renameat", "umount2", "mount", "pivot_root", "nfsservctl", "statfs", "fstatfs",
	"truncate", "ftruncate", "fallocate", "faccessat", "chdir", "fchdir", "chroot", "fchmod",
	"fchmodat", "fchownat", "fchown", "openat", "close", "vhangup", "pipe2", "quotactl",
	"getdents64", "lseek", "read", "write", "readv", "writev", "pread64", "pwrite64",
	"preadv", "pwritev", "sendfile", "pselect6", "ppoll", "signalfd4", "vmsplice", "splice",
	"tee", "readlinkat", "newfstatat", "fstat", "sync", "fsync", "fdatasync",
	"sync_file_range", "timerfd_create", "timerfd_settime", "timerfd_gettime", "utimensat",
	"acct", "capget", "capset", "personality", "exit", "exit_group", "waitid",
	"set_tid_address", "unshare", "futex", "set_robust_list", "get_robust_list", "nanosleep",
	"getitimer", "setitimer", "kexec_load", "init_module", "delete_module", "timer_create",
	"timer_gettime", "timer_getoverrun", "timer_settime", "timer_delete", "clock_settime",
	"clock_gettime", "clock_getres", "clock_nanosleep", "syslog", "ptrace", "sched_setparam",
	"sched_setscheduler", "sched_getscheduler", "sched_getparam", "sched_setaffinity",
	"sched_getaffinity", "sched_yield", "sched_get_priority_max", "sched_get_priority_min",
	"sched_rr_get_interval", "restart_syscall", "kill", "tkill", "tgkill", "sigaltstack",
	"rt_sigsuspend", "rt_sigaction", "rt_sigprocmask", "rt_sigpending", "rt_sigtimedwait",
	"rt_sigqueueinfo", "rt_sigreturn", "setpriority", "getpriority", "reboot", "setregid",
	"setgid", "setreuid", "setuid", "setresuid", "getresuid", "setresgid", "getresgid",
	"setfsuid", "setfsgid", "times", "setpgid", "getpgid", "getsid", "setsid", "getgroups",
	"setgroups", "uname", "sethostname", "setdomainname", "getrlimit", "setrlimit",
	"getrusage", "umask", "prctl", "getcpu", "gettimeofday", "settimeofday", "adjtimex",
	"getpid", "getppid", "getuid", "geteuid", "getgid", "getegid", "gettid", "sysinfo",
	"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
	"msgget", "msgctl", "msgrcv", "msgsnd", "semget", "semctl", "semtimedop", "semop",
	"shmget", "shmctl", "shmat", "shmdt", "socket", "socketpair", "bind", "listen", "accept",
	"connect", "getsockname", "getpeername", "sendto", "recvfrom", "setsockopt", "getsockopt",
	"shutdown", "sendmsg", "recvmsg", "readahead", "brk", "munmap", "mremap", "add_key",
	"request_key", "keyctl", "clone", "execve", "mmap", "fadvise64", "swapon", "swapoff",
	"mprotect", "msync", "mlock", "munlock", "mlockall", "munlockall", "mincore", "madvise",
	"remap_file_pages", "mbind", "get_mempolicy", "set_mempolicy", "migrate_pages",
	"move_pages", "rt_tgsigqueueinfo", "perf_event_open", "accept4", "recvmmsg",
	[260] = "wait4", "prlimit64", "fanotify_init", "fanotify_mark", "name_to_handle_at",
	"open_by_handle_at", "clock_adjtime", "syncfs", "setns", "sendmmsg", "process_vm_readv",
	"process_vm_writev", "kcmp", "finit_module", "sched_setattr", "sched_getattr",
	"renameat2", "seccomp", "getrandom", "memfd_create", "bpf", "execveat", "userfaultfd",
	"membarrier", "mlock2", "copy_file_range", "preadv2", "pwritev2", "pkey_mprotect",
	"pkey_alloc", "pkey_free", "statx", "io_pgetevents", "rseq", "kexec_file_load",
};
/* clang-format on */

static u32 instruction_bytes(const u8 *code, u32 n)
{
	return n < 4 ? 0 : 4;
}

/*
 * The address to return to is in a register.  What struct pt_regs has behind the registers of user
 * space (orig_x0, syscallno) is no ABI, but stands where it does since 4.14.
 */
const struct arch arch_arm64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.library_folder = "aarch64-linux-gnu",
	.calls = calls,
	.n_calls = ARRAY_SIZE(calls),
	.call_prefix = "__arm64_sys_",
	.number_member = "syscallno",
	.number = 280,
	.call_arguments = { 272, 8, 16, 24, 32, 40 }, /* orig_x0, x1 to x5 */
	.arguments = { 0, 8, 16, 24, 32, 40, 48, 56 },
	.n_arguments = 8,
	.result = 0,
	.stack = 248,
	.return_bytes = 0,
	.instruction = 256,
	.mode = 264, /* the exception level of PSTATE: 0, or 1 and 2 */
	.mode_mask = 0xc,
	.user_mode = 0,
	.n_bytes = 272, /* of struct user_pt_regs: what perf shows of them */
	.compat_member = "thread_info.flags",
	.compat_offset = 0,
	.compat_bit = 1u << 22, /* TIF_32BIT */
	.keeps_order = false,
	.checks_loads =
		false, /* of a tagged address of a program's it would read, and die of PAN */
	.tag_bits = 8,
	.instruction_bytes = instruction_bytes,
	.unprobed = "",
};
