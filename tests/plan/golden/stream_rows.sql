SELECT time, pid, comm, fd, count FROM tracepoint:syscalls:sys_enter_pread64 WHERE count > 4KiB LIMIT 10
