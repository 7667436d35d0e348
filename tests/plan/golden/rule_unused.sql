SELECT a.pid, count(*) FROM tracepoint:syscalls:sys_exit_read a LEFT ASOF JOIN tracepoint:syscalls:sys_enter_read b ON a.tid = b.tid AND a.time >= b.time GROUP BY a.pid
