SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE fd <> 0 AND pos / fd > 3 AND count = 1
