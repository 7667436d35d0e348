SELECT fd, count(*) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY fd WITH (max_groups = 100)
