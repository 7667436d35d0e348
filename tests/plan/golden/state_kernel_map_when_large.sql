SELECT comm, fd, count(*) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY comm, fd WITH (max_groups = 4194304)
