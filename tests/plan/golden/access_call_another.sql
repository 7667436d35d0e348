SELECT count(*) FROM tracepoint:syscalls:sys_exit_fsync AS x
PAIR JOIN tracepoint:syscalls:sys_enter_vfork AS e ON x.tid = e.tid
