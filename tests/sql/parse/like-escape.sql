SELECT count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE comm LIKE 'a!_%' ESCAPE '!' AND pid = 1 GROUP BY pid
