SELECT ppid, count(*) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY ppid
