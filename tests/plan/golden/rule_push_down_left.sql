SELECT count(*), count(b.pid) FROM tracepoint:syscalls:sys_enter_read a LEFT PAIR JOIN tracepoint:syscalls:sys_enter_pread64 b ON a.tid = b.tid WHERE a.tid > 5 AND b.tid <> 6 AND b.count IS NULL
