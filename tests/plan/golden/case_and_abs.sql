SELECT CASE WHEN pos < 0 THEN 'x' ELSE 'y' END, abs(pos) FROM tracepoint:syscalls:sys_enter_pread64
