SELECT a.time - b.time AS latency FROM t:syscalls:sys_exit_read a PAIR JOIN t:syscalls:sys_enter_read b ON a.tid = b.tid WITHIN 10s WHERE a.ret > 0
