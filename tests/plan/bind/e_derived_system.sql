SELECT cpu, current.pid FROM (SELECT fd FROM t:syscalls:sys_enter_read)
