SELECT comm, fd, histogram(fd, exponential(6)), count(*) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY comm, fd WITH (max_groups = 4194304, state = kernel_map)
