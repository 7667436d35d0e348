SELECT count(*) FROM tracepoint:syscalls:sys_enter_read a PAIR JOIN raw_tracepoint:sys_enter b ON a.tid = b.tid
