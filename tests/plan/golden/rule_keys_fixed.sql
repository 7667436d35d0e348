SELECT comm, fd, count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE comm = 'postgres' AND pid = 7 GROUP BY comm, pid, fd HAVING pid > 1 ORDER BY comm
