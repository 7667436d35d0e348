SELECT count / 1KiB AS kib, count(*) FROM tracepoint:syscalls:sys_enter_pread64 GROUP BY kib
