SELECT x.ret, count(*) FROM tracepoint:syscalls:sys_exit_fsync AS x
PAIR JOIN tracepoint:syscalls:sys_enter_fsync AS e ON x.tid = e.tid WHERE e.fd > 2 GROUP BY x.ret
