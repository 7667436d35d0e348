SELECT count(*) FROM tracepoint:syscalls:sys_enter_read a ASOF JOIN tracepoint:syscalls:sys_enter_* b ON a.tid = b.tid AND a.time >= b.time
