SELECT ret, count(*) FROM tracepoint:syscalls:sys_exit_fsync GROUP BY ret
