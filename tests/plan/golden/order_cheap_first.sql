SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE comm LIKE 'ng%' AND pid = 7 AND fd = 3
