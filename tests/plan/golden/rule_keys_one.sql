SELECT pid, count(*) FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = 7 GROUP BY pid WINDOW TUMBLING 1s
