/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * x86-64: all that is known of it.
 */
#include "cat/internal.h"

#include <elf.h>

/* By their numbers, as the man pages have them (__NR_ of the kernel's UAPI headers). */
/* clang-format off */
static const char *const calls[] = {
	[0] = "read", "write", "open", "close", "stat", "fstat", "lstat", "poll", "lseek", "mmap",
	"mprotect", "munmap", "brk", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "ioctl",
	"pread64", "pwrite64", "readv", "writev", "access", "pipe", "select", "sched_yield",
	"mremap", "msync", "mincore", "madvise", "shmget", "shmat", "shmctl", "dup", "dup2",
	"pause", "nanosleep", "getitimer", "alarm", "setitimer", "getpid", "sendfile", "socket",
	"connect", "accept", "sendto", "recvfrom", "sendmsg", "recvmsg", "shutdown", "bind",
	"listen", "getsockname", "getpeername", "socketpair", "setsockopt", "getsockopt", "clone",
	"fork", "vfork", "execve", "exit", "wait4", "kill", "uname", "semget", "semop", "semctl",
	"shmdt", "msgget", "msgsnd", "msgrcv", "msgctl", "fcntl", "flock", "fsync", "fdatasync",
	"truncate", "ftruncate", "getdents", "getcwd", "chdir", "fchdir", "rename", "mkdir",
	"rmdir", "creat", "link", "unlink", "symlink", "readlink", "chmod", "fchmod", "chown",
	"fchown", "lchown", "umask", "gettimeofday", "getrlimit", "getrusage", "sysinfo", "times",
	"ptrace", "getuid", "syslog", "getgid", "setuid", "setgid", "geteuid", "getegid",
	"setpgid", "getppid", "getpgrp", "setsid", "setreuid", "setregid", "getgroups",
	"setgroups", "setresuid", "getresuid", "setresgid", "getresgid", "getpgid", "setfsuid",
	"setfsgid", "getsid", "capget", "capset", "rt_sigpending", "rt_sigtimedwait",
	"rt_sigqueueinfo", "rt_sigsuspend", "sigaltstack", "utime", "mknod", "uselib",
	"personality", "ustat", "statfs", "fstatfs", "sysfs", "getpriority", "setpriority",
	"sched_setparam", "sched_getparam", "sched_setscheduler", "sched_getscheduler",
	"sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "mlock",
	"munlock", "mlockall", "munlockall", "vhangup", "modify_ldt", "pivot_root", "_sysctl",
	"prctl", "arch_prctl", "adjtimex", "setrlimit", "chroot", "sync", "acct", "settimeofday",
	"mount", "umount2", "swapon", "swapoff", "reboot", "sethostname", "setdomainname", "iopl",
	"ioperm", "create_module", "init_module", "delete_module", "get_kernel_syms",
	"query_module", "quotactl", "nfsservctl", "getpmsg", "putpmsg", "afs_syscall", "tuxcall",
	"security", "gettid", "readahead", "setxattr", "lsetxattr", "fsetxattr", "getxattr",
	"lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr", "removexattr",
	"lremovexattr", "fremovexattr", "tkill", "time", "futex", "sched_setaffinity",
	"sched_getaffinity", "set_thread_area", "io_setup", "io_destroy", "io_getevents",
	"io_submit", "io_cancel", "get_thread_area", "lookup_dcookie", "epoll_create",
	"epoll_ctl_old", "epoll_wait_old", "remap_file_pages", "getdents64", "set_tid_address",
	"restart_syscall", "semtimedop", "fadvise64", "timer_create", "timer_settime",
	"timer_gettime", "timer_getoverrun", "timer_delete", "clock_settime", "clock_gettime",
	"clock_getres", "clock_nanosleep", "exit_group", "epoll_wait", "epoll_ctl", "tgkill",
	"utimes", "vserver", "mbind", "set_mempolicy", "get_mempolicy", "mq_open", "mq_unlink",
	"mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr", "kexec_load", "waitid",
	"add_key", "request_key", "keyctl", "ioprio_set", "ioprio_get", "inotify_init",
	"inotify_add_watch", "inotify_rm_watch", "migrate_pages", "openat", "mkdirat", "mknodat",
	"fchownat", "futimesat", "newfstatat", "unlinkat", "renameat", "linkat", "symlinkat",
	"readlinkat", "fchmodat", "faccessat", "pselect6", "ppoll", "unshare", "set_robust_list",
	"get_robust_list", "splice", "tee", "sync_file_range", "vmsplice", "move_pages",
	"utimensat", "epoll_pwait", "signalfd", "timerfd_create", "eventfd", "fallocate",
	"timerfd_settime", "timerfd_gettime", "accept4", "signalfd4", "eventfd2", "epoll_create1",
	"dup3", "pipe2", "inotify_init1", "preadv", "pwritev", "rt_tgsigqueueinfo",
	"perf_event_open", "recvmmsg", "fanotify_init", "fanotify_mark", "prlimit64",
	"name_to_handle_at", "open_by_handle_at", "clock_adjtime", "syncfs", "sendmmsg", "setns",
	"getcpu", "process_vm_readv", "process_vm_writev", "kcmp", "finit_module",
	"sched_setattr", "sched_getattr", "renameat2", "seccomp", "getrandom", "memfd_create",
	"kexec_file_load", "bpf", "execveat", "userfaultfd", "membarrier", "mlock2",
	"copy_file_range", "preadv2", "pwritev2", "pkey_mprotect", "pkey_alloc", "pkey_free",
	"statx", "io_pgetevents", "rseq", "uretprobe", "uprobe",
};
/* clang-format on */

/* A call puts the address to return to on the stack.  Offsets of struct pt_regs are an ABI. */
const struct arch arch_x86_64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.library_folder = "x86_64-linux-gnu",
	.calls = calls,
	.n_calls = ARRAY_SIZE(calls),
	.call_prefix = "__x64_sys_",
	.number_member = "orig_ax",
	.number = 120,
	.call_arguments = { 112, 104, 96, 56, 72, 64 }, /* rdi, rsi, rdx, r10, r8, r9 */
	.arguments = { 112, 104, 96, 88, 72, 64 },	/* rdi, rsi, rdx, rcx, r8, r9 */
	.n_arguments = 6,
	.result = 80,
	.stack = 152,
	.return_bytes = 8,
	.instruction = 128,
	.mode = 136, /* the privilege level of CS: 3 or 0 */
	.mode_mask = 1,
	.user_mode = 1,
	.n_bytes = 168,
	.compat_member = "thread_info.status",
	.compat_offset = 16,  /* behind two longs */
	.compat_bit = 0x0002, /* TS_COMPAT */
	.keeps_order = true,
	.checks_loads = true,
	.instruction_bytes = code_x86_64_bytes,
	/* With LOCK or a segment (is_prefix_bad()). */
	.unprobed = "\xF0\x26\x2E\x36\x3E",
};
