SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE count > 1.5 AND count = 2.5
