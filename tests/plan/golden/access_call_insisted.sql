SET access_path = fentry;
SELECT x.ret, count(*) FROM tracepoint:syscalls:sys_exit_fsync AS x
LEFT PAIR JOIN tracepoint:syscalls:sys_enter_fsync AS e ON x.tid = e.tid GROUP BY x.ret
