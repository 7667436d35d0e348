SELECT pid FROM tracepoint:syscalls:sys_enter_pread64 WINDOW TUMBLING 1s
