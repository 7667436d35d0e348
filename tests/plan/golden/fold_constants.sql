SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE count > 2 * 1KiB + 1 AND 1 = 1 AND fd >= 0
