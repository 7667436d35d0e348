SELECT p99(count), count(DISTINCT fd) FROM tracepoint:syscalls:sys_enter_pread64
