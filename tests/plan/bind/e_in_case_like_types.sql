SELECT fd IN ('a'), CASE WHEN fd = 1 THEN 'a' ELSE 0 END, comm LIKE 5, iif(fd = 1, 'a', 2)
FROM tracepoint:syscalls:sys_enter_pread64
