SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE comm LIKE 'db%' AND fd <> 0 AND pid = 7 AND count IN (1, 2) AND pos / fd > 1 AND count > 3
